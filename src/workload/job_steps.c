// SPDX-License-Identifier: Apache-2.0
// What the ranks of a job do, as a schedule (weft/schedule.h) with collectives: a compute and a collective for each
// operation of each iteration, one after another except where they overlap. Data passed to the next rank (send_recv)
// becomes a send and a receive, and an all-reduce of one byte a barrier.
#include <inttypes.h>
#include <string.h>

#include "base/grow.h"
#include "weft/job.h"

struct maker {
    const struct weft_job *job;
    struct weft_schedule_builder b;
    uint32_t *group; ///< [communicators * ranks], by the group's first rank: the schedule's group + 1
    uint32_t rank;
    uint32_t last; ///< step that the next one waits for, + 1
    uint32_t overlapping, *overlap, overlap_room;
    bool full;
};

static uint32_t add_step(struct maker *m, const struct weft_schedule_step *step) {
    uint32_t number = m->b.steps;
    m->full |= !weft_schedule_add(&m->b, step);
    if (m->last && !m->full) m->full |= !weft_schedule_add_edge(&m->b, m->last - 1, number, false);
    return number;
}

/// The group of the rank in an operation, created when the first of its members reaches it.
static uint32_t group_of(struct maker *m, const struct weft_job_op *op) {
    uint32_t first = weft_job_member(op, m->rank, 0);
    uint32_t *group = &m->group[(size_t)op->communicator * m->job->ranks + first];
    if (*group) return *group - 1;
    uint32_t *rank = weft_memory_new(WEFT_MEMORY_SCENARIO, op->shape.ranks, sizeof *rank);
    for (uint32_t k = 0; k < op->shape.ranks; k++)
        rank[k] = weft_job_member(op, first, k);
    *group = weft_schedule_add_group(&m->b, op->name, rank, op->shape.ranks) + 1;
    weft_memory_free(WEFT_MEMORY_SCENARIO, rank, op->shape.ranks * sizeof *rank);
    return *group - 1;
}

/// False: there is no such kind.
static bool kind_of(const struct weft_job_op *op, uint8_t *ret_kind) {
    static const uint8_t kind[WEFT_GOALS] = {
        [WEFT_GOAL_ALL_REDUCE] = WEFT_SCHEDULE_ALL_REDUCE, [WEFT_GOAL_REDUCE_SCATTER] = WEFT_SCHEDULE_REDUCE_SCATTER,
        [WEFT_GOAL_ALL_GATHER] = WEFT_SCHEDULE_ALL_GATHER, [WEFT_GOAL_BROADCAST] = WEFT_SCHEDULE_BROADCAST,
        [WEFT_GOAL_EXCHANGE] = WEFT_SCHEDULE_ALL_TO_ALL,   [WEFT_GOAL_REDUCE] = WEFT_SCHEDULE_REDUCE,
    };
    bool gathers = !strcmp(op->name, "gather"), scatters = !strcmp(op->name, "scatter");
    *ret_kind = gathers ? WEFT_SCHEDULE_GATHER : scatters ? WEFT_SCHEDULE_SCATTER : kind[op->ops->goal];
    if (op->ops->goal == WEFT_GOAL_ALL_REDUCE && op->shape.bytes == 1) *ret_kind = WEFT_SCHEDULE_BARRIER;
    return gathers || scatters || !op->ops->part; // otherwise parts differ in size
}

/// A rank sends something to the next one of its group, and receives something from the previous one, if these exist.
static uint32_t add_messages(struct maker *m, const struct weft_job_turn *turn, uint32_t *step) {
    const struct weft_job_op *op = &m->job->op[turn->op];
    uint32_t n = 0, number = weft_job_number(op, m->rank), lanes = op->ops->lanes(op->conf, &op->shape);
    bool sends = turn->part == WEFT_TURN_RECEIVE, receives = turn->part == WEFT_TURN_SEND; // or omitted
    for (uint32_t lane = 0; lane < lanes; lane++) {
        struct weft_step first;
        if (!op->ops->steps(op->conf, &op->shape, number, lane)) continue;
        op->ops->step(op->conf, &op->shape, number, lane, 0, &first);
        bool out = first.send[0] != WEFT_NONE, *done = out ? &sends : &receives;
        if (*done) continue; // another channel has it
        *done = true;
        step[n++] = add_step(m, &(struct weft_schedule_step){
                                    .kind = out ? WEFT_SCHEDULE_SEND : WEFT_SCHEDULE_RECV,
                                    .size = op->shape.bytes,
                                    .peer = weft_job_fellow(op, m->rank, number, out ? first.send[0] : first.recv[0]),
                                    .tag = turn->op});
    }
    return n;
}

