// SPDX-License-Identifier: Apache-2.0
// Routes of cells in a dragonfly of TiNs (Aquila, NSDI 2022, sections 3.2 and 4.2), for one state of the links: by
// which ports a cell may leave a TiN, by where it came in, its virtual channel (VC) and its destination. The rules:
// - Within a pod the type of one local hop says which types may follow it (parity and sign, Garcia et al., ICPP 2013).
// - The routing VC is one more on whatever follows a global link. The paper raises it from global to local; a cell that
//   goes from one global link to the next without a local hop between must be raised as well, or two pods of such cells
//   could wait for each other.
// - A cell goes through one other pod at most, and has at most two local hops in each pod: 8 hops at most, and 3 on a
//   minimal way. It comes back to its own pod only if no way within that is left.
// So channels (link, VC) have an order that every route ascends, for any state of the links and any mix of such states:
// no deadlock. tests/theory/test_gnet_deadlock.c proves it from the tables.
#pragma once

#include "weft/dragonfly.h"

struct weft_param_table;

/// VCs of a link: class c has routing VCs 3c, 3c + 1, 3c + 2; the last two are the escape VCs, of all classes.
enum {
    WEFT_GNET_CLASSES = 10,
    WEFT_GNET_ROUTING_VCS = 3, ///< of a class
    WEFT_GNET_ESCAPE_VC = WEFT_GNET_CLASSES * WEFT_GNET_ROUTING_VCS,
    WEFT_GNET_ESCAPE_VCS = 2, ///< the first towards the root of a tree of the Clique, the second away from it
    WEFT_GNET_VCS = WEFT_GNET_ESCAPE_VC + WEFT_GNET_ESCAPE_VCS
};

/// The paper's four modes, and one more: which candidates a cell has, and whether it looks at queues.
enum weft_gnet_mode {
    WEFT_GNET_FULLY_ADAPTIVE,
    WEFT_GNET_MINIMAL_ADAPTIVE,
    WEFT_GNET_DETERMINISTIC, ///< one of all candidates, by a hash of what is the same for all cells of a flow
    WEFT_GNET_MINIMAL_DETERMINISTIC,
    WEFT_GNET_UGAL, ///< not the paper's: decided where a cell begins (src/box/tin/gnet_ugal.c)
    WEFT_GNET_MODES
};
extern const char *const weft_gnet_mode_names[]; ///< "fully_adaptive" ..., NULL

/// Hops of one type may be followed by those of the types in `after`, a mask (enum weft_gnet_hop).
struct weft_gnet_turns {
    const char *name;
    uint8_t after[WEFT_GNET_HOPS];
};
/// "widest": of the 48 best of all 65536 tables, which leave n/2 - 1 ways of two hops between any two of n TiNs, the
/// first; "fogsim": the table of the simulator FOGSim, which leaves n/2 - 2.
enum weft_gnet_turns_kind { WEFT_GNET_TURNS_WIDEST, WEFT_GNET_TURNS_FOGSIM, WEFT_GNET_TURNS_KINDS };
extern const struct weft_gnet_turns weft_gnet_turns[WEFT_GNET_TURNS_KINDS];

struct weft_gnet_conf {
    uint32_t turns;                       ///< enum weft_gnet_turns_kind
    uint64_t minimal_max, nonminimal_max; ///< candidates that a table entry has room for
};
extern const struct weft_param_table weft_gnet_table;

/// Ports by which a cell may go on. In minimal modes those of `minimal` only.
struct weft_gnet_set {
    uint64_t minimal, nonminimal;
};
/// Ports by which it may escape: `up` with the first escape VC, `down` with the second.
struct weft_gnet_escape {
    uint64_t up, down;
};

struct weft_gnet_tin_routes {
    uint16_t *set_of;                ///< [row * columns + column], see weft_gnet_at
    struct weft_gnet_set *set;       ///< 0: none
    uint16_t *escape_of;             ///< [(2 * others + phase) * tins + destination]
    struct weft_gnet_escape *escape; ///< 0: none
    uint32_t sets, escapes;
};

/// Tables of every TiN. A table has a column for each TiN of its own pod and for each other pod; a TiN that not all
/// TiNs of its pod can reach, because of failures, has a column of its own.
struct weft_gnet_routes {
    const struct weft_dragonfly *f;
    struct weft_arena *arena;
    uint32_t columns, places; ///< columns 0..places-1: TiNs of the own pod
    uint16_t *column_of;      ///< [tins] of a destination, seen from other pods
    struct weft_gnet_tin_routes *tin;
};

/// `down` (bool per link, or NULL): out of service. A cell's destination is reached in every mode by the sets of any of
/// its states; if it cannot be, the set is empty.
struct weft_gnet_routes *weft_gnet_routes_new(const struct weft_topology *t, const struct weft_dragonfly *f,
                                              const struct weft_gnet_conf *conf, const bool *down);
void weft_gnet_routes_free(struct weft_gnet_routes *routes);

enum { WEFT_GNET_ROWS = WEFT_GNET_INPUTS * WEFT_GNET_ROUTING_VCS };

/// The candidates at `tin` of a cell that came by a port of class `input` (weft_tin: input[port], or
/// WEFT_GNET_TERMINAL) with routing VC `vc` (0..2; 0 at a terminal), for `dst`, which is not `tin`. It must not leave
/// by weft_tin: back[port], and leaves with weft_gnet_next_vc.
static inline const struct weft_gnet_set *weft_gnet_at(const struct weft_gnet_routes *r, uint32_t tin,
                                                       enum weft_gnet_input input, uint32_t vc, uint32_t dst) {
    const struct weft_tin *to = &r->f->tin[dst];
    const struct weft_gnet_tin_routes *own = &r->tin[tin];
    uint32_t column = to->pod == r->f->tin[tin].pod ? to->place : r->column_of[dst];
    return &own->set[own->set_of[((uint32_t)input * WEFT_GNET_ROUTING_VCS + vc) * r->columns + column]];
}

static inline uint32_t weft_gnet_next_vc(enum weft_gnet_input input, uint32_t vc) {
    return vc + (input == WEFT_GNET_INTER_POD);
}

/// The ways out for a cell that has no candidate left, or that is on its escape already. `phase` 0: it has a routing VC
/// or the first escape VC; 1: the second. From here on it stays with escape VCs. The shortest, or `others`, if the
/// links of all these have failed.
static inline const struct weft_gnet_escape *weft_gnet_escape_at(const struct weft_gnet_routes *r, uint32_t tin,
                                                                 uint32_t phase, bool others, uint32_t dst) {
    const struct weft_gnet_tin_routes *own = &r->tin[tin];
    return &own->escape[own->escape_of[((others ? 2 : 0) + phase) * r->f->tins + dst]];
}

/// Bit number n of those set in a mask, from 0. Of four it takes no loop, which could not be foreseen.
static inline uint32_t weft_gnet_nth(uint64_t mask, uint32_t n) {
    mask &= mask - (n > 0);
    mask &= mask - (n > 1);
    mask &= mask - (n > 2);
    while (__builtin_expect(n > 3, 0)) {
        mask &= mask - 1;
        n--;
    }
    return (uint32_t)__builtin_ctzll(mask);
}
