// SPDX-License-Identifier: Apache-2.0
// The events of whole runs: causes precede effects, they do not depend on the number of threads, and known chains of
// causes are found.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "box/dsf/dsf_outcome.h"
#include "run.h"

/// Two racks send to one over a spine; the traffic to gpu-c is twice what its link carries.
static const char cascade[] = "topology:\n"
                              "  kind: list\n"
                              "  nodes:\n"
                              "    - {name: rail-a, role: switch}\n"
                              "    - {name: rail-b, role: switch}\n"
                              "    - {name: rail-c, role: switch}\n"
                              "    - {name: spine, role: switch}\n"
                              "    - {name: gpu-a, role: host}\n"
                              "    - {name: gpu-b, role: host}\n"
                              "    - {name: gpu-c, role: host}\n"
                              "  links:\n"
                              "    - {from: gpu-a, to: rail-a, rate: 100Gbps}\n"
                              "    - {from: gpu-b, to: rail-b, rate: 100Gbps}\n"
                              "    - {from: gpu-c, to: rail-c, rate: 100Gbps}\n"
                              "    - {from: rail-a, to: spine}\n"
                              "    - {from: rail-b, to: spine}\n"
                              "    - {from: rail-c, to: spine}\n"
                              "switch: {buffer: {kind: static, size: 300KB, xoff: 200KB, xon: 150KB}}\n"
                              "workload:\n"
                              "  - {kind: flow, src: gpu-a, dst: gpu-c, size: 4MB}\n"
                              "  - {kind: flow, src: gpu-b, dst: gpu-c, size: 4MB}\n"
                              "run: {until: 150us}\n";

/// Four senders and DCQCN: marks, CNPs, rates.
static const char marking[] =
    "topology: {kind: single, hosts: 5, rate: 100Gbps, delay: 500ns}\n"
    "switch: {buffer: {kind: static, size: 4MB, xoff: 3MB, xon: 2MB}, aqm: {kind: wred, min: 50KB, max: 200KB, "
    "max_probability: 20%, drop: 1MB}}\n"
    "host: {cc: dcqcn}\n"
    "workload: [{kind: incast, sources: host-0..3, dst: host-4, size: 4MB}]\n"
    "run: {until: 3ms}\n";

/// A link fails and comes back during the run; without PFC a full buffer drops.
static const char losses[] =
    "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 2, rate: 100Gbps, delay: 500ns}\n"
    "switch: {pfc: {priorities: none}, buffer: {kind: static, size: 60KB, xoff: 50KB, xon: 40KB}}\n"
    "host: {pfc: {priorities: none}, timeout: 100us}\n"
    "events: [{at: 20us, link: leaf-0--spine-0, state: down}, {at: 60us, link: leaf-0--spine-0, state: up}]\n"
    "workload:\n"
    "  - {kind: flow, src: host-0, dst: host-2, size: 1MB}\n"
    "  - {kind: flow, src: host-1, dst: host-2, size: 1MB}\n"
    "run: {detection: 10us, until: 300us}\n";

static const struct weft_event *at(const struct weft_outcome *o, uint32_t id) {
    assert_in_range(id, 1, o->recorded);
    return &o->record[id - 1];
}

/// Events of a kind; *ret_first the id of the first.
static uint32_t count(const struct weft_outcome *o, enum weft_event_kind kind, uint32_t *ret_first) {
    uint32_t n = 0;
    for (uint32_t id = 1; id <= o->recorded; id++) {
        if (at(o, id)->kind != kind) continue;
        if (!n++ && ret_first) *ret_first = id;
    }
    return n;
}

static void assert_port(const struct run *r, uint32_t port, const char *name) {
    char text[128];
    weft_topology_port_name(r->topology, port, text, sizeof text);
    assert_string_equal(text, name);
}

static void assert_well_formed(const struct run *r, const struct weft_outcome *o) {
    for (uint32_t id = 1; id <= o->recorded; id++) {
        const struct weft_event *e = at(o, id), *before = id > 1 ? at(o, id - 1) : e;
        assert_true(before->time_ps <= e->time_ps);
        assert_true(e->cause < id && e->begins < id);
        assert_in_range(e->kind, 0, WEFT_EVENT_KINDS - 1);
        assert_int_equal(r->topology->port[e->port].node, e->node);
        assert_true(e->flow == WEFT_NONE || e->flow < o->flows);
    }
}

