// SPDX-License-Identifier: Apache-2.0
// Runs on AI zones: path pinning finds its links there, the layer above zones is as narrow as stated, and the loss of a
// CTSW affects those that used it.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run.h"

static uint64_t packets_on(const struct run *r, unsigned rtsw, unsigned ctsw) {
    char port[40];
    snprintf(port, sizeof port, "rtsw-%u->ctsw-%u", rtsw, ctsw);
    return run_counters(r, port, 3)->tx_packets;
}

// 6 links up for 4 GPUs: what comes from the d-th GPU of a rack goes by CTSW d whatever its hash, with either cabling;
// CTSWs 4 and 5 are idle. 3 queue pairs of 82 packets of 4096 B; acknowledgements have another priority.
static void path_pinning_is_by_downlink(void **state) {
    static const char *const cabling[] = {"rack", "rail, server_gpus: 2"};
    for (unsigned c = 0; c < 2; c++) {
        struct run r = RUN(run_text,
                           "topology: {kind: ai_zone, racks: 4, gpus_per_rack: 4, uplinks: 6, cabling: %s}\n"
                           "switch: {route: path_pinning}\nhost: {ack_own_priority: true}\nworkload:\n"
                           "- {kind: permutation, mode: shift, shift: 8, size: %uB, qps: 3}\n",
                           cabling[c], 3 * 82 * 4096);
        run_assert_complete(&r);
        for (unsigned rack = 0; rack < 4; rack++)
            for (unsigned k = 0; k < 6; k++)
                assert_int_equal(packets_on(&r, rack, k), k < 4 ? 3 * 82 : 0);
        run_free(&r);
    }
}

// 8 racks of 4 GPUs a zone; each of its 4 CTSWs has 8 links down and 8/n up. Pinned, n flows share a link up and no
// other, so all take longer than alone by n - 1 times what their bytes take on it: 1 MB in 245 packets with 82 B more
// at 50 B/ns. Within 1%, of which acknowledgements are 0.13% (86 B for 16 packets) and packets of the others up to
// 0.4%.
static void zones_are_oversubscribed(void **state) {
    for (unsigned n = 1; n <= 8; n *= 2) {
        struct run r = RUN(run_text,
                           "topology: {kind: ai_zone, zones: 2, racks: 8, gpus_per_rack: 4, uplinks: 4, "
                           "ctsw_uplinks: %u}\n"
                           "switch: {route: path_pinning, buffer: {size: 4MB, xoff: 3MB, xon: 2900KB}}\n"
                           "host: {ack_every: 16}\nworkload:\n"
                           "- {kind: permutation, mode: shift, shift: 32, size: 1MB}\n",
                           8 / n);
        run_assert_complete(&r);
        double once_ps = (1e6 + 245 * 82) * 1000 / 50;
        for (uint32_t f = 0; f < r.outcome->flows; f++) {
            double times = ((double)run_fct(&r, f) - (double)r.outcome->flow[f].ideal_ps) / once_ps;
            if (fabs(times - (n - 1)) > .01 * n) fail_msg("%u:1: flow %u, %.4f times longer", n, f, times);
        }
        run_free(&r);
    }
}

// ctsw-1 fails as a whole at 20 us and the routes know it 10 us later. Only the flows pinned to it lose packets, and go
// on by the hash; nothing leaves for it any more, although the transfers of 4 MB take 82 us at least.
static void a_ctsw_fails(void **state) {
    struct run r = RUN(run_text, "topology: {kind: ai_zone, racks: 2, gpus_per_rack: 4, uplinks: 6}\n"
                                 "switch: {route: path_pinning}\nhost: {timeout: 50us}\n"
                                 "events: [{at: 20us, link: ctsw-1/*, state: down}]\n"
                                 "workload: [{kind: permutation, mode: shift, shift: 4, size: 4MB}]\n"
                                 "run: {detection: 10us}\n");
    run_assert_complete(&r);
    assert_true(r.outcome->drops[WEFT_DROP_LINK_DOWN] > 0);
    for (uint32_t f = 0; f < r.outcome->flows; f++)
        assert_int_equal(r.outcome->flow[f].packets_again > 0, r.workload->flow[f].src % 4 == 1);
    for (unsigned rack = 0; rack < 2; rack++) // data of its own, and acknowledgements of the other rack's, for 30 us
        assert_in_range(packets_on(&r, rack, 1), 1, (uint64_t)(2 * 30e-6 * 400e9 / 8 / 4178));
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(path_pinning_is_by_downlink),
        cmocka_unit_test(zones_are_oversubscribed),
        cmocka_unit_test(a_ctsw_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
