// SPDX-License-Identifier: Apache-2.0
// Eligible links of a DSF: with all links up, those that begin a shortest path to an interface node; and how the
// control plane changes them after failures and repairs.
#include "box/dsf/dsf_eligible.h"

#include <assert.h>
#include <string.h>

#include "base/grow.h"
#include "box/dsf/dsf_net.h"
#include "weft/memory.h"

static const enum weft_memory_kind KIND = WEFT_MEMORY_ROUTES;

static struct weft_eligible *eligible_new(const struct weft_topology *t) {
    struct weft_eligible *e = weft_memory_new(KIND, 1, sizeof *e);
    e->nodes = t->nodes;
    e->in_of_node = weft_memory_new(KIND, t->nodes, sizeof *e->in_of_node);
    e->node_of_in = weft_memory_new(KIND, t->nodes, sizeof *e->node_of_in);
    e->box = weft_memory_new(KIND, t->nodes, sizeof *e->box);
    for (uint32_t i = 0; i < t->nodes; i++) {
        bool is_in = t->node[i].box == WEFT_BOX_DSF_INTERFACE;
        e->in_of_node[i] = is_in ? e->ins : WEFT_NONE;
        if (is_in) e->node_of_in[e->ins++] = i;
    }
    for (uint32_t i = 0; i < t->nodes; i++) {
        struct weft_eligible_box *box = &e->box[i];
        if (t->node[i].box != WEFT_BOX_DSF_INTERFACE && t->node[i].box != WEFT_BOX_DSF_FABRIC) continue;
        box->set_of = weft_memory_new(KIND, e->ins, sizeof *box->set_of);
        box->set = weft__memory_grow_small(KIND, box->set, &box->sets_capacity, 1, sizeof *box->set);
        box->set[0] = (struct weft_eligible_set){0, 0};
        box->sets = 1;
    }
    return e;
}

void weft_eligible_free(struct weft_eligible *e) {
    if (!e) return;
    for (uint32_t i = 0; i < e->nodes; i++) {
        struct weft_eligible_box *box = &e->box[i];
        if (!box->set_of) continue;
        weft_memory_free(KIND, box->set_of, e->ins * sizeof *box->set_of);
        weft_memory_free(KIND, box->set, box->sets_capacity * sizeof *box->set);
        weft_memory_free(KIND, box->port, box->ports_capacity * sizeof *box->port);
        weft_memory_free(KIND, box->change, box->changes_capacity * sizeof *box->change);
    }
    weft_memory_free(KIND, e->in_of_node, e->nodes * sizeof *e->in_of_node);
    weft_memory_free(KIND, e->node_of_in, e->nodes * sizeof *e->node_of_in);
    weft_memory_free(KIND, e->box, e->nodes * sizeof *e->box);
    weft_memory_free(KIND, e, sizeof *e);
}

static bool is_set(const struct weft_eligible_box *box, uint32_t s, const uint16_t *port, uint32_t n) {
    return box->set[s].n == n && !(n && memcmp(&box->port[box->set[s].first], port, n * sizeof *port));
}

/// The number of a set of ports. A box has few sets, and mostly the same one is added again.
static uint16_t set_number(struct weft_eligible_box *box, const uint16_t *port, uint32_t n) {
    if (is_set(box, box->latest, port, n)) return (uint16_t)box->latest;
    for (uint32_t s = 0; s < box->sets; s++)
        if (is_set(box, s, port, n)) return (uint16_t)(box->latest = s);
    assert(box->sets < UINT16_MAX);
    box->set = weft__memory_grow_small(KIND, box->set, &box->sets_capacity, box->sets + 1, sizeof *box->set);
    box->port = weft__memory_grow_small(KIND, box->port, &box->ports_capacity, box->ports + n, sizeof *box->port);
    memcpy(&box->port[box->ports], port, n * sizeof *port);
    box->set[box->sets] = (struct weft_eligible_set){box->ports, n};
    box->ports += n;
    return (uint16_t)(box->latest = box->sets++);
}

