// SPDX-License-Identifier: Apache-2.0
// NCCL's tuning model: for each algorithm and protocol a latency and a rate from the machine's channels, of which the
// least time for the size wins; then the number of channels and threads, and the chunk, by size. Source: NVIDIA/nccl
// 2.30.7, src/graph/tuning.cc (model and tables), src/enqueue.cc (channels, threads, chunks); of 2.26.2 the model of
// NVLS, and the caps of Blackwell. Differs: CollNet is left out, because it needs a plug-in.
#include <math.h>

#include "weft/nccl.h"

enum { STEPS = 8, LL_THREADS = 512, LL128_THREADS = 640, SIMPLE_THREADS = 512, SIMPLE_STEP = 524288, LL_CHUNK = 32768 };
enum { LL128_CHUNK = 576000, SIZES = 24, STEP_KINDS = 3 };

const char *const weft_nccl_algorithm_names[] = {"tree", "ring", "nvls", "nvlstree", "pat", NULL};
const char *const weft_nccl_protocol_names[] = {"ll", "ll128", "simple", NULL};
const char *const weft_nccl_generation_names[] = {"volta", "ampere", "hopper", "blackwell", NULL};
const char *const weft_nccl_cpu_names[] = {"intel", "amd", "arm", NULL};

const double weft_nccl_link_GBps[] = {20, 20, 20.6, 40.1};

/// Microseconds of a call, and of a step: over NVLink, over PCIe, over the network; by protocol.
static const double base_us[WEFT_NCCL_ALGORITHMS][WEFT_NCCL_PROTOCOLS] = {
    [WEFT_NCCL_TREE] = {6.8, 14, 8.4}, [WEFT_NCCL_RING] = {6.6, 14, 8.4}, [WEFT_NCCL_PAT] = {8, 8, 8}};
enum step_kind { STEP_NVLINK, STEP_PCIE, STEP_NETWORK };
static const double step_us[WEFT_NCCL_ALGORITHMS][STEP_KINDS][WEFT_NCCL_PROTOCOLS] = {
    [WEFT_NCCL_TREE] = {{0.6, 1.25, 4}, {1, 1.9, 4}, {5, 8.5, 14}},
    [WEFT_NCCL_RING] = {{0.6, 1.9, 3.4}, {1, 2.5, 5.7}, {2.7, 4, 14}},
    [WEFT_NCCL_NVLS] = {{25, 25, 25}, {0}, {18, 18, 18}},
    [WEFT_NCCL_NVLS_TREE] = {{25, 25, 25}, {0}, {20.9, 20.9, 20.9}},
    [WEFT_NCCL_PAT] = {{4, 4, 4}, {4, 4, 4}, {14, 14, 14}},
};
/// GB/s that a channel does not exceed, by generation; the second index is 0, 1, 2 for one, two, more servers.
static const double ll128_ring_max[] = {20, 20, 36.7, 40};
static const double ll128_tree_max[][3] = {{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}};
static const double tree_max[][3] = {{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}};
static const double nvls_tree_max[][3] = {{26.5, 18.5, 10}, {24, 23.6, 17.8}, {0, 57.7, 45.5}, {0, 96, 80}};
static const double nvls_efficiency[] = {0, 0, 0.85, 0.74};
static const double ll_max_one[] = {39, 87.7, 141, 282};
/// Of all channels together, over the network.
static const double ll_max_more[][2] = {{39, 20.4}, {22.5, 19}, {39, 20.4}};

/// What is left of a tree's rate, by size: 64 B and up, doubling.
static const double tree_share[WEFT_NCCL_PROTOCOLS][SIZES] = {
    {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9}};

static uint32_t ranks_of(const struct weft_nccl_machine *m) {
    return m->nodes * m->gpus;
}
static uint32_t column_of(const struct weft_nccl_machine *m) {
    return m->nodes < 3 ? m->nodes - 1 : 2;
}
static double smaller_of(double a, double b) {
    return a < b ? a : b;
}

static bool is_possible(const struct weft_nccl_machine *m, enum weft_nccl_function f, enum weft_nccl_algorithm a,
                        enum weft_nccl_protocol p) {
    bool gathers = f == WEFT_NCCL_ALL_GATHER || f == WEFT_NCCL_REDUCE_SCATTER;
    if (!(m->algorithms[f] >> a & 1) || !(m->protocols[f] >> p & 1)) return false;
    if (p == WEFT_NCCL_LL128 && (!m->ll128 || m->nvlink_GBps <= 0)) return false;
    if (a == WEFT_NCCL_RING) return true;
    if (a == WEFT_NCCL_TREE) return f == WEFT_NCCL_ALL_REDUCE;
    if (p != WEFT_NCCL_SIMPLE) return false;
    if (a == WEFT_NCCL_NVLS)
        return m->nodes == 1 && (f == WEFT_NCCL_ALL_REDUCE || (gathers && m->gpus <= WEFT_NCCL_HEADS_MAX));
    if (a == WEFT_NCCL_NVLS_TREE) return m->nodes > 1 && f == WEFT_NCCL_ALL_REDUCE;
    return gathers && m->gpus == 1 && m->nodes > 1;
}

