// SPDX-License-Identifier: Apache-2.0
#include "box/mechanism.h"

#include <assert.h>

#include "box/box.h"
#include "weft/aqm.h"
#include "weft/buffer.h"

void weft__mechanism_saw(struct weft__mechanism_use *use, uint64_t most, uint64_t limit) {
    bool nearer = (double)most * (double)use->limit > (double)use->nearest * (double)limit;
    if (!limit) nearer = !use->limit && most > use->nearest;
    if (!nearer && (use->limit || !limit)) return;
    use->nearest = most;
    use->limit = limit;
}

const struct weft__mechanisms *weft__box_mechanisms(uint32_t kind) {
    static const struct weft__mechanisms none;
    const struct weft__mechanisms *own = weft__box_of_kind(kind)->mechanisms;
    return own ? own : &none;
}

static uint64_t counter_in(const struct weft_counters *counters, size_t offset) {
    return *(const uint64_t *)((const char *)counters + offset);
}

uint64_t weft__mechanism_most(const struct weft_run *run, uint32_t node, uint8_t priorities, size_t counter) {
    const struct weft_node_info *info = &run->topology->node[node];
    uint64_t most = 0;
    for (uint32_t port = info->port0; port < info->port0 + info->ports; port++)
        for (unsigned p = 0; p < WEFT_PRIORITIES; p++) {
            uint64_t level = counter_in(weft_outcome_at(run->outcome, port, p), counter);
            if (priorities >> p & 1 && level > most) most = level;
        }
    return most;
}

void weft__mechanism_add(const struct weft__mechanism *is, const struct weft_run *run, uint32_t node,
                         const struct weft_device_conf *conf, struct weft_arena *arena,
                         struct weft__mechanism_use *use) {
    const struct weft_node_info *info = &run->topology->node[node];
    uint64_t nearest = use->nearest, limit = use->limit;
    is->look(run, node, conf, arena, use);
    if (!use->watched || use->nearest != nearest || use->limit != limit) use->watched = is->watched;
    if (!is->counter) return;
    assert(is->counter + sizeof(uint64_t) <= sizeof(struct weft_counters));
    const struct weft_counters sum = weft_outcome_sum(run->outcome, info->port0, info->ports);
    use->acts += counter_in(&sum, is->counter);
}

static uint32_t ethernet_ports(const struct weft_topology *t, uint32_t node) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < t->node[node].ports; k++)
        n += !weft_topology_link_is_fabric(t, weft_topology_port(t, node, k)->link);
    return n;
}

static void look_at_pfc(const struct weft_run *run, uint32_t node, const struct weft_device_conf *conf,
                        struct weft_arena *arena, struct weft__mechanism_use *use) {
    uint8_t priorities = conf->sw.pfc.priorities;
    const struct weft_buffer_ops *buffer = conf->sw.buffer.model->ops;
    struct weft_buffer_plan plan = {0};
    uint32_t ports = ethernet_ports(run->topology, node);
    if (!priorities || !ports) return;
    use->devices++;
    buffer->plan(conf->sw.buffer.conf, ports, priorities, &plan);
    weft__mechanism_saw(use,
                        weft__mechanism_most(run, node, priorities, offsetof(struct weft_counters, ingress_bytes_max)),
                        plan.xoff_bytes);
}
const struct weft__mechanism weft__mechanism_pfc = {.name = "PFC",
                                                    .nothing = "no switch sent a pause frame",
                                                    .watched = "fullest input",
                                                    .counter = offsetof(struct weft_counters, pfc_tx_xoff),
                                                    .look = look_at_pfc};

/// The configuration of AQM for the port.
static const void *aqm_of_port(const struct weft_run *run, uint32_t port, const struct weft_switch_conf *conf,
                               struct weft_arena *arena) {
    const struct weft_aqm_ops *aqm = conf->aqm.model->ops;
    weft_rate_bps rate = run->topology->link[run->topology->port[port].link].rate_bps;
    return aqm->for_port ? aqm->for_port(conf->aqm.conf, rate, arena) : conf->aqm.conf;
}

/// Whether the node has an AQM that marks or drops by thresholds of depth. Counts any that acts, and adds its drops; it
/// is not known which devices dropped.
static bool has_aqm(const struct weft_run *run, uint32_t node, const struct weft_device_conf *conf,
                    struct weft__mechanism_use *use) {
    const struct weft_aqm_ops *aqm = conf->sw.aqm.model->ops;
    if (!weft_aqm_acts(aqm, conf->sw.aqm.conf) || !conf->sw.aqm_priorities || !ethernet_ports(run->topology, node))
        return false;
    if (!use->devices++) use->acts += run->outcome->drops[WEFT_DROP_AQM];
    return aqm->thresholds != NULL;
}

void weft__mechanism_look_at_ecn(const struct weft_run *run, uint32_t node, const struct weft_device_conf *conf,
                                 weft_bytes most, struct weft__mechanism_use *use) {
    weft_bytes threshold[WEFT_EVENT_THRESHOLDS] = {0};
    if (!has_aqm(run, node, conf, use)) return;
    ((const struct weft_aqm_ops *)conf->sw.aqm.model->ops)->thresholds(conf->sw.aqm.conf, threshold);
    weft__mechanism_saw(use, most, threshold[WEFT_EVENT_MIN]);
}

static void look_at_aqm(const struct weft_run *run, uint32_t node, const struct weft_device_conf *conf,
                        struct weft_arena *arena, struct weft__mechanism_use *use) {
    const struct weft_node_info *info = &run->topology->node[node];
    const struct weft_aqm_ops *aqm = conf->sw.aqm.model->ops;
    if (!has_aqm(run, node, conf, use)) return;
    for (uint32_t port = info->port0; port < info->port0 + info->ports; port++) {
        if (weft_topology_link_is_fabric(run->topology, run->topology->port[port].link)) continue;
        weft_bytes threshold[WEFT_EVENT_THRESHOLDS] = {0}, most = 0;
        aqm->thresholds(aqm_of_port(run, port, &conf->sw, arena), threshold);
        for (unsigned p = 0; p < WEFT_PRIORITIES; p++) {
            const struct weft_counters *c = weft_outcome_at(run->outcome, port, p);
            if (conf->sw.aqm_priorities >> p & 1 && c->queue_bytes_max > most) most = c->queue_bytes_max;
        }
        weft__mechanism_saw(use, most, threshold[WEFT_EVENT_MIN]);
    }
}
const struct weft__mechanism weft__mechanism_ecn = {WEFT__MECHANISM_ECN, .watched = "deepest queue",
                                                    .look = look_at_aqm};

static void look_at_watchdog(const struct weft_run *run, uint32_t node, const struct weft_device_conf *conf,
                             struct weft_arena *arena, struct weft__mechanism_use *use) {
    const struct weft_node_info *info = &run->topology->node[node];
    const struct weft_pfc_conf *pfc = weft__box_of(info)->pfc(conf);
    if (!pfc->priorities || pfc->watchdog_ps == WEFT_TIME_NEVER) return;
    use->devices++;
}
const struct weft__mechanism weft__mechanism_watchdog = {.name = "PFC watchdog",
                                                         .nothing = "no pause storm",
                                                         .counter = offsetof(struct weft_counters, watchdog_storms),
                                                         .look = look_at_watchdog};