/// From `time` on cells for `in` leave `node` by the n ports (from 0, ascending) that `port` lists. Of one node and
/// `in`, in the order of times; time 0 is the start.
static void eligible_put(struct weft_eligible *e, uint32_t node, uint32_t in, weft_time_ps time, const uint16_t *port,
                         uint32_t n) {
    struct weft_eligible_box *box = &e->box[node];
    uint16_t set = set_number(box, port, n);
    if (!time) {
        box->set_of[in] = set;
        return;
    }
    assert(!box->changes || box->change[box->changes - 1].time_ps <= time);
    box->change =
        weft__memory_grow_small(KIND, box->change, &box->changes_capacity, box->changes + 1, sizeof *box->change);
    box->change[box->changes++] = (struct weft_eligible_change){time, in, set};
}

/// A breadth-first search over fabric links from an interface node; `hops` stays 0 for boxes that it does not reach.
static uint32_t search_from(const struct weft_topology *t, uint32_t from, uint32_t *hops, uint32_t *order) {
    uint32_t reached = 1;
    order[0] = from;
    hops[from] = 1;
    for (uint32_t i = 0; i < reached; i++) {
        const struct weft_node_info *node = &t->node[order[i]];
        if (i && node->box == WEFT_BOX_DSF_INTERFACE) continue; // cells do not pass through it
        for (uint32_t p = node->port0; p < node->port0 + node->ports; p++) {
            uint32_t to = t->port[t->port[p].peer].node;
            if (hops[to] || !weft_topology_link_is_fabric(t, t->port[p].link)) continue;
            hops[to] = hops[order[i]] + 1;
            order[reached++] = to;
        }
    }
    return reached;
}

struct weft_eligible *weft__eligible_by_paths(const struct weft_topology *t) {
    struct weft_eligible *e = eligible_new(t);
    WEFT_FREED uint32_t *hops = weft_memory_new(KIND, t->nodes, sizeof *hops);
    WEFT_FREED uint32_t *order = weft_memory_new(KIND, t->nodes, sizeof *order);
    WEFT_FREED uint16_t *port = weft_memory_new(KIND, UINT16_MAX + 1, sizeof *port);
    for (uint32_t in = 0; in < e->ins; in++) {
        uint32_t reached = search_from(t, e->node_of_in[in], hops, order);
        for (uint32_t i = 1; i < reached; i++) {
            const struct weft_node_info *node = &t->node[order[i]];
            uint32_t n = 0;
            for (uint32_t k = 0; k < node->ports; k++) {
                const struct weft_port_info *out = &t->port[node->port0 + k];
                if (hops[t->port[out->peer].node] == hops[order[i]] - 1 && weft_topology_link_is_fabric(t, out->link))
                    port[n++] = (uint16_t)k;
            }
            eligible_put(e, order[i], in, 0, port, n);
        }
        for (uint32_t i = 0; i < reached; i++)
            hops[order[i]] = 0;
    }
    return e;
}

/// The set without the port, or with it. Returns its size.
static uint32_t change_set(const uint16_t *before, uint32_t n, uint16_t port, bool usable, uint16_t *after) {
    uint32_t m = 0;
    bool put = !usable;
    for (uint32_t i = 0; i < n; i++) {
        if (!put && before[i] >= port) {
            after[m++] = port;
            put = true;
        }
        if (before[i] != port) after[m++] = before[i];
    }
    if (!put) after[m++] = port;
    return m;
}

void weft__eligible_change(struct weft_eligible *e, const struct weft_reach_timeline *timeline) {
    WEFT_FREED uint16_t **now =
        weft_memory_new(KIND, e->nodes, sizeof *now); // the set in force, for boxes with changes
    WEFT_FREED uint16_t *port = weft_memory_new(KIND, UINT16_MAX + 1, sizeof *port);
    for (uint32_t i = 0; i < timeline->events; i++) {
        const struct weft_reach_event *event = &timeline->event[i];
        struct weft_eligible_box *box = &e->box[event->node];
        uint32_t in = e->in_of_node[event->dst];
        if (!now[event->node]) {
            now[event->node] = weft_memory_new(KIND, e->ins, sizeof **now);
            memcpy(now[event->node], box->set_of, e->ins * sizeof **now);
        }
        const struct weft_eligible_set *set = &box->set[now[event->node][in]];
        uint32_t n = change_set(&box->port[set->first], set->n, event->port, event->usable, port);
        eligible_put(e, event->node, in, event->time_ps ? event->time_ps : 1, port, n);
        now[event->node][in] = (uint16_t)box->latest;
    }
    for (uint32_t i = 0; i < e->nodes; i++)
        weft_memory_free(KIND, now[i], now[i] ? e->ins * sizeof **now : 0);
}
