// SPDX-License-Identifier: Apache-2.0
#include "estimate/rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/order.h"
#include "box/box.h"
#include "weft/outcome.h"
#include "weft/report.h"

// --- times --------------------------------------------------------------------------------------------------------

struct describe {
    const struct weft__fluid *x;
    struct weft_estimate *e;
    struct weft_arena *arena;
    struct weft_run run;
    uint32_t job; ///< that is described
};

static struct weft_estimate_time *add_time(struct describe *d, const char *what, const char *name, double time) {
    struct weft_estimate_time row = {.what = what, .name = name, .job = d->job};
    row.time_ps = isfinite(time) ? weft_time_of_real(time) : WEFT_TIME_NEVER;
    WEFT__ADD(d->arena, d->e->time, d->e->times) = row;
    return &d->e->time[d->e->times - 1];
}

static void describe_job(struct describe *d, uint32_t number) {
    const struct weft_job *job = &d->run.workload->job[number];
    const struct weft_job_outcome *o = &d->run.outcome->job[number];
    const struct weft_job_stats stats = weft_report_job(&d->run, number);
    add_time(d, "job", stats.name, (double)(o->end_ps - job->start_ps))->count = job->ranks;
    for (uint32_t i = 0; i < job->iterations && !job->schedule; i++) {
        weft_time_ps begin = i ? o->iteration_end_ps[i - 1] : job->start_ps;
        struct weft_estimate_time *row = add_time(d, "iteration", stats.name, (double)(o->iteration_end_ps[i] - begin));
        row->number = i;
        row->count = job->ranks;
    }
    for (uint32_t op = 0; op < job->ops; op++) {
        if (!job->op[op].name || !job->op[op].times) continue;
        const struct weft_collective_stats c = weft_report_collective(&d->run, number, op);
        struct weft_estimate_time *row = add_time(d, "collective", c.collective, c.time_ps);
        row->number = op;
        row->count = c.ranks;
        row->bytes = c.bytes;
    }
}

/// Priorities that switches pause.
static uint32_t find_lossless(const struct weft__network *net) {
    uint32_t lossless = 0;
    for (uint32_t i = 0; i < net->topology->switches; i++)
        lossless |= net->device[net->topology->switch_node[i]]->sw.pfc.priorities;
    return lossless;
}

/// Groups of flows that are no connections of jobs. The last to end sets the makespan, which pauses do not change.
static void describe_groups(struct describe *d) {
    const struct weft_workload *w = d->run.workload;
    const struct weft_group_stats *group = weft_report_groups(&d->run, d->arena);
    bool *of_job = weft_arena_alloc(d->arena, w->groups, sizeof *of_job);
    uint32_t lossless = find_lossless(&d->x->net);
    bool *pauses = weft_arena_alloc(d->arena, w->groups, sizeof *pauses);
    for (uint32_t j = 0; j < w->jobs; j++)
        of_job[w->job[j].group] = true;
    bool *begun = weft_arena_alloc(d->arena, w->groups, sizeof *begun);
    bool *scattered = weft_arena_alloc(d->arena, w->groups, sizeof *scattered);
    weft_time_ps *begin = weft_arena_alloc(d->arena, w->groups, sizeof *begin);
    weft_time_ps *end = weft_arena_alloc(d->arena, w->groups, sizeof *end), last = 0;
    for (uint32_t f = 0; f < w->flows; f++) {
        uint32_t g = w->flow[f].group;
        weft_time_ps flow_end = d->run.outcome->flow[f].end_ps;
        scattered[g] |= begun[g] && d->run.outcome->flow[f].start_ps != begin[g];
        begin[g] = d->run.outcome->flow[f].start_ps;
        begun[g] = true;
        pauses[g] |= lossless >> w->flow[f].priority & 1;
        if (flow_end > end[g]) end[g] = flow_end;
        if (flow_end > last) last = flow_end;
    }
    for (uint32_t g = 0; g < w->groups; g++) {
        if (of_job[g] || !group[g].finished) continue;
        struct weft_estimate_time *row = add_time(d, "group", w->group[g], group[g].fct_ps.max);
        row->count = group[g].count;
        row->bytes = group[g].bytes;
        row->mean_ps = weft_time_of_real(group[g].fct_ps.mean);
        row->p99_ps = weft_time_of_real(group[g].fct_ps.p99);
        row->scattered = scattered[g];
        row->unpaused = pauses[g] && end[g] < last;
    }
}

