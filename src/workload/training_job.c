// SPDX-License-Identifier: Apache-2.0
// A job by model and plan: reads both, and makes the operations and turns of its ranks, every layer and microbatch.
// All-gather and reduce-scatter of tensor parallelism with sequence parallelism are one all-reduce here, which has
// their volume. The all-reduce of the embedding, and that of parameters shared by the ends, are left out.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/param.h"
#include "base/tree.h"
#include "moe.h"
#include "pipeline.h"
#include "training.h"
#include "weft/param.h"

enum { OPS_MAX = 262144, PIECES_MAX = 16 };

// --- what is written ----------------------------------------------------------------------------------------------

/// A text counts as the map {kind: text}.
static const struct weft_tree *with_kind(const struct weft_tree *tree, const char *kind, struct weft_place place,
                                         struct weft_arena *arena) {
    const struct weft_tree kind_leaf = {
        .type = WEFT_TREE_TEXT, .place = place, .key_place = place, .key = "kind", .text = kind};
    struct weft_tree *map = weft_arena_alloc(arena, 1, sizeof *map), *leaf = weft_arena_alloc(arena, 1, sizeof *leaf);
    *map = (struct weft_tree){.type = WEFT_TREE_MAP, .place = place, .key_place = place};
    *leaf = kind_leaf;
    uint32_t n = tree && tree->type == WEFT_TREE_MAP ? tree->n : 0;
    map->child = weft_arena_alloc(arena, n + (size_t)1, sizeof *map->child);
    map->child[map->n++] = leaf;
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(tree->child[i]->key, "kind") != 0) map->child[map->n++] = tree->child[i];
    return map;
}

static const char *kind_of(const struct weft_tree *tree) {
    const struct weft_tree *kind = tree && tree->type == WEFT_TREE_MAP ? weft_tree_find(tree, "kind") : tree;
    return kind && kind->type == WEFT_TREE_TEXT ? kind->text : NULL;
}

static const char *value_of(const struct weft_param_value *value, const char *key) {
    for (; value->key; value++)
        if (!strcmp(value->key, key)) return value->text;
    return "1";
}

/// Whether a published plan is for the model, and has the sizes of dimensions that are written; if none is, whether it
/// is for so many GPUs.
static bool is_meant(const struct weft_param_preset *plan, const char *model, uint64_t gpus,
                     const struct weft_tree *tree) {
    static const char *const keys[] = {"tp", "cp", "pp", "ep"};
    size_t n = strlen(model);
    bool written = false;
    if (strncmp(plan->name, model, n) != 0 || plan->name[n] != '-') return false;
    for (unsigned k = 0; k < sizeof keys / sizeof *keys; k++) {
        const struct weft_tree *own = weft_tree_find(tree, keys[k]);
        if (!own || own->type != WEFT_TREE_TEXT) continue;
        written = true;
        if (strcmp(own->text, value_of(plan->value, keys[k])) != 0) return false;
    }
    return written || strtoull(plan->name + n + 1, NULL, 10) == gpus;
}

/// The plan that "published" means, and a map of keys without a kind if there is such a plan.
static enum weft_status find_plan(const char *model, uint64_t gpus, const struct weft_tree *tree,
                                  struct weft_place place, const char **ret_kind, struct weft_error *ret_error) {
    enum { NAMES_MAX = 64 };
    static const char published[] = "published";
    const char *names[NAMES_MAX], *kind = kind_of(tree);
    uint32_t n = 0;
    *ret_kind = kind;
    if (kind && strcmp(kind, published) != 0) return WEFT_OK;
    for (const struct weft_param_preset *p = weft_training_plan_table.presets; p->name; p++) {
        if (is_meant(p, model, gpus, tree)) {
            *ret_kind = p->name;
            return WEFT_OK;
        }
        if (!strncmp(p->name, model, strlen(model)) && n < NAMES_MAX) names[n++] = p->name;
    }
    *ret_kind = "own";
    if (tree && tree->type == WEFT_TREE_MAP && !kind) return WEFT_OK;
    char expected[512];
    weft__names_expected("", names, n, expected, sizeof expected);
    return WEFT_REFUSE(ret_error, place,
                       "plan: none of %s on %" PRIu64 " GPUs is published; %s, or keys such as {tp: 8}", model, gpus,
                       n ? expected : "expected own sizes of dimensions");
}

