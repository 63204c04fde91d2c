// SPDX-License-Identifier: Apache-2.0
// The clocks of a Clique, run over its links.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/order.h"
#include "control/agenda.h"
#include "weft/memory.h"
#include "weft/random.h"
#include "weft/timesync.h"

enum { DUE_INTERVAL, DUE_MESSAGE, DUE_LOOK, DUE_EVENT, DUE_SOFTWARE };

/// The errors at a depth.
struct gathered {
    uint64_t *any, *fresh; ///< sizes in ps
    uint32_t n, capacity, fresh_n, fresh_capacity;
    double sum, squares;
};
struct run {
    const struct weft_clique *c;
    const struct weft_timesync_conf *conf;
    uint32_t primary;
    struct weft_timesync_clock *clock; ///< [tins]
    uint32_t *parent, *depth, *sends;  ///< [tins]: link to its parent, WEFT_NONE: none; number of links it sends on
    uint64_t *turn;                    ///< [tins] of the interval
    weft_time_ps *last_ps;             ///< [tins]: when the last message to it was sent: messages stay in order
    bool *up;                          ///< [links]
    bool *waits;                       ///< [tins]: failed because of the last event, and not yet restored
    struct weft_random random;
    struct weft__agenda agenda;
    struct gathered *gathered; ///< [tins], by depth; NULL: only events are needed
    uint64_t messages, ignored;
    weft_time_ps delay_error_ps, event_ps;
    const struct weft_timesync_event *event;
    struct weft_timesync_outcome *outcome, *now_outcome;
};

static void note_due(struct run *r, struct weft__due due) {
    weft__agenda_note(&r->agenda, due);
}

static double draw_phase(void *context) {
    return weft_random_unit(context);
}

static void listen_to(struct run *r, uint32_t tin, uint32_t link) {
    uint32_t from = weft_clique_peer(r->c, tin, link);
    struct weft_timesync_clock *clock = &r->clock[tin];
    int64_t delay = (int64_t)r->c->link[link].delay_ps;
    if (r->parent[tin] != WEFT_NONE) r->sends[weft_clique_peer(r->c, tin, r->parent[tin])]--;
    r->parent[tin] = link;
    r->depth[tin] = r->depth[from] + 1;
    r->sends[from]++;
    clock->delay_ps = weft_timesync_measure(r->conf, r->c->link[link].delay_ps, draw_phase, &r->random);
    clock->acquiring = true;
    weft_time_ps off = (weft_time_ps)llabs(clock->delay_ps - delay);
    if (off > r->delay_error_ps) r->delay_error_ps = off;
}

/// Breadth first from the primary, over at most `outputs` links of a TiN, and then over more for TiNs that are left.
static void grow_tree(struct run *r, uint32_t *queue) {
    uint32_t n = 0;
    queue[n++] = r->primary;
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t k = 0; k < r->c->tin[queue[i]].links; k++) {
                uint32_t link = weft_clique_link_at(r->c, queue[i], k), to = weft_clique_peer(r->c, queue[i], link);
                if (to == r->primary || r->parent[to] != WEFT_NONE || !r->up[link]) continue;
                if (!pass && r->sends[queue[i]] >= r->conf->outputs) continue;
                listen_to(r, to, link);
                queue[n++] = to;
            }
}

static void send_time(struct run *r, weft_time_ps now, uint32_t tin) {
    for (uint32_t k = 0; k < r->c->tin[tin].links; k++) {
        uint32_t link = weft_clique_link_at(r->c, tin, k), to = weft_clique_peer(r->c, tin, link);
        if (r->parent[to] != link) continue;
        bool busy = weft_random_unit(&r->random) < r->conf->load;
        weft_time_ps held = r->conf->chip_ps + (busy ? weft_random_below(&r->random, r->conf->wait_max_ps + 1) : 0);
        if (r->last_ps[to] >= now + held) held = r->last_ps[to] + 1 - now;
        r->last_ps[to] = now + held;
        struct weft_timesync_message m = weft_timesync_send(&r->clock[tin], r->conf, now, held, tin == r->primary);
        if (weft_random_unit(&r->random) < r->conf->damaged)
            m.time_ps += (int64_t)(r->conf->threshold_ps * (2 + weft_random_below(&r->random, 1000)));
        r->messages++;
        if (r->up[link])
            note_due(r, (struct weft__due){.time_ps = now + held + r->c->link[link].delay_ps,
                                           .kind = DUE_MESSAGE,
                                           .who = to,
                                           .what = link,
                                           .round = m.valid,
                                           .data = (uint64_t)m.time_ps});
    }
    note_due(r, (struct weft__due){
                    .time_ps = now + r->conf->interval_ps, .kind = DUE_INTERVAL, .who = tin, .data = ++r->turn[tin]});
}

