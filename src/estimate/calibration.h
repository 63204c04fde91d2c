// SPDX-License-Identifier: Apache-2.0
// How much packets differ from estimates: quantiles by mechanism, kind of work and number of hosts, from a table that
// is measured (calibration/estimate.txt).
#pragma once

#include "estimate/fluid.h"

/// The table in the program.
struct weft__calibration_file {
    const char *name, *text;
    size_t size;
};
extern const struct weft__calibration_file weft__calibration_files[];
extern const uint32_t weft__calibration_files_n;

/// What decides how data gets there: the fabric, the transport, the congestion control or else the route model; of
/// several planes another one, "planes" if there is no interval of such.
const char *weft__mechanism_of(const struct weft__network *net);
/// Fills in the intervals of all times, by the mechanism and the kind of work: "flows"; of jobs "shared", if one shares
/// links with another or with flows, or else "small" or "large", by their messages. An error: a file that is no such
/// table.
enum weft_status weft__estimate_calibrate(const struct weft__fluid *x, const char *path, struct weft_estimate *e,
                                          struct weft_error *ret_error);
