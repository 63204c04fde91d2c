// SPDX-License-Identifier: Apache-2.0
#include "weft/outcome.h"

#include <string.h>

const char *const weft_phase_names[WEFT_PHASE_COUNT] = {
#define X(e, name, help) [WEFT_PHASE_##e] = name,
    WEFT_PHASES(X)
#undef X
};

const char *const weft_cell_way_names[WEFT_CELL_WAY_COUNT] = {
#define X(e, name) name,
    WEFT_CELL_WAYS(X)
#undef X
};

const char *const weft_cell_end_names[WEFT_CELL_END_COUNT] = {
#define X(e, name) name,
    WEFT_CELL_ENDS(X)
#undef X
};

const char *const weft_drop_names[WEFT_DROPS] = {
#define X(e, name, help) [WEFT_DROP_##e] = name,
    WEFT_DROP_REASONS(X)
#undef X
};

const struct weft_counter_info weft_counter_infos[WEFT_COUNTERS] = {
#define X(field, type, sai, help) {#field, sai, help},
    WEFT_PRIORITY_COUNTERS(X)
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
    };
    for (size_t i = 0; i < results; i++)
        o.op[i].start_ps = o.op[i].end_ps = WEFT_TIME_NEVER;
    for (uint32_t i = 0; i < job->iterations; i++)
        o.iteration_end_ps[i] = WEFT_TIME_NEVER;
    return o;
}

static struct weft_dsf_outcome *dsf_new(struct weft_arena *arena) {
    struct weft_dsf_outcome *o = weft_arena_alloc(arena, 1, sizeof *o);
    o->seen = weft_arena_alloc(arena, 1, sizeof *o->seen);
    return o;
}

static struct weft_tin_outcome *tin_new(struct weft_arena *arena) {
    struct weft_tin_outcome *o = weft_arena_alloc(arena, 1, sizeof *o);
    o->seen = weft_arena_alloc(arena, 1, sizeof *o->seen);
    return o;
}

struct weft_outcome *weft_outcome_new(const struct weft_topology *topology, const struct weft_workload *workload) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    struct weft_outcome *o = weft_arena_alloc(arena, 1, sizeof *o);
    o->arena = arena;
    o->flows = workload->flows;
    o->flow = weft_arena_alloc(arena, o->flows, sizeof *o->flow);
    for (uint32_t i = 0; i < o->flows; i++)
        o->flow[i].end_ps = o->flow[i].acked_ps = WEFT_TIME_NEVER;
    o->jobs = workload->jobs;
    o->job = weft_arena_alloc(arena, o->jobs, sizeof *o->job);
    for (uint32_t i = 0; i < o->jobs; i++)
        o->job[i] = job_new(&workload->job[i], arena);
    o->rmas = workload->rmas;
    o->rma = weft_arena_alloc(arena, o->rmas, sizeof *o->rma);
    for (uint32_t n = 0; n < topology->nodes && !o->dsf; n++)
        if (topology->node[n].box == WEFT_BOX_DSF_INTERFACE) o->dsf = dsf_new(arena);
    for (uint32_t n = 0; n < topology->nodes && !o->tin; n++)
        if (topology->node[n].box == WEFT_BOX_TIN) o->tin = tin_new(arena);
    if (o->tin) {
        o->tin_part = weft_arena_alloc(arena, topology->nodes, sizeof *o->tin_part);
        o->gnet_port = weft_arena_alloc(arena, topology->ports, sizeof *o->gnet_port);
        o->cells = weft_arena_alloc(arena, 1, sizeof *o->cells);
        o->cells->suspect = WEFT_NONE;
        o->round_trip = weft_arena_alloc(arena, WEFT_PRIORITIES, sizeof *o->round_trip);
    }
    o->ports = topology->ports;
    o->port = weft_arena_alloc(arena, (size_t)o->ports * WEFT_PRIORITIES, sizeof *o->port);
    return o;
}

