// SPDX-License-Identifier: Apache-2.0
// How evenly links between layers were used. Jain's index: R. Jain, D. Chiu, W. Hawe, "A quantitative measure of
// fairness and discrimination for resource allocation in shared computer systems", DEC TR-301, 1984.
#include <math.h>
#include <string.h>

#include "layers.h"

struct sums {
    const struct weft__layers *layers;
    struct weft_balance *balance;
    double *squares;
    weft_bytes *most, *least;
    // of the current switch, by entry
    uint32_t *links;
    weft_bytes *bytes, *own_most;
};

/// Nothing without a run: claims are checked against an outcome without ports.
static weft_bytes sent_bytes(const struct weft_outcome *o, uint32_t port) {
    weft_bytes bytes = 0;
    for (unsigned p = 0; port < o->ports && p < WEFT_PRIORITIES; p++)
        bytes += weft_outcome_at(o, port, p)->tx_bytes;
    return bytes;
}

static void add_switch(struct sums *s, const struct weft_run *run, const struct weft_node_info *node) {
    uint32_t n = s->layers->n;
    if (!n) return;
    memset(s->links, 0, n * sizeof *s->links);
    memset(s->bytes, 0, n * sizeof *s->bytes);
    memset(s->own_most, 0, n * sizeof *s->own_most);
    for (uint32_t port = node->port0; port < node->port0 + node->ports; port++) {
        uint32_t i = s->layers->of_port[port];
        if (i == WEFT_NONE) continue;
        weft_bytes bytes = sent_bytes(run->outcome, port);
        struct weft_balance *b = &s->balance[i];
        b->idle += !bytes;
        b->bytes += bytes;
        s->squares[i] += (double)bytes * (double)bytes;
        if (bytes > s->most[i]) s->most[i] = bytes;
        if (bytes < s->least[i]) s->least[i] = bytes;
        s->links[i]++;
        s->bytes[i] += bytes;
        if (bytes > s->own_most[i]) s->own_most[i] = bytes;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (s->links[i] < 2 || !s->bytes[i]) continue;
        double ratio = (double)s->own_most[i] * s->links[i] / (double)s->bytes[i];
        if (!(s->balance[i].switch_max_mean >= ratio)) s->balance[i].switch_max_mean = ratio;
    }
}

struct weft_balance *weft_report_balance(const struct weft_run *run, struct weft_arena *arena, uint32_t *ret_n) {
    struct weft__layers layers = weft__report_layers(run->topology, arena);
    struct sums s = {.layers = &layers};
    s.balance = weft_arena_alloc(arena, layers.n, sizeof *s.balance);
    s.squares = weft_arena_alloc(arena, layers.n, sizeof *s.squares);
    s.most = weft_arena_alloc(arena, layers.n, sizeof *s.most);
    s.least = weft_arena_alloc(arena, layers.n, sizeof *s.least);
    for (uint32_t i = 0; i < layers.n; i++)
        s.least[i] = UINT64_MAX;
    s.links = weft_arena_alloc(arena, layers.n, sizeof *s.links);
    s.bytes = weft_arena_alloc(arena, layers.n, sizeof *s.bytes);
    s.own_most = weft_arena_alloc(arena, layers.n, sizeof *s.own_most);
    for (uint32_t i = 0; i < run->topology->switches; i++)
        add_switch(&s, run, &run->topology->node[run->topology->switch_node[i]]);
    for (uint32_t i = 0; i < layers.n; i++) {
        const struct weft__layer_pair *pair = &layers.pair[i];
        struct weft_balance *b = &s.balance[i];
        b->key = pair->key;
        b->from = pair->from;
        b->to = pair->to;
        b->direction = pair->direction;
        b->links = pair->links;
        double n = b->links, sum = (double)b->bytes;
        b->max_mean = b->bytes ? (double)s.most[i] * n / sum : NAN;
        b->min_mean = b->bytes ? (double)s.least[i] * n / sum : NAN;
        b->jain = b->bytes ? sum * sum / (n * s.squares[i]) : NAN;
        if (b->switch_max_mean <= 0) b->switch_max_mean = NAN;
    }
    *ret_n = layers.n;
    return s.balance;
}
