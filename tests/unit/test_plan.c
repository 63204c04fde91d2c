// SPDX-License-Identifier: Apache-2.0
// The calculators against their sources: every row of the parameter tables of "SFC simulation" (IEEE P802.1Qdw; L.
// Chen, P. Congdon, L. Lv, R. Sivakolundu; part 4 and 5), the reaction times of IEEE 802.3 annex 31B, and SONiC's
// formula.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "weft/param.h"
#include "weft/param_load.h"
#include "weft/plan.h"

#define GBPS(n) ((n)*UINT64_C(1000000000))
#define KB(n) ((n)*UINT64_C(1000))
#define NS(n) ((n)*WEFT_PS_PER_NS)

enum { SLOW = WEFT_PLAN_TOO_SLOW, UNDER = WEFT_PLAN_UNDER_REACTING, OVER = WEFT_PLAN_OVER_REACTING };

/// A row of a table of the study: 200 Gbit/s throughout. Sizes in KB, delays and pauses in ns.
static const struct row {
    const char *slide;
    uint64_t layers, delay, processing, incast, buffer, pfc_threshold, threshold, pause; // given
    uint64_t pfc_headroom, excess, headroom, pause_min, pause_max;                       // as printed
    uint32_t warnings; ///< ours, by the study's three inequalities
} rows[] = {
    // Part 4, "Parameter calculation process": 3 layers. 5:1 is what the pause was computed for.
    {"part 4, N=5", 3, 150, 300, 5, 800, 780, 200, 20000, 15, 105, 420, 16800, 24800, 0},
    // The same settings with the incast of cases 1 and 2b. Headrooms as printed; ranges by the same inequalities.
    {"part 4, N=3 (case 1)", 3, 150, 300, 3, 800, 780, 200, 20000, 15, 105, 210, 8400, 16400, OVER},
    {"part 4, N=7 (case 2b)", 3, 150, 300, 7, 800, 780, 200, 20000, 15, 105, 630, 25200, 33200, SLOW | UNDER},
    {"part 4, case 4a: 2 layers", 2, 150, 300, 5, 800, 780, 200, 20000, 15, 60, 240, 9600, 17600, OVER},
    // Part 5, basic settings: 3:1, and the headrooms named for 5:1 and 7:1.
    {"part 5, basic settings, 10us", 2, 150, 300, 3, 400, 380, 200, 10000, 15, 60, 120, 4800, 12800, 0},
    {"part 5, basic settings, 6us", 2, 150, 300, 3, 400, 380, 200, 6000, 15, 60, 120, 4800, 12800, 0},
    {"part 5, basic settings, N=7", 2, 150, 300, 7, 400, 380, 200, 10000, 15, 60, 360, 14400, 22400, SLOW | UNDER},
    // Part 5, "Impact of buffer size".
    {"case 2", 2, 150, 300, 3, 400, 380, 200, 10000, 15, 60, 120, 4800, 12800, 0},
    {"case 2.1", 2, 150, 300, 3, 800, 780, 600, 10000, 15, 60, 120, 4800, 28800, 0},
    {"case 2.2", 2, 150, 300, 3, 1600, 1580, 1400, 10000, 15, 60, 120, 4800, 60800, 0},
    {"case 2.3", 2, 150, 300, 3, 2400, 2380, 2200, 10000, 15, 60, 120, 4800, 92800, 0},
    {"case 2.4", 2, 150, 300, 3, 3200, 3180, 3000, 10000, 15, 60, 120, 4800, 124800, 0},
    {"case 2.5", 2, 150, 300, 3, 4000, 3980, 3800, 10000, 15, 60, 120, 4800, 156800, 0},
    // Part 5, "Impact of buffer size and incast severity". Cases 3 and 3.1 leave 180 KB where 240 KB are needed.
    {"case 1", 2, 150, 300, 3, 400, 380, 200, 10000, 15, 60, 120, 4800, 12800, 0},
    {"case 3", 2, 150, 300, 5, 400, 380, 200, 10000, 15, 60, 240, 9600, 17600, SLOW},
    {"case 3.1", 2, 150, 300, 5, 800, 780, 600, 20000, 15, 60, 240, 9600, 33600, SLOW},
    {"case 3.1a", 2, 150, 300, 5, 800, 780, 400, 15000, 15, 60, 240, 9600, 25600, 0},
    {"case 3.1b", 2, 150, 300, 5, 800, 780, 200, 10000, 15, 60, 240, 9600, 17600, 0},
    {"case 3.2", 2, 150, 300, 5, 1200, 1180, 800, 20000, 15, 60, 240, 9600, 41600, 0},
    // Part 5, "Impact of link and switch delay". The upper limits printed for 4.1 and 4.2, 13.6 and 13.2 us, are those
    // of
    // thresholds of 300 and 250 KB; with the 200 KB printed they are 9.6 and 11.2 us.
    {"case 4.1 as printed", 2, 50, 100, 3, 400, 380, 300, 10000, 5, 20, 40, 1600, 13600, 0},
    {"case 4.1 with 200 KB", 2, 50, 100, 3, 400, 380, 200, 10000, 5, 20, 40, 1600, 9600, OVER},
    {"case 4.2 as printed", 2, 100, 200, 3, 400, 380, 250, 10000, 10, 40, 80, 3200, 13200, 0},
    {"case 4.2 with 200 KB", 2, 100, 200, 3, 400, 380, 200, 10000, 10, 40, 80, 3200, 11200, 0},
    {"case 4", 2, 150, 300, 3, 400, 380, 200, 10000, 15, 60, 120, 4800, 12800, 0},
    {"case 4.3", 2, 300, 600, 3, 400, 365, 100, 10000, 30, 120, 240, 9600, 13600, 0},
    {"case 4.4", 2, 600, 1200, 3, 400, 340, 50, 20000, 60, 240, 480, 19200, 21200, SLOW},
    {"case 4.5", 2, 1200, 2400, 3, 400, 280, 50, 40000, 120, 480, 960, 38400, 40400, SLOW},
    {"case 4.6", 2, 2400, 4800, 3, 400, 160, 50, 78000, 240, 960, 1920, 76800, 78800, SLOW},
    // Part 5, "Impact of SFC pause time".
    {"case 5.1", 2, 150, 300, 5, 800, 780, 400, 3000, 15, 60, 240, 9600, 25600, UNDER},
    {"case 5.2", 2, 150, 300, 5, 800, 780, 400, 6000, 15, 60, 240, 9600, 25600, UNDER},
    {"case 5.3", 2, 150, 300, 5, 800, 780, 400, 10000, 15, 60, 240, 9600, 25600, 0},
    {"case 5", 2, 150, 300, 5, 800, 780, 400, 15000, 15, 60, 240, 9600, 25600, 0},
    {"case 5.4", 2, 150, 300, 5, 800, 780, 400, 21000, 15, 60, 240, 9600, 25600, 0},
    {"case 5.5", 2, 150, 300, 5, 800, 780, 400, 36000, 15, 60, 240, 9600, 25600, OVER},
    {"case 5.6", 2, 150, 300, 5, 800, 780, 400, 55000, 15, 60, 240, 9600, 25600, OVER},
    {"case 5.7", 2, 150, 300, 5, 800, 780, 400, 100000, 15, 60, 240, 9600, 25600, OVER},
    {"case 5.8", 2, 150, 300, 5, 800, 780, 400, 160000, 15, 60, 240, 9600, 25600, OVER},
};

