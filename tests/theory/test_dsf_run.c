// SPDX-License-Identifier: Apache-2.0
// The data path of a disaggregated scheduled fabric, in whole runs: latency by hand, credits, incast, spraying, losses
// and watchdogs. Each run also says that bytes are conserved and that threads change nothing (run.h).
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "box/dsf/dsf_outcome.h"
#include "form.h"
#include "run.h"

#define ZONE                                                                                                           \
    "topology: {kind: dsf_l1_zone, rdsws: 4, rails: 1, fdsws: 10, virtual_devices: 4, hosts_per_rdsw: %d, "            \
    "host_rate: 400Gbps%s}\n"                                                                                          \
    "switch: {buffer: {kind: dynamic, total: 4GB, alpha: 2}}\n"

/// In a fabric in which nothing is lost, hosts see packets in the order in which they were sent.
static void assert_in_order(const struct run *r) {
    assert_int_equal(run_drops(r), 0);
    for (uint32_t i = 0; i < r->outcome->flows; i++)
        assert_int_equal(r->outcome->flow[i].out_of_order, 0);
}

/// One packet of 4096 B between interface nodes. Frame 4174 B: Ethernet to FCS, RETH included; 20 ps a byte at 400G.
///   host to IN     (4174 + 8) x 20 + 100000 link + 300000 processing                  =  483640
///   request        14 B x 80 ps (lane: 100G of 106.25G) + 350000 + 300000, twice       = 1302240
///   credit         the same                                                            = 1302240
///   cells          4174 + 10 B: 17 cells on 17 of 40 lanes; 268 x 80 + 650000, twice   = 1342880
///   IN to host     (4174 + 8) x 20 + 100000                                            =  183640
static void one_packet_takes_what_its_parts_take(void **state) {
    struct run r = RUN(run_text, ZONE "workload: [{kind: flow, src: host-0, dst: host-2, size: 4096B}]\n", 1, "");
    assert_int_equal(run_fct(&r, 0), 483640 + 2 * 1302240 + 1342880 + 183640);
    assert_int_equal(run_fct(&r, 0), r.outcome->flow[0].ideal_ps + 2 * 1302240);
    assert_in_order(&r);
    run_free(&r);
}

/// A class of switch chips is about no interface node: frames take what they take without it, and whole.
static void a_class_of_switches_changes_no_interface_node(void **state) {
    static const char *const chips[] = {"typical_switch", "tomahawk5", "quantum2"};
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++) {
        struct run r = RUN(run_text,
                           "topology: {kind: dsf_l1_zone, rdsws: 4, rails: 1, fdsws: 10, virtual_devices: 4, "
                           "hosts_per_rdsw: 1, host_rate: 400Gbps}\n"
                           "switch: {chip: %s, clock_ppm: 0, buffer: {kind: dynamic, total: 4GB, alpha: 2}}\n"
                           "workload: [{kind: flow, src: host-0, dst: host-2, size: 4096B}]\n",
                           chips[i]);
        assert_int_equal(run_fct(&r, 0), 483640 + 2 * 1302240 + 1342880 + 183640);
        run_free(&r);
    }
    struct run r = RUN(run_text,
                       ZONE "workload: [{kind: flow, src: host-0, dst: host-2, size: 4096B}]\n"
                            "devices: [{match: '*', switch: {processing: 400ns}}]\n",
                       1, "");
    assert_int_equal(run_fct(&r, 0), 583640 + 2 * 1302240 + 1342880 + 183640);
    run_free(&r);
}

/// Between ports of one interface node there is no fabric to cross.
static void one_packet_at_one_node(void **state) {
    struct run r = RUN(run_text, ZONE "workload: [{kind: flow, src: host-0, dst: host-1, size: 4096B}]\n", 2, "");
    assert_int_equal(run_fct(&r, 0), 483640 + 183640);
    assert_int_equal(run_fct(&r, 0), r.outcome->flow[0].ideal_ps);
    run_free(&r);
}

