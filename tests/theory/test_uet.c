// SPDX-License-Identifier: Apache-2.0
// Ultra Ethernet in the packet simulator: one flow at the speed of the line, N to one with equal shares and the queue
// below its target, what trimming and timeouts cost, and path choices that leave a dead or slow link.
//
// uet-htsim is the Ultra Ethernet Consortium's reference simulator: frames of 4150 B with 64 B of headers, 64 B SACKs
// and trimmed packets, no preamble and gap, links of 100 Gbps and 1 us, switches that store and forward in no time;
// marks between 0.2 and 0.8 of the bandwidth-delay product (43 packets), queues of 1.
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "form.h"
#include "run.h"

#define HTSIM_SWITCH                                                                                                   \
    "switch: {processing: 0ns, wire: {overhead: 0B}, pfc: {priorities: none}, buffer: {kind: static, size: 64MB},\n"   \
    "  aqm: {kind: trim, min: 37350B, max: 145250B, depth: 178450B}}\n"
#define HTSIM_HOST "preset: uet_htsim, transport: uet"

enum { PAYLOAD = 4086, FRAME = 4150, SHORT = 64 };
static const double RATE = 100e9 / 8, HOP = 1e-6; ///< B/s; s

static double seconds(weft_time_ps time) {
    return (double)time * 1e-12;
}

// 2 MB are 490 packets, the last one of 2010 B. It arrives behind the one before it, which has crossed H links one
// after another; its acknowledgement goes back over H. In a three-tier fat tree H is 6. Path lengths are equal, so that
// packets arrive one frame time apart whatever their path, as long as the window covers the round trip.
static double alone_s(unsigned hops) {
    double last = 2000000 - 489 * PAYLOAD + SHORT;
    return (489 + hops - 1) * FRAME / RATE + last / RATE + 2 * hops * HOP + hops * SHORT / RATE;
}

static const char *const NSCC = "{kind: nscc, base_rtt: %s}", *const RCCC = "{kind: rccc, base_rtt: %s}",
                         *const BOTH = "{kind: nscc, credit: true, base_rtt: %s}";

static const char *cc_of(const char *form, const char *base) {
    static char text[128];
    snprintf(text, sizeof text, form, base);
    return text;
}

/// Until the last acknowledgement.
static double alone_by(const char *form) {
    struct run r = RUN(run_text,
                       "topology: {kind: fat_tree, k: 8, rate: 100Gbps, delay: 1us}\n" HTSIM_SWITCH "host: {" HTSIM_HOST
                       ", cc: %s}\n"
                       "workload: [{kind: flow, src: host-0, dst: host-127, size: 2000000B}]\n",
                       cc_of(form, "14.02us"));
    run_assert_complete(&r);
    double acked = seconds(r.outcome->flow[0].acked_ps);
    assert_int_equal(r.outcome->flow[0].packets_again, 0);
    run_free(&r);
    return acked;
}

// Under credit a flow goes at the speed of the line until the first SACK, after which its first credit has lapsed, and
// then by grants at 0.99 of it: a hundredth of the packets that are left then is the most that it takes longer.
static void one_flow_goes_at_the_speed_of_the_line(void **state) {
    form_assert("UET: time of 2 MB alone in a fat tree, to the last SACK (490 packets, 6 links)", alone_by(NSCC),
                alone_s(6), 1e-4);
    const char *const forms[] = {RCCC, BOTH};
    double round = 6 * (FRAME + SHORT) / RATE + 12 * HOP, left = 490 - floor(round * RATE / FRAME);
    for (unsigned i = 0; i < 2; i++) {
        double longer = alone_by(forms[i]) - alone_s(6), most = left * FRAME / RATE * (1 / .99 - 1);
        print_message("%s: %.3f us longer, %.3f at most\n", forms[i], longer * 1e6, most * 1e6);
        assert_true(longer > most / 2 && longer <= most);
    }
    form_assert("UET: the same against uet-htsim's committed result, NSCC (176.2 us)", alone_by(NSCC), 176.2e-6, 0.02);
    form_assert("UET: the same against uet-htsim's committed result, RCCC (177.4 us)", alone_by(RCCC), 177.4e-6, 0.02);
}

struct settled {
    double queue, goodput, fairness; ///< of the target; of the line; Jain
    uint64_t trimmed, other;
};

