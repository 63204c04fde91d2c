// SPDX-License-Identifier: Apache-2.0
// Static routes: the next hops that a switch uses towards some hosts, instead of all that lie on shortest paths.
//   routes:
//   - {at: "leaf-0", to: "host-4..7", via: "spine-1"}
//   - {at: "leaf-*", to: "host-0", via: "spine-0,spine-2"}
// or the name of a table with the columns at, to and via, relative to the scenario. A later route of a switch to a host
// overrides an earlier one. Every host with a static route is checked: packets to it must not go in a circle.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/table.h"
#include "topology/builder.h"
#include "weft/param.h"
#include "weft/param_load.h"
#include "weft/routes.h"

#define BAD(place, ...) WEFT_REFUSE(ret_error, place, __VA_ARGS__)

struct route_conf {
    const char *at, *to, *via;
};
static const struct weft_param_table route_table = WEFT_PARAM_TABLE_OF(
    "route", struct route_conf, WEFT_PARAM_UNCHECKED,
    WEFT_TEXT(struct route_conf, at, "at", NULL, "switches: names, with patterns, joined by commas"),
    WEFT_TEXT(struct route_conf, to, "to", NULL, "hosts, as workloads choose them: host-3, host-4..7, host-*"),
    WEFT_TEXT(struct route_conf, via, "via", NULL, "next hops: neighbours (spine-1) or ports (leaf-0/5), joined by ,"));

enum column { AT, TO, VIA, COLUMNS };
static const struct weft__column columns[COLUMNS] = {
    [AT] = {"at", " at switch node device ", .needed = true, .text = true},
    [TO] = {"to", " to destination dst host ", .needed = true, .text = true},
    [VIA] = {"via", " via next_hop nexthop next port out_port ", .needed = true, .text = true},
};

/// Routes under construction, in the order written.
struct reader {
    struct weft_topology *t;
    struct weft_static_route *route;
    struct weft_place *place; ///< [n] of each
    uint32_t n, room;
};

static void *grow_list(struct weft_arena *arena, void *array, uint32_t n, uint32_t room, size_t size) {
    void *more = weft_arena_alloc(arena, room, size);
    if (n) memcpy(more, array, n * size);
    return more;
}

static void append_route(struct reader *r, const struct weft_static_route *route, struct weft_place place) {
    if (r->n == r->room) {
        r->room = r->room ? 2 * r->room : 64;
        r->route = grow_list(r->t->arena, r->route, r->n, r->room, sizeof *r->route);
        r->place = grow_list(r->t->arena, r->place, r->n, r->room, sizeof *r->place);
    }
    r->place[r->n] = place;
    r->route[r->n++] = *route;
}

WEFT__ORDER(by_port, uint16_t, *x - *y)

/// The ports of a switch that `via` names, in ascending order.
static enum weft_status find_ports(const struct weft_topology *t, uint32_t node, const char *via,
                                   struct weft_place place, uint16_t **ret_port, uint32_t *ret_n,
                                   struct weft_error *ret_error) {
    const struct weft_node_info *info = &t->node[node];
    char *item = weft_arena_alloc(t->arena, strlen(via) + 1, 1);
    uint16_t *port = weft_arena_alloc(t->arena, info->ports, sizeof *port);
    uint32_t n = 0;
    while (weft__choice_next(&via, item)) {
        uint32_t chosen = weft_topology_find_port(t, item), peer = weft_topology_find_node(t, item), before = n;
        for (uint32_t k = 0; k < info->ports; k++) {
            const struct weft_port_info *p = weft_topology_port(t, node, k);
            bool is = chosen != WEFT_NONE ? chosen == info->port0 + k : t->port[p->peer].node == peer;
            bool there = false;
            for (uint32_t i = 0; i < n; i++)
                there |= port[i] == k;
            if (is && !there && t->node[t->port[p->peer].node].role == WEFT_NODE_SWITCH) port[n++] = (uint16_t)k;
        }
        if (n == before)
            return BAD(place, "via '%.60s': expected a switch next to %s, or a port of it that leads to one", item,
                       info->name);
    }
    if (!n) return BAD(place, "via: expected a switch next to %s", info->name);
    qsort(port, n, sizeof *port, by_port);
    *ret_port = port;
    *ret_n = n;
    return WEFT_OK;
}

static enum weft_status add_at(struct reader *r, uint32_t node, const uint32_t *host, uint32_t hosts, const char *via,
                               struct weft_place place, struct weft_error *ret_error) {
    struct weft_topology *t = r->t;
    struct weft_static_route route = {.sw = t->node[node].index};
    enum weft_status status = find_ports(t, node, via, place, &route.port, &route.ports, ret_error);
    for (uint32_t h = 0; h < hosts && !status; h++) {
        uint32_t leaf = t->port[weft_topology_port(t, t->host[host[h]], 0)->peer].node;
        route.host = host[h];
        if (leaf == node) continue; // it is the last switch of the path
        const struct weft_network_info *network = &t->network[weft_topology_network_of(t, host[h])];
        if (node < network->node0 || node - network->node0 >= network->nodes)
            return BAD(place, "%s and %s are in different networks", t->node[node].name,
                       t->node[t->host[host[h]]].name);
        append_route(r, &route, place);
    }
    return status;
}

