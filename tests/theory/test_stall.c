// SPDX-License-Identifier: Apache-2.0
// A PFC deadlock ends the run and is named; a merely slow run is not called one.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run.h"

// Five switches in a ring, a host each; host i sends to host i + 2, two hops clockwise (the other way is three). Every
// link between switches carries two flows, a switch's ingress from the ring waits for its egress to the ring, and so
// round: a cyclic buffer dependency (Dally and Seitz, IEEE ToC 1987; for PFC: S. Hu et al., "Deadlocks in datacenter
// networks", HotNets 2016).
#define RING                                                                                                           \
    "topology:\n"                                                                                                      \
    "  kind: list\n"                                                                                                   \
    "  nodes: [{name: s0, role: switch}, {name: s1, role: switch}, {name: s2, role: switch}, {name: s3, role: "        \
    "switch}, "                                                                                                        \
    "{name: s4, role: switch}, {name: h0, role: host}, {name: h1, role: host}, {name: h2, role: host}, "               \
    "{name: h3, role: host}, {name: h4, role: host}]\n"                                                                \
    "  links: [{from: s0, to: s1}, {from: s1, to: s2}, {from: s2, to: s3}, {from: s3, to: s4}, {from: s4, to: s0}, "   \
    "{from: h0, to: s0}, {from: h1, to: s1}, {from: h2, to: s2}, {from: h3, to: s3}, {from: h4, to: s4}]\n"            \
    "workload: [{kind: permutation, hosts: \"h0,h1,h2,h3,h4\", mode: shift, shift: 2, size: 2MB}]\n"

static void deadlock_is_found_and_named(void **state) {
    for (unsigned i = 0; i < 3; i++) {
        struct run r = RUN(run_text,
                           RING "switch: {queueing: %s, buffer: {kind: static, size: 200KB, xoff: 40KB, xon: "
                                "20KB}}\nrun: {stall: 1ms}\n",
                           (const char *[]){"oq", "iq", "voq"}[i]);
        assert_int_equal(r.status, WEFT_ERROR_STALL);
        assert_int_equal(r.outcome->end, WEFT_END_STALL);
        assert_int_equal(run_drops(&r), 0);
        assert_true(r.outcome->held_bytes > 0);
        const char *text = r.outcome->stall;
        assert_non_null(text);
        assert_non_null(strstr(text, "PFC cycle of 5 ports (a deadlock):"));
        for (unsigned s = 0; s < 5; s++) { // s0's first port is to s1; the others' second, but s4's second is to s0
            char line[80];
            snprintf(line, sizeof line, "s%u/%u priority 3 waits for room at s%u/%u\n", s, s ? 1 : 0, (s + 1) % 5,
                     s == 4 ? 1 : 0);
            if (!strstr(text, line)) fail_msg("no '%s' in\n%s", line, text);
        }
        // It is not found late: the last byte moved at the latest a stall time and a timeout before the end.
        assert_true(r.outcome->sim_time_ps < 30 * WEFT_PS_PER_MS);
        run_free(&r);
    }
}

// Without PFC there is nothing to wait for in a circle: packets are dropped and sent again.
static void no_deadlock_without_pfc(void **state) {
    struct run r =
        run_text(RING "switch: {buffer: {kind: static, size: 200KB, xoff: 40KB, xon: 20KB}, pfc: {priorities: "
                      "none}}\nhost: {pfc: {priorities: none}, timeout: 200us}\n");
    run_assert_complete(&r);
    run_free(&r);
}

static void program_exits_4_and_prints_the_cycle(void **state) {
    const char *weft = getenv("WEFT");
    if (!weft) {
        print_message("skipped: WEFT does not name the program\n");
        skip();
    }
    char path[] = "/tmp/weft-stall-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    fputs(RING "switch: {buffer: {kind: static, size: 200KB, xoff: 40KB, xon: 20KB}}\nrun: {stall: 1ms}\n", file);
    fclose(file);
    char command[512];
    snprintf(command, sizeof command, "'%s' run --quiet %s 2>&1", weft, path);
    FILE *out = popen(command, "r");
    assert_non_null(out);
    char line[512];
    bool named = false;
    while (fgets(line, sizeof line, out))
        named |= strstr(line, "PFC cycle of 5 ports") != NULL;
    int status = pclose(out);
    remove(path);
    assert_int_equal(status >> 8, 4);
    assert_true(named);
}

