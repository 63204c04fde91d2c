// SPDX-License-Identifier: Apache-2.0
// Results of training jobs: iterations, collectives, admission by the receiver.
#include <math.h>

#include "results/rows.h"

WEFT_RESULT_PRESENT(has_jobs, run->workload->jobs > 0)
WEFT_RESULT_PRESENT(has_samples, run->outcome->jobs && run->outcome->job->sample_classes)

/// Number of the job that rows belong to.
WEFT_RESULT_VALUE(number_above, WEFT__RESULT_WHOLE(c->above->at - 1))
#define JOB_ABOVE                                                                                                      \
    WEFT_RESULT_CALL(number_above, "job", COUNT, "number of the job", .references = "jobs",                            \
                     .flags = WEFT_RESULT_KEY | WEFT_RESULT_ABOVE)

// --- jobs ---------------------------------------------------------------------------------------------------------

/// Part 0 is the job, part 1 its statistics.
static bool next_job(struct weft_result_cursor *c) {
    struct weft_job_stats *stats = c->state = c->state ? c->state : weft_arena_alloc(c->arena, 1, sizeof *stats);
    if (c->at == c->run->workload->jobs) return false;
    *stats = weft_report_job(c->run, (uint32_t)c->at);
    c->part[0] = &c->run->workload->job[c->at++];
    c->part[1] = stats;
    return true;
}

#define STATS(field, kind, ...) WEFT_RESULT_AT(1, struct weft_job_stats, field, #field, kind, __VA_ARGS__)
const struct weft_result_table weft__results_jobs = WEFT_RESULT_TABLE_OF(
    "jobs", LIST, "a job", WEFT_RESULT_AND(.next = next_job, .present = has_jobs),
    WEFT_RESULT_CALL(weft_result_index, "job", COUNT, "number of the job, in the order of the workload",
                     .flags = WEFT_RESULT_KEY),
    STATS(name, TEXT, "name of the job's group"), STATS(ranks, COUNT, "ranks of the job"),
    WEFT_RESULT(struct weft_job, iterations, COUNT, "iterations that each rank is to do"),
    STATS(finished, COUNT, "iterations that all ranks have finished"),
    WEFT_RESULT(struct weft_job, start_ps, TIME, "when the job starts"),
    STATS(iteration_ps, TIME, "time of a finished iteration, mean"),
    STATS(iteration_half_ps, TIME,
          "half of the 95% interval of the mean time of an iteration, of a sampled job (run.sample)",
          .flags = WEFT_RESULT_SPARSE),
    STATS(iteration_max_ps, TIME, "time of the longest finished iteration"),
    STATS(end_ps, TIME, "when the last rank had done all of the job; none unless all ranks have"),
    STATS(end_half_ps, TIME, "half of the 95% interval of the time when a sampled job ended (run.sample)",
          .flags = WEFT_RESULT_SPARSE),
    STATS(groups, COUNT,
          "groups of ranks that share no link, of a job of which some ran in packets (run.sample.groups)",
          .flags = WEFT_RESULT_SPARSE | WEFT_RESULT_NONZERO),
    STATS(groups_ran, COUNT, "groups of ranks that ran in packets, of a job of which some did (run.sample.groups)",
          .flags = WEFT_RESULT_SPARSE | WEFT_RESULT_NONZERO),
    STATS(exposed_ps, TIME,
          "time of an iteration in which a rank waited for communication and computed nothing, mean over ranks and "
          "iterations; none unless all are finished"));

// --- collectives of a job, over its iterations --------------------------------------------------------------------

struct collective {
    struct weft_collective_stats stats;
    uint32_t operation;
    double algbw, busbw, measured_busbw; ///< GB/s
};

