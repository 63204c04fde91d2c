// SPDX-License-Identifier: Apache-2.0
// BGP in a region decides by which exits packets leave a building, and when: packets to a dead path are lost at the
// rate of their source until the RDSW has been told; then nothing is. Each run also checks that bytes are conserved and
// that threads change nothing (run.h).
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "box/dsf/dsf_outcome.h"
#include "run.h"

/// Buildings of 16 hosts, 2 at an RDSW; the edge PoD of building b has edsw-4b to 4b + 3 of 4 links each: 0 and 1 to
/// one superspine, 2 and 3 to another, which all buildings share.
#define REGION                                                                                                         \
    "topology: {kind: dsf_region, l2_zones: %u, zones: 2, rdsws: 4, rails: 1, fdsws: 2, sdsws: 2, "                    \
    "virtual_devices: 2, lane_rate: 850Gbps, hosts_per_rdsw: 2, edsws: 4, edge_fdsws: 2, superspine_groups: 2, "       \
    "edsw_superspines: 2, superspine_links: 2, superspine_rate: 400Gbps}\n"                                            \
    "switch: {buffer: {kind: dynamic, total: 4GB, alpha: 2}}\nhost: {timeout: 200us}\n"
#define BGP "bgp: {detect: 20us, processing: 2us, latency: 5us, tracking_delay: 40us}"
#define CONTROL "control: {" BGP "}\n"
enum { PACKET_PS = (4158 + 20) * 20, GLASS_PS = 1100000, DETECT = 20, PROCESSING = 2, LATENCY = 5 };

static struct run run_twice(const char *text) {
    struct run r = run_once(text);
    run_assert_same(&r, 3, text);
    return r;
}

/// Bytes that leave building 0 by exit i, link i % 4 of edsw-i / 4.
static uint64_t by_exit(const struct run *r, uint32_t i) {
    char name[32];
    uint64_t bytes = 0;
    snprintf(name, sizeof name, "edsw-%u/%u", i / 4, i % 4);
    for (uint32_t priority = 0; priority < WEFT_PRIORITIES; priority++)
        bytes += run_counters(r, name, priority)->tx_bytes;
    return bytes;
}

/// The exit of host-0's only flow, to building 1.
#define FLOW "workload: [{kind: flow, src: host-0, dst: host-16, size: 10MB}]\n"
static uint32_t own_exit(unsigned buildings) {
    struct run r = RUN(run_once, REGION FLOW, buildings);
    run_assert_complete(&r);
    assert_int_equal(run_drops(&r), 0);
    uint32_t found = WEFT_NONE;
    for (uint32_t i = 0; i < 16; i++) {
        if (by_exit(&r, i) < 1000000) continue; // the other building's acknowledgements come by others
        assert_int_equal(found, WEFT_NONE);
        found = i;
    }
    assert_int_not_equal(found, WEFT_NONE);
    run_free(&r);
    return found;
}

/// Packets that a node dropped, coming in or going out.
static uint64_t lost_at(const struct run *r, const char *node) {
    uint32_t n = weft_topology_find_node(r->topology, node);
    assert_int_not_equal(n, WEFT_NONE);
    const struct weft_node_info *info = &r->topology->node[n];
    uint64_t sum = 0;
    for (uint32_t p = info->port0; p < info->port0 + info->ports; p++)
        for (uint32_t priority = 0; priority < WEFT_PRIORITIES; priority++)
            sum += weft_outcome_at(r->outcome, p, priority)->drops;
    return sum;
}

/// What is lost: packets of the source for so long, to two of them; and as many as waited at a port, at most.
static void assert_lost(uint64_t packets, weft_time_ps time_ps, uint64_t waited) {
    uint64_t expected = time_ps / PACKET_PS;
    if (packets + 2 < expected || packets > expected + 2 + waited)
        fail_msg("%" PRIu64 " packets lost, expected %" PRIu64, packets, expected);
}

