// SPDX-License-Identifier: Apache-2.0
// Priority-based flow control through the whole simulator: headroom, pause times, cascades, priorities, storms.
// Source of the mechanism: IEEE 802.1Q clause 36 (802.1Qbb); of the times: src/link/port.h.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run.h"

// A SEND of 4096 B: 4158 B of frame, 4178 B on the wire; 80 ps a byte at 100G.
enum { FRAME = 4096 + 62, WIRE = FRAME + 20, BYTE = 80, LINK = 5000000, SWITCH = 300000, REACTION = 1000000 };

// --- headroom -----------------------------------------------------------------------------------------------------

// Frames that still come to a switch after the one that put its ingress group above XOFF at t0. The pause frame (64 B,
// preamble 8 B) leaves when the frame being sent is over, `wait` later, and stops the sender at
//   tp = t0 + wait + 72 byte times + link + reaction.
// A frame is counted `(frame + 8) byte times + link + processing` after its first bit was sent, the one at t0 too; the
// sender sends back to back until tp. So as many more come as first bits fit into
//   D = wait + 72 + (frame + 8) byte times + 2 link + reaction + processing:  ceil(D / wire time) - 1.
// This is the usual bound, rate x (2 link + processing + reaction) + two frames + a pause frame, in whole frames.
static uint64_t frames_after_xoff(uint64_t wait_ps) {
    uint64_t d = wait_ps + (72 + FRAME + 8) * BYTE + 2 * LINK + REACTION + SWITCH;
    return (d + WIRE * BYTE - 1) / (WIRE * BYTE) - 1;
}

enum { XOFF_BYTES = 100000 };

/// host-0 sends to host-1, which takes almost nothing, so that nothing leaves the switch; host-2 sends to host-0 in the
/// meantime if `reverse_start_ns`, so that the pause frame may have to wait for one of its frames.
static struct run blocked(uint64_t size, uint64_t reverse_start_ns) {
    char reverse[200] = "";
    if (reverse_start_ns)
        snprintf(reverse, sizeof reverse,
                 "  - {kind: flow, src: host-2, dst: host-0, size: 1MB, verb: send, start: %" PRIu64 "ns}\n",
                 reverse_start_ns);
    return RUN(run_once,
               "topology: {kind: single, hosts: 3, rate: 100Gbps, delay: 5us}\n"
               "switch: {processing: 300ns, buffer: {kind: static, size: %" PRIu64 "B, xoff: 100000B, xon: 50000B}, "
               "pfc: {reaction: 1us}}\n"
               "host: {ack_every: 65535, pfc: {reaction: 1us}, timeout: 1s}\n"
               "devices: [{match: host-1, host: {drain_rate: 1Gbps, rx_buffer: 1MB, rx_xoff: 10KB, rx_xon: 5KB}}]\n"
               "workload:\n"
               "  - {kind: flow, src: host-0, dst: host-1, size: 1MB, verb: send}\n%s"
               "run: {until: 1ms}\n",
               size, reverse);
}

static const uint64_t over = XOFF_BYTES / FRAME + 1; // frames that put the group above XOFF

static void headroom_bound_is_exact(void **state) {
    uint64_t most = (over + frames_after_xoff(0)) * FRAME;
    struct run r = blocked(1000000, 0);
    assert_int_equal(run_counters(&r, "switch-0/0", 3)->ingress_bytes_max, most);
    assert_int_equal(run_drops(&r), 0);
    run_free(&r);
    r = blocked(most, 0);
    assert_int_equal(run_drops(&r), 0);
    run_free(&r);
    r = blocked(most - 1, 0);
    assert_int_equal(r.outcome->drops[WEFT_DROP_HEADROOM], 1);
    run_free(&r);
}

// The worst case is a full-size frame that the switch began to send to the sender just before XOFF: the pause frame
// waits 4178 byte times. Sweeping the moment over a frame time finds it, and never more.
static void headroom_covers_a_frame_the_other_way(void **state) {
    uint64_t most = (over + frames_after_xoff((WIRE - 1) * BYTE)) * FRAME, seen = 0;
    assert_true(most > (over + frames_after_xoff(0)) * FRAME);
    for (uint64_t start = 5000; start < 5340; start += 20) {
        struct run r = blocked(1000000, start);
        uint64_t level = run_counters(&r, "switch-0/0", 3)->ingress_bytes_max;
        assert_true(level <= most);
        if (level > seen) seen = level;
        run_free(&r);
        r = blocked(most, start);
        assert_int_equal(run_drops(&r), 0);
        run_free(&r);
        r = blocked(most - 1, start);
        assert_int_equal(r.outcome->drops[WEFT_DROP_HEADROOM] > 0, level == most);
        run_free(&r);
    }
    assert_int_equal(seen, most);
}

