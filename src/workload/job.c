// SPDX-License-Identifier: Apache-2.0
// A training job: iterations of operations, each some compute and then a collective over groups of ranks. Ranks are
// numbered over dimensions, the first one innermost ("tp:8, pp:4, dp:2": rank = tp + 8 (pp + 4 dp)), as in frameworks,
// with the dimension that communicates most within a server.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/param.h"
#include "job.h"
#include "pipeline.h"
#include "training.h"
#include "weft/param.h"

enum { DIMENSIONS_MAX = 8, OPS_MAX = 65536, LIST_MAX = 4096 };

struct job_conf {
    struct weft__job_common common;
    const char *dimensions;
    uint64_t iterations, slow_rank, gpus;
    double slow_factor;
};
static const char *const job_lists[] = {"operations", "model", "plan", NULL};
static const struct weft_param_table job_params = WEFT_PARAM_TABLE_OF(
    "job", struct job_conf, .lists = job_lists, WEFT__JOB_ROWS(struct job_conf, "job"),
    WEFT_TEXT(struct job_conf, dimensions, "dimensions", "",
              "names and sizes, the innermost first: [tp:8, dp:4]; their product is the number of ranks"),
    WEFT_UINT(struct job_conf, gpus, "gpus", "0", "0", "16777216",
              "with model: GPUs of the job, in whole servers; 0: as many as its plan has"),
    WEFT_UINT(struct job_conf, iterations, "iterations", "1", "1", "1000000", "iterations of all operations"),
    WEFT_UINT(struct job_conf, slow_rank, "slow_rank", "0", "0", "16777215",
              "rank that is slow, if slow_factor is not 1"),
    WEFT_REAL(struct job_conf, slow_factor, "slow_factor", "1", "0.001", "1000",
              "factor on the slow rank's compute times"));

/// The content of an entry of `operations`.
struct operation_conf {
    weft_time_ps compute_ps;
    struct weft_model_conf collective;
    weft_bytes size_bytes;
    const char *over;
    bool overlap;
    uint64_t times;
    struct weft_place place;
    struct pipeline *pipeline; ///< in place of all that; NULL: none
};
static const char *const operation_lists[] = {"pipeline", NULL};
const struct weft_param_table weft_operation_table = WEFT_PARAM_TABLE_OF(
    "operation", struct operation_conf, .lists = operation_lists,
    WEFT_TIME(struct operation_conf, compute_ps, "compute", "0s", "0s", "1000s", "compute time before the collective"),
    WEFT_MODEL_PARAM(struct operation_conf, collective, "collective", WEFT_KIND_COLLECTIVE, "all_reduce_ring",
                     "the collective and its parameters"),
    WEFT_BYTES(struct operation_conf, size_bytes, "size", "0B", "0B", "1TB", "size of the collective; 0B: none"),
    WEFT_TEXT(struct operation_conf, over, "over", "", "dimension along which groups are formed; none: all ranks"),
    WEFT_BOOL(struct operation_conf, overlap, "overlap", "off",
              "continue at once and wait for the collective at the end of the iteration"),
    WEFT_UINT(struct operation_conf, times, "times", "1", "1", "65536",
              "repetitions, one after another: layers, microbatches"));

/// Operations as written, and their number including repetitions.
struct operation_list {
    struct operation_conf *conf;
    uint32_t n;
    uint64_t ops;
};

/// The content of the key `pipeline` of an operation.
struct pipeline_conf {
    const char *over;
    uint64_t microbatches;
    weft_bytes size_bytes;
    struct weft_model_conf collective;
};
static const char *const pipeline_lists[] = {"forward", "backward", NULL};
const struct weft_param_table weft_pipeline_table =
    WEFT_PARAM_TABLE_OF("pipeline", struct pipeline_conf, .lists = pipeline_lists,
                        WEFT_TEXT(struct pipeline_conf, over, "over", "pp", "dimension of the stages"),
                        WEFT_UINT(struct pipeline_conf, microbatches, "microbatches", "1", "1", "65536",
                                  "microbatches, each through all stages and back"),
                        WEFT_BYTES(struct pipeline_conf, size_bytes, "size", NULL, "1B", "1TB",
                                   "bytes of activations to the next stage, and of gradients back, per microbatch"),
                        WEFT_MODEL_PARAM(struct pipeline_conf, collective, "collective", WEFT_KIND_COLLECTIVE,
                                         "send_recv", "collective that sends them: send_recv"));

