// SPDX-License-Identifier: Apache-2.0
// Builds a job from its operations: communicators, connections and their flows.
#include <inttypes.h>
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

static const char *const cabling_names[] = {"rack", "rail", NULL};
static const struct weft_param server_rows[] = {
    WEFT_UINT(struct weft_server_conf, gpus, "gpus", "1", "1", "72", "GPUs per server; each is a host with a NIC"),
    WEFT_CHOICE(struct weft_server_conf, cabling, "cabling", "rack", cabling_names,
                "rack: a server is consecutive hosts; rail: the hosts form as many equal parts as a server has GPUs, "
                "and a server has one host of each part"),
    WEFT_RATE(struct weft_server_conf, rate_bps, "rate", "3600Gbps", "1Gbps", "100Tbps",
              "rate of a GPU within the server, each way (NVLink 4: 450 GB/s)"),
    WEFT_TIME(struct weft_server_conf, latency_ps, "latency", "1us", "100ns", "100us",
              "latency between GPUs of a server (assumed)"),
};
const struct weft_param_table weft_server_table = WEFT_PARAM_TABLE("server", struct weft_server_conf, server_rows);

const char *const weft__job_orders[] = {"server", "listed", NULL};
const char *const weft__job_linear[] = {"linear", NULL};
const char *const weft__admissions[] = {"cts", "none", NULL};
const char *const weft__qp_scalings[] = {"round_robin", "split", NULL};

uint32_t weft_server_of(const struct weft_server_conf *server, const struct weft_topology *topology, uint32_t host,
                        uint32_t *ret_gpu) {
    const struct weft_network_info *network = &topology->network[weft_topology_network_of(topology, host)];
    uint32_t gpus = (uint32_t)server->gpus, servers = network->hosts / gpus;
    if (gpus > 1 && topology->machine_of && topology->machine_of[host] != WEFT_NONE) {
        uint32_t machine = topology->machine_of[host], first = host; // its NICs in a network are consecutive
        while (first > network->host0 && topology->machine_of[first - 1] == machine)
            first--;
        *ret_gpu = host - first;
        return machine;
    }
    host -= network->host0;
    bool rail = server->cabling == WEFT_CABLING_RAIL && gpus > 1;
    *ret_gpu = rail ? host / servers : host % gpus;
    return topology->machines + (rail ? host % servers : host / gpus);
}

struct ordered {
    uint32_t server, gpu, host;
};

static int by_server(const void *a, const void *b) {
    const struct ordered *x = a, *y = b;
    if (x->server != y->server) return x->server < y->server ? -1 : 1;
    return (x->gpu > y->gpu) - (x->gpu < y->gpu);
}

static void order_hosts(struct weft_job *job, const struct weft_topology *topology, struct weft_arena *arena) {
    struct ordered *list = weft_arena_alloc(arena, job->ranks, sizeof *list);
    for (uint32_t r = 0; r < job->ranks; r++) {
        list[r].host = job->host[r];
        list[r].server = weft_server_of(&job->server, topology, job->host[r], &list[r].gpu);
    }
    qsort(list, job->ranks, sizeof *list, by_server);
    for (uint32_t r = 0; r < job->ranks; r++)
        job->host[r] = list[r].host;
}

/// The number of a machine's NICs in the network of `host`; 0: the host has no machine.
static uint32_t machine_nics(const struct weft_topology *t, uint32_t host) {
    uint32_t machine = t->machine_of ? t->machine_of[host] : WEFT_NONE, first = host, end = host + 1;
    if (machine == WEFT_NONE) return 0;
    const struct weft_network_info *network = &t->network[weft_topology_network_of(t, host)];
    while (first > network->host0 && t->machine_of[first - 1] == machine)
        first--;
    while (end - network->host0 < network->hosts && t->machine_of[end] == machine)
        end++;
    return end - first;
}

