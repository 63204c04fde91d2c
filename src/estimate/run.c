// SPDX-License-Identifier: Apache-2.0
// An estimate from its assembly to its outcome.
#include <time.h>

#include "base/clock.h"
#include "box/box.h"
#include "estimate/calibration.h"
#include "estimate/refuse.h"
#include "estimate/rings.h"
#include "estimate/rows.h"
#include "sim/run.h"

/// So many queue pairs are too many for rates that are exact: a change then moves on to too many links.
enum { EXACT_FLOWS = 1024 };
#define EXACT 1e-9
#define NEAR 1e-2 ///< worst 1.7%, mean 1e-5 in an all-to-all of 24,576 hosts

/// The engine does not run: it holds what programs use of it.
static void start_engine(struct weft__fluid *x) {
    struct weft__network *net = &x->net;
    uint32_t nodes = net->topology->nodes;
    weft_time_ps until = net->scenario->run.until_ps < WEFT_TIME_MAX ? net->scenario->run.until_ps : WEFT_TIME_MAX;
    uint32_t *weight = weft_arena_alloc(net->arena_host, nodes, sizeof *weight);
    weft__engine_init(&net->engine,
                      &(struct weft__engine_conf){.nodes = nodes, .workers = 1, .lookahead_ps = 1, .until_ps = until},
                      weight);
    weft__fluid_worker(x)->notes = x;
}

static void start_hosts(struct weft__fluid *x) {
    const struct weft_topology *t = x->net.topology;
    x->end = weft_arena_alloc(x->arena, t->hosts, sizeof *x->end);
    x->poster = weft_arena_alloc(x->arena, t->hosts, sizeof *x->poster);
    x->seed = weft_arena_alloc(x->arena, t->hosts, sizeof *x->seed);
    for (uint32_t h = 0; h < t->hosts; h++) {
        struct weft__gpu *gpu = x->net.gpu ? x->net.gpu[h] : NULL;
        x->seed[h] = weft_random_seed_of(x->net.scenario->run.seed, t->node[t->host[h]].name);
        x->end[h] = (struct weft__endpoint){
            .hosts = &x->net.hosts, .pool = &weft__fluid_worker(x)->pool, .gpu = gpu, .host = h};
        if (!gpu) continue;
        gpu->key0 = x->keys;
        x->keys += weft__gpu_keys(x->net.programs, gpu);
    }
    weft__timers_init(&x->node.timers, x->keys ? x->keys : 1);
    x->node.state = x;
    x->host_of_key = weft_arena_alloc(x->arena, x->keys, sizeof *x->host_of_key);
    for (uint32_t h = 0; h < t->hosts; h++) {
        if (!x->end[h].gpu) continue;
        for (uint32_t k = 0; k < weft__gpu_keys(x->net.programs, x->end[h].gpu); k++)
            x->host_of_key[x->end[h].gpu->key0 + k] = h;
        weft__gpu_start(&x->node, &x->end[h]);
    }
}

static void find_qps_of_flows(struct weft__fluid *x) {
    x->qp_of_flow = weft_arena_alloc(x->arena, x->net.workload->flows, sizeof *x->qp_of_flow);
    for (uint32_t q = x->net.qps; q-- > 0;)
        x->qp_of_flow[x->net.qp[q].flow] = q;
}

static void start_flows(struct weft__fluid *x) {
    const struct weft_workload *w = x->net.workload;
    for (uint32_t f = 0; f < w->flows; f++)
        if (!w->flow[f].messages && !w->flow[f].waits) weft__fluid_note(x, w->flow[f].start_ps, WEFT__FLUID_START, f);
}

static bool *find_down(const struct weft_topology *t, struct weft_arena *arena) {
    bool *down = weft_arena_alloc(arena, t->links, sizeof *down);
    for (uint32_t i = 0; i < t->events; i++)
        down[t->event[i].link] = !t->event[i].up;
    return down;
}

static enum weft_status assemble_fluid(struct weft__fluid *x, const struct weft_estimate_options *options,
                                       struct weft_error *ret_error) {
    struct weft__network *net = &x->net;
    net->device = weft_device_confs(net->scenario, net->topology, net->arena_switch);
    enum weft_status status = weft__estimate_refuse(net, ret_error);
    if (!status) status = weft__estimate_refuse_memory(net, ret_error);
    if (status) return status;
    struct weft_routes *routes = weft_routes_new(net->topology, find_down(net->topology, net->arena_switch));
    net->epoch = weft_arena_alloc(net->arena_switch, 1, sizeof *net->epoch);
    net->epoch[0].routes = routes;
    net->epochs = 1;
    weft__queue_pairs_new(net, false);
    x->ops = weft__fluid_endpoint;
    x->ops.start_key = net->hosts.ops ? net->hosts.ops->start_key : NULL;
    net->hosts.ops = &x->ops;
    x->forwarding = weft__forwarding_new(net->topology, net->device, routes, net->scenario->run.seed, x->arena);
    x->forwarding.qp_numbers = net->hosts.qp_numbers;
    x->forwarding.path = net->workload->path;
    double tolerance = net->qps > EXACT_FLOWS ? NEAR : EXACT;
    weft__levels_init(&x->levels, options->tolerance > 0 ? options->tolerance : tolerance);
    x->batch = net->qps > EXACT_FLOWS ? NEAR : 0;
    weft__timers_init(&x->drains, net->qps ? net->qps : 1);
    find_qps_of_flows(x);
    status = weft__ways_new(x, ret_error);
    x->line = weft_arena_alloc(x->arena, x->levels.links, sizeof *x->line);
    x->uneven = weft_arena_alloc(x->arena, x->levels.links, sizeof *x->uneven);
    if (status) return status;
    start_engine(x);
    weft__jobs_start(net);
    start_hosts(x);
    start_flows(x);
    if (!options->messages) weft__rings_new(x);
    return WEFT_OK;
}