static void assert_same(const char *slide, const char *what, uint64_t found, uint64_t expected) {
    if (found != expected)
        fail_msg("%s: %s is %llu, printed %llu", slide, what, (unsigned long long)found, (unsigned long long)expected);
}

static void every_row_of_the_study(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        struct weft_plan_sfc_conf conf = {.rate_bps = GBPS(200),
                                          .delay_ps = NS(r->delay),
                                          .processing_ps = NS(r->processing),
                                          .layers = r->layers,
                                          .incast = r->incast,
                                          .buffer_bytes = KB(r->buffer),
                                          .pfc_threshold_bytes = KB(r->pfc_threshold),
                                          .threshold_bytes = KB(r->threshold),
                                          .pause_ps = NS(r->pause)};
        struct weft_plan_sfc p = weft_plan_calc_sfc(&conf, NULL);
        assert_same(r->slide, "PFC headroom", p.pfc_headroom_bytes, KB(r->pfc_headroom));
        assert_same(r->slide, "excess of a flow", p.excess_bytes, KB(r->excess));
        assert_same(r->slide, "SFC headroom", p.headroom_bytes, KB(r->headroom));
        assert_same(r->slide, "least pause", p.pause_ps_min, NS(r->pause_min));
        assert_same(r->slide, "longest pause", p.pause_ps_max, NS(r->pause_max));
        assert_same(r->slide, "interval", p.interval_ps, NS(r->pause));
        assert_same(r->slide, "warnings", p.warnings, r->warnings);
    }
}

