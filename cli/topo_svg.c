// SPDX-License-Identifier: Apache-2.0
// The network as a drawing for a slide: one row per layer, hosts at the bottom. Up to 64 hosts, and as many switches
// per layer, are all drawn. With more, first the hosts of a switch become one box; then the nodes of a pod and layer;
// then equivalent nodes: of one layer, and with links to equivalent nodes, found by refining colours (Weisfeiler and
// Leman 1968).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/order.h"
#include "base/units.h"
#include "topo.h"
#include "weft/memory.h"

enum {
    BOXES_MAX = 64, ///< per row
    EDGES_MAX = 3000,
    WIDTH = 1600,
    HEIGHT = 900,
    MARGIN = 40,
    SIDE = 300, ///< for the names of layers, on the right
    ARCS = 420, ///< room for links within a row
    TEXT = 32
};

struct box {
    uint32_t row, nodes;
    uint32_t first, last; ///< nodes
    uint64_t colour;
    double x, y, width;
};
struct edge {
    uint32_t from, to; ///< boxes, the upper one first
    weft_rate_bps rate_bps;
    uint32_t links;
};

struct drawing {
    const struct weft_topology *t;
    FILE *file;
    uint32_t *box_of; ///< [nodes]
    struct box *box;
    struct edge *edge;
    uint32_t *row_of; ///< [nodes]
    struct row {
        uint32_t first; ///< node
        uint32_t nodes, boxes;
        double y;
    } row[32];
    uint32_t boxes, edges, rows;
};

static uint64_t mix_hash(uint64_t value) {
    return weft__hash(WEFT__HASH_START, &value, sizeof value);
}

// --- rows ---------------------------------------------------------------------------------------------------------

/// The layer of a node, or of the network `of`, without the name of its network, so that networks appear side by side.
static const char *layer_in(const struct weft_topology *t, const struct weft_network_info *of, const char *layer) {
    size_t n = strlen(of->name);
    return t->networks > 1 && n && !strncmp(layer, of->name, n) && layer[n] == '-' ? layer + n + 1 : layer;
}

static uint32_t network_of(const struct weft_topology *t, uint32_t node) {
    uint32_t k = 0;
    while (k + 1 < t->networks && node >= t->network[k].node0 + t->network[k].nodes)
        k++;
    return k;
}

static const char *layer_of(const struct weft_topology *t, uint32_t node) {
    return layer_in(t, &t->network[network_of(t, node)], t->node[node].layer);
}

static bool is_above(const struct weft_node_info *a, const struct weft_node_info *b) {
    return a->tier != b->tier ? a->tier > b->tier : strcmp(a->layer, b->layer) < 0;
}

static bool is_of_row(const struct weft_topology *t, uint32_t first, uint32_t node) {
    return t->node[first].tier == t->node[node].tier && !strcmp(layer_of(t, first), layer_of(t, node));
}

/// One row per layer, the highest first. Further layers share the last row.
static void list_rows(struct drawing *d) {
    const struct weft_topology *t = d->t;
    for (uint32_t n = 0; n < t->nodes; n++) {
        uint32_t r = 0, at = 0;
        while (r < d->rows && !is_of_row(t, d->row[r].first, n))
            r++;
        if (r < d->rows || d->rows == sizeof d->row / sizeof *d->row) continue;
        while (at < d->rows && !is_above(&t->node[n], &t->node[d->row[at].first]))
            at++;
        memmove(&d->row[at + 1], &d->row[at], (d->rows - at) * sizeof *d->row);
        d->row[at] = (struct row){.first = n};
        d->rows++;
    }
    for (uint32_t n = 0; n < t->nodes; n++) {
        uint32_t r = 0;
        while (r + 1 < d->rows && !is_of_row(t, d->row[r].first, n))
            r++;
        d->row_of[n] = r;
        d->row[r].nodes++;
    }
}

// --- boxes --------------------------------------------------------------------------------------------------------

static bool is_host(const struct weft_topology *t, uint32_t node) {
    return t->node[node].role == WEFT_NODE_HOST;
}

static uint32_t peer_of(const struct weft_topology *t, uint32_t port) {
    return t->port[t->port[port].peer].node;
}

