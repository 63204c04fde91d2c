// SPDX-License-Identifier: Apache-2.0
// Inference with prefill and decode apart: requests, pools of instances, and the flows of keys and values between them.
// Sources: Zhong et al., DistServe, OSDI 2024, and Patel et al., Splitwise, ISCA 2024 (the pools); vLLM, NixlConnector
// and its push variant (pull by the decode side after prefill, push by the prefill side; a message is a block of 16
// tokens of a layer and rank, of MLA 64 tokens); Qin et al., Mooncake, FAST 2025, section 5.2 (layer by layer). Prefill
// takes 2 x active parameters x tokens over GPUs x peak x MFU: without the part that grows with the square of the
// prompt. Different from vLLM: a read in blocks is sent as messages of which `depth` are outstanding, where the
// acknowledgement stands for the reader's next request; a transfer does not wait for room at the decode instance.
#include <inttypes.h>
#include <string.h>

#include "base/digest.h"
#include "base/grow.h"
#include "base/order.h"
#include "generator.h"
#include "inference.h"
#include "weft/param.h"

enum { REQUESTS_MAX = 1000000, KV_HALVES = 2, MLA_BLOCK = 64, BLOCK = 16, PORT_FIRST = 49152, PORTS = 16384 };
#define BLOCKS_MAX (1 << 25)            ///< WEFT__PREFIX_TOKENS of prompts, in all
#define OUTPUT_MAX UINT64_C(1000000000) ///< tokens of all answers
enum { PULL, PUSH };
enum { KEPT, NEW };

// --- parameters ---------------------------------------------------------------------------------------------------

static const char *const arrival_kinds[] = {"poisson", "mooncake", "azure", NULL};
#define A struct weft__inference_arrivals
static const char *arrivals_check(const void *conf, char *text, size_t size) {
    const struct weft__inference_arrivals *a = conf;
    (void)text, (void)size;
    return a->kind && !*a->file ? "kind is that of a file, and file is not set; expected file" : NULL;
}
const struct weft_param_table weft_inference_arrivals_table = WEFT_PARAM_TABLE_OF(
    "inference_arrivals", A, .check = arrivals_check,
    WEFT_CHOICE(A, kind, "kind", "poisson", arrival_kinds,
                "drawn as a Poisson process; or the requests of a file: a trace of Mooncake (a line of JSON a request) "
                "or of Azure's LLM inference (CSV)"),
    WEFT_TEXT(A, file, "file", "", "the trace; relative to the scenario", .needs = "kind: mooncake or kind: azure"),
    WEFT_REAL(A, speed, "speed", "1", "0.001", "100000", "requests of the trace arrive so many times as fast",
              .needs = "kind: mooncake or kind: azure"),
    WEFT_UINT(A, requests, "requests", "0", "0", "1000000", "how many; 0: of a trace all, else 1000"),
    WEFT_REAL(A, rate, "rate", "1", "0.000001", "1000000000", "requests a second", .needs = "kind: poisson"),
    WEFT_UINT(A, input, "input", "1020", "1", "1000000",
              "tokens of a prompt, median (Azure 2023 conversations: 1020, Mooncake's: 6909)",
              .needs = "kind: poisson"),
    WEFT_REAL(A, input_spread, "input_spread", "0", "0", "4",
              "deviation of the logarithm of an input's tokens, 0: all have the median (Mooncake: about 1)",
              .needs = "kind: poisson"),
    WEFT_UINT(A, output, "output", "129", "1", "1000000",
              "tokens of an answer, median (Azure 2023 conversations: 129, Mooncake's: 350)", .needs = "kind: poisson"),
    WEFT_REAL(A, output_spread, "output_spread", "0", "0", "4",
              "deviation of the logarithm of an output's tokens, 0: all have the median", .needs = "kind: poisson"),
    WEFT_UINT(A, longest, "longest", "131072", "1", "16777216", "most tokens of an input, and of an output",
              .needs = "kind: poisson"),
    WEFT_UINT(A, sessions, "sessions", "0", "0", "1000000",
              "prompts begin with the prefix of one of so many sessions, drawn uniformly; 0: none has a prefix",
              .needs = "kind: poisson"),
    WEFT_REAL(A, shared, "shared", "0.4", "0", "1",
              "part of a prompt that is the prefix of its session (Mooncake: 0.37 and 0.64 of blocks are seen "
              "again)",
              .needs = "sessions"));

