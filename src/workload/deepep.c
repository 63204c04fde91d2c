// SPDX-License-Identifier: Apache-2.0
// Expert parallelism: tokens go to the ranks of their experts (dispatch) and come back (combine), as DeepEP's kernels
// do it or as a plain all-to-all. Source: deepseek-ai/DeepEP (commit dd758caf), docs/legacy.md (chunks, rings, queue
// pairs), deep_ep/buffers and csrc/kernels/legacy (bytes of a token). The parts that move data: moe_normal.c,
// moe_direct.c; which experts: moe_routing.c.
#include <inttypes.h>

#include "base/param.h"
#include "moe.h"
#include "weft/memory.h"
#include "weft/param.h"

enum mode { NORMAL, LOW_LATENCY, ALL_TO_ALL };
enum parts { BOTH, DISPATCH, COMBINE };
static const char *const mode_names[] = {"normal", "low_latency", "all_to_all", NULL};
static const char *const part_names[] = {"both", "dispatch", "combine", NULL};
static const char *const format_names[] = {"fp8", "bf16", NULL};

struct deepep_conf {
    struct weft__job_common common;
    struct weft__routing_conf routing;
    const char *routing_file;
    uint32_t mode, parts, format;
    uint64_t hidden, channels, qps_per_peer, ring, nvlink_ring, slots, iterations;
    uint64_t rdma_chunk, nvlink_chunk, combine_rdma_chunk, combine_nvlink_chunk;
    weft_bytes chunk_bytes;
    weft_time_ps compute_ps, step_ps;
    weft_rate_bps copy_rate_bps;
    bool notify;
};
#define CHUNK_ROW(field, key, help)                                                                                    \
    WEFT_UINT(struct deepep_conf, field, key, "0", "0", "4096",                                                        \
              help "; 0: as DeepEP recommends for the number of nodes")
