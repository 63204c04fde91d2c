// SPDX-License-Identifier: Apache-2.0
// No deadlock among cells of a dragonfly: a set of channels (link, VC) cannot wait for itself if the dependencies
// between channels have no cycle (Dally and Seitz, IEEE Transactions on Computers 1987). The dependencies are those of
// the tables that TiNs use: every path of every cell is followed, over all sources and destinations. They are collected
// over tables of many states of the links, since TiNs are reprogrammed one after the other: no mix of these has a
// cycle.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <setjmp.h>

#include <cmocka.h>

#include "gnet_tables.h"
#include "weft/random.h"

enum { VCS = WEFT_GNET_ROUTING_VCS + WEFT_GNET_ESCAPE_VCS, HOPS_MAX = 8 };

/// Channels of a Clique by where they end: (tin * 64 + port) * VCS + vc.
struct channels {
    const struct tables *x;
    uint32_t n;
    uint32_t *far;   ///< [tin * 64 + port] the port at the other end
    uint64_t *turns; ///< [n] ports that cells leave by which came on a channel, and on which VC:
    uint8_t *colour; ///< [n]
    uint8_t *hops;   ///< [n] to the destination at hand at most, 0: not yet known
    uint32_t *seen, seen_n;
    bool minimal;
};

static struct channels channels_new(const struct tables *x) {
    struct channels c = {.x = x, .n = x->f->tins * 64 * VCS};
    c.far = calloc(x->f->tins * 64, sizeof *c.far);
    c.turns = calloc(2 * c.n, sizeof *c.turns); // ports left by on a routing VC, and on an escape VC
    c.colour = calloc(c.n, 1);
    c.hops = calloc(c.n, 1);
    c.seen = calloc(c.n, sizeof *c.seen);
    struct weft_dragonflies *d = weft_dragonflies_new(x->b.t, x->b.arena);
    for (uint32_t i = 0; i < x->f->tins; i++)
        for (uint64_t ports = x->f->tin[i].local | x->f->tin[i].global; ports; ports &= ports - 1) {
            uint32_t k = (uint32_t)__builtin_ctzll(ports);
            uint32_t peer = weft_topology_port(x->b.t, x->f->tin[i].node, k)->peer, node = x->b.t->port[peer].node;
            c.far[i * 64 + k] = d->tin_of_node[node] * 64u + (peer - x->b.t->node[node].port0);
        }
    return c;
}

static void channels_free(struct channels *c) {
    free(c->far);
    free(c->turns);
    free(c->colour);
    free(c->hops);
    free(c->seen);
}

/// Follows every path onwards from a channel to `dst`; returns the most hops left; checks that every TiN on the path
/// has somewhere to go.
static uint32_t follow(struct channels *c, const struct weft_gnet_routes *r, uint32_t end, uint32_t vc, uint32_t dst,
                       uint32_t depth) {
    uint32_t tin = end / 64, port = end % 64, channel = end * VCS + vc, most = 0;
    if (tin == dst) return 0;
    if (c->hops[channel]) return c->hops[channel];
    assert_true(depth < HOPS_MAX);
    const struct weft_tin *at = &r->f->tin[tin];
    const struct weft_gnet_set *set = weft_gnet_at(r, tin, at->input[port], vc, dst);
    uint64_t ports = (set->minimal | (c->minimal ? 0 : set->nonminimal)) & ~at->back[port];
    uint32_t next = weft_gnet_next_vc(at->input[port], vc);
    if (!ports || next >= WEFT_GNET_ROUTING_VCS) fail_msg("TiN %u, port %u, VC %u: no way to %u", tin, port, vc, dst);
    c->turns[channel] |= ports;
    for (; ports; ports &= ports - 1) {
        uint32_t left = follow(c, r, c->far[tin * 64 + (uint32_t)__builtin_ctzll(ports)], next, dst, depth + 1);
        if (left > most) most = left;
    }
    c->hops[channel] = (uint8_t)(most + 1);
    c->seen[c->seen_n++] = channel;
    return most + 1;
}

