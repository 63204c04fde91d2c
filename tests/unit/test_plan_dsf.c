// SPDX-License-Identifier: Apache-2.0
// Sizes of a DSF against figures of Broadcom's SDK (OpenBCM 6.5.24: iqs_tune.c, fabric_tune.c), FBOSS (Jericho3Asic.h,
// platform mappings) and Meta's text; each beside its row.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "box/dsf/dsf_conf.h"
#include "topologies.h"
#include "weft/plan_dsf.h"

#define GBPS(n) ((n)*UINT64_C(1000000000))
#define NS(n) ((n)*WEFT_PS_PER_NS)
#define MIB (UINT64_C(1) << 20)

static struct weft_plan_dsf_conf defaults(void) {
    struct weft_plan_dsf_conf c = {0};
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct weft_error error = {0};
    if (weft_params_load(&weft_plan_dsf_table, NULL, &c, arena, &error)) fail_msg("%s", error.text);
    weft_arena_free(arena); // no texts in it
    return c;
}

static struct weft_plan_dsf at_rate(uint64_t gbps, weft_time_ps rtt) {
    struct weft_plan_dsf_conf c = defaults();
    c.rate_bps = GBPS(gbps);
    c.rtt_ps = rtt;
    return weft_plan_calc_dsf(&c);
}

static void assert_near(double found, double wanted, double tolerance) {
    if (found < wanted - tolerance || found > wanted + tolerance) fail_msg("%g, expected %g", found, wanted);
}

// iqs_tune.c with fabric elements (a delay of 1000 ns), slow disabled: at 400G 13 credits in flight, 57,344 B and
// 155,648 B; at 800G 25, 106,496 B and 303,104 B. Slow enabled: 0, 2 credits, 2 (13 + 1) credits. Backoff 64 KiB once,
// twice, four times. Alone (300 ns) 4 credits in flight, 20,480 B and 45,056 B.
static void presets(void **state) {
    (void)state;
    struct weft_plan_dsf p = at_rate(400, 0);
    assert_int_equal(p.inflight, 13);
    assert_int_equal(p.empty_bytes, 57344);
    assert_int_equal(p.balance_bytes_max, 155648);
    assert_int_equal(p.slow_bytes, 0);
    assert_int_equal(p.backoff_bytes[0], 65536);
    assert_int_equal(p.backoff_bytes[2], 262144);
    p = at_rate(800, 0);
    assert_int_equal(p.inflight, 25);
    assert_int_equal(p.empty_bytes, 106496);
    assert_int_equal(p.balance_bytes_max, 303104);
    assert_int_equal(at_rate(10, 0).inflight, 2); // at least
    struct weft_plan_dsf_conf c = defaults();
    c.voq_preset = WEFT_VOQ_SLOW_ENABLED;
    p = weft_plan_calc_dsf(&c);
    assert_int_equal(p.empty_bytes, 0);
    assert_int_equal(p.balance_bytes_max, 8192);
    assert_int_equal(p.slow_bytes, 114688);
    c = defaults();
    c.fabric_delay_ps = NS(300);
    p = weft_plan_calc_dsf(&c);
    assert_int_equal(p.inflight, 4);
    assert_int_equal(p.empty_bytes, 20480);
    assert_int_equal(p.balance_bytes_max, 45056);
    c.fabric_delay_ps = NS(10000); // 123 credits: 3 x 123 x 4096 would be 1.5 MB
    assert_int_equal(weft_plan_calc_dsf(&c).balance_bytes_max, 500000);
}

// The file of Jericho 2's data, by fabric_connect_mode; a delay of one's own comes first.
static void delay_of_a_mode(void **state) {
    (void)state;
    static const unsigned ns[] = {[WEFT_FABRIC_FE] = 1000, [WEFT_FABRIC_MESH] = 500, [WEFT_FABRIC_NONE] = 300};
    for (uint32_t mode = 0; mode < 3; mode++) {
        struct weft_interface_conf c = {.fabric_mode = mode};
        assert_int_equal(weft_interface_fabric_delay(&c), NS(ns[mode]));
        c.fabric_delay_ps = NS(700);
        assert_int_equal(weft_interface_fabric_delay(&c), NS(700));
    }
}

