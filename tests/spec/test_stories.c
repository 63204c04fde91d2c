// SPDX-License-Identifier: Apache-2.0
// The stories of "Congestion Avoidance in AI Fabric", parts I and II (nwktimes.blogspot.com, April 2025), step by step:
// each step is an event at the port and priority that the text names, caused by the previous step. The scenarios in
// scenarios/congestion-avoidance say what is from the text and what is assumed.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "run.h"

enum { ANY = 255, FRAME = 4158, FULL_QUANTA = 65535, BIT_3 = 1 << 3 };

/// What an event must be. Members left 0 do not matter, but for `kind` and `priority`.
struct step {
    enum weft_event_kind kind;
    const char *port;
    uint32_t priority; ///< or ANY
    uint32_t flow;     ///< one more than its number
    uint32_t cause, begins;
    uint32_t detail; ///< one more than it
};

static const struct weft_event *at(const struct run *r, uint32_t id) {
    assert_in_range(id, 1, r->outcome->recorded);
    return &r->outcome->record[id - 1];
}

static bool is_step(const struct run *r, const struct weft_event *e, const struct step *s) {
    if (e->kind != s->kind || (s->priority != ANY && e->priority != s->priority)) return false;
    if (s->port && weft_topology_find_port(r->topology, s->port) != e->port) return false;
    if (s->flow && e->flow != s->flow - 1) return false;
    if (s->cause && e->cause != s->cause) return false;
    if (s->begins && e->begins != s->begins) return false;
    return !s->detail || e->detail == s->detail - 1;
}

/// The first such event later than event `after` (0: of all), or 0.
static uint32_t find(const struct run *r, uint32_t after, struct step s) {
    for (uint32_t id = after + 1; id <= r->outcome->recorded; id++)
        if (is_step(r, at(r, id), &s)) return id;
    return 0;
}

static uint32_t count(const struct run *r, struct step s) {
    uint32_t n = 0;
    for (uint32_t id = 0; (id = find(r, id, s));)
        n++;
    return n;
}

/// It must be there. A cause is always earlier than its effect, and so is what an event begins with.
static uint32_t step(const struct run *r, uint32_t after, struct step s) {
    uint32_t id = find(r, after, s);
    if (!id)
        fail_msg("after event %u: no %s at %s, priority %u, caused by %u, of %u", after, weft_event_infos[s.kind].name,
                 s.port ? s.port : "any port", s.priority, s.cause, s.begins);
    return id;
}

#define STEP(r, after, ...) step(r, after, (struct step){__VA_ARGS__})
#define COUNT(r, ...) count(r, (struct step){__VA_ARGS__})

static weft_time_ps time_of(const struct run *r, uint32_t id) {
    return at(r, id)->time_ps;
}

static weft_time_ps ideal(const struct run *r, uint32_t flow) {
    return r->outcome->flow[flow].ideal_ps;
}

// --- RDMA WRITE without congestion --------------------------------------------------------------------------------

static void rdma_write(void **state) {
    struct run r = run_scenario("congestion-avoidance/rdma_write.yaml", NULL, NULL);
    // 1, 2: the work request; 3: received on Ethernet1/24; 4, 5: DSCP 24 is queue 3 of the port to host-2.
    uint32_t started = STEP(&r, 0, .kind = WEFT_EVENT_FLOW_STARTED, .port = "host-1/0", .priority = 3);
    uint32_t classified =
        STEP(&r, started, .kind = WEFT_EVENT_CLASSIFIED, .port = "rail-a/Ethernet2/24", .priority = 3);
    assert_int_equal(at(&r, classified)->value, 24);
    assert_int_equal(at(&r, classified)->more, weft_topology_find_port(r.topology, "rail-a/Ethernet1/24"));
    // 6: 1 MB in 4096 B is 245 packets; none ever meets more than WRED's minimum, none is marked.
    const struct weft_counters *queue = run_counters(&r, "rail-a/Ethernet2/24", 3);
    assert_int_equal(queue->tx_packets, 245);
    assert_int_equal(queue->ecn_marked, 0);
    assert_in_range(queue->queue_bytes_max, 1, 100000);
    assert_int_equal(COUNT(&r, .kind = WEFT_EVENT_QUEUE_ABOVE, .priority = ANY), 0);
    // 7: in the memory of host-2, as fast as first principles allow: 1 MB + 245 x 82 B + 16 B on the wire at 25 B/ns.
    STEP(&r, classified, .kind = WEFT_EVENT_FLOW_FINISHED, .port = "host-2/0", .priority = ANY, .begins = started);
    assert_int_equal(run_fct(&r, 0), ideal(&r, 0));
    assert_in_range(run_fct(&r, 0), 40804240, 40804240 * 1.02);
    assert_int_equal(run_drops(&r) + r.outcome->cnps, 0);
    run_free(&r);
}

