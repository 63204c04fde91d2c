// SPDX-License-Identifier: Apache-2.0
// The controller of a Clique: how much state it holds (Aquila, NSDI'22, section 4.2), reboots and reconciliation (4.3),
// memory of a control processor, egress paths.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

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

static const char small_keys[] = "pods: 4, tins: 4, gateways: 4, spines: 2";

/// (1152 hosts + 576 processors) x 2 families x 576 TiNs = 1,990,656, "approximately 1.9 million"; by indexed groups
/// 576 times fewer. (18 endpoints with one VC + 32 links with four) x (47 pods + 11 TiNs) x 576 = 4,877,568: "almost 5
/// million". By six classes, (1 + 5 x 4) x 58 x 576 = 701,568: "approximately 700k".
static void counts_of_the_paper(void **state) {
    (void)state;
    struct clique full = clique_build("gateways: 256, spines: 64");
    struct weft_gnet_routes *r = weft_gnet_routes_new(full.built.t, full.fabric, &full.gnet, NULL);
    struct weft_sdn_counts n = weft_sdn_count(r, 50, 18);
    assert_int_equal(n.ip_addresses, 3456);
    assert_int_equal(n.ip_flows, 1990656);
    assert_int_equal(n.ip_flows / n.ip_indexed, 576);
    assert_int_equal(n.ip_flows % n.ip_indexed, 0);
    assert_int_equal(n.gnet_naive, 4877568);
    assert_int_equal(n.gnet_classes, 701568);
    assert_true(n.gnet_flows > n.gnet_classes / 3 && n.gnet_flows < n.gnet_classes); // VC 2 of few classes, no escapes
    weft_gnet_routes_free(r);
    built_free(&full.built);
}

/// Counted again, from the sets, for a Clique that fits on paper: what a class of a TiN may be asked for.
static void flows_by_enumeration(void **state) {
    (void)state;
    struct clique small = clique_build(small_keys);
    struct weft_gnet_routes *r = weft_gnet_routes_new(small.built.t, small.fabric, &small.gnet, NULL);
    struct weft_sdn_counts n = weft_sdn_count(r, 12, 4);
    uint64_t flows = 0, entries = 0;
    for (uint32_t x = 0; x < 16; x++)
        for (uint32_t input = 0; input < WEFT_GNET_INPUTS; input++)
            for (uint32_t vc = 0; vc < WEFT_GNET_ROUTING_VCS; vc++)
                for (uint32_t dst = 0; dst < 16; dst++) {
                    bool other_pod = dst / 4 != x / 4;
                    if (dst == x || (other_pod && dst % 4)) continue; // a flow a pod
                    const struct weft_gnet_set *set = weft_gnet_at(r, x, (enum weft_gnet_input)input, vc, dst);
                    if (!(set->minimal | set->nonminimal)) continue;
                    const struct weft_tin *tin = &small.fabric->tin[x];
                    uint32_t ports = input ? 0 : 4;
                    for (uint64_t left = tin->local | tin->global; left; left &= left - 1)
                        ports += tin->input[__builtin_ctzll(left)] == input;
                    flows++;
                    entries += ports;
                }
    assert_int_equal(n.gnet_flows, flows);
    assert_int_equal(n.gnet_entries, entries);
    assert_true(n.gnet_flows < n.gnet_classes && n.gnet_entries < n.gnet_naive); // not every class has every VC
    weft_gnet_routes_free(r);
    built_free(&small.built);
}

#define SECOND WEFT_PS_PER_S
#define RUN(keys, conf, seed, ...)                                                                                     \
    struct clique small = clique_build(keys);                                                                          \
    const struct weft_sdn_event event[] = {__VA_ARGS__};                                                               \
    struct weft_sdn *s = weft_sdn_new(small.built.t, small.fabric, &small.gnet, conf, seed);                           \
    const struct weft_sdn_result *r = weft_sdn_run(s, event, sizeof event / sizeof *event, arena)
static void done(struct weft_sdn *s, struct clique *small) {
    weft_sdn_free(s);
    built_free(&small->built);
}

