// SPDX-License-Identifier: Apache-2.0
// The scenarios that take longer. Their digests are compared with those of one other number of threads.
#define LONG true
#include "golden/test_scenarios.c"
