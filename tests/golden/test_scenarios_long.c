// SPDX-License-Identifier: Apache-2.0
// The scenarios that take longer, their digests with 1 and with one other number of threads. test_teeth_long.c judges
// their claims.
#define LONG true
#include "golden/test_scenarios.c"