// --- ECN ----------------------------------------------------------------------------------------------------------

static const char ECN[] = "congestion-avoidance/ecn.yaml", CONGESTED[] = "rail-a/Ethernet2/24";

/// The queue exceeds a threshold, after exceeding the one below it.
static uint32_t above(const struct run *r, enum weft_event_threshold threshold, uint32_t cause, uint64_t bytes) {
    uint32_t id = STEP(r, 0, .kind = WEFT_EVENT_QUEUE_ABOVE, .port = CONGESTED, .priority = 3, .cause = cause,
                       .detail = threshold + 1);
    assert_int_equal(at(r, id)->more, bytes);
    assert_in_range(at(r, id)->value, bytes + 1, bytes + FRAME + 16);
    return id;
}

/// Marks, a CNP in queue 7, a cut: for the queue pair of one flow. Returns the cut.
static uint32_t notified(const struct run *r, uint32_t marking, uint32_t flow, const char *host, const char *port) {
    uint32_t marked = STEP(r, marking, .kind = WEFT_EVENT_FLOW_MARKED, .port = CONGESTED, .priority = 3,
                           .flow = flow + 1, .cause = marking);
    uint32_t sent = STEP(r, marked, .kind = WEFT_EVENT_CNP_SENT, .port = "host-2/0", .priority = 7, .flow = flow + 1,
                         .cause = marked);
    uint32_t classified = STEP(r, sent, .kind = WEFT_EVENT_CLASSIFIED, .port = port, .priority = 7);
    assert_int_equal(at(r, classified)->value, 48);
    assert_int_equal(at(r, classified)->more, weft_topology_find_port(r->topology, CONGESTED));
    uint32_t received = STEP(r, classified, .kind = WEFT_EVENT_CNP_RECEIVED, .port = host, .priority = 7,
                             .flow = flow + 1, .cause = sent);
    uint32_t cut = STEP(r, received, .kind = WEFT_EVENT_RATE_CUT, .port = host, .priority = ANY, .flow = flow + 1,
                        .cause = received);
    assert_int_equal(at(r, cut)->more, 200000000000);
    assert_true(at(r, cut)->value < at(r, cut)->more);
    return cut;
}

