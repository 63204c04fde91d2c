// SPDX-License-Identifier: Apache-2.0
// What a model under a plan sends and computes, and how long a step takes at the full rate of each dimension. Source of
// the volumes: Narayanan et al., SC 2021, section 3 (tensor and pipeline parallelism), and Rajbhandari et al., ZeRO,
// SC 2020, section 7 (data parallelism); of context parallelism by all-gather Llama 3, arXiv 2407.21783, section
// 3.3.2; of experts DeepSeek-V3, arXiv 2412.19437, section 3.2. FLOPs: 6 a parameter and token, and 12 x layers x
// width x sequence a token for attention, half of it under a causal mask. Assumed: tensor and context parallelism are
// never hidden; a hop of the pipeline is hidden except where the pipeline fills and drains; experts have equal load.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "moe.h"
#include "pipeline.h"
#include "training.h"

enum { BF16 = 2 };

// --- checks -------------------------------------------------------------------------------------------------------

static uint64_t or_else(uint64_t value, uint64_t otherwise) {
    return value ? value : otherwise;
}

#define NOT(key, ...)                                                                                                  \
    do {                                                                                                               \
        *ret_key = key;                                                                                                \
        snprintf(text, size, __VA_ARGS__);                                                                             \
        return false;                                                                                                  \
    } while (0)

bool weft_training_model_check(struct weft_training_model *m, const char **ret_key, char *text, size_t size) {
    if (m->hidden % m->heads && !m->head_dim)
        NOT("model.heads", "%" PRIu64 " do not divide a width of %" PRIu64 "; expected a divisor, or head_dim",
            m->heads, m->hidden);
    if (m->dense_layers > m->layers)
        NOT("model.dense_layers", "%" PRIu64 " of %" PRIu64 " layers; expected no more", m->dense_layers, m->layers);
    if (m->top_k > m->experts && m->experts)
        NOT("model.top_k", "%" PRIu64 " of %" PRIu64 " experts; expected no more", m->top_k, m->experts);
    m->kv_heads = or_else(m->kv_heads, m->heads);
    m->head_dim = or_else(m->head_dim, m->hidden / m->heads);
    m->ffn = or_else(m->ffn, 4 * m->hidden);
    m->expert_ffn = or_else(m->expert_ffn, m->ffn);
    m->attention = or_else(m->attention, 2 * m->hidden * m->head_dim * (m->heads + m->kv_heads));
    return true;
}

struct weft_training_parameters weft_training_parameters(const struct weft_training_model *m) {
    double h = (double)m->hidden, layers = (double)m->layers, matrices = (double)m->matrices * h;
    double dense_layers = (double)(m->experts ? m->dense_layers : m->layers), expert = matrices * (double)m->expert_ffn;
    return (struct weft_training_parameters){
        .dense = layers * (double)m->attention + dense_layers * (matrices * (double)m->ffn) +
                 2 * h * (double)m->vocabulary + (layers - dense_layers) * (double)m->shared_experts * expert,
        .expert = expert,
        .layers = layers - dense_layers};
}

static bool check_gpus(struct weft_training *t, const char **ret_key, char *text, size_t size) {
    struct weft_training_plan *p = &t->plan;
    uint64_t replica = p->tp * p->cp * p->pp; // each at most 65536
    if (!t->gpus && !p->dp) NOT("plan.dp", "without the number of GPUs; expected this or the job's gpus");
    if (p->dp > UINT32_MAX / replica || replica > UINT32_MAX)
        NOT("plan.dp", "tp x cp x pp x dp are more than 2^32 GPUs; expected fewer");
    if (!t->gpus) t->gpus = replica * p->dp;
    if (!p->dp && t->gpus % replica)
        NOT("gpus", "%" PRIu64 " are not divided by tp x cp x pp, %" PRIu64 "; expected a multiple", t->gpus, replica);
    if (!p->dp) p->dp = t->gpus / replica;
    if (p->dp * replica != t->gpus)
        NOT("gpus", "%" PRIu64 ", and tp x cp x pp x dp are %" PRIu64 "; expected the same", t->gpus, p->dp * replica);
    return true;
}