// run.stall is 100 ms by default. These take longer than that without any byte arriving, and yet are done.
static void slow_is_not_stalled(void **state) {
    static const char *const text[] = {
        // light needs 300 ms
        "topology: {kind: single, hosts: 2, delay: 150ms}\nhost: {timeout: 1s}\n"
        "workload: [{kind: flow, src: host-0, dst: host-1, size: 10KB}, "
        "{kind: flow, src: host-0, dst: host-1, size: 10KB, verb: read}]\n",
        // the second flow starts after 2 s
        "topology: {kind: single, hosts: 2}\n"
        "workload: [{kind: flow, src: host-0, dst: host-1, size: 10KB, repeat: 2, interval: 2s}]\n",
        // the only link is down for 700 ms
        "topology: {kind: single, hosts: 2}\nhost: {timeout: 10ms}\n"
        "events: [{at: 1us, link: switch-0/1, state: down}, {at: 700ms, link: switch-0/1, state: up}]\n"
        "workload: [{kind: flow, src: host-0, dst: host-1, size: 1MB}]\n",
        // everything is lost once, and the timeout is 400 ms
        "topology: {kind: single, hosts: 2}\nhost: {timeout: 400ms}\nrun: {detection: 0ns}\n"
        "events: [{at: 1us, link: switch-0/1, state: down}, {at: 100us, link: switch-0/1, state: up}]\n"
        "workload: [{kind: flow, src: host-0, dst: host-1, size: 10KB}]\n",
        // a host that takes a packet every 67 ms
        "topology: {kind: single, hosts: 2}\nhost: {timeout: 10s}\n"
        "devices: [{match: host-1, host: {drain_rate: 500kbps, rx_xoff: 10KB, rx_xon: 5KB}}]\n"
        "workload: [{kind: flow, src: host-0, dst: host-1, size: 40KB}]\n",
        // GPUs that copy a slice in 320 ms, and that pass it on in 800 ms
        "topology: {kind: single, hosts: 4}\n"
        "workload: [{kind: collective, size: 8MB, server: {gpus: 2}, collective: {kind: all_reduce_ring, channels: 2, "
        "chunk: 4MB, slice: 4MB, copy_rate: 100Mbps}}]\n",
        "topology: {kind: single, hosts: 4}\n"
        "workload: [{kind: collective, size: 100MB, server: {gpus: 4, rate: 1Gbps}, collective: {kind: broadcast, "
        "channels: 1, chunk: 100MB, slice: 100MB}}]\n",
        // a straggler that, were it always like that, would take 1e13 s: all but 1e-7 of its GPU are the collective's
        "topology: {kind: single, hosts: 2}\n"
        "workload: [{kind: job, slow_factor: 1000, channel_cost: 0.3333333, operations: ["
        "{size: 1MB, collective: {kind: all_reduce_ring, channels: 2}, overlap: on}, {compute: 1000s, size: 1KB}]}]\n",
        // no timeout at all
        "topology: {kind: single, hosts: 2}\nhost: {timeout: never}\n"
        "workload: [{kind: flow, src: host-0, dst: host-1, size: 40KB}, "
        "{kind: flow, src: host-0, dst: host-1, size: 40KB, verb: read}]\n",
    };
    for (unsigned i = 0; i < sizeof text / sizeof *text; i++) {
        struct run r = run_text(text[i]);
        if (r.status != WEFT_OK) fail_msg("%s%s", text[i], r.outcome->stall);
        run_assert_complete(&r);
        run_free(&r);
    }
}

// host-1 is cut off for good and its flow makes no progress; another, in 500 ms, has nothing to do with it.
static void a_dead_flow_does_not_end_others(void **state) {
    struct run r = run_once("topology: {kind: single, hosts: 3}\nhost: {timeout: 10ms}\nrun: {detection: 0ns}\n"
                            "events: [{at: 1us, link: switch-0/1, state: down}]\n"
                            "workload: [{kind: flow, src: host-0, dst: host-1, size: 10KB}, "
                            "{kind: flow, src: host-0, dst: host-2, size: 10KB, start: 500ms}]\n");
    assert_int_equal(r.status, WEFT_ERROR_STALL);
    assert_true(r.outcome->flow[0].end_ps == WEFT_TIME_NEVER);
    assert_true(r.outcome->flow[1].end_ps != WEFT_TIME_NEVER);
    run_free(&r);
}

