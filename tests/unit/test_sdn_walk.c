// SPDX-License-Identifier: Apache-2.0
// Incremental knowledge of paths through tables: after any change of an entry, a group or a port it equals the result
// of a plain search, which begins with nothing and adds states whose candidates all arrive until there are no more.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "arena.h"
#include "clique.h"
#include "control/clique/sdn_run.h"

enum { VCS = WEFT__SDN_VCS, FAULTS = 8 };

static bool arrives(const struct weft_sdn *s, const uint64_t *up, const bool *known, uint32_t x, uint32_t row,
                    uint32_t dst) {
    uint32_t slot = row / VCS, group = weft__sdn_lookup(&s->tables, x, row, dst);
    if (!group || !s->present[x][group]) return false;
    struct weft_gnet_set set = s->groups.tin[x].set[group];
    uint64_t ports = (set.minimal | set.nonminimal) & up[x];
    if (slot) ports &= ~s->f->tin[x].back[slot - 1];
    bool all = ports;
    for (uint32_t k = 0; k < WEFT_GNET_PORTS_MAX; k++) {
        if (!(ports >> k & 1) || s->f->tin[x].peer[k] == dst) continue;
        uint32_t vc = weft_gnet_next_vc((enum weft_gnet_input)weft__sdn_input_of(s->f, x, slot), row % VCS);
        uint32_t there = 1u + s->wiring->port_there[x * WEFT_GNET_PORTS_MAX + k];
        all = all && vc < VCS && known[s->f->tin[x].peer[k] * s->tables.rows + there * VCS + vc];
    }
    return all;
}

static void compare(const struct weft_sdn *s, const struct weft__sdn_walk *walk, uint32_t dst, bool *known) {
    uint32_t tins = s->f->tins, rows = s->tables.rows;
    memset(known, 0, tins * rows * sizeof *known);
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < tins * rows; i++)
            if (!known[i] && i / rows != dst && arrives(s, walk->up, known, i / rows, i % rows, dst))
                known[i] = more = true;
    }
    for (uint32_t x = 0; x < tins; x++)
        assert_int_equal(walk->arrives[dst * tins + x], x == dst || known[x * rows]);
}

/// Something that is not as it should be.
struct fault {
    bool is;
    uint32_t tin, port; ///< port: WEFT_NONE, it is the entry or group of `repair`
    bool known;         ///< the port, as the plan knows it
    struct weft__sdn_op repair;
};

static void set_port(struct weft_sdn *s, const struct fault *f, bool is_up) {
    uint64_t *up = f->known ? s->up_known : s->up_real, bit = UINT64_C(1) << f->port;
    memcpy(s->up_before, up, s->f->tins * sizeof *up);
    up[f->tin] = is_up ? up[f->tin] | bit : up[f->tin] & ~bit;
    weft__sdn_look_at_ports(s, 0, f->known ? &s->walk_known : &s->walk_real, s->up_before);
}

static void begin(struct weft_sdn *s, struct weft_random *random, struct fault *f) {
    uint32_t tin = (uint32_t)weft_random_below(random, s->f->tins), what = (uint32_t)weft_random_below(random, 8);
    uint64_t ports = s->f->tin[tin].local | s->f->tin[tin].global;
    uint32_t port = weft_gnet_nth(ports, (uint32_t)weft_random_below(random, (uint32_t)__builtin_popcountll(ports)));
    uint32_t group = 1 + (uint32_t)weft_random_below(random, s->groups.tin[tin].n);
    *f = (struct fault){.is = true, .tin = tin, .port = what ? WEFT_NONE : port, .known = group % 2};
    if (!what) {
        set_port(s, f, false);
    } else if (what == 1) {
        weft__sdn_write(s, 0, tin, (struct weft__sdn_op){WEFT__SDN_GROUP_DEL, 0, 0, group, false});
        f->repair = (struct weft__sdn_op){WEFT__SDN_GROUP_ADD, 0, 0, group, false};
    } else {
        uint32_t column = (uint32_t)weft_random_below(random, weft__sdn_columns(&s->columns));
        uint32_t row = (uint32_t)weft_random_below(random, s->tables.rows);
        uint32_t is = weft__sdn_get(&s->expected, column, tin, row);
        f->repair = (struct weft__sdn_op){WEFT__SDN_FLOW, column, row, is, false};
        weft__sdn_write(s, 0, tin, (struct weft__sdn_op){WEFT__SDN_FLOW, column, row, is ? group : 0, false});
    }
}

static void end(struct weft_sdn *s, struct fault *f) {
    f->is = false;
    if (f->port != WEFT_NONE)
        set_port(s, f, true);
    else
        weft__sdn_write(s, 0, f->tin, f->repair);
}