static bool next_collective(struct weft_result_cursor *c) {
    uint32_t job = (uint32_t)c->above->at - 1;
    const struct weft_job *j = &c->run->workload->job[job];
    struct collective *row = c->state = c->state ? c->state : weft_arena_alloc(c->arena, 1, sizeof *row);
    while (c->at < j->ops && (!j->op[c->at].name || !j->op[c->at].times))
        c->at++;
    if (c->at == j->ops) return false;
    *row = (struct collective){.stats = weft_report_collective(c->run, job, (uint32_t)c->at),
                               .operation = (uint32_t)c->at};
    row->algbw = row->stats.algbw * 1e-9;
    row->busbw = row->stats.busbw * 1e-9;
    row->measured_busbw = row->stats.measured_busbw * 1e-9;
    c->part[0] = row;
    c->at++;
    return true;
}

#define OF_COLLECTIVE(field, key, kind, ...) WEFT_RESULT_NAMED(struct collective, field, key, kind, __VA_ARGS__)
const struct weft_result_table weft__results_job_collectives = WEFT_RESULT_TABLE_OF(
    "jobs.collectives", LIST, "a collective of a job, over its iterations", .next = next_collective, JOB_ABOVE,
    OF_COLLECTIVE(operation, "operation", COUNT, "number of the operation; repetitions by `times` are counted",
                  .flags = WEFT_RESULT_KEY),
    OF_COLLECTIVE(stats.collective, "collective", TEXT, "name of the collective"),
    OF_COLLECTIVE(stats.ranks, "ranks", COUNT, "ranks of a group that the collective is over"),
    OF_COLLECTIVE(stats.bytes, "size", BYTES, "size of the collective, as nccl-tests has it"),
    OF_COLLECTIVE(stats.finished, "times", COUNT, "times that all ranks have finished the collective"),
    OF_COLLECTIVE(stats.time_ps, "time_ps", TIME,
                  "time from when the last rank came to the collective until the last rank had finished it, mean"),
    OF_COLLECTIVE(stats.half_ps, "half_ps", TIME,
                  "half of the 95% interval of that time, of a sampled job (run.sample)", .flags = WEFT_RESULT_SPARSE),
    OF_COLLECTIVE(algbw, "algbw_GBps", REAL, "algorithm bandwidth: size over time", .unit = "GB/s"),
    OF_COLLECTIVE(busbw, "busbw_GBps", REAL, "bus bandwidth: algorithm bandwidth times the factor of nccl-tests",
                  .unit = "GB/s"),
    OF_COLLECTIVE(measured_busbw, "measured_busbw_GBps", REAL,
                  "bus bandwidth as measured elsewhere, if the workload has it (kind inspector)", .unit = "GB/s"));

// --- sampling -----------------------------------------------------------------------------------------------------

struct sampled {
    struct weft_sample_class class;
    const char *collective, *when;
};

static bool next_sampled(struct weft_result_cursor *c) {
    uint32_t job = (uint32_t)c->above->at - 1;
    const struct weft_job_outcome *o = &c->run->outcome->job[job];
    struct sampled *row = c->state = c->state ? c->state : weft_arena_alloc(c->arena, 1, sizeof *row);
    if (c->at == o->sample_classes) return false;
    *row = (struct sampled){.class = o->sample[c->at],
                            .collective = weft_report_sampled(c->run, job, &o->sample[c->at]),
                            .when = o->sample[c->at].first ? "first" : "later"};
    c->part[0] = row;
    c->at++;
    return true;
}

