// SPDX-License-Identifier: Apache-2.0
// What may fail as a whole in a network, and how much is lost with it: one element of each kind, the one nearest to the
// first host. A plane is one of several equal networks; in a single network it is the set of switches without hosts
// that reach one another without passing switches next to hosts.
#include <math.h>
#include <string.h>

#include "versus/versus.h"

const char *const weft_versus_domain_names[WEFT_VERSUS_DOMAINS] = {[WEFT_VERSUS_LINK] = "link",
                                                                   [WEFT_VERSUS_SWITCH] = "switch",
                                                                   [WEFT_VERSUS_PLANE] = "plane",
                                                                   [WEFT_VERSUS_LEAF] = "leaf"};

struct finder {
    const struct weft_topology *t;
    struct weft_arena *arena;
    bool *gone;              ///< [nodes]
    uint32_t *plane, planes; ///< [nodes]: the first node of its plane; WEFT_NONE: in none
    uint32_t *stack;
};

static uint32_t peer_of(const struct weft_topology *t, uint32_t node, uint32_t k) {
    return t->port[weft_topology_port(t, node, k)->peer].node;
}

static bool has_hosts(const struct weft_topology *t, uint32_t node) {
    for (uint32_t k = 0; k < t->node[node].ports; k++)
        if (t->node[peer_of(t, node, k)].role == WEFT_NODE_HOST) return true;
    return false;
}

static bool is_above(const struct finder *f, uint32_t node) {
    return f->t->node[node].role == WEFT_NODE_SWITCH && !has_hosts(f->t, node);
}

/// Marks every node that `from` reaches over nodes that `may` allows; returns how many there are.
static uint32_t flood_from(const struct finder *f, uint32_t from, uint32_t mark, uint32_t *marks, const bool *barred) {
    uint32_t depth = 0, n = 0;
    f->stack[depth++] = from;
    marks[from] = mark;
    while (depth) {
        uint32_t node = f->stack[--depth];
        n++;
        for (uint32_t k = 0; k < f->t->node[node].ports; k++) {
            uint32_t peer = peer_of(f->t, node, k);
            if (barred[peer] || marks[peer] != WEFT_NONE) continue;
            marks[peer] = mark;
            f->stack[depth++] = peer;
        }
    }
    return n;
}

static uint32_t *marks_new(const struct finder *f) {
    uint32_t *marks = weft_arena_alloc(f->arena, f->t->nodes, sizeof *marks);
    for (uint32_t i = 0; i < f->t->nodes; i++)
        marks[i] = WEFT_NONE;
    return marks;
}

/// Nodes of one box are bought and lost together: line cards, and the virtual devices of a DSF's fabric box, named
/// fdsw-3.0, fdsw-3.1 and so on.
static bool same_box(const struct weft_topology *t, uint32_t a, uint32_t b) {
    const struct weft_node_info *x = &t->node[a], *y = &t->node[b];
    if (x->card != WEFT_NONE && x->card == y->card) return true;
    size_t n = strcspn(x->name, ".");
    return x->box == WEFT_BOX_DSF_FABRIC && y->box == WEFT_BOX_DSF_FABRIC && x->name[n] == '.' &&
           !strncmp(x->name, y->name, n + 1);
}

/// Nodes of one box belong to one plane. A plane has the number of its first node.
static void join_boxes(struct finder *f) {
    for (uint32_t i = 0; i < f->t->nodes; i++)
        for (uint32_t b = 0; b < i && f->plane[i] != WEFT_NONE; b++) {
            uint32_t from = f->plane[i], to = f->plane[b];
            if (to == WEFT_NONE || from == to || !same_box(f->t, i, b)) continue;
            for (uint32_t k = 0; k < f->t->nodes; k++)
                if (f->plane[k] == (from > to ? from : to)) f->plane[k] = from > to ? to : from;
        }
}

