// SPDX-License-Identifier: Apache-2.0
#include "box/dsf/dsf_llfc.h"

void weft__lane_queues_init(struct weft__lane_queues *q, struct weft__lanes *lanes, uint32_t key0,
                            struct weft_packet_pool *pool, struct weft_arena *arena) {
    q->lanes = lanes;
    q->pool = pool;
    q->key0 = key0;
    q->queue = weft_arena_alloc(arena, lanes->n, sizeof *q->queue);
}

static bool may_send(const struct weft__lane_queues *q, uint32_t lane, weft_time_ps now) {
    return !q->queue[lane].stopped && q->lanes->lane[lane].busy_until_ps <= now;
}

void weft__lane_queue_send(struct weft__lane_queues *q, struct weft__node *node, struct weft__worker *w, uint32_t k,
                           const struct weft_packet *cell) {
    struct weft__lane_queue *queue = &q->queue[k];
    struct weft__cell_lane *lane = &q->lanes->lane[k];
    bool now = !queue->fifo.n && may_send(q, k, w->now_ps);
    weft__lane_note_wait(q->lanes, lane, queue->cells * q->lanes->rate[lane->rate].cell_ps);
    if (now) {
        weft__lane_transmit(q->lanes, lane, w, cell, w->now_ps);
        return;
    }
    struct weft_packet kept = *cell;
    kept.time_ps = w->now_ps;
    weft__fifo_push(&queue->fifo, q->pool, &kept);
    queue->cells += weft__cell_count(cell);
    if (queue->fifo.n == 1) weft__lane_queue_serve(q, node, w, k);
}

void weft__lane_queue_serve(struct weft__lane_queues *q, struct weft__node *node, struct weft__worker *w, uint32_t k) {
    struct weft__lane_queue *queue = &q->queue[k];
    if (queue->fifo.n && may_send(q, k, w->now_ps)) {
        struct weft_packet cell;
        weft__fifo_pop(&queue->fifo, q->pool, &cell);
        queue->cells -= weft__cell_count(&cell);
        q->lanes->came_ps = cell.time_ps;
        weft__lane_transmit(q->lanes, &q->lanes->lane[k], w, &cell, w->now_ps);
        q->lanes->came_ps = 0;
    }
    if (queue->fifo.n && !queue->stopped) weft__timer_set(&node->timers, q->key0 + k, q->lanes->lane[k].busy_until_ps);
}

static void note_signal(struct weft__trace *t, weft_time_ps now, uint32_t port, struct weft__lane_queue *queue,
                        bool stop) {
    enum weft_event_kind kind = stop ? WEFT_EVENT_LANE_STOPPED : WEFT_EVENT_LANE_RESUMED;
    struct weft_event *event = weft__trace_add(t, now, kind, port, WEFT_EVENT_NO_PRIORITY);
    if (event) {
        event->value = stop ? queue->cells : now - queue->since_ps;
        event->begins = stop ? 0 : queue->event;
    }
    queue->event = stop ? weft__trace_id(t, event) : 0;
}

void weft__lane_queue_on_signal(struct weft__lane_queues *q, struct weft__node *node, struct weft__worker *w,
                                uint32_t k, const struct weft_packet *signal) {
    struct weft__lane_queue *queue = &q->queue[k];
    if (queue->stopped) q->stopped_ps += w->now_ps - queue->since_ps;
    if (__builtin_expect(q->lanes->trace != NULL, 0) && queue->stopped != signal->flags)
        note_signal(q->lanes->trace, w->now_ps, q->lanes->port[k], queue, signal->flags);
    queue->stopped = signal->flags;
    queue->since_ps = w->now_ps;
    weft__lane_queue_serve(q, node, w, k);
}

void weft__lane_signal(const struct weft__lanes *lanes, uint32_t k, struct weft__worker *w, bool stop) {
    const struct weft__cell_lane *lane = &lanes->lane[k];
    const struct weft__lane_rate *rate = &lanes->rate[lane->rate];
    struct weft_packet signal = {.late = true, .kind = WEFT_PACKET_LLFC, .flags = stop};
    weft_time_ps arrival = w->now_ps + weft__speed_time(rate->speed, WEFT_CELL_CONTROL) + lane->delay_ps;
    weft__lane_arrive(lane, w, &signal, arrival);
    if (__builtin_expect(lanes->trace == NULL, 1)) return;
    struct weft_event *event =
        weft__trace_add(lanes->trace, w->now_ps, WEFT_EVENT_LANE_STOP_SENT, lanes->port[k], WEFT_EVENT_NO_PRIORITY);
    if (!event) return;
    event->value = stop;
    event->more = arrival;
}

weft_bytes weft__lane_queues_held(const struct weft__lane_queues *q) {
    weft_bytes bytes = 0;
    const struct weft_packet *p;
    for (uint32_t k = 0; k < q->lanes->n; k++)
        for (struct weft__fifo_cursor c = weft__fifo_begin(&q->queue[k].fifo); (p = weft__fifo_next(&c));)
            bytes += p->bytes;
    return bytes;
}

void weft__lane_queues_finish(struct weft__lane_queues *q, weft_time_ps now) {
    for (uint32_t k = 0; k < q->lanes->n; k++)
        if (q->queue[k].stopped) q->stopped_ps += now - q->queue[k].since_ps;
}

void weft__lane_sample(struct weft__lanes *lanes, const struct weft__lane_queues *q, uint32_t lane,
                       struct weft__worker *w, uint32_t port) {
    const struct weft__cell_lane *l = &lanes->lane[lane];
    const struct weft__speed *speed = &lanes->rate[l->rate].speed;
    // tx_bytes counts a cell as it joins; this much of it has not left
    uint64_t waiting = weft__lane_wait(l, w->now_ps) * speed->byte_den / speed->byte_num;
    uint64_t sent = l->tx_bytes > waiting ? l->tx_bytes - waiting : 0;
    struct weft_sample sample = {.time_ps = w->now_ps, .port = port, .queue_bytes = waiting, .tx_bytes = sent};
    if (q) sample.queue_bytes += (uint64_t)q->queue[lane].cells * (WEFT_CELL_PAYLOAD + WEFT_CELL_HEADER);
    if (q) sample.paused = q->queue[lane].stopped;
    if (sent || sample.queue_bytes) weft__sample_add(w, &sample);
}
