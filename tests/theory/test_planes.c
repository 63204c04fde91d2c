// SPDX-License-Identifier: Apache-2.0
// A NIC with ports in several equal networks (host.planes). Working planes are the sum of their networks: a flow with a
// queue pair in each ends when its half would end alone in one of them. Also what happens when planes are lost and come
// back, including READ and messages; and what is refused.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "form.h"
#include "run.h"

static const char *const zone =
    "{kind: dsf_l1_zone, rdsws: 2, rails: 1, fdsws: 2, virtual_devices: 2, hosts_per_rdsw: 2";
static const char *const single = "{kind: networks, networks: {a: &s {kind: single, hosts: 4}, b: *s, c: *s}}";

static void planes_add_up(void **state) {
    struct run one = RUN(
        run_once, "topology: %s\nworkload:\n  - {kind: flow, src: 'a-host-0', dst: 'a-host-3', size: 1MB}\n", single);
    struct run three = RUN(run_text,
                           "topology: %s\nhost: {planes: queue_pair}\nworkload:\n"
                           "  - {kind: flow, src: 'a-host-0', dst: 'a-host-3', size: 3MB, qps: 3}\n",
                           single);
    run_assert_complete(&one);
    run_assert_complete(&three);
    assert_int_equal(three.outcome->flow[0].end_ps, one.outcome->flow[0].end_ps);
    assert_int_equal(three.outcome->flow[0].ideal_ps, one.outcome->flow[0].ideal_ps);
    run_free(&one);
    run_free(&three);
}

/// A NIC has a port in each plane that a topology may have, whatever spreads its packets.
static void as_many_planes_as_there_may_be(void **state) {
    enum { PLANES = 32 };
    static const char *const network =
        "hardware: ideal\ntopology: {kind: planes, planes: %d, plane: {kind: single, hosts: 2, rate: 25Gbps}}\n"
        "host: {%s}\nworkload: [{kind: flow, src: host-0, dst: host-1, size: %dMB, qps: %d}]\n";
    struct run one = RUN(run_text, network, 2, "planes: queue_pair", 2, 2);
    struct run all = RUN(run_text, network, PLANES, "planes: queue_pair", PLANES, PLANES);
    struct run sprayed =
        RUN(run_text, network, PLANES,
            "preset: uet, planes: packet, transport: {kind: uet, spray: {kind: mrc, values: 64}}", 32, 1);
    assert_int_equal(run_fct(&all, 0), run_fct(&one, 0));
    run_assert_complete(&sprayed);
    for (uint32_t k = 0; k < PLANES; k++) {
        char host[32];
        snprintf(host, sizeof host, k ? "plane-%u-host-0" : "host-0", k);
        uint32_t node = weft_topology_find_node(sprayed.topology, host);
        assert_true(weft_outcome_at(sprayed.outcome, sprayed.topology->node[node].port0, 3)->tx_packets >
                    32000000 / 4096 / PLANES / 2);
    }
    run_free(&one);
    run_free(&all);
    run_free(&sprayed);
}

/// Of 24 MB from host 1 to host 2 of three planes, packet by packet, with UET: time to the last byte.
static double spray_us(const char *topology, const char *rest) {
    struct run r = RUN(run_text,
                       "topology: %s\nswitch: {processing: 0ns, aqm: trim, pfc: {priorities: none}}\n"
                       "host: {preset: uet, planes: packet, transport: {kind: uet, spray: reps}, cc: {kind: nscc, "
                       "base_rtt: 3us, target: 1.5}}\n%s"
                       "workload: [{kind: flow, src: a-host-1, dst: a-host-2, size: 24MB}]\n",
                       topology, rest);
    run_assert_complete(&r);
    double us = (double)run_fct(&r, 0) * 1e-6;
    run_free(&r);
    return us;
}

