// SPDX-License-Identifier: Apache-2.0
// DSF fabrics in a topology, and their control plane over the failures of a scenario.

#include "control/dsf/reach_run.h"
#include "weft/error.h"
#include "weft/memory.h"

#define BAD(...) WEFT_REFUSE(ret_error, t->place, __VA_ARGS__)

/// The representative of a node among connected ones.
static uint32_t root_of(uint32_t *parent, uint32_t node) {
    while (parent[node] != node)
        node = parent[node] = parent[parent[node]];
    return node;
}

static uint8_t level_of(const struct weft_topology *t, uint32_t node) {
    return t->node[node].fabric_level; // 0: an interface node
}

struct search {
    const struct weft_topology *t;
    uint32_t *part;   ///< [nodes]: the fabric, WEFT_NONE: none
    uint32_t *number; ///< [nodes]: the device in it
    uint32_t *devices, *links;
    uint32_t parts;
};

static enum weft_status find_parts(struct search *s, struct weft_arena *arena, struct weft_error *ret_error) {
    const struct weft_topology *t = s->t;
    uint32_t *parent = weft_arena_alloc(arena, t->nodes, sizeof *parent);
    s->part = weft_arena_alloc(arena, t->nodes, sizeof *s->part);
    s->number = weft_arena_alloc(arena, t->nodes, sizeof *s->number);
    for (uint32_t n = 0; n < t->nodes; n++)
        parent[n] = n;
    for (uint32_t l = 0; l < t->links; l++) {
        if (!weft_topology_link_is_fabric(t, l)) continue;
        uint32_t a = t->port[t->link[l].port[0]].node, b = t->port[t->link[l].port[1]].node;
        if (level_of(t, a) + 1 != level_of(t, b) && level_of(t, b) + 1 != level_of(t, a))
            return BAD("a fabric link from %s to %s: expected one between an interface node and a fabric node of level "
                       "1, or between levels 1 and 2",
                       t->node[a].name, t->node[b].name);
        parent[root_of(parent, a)] = root_of(parent, b);
    }
    uint32_t *number_of = weft_arena_alloc(arena, t->nodes, sizeof *number_of);
    for (uint32_t n = 0; n < t->nodes; n++)
        if (t->node[n].box == WEFT_BOX_DSF_FABRIC && !number_of[root_of(parent, n)])
            number_of[root_of(parent, n)] = ++s->parts;
    s->devices = weft_arena_alloc(arena, s->parts + 1, sizeof *s->devices);
    s->links = weft_arena_alloc(arena, s->parts + 1, sizeof *s->links);
    for (uint32_t n = 0; n < t->nodes; n++) {
        bool dsf = t->node[n].box == WEFT_BOX_DSF_FABRIC || t->node[n].box == WEFT_BOX_DSF_INTERFACE;
        uint32_t part = dsf ? number_of[root_of(parent, n)] : 0;
        s->part[n] = part - 1; // WEFT_NONE for 0
        if (part) s->number[n] = s->devices[part - 1]++;
    }
    for (uint32_t l = 0; l < t->links; l++)
        if (weft_topology_link_is_fabric(t, l)) s->links[s->part[t->port[t->link[l].port[0]].node]]++;
    return WEFT_OK;
}

static struct weft_fabric *build_fabric(const struct search *s, uint32_t part, struct weft_arena *arena) {
    const struct weft_topology *t = s->t;
    WEFT_FREED struct weft_fabric_device *device =
        weft_memory_new(WEFT_MEMORY_TOPOLOGY, s->devices[part], sizeof *device);
    WEFT_FREED struct weft_fabric_link *link = weft_memory_new(WEFT_MEMORY_TOPOLOGY, s->links[part], sizeof *link);
    uint32_t links = 0;
    for (uint32_t n = 0; n < t->nodes; n++)
        if (s->part[n] == part)
            device[s->number[n]] = (struct weft_fabric_device){
                .name = t->node[n].name, .node = n, .level = level_of(t, n), .cluster = t->node[n].cluster};
    for (uint32_t l = 0; l < t->links; l++) {
        uint32_t a = t->port[t->link[l].port[0]].node, b = t->port[t->link[l].port[1]].node;
        if (!weft_topology_link_is_fabric(t, l) || s->part[a] != part) continue;
        uint32_t low = level_of(t, a) < level_of(t, b) ? a : b, high = low == a ? b : a;
        link[links++] = (struct weft_fabric_link){
            .device = {s->number[low], s->number[high]}, .delay_ps = t->link[l].delay_ps, .link = l};
    }
    struct weft_fabric *f = weft_fabric_new(device, s->devices[part], link, links, arena);
    return f;
}

static enum weft_status check_size(const struct weft_topology *t, const struct weft_fabric *f,
                                   const struct weft_reach_conf *conf, struct weft_error *ret_error) {
    if (f->dests > conf->table)
        return BAD("the fabric of %s has %u interface nodes; expected at most the %llu of control.reachability.table",
                   f->device[0].name, f->dests, (unsigned long long)conf->table);
    for (uint32_t i = 0; i < f->devices; i++)
        if (f->device[i].links > WEFT_REACH_LINKS_MAX)
            return BAD("%s has %u fabric links; expected at most %u", f->device[i].name, f->device[i].links,
                       WEFT_REACH_LINKS_MAX);
    return WEFT_OK;
}