// The only path to the destination is cut, and no transport gives up: the waiting queue is named, and the port that it
// waits for.
static void a_queue_without_credits_is_named(void **state) {
    struct run r = run_once(
        "topology: {kind: list, nodes: [{name: fn, role: switch, box: dsf_fabric}, {name: x, role: switch, box: "
        "dsf_interface}, {name: a, role: switch, box: dsf_interface}, {name: hx, role: host}, {name: ha, role: host}], "
        "links: [{from: hx, to: x, rate: 400Gbps}, {from: ha, to: a, rate: 400Gbps}, {from: x, to: fn, rate: 400Gbps}, "
        "{from: a, to: fn, rate: 400Gbps}]}\n"
        "switch: {buffer: {kind: dynamic, total: 4GB, alpha: 2}}\nhost: {cc: none, timeout: never}\n"
        "interface_node: {credit_watchdog: never}\nevents: [{at: 20us, link: x--fn, state: down}]\n"
        "workload: [{kind: flow, src: ha, dst: hx, size: 1MB}]\nrun: {stall: 1ms}\n");
    assert_int_equal(r.status, WEFT_ERROR_STALL);
    assert_non_null(strstr(r.outcome->stall, "virtual output queues that wait for credits:\n  a for x/0 priority 3: "));
    assert_non_null(strstr(r.outcome->stall, "; no fabric link leads there and back\n"));
    run_free(&r);
}

// The host at the destination pauses its port for good: that is said, and by whom.
static void a_port_that_is_paused_is_named(void **state) {
    struct run r = run_once(
        "topology: {kind: list, nodes: [{name: fn, role: switch, box: dsf_fabric}, {name: x, role: switch, box: "
        "dsf_interface}, {name: a, role: switch, box: dsf_interface}, {name: hx, role: host}, {name: ha, role: host}], "
        "links: [{from: hx, to: x, rate: 400Gbps}, {from: ha, to: a, rate: 400Gbps}, {from: x, to: fn, rate: 400Gbps}, "
        "{from: a, to: fn, rate: 400Gbps}]}\n"
        "switch: {buffer: {kind: dynamic, total: 4GB, alpha: 2}}\nhost: {cc: none, timeout: never}\n"
        "interface_node: {credit_watchdog: never}\ndevices: [{match: hx, host: {drain_rate: 1kbps}}]\n"
        "workload: [{kind: flow, src: ha, dst: hx, size: 1MB}]\nrun: {stall: 1ms}\n");
    assert_int_equal(r.status, WEFT_ERROR_STALL);
    assert_non_null(strstr(r.outcome->stall, "  a for x/0 priority 3: "));
    assert_non_null(strstr(r.outcome->stall, "; that port is paused by hx/0\n"));
    run_free(&r);
}

// The only request is lost on a link that is back before anybody notices, and is not repeated for a second.
static void a_lost_request_is_named(void **state) {
    struct run r = run_once(
        "topology: {kind: list, nodes: [{name: fn, role: switch, box: dsf_fabric}, {name: x, role: switch, box: "
        "dsf_interface}, {name: a, role: switch, box: dsf_interface}, {name: hx, role: host}, {name: ha, role: host}], "
        "links: [{from: hx, to: x, rate: 400Gbps}, {from: ha, to: a, rate: 400Gbps}, {from: x, to: fn, rate: 400Gbps}, "
        "{from: a, to: fn, rate: 400Gbps}]}\n"
        "host: {cc: none, timeout: never}\ninterface_node: {credit_watchdog: never, request_refresh: 1s}\n"
        "events: [{at: 100ns, link: x--fn, state: down}, {at: 3us, link: x--fn, state: up}]\n"
        "workload: [{kind: flow, src: ha, dst: hx, size: 4KB}]\nrun: {stall: 1ms}\n");
    assert_int_equal(r.status, WEFT_ERROR_STALL);
    assert_non_null(strstr(r.outcome->stall, "  a for x/0 priority 3: "));
    assert_non_null(strstr(r.outcome->stall, "; that port is free, so requests or credits were lost\n"));
    run_free(&r);
}

// --- Cliques ------------------------------------------------------------------------------------------------------

