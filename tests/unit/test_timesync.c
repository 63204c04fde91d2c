// SPDX-License-Identifier: Apache-2.0
// Clock synchronisation of a Clique against Aquila (NSDI'22), appendix B: 100 us between messages, at once further
// down, +-2.5 ns a hop, invalid messages ignored, a failure signalled after enough of them.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "arena.h"
#include "clique.h"
#include "weft/timesync.h"

static struct weft_timesync_conf defaults(void) {
    struct weft_timesync_conf conf;
    assert_int_equal(weft_params_load(&weft_timesync_table, NULL, &conf, arena, NULL), WEFT_OK);
    return conf;
}

/// What waits 0 to 128 ns says its time of transmission to half a step of 5 ns, whatever the wait.
static void transmission_is_known_to_half_a_step(void **state) {
    (void)state;
    struct weft_timesync_conf conf = defaults();
    struct weft_timesync_clock clock = {.shown_ps = 123456789, .set_ps = 1000};
    int64_t worst = 0;
    for (weft_time_ps held = 0; held <= 148 * WEFT_PS_PER_NS; held += 7) {
        int64_t said = weft_timesync_send(&clock, &conf, 5000, held, true).time_ps;
        int64_t off = llabs(said - weft_timesync_read(&clock, 5000 + held));
        worst = off > worst ? off : worst;
    }
    assert_in_range(worst, 2450, 2500); // it comes to the bound, and not beyond
}

static void a_clock_drifts(void **state) {
    (void)state;
    struct weft_timesync_clock clock = {.shown_ps = 7, .set_ps = WEFT_PS_PER_S, .drift_ppb = -50000};
    assert_int_equal(weft_timesync_read(&clock, WEFT_PS_PER_S), 7);
    assert_int_equal(weft_timesync_read(&clock, WEFT_PS_PER_S + 100 * WEFT_PS_PER_US), 7 + 100000000 - 5000);
    // a day, in which ps times ppb is more than 64 bits hold
    assert_int_equal(weft_timesync_read(&clock, 86401 * WEFT_PS_PER_S),
                     7 + INT64_C(86400) * (int64_t)WEFT_PS_PER_S - INT64_C(86400) * 50000000);
}

static double half(void *context) {
    (void)context;
    return 0.5;
}

static void channel_is_measured_in_steps(void **state) {
    (void)state;
    struct weft_timesync_conf conf = defaults();
    // 2 x 51 ns and half a step are 20.9 steps: 20 are counted, 50 ns one way
    assert_int_equal(weft_timesync_measure(&conf, 51000, half, NULL), 50000);
}

static void messages_are_judged(void **state) {
    (void)state;
    struct weft_timesync_conf conf = defaults();
    conf.invalid_max = 3;
    struct weft_timesync_clock clock = {.acquiring = true, .delay_ps = 100};
    struct weft_timesync_message far = {INT64_C(5000000000), true}, mute = {INT64_C(5000000000), false};
    assert_int_equal(weft_timesync_on_message(&clock, &conf, 0, mute), WEFT_TIMESYNC_IGNORED); // by its status
    assert_int_equal(weft_timesync_on_message(&clock, &conf, 0, far), WEFT_TIMESYNC_TAKEN);
    assert_int_equal(weft_timesync_read(&clock, 0), 5000000100);
    // by the difference: threshold 1 us, to the picosecond
    struct weft_timesync_message late = {5000000000 + 1000000, true}, later = {5000000000 + 1000001, true};
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(weft_timesync_on_message(&clock, &conf, 0, later), WEFT_TIMESYNC_IGNORED);
    assert_int_equal(weft_timesync_on_message(&clock, &conf, 0, late), WEFT_TIMESYNC_TAKEN); // and counts anew
    later.time_ps += 1000000;
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(weft_timesync_on_message(&clock, &conf, 0, later), WEFT_TIMESYNC_IGNORED);
    assert_int_equal(weft_timesync_on_message(&clock, &conf, 0, later), WEFT_TIMESYNC_FAILURE);
    assert_int_equal(weft_timesync_on_message(&clock, &conf, 0, later), WEFT_TIMESYNC_IGNORED); // signalled once
}