/// Where a key such as "plan.tp" is written; else where its map is, or the job.
static struct weft_place place_of(const struct weft_model_conf *entry, const char *key) {
    char name[32];
    size_t n = strcspn(key, ".");
    snprintf(name, sizeof name, "%.*s", (int)n, key);
    const struct weft_tree *map = weft_tree_find(entry->tree, name),
                           *own = key[n] ? weft_tree_find(map, key + n + 1) : map;
    return own ? own->place : map ? map->place : weft__job_key_place(entry, "model");
}

/// Reads `model` and `plan`, and checks them.
static enum weft_status load_training(const struct weft_model_conf *entry, uint64_t gpus, struct weft_arena *arena,
                                      struct weft_training *ret, struct weft__schedule_models *ret_models,
                                      struct weft_error *ret_error) {
    const struct weft_tree *model = weft_tree_find(entry->tree, "model"), *plan = weft_tree_find(entry->tree, "plan");
    const char *name = kind_of(model), *kind, *key;
    struct weft__training_conf conf;
    char text[256];
    *ret = (struct weft_training){.gpus = gpus};
    if (!name) name = "own";
    model = with_kind(model, name, model->place, arena);
    enum weft_status status =
        weft__params_load_at(&weft_training_model_table, model, "model", &ret->model, arena, ret_error);
    struct weft_place place = plan ? plan->place : model->place;
    if (!status) status = find_plan(name, gpus, plan, place, &kind, ret_error);
    if (!status)
        status = weft__params_load_at(&weft_training_plan_table, with_kind(plan, kind, place, arena), "plan", &conf,
                                      arena, ret_error);
    if (status) return status;
    ret->plan = conf.plan;
    *ret_models = conf.models;
    if (weft_training_check(ret, &key, text, sizeof text)) return WEFT_OK;
    return WEFT_REFUSE(ret_error, place_of(entry, key), "%s: %s", key, text);
}

// --- operations ---------------------------------------------------------------------------------------------------

/// One of the things that a layer, or a chunk, does in a pass; of every microbatch and layer it is an operation.
struct piece {
    enum { OF_ALL, OF_DENSE, OF_EXPERTS, OF_HEAD } of;
    const struct weft_model_conf *collective; ///< NULL: it only computes
    enum weft__training_dimension over;
    weft_bytes bytes;
    double flops;
    bool overlap, reversed;
    uint32_t first; ///< its first operation
};

struct maker {
    const struct weft_topology *topology;
    struct weft_workload *w;
    struct weft_job *job; ///< NULL: operations are counted
    const struct weft_training *t;
    const struct weft__schedule_models *models;
    struct weft__training_sizes size;
    struct weft_model_conf hop, wrap, ways[2]; ///< ways: of DeepEP, to experts and back
    uint32_t ops, slots, chunks, microbatches;
    struct piece pass[2][PIECES_MAX]; ///< of a layer, forward and backward; then that of the head
    uint32_t pieces[2];
    struct piece gather[4], reduce[4]; ///< of a chunk
    uint32_t gathers, reduces;
    uint32_t *left; ///< [stages * chunks]: backward passes
    struct weft__pipeline pipeline;
};

/// Adds a piece's operations: `times` for each chunk.
static void add_ops(struct maker *m, struct piece *p, uint32_t times) {
    static const char *const names[] = {"tp", "cp", "pp", "ep", "dp", "edp", "dp_cp"}; // by dimension
    struct weft__training_group g = weft__training_group(m->t, p->over);
    p->first = m->ops;
    m->ops += times * m->chunks;
    for (uint32_t k = 0; m->job && k < times * m->chunks; k++) {
        struct weft_job_op *op = &m->job->op[m->job->ops++];
        op->compute_ps = weft_time_of_real(p->flops * m->size.seconds_a_flop * (double)WEFT_PS_PER_S);
        if (p->collective && g.size > 1 && p->bytes)
            weft__job_collective(m->job, m->topology, p->collective, g.size, g.stride, p->bytes, op);
        if (op->name) op->over = names[p->over];
        op->overlap = p->overlap;
        op->reversed = p->reversed;
        op->times = k ? 0 : times * m->chunks;
    }
}

static void add_piece(struct maker *m, bool backward, struct piece p) {
    const uint32_t times = m->microbatches * (p.of == OF_HEAD ? 1 : m->slots);
    add_ops(m, &p, times);
    m->pass[backward][m->pieces[backward]++] = p;
}

