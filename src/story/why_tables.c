// SPDX-License-Identifier: Apache-2.0
// The answer of weft why as rows: flows, iterations and operations, each with its parts.
#include "weft/result.h"
#include "weft/why.h"

static bool is_alone(const void *why) {
    return !((const struct weft_why_answer *)why)->list;
}

// --- parts and their sums -----------------------------------------------------------------------------------------

#define PART_COLUMNS                                                                                                   \
    WEFT_RESULT_NUMBER("part", "number of the part along the critical path"),                                          \
        WEFT_RESULT_OF_NAMES(0, struct weft_why_part, kind, "kind", weft_why_names, "what the time went to"),          \
        WEFT_RESULT(struct weft_why_part, where, TEXT, "port, node or host at which the time was spent"),              \
        WEFT_RESULT(struct weft_why_part, because_of, TEXT, "what caused the wait; empty: nothing else"),              \
        WEFT_RESULT(struct weft_why_part, time_ps, TIME, "length of the part")

/// Kinds that have any time, in their own order. The place says where the sums are.
static bool next_kind(struct weft_result_cursor *c) {
    const char *row = c->above->part[0];
    const weft_time_ps *sum = *(const weft_time_ps *const *)(row + c->table->place.pointer);
    while (c->at < WEFT_WHYS && !sum[c->at])
        c->at++;
    if (c->at == WEFT_WHYS) return false;
    c->part[0] = &sum[c->at];
    c->part[1] = &weft_why_names[c->at++];
    return true;
}

struct kind {
    const char *name;
};
#define KIND_COLUMNS                                                                                                   \
    WEFT_RESULT_AT(1, struct kind, name, "kind", TEXT, "what the time went to", .flags = WEFT_RESULT_KEY), {           \
        .name = "time_ps", .type = WEFT_RESULT_TIME, .source = WEFT_RESULT_FROM_U64,                                   \
        .help = "sum of the parts of this kind"                                                                        \
    }
#define KINDS(T) .next = next_kind, .place.pointer = offsetof(T, kind_ps)

// --- flows --------------------------------------------------------------------------------------------------------

#define FLOW(field, kind, ...) WEFT_RESULT(struct weft_why, field, kind, __VA_ARGS__)
static const struct weft_result_table flow_table = WEFT_RESULT_TABLE_OF(
    "flows", LIST, "a flow whose completion time is explained",
    WEFT_RESULT_AND(.sparse = true, .merged = is_alone, WEFT_RESULT_EACH(struct weft_why_answer, flow, flows)),
    WEFT_RESULT_NUMBER("number", "number in this answer"), FLOW(flow, COUNT, "number of the flow in the run"),
    FLOW(is, TEXT, "why the flow was chosen: place among the flows of the group", .flags = WEFT_RESULT_SPARSE),
    FLOW(group, TEXT, "group of flows of the flow"), FLOW(src, TEXT, "host that sends"),
    FLOW(dst, TEXT, "host that receives"), FLOW(bytes, BYTES, "payload of the flow"),
    FLOW(fct_ps, TIME, "flow completion time"),
    FLOW(ideal_ps, TIME, "completion time alone in the network", .flags = WEFT_RESULT_OPTIONAL));
#define OF_FLOW WEFT_RESULT_ABOVE_KEY("number", "number", COUNT, "number of the flow in this answer")
static const struct weft_result_table flow_part_table =
    WEFT_RESULT_TABLE_OF("flows.parts", LIST, "a part of a flow's completion time",
                         WEFT_RESULT_EACH(struct weft_why, part, parts), OF_FLOW, PART_COLUMNS);
static const struct weft_result_table flow_kind_table = WEFT_RESULT_TABLE_OF(
    "flows.kinds", NUMBERS, "the parts of a kind, of a flow", KINDS(struct weft_why), OF_FLOW, KIND_COLUMNS);

// --- iterations of jobs -------------------------------------------------------------------------------------------