static void find_planes(struct finder *f) {
    bool *barred = weft_arena_alloc(f->arena, f->t->nodes, sizeof *barred);
    f->plane = marks_new(f);
    for (uint32_t i = 0; i < f->t->networks && f->t->networks > 1; i++) {
        const struct weft_network_info *network = &f->t->network[i];
        for (uint32_t s = 0; s < network->switches; s++)
            f->plane[f->t->switch_node[network->switch0 + s]] = f->t->switch_node[network->switch0];
        f->planes++;
    }
    if (f->planes) return;
    for (uint32_t i = 0; i < f->t->nodes; i++)
        barred[i] = !is_above(f, i);
    for (uint32_t i = 0; i < f->t->nodes; i++)
        if (!barred[i] && f->plane[i] == WEFT_NONE) flood_from(f, i, i, f->plane, barred);
    join_boxes(f);
    for (uint32_t i = 0; i < f->t->nodes; i++)
        f->planes += f->plane[i] == i;
}

/// Whether the last host cannot reach a host of the first network, in none of the networks: several are planes, with
/// a port of each host in each.
static bool is_cut(const struct weft_topology *t, const uint32_t *marks, uint32_t h) {
    bool cut = true;
    for (uint32_t i = 0; i < t->networks; i++)
        cut &= marks[t->host[t->network[i].host0 + h]] == WEFT_NONE;
    return cut;
}

/// Of the rate of all uplinks of switches with hosts, or of all links of hosts, the share that is lost; NAN: none is
/// there.
static double share_lost(const struct finder *f, const struct weft_versus_domain *d, bool of_hosts) {
    const struct weft_topology *t = f->t;
    double all = 0, lost = 0;
    for (uint32_t i = 0; i < t->links; i++) {
        uint32_t a = t->port[t->link[i].port[0]].node, b = t->port[t->link[i].port[1]].node;
        if (of_hosts != (t->node[a].role == WEFT_NODE_HOST || t->node[b].role == WEFT_NODE_HOST)) continue;
        if (!of_hosts && !has_hosts(t, a) && !has_hosts(t, b)) continue;
        all += (double)t->link[i].rate_bps;
        if (f->gone[a] || f->gone[b]) lost += (double)t->link[i].rate_bps;
    }
    if (d->kind == WEFT_VERSUS_LINK) lost = d->rate_bps;
    return all > 0 ? lost / all : (double)NAN;
}

/// The hosts that the last host cannot reach without the failed nodes, and the share of the uplinks lost with them.
static void measure_domain(const struct finder *f, struct weft_versus_domain *d) {
    const struct weft_topology *t = f->t;
    uint32_t *marks = marks_new(f), hosts = t->network[0].hosts;
    for (uint32_t i = 0; i < t->networks; i++)
        flood_from(f, t->host[t->network[i].host0 + hosts - 1], 0, marks, f->gone);
    for (uint32_t h = 0; h < hosts; h++)
        d->hosts_cut += is_cut(t, marks, h);
    if (d->hosts_cut + 1 == hosts) d->hosts_cut++; // the last one cannot reach any host either
    d->capacity_lost = share_lost(f, d, false);
    if (isnan(d->capacity_lost) && t->networks > 1) d->capacity_lost = share_lost(f, d, true);
}

/// Whether the port's other end is a failed node before this one, so that the link has a name already.
static bool is_named(const struct finder *f, uint32_t node, uint32_t k) {
    uint32_t peer = peer_of(f->t, node, k);
    return peer < node && f->gone[peer];
}

/// All links of the failed nodes, each once, as events name them.
static void name_nodes(const struct finder *f, struct weft_versus_domain *d) {
    d->links = weft_arena_alloc(f->arena, f->t->ports, sizeof *d->links);
    for (uint32_t i = 0; i < f->t->nodes; i++) {
        const struct weft_node_info *node = &f->t->node[i];
        uint32_t named = 0;
        if (!f->gone[i]) continue;
        if (!d->n_links) d->name = weft_arena_text(f->arena, node->name);
        for (uint32_t k = 0; k < node->ports; k++)
            named += is_named(f, i, k);
        if (!named) d->links[d->n_links++] = weft_arena_format(f->arena, "%s/*", node->name);
        for (uint32_t k = 0; k < node->ports && named; k++)
            if (!is_named(f, i, k)) d->links[d->n_links++] = weft_arena_format(f->arena, "%s/%u", node->name, k);
    }
}

