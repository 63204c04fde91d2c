// SPDX-License-Identifier: Apache-2.0
// weft estimate beside packets: the time until all is done, by fabric, over cases of 32 hosts; the median and the 90th
// percentile of the amounts of errors must be within the bars that were set for estimates of such mechanisms. And what
// has no estimate is refused by name.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <inttypes.h>
#include <setjmp.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

static const char *const cases[] = {
    "- {kind: permutation, size: 3MB}\n",
    "- {kind: incast, sources: host-8..23, dst: host-1, size: 500KB}\n- {kind: flow, src: host-24, dst: host-2, size: "
    "4MB}\n",
    "- {kind: collective, collective: all_reduce_ring, size: 8MiB}\n",
    "- {kind: collective, collective: all_gather, size: 1MiB}\n",
    "- {kind: collective, collective: all_to_all, size: 2MiB}\n",
    "- {kind: collective, collective: broadcast, size: 4MiB}\n",
    "- {kind: collective, collective: all_reduce_hierarchical, size: 4MiB, server: {gpus: 8}}\n",
    "- {kind: poisson, load: 50%, distribution: websearch, duration: 300us}\n",
    "- {kind: flow, src: host-3, dst: host-30, qps: 1, post: {depth: 2, messages: 30, size: 64KiB}}\n",
};
enum { CASES = sizeof cases / sizeof *cases };

static int make_folder(void **state) {
    static struct fixture f;
    snprintf(f.dir, sizeof f.dir, "/tmp/weft-estimate-XXXXXX");
    *state = &f;
    return mkdtemp(f.dir) ? 0 : -1;
}

static double makespan_of(struct fixture *f, const char *command) {
    char line[128], path[128];
    snprintf(line, sizeof line, "%s s.yaml --json --quiet", command);
    if (weft(f, line)) fail_msg("%s", f->err);
    snprintf(path, sizeof path, "%s/out.txt", f->dir);
    json_t *answer = json_load_file(path, 0, NULL), *jobs = json_object_get(answer, "jobs"), *one;
    double begin = INFINITY, end = json_number_value(json_object_get(answer, "makespan_ps"));
    size_t i;
    assert_non_null(answer);
    if (end > 0) begin = 0;
    json_array_foreach(jobs, i, one) {
        end = fmax(end, json_number_value(json_object_get(one, "end_ps")));
        begin = 0;
    }
    if (!(begin <= 0)) json_array_foreach(json_object_get(answer, "flows"), i, one) {
            end = fmax(end, json_number_value(json_object_get(one, "end_ps")));
            begin = fmin(begin, json_number_value(json_object_get(one, "start_ps")));
        }
    json_decref(answer);
    return end - begin;
}