#define ITERATION(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_why_iteration, field, key, kind, __VA_ARGS__)
static const struct weft_result_table iteration_table = WEFT_RESULT_TABLE_OF(
    "iterations", LIST, "an iteration of a job whose time is explained",
    WEFT_RESULT_AND(.merged = weft_result_always, WEFT_RESULT_EACH(struct weft_why_answer, iteration, iterations)),
    ITERATION(name, "job", TEXT, "the job", .flags = WEFT_RESULT_KEY),
    ITERATION(iteration, "iteration", COUNT, "number of the iteration, from 0", .flags = WEFT_RESULT_KEY),
    ITERATION(ranks, "ranks", COUNT, "ranks of the job"),
    ITERATION(from_ps, "from_ps", TIME, "end of the iteration before, or start of the job"),
    ITERATION(time_ps, "iteration_ps", TIME, "length of the iteration"),
    ITERATION(steps_in_all, "steps_in_all", COUNT, "steps on the critical path"));
#define OF_ITERATION                                                                                                   \
    WEFT_RESULT_ABOVE_KEY("job", "job", TEXT, "the job"),                                                              \
        WEFT_RESULT_ABOVE_KEY("iteration", "iteration", COUNT, "number of the iteration, from 0")
static const struct weft_result_table iteration_kind_table =
    WEFT_RESULT_TABLE_OF("iterations.kinds", NUMBERS, "the parts of a kind, of an iteration",
                         KINDS(struct weft_why_iteration), OF_ITERATION, KIND_COLUMNS);

WEFT_RESULT_VALUE_OF(step_time, struct weft_why_step, s, weft_result_whole(true, s->to_ps - s->from_ps))

#define STEP(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_why_step, field, key, kind, __VA_ARGS__)
static const struct weft_result_table step_table = WEFT_RESULT_TABLE_OF(
    "iterations.steps", LIST, "a step on the critical path of an iteration",
    WEFT_RESULT_EACH(struct weft_why_iteration, step, steps), OF_ITERATION,
    WEFT_RESULT_NUMBER("step", "number of the step along the critical path"),
    WEFT_RESULT_OF_NAMES(0, struct weft_why_step, what, "what", weft_why_step_names, "what happens in the step"),
    STEP(op, "operation", TEXT, "operation of the message: a collective, or a step of a schedule"),
    STEP(rank, "rank", COUNT, "rank at which the step takes time"), STEP(host, "host", TEXT, "host of the rank"),
    STEP(peer, "to_rank", COUNT, "rank that a message or clear-to-send goes to", .flags = WEFT_RESULT_SPARSE),
    STEP(to_host, "to_host", TEXT, "host of that rank", .flags = WEFT_RESULT_SPARSE),
    STEP(flow, "flow", COUNT, "flow that carries the message", .flags = WEFT_RESULT_SPARSE),
    STEP(message, "message", COUNT, "number of the message on its connection, from 0", .flags = WEFT_RESULT_SPARSE),
    STEP(from_ps, "from_ps", TIME, "when the step begins"),
    WEFT_RESULT_CALL(step_time, "time_ps", TIME, "length of the step"));
static const struct weft_result_table step_part_table = WEFT_RESULT_TABLE_OF(
    "iterations.steps.parts", LIST, "a part of a step", WEFT_RESULT_EACH(struct weft_why_step, part, parts),
    OF_ITERATION, WEFT_RESULT_ABOVE_KEY("step", "step", COUNT, "number of the step along the critical path"),
    PART_COLUMNS);

// --- operations of remote memory access ---------------------------------------------------------------------------

#define OPERATION(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_why_operation, field, key, kind, __VA_ARGS__)
static const struct weft_result_table operation_table = WEFT_RESULT_TABLE_OF(
    "operations", LIST, "an operation of remote memory access whose time is explained",
    WEFT_RESULT_AND(.sparse = true, WEFT_RESULT_EACH(struct weft_why_answer, operation, operations)),
    WEFT_RESULT_NUMBER("operation", "number in this answer"),
    OPERATION(is, "is", TEXT, "why the operation was chosen: place among those of the group",
              .flags = WEFT_RESULT_SPARSE),
    OPERATION(group, "group", TEXT, "group of remote memory access of the operation"),
    OPERATION(client_host, "client", TEXT, "host that asks"),
    OPERATION(server_host, "server", TEXT, "host that is asked"),
    OPERATION(begun_ps, "begun_ps", TIME, "when the client began the operation"),
    OPERATION(latency_ps, "latency_ps", TIME, "time until the operation was complete"));
