// SPDX-License-Identifier: Apache-2.0
// What the control plane of a DSF knows, and when, decides what its data plane forwards: FSDB among interface nodes and
// nodes that are drained. Sources send at line rate regardless, so the loss is the rate times the time until the
// sources' interface nodes know. Each run also checks that bytes are conserved and that threads change nothing (run.h).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run.h"

/// host-0 at rdsw-0, ... host-3 at rdsw-3; 400G: a packet of 4096 B is 4178 B on the wire, 83.56 ns.
#define ZONE                                                                                                           \
    "topology: {kind: dsf_l1_zone, rdsws: 4, rails: 1, fdsws: 10, virtual_devices: 4, hosts_per_rdsw: 1, "             \
    "host_rate: 400Gbps}\n"                                                                                            \
    "switch: {buffer: {kind: dynamic, total: 4GB, alpha: 2}}\n"
#define FLOW "workload: [{kind: flow, src: host-0, dst: host-2, size: 20MB}]\n"
enum { PACKET_PS = (4158 + 20) * 20 };

/// The scenario's own timeline: how long, from `after` on, interface node `node` does not forward to those behind `of`.
/// *ret_end: when it does again.
static weft_time_ps time_unknown(const struct run *r, const char *node, const char *of, weft_time_ps *ret_end) {
    const struct weft_scenario *s = r->scenario;
    struct weft_control_event *event;
    struct weft_known_timeline *timeline;
    uint32_t events, a = weft_topology_find_node(r->topology, node), b = weft_topology_find_node(r->topology, of);
    assert_int_equal(weft_control_events_read(r->topology, s->control_tree, &event, &events, NULL), WEFT_OK);
    assert_int_equal(
        weft_known_timeline_new(r->topology, &s->control, event, events, s->run.seed, s->arena, &timeline, NULL),
        WEFT_OK);
    weft_time_ps sum = 0, since = 0;
    bool known = !timeline->cold;
    *ret_end = 0;
    for (uint32_t i = 0; i < timeline->events; i++) {
        const struct weft_known_event *e = &timeline->event[i];
        if (e->node != a || e->of != b) continue;
        assert_int_equal(e->known, !known); // each is a change
        if (e->known) sum += (*ret_end = e->time_ps) - since;
        since = e->time_ps;
        known = e->known;
    }
    assert_true(known);
    return sum;
}

/// What rdsw-0 dropped of host-0's packets is what came in that time, to a packet at each end.
static void assert_lost(const struct run *r, weft_time_ps unknown_ps) {
    uint64_t lost = 0;
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
        lost += run_counters(r, "rdsw-0/0", p)->drops;
    uint64_t expected = unknown_ps / PACKET_PS;
    if (lost + 1 < expected || lost > expected + 1)
        fail_msg("%" PRIu64 " packets lost, expected %" PRIu64, lost, expected);
}

#define FAST "latency: 2us, serve: 1us, retry: 10us"

/// Known by nobody at first: rdsw-0 learns of rdsw-2 after an answer (two latencies), the states that are served before
/// its own, and one latency more.
static void nothing_before_it_is_learned(void **state) {
    weft_time_ps end;
    struct run r = RUN(run_text, ZONE FLOW "control: {fsdb: {cold_start: on, " FAST "}}\n");
    run_assert_complete(&r);
    weft_time_ps unknown = time_unknown(&r, "rdsw-0", "rdsw-2", &end);
    assert_int_equal(unknown, end);
    assert_in_range(unknown, (3 * 2 + 1) * WEFT_PS_PER_US, (3 * 2 + 3 * 1) * WEFT_PS_PER_US);
    // the first packet arrives after host-0's frame, link and processing: 483640 ps
    assert_lost(&r, unknown - 483640 + PACKET_PS);
    run_free(&r);
}

#define CRASH                                                                                                          \
    "control: {fsdb: {" FAST ", gr_hold: %s}, events: [{at: 50us, do: crash, node: rdsw-2}, "                          \
    "{at: 100us, do: restart, node: rdsw-2}]}\n"

/// From the reset, 2 us after the crash, until rdsw-2 has started and told its state: at the next attempt.
static void lost_until_it_is_known_again(void **state) {
    weft_time_ps end;
    struct run r = RUN(run_text, ZONE FLOW CRASH, "0s");
    run_assert_complete(&r);
    weft_time_ps unknown = time_unknown(&r, "rdsw-0", "rdsw-2", &end);
    assert_in_range(end, 100 * WEFT_PS_PER_US, (100 + 10 + 4 * 2 + 3 + 4) * WEFT_PS_PER_US);
    assert_int_equal(end - unknown, 52 * WEFT_PS_PER_US);
    assert_lost(&r, unknown);
    assert_true(r.outcome->drops[WEFT_DROP_NEIGHBOUR] > 500);
    // The node that started knows nothing of others either: what acknowledges is lost on its side.
    assert_true(time_unknown(&r, "rdsw-2", "rdsw-0", &end) > 0);
    run_free(&r);
}

