// SPDX-License-Identifier: Apache-2.0
// Maps jobs onto the network: a program per rank and both ends of every connection; afterwards collects what they
// measured.
#include "base/order.h"
#include "sim/run.h"

#include <assert.h>
#include <stdlib.h>

/// Tables of all jobs, with connections numbered consecutively.
struct build {
    struct weft__network *net;
    struct weft__programs *all;
    struct weft_arena *arena;
};

weft_bytes weft_simulation_connection_bytes(void) {
    enum { TIMERS = 48 };
    weft_bytes made = sizeof(struct weft_flow) + sizeof(struct weft_connection) + sizeof(uint32_t); // and its messages
    weft_bytes qp = sizeof(struct weft_qp_conf) + sizeof(struct weft_qp_sender) + sizeof(struct weft_qp_sample) +
                    sizeof(struct weft_qp_numbers) + sizeof(struct weft_qp_receiver) +
                    4 * sizeof(uint32_t); // of its flow, and in lists of hosts
    weft_bytes ends = sizeof(struct weft__sending) + sizeof(struct weft__receiving) + sizeof(struct weft__wire) +
                      sizeof(struct weft__carrier) + sizeof(struct weft__receiving *) + sizeof(uint32_t) +
                      sizeof(struct weft__span) + 2 * sizeof(weft_time_ps);
    return made + qp + ends + TIMERS + sizeof(struct weft_flow_outcome);
}

static uint32_t count_lanes(const struct weft_job *job) {
    uint32_t lanes = 0;
    for (uint32_t c = 0; c < job->communicators; c++)
        lanes += job->communicator[c].lanes_max;
    return lanes;
}

static weft_time_ps *new_times(struct weft_arena *arena, size_t n) {
    weft_time_ps *time = weft_arena_alloc(arena, n, sizeof *time);
    for (size_t i = 0; i < n; i++)
        time[i] = WEFT_TIME_NEVER;
    return time;
}

static void make_program(const struct build *b, const struct weft_job *job, uint32_t rank, uint32_t connection0,
                         struct weft__program *p) {
    size_t results = (size_t)job->iterations * job->ops;
    *p = (struct weft__program){
        .job = job,
        .rank = rank,
        .connection0 = connection0,
        .waits_for = WEFT_NONE,
        .stream = weft_arena_alloc(b->arena, job->communicators, sizeof *p->stream),
        .schedule = job->schedule ? weft_arena_alloc(b->arena, 1, sizeof *p->schedule) : NULL,
        .op_start_ps = new_times(b->arena, results),
        .op_end_ps = new_times(b->arena, results),
        .op_exposed_ps = weft_arena_alloc(b->arena, results, sizeof *p->op_exposed_ps),
        .iteration_end_ps = new_times(b->arena, job->iterations),
        .iteration_exposed_ps = weft_arena_alloc(b->arena, job->iterations, sizeof *p->iteration_exposed_ps),
        .keys = 1 + (job->schedule ? job->schedule->cpus : 0) + count_lanes(job) + 1,
        .sendings = job->first[rank + 1] - job->first[rank],
    };
    for (uint32_t c = 0; c < job->communicators; c++) {
        const struct weft_communicator *communicator = &job->communicator[c];
        size_t plan = job->op[communicator->op].ops->plan_size; // the same for all its operations
        p->stream[c].lane = weft_arena_alloc(b->arena, communicator->lanes_max, sizeof *p->stream[c].lane);
        for (uint32_t k = 0; plan && k < communicator->lanes_max; k++)
            p->stream[c].lane[k].plan = weft_arena_alloc(b->arena, 1, plan);
    }
    if (b->net->events_max) {
        p->spans = weft_arena_alloc(b->arena, 1, sizeof *p->spans);
        p->spans->max = b->net->events_max;
    }
    assert(job->first[rank] <= job->first[rank + 1]);
    p->sending = weft_arena_alloc(b->arena, p->sendings, sizeof *p->sending);
    if (p->schedule) weft__schedule_run_init(p->schedule, job, rank, b->arena);
}

