// SPDX-License-Identifier: Apache-2.0
// How evenly links between layers were used. Jain's index: R. Jain, D. Chiu, W. Hawe, "A quantitative measure of
// fairness and discrimination for resource allocation in shared computer systems", DEC TR-301, 1984.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "weft/report.h"

const char *const weft_balance_directions[] = {"up", "down", "across"};

static enum weft_balance_direction direction_of(const struct weft_node_info *from, const struct weft_node_info *to) {
    return to->tier > from->tier ? WEFT_BALANCE_UP : to->tier < from->tier ? WEFT_BALANCE_DOWN : WEFT_BALANCE_ACROSS;
}

struct sums {
    struct weft_balance *balance;
    double *squares;
    weft_bytes *most;
    uint32_t n, capacity;
    // of the switch at hand, by entry
    uint32_t *links;
    weft_bytes *bytes, *own_most;
};

static uint32_t entry_of(struct sums *s, const struct weft_node_info *from, const struct weft_node_info *to) {
    enum weft_balance_direction direction = direction_of(from, to);
    uint32_t i = 0;
    for (; i < s->n; i++) {
        const struct weft_balance *b = &s->balance[i];
        if (b->direction == direction && !strcmp(b->from, from->layer) && !strcmp(b->to, to->layer)) return i;
    }
    if (i == s->capacity) return WEFT_NONE;
    s->balance[s->n++] = (struct weft_balance){.from = from->layer, .to = to->layer, .direction = direction};
    return i;
}

/// Nothing if there was no run: claims are checked against an outcome without ports.
static weft_bytes sent(const struct weft_outcome *o, uint32_t port) {
    weft_bytes bytes = 0;
    for (unsigned p = 0; port < o->ports && p < WEFT_PRIORITIES; p++)
        bytes += o->port[(size_t)port * WEFT_PRIORITIES + p].tx_bytes;
    return bytes;
}

static void add_switch(struct sums *s, const struct weft_run *run, const struct weft_node_info *node) {
    const struct weft_topology *t = run->topology;
    memset(s->links, 0, s->capacity * sizeof *s->links);
    memset(s->bytes, 0, s->capacity * sizeof *s->bytes);
    memset(s->own_most, 0, s->capacity * sizeof *s->own_most);
    for (uint32_t port = node->port0; port < node->port0 + node->ports; port++) {
        const struct weft_node_info *peer = &t->node[t->port[t->port[port].peer].node];
        if (peer->role == WEFT_NODE_HOST) continue;
        uint32_t i = entry_of(s, node, peer);
        if (i == WEFT_NONE) continue;
        weft_bytes bytes = sent(run->outcome, port);
        struct weft_balance *b = &s->balance[i];
        b->links++;
        b->idle += !bytes;
        b->bytes += bytes;
        s->squares[i] += (double)bytes * (double)bytes;
        if (bytes > s->most[i]) s->most[i] = bytes;
        s->links[i]++;
        s->bytes[i] += bytes;
        if (bytes > s->own_most[i]) s->own_most[i] = bytes;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->links[i] < 2 || !s->bytes[i]) continue;
        double ratio = (double)s->own_most[i] * s->links[i] / (double)s->bytes[i];
        if (!(s->balance[i].switch_max_mean >= ratio)) s->balance[i].switch_max_mean = ratio;
    }
}

static int by_direction(const void *a, const void *b) {
    const struct weft_balance *x = a, *y = b;
    return (x->direction > y->direction) - (x->direction < y->direction);
}

struct weft_balance *weft_report_balance(const struct weft_run *run, struct weft_arena *arena, uint32_t *ret_n) {
    enum { ENTRIES_MAX = 64 }; // pairs of layers; layers of a list of links may have any names
    struct sums s = {.capacity = ENTRIES_MAX};
    s.balance = weft_arena_alloc(arena, s.capacity, sizeof *s.balance);
    s.squares = weft_arena_alloc(arena, s.capacity, sizeof *s.squares);
    s.most = weft_arena_alloc(arena, s.capacity, sizeof *s.most);
    s.links = weft_arena_alloc(arena, s.capacity, sizeof *s.links);
    s.bytes = weft_arena_alloc(arena, s.capacity, sizeof *s.bytes);
    s.own_most = weft_arena_alloc(arena, s.capacity, sizeof *s.own_most);
    for (uint32_t i = 0; i < run->topology->switches; i++)
        add_switch(&s, run, &run->topology->node[run->topology->switch_node[i]]);
    for (uint32_t i = 0; i < s.n; i++) {
        struct weft_balance *b = &s.balance[i];
        double n = b->links, sum = (double)b->bytes;
        b->max_mean = b->bytes ? (double)s.most[i] * n / sum : NAN;
        b->jain = b->bytes ? sum * sum / (n * s.squares[i]) : NAN;
        if (b->switch_max_mean <= 0) b->switch_max_mean = NAN;
        b->key = weft_arena_format(arena, "%s-%s%s%s", b->from, b->to, strcmp(b->from, b->to) ? "" : "-",
                                   strcmp(b->from, b->to) ? "" : weft_balance_directions[b->direction]);
    }
    qsort(s.balance, s.n, sizeof *s.balance, by_direction);
    *ret_n = s.n;
    return s.balance;
}
