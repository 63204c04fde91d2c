// SPDX-License-Identifier: Apache-2.0
// What an Ethernet switch does under load, and how near it came to doing it.
#include "box/switch/switch.h"
#include "weft/buffer.h"
#include "weft/queueing.h"

static weft_bytes most_of(const struct weft_run *run, uint32_t node, uint8_t priorities, size_t counter) {
    const struct weft_node_info *info = &run->topology->node[node];
    weft_bytes most = 0;
    for (uint32_t port = info->port0; port < info->port0 + info->ports; port++)
        for (unsigned p = 0; p < WEFT_PRIORITIES; p++) {
            const struct weft_counters *c = weft_outcome_at(run->outcome, port, p);
            weft_bytes level = *(const uint64_t *)((const char *)c + counter);
            if (priorities >> p & 1 && level > most) most = level;
        }
    return most;
}

static uint64_t sum_of(const struct weft_run *run, uint32_t node, size_t counter) {
    const struct weft_node_info *info = &run->topology->node[node];
    uint64_t sum = 0;
    for (size_t i = (size_t)info->port0 * WEFT_PRIORITIES; i < (size_t)(info->port0 + info->ports) * WEFT_PRIORITIES;
         i++)
        sum += *(const uint64_t *)((const char *)&run->outcome->counters[i] + counter);
    return sum;
}

static void look_at_pfc(const struct weft_run *run, uint32_t node, const struct weft_device_conf *conf,
                        struct weft_arena *arena, struct weft__mechanism_use *use) {
    uint8_t priorities = conf->sw.pfc.priorities;
    const struct weft_buffer_ops *buffer = conf->sw.buffer.model->ops;
    struct weft_buffer_plan plan = {0};
    if (!priorities) return;
    use->devices++;
    use->acts += sum_of(run, node, offsetof(struct weft_counters, pfc_tx_xoff));
    buffer->plan(conf->sw.buffer.conf, run->topology->node[node].ports, priorities, &plan);
    weft__mechanism_saw(use, most_of(run, node, priorities, offsetof(struct weft_counters, ingress_bytes_max)),
                        plan.xoff_bytes);
}
static const struct weft__mechanism pfc = {
    .name = "PFC", .nothing = "no pause frame", .watched = "fullest input", .look = look_at_pfc};

/// Only where packets wait at outputs is the watched depth that of the output's queue.
static void look_at_sfc(const struct weft_run *run, uint32_t node, const struct weft_device_conf *conf,
                        struct weft_arena *arena, struct weft__mechanism_use *use) {
    const struct weft_sfc_ops *sfc = conf->sw.sfc.model->ops;
    const struct weft_sfc_conf *c = conf->sw.sfc.conf;
    const struct weft_queueing_ops *queueing = conf->sw.queueing.model->ops;
    if (!sfc->watch || !c->priorities) return;
    use->devices++;
    use->acts += sum_of(run, node, offsetof(struct weft_counters, sfc_sent));
    if (!queueing->depth)
        weft__mechanism_saw(use, most_of(run, node, c->priorities, offsetof(struct weft_counters, queue_bytes_max)),
                            sfc->watch(c));
}
static const struct weft__mechanism sfc = {
    .name = "SFC", .nothing = "no message", .watched = "deepest watched queue", .look = look_at_sfc};

const struct weft__mechanisms weft__switch_mechanisms = {{&pfc, &weft__mechanism_ecn, &sfc, &weft__mechanism_watchdog}};