static bool check_layers(const struct weft_training *t, const char **ret_key, char *text, size_t size) {
    const struct weft_training_plan *p = &t->plan;
    const struct weft_training_model *m = &t->model;
    uint64_t kv = m->kv_heads;
    if (m->heads % p->tp || m->hidden % p->tp || (kv % p->tp && p->tp % kv))
        NOT("plan.tp",
            "%" PRIu64 " does not divide %" PRIu64 " heads, %" PRIu64 " of keys and values, and a width of %" PRIu64
            "; expected a divisor",
            p->tp, m->heads, kv, m->hidden);
    if ((m->layers + p->end_layers) % (p->pp * p->chunks) || (p->chunks > 1 && p->pp == 1))
        NOT("plan.pp",
            "%" PRIu64 " stages of %" PRIu64 " chunks do not divide %" PRIu64 " layers and %" PRIu64
            " that the ends have less (end_layers); expected a divisor, and chunks of a pipeline",
            p->pp, p->chunks, m->layers, p->end_layers);
    uint64_t slots = (m->layers + p->end_layers) / (p->pp * p->chunks);
    if (p->end_layers - p->end_layers / 2 > slots)
        NOT("plan.end_layers", "%" PRIu64 " are more than the %" PRIu64 " layers of a chunk; expected fewer",
            p->end_layers, slots);
    return true;
}

static bool check_experts(const struct weft_training *t, const char **ret_key, char *text, size_t size) {
    const struct weft_training_plan *p = &t->plan;
    const struct weft_training_model *m = &t->model;
    if (p->ep > 1 && (m->experts % p->ep || !m->experts))
        NOT("plan.ep", "%" PRIu64 " does not divide %" PRIu64 " experts; expected a divisor", p->ep, m->experts);
    if (p->deepep && p->ep == 1) NOT("plan.deepep", "on, and plan.ep is 1; expected several ranks to share experts");
    if (p->deepep && (m->top_k > WEFT__MOE_TOP_K_MAX || m->experts >= WEFT__NO_EXPERT))
        NOT("plan.deepep", "on, and a token has %" PRIu64 " of %" PRIu64 " experts; expected at most %d of %d",
            m->top_k, m->experts, WEFT__MOE_TOP_K_MAX, WEFT__NO_EXPERT - 1);
    if (p->dp % p->ep)
        NOT("plan.ep", "%" PRIu64 " does not divide %" PRIu64 " replicas (dp); expected a divisor", p->ep, p->dp);
    return true;
}

static bool check_batch(struct weft_training *t, const char **ret_key, char *text, size_t size) {
    struct weft_training_plan *p = &t->plan;
    if (p->sequence % p->cp)
        NOT("plan.cp", "%" PRIu64 " does not divide a sequence of %" PRIu64 "; expected a divisor", p->cp, p->sequence);
    if (p->batch % p->dp)
        NOT("plan.batch", "%" PRIu64 " sequences are not divided by %" PRIu64 " replicas (dp); expected a multiple",
            p->batch, p->dp);
    if (p->batch) p->sequences = p->batch / p->dp;
    p->batch = p->sequences * p->dp;
    if (p->sequences % p->micro_batch)
        NOT("plan.micro_batch", "%" PRIu64 " does not divide %" PRIu64 " sequences of a replica; expected a divisor",
            p->micro_batch, p->sequences);
    t->microbatches = p->sequences / p->micro_batch;
    enum { PASSES_MAX = 1 << 24 };
    if (t->microbatches * p->chunks * p->pp > PASSES_MAX)
        NOT("plan.sequences", "%" PRIu64 " microbatches through %" PRIu64 " chunks; expected at most %d passes",
            t->microbatches, p->chunks * p->pp, PASSES_MAX);
    return true;
}

