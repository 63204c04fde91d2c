// SPDX-License-Identifier: Apache-2.0
// Builds a job from its operations: communicators, connections and their flows.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "generator.h"
#include "job.h"
#include "job_connections.h"
#include "job_pairs.h"
#include "weft/memory.h"
#include "weft/outcome.h"

enum { COMMUNICATORS_MAX = 256 };
#define RESULTS_BYTES_MAX 4e9

const char *const weft__job_orders[] = {"server", "listed", NULL};
const char *const weft__job_linear[] = {"linear", NULL};
const char *const weft__admissions[] = {"cts", "none", NULL};
const char *const weft__qp_scalings[] = {"round_robin", "split", NULL};

/// The servers as NCCL sees them: NVLink by its own figure for a link, which is less than the data sheet's.
static struct weft_nccl_machine machine_of(const struct weft_job *job, const struct weft_topology *topology) {
    const struct weft_server_conf *server = &job->server;
    const struct weft_node_info *host = &topology->node[topology->host[job->host[0]]];
    double bps = 0; // of all ports: several NICs of a GPU are ports of a host
    for (uint32_t p = 0; p < host->ports; p++)
        bps += (double)topology->link[topology->port[host->port0 + p].link].rate_bps;
    return (struct weft_nccl_machine){
        .generation = server->generation,
        .cpu = server->cpu,
        .nvlink_GBps = (double)server->links * weft_nccl_link_GBps[server->generation],
        .nic_GBps = bps / 8e9,
        .nvls = server->nvls,
        .ll128 = true,
        .costs = server->costs,
        .inner_ps = server->latency_ps,
    };
}

enum weft_status weft__job_new(const struct weft__job_common *common, const struct weft_model_conf *entry,
                               const struct weft_topology *topology, uint32_t ops, struct weft_workload *w,
                               struct weft_job **ret_job, struct weft_error *ret_error) {
    struct weft_job *job = weft_arena_alloc(w->arena, 1, sizeof *job);
    const struct weft_place place = entry->place;
    *job = (struct weft_job){
        .place = place,
        .server = common->server,
        .start_ps = common->start_ps,
        .unadmitted = common->admission == WEFT__ADMISSION_NONE,
        .cts_priority = common->cts_priority,
        .channel_cost = common->channel_cost,
        .entry = entry,
        .qps = common->qps,
        .split = common->qp_scaling == WEFT__QP_SPLIT,
        .iterations = 1,
        .slow_factor = 1,
        .op = weft_arena_alloc(w->arena, ops, sizeof *job->op),
    };
    job->machine = weft_arena_alloc(w->arena, 1, sizeof *job->machine);
    WEFT_TRY(weft__job_choose_gpus(common, place, topology, job, w->arena, ret_error));
    WEFT_TRY(weft__job_find_hosts(common, entry, topology, w, job, ret_error));
    *job->machine = machine_of(job, topology);
    if (job->ranks < 2)
        return WEFT_REFUSE(ret_error, place, "hosts '%s' is one host; a job expects at least 2", common->hosts);
    *ret_job = job;
    return WEFT_OK;
}

uint32_t weft__job_server(const struct weft_job *job, const struct weft_topology *topology, uint32_t rank) {
    return weft_server_of(&job->server, topology, job->host[rank]).server;
}

/// What is asked about a rank: its server, or its host.
typedef uint32_t at_fn(const struct weft_job *job, const struct weft_topology *topology, uint32_t rank);

static uint32_t host_at(const struct weft_job *job, const struct weft_topology *topology, uint32_t rank) {
    return job->host[rank];
}

/// How many ranks of a group are consecutive in a server, or on a host, if that number is the same everywhere; else 1.
static uint32_t consecutive_ranks(const struct weft_job *job, const struct weft_topology *topology,
                                  const struct weft_job_op *op, at_fn *at) {
    uint32_t n = op->shape.ranks, run = 1, first = op->group ? op->group->rank[0] : 0;
    uint32_t members = op->group ? n : job->ranks;
    while (run < n && at(job, topology, weft_job_member(op, first, run)) == at(job, topology, first))
        run++;
    if (n % run) return 1;
    for (uint32_t i = 0; i < members; i++) {
        uint32_t r = op->group ? op->group->rank[i] : i;
        uint32_t head = weft_job_member(op, r, weft_job_number(op, r) / run * run);
        if (at(job, topology, r) != at(job, topology, head)) return 1;
    }
    return run;
}