/// N hosts send to host-0 over one switch for so long; from 1 ms on.
static struct settled settle(unsigned flows, const char *cc, double base_s) {
    struct run r = RUN(run_text,
                       "topology: {kind: single, hosts: %u, rate: 100Gbps, delay: 3us}\n" HTSIM_SWITCH
                       "host: {" HTSIM_HOST ", cc: %s}\n"
                       "workload: [{kind: incast, sources: \"*\", dst: host-0, size: 10GB}]\n"
                       "run: {until: 5ms, sample_interval: 1us, sample_ports: \"switch-0/0\"}\n",
                       flows + 1, cc);
    struct settled s = {.trimmed = r.outcome->drops[WEFT_DROP_TRIMMED]};
    s.other = run_drops(&r) - s.trimmed;
    struct run_port out = run_port(&r, "switch-0/0", WEFT_PS_PER_MS);
    double sum = 0, squares = 0;
    s.queue = out.queue_bytes / (.75 * base_s * RATE);
    s.goodput = out.tx_bytes / (1e-6 * RATE);
    for (uint32_t f = 0; f < r.workload->flows; f++) {
        double delivered = (double)r.outcome->flow[f].delivered_bytes;
        sum += delivered;
        squares += delivered * delivered;
    }
    s.fairness = sum * sum / (squares * flows);
    run_free(&r);
    print_message("%u flows, %s: queue %.3f of the target, goodput %.4f, fairness %.4f, %lu trimmed\n", flows, cc,
                  s.queue, s.goodput, s.fairness, s.trimmed);
    return s;
}

// Windows shrink when marked packets come back with a delay above the target, and grow by unmarked ones. Above the
// upper threshold of marks, 145,250 B, every packet is marked, and a window grows by eta alone, 0.15 packets of 1.03
// (its a) a round trip. So the mean queue is below the threshold and a round of that, and it is not empty, for the line
// is full. Nothing but payloads is lost, and shares are equal.
static void many_to_one_share_the_line(void **state) {
    for (unsigned flows = 2; flows <= 32; flows *= 2) {
        struct settled s = settle(flows, cc_of(NSCC, "12.4us"), 12.4e-6);
        assert_true(s.goodput > .98);
        assert_true(s.fairness > .95);
        assert_true(s.queue > .5 && s.queue * .75 * 12.4e-6 * RATE < 145250 + flows * .15 * 1.03 * PAYLOAD);
        assert_int_equal(s.other, 0);
    }
}

// Receivers grant 0.99 of the line: that is what N flows get, and the queue that first windows built goes away, while
// grants in turn make shares equal. Both together: the window is never above the credit.
static void credit_shares_the_line(void **state) {
    const char *const forms[] = {RCCC, BOTH};
    for (unsigned i = 0; i < 2; i++)
        for (unsigned flows = 2; flows <= 32; flows *= 2) {
            struct settled s = settle(flows, cc_of(forms[i], "12.4us"), 12.4e-6);
            assert_true(s.goodput > .97 && s.goodput < 1);
            assert_true(s.fairness > .99);
            assert_true(s.queue < .5);
            assert_int_equal(s.other, 0);
        }
}

// Receivers that also run a job, or remote memory access, grant credit by timers beside those of the job and its
// clients.
static void credit_beside_jobs_and_memory_access(void **state) {
    struct run r = RUN(run_text, "topology: {kind: leaf_spine, leaves: 4, spines: 3, hosts_per_leaf: 2}\n"
                                 "host: {preset: uet, cc: rccc}\n"
                                 "workload: [{kind: all_to_all, size: 300KB},\n"
                                 "  {kind: job, operations: [{collective: all_to_all, size: 4MB}]},\n"
                                 "  {kind: rma, clients: host-6, servers: host-5, rate: 500000, duration: 40us, size: "
                                 "4KB, transport: software}]\n");
    for (uint32_t i = 0; i < 2 * 56; i++) // of the flows and of the job's connections
        assert_true(run_fct(&r, i) > 0);
    assert_true(r.outcome->rma[0].completed > 0);
    run_free(&r);
}

