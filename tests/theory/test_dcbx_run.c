// SPDX-License-Identifier: Apache-2.0
// LLDP and DCBX in whole runs: when frames are sent, what is in force after them, what a difference costs in packets,
// and what is forgotten. IEEE 802.1AB clause 9, IEEE 802.1Q clauses 36 and 38.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run.h"

/// 3:1 incast of priority 4. The switch has PFC on 3 and 4, hosts on what `hosts` says.
static struct run incast(const char *hosts, const char *more) {
    return RUN(run_text,
               "topology: {kind: single, hosts: 4, rate: 100Gbps, delay: 150ns}\n"
               "switch: {pfc: {priorities: [3, 4]}, buffer: {kind: static, size: 150KB, xoff: 100KB, xon: 50KB}}\n"
               "host: {pfc: {priorities: %s}}\n"
               "workload: [{kind: incast, sources: host-0..2, dst: host-3, size: 500KB, priority: 4}]\n%s",
               hosts, more);
}

static const struct weft_link_dcbx *link_of(const struct run *r, uint32_t i) {
    assert_non_null(r->outcome->links);
    return &r->outcome->links[i];
}

/// End 0 of each link is the switch's or the host's: which one is asked for by role.
static unsigned end_with(const struct run *r, uint32_t link, enum weft_node_role role) {
    const struct weft_topology *t = r->topology;
    return t->node[t->port[t->link[link].port[0]].node].role != role;
}

/// Hosts that have PFC on 3 only do not stop for a pause of priority 4: the switch drops, and hosts send again.
static void a_difference_costs_packets(void **state) {
    struct run off = incast("3", ""), on = incast("3", "dcbx: {enabled: true}\n");
    assert_null(off.outcome->links);
    assert_true(off.outcome->drops[WEFT_DROP_HEADROOM] > 0); // the switch believes it lossless
    assert_true(on.outcome->drops[WEFT_DROP_HEADROOM] > 0);
    for (uint32_t i = 0; i < 4; i++) {
        const struct weft_link_dcbx *l = link_of(&on, i);
        assert_int_equal(l->lossless, 0x08);
        assert_int_equal(l->notes, 1);
        assert_int_equal(l->note->priorities, 0x10);
        assert_string_equal(l->note->consequence, "priority 4 is lossy on this link");
    }
    run_free(&off);
    run_free(&on);
}

/// A willing host takes the switch's 3 and 4 over and loses nothing; a willing switch takes the hosts' 3 over, pauses
/// for 4 no longer, and says of its drops that they are of a lossy priority.
static void negotiated_is_in_force(void **state) {
    struct run hosts = incast("3", "dcbx: {enabled: true}\ndevices: [{match: 'host-*', dcbx: {willing: true}}]\n");
    assert_int_equal(run_drops(&hosts), 0);
    run_assert_complete(&hosts);
    for (uint32_t i = 0; i < 4; i++) {
        unsigned host = end_with(&hosts, i, WEFT_NODE_HOST);
        assert_int_equal(link_of(&hosts, i)->configured[host], 0x08);
        assert_int_equal(link_of(&hosts, i)->in_force[host], 0x18);
        assert_int_equal(link_of(&hosts, i)->lossless, 0x18);
        assert_int_equal(link_of(&hosts, i)->notes, 0);
    }
    run_free(&hosts);
    struct run sw = incast("3", "dcbx: {enabled: true}\ndevices: [{match: switch-0, dcbx: {willing: true}}]\n");
    assert_true(sw.outcome->drops[WEFT_DROP_BUFFER_FULL] > 0);
    assert_int_equal(sw.outcome->drops[WEFT_DROP_HEADROOM], 0);
    for (uint32_t p = 0; p < sw.topology->ports; p++)
        assert_int_equal(weft_outcome_at(sw.outcome, p, 4)->pfc_tx_xoff, 0);
    assert_int_equal(link_of(&sw, 0)->in_force[end_with(&sw, 0, WEFT_NODE_SWITCH)], 0x08);
    run_free(&sw);
}

