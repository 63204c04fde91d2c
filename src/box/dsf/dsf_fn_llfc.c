// SPDX-License-Identifier: Apache-2.0
// The DSF fabric node in a fabric with link-level flow control. A cell that joins a FIFO holding more than the
// threshold stops the lane by which it arrived until the FIFO has shrunk. Several FIFOs may stop one lane; it continues
// when none of them does. With n lanes that feed a FIFO and a loop (signal, reaction, propagation of a cell) of d
// cells, the FIFO holds at most the threshold plus n x d cells.
//
// Sources: OpenBCM 6.5.24, FBOSS (LLFC threshold of fabric ports, in cells of a FIFO). Assumed: which FIFOs and lanes
// take part, the hysteresis, and that cells are spread over stopped lanes as over others.
#include "box/dsf/dsf_fn.h"

#include <assert.h>

static void stop_lane(struct weft__fn *fn, struct weft__worker *w, uint32_t in, uint32_t out) {
    struct weft__fn_llfc *l = fn->llfc;
    uint64_t *word = &l->stops[out * l->words + in / 64], bit = UINT64_C(1) << in % 64;
    if (*word & bit) return;
    *word |= bit;
    l->count++;
    if (!l->stopped[in]++) weft__lane_signal(&fn->lanes, in, w, true);
}

/// The FIFO of `out` may have shrunk enough to restart lanes.
static void review_stops(struct weft__fn *fn, struct weft__worker *w, uint32_t out) {
    struct weft__fn_llfc *l = fn->llfc;
    if (l->queues.queue[out].cells > fn->conf->llfc_go_cells) return;
    for (uint32_t k = 0; k < l->words; k++) {
        uint64_t *word = &l->stops[out * l->words + k];
        for (uint64_t bits = *word; bits; bits &= bits - 1) {
            uint32_t in = k * 64 + (uint32_t)__builtin_ctzll(bits);
            assert(l->stopped[in]);
            if (!--l->stopped[in]) weft__lane_signal(&fn->lanes, in, w, false);
        }
        *word = 0;
    }
}

static void on_data(struct weft__node *node, struct weft__fn *fn, struct weft__worker *w, struct weft_packet *p,
                    uint32_t out) {
    struct weft__fn_llfc *l = fn->llfc;
    uint32_t cells = l->queues.queue[out].cells, in = p->port;
    if (cells >= fn->conf->fifo_cells) {
        weft__fn_lose(fn, w, p, out, WEFT_DROP_FABRIC_FIFO, &fn->dropped);
        return;
    }
    if (cells >= fn->conf->mark_cells) {
        weft__cell_mark(p, cells, fn->conf->mark_cells);
        fn->marked++;
    }
    weft__lane_queue_send(&l->queues, node, w, out, p);
    if (fn->conf->llfc && l->queues.queue[out].cells > fn->conf->llfc_stop_cells) stop_lane(fn, w, in, out);
}

static void on_cell(struct weft__node *node, struct weft__worker *w, struct weft_packet *p, uint64_t word) {
    struct weft__fn *fn = node->state;
    uint32_t out = (uint32_t)word;
    if (p->kind == WEFT_PACKET_LLFC) {
        weft__lane_queue_on_signal(&fn->llfc->queues, node, w, p->port, p);
        review_stops(fn, w, p->port);
    } else if (out == WEFT_NONE) {
        weft__fn_lose(fn, w, p, p->port, WEFT_DROP_NO_ROUTE, &fn->unreachable);
    } else if (weft__cell_is_control(p)) {
        weft__lane_send_control(&fn->lanes, &fn->lanes.lane[out], w, p);
    } else {
        on_data(node, fn, w, p, out);
    }
}

static void on_timer(struct weft__node *node, struct weft__worker *w, uint32_t lane) {
    struct weft__fn *fn = node->state;
    if (lane == weft__fn_key_sample(fn)) {
        weft__fn_on_sample(node, w);
        return;
    }
    weft__lane_queue_serve(&fn->llfc->queues, node, w, lane);
    review_stops(fn, w, lane);
}

static void llfc_prepare(struct weft__node *node, struct weft__arrival *arrival, uint32_t n, weft_time_ps end) {
    struct weft__fn *fn = node->state;
    for (uint32_t i = 0; i < n; i++) {
        const struct weft_packet *p = arrival[i].packet;
        bool signal = p->kind == WEFT_PACKET_LLFC;
        arrival[i].word = signal ? WEFT_NONE : weft__fn_lane(fn, p);
    }
}

static void llfc_run(struct weft__node *node, struct weft__worker *w, const struct weft__arrival *arrival, uint32_t n,
                     weft_time_ps end) {
    weft__node_run(node, w, arrival, n, end, on_cell, on_timer);
}

const struct weft__node_ops weft__fn_llfc_ops = {.fetch = weft__fn_fetch, .prepare = llfc_prepare, .run = llfc_run};

struct weft__fn_llfc *weft__fn_llfc_new(struct weft__fn *fn, const struct weft__fn_setup *setup) {
    struct weft__fn_llfc *l = weft_arena_alloc(setup->arena, 1, sizeof *l);
    l->words = (setup->ports + 63) / 64;
    l->stops = weft_arena_alloc(setup->arena, (size_t)setup->ports * l->words, sizeof *l->stops);
    l->stopped = weft_arena_alloc(setup->arena, setup->ports, sizeof *l->stopped);
    weft__lane_queues_init(&l->queues, &fn->lanes, 0, setup->pool, setup->arena);
    return l;
}
