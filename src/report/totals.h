// SPDX-License-Identifier: Apache-2.0
// Sums over a whole run, shared by everything that shows one.
#ifndef WEFT_REPORT_TOTALS_H
#define WEFT_REPORT_TOTALS_H

#include "weft/report.h"

struct weft__totals {
    uint64_t xoff_frames;   ///< pause frames sent
    weft_time_ps paused_ps; ///< of all ports and priorities
    uint64_t ecn_marked, drops, drop_bytes, storms;
    uint64_t sfc_sent, sfc_received, sfc_suppressed, sfc_proxied;
    uint64_t link_retries;
    weft_time_ps credit_wait_ps; ///< of all ports and priorities
    weft_time_ps sfc_paused_ps;  ///< of all flows
};
struct weft__totals weft__report_totals(const struct weft_outcome *outcome);

struct weft__paused_port {
    uint32_t port;
    weft_time_ps paused_ps; ///< of all its priorities
};
/// The `n` ports that could not send for longest, longest first (equal: lower port first). Returns how many there are,
/// at most n; ports that never paused are not counted.
uint32_t weft__report_paused_ports(const struct weft_outcome *outcome, struct weft__paused_port *ret_port, uint32_t n);

const char *weft__report_end_name(enum weft_end end); ///< "done", "until", "interrupted", "stall"

#endif