#define POOL_ROWS(T, at, half)                                                                                         \
    WEFT_TEXT(T, at hosts, "hosts", "", "hosts of the pool, server by server; empty: the " half " half of all GPUs"),  \
        WEFT_UINT(T, at instances, "instances", "0", "0", "65536", "how many; 0: as many as its GPUs are"),            \
        WEFT_UINT(T, at tp, "tp", "1", "1", "1024", "GPUs of an instance, which share its layers and heads"),          \
        WEFT_UINT(                                                                                                     \
            T, at cache, "cache", "0", "0", "1000000000",                                                              \
            "tokens of earlier prompts that an instance keeps, for prompts with the same prefix; the oldest give "     \
            "way")
#define C struct weft__inference_conf
const struct weft_param_table weft_inference_prefill_table =
    WEFT_PARAM_TABLE_OF("inference_prefill", struct weft__inference_pool, WEFT_PARAM_UNCHECKED,
                        POOL_ROWS(struct weft__inference_pool, , "first"));

#define D __typeof__(((C *)0)->decode)
const struct weft_param_table weft_inference_decode_table = WEFT_PARAM_TABLE_OF(
    "inference_decode", D, WEFT_PARAM_UNCHECKED, POOL_ROWS(D, pool., "second"),
    WEFT_UINT(D, batch, "batch", "256", "1", "1048576",
              "requests that an instance answers at once, at most (vLLM: 256)"),
    WEFT_UINT(D, ep, "ep", "0", "0", "65536",
              "GPUs that share the experts of a layer, a multiple of tp, 0: those of the instance"),
    WEFT_RATE(D, ep_rate_bps, "ep_rate", "400Gbps", "1Gbps", "100Tbps",
              "rate of a GPU to those with other experts: its NIC, or within an NVLink domain that"),
    WEFT_REAL(D, dispatch_bytes, "dispatch_bytes", "1", "0.1", "8", "bytes of a token's value to an expert (FP8: 1)"),
    WEFT_REAL(D, combine_bytes, "combine_bytes", "2", "0.1", "8", "bytes of a token's value back (BF16: 2)"));

static const char *const transfer_kinds[] = {"pull", "push", NULL}, *const connection_kinds[] = {"kept", "new", NULL};
#define T __typeof__(((C *)0)->transfer)
const struct weft_param_table weft_inference_transfer_table = WEFT_PARAM_TABLE_OF(
    "inference_transfer", T, WEFT_PARAM_UNCHECKED,
    WEFT_CHOICE(T, kind, "kind", "pull", transfer_kinds,
                "the decode side reads (vLLM's NixlConnector); or the prefill side writes"),
    WEFT_UINT(T, pieces, "pieces", "1", "1", "1024",
              "1: everything is sent when prefill is done; more: layers are sent in so many parts, each as soon as it "
              "is computed"),
    WEFT_UINT(T, block, "block", "0", "0", "1048576", "tokens of a block; 0: 16, and 64 of a model with MLA (vLLM)"),
    WEFT_UINT(T, merge, "merge", "1", "0", "1048576",
              "adjacent blocks that go as one message; 0: a flow is one message (a single READ, or WRITE)"),
    WEFT_UINT(
        T, depth, "depth", "16", "1", "65536",
        "messages of a flow that are outstanding at most, if merge is not 0 (assumed; 16 is what a queue pair of a "
        "ConnectX NIC reads at once, writes may be 128)"),
    WEFT_CHOICE(T, connections, "connections", "kept", connection_kinds,
                "flows from one host to another have the same UDP source port, as over queue pairs that stay; or each "
                "has one of its own"));

#define G __typeof__(((C *)0)->gpu)
const struct weft_param_table weft_inference_gpu_table = WEFT_PARAM_TABLE_OF(
    "inference_gpu", G, WEFT_PARAM_UNCHECKED,
    WEFT_REAL(G, peak, "peak", "989", "0.001", "1000000",
              "dense TFLOP/s of a GPU by its data sheet, BF16 (H100 and H200: 989, B200: 2250)"),
    WEFT_REAL(G, mfu, "mfu", "0.4", "0.01", "1",
              "part of the peak that prefill and decode reach (assumed; 0.3 to 0.6)"),
    WEFT_REAL(G, hbm, "hbm", "3.35", "0.001", "1000",
              "TB/s of its memory by its data sheet (H100: 3.35, H200: 4.8, B200: 8)"),
    WEFT_REAL(G, hbm_part, "hbm_part", "0.8", "0.01", "1", "part of it that decode reaches (assumed; 0.6 to 0.9)"),
    WEFT_BYTES(G, memory_bytes, "memory", "80GB", "1GB", "100TB", "its memory (H100: 80GB, H200: 141GB, B200: 192GB)"),
    WEFT_REAL(G, memory_part, "memory_part", "0.9", "0.01", "1",
              "part of it for weights, keys and values (vLLM's gpu_memory_utilization: 0.9)"),
    WEFT_REAL(G, weight_bytes, "weight_bytes", "2", "0.1", "8", "bytes of a parameter (BF16: 2, FP8: 1)"),
    WEFT_UINT(G, kv_bytes, "kv_bytes", "2", "1", "8", "bytes of a number in keys and values (BF16: 2, FP8: 1)"));

