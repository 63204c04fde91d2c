// SPDX-License-Identifier: Apache-2.0
// Runs the EDSWs and RDSWs of a building. Keepalives are not events: the last one of a session is computed when its
// EDSW dies.
#include <assert.h>
#include <string.h>

#include "base/grow.h"
#include "control/agenda.h"
#include "weft/bgp.h"
#include "weft/memory.h"

enum { DUE_EVENT, DUE_TELL, DUE_UPDATE, DUE_CLOSED, DUE_LINK, DUE_WAY };

struct edsw {
    bool alive;
    uint32_t life;
    uint64_t wire, wire_known;        ///< real links, as it knows them
    weft_time_ps busy_until_ps, beat; ///< until when it makes UPDATEs; phase of its keepalives
};

struct run {
    const struct weft_bgp_conf *conf;
    struct weft_bgp_setup s;
    const struct weft_bgp_event *event;
    struct edsw *edsw;
    uint64_t *heard, *heard_known;  ///< [edsws * classes]: links on which superspines announce them, likewise
    struct weft_bgp_rib *rib;       ///< [rdsws * classes]
    struct weft_bgp_sender *sender; ///< [(edsw * rdsws + rdsw) * classes + class]
    struct weft__agenda agenda;
    struct weft_bgp_outcome *outcome, first;
    uint32_t now_event; ///< the cause of everything that happens; UINT32_MAX: the start
    weft_time_ps from;  ///< times of events are relative to this
    bool keep;          ///< changes
    struct weft_bgp_change *change;
    uint32_t changes, changes_capacity;
};

static struct weft_bgp_outcome *now_outcome(struct run *r) {
    return r->now_event == UINT32_MAX ? &r->first : &r->outcome[r->now_event];
}

static weft_time_ps event_time(const struct run *r) {
    return r->now_event == UINT32_MAX ? 0 : r->from + r->event[r->now_event].time_ps;
}

static void note_due(struct run *r, weft_time_ps time, uint32_t kind, uint32_t who, uint32_t what, uint64_t data) {
    weft__agenda_note(
        &r->agenda, (struct weft__due){
                        .time_ps = time, .kind = kind, .who = who, .what = what, .round = r->now_event, .data = data});
}

static uint64_t aggregates_of(const struct run *r, uint32_t class) {
    return r->s.buildings[class] * r->conf->aggregates;
}

static struct weft_bgp_sender *sender_of(struct run *r, uint32_t edsw, uint32_t rdsw) {
    return &r->sender[((size_t)edsw * r->s.rdsws + rdsw) * r->s.classes];
}

static bool is_own(const struct run *r, uint32_t edsw, uint32_t rdsw) {
    return r->s.own_edsw && r->s.own_edsw[rdsw] == edsw;
}

/// What the data plane learns.
static void log_change(struct run *r, weft_time_ps now, uint32_t rdsw, uint32_t edsw, uint32_t class, uint64_t links) {
    if (!r->keep) return;
    WEFT__ADD_DOUBLE(WEFT_MEMORY_RESULT, r->change, r->changes, r->changes_capacity, 64) =
        (struct weft_bgp_change){now - r->from, rdsw, edsw, class, links};
}

static uint64_t ways_known(const struct run *r, uint32_t edsw, uint32_t class) {
    return r->edsw[edsw].wire_known & r->heard_known[edsw * r->s.classes + class];
}

