// SPDX-License-Identifier: Apache-2.0
// What a NIC does under load.
#include "box/nic/nic.h"
#include "weft/cc.h"

static void look_at_cnps(const struct weft_run *run, uint32_t node, const struct weft_device_conf *conf,
                         struct weft_arena *arena, struct weft__mechanism_use *use) {
    const struct weft_cc_ops *cc = conf->host.cc.model->ops;
    if (!cc->on_cnp || use->devices++) return;
    for (uint32_t f = 0; f < run->outcome->flows; f++)
        use->acts += run->outcome->flow[f].cnps;
}
static const struct weft__mechanism dcqcn = {.name = "DCQCN",
                                             .nothing = "no CNP",
                                             .after = &weft__mechanism_ecn,
                                             .without = "no switch marks packets (switch.aqm)",
                                             .look = look_at_cnps};

/// Only a host that takes data more slowly than its link delivers it sends pauses.
static void look_at_pfc(const struct weft_run *run, uint32_t node, const struct weft_device_conf *conf,
                        struct weft_arena *arena, struct weft__mechanism_use *use) {
    if (!conf->host.drain_rate_bps || !conf->host.pfc.priorities) return;
    use->devices++;
    for (unsigned p = 0; p < WEFT_PRIORITIES; p++) {
        const struct weft_counters *c = weft_outcome_at(run->outcome, run->topology->node[node].port0, p);
        weft__mechanism_saw(use, c->ingress_bytes_max, conf->host.rx_xoff_bytes);
    }
}
static const struct weft__mechanism pfc = {.name = "PFC of NICs",
                                           .nothing = "no pause frame",
                                           .watched = "fullest receive buffer",
                                           .counter = offsetof(struct weft_counters, pfc_tx_xoff),
                                           .look = look_at_pfc};

const struct weft__mechanisms weft__nic_mechanisms = {{&dcqcn, &pfc, &weft__mechanism_watchdog}};
