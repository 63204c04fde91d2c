// SPDX-License-Identifier: Apache-2.0
// In-band bootstrap of a Clique against Aquila (NSDI'22), sections 3.5, 4.3 and 4.4: 3 to 48 minutes a TiN, about 2.5
// hours for all.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "arena.h"
#include "clique.h"
#include "weft/bootstrap.h"

static struct weft_bootstrap_conf defaults(void) {
    struct weft_bootstrap_conf conf;
    assert_int_equal(weft_params_load(&weft_bootstrap_table, NULL, &conf, arena, NULL), WEFT_OK);
    return conf;
}

static double minutes(weft_time_ps time) {
    return (double)time / 60e12;
}

/// What holds of every bootstrap in which nothing failed.
static void check(const struct weft_clique *c, const struct weft_bootstrap_conf *conf,
                  const struct weft_bootstrap_result *r) {
    assert_int_equal(r->done, c->tins);
    assert_true(r->sessions_most <= conf->sessions && r->targets_most <= conf->targets);
    for (uint32_t i = 0; i < c->tins; i++) {
        const struct weft_bootstrap_tin *t = &r->tin[i];
        assert_true(t->heard_ps <= t->begun_ps + conf->latency_ps && t->begun_ps < t->done_ps);
        assert_int_equal(t->tries, 1);
        assert_int_equal(t->wave == 0, c->tin[i].dcn);
        if (!t->wave) continue;
        bool neighbour = false;
        for (uint32_t k = 0; k < c->tin[i].links; k++)
            neighbour |= weft_clique_peer(c, i, weft_clique_link_at(c, i, k)) == t->proxy;
        assert_true(neighbour);
        assert_int_equal(t->wave, r->tin[t->proxy].wave + 1);
        assert_true(t->begun_ps >= r->tin[t->proxy].done_ps);
    }
}

/// 48 minutes is what the time between MOS words is calibrated on; 3 minutes and 2.5 hours come of assumed numbers.
static void full_clique(void **state) {
    (void)state;
    struct clique full = clique_build("gateways: 256, spines: 64");
    struct weft_bootstrap_conf conf = defaults();
    double most = 0;
    for (uint32_t seed = 1; seed <= 4; seed++) {
        const struct weft_bootstrap_result *r = weft_bootstrap_run(full.c, &conf, seed, arena);
        check(full.c, &conf, r);
        assert_true(minutes(r->least_ps) > 2.5 && minutes(r->least_ps) < 3.5);
        assert_true(minutes(r->done_ps) > 0.85 * 150 && minutes(r->done_ps) < 1.15 * 150);
        most = minutes(r->most_ps) > most ? minutes(r->most_ps) : most;
        // TiNs with a link to the datacenter network are faster than any other
        weft_time_ps slowest = 0, fastest = WEFT_TIME_NEVER;
        for (uint32_t i = 0; i < full.c->tins; i++) {
            weft_time_ps took = r->tin[i].done_ps - r->tin[i].begun_ps;
            if (full.c->tin[i].dcn && took > slowest) slowest = took;
            if (!full.c->tin[i].dcn && took < fastest) fastest = took;
        }
        assert_true(fastest > 3 * slowest);
    }
    assert_true(most > 46 && most < 52);
    built_free(&full.built);
}

/// The routing tables alone do not fit into the 2 MB of the control processor: 50 ports, 30 VCs, 47 pods and 11 TiNs.
static void bytes_of_a_tin(void **state) {
    (void)state;
    struct clique full = clique_build("gateways: 256, spines: 64");
    struct weft_bootstrap_conf conf = defaults();
    assert_int_equal(weft_bootstrap_bytes(full.c, &conf), 64000 + 50 * 30 * 58 * 24);
    assert_true(weft_bootstrap_bytes(full.c, &conf) > 2 << 20);
    built_free(&full.built);
}

static void words_of_a_packet(void **state) {
    (void)state;
    struct weft_bootstrap_conf conf = defaults();
    assert_int_equal(weft_bootstrap_words(&conf, 60), 10 + 2); // a word of header and one back
    assert_int_equal(weft_bootstrap_words(&conf, 61), 11 + 4);
    assert_int_equal(weft_bootstrap_words(&conf, 1024), 171 + 36);
    assert_int_equal(weft_bootstrap_words(&conf, 0), 0);
}