static void ecn(void **state) {
    struct run r = run_scenario(ECN, "dcqcn", NULL);
    uint32_t min = above(&r, WEFT_EVENT_MIN, 0, 100000);
    uint32_t marking = STEP(&r, min, .kind = WEFT_EVENT_MARKING_BEGAN, .port = CONGESTED, .priority = 3, .cause = min);
    uint32_t max = above(&r, WEFT_EVENT_MAX, min, 400000);
    // 1 to 6, for each of the three senders.
    uint32_t cut = notified(&r, marking, 0, "host-1/0", "rail-a/Ethernet1/24");
    notified(&r, marking, 1, "host-3/0", "rail-a/Ethernet3/24");
    notified(&r, marking, 2, "host-4/0", "rail-a/Ethernet4/24");
    // The other queue pair of host-1 is not slowed: it has more of the link than its half.
    assert_int_equal(COUNT(&r, .kind = WEFT_EVENT_RATE_CUT, .priority = ANY, .flow = 3 + 1), 0);
    assert_true(run_fct(&r, 3) < 3 * ideal(&r, 3) / 2);
    // The queue falls below both thresholds, in their order, and marking ends.
    uint32_t below_max = STEP(&r, cut, .kind = WEFT_EVENT_QUEUE_BELOW, .port = CONGESTED, .priority = 3, .begins = max);
    uint32_t ended =
        STEP(&r, cut, .kind = WEFT_EVENT_MARKING_ENDED, .port = CONGESTED, .priority = 3, .begins = marking);
    uint32_t below =
        STEP(&r, below_max, .kind = WEFT_EVENT_QUEUE_BELOW, .port = CONGESTED, .priority = 3, .begins = min);
    assert_true(ended < below);
    uint32_t again = find(&r, below, (struct step){.kind = WEFT_EVENT_MARKING_BEGAN, .port = CONGESTED, .priority = 3});
    uint32_t mark = find(&r, ended, (struct step){.kind = WEFT_EVENT_FLOW_MARKED, .port = CONGESTED, .priority = 3});
    assert_true(mark == 0 || mark > again);
    // The rate recovers; the last that happens to it is a rise.
    uint32_t raised =
        STEP(&r, below, .kind = WEFT_EVENT_RATE_RAISED, .port = "host-1/0", .priority = ANY, .flow = 0 + 1);
    assert_true(at(&r, raised)->value > at(&r, raised)->more);
    uint32_t last = 0, last_cut = 0;
    for (uint32_t id = 0;
         (id = find(&r, id, (struct step){.kind = WEFT_EVENT_RATE_RAISED, .priority = ANY, .flow = 1}));)
        last = id;
    for (uint32_t id = 0; (id = find(&r, id, (struct step){.kind = WEFT_EVENT_RATE_CUT, .priority = ANY, .flow = 1}));)
        last_cut = id;
    assert_true(last > last_cut);
    run_assert_complete(&r);
    assert_int_equal(run_drops(&r), 0);
    assert_int_equal(COUNT(&r, .kind = WEFT_EVENT_PAUSE_SENT, .priority = ANY), 0);
    run_free(&r);
}

/// Packets that have joined the congested queue so far, to a packet or two, and how many of them were marked.
static uint64_t joined(const char *until, uint64_t *ret_marked) {
    struct run r = run_scenario(ECN, "deaf", until);
    const struct weft_counters *c = run_counters(&r, CONGESTED, 3);
    *ret_marked = c->ecn_marked;
    uint64_t packets = c->tx_packets + c->queue_bytes_max / FRAME; // the queue only grows until it drops
    run_free(&r);
    return packets;
}

