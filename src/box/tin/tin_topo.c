// SPDX-License-Identifier: Apache-2.0
// What weft topo reports about Cliques: ports, links, racks, fibres, and what is lost together.
#include <inttypes.h>

#include "box/tin/tin_net.h"
#include "weft/dragonfly.h"

#include "base/units.h"

enum { TEXT = 32 };

/// "24 local, 22 used" or, if the chip's ports are unknown, "22 local used".
static void print_used(FILE *file, const char *which, uint32_t ports, uint32_t min, uint32_t max) {
    char used[TEXT];
    if (ports)
        fprintf(file, "%" PRIu32 " %s, %s used; ", ports, which, weft__view_range(min, max, used, sizeof used));
    else
        fprintf(file, "%s %s used; ", weft__view_range(min, max, used, sizeof used), which);
}

static void print_ports(FILE *file, const struct weft_clique_summary *s) {
    uint32_t ports = s->local_ports + s->global_ports + s->endpoints;
    char between[TEXT];
    fprintf(file, "TiN        ");
    if (ports) fprintf(file, "%s: ", weft__counted(ports, "port").text);
    print_used(file, "local", s->local_ports, s->local_min, s->local_max);
    print_used(file, "global", s->global_ports, s->global_min, s->global_max);
    fprintf(file, "%s\n", weft__counted(s->endpoints, "endpoint").text);
    fprintf(file, "pod        ");
    print_used(file, "global", s->pod_global_ports, s->pod_global_min, s->pod_global_max);
    fprintf(file, "%s to each other pod\n", weft__view_range(s->between_min, s->between_max, between, sizeof between));
}

static void print_fibres(FILE *file, const struct weft_clique_summary *s) {
    if (!s->global_links) return;
    fprintf(file, "fibres     %s", weft__counted(s->global_links, "link").text);
    if (s->fibre_max_m > 0)
        fprintf(file, " of %.3g to %.3g m, %.3g on average", s->fibre_min_m, s->fibre_max_m, s->fibre_mean_m);
    fprintf(file, "; %s of pods", weft__counted(s->pod_pairs, "pair").text);
    if (s->bundles)
        fprintf(file, ", or %s of %s between shuffles of 4 pods", weft__counted(s->bundles, "bundle").text,
                weft__counted(s->bundle_cables, "cable").text);
    putc('\n', file);
}

static void describe_clique(FILE *file, const struct weft_topology *t, const struct weft_topology_summary *network) {
    const struct weft_clique_summary *s = network->clique;
    if (!s) return;
    fprintf(file, "Clique     %s of %s, %s", weft__counted(s->pods, "pod").text,
            weft__counted(s->tins_per_pod_max, "TiN").text, weft__counted(s->hosts, "host").text);
    if (s->racks)
        fprintf(file, "; %s, %s", weft__counted(s->racks, "rack").text, weft__counted(s->cards, "line card").text);
    if (s->cliques > 1) fprintf(file, "; the first of %s", weft__counted(s->cliques, "Clique").text);
    putc('\n', file);
    print_ports(file, s);
    print_fibres(file, s);
    fprintf(file, "Ethernet   %s: %" PRIu32 " to spines, %" PRIu32 " for management of racks, %" PRIu32 " unused\n",
            weft__counted(s->tins, "port").text, s->ethernets, s->racks, s->ethernet_unused);
    fprintf(file, "lost with  ");
    for (uint32_t i = 0; i < WEFT_BLASTS; i++)
        fprintf(file, "%sa %s %s", i ? ", " : "", s->blast[i].what, weft__counted(s->blast[i].hosts, "host").text);
    fprintf(file, " at most\n");
}

/// What GNet links and TiNs cost; NULL: there is no TiN.
static const struct weft_cell_costs *find_costs(const struct weft_topology *t, const struct weft_device_conf **device,
                                                const weft_time_ps *processing_ps, struct weft_arena *arena) {
    struct weft_cell_costs *costs = weft_arena_alloc(arena, 1, sizeof *costs);
    weft_time_ps *link = weft_arena_alloc(arena, t->links, sizeof *link);
    *costs = (struct weft_cell_costs){
        .tin_ps = processing_ps,
        .link_ps = link,
        .computed = "in a Clique: processing, and for RTS, CTS and data each processing, fall-through, bytes at the\n"
                    "endpoint's rate, and for each GNet link fall-through, link, cable, and between pods FEC",
    };
    for (uint32_t l = 0; l < t->links; l++) {
        uint32_t from = t->port[t->link[l].port[0]].node, to = t->port[t->link[l].port[1]].node;
        if (!weft_node_is_flat(&t->node[from]) || !weft_node_is_flat(&t->node[to])) continue;
        bool global = t->node[from].cluster != t->node[to].cluster;
        link[l] = weft_tin_link_ps(weft__tin_conf(device[to]), &t->link[l], global);
        if (!costs->tables) costs->tables = &weft__tin_conf(device[from])->gnet;
    }
    return costs->tables ? costs : NULL;
}

const struct weft__box_view weft__clique_view = {.describe = describe_clique, .costs = find_costs};