/// One UPDATE for each announced path, one for all withdrawn paths; made one after another.
static void tell_rdsw(struct run *r, weft_time_ps now, uint32_t edsw, uint32_t rdsw) {
    uint64_t announced = 0, withdrawn = 0;
    struct edsw *e = &r->edsw[edsw];
    if (!e->alive) return;
    for (uint32_t c = 0; c < r->s.classes; c++) {
        uint64_t more, less;
        weft_time_ps due;
        struct weft_bgp_sender *sender = sender_of(r, edsw, rdsw) + c;
        bool something = weft_bgp_tell(sender, r->conf, now, ways_known(r, edsw, c), &more, &less, &due);
        if (due != WEFT_TIME_NEVER) note_due(r, due, DUE_TELL, edsw, rdsw, 0);
        if (something) announced |= more, withdrawn |= less;
    }
    if (!announced && !withdrawn) return;
    if (is_own(r, edsw, rdsw)) {
        note_due(r, now, DUE_UPDATE, edsw, rdsw, e->life);
        return;
    }
    uint64_t updates = (uint64_t)__builtin_popcountll(announced) + (withdrawn != 0);
    weft_time_ps from = e->busy_until_ps > now ? e->busy_until_ps : now;
    e->busy_until_ps = from + updates * r->conf->processing_ps;
    now_outcome(r)->updates += updates;
    // also processed one by one; only the last matters
    note_due(r, e->busy_until_ps + r->conf->latency_ps + r->conf->processing_ps, DUE_UPDATE, edsw, rdsw, e->life);
}

static void tell_all(struct run *r, weft_time_ps now, uint32_t edsw) {
    for (uint32_t c = 0; c < r->s.classes; c++)
        log_change(r, now, WEFT_NONE, edsw, c, ways_known(r, edsw, c));
    for (uint32_t i = 0; i < r->s.rdsws; i++)
        tell_rdsw(r, now, edsw, i);
}

/// Paths of a class have appeared or disappeared at an RDSW; accounts for the share of its traffic that was lost until
/// now.
static void account_loss(struct run *r, weft_time_ps now, uint32_t class, uint32_t changed, double dead_share) {
    if (!changed) return;
    struct weft_bgp_outcome *o = now_outcome(r);
    weft_time_ps since = now - event_time(r);
    o->changes += changed * aggregates_of(r, class);
    o->last_ps = since;
    o->lost_ps += dead_share * (double)since / r->s.rdsws / r->s.classes;
}

static double share_of(const struct weft_bgp_rib *rib, uint64_t paths) {
    return (double)__builtin_popcountll(paths) / (rib->count ? rib->count : 1);
}

/// An RDSW receives the last announcement of the EDSW.
static void on_update(struct run *r, const struct weft__due *due) {
    uint32_t edsw = due->who, rdsw = due->what;
    if (due->data != r->edsw[edsw].life || !r->edsw[edsw].alive) return;
    for (uint32_t c = 0; c < r->s.classes; c++) {
        struct weft_bgp_rib *rib = &r->rib[rdsw * r->s.classes + c];
        uint64_t told = sender_of(r, edsw, rdsw)[c].told, had = rib->paths[edsw];
        if (told == had) continue;
        double gone = share_of(rib, had & ~told);
        account_loss(r, due->time_ps, c, weft_bgp_on_update(rib, edsw, told & ~had, had & ~told), gone);
        log_change(r, due->time_ps, rdsw, edsw, c, told);
    }
}

static void on_closed(struct run *r, const struct weft__due *due) {
    uint32_t edsw = due->who, rdsw = due->what;
    if (due->data != r->edsw[edsw].life) return;
    for (uint32_t c = 0; c < r->s.classes; c++) {
        struct weft_bgp_rib *rib = &r->rib[rdsw * r->s.classes + c];
        double share = share_of(rib, rib->paths[edsw]);
        uint32_t changed = weft_bgp_on_closed(rib, edsw);
        account_loss(r, due->time_ps, c, changed, share);
        if (changed) log_change(r, due->time_ps, rdsw, edsw, c, 0);
    }
}

static void leave_edsw(struct run *r, weft_time_ps now, const struct weft_bgp_event *event) {
    const struct weft_bgp_conf *conf = r->conf;
    struct edsw *e = &r->edsw[event->edsw];
    weft_time_ps into = (now + conf->keepalive_ps - e->beat % conf->keepalive_ps) % conf->keepalive_ps;
    weft_time_ps noticed = now - into + conf->latency_ps + conf->hold_ps;
    weft_time_ps tracked = now + event->noticed_ps + conf->tracking_delay_ps;
    if (conf->tracking && tracked < noticed) noticed = tracked;
    if (event->what == WEFT_BGP_SHUT) noticed = now + conf->latency_ps;
    e->alive = false;
    for (uint32_t i = 0; i < r->s.rdsws; i++)
        if (!is_own(r, event->edsw, i)) note_due(r, noticed + conf->processing_ps, DUE_CLOSED, event->edsw, i, e->life);
}