/// A non-stop-forwarding reboot: entries stay, and a new session finds nothing to do, without a bootstrap.
static void nsf_reboot(void **state) {
    (void)state;
    struct weft_sdn_conf conf = defaults();
    RUN(small_keys, &conf, 1, {.time_ps = SECOND, .what = WEFT_SDN_REBOOT, .tin = 5});
    assert_int_equal(r->outcome[0].cut_pairs, 0);
    assert_int_equal(r->outcome[0].holes, 0);
    assert_int_equal(r->outcome[0].repaired, 0);
    assert_int_equal(r->outcome[0].writes, 0);
    weft_time_ps read = 2 * conf.latency_ps + 5000 * conf.read_ps;
    assert_in_range(r->outcome[0].session_ps, conf.reboot_ps, conf.reboot_ps + conf.connect_ps + read);
    done(s, &small);
}

/// A reboot that clears the registers loses traffic until all of them are written again.
static void reboot_that_stops_forwarding(void **state) {
    (void)state;
    struct weft_sdn_conf conf = defaults();
    conf.nsf = false;
    RUN(small_keys, &conf, 1, {.time_ps = SECOND, .what = WEFT_SDN_REBOOT, .tin = 5});
    assert_true(r->outcome[0].cut_pairs >= 15); // from it to all others at least
    assert_true(r->outcome[0].restored_ps > conf.reboot_ps);
    assert_true(r->outcome[0].repaired > 100);
    assert_int_equal(r->outcome[0].repaired, r->outcome[0].writes);
    assert_int_equal(r->outcome[0].left_pairs, 0);
    assert_int_equal(weft_sdn_differences(s), 0);
    done(s, &small);
}

/// A link fails while a session is lost: the batch waits, nothing turns black, and all is done after reconciliation.
static void a_batch_waits_for_a_session(void **state) {
    (void)state;
    struct weft_sdn_conf conf = defaults();
    uint32_t link = 0;
    RUN(small_keys, &conf, 1, {.time_ps = SECOND, .what = WEFT_SDN_CUT, .tin = 0},
        {.time_ps = 2 * SECOND, .what = WEFT_SDN_LINKS, .link = &link, .links = 1},
        {.time_ps = 60 * SECOND, .what = WEFT_SDN_HEAL, .tin = 0});
    assert_int_equal(r->outcome[1].done_ps, 0);
    assert_true(r->outcome[2].done_ps > 0);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(r->outcome[i].holes, 0);
    assert_int_equal(r->outcome[2].left_pairs, 0);
    assert_int_equal(weft_sdn_differences(s), 0);
    done(s, &small);
}

/// Sessions lost at random while links change: writes in flight are lost, detected, and repeated.
static void commands_lost_in_a_gap(void **state) {
    (void)state;
    struct weft_sdn_conf conf = defaults();
    conf.op_ps = WEFT_PS_PER_MS; // so that most are lost in flight
    uint64_t repaired = 0;
    for (uint32_t seed = 1; seed <= 8; seed++) {
        enum { N = 24 };
        struct clique small = clique_build(small_keys);
        struct weft_sdn_event event[N];
        uint32_t link[N];
        struct weft_random random = weft_random_stream(seed, 0, WEFT_RANDOM_TEST);
        for (uint32_t i = 0; i < N; i += 4) { // a link fails; a session is lost during writes; both come back
            weft_time_ps at = (1 + i) * 30 * SECOND, gap = weft_random_below(&random, 200) * WEFT_PS_PER_MS;
            const struct weft_clique_link *l = &small.c->link[weft_random_below(&random, small.c->links)];
            uint32_t tin = l->tin[weft_random_below(&random, 2)]; // one that is to be written
            link[i] = l->link;
            event[i] = (struct weft_sdn_event){.time_ps = at, .what = WEFT_SDN_LINKS, .link = &link[i], .links = 1};
            event[i + 1] = event[i + 2] = event[i + 3] = event[i];
            event[i + 1].what = i % 8 ? WEFT_SDN_REBOOT : WEFT_SDN_CUT;
            event[i + 2].what = WEFT_SDN_HEAL;
            event[i + 1].tin = event[i + 2].tin = tin;
            event[i + 1].time_ps += conf.compute_ps + gap;
            event[i + 2].time_ps += 10 * SECOND;
            event[i + 3].time_ps += 60 * SECOND;
            event[i + 3].up = true;
        }
        struct weft_sdn *s = weft_sdn_new(small.built.t, small.fabric, &small.gnet, &conf, seed);
        const struct weft_sdn_result *r = weft_sdn_run(s, event, N, arena);
        for (uint32_t i = 0; i < N; i++) {
            assert_int_equal(r->outcome[i].holes, 0);
            repaired += r->outcome[i].repaired;
        }
        assert_int_equal(r->outcome[N - 1].left_pairs, 0);
        assert_int_equal(weft_sdn_differences(s), 0);
        done(s, &small);
    }
    assert_true(repaired > 0);
}

