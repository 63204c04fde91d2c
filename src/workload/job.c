// SPDX-License-Identifier: Apache-2.0
// A training job: iterations of operations, each some compute and then a collective over groups of ranks. Ranks are
// numbered over dimensions, the first one innermost ("tp:8, pp:4, dp:2": rank = tp + 8 (pp + 4 dp)), as frameworks do
// it, with the dimension that talks most within a server.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/param.h"
#include "job.h"

enum { DIMENSIONS_MAX = 8, OPS_MAX = 65536, LIST_MAX = 4096 };

struct job_conf {
    struct weft__job_common common;
    const char *dimensions;
    uint64_t iterations, slow_rank;
    double slow_factor;
};
static const char *const job_lists[] = {"operations", NULL};
static const struct weft_param job_rows[] = {
    WEFT__JOB_ROWS(struct job_conf, "job"),
    WEFT_TEXT(struct job_conf, dimensions, "dimensions", "",
              "names and sizes, the innermost first: [tp:8, dp:4]; their product is the number of hosts"),
    WEFT_UINT(struct job_conf, iterations, "iterations", "1", "1", "1000000", "of all operations"),
    WEFT_UINT(struct job_conf, slow_rank, "slow_rank", "0", "0", "16777215", "a straggler, if slow_factor is not 1"),
    WEFT_REAL(struct job_conf, slow_factor, "slow_factor", "1", "0.001", "1000",
              "its compute takes so many times as long"),
};
static const struct weft_param_table job_params =
    WEFT_PARAM_TABLE_LISTS("job", struct job_conf, job_rows, NULL, job_lists);

/// What an entry of `operations` says.
struct operation_conf {
    weft_time_ps compute_ps;
    struct weft_model_conf collective;
    weft_bytes size_bytes;
    const char *over;
    bool overlap;
    uint64_t times;
};
static const struct weft_param operation_rows[] = {
    WEFT_TIME(struct operation_conf, compute_ps, "compute", "0s", "0s", "1000s", "before the collective"),
    WEFT_MODEL_PARAM(struct operation_conf, collective, "collective", WEFT_KIND_COLLECTIVE, "all_reduce_ring",
                     "which one, and how"),
    WEFT_BYTES(struct operation_conf, size_bytes, "size", "0B", "0B", "1TB", "of the collective; 0: none"),
    WEFT_TEXT(struct operation_conf, over, "over", "", "the dimension that forms its groups; none: all ranks"),
    WEFT_BOOL(struct operation_conf, overlap, "overlap", "off",
              "go on at once; the collective is waited for at the end of the iteration"),
    WEFT_UINT(struct operation_conf, times, "times", "1", "1", "65536", "one after another: layers, microbatches"),
};
const struct weft_param_table weft_operation_table =
    WEFT_PARAM_TABLE("operation", struct operation_conf, operation_rows);

struct dimension {
    char name[16];
    uint32_t size, stride;
};

/// What the functions below pass along.
struct maker {
    const struct weft_model_conf *entry;
    const struct weft_topology *topology;
    struct weft_workload *workload;
    struct weft_job *job;
    struct dimension dimension[DIMENSIONS_MAX];
    uint32_t dimensions;
    struct weft_error *error;
};

#define FAIL(m, place, ...) weft_error_set((m)->error, WEFT_ERROR_INPUT, place, __VA_ARGS__)