/// Both willing: the lower MAC address wins. Ports are numbered with their nodes, hosts before their switch here, and
/// addresses follow the numbers.
static void lower_address_wins(void **state) {
    struct run r = incast("[3, 5]", "dcbx: {enabled: true, willing: true}\n");
    for (uint32_t i = 0; i < 4; i++) {
        unsigned lower = r.topology->link[i].port[1] < r.topology->link[i].port[0];
        assert_int_equal(link_of(&r, i)->lossless, link_of(&r, i)->configured[lower]);
        assert_int_equal(link_of(&r, i)->in_force[0], link_of(&r, i)->in_force[1]);
    }
    run_free(&r);
}

/// A switch can give headroom to priorities that it was not configured to, in a shared buffer too.
static void switch_takes_over(void **state) {
    static const char *const buffers[] = {"{kind: static, size: 150KB, xoff: 100KB, xon: 50KB}",
                                          "{kind: dynamic, total: 1MB, headroom: 50KB, alpha: 1/8}"};
    for (unsigned b = 0; b < 2; b++)
        for (unsigned willing = 0; willing < 2; willing++) {
            struct run r =
                RUN(run_text,
                    "topology: {kind: single, hosts: 5, rate: 100Gbps, delay: 150ns}\n"
                    "switch: {pfc: {priorities: [3]}, buffer: %s}\n"
                    "host: {pfc: {priorities: [4]}}\n"
                    "dcbx: {enabled: true}\n"
                    "devices: [{match: switch-0, dcbx: {willing: %s}}]\n"
                    "workload: [{kind: incast, sources: host-0..3, dst: host-4, size: 500KB, priority: 4}]\n",
                    buffers[b], willing ? "true" : "false");
            assert_int_equal(run_drops(&r) == 0, willing);
            if (willing) run_assert_complete(&r);
            run_free(&r);
        }
}

/// At link up and every 30 s: a flow that starts at 95 s ends just after, so 0, 30, 60 and 90 s have been.
static void frames_every_interval(void **state) {
    struct run r = RUN(run_text, "topology: {kind: single, hosts: 2}\n"
                                 "dcbx: {enabled: true}\n"
                                 "workload: [{kind: flow, src: host-0, dst: host-1, size: 4KB, start: 95s}]\n");
    for (uint32_t i = 0; i < 2; i++)
        for (unsigned k = 0; k < 2; k++) {
            assert_int_equal(link_of(&r, i)->sent[k], 4);
            assert_int_equal(link_of(&r, i)->received[k], 4);
            assert_true(link_of(&r, i)->hears[k]);
        }
    run_free(&r);
    r = RUN(run_text, "topology: {kind: single, hosts: 2}\n"
                      "dcbx: {enabled: true, interval: 1ms}\n"
                      "devices: [{match: host-1, dcbx: {enabled: false}}]\n"
                      "workload: [{kind: flow, src: host-0, dst: host-1, size: 4KB, start: 10500us}]\n");
    unsigned host = end_with(&r, 1, WEFT_NODE_HOST);
    assert_int_equal(link_of(&r, 0)->received[0], 11);
    assert_false(link_of(&r, 1)->speaks[host]);
    assert_int_equal(link_of(&r, 1)->sent[1 - host], 11);
    assert_int_equal(link_of(&r, 1)->notes, 1);
    assert_string_equal(link_of(&r, 1)->note->found, "no LLDP seen from the neighbour");
    run_free(&r);
}

/// When a link goes down its information is lost; when it comes up, it is sent again at once.
static void link_failure(void **state) {
    for (unsigned up = 0; up < 2; up++) {
        struct run r = RUN(run_text,
                           "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 1}\n"
                           "dcbx: {enabled: true, willing: true}\n"
                           "devices: [{match: leaf-0, switch: {pfc: {priorities: [5]}}}]\n"
                           "events: [{at: 1ms, link: leaf-0--spine-0, state: down}%s]\n"
                           "workload: [{kind: flow, src: host-0, dst: host-1, size: 4KB, start: 50ms}]\n",
                           up ? ", {at: 2ms, link: leaf-0--spine-0, state: up}" : "");
        uint32_t failed = weft_topology_find_link(r.topology, "leaf-0--spine-0");
        const struct weft_link_dcbx *l = link_of(&r, failed);
        for (unsigned k = 0; k < 2; k++) {
            assert_int_equal(l->sent[k], 1 + up);
            assert_int_equal(l->hears[k], up);
            if (!up) assert_int_equal(l->in_force[k], l->configured[k]);
        }
        if (up) assert_int_equal(l->in_force[0], l->in_force[1]);
        if (!up) assert_string_equal(l->note->consequence, "priorities 3 and 5 are lossy on this link");
        run_free(&r);
    }
}