void weft__job_collective(const struct weft_job *job, const struct weft_topology *topology,
                          const struct weft_model_conf *collective, uint32_t ranks, uint32_t stride, weft_bytes size,
                          struct weft_job_op *op) {
    op->name = collective->model->name;
    op->ops = collective->model->ops;
    op->conf = collective->conf;
    op->goal = op->ops->goal;
    op->size = size;
    op->stride = stride;
    op->shape = (struct weft_collective_shape){.ranks = ranks, .per_server = 1, .bytes = size};
    op->shape.per_server = consecutive_ranks(job, topology, op, weft__job_server);
    op->shape.per_nic = consecutive_ranks(job, topology, op, host_at);
    op->shape.machine = job->machine;
    op->shape.pxn = topology->machine_nic && topology->machine_nic[job->host[0]].machine_gpus;
}

// --- connections --------------------------------------------------------------------------------------------------

static bool same_communicator(const struct weft_job_op *a, const struct weft_job_op *b) {
    return a->ops == b->ops && a->conf == b->conf && a->stride == b->stride && a->reversed == b->reversed &&
           a->shape.ranks == b->shape.ranks;
}

static enum weft_status find_communicators(struct weft_job *job, struct weft_place place, struct weft_arena *arena,
                                           struct weft_error *ret_error) {
    job->communicator = weft_arena_alloc(arena, job->ops, sizeof *job->communicator);
    for (uint32_t i = 0; i < job->ops; i++) {
        struct weft_job_op *op = &job->op[i];
        if (!op->name) continue;
        uint32_t c = 0;
        while (c < job->communicators && !same_communicator(op, &job->op[job->communicator[c].op]))
            c++;
        if (c == COMMUNICATORS_MAX)
            return WEFT_REFUSE(ret_error, place, "more than %d combinations of a collective and its groups",
                               COMMUNICATORS_MAX);
        struct weft_communicator *communicator = &job->communicator[c];
        if (c == job->communicators) job->communicator[job->communicators++].op = i;
        op->communicator = c;
        uint32_t lanes = op->ops->lanes(op->conf, &op->shape);
        if (lanes > communicator->lanes_max) communicator->lanes_max = lanes;
    }
    return WEFT_OK;
}

static bool same_volume(const struct weft_job_op *a, const struct weft_job_op *b) {
    return a->communicator == b->communicator && a->shape.bytes == b->shape.bytes && a->shape.root == b->shape.root &&
           a->shape.per_server == b->shape.per_server;
}

/// Operations that send the same messages: the first of them, and how many of them a stage sends in an iteration.
struct volume {
    uint32_t op;
    uint64_t *times; ///< [stages]
};

/// Their number; writes them to `ret`, which has room for every operation, and the volume of each operation to `of`.
static uint32_t find_volumes(struct weft_job *job, struct volume *ret, uint32_t *of) {
    uint32_t n = 0;
    for (uint32_t i = 0, v = 0; i < job->ops; i++) {
        struct weft_job_op *op = &job->op[i];
        if (!op->name) continue;
        if (!n || !same_volume(op, &job->op[ret[v].op])) // usually the previous one
            for (v = 0; v < n && !same_volume(op, &job->op[ret[v].op]);)
                v++;
        if (v == n) {
            ret[n++] = (struct volume){.op = i};
            op->volume = job->communicator[op->communicator].volumes++;
        }
        op->volume = job->op[ret[v].op].volume;
        of[i] = v;
    }
    return n;
}

static void count_times(const struct weft_job *job, const uint32_t *of, struct volume *volume, uint32_t volumes,
                        struct weft_arena *arena) {
    for (uint32_t v = 0; v < volumes; v++)
        volume[v].times = weft_arena_alloc(arena, job->stages, sizeof *volume[v].times);
    for (uint32_t s = 0; s < job->stages; s++)
        for (uint32_t t = 0; t < job->stage[s].turns; t++) {
            const struct weft_job_turn *turn = &job->stage[s].turn[t];
            if (job->op[turn->op].name && turn->part != WEFT_TURN_RECEIVE) volume[of[turn->op]].times[s]++;
        }
}