/// What was known is kept while the hold time runs, at both ends: nothing is lost.
static void graceful_restart_loses_nothing(void **state) {
    struct run r = RUN(run_text, ZONE FLOW CRASH, "200us");
    run_assert_complete(&r);
    assert_int_equal(run_drops(&r), 0);
    run_free(&r);
}

/// Too late: the hold time is over 2 + 20 us after the crash.
static void a_hold_time_that_is_too_short(void **state) {
    weft_time_ps end;
    struct run r = RUN(run_text, ZONE FLOW CRASH, "20us");
    run_assert_complete(&r);
    weft_time_ps unknown = time_unknown(&r, "rdsw-0", "rdsw-2", &end);
    assert_int_equal(end - unknown, 72 * WEFT_PS_PER_US);
    assert_lost(&r, unknown);
    run_free(&r);
}

/// Nobody is told of a partition: it is noticed when the last heartbeat is 1.1 ms old, 0.1 to 1.1 ms after it came
/// about. Packets arrive until then; and from then on none, until it is healed and somebody has tried again.
static void a_partition_is_noticed_late(void **state) {
    weft_time_ps end;
    struct run r = RUN(run_once, ZONE "control: {fsdb: {" FAST ", heartbeat: 1ms, receive_timeout: 1100us, "
                                      "connect_timeout: 1ms}, events: [{at: 20us, do: cut, node: rdsw-2}, "
                                      "{at: 1500us, do: heal}]}\n"
                                      "workload: [{kind: flow, src: host-0, dst: host-2, size: 150MB}]\n");
    run_assert_complete(&r);
    weft_time_ps unknown = time_unknown(&r, "rdsw-0", "rdsw-2", &end);
    assert_in_range(end - unknown, (20 + 100) * WEFT_PS_PER_US, (20 + 1100 + 2) * WEFT_PS_PER_US);
    assert_in_range(end, 1500 * WEFT_PS_PER_US, (1500 + 1000 + 10 + 3 * 2 + 3) * WEFT_PS_PER_US);
    assert_lost(&r, unknown);
    run_free(&r);
}

/// A drained node is not reached, and what goes between its own ports goes on; so does what goes between others. It is
/// reached again when it is no longer to be drained, but after an error of its ASIC only if it was drained first.
static void drained_nodes_forward_between_their_own_ports(void **state) {
    static const struct {
        const char *events;
        bool back;
    } stories[] = {
        {"{at: 10us, do: drain, node: rdsw-1}, {at: 600us, do: undrain, node: rdsw-1}", true},
        {"{at: 10us, do: asic_error, node: rdsw-1}, {at: 600us, do: undrain, node: rdsw-1}", false},
        {"{at: 10us, do: asic_error, node: rdsw-1}, {at: 500us, do: drain, node: rdsw-1}, "
         "{at: 600us, do: undrain, node: rdsw-1}",
         true},
    };
    for (uint32_t i = 0; i < 3; i++) {
        struct run r = RUN(run_text,
                           "topology: {kind: dsf_l1_zone, rdsws: 4, rails: 1, fdsws: 10, virtual_devices: 4, "
                           "hosts_per_rdsw: 2, host_rate: 400Gbps}\n"
                           "switch: {buffer: {kind: dynamic, total: 4GB, alpha: 2}}\n"
                           "host: {timeout: 100us}\n"
                           "control: {events: [%s]}\n"
                           "workload: [{kind: flow, src: host-2, dst: host-3, size: 10MB},"
                           "{kind: flow, src: host-0, dst: host-2, size: 40KB, start: 200us},"
                           "{kind: flow, src: host-4, dst: host-6, size: 10MB}]\n"
                           "run: {until: 1ms}\n",
                           stories[i].events);
        weft_time_ps alone = 10 * (weft_time_ps)1000000 / 4096 * PACKET_PS;
        assert_in_range(run_fct(&r, 0), alone, alone + 4 * WEFT_PS_PER_US);
        assert_in_range(run_fct(&r, 2), alone, alone + 8 * WEFT_PS_PER_US);
        assert_true(r.outcome->drops[WEFT_DROP_NO_ROUTE] > 0);
        assert_int_equal(r.outcome->flow[1].end_ps != WEFT_TIME_NEVER, stories[i].back);
        if (stories[i].back)
            assert_in_range(r.outcome->flow[1].end_ps, 600 * WEFT_PS_PER_US, 850 * WEFT_PS_PER_US);
        else
            assert_int_equal(r.outcome->flow[1].delivered_bytes, 0);
        run_free(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_before_it_is_learned),
        cmocka_unit_test(lost_until_it_is_known_again),
        cmocka_unit_test(graceful_restart_loses_nothing),
        cmocka_unit_test(a_hold_time_that_is_too_short),
        cmocka_unit_test(a_partition_is_noticed_late),
        cmocka_unit_test(drained_nodes_forward_between_their_own_ports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