static struct weft_plan_sfc_conf case_1(void) {
    return (struct weft_plan_sfc_conf){.rate_bps = GBPS(200),
                                       .delay_ps = NS(150),
                                       .processing_ps = NS(300),
                                       .layers = 2,
                                       .incast = 3,
                                       .buffer_bytes = KB(400)};
}

static void limits(void **state) {
    (void)state;
    struct weft_plan_sfc_conf conf = case_1();
    struct weft_plan_sfc p = weft_plan_calc_sfc(&conf, NULL);
    assert_int_equal(p.pfc_threshold_bytes_max, KB(385));
    assert_int_equal(p.threshold_bytes_max, KB(385 - 120));
    // Whatever is not given is chosen in range, and a chosen value is as good as a given one.
    assert_int_equal(p.warnings, 0);
    assert_int_equal(p.threshold_bytes, KB(198)); // 3/4 of 265 KB
    assert_int_equal(p.pause_ps, NS(9000));       // middle of 4.8 and 12.72 us
    // One byte more of each and it is too much.
    conf.pfc_threshold_bytes = KB(385);
    conf.threshold_bytes = KB(265);
    assert_int_equal(weft_plan_calc_sfc(&conf, NULL).warnings, 0);
    conf.threshold_bytes++;
    assert_int_equal(weft_plan_calc_sfc(&conf, NULL).warnings, WEFT_PLAN_TOO_SLOW);
    conf.pfc_threshold_bytes++;
    assert_int_equal(weft_plan_calc_sfc(&conf, NULL).warnings, WEFT_PLAN_LOSSY);
    // No room at all: no threshold, and said so.
    conf = case_1();
    conf.incast = 65536;
    p = weft_plan_calc_sfc(&conf, NULL);
    assert_int_equal(p.threshold_bytes_max, 0);
    assert_int_equal(p.threshold_bytes, 0);
    assert_int_equal(p.warnings, WEFT_PLAN_TOO_SLOW);
    assert_int_equal(p.pause_ps_min, p.pause_ps_max);
    // Without PFC the buffer is the limit.
    conf = case_1();
    conf.best_effort = true;
    p = weft_plan_calc_sfc(&conf, NULL);
    assert_int_equal(p.threshold_bytes_max, KB(400 - 120));
    assert_int_equal(p.warnings, 0);
}

static void ways(void **state) {
    (void)state;
    // "SFC simulation": 3 links and 5 switches in two layers, 5 and 9 in three; one switch is PFC's own loop.
    static const uint32_t expected[][3] = {{1, 1, 600}, {3, 5, 2400}, {5, 9, 4200}};
    for (uint32_t layers = 1; layers <= 3; layers++) {
        struct weft_plan_path path = weft_plan_calc_path(layers, NS(150), NS(300));
        assert_int_equal(path.links, expected[layers - 1][0]);
        assert_int_equal(path.passes, expected[layers - 1][1]);
        assert_int_equal(path.round_trip_ps, NS(expected[layers - 1][2]));
    }
}

