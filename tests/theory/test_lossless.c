// SPDX-License-Identifier: Apache-2.0
// With headroom for the worst link nothing is ever lost, whatever the network, the switch and the traffic: random runs.
// Headroom, for a link of rate r and delay d between a sender that stops `reaction` after a pause frame and a switch
// that counts a frame `processing` after its last bit: what arrives from the frame that exceeds XOFF on is at most
//   r (2 d + processing + reaction) + a pause frame (84 B) + a frame that the pause frame waits for
//   + the frame that the sender has begun + the frame that exceeded XOFF
// bytes of the wire. In cells these occupy more: at most whole cells for each of the smallest frames, or for frames of
// a byte more than a cell. And a pause must be repeated before it runs out, also behind a frame in transmission.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run.h"

static uint64_t draw(struct weft_random *random, uint64_t n) {
    return weft_random_u64(random) % n;
}
#define ONE_OF(...)                                                                                                    \
    ((const char *[]){__VA_ARGS__})[draw(random, sizeof(const char *[]){__VA_ARGS__} / sizeof(const char *))]

static void one_run(struct weft_random *random, uint64_t seed) {
    uint64_t fast = (const uint64_t[]){100, 200, 400}[draw(random, 3)];
    uint64_t slow = (const uint64_t[]){100, 200, 400}[draw(random, 3)];
    uint64_t delay_ns = (const uint64_t[]){10, 300, 2000, 20000}[draw(random, 4)];
    uint64_t processing_ns = (const uint64_t[]){0, 300, 1000}[draw(random, 3)];
    uint64_t reaction_ns = (const uint64_t[]){0, 200, 2000}[draw(random, 3)];
    uint64_t mtu = (const uint64_t[]){512, 4096, 9000}[draw(random, 3)], frame = mtu + 62 + 16 + 20;
    uint64_t rate = fast > slow ? fast : slow;
    uint64_t headroom = rate * (2 * delay_ns + processing_ns + reaction_ns) / 8 + 1 + 84 + 3 * frame;
    uint64_t cell = (const uint64_t[]){0, 0, 192, 254}[draw(random, 4)];
    if (cell) {
        double smallest = (double)((64 + cell - 1) / cell * cell) / (64 + 20),
               just_over = 2. * (double)cell / (double)(cell + 21);
        headroom = (uint64_t)((double)headroom * (smallest > just_over ? smallest : just_over)) + 1;
    }
    uint64_t xoff = 3 * frame + draw(random, 40000), xon = xoff - draw(random, xoff);

    char topology[400], buffer[300];
    switch (draw(random, 3)) {
    case 0:
        snprintf(topology, sizeof topology,
                 "kind: single, hosts: %" PRIu64 ", rate: %" PRIu64 "Gbps, delay: %" PRIu64 "ns", 3 + draw(random, 6),
                 fast, delay_ns);
        break;
    case 1:
        snprintf(topology, sizeof topology,
                 "kind: leaf_spine, leaves: 3, spines: %" PRIu64 ", hosts_per_leaf: 3, host_rate: %" PRIu64
                 "Gbps, spine_rate: %" PRIu64 "Gbps, delay: 20ns, spine_delay: %" PRIu64 "ns",
                 1 + draw(random, 3), slow, fast, delay_ns);
        break;
    default:
        snprintf(topology, sizeof topology,
                 "kind: clos3, pods: 2, access_per_pod: 2, aggregation_per_pod: 2, core: 2, hosts_per_access: 2, rate: "
                 "%" PRIu64 "Gbps, core_rate: %" PRIu64 "Gbps, delay: %" PRIu64 "ns",
                 slow, fast, delay_ns);
    }
    if (draw(random, 2))
        snprintf(buffer, sizeof buffer,
                 "kind: static, size: %" PRIu64 "B, xoff: %" PRIu64 "B, xon: %" PRIu64 "B, cell: %" PRIu64 "B",
                 xoff + headroom, xoff, xon, cell);
    else
        snprintf(buffer, sizeof buffer,
                 "kind: dynamic, total: 500MB, reserve: %s, alpha: %s, headroom: %" PRIu64 "B, threshold_max: %" PRIu64
                 "B, cell: %" PRIu64 "B",
                 ONE_OF("0B", "4KB"), ONE_OF("1/1024", "1/8", "4"), headroom, xoff, cell);
    const char *priorities = ONE_OF("3", "3-4", "0-6");
    char *text = text_of(
        "topology: {%s}\n"
        "switch: {processing: %" PRIu64 "ns, queueing: %s, arbiter: %s, forwarding: %s, scheduler: %s, buffer: {%s}, "
        "pfc: {priorities: %s, quanta: %s, reaction: %" PRIu64 "ns}}\n"
        "host: {mtu: %" PRIu64 "B, pfc: {priorities: %s, reaction: %" PRIu64 "ns}, cc: %s, drain_rate: %s, "
        "rx_buffer: %" PRIu64 "B, rx_xoff: %" PRIu64 "B, rx_xon: %" PRIu64 "B, timeout: 1s}\n"
        "workload:\n"
        "  - {kind: incast, sources: \"*\", dst: host-0, size: %" PRIu64 "KB, verb: %s}\n"
        "  - {kind: all_to_all, size: %" PRIu64 "KB, verb: %s, priority: %s}\nrun: {seed: %" PRIu64 "}\n",
        topology, processing_ns, ONE_OF("oq", "iq", "voq"), ONE_OF("islip", "round_robin"),
        ONE_OF("store_and_forward", "cut_through"), ONE_OF("strict", "dwrr"), buffer, priorities,
        ONE_OF("65535", "2000"), reaction_ns, mtu, priorities, reaction_ns, ONE_OF("none", "dcqcn"),
        ONE_OF("0bps", "0bps", "40Gbps"), xoff + headroom, xoff, xon, 50 + draw(random, 400),
        ONE_OF("write", "send", "read"), 1 + draw(random, 50), ONE_OF("write", "send", "read"),
        strcmp(priorities, "3") ? "4" : "3", seed);
    struct run r = run_once(text);
    run_assert_complete(&r);
    if (run_drops(&r)) {
        fputs(text, stderr);
        fail_msg("%" PRIu64 " dropped", run_drops(&r));
    }
    run_free(&r);
    free(text);
}

