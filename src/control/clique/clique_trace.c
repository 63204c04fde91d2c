// SPDX-License-Identifier: Apache-2.0
// The story of a Clique's control plane: the events of a scenario, as handled by its agents.
#include "weft/clique_trace.h"

#include <stdlib.h>

#include "control/clique/clique_events.h"
#include "weft/memory.h"

enum { CLOCK_EVENTS_MAX = 8 };
enum { TRACED = 100, TRACED_ALL = 1000000 }; ///< cells: from one TiN to another, and roughly in total

/// The clocks' events follow one another at intervals in which each has had its effect, which is short, while messages
/// are many. More than a few events are omitted.
static void run_clocks(const struct weft_topology *t, struct weft_clique_trace *trace,
                       const struct weft_timesync_conf *conf, const struct weft_control_event *event, uint32_t events,
                       uint64_t seed, struct weft_arena *arena) {
    struct weft_timesync_event own[CLOCK_EVENTS_MAX];
    struct weft_clique_event *told = weft_arena_alloc(arena, CLOCK_EVENTS_MAX, sizeof *told);
    const struct weft_clique *c = trace->clique;
    const uint32_t *tin_of = weft__clique_tin_of(t, trace->fabric, arena);
    uint32_t n = 0;
    for (uint32_t e = 0; e < t->events && n < CLOCK_EVENTS_MAX; e++)
        for (uint32_t l = 0; l < c->links && n < CLOCK_EVENTS_MAX; l++) {
            const struct weft_link_event *now = &t->event[e];
            if (c->link[l].link != now->link) continue;
            own[n].what = now->up ? WEFT_TIMESYNC_LINK_UP : WEFT_TIMESYNC_LINK_DOWN;
            own[n].which = l;
            told[n++] = (struct weft_clique_event){
                .time_ps = now->time_ps, .link = now->link, .links = 1, .up = now->up, .tin = WEFT_NONE};
        }
    for (uint32_t i = 0; i < events && n < CLOCK_EVENTS_MAX; i++) {
        if (event[i].what != WEFT_CONTROL_JUMP || tin_of[event[i].node] == WEFT_NONE) continue;
        own[n] = (struct weft_timesync_event){
            .what = WEFT_TIMESYNC_JUMP, .which = tin_of[event[i].node], .jump_ps = (int64_t)conf->jump_ps};
        told[n++] =
            (struct weft_clique_event){.time_ps = event[i].time_ps, .given = &event[i], .tin = tin_of[event[i].node]};
    }
    for (uint32_t i = 0; i < n; i++)
        own[i].time_ps = (i + 1) * (2 * conf->software_ps + conf->for_ps);
    trace->timesync = weft_timesync_run(c, conf, own, n, seed, arena);
    trace->timesync_event = told;
    trace->timesync_events = n;
}

/// Counts all ports of the chips, used or not.
static struct weft_sdn_counts count_state(const struct weft_topology *t, const struct weft_dragonfly *f,
                                          const struct weft_tin_conf *conf) {
    uint64_t links = t->packaging.local_ports + t->packaging.global_ports;
    uint64_t endpoints = conf->ip_endpoints + conf->rma_endpoints + conf->control_endpoints;
    for (uint32_t x = 0; x < f->tins; x++)
        if (f->tin[x].gnet_ports > links) links = f->tin[x].gnet_ports;
    struct weft_gnet_routes *routes = weft_gnet_routes_new(t, f, &conf->gnet, NULL);
    struct weft_sdn_counts counts = weft_sdn_count(routes, links + endpoints, endpoints);
    weft_gnet_routes_free(routes);
    return counts;
}

struct weft_clique_trace *weft_clique_trace_new(const struct weft_topology *t, const struct weft_dragonfly *f,
                                                const struct weft_tin_conf *tin, const struct weft_control_conf *conf,
                                                const struct weft_control_event *event, uint32_t events, uint64_t seed,
                                                struct weft_arena *arena) {
    struct weft_clique_trace *trace = weft_arena_alloc(arena, 1, sizeof *trace);
    struct weft__clique_events what = weft__clique_events_new(t, f, event, events, NULL, arena);
    uint32_t dcn = 0;
    for (uint32_t x = 0; x < f->tins; x++)
        dcn += f->tin[x].ethernets > 0;
    *trace = (struct weft_clique_trace){
        .clique = weft_clique_of(t, f, arena), .fabric = f, .sdn_events = what.n, .sdn_event = what.told};
    trace->counts = count_state(t, f, tin);
    if (dcn) trace->bootstrap = weft_bootstrap_run(trace->clique, &conf->bootstrap, seed, arena);
    struct weft_sdn *sdn = weft_sdn_new(t, f, &tin->gnet, &conf->sdn, seed);
    trace->sdn = weft_sdn_run(sdn, what.sdn, what.n, arena);
    trace->differences = weft_sdn_differences(sdn);
    uint32_t traced = TRACED_ALL / (f->tins * f->tins);
    traced = traced > TRACED ? TRACED : traced + !traced;
    if (trace->sdn->checked) trace->cells = weft_sdn_find_fault(sdn, traced, 0, seed);
    weft_sdn_free(sdn);
    run_clocks(t, trace, &conf->timesync, event, events, seed, arena);
    return trace;
}
