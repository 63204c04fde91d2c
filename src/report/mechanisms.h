// SPDX-License-Identifier: Apache-2.0
// Mechanisms of a run, whether or not they acted.
#pragma once

#include "box/mechanism.h"

struct weft__mechanism_row {
    const struct weft__mechanism *is;
    struct weft__mechanism_use use;
};
/// Those that some device is configured to use, each once, in order of first appearance; in `arena`.
struct weft__mechanism_row *weft__report_mechanisms(const struct weft_run *run, struct weft_arena *arena,
                                                    uint32_t *ret_n);
/// "31KB of 400KB", "31KB" without a limit; "" if nothing is watched.
const char *weft__report_nearest(const struct weft__mechanism_row *row, char *text, size_t size);
/// Clear-to-send messages of jobs; a device is a rank that waits for them. admission.c.
extern const struct weft__mechanism weft__mechanism_cts;
void weft__report_admission_use(const struct weft_run *run, struct weft__mechanism_use *use);
/// What has not happened, of one of `n` rows, and why: "no CNP: no switch marks packets (switch.aqm)"; in `arena`.
const char *weft__report_nothing(const struct weft__mechanism_row *row, uint32_t n, uint32_t i,
                                 struct weft_arena *arena);
/// A line for each that never acted.
void weft__report_mechanisms_table(FILE *file, const struct weft_run *run);
