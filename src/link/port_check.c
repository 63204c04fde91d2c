// SPDX-License-Identifier: Apache-2.0
#include "link/port_check.h"

#include "link/port_credit.h"
#include "weft/memory.h"

void weft__held_init(struct weft__held *held, const struct weft__ether *e) {
    struct weft_buffer_plan plan;
    uint32_t ports = held->ports = e->ports;
    e->buffer->plan(e->conf->buffer.conf, ports, e->conf->pfc.priorities, &plan);
    held->cell_bytes = plan.cell_bytes;
    held->in = weft_memory_new(WEFT_MEMORY_SWITCH, (size_t)ports * WEFT_PRIORITIES, sizeof *held->in);
    held->out = weft_memory_new(WEFT_MEMORY_SWITCH, (size_t)ports * WEFT_PRIORITIES, sizeof *held->out);
}

void weft__held_deinit(struct weft__held *held) {
    weft_memory_free(WEFT_MEMORY_SWITCH, held->in, (size_t)held->ports * WEFT_PRIORITIES * sizeof *held->in);
    weft_memory_free(WEFT_MEMORY_SWITCH, held->out, (size_t)held->ports * WEFT_PRIORITIES * sizeof *held->out);
}

void weft__held_waiting(void *context, const struct weft_packet *p, uint32_t out) {
    struct weft__held *held = context;
    weft__held_add_in(held, p);
    weft__held_leaving(held, p, out);
}

void weft__held_leaving(void *context, const struct weft_packet *p, uint32_t out) {
    ((struct weft__held *)context)->out[out * WEFT_PRIORITIES + p->priority] += p->bytes;
}

// --- a port -------------------------------------------------------------------------------------------------------

/// The queue of a priority: what it counts, and the packets in it.
static void check_queue(const struct weft__port *port, uint32_t priority, struct weft__check *c) {
    const struct weft__port_queue *queue = weft__port_queue_of(port, priority);
    struct weft__fifo_cursor cursor = weft__fifo_begin(&queue->fifo);
    for (const struct weft_packet *p; (p = weft__fifo_next(&cursor));)
        weft__check_equal(c, "the priority of a packet in the queue", p->priority, "that of the queue", priority);
    weft__check_equal(c, "the port's mark that the queue has packets", port->ready >> priority & 1,
                      "whether the queue has any", queue->fifo.n > 0);
    weft__check_at_most(c, "bytes in the queue", queue->bytes, "its watermark", queue->bytes_max);
    weft__check_at_most(c, "frames sent", queue->tx_packets, "bytes sent", queue->tx_bytes);
}

/// A pause from the peer, and the time that pauses have taken so far.
static void check_pause(const struct weft__port *port, uint32_t priority, weft_time_ps until, struct weft__check *c) {
    const struct weft__port_pause *pause = weft__port_pause_of(port, priority);
    bool is_paused = port->paused >> priority & 1;
    uint8_t by_credit = port->credit ? port->credit->priorities : 0;
    weft__check_at_most(c, "the mark of a pause", is_paused, "whether the peer may pause the priority",
                        (port->obeyed | by_credit) >> priority & 1);
    if (is_paused) {
        weft__check_at_most(c, "start of the pause, ps", pause->since_ps, "now", until);
        weft__check_at_most(c, "start of the pause, ps", pause->since_ps, "its end", pause->until_ps);
    }
    weft__check_at_most(c, "time in earlier pauses, ps", weft__port_counters(port, priority)->paused_ps,
                        "time until this pause or now", is_paused ? pause->since_ps : until);
}

static void check_credit(const struct weft__port *port, uint32_t priority, struct weft__check *c) {
    const struct weft__port_credit *credit = port->credit;
    if (!credit || !(credit->priorities >> priority & 1)) return;
    weft__check_at_most(c, "credit left, bytes", credit->left[priority], "credit granted", credit->grant);
    weft__check_equal(c, "the mark of a pause for lack of credit", port->paused >> priority & 1,
                      "whether the credit left is below a frame's", credit->left[priority] < credit->frame_take);
}

/// A priority that has never been used, by which all numbers are 0.
static bool is_unused(const struct weft__port *port, uint32_t priority) {
    const struct weft__port_queue *queue = weft__port_queue_of(port, priority);
    return !(queue->bytes | queue->bytes_max | queue->tx_packets | queue->tx_bytes | queue->fifo.n) && !port->credit &&
           !((port->ready | port->paused) >> priority & 1) && !weft__port_counters(port, priority)->paused_ps;
}

