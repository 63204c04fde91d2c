// SPDX-License-Identifier: Apache-2.0
// The digest of a run is the same for 1, 2, 3 and 8 threads, with every combination of queueing, buffer, congestion
// control and forwarding, with failures and bit errors, and with packets that arrive at the same picosecond.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run.h"

static const char *const buffers[] = {"{kind: static, size: 150KB, xoff: 30KB, xon: 20KB}",
                                      "{kind: dynamic, total: 3MB, alpha: 1/16, headroom: 40KB}"};

// Two layers, links from 50 ns to 40 us (beyond the engine's ring of windows), a link that fails and comes back, bit
// errors, an incast and everything to everything.
static void combinations(const char *queueing) {
    static const char *const cc[] = {"none", "dcqcn", "dcqcn_connectx"};
    static const char *const forwarding[] = {"store_and_forward", "cut_through"};
    for (unsigned b = 0; b < 2; b++)
        for (unsigned c = 0; c < 3; c++)
            for (unsigned f = 0; f < 2; f++) {
                struct run r =
                    RUN(run_text,
                        "topology: {kind: leaf_spine, leaves: 3, spines: 2, hosts_per_leaf: 2, rate: 100Gbps, delay: "
                        "300ns, "
                        "spine_delay: %s, bit_error_rate: 1e-8}\n"
                        "switch: {queueing: %s, buffer: %s, forwarding: %s, aqm: {kind: wred, min: 10KB, max: 60KB, "
                        "max_probability: 0.2}}\nhost: {cc: %s, timeout: 300us}\n"
                        "events: [{at: 15us, link: leaf-0--spine-1, state: down}, {at: 120us, link: leaf-0--spine-1, "
                        "state: "
                        "up}]\n"
                        "workload:\n"
                        "  - {kind: incast, sources: \"*\", dst: host-0, size: 60KB, verb: write}\n"
                        "  - {kind: all_to_all, size: 20KB, verb: read, priority: 4, start: 3us}\n"
                        "run: {detection: 20us, seed: %u}\n",
                        b ? "40us" : "300ns", queueing, buffers[b], forwarding[f], cc[c], 1 + c);
                run_assert_complete(&r);
                run_free(&r);
            }
}

static void output_queued(void **state) {
    combinations("oq");
}

static void input_queued(void **state) {
    combinations("iq");
}

static void virtual_output_queued(void **state) {
    combinations("voq");
}

// A pause frame that follows a data frame is sent 84 byte times of its own after it and overtakes its processing: with
// 6720 ps of processing at 100G both act at the same picosecond at the same port. The data frame is sent beyond the
// ring of windows (64 of 4.096 ns), the pause frame within it, so they take different ways through the engine.
static void data_and_pause_at_one_instant(void **state) {
    for (unsigned window = 4; window <= 12; window += 4)
        for (unsigned hosts = 3; hosts <= 10; hosts++) {
            struct run r =
                RUN(run_text,
                    "topology: {kind: single, hosts: %u, rate: 100Gbps, delay: 1ns}\n"
                    "switch: {processing: 6720ps, buffer: {kind: static, size: 100KB, xoff: 4KB, xon: 4KB}}\n"
                    "host: {processing: 6720ps, window: %uKiB}\n"
                    "workload:\n"
                    "  - {kind: all_to_all, size: 60KB, verb: send}\n"
                    "  - {kind: incast, sources: \"*\", dst: host-1, size: 100KB, verb: send}\n",
                    hosts, window);
            run_assert_complete(&r);
            run_free(&r);
        }
}

// All flows start at once, over equal links: ties everywhere.
static void ties(void **state) {
    struct run r = run_text("topology: {kind: fat_tree, k: 4, rate: 100Gbps, delay: 100ns}\n"
                            "switch: {processing: 100ns}\n"
                            "workload: [{kind: permutation, size: 100KB}, {kind: all_to_all, size: 4KB}]\n");
    run_assert_complete(&r);
    run_free(&r);
}

// The end of a run by run.until, wherever it falls.
static void any_end(void **state) {
    for (unsigned until = 1; until < 40000; until += 1 + until / 2) {
        struct run r =
            RUN(run_text,
                "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 2, rate: 100Gbps, delay: "
                "100ns, spine_delay: 4us}\nswitch: {forwarding: cut_through, buffer: %s}\n"
                "workload: [{kind: all_to_all, size: 200KB}]\nrun: {until: %uns, sample_interval: 500ns}\n",
                buffers[0], until);
        run_free(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_queued),
        cmocka_unit_test(input_queued),
        cmocka_unit_test(virtual_output_queued),
        cmocka_unit_test(data_and_pause_at_one_instant),
        cmocka_unit_test(ties),
        cmocka_unit_test(any_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
