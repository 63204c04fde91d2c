// SPDX-License-Identifier: Apache-2.0
// The channels that NCCL finds in a server for an algorithm: how many, and at which rate each. NCCL searches paths
// through the server for a list of rates, highest first, and keeps the rate at which the channels together carry most.
// Here a GPU's NVLink (or PCIe) and the NICs are the only limits, so what NCCL searches for is a quotient. Source:
// NVIDIA/nccl 2.30.7, src/graph/search.cc (rates), src/graph/connect.cc (doubling). Differs: paths through CPUs and
// PCIe switches are not searched; the rates within a server and between servers are equal.
#include "weft/nccl.h"

enum { CHANNELS_MAX = 32, CONNECTED_MAX = 64 };

/// Rates that NCCL tries for a channel, ending with 0. [generation from Ampere on][several servers]
static const double rates[3][2][20] = {
    {{40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3}, {48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2}},
    {{60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3},
     {48, 45, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, .24, .12}},
    {{90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18},
     {96, 86, 80, 48, 45.1, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2}},
};

static const double *rates_of(const struct weft_nccl_machine *m) {
    uint32_t row = m->generation <= WEFT_NCCL_AMPERE ? 0 : m->generation == WEFT_NCCL_HOPPER ? 1 : 2;
    return rates[row][m->nodes > 1];
}

/// How many parts of this rate fit in the total.
static uint32_t fit_in(double total, double part) {
    return (uint32_t)(total / part + 1e-9);
}

/// How many channels of this rate fit.
static uint32_t channels_at(const struct weft_nccl_machine *m, double rate) {
    uint32_t inside = m->gpus > 1 ? fit_in(m->nvlink_GBps > 0 ? m->nvlink_GBps : m->pcie_GBps, rate) : CHANNELS_MAX;
    uint32_t outside = m->nodes > 1 ? m->nics * fit_in(m->nic_GBps, rate) : CHANNELS_MAX;
    uint32_t n = inside < outside ? inside : outside;
    return n < CHANNELS_MAX ? n : CHANNELS_MAX;
}

static struct weft_nccl_graph search_ring(const struct weft_nccl_machine *m) {
    struct weft_nccl_graph best = {0};
    for (const double *rate = rates_of(m); *rate > 0; rate++) {
        uint32_t n = channels_at(m, *rate);
        if (n * *rate > best.channels * best.intra_GBps) best = (struct weft_nccl_graph){n, 0, *rate, *rate};
    }
    bool newer = m->generation >= WEFT_NCCL_HOPPER;
    if (best.intra_GBps >= 25 && !(newer && best.intra_GBps < 50 && best.channels > 4) &&
        2 * best.channels <= CHANNELS_MAX) {
        best.channels *= 2;
        best.intra_GBps /= 2;
        best.inter_GBps /= 2;
    }
    best.connected = 2 * best.channels;
    if (newer && m->nodes > 1 && best.intra_GBps > 45 && best.connected < 16) best.connected *= 2;
    return best;
}

/// With NVLS every GPU, or 32 of them, is the head of one channel, and reduces its part of the data.
static struct weft_nccl_graph search_nvls(const struct weft_nccl_machine *m) {
    struct weft_nccl_graph graph = {0};
    uint32_t heads = m->gpus < WEFT_NCCL_HEADS_MAX ? m->gpus : WEFT_NCCL_HEADS_MAX;
    for (const double *rate = rates_of(m); *rate > 0 && !graph.channels; rate++)
        if (channels_at(m, *rate) >= heads) graph = (struct weft_nccl_graph){heads, 0, *rate, *rate};
    bool hopper = m->generation == WEFT_NCCL_HOPPER;
    if (graph.channels) graph.connected = hopper ? 16 : m->nodes == 1 || (m->nodes > 2 && m->nic_GBps <= 50) ? 24 : 32;
    return graph;
}

struct weft_nccl_graph weft_nccl_graph(const struct weft_nccl_machine *m, enum weft_nccl_algorithm algorithm) {
    bool nvls = algorithm == WEFT_NCCL_NVLS || algorithm == WEFT_NCCL_NVLS_TREE;
    struct weft_nccl_graph none = {0};
    if (nvls && (!m->nvls || m->generation < WEFT_NCCL_HOPPER || m->gpus < 2)) return none;
    struct weft_nccl_graph graph = nvls ? search_nvls(m) : search_ring(m);
    uint32_t most = m->max_ctas && m->max_ctas < CONNECTED_MAX ? m->max_ctas : CONNECTED_MAX;
    if (!nvls && graph.channels && graph.connected < m->min_ctas) graph.connected = m->min_ctas;
    if (graph.connected > most) graph.connected = most;
    return graph;
}
