// SPDX-License-Identifier: Apache-2.0
// Hyperports, in whole runs: a flow takes all members, in order, and costs a frame's time at a member's rate.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run.h"

/// Two switches, hosts of 400G at both.
#define LINE                                                                                                           \
    "topology: {kind: list, nodes: [{name: s, role: switch}, {name: t, role: switch}, {name: a, role: host}, {name: "  \
    "b, role: host}, {name: c, role: host}, {name: d, role: host}], links: [{from: a, to: s, rate: 400Gbps}, {from: "  \
    "b, to: s, rate: 400Gbps}, {from: c, to: t, rate: 400Gbps}, {from: d, to: t, rate: 400Gbps}, {from: s, to: t, %s}" \
    "]}\nhost: {cc: none}\nswitch: {buffer: {kind: dynamic, total: 1GB, alpha: 2}}\n"

static weft_time_ps time_of(const char *link, const char *size) {
    struct run r = RUN(run_text, LINE "workload: [{kind: flow, src: a, dst: c, size: %s}]\n", link, size);
    weft_time_ps time = run_fct(&r, 0);
    assert_int_equal(run_drops(&r), 0);
    run_free(&r);
    return time;
}

/// A frame of 4174 B goes over one member: 4182 B times of 80 ps at 100G, where a link of 400G has 20.
static void a_frame_takes_one_member(void **state) {
    weft_time_ps one = time_of("rate: 400Gbps", "4096B"), members = time_of("rate: 100Gbps, members: 4", "4096B");
    assert_int_equal(members - one, 4182 * 60);
}

/// A flow of 400G goes over all of them, and its last frame (4158 B) is as late; over parallel links it takes one.
static void a_fat_flow_takes_all(void **state) {
    weft_time_ps one = time_of("rate: 400Gbps", "1MiB"), members = time_of("rate: 100Gbps, members: 4", "1MiB"),
                 links = time_of("rate: 100Gbps, count: 4", "1MiB");
    assert_in_range(members - one, 4166 * 60 - 1000, 4178 * 60 + 1000);
    double frames = 256 * 4178.0 * 80;
    assert_true(fabs((double)links / frames - 1) < 0.02);
}

/// Long frames and short ones on different members: short ones that are there first wait.
static void order_is_kept(void **state) {
    struct run r = RUN(run_text,
                       LINE "devices: [{match: b, host: {mtu: 256B}}]\n"
                            "workload: [{kind: flow, src: a, dst: c, size: 1MB}, {kind: flow, src: b, dst: c, "
                            "size: 200KB}, {kind: flow, src: b, dst: d, size: 200KB}]\n",
                       "rate: 100Gbps, members: 4");
    run_assert_complete(&r);
    assert_int_equal(run_drops(&r), 0);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(r.outcome->flow[i].out_of_order, 0);
    run_free(&r);
}

/// Losses are counted, and later frames are not blocked forever.
static void losses_are_survived(void **state) {
    struct run r = RUN(run_text, LINE "workload: [{kind: flow, src: a, dst: c, size: 1MB}]\n",
                       "rate: 100Gbps, members: 4, bit_error_rate: 1e-6");
    run_assert_complete(&r);
    assert_true(run_drops(&r) > 0);
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_takes_one_member),
        cmocka_unit_test(a_fat_flow_takes_all),
        cmocka_unit_test(order_is_kept),
        cmocka_unit_test(losses_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
