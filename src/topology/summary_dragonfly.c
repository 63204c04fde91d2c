// SPDX-License-Identifier: Apache-2.0
// A Clique in figures: those of the Aquila paper (NSDI 2022, sections 3.1 and 3.2, appendix A), computed from the
// network.
#include <stdlib.h>

#include "weft/dragonfly.h"
#include "weft/summary.h"

static const enum weft_memory_kind KIND = WEFT_MEMORY_TOPOLOGY;

enum { SHUFFLE_PODS = 4, CABLE_LINKS = 8 };

static void widen_range(uint32_t value, uint32_t *min, uint32_t *max) {
    if (value < *min) *min = value;
    if (value > *max) *max = value;
}

static uint32_t count_ones(uint64_t mask) {
    return (uint32_t)__builtin_popcountll(mask);
}

static void count_ports(struct weft_clique_summary *s, const struct weft_dragonfly *f) {
    s->local_min = s->global_min = s->pod_global_min = UINT32_MAX;
    for (uint32_t pod = 0; pod < f->pods; pod++) {
        uint32_t global = 0;
        for (uint32_t i = f->pod_first[pod]; i < f->pod_first[pod + 1]; i++) {
            const struct weft_tin *tin = &f->tin[i];
            widen_range(count_ones(tin->local), &s->local_min, &s->local_max);
            widen_range(count_ones(tin->global), &s->global_min, &s->global_max);
            global += count_ones(tin->global);
            s->hosts += tin->hosts;
            s->ethernets += tin->ethernets;
        }
        widen_range(global, &s->pod_global_min, &s->pod_global_max);
        uint32_t tins = f->pod_first[pod + 1] - f->pod_first[pod];
        if (tins > s->tins_per_pod_max) s->tins_per_pod_max = tins;
        s->global_links += global;
    }
    s->global_links /= 2;
}

/// The links between every pair of groups of `pods` pods, [a * groups + b].
static uint32_t *count_between(const struct weft_dragonfly *f, uint32_t pods, uint32_t groups) {
    uint32_t *links = weft_memory_new(KIND, (size_t)groups * groups, sizeof *links);
    for (uint32_t i = 0; i < f->tins; i++)
        for (uint64_t ports = f->tin[i].global; ports; ports &= ports - 1) {
            uint32_t to = f->tin[i].peer[__builtin_ctzll(ports)];
            links[f->tin[i].pod / pods * groups + f->tin[to].pod / pods]++;
        }
    return links;
}

static void range_between(const struct weft_dragonfly *f, uint32_t pods, uint32_t *min, uint32_t *max) {
    uint32_t groups = (f->pods + pods - 1) / pods;
    uint32_t *links = count_between(f, pods, groups);
    *min = UINT32_MAX;
    *max = 0;
    for (uint32_t a = 0; a < groups; a++)
        for (uint32_t b = a + 1; b < groups; b++)
            widen_range(links[a * groups + b], min, max);
    if (groups < 2) *min = 0;
    weft_memory_free(KIND, links, (size_t)groups * groups * sizeof *links);
}

static void measure_fibres(struct weft_clique_summary *s, const struct weft_topology *t,
                           const struct weft_dragonfly *f) {
    double sum_m = 0;
    uint32_t ends = 0;
    for (uint32_t i = 0; i < f->tins; i++)
        for (uint64_t ports = f->tin[i].global; ports; ports &= ports - 1, ends++) {
            uint32_t k = (uint32_t)__builtin_ctzll(ports);
            double m = (double)t->link[weft_topology_port(t, f->tin[i].node, k)->link].delay_ps / WEFT_FIBRE_PS_PER_M;
            if (!ends || m < s->fibre_min_m) s->fibre_min_m = m;
            if (m > s->fibre_max_m) s->fibre_max_m = m;
            sum_m += m;
        }
    if (ends) s->fibre_mean_m = sum_m / ends;
}

// --- blast radius -------------------------------------------------------------------------------------------------

/// TiNs that fail together have the same number in `group`.
struct failure {
    const struct weft_dragonfly *f;
    const uint32_t *group;
    uint32_t failed, left; ///< left: TiNs that have not failed and have not been visited
    bool *seen;
    uint32_t *queue;
};

/// The hosts of the TiNs that GNet connects to `first`, without failed ones.
static uint32_t find_joined(struct failure *x, uint32_t first) {
    uint32_t filled = 1, hosts = x->f->tin[first].hosts;
    x->queue[0] = first;
    x->seen[first] = true;
    x->left--;
    for (uint32_t i = 0; i < filled && x->left; i++) {
        const struct weft_tin *tin = &x->f->tin[x->queue[i]];
        for (uint64_t ports = tin->local | tin->global; ports; ports &= ports - 1) {
            uint32_t to = tin->peer[__builtin_ctzll(ports)];
            if (x->seen[to] || x->group[to] == x->failed) continue;
            x->seen[to] = true;
            x->left--;
            hosts += x->f->tin[to].hosts;
            x->queue[filled++] = to;
        }
    }
    return hosts;
}