/// Many packets of 4096 B between the same hosts: credit that a VOQ was granted for one of them is left
/// over for the next, which does not ask. None is faster than its ideal time.
static void left_over_credit_is_no_faster_than_ideal(void **state) {
    struct run r = RUN(run_text, ZONE "workload: [{kind: poisson, load: 60%%, duration: 100us, size: 4096B}]\n", 1, "");
    run_assert_complete(&r);
    uint32_t without_request = 0;
    for (uint32_t i = 0; i < r.outcome->flows; i++) {
        assert_true(run_fct(&r, i) >= r.outcome->flow[i].ideal_ps);
        without_request += run_fct(&r, i) < r.outcome->flow[i].ideal_ps + 2 * 1302240;
    }
    assert_true(without_request > r.outcome->flows / 10);
    run_free(&r);
}

/// 7:1 into one port. From the first packet on the port sends without a gap: the last of 7 x n frames leaves it 7 x n
/// frame times after the first began. Sources get the same to a credit and a packet; what waits, waits in the VOQs at
/// the inputs; the fabric stays shallow.
static void incast_waits_at_its_sources(void **state) {
    const uint32_t n = 245; // packets of 4096 B a source, 1 MB
    struct run r = RUN(
        run_text, ZONE "workload: [{kind: incast, sources: 'host-0..5,host-7', dst: host-6, size: 1003520B}]\n", 2, "");
    run_assert_complete(&r);
    assert_in_order(&r);
    weft_time_ps first = 483640 + 2 * 1302240 + 1342880, frame = (4158 + 20) * 20, last = 0;
    for (uint32_t i = 0; i < 7; i++)
        if (run_fct(&r, i) > last) last = run_fct(&r, i);
    // The port's own host-7 shares its interface node, and so begins earlier: by the loop and the fabric.
    weft_time_ps least = 483640 + 7 * n * frame, most = first + 7 * n * frame + 7 * 16 * 20 + 183640;
    if (last < least || last > most)
        fail_msg("last at %" PRIu64 ", expected %" PRIu64 " to %" PRIu64, last, least, most);
    const struct weft_dsf_outcome *d = weft_outcome_dsf(r.outcome);
    assert_true(d->egress_bytes_max < 128 * 1024);
    assert_true(d->seen->fabric_cells.max < 32);
    assert_true(d->voq_bytes_max > 500000);
    run_free(&r);

    struct run half = RUN(run_text,
                          ZONE "workload: [{kind: incast, sources: 'host-0..5', dst: host-6, size: 1003520B}]\n"
                               "run: {until: 60us}\n",
                          2, "");
    weft_bytes fewest = UINT64_MAX, greatest = 0;
    for (uint32_t i = 0; i < 6; i++) {
        weft_bytes got = half.outcome->flow[i].delivered_bytes;
        if (got < fewest) fewest = got;
        if (got > greatest) greatest = got;
    }
    assert_true(fewest > 200000);
    if (greatest - fewest > 2 * 4096) // a credit, and the packet that overdraws it
        fail_msg("%" PRIu64 " to %" PRIu64 " bytes", fewest, greatest);
    run_free(&half);
}

static weft_time_ps time_with_window(uint32_t credits, const char *size) {
    struct run r = RUN(run_once,
                       ZONE "interface_node: {credit_window: %uB, rci: off}\n"
                            "workload: [{kind: flow, src: host-0, dst: host-2, size: %s}]\n",
                       1, "", credits * 4096, size);
    weft_time_ps time = run_fct(&r, 0);
    run_free(&r);
    return time;
}

/// With a window of credits a VOQ gets no more than window / loop, and no more than its port has: min(B, credits x size
/// / loop). The loop is that of a credit and of the cells that it lets go; credits count bytes of frames, 4158 with
/// headers.
static void throughput_is_window_by_loop(void **state) {
    static const uint32_t credits[] = {4, 8, 16, 64};
    for (uint32_t i = 0; i < 4; i++) {
        double loop = 1302240 + 1342880, frames = 1024 * 1024 / 4096, frame = (4158 + 20) * 20;
        double by_window = loop / (credits[i] * 4096.0) * 4158, expected = by_window > frame ? by_window : frame;
        double got = (double)(time_with_window(credits[i], "2MiB") - time_with_window(credits[i], "1MiB")) / frames;
        form_assert("Time of a frame in a DSF with a window of credits (max(frame / B, loop / credits))", got, expected,
                    0.03);
    }
}