/// All ranks perform all operations in order, unless the job says otherwise.
static void make_stages(struct weft_job *job, struct weft_arena *arena) {
    if (job->stages) return;
    job->stages = job->stage_stride = 1;
    job->stage = weft_arena_alloc(arena, 1, sizeof *job->stage);
    job->stage->turn = weft_arena_alloc(arena, job->ops, sizeof *job->stage->turn);
    for (job->stage->turns = 0; job->stage->turns < job->ops; job->stage->turns++)
        job->stage->turn[job->stage->turns].op = job->stage->turns;
}

void weft__job_order_turns(const struct weft_job *job, struct weft_job_stage *stage, struct weft_arena *arena) {
    stage->order = weft_arena_alloc(arena, job->communicators, sizeof *stage->order);
    for (uint32_t t = 0; t < stage->turns; t++)
        if (job->op[stage->turn[t].op].name) stage->order[job->op[stage->turn[t].op].communicator].turns++;
    for (uint32_t c = 0; c < job->communicators; c++) {
        stage->order[c].turn = weft_arena_alloc(arena, stage->order[c].turns, sizeof *stage->order[c].turn);
        stage->order[c].turns = 0;
    }
    for (uint32_t t = 0; t < stage->turns; t++) {
        const struct weft_job_op *op = &job->op[stage->turn[t].op];
        struct weft_job_order *order = op->name ? &stage->order[op->communicator] : NULL;
        if (order) order->turn[order->turns++] = t;
    }
}

/// Without a graph to place, the connections of an all-to-all are not needed before the run.
static bool are_counted(const struct weft__job_common *common, const struct weft_job *job,
                        const struct weft_workload *w) {
    return w->counts && !(job->places && ((const struct weft_placement_ops *)common->placement.model->ops)->graph);
}

static enum weft_status find_connections(const struct weft__job_common *common, struct weft_place place,
                                         const struct weft_topology *topology, struct weft_job *job,
                                         struct weft_workload *w, struct weft_error *ret_error) {
    struct weft_arena *scratch = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct volume *volume = weft_arena_alloc(scratch, job->ops, sizeof *volume);
    uint32_t *of = weft_arena_alloc(scratch, job->ops, sizeof *of), volumes = find_volumes(job, volume, of);
    struct weft__finder f;
    struct weft__pair_counter counter;
    enum weft_status status = WEFT_OK;
    count_times(job, of, volume, volumes, scratch);
    weft__finder_init(&f, job, w->arena);
    weft__pair_counter_init(&counter, job);
    for (uint32_t v = 0; v < volumes && are_counted(common, job, w); v++)
        weft__pair_counter_add(&counter, &job->op[volume[v].op], volume[v].times);
    for (uint32_t r = 0; r < job->ranks; r++) {
        uint32_t stage = weft_job_stage_of(job, r);
        for (uint32_t v = 0; v < volumes; v++)
            if (volume[v].times[stage] && !weft__pair_counter_has(&counter, &job->op[volume[v].op]))
                weft__finder_add_op(&f, r, &job->op[volume[v].op], volume[v].times[stage] * job->iterations);
        weft__finder_end_rank(&f, r);
    }
    if (are_counted(common, job, w)) status = weft__pair_counter_take(&counter, common, place, topology, w, ret_error);
    weft__pair_counter_deinit(&counter);
    weft__finder_deinit(&f);
    weft_arena_free(scratch);
    return status;
}

