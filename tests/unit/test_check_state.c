// SPDX-License-Identifier: Apache-2.0
// Every invariant that boxes check can be broken, and the check says so: a network is stopped in the middle of its
// traffic, where it is clean; one field is changed, and the check of its node must name the node and the quantity; the
// field is restored, and the check is silent again. A field is looked for where it is in use (a queue with packets).
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "box/box.h"
#include "box/dsf/dsf_fn.h"
#include "box/dsf/dsf_in.h"
#include "box/nic/nic.h"
#include "box/switch/switch.h"
#include "box/tin/tin.h"
#include "link/port_credit.h"
#include "run.h"
#include "sim/run.h"
#include "transport/reorder.h"

#define INCAST "workload: [{kind: incast, sources: 'host-1,host-2,host-3', dst: host-0, size: 1MB}]\n"
#define STAR "topology: {kind: single, hosts: 4}\n"
#define CLIQUE                                                                                                         \
    "run: {until: 40us}\ntopology: {kind: dragonfly, pods: 1, tins: 4, hosts_per_tin: 2, local_parallel: 1, "          \
    "local_ports: 3}\n"
#define DSF                                                                                                            \
    "run: {until: 45us}\ntopology: {kind: dsf_l1_zone, rdsws: 4, hosts_per_rdsw: 2, rails: 1, fdsws: 1, "              \
    "virtual_devices: 2}\nhost: {cc: none}\n"                                                                          \
    "workload: [{kind: incast, sources: 'host-2,host-3,host-4,host-5,host-6', dst: host-0, size: 1MB}]\n"

/// Networks, each with what the others do not have.
static const char *const networks[] = {
    STAR "run: {until: 30us}\nhost: {cc: none}\nswitch: {buffer: {kind: static, size: 200KB, xoff: 50KB, xon: "
         "40KB}}\n" INCAST,
    STAR "run: {until: 30us}\nswitch: {queueing: voq}\n" INCAST,
    STAR "run: {until: 30us}\nswitch: {credit: cbfc, pfc: {priorities: []}}\nhost: {pfc: {priorities: []}}\n" INCAST,
    STAR "run: {until: 30us}\nhost: {drain_rate: 10Gbps, drain_slow_every: 20us, drain_slow_time: 10us}\n" INCAST,
    STAR "run: {until: 30us}\nhost: {transport: uet, cc: rccc}\n" INCAST,
    DSF,
    DSF "fabric_node: {llfc: on, llfc_stop: 8, llfc_go: 4, mark: 65535}\n"
        "interface_node: {rci: off, reassembly_timeout: 1s, train: 1}\n",
    CLIQUE "workload: [{kind: incast, sources: 'host-2,host-3,host-4,host-5,host-6,host-7', dst: host-0, size: 1MB}, "
           "{kind: permutation, size: 1MB}, {kind: permutation, size: 1MB}, {kind: permutation, size: 1MB}]\n",
    STAR "run: {until: 30us}\nhost: {send_latency: 1us, receive_latency: 1us, completion_latency: 20us, post_cost: "
         "100ns}\nworkload: [{kind: permutation, post: {depth: 4, messages: 1000, size: 4KiB}}]\n",
    "topology: {kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 2, host_rate: 100Gbps, spine_rate: 400Gbps}\n"
    "run: {until: 30us}\nhost: {cc: none}\nswitch: {forwarding: cut_through}\n" INCAST,
};
enum { SIMPLE, VOQ, CBFC, DRAIN, UET, FABRIC, LLFC, TINS, POSTING, CUT, NETWORKS = sizeof networks / sizeof *networks };

/// A bit of the state of a node; node WEFT_NONE: no field of that kind is in use.
struct field {
    uint32_t node;
    void *byte;
    uint8_t mask;
    void *also; ///< where the same bits are changed, too, for an invariant of three fields; NULL: nowhere
};
#define FIELD(node, of, mask) ((struct field){node, &(of), mask, NULL})
#define NO_FIELD ((struct field){.node = WEFT_NONE})