static double ll_max(const struct weft_nccl_machine *m) {
    return m->nodes == 1 ? ll_max_one[m->generation] : ll_max_more[m->cpu][m->nodes > 2];
}

/// In 2.26 rates of Blackwell are twice those of Hopper, and NVLS has those of its channels.
static enum weft_nccl_generation row_of(const struct weft_nccl_machine *m, double *ret_times) {
    bool doubled = m->version == WEFT_NCCL_2_26 && m->generation == WEFT_NCCL_BLACKWELL;
    *ret_times = doubled ? 2 : 1;
    return doubled ? WEFT_NCCL_HOPPER : m->generation;
}

static double nvls_rate_2_26(const struct weft_nccl_machine *m, enum weft_nccl_algorithm a,
                             const struct weft_nccl_graph *g) {
    double outside = a == WEFT_NCCL_NVLS || m->nodes <= 2 ? g->inter_GBps : g->inter_GBps / 2;
    return g->channels * smaller_of(g->intra_GBps, outside);
}

/// The rate of the bus, GB/s, before the size counts.
static double bus_rate(const struct weft_nccl_machine *m, enum weft_nccl_function f, enum weft_nccl_algorithm a,
                       enum weft_nccl_protocol p) {
    struct weft_nccl_graph g = weft_nccl_graph(m, a);
    uint32_t i = column_of(m);
    double channels = g.channels, rate = channels * (m->nodes <= 2 ? g.intra_GBps : g.inter_GBps), times;
    enum weft_nccl_generation row = row_of(m, &times);
    bool nvls = a == WEFT_NCCL_NVLS || a == WEFT_NCCL_NVLS_TREE;
    if (nvls && m->version == WEFT_NCCL_2_26) return nvls_rate_2_26(m, a, &g);
    if (nvls) {
        double inside = g.intra_GBps * nvls_efficiency[m->generation] * (channels - 1) / channels;
        inside *= f == WEFT_NCCL_ALL_REDUCE ? 2 : (m->gpus - 1.0) / m->gpus;
        double outside = g.inter_GBps * (m->nodes <= 2 ? 2 : 1);
        if (a == WEFT_NCCL_NVLS_TREE) inside = smaller_of(inside, smaller_of(outside, nvls_tree_max[m->generation][i]));
        return channels * inside;
    }
    if (a == WEFT_NCCL_RING) {
        if (p == WEFT_NCCL_LL) return smaller_of(ll_max(m), rate / 2);
        return p == WEFT_NCCL_LL128 ? smaller_of(0.92 * rate, channels * times * ll128_ring_max[row]) : rate;
    }
    if (a == WEFT_NCCL_PAT) return 0.75 * rate;
    rate = smaller_of(0.92 * rate, channels * times * tree_max[row][i]);
    if (p == WEFT_NCCL_LL) return smaller_of(rate / 3.8, ll_max(m));
    if (p == WEFT_NCCL_LL128)
        return smaller_of(rate * (m->nodes == 1 ? 7.0 / 9 : 120.0 / 128), channels * times * ll128_tree_max[row][i]);
    return rate;
}

/// Steps of a ring, all and over the network.
static uint32_t ring_steps(enum weft_nccl_function f, uint32_t n) {
    if (f == WEFT_NCCL_ALL_REDUCE) return 2 * (n - 1);
    return f == WEFT_NCCL_BROADCAST || f == WEFT_NCCL_REDUCE ? n : n - 1;
}
static uint32_t ring_network_steps(enum weft_nccl_function f, uint32_t nodes) {
    if (nodes == 1) return 0;
    return f == WEFT_NCCL_ALL_REDUCE ? 2 * (nodes - 1) : nodes - 1;
}

/// Bytes of a call over the bytes that the bus carries.
static double call_over_bus(const struct weft_nccl_machine *m, enum weft_nccl_function f, enum weft_nccl_algorithm a) {
    uint32_t n = ranks_of(m);
    if (a == WEFT_NCCL_TREE) return 0.5;
    if (m->version == WEFT_NCCL_2_26 && a != WEFT_NCCL_RING) return f == WEFT_NCCL_ALL_REDUCE ? 5.0 / 6 : 1;
    return n / (double)ring_steps(f, n);
}