// uet-htsim's own bound for its committed run (validate_uec_sender.txt): 15 hosts to one, 2 MB each, 2550 us.
static void incast_of_sixteen(void **state) {
    const char *const forms[] = {NSCC, RCCC, BOTH};
    for (unsigned i = 0; i < 3; i++) {
        struct run r = RUN(run_text,
                           "topology: {kind: fat_tree, k: 4, rate: 100Gbps, delay: 1us}\n" HTSIM_SWITCH
                           "host: {" HTSIM_HOST ", cc: %s}\n"
                           "workload: [{kind: incast, sources: \"*\", dst: host-0, size: 2000000B}]\n",
                           cc_of(forms[i], "14.02us"));
        run_assert_complete(&r);
        double end = 0, least = 15 * (489 * FRAME + 2010) / RATE;
        for (uint32_t f = 0; f < 15; f++)
            if (seconds(r.outcome->flow[f].acked_ps) > end) end = seconds(r.outcome->flow[f].acked_ps);
        print_message("incast, %s: %.1f us, %.1f at least, %lu trimmed\n", forms[i], end * 1e6, least * 1e6,
                      r.outcome->drops[WEFT_DROP_TRIMMED]);
        assert_true(end > least && end < 2550e-6);
        run_free(&r);
    }
}

/// Of a permutation among 16 hosts of a fat tree, 2 MB each: the last acknowledgement, in the mean of four seeds.
static double permutation_us(unsigned values) {
    enum { SEEDS = 4 };
    double sum = 0;
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        struct run r = RUN(run_once,
                           "topology: {kind: fat_tree, k: 4, rate: 100Gbps, delay: 1us}\n" HTSIM_SWITCH
                           "host: {preset: uet_htsim, cc: {kind: nscc, base_rtt: 14.02us}, "
                           "transport: {kind: uet, spray: {kind: oblivious, values: %u}}}\n"
                           "run: {seed: %u}\nworkload: [{kind: permutation, size: 2000000B}]\n",
                           values, seed);
        double end = 0;
        for (uint32_t f = 0; f < r.workload->flows; f++)
            if (seconds(r.outcome->flow[f].acked_ps) > end) end = seconds(r.outcome->flow[f].acked_ps);
        sum += end * 1e6;
        run_free(&r);
    }
    return sum / SEEDS;
}

// uet-htsim's own bound for its committed run (validate_uec_sender.txt) is 210 us; no flow is faster than one alone. 64
// values, hashed onto four paths, load the fullest with 20 of them in the mean, and not 16.
static void permutation_of_sixteen(void **state) {
    double few = permutation_us(64), many = permutation_us(16384);
    print_message("permutation: %.1f us with 64 values, %.1f with 16384\n", few, many);
    assert_true(many > alone_s(4) * 1e6 && many < 210);
    assert_true(few > many * 1.05);
}

// --- what is lost -------------------------------------------------------------------------------------------------

// A flow of one packet, which the link loses: it is sent again when the timeout is over, and arrives after two links.
// Real NICs wait 2^32 ns (NCCL_IB_TIMEOUT 20) or longer.
static void a_lost_packet_waits_for_the_timeout(void **state) {
    static const uint64_t timeouts_us[] = {20, 80, 320, 4294967, 4294968, 17200000, 7200000000};
    for (uint32_t i = 0; i < sizeof timeouts_us / sizeof *timeouts_us; i++) {
        uint64_t timeout_us = timeouts_us[i];
        struct run r =
            RUN(run_text,
                "topology: {kind: single, hosts: 2, rate: 100Gbps, delay: 1us}\n" HTSIM_SWITCH "host: {" HTSIM_HOST
                ", timeout: %" PRIu64 "us, cc: nscc}\nevents: [{at: 0ns, link: host-0--switch-0, "
                "state: down}, {at: 10us, link: host-0--switch-0, state: up}]\n"
                "workload: [{kind: flow, src: host-0, dst: host-1, size: 4086B, start: 5us}]\n"
                "run: {detection: 1ms}\n",
                timeout_us);
        run_assert_complete(&r);
        form_assert("UET: time of one packet that is lost (timeout and way)", seconds(run_fct(&r, 0)),
                    (double)timeout_us * 1e-6 + 2 * (FRAME / RATE + HOP), 1e-5);
        assert_int_equal(r.outcome->flow[0].packets_again, 1);
        run_free(&r);
    }
}