static void assert_same_events(const struct weft_outcome *a, const struct weft_outcome *b) {
    assert_int_equal(a->recorded, b->recorded);
    assert_int_equal(a->unrecorded, b->unrecorded);
    for (uint32_t i = 0; i < a->recorded; i++) {
        const struct weft_event *x = &a->record[i], *y = &b->record[i];
        assert_true(x->time_ps == y->time_ps && x->value == y->value && x->more == y->more);
        assert_true(x->cause == y->cause && x->begins == y->begins && x->node == y->node && x->port == y->port);
        assert_true(x->flow == y->flow && x->qp == y->qp && x->kind == y->kind && x->priority == y->priority &&
                    x->detail == y->detail);
    }
}

/// With 1, 2 and 3 threads; returns the events of 1.
static struct weft_outcome *record(struct run *r, const char *text) {
    struct weft_outcome *o = run_recorded(r, 1, text);
    assert_well_formed(r, o);
    for (uint32_t threads = 2; threads <= 3; threads++) {
        struct weft_outcome *again = run_recorded(r, threads, text);
        assert_same_events(o, again);
        weft_outcome_free(again);
    }
    return o;
}

static void nothing_is_recorded_unless_asked_for(void **state) {
    struct run r = run_once(cascade);
    assert_int_equal(r.outcome->recorded, 0);
    run_free(&r);
}

// gpu-a's NIC is paused by rail-a, whose uplink to the spine is paused by the spine, whose downlink to rail-c is paused
// by rail-c, whose link to gpu-c is too slow.
static void a_pause_has_the_chain_of_its_causes(void **state) {
    struct run r = run_once(cascade);
    struct weft_outcome *o = record(&r, cascade);
    uint32_t gpu = weft_topology_find_port(r.topology, "gpu-a/0"), id = 0;
    for (uint32_t i = 1; i <= o->recorded && !id; i++)
        if (at(o, i)->kind == WEFT_EVENT_PAUSED && at(o, i)->port == gpu) id = i;
    static const struct {
        enum weft_event_kind kind;
        const char *port;
    } chain[] = {
        {WEFT_EVENT_PAUSED, "gpu-a/0"},      {WEFT_EVENT_PAUSE_RECEIVED, "gpu-a/0"},
        {WEFT_EVENT_PAUSE_SENT, "rail-a/0"}, {WEFT_EVENT_XOFF, "rail-a/0"},
        {WEFT_EVENT_PAUSED, "rail-a/1"},     {WEFT_EVENT_PAUSE_RECEIVED, "rail-a/1"},
        {WEFT_EVENT_PAUSE_SENT, "spine/0"},  {WEFT_EVENT_XOFF, "spine/0"},
        {WEFT_EVENT_PAUSED, "spine/2"},      {WEFT_EVENT_PAUSE_RECEIVED, "spine/2"},
        {WEFT_EVENT_PAUSE_SENT, "rail-c/1"}, {WEFT_EVENT_XOFF, "rail-c/1"},
        {WEFT_EVENT_CONGESTED, "rail-c/0"},
    };
    for (size_t k = 0; k < sizeof chain / sizeof *chain; k++) {
        const struct weft_event *e = at(o, id);
        assert_string_equal(weft_event_infos[e->kind].name, weft_event_infos[chain[k].kind].name);
        assert_port(&r, e->port, chain[k].port);
        assert_int_equal(e->priority, 3);
        if (e->kind == WEFT_EVENT_PAUSE_SENT) {
            assert_int_equal(e->value, 65535);
            assert_int_equal(e->detail, 1 << 3);
        }
        if (e->kind == WEFT_EVENT_XOFF) assert_true(e->value > 200000);
        id = e->cause;
    }
    assert_int_equal(id, 0);
    // Both flows are in the queue to gpu-c.
    assert_int_equal(count(o, WEFT_EVENT_CONGESTED_BY, &id), 2);
    assert_int_not_equal(at(o, id)->flow, at(o, id + 1)->flow);
    weft_outcome_free(o);
    run_free(&r);
}