#define CLIQUE                                                                                                         \
    "topology: {kind: dragonfly, pods: 3, tins: 4, hosts_per_tin: 1, global_delay: 100ns, global_parallel: 4, "        \
    "local_ports: 6, global_ports: 2}\n"                                                                               \
    "run: {stall: 1ms}\n"
#define CUT_OFF /* tin-11 */                                                                                           \
    "events: [{at: 20us, link: tin-11/0, state: down}, {at: 20us, link: tin-11/1, state: down}, {at: 20us, link: "     \
    "tin-11/2, state: down}, {at: 20us, link: tin-11/3, state: down}, {at: 20us, link: tin-11/4, state: down}, "       \
    "{at: 20us, link: tin-11/5, state: down}, {at: 20us, link: tin-11/6, state: down}, {at: 20us, link: tin-11/7, "    \
    "state: down}]\n"

static void assert_says(const struct run *r, const char *text) {
    assert_int_equal(r->status, WEFT_ERROR_STALL);
    if (!strstr(r->outcome->stall, text)) fail_msg("no '%s' in\n%s", text, r->outcome->stall);
}

// A host takes nothing more: RTSs at its TiN wait for a CTS, and it is said that the port is paused.
static void an_rts_queue_without_cts_is_named(void **state) {
    struct run r = run_once(CLIQUE "devices: [{match: host-11, host: {drain_rate: 1bps, rx_xoff: 10KB, rx_xon: 5KB}}]\n"
                                   "host: {timeout: never}\n"
                                   "workload: [{kind: incast, sources: host-0..7, dst: host-11, size: 100KB}]\n");
    assert_says(&r, "RTS queues that wait for a CTS:\n  tin-11/8 priority 3: ");
    assert_says(&r, "; that port is paused by host-11/0\n");
    assert_null(strstr(r.outcome->stall, "credit cycle"));
    run_free(&r);
}

// Nothing leads to a TiN any more: the senders that still announce packets to it are named.
static void packets_without_cts_are_named(void **state) {
    struct run r = run_once(CLIQUE CUT_OFF "host: {timeout: 1ms}\ntin: {rts_timeout: 100ms}\n"
                                           "workload: [{kind: flow, src: host-0, dst: host-11, size: 1MB}]\n");
    assert_says(&r, "packets that wait at their ingress:\n  tin-0: ");
    assert_says(&r, " announced to tin-11, the first for ");
    assert_says(&r, ", without a CTS; no route leads there\n");
    run_free(&r);
}

// Operations of 1RMA on its host are named by client and server, with what they wait for.
static void operations_without_answer_are_named(void **state) {
    struct run r = run_once(CLIQUE CUT_OFF "workload: [{kind: rma, transport: 1rma, clients: host-0, servers: host-11, "
                                           "rate: 1000000, duration: 100us}]\n");
    assert_says(&r, "operations of 1RMA that are not complete:\n  host-0 -> host-11: ");
    assert_says(&r, " wait for their pace; no route leads there\n");
    run_free(&r);
}

// Simulated time has an end, 100 days, and comes to it: timers beyond it do not wrap round. Each of these is under way
// then.
// --- causes -------------------------------------------------------------------------------------------------------

static void assert_stalls(const char *text, const char *const *says) {
    struct run r = run_once(text);
    assert_int_equal(r.status, WEFT_ERROR_STALL);
    for (; *says; says++)
        assert_says(&r, *says);
    run_free(&r);
}
#define SAYS(...)                                                                                                      \
    (const char *const[]) {                                                                                            \
        __VA_ARGS__, NULL                                                                                              \
    }
#define LEAVES "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4}\n"
#define RING_JOB                                                                                                       \
    "workload: [{kind: collective, group: ring, collective: all_reduce_ring, size: 1MB, hosts: host-0..7}]\n"
#define INCAST "workload: [{kind: incast, sources: host-0..3, dst: host-5, size: 1MB}]\n"

/// Cells of answers arrive, and no answer is whole before its request is made again: that is no progress.
static void answers_that_are_never_whole_are_no_progress(void **state) {
    struct run r = run_text("hardware: ideal\n"
                            "topology: {kind: dragonfly, pods: 2, tins: 2, hosts_per_tin: 1}\n"
                            "host: {timeout: 20us}\ntin: {allocation_step: 1us}\nrun: {until: 100ms, stall: 300us}\n"
                            "workload: [{kind: rma, clients: host-0, servers: host-1, transport: 1rma, size: 4KB, "
                            "rate: 100000, duration: 40us}]\n");
    assert_int_equal(r.status, WEFT_ERROR_STALL);
    assert_non_null(strstr(r.outcome->stall, "operations of 1RMA that are not complete:\n  host-0 -> host-1: "));
    run_free(&r);
}