// ceil(B x RTT / 32768 bits): 800G and 5 us take 123 credits, 503,808 B: just above the preset's cap of 500,000 B.
static void credits_of_a_loop(void **state) {
    (void)state;
    struct weft_plan_dsf p = at_rate(800, NS(5000));
    assert_int_equal(p.credits_needed, 123);
    assert_int_equal(p.needed_bytes, 503808);
    assert_int_equal(p.warnings, WEFT_PLAN_DSF_ABOVE_CAP | WEFT_PLAN_DSF_BLOCKING); // 36 ports of 800G
    assert_int_equal(p.throughput_bps, GBPS(800));
    assert_int_equal(at_rate(400, NS(4096)).credits_needed, 50); // exactly: 400G x 4.096 us / 32768
    assert_int_equal(at_rate(400, NS(4096) + 1).credits_needed, 51);
}

// min(B, credits x size / RTT).
static void throughput(void **state) {
    (void)state;
    struct weft_plan_dsf_conf c = defaults();
    c.rtt_ps = NS(8192);
    for (c.credits = 1; c.credits < 200; c.credits++) {
        struct weft_plan_dsf p = weft_plan_calc_dsf(&c);
        uint64_t by_credits = c.credits * GBPS(4); // 4096 x 8 bits / 8.192 us
        assert_int_equal(p.throughput_bps, by_credits < GBPS(400) ? by_credits : GBPS(400));
        assert_int_equal(!!(p.warnings & WEFT_PLAN_DSF_STARVING), by_credits < GBPS(400));
    }
    c.rtt_ps = 0;
    c.delay_ps = NS(350);
    c.nodes = 1;
    assert_int_equal(weft_plan_calc_dsf(&c).rtt_ps, NS(2 * (350 + 2 * 300)));
}

// 160 lanes of 106.25G, 36 x 400G: 17.0T over 14.4T, 1.18 raw; 100G a lane after RS544, 256 of 268 bytes: 15.28T, 1.06.
static void speedup(void **state) {
    (void)state;
    struct weft_plan_dsf_conf c = defaults();
    struct weft_plan_dsf p = weft_plan_calc_dsf(&c);
    assert_int_equal(p.raw_bps, GBPS(17000));
    assert_int_equal(p.coded_bps, GBPS(16000));
    assert_near((double)p.payload_bps, 15.28e12, 0.005e12);
    assert_near(p.raw_speedup, 1.18, 0.005);
    assert_near(p.net_speedup, 1.06, 0.005);
    assert_int_equal(p.warnings, 0);
    // 4158 B and 10 B of fabric header are 17 cells; 17 x 12 B of cell headers
    assert_int_equal(p.frame_cells, 17);
    assert_int_equal(p.fabric_bytes, 4158 + 10 + 17 * 12);
    assert_near(p.frame_speedup, 16000.0 / 14400 * 4178 / 4372, 1e-9);
    c.lanes = 150; // 15T / 1.047 is 14.33T
    assert_int_equal(weft_plan_calc_dsf(&c).warnings, WEFT_PLAN_DSF_BLOCKING);
}

// fabric_tune.c: n x link rate / (r + 1), link rate = speed x 0.90 x 0.95 x 0.99 x 0.95, about 0.80.
static void permitted_rates(void **state) {
    (void)state;
    struct weft_plan_dsf_conf c = defaults();
    c.lanes = 40;
    struct weft_plan_dsf p = weft_plan_calc_dsf(&c);
    assert_near((double)p.rci_lane_bps / 106.25e9, 0.80, 0.005);
    for (unsigned r = 1; r < WEFT_PLAN_RCI_LEVELS; r++)
        assert_near((double)p.rci_bps[r], 40 * 106.25e9 * 0.8041275 / (r + 1), 8);
}

// Jericho3Asic.h: 128 MiB on chip, 12 GiB of deep buffer, a queue at most half of it.
static void buffers(void **state) {
    (void)state;
    struct weft_plan_dsf_conf c = defaults();
    assert_int_equal(c.sram_bytes, 128 * MIB);
    assert_int_equal(c.buffer_bytes, 12 * 1024 * MIB);
    struct weft_plan_dsf p = weft_plan_calc_dsf(&c);
    assert_near((double)p.sram_ps, 128.0 * MIB * 8 / 14.4, 1); // ps at 14.4T
    assert_near((double)p.buffer_ps, 12288.0 * MIB * 8 / 14.4, 1);
    assert_int_equal(p.incast_excess_bps, GBPS(375));
    assert_near((double)p.voq_ps, 6144.0 * MIB * 8 / 0.375, 1);
    // 5 us at 36 x 400G x 1.05 and a packet of each of the 511 others
    assert_int_equal(p.reassembly_bytes, 9450000 + 511 * 4158);
    assert_int_equal(p.egress_bytes, 32768 + 430500); // 420G x 8.2 us
    assert_near((double)p.skew_ps_max, 3.0 * 4096 * 268 * 8 * 10, 1);
    // weft plan pfc --rate 400Gbps --delay 100ns --processing 300ns
    struct weft_plan_pfc_conf pfc = {.rate_bps = GBPS(400),
                                     .delay_ps = NS(100),
                                     .processing_ps = NS(300),
                                     .reaction_ps = WEFT_TIME_NEVER,
                                     .mtu_bytes = 4096};
    assert_int_equal(p.pfc.headroom_bytes, weft_plan_calc_pfc(&pfc).headroom_bytes);
    assert_int_equal(p.xoff_bytes_max, (128 * MIB - 36 * p.pfc.headroom_bytes) / 36);
}