static void pauses_and_counters_agree(void **state) {
    struct run r = run_once(cascade);
    struct weft_outcome *o = run_recorded(&r, 1, cascade);
    const struct weft_counters sum = weft_outcome_counters(o);
    uint64_t sent = sum.pfc_tx_xoff + sum.pfc_tx_xon, received = sum.pfc_rx_xoff + sum.pfc_rx_xon, told_ps = 0;
    for (uint32_t id = 1; id <= o->recorded; id++) {
        const struct weft_event *e = at(o, id);
        if (e->kind == WEFT_EVENT_RESUMED) told_ps += e->value;
        if (e->kind == WEFT_EVENT_PAUSE_RECEIVED) assert_int_equal(at(o, e->cause)->more, e->time_ps);
        if (e->kind != WEFT_EVENT_PAUSED) continue;
        bool over = false;
        for (uint32_t k = id; k <= o->recorded && !over; k++)
            over = at(o, k)->begins == id;
        if (!over) told_ps += o->sim_time_ps - e->time_ps;
    }
    assert_true(sent > 4);
    assert_int_equal(count(o, WEFT_EVENT_PAUSE_SENT, NULL), sent);
    assert_int_equal(count(o, WEFT_EVENT_PAUSE_RECEIVED, NULL), received);
    assert_int_equal(told_ps, sum.paused_ps);
    weft_outcome_free(o);
    run_free(&r);
}

// Many queue pairs are marked at one port, time after time: a mark each is told from one beginning to the next end.
// Each queue that exceeds a threshold is told to be back below it.
static void marks_and_counters_agree(void **state) {
    enum { QPS = 40, SENDERS = 5 };
    char text[512];
    snprintf(
        text, sizeof text,
        "topology: {kind: single, hosts: %u, rate: 100Gbps, delay: 500ns}\n"
        "switch: {aqm: {kind: wred, min: 20KB, max: 100KB, max_probability: 100%%}}\n"
        "host: {cc: none}\n"
        "workload: [{kind: incast, sources: \"host-1..%u\", dst: host-0, size: 800KB, qps: %u, repeat: 3, interval: "
        "600us}]\n",
        SENDERS + 1, SENDERS, QPS);
    struct run r = run_once(text);
    struct weft_outcome *o = run_recorded(&r, 1, text);
    uint32_t out = weft_topology_find_port(r.topology, "switch-0/0"), flows = 0, first = 0;
    uint64_t marks = 0;
    for (uint32_t id = 1; id <= o->recorded; id++) {
        const struct weft_event *e = at(o, id), *before = e->begins ? at(o, e->begins) : NULL;
        if (e->kind == WEFT_EVENT_MARKING_BEGAN) {
            assert_int_equal(e->port, out);
            assert_int_equal(at(o, e->cause)->kind, WEFT_EVENT_QUEUE_ABOVE);
            first = id;
            flows = 0;
        } else if (e->kind == WEFT_EVENT_FLOW_MARKED) {
            assert_int_equal(e->cause, first);
            if (!flows++) assert_int_equal(e->qp, at(o, first)->qp);
            for (uint32_t k = first + 1; k < id; k++)
                assert_false(at(o, k)->kind == WEFT_EVENT_FLOW_MARKED && at(o, k)->qp == e->qp);
        } else if (e->kind == WEFT_EVENT_MARKING_ENDED) {
            assert_int_equal(e->begins, first);
            assert_true(e->value >= flows && flows > 0);
            marks += e->value;
        } else if (e->kind == WEFT_EVENT_QUEUE_BELOW) {
            assert_int_equal(before->kind, WEFT_EVENT_QUEUE_ABOVE);
            assert_int_equal(before->detail, e->detail);
            assert_int_equal(before->more, e->more);
            assert_true(before->value > e->more && e->value <= e->more);
        }
    }
    assert_true(count(o, WEFT_EVENT_FLOW_MARKED, NULL) > QPS * SENDERS);
    assert_int_equal(marks, weft_outcome_at(o, out, 3)->ecn_marked);
    assert_true(count(o, WEFT_EVENT_MARKING_BEGAN, NULL) > 1);
    assert_int_equal(count(o, WEFT_EVENT_MARKING_BEGAN, NULL), count(o, WEFT_EVENT_MARKING_ENDED, NULL));
    assert_true(count(o, WEFT_EVENT_QUEUE_ABOVE, NULL) > 3);
    assert_int_equal(count(o, WEFT_EVENT_QUEUE_ABOVE, NULL), count(o, WEFT_EVENT_QUEUE_BELOW, NULL));
    weft_outcome_free(o);
    run_free(&r);
}