static int by_size(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void check_fabric(struct fixture *f, const char *fabric, const char *more, double median, double p90) {
    double error[CASES];
    for (uint32_t i = 0; i < CASES; i++) {
        char text[1024];
        snprintf(text, sizeof text, "base: %s\nhardware: ideal\nfabric: {hosts: 32, rate: 400Gbps}\n%sworkload:\n%s",
                 fabric, more, cases[i]);
        write_text(f, "s.yaml", text);
        error[i] = fabs(makespan_of(f, "estimate") / makespan_of(f, "run") - 1);
    }
    qsort(error, CASES, sizeof *error, by_size);
    printf("%s: median %.1f%%, 90%% %.1f%%\n", fabric, 100 * error[CASES / 2], 100 * error[CASES - 1]);
    if (error[CASES / 2] > median || error[CASES - 1] > p90)
        fail_msg("%s %s: median %.3f, 90%% %.3f", fabric, more, error[CASES / 2], error[CASES - 1]);
}

static void as_packets(void **state) {
    check_fabric(*state, "roce-ecmp", "", 0.03, 0.10);
    check_fabric(*state, "roce-e-ecmp", "", 0.03, 0.10);
    check_fabric(*state, "roce-spray", "", 0.03, 0.10);
    check_fabric(*state, "uet", "", 0.03, 0.10);
    check_fabric(*state, "dsf-l1", "", 0.04, 0.15);
    check_fabric(*state, "dsf-l2", "", 0.04, 0.15);
}

static void with_congestion_control(void **state) {
    check_fabric(*state, "roce-dcqcn", "", 0.06, 0.20);
    check_fabric(*state, "roce-ecmp", "host: {cc: swift}\n", 0.06, 0.20);
    check_fabric(*state, "roce-ecmp", "host: {cc: hpcc}\n", 0.06, 0.20);
}

static void check_error(struct fixture *f, const char *text, double most) {
    write_text(f, "s.yaml", text);
    double error = makespan_of(f, "estimate") / makespan_of(f, "run") - 1;
    if (fabs(error) > most) fail_msg("%.1f%%: %s", 100 * error, text);
}

/// Over two stages a request takes 8 us, and credit is given up 10 us after a queue was last used: each message waits
/// for it, and so does each acknowledgement, or none does.
static void credit_ages(void **state) {
    static const char *const post[] = {"depth: 4, messages: 40, size: 8KiB, burst: 8, pause: 20us",
                                       "depth: 1, messages: 20, size: 512B", "depth: 1, messages: 20, size: 64KiB",
                                       "depth: 2, messages: 20, size: 4KiB", "depth: 4, messages: 20, size: 256KiB"};
    for (uint32_t i = 0; i < sizeof post / sizeof *post; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "base: dsf-l2\nfabric: {hosts: 16, rate: 400Gbps}\nworkload: [{kind: flow, src: host-0, dst: host-15, "
                 "qps: 1, post: {%s}}]\n",
                 post[i]);
        check_error(*state, text, 0.01);
    }
}

/// Queue pairs of a NIC that begin together are a packet apart, and further apart at each hop.
static void leads(void **state) {
    static const char *const name[] = {"broadcast", "all_reduce_tree"};
    for (uint32_t i = 0; i < 2; i++) {
        char text[512];
        snprintf(
            text, sizeof text,
            "base: star\nfabric: {hosts: %d, rate: 400Gbps}\nworkload:\n- {kind: collective, collective: {kind: %s, "
            "channels: 1}, size: 4MiB, group: g, qps: 16}\n",
            i ? 4 : 8, name[i]);
        check_error(*state, text, 0.03);
    }
}

/// Data from near has the receiver's line first, then that from far: leaves have 16 hosts, and spines are 2 us away. A
/// NIC that sends to both has a line of its own, which is no faster for that.
static void near_and_far(void **state) {
    static const char *const flows[] = {
        "- {kind: incast, sources: [host-1, host-2, host-40, host-41, host-42, host-43], dst: host-0, size: %dKB}\n",
        "- {kind: incast, sources: [host-1, host-20, host-40, host-41], dst: host-0, size: %dKB}\n"
        "- {kind: permutation, size: 16KB}\n",
        "- {kind: flow, src: host-40, dst: host-0..7, size: %dKB}\n- {kind: flow, src: host-40, dst: host-41..47, "
        "size: 64KB}\n"};
    for (uint32_t i = 0; i < 3 * sizeof flows / sizeof *flows; i++) {
        char text[512], own[256];
        snprintf(own, sizeof own, flows[i / 3], 4 << (2 * (i % 3)));
        snprintf(text, sizeof text,
                 "base: roce-ecmp\nhardware: ideal\nfabric: {hosts: 64, rate: 400Gbps, leaf_cable: 400}\nworkload:\n%s",
                 own);
        check_error(*state, text, 0.02);
    }
}

/// HPCC's windows swing where flows share a link: without that, such incasts are 15 to 45% too fast.
static void swings(void **state) {
    static const char *const base[] = {"star", "roce-ecmp"};
    for (uint32_t i = 0; i < 4; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "base: %s\nhardware: ideal\nfabric: {hosts: 16, rate: 400Gbps, per_leaf: 4}\nhost: {cc: "
                 "hpcc}\nworkload: [{kind: "
                 "incast, sources: host-1..%d, dst: host-0, size: 2MB}]\n",
                 base[i / 2], i % 2 ? 8 : 3);
        check_error(*state, text, 0.1);
    }
}