/// Times of tokens, which follow from the ends of transfers. The greatest of the requests is the row's time.
static void describe_services(struct describe *d) {
    for (uint32_t k = 0; k < d->run.workload->inferences; k++) {
        struct weft_service_stats s = weft_report_service(&d->run, k, d->arena);
        const struct weft_quantiles *const of[] = {&s.ttft, &s.tpot};
        for (uint32_t i = 0; i < 2 && s.answered; i++) {
            struct weft_estimate_time *row = add_time(d, i ? "later token" : "first token", s.name, of[i]->max);
            row->derived = true;
            row->count = s.answered;
            row->bytes = i ? 0 : s.bytes;
            row->mean_ps = isnan(of[i]->mean) ? 0 : weft_time_of_real(of[i]->mean);
            row->p99_ps = isnan(of[i]->p99) ? 0 : weft_time_of_real(of[i]->p99);
        }
    }
}

static weft_time_ps find_makespan(const struct weft_run *run) {
    weft_time_ps end = 0, begin = WEFT_TIME_NEVER;
    for (uint32_t f = 0; f < run->outcome->flows; f++) {
        const struct weft_flow_outcome *o = &run->outcome->flow[f];
        if (run->workload->flow[f].messages || o->start_ps == WEFT_TIME_NEVER) continue;
        if (o->start_ps < begin) begin = o->start_ps;
        if (o->end_ps != WEFT_TIME_NEVER && o->end_ps > end) end = o->end_ps;
    }
    for (uint32_t j = 0; j < run->outcome->jobs; j++) {
        if (run->workload->job[j].start_ps < begin) begin = run->workload->job[j].start_ps;
        if (run->outcome->job[j].end_ps != WEFT_TIME_NEVER && run->outcome->job[j].end_ps > end)
            end = run->outcome->job[j].end_ps;
    }
    return end > begin ? end - begin : 0;
}

// --- links --------------------------------------------------------------------------------------------------------

static double bytes_of(const struct weft__fluid *x, uint32_t port) {
    return x->levels.link[x->port[port].link].bytes * (double)x->port[port].share;
}

static double used_part(const struct describe *d, uint32_t port) {
    const struct weft_topology *t = d->run.topology;
    double rate = (double)t->link[t->port[port].link].rate_bps / 8 / (double)WEFT_PS_PER_S;
    return d->e->makespan_ps ? bytes_of(d->x, port) / rate / (double)d->e->makespan_ps : 0;
}

struct busy {
    double used;
    uint32_t port;
};
WEFT__ORDER(by_use, struct busy, WEFT__DOWN(used) ?: WEFT__UP(port))

static const char *layer_of(const struct weft_topology *t, uint32_t port) {
    const struct weft_node_info *node = &t->node[t->port[port].node];
    return node->role == WEFT_NODE_HOST ? "host" : node->layer;
}

static void add_to_layer(struct describe *d, uint32_t port) {
    const struct weft_topology *t = d->run.topology;
    const char *from = layer_of(t, port), *to = layer_of(t, t->port[port].peer);
    uint32_t k = 0;
    while (k < d->e->layers && (strcmp(d->e->layer[k].from, from) != 0 || strcmp(d->e->layer[k].to, to) != 0))
        k++;
    if (k == d->e->layers)
        WEFT__ADD(d->arena, d->e->layer, d->e->layers) = (struct weft_estimate_layer){.from = from, .to = to};
    struct weft_estimate_layer *layer = &d->e->layer[k];
    layer->links++;
    if (d->x->port[port].link == WEFT_NONE) return;
    double used = used_part(d, port);
    layer->used++;
    layer->mean += used;
    if (used > layer->max) layer->max = used;
}

static void describe_sharers(struct describe *d, const struct busy *busy) {
    enum { SHARERS_MAX = 16 };
    const struct weft__levels *l = &d->x->levels;
    const struct weft_topology *t = d->run.topology;
    uint32_t *n = weft_arena_alloc(d->arena, d->e->links, sizeof *n);
    WEFT_FREED bool *shown = weft_memory_new(WEFT_MEMORY_RESULT, l->links, sizeof *shown);
    for (uint32_t k = 0; k < d->e->links; k++)
        shown[d->x->port[busy[k].port].link] = true;
    for (uint32_t q = 0; q < d->x->net.qps; q++)
        for (uint32_t e = l->flow[q].first; e < l->flow[q].first + l->flow[q].entries; e++)
            for (uint32_t k = 0; k < d->e->links && l->entry[e].weight >= 0 && shown[l->entry[e].link]; k++) {
                if (d->x->port[busy[k].port].link != l->entry[e].link) continue;
                if (n[k]++ >= SHARERS_MAX) continue;
                const struct weft_qp_conf *qp = &d->x->net.qp[q];
                const struct weft_flow *flow = &d->run.workload->flow[qp->flow];
                WEFT__ADD(d->arena, d->e->sharer, d->e->sharers) = (struct weft_estimate_sharer){
                    .link = d->e->link[k].name,
                    .group = d->run.workload->group[flow->group],
                    .src = t->node[t->host[qp->src]].name,
                    .dst = t->node[t->host[qp->dst]].name,
                    .qp = q - d->x->qp_of_flow[qp->flow],
                    .bytes = qp->bytes,
                };
            }
}