static struct weft__sends *make_sends(const struct build *b, const struct weft_connection *c) {
    struct weft__sends *sends = weft_arena_alloc(b->arena, 1, sizeof *sends);
    *sends = (struct weft__sends){
        .step = weft_arena_alloc(b->arena, c->slots, sizeof *sends->step), .first = WEFT_NONE, .last = WEFT_NONE};
    return sends;
}

struct by_receiver {
    const struct weft_connection *c;
    uint32_t connection, distance;
};

WEFT__ORDER(by_distance, struct by_receiver, WEFT__UP(c->communicator) ?: WEFT__UP(c->channel) ?: WEFT__UP(distance))

/// All connections, by receiver, and those of each in the order in which it looks at them.
static struct by_receiver *sort_by_receiver(const struct weft_job *job, uint32_t connection0) {
    struct by_receiver *list = weft_memory_new(WEFT_MEMORY_QP, job->connections, sizeof *list);
    WEFT_FREED uint32_t *end = weft_memory_new(WEFT_MEMORY_QP, job->ranks + (size_t)1, sizeof *end);
    for (uint32_t i = 0; i < job->connections; i++)
        end[job->connection[i].dst + 1]++;
    for (uint32_t r = 0; r < job->ranks; r++)
        end[r + 1] += end[r];
    for (uint32_t i = 0; i < job->connections; i++) {
        const struct weft_connection *c = &job->connection[i];
        list[end[c->dst]++] = (struct by_receiver){c, connection0 + i, weft__distance(job, c->src, c->dst)};
    }
    for (uint32_t r = 0, first = 0; r < job->ranks; first = end[r++])
        if (end[r] > first) qsort(list + first, end[r] - first, sizeof *list, by_distance);
    return list;
}

static uint16_t qps_of(const struct build *b, const struct weft_connection *c) {
    if (c->flow == WEFT_NONE) return 1;
    return b->net->hosts.laid ? b->net->hosts.laid[c->flow] : b->net->workload->flow[c->flow].qps;
}

/// The rings of all connections that a rank sends on, in blocks: most have one or two slots.
struct rings {
    struct weft__span *span;
    weft_time_ps *handed_ps;
};

static uint16_t parts_of(const struct build *b, const struct weft_job *job, const struct weft_connection *c) {
    return weft_job_splits(job, c) ? qps_of(b, c) : 1;
}

static struct rings make_rings(const struct build *b, const struct weft_job *job, uint32_t rank) {
    struct rings r = {0};
    size_t spans = 0, slots = 0;
    for (uint32_t i = job->first[rank]; i < job->first[rank + 1]; i++) {
        const struct weft_connection *c = &job->connection[i];
        if (c->flow == WEFT_NONE) continue;
        slots += c->rings;
        spans += c->rings * ((size_t)parts_of(b, job, c));
    }
    r.span = weft_arena_alloc(b->arena, spans, sizeof *r.span);
    r.handed_ps = weft_arena_alloc(b->arena, slots, sizeof *r.handed_ps);
    return r;
}

/// Of the operations that a connection carries; NULL: it is a schedule's.
static const struct weft_collective_common *common_of(const struct weft_job *job, const struct weft_connection *c) {
    return c->communicator >= job->communicators ? NULL : job->op[job->communicator[c->communicator].op].conf;
}