/// Hosts must be in one network, and servers must match the topology's machines or, without machines, be equal parts of
/// it.
static enum weft_status check_servers(const struct weft__job_common *common, struct weft_place place,
                                      const struct weft_topology *t, const struct weft_job *job,
                                      struct weft_error *ret_error) {
    const struct weft_network_info *network = &t->network[weft_topology_network_of(t, job->host[0])];
    const struct weft_server_conf *server = &common->server;
    for (uint32_t r = 0; r < job->ranks; r++) {
        uint32_t host = job->host[r], nics = machine_nics(t, host);
        if (host - network->host0 >= network->hosts)
            return weft_error_set(ret_error, WEFT_ERROR_INPUT, place,
                                  "hosts '%s' are of different networks (%s and %s); a job expects hosts of one",
                                  common->hosts, network->name, t->network[weft_topology_network_of(t, host)].name);
        if (server->gpus > 1 && nics && (nics != server->gpus || server->cabling == WEFT_CABLING_RAIL))
            return weft_error_set(ret_error, WEFT_ERROR_INPUT, place,
                                  "server: %s has %" PRIu32 " NICs in %s; expected gpus: %" PRIu32
                                  ", and no cabling of the job's own",
                                  t->machine[t->machine_of[host]].name, nics, network->name, nics);
        if (!nics && network->hosts % server->gpus)
            return weft_error_set(ret_error, WEFT_ERROR_INPUT, place,
                                  "server.gpus: %" PRIu32 " hosts are not servers of %" PRIu64 "; expected a divisor",
                                  network->hosts, server->gpus);
    }
    return WEFT_OK;
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
        .split = common->qp_scaling == WEFT__QP_SPLIT,
        .iterations = 1,
        .slow_factor = 1,
        .op = weft_arena_alloc(w->arena, ops, sizeof *job->op),
    };
    enum weft_status status =
        weft_topology_select_hosts(topology, common->hosts, place, &job->host, &job->ranks, ret_error);
    if (status) return status;
    status = check_servers(common, place, topology, job, ret_error);
    if (status) return status;
    if (common->order == WEFT__ORDER_SERVER) order_hosts(job, topology, w->arena);
    status = weft__job_find_hosts(common, entry, topology, w, job, ret_error);
    if (status) return status;
    if (job->ranks < 2)
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, place, "hosts '%s' is one host; a job expects at least 2",
                              common->hosts);
    *ret_job = job;
    return WEFT_OK;
}

uint32_t weft__job_server(const struct weft_job *job, const struct weft_topology *topology, uint32_t rank) {
    uint32_t gpu;
    return weft_server_of(&job->server, topology, job->host[rank], &gpu);
}

