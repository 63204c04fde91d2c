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

static void print_ports(FILE *file, const struct weft_clique_summary *s, const struct weft_tin_packaging *p) {
    uint32_t ports = p->local_ports + p->global_ports + p->endpoints;
    char between[TEXT];
    fprintf(file, "TiN        ");
    if (ports) fprintf(file, "%s: ", weft__counted(ports, "port").text);
    print_used(file, "local", p->local_ports, s->local_min, s->local_max);
    print_used(file, "global", p->global_ports, s->global_min, s->global_max);
    fprintf(file, "%s\n", weft__counted(p->endpoints, "endpoint").text);
    fprintf(file, "pod        ");
    print_used(file, "global", p->global_ports * s->tins_per_pod_max, s->pod_global_min, s->pod_global_max);
    fprintf(file, "%s to each other pod\n", weft__view_range(s->between_min, s->between_max, between, sizeof between));
}

static void print_fibres(FILE *file, const struct weft_clique_summary *s) {
    if (!s->global_links) return;
    fprintf(file, "fibres     %s", weft__counted(s->global_links, "link").text);
    if (s->fibre_max_m > 0)
        fprintf(file, " of %.3g to %.3g m, %.3g on average", s->fibre_min_m, s->fibre_max_m, s->fibre_mean_m);
    fprintf(file, "; %s of pods", weft__counted(s->pods * (s->pods - 1) / 2, "pair").text);
    if (s->bundles)
        fprintf(file, ", or %s of %s between shuffles of 4 pods", weft__counted(s->bundles, "bundle").text,
                weft__counted(s->bundle_cables, "cable").text);
    putc('\n', file);
}

/// One port per TiN, and one per rack for its own management.
static uint32_t spare_ethernet(const struct weft_clique_summary *s) {
    uint32_t taken = s->ethernets + s->racks;
    return taken < s->tins ? s->tins - taken : 0;
}

static void describe_clique(FILE *file, const struct weft_topology *t, const struct weft_network_info *network) {
    struct weft_clique_summary s = weft_topology_summarise_cliques(t, network);
    if (!s.cliques) return;
    fprintf(file, "Clique     %s of %s, %s", weft__counted(s.pods, "pod").text,
            weft__counted(s.tins_per_pod_max, "TiN").text, weft__counted(s.hosts, "host").text);
    if (s.racks)
        fprintf(file, "; %s, %s", weft__counted(s.racks, "rack").text, weft__counted(s.cards, "line card").text);
    if (s.cliques > 1) fprintf(file, "; the first of %s", weft__counted(s.cliques, "Clique").text);
    putc('\n', file);
    print_ports(file, &s, &t->packaging);
    print_fibres(file, &s);
    fprintf(file, "Ethernet   %s: %" PRIu32 " to spines, %" PRIu32 " for management of racks, %" PRIu32 " unused\n",
            weft__counted(s.tins, "port").text, s.ethernets, s.racks, spare_ethernet(&s));
    fprintf(file, "lost with  ");
    for (uint32_t i = 0; i < WEFT_BLASTS; i++)
        fprintf(file, "%sa %s %s", i ? ", " : "", s.blast[i].what, weft__counted(s.blast[i].hosts, "host").text);
    fprintf(file, " at most\n");
}

static void print_blasts(struct weft__json *j, const struct weft_clique_summary *s) {
    weft__json_key(j, "blast_radius");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < WEFT_BLASTS; i++) {
        weft__json_begin_object(j);
        weft__json_key_string(j, "failed", s->blast[i].what);
        weft__json_key_u64(j, "groups", s->blast[i].groups);
        weft__json_key_u64(j, "tins", s->blast[i].tins);
        weft__json_key_u64(j, "hosts_lost", s->blast[i].hosts);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
}

static void describe_json(struct weft__json *j, const struct weft_topology *t,
                          const struct weft_network_info *network) {
    struct weft_clique_summary s = weft_topology_summarise_cliques(t, network);
    if (!s.cliques) return;
    const struct {
        const char *key;
        uint32_t value;
    } figure[] = {
        {"cliques", s.cliques},
        {"pods", s.pods},
        {"tins", s.tins},
        {"hosts", s.hosts},
        {"racks", s.racks},
        {"line_cards", s.cards},
        {"tin_local_ports", t->packaging.local_ports},
        {"tin_local_min", s.local_min},
        {"tin_local_max", s.local_max},
        {"tin_global_ports", t->packaging.global_ports},
        {"tin_global_min", s.global_min},
        {"tin_global_max", s.global_max},
        {"tin_endpoints", t->packaging.endpoints},
        {"pod_global_ports", t->packaging.global_ports * s.tins_per_pod_max},
        {"pod_global_min", s.pod_global_min},
        {"pod_global_max", s.pod_global_max},
        {"pod_pair_links_min", s.between_min},
        {"pod_pair_links_max", s.between_max},
        {"global_links", s.global_links},
        {"pod_pairs", s.pods * (s.pods - 1) / 2},
        {"fibre_bundles", s.bundles},
        {"fibre_bundle_cables", s.bundle_cables},
        {"ethernet_ports", s.tins},
        {"ethernet_to_spines", s.ethernets},
        {"ethernet_unused", spare_ethernet(&s)},
    };
    weft__json_key(j, "clique");
    weft__json_begin_object(j);
    for (size_t i = 0; i < sizeof figure / sizeof *figure; i++)
        weft__json_key_u64(j, figure[i].key, figure[i].value);
    weft__json_key_real(j, "fibre_min_m", s.fibre_min_m);
    weft__json_key_real(j, "fibre_mean_m", s.fibre_mean_m);
    weft__json_key_real(j, "fibre_max_m", s.fibre_max_m);
    print_blasts(j, &s);
    weft__json_end_object(j);
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

const struct weft__box_view weft__clique_view = {
    .describe = describe_clique, .describe_json = describe_json, .costs = find_costs};