static int64_t error_of(const struct run *r, weft_time_ps now, uint32_t tin) {
    return weft_timesync_read(&r->clock[tin], now) - weft_timesync_read(&r->clock[r->primary], now);
}

static void push_value(uint64_t **list, uint32_t *n, uint32_t *capacity, uint64_t value) {
    *list = weft__memory_double(WEFT_MEMORY_RESULT, *list, *n, capacity, 1024, sizeof **list);
    (*list)[(*n)++] = value;
}

/// It has failed, or its link has: software will handle it.
static void call_software(struct run *r, weft_time_ps now, uint32_t tin) {
    if (r->now_outcome && !r->waits[tin]) {
        r->waits[tin] = true;
        r->now_outcome->signalled++;
    }
    note_due(r, (struct weft__due){.time_ps = now + r->conf->software_ps, .kind = DUE_SOFTWARE, .who = tin});
}

static void on_message(struct run *r, const struct weft__due *due) {
    uint32_t tin = due->who;
    weft_time_ps now = due->time_ps;
    if (r->parent[tin] != due->what) return; // it listens to another one by now
    struct weft_timesync_message m = {(int64_t)due->data, due->round};
    enum weft_timesync_answer answer = weft_timesync_on_message(&r->clock[tin], r->conf, now, m);
    if (answer == WEFT_TIMESYNC_FAILURE) call_software(r, now, tin);
    if (answer != WEFT_TIMESYNC_TAKEN) {
        r->ignored++;
        return;
    }
    if (r->waits[tin]) {
        r->waits[tin] = false;
        r->now_outcome->restored_ps = now - r->event_ps;
    }
    struct gathered *g = r->gathered ? &r->gathered[r->depth[tin]] : NULL;
    if (g && now >= 2 * r->conf->interval_ps)
        push_value(&g->fresh, &g->fresh_n, &g->fresh_capacity, (uint64_t)llabs(error_of(r, now, tin)));
    send_time(r, now, tin);
}

static void look_at_clocks(struct run *r, weft_time_ps now) {
    for (uint32_t tin = 0; tin < r->c->tins; tin++) {
        if (tin == r->primary) continue;
        int64_t error = error_of(r, now, tin);
        uint64_t size = (uint64_t)llabs(error);
        if (r->now_outcome && size > r->now_outcome->error_ps) r->now_outcome->error_ps = size;
        if (!r->gathered) continue;
        struct gathered *g = &r->gathered[r->depth[tin]];
        push_value(&g->any, &g->n, &g->capacity, size);
        g->sum += (double)error;
        g->squares += (double)error * (double)error;
    }
    note_due(r, (struct weft__due){.time_ps = now + r->conf->gather_ps, .kind = DUE_LOOK});
}

/// How far below `above` a TiN is in the tree; WEFT_NONE: not at all.
static uint32_t steps_below(const struct run *r, uint32_t tin, uint32_t above) {
    for (uint32_t steps = 0; steps < r->c->tins; steps++) {
        if (tin == above) return steps;
        if (tin == r->primary) return WEFT_NONE;
        tin = weft_clique_peer(r->c, tin, r->parent[tin]);
    }
    return WEFT_NONE;
}

/// After a move.
static void number_depths(struct run *r) {
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < r->c->tins; i++) {
            if (r->parent[i] == WEFT_NONE) continue;
            uint32_t depth = r->depth[weft_clique_peer(r->c, i, r->parent[i])] + 1;
            changed |= depth != r->depth[i];
            r->depth[i] = depth;
        }
    }
}

/// The neighbour of `tin` nearest to the primary that does not get its time through `orphan`; its cost, or UINT32_MAX.
static uint32_t find_neighbour(const struct run *r, uint32_t tin, uint32_t orphan, uint32_t *ret_link) {
    uint32_t least = UINT32_MAX;
    for (uint32_t k = 0; k < r->c->tin[tin].links; k++) {
        uint32_t link = weft_clique_link_at(r->c, tin, k), from = weft_clique_peer(r->c, tin, link);
        if (!r->up[link] || (from != r->primary && !r->up[r->parent[from]])) continue;
        if (steps_below(r, from, orphan) != WEFT_NONE) continue;
        uint32_t cost = 2 * r->depth[from] + (r->sends[from] >= r->conf->outputs);
        if (cost >= least) continue;
        least = cost;
        *ret_link = link;
    }
    return least;
}

