// SPDX-License-Identifier: Apache-2.0
#include "estimate/level.h"

#include <assert.h>
#include <float.h>
#include <math.h>

#include "base/grow.h"

static const double ENDLESS = DBL_MAX; ///< level of a link that limits nobody

void weft__levels_init(struct weft__levels *l, double tolerance) {
    *l = (struct weft__levels){.tolerance = tolerance, .mark = 1, .filled = 1};
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
    weft_memory_free(kind, l->step, l->steps_room * sizeof *l->step);
}

void weft__levels_expect(struct weft__levels *l, uint32_t flows, uint32_t entries) {
    assert(!l->flows_room && !l->entries_room);
    l->flow = weft_memory_new(WEFT_MEMORY_QP, l->flows_room = flows, sizeof *l->flow);
    l->changed = weft_memory_new(WEFT_MEMORY_QP, flows, sizeof *l->changed);
    l->entry = weft_memory_new(WEFT_MEMORY_QP, l->entries_room = entries, sizeof *l->entry);
}

uint32_t weft__levels_add_link(struct weft__levels *l, double capacity) {
    assert(!l->queued && capacity > 0);
    uint32_t before = l->links_room;
    WEFT__ADD_DOUBLE(WEFT_MEMORY_QP, l->link, l->links, l->links_room, 64) =
        (struct weft__level_link){.capacity = capacity, .part = 1, .level = ENDLESS};
    if (l->links_room != before)
        l->queue =
            weft_memory_resize(WEFT_MEMORY_QP, l->queue, before * sizeof *l->queue, l->links_room * sizeof *l->queue);
    l->queue_first = 0;
    return l->links - 1;
}

/// The weight of an entry for each unit of a level.
static double weight_of(const struct weft__levels *l, uint32_t flow, uint32_t entry) {
    return (double)l->entry[entry].weight * (double)l->flow[flow].share;
}

/// `most` as a level.
static double bound_of(const struct weft__level_flow *f) {
    return f->most > 0 ? (double)f->most / (double)f->share : ENDLESS;
}

static void note_level_max(struct weft__levels *l, uint32_t flow) {
    const struct weft__level_flow *f = &l->flow[flow];
    double least = bound_of(f);
    for (uint32_t e = f->first; e < f->first + f->entries; e++)
        if (l->entry[e].weight > 0) least = fmin(least, l->link[l->entry[e].link].capacity / weight_of(l, flow, e));
    if (f->entries) l->level_max = fmax(l->level_max, least);
}

uint32_t weft__levels_add_flow(struct weft__levels *l, const struct weft__crossed *crossed, uint32_t n, double most) {
    uint32_t before = l->flows_room, first = l->entries;
    for (uint32_t i = 0; i < n; i++) {
        WEFT__ADD_DOUBLE(WEFT_MEMORY_QP, l->entry, l->entries, l->entries_room, 256) = crossed[i];
        l->link[crossed[i].link].loaded |= crossed[i].weight < 0;
    }
    WEFT__ADD_DOUBLE(WEFT_MEMORY_QP, l->flow, l->flows, l->flows_room, 64) =
        (struct weft__level_flow){.first = first, .entries = n, .most = (float)most, .share = 1};
    l->bounded |= most > 0;
    note_level_max(l, l->flows - 1);
    if (l->flows_room != before)
        l->changed = weft_memory_resize(WEFT_MEMORY_QP, l->changed, before * sizeof *l->changed,
                                        l->flows_room * sizeof *l->changed);
    return l->flows - 1;
}

/// All that cross it can have the most that any flow has: it limits nobody, and nobody has to look at them.
static bool has_room(const struct weft__levels *l, const struct weft__level_link *link) {
    return link->weights * l->level_max < link->capacity * (1 - 1e-6);
}

