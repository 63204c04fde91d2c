// SPDX-License-Identifier: Apache-2.0
// What a mechanism of ports and links reports of a whole run: sums, which are columns of the table `counters` and rows
// of weft compare; lines of the summary; a table of its own. A mechanism is a file and a line in sums.def; code that
// writes results uses this and names none.
#pragma once

#include <stdio.h>

#include "weft/outcome.h"
#include "weft/result.h"

struct weft__sums {
    /// Columns of the table `counters`. A row's part 0 is the outcome, part 1 its counters, summed.
    const struct weft_result_column *column;
    uint32_t columns;
    bool always;                           ///< weft compare shows its rows even if the first of them is 0 in every run
    const struct weft_result_table *table; ///< of pairs of layers, one row with `compared`; NULL: it has none
    void (*print)(FILE *file, const struct weft_run *run); ///< its lines of the summary; NULL: none
};
/// NULL: there are no more.
const struct weft__sums *weft__sums_at(uint32_t index);
/// The table `counters`, with the columns of all. The first call builds it.
const struct weft_result_table *weft__sums_table(void);

#define WEFT__SUM(field, key, kind, ...) WEFT_RESULT_AT(1, struct weft_counters, field, key, kind, __VA_ARGS__)

struct weft__paused_port {
    uint32_t port;
    weft_time_ps paused_ps; ///< over all its priorities
};
/// The `n` ports that were paused longest, longest first (ties: lower port first). Returns how many there are, at most
/// n; ports that never paused are not counted.
uint32_t weft__paused_ports(const struct weft_outcome *outcome, struct weft__paused_port *ret_port, uint32_t n);