static void make_sender(const struct build *b, struct weft__sending *s, uint32_t i, struct rings *rings,
                        const uint32_t *qp_of_flow) {
    const struct weft_job *job = s->program->job;
    const struct weft_connection *c = &job->connection[i];
    bool local = c->flow == WEFT_NONE, tagged = !c->messages, unadmitted = tagged || job->unadmitted;
    s->qps = qps_of(b, c);
    s->parts = parts_of(b, job, c);
    s->granted = local ? c->slots : unadmitted ? UINT32_MAX : 0;
    s->lane = WEFT_NONE;
    s->slots = local ? c->slots : c->rings;
    s->left_bytes = c->bytes;
    s->peer = c->dst;
    s->peer_node = b->all->node[job->host[c->dst]];
    s->channel = c->channel;
    s->sends = tagged ? make_sends(b, c) : NULL;
    s->qp = local ? WEFT_NONE : qp_of_flow[c->flow];
    b->all->wire[s->connection].sending = s;
    if (local) return;
    const struct weft_collective_common *common = common_of(job, c);
    if (common && !c->inside) {
        s->hand_ps = common->hand_ps;
        s->proxy_ps = common->proxy_ps;
    }
    s->span = rings->span;
    s->handed_ps = rings->handed_ps;
    rings->span += (size_t)s->slots * s->parts;
    rings->handed_ps += s->slots;
    for (uint32_t q = s->qp; q < b->net->qps && b->net->qp[q].flow == c->flow; q++)
        b->net->hosts.carrier[q].sending = s;
}

static void make_senders(const struct build *b, const struct weft_job *job, uint32_t program0, uint32_t connection0,
                         const uint32_t *qp_of_flow) {
    for (uint32_t rank = 0; rank < job->ranks; rank++) {
        struct weft__program *p = &b->all->program[program0 + rank];
        struct rings rings = make_rings(b, job, rank);
        for (uint32_t i = job->first[rank]; i < job->first[rank + 1]; i++) {
            struct weft__sending *s = &p->sending[i - job->first[rank]];
            *s = (struct weft__sending){.program = p, .connection = connection0 + i};
            make_sender(b, s, i, &rings, qp_of_flow);
        }
    }
}

/// The same for all connections that it receives on.
struct arrivals {
    uint32_t *came;
    weft_time_ps *granted_ps;
};

static struct arrivals make_arrivals(const struct build *b, const struct weft_job *job, const struct by_receiver *list,
                                     uint32_t n) {
    size_t qps = 0, slots = 0;
    for (uint32_t k = 0; k < n; k++) {
        if (list[k].c->flow == WEFT_NONE) continue;
        qps += qps_of(b, list[k].c);
        slots += list[k].c->rings;
    }
    return (struct arrivals){weft_arena_alloc(b->arena, qps, sizeof(uint32_t)),
                             weft_arena_alloc(b->arena, job->unadmitted ? 0 : slots, sizeof(weft_time_ps))};
}

static void make_receivers(const struct build *b, const struct weft_job *job, uint32_t program0, uint32_t connection0,
                           const uint32_t *qp_of_flow) {
    WEFT_FREED struct by_receiver *list = sort_by_receiver(job, connection0);
    for (uint32_t i = 0, n; i < job->connections; i += n) {
        struct weft__program *p = &b->all->program[program0 + list[i].c->dst];
        for (n = 1; i + n < job->connections && list[i + n].c->dst == list[i].c->dst;)
            n++;
        struct arrivals arrivals = make_arrivals(b, job, list + i, n);
        p->receivings = n;
        p->receiving = weft_arena_alloc(b->arena, n, sizeof *p->receiving);
        for (uint32_t k = 0; k < n; k++) {
            const struct weft_connection *c = list[i + k].c;
            const struct weft_collective_common *common = common_of(job, c);
            struct weft__stream *stream = c->messages ? &p->stream[c->communicator] : NULL;
            uint16_t qps = qps_of(b, c);
            if (stream && !stream->receivings++) stream->receiving = &p->receiving[k];
            p->receiving[k] = (struct weft__receiving){
                .program = p,
                .connection = list[i + k].connection,
                .qp = c->flow == WEFT_NONE ? WEFT_NONE : qp_of_flow[c->flow],
                .qps = qps,
                .parts = parts_of(b, job, c),
                .came = c->flow == WEFT_NONE ? NULL : arrivals.came,
                .lane = WEFT_NONE,
                .slots = c->flow == WEFT_NONE ? c->slots : c->rings,
                .messages = c->messages,
                .latency_ps = !common     ? 0
                              : c->inside ? common->inner_latency_ps
                                          : common->latency_ps - common->hand_ps,
                .proxy_ps = common && !c->inside ? common->proxy_ps : 0,
                .left_bytes = c->bytes,
                .peer = c->src,
                .peer_node = b->all->node[job->host[c->src]],
                .channel = c->channel,
            };
            struct weft__wire *wire = &b->all->wire[list[i + k].connection];
            wire->receiving = &p->receiving[k];
            if (c->flow == WEFT_NONE) continue;
            arrivals.came += qps;
            if (c->messages && !job->unadmitted) wire->granted_ps = arrivals.granted_ps;
            arrivals.granted_ps += c->rings;
            for (uint32_t q = p->receiving[k].qp; q < b->net->qps && b->net->qp[q].flow == c->flow; q++)
                b->all->receiving[q] = &p->receiving[k];
        }
    }
}