// Three hosts send a packet each to a fourth, at once; the queue takes one frame. One packet goes out, the second
// waits, and the third is trimmed. Its header goes out next, ahead of the second: sent F + L after the start and F
// later, with its way to the receiver, the NACK's to the sender (two links each) and the packet's own (two links,
// alone).
static void a_trimmed_packet_costs_a_round_trip(void **state) {
    struct run r =
        RUN(run_text, "topology: {kind: single, hosts: 4, rate: 100Gbps, delay: 1us}\n"
                      "switch: {processing: 0ns, wire: {overhead: 0B}, pfc: {priorities: none}, aqm: {kind: trim, min: "
                      "0B, max: 4200B, depth: 4200B}}\n"
                      "host: {" HTSIM_HOST ", ecn: false, cc: nscc}\n"
                      "workload: [{kind: incast, sources: \"*\", dst: host-0, size: 4086B}]\n");
    run_assert_complete(&r);
    double f = FRAME / RATE, h = SHORT / RATE, worst = 0;
    for (uint32_t k = 0; k < 3; k++)
        if (seconds(run_fct(&r, k)) > worst) worst = seconds(run_fct(&r, k));
    assert_int_equal(r.outcome->drops[WEFT_DROP_TRIMMED], 1);
    form_assert("UET: time of a packet that is trimmed (a round trip of its header and its own way)", worst,
                (f + HOP) + (f + h + HOP) + 2 * (h + HOP) + 2 * (f + HOP), 1e-5);
    run_free(&r);
}

// Incast of 8 to 128 hosts, one window each at once: every trimmed packet's header arrives (nothing is lost but
// payloads), and each is sent again exactly once, as no timeout strikes.
static void trimming_loses_no_headers(void **state) {
    for (unsigned flows = 8; flows <= 128; flows *= 4) {
        struct run r = RUN(run_text,
                           "topology: {kind: single, hosts: %u, rate: 100Gbps, delay: 1us}\n" HTSIM_SWITCH
                           "host: {" HTSIM_HOST ", timeout: 10ms, cc: {kind: nscc, base_rtt: 12us}}\n"
                           "workload: [{kind: incast, sources: \"*\", dst: host-0, size: 200KB}]\n",
                           flows + 1);
        run_assert_complete(&r);
        uint64_t again = 0, trimmed = r.outcome->drops[WEFT_DROP_TRIMMED];
        for (uint32_t f = 0; f < flows; f++)
            again += r.outcome->flow[f].packets_again;
        assert_true(trimmed > flows);
        assert_int_equal(run_drops(&r), trimmed);
        assert_int_equal(again, trimmed);
        run_free(&r);
    }
}

// The queue of headers has room for one of 64 bytes: others that come meanwhile are dropped, and their packets wait for
// their timeouts. Every packet that was trimmed is sent again, and all arrive.
static void headers_without_room_are_dropped(void **state) {
    struct run r =
        RUN(run_text,
            "topology: {kind: single, hosts: 33, rate: 100Gbps, delay: 1us}\n"
            "switch: {processing: 0ns, wire: {overhead: 0B}, pfc: {priorities: none}, buffer: {kind: static, "
            "size: 64MB},\n  aqm: {kind: trim, min: 37350B, max: 145250B, depth: 178450B, room: 64B}}\n"
            "host: {" HTSIM_HOST ", timeout: 100us, cc: {kind: nscc, base_rtt: 12us}}\n"
            "workload: [{kind: incast, sources: \"*\", dst: host-0, size: %uB}]\n",
            200000);
    run_assert_complete(&r);
    uint64_t again = 0, trimmed = r.outcome->drops[WEFT_DROP_TRIMMED], dropped = r.outcome->drops[WEFT_DROP_AQM];
    for (uint32_t f = 0; f < 32; f++)
        again += r.outcome->flow[f].packets_again;
    assert_true(dropped > 0 && dropped < trimmed);
    assert_int_equal(again, trimmed);
    run_free(&r);
}

// Eight flows begin with a window of one packet: eight packets fit into a queue of 43. With windows of 1.5
// bandwidth-delay products, 36 packets each, they do not.
static void a_small_first_window_trims_nothing(void **state) {
    for (unsigned first = 0; first <= FRAME; first += FRAME) {
        struct run r = RUN(run_text,
                           "topology: {kind: single, hosts: 9, rate: 100Gbps, delay: 1us}\n" HTSIM_SWITCH
                           "host: {" HTSIM_HOST ", cc: {kind: nscc, base_rtt: 8us, first: %uB}}\n"
                           "workload: [{kind: incast, sources: \"*\", dst: host-0, size: 100KB}]\n",
                           first);
        run_assert_complete(&r);
        if (first)
            assert_int_equal(r.outcome->drops[WEFT_DROP_TRIMMED], 0);
        else
            assert_true(r.outcome->drops[WEFT_DROP_TRIMMED] > 0);
        run_free(&r);
    }
}