static const struct weft_param_table deepep_params = WEFT_PARAM_TABLE_OF(
    "deepep", struct deepep_conf, WEFT_PARAM_UNCHECKED, WEFT__JOB_ROWS(struct deepep_conf, "deepep"),
    WEFT_CHOICE(
        struct deepep_conf, mode, "mode", "normal", mode_names,
        "normal: a token goes once to each node, over the sender's rail, then by NVLink; low_latency: a message "
        "for each token and expert; all_to_all: a token goes once to each rank, for comparison"),
    WEFT_CHOICE(struct deepep_conf, parts, "parts", "both", part_names, "to the experts and back, or one of the two"),
    WEFT_UINT(struct deepep_conf, routing.tokens, "tokens", "4096", "1", "1048576", "tokens of a rank"),
    WEFT_UINT(struct deepep_conf, hidden, "hidden", "7168", "128", "65536", "elements of a token"),
    WEFT_UINT(struct deepep_conf, routing.experts, "experts", "256", "1", "65534",
              "experts, the same number on each rank"),
    WEFT_UINT(struct deepep_conf, routing.top_k, "top_k", "8", "1", "32", "different experts that a token goes to"),
    WEFT_UINT(struct deepep_conf, routing.groups, "groups", "0", "0", "65534",
              "groups of experts, as many in each; 0: one for each node"),
    WEFT_UINT(struct deepep_conf, routing.top_groups, "top_groups", "4", "0", "65534",
              "groups that a token goes to at most, those with the best experts; 0: all"),
    WEFT_REAL(struct deepep_conf, routing.skew, "skew", "0", "0", "4",
              "popularity of experts, by a Zipf law with this exponent (assumed); 0: all are equal"),
    WEFT_TEXT(struct deepep_conf, routing_file, "routing", "",
              "a file with the experts of each token, instead of drawing them: a line a token, its rank and its "
              "experts; relative to the scenario"),
    WEFT_CHOICE(struct deepep_conf, format, "format", "fp8", format_names,
                "of tokens on their way to experts; fp8: a scale of 4 B for each 128 elements; they come back in bf16"),
    WEFT_UINT(struct deepep_conf, channels, "channels", "12", "1", "64",
              "parts of a rank's tokens that are sent side by side (normal: two SMs each), or of its peers "
              "(all_to_all)"),
    WEFT_UINT(struct deepep_conf, qps_per_peer, "qps_per_peer", "0", "0", "64",
              "connections to a peer, which channels or a rank's experts share in turn; 0: one for each"),
    CHUNK_ROW(rdma_chunk, "rdma_chunk", "tokens of a message to another node (normal)"),
    CHUNK_ROW(nvlink_chunk, "nvlink_chunk", "most tokens of a message within a server (normal)"),
    CHUNK_ROW(combine_rdma_chunk, "combine_rdma_chunk", "like rdma_chunk, on the way back"),
    CHUNK_ROW(combine_nvlink_chunk, "combine_nvlink_chunk", "like nvlink_chunk, on the way back"),
    WEFT_UINT(struct deepep_conf, ring, "ring", "128", "2", "65536",
              "tokens under way on a channel from a rank to another node (normal): the credit that a receiver gives"),
    WEFT_UINT(struct deepep_conf, nvlink_ring, "nvlink_ring", "288", "2", "65536",
              "tokens under way on a channel from a GPU to another of its server (normal)"),
    WEFT_BYTES(struct deepep_conf, chunk_bytes, "chunk", "128KiB", "1KB", "1GB", "a message of all_to_all"),
    WEFT_UINT(struct deepep_conf, slots, "slots", "0", "0", "1024",
              "messages under way on a connection of low_latency or all_to_all; 0: 1024, the depth of DeepEP's queue "
              "pairs, or 8, as NCCL has it"),
    WEFT_BOOL(struct deepep_conf, notify, "notify", "on",
              "ranks meet before each way: normal by telling each other how many tokens come, others by a tree "
              "all-reduce of one byte"),
    WEFT_TIME(struct deepep_conf, compute_ps, "compute", "0s", "0s", "1000s",
              "time of the experts, before tokens come back"),
    WEFT_UINT(struct deepep_conf, iterations, "iterations", "1", "1", "1000000",
              "repetitions, all with the same tokens"),
    WEFT_TIME(struct deepep_conf, step_ps, "step_delay", "0s", "0s", "1ms",
              "time that a channel takes for each message, in addition to copying (assumed)"),
    WEFT_RATE(struct deepep_conf, copy_rate_bps, "copy_rate", "0bps", "0bps", "100Tbps",
              "rate at which a channel copies; 0: never the bottleneck"));

static const struct weft_model dispatch_model = {.name = "deepep_dispatch", .ops = &weft__moe_ops},
                               combine_model = {.name = "deepep_combine", .ops = &weft__moe_ops},
                               notify_model = {.name = "deepep_notify", .ops = &weft__moe_ops};

/// What the functions below share.
struct maker {
    const struct deepep_conf *c;
    const struct weft_model_conf *entry;
    const struct weft_topology *topology;
    struct weft_workload *workload;
    struct weft_job *job;
    struct weft__routing routing;
    struct weft_moe *moe;
    uint32_t ranks, stride, per_node; ///< of a group
    uint64_t seed;
    struct weft_model_conf barrier;
    struct weft_error *error;
};

#define FAIL(m, key, ...) WEFT_REFUSE((m)->error, weft__job_key_place((m)->entry, key), key ": " __VA_ARGS__)

// --- sizes --------------------------------------------------------------------------------------------------------

enum { SCALE_ELEMENTS = 128, INDEX_BYTES = 8, WEIGHT_BYTES = 4, SOURCE_BYTES = 8, ALIGN = 16 };

/// As DeepEP counts them in its figures.
static weft_bytes payload_bytes(const struct deepep_conf *c, bool combines) {
    if (combines || c->format) return 2 * c->hidden;
    return c->hidden + 4 * ((c->hidden + SCALE_ELEMENTS - 1) / (weft_bytes)SCALE_ELEMENTS);
}

/// With what goes with a token: of a normal one where it is from, its experts and their weights; of low latency its
/// number, in 16 B.
static weft_bytes token_bytes(const struct deepep_conf *c, bool combines) {
    weft_bytes bytes = payload_bytes(c, combines), with = 0;
    if (c->mode == NORMAL)
        with = SOURCE_BYTES + c->routing.top_k * ((combines ? 0u : INDEX_BYTES) + (weft_bytes)WEIGHT_BYTES);
    if (c->mode == LOW_LATENCY) with = combines ? 0 : ALIGN;
    return c->mode == NORMAL ? (bytes + with + ALIGN - 1) / ALIGN * ALIGN : bytes + with;
}

