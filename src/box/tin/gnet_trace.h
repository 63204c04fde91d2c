// SPDX-License-Identifier: Apache-2.0
// Notes of a cell switch on cells with the trace bit set. A cell carries no number. Inputs and outputs are FIFOs per
// virtual channel, so the first cell noted there is the one that leaves; and no two cells arrive over a link at the
// same time, so the collector can identify a cell at the next TiN.
#pragma once

#include "box/tin/cell_path.h"
#include "box/tin/gnet_cell.h"
#include "weft/random.h"

/// A traced cell in the TiN: at an input or, after crossing, at an output.
struct weft__gnet_visit {
    struct weft_cell_hop hop;
    uint8_t port, vc;
    bool crossed;
};

struct weft__gnet_tracer {
    uint64_t one_in, until_next; ///< how many cells endpoints send before the next marked one
    struct weft_random random;
    struct weft__gnet_visit *visit; ///< by time
    uint32_t visits, visit_capacity;
    struct weft_cell_hop *hop;
    uint32_t hops, hop_capacity, hops_max;
    uint64_t unnoted;
    uint32_t node;
};

/// An endpoint sends a cell by `port`, which may be marked.
void weft__gnet_trace_send(struct weft__gnet_tracer *tracer, weft_time_ps now, uint32_t port, struct weft_packet *cell);
/// A traced cell arrived over a link.
void weft__gnet_trace_come(struct weft__gnet_tracer *tracer, weft_time_ps now, uint32_t port,
                           const struct weft_packet *cell);
/// The first one that an endpoint sent by `port` with a VC enters the switch with another (tin.endpoint_vcs).
void weft__gnet_trace_enter(struct weft__gnet_tracer *tracer, uint32_t port, uint32_t vc, uint32_t entry_vc);
/// The first one of a VC at an input crosses to an output, and gets another VC there; `ends`: an endpoint.
void weft__gnet_trace_cross(struct weft__gnet_tracer *tracer, uint32_t in, uint32_t vc, uint32_t out, uint32_t out_vc,
                            bool ends);
/// The first one of a VC at an output leaves at `now`. next_ps: when it reaches the next TiN, never at an endpoint.
void weft__gnet_trace_leave(struct weft__gnet_tracer *tracer, weft_time_ps now, uint32_t port, uint32_t vc,
                            weft_time_ps next_ps);
/// The first one of a VC at an input (or, if `crossed`, at an output) is lost.
void weft__gnet_trace_lose(struct weft__gnet_tracer *tracer, weft_time_ps now, bool crossed, uint32_t port, uint32_t vc,
                           uint8_t reason);
/// Notes cells that are still in the TiN as in progress.
void weft__gnet_trace_finish(struct weft__gnet_tracer *tracer);
void weft__gnet_tracer_init(struct weft__gnet_tracer *tracer, uint64_t one_in, uint64_t hops_max, uint32_t node,
                            uint64_t seed, uint32_t who);
void weft__gnet_tracer_deinit(struct weft__gnet_tracer *tracer);