/// Cells are spread evenly: all lanes of a layer carry the same to 2 %. (Their numbers differ by less than a round;
/// that some are shorter averages out.)
static void lanes_carry_the_same(void **state) {
    static const char *const sprays[] = {"permutation", "round_robin"};
    for (uint32_t i = 0; i < 2; i++) {
        struct run r = RUN(run_text,
                           "topology: {kind: dsf_l1_zone, rdsws: 4, rails: 1, fdsws: 10, virtual_devices: 1, "
                           "hosts_per_rdsw: 2}\n"
                           "switch: {buffer: {kind: dynamic, total: 4GB, alpha: 2}}\n"
                           "interface_node: {spray: %s}\nfabric_node: {spray: %s}\n"
                           "workload: [{kind: permutation, size: 6MB}]\n",
                           sprays[i], sprays[i]);
        run_assert_complete(&r);
        assert_in_order(&r);
        uint64_t fewest = UINT64_MAX, most = 0;
        for (uint32_t k = 0; k < 10; k++) {
            char name[32];
            snprintf(name, sizeof name, "rdsw-0/%u", 2 + k);
            uint64_t bytes = run_counters(&r, name, 0)->tx_bytes;
            if (bytes < fewest) fewest = bytes;
            if (bytes > most) most = bytes;
        }
        assert_true(fewest > 100000);
        if ((double)most > 1.02 * (double)fewest) fail_msg("%s: %" PRIu64 " to %" PRIu64, sprays[i], fewest, most);
        run_free(&r);
    }
}

/// A lane that fails loses the cells that are on it; their packets are given up after the timeout and counted, and the
/// NICs send again.
static void lost_cells_are_lost_packets(void **state) {
    struct run r = RUN(run_text,
                       ZONE "events: [{at: 15us, link: rdsw-0--fdsw-0.0, state: down}]\n"
                            "control: {reachability: {cycle: 10us, watchdog: 20us}}\n"
                            "workload: [{kind: flow, src: host-0, dst: host-2, size: 4MB}]\n",
                       1, "");
    const struct weft_outcome *o = r.outcome;
    run_assert_complete(&r);
    assert_true(weft_outcome_dsf(o)->cells_lost > 10);
    assert_true(o->drops[WEFT_DROP_REASSEMBLY] > 10);
    assert_int_equal(o->drops[WEFT_DROP_REASSEMBLY], weft_outcome_dsf(o)->packets_lost);
    assert_true(o->drop_bytes[WEFT_DROP_LINK_DOWN] > 0);
    assert_int_equal(o->drops[WEFT_DROP_LINK_DOWN], 0); // packets are counted once, where they are missed
    assert_true(o->flow[0].packets_again > 0);
    // They are given up together, after one timeout of 100 us and not one after the other.
    assert_true(weft_outcome_dsf(o)->packets_lost * 100 > 1000);
    assert_true(run_fct(&r, 0) < WEFT_PS_PER_MS);
    run_free(&r);
}

/// What comes after the detection time uses other lanes.
static void failed_lanes_are_left(void **state) {
    struct run r = RUN(run_text,
                       ZONE "events: [{at: 0ns, link: rdsw-0--fdsw-0.0, state: down}]\n"
                            "workload: [{kind: flow, src: host-0, dst: host-2, size: 1MB, start: 1ms}]\n"
                            "control: {reachability: {cycle: 10us, watchdog: 20us}}\n",
                       1, "");
    run_assert_complete(&r);
    assert_in_order(&r);
    assert_int_equal(weft_outcome_dsf(r.outcome)->cells_lost, 0);
    assert_int_equal(run_counters(&r, "rdsw-0->fdsw-0.0", 0)->tx_bytes, 0);
    run_free(&r);
}

