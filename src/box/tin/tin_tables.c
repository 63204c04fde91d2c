// SPDX-License-Identifier: Apache-2.0
// Tables of a Clique and its exits during a run, as the controller changes them (src/control).
#include <string.h>

#include "box/tin/tin_net.h"
#include "weft/memory.h"

/// The states that the links of a topology go through: state 0 precedes the first event.
struct states {
    uint32_t n, links;
    weft_time_ps *from_ps;
    bool *down;       ///< [n * links]
    uint32_t *event0; ///< [n] the first event of the topology that leads to it
};

static struct states find_states(const struct weft_topology *t, struct weft_arena *arena) {
    struct states s = {.n = 1, .links = t->links};
    s.from_ps = weft_arena_alloc(arena, t->events + 1, sizeof *s.from_ps);
    s.event0 = weft_arena_alloc(arena, t->events + 1, sizeof *s.event0);
    s.down = weft_arena_alloc(arena, ((size_t)t->events + 1) * t->links, sizeof *s.down);
    for (uint32_t i = 0; i < t->events; i++) {
        if (!i || t->event[i - 1].time_ps != t->event[i].time_ps) {
            memcpy(&s.down[(size_t)s.n * t->links], &s.down[(size_t)(s.n - 1) * t->links], t->links * sizeof *s.down);
            s.from_ps[s.n] = t->event[i].time_ps;
            s.event0[s.n++] = i;
        }
        s.down[(size_t)(s.n - 1) * t->links + t->event[i].link] = !t->event[i].up;
    }
    return s;
}

static bool are_same(const struct weft__tin_exits *a, const struct weft__tin_exits *b) {
    return a->n == b->n && !(a->n && memcmp(a->tin, b->tin, a->n * sizeof *a->tin));
}

/// Events after which some exits differ.
static bool *find_changes(const struct weft__tin_places *places, const struct weft_topology *t,
                          const struct states *states, struct weft_arena *arena) {
    bool *changes = weft_arena_alloc(arena, t->events, sizeof *changes);
    for (uint32_t s = 1; s < states->n; s++) {
        bool same = true;
        for (uint32_t c = 0; c < places->classes && same; c++)
            same = are_same(&places->exits[(s - 1) * places->classes + c], &places->exits[s * places->classes + c]);
        for (uint32_t e = states->event0[s];
             !same && e < t->events && t->event[e].time_ps == t->event[states->event0[s]].time_ps; e++)
            changes[e] = !weft_topology_link_is_fabric(t, t->event[e].link);
    }
    return changes;
}

static void find_egresses(struct weft__clique *clique, const struct weft_dragonfly *f, const struct states *states,
                          struct weft_arena *arena) {
    clique->egress = weft_arena_alloc(arena, f->tins, sizeof *clique->egress);
    for (uint32_t x = 0; x < f->tins; x++) {
        const struct weft_clique_tin_timeline *own = &clique->timeline->tin[x];
        clique->egress[x] = weft_arena_alloc(arena, own->egresses, sizeof *clique->egress[x]);
        for (uint32_t i = 0; i < own->egresses; i++) {
            uint32_t state = states->n - 1;
            while (state && states->from_ps[state] > own->egress[i].state_ps)
                state--;
            clique->egress[x][i] = (struct weft__tin_egress){own->egress[i].time_ps, state};
        }
    }
}

static void take_tables(struct weft__clique *clique, struct weft_gnet_routes *first, struct weft_arena *arena) {
    const struct weft_clique_timeline *timeline = clique->timeline;
    uint32_t n = 1 + (timeline ? timeline->escapes : 0);
    weft_time_ps *from = weft_arena_alloc(arena, n, sizeof *from);
    clique->routes = weft_arena_alloc(arena, n, sizeof *clique->routes);
    clique->routes[0] = first;
    for (uint32_t i = 1; i < n; i++) {
        from[i] = timeline->escape_ps[i - 1];
        clique->routes[i] = timeline->escape[i - 1];
    }
    clique->tables = (struct weft__gnet_tables){
        .n = n,
        .from_ps = from,
        .routes = (const struct weft_gnet_routes *const *)clique->routes,
        .timeline = timeline,
    };
    weft__gnet_find_columns(&clique->tables, arena);
}

void weft__clique_tables(const struct weft__network *net, struct weft__clique *clique,
                         const struct weft_dragonflies *shape, uint32_t fabric) {
    const struct weft_topology *t = net->topology;
    const struct weft_dragonfly *f = &shape->fabric[fabric];
    const struct weft_scenario *scenario = net->scenario;
    const struct weft_tin_conf *conf = weft__tin_conf(net->device[f->tin[0].node]);
    struct weft_arena *arena = net->arena_switch, *scratch = weft_arena_new(WEFT_MEMORY_ROUTES);
    struct weft_control_given given = {.conf = &scenario->control, .seed = scenario->run.seed};
    struct weft_control_event *event;
    enum weft_status status = weft_control_events_read(t, scenario->control_tree, &event, &given.events, NULL);
    assert(!status); // weft_simulation_check
    (void)status;
    given.event = event;
    struct states states = find_states(t, scratch);
    weft__tin_find_exits(&clique->places, t, shape, fabric, conf, states.down, states.n, arena);
    const bool *changes = find_changes(&clique->places, t, &states, scratch);
    clique->timeline = weft_clique_timeline_new(t, f, &conf->gnet, &given, changes, arena);
    if (clique->timeline) find_egresses(clique, f, &states, arena);
    take_tables(clique, weft_gnet_routes_new(t, f, &conf->gnet, NULL), arena);
    weft_arena_free(scratch);
}

static void tell_timeline(struct weft_tin_outcome *o, struct weft__clique *clique, const struct weft_dragonfly *f) {
    const struct weft_clique_timeline *timeline = clique->timeline;
    clique->transition0 = o->transitions;
    for (uint32_t i = 0; i < timeline->transitions; i++) {
        const struct weft_clique_transition *from = &timeline->transition[i];
        o->transition[o->transitions++] = (struct weft_tin_transition){
            .from_ps = from->from_ps, .to_ps = from->to_ps, .down = from->down, .up = from->up};
    }
    for (uint32_t x = 0; x < f->tins; x++)
        o->table_changes += timeline->tin[x].changes;
    for (uint32_t i = 0; i < timeline->events; i++)
        o->holes += timeline->sdn->outcome[i].holes;
    o->walked = timeline->sdn->checked;
}

void weft__cliques_tell(struct weft__network *net, const struct weft__tally *sum) {
    struct weft__cliques *cliques = weft__cliques_of(net);
    struct weft_tin_outcome *o = weft_outcome_tin(net->outcome);
    uint32_t transitions = 0;
    for (uint32_t f = 0; f < cliques->shape->n; f++)
        if (cliques->clique[f].timeline) transitions += cliques->clique[f].timeline->transitions;
    o->transition = weft_arena_alloc(net->outcome->arena, transitions, sizeof *o->transition);
    for (uint32_t f = 0; f < cliques->shape->n; f++)
        if (cliques->clique[f].timeline) tell_timeline(o, &cliques->clique[f], &cliques->shape->fabric[f]);
}

weft_time_ps weft__cliques_settled(const void *state) {
    const struct weft__cliques *cliques = state;
    weft_time_ps last = 0;
    for (uint32_t f = 0; f < cliques->shape->n; f++)
        if (cliques->clique[f].timeline && cliques->clique[f].timeline->last_ps > last)
            last = cliques->clique[f].timeline->last_ps;
    return last;
}