/// The link of an exit fails. It is known at its EDSW after `detect`; rdsw-0 is the first that is told of it. What was
/// on its way through 1.1 us of glass is lost as well. (Acknowledgements that come by that link are lost at its other
/// end.)
static void a_link_to_a_superspine_fails(void **state) {
    uint32_t exit = own_exit(2);
    struct run r = RUN(run_twice,
                       REGION CONTROL FLOW "events: [{at: 50us, link: edsw-%u/%u, state: down}, "
                                           "{at: 150us, link: edsw-%u/%u, state: up}]\n",
                       2, exit / 4, exit % 4, exit / 4, exit % 4);
    run_assert_complete(&r);
    char name[32];
    snprintf(name, sizeof name, "edsw-%u", exit / 4);
    assert_lost(lost_at(&r, name), (DETECT + PROCESSING + LATENCY + PROCESSING) * WEFT_PS_PER_US + GLASS_PS, 0);
    assert_int_equal(r.outcome->drops[WEFT_DROP_NO_ROUTE], 0);
    // Between, all by one other exit; after the repair by the old one again.
    uint32_t others = 0;
    for (uint32_t i = 0; i < 16; i++)
        others += i != exit && by_exit(&r, i) > 1000000;
    assert_int_equal(others, 1);
    assert_true(by_exit(&r, exit) > 5000000);
    run_free(&r);
}

/// Packets that are lost at the EDSW of host-0's exit, whose link is down at time 0.
static uint64_t lost_from_the_start(uint32_t exit, unsigned detect_us, unsigned start_us) {
    struct run r = RUN(run_twice,
                       REGION "control: {bgp: {detect: %uus, processing: 2us, latency: 5us}}\nrun: {detection: 0ns}\n"
                              "workload: [{kind: flow, src: host-0, dst: host-16, size: 10MB, start: %uus}]\n"
                              "events: [{at: 0us, link: edsw-%u/%u, state: down}]\n",
                       2, detect_us, start_us, exit / 4, exit % 4);
    run_assert_complete(&r);
    char name[32];
    snprintf(name, sizeof name, "edsw-%u", exit / 4);
    uint64_t lost = lost_at(&r, name);
    if (!lost) assert_int_equal(run_drops(&r), 0);
    run_free(&r);
    return lost;
}

/// A link that is down at time 0 has failed just then: it takes its time to be noticed, whatever Ethernet switches are
/// told at once. What starts after that loses nothing.
static void a_link_that_fails_at_the_start_is_noticed_like_others(void **state) {
    uint32_t exit = own_exit(2);
    uint64_t soon = lost_from_the_start(exit, DETECT, 0), late = lost_from_the_start(exit, 3 * DETECT, 0);
    assert_true(soon > 0);
    // to 2%: the first packets come as credits do
    double expected = 2.0 * DETECT * WEFT_PS_PER_US / PACKET_PS;
    if (fabs((double)(late - soon) / expected - 1) > 0.02)
        fail_msg("%" PRIu64 " packets lost, expected %.0f", late - soon, expected);
    assert_int_equal(lost_from_the_start(exit, DETECT, DETECT + PROCESSING + LATENCY + PROCESSING), 0);
}

