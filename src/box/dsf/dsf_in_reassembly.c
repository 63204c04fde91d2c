// SPDX-License-Identifier: Apache-2.0
// Reassembly at the interface node where packets leave the fabric. Packets from one interface node at one priority have
// numbers and are delivered in that order, each when all its cells have arrived. The packet whose turn it is is given
// up when its first cell, or the first cell of the next packet that has any, is older than the timeout: it has lost
// cells. Its bytes were counted where they were lost; the packet is counted here. So all packets that a failed link has
// taken cells from are given up at the same time, without one timeout each.
#include "base/grow.h"
#include "box/dsf/dsf_in.h"
#include "weft/memory.h"

#include <assert.h>

enum { SLOTS_FIRST = 8, STREAMS_FIRST = 8, SLOTS_MOST = (int)(WEFT__CELL_SEQUENCES / 2) };

static struct weft__in_stream *stream_at(struct weft__in *in, const struct weft_packet *cell) {
    uint32_t key = weft__cell_from(cell) * WEFT_PRIORITIES + cell->priority;
    if (__builtin_expect(in->stream_of[key] != 0, 1)) return &in->stream[in->stream_of[key] - 1];
    struct weft__in_stream *s =
        &WEFT__ADD_DOUBLE(WEFT_MEMORY_QUEUE, in->stream, in->streams, in->stream_capacity, STREAMS_FIRST);
    *s = (struct weft__in_stream){
        .slot = weft_memory_new(WEFT_MEMORY_QUEUE, SLOTS_FIRST, sizeof *s->slot),
        .mask = SLOTS_FIRST - 1,
        .from = weft__cell_from(cell),
        .priority = (uint8_t)cell->priority,
    };
    in->stream_of[key] = in->streams;
    return s;
}

static void grow_stream(struct weft__in_stream *s) {
    uint32_t before = s->mask + 1, after = 2 * before;
    struct weft__assembly *slot = weft_memory_new(WEFT_MEMORY_QUEUE, after, sizeof *slot);
    for (uint32_t i = 0; i < before; i++) {
        uint32_t sequence = s->expected + i;
        slot[sequence & (after - 1)] = s->slot[sequence & s->mask];
    }
    weft_memory_free(WEFT_MEMORY_QUEUE, s->slot, before * sizeof *s->slot);
    s->slot = slot;
    s->mask = after - 1;
}

static void free_slot(struct weft__in *in, struct weft__in_stream *s, struct weft__assembly *a) {
    assert(s->pending && in->reassembly_bytes >= a->packet.bytes);
    in->reassembly_bytes -= a->packet.bytes;
    s->pending--;
    a->packet.bytes = 0;
}

/// A packet is complete and its turn has come. Restores the queue pair's fields, which cells have overwritten.
static void deliver_packet(struct weft__node *node, struct weft__in *in, struct weft__worker *w, struct weft_packet *p,
                           uint32_t from) {
    const struct weft_qp_conf *qp = &in->hosts->qp[p->qp &= WEFT__CELL_QP];
    p->dst = p->kind == WEFT_PACKET_DATA ? qp->dst : qp->src;
    p->entropy = qp->entropy & 0x3fffu;
    p->spare = 0;
    if (__builtin_expect(in->lanes.follow != NULL, 0))
        weft__lanes_follow_stage(&in->lanes, w->now_ps, p, p->qp, WEFT_STAGE_DELIVERED);
    struct weft__outside_exit at = {in->self, in->port_of_host[p->dst]};
    if (weft__in_is_outside(in, p->dst) &&
        !(weft__outside_exit(in->outside, w->now_ps, p, from, &at) && at.in == in->self) &&
        !weft__outside_own_exit(in->outside, w->now_ps, p, in->self, &at)) {
        weft__ether_drop(&in->ether, w, p, 0, WEFT_DROP_NO_ROUTE);
        return;
    }
    uint32_t port = at.port;
    if (in->conf->window_bytes) {
        weft__in_on_arrived(in, from, port, p->priority, p->bytes);
        weft__in_arm_credits(node, in, w->now_ps, port);
    }
    weft__ether_send(&in->ether, node, w, p, port);
}

/// Delivers the packets whose turn has come.
static void pass_stream(struct weft__node *node, struct weft__in *in, struct weft__worker *w,
                        struct weft__in_stream *s) {
    for (;;) {
        struct weft__assembly *a = &s->slot[s->expected & s->mask];
        if (!weft__assembly_is_used(a) || !weft__assembly_is_whole(a)) break;
        struct weft_packet p = a->packet;
        free_slot(in, s, a);
        s->expected = (uint16_t)((s->expected + 1) & (WEFT__CELL_SEQUENCES - 1));
        deliver_packet(node, in, w, &p, s->from);
    }
}

/// At the first Ethernet port: if none of the packet's cells arrived, its port is unknown.
static void note_given_up(const struct weft__in *in, weft_time_ps now, const struct weft__in_stream *s,
                          const struct weft__assembly *a) {
    struct weft__trace_loss loss = {
        .kind = WEFT_EVENT_DROPPED,
        .port = in->port[0].node_port,
        .priority = s->priority,
        .qp = weft__assembly_is_used(a) ? a->packet.qp & WEFT__CELL_QP : WEFT_NONE,
        .reason = WEFT_DROP_REASSEMBLY,
        .bytes = a->packet.bytes,
        .n = 1,
    };
    weft__trace_lost(in->trace, now, &loss, 0);
}

