// SPDX-License-Identifier: Apache-2.0
// Random sequences of failures and repairs of a Clique, many more of them.
#define SEQUENCES 100000
#include "theory/test_sdn_random.c"