#define S __typeof__(((C *)0)->slo)
const struct weft_param_table weft_inference_slo_table =
    WEFT_PARAM_TABLE_OF("inference_slo", S, WEFT_PARAM_UNCHECKED,
                        WEFT_TIME(S, ttft_ps, "ttft", "2s", "1us", "10000s", "time to the first token (assumed)"),
                        WEFT_TIME(S, tpot_ps, "tpot", "100ms", "1us", "1000s",
                                  "time of a later token (DistServe's chatbot: 0.1 to 0.2 s)"));

static const char *const routers[] = {"round_robin", "load", "cache", "network", NULL};
static const char *inference_check(const void *conf, char *text, size_t size) {
    const struct weft__inference_conf *c = conf;
    (void)text, (void)size;
    if (c->common.qps > 1 && c->transfer.merge)
        return "qps is above 1, with messages of blocks; expected transfer.merge: 0";
    return NULL;
}
static const struct weft_param_table inference_params = WEFT_PARAM_TABLE_OF(
    "inference", C, .check = inference_check,
    WEFT_TEXT(C, common.group, "group", "inference", "name of the service, and flow group of its transfers"),
    WEFT_TIME(C, common.start_ps, "start", "0s", "0s", "1000s",
              "arrival of the first request of a trace, and earliest"),
    WEFT_UINT(C, common.priority, "priority", "3", "0", "7", "802.1Q priority of the transfers"),
    WEFT_UINT(C, common.qps, "qps", "1", "1", "1024", "queue pairs of a flow; several only with transfer.merge: 0"),
    WEFT_SECTION(C, model, "model", &weft_training_model_table, "the model, by name or by its sizes"),
    WEFT_SECTION(C, arrivals, "arrivals", &weft_inference_arrivals_table, "requests"),
    WEFT_SECTION(C, prefill, "prefill", &weft_inference_prefill_table, "the pool that computes prompts"),
    WEFT_SECTION(C, decode, "decode", &weft_inference_decode_table, "the pool that writes answers"),
    WEFT_SECTION(C, transfer, "transfer", &weft_inference_transfer_table,
                 "how keys and values go from one to the other"),
    WEFT_SECTION(C, gpu, "gpu", &weft_inference_gpu_table, "GPUs of both pools"),
    WEFT_SECTION(C, slo, "slo", &weft_inference_slo_table, "what a request should take at most"),
    WEFT_CHOICE(C, router, "router", "network", routers,
                "choice of the decode instance: in turn; by tokens of requests there; by these and tokens to send, "
                "less the prefix that it has; by the time of the first token that the wiring and transfers under way "
                "let expect"),
    WEFT_REAL(C, cache_weight, "cache_weight", "1", "0", "1000000",
              "router cache: a token to send costs as many as so many of requests there (NVIDIA Dynamo: 1)"),
    WEFT_SECTION(C, server, "server", &weft_server_table, "servers of several GPUs"));

// --- requests -----------------------------------------------------------------------------------------------------

#define FAIL(b, ...) WEFT_REFUSE((b)->error, (b)->place, __VA_ARGS__)

struct build {
    struct weft__inference_conf conf;
    struct weft__inference_plan plan;
    struct weft_inference *x;
    struct weft_workload *w;
    struct weft_place place;
    struct weft_error *error;
    uint64_t seed, output, blocks;
    uint32_t entry;
    size_t room; ///< lists of requests
    uint64_t *seen;
    uint32_t *number, seen_slots; ///< blocks that were seen before, hashed to their numbers; a power of two
};