// --- where the fields are -----------------------------------------------------------------------------------------

#define EACH_NODE(net, kind, T, name)                                                                                  \
    for (uint32_t n = 0; n < (net)->topology->nodes; n++)                                                              \
        for (T *name = (net)->topology->node[n].box == (kind) ? (net)->engine.node[n].state : NULL; name; name = NULL)
#define EACH_SWITCH(net) EACH_NODE(net, WEFT_BOX_ETHERNET_SWITCH, struct weft__switch, sw)
#define EACH_NIC(net) EACH_NODE(net, WEFT_BOX_HOST, struct weft__nic, nic)
#define EACH_IN(net) EACH_NODE(net, WEFT_BOX_DSF_INTERFACE, struct weft__in, in)
#define EACH_FN(net) EACH_NODE(net, WEFT_BOX_DSF_FABRIC, struct weft__fn, fn)
#define EACH_TIN(net) EACH_NODE(net, WEFT_BOX_TIN, struct weft__tin, tin)

/// The first port and priority of a switch with packets in its queue, or the first with packets that came by it.
static struct weft__port_queue *full_queue(const struct weft__switch *sw, bool ingress, uint32_t *ret_port,
                                           uint32_t *ret_priority) {
    for (*ret_port = 0; *ret_port < sw->ports; ++*ret_port)
        for (*ret_priority = 0; *ret_priority < WEFT_PRIORITIES; ++*ret_priority) {
            struct weft__port_queue *queue = weft__port_queue_of(&sw->port[*ret_port], *ret_priority);
            if (ingress ? queue->group.level : queue->bytes) return queue;
        }
    return NULL;
}

/// Fields of the queue, port or switch of a full queue; `of` is an expression of queue, port, sw.
#define OF_QUEUE(name, ingress, of, mask)                                                                              \
    static struct field name(struct weft__network *net) {                                                              \
        uint32_t k, p;                                                                                                 \
        EACH_SWITCH(net) {                                                                                             \
            struct weft__port_queue *queue = full_queue(sw, ingress, &k, &p);                                          \
            struct weft__port *port = queue ? &sw->port[k] : NULL;                                                     \
            (void)port;                                                                                                \
            if (queue) return FIELD(n, of, mask);                                                                      \
        }                                                                                                              \
        return NO_FIELD;                                                                                               \
    }
OF_QUEUE(queue_bytes, false, queue->bytes, 1)
OF_QUEUE(queue_mark, false, port->ready, (uint8_t)(1u << p))
OF_QUEUE(ingress_level, true, queue->group.level, 1)
OF_QUEUE(pause_of_lossy, true, port->pfc_xoff, 1u << 7)
OF_QUEUE(pause_told, true, port->pfc_told, 1u << 6)
OF_QUEUE(pauses_counted, true, sw->ether.xoffs[p], 2)
OF_QUEUE(turn, false, port->turn_ps, 1)
OF_QUEUE(arbitrated_queued, false, sw->queued[1], 2)
OF_QUEUE(arbitrated_waiting, false, port->waiting, 4)
OF_QUEUE(arbitrated_set, false, *sw->waiting, (uint8_t)(1u << k))

static struct field pause_wish(struct weft__network *net) {
    uint32_t k, p;
    EACH_SWITCH(net) if (full_queue(sw, true, &k, &p)) {
        struct weft__port *port = &sw->port[k];
        return (struct field){n, &port->pfc_xoff, (uint8_t)(1u << p), &port->pfc_told};
    }
    return NO_FIELD;
}

/// Fields of something that one box in the loop has; `of` is used where `in_use` holds.
#define OF_BOX(name, EACH, in_use, of, mask)                                                                           \
    static struct field name(struct weft__network *net) {                                                              \
        EACH(net) {                                                                                                    \
            if (in_use) return FIELD(n, of, mask);                                                                     \
        }                                                                                                              \
        return NO_FIELD;                                                                                               \
    }
