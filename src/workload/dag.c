// SPDX-License-Identifier: Apache-2.0
// A workload as a DAG of steps: what every rank does for the jobs and flows of a run, along lanes.
//
// A job's rank has two counters for each communicator: operations that the rank has started, and lanes of operations
// that have ended. Lane 0 goes through the turns: it computes, starts an operation, waits for its end and, at the end
// of an iteration, for the end of all. The lanes of a communicator perform its operations one after another: the next
// one when the rank has started it and all lanes have ended the previous one. src/transport/program.c does the same in
// a run.
#include "base/order.h"
#include "dag_lanes.h"

// --- flows --------------------------------------------------------------------------------------------------------

static void list_flows(struct weft_dag *dag, bool by_source, uint32_t **ret_first, uint32_t **ret_list, uint32_t n,
                       struct weft_arena *arena) {
    const struct weft_workload *w = dag->workload;
    uint32_t hosts = w->topology->hosts;
    uint32_t *first = weft_arena_alloc(arena, hosts + 2, sizeof *first),
             *list = weft_arena_alloc(arena, n, sizeof *list);
    for (uint32_t i = 0; i < n; i++)
        first[(by_source ? w->flow[dag->flow[i]].src : w->flow[dag->flow[i]].dst) + 2]++;
    for (uint32_t h = 0; h < hosts; h++)
        first[h + 2] += first[h + 1];
    for (uint32_t i = 0; i < n; i++)
        list[first[(by_source ? w->flow[dag->flow[i]].src : w->flow[dag->flow[i]].dst) + 1]++] = i;
    *ret_first = first;
    *ret_list = list;
}

static bool flow_next(const struct weft_dag *dag, struct weft_dag_cursor *at, uint32_t host,
                      struct weft_dag_step *ret_step) {
    uint32_t sends = dag->send0[host + 1] - dag->send0[host], job_connections = dag->connection0[dag->workload->jobs];
    if (at->index++) return false;
    bool source = at->lane < sends;
    uint32_t k = source ? dag->send[dag->send0[host] + at->lane] : dag->receive[dag->receive0[host] + at->lane - sends];
    const struct weft_flow *flow = &dag->workload->flow[dag->flow[k]];
    *ret_step = (struct weft_dag_step){
        .from_ps = source ? flow->start_ps : 0, .bytes = flow->bytes, .add = WEFT_NONE, .own = source, .keep = !source};
    if (source)
        ret_step->send[ret_step->sends++] = job_connections + k;
    else
        ret_step->recv[ret_step->recvs++] = job_connections + k;
    return true;
}

// --- jobs ---------------------------------------------------------------------------------------------------------

/// A rank of a job, and the data that its steps are made from.
struct place {
    const struct weft_job *job;
    const struct weft_job_stage *stage;
    uint32_t rank; ///< in its job
    uint32_t connection0;
};

static uint32_t counter_begun(uint32_t communicator) {
    return 2 * communicator;
}
static uint32_t counter_ended(uint32_t communicator) {
    return 2 * communicator + 1;
}

static void add_wait(struct weft_dag_step *step, uint32_t counter, uint64_t n) {
    step->wait[step->waits++] = (struct weft_dag_wait){counter, n};
}

/// The number of operations of the communicator in an iteration before turn `turn`.
static uint32_t count_before(const struct weft_job_order *order, uint32_t turn) {
    return WEFT__FIRST_WITHOUT(0, order->turns, order->turn[middle] < turn);
}