static void a_dead_link_is_named(void **state) {
    assert_stalls(LEAVES RING_JOB "events: [{at: 0ms, link: host-3--leaf-0, state: down}]\n",
                  SAYS("cause: link host-3--leaf-0 is down since 0ns; ", "cause: no route from host-2 to host-3",
                       "cause: packets were lost: link_down ",
                       "host-2 -> host-3 (flow 2): cause: clear-to-sends for "));
    assert_stalls(LEAVES INCAST "events: [{at: 10us, link: host-5--leaf-1, state: down}]\n",
                  SAYS("cause: link host-5--leaf-1 is down since 10us; ", "cause: no route from host-0 to host-5"));
    assert_stalls(LEAVES INCAST "events: [{at: 10us, link: host-5--leaf-1, state: down}, {at: 20us, link: "
                                "host-5--leaf-1, state: down}]\n",
                  SAYS("cause: link host-5--leaf-1 is down since 10us; "));
}

static void all_uplinks_down_are_named(void **state) {
    assert_stalls(LEAVES INCAST
                  "events: [{at: 10us, link: leaf-0/4, state: down}, {at: 10us, link: leaf-0/5, state: down}]\n",
                  SAYS("cause: link leaf-0--spine-0 is down since 10us; ", "cause: link leaf-0--spine-1 is down since",
                       "cause: no route from host-0 to host-5"));
}

static void losses_without_timeout_are_named(void **state) {
    assert_stalls("topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4, bit_error_rate: 1e-6}\n"
                  "host: {timeout: never}\nrun: {stall: 1ms}\n" INCAST,
                  SAYS("cause: packets were lost: bit_error ", "host.timeout is never"));
    assert_stalls(LEAVES INCAST "host: {timeout: never}\nrun: {stall: 1ms}\n"
                                "switch: {pfc: {priorities: none}, buffer: {kind: static, size: 40KB, xoff: 40KB, "
                                "xon: 30KB}}\n",
                  SAYS("cause: packets were lost: buffer_full ", "host.timeout is never", "leaf-"));
}

static void trimmed_without_nack_are_named(void **state) {
    assert_stalls(LEAVES INCAST "host: {timeout: never}\nrun: {stall: 1ms}\n"
                                "switch: {pfc: {priorities: none}, aqm: {kind: trim, min: 20KB, max: 40KB, "
                                "depth: 60KB}}\n",
                  SAYS("trimmed ", "cause: packets are trimmed, and host.transport does not answer trimmed ones"));
}

static void a_host_that_takes_nothing_is_named(void **state) {
    assert_stalls(LEAVES INCAST "host: {drain_rate: 1bps}\nrun: {stall: 1ms}\n",
                  SAYS("cause: host-5 pauses its switch; host.drain_rate: 1bps"));
}

/// What takes its turn is no stall; what is sent again, for ever, before its turn comes is one, and says so.
static void few_packets_a_second_are_named(void **state) {
    struct run r = run_once("topology: {kind: single, hosts: 2}\nhost: {packet_rate: 2, timeout: never}\n"
                            "workload: [{kind: flow, src: host-0, dst: host-1, size: 12KB}]\n");
    assert_int_equal(r.outcome->end, WEFT_END_DONE);
    run_free(&r);
    assert_stalls(LEAVES INCAST "switch: {packet_rate: 2}\n",
                  SAYS("nodes that take few packets:\n", "cause: leaf-1 takes 500ms for a packet; "
                                                         "switch.packet_rate: 2\n"));
    r = run_once("topology: {kind: single, hosts: 4}\nswitch: {packet_rate: 100}\n" // all arrives, and again
                 "workload: [{kind: incast, sources: host-1..3, dst: host-0, size: 20KB}]\n");
    assert_int_equal(r.outcome->end, WEFT_END_DONE);
    assert_true(r.outcome->held_bytes > 0);
    run_free(&r);
}