/// One flow takes as long as its messages, with so many times fewer events.
static void check_one_flow(struct fixture *f, const char *text, double error, double fewer) {
    static const char *const command[] = {"estimate s.yaml --pick makespan_ps --pick events",
                                          "estimate s.yaml --messages --pick makespan_ps --pick events"};
    double time[2], events[2];
    write_text(f, "s.yaml", text);
    for (uint32_t i = 0; i < 2; i++) {
        if (weft(f, command[i])) fail_msg("%s", f->err);
        assert_int_equal(sscanf(f->out, "%lf %lf", &time[i], &events[i]), 2);
    }
    if (fabs(time[0] / time[1] - 1) > error || events[0] * fewer > events[1])
        fail_msg("%.0f ps, %.0f events; by messages %.0f ps, %.0f events: %s", time[0], events[0], time[1], events[1],
                 text);
}

/// A packet has one line of its NIC, whichever it is, and the others are for other packets.
static void planes(void **state) {
    static const char *const work[] = {
        "flow, src: host-0, dst: host-9, size: 512B", "flow, src: host-0, dst: host-9, size: 36KiB",
        "flow, src: host-0, dst: host-9, size: 64KiB", "collective, collective: all_reduce_ring, size: 64KiB"};
    static const char *const fabric[] = {"eight-planes", "dual-tor"};
    for (uint32_t i = 0; i < sizeof work / sizeof *work * 2; i++) {
        char text[512];
        snprintf(text, sizeof text, "base: %s\nfabric: {hosts: 16, rate: 400Gbps}\nworkload:\n- {kind: %s}\n",
                 fabric[i % 2], work[i / 2]);
        check_error(*state, text, 0.02);
    }
    check_fabric(*state, "dual-tor", "", 0.03, 0.10);
    check_fabric(*state, "eight-planes", "", 0.03, 0.10);
}

/// Rings take turns with queue pairs of their members' NICs: one that comes to 16 has a 17th, though lines are divided
/// no further for one more; and when these end, it has as much of another link as the flow there.
static void rings_beside_queue_pairs(void **state) {
    check_error(*state,
                "topology: {kind: single, hosts: 8, rate: 100Gbps}\nworkload:\n"
                "- {kind: flow, src: host-0, dst: host-7, size: 4MB, repeat: 16}\n"
                "- {kind: job, group: j, start: 10us, hosts: 'host-0..3', operations: [{collective: all_reduce_ring, "
                "size: 16MB}, {compute: 10ms, collective: all_reduce_ring, size: 4KiB}]}\n",
                0.01);
    check_error(*state,
                "topology: {kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 4, rate: 100Gbps}\nworkload:\n"
                "- {kind: flow, src: host-0, dst: host-3, size: 100KB, repeat: 16}\n"
                "- {kind: job, group: g, hosts: 'host-2,host-6', operations: [{collective: broadcast, size: 100MB}, "
                "{compute: 10ms, collective: broadcast, size: 4KiB}]}\n"
                "- {kind: job, group: j, start: 10us, hosts: 'host-0,host-1,host-4,host-5', operations: [{collective: "
                "all_reduce_ring, size: 64MB}]}\n",
                0.02);
}

/// What a stage passes on.
static void hops(void **state) {
    static const char *const beside[] = {
        "", // then flows that come and go at NICs of the first stage
        "- {kind: flow, src: host-0..7, dst: host-24..31, size: 200MB, start: 20ms, repeat: 4}\n"
        "- {kind: flow, src: host-0..7, dst: host-24..31, size: 2GB, start: 60ms, repeat: 4}\n"
        "- {kind: flow, src: host-0..7, dst: host-24..31, size: 2GB, start: 200ms, repeat: 4}\n"};
    for (uint32_t i = 0; i < 2; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "base: roce-ecmp\nfabric: {hosts: 32, rate: 400Gbps}\nworkload:\n- {kind: job, group: t, server: "
                 "{gpus: 8}, model: {kind: llama3-405b, layers: 8}, gpus: 32, plan: {tp: 8, pp: 4, dp: 1, chunks: 1, "
                 "sequence: 8192, sequences: 4}}\n%s",
                 beside[i]);
        check_one_flow(*state, text, 1e-3, i ? 20 : 50);
    }
}