// Nobody reacts. Between minimum and maximum the probability grows to 20%, above the maximum every packet is marked,
// above the drop threshold every packet is dropped.
static void wred(void **state) {
    struct run r = run_scenario(ECN, "deaf", NULL);
    uint32_t min = above(&r, WEFT_EVENT_MIN, 0, 100000), max = above(&r, WEFT_EVENT_MAX, min, 400000);
    uint32_t drop = above(&r, WEFT_EVENT_DROP, max, 1500000);
    uint32_t dropped = STEP(&r, drop, .kind = WEFT_EVENT_DROPPED, .port = CONGESTED, .priority = 3, .cause = drop,
                            .detail = WEFT_DROP_AQM + 1);
    assert_int_equal(at(&r, dropped)->more, r.outcome->drops[WEFT_DROP_AQM]);
    STEP(&r, dropped, .kind = WEFT_EVENT_QUEUE_BELOW, .port = CONGESTED, .priority = 3, .begins = drop);
    assert_in_range(run_counters(&r, CONGESTED, 3)->queue_bytes_max, 1500001, 1500000 + FRAME + 16);
    assert_int_equal(COUNT(&r, .kind = WEFT_EVENT_RATE_CUT, .priority = ANY), 0);
    assert_int_equal(COUNT(&r, .kind = WEFT_EVENT_PAUSE_SENT, .priority = ANY), 0);
    run_assert_complete(&r);
    assert_in_range(time_of(&r, min), 3000000, 3200000);
    assert_in_range(time_of(&r, max), 11100000, 11200000);
    assert_in_range(time_of(&r, drop), 40500000, 40600000);
    run_free(&r);

    uint64_t marked[4], packets[4];
    const char *const until[] = {"run.until=3000ns", "run.until=11100ns", "run.until=11200ns", "run.until=40500ns"};
    for (unsigned i = 0; i < 4; i++)
        packets[i] = joined(until[i], &marked[i]);
    assert_int_equal(marked[0], 0);
    uint64_t between = packets[1] - packets[0], beyond = packets[3] - packets[2];
    assert_in_range(marked[1], between * 2 / 100, between * 18 / 100); // 10% on average, of some 120
    assert_in_range(marked[3] - marked[2], beyond - 2, beyond + 2);
}

static void not_ecn_capable(void **state) {
    struct run r = run_scenario(ECN, "no-ecn", NULL);
    uint32_t min = above(&r, WEFT_EVENT_MIN, 0, 100000), max = above(&r, WEFT_EVENT_MAX, min, 400000);
    uint32_t drop = above(&r, WEFT_EVENT_DROP, max, 1500000);
    STEP(&r, drop, .kind = WEFT_EVENT_DROPPED, .port = CONGESTED, .priority = 3, .cause = drop);
    assert_int_equal(COUNT(&r, .kind = WEFT_EVENT_MARKING_BEGAN, .priority = ANY), 0);
    assert_int_equal(r.outcome->cnps, 0);
    run_free(&r);
}

/// The longest path of a CNP to host-0, whose port has a queue of data for a while.
static weft_time_ps cnp_way(const char *variant, uint32_t priority) {
    struct run r = run_scenario("congestion-avoidance/cnp_queue.yaml", variant, NULL);
    weft_time_ps longest = 0;
    uint32_t received = 0;
    while (
        (received = find(&r, received,
                         (struct step){.kind = WEFT_EVENT_CNP_RECEIVED, .port = "host-0/0", .priority = priority}))) {
        weft_time_ps way = time_of(&r, received) - time_of(&r, at(&r, received)->cause);
        if (way > longest) longest = way;
    }
    assert_true(run_counters(&r, "switch-0/0", 3)->queue_bytes_max > 200000);
    run_free(&r);
    return longest;
}

// 4, 5: in the strict-priority queue a CNP waits for the frame that is being sent, at either port on its way, and for
// nothing else: (78 + 8) B and 150 ns twice, 300 ns, and 2 x (4174 + 20) B at the most.
static void cnps_do_not_wait(void **state) {
    weft_time_ps alone = 2 * (86 * 40 + 150000) + 300000, frame = (FRAME + 16 + 20) * 40;
    assert_in_range(cnp_way("queue-7", 7), alone, alone + 2 * frame);
    assert_true(cnp_way("queue-3", 3) > alone + 20 * frame);
}

// --- PFC ----------------------------------------------------------------------------------------------------------

static const char PFC[] = "congestion-avoidance/pfc.yaml";

/// A pause of priority 3 from the port `from` takes effect at the port `to` of its neighbour. Returns `to`'s event.
static uint32_t pauses(const struct run *r, uint32_t xoff, const char *from, const char *to) {
    uint32_t sent =
        STEP(r, xoff, .kind = WEFT_EVENT_PAUSE_SENT, .port = from, .priority = 3, .cause = xoff, .detail = BIT_3 + 1);
    assert_int_equal(at(r, sent)->value, FULL_QUANTA);
    uint32_t received =
        STEP(r, sent, .kind = WEFT_EVENT_PAUSE_RECEIVED, .port = to, .priority = 3, .cause = sent, .detail = BIT_3 + 1);
    assert_int_equal(time_of(r, received), at(r, sent)->more);
    return STEP(r, received, .kind = WEFT_EVENT_PAUSED, .port = to, .priority = 3, .cause = received);
}