/// Colours by layer, then by the colours at the other ends of links and their rates, until no colour is split any more.
static uint64_t *colour_nodes(const struct drawing *d) {
    enum { ROUNDS = 8 };
    const struct weft_topology *t = d->t;
    uint64_t *colour = weft_memory_new(WEFT_MEMORY_TOPOLOGY, t->nodes, sizeof *colour);
    WEFT_FREED uint64_t *next = weft_memory_new(WEFT_MEMORY_TOPOLOGY, t->nodes, sizeof *next);
    for (uint32_t n = 0; n < t->nodes; n++)
        colour[n] = mix_hash((uint64_t)network_of(t, n) << 32 | d->row_of[n]);
    for (int round = 0; round < ROUNDS; round++) {
        for (uint32_t n = 0; n < t->nodes; n++) {
            const struct weft_node_info *node = &t->node[n];
            uint64_t sum = 0;
            for (uint32_t p = node->port0; p < node->port0 + node->ports; p++)
                sum += mix_hash(colour[peer_of(t, p)] ^ t->link[t->port[p].link].rate_bps);
            next[n] = mix_hash(colour[n] + 3 * sum);
        }
        memcpy(colour, next, t->nodes * sizeof *colour);
    }
    return colour;
}

static void add_to_box(struct drawing *d, uint32_t box, uint32_t node) {
    if (box == d->boxes) {
        d->box[d->boxes++] = (struct box){.row = d->row_of[node], .first = node};
        d->row[d->row_of[node]].boxes++;
    }
    d->box[box].nodes++;
    d->box[box].last = node;
    d->box_of[node] = box;
}

static void clear_boxes(struct drawing *d) {
    d->boxes = 0;
    for (uint32_t r = 0; r < d->rows; r++)
        d->row[r].boxes = 0;
}

static void box_each(struct drawing *d) {
    for (uint32_t n = 0; n < d->t->nodes; n++)
        add_to_box(d, d->boxes, n);
}

/// Puts the hosts of a switch into one box.
static void box_hosts(struct drawing *d) {
    const struct weft_topology *t = d->t;
    WEFT_FREED uint32_t *below = weft_memory_new(WEFT_MEMORY_TOPOLOGY, t->nodes, sizeof *below); // box + 1
    for (uint32_t n = 0; n < t->nodes; n++) {
        uint32_t sw = is_host(t, n) ? peer_of(t, t->node[n].port0) : n;
        uint32_t box = is_host(t, n) && below[sw] ? below[sw] - 1 : d->boxes;
        if (is_host(t, n)) below[sw] = box + 1;
        add_to_box(d, box, n);
    }
}

/// Puts the nodes of a row and colour into one box. `crowd`: the last box of a row takes those that have no room.
static void box_by_colour(struct drawing *d, const uint64_t *colour, bool crowd) {
    for (uint32_t n = 0; n < d->t->nodes; n++) {
        uint32_t box = 0, last = d->boxes;
        for (; box < d->boxes; box++) {
            if (d->box[box].row != d->row_of[n]) continue;
            last = box;
            if (d->box[box].colour == colour[n]) break;
        }
        if (box == d->boxes && crowd && d->row[d->row_of[n]].boxes == BOXES_MAX) box = last;
        bool fresh = box == d->boxes;
        add_to_box(d, box, n);
        if (fresh) d->box[box].colour = colour[n];
    }
}

static uint64_t pod_of(const struct drawing *d, uint32_t node) {
    return (uint64_t)network_of(d->t, node) << 32 | d->t->node[node].pod;
}

static void box_alike_in_pods(struct drawing *d) {
    uint64_t *colour = colour_nodes(d);
    for (uint32_t n = 0; n < d->t->nodes; n++)
        colour[n] = mix_hash(colour[n] ^ mix_hash(pod_of(d, n)));
    box_by_colour(d, colour, false);
    weft_memory_free(WEFT_MEMORY_TOPOLOGY, colour, d->t->nodes * sizeof *colour);
}

static void box_pods(struct drawing *d) {
    WEFT_FREED uint64_t *pod = weft_memory_new(WEFT_MEMORY_TOPOLOGY, d->t->nodes, sizeof *pod);
    for (uint32_t n = 0; n < d->t->nodes; n++)
        pod[n] = pod_of(d, n);
    box_by_colour(d, pod, false);
}

