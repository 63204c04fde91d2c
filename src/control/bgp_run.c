// SPDX-License-Identifier: Apache-2.0
// EDSWs and RDSWs of a building, run. Keepalives are not events: a session's last one is worked out when its EDSW dies.
#include <assert.h>

#include "control/agenda.h"
#include "weft/bgp.h"
#include "weft/memory.h"

enum { DUE_EVENT, DUE_TELL, DUE_UPDATE, DUE_CLOSED, DUE_LINK };

struct run {
    const struct weft_bgp_conf *conf;
    uint32_t rdsws, edsws, links, now_event;
    const struct weft_bgp_event *event;
    struct weft_bgp_rib *rib;       ///< [rdsws]
    struct weft_bgp_sender *sender; ///< [edsws * rdsws]
    uint64_t *up;                   ///< [edsws] links as the EDSW knows them
    bool *alive;
    uint32_t *life;                  ///< [edsws]
    weft_time_ps *busy_until, *beat; ///< [edsws] making UPDATEs; phase of its keepalives
    uint64_t *wire_up;               ///< [edsws] links as they are
    struct weft__agenda agenda;
    struct weft_bgp_outcome *outcome, first;
    weft_time_ps event_ps;
};

static struct weft_bgp_outcome *outcome(struct run *r) {
    return r->now_event == UINT32_MAX ? &r->first : &r->outcome[r->now_event];
}

static void note(struct run *r, weft_time_ps time, uint32_t kind, uint32_t who, uint32_t what, uint64_t data) {
    weft__agenda_note(&r->agenda,
                      (struct weft__due){.time_ps = time, .kind = kind, .who = who, .what = what, .data = data});
}

/// One UPDATE for each way that is announced, one for all that are withdrawn; made one after the other.
static void tell(struct run *r, weft_time_ps now, uint32_t edsw, uint32_t rdsw) {
    uint64_t announced, withdrawn;
    weft_time_ps due;
    uint32_t pair = edsw * r->rdsws + rdsw;
    if (!r->alive[edsw]) return;
    bool something = weft_bgp_tell(&r->sender[pair], r->conf, now, r->up[edsw], &announced, &withdrawn, &due);
    if (due != WEFT_TIME_NEVER) note(r, due, DUE_TELL, edsw, rdsw, 0);
    if (!something) return;
    uint64_t updates = (uint64_t)__builtin_popcountll(announced) + (withdrawn != 0);
    weft_time_ps from = r->busy_until[edsw] > now ? r->busy_until[edsw] : now;
    r->busy_until[edsw] = from + updates * r->conf->processing_ps;
    outcome(r)->updates += updates;
    // taken one by one as well; the last matters
    note(r, r->busy_until[edsw] + r->conf->latency_ps + r->conf->processing_ps, DUE_UPDATE, edsw, rdsw, r->life[edsw]);
}

static void tell_all(struct run *r, weft_time_ps now, uint32_t edsw) {
    for (uint32_t i = 0; i < r->rdsws; i++)
        tell(r, now, edsw, i);
}

/// `changed` paths came or went at an RDSW; of `dead` traffic was lost till now.
static void account(struct run *r, weft_time_ps now, uint32_t changed, double dead_share) {
    if (!changed) return;
    struct weft_bgp_outcome *o = outcome(r);
    o->changes += changed * r->conf->aggregates;
    o->last_ps = now - r->event_ps;
    o->lost_ps += dead_share * (double)(now - r->event_ps) / r->rdsws;
}

static uint64_t all_links(const struct run *r) {
    return r->links == 64 ? UINT64_MAX : (UINT64_C(1) << r->links) - 1;
}

/// An RDSW hears what the EDSW has told it last.
static void on_update(struct run *r, const struct weft__due *due) {
    struct weft_bgp_rib *rib = &r->rib[due->what];
    if (due->data != r->life[due->who] || !r->alive[due->who]) return;
    uint64_t told = r->sender[due->who * r->rdsws + due->what].told, had = rib->paths[due->who];
    double gone = (double)__builtin_popcountll(had & ~told) / (rib->count ? rib->count : 1);
    account(r, due->time_ps, weft_bgp_on_update(rib, due->who, told & ~had, had & ~told), gone);
}

static void on_closed(struct run *r, const struct weft__due *due) {
    struct weft_bgp_rib *rib = &r->rib[due->what];
    if (due->data != r->life[due->who]) return;
    double share = (double)__builtin_popcountll(rib->paths[due->who]) / (rib->count ? rib->count : 1);
    account(r, due->time_ps, weft_bgp_on_closed(rib, due->who), share);
}

static void go(struct run *r, weft_time_ps now, uint32_t edsw, bool says_so) {
    weft_time_ps into = (now + r->conf->keepalive_ps - r->beat[edsw] % r->conf->keepalive_ps) % r->conf->keepalive_ps;
    weft_time_ps noticed = now - into + r->conf->latency_ps + r->conf->hold_ps;
    if (r->conf->tracking && now + r->conf->tracking_delay_ps < noticed) noticed = now + r->conf->tracking_delay_ps;
    if (says_so) noticed = now + r->conf->latency_ps;
    r->alive[edsw] = false;
    for (uint32_t i = 0; i < r->rdsws; i++)
        note(r, noticed + r->conf->processing_ps, DUE_CLOSED, edsw, i, r->life[edsw]);
}

