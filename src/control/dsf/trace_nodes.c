// SPDX-License-Identifier: Apache-2.0
// FSDB and BGP of a fabric, for the story.

#include "control/dsf/nodes.h"
#include "control/dsf/trace.h"
#include "weft/memory.h"

/// Some interface node has a link to an Ethernet switch.
static bool has_exits(const struct weft_topology *t) {
    for (uint32_t p = 0; p < t->ports; p++) {
        const struct weft_node_info *peer = &t->node[t->port[t->port[p].peer].node];
        if (t->node[t->port[p].node].box == WEFT_BOX_DSF_INTERFACE && peer->role != WEFT_NODE_HOST &&
            !weft_topology_link_is_fabric(t, t->port[p].link))
            return true;
    }
    return false;
}

bool weft__control_states_begin(struct weft__control_states *s, const struct weft_topology *t,
                                struct weft_arena *arena) {
    *s = (struct weft__control_states){0};
    if (!has_exits(t)) return false;
    s->time_ps = weft_arena_alloc(arena, t->events + 1, sizeof *s->time_ps);
    s->exits = weft_arena_alloc(arena, t->events + 1, sizeof *s->exits);
    bool *down = weft_arena_alloc(arena, t->links, sizeof *down), changed = false;
    s->routes = weft_routes_new(t, NULL);
    s->exits[s->n++] = weft_exits_new(t, s->routes);
    for (uint32_t i = 0; i < t->events; i++) {
        down[t->event[i].link] = !t->event[i].up;
        changed |= !weft_topology_link_is_fabric(t, t->event[i].link);
        if (i + 1 < t->events && t->event[i + 1].time_ps == t->event[i].time_ps) continue;
        s->time_ps[s->n] = t->event[i].time_ps;
        s->exits[s->n] = s->exits[s->n - 1]; // events within a fabric change no exits
        if (changed) {
            struct weft_routes *routes = weft_routes_new(t, down);
            s->exits[s->n] = weft_exits_new(t, routes);
            weft_routes_free(routes);
        }
        s->n++;
        changed = false;
    }
    s->all = (struct weft_exit_states){s->n, s->time_ps, (const struct weft_exits *const *)s->exits, s->routes};
    return true;
}

void weft__control_states_end(struct weft__control_states *s) {
    for (uint32_t i = 0; i < s->n; i++)
        if (!i || s->exits[i] != s->exits[i - 1]) weft_exits_free(s->exits[i]);
    if (s->routes) weft_routes_free(s->routes);
}

enum weft_status weft__control_trace_nodes(struct weft_control_trace *trace, const struct weft_topology *t,
                                           const struct weft_control_conf *conf, const struct weft_exit_states *states,
                                           uint64_t seed, uint32_t fabric, struct weft_arena *arena,
                                           struct weft_error *ret_error) {
    const struct weft_fabric *f = trace->fabric[fabric];
    struct weft_control_nodes *nodes = &trace->nodes[fabric];
    struct weft_exit_timeline *exits;
    uint32_t *node = weft_arena_alloc(arena, f->dests, sizeof *node);
    for (uint32_t d = 0; d < f->dests; d++)
        node[d] = f->device[f->dest_device[d]].node;
    const struct weft_control_given given = {conf, trace->event, trace->events, seed, states};
    nodes->fsdb = weft__nodes_fsdb(t, f, &given, arena, &nodes->fsdb_event, &nodes->fsdb_events);
    enum weft_status status = weft_exit_timeline_new(t, node, f->dests, &given, true, arena, &exits, ret_error);
    nodes->exits = exits;
    return status;
}