/// The most that the slots of a rank's connections over the network hold, as sender or receiver.
static weft_bytes bound_of(const struct weft__program *p, bool sends) {
    weft_bytes bytes = 0;
    for (uint32_t k = 0; k < (sends ? p->sendings : p->receivings); k++) {
        uint32_t connection = sends ? p->sending[k].connection : p->receiving[k].connection;
        const struct weft_connection *c = &p->job->connection[connection - p->connection0];
        if (c->flow != WEFT_NONE) bytes += c->slots * c->message_bytes_max;
    }
    return bytes;
}

/// The GPU of a program, as an index among those that share its NIC.
static uint32_t gpu_of(const struct build *b, const struct weft__program *p) {
    struct weft_host_gpus gpus = weft_server_of(&p->job->server, b->net->topology, p->job->host[p->rank]);
    return weft_host_gpu_find(&gpus, p->job->gpu[p->rank]);
}

/// Numbers inner ports so that a host without shared NICs before it has its own number.
static void make_ports(const struct build *b) {
    struct weft__network *net = b->net;
    for (uint32_t h = 0, number = 0; h < net->topology->hosts; h++) {
        struct weft__gpu *gpu = net->gpu[h];
        number += !gpu;
        if (!gpu) continue;
        gpu->port = weft_arena_alloc(b->arena, gpu->ports, sizeof *gpu->port);
        for (uint32_t k = 0; k < gpu->ports; k++)
            gpu->port[k].number = number++;
        for (uint32_t k = 0; k < gpu->programs; k++) {
            struct weft__program *p = &b->all->program[gpu->program[k]];
            p->port = &gpu->port[gpu_of(b, p)];
        }
    }
}

/// Which programs each host runs.
static void make_gpus(const struct build *b) {
    struct weft__network *net = b->net;
    uint32_t hosts = net->topology->hosts;
    net->gpu = weft_arena_alloc(b->arena, hosts, sizeof *net->gpu);
    WEFT_FREED uint32_t *n = weft_memory_new(WEFT_MEMORY_QP, hosts, sizeof *n);
    for (uint32_t i = 0; i < b->all->n; i++)
        n[b->all->program[i].job->host[b->all->program[i].rank]]++;
    for (uint32_t h = 0; h < hosts; h++) {
        if (!n[h]) continue;
        net->gpu[h] = weft_arena_alloc(b->arena, 1, sizeof **net->gpu);
        net->gpu[h]->program = weft_arena_alloc(b->arena, n[h], sizeof *net->gpu[h]->program);
        uint32_t node = net->topology->host[h];
        net->gpu[h]->launch_ps = net->device[node]->host.launch_ps;
        net->gpu[h]->launch_skew = net->device[node]->host.launch_skew;
        net->gpu[h]->seed = weft_random_seed_of(net->scenario->run.seed, net->topology->node[node].name);
    }
    for (uint32_t i = 0; i < b->all->n; i++) {
        const struct weft__program *p = &b->all->program[i];
        uint32_t host = p->job->host[p->rank], k = gpu_of(b, p);
        struct weft__gpu *gpu = net->gpu[host];
        if (k >= gpu->ports) gpu->ports = k + 1;
        gpu->program[gpu->programs++] = i;
        const struct weft_server_conf *server = &p->job->server;
        weft_time_ps of_host = net->device[net->topology->host[host]]->host.launch_ps,
                     launch = server->launch_ps ? server->launch_ps : of_host;
        gpu->launch_ps = weft_time_of_real((double)launch * server->costs.factor);
        if (server->launch_ps) gpu->launch_skew = 0;
    }
    make_ports(b);
}