// A rate was cut because a CNP came, because one was sent, because the flow was marked, because the queue marks,
// because it is above WRED's min.
static void a_cut_has_the_chain_of_its_causes(void **state) {
    struct run r = run_once(marking);
    struct weft_outcome *o = record(&r, marking);
    static const enum weft_event_kind chain[] = {
        WEFT_EVENT_RATE_CUT,    WEFT_EVENT_CNP_RECEIVED,  WEFT_EVENT_CNP_SENT,
        WEFT_EVENT_FLOW_MARKED, WEFT_EVENT_MARKING_BEGAN, WEFT_EVENT_QUEUE_ABOVE,
    };
    uint32_t id = 0;
    assert_true(count(o, WEFT_EVENT_RATE_CUT, &id) >= 4);
    for (size_t k = 0; k < sizeof chain / sizeof *chain; k++) {
        assert_string_equal(weft_event_infos[at(o, id)->kind].name, weft_event_infos[chain[k]].name);
        id = at(o, id)->cause;
    }
    uint64_t sent = count(o, WEFT_EVENT_CNP_SENT, NULL), marks = 0;
    assert_int_equal(sent, o->cnps);
    assert_int_equal(count(o, WEFT_EVENT_CNP_RECEIVED, NULL), sent);
    for (uint32_t i = 1; i <= o->recorded; i++) {
        const struct weft_event *e = at(o, i);
        if (e->kind == WEFT_EVENT_MARKING_ENDED) marks += e->value;
        if (e->kind == WEFT_EVENT_RATE_CUT) assert_true(e->value < e->more);
        if (e->kind == WEFT_EVENT_RATE_RAISED) assert_true(e->value > e->more);
        if (e->kind == WEFT_EVENT_QUEUE_ABOVE) assert_true(e->value > e->more);
        if (e->kind == WEFT_EVENT_QUEUE_BELOW) {
            assert_true(e->value <= e->more);
            assert_int_equal(at(o, e->begins)->kind, WEFT_EVENT_QUEUE_ABOVE);
            assert_int_equal(at(o, e->begins)->detail, e->detail);
        }
    }
    assert_int_equal(marks, run_counters(&r, "switch-0/4", 3)->ecn_marked); // the queue is empty at the end
    assert_true(count(o, WEFT_EVENT_RATE_RAISED, NULL) > 0);
    weft_outcome_free(o);
    run_free(&r);
}

/// 20 km: many CNPs of a queue pair are in flight at the same time. The switch of the receiver marks; nothing waits on
/// the return path.
#define FAR                                                                                                            \
    "topology:\n"                                                                                                      \
    "  kind: list\n"                                                                                                   \
    "  nodes:\n"                                                                                                       \
    "    - {name: here, role: switch}\n"                                                                               \
    "    - {name: there, role: switch}\n"                                                                              \
    "    - {name: gpu-a, role: host}\n"                                                                                \
    "    - {name: gpu-b, role: host}\n"                                                                                \
    "    - {name: gpu-c, role: host}\n"                                                                                \
    "  links:\n"                                                                                                       \
    "    - {from: gpu-a, to: here, rate: 100Gbps}\n"                                                                   \
    "    - {from: here, to: there, rate: 100Gbps, delay: 100us}\n"                                                     \
    "    - {from: gpu-b, to: there, rate: 100Gbps}\n"                                                                  \
    "    - {from: gpu-c, to: there, rate: 100Gbps}\n"                                                                  \
    "workload: [{kind: incast, sources: \"gpu-[ab]\", dst: gpu-c, size: 8MB}]\n"                                       \
    "run: {until: 2ms}\n"

static const char far_cnps[] =
    FAR "switch: {buffer: {kind: static, size: 40MB, xoff: 30MB, xon: 20MB}, aqm: {kind: wred, min: 20KB, "
        "max: 50KB, max_probability: 50%, drop: 30MB}}\n"
        "host: {cc: dcqcn, cnp_interval: 4us}\n";

/// Messages are lost too.
static const char far_messages[] = FAR
    "switch: {buffer: {kind: static, size: 40MB, xoff: 30MB, xon: 20MB}, sfc: {kind: fixed, threshold: 20KB, pause: "
    "1us, interval: 4us}}\n"
    "events:\n"
    "  - {at: 300us, link: here->there, state: down}\n"
    "  - {at: 320us, link: here->there, state: up}\n";