// A queue pair whose packets take the planes in turn has the sum of their rates R: bytes / R, where a frame of 4096 B
// payload takes 4180 B of the wire. A plane at half its rate takes half as many packets, for its port is busy twice as
// long, and leaves 2.5 R of 3 R. A plane whose NIC port is lost at the start leaves 2 R, after its packets of the
// detection time were lost, and sent again; NSCC's window shrinks by each of them.
static void packets_take_all_planes(void **state) {
    static const char *const slow =
        "{kind: networks, networks: {a: &s {kind: single, hosts: 4}, b: *s, c: {kind: single, hosts: 4, rate: "
        "100Gbps}}}";
    double alone = 24e6 / 4096 * 4180 * 8 / 200e9 * 1e6; // at the rate of one plane, 200G
    double all = spray_us(single, ""), half = spray_us(slow, "");
    double lost = spray_us(single, "events: [{at: 10us, link: 'b-host-1/0', state: down}]\nrun: {detection: 10us}\n");
    print_message("alone %.1f us, three planes %.1f, one at half %.1f, one lost %.1f\n", alone, all, half, lost);
    assert_true(all > alone / 3 && all < alone / 3 * 1.05);
    assert_true(half > alone / 2.5 && half < alone / 2.5 * 1.05);
    assert_true(lost > alone / 2 * .95 && lost < alone / 2 * 1.25);
}

// Messages of a packet each become ready one after another while all ports are busy: each port has its share of them,
// so the last one ends after MESSAGES / PLANES packet times, and what a message takes alone.
static void messages_take_all_planes(void **state) {
    enum { MESSAGES = 64, PLANES = 8, FRAME = 4096 };
    const double rate = 50e9;
    char flows[MESSAGES * 90];
    size_t n = 0;
    for (uint32_t k = 0; k < MESSAGES; k++)
        n += (size_t)snprintf(flows + n, sizeof flows - n,
                              "  - {kind: flow, src: host-0, dst: host-%u, size: %uB, start: %uns}\n", k + 1, FRAME, k);
    struct run r =
        RUN(run_text,
            "hardware: ideal\ntopology: {kind: planes, planes: %d, plane: {kind: single, hosts: %d, rate: %.0fbps}}\n"
            "host: {preset: uet, planes: packet, transport: {kind: uet, spray: reps}}\nworkload:\n%s",
            PLANES, MESSAGES + 1, rate, flows);
    run_assert_complete(&r);
    double share = MESSAGES / PLANES * FRAME * 8 / rate * 1e12, last = 0;
    for (uint32_t k = 0; k < MESSAGES; k++)
        if ((double)run_fct(&r, k) > last) last = (double)run_fct(&r, k);
    assert_true(last > share && last < share * 1.05 + (double)r.outcome->flow[0].ideal_ps);
    run_free(&r);
}

// An all-to-all of one packet for each. A host sends data, clear-to-sends and acknowledgements by all its ports alike.
// What comes to it is spread as if each packet drew a port, for no sender knows of others: of N packets the fullest of
// P ports has more than twice N / P once in a million such draws. Where all senders count their ports alike, it has all
// N.
static void messages_are_spread_over_planes(void **state) {
    enum { HOSTS = 128, PLANES = 8, BYTES = 1024 + 200 }; // of a packet with a clear-to-send and an acknowledgement
    struct run r = RUN(run_text,
                       "hardware: ideal\ntopology: {kind: planes, planes: %d, plane: {kind: leaf_spine, leaves: 16, "
                       "hosts_per_leaf: %d, spines: 8, rate: 50Gbps}}\n"
                       "host: {preset: uet, planes: packet, transport: {kind: uet, spray: reps}}\n"
                       "workload: [{kind: collective, collective: all_to_all, size: 128KiB, hosts: 'host-*'}]\n",
                       PLANES, HOSTS / 16);
    const struct weft_topology *t = r.topology;
    run_assert_complete(&r);
    for (uint32_t h = 0; h < HOSTS; h++) {
        uint64_t most_in = 0, most_out = 0, all_out = 0;
        for (uint32_t k = 0; k < PLANES; k++) {
            uint32_t port = t->node[t->host[h + k * HOSTS]].port0;
            uint64_t in = weft_outcome_at(r.outcome, t->port[port].peer, 3)->tx_bytes;
            uint64_t out = weft_outcome_at(r.outcome, port, 3)->tx_bytes;
            all_out += out;
            if (in > most_in) most_in = in;
            if (out > most_out) most_out = out;
        }
        assert_true(most_in < UINT64_C(2) * (HOSTS - 1) * BYTES / PLANES);
        assert_true((double)most_out < 1.1 * (double)all_out / PLANES);
    }
    run_free(&r);
}