static void box_alike(struct drawing *d) {
    uint64_t *colour = colour_nodes(d);
    box_by_colour(d, colour, true);
    weft_memory_free(WEFT_MEMORY_TOPOLOGY, colour, d->t->nodes * sizeof *colour);
}

WEFT__ORDER(by_ends, struct edge, WEFT__UP(from) ?: WEFT__UP(to) ?: WEFT__UP(rate_bps))

static void list_edges(struct drawing *d) {
    const struct weft_topology *t = d->t;
    d->edges = 0;
    for (uint32_t l = 0; l < t->links; l++) {
        uint32_t a = d->box_of[t->port[t->link[l].port[0]].node], b = d->box_of[t->port[t->link[l].port[1]].node];
        bool down = d->box[a].row < d->box[b].row || (d->box[a].row == d->box[b].row && a <= b);
        d->edge[l] = (struct edge){down ? a : b, down ? b : a, t->link[l].rate_bps, 1};
    }
    qsort(d->edge, t->links, sizeof *d->edge, by_ends);
    for (uint32_t l = 0; l < t->links; l++)
        if (d->edges && !by_ends(&d->edge[d->edges - 1], &d->edge[l]))
            d->edge[d->edges - 1].links++;
        else
            d->edge[d->edges++] = d->edge[l];
}

static bool fits_drawing(const struct drawing *d) {
    for (uint32_t r = 0; r < d->rows; r++)
        if (d->row[r].boxes > BOXES_MAX) return false;
    return d->edges <= EDGES_MAX;
}

static bool has_pods(const struct weft_topology *t) {
    for (uint32_t n = 0; n < t->nodes; n++)
        if (t->node[n].pod != WEFT_NONE) return true;
    return false;
}

static void fold_boxes(struct drawing *d) {
    static void (*const box[])(struct drawing *) = {box_each, box_hosts, box_alike_in_pods, box_pods, box_alike};
    for (size_t i = 0; i < sizeof box / sizeof *box; i++) {
        if (box[i] == box_pods && !has_pods(d->t)) continue;
        clear_boxes(d);
        box[i](d);
        list_edges(d);
        if (fits_drawing(d)) break;
    }
}

// --- drawing ------------------------------------------------------------------------------------------------------

/// Links within the highest row need room above it.
static bool has_arcs(const struct drawing *d) {
    for (uint32_t i = 0; i < d->edges; i++)
        if (!d->box[d->edge[i].from].row && !d->box[d->edge[i].to].row) return true;
    return false;
}

static void place_boxes(struct drawing *d) {
    WEFT_FREED uint32_t *placed = weft_memory_new(WEFT_MEMORY_TOPOLOGY, d->rows, sizeof *placed);
    double top = MARGIN + (has_arcs(d) ? ARCS : 60), bottom = HEIGHT - MARGIN - 40;
    for (uint32_t r = 0; r < d->rows; r++)
        d->row[r].y = d->rows > 1 ? top + (bottom - top) * r / (d->rows - 1) : (top + bottom) / 2;
    for (uint32_t i = 0; i < d->boxes; i++) {
        struct box *b = &d->box[i];
        const struct row *r = &d->row[b->row];
        double step = (double)(WIDTH - SIDE - 2 * MARGIN) / r->boxes;
        b->x = MARGIN + step * (placed[b->row]++ + 0.5);
        b->y = r->y;
        b->width = fmin(0.8 * step, b->nodes > 1 ? 200 : 120);
    }
}

void topo_print_escaped(FILE *file, const char *text) {
    for (; *text; text++)
        if (*text == '&')
            fputs("&amp;", file);
        else if (*text == '<')
            fputs("&lt;", file);
        else if (*text == '"')
            fputs("&quot;", file);
        else
            putc(*text, file);
}

static void print_names(const struct drawing *d, const struct box *b) {
    topo_print_escaped(d->file, d->t->node[b->first].name);
    if (b->nodes == 1) return;
    fputs(" to ", d->file);
    topo_print_escaped(d->file, d->t->node[b->last].name);
}

