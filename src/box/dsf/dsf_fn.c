// SPDX-License-Identifier: Apache-2.0
// The DSF fabric node: Ramon chips in an FDSW or SDSW; one node is one virtual device. It handles only cells: each
// leaves by one of the lanes that lead to its destination, in turn. It has no packets, no addresses, and no buffer
// beyond the FIFOs of its outputs. A cell that finds its output deep is marked (RCI), by one of three levels, and its
// destination interface node then grants credits more slowly.
//
// Sources: Broadcom's SDK for Ramon (OpenBCM 6.5.24: FIFO depths, RCI); FBOSS (Ramon3Asic: no packet buffer, one queue
// per port). Differences: one FIFO per lane, at the output, represents the FIFOs at inputs, in between and at outputs.
#include "box/dsf/dsf_fn.h"

#include "weft/memory.h"

void weft__fn_fetch(const struct weft__node *node, const struct weft__arrival *arrival, uint32_t n, weft_time_ps end) {
    const struct weft__fn *fn = node->state;
    for (uint32_t i = 0; i < n; i++)
        __builtin_prefetch(&fn->spray.set_of[weft__cell_to(arrival[i].packet)]);
}

/// The lane depends only on the cell and its time.
static void fn_prepare(struct weft__node *node, struct weft__arrival *arrival, uint32_t n, weft_time_ps end) {
    struct weft__fn *fn = node->state;
    for (uint32_t i = 0; i < n; i++) {
        const struct weft_packet *p = arrival[i].packet;
        uint32_t lane = weft__spray_pick(&fn->spray, p->time_ps, weft__cell_to(p));
        arrival[i].word = lane;
        if (lane != WEFT_NONE) __builtin_prefetch(&fn->lanes.lane[lane]);
    }
}

/// The same where parts of cells arrive, too.
static void fn_prepare_parts(struct weft__node *node, struct weft__arrival *arrival, uint32_t n, weft_time_ps end) {
    for (uint32_t i = 0; i < n; i++)
        arrival[i].word = weft__fn_lane(node->state, arrival[i].packet);
}

__attribute__((cold)) void weft__fn_lose(const struct weft__fn *fn, struct weft__worker *w, const struct weft_packet *p,
                                         uint32_t port, enum weft_drop reason, uint64_t *count) {
    if (fn->lanes.trace) weft__lanes_note_loss(&fn->lanes, w->now_ps, port, p, reason);
    *count += weft__cell_is_control(p) ? 1 : weft__cell_count(p);
    weft__count_lost_bytes(w, reason, p->bytes);
}

static inline void on_cell(struct weft__node *node, struct weft__worker *w, struct weft_packet *p, uint64_t word) {
    struct weft__fn *fn = node->state;
    uint32_t out = (uint32_t)word;
    if (__builtin_expect(out == WEFT_NONE, 0)) {
        weft__fn_lose(fn, w, p, p->port, WEFT_DROP_NO_ROUTE, &fn->unreachable);
        return;
    }
    struct weft__cell_lane *lane = &fn->lanes.lane[out];
    if (weft__cell_is_control(p)) {
        weft__lane_send_control(&fn->lanes, lane, w, p);
        return;
    }
    weft_time_ps wait = weft__lane_wait(lane, w->now_ps), cell = fn->lanes.rate[lane->rate].cell_ps;
    if (__builtin_expect(wait >= fn->watch_cells * cell, 0)) {
        if (wait >= fn->conf->fifo_cells * cell) {
            weft__fn_lose(fn, w, p, out, WEFT_DROP_FABRIC_FIFO, &fn->dropped);
            return;
        }
        if (wait >= fn->conf->mark_cells * cell) {
            weft__cell_mark(p, wait, fn->conf->mark_cells * cell);
            fn->marked++;
        }
    }
    weft__lane_send(&fn->lanes, lane, w, p, wait);
}