/// Two ports at full rate, 800G, and 4 of 40 lanes left: the lanes are full to the end and what is too much waits in
/// VOQs, not before the lanes, where no more than `backlog` cells wait and a packet of each VOQ that found less.
/// A packet is 16 full cells and one of 4168 - 16 x 256 + 12 bytes; the other direction carries the ACKs. The
/// first packet takes its 4.6 us. Both flows get the same.
static void few_lanes_leave_packets_in_voqs(void **state) {
    const uint32_t n = 489; // packets a flow, 2 MB
    struct run r =
        RUN(run_text,
            ZONE "events: [{at: 0ns, link: 'fdsw-[1-9].*/*', state: down}]\n"
                 "workload: [{kind: flow, src: 'host-0,host-1', dst: 'host-2,host-3', size: 2002944B, start: 1ms}]\n"
                 "control: {reachability: {cycle: 10us, watchdog: 20us}}\n",
            2, "");
    run_assert_complete(&r);
    assert_in_order(&r);
    double wire = 2.0 * n * (16 * 268 + 4168 - 16 * 256 + 12), expected = wire / 4 * 80 + 4614640;
    for (uint32_t i = 0; i < 2; i++)
        if (fabs((double)run_fct(&r, i) / expected - 1) > 0.01)
            fail_msg("flow %u: %" PRIu64 " ps, expected %.0f", i, run_fct(&r, i), expected);
    uint64_t lane = run_counters(&r, "rdsw-0->fdsw-0.0", 0)->queue_bytes_max;
    if (lane < 250 * 268 || lane > (256 + 2 * 17) * 268) fail_msg("%" PRIu64 " bytes before a lane", lane);
    assert_true(weft_outcome_dsf(r.outcome)->voq_bytes_max > 500000);
    run_free(&r);
}

/// A host that takes nothing pauses its port, so that no credits are granted, and after the watchdog's time its VOQ is
/// emptied; other traffic of the same source passes.
/// More than 4096 packets of 256 B are between the slowest lane's and the fastest one's.
static void many_small_packets_overtake(void **state) {
    (void)state;
    struct run r = RUN(run_once, "topology: {kind: dsf_l1_zone, rdsws: 3, rails: 1, fdsws: 14, hosts_per_rdsw: 16}\n"
                                 "host: {mtu: 256B}\n"
                                 "workload: [{kind: permutation, mode: shift, shift: 16, size: 1MB}]\n");
    run_assert_complete(&r);
    assert_int_equal(run_drops(&r), 0);
    assert_true(weft_outcome_dsf(r.outcome)->reassembly_packets_max > 4096);
    run_free(&r);
}

static void watchdog_empties_a_voq(void **state) {
    struct run r = RUN(run_text,
                       ZONE "interface_node: {credit_watchdog: 500ms}\n"
                            "devices: [{match: host-2, host: {drain_rate: 1bps, rx_buffer: 1MB}}]\n"
                            "workload: [{kind: flow, src: host-0, dst: host-2, size: 1MB},\n"
                            "           {kind: flow, src: host-1, dst: host-3, size: 1MB, start: 100ms}]\n"
                            "host: {timeout: never}\nrun: {until: 600ms}\n",
                       1, "");
    const struct weft_outcome *o = r.outcome;
    assert_int_equal(weft_outcome_dsf(o)->voqs_purged, 1);
    assert_true(o->drops[WEFT_DROP_CREDIT_WATCHDOG] > 50);
    assert_int_equal(run_drops(&r), o->drops[WEFT_DROP_CREDIT_WATCHDOG]);
    run_fct(&r, 1);
    run_free(&r);
}