/// Packets that host 1 has sent by its port in the second plane, until then.
static uint64_t sent_by_second(const char *spray, unsigned until_us) {
    struct run r =
        RUN(run_once,
            "topology: {kind: networks, networks: {a: &s {kind: single, hosts: 4, rate: 100Gbps}, b: *s}}\n"
            "switch: {pfc: {priorities: none}}\n"
            "host: {preset: uet, planes: packet, cc: none, transport: {kind: uet, timeout: 50us, spray: %s}}\n"
            "events:\n"
            "  - {at: 50us, link: 'b-switch-0->b-host-2', state: down}\n"
            "  - {at: 500us, link: 'b-switch-0->b-host-2', state: up}\n"
            "run: {detection: 10ms, until: %uus}\n"
            "workload: [{kind: flow, src: a-host-1, dst: a-host-2, size: 40MB}]\n",
            spray, until_us);
    uint64_t sent = run_counters(&r, "b-host-1/0", 3)->tx_packets;
    run_free(&r);
    return sent;
}

// A plane loses the receiver's link, of which nobody tells the sender. Of its m = 16 values, taken at one packet every
// t, each is taken within 2 m packets, and retired when that packet times out: the plane is left alone after timeout +
// 2 m t at most, and not before the timeout. Then each value has one packet every `probe`. When the link is back, so is
// each value after probe + m t + a round trip at most, and the plane has its whole rate.
static void a_dead_plane_is_left_and_comes_back(void **state) {
    static const char *const mrc = "{kind: mrc, values: 32, probe: 300us}";
    enum { M = 16, TIMEOUT = 50, PROBE = 300, DEATH = 50, BACK = 500, RTT = 3 };
    const double t = 4180 * 8 / 100e9 * 1e6; // us
    const unsigned left = DEATH + TIMEOUT + (unsigned)(2 * M * t) + 1,
                   back = BACK + PROBE + (unsigned)(M * t) + 1 + RTT;
    uint64_t when_left = sent_by_second(mrc, left), at_back = sent_by_second(mrc, back);
    double after_death_us = (double)(when_left - sent_by_second(mrc, DEATH)) * t;
    assert_true(after_death_us > TIMEOUT - RTT && after_death_us < TIMEOUT + 2 * M * t);
    assert_true(sent_by_second(mrc, DEATH + TIMEOUT - 2) > sent_by_second(mrc, DEATH + TIMEOUT - 4)); // not before
    assert_int_equal(sent_by_second(mrc, DEATH + TIMEOUT + PROBE - RTT), when_left);
    assert_int_equal(sent_by_second(mrc, BACK - 1), when_left + M);
    assert_true(sent_by_second(mrc, BACK + PROBE - RTT) < at_back);
    form_assert("MRC: packets by a plane that is back, in 100 us (its rate)",
                (double)(sent_by_second(mrc, back + 100) - at_back), 100 / t, .02);
    // Without values that are bound to planes it is never left.
    static const char *const oblivious = "{kind: oblivious, values: 32}";
    assert_true(sent_by_second(oblivious, left + 200) > sent_by_second(oblivious, left) + 100);
}

/// All of a plane's links between its boxes, or of its NIC ports, for good or for a while; and both planes, one after
/// the other. `run_text` runs with one thread and with several.
static void losses_are_survived(void **state) {
    static const char *const events[] = {
        "{at: 20us, link: 'plane-1-fdsw-*/*', state: down}",
        "{at: 20us, link: 'plane-0-fdsw-*/*', state: down}",
        "{at: 20us, link: 'plane-1-host-*/0', state: down}",
        "{at: 20us, link: 'plane-0-host-2/0', state: down}, {at: 90us, link: 'plane-0-host-2/0', state: up}",
        "{at: 20us, link: 'plane-0-host-*/0', state: down}, {at: 150us, link: 'plane-0-host-*/0', state: up}, "
        "{at: 300us, link: 'plane-1-fdsw-*/*', state: down}",
    };
    for (unsigned i = 0; i < sizeof events / sizeof *events; i++) {
        struct run r =
            RUN(run_text,
                "topology: %s, planes: 2}\n"
                "switch: {buffer: {kind: dynamic, total: 4GB, alpha: 2}}\n"
                "host: {planes: queue_pair, timeout: 50us, work_request: 10ns}\n"
                "run: {detection: 15us}\n"
                "control: {reachability: {watchdog: 20us, cycle: 10us}}\n"
                "events: [%s]\n"
                "workload:\n"
                "  - {kind: permutation, hosts: 'plane-0-host-*', mode: shift, shift: 2, size: 6MB, qps: 3}\n"
                "  - {kind: flow, src: 'plane-0-host-1', dst: 'plane-0-host-2', size: 1MB, verb: read}\n"
                "  - {kind: collective, hosts: 'plane-0-host-*', size: 2MB, repeat: 4, qps: 2, qp_scaling: "
                "split}\n",
                zone, events[i]);
        run_assert_complete(&r);
        run_free(&r);
    }
}

