// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "base/order.h"
#include "topo.h"

#include "base/units.h"

enum { HOSTS_SHOWN_MAX = 128 };

struct bundle {
    uint32_t from, to; ///< nodes
    weft_rate_bps rate_bps;
};

WEFT__ORDER(by_ends, struct bundle, WEFT__UP(from) ?: WEFT__UP(to) ?: WEFT__UP(rate_bps))

/// Node names need no escaping inside quotes (weft/topology.h builds them, and a list's are checked).
static void print_nodes(FILE *file, const struct weft_topology *t, bool hosts) {
    uint8_t tiers = 0;
    for (uint32_t n = 0; n < t->nodes; n++)
        if (t->node[n].tier > tiers) tiers = t->node[n].tier;
    for (unsigned tier = hosts ? 0 : 1; tier <= tiers; tier++) {
        fputs("  { rank=same;", file);
        for (uint32_t n = 0; n < t->nodes; n++)
            if (t->node[n].tier == tier) fprintf(file, " \"%s\";", t->node[n].name);
        fputs(" }\n", file);
    }
    for (uint32_t n = 0; n < t->nodes; n++)
        if (t->node[n].role == WEFT_NODE_HOST && hosts) fprintf(file, "  \"%s\" [shape=ellipse];\n", t->node[n].name);
}

/// One box below each edge switch.
static void print_host_boxes(FILE *file, const struct weft_topology *t) {
    for (uint32_t s = 0; s < t->switches; s++) {
        const struct weft_node_info *sw = &t->node[t->switch_node[s]];
        uint32_t n = 0;
        const char *first = NULL, *last = NULL;
        for (uint32_t k = 0; k < sw->ports; k++) {
            const struct weft_node_info *peer = &t->node[t->port[t->port[sw->port0 + k].peer].node];
            if (peer->role != WEFT_NODE_HOST) continue;
            first = first ? first : peer->name;
            last = peer->name;
            n++;
        }
        if (!n) continue;
        fprintf(file, "  \"hosts of %s\" [shape=ellipse, label=\"%s\\n%s .. %s\"];\n", sw->name,
                weft__counted(n, "host").text, first, last);
        fprintf(file, "  \"%s\" -- \"hosts of %s\" [label=\"x%u\"];\n", sw->name, sw->name, n);
    }
}

static void print_links(FILE *file, const struct weft_topology *t, bool hosts) {
    WEFT_FREED struct bundle *bundle = weft_memory_new(WEFT_MEMORY_TOPOLOGY, t->links, sizeof *bundle);
    uint32_t bundles = 0;
    for (uint32_t l = 0; l < t->links; l++) {
        uint32_t a = t->port[t->link[l].port[0]].node, b = t->port[t->link[l].port[1]].node;
        bool up = t->node[a].tier > t->node[b].tier || (t->node[a].tier == t->node[b].tier && a < b);
        if (!hosts && (t->node[a].role == WEFT_NODE_HOST || t->node[b].role == WEFT_NODE_HOST)) continue;
        bundle[bundles++] = (struct bundle){up ? a : b, up ? b : a, t->link[l].rate_bps};
    }
    qsort(bundle, bundles, sizeof *bundle, by_ends);
    for (uint32_t i = 0, n; i < bundles; i += n) {
        char rate[32];
        for (n = 1; i + n < bundles && !by_ends(&bundle[i], &bundle[i + n]); n++)
            ;
        weft_format_rate(bundle[i].rate_bps, rate, sizeof rate);
        fprintf(file, "  \"%s\" -- \"%s\" [", t->node[bundle[i].from].name, t->node[bundle[i].to].name);
        if (n > 1)
            fprintf(file, "label=\"%u x %s\", penwidth=2];\n", n, rate);
        else
            fprintf(file, "tooltip=\"%s\"];\n", rate);
    }
}

void topo_print_dot(FILE *file, const struct weft_topology *t) {
    bool hosts = t->hosts <= HOSTS_SHOWN_MAX;
    fprintf(file, "graph \"%s\" {\n  node [shape=box];\n", t->kind);
    print_nodes(file, t, hosts);
    if (!hosts) print_host_boxes(file, t);
    print_links(file, t, hosts);
    fputs("}\n", file);
}