/// Two interface nodes send by one lane each to a fabric node that has one lane to the third, at which there are two
/// hosts; so credits are no limit.
#define FORK                                                                                                           \
    "topology: {kind: list, nodes: [{name: fn, role: switch, box: dsf_fabric}, {name: x, role: switch, box: "          \
    "dsf_interface}, {name: a, role: switch, box: dsf_interface}, {name: b, role: switch, box: dsf_interface}, "       \
    "{name: hx, role: host}, {name: hy, role: host}, {name: ha, role: host}, {name: hb, role: host}], links: ["        \
    "{from: hx, to: x, rate: 400Gbps}, {from: hy, to: x, rate: 400Gbps}, {from: ha, to: a, rate: 400Gbps}, "           \
    "{from: hb, to: b, rate: 400Gbps}, {from: x, to: fn, rate: %s}, {from: a, to: fn, rate: %s}, "                     \
    "{from: b, to: fn, rate: %s}]}\n"                                                                                  \
    "switch: {buffer: {kind: dynamic, total: 4GB, alpha: 2}}\n"

/// The cells of two packets of 4096 B come in step by two lanes and leave by one; those of b 14 B of time later, as
/// its credit stood behind that of a. Each packet is 16 full cells and one of 4184 - 16 x 256 + 12 = 100 B. When the
/// pair j of cells comes, 2 j cells have come before and j have left: the first waits for j, the second for j + 1 less
/// the 14 B. The last ones wait for 17 cells less 100 B, and less 14 B. Those that wait for `mark` or more are marked.
/// Requests take time of the lane, too, so that the second of pair mark - 1 may or may not be.
static void cells_are_marked_at_the_depth(void **state) {
    static const uint32_t marks[] = {1, 2, 7, 15, 16, 17};
    const uint32_t cell = 268;
    for (uint32_t i = 0; i < 6; i++) {
        uint32_t depth = marks[i] * cell, expected = 17 * cell - 100 >= depth;
        expected += 17 * cell - 14 >= depth;
        for (uint32_t j = 0; j < 16; j++) {
            expected += j * cell >= depth;
            expected += (j + 1) * cell - 14 >= depth;
        }
        struct run r = RUN(run_text,
                           FORK "fabric_node: {mark: %u}\n"
                                "workload: [{kind: flow, src: ha, dst: hx, size: 4096B}, "
                                "{kind: flow, src: hb, dst: hy, size: 4096B}]\n",
                           "100Gbps", "100Gbps", "100Gbps", marks[i]);
        run_assert_complete(&r);
        const struct weft_dsf_outcome *d = weft_outcome_dsf(r.outcome);
        assert_in_range(d->cells_marked, expected, expected + 1);
        uint64_t deep = 0; // exact below 256
        for (uint32_t k = marks[i]; k < WEFT_HISTOGRAM_BUCKETS; k++)
            deep += d->seen->fabric_cells.bucket[k];
        assert_int_equal(d->cells_marked, deep);
        run_free(&r);
    }
}

/// A port grants nothing to a source that no lane leads to. Once both ends know that the lane is down, a repeats its
/// request each 500 us in vain; a port that granted would add 14 B each 78 ns, 350 KB. When the lane is back the flow
/// goes on by the next request.
static void no_credits_for_a_source_that_is_cut_off(void **state) {
    struct run r = RUN(run_text,
                       FORK "host: {cc: none, timeout: 10ms}\n"
                            "control: {reachability: {cycle: 10us, watchdog: 20us}}\n"
                            "events: [{at: 20us, link: a--fn, state: down}, {at: 2ms, link: a--fn, state: up}]\n"
                            "workload: [{kind: flow, src: ha, dst: hx, size: 2MB}]\n",
                       "800Gbps", "800Gbps", "800Gbps");
    run_assert_complete(&r);
    // Besides, what a had credits for when it learned of it, and ACKs.
    assert_in_range(r.outcome->drop_bytes[WEFT_DROP_NO_ROUTE], 3 * 14, 100000);
    run_free(&r);
}

