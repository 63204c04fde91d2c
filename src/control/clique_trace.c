// SPDX-License-Identifier: Apache-2.0
// The story of a Clique's control plane: what a scenario says happens, as its agents take it.
#include "weft/clique_trace.h"

#include <stdlib.h>

#include "weft/memory.h"

enum { SWITCH_PORTS = 50, TRACED = 100, CLOCK_EVENTS_MAX = 8 };

struct story {
    const struct weft_topology *t;
    const struct weft_dragonfly *f;
    const struct weft_clique *c;
    uint32_t *tin_of; ///< [nodes]
    struct weft_sdn_event *sdn;
    struct weft_clique_event *told; ///< [sdns]
    uint32_t sdns;
    struct weft_arena *arena;
};

static bool is_gnet(const struct story *s, const struct weft_link_info *link) {
    uint32_t from = s->t->port[link->port[0]].node, to = s->t->port[link->port[1]].node;
    return s->tin_of[from] != WEFT_NONE && s->tin_of[to] != WEFT_NONE;
}

/// The TiN of a link to the datacenter network, or WEFT_NONE.
static uint32_t dcn_tin(const struct story *s, const struct weft_link_info *link) {
    for (uint32_t end = 0; end < 2; end++) {
        uint32_t node = s->t->port[link->port[end]].node;
        bool ethernet = weft_tin_port_class(s->t, node, link->port[end] - s->t->node[node].port0) == WEFT_TIN_ETHERNET;
        if (s->tin_of[node] != WEFT_NONE && ethernet) return s->tin_of[node];
    }
    return WEFT_NONE;
}

static void add(struct story *s, struct weft_sdn_event event, struct weft_clique_event told) {
    told.time_ps = event.time_ps;
    told.tin = event.what == WEFT_SDN_LINKS ? WEFT_NONE : event.tin;
    s->sdn[s->sdns] = event;
    s->told[s->sdns++] = told;
}

/// Links that go the same way at one time are one event.
static void add_links(struct story *s) {
    const struct weft_topology *t = s->t;
    for (uint32_t e = 0; e < t->events; e++) {
        const struct weft_link_event *now = &t->event[e];
        const struct weft_link_info *link = &t->link[now->link];
        struct weft_clique_event told = {.link = now->link, .links = 1, .up = now->up};
        uint32_t dcn = dcn_tin(s, link);
        if (dcn != WEFT_NONE)
            add(s, (struct weft_sdn_event){.time_ps = now->time_ps, .what = WEFT_SDN_DCN, .tin = dcn, .up = now->up},
                told);
        if (!is_gnet(s, link)) continue;
        struct weft_sdn_event *last = s->sdns ? &s->sdn[s->sdns - 1] : NULL;
        if (last && last->what == WEFT_SDN_LINKS && last->time_ps == now->time_ps && last->up == now->up) {
            uint32_t *more = weft_arena_alloc(s->arena, last->links + 1, sizeof *more);
            for (uint32_t i = 0; i < last->links; i++)
                more[i] = last->link[i];
            more[last->links++] = now->link;
            last->link = more;
            s->told[s->sdns - 1].links++;
            continue;
        }
        add(s,
            (struct weft_sdn_event){
                .time_ps = now->time_ps, .what = WEFT_SDN_LINKS, .up = now->up, .link = &now->link, .links = 1},
            told);
    }
}

static void add_given(struct story *s, const struct weft_control_event *event, uint32_t events) {
    const struct weft_control_event *cut = NULL;
    for (uint32_t i = 0; i < events; i++) {
        const struct weft_control_event *e = &event[i];
        struct weft_clique_event told = {.given = e};
        bool heal = e->what == WEFT_CONTROL_HEAL;
        const bool *side = heal && cut ? cut->side : e->side;
        for (uint32_t n = 0; side && n < s->t->nodes; n++)
            if (side[n] && s->tin_of[n] != WEFT_NONE)
                add(s,
                    (struct weft_sdn_event){
                        .time_ps = e->time_ps, .what = heal ? WEFT_SDN_HEAL : WEFT_SDN_CUT, .tin = s->tin_of[n]},
                    told);
        if (e->what == WEFT_CONTROL_CUT) cut = e;
        if (heal) cut = NULL;
        if (e->what != WEFT_CONTROL_REBOOT && e->what != WEFT_CONTROL_CORRUPT) continue;
        if (s->tin_of[e->node] == WEFT_NONE) continue;
        enum weft_sdn_what what = e->what == WEFT_CONTROL_REBOOT ? WEFT_SDN_REBOOT : WEFT_SDN_CORRUPT;
        add(s, (struct weft_sdn_event){.time_ps = e->time_ps, .what = what, .tin = s->tin_of[e->node]}, told);
    }
}

