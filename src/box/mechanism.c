// SPDX-License-Identifier: Apache-2.0
#include "box/mechanism.h"

#include <string.h>

#include "box/box.h"
#include "weft/aqm.h"

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

/// The configuration of AQM for the port.
static const void *aqm_of_port(const struct weft_run *run, uint32_t port, const struct weft_switch_conf *conf,
                               struct weft_arena *arena) {
    const struct weft_aqm_ops *aqm = conf->aqm.model->ops;
    weft_rate_bps rate = run->topology->link[run->topology->port[port].link].rate_bps;
    return aqm->for_port ? aqm->for_port(conf->aqm.conf, rate, arena) : conf->aqm.conf;
}

/// Marks and drops; it is not known which devices dropped.
static void look_at_aqm(const struct weft_run *run, uint32_t node, const struct weft_device_conf *conf,
                        struct weft_arena *arena, struct weft__mechanism_use *use) {
    const struct weft_node_info *info = &run->topology->node[node];
    const struct weft_aqm_ops *aqm = conf->sw.aqm.model->ops;
    if (!aqm->thresholds || !conf->sw.aqm_priorities) return;
    if (!use->devices++) use->acts += run->outcome->drops[WEFT_DROP_AQM];
    for (uint32_t port = info->port0; port < info->port0 + info->ports; port++) {
        if (weft_topology_link_is_fabric(run->topology, run->topology->port[port].link)) continue;
        weft_bytes threshold[WEFT_EVENT_THRESHOLDS] = {0}, most = 0;
        aqm->thresholds(aqm_of_port(run, port, &conf->sw, arena), threshold);
        for (unsigned p = 0; p < WEFT_PRIORITIES; p++) {
            const struct weft_counters *c = weft_outcome_at(run->outcome, port, p);
            use->acts += c->ecn_marked;
            if (conf->sw.aqm_priorities >> p & 1 && c->queue_bytes_max > most) most = c->queue_bytes_max;
        }
        weft__mechanism_saw(use, most, threshold[WEFT_EVENT_MIN]);
    }
}
const struct weft__mechanism weft__mechanism_ecn = {
    .name = "ECN", .nothing = "no packet marked or dropped by AQM", .watched = "deepest queue", .look = look_at_aqm};

static void look_at_watchdog(const struct weft_run *run, uint32_t node, const struct weft_device_conf *conf,
                             struct weft_arena *arena, struct weft__mechanism_use *use) {
    const struct weft_node_info *info = &run->topology->node[node];
    const struct weft_pfc_conf *pfc = weft__box_of(info)->pfc(conf);
    if (!pfc->priorities || pfc->watchdog_ps == WEFT_TIME_NEVER) return;
    use->devices++;
    for (size_t i = (size_t)info->port0 * WEFT_PRIORITIES; i < (size_t)(info->port0 + info->ports) * WEFT_PRIORITIES;
         i++)
        use->acts += run->outcome->counters[i].watchdog_storms;
}
const struct weft__mechanism weft__mechanism_watchdog = {
    .name = "PFC watchdog", .nothing = "no pause storm", .look = look_at_watchdog};
