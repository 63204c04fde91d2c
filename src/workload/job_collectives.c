// SPDX-License-Identifier: Apache-2.0
// Converts the collective steps of a schedule to operations: one for each group, kind, root and size. Operations of one
// algorithm over groups that have no rank in common share a communicator, so that a rank has few of them.
#include "job_collectives.h"

#include <inttypes.h>
#include <stdlib.h>

enum { COMMUNICATORS_MAX = 1024 };

static int by_step(const void *a, const void *b) {
    return weft_job_compare_steps(*(const struct weft_schedule_step *const *)a,
                                  *(const struct weft_schedule_step *const *)b);
}

/// The collectives of each group, according to its first member; returns how many. A group of one rank does nothing.
/// `list` may be NULL.
static size_t list_steps(const struct weft_schedule *s, const struct weft_schedule_step **list) {
    size_t n = 0;
    for (uint32_t r = 0; r < s->ranks; r++)
        for (uint32_t i = 0; i < s->rank[r].steps; i++) {
            const struct weft_schedule_step *step = &s->rank[r].step[i];
            if (step->kind != WEFT_SCHEDULE_COLLECTIVE) continue;
            const struct weft_schedule_group *group = &s->group[step->peer];
            if (group->rank[0] != r || group->ranks == 1) continue;
            if (list) list[n] = step;
            n++;
        }
    return n;
}

static void make_op(struct weft__collectives *c, const struct weft__schedule_models *models,
                    const struct weft_schedule_step *step, const struct weft_topology *topology) {
    struct weft_job *job = c->job;
    const struct weft_job_op *before = job->ops ? &job->op[job->ops - 1] : NULL;
    struct weft_job_op *op = &job->op[job->ops++];
    const struct weft_schedule_group *group = &job->schedule->group[step->peer];
    weft_bytes bytes = step->collective == WEFT_SCHEDULE_BARRIER || !step->size ? 1 : step->size;
    if (before && before->group == group && before->step->collective == step->collective) {
        *op = *before;
        op->shape.bytes = op->size = bytes;
    } else {
        op->group = group;
        weft__job_collective(job, topology, &models->of[step->collective], group->ranks, 1, bytes, op);
        op->shape.wanted = weft__schedule_goal(step->collective);
    }
    op->step = step;
    op->shape.root = step->tag;
    op->overlap = true; // nothing limits what its ranks do meanwhile
}

static void make_ops(struct weft__collectives *c, const struct weft__schedule_models *models,
                     const struct weft_topology *topology, struct weft_arena *arena, struct weft_arena *scratch) {
    size_t n = list_steps(c->job->schedule, NULL), ops = 0;
    const struct weft_schedule_step **list = weft_arena_alloc(scratch, n, sizeof *list);
    list_steps(c->job->schedule, list);
    if (n) qsort(list, n, sizeof *list, by_step);
    for (size_t i = 0; i < n; i++)
        ops += !i || weft_job_compare_steps(list[i - 1], list[i]);
    c->job->op = weft_arena_alloc(arena, ops, sizeof *c->job->op);
    c->times = weft_arena_alloc(scratch, ops, sizeof *c->times);
    c->first = weft_arena_alloc(scratch, c->job->schedule->groups + (size_t)1, sizeof *c->first);
    for (size_t i = 0; i < n; i++) {
        if (!i || weft_job_compare_steps(list[i - 1], list[i])) make_op(c, models, list[i], topology);
        c->times[c->job->ops - 1]++;
        c->first[list[i]->peer + 1] = c->job->ops;
    }
    for (uint32_t g = 0; g < c->job->schedule->groups; g++)
        if (c->first[g + 1] < c->first[g]) c->first[g + 1] = c->first[g]; // it has none
}

// --- communicators ------------------------------------------------------------------------------------------------

static bool is_free(const struct weft__collectives *c, uint32_t communicator, const struct weft_schedule_group *group) {
    for (uint32_t k = 0; k < group->ranks; k++)
        if (c->group[communicator][group->rank[k]]) return false;
    return true;
}

/// The first communicator of the operation's algorithm that contains no rank of its group; a new one if there is none.
static uint32_t choose_communicator(struct weft__collectives *c, uint32_t op, struct weft_arena *scratch) {
    struct weft_job *job = c->job;
    uint32_t k = 0;
    while (k < job->communicators &&
           (job->op[job->communicator[k].op].conf != job->op[op].conf || !is_free(c, k, job->op[op].group)))
        k++;
    if (k == COMMUNICATORS_MAX) return WEFT_NONE;
    if (k == job->communicators) {
        c->group[job->communicators] = weft_arena_alloc(scratch, job->ranks, sizeof **c->group);
        job->communicator[job->communicators++].op = op;
    }
    for (uint32_t m = 0; m < job->op[op].group->ranks; m++)
        c->group[k][job->op[op].group->rank[m]] = job->op[op].step->peer + 1;
    return k;
}

