// SPDX-License-Identifier: Apache-2.0
// QoS of the ingress buffer of a TiN (Gibson et al., NSDI 2022, section 3.3, the third task of the input pipeline):
// what waits there for a port that is asked for more than it has takes room of its own port and class, by the
// thresholds of switch.buffer, and none of other classes, or of other sources of the same TiN.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run.h"

/// host-0 and host-4, of two TiNs, send to host-2, whose port has half of that: the rest of host-0's stays in its TiN's
/// ingress buffer, 25 Gbit/s: 200 KB in 64 us. host-1 is at that TiN too.
enum { SHARED = 400000, FRAME = 62 + 16 + 4096, HOG = 1 };
#define HOGS                                                                                                           \
    "topology: {kind: dragonfly, pods: 1, tins: 4, local_ports: 6}\ntin: {ctd: 1GB}\n"                                 \
    "run: {until: 300us}\nhost: {cc: none, scheduler: strict, pfc: {priorities: %s}, timeout: 1s}\n"                   \
    "switch: {scheduler: strict, pfc: {priorities: %s}, buffer: {kind: dynamic, total: %uB, alpha: 1, weights: [1, "   \
    "%u, 1, 1, 1, 1, 1, 1], reserve: 0B, "                                                                             \
    "headroom: %s}}\nworkload:\n"                                                                                      \
    "  - {kind: flow, src: host-%u, dst: host-6, size: 4096B, priority: %u, start: 100us, repeat: 20, interval: "      \
    "8us}\n"                                                                                                           \
    "  - {kind: flow, src: host-0, dst: host-2, size: 10MB, priority: 1}\n"                                            \
    "  - {kind: flow, src: host-4, dst: host-2, size: 10MB, priority: 1}\n"

/// What else comes to the TiN: of another class from the same host, of the same class from the other.
static const struct other {
    const char *port;
    uint32_t host, priority;
} others[] = {{"tin-0->host-0", 0, 5}, {"tin-0->host-1", 1, HOG}};
enum { OTHERS = sizeof others / sizeof *others };

static weft_time_ps slowest(const struct run *r) {
    weft_time_ps most = 0;
    for (uint32_t i = 0; i < 20; i++)
        if (run_fct(r, i) > most) most = run_fct(r, i);
    return most;
}

/// Whose packets wait may have alpha times what is free, with alpha 1 half of all, or by the weight of its class three
/// quarters, and no more: its own are dropped.
static void a_class_that_waits_fills_its_share_only(void **state) {
    for (uint32_t i = 0; i < 2 * OTHERS; i++) {
        uint32_t weight = i < OTHERS ? 1 : 3, share = SHARED / (weight + 1) * weight;
        const struct other *o = &others[i % OTHERS];
        struct run r = RUN(run_text, HOGS, "none", "none", SHARED, weight, "0B", o->host, o->priority);
        const struct weft_counters *hog = run_counters(&r, "tin-0->host-0", HOG),
                                   *other = run_counters(&r, o->port, o->priority);
        if (hog->ingress_bytes_max < share - FRAME || hog->ingress_bytes_max > share + FRAME / 2)
            fail_msg("%" PRIu64 " B of %" PRIu32 " B", hog->ingress_bytes_max, share);
        assert_true(hog->drops > 10 && r.outcome->drops[WEFT_DROP_BUFFER_FULL] >= hog->drops);
        assert_int_equal(other->drops, 0);
        for (uint32_t k = 0; k < 20; k++) {
            assert_true(r.outcome->flow[k].end_ps != WEFT_TIME_NEVER);
            assert_int_equal(r.outcome->flow[k].packets_again, 0);
        }
        run_free(&r);
    }
}

/// If the class is lossless its host is told to pause, that class alone, and nobody else is.
static void a_class_that_waits_is_paused_alone(void **state) {
    for (uint32_t i = 0; i < OTHERS; i++) {
        struct run r =
            RUN(run_text, HOGS, "[1, 5]", "[1, 5]", SHARED + 4 * 50000, 1, "50KB", others[i].host, others[i].priority);
        assert_int_equal(run_drops(&r), 0);
        assert_true(run_counters(&r, "tin-0->host-0", HOG)->pfc_tx_xoff > 0);
        assert_true(run_counters(&r, "host-0->tin-0", HOG)->paused_ps > 50 * WEFT_PS_PER_US);
        assert_int_equal(run_counters(&r, others[i].port, others[i].priority)->pfc_tx_xoff, 0);
        // Not in the way: a frame of the other class that has begun, and cells of two that are asked for.
        weft_time_ps frame = (FRAME + 20) * 8 * WEFT_PS_PER_NS / 50;
        if (slowest(&r) > r.outcome->flow[0].ideal_ps + 3 * frame)
            fail_msg("%" PRIu64 " ps, alone %" PRIu64, slowest(&r), r.outcome->flow[0].ideal_ps);
        run_free(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_class_that_waits_fills_its_share_only),
        cmocka_unit_test(a_class_that_waits_is_paused_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