/// Small pieces go round at the pace of the slots of a hop between leaves, or of the mean hop; large ones at that of
/// the line. An operation of another size on the same connections is measured again.
static void rings(void **state) {
    static const char *const work[] = {
        "{kind: collective, collective: all_reduce_ring, size: 4KiB}",
        "{kind: collective, collective: reduce_scatter, size: 256KiB, hosts: 'host-0,host-127,host-1..126'}",
        "{kind: collective, collective: all_gather, size: 512MiB}",
        "{kind: job, group: j, iterations: 2, operations: [{collective: all_reduce_ring, size: 4KiB}, {collective: "
        "all_reduce_ring, size: 512MiB}]}",
    };
    for (uint32_t i = 0; i < 2 * sizeof work / sizeof *work; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "base: roce-ecmp\nhardware: %s\nfabric: {hosts: 128, rate: 400Gbps}\nworkload: [%s]\n",
                 i % 2 ? "typical" : "ideal", work[i / 2]);
        check_one_flow(*state, text, 0.01, 100);
    }
    struct fixture *f = *state; // then one that is too small for all members to have a piece
    write_text(
        f, "s.yaml",
        "base: roce-ecmp\nfabric: {hosts: 128, rate: 400Gbps}\nworkload:\n- {kind: job, group: j, iterations: 2, "
        "operations: [{collective: reduce_scatter, size: 512MiB}, {collective: reduce_scatter, size: 60B}]}\n");
    if (weft(f, "estimate s.yaml")) fail_msg("%s", f->err);
}

/// Ranks of NCCL work on what comes before they pass it on. Channels take turns at the port of NVLink. Small pieces
/// that go within servers and between them are sent one by one: between servers they wait for the turns of a proxy.
static void rings_of_nccl(void **state) {
    static const char *const size[] = {"1MiB", "64MiB", "256MiB"};
    for (uint32_t i = 0; i < 3; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "topology: {kind: single, hosts: 8, rate: 400Gbps}\nhardware: ideal\nworkload: [{kind: collective, "
                 "size: %s, server: {kind: dgx_h100}, collective: {kind: nccl, NCCL_ALGO: Ring}}]\n",
                 size[i]);
        check_error(*state, text, 0.05);
    }
    check_error(*state,
                "base: rail-only\nhardware: ideal\nfabric: {hosts: 64, rate: 400Gbps}\nworkload: [{kind: collective, "
                "size: 4MiB, server: {kind: dgx_h100}, collective: {kind: nccl, function: all_gather}}]\n",
                0.03);
}

/// A proxy serves the network between servers: inside one its turns cost nothing, also where NVLink is a network.
static void no_proxy_in_a_server(void **state) {
    struct fixture *f = *state;
    double time[2];
    for (uint32_t i = 0; i < 2; i++) {
        char text[512];
        snprintf(
            text, sizeof text,
            "topology: {kind: scale_up, server: dgx_h100}\nhardware: ideal\nhost: {out_of_order: accept}\n"
            "switch: {buffer: {kind: static, size: 64MB, xoff: 60MB, xon: 50MB}}\nworkload: [{kind: collective, size: "
            "4MiB, server: {kind: dgx_h100, within: network, costs: {proxy: %s}}, collective: {kind: nccl, function: "
            "all_gather}}]\n",
            i ? "10us" : "0ns");
        write_text(f, "s.yaml", text);
        if (weft(f, "estimate s.yaml --messages --pick makespan_ps")) fail_msg("%s", f->err);
        assert_int_equal(sscanf(f->out, "%lf", &time[i]), 1);
    }
    if (time[0] != time[1]) fail_msg("%.0f ps, %.0f with a slow proxy", time[0], time[1]);
}