/// The packet whose turn it is will never be complete.
static void give_up_one(struct weft__in *in, struct weft__worker *w, struct weft__in_stream *s) {
    struct weft__assembly *a = &s->slot[s->expected & s->mask];
    if (__builtin_expect(in->trace != NULL, 0)) note_given_up(in, w->now_ps, s, a);
    weft__count(w, WEFT__COUNT_DROPS + WEFT_DROP_REASSEMBLY, 1);
    in->counts.packets_lost++;
    if (weft__assembly_is_used(a)) {
        weft__count_lost_bytes(w, WEFT_DROP_REASSEMBLY, a->packet.bytes);
        free_slot(in, s, a);
    }
    s->expected = (uint16_t)((s->expected + 1) & (WEFT__CELL_SEQUENCES - 1));
}

static void lose_cell(struct weft__in *in, struct weft__worker *w, const struct weft_packet *cell) {
    in->counts.cells_late++;
    weft__count_lost_bytes(w, WEFT_DROP_REASSEMBLY, cell->bytes);
    if (in->trace) weft__lanes_note_loss(&in->lanes, w->now_ps, cell->port, cell, WEFT_DROP_REASSEMBLY);
}

/// Makes room for a packet this far beyond the one whose turn it is; packets that no longer fit are given up.
static void make_room(struct weft__node *node, struct weft__in *in, struct weft__worker *w, struct weft__in_stream *s,
                      int32_t beyond) {
    for (; beyond >= SLOTS_MOST; beyond--) {
        give_up_one(in, w, s);
        uint32_t before = s->expected;
        pass_stream(node, in, w, s);
        beyond -= weft__cell_beyond(s->expected, before);
    }
    while (beyond > (int32_t)s->mask)
        grow_stream(s);
}

void weft__in_on_cell(struct weft__node *node, struct weft__in *in, struct weft__worker *w,
                      const struct weft_packet *cell) {
    assert(weft__cell_to(cell) == in->self);
    struct weft__in_stream *s = stream_at(in, cell);
    uint32_t sequence = weft__cell_sequence(cell);
    int32_t beyond = weft__cell_beyond(sequence, s->expected);
    in->port_rci[cell->port] = (uint8_t)weft__cell_rci(cell);
    if (__builtin_expect(beyond < 0 || in->reassembly_bytes + cell->bytes > in->conf->reassembly_bytes, 0)) {
        lose_cell(in, w, cell);
        return;
    }
    if (__builtin_expect(beyond > (int32_t)s->mask, 0)) make_room(node, in, w, s, beyond);
    struct weft__assembly *a = &s->slot[sequence & s->mask];
    if (!weft__assembly_is_used(a)) {
        if ((uint64_t)beyond > in->counts.reassembly_packets_max) in->counts.reassembly_packets_max = (uint64_t)beyond;
        weft_histogram_add(&in->counts.seen->reassembly_packets, (uint64_t)beyond);
        a->packet = *cell;
        a->packet.bytes = 0;
        a->packet.dst = 0;
        if (!s->pending++) {
            uint32_t key = weft__in_box_key(in, WEFT__IN_KEY_REASSEMBLY);
            if (weft__timer_at(&node->timers, key) == WEFT_TIME_NEVER)
                weft__timer_set(&node->timers, key, w->now_ps + in->conf->reassembly_timeout_ps);
        }
        __builtin_prefetch(&in->hosts->qp[cell->qp & WEFT__CELL_QP]);
    }
    a->packet.bytes = (uint16_t)(a->packet.bytes + cell->bytes);
    a->packet.dst++;
    in->reassembly_bytes += cell->bytes;
    if (in->reassembly_bytes > in->reassembly_bytes_max) in->reassembly_bytes_max = in->reassembly_bytes;
    if (weft__cell_is_last(cell)) a->packet.dst |= (weft__cell_index(cell) + 1) << WEFT__ASSEMBLY_OF;
    if (weft__assembly_is_whole(a) && !weft__cell_beyond(sequence, s->expected)) pass_stream(node, in, w, s);
}

/// Since when the packet whose turn it is has been overdue: the first cell of it, or of a later packet. There must be
/// one.
static weft_time_ps waited_since(const struct weft__in_stream *s) {
    uint32_t sequence = s->expected;
    while (!weft__assembly_is_used(&s->slot[sequence & s->mask]))
        sequence++;
    return s->slot[sequence & s->mask].packet.time_ps;
}

void weft__in_give_up(struct weft__node *node, struct weft__in *in, struct weft__worker *w) {
    weft_time_ps next = WEFT_TIME_NEVER, timeout = in->conf->reassembly_timeout_ps;
    for (uint32_t i = 0; i < in->streams; i++) {
        struct weft__in_stream *s = &in->stream[i];
        for (; s->pending; pass_stream(node, in, w, s)) {
            weft_time_ps at = waited_since(s) + timeout;
            if (at > w->now_ps) {
                if (at < next) next = at;
                break;
            }
            give_up_one(in, w, s);
        }
    }
    if (next != WEFT_TIME_NEVER) weft__timer_set(&node->timers, weft__in_box_key(in, WEFT__IN_KEY_REASSEMBLY), next);
}
