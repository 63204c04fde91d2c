// SPDX-License-Identifier: Apache-2.0
// Flows that hold their rate (docs/fast-forward.md). A queue pair whose packets meet no queue sends at the pace that
// its congestion control sets, or at what acknowledgements leave of its NIC's link. Running its packets shows nothing
// new, so the queue pair coasts: it is held back, packets in flight arrive, and what it would have sent is counted. Its
// congestion control continues, by its own timers and by the bytes counted. The engine's clock continues too, so other
// flows are not affected. The queue pair runs again before its end, and when a link of its path would carry more than
// it can: because rates rise or a flow starts.
//
// What a flow would have sent is cut out of its middle: its queue pair has that many packets fewer, while the numbers
// of packets, acknowledgements and timers stay as they are.
// Source: of the idea that flows at a steady rate need not be run, Wormhole (NSDI 2026); here a flow is judged by the
// load of its links, so that it is known and not assumed that no queue forms.
#include "skip/coast.h"

#include <assert.h>
#include <math.h>

#include "box/box.h"
#include "box/clock.h"
#include "link/measure.h"
#include "transport/endpoint.h"
#include "weft/aqm.h"

enum {
    LOOK_PS = 5000000,      ///< 5 us between two checks while flows coast, or may soon
    LOOK_PS_COASTS = 8,     ///< factor for it while all active flows coast
    LOOK_PS_MAX = 80000000, ///< while none may coast
    MARGIN_PACKETS = 64,    ///< at least this many at the end of a flow are run
    QUEUED_FRAMES = 8,      ///< per flow, may wait at a port: frames that arrived from several ports at the same time
};

struct link {
    double rate;      ///< bytes per second on the wire
    double data, ack; ///< load on it, in bytes per second
    uint32_t flows;   ///< flows whose data it carries
    uint64_t events;  ///< marks, pauses and drops, at the last check
    bool is_full;
    bool is_full_by_acks; ///< it is full, but would not be with data alone
    bool calls;           ///< since then, something was marked, paused or dropped
};

enum state { RUNS, COASTS, AUDITED };

/// A queue pair.
struct coaster {
    const uint32_t *port, *back; ///< of its data path, and of the path of its acknowledgements
    uint16_t hops, back_hops;
    uint8_t state; ///< enum state
    bool active;   ///< it sends, or will start before the next check
    bool is_new;   ///< active only since this check
    double wire;   ///< bytes on the wire of a full packet
    double acks;   ///< bytes of acknowledgements per byte of data
    double rate;   ///< bytes per second on the wire
    double before; ///< rate at the last check
    double sent;   ///< packets that it was to send since `from_ps`
    uint32_t from; ///< the PSN to send at that time
    weft_time_ps from_ps;
    uint64_t calls; ///< calls of congestion control, and retransmitted packets, by then
    uint32_t cut;   ///< packets cut out
};

struct weft__coast {
    struct weft__skips *skips;
    struct weft__network *net;
    struct weft_fast_forward_outcome *outcome;
    struct link *link;       ///< [ports]
    struct coaster *coaster; ///< [qps]
    weft_time_ps last_ps, wait_ps;
    uint32_t audited;      ///< queue pairs being audited; none coasts meanwhile because an audited one would miss the
                           ///< acknowledgements
    weft_time_ps start_ps; ///< when the next inactive flow starts
};

// --- what a packet is ---------------------------------------------------------------------------------------------

static const struct weft_host_conf *host_of(const struct weft__coast *c, uint32_t host) {
    return &c->net->device[c->net->topology->host[host]]->host;
}

static struct weft_transport_acks acks_of(const struct weft__coast *c, uint32_t q) {
    const struct weft_host_conf *host = host_of(c, c->net->qp[q].dst);
    const struct weft_transport_ops *ops = host->transport.model->ops;
    return ops->acks(host->transport.conf, c->net->qp[q].priority);
}

/// The size of a full packet in the middle of the queue pair's data.
static uint32_t frame_of(const struct weft__coast *c, uint32_t q) {
    return weft__qp_frame_bytes(&c->net->qp[q], 1, c->net->hosts.data_header_bytes) + c->net->hosts.framing_bytes;
}