static void describe_links(struct describe *d, uint32_t most) {
    const struct weft_topology *t = d->run.topology;
    struct busy *busy = weft_memory_new(WEFT_MEMORY_RESULT, t->ports, sizeof *busy);
    uint32_t n = 0;
    for (uint32_t p = 0; p < t->ports; p++) {
        add_to_layer(d, p);
        if (d->x->port[p].link != WEFT_NONE) busy[n++] = (struct busy){used_part(d, p), p};
    }
    if (n) qsort(busy, n, sizeof *busy, by_use);
    d->e->links = n < most ? n : most;
    d->e->link = weft_arena_alloc(d->arena, d->e->links, sizeof *d->e->link);
    for (uint32_t k = 0; k < d->e->links; k++) {
        uint32_t port = busy[k].port;
        char name[160];
        weft_topology_port_name(t, port, name, sizeof name);
        d->e->link[k] = (struct weft_estimate_link){
            .name = weft_arena_text(d->arena, name),
            .from = layer_of(t, port),
            .to = layer_of(t, t->port[port].peer),
            .rate_bps = (double)t->link[t->port[port].link].rate_bps,
            .utilisation = busy[k].used,
            .bytes = (weft_bytes)bytes_of(d->x, port),
            .flows = d->x->levels.link[d->x->port[port].link].members_max,
        };
    }
    for (uint32_t k = 0; k < d->e->layers; k++)
        if (d->e->layer[k].used) d->e->layer[k].mean /= d->e->layer[k].used;
    describe_sharers(d, busy);
    weft_memory_free(WEFT_MEMORY_RESULT, busy, t->ports * sizeof *busy);
}

struct weft_estimate *weft__estimate_describe(const struct weft__fluid *x, const struct weft_estimate_options *options,
                                              struct weft_arena *arena) {
    enum { LINKS = 10 };
    const struct weft__network *net = &x->net;
    struct weft_estimate *e = weft_arena_alloc(arena, 1, sizeof *e);
    struct describe d = {
        .x = x,
        .e = e,
        .arena = arena,
        .run = {
            .scenario = net->scenario, .topology = net->topology, .workload = net->workload, .outcome = net->outcome}};
    e->scenario = net->scenario->name;
    e->seed = net->scenario->run.seed;
    e->hosts = net->topology->hosts;
    e->outcome = net->outcome;
    e->events = x->happened;
    e->changes = x->levels.updates;
    e->makespan_ps = find_makespan(&d.run);
    for (d.job = 0; d.job < net->workload->jobs; d.job++)
        describe_job(&d, d.job);
    d.job = WEFT_NONE;
    describe_groups(&d);
    describe_services(&d);
    describe_links(&d, options->links ? options->links : LINKS);
    return e;
}

// --- as rows ------------------------------------------------------------------------------------------------------

#define ESTIMATE(field, kind, ...) WEFT_RESULT(struct weft_estimate, field, kind, __VA_ARGS__)
#define TIME(field, kind, ...) WEFT_RESULT(struct weft_estimate_time, field, kind, __VA_ARGS__)
#define LINK(field, kind, ...) WEFT_RESULT(struct weft_estimate_link, field, kind, __VA_ARGS__)
#define LAYER(field, kind, ...) WEFT_RESULT(struct weft_estimate_layer, field, kind, __VA_ARGS__)
#define SHARER(field, kind, ...) WEFT_RESULT(struct weft_estimate_sharer, field, kind, __VA_ARGS__)

static const struct weft_result_table estimate_table = WEFT_RESULT_TABLE_OF(
    "estimate", OBJECT, "an estimate", WEFT_RESULT_SUBJECT, WEFT_RESULT_VERSION,
    ESTIMATE(scenario, TEXT, "name of the scenario"), ESTIMATE(seed, COUNT, "seed of the run that is estimated"),
    ESTIMATE(hosts, COUNT, "hosts of the network"),
    ESTIMATE(mechanism, TEXT,
             "what decides how data gets there: scheduled fabric, transport, congestion control or route model"),
    ESTIMATE(kind, TEXT, "kind of work: flows, jobs of small or large messages, or jobs that share links (shared)"),
    ESTIMATE(calibrated, BOOL, "whether an interval is known"),
    ESTIMATE(makespan_ps, TIME, "time from the first start to the last end of all work"),
    ESTIMATE(low_ps, TIME,
             "lower end of the interval that holds the makespan of a run in 90% of cases; null: not calibrated",
             .flags = WEFT_RESULT_NONZERO),
    ESTIMATE(high_ps, TIME,
             "upper end of the interval that holds the makespan of a run in 90% of cases; null: not calibrated",
             .flags = WEFT_RESULT_NONZERO),
    ESTIMATE(events, COUNT, "events of the estimate"),
    ESTIMATE(changes, COUNT, "times that the share of a link was computed"),
    ESTIMATE(cpu_s, REAL, "processor time of the estimate", .unit = "s"));
