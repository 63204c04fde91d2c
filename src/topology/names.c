// SPDX-License-Identifier: Apache-2.0
// Nodes, ports and links by name.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "topology/builder.h"

enum { NUMBER_DIGITS = 9 };

bool weft__topology_node_name_is_good(const char *name) {
    size_t n = strlen(name);
    if (!n || n > 63 || strstr(name, "--") || strstr(name, "..") || name[n - 1] == '-') return false;
    if (strchr("-.:", name[0])) return false;
    return strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:") == n;
}

size_t weft__topology_device_length(const char *name) {
    static const char *const ports[] = {"hca", "nic", "mlx", "bnxt", "eth",   "en",   "ib",   "rdma", "roce",
                                        "gpu", "xpu", "hfi", "efa",  "irdma", "port", "bond", "swp"};
    const char *slash = strchr(name, '/'), *colon = strchr(name, ':'), *dot = strrchr(name, '.');
    if (slash && slash > name && slash[1]) return (size_t)(slash - name);
    if (colon && colon > name && colon[1] && !strchr(colon + 1, ':')) return (size_t)(colon - name);
    for (size_t i = 0; dot > name && i < sizeof ports / sizeof *ports; i++) {
        size_t n = strlen(ports[i]);
        if (!strncasecmp(dot + 1, ports[i], n) && dot[1 + n + strcspn(dot + 1 + n, "0123456789")])
            return (size_t)(dot - name);
    }
    return 0;
}

/// FNV-1a (Fowler, Noll, Vo), 32 bit.
static uint32_t hash_name(const char *name, size_t length) {
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < length; i++)
        h = (h ^ (unsigned char)name[i]) * 16777619u;
    return h;
}

/// The place of `name` in the table, or the place where it would go.
static uint32_t slot_of(const struct weft_topology *t, const char *name, size_t length) {
    uint32_t slot = hash_name(name, length) & t->name_mask;
    while (t->name_table[slot] != WEFT_NONE) {
        const char *held = t->node[t->name_table[slot]].name;
        if (!strncmp(held, name, length) && !held[length]) break;
        slot = (slot + 1) & t->name_mask;
    }
    return slot;
}

enum weft_status weft__topology_hash_names(struct weft_topology *t, const struct weft_place *place,
                                           struct weft_error *ret_error) {
    uint32_t size = 4;
    while (size < 2 * t->nodes)
        size *= 2;
    t->name_mask = size - 1;
    t->name_table = weft_arena_alloc(t->arena, size, sizeof *t->name_table);
    memset(t->name_table, 0xff, size * sizeof *t->name_table);
    for (uint32_t n = 0; n < t->nodes; n++) {
        uint32_t slot = slot_of(t, t->node[n].name, strlen(t->node[n].name));
        if (t->name_table[slot] != WEFT_NONE)
            return WEFT_REFUSE(ret_error, place[n], "a second node named %s; expected unique names", t->node[n].name);
        t->name_table[slot] = n;
    }
    return WEFT_OK;
}

static uint32_t find_node(const struct weft_topology *t, const char *name, size_t length) {
    return t->name_table[slot_of(t, name, length)];
}

uint32_t weft_node_number(const struct weft_node_info *node) {
    size_t n = strlen(node->name), digits = 0;
    while (digits < n && digits < NUMBER_DIGITS && isdigit((unsigned char)node->name[n - digits - 1]))
        digits++;
    return digits ? (uint32_t)strtoul(node->name + n - digits, NULL, 10) : WEFT_NONE;
}

uint32_t weft_topology_find_node(const struct weft_topology *t, const char *name) {
    return find_node(t, name, strlen(name));
}

const char *weft__topology_nearest_node(const struct weft_topology *t, const char *name, size_t length) {
    WEFT_FREED const char **names = weft_memory_new(WEFT_MEMORY_TOPOLOGY, t->nodes, sizeof *names);
    WEFT_FREED char *word = weft_memory_new(WEFT_MEMORY_TOPOLOGY, length + 1, 1);
    memcpy(word, name, length);
    for (uint32_t n = 0; n < t->nodes; n++)
        names[n] = t->node[n].name;
    return weft_error_nearest(word, names, t->nodes);
}

/// The first port of `from` whose link leads to `to`.
static uint32_t port_towards(const struct weft_topology *t, uint32_t from, uint32_t to) {
    if (from == WEFT_NONE || to == WEFT_NONE) return WEFT_NONE;
    for (uint32_t k = 0; k < t->node[from].ports; k++) {
        const struct weft_port_info *port = weft_topology_port(t, from, k);
        if (t->port[port->peer].node == to) return t->node[from].port0 + k;
    }
    return WEFT_NONE;
}

static uint32_t named_port(const struct weft_topology *t, uint32_t node, const char *name) {
    if (node == WEFT_NONE || !t->port_name) return WEFT_NONE;
    for (uint32_t p = t->node[node].port0, end = p + t->node[node].ports; p < end; p++)
        if (t->port_name[p] && !strcmp(t->port_name[p], name)) return p;
    return WEFT_NONE;
}

static uint32_t numbered_port(const struct weft_topology *t, uint32_t node, const char *digits) {
    char *end;
    if (node == WEFT_NONE || *digits < '0' || *digits > '9') return WEFT_NONE;
    unsigned long k = strtoul(digits, &end, 10);
    return *end || k >= t->node[node].ports ? WEFT_NONE : t->node[node].port0 + (uint32_t)k;
}

uint32_t weft_topology_find_port(const struct weft_topology *t, const char *name) {
    const char *mark = strstr(name, "->");
    if (mark) return port_towards(t, find_node(t, name, (size_t)(mark - name)), weft_topology_find_node(t, mark + 2));
    mark = strchr(name, '/');
    if (!mark) return WEFT_NONE;
    uint32_t node = find_node(t, name, (size_t)(mark - name)), port = named_port(t, node, mark + 1);
    return port == WEFT_NONE ? numbered_port(t, node, mark + 1) : port;
}

uint32_t weft_topology_find_link(const struct weft_topology *t, const char *name) {
    const char *mark = strstr(name, "--");
    uint32_t port =
        mark ? port_towards(t, find_node(t, name, (size_t)(mark - name)), weft_topology_find_node(t, mark + 2))
             : weft_topology_find_port(t, name);
    return port == WEFT_NONE ? WEFT_NONE : t->port[port].link;
}

int weft_topology_port_name(const struct weft_topology *t, uint32_t port, char *text, size_t size) {
    const struct weft_node_info *node = &t->node[t->port[port].node];
    if (t->port_name && t->port_name[port]) return snprintf(text, size, "%s/%s", node->name, t->port_name[port]);
    return snprintf(text, size, "%s/%u", node->name, port - node->port0);
}