static void time_ends(void **state) {
    static const char *const text[] = {
        // 8640 iterations of 1000 s, and a little more for each
        "topology: {kind: single, hosts: 2}\n"
        "workload: [{kind: job, iterations: 8640, operations: [{compute: 1000s, size: 1KB}]}]\n",
        // GPUs that copy 4 MB in 3.2e7 s
        "topology: {kind: single, hosts: 2}\n"
        "workload: [{kind: collective, size: 8MB, collective: {kind: all_reduce_ring, channels: 1, chunk: 4MB, "
        "slice: 4MB, copy_rate: 1bps}}]\n",
        // 490 packets, one in 33000 s
        "topology: {kind: single, hosts: 2}\nhost: {timeout: never}\nrun: {stall: never}\n"
        "devices: [{match: host-1, host: {drain_rate: 1bps, rx_buffer: 4MB, rx_xoff: 3MB, rx_xon: 2MB}}]\n"
        "workload: [{kind: flow, src: host-0, dst: host-1, size: 2MB}]\n",
        // all that is sent is lost, and the timeout is 58 days
        "topology: {kind: single, hosts: 2}\nhost: {timeout: 5000000s}\nrun: {stall: never, detection: 0ns}\n"
        "events: [{at: 1us, link: switch-0/1, state: down}]\n"
        "workload: [{kind: flow, src: host-0, dst: host-1, size: 1MB}]\n",
    };
    for (unsigned i = 0; i < sizeof text / sizeof *text; i++) {
        struct run r = run_text(text[i]);
        if (r.outcome->end != WEFT_END_TIME) fail_msg("%s%u", text[i], r.outcome->end);
        assert_int_equal(r.status, WEFT_ERROR_STALL);
        assert_true(r.outcome->sim_time_ps < WEFT_TIME_MAX);
        assert_null(r.outcome->stall);
        run_free(&r);
    }
}

// Where nobody waits for a time it is no matter of time. Nor is a recorded run, whose ports are looked at for its
// moving picture, any other: where a stall is waited for, steps are too far apart for what was before, and none are
// kept. Samples do not keep a run going either.
static void a_stall_that_may_last_is_none_of_time(void **state) {
    static const char *const stall[] = {"never", "100ms", "never, sample_interval: 10us"};
    for (uint32_t i = 0; i < 3; i++) {
        struct run r = RUN(run_text,
                           "topology: {kind: single, hosts: 2}\nhost: {timeout: never}\n"
                           "run: {stall: %s, detection: 0ns}\n"
                           "events: [{at: 1us, link: switch-0/1, state: down}]\n"
                           "workload: [{kind: flow, src: host-0, dst: host-1, size: 1MB}]\n",
                           stall[i]);
        struct weft_outcome *o = run_recorded(&r, 1, stall[i]);
        assert_int_equal(r.outcome->end, WEFT_END_STALL);
        assert_int_equal(o->end, WEFT_END_STALL);
        assert_int_equal(o->sim_time_ps, r.outcome->sim_time_ps);
        assert_int_equal(o->film.steps, 0);
        weft_outcome_free(o);
        run_free(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deadlock_is_found_and_named),
        cmocka_unit_test(no_deadlock_without_pfc),
        cmocka_unit_test(program_exits_4_and_prints_the_cycle),
        cmocka_unit_test(slow_is_not_stalled),
        cmocka_unit_test(a_dead_flow_does_not_end_others),
        cmocka_unit_test(a_queue_without_credits_is_named),
        cmocka_unit_test(a_port_that_is_paused_is_named),
        cmocka_unit_test(a_lost_request_is_named),
        cmocka_unit_test(an_rts_queue_without_cts_is_named),
        cmocka_unit_test(packets_without_cts_are_named),
        cmocka_unit_test(a_dead_link_is_named),
        cmocka_unit_test(all_uplinks_down_are_named),
        cmocka_unit_test(losses_without_timeout_are_named),
        cmocka_unit_test(trimmed_without_nack_are_named),
        cmocka_unit_test(a_host_that_takes_nothing_is_named),
        cmocka_unit_test(few_packets_a_second_are_named),
        cmocka_unit_test(operations_without_answer_are_named),
        cmocka_unit_test(answers_that_are_never_whole_are_no_progress),
        cmocka_unit_test(time_ends),
        cmocka_unit_test(a_stall_that_may_last_is_none_of_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