/// Bytes of a collective fit their numbers; and passes end within what time can say.
static bool check_sizes(const struct weft_training *t, const char **ret_key, char *text, size_t size) {
    const struct weft_training_model *m = &t->model;
    const struct weft_training_plan *p = &t->plan;
    double tokens = (double)p->micro_batch * (double)p->sequence, layers = (double)m->layers;
    double width = fmax((double)m->hidden, (double)m->kv_heads * (double)m->head_dim) * (double)m->top_k;
    double ffn = (double)m->ffn + (double)(m->experts + m->shared_experts) * (double)m->expert_ffn;
    double parameters = layers * ((double)m->attention + (double)m->matrices * (double)m->hidden * ffn);
    double most = fmax(tokens * width, parameters + 2 * (double)m->hidden * (double)m->vocabulary) * 8;
    double seconds = 4 * tokens * (parameters + tokens * (double)(m->heads * m->head_dim)) / (p->peak * 1e12) /
                     (p->efficiency * (1 - p->communication));
    if (most > 1e16 || seconds > 1e6)
        NOT("model",
            "has up to %.3g B to send at once and %.3g s to compute for a microbatch; expected at most 1e+16 B "
            "and 1e+06 s",
            most, seconds);
    return true;
}

bool weft_training_check(struct weft_training *t, const char **ret_key, char *text, size_t size) {
    return weft_training_model_check(&t->model, ret_key, text, size) && check_gpus(t, ret_key, text, size) &&
           check_layers(t, ret_key, text, size) && check_experts(t, ret_key, text, size) &&
           check_batch(t, ret_key, text, size) && check_sizes(t, ret_key, text, size);
}

// --- groups and layers --------------------------------------------------------------------------------------------

struct weft__training_group weft__training_group(const struct weft_training *t, enum weft__training_dimension d) {
    const struct weft_training_plan *p = &t->plan;
    bool pp_first = p->order == WEFT_TRAINING_PP_DP;
    uint32_t tp = (uint32_t)p->tp, cp = (uint32_t)p->cp, pp = (uint32_t)p->pp, dp = (uint32_t)p->dp;
    uint32_t ep = (uint32_t)p->ep, inner = tp * cp * (pp_first ? pp : 1);
    switch (d) {
    case WEFT__TRAINING_TP:
        return (struct weft__training_group){tp, 1};
    case WEFT__TRAINING_CP:
        return (struct weft__training_group){cp, tp};
    case WEFT__TRAINING_PP:
        return (struct weft__training_group){pp, tp * cp * (pp_first ? 1 : dp)};
    case WEFT__TRAINING_EP:
        return (struct weft__training_group){ep, inner};
    case WEFT__TRAINING_DP:
        return (struct weft__training_group){dp, inner};
    case WEFT__TRAINING_EXPERT_DP:
        return (struct weft__training_group){dp / ep, inner * ep};
    case WEFT__TRAINING_REPLICAS:
        break;
    }
    bool regular = !pp_first || cp == 1 || pp == 1;
    return regular ? (struct weft__training_group){cp * dp, cp == 1 ? inner : tp} : (struct weft__training_group){0, 0};
}

static uint64_t at_most(uint64_t n, uint64_t most) {
    return n < most ? n : most;
}

void weft__training_layers(const struct weft_training *t, uint32_t stage, uint32_t chunk, uint32_t ret_layers[2]) {
    const struct weft_training_plan *p = &t->plan;
    const struct weft_training_model *m = &t->model;
    uint64_t slots = (m->layers + p->end_layers) / (p->pp * p->chunks), less = p->end_layers / 2;
    uint64_t from = (chunk * p->pp + stage) * slots, to = at_most(from + slots - less, m->layers);
    uint64_t dense = m->experts ? m->dense_layers : m->layers;
    from = from > less ? from - less : 0;
    ret_layers[0] = (uint32_t)(at_most(to, dense) - at_most(from, dense));
    ret_layers[1] = (uint32_t)(to - from) - ret_layers[0];
}

// --- sizes --------------------------------------------------------------------------------------------------------