/// Phases of a turn: it starts (0), it waits (1); after the last turn, one phase per communicator waits for it.
static bool sequence_next(const struct place *p, struct weft_dag_cursor *at, struct weft_dag_step *ret_step) {
    const struct weft_job *job = p->job;
    *ret_step = (struct weft_dag_step){.add = WEFT_NONE};
    if (!at->iteration && !at->turn && !at->phase) ret_step->from_ps = job->start_ps;
    for (; at->iteration < job->iterations; at->iteration++, at->turn = at->phase = 0) {
        while (at->turn < p->stage->turns) {
            const struct weft_job_turn *turn = &p->stage->turn[at->turn];
            const struct weft_job_op *op = &job->op[turn->op];
            if (!at->phase) {
                at->phase = 1;
                ret_step->compute_ps = weft_job_compute_time(job, p->rank, op);
                if (op->name) ret_step->add = counter_begun(op->communicator);
                return true;
            }
            uint32_t number = at->turn++;
            at->phase = 0;
            if (!op->name || !weft_job_turn_blocks(job, turn)) continue;
            const struct weft_job_order *order = &p->stage->order[op->communicator];
            uint64_t ops = (uint64_t)at->iteration * order->turns + count_before(order, number) + 1;
            add_wait(ret_step, counter_ended(op->communicator), ops * job->communicator[op->communicator].lanes_max);
            return true;
        }
        if (at->phase < job->communicators) {
            uint32_t c = at->phase++;
            uint64_t ops = (at->iteration + UINT64_C(1)) * p->stage->order[c].turns;
            add_wait(ret_step, counter_ended(c), ops * job->communicator[c].lanes_max);
            return true;
        }
    }
    return false;
}

void weft__dag_place_step(const struct weft_job *job, uint32_t rank, uint32_t connection0, const struct weft_job_op *op,
                          uint32_t number, uint32_t lane0, const struct weft_step *step,
                          struct weft_dag_step *ret_step) {
    ret_step->op = op;
    ret_step->after_lane = lane0 + step->wait_lane;
    ret_step->after_steps = step->wait_steps;
    ret_step->bytes = step->bytes;
    ret_step->offset = step->offset;
    ret_step->own = step->own;
    ret_step->keep = step->keep;
    ret_step->compute_ps = weft_job_step_time(op, step->bytes);
    for (uint32_t k = 0; k < WEFT_STEP_PEERS && step->recv[k] != WEFT_NONE; k++) {
        uint32_t src = weft_job_fellow(op, rank, number, step->recv[k]);
        ret_step->recv[ret_step->recvs++] =
            connection0 + weft_job_find_connection(job, src, op->communicator, step->channel, rank);
    }
    for (uint32_t k = 0; k < WEFT_STEP_PEERS && step->send[k] != WEFT_NONE; k++) {
        uint32_t dst = weft_job_fellow(op, rank, number, step->send[k]);
        ret_step->send[ret_step->sends++] =
            connection0 + weft_job_find_connection(job, rank, op->communicator, step->channel, dst);
    }
}

/// The steps of lane `lane` of a communicator. Phases of an operation: it starts (0), its steps (1).
static bool lane_next(const struct place *p, uint32_t communicator, uint32_t lane, struct weft_dag_cursor *at,
                      struct weft_dag_step *ret_step) {
    const struct weft_job_order *order = &p->stage->order[communicator];
    *ret_step = (struct weft_dag_step){.add = WEFT_NONE};
    if (at->turn == order->turns) {
        at->turn = 0;
        at->iteration++;
    }
    if (at->iteration == p->job->iterations || !order->turns) return false;
    const struct weft_job_turn *turn = &p->stage->turn[order->turn[at->turn]];
    const struct weft_job_op *op = &p->job->op[turn->op];
    if (!at->phase) {
        uint64_t ops = (uint64_t)at->iteration * order->turns + at->turn;
        add_wait(ret_step, counter_begun(communicator), ops + 1);
        add_wait(ret_step, counter_ended(communicator), ops * p->job->communicator[communicator].lanes_max);
        at->phase = 1;
        at->index = 0;
        return true;
    }
    uint32_t number = weft_job_number(op, p->rank);
    uint64_t steps =
        lane < op->ops->lanes(op->conf, &op->shape) ? op->ops->steps(op->conf, &op->shape, number, lane) : 0;
    struct weft_step step;
    if (weft_job_find_step(op, turn->part, number, lane, NULL, steps, &at->index, &step)) {
        weft__dag_place_step(p->job, p->rank, p->connection0, op, number, at->lane - lane, &step, ret_step);
        at->index++;
        return true;
    }
    ret_step->add = counter_ended(communicator);
    at->phase = 0;
    at->turn++;
    return true;
}

// --- the view -----------------------------------------------------------------------------------------------------