#define PERMUTATION "workload: [{kind: permutation}]\n"
#define TO_HOST_0(src, more) "- {kind: flow, src: host-" #src ", dst: host-0, size: 2MB, " more "}\n"

static void refused(void **state) {
    static const struct {
        const char *base, *text, *why;
    } bad[] = {
        {"roce-ecmp", "switch: {route: flowlet}\n" PERMUTATION,
         "s.yaml:4:17: switch.route: there is no estimate of flowlet"},
        {"roce-ecmp", "host: {cc: timely}\n" PERMUTATION, "s.yaml:4:12: host.cc: there is no estimate of timely"},
        {"roce-ecmp", "host: {cc: falcon}\n" PERMUTATION, "s.yaml:4:12: host.cc: there is no estimate of falcon"},
        {"roce-ecmp", "host: {drain_rate: 400Gbps, drain_slow_every: 50us, drain_slow_time: 10us}\n" PERMUTATION,
         "s.yaml:4:47: host.drain_slow_every: there is no estimate"},
        {"roce-ecmp",
         "switch: {pfc: {priorities: none}}\nhost: {pfc: {priorities: none}}\n"
         "workload: [{kind: incast, sources: host-1..20, dst: host-30, size: 8MB}]\n",
         "s.yaml:4:28: switch.pfc.priorities: leaf-"},
        {"roce-ecmp", // one flow alone, from a fast line to a slower one
         "switch: {pfc: {priorities: none}}\nhost: {pfc: {priorities: none}}\n"
         "workload: [{kind: flow, src: host-1, dst: host-30, size: 200MB}]\n"
         "topology: {kind: leaf_spine, leaves: 2, hosts_per_leaf: 16, spines: 1, rate: 400Gbps, spine_rate: 100Gbps}\n",
         "s.yaml:4:28: switch.pfc.priorities: leaf-"},
        {"roce-ecmp", // 40 KB of headroom where 70 KB are on the way; a run loses packets
         "switch: {buffer: {kind: static, size: 900KB, xoff: 860KB, xon: 760KB}}\n"
         "workload: [{kind: incast, sources: host-1..20, dst: host-30, size: 8MB}]\n",
         "s.yaml:4:18: switch.buffer: the headroom of a link spine (spine-*) -> leaf is 40KB, and PFC may need "},
        {"roce-ecmp", // a run loses packets
         "host: {pfc: {priorities: none}}\n"
         "workload: [{kind: incast, sources: host-1..20, dst: host-30, size: 40MB}]\n",
         "s.yaml:4:26: host.pfc.priorities: host-1 does not stop when leaf-0 pauses priority 3"},
        {"roce-ecmp", // half of the rate of a link
         "host: {pfc: {priorities: none}, credit: {kind: cbfc, grant: 8704B}}\n"
         "switch: {pfc: {priorities: none}, credit: {kind: cbfc, grant: 8704B}}\n" PERMUTATION,
         "grants less credit than its neighbour needs for the rate of the link"},
        {"roce-spray", "host: {out_of_order: discard}\n" PERMUTATION,
         "s.yaml:4:22: host.out_of_order: packets from host-"},
        {"roce-ecmp", "switch: {route: spray}\n" PERMUTATION, "host.out_of_order: packets from host-"},
        {"uet", "host: {delivery: rod}\n" PERMUTATION, "s.yaml:4:18: host.delivery: "},
        {"roce-ecmp", "switch: {aqm: trim}\n" PERMUTATION, "host.transport: leaf-"},
        {"roce-ecmp", "switch: {queueing: iq}\n" PERMUTATION,
         "s.yaml:4:20: switch.queueing: there is no estimate of iq"},
        {"torus", PERMUTATION, "torus:11:3: fabric: packets draw ways that share some of their links"},
        {"torus", "workload: [{kind: incast, sources: host-1..9, dst: host-0, size: 16KB}]\n", // without a circle
         "torus:11:3: fabric: packets draw ways that share some of their links"},
        {"roce-ecmp", PERMUTATION "events: [{at: 10us, link: leaf-0/20, state: down}]\n",
         "s.yaml:5:9: events: there is no estimate of a link that goes down"},
        {"roce-ecmp", PERMUTATION "events: [{at: 0s, link: leaf-0--spine-0, state: down}]\n",
         "s.yaml:5:9: events: there is no estimate of what is lost until a link that is down at 0s is noticed"},
        {"roce-ecmp", PERMUTATION "events: [{at: 0s, link: host-3/0, state: down}]\nrun: {detection: 0ns}\n",
         "s.yaml:4:12: no route from host-"},
        {"roce-ecmp", "workload:\n" TO_HOST_0(1, "priority: 3") TO_HOST_0(2, "priority: 4"),
         "s.yaml:6:3: workload: flows from host-1 and host-2 share a link with priorities 3 and 4"},
        {"roce-ecmp", "switch: {packet_rate: 10000000}\n" PERMUTATION,
         "s.yaml:4:23: switch.packet_rate: leaf-0 may have to take"},
        {"roce-ecmp", PERMUTATION "run: {until: 1us}\n", "s.yaml:5:14: run.until: not all is done by then"},
        {"roce-ecmp", "workload: [{kind: flow, src: host-1, dst: host-0, size: 0B}]\nrun: {until: 1us}\n",
         "s.yaml:4:12: workload: there is no estimate of flows without an end"},
        {"roce-ecmp", "workload: []\n", "the workload is empty"},
        {"roce-sfc", PERMUTATION, "switch.sfc: there is no estimate of adaptive, source flow control"},
        {"dsf-region", PERMUTATION, "s.yaml:4:12: workload: data from host-"},
        {"aquila", PERMUTATION, "aquila:13:3: fabric: there is no estimate of a clique, whose nodes are of kind tin"},
    };
    struct fixture *f = *state;
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[512];
        snprintf(text, sizeof text, "base: %s\nhardware: ideal\nfabric: {hosts: 32, rate: 400Gbps}\n%s", bad[i].base,
                 bad[i].text);
        write_text(f, "s.yaml", text);
        int status = weft(f, "estimate s.yaml");
        if (status != 2 || !strstr(f->err, bad[i].why))
            fail_msg("status %d: %s\nin place of: %s", status, f->err, bad[i].why);
    }
}