/// For queue pair 0: the CNP that arrived is the one sent little more than 100 us ago.
static void assert_sent_is_received(const char *text, enum weft_event_kind kind, enum weft_event_kind arrival) {
    struct run r = run_once(text);
    struct weft_outcome *o = record(&r, text);
    uint32_t sent = 0, most = 0, *causes = calloc(o->recorded + 1, sizeof *causes);
    weft_time_ps way_ps[2] = {0};
    assert_non_null(causes);
    for (uint32_t id = 1; id <= o->recorded; id++) {
        const struct weft_event *e = at(o, id);
        if (e->qp != 0) continue;
        if (e->kind == kind) sent++;
        if (e->kind != arrival) continue;
        const struct weft_event *cause = at(o, e->cause);
        assert_int_equal(cause->kind, kind);
        assert_int_equal(cause->qp, e->qp);
        assert_int_equal(causes[e->cause]++, 0);
        assert_int_equal(e->more, 0);
        weft_time_ps way = e->time_ps - cause->time_ps;
        if (!way_ps[0] || way < way_ps[0]) way_ps[0] = way;
        if (way > way_ps[1]) way_ps[1] = way;
        if (--sent > most) most = sent;
    }
    assert_true(most > 10); // in flight besides the one that arrived
    assert_in_range(way_ps[0], 100 * WEFT_PS_PER_US, way_ps[1]);
    assert_in_range(way_ps[1], way_ps[0], 102 * WEFT_PS_PER_US);
    free(causes);
    weft_outcome_free(o);
    run_free(&r);
}

static void a_cnp_received_is_that_one_which_was_sent(void **state) {
    assert_sent_is_received(far_cnps, WEFT_EVENT_CNP_SENT, WEFT_EVENT_CNP_RECEIVED);
}

static void a_message_received_is_that_one_which_was_sent(void **state) {
    assert_sent_is_received(far_messages, WEFT_EVENT_SFC_SENT, WEFT_EVENT_SFC_RECEIVED);
}

/// Source flow control towards two NICs, one of which does not understand the messages: its switch pauses it.
static const char messages[] =
    "topology: {kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 2, rate: 100Gbps, spine_rate: 400Gbps, delay: "
    "500ns}\n"
    "switch: {buffer: {kind: static, size: 4MB, xoff: 3MB, xon: 2MB}, sfc: {kind: fixed, threshold: 100KB, pause: "
    "10us, "
    "interval: 10us}}\n"
    "devices: [{match: host-1, host: {sfc: false}}]\n"
    "workload: [{kind: incast, sources: host-0..1, dst: host-2, size: 1MB}]\n";

static void a_message_has_its_queue_as_cause(void **state) {
    struct run r = run_once(messages);
    struct weft_outcome *o = record(&r, messages);
    const struct weft_counters sum = weft_outcome_counters(o);
    uint64_t sent = sum.sfc_sent, proxied = sum.sfc_proxied, received = sum.sfc_received;
    assert_true(received && proxied);
    assert_int_equal(count(o, WEFT_EVENT_SFC_SENT, NULL), sent);
    assert_int_equal(count(o, WEFT_EVENT_SFC_RECEIVED, NULL), received + proxied);
    uint32_t id = 0;
    assert_true(count(o, WEFT_EVENT_PAUSED, &id));
    static const struct {
        enum weft_event_kind kind;
        const char *port;
    } chain[] = {{WEFT_EVENT_PAUSED, "host-1/0"},
                 {WEFT_EVENT_PAUSE_RECEIVED, "host-1/0"},
                 {WEFT_EVENT_PAUSE_SENT, "leaf-0/1"},
                 {WEFT_EVENT_SFC_RECEIVED, "leaf-0/1"},
                 {WEFT_EVENT_SFC_SENT, "leaf-1/0"}};
    for (size_t k = 0; k < sizeof chain / sizeof *chain; k++) {
        const struct weft_event *e = at(o, id);
        assert_string_equal(weft_event_infos[e->kind].name, weft_event_infos[chain[k].kind].name);
        assert_port(&r, e->port, chain[k].port);
        if (e->kind == WEFT_EVENT_SFC_SENT) assert_true(e->more > 100000 && e->value == 10000);
        id = e->cause;
    }
    weft_outcome_free(o);
    run_free(&r);
}