struct weft__programs *weft__jobs_new(struct weft__network *net) {
    const struct weft_workload *w = net->workload;
    if (!w->jobs) return NULL;
    struct build b = {net, weft_arena_alloc(net->arena_qp, 1, sizeof *b.all), net->arena_qp};
    uint32_t connections = 0;
    for (uint32_t j = 0; j < w->jobs; j++) {
        b.all->n += w->job[j].ranks;
        connections += w->job[j].connections;
    }
    b.all->program = weft_arena_alloc(b.arena, b.all->n, sizeof *b.all->program);
    b.all->wire = weft_arena_alloc(b.arena, connections, sizeof *b.all->wire);
    b.all->receiving = weft_arena_alloc(b.arena, net->qps, sizeof *b.all->receiving);
    net->hosts.carrier = weft_arena_alloc(b.arena, net->qps, sizeof *net->hosts.carrier);
    b.all->node = net->topology->host;
    WEFT_FREED uint32_t *qp_of_flow = weft_memory_new(WEFT_MEMORY_QP, w->flows, sizeof *qp_of_flow);
    for (uint32_t q = net->qps; q-- > 0;)
        qp_of_flow[net->qp[q].flow] = q;
    uint32_t program = 0, connection = 0;
    for (uint32_t j = 0; j < w->jobs; j++) {
        for (uint32_t r = 0; r < w->job[j].ranks; r++)
            make_program(&b, &w->job[j], r, connection, &b.all->program[program + r]);
        make_senders(&b, &w->job[j], program, connection, qp_of_flow);
        make_receivers(&b, &w->job[j], program, connection, qp_of_flow);
        program += w->job[j].ranks;
        connection += w->job[j].connections;
    }
    make_gpus(&b);
    return b.all;
}

void weft__jobs_start(struct weft__network *net) {
    const struct weft_workload *w = net->workload;
    struct weft__programs *all = net->programs;
    if (!all) return;
    uint32_t workers = net->engine.conf.workers, at = 0;
    all->waits = weft_arena_alloc(net->arena_qp, (size_t)w->jobs * workers, sizeof *all->waits);
    for (uint32_t j = 0; j < w->jobs; j++)
        for (uint32_t r = 0; r < w->job[j].ranks; r++) {
            struct weft__program *p = &all->program[at++];
            uint32_t worker = weft__engine_worker_of(&net->engine, all->node[w->job[j].host[r]]);
            struct weft__waits **waits = &all->waits[(size_t)j * workers + worker];
            if (bound_of(p, true) && !*waits) *waits = weft_arena_alloc(net->arena_qp, 1, sizeof **waits);
            p->waits = *waits;
        }
}

/// The part of a GPU's speed that remains if all collectives are active.
static double speed_min(const struct weft_job *job) {
    double speed = 1;
    for (uint32_t c = 0; c < job->communicators; c++)
        speed -= job->channel_cost * job->communicator[c].channels;
    return speed;
}

/// For one operation at a rank: its compute, and a step of its collective, which copies a slice and passes it on within
/// the server.
static weft_time_ps op_patience(const struct weft_job *job, const struct weft_job_op *op) {
    double slow = job->slow_factor > 1 ? job->slow_factor : 1;
    weft_time_ps compute = weft_time_of_real((double)op->compute_ps * slow / speed_min(job));
    const struct weft_collective_common *c = op->conf;
    if (!op->name) return compute;
    weft_time_ps copy = c->copy_rate_bps ? weft_time_of_bytes(c->slice_bytes, c->copy_rate_bps) : 0;
    weft_time_ps way = weft_time_of_bytes(c->slice_bytes, job->server.rate_bps);
    return weft_time_plus(compute, weft_time_plus(copy, c->step_ps + job->server.latency_ps + way));
}