/// All paths from every TiN to `dst`: the most hops. Sources that cannot reach it are counted.
static uint32_t follow_all(struct channels *c, const struct weft_gnet_routes *r, uint32_t dst, uint32_t *unreachable) {
    uint32_t most = 0;
    for (uint32_t src = 0; src < r->f->tins; src++) {
        if (src == dst) continue;
        const struct weft_gnet_set *set = weft_gnet_at(r, src, WEFT_GNET_TERMINAL, 0, dst);
        if (!set->minimal) assert_false(set->nonminimal);
        if (!set->minimal) ++*unreachable;
        uint64_t ports = set->minimal | (c->minimal ? 0 : set->nonminimal);
        for (; ports; ports &= ports - 1) {
            uint32_t hops = 1 + follow(c, r, c->far[src * 64 + (uint32_t)__builtin_ctzll(ports)], 0, dst, 1);
            if (hops > most) most = hops;
        }
    }
    while (c->seen_n)
        c->hops[c->seen[--c->seen_n]] = 0;
    return most;
}

/// Escape paths from every TiN. Any routing VC may lead into them, and none of them leads back, so only their own
/// dependencies need checking.
static void note_escapes(struct channels *c, const struct weft_gnet_routes *r, uint32_t tin, uint32_t dst) {
    for (uint32_t row = 0; row < 4; row++) {
        uint32_t phase = row % 2;
        const struct weft_gnet_escape *e = weft_gnet_escape_at(r, tin, phase, row / 2, dst);
        if (phase) assert_false(e->up);
        for (uint64_t in = r->f->tin[tin].local | r->f->tin[tin].global; in; in &= in - 1) {
            uint32_t channel = (tin * 64 + (uint32_t)__builtin_ctzll(in)) * VCS + WEFT_GNET_ROUTING_VCS;
            if (!phase) c->turns[channel] |= e->up;
            c->turns[c->n + channel + phase] |= e->down;
        }
    }
}

static bool finds_cycle(struct channels *c, uint32_t channel);

static bool finds_cycle_by(struct channels *c, uint32_t tin, uint64_t ports, uint32_t vc) {
    for (; ports; ports &= ports - 1) {
        uint32_t next = c->far[tin * 64 + (uint32_t)__builtin_ctzll(ports)] * VCS + vc;
        if (c->colour[next] == 1 || (!c->colour[next] && finds_cycle(c, next))) return true;
    }
    return false;
}

static bool finds_cycle(struct channels *c, uint32_t channel) {
    uint32_t tin = channel / VCS / 64, port = channel / VCS % 64, vc = channel % VCS;
    c->colour[channel] = 1;
    bool found;
    if (vc < WEFT_GNET_ROUTING_VCS) {
        uint32_t next = weft_gnet_next_vc(c->x->f->tin[tin].input[port], vc);
        found = finds_cycle_by(c, tin, c->turns[channel], next);
    } else {
        found = finds_cycle_by(c, tin, c->turns[channel], WEFT_GNET_ROUTING_VCS) ||
                finds_cycle_by(c, tin, c->turns[c->n + channel], WEFT_GNET_ROUTING_VCS + 1);
    }
    c->colour[channel] = 2;
    return found;
}

static void check_acyclic(struct channels *c) {
    memset(c->colour, 0, c->n);
    for (uint32_t i = 0; i < c->n; i++)
        if (!c->colour[i] && finds_cycle(c, i)) fail_msg("channel %u waits for itself", i);
}

static void random_failures(struct weft_random *random, const struct weft_topology *t, double share, bool *down) {
    for (uint32_t l = 0; l < t->links; l++)
        down[l] = weft_topology_link_is_fabric(t, l) && weft_random_unit(random) < share;
}