void weft__fn_on_sample(struct weft__node *node, struct weft__worker *w) {
    struct weft__fn *fn = node->state;
    const struct weft__lane_queues *queues = fn->llfc ? &fn->llfc->queues : NULL;
    for (uint32_t k = 0; k < fn->lanes.n; k++)
        if (fn->sampled[k]) weft__lane_sample(&fn->lanes, queues, k, w, fn->port0 + k);
    weft__timer_set(&node->timers, weft__fn_key_sample(fn), weft__sampling_next(&fn->sampling, w->now_ps));
    weft__node_looked(w);
}

static void on_timer(struct weft__node *node, struct weft__worker *w, uint32_t key) {
    weft__fn_on_sample(node, w);
}

static void fn_run(struct weft__node *node, struct weft__worker *w, const struct weft__arrival *arrival, uint32_t n,
                   weft_time_ps end) {
    weft__node_run(node, w, arrival, n, end, on_cell, on_timer);
}

static const struct weft__node_ops fn_ops = {.fetch = weft__fn_fetch, .prepare = fn_prepare, .run = fn_run};
static const struct weft__node_ops ops_parts = {.fetch = weft__fn_fetch, .prepare = fn_prepare_parts, .run = fn_run};

struct weft__fn *weft__fn_new(const struct weft__fn_setup *setup, struct weft__node *node) {
    struct weft__fn *fn = weft__arena_lines(setup->arena, 1, sizeof *fn);
    uint16_t *slot = weft_arena_alloc(setup->arena, setup->ports, sizeof *slot);
    for (uint32_t k = 0; k < setup->ports; k++)
        slot[k] = (uint16_t)k;
    fn->conf = setup->conf;
    fn->watch_cells = fn->conf->mark_cells < fn->conf->fifo_cells ? fn->conf->mark_cells : fn->conf->fifo_cells;
    fn->lanes.n = setup->ports;
    fn->lanes.cells = &setup->seen->fabric_cells;
    fn->lanes.lane = weft__arena_lines(setup->arena, setup->ports, sizeof *fn->lanes.lane);
    weft__spray_init(&fn->spray, setup->eligible, setup->ins, slot, setup->conf->spray == WEFT_SPRAY_PERMUTATION,
                     setup->seed, setup->who, setup->arena);
    if (setup->events_max)
        weft__lanes_record(
            &fn->lanes,
            weft__trace_new_of_lanes(setup->node, setup->port0, setup->ports, setup->events_max, setup->arena), slot,
            setup->ports, setup->arena);
    node->ops = setup->packing ? &ops_parts : &fn_ops;
    node->state = fn;
    fn->last = weft_arena_alloc(setup->arena, setup->ports, sizeof *fn->last);
    for (uint32_t k = 0; k < setup->ports; k++)
        fn->last[k].to = WEFT_NONE;
    if (setup->pool) {
        fn->llfc = weft__fn_llfc_new(fn, setup);
        node->ops = &weft__fn_llfc_ops;
    }
    weft__timers_init(&node->timers, weft__fn_key_sample(fn) + 1);
    fn->sampled = setup->sampled;
    fn->sampling = setup->sampling;
    fn->port0 = setup->port0;
    if (fn->sampled) weft__timer_set(&node->timers, weft__fn_key_sample(fn), 0);
    return fn;
}

weft_bytes weft__fn_held(const void *state) {
    const struct weft__fn *fn = state;
    return fn->llfc ? weft__lane_queues_held(&fn->llfc->queues) : 0; // otherwise a cell in a FIFO is already in flight
}

void weft__fn_finish(struct weft__fn *fn, weft_time_ps now, struct weft_dsf_outcome *sum) {
    struct weft_dsf_outcome counts = {
        .cells_lost = fn->lanes.lost,
        .cells_dropped = fn->dropped,
        .cells_marked = fn->marked,
        .cells_unreachable = fn->unreachable,
    };
    if (fn->llfc) {
        weft__lane_queues_finish(&fn->llfc->queues, now);
        counts.llfc_stops = fn->llfc->count;
        counts.llfc_stopped_ps = fn->llfc->queues.stopped_ps;
    }
    weft__dsf_sum(sum, &counts);
}