/// Recommended chunks in tokens, for so many nodes at most (docs/legacy.md). Between the sizes there, those of the
/// next; a combine over 16 nodes is not there and takes those of 18.
static const struct {
    uint32_t nodes, nvlink, rdma, combine_nvlink, combine_rdma;
} recommended[] = {{2, 36, 20, 4, 12}, {8, 32, 8, 1, 8}, {16, 20, 12, 2, 8}, {UINT32_MAX, 32, 12, 2, 8}};

static uint32_t choose_number(uint64_t said, uint32_t otherwise) {
    return said ? (uint32_t)said : otherwise;
}

static struct weft__moe_phase phase_of(const struct maker *m, bool combines) {
    const struct deepep_conf *c = m->c;
    uint32_t k = 0, sharing = c->mode == LOW_LATENCY ? m->routing.per_rank : (uint32_t)c->channels;
    while (m->moe->nodes > recommended[k].nodes)
        k++;
    struct weft__moe_phase p = {
        .routing = &m->routing,
        .per_node = m->per_node,
        .channels = (uint32_t)c->channels,
        .queue_pairs = c->qps_per_peer && c->qps_per_peer < sharing ? (uint32_t)c->qps_per_peer : sharing,
        .rdma_chunk = combines ? choose_number(c->combine_rdma_chunk, recommended[k].combine_rdma)
                               : choose_number(c->rdma_chunk, recommended[k].rdma),
        .nvlink_chunk = combines ? choose_number(c->combine_nvlink_chunk, recommended[k].combine_nvlink)
                                 : choose_number(c->nvlink_chunk, recommended[k].nvlink),
        .rdma_ring = (uint32_t)c->ring,
        .nvlink_ring = (uint32_t)c->nvlink_ring,
        .slots = choose_number(c->slots, c->mode == LOW_LATENCY ? 1024 : 8),
        .token_bytes = token_bytes(c, combines),
        .chunk_bytes = c->chunk_bytes,
        .combines = combines,
    };
    return p;
}

// --- what is refused ----------------------------------------------------------------------------------------------

static enum weft_status check_routing(const struct maker *m, struct weft__routing_conf *r) {
    const struct deepep_conf *c = m->c;
    uint32_t ranks = m->ranks, nodes = ranks / m->per_node;
    *r = c->routing;
    if (!r->groups) r->groups = nodes;
    if (!r->top_groups || r->top_groups > r->groups) r->top_groups = r->groups;
    if (r->experts % ranks)
        return FAIL(m, "experts", "%" PRIu64 " cannot be divided among %" PRIu32 " ranks; expected a multiple",
                    r->experts, ranks);
    if (r->experts % r->groups)
        return FAIL(m, "groups", "%" PRIu64 " experts cannot be divided among %" PRIu64 " groups; expected a divisor",
                    r->experts, r->groups);
    uint64_t most = r->experts / r->groups * r->top_groups;
    if (r->top_k > most)
        return FAIL(m, "top_k",
                    "%" PRIu64 " experts, and %" PRIu64 " groups have %" PRIu64 "; expected at most as many", r->top_k,
                    r->top_groups, most);
    if (!*c->routing_file && ranks * r->tokens > WEFT__MOE_TOKENS_MAX)
        return FAIL(m, "tokens", "%" PRIu64 " of %" PRIu32 " ranks; expected at most %d in all", r->tokens, ranks,
                    WEFT__MOE_TOKENS_MAX);
    if (!*c->routing_file && c->mode == LOW_LATENCY && ranks * r->tokens * r->top_k > WEFT__MOE_TOKENS_MAX)
        return FAIL(m, "tokens",
                    "%" PRIu64 " of %" PRIu32 " ranks, each a message to %" PRIu64
                    " experts; expected at most %d messages",
                    r->tokens, ranks, r->top_k, WEFT__MOE_TOKENS_MAX);
    return WEFT_OK;
}

