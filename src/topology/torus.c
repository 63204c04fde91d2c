// SPDX-License-Identifier: Apache-2.0
// A torus of chips: in each dimension a chip has a link to the next one and to the one before, round a ring. A chip is
// a router with one host behind a link of its own. A twisted torus has n x n x 2n or n x 2n x 2n chips: the wrap of
// each short dimension also moves by n along each long one, which makes all links equal and paths shorter. Sources:
// N. P. Jouppi et al., "TPU v4: An Optically Reconfigurable Supercomputer for Machine Learning with Hardware Support
// for Embeddings", ISCA 2023 (3D tori, 6 links of 50 GB/s a chip, twisted tori); C. Camarero, C. Martinez, R. Beivide,
// "Lattice Graphs for High-Scale Interconnection Topologies", IEEE TPDS 2015 (the twist: the lattices FCC and BCC).
// Differs: routes are all shortest paths, from which switch.route chooses; nothing in the router is a virtual channel,
// so a torus whose links pause can deadlock (docs/torus.md).
#include <stdio.h>
#include <stdlib.h>

#include "base/order.h"
#include "topology/builder.h"
#include "topology/torus.h"
#include "weft/param.h"

struct torus_conf {
    const char *size;
    bool twist;
    weft_rate_bps rate_bps, host_rate_bps;
    weft_time_ps delay_ps, host_delay_ps;
    double bit_error_rate;
};

#define T struct torus_conf

const char *weft__torus_read(const char *size, bool twist, struct weft__torus *t, char *text, size_t room) {
    *t = (struct weft__torus){.chips = 1};
    const char *at = size;
    char *end = (char *)at;
    for (bool more = true; more; at = end + 1) {
        unsigned long n = *at >= '0' && *at <= '9' ? strtoul(at, &end, 10) : 0;
        more = *end == 'x';
        if (n < 2 || n > 4096 || (*end && !more) || t->dimensions == WEFT__TORUS_DIMENSIONS)
            return WEFT_SAY(text, room,
                            "size is '%.40s'; expected 2 to %d numbers from 2 to 4096, such as 16x16 or 4x4x8", size,
                            WEFT__TORUS_DIMENSIONS);
        t->size[t->dimensions++] = (uint32_t)n;
        t->chips = weft__times(t->chips, n);
    }
    uint32_t least = t->size[0], wide = 0;
    for (uint32_t i = 1; i < t->dimensions; i++)
        if (t->size[i] < least) least = t->size[i];
    for (uint32_t i = 0; i < t->dimensions; i++)
        wide += t->size[i] == 2 * least ? 1 : t->size[i] == least ? 0 : 3;
    t->turn = twist ? least : 0;
    if (t->dimensions > 1 && (!twist || (t->dimensions == 3 && least > 2 && (wide == 1 || wide == 2)))) return NULL;
    if (twist)
        snprintf(text, room, "twist of a torus of '%.40s'; expected n x n x 2n or n x 2n x 2n, and n of 3 or more",
                 size);
    else
        snprintf(text, room, "size is '%.40s', one dimension; expected 2 to %d", size, WEFT__TORUS_DIMENSIONS);
    return text;
}

uint64_t weft__torus_links(const struct weft__torus *t) {
    return weft__times(t->chips, t->dimensions);
}

static const char *torus_check(const void *conf, char *text, size_t size) {
    const T *c = conf;
    struct weft__torus t;
    const char *bad = weft__torus_read(c->size, c->twist, &t, text, size);
    return bad ? bad : weft__check_own_rate("host_rate", c->host_rate_bps, text, size);
}

