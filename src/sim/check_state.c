// SPDX-License-Identifier: Apache-2.0
#include "sim/check_state.h"

#include <stdio.h>
#include <stdlib.h>

#include "box/box.h"
#include "weft/memory.h"

bool weft__state_is_checked(void) {
#ifdef WEFT_CHECKED
    return true;
#else
    return getenv("WEFT_CHECK") != NULL;
#endif
}

/// Ends the process like a failed assert if the check has found something.
static void expect_unbroken(const struct weft__check *c, weft_time_ps now) {
    if (__builtin_expect(!weft__check_is_broken(c), 1)) return;
    fprintf(stderr, "a bug of weft: at %llu ps: %s\n", (unsigned long long)now, c->text);
    abort();
}

void weft__check_node(void *context, uint32_t node, weft_time_ps until) {
    const struct weft__network *net = &((const struct weft__run *)context)->net;
    if (node >= net->topology->nodes) return; // a node that boxes share has no state of its own to check
    struct weft__check c = weft__check_of(net->topology->node[node].name);
    const struct weft__box *box = weft__box_of(&net->topology->node[node]);
    box->check_state(net, node, until, &c);
    expect_unbroken(&c, until);
}

struct flight {
    const struct weft__network *net;
    struct weft__credit_sums sums;
};

static void add_flying(void *context, const struct weft_packet *p) {
    struct flight *f = context;
    if (p->node >= f->net->topology->nodes) return;
    const struct weft__box *box = weft__box_of(&f->net->topology->node[p->node]);
    if (box->add_credit) box->add_credit(f->net, p->node, p, &f->sums);
}

void weft__check_end(const struct weft__network *net, weft_time_ps now) {
    const struct weft_topology *t = net->topology;
    size_t n = (size_t)t->ports * WEFT__CREDIT_CLASSES;
    WEFT_SCRATCH(arena, WEFT_MEMORY_SWITCH);
    struct flight f = {.net = net};
    f.sums.granted = weft_arena_alloc(arena, n, sizeof *f.sums.granted);
    f.sums.found = weft_arena_alloc(arena, n, sizeof *f.sums.found);
    f.sums.unknown = weft_arena_alloc(arena, t->ports, sizeof *f.sums.unknown);
    for (uint32_t node = 0; node < t->nodes; node++) {
        const struct weft__box *box = weft__box_of(&t->node[node]);
        if (box->add_credit && net->engine.node[node].state) box->add_credit(net, node, NULL, &f.sums);
    }
    weft__engine_each_flying(&net->engine, add_flying, &f);
    for (uint32_t port = 0; port < t->ports; port++)
        for (uint32_t class = 0; class < WEFT__CREDIT_CLASSES && !f.sums.unknown[port]; class ++) {
            uint32_t i = weft__credit_at(port, class);
            struct weft__check c = weft__check_of(t->node[t->port[port].node].name);
            weft__check_at(&c, port - t->node[t->port[port].node].port0, class);
            if (f.sums.granted[i])
                weft__check_equal(&c, "credit of the link found at both ends and on it", f.sums.found[i],
                                  "credit granted", f.sums.granted[i]);
            expect_unbroken(&c, now);
        }
}