/// An entry that is not what was written is found when a session is made again, and not before.
static void a_wrong_entry_is_repaired(void **state) {
    (void)state;
    struct weft_sdn_conf conf = defaults();
    RUN(small_keys, &conf, 4, {.time_ps = SECOND, .what = WEFT_SDN_CORRUPT, .tin = 3},
        {.time_ps = 20 * SECOND, .what = WEFT_SDN_REBOOT, .tin = 3});
    assert_int_equal(r->outcome[0].repaired, 0);
    assert_int_equal(r->outcome[1].repaired, 1);
    assert_int_equal(r->outcome[1].left_pairs, 0);
    assert_int_equal(weft_sdn_differences(s), 0);
    done(s, &small);
}

/// All registers anew: with one RPC at a time a control processor never runs out of memory; with many it does.
static void memory_of_a_control_processor(void **state) {
    (void)state;
    for (uint32_t outstanding = 1; outstanding <= 64; outstanding *= 64)
        for (uint32_t rate = 0; rate <= 20000; rate += 20000) {
            struct weft_sdn_conf conf = defaults();
            conf.nsf = false;
            conf.outstanding = outstanding;
            conf.rate = rate;
            conf.rpc_bytes = 1024;
            conf.firmware_bytes = conf.sram_bytes - 2 * conf.rpc_bytes;
            RUN(small_keys, &conf, 1, {.time_ps = SECOND, .what = WEFT_SDN_REBOOT, .tin = 5});
            assert_true(r->sram_most <= conf.sram_bytes);
            // the limit of 20000 a second is less than the 50000 that firmware writes
            bool overrun = outstanding > 1 && !rate;
            assert_int_equal(r->overflows > 0, overrun);
            if (!overrun) assert_int_equal(weft_sdn_differences(s), 0);
            done(s, &small);
        }
}

/// A link to the datacenter network fails: a quarter of what leaves the Clique is lost until the egress paths are known
/// to all TiNs.
static void egress_paths(void **state) {
    (void)state;
    struct weft_sdn_conf conf = defaults();
    RUN(small_keys, &conf, 1, {.time_ps = SECOND, .what = WEFT_SDN_DCN, .tin = 0},
        {.time_ps = 10 * SECOND, .what = WEFT_SDN_DCN, .tin = 0, .up = true});
    weft_time_ps known = conf.detect_ps + conf.latency_ps + conf.ibr_ps + 2 * (conf.nib_write_ps + conf.nib_ps),
                 written = conf.call_ps + conf.rpc_ps + conf.latency_ps + conf.op_ps;
    assert_int_equal(r->outcome[0].done_ps, known + written);
    assert_true(r->outcome[0].lost_ps == 0.25 * (double)(known + written));
    assert_true(r->outcome[1].lost_ps == 0);
    done(s, &small);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_of_the_paper),
        cmocka_unit_test(flows_by_enumeration),
        cmocka_unit_test(nsf_reboot),
        cmocka_unit_test(reboot_that_stops_forwarding),
        cmocka_unit_test(a_batch_waits_for_a_session),
        cmocka_unit_test(commands_lost_in_a_gap),
        cmocka_unit_test(a_wrong_entry_is_repaired),
        cmocka_unit_test(memory_of_a_control_processor),
        cmocka_unit_test(egress_paths),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
