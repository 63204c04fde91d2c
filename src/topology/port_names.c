// SPDX-License-Identifier: Apache-2.0
// Names that the user gives to ports, for example the names of a switch's own interfaces: E1/24, Ethernet12/24.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "topology/builder.h"

enum { NAME_MAX = 31 };

void weft_topology_name_port(struct weft_topology_builder *b, uint32_t end, const char *name) {
    struct weft__port_name *n = weft_arena_alloc(b->arena, 1, sizeof *n);
    *n = (struct weft__port_name){b->port_name, weft_arena_text(b->arena, name), b->links - 1, end};
    b->port_name = n;
}

bool weft__topology_port_name_is_good(const char *name) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t n = strlen(name);
    if (!n || n > NAME_MAX || !strchr(letters, name[0]) || strstr(name, "--") || strstr(name, "..")) return false;
    return strspn(name + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:/") == n - 1;
}

struct named {
    uint32_t node;
    const struct weft__port_name *name;
};

/// Sorted by node, then name; equal ones in the order written.
WEFT__ORDER(by_node_and_name, struct named, WEFT__UP(node) ?: WEFT__TEXT(name->name) ?: WEFT__UP(name->link))

static enum weft_status check_unique(const struct weft_topology_builder *b, struct named *named, uint32_t n,
                                     struct weft_error *ret_error) {
    qsort(named, n, sizeof *named, by_node_and_name);
    for (uint32_t i = 1; i < n; i++)
        if (named[i].node == named[i - 1].node && !strcmp(named[i].name->name, named[i - 1].name->name)) {
            char first[48] = ""; // JSON has no lines
            int line = b->link[named[i - 1].name->link].place.line;
            if (line) snprintf(first, sizeof first, " (the first is on line %d)", line);
            return WEFT_REFUSE(ret_error, b->link[named[i].name->link].place, "a second port %s at %s%s",
                               named[i].name->name, b->node[named[i].node].name, first);
        }
    return WEFT_OK;
}

enum weft_status weft__topology_name_ports(struct weft_topology *t, const struct weft_topology_builder *b,
                                           struct weft_error *ret_error) {
    uint32_t names = 0, i = 0;
    for (const struct weft__port_name *n = b->port_name; n; n = n->next, names++)
        if (!weft__topology_port_name_is_good(n->name))
            return WEFT_REFUSE(ret_error, b->link[n->link].place,
                               "bad port name '%s'; expected up to %d letters, digits and _ - . : / beginning with "
                               "a letter, without '--' or '..'",
                               n->name, NAME_MAX);
    if (!names) return WEFT_OK;
    WEFT_FREED struct named *named = weft_memory_new(WEFT_MEMORY_TOPOLOGY, names, sizeof *named);
    t->port_name = weft_arena_alloc(t->arena, t->ports, sizeof *t->port_name);
    for (const struct weft__port_name *n = b->port_name; n; n = n->next) {
        named[i++] = (struct named){b->link[n->link].node[n->end], n};
        t->port_name[t->link[n->link].port[n->end]] = n->name;
    }
    return check_unique(b, named, names, ret_error);
}
