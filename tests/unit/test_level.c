// SPDX-License-Identifier: Apache-2.0
// Levels of links against water-filling over all links: rates to 1e-9, for random links, weights, bounds and shares,
// while flows come and go. And the work of a change among many flows, which must not depend on how many there are.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "estimate/level.h"
#include "weft/random.h"

static uint32_t draw_below(struct weft_random *r, uint32_t n) {
    return (uint32_t)(weft_random_u64(r) % n);
}

/// Raises the level of all flows together; those at a full link, or at their bound, stay. The textbook's way, link by
/// link, without levels.
static void fill_up(const struct weft__levels *l, double *level) {
    bool *fixed = calloc(l->flows, sizeof *fixed);
    for (;;) {
        double least = INFINITY;
        uint32_t at = UINT32_MAX, bound = UINT32_MAX;
        for (uint32_t k = 0; k < l->links; k++) {
            double left = l->link[k].capacity, weights = 0;
            for (uint32_t i = 0; i < l->link[k].members; i++) {
                uint32_t f = l->link[k].member[i].flow;
                double weight = (double)l->entry[l->link[k].member[i].entry].weight * (double)l->flow[f].share;
                if (fixed[f])
                    left -= weight * level[f];
                else
                    weights += weight;
            }
            if (weights > 0 && left / weights < least) least = left / weights, at = k;
        }
        for (uint32_t f = 0; f < l->flows; f++)
            if (l->flow[f].active && !fixed[f] && l->flow[f].most > 0 &&
                (double)l->flow[f].most / (double)l->flow[f].share < least)
                least = (double)l->flow[f].most / (double)l->flow[f].share, bound = f;
        if (at == UINT32_MAX && bound == UINT32_MAX) break;
        if (bound != UINT32_MAX) {
            fixed[bound] = true;
            level[bound] = least;
            continue;
        }
        for (uint32_t i = 0; i < l->link[at].members; i++) {
            uint32_t f = l->link[at].member[i].flow;
            if (!fixed[f]) level[f] = least;
            fixed[f] = true;
        }
    }
    free(fixed);
}

static void compare_rates(const struct weft__levels *l) {
    double *level = calloc(l->flows, sizeof *level);
    fill_up(l, level);
    for (uint32_t f = 0; f < l->flows; f++) {
        double rate = level[f] * (double)l->flow[f].share;
        if (l->flow[f].active && fabs(l->flow[f].rate / rate - 1) > 1e-9)
            fail_msg("flow %u has %.12g, and by water-filling %.12g", f, l->flow[f].rate, rate);
    }
    free(level);
}

static void add_random_flow(struct weft__levels *l, struct weft_random *r, bool weights) {
    struct weft__crossed crossed[5];
    uint32_t n = 1 + draw_below(r, 5), used = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t link = draw_below(r, l->links), k = 0;
        while (k < used && crossed[k].link != link)
            k++;
        if (k == used)
            crossed[used++] = (struct weft__crossed){.link = link, .weight = weights ? 1 + (float)draw_below(r, 4) : 1};
    }
    weft__levels_add_flow(l, crossed, used, draw_below(r, 4) ? 0 : 0.05 + 0.1 * draw_below(r, 10));
}

static void as_water_filling(void **state) {
    for (uint32_t seed = 1; seed <= 60; seed++) {
        struct weft_random r = weft_random_stream(seed, 0, 1);
        struct weft__levels l;
        weft__levels_init(&l, 0);
        for (uint32_t k = 0; k < 3 + seed; k++)
            weft__levels_add_link(&l, 1 + 0.25 * draw_below(&r, 8));
        for (uint32_t f = 0; f < 4 * seed; f++)
            add_random_flow(&l, &r, seed % 2);
        for (uint32_t step = 0; step < 40; step++) {
            for (uint32_t k = 0; k < 1 + step % 7; k++) {
                uint32_t f = draw_below(&r, l.flows);
                if (l.flow[f].active)
                    weft__levels_end(&l, f);
                else
                    weft__levels_begin(&l, f);
                if (seed % 3) weft__levels_share(&l, draw_below(&r, l.flows), 1 / (float)(1 + draw_below(&r, 9)));
            }
            weft__levels_settle(&l);
            compare_rates(&l);
        }
        weft__levels_deinit(&l);
    }
}

enum { HOSTS = 24576, TO_A_LEAF = 16, LEAVES = HOSTS / TO_A_LEAF, TO_A_POD = 64, UPS = 64 };