/// Both lists are by time; the second behind the first. At one time links come first.
static void merge(struct story *s, uint32_t links) {
    struct weft_sdn_event *sdn = weft_arena_alloc(s->arena, s->sdns, sizeof *sdn);
    struct weft_clique_event *told = weft_arena_alloc(s->arena, s->sdns, sizeof *told);
    for (uint32_t i = 0, a = 0, b = links; i < s->sdns; i++) {
        bool first = a < links && (b == s->sdns || s->sdn[a].time_ps <= s->sdn[b].time_ps);
        uint32_t from = first ? a++ : b++;
        sdn[i] = s->sdn[from];
        told[i] = s->told[from];
    }
    s->sdn = sdn;
    s->told = told;
}

/// The clocks' events follow each other at a distance at which each has had its effect: what they do is over in a
/// moment, and messages are many. More than a few are left out.
static void run_clocks(struct story *s, struct weft_clique_trace *trace, const struct weft_timesync_conf *conf,
                       const struct weft_control_event *event, uint32_t events, uint64_t seed) {
    struct weft_timesync_event own[CLOCK_EVENTS_MAX];
    struct weft_clique_event *told = weft_arena_alloc(s->arena, CLOCK_EVENTS_MAX, sizeof *told);
    uint32_t n = 0;
    for (uint32_t e = 0; e < s->t->events && n < CLOCK_EVENTS_MAX; e++)
        for (uint32_t l = 0; l < s->c->links && n < CLOCK_EVENTS_MAX; l++) {
            const struct weft_link_event *now = &s->t->event[e];
            if (s->c->link[l].link != now->link) continue;
            own[n].what = now->up ? WEFT_TIMESYNC_LINK_UP : WEFT_TIMESYNC_LINK_DOWN;
            own[n].which = l;
            told[n++] = (struct weft_clique_event){
                .time_ps = now->time_ps, .link = now->link, .links = 1, .up = now->up, .tin = WEFT_NONE};
        }
    for (uint32_t i = 0; i < events && n < CLOCK_EVENTS_MAX; i++) {
        if (event[i].what != WEFT_CONTROL_JUMP || s->tin_of[event[i].node] == WEFT_NONE) continue;
        own[n] = (struct weft_timesync_event){
            .what = WEFT_TIMESYNC_JUMP, .which = s->tin_of[event[i].node], .jump_ps = (int64_t)conf->jump_ps};
        told[n++] = (struct weft_clique_event){
            .time_ps = event[i].time_ps, .given = &event[i], .tin = s->tin_of[event[i].node]};
    }
    for (uint32_t i = 0; i < n; i++)
        own[i].time_ps = (i + 1) * (2 * conf->software_ps + conf->for_ps);
    trace->timesync = weft_timesync_run(s->c, conf, own, n, seed, s->arena);
    trace->timesync_event = told;
    trace->timesync_events = n;
}

struct weft_clique_trace *weft_clique_trace_new(const struct weft_topology *t, const struct weft_dragonfly *f,
                                                const struct weft_gnet_conf *gnet, const struct weft_control_conf *conf,
                                                const struct weft_control_event *event, uint32_t events, uint64_t seed,
                                                struct weft_arena *arena) {
    struct weft_clique_trace *trace = weft_arena_alloc(arena, 1, sizeof *trace);
    struct story s = {.t = t, .f = f, .c = weft_clique_of(t, f, arena), .arena = arena};
    size_t most = (size_t)t->events + (size_t)events * f->tins;
    s.tin_of = weft_arena_alloc(arena, t->nodes, sizeof *s.tin_of);
    s.sdn = weft_arena_alloc(arena, most, sizeof *s.sdn);
    s.told = weft_arena_alloc(arena, most, sizeof *s.told);
    for (uint32_t n = 0; n < t->nodes; n++)
        s.tin_of[n] = WEFT_NONE;
    uint32_t dcn = 0;
    for (uint32_t x = 0; x < f->tins; x++) {
        s.tin_of[f->tin[x].node] = x;
        dcn += f->tin[x].ethernets > 0;
    }
    add_links(&s);
    uint32_t links = s.sdns;
    add_given(&s, event, events);
    merge(&s, links);
    *trace = (struct weft_clique_trace){.clique = s.c, .fabric = f, .sdn_events = s.sdns, .sdn_event = s.told};
    struct weft_gnet_routes *routes = weft_gnet_routes_new(t, f, gnet, NULL);
    trace->counts = weft_sdn_count(routes, SWITCH_PORTS);
    weft_gnet_routes_free(routes);
    if (dcn) trace->bootstrap = weft_bootstrap_run(s.c, &conf->bootstrap, seed, arena);
    struct weft_sdn *sdn = weft_sdn_new(t, f, gnet, &conf->sdn, seed);
    trace->sdn = weft_sdn_run(sdn, s.sdn, s.sdns, arena);
    trace->differences = weft_sdn_differences(sdn);
    if (trace->sdn->checked) trace->cells = weft_sdn_find_fault(sdn, TRACED, 0, seed);
    weft_sdn_free(sdn);
    run_clocks(&s, trace, &conf->timesync, event, events, seed);
    return trace;
}
