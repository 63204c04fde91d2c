// SPDX-License-Identifier: Apache-2.0
// Eligible links of a DSF: with all links up, those that are the first of a shortest way to an interface node; and what
// the control plane makes of failures and repairs.
#include "weft/eligible.h"

#include <assert.h>
#include <string.h>

#include "sim/dsf.h"
#include "weft/memory.h"

static const enum weft_memory_kind KIND = WEFT_MEMORY_ROUTES;

static void *grow(void *array, uint32_t *capacity, uint32_t needed, size_t size) {
    if (needed <= *capacity) return array;
    uint32_t after = 2 * needed + 6;
    array = weft_memory_resize(KIND, array, *capacity * size, after * size);
    *capacity = after;
    return array;
}

struct weft_eligible *weft_eligible_new(const struct weft_topology *t) {
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
        box->set = grow(box->set, &box->sets_capacity, 1, sizeof *box->set);
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

/// The number of a set of ports. Sets of a box are few, and the same one is mostly put again and again.
static uint16_t set_number(struct weft_eligible_box *box, const uint16_t *port, uint32_t n) {
    if (is_set(box, box->latest, port, n)) return (uint16_t)box->latest;
    for (uint32_t s = 0; s < box->sets; s++)
        if (is_set(box, s, port, n)) return (uint16_t)(box->latest = s);
    assert(box->sets < UINT16_MAX);
    box->set = grow(box->set, &box->sets_capacity, box->sets + 1, sizeof *box->set);
    box->port = grow(box->port, &box->ports_capacity, box->ports + n, sizeof *box->port);
    memcpy(&box->port[box->ports], port, n * sizeof *port);
    box->set[box->sets] = (struct weft_eligible_set){box->ports, n};
    box->ports += n;
    return (uint16_t)(box->latest = box->sets++);
}

void weft_eligible_put(struct weft_eligible *e, uint32_t node, uint32_t in, weft_time_ps time, const uint16_t *port,
                       uint32_t n) {
    struct weft_eligible_box *box = &e->box[node];
    uint16_t set = set_number(box, port, n);
    if (!time) {
        box->set_of[in] = set;
        return;
    }
    assert(!box->changes || box->change[box->changes - 1].time_ps <= time);
    box->change = grow(box->change, &box->changes_capacity, box->changes + 1, sizeof *box->change);
    box->change[box->changes++] = (struct weft_eligible_change){time, in, set};
}

/// What a box uses towards an interface node, by the routes.
static const uint16_t *ports_by(const struct weft_routes *r, const struct weft_topology *t, uint32_t node, uint32_t to,
                                uint32_t *ret_n) {
    uint32_t sw = t->node[node].index, edge = r->edge_of_switch[t->node[to].index];
    *ret_n = 0;
    if (edge == WEFT_NONE || node == to) return NULL;
    const struct weft_route_set *set = &r->set[r->set_first[sw] + r->set_of[(size_t)sw * r->edges + edge]];
    *ret_n = set->n;
    return &r->ports[set->first];
}

struct weft_eligible *weft__eligible_by_paths(const struct weft_topology *t, const struct weft_routes *routes) {
    struct weft_eligible *e = weft_eligible_new(t);
    for (uint32_t i = 0; i < t->nodes; i++)
        for (uint32_t in = 0; e->box[i].set_of && in < e->ins; in++) {
            uint32_t n;
            const uint16_t *port = ports_by(routes, t, i, e->node_of_in[in], &n);
            if (n) weft_eligible_put(e, i, in, 0, port, n);
        }
    return e;
}

/// The set without the port, or with it. Returns how many.
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
    uint16_t **now = weft_memory_new(KIND, e->nodes, sizeof *now); // set in force, of boxes with changes
    uint16_t *port = weft_memory_new(KIND, UINT16_MAX + 1, sizeof *port);
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
        weft_eligible_put(e, event->node, in, event->time_ps ? event->time_ps : 1, port, n);
        now[event->node][in] = (uint16_t)box->latest;
    }
    for (uint32_t i = 0; i < e->nodes; i++)
        weft_memory_free(KIND, now[i], now[i] ? e->ins * sizeof **now : 0);
    weft_memory_free(KIND, now, e->nodes * sizeof *now);
    weft_memory_free(KIND, port, (UINT16_MAX + 1) * sizeof *port);
}