/// Planes of Ethernet switches with all that queue pairs are told by them: marks, pauses, and source flow control.
static void planes_of_ethernet(void **state) {
    static const char *const rest[] = {
        "switch: {aqm: wred, buffer: {kind: static, size: 200KB, xoff: 90KB, xon: 80KB}}\nhost: {planes: queue_pair, "
        "cc: dcqcn, timeout: 300us}\n",
        "switch: {sfc: fixed, buffer: {kind: static, size: 200KB, xoff: 90KB, xon: 80KB}}\nhost: {planes: queue_pair, "
        "timeout: 300us}\n",
    };
    for (unsigned i = 0; i < sizeof rest / sizeof *rest; i++) {
        struct run r = RUN(run_text,
                           "topology: {kind: networks, networks: {a: &n {kind: leaf_spine, leaves: 3, spines: 2, "
                           "hosts_per_leaf: 3, bit_error_rate: 1e-8}, b: *n}}\n%s"
                           "events: [{at: 30us, link: 'b-leaf-0->b-host-1', state: down}]\nrun: {detection: 10us}\n"
                           "workload:\n"
                           "  - {kind: incast, sources: 'a-host-0..7', dst: a-host-8, size: 300KB, qps: 4}\n"
                           "  - {kind: poisson, hosts: 'a-host-*', load: 0.6, size: 60KB, duration: 80us, qps: 2}\n",
                           rest[i]);
        run_assert_complete(&r);
        run_free(&r);
    }
}

static void refused(const char *yaml, const char *why) {
    struct run r = {0};
    assert_int_equal(weft_scenario_file_parse("t.yaml", yaml, strlen(yaml), NULL, 0, &r.file, &r.error), WEFT_OK);
    enum weft_status status = run_bind(&r, 0);
    if (!status) status = weft_simulation_check(r.scenario, r.topology, &r.error);
    if (!status) status = weft_simulation_check_workload(r.scenario, r.topology, r.workload, &r.error);
    assert_int_equal(status, WEFT_ERROR_INPUT);
    if (!strstr(r.error.text, "t.yaml:") || !strstr(r.error.text, why)) fail_msg("%s", r.error.text);
    run_free(&r);
}

static void what_cannot_be(void **state) {
    refused("topology: {kind: single, hosts: 2}\nhost: {planes: queue_pair}\nworkload: [{kind: flow, src: host-0, dst: "
            "host-1}]\n",
            "is no 2 to 32 networks of as many hosts");
    refused("topology: {kind: networks, networks: {a: {kind: single, hosts: 2}, b: {kind: single, hosts: 3}}}\n"
            "host: {planes: queue_pair}\nworkload: [{kind: flow, src: a-host-0, dst: a-host-1}]\n",
            "is no 2 to 32 networks of as many hosts");
    refused("topology: {kind: networks, networks: {a: {kind: single, hosts: 2}, b: {kind: single, hosts: 2}}}\n"
            "host: {planes: queue_pair}\nworkload: [{kind: flow, src: b-host-0, dst: b-host-1}]\n",
            "b-host-0 is a port of the NIC of a-host-0");
    refused("topology: {kind: networks, networks: {a: {kind: single, hosts: 2}, b: {kind: single, hosts: 2}}}\n"
            "host: {planes: queue_pair, drain_rate: 10Gbps}\nworkload: [{kind: flow, src: a-host-0, dst: a-host-1}]\n",
            "host.drain_rate");
    refused("topology: {kind: networks, networks: {a: {kind: single, hosts: 2}, b: {kind: single, hosts: 2}}}\n"
            "host: {planes: queue_pair}\ndevices: [{match: b-host-1, host: {planes: separate}}]\n"
            "workload: [{kind: flow, src: a-host-0, dst: a-host-1}]\n",
            "expected the same for all hosts");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes_add_up),
        cmocka_unit_test(as_many_planes_as_there_may_be),
        cmocka_unit_test(packets_take_all_planes),
        cmocka_unit_test(a_dead_plane_is_left_and_comes_back),
        cmocka_unit_test(losses_are_survived),
        cmocka_unit_test(messages_take_all_planes),
        cmocka_unit_test(messages_are_spread_over_planes),
        cmocka_unit_test(planes_of_ethernet),
        cmocka_unit_test(what_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