static enum weft_status find_communicators(struct weft__collectives *c, struct weft_place place,
                                           struct weft_arena *arena, struct weft_arena *scratch,
                                           struct weft_error *ret_error) {
    struct weft_job *job = c->job;
    job->communicator = weft_arena_alloc(arena, COMMUNICATORS_MAX, sizeof *job->communicator);
    c->group = weft_arena_alloc(scratch, COMMUNICATORS_MAX, sizeof *c->group);
    for (uint32_t i = 0; i < job->ops; i++) {
        struct weft_job_op *op = &job->op[i];
        bool same = i && job->op[i - 1].group == op->group && job->op[i - 1].conf == op->conf;
        op->communicator = same ? job->op[i - 1].communicator : choose_communicator(c, i, scratch);
        if (op->communicator == WEFT_NONE)
            return WEFT_REFUSE(ret_error, place,
                               "its groups need more than %d communicators of a rank; expected fewer groups that "
                               "have ranks in common",
                               COMMUNICATORS_MAX);
        op->volume = same ? job->op[i - 1].volume + 1 : 0;
        struct weft_communicator *own = &job->communicator[op->communicator];
        uint32_t lanes = op->ops->lanes(op->conf, &op->shape);
        if (lanes > own->lanes_max) own->lanes_max = lanes;
        if (op->volume >= own->volumes) own->volumes = op->volume + 1;
    }
    return WEFT_OK;
}

static const enum weft_collective_goal goals[WEFT_SCHEDULE_COLLECTIVES] = {
    [WEFT_SCHEDULE_ALL_REDUCE] = WEFT_GOAL_ALL_REDUCE, [WEFT_SCHEDULE_ALL_GATHER] = WEFT_GOAL_ALL_GATHER,
    [WEFT_SCHEDULE_ALL_TO_ALL] = WEFT_GOAL_EXCHANGE,   [WEFT_SCHEDULE_REDUCE_SCATTER] = WEFT_GOAL_REDUCE_SCATTER,
    [WEFT_SCHEDULE_BROADCAST] = WEFT_GOAL_BROADCAST,   [WEFT_SCHEDULE_GATHER] = WEFT_GOAL_EXCHANGE,
    [WEFT_SCHEDULE_REDUCE] = WEFT_GOAL_REDUCE,         [WEFT_SCHEDULE_SCATTER] = WEFT_GOAL_EXCHANGE,
    [WEFT_SCHEDULE_BARRIER] = WEFT_GOAL_ALL_REDUCE,
};

enum weft_collective_goal weft__schedule_goal(uint32_t collective) {
    bool rooted = collective == WEFT_SCHEDULE_GATHER || collective == WEFT_SCHEDULE_SCATTER;
    return rooted ? WEFT_GOAL_OTHER : goals[collective];
}

static enum weft_status check_goal(const struct weft_model_conf *model, uint32_t collective,
                                   enum weft_collective_goal goal, struct weft_error *ret_error) {
    if (goal == goals[collective]) return WEFT_OK;
    return WEFT_REFUSE(
        ret_error, model->place, "'%s' does something else; expected an algorithm of the kind %s", model->model->name,
        weft_schedule_collectives[collective == WEFT_SCHEDULE_BARRIER ? WEFT_SCHEDULE_ALL_REDUCE : collective]);
}

/// Except those whose file says what they are for.
static enum weft_status check_models(const struct weft__schedule_models *models, struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK;
    for (uint32_t k = 0; k < WEFT_SCHEDULE_COLLECTIVES && !status; k++) {
        const struct weft_collective_ops *ops = models->of[k].model->ops;
        if (!ops->load) status = check_goal(&models->of[k], k, ops->goal, ret_error);
    }
    return status;
}

static enum weft_status load_job(struct weft_job *job, const struct weft__schedule_models *models,
                                 struct weft_place place, struct weft_arena *arena, struct weft_error *ret_error) {
    enum weft_status status = weft__job_load(job, place, arena, ret_error);
    for (uint32_t i = 0; i < job->ops && !status; i++)
        status = check_goal(&models->of[job->op[i].step->collective], job->op[i].step->collective, job->op[i].goal,
                            ret_error);
    return status;
}

enum weft_status weft__collectives_find(struct weft__collectives *c, struct weft_job *job,
                                        const struct weft__schedule_models *models, struct weft_place place,
                                        const struct weft_topology *topology, struct weft_arena *arena,
                                        struct weft_arena *scratch, struct weft_error *ret_error) {
    *c = (struct weft__collectives){.job = job};
    enum weft_status status = models ? check_models(models, ret_error) : WEFT_OK;
    if (status || !job->schedule->collectives) return status;
    make_ops(c, models, topology, arena, scratch);
    status = load_job(job, models, place, arena, ret_error);
    return status ? status : find_communicators(c, place, arena, scratch, ret_error);
}

void weft__collectives_connect(const struct weft__collectives *c, struct weft__finder *f, uint32_t rank) {
    for (uint32_t k = 0; k < c->job->communicators; k++) {
        uint32_t group = c->group[k][rank];
        for (uint32_t i = group ? c->first[group - 1] : 0; group && i < c->first[group]; i++)
            if (c->job->op[i].communicator == k) weft__finder_add_op(f, rank, &c->job->op[i], c->times[i]);
    }
}