static uint32_t ack_of(const struct weft__coast *c, uint32_t q) {
    const struct weft_host_conf *conf = host_of(c, c->net->qp[q].dst);
    return (conf->ack_bytes ? (uint32_t)conf->ack_bytes : WEFT_FRAME_ACK) + c->net->hosts.framing_bytes;
}

static uint32_t wire_of(const struct weft__coast *c, uint32_t q, uint32_t frame) {
    return frame + (uint32_t)host_of(c, c->net->qp[q].src)->wire.overhead_bytes;
}

/// Bytes of acknowledgements on the wire per byte of data.
static double ack_share(const struct weft__coast *c, uint32_t q) {
    double every = acks_of(c, q).packets;
    return wire_of(c, q, ack_of(c, q)) / every / wire_of(c, q, frame_of(c, q));
}

static uint32_t node_of(const struct weft__coast *c, uint32_t q) {
    return c->net->topology->host[c->net->qp[q].src];
}

static const struct weft__box_coast *ops_of(const struct weft__coast *c, uint32_t q) {
    return weft__box_of(&c->net->topology->node[node_of(c, q)])->coast;
}

// --- links --------------------------------------------------------------------------------------------------------

static uint64_t count_events(const struct weft__coast *c, uint32_t port) {
    uint64_t events = 0;
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++) {
        const struct weft_counters *own = weft_outcome_at(c->net->outcome, port, p);
        events += own->ecn_marked + own->pfc_rx_xoff + own->drops;
    }
    return events;
}

static weft_bytes queued_bytes(const struct weft__coast *c, uint32_t port) {
    const struct weft__port *own = weft__network_port(c->net, port);
    weft_bytes bytes = 0;
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
        bytes += weft__port_queue_of(own, p)->bytes;
    return bytes;
}

static weft_time_ps start_of(const struct weft__coast *c, uint32_t q) {
    const struct weft__timers *timers = &c->net->engine.node[node_of(c, q)].timers;
    return weft__timer_at(timers, c->net->hosts.ops->start_key(q, &c->net->hosts));
}

static double pace_of(const struct weft__coast *c, uint32_t q) {
    const struct weft_qp_sender *s = &c->net->hosts.sender[q];
    double line = c->link[c->coaster[q].port[0]].rate, pace = (double)s->rate_bps / 8;
    return !s->started || pace > line ? line : pace;
}

/// Acknowledgements precede data, so a NIC that sends for a single queue pair sends at the rate that they leave.
static void find_rates(struct weft__coast *c) {
    for (uint32_t q = 0; q < c->net->qps; q++) {
        struct coaster *own = &c->coaster[q];
        if (!own->active) continue;
        const struct link *nic = &c->link[own->port[0]];
        double left = nic->rate - nic->ack, pace = pace_of(c, q);
        own->rate = nic->flows == 1 && pace > left ? left : pace;
    }
}

static void add_acks(struct weft__coast *c) {
    for (uint32_t q = 0; q < c->net->qps; q++) {
        const struct coaster *own = &c->coaster[q];
        if (!own->active) continue;
        double ack = own->rate * own->acks;
        for (uint32_t k = 0; k < own->back_hops; k++)
            c->link[own->back[k]].ack += ack;
    }
}

static void add_data(struct weft__coast *c) {
    for (uint32_t q = 0; q < c->net->qps; q++) {
        const struct coaster *own = &c->coaster[q];
        for (uint32_t k = 0; own->active && k < own->hops; k++)
            c->link[own->port[k]].data += own->rate;
    }
}

