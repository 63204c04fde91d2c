// SPDX-License-Identifier: Apache-2.0
// Link-level flow control of fabric links, in whole runs: when lanes stop, how deep FIFOs become, that nothing is lost
// or stuck.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "box/dsf/dsf_outcome.h"
#include "run.h"

enum { LANES = 3, CELL = 268 };

/// LANES interface nodes send by one lane each to a fabric node that has one lane to the interface node they send to.
/// RCI and the scheduler of credits are kept from doing what flow control is to do.
#define FUNNEL                                                                                                         \
    "topology: {kind: list, nodes: [{name: fn, role: switch, box: "                                                    \
    "dsf_fabric}, {name: x, role: switch, box: dsf_interface}, {name: a, role: switch, box: dsf_interface}, {name: "   \
    "b, role: switch, box: dsf_interface}, {name: c, role: switch, box: dsf_interface}, {name: hx, role: host}, "      \
    "{name: ha, role: host}, {name: hb, role: host}, {name: hc, role: host}], links: [{from: hx, to: x, rate: "        \
    "400Gbps, delay: 200ns}, {from: ha, to: a, rate: 400Gbps, delay: 200ns}, {from: hb, to: b, rate: 400Gbps, delay: " \
    "200ns}, {from: hc, to: c, rate: 400Gbps, delay: 200ns}, "                                                         \
    "{from: x, to: fn, rate: 100Gbps, delay: 200ns}, {from: a, to: fn, rate: 100Gbps, delay: 200ns}, {from: b, to: "   \
    "fn, rate: 100Gbps, delay: 200ns}, {from: c, to: fn, rate: 100Gbps, delay: 200ns}]}\n"                             \
    "switch: {buffer: {kind: dynamic, total: 4GB, alpha: 2}}\n"                                                        \
    "host: {cc: none}\n"                                                                                               \
    "interface_node: {rci: off, reassembly_timeout: 1s, reassembly_buffer: 64MiB}\n"                                   \
    "workload: [{kind: incast, sources: 'ha,hb,hc', dst: hx, size: 1MB}]\n"

static uint64_t deepest(const struct run *r) {
    return run_counters(r, "fn/0", 0)->queue_bytes_max / CELL;
}

/// Each cell time LANES cells come and one goes. Above the threshold each lane is told so by its next cell, at most a
/// cell time later. The signal takes 14 B at 80 ps, the link of 200 ns and 300 ns at the interface node; the cell that
/// it is sending then takes at most a cell time, and the link and 300 ns more. For so long the FIFO grows by LANES - 1
/// cells a cell time.
static double overshoot(void) {
    double cell = CELL * 80, loop = cell + 14 * 80 + 2 * (200000 + 300000) + cell;
    return (LANES - 1) * loop / cell;
}

static void fifo_grows_by_the_loop(void **state) {
    static const uint32_t stops[] = {100, 400, 1000};
    for (uint32_t i = 0; i < 3; i++) {
        struct run r =
            RUN(run_once, FUNNEL "fabric_node: {llfc: on, llfc_stop: %u, llfc_go: 80, mark: 65535}\n", stops[i]);
        run_assert_complete(&r);
        double most = (double)deepest(&r), expected = stops[i] + overshoot();
        // Lanes may be in step: LANES cells come at once before one goes.
        if (fabs(most - expected) > LANES + 1) fail_msg("%g cells, expected %g", most, expected);
        assert_int_equal(run_drops(&r), 0);
        assert_true(weft_outcome_dsf(r.outcome)->llfc_stops >= LANES);
        run_free(&r);
    }
}

/// Lossless to the cell: with room for the overshoot nothing is lost; with less, and without flow control, it is.
static void room_for_the_loop_is_enough(void **state) {
    static const struct {
        const char *llfc;
        double room; ///< cells beyond the threshold, of the overshoot
        bool lossless;
    } row[] = {{"on", 1, true}, {"on", 0.7, false}, {"off", 1, false}};
    for (uint32_t i = 0; i < 3; i++) {
        unsigned fifo = 200 + (unsigned)(row[i].room * overshoot()) + LANES + 1;
        struct run r = RUN(run_once,
                           FUNNEL "fabric_node: {llfc: %s, llfc_stop: 200, llfc_go: 80, mark: 65535, fifo: %u}\n"
                                  "run: {until: 1ms}\n",
                           row[i].llfc, fifo);
        assert_int_equal(weft_outcome_dsf(r.outcome)->cells_dropped == 0, row[i].lossless);
        run_free(&r);
    }
}

static weft_time_ps last_end(const char *fabric) {
    struct run r = RUN(run_once, FUNNEL "fabric_node: {%s, mark: 65535}\n", fabric);
    weft_time_ps last = 0;
    for (uint32_t i = 0; i < r.outcome->flows; i++)
        if (run_fct(&r, i) > last) last = run_fct(&r, i);
    assert_int_equal(run_drops(&r), 0);
    run_free(&r);
    return last;
}

/// What is left when lanes may go on again lasts until their cells are there: a lane that is needed never idles. With
/// less left it does, for the rest of the loop each time.
static void no_throughput_is_lost(void **state) {
    weft_time_ps deep = last_end("fifo: 65535"), good = last_end("llfc: on, llfc_stop: 400, llfc_go: 80"),
                 bad = last_end("llfc: on, llfc_stop: 20, llfc_go: 0");
    if (fabs((double)good / (double)deep - 1) > 0.002) fail_msg("%" PRIu64 " against %" PRIu64, good, deep);
    if ((double)bad < 1.1 * (double)deep) fail_msg("%" PRIu64 " against %" PRIu64, bad, deep);
}

/// Cells go up and then down, so stops cannot wait for one another in a circle: whatever the thresholds, all ends.
static void nothing_stands_still(void **state) {
    for (uint32_t seed = 1; seed <= 3; seed++) {
        struct run r = RUN(run_once,
                           "topology: {kind: dsf_l2_zone, zones: 2, sdsws: 2, rdsws: 4, rails: 1, fdsws: 2, "
                           "virtual_devices: 1, hosts_per_rdsw: 2, host_rate: 400Gbps}\n"
                           "switch: {buffer: {kind: dynamic, total: 4GB, alpha: 2}}\n"
                           "fabric_node: {llfc: on, llfc_stop: %u, llfc_go: 0, mark: 65535}\n"
                           "interface_node: {rci: off, credit_speedup: 4, reassembly_timeout: 1s}\n"
                           "workload: [{kind: all_to_all, size: 40KB}]\nrun: {seed: %u}\n",
                           seed, seed);
        run_assert_complete(&r);
        assert_int_equal(run_drops(&r), 0);
        assert_true(weft_outcome_dsf(r.outcome)->llfc_stopped_ps > 0);
        run_free(&r);
    }
}

static void threads_change_nothing(void **state) {
    struct run r = RUN(run_text, FUNNEL "fabric_node: {llfc: on, llfc_stop: 20, llfc_go: 2}\nrun: {until: 100us}\n");
    assert_true(r.outcome->held_bytes > 0); // what waits for a stopped lane
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fifo_grows_by_the_loop), cmocka_unit_test(room_for_the_loop_is_enough),
        cmocka_unit_test(no_throughput_is_lost),  cmocka_unit_test(nothing_stands_still),
        cmocka_unit_test(threads_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
