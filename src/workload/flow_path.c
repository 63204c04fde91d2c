// SPDX-License-Identifier: Apache-2.0
// Paths that flows name: "leaf-0 > spine-1 > leaf-2", as weft topo --paths prints them.
#include <inttypes.h>
#include <string.h>

#include "weft/workload.h"

#define BAD(...) WEFT_REFUSE(ret_error, place, __VA_ARGS__)

struct builder {
    const struct weft_topology *t;
    uint32_t stop[WEFT_FLOW_PATH_MAX + 2]; ///< nodes
    uint32_t port[WEFT_FLOW_PATH_MAX + 2]; ///< by which it continues, among all ports; WEFT_NONE: not given
    uint32_t stops;
};

static enum weft_status add_stop(struct builder *b, uint32_t node, uint32_t port, struct weft_place place,
                                 struct weft_error *ret_error) {
    if (b->stops == WEFT_FLOW_PATH_MAX + 2) return BAD("a path of more than %d switches", WEFT_FLOW_PATH_MAX);
    for (uint32_t i = 0; i < b->stops; i++)
        if (b->stop[i] == node) return BAD("'%.60s' is on the path twice; expected once", b->t->node[node].name);
    b->stop[b->stops] = node;
    b->port[b->stops++] = port;
    return WEFT_OK;
}

static enum weft_status add_name(struct builder *b, char *name, struct weft_place place, struct weft_error *ret_error) {
    uint32_t node = weft_topology_find_node(b->t, name), port = WEFT_NONE;
    if (node == WEFT_NONE && (port = weft_topology_find_port(b->t, name)) != WEFT_NONE) node = b->t->port[port].node;
    if (node == WEFT_NONE) return BAD("no switch '%.60s'; expected a path such as leaf-0 > spine-1 > leaf-2", name);
    return add_stop(b, node, port, place, ret_error);
}

/// Splits the text into stops.
static enum weft_status split_stops(struct builder *b, const char *text, struct weft_place place,
                                    struct weft_error *ret_error) {
    static const char blanks[] = " \t";
    enum weft_status status = WEFT_OK;
    for (const char *at = text; *at && !status;) {
        char name[128];
        at += strspn(at, blanks);
        size_t n = strcspn(at, ">,");
        const char *next = at[n] ? at + n + 1 : at + n;
        while (n && strchr(blanks, at[n - 1]))
            n--;
        if (!n || n >= sizeof name) return BAD("'%.80s': expected names of switches, joined by > or commas", text);
        memcpy(name, at, n);
        name[n] = 0;
        status = add_name(b, name, place, ret_error);
        at = next;
    }
    return status;
}

/// The port by which stop i continues to the next one.
static uint32_t port_to_next(const struct builder *b, uint32_t i) {
    const struct weft_node_info *node = &b->t->node[b->stop[i]];
    for (uint32_t k = 0; k < node->ports; k++)
        if ((b->port[i] == WEFT_NONE || b->port[i] == node->port0 + k) &&
            b->t->port[b->t->port[node->port0 + k].peer].node == b->stop[i + 1])
            return k;
    return WEFT_NONE;
}

static enum weft_status find_hops(const struct builder *b, struct weft_flow_path *path, struct weft_place place,
                                  struct weft_error *ret_error) {
    for (uint32_t i = 0; i + 1 < b->stops; i++) {
        const struct weft_node_info *node = &b->t->node[b->stop[i]];
        uint32_t k = port_to_next(b, i);
        bool host = node->role == WEFT_NODE_HOST;
        if (i ? host || node->box != WEFT_BOX_ETHERNET_SWITCH : !host)
            return BAD("'%.60s' is not an Ethernet switch; expected switches between the hosts of the flow",
                       node->name);
        if (k == WEFT_NONE)
            return BAD("no link from %.60s to %.60s%s; expected switches next to one another", node->name,
                       b->t->node[b->stop[i + 1]].name, b->port[i] == WEFT_NONE ? "" : " by the port that is named");
        if (i) path->hop[path->switches++] = (struct weft_flow_hop){node->index, (uint16_t)k};
    }
    return WEFT_OK;
}

static bool is_same(const struct weft_flow_path *a, const struct weft_flow_path *b) {
    bool same = a->switches == b->switches;
    for (uint32_t i = 0; same && i < a->switches; i++)
        same = a->hop[i].sw == b->hop[i].sw && a->hop[i].port == b->hop[i].port;
    return same;
}

/// Its number; that of the last one added if it is equal.
static uint32_t keep_path(struct weft_workload *w, const struct weft_flow_path *path) {
    if (w->paths && is_same(path, &w->path[w->paths - 1])) return w->paths - 1;
    if (!(w->paths & (w->paths - 1))) { // the room is a power of two
        struct weft_flow_path *more = weft_arena_alloc(w->arena, w->paths ? 2 * (size_t)w->paths : 2, sizeof *more);
        if (w->paths) memcpy(more, w->path, w->paths * sizeof *more);
        w->path = more;
    }
    if (!w->paths) w->paths = 1;
    w->path[w->paths] = (struct weft_flow_path){path->switches, NULL};
    w->path[w->paths].hop = weft_arena_alloc(w->arena, path->switches, sizeof *path->hop);
    memcpy(w->path[w->paths].hop, path->hop, path->switches * sizeof *path->hop);
    return w->paths++;
}

enum weft_status weft_workload_path(struct weft_workload *w, const char *text, struct weft_place place, uint32_t src,
                                    uint32_t dst, uint32_t *ret_path, struct weft_error *ret_error) {
    const struct weft_topology *t = w->topology;
    struct weft_flow_hop hop[WEFT_FLOW_PATH_MAX + 2];
    struct weft_flow_path path = {.hop = hop};
    struct builder b = {.t = t};
    *ret_path = 0;
    if (!*text) return WEFT_OK;
    enum weft_status status = split_stops(&b, text, place, ret_error);
    if (status) return status;
    if (b.stop[0] != t->host[src]) { // sender and receiver may be omitted
        struct builder named = b;
        b.stops = 0;
        status = add_stop(&b, t->host[src], WEFT_NONE, place, ret_error);
        for (uint32_t i = 0; i < named.stops && !status; i++)
            status = add_stop(&b, named.stop[i], named.port[i], place, ret_error);
    }
    if (!status && b.stop[b.stops - 1] != t->host[dst])
        status = add_stop(&b, t->host[dst], WEFT_NONE, place, ret_error);
    if (!status) status = find_hops(&b, &path, place, ret_error);
    if (!status) *ret_path = keep_path(w, &path);
    return status;
}
