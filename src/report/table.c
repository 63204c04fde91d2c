// SPDX-License-Identifier: Apache-2.0
// One run as text.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "balance.h"
#include "base/units.h"
#include "box/sums.h"
#include "jobs.h"
#include "lone.h"
#include "rma.h"
#include "sizes.h"
#include "text.h"
#include "weft/result.h"

enum { TEXT = 64 };

/// Counts flows, and operations of remote memory access.
static uint64_t count_all(const struct weft_run *run) {
    uint64_t n = run->outcome->flows - run->workload->rma_flows;
    for (uint32_t e = 0; e < run->workload->rmas; e++)
        n += run->outcome->rma[e].issued;
    return n;
}

static uint64_t count_unfinished(const struct weft_run *run) {
    uint64_t n = 0;
    for (uint32_t f = 0; f < run->outcome->flows; f++)
        n += run->outcome->flow[f].end_ps == WEFT_TIME_NEVER && !run->workload->flow[f].rma;
    for (uint32_t e = 0; e < run->workload->rmas; e++)
        n += run->outcome->rma[e].issued - run->outcome->rma[e].completed;
    return n;
}

static const char *name_of_all(const struct weft_run *run) {
    return run->workload->rmas ? "flows and operations" : "flows";
}

static void print_title(FILE *file, const struct weft_run *run) {
    const struct weft_outcome *o = run->outcome;
    const struct weft_scenario *s = run->scenario;
    char simulated[TEXT], wall[TEXT], hops[TEXT], rate[TEXT];
    uint64_t all = count_all(run);
    weft_format_time((weft_time_ps)(o->wall_s * 1e6) * WEFT_PS_PER_US, wall, sizeof wall);
    weft_format_time(o->sim_time_ps, simulated, sizeof simulated);
    fprintf(file, "%s%s%s: %s, %s, %" PRIu64 " %s, seed %" PRIu64 "\n", s->name, *s->variant ? ", variant " : "",
            s->variant, weft__counted(run->topology->hosts, "host").text,
            weft__counted(run->topology->switches, "switch").text, all, all == 1 ? "flow" : name_of_all(run),
            s->run.seed);
    fprintf(file, "simulated %s in %s of wall time, %s; %s packet-hops, %s per CPU second; digest %016" PRIx64 "\n",
            simulated, wall, weft__counted(o->threads, "thread").text, weft__count_text(hops, (double)o->packet_hops),
            weft__count_text(rate, o->cpu_s > 0 ? (double)o->packet_hops / o->cpu_s : 0), o->digest);
}

static void print_quantiles(FILE *file, const struct weft_quantiles *q, struct weft__unit unit) {
    char mean[TEXT], p50[TEXT], p99[TEXT], max[TEXT];
    if (unit.name)
        fprintf(file, " %10s %10s %10s %10s", weft__text_time(mean, unit, q->mean), weft__text_time(p50, unit, q->p50),
                weft__text_time(p99, unit, q->p99), weft__text_time(max, unit, q->max));
    else
        fprintf(file, " %7s %7s %7s %7s", weft__text_ratio(mean, q->mean), weft__text_ratio(p50, q->p50),
                weft__text_ratio(p99, q->p99), weft__text_ratio(max, q->max));
}

static void print_groups(FILE *file, const struct weft_run *run) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    const struct weft_group_stats *group = weft_report_groups(run, arena);
    int width = (int)strlen("group");
    double largest = 0;
    for (uint32_t g = 0; g < run->workload->groups; g++) {
        if ((int)strlen(group[g].name) > width) width = (int)strlen(group[g].name);
        largest = fmax(largest, group[g].fct_ps.max);
    }
    struct weft__unit unit = weft__text_unit(largest);
    char title[TEXT];
    snprintf(title, sizeof title, "completion time, %s", unit.name);
    fprintf(file, "\n%-*s  %8s %8s %9s    %-40s   slowdown (1: alone in the network)\n", width, "", "", "", "payload",
            title);
    fprintf(file, "%-*s  %8s %8s %9s %10s %10s %10s %10s %7s %7s %7s %7s\n", width, "group", "flows", "finished",
            "in all", "mean", "p50", "p99", "max", "mean", "p50", "p99", "max");
    for (uint32_t g = 0; g < run->workload->groups; g++) {
        char bytes[TEXT];
        weft_format_bytes(group[g].bytes, bytes, sizeof bytes);
        fprintf(file, "%-*s  %8" PRIu32 " %8" PRIu32 " %9s", width, group[g].name, group[g].count, group[g].finished,
                bytes);
        print_quantiles(file, &group[g].fct_ps, unit);
        print_quantiles(file, &group[g].slowdown, (struct weft__unit){0});
        putc('\n', file);
    }
}

