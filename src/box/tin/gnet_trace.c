// SPDX-License-Identifier: Apache-2.0
#include "box/tin/gnet_trace.h"

#include <assert.h>
#include <string.h>

#include "base/grow.h"
#include "weft/memory.h"

enum { FIRST = 64 };

/// Between 1 and 2 x one_in - 1, so that sampling does not align with a period of the traffic.
static uint64_t draw_sample(struct weft__gnet_tracer *tracer) {
    if (!tracer->one_in) return UINT64_MAX;
    return 1 + weft_random_below(&tracer->random, 2 * tracer->one_in - 1);
}

void weft__gnet_tracer_init(struct weft__gnet_tracer *tracer, uint64_t one_in, uint64_t hops_max, uint32_t node,
                            uint64_t seed, uint32_t who) {
    *tracer = (struct weft__gnet_tracer){
        .one_in = one_in,
        .random = weft_random_stream(seed, who, WEFT_RANDOM_CELL_TRACE),
        .hops_max = (uint32_t)hops_max,
        .node = node,
    };
    tracer->until_next = draw_sample(tracer);
}

void weft__gnet_tracer_deinit(struct weft__gnet_tracer *tracer) {
    weft_memory_free(WEFT_MEMORY_SERIES, tracer->visit, tracer->visit_capacity * sizeof *tracer->visit);
    weft_memory_free(WEFT_MEMORY_SERIES, tracer->hop, tracer->hop_capacity * sizeof *tracer->hop);
}

static void add_visit(struct weft__gnet_tracer *tracer, weft_time_ps now, uint32_t port, bool sent,
                      const struct weft_packet *cell) {
    tracer->visit = weft__memory_double(WEFT_MEMORY_SERIES, tracer->visit, tracer->visits, &tracer->visit_capacity,
                                        FIRST, sizeof *tracer->visit);
    enum weft__cell_type type = weft__gnet_type(cell);
    tracer->visit[tracer->visits++] = (struct weft__gnet_visit){
        .hop = {.in_ps = now,
                .next_ps = WEFT_TIME_NEVER,
                .node = tracer->node,
                .qp = type == WEFT__GNET_RTS || type == WEFT__GNET_DATA ? cell->qp : WEFT_NONE,
                .to = (uint16_t)weft__gnet_to(cell),
                .port_in = sent ? WEFT_CELL_ENDPOINT : (uint16_t)port,
                .port_out = WEFT_CELL_ENDPOINT,
                .wire = (uint16_t)weft__gnet_wire(cell),
                .vc_in = (uint8_t)weft__gnet_vc(cell),
                .vc_out = (uint8_t)weft__gnet_vc(cell),
                .hops = (uint8_t)weft__gnet_hops(cell),
                .type = (uint8_t)type},
        .port = (uint8_t)port,
        .vc = (uint8_t)weft__gnet_vc(cell),
    };
}

void weft__gnet_trace_send(struct weft__gnet_tracer *tracer, weft_time_ps now, uint32_t port,
                           struct weft_packet *cell) {
    if (!--tracer->until_next) {
        tracer->until_next = draw_sample(tracer);
        cell->entropy = (cell->entropy | 1u << WEFT__GNET_TRACE_AT) & 0x3fffu;
    }
    if (weft__gnet_is_traced(cell)) add_visit(tracer, now, port, true, cell);
}

void weft__gnet_trace_come(struct weft__gnet_tracer *tracer, weft_time_ps now, uint32_t port,
                           const struct weft_packet *cell) {
    add_visit(tracer, now, port, false, cell);
}

static struct weft__gnet_visit *first_at(const struct weft__gnet_tracer *tracer, bool crossed, uint32_t port,
                                         uint32_t vc) {
    uint32_t i = 0;
    while (i < tracer->visits &&
           (tracer->visit[i].crossed != crossed || tracer->visit[i].port != port || tracer->visit[i].vc != vc))
        i++;
    assert(i < tracer->visits);
    return &tracer->visit[i];
}

void weft__gnet_trace_enter(struct weft__gnet_tracer *tracer, uint32_t port, uint32_t vc, uint32_t entry_vc) {
    first_at(tracer, false, port, vc)->vc = (uint8_t)entry_vc;
}

void weft__gnet_trace_cross(struct weft__gnet_tracer *tracer, uint32_t in, uint32_t vc, uint32_t out, uint32_t out_vc,
                            bool ends) {
    struct weft__gnet_visit *v = first_at(tracer, false, in, vc), crossed = *v;
    crossed.crossed = true;
    crossed.port = (uint8_t)out;
    crossed.vc = crossed.hop.vc_out = (uint8_t)out_vc;
    crossed.hop.port_out = ends ? WEFT_CELL_ENDPOINT : (uint16_t)out;
    memmove(v, v + 1, (size_t)(tracer->visit + tracer->visits - (v + 1)) * sizeof *v); // last of those at its output
    tracer->visit[tracer->visits - 1] = crossed;
}

static void note_hop(struct weft__gnet_tracer *tracer, const struct weft_cell_hop *hop) {
    if (tracer->hops == tracer->hops_max) {
        tracer->unnoted++;
        return;
    }
    WEFT__ADD_DOUBLE(WEFT_MEMORY_SERIES, tracer->hop, tracer->hops, tracer->hop_capacity, FIRST) = *hop;
}

static void end_visit(struct weft__gnet_tracer *tracer, struct weft__gnet_visit *v) {
    note_hop(tracer, &v->hop);
    memmove(v, v + 1, (size_t)(tracer->visit + tracer->visits - (v + 1)) * sizeof *v);
    tracer->visits--;
}

void weft__gnet_trace_leave(struct weft__gnet_tracer *tracer, weft_time_ps now, uint32_t port, uint32_t vc,
                            weft_time_ps next_ps) {
    struct weft__gnet_visit *v = first_at(tracer, true, port, vc);
    v->hop.out_ps = now;
    v->hop.next_ps = next_ps;
    v->hop.end = next_ps == WEFT_TIME_NEVER ? WEFT_CELL_END_ARRIVED : WEFT_CELL_END_GONE_ON;
    end_visit(tracer, v);
}

void weft__gnet_trace_lose(struct weft__gnet_tracer *tracer, weft_time_ps now, bool crossed, uint32_t port, uint32_t vc,
                           uint8_t reason) {
    struct weft__gnet_visit *v = first_at(tracer, crossed, port, vc);
    v->hop.out_ps = now;
    v->hop.end = WEFT_CELL_END_LOST;
    v->hop.drop = reason;
    end_visit(tracer, v);
}

void weft__gnet_trace_finish(struct weft__gnet_tracer *tracer) {
    for (; tracer->visits; end_visit(tracer, tracer->visit)) {
        tracer->visit->hop.end = WEFT_CELL_END_UNDER_WAY;
        tracer->visit->hop.out_ps = WEFT_TIME_NEVER;
    }
}