/// DeepEP asserts as much: a chunk is at most half of the ring.
static enum weft_status check_rings(const struct maker *m, const struct weft__moe_phase *p) {
    if (m->c->mode != NORMAL) return WEFT_OK;
    if (2 * p->rdma_chunk > p->rdma_ring)
        return FAIL(m, "ring", "%" PRIu32 " tokens for chunks of %" PRIu32 "; expected two chunks at least",
                    p->rdma_ring, p->rdma_chunk);
    if (2 * p->nvlink_chunk > p->nvlink_ring)
        return FAIL(m, "nvlink_ring", "%" PRIu32 " tokens for chunks of %" PRIu32 "; expected two chunks at least",
                    p->nvlink_ring, p->nvlink_chunk);
    return WEFT_OK;
}

/// Keys that another mode has.
static enum weft_status check_keys(const struct maker *m) {
    static const struct {
        const char *key;
        unsigned modes;
    } keys[] = {
        {"rdma_chunk", 1u << NORMAL},
        {"nvlink_chunk", 1u << NORMAL},
        {"combine_rdma_chunk", 1u << NORMAL},
        {"combine_nvlink_chunk", 1u << NORMAL},
        {"ring", 1u << NORMAL},
        {"nvlink_ring", 1u << NORMAL},
        {"chunk", 1u << ALL_TO_ALL},
        {"slots", 1u << ALL_TO_ALL | 1u << LOW_LATENCY},
        {"qps_per_peer", 1u << NORMAL | 1u << LOW_LATENCY},
        {"channels", 1u << NORMAL | 1u << ALL_TO_ALL},
    };
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        const struct weft_tree *said = weft_tree_find(m->entry->tree, keys[k].key);
        if (said && said->type != WEFT_TREE_NULL && !(keys[k].modes >> m->c->mode & 1))
            return WEFT_REFUSE(m->error, said->place, "%s: has no effect in mode %s; expected another mode, or not",
                               keys[k].key, mode_names[m->c->mode]);
    }
    static const char *const drawn[] = {"tokens", "groups", "top_groups", "skew"};
    for (size_t k = 0; k < sizeof drawn / sizeof *drawn && *m->c->routing_file; k++) {
        const struct weft_tree *said = weft_tree_find(m->entry->tree, drawn[k]);
        if (said && said->type != WEFT_TREE_NULL)
            return WEFT_REFUSE(m->error, said->place, "%s: beside routing, which says it; expected one of the two",
                               drawn[k]);
    }
    return WEFT_OK;
}

// --- operations ---------------------------------------------------------------------------------------------------

typedef void fill_fn(struct weft__moe_maker *m, const void *phase);

/// Each lane of each rank has its state in a run.
static enum weft_status check_lanes(const struct maker *m, uint32_t lanes) {
    enum { LANES_MAX = 1 << 23 };
    if (lanes <= UINT16_MAX && (uint64_t)lanes * m->job->ranks <= LANES_MAX) return WEFT_OK;
    return WEFT_REFUSE(m->error, m->entry->place,
                       "group '%s': %" PRIu32 " ranks that each handle %" PRIu32 " sequences of messages at once; "
                       "expected fewer qps_per_peer or ranks, at most %d in all and %d each",
                       m->c->common.group, m->job->ranks, lanes, LANES_MAX, UINT16_MAX);
}

static struct weft__moe_table *make_table(const struct maker *m, const struct weft__moe_phase *phase, uint32_t lanes,
                                          fill_fn *fill) {
    const struct deepep_conf *c = m->c;
    struct weft__moe_table *t = weft_arena_alloc(m->workload->arena, 1, sizeof *t);
    *t = (struct weft__moe_table){.ranks = m->ranks, .lanes = lanes};
    t->common.slots = phase->slots;
    t->common.channels = c->mode == LOW_LATENCY ? 1 : c->channels;
    t->common.step_ps = c->step_ps;
    t->common.copy_rate_bps = c->copy_rate_bps;
    weft__moe_table_make(t, fill, phase, m->workload->arena);
    if (fill == weft__moe_normal) weft__moe_normal_slots(t, phase);
    return t;
}

