// SPDX-License-Identifier: Apache-2.0
// How NCCL divides sends and receives: channels a peer by path, parts by size. Source: NVIDIA/nccl 2.30.7,
// src/graph/paths.cc (ncclTopoComputeP2pChannels), src/enqueue.cc (parts, chunks, LL). Differs: all peers are taken to
// be over the network as soon as there are several servers, and then none has LL.
#include "weft/nccl.h"

enum { NVLINK_STEP = 524288, OTHER_STEP = 131072, LL_PART_MAX = 16384, LL_CHUNK = 32768, AT_ONCE = 8 };
#define NIC_GBPS_A_CHANNEL 14.

static uint32_t power_from(double n) {
    uint32_t power = 1;
    while (power < n)
        power *= 2;
    return power;
}

/// Channels that a peer may have.
static uint32_t channels_a_peer(const struct weft_nccl_machine *m, uint32_t channels) {
    double links = m->nvlink_GBps / weft_nccl_link_GBps[m->generation], inside = m->nvlink_GBps > 0 ? 2 * links : 2;
    double nics = m->nics > m->gpus ? (double)m->nics / m->gpus : 1, outside = m->nic_GBps / NIC_GBPS_A_CHANNEL;
    if (outside < nics) outside = nics;
    uint32_t n = power_from(m->nodes == 1 || (m->gpus > 1 && inside < outside) ? inside : outside);
    uint32_t rounds = (m->nodes * m->gpus + AT_ONCE - 1) / AT_ONCE;
    while (m->nodes > 1 && n > 1 && n * rounds > channels)
        n /= 2;
    return n < channels ? n : channels;
}

struct weft_nccl_exchange weft_nccl_exchange(const struct weft_nccl_machine *m, uint32_t peers, weft_bytes bytes) {
    struct weft_nccl_exchange x = {.channels = power_from(weft_nccl_graph(m, WEFT_NCCL_RING).connected),
                                   .protocol = WEFT_NCCL_SIMPLE};
    uint32_t most = channels_a_peer(m, x.channels), parts = most;
    weft_bytes step = m->nodes == 1 && m->nvlink_GBps > 0 ? NVLINK_STEP : OTHER_STEP;
    weft_bytes least = step / (m->nodes > 1 ? 2 : 8), largest = step * (m->nodes > 1 ? 1 : 32);
    while (parts > 1 && parts * m->nodes * m->gpus > x.channels)
        parts /= 2;
    weft_bytes part = (bytes + parts - 1) / parts;
    if (part < least) part = least;
    for (; part > largest && 2 * parts <= most; part = (bytes + parts - 1) / parts)
        parts *= 2;
    x.peer_channels = bytes > part ? (uint32_t)((bytes + part - 1) / part) : 1;
    if (part > bytes) part = bytes;
    bool network = m->nodes > 1; // within a server a chunk is a whole step
    x.chunk_bytes = !network || bytes >= 8 * step ? step : bytes < step ? step / 4 : step / 2;
    if (m->nodes == 1 && part <= LL_PART_MAX) {
        x.protocol = WEFT_NCCL_LL;
        x.chunk_bytes = LL_CHUNK;
    }
    x.at_once = (uint32_t)(((uint64_t)peers * x.peer_channels + x.channels - 1) / x.channels);
    if (x.at_once > AT_ONCE) x.at_once = AT_ONCE;
    if (!x.at_once) x.at_once = 1;
    return x;
}
