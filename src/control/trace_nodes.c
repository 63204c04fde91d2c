// SPDX-License-Identifier: Apache-2.0
// FSDB and BGP of a fabric, for the story.
#include "control/nodes.h"
#include "control/trace.h"
#include "weft/memory.h"

/// Links of an interface node to Ethernet switches: an EDSW has some.
static uint32_t uplinks(const struct weft_topology *t, uint32_t node, uint32_t link, uint32_t *ret_number) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < t->node[node].ports; k++) {
        const struct weft_port_info *p = weft_topology_port(t, node, k);
        if (t->node[t->port[p->peer].node].box != WEFT_BOX_ETHERNET_SWITCH) continue;
        if (p->link == link) *ret_number = n;
        n++;
    }
    return n;
}

struct bgp_setup {
    uint32_t rdsws, edsws, links;
    uint32_t *edsw_of; ///< [nodes]
};

static struct bgp_setup find_edsws(const struct weft_topology *t, const struct weft_fabric *f,
                                   struct weft_arena *arena) {
    struct bgp_setup s = {.edsw_of = weft_arena_alloc(arena, t->nodes, sizeof *s.edsw_of)};
    for (uint32_t n = 0; n < t->nodes; n++)
        s.edsw_of[n] = WEFT_NONE;
    for (uint32_t d = 0; d < f->dests; d++) {
        uint32_t node = f->device[f->dest_device[d]].node, unused, links = uplinks(t, node, WEFT_NONE, &unused);
        if (!links) {
            s.rdsws++;
            continue;
        }
        s.edsw_of[node] = s.edsws++;
        s.links = links > s.links ? links : s.links;
    }
    return s;
}

/// The link events of the topology that are EDSWs' links, and the crashes of EDSWs, by time.
static uint32_t bgp_events(const struct weft_control_trace *trace, const struct weft_topology *t,
                           const struct bgp_setup *s, struct weft_bgp_event *ret) {
    uint32_t n = 0, i = 0, k = 0;
    while (i < trace->events || k < t->events) {
        bool link = i == trace->events || (k < t->events && t->event[k].time_ps < trace->event[i].time_ps);
        if (link) {
            const struct weft_link_event *e = &t->event[k++];
            for (uint32_t end = 0; end < 2; end++) {
                uint32_t node = t->port[t->link[e->link].port[end]].node, number = WEFT_NONE;
                if (s->edsw_of[node] == WEFT_NONE) continue;
                uplinks(t, node, e->link, &number);
                if (number != WEFT_NONE)
                    ret[n++] = (struct weft_bgp_event){e->time_ps, e->up ? WEFT_BGP_LINK_UP : WEFT_BGP_LINK_DOWN,
                                                       s->edsw_of[node], number};
            }
            continue;
        }
        const struct weft_control_event *e = &trace->event[i++];
        if (e->node == WEFT_NONE || s->edsw_of[e->node] == WEFT_NONE) continue;
        struct weft_bgp_event own = {.time_ps = e->time_ps, .edsw = s->edsw_of[e->node]};
        own.what = e->what == WEFT_CONTROL_CRASH  ? WEFT_BGP_LOST
                   : e->what == WEFT_CONTROL_SHUT ? WEFT_BGP_SHUT
                                                  : WEFT_BGP_BACK;
        if (e->what == WEFT_CONTROL_CRASH || e->what == WEFT_CONTROL_SHUT || e->what == WEFT_CONTROL_RESTART)
            ret[n++] = own;
    }
    return n;
}

static void run_bgp(struct weft_control_trace *trace, struct weft_control_nodes *nodes, const struct weft_topology *t,
                    const struct weft_fabric *f, const struct weft_control_conf *conf, uint64_t seed,
                    struct weft_arena *arena) {
    struct bgp_setup s = find_edsws(t, f, arena);
    if (!s.edsws || !s.rdsws || s.links > WEFT_BGP_LINKS_MAX) return;
    struct weft_bgp_event *event = weft_arena_alloc(arena, trace->events + 2 * (size_t)t->events, sizeof *event);
    nodes->bgp_events = bgp_events(trace, t, &s, event);
    nodes->bgp_event = event;
    nodes->rdsws = s.rdsws;
    nodes->edsws = s.edsws;
    nodes->edsw = weft_arena_alloc(arena, s.edsws, sizeof *nodes->edsw);
    for (uint32_t n = 0; n < t->nodes; n++)
        if (s.edsw_of[n] != WEFT_NONE) nodes->edsw[s.edsw_of[n]] = n;
    nodes->bgp = weft_bgp_run(&conf->bgp, s.rdsws, s.edsws, s.links, event, nodes->bgp_events, seed, arena);
}

void weft__control_trace_nodes(struct weft_control_trace *trace, const struct weft_topology *t,
                               const struct weft_control_conf *conf, uint64_t seed, uint32_t fabric,
                               struct weft_arena *arena) {
    const struct weft_fabric *f = trace->fabric[fabric];
    struct weft_control_nodes *nodes = &trace->nodes[fabric];
    nodes->fsdb = weft__nodes_fsdb(t, f, &conf->fsdb, trace->event, trace->events, seed, arena, &nodes->fsdb_event,
                                   &nodes->fsdb_events);
    run_bgp(trace, nodes, t, f, conf, seed, arena);
}