/// A path of three tiers: host, leaf, pod, core and down, by hashes.
static uint32_t make_path(struct weft_random *r, uint32_t src, uint32_t dst, struct weft__crossed *ret) {
    uint32_t leaf_up = 2 * HOSTS, leaf_down = leaf_up + HOSTS, pod_up = leaf_down + HOSTS;
    uint32_t pods = LEAVES / TO_A_POD, pod_down = pod_up + pods * TO_A_LEAF * UPS, n = 0;
    uint32_t a = src / TO_A_LEAF, b = dst / TO_A_LEAF, spine = draw_below(r, TO_A_LEAF), core = draw_below(r, UPS);
    uint32_t link[6];
    link[n++] = src;
    if (a != b) link[n++] = leaf_up + a * TO_A_LEAF + spine;
    if (a / TO_A_POD != b / TO_A_POD) {
        link[n++] = pod_up + (a / TO_A_POD * TO_A_LEAF + spine) * UPS + core;
        link[n++] = pod_down + (b / TO_A_POD * TO_A_LEAF + spine) * UPS + core;
    }
    if (a != b) link[n++] = leaf_down + b * TO_A_LEAF + spine;
    link[n++] = HOSTS + dst;
    for (uint32_t i = 0; i < n; i++)
        ret[i] = (struct weft__crossed){.link = link[i], .weight = 1};
    return n;
}

static void many_flows(void **state) {
    enum { CHANGES = 20000 };
    struct weft_random r = weft_random_stream(7, 0, 1);
    struct weft__levels l;
    uint32_t links = 4 * HOSTS + 2 * LEAVES / TO_A_POD * TO_A_LEAF * UPS, *dst = malloc(HOSTS * sizeof *dst);
    weft__levels_init(&l, 1e-9);
    for (uint32_t k = 0; k < links; k++)
        weft__levels_add_link(&l, 1);
    for (uint32_t h = 0; h < HOSTS; h++)
        dst[h] = h;
    for (uint32_t h = HOSTS; h-- > 1;) {
        uint32_t other = draw_below(&r, h + 1), was = dst[h];
        dst[h] = dst[other];
        dst[other] = was;
    }
    for (uint32_t h = 0; h < HOSTS; h++) {
        struct weft__crossed crossed[6];
        weft__levels_begin(&l, weft__levels_add_flow(&l, crossed, make_path(&r, h, dst[h], crossed), 0));
    }
    weft__levels_settle(&l);
    uint64_t updates = l.updates;
    clock_t begun = clock();
    for (uint32_t i = 0; i < CHANGES / 2; i++) {
        uint32_t f = draw_below(&r, HOSTS);
        weft__levels_end(&l, f);
        weft__levels_settle(&l);
        weft__levels_begin(&l, f);
        weft__levels_settle(&l);
    }
    double us = 1e6 * (double)(clock() - begun) / CLOCKS_PER_SEC / CHANGES;
    double each = (double)(l.updates - updates) / CHANGES;
    printf("%d flows over three tiers: %.2f us and %.1f links a change\n", HOSTS, us, each);
    assert_true(each < 60);
    weft__levels_deinit(&l);
    free(dst);
}

/// What two hosts send each other, with acknowledgements of a fiftieth beside it: the lines carry 1.02 of each flow. A
/// flow that only comes is not bound by what its receiver sends to many.
static void loads(void **state) {
    enum { MANY = 10 };
    struct weft__levels l;
    weft__levels_init(&l, 0);
    for (uint32_t k = 0; k < 3; k++)
        weft__levels_add_link(&l, 1);
    weft__levels_add_flow(&l, (struct weft__crossed[]){{.link = 0, .weight = 1}, {.link = 1, .weight = -0.02f}}, 2, 0);
    for (uint32_t k = 0; k < MANY; k++)
        weft__levels_add_flow(&l, (struct weft__crossed[]){{.link = 1, .weight = 1}, {.link = 0, .weight = -0.02f}}, 2,
                              0);
    weft__levels_begin(&l, 0);
    weft__levels_begin(&l, 1);
    weft__levels_settle(&l);
    for (uint32_t f = 0; f < 2; f++)
        assert_true(fabs(l.flow[f].rate - 1 / 1.02) < 1e-7);
    for (uint32_t f = 2; f <= MANY; f++)
        weft__levels_begin(&l, f);
    weft__levels_settle(&l);
    double many = l.flow[1].rate;
    assert_true(fabs(l.flow[0].rate - (1 - 0.02 * MANY * many)) < 1e-7);
    assert_true(fabs(MANY * many - (1 - 0.02 * l.flow[0].rate)) < 1e-7);
    weft__levels_deinit(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_water_filling),
        cmocka_unit_test(loads),
        cmocka_unit_test(many_flows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
