// SPDX-License-Identifier: Apache-2.0
// Frames that a program puts into the network for attached hosts (transport/raw.h).
#include "sim/drive.h"
#include "transport/endpoint.h"

#include <string.h>

#include "weft/memory.h"

struct putting {
    struct weft__drive_request request; ///< first
    const uint8_t *bytes;
    size_t length;
    enum weft_frame_fate fate;
};

static enum weft_status check_attached(const struct weft_drive *d, uint32_t host, struct weft_error *ret_error) {
    const struct weft__raw *raw = d->run.net.raw;
    if (raw && host < raw->hosts && raw->host[host]) return WEFT_OK;
    return FAIL(WEFT_ERROR_INPUT, "host %u is not attached; expected one that the scenario names in live.hosts", host);
}

/// A conversation has its first frame: a flow of one queue pair.
static void add_conversation(struct weft_drive *d, uint32_t conversation, weft_time_ps time) {
    struct weft__network *net = weft__drive_net(d);
    struct weft__raw_conversation *c = &net->raw->conversation[conversation];
    struct weft_send send = {.src = c->src, .dst = c->dst, .bytes = 1};
    c->flow = weft__drive_add_flow(d, &send, time);
    struct weft_flow *flow = &d->workload.flow[c->flow];
    flow->verb = WEFT_VERB_RAW;
    flow->group = d->raw_group;
    uint32_t qp = net->qps;
    weft__drive_add_qp(d, &send, c->flow, time);
    weft__attached_set_qp(net, conversation, qp);
    flow->priority = net->qp[qp].priority;
    flow->bytes = 0;
}

void weft__drive_forget_frame(struct weft_drive *d, uint32_t number) {
    struct weft__raw_frame *f = &weft__drive_net(d)->raw->frame[number];
    weft_memory_free(WEFT_MEMORY_QP, (void *)f->bytes, f->length);
    f->bytes = NULL;
}

static void add_frame(struct weft_drive *d, uint32_t conversation, const struct putting *p, weft_time_ps time) {
    struct weft__network *net = weft__drive_net(d);
    struct weft__raw *raw = net->raw;
    uint8_t *bytes = weft_memory_new(WEFT_MEMORY_QP, p->length, 1);
    memcpy(bytes, p->bytes, p->length);
    bool first = raw->conversation[conversation].start_ps == WEFT_TIME_NEVER;
    uint32_t number = weft__raw_add(raw, conversation, time, bytes, (uint32_t)p->length);
    if (first) add_conversation(d, conversation, raw->frame[number].time_ps);
    d->workload.flow[raw->conversation[conversation].flow].bytes += p->length;
    d->workload.bytes += p->length;
    uint32_t host = raw->conversation[conversation].src;
    const struct weft__raw_host *h = raw->host[host];
    if (weft__raw_waiting(h) > 1) return; // the timer is set
    weft__timer_set(&net->engine.node[d->driver.host[host].node].timers, h->key, raw->frame[number].time_ps);
    weft__drive_reschedule(d, host);
}

static enum weft_status do_put(void *context, struct weft_error *ret_error) {
    struct putting *p = context;
    struct weft_drive *d = p->request.drive;
    struct weft__raw *raw = weft__drive_net(d)->raw;
    uint32_t host = p->request.host, conversation;
    weft_time_ps time = p->request.time;
    enum weft_status status = check_attached(d, host, ret_error);
    if (!status) status = weft__drive_check_time(d, host, &time, ret_error);
    if (status) return status;
    if (weft__raw_frame_bytes((uint32_t)p->length) > weft__drive_net(d)->frame_bytes) {
        p->fate = WEFT_FRAME_LONG;
        raw->host[host]->counts[p->fate]++;
        return WEFT_OK;
    }
    p->fate = weft__raw_judge(raw, host, p->bytes, p->length, &conversation);
    if (p->fate == WEFT_FRAME_SENT && raw->frames == WEFT_NONE - 1)
        return FAIL(WEFT_ERROR_INPUT, "too many frames; expected less than 2^32");
    if (p->fate == WEFT_FRAME_SENT) add_frame(d, conversation, p, time);
    return WEFT_OK;
}

enum weft_status weft_drive_put(struct weft_drive *d, uint32_t host, weft_time_ps time, const void *frame, size_t bytes,
                                enum weft_frame_fate *ret_fate, struct weft_error *ret_error) {
    struct putting p = {.request = {.host = host, .time = time}, .bytes = frame};
    p.length = bytes < UINT16_MAX ? bytes : UINT16_MAX; // longer than any MTU
    enum weft_status status = weft__drive_enter(d, do_put, &p.request, ret_error);
    if (!status && ret_fate) *ret_fate = p.fate;
    return status;
}

enum weft_status weft_drive_attach(struct weft_drive *d, uint32_t host, weft_drive_callback *callback, void *context,
                                   struct weft_error *ret_error) {
    enum weft_status status = check_attached(d, host, ret_error);
    if (!status) d->attached[host] = (struct weft__drive_listener){callback, context};
    return status;
}

enum weft_status weft_drive_mac(const struct weft_drive *d, uint32_t host, uint8_t *ret_mac,
                                struct weft_error *ret_error) {
    enum weft_status status = check_attached(d, host, ret_error);
    if (!status) memcpy(ret_mac, d->run.net.raw->mac[host], 6);
    return status;
}

const struct weft__network *weft__drive_network(const struct weft_drive *d) {
    return &d->run.net;
}

uint32_t weft_drive_waiting(const struct weft_drive *d, uint32_t host) {
    const struct weft__network *net = &d->run.net;
    if (check_attached(d, host, NULL)) return 0;
    return weft__raw_waiting(net->raw->host[host]) +
           net->hosts.ops->waiting(net->engine.node[d->driver.host[host].node].state);
}