static void come(struct run *r, weft_time_ps now, uint32_t edsw) {
    r->alive[edsw] = true;
    r->life[edsw]++;
    r->up[edsw] = r->wire_up[edsw];
    for (uint32_t i = 0; i < r->rdsws; i++)
        r->sender[edsw * r->rdsws + i] = (struct weft_bgp_sender){.told = 0, .next_ps = 0};
    tell_all(r, now, edsw);
}

static void on_event(struct run *r, weft_time_ps now, uint32_t i) {
    const struct weft_bgp_event *e = &r->event[i];
    uint64_t bit = UINT64_C(1) << e->link;
    r->now_event = i;
    r->event_ps = now;
    switch (e->what) {
    case WEFT_BGP_LOST:
    case WEFT_BGP_SHUT:
        if (r->alive[e->edsw]) go(r, now, e->edsw, e->what == WEFT_BGP_SHUT);
        break;
    case WEFT_BGP_BACK:
        if (!r->alive[e->edsw]) come(r, now, e->edsw);
        break;
    case WEFT_BGP_LINK_DOWN:
    case WEFT_BGP_LINK_UP:
        r->wire_up[e->edsw] = e->what == WEFT_BGP_LINK_UP ? r->wire_up[e->edsw] | bit : r->wire_up[e->edsw] & ~bit;
        note(r, now + r->conf->detect_ps, DUE_LINK, e->edsw, 0, 0);
        break;
    }
}

static void act(struct run *r, const struct weft__due *due) {
    switch (due->kind) {
    case DUE_EVENT:
        on_event(r, due->time_ps, due->who);
        break;
    case DUE_TELL:
        tell(r, due->time_ps, due->who, due->what);
        break;
    case DUE_UPDATE:
        on_update(r, due);
        break;
    case DUE_CLOSED:
        on_closed(r, due);
        break;
    case DUE_LINK:
        r->up[due->who] = r->wire_up[due->who];
        tell_all(r, due->time_ps, due->who);
        break;
    }
}

static void init(struct run *r, uint64_t seed, struct weft_arena *arena) {
    r->rib = weft_arena_alloc(arena, r->rdsws, sizeof *r->rib);
    r->sender = weft_arena_alloc(arena, (size_t)r->edsws * r->rdsws, sizeof *r->sender);
    r->up = weft_arena_alloc(arena, r->edsws, sizeof *r->up);
    r->wire_up = weft_arena_alloc(arena, r->edsws, sizeof *r->wire_up);
    r->alive = weft_arena_alloc(arena, r->edsws, sizeof *r->alive);
    r->life = weft_arena_alloc(arena, r->edsws, sizeof *r->life);
    r->busy_until = weft_arena_alloc(arena, r->edsws, sizeof *r->busy_until);
    r->beat = weft_arena_alloc(arena, r->edsws, sizeof *r->beat);
    for (uint32_t i = 0; i < r->rdsws; i++)
        r->rib[i] = (struct weft_bgp_rib){r->edsws, weft_arena_alloc(arena, r->edsws, sizeof(uint64_t)), 0};
    for (uint32_t e = 0; e < r->edsws; e++) {
        struct weft_random random = weft_random_stream(seed, e, WEFT_RANDOM_PHASE);
        r->beat[e] = weft_random_below(&random, r->conf->keepalive_ps);
        r->wire_up[e] = all_links(r);
    }
}

static uint32_t least_paths(const struct run *r) {
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < r->rdsws; i++)
        least = r->rib[i].count < least ? r->rib[i].count : least;
    return least;
}

static void run_until(struct run *r, weft_time_ps until) {
    struct weft__due due;
    while (weft__agenda_take(&r->agenda, until, &due))
        act(r, &due);
}

struct weft_bgp_result *weft_bgp_run(const struct weft_bgp_conf *conf, uint32_t rdsws, uint32_t edsws, uint32_t links,
                                     const struct weft_bgp_event *event, uint32_t events, uint64_t seed,
                                     struct weft_arena *arena) {
    assert(rdsws && edsws && links && links <= WEFT_BGP_LINKS_MAX);
    struct weft_bgp_result *result = weft_arena_alloc(arena, 1, sizeof *result);
    struct run r = {
        .conf = conf, .rdsws = rdsws, .edsws = edsws, .links = links, .event = event, .now_event = UINT32_MAX};
    init(&r, seed, arena);
    r.outcome = result->outcome = weft_arena_alloc(arena, events, sizeof *r.outcome);
    for (uint32_t e = 0; e < edsws; e++)
        come(&r, 0, e);
    run_until(&r, WEFT_TIME_NEVER);
    result->ibgp_sessions = (uint64_t)rdsws * edsws;
    result->ebgp_sessions = (uint64_t)edsws * links;
    result->paths = least_paths(&r);
    result->rib = result->paths * conf->aggregates;
    for (uint32_t i = 0; i < rdsws; i++)
        result->rib_all += r.rib[i].count * conf->aggregates;
    result->width = result->paths < conf->width_max ? result->paths : conf->width_max;
    result->first_updates = r.first.updates;
    result->first_ps = r.first.last_ps;
    weft_time_ps from = r.first.last_ps + conf->keepalive_ps; // keepalives have begun
    for (uint32_t i = 0; i < events; i++) {
        run_until(&r, from + event[i].time_ps - 1);
        if (i) result->outcome[i - 1].paths = least_paths(&r);
        note(&r, from + event[i].time_ps, DUE_EVENT, i, 0, 0);
    }
    run_until(&r, WEFT_TIME_NEVER);
    if (events) result->outcome[events - 1].paths = least_paths(&r);
    weft__agenda_deinit(&r.agenda);
    return result;
}
