// SPDX-License-Identifier: Apache-2.0
// No black hole during any transition (Aquila, NSDI'22, sections 4.1 and 4.2): random failures and repairs of links, of
// sessions and of firmware; after every write into every TiN all cells that were bound to arrive still are. Without the
// order of batches, and without that of groups and flows, they are not.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arena.h"
#include "clique.h"
#include "weft/random.h"
#include "weft/sdn.h"

static struct weft_sdn_conf defaults(void) {
    struct weft_sdn_conf conf;
    assert_int_equal(weft_params_load(&weft_sdn_table, NULL, &conf, arena, NULL), WEFT_OK);
    return conf;
}

enum { EVENTS = 12 };

/// Links of the Clique that fail or come back, up to `most` down at a time, some before the last change is done.
static void draw_links(const struct weft_clique *c, struct weft_random *random, uint32_t most,
                       struct weft_sdn_event *ret) {
    bool *down = weft_arena_alloc(arena, c->links, sizeof *down);
    uint32_t downs = 0;
    weft_time_ps now = 0;
    for (uint32_t i = 0; i < EVENTS; i++) {
        uint32_t n = 1 + (uint32_t)weft_random_below(random, 3), *link = weft_arena_alloc(arena, n, sizeof *link);
        bool up = downs + n > most || (downs && weft_random_below(random, 3) == 0);
        now += weft_random_below(random, 2) ? 20 * WEFT_PS_PER_S : 1030 * WEFT_PS_PER_MS;
        ret[i] = (struct weft_sdn_event){.time_ps = now, .what = WEFT_SDN_LINKS, .up = up, .link = link};
        for (uint32_t tries = 0; ret[i].links < n && tries < 1000; tries++) {
            uint32_t l = (uint32_t)weft_random_below(random, c->links);
            if (down[l] != up) continue;
            down[l] = !up;
            downs = up ? downs - 1 : downs + 1;
            link[ret[i].links++] = c->link[l].link;
        }
    }
}

static uint64_t holes(const struct weft_sdn_result *r, uint32_t events) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < events; i++)
        sum += r->outcome[i].holes;
    return sum;
}

/// Pairs without a way that the rules of the tables allow, over the links that are left at the end. Every one of them
/// must be without any way at all, or the rules would make black holes.
static uint64_t count_unreachable(const struct clique *small, const struct weft_sdn_event *event) {
    const struct weft_clique *c = small->c;
    bool *down = weft_arena_alloc(arena, small->built.t->links, sizeof *down);
    for (uint32_t i = 0; i < EVENTS; i++)
        for (uint32_t l = 0; l < event[i].links; l++)
            down[event[i].link[l]] = !event[i].up;
    struct weft_gnet_routes *routes = weft_gnet_routes_new(small->built.t, small->fabric, &small->gnet, down);
    uint32_t *part = weft_arena_alloc(arena, c->tins, sizeof *part);
    for (uint32_t x = 0; x < c->tins; x++)
        part[x] = x;
    for (uint32_t round = 0; round < c->tins; round++)
        for (uint32_t l = 0; l < c->links; l++) {
            uint32_t a = c->link[l].tin[0], b = c->link[l].tin[1];
            if (!down[c->link[l].link]) part[a] = part[b] = part[a] < part[b] ? part[a] : part[b];
        }
    uint64_t n = 0;
    for (uint32_t x = 0; x < c->tins; x++)
        for (uint32_t d = 0; d < c->tins; d++) {
            if (x == d) continue;
            const struct weft_gnet_set *set = weft_gnet_at(routes, x, WEFT_GNET_TERMINAL, 0, d);
            bool none = !(set->minimal | set->nonminimal);
            assert_true(!none || part[x] != part[d]);
            n += none;
        }
    weft_gnet_routes_free(routes);
    return n;
}