/// C(n - out, k) / C(n, k): none of k different experts is among `out`.
static double chance_of_none(uint64_t n, uint64_t out, uint64_t k) {
    double chance = 1;
    for (uint64_t i = 0; i < k; i++)
        chance *= n - out > i ? (double)(n - out - i) / (double)(n - i) : 0;
    return chance;
}

/// Copies of a token that are sent to experts, those to its own rank included.
static double copies_of(const struct weft_training *t, uint32_t server_gpus) {
    const struct weft_training_model *m = &t->model;
    struct weft__training_group g = weft__training_group(t, WEFT__TRAINING_EP);
    uint32_t here = g.stride < server_gpus ? server_gpus / g.stride : 1, servers = g.size > here ? g.size / here : 1;
    if (!(t->plan.once || t->plan.deepep) || servers == 1) return (double)m->top_k;
    double all = servers * (1 - chance_of_none(m->experts, m->experts / servers, m->top_k));
    // the best of the chosen servers have one of the best experts each: 3.98 of 4 by DeepEP's own test
    return m->expert_servers && m->expert_servers < servers ? (double)m->expert_servers : all;
}

struct weft__training_sizes weft__training_sizes(const struct weft_training *t, uint32_t server_gpus) {
    const struct weft_training_model *m = &t->model;
    const struct weft_training_plan *p = &t->plan;
    double tp = (double)p->tp, b = (double)p->micro_batch, s = (double)p->sequence, h = (double)m->hidden;
    double tokens = b * s / (double)p->cp, heads = (double)m->heads * (double)m->head_dim;
    double ffn = (double)m->matrices * h * (double)m->ffn, expert = (double)m->matrices * h * (double)m->expert_ffn;
    struct weft_training_parameters parameters = weft_training_parameters(m);
    double of_gpu = tp * (double)(p->pp * p->chunks), copies = copies_of(t, server_gpus);
    return (struct weft__training_sizes){
        .activation = (weft_bytes)(tokens * h * BF16),
        .kv = (weft_bytes)(2 * ceil((double)m->kv_heads / tp) * (double)m->head_dim * s * b * BF16),
        .hop = (weft_bytes)fmax(tokens * h * BF16 / tp, 1),
        .dispatch = (weft_bytes)(tokens * copies * h * p->dispatch_bytes),
        .combine = (weft_bytes)(tokens * copies * h * p->combine_bytes),
        .attention_flops =
            (2 * tokens * (double)m->attention + (p->causal ? 2 : 4) * b * s * s * heads / (double)p->cp) / tp,
        .dense_flops = 2 * tokens * ffn / tp,
        .expert_flops = 2 * tokens * (double)(m->top_k + m->shared_experts) * expert / tp,
        .head_flops = 2 * tokens * h * (double)m->vocabulary / tp,
        .dense_parameters = parameters.dense / of_gpu,
        .expert_parameters = parameters.layers * (double)m->experts * expert / of_gpu / (double)p->ep,
        .seconds_a_flop = 1 / (p->peak * 1e12 * p->efficiency * (1 - p->communication)),
    };
}

// --- traffic ------------------------------------------------------------------------------------------------------

struct calc {
    struct weft_training *t;
    const struct weft_training_rates *rates;
    struct weft__training_sizes size;
};

static weft_time_ps ps_of(double seconds) {
    return weft_time_of_real(seconds * (double)WEFT_PS_PER_S);
}

/// The factor of bytes sent by a rank to the size of a collective.
static double factor_of(enum weft_collective_goal goal, double n) {
    if (goal == WEFT_GOAL_NEXT) return 1;
    return (goal == WEFT_GOAL_ALL_REDUCE ? 2 : 1) * (n - 1) / n;
}

