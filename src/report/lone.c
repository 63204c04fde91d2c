// SPDX-License-Identifier: Apache-2.0
// Why a flow that had the network for itself took longer than its ideal: what the run counted first, then what the
// scenario has that takes time.
#include "lone.h"

#include <string.h>

#include "base/units.h"
#include "box/results.h"
#include "text.h"
#include "weft/cc.h"
#include "weft/route.h"
#include "weft/transport.h"

enum { TEXT = 64 };

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
    else
        fputs("`weft why` shows where", file);
}

void weft__report_lone(FILE *file, const struct weft_run *run) {
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