/// The bytes that arrived by a port exceed XOFF, because `egress` is paused or congested.
static uint32_t exceeds(const struct run *r, uint32_t cause, const char *port, const char *egress) {
    uint32_t xoff = STEP(r, cause, .kind = WEFT_EVENT_XOFF, .port = port, .priority = 3, .cause = cause);
    assert_in_range(at(r, xoff)->value, 150001, 150000 + FRAME + 16);
    if (egress) assert_int_equal(at(r, xoff)->more, weft_topology_find_port(r->topology, egress));
    return xoff;
}

/// The way back of `exceeds` and `pauses`: XON, 0 quanta, `to` goes on. Returns the last.
static uint32_t goes_on(const struct run *r, uint32_t xoff, uint32_t paused, uint32_t cause, const char *from,
                        const char *to) {
    uint32_t xon = STEP(r, xoff, .kind = WEFT_EVENT_XON, .port = from, .priority = 3, .begins = xoff, .cause = cause);
    assert_in_range(at(r, xon)->value, 0, 25000);
    uint32_t sent =
        STEP(r, xon, .kind = WEFT_EVENT_PAUSE_SENT, .port = from, .priority = 3, .cause = xon, .detail = BIT_3 + 1);
    assert_int_equal(at(r, sent)->value, 0);
    uint32_t received = STEP(r, sent, .kind = WEFT_EVENT_PAUSE_RECEIVED, .port = to, .priority = 3, .cause = sent);
    uint32_t resumed = STEP(r, received, .kind = WEFT_EVENT_RESUMED, .port = to, .priority = 3, .cause = received,
                            .begins = paused, .detail = WEFT_EVENT_BY_FRAME + 1);
    assert_int_equal(at(r, resumed)->value, time_of(r, resumed) - time_of(r, paused));
    return resumed;
}

/// Nothing but priority 3 is ever paused, every pause ends, nothing is lost.
static void assert_lossless(const struct run *r) {
    assert_int_equal(COUNT(r, .kind = WEFT_EVENT_PAUSED, .priority = ANY),
                     COUNT(r, .kind = WEFT_EVENT_PAUSED, .priority = 3));
    assert_int_equal(COUNT(r, .kind = WEFT_EVENT_PAUSED, .priority = 3),
                     COUNT(r, .kind = WEFT_EVENT_RESUMED, .priority = 3));
    assert_int_equal(run_drops(r), 0);
    run_assert_complete(r);
}

/// Steps 5 to 9 behind one of spine-1's ports while its downlink is paused, and the return.
static void cascade(const struct run *r, uint32_t spine_paused, const char *spine, const char *up, const char *down,
                    const char *gpu) {
    uint32_t spine_xoff = exceeds(r, spine_paused, spine, "spine-1/E3/24"); // 5, 6
    uint32_t rail_paused = pauses(r, spine_xoff, spine, up);                // 7, 8
    uint32_t rail_xoff = exceeds(r, rail_paused, down, up);
    uint32_t gpu_paused = pauses(r, rail_xoff, down, gpu); // 9
    uint32_t rail_resumed = goes_on(r, spine_xoff, rail_paused, 0, spine, up);
    uint32_t spine_xon = STEP(r, spine_xoff, .kind = WEFT_EVENT_XON, .priority = 3, .begins = spine_xoff);
    const struct weft_event *why = at(r, at(r, spine_xon)->cause);
    assert_int_equal(why->kind, WEFT_EVENT_RESUMED);
    assert_int_equal(why->port, weft_topology_find_port(r->topology, "spine-1/E3/24"));
    goes_on(r, rail_xoff, gpu_paused, rail_resumed, down, gpu);
}

