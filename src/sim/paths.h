// SPDX-License-Identifier: Apache-2.0
// Queue pairs as the whole network numbers them, and the ideal time of a flow that is alone.
#pragma once

#include "box/network.h"
#include "sim/lone.h"

/// The entropy of the k-th queue pair from one host to another. With this naming, adding a flow does not change the
/// entropy of flows to elsewhere. Two destinations may get the same value; ECMP hashes the destination as well. `conf`:
/// of the host.
static inline uint16_t weft__qp_entropy(const struct weft_host_conf *conf, uint64_t seed, uint32_t src, uint64_t k) {
    if (conf->source_port == WEFT_SOURCE_PORT_NUMBERED) return k & 0x3fff;
    struct weft_random entropy = weft_random_stream(seed, src, WEFT_RANDOM_ENTROPY);
    entropy.drawn = conf->source_port == WEFT_SOURCE_PORT_HOST_PAIR ? 0 : k;
    return weft_random_u64(&entropy) & 0x3fff;
}
/// The entropy of queue pair q of a flow, with that many queue pairs between its hosts before it. If the flow names a
/// port, the entropy is in its lower 14 bits.
static inline uint16_t weft__flow_entropy(const struct weft_host_conf *conf, uint64_t seed,
                                          const struct weft_flow *flow, uint64_t before, uint32_t q) {
    if (flow->source_port) return (flow->source_port + q) & 0x3fff;
    return weft__qp_entropy(conf, seed, flow->src, before + q);
}
/// The numbers of queue pairs, in `arena`. Each NIC counts its own in the order of the flows. `laid` [flows]: so many
/// of each flow, the first ones; NULL: all.
const struct weft_qp_numbers *weft__qp_numbers(const struct weft_workload *workload, uint32_t hosts,
                                               const uint16_t *laid, struct weft_arena *arena);

/// Like weft_paths_trace. `back`: the path of acknowledgements instead of data.
struct weft_path *weft__paths_trace(const struct weft_scenario *scenario, const struct weft_topology *topology,
                                    const struct weft_workload *workload, bool back, struct weft_arena *arena,
                                    uint64_t *ret_paths);

/// Completion time of a flow alone in the empty network, from first principles: pipelined frames over its path, with
/// all links up, as its sender's first queue pair would be routed. `*lone`: NULL at first; freed by the caller.
weft_time_ps weft__calc_ideal_fct(const struct weft__forwarding *forwarding, struct weft__lone **lone,
                                  const struct weft__lone_flow *flow);
