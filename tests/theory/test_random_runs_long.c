// SPDX-License-Identifier: Apache-2.0
// Random runs, many more of them.
#define RUNS 600
#include "theory/test_random_runs.c"
