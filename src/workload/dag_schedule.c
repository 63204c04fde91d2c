// SPDX-License-Identifier: Apache-2.0
// A workload as one schedule (weft/schedule.h), with a rank per host: lanes of jobs and flows by dag_lanes.c; schedules
// unchanged, except for their collectives, which become the messages of their algorithms.
//
// Starts other than 0 form a chain of computes on a separate stream. A lane also computes on its own stream, as far as
// 255 streams allow. Omitted: clear-to-send, the share that channels take from compute, and READ requests.
#include <inttypes.h>
#include <stdlib.h>

#include "base/order.h"
#include "dag_lanes.h"
#include "dag_triggers.h"
#include "weft/memory.h"

enum { STREAMS = 255 };

struct maker {
    struct weft__emitter e;
    const struct weft_workload *w;
    const char *name;         ///< of the schedule
    uint32_t *first, *rank;   ///< [hosts + 1], in `rank`: ranks of the DAG by host
    uint32_t *tag0;           ///< [jobs]: what is added to the tags of a schedule
    struct weft__notes notes; ///< of triggers
    struct weft_error *error;
};

/// A rank of the DAG, while its host is being built.
struct part {
    struct weft_dag_rank at;
    uint32_t number; ///< in the DAG
    uint32_t cpu0;
    struct weft__lanes lanes;
    struct weft__front start; ///< of a schedule
};
struct start {
    weft_time_ps from_ps;
    struct weft__front *front;
};

static const struct weft_job *job_of(const struct maker *m, const struct part *p) {
    return p->at.job == WEFT_NONE ? NULL : &m->w->job[p->at.job];
}

static uint8_t stream_of(const struct part *p, uint32_t number) {
    return (uint8_t)((p->cpu0 + number) % STREAMS);
}

// --- schedules ----------------------------------------------------------------------------------------------------

/// A collective of a schedule at a rank.
struct operation {
    const struct weft_job *job;
    const struct weft_job_op *op;
    uint32_t connection0, rank, number;
};

static bool operation_next(void *context, struct weft__lane_cursor *lane) {
    const struct operation *o = context;
    const struct weft_collective_ops *ops = o->op->ops;
    uint64_t steps = ops->steps(o->op->conf, &o->op->shape, o->number, lane->at.lane);
    struct weft_step step;
    if (!weft_job_find_step(o->op, WEFT_TURN_WHOLE, o->number, lane->at.lane, NULL, steps, &lane->at.index, &step))
        return false;
    lane->step = (struct weft_dag_step){.add = WEFT_NONE};
    weft__dag_place_step(o->job, o->rank, o->connection0, o->op, o->number, 0, &step, &lane->step);
    lane->at.index++;
    return true;
}

/// Copies its lanes, between a compute that takes no time and another one: *ret_last.
static uint32_t copy_collective(struct maker *m, const struct part *p, const struct weft_schedule_step *step,
                                struct weft__front *front, uint32_t *ret_last) {
    const struct weft_job *job = job_of(m, p);
    struct weft_schedule_step nothing = {.kind = WEFT_SCHEDULE_COMPUTE, .cpu = stream_of(p, job->schedule->cpus)};
    uint32_t first = weft__emit(&m->e, front, &nothing);
    *ret_last = first;
    if (job->schedule->group[step->peer].ranks == 1) return first;
    struct operation o = {job, &job->op[weft_job_find_op(job, step)], m->e.dag->connection0[p->at.job], p->at.number,
                          0};
    o.number = weft_job_number(o.op, o.rank);
    uint32_t lane0 = job->schedule->cpus;
    for (uint32_t c = 0; c < o.op->communicator; c++)
        lane0 += job->communicator[c].lanes_max;
    struct weft__lanes x = {&m->e, .lanes = o.op->ops->lanes(o.op->conf, &o.op->shape), .next = operation_next,
                            .context = &o};
    x.lane = weft_memory_new(WEFT_MEMORY_SCENARIO, x.lanes, sizeof *x.lane);
    for (uint32_t k = 0; k < x.lanes; k++) {
        x.lane[k].at.lane = k;
        x.lane[k].cpu = stream_of(p, lane0 + k);
        x.lane[k].front = *front;
    }
    bool ended = weft__lanes_run(&x);
    assert(ended);
    (void)ended;
    struct weft__front all = {0};
    for (uint32_t k = 0; k < x.lanes; k++)
        for (uint32_t i = 0; i < x.lane[k].front.n; i++) {
            if (all.n == sizeof all.on / sizeof *all.on) weft__emit(&m->e, &all, &nothing);
            weft__front_add(&all, x.lane[k].front.on[i].step, x.lane[k].front.on[i].started);
        }
    *ret_last = weft__emit(&m->e, &all, &nothing);
    weft__lanes_free(&x);
    weft_memory_free(WEFT_MEMORY_SCENARIO, x.lane, x.lanes * sizeof *x.lane);
    return first;
}