struct pipeline {
    struct pipeline_conf conf;
    struct weft_place place;
    struct operation_list pass[2]; ///< forward, backward
};

struct dimension {
    char name[16];
    uint32_t size, stride;
};

/// Arguments that the functions below share.
struct maker {
    const struct weft_model_conf *entry;
    const struct weft_topology *topology;
    struct weft_workload *workload;
    struct weft_job *job;
    struct dimension dimension[DIMENSIONS_MAX];
    uint32_t dimensions;
    struct weft_error *error;
};

#define FAIL(m, place, ...) WEFT_REFUSE((m)->error, place, __VA_ARGS__)

/// Parses a name and a size, and a comma if another one follows; returns the number of characters; 0: not understood.
static int read_dimension(const char *text, struct dimension *ret) {
    char size[10]; // a number of 32 bits
    int used = 0;
    if (sscanf(text, " %15[a-zA-Z_] : %9[0-9] %n", ret->name, size, &used) != 2) return 0;
    ret->size = (uint32_t)strtoul(size, NULL, 10);
    bool ends = !text[used], more = text[used] == ',' && text[used + 1];
    return ret->size && (ends || more) ? used + more : 0;
}

static enum weft_status read_dimensions(struct maker *m) {
    const struct job_conf *c = m->entry->conf;
    struct weft_place place = weft__job_key_place(m->entry, "dimensions");
    uint64_t stride = 1;
    for (const char *s = c->dimensions; *s;) {
        struct dimension *d = &m->dimension[m->dimensions];
        int used = m->dimensions < DIMENSIONS_MAX ? read_dimension(s, d) : 0;
        if (!used)
            return FAIL(m, place,
                        "dimensions: \"%s\" is not understood; expected at most %d names with sizes, such as "
                        "tp:8, dp:4",
                        c->dimensions, DIMENSIONS_MAX);
        for (uint32_t i = 0; i < m->dimensions; i++)
            if (!strcmp(m->dimension[i].name, d->name))
                return FAIL(m, place, "dimensions: \"%s\" comes twice in \"%s\"; expected each name once", d->name,
                            c->dimensions);
        d->stride = (uint32_t)stride;
        stride *= d->size;
        if (stride > m->job->ranks) break;
        m->dimensions++;
        s += used;
    }
    const char *ranks_of = c->common.rank_file;
    if (*c->dimensions && stride != m->job->ranks && *ranks_of)
        return FAIL(m, weft__job_rank_file_place(m->entry),
                    "rank_file: '%s' has %" PRIu32 " ranks; expected as many as the product of dimensions \"%s\"",
                    ranks_of, m->job->ranks, c->dimensions);
    if (*c->dimensions && stride != m->job->ranks)
        return FAIL(m, place, "dimensions: the product of \"%s\" is %llu; expected the number of ranks, %" PRIu32,
                    c->dimensions, (unsigned long long)stride, m->job->ranks);
    return WEFT_OK;
}

static enum weft_status find_dimension(const struct maker *m, const char *name, struct weft_place place,
                                       struct dimension *ret) {
    *ret = (struct dimension){.size = m->job->ranks, .stride = 1};
    if (!*name) return WEFT_OK;
    const char *names[DIMENSIONS_MAX];
    for (uint32_t i = 0; i < m->dimensions; i++) {
        names[i] = m->dimension[i].name;
        if (strcmp(name, names[i])) continue;
        *ret = m->dimension[i];
        return WEFT_OK;
    }
    char expected[512];
    weft__names_expected(name, names, m->dimensions, expected, sizeof expected);
    return FAIL(m, place, "over: no dimension \"%s\"; %s", name, m->dimensions ? expected : "there are none");
}