static double latency_of(const struct weft_nccl_machine *m, enum weft_nccl_function f, enum weft_nccl_algorithm a,
                         enum weft_nccl_protocol p) {
    uint32_t inner = m->nvlink_GBps > 0 ? STEP_NVLINK : STEP_PCIE, n = ranks_of(m);
    double inside = step_us[a][inner][p], levels = floor(log2(m->nodes)), latency = base_us[a][p];
    uint32_t of = m->gpus == 1 && a == WEFT_NCCL_RING ? WEFT_NCCL_TREE : a;
    double network = a == WEFT_NCCL_NVLS_TREE && m->version == WEFT_NCCL_2_26 ? 14 : step_us[of][STEP_NETWORK][p];
    double outside = network + m->nic_us * (p == WEFT_NCCL_SIMPLE ? 2 : 1);
    switch (a) {
    case WEFT_NCCL_RING: {
        double overhead = m->nodes == 1 ? 0 : (m->cpu == WEFT_NCCL_AMD ? 2 : 1) * (p == WEFT_NCCL_SIMPLE ? 3 : 1);
        if (f == WEFT_NCCL_BROADCAST || f == WEFT_NCCL_REDUCE) {
            double step = m->nodes > 1 ? outside : inside;
            return latency +
                   (m->nodes > 1 && m->gpus > 1 ? n : 1) *
                       (p == WEFT_NCCL_SIMPLE ? step_us[WEFT_NCCL_TREE][m->nodes > 1 ? STEP_NETWORK : inner][p] : step);
        }
        uint32_t across = ring_network_steps(f, m->nodes);
        return latency + (ring_steps(f, n) - across) * (inside > overhead ? inside : overhead) + across * outside;
    }
    case WEFT_NCCL_TREE:
        return latency + 2 * ((m->gpus - 1) * inside + levels * outside);
    case WEFT_NCCL_NVLS:
        return inside;
    case WEFT_NCCL_NVLS_TREE:
        return inside + 2 * levels * outside;
    default:
        return latency + log2(m->nodes) * (outside / 3.5) + n * 2.8;
    }
}

double weft_nccl_time(const struct weft_nccl_machine *m, enum weft_nccl_function f, enum weft_nccl_algorithm a,
                      enum weft_nccl_protocol p, weft_bytes bytes) {
    if (!is_possible(m, f, a, p)) return -1;
    double rate = bus_rate(m, f, a, p) * call_over_bus(m, f, a), latency = latency_of(m, f, a, p);
    if (!(rate > 0)) return -1;
    uint32_t at = 0;
    while (at < SIZES && (weft_bytes)128 << at <= bytes)
        at++;
    bool drops = a == WEFT_NCCL_TREE || (a == WEFT_NCCL_NVLS_TREE && m->version == WEFT_NCCL_2_30 &&
                                         m->generation == WEFT_NCCL_BLACKWELL && m->cpu != WEFT_NCCL_ARM);
    if (drops && f == WEFT_NCCL_ALL_REDUCE && at < SIZES - (a == WEFT_NCCL_TREE)) rate *= tree_share[p][at];
    uint32_t channels = weft_nccl_graph(m, a).connected;
    if (a == WEFT_NCCL_RING && p == WEFT_NCCL_SIMPLE && m->nodes > 1 && f == WEFT_NCCL_ALL_REDUCE &&
        bytes / ((weft_bytes)channels * ranks_of(m)) >= 64)
        latency *= m->generation == WEFT_NCCL_VOLTA ? 1.9 : 1.4;
    return latency + (double)bytes / (1e3 * rate);
}

/// Threads of a channel, and bytes a thread below which there are fewer channels, then fewer threads.
static void size_channels(const struct weft_nccl_machine *m, enum weft_nccl_function f, weft_bytes bytes,
                          struct weft_nccl_choice *c) {
    enum weft_nccl_algorithm a = c->algorithm;
    enum weft_nccl_protocol p = c->protocol;
    c->channels = weft_nccl_graph(m, a).connected;
    c->threads = p == WEFT_NCCL_LL                             ? LL_THREADS
                 : p == WEFT_NCCL_LL128 || a == WEFT_NCCL_TREE ? LL128_THREADS
                                                               : SIMPLE_THREADS;
    if (a == WEFT_NCCL_NVLS || a == WEFT_NCCL_NVLS_TREE) return;
    weft_bytes each = p == WEFT_NCCL_SIMPLE ? 64 : 8;
    if (p == WEFT_NCCL_LL && a == WEFT_NCCL_RING) each *= ranks_of(m);
    while (c->channels > 1 && bytes < c->channels * (weft_bytes)c->threads * each)
        c->channels--;
    while (c->threads % 256 == 0 && c->threads > 128 && bytes < c->channels * (weft_bytes)c->threads * each)
        c->threads /= 2;
    weft_bytes traffic = f == WEFT_NCCL_ALL_REDUCE ? 2 * bytes : bytes, least = 32768;
    if (p == WEFT_NCCL_LL) traffic *= 4;
    weft_bytes most = traffic / least + (traffic % least > 0);
    if (c->channels > most && most > 0) c->channels = (uint32_t)most;
}