/// The longest compute, and a message within the server; collectives count as operations.
static weft_time_ps schedule_patience(const struct weft_job *job) {
    weft_time_ps compute = 0;
    weft_bytes message = 0;
    for (uint32_t r = 0; r < job->ranks; r++)
        for (uint32_t i = 0; i < job->schedule->rank[r].steps; i++) {
            const struct weft_schedule_step *step = &job->schedule->rank[r].step[i];
            if (step->kind == WEFT_SCHEDULE_COLLECTIVE) continue;
            uint64_t *most = step->kind == WEFT_SCHEDULE_COMPUTE ? &compute : &message;
            if (step->size > *most) *most = step->size;
        }
    return weft_time_plus(compute,
                          weft_time_plus(weft_time_of_bytes(message, job->server.rate_bps), job->server.latency_ps));
}

weft_time_ps weft__jobs_patience(const struct weft_workload *w) {
    weft_time_ps most = 0;
    for (uint32_t j = 0; j < w->jobs; j++) {
        weft_time_ps time = w->job[j].schedule ? schedule_patience(&w->job[j]) : 0;
        if (time > most) most = time;
    }
    for (uint32_t j = 0; j < w->jobs; j++)
        for (uint32_t i = 0; i < w->job[j].ops; i++) {
            weft_time_ps time = op_patience(&w->job[j], &w->job[j].op[i]);
            if (time > most) most = time;
        }
    return most;
}

weft_time_ps weft__jobs_lookahead(const struct weft_workload *w) {
    weft_time_ps least = WEFT_TIME_NEVER;
    for (uint32_t j = 0; j < w->jobs; j++)
        if (w->job[j].server.gpus > 1 && w->job[j].server.latency_ps < least) least = w->job[j].server.latency_ps;
    return least;
}

// --- results ------------------------------------------------------------------------------------------------------

/// The last of the ranks; never, unless all have reached it.
static void take_last(weft_time_ps *last, weft_time_ps own) {
    if (own > *last) *last = own; // never is the largest value
}

/// [stages * ops]: whether the ranks of a stage take part in an operation.
static bool *find_parts(const struct weft_job *job) {
    bool *part = weft_memory_new(WEFT_MEMORY_RESULT, (size_t)job->stages * job->ops, sizeof *part);
    for (uint32_t s = 0; s < job->stages; s++)
        for (uint32_t t = 0; t < job->stage[s].turns; t++)
            part[(size_t)s * job->ops + job->stage[s].turn[t].op] = true;
    return part;
}

struct weft_wait_outcome weft__wait_quantiles(const struct weft_histogram *h) {
    return (struct weft_wait_outcome){
        .messages = h->n,
        .mean_ps = weft_histogram_mean_floor(h),
        .p50_ps = weft_histogram_quantile(h, 0.5),
        .p90_ps = weft_histogram_quantile(h, 0.9),
        .p99_ps = weft_histogram_quantile(h, 0.99),
        .max_ps = h->max,
    };
}

static void collect_waits(struct weft__waits *const *waits, uint32_t workers, struct weft_job_outcome *ret) {
    WEFT_FREED struct weft__waits *all = weft_memory_new(WEFT_MEMORY_RESULT, 1, sizeof *all);
    for (uint32_t k = 0; k < workers; k++) {
        if (!waits[k]) continue;
        weft_histogram_merge(&all->cts, &waits[k]->cts);
        weft_histogram_merge(&all->sender, &waits[k]->sender);
    }
    ret->cts_wait = weft__wait_quantiles(&all->cts);
    ret->sender_wait = weft__wait_quantiles(&all->sender);
}

static void take_most(weft_bytes *most, weft_bytes own) {
    if (own > *most) *most = own;
}

