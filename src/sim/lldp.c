// SPDX-License-Identifier: Apache-2.0
// What each port announces in LLDP follows from its device's configuration: PFC from pfc.priorities, ETS from the
// scheduler, the applications from dcbx.apps; name and addresses from the topology.
#include "sim/run.h"

#include <string.h>

#include "weft/sfc.h"
#include "weft/wire_sfcm.h"

enum { FRAME_BYTES_MAX = 1514, TEXT_MAX = 256 };

weft_time_ps weft__sfc_pause_max(const struct weft_topology *t, const struct weft_device_conf **device) {
    weft_time_ps most = 0;
    for (uint32_t i = 0; i < t->switches; i++) {
        const struct weft_sfc_conf *conf = device[t->switch_node[i]]->sw.sfc.conf;
        if (conf->priorities && conf->pause_ps > most) most = conf->pause_ps;
    }
    return most;
}

static bool is_switch(const struct weft_topology *t, uint32_t port) {
    return t->node[t->port[port].node].role == WEFT_NODE_SWITCH;
}

static struct weft_ets_table ets_of(const struct weft_model_conf *scheduler) {
    const struct weft_scheduler_ops *ops = scheduler->model->ops;
    uint64_t weight[WEFT_PRIORITIES] = {0};
    if (ops->weights) ops->weights(scheduler->conf, weight);
    return weft_ets_table_of_weights(weight);
}

/// IEEE DCBX has no field for source flow control yet. A NIC that understands its messages announces it like an
/// application: by the priority for it. (Our choice.)
static void add_sfc(struct weft_app_table *apps) {
    if (apps->n == WEFT_APPS_MAX) return;
    apps->app[apps->n++] = (struct weft_app){.priority = 7, .selector = WEFT_APP_UDP, .protocol = WEFT_UDP_PORT_SFCM};
}

/// A port's configuration, in the form in which it is announced. `sfc`: a switch has source flow control.
static void fill_end(const struct weft_topology *t, const struct weft_device_conf *device, uint32_t port, bool sfc,
                     struct weft_dcbx_end *ret) {
    char why[TEXT_MAX];
    const struct weft_pfc_conf *pfc = is_switch(t, port) ? &device->sw.pfc : &device->host.pfc;
    const struct weft_dcbx_conf *dcbx = &device->dcbx;
    memset(ret, 0, sizeof *ret);
    weft_address_mac(port, ret->mac);
    ret->says.has = WEFT_DCBX_PFC | WEFT_DCBX_ETS | WEFT_DCBX_ETS_RECOMMENDATION | WEFT_DCBX_APPS;
    ret->says.pfc = (struct weft_pfc_configuration){
        .willing = dcbx->willing,
        .capability = (uint8_t)dcbx->capability,
        .enabled = pfc->priorities,
    };
    ret->says.ets = (struct weft_ets_configuration){
        .willing = dcbx->willing,
        .classes = WEFT_PRIORITIES,
        .table = ets_of(is_switch(t, port) ? &device->sw.scheduler : &device->host.scheduler),
    };
    ret->says.recommendation.table = ret->says.ets.table;
    const char *wrong = weft_dcbx_apps_parse(dcbx->apps, &ret->says.apps, why, sizeof why);
    assert(!wrong); // the parameter's check has caught that
    if (sfc && !is_switch(t, port) && device->host.sfc) add_sfc(&ret->says.apps);
    ret->says.cee = weft_cee_of_pfc(&ret->says.pfc);
    if (dcbx->version == WEFT_DCBX_VERSION_CEE) ret->says.has = 0;
    if (dcbx->version != WEFT_DCBX_VERSION_IEEE) ret->says.has |= WEFT_DCBX_CEE;
}

struct weft__lldp_frame *weft__lldp_frames(const struct weft_topology *t, const struct weft_device_conf **device,
                                           struct weft_arena *arena) {
    struct weft__lldp_frame *frame = NULL;
    bool sfc = weft__sfc_pause_max(t, device) > 0;
    for (uint32_t i = 0; i < t->ports; i++) {
        const struct weft_device_conf *conf = device[t->port[i].node];
        struct weft_dcbx_end end;
        uint8_t bytes[FRAME_BYTES_MAX];
        char name[TEXT_MAX];
        if (!conf->dcbx.enabled || weft_topology_link_is_fabric(t, t->port[i].link)) continue;
        if (!frame) frame = weft_arena_alloc(arena, t->ports, sizeof *frame);
        fill_end(t, conf, i, sfc, &end);
        weft_topology_port_name(t, i, name, sizeof name);
        uint16_t ttl_s = (uint16_t)(conf->dcbx.ttl_ps / WEFT_PS_PER_S);
        size_t size = weft_dcbx_frame_encode(&end, t->node[t->port[i].node].name, name, ttl_s, bytes, sizeof bytes);
        assert(size);
        frame[i] = (struct weft__lldp_frame){memcpy(weft_arena_alloc(arena, size, 1), bytes, size), size};
    }
    return frame;
}

struct weft__lldp *weft__lldp_new(const struct weft__network *net, uint32_t port, struct weft_arena *arena) {
    if (!net->lldp || !net->lldp[port].size) return NULL;
    const struct weft_device_conf *device = net->device[net->topology->port[port].node];
    uint8_t configured = is_switch(net->topology, port) ? device->sw.pfc.priorities : device->host.pfc.priorities;
    struct weft__lldp *l = weft_arena_alloc(arena, 1, sizeof *l);
    *l = (struct weft__lldp){
        .frame = net->lldp,
        .interval_ps = device->dcbx.interval_ps,
        .expires_ps = WEFT_TIME_NEVER,
        .configured = configured,
        .in_force = configured,
    };
    return l;
}