static struct weft_job_op *add_table(struct maker *m, const struct weft_model *model,
                                     const struct weft__moe_phase *phase, uint32_t lanes, fill_fn *fill,
                                     weft_bytes size) {
    const struct weft_model_conf conf = {.model = model, .conf = make_table(m, phase, lanes, fill)};
    struct weft_job_op *op = &m->job->op[m->job->ops++];
    op->times = 1;
    weft__job_collective(m->job, m->topology, &conf, m->job->ranks, 1, size, op);
    return op;
}

/// Both ways meet in the same connections.
static void add_meeting(struct maker *m, const struct weft__moe_phase *phase) {
    const struct deepep_conf *c = m->c;
    struct weft_job_op *before = m->job->ops ? &m->job->op[0] : NULL, *op;
    if (!c->notify) return;
    if (before || c->mode != NORMAL) {
        op = &m->job->op[m->job->ops++];
        if (before)
            *op = *before;
        else
            weft__job_collective(m->job, m->topology, &m->barrier, m->job->ranks, 1, 1, op);
        return;
    }
    struct weft__moe_phase own = *phase;
    own.slots = 2;
    add_table(m, &notify_model, &own, weft__moe_notify_lanes(phase), weft__moe_notify, 1)->times = 0;
}

static enum weft_status add_way(struct maker *m, bool combines) {
    static const struct {
        fill_fn *fill;
        uint32_t (*lanes)(const struct weft__moe_phase *p);
    } modes[] = {{weft__moe_normal, weft__moe_normal_lanes},
                 {weft__moe_low_latency, weft__moe_low_latency_lanes},
                 {weft__moe_all_to_all, weft__moe_all_to_all_lanes}};
    const struct weft_model *model = combines ? &combine_model : &dispatch_model;
    const struct weft__moe_phase p = phase_of(m, combines);
    uint32_t lanes = modes[m->c->mode].lanes(&p);
    WEFT_TRY(check_rings(m, &p));
    WEFT_TRY(check_lanes(m, lanes));
    add_meeting(m, &p);
    add_table(m, model, &p, lanes, modes[m->c->mode].fill, combines ? m->moe->combine_bytes : m->moe->dispatch_bytes);
    return WEFT_OK;
}

/// Copies of a token that a rank sends, mean over ranks, as DeepEP counts them.
static double copies_of(const struct maker *m) {
    double tokens = (double)m->moe->tokens / m->ranks;
    if (m->c->mode == NORMAL) return tokens * m->moe->token_nodes;
    return tokens * (m->c->mode == ALL_TO_ALL ? m->moe->token_ranks : m->moe->token_experts);
}

static enum weft_status find_routing(struct maker *m) {
    const struct deepep_conf *c = m->c;
    struct weft__routing_conf conf;
    struct weft_arena *arena = m->workload->arena;
    WEFT_TRY(check_routing(m, &conf));
    m->routing = (struct weft__routing){.ranks = m->ranks,
                                        .experts = (uint32_t)conf.experts,
                                        .per_rank = (uint32_t)conf.experts / m->ranks,
                                        .top_k = (uint32_t)conf.top_k};
    if (*c->routing_file)
        WEFT_TRY(weft__routing_read(c->routing_file, m->entry, arena, &m->routing, m->error));
    else
        weft__routing_draw(&conf, m->seed, m->workload->making, arena, &m->routing);
    m->moe = weft_arena_alloc(arena, 1, sizeof *m->moe);
    *m->moe = weft__routing_count(&m->routing, m->per_node, arena);
    bool plain = c->mode == LOW_LATENCY; // there DeepEP counts what goes with a token
    m->moe->message_bytes = token_bytes(c, false);
    m->moe->dispatch_bytes =
        (weft_bytes)(copies_of(m) * (double)(plain ? token_bytes(c, false) : payload_bytes(c, false)));
    m->moe->combine_bytes = (weft_bytes)(copies_of(m) * (double)payload_bytes(c, true));
    m->job->moe = m->moe;
    return WEFT_OK;
}