OF_BOX(kept_back, EACH_SWITCH, sw->deferred && sw->deferred[0].bytes, sw->deferred[0].time_ps, 1)
static bool is_sending(const struct weft__nic *nic) {
    return nic->sends && nic->end.hosts->sender[nic->send_qp[0]].started &&
           nic->end.hosts->sender[nic->send_qp[0]].next > nic->end.hosts->sender[nic->send_qp[0]].una;
}
#define SENDER nic->end.hosts->sender[nic->send_qp[0]]
#define RECEIVER nic->end.hosts->receiver[nic->receive_qp[0]]
OF_BOX(nic_pause, EACH_NIC, nic->port.paused,
       ((uint8_t *)&weft__port_pause_of(&nic->port, (uint32_t)__builtin_ctz(nic->port.paused))->since_ps)[6], 1)
OF_BOX(nic_paused_mark, EACH_NIC, true, nic->port.paused, 1)
OF_BOX(nic_ready_qps, EACH_NIC, is_sending(nic), nic->ready_qps, 1)
OF_BOX(nic_control, EACH_NIC, is_sending(nic), nic->control_mask, 4)
OF_BOX(nic_ready_list, EACH_NIC, is_sending(nic), nic->ready_mask, 64)
OF_BOX(sender_next, EACH_NIC, is_sending(nic), ((uint8_t *)&SENDER.next)[3], 0x80)
OF_BOX(sender_una, EACH_NIC, is_sending(nic), ((uint8_t *)&SENDER.una)[3], 0x80)
OF_BOX(sender_rate, EACH_NIC, is_sending(nic), ((uint8_t *)&SENDER.rate_bps)[6], 0xff)
OF_BOX(receiver_expected, EACH_NIC, nic->receives, ((uint8_t *)&RECEIVER.expected)[3], 0x80)
OF_BOX(receiver_bytes, EACH_NIC, nic->receives, ((uint8_t *)&RECEIVER.delivered_bytes)[6], 1)
OF_BOX(received_bytes, EACH_NIC, nic->received.n, nic->received_bytes[3], 1)
static struct field received_wish(struct weft__network *net) {
    EACH_NIC(net) if (nic->received.n) return (struct field){n, &nic->port.pfc_xoff, 1u << 3, &nic->port.pfc_told};
    return NO_FIELD;
}
#define SAMPLE nic->end.hosts->sample[nic->send_qp[0]]
/// Something that the NIC does later.
static struct weft__fifo *used_later(struct weft__nic *nic) {
    for (uint32_t k = 0; k < WEFT__NIC_LATERS; k++)
        if (nic->later[k].n) return &nic->later[k];
    return NULL;
}
#define LATER used_later(nic)
OF_BOX(later_time, EACH_NIC, LATER, ((uint8_t *)&LATER->head->packet[LATER->first].time_ps)[6], 1)
OF_BOX(posted_issued, EACH_NIC, nic->sends, ((uint8_t *)&SAMPLE.issued)[3], 0x40)
OF_BOX(posted_known, EACH_NIC, nic->sends, ((uint8_t *)&SENDER.posted)[3], 0x40)
OF_BOX(posted_seen, EACH_NIC, nic->sends, ((uint8_t *)&SAMPLE.seen)[3], 0x40)
OF_BOX(pull_waits, EACH_NIC, nic->pull && nic->receives, nic->pull->of[0].waits[WEFT__NIC_PULL_ASKED], 1)

OF_BOX(credit_left, EACH_NIC, nic->port.credit, ((uint8_t *)&nic->port.credit->left[3])[4], 1)
OF_BOX(credit_pause, EACH_NIC, nic->port.credit, nic->port.paused, 8)

