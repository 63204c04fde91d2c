// SPDX-License-Identifier: Apache-2.0
#include "topo.h"
#include "weft/sim.h"

static void print_layers(struct weft__json *j, const struct weft_topology_summary *s) {
    weft__json_key(j, "layers");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < s->layers; i++) {
        const struct weft_layer_summary *l = &s->layer[i];
        weft__json_begin_object(j);
        weft__json_key_string(j, "layer", l->name);
        weft__json_key_u64(j, "tier", l->tier);
        weft__json_key_u64(j, "nodes", l->nodes);
        weft__json_key_u64(j, "ports_min", l->ports_min);
        weft__json_key_u64(j, "ports_max", l->ports_max);
        weft__json_key_u64(j, "down_bps", l->down_bps);
        weft__json_key_u64(j, "up_bps", l->up_bps);
        if (l->oversubscription_max > 0) {
            weft__json_key_real(j, "oversubscription_min", l->oversubscription_min);
            weft__json_key_real(j, "oversubscription_max", l->oversubscription_max);
        }
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
}

static void print_lines(struct weft__json *j, const struct weft_topology_summary *s) {
    weft__json_key(j, "links_by_layer");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < s->lines; i++) {
        const struct weft_line_summary *l = &s->line[i];
        weft__json_begin_object(j);
        weft__json_key_string(j, "upper", l->layer[0]);
        weft__json_key_string(j, "lower", l->layer[1]);
        weft__json_key_u64(j, "links", l->links);
        weft__json_key_u64(j, "rate_bps", l->rate_bps);
        weft__json_key_u64(j, "delay_ps", l->delay_ps);
        weft__json_key_real(j, "bit_error_rate", l->bit_error_rate);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
}

static void print_figures(struct weft__json *j, const struct weft_topology_summary *s) {
    weft__json_key(j, "bisection");
    weft__json_begin_object(j);
    weft__json_key_u64(j, "bps", s->bisection_bps);
    weft__json_key_u64(j, "half_of_hosts_bps", s->half_bps);
    weft__json_key_string(j, "computed", "maximum flow from the first half of the hosts to the second");
    weft__json_end_object(j);
    weft__json_key_u64(j, "diameter_links", s->diameter_links);
    weft__json_key_real(j, "shortest_paths_min", s->paths_min);
    weft__json_key_real(j, "shortest_paths_max", s->paths_max);
    weft__json_key(j, "round_trip");
    weft__json_begin_object(j);
    weft__json_key_u64(j, "min_ps", s->rtt_min_ps);
    weft__json_key_u64(j, "max_ps", s->rtt_max_ps);
    weft__json_key_string(j, "computed",
                          "64-byte frame there and back: delay and 72 byte times a link, processing a switch");
    weft__json_end_object(j);
}

static void print_nodes(struct weft__json *j, const struct weft_topology *t) {
    weft__json_key(j, "nodes");
    weft__json_begin_array(j);
    for (uint32_t n = 0; n < t->nodes; n++) {
        const struct weft_node_info *node = &t->node[n];
        weft__json_begin_object(j);
        weft__json_key_string(j, "name", node->name);
        weft__json_key_string(j, "layer", node->layer);
        weft__json_key_u64(j, "tier", node->tier);
        weft__json_key_string(j, "box", weft_node_box_names[node->box]);
        if (node->fabric_level) weft__json_key_u64(j, "fabric_level", node->fabric_level);
        if (node->card != WEFT_NONE) weft__json_key_u64(j, "line_card", node->card);
        if (node->cluster != WEFT_NONE) weft__json_key_u64(j, "cluster", node->cluster);
        if (node->pod != WEFT_NONE) weft__json_key_u64(j, "pod", node->pod);
        weft__json_key_u64(j, "ports", node->ports);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
}

static void print_port(struct weft__json *j, const char *key, const struct weft_topology *t, uint32_t port) {
    char name[128];
    weft_topology_port_name(t, port, name, sizeof name);
    weft__json_key_string(j, key, name);
}

static void print_links(struct weft__json *j, const struct weft_topology *t) {
    weft__json_key(j, "links");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < t->links; i++) {
        const struct weft_link_info *l = &t->link[i];
        weft__json_begin_object(j);
        print_port(j, "from", t, l->port[0]);
        print_port(j, "to", t, l->port[1]);
        weft__json_key_u64(j, "rate_bps", l->rate_bps);
        weft__json_key_u64(j, "delay_ps", l->delay_ps);
        weft__json_key_real(j, "bit_error_rate", l->bit_error_rate);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
    weft__json_key(j, "events");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < t->events; i++) {
        weft__json_begin_object(j);
        weft__json_key_u64(j, "time_ps", t->event[i].time_ps);
        print_port(j, "link", t, t->link[t->event[i].link].port[0]);
        weft__json_key_string(j, "state", t->event[i].up ? "up" : "down");
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
}

static void print_summary(struct weft__json *j, const struct topo_view *view, uint32_t network) {
    const struct weft_topology_summary *s = &view->summary[network];
    print_layers(j, s);
    print_lines(j, s);
    print_figures(j, s);
    weft_boxes_describe_json(j, view->topology, &view->topology->network[network]);
}

/// With one network its figures, with several those of each.
static void print_networks(struct weft__json *j, const struct topo_view *view) {
    const struct weft_topology *t = view->topology;
    if (t->networks == 1) {
        print_summary(j, view, 0);
        return;
    }
    weft__json_key(j, "networks");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < t->networks; i++) {
        weft__json_begin_object(j);
        weft__json_key_string(j, "name", t->network[i].name);
        weft__json_key_string(j, "wiring", t->network[i].wiring);
        weft__json_key_u64(j, "hosts", view->summary[i].hosts);
        weft__json_key_u64(j, "switches", t->network[i].switches);
        print_summary(j, view, i);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
}

static void print_machines(struct weft__json *j, const struct weft_topology *t) {
    if (!t->machines) return;
    weft__json_key(j, "machines");
    weft__json_begin_array(j);
    for (uint32_t m = 0; m < t->machines; m++) {
        weft__json_begin_object(j);
        weft__json_key_string(j, "name", t->machine[m].name);
        weft__json_key(j, "nics");
        weft__json_begin_array(j);
        for (uint32_t i = 0; i < t->machine[m].nics; i++) {
            const struct weft_nic_info *nic = &t->nic[t->machine[m].nic0 + i];
            weft__json_begin_object(j);
            weft__json_key_string(j, "network", nic->network);
            weft__json_key_string(j, "host", t->node[t->host[nic->host]].name);
            weft__json_end_object(j);
        }
        weft__json_end_array(j);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
}

void topo_print_json(FILE *file, const struct topo_view *view) {
    const struct weft_topology *t = view->topology;
    struct weft__json j = {.file = file};
    weft__json_begin_object(&j);
    weft__json_head(&j, view->scenario->name, view->scenario->variant);
    weft__json_key_string(&j, "kind", t->kind);
    weft__json_key_string(&j, "wiring", t->wiring);
    uint32_t hosts = 0;
    for (uint32_t i = 0; i < t->networks; i++)
        hosts += view->summary[i].hosts;
    weft__json_key_u64(&j, "hosts", hosts);
    if (t->hosts > hosts) weft__json_key_u64(&j, "processors", t->hosts - hosts);
    weft__json_key_u64(&j, "switches", t->switches);
    print_networks(&j, view);
    print_machines(&j, t);
    print_nodes(&j, t);
    print_links(&j, t);
    weft__json_end_object(&j);
    putc('\n', file);
}