/// Finds the queue pairs that send or will start before the next check, and their links.
static void find_active(struct weft__coast *c, weft_time_ps now) {
    c->start_ps = WEFT_TIME_NEVER;
    for (uint32_t i = 0; i < c->net->topology->ports; i++)
        c->link[i].data = c->link[i].ack = c->link[i].flows = 0;
    for (uint32_t q = 0; q < c->net->qps; q++) {
        struct coaster *own = &c->coaster[q];
        const struct weft_qp_sender *s = &c->net->hosts.sender[q];
        bool was = own->active;
        weft_time_ps start = s->started ? 0 : start_of(c, q);
        own->active = s->started ? !s->done : start <= now + LOOK_PS;
        if (!own->active && !s->started && start < c->start_ps) c->start_ps = start;
        own->is_new = own->active && !was;
        if (own->is_new) own->rate = pace_of(c, q);
        for (uint32_t k = 0; own->active && k < own->hops; k++)
            c->link[own->port[k]].flows++;
    }
}

static void judge_links(struct weft__coast *c) {
    for (uint32_t i = 0; i < c->net->topology->ports; i++) {
        struct link *l = &c->link[i];
        l->is_full = l->is_full_by_acks = l->calls = false;
        if (!l->flows) continue;
        uint64_t events = count_events(c, i);
        l->calls = events != l->events;
        l->events = events;
        l->is_full = l->data + l->ack > c->net->scenario->run.coast_load * l->rate;
        l->is_full_by_acks = l->is_full && l->data <= c->net->scenario->run.coast_load * l->rate;
    }
}

static void load_links(struct weft__coast *c, weft_time_ps now) {
    find_active(c, now);
    add_acks(c); // from the rates at the last check
    find_rates(c);
    add_data(c);
    judge_links(c);
}

/// No queue can form on its path, however long it lasts, nor on the path of its acknowledgements. `anew`: nor is there
/// a queue now, nor was there since the last check.
static bool is_free(const struct weft__coast *c, uint32_t q, bool anew) {
    const struct coaster *own = &c->coaster[q];
    uint32_t frame = frame_of(c, q);
    for (uint32_t k = 0; k < own->hops; k++) {
        const struct link *l = &c->link[own->port[k]];
        if (l->is_full || l->calls) return false;
        if (anew && queued_bytes(c, own->port[k]) > (weft_bytes)l->flows * QUEUED_FRAMES * frame) return false;
    }
    // Without its acknowledgements, a link would look emptier to others than it is.
    for (uint32_t k = 0; k < own->back_hops; k++)
        if (c->link[own->back[k]].is_full_by_acks) return false;
    return true;
}

// --- a queue pair -------------------------------------------------------------------------------------------------

static uint64_t count_calls(const struct weft__coast *c, uint32_t q) {
    const struct weft_flow_outcome *flow = &c->net->outcome->flow[c->net->qp[q].flow];
    return flow->cnps + flow->packets_again;
}

static double interval_s(const struct weft__coast *c, uint32_t q) {
    return c->coaster[q].wire / c->coaster[q].rate;
}

/// Watches the queue pair from now on.
static void watch_qp(struct weft__coast *c, uint32_t q, weft_time_ps now) {
    struct coaster *own = &c->coaster[q];
    const struct weft_qp_sender *s = &c->net->hosts.sender[q];
    own->state = RUNS;
    own->from_ps = now;
    own->from = s->next;
    own->calls = count_calls(c, q);
    double wait = s->next_send_ps > now ? (double)(s->next_send_ps - now) * 1e-12 : 0;
    own->sent = own->rate > 0 ? -wait / interval_s(c, q) : 0;
}

/// Packets still to be sent, if it has sent what is counted.
static double packets_left(const struct weft__coast *c, uint32_t q) {
    const struct coaster *own = &c->coaster[q];
    return (double)(c->net->qp[q].packets - own->from) - own->sent;
}

/// The packets at the end of the queue pair that are run, so that no check comes too late.
static double margin_of(const struct weft__coast *c, uint32_t q) {
    return MARGIN_PACKETS + 2 * LOOK_PS * 1e-12 / interval_s(c, q);
}

