// SPDX-License-Identifier: Apache-2.0
// The DSF fabric node (FN). See dsf_fn.c.
#pragma once

#include "box/dsf/dsf_llfc.h"

/// Which FIFOs stop which lanes.
struct weft__fn_llfc {
    struct weft__lane_queues queues;
    uint64_t *stops;   ///< [out * words]: the lanes that the FIFO of `out` has stopped
    uint16_t *stopped; ///< [in]: how many FIFOs have stopped it
    uint32_t words;
    uint64_t count;
};

/// Where the last cell went, and by which lane.
struct weft__fn_last {
    uint32_t to, lane;
};

struct weft__fn {
    struct weft__spray spray;
    const struct weft_fabric_conf *conf;
    uint64_t watch_cells;       ///< a cell that finds this many is marked or lost
    struct weft__lanes lanes;   ///< all its ports
    uint64_t dropped;           ///< cells dropped for lack of room
    uint64_t marked;            ///< cells
    uint64_t unreachable;       ///< cells that no lane leads on
    struct weft__fn_llfc *llfc; ///< NULL: lanes are not queues
    struct weft__fn_last *last; ///< [ports]: the last cell from there; kept only with packing
    const bool *sampled;        ///< [ports]; NULL: none
    struct weft__sampling sampling;
    uint32_t port0;
};
/// The timer of samples comes after those of lanes that are queues.
static inline uint32_t weft__fn_key_sample(const struct weft__fn *fn) {
    return fn->llfc ? fn->lanes.n : 0;
}

struct weft__fn_setup {
    const struct weft_fabric_conf *conf;
    const struct weft_eligible_box *eligible;
    uint32_t ports, ins, who;
    uint64_t seed;
    bool packing;        ///< some interface node of the fabric packs
    const bool *sampled; ///< [ports]; NULL: none
    struct weft__sampling sampling;
    uint32_t node, port0, events_max;
    struct weft_dsf_histograms *seen; ///< of its worker
    struct weft_packet_pool *pool;    ///< if any box of the fabric has link-level flow control; else NULL
    struct weft_arena *arena;
};

/// Adds its counts to the sum.
void weft__fn_finish(struct weft__fn *fn, weft_time_ps now, struct weft_dsf_outcome *sum);
weft_bytes weft__fn_held(const void *state);
/// When the timer of samples fires.
void weft__fn_on_sample(struct weft__node *node, struct weft__worker *w);
/// A cell is lost here, at this port.
void weft__fn_lose(const struct weft__fn *fn, struct weft__worker *w, const struct weft_packet *cell, uint32_t port,
                   enum weft_drop reason, uint64_t *count);

void weft__fn_fetch(const struct weft__node *node, const struct weft__arrival *arrival, uint32_t n, weft_time_ps end);

/// The lane for a cell, or for a part of the cell that arrived before it. Downstream of another box, that previous cell
/// may belong to another input there and have come in between; then the part uses a lane of its own.
static inline uint32_t weft__fn_lane(struct weft__fn *fn, const struct weft_packet *p) {
    uint32_t to = weft__cell_to(p);
    if (weft__cell_is_control(p)) return weft__spray_pick(&fn->spray, p->time_ps, to);
    struct weft__fn_last *last = &fn->last[p->port];
    if (!weft__cell_is_part(p) || last->to != to)
        *last = (struct weft__fn_last){.to = to, .lane = weft__spray_pick(&fn->spray, p->time_ps, to)};
    return last->lane;
}

// dsf_fn_llfc.c
extern const struct weft__node_ops weft__fn_llfc_ops;
struct weft__fn_llfc *weft__fn_llfc_new(struct weft__fn *fn, const struct weft__fn_setup *setup);
/// The caller connects its lanes. Initialises the node's timers.
struct weft__fn *weft__fn_new(const struct weft__fn_setup *setup, struct weft__node *node);