/// How many ranks of a group are consecutive in a server, if that number is the same everywhere; else 1.
static uint32_t per_server(const struct weft_job *job, const struct weft_topology *topology,
                           const struct weft_job_op *op) {
    uint32_t n = op->shape.ranks, run = 1, first = op->group ? op->group->rank[0] : 0;
    uint32_t members = op->group ? n : job->ranks;
    while (run < n &&
           weft__job_server(job, topology, weft_job_member(op, first, run)) == weft__job_server(job, topology, first))
        run++;
    if (n % run) return 1;
    for (uint32_t i = 0; i < members; i++) {
        uint32_t r = op->group ? op->group->rank[i] : i;
        uint32_t head = weft_job_member(op, r, weft_job_number(op, r) / run * run);
        if (weft__job_server(job, topology, r) != weft__job_server(job, topology, head)) return 1;
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
    op->stride = stride;
    op->shape = (struct weft_collective_shape){.ranks = ranks, .per_server = 1, .bytes = size};
    op->shape.per_server = per_server(job, topology, op);
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
            return weft_error_set(ret_error, WEFT_ERROR_INPUT, place,
                                  "more than %d combinations of a collective and its groups", COMMUNICATORS_MAX);
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

/// Operations that send the same messages: the first of them, and how many of them an iteration has.
struct volume {
    uint32_t op;
    uint64_t times;
};

/// Their number; writes them to `ret`, which has room for every operation.
static uint32_t find_volumes(struct weft_job *job, struct volume *ret) {
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
        ret[v].times++;
    }
    return n;
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
    struct volume *volume = weft_memory_new(WEFT_MEMORY_SCENARIO, job->ops, sizeof *volume);
    uint32_t volumes = find_volumes(job, volume);
    struct weft__finder f;
    struct weft__pair_counter counter;
    enum weft_status status = WEFT_OK;
    weft__finder_init(&f, job, w->arena);
    weft__pair_counter_init(&counter, job);
    for (uint32_t v = 0; v < volumes && are_counted(common, job, w); v++)
        weft__pair_counter_add(&counter, &job->op[volume[v].op], volume[v].times * job->iterations);
    for (uint32_t r = 0; r < job->ranks; r++) {
        for (uint32_t v = 0; v < volumes; v++)
            if (!weft__pair_counter_has(&counter, &job->op[volume[v].op]))
                weft__finder_add_op(&f, r, &job->op[volume[v].op], volume[v].times * job->iterations);
        weft__finder_end_rank(&f, r);
    }
    if (are_counted(common, job, w)) status = weft__pair_counter_take(&counter, common, place, topology, w, ret_error);
    weft__pair_counter_deinit(&counter);
    weft__finder_deinit(&f);
    weft_memory_free(WEFT_MEMORY_SCENARIO, volume, job->ops * sizeof *volume);
    return status;
}

/// What is clear from the collectives without looking at steps, so that too many flows are refused at once.
enum weft_status weft__job_reserve_flows(const struct weft__job_common *common, struct weft_place place,
                                         const struct weft_job *job, struct weft_workload *w,
                                         struct weft_error *ret_error) {
    struct weft_workload_common flow = {
        .group = common->group, .qps = 1, .size_bytes = 1, .repeat = 1, .messages = true};
    uint64_t own = job->server.gpus - 1, most = 0; // own: peers in the same server, which need no flow
    for (uint32_t i = 0; i < job->ops; i++) {
        const struct weft_job_op *op = &job->op[i];
        uint64_t peers = op->name && op->ops->peers_min ? op->ops->peers_min(op->conf, &op->shape) : 0;
        uint64_t ranks = op->group ? op->group->ranks : job->ranks, flows = peers > own ? ranks * (peers - own) : 0;
        if (flows > most) most = flows;
    }
    return weft__workload_reserve(w, &flow, place, most, ret_error);
}

struct weft_workload_common weft__job_flow(const struct weft__job_common *common) {
    return (struct weft_workload_common){.group = common->group,
                                         .qps = common->qps,
                                         .priority = common->priority,
                                         .verb = WEFT_VERB_WRITE,
                                         .repeat = 1,
                                         .messages = true};
}

enum weft_status weft__job_check_connection(const struct weft__job_common *common, struct weft_place place,
                                            const struct weft_connection *c, struct weft_error *ret_error) {
    if (c->bytes <= WEFT_MESSAGES_BYTES_MAX) return WEFT_OK;
    return weft_error_set(ret_error, WEFT_ERROR_INPUT, place,
                          "group '%s': ranks %" PRIu32 " and %" PRIu32 ", a connection: %" PRIu64
                          " bytes in the whole run; expected at most %" PRIu64,
                          common->group, c->src, c->dst, c->bytes, WEFT_MESSAGES_BYTES_MAX);
}

// Bytes of these flows come as messages, when the schedule sends them.
enum weft_status weft__job_add_flows(const struct weft__job_common *common, struct weft_place place,
                                     const struct weft_topology *topology, struct weft_job *job,
                                     struct weft_workload *w, struct weft_error *ret_error) {
    struct weft_workload_common flow = weft__job_flow(common);
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < job->connections && !status; i++) {
        struct weft_connection *c = &job->connection[i];
        if (weft__job_server(job, topology, c->src) == weft__job_server(job, topology, c->dst)) continue;
        status = weft__job_check_connection(common, place, c, ret_error);
        if (status) return status;
        c->flow = w->flows;
        status = weft_workload_add(w, &flow, place, job->host[c->src], job->host[c->dst], c->bytes, common->start_ps,
                                   ret_error);
        if (!status && c->plane) w->flow[c->flow].plane = c->plane;
    }
    return status;
}

static enum weft_status check_channels(const struct weft_job *job, struct weft_place place,
                                       struct weft_error *ret_error) {
    uint32_t channels = 0;
    for (uint32_t c = 0; c < job->communicators; c++)
        channels += job->communicator[c].channels;
    if (job->channel_cost * channels < 1) return WEFT_OK;
    return weft_error_set(ret_error, WEFT_ERROR_INPUT, place,
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
    return weft_error_set(ret_error, WEFT_ERROR_INPUT, place,
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

enum weft_status weft__job_connect(const struct weft__job_common *common, struct weft_place place,
                                   const struct weft_topology *topology, struct weft_job *job, struct weft_workload *w,
                                   struct weft_error *ret_error) {
    enum weft_status status = weft__job_load(job, place, w->arena, ret_error);
    if (!status) status = find_communicators(job, place, w->arena, ret_error);
    if (status) return status;
    make_stages(job, w->arena);
    for (uint32_t s = 0; s < job->stages; s++)
        weft__job_order_turns(job, &job->stage[s], w->arena);
    status = weft__job_reserve_flows(common, place, job, w, ret_error);
    if (status) return status;
    status = find_connections(common, place, topology, job, w, ret_error);
    if (status) return status;
    weft__job_place(common, job, w->arena);
    job->group = weft__workload_group(w, common->group);
    status = check_channels(job, place, ret_error);
    if (!status) status = weft__job_add_flows(common, place, topology, job, w, ret_error);
    if (!status) status = check_results(job, common, place, ret_error);
    if (!status) status = weft__job_check_loaded(job, place, topology, ret_error);
    if (!status) weft__job_add(w, job);
    return status;
}