// Several inputs at line rate to one output over long links: with the bound nothing is lost, with two frames less of
// headroom (every input drains at a share of the output while it fills) something is.
static void headroom_of_an_incast(void **state) {
    uint64_t most = (over + frames_after_xoff((WIRE - 1) * BYTE)) * FRAME;
    for (unsigned inputs = 2; inputs <= 16; inputs *= 2)
        for (int less = 0; less <= 1; less++) {
            // While it fills, an input of n loses a frame to the output every n frame times.
            uint64_t drained = frames_after_xoff(0) / inputs + 2;
            struct run r = RUN(run_once,
                               "topology: {kind: single, hosts: %u, rate: 100Gbps, delay: 5us}\n"
                               "switch: {processing: 300ns, buffer: {kind: static, size: %" PRIu64
                               "B, xoff: 100000B, xon: 50000B}, pfc: {reaction: 1us}}\n"
                               "host: {ack_every: 65535, pfc: {reaction: 1us}, timeout: 1s}\n"
                               "workload: [{kind: incast, sources: \"*\", dst: host-0, size: 1MB, verb: send}]\n"
                               "run: {until: 3ms}\n",
                               inputs + 1, less ? most - drained * FRAME : most);
            assert_int_equal(r.outcome->drops[WEFT_DROP_HEADROOM] > 0, less);
            assert_true(run_counters(&r, "switch-0/1", 3)->pfc_tx_xoff > 0);
            run_free(&r);
        }
}

// --- pause times --------------------------------------------------------------------------------------------------

// A pause of q quanta stops transmission for q x 512 bit times. host-1 pauses the switch once; 1 ps after the pause has
// arrived the link is cut, so that neither refresh nor XON comes, and the pause runs out.
static void pause_lasts_its_quanta(void **state) {
    static const struct {
        const char *rate;
        uint64_t byte_ps, quanta;
    } row[] = {
        {"100Gbps", 80, 2}, {"100Gbps", 80, 1000}, {"400Gbps", 20, 2}, {"400Gbps", 20, 8000}, {"25Gbps", 320, 777}};
    for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
        uint64_t first = 2 * ((FRAME + 8) * row[i].byte_ps + 50000) + SWITCH; // the first frame is at host-1
        struct run r = RUN(run_once,
                           "topology: {kind: single, hosts: 2, rate: %s, delay: 50ns}\n"
                           "host: {drain_rate: 1Gbps, rx_xoff: 0B, rx_xon: 0B, pfc: {quanta: %" PRIu64
                           ", refresh: 1}, ack_every: 65535}\n"
                           "events: [{at: %" PRIu64 "ps, link: switch-0/1, state: down}]\n"
                           "workload: [{kind: flow, src: host-0, dst: host-1, size: 100KB, verb: send}]\n"
                           "run: {until: 100us, detection: 1ms}\n",
                           row[i].rate, row[i].quanta, first + 72 * row[i].byte_ps + 50000 + 1);
        const struct weft_counters *c = run_counters(&r, "switch-0/1", 3);
        assert_int_equal(c->pfc_rx_xoff, 1);
        assert_int_equal(c->pfc_rx_xon, 0);
        assert_int_equal(c->paused_ps, row[i].quanta * 64 * row[i].byte_ps);
        run_free(&r);
    }
}

/// host-1 drains at 1G, so its one pause lasts until it has emptied its buffer down to XON.
static struct run long_pause(const char *refresh, const char *until) {
    return RUN(run_once,
               "topology: {kind: single, hosts: 2, rate: 100Gbps, delay: 50ns}\n"
               "host: {drain_rate: 1Gbps, rx_xoff: 20KB, rx_xon: 4KB, pfc: {quanta: 100, refresh: %s}, "
               "ack_every: 65535, timeout: 1s}\n"
               "workload: [{kind: flow, src: host-0, dst: host-1, size: 200KB, verb: send}]\n"
               "run: {until: %s}\n",
               refresh, until);
}