/// A VOQ with packets.
static struct weft__voq *full_voq(struct weft__in *in) {
    for (uint32_t v = 0; v < in->voqs.n; v++)
        if (in->voq[v].fifo.n > 1) return &in->voq[v];
    return NULL;
}
static struct weft__in_stream *used_stream(struct weft__in *in) {
    for (uint32_t s = 0; s < in->streams; s++)
        if (in->stream[s].pending) return &in->stream[s];
    return NULL;
}
OF_BOX(voq_bytes, EACH_IN, full_voq(in), full_voq(in)->bytes, 1)
OF_BOX(voq_balance, EACH_IN, full_voq(in), ((uint8_t *)&full_voq(in)->balance)[7], 0x80) // it is overdrawn
OF_BOX(voq_state, EACH_IN, full_voq(in), full_voq(in)->state, 8)
OF_BOX(voq_hbm, EACH_IN, full_voq(in), ((uint8_t *)&full_voq(in)->hbm)[2], 1)
OF_BOX(voq_waits, EACH_IN, full_voq(in), full_voq(in)->waits, 1)
OF_BOX(in_bytes, EACH_IN, full_voq(in), in->voq_bytes, 1)
OF_BOX(in_hbm, EACH_IN, full_voq(in), in->hbm.bytes, 1)
OF_BOX(flow_ringed, EACH_IN, in->flows.n, in->flow[0].ringed, 1)
OF_BOX(flow_outstanding, EACH_IN, in->flows.n, ((uint8_t *)&in->flow[0].outstanding)[7], 0x80)
OF_BOX(flow_mask, EACH_IN, in->flows.n, in->port[0].ring_mask, 16)
OF_BOX(stream_pending, EACH_IN, used_stream(in), used_stream(in)->pending, 1)
OF_BOX(reassembly_bytes, EACH_IN, used_stream(in), in->reassembly_bytes, 1)
OF_BOX(output_bytes, EACH_IN, true, in->ether.queues[0].bytes, 1)
OF_BOX(lane_cells, EACH_FN, fn->llfc, fn->llfc->queues.queue[0].cells, 1)
OF_BOX(lane_stops, EACH_FN, fn->llfc, fn->llfc->stopped[0], 1)
OF_BOX(lane_counts, EACH_FN, true, ((uint8_t *)&fn->lanes.lane[0].tx_cells)[7], 1)

static uint32_t linked(const struct weft__tin *tin) {
    return (uint32_t)__builtin_ctzll(tin->gnet.links);
}
static struct weft__gnet_queue *input_fifo(struct weft__tin *tin) {
    for (uint32_t k = 0; k < 64; k++)
        if (tin->gnet.links >> k & 1 && tin->gnet.in[k].queue) return &tin->gnet.queues.queue[tin->gnet.in[k].queue];
    return NULL;
}
#define OUT tin->gnet.out[linked(tin)]
OF_BOX(tin_ingress, EACH_TIN, tin->packets, tin->ingress_bytes, 1)
OF_BOX(tin_announced, EACH_TIN, tin->announced.first != WEFT_NONE, tin->packet[tin->announced.first].is_asked_for, 1)
OF_BOX(tin_rts, EACH_TIN, tin->port[0].ready, tin->port[0].rts_bytes[3], 1)
OF_BOX(tin_rts_mark, EACH_TIN, tin->port[0].ready, tin->port[0].ready, 32)
OF_BOX(tin_fetching, EACH_TIN, tin->fetches, tin->port[0].fetching_bytes, 1)
OF_BOX(tin_egress, EACH_TIN, tin->fetches, tin->port[0].egress_bytes, 1)
OF_BOX(tin_whole, EACH_TIN, tin->fetching.first != WEFT_NONE, tin->fetch[tin->fetching.first].whole, 1)
OF_BOX(gnet_units, EACH_TIN, input_fifo(tin), input_fifo(tin)->units, 1)
OF_BOX(gnet_credits, EACH_TIN, true, OUT.credits[0], 0x40)
OF_BOX(gnet_creditable, EACH_TIN, true, OUT.creditable, 1)
OF_BOX(gnet_queued, EACH_TIN, true, OUT.queued, 1)
OF_BOX(gnet_depth, EACH_TIN, true, tin->gnet.depth[0][linked(tin)], 1)
OF_BOX(gnet_room, EACH_TIN, true, OUT.room, 1)
OF_BOX(gnet_requests, EACH_TIN, true, OUT.requests, 2)
OF_BOX(gnet_wanted, EACH_TIN, true, tin->gnet.wanted, (uint8_t)(1u << linked(tin)))
OF_BOX(gnet_slots, EACH_TIN, true, tin->gnet.cells.spare.word[0], 0x80)
OF_BOX(gnet_records, EACH_TIN, true, tin->gnet.queues.spare.word[0], 0x80)
OF_BOX(gnet_timers, EACH_TIN, true, tin->gnet.sending_armed, (uint8_t)(1u << linked(tin)))
OF_BOX(gnet_owed, EACH_TIN, true, tin->gnet.in[linked(tin)].owed[0], 0xff)