static void return_edsw(struct run *r, weft_time_ps now, uint32_t edsw) {
    struct edsw *e = &r->edsw[edsw];
    e->alive = true;
    e->life++;
    e->wire_known = e->wire;
    memcpy(&r->heard_known[edsw * r->s.classes], &r->heard[edsw * r->s.classes], r->s.classes * sizeof *r->heard);
    memset(sender_of(r, edsw, 0), 0, (size_t)r->s.rdsws * r->s.classes * sizeof *r->sender);
    tell_all(r, now, edsw);
}

static void on_event(struct run *r, weft_time_ps now, uint32_t i) {
    const struct weft_bgp_event *e = &r->event[i];
    struct edsw *edsw = &r->edsw[e->edsw];
    uint64_t *heard = &r->heard[e->edsw * r->s.classes + e->class_index];
    const struct weft_bgp_conf *conf = r->conf;
    r->now_event = i;
    switch (e->what) {
    case WEFT_BGP_LOST:
    case WEFT_BGP_SHUT:
        if (edsw->alive) leave_edsw(r, now, e);
        break;
    case WEFT_BGP_BACK:
        if (!edsw->alive) return_edsw(r, now, e->edsw);
        break;
    case WEFT_BGP_LINK_DOWN:
    case WEFT_BGP_LINK_UP:
        edsw->wire = e->what == WEFT_BGP_LINK_UP ? edsw->wire | e->links : edsw->wire & ~e->links;
        note_due(r, now + conf->detect_ps, DUE_LINK, e->edsw, 0, 0);
        break;
    case WEFT_BGP_WAY_DOWN:
    case WEFT_BGP_WAY_UP: // the superspine notices, makes an UPDATE, and the EDSW processes it
        *heard = e->what == WEFT_BGP_WAY_UP ? *heard | e->links : *heard & ~e->links;
        note_due(r, now + conf->detect_ps + 2 * conf->processing_ps + conf->latency_ps, DUE_WAY, e->edsw,
                 e->class_index, *heard);
        break;
    }
}

static void act_on(struct run *r, const struct weft__due *due) {
    struct edsw *e = &r->edsw[due->kind == DUE_EVENT ? 0 : due->who];
    r->now_event = due->round;
    switch (due->kind) {
    case DUE_EVENT:
        on_event(r, due->time_ps, due->who);
        break;
    case DUE_TELL:
        tell_rdsw(r, due->time_ps, due->who, due->what);
        break;
    case DUE_UPDATE:
        on_update(r, due);
        break;
    case DUE_CLOSED:
        on_closed(r, due);
        break;
    case DUE_LINK:
        e->wire_known = e->wire;
        if (e->alive) tell_all(r, due->time_ps, due->who);
        break;
    case DUE_WAY:
        r->heard_known[due->who * r->s.classes + due->what] = due->data;
        if (e->alive) tell_all(r, due->time_ps, due->who);
        break;
    }
}

static void init_run(struct run *r, uint64_t seed, struct weft_arena *arena) {
    const struct weft_bgp_setup *s = &r->s;
    size_t classes = s->classes;
    uint64_t all = s->links == 64 ? UINT64_MAX : (UINT64_C(1) << s->links) - 1;
    r->edsw = weft_arena_alloc(arena, s->edsws, sizeof *r->edsw);
    r->heard = weft_arena_alloc(arena, s->edsws * classes, sizeof *r->heard);
    r->heard_known = weft_arena_alloc(arena, s->edsws * classes, sizeof *r->heard);
    r->rib = weft_arena_alloc(arena, s->rdsws * classes, sizeof *r->rib);
    r->sender = weft_arena_alloc(arena, (size_t)s->edsws * s->rdsws * classes, sizeof *r->sender);
    for (size_t i = 0; i < s->rdsws * classes; i++)
        r->rib[i] = (struct weft_bgp_rib){s->edsws, weft_arena_alloc(arena, s->edsws, sizeof(uint64_t)), 0};
    for (size_t i = 0; i < s->edsws * classes; i++)
        r->heard[i] = s->heard ? s->heard[i] : all;
    for (uint32_t e = 0; e < s->edsws; e++) {
        struct weft_random random = weft_random_stream(seed, e, WEFT_RANDOM_PHASE);
        r->edsw[e].beat = weft_random_below(&random, r->conf->keepalive_ps);
        r->edsw[e].wire = all;
    }
}