// --- acknowledgements that are asked for --------------------------------------------------------------------------

// A window of one packet: each packet fills it and asks for a SACK, for none is due by bytes. So a packet a round trip
// goes over the two links, and no timeout, for there is none.
static void a_window_of_one_packet_takes_a_round_trip_each(void **state) {
    for (unsigned packets = 1; packets <= 64; packets *= 4) {
        struct run r =
            RUN(run_text,
                "topology: {kind: single, hosts: 2, rate: 100Gbps, delay: 1us}\n" HTSIM_SWITCH
                "host: {preset: uet_htsim, window: %uB, transport: {kind: uet, timeout: never, sack: 16MB}}\n"
                "workload: [{kind: flow, src: host-0, dst: host-1, size: %uB}]\n",
                PAYLOAD, packets * PAYLOAD);
        run_assert_complete(&r);
        form_assert("UET: time of n packets with a window of one, to the last SACK (n round trips)",
                    seconds(r.outcome->flow[0].acked_ps), packets * 2 * (FRAME + SHORT + 2 * HOP * RATE) / RATE, 1e-5);
        run_free(&r);
    }
}

// NSCC cuts windows when packets are trimmed, and what is under way then left as part of a larger window: no SACK is
// due for it. Without timeouts every flow ends all the same, for its sender asks, and each trimmed packet alone is sent
// again.
static void senders_whose_window_was_cut_ask(void **state) {
    for (unsigned flows = 2; flows <= 128; flows *= 2) {
        struct run r =
            RUN(run_text,
                "topology: {kind: single, hosts: %u, rate: 100Gbps, delay: 1us}\n"
                "switch: {processing: 0ns, wire: {overhead: 0B}, pfc: {priorities: none}, buffer: {kind: static, size: "
                "64MB}, aqm: {kind: trim, min: 0B, max: 40KB, depth: 40KB}}\n"
                "host: {preset: uet_htsim, ecn: false, transport: {kind: uet, timeout: never, sack: 16MB}, "
                "cc: {kind: nscc, base_rtt: 12us}}\n"
                "workload: [{kind: incast, sources: \"*\", dst: host-0, size: 400KB}]\n",
                flows + 1);
        run_assert_complete(&r);
        uint64_t again = 0;
        for (uint32_t f = 0; f < flows; f++)
            again += r.outcome->flow[f].packets_again;
        assert_true(again > 0);
        assert_int_equal(again, r.outcome->drops[WEFT_DROP_TRIMMED]);
        run_free(&r);
    }
}

// --- paths --------------------------------------------------------------------------------------------------------

// One of eight spines is cut off at 100 us, and no route is told. Oblivious spraying goes on losing an eighth of what
// it sends. REPS freezes at the first timeout, 100 us later, and from then on uses only values whose packets came back:
// all it loses are those of the timeout and a round trip, an eighth of the line at most.
static void reps_leaves_a_dead_link(void **state) {
    static const char *const sprays[] = {"oblivious", "reps"};
    uint64_t lost[2];
    double end[2];
    for (unsigned i = 0; i < 2; i++) {
        struct run r =
            RUN(run_text,
                "topology: {kind: leaf_spine, leaves: 2, spines: 8, hosts_per_leaf: 1, rate: 100Gbps, delay: "
                "1us}\n" HTSIM_SWITCH "host: {" HTSIM_HOST ", spray: %s, cc: {kind: nscc, base_rtt: 9.4us}}\n"
                "workload: [{kind: flow, src: host-0, dst: host-1, size: 20MB}]\n"
                "events: [{at: 100us, link: leaf-0--spine-3, state: down}]\nrun: {detection: 100ms}\n",
                sprays[i]);
        run_assert_complete(&r);
        lost[i] = r.outcome->drops[WEFT_DROP_LINK_DOWN];
        end[i] = seconds(r.outcome->flow[0].acked_ps);
        print_message("%s: %lu lost, %.1f us\n", sprays[i], lost[i], end[i] * 1e6);
        run_free(&r);
    }
    double eighth = (100e-6 + 2 * 9.4e-6) * RATE / FRAME / 8;
    assert_true((double)lost[1] < 2 * eighth);
    assert_true(lost[0] > 3 * lost[1]);
    assert_true(end[1] < end[0]);
}