static void collect_in_flight(const struct weft__program *p, struct weft_job_outcome *ret) {
    take_most(&ret->in_flight_bytes_max, p->in_flight_bytes_max);
    take_most(&ret->in_flight_bytes_bound, bound_of(p, true));
    take_most(&ret->incoming_bytes_bound, bound_of(p, false));
}

static void collect_spans(const struct weft_job *job, struct weft__program *program, struct weft_arena *arena,
                          struct weft_job_outcome *ret) {
    for (uint32_t r = 0; r < job->ranks; r++)
        ret->spans += weft__rank_spans_end(&program[r], NULL);
    ret->span = weft_arena_alloc(arena, ret->spans, sizeof *ret->span);
    uint64_t n = 0;
    for (uint32_t r = 0; r < job->ranks && ret->spans; r++) {
        ret->unrecorded += program[r].spans->unrecorded;
        n += weft__rank_spans_end(&program[r], &ret->span[n]);
    }
}

static void collect_job(const struct weft_job *job, const struct weft__program *program, struct weft_job_outcome *ret) {
    size_t results = (size_t)job->iterations * job->ops;
    ret->end_ps = 0;
    for (size_t i = 0; i < results; i++)
        ret->op[i] = (struct weft_op_outcome){0};
    for (uint32_t i = 0; i < job->iterations; i++)
        ret->iteration_end_ps[i] = 0;
    bool *part = find_parts(job);
    for (uint32_t r = 0; r < job->ranks; r++) {
        const bool *does = &part[(size_t)weft_job_stage_of(job, r) * job->ops];
        for (size_t i = 0; i < results; i++) {
            if (!does[i % job->ops]) continue;
            take_last(&ret->op[i].start_ps, program[r].op_start_ps[i]);
            take_last(&ret->op[i].end_ps, program[r].op_end_ps[i]);
            ret->op[i].exposed_ps += program[r].op_exposed_ps[i];
        }
        for (uint32_t i = 0; i < job->iterations; i++) {
            take_last(&ret->iteration_end_ps[i], program[r].iteration_end_ps[i]);
            ret->iteration_exposed_ps[i] += program[r].iteration_exposed_ps[i];
        }
        ret->ranks_done += program[r].done;
        if (program[r].schedule) {
            weft__match_deinit(&program[r].schedule->match); // of a rank that has not finished
            ret->rank_end_ps[r] = program[r].schedule->end_ps;
            take_last(&ret->end_ps, program[r].schedule->end_ps);
        }
        collect_in_flight(&program[r], ret);
        ret->exposed_ps += program[r].exposed_ps / job->ranks;
    }
    if (!job->schedule) ret->end_ps = ret->iteration_end_ps[job->iterations - 1];
    weft_memory_free(WEFT_MEMORY_RESULT, part, (size_t)job->stages * job->ops * sizeof *part);
    for (size_t i = 0; i < results; i++)
        ret->op[i].exposed_ps /= job->ranks;
    for (uint32_t i = 0; i < job->iterations; i++)
        ret->iteration_exposed_ps[i] /= job->ranks;
}

void weft__jobs_collect(struct weft__network *net) {
    const struct weft_workload *w = net->workload;
    struct weft_outcome *o = net->outcome;
    if (!w->jobs) return;
    struct weft__program *program = net->programs->program;
    for (uint32_t j = 0; j < w->jobs; j++) {
        collect_job(&w->job[j], program, &o->job[j]);
        if (net->events_max) collect_spans(&w->job[j], program, o->arena, &o->job[j]);
        collect_waits(&net->programs->waits[(size_t)j * net->engine.conf.workers], net->engine.conf.workers,
                      &o->job[j]);
        program += w->job[j].ranks;
    }
    for (uint32_t h = 0; h < net->topology->hosts; h++) {
        if (!net->gpu[h]) continue;
        o->server_sent_bytes += net->gpu[h]->sent_bytes;
        o->server_received_bytes += net->gpu[h]->received_bytes;
    }
}
