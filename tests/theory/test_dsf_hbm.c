// SPDX-License-Identifier: Apache-2.0
// The deep buffer of an interface node: what goes to HBM, and how HBM's rate affects throughput, pauses and losses when
// the on-chip memory is full.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "box/dsf/dsf_outcome.h"
#include "form.h"
#include "run.h"

/// host-0 and host-1 at rdsw-0, host-2 and host-3 at rdsw-1, host-4 and host-5 at rdsw-2.
#define ZONE                                                                                                           \
    "topology: {kind: dsf_l1_zone, rdsws: 3, rails: 1, fdsws: 10, virtual_devices: 4, hosts_per_rdsw: 2, host_rate: "  \
    "400Gbps}\n"                                                                                                       \
    "switch: {buffer: {kind: dynamic, total: 4GB, alpha: 16}}\n"                                                       \
    "host: {cc: none}\n"
/// host-0 and host-2 share a port: their VOQs grow at half their rate.
#define TWO_TO_ONE                                                                                                     \
    "workload: [{kind: flow, src: host-0, dst: host-4, size: 20MB}, {kind: flow, src: host-2, dst: host-4, size: "     \
    "20MB}]\n"

enum { PACKETS = 4883, FRAME = 4158 }; // of 20 MB; bytes that are stored of each

static void assert_lossless(const struct run *r) {
    run_assert_complete(r);
    assert_int_equal(run_drops(r), 0);
    assert_int_equal(r->outcome->flow[0].out_of_order, 0);
}

/// A VOQ alone stays on chip up to alpha / (1 + alpha) of what VOQs may have there, 80% of the memory, and then is in
/// HBM until it has drained. It holds half of what has come, and what came at 400G in the loop of the first credit,
/// 2604480 ps (test_dsf_run.c).
static void a_long_voq_goes_to_hbm(void **state) {
    static const double alphas[] = {0.25, 1, 4};
    for (uint32_t i = 0; i < 3; i++) {
        struct run r = RUN(run_text, ZONE "interface_node: {sram: 8MiB, sram_alpha: %g}\n" TWO_TO_ONE, alphas[i]);
        assert_lossless(&r);
        const struct weft_dsf_outcome *d = weft_outcome_dsf(r.outcome);
        double on_chip = 0.8 * 8 * 1024 * 1024 * alphas[i] / (1 + alphas[i]), loop = 2604480.0 / 20;
        double expected = 2 * (PACKETS - (2 * on_chip - loop) / FRAME); // two VOQs
        form_assert("Packets that a long VOQ puts into HBM", (double)d->hbm_packets, expected, 0.005);
        assert_true(d->hbm_bytes_max <= d->voq_bytes_max);
        assert_int_equal(d->chip_full, 0);
        run_free(&r);
    }
}

/// With HBM as fast as ports, it makes no difference where packets wait.
static void fast_hbm_delays_nothing(void **state) {
    struct run chip = run_once(ZONE TWO_TO_ONE);
    struct run hbm = run_text(ZONE "interface_node: {sram: 1MiB}\n" TWO_TO_ONE);
    assert_lossless(&hbm);
    assert_int_equal(weft_outcome_dsf(chip.outcome)->hbm_packets, 0);
    assert_true(weft_outcome_dsf(hbm.outcome)->hbm_packets > 2000);
    for (uint32_t i = 0; i < 2; i++)
        if (fabs((double)run_fct(&hbm, i) / (double)run_fct(&chip, i) - 1) > 0.001)
            fail_msg("%" PRIu64 " and %" PRIu64, run_fct(&hbm, i), run_fct(&chip, i));
    run_free(&chip);
    run_free(&hbm);
}

/// A VOQ in HBM of 100G gets no more than that of a port's 400G. It begins as above, with 200G for 2 x 419 KB. The NIC
/// is paused so that no more comes than HBM takes, and nothing is lost.
static void slow_hbm_is_the_rate(void **state) {
    struct run r = run_text(ZONE "interface_node: {sram: 1MiB}\n"
                                 "devices: [{match: rdsw-0, interface_node: {hbm_rate: 100Gbps}}]\n" TWO_TO_ONE);
    assert_lossless(&r);
    double on_chip = 0.8 * 1024 * 1024 / 2, expected = (double)PACKETS * FRAME * 80 - 2 * on_chip * 40;
    if (fabs((double)run_fct(&r, 0) / expected - 1) > 0.01) // the loops of credits and pauses
        fail_msg("%" PRIu64 " ps, expected %.0f", run_fct(&r, 0), expected);
    assert_true((double)run_fct(&r, 1) < 0.5 * expected); // its interface node's HBM is fast
    assert_true(weft_outcome_dsf(r.outcome)->chip_full > 0);
    assert_true(run_counters(&r, "rdsw-0/0", 3)->pfc_tx_xoff > 0);
    assert_int_equal(run_counters(&r, "rdsw-1/0", 3)->pfc_tx_xoff, 0);
    run_free(&r);
}

/// Without PFC what finds no room on chip is lost. Until 200 us 50 B/ns come to each of the two, from 483640 ps on.
/// Kept are the 2 x 419 KB that come before the VOQ is in HBM, what is written from then on, 12.5 B/ns, and a chip full
/// of what is yet to be written.
static void a_full_chip_loses_what_is_not_paused(void **state) {
    struct run r = run_text(ZONE "interface_node: {sram: 1MiB, hbm_rate: 100Gbps}\n"
                                 "devices: [{match: 'rdsw-*', switch: {pfc: {priorities: none}}}]\n"
                                 "run: {until: 200us}\n" TWO_TO_ONE);
    double came = (200e6 - 483640) * 0.05 * FRAME / (FRAME + 20), first = 0.8 * 1024 * 1024;
    double written = (200e6 - 483640 - first / 0.05) * 0.0125, expected = 2 * (came - first - written - 1024 * 1024);
    double lost = (double)r.outcome->drop_bytes[WEFT_DROP_BUFFER_FULL];
    if (fabs(lost / expected - 1) > 0.02) // 65 KB of the loop of the first credit, and acknowledgements
        fail_msg("%.0f bytes, expected %.0f", lost, expected);
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_voq_goes_to_hbm),
        cmocka_unit_test(fast_hbm_delays_nothing),
        cmocka_unit_test(slow_hbm_is_the_rate),
        cmocka_unit_test(a_full_chip_loses_what_is_not_paused),
    };
    return cmocka_run_group_tests_name("dsf_hbm", tests, NULL, NULL);
}