static void nothing_is_lost(void **state) {
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct weft_random random = weft_random_stream(seed, 0, WEFT_RANDOM_WORKLOAD);
        one_run(&random, seed);
    }
}

// A refresh falls due while the port is busy, then the group asks for XON, and for XOFF again before the frame is over:
// the refresh must not be forgotten. It needs pauses of a few frame times, refreshed often, and xon equal to xoff.
static void a_refresh_survives_a_change_of_mind(void **state) {
    struct run r = run_once(
        "topology: {kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 4, rate: 25Gbps, host_rate: 10Gbps, "
        "delay: 2000ns}\n"
        "switch: {buffer: {kind: static, size: 70434B, xoff: 20000B, xon: 20000B}, queueing: voq, "
        "pfc: {priorities: all, quanta: 600, refresh: 0.1}}\n"
        "host: {mtu: 9000B, timeout: 50ms, pfc: {priorities: all}}\n"
        "workload:\n"
        "  - {kind: all_to_all, size: 100KB, priority: 4}\n"
        "  - {kind: incast, sources: 'host-1..7', dst: host-0, size: 200KB, priority: 1}\n"
        "  - {kind: permutation, size: 300KB, priority: 2}\n"
        "run: {seed: 399}\n");
    run_assert_complete(&r);
    assert_int_equal(run_drops(&r), 0);
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost),
        cmocka_unit_test(a_refresh_survives_a_change_of_mind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
