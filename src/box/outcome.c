// SPDX-License-Identifier: Apache-2.0
#include "weft/outcome.h"

#include "base/digest.h"
#include "box/results.h"

const char *const weft_phase_names[WEFT_PHASE_COUNT] = {
#define X(e, name, help) [WEFT_PHASE_##e] = name,
    WEFT_PHASES(X)
#undef X
};

static struct weft_job_outcome job_new(const struct weft_job *job, struct weft_arena *arena) {
    size_t results = (size_t)job->iterations * job->ops;
    struct weft_job_outcome o = {
        .op = weft_arena_alloc(arena, results, sizeof *o.op),
        .iteration_end_ps = weft_arena_alloc(arena, job->iterations, sizeof *o.iteration_end_ps),
        .iteration_exposed_ps = weft_arena_alloc(arena, job->iterations, sizeof *o.iteration_exposed_ps),
        .ops = job->ops,
        .iterations = job->iterations,
        .end_ps = WEFT_TIME_NEVER,
        .rank_end_ps = job->schedule ? weft_arena_alloc(arena, job->ranks, sizeof *o.rank_end_ps) : NULL,
        .ranks = job->ranks,
    };
    for (size_t i = 0; i < results; i++)
        o.op[i].start_ps = o.op[i].end_ps = WEFT_TIME_NEVER;
    for (uint32_t i = 0; i < job->iterations; i++)
        o.iteration_end_ps[i] = WEFT_TIME_NEVER;
    return o;
}

struct weft_outcome *weft_outcome_new(const struct weft_topology *topology, const struct weft_workload *workload) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    struct weft_outcome *o = weft_arena_alloc(arena, 1, sizeof *o);
    o->arena = arena;
    o->flows = workload->flows;
    o->flow = weft_arena_alloc(arena, o->flows, sizeof *o->flow);
    for (uint32_t i = 0; i < o->flows; i++)
        o->flow[i] = (struct weft_flow_outcome){.start_ps = workload->flow[i].waits ? WEFT_TIME_NEVER
                                                                                    : workload->flow[i].start_ps,
                                                .end_ps = WEFT_TIME_NEVER,
                                                .acked_ps = WEFT_TIME_NEVER};
    o->jobs = workload->jobs;
    o->job = weft_arena_alloc(arena, o->jobs, sizeof *o->job);
    for (uint32_t i = 0; i < o->jobs; i++)
        o->job[i] = job_new(&workload->job[i], arena);
    o->rmas = workload->rmas;
    o->rma = weft_arena_alloc(arena, o->rmas, sizeof *o->rma);
    weft__box_results_make(o, topology);
    o->ports = topology->ports;
    o->counters = weft_arena_alloc(arena, WEFT_PRIORITIES * (size_t)o->ports, sizeof *o->counters);
    weft_memory_sparse(o->counters, WEFT_PRIORITIES * (size_t)o->ports * sizeof *o->counters);
    return o;
}

void weft_outcome_free(struct weft_outcome *outcome) {
    if (outcome) weft_arena_free(outcome->arena);
}

static uint64_t mix_flow(uint64_t digest, const struct weft_flow_outcome *flow) {
    digest = weft__digest_mix(digest, flow->end_ps);
    digest = weft__digest_mix(digest, flow->acked_ps);
    digest = weft__digest_mix(digest, flow->delivered_bytes);
    digest = weft__digest_mix(digest, flow->cnps);
    digest = weft__digest_mix(digest, flow->packets_again);
    digest = weft__digest_mix_used(digest, 1, flow->sfc_messages);
    digest = weft__digest_mix_used(digest, 2, flow->sfc_paused_ps);
    return weft__digest_mix_used(digest, 3, flow->out_of_order_placed); // the others are among the drops
}

static uint64_t mix_counters(uint64_t digest, const struct weft_counters *counters) {
#define X(field, type, sai, help) digest = weft__digest_mix(digest, counters->field);
    WEFT_QUEUE_COUNTERS(X)
#undef X
#define X(field, type, sai, help)                                                                                      \
    digest = weft__digest_mix_used(digest, offsetof(struct weft_counters, field), counters->field);
    WEFT_SFC_COUNTERS(X)
    WEFT_LINK_COUNTERS(X)
#undef X
    return digest;
}