/// Messages stall as in a run, the same ones, and a queue pair pauses between its messages; rings wait for both.
static void stalls(void **state) {
    static const char *const host[] = {"stall: 100us, stall_chance: 0.001", "stall: 20us, stall_chance: 0.02",
                                       "work_request_qp: 100us",
                                       "work_request_qp: 2us, jitter: 0.1, send_latency: 1us"};
    static const char *const fabric[] = {"roce-ecmp", "roce-e-ecmp"};
    enum { RING = 2, BROADCAST = 5 };
    for (uint32_t i = 0; i < 2 * sizeof host / sizeof *host; i++)
        for (uint32_t c = RING; c <= BROADCAST; c++) {
            char text[512];
            snprintf(text, sizeof text,
                     "base: %s\nhardware: ideal\nfabric: {hosts: 32, rate: 400Gbps}\nhost: {%s}\n"
                     "workload:\n%s",
                     fabric[i % 2], host[i / 2], cases[c]);
            check_error(*state, text, 0.1); // of each case
        }
}

/// Pauses that could wait for each other in a circle.
static void circles(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "estimate $WEFT_ROOT/scenarios/foundation/pfc_deadlock.yaml --variant ring"), 2);
    assert_non_null(strstr(f->err, "pfc_deadlock.yaml:12:3: topology: flows go round links in a circle"));
    assert_int_equal(weft(f, "estimate $WEFT_ROOT/scenarios/foundation/pfc_deadlock.yaml --variant line"), 0);
    write_text(f, "s.yaml", // so many queue pairs that some of them are looked at first
               "base: torus\nhardware: ideal\nfabric: {hosts: 144, rate: 400Gbps}\n"
               "workload: [{kind: collective, collective: all_to_all, size: 1MiB}]\n");
    assert_int_equal(weft(f, "estimate s.yaml"), 2);
    assert_non_null(strstr(f->err, "torus:11:3: fabric: packets draw ways that share some of their links"));
}