static void add_domain(struct finder *f, struct weft_versus_domain *d, enum weft_versus_domain_kind kind, uint32_t of,
                       uint32_t there) {
    *d = (struct weft_versus_domain){.kind = kind, .there = there};
    for (uint32_t i = 0; i < f->t->nodes; i++)
        f->gone[i] = i == of || same_box(f->t, i, of) || (kind == WEFT_VERSUS_PLANE && f->plane[i] == f->plane[of]);
    name_nodes(f, d);
    measure_domain(f, d);
}

static void add_link(struct finder *f, struct weft_versus_domain *d, uint32_t leaf, uint32_t k) {
    char name[128];
    const struct weft_topology *t = f->t;
    weft_topology_port_name(t, t->node[leaf].port0 + k, name, sizeof name);
    *d = (struct weft_versus_domain){.kind = WEFT_VERSUS_LINK, .n_links = 1, .there = t->links - t->hosts};
    d->name = weft_arena_text(f->arena, name);
    d->links = weft_arena_alloc(f->arena, 1, sizeof *d->links);
    d->links[0] = d->name;
    d->rate_bps = (double)t->link[weft_topology_port(t, leaf, k)->link].rate_bps;
    memset(f->gone, 0, t->nodes * sizeof *f->gone);
    measure_domain(f, d);
}

/// The number of boxes in its layer.
static uint32_t count_like(const struct weft_topology *t, uint32_t of) {
    uint32_t n = 0, last = WEFT_NONE;
    for (uint32_t i = 0; i < t->nodes; i++) {
        if (strcmp(t->node[i].layer, t->node[of].layer) != 0) continue;
        n += last == WEFT_NONE || !same_box(t, i, last);
        last = i;
    }
    return n * t->networks;
}

struct weft_versus_domain *weft_versus_domains(const struct weft_topology *t, struct weft_arena *arena,
                                               uint32_t *ret_n) {
    struct finder f = {.t = t, .arena = arena};
    struct weft_versus_domain *d = weft_arena_alloc(arena, WEFT_VERSUS_DOMAINS, sizeof *d);
    uint32_t leaf = peer_of(t, t->host[0], 0), n = 0, above = WEFT_NONE;
    f.gone = weft_arena_alloc(arena, t->nodes, sizeof *f.gone);
    f.stack = weft_arena_alloc(arena, t->nodes, sizeof *f.stack);
    find_planes(&f);
    for (uint32_t k = 0; k < t->node[leaf].ports; k++) {
        uint32_t peer = peer_of(t, leaf, k);
        if (t->node[peer].role == WEFT_NODE_HOST) continue;
        if (!n) add_link(&f, &d[n++], leaf, k);
        if (above == WEFT_NONE && is_above(&f, peer)) above = peer;
    }
    if (above != WEFT_NONE) add_domain(&f, &d[n++], WEFT_VERSUS_SWITCH, above, count_like(t, above));
    uint32_t in_plane = t->networks > 1 ? leaf : above;
    if (in_plane != WEFT_NONE && f.planes > 1) add_domain(&f, &d[n++], WEFT_VERSUS_PLANE, in_plane, f.planes);
    add_domain(&f, &d[n++], WEFT_VERSUS_LEAF, leaf, count_like(t, leaf));
    *ret_n = n;
    return d;
}

struct weft_versus_domain *weft_versus_domains_copy(const struct weft_versus_domain *domain, uint32_t n,
                                                    struct weft_arena *arena) {
    struct weft_versus_domain *copy = weft_arena_alloc(arena, n, sizeof *copy);
    for (uint32_t i = 0; i < n; i++) {
        copy[i] = domain[i];
        copy[i].name = weft_arena_text(arena, domain[i].name);
        copy[i].links = weft_arena_alloc(arena, domain[i].n_links, sizeof *copy[i].links);
        for (uint32_t k = 0; k < domain[i].n_links; k++)
            copy[i].links[k] = weft_arena_text(arena, domain[i].links[k]);
    }
    return copy;
}