static bool is_over(const struct weft__fluid *x) {
    const struct weft_outcome *o = x->net.outcome;
    for (uint32_t f = 0; f < o->flows; f++)
        if (!x->net.workload->flow[f].messages && o->flow[f].end_ps == WEFT_TIME_NEVER) return false;
    for (uint32_t j = 0; j < o->jobs; j++)
        if (o->job[j].ranks_done < x->net.workload->job[j].ranks) return false;
    return true;
}

static enum weft_status collect_outcome(struct weft__fluid *x, struct weft_error *ret_error) {
    struct weft_outcome *o = x->net.outcome;
    o->sim_time_ps = x->now_ps;
    o->events = x->happened;
    weft__jobs_collect(&x->net);
    for (uint32_t p = 0; p < o->ports; p++) {
        const struct weft__fluid_port *port = &x->port[p];
        if (port->link == WEFT_NONE) continue;
        weft_outcome_at(o, p, 0)->tx_bytes = (uint64_t)(x->levels.link[port->link].bytes * (double)port->share);
    }
    o->end = WEFT_END_DONE;
    return is_over(x) ? WEFT_OK : weft__estimate_refuse_rest(&x->net, ret_error);
}

static void fluid_free(struct weft__fluid *x) {
    for (uint32_t i = 0; i < x->net.epochs; i++)
        weft_routes_free((struct weft_routes *)x->net.epoch[i].routes);
    if (x->net.engine.node) weft__engine_deinit(&x->net.engine);
    weft__timers_deinit(&x->node.timers);
    weft__timers_deinit(&x->drains);
    weft__levels_deinit(&x->levels);
    weft__rings_free(x);
    weft_memory_free(WEFT_MEMORY_QP, x->drain, x->drains_room * sizeof *x->drain);
    weft_memory_free(WEFT_MEMORY_QP, x->queue, x->queues_room * sizeof *x->queue);
    weft__events_deinit(&x->events);
    weft_memory_free(WEFT_MEMORY_FLIGHT, x->piece, x->pieces_room * sizeof *x->piece);
    weft_memory_free(WEFT_MEMORY_FLIGHT, x->carried, x->carrieds_room * sizeof *x->carried);
    weft_arena_free(x->net.arena_switch);
    weft_arena_free(x->net.arena_host);
    weft_arena_free(x->net.arena_qp);
}

enum weft_status weft_estimate_run(const struct weft_scenario *scenario, const struct weft_topology *topology,
                                   const struct weft_workload *workload, const struct weft_estimate_options *options,
                                   struct weft_arena *arena, struct weft_estimate **ret_estimate,
                                   struct weft_error *ret_error) {
    double begun = weft__clock_s(CLOCK_PROCESS_CPUTIME_ID);
    *ret_estimate = NULL;
    enum weft_status status = weft_simulation_check(scenario, topology, ret_error);
    if (!status) status = weft_simulation_check_workload(scenario, topology, workload, ret_error);
    if (status) return status;
    struct weft_arena *own = weft_arena_new(WEFT_MEMORY_QP);
    struct weft__fluid *x = weft_arena_alloc(own, 1, sizeof *x);
    *x = (struct weft__fluid){
        .net = {.scenario = scenario,
                .topology = topology,
                .workload = workload,
                .outcome = weft_outcome_new(topology, workload),
                .arena_switch = weft_arena_new(WEFT_MEMORY_SWITCH),
                .arena_host = weft_arena_new(WEFT_MEMORY_HOST),
                .arena_qp = weft_arena_new(WEFT_MEMORY_QP)},
        .piece_free = WEFT_NONE,
        .carried_free = WEFT_NONE,
        .arena = own,
    };
    weft__events_init(&x->events);
    status = assemble_fluid(x, options, ret_error);
    if (!status) weft__fluid_run(x);
    if (!status) status = collect_outcome(x, ret_error);
    struct weft_estimate *e = status ? NULL : weft__estimate_describe(x, options, arena);
    if (e) status = weft__estimate_calibrate(x, options->calibration, e, ret_error);
    if (!status) {
        *ret_estimate = e;
        e->cpu_s = weft__clock_s(CLOCK_PROCESS_CPUTIME_ID) - begun;
    } else {
        weft_outcome_free(x->net.outcome);
    }
    fluid_free(x);
    weft_arena_free(own);
    return status;
}

void weft_estimate_free(struct weft_estimate *estimate) {
    if (estimate) weft_outcome_free(estimate->outcome);
}