static uint32_t copy_step(struct maker *m, const struct part *p, const struct weft_schedule_step *step,
                          struct weft__front *front, uint32_t *ret_last) {
    const struct weft_job *job = job_of(m, p);
    if (step->kind == WEFT_SCHEDULE_COLLECTIVE) return copy_collective(m, p, step, front, ret_last);
    struct weft_schedule_step copy = *step;
    copy.line = 0;
    copy.cpu = stream_of(p, step->cpu);
    if (step->kind != WEFT_SCHEDULE_COMPUTE) {
        if (step->peer != WEFT_SCHEDULE_ANY) copy.peer = job->host[step->peer];
        if (step->tag != WEFT_SCHEDULE_ANY) copy.tag += m->tag0[p->at.job];
    }
    return *ret_last = weft__emit(&m->e, front, &copy);
}

static void copy_rank(struct maker *m, const struct part *p) {
    const struct weft_schedule_rank *r = &job_of(m, p)->schedule->rank[p->at.number];
    uint32_t *first = weft_arena_alloc(m->e.scratch, r->steps, sizeof *first),
             *last = weft_arena_alloc(m->e.scratch, r->steps, sizeof *last);
    for (uint32_t i = 0; i < r->steps && !m->e.full; i++) {
        struct weft__front front = r->step[i].waits ? (struct weft__front){0} : p->start;
        first[i] = copy_step(m, p, &r->step[i], &front, &last[i]);
    }
    for (uint32_t i = 0; i < r->steps && !m->e.full; i++)
        for (uint32_t e = r->step[i].edge0; e < r->step[i + 1].edge0; e++) {
            bool started = r->edge[e] & WEFT_SCHEDULE_AFTER_START;
            m->e.full |= !weft_schedule_add_edge(&m->e.builder, started ? first[i] : last[i],
                                                 first[r->edge[e] & ~WEFT_SCHEDULE_AFTER_START], started);
        }
}

// --- hosts --------------------------------------------------------------------------------------------------------

static bool lane_next(void *context, struct weft__lane_cursor *lane) {
    const struct maker *m = context;
    return weft_dag_next(m->e.dag, &lane->at, &lane->step);
}

/// Lanes with their first steps.
static void begin_part(struct maker *m, struct part *p, uint32_t rank, uint32_t *cpu) {
    p->number = rank;
    p->at = weft_dag_rank_at(m->e.dag, rank);
    p->cpu0 = *cpu;
    const struct weft_job *job = job_of(m, p);
    if (job && job->schedule) {
        *cpu += job->schedule->cpus + (job->schedule->collectives > 0);
        return;
    }
    struct weft__lanes *x = &p->lanes;
    *x = (struct weft__lanes){&m->e, .lanes = p->at.lanes, .counters = p->at.counters, .next = lane_next, .context = m};
    x->lane = weft_arena_alloc(m->e.scratch, x->lanes, sizeof *x->lane);
    x->counter = weft_arena_alloc(m->e.scratch, x->counters, sizeof *x->counter);
    for (uint32_t k = 0; k < x->lanes; k++) {
        struct weft__lane_cursor *lane = &x->lane[k];
        lane->at = (struct weft_dag_cursor){.rank = rank, .lane = k};
        lane->cpu = stream_of(p, job ? k : 0);
        lane->has = weft_dag_next(m->e.dag, &lane->at, &lane->step);
        lane->done = !lane->has;
    }
    *cpu += job ? x->lanes : 1;
}

WEFT__ORDER(by_time, struct start, WEFT__UP(from_ps))