static void needs_are_rounded_up(void **state) {
    (void)state;
    // 3 Gbit/s x 1 ps is less than a byte; 7 bytes at 3 Gbit/s take 18666.67 ps.
    assert_int_equal(weft_plan_calc_bytes(GBPS(3), 1), 1);
    assert_int_equal(weft_plan_calc_bytes(GBPS(3), 0), 0);
    assert_int_equal(weft_plan_calc_time_up(GBPS(3), 7), 18667);
    assert_int_equal(weft_plan_calc_time_down(GBPS(3), 7), 18666);
    assert_int_equal(weft_plan_calc_bytes(GBPS(3200), 100 * WEFT_PS_PER_MS), UINT64_C(40000000000)); // no overflow
    for (uint64_t bytes = 1; bytes < 3000; bytes += 7)
        for (uint64_t rate = GBPS(1); rate < GBPS(900); rate += GBPS(53) + 1) {
            weft_time_ps up = weft_plan_calc_time_up(rate, bytes), down = weft_plan_calc_time_down(rate, bytes);
            assert_true(up - down <= 1);
            assert_true(weft_plan_calc_bytes(rate, up) >= bytes && weft_plan_calc_bytes(rate, down) <= bytes);
        }
}

static void reaction_of_802_3(void **state) {
    (void)state;
    // IEEE 802.3 31B.3.7; at 100G 394 quanta are 2.02 us, at 400G 905 are 1.158 us.
    static const struct {
        uint64_t gbps;
        uint32_t quanta;
        weft_time_ps ps;
    } expected[] = {{1, 2, 1024000},     {10, 67, 3430400},   {25, 80, 1638400},
                    {40, 118, 1510400},  {50, 147, 1505280},  {100, 394, 2017280},
                    {200, 453, 1159680}, {400, 905, 1158400}, {800, 905, 579200}};
    struct weft_plan_pfc_conf conf = {.reaction_ps = WEFT_TIME_NEVER};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_int_equal(weft_pfc_calc_reaction(WEFT_TIME_NEVER, GBPS(expected[i].gbps)), expected[i].ps);
        assert_int_equal(weft_pfc_calc_reaction(70, GBPS(expected[i].gbps)), 70);
        assert_int_equal(expected[i].quanta * UINT64_C(512000) / expected[i].gbps, expected[i].ps);
        conf.rate_bps = GBPS(expected[i].gbps);
        assert_int_equal(weft_plan_calc_pfc(&conf).reaction_ps, expected[i].ps);
    }
    // Where it has no figure: the time of the next lower rate; 1.6T that of 800G, 10 Mbit/s that of 1G.
    assert_int_equal(weft_pfc_calc_reaction(WEFT_TIME_NEVER, GBPS(106)), 2017280);
    assert_int_equal(weft_pfc_calc_reaction(WEFT_TIME_NEVER, GBPS(1600)), 579200);
    assert_int_equal(weft_pfc_calc_reaction(WEFT_TIME_NEVER, 10000000), 1024000);
}

static struct weft_plan_pfc_conf pfc_defaults(weft_rate_bps rate, weft_time_ps delay) {
    struct weft_plan_pfc_conf conf = {0};
    for (uint32_t i = 0; i < weft_plan_pfc_table.n; i++) {
        const struct weft_param *row = &weft_plan_pfc_table.rows[i];
        if (!row->dflt || row->type == WEFT_PARAM_TEXT) continue; // no chip
        assert_int_equal(weft_param_parse(row, row->dflt, WEFT_NOWHERE, &conf, NULL, NULL), WEFT_OK);
    }
    conf.rate_bps = rate;
    conf.delay_ps = delay;
    return conf;
}

