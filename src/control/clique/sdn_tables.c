// SPDX-License-Identifier: Apache-2.0
// Flows and groups of a Clique.
#include "control/clique/sdn_tables.h"

#include "base/grow.h"
#include "weft/memory.h"

static const enum weft_memory_kind KIND = WEFT_MEMORY_ROUTES;

uint32_t weft__sdn_group_of(struct weft__sdn_groups *g, uint32_t tin, struct weft_gnet_set set) {
    struct weft__sdn_tin_groups *own = &g->tin[tin];
    if (!(set.minimal | set.nonminimal)) return 0;
    for (uint32_t i = 1; i <= own->n; i++)
        if (own->set[i].minimal == set.minimal && own->set[i].nonminimal == set.nonminimal) return i;
    own->set = weft__memory_double(KIND, own->set, own->n + 1, &own->capacity, 32, sizeof *own->set);
    own->set[++own->n] = set;
    return own->n;
}

uint32_t weft__sdn_special(struct weft__sdn_columns *c, uint32_t dst) {
    if (!c->special_of[dst]) {
        c->special[c->specials++] = dst;
        c->special_of[dst] = c->specials;
    }
    return c->places + c->f->pods + c->special_of[dst] - 1;
}

void weft__sdn_tables_init(struct weft__sdn_tables *t, const struct weft__sdn_columns *c, uint32_t rows) {
    *t = (struct weft__sdn_tables){.c = c, .rows = rows, .capacity = c->places + c->f->pods + c->f->tins};
    t->column = weft_memory_new(KIND, t->capacity, sizeof *t->column);
}

void weft__sdn_tables_deinit(struct weft__sdn_tables *t) {
    for (uint32_t i = 0; i < t->capacity; i++)
        if (t->column[i]) weft_memory_free(KIND, t->column[i], (size_t)t->c->f->tins * t->rows * sizeof **t->column);
    weft_memory_free(KIND, t->column, t->capacity * sizeof *t->column);
    *t = (struct weft__sdn_tables){0};
}

uint32_t *weft__sdn_entry(struct weft__sdn_tables *t, uint32_t column, uint32_t tin, uint32_t row) {
    if (!t->column[column])
        t->column[column] = weft_memory_new(KIND, (size_t)t->c->f->tins * t->rows, sizeof **t->column);
    return &t->column[column][tin * t->rows + row];
}

struct weft__sdn_wiring *weft__sdn_wiring_new(const struct weft_topology *t, const struct weft_dragonfly *f,
                                              struct weft_arena *arena) {
    struct weft__sdn_wiring *w = weft_arena_alloc(arena, 1, sizeof *w);
    w->f = f;
    w->slots = 1;
    w->port_there = weft_arena_alloc(arena, (size_t)f->tins * WEFT_GNET_PORTS_MAX, sizeof *w->port_there);
    w->link = weft_arena_alloc(arena, (size_t)f->tins * WEFT_GNET_PORTS_MAX, sizeof *w->link);
    for (uint32_t x = 0; x < f->tins; x++)
        for (uint64_t ports = f->tin[x].local | f->tin[x].global; ports; ports &= ports - 1) {
            uint32_t k = (uint32_t)__builtin_ctzll(ports);
            const struct weft_port_info *port = weft_topology_port(t, f->tin[x].node, k);
            uint32_t there = port->peer - t->node[f->tin[f->tin[x].peer[k]].node].port0;
            w->port_there[x * WEFT_GNET_PORTS_MAX + k] = (uint8_t)there;
            w->link[x * WEFT_GNET_PORTS_MAX + k] = port->link;
            if (k + 2 > w->slots) w->slots = k + 2;
        }
    return w;
}