/// What mechanisms of ports and links report.
static void print_sums(FILE *file, const struct weft_run *run) {
    const struct weft__sums *sums;
    putc('\n', file);
    for (uint32_t i = 0; (sums = weft__sums_at(i)); i++)
        if (sums->print) sums->print(file, run);
}

static void print_round_trips(FILE *file, const struct weft_outcome *o) {
    for (unsigned p = 0; o->round_trip && p < WEFT_PRIORITIES; p++) {
        const struct weft_wait_outcome *t = &o->round_trip[p];
        char p50[TEXT], p99[TEXT], max[TEXT];
        if (!t->messages) continue;
        weft_format_time(t->p50_ps, p50, sizeof p50);
        weft_format_time(t->p99_ps, p99, sizeof p99);
        weft_format_time(t->max_ps, max, sizeof max);
        fprintf(file, "RTT    of data with priority %u: p50 %s, p99 %s, max %s\n", p, p50, p99, max);
    }
}

/// Only if packets overtook one another.
static void print_order(FILE *file, const struct weft_run *run) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    const struct weft_group_stats *group = weft_report_groups(run, arena);
    uint64_t early = 0, placed = 0;
    for (uint32_t g = 0; g < run->workload->groups; g++) {
        early += group[g].out_of_order;
        placed += group[g].out_of_order_placed;
    }
    if (early)
        fprintf(file, "order  %s out of order, %" PRIu64 " of them placed", weft__counted(early, "packet").text,
                placed);
    const char *before = ": ";
    for (uint32_t g = 0; early && run->workload->groups > 1 && g < run->workload->groups; g++)
        if (group[g].out_of_order) {
            fprintf(file, "%s%s %" PRIu64, before, group[g].name, group[g].out_of_order);
            before = ", ";
        }
    if (early) putc('\n', file);
}

static void print_drops(FILE *file, const struct weft_outcome *o) {
    fprintf(file, "drops  %s", weft__counted(weft__report_drops(o), "packet").text);
    const char *before = ": ";
    for (unsigned d = 0; d < WEFT_DROPS; d++)
        if (o->drops[d]) {
            fprintf(file, "%s%s %" PRIu64, before, weft_drop_names[d], o->drops[d]);
            before = ", ";
        }
    putc('\n', file);
}

static void print_end(FILE *file, const struct weft_run *run) {
    const struct weft_outcome *o = run->outcome;
    uint64_t left = count_unfinished(run), all = count_all(run);
    const char *what = name_of_all(run);
    if (!weft_outcome_conserves(o))
        fprintf(file,
                "\nBUG: %" PRIu64 " bytes were injected, but %" PRIu64 " delivered, %" PRIu64 " dropped and %" PRIu64
                " held; this result cannot be trusted\n",
                o->injected_bytes, o->delivered_bytes, o->dropped_bytes, o->held_bytes);
    if (o->end == WEFT_END_UNTIL && left)
        fprintf(file, "\nended at the time that run.until sets: %" PRIu64 " of %" PRIu64 " %s are not finished\n", left,
                all, what);
    if (o->end == WEFT_END_INTERRUPTED)
        fprintf(file,
                "\ninterrupted: this is what was measured so far; %" PRIu64 " of %" PRIu64 " %s are not finished\n",
                left, all, what);
    if (o->end == WEFT_END_TIME)
        fprintf(file,
                "\nTIME IS OVER: simulated time ends after 100 days, and %" PRIu64 " of %" PRIu64
                " %s are not finished\n",
                left, all, what);
    if (o->end == WEFT_END_STALL) {
        fprintf(file, "\nSTALLED: nothing moves any more, and %" PRIu64 " of %" PRIu64 " %s are not finished\n", left,
                all, what);
        weft_report_stall(file, o);
    }
}

/// What tables of results print themselves.
static void print_tables(FILE *file, const struct weft_run *run) {
    for (uint32_t i = 0; i < weft_result_table_count(); i++)
        if (weft_result_table_at(i)->print && weft_result_table_present(weft_result_table_at(i), run))
            weft_result_table_at(i)->print(file, run);
}

void weft_report_table(FILE *file, const struct weft_run *run) {
    print_title(file, run);
    print_groups(file, run);
    weft__report_sizes_table(file, run);
    weft__report_jobs_table(file, run);
    weft__report_rma_table(file, run);
    print_sums(file, run);
    print_round_trips(file, run->outcome);
    print_order(file, run);
    print_drops(file, run->outcome);
    weft__report_lone(file, run);
    print_tables(file, run);
    weft__report_balance_table(file, run);
    if (run->outcome->links) weft_report_links(file, run->topology, run->outcome->links, false);
    print_end(file, run);
}