/// Appends `times` operations to the job's; the first one's number is the old job->ops.
static void add_ops(struct maker *m, const struct operation_conf *c, struct dimension d, uint64_t times) {
    bool talks = c->size_bytes && d.size > 1;
    for (uint64_t k = 0; k < times; k++) {
        struct weft_job_op *op = &m->job->op[m->job->ops++];
        op->compute_ps = c->compute_ps;
        if (talks) weft__job_collective(m->job, m->topology, &c->collective, d.size, d.stride, c->size_bytes, op);
        if (talks && c->over && *c->over) op->over = c->over;
        op->overlap = c->overlap;
        op->times = k ? 0 : (uint32_t)times;
    }
}

static enum weft_status add_operation(struct maker *m, const struct operation_conf *c) {
    struct dimension d;
    WEFT_TRY(find_dimension(m, c->over, c->place, &d));
    uint32_t first = m->job->ops;
    add_ops(m, c, d, c->times);
    for (uint32_t s = 0; s < m->job->stages; s++)
        for (uint32_t op = first; op < m->job->ops; op++)
            weft__pipeline_take_turn(&m->job->stage[s], op, WEFT_TURN_WHOLE);
    return WEFT_OK;
}

// --- pipelines ----------------------------------------------------------------------------------------------------

/// Adds the operations of a pass, for all microbatches: ret_first[i] is the first one of entry i.
static enum weft_status add_pass(struct maker *m, const struct pipeline *p, const struct operation_list *list,
                                 uint32_t *ret_first) {
    for (uint32_t i = 0; i < list->n; i++) {
        struct dimension d;
        const struct operation_conf *c = &list->conf[i];
        WEFT_TRY(find_dimension(m, c->over, c->place, &d));
        if (c->size_bytes && (!*c->over || !strcmp(c->over, p->conf.over)))
            return FAIL(m, c->place,
                        "over: what a stage of a pipeline does is its own; expected a dimension other than %s",
                        p->conf.over);
        ret_first[i] = m->job->ops;
        add_ops(m, c, d, c->times * p->conf.microbatches);
    }
    return WEFT_OK;
}

/// Adds the transfers between stages, for all microbatches.
static uint32_t add_hops(struct maker *m, const struct pipeline *p, struct dimension d, bool backward) {
    const struct operation_conf hop = {
        .collective = p->conf.collective, .size_bytes = p->conf.size_bytes, .over = p->conf.over};
    uint32_t first = m->job->ops;
    add_ops(m, &hop, d, p->conf.microbatches);
    for (uint32_t op = first; op < m->job->ops; op++)
        m->job->op[op].reversed = backward;
    return first;
}

/// The operations of both passes.
struct work {
    const struct pipeline *of;
    uint32_t *first[2];
};

static void take_work(void *context, struct weft_job_stage *stage, struct weft__pass pass) {
    const struct work *work = context;
    const struct operation_list *list = &work->of->pass[pass.backward];
    for (uint32_t i = 0; i < list->n; i++) {
        uint32_t times = (uint32_t)list->conf[i].times, first = work->first[pass.backward][i] + pass.microbatch * times;
        for (uint32_t k = 0; k < times; k++)
            weft__pipeline_take_turn(stage, first + k, WEFT_TURN_WHOLE);
    }
}

static enum weft_status add_pipeline(struct maker *m, const struct pipeline *p) {
    struct dimension d;
    WEFT_TRY(find_dimension(m, p->conf.over, p->place, &d));
    struct work work = {.of = p};
    struct weft__pipeline pipeline = {.stages = d.size,
                                      .microbatches = (uint32_t)p->conf.microbatches,
                                      .chunks = 1,
                                      .context = &work,
                                      .take_work = take_work};
    for (uint32_t k = 0; k < 2; k++) {
        work.first[k] = weft_arena_alloc(m->workload->arena, p->pass[k].n, sizeof *work.first[k]);
        pipeline.hop[k] = add_hops(m, p, d, k);
        WEFT_TRY(add_pass(m, p, &p->pass[k], work.first[k]));
    }
    weft__pipeline_take(&pipeline, m->job, m->workload->arena);
    return WEFT_OK;
}