/// Two TiNs, nothing lost, no waiting: every step by hand.
static void one_target_by_hand(void **state) {
    (void)state;
    struct weft_bootstrap_conf conf = defaults();
    conf.loss = 0;
    conf.spread_ps = 0;
    conf.connect_ps = 1; // attempts without end
    struct weft_clique *c = clique_chain(2, 40000, arena);
    c->tin[0].dcn = true;
    const struct weft_bootstrap_result *r = weft_bootstrap_run(c, &conf, 1, arena);
    check(c, &conf, r);
    weft_bytes bytes = 64000 + 50 * 30 * 24, half = 64000 + 50 * 30 * 24 / 2; // one other pod
    assert_int_equal(r->tin_bytes, bytes);
    assert_int_equal(r->pmos_bytes, half);
    weft_time_ps rpc = conf.turnaround_ps + 2 * conf.latency_ps, second = WEFT_PS_PER_S;
    uint64_t all = (bytes + 1023) / 1024, first = (half + 1023) / 1024, rest = (bytes - half + 1023) / 1024;
    weft_time_ps own = conf.dhcp_ps + all * rpc + bytes * 8 * second / conf.tcp_rate_bps;
    assert_int_equal(r->tin[0].begun_ps, conf.start_ps);
    assert_in_range(r->tin[0].done_ps - conf.start_ps - own, 0, 0);
    uint64_t words = weft_bootstrap_words(&conf, 1200) + (first - 1) * weft_bootstrap_words(&conf, 1024) +
                     weft_bootstrap_words(&conf, half - (first - 1) * 1024);
    assert_int_equal(r->words, words);
    weft_time_ps target = conf.dhcp_ps + (first + rest) * rpc + words * conf.mos_word_ps +
                          (bytes - half) * 8 * second / conf.tcp_rate_bps;
    weft_time_ps took = r->tin[1].done_ps - r->tin[1].begun_ps;
    assert_in_range(took, target - rest, target + rest); // divisions
    // heard at the first discover after its neighbour is done
    assert_true(r->tin[1].begun_ps - r->tin[0].done_ps <= conf.discover_ps);
}

/// Proxies fail with all their targets: these are done by way of others, and so are the proxies when they are back.
static void a_lost_proxy(void **state) {
    (void)state;
    struct clique part = clique_build("pods: 6, tins: 4, gateways: 4, spines: 2");
    struct weft_bootstrap_conf conf = defaults();
    const struct weft_bootstrap_result *well = weft_bootstrap_run(part.c, &conf, 3, arena);
    check(part.c, &conf, well);
    conf.proxies_lost = 2;
    conf.lost_at_ps = 600 * WEFT_PS_PER_S;
    const struct weft_bootstrap_result *r = weft_bootstrap_run(part.c, &conf, 3, arena);
    assert_true(well->done_ps > conf.lost_at_ps);
    assert_int_equal(r->done, part.c->tins);
    assert_true(r->retried >= 2);
    uint32_t again = 0, lost = 0;
    for (uint32_t i = 0; i < part.c->tins; i++) {
        weft_time_ps back = conf.lost_at_ps + conf.lost_for_ps + conf.start_ps;
        again += r->tin[i].tries > 1;
        // booted twice itself
        lost += r->tin[i].tries > 1 && r->tin[i].begun_ps < conf.lost_at_ps && r->tin[i].done_ps > back;
        if (r->tin[i].wave) assert_true(r->tin[i].proxy != WEFT_NONE);
    }
    assert_int_equal(again, r->retried + conf.proxies_lost);
    assert_true(lost >= conf.proxies_lost);
    assert_true(r->done_ps > conf.lost_at_ps + conf.lost_for_ps);
    built_free(&part.built);
}

/// Without a path to the datacenter network no TiN is ever heard, and the run ends.
static void no_way_in(void **state) {
    (void)state;
    struct weft_bootstrap_conf conf = defaults();
    const struct weft_bootstrap_result *r = weft_bootstrap_run(clique_chain(3, 40000, arena), &conf, 1, arena);
    assert_int_equal(r->done, 0);
    assert_int_equal(r->waves, 0);
}

/// A row of TiNs, the first with a way out: a wave each.
static void waves(void **state) {
    (void)state;
    struct weft_bootstrap_conf conf = defaults();
    struct weft_clique *c = clique_chain(6, 40000, arena);
    c->tin[0].dcn = true;
    const struct weft_bootstrap_result *r = weft_bootstrap_run(c, &conf, 1, arena);
    check(c, &conf, r);
    assert_int_equal(r->waves, 6);
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(r->tin[i].wave, i);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_clique),
        cmocka_unit_test(bytes_of_a_tin),
        cmocka_unit_test(words_of_a_packet),
        cmocka_unit_test(one_target_by_hand),
        cmocka_unit_test(a_lost_proxy),
        cmocka_unit_test(no_way_in),
        cmocka_unit_test(waves),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