#define OF_SAMPLED(field, key, kind, ...) WEFT_RESULT_NAMED(struct sampled, field, key, kind, __VA_ARGS__)
const struct weft_result_table weft__results_job_sampling = WEFT_RESULT_TABLE_OF(
    "jobs.sampling", LIST, "a class of operations of a sampled job (docs/sampling.md)",
    WEFT_RESULT_AND(.next = next_sampled, .present = has_samples), JOB_ABOVE,
    WEFT_RESULT_CALL(weft_result_index, "class", COUNT, "number of the class of operations", .flags = WEFT_RESULT_KEY),
    OF_SAMPLED(class.op, "operation", COUNT, "number of the first operation of the class; none for whole iterations"),
    OF_SAMPLED(collective, "collective", TEXT, "name of the collective; iteration for whole iterations"),
    OF_SAMPLED(when, "when", TEXT, "first: at the begin of an iteration (run.sample.warm_up); later: after that"),
    OF_SAMPLED(class.instances, "instances", COUNT, "operations of the class in the whole job"),
    OF_SAMPLED(class.sampled, "sampled", COUNT, "operations of the class that ran in packets"),
    OF_SAMPLED(class.bound_ps, "bound_ps", TIME,
               "lower bound of the time of one: its bytes over the busiest NIC, or over the network of a server; mean"),
    OF_SAMPLED(class.ratio, "ratio", REAL, "time without computing over that bound, of those that ran in packets"),
    OF_SAMPLED(class.time_ps, "time_ps", TIME, "time of one with the computing before it, mean over all"),
    OF_SAMPLED(class.half_ps, "half_ps", TIME, "half of the 95% interval of that time"),
    OF_SAMPLED(class.settled, "settled", BOOL,
               "false: those sampled late took another time than those sampled early, beyond chance, and the interval "
               "is wider by the difference"));

// --- admission ----------------------------------------------------------------------------------------------------

/// Times without a sample have no value.
struct wait {
    uint64_t messages;
    double mean, p50, p90, p99, max;
};
struct admission {
    struct wait cts, sender;
};

static struct wait wait_of(const struct weft_wait_outcome *w) {
    if (!w->messages) return (struct wait){0, NAN, NAN, NAN, NAN, NAN};
    return (struct wait){w->messages,       (double)w->mean_ps, (double)w->p50_ps,
                         (double)w->p90_ps, (double)w->p99_ps,  (double)w->max_ps};
}

/// Part 0 is the job's outcome, part 1 its waits.
static bool next_admission(struct weft_result_cursor *c) {
    const struct weft_job_outcome *o = &c->run->outcome->job[c->above->at - 1];
    struct admission *row = c->state = c->state ? c->state : weft_arena_alloc(c->arena, 1, sizeof *row);
    *row = (struct admission){wait_of(&o->cts_wait), wait_of(&o->sender_wait)};
    c->part[0] = o;
    c->part[1] = row;
    return !c->at++;
}

#define WAITED(field, key, kind, ...) WEFT_RESULT_AT(1, struct admission, field, key, kind, __VA_ARGS__)
#define WAIT(field, key, before, what)                                                                                 \
    WAITED(field.mean, key ".mean", TIME, what ", mean", .was = before "_mean_ps"),                                    \
        WAITED(field.p50, key ".p50", TIME, what ", median", .was = before "_p50_ps"),                                 \
        WAITED(field.p90, key ".p90", TIME, what ", 90th percentile", .was = before "_p90_ps"),                        \
        WAITED(field.p99, key ".p99", TIME, what ", 99th percentile", .was = before "_p99_ps"),                        \
        WAITED(field.max, key ".max", TIME, what ", greatest", .was = before "_max_ps")
#define IN_FLIGHT(field, key, ...) WEFT_RESULT_NAMED(struct weft_job_outcome, field, key, BYTES, __VA_ARGS__)
const struct weft_result_table weft__results_job_admission = WEFT_RESULT_TABLE_OF(
    "jobs.admission", OBJECT, "a job: what admission by the receiver cost; percentiles are off by 0.4% at most",
    WEFT_RESULT_AND(.next = next_admission, .was = "admission"), JOB_ABOVE,
    WAITED(cts.messages, "clear_to_sends", COUNT, "clear-to-send messages that reached their sender"),
    WAIT(cts, "cts_ps", "cts", "time of a clear-to-send from the receiver's posting to the sender"),
    WAITED(sender.messages, "messages", COUNT, "messages over the network"),
    WAIT(sender, "wait_ps", "wait", "time that a message was ready and waited for its clear-to-send"),
    IN_FLIGHT(in_flight_bytes_max, "in_flight_max_bytes",
              "most bytes of a rank handed to its queue pairs and not acknowledged"),
    IN_FLIGHT(in_flight_bytes_bound, "in_flight_bound_bytes",
              "bound of the bytes in flight of a rank: connections x slots x largest message"),
    IN_FLIGHT(incoming_bytes_bound, "incoming_bound_bytes",
              "bound of the bytes in flight to a rank, where receivers grant room by slots"));