// --- one by one ---------------------------------------------------------------------------------------------------

static const struct row {
    uint32_t network;
    struct field (*find)(struct weft__network *net);
    const char *says;
} rows[] = {
    {SIMPLE, queue_bytes, "bytes in the queue"},
    {SIMPLE, queue_mark, "the port's mark that the queue has packets"},
    {SIMPLE, ingress_level, "bytes in the ingress buffer"},
    {VOQ, pause_wish, "whether its ingress buffer is above XOFF"},
    {SIMPLE, pause_of_lossy, "that are not lossless"},
    {SIMPLE, pause_told, "without a frame to be sent"},
    {SIMPLE, pauses_counted, "ports that want a pause"},
    {SIMPLE, turn, "the port's next turn"},
    {SIMPLE, nic_pause, "start of the pause"},
    {SIMPLE, nic_paused_mark, "whether the peer may pause the priority"},
    {SIMPLE, nic_ready_qps, "queue pairs counted as able to send"},
    {SIMPLE, nic_control, "the NIC's mark that control packets wait"},
    {SIMPLE, nic_ready_list, "the NIC's mark that queue pairs may send"},
    {SIMPLE, sender_next, "sender of queue pair"},
    {SIMPLE, sender_una, "sender of queue pair"},
    {SIMPLE, sender_rate, "rate of a queue pair"},
    {SIMPLE, receiver_expected, "receiver of queue pair"},
    {SIMPLE, receiver_bytes, "bytes delivered of a queue pair"},
    {VOQ, arbitrated_queued, "packets counted at the input"},
    {VOQ, arbitrated_waiting, "packets counted for the output"},
    {VOQ, arbitrated_set, "its mark among outputs with packets"},
    {VOQ, queue_bytes, "bytes in the queue"},
    {CUT, kept_back, "the frame kept back is complete"},
    {CBFC, credit_left, "credit left"},
    {CBFC, credit_pause, "the mark of a pause for lack of credit"},
    {DRAIN, received_bytes, "bytes in the receive buffer"},
    {DRAIN, received_wish, "the port's wish for a pause"},
    {POSTING, later_time, "timer of what the NIC does later"},
    {POSTING, posted_issued, "packets posted and not complete"},
    {POSTING, posted_known, "packets that the NIC knows of"},
    {POSTING, posted_seen, "packets whose completion the host has seen"},
    {UET, pull_waits, "senders that wait for credit"},
    {UET, sender_next, "sender of queue pair"},
    {UET, receiver_expected, "receiver of queue pair"},
    {FABRIC, voq_bytes, "bytes in the VOQ"},
    {FABRIC, voq_balance, "credit of the VOQ"},
    {FABRIC, voq_state, "the report of a VOQ"},
    {FABRIC, voq_hbm, "packets of the VOQ in HBM"},
    {FABRIC, voq_waits, "VOQs in the ring that waits for lanes"},
    {FABRIC, in_bytes, "bytes in all VOQs"},
    {FABRIC, in_hbm, "bytes in HBM"},
    {FABRIC, flow_ringed, "the mark of a VOQ in the ring"},
    {FABRIC, flow_outstanding, "whether the credit outstanding is negative"},
    {FABRIC, flow_mask, "the mark that VOQs ask for credit"},
    {FABRIC, stream_pending, "packets in reassembly"},
    {FABRIC, reassembly_bytes, "bytes in reassembly"},
    {FABRIC, output_bytes, "bytes in the output queues"},
    {FABRIC, lane_counts, "cells sent by the lane"},
    {LLFC, lane_cells, "cells counted in the queue of a lane"},
    {LLFC, lane_stops, "FIFOs that have stopped the lane"},
    {TINS, tin_ingress, "bytes in the ingress buffer of cells"},
    {TINS, tin_announced, "packets in the list of those announced"},
    {TINS, tin_rts, "bytes announced to the port"},
    {TINS, tin_rts_mark, "the mark that RTSs wait"},
    {TINS, tin_fetching, "bytes that the port fetches"},
    {TINS, tin_egress, "bytes in the egress buffer"},
    {TINS, tin_whole, "bytes that the port fetches"},
    {TINS, gnet_units, "credit units in an input's FIFO"},
    {TINS, gnet_credits, "credit"},
    {TINS, gnet_creditable, "the mark that a VC has credit for a cell"},
    {TINS, gnet_queued, "VCs of the output marked as queued"},
    {TINS, gnet_depth, "bytes of a VC at the output"},
    {TINS, gnet_room, "the mark that a VC has room at the output"},
    {TINS, gnet_requests, "inputs that request the output"},
    {TINS, gnet_wanted, "outputs marked as requested"},
    {TINS, gnet_slots, "slots of cells"},
    {TINS, gnet_records, "records of FIFOs"},
    {TINS, gnet_timers, "timers of ports in the row"},
    {TINS, gnet_owed, "credit units owed for a VC"},
};