static void pfc(void **state) {
    struct run r = run_scenario(PFC, "egress", NULL);
    uint32_t congested = STEP(&r, 0, .kind = WEFT_EVENT_CONGESTED, .port = "rail-c/E12/24", .priority = 3); // 1
    uint32_t xoff = exceeds(&r, congested, "rail-c/E3/24", "rail-c/E12/24");                                // 2
    uint32_t paused = pauses(&r, xoff, "rail-c/E3/24", "spine-1/E3/24");                                    // 3, 4
    assert_int_equal(paused, STEP(&r, 0, .kind = WEFT_EVENT_PAUSED, .priority = ANY)); // the first there is
    cascade(&r, paused, "spine-1/E1/24", "rail-a/E1/24", "rail-a/E10/24", "gpu-1/0");
    cascade(&r, paused, "spine-1/E2/24", "rail-b/E2/24", "rail-b/E11/24", "gpu-2/0");
    goes_on(&r, xoff, paused, 0, "rail-c/E3/24", "spine-1/E3/24"); // 10 on
    assert_lossless(&r);
    // 4: priority 0 crosses the paused port, alone in its class: it loses a turn now and then to what was held back.
    assert_true(run_counters(&r, "spine-1/E3/24", 3)->paused_ps > 50 * WEFT_PS_PER_US);
    assert_in_range(run_fct(&r, 2), ideal(&r, 2), ideal(&r, 2) + 2 * WEFT_PS_PER_US);
    // 5: what two ports hold, at XOFF.
    assert_true(run_counters(&r, "spine-1/E3/24", 3)->queue_bytes_max > 300000);
    // 10: gpu-3 never waits. Two transfers of 1 MB on the wire of its link, and the way there.
    weft_time_ps wire = 1020106 * UINT64_C(80),
                 last = run_fct(&r, 0) > run_fct(&r, 1) ? run_fct(&r, 0) : run_fct(&r, 1);
    assert_in_range(last, 2 * wire, 2 * wire + 3 * WEFT_PS_PER_US);
    // 14: the path is clear again.
    uint32_t after = STEP(&r, 0, .kind = WEFT_EVENT_FLOW_STARTED, .priority = 3, .flow = 3 + 1);
    assert_int_equal(find(&r, after, (struct step){.kind = WEFT_EVENT_PAUSED, .priority = ANY}), 0);
    assert_int_equal(run_fct(&r, 3), ideal(&r, 3));
    run_free(&r);
}

// Figure 11-6: the first pause is that of a NIC whose host is slow, and no switch port is congested before.
static void pfc_from_a_slow_host(void **state) {
    struct run r = run_scenario(PFC, "pcie", NULL);
    uint32_t xoff = STEP(&r, 0, .kind = WEFT_EVENT_XOFF, .priority = ANY), first = xoff;
    assert_int_equal(at(&r, xoff)->cause, 0);
    assert_int_equal(xoff, exceeds(&r, 0, "gpu-3/0", NULL));
    static const char *const hop[][3] = {{"gpu-3/0", "rail-c/E12/24", "rail-c/E3/24"},
                                         {"rail-c/E3/24", "spine-1/E3/24", "spine-1/E1/24"},
                                         {"spine-1/E1/24", "rail-a/E1/24", "rail-a/E10/24"},
                                         {"rail-a/E10/24", "gpu-1/0", NULL}};
    uint32_t paused[4], exceeded[4] = {xoff};
    for (unsigned i = 0; i < 4; i++) {
        paused[i] = pauses(&r, exceeded[i], hop[i][0], hop[i][1]);
        if (i < 3) exceeded[i + 1] = exceeds(&r, paused[i], hop[i][2], hop[i][1]);
    }
    uint32_t resumed = 0;
    for (unsigned i = 0; i < 4; i++)
        resumed = goes_on(&r, exceeded[i], paused[i], resumed, hop[i][0], hop[i][1]);
    uint32_t congested = find(&r, 0, (struct step){.kind = WEFT_EVENT_CONGESTED, .priority = ANY});
    assert_true(!congested || congested > first);
    assert_lossless(&r);
    // The transfer goes at the pace of the host: 1 MB + 245 x 62 B + 16 B at 40 Gb/s.
    assert_in_range(run_fct(&r, 0), 1015206 * UINT64_C(200), 1015206 * UINT64_C(200) + 4 * WEFT_PS_PER_US);
    run_free(&r);
}