/// A line whose width grows with its rate; within a row, an arc above it.
static void draw_edge(const struct drawing *d, const struct edge *e) {
    const struct box *a = &d->box[e->from], *b = &d->box[e->to];
    char rate[TEXT];
    weft_format_rate(e->rate_bps, rate, sizeof rate);
    double width = fmin(8, 0.6 + 0.4 * log2(1 + e->links));
    if (a == b)
        fprintf(d->file, "<path d='M%.1f %.1fc-60 -70 60 -70 0 0' stroke-width='%.1f'>", a->x, a->y - 18, width);
    else if (a->row == b->row)
        fprintf(d->file, "<path d='M%.1f %.1fQ%.1f %.1f %.1f %.1f' stroke-width='%.1f'>", a->x, a->y - 14,
                (a->x + b->x) / 2, a->y - 14 - (a->row ? 60 : 2 * (ARCS - 80) * fmin(1, fabs(a->x - b->x) / WIDTH)),
                b->x, b->y - 14, width);
    else
        fprintf(d->file, "<path d='M%.1f %.1fL%.1f %.1f' stroke-width='%.1f'>", a->x, a->y + 14, b->x, b->y - 14,
                width);
    fputs("<title>", d->file);
    print_names(d, a);
    fputs(" and ", d->file);
    print_names(d, b);
    fprintf(d->file, ": %u link%s of %s</title></path>\n", e->links, e->links > 1 ? "s" : "", rate);
}

/// Labels lines that represent many: how many of what.
static void label_edge(const struct drawing *d, const struct edge *e) {
    const struct box *a = &d->box[e->from], *b = &d->box[e->to];
    char rate[TEXT];
    if (e->links == 1 || d->edges > BOXES_MAX || (a != b && a->row == b->row)) return;
    weft_format_rate(e->rate_bps, rate, sizeof rate);
    double along = d->row[a->row].boxes < d->row[b->row].boxes ? 0.7 : 0.3; // where lines are far enough apart
    double x = a == b ? a->x : a->x + along * (b->x - a->x), y = a == b ? a->y - 76 : a->y + along * (b->y - a->y);
    fprintf(d->file, "<text class='edge' x='%.1f' y='%.1f'>%u x %s</text>\n", x, y, e->links, rate);
}

static void draw_box(const struct drawing *d, const struct box *b) {
    bool host = is_host(d->t, b->first), stack = b->nodes > 1;
    for (int k = stack ? 2 : 0; k >= 0; k--) {
        fprintf(d->file, "<rect class='%s' x='%.1f' y='%.1f' width='%.1f' height='28' rx='%d'>",
                host ? "host" : "switch", b->x - b->width / 2 + 4 * k, b->y - 14 - 4 * k, b->width, host ? 14 : 3);
        fputs("<title>", d->file);
        print_names(d, b);
        fputs("</title></rect>\n", d->file);
    }
    const char *name = d->t->node[b->first].name;
    double room = b->width / 7;
    if (stack) {
        fprintf(d->file, "<text x='%.1f' y='%.1f'>%u ", b->x, b->y + 4, b->nodes);
        if (room > 6 + (double)strlen(d->t->node[b->first].layer))
            topo_print_escaped(d->file, d->t->node[b->first].layer);
        fputs("</text>\n", d->file);
        return;
    }
    const char *number = strrchr(name, '-');
    if ((double)strlen(name) > room && number) name = number + 1;
    if ((double)strlen(name) > room) return; // the title contains it
    fprintf(d->file, "<text x='%.1f' y='%.1f'>", b->x, b->y + 4);
    topo_print_escaped(d->file, name);
    fputs("</text>\n", d->file);
}

