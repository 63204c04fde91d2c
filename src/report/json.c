// SPDX-License-Identifier: Apache-2.0
// A run as one JSON object. Times are whole picoseconds, sizes bytes; what has no value (the end of a flow that did not
// finish, a mean of nothing) is null. docs/results.md describes the keys.
#include "base/json.h"

#include <inttypes.h>
#include <math.h>

#include "balance.h"
#include "claims.h"
#include "jobs.h"
#include "rma.h"
#include "te.h"
#include "totals.h"
#include "transitions.h"

static void key_end(struct weft__json *j, const char *key, weft_time_ps time, bool known) {
    weft__json_key(j, key);
    if (known)
        weft__json_u64(j, time);
    else
        weft__json_null(j);
}

static void write_head(struct weft__json *j, const struct weft_run *run) {
    const struct weft_outcome *o = run->outcome;
    char digest[17];
    snprintf(digest, sizeof digest, "%016" PRIx64, o->digest);
    weft__json_head(j, run->scenario->name, run->scenario->variant);
    weft__json_key_u64(j, "seed", run->scenario->run.seed);
    weft__json_key_u64(j, "threads", o->threads);
    weft__json_key_string(j, "digest", digest);
    weft__json_key_string(j, "end", weft__report_end_name(o->end));
    if (o->stall) weft__json_key_string(j, "stall", o->stall);
    weft__json_key_u64(j, "sim_time_ps", o->sim_time_ps);
    weft__json_key_real(j, "wall_s", o->wall_s);
    weft__json_key_real(j, "cpu_s", o->cpu_s);
    weft__json_key_u64(j, "packet_hops", o->packet_hops);
    weft__json_key_u64(j, "events", o->events);
    weft__json_key_real(j, "packet_hops_per_cpu_s", o->cpu_s > 0 ? (double)o->packet_hops / o->cpu_s : NAN);
    weft__json_key_u64(j, "peak_rss_bytes", o->peak_rss_bytes);
}

static void write_memory(struct weft__json *j, const struct weft_run *run) {
    weft__json_key(j, "memory");
    weft__json_begin_object(j);
    for (unsigned k = 0; k < WEFT_MEMORY_KINDS; k++)
        weft__json_key_u64(j, weft_memory_name(k), run->memory_bytes_max[k]);
    weft__json_end_object(j);
}

static void write_groups(struct weft__json *j, const struct weft_run *run) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    const struct weft_group_stats *group = weft_report_groups(run, arena);
    weft__json_key(j, "groups");
    weft__json_begin_object(j);
    for (uint32_t g = 0; g < run->workload->groups; g++) {
        weft__json_key(j, group[g].name);
        weft__json_begin_object(j);
        weft__json_key_u64(j, "count", group[g].count);
        weft__json_key_u64(j, "finished", group[g].finished);
        weft__json_key_u64(j, "bytes", group[g].bytes);
        weft__json_key_u64(j, "delivered_bytes", group[g].delivered_bytes);
        weft__json_key_u64(j, "delivered_bytes_min", group[g].delivered_bytes_min);
        weft__json_key_u64(j, "delivered_bytes_max", group[g].delivered_bytes_max);
        weft__json_key(j, "fct_ps");
        weft__json_begin_object(j);
        weft__json_key_time(j, "mean", group[g].fct_ps.mean);
        weft__json_key_time(j, "p50", group[g].fct_ps.p50);
        weft__json_key_time(j, "p95", group[g].fct_ps.p95);
        weft__json_key_time(j, "p99", group[g].fct_ps.p99);
        weft__json_key_time(j, "max", group[g].fct_ps.max);
        weft__json_end_object(j);
        weft__json_key(j, "slowdown");
        weft__json_begin_object(j);
        weft__json_key_real(j, "mean", group[g].slowdown.mean);
        weft__json_key_real(j, "p50", group[g].slowdown.p50);
        weft__json_key_real(j, "p95", group[g].slowdown.p95);
        weft__json_key_real(j, "p99", group[g].slowdown.p99);
        weft__json_key_real(j, "max", group[g].slowdown.max);
        weft__json_end_object(j);
        weft__json_key_u64(j, "out_of_order", group[g].out_of_order);
        weft__json_key_u64(j, "out_of_order_placed", group[g].out_of_order_placed);
        weft__json_end_object(j);
    }
    weft__json_end_object(j);
    weft_arena_free(arena);
}