/// Lanes and schedules that start later than 0 wait for a compute that ends then.
static void emit_starts(struct maker *m, struct part *part, uint32_t parts, uint32_t cpu) {
    size_t n = 0, room = 0;
    for (uint32_t i = 0; i < parts; i++)
        room += part[i].lanes.lanes + (size_t)1;
    struct start *list = weft_arena_alloc(m->e.scratch, room, sizeof *list);
    for (uint32_t i = 0; i < parts; i++) {
        struct part *p = &part[i];
        const struct weft_job *job = job_of(m, p);
        if (job && job->schedule && job->start_ps) list[n++] = (struct start){job->start_ps, &p->start};
        for (uint32_t k = 0; k < p->lanes.lanes; k++)
            if (p->lanes.lane[k].step.from_ps)
                list[n++] = (struct start){p->lanes.lane[k].step.from_ps, &p->lanes.lane[k].front};
    }
    if (n) qsort(list, n, sizeof *list, by_time);
    struct weft__front front = {0};
    for (size_t i = 0; i < n; i++) {
        weft_time_ps before = i ? list[i - 1].from_ps : 0;
        if (list[i].from_ps > before)
            weft__emit(&m->e, &front,
                       &(struct weft_schedule_step){.kind = WEFT_SCHEDULE_COMPUTE,
                                                    .size = list[i].from_ps - before,
                                                    .cpu = (uint8_t)(cpu < STREAMS ? cpu : STREAMS)});
        *list[i].front = front;
    }
}

static bool make_part(struct maker *m, struct part *p) {
    const struct weft_dag *dag = m->e.dag;
    const struct weft_job *job = job_of(m, p);
    uint32_t first = job ? job->first[p->at.number] : 0, end = job ? job->first[p->at.number + 1] : 0;
    weft__emit_connections(&m->e, job ? dag->connection0[p->at.job] + first : 0, end - first);
    if (job && job->schedule) {
        copy_rank(m, p);
        return true;
    }
    bool ended = weft__lanes_run(&p->lanes);
    weft__lanes_free(&p->lanes);
    return ended;
}

/// An error about all of them is reported at the first.
static struct weft_place job_place(const struct maker *m) {
    return m->w->jobs ? m->w->job[0].place : (struct weft_place){.file = m->name};
}

static enum weft_status make_host(struct maker *m, uint32_t host) {
    uint32_t parts = m->first[host + 1] - m->first[host], cpu = 0;
    bool ended = true;
    m->e.scratch = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct part *part = weft_arena_alloc(m->e.scratch, parts, sizeof *part);
    for (uint32_t i = 0; i < parts; i++)
        begin_part(m, &part[i], m->rank[m->first[host] + i], &cpu);
    emit_starts(m, part, parts, cpu);
    for (uint32_t i = 0; i < parts && ended && !m->e.full; i++)
        ended = make_part(m, &part[i]);
    if (m->w->triggers && !m->e.full && ended)
        weft__notes_emit(&m->notes, &m->e, host, parts ? stream_of(&part[parts - 1], 0) : 0);
    weft_arena_free(m->e.scratch);
    weft_schedule_end_rank(&m->e.builder, 0);
    const char *name = m->w->topology->node[m->w->topology->host[host]].name;
    if (m->e.full)
        return WEFT_REFUSE(m->error, job_place(m), "%s has more steps, or dependencies, than a schedule may have (%u)",
                           name, WEFT_SCHEDULE_STEPS_MAX);
    if (!ended)
        return weft_error_set(m->error, WEFT_ERROR_STALL, job_place(m), "%s: lanes that wait for one another for ever",
                              name);
    return WEFT_OK;
}

// --- tags ---------------------------------------------------------------------------------------------------------