// 100 quanta at 100G are 512 ns. The pause holds for 60 us, by repetition; not a frame slips through, even if each
// repetition comes at the last moment.
static void refresh_keeps_the_pause(void **state) {
    for (unsigned k = 0; k < 3; k++) {
        const char *refresh = (const char *[]){"0.1", "0.5", "1"}[k];
        struct run a = long_pause(refresh, "20us"), b = long_pause(refresh, "80us");
        const struct weft_counters *x = run_counters(&a, "switch-0/1", 3), *y = run_counters(&b, "switch-0/1", 3);
        assert_int_equal(y->paused_ps - x->paused_ps, b.outcome->sim_time_ps - a.outcome->sim_time_ps);
        assert_int_equal(x->tx_packets, y->tx_packets);
        // One frame every refresh x 512 ns.
        double frames = 60e6 / (512e3 * (const double[]){.1, .5, 1}[k]);
        assert_in_range(y->pfc_rx_xoff - x->pfc_rx_xoff, (uint64_t)frames - 1, (uint64_t)frames + 1);
        assert_int_equal(y->pfc_rx_xon, 0);
        run_free(&a);
        run_free(&b);
    }
}

// XON ends the pause at once: with the longest quanta (335 us at 100G) the transfer goes at the rate of the host, and
// nothing is lost. 200 KB at 1G are 1.6 ms and a bit of headers.
static void xon_ends_the_pause(void **state) {
    struct run r = run_text("topology: {kind: single, hosts: 2, rate: 100Gbps, delay: 50ns}\n"
                            "host: {drain_rate: 1Gbps, rx_xoff: 20KB, rx_xon: 10KB, ack_every: 65535}\n"
                            "workload: [{kind: flow, src: host-0, dst: host-1, size: 200KB, verb: send}]\n");
    const struct weft_counters *c = run_counters(&r, "switch-0/1", 3);
    run_assert_complete(&r);
    assert_true(c->pfc_rx_xon > 0);
    assert_int_equal(run_drops(&r), 0);
    double drain_ps = 8000.0 * (200000 + 49 * 62);
    assert_true((double)run_fct(&r, 0) > drain_ps && (double)run_fct(&r, 0) < drain_ps * 1.001);
    run_free(&r);
}

// --- priorities and cascades --------------------------------------------------------------------------------------

// Priority 3 is congested and paused at host-0; its priority 4 to somewhere else is not, and is late by no more than
// one frame of priority 3 on each hop (strict priority, no preemption).
static void priorities_are_paused_apart(void **state) {
    struct run r =
        run_text("topology: {kind: single, hosts: 4, rate: 100Gbps, delay: 150ns}\n"
                 "switch: {buffer: {kind: static, size: 200KB, xoff: 50KB, xon: 40KB}, pfc: {priorities: 3-4}}\n"
                 "host: {pfc: {priorities: 3-4}}\n"
                 "workload:\n"
                 "  - {kind: incast, sources: \"host-0..1\", dst: host-2, size: 2MB, verb: send, group: slow}\n"
                 "  - {kind: flow, src: host-0, dst: host-3, size: 500KB, verb: send, priority: 4, start: 100us, "
                 "group: fast}\n");
    run_assert_complete(&r);
    assert_true(run_counters(&r, "host-0/0", 3)->paused_ps > 50 * WEFT_PS_PER_US);
    assert_int_equal(run_counters(&r, "host-0/0", 4)->paused_ps, 0);
    assert_int_equal(run_counters(&r, "host-0/0", 4)->pfc_rx_xoff, 0);
    assert_true(run_fct(&r, 2) <= r.outcome->flow[2].ideal_ps + 2 * WIRE * BYTE);
    assert_int_equal(run_drops(&r), 0);
    run_free(&r);
}

// The last hop is congested by a neighbour of the receiver; pauses go back over two switches to the sender, and an
// innocent flow behind it suffers. Without the neighbour nobody pauses.
static void pauses_cascade(void **state) {
    for (int congested = 0; congested <= 1; congested++) {
        struct run r = RUN(run_text,
                           "topology: {kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 3, rate: 100Gbps, "
                           "delay: 150ns}\n"
                           "switch: {buffer: {kind: static, size: 150KB, xoff: 80KB, xon: 60KB}}\n"
                           "workload:\n"
                           "  - {kind: flow, src: host-0, dst: host-3, size: 2MB, verb: send}\n"
                           "  - {kind: flow, src: host-0, dst: host-5, size: 1MB, verb: send}\n"
                           "  - {kind: flow, src: host-4, dst: %s, size: 2MB, verb: send}\n",
                           congested ? "host-3" : "host-1");
        run_assert_complete(&r);
        assert_int_equal(run_drops(&r), 0);
        const char *const way[] = {"spine-0->leaf-1", "leaf-0->spine-0", "host-0/0"};
        for (unsigned i = 0; i < 3; i++) {
            const struct weft_counters *c = run_counters(&r, way[i], 3);
            assert_int_equal(c->pfc_rx_xoff > 0, congested);
            assert_int_equal(c->paused_ps > 0, congested);
        }
        // In order: the switch next to the congestion pauses first, so its neighbour is paused the longest.
        if (congested) assert_true(run_counters(&r, way[0], 3)->paused_ps > run_counters(&r, way[2], 3)->paused_ps / 2);
        // host-0's link carries 3 MB; alone they take 245 us (and 489 ACKs of the other flow are in the way, 1.4 %).
        // Congested, 2 MB of them go at half rate.
        double alone_us = 3e6 * WIRE / 4096 * BYTE * 1e-6;
        double last_us = (double)(run_fct(&r, 0) > run_fct(&r, 1) ? run_fct(&r, 0) : run_fct(&r, 1)) * 1e-6;
        assert_true(congested ? last_us > alone_us * 1.2 : last_us < alone_us * 1.03);
        run_free(&r);
    }
}