static const struct weft_param_table torus_params = WEFT_PARAM_TABLE_OF(
    "torus", T, WEFT_PARAM_AND(.check = torus_check, .lists = weft__topology_lists),
    WEFT_TEXT(T, size, "size", "4x4x4", "chips in each dimension, 2 to 4 of them: 16x16, 4x4x8"),
    WEFT_BOOL(T, twist, "twist", "off", "a twisted torus: n x n x 2n or n x 2n x 2n"),
    WEFT_RATE(T, rate_bps, "rate", "400Gbps", "10Mbps", "100Tbps", "rate of a link between chips (TPU v4: 50 GB/s)"),
    WEFT_TIME(T, delay_ps, "delay", "150ns", "1ps", "1s", "propagation delay of every link, one way"),
    WEFT_REAL(T, bit_error_rate, "bit_error_rate", "0", "0", "0.1", "bit error rate of every link, after FEC"),
    WEFT_RATE(T, host_rate_bps, "host_rate", "0bps", "0bps", "100Tbps",
              "rate between a chip's memory and its router; 0bps: that of all its links together"),
    WEFT_TIME(T, host_delay_ps, "host_delay", "0s", "0s", "1s", "delay of the same; 0s: as delay"));

/// The chip after the one at `at`, in a dimension; the last dimension counts fastest.
static uint64_t next_chip(const struct weft__torus *t, const uint32_t *at, uint32_t dimension) {
    uint64_t chip = 0;
    bool wraps = at[dimension] + 1 == t->size[dimension];
    bool turns = wraps && t->turn && t->size[dimension] == t->turn;
    for (uint32_t i = 0; i < t->dimensions; i++) {
        uint32_t x = i == dimension ? at[i] + 1 : turns && t->size[i] != t->turn ? at[i] + t->turn : at[i];
        chip = chip * t->size[i] + x % t->size[i];
    }
    return chip;
}

static enum weft_status torus_build(const void *conf, const struct weft_tree *tree, struct weft_topology_builder *b,
                                    struct weft_error *ret_error) {
    const T *c = conf;
    struct weft__torus t;
    char text[128];
    weft__torus_read(c->size, c->twist, &t, text, sizeof text);
    enum weft_status status =
        weft__topology_check_size(b, weft__times(t.chips, 2), weft__plus(t.chips, weft__torus_links(&t)), ret_error);
    if (!status && t.chips > WEFT__EDGES_MAX)
        status = WEFT_REFUSE(ret_error, b->place, "the torus would have %llu chips; at most %u are supported",
                             (unsigned long long)t.chips, WEFT__EDGES_MAX);
    if (status) return status;
    struct weft__line line = {c->rate_bps, c->delay_ps, c->bit_error_rate};
    weft_rate_bps all = weft__times(c->rate_bps, 2 * t.dimensions);
    struct weft__line host = {c->host_rate_bps ? c->host_rate_bps : weft__lesser(all, WEFT__RATE_MAX),
                              c->host_delay_ps ? c->host_delay_ps : c->delay_ps, c->bit_error_rate};
    uint32_t first = b->nodes;
    for (uint64_t i = 0; i < t.chips; i++) {
        weft__topology_add_numbered(b, WEFT_NODE_SWITCH, "chip", 1, WEFT_NONE, i);
        weft__topology_add_numbered(b, WEFT_NODE_HOST, "host", 0, WEFT_NONE, i);
        weft__topology_connect(b, first + 2 * (uint32_t)i, first + 2 * (uint32_t)i + 1, host);
    }
    uint32_t at[WEFT__TORUS_DIMENSIONS] = {0};
    for (uint64_t i = 0; i < t.chips; i++) {
        for (uint32_t d = 0; d < t.dimensions; d++)
            weft__topology_connect(b, first + 2 * (uint32_t)i, first + 2 * (uint32_t)next_chip(&t, at, d), line);
        for (uint32_t d = t.dimensions; d-- && ++at[d] == t.size[d];)
            at[d] = 0;
    }
    return WEFT_OK;
}

const struct weft_model weft__topology_torus =
    WEFT_MODEL_OF(TOPOLOGY, "torus", "a torus of chips in 2 to 4 dimensions, also twisted; by default 64",
                  "Jouppi et al., TPU v4, ISCA 2023; Camarero, Martinez, Beivide, IEEE TPDS 2015 (twisted)",
                  &torus_params, &(const struct weft_topology_ops){.build = torus_build});