/// More connections than there is memory for are refused before they are made. `op`: with the most of them.
static enum weft_status check_memory(const struct weft__job_common *common, struct weft_place place,
                                     const struct weft_job *job, const struct weft_job_op *op, uint64_t flows,
                                     const struct weft_workload *w, struct weft_error *ret_error) {
    double has = weft_memory_most(), each = (double)w->connection_bytes, room = has / fmax(each, 1) - w->job_flows;
    if (w->counts || (double)flows <= room) return WEFT_OK;
    double part = fmax(room, 0) / (double)flows; // of a single group it is the square of that of its ranks
    double ranks = op->shape.ranks * (op->group || op->shape.ranks == job->ranks ? sqrt(part) : part);
    return WEFT_REFUSE(ret_error, place,
                       "group '%s': %" PRIu64 " connections of %s take %.3g GB at least, and there are %.3g GB; "
                       "expected groups of fewer than %.0f ranks, whose connections alone would take all of that",
                       common->group, flows, op->name, (double)flows * each * 1e-9, has * 1e-9, floor(ranks));
}

/// What is clear from the collectives without looking at steps, so that too many flows are refused at once.
enum weft_status weft__job_reserve_flows(const struct weft__job_common *common, struct weft_place place,
                                         const struct weft_job *job, struct weft_workload *w,
                                         struct weft_error *ret_error) {
    struct weft_workload_common flow = {
        .group = common->group, .qps = 1, .size_bytes = 1, .repeat = 1, .messages = true};
    uint64_t own = job->server.within == WEFT_WITHIN_NETWORK ? 0 : job->server.gpus - 1; // peers that need no flow
    uint64_t most = 0;
    const struct weft_job_op *largest = NULL;
    for (uint32_t i = 0; i < job->ops; i++) {
        const struct weft_job_op *op = &job->op[i];
        uint64_t peers = op->name && op->ops->peers_min ? op->ops->peers_min(op->conf, &op->shape) : 0;
        uint64_t ranks = op->group ? op->group->ranks : job->ranks, flows = peers > own ? ranks * (peers - own) : 0;
        if (flows > most) largest = op;
        if (flows > most) most = flows;
    }
    WEFT_TRY(weft__workload_check_room(w, &flow, place, most, ret_error));
    if (largest) WEFT_TRY(check_memory(common, place, job, largest, most, w, ret_error));
    return weft__workload_reserve(w, &flow, place, most, ret_error);
}

struct weft_workload_common weft__job_flow(const struct weft__job_common *common, const struct weft_job *job) {
    return (struct weft_workload_common){.group = common->group,
                                         .qps = job->qps,
                                         .priority = common->priority,
                                         .verb = WEFT_VERB_WRITE,
                                         .repeat = 1,
                                         .messages = true};
}

enum weft_status weft__job_check_connection(const struct weft__job_common *common, struct weft_place place,
                                            const struct weft_connection *c, struct weft_error *ret_error) {
    if (c->bytes <= WEFT_MESSAGES_BYTES_MAX) return WEFT_OK;
    return WEFT_REFUSE(ret_error, place,
                       "group '%s': ranks %" PRIu32 " and %" PRIu32 ", a connection: %" PRIu64
                       " bytes in the whole run; expected at most %" PRIu64,
                       common->group, c->src, c->dst, c->bytes, WEFT_MESSAGES_BYTES_MAX);
}

// Bytes of these flows come as messages, when the schedule sends them.
enum weft_status weft__job_add_flows(const struct weft__job_common *common, struct weft_place place,
                                     const struct weft_topology *topology, struct weft_job *job,
                                     struct weft_workload *w, struct weft_error *ret_error) {
    struct weft_workload_common flow = weft__job_flow(common, job);
    for (uint32_t i = 0; i < job->connections; i++) {
        struct weft_connection *c = &job->connection[i];
        bool inside = weft__job_server(job, topology, c->src) == weft__job_server(job, topology, c->dst);
        c->inside = inside;
        if (inside && job->server.within == WEFT_WITHIN_SERVER) continue;
        WEFT_TRY(weft__job_check_connection(common, place, c, ret_error));
        c->flow = w->flows;
        flow.qps = job->qps * weft_job_strands(job, c);
        WEFT_TRY(weft_workload_add(w, &flow, place, job->host[c->src], job->host[c->dst], c->bytes, common->start_ps,
                                   ret_error));
        if (c->plane) w->flow[c->flow].plane = c->plane;
    }
    return WEFT_OK;
}