static void drops_are_summed_by_reason(void **state) {
    struct run r = run_once(losses);
    struct weft_outcome *o = record(&r, losses);
    uint64_t packets[WEFT_DROPS] = {0}, bytes[WEFT_DROPS] = {0};
    for (uint32_t id = 1; id <= o->recorded; id++) {
        const struct weft_event *e = at(o, id);
        if (e->kind != WEFT_EVENT_DROPPED) continue;
        packets[e->detail] += e->more;
        bytes[e->detail] += e->value;
        if (e->detail == WEFT_DROP_LINK_DOWN) assert_int_equal(at(o, e->cause)->kind, WEFT_EVENT_LINK_DOWN);
        if (e->detail == WEFT_DROP_BUFFER_FULL) assert_int_equal(at(o, e->cause)->kind, WEFT_EVENT_CONGESTED);
    }
    for (unsigned d = 0; d < WEFT_DROPS; d++) {
        assert_int_equal(packets[d], o->drops[d]);
        assert_int_equal(bytes[d], o->drop_bytes[d]);
    }
    assert_true(packets[WEFT_DROP_LINK_DOWN] && packets[WEFT_DROP_BUFFER_FULL] && packets[WEFT_DROP_OUT_OF_ORDER]);
    uint32_t down = 0, up = 0;
    assert_int_equal(count(o, WEFT_EVENT_LINK_DOWN, &down), 1);
    assert_int_equal(count(o, WEFT_EVENT_LINK_UP, &up), 1);
    assert_int_equal(at(o, up)->begins, down);
    weft_outcome_free(o);
    run_free(&r);
}

/// Bit errors hit pause frames too, which belong to no queue pair.
static const char noise[] = "topology: {kind: single, hosts: 4, rate: 100Gbps, delay: 500ns, bit_error_rate: 0.0005}\n"
                            "switch: {buffer: {kind: static, size: 300KB, xoff: 20KB, xon: 10KB}}\n"
                            "host: {mtu: 64B, timeout: 20us}\n"
                            "workload: [{kind: incast, sources: host-0..2, dst: host-3, size: 100KB}]\n"
                            "run: {until: 200us}\n";

static void frames_of_no_flow_are_lost_too(void **state) {
    struct run r = run_once(noise);
    struct weft_outcome *o = record(&r, noise);
    uint64_t none = 0, sent = count(o, WEFT_EVENT_PAUSE_SENT, NULL),
             received = count(o, WEFT_EVENT_PAUSE_RECEIVED, NULL);
    for (uint32_t id = 1; id <= o->recorded; id++) {
        const struct weft_event *e = at(o, id);
        if (e->kind == WEFT_EVENT_DROPPED && e->qp == WEFT_NONE) none += e->more;
        if (e->kind == WEFT_EVENT_PAUSE_RECEIVED) assert_int_equal(at(o, e->cause)->more, e->time_ps);
    }
    assert_true(none > 0 && sent > received);
    weft_outcome_free(o);
    run_free(&r);
}

/// Hosts that have PFC on another priority do not obey the pauses of their switch.
static const char slip[] = "topology: {kind: single, hosts: 3, rate: 100Gbps, delay: 500ns}\n"
                           "switch: {buffer: {kind: static, size: 100KB, xoff: 50KB, xon: 40KB}}\n"
                           "host: {pfc: {priorities: 4}, timeout: 100us}\n"
                           "workload: [{kind: incast, sources: host-0..1, dst: host-2, size: 300KB}]\n"
                           "run: {until: 300us}\n";

static void a_frame_that_is_not_obeyed_says_so(void **state) {
    struct run r = run_once(slip);
    struct weft_outcome *o = record(&r, slip);
    uint32_t id = 0;
    assert_true(count(o, WEFT_EVENT_PAUSE_RECEIVED, &id));
    assert_int_equal(at(o, id)->more, 0);
    assert_int_equal(count(o, WEFT_EVENT_PAUSED, NULL), 0);
    weft_outcome_free(o);
    run_free(&r);
}

/// Three interface nodes send by one lane each to a fabric node that has one lane to the interface node they send to.
#define FUNNEL                                                                                                         \
    "topology: {kind: list, nodes: [{name: fn, role: switch, box: dsf_fabric}, {name: x, role: switch, box: "          \
    "dsf_interface}, {name: a, role: switch, box: dsf_interface}, {name: b, role: switch, box: dsf_interface}, "       \
    "{name: c, role: switch, box: dsf_interface}, {name: hx, role: host}, {name: ha, role: host}, {name: hb, role: "   \
    "host}, {name: hc, role: host}], links: [{from: hx, to: x, rate: 400Gbps}, {from: ha, to: a, rate: 400Gbps}, "     \
    "{from: hb, to: b, rate: 400Gbps}, {from: hc, to: c, rate: 400Gbps}, {from: x, to: fn, rate: 100Gbps}, {from: a, " \
    "to: fn, rate: 100Gbps}, {from: b, to: fn, rate: 100Gbps}, {from: c, to: fn, rate: 100Gbps}]}\n"                   \
    "switch: {buffer: {kind: dynamic, total: 4GB, alpha: 2}}\n"                                                        \
    "workload: [{kind: incast, sources: 'ha,hb,hc', dst: hx, size: 1MB}]\n"