// Regions tens of kilometres apart, 5 us a kilometre: 40 km are 200 us, and 800G has 40 MB under way there and back.
static void distance(void **state) {
    (void)state;
    struct weft_plan_dsf_conf c = defaults();
    assert_int_equal(weft_plan_calc_dsf(&c).far_ps, 0);
    c.rate_bps = GBPS(800);
    c.ports = 16;
    c.rtt_ps = NS(5000);
    c.distance_km = 40;
    struct weft_plan_dsf p = weft_plan_calc_dsf(&c);
    assert_int_equal(p.far_ps, NS(200000));
    assert_int_equal(p.far_bytes, 40000000);
    assert_int_equal(p.far_credits, 9888); // 800G x 405 us / 32768 = 9887.7
    assert_true(p.far_pfc.headroom_bytes > p.far_bytes);
}

static void of_a_topology(void **state) {
    (void)state;
    struct built b = build_text("topology: {kind: dsf_region, l2_zones: 2, zones: 2, rdsws: 8, fdsws: 2, sdsws: 4, "
                                "hosts_per_rdsw: 6, edsws: 4, edge_fdsws: 2, superspine_groups: 1, fdsw_delay: 200ns, "
                                "sdsw_delay: 1us, nics: [{zone: 3, host_rate: 800Gbps, hosts_per_rdsw: 3}]}");
    assert_non_null(b.t);
    struct weft_plan_dsf_conf base = defaults();
    uint32_t sorts;
    struct weft_plan_dsf_sort *s = weft_plan_topology_dsf(b.t, &base, b.arena, &sorts);
    const struct {
        const char *layer;
        uint32_t nodes;
        uint64_t ports, gbps;
    } wanted[] = {{"rdsw", 24, 6, 400}, {"edsw", 8, 16, 800}, {"rdsw", 8, 3, 800}};
    assert_int_equal(sorts, 3);
    for (uint32_t i = 0; i < sorts; i++) {
        assert_string_equal(s[i].layer, wanted[i].layer);
        assert_int_equal(s[i].nodes, wanted[i].nodes);
        assert_int_equal(s[i].conf.ports, wanted[i].ports);
        assert_int_equal(s[i].conf.rate_bps, GBPS(wanted[i].gbps));
        assert_int_equal(s[i].conf.lanes, 8);
        assert_int_equal(s[i].conf.lane_rate_bps, UINT64_C(106250000000));
        assert_int_equal(s[i].conf.interfaces, 2 * 8 + 4); // of a building
        assert_int_equal(s[i].conf.nodes, 3);
        assert_int_equal(s[i].conf.delay_ps, NS(2400));
    }
    built_free(&b);
    b = build_text("topology: {kind: dsf_l1_zone, rdsws: 8, fdsws: 2, hosts_per_rdsw: 2}");
    s = weft_plan_topology_dsf(b.t, &base, b.arena, &sorts);
    assert_int_equal(sorts, 1);
    assert_int_equal(s[0].conf.nodes, 1);
    assert_int_equal(s[0].conf.delay_ps, NS(700));
    assert_int_equal(s[0].conf.host_delay_ps, NS(100));
    built_free(&b);
    b = build_text("topology: single");
    weft_plan_topology_dsf(b.t, &base, b.arena, &sorts);
    assert_int_equal(sorts, 0);
    built_free(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(presets),    cmocka_unit_test(delay_of_a_mode), cmocka_unit_test(credits_of_a_loop),
        cmocka_unit_test(throughput), cmocka_unit_test(speedup),         cmocka_unit_test(permitted_rates),
        cmocka_unit_test(buffers),    cmocka_unit_test(distance),        cmocka_unit_test(of_a_topology),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