/// A NIC's own rates bound its line, and not what its flows take of the links that they share.
static void slow_nics(void **state) {
    static const char *const limit[] = {"packet_rate: 1000000", "pcie_rate: 100Gbps"};
    struct fixture *f = *state;
    for (uint32_t i = 0; i < sizeof limit / sizeof *limit; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "topology: {kind: leaf_spine, leaves: 4, spines: 2, hosts_per_leaf: 4, rate: 200Gbps, delay: 150ns}\n"
                 "hardware: ideal\nhost: {%s}\nworkload: [{kind: permutation, size: 1MB}]\n",
                 limit[i]);
        write_text(f, "s.yaml", text);
        double error = makespan_of(f, "estimate") / makespan_of(f, "run") - 1;
        if (fabs(error) > 0.03) fail_msg("%s: %.1f%%", limit[i], 100 * error);
    }
}

/// Times of a group that others' pauses may hold back are said to leave that out, and have no interval.
static void without_pauses(void **state) {
    struct fixture *f = *state;
    write_text(f, "s.yaml",
               "base: roce-ecmp\nfabric: {hosts: 32, rate: 400Gbps}\nworkload:\n"
               "- {kind: incast, sources: host-1..12, dst: host-0, size: 1MB, group: i}\n"
               "- {kind: flow, src: host-13, dst: host-14, size: 1MB, group: v}\n");
    write_text(f, "t.txt", "ecmp flows 16 100 0.9 1.2 0.5\n");
    assert_int_equal(weft(f, "estimate s.yaml --calibration t.txt --csv times"), 0);
    const char *i = strstr(f->out, "\n0,group,i,"), *v = strstr(f->out, "\n1,group,v,");
    uint64_t time, low;
    assert_true(i && v);
    assert_int_equal(sscanf(i, "\n0,group,i,,0,12,12000000,%" SCNu64 ",%" SCNu64, &time, &low), 2);
    assert_int_equal(sscanf(v, "\n1,group,v,,0,1,1000000,%" SCNu64 ",%" SCNu64, &time, &low), 1);
    assert_int_equal(weft(f, "estimate s.yaml"), 0);
    assert_non_null(strstr(f->out, "without pauses (PFC): not calibrated"));
}

static void intervals(void **state) {
    struct fixture *f = *state;
    write_text(f, "s.yaml", "base: roce-ecmp\nfabric: {hosts: 32, rate: 400Gbps}\nworkload: [{kind: permutation}]\n");
    write_text(f, "t.txt", "ecmp flows 16 100 0.9 1.2 0.5\n");
    assert_int_equal(weft(f, "estimate s.yaml --calibration t.txt --pick low_ps --pick makespan_ps --pick high_ps"), 0);
    double low, time, high;
    assert_int_equal(sscanf(f->out, "%lf %lf %lf", &low, &time, &high), 3);
    // a doubling beyond 16 hosts moves both ends out by half of the farther one
    assert_true(fabs(low / time - 0.9 / pow(1.2, 0.5)) < 1e-6 && fabs(high / time - pow(1.2, 1.5)) < 1e-6);
    // each plane has these hosts; of others than those that are calibrated nothing is known
    write_text(f, "s.yaml", "base: dual-tor\nfabric: {hosts: 16}\nworkload: [{kind: permutation}]\n");
    write_text(f, "t.txt", "star_planes flows 16 100 0.9 1.2 0.5\nstar flows 16 100 0.9 1.2 0.5\n");
    assert_int_equal(weft(f, "estimate s.yaml --calibration t.txt --pick low_ps --pick makespan_ps"), 0);
    assert_int_equal(sscanf(f->out, "%lf %lf", &low, &time), 2);
    assert_true(fabs(low / time - 0.9) < 1e-6);
    assert_int_equal(weft(f, "estimate s.yaml --calibration t.txt --set switch.route=ecmp --set host.cc=swift"), 0);
    assert_non_null(strstr(f->out, "not calibrated"));
    write_text(f, "s.yaml", "base: roce-ecmp\nfabric: {hosts: 32, rate: 400Gbps}\nworkload: [{kind: permutation}]\n");
    write_text(f, "t.txt", "ecmp flows 16 100 0.9\n");
    assert_int_equal(weft(f, "estimate s.yaml --calibration t.txt"), 2);
    assert_non_null(strstr(f->err, "t.txt:1"));
    write_text(f, "s.yaml",
               "base: roce-ecmp\nfabric: {hosts: 32, rate: 400Gbps}\nworkload: [{kind: permutation}, {kind: "
               "collective, collective: all_gather, size: 4KiB}]\n");
    assert_int_equal(weft(f, "estimate s.yaml"), 0);
    assert_non_null(strstr(f->out, "jobs share links: messages of a small one wait in queues that others fill"));
}

