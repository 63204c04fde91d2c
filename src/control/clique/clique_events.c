// SPDX-License-Identifier: Apache-2.0
// The events of a scenario that concern a Clique, in the form that its controller takes.
#include "control/clique/clique_events.h"

#include "weft/memory.h"

struct story {
    const struct weft_topology *t;
    const uint32_t *tin_of; ///< [nodes]
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

static void add_event(struct story *s, struct weft_sdn_event event, struct weft_clique_event told) {
    told.time_ps = event.time_ps;
    told.tin = event.what == WEFT_SDN_LINKS ? WEFT_NONE : event.tin;
    s->sdn[s->sdns] = event;
    s->told[s->sdns++] = told;
}

/// Links that change in the same direction at the same time are one event.
static void add_links(struct story *s, const bool *egress) {
    const struct weft_topology *t = s->t;
    for (uint32_t e = 0; e < t->events; e++) {
        const struct weft_link_event *now = &t->event[e];
        const struct weft_link_info *link = &t->link[now->link];
        struct weft_clique_event told = {.link = now->link, .links = 1, .up = now->up};
        uint32_t dcn = dcn_tin(s, link);
        if (dcn != WEFT_NONE)
            add_event(s,
                      (struct weft_sdn_event){.time_ps = now->time_ps, .what = WEFT_SDN_DCN, .tin = dcn, .up = now->up},
                      told);
        else if (egress && egress[e])
            add_event(s, (struct weft_sdn_event){.time_ps = now->time_ps, .what = WEFT_SDN_DCN, .tin = WEFT_NONE},
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
        add_event(s,
                  (struct weft_sdn_event){
                      .time_ps = now->time_ps, .what = WEFT_SDN_LINKS, .up = now->up, .link = &now->link, .links = 1},
                  told);
    }
}

/// A heal applies to all that were cut off.
static void add_given(struct story *s, const struct weft_control_event *event, uint32_t events) {
    bool *cut = weft_arena_alloc(s->arena, s->t->nodes, sizeof *cut);
    for (uint32_t i = 0; i < events; i++) {
        const struct weft_control_event *e = &event[i];
        struct weft_clique_event told = {.given = e};
        bool heal = e->what == WEFT_CONTROL_HEAL;
        for (uint32_t n = 0; n < s->t->nodes && (heal || e->side); n++) {
            if (s->tin_of[n] == WEFT_NONE || cut[n] != heal || !(heal || e->side[n])) continue;
            cut[n] = !heal;
            enum weft_sdn_what what = heal ? WEFT_SDN_HEAL : WEFT_SDN_CUT;
            add_event(s, (struct weft_sdn_event){.time_ps = e->time_ps, .what = what, .tin = s->tin_of[n]}, told);
        }
        if (e->what != WEFT_CONTROL_REBOOT && e->what != WEFT_CONTROL_CORRUPT) continue;
        if (s->tin_of[e->node] == WEFT_NONE) continue;
        enum weft_sdn_what what = e->what == WEFT_CONTROL_REBOOT ? WEFT_SDN_REBOOT : WEFT_SDN_CORRUPT;
        add_event(s, (struct weft_sdn_event){.time_ps = e->time_ps, .what = what, .tin = s->tin_of[e->node]}, told);
    }
}

/// Merges two lists sorted by time, the second of which follows the first. At the same time links come first.
static void merge_events(struct story *s, uint32_t links) {
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

uint32_t *weft__clique_tin_of(const struct weft_topology *t, const struct weft_dragonfly *f, struct weft_arena *arena) {
    uint32_t *tin_of = weft_arena_alloc(arena, t->nodes, sizeof *tin_of);
    for (uint32_t n = 0; n < t->nodes; n++)
        tin_of[n] = WEFT_NONE;
    for (uint32_t x = 0; x < f->tins; x++)
        tin_of[f->tin[x].node] = x;
    return tin_of;
}

struct weft__clique_events weft__clique_events_new(const struct weft_topology *t, const struct weft_dragonfly *f,
                                                   const struct weft_control_event *given, uint32_t givens,
                                                   const bool *egress, struct weft_arena *arena) {
    struct story s = {.t = t, .tin_of = weft__clique_tin_of(t, f, arena), .arena = arena};
    size_t most = (size_t)t->events + (size_t)givens * f->tins;
    s.sdn = weft_arena_alloc(arena, most, sizeof *s.sdn);
    s.told = weft_arena_alloc(arena, most, sizeof *s.told);
    add_links(&s, egress);
    uint32_t links = s.sdns;
    add_given(&s, given, givens);
    merge_events(&s, links);
    return (struct weft__clique_events){s.sdns, s.sdn, s.told};
}