// --- every iteration and collective -------------------------------------------------------------------------------

/// The time between the two; none unless both have been reached.
static weft_time_ps time_between(weft_time_ps start, weft_time_ps end) {
    return start == WEFT_TIME_NEVER || end == WEFT_TIME_NEVER ? WEFT_TIME_NEVER : end - start;
}

/// An item of a job: an iteration, a rank, a collective.
struct place {
    uint32_t job, next_job;
    uint64_t item, next;
};

/// The next item of the jobs, each of which has `count`.
static bool next_place(struct place *at, const struct weft_run *run,
                       uint64_t (*count)(const struct weft_run *run, uint32_t job)) {
    for (; at->next_job < run->workload->jobs; at->next_job++, at->next = 0) {
        if (at->next == count(run, at->next_job)) continue;
        at->job = at->next_job;
        at->item = at->next++;
        return true;
    }
    return false;
}

#define OF_JOB(type)                                                                                                   \
    WEFT_RESULT_NAMED(struct type, at.job, "job", COUNT, "number of the job", .references = "jobs",                    \
                      .flags = WEFT_RESULT_KEY)

struct iteration {
    struct place at;
    uint32_t iteration;
    weft_time_ps start_ps, end_ps, time_ps, exposed_ps;
};

static uint64_t iterations_of(const struct weft_run *run, uint32_t job) {
    return run->workload->job[job].iterations;
}

static bool next_iteration(struct weft_result_cursor *c) {
    struct iteration *i = c->state = c->state ? c->state : weft_arena_alloc(c->arena, 1, sizeof *i);
    if (!next_place(&i->at, c->run, iterations_of)) return false;
    const struct weft_job_outcome *o = &c->run->outcome->job[i->at.job];
    i->iteration = (uint32_t)i->at.item;
    i->start_ps = i->iteration ? o->iteration_end_ps[i->iteration - 1] : c->run->workload->job[i->at.job].start_ps;
    i->end_ps = o->iteration_end_ps[i->iteration];
    i->time_ps = time_between(i->start_ps, i->end_ps);
    i->exposed_ps = i->end_ps == WEFT_TIME_NEVER ? WEFT_TIME_NEVER : o->iteration_exposed_ps[i->iteration];
    c->part[0] = i;
    return true;
}

#define OF_ITERATION(field, kind, ...) WEFT_RESULT(struct iteration, field, kind, __VA_ARGS__)
const struct weft_result_table weft__results_iterations = WEFT_RESULT_TABLE_OF(
    "iterations", APART, "an iteration of a job", .next = next_iteration, OF_JOB(iteration),
    OF_ITERATION(iteration, COUNT, "number of the iteration, from 0", .flags = WEFT_RESULT_KEY),
    OF_ITERATION(start_ps, TIME, "when the previous iteration ended"),
    OF_ITERATION(end_ps, TIME, "when the last rank ended the iteration"),
    OF_ITERATION(time_ps, TIME, "time that the iteration took"),
    OF_ITERATION(
        exposed_ps, TIME,
        "time of the iteration in which a rank waited for communication and computed nothing, mean over ranks"));

// --- ranks of a schedule ------------------------------------------------------------------------------------------

struct rank {
    struct place at;
    uint32_t rank;
    const char *host;
    weft_time_ps end_ps;
};

static uint64_t ranks_of(const struct weft_run *run, uint32_t job) {
    const struct weft_job *j = &run->workload->job[job];
    return j->schedule ? j->ranks : 0;
}