// One of four spines has links of a quarter of the rate. Oblivious spraying sends it a quarter of the packets, so four
// hosts get 4 x a quarter of the line between them; values that come back unmarked avoid it.
static void marks_move_load_off_a_slow_link(void **state) {
    static const char *const sprays[] = {"oblivious", "bitmap", "reps"};
    double share[3], end[3];
    for (unsigned i = 0; i < 3; i++) {
        char links[4096] = "";
        for (unsigned leaf = 0; leaf < 2; leaf++) {
            for (unsigned h = 0; h < 4; h++)
                sprintf(links + strlen(links), "{from: host-%u, to: leaf-%u, rate: 100Gbps, delay: 1us}, ",
                        leaf * 4 + h, leaf);
            for (unsigned spine = 0; spine < 4; spine++)
                sprintf(links + strlen(links), "{from: leaf-%u, to: spine-%u, rate: %sGbps, delay: 1us}, ", leaf, spine,
                        spine ? "100" : "25");
        }
        char nodes[2048] = "";
        for (unsigned k = 0; k < 8; k++)
            sprintf(nodes + strlen(nodes), "{name: host-%u, role: host}, ", k);
        for (unsigned k = 0; k < 2; k++)
            sprintf(nodes + strlen(nodes), "{name: leaf-%u, role: switch, layer: leaf}, ", k);
        for (unsigned k = 0; k < 4; k++)
            sprintf(nodes + strlen(nodes), "{name: spine-%u, role: switch, layer: spine}, ", k);
        struct run r =
            RUN(run_text,
                "topology: {kind: list, nodes: [%s], links: [%s]}\n" HTSIM_SWITCH "host: {" HTSIM_HOST
                ", spray: %s, cc: {kind: nscc, base_rtt: 9.4us}}\n"
                "workload: [{kind: flow, src: host-0, dst: host-4, size: 10MB}, {kind: flow, src: host-1, dst: "
                "host-5, size: 10MB}, {kind: flow, src: host-2, dst: host-6, size: 10MB}]\n",
                nodes, links, sprays[i]);
        run_assert_complete(&r);
        end[i] = 0;
        for (uint32_t f = 0; f < 3; f++)
            if (seconds(r.outcome->flow[f].acked_ps) > end[i]) end[i] = seconds(r.outcome->flow[f].acked_ps);
        double slow = (double)run_counters(&r, "leaf-0->spine-0", 3)->tx_bytes, all = slow;
        for (unsigned spine = 1; spine < 4; spine++) {
            char port[40];
            sprintf(port, "leaf-0->spine-%u", spine);
            all += (double)run_counters(&r, port, 3)->tx_bytes;
        }
        share[i] = slow / all;
        print_message("%s: %.3f by the slow link, %.1f us\n", sprays[i], share[i], end[i] * 1e6);
        run_free(&r);
    }
    assert_true(share[1] < .75 * share[0] && share[2] < .75 * share[0]);
    assert_true(end[1] < end[0] && end[2] < end[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_flow_goes_at_the_speed_of_the_line),
        cmocka_unit_test(many_to_one_share_the_line),
        cmocka_unit_test(credit_shares_the_line),
        cmocka_unit_test(credit_beside_jobs_and_memory_access),
        cmocka_unit_test(incast_of_sixteen),
        cmocka_unit_test(permutation_of_sixteen),
        cmocka_unit_test(a_lost_packet_waits_for_the_timeout),
        cmocka_unit_test(a_trimmed_packet_costs_a_round_trip),
        cmocka_unit_test(trimming_loses_no_headers),
        cmocka_unit_test(headers_without_room_are_dropped),
        cmocka_unit_test(a_small_first_window_trims_nothing),
        cmocka_unit_test(a_window_of_one_packet_takes_a_round_trip_each),
        cmocka_unit_test(senders_whose_window_was_cut_ask),
        cmocka_unit_test(reps_leaves_a_dead_link),
        cmocka_unit_test(marks_move_load_off_a_slow_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