/// A superspine loses its links to building 1. It tells the EDSWs of building 0, and these the RDSWs; until then
/// packets come to it for nothing. Of building 2 it still tells: traffic to there goes by all exits.
static void a_superspine_loses_a_building(void **state) {
    uint32_t exit = own_exit(3), edsw = 4 + exit / 8 * 2, port = exit % 4 / 2 * 2;
    const char *text = REGION CONTROL "workload: [{kind: flow, src: host-0, dst: host-16, size: 10MB},"
                                      "{kind: incast, sources: 'host-2..15', dst: host-32, size: 1MB, qps: 16, start: "
                                      "400us}]\n%srun: {detection: 1s}\n";
    char events[512];
    snprintf(events, sizeof events,
             "events: [{at: 50us, link: edsw-%u/%u, state: down}, {at: 50us, link: edsw-%u/%u, state: down}, "
             "{at: 50us, link: edsw-%u/%u, state: down}, {at: 50us, link: edsw-%u/%u, state: down}]\n",
             edsw, port, edsw, port + 1, edsw + 1, port, edsw + 1, port + 1);
    struct run r = RUN(run_twice, text, 3, events);
    run_assert_complete(&r);
    char name[32];
    snprintf(name, sizeof name, "superspine-%u", exit / 8 * 2 + exit % 4 / 2);
    // The superspine's and the EDSW's UPDATE, each made, sent and taken; of the EDSW rdsw-0's is made first. Then what
    // was on the links to and from the superspine, with its processing, and what waited at the EDSW's port.
    weft_time_ps told = (DETECT + 2 * PROCESSING + LATENCY + 2 * PROCESSING + LATENCY) * WEFT_PS_PER_US;
    assert_lost(lost_at(&r, name), told + 2 * GLASS_PS + 300000, weft_outcome_dsf(r.outcome)->egress_bytes_max / 4158);
    for (uint32_t i = 0; i < 16; i++)
        assert_true(by_exit(&r, i) > 100000);
    for (uint32_t i = 1; i < r.outcome->flows; i++)
        assert_int_equal(r.outcome->flow[i].packets_again, 0);
    run_free(&r);
}

/// ECMP is over what is left: an EDSW with two of its four links has 2 of 14 next hops. Each of 896 queue pairs chooses
/// by hash, so its share of them is 1/7 to three deviations.
static void next_hops_are_weighted_by_what_is_left(void **state) {
    const uint32_t pairs = 14 * 64;
    struct run r =
        RUN(run_once,
            REGION CONTROL "workload: [{kind: incast, sources: 'host-0..13', dst: host-16, qps: 64, "
                           "size: 262144B, start: 100us}]\n"
                           "events: [{at: 0us, link: edsw-1/0, state: down}, {at: 0us, link: edsw-1/1, state: down}]\n"
                           "run: {detection: 1us}\n",
            2);
    run_assert_complete(&r);
    assert_int_equal(run_drops(&r), 0);
    uint64_t sum = 0, own = 0;
    for (uint32_t i = 0; i < 16; i++) {
        sum += by_exit(&r, i);
        if (i / 4 == 1) own += by_exit(&r, i);
    }
    assert_int_equal(by_exit(&r, 4) + by_exit(&r, 5), 0);
    double share = (double)own / (double)sum, p = 2.0 / 14;
    if (fabs(share - p) > 3 * sqrt(p * (1 - p) / pairs)) fail_msg("%.4f of the traffic, expected %.4f", share, p);
    run_free(&r);
}

/// An EDSW whose agent crashes is no longer known to others (FSDB) at once: packets that would leave by it are dropped
/// until its ways are taken out (tracking). With a hold time that is long enough nothing happens.
static void an_edsw_crashes(void **state) {
    uint32_t exit = own_exit(2);
    for (uint32_t hold = 0; hold < 2; hold++) {
        struct run r = RUN(run_twice,
                           REGION FLOW "control: {fsdb: {latency: 3us, gr_hold: %s}, " BGP
                                       ", events: [{at: 50us, do: crash, node: edsw-%u}]}\n",
                           2, hold ? "10ms" : "0s", exit / 4);
        run_assert_complete(&r);
        if (hold)
            assert_int_equal(run_drops(&r), 0);
        else
            assert_lost(r.outcome->drops[WEFT_DROP_NEIGHBOUR], (40 + PROCESSING) * WEFT_PS_PER_US, 0);
        run_free(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_link_to_a_superspine_fails),
        cmocka_unit_test(a_link_that_fails_at_the_start_is_noticed_like_others),
        cmocka_unit_test(a_superspine_loses_a_building),
        cmocka_unit_test(next_hops_are_weighted_by_what_is_left),
        cmocka_unit_test(an_edsw_crashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
