// SPDX-License-Identifier: Apache-2.0
// The ideal completion time of one flow, without a run.
#pragma once

#include "sim/paths.h"
#include "weft/memory.h"
#include "weft/sim.h"

static inline weft_time_ps calc_ideal_fct(const struct weft_scenario *scenario, const struct weft_topology *topology,
                                          const struct weft_flow *flow) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    struct weft_routes *routes = weft_routes_new(topology, NULL);
    struct weft__forwarding forwarding =
        weft__forwarding_new(topology, weft_device_confs(scenario, topology, arena), routes, scenario->run.seed, arena);
    const struct weft_host_conf *conf = &forwarding.device[topology->host[flow->src]]->host;
    struct weft__lone_flow f = {.flow = flow, .planes = weft__planes(topology, forwarding.device)};
    struct weft_qp_conf *qp = weft_arena_alloc(arena, flow->qps, sizeof *qp);
    struct weft_qp_numbers *numbers = weft_arena_alloc(arena, flow->qps, sizeof *numbers);
    for (uint32_t q = 0; q < flow->qps && q < flow->bytes; q++) {
        numbers[q] = (struct weft_qp_numbers){.at_src = weft_address_qp(q),
                                              .at_dst = weft_address_qp(q),
                                              .src = flow->src,
                                              .dst = flow->dst,
                                              .destination_port = flow->destination_port};
        qp[q] = (struct weft_qp_conf){.src = flow->src,
                                      .dst = flow->dst,
                                      .bytes = flow->bytes / flow->qps + (q < flow->bytes % flow->qps),
                                      .at_src = q,
                                      .at_dst = q,
                                      .mtu = (uint16_t)conf->mtu_bytes,
                                      .entropy = weft__flow_entropy(conf, scenario->run.seed, flow, 0, q),
                                      .priority = flow->priority,
                                      .verb = flow->verb};
        qp[q].packets = (uint32_t)((qp[q].bytes + qp[q].mtu - 1) / qp[q].mtu);
        f.qps++;
    }
    f.qp = qp;
    forwarding.qp_numbers = numbers;
    struct weft__lone *lone = NULL;
    weft_time_ps time = weft__calc_ideal_fct(&forwarding, &lone, &f);
    weft__lone_free(lone);
    weft_routes_free(routes);
    weft_arena_free(arena);
    return time;
}
