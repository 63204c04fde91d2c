// SPDX-License-Identifier: Apache-2.0
#include "totals.h"

struct weft__totals weft__report_totals(const struct weft_outcome *outcome) {
    struct weft__totals sum = {0};
    for (size_t i = 0; i < (size_t)outcome->ports * WEFT_PRIORITIES; i++) {
        const struct weft_counters *c = &outcome->port[i];
        sum.xoff_frames += c->pfc_tx_xoff;
        sum.paused_ps += c->paused_ps;
        sum.ecn_marked += c->ecn_marked;
        sum.storms += c->watchdog_storms;
        sum.sfc_sent += c->sfc_sent;
        sum.sfc_received += c->sfc_received;
        sum.sfc_suppressed += c->sfc_suppressed;
        sum.sfc_proxied += c->sfc_proxied;
        sum.link_retries += c->link_retries;
        sum.credit_wait_ps += c->credit_wait_ps;
    }
    for (uint32_t f = 0; f < outcome->flows; f++)
        sum.sfc_paused_ps += outcome->flow[f].sfc_paused_ps;
    for (unsigned d = 0; d < WEFT_DROPS; d++) {
        sum.drops += outcome->drops[d];
        sum.drop_bytes += outcome->drop_bytes[d];
    }
    return sum;
}

uint32_t weft__report_paused_ports(const struct weft_outcome *outcome, struct weft__paused_port *ret_port, uint32_t n) {
    uint32_t found = 0;
    for (uint32_t port = 0; port < outcome->ports; port++) {
        weft_time_ps paused = 0;
        for (unsigned priority = 0; priority < WEFT_PRIORITIES; priority++)
            paused += outcome->port[(size_t)port * WEFT_PRIORITIES + priority].paused_ps;
        if (!paused || (found == n && ret_port[n - 1].paused_ps >= paused)) continue;
        uint32_t at = found < n ? found++ : n - 1;
        for (; at > 0 && ret_port[at - 1].paused_ps < paused; at--)
            ret_port[at] = ret_port[at - 1];
        ret_port[at] = (struct weft__paused_port){port, paused};
    }
    return found;
}

bool weft_report_interrupted(const struct weft_run *run, uint32_t runs) {
    for (uint32_t r = 0; r < runs; r++)
        if (run[r].outcome->end == WEFT_END_INTERRUPTED) return true;
    return false;
}

const char *weft__report_end_name(enum weft_end end) {
    static const char *const names[] = {[WEFT_END_DONE] = "done",
                                        [WEFT_END_UNTIL] = "until",
                                        [WEFT_END_INTERRUPTED] = "interrupted",
                                        [WEFT_END_STALL] = "stall",
                                        [WEFT_END_TIME] = "time"};
    return names[end];
}