static struct weft__check check_node(const struct weft__network *net, uint32_t node) {
    struct weft__check c = weft__check_of(net->topology->node[node].name);
    weft__box_of(&net->topology->node[node])->check_state(net, node, net->engine.conf.until_ps, &c);
    return c;
}

static void expect_clean(const struct weft__network *net) {
    for (uint32_t n = 0; n < net->topology->nodes; n++) {
        struct weft__check c = check_node(net, n);
        assert_string_equal(c.text, "");
    }
}

/// False: it does not, and stderr has the row.
static bool speaks(struct weft__network *net, const struct row *row) {
    struct field field = row->find(net);
    if (field.node == WEFT_NONE) {
        fprintf(stderr, "\"%s\" of network %u: nothing is in use\n", row->says, row->network);
        return false;
    }
    if (field.also) *(uint8_t *)field.also ^= field.mask;
    *(uint8_t *)field.byte ^= field.mask;
    struct weft__check c = check_node(net, field.node);
    *(uint8_t *)field.byte ^= field.mask;
    if (field.also) *(uint8_t *)field.also ^= field.mask;
    const char *name = net->topology->node[field.node].name;
    if (strstr(c.text, row->says) && !strncmp(c.text, name, strlen(name))) return true;
    fprintf(stderr, "expected \"%s\" of %s, got \"%s\"\n", row->says, name, c.text);
    return false;
}

/// A network before its run.
static struct weft__run *begun(uint32_t network, struct run *r) {
    static struct weft__run run; // it must not move
    enum weft_status status =
        weft_scenario_file_parse("t.yaml", networks[network], strlen(networks[network]), NULL, 0, &r->file, &r->error);
    if (!status) status = run_bind(r, 0);
    if (!status)
        status = weft__run_begin(&run, r->scenario, r->topology, r->workload, &(struct weft_sim_options){.threads = 1},
                                 NULL, &r->error);
    if (status) fail_msg("%s\n%s", r->error.text, networks[network]);
    return &run;
}

/// A network that has run to run.until.
static struct weft__run *stopped(uint32_t network, struct run *r) {
    struct weft__run *run = begun(network, r);
    weft__engine_run(&run->net.engine);
    return run;
}