/// Ranks of a node, which a server is: the same number in all.
static enum weft_status find_nodes(struct maker *m) {
    struct weft_job_op op = {0};
    const struct weft_model_conf conf = {.model = &dispatch_model, .conf = NULL};
    weft__job_collective(m->job, m->topology, &conf, m->ranks, m->stride, 1, &op);
    m->per_node = op.shape.per_server;
    if (m->per_node * m->stride == m->job->server.gpus || m->per_node == m->ranks) return WEFT_OK;
    return WEFT_REFUSE(m->error, m->entry->place,
                       "group '%s': %" PRIu32 " ranks are not whole servers of %" PRIu64 " GPUs, in order; expected a "
                       "multiple",
                       m->c->common.group, m->ranks, m->job->server.gpus);
}

static enum weft_status deepep_schedule(const struct weft_model_conf *entry, const struct weft_topology *topology,
                                        struct weft_workload *w, struct weft_error *ret_error) {
    enum { OPS = 4 };
    const struct deepep_conf *c = entry->conf;
    struct maker m = {
        .c = c, .entry = entry, .topology = topology, .workload = w, .stride = 1, .seed = w->seed, .error = ret_error};
    WEFT_TRY(check_keys(&m));
    WEFT_TRY(weft__job_new(&c->common, entry, topology, OPS, w, &m.job, ret_error));
    m.ranks = m.job->ranks;
    WEFT_TRY(
        weft__model_load_at(WEFT_KIND_COLLECTIVE, "all_reduce_tree", NULL, "notify", &m.barrier, w->arena, ret_error));
    WEFT_TRY(find_nodes(&m));
    WEFT_TRY(find_routing(&m));
    if (c->parts != COMBINE) WEFT_TRY(add_way(&m, false));
    uint32_t before = m.job ? m.job->ops : 0;
    if (c->parts != DISPATCH) WEFT_TRY(add_way(&m, true));
    if (before < m.job->ops) m.job->op[before].compute_ps = c->compute_ps;
    m.job->iterations = (uint32_t)c->iterations;
    if (c->mode == LOW_LATENCY) m.job->unadmitted = true;
    return weft__job_connect(&c->common, entry->place, topology, m.job, w, ret_error);
}

enum weft_status weft__deepep_ways(struct weft_job *job, const struct weft__deepep_group *group,
                                   const struct weft_topology *topology, struct weft_workload *w,
                                   struct weft_model_conf ret[2], struct weft_error *ret_error) {
    struct weft_model_conf loaded;
    WEFT_TRY(weft__model_load_at(WEFT_KIND_WORKLOAD, "deepep", NULL, "plan", &loaded, w->arena, ret_error));
    struct deepep_conf conf = *(const struct deepep_conf *)loaded.conf;
    conf.routing = group->routing;
    conf.hidden = group->hidden;
    conf.format = group->bf16;
    conf.common.group = group->job;
    struct maker m = {.c = &conf,
                      .entry = job->entry,
                      .topology = topology,
                      .workload = w,
                      .job = job,
                      .ranks = group->ranks,
                      .stride = group->stride,
                      .error = ret_error};
    WEFT_TRY(find_nodes(&m));
    WEFT_TRY(find_routing(&m));
    for (unsigned k = 0; k < 2; k++) {
        const struct weft__moe_phase p = phase_of(&m, k);
        WEFT_TRY(check_lanes(&m, weft__moe_normal_lanes(&p)));
        ret[k] = (struct weft_model_conf){.model = k ? &combine_model : &dispatch_model,
                                          .conf = make_table(&m, &p, weft__moe_normal_lanes(&p), weft__moe_normal)};
    }
    return WEFT_OK;
}

static bool deepep_draws(const void *conf) {
    return !*((const struct deepep_conf *)conf)->routing_file;
}

const struct weft_model weft__workload_deepep = WEFT_MODEL_OF(
    WORKLOAD, "deepep", "expert parallelism: tokens to the ranks of their experts and back, as DeepEP does it",
    "deepseek-ai/DeepEP, commit dd758caf: docs/legacy.md, csrc/kernels/legacy, tests/legacy", &deepep_params,
    &(const struct weft_workload_ops){.schedule = deepep_schedule, .draws = deepep_draws});