/// Lanes of 20 m and of 1 km: what a VOQ says of itself is overtaken by what it says later. A port that believed what
/// comes last would give a VOQ that is full the turns of a slow one, or none. Half of the cells take 5 us and 5 us and
/// two times the processing, the credits that let them go up to as much again; then 49 packets leave in turn.
static void requests_that_overtake_are_not_believed(void **state) {
    struct run r = run_text(
        "topology: {kind: list, nodes: [{name: fn, role: switch, box: dsf_fabric}, {name: fm, role: switch, box: "
        "dsf_fabric}, {name: x, role: switch, box: dsf_interface}, {name: a, role: switch, box: dsf_interface}, "
        "{name: hx, role: host}, {name: ha, role: host}], links: [{from: hx, to: x, rate: 400Gbps}, "
        "{from: ha, to: a, rate: 400Gbps}, {from: x, to: fn, rate: 800Gbps, delay: 100ns}, "
        "{from: a, to: fn, rate: 800Gbps, delay: 100ns}, {from: x, to: fm, rate: 800Gbps, delay: 5us}, "
        "{from: a, to: fm, rate: 800Gbps, delay: 5us}]}\n"
        "switch: {buffer: {kind: dynamic, total: 4GB, alpha: 2}}\nhost: {cc: none}\n"
        "interface_node: {reassembly_timeout: 1ms}\n"
        "workload: [{kind: flow, src: ha, dst: hx, size: 200KB, repeat: 40, interval: 20us}]\n");
    run_assert_complete(&r);
    assert_in_order(&r);
    weft_time_ps longest = 483640 + 3 * (2 * 5000000 + 2 * 300000) + 49 * (4158 + 20) * 20 + 183640;
    for (uint32_t i = 0; i < 40; i++)
        if (run_fct(&r, i) > longest) fail_msg("burst %u: %" PRIu64 ", at most %" PRIu64, i, run_fct(&r, i), longest);
    run_free(&r);
}

/// Two classes ask for one port: credits by weight, or all to the higher one. What has been granted is what arrives.
static void credits_go_to_classes_as_configured(void **state) {
    static const struct {
        const char *scheduler;
        double share; ///< of priority 3, beside priority 4
    } rows[] = {{"{kind: dwrr, weights: '1,1,1,3,1,1,1,1'}", 0.75},
                {"{kind: dwrr, weights: '1,1,1,1,1,1,1,1'}", 0.5},
                {"{kind: dwrr, weights: '1,1,1,1,7,1,1,1'}", 0.125},
                {"strict", 0}};
    for (uint32_t i = 0; i < 4; i++) {
        struct run r = RUN(run_text,
                           "topology: {kind: dsf_l1_zone, rdsws: 4, rails: 1, fdsws: 10, virtual_devices: 4, "
                           "hosts_per_rdsw: 2, host_rate: 400Gbps}\n"
                           "switch: {buffer: {kind: dynamic, total: 4GB, alpha: 2}, scheduler: %s, pfc: {priorities: "
                           "'3,4'}}\nhost: {cc: none, pfc: {priorities: '3,4'}}\nrun: {until: 120us}\n"
                           "workload: [{kind: flow, src: host-0, dst: host-6, size: 8MB, priority: 3}, "
                           "{kind: flow, src: host-2, dst: host-6, size: 8MB, priority: 4}]\n",
                           rows[i].scheduler);
        double low = (double)r.outcome->flow[0].delivered_bytes, high = (double)r.outcome->flow[1].delivered_bytes;
        // From the first packet on the port sends without a gap; to two credits, and what is on its way to either host.
        double all = (120e6 - 483640 - 2 * 1302240 - 1342880 - 183640) / ((4158 + 20) * 20) * 4096;
        if (fabs((low + high) / all - 1) > 0.01) fail_msg("%.0f bytes, expected %.0f", low + high, all);
        if (fabs(low / (low + high) - rows[i].share) > 0.005)
            fail_msg("%s: %.4f of the port, expected %g", rows[i].scheduler, low / (low + high), rows[i].share);
        run_free(&r);
    }
}