static const char *host_of(const struct weft_run *run, uint32_t job, uint32_t rank) {
    const struct weft_topology *t = run->topology;
    return t->node[t->host[run->workload->job[job].host[rank]]].name;
}

static bool next_rank(struct weft_result_cursor *c) {
    struct rank *x = c->state = c->state ? c->state : weft_arena_alloc(c->arena, 1, sizeof *x);
    if (!next_place(&x->at, c->run, ranks_of)) return false;
    x->rank = (uint32_t)x->at.item;
    x->host = host_of(c->run, x->at.job, x->rank);
    x->end_ps = c->run->outcome->job[x->at.job].rank_end_ps[x->rank];
    c->part[0] = x;
    return true;
}

#define OF_RANK(field, kind, ...) WEFT_RESULT(struct rank, field, kind, __VA_ARGS__)
const struct weft_result_table weft__results_schedule_ranks =
    WEFT_RESULT_TABLE_OF("schedule_ranks", APART, "a rank of a schedule", .next = next_rank, OF_JOB(rank),
                         OF_RANK(rank, COUNT, "number of the rank in the schedule", .flags = WEFT_RESULT_KEY),
                         OF_RANK(host, TEXT, "name of the host on which the rank runs"),
                         OF_RANK(end_ps, TIME, "when the rank had done all of its steps; none unless it has"));

// --- ranks over time ----------------------------------------------------------------------------------------------

struct rank_time {
    struct place at;
    uint32_t rank, iteration, operation;
    const char *host, *does, *what;
    weft_time_ps from_ps, until_ps;
};

static const char *operation_name(const struct weft_job *j, const struct weft_rank_span *s) {
    static const char *const kinds[] = {"", "send", "receive", "compute", "collective"};
    if (s->op == WEFT_NONE) return "";
    if (j->schedule) return kinds[j->schedule->rank[s->rank].step[s->op].kind];
    return j->op[s->op].name ? j->op[s->op].name : "compute";
}

static uint64_t spans_of(const struct weft_run *run, uint32_t job) {
    return run->outcome->job[job].spans;
}

static bool next_rank_time(struct weft_result_cursor *c) {
    struct rank_time *x = c->state = c->state ? c->state : weft_arena_alloc(c->arena, 1, sizeof *x);
    if (!next_place(&x->at, c->run, spans_of)) return false;
    const struct weft_rank_span *s = &c->run->outcome->job[x->at.job].span[x->at.item];
    x->rank = s->rank;
    x->iteration = s->iteration;
    x->operation = s->op;
    x->host = host_of(c->run, x->at.job, s->rank);
    x->does = s->computes ? "compute" : "wait";
    x->what = operation_name(&c->run->workload->job[x->at.job], s);
    x->from_ps = s->from_ps;
    x->until_ps = s->to_ps;
    c->part[0] = x;
    return true;
}

static bool has_rank_times(const struct weft_run *run) {
    for (uint32_t j = 0; j < run->workload->jobs; j++)
        if (run->outcome->job[j].spans) return true;
    return false;
}

#define OF_RANK_TIME(field, kind, ...) WEFT_RESULT(struct rank_time, field, kind, __VA_ARGS__)
const struct weft_result_table weft__results_rank_times = WEFT_RESULT_TABLE_OF(
    "rank_times", APART, "a stretch of a rank's time, in recorded runs; the first run.events of each rank",
    WEFT_RESULT_AND(.next = next_rank_time, .present = has_rank_times), OF_JOB(rank_time),
    OF_RANK_TIME(rank, COUNT, "number of the rank in its job", .flags = WEFT_RESULT_KEY),
    OF_RANK_TIME(from_ps, TIME, "when the rank began to compute or to wait", .flags = WEFT_RESULT_KEY),
    OF_RANK_TIME(until_ps, TIME, "when the rank ended it; none if the run ended before"),
    OF_RANK_TIME(does, TEXT, "compute, or wait: for communication, while the rank computes nothing"),
    OF_RANK_TIME(host, TEXT, "name of the host on which the rank runs"),
    OF_RANK_TIME(iteration, COUNT, "number of the iteration, from 0"),
    OF_RANK_TIME(
        operation, COUNT,
        "number of the operation that is computed or waited for; of a schedule the step that is computed; none "
        "for what goes on beside the last operation of an iteration"),
    OF_RANK_TIME(what, TEXT, "name of the collective of that operation, or the kind of that step"));

