// SPDX-License-Identifier: Apache-2.0
// What the two text reports share.
#pragma once

#include "totals.h"

/// One unit for a whole table, so that its figures can be compared at a glance.
struct weft__unit {
    const char *name;
    double ps;
    int decimals;
};
struct weft__unit weft__text_unit(double largest_ps);
/// "612.31", or "-" for NAN. In a buffer of at least 32 bytes.
const char *weft__text_time(char *text, struct weft__unit unit, double time_ps);
const char *weft__text_ratio(char *text, double ratio); ///< "1.05", or "-"