/// The TiNs that listen to the primary through `orphan`, whose link is down, are attached where the branch is adjacent
/// to the rest: at the orphan, or at the TiN least far below it; on the path from there up to the orphan, all then
/// listen in the other direction.
static void move_branch(struct run *r, uint32_t orphan) {
    uint32_t at = WEFT_NONE, link = WEFT_NONE, least = UINT32_MAX;
    for (uint32_t i = 0; i < r->c->tins; i++) {
        uint32_t here = WEFT_NONE, below = steps_below(r, i, orphan);
        if (below == WEFT_NONE) continue;
        uint32_t cost = find_neighbour(r, i, orphan, &here);
        if (cost == UINT32_MAX || cost + 2 * r->c->tins * below >= least) continue;
        least = cost + 2 * r->c->tins * below;
        at = i;
        link = here;
    }
    while (at != WEFT_NONE) {
        uint32_t old = r->parent[at], above = weft_clique_peer(r->c, at, old);
        listen_to(r, at, link);
        if (r->now_outcome) r->now_outcome->moved++;
        link = old;
        at = at == orphan ? WEFT_NONE : above;
    }
    number_depths(r);
}

static void on_software(struct run *r, uint32_t tin) {
    if (!r->up[r->parent[tin]]) {
        move_branch(r, tin);
        return;
    }
    // its neighbour may be right: accepts that time, if the neighbour still sends it
    if (r->clock[tin].invalid) r->clock[tin].acquiring = true;
    r->clock[tin].failed = false;
    r->clock[tin].invalid = 0;
}

static void on_event(struct run *r, weft_time_ps now, uint32_t i) {
    const struct weft_timesync_event *e = &r->event[i];
    r->now_outcome = &r->outcome[i];
    r->event_ps = now;
    memset(r->waits, 0, r->c->tins * sizeof *r->waits);
    if (e->what == WEFT_TIMESYNC_JUMP) {
        r->clock[e->which].shown_ps += e->jump_ps;
        return;
    }
    r->up[e->which] = e->what == WEFT_TIMESYNC_LINK_UP;
    for (uint32_t end = 0; end < 2; end++) {
        uint32_t tin = r->c->link[e->which].tin[end];
        if (r->parent[tin] == e->which && !r->up[e->which]) call_software(r, now, tin);
    }
}

static void act_on(struct run *r, const struct weft__due *due) {
    switch (due->kind) {
    case DUE_INTERVAL:
        if (due->data == r->turn[due->who]) send_time(r, due->time_ps, due->who);
        break;
    case DUE_MESSAGE:
        on_message(r, due);
        break;
    case DUE_LOOK:
        look_at_clocks(r, due->time_ps);
        break;
    case DUE_EVENT:
        on_event(r, due->time_ps, due->who);
        break;
    case DUE_SOFTWARE:
        on_software(r, due->who);
        break;
    }
}

static void run_seed(struct run *r, uint64_t seed, weft_time_ps until, struct weft_arena *arena) {
    uint32_t tins = r->c->tins;
    struct weft_random random = weft_random_stream(seed, 0, WEFT_RANDOM_PHASE);
    r->random = random;
    r->primary = 0;
    r->clock = weft_arena_alloc(arena, tins, sizeof *r->clock);
    r->parent = weft_arena_alloc(arena, tins, sizeof *r->parent);
    r->depth = weft_arena_alloc(arena, tins, sizeof *r->depth);
    r->sends = weft_arena_alloc(arena, tins, sizeof *r->sends);
    r->turn = weft_arena_alloc(arena, tins, sizeof *r->turn);
    r->waits = weft_arena_alloc(arena, tins, sizeof *r->waits);
    r->last_ps = weft_arena_alloc(arena, tins, sizeof *r->last_ps);
    r->up = weft_arena_alloc(arena, r->c->links, sizeof *r->up);
    memset(r->up, true, r->c->links * sizeof *r->up);
    for (uint32_t i = 0; i < tins; i++) {
        int64_t ppb = (int64_t)weft_random_below(&r->random, 2 * r->conf->drift_ppb + 1) - (int64_t)r->conf->drift_ppb;
        r->clock[i] = (struct weft_timesync_clock){.drift_ppb = (int32_t)ppb, .synced_ps = WEFT_TIME_NEVER};
        r->clock[i].shown_ps = (int64_t)weft_random_below(&r->random, WEFT_PS_PER_S);
        r->parent[i] = WEFT_NONE;
    }
    grow_tree(r, weft_arena_alloc(arena, tins, sizeof *r->depth));
    send_time(r, 0, r->primary);
    note_due(r, (struct weft__due){.time_ps = 3 * r->conf->interval_ps, .kind = DUE_LOOK});
    struct weft__due due;
    while (weft__agenda_take(&r->agenda, until, &due))
        act_on(r, &due);
    weft__agenda_deinit(&r->agenda);
}

