// SPDX-License-Identifier: Apache-2.0
#include "sim/rma.h"

#include <assert.h>

struct build {
    struct weft__network *net;
    struct weft__rma_run *run;
    const struct weft_workload *w;
    struct weft_arena *arena;
};

/// The node where a client works: its host, or the box at its host.
static uint32_t node_of(const struct weft_topology *t, const struct weft_rma *rma, uint32_t client) {
    uint32_t host = t->host[rma->client[client]];
    return weft_rma_is_software(rma) ? host : t->port[weft_topology_port(t, host, 0)->peer].node;
}

static struct weft__rma_pipe pipe_of(const struct build *b, uint32_t qp, uint32_t slots) {
    return (struct weft__rma_pipe){
        .qp = qp,
        .message = weft_arena_alloc(b->arena, slots, sizeof(struct weft__rma_message)),
    };
}

/// `qp_of_flow`: each flow has one queue pair.
static void make_connections(const struct build *b, uint32_t entry, const uint32_t *qp_of_flow) {
    const struct weft_rma *rma = &b->w->rma[entry];
    struct weft__rmas *all = &b->run->all;
    for (uint32_t i = 0; i < rma->clients; i++)
        for (uint32_t k = rma->first[i]; k < rma->first[i + 1]; k++) {
            uint32_t at = all->connection0[entry] + k, flow = rma->flow0 + 2 * k;
            uint32_t slots = (uint32_t)rma->conf->under_way;
            all->connection[at] = (struct weft__rma_connection){
                .rma = entry,
                .client = i,
                .slots = slots,
                .request = pipe_of(b, qp_of_flow[flow], slots),
                .answer = pipe_of(b, qp_of_flow[flow + 1], slots),
                .waiting_first = WEFT_NONE,
            };
            all->of_flow[flow] = all->of_flow[flow + 1] = at;
        }
}

static struct weft__rma_host *host_at(const struct build *b, uint32_t host) {
    assert(host < b->net->topology->hosts);
    if (!b->run->host[host]) b->run->host[host] = weft_arena_alloc(b->arena, 1, sizeof **b->run->host);
    return b->run->host[host];
}

/// Places the clients and servers of software entries on their hosts.
static void make_hosts(const struct build *b) {
    struct weft__rmas *all = &b->run->all;
    for (uint32_t e = 0; e < b->w->rmas; e++) {
        const struct weft_rma *rma = &b->w->rma[e];
        if (!weft_rma_is_software(rma)) continue;
        for (uint32_t j = 0; j < rma->servers; j++)
            host_at(b, rma->server[j]);
        for (uint32_t i = 0; i < rma->clients; i++)
            all->client_at[e][i] = host_at(b, rma->client[i])->clients++;
    }
    for (uint32_t h = 0; h < b->net->topology->hosts; h++)
        if (b->run->host[h])
            b->run->host[h]->client =
                weft_arena_alloc(b->arena, b->run->host[h]->clients, sizeof *b->run->host[h]->client);
    for (uint32_t e = 0; e < b->w->rmas; e++) {
        const struct weft_rma *rma = &b->w->rma[e];
        for (uint32_t i = 0; i < rma->clients; i++)
            b->run->client[e][i] = weft_rma_is_software(rma)
                                       ? &b->run->host[rma->client[i]]->client[all->client_at[e][i]]
                                       : weft_arena_alloc(b->arena, 1, sizeof ***b->run->client);
    }
}