/// Adds a row; returns the seconds of one such collective.
static double add_traffic(struct calc *c, enum weft_collective_goal goal, enum weft__training_dimension d,
                          struct weft_training_traffic row) {
    static const char *const names[WEFT_GOALS] = {[WEFT_GOAL_ALL_REDUCE] = "all_reduce",
                                                  [WEFT_GOAL_REDUCE_SCATTER] = "reduce_scatter",
                                                  [WEFT_GOAL_ALL_GATHER] = "all_gather",
                                                  [WEFT_GOAL_EXCHANGE] = "all_to_all",
                                                  [WEFT_GOAL_NEXT] = "send_recv"};
    struct weft__training_group g = weft__training_group(c->t, d);
    uint32_t gpus = c->rates->server_gpus, reach = g.size * g.stride;
    if (g.size < 2 || !row.size_bytes) return 0;
    double factor = factor_of(goal, g.size), outside = factor;
    row.in_server = reach <= gpus && gpus % reach == 0;
    double fellows = g.stride < gpus ? (double)(gpus / g.stride) : 1; // of the group, in a server
    if (!row.in_server && goal == WEFT_GOAL_EXCHANGE)
        outside = fellows > 1 ? 1 - fellows / g.size : factor; // the rest goes to ranks of its server
    else if (!row.in_server && goal != WEFT_GOAL_NEXT)
        outside = factor / fellows; // a ring leaves a server once, by the NICs of all of them
    row.collective = names[goal];
    row.ranks = g.size;
    row.rate_bps = row.in_server ? c->rates->server_bps : c->rates->network_bps;
    double one = outside * (double)row.size_bytes * 8 / (double)row.rate_bps;
    if (outside < factor && goal != WEFT_GOAL_EXCHANGE)
        one = fmax(one, factor * (double)row.size_bytes * 8 / (double)c->rates->server_bps);
    row.bytes = (weft_bytes)(factor * (double)row.size_bytes * row.times);
    row.time_ps = ps_of(one * row.times);
    row.exposed_ps = row.time_ps;
    c->t->traffic[c->t->traffics++] = row;
    return one;
}

/// What passes send, and the seconds of it in a layer, forward or backward.
struct passes {
    const struct weft_training *t;
    const struct weft__training_sizes *size;
    double layer, experts, hop;
};

static struct passes add_passes(struct calc *c) {
    const struct weft_training_plan *p = &c->t->plan;
    const struct weft_training_model *m = &c->t->model;
    double stage = (double)c->t->microbatches / (double)p->pp, pairs = stage * (double)m->layers;
    double with_experts = m->experts ? stage * (double)(m->layers - m->dense_layers) : 0;
    struct passes x = {.t = c->t, .size = &c->size};
    x.layer = 2 * add_traffic(c, WEFT_GOAL_ALL_REDUCE, WEFT__TRAINING_TP,
                              (struct weft_training_traffic){.dimension = "tp",
                                                             .purpose = "activations",
                                                             .size_bytes = c->size.activation,
                                                             .times = pairs * (p->recompute ? 6 : 4)});
    x.layer += add_traffic(c, WEFT_GOAL_ALL_GATHER, WEFT__TRAINING_CP,
                           (struct weft_training_traffic){.dimension = "cp",
                                                          .purpose = "keys and values",
                                                          .size_bytes = c->size.kv,
                                                          .times = pairs * (p->recompute ? 2 : 1)});
    add_traffic(
        c, WEFT_GOAL_REDUCE_SCATTER, WEFT__TRAINING_CP,
        (struct weft_training_traffic){
            .dimension = "cp", .purpose = "gradients of keys and values", .size_bytes = c->size.kv, .times = pairs});
    if (m->experts) {
        double times = with_experts * (p->recompute ? 3 : 2);
        x.experts =
            add_traffic(c, WEFT_GOAL_EXCHANGE, WEFT__TRAINING_EP,
                        (struct weft_training_traffic){
                            .dimension = "ep", .purpose = "dispatch", .size_bytes = c->size.dispatch, .times = times});
        x.experts +=
            add_traffic(c, WEFT_GOAL_EXCHANGE, WEFT__TRAINING_EP,
                        (struct weft_training_traffic){
                            .dimension = "ep", .purpose = "combine", .size_bytes = c->size.combine, .times = times});
    }
    double hops = 2 * ((double)(p->pp * p->chunks) - 1) * stage;
    x.hop = add_traffic(
        c, WEFT_GOAL_NEXT, WEFT__TRAINING_PP,
        (struct weft_training_traffic){
            .dimension = "pp", .purpose = "activations and their gradients", .size_bytes = c->size.hop, .times = hops});
    return x;
}