static void enqueue_link(struct weft__levels *l, uint32_t link) {
    if (l->link[link].queued || (l->link[link].level >= ENDLESS && has_room(l, &l->link[link]))) return;
    l->link[link].queued = true;
    l->waiting += l->link[link].members;
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
    f->known = false;
    f->filled = 0;
    f->rate = 0;
    l->members += f->entries;
    for (uint32_t e = f->first; e < f->first + f->entries; e++) {
        struct weft__level_link *link = &l->link[l->entry[e].link];
        link->member =
            weft__memory_double(WEFT_MEMORY_QP, link->member, link->members, &link->room, 2, sizeof *link->member);
        l->entry[e].at = link->members;
        link->member[link->members++] = (struct weft__level_member){flow, e};
        link->weights += fabs(weight_of(l, flow, e));
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
    l->members -= f->entries;
    for (uint32_t e = f->first; e < f->first + f->entries; e++) {
        struct weft__level_link *link = &l->link[l->entry[e].link];
        struct weft__level_member last = link->member[--link->members];
        link->member[l->entry[e].at] = last;
        link->weights = link->members ? link->weights - fabs(weight_of(l, flow, e)) : 0;
        l->entry[last.entry].at = l->entry[e].at;
    }
    enqueue_links(l, flow);
}

void weft__levels_weigh(struct weft__levels *l, uint32_t flow, uint32_t entry, float weight) {
    bool same = weight >= l->entry[entry].weight && weight <= l->entry[entry].weight;
    double before = weight_of(l, flow, entry);
    l->entry[entry].weight = weight;
    if (same || !l->flow[flow].active) return;
    l->link[l->entry[entry].link].weights += fabs(weight_of(l, flow, entry)) - fabs(before);
    unsettle_rates(l);
    enqueue_link(l, l->entry[entry].link);
}

void weft__levels_share(struct weft__levels *l, uint32_t flow, float share) {
    struct weft__level_flow *f = &l->flow[flow];
    double more = (double)share - (double)f->share;
    if (share >= f->share && share <= f->share) return;
    f->share = share;
    f->known = false;
    f->filled = 0;
    if (more < 0) note_level_max(l, flow);
    if (!f->active) return;
    unsettle_rates(l);
    for (uint32_t e = f->first; e < f->first + f->entries; e++)
        l->link[l->entry[e].link].weights += fabs((double)l->entry[e].weight) * more;
    note_change(l, flow);
    enqueue_links(l, flow);
}

static void look_at_links(const struct weft__levels *l, struct weft__level_flow *f) {
    f->least = bound_of(f);
    f->next = ENDLESS;
    f->at = WEFT_NONE;
    f->known = true;
    for (uint32_t e = f->first; e < f->first + f->entries; e++) {
        double level = l->link[l->entry[e].link].level;
        if (l->entry[e].weight < 0 || level >= f->next) continue;
        if (level < f->least) {
            f->next = f->least;
            f->least = level;
            f->at = e;
        } else {
            f->next = level;
        }
    }
}

/// What was found as all levels were computed in order is the least of its links.
static double level_of(const struct weft__levels *l, struct weft__level_flow *f) {
    if (!f->known && f->filled != l->filled) look_at_links(l, f);
    return f->least;
}

/// Members of a link are anywhere: those that are next come while one is looked at.
static void fetch_member(const struct weft__levels *l, const struct weft__level_link *link, uint32_t i) {
    enum { AHEAD = 8 };
    if (i + AHEAD >= link->members) return;
    __builtin_prefetch(&l->flow[link->member[i + AHEAD].flow]);
    __builtin_prefetch(&l->entry[link->member[i + AHEAD].entry]);
}

/// The level that a flow would have without the link of entry `own`.
static double level_without(const struct weft__levels *l, struct weft__level_flow *f, uint32_t own) {
    if (!f->known) look_at_links(l, f);
    return own == f->at ? f->next : f->least;
}

/// The level of the link of entry `own` is another one.
static void note_level(struct weft__level_flow *f, uint32_t own, double old, double level) {
    if (own == f->at) {
        f->known = level <= f->next;
        f->filled = 0;
        f->least = level;
    } else if (level < f->least) {
        f->next = f->least;
        f->least = level;
        f->at = own;
    } else if (level < f->next) {
        f->next = level;
    } else if (old <= f->next) {
        f->known = false; // it may have been the one
        f->filled = 0;
    }
}

/// Finds the part of a link that its flows use, by how many times its capacity they could send without it (l->other).
/// That changes with other links' parts, and these with it, so it is found a few times for each change of flows.
static void find_part(struct weft__levels *l, struct weft__level_link *link) {
    enum { TRIES = 4 };
    if (link->part_mark != l->mark) link->part_tries = 0;
    link->part_mark = l->mark;
    if (!link->used_of || link->part_tries++ >= TRIES) return;
    double could = 0;
    for (uint32_t i = 0; i < link->members; i++)
        could += fmax(weight_of(l, link->member[i].flow, link->member[i].entry), 0) * fmin(l->other[i], link->capacity);
    double at = fmin(fmax(log2(could / link->capacity), 0), WEFT__LEVEL_USED - 1);
    uint32_t k = at < WEFT__LEVEL_USED - 2 ? (uint32_t)at : WEFT__LEVEL_USED - 2;
    link->part = (double)link->used_of[k] + (at - k) * (double)(link->used_of[k + 1] - link->used_of[k]);
}

/// The level at which the link is full: flows that others limit more have their own, the rest shares what they leave.
static double find_level(struct weft__levels *l, struct weft__level_link *link) {
    enum { LOAD_MAX = 2 }; // loads leave a part of a link at least
    double weights = 0, least = ENDLESS, loads = 0;
    while (link->members > l->other_room)
        l->other = weft__memory_double(WEFT_MEMORY_QP, l->other, l->other_room, &l->other_room, 256, sizeof *l->other);
    for (uint32_t i = 0; i < link->members; i++) {
        fetch_member(l, link, i);
        l->other[i] = level_without(l, &l->flow[link->member[i].flow], link->member[i].entry);
        double weight = weight_of(l, link->member[i].flow, link->member[i].entry);
        if (weight < 0 && l->other[i] < ENDLESS) loads -= weight * l->other[i];
        if (weight < 0) continue;
        weights += weight;
        if (l->other[i] < least) least = l->other[i];
    }
    l->visits += link->members;
    find_part(l, link);
    double capacity = fmax(link->capacity * link->part - loads, link->capacity / LOAD_MAX);
    double level = weights > 0 ? capacity / weights : ENDLESS;
    while (least < level) {
        double left = capacity, sharing = 0, next = ENDLESS;
        for (uint32_t i = 0; i < link->members; i++) {
            double weight = weight_of(l, link->member[i].flow, link->member[i].entry);
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
    double level = has_room(l, link) ? ENDLESS : find_level(l, link), old = link->level, lower = fmin(level, old);
    l->updates++;
    if (fabs(level - old) <= l->tolerance * lower) return;
    link->level = level;
    for (uint32_t i = 0; i < link->members; i++) {
        uint32_t flow = link->member[i].flow, own = link->member[i].entry;
        struct weft__level_flow *f = &l->flow[flow];
        if (l->entry[own].weight < 0) continue;
        double other = level_without(l, f, own);
        note_level(f, own, old, level);
        if (other <= lower) continue; // another link limits it, before and after
        note_change(l, flow);
        for (uint32_t e = f->first; e < f->first + f->entries; e++)
            if (e != own) enqueue_link(l, l->entry[e].link);
    }
}

// --- all at once --------------------------------------------------------------------------------------------------

static void add_step(struct weft__levels *l, double level, uint32_t of) {
    l->step = weft__memory_double(WEFT_MEMORY_QP, l->step, l->steps, &l->steps_room, 64, sizeof *l->step);
    uint32_t i = l->steps++;
    for (; i && level < l->step[(i - 1) / 2].level; i = (i - 1) / 2)
        l->step[i] = l->step[(i - 1) / 2];
    l->step[i] = (struct weft__level_step){level, of};
}

static struct weft__level_step take_step(struct weft__levels *l) {
    struct weft__level_step first = l->step[0], last = l->step[--l->steps];
    uint32_t i = 0;
    for (uint32_t child; (child = 2 * i + 1) < l->steps; i = child) {
        if (child + 1 < l->steps && l->step[child + 1].level < l->step[child].level) child++;
        if (l->step[child].level >= last.level) break;
        l->step[i] = l->step[child];
    }
    l->step[i] = last;
    return first;
}

/// A flow has its level: its links have less left for the others.
static void fill_flow(struct weft__levels *l, uint32_t flow, double level) {
    struct weft__level_flow *f = &l->flow[flow];
    if (f->filled == l->filled) return;
    f->filled = l->filled;
    f->known = false;
    f->least = level;
    note_change(l, flow);
    for (uint32_t e = f->first; e < f->first + f->entries; e++) {
        double weight = fabs(weight_of(l, flow, e));
        l->link[l->entry[e].link].left -= weight * level;
        l->link[l->entry[e].link].sharing -= weight;
    }
}

/// The first step of every link that may limit a flow, and of every flow with a bound.
static void start_filling(struct weft__levels *l) {
    l->filled += 2; // less 1: a flow that has its first step
    l->steps = 0;
    for (uint32_t k = 0; k < l->links; k++) {
        struct weft__level_link *link = &l->link[k];
        link->level = ENDLESS;
        link->left = link->capacity * link->part;
        link->sharing = link->weights;
        if (!link->members || has_room(l, link)) continue;
        add_step(l, link->left / link->sharing, k);
        for (uint32_t i = 0; i < link->members && l->bounded; i++) {
            struct weft__level_flow *f = &l->flow[link->member[i].flow];
            if (f->most > 0 && f->filled != l->filled - 1) add_step(l, bound_of(f), l->links + link->member[i].flow);
            if (f->most > 0) f->filled = l->filled - 1;
        }
    }
}

/// The least level first. What is left of a link for each of the others only grows, so a step that has become later
/// goes back among the others.
static void fill_links(struct weft__levels *l) {
    start_filling(l);
    while (l->steps) {
        struct weft__level_step step = take_step(l);
        if (step.of >= l->links) {
            fill_flow(l, step.of - l->links, step.level);
            continue;
        }
        struct weft__level_link *link = &l->link[step.of];
        if (link->sharing <= link->weights * 1e-9) continue; // other links limit all
        double level = fmax(link->left, 0) / link->sharing;
        if (level > step.level * (1 + 1e-12)) {
            add_step(l, level, step.of);
            continue;
        }
        link->level = level;
        l->updates++;
        for (uint32_t i = 0; i < link->members; i++) {
            struct weft__level_member m = link->member[i];
            fetch_member(l, link, i);
            if (l->flow[m.flow].filled != l->filled && l->entry[m.entry].weight > 0) fill_flow(l, m.flow, level);
        }
    }
}

static void clear_queue(struct weft__levels *l) {
    for (; l->queued; l->queued--) {
        l->link[l->queue[l->queue_first]].queued = false;
        l->queue_first = l->queue_first + 1 == l->links_room ? 0 : l->queue_first + 1;
    }
}

/// The part that is used of a link is that of the last change. Until a load had its rate it counted like a flow of the
/// level, and that rate may be another one: such a link is now too full, or not as full as a link that limits flows.
static bool is_off(const struct weft__levels *l, const struct weft__level_link *link) {
    double off = l->tolerance * link->capacity;
    if (link->used_of && link->level < ENDLESS) return true;
    return link->loaded && link->members && (link->left < -off || (link->level < ENDLESS && link->left > off));
}

static void fill_all(struct weft__levels *l) {
    clear_queue(l);
    fill_links(l);
    for (uint32_t k = 0; k < l->links; k++)
        if (is_off(l, &l->link[k])) enqueue_link(l, k);
}

void weft__levels_settle(struct weft__levels *l) {
    enum { DEAR = 4 }; // visiting a flow link by link costs this many times what a visit in order costs
    for (bool filled = false; l->queued;) {
        if (!filled && l->waiting > (l->members + l->links) / DEAR) {
            filled = true;
            fill_all(l);
            continue;
        }
        uint32_t link = l->queue[l->queue_first];
        l->queue_first = l->queue_first + 1 == l->links_room ? 0 : l->queue_first + 1;
        l->queued--;
        l->link[link].queued = false;
        update_link(l, link);
    }
    l->waiting = 0;
    bool many = l->changes > l->flows / DEAR; // all in their order, as they are in memory
    uint32_t kept = 0, n = many ? l->flows : l->changes;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t flow = many ? i : l->changed[i];
        struct weft__level_flow *f = &l->flow[flow];
        if (!f->active || f->mark != l->mark) continue;
        double rate = level_of(l, f) * (double)f->share;
        if (fabs(rate - f->rate) <= l->tolerance * rate) continue;
        f->rate = rate;
        l->changed[kept++] = flow;
    }
    l->changes = kept;
    l->settled = true;
}