static enum weft_status check_channels(const struct weft_job *job, struct weft_place place,
                                       struct weft_error *ret_error) {
    uint32_t channels = 0;
    for (uint32_t c = 0; c < job->communicators; c++)
        channels += job->communicator[c].channels;
    if (job->channel_cost * channels < 1) return WEFT_OK;
    return WEFT_REFUSE(ret_error, place,
                       "channel_cost: %" PRIu32 " channels of all collectives at %g leave nothing to compute with; "
                       "expected less than %g",
                       channels, job->channel_cost, 1. / channels);
}

/// The notes of every operation of every iteration must fit: three times per rank, and those for all ranks together.
static enum weft_status check_results(const struct weft_job *job, const struct weft__job_common *common,
                                      struct weft_place place, struct weft_error *ret_error) {
    uint64_t a_rank = 3 * sizeof(weft_time_ps), all = sizeof(struct weft_op_outcome);
    double bytes = (double)(job->ranks * a_rank + all) * ((double)job->ops + 1) * job->iterations;
    if (bytes <= RESULTS_BYTES_MAX) return WEFT_OK;
    return WEFT_REFUSE(ret_error, place,
                       "group '%s': %" PRIu32 " iterations of %" PRIu32 " operations at %" PRIu32
                       " ranks have times of %.3g GB to be noted; expected at most %.3g GB: fewer iterations, or "
                       "fewer times of an operation",
                       common->group, job->iterations, job->ops, job->ranks, bytes * 1e-9, RESULTS_BYTES_MAX * 1e-9);
}

void weft__job_add(struct weft_workload *w, const struct weft_job *job) {
    struct weft_job *jobs = weft_arena_alloc(w->arena, w->jobs + 1, sizeof *jobs);
    if (w->jobs) memcpy(jobs, w->job, w->jobs * sizeof *jobs);
    jobs[w->jobs++] = *job;
    w->job = jobs;
}

/// Of a collective that switches do: nothing else has one add, and no link but those of a server leads there.
static enum weft_status check_processors(const struct weft_job *job, const struct weft_topology *t,
                                         struct weft_place place, struct weft_error *ret_error) {
    for (uint32_t i = 0; i < job->ops; i++) {
        const struct weft_job_op *op = &job->op[i];
        if (!op->name || !op->ops->processors || op->group) continue;
        uint64_t first = job->ranks - op->ops->processors(op->conf);
        const struct weft_node_info *head = &t->node[t->host[job->host[0]]];
        for (uint32_t r = 0; r < job->ranks; r++) {
            const struct weft_node_info *node = &t->node[t->host[job->host[r]]];
            if (weft_node_is_processor(node) == (r >= first) && node->pod == head->pod) continue;
            return WEFT_REFUSE(ret_error, place,
                               "collective: %s has %s for rank %" PRIu32 " of %" PRIu32
                               "; expected hosts of one server, "
                               "then the %" PRIu64 " processors of its switches (topology scale_up, reduces: on)",
                               op->name, node->name, r, job->ranks, job->ranks - first);
        }
    }
    return WEFT_OK;
}

enum weft_status weft__job_connect(const struct weft__job_common *common, struct weft_place place,
                                   const struct weft_topology *topology, struct weft_job *job, struct weft_workload *w,
                                   struct weft_error *ret_error) {
    WEFT_TRY(weft__job_load(job, place, w->arena, ret_error));
    WEFT_TRY(check_processors(job, topology, place, ret_error));
    WEFT_TRY(find_communicators(job, place, w->arena, ret_error));
    make_stages(job, w->arena);
    for (uint32_t s = 0; s < job->stages; s++)
        weft__job_order_turns(job, &job->stage[s], w->arena);
    WEFT_TRY(weft__job_reserve_flows(common, place, job, w, ret_error));
    WEFT_TRY(find_connections(common, place, topology, job, w, ret_error));
    weft__job_place(common, job, w->arena);
    job->group = weft__workload_group(w, common->group);
    WEFT_TRY(check_channels(job, place, ret_error));
    WEFT_TRY(weft__job_add_flows(common, place, topology, job, w, ret_error));
    WEFT_TRY(check_results(job, common, place, ret_error));
    WEFT_TRY(weft__job_check_loaded(job, place, topology, ret_error));
    weft__job_add(w, job);
    return WEFT_OK;
}
