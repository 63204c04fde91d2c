// SPDX-License-Identifier: Apache-2.0
// Random runs, many more of them.
#define RUNS 2000
#include "theory/test_random_runs.c"
