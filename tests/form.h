// SPDX-License-Identifier: Apache-2.0
// What a closed form, or another implementation, says, and what was measured. tools/validation reads the lines that
// this prints.
#pragma once

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/// The tolerance is relative to the expected value; 0: equal.
static inline void form_assert(const char *form, double measured, double expected, double tolerance) {
    print_message("form|%s|%.17g|%.17g|%.17g\n", form, measured, expected, tolerance);
    if (!(fabs(measured / expected - 1) <= tolerance))
        fail_msg("%s: %g, expected %g to %g %%", form, measured, expected, tolerance * 100);
}
