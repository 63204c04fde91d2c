// SPDX-License-Identifier: Apache-2.0
// What a mechanism of ports and links tells of a run as a whole: sums, which are columns of the table `counters` and
// rows of weft compare; lines of the summary; a table of its own. A mechanism is a file and a line in sums.def: what
// writes results asks here and names none.
#ifndef WEFT_BOX_SUMS_H
#define WEFT_BOX_SUMS_H

#include <stdio.h>

#include "weft/outcome.h"
#include "weft/result.h"

struct weft__sums {
    /// Of the table `counters`. A row's part 0 is the outcome, part 1 its counters, summed.
    const struct weft_result_column *column;
    uint32_t columns;
    bool always;                           ///< weft compare has its rows even if the first of them is 0 in every run
    const struct weft_result_table *table; ///< of pairs of layers, one with `compared`; NULL: it has none
    void (*print)(FILE *file, const struct weft_run *run); ///< its lines of the summary; NULL: none
};
/// NULL: there are no more.
const struct weft__sums *weft__sums_at(uint32_t index);
/// The table `counters`, of the columns of all. The first call makes it, and no other may be under way then.
const struct weft_result_table *weft__sums_table(void);

#define WEFT__SUM(field, key, kind, ...) WEFT_RESULT_AT(1, struct weft_counters, field, key, kind, __VA_ARGS__)

struct weft__paused_port {
    uint32_t port;
    weft_time_ps paused_ps; ///< of all its priorities
};
/// The `n` ports that could not send for longest, longest first (equal: lower port first). Returns how many there are,
/// at most n; ports that never paused are not counted.
uint32_t weft__paused_ports(const struct weft_outcome *outcome, struct weft__paused_port *ret_port, uint32_t n);

#endif