static enum weft_status add_route(struct reader *r, const struct route_conf *conf, struct weft_place place,
                                  struct weft_error *ret_error) {
    uint32_t *host, hosts, found = 0;
    enum weft_status status = weft_topology_select_hosts(r->t, conf->to, place, &host, &hosts, ret_error);
    for (uint32_t s = 0; s < r->t->switches && !status; s++) {
        uint32_t node = r->t->switch_node[s];
        if (!weft_glob_match(conf->at, r->t->node[node].name)) continue;
        found++;
        status = add_at(r, node, host, hosts, conf->via, place, ret_error);
    }
    if (status || found) return status;
    return BAD(place, "at '%.60s': no switch is called so", conf->at);
}

static enum weft_status read_table(struct reader *r, const struct weft_tree *tree, struct weft_error *ret_error) {
    WEFT_ENDS(weft__lines_close) struct weft__lines lines = {0};
    struct weft__table *table = weft_arena_alloc(r->t->arena, 1, sizeof *table);
    const char *path = weft__path_beside(tree->text, tree->place, r->t->arena);
    WEFT_TRY(weft__lines_open(&lines, path, tree->place, ret_error));
    enum weft_status status = weft__table_header(&lines, columns, COLUMNS, "", table, ret_error);
    for (bool more = true; more && !status;) {
        struct weft__table_row row = {0};
        status = weft__lines_next_full(&lines, &more, ret_error);
        if (status || !more) break;
        status = weft__table_row(&lines, table, false, &row, ret_error);
        struct route_conf conf = {row.text[AT], row.text[TO], row.text[VIA]};
        struct weft_place place = {.file = path, .line = lines.place.line, .column = 1};
        if (!status) status = add_route(r, &conf, place, ret_error);
    }
    return status;
}

static enum weft_status read_list(struct reader *r, const struct weft_tree *list, struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < list->n && !status; i++) {
        struct route_conf conf;
        status = weft_params_load(&route_table, list->child[i], &conf, r->t->arena, ret_error);
        if (!status) status = add_route(r, &conf, list->child[i]->place, ret_error);
    }
    return status;
}

// --- in order -----------------------------------------------------------------------------------------------------

struct ordered {
    struct weft_static_route route;
    uint32_t number;
};

WEFT__ORDER(by_host_and_switch, struct ordered,
            WEFT__UP(route.host) ?: WEFT__UP(route.sw) ?: WEFT__DOWN(number)) // the last one first

/// Sorts by host, then switch; of several routes of one switch to one host, keeps the last one written.
static void keep_routes(struct reader *r) {
    struct weft_topology *t = r->t;
    struct ordered *all = weft_arena_alloc(t->arena, r->n, sizeof *all);
    for (uint32_t i = 0; i < r->n; i++)
        all[i] = (struct ordered){r->route[i], i};
    qsort(all, r->n, sizeof *all, by_host_and_switch);
    t->static_route = r->route;
    for (uint32_t i = 0; i < r->n; i++) {
        const struct weft_static_route *route = &all[i].route;
        bool host = !i || route->host != all[i - 1].route.host;
        if (!host && route->sw == all[i - 1].route.sw) continue;
        t->static_route[t->static_routes++] = *route;
        t->static_hosts += host;
    }
}

static enum weft_status check_circles(const struct reader *r, struct weft_place place, struct weft_error *ret_error) {
    const struct weft_topology *t = r->t;
    struct weft_routes *routes = weft_routes_new(t, NULL);
    uint32_t host = WEFT_NONE, sw = weft_routes_find_circle(routes, t, &host);
    weft_routes_free(routes);
    if (sw == WEFT_NONE) return WEFT_OK;
    return BAD(place, "routes: packets to %s go in a circle through %s; expected routes that lead there",
               t->node[t->host[host]].name, t->node[t->switch_node[sw]].name);
}

enum weft_status weft__topology_read_routes(struct weft_topology *t, const struct weft_tree *tree,
                                            struct weft_error *ret_error) {
    const struct weft_tree *routes = weft_tree_find(tree, "routes");
    struct reader r = {.t = t};
    if (!routes || routes->type == WEFT_TREE_NULL) return WEFT_OK;
    if (routes->type == WEFT_TREE_MAP)
        return BAD(routes->place, "routes: expected a list, as in [{at: leaf-0, to: host-4, via: spine-1}], or a file");
    for (uint32_t n = 0; n < t->nodes; n++)
        if (t->node[n].box != WEFT_BOX_HOST && t->node[n].box != WEFT_BOX_ETHERNET_SWITCH)
            return BAD(routes->place,
                       "routes: %s is not an Ethernet switch; expected no other, as cells have their own routes",
                       t->node[n].name);
    enum weft_status status =
        routes->type == WEFT_TREE_TEXT ? read_table(&r, routes, ret_error) : read_list(&r, routes, ret_error);
    if (status || !r.n) return status;
    keep_routes(&r);
    if (t->static_hosts > WEFT__EDGES_MAX - t->switches)
        return BAD(routes->place, "routes to %" PRIu32 " hosts; expected at most %" PRIu32, t->static_hosts,
                   WEFT__EDGES_MAX - t->switches);
    return check_circles(&r, routes->place, ret_error);
}
