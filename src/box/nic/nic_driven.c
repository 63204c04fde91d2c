// SPDX-License-Identifier: Apache-2.0
// A NIC whose host is driven by a program: actions that are due, and cancelled flows.
#include <assert.h>
#include <string.h>

#include "box/nic/nic.h"
#include "transport/driven.h"
#include "weft/memory.h"

void weft__nic_cancel(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t qp) {
    struct weft__nic *nic = (struct weft__nic *)end;
    struct weft_qp_sender *s = &nic->end.hosts->sender[qp];
    if (s->done) return;
    if (!s->started) w->tally.started++;
    s->started = true;
    weft__nic_stop_sender(node, nic, w, qp);
    weft__driven_note(nic->end.driven, w, WEFT_DRIVE_CANCELLED, nic->end.hosts->qp[qp].flow);
}

static void on_due(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                   const struct weft__due *due) {
    if (due->event == WEFT_DRIVE_CANCELLED) {
        weft__nic_cancel(node, &nic->end, w, due->what);
        return;
    }
    w->tally.started++;
    w->tally.finished++;
    weft__driven_note(nic->end.driven, w, due->event, due->what);
}

uint32_t weft__nic_open(struct weft__node *node, struct weft__endpoint *end, uint32_t qp, weft_time_ps start) {
    struct weft__nic *nic = (struct weft__nic *)end;
    struct weft__driven *d = end->driven;
    if (nic->sends >= d->sends_capacity) {
        uint32_t capacity = 2 * nic->sends + 4;
        uint32_t *list = weft_memory_new(WEFT_MEMORY_QP, capacity, sizeof *list);
        if (nic->sends) memcpy(list, nic->send_qp, nic->sends * sizeof *list);
        weft_memory_free(WEFT_MEMORY_QP, d->send_qp, d->sends_capacity * sizeof *list);
        nic->send_qp = d->send_qp = list;
        d->sends_capacity = capacity;
        weft__timers_add_keys(&node->timers, weft__key_pace(d->at_src0 + capacity - d->sends0));
    }
    d->send_qp[nic->sends] = qp;
    uint32_t at_src = d->at_src0 + nic->sends++ - d->sends0;
    weft__timer_set(&node->timers, weft__key_pace(at_src), start);
    return at_src;
}

void weft__nic_on_driven_timer(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t key) {
    struct weft__driven *d = nic->end.driven;
    uint32_t k = key - WEFT__KEY_QPS;
    struct weft__due due;
    if (key != d->key0) {
        assert(k / WEFT__SENDER_KEYS >= d->at_src0 && d->sends0 + k / WEFT__SENDER_KEYS - d->at_src0 < nic->sends);
        uint32_t qp = nic->send_qp[d->sends0 + k / WEFT__SENDER_KEYS - d->at_src0];
        weft__nic_on_sender_timer(node, nic, w, qp, k % WEFT__SENDER_KEYS);
        return;
    }
    while (weft__driven_take_due(d, &node->timers, w->now_ps, &due))
        on_due(node, nic, w, &due);
}