static uint32_t least_paths(const struct run *r) {
    uint32_t least = UINT32_MAX;
    for (size_t i = 0; i < (size_t)r->s.rdsws * r->s.classes; i++)
        least = r->rib[i].count < least ? r->rib[i].count : least;
    return least;
}

static void run_until(struct run *r, weft_time_ps until) {
    struct weft__due due;
    while (weft__agenda_take(&r->agenda, until, &due))
        act_on(r, &due);
}

static void count_start(const struct run *r, struct weft_bgp_result *result) {
    result->ibgp_sessions = (uint64_t)r->s.rdsws * r->s.edsws;
    result->ebgp_sessions = (uint64_t)r->s.edsws * r->s.links;
    result->paths = least_paths(r);
    for (size_t i = 0; i < (size_t)r->s.rdsws * r->s.classes; i++) {
        uint64_t own = r->rib[i].count * aggregates_of(r, (uint32_t)(i % r->s.classes));
        if (i < r->s.classes) result->rib += own;
        result->rib_all += own;
    }
    result->width = result->paths < r->conf->width_max ? result->paths : r->conf->width_max;
    result->first_updates = r->first.updates;
    result->first_ps = r->first.last_ps;
}

/// `paths` of an outcome: after all effects that precede the next event.
static void run_events(struct run *r, uint32_t events) {
    for (uint32_t i = 0, begin = 0; i < events; i++) {
        weft_time_ps time = r->event[i].time_ps;
        if (i && time > r->event[i - 1].time_ps) {
            run_until(r, r->from + time - 1);
            while (begin < i)
                r->outcome[begin++].paths = least_paths(r);
        }
        note_due(r, r->from + time, DUE_EVENT, i, 0, 0);
    }
    run_until(r, WEFT_TIME_NEVER);
    for (uint32_t i = 0; i < events; i++)
        if (r->event[i].time_ps == r->event[events - 1].time_ps) r->outcome[i].paths = least_paths(r);
}

struct weft_bgp_result *weft_bgp_run(const struct weft_bgp_conf *conf, const struct weft_bgp_setup *setup,
                                     const struct weft_bgp_event *event, uint32_t events, uint64_t seed,
                                     struct weft_arena *arena) {
    assert(setup->rdsws && setup->edsws && setup->links && setup->links <= WEFT_BGP_LINKS_MAX && setup->classes);
    struct weft_bgp_result *result = weft_arena_alloc(arena, 1, sizeof *result);
    struct run r = {.conf = conf, .s = *setup, .event = event, .now_event = UINT32_MAX};
    init_run(&r, seed, arena);
    r.outcome = result->outcome = weft_arena_alloc(arena, events, sizeof *r.outcome);
    for (uint32_t e = 0; e < setup->edsws; e++)
        return_edsw(&r, 0, e);
    run_until(&r, WEFT_TIME_NEVER);
    count_start(&r, result);
    r.from = r.first.last_ps + conf->keepalive_ps; // keepalives have started
    r.keep = true;
    run_events(&r, events);
    result->changes_n = r.changes;
    result->change = weft_arena_alloc(arena, r.changes, sizeof *r.change);
    if (r.changes) memcpy(result->change, r.change, r.changes * sizeof *r.change);
    weft_memory_free(WEFT_MEMORY_RESULT, r.change, r.changes_capacity * sizeof *r.change);
    weft__agenda_deinit(&r.agenda);
    return result;
}