/// Everything counted since it began to coast has been sent, has arrived and was acknowledged.
static void count_packets(struct weft__coast *c, uint32_t q, uint64_t packets) {
    struct weft__network *net = c->net;
    const struct coaster *own = &c->coaster[q];
    const struct weft_transport_acks every = acks_of(c, q);
    uint32_t frame = frame_of(c, q), ack = ack_of(c, q), priority = net->qp[q].priority;
    uint64_t acks = packets / every.packets;
    for (uint32_t k = 0; k < own->hops; k++) {
        struct weft__port_queue *queue = weft__port_queue_of(weft__network_port(net, own->port[k]), priority);
        queue->tx_packets += packets;
        queue->tx_bytes += packets * frame;
    }
    for (uint32_t k = 0; k < own->back_hops; k++) {
        struct weft__port_queue *queue = weft__port_queue_of(weft__network_port(net, own->back[k]), every.priority);
        queue->tx_packets += acks;
        queue->tx_bytes += acks * ack;
    }
    struct weft__tally *tally = &net->engine.worker[0].tally;
    tally->injected_bytes += packets * frame + acks * ack;
    tally->delivered_bytes += packets * frame + acks * ack;
    tally->count[WEFT__COUNT_PACKET_HOPS] += packets * own->hops + acks * own->back_hops;
    tally->count[WEFT__COUNT_PAYLOAD_BYTES] += packets * net->qp[q].mtu;
    net->hosts.receiver[q].delivered_bytes += packets * net->qp[q].mtu;
    c->outcome->packets += packets;
    c->outcome->stretches++;
}

/// What was counted as sent is cut out. Returns when it sends the next packet.
static weft_time_ps stop_coasting(struct weft__coast *c, uint32_t q, weft_time_ps now) {
    struct coaster *own = &c->coaster[q];
    struct weft_qp_conf *qp = &c->net->qp[q];
    uint32_t left = qp->packets - c->net->hosts.sender[q].posted;
    assert(left); // it was not to coast into its last packets
    double whole = own->sent > 0 ? ceil(own->sent) : 0;
    uint32_t packets = whole < left ? (uint32_t)whole : left - 1;
    qp->packets -= packets;
    qp->bytes -= (weft_bytes)packets * qp->mtu;
    own->cut += packets;
    if (packets) count_packets(c, q, packets);
    double wait = (packets - own->sent) * interval_s(c, q);
    return now + (wait > 0 ? (weft_time_ps)(wait * 1e12) : 0);
}

static void run_on(struct weft__coast *c, uint32_t q, weft_time_ps now) {
    weft_time_ps next = stop_coasting(c, q, now);
    ops_of(c, q)->release(c->net, node_of(c, q), q, next);
    watch_qp(c, q, now);
}

/// Relative to what it should have sent since it has been watched; one packet more or less is no deviation.
static double deviation_of(const struct weft__coast *c, uint32_t q) {
    const struct coaster *own = &c->coaster[q];
    double sent = (double)(c->net->hosts.sender[q].next - own->from);
    return fmax(fabs(sent - own->sent) - 1, 0) / fmax(own->sent, 1);
}

static void judge_audit(struct weft__coast *c, uint32_t q, weft_time_ps now) {
    weft__skips_judge(c->skips, deviation_of(c, q));
    assert(c->audited);
    c->audited--;
    watch_qp(c, q, now);
}

/// It has been watched for long enough, and has enough left to send.
static bool may_coast(const struct weft__coast *c, uint32_t q, weft_time_ps now) {
    const struct coaster *own = &c->coaster[q];
    const struct weft_qp_sender *s = &c->net->hosts.sender[q];
    const struct weft_qp_conf *qp = &c->net->qp[q];
    if (c->audited && !c->skips->audits) return false;
    if (!s->started || s->next != s->highest || s->posted != qp->packets) return false;
    if (now - own->from_ps < c->net->scenario->run.coast_watch_ps) return false;
    return packets_left(c, q) > 2 * margin_of(c, q);
}