// --- what comes of it on a link -----------------------------------------------------------------------------------

struct notes {
    struct weft_link_note note[2 * WEFT_DCBX_DIFFERENCES_MAX + 1];
    uint32_t n;
};

static void add_note(struct notes *notes, uint32_t port, const struct weft_dcbx_difference *difference,
                     struct weft_arena *arena) {
    char found[TEXT_MAX], consequence[TEXT_MAX];
    weft_dcbx_explain(difference, found, consequence, sizeof found);
    notes->note[notes->n++] = (struct weft_link_note){
        .port = port,
        .priorities = difference->priorities,
        .found = weft_arena_text(arena, found),
        .consequence = weft_arena_text(arena, consequence),
    };
}

/// Of the differences that the second end sees, only those that the first does not see as well.
static bool is_new(const struct weft_dcbx_difference *d, const struct weft_dcbx_operation *first) {
    if (d->fault == WEFT_DCBX_PFC_DIFFERS || d->fault == WEFT_DCBX_ETS_DIFFERS || d->fault == WEFT_DCBX_APP_DIFFERS)
        return false;
    for (uint32_t i = 0; i < first->differences && d->fault == WEFT_DCBX_APP_LOSSY; i++)
        if (first->difference[i].fault == d->fault && first->difference[i].priorities == d->priorities &&
            first->difference[i].app.protocol == d->app.protocol)
            return false;
    return true;
}

/// Fills in what follows from `speaks` and `hears`.
static void judge_link(struct weft_link_dcbx *l, const struct weft_link_info *link, const struct weft_dcbx_end end[2],
                       struct weft_arena *arena) {
    struct weft_dcbx_operation operation[2];
    struct notes notes = {.n = 0};
    for (unsigned k = 0; k < 2; k++) {
        weft_dcbx_negotiate(&end[k], l->hears[k] ? &end[1 - k] : NULL, &operation[k]);
        l->configured[k] = end[k].says.pfc.enabled;
        l->in_force[k] = operation[k].pfc;
    }
    l->lossless = l->in_force[0] & l->in_force[1];
    bool both = l->hears[0] && l->hears[1];
    struct weft_dcbx_difference pfc = {.fault = WEFT_DCBX_PFC_DIFFERS, .rule = WEFT_DCBX_UNHEARD};
    pfc.own = l->configured[0];
    pfc.peer = l->configured[1];
    pfc.priorities = (uint8_t)((pfc.own | pfc.peer) & ~l->lossless);
    if (!both && pfc.priorities) add_note(&notes, link->port[0], &pfc, arena);
    for (unsigned k = 0; k < 2; k++)
        for (uint32_t i = 0; i < operation[k].differences && (l->speaks[k] || l->hears[k]); i++) {
            const struct weft_dcbx_difference *d = &operation[k].difference[i];
            if ((!both && d->fault == WEFT_DCBX_PFC_DIFFERS) || (k && both && !is_new(d, &operation[0]))) continue;
            add_note(&notes, link->port[k], d, arena);
        }
    if (!notes.n) return;
    l->notes = notes.n;
    l->note = memcpy(weft_arena_alloc(arena, notes.n, sizeof *notes.note), notes.note, notes.n * sizeof *notes.note);
}

struct weft_link_dcbx *weft_links_negotiate(const struct weft_scenario *scenario, const struct weft_topology *t,
                                            struct weft_arena *arena) {
    const struct weft_device_conf **device = weft_device_confs(scenario, t, arena);
    struct weft_link_dcbx *links = weft_arena_alloc(arena, t->links, sizeof *links);
    bool sfc = weft__sfc_pause_max(t, device) > 0;
    for (uint32_t i = 0; i < t->links; i++) {
        struct weft_dcbx_end end[2];
        if (weft_topology_link_is_fabric(t, i)) continue; // no frames
        for (unsigned k = 0; k < 2; k++) {
            uint32_t port = t->link[i].port[k];
            fill_end(t, device[t->port[port].node], port, sfc, &end[k]);
            links[i].speaks[k] = device[t->port[port].node]->dcbx.enabled;
        }
        links[i].hears[0] = links[i].hears[1] = links[i].speaks[0] && links[i].speaks[1];
        judge_link(&links[i], &t->link[i], end, arena);
    }
    return links;
}

struct weft_link_dcbx *weft__lldp_collect(const struct weft__network *net, struct weft_arena *arena) {
    const struct weft_topology *t = net->topology;
    struct weft_link_dcbx *links = weft_arena_alloc(arena, t->links, sizeof *links);
    for (uint32_t i = 0; i < t->links; i++) {
        struct weft_dcbx_end end[2];
        if (weft_topology_link_is_fabric(t, i)) continue; // no frames
        for (unsigned k = 0; k < 2; k++) {
            uint32_t port = t->link[i].port[k];
            const struct weft__lldp *l = weft__network_port(net, port)->lldp;
            fill_end(t, net->device[t->port[port].node], port, net->sfc_pause_ps > 0, &end[k]);
            links[i].speaks[k] = l;
            links[i].hears[k] = l && l->expires_ps != WEFT_TIME_NEVER;
            links[i].sent[k] = l ? l->sent : 0;
            links[i].received[k] = l ? l->received : 0;
        }
        judge_link(&links[i], &t->link[i], end, arena);
    }
    return links;
}

uint32_t weft__lldp_find_odd(const struct weft__network *net, const struct weft_link_dcbx *links) {
    const struct weft_topology *t = net->topology;
    for (uint32_t i = 0; i < t->links; i++)
        for (unsigned k = 0; k < 2 && !weft_topology_link_is_fabric(t, i); k++)
            if (links[i].in_force[k] != weft__network_port(net, t->link[i].port[k])->lossless) return i;
    return WEFT_NONE;
}