static void pfc_bound(void **state) {
    (void)state;
    // The formula of tests/theory/test_lossless.c, which runs it over random networks: delays at line rate, a pause
    // frame of 84 B, three frames of MTU + 98 B.
    struct weft_plan_pfc_conf conf = pfc_defaults(GBPS(200), NS(150));
    conf.processing_ps = NS(300);
    conf.reaction_ps = 0;
    conf.buffer_bytes = KB(800);
    struct weft_plan_pfc p = weft_plan_calc_pfc(&conf);
    assert_int_equal(p.headroom_bytes, 15000 + 84 + 3 * (4096 + 98));
    assert_int_equal(p.xoff_bytes_max, 800000 - p.headroom_bytes);
    conf.xoff_bytes = p.xoff_bytes_max;
    assert_false(weft_plan_calc_pfc(&conf).lossy);
    conf.xoff_bytes++;
    assert_true(weft_plan_calc_pfc(&conf).lossy);
    conf.phy_ps = NS(100);
    assert_int_equal(weft_plan_calc_pfc(&conf).headroom_bytes, p.headroom_bytes + 5000);
    conf.buffer_bytes = 1;
    assert_false(weft_plan_calc_pfc(&conf).fits);
}

static void pfc_sonic(void **state) {
    (void)state;
    // 400G and 5 m of cable (25.253 ns at 198000 km/s): peer 905 x 64 B, cable 2525.25 B, port MTU 9100 B.
    struct weft_plan_pfc_conf conf = pfc_defaults(GBPS(400), 25253);
    conf.formula = WEFT_PLAN_SONIC;
    struct weft_plan_pfc p = weft_plan_calc_pfc(&conf);
    assert_int_equal(p.reaction_bytes, 57920);
    assert_int_equal(p.cable_bytes, 2526);
    assert_int_equal(p.in_flight_bytes + p.frame_bytes, 57920 + 2526 + 9100);
    // All packets small: share 100 %, 144 B cells hold 64 B: factor ceil(144 / 64) = 3. 1024 + 3 x 70366 = 212122.
    assert_int_equal(p.headroom_bytes, 208 * 1024);
    assert_int_equal(p.xon_bytes, 18 * 1024);
    assert_int_equal(p.size_bytes, (208 + 18) * 1024);
    // Half of them: share 100 x 64 / ((50 x 64 + 50 x 1024) / 100) = 11.76 %; 1 + 0.1176 x 2 = 1.23529.
    // 1024 + 70366 x 1.23529 = 87947.
    conf.small_percent = 50;
    assert_int_equal(weft_plan_calc_pfc(&conf).headroom_bytes, 86 * 1024);
    // Cells of up to 128 B: factor ceil(2 x 96 / 97) = 2.
    conf.small_percent = 100;
    conf.cell_bytes = 96;
    assert_int_equal(weft_plan_calc_pfc(&conf).headroom_bytes, (1024 + 2 * 70366 + 1023) / 1024 * 1024);
    // Eight lanes: pipeline 2 x 18 - 1 KiB, and a port MTU on top.
    conf.lanes = 8;
    p = weft_plan_calc_pfc(&conf);
    assert_int_equal(p.xon_bytes, 35 * 1024);
    assert_int_equal(p.size_bytes, (p.headroom_bytes + p.xon_bytes + 9100 + 1023) / 1024 * 1024);
}

static void pfc_of_the_study(void **state) {
    (void)state;
    struct weft_plan_pfc_conf conf = pfc_defaults(GBPS(200), NS(150));
    conf.formula = WEFT_PLAN_STUDY;
    conf.processing_ps = NS(300);
    assert_int_equal(weft_plan_calc_pfc(&conf).headroom_bytes, KB(15));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_of_the_study),
        cmocka_unit_test(limits),
        cmocka_unit_test(ways),
        cmocka_unit_test(needs_are_rounded_up),
        cmocka_unit_test(reaction_of_802_3),
        cmocka_unit_test(pfc_bound),
        cmocka_unit_test(pfc_sonic),
        cmocka_unit_test(pfc_of_the_study),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