/// Without a pipeline, one stage; with several pipelines, all must be over the same dimension.
static enum weft_status make_stages(struct maker *m, const struct operation_list *list) {
    struct dimension stages = {.size = 1, .stride = 1};
    const char *over = NULL;
    for (uint32_t i = 0; i < list->n; i++) {
        const struct pipeline *p = list->conf[i].pipeline;
        if (!p) continue;
        if (!*p->conf.over || (over && strcmp(over, p->conf.over)))
            return FAIL(m, p->place, "over: expected a dimension, the same for every pipeline of a job");
        over = p->conf.over;
        WEFT_TRY(find_dimension(m, over, p->place, &stages));
    }
    m->job->stages = stages.size;
    m->job->stage_stride = stages.stride;
    m->job->stage = weft_arena_alloc(m->workload->arena, stages.size, sizeof *m->job->stage);
    for (uint32_t s = 0; s < stages.size; s++) // a hop has two turns; there are at most two hops per operation
        m->job->stage[s].turn = weft_arena_alloc(m->workload->arena, 2 * list->ops, sizeof *m->job->stage[s].turn);
    return WEFT_OK;
}

// --- what is written ----------------------------------------------------------------------------------------------

static enum weft_status load_list(struct maker *m, const struct weft_tree *parent, const char *key,
                                  struct weft_place place, struct operation_list *ret_list);

static enum weft_status load_pipeline(struct maker *m, const struct weft_tree *tree, struct pipeline **ret_pipeline) {
    static const char *const pass[] = {"forward", "backward"};
    struct pipeline *p = weft_arena_alloc(m->workload->arena, 1, sizeof *p);
    p->place = tree->place;
    enum weft_status status =
        weft__params_load_at(&weft_pipeline_table, tree, "pipeline", &p->conf, m->workload->arena, m->error);
    const char *why = status ? NULL : weft__pipeline_refuse(&p->conf.collective);
    if (why) return FAIL(m, tree->place, "collective: %s", why);
    for (uint32_t k = 0; k < 2 && !status; k++)
        status = load_list(m, tree, pass[k], tree->place, &p->pass[k]);
    for (uint32_t k = 0; k < 2 && !status; k++)
        for (uint32_t i = 0; i < p->pass[k].n; i++)
            if (p->pass[k].conf[i].pipeline)
                return FAIL(m, p->pass[k].conf[i].place, "a pipeline in a pipeline; expected none");
    *ret_pipeline = p;
    return status;
}

static enum weft_status load_operation(struct maker *m, const struct weft_tree *tree, const char *path,
                                       struct operation_conf *ret) {
    enum weft_status status =
        weft__params_load_at(&weft_operation_table, tree, path, ret, m->workload->arena, m->error);
    const struct weft_tree *pipeline = weft_tree_find(tree, "pipeline");
    ret->place = tree->place;
    if (!status && !pipeline && !weft_tree_find(tree, "compute") && !weft_tree_find(tree, "size"))
        return FAIL(m, tree->place, "%s: nothing to do; expected compute, size or pipeline", path);
    if (status || !pipeline) return status;
    if (tree->n > 1) return FAIL(m, tree->place, "%s: expected nothing beside pipeline", path);
    return load_pipeline(m, pipeline, &ret->pipeline);
}

/// The number of operations, including repetitions.
static uint64_t count_ops(const struct operation_conf *c) {
    const struct pipeline *p = c->pipeline;
    return p ? p->conf.microbatches * (2 + p->pass[0].ops + p->pass[1].ops) : c->times;
}