/// The pieces of a layer in a pass; `work`: times the FLOPs of a forward pass. Experts, with their dispatch and
/// combine, stand for the feed-forward part of a layer that has them.
static void add_layer(struct maker *m, bool in_backward, bool backward, double work) {
    const struct weft_training_plan *p = &m->t->plan;
    const struct weft_training_model *model = &m->t->model;
    const struct weft__training_sizes *s = &m->size;
    const struct weft_model_conf *of = m->models->of, *sum = &of[WEFT_SCHEDULE_ALL_REDUCE];
    const struct weft_model_conf *exchange = p->ep > 1 ? &of[WEFT_SCHEDULE_ALL_TO_ALL] : NULL;
    struct piece kv = {.collective = &of[backward ? WEFT_SCHEDULE_REDUCE_SCATTER : WEFT_SCHEDULE_ALL_GATHER],
                       .over = WEFT__TRAINING_CP,
                       .bytes = s->kv};
    struct piece part = {.collective = sum, .bytes = s->activation, .flops = work * s->attention_flops};
    if (p->cp > 1 && !backward) add_piece(m, in_backward, kv);
    add_piece(m, in_backward, part);
    part.flops = work * s->dense_flops;
    part.of = model->experts ? OF_DENSE : OF_ALL;
    if (!model->experts || model->dense_layers) add_piece(m, in_backward, part);
    if (model->experts) {
        struct piece to = {OF_EXPERTS, exchange, WEFT__TRAINING_EP, s->dispatch, .overlap = p->expert_overlap};
        struct piece from = to;
        from.bytes = s->combine;
        if (p->deepep) to.collective = &m->ways[0], from.collective = &m->ways[1];
        from.flops = work * s->expert_flops;
        if (exchange) add_piece(m, in_backward, to);
        add_piece(m, in_backward, from);
        part.flops = 0;
        part.of = OF_EXPERTS;
        if (p->tp > 1) add_piece(m, in_backward, part);
    }
    if (p->cp > 1 && backward) add_piece(m, in_backward, kv);
}

/// Of each chunk: over all replicas at once; or over those of CP, then each part over those of DP.
static uint32_t add_replicas(struct maker *m, const struct weft_model_conf *collective, double bytes, bool gathers,
                             struct piece *ret) {
    const double parameters[2] = {m->size.dense_parameters, m->size.expert_parameters};
    uint32_t n = 0, cp = (uint32_t)m->t->plan.cp;
    bool sums = m->t->plan.sharded == false;
    for (uint32_t k = 0; k < 2; k++) {
        bool whole = !k && weft__training_group(m->t, WEFT__TRAINING_REPLICAS).size;
        struct piece p = {.collective = collective,
                          .over = whole ? WEFT__TRAINING_REPLICAS
                                  : k   ? WEFT__TRAINING_EXPERT_DP
                                        : WEFT__TRAINING_DP,
                          .bytes = (weft_bytes)(bytes * parameters[k]),
                          .overlap = m->t->plan.overlap};
        struct piece inner = p, *at = &ret[n];
        inner.over = WEFT__TRAINING_CP;
        if (!whole && !sums) p.bytes /= cp;
        if (p.bytes) ret[n++] = p;
        if (p.bytes && !whole && cp > 1) ret[n++] = inner;
        if (p.bytes && !whole && cp > 1 && !gathers) { // the other way round
            at[0] = inner;
            at[1] = p;
        }
    }
    for (uint32_t k = 0; k < n; k++)
        add_ops(m, &ret[k], 1);
    for (uint32_t k = 0; k < n && gathers && m->job; k++)
        m->job->op[ret[k].first].overlap = false; // the first pass needs its parameters
    return n;
}

static void add_hops(struct maker *m) {
    const struct weft_model_conf *both[] = {&m->hop, &m->wrap};
    for (uint32_t k = 0; k < 2 * (1 + (m->chunks > 1)); k++) {
        struct piece p = {
            .collective = both[k / 2], .over = WEFT__TRAINING_PP, .bytes = m->size.hop, .reversed = k % 2};
        add_ops(m, &p, m->microbatches);
        (k / 2 ? m->pipeline.wrap : m->pipeline.hop)[k % 2] = p.first;
    }
}