/// Without drift a hop adds a rounding, evenly spread over a step of 5 ns: deviation 5/sqrt(12) = 1.443 ns, and
/// sqrt(k) of that after k hops; never more than 2.5 ns a hop, and what the measured channel is off.
static void errors_add_up_as_roundings(void **state) {
    (void)state;
    struct weft_timesync_conf conf = defaults();
    conf.drift_ppb = 0;
    conf.load = 1;
    conf.seeds = 40;
    conf.delay_samples = 100000; // so that the channel is known
    const struct weft_timesync_result *r = weft_timesync_run(clique_chain(10, 61237, arena), &conf, NULL, 0, 1, arena);
    assert_int_equal(r->depths, 10);
    for (uint32_t k = 1; k < r->depths; k++) {
        const struct weft_timesync_depth *d = &r->depth[k];
        assert_int_equal(d->samples, 40 * ((10000 - 300) / 37 + 1));
        assert_true(d->max_ps <= k * (2500 + r->delay_error_ps));
        // 40 x 97 messages, each looked at more than once: 3880 independent draws, 3 sigma of a deviation are 3.4%
        assert_true(fabs(d->deviation_ps / (5000 / sqrt(12) * sqrt(k)) - 1) < 0.05);
        assert_true(fabs(d->mean_ps) < k * (double)r->delay_error_ps + 3 * 1443 * sqrt(k) / sqrt(3880) + 1);
    }
    assert_true(r->depth[9].max_ps > 2500); // errors do add up
}

static void every_error_is_within_its_bound(void **state) {
    (void)state;
    struct weft_timesync_conf conf = defaults();
    for (uint64_t samples = 1; samples <= 64; samples *= 64) {
        conf.delay_samples = samples;
        const struct weft_timesync_result *r =
            weft_timesync_run(clique_chain(12, 40321, arena), &conf, NULL, 0, samples, arena);
        assert_true(samples > 1 || r->delay_error_ps > 500); // one round trip is no good measure
        assert_true(r->delay_error_ps <= 2500);
        for (uint32_t k = 1; k < r->depths; k++) {
            assert_true(r->depth[k].max_ps <= r->depth[k].bound_ps);
            assert_true(r->depth[k].fresh_max_ps <= r->depth[k].max_ps + 2500 * k);
        }
        // drift for 100 us at 2 x 50 ppm at worst is 10 ns; without relaying at once it would be that for every hop
        assert_true(r->depth[11].bound_ps < 11 * (2500 + r->delay_error_ps) + 11000);
    }
}

/// The tree of a whole Clique, on which a TiN's own messages and those that it passes on keep their order.
static void a_clique_is_within_its_bounds(void **state) {
    (void)state;
    struct clique full = clique_build("gateways: 256, spines: 64");
    struct weft_timesync_conf conf = defaults();
    conf.seeds = 1;
    for (uint32_t outputs = 4; outputs <= 32; outputs += 28) {
        conf.outputs = outputs;
        const struct weft_timesync_result *r = weft_timesync_run(full.c, &conf, NULL, 0, outputs, arena);
        uint32_t tins = 0;
        for (uint32_t k = 0; k < r->depths; k++) {
            assert_true(r->depth[k].max_ps <= r->depth[k].bound_ps);
            tins += r->depth[k].tins;
        }
        assert_int_equal(tins, 576);
        // on all its links: a local, a global and a local hop; on four: 4^5 TiNs are enough, and not all find room
        assert_true(outputs == 32 ? r->depths == 4 : r->depths > 5);
    }
    built_free(&full.built);
}

static void damaged_messages_are_ignored(void **state) {
    (void)state;
    struct weft_timesync_conf conf = defaults();
    conf.damaged = 0.1;
    conf.seeds = 1;
    const struct weft_clique *c = clique_chain(6, 40000, arena);
    struct weft_timesync_event none = {.time_ps = 0, .what = WEFT_TIMESYNC_LINK_UP, .which = 0};
    const struct weft_timesync_result *r = weft_timesync_run(c, &conf, &none, 1, 1, arena);
    // a tenth of five links' messages; which a client that lost one still sends after an interval of its own
    assert_in_range(r->ignored, 5 * 100 / 20, 5 * 100 / 5);
    assert_int_equal(r->outcome[0].signalled, 0);
    // not above a microsecond, by which damaged ones are off at least twice
    assert_true(r->depth[5].max_ps < WEFT_PS_PER_US);
}