static uint32_t add_collective(struct maker *m, const struct weft_job_op *op) {
    struct weft_schedule_step step = {.kind = WEFT_SCHEDULE_COLLECTIVE, .size = op->shape.bytes, .tag = op->shape.root};
    kind_of(op, &step.collective);
    step.peer = group_of(m, op);
    return add_step(m, &step);
}

/// The next step waits for all of these in addition to what it already waits for.
static void join_steps(struct maker *m, const uint32_t *step, uint32_t n) {
    if (!n) return;
    uint32_t number = add_step(m, &(struct weft_schedule_step){.kind = WEFT_SCHEDULE_COMPUTE});
    for (uint32_t k = 0; k < n && !m->full; k++)
        m->full |= !weft_schedule_add_edge(&m->b, step[k], number, false);
    m->last = number + 1;
}

static void note_overlap(struct maker *m, uint32_t step) {
    WEFT__ADD_DOUBLE(WEFT_MEMORY_SCENARIO, m->overlap, m->overlapping, m->overlap_room, 16) = step;
}

static void add_turn(struct maker *m, const struct weft_job_turn *turn) {
    const struct weft_job_op *op = &m->job->op[turn->op];
    weft_time_ps time = weft_job_compute_time(m->job, m->rank, op);
    uint32_t step[2], n;
    if (time) m->last = add_step(m, &(struct weft_schedule_step){.kind = WEFT_SCHEDULE_COMPUTE, .size = time}) + 1;
    if (!op->name) return;
    if (op->ops->goal == WEFT_GOAL_NEXT) {
        n = add_messages(m, turn, step);
    } else {
        step[0] = add_collective(m, op);
        n = 1;
    }
    if (!weft_job_turn_blocks(m->job, turn))
        for (uint32_t k = 0; k < n; k++)
            note_overlap(m, step[k]);
    else if (n == 1)
        m->last = step[0] + 1;
    else
        join_steps(m, step, n);
}

static void add_rank(struct maker *m) {
    const struct weft_job *job = m->job;
    const struct weft_job_stage *stage = &job->stage[weft_job_stage_of(job, m->rank)];
    m->last = 0;
    if (job->start_ps)
        m->last = add_step(m, &(struct weft_schedule_step){.kind = WEFT_SCHEDULE_COMPUTE, .size = job->start_ps}) + 1;
    for (uint32_t i = 0; i < job->iterations && !m->full; i++) {
        for (uint32_t t = 0; t < stage->turns && !m->full; t++)
            add_turn(m, &stage->turn[t]);
        join_steps(m, m->overlap, m->overlapping);
        m->overlapping = 0;
    }
    weft_schedule_end_rank(&m->b, 0);
}

static enum weft_status check_ops(const struct weft_job *job, const char *name, struct weft_error *ret_error) {
    uint8_t kind;
    for (uint32_t i = 0; i < job->ops; i++)
        if (job->op[i].name && !kind_of(&job->op[i], &kind))
            return WEFT_REFUSE(ret_error, (struct weft_place){.file = name},
                               "%s is none of the collectives that a schedule has: its parts differ in size",
                               job->op[i].name);
    return WEFT_OK;
}

enum weft_status weft_job_schedule(const struct weft_job *job, const char *name, struct weft_arena *arena,
                                   const struct weft_schedule **ret_schedule, struct weft_error *ret_error) {
    struct maker m = {.job = job};
    if (job->schedule) {
        *ret_schedule = job->schedule;
        return WEFT_OK;
    }
    WEFT_TRY(check_ops(job, name, ret_error));
    size_t groups = (size_t)job->communicators * job->ranks;
    m.group = weft_memory_new(WEFT_MEMORY_SCENARIO, groups, sizeof *m.group);
    weft_schedule_begin(&m.b, name, job->ranks, arena);
    for (m.rank = 0; m.rank < job->ranks && !m.full; m.rank++)
        add_rank(&m);
    *ret_schedule = weft_schedule_end(&m.b);
    weft_memory_free(WEFT_MEMORY_SCENARIO, m.overlap, m.overlap_room * sizeof *m.overlap);
    weft_memory_free(WEFT_MEMORY_SCENARIO, m.group, groups * sizeof *m.group);
    if (!m.full) return weft_schedule_check(*ret_schedule, ret_error);
    return WEFT_REFUSE(ret_error, (struct weft_place){.file = name},
                       "a rank has more steps than a schedule may have (%u)", WEFT_SCHEDULE_STEPS_MAX);
}
