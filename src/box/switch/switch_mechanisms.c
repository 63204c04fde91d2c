// SPDX-License-Identifier: Apache-2.0
// What an Ethernet switch does under load, and how near it came to doing it.
#include "box/switch/switch.h"
#include "weft/queueing.h"

/// Only where packets wait at outputs is the watched depth that of the output's queue.
static void look_at_sfc(const struct weft_run *run, uint32_t node, const struct weft_device_conf *conf,
                        struct weft_arena *arena, struct weft__mechanism_use *use) {
    const struct weft_sfc_ops *sfc = conf->sw.sfc.model->ops;
    const struct weft_sfc_conf *c = conf->sw.sfc.conf;
    const struct weft_queueing_ops *queueing = conf->sw.queueing.model->ops;
    if (!sfc->watch || !c->priorities) return;
    use->devices++;
    if (!queueing->depth)
        weft__mechanism_saw(
            use, weft__mechanism_most(run, node, c->priorities, offsetof(struct weft_counters, queue_bytes_max)),
            sfc->watch(c));
}
static const struct weft__mechanism sfc = {.name = "SFC",
                                           .nothing = "no message",
                                           .watched = "deepest watched queue",
                                           .counter = offsetof(struct weft_counters, sfc_sent),
                                           .look = look_at_sfc};

const struct weft__mechanisms weft__switch_mechanisms = {
    {&weft__mechanism_pfc, &weft__mechanism_ecn, &sfc, &weft__mechanism_watchdog}};