static void begin_to_coast(struct weft__coast *c, uint32_t q, weft_time_ps now) {
    struct coaster *own = &c->coaster[q];
    double deviation = deviation_of(c, q);
    bool audited = c->skips->audits > 0;
    watch_qp(c, q, now);
    own->state = audited ? AUDITED : COASTS;
    if (audited) {
        c->skips->audits--;
        c->audited++;
        return;
    }
    if (deviation > c->outcome->error) c->outcome->error = deviation;
    ops_of(c, q)->hold(c->net, node_of(c, q), q);
    own->sent -= c->net->hosts.sender[q].posted - own->from; // sent yet
    own->from = c->net->hosts.sender[q].posted;
}

/// Advances by a period in which the rate changed from its previous value to the present one.
static void advance_qp(struct weft__coast *c, uint32_t q, double seconds) {
    struct coaster *own = &c->coaster[q];
    double before = own->sent;
    assert(seconds >= 0 && own->wire > 0);
    own->sent += (own->before + own->rate) / 2 * seconds / own->wire;
    if (own->state != COASTS) return;
    double packets = floor(fmax(own->sent, 0)) - floor(fmax(before, 0));
    if (packets > 0) ops_of(c, q)->sent(c->net, node_of(c, q), q, (uint32_t)(packets * own->wire), c->last_ps);
}

/// Decides the queue pair's next state. True: it coasts, or may soon.
static bool look_at(struct weft__coast *c, uint32_t q, weft_time_ps now) {
    struct coaster *own = &c->coaster[q];
    bool called = count_calls(c, q) != own->calls;
    if (own->state == RUNS) {
        if (called || own->is_new ||
            c->net->hosts.receiver[q].marked || // the receiver signals a mark as early as it may
            !is_free(c, q, true)) {
            watch_qp(c, q, now);
            return false;
        }
        if (may_coast(c, q, now) && deviation_of(c, q) > c->net->scenario->run.steady_error)
            watch_qp(c, q, now); // it did not send what it should have: watch again
        else if (may_coast(c, q, now))
            begin_to_coast(c, q, now);
        return packets_left(c, q) > 2 * margin_of(c, q);
    }
    bool goes_on = !called && is_free(c, q, false) && packets_left(c, q) > margin_of(c, q);
    if (goes_on) return true;
    if (own->state == COASTS)
        run_on(c, q, now);
    else
        judge_audit(c, q, now);
    return true;
}

// --- looking ------------------------------------------------------------------------------------------------------

/// Time to the next check: no flow starts or reaches its last packets before it.
static weft_time_ps wait_for(const struct weft__coast *c, weft_time_ps now, bool soon, bool all_coast) {
    if (soon && !all_coast) return LOOK_PS;
    double most = soon ? LOOK_PS_COASTS * (double)LOOK_PS : fmin(2 * (double)c->wait_ps, LOOK_PS_MAX);
    most = fmin(most, (double)(c->start_ps - now));
    for (uint32_t q = 0; q < c->net->qps; q++)
        if (c->coaster[q].active && c->coaster[q].state == COASTS)
            most = fmin(most, (packets_left(c, q) - margin_of(c, q)) * interval_s(c, q) * 1e12);
    return most > LOOK_PS ? (weft_time_ps)most : LOOK_PS;
}

weft_time_ps weft__coast_look(struct weft__coast *c) {
    weft_time_ps now = c->net->engine.next_ps;
    double seconds = (double)(now - c->last_ps) * 1e-12;
    uint32_t wakes = WEFT_NONE;
    bool soon = false, all_coast = true;
    c->last_ps = now;
    for (uint32_t q = 0; q < c->net->qps; q++)
        c->coaster[q].before = c->coaster[q].rate;
    load_links(c, now);
    for (uint32_t q = 0; q < c->net->qps; q++) {
        struct coaster *own = &c->coaster[q];
        if (!own->active) continue;
        advance_qp(c, q, seconds);
        soon |= look_at(c, q, now);
        if (own->state == COASTS) wakes = q;
        // A flow that runs its last packets will not coast again.
        all_coast &= own->state == COASTS || (own->state == RUNS && packets_left(c, q) < margin_of(c, q));
    }
    c->wait_ps = wait_for(c, now, soon, all_coast);
    if (wakes == WEFT_NONE) return now + c->wait_ps;
    // Without packets the engine would see no work and no progress.
    c->net->engine.worker[0].tally.progress_ps = now;
    ops_of(c, wakes)->wake(c->net, node_of(c, wakes), wakes, now + c->wait_ps);
    return now + c->wait_ps - 2 * c->net->engine.conf.window_ps;
}

