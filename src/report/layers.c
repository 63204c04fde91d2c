// SPDX-License-Identifier: Apache-2.0
#include "layers.h"

#include <string.h>

enum { PAIRS_MAX = 64 };

const char *const weft_balance_directions[] = {"up", "down", "across", "local", "global"};

static enum weft_balance_direction direction_of(const struct weft_node_info *from, const struct weft_node_info *to) {
    if (weft_node_is_flat(from) && weft_node_is_flat(to))
        return from->cluster == to->cluster ? WEFT_BALANCE_LOCAL : WEFT_BALANCE_GLOBAL;
    return to->tier > from->tier ? WEFT_BALANCE_UP : to->tier < from->tier ? WEFT_BALANCE_DOWN : WEFT_BALANCE_ACROSS;
}

static uint32_t pair_of(struct weft__layers *l, const struct weft_node_info *from, const struct weft_node_info *to) {
    enum weft_balance_direction direction = direction_of(from, to);
    uint32_t i = 0;
    for (; i < l->n; i++) {
        const struct weft__layer_pair *p = &l->pair[i];
        if (p->direction == direction && !strcmp(p->from, from->layer) && !strcmp(p->to, to->layer)) return i;
    }
    if (i == PAIRS_MAX) return WEFT_NONE;
    l->pair[l->n++] = (struct weft__layer_pair){.from = from->layer, .to = to->layer, .direction = direction};
    return i;
}

static const char *key_of(const struct weft__layer_pair *p, struct weft_arena *arena) {
    bool same = !strcmp(p->from, p->to);
    return weft_arena_format(arena, "%s-%s%s%s", p->from, p->to, same ? "-" : "",
                             same ? weft_balance_directions[p->direction] : "");
}

/// Upwards first; within a direction in order of first appearance.
static void sort_pairs(struct weft__layers *l, uint32_t ports) {
    struct weft__layer_pair sorted[PAIRS_MAX];
    uint32_t to[PAIRS_MAX], n = 0;
    for (unsigned d = WEFT_BALANCE_UP; d <= WEFT_BALANCE_GLOBAL; d++)
        for (uint32_t i = 0; i < l->n; i++)
            if (l->pair[i].direction == d) {
                to[i] = n;
                sorted[n++] = l->pair[i];
            }
    if (l->n) memcpy(l->pair, sorted, l->n * sizeof *sorted);
    for (uint32_t i = 0; i < ports; i++)
        if (l->of_port[i] != WEFT_NONE) l->of_port[i] = to[l->of_port[i]];
}

struct weft__layers weft__report_layers(const struct weft_topology *t, struct weft_arena *arena) {
    struct weft__layers l = {0};
    l.pair = weft_arena_alloc(arena, PAIRS_MAX, sizeof *l.pair);
    l.of_port = weft_arena_alloc(arena, t->ports, sizeof *l.of_port);
    for (uint32_t i = 0; i < t->ports; i++) {
        const struct weft_node_info *node = &t->node[t->port[i].node];
        const struct weft_node_info *peer = &t->node[t->port[t->port[i].peer].node];
        bool between = node->role == WEFT_NODE_SWITCH && peer->role == WEFT_NODE_SWITCH;
        l.of_port[i] = between ? pair_of(&l, node, peer) : WEFT_NONE;
        if (l.of_port[i] != WEFT_NONE) l.pair[l.of_port[i]].links++;
    }
    sort_pairs(&l, t->ports);
    for (uint32_t i = 0; i < l.n; i++)
        l.pair[i].key = key_of(&l.pair[i], arena);
    return l;
}