static void write_flows(struct weft__json *j, const struct weft_run *run) {
    weft__json_key(j, "flows");
    weft__json_begin_array(j);
    for (uint32_t f = 0; f < run->workload->flows; f++) {
        const struct weft_flow *flow = &run->workload->flow[f];
        if (flow->rma) continue; // a connection
        const struct weft_flow_outcome *o = &run->outcome->flow[f];
        bool finished = o->end_ps != WEFT_TIME_NEVER;
        weft__json_begin_object(j);
        weft__json_key_string(j, "group", run->workload->group[flow->group]);
        weft__json_key_u64(j, "src", flow->src);
        weft__json_key_u64(j, "dst", flow->dst);
        weft__json_key_u64(j, "bytes", flow->bytes);
        weft__json_key_u64(j, "start_ps", flow->start_ps);
        key_end(j, "end_ps", o->end_ps, finished);
        key_end(j, "fct_ps", o->end_ps - flow->start_ps, finished);
        weft__json_key_u64(j, "ideal_ps", o->ideal_ps);
        weft__json_key_u64(j, "delivered_bytes", o->delivered_bytes);
        weft__json_key_u64(j, "sfc_paused_ps", o->sfc_paused_ps);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
}

static void write_round_trips(struct weft__json *j, const struct weft_outcome *o) {
    static const struct weft_wait_outcome nothing; // claims are checked against an outcome in which nothing happened
    weft__json_key(j, "round_trip_ps");
    weft__json_begin_object(j);
    for (unsigned p = 0; p < WEFT_PRIORITIES; p++) {
        const struct weft_wait_outcome *t = o->round_trip ? &o->round_trip[p] : &nothing;
        const char name[] = {(char)('0' + p), 0};
        weft__json_key(j, name);
        weft__json_begin_object(j);
        weft__json_key_u64(j, "count", t->messages);
        weft__json_key_u64(j, "mean", t->mean_ps);
        weft__json_key_u64(j, "p50", t->p50_ps);
        weft__json_key_u64(j, "p90", t->p90_ps);
        weft__json_key_u64(j, "p99", t->p99_ps);
        weft__json_key_u64(j, "max", t->max_ps);
        weft__json_end_object(j);
    }
    weft__json_end_object(j);
}

static void write_counters(struct weft__json *j, const struct weft_outcome *o) {
    struct weft__totals sum = weft__report_totals(o);
    weft__json_key(j, "counters");
    weft__json_begin_object(j);
    weft__json_key_u64(j, "pfc_xoff_frames", sum.xoff_frames);
    weft__json_key_u64(j, "pfc_paused_ps", sum.paused_ps);
    weft__json_key_u64(j, "pfc_storms", sum.storms);
    weft__json_key_u64(j, "ecn_marked", sum.ecn_marked);
    weft__json_key_u64(j, "cnp", o->cnps);
    weft__json_key_u64(j, "sfc_messages", sum.sfc_sent);
    weft__json_key_u64(j, "sfc_received", sum.sfc_received);
    weft__json_key_u64(j, "sfc_suppressed", sum.sfc_suppressed);
    weft__json_key_u64(j, "sfc_proxied", sum.sfc_proxied);
    weft__json_key_u64(j, "sfc_paused_ps", sum.sfc_paused_ps);
    weft__json_key(j, "drops");
    weft__json_begin_object(j);
    for (unsigned d = 0; d < WEFT_DROPS; d++)
        weft__json_key_u64(j, weft_drop_names[d], o->drops[d]);
    weft__json_end_object(j);
    weft__json_end_object(j);
}

static void write_quantiles(struct weft__json *j, const char *key, const struct weft_histogram *h) {
    weft__json_key(j, key);
    weft__json_begin_object(j);
    weft__json_key_u64(j, "count", h->n);
    weft__json_key_real(j, "mean", weft_histogram_mean(h));
    weft__json_key_u64(j, "p50", weft_histogram_quantile(h, 0.5));
    weft__json_key_u64(j, "p90", weft_histogram_quantile(h, 0.9));
    weft__json_key_u64(j, "p99", weft_histogram_quantile(h, 0.99));
    weft__json_key_u64(j, "p999", weft_histogram_quantile(h, 0.999));
    weft__json_key_u64(j, "max", h->max);
    weft__json_end_object(j);
}

static void write_dsf(struct weft__json *j, const struct weft_outcome *o) {
    const struct weft_dsf_outcome *d = o->dsf;
    weft__json_key(j, "dsf");
    weft__json_begin_object(j);
#define X(field, type, help) weft__json_key_u64(j, #field, d->field);
    WEFT_DSF_COUNTERS(X)
    WEFT_DSF_WATERMARKS(X)
#undef X
    weft__json_key_real(j, "cell_hops_per_cpu_s", o->cpu_s > 0 ? (double)d->cell_hops / o->cpu_s : NAN);
#define X(field, type, unit, help) write_quantiles(j, #field, &d->seen->field);
    WEFT_DSF_HISTOGRAMS(X)
#undef X
    weft__json_end_object(j);
}

static void write_traced(struct weft__json *j, const struct weft_run *run) {
    const struct weft_cell_paths *p = run->outcome->cells;
    weft__json_key(j, "traced");
    weft__json_begin_object(j);
    weft__json_key_u64(j, "cells", p->cells);
    weft__json_key_u64(j, "arrived", p->arrived);
    weft__json_key_u64(j, "lost", p->lost);
    weft__json_key_u64(j, "under_way", p->under_way);
    weft__json_key_u64(j, "unknown", p->unknown);
    weft__json_key_u64(j, "unnoted", p->unnoted);
    weft__json_key_u64(j, "astray", p->astray);
    weft__json_key(j, "suspect");
    if (p->suspect == WEFT_NONE)
        weft__json_null(j);
    else
        weft__json_string(j, run->topology->node[p->suspect].name);
    weft__json_key_u64(j, "suspicions", p->suspicions);
    write_quantiles(j, "hop_ns", &p->hop_ns);
    weft__json_end_object(j);
}

/// VCs that ever had something in a sample; quantiles are over samples of links, those of empty VCs included.
static void write_depths(struct weft__json *j, const struct weft_gnet_depths *d) {
    weft__json_key(j, "vc_depths");
    weft__json_begin_array(j);
    for (uint32_t vc = 0; vc < WEFT_GNET_VCS; vc++) {
        if (!d->output[vc].max && !d->fifo[vc].max) continue;
        uint32_t class = vc / WEFT_GNET_ROUTING_VCS;
        bool escape = vc >= WEFT_GNET_ESCAPE_VC;
        weft__json_begin_object(j);
        weft__json_key_u64(j, "vc", vc);
        weft__json_key_string(j, "kind", escape ? "escape" : weft_gnet_kind_names[class % WEFT_GNET_KINDS]);
        if (!escape) weft__json_key_string(j, "level", class < WEFT_GNET_KINDS ? "low_latency" : "bulk");
        write_quantiles(j, "output_bytes", &d->output[vc]);
        write_quantiles(j, "fifo_bytes", &d->fifo[vc]);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
}

static void write_tin(struct weft__json *j, const struct weft_run *run) {
    const struct weft_outcome *o = run->outcome;
    const struct weft_tin_outcome *d = o->tin;
    uint32_t type = 0;
    weft__json_key(j, "aquila");
    weft__json_begin_object(j);
#define X(field, type, help) weft__json_key_u64(j, #field, d->field);
    WEFT_TIN_COUNTERS(X)
    WEFT_TIN_WATERMARKS(X)
#undef X
    weft__json_key_real(j, "cell_hops_per_cpu_s", o->cpu_s > 0 ? (double)d->cell_hops / o->cpu_s : NAN);
#define X(field, type, unit, help) write_quantiles(j, #field, &d->seen->field);
    WEFT_TIN_HISTOGRAMS(X)
#undef X
    weft__json_key(j, "cells");
    weft__json_begin_object(j);
#define X(name, help) weft__json_key_u64(j, #name, d->cells[type++]);
    WEFT_TIN_CELLS(X)
#undef X
    weft__json_end_object(j);
    weft__json_key(j, "hops"); // cells by the links that they crossed
    weft__json_begin_array(j);
    for (uint32_t h = 0; h < WEFT_TIN_HOPS; h++)
        weft__json_u64(j, d->hops[h]);
    weft__json_end_array(j);
    if (o->gnet_depths) write_depths(j, o->gnet_depths);
    write_traced(j, run);
    weft__report_transitions_json(j, d);
    weft__json_end_object(j);
}

static void write_conservation(struct weft__json *j, const struct weft_outcome *o) {
    weft__json_key(j, "conservation");
    weft__json_begin_object(j);
    weft__json_key_u64(j, "injected", o->injected_bytes);
    weft__json_key_u64(j, "delivered", o->delivered_bytes);
    weft__json_key_u64(j, "dropped", o->dropped_bytes);
    weft__json_key_u64(j, "held", o->held_bytes);
    weft__json_end_object(j);
}

static void write_run(struct weft__json *j, const struct weft_run *run) {
    weft__json_begin_object(j);
    write_head(j, run);
    write_memory(j, run);
    write_groups(j, run);
    if (run->workload->jobs) weft__report_jobs_json(j, run);
    if (run->workload->rmas) weft__report_rma_json(j, run);
    if (run->scenario->run.round_trips || run->outcome->tin) write_round_trips(j, run->outcome);
    write_flows(j, run);
    write_counters(j, run->outcome);
    weft__report_balance_json(j, run);
    weft__report_te_json(j, run);
    if (run->outcome->dsf) write_dsf(j, run->outcome);
    if (run->outcome->tin) write_tin(j, run);
    write_conservation(j, run->outcome);
    if (run->outcome->links) {
        weft__json_key(j, "links");
        weft_report_links_json(j, run->topology, run->outcome->links);
    }
    weft__json_end_object(j);
}

void weft_report_json(FILE *file, const struct weft_run *run) {
    struct weft__json j = {.file = file};
    write_run(&j, run);
    putc('\n', file);
}

void weft_report_json_compare(FILE *file, const struct weft_run *run, uint32_t runs,
                              const struct weft_claim_result *claim, uint32_t claims) {
    struct weft__json j = {.file = file};
    weft__json_begin_object(&j);
    weft__json_key(&j, "variants");
    weft__json_begin_array(&j);
    for (uint32_t r = 0; r < runs; r++)
        write_run(&j, &run[r]);
    weft__json_end_array(&j);
    if (claims) weft__json_claims(&j, claim, claims);
    weft__json_end_object(&j);
    putc('\n', file);
}