void weft_outcome_free(struct weft_outcome *outcome) {
    if (outcome) weft_arena_free(outcome->arena);
}

/// The finaliser of splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA'14). It is
/// a bijection of `digest` for every word and of `word` for every digest, so that one changed word always shows.
static uint64_t mix(uint64_t digest, uint64_t word) {
    uint64_t z = (digest ^ word) + UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/// What came with later features counts where they are used, so that runs without them keep their digests.
static uint64_t mix_used(uint64_t digest, uint64_t place, uint64_t word) {
    return word ? mix(mix(digest, place), word) : digest;
}

static uint64_t mix_flow(uint64_t digest, const struct weft_flow_outcome *flow) {
    digest = mix(digest, flow->end_ps);
    digest = mix(digest, flow->acked_ps);
    digest = mix(digest, flow->delivered_bytes);
    digest = mix(digest, flow->cnps);
    digest = mix(digest, flow->packets_again);
    digest = mix_used(digest, 1, flow->sfc_messages);
    digest = mix_used(digest, 2, flow->sfc_paused_ps);
    return mix_used(digest, 3, flow->out_of_order_placed); // the others are among the drops
}

static uint64_t mix_counters(uint64_t digest, const struct weft_counters *counters) {
#define X(field, type, sai, help) digest = mix(digest, counters->field);
    WEFT_QUEUE_COUNTERS(X)
#undef X
#define X(field, type, sai, help) digest = mix_used(digest, offsetof(struct weft_counters, field), counters->field);
    WEFT_SFC_COUNTERS(X)
#undef X
    return digest;
}

static uint64_t mix_job(uint64_t digest, const struct weft_job_outcome *job) {
    for (size_t i = 0; i < (size_t)job->iterations * job->ops; i++)
        digest = mix(mix(digest, job->op[i].start_ps), job->op[i].end_ps);
    for (uint32_t i = 0; i < job->iterations; i++)
        digest = mix(digest, job->iteration_end_ps[i]);
    return mix(mix(digest, job->exposed_ps), job->ranks_done);
}

/// Histograms enter the digest in broader buckets than they have: values below 32 each, then four to a doubling.
enum { EXACT = 32, BANDS = 128 };
static uint32_t band_of(uint64_t value) {
    if (value < EXACT) return (uint32_t)value;
    uint32_t log = 63 - (uint32_t)__builtin_clzll(value); // 5 or more
    uint32_t band = EXACT + (log - 5) * 4 + (uint32_t)(value >> (log - 2) & 3);
    return band < BANDS ? band : BANDS - 1;
}

static void count_bands(const struct weft_histogram *h, uint64_t band[BANDS]) {
    memset(band, 0, BANDS * sizeof *band);
    for (uint32_t i = 0; i < WEFT_HISTOGRAM_BUCKETS; i++)
        if (h->bucket[i]) band[band_of(weft_histogram_value(i))] += h->bucket[i];
}

static uint64_t mix_histogram(uint64_t digest, const struct weft_histogram *h) {
    uint64_t band[BANDS];
    count_bands(h, band);
    for (uint32_t i = 0; i < BANDS; i++)
        digest = mix(digest, band[i]);
    return digest;
}

/// Each bucket as a counter that is seldom used.
static uint64_t mix_used_histogram(uint64_t digest, size_t name, const struct weft_histogram *h) {
    uint64_t band[BANDS];
    count_bands(h, band);
    for (uint32_t i = 0; i < BANDS; i++)
        digest = mix_used(digest, name + i * sizeof *band, band[i]);
    return digest;
}

static uint64_t mix_dsf(uint64_t digest, const struct weft_dsf_outcome *dsf) {
#define X(field, type, help) digest = mix(digest, dsf->field);
    WEFT_DSF_ALWAYS(X)
    WEFT_DSF_WATERMARKS(X)
#undef X
#define X(field, type, help) digest = mix_used(digest, offsetof(struct weft_dsf_outcome, field), dsf->field);
    WEFT_DSF_OPTIONS(X)
#undef X
#define X(field, type, unit, help) digest = mix_histogram(digest, &dsf->seen->field);
    WEFT_DSF_HISTOGRAMS(X)
#undef X
    return digest;
}

static uint64_t mix_rma(uint64_t digest, const struct weft_rma_outcome *rma) {
#define X(field, type, help) digest = mix(digest, rma->field);
    WEFT_RMA_COUNTERS(X)
#undef X
    const struct weft_rma_times *both[] = {&rma->latency, &rma->execution};
    for (unsigned k = 0; k < 2; k++)
        digest = mix(mix(mix(digest, both[k]->mean_ps), both[k]->p99_ps), both[k]->max_ps);
    return digest;
}

/// Of a histogram that is seldom used: a number that no counter of a TiN has.
static size_t histogram_place(size_t offset) {
    return offsetof(struct weft_tin_outcome, seen) + offset / sizeof(struct weft_histogram) * BANDS * sizeof(uint64_t);
}

static uint64_t mix_tin(uint64_t digest, const struct weft_tin_outcome *tin) {
#define X(field, type, help) digest = mix(digest, tin->field);
    WEFT_TIN_ALWAYS(X)
    WEFT_TIN_WATERMARKS(X)
#undef X
#define X(field, type, help) digest = mix_used(digest, offsetof(struct weft_tin_outcome, field), tin->field);
    WEFT_TIN_OPTIONS(X)
#undef X
#define X(field, type, unit, help) digest = mix_histogram(digest, &tin->seen->field);
    WEFT_TIN_HISTOGRAMS_ALWAYS(X)
#undef X
#define X(field, type, unit, help)                                                                                     \
    digest =                                                                                                           \
        mix_used_histogram(digest, histogram_place(offsetof(struct weft_tin_histograms, field)), &tin->seen->field);
    WEFT_TIN_HISTOGRAMS_OPTIONS(X)
#undef X
    for (uint32_t h = 0; h < WEFT_TIN_HOPS; h++)
        digest = mix(digest, tin->hops[h]);
    for (uint32_t c = 0; c < WEFT_TIN_CELL_TYPES; c++)
        digest = mix(digest, tin->cells[c]);
    return digest;
}

uint64_t weft_outcome_digest(const struct weft_outcome *outcome) {
    uint64_t digest = mix(mix(0, outcome->flows), outcome->ports);
    for (uint32_t f = 0; f < outcome->flows; f++)
        digest = mix_flow(digest, &outcome->flow[f]);
    for (size_t i = 0; i < (size_t)outcome->ports * WEFT_PRIORITIES; i++)
        digest = mix_counters(digest, &outcome->port[i]);
    for (unsigned d = 0; d <= WEFT_DROP_NIC_BUFFER; d++)
        digest = mix(mix(digest, outcome->drops[d]), outcome->drop_bytes[d]);
    for (unsigned d = WEFT_DROP_NIC_BUFFER + 1; d < WEFT_DROPS; d++)
        digest = mix_used(mix_used(digest, 2 * d, outcome->drops[d]), 2 * d + 1, outcome->drop_bytes[d]);
    for (uint32_t j = 0; j < outcome->jobs; j++)
        digest = mix_job(digest, &outcome->job[j]);
    for (uint32_t k = 0; k < outcome->rmas; k++)
        digest = mix_rma(digest, &outcome->rma[k]);
    if (outcome->dsf) digest = mix_dsf(digest, outcome->dsf);
    if (outcome->tin) digest = mix_tin(digest, outcome->tin);
    digest = mix(mix(digest, outcome->cnps), outcome->injected_bytes);
    return mix(mix(mix(digest, outcome->delivered_bytes), outcome->dropped_bytes), outcome->held_bytes);
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