/// A group for each port alone: with them cells go round in circles.
static void add_groups(struct weft_sdn *s) {
    for (uint32_t x = 0; x < s->f->tins; x++)
        for (uint64_t ports = s->f->tin[x].local | s->f->tin[x].global; ports; ports &= ports - 1) {
            uint32_t group = weft__sdn_group_of(&s->groups, x, (struct weft_gnet_set){ports & -ports, 0});
            weft__sdn_session_grow(s, x);
            s->session[x].present[group] = s->session[x].expected[group] = true;
        }
}

struct watched {
    struct clique small;
    struct weft_sdn *s;
    bool *known;
};
static struct watched begin_to_watch(const char *keys, uint64_t seed) {
    struct weft_sdn_conf *conf = weft_arena_alloc(arena, 1, sizeof *conf);
    struct watched w = {.small = clique_build(keys)};
    assert_int_equal(weft_params_load(&weft_sdn_table, NULL, conf, arena, NULL), WEFT_OK);
    struct weft_gnet_conf *gnet = weft_arena_alloc(arena, 1, sizeof *gnet);
    *gnet = w.small.gnet;
    w.s = weft_sdn_new(w.small.built.t, w.small.fabric, gnet, conf, seed);
    add_groups(w.s);
    weft_sdn_run(w.s, NULL, 0, arena)->tampered = true;
    assert_int_equal(w.s->lost_pairs, 0);
    w.known = weft_arena_alloc(arena, w.s->f->tins * w.s->tables.rows, sizeof *w.known);
    return w;
}

static void compare_all(const struct watched *w) {
    for (uint32_t d = 0; d < w->s->f->tins; d++) {
        compare(w->s, &w->s->walk_known, d, w->known);
        compare(w->s, &w->s->walk_real, d, w->known);
    }
}

static void end_to_watch(struct watched *w) {
    weft_sdn_free(w->s);
    built_free(&w->small.built);
}

static void after_any_change(void **state) {
    (void)state;
    static const char *const keys[] = {"pods: 3, tins: 4, global_parallel: 2", "pods: 1, tins: 6, local_parallel: 2",
                                       "pods: 4, tins: 3, local_parallel: 1"};
    uint32_t turns = 0;
    for (uint32_t k = 0; k < 3; k++) {
        struct watched w = begin_to_watch(keys[k], k);
        struct weft_random random = weft_random_stream(k, 0, WEFT_RANDOM_TEST);
        struct fault fault[FAULTS] = {{0}};
        for (uint32_t i = 0; i < 2000; i++) {
            uint64_t lost = w.s->lost_pairs;
            struct fault *f = &fault[weft_random_below(&random, FAULTS)];
            if (f->is)
                end(w.s, f);
            else
                begin(w.s, &random, f);
            turns += lost != w.s->lost_pairs;
            compare_all(&w);
        }
        end_to_watch(&w);
    }
    assert_true(turns > 1000); // changes that mattered
}

static uint32_t port_to(const struct weft_sdn *s, uint32_t x, uint32_t y) {
    for (uint32_t k = 0; k < WEFT_GNET_PORTS_MAX; k++)
        if (s->f->tin[x].peer[k] == y) return k;
    fail();
    return 0;
}

/// Cells for TiN 3 that arrive at `x` from `from` continue to `to`.
static void write_turn(struct weft_sdn *s, uint32_t from, uint32_t x, uint32_t to) {
    struct weft_gnet_set set = {UINT64_C(1) << port_to(s, x, to), 0};
    uint32_t row = (1 + port_to(s, x, from)) * VCS, group = weft__sdn_group_of(&s->groups, x, set);
    weft__sdn_write(s, 0, x, (struct weft__sdn_op){WEFT__SDN_FLOW, s->f->tin[3].place, row, group, false});
}

/// Three turns, each of which is fine without the others, but together they form a circle; made in any order, and
/// undone.
static void circles_are_found(void **state) {
    (void)state;
    static const uint32_t orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (uint32_t i = 0; i < 6; i++) {
        struct watched w = begin_to_watch("pods: 1, tins: 4, local_parallel: 1", 1);
        for (uint32_t turn = 0; turn < 3; turn++) {
            uint32_t x = orders[i][turn];
            assert_int_equal(w.s->lost_pairs, 0);
            write_turn(w.s, (x + 2) % 3, x, (x + 1) % 3);
            compare_all(&w);
        }
        assert_true(w.s->lost_pairs > 0);
        struct weft__sdn_walk fresh = {.wiring = w.s->wiring,
                                       .tables = &w.s->tables,
                                       .groups = &w.s->groups,
                                       .present = w.s->present,
                                       .up = w.s->up_real};
        weft__sdn_walk_begin(&fresh);
        compare(w.s, &fresh, 3, w.known);
        weft__sdn_walk_deinit(&fresh);
        write_turn(w.s, 2, 0, 3);
        assert_int_equal(w.s->lost_pairs, 0);
        compare_all(&w);
        end_to_watch(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_any_change),
        cmocka_unit_test(circles_are_found),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