static uint64_t mix_job(uint64_t digest, const struct weft_job_outcome *job) {
    for (size_t i = 0; i < (size_t)job->iterations * job->ops; i++)
        digest = weft__digest_mix(weft__digest_mix(digest, job->op[i].start_ps), job->op[i].end_ps);
    for (uint32_t i = 0; i < job->iterations; i++)
        digest = weft__digest_mix(digest, job->iteration_end_ps[i]);
    for (uint32_t r = 0; job->rank_end_ps && r < job->ranks; r++)
        digest = weft__digest_mix(digest, job->rank_end_ps[r]);
    return weft__digest_mix(weft__digest_mix(digest, job->exposed_ps), job->ranks_done);
}

static uint64_t mix_rma(uint64_t digest, const struct weft_rma_outcome *rma) {
#define X(field, type, help) digest = weft__digest_mix(digest, rma->field);
    WEFT_RMA_COUNTERS(X)
#undef X
    const struct weft_rma_times *both[] = {&rma->latency, &rma->execution};
    for (unsigned k = 0; k < 2; k++)
        digest = weft__digest_mix(weft__digest_mix(weft__digest_mix(digest, both[k]->mean_ps), both[k]->p99_ps),
                                  both[k]->max_ps);
    return digest;
}

static uint64_t mix_parts(uint64_t digest, const struct weft_outcome *outcome) {
    for (uint32_t kind = 0; kind < WEFT_BOXES; kind++) {
        const struct weft__box_results *results = weft__box_results_of(kind);
        if (results && outcome->part[kind]) digest = results->mix(digest, outcome->part[kind]);
    }
    return digest;
}

uint64_t weft_outcome_digest(const struct weft_outcome *outcome) {
    uint64_t digest = weft__digest_mix(weft__digest_mix(0, outcome->flows), outcome->ports);
    for (uint32_t f = 0; f < outcome->flows; f++)
        digest = mix_flow(digest, &outcome->flow[f]);
    for (uint32_t port = 0; port < outcome->ports; port++)
        for (uint32_t priority = 0; priority < WEFT_PRIORITIES; priority++)
            digest = mix_counters(digest, weft_outcome_at(outcome, port, priority));
    for (unsigned d = 0; d <= WEFT_DROP_NIC_BUFFER; d++)
        digest = weft__digest_mix(weft__digest_mix(digest, outcome->drops[d]), outcome->drop_bytes[d]);
    for (unsigned d = WEFT_DROP_NIC_BUFFER + 1; d < WEFT_DROPS; d++)
        digest = weft__digest_mix_used(weft__digest_mix_used(digest, 2 * d, outcome->drops[d]), 2 * d + 1,
                                       outcome->drop_bytes[d]);
    for (uint32_t j = 0; j < outcome->jobs; j++)
        digest = mix_job(digest, &outcome->job[j]);
    for (uint32_t k = 0; k < outcome->rmas; k++)
        digest = mix_rma(digest, &outcome->rma[k]);
    digest = mix_parts(digest, outcome);
    digest = weft__digest_mix(weft__digest_mix(digest, outcome->cnps), outcome->injected_bytes);
    return weft__digest_mix(
        weft__digest_mix(weft__digest_mix(digest, outcome->delivered_bytes), outcome->dropped_bytes),
        outcome->held_bytes);
}

bool weft_outcome_in_order(const struct weft_outcome *o) {
    for (uint32_t d = 0; d < WEFT_DROPS; d++)
        if (d != WEFT_DROP_OUT_OF_ORDER && d != WEFT_DROP_DUPLICATE && (o->drops[d] || o->drop_bytes[d])) return true;
    for (uint32_t i = 0; i < o->flows; i++)
        if (o->flow[i].out_of_order) return false;
    return true;
}

bool weft_outcome_conserves(const struct weft_outcome *outcome) {
    return outcome->injected_bytes == outcome->delivered_bytes + outcome->dropped_bytes + outcome->held_bytes;
}