/// A ring of chains: the link to the first client fails; its clients drift until software moves the tree.
static void a_failed_link_is_routed_around(void **state) {
    (void)state;
    struct weft_timesync_conf conf = defaults();
    conf.software_ps = 5 * WEFT_PS_PER_MS;
    conf.outputs = 1;
    const struct weft_clique *chain = clique_chain(4, 40000, arena);
    struct weft_clique_link link[4];
    for (uint32_t i = 0; i < 3; i++)
        link[i] = chain->link[i];
    link[3] = (struct weft_clique_link){.tin = {0, 3}, .delay_ps = 40000};
    const struct weft_clique *ring = weft_clique_new(chain->tin, 4, link, 4, arena);
    struct weft_timesync_event down = {5 * WEFT_PS_PER_MS, WEFT_TIMESYNC_LINK_DOWN, 0, 0};
    const struct weft_timesync_result *r = weft_timesync_run(ring, &conf, &down, 1, 1, arena);
    assert_int_equal(r->depths, 4);               // one output: the chain
    assert_int_equal(r->outcome[0].signalled, 3); // TiNs 2 and 3 hear from 1 that it follows no more
    assert_int_equal(r->outcome[0].moved, 3);     // 3 to 0, 2 to 3, 1 to 2
    assert_in_range(r->outcome[0].restored_ps, conf.software_ps, 6 * conf.software_ps);
    // drift of up to 100 ppm for as long
    assert_true(r->outcome[0].error_ps < r->depth[3].bound_ps + r->outcome[0].restored_ps / 10000 + 4000);
    assert_true(r->outcome[0].error_ps > r->depth[3].max_ps);
}

static void a_jump_is_signalled_and_mended(void **state) {
    (void)state;
    struct weft_timesync_conf conf = defaults();
    conf.software_ps = 2 * WEFT_PS_PER_MS;
    struct weft_timesync_event jump = {5 * WEFT_PS_PER_MS, WEFT_TIMESYNC_JUMP, 2, 10 * (int64_t)WEFT_PS_PER_US};
    const struct weft_timesync_result *r = weft_timesync_run(clique_chain(5, 40000, arena), &conf, &jump, 1, 1, arena);
    assert_true(r->outcome[0].signalled >= 1);
    // eight messages, and what software takes; once more for who took over what was still wrong
    assert_in_range(r->outcome[0].restored_ps, conf.software_ps, 2 * (conf.software_ps + 1200 * WEFT_PS_PER_US));
    assert_true(r->outcome[0].error_ps > 9 * WEFT_PS_PER_US && r->outcome[0].error_ps < 11 * WEFT_PS_PER_US);
}

static void same_seed_same_answer(void **state) {
    (void)state;
    struct weft_timesync_conf conf = defaults();
    const struct weft_clique *c = clique_chain(8, 40000, arena);
    const struct weft_timesync_result *a = weft_timesync_run(c, &conf, NULL, 0, 5, arena),
                                      *b = weft_timesync_run(c, &conf, NULL, 0, 5, arena),
                                      *other = weft_timesync_run(c, &conf, NULL, 0, 50, arena);
    assert_memory_equal(a->depth, b->depth, 8 * sizeof *a->depth);
    assert_memory_not_equal(a->depth, other->depth, 8 * sizeof *a->depth);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transmission_is_known_to_half_a_step),
        cmocka_unit_test(a_clock_drifts),
        cmocka_unit_test(channel_is_measured_in_steps),
        cmocka_unit_test(messages_are_judged),
        cmocka_unit_test(errors_add_up_as_roundings),
        cmocka_unit_test(every_error_is_within_its_bound),
        cmocka_unit_test(a_clique_is_within_its_bounds),
        cmocka_unit_test(damaged_messages_are_ignored),
        cmocka_unit_test(a_failed_link_is_routed_around),
        cmocka_unit_test(a_jump_is_signalled_and_mended),
        cmocka_unit_test(same_seed_same_answer),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
