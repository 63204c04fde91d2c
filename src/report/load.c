// SPDX-License-Identifier: Apache-2.0
// Load over time: utilisation of links between layers from one sample to the next.
#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "layers.h"

/// The links of one pair of layers.
struct group {
    uint32_t links;
    uint32_t *port;
    double *bytes, *sum; ///< per link: in the current interval; in all active ones
    uint32_t *flows;
    double *sorted;
};

/// Nearest rank.
static double rank_of(const double *sorted, uint32_t n, double part) {
    uint32_t rank = (uint32_t)ceil(part * n);
    return n ? sorted[rank ? rank - 1 : 0] : NAN;
}

/// The sampled ports, grouped by pair; of_port becomes port -> its place in its group.
static struct group *make_groups(const struct weft_run *run, struct weft__layers *layers, uint32_t *ret_place,
                                 struct weft_arena *arena) {
    const struct weft_topology *t = run->topology;
    struct group *group = weft_arena_alloc(arena, layers->n, sizeof *group);
    for (uint32_t i = 0; i < layers->n; i++) {
        uint32_t n = layers->pair[i].links;
        group[i].port = weft_arena_alloc(arena, n, sizeof *group[i].port);
        group[i].bytes = weft_arena_alloc(arena, n, sizeof *group[i].bytes);
        group[i].sum = weft_arena_alloc(arena, n, sizeof *group[i].sum);
        group[i].flows = weft_arena_alloc(arena, n, sizeof *group[i].flows);
        group[i].sorted = weft_arena_alloc(arena, n, sizeof *group[i].sorted);
    }
    for (uint32_t port = 0; port < t->ports; port++) {
        char name[160];
        uint32_t i = layers->of_port[port];
        if (i == WEFT_NONE) continue;
        weft_topology_port_name(t, port, name, sizeof name);
        if (!weft_glob_match(run->scenario->run.sample_ports, name)) {
            layers->of_port[port] = WEFT_NONE;
            continue;
        }
        ret_place[port] = group[i].links;
        group[i].port[group[i].links++] = port;
    }
    return group;
}

/// One interval of one pair of layers, computed from the bytes of its links.
static struct weft_load_interval measure_interval(struct group *g, const struct weft_topology *t, weft_time_ps from,
                                                  weft_time_ps until) {
    struct weft_load_interval x = {.from_ps = from, .until_ps = until};
    double seconds = (double)(until - from) / (double)WEFT_PS_PER_S, sum = 0;
    for (uint32_t k = 0; k < g->links; k++) {
        double rate = (double)t->link[t->port[g->port[k]].link].rate_bps;
        g->bytes[k] = g->bytes[k] * 8 / rate / seconds; // now utilisation
        g->sorted[k] = g->bytes[k];
        sum += g->bytes[k];
        x.shared += g->flows[k] > 1;
        x.unused += !g->flows[k];
        if (g->flows[k] > x.flows_max) x.flows_max = g->flows[k];
    }
    qsort(g->sorted, g->links, sizeof *g->sorted, weft__by_double);
    x.min = g->sorted[0];
    x.p10 = rank_of(g->sorted, g->links, .1);
    x.p50 = rank_of(g->sorted, g->links, .5);
    x.p90 = rank_of(g->sorted, g->links, .9);
    x.max = g->sorted[g->links - 1];
    x.mean = sum / g->links;
    x.max_mean = sum > 0 ? x.max / x.mean : NAN;
    return x;
}

static void close_interval(struct weft_load *load, struct group *g, const struct weft_topology *t, weft_time_ps from,
                           weft_time_ps until) {
    if (!g->links) return;
    struct weft_load_interval *x = &load->interval[load->intervals++];
    *x = measure_interval(g, t, from, until);
    for (uint32_t k = 0; k < g->links; k++) {
        if (x->max > 0) g->sum[k] += g->bytes[k];
        g->bytes[k] = 0;
        g->flows[k] = 0;
    }
}

static void summarise_load(struct weft_load *load, struct group *g, double *sorted) {
    uint32_t n = 0;
    double sum = 0;
    for (uint32_t i = 0; i < load->intervals; i++)
        if (load->interval[i].max > 0) sorted[n++] = load->interval[i].max_mean;
    qsort(sorted, n, sizeof *sorted, weft__by_double);
    load->active = n;
    load->max_mean_p50 = rank_of(sorted, n, .5);
    load->max_mean_worst = rank_of(sorted, n, 1);
    for (uint32_t k = 0; k < g->links; k++) {
        g->sorted[k] = n ? g->sum[k] / n : NAN;
        sum += g->sorted[k];
    }
    if (n) qsort(g->sorted, g->links, sizeof *g->sorted, weft__by_double);
    load->links = g->links;
    load->min = g->sorted[0];
    load->p10 = rank_of(g->sorted, g->links, .1);
    load->p50 = rank_of(g->sorted, g->links, .5);
    load->p90 = rank_of(g->sorted, g->links, .9);
    load->max = g->sorted[g->links - 1];
    load->mean = sum / g->links;
}

/// Intervals that ended within the run; all sampled nodes sample at the same times.
static uint32_t count_intervals(const struct weft_run *run) {
    weft_time_ps interval = run->scenario->run.sample_interval_ps, last = 0;
    if (run->outcome->samples) last = run->outcome->sample[run->outcome->samples - 1].time_ps;
    return (uint32_t)(last / interval);
}

struct weft_load *weft_report_load(const struct weft_run *run, struct weft_arena *arena, uint32_t *ret_n) {
    const struct weft_topology *t = run->topology;
    const struct weft_outcome *o = run->outcome;
    weft_time_ps length = run->scenario->run.sample_interval_ps;
    *ret_n = 0;
    if (!length) return NULL;
    uint32_t *place = weft_arena_alloc(arena, t->ports, sizeof *place), intervals = count_intervals(run);
    struct weft__layers layers = weft__report_layers(t, arena);
    struct group *group = make_groups(run, &layers, place, arena);
    struct weft_load *load = weft_arena_alloc(arena, layers.n, sizeof *load);
    double *sorted = weft_arena_alloc(arena, intervals, sizeof *sorted);
    for (uint32_t i = 0; i < layers.n; i++) {
        const struct weft__layer_pair *p = &layers.pair[i];
        load[i] = (struct weft_load){.key = p->key, .from = p->from, .to = p->to, .direction = p->direction};
        load[i].interval = weft_arena_alloc(arena, intervals, sizeof *load[i].interval);
    }
    uint64_t at = 0;
    for (uint32_t k = 0; k < intervals; k++) {
        weft_time_ps until = (k + 1) * length;
        for (; at < o->samples && o->sample[at].time_ps <= until; at++) {
            const struct weft_sample *s = &o->sample[at];
            uint32_t i = layers.of_port[s->port];
            if (i == WEFT_NONE) continue;
            group[i].bytes[place[s->port]] += (double)s->tx_bytes;
            group[i].flows[place[s->port]] += s->flows;
        }
        for (uint32_t i = 0; i < layers.n; i++)
            close_interval(&load[i], &group[i], t, until - length, until);
    }
    for (uint32_t i = 0; i < layers.n; i++) {
        if (!group[i].links) continue;
        summarise_load(&load[i], &group[i], sorted);
        load[(*ret_n)++] = load[i];
    }
    return load;
}