void weft__coast_end(struct weft__coast *c, weft_time_ps now) {
    double seconds = now > c->last_ps ? (double)(now - c->last_ps) * 1e-12 : 0;
    for (uint32_t q = 0; q < c->net->qps; q++) {
        struct coaster *own = &c->coaster[q];
        c->outcome->dropped += own->state == AUDITED;
        if (own->state == COASTS) {
            own->sent += own->rate * seconds / own->wire;
            stop_coasting(c, q, now);
        }
        c->net->qp[q].packets += own->cut;
        c->net->qp[q].bytes += (weft_bytes)own->cut * c->net->qp[q].mtu;
    }
}

// --- a run --------------------------------------------------------------------------------------------------------

static const char *refuse_node(const struct weft__network *net, uint32_t i) {
    const struct weft_node_info *node = &net->topology->node[i];
    const struct weft__box *box = weft__box_of(node);
    if (box->coast) return box->coast->refuse(net, i);
    if (box->each_count) return "flows through a fabric of cells, all of whose links they share";
    const struct weft_switch_conf *sw = &net->device[i]->sw;
    if (weft_aqm_state_size(sw->aqm.model->ops, sw->aqm.conf)) return "an AQM that keeps a state (switch.aqm)";
    const struct weft_route_ops *route = sw->route.model->ops;
    return route->choose ? "a route model that keeps a state (switch.route)" : NULL;
}

static const char *why_refused(const struct weft__network *net) {
    if (net->round_trips) return "round trips are measured (run.round_trips)";
    for (uint32_t i = 0; i < net->topology->nodes; i++) {
        const char *refused = refuse_node(net, i);
        if (refused) return refused;
    }
    for (uint32_t i = 0; i < net->topology->ports; i++) {
        const struct weft__port *port = weft__network_port(net, i);
        if (port && port->faults) return "links with bit errors";
        if (port && port->members) return "links of several ports";
    }
    return NULL;
}

static void find_paths(struct weft__coast *c, weft__trace_paths *trace, bool back) {
    struct weft__network *net = c->net;
    uint64_t paths;
    const struct weft_path *path = trace(net->scenario, net->topology, net->workload, back, net->arena_qp, &paths);
    for (uint32_t q = 0; q < net->qps; q++) {
        struct coaster *own = &c->coaster[q];
        *(back ? &own->back : &own->port) = path[q].port;
        *(back ? &own->back_hops : &own->hops) = (uint16_t)path[q].hops;
    }
}

struct weft__coast *weft__coast_new(struct weft__skips *skips, weft__trace_paths *trace, const char **ret_refused) {
    struct weft__network *net = skips->net;
    *ret_refused = why_refused(net);
    if (*ret_refused) return NULL;
    struct weft__coast *c = weft_arena_alloc(net->arena_qp, 1, sizeof *c);
    *c = (struct weft__coast){.skips = skips, .net = net, .outcome = skips->outcome, .wait_ps = LOOK_PS};
    c->link = weft_arena_alloc(net->arena_qp, net->topology->ports, sizeof *c->link);
    c->coaster = weft_arena_alloc(net->arena_qp, net->qps, sizeof *c->coaster);
    for (uint32_t i = 0; i < net->topology->ports; i++) {
        struct weft__speed speed = weft__clock_speed(net->topology, net->device, net->scenario->run.seed, i);
        c->link[i].rate = (double)WEFT_PS_PER_S * (double)speed.byte_den / (double)speed.byte_num;
    }
    find_paths(c, trace, false);
    find_paths(c, trace, true);
    for (uint32_t q = 0; q < net->qps; q++) {
        c->coaster[q].wire = wire_of(c, q, frame_of(c, q));
        c->coaster[q].acks = ack_share(c, q);
    }
    net->engine.pause_ps = 0;
    return c;
}