static void one_class_is_paused_as_a_whole(void **state) {
    struct run r = run_scenario(PFC, "one-class", NULL);
    STEP(&r, 0, .kind = WEFT_EVENT_PAUSED, .port = "gpu-4/0", .priority = 3);
    assert_true(run_fct(&r, 2) > ideal(&r, 2) * 3 / 2);
    assert_lossless(&r);
    run_free(&r);
}

// --- 400 Gb/s -----------------------------------------------------------------------------------------------------

static const char PAUSE[] = "congestion-avoidance/pause_400g.yaml", PAUSED_PORT[] = "rail-a/Ethernet2/24";
enum { BIT_FS = 2500, QUANTUM_PS = 512 * BIT_FS / 1000 };
static const weft_time_ps LONGEST_PS = UINT64_C(65535) * QUANTUM_PS; // 83.8848 us

// Repeated after half its time, no pause runs out; a frame of data may be in the way of each.
static void a_pause_is_refreshed(void **state) {
    struct run r = run_scenario(PAUSE, "refreshed", NULL);
    assert_int_equal(QUANTUM_PS, 1280);
    assert_int_equal(LONGEST_PS, 83884800);
    uint32_t repeated = 0, before = 0;
    for (uint32_t id = 0; (id = find(&r, id, (struct step){.kind = WEFT_EVENT_PAUSE_SENT, .priority = 3}));
         before = id) {
        if (!at(&r, id)->begins || !at(&r, id)->value) continue;
        weft_time_ps apart = time_of(&r, id) - time_of(&r, before);
        assert_in_range(apart, LONGEST_PS / 2, LONGEST_PS / 2 + (FRAME + 16 + 20) * 20);
        repeated++;
    }
    assert_true(repeated > 0);
    uint32_t resumed = COUNT(&r, .kind = WEFT_EVENT_RESUMED, .port = PAUSED_PORT, .priority = 3);
    assert_true(resumed > 0);
    assert_int_equal(resumed, COUNT(&r, .kind = WEFT_EVENT_RESUMED, .port = PAUSED_PORT, .priority = 3,
                                    .detail = WEFT_EVENT_BY_FRAME + 1));
    assert_lossless(&r);
    run_free(&r);
}

// Repeated too late, a pause lasts what its quanta say, to the picosecond.
static void a_pause_runs_out(void **state) {
    struct run r = run_scenario(PAUSE, "timeout", NULL);
    uint32_t n = 0;
    for (uint32_t id = 0;
         (id = find(
              &r, id,
              (struct step){
                  .kind = WEFT_EVENT_RESUMED, .port = PAUSED_PORT, .priority = 3, .detail = WEFT_EVENT_BY_TIME + 1}));
         n++)
        assert_int_equal(at(&r, id)->value, LONGEST_PS);
    assert_true(n > 0);
    assert_lossless(&r);
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rdma_write),
        cmocka_unit_test(ecn),
        cmocka_unit_test(wred),
        cmocka_unit_test(not_ecn_capable),
        cmocka_unit_test(cnps_do_not_wait),
        cmocka_unit_test(pfc),
        cmocka_unit_test(pfc_from_a_slow_host),
        cmocka_unit_test(one_class_is_paused_as_a_whole),
        cmocka_unit_test(a_pause_is_refreshed),
        cmocka_unit_test(a_pause_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
