// SPDX-License-Identifier: Apache-2.0
// Random sequences of failures and repairs of a Clique: of links, of all that a TiN has, of all between a pod and the
// others, of sessions and of firmware, most of them while something that came before is not done yet. No write breaks a
// way (the controller asserts that after each); in the end the tables are those for the links that are left, and when
// all is repaired TiNs hold what those of a new Clique do.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "arena.h"
#include "clique.h"
#include "control/clique/sdn_run.h"

#ifndef SEQUENCES
#define SEQUENCES 3000
#endif
enum { EVENTS = 14, TINS_MAX = 24 };

static const char *const shapes[] = {
    "pods: 4, tins: 3",
    "pods: 5, tins: 4",
    "pods: 3, tins: 6, local_parallel: 1",
    "pods: 7, tins: 2, global_parallel: 1",
    "pods: 2, tins: 5, local_parallel: 1, global_parallel: 4",
    "pods: 5, tins: 1",
    "pods: 1, tins: 7, local_parallel: 1",
    "pods: 5, tins: 3, global_parallel: 1, local_parallel: 1",
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

struct sequence {
    const struct clique *clique;
    struct weft_random random;
    struct weft_sdn_conf conf;
    struct weft_gnet_conf gnet;
    struct weft_sdn_event event[EVENTS + 2 + TINS_MAX];
    uint32_t events;
    weft_time_ps now, unit_ps; ///< unit: about as long as a transition takes
    bool repaired;             ///< in the end
    bool *down;                ///< [links] of the topology, in the end
};

static uint32_t below(struct sequence *q, uint32_t n) {
    return (uint32_t)weft_random_below(&q->random, n);
}

/// Times as they are by default, or short ones, so that other steps take the most of a transition.
static void draw_conf(struct sequence *q) {
    assert_int_equal(weft_params_load(&weft_sdn_table, NULL, &q->conf, arena, NULL), WEFT_OK);
    q->unit_ps = 3 * WEFT_PS_PER_S;
    q->conf.rpc_bytes = below(q, 2) ? 1024 : 16384;
    q->conf.outstanding = below(q, 2) ? 1 : 4;
    q->gnet = q->clique->gnet;
    q->gnet.turns = below(q, WEFT_GNET_TURNS_KINDS);
    if (below(q, 2)) q->gnet.minimal_max = q->gnet.nonminimal_max = 1 + below(q, 3);
    if (!below(q, 3)) return;
    struct weft_sdn_conf *c = &q->conf;
    c->latency_ps = c->detect_ps = c->rpc_ps = WEFT_PS_PER_US;
    c->nib_ps = c->nib_write_ps = WEFT_PS_PER_US / 2;
    c->call_ps = c->op_ps = c->read_ps = WEFT_PS_PER_US / 10;
    c->settle_ps = 2 * WEFT_PS_PER_US;
    c->compute_ps = 5 * WEFT_PS_PER_US;
    c->reboot_ps = c->connect_ps = 30 * WEFT_PS_PER_US;
    c->rate = below(q, 2) ? 0 : 1000000;
    q->unit_ps = (c->rate ? 300 : 80) * WEFT_PS_PER_US;
}

static struct weft_sdn_event *add(struct sequence *q, enum weft_sdn_what what, uint32_t tin) {
    struct weft_sdn_event *e = &q->event[q->events++];
    *e = (struct weft_sdn_event){.time_ps = q->now, .what = what, .tin = tin};
    return e;
}

/// Of the links of a TiN, those between a pod and the others, or some of all, each of them with the odds 1 : `of`.
static void add_links(struct sequence *q, uint32_t tin, uint32_t pod, uint32_t of, bool up) {
    const struct weft_clique *c = q->clique->c;
    uint32_t *link = weft_arena_alloc(arena, c->links, sizeof *link), n = 0;
    for (uint32_t l = 0; l < c->links; l++) {
        const uint32_t *end = c->link[l].tin;
        bool whose = tin == WEFT_NONE || end[0] == tin || end[1] == tin;
        bool cut = pod == WEFT_NONE || (c->tin[end[0]].pod == pod) != (c->tin[end[1]].pod == pod);
        if (!whose || !cut || below(q, of)) continue;
        q->down[c->link[l].link] = !up;
        link[n++] = c->link[l].link;
    }
    struct weft_sdn_event *e = add(q, WEFT_SDN_LINKS, 0);
    e->link = link;
    e->links = n;
    e->up = up;
}

static void draw_event(struct sequence *q) {
    const struct weft_clique *c = q->clique->c;
    uint32_t tin = below(q, c->tins);
    switch (below(q, 10)) {
    case 0:
        add(q, WEFT_SDN_CUT, tin);
        break;
    case 1:
        add(q, WEFT_SDN_HEAL, tin);
        break;
    case 2:
        add(q, WEFT_SDN_REBOOT, tin);
        break;
    case 3:
    case 4:
    case 5:
        add_links(q, WEFT_NONE, WEFT_NONE, 1 + below(q, c->links), below(q, 2));
        break;
    case 6:
        add_links(q, WEFT_NONE, c->tin[tin].pod, 1 + below(q, 2), below(q, 2));
        break;
    default:
        add_links(q, tin, WEFT_NONE, 1 + !below(q, 4), below(q, 2));
    }
}

/// In the end all sessions return, and maybe all links.
static void draw(struct sequence *q) {
    static const uint32_t parts[] = {1000, 20, 5, 2, 1}; // of a unit, so that some events come when all is done
    draw_conf(q);
    q->down = weft_arena_alloc(arena, q->clique->built.t->links, sizeof *q->down);
    q->repaired = below(q, 2);
    for (uint32_t i = 0; i < EVENTS; i++) {
        q->now += weft_random_below(&q->random, q->unit_ps / parts[below(q, 5)]);
        draw_event(q);
    }
    q->now += weft_random_below(&q->random, q->unit_ps);
    if (q->repaired) add_links(q, WEFT_NONE, WEFT_NONE, 1, true);
    for (uint32_t x = 0; x < q->clique->c->tins; x++)
        add(q, WEFT_SDN_HEAL, x);
}

static struct weft_gnet_set set_at(const struct weft_sdn *s, uint32_t column, uint32_t tin, uint32_t row) {
    uint32_t group = weft__sdn_get(&s->tables, column, tin, row);
    return group ? s->groups.tin[tin].set[group] : (struct weft_gnet_set){0, 0};
}

/// Groups have other numbers, and flows of destinations of their own have gone.
static void same_as_new(const struct sequence *q, const struct weft_sdn *s) {
    const struct clique *c = q->clique;
    struct weft_sdn *fresh = weft_sdn_new(c->built.t, c->fabric, &q->gnet, &q->conf, 1);
    assert_int_equal(s->lost_pairs, 0);
    for (uint32_t x = 0; x < c->c->tins; x++)
        for (uint32_t column = 0; column < weft__sdn_columns(&s->columns); column++)
            for (uint32_t row = 0; row < s->tables.rows; row++) {
                struct weft_gnet_set is = set_at(s, column, x, row), shall = set_at(fresh, column, x, row);
                assert_true(is.minimal == shall.minimal && is.nonminimal == shall.nonminimal);
            }
    weft_sdn_free(fresh);
}

/// Another plan for the present links changes nothing, and where the rules of the tables find a path there is one.
static void as_planned(const struct sequence *q, struct weft_sdn *s) {
    const struct clique *c = q->clique;
    struct weft_gnet_routes *routes = weft_gnet_routes_new(c->built.t, c->fabric, &q->gnet, q->down);
    struct weft__sdn_plan plan;
    weft__sdn_plan(&plan, s->wiring, &s->columns, &s->groups, &s->meant, routes, s->up_real);
    assert_int_equal(plan.n, 0);
    weft__sdn_plan_deinit(&plan);
    for (uint32_t x = 0; x < c->c->tins; x++)
        for (uint32_t d = 0; d < c->c->tins; d++) {
            if (x == d) continue;
            const struct weft_gnet_set *set = weft_gnet_at(routes, x, WEFT_GNET_TERMINAL, 0, d);
            if (set->minimal | set->nonminimal) assert_true(s->walk_real.arrives[d * c->c->tins + x]);
        }
    weft_gnet_routes_free(routes);
}

static void run(struct sequence *q, uint64_t seed, uint64_t *ret_cut) {
    const struct clique *c = q->clique;
    struct weft_sdn *s = weft_sdn_new(c->built.t, c->fabric, &q->gnet, &q->conf, seed);
    const struct weft_sdn_result *r = weft_sdn_run(s, q->event, q->events, arena);
    for (uint32_t i = 0; i < q->events; i++) {
        assert_int_equal(r->outcome[i].holes, 0);
        *ret_cut += r->outcome[i].cut_pairs;
    }
    assert_true(r->checked && !r->tampered);
    assert_int_equal(weft_sdn_differences(s), 0);
    as_planned(q, s);
    if (q->repaired) same_as_new(q, s);
    weft_sdn_free(s);
}

static void no_sequence_makes_a_black_hole(void **state) {
    (void)state;
    uint64_t cut = 0;
    for (uint32_t k = 0; k < SHAPES; k++) {
        struct clique clique = clique_build(shapes[k]);
        assert_true(clique.c->tins <= TINS_MAX);
        for (uint64_t seed = k; seed < SEQUENCES; seed += SHAPES) {
            struct sequence q = {.clique = &clique, .random = weft_random_stream(seed, 0, WEFT_RANDOM_TEST)};
            draw(&q);
            run(&q, seed, &cut);
        }
        built_free(&clique.built);
    }
    assert_true(cut > 0);
}

/// Two TiNs of a pod go one after the other; the first comes back while the second is away. By then it has had flows of
/// its own, and meets that of its pod again.
static void two_of_a_pod_fail(void **state) {
    (void)state;
    struct clique clique = clique_build("pods: 4, tins: 3");
    for (uint32_t first = 0; first < clique.c->tins; first++) {
        struct sequence q = {.clique = &clique, .gnet = clique.gnet, .repaired = true};
        assert_int_equal(weft_params_load(&weft_sdn_table, NULL, &q.conf, arena, NULL), WEFT_OK);
        q.down = weft_arena_alloc(arena, clique.built.t->links, sizeof *q.down);
        uint32_t second = first / 3 * 3 + (first + 1) % 3;
        const uint32_t tin[] = {first, second, first, second}, at_ms[] = {2300, 3300, 4100, 17500};
        for (uint32_t i = 0; i < 4; i++) {
            q.now = at_ms[i] * WEFT_PS_PER_MS;
            add_links(&q, tin[i], WEFT_NONE, 1, i > 1);
        }
        uint64_t cut = 0;
        run(&q, 1, &cut);
        assert_true(cut > 0);
    }
    built_free(&clique.built);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_of_a_pod_fail),
        cmocka_unit_test(no_sequence_makes_a_black_hole),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