static void each_check_can_speak(void **state) {
    uint32_t tried = 0, spoke = 0;
    for (uint32_t k = 0; k < NETWORKS; k++) {
        struct run r = {0};
        struct weft__run *run = stopped(k, &r);
        expect_clean(&run->net);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            if (rows[i].network != k) continue;
            spoke += speaks(&run->net, &rows[i]);
            tried++;
        }
        expect_clean(&run->net);
        weft__run_end(run, NULL, NULL);
        run_free(&r);
    }
    assert_int_equal(tried, sizeof rows / sizeof *rows);
    assert_int_equal(spoke, tried);
}

/// What a child process says before it aborts; it changes the network, then calls `act`.
static void expect_abort(struct weft__run *run, void (*change)(struct weft__network *net),
                         void (*act)(struct weft__run *run), const char *says) {
    int ends[2], status;
    char text[1024] = "";
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (!child) {
        dup2(ends[1], STDERR_FILENO);
        change(&run->net);
        act(run);
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t n, at = 0; (n = read(ends[0], text + at, sizeof text - 1 - (size_t)at)) > 0;)
        at += n;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!strstr(text, says)) fail_msg("expected \"%s\", got \"%s\"", says, text);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void change_queue(struct weft__network *net) {
    *(uint8_t *)queue_bytes(net).byte ^= 1;
}
static void check_nodes(struct weft__run *run) {
    for (uint32_t n = 0; n < run->net.topology->nodes; n++)
        weft__check_node(run, n, run->net.engine.conf.until_ps);
}

static void a_broken_invariant_aborts(void **state) {
    struct run r = {0};
    struct weft__run *run = stopped(SIMPLE, &r);
    check_nodes(run);
    expect_abort(run, change_queue, check_nodes,
                 "a bug of weft: at 30000000 ps: switch-0, port 0, priority 3, bytes in the ");
    weft__run_end(run, NULL, NULL);
    run_free(&r);
}

static void lose_credit(struct weft__network *net) {
    EACH_NIC(net) if (nic->port.credit && nic->port.credit->left[3] > nic->port.credit->frame_take) {
        nic->port.credit->left[3]--; // no less than a frame needs: the port itself sees nothing
        return;
    }
}
static void find_credit(struct weft__network *net) {
    EACH_TIN(net) {
        OUT.credits[1]--;
        return;
    }
}
static void check_end(struct weft__run *run) {
    weft__check_end(&run->net, run->net.engine.conf.until_ps);
}

/// At the end of a run all credit is somewhere, to the last unit.
static void credit_is_conserved(void **state) {
    static const uint32_t with[] = {CBFC, TINS};
    void (*const change[])(struct weft__network *) = {lose_credit, find_credit};
    for (uint32_t k = 0; k < 2; k++) {
        struct run r = {0};
        struct weft__run *run = stopped(with[k], &r);
        check_end(run);
        expect_abort(run, change[k], check_end, "credit of the link found at both ends and on it: ");
        weft__run_end(run, NULL, NULL);
        run_free(&r);
    }
}

static uint32_t checks;
static void count_check(void *context, uint32_t node, weft_time_ps until) {
    const struct weft__network *net = &((struct weft__run *)context)->net;
    assert_true(node < net->topology->nodes && until > 0);
    checks++;
}

/// The engine calls the check of nodes that ran, and only where WEFT_CHECK says so.
static void the_environment_turns_it_on(void **state) {
    struct run r = {0};
    unsetenv("WEFT_CHECK");
    struct weft__run *run = begun(SIMPLE, &r);
#ifndef WEFT_CHECKED
    assert_null(run->net.engine.conf.check);
#endif
    weft__run_end(run, NULL, NULL);
    run_free(&r);
    setenv("WEFT_CHECK", "1", 1);
    run = begun(SIMPLE, &r);
    assert_ptr_equal(run->net.engine.conf.check, weft__check_node);
    run->net.engine.conf.check = count_check;
    weft__engine_run(&run->net.engine);
    assert_true(checks > run->net.engine.windows); // more than a node a window
    weft__run_end(run, NULL, NULL);
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_check_can_speak),
        cmocka_unit_test(a_broken_invariant_aborts),
        cmocka_unit_test(credit_is_conserved),
        cmocka_unit_test(the_environment_turns_it_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