/// The hosts outside the largest group that can still reach one another.
static uint32_t count_lost(struct failure *x, uint32_t hosts) {
    uint32_t most = 0;
    x->left = 0;
    for (uint32_t i = 0; i < x->f->tins; i++) {
        x->seen[i] = false;
        x->left += x->group[i] != x->failed;
    }
    for (uint32_t i = 0; i < x->f->tins && x->left; i++) {
        if (x->seen[i] || x->group[i] == x->failed) continue;
        uint32_t joined = find_joined(x, i);
        if (joined > most) most = joined;
    }
    return hosts - most;
}

/// Groups are numbered in the order of their first TiNs.
static struct weft_blast find_blast(const struct weft_dragonfly *f, const char *what, const uint32_t *group,
                                    uint32_t hosts) {
    struct weft_blast blast = {.what = what};
    struct failure x = {f,
                        group,
                        0,
                        0,
                        weft_memory_new(KIND, f->tins, sizeof *x.seen),
                        weft_memory_new(KIND, f->tins, sizeof *x.queue)};
    for (uint32_t i = 0, n; i < f->tins; i += n) {
        for (n = 1; i + n < f->tins && group[i + n] == group[i]; n++)
            ;
        x.failed = group[i];
        uint32_t lost = count_lost(&x, hosts);
        if (lost > blast.hosts) blast.hosts = lost;
        if (n > blast.tins) blast.tins = n;
        blast.groups++;
    }
    weft_memory_free(KIND, x.seen, f->tins * sizeof *x.seen);
    weft_memory_free(KIND, x.queue, f->tins * sizeof *x.queue);
    return blast;
}

static void find_blasts(struct weft_clique_summary *s, const struct weft_topology *t, const struct weft_dragonfly *f) {
    uint32_t *group = weft_memory_new(KIND, f->tins, sizeof *group), racks = t->packaging.pods_per_rack;
    for (uint32_t i = 0; i < f->tins; i++)
        group[i] = i;
    s->blast[0] = find_blast(f, "TiN", group, s->hosts);
    for (uint32_t i = 0; i < f->tins; i++)
        if (t->node[f->tin[i].node].card != WEFT_NONE) group[i] = f->tins + t->node[f->tin[i].node].card;
    s->blast[1] = find_blast(f, "line card", group, s->hosts);
    for (uint32_t i = 0; i < f->tins; i++)
        group[i] = f->tin[i].pod;
    s->blast[2] = find_blast(f, "pod", group, s->hosts);
    for (uint32_t i = 0; i < f->tins; i++)
        group[i] = racks ? f->tin[i].pod / racks : f->tin[i].pod;
    s->blast[3] = find_blast(f, "rack", group, s->hosts);
    s->cards = s->blast[1].groups;
    s->racks = racks ? s->blast[3].groups : 0;
    weft_memory_free(KIND, group, f->tins * sizeof *group);
}

static void sum_clique(struct weft_clique_summary *s, const struct weft_topology *t, const struct weft_dragonfly *f) {
    s->pods = f->pods;
    s->tins = f->tins;
    count_ports(s, f);
    range_between(f, 1, &s->between_min, &s->between_max);
    uint32_t least, most, groups = (f->pods + SHUFFLE_PODS - 1) / SHUFFLE_PODS;
    range_between(f, SHUFFLE_PODS, &least, &most);
    s->bundles = groups * (groups - 1) / 2;
    s->bundle_cables = (most + CABLE_LINKS - 1) / CABLE_LINKS;
    if (t->packaging.fibres) measure_fibres(s, t, f);
    find_blasts(s, t, f);
}

struct weft_clique_summary weft_topology_summarise_cliques(const struct weft_topology *t,
                                                           const struct weft_network_info *network) {
    struct weft_clique_summary s = {0};
    WEFT_SCRATCH(arena, KIND);
    const struct weft_dragonflies *d = weft_dragonflies_new(t, arena);
    for (uint32_t i = 0; i < d->n; i++)
        if (d->fabric[i].tin[0].node - network->node0 < network->nodes && !s.cliques++)
            sum_clique(&s, t, &d->fabric[i]);
    uint32_t taken = s.ethernets + s.racks; // one port per TiN, and one per rack for its own management
    s.ethernet_unused = taken < s.tins ? s.tins - taken : 0;
    s.local_ports = t->packaging.local_ports;
    s.global_ports = t->packaging.global_ports;
    s.endpoints = t->packaging.endpoints;
    s.pod_global_ports = s.global_ports * s.tins_per_pod_max;
    s.pod_pairs = s.pods * (s.pods - 1) / 2;
    return s;
}