/// Halves a chunk while less than `per_chunk` chunks a channel would be left, down to `least`.
static weft_bytes halve_chunk(weft_bytes chunk, weft_bytes bytes, uint32_t channels, double per_chunk,
                              weft_bytes least) {
    while (chunk > least && (double)bytes / ((double)channels * (double)chunk) < per_chunk)
        chunk /= 2;
    return chunk;
}

/// GPUs that add, each its part: not all of a large domain (NCCL_MAX_NVLS_ARITY).
static weft_bytes heads_of(const struct weft_nccl_machine *m) {
    return weft_nccl_graph(m, WEFT_NCCL_NVLS).channels;
}

static weft_bytes nvls_chunk(const struct weft_nccl_machine *m, weft_bytes bytes, uint32_t channels) {
    weft_bytes chunk = 131072, heads = channels * heads_of(m);
    if (chunk > 65536 && bytes < 64 * heads * chunk) chunk = 65536;
    if (chunk > 32768 && bytes < 8 * heads * chunk) chunk = 32768;
    if (chunk > 16384 && bytes < 2 * heads * chunk) chunk = 16384;
    return chunk;
}

static weft_bytes nvls_tree_chunk(const struct weft_nccl_machine *m, weft_bytes bytes, uint32_t channels) {
    weft_bytes chunk = m->nodes >= 4 ? 65536 : 131072, heads = channels * heads_of(m);
    static const struct {
        uint32_t times;
        weft_bytes chunk;
    } rule[] = {{32, 262144}, {16, 131072}, {4, 65536}, {1, 32768}};
    for (uint32_t k = 0; k < sizeof rule / sizeof *rule; k++)
        if (chunk > rule[k].chunk && bytes < rule[k].times * heads * chunk) chunk = rule[k].chunk;
    return chunk;
}

static void size_chunk(const struct weft_nccl_machine *m, enum weft_nccl_function f, weft_bytes bytes,
                       struct weft_nccl_choice *c) {
    bool sliced = c->algorithm == WEFT_NCCL_RING && c->protocol == WEFT_NCCL_SIMPLE &&
                  (f == WEFT_NCCL_ALL_REDUCE || f == WEFT_NCCL_ALL_GATHER || f == WEFT_NCCL_REDUCE_SCATTER);
    c->chunk_bytes = c->protocol == WEFT_NCCL_LL      ? LL_CHUNK
                     : c->protocol == WEFT_NCCL_LL128 ? LL128_CHUNK
                                                      : (sliced ? 4 : 1) * (weft_bytes)SIMPLE_STEP;
    if (c->algorithm == WEFT_NCCL_TREE && c->protocol == WEFT_NCCL_LL128) {
        double steps = 1 + log2(m->nodes) + 0.1 * m->gpus;
        c->chunk_bytes = halve_chunk(c->chunk_bytes, bytes, c->channels, 64 * steps / m->gpus, 131072);
        c->chunk_bytes = halve_chunk(c->chunk_bytes, bytes, c->channels, 16 * steps / m->gpus, 32768);
    }
    if (c->algorithm == WEFT_NCCL_NVLS) c->chunk_bytes = nvls_chunk(m, bytes, c->channels);
    if (c->algorithm == WEFT_NCCL_NVLS_TREE) c->chunk_bytes = nvls_tree_chunk(m, bytes, c->channels);
    if (c->algorithm == WEFT_NCCL_PAT)
        c->chunk_bytes =
            halve_chunk(c->chunk_bytes, bytes, c->channels, f == WEFT_NCCL_REDUCE_SCATTER ? 16 : 32, 65536);
    c->slice_bytes = sliced ? c->chunk_bytes / 2 : c->chunk_bytes;
}

bool weft_nccl_choose(const struct weft_nccl_machine *m, enum weft_nccl_function f, weft_bytes bytes,
                      struct weft_nccl_choice *ret) {
    *ret = (struct weft_nccl_choice){.time_us = -1};
    for (uint32_t a = 0; a < WEFT_NCCL_ALGORITHMS; a++)
        for (uint32_t p = 0; p < WEFT_NCCL_PROTOCOLS; p++) {
            double time = weft_nccl_time(m, f, a, p, bytes);
            if (time >= 0 && (ret->time_us < 0 || time < ret->time_us))
                *ret = (struct weft_nccl_choice){.algorithm = a, .protocol = p, .time_us = time};
        }
    if (ret->time_us < 0) return false;
    size_channels(m, f, bytes, ret);
    size_chunk(m, f, bytes, ret);
    return true;
}
