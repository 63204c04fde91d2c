// SPDX-License-Identifier: Apache-2.0
#include "estimate/level.h"

#include <assert.h>
#include <float.h>
#include <math.h>

#include "base/grow.h"

static const double ENDLESS = DBL_MAX; ///< level of a link that limits nobody

void weft__levels_init(struct weft__levels *l, double tolerance) {
    *l = (struct weft__levels){.tolerance = tolerance, .mark = 1};
}

void weft__levels_deinit(struct weft__levels *l) {
    enum weft_memory_kind kind = WEFT_MEMORY_QP;
    for (uint32_t i = 0; i < l->links; i++)
        weft_memory_free(kind, l->link[i].member, l->link[i].room * sizeof *l->link[i].member);
    weft_memory_free(kind, l->link, l->links_room * sizeof *l->link);
    weft_memory_free(kind, l->queue, l->links_room * sizeof *l->queue);
    weft_memory_free(kind, l->flow, l->flows_room * sizeof *l->flow);
    weft_memory_free(kind, l->changed, l->flows_room * sizeof *l->changed);
    weft_memory_free(kind, l->entry, l->entries_room * sizeof *l->entry);
    weft_memory_free(kind, l->other, l->other_room * sizeof *l->other);
}

uint32_t weft__levels_add_link(struct weft__levels *l, double capacity) {
    assert(!l->queued && capacity > 0);
    uint32_t before = l->links_room;
    WEFT__ADD_DOUBLE(WEFT_MEMORY_QP, l->link, l->links, l->links_room, 64) =
        (struct weft__level_link){.capacity = capacity, .level = ENDLESS};
    if (l->links_room != before)
        l->queue =
            weft_memory_resize(WEFT_MEMORY_QP, l->queue, before * sizeof *l->queue, l->links_room * sizeof *l->queue);
    l->queue_first = 0;
    return l->links - 1;
}

uint32_t weft__levels_add_flow(struct weft__levels *l, const struct weft__crossed *crossed, uint32_t n, double most) {
    uint32_t before = l->flows_room, first = l->entries;
    double least = most > 0 ? most : ENDLESS;
    for (uint32_t i = 0; i < n; i++) {
        WEFT__ADD_DOUBLE(WEFT_MEMORY_QP, l->entry, l->entries, l->entries_room, 256) = crossed[i];
        if (crossed[i].weight > 0) least = fmin(least, l->link[crossed[i].link].capacity / (double)crossed[i].weight);
    }
    if (n) l->rate_max = fmax(l->rate_max, least);
    WEFT__ADD_DOUBLE(WEFT_MEMORY_QP, l->flow, l->flows, l->flows_room, 64) =
        (struct weft__level_flow){.first = first, .entries = n, .most = (float)most};
    if (l->flows_room != before)
        l->changed = weft_memory_resize(WEFT_MEMORY_QP, l->changed, before * sizeof *l->changed,
                                        l->flows_room * sizeof *l->changed);
    return l->flows - 1;
}

/// All that cross it can have the most that any flow has: it limits nobody, and nobody has to look at them.
static bool has_room(const struct weft__levels *l, const struct weft__level_link *link) {
    return link->weights * l->rate_max < link->capacity * (1 - 1e-6);
}

static void enqueue_link(struct weft__levels *l, uint32_t link) {
    if (l->link[link].queued || (l->link[link].level >= ENDLESS && has_room(l, &l->link[link]))) return;
    l->link[link].queued = true;
    uint32_t at = l->queue_first + l->queued++;
    l->queue[at < l->links_room ? at : at - l->links_room] = link;
}

static void note_change(struct weft__levels *l, uint32_t flow) {
    if (l->flow[flow].mark == l->mark) return;
    l->flow[flow].mark = l->mark;
    l->changed[l->changes++] = flow;
}

static void enqueue_links(struct weft__levels *l, uint32_t flow) {
    const struct weft__level_flow *f = &l->flow[flow];
    for (uint32_t e = f->first; e < f->first + f->entries; e++)
        enqueue_link(l, l->entry[e].link);
}

/// Flows come and go: what the last settling changed is forgotten.
static void unsettle_rates(struct weft__levels *l) {
    if (!l->settled) return;
    l->settled = false;
    l->changes = 0;
    l->mark++;
}

void weft__levels_begin(struct weft__levels *l, uint32_t flow) {
    struct weft__level_flow *f = &l->flow[flow];
    assert(!f->active);
    unsettle_rates(l);
    f->active = true;
    f->rate = 0;
    for (uint32_t e = f->first; e < f->first + f->entries; e++) {
        struct weft__level_link *link = &l->link[l->entry[e].link];
        link->member =
            weft__memory_double(WEFT_MEMORY_QP, link->member, link->members, &link->room, 2, sizeof *link->member);
        l->entry[e].at = link->members;
        link->member[link->members++] = (struct weft__level_member){flow, e};
        link->weights += fabs((double)l->entry[e].weight);
        if (link->members > link->members_max) link->members_max = link->members;
    }
    note_change(l, flow);
    enqueue_links(l, flow);
}