static void ordered_transitions_lose_nothing(void **state) {
    (void)state;
    static const char *const keys[] = {"pods: 5, tins: 4, global_parallel: 2, gateways: 4, spines: 2",
                                       "pods: 3, tins: 6, local_parallel: 1, gateways: 4, spines: 2",
                                       "pods: 1, tins: 8, gateways: 4, spines: 2"};
    uint64_t lost[3] = {0}, cut = 0;
    for (uint32_t k = 0; k < 3; k++) {
        struct clique small = clique_build(keys[k]);
        for (uint32_t seed = 1; seed <= 3; seed++) {
            struct weft_random random = weft_random_stream(seed, k, WEFT_RANDOM_TEST);
            struct weft_sdn_event event[EVENTS];
            draw_links(small.c, &random, 5, event);
            for (uint32_t ordering = 0; ordering < 3; ordering++) {
                struct weft_sdn_conf conf = defaults();
                conf.ordering = ordering;
                struct weft_sdn *s = weft_sdn_new(small.built.t, small.fabric, &small.gnet, &conf, seed);
                const struct weft_sdn_result *r = weft_sdn_run(s, event, EVENTS, arena);
                assert_true(r->checked);
                lost[ordering] += holes(r, EVENTS);
                assert_int_equal(r->overflows, 0);
                assert_true(r->sram_most <= conf.sram_bytes && r->rpc_most <= conf.rpc_bytes);
                for (uint32_t i = 0; i < EVENTS && !ordering; i++)
                    cut += r->outcome[i].cut_pairs;
                uint64_t unreachable = count_unreachable(&small, event);
                assert_int_equal(r->outcome[EVENTS - 1].left_pairs, unreachable);
                assert_int_equal(weft_sdn_differences(s), 0);
                weft_sdn_free(s);
            }
        }
        built_free(&small.built);
    }
    assert_int_equal(lost[WEFT_SDN_SEQUENCED], 0);
    assert_true(cut > 0); // failures do, until tables follow
    assert_true(lost[WEFT_SDN_GROUPS] > 0);
    assert_true(lost[WEFT_SDN_NONE] > lost[WEFT_SDN_GROUPS]);
}

/// The Clique of the paper, 48 pods of 12 TiNs: every write is watched there as well, and what is not in order is seen.
static void a_full_clique_loses_nothing(void **state) {
    (void)state;
    struct clique full = clique_build("gateways: 256, spines: 16");
    struct weft_random random = weft_random_stream(1, 3, WEFT_RANDOM_TEST);
    struct weft_sdn_event event[EVENTS];
    draw_links(full.c, &random, 5, event);
    uint64_t lost[3], writes = 0;
    assert_int_equal(full.c->tins, 576);
    for (uint32_t ordering = 0; ordering < 3; ordering++) {
        struct weft_sdn_conf conf = defaults();
        conf.ordering = ordering;
        struct weft_sdn *s = weft_sdn_new(full.built.t, full.fabric, &full.gnet, &conf, 1);
        uint32_t events = ordering == WEFT_SDN_NONE ? 2 : EVENTS; // enough to see many
        const struct weft_sdn_result *r = weft_sdn_run(s, event, events, arena);
        assert_true(r->checked);
        assert_int_equal(r->outcome[events - 1].left_pairs, 0);
        assert_int_equal(weft_sdn_differences(s), 0);
        lost[ordering] = holes(r, events);
        for (uint32_t i = 0; i < EVENTS && !ordering; i++)
            writes += r->outcome[i].writes;
        weft_sdn_free(s);
    }
    built_free(&full.built);
    print_message("%llu writes; black holes %llu, without batches %llu, without any order %llu\n",
                  (unsigned long long)writes, (unsigned long long)lost[WEFT_SDN_SEQUENCED],
                  (unsigned long long)lost[WEFT_SDN_GROUPS], (unsigned long long)lost[WEFT_SDN_NONE]);
    assert_int_equal(lost[WEFT_SDN_SEQUENCED], 0);
    assert_true(lost[WEFT_SDN_GROUPS] > 0);
    assert_true(lost[WEFT_SDN_NONE] > lost[WEFT_SDN_GROUPS]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordered_transitions_lose_nothing),
        cmocka_unit_test(a_full_clique_loses_nothing),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