static void add_all(struct maker *m) {
    const struct weft_training_plan *p = &m->t->plan;
    m->ops = m->pieces[0] = m->pieces[1] = 0;
    if (p->sharded) m->gathers = add_replicas(m, &m->models->of[WEFT_SCHEDULE_ALL_GATHER], 2, true, m->gather);
    add_layer(m, false, false, 1);
    add_piece(m, false, (struct piece){.of = OF_HEAD, .flops = m->size.head_flops});
    add_piece(m, true, (struct piece){.of = OF_HEAD, .flops = 2 * m->size.head_flops});
    if (p->recompute) add_layer(m, true, false, 1);
    add_layer(m, true, true, 2);
    add_hops(m);
    m->reduces = add_replicas(m, &m->models->of[p->sharded ? WEFT_SCHEDULE_REDUCE_SCATTER : WEFT_SCHEDULE_ALL_REDUCE],
                              (double)p->gradient_bytes, false, m->reduce);
}

// --- turns --------------------------------------------------------------------------------------------------------

static void take_chunk(struct weft_job_stage *stage, const struct piece *piece, uint32_t pieces, uint32_t chunk) {
    for (uint32_t k = 0; k < pieces; k++)
        weft__pipeline_take_turn(stage, piece[k].first + chunk, WEFT_TURN_WHOLE);
}

static void take_layer(const struct maker *m, struct weft_job_stage *stage, struct weft__pass pass, uint32_t layer,
                       bool has_experts) {
    uint32_t at = (pass.chunk * m->microbatches + pass.microbatch) * m->slots + layer;
    for (uint32_t k = 0; k < m->pieces[pass.backward]; k++) {
        const struct piece *p = &m->pass[pass.backward][k];
        if (p->of == OF_ALL || p->of == (has_experts ? OF_EXPERTS : OF_DENSE))
            weft__pipeline_take_turn(stage, p->first + at, WEFT_TURN_WHOLE);
    }
}

static void take_head(const struct maker *m, struct weft_job_stage *stage, struct weft__pass pass) {
    for (uint32_t k = 0; k < m->pieces[pass.backward]; k++)
        if (m->pass[pass.backward][k].of == OF_HEAD)
            weft__pipeline_take_turn(stage,
                                     m->pass[pass.backward][k].first + pass.chunk * m->microbatches + pass.microbatch,
                                     WEFT_TURN_WHOLE);
}

static void take_work(void *context, struct weft_job_stage *stage, struct weft__pass pass) {
    struct maker *m = context;
    uint32_t number = (uint32_t)(stage - m->job->stage), layers[2];
    weft__training_layers(m->t, number, pass.chunk, layers);
    bool head = number + 1 == m->job->stages && pass.chunk + 1 == m->chunks;
    if (head && pass.backward) take_head(m, stage, pass);
    for (uint32_t k = 0; k < layers[0] + layers[1]; k++) {
        uint32_t layer = pass.backward ? layers[0] + layers[1] - 1 - k : k;
        take_layer(m, stage, pass, layer, layer >= layers[0]);
    }
    if (head && !pass.backward) take_head(m, stage, pass);
    if (pass.backward && !--m->left[number * m->chunks + pass.chunk] && m->t->plan.overlap)
        take_chunk(stage, m->reduce, m->reduces, pass.chunk);
}

static void take_turns(struct maker *m) {
    struct weft_job *job = m->job;
    struct weft__training_group pp = weft__training_group(m->t, WEFT__TRAINING_PP);
    uint32_t pieces = m->pieces[0] + m->pieces[1], passes = m->microbatches * m->chunks;
    size_t turns = (size_t)passes * (4 + (m->slots + 1) * pieces) + m->chunks * (m->gathers + m->reduces);
    job->stages = pp.size;
    job->stage_stride = pp.stride;
    job->stage = weft_arena_alloc(m->w->arena, job->stages, sizeof *job->stage);
    m->left = weft_arena_alloc(m->w->arena, (size_t)job->stages * m->chunks, sizeof *m->left);
    for (uint32_t s = 0; s < job->stages; s++) {
        job->stage[s].turn = weft_arena_alloc(m->w->arena, turns, sizeof *job->stage[s].turn);
        for (uint32_t c = 0; c < m->chunks; c++) {
            m->left[s * m->chunks + c] = m->microbatches;
            take_chunk(&job->stage[s], m->gather, m->gathers, c);
        }
    }
    weft__pipeline_take(&m->pipeline, job, m->w->arena);
    for (uint32_t s = 0; s < job->stages && !m->t->plan.overlap; s++)
        for (uint32_t c = 0; c < m->chunks; c++)
            take_chunk(&job->stage[s], m->reduce, m->reduces, c);
}

// --- the job ------------------------------------------------------------------------------------------------------