/// The last of first[n] that is not greater than k.
static uint32_t find_job(const uint32_t *first, uint32_t jobs, uint32_t k) {
    uint32_t job = jobs - 1;
    while (k < first[job])
        job--;
    return job;
}

struct weft_dag weft_dag_of(const struct weft_workload *w, struct weft_arena *arena) {
    struct weft_dag dag = {.workload = w};
    dag.rank0 = weft_arena_alloc(arena, w->jobs + 1, sizeof *dag.rank0);
    dag.connection0 = weft_arena_alloc(arena, w->jobs + 1, sizeof *dag.connection0);
    for (uint32_t j = 0; j < w->jobs; j++) {
        dag.rank0[j + 1] = dag.rank0[j] + w->job[j].ranks;
        dag.connection0[j + 1] = dag.connection0[j] + w->job[j].connections;
    }
    dag.flow = weft_arena_alloc(arena, w->flows, sizeof *dag.flow);
    uint32_t n = 0;
    for (uint32_t f = 0; f < w->flows; f++)
        if (!w->flow[f].messages) dag.flow[n++] = f;
    list_flows(&dag, true, &dag.send0, &dag.send, n, arena);
    list_flows(&dag, false, &dag.receive0, &dag.receive, n, arena);
    dag.job_ranks = dag.rank0[w->jobs];
    dag.ranks = dag.job_ranks + w->topology->hosts;
    dag.connections = dag.connection0[w->jobs] + n;
    return dag;
}

struct weft_dag_rank weft_dag_rank_at(const struct weft_dag *dag, uint32_t rank) {
    assert(rank < dag->ranks);
    if (rank >= dag->job_ranks) {
        uint32_t h = rank - dag->job_ranks;
        uint32_t lanes = dag->send0[h + 1] - dag->send0[h] + dag->receive0[h + 1] - dag->receive0[h];
        return (struct weft_dag_rank){.host = h, .job = WEFT_NONE, .number = h, .lanes = lanes};
    }
    uint32_t j = find_job(dag->rank0, dag->workload->jobs, rank), number = rank - dag->rank0[j], lanes = 1;
    const struct weft_job *job = &dag->workload->job[j];
    uint32_t communicators = job->schedule ? 0 : job->communicators; // a schedule's own steps are not included
    for (uint32_t c = 0; c < communicators; c++)
        lanes += job->communicator[c].lanes_max;
    return (struct weft_dag_rank){job->host[number], j, number, lanes, 2 * communicators};
}

struct weft_dag_connection weft_dag_connection_at(const struct weft_dag *dag, uint32_t connection) {
    const struct weft_workload *w = dag->workload;
    assert(connection < dag->connections);
    if (connection >= dag->connection0[w->jobs]) {
        uint32_t f = dag->flow[connection - dag->connection0[w->jobs]];
        const struct weft_flow *flow = &w->flow[f];
        return (struct weft_dag_connection){dag->job_ranks + flow->src, dag->job_ranks + flow->dst, f, 1, flow->bytes};
    }
    uint32_t j = find_job(dag->connection0, w->jobs, connection);
    const struct weft_connection *c = &w->job[j].connection[connection - dag->connection0[j]];
    return (struct weft_dag_connection){dag->rank0[j] + c->src, dag->rank0[j] + c->dst, c->flow, c->slots, c->bytes};
}

bool weft_dag_next(const struct weft_dag *dag, struct weft_dag_cursor *at, struct weft_dag_step *ret_step) {
    if (at->rank >= dag->job_ranks) return flow_next(dag, at, at->rank - dag->job_ranks, ret_step);
    uint32_t j = find_job(dag->rank0, dag->workload->jobs, at->rank);
    struct place p = {
        .job = &dag->workload->job[j], .rank = at->rank - dag->rank0[j], .connection0 = dag->connection0[j]};
    p.stage = &p.job->stage[weft_job_stage_of(p.job, p.rank)];
    if (!at->lane) return sequence_next(&p, at, ret_step);
    uint32_t c = 0, lane = at->lane - 1;
    for (; lane >= p.job->communicator[c].lanes_max; c++)
        lane -= p.job->communicator[c].lanes_max;
    return lane_next(&p, c, lane, at, ret_step);
}