struct weft__rma_run *weft__rma_new(struct weft__network *net) {
    const struct weft_workload *w = net->workload;
    if (!w->rmas) return NULL;
    struct build b = {net, weft_arena_alloc(net->arena_qp, 1, sizeof *b.run), w, net->arena_qp};
    struct weft__rmas *all = &b.run->all;
    all->rma = w->rma;
    all->connection0 = weft_arena_alloc(b.arena, w->rmas, sizeof *all->connection0);
    all->client_at = weft_arena_alloc(b.arena, w->rmas, sizeof *all->client_at);
    b.run->client = weft_arena_alloc(b.arena, w->rmas, sizeof *b.run->client);
    b.run->host = weft_arena_alloc(b.arena, net->topology->hosts, sizeof *b.run->host);
    for (uint32_t e = 0; e < w->rmas; e++) {
        all->connection0[e] = all->connections;
        if (weft_rma_is_software(&w->rma[e])) all->connections += w->rma[e].first[w->rma[e].clients];
        all->client_at[e] = weft_arena_alloc(b.arena, w->rma[e].clients, sizeof **all->client_at);
        b.run->client[e] = weft_arena_alloc(b.arena, w->rma[e].clients, sizeof **b.run->client);
    }
    all->connection = weft_arena_alloc(b.arena, all->connections, sizeof *all->connection);
    all->of_flow = weft_arena_alloc(b.arena, w->flows, sizeof *all->of_flow);
    WEFT_FREED uint32_t *qp_of_flow = weft_memory_new(WEFT_MEMORY_QP, w->flows, sizeof *qp_of_flow);
    for (uint32_t q = net->qps; q-- > 0;)
        qp_of_flow[net->qp[q].flow] = q;
    for (uint32_t e = 0; e < w->rmas; e++)
        if (weft_rma_is_software(&w->rma[e])) make_connections(&b, e, qp_of_flow);
    make_hosts(&b);
    for (uint32_t e = 0; e < w->rmas; e++)
        for (uint32_t i = 0; i < w->rma[e].clients; i++)
            weft__rma_client_init(b.run->client[e][i], &w->rma[e], i, net->scenario->run.seed);
    net->hosts.rmas = all;
    return b.run;
}

uint64_t weft__rma_work_count(const struct weft__network *net) {
    if (!net->rma) return 0;
    uint64_t clients = 0;
    for (uint32_t e = 0; e < net->workload->rmas; e++)
        for (uint32_t i = 0; i < net->workload->rma[e].clients; i++)
            clients += !net->rma->client[e][i]->over;
    return clients - net->workload->rma_flows; // each of these has a queue pair
}

void weft__rma_start(struct weft__network *net) {
    if (!net->rma) return;
    const struct weft_workload *w = net->workload;
    uint32_t workers = net->rma->workers = net->engine.conf.workers;
    net->rma->stats = weft_arena_alloc(net->arena_qp, (size_t)w->rmas * workers, sizeof *net->rma->stats);
    for (uint32_t e = 0; e < w->rmas; e++)
        for (uint32_t i = 0; i < w->rma[e].clients; i++) {
            uint32_t node = node_of(net->topology, &w->rma[e], i);
            struct weft__rma_stats **stats =
                &net->rma->stats[(size_t)e * workers + weft__engine_worker_of(&net->engine, node)];
            if (!*stats) *stats = weft_arena_alloc(net->arena_qp, 1, sizeof **stats);
            net->rma->client[e][i]->stats = *stats;
        }
    for (uint32_t k = 0; k < w->rmas * workers; k++) // at servers: requests that nobody answers
        if (w->rma[k / workers].conf->verb == WEFT_RMA_SEND && !net->rma->stats[k])
            net->rma->stats[k] = weft_arena_alloc(net->arena_qp, 1, sizeof **net->rma->stats);
}

static struct weft_rma_times times_of(const struct weft_histogram *h) {
    return (struct weft_rma_times){
        .mean_ps = weft_histogram_mean_floor(h),
        .p50_ps = weft_histogram_quantile(h, 0.5),
        .p95_ps = weft_histogram_quantile(h, 0.95),
        .p99_ps = weft_histogram_quantile(h, 0.99),
        .p999_ps = weft_histogram_quantile(h, 0.999),
        .max_ps = h->max,
    };
}

void weft__rma_collect(struct weft__network *net) {
    if (!net->rma) return;
    uint32_t workers = net->engine.conf.workers;
    for (uint32_t e = 0; e < net->workload->rmas; e++) {
        struct weft_rma_outcome *o = &net->outcome->rma[e];
        WEFT_FREED struct weft__rma_stats *sum = weft_memory_new(WEFT_MEMORY_RESULT, 1, sizeof *sum);
        for (uint32_t k = 0; k < workers; k++) {
            const struct weft__rma_stats *own = net->rma->stats[(size_t)e * workers + k];
            if (!own) continue;
#define X(field, type, help) o->field += own->field;
            WEFT_RMA_COUNTERS(X)
#undef X
            weft_histogram_merge(&sum->latency, &own->latency);
            weft_histogram_merge(&sum->execution, &own->execution);
        }
        o->latency = times_of(&sum->latency);
        o->execution = times_of(&sum->execution);
    }
}

void weft__rma_free(struct weft__network *net) {
    for (uint32_t e = 0; net->rma && e < net->workload->rmas; e++)
        for (uint32_t i = 0; i < net->workload->rma[e].clients; i++)
            weft__rma_client_deinit(net->rma->client[e][i]);
}