static const char stops[] = FUNNEL "host: {cc: none}\n"
                                   "interface_node: {rci: off, reassembly_timeout: 1s, reassembly_buffer: 64MiB}\n"
                                   "fabric_node: {llfc: on, llfc_stop: 100, llfc_go: 80, mark: 65535}\n";

static void a_lane_stops_because_it_was_told(void **state) {
    struct run r = run_once(stops);
    struct weft_outcome *o = record(&r, stops);
    uint64_t told = 0, stopped_ps = 0;
    for (uint32_t id = 1; id <= o->recorded; id++) {
        const struct weft_event *e = at(o, id);
        told += e->kind == WEFT_EVENT_LANE_STOP_SENT && e->value;
        if (e->kind != WEFT_EVENT_LANE_STOPPED && e->kind != WEFT_EVENT_LANE_RESUMED) continue;
        const struct weft_event *sent = at(o, e->cause);
        assert_int_equal(sent->kind, WEFT_EVENT_LANE_STOP_SENT);
        assert_int_equal(sent->value, e->kind == WEFT_EVENT_LANE_STOPPED);
        assert_int_equal(sent->port, r.topology->port[e->port].peer);
        assert_true(sent->more == e->time_ps);
        if (e->kind == WEFT_EVENT_LANE_STOPPED) continue;
        assert_int_equal(at(o, e->begins)->kind, WEFT_EVENT_LANE_STOPPED);
        assert_true(e->value == e->time_ps - at(o, e->begins)->time_ps);
        stopped_ps += e->value;
    }
    assert_true(told >= 3 && told == weft_outcome_dsf(o)->llfc_stops); // some FIFO stops lanes
    assert_int_equal(count(o, WEFT_EVENT_LANE_RESUMED, NULL), count(o, WEFT_EVENT_LANE_STOPPED, NULL));
    assert_true(stopped_ps == weft_outcome_dsf(o)->llfc_stopped_ps);
    weft_outcome_free(o);
    run_free(&r);
}

static const char throttled[] = FUNNEL "host: {cc: none}\nfabric_node: {mark: 64}\n";

/// The box grants 4 credits while its lane takes one: the FIFO before it grows, and then credits are slower.
static void a_throttle_begins_and_ends(void **state) {
    struct run r = run_once(throttled);
    struct weft_outcome *o = record(&r, throttled);
    uint32_t began = 0, ended = 0;
    for (uint32_t id = 1; id <= o->recorded; id++) {
        const struct weft_event *e = at(o, id);
        if (e->kind == WEFT_EVENT_THROTTLE_BEGAN) {
            assert_int_equal(began, ended);
            assert_in_range(e->more, 200, 1000);
            assert_in_range(e->value, 1, 7);
            assert_true(e->more >= 800 ? e->value == 7 : e->value == e->more / 100 - 1);
            assert_port(&r, e->port, "x/0");
            began++;
        } else if (e->kind == WEFT_EVENT_THROTTLE_ENDED) {
            assert_int_equal(at(o, e->begins)->kind, WEFT_EVENT_THROTTLE_BEGAN);
            assert_true(e->value >= at(o, e->begins)->value);
            ended++;
        }
    }
    assert_true(began > 0 && weft_outcome_dsf(o)->cells_marked > 0);
    weft_outcome_free(o);
    run_free(&r);
}

static const char cut[] = FUNNEL "host: {cc: none, timeout: never}\n"
                                 "interface_node: {reassembly_timeout: 50us, credit_watchdog: 200us}\n"
                                 "events: [{at: 20us, link: x--fn, state: down}]\n"
                                 "run: {until: 400us}\n";

