// SPDX-License-Identifier: Apache-2.0
// Between the buildings of a region: cells within each, ECMP by IP between them. Each run also says that bytes are
// conserved and that threads change nothing (run.h).
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run.h"

/// Two buildings of 16 hosts; an edge PoD has 4 EDSWs of 4 links, 16 exits.
#define REGION                                                                                                         \
    "topology: {kind: dsf_region, l2_zones: 2, zones: 2, rdsws: 4, rails: 1, fdsws: 2, sdsws: 2, virtual_devices: 2, " \
    "lane_rate: 850Gbps, hosts_per_rdsw: 2, edsws: 4, edge_fdsws: 2, superspine_groups: 2, edsw_superspines: 2, "      \
    "superspine_links: 2}\n"                                                                                           \
    "switch: {buffer: {kind: dynamic, total: 4GB, alpha: 2}}\n"

static void assert_clean(const struct run *r) {
    run_assert_complete(r);
    assert_int_equal(run_drops(r), 0);
    for (uint32_t i = 0; i < r->outcome->flows; i++)
        assert_int_equal(r->outcome->flow[i].out_of_order, 0);
}

/// One packet of 100 B, 178 B with its headers and one cell of 200 B, to the other building. At 400G a byte is 20 ps,
/// at 800G and on a lane (16/17 of 850G) 10. Switches and interface nodes take 300 ns.
///   host to RDSW          (178 + 8) x 20 + 100000 + 300000                               =  403720
///   RDSW to EDSW          four lanes of 350, 1100, 1100, 350 ns, each with 300 ns at its end: 4100000; request and
///                         credit 4 x 14 x 10 more each, the cell 4 x 200 x 10
///   EDSW to superspine    (178 + 8) x 10 + 1100000 + 300000, and the same to the other EDSW
///   EDSW to RDSW          as from RDSW to EDSW
///   RDSW to host          (178 + 8) x 20 + 100000                                        =  103720
static void one_packet_takes_what_its_parts_take(void **state) {
    struct run r = RUN(run_text, REGION "workload: [{kind: flow, src: host-0, dst: host-16, size: 100B}]\n");
    weft_time_ps fabric = 3 * 4100000 + 2 * 4 * 140 + 4 * 2000, link = 1860 + 1400000;
    assert_int_equal(run_fct(&r, 0), 403720 + 2 * fabric + 2 * link + 103720);
    assert_int_equal(run_fct(&r, 0), r.outcome->flow[0].ideal_ps + 2 * 2 * (4100000 + 4 * 140)); // requests and credits
    assert_clean(&r);
    run_free(&r);
}

/// Bytes of data that leave building 0 by exit i.
static uint64_t by_exit(const struct run *r, uint32_t i) {
    char name[32];
    uint64_t bytes = 0;
    snprintf(name, sizeof name, "edsw-%u/%u", i / 4, i % 4);
    for (uint32_t priority = 0; priority < WEFT_PRIORITIES; priority++)
        bytes += run_counters(r, name, priority)->tx_bytes;
    return bytes;
}

/// Of 1000 flows over 16 links the fullest has 1.229 times the mean (balls in bins). 16 hosts with 62 queue pairs of a
/// packet each, 992: 1.23. Mean of 8 seeds: its deviation is that of one, 0.064, over the root of 8.
static void exits_are_chosen_by_hash(void **state) {
    double sum = 0;
    for (uint32_t seed = 1; seed <= 8; seed++) {
        struct run r = RUN(run_once,
                           REGION "workload:\n- {kind: incast, sources: 'host-0..15', dst: host-16, qps: 62, "
                                  "size: 253952B}\nrun: {seed: %u}\n",
                           seed);
        assert_clean(&r);
        uint64_t total = 0, most = 0;
        for (uint32_t i = 0; i < 16; i++) {
            uint64_t bytes = by_exit(&r, i);
            assert_true(bytes > 0);
            total += bytes;
            if (bytes > most) most = bytes;
        }
        sum += (double)most * 16 / (double)total;
        run_free(&r);
    }
    if (fabs(sum / 8 - 1.23) > 3 * 0.064 / sqrt(8)) fail_msg("%.3f times the mean", sum / 8);
}

/// Within the building there is no such unevenness: all lanes of an RDSW carry the same to 2 %, where of the exits some
/// are empty.
static void lanes_are_even_where_exits_are_not(void **state) {
    struct run r = RUN(run_text, REGION "workload:\n- {kind: flow, src: host-0, dst: host-16, size: 8MB}\n"
                                        "- {kind: flow, src: host-2, dst: host-18, size: 8MB}\n");
    assert_clean(&r);
    uint32_t used = 0;
    for (uint32_t i = 0; i < 16; i++)
        used += by_exit(&r, i) > 0;
    assert_in_range(used, 1, 2);
    uint64_t fewest = UINT64_MAX, most = 0;
    for (uint32_t k = 2; k < 6; k++) {
        char name[32];
        snprintf(name, sizeof name, "rdsw-0/%u", k);
        uint64_t bytes = run_counters(&r, name, 0)->tx_bytes;
        if (bytes < fewest) fewest = bytes;
        if (bytes > most) most = bytes;
    }
    assert_true(fewest > 1000000 && (double)most < 1.02 * (double)fewest);
    run_free(&r);
}

#define EDSW_FAILS "events: [{at: 20us, link: 'edsw-1/*', state: down}]\nrun: {detection: 5us}\n"
#define FIRST "{kind: incast, sources: 'host-0..15', dst: host-16, qps: 8, size: 1MB}"

/// An EDSW fails; what was under way is sent again by what is left, and what begins later leaves by nothing else.
static void an_edsw_fails(void **state) {
    struct run first = RUN(run_once, REGION "workload: [" FIRST "]\n" EDSW_FAILS);
    struct run both = RUN(run_once, REGION "workload: [" FIRST ", {kind: incast, sources: 'host-0..15', dst: host-17, "
                                           "qps: 8, size: 400KB, start: 200ms}]\n" EDSW_FAILS);
    run_assert_complete(&first);
    run_assert_complete(&both);
    uint32_t again = 0;
    for (uint32_t f = 0; f < 16; f++) {
        assert_true(run_fct(&both, f) < 200 * WEFT_PS_PER_MS);
        again += both.outcome->flow[f].packets_again > 0;
        assert_int_equal(both.outcome->flow[16 + f].packets_again, 0);
    }
    assert_true(again > 0);
    for (uint32_t i = 0; i < 16; i++) {
        uint64_t before = by_exit(&first, i), after = by_exit(&both, i);
        assert_true(before > 0);
        assert_int_equal(after > before, i / 4 != 1);
    }
    run_free(&first);
    run_free(&both);
}

/// A hash that keeps state would come to two answers at the two ends.
static void refused(void **state) {
    struct run r = {0};
    const char *text = REGION "devices: [{match: 'rdsw-*', switch: {route: spray}}]\n"
                              "workload: [{kind: flow, src: host-0, dst: host-16, size: 4096B}]\n";
    assert_int_equal(weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &r.file, &r.error), WEFT_OK);
    assert_int_equal(run_bind(&r, 0), WEFT_ERROR_INPUT);
    if (!strstr(r.error.text, "t.yaml:3:") || !strstr(r.error.text, "spray keeps state")) fail_msg("%s", r.error.text);
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_packet_takes_what_its_parts_take),
        cmocka_unit_test(exits_are_chosen_by_hash),
        cmocka_unit_test(lanes_are_even_where_exits_are_not),
        cmocka_unit_test(an_edsw_fails),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