/// Its nodes in all networks, and those of the network `of`.
static bool describe_row(const struct drawing *d, const struct weft_network_info *of,
                         const struct weft_topology_summary *s, const struct row *r) {
    const char *layer = layer_of(d->t, r->first);
    char text[TEXT];
    double x = WIDTH - SIDE + 20;
    for (uint32_t i = 0; i < s->layers; i++) {
        const struct weft_layer_summary *l = &s->layer[i];
        if (strcmp(layer_in(d->t, of, l->name), layer) != 0 || l->tier != d->t->node[r->first].tier) continue;
        fprintf(d->file, "<text class='layer' x='%.1f' y='%.1f'>%u x ", x, r->y - 4, r->nodes);
        topo_print_escaped(d->file, layer);
        fputs("</text>\n", d->file);
        fprintf(d->file, "<text class='note' x='%.1f' y='%.1f'>", x, r->y + 15);
        if (l->ports_min == l->ports_max)
            fprintf(d->file, "%s each</text>\n", weft__counted(l->ports_max, "port").text);
        else
            fprintf(d->file, "%u to %s each</text>\n", l->ports_min, weft__counted(l->ports_max, "port").text);
        fprintf(d->file, "<text class='note' x='%.1f' y='%.1f'>", x, r->y + 31);
        if (l->down_bps) {
            weft_format_rate(l->down_bps, text, sizeof text);
            fprintf(d->file, "%s down%s", text, l->up_bps ? ", " : "");
        }
        if (l->up_bps) {
            weft_format_rate(l->up_bps, text, sizeof text);
            fprintf(d->file, "%s up", text);
        }
        fprintf(d->file, "%s</text>\n", d->t->networks > 1 ? " (one network)" : "");
        return true;
    }
    return false;
}

static const char style[] =
    "text{font:13px sans-serif;text-anchor:middle;fill:#222}"
    ".edge{font-size:12px;stroke:#fff;stroke-width:4px;paint-order:stroke}"
    ".layer{font-size:17px;font-weight:bold;text-anchor:start}.note{font-size:12px;text-anchor:start;fill:#444}"
    ".title{font-size:20px;font-weight:bold;text-anchor:start}"
    ".switch{fill:#cfe2f3;stroke:#2b5b84}.host{fill:#fbe9cf;stroke:#8a5a00}"
    "path{fill:none;stroke:#777;stroke-opacity:.6}";

void topo_print_svg(FILE *file, const void *answer) {
    const struct weft_topology_answer *v = answer;
    const struct weft_topology *t = v->topology;
    struct drawing d = {.t = t, .file = file};
    d.box_of = weft_memory_new(WEFT_MEMORY_TOPOLOGY, t->nodes, sizeof *d.box_of);
    d.row_of = weft_memory_new(WEFT_MEMORY_TOPOLOGY, t->nodes, sizeof *d.row_of);
    d.box = weft_memory_new(WEFT_MEMORY_TOPOLOGY, t->nodes, sizeof *d.box);
    d.edge = weft_memory_new(WEFT_MEMORY_TOPOLOGY, t->links, sizeof *d.edge);
    list_rows(&d);
    fold_boxes(&d);
    place_boxes(&d);
    fprintf(file, "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' role='img'>\n<style>%s</style>\n", WIDTH,
            HEIGHT, style);
    fprintf(file, "<text class='title' x='%d' y='%d'>", MARGIN, MARGIN);
    topo_print_escaped(file, v->scenario);
    fprintf(file, ": %s, %s, %s</text>\n", weft__counted(t->hosts, "host").text,
            weft__counted(t->switches, "switch").text, weft__counted(t->links, "link").text);
    for (uint32_t i = 0; i < d.edges; i++)
        draw_edge(&d, &d.edge[i]);
    for (uint32_t i = 0; i < d.boxes; i++)
        draw_box(&d, &d.box[i]);
    for (uint32_t i = 0; i < d.edges; i++)
        label_edge(&d, &d.edge[i]);
    for (uint32_t r = 0; r < d.rows; r++)
        for (uint32_t n = 0; n < t->networks && !describe_row(&d, &t->network[n], &v->network[n], &d.row[r]);)
            n++;
    fputs("</svg>\n", file);
    weft_memory_free(WEFT_MEMORY_TOPOLOGY, d.box_of, t->nodes * sizeof *d.box_of);
    weft_memory_free(WEFT_MEMORY_TOPOLOGY, d.row_of, t->nodes * sizeof *d.row_of);
    weft_memory_free(WEFT_MEMORY_TOPOLOGY, d.box, t->nodes * sizeof *d.box);
    weft_memory_free(WEFT_MEMORY_TOPOLOGY, d.edge, t->links * sizeof *d.edge);
}