/// Hops are a chain, and those to the next chunk go from its end to its start. As different collectives they have
/// connections of their own, so that neither waits for room that the other needs.
static enum weft_status load_hops(struct maker *m, struct weft_error *ret_error) {
    struct weft_tree *tree;
    struct weft_model_conf *hop[] = {&m->hop, &m->wrap};
    enum weft_status status = weft__tree_parse_own("{kind: send_recv, ring: on}", m->w->arena, &tree, ret_error);
    for (uint32_t k = 0; k < 2 && !status; k++)
        status = weft__model_load_at(WEFT_KIND_COLLECTIVE, "send_recv", tree, "plan", hop[k], m->w->arena, ret_error);
    return status;
}

static struct weft_training_rates rates_of(const struct weft_job *job) {
    const struct weft_server_conf *s = &job->server;
    double nics = s->nics ? (double)s->nics / (double)s->gpus : 1;
    return (struct weft_training_rates){.server_gpus = (uint32_t)s->gpus,
                                        .server_bps = s->rate_bps,
                                        .network_bps = (weft_rate_bps)(job->machine->nic_GBps * 8e9 * nics)};
}

/// DeepEP sends what it draws, which is known once it has been drawn.
static enum weft_status make_ways(struct maker *m, const char *job, struct weft_error *ret_error) {
    const struct weft_training_plan *p = &m->t->plan;
    const struct weft_training_model *model = &m->t->model;
    struct weft__training_group g = weft__training_group(m->t, WEFT__TRAINING_EP);
    const struct weft__deepep_group group = {.job = job,
                                             .ranks = g.size,
                                             .stride = g.stride,
                                             .routing = {.tokens = p->micro_batch * p->sequence / p->cp,
                                                         .experts = model->experts,
                                                         .top_k = model->top_k,
                                                         .top_groups = model->expert_servers},
                                             .hidden = model->hidden,
                                             .bf16 = p->dispatch_bytes >= 2};
    if (!p->deepep) return WEFT_OK;
    WEFT_TRY(weft__deepep_ways(m->job, &group, m->topology, m->w, m->ways, ret_error));
    m->size.dispatch = m->job->moe->dispatch_bytes;
    m->size.combine = m->job->moe->combine_bytes;
    return WEFT_OK;
}

enum weft_status weft__training_schedule(const struct weft__job_common *common, const struct weft_model_conf *entry,
                                         const struct weft_topology *topology, uint64_t gpus, struct weft_workload *w,
                                         struct weft_job **ret_job, struct weft_error *ret_error) {
    struct weft__job_common own = *common;
    struct weft__schedule_models models;
    struct weft_training *t = weft_arena_alloc(w->arena, 1, sizeof *t);
    struct maker m = {.topology = topology, .w = w, .t = t, .models = &models};
    enum weft_status status = load_training(entry, gpus, w->arena, t, &models, ret_error);
    if (!status) status = load_hops(&m, ret_error);
    if (status) return status;
    m.chunks = (uint32_t)t->plan.chunks;
    m.microbatches = (uint32_t)t->microbatches;
    m.slots = (uint32_t)((t->model.layers + t->plan.end_layers) / (t->plan.pp * t->plan.chunks));
    m.size = weft__training_sizes(t, (uint32_t)common->server.gpus);
    m.pipeline = (struct weft__pipeline){.stages = (uint32_t)t->plan.pp,
                                         .microbatches = m.microbatches,
                                         .chunks = m.chunks,
                                         .context = &m,
                                         .take_work = take_work};
    add_all(&m);
    if (m.ops > OPS_MAX)
        return WEFT_REFUSE(ret_error, weft__job_key_place(entry, "plan"),
                           "plan: %" PRIu32 " operations of layers and microbatches; expected at most %d", m.ops,
                           OPS_MAX);
    if (!*own.rank_file) own.ranks = t->gpus;
    WEFT_TRY(weft__job_new(&own, entry, topology, m.ops, w, &m.job, ret_error));
    if (m.job->ranks != t->gpus)
        return WEFT_REFUSE(ret_error, weft__job_key_place(entry, "plan"),
                           "plan: is for %" PRIu64 " GPUs, and the job has %" PRIu32 " ranks; expected the same",
                           t->gpus, m.job->ranks);
    WEFT_TRY(make_ways(&m, own.group, ret_error));
    add_all(&m);
    take_turns(&m);
    struct weft_training_rates rates = rates_of(m.job);
    weft_training_calc(t, &rates);
    m.job->training = t;
    *ret_job = m.job;
    return WEFT_OK;
}
