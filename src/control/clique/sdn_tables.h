// SPDX-License-Identifier: Apache-2.0
// Flows and groups of a Clique: as intended, by class of ports, and as programmed, by port.
// A column stands for destinations: the TiNs of the own pod by place, then the other pods, then TiNs of other pods that
// have their own flow, which takes precedence over that of their pod.
#pragma once

#include "weft/sdn.h"

enum { WEFT__SDN_SLOT_MAX = WEFT_GNET_PORTS_MAX + 1, WEFT__SDN_VCS = WEFT_GNET_ROUTING_VCS };

/// Sets of ports of every TiN, numbered from 1 in order of appearance. The meaning of a number never changes.
struct weft__sdn_groups {
    struct weft__sdn_tin_groups {
        struct weft_gnet_set *set; ///< [n + 1], 0: none
        uint32_t n, capacity;
    } * tin;
};
uint32_t weft__sdn_group_of(struct weft__sdn_groups *g, uint32_t tin, struct weft_gnet_set set);

/// Which destinations have columns; shared by all tables of a Clique.
struct weft__sdn_columns {
    const struct weft_dragonfly *f;
    uint32_t places, specials;
    uint32_t *special;    ///< [specials] TiN
    uint32_t *special_of; ///< [tins]: number + 1 of its own column; 0: none yet
};
static inline uint32_t weft__sdn_columns(const struct weft__sdn_columns *c) {
    return c->places + c->f->pods + c->specials;
}
uint32_t weft__sdn_special(struct weft__sdn_columns *c, uint32_t dst);

/// Entries: the number of a group, or 0.
struct weft__sdn_tables {
    const struct weft__sdn_columns *c;
    uint32_t rows, capacity;
    uint32_t **column; ///< [capacity] each [tins * rows]
};
void weft__sdn_tables_init(struct weft__sdn_tables *t, const struct weft__sdn_columns *c, uint32_t rows);
void weft__sdn_tables_deinit(struct weft__sdn_tables *t);
/// The entry, for writing.
uint32_t *weft__sdn_entry(struct weft__sdn_tables *t, uint32_t column, uint32_t tin, uint32_t row);
/// 0 also where nothing was ever written.
static inline uint32_t weft__sdn_get(const struct weft__sdn_tables *t, uint32_t column, uint32_t tin, uint32_t row) {
    return column < t->capacity && t->column[column] ? t->column[column][tin * t->rows + row] : 0;
}
/// The entry that a cell for `dst` finds.
static inline uint32_t weft__sdn_lookup(const struct weft__sdn_tables *t, uint32_t tin, uint32_t row, uint32_t dst) {
    const struct weft_dragonfly *f = t->c->f;
    if (f->tin[dst].pod == f->tin[tin].pod) return weft__sdn_get(t, f->tin[dst].place, tin, row);
    uint32_t special = t->c->special_of[dst];
    uint32_t own = special ? weft__sdn_get(t, t->c->places + f->pods + special - 1, tin, row) : 0;
    return own ? own : weft__sdn_get(t, t->c->places + f->tin[dst].pod, tin, row);
}

/// Rows of intended tables: a class of inputs and a routing VC. Rows of programmed tables: a slot and a VC; slot 0 is
/// the terminals, the others are ports.
enum { WEFT__SDN_CLASS_ROWS = WEFT_GNET_INPUTS * WEFT__SDN_VCS };
static inline uint32_t weft__sdn_input_of(const struct weft_dragonfly *f, uint32_t tin, uint32_t slot) {
    return slot ? f->tin[tin].input[slot - 1] : (uint32_t)WEFT_GNET_TERMINAL;
}

/// Where links lead: the port at the other end of each.
struct weft__sdn_wiring {
    const struct weft_dragonfly *f;
    uint32_t slots;      ///< 1 plus the ports of a TiN
    uint8_t *port_there; ///< [tins * 64]
    uint32_t *link;      ///< [tins * 64] of the topology
};
struct weft__sdn_wiring *weft__sdn_wiring_new(const struct weft_topology *t, const struct weft_dragonfly *f,
                                              struct weft_arena *arena);