void weft__levels_end(struct weft__levels *l, uint32_t flow) {
    struct weft__level_flow *f = &l->flow[flow];
    assert(f->active);
    unsettle_rates(l);
    f->active = false;
    for (uint32_t e = f->first; e < f->first + f->entries; e++) {
        struct weft__level_link *link = &l->link[l->entry[e].link];
        struct weft__level_member last = link->member[--link->members];
        link->member[l->entry[e].at] = last;
        link->weights = link->members ? link->weights - fabs((double)l->entry[e].weight) : 0;
        l->entry[last.entry].at = l->entry[e].at;
    }
    enqueue_links(l, flow);
}

void weft__levels_weigh(struct weft__levels *l, uint32_t flow, uint32_t entry, float weight) {
    bool same = weight >= l->entry[entry].weight && weight <= l->entry[entry].weight;
    double more = fabs((double)weight) - fabs((double)l->entry[entry].weight);
    l->entry[entry].weight = weight;
    if (same || !l->flow[flow].active) return;
    l->link[l->entry[entry].link].weights += more;
    unsettle_rates(l);
    enqueue_link(l, l->entry[entry].link);
}

/// What a flow would have without the link of entry `own`.
static double rate_without(const struct weft__levels *l, const struct weft__level_flow *f, uint32_t own) {
    double least = f->most > 0 ? (double)f->most : ENDLESS;
    for (uint32_t e = f->first; e < f->first + f->entries; e++) {
        if (e == own || l->entry[e].weight < 0) continue;
        double level = l->link[l->entry[e].link].level;
        if (level < least) least = level;
    }
    return least;
}

/// The level at which the link is full: flows that others limit more have their own, the rest shares what they leave.
static double find_level(struct weft__levels *l, const struct weft__level_link *link) {
    enum { LOAD_MAX = 2 }; // loads leave a part of a link at least
    double weights = 0, least = ENDLESS, loads = 0;
    while (link->members > l->other_room)
        l->other = weft__memory_double(WEFT_MEMORY_QP, l->other, l->other_room, &l->other_room, 256, sizeof *l->other);
    for (uint32_t i = 0; i < link->members; i++) {
        l->other[i] = rate_without(l, &l->flow[link->member[i].flow], link->member[i].entry);
        double weight = (double)l->entry[link->member[i].entry].weight;
        if (weight < 0 && l->other[i] < ENDLESS) loads -= weight * l->other[i];
        if (weight < 0) continue;
        weights += weight;
        if (l->other[i] < least) least = l->other[i];
    }
    l->visits += link->members;
    double capacity = fmax(link->capacity - loads, link->capacity / LOAD_MAX);
    double level = weights > 0 ? capacity / weights : ENDLESS;
    while (least < level) {
        double left = capacity, sharing = 0, next = ENDLESS;
        for (uint32_t i = 0; i < link->members; i++) {
            double weight = (double)l->entry[link->member[i].entry].weight;
            if (weight < 0) continue;
            if (l->other[i] <= level)
                left -= weight * l->other[i];
            else
                sharing += weight;
        }
        if (sharing > 0) next = left / sharing;
        if (sharing <= 0 || next <= level * (1 + 1e-12)) return next;
        level = next;
    }
    return level;
}

static void update_link(struct weft__levels *l, uint32_t number) {
    struct weft__level_link *link = &l->link[number];
    double level = has_room(l, link) ? ENDLESS : find_level(l, link), lower = level < link->level ? level : link->level;
    l->updates++;
    if (fabs(level - link->level) <= l->tolerance * lower) return;
    link->level = level;
    for (uint32_t i = 0; i < link->members; i++) {
        uint32_t flow = link->member[i].flow, own = link->member[i].entry;
        const struct weft__level_flow *f = &l->flow[flow];
        if (l->entry[own].weight < 0 || rate_without(l, f, own) <= lower)
            continue; // another link limits it, before and after
        note_change(l, flow);
        for (uint32_t e = f->first; e < f->first + f->entries; e++)
            if (e != own) enqueue_link(l, l->entry[e].link);
    }
}

void weft__levels_settle(struct weft__levels *l) {
    while (l->queued) {
        uint32_t link = l->queue[l->queue_first];
        l->queue_first = l->queue_first + 1 == l->links_room ? 0 : l->queue_first + 1;
        l->queued--;
        l->link[link].queued = false;
        update_link(l, link);
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < l->changes; i++) {
        uint32_t flow = l->changed[i];
        struct weft__level_flow *f = &l->flow[flow];
        double rate = f->active ? rate_without(l, f, UINT32_MAX) : 0;
        if (!f->active || fabs(rate - f->rate) <= l->tolerance * rate) continue;
        f->rate = rate;
        l->changed[kept++] = flow;
    }
    l->changes = kept;
    l->settled = true;
}