static uint32_t slot_of(const struct build *b, uint64_t hash) {
    uint32_t at = (uint32_t)((hash * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
    while (b->number[at & (b->seen_slots - 1)] && b->seen[at & (b->seen_slots - 1)] != hash)
        at++;
    return at & (b->seen_slots - 1);
}

static void grow_seen(struct build *b) {
    uint64_t *seen = b->seen;
    uint32_t *number = b->number, slots = b->seen_slots;
    b->seen_slots = slots ? 2 * slots : 1024;
    b->seen = weft_arena_alloc(b->w->arena, b->seen_slots, sizeof *b->seen);
    b->number = weft_arena_alloc(b->w->arena, b->seen_slots, sizeof *b->number);
    for (uint32_t i = 0; i < slots; i++) {
        if (!number[i]) continue;
        uint32_t at = slot_of(b, seen[i]);
        b->seen[at] = seen[i];
        b->number[at] = number[i];
    }
}

static uint32_t number_of(struct build *b, uint64_t hash) {
    if (4 * (uint64_t)(b->plan.numbers + 1) > 3 * (uint64_t)b->seen_slots) grow_seen(b);
    uint32_t at = slot_of(b, hash);
    if (!b->number[at]) {
        b->seen[at] = hash;
        b->number[at] = ++b->plan.numbers;
    }
    return b->number[at] - 1;
}

static enum weft_status add_request(struct build *b, const struct weft__arrival *a, struct weft_place place) {
    struct weft_inference *x = b->x;
    uint64_t tokens = (uint64_t)a->input + a->output;
    if (tokens > x->decode.tokens_max)
        return WEFT_REFUSE(b->error, place,
                           "a request of %" PRIu32 " + %" PRIu32 " tokens; expected at most %" PRIu64
                           ", for which a decode instance has room (gpu.memory)",
                           a->input, a->output, x->decode.tokens_max);
    if (x->requests == REQUESTS_MAX || (b->output += a->output) > OUTPUT_MAX)
        return WEFT_REFUSE(b->error, place, "expected at most %d requests, and %" PRIu64 " tokens of answers",
                           REQUESTS_MAX, OUTPUT_MAX);
    if (x->requests == b->room) {
        size_t room = b->room ? 2 * b->room : 1024;
        struct weft_arena *arena = b->w->arena;
        x->request = weft_arena_move(arena, x->request, b->room, room, sizeof *x->request);
        b->plan.hash = weft_arena_move(arena, b->plan.hash, b->room, room, sizeof *b->plan.hash);
        b->plan.hashes = weft_arena_move(arena, b->plan.hashes, b->room, room, sizeof *b->plan.hashes);
        b->room = room;
    }
    bool caches = b->conf.prefill.cache || b->conf.decode.pool.cache;
    if (caches && (b->blocks += a->hashes) > BLOCKS_MAX)
        return WEFT_REFUSE(b->error, place,
                           "prompts of more than %d blocks of %d tokens in all; expected fewer requests, or no cache",
                           BLOCKS_MAX, WEFT__PREFIX_TOKENS);
    uint32_t n = caches ? a->hashes : 0, *hash = n ? weft_arena_alloc(b->w->arena, n, sizeof *hash) : NULL;
    for (uint32_t i = 0; i < n; i++)
        hash[i] = number_of(b, a->hash[i]);
    b->plan.hash[x->requests] = hash;
    b->plan.hashes[x->requests] = n;
    weft_time_ps at = weft_time_of_real((double)a->at_ps / b->conf.arrivals.speed);
    x->request[x->requests++] = (struct weft_inference_request){
        .arrival_ps = b->conf.common.start_ps + at, .input = a->input, .output = a->output};
    return WEFT_OK;
}

static enum weft_status read_trace(struct build *b) {
    const struct weft__inference_arrivals *c = &b->conf.arrivals;
    WEFT_ENDS(weft__inference_trace_close) struct weft__inference_trace trace;
    const char *path = weft__path_beside(c->file, b->place, b->w->arena);
    enum weft_status status = weft__inference_trace_open(&trace, c->kind, path, b->place, b->error);
    bool more = true;
    while (!status && more && (!c->requests || b->x->requests < c->requests)) {
        struct weft__arrival a;
        status = weft__inference_trace_next(&trace, &a, &more, b->error);
        if (!status && more) status = add_request(b, &a, trace.lines.place);
    }
    if (status || b->x->requests) return status;
    return WEFT_REFUSE(b->error, trace.lines.place, "no request is in %s; expected a line for each", path);
}

static uint32_t draw_tokens(struct weft_random *random, uint64_t median, double spread, uint64_t longest) {
    double tokens = spread > 0 ? weft_random_lognormal(random, (double)median, spread) : (double)median;
    return (uint32_t)(tokens < 1 ? 1 : tokens > (double)longest ? (double)longest : tokens);
}

static enum weft_status draw_requests(struct build *b) {
    const struct weft__inference_arrivals *c = &b->conf.arrivals;
    struct weft_random gap = weft__workload_stream(b->seed, b->entry, 0, WEFT_RANDOM_ARRIVAL);
    struct weft_random input = weft__workload_stream(b->seed, b->entry, 0, WEFT_RANDOM_SIZE);
    struct weft_random output = weft__workload_stream(b->seed, b->entry, 1, WEFT_RANDOM_SIZE);
    struct weft_random session = weft__workload_stream(b->seed, b->entry, 0, WEFT_RANDOM_WORKLOAD);
    uint64_t *hash = weft_arena_alloc(b->w->arena, c->longest / WEFT__PREFIX_TOKENS + 1, sizeof *hash);
    enum weft_status status = WEFT_OK;
    double at = 0;
    for (uint32_t i = 0, n = c->requests ? (uint32_t)c->requests : 1000; i < n && !status; i++) {
        struct weft__arrival a = {.hash = hash};
        at += weft_random_exponential(&gap, (double)WEFT_PS_PER_S / c->rate);
        a.at_ps = weft_time_of_real(at);
        a.input = draw_tokens(&input, c->input, c->input_spread, c->longest);
        a.output = draw_tokens(&output, c->output, c->output_spread, c->longest);
        if (c->sessions) {
            uint64_t of = weft_random_below(&session, c->sessions) << 32;
            uint32_t same = (uint32_t)(c->shared * a.input / WEFT__PREFIX_TOKENS);
            a.hashes = (a.input + WEFT__PREFIX_TOKENS - 1) / WEFT__PREFIX_TOKENS;
            for (uint32_t k = 0; k < a.hashes; k++) // others are of nobody else
                hash[k] = (k < same ? of : UINT64_C(1) << 63 | (uint64_t)i << 32) | k;
        }
        status = add_request(b, &a, b->place);
    }
    return status;
}

// --- pools --------------------------------------------------------------------------------------------------------

/// The GPUs of a pool, in instances one after another. `key`: "prefill". Without hosts of its own: the first half of
/// all GPUs, or the second.
static enum weft_status make_pool(struct build *b, const char *key, const struct weft__inference_pool *pool,
                                  bool second, struct weft__inference_ranks *ret) {
    bool half = !*pool->hosts;
    struct weft_job job = {.server = b->conf.server};
    const struct weft__job_common common = {.hosts = half ? "*" : pool->hosts, .server = b->conf.server};
    WEFT_TRY(weft__job_choose_gpus(&common, b->place, b->w->topology, &job, b->w->arena, b->error));
    uint32_t first = half && second ? job.ranks / 2 : 0;
    uint32_t gpus = !half ? job.ranks : second ? job.ranks - first : job.ranks / 2;
    uint64_t fit = gpus / pool->tp;
    ret->tp = (uint32_t)pool->tp;
    ret->instances = (uint32_t)(pool->instances ? pool->instances : fit);
    if (!fit || pool->instances > fit)
        return FAIL(b,
                    "%s: %" PRIu64 " x %" PRIu64 " GPUs, and its hosts have %" PRIu32 "; expected fewer, or more hosts",
                    key, pool->instances ? pool->instances : 1, pool->tp, gpus);
    uint32_t ranks = ret->instances * ret->tp;
    ret->host = job.host + first;
    ret->server = weft_arena_alloc(b->w->arena, ranks, sizeof *ret->server);
    for (uint32_t r = 0; r < ranks; r++)
        ret->server[r] = weft__job_server(&job, b->w->topology, first + r);
    return WEFT_OK;
}

static enum weft_status check_apart(const struct build *b) {
    const struct weft_topology *t = b->w->topology;
    const struct weft__inference_ranks *p = &b->plan.prefill, *d = &b->plan.decode;
    bool *taken = weft_arena_alloc(b->w->arena, t->hosts, sizeof *taken);
    for (uint32_t r = 0; r < p->instances * p->tp; r++)
        taken[p->host[r]] = true;
    for (uint32_t r = 0; r < d->instances * d->tp; r++)
        if (taken[d->host[r]])
            return FAIL(b, "%s is in both pools; expected prefill.hosts and decode.hosts apart",
                        t->node[t->host[d->host[r]]].name);
    return WEFT_OK;
}

// --- what goes from rank to rank ----------------------------------------------------------------------------------

/// Heads of keys and values are split over ranks, or, of more ranks than heads, each is at several. What MLA keeps is
/// whole at every rank.
static enum weft_status make_lanes(struct build *b) {
    const struct weft_training_model *m = &b->conf.model;
    uint32_t p = b->plan.prefill.tp, d = b->plan.decode.tp, heads = m->kv_width ? 1 : (uint32_t)m->kv_heads;
    uint64_t width = m->kv_width ? m->kv_width : KV_HALVES * m->head_dim;
    if ((heads % p && p % heads) || (heads % d && d % heads))
        return FAIL(b,
                    "tp: %" PRIu32 " and %" PRIu32 " ranks cannot share %" PRIu32
                    " heads of keys and values equally; expected divisors or multiples",
                    p, d, heads);
    b->plan.copies = p > heads ? p / heads : 1;
    b->plan.lane = weft_arena_alloc(b->w->arena, (size_t)d * heads, sizeof *b->plan.lane);
    for (uint32_t to = 0; to < d; to++) {
        uint32_t first = (uint32_t)((uint64_t)to * heads / d), last = d < heads ? first + heads / d : first + 1;
        for (uint32_t h = first; h < last; h++) {
            uint32_t from = p <= heads ? h / (heads / p) : h * b->plan.copies;
            struct weft__inference_lane *before = b->plan.lanes ? &b->plan.lane[b->plan.lanes - 1] : NULL;
            if (before && before->to == to && before->from == from)
                before->token_bytes += width * b->conf.gpu.kv_bytes;
            else
                b->plan.lane[b->plan.lanes++] = (struct weft__inference_lane){from, to, width * b->conf.gpu.kv_bytes};
        }
    }
    b->x->token_bytes = m->layers * heads * width * b->conf.gpu.kv_bytes;
    return WEFT_OK;
}

// --- seconds ------------------------------------------------------------------------------------------------------

static enum weft_status find_costs(struct build *b) {
    const struct weft__inference_conf *c = &b->conf;
    const struct weft_training_model *m = &c->model;
    struct weft_training_parameters of = weft_training_parameters(m);
    struct weft_inference_decode *d = &b->x->decode;
    double tp = (double)c->decode.pool.tp, ep = c->decode.ep ? (double)c->decode.ep : tp;
    double flops = c->gpu.peak * 1e12 * c->gpu.mfu, hbm = c->gpu.hbm * 1e12 * c->gpu.hbm_part;
    double experts = m->experts ? (double)m->experts * of.layers * of.expert * c->gpu.weight_bytes / ep : 0;
    double weights = of.dense * c->gpu.weight_bytes / tp, held = 0;
    if (c->decode.ep % c->decode.pool.tp || (c->decode.ep > c->decode.pool.tp && !m->experts))
        return FAIL(b,
                    "decode.ep: %" PRIu64 " GPUs share %" PRIu64
                    " experts; expected a multiple of decode.tp, and a model with experts",
                    c->decode.ep, m->experts);
    for (uint32_t k = 0; k < b->plan.lanes; k++) // ranks hold the same
        held += b->plan.lane[k].to == 0 ? (double)(b->plan.lane[k].token_bytes * m->layers) : 0;
    double active = of.dense + (m->experts ? (double)m->top_k * of.layers * of.expert : 0);
    double room = (double)c->gpu.memory_bytes * c->gpu.memory_part - weights - experts;
    if (room < held)
        return FAIL(
            b,
            "decode.tp: a GPU has %.3g GB of weights (gpu.weight_bytes), and %.3g GB of memory for them and for "
            "keys and values; expected more GPUs an instance, or more memory",
            (weights + experts) * 1e-9, (double)c->gpu.memory_bytes * c->gpu.memory_part * 1e-9);
    double sent = ((double)m->top_k + (double)m->shared_experts) * (double)m->hidden *
                  (c->decode.dispatch_bytes + c->decode.combine_bytes);
    *d = (struct weft_inference_decode){
        .weights_s = weights / hbm,
        .experts_s = experts / hbm,
        .unused = m->experts ? 1 - (double)m->top_k / (double)m->experts : 1,
        .group = ep / tp,
        .token_s = held / hbm,
        .compute_s = 2 * active / (tp * flops),
        .ep_s = ep > tp ? of.layers * sent / tp * 8 / (double)c->decode.ep_rate_bps : 0,
        .batch_max = c->decode.batch,
        .tokens_max = (uint64_t)(room / held),
    };
    b->plan.prefill_s = 2 * active / ((double)c->prefill.tp * flops);
    b->x->active = active;
    return WEFT_OK;
}

// --- flows --------------------------------------------------------------------------------------------------------

/// The port of flows between two hosts.
static uint16_t port_of(const struct build *b, uint32_t src, uint32_t dst) {
    if (b->conf.transfer.connections == NEW) return 0;
    uint64_t mixed = weft__digest_mix(weft__digest_mix(weft__digest_mix(b->seed, b->entry), src), dst);
    return (uint16_t)(PORT_FIRST + (mixed ^ mixed >> 32) % PORTS);
}

static enum weft_status add_piece(struct build *b, const struct weft_inference_request *r,
                                  const struct weft__inference_lane *lane, uint64_t layers, weft_time_ps start) {
    const struct weft__inference_conf *c = &b->conf;
    struct weft_workload_common common = c->common;
    weft_bytes bytes = layers * weft__inference_layer(&b->plan, lane, r);
    uint32_t src = b->plan.prefill.host[weft__inference_from(&b->plan, r, lane)];
    uint32_t dst = b->plan.decode.host[weft__inference_to(&b->plan, r, lane)];
    common.verb = c->transfer.kind == PULL && !c->transfer.merge ? WEFT_VERB_READ : WEFT_VERB_WRITE;
    common.repeat = 1;
    common.source_port = port_of(b, src, dst);
    if (c->transfer.merge) { // messages are of one size: all but a layer's last have `merge` blocks
        uint64_t blocks = bytes / layers / (b->plan.block * lane->token_bytes);
        uint64_t messages = (blocks + c->transfer.merge - 1) / c->transfer.merge * layers;
        weft_bytes size = (bytes + messages - 1) / messages;
        common.post = (struct weft_post_conf){.depth = c->transfer.depth, .messages = messages, .size_bytes = size};
        common.size_bytes = bytes = messages * size;
    }
    return weft_workload_add(b->w, &common, b->place, src, dst, bytes, start, b->error);
}

/// When what goes within a server has gone: each GPU sends and receives at the server's rate, layers one after another.
static void end_inside(struct build *b, struct weft_inference_request *r) {
    const struct weft__inference_plan *p = &b->plan;
    weft_bytes *sum = weft_arena_alloc(b->w->arena, p->prefill.tp + p->decode.tp, sizeof *sum), most = 0;
    for (uint32_t k = 0; k < p->lanes; k++) {
        const struct weft__inference_lane *lane = &p->lane[k];
        if (!weft__inference_inside(p, r, lane)) continue;
        weft_bytes layer = weft__inference_layer(p, lane, r);
        uint32_t from = weft__inference_from(p, r, lane) - r->prefill * p->prefill.tp;
        most = weft__greater(most, sum[from] += layer);
        most = weft__greater(most, sum[p->prefill.tp + lane->to] += layer);
    }
    uint64_t last = weft__inference_layers(p, p->conf->transfer.pieces - 1), all = p->conf->model.layers;
    weft_time_ps one = weft_time_of_bytes(all * most, p->conf->server.rate_bps) / all;
    weft_time_ps begun = weft__inference_computed(p, r, weft__inference_layers(p, 1));
    weft_time_ps by_start = weft_time_plus(begun, one * all),
                 by_end = weft_time_plus(r->prefilled_ps, one * (all - last));
    r->inside_ps = most ? weft_time_plus(by_start > by_end ? by_start : by_end, p->conf->server.latency_ps) : 0;
}

static enum weft_status add_flows(struct build *b) {
    struct weft__inference_plan *p = &b->plan;
    enum weft_status status = weft__workload_reserve(
        b->w, &(struct weft_workload_common){.group = b->conf.common.group, .repeat = 1, .qps = b->conf.common.qps},
        b->place, (uint64_t)b->x->requests * p->lanes * b->conf.transfer.pieces, b->error);
    for (uint32_t i = 0; i < b->x->requests && !status; i++) {
        struct weft_inference_request *r = &b->x->request[i];
        r->flow = b->w->flows;
        for (uint64_t k = 0; k < b->conf.transfer.pieces && !status; k++) {
            uint64_t from = weft__inference_layers(p, k), to = weft__inference_layers(p, k + 1);
            weft_time_ps start = weft__inference_computed(p, r, to);
            for (uint32_t l = 0; l < p->lanes && !status; l++)
                if (!weft__inference_inside(p, r, &p->lane[l])) status = add_piece(b, r, &p->lane[l], to - from, start);
        }
        for (uint32_t l = 0; l < p->lanes; l++)
            r->bytes += b->conf.model.layers * weft__inference_layer(p, &p->lane[l], r);
        end_inside(b, r);
        r->flows = b->w->flows - r->flow;
    }
    return status;
}

static enum weft_status check_model(struct build *b) {
    struct weft__inference_conf *c = &b->conf;
    char text[256];
    const char *key;
    if (!weft_training_model_check(&c->model, &key, text, sizeof text)) return FAIL(b, "%s: %s", key, text);
    if (c->transfer.pieces > c->model.layers)
        return FAIL(b, "transfer.pieces: %" PRIu64 " parts of %" PRIu64 " layers; expected no more parts than layers",
                    c->transfer.pieces, c->model.layers);
    b->plan.block = c->transfer.block ? c->transfer.block : c->model.kv_width ? MLA_BLOCK : BLOCK;
    return WEFT_OK;
}

static enum weft_status check_message(struct build *b) {
    for (uint32_t k = 0; k < b->plan.lanes && b->conf.transfer.merge; k++) {
        double bytes = (double)b->plan.lane[k].token_bytes * (double)b->plan.block * (double)b->conf.transfer.merge;
        if (bytes > (double)(UINT32_MAX / 2))
            return FAIL(b, "transfer.merge: a message of %.3g B; expected at most 2 GiB, or 0: a flow is one message",
                        bytes);
    }
    return WEFT_OK;
}

static enum weft_status inference_expand(const void *conf, struct weft_place place,
                                         const struct weft_topology *topology, uint64_t seed, uint32_t entry,
                                         struct weft_workload *w, struct weft_error *ret_error) {
    struct build b = {.conf = *(const struct weft__inference_conf *)conf,
                      .w = w,
                      .place = place,
                      .error = ret_error,
                      .seed = seed,
                      .entry = entry};
    struct weft_inference *all = weft_arena_alloc(w->arena, (size_t)w->inferences + 1, sizeof *all); // few
    if (w->inferences) memcpy(all, w->inference, w->inferences * sizeof *all);
    b.x = &all[w->inferences];
    b.plan.conf = &b.conf;
    b.plan.topology = topology;
    b.plan.arena = w->arena;
    b.plan.inference = b.x;
    enum weft_status status = check_model(&b);
    if (!status) status = make_pool(&b, "prefill", &b.conf.prefill, false, &b.plan.prefill);
    if (!status) status = make_pool(&b, "decode", &b.conf.decode.pool, true, &b.plan.decode);
    if (!status) status = check_apart(&b);
    if (!status) status = make_lanes(&b);
    if (!status) status = check_message(&b);
    if (!status) status = find_costs(&b);
    if (!status) status = b.conf.arrivals.kind ? read_trace(&b) : draw_requests(&b);
    if (status) return status;
    b.x->prefills = b.plan.prefill.instances;
    b.x->decodes = b.plan.decode.instances;
    b.x->model = b.conf.model.kind;
    b.x->router = routers[b.conf.router];
    b.x->ttft_ps = b.conf.slo.ttft_ps;
    b.x->tpot_ps = b.conf.slo.tpot_ps;
    b.x->group = weft__workload_group(w, b.conf.common.group);
    weft__inference_route(&b.plan);
    w->inference = all;
    w->inferences++;
    return add_flows(&b);
}

static bool inference_draws(const void *conf) {
    const struct weft__inference_conf *c = conf;
    return c->arrivals.kind == WEFT__ARRIVALS_POISSON || c->transfer.connections == KEPT; // whose ports are drawn
}

const struct weft_model weft__workload_inference = WEFT_MODEL_OF(
    WORKLOAD, "inference",
    "requests to a model whose prefill and decode are on GPUs of their own: transfers of keys and values",
    "DistServe, OSDI 2024; Splitwise, ISCA 2024; Mooncake, FAST 2025; vLLM's NixlConnector", &inference_params,
    &(const struct weft_workload_ops){.expand = inference_expand, .jitters = true, .draws = inference_draws},
    .draws = true);