#define OF_OPERATION WEFT_RESULT_ABOVE_KEY("operation", "operation", COUNT, "number of the operation in this answer")
static const struct weft_result_table operation_part_table =
    WEFT_RESULT_TABLE_OF("operations.parts", LIST, "a part of an operation's time",
                         WEFT_RESULT_EACH(struct weft_why_operation, part, parts), OF_OPERATION, PART_COLUMNS);
static const struct weft_result_table operation_kind_table =
    WEFT_RESULT_TABLE_OF("operations.kinds", NUMBERS, "the parts of a kind, of an operation",
                         KINDS(struct weft_why_operation), OF_OPERATION, KIND_COLUMNS);

// --- what jobs cost one another -----------------------------------------------------------------------------------

#define LEDGER_JOB(field, kind, ...) WEFT_RESULT(struct weft_ledger_job, field, kind, __VA_ARGS__)
static const struct weft_result_table ledger_job_table = WEFT_RESULT_TABLE_OF(
    "jobs", LIST, "a job that shares the network",
    WEFT_RESULT_AND(.sparse = true, WEFT_RESULT_EACH(struct weft_why_answer, ledger.job, ledger.jobs)),
    LEDGER_JOB(job, TEXT, "the job", .flags = WEFT_RESULT_KEY),
    LEDGER_JOB(iterations, COUNT, "iterations that are compared, from the first"),
    LEDGER_JOB(with_ps, REAL, "time of these iterations beside the other jobs", .unit = "ps",
               .flags = WEFT_RESULT_EXACT),
    LEDGER_JOB(alone_ps, REAL, "time of these iterations in a run in which no other job starts", .unit = "ps",
               .flags = WEFT_RESULT_EXACT),
    LEDGER_JOB(slowdown, REAL, "time beside the other jobs over time without them"),
    LEDGER_JOB(cost_ps, REAL, "time that the job loses: beside the other jobs less without them", .unit = "ps",
               .flags = WEFT_RESULT_EXACT),
    LEDGER_JOB(direct_ps, REAL, "time on the critical path of the job in waits for another job", .unit = "ps"),
    LEDGER_JOB(unseen_ps, REAL, "part of the loss that no row has, because no wait for another job was seen",
               .unit = "ps"));
#define LEDGER(field, kind, ...) WEFT_RESULT(struct weft_ledger_row, field, kind, __VA_ARGS__)
static const struct weft_result_table ledger_table = WEFT_RESULT_TABLE_OF(
    "ledger", LIST, "what one job costs another at a port",
    WEFT_RESULT_AND(.sparse = true, WEFT_RESULT_EACH(struct weft_why_answer, ledger.row, ledger.rows)),
    WEFT_RESULT_NUMBER("number", "number in this answer"), LEDGER(job, TEXT, "job that waits"),
    LEDGER(by, TEXT, "job whose traffic the first one waits for"),
    LEDGER(port, TEXT, "port whose queue both jobs fill"),
    WEFT_RESULT_OF_NAMES(0, struct weft_ledger_row, kind, "kind", weft_why_names, "kind of wait"),
    LEDGER(direct_ps, REAL, "time on the critical path of the first job in such waits", .unit = "ps"),
    LEDGER(cost_ps, REAL, "part of what the first job loses: all rows of a job add up to it", .unit = "ps",
           .flags = WEFT_RESULT_EXACT),
    LEDGER(share, REAL, "cost over the time of the first job without the others"));

static const struct weft_result_table why_table = WEFT_RESULT_TABLE_OF(
    "why", OBJECT, "where the time of flows, iterations or operations went", WEFT_RESULT_SUBJECT, WEFT_RESULT_VERSION,
    WEFT_RESULT(struct weft_why_answer, scenario, TEXT, "name of the scenario"),
    WEFT_RESULT(struct weft_why_answer, variant, TEXT, "variant; empty: the scenario has none"));
const struct weft_answer weft__answer_why = WEFT_ANSWER_OF(
    "why", "weft why: where the time of flows, iterations and operations of remote memory access went", &why_table,
    &flow_table, &flow_part_table, &flow_kind_table, &iteration_table, &iteration_kind_table, &step_table,
    &step_part_table, &operation_table, &operation_part_table, &operation_kind_table, &ledger_job_table, &ledger_table);