enum weft_status weft_fabric_find(const struct weft_topology *t, const struct weft_reach_conf *conf,
                                  struct weft_arena *arena, struct weft_fabric ***ret_fabric, uint32_t *ret_n,
                                  struct weft_error *ret_error) {
    struct search s = {.t = t};
    enum weft_status status = find_parts(&s, arena, ret_error);
    if (status) return status;
    *ret_fabric = weft_arena_alloc(arena, s.parts, sizeof **ret_fabric);
    *ret_n = s.parts;
    for (uint32_t i = 0; i < s.parts && !status; i++) {
        (*ret_fabric)[i] = build_fabric(&s, i, arena);
        status = check_size(t, (*ret_fabric)[i], conf, ret_error);
    }
    return status;
}

/// Ports of a device's links.
static uint16_t port_of(const struct weft_topology *t, const struct weft_fabric *f, uint32_t device, uint32_t slot) {
    const struct weft_fabric_link *l = &f->link[f->at[f->device[device].link0 + slot]];
    uint32_t node = f->device[device].node;
    const uint32_t *port = t->link[l->link].port;
    return (uint16_t)(port[t->port[port[0]].node != node] - t->node[node].port0);
}

static void add_stats(struct weft_reach_stats *sum, const struct weft_reach_stats *one) {
    sum->cells += one->cells;
    sum->withdrawn += one->withdrawn;
    sum->opened += one->opened;
    sum->changes += one->changes;
    if (one->rounds > sum->rounds) sum->rounds = one->rounds;
    if (one->first_ps < sum->first_ps) sum->first_ps = one->first_ps;
    if (one->last_ps > sum->last_ps) sum->last_ps = one->last_ps;
}

static void note_drain(struct weft__reach_run *run, const struct weft_fabric *f, const struct weft_control_event *e) {
    for (uint32_t d = 0; d < f->dests && weft_control_is_drain(e); d++) {
        if (f->device[f->dest_device[d]].node != e->node) continue;
        if (e->what == WEFT_CONTROL_ASIC_ERROR)
            weft__reach_run_asic_error(run, e->time_ps, f->dest_device[d]);
        else
            weft__reach_run_admin(run, e->time_ps, f->dest_device[d], e->what == WEFT_CONTROL_UNDRAIN);
    }
}

struct weft__reach_run *weft__reach_run_events(const struct weft_topology *t, const struct weft_fabric *f,
                                               const struct weft_reach_conf *conf,
                                               const struct weft_control_event *event, uint32_t events, uint64_t seed,
                                               struct weft_arena *arena) {
    struct weft__reach_run *run = weft__reach_run_new(f, conf, seed, true);
    uint32_t *at = weft_arena_alloc(arena, t->links, sizeof *at); // its number in the fabric, from 1
    for (uint32_t l = 0; l < f->links; l++)
        at[f->link[l].link] = l + 1;
    for (uint32_t e = 0; e < t->events; e++)
        if (at[t->event[e].link])
            weft__reach_run_link(run, t->event[e].time_ps, at[t->event[e].link] - 1, t->event[e].up);
    for (uint32_t e = 0; e < events; e++)
        note_drain(run, f, &event[e]);
    return run;
}

/// Both sorted by time; at the same time, `ours` before `more`.
static struct weft_reach_event *merge_events(const struct weft_reach_event *ours, uint32_t n,
                                             const struct weft_reach_event *more, uint32_t m,
                                             struct weft_arena *arena) {
    struct weft_reach_event *all = weft_arena_alloc(arena, (size_t)n + m, sizeof *all);
    for (uint32_t i = 0, k = 0; i + k < n + m;) {
        bool first = k == m || (i < n && ours[i].time_ps <= more[k].time_ps);
        all[i + k] = first ? ours[i] : more[k];
        if (first)
            i++;
        else
            k++;
    }
    return all;
}

static void add_fabric(struct weft_reach_timeline *timeline, const struct weft_topology *t, const struct weft_fabric *f,
                       const struct weft_reach_conf *conf, const struct weft_control_event *event, uint32_t events,
                       uint64_t seed, struct weft_arena *arena) {
    struct weft__reach_run *run = weft__reach_run_events(t, f, conf, event, events, seed, arena);
    weft__reach_run_settle(run);
    uint32_t n;
    const struct weft_reach_change *change = weft__reach_run_changes(run, &n);
    struct weft_reach_event *own = weft_arena_alloc(arena, n, sizeof *own);
    for (uint32_t i = 0; i < n; i++)
        own[i] = (struct weft_reach_event){change[i].time_ps, f->device[change[i].device].node,
                                           f->device[f->dest_device[change[i].dest]].node,
                                           port_of(t, f, change[i].device, change[i].slot), change[i].usable};
    timeline->event = timeline->events ? merge_events(timeline->event, timeline->events, own, n, arena) : own;
    timeline->events += n;
    add_stats(&timeline->stats, weft__reach_run_stats(run));
    weft__reach_run_free(run);
}

enum weft_status weft_reach_timeline_new(const struct weft_topology *t, const struct weft_reach_conf *conf,
                                         const struct weft_control_event *event, uint32_t events, uint64_t seed,
                                         struct weft_arena *arena, struct weft_reach_timeline **ret_timeline,
                                         struct weft_error *ret_error) {
    struct weft_fabric **fabric;
    uint32_t fabrics = 0;
    struct weft_reach_timeline *timeline = weft_arena_alloc(arena, 1, sizeof *timeline);
    timeline->stats.first_ps = WEFT_TIME_NEVER;
    enum weft_status status = weft_fabric_find(t, conf, arena, &fabric, &fabrics, ret_error);
    for (uint32_t i = 0; i < fabrics && !status; i++)
        add_fabric(timeline, t, fabric[i], conf, event, events, seed + i, arena);
    *ret_timeline = timeline;
    return status;
}