/// NVLSTree splits a message over the queue pairs of its heads, however few messages there are.
static void split_messages(void **state) {
    struct fixture *f = *state;
    write_text(
        f, "s.yaml",
        "topology: {kind: leaf_spine, leaves: 4, spines: 4, hosts_per_leaf: 8, rate: 400Gbps}\nworkload:\n- {kind: "
        "job, server: {kind: dgx_h100, gpus: 8}, qps: 4, operations: [{collective: {kind: nccl, NCCL_ALGO: NVLSTree, "
        "function: "
        "all_reduce}, size: 2MiB}]}\n");
    if (weft(f, "estimate s.yaml --quiet")) fail_msg("%s", f->err);
}

/// A job of whole servers on every fabric, at numbers of hosts for which some have spare ports (54 for 16, 270 for
/// 256): their last hosts are no server, and the job is on the first ones.
static void servers_beside_spare_ports(void **state) {
    struct fixture *f = *state;
    write_text(f, "job.yaml",
               "workload:\n- {kind: job, group: t, server: {gpus: 8}, ranks: 16, operations: [{collective: "
               "all_reduce_ring, size: 1MB}]}\n");
    for (uint32_t hosts = 16; hosts <= 256; hosts *= 4) {
        char line[96];
        snprintf(line, sizeof line, "versus job.yaml --hosts %" PRIu32 " --estimate --quiet", hosts);
        if (weft(f, line)) fail_msg("%s", f->err);
    }
    write_text(f, "s.yaml",
               "topology: {kind: single, hosts: 54}\nworkload:\n- {kind: job, hosts: \"host-40..53\", server: {gpus: "
               "8}, operations: [{collective: all_reduce_ring, size: 1MB}]}\n");
    assert_int_equal(weft(f, "check s.yaml"), 2);
    assert_int_equal(weft(f, "check s.yaml --set workload.0.hosts=host-32..47"), 0);
    assert_int_equal(weft(f, "check s.yaml --set workload.0.hosts=host-32..47 --set workload.0.server.cabling=rail"),
                     2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_packets),
        cmocka_unit_test(with_congestion_control),
        cmocka_unit_test(refused),
        cmocka_unit_test(stalls),
        cmocka_unit_test(circles),
        cmocka_unit_test(servers_beside_spare_ports),
        cmocka_unit_test(split_messages),
        cmocka_unit_test(slow_nics),
        cmocka_unit_test(without_pauses),
        cmocka_unit_test(intervals),
        cmocka_unit_test(credit_ages),
        cmocka_unit_test(leads),
        cmocka_unit_test(planes),
        cmocka_unit_test(rings_beside_queue_pairs),
        cmocka_unit_test(hops),
        cmocka_unit_test(rings),
        cmocka_unit_test(rings_of_nccl),
        cmocka_unit_test(near_and_far),
        cmocka_unit_test(no_proxy_in_a_server),
        cmocka_unit_test(near_and_far),
        cmocka_unit_test(swings),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