// --- storms -------------------------------------------------------------------------------------------------------

// A host that takes 10 Mbit/s of 100G pauses its switch without a break. The watchdog sees a storm after 100 us and
// counts it, drops what waits (and what comes), or sends on, into a full NIC.
static struct run storm(const char *action, const char *watchdog, const char *restore) {
    return RUN(run_text,
               "topology: {kind: single, hosts: 2, rate: 100Gbps, delay: 150ns}\n"
               "switch: {buffer: {kind: static, size: 200KB, xoff: 100KB, xon: 80KB}, pfc: {watchdog: %s, "
               "watchdog_action: %s, restore: %s}}\n"
               "host: {drain_rate: 10Mbps, rx_buffer: 100KB, rx_xoff: 20KB, rx_xon: 10KB, timeout: 10s}\n"
               "workload: [{kind: flow, src: host-0, dst: host-1, size: 1MB, verb: send}]\n"
               "run: {until: 2ms}\n",
               watchdog, action, restore);
}

static void watchdog_alerts_drops_or_forwards(void **state) {
    struct run r = storm("alert", "never", "10ms");
    uint64_t sent = run_counters(&r, "switch-0/1", 3)->tx_packets;
    assert_int_equal(run_counters(&r, "switch-0/1", 3)->watchdog_storms, 0);
    run_free(&r);

    r = storm("alert", "100us", "10ms");
    assert_int_equal(run_counters(&r, "switch-0/1", 3)->watchdog_storms, 1);
    assert_int_equal(run_counters(&r, "switch-0/1", 3)->tx_packets, sent);
    assert_int_equal(run_drops(&r), 0);
    run_free(&r);

    r = storm("drop", "never", "10ms"); // nothing is a storm
    assert_int_equal(run_counters(&r, "switch-0/1", 3)->tx_packets, sent);
    assert_int_equal(run_drops(&r), 0);
    run_free(&r);

    r = storm("drop", "100us", "10ms");
    assert_int_equal(run_counters(&r, "switch-0/1", 3)->watchdog_storms, 1);
    assert_int_equal(run_counters(&r, "switch-0/1", 3)->tx_packets, sent);
    // Everything but what was sent is lost here, for the sender is never paused again: 245 packets of 1 MB.
    assert_int_equal(r.outcome->drops[WEFT_DROP_PFC_WATCHDOG], 245 - sent);
    assert_int_equal(run_drops(&r), 245 - sent);
    run_free(&r);

    r = storm("forward", "100us", "10ms");
    assert_int_equal(run_counters(&r, "switch-0/1", 3)->watchdog_storms, 1);
    assert_int_equal(run_counters(&r, "switch-0/1", 3)->tx_packets, 245);
    assert_true(r.outcome->drops[WEFT_DROP_NIC_BUFFER] > 0);
    run_free(&r);
}

// The host repeats its pause every 168 us (half of 65535 quanta). With a restoration time of 20 us a storm is over 20
// us after it began, though the pause lasts; the next pause frame shows that it is not: 2 ms hold eleven of them.
static void storm_ends_and_comes_back(void **state) {
    struct run r = storm("alert", "100us", "20us");
    assert_in_range(run_counters(&r, "switch-0/1", 3)->watchdog_storms, 11, 12);
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headroom_bound_is_exact),
        cmocka_unit_test(headroom_covers_a_frame_the_other_way),
        cmocka_unit_test(headroom_of_an_incast),
        cmocka_unit_test(pause_lasts_its_quanta),
        cmocka_unit_test(refresh_keeps_the_pause),
        cmocka_unit_test(xon_ends_the_pause),
        cmocka_unit_test(priorities_are_paused_apart),
        cmocka_unit_test(pauses_cascade),
        cmocka_unit_test(watchdog_alerts_drops_or_forwards),
        cmocka_unit_test(storm_ends_and_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