void weft__port_check(const struct weft__port *port, const struct weft__timers *timers, uint32_t k, uint32_t at,
                      weft_time_ps until, struct weft__check *c) {
    weft__check_at(c, at, WEFT_NONE);
    weft__check_equal(c, "the port's next turn, ps", port->turn_ps, "its timer",
                      weft__timer_at(timers, weft__ether_key(WEFT__ETHER_KEY_TX, k)));
    weft__check_equal(c, "priorities to be paused that are not lossless", port->pfc_xoff & ~port->lossless, "none", 0);
    weft__check_equal(c, "priorities whose pause has changed without a frame to be sent",
                      (port->pfc_told ^ port->pfc_xoff) & ~port->pending, "none", 0);
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++) {
        if (is_unused(port, p)) continue;
        weft__check_at(c, at, p);
        check_queue(port, p, c);
        check_pause(port, p, until, c);
        check_credit(port, p, c);
    }
}

// --- the Ethernet side of a box -----------------------------------------------------------------------------------

/// An ingress buffer whose thresholds do not move decides alone which priorities are to be paused.
static void check_thresholds(const struct weft__ether *e, uint32_t k, uint32_t priority, struct weft__check *c) {
    const struct weft__port *port = &e->port[k];
    bool wants = port->pfc_xoff >> priority & 1;
    if (!e->buffer->fixed || e->full || !(port->lossless >> priority & 1)) return;
    enum weft_buffer_answer answer = e->buffer->review(e->buffer_state, e->conf->buffer.conf, k, priority);
    if (answer != WEFT_BUFFER_OK)
        weft__check_equal(c, "the port's wish for a pause", wants, "whether its ingress buffer is above XOFF",
                          answer == WEFT_BUFFER_XOFF);
}

static void check_group(const struct weft__ether *e, uint32_t k, uint32_t priority, const struct weft__held *held,
                        struct weft__check *c) {
    uint32_t i = k * WEFT_PRIORITIES + priority;
    weft_bytes level = e->buffer->level(e->buffer_state, e->conf->buffer.conf, k, priority);
    weft__check_equal(c, "bytes in the ingress buffer", level, "bytes occupied by packets here that came by the port",
                      held->in[i]);
    weft__check_equal(c, "bytes in the queue", weft__port_queue_of(&e->port[k], priority)->bytes,
                      "bytes of packets here that leave by the port", held->out[i]);
    check_thresholds(e, k, priority, c);
}

/// Packets that may be sent are not forgotten: the port has a timer, or all their priorities are paused without an end.
static void check_wake(const struct weft__port *port, struct weft__check *c) {
    uint8_t idle = port->turn_ps == WEFT_TIME_NEVER ? port->ready : 0;
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
        if (port->paused >> p & 1 && weft__port_pause_of(port, p)->until_ps == WEFT_TIME_NEVER)
            idle &= (uint8_t) ~(1u << p);
    weft__check_equal(c, "priorities with packets that no timer will send", idle, "none", 0);
}

void weft__ether_check(const struct weft__ether *e, const struct weft__timers *timers, uint32_t port0, bool wakes,
                       weft_time_ps until, const struct weft__held *held, struct weft__check *c) {
    uint32_t xoffs[WEFT_PRIORITIES] = {0};
    for (uint32_t k = 0; k < e->ports; k++) {
        const struct weft__port *port = &e->port[k];
        weft_bytes bytes = 0;
        weft__port_check(port, timers, k, port->id - port0, until, c);
        for (uint32_t p = 0; p < WEFT_PRIORITIES; p++) {
            weft__check_at(c, port->id - port0, p);
            check_group(e, k, p, held, c);
            xoffs[p] += port->pfc_xoff >> p & 1;
            bytes += weft__port_queue_of(port, p)->bytes;
        }
        weft__check_at(c, port->id - port0, WEFT_NONE);
        if (wakes) check_wake(port, c);
        if (e->queues) {
            weft__check_equal(c, "bytes in the output queues", e->queues[k].bytes, "sum over priorities", bytes);
            weft__check_at_most(c, "bytes in the output queues", bytes, "their size", e->queues_bytes);
        }
    }
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++) {
        weft__check_at(c, WEFT_NONE, p);
        weft__check_equal(c, "ports that want a pause", e->xoffs[p], "ports with the mark", xoffs[p]);
    }
    weft__check_at(c, WEFT_NONE, WEFT_NONE);
    weft__check_model(c, "ingress buffer of ports", e->ports, e->buffer->check(e->buffer_state, e->conf->buffer.conf));
}