/// Frames that never arrive whole: nothing is heard. At lower rates: as many as should arrive.
static void lost_frames(void **state) {
    struct run r = RUN(run_text, "topology: {kind: single, hosts: 2, bit_error_rate: 0.1}\n"
                                 "dcbx: {enabled: true, interval: 100ms}\n"
                                 "workload: [{kind: flow, src: host-0, dst: host-1, size: 4KB}]\n"
                                 "run: {until: 1s, stall: never}\n");
    for (unsigned k = 0; k < 2; k++) {
        assert_int_equal(link_of(&r, 0)->sent[k], 10);
        assert_int_equal(link_of(&r, 0)->received[k], 0);
        assert_false(link_of(&r, 0)->hears[k]);
    }
    assert_int_equal(link_of(&r, 0)->notes, 2);
    run_free(&r);
    // Frames of 124 B (hosts) and 128 B (switch) are good with 0.9985^992 = 0.2256 and 0.9985^1024 = 0.2150: of 2000
    // each, 451 and 430 arrive, 881 in all with a standard deviation of 26.
    r = RUN(run_text, "topology: {kind: single, hosts: 2, bit_error_rate: 0.0015}\n"
                      "dcbx: {enabled: true, interval: 100ms, ttl: 1s}\n"
                      "workload: [{kind: flow, src: host-0, dst: host-1, size: 4KB, start: 1000s}]\n"
                      "run: {until: 100s}\n");
    uint64_t received = 0;
    for (uint32_t i = 0; i < 2; i++)
        for (unsigned k = 0; k < 2; k++) {
            assert_int_equal(link_of(&r, i)->sent[k], 1000);
            received += link_of(&r, i)->received[k];
        }
    assert_in_range(received, 881 - 4 * 26, 881 + 4 * 26);
    run_free(&r);
}

/// Links that fail and come back while traffic flows and lossless priorities change: bytes are conserved, the result
/// does not depend on threads (run_text), whatever the architecture.
static void under_traffic(void **state) {
    static const char *const switches[] = {
        "buffer: {kind: dynamic, total: 1MB, headroom: 30KB}", "queueing: voq", "queueing: iq, arbiter: round_robin",
        "forwarding: cut_through, scheduler: {kind: dwrr, weights: [1,1,1,4,4,1,1,1]}"};
    for (unsigned i = 0; i < 4; i++) {
        struct run r =
            RUN(run_text,
                "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4}\n"
                "switch: {%s, pfc: {priorities: [3], watchdog: 200us}}\n"
                "host: {pfc: {priorities: [4]}, timeout: 200us, drain_rate: 150Gbps}\n"
                "dcbx: {enabled: true, interval: 7us}\n"
                "devices: [{match: 'leaf-*', dcbx: {willing: true}, switch: {pfc: {priorities: [3, 4]}}},\n"
                "          {match: 'host-[1357]', dcbx: {willing: true}}]\n"
                "events: [{at: 30us, link: 'spine-0/*', state: down}, {at: 60us, link: 'spine-0/*', state: up},\n"
                "         {at: 40us, link: host-2/0, state: down}, {at: 80us, link: host-2/0, state: up}]\n"
                "workload:\n"
                "  - {kind: all_to_all, size: 30KB, priority: 3}\n"
                "  - {kind: all_to_all, size: 30KB, priority: 4}\n"
                "run: {detection: 5us}\n",
                switches[i]);
        for (uint32_t k = 0; k < r.topology->links; k++)
            assert_true(link_of(&r, k)->received[0] > 1);
        run_free(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_difference_costs_packets),
        cmocka_unit_test(negotiated_is_in_force),
        cmocka_unit_test(lower_address_wins),
        cmocka_unit_test(switch_takes_over),
        cmocka_unit_test(frames_every_interval),
        cmocka_unit_test(link_failure),
        cmocka_unit_test(lost_frames),
        cmocka_unit_test(under_traffic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