static weft_time_ps value_at(const uint64_t *sorted, uint32_t n, double share) {
    return n ? sorted[(uint32_t)((double)(n - 1) * share)] : 0;
}

/// An upper bound of the errors at a depth: half a step and the channel's error per hop, plus drift against the primary
/// for the maximum age of a message.
static weft_time_ps bound_of(const struct run *r, uint32_t depth, weft_time_ps delay_max) {
    weft_time_ps age = r->conf->interval_ps + depth * (r->conf->chip_ps + r->conf->wait_max_ps + delay_max);
    return depth * (r->conf->step_ps / 2 + r->delay_error_ps) + age / 1000 * (2 * r->conf->drift_ppb) / 1000000 + depth;
}

static void sum_up(struct run *r, struct weft_timesync_result *result) {
    weft_time_ps delay_max = 0;
    for (uint32_t l = 0; l < r->c->links; l++)
        if (r->c->link[l].delay_ps > delay_max) delay_max = r->c->link[l].delay_ps;
    for (uint32_t i = 0; i < r->c->tins; i++) {
        if (r->depth[i] >= result->depths) result->depths = r->depth[i] + 1;
        result->depth[r->depth[i]].tins++;
    }
    for (uint32_t d = 0; d < result->depths; d++) {
        struct gathered *g = &r->gathered[d];
        struct weft_timesync_depth *ret = &result->depth[d];
        ret->bound_ps = bound_of(r, d, delay_max);
        if (!g->n) continue;
        qsort(g->any, g->n, sizeof *g->any, weft__by_u64);
        qsort(g->fresh, g->fresh_n, sizeof *g->fresh, weft__by_u64);
        ret->samples = g->n;
        ret->mean_ps = g->sum / g->n;
        ret->deviation_ps = sqrt(fmax(0, g->squares / g->n - ret->mean_ps * ret->mean_ps));
        ret->p50_ps = value_at(g->any, g->n, 0.5);
        ret->p99_ps = value_at(g->any, g->n, 0.99);
        ret->max_ps = value_at(g->any, g->n, 1);
        ret->fresh_p50_ps = value_at(g->fresh, g->fresh_n, 0.5);
        ret->fresh_max_ps = value_at(g->fresh, g->fresh_n, 1);
        weft_memory_free(WEFT_MEMORY_RESULT, g->any, g->capacity * sizeof *g->any);
        weft_memory_free(WEFT_MEMORY_RESULT, g->fresh, g->fresh_capacity * sizeof *g->fresh);
    }
}

struct weft_timesync_result *weft_timesync_run(const struct weft_clique *c, const struct weft_timesync_conf *conf,
                                               const struct weft_timesync_event *event, uint32_t events, uint64_t seed,
                                               struct weft_arena *arena) {
    struct weft_timesync_result *result = weft_arena_alloc(arena, 1, sizeof *result);
    struct run r = {.c = c, .conf = conf};
    result->depth = weft_arena_alloc(arena, c->tins, sizeof *result->depth);
    result->outcome = weft_arena_alloc(arena, events, sizeof *result->outcome);
    r.gathered = weft_arena_alloc(arena, c->tins, sizeof *r.gathered);
    for (uint64_t i = 0; i < conf->seeds; i++) {
        weft_time_ps worst = r.delay_error_ps;
        r = (struct run){.c = c,
                         .conf = conf,
                         .gathered = r.gathered,
                         .delay_error_ps = worst,
                         .messages = r.messages,
                         .ignored = r.ignored};
        run_seed(&r, seed + i, conf->for_ps, arena);
    }
    sum_up(&r, result);
    result->primary = r.primary;
    result->messages = r.messages;
    result->ignored = r.ignored;
    result->delay_error_ps = r.delay_error_ps;
    if (!events) return result;
    r = (struct run){.c = c, .conf = conf, .event = event, .outcome = result->outcome};
    for (uint32_t i = 0; i < events; i++)
        note_due(&r, (struct weft__due){.time_ps = event[i].time_ps, .kind = DUE_EVENT, .who = i});
    run_seed(&r, seed, event[events - 1].time_ps + 3 * conf->software_ps + conf->for_ps, arena);
    return result;
}