static enum weft_status load_list(struct maker *m, const struct weft_tree *parent, const char *key,
                                  struct weft_place place, struct operation_list *ret_list) {
    const struct weft_tree *tree = weft_tree_find(parent, key);
    if (!tree || tree->type != WEFT_TREE_LIST || !tree->n || tree->n > LIST_MAX)
        return FAIL(m, tree ? tree->place : place,
                    "%s: expected a list of 1 to %d operations, such as {compute: 1ms, size: 1MB}", key, LIST_MAX);
    *ret_list = (struct operation_list){.conf = weft_arena_alloc(m->workload->arena, tree->n, sizeof *ret_list->conf),
                                        .n = tree->n};
    for (uint32_t i = 0; i < tree->n; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s.%u", key, i);
        WEFT_TRY(load_operation(m, tree->child[i], path, &ret_list->conf[i]));
        ret_list->ops += count_ops(&ret_list->conf[i]);
    }
    if (ret_list->ops > OPS_MAX)
        return FAIL(m, tree->place, "%s: %" PRIu64 " with their repetitions; expected at most %d", key, ret_list->ops,
                    OPS_MAX);
    return WEFT_OK;
}

/// The operations as written.
static enum weft_status add_written(struct maker *m) {
    const struct job_conf *c = m->entry->conf;
    struct operation_list list = {0};
    WEFT_TRY(load_list(m, m->entry->tree, "operations", m->entry->place, &list));
    WEFT_TRY(weft__job_new(&c->common, m->entry, m->topology, (uint32_t)list.ops, m->workload, &m->job, m->error));
    WEFT_TRY(read_dimensions(m));
    WEFT_TRY(make_stages(m, &list));
    for (uint32_t i = 0; i < list.n; i++)
        WEFT_TRY(list.conf[i].pipeline ? add_pipeline(m, list.conf[i].pipeline) : add_operation(m, &list.conf[i]));
    return WEFT_OK;
}

/// With a model nothing else says what ranks do, and without one nothing says how.
static enum weft_status check_model(const struct maker *m, bool *ret_has) {
    static const char *const with[] = {"plan", "gpus"}, *const without[] = {"operations", "dimensions"};
    const struct weft_tree *model = weft_tree_find(m->entry->tree, "model");
    *ret_has = model && model->type != WEFT_TREE_NULL;
    for (uint32_t k = 0; k < 2; k++) {
        const struct weft_tree *other = weft_tree_find(m->entry->tree, (*ret_has ? without : with)[k]);
        if (other && other->type != WEFT_TREE_NULL)
            return FAIL(m, other->place,
                        *ret_has ? "%s: beside model, which says all of it; expected one of the two"
                                 : "%s: has no effect without model; expected model, too",
                        other->key);
    }
    return WEFT_OK;
}

static enum weft_status job_schedule(const struct weft_model_conf *entry, const struct weft_topology *topology,
                                     struct weft_workload *w, struct weft_error *ret_error) {
    const struct job_conf *c = entry->conf;
    struct maker m = {.entry = entry, .topology = topology, .workload = w, .error = ret_error};
    bool has_model = false;
    WEFT_TRY(check_model(&m, &has_model));
    WEFT_TRY(has_model ? weft__training_schedule(&c->common, entry, topology, c->gpus, w, &m.job, ret_error)
                       : add_written(&m));
    m.job->iterations = (uint32_t)c->iterations;
    m.job->slow_rank = (uint32_t)c->slow_rank;
    m.job->slow_factor = c->slow_factor;
    if (c->slow_rank >= m.job->ranks)
        return FAIL(&m, entry->place, "slow_rank: there is no rank %" PRIu64 "; expected less than %" PRIu32,
                    c->slow_rank, m.job->ranks);
    return weft__job_connect(&c->common, entry->place, topology, m.job, w, ret_error);
}

const struct weft_model weft__workload_job =
    WEFT_MODEL_OF(WORKLOAD, "job", "a training job: iterations of compute and collectives over groups of ranks",
                  "numbering of ranks as in Megatron-LM and in the Llama 3 paper, arXiv 2407.21783, section 3.3",
                  &job_params, &(const struct weft_workload_ops){.schedule = job_schedule});
