// SPDX-License-Identifier: Apache-2.0
// The scenarios that take longer.
#define LONG true
#include "golden/test_scenarios.c"