/// Of a chunk: seconds to gather its parameters, or to reduce its gradients.
static double add_replicas(struct calc *c, enum weft_collective_goal goal, const char *purpose, double bytes) {
    const struct weft_training_plan *p = &c->t->plan;
    double both[2] = {c->size.dense_parameters, c->size.expert_parameters}, seconds = 0;
    static const char *const names[] = {"dp", "expert dp"};
    for (uint32_t k = 0; k < 2; k++) {
        enum weft__training_dimension dp = k ? WEFT__TRAINING_EXPERT_DP : WEFT__TRAINING_DP;
        bool whole = !k && weft__training_group(c->t, WEFT__TRAINING_REPLICAS).size;
        struct weft_training_traffic row = {.dimension = names[k], .purpose = purpose, .times = (double)p->chunks};
        row.size_bytes = (weft_bytes)(bytes * both[k]);
        if (!whole) { // over CP first, then each part over DP
            seconds += add_traffic(c, goal, WEFT__TRAINING_CP, row);
            if (goal != WEFT_GOAL_ALL_REDUCE) row.size_bytes /= p->cp;
        }
        seconds += add_traffic(c, goal, whole ? WEFT__TRAINING_REPLICAS : dp, row);
    }
    return seconds;
}

// --- time ---------------------------------------------------------------------------------------------------------

/// Seconds of a pass: computing, and communication beside.
static void pass_seconds(const struct passes *x, uint32_t stage, uint32_t chunk, bool backward, double ret[2]) {
    const struct weft_training_plan *p = &x->t->plan;
    const struct weft__training_sizes *s = x->size;
    double work = backward ? 2 : 1, again = backward && p->recompute ? 2 : 1; // the forward pass, and its repetition
    uint32_t layers[2];
    weft__training_layers(x->t, stage, chunk, layers);
    bool head = stage + 1 == p->pp && chunk + 1 == p->chunks;
    double flops = layers[0] * (s->attention_flops + s->dense_flops), experts = layers[1] * x->experts * again;
    double of_experts = layers[1] * (s->attention_flops + s->expert_flops);
    double beside = p->expert_overlap ? of_experts * (work + again - 1) * s->seconds_a_flop : 0;
    ret[0] = ((flops + of_experts) * (work + again - 1) + (head ? s->head_flops * work : 0)) * s->seconds_a_flop;
    ret[1] = (layers[0] + layers[1]) * x->layer * again + (experts > beside ? experts - beside : 0);
}

static double pass_time(const void *context, uint32_t stage, uint32_t chunk, bool backward) {
    double seconds[2];
    pass_seconds(context, stage, chunk, backward, seconds);
    return seconds[0] + seconds[1];
}

/// Of the stage with most of both.
static void find_busiest(const struct passes *x, double ret[2]) {
    ret[0] = ret[1] = 0;
    for (uint32_t stage = 0; stage < x->t->plan.pp; stage++) {
        double sum[2] = {0}, one[2];
        for (uint32_t k = 0; k < 2 * x->t->plan.chunks; k++) {
            pass_seconds(x, stage, k / 2, k % 2, one);
            sum[0] += one[0] * (double)x->t->microbatches;
            sum[1] += one[1] * (double)x->t->microbatches;
        }
        if (sum[0] + sum[1] <= ret[0] + ret[1]) continue;
        ret[0] = sum[0];
        ret[1] = sum[1];
    }
}