/// The whole Clique, every source and destination, all paths; then only minimal ones, which have their own paths.
static void full_clique(void **state) {
    (void)state;
    struct tables x = tables_new("", "", NULL, NULL);
    struct channels c = channels_new(&x);
    uint32_t unreachable = 0, most = 0;
    for (uint32_t dst = 0; dst < x.f->tins; dst++) {
        uint32_t hops = follow_all(&c, x.r, dst, &unreachable);
        if (hops > most) most = hops;
        for (uint32_t tin = 0; tin < x.f->tins; tin++)
            note_escapes(&c, x.r, tin, dst);
    }
    assert_int_equal(unreachable, 0);
    assert_int_equal(most, HOPS_MAX); // ll g ll g ll
    check_acyclic(&c);
    c.minimal = true;
    most = 0;
    for (uint32_t dst = 0; dst < x.f->tins; dst += 5) {
        uint32_t hops = follow_all(&c, x.r, dst, &unreachable);
        if (hops > most) most = hops;
    }
    assert_int_equal(most, 3); // l g l
    channels_free(&c);
    tables_free(&x);
}

/// The whole Clique with one link in 20 down: everything is still reached, in both kinds of modes.
static void damaged_clique(void **state) {
    (void)state;
    struct tables x = tables_new("", "", NULL, NULL);
    struct channels c = channels_new(&x);
    bool *down = calloc(x.b.t->links, sizeof *down);
    for (uint32_t seed = 0; seed < 3; seed++) {
        struct weft_random random = weft_random_stream(seed, 0, WEFT_RANDOM_TEST);
        random_failures(&random, x.b.t, 0.05, down);
        struct weft_gnet_routes *r = weft_gnet_routes_new(x.b.t, x.f, &x.conf, down);
        uint32_t unreachable = 0;
        for (uint32_t dst = seed; dst < x.f->tins; dst += 24) {
            c.minimal = dst % 2;
            follow_all(&c, r, dst, &unreachable);
            for (uint32_t tin = 0; tin < x.f->tins; tin++)
                note_escapes(&c, r, tin, dst);
        }
        assert_int_equal(unreachable, 0);
        weft_gnet_routes_free(r);
    }
    check_acyclic(&c);
    free(down);
    channels_free(&c);
    tables_free(&x);
}

// --- the rules, written down a second time ------------------------------------------------------------------------

/// A cell somewhere: pods entered, local hops in this one, and where it was before.
struct rules {
    const struct tables *x;
    const struct weft_gnet_routes *r;
    const bool *down;
    uint32_t dst;
    bool home; ///< a cell for its own pod may leave it
};

static bool is_allowed(const struct rules *u, uint32_t before, uint32_t at, uint32_t next) {
    const struct weft_tin *tin = u->x->f->tin;
    if (before == next) return false;
    return weft_gnet_turns[u->x->conf.turns].after[weft_gnet_hop(tin[before].place, tin[at].place)] >>
               weft_gnet_hop(tin[at].place, tin[next].place) &
           1;
}

static bool reaches(const struct rules *u, uint32_t at, uint32_t before, uint32_t pods, uint32_t locals) {
    const struct weft_tin *tin = &u->x->f->tin[at];
    uint32_t goal = u->x->f->tin[u->dst].pod;
    if (at == u->dst) return true;
    bool there = tin->pod == goal && !(pods == 0 && u->home);
    for (uint64_t ports = tin->local | tin->global; ports; ports &= ports - 1) {
        uint32_t k = (uint32_t)__builtin_ctzll(ports), next = tin->peer[k], pod = u->x->f->tin[next].pod;
        if (u->down[weft_topology_port(u->x->b.t, tin->node, k)->link]) continue;
        if (pod == tin->pod) {
            if (locals == 2 || (locals && !is_allowed(u, before, at, next))) continue;
            if (u->home && pods == 0 && locals) continue;
            if (reaches(u, next, at, pods, locals + 1)) return true;
        } else {
            if (there || (pods == 1 && pod != goal) || pods == 2) continue;
            if (pods == 0 && locals == 2 && pod != goal) continue;
            if (reaches(u, next, at, pods + 1, 0)) return true;
        }
    }
    return false;
}

static bool is_reachable(struct rules *u, uint32_t src) {
    u->home = false;
    if (reaches(u, src, src, 0, 0)) return true;
    u->home = u->x->f->tin[src].pod == u->x->f->tin[u->dst].pod;
    return u->home && reaches(u, src, src, 0, 0);
}

