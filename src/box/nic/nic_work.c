// SPDX-License-Identifier: Apache-2.0
// What a work request costs a NIC before its first packet can leave: the doorbell, the fetch of the entry over PCIe,
// the lookup of keys. Requests are processed one after another, so many small messages cost more than their bytes. A
// message, each part of a message split over queue pairs, and a clear-to-send are one request each; a request for a
// READ does not count.
//
// Source: Kalia, Kaminsky, Andersen, "Design guidelines for high performance RDMA systems", USENIX ATC 2016, for what a
// request consists of. Difference: one pipeline for all queue pairs, which holds one request at a time; its time is a
// parameter (NVIDIA, "ConnectX-6 VPI card product brief": up to 215 million messages per second for the whole NIC). The
// rate of a single queue pair is another parameter, work_request_qp (nic_send.c); it is not published, and assumed.
#include "box/nic/nic.h"

static void set_timer(struct weft__node *node, const struct weft__nic *nic, weft_time_ps from) {
    weft__timer_set(&node->timers, WEFT__KEY_WORK, from + nic->conf->work_request_ps);
}

void weft__nic_work_add(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                        const struct weft_packet *request) {
    if (nic->planes) nic = nic->planes->nic[0];
    weft__fifo_push(&nic->work, nic->end.pool, request);
    if (nic->work.n == 1) set_timer(node, nic, w->now_ps);
}

struct weft_packet weft__nic_work_done(struct weft__node *node, struct weft__nic *nic, weft_time_ps now) {
    struct weft_packet request;
    weft__fifo_pop(&nic->work, nic->end.pool, &request);
    if (nic->work.n) set_timer(node, nic, now);
    return request;
}