/// A VOQ of the higher class with 128 packets lacks less than 2 x 129 credits (inflight 128) and asks slowly, in four,
/// three, two and one eighths of its turns. The lower one has the other turns: it waits for these packets and, at most,
/// for credits that the port grants the higher one while three reports of its state are under way, 14.6 us in all; not
/// for the 405 turns, 32 us, that the higher one lets pass.
static void turns_that_a_slow_voq_lets_pass_are_not_lost(void **state) {
    weft_time_ps end[2];
    static const char *const start[] = {"50us", "900us"};
    for (unsigned i = 0; i < 2; i++) {
        struct run r = RUN(run_text,
                           "topology: {kind: dsf_l1_zone, rdsws: 3, rails: 1, fdsws: 2, virtual_devices: 2, "
                           "hosts_per_rdsw: 1}\n"
                           "switch: {buffer: {kind: dynamic, total: 4GB, alpha: 2}}\ninterface_node: {inflight: 128, "
                           "voq_preset: slow_enabled}\n"
                           "workload: [{kind: flow, src: host-1, dst: host-0, size: 8MB}, {kind: flow, src: host-2, "
                           "dst: host-0, size: 512KiB, start: %s, priority: 5}]\n",
                           start[i]);
        run_assert_complete(&r);
        assert_in_order(&r);
        end[i] = run_fct(&r, 0);
        run_free(&r);
    }
    assert_true(end[0] > end[1]);
    assert_in_range(end[0] - end[1], 120 * 4178 * 20, 128 * 4178 * 20 + 3 * 1302240);
}

/// ECN by the depth of a VOQ: nothing leaves before the first credit comes, 31 frames later, and from then on half of
/// what comes leaves. So all but the first 11 of each source, before which there are up to 41600 B, find more; 10
/// frames are 4174 + 9 x 4158 B. Marks are counted at the port that the VOQs lead to, and not at the ports by which the
/// packets came. The flow before gives host-0's interface node another VOQ, its first.
static void packets_are_marked_by_the_depth_of_their_voq(void **state) {
    const uint32_t n = 489; // packets of 2 MB
    struct run r = run_text("topology: {kind: dsf_l1_zone, rdsws: 4, rails: 1, fdsws: 10, virtual_devices: 4, "
                            "hosts_per_rdsw: 2, host_rate: 400Gbps}\n"
                            "switch: {buffer: {kind: dynamic, total: 4GB, alpha: 2}, aqm: {kind: wred, min: 41600B, "
                            "max: 41600B, max_probability: 100%}}\nhost: {cc: none}\n"
                            "workload:\n"
                            "  - {kind: flow, src: host-0, dst: host-4, size: 4096B}\n"
                            "  - {kind: incast, sources: 'host-0,host-2', dst: host-7, size: 2002944B, start: 20us}\n");
    run_assert_complete(&r);
    assert_int_equal(run_counters(&r, "rdsw-3/1", 3)->ecn_marked, 2 * (n - 11));
    assert_int_equal(weft_outcome_counters(r.outcome).ecn_marked, 2 * (n - 11)); // nowhere else
    run_free(&r);
}

static struct run paused_egress(weft_bytes egress) {
    return RUN(run_once,
               ZONE
               "interface_node: {egress_stop: 16KB, egress_slow: 16KB, egress_buffer: %" PRIu64 "B}\n"
               "devices: [{match: host-2, host: {drain_rate: 1Gbps, rx_buffer: 1MB, rx_xoff: 20KB, rx_xon: 10KB}}]\n"
               "run: {until: 200us}\nworkload: [{kind: incast, sources: 'host-0,host-4', dst: host-2, size: 1MB}]\n",
               2, "", egress);
}

/// The queues of a port hold what egress_buffer says, to the byte: what they came to at most fits, and with a byte less
/// a packet is dropped.
static void an_egress_buffer_is_full_when_it_is(void **state) {
    struct run r = paused_egress(4000000);
    weft_bytes most = weft_outcome_dsf(r.outcome)->egress_bytes_max;
    assert_int_equal(run_drops(&r), 0);
    assert_in_range(most, 16000, 4000000);
    run_free(&r);
    r = paused_egress(most);
    assert_int_equal(run_drops(&r), 0);
    assert_int_equal(weft_outcome_dsf(r.outcome)->egress_bytes_max, most);
    run_free(&r);
    r = paused_egress(most - 1);
    assert_true(r.outcome->drops[WEFT_DROP_EGRESS_FULL] > 0);
    assert_true(weft_outcome_dsf(r.outcome)->egress_bytes_max < most);
    run_free(&r);
}