static enum weft_status read_dimensions(struct maker *m) {
    const struct job_conf *c = m->entry->conf;
    uint64_t stride = 1;
    for (const char *s = c->dimensions; *s;) {
        struct dimension *d = &m->dimension[m->dimensions];
        int used = 0;
        if (m->dimensions == DIMENSIONS_MAX ||
            sscanf(s, " %15[a-zA-Z_] :%" SCNu32 " %n", d->name, &d->size, &used) != 2 || !used || !d->size ||
            d->size > m->job->ranks || (s[used] && s[used] != ','))
            return FAIL(m, m->entry->place,
                        "dimensions: \"%s\" is not understood; expected at most %d names with sizes up to the %" PRIu32
                        " hosts, such as tp:8, dp:4",
                        c->dimensions, DIMENSIONS_MAX, m->job->ranks);
        d->stride = (uint32_t)stride;
        stride *= d->size;
        if (stride > m->job->ranks) break;
        m->dimensions++;
        s += used + (s[used] == ',');
    }
    if (*c->dimensions && stride != m->job->ranks)
        return FAIL(m, m->entry->place, "dimensions: the product of \"%s\" is not the number of hosts, %" PRIu32,
                    c->dimensions, m->job->ranks);
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

static enum weft_status add_operation(struct maker *m, const struct operation_conf *c, struct weft_place place) {
    struct dimension d;
    enum weft_status status = find_dimension(m, c->over, place, &d);
    if (status) return status;
    bool talks = c->size_bytes && d.size > 1;
    for (uint64_t k = 0; k < c->times; k++) {
        struct weft_job_op *op = &m->job->op[m->job->ops++];
        op->compute_ps = c->compute_ps;
        if (talks) weft__job_collective(m->job, m->topology, &c->collective, d.size, d.stride, c->size_bytes, op);
        op->overlap = c->overlap;
        op->times = k ? 0 : (uint32_t)c->times;
    }
    return WEFT_OK;
}

/// The list as written; its operations, repetitions counted.
static enum weft_status load_operations(struct maker *m, struct operation_conf **ret_list, uint32_t *ret_n,
                                        uint32_t *ret_ops, const struct weft_tree **ret_tree) {
    const struct weft_tree *tree = weft_tree_find(m->entry->tree, "operations");
    if (!tree || tree->type != WEFT_TREE_LIST || !tree->n || tree->n > LIST_MAX)
        return FAIL(m, tree ? tree->place : m->entry->place,
                    "operations: expected a list of 1 to %d operations, such as {compute: 1ms, size: 1MB}", LIST_MAX);
    struct operation_conf *list = weft_arena_alloc(m->workload->arena, tree->n, sizeof *list);
    uint64_t ops = 0;
    for (uint32_t i = 0; i < tree->n; i++) {
        char path[64];
        snprintf(path, sizeof path, "operations.%u", i);
        enum weft_status status =
            weft__params_load_at(&weft_operation_table, tree->child[i], path, &list[i], m->workload->arena, m->error);
        if (status) return status;
        ops += list[i].times;
    }
    if (ops > OPS_MAX)
        return FAIL(m, tree->place, "operations: %" PRIu64 " with their repetitions; expected at most %d", ops,
                    OPS_MAX);
    *ret_list = list;
    *ret_n = tree->n;
    *ret_ops = (uint32_t)ops;
    *ret_tree = tree;
    return WEFT_OK;
}

static enum weft_status job_schedule(const struct weft_model_conf *entry, const struct weft_topology *topology,
                                     struct weft_workload *w, struct weft_error *ret_error) {
    const struct job_conf *c = entry->conf;
    struct maker m = {.entry = entry, .topology = topology, .workload = w, .error = ret_error};
    struct operation_conf *list = NULL;
    const struct weft_tree *tree = NULL;
    uint32_t n = 0, ops = 0;
    enum weft_status status = load_operations(&m, &list, &n, &ops, &tree);
    if (!status) status = weft__job_new(&c->common, entry->place, topology, ops, w, &m.job, ret_error);
    if (!status) status = read_dimensions(&m);
    for (uint32_t i = 0; i < n && !status; i++)
        status = add_operation(&m, &list[i], tree->child[i]->place);
    if (status) return status;
    m.job->iterations = (uint32_t)c->iterations;
    m.job->slow_rank = (uint32_t)c->slow_rank;
    m.job->slow_factor = c->slow_factor;
    if (c->slow_rank >= m.job->ranks)
        return FAIL(&m, entry->place, "slow_rank: there is no rank %" PRIu64 "; expected less than %" PRIu32,
                    c->slow_rank, m.job->ranks);
    return weft__job_connect(&c->common, entry->place, topology, m.job, w, ret_error);
}

static const struct weft_workload_ops job_ops = {.schedule = job_schedule};

const struct weft_model weft__workload_job = {
    .kind = WEFT_KIND_WORKLOAD,
    .name = "job",
    .summary = "a training job: iterations of compute and collectives over groups of ranks",
    .source = "numbering of ranks as in Megatron-LM and in the Llama 3 paper, arXiv 2407.21783, section 3.3",
    .params = &job_params,
    .ops = &job_ops,
};
