// SPDX-License-Identifier: Apache-2.0
// The tables of weft trace-control about a Clique, for the answer that has those about a DSF as well.
#pragma once

#include "weft/clique_trace.h"
#include "weft/result.h"

extern const struct weft_result_table weft__clique_table, weft__clique_bootstrap_table, weft__clique_tin_table,
    weft__clique_controller_table, weft__clique_event_table, weft__clique_sent_table, weft__clique_timesync_table,
    weft__clique_depth_table, weft__clique_clock_table, weft__clique_message_table;

static inline const struct weft_control_answer *weft__control_answer(const struct weft_result_cursor *c) {
    return c->subject;
}