/// Small dragonflies with many links down, many times: the tables reach what the rules allow, no more and no less, and
/// all these tables together have no cycle. How many pairs are out of reach.
static uint32_t check_small(const char *keys, const char *gnet_keys, double share, uint32_t seeds) {
    struct tables x = tables_new(keys, gnet_keys, NULL, NULL);
    struct channels c = channels_new(&x);
    bool *down = calloc(x.b.t->links, sizeof *down);
    uint32_t unreachable = 0, expected = 0;
    for (uint32_t seed = 0; seed < seeds; seed++) {
        struct weft_random random = weft_random_stream(seed, 1, WEFT_RANDOM_TEST);
        random_failures(&random, x.b.t, share * (double)seed / seeds, down);
        struct weft_gnet_routes *r = weft_gnet_routes_new(x.b.t, x.f, &x.conf, down);
        c.minimal = seed % 2;
        for (uint32_t dst = 0; dst < x.f->tins; dst++) {
            struct rules u = {&x, r, down, dst, false};
            follow_all(&c, r, dst, &unreachable);
            for (uint32_t tin = 0; tin < x.f->tins; tin++) {
                note_escapes(&c, r, tin, dst);
                bool is_there = tin == dst || weft_gnet_at(r, tin, WEFT_GNET_TERMINAL, 0, dst)->minimal;
                bool can_be = is_reachable(&u, tin);
                if (is_there != can_be)
                    fail_msg("{%s} seed %u: %u to %u: table %d, rules %d", keys, seed, tin, dst, is_there, can_be);
                expected += !can_be;
            }
        }
        weft_gnet_routes_free(r);
    }
    assert_int_equal(unreachable, expected);
    check_acyclic(&c);
    free(down);
    channels_free(&c);
    tables_free(&x);
    return expected;
}

static void small_dragonflies(void **state) {
    (void)state;
    static const char *const shape[] = {
        "pods: 9, tins: 4, local_parallel: 1, global_parallel: 1, global_ports: 2",
        "pods: 5, tins: 4, global_parallel: 2",
        "pods: 3, tins: 6, global_parallel: 4, local_parallel: 1",
        "pods: 4, tins: 5, local_parallel: 1, global_parallel: 3",
        "pods: 1, tins: 8",
        "pods: 6, tins: 1, global_parallel: 1",
        "pods: 2, tins: 12, global_parallel: 7",
    };
    uint32_t unreachable = 0;
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++) {
        unreachable += check_small(shape[i], "", 0.6, 24);
        check_small(shape[i], "turns: fogsim", 0.3, 12);
        check_small(shape[i], "minimal_candidates: 1, nonminimal_candidates: 2", 0.3, 12);
    }
    assert_true(unreachable > 0); // the test sees what is out of reach
}

static uint32_t port_to(const struct tables *x, uint32_t from, uint32_t to) {
    uint32_t port = 0;
    while (x->f->tin[from].peer[port] != to)
        port++;
    return port;
}

/// The check would see a cycle: of TiNs 0, 1 and 2 each passes on to the next what comes from the one before.
static void sees_a_cycle(void **state) {
    (void)state;
    struct tables x = tables_new("pods: 1, tins: 4", "", NULL, NULL);
    struct channels c = channels_new(&x);
    for (uint32_t tin = 0; tin < 3; tin++) {
        assert_false(finds_cycle(&c, (0 * 64 + port_to(&x, 0, 2)) * VCS));
        memset(c.colour, 0, c.n);
        c.turns[(tin * 64 + port_to(&x, tin, (tin + 2) % 3)) * VCS] = UINT64_C(1) << port_to(&x, tin, (tin + 1) % 3);
    }
    assert_int_equal(c.far[port_to(&x, 0, 1)], 64 + port_to(&x, 1, 0));
    assert_true(finds_cycle(&c, (0 * 64 + port_to(&x, 0, 2)) * VCS));
    channels_free(&c);
    tables_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_clique),
        cmocka_unit_test(damaged_clique),
        cmocka_unit_test(small_dragonflies),
        cmocka_unit_test(sees_a_cycle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
