// SPDX-License-Identifier: Apache-2.0
// Collectives whose steps are in a file (weft_collective_ops.load): the file is read when the job is built, and its
// steps are executed without a network before anything is simulated.
#include <inttypes.h>
#include <string.h>

#include "job.h"
#include "weft/dag.h"

static bool is_by_size(const struct weft_job_op *op) {
    return op->ops->by_size && op->ops->by_size(op->conf);
}

/// Two operations, as written, that do the same.
static bool same_source(const struct weft_job_op *a, const struct weft_job_op *b) {
    if (a->conf != b->conf || a->shape.ranks != b->shape.ranks) return false;
    return !is_by_size(b) || (a->shape.bytes == b->shape.bytes && a->shape.per_server == b->shape.per_server &&
                              a->shape.root == b->shape.root);
}

/// What a collective says of all connections of the job, unless the job itself says another thing.
static enum weft_status take_qps(struct weft_job *job, const struct weft_collective_loaded *loaded,
                                 struct weft_place place, struct weft_error *ret_error) {
    const struct weft_tree *tree = job->entry->tree;
    bool says_qps = tree && weft_tree_find(tree, "qps"), says_split = tree && weft_tree_find(tree, "qp_scaling");
    if (loaded->qps && says_qps && loaded->qps != job->qps)
        return WEFT_REFUSE(ret_error, weft__job_key_place(job->entry, "qps"),
                           "qps: %" PRIu64 ", and NCCL_IB_QPS_PER_CONNECTION: %" PRIu32 "; expected one of them",
                           job->qps, loaded->qps);
    if (loaded->qps && job->nccl_qps && loaded->qps != job->nccl_qps)
        return WEFT_REFUSE(ret_error, place,
                           "collective: NCCL_IB_QPS_PER_CONNECTION: %" PRIu32 ", and %" PRIu32
                           " in another one of the job; expected the same in all",
                           loaded->qps, job->nccl_qps);
    if (loaded->split && says_split && !job->split)
        return WEFT_REFUSE(ret_error, weft__job_key_place(job->entry, "qp_scaling"),
                           "qp_scaling: round_robin, and NCCL_IB_SPLIT_DATA_ON_QPS: 1; expected one of them");
    if (loaded->qps) job->qps = job->nccl_qps = loaded->qps;
    job->split |= loaded->split;
    return WEFT_OK;
}

/// Operations that do the same with other sizes share a configuration, by which communicators are told apart.
static enum weft_status load_op(struct weft_job *job, uint32_t i, struct weft_place place, struct weft_arena *arena,
                                struct weft_error *ret_error) {
    struct weft_job_op *op = &job->op[i];
    struct weft_collective_loaded loaded = {.ops = op->ops, .conf = op->conf, .goal = op->goal, .shape = op->shape};
    enum weft_status status = op->ops->load(place, arena, &loaded, ret_error);
    if (!status) status = take_qps(job, &loaded, place, ret_error);
    if (status) return status;
    for (uint32_t k = 0; k < i && loaded.conf_size; k++)
        if (job->op[k].name && job->op[k].ops == loaded.ops && job->op[k].conf_size == loaded.conf_size &&
            !memcmp(job->op[k].conf, loaded.conf, loaded.conf_size))
            loaded.conf = job->op[k].conf;
    op->ops = loaded.ops;
    op->conf = loaded.conf;
    op->conf_size = loaded.conf_size;
    op->goal = loaded.goal;
    op->shape = loaded.shape;
    return WEFT_OK;
}

enum weft_status weft__job_load(struct weft_job *job, struct weft_place place, struct weft_arena *arena,
                                struct weft_error *ret_error) {
    struct weft_job_op *written = weft_memory_new(WEFT_MEMORY_SCENARIO, job->ops, sizeof *written);
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < job->ops && !status; i++) {
        struct weft_job_op *op = &job->op[i];
        if (!op->name || !op->ops->load) continue;
        written[i] = *op;
        uint32_t k = 0;
        while (k < i && !same_source(&written[k], op))
            k++;
        if (k == i) {
            status = load_op(job, i, place, arena, ret_error);
            continue;
        }
        weft_bytes bytes = is_by_size(op) ? job->op[k].shape.bytes : op->shape.bytes;
        op->ops = job->op[k].ops;
        op->conf = job->op[k].conf;
        op->goal = job->op[k].goal;
        op->shape.bytes = bytes;
        op->shape.order = job->op[k].shape.order;
    }
    weft_memory_free(WEFT_MEMORY_SCENARIO, written, job->ops * sizeof *written);
    return status;
}

/// The turns of such collectives in a stage, each volume once.
static void take_loaded(const struct weft_job *job, struct weft_job_stage *stage, struct weft_arena *arena) {
    const struct weft_job_stage all = *stage;
    stage->turns = 0;
    stage->turn = weft_arena_alloc(arena, all.turns, sizeof *stage->turn);
    for (uint32_t t = 0; t < all.turns; t++) {
        const struct weft_job_op *op = &job->op[all.turn[t].op];
        bool taken = !op->name || !op->ops->may_deadlock;
        for (uint32_t k = 0; k < stage->turns && !taken; k++) {
            const struct weft_job_op *other = &job->op[stage->turn[k].op];
            taken = other->communicator == op->communicator && other->volume == op->volume;
        }
        if (!taken) stage->turn[stage->turns++] = all.turn[t];
    }
    weft__job_order_turns(job, stage, arena);
}

static const char *name_of_loaded(const struct weft_job *job) {
    uint32_t i = 0;
    while (!job->op[i].name || !job->op[i].ops->may_deadlock)
        i++;
    return job->op[i].name;
}

/// Shortens operations to their first loop and their last. That is enough to see whether they end: a step waits for
/// steps of its own loop, or of the previous one (a slot is returned by an earlier message), so a step that waits for
/// itself does so within a loop, and loops before the last are alike.
static struct weft_job_op *shorten_ops(const struct weft_job *job, struct weft_arena *arena) {
    struct weft_job_op *op = weft_arena_alloc(arena, job->ops, sizeof *op);
    for (uint32_t i = 0; i < job->ops; i++) {
        op[i] = job->op[i];
        if (op[i].name && op[i].ops->shortened) op[i].shape.bytes = op[i].ops->shortened(op[i].conf, &op[i].shape);
    }
    return op;
}

enum weft_status weft__job_check_loaded(const struct weft_job *job, struct weft_place place,
                                        const struct weft_topology *topology, struct weft_error *ret_error) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct weft_job once = *job;
    struct weft_workload alone = {.topology = topology, .jobs = 1, .job = &once};
    uint32_t turns = 0;
    once.iterations = 1;
    once.op = shorten_ops(job, arena);
    once.stage = weft_arena_alloc(arena, job->stages, sizeof *once.stage);
    for (uint32_t s = 0; s < job->stages; s++) {
        once.stage[s] = job->stage[s];
        take_loaded(job, &once.stage[s], arena);
        turns += once.stage[s].turns;
    }
    struct weft_dag_result result = {0};
    if (turns) {
        struct weft_dag dag = weft_dag_of(&alone, arena);
        result = weft_dag_execute(&dag, &(struct weft_dag_options){0});
    }
    weft_arena_free(arena);
    if (!result.stuck) return WEFT_OK;
    return weft_error_set(
        ret_error, WEFT_ERROR_INPUT, place,
        "%s: rank %" PRIu32 " waits for ever for %s, as others wait for it; expected a file that ends "
        "with this chunk, slice and slots",
        name_of_loaded(job), result.rank, result.want == WEFT_DAG_WANTS_ROOM ? "room in a connection" : "a message");
}