static const struct weft_result_table time_table = WEFT_RESULT_TABLE_OF(
    "times", LIST, "a time that was estimated", WEFT_RESULT_EACH(struct weft_estimate, time, times),
    WEFT_RESULT_CALL(weft_result_index, "time", COUNT, "number of the time in the answer", .flags = WEFT_RESULT_KEY),
    TIME(what, TEXT, "job, iteration, collective or group"),
    TIME(name, TEXT, "name of the job, of the collective or of the group of flows"),
    TIME(job, COUNT, "number of the job; null: of no job"),
    TIME(number, COUNT, "number of the iteration, or of the operation in its job"),
    TIME(count, COUNT, "ranks, flows of the group, or requests"),
    TIME(bytes, BYTES, "size of the collective, or bytes of all flows of the group", .flags = WEFT_RESULT_NONZERO),
    TIME(time_ps, TIME,
         "estimated time; of a collective the mean, of a group that of its slowest flow, of tokens that of the slowest "
         "request"),
    TIME(low_ps, TIME, "lower end of the 90% interval of the time; null: not calibrated", .flags = WEFT_RESULT_NONZERO),
    TIME(high_ps, TIME, "upper end of the 90% interval of the time; null: not calibrated",
         .flags = WEFT_RESULT_NONZERO),
    TIME(mean_ps, TIME, "mean completion time of a group of flows, or of tokens over requests",
         .flags = WEFT_RESULT_NONZERO),
    TIME(p99_ps, TIME, "99th percentile of completion times of a group of flows, or of tokens over requests",
         .flags = WEFT_RESULT_NONZERO),
    TIME(scattered, BOOL,
         "whether flows of the group begin at several times, so that the slowest need not end last: never calibrated"),
    TIME(unpaused, BOOL,
         "whether PFC may hold the group back behind other flows, which is not in the estimated times: never "
         "calibrated"));
static const struct weft_result_table link_table = WEFT_RESULT_TABLE_OF(
    "links", LIST, "one of the busiest links, in one direction", WEFT_RESULT_EACH(struct weft_estimate, link, links),
    LINK(name, TEXT, "port that sends", .flags = WEFT_RESULT_KEY), LINK(from, TEXT, "layer of the sender"),
    LINK(to, TEXT, "layer of the receiver"), LINK(rate_bps, REAL, "rate of the link", .unit = "bit/s"),
    LINK(utilisation, REAL, "share of the rate that is used, over the makespan"),
    LINK(bytes, BYTES, "bytes on the wire"), LINK(flows, COUNT, "most queue pairs that send over the link at once"));
static const struct weft_result_table layer_table = WEFT_RESULT_TABLE_OF(
    "layers", LIST, "all links from one layer to another", WEFT_RESULT_EACH(struct weft_estimate, layer, layers),
    LAYER(from, TEXT, "layer of the senders", .flags = WEFT_RESULT_KEY),
    LAYER(to, TEXT, "layer of the receivers", .flags = WEFT_RESULT_KEY), LAYER(links, COUNT, "links"),
    LAYER(used, COUNT, "links that carry data"), LAYER(mean, REAL, "mean utilisation of those that carry data"),
    LAYER(max, REAL, "utilisation of the busiest"));
static const struct weft_result_table sharer_table = WEFT_RESULT_TABLE_OF(
    "sharers", LIST, "a queue pair that crosses one of the busiest links, of each link the first 16",
    WEFT_RESULT_EACH(struct weft_estimate, sharer, sharers),
    WEFT_RESULT_CALL(weft_result_index, "sharer", COUNT, "number of the queue pair in the answer",
                     .flags = WEFT_RESULT_KEY),
    SHARER(link, TEXT, "port that sends"), SHARER(group, TEXT, "group of the flow"),
    SHARER(src, TEXT, "host that sends"), SHARER(dst, TEXT, "host that receives"),
    SHARER(qp, COUNT, "queue pair of the flow"), SHARER(bytes, BYTES, "payload"));
const struct weft_answer weft__answer_estimate =
    WEFT_ANSWER_OF("estimate", "weft estimate: what a run would give, by a fluid", &estimate_table, &time_table,
                   &link_table, &layer_table, &sharer_table);