static void count_flops(struct weft_training *t, const struct weft__training_sizes *s) {
    const struct weft_training_model *m = &t->model;
    double stage = (double)t->microbatches / (double)t->plan.pp, layers = (double)m->layers;
    double dense = m->experts ? (double)m->dense_layers : layers;
    double forward = layers * s->attention_flops + dense * s->dense_flops + (layers - dense) * s->expert_flops;
    double expert = (double)m->matrices * (double)m->hidden * (double)m->expert_ffn;
    t->model_flops = 3 * stage * (forward + s->head_flops);
    t->flops = t->model_flops + (t->plan.recompute ? stage * forward : 0);
    t->gpu_parameters = (s->dense_parameters + s->expert_parameters) * (double)t->plan.chunks;
    double part = (double)(t->plan.tp * t->plan.pp * t->plan.chunks);
    t->parameters = (s->dense_parameters + s->expert_parameters * (double)t->plan.ep) * part;
    t->active_parameters = s->dense_parameters * part + (layers - dense) * (double)m->top_k * expert;
}

/// What of gathering and reducing is not hidden: the difference in the schedule, shared among their rows.
static void share_exposed(struct calc *c, uint32_t first, double exposed) {
    double all = 0;
    for (uint32_t k = first; k < c->t->traffics; k++)
        all += (double)c->t->traffic[k].time_ps;
    for (uint32_t k = first; k < c->t->traffics; k++)
        c->t->traffic[k].exposed_ps = all > 0 ? weft_time_of_real((double)c->t->traffic[k].time_ps / all * exposed) : 0;
}

/// What dispatch and combine add to passes.
static double exposed_experts(const struct passes *x) {
    struct passes without = *x;
    double all[2], rest[2];
    without.experts = 0;
    find_busiest(x, all);
    find_busiest(&without, rest);
    return all[1] - rest[1];
}

void weft_training_calc(struct weft_training *t, const struct weft_training_rates *rates) {
    struct calc c = {.t = t, .rates = rates, .size = weft__training_sizes(t, rates->server_gpus)};
    const struct weft_training_plan *p = &t->plan;
    t->traffics = 0;
    struct passes x = add_passes(&c);
    uint32_t replicas = t->traffics;
    struct weft__pipeline pipeline = {
        .stages = (uint32_t)p->pp, .microbatches = (uint32_t)t->microbatches, .chunks = (uint32_t)p->chunks};
    struct weft__pipeline_times times = {.context = &x, .pass = pass_time, .overlap = true};
    double alone = weft__pipeline_time(&pipeline, &times), busiest[2], fill = 2 * ((double)p->pp - 1) * x.hop;
    times.overlap = p->overlap;
    if (p->sharded) times.gather = add_replicas(&c, WEFT_GOAL_ALL_GATHER, "parameters", BF16);
    times.reduce = add_replicas(&c, p->sharded ? WEFT_GOAL_REDUCE_SCATTER : WEFT_GOAL_ALL_REDUCE, "gradients",
                                (double)p->gradient_bytes);
    double all = weft__pipeline_time(&pipeline, &times);
    find_busiest(&x, busiest);
    share_exposed(&c, replicas, (all - alone) * (double)WEFT_PS_PER_S);
    for (uint32_t k = 0; k < replicas; k++) {
        struct weft_training_traffic *row = &t->traffic[k];
        if (!strcmp(row->dimension, "pp")) row->exposed_ps = ps_of(fill);
        if (!strcmp(row->dimension, "ep") && p->expert_overlap)
            row->exposed_ps = ps_of(fmin((double)row->time_ps / (double)WEFT_PS_PER_S, exposed_experts(&x) / 2));
    }
    count_flops(t, &c.size);
    t->compute_ps = ps_of(busiest[0]);
    t->layer_ps = ps_of(busiest[1]);
    t->bubble_ps = ps_of(alone - busiest[0] - busiest[1]);
    t->exposed_ps = ps_of(all - alone + fill);
    t->iteration_ps = t->compute_ps + t->layer_ps + t->bubble_ps + t->exposed_ps;
    double seconds = (double)t->iteration_ps / (double)WEFT_PS_PER_S;
    t->tflops = t->flops / seconds * 1e-12;
    t->mfu = t->model_flops / seconds / (p->peak * 1e12);
}