/// Tags of schedules are kept, one schedule's after the other's; those of connections follow.
static enum weft_status choose_tags(struct maker *m) {
    uint64_t next = 0;
    bool wild = false, others = false;
    for (uint32_t j = 0; j < m->w->jobs; j++) {
        const struct weft_schedule *s = m->w->job[j].schedule;
        uint64_t most = 0;
        others |= !s || s->collectives;
        others |= s && next;
        for (uint32_t r = 0; s && r < s->ranks; r++)
            for (uint32_t i = 0; i < s->rank[r].steps; i++) {
                const struct weft_schedule_step *step = &s->rank[r].step[i];
                bool sends = step->kind == WEFT_SCHEDULE_SEND, receives = step->kind == WEFT_SCHEDULE_RECV;
                wild |= receives && (step->tag == WEFT_SCHEDULE_ANY || step->peer == WEFT_SCHEDULE_ANY);
                if (sends && step->tag > most) most = step->tag;
            }
        m->tag0[j] = (uint32_t)next;
        if (s) next += most + 1;
    }
    others |= m->e.dag->connections > m->e.dag->connection0[m->w->jobs];
    m->e.tag0 = (uint32_t)next;
    if (wild && others)
        return WEFT_REFUSE(m->error, job_place(m),
                           "a schedule receives with any source or tag, and would receive what else goes on beside "
                           "it; expected that schedule alone");
    m->notes.tag0 = (uint32_t)next + m->e.dag->connections;
    if (next + m->e.dag->connections + m->notes.tags >= WEFT_SCHEDULE_ANY)
        return WEFT_REFUSE(m->error, job_place(m),
                           "schedules with tags up to %" PRIu64 " leave none for %" PRIu32 " connections", next,
                           m->e.dag->connections);
    return WEFT_OK;
}

// --- all of it ----------------------------------------------------------------------------------------------------

static void list_ranks(struct maker *m, struct weft_arena *scratch) {
    const struct weft_dag *dag = m->e.dag;
    uint32_t hosts = m->w->topology->hosts;
    m->first = weft_arena_alloc(scratch, hosts + (size_t)2, sizeof *m->first);
    m->rank = weft_arena_alloc(scratch, dag->ranks, sizeof *m->rank);
    for (uint32_t r = 0; r < dag->ranks; r++)
        m->first[weft_dag_rank_at(dag, r).host + 2]++;
    for (uint32_t h = 0; h < hosts; h++)
        m->first[h + 2] += m->first[h + 1];
    for (uint32_t r = 0; r < dag->ranks; r++)
        m->rank[m->first[weft_dag_rank_at(dag, r).host + 1]++] = r;
}

/// A rank of a schedule is a host, and none sends to itself.
static enum weft_status check_nics(const struct maker *m, struct weft_arena *scratch) {
    uint32_t *seen = weft_arena_alloc(scratch, m->w->topology->hosts, sizeof *seen); // number of the job, + 1
    for (uint32_t j = 0; j < m->w->jobs; j++)
        for (uint32_t r = 0; r < m->w->job[j].ranks; r++) {
            uint32_t host = m->w->job[j].host[r];
            if (seen[host] == j + 1)
                return WEFT_REFUSE(m->error, m->w->job[j].place,
                                   "ranks of job %s share the NIC of %s; a schedule has one rank per host",
                                   m->w->group[m->w->job[j].group],
                                   m->w->topology->node[m->w->topology->host[host]].name);
            seen[host] = j + 1;
        }
    return WEFT_OK;
}

enum weft_status weft_dag_schedule(const struct weft_dag *dag, const char *name, struct weft_arena *arena,
                                   struct weft_schedule **ret_schedule, struct weft_error *ret_error) {
    const struct weft_workload *w = dag->workload;
    struct maker m = {.e = {.dag = dag}, .w = w, .name = name, .error = ret_error};
    if (w->rmas)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = name},
                           "what remote memory access sends depends on answers; expected a workload without");
    struct weft_arena *scratch = weft_arena_new(WEFT_MEMORY_SCENARIO);
    m.tag0 = weft_arena_alloc(scratch, w->jobs, sizeof *m.tag0);
    list_ranks(&m, scratch);
    enum weft_status status = check_nics(&m, scratch);
    if (!status && w->triggers) status = weft__notes_make(w, name, scratch, &m.notes, ret_error);
    if (!status) status = choose_tags(&m);
    weft_schedule_begin(&m.e.builder, name, w->topology->hosts, arena);
    for (uint32_t h = 0; h < w->topology->hosts && !status; h++)
        status = make_host(&m, h);
    *ret_schedule = weft_schedule_end(&m.e.builder);
    weft_arena_free(scratch);
    return status;
}