// --- collectives --------------------------------------------------------------------------------------------------

struct one {
    struct place at;
    uint32_t iteration, operation, ranks;
    const char *collective;
    weft_bytes size;
    weft_time_ps start_ps, end_ps, time_ps, exposed_ps;
    double algbw, busbw; ///< GB/s
};

static void fill_one(struct one *x, const struct weft_job *j, const struct weft_op_outcome *o) {
    const struct weft_job_op *op = &j->op[x->operation];
    x->collective = op->name;
    x->ranks = op->shape.ranks;
    x->size = op->size;
    x->start_ps = o->start_ps;
    x->end_ps = o->end_ps;
    x->time_ps = time_between(o->start_ps, o->end_ps);
    x->algbw = x->time_ps && x->time_ps != WEFT_TIME_NEVER ? (double)x->size * 1e3 / (double)x->time_ps : NAN;
    x->busbw = x->algbw * weft_calc_bus_factor(op->goal, op->shape.ranks);
    x->exposed_ps = x->time_ps == WEFT_TIME_NEVER ? WEFT_TIME_NEVER : o->exposed_ps;
}

static uint64_t operations_of(const struct weft_run *run, uint32_t job) {
    return (uint64_t)run->workload->job[job].iterations * run->workload->job[job].ops;
}

static bool next_one(struct weft_result_cursor *c) {
    struct one *x = c->state = c->state ? c->state : weft_arena_alloc(c->arena, 1, sizeof *x);
    while (next_place(&x->at, c->run, operations_of)) {
        const struct weft_job *j = &c->run->workload->job[x->at.job];
        x->iteration = (uint32_t)(x->at.item / j->ops);
        x->operation = (uint32_t)(x->at.item % j->ops);
        if (!j->op[x->operation].name) continue;
        fill_one(x, j, &c->run->outcome->job[x->at.job].op[x->at.item]);
        c->part[0] = x;
        return true;
    }
    return false;
}

#define OF_ONE(field, kind, ...) WEFT_RESULT(struct one, field, kind, __VA_ARGS__)
const struct weft_result_table weft__results_collectives = WEFT_RESULT_TABLE_OF(
    "collectives", APART, "a collective of an iteration", .next = next_one, OF_JOB(one),
    OF_ONE(iteration, COUNT, "number of the iteration, from 0", .flags = WEFT_RESULT_KEY),
    OF_ONE(operation, COUNT, "number of the operation; repetitions by `times` are counted", .flags = WEFT_RESULT_KEY),
    OF_ONE(collective, TEXT, "name of the collective"),
    OF_ONE(ranks, COUNT, "ranks of a group that the collective is over"),
    OF_ONE(size, BYTES, "size of the collective, as nccl-tests has it"),
    OF_ONE(start_ps, TIME, "when the last rank came to the collective"),
    OF_ONE(end_ps, TIME, "when the last rank had finished the collective"),
    OF_ONE(time_ps, TIME, "time from when the last rank came to the collective until the last rank had finished it"),
    WEFT_RESULT_NAMED(struct one, algbw, "algbw_GBps", REAL, "algorithm bandwidth: size over time", .unit = "GB/s"),
    WEFT_RESULT_NAMED(struct one, busbw, "busbw_GBps", REAL,
                      "bus bandwidth: algorithm bandwidth times the factor of nccl-tests", .unit = "GB/s"),
    OF_ONE(exposed_ps, TIME,
           "time that a rank waited for the collective and computed nothing, mean over ranks; 0 if the collective "
           "overlaps with computing: then iterations.exposed_ps has the wait at its end"));