/// A link fails: its cells are lost, then packets that miss cells, then what waits for credits that do not come.
static void what_a_failed_link_leads_to_comes_in_order(void **state) {
    struct run r = run_once(cut);
    struct weft_outcome *o = record(&r, cut);
    uint64_t packets[WEFT_DROPS] = {0}, bytes[WEFT_DROPS] = {0}, cells = 0, unreachable = 0;
    weft_time_ps given_up = WEFT_TIME_NEVER, purged = WEFT_TIME_NEVER;
    for (uint32_t id = 1; id <= o->recorded; id++) {
        const struct weft_event *e = at(o, id);
        if (e->kind == WEFT_EVENT_VOQ_PURGED) {
            if (purged == WEFT_TIME_NEVER) purged = e->time_ps;
            assert_port(&r, (uint32_t)e->more, "x/0");
            assert_true(e->value > 0);
        }
        if (e->kind == WEFT_EVENT_CELLS_LOST) {
            bytes[e->detail] += e->value;
            *(e->detail == WEFT_DROP_NO_ROUTE ? &unreachable : &cells) += e->more;
            if (e->detail == WEFT_DROP_LINK_DOWN) assert_int_equal(at(o, e->cause)->kind, WEFT_EVENT_LINK_DOWN);
        }
        if (e->kind != WEFT_EVENT_DROPPED) continue;
        packets[e->detail] += e->more;
        bytes[e->detail] += e->value;
        if (e->detail == WEFT_DROP_CREDIT_WATCHDOG) assert_int_equal(at(o, e->cause)->kind, WEFT_EVENT_VOQ_PURGED);
        if (e->detail != WEFT_DROP_REASSEMBLY) continue;
        if (given_up == WEFT_TIME_NEVER) given_up = e->time_ps;
        assert_int_equal(at(o, e->cause)->kind, WEFT_EVENT_CELLS_LOST);
    }
    for (unsigned d = 0; d < WEFT_DROPS; d++) {
        assert_int_equal(packets[d], o->drops[d]);
        assert_int_equal(bytes[d], o->drop_bytes[d]);
    }
    const struct weft_dsf_outcome *dsf = weft_outcome_dsf(o);
    assert_int_equal(cells, dsf->cells_lost + dsf->cells_dropped + dsf->cells_late);
    assert_int_equal(unreachable, dsf->cells_unreachable);
    assert_int_equal(packets[WEFT_DROP_REASSEMBLY], dsf->packets_lost);
    assert_int_equal(count(o, WEFT_EVENT_VOQ_PURGED, NULL), dsf->voqs_purged);
    // Its first cells arrived before the link failed; after that there are no more credits.
    assert_in_range(given_up, 50 * WEFT_PS_PER_US, 75 * WEFT_PS_PER_US);
    assert_in_range(purged, 200 * WEFT_PS_PER_US, 225 * WEFT_PS_PER_US);
    weft_outcome_free(o);
    run_free(&r);
}

static void what_exceeds_the_limit_is_counted(void **state) {
    struct run r = run_once(cascade);
    struct weft_outcome *all = run_recorded(&r, 1, cascade);
    r.scenario->run.events_max = 10;
    struct weft_outcome *o = record(&r, cascade);
    assert_true(o->recorded <= 10 * r.topology->nodes && o->recorded + o->unrecorded >= all->recorded);
    assert_true(o->unrecorded > 0 && o->unrecorded_ps < o->sim_time_ps);
    weft_outcome_free(o);
    weft_outcome_free(all);
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_recorded_unless_asked_for),
        cmocka_unit_test(a_pause_has_the_chain_of_its_causes),
        cmocka_unit_test(pauses_and_counters_agree),
        cmocka_unit_test(marks_and_counters_agree),
        cmocka_unit_test(a_cut_has_the_chain_of_its_causes),
        cmocka_unit_test(a_cnp_received_is_that_one_which_was_sent),
        cmocka_unit_test(a_message_received_is_that_one_which_was_sent),
        cmocka_unit_test(a_message_has_its_queue_as_cause),
        cmocka_unit_test(drops_are_summed_by_reason),
        cmocka_unit_test(frames_of_no_flow_are_lost_too),
        cmocka_unit_test(a_frame_that_is_not_obeyed_says_so),
        cmocka_unit_test(a_lane_stops_because_it_was_told),
        cmocka_unit_test(a_throttle_begins_and_ends),
        cmocka_unit_test(what_a_failed_link_leads_to_comes_in_order),
        cmocka_unit_test(what_exceeds_the_limit_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