/// An interface node pauses its NICs before it would have to drop.
static void nics_are_paused_in_time(void **state) {
    struct run r = RUN(run_text, "topology: {kind: dsf_l1_zone, rdsws: 4, rails: 1, fdsws: 10, virtual_devices: 4, "
                                 "hosts_per_rdsw: 2, host_rate: 400Gbps}\n"
                                 "switch: {buffer: {kind: static, size: 300KB, xoff: 200KB, xon: 150KB}}\n"
                                 "workload: [{kind: incast, sources: 'host-0..5', dst: host-6, size: 2MB}]\n");
    run_assert_complete(&r);
    assert_in_order(&r);
    assert_true(weft_outcome_counters(r.outcome).pfc_tx_xoff >= 6);
    assert_true(weft_outcome_dsf(r.outcome)->voq_bytes_max <= 2 * 300000); // of two NICs
    run_free(&r);
}

/// Trains carry the same bytes in fewer events, somewhat later: a packet waits for trains where it waited for cells.
/// That is up to eight times the time of a train here, once: the rate is the same.
static void trains_carry_the_same(void **state) {
    static const uint32_t trains[] = {1, 4, 16};
    weft_time_ps exact = 0;
    for (uint32_t i = 0; i < 3; i++) {
        struct run r = RUN(run_text, ZONE "interface_node: {train: %u}\nworkload: [{kind: permutation, size: 2MB}]\n",
                           4, "", trains[i]);
        run_assert_complete(&r);
        assert_in_order(&r);
        weft_time_ps last = 0;
        for (uint32_t f = 0; f < r.outcome->flows; f++)
            if (run_fct(&r, f) > last) last = run_fct(&r, f);
        if (!i) exact = last;
        weft_time_ps most = exact + 8 * trains[i] * 268 * 80;
        if (last > most || last < exact - exact / 100)
            fail_msg("trains of %u: %" PRIu64 ", exact %" PRIu64, trains[i], last, exact);
        run_free(&r);
    }
}

// An empty VOQ that asks for more than it may keep would ask and give up for ever.
static void credits_end_with_the_packets(void **state) {
    struct run r = RUN(run_text,
                       ZONE "interface_node: {inflight: 4096}\n"
                            "workload: [{kind: flow, src: host-0, dst: host-5, size: 64KB}]\n",
                       2, "");
    assert_int_equal(r.outcome->end, WEFT_END_DONE);
    assert_true(r.outcome->sim_time_ps < WEFT_PS_PER_S / 1000);
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_packet_takes_what_its_parts_take),
        cmocka_unit_test(a_class_of_switches_changes_no_interface_node),
        cmocka_unit_test(one_packet_at_one_node),
        cmocka_unit_test(left_over_credit_is_no_faster_than_ideal),
        cmocka_unit_test(incast_waits_at_its_sources),
        cmocka_unit_test(throughput_is_window_by_loop),
        cmocka_unit_test(lanes_carry_the_same),
        cmocka_unit_test(lost_cells_are_lost_packets),
        cmocka_unit_test(failed_lanes_are_left),
        cmocka_unit_test(few_lanes_leave_packets_in_voqs),
        cmocka_unit_test(many_small_packets_overtake),
        cmocka_unit_test(watchdog_empties_a_voq),
        cmocka_unit_test(cells_are_marked_at_the_depth),
        cmocka_unit_test(no_credits_for_a_source_that_is_cut_off),
        cmocka_unit_test(requests_that_overtake_are_not_believed),
        cmocka_unit_test(credits_go_to_classes_as_configured),
        cmocka_unit_test(turns_that_a_slow_voq_lets_pass_are_not_lost),
        cmocka_unit_test(packets_are_marked_by_the_depth_of_their_voq),
        cmocka_unit_test(an_egress_buffer_is_full_when_it_is),
        cmocka_unit_test(nics_are_paused_in_time),
        cmocka_unit_test(trains_carry_the_same),
        cmocka_unit_test(credits_end_with_the_packets),
    };
    return cmocka_run_group_tests_name("dsf_run", tests, NULL, NULL);
}
