// SPDX-License-Identifier: Apache-2.0
// Ports selected by text.
#include <stdio.h>
#include <string.h>

#include "topology/builder.h"

struct choice {
    const struct weft_topology *t;
    struct weft_place place;
    struct weft_error *ret_error;
    bool *chosen; ///< by port
};

#define FAIL(c, ...) WEFT_REFUSE((c)->ret_error, (c)->place, __VA_ARGS__)

static bool is_fabric(const struct choice *c, uint32_t port) {
    return weft_topology_link_is_fabric(c->t, c->t->port[port].link);
}

/// What travels there: frames, or cells. Of the fabrics' cells only those of GNet are known byte by byte.
enum kind { FRAMES, GNET, KINDS };
static bool is_kind(const struct choice *c, uint32_t port, enum kind kind) {
    bool gnet = is_fabric(c, port) && weft_node_is_flat(&c->t->node[c->t->port[port].node]);
    return kind == GNET ? gnet : !is_fabric(c, port);
}

/// Chooses a port of a kind; returns how many were chosen.
static uint32_t choose_port(struct choice *c, uint32_t port, enum kind kind) {
    if (!is_kind(c, port, kind)) return 0;
    c->chosen[port] = true;
    return 1;
}

static uint32_t choose_node(struct choice *c, uint32_t node, enum kind kind) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < c->t->node[node].ports; k++)
        n += choose_port(c, c->t->node[node].port0 + k, kind);
    return n;
}

static enum weft_status refuse_fabric(struct choice *c, const char *name) {
    return FAIL(c,
                "'%s' has fabric links only: cells travel there, not frames; expected Ethernet ports, such as those "
                "of hosts",
                name);
}

static bool port_matches(const struct weft_topology *t, uint32_t port, const char *glob) {
    const struct weft_port_info *info = &t->port[port];
    char name[512];
    weft_topology_port_name(t, port, name, sizeof name);
    if (weft_glob_match(glob, name)) return true;
    snprintf(name, sizeof name, "%s->%s", t->node[info->node].name, t->node[t->port[info->peer].node].name);
    return weft_glob_match(glob, name);
}

static enum weft_status choose_glob(struct choice *c, const char *glob) {
    const struct weft_topology *t = c->t;
    bool any = false;
    uint32_t chosen = 0;
    for (enum kind kind = FRAMES; kind < KINDS && !chosen; kind++) {
        for (uint32_t n = 0; n < t->nodes; n++)
            if (weft_glob_match(glob, t->node[n].name)) {
                chosen += choose_node(c, n, kind);
                any = true;
            }
        for (uint32_t p = 0; p < t->ports; p++)
            if (port_matches(t, p, glob)) {
                chosen += choose_port(c, p, kind);
                any = true;
            }
    }
    if (chosen) return WEFT_OK;
    if (any) return refuse_fabric(c, glob);
    char first[160], last[160];
    weft_topology_port_name(t, 0, first, sizeof first);
    weft_topology_port_name(t, t->ports - 1, last, sizeof last);
    return FAIL(c, "no port matches '%s'; ports are %s to %s", glob, first, last);
}

/// Reports what is wrong with a name that names no port.
static enum weft_status bad_name(struct choice *c, const char *name) {
    const struct weft_topology *t = c->t;
    const char *arrow = strstr(name, "->"), *slash = strchr(name, '/');
    size_t length = arrow ? (size_t)(arrow - name) : slash ? (size_t)(slash - name) : strlen(name);
    char node_name[128];
    snprintf(node_name, sizeof node_name, "%.*s", (int)length, name);
    uint32_t node = weft_topology_find_node(t, node_name);
    if (node != WEFT_NONE && arrow && weft_topology_find_node(t, arrow + 2) != WEFT_NONE)
        return FAIL(c, "no port '%s': %s has no link to %s", name, node_name, arrow + 2);
    if (node != WEFT_NONE && !arrow) {
        char first[160], last[160];
        weft_topology_port_name(t, t->node[node].port0, first, sizeof first);
        weft_topology_port_name(t, t->node[node].port0 + t->node[node].ports - 1, last, sizeof last);
        return FAIL(c, "no port '%s'; %s has ports %s to %s", name, node_name, first, last);
    }
    const char *wrong = node != WEFT_NONE ? arrow + 2 : node_name;
    const char *nearest = weft__topology_nearest_node(t, wrong, strlen(wrong));
    return FAIL(c, "no port '%s': no node '%s'; there are %s to %s%s%s%s", name, wrong, t->node[0].name,
                t->node[t->nodes - 1].name, nearest ? "; nearest: '" : "", nearest ? nearest : "", nearest ? "'" : "");
}

static enum weft_status choose_item(struct choice *c, const char *item) {
    if (!*item)
        return FAIL(c, "an empty name; expected ports, as in \"host-3/0\", \"leaf-0->spine-1\" or \"leaf-*/0\"");
    uint32_t port = weft_topology_find_port(c->t, item), node = weft_topology_find_node(c->t, item);
    if (port == WEFT_NONE && node == WEFT_NONE) return strpbrk(item, "*?[") ? choose_glob(c, item) : bad_name(c, item);
    uint32_t chosen = 0;
    for (enum kind kind = FRAMES; kind < KINDS && !chosen; kind++)
        chosen = port != WEFT_NONE ? choose_port(c, port, kind) : choose_node(c, node, kind);
    return chosen ? WEFT_OK : refuse_fabric(c, item);
}

/// A file holds frames or cells: readers like libpcap accept one kind per file.
static enum weft_status check_kinds(struct choice *c) {
    uint32_t found[KINDS] = {WEFT_NONE, WEFT_NONE};
    for (uint32_t p = c->t->ports; p--;)
        if (c->chosen[p]) found[is_kind(c, p, GNET) ? GNET : FRAMES] = p;
    if (found[FRAMES] == WEFT_NONE || found[GNET] == WEFT_NONE) return WEFT_OK;
    char frames[160], cells[160];
    weft_topology_port_name(c->t, found[FRAMES], frames, sizeof frames);
    weft_topology_port_name(c->t, found[GNET], cells, sizeof cells);
    return FAIL(c, "frames at %s and cells at %s do not go into one file; expected ports of one kind", frames, cells);
}

enum weft_status weft_topology_select_ports(const struct weft_topology *t, const char *text, struct weft_place place,
                                            uint32_t **ret_ports, uint32_t *ret_n, struct weft_error *ret_error) {
    struct choice c = {.t = t, .place = place, .ret_error = ret_error};
    c.chosen = weft_memory_new(WEFT_MEMORY_TOPOLOGY, t->ports, sizeof *c.chosen);
    size_t size = strlen(text) + 1;
    WEFT_FREED char *item = weft_memory_new(WEFT_MEMORY_TOPOLOGY, size, 1);
    enum weft_status status = WEFT_OK;
    for (const char *rest = text; !status && weft__choice_next(&rest, item);)
        status = choose_item(&c, item);
    if (!status) status = check_kinds(&c);
    if (!status) {
        *ret_ports = weft_arena_alloc(t->arena, t->ports, sizeof **ret_ports);
        *ret_n = 0;
        for (uint32_t p = 0; p < t->ports; p++)
            if (c.chosen[p]) (*ret_ports)[(*ret_n)++] = p;
    }
    weft_memory_free(WEFT_MEMORY_TOPOLOGY, c.chosen, t->ports * sizeof *c.chosen);
    return status;
}
