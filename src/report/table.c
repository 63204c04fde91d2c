// SPDX-License-Identifier: Apache-2.0
// One run as text.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "box/results.h"
#include "box/sums.h"
#include "report/text.h"
#include "text.h"
#include "weft/cc.h"
#include "weft/report.h"
#include "weft/result.h"
#include "weft/route.h"
#include "weft/transport.h"

enum { TEXT = 64 };

// Why a flow that had the network for itself took longer than its ideal: what the run counted first, then what the
// scenario has that takes time.

static const char *reason_of_box(const struct weft_run *run) {
    for (uint32_t kind = 0; kind < WEFT_BOXES; kind++) {
        const struct weft__box_results *results = weft__box_results_of(kind);
        if (results && results->lone && run->outcome->part[kind]) return results->lone;
    }
    return NULL;
}

/// A switch whose route model keeps state; NULL: there is none.
static const char *choosing_route(const struct weft_run *run) {
    for (uint32_t i = 0; i < run->topology->switches; i++) {
        const struct weft_device_conf *device =
            weft_scenario_device(run->scenario, run->topology->node[run->topology->switch_node[i]].name);
        const struct weft_model *route = device->sw.route.model;
        if (((const struct weft_route_ops *)route->ops)->choose) return route->name;
    }
    return NULL;
}

static bool has_packet_rate(const struct weft_run *run) {
    const struct weft_topology *t = run->topology;
    for (uint32_t i = 0; i < t->switches; i++)
        if (weft_scenario_device(run->scenario, t->node[t->switch_node[i]].name)->sw.packet_rate) return true;
    return false;
}

static bool tell_counted(FILE *file, const struct weft_run *run) {
    const struct weft_outcome *o = run->outcome;
    char paused[TEXT], waited[TEXT];
    struct weft_counters sum = weft_outcome_sum(o, 0, o->ports);
    weft_time_ps pause = sum.paused_ps, credit = sum.credit_wait_ps;
    weft_format_time(pause, paused, sizeof paused);
    weft_format_time(credit, waited, sizeof waited);
    if (o->flow[0].packets_again)
        fprintf(file, "%s sent again (see drops)", weft__counted(o->flow[0].packets_again, "packet").text);
    else if (pause)
        fprintf(file, "pause frames held ports for %s in all", paused);
    else if (o->flow[0].sfc_paused_ps)
        fputs("source flow control paused its queue pairs", file);
    else if (credit)
        fprintf(file, "ports waited for credit of their links for %s in all", waited);
    else
        return false;
    return true;
}

/// Whether congestion control held the flow back: one that goes by CNPs sends at line rate until the first.
static bool is_slowed(const struct weft_run *run, const struct weft_model_conf *cc) {
    const struct weft_cc_ops *ops = cc->model->ops;
    return strcmp(cc->model->name, "none") && (!ops->on_cnp || run->outcome->flow[0].cnps);
}

static const char *next_separator(bool *ret_any) {
    bool any = *ret_any;
    *ret_any = true;
    return any ? "; " : "";
}

/// All that may have held it back, as the run does not count which did.
static void tell_configured(FILE *file, const struct weft_run *run) {
    const struct weft_flow *flow = &run->workload->flow[0];
    const struct weft_topology *t = run->topology;
    const struct weft_host_conf *host = &weft_scenario_device(run->scenario, t->node[t->host[flow->src]].name)->host;
    const char *box = reason_of_box(run), *route = choosing_route(run);
    bool any = false;
    if (is_slowed(run, &host->cc))
        fprintf(file, "%shost.cc %s keeps the flow below the line rate part of the time", next_separator(&any),
                host->cc.model->name);
    if (box) fprintf(file, "%s%s", next_separator(&any), box);
    if (t->events && t->event[0].time_ps < run->outcome->flow[0].end_ps)
        fprintf(file, "%slinks failed or changed (events)", next_separator(&any));
    if (host->window_bytes && host->window_bytes < flow->bytes)
        fprintf(file, "%shost.window allows %llu B in flight", next_separator(&any),
                (unsigned long long)host->window_bytes);
    if (any) return;
    if (((const struct weft_transport_ops *)host->transport.model->ops)->path)
        fprintf(file, "host.transport %s: its window of packets, or the paths it chooses by what comes back",
                host->transport.model->name);
    else if (route)
        fprintf(file, "switch.route %s: the paths that it chose", route);
    else if (has_packet_rate(run))
        fputs("acknowledgements take turns of switch.packet_rate too", file);
    else
        fputs("`weft why` shows where", file);
}

/// Prints why the only flow of a run took longer than its ideal; nothing if it did not, or if there are others.
static void print_lone(FILE *file, const struct weft_run *run) {
    const struct weft_workload *w = run->workload;
    if (w->flows != 1 || w->flow[0].rma || w->flow[0].messages) return;
    const struct weft_flow_outcome *o = &run->outcome->flow[0];
    if (o->end_ps == WEFT_TIME_NEVER || !o->ideal_ps || o->ideal_ps == WEFT_TIME_NEVER) return;
    double slowdown = (double)(o->end_ps - o->start_ps) / (double)o->ideal_ps;
    if (slowdown < 1.0005) return;
    fprintf(file, "alone  a slowdown of %s without other flows: ", weft__text_ratio((char[TEXT]){0}, slowdown));
    if (!tell_counted(file, run)) tell_configured(file, run);
    putc('\n', file);
}

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
        fprintf(file, "%-*s  %8" PRIu32 " %8" PRIu32 " %9s", width, group[g].name, group[g].count, group[g].finished,
                weft__short_bytes(group[g].bytes).text);
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
        if (!t->messages) continue;
        fprintf(file, "RTT    of data with priority %u: p50 %s, p99 %s, max %s\n", p, weft__short_time(t->p50_ps).text,
                weft__short_time(t->p99_ps).text, weft__short_time(t->max_ps).text);
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
        fprintf(file, "\nSTALLED: nothing new arrives, and %" PRIu64 " of %" PRIu64 " %s are not finished\n", left, all,
                what);
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
    print_lone(file, run);
    print_tables(file, run);
    weft__report_balance_table(file, run);
    if (run->outcome->links) weft_report_links(file, run->topology, run->outcome->links, false);
    print_end(file, run);
}
