// SPDX-License-Identifier: Apache-2.0
// 1RMA in the TiN: Gibson et al., "Aquila", NSDI 2022, section 3.4; Singhvi et al., "1RMA", SIGCOMM 2020. Life of a
// read: the client's software starts it with a command to the hardware, at the pace of two congestion controls: one for
// the server, one for the client itself. The hardware dispatches commands in order, as long as everything requested
// fits into the solicitation window. A Req cell carries the request to the server's TiN, which reads the host's memory;
// each PCIe completion is a Resp cell, on its own path, and is written to the client's memory in the order of arrival.
// The last one completes the operation: two half round trips of GNet, where a packet in each direction takes six.
//
// A write is a request to read: its Req announces it, the server's TiN asks for the data with a Req of its own, from
// its own window, and a Resp of 8 bytes confirms it. An atomic operation is a read of 8 bytes. A request that waits too
// long for the window, or for its answer, is returned to the software, which tells its congestion control and tries
// again. Differences: both hosts of a TiN share one window; no encryption, no key is checked; refusals are not
// modelled.
#include "box/tin/tin_rma.h"
#include "base/order.h"

#include <assert.h>

#include "weft/tin_rma.h"

enum work { SUBMIT, COMPLETE };
enum timer { COMMANDED, WAITING, ASKED, LANDING, OF_HOSTS };
enum client_timer { NEXT, PACE, OF_PATHS };
enum { ACK_BYTES = 8, OPS_FIRST = 64 };

// --- what is followed ----------------------------------------------------------------------------------------------

static struct weft__rma_log *log_of(const struct weft__tin_rma *rma) {
    return __builtin_expect(rma->gnet->follow_log != NULL, 0) ? rma->gnet->follow_log->rma : NULL;
}

/// Notes the progress of an operation.
static void note_op(const struct weft__tin_rma *rma, const struct weft__worker *w, enum weft_rma_what what,
                    uint32_t client, uint32_t op, uint32_t slot) {
    struct weft__rma_log *log = log_of(rma);
    if (!log) return;
    const struct weft__rma_client *core = rma->client[client].core;
    weft__rma_note(log, (struct weft_rma_note){.time_ps = w->now_ps,
                                               .entry = core->rma->entry,
                                               .client = core->index,
                                               .op = op,
                                               .server = core->op[op].server,
                                               .box = rma->self,
                                               .slot = slot,
                                               .use = slot == WEFT_NONE ? 0 : rma->request[slot].use,
                                               .what = what});
}

/// Notes the progress of a request, at its source or where it is executed.
static void note_request(const struct weft__tin_rma *rma, const struct weft__worker *w, enum weft_rma_what what,
                         uint32_t box, uint32_t slot, uint32_t use, uint32_t own_slot) {
    struct weft__rma_log *log = log_of(rma);
    if (!log) return;
    weft__rma_note(log, (struct weft_rma_note){.time_ps = w->now_ps,
                                               .client = WEFT_NONE,
                                               .box = box,
                                               .slot = slot,
                                               .use = use,
                                               .own_box = rma->self,
                                               .own_slot = own_slot,
                                               .own_use = own_slot == WEFT_NONE ? 0 : rma->request[own_slot].use,
                                               .what = what});
}

/// An unanswered operation is identified by its start time.
static void note_left(const struct weft__tin_rma *rma, const struct weft__worker *w, const struct weft__tin_request *r,
                      uint32_t begun, uint32_t high) {
    struct weft__rma_log *log = log_of(rma);
    if (!log) return;
    note_op(rma, w, WEFT_RMA_LEFT, r->client, r->op, WEFT_NONE);
    log->note[log->n - 1].slot = begun;
    log->note[log->n - 1].use = high;
}

// --- cells that are sent -------------------------------------------------------------------------------------------

/// `host`: the host whose request it is; WEFT_NONE: not a request.
static void inject_cell(struct weft__node *node, struct weft__tin_rma *rma, struct weft__worker *w,
                        struct weft_packet *cell, enum weft__cell_type type, uint32_t host) {
    static const enum weft_gnet_kind kind[2][2] = {{WEFT_GNET_KIND_REQ, WEFT_GNET_KIND_RESP},
                                                   {WEFT_GNET_KIND_CTS, WEFT_GNET_KIND_DATA}};
    bool bulk = cell->ecn & 1, answers = type == WEFT__GNET_RESP;
    cell->entropy = weft__gnet_head(type, 0, false) & 0x3fffu;
    w->tally.injected_bytes += cell->bytes;
    weft__gnet_inject(node, rma->gnet, w, cell, WEFT__GNET_RMA, rma->gnet->conf->rma_own ? host : WEFT_NONE,
                      weft_gnet_class(kind[bulk][answers], bulk));
}

// --- requests -----------------------------------------------------------------------------------------------------

static uint32_t take_slot(struct weft__tin_rma *rma) {
    if (rma->free == WEFT_NONE) {
        uint32_t n = rma->requests ? 2 * rma->requests : OPS_FIRST;
        rma->request = weft_memory_resize(WEFT_MEMORY_HOST, rma->request, rma->requests * sizeof *rma->request,
                                          n * sizeof *rma->request);
        for (uint32_t i = n; i-- > rma->requests; rma->free = i)
            rma->request[i] = (struct weft__tin_request){.after = rma->free};
        rma->requests = n;
    }
    uint32_t slot = rma->free;
    rma->free = rma->request[slot].after;
    return slot;
}

static void free_slot(struct weft__tin_rma *rma, uint32_t slot) {
    struct weft__tin_request *r = &rma->request[slot];
    assert(r->state != WEFT__TIN_FREE);
    r->use = (r->use + 1) & ((1u << WEFT__TIN_USE_BITS) - 1);
    r->state = WEFT__TIN_FREE;
    r->after = rma->free;
    rma->free = slot;
}

/// The bytes that its answer carries.
static uint32_t answer_bytes(const struct weft__tin_request *r) {
    return r->verb == WEFT_RMA_READ ? r->bytes : ACK_BYTES;
}

/// What it takes of the window: the data requested, or its Req if that is longer. So all Reqs together never exceed the
/// window.
static uint32_t window_bytes(const struct weft__tin_request *r) {
    uint32_t bytes = answer_bytes(r);
    return bytes > WEFT_GNET_REQUEST_BYTES ? bytes : WEFT_GNET_REQUEST_BYTES;
}

static void note_asked(struct weft__tin_rma *rma, uint32_t slot) {
    struct weft__tin_request *r = &rma->request[slot];
    r->before = rma->asked_last;
    r->after = WEFT_NONE;
    if (rma->asked_last == WEFT_NONE)
        rma->asked_first = slot;
    else
        rma->request[rma->asked_last].after = slot;
    rma->asked_last = slot;
}

static void forget_asked(struct weft__tin_rma *rma, uint32_t slot) {
    const struct weft__tin_request *r = &rma->request[slot];
    *(r->before == WEFT_NONE ? &rma->asked_first : &rma->request[r->before].after) = r->after;
    *(r->after == WEFT_NONE ? &rma->asked_last : &rma->request[r->after].before) = r->before;
    assert(r->state == WEFT__TIN_ASKED && rma->solicited_bytes >= window_bytes(r));
    rma->solicited_bytes -= window_bytes(r);
}

/// Slots that continue after a constant time, in the order of arrival. The timer is that of the first.
static void queue_slot(struct weft__node *node, struct weft__tin_rma *rma, struct weft__fifo *fifo, enum timer timer,
                       weft_time_ps at, uint32_t slot) {
    struct weft_packet p = {.time_ps = at, .qp = slot, .psn = rma->request[slot].use};
    if (!fifo->n) weft__timer_set(&node->timers, rma->key0 + timer, at);
    weft__fifo_push(fifo, rma->pool, &p);
}

static uint32_t next_slot(struct weft__node *node, struct weft__tin_rma *rma, struct weft__fifo *fifo,
                          enum timer timer) {
    struct weft_packet p;
    weft__fifo_pop(fifo, rma->pool, &p);
    if (fifo->n)
        weft__timer_set(&node->timers, rma->key0 + timer, weft__fifo_head(fifo)->time_ps);
    else
        weft__timer_cancel(&node->timers, rma->key0 + timer);
    return p.qp;
}

static void dispatch_request(struct weft__node *node, struct weft__tin_rma *rma, struct weft__worker *w,
                             uint32_t slot) {
    struct weft__tin_request *r = &rma->request[slot];
    uint32_t value = r->bytes;
    if (r->verb != WEFT_RMA_READ) r->bytes = ACK_BYTES; // the only data requested here
    r->state = WEFT__TIN_ASKED;
    r->left = (uint16_t)answer_bytes(r);
    r->dispatched_ps = w->now_ps;
    rma->solicited_bytes += window_bytes(r);
    if (rma->solicited_bytes > rma->solicited_bytes_max) rma->solicited_bytes_max = rma->solicited_bytes;
    if (rma->asked_first == WEFT_NONE)
        weft__timer_set(&node->timers, rma->key0 + ASKED, w->now_ps + rma->conf->timeout_ps);
    note_asked(rma, slot);
    struct weft_packet cell = {
        .bytes = WEFT_GNET_REQUEST_BYTES,
        .dst = weft__gnet_pair(r->tin, rma->self),
        .qp = slot,
        .psn = weft__tin_req_psn(r->use, value, r->their_host, r->verb),
        .priority = r->priority & 7u,
        .dscp = r->host & 63u,
        .ecn = r->bulk,
    };
    if (r->client != WEFT_NONE) rma->client[r->client].core->stats->requests++;
    note_request(rma, w, WEFT_RMA_ASKED, rma->self, slot, r->use, WEFT_NONE);
    inject_cell(node, rma, w, &cell, WEFT__GNET_REQ, r->host);
}

static bool fits_window(const struct weft__tin_rma *rma, uint32_t slot) {
    const struct weft__tin_request *r = &rma->request[slot];
    return rma->solicited_bytes + window_bytes(r) <= rma->conf->window_bytes;
}

static void dispatch_waiting(struct weft__node *node, struct weft__tin_rma *rma, struct weft__worker *w) {
    while (rma->waiting.n && fits_window(rma, weft__fifo_head(&rma->waiting)->qp))
        dispatch_request(node, rma, w, next_slot(node, rma, &rma->waiting, WAITING));
}

/// Sends a Req that nobody answers: it needs no window, and the server counts its operation.
static void send_req(struct weft__node *node, struct weft__tin_rma *rma, struct weft__worker *w, uint32_t slot) {
    const struct weft__tin_request r = rma->request[slot];
    struct weft__rma_client *core = rma->client[r.client].core;
    weft_time_ps begun = core->op[r.op].begun_ps;
    uint32_t high = (uint32_t)(begun >> 32) & ((1u << WEFT__TIN_BEGUN_BITS) - 1);
    note_left(rma, w, &r, (uint32_t)begun, high);
    struct weft_packet cell = {
        .bytes = WEFT_GNET_REQUEST_BYTES,
        .dst = weft__gnet_pair(r.tin, rma->self),
        .qp = (uint32_t)begun,
        .psn = weft__tin_req_psn(high, 0, r.their_host, r.verb),
        .priority = r.priority & 7u,
        .dscp = core->rma->entry & (WEFT_RMA_SENDS_MAX - 1),
        .ecn = r.bulk,
    };
    free_slot(rma, slot);
    weft__rma_sent(core, w, r.op);
    inject_cell(node, rma, w, &cell, WEFT__GNET_REQ, r.host);
}

/// The command has reached the hardware.
static void on_command(struct weft__node *node, struct weft__tin_rma *rma, struct weft__worker *w, uint32_t slot) {
    if (rma->request[slot].verb == WEFT_RMA_SEND) {
        send_req(node, rma, w, slot);
        return;
    }
    if (rma->request[slot].client != WEFT_NONE)
        note_op(rma, w, WEFT_RMA_READY, rma->request[slot].client, rma->request[slot].op, slot);
    if (!rma->waiting.n && fits_window(rma, slot)) {
        dispatch_request(node, rma, w, slot);
        return;
    }
    rma->request[slot].state = WEFT__TIN_WAITING;
    queue_slot(node, rma, &rma->waiting, WAITING, w->now_ps + rma->conf->dispatch_timeout_ps, slot);
}

// --- the client's software ----------------------------------------------------------------------------------------

static const struct weft_cc_ops *cc_of(const struct weft__tin_client *c) {
    return c->core->rma->conf->cc.model->ops;
}

typedef void cc_handler(void *state, const void *conf, const struct weft_cc_fact *, struct weft_cc_act *);

/// Congestion control that needs timers gets no calls from them here.
static void tell_cc(const struct weft__tin_rma *rma, const struct weft__tin_client *c, struct weft__tin_pace *pace,
                    cc_handler *handler, weft_time_ps now, uint32_t bytes, weft_time_ps rtt, bool timeout) {
    if (!handler) return;
    struct weft_cc_fact fact = {
        .now_ps = now,
        .line_rate_bps = rma->conf->nic_rate_bps,
        .bytes = bytes,
        .packet_bytes = (uint32_t)c->core->rma->conf->size_bytes,
        .timeouts = timeout,
        .rtt_ps = rtt,
        .local = c->core->rma->conf->split && pace == &c->local,
    };
    struct weft_cc_act act = {.rate_bps = pace->rate_bps, .timer_ps = WEFT_TIME_NEVER, .window_bytes = UINT64_MAX};
    weft_rate_bps before = pace->rate_bps;
    handler(pace->cc, c->core->rma->conf->cc.conf, &fact, &act);
    pace->rate_bps = act.rate_bps;
    if (pace->next_ps > now && before != act.rate_bps) // the rest of the wait runs at the new rate
        pace->next_ps = now + (weft_time_ps)((unsigned __int128)(pace->next_ps - now) * before / act.rate_bps);
}

static void charge_pace(struct weft__tin_pace *pace, weft_time_ps now, uint32_t bytes) {
    pace->next_ps = now + weft_time_of_bytes(bytes, pace->rate_bps);
}

static void add_work(struct weft__node *node, struct weft__tin_rma *rma, struct weft__worker *w, enum work kind,
                     uint32_t client, uint32_t op) {
    struct weft__tin_client *c = &rma->client[client];
    struct weft__tin_host *host = &rma->host[c->host];
    const struct weft_rma_processor *conf = &c->core->rma->conf->processor;
    weft_time_ps cost = kind == SUBMIT ? conf->submit_ps : conf->complete_ps;
    struct weft_packet p = {
        .time_ps = weft__rma_work(&host->processor, conf, w->now_ps, cost),
        .qp = client,
        .psn = op,
        .flags = kind & 7u,
    };
    if (!host->work.n) weft__timer_set(&node->timers, rma->key0 + OF_HOSTS + 2u * c->host, p.time_ps);
    weft__fifo_push(&host->work, rma->pool, &p);
}

/// From the command until it reaches the solicitation window.
static weft_time_ps command_time(const struct weft__tin_rma *rma) {
    return rma->conf->command_ps + rma->conf->engine_ps;
}

/// The command for an operation goes to the hardware.
static void command_op(struct weft__node *node, struct weft__tin_rma *rma, struct weft__worker *w, uint32_t client,
                       uint32_t op) {
    const struct weft__tin_client *c = &rma->client[client];
    const struct weft_rma *entry = c->core->rma;
    const struct weft__rma_op *o = &c->core->op[op];
    uint32_t slot = take_slot(rma), server = entry->server[o->server];
    struct weft__tin_request *r = &rma->request[slot];
    *r = (struct weft__tin_request){
        .submitted_ps = w->now_ps,
        .client = client,
        .op = op,
        .use = r->use,
        .bytes = (uint16_t)weft__rma_bytes(c->core, o),
        .tin = rma->places.tin_of_host[server],
        .host = c->host,
        .their_host = (uint8_t)rma->places.at_tin[server],
        .state = WEFT__TIN_COMMANDED,
        .verb = (uint8_t)entry->conf->verb,
        .priority = (uint8_t)entry->conf->priority,
        .bulk = entry->conf->vcs == WEFT_RMA_VCS_BULK,
    };
    note_op(rma, w, WEFT_RMA_COMMANDED, client, op, slot);
    queue_slot(node, rma, &rma->commanded, COMMANDED, w->now_ps + command_time(rma), slot);
}

/// A path with operations is in the list of ready paths, or has a timer for when its pace allows the next.
static void place_path(struct weft__node *node, struct weft__tin_rma *rma, const struct weft__worker *w,
                       uint32_t client, uint32_t server) {
    struct weft__tin_client *c = &rma->client[client];
    struct weft__tin_path *path = &c->path[server];
    uint32_t key = c->key0 + OF_PATHS + server;
    if (path->ready || path->first == WEFT_NONE) return;
    if (path->remote.next_ps > w->now_ps) {
        weft__timer_set(&node->timers, key, path->remote.next_ps);
        return;
    }
    weft__timer_cancel(&node->timers, key);
    path->ready = true;
    path->after = WEFT_NONE;
    *(c->ready_first == WEFT_NONE ? &c->ready_first : &c->path[c->ready_last].after) = server;
    c->ready_last = server;
}

/// Starts an operation of each ready path in turn, as far as the client's own pace allows; sets a timer for the next.
static void run_client(struct weft__node *node, struct weft__tin_rma *rma, struct weft__worker *w, uint32_t client) {
    struct weft__tin_client *c = &rma->client[client];
    while (c->ready_first != WEFT_NONE && c->local.next_ps <= w->now_ps) {
        uint32_t server = c->ready_first;
        struct weft__tin_path *path = &c->path[server];
        uint32_t op = path->first, bytes = weft__rma_bytes(c->core, &c->core->op[op]);
        c->ready_first = path->after;
        path->ready = false;
        path->first = c->core->op[op].next;
        if (c->core->rma->conf->split) charge_pace(&path->remote, w->now_ps, bytes);
        charge_pace(&c->local, w->now_ps, bytes);
        place_path(node, rma, w, client, server);
        command_op(node, rma, w, client, op);
    }
    if (c->ready_first == WEFT_NONE)
        weft__timer_cancel(&node->timers, c->key0 + PACE);
    else
        weft__timer_set(&node->timers, c->key0 + PACE, c->local.next_ps);
}

static void run_path(struct weft__node *node, struct weft__tin_rma *rma, struct weft__worker *w, uint32_t client,
                     uint32_t server) {
    place_path(node, rma, w, client, server);
    run_client(node, rma, w, client);
}

static void submit_op(struct weft__node *node, struct weft__tin_rma *rma, struct weft__worker *w, uint32_t client,
                      uint32_t op) {
    struct weft__tin_client *c = &rma->client[client];
    uint32_t server = c->core->op[op].server;
    struct weft__tin_path *path = &c->path[server];
    c->core->op[op].next = WEFT_NONE;
    note_op(rma, w, WEFT_RMA_SUBMITTED, client, op, WEFT_NONE);
    if (path->first == WEFT_NONE)
        path->first = op;
    else
        c->core->op[path->last].next = op;
    path->last = op;
    run_path(node, rma, w, client, server);
}

static void on_work(struct weft__node *node, struct weft__tin_rma *rma, struct weft__worker *w, uint32_t h) {
    struct weft__tin_host *host = &rma->host[h];
    struct weft_packet p;
    weft__fifo_pop(&host->work, rma->pool, &p);
    if (host->work.n)
        weft__timer_set(&node->timers, rma->key0 + OF_HOSTS + 2 * h, weft__fifo_head(&host->work)->time_ps);
    if (p.flags == SUBMIT) {
        submit_op(node, rma, w, p.qp, p.psn);
        return;
    }
    struct weft__rma_client *core = rma->client[p.qp].core;
    note_op(rma, w, core->op[p.psn].left > 1 ? WEFT_RMA_CHAINED : WEFT_RMA_ENDED, p.qp, p.psn, WEFT_NONE);
    if (!weft__rma_answered(core, w, p.psn)) add_work(node, rma, w, SUBMIT, p.qp, p.psn); // the value, after the index
}

static void begin_op(struct weft__node *node, struct weft__tin_rma *rma, struct weft__worker *w, uint32_t client) {
    struct weft__rma_client *core = rma->client[client].core;
    uint32_t op = weft__rma_begin(core, w);
    if (!core->over) weft__timer_set(&node->timers, rma->client[client].key0 + NEXT, core->next_ps);
    note_op(rma, w, WEFT_RMA_BEGAN, client, op, WEFT_NONE);
    add_work(node, rma, w, SUBMIT, client, op);
}

static __attribute__((cold, noinline)) void trace_timeout(const struct weft__tin_rma *rma, weft_time_ps now,
                                                          const struct weft__tin_request *r, bool dispatched) {
    const struct weft__tin_client *c = &rma->client[r->client];
    struct weft_event *event =
        weft__trace_add(rma->gnet->trace, now, WEFT_EVENT_RMA_TIMEOUT, rma->port_of_host[c->host], r->priority);
    if (!event) return;
    event->value = dispatched ? now - r->dispatched_ps : rma->conf->dispatch_timeout_ps;
    event->more = c->core->rma->server[c->core->op[r->op].server];
    event->detail = dispatched ? WEFT_EVENT_RMA_ANSWER : WEFT_EVENT_RMA_WINDOW;
}

/// Its time is over: nothing of it is left in the window.
static void hand_back(struct weft__node *node, struct weft__tin_rma *rma, struct weft__worker *w, uint32_t slot,
                      bool dispatched) {
    const struct weft__tin_request r = rma->request[slot];
    free_slot(rma, slot);
    if (r.client == WEFT_NONE) return; // the TiN that announced the write will try again
    struct weft__tin_client *c = &rma->client[r.client];
    bool remote = dispatched && c->core->rma->conf->split;
    struct weft__tin_pace *pace = remote ? &c->path[c->core->op[r.op].server].remote : &c->local;
    *(dispatched ? &c->core->stats->timeouts : &c->core->stats->dispatch_timeouts) += 1;
    c->core->stats->retries++;
    if (rma->gnet->trace) trace_timeout(rma, w->now_ps, &r, dispatched);
    tell_cc(rma, c, pace, cc_of(c)->on_loss, w->now_ps, 0, w->now_ps - (remote ? r.dispatched_ps : r.submitted_ps),
            true);
    note_op(rma, w, dispatched ? WEFT_RMA_UNHEARD : WEFT_RMA_UNSENT, r.client, r.op, WEFT_NONE);
    submit_op(node, rma, w, r.client, r.op);
}

/// The completion is in the client's memory.
static void on_landed(struct weft__node *node, struct weft__tin_rma *rma, struct weft__worker *w, uint32_t slot) {
    const struct weft__tin_request r = rma->request[slot];
    free_slot(rma, slot);
    struct weft__tin_client *c = &rma->client[r.client];
    uint32_t server = c->core->op[r.op].server, bytes = weft__rma_bytes(c->core, &c->core->op[r.op]);
    struct weft__tin_path *path = &c->path[server];
    bool split = c->core->rma->conf->split;
    weft_time_ps waited = r.dispatched_ps - r.submitted_ps - command_time(rma);
    if (weft__rma_counts(c->core->rma, c->core->op[r.op].begun_ps))
        weft_histogram_add(&c->core->stats->execution, w->now_ps - r.submitted_ps);
    if (split) tell_cc(rma, c, &path->remote, cc_of(c)->on_ack, w->now_ps, bytes, w->now_ps - r.dispatched_ps, false);
    tell_cc(rma, c, &c->local, cc_of(c)->on_ack, w->now_ps, bytes, split ? waited : w->now_ps - r.submitted_ps, false);
    note_op(rma, w, WEFT_RMA_LANDED, r.client, r.op, WEFT_NONE);
    run_path(node, rma, w, r.client, server);
    add_work(node, rma, w, COMPLETE, r.client, r.op);
}

// --- the memory of a host -----------------------------------------------------------------------------------------

/// Sets the timer for the next completion of the first read, when the host's PCIe is free.
static void arm_read(struct weft__node *node, const struct weft__tin_rma *rma, uint32_t h) {
    const struct weft__tin_host *host = &rma->host[h];
    if (!host->reads.n) return;
    weft_time_ps at = weft__fifo_head(&host->reads)->time_ps;
    weft__timer_set(&node->timers, rma->key0 + OF_HOSTS + 2 * h + 1, at > host->pcie_free_ps ? at : host->pcie_free_ps);
}

/// Reads the host's memory: cells like `answer` carry the bytes.
static void read_memory(struct weft__node *node, struct weft__tin_rma *rma, struct weft__worker *w, uint32_t h,
                        const struct weft_packet *answer, uint32_t bytes) {
    struct weft__tin_host *host = &rma->host[h];
    struct weft_packet p = *answer;
    p.time_ps = w->now_ps + 2 * rma->conf->engine_ps + rma->conf->read_ps; // there and back
    p.bytes = (uint16_t)bytes;
    weft__fifo_push(&host->reads, rma->pool, &p);
    if (host->reads.n > 1) return;
    host->left = bytes;
    arm_read(node, rma, h);
}

/// A completion of the first read has arrived.
static void on_read(struct weft__node *node, struct weft__tin_rma *rma, struct weft__worker *w, uint32_t h) {
    struct weft__tin_host *host = &rma->host[h];
    struct weft_packet cell = *weft__fifo_head(&host->reads);
    uint32_t bytes = (uint32_t)rma->conf->completion_bytes;
    if (bytes > host->left) bytes = host->left;
    host->left -= bytes;
    host->pcie_free_ps = w->now_ps + weft_time_of_bytes(bytes, rma->conf->pcie_rate_bps);
    if (!host->left) {
        struct weft_packet done;
        note_request(rma, w, WEFT_RMA_SENT, weft__gnet_to(&cell), cell.qp, cell.psn, WEFT_NONE);
        weft__fifo_pop(&host->reads, rma->pool, &done);
        if (host->reads.n) host->left = weft__fifo_head(&host->reads)->bytes;
    }
    arm_read(node, rma, h);
    while (bytes) { // one cell, unless the completion is longer
        struct weft_packet next = cell;
        next.bytes = (uint16_t)(bytes < WEFT_GNET_RESP_BYTES_MAX ? bytes : WEFT_GNET_RESP_BYTES_MAX);
        bytes -= next.bytes;
        inject_cell(node, rma, w, &next, WEFT__GNET_RESP, WEFT_NONE);
    }
}

// --- cells --------------------------------------------------------------------------------------------------------

static struct weft_packet answer_to(const struct weft__tin_rma *rma, uint32_t tin, uint32_t slot, uint32_t use,
                                    const struct weft_packet *cell) {
    return (struct weft_packet){
        .dst = weft__gnet_pair(tin, rma->self),
        .qp = slot,
        .psn = use,
        .priority = cell->priority,
        .ecn = cell->ecn,
    };
}

/// A write was announced: this TiN asks for its data.
static void pull_write(struct weft__node *node, struct weft__tin_rma *rma, struct weft__worker *w,
                       const struct weft_packet *cell) {
    uint32_t slot = take_slot(rma);
    struct weft__tin_request *r = &rma->request[slot];
    *r = (struct weft__tin_request){
        .submitted_ps = w->now_ps,
        .client = WEFT_NONE,
        .op = cell->qp,
        .use = r->use,
        .their_use = (uint16_t)weft__tin_req_use(cell->psn),
        .bytes = (uint16_t)weft__tin_req_bytes(cell->psn),
        .tin = (uint16_t)weft__gnet_from(cell),
        .host = (uint8_t)weft__tin_req_host(cell->psn),
        .their_host = cell->dscp,
        .verb = WEFT_RMA_READ,
        .priority = cell->priority,
        .bulk = cell->ecn & 1,
    };
    note_request(rma, w, WEFT_RMA_PULLS, r->tin, cell->qp, weft__tin_req_use(cell->psn), slot);
    on_command(node, rma, w, slot);
}

static void on_request(struct weft__node *node, struct weft__tin_rma *rma, struct weft__worker *w,
                       const struct weft_packet *cell) {
    struct weft_packet answer = answer_to(rma, weft__gnet_from(cell), cell->qp, weft__tin_req_use(cell->psn), cell);
    uint32_t host = weft__tin_req_host(cell->psn);
    note_request(rma, w, WEFT_RMA_CAME, weft__gnet_from(cell), cell->qp, weft__tin_req_number(cell->psn), WEFT_NONE);
    switch (weft__tin_req_verb(cell->psn)) {
    case WEFT_RMA_READ:
        read_memory(node, rma, w, host, &answer, weft__tin_req_bytes(cell->psn));
        break;
    case WEFT_RMA_WRITE:
        pull_write(node, rma, w, cell);
        break;
    case WEFT_RMA_ATOMIC:
        read_memory(node, rma, w, host, &answer, ACK_BYTES);
        break;
    case WEFT_RMA_SEND:
        weft__rma_came(rma->run, w, cell->dscp, weft__tin_req_begun(cell));
        break;
    }
}

static void on_answer(struct weft__node *node, struct weft__tin_rma *rma, struct weft__worker *w,
                      const struct weft_packet *cell) {
    struct weft__tin_request *r = cell->qp < rma->requests ? &rma->request[cell->qp] : NULL;
    if (!r || r->state != WEFT__TIN_ASKED || r->use != cell->psn || cell->bytes > r->left) {
        rma->late++;
        return;
    }
    weft__count(w, WEFT__COUNT_PAYLOAD_BYTES, cell->bytes);
    r->left = (uint16_t)(r->left - cell->bytes);
    if (r->left) return;
    w->tally.progress_ps = w->now_ps; // not before: a part is asked for again after a timeout
    forget_asked(rma, cell->qp);
    note_request(rma, w, WEFT_RMA_ANSWERED, rma->self, cell->qp, r->use, WEFT_NONE);
    if (r->client == WEFT_NONE) { // the data of a write: confirm it
        struct weft_packet answer = answer_to(rma, r->tin, r->op, r->their_use, cell);
        answer.bytes = ACK_BYTES;
        note_request(rma, w, WEFT_RMA_SENT, r->tin, r->op, r->their_use, WEFT_NONE);
        free_slot(rma, cell->qp);
        inject_cell(node, rma, w, &answer, WEFT__GNET_RESP, WEFT_NONE);
    } else {
        r->state = WEFT__TIN_LANDING;
        queue_slot(node, rma, &rma->landing, LANDING, w->now_ps + rma->conf->engine_ps + rma->conf->complete_ps,
                   cell->qp);
    }
    dispatch_waiting(node, rma, w);
}

void weft__tin_rma_on_cell(struct weft__node *node, struct weft__tin_rma *rma, struct weft__worker *w,
                           const struct weft_packet *cell) {
    w->tally.delivered_bytes += cell->bytes;
    if (weft__gnet_type(cell) == WEFT__GNET_REQ)
        on_request(node, rma, w, cell);
    else
        on_answer(node, rma, w, cell);
}

// --- timers -------------------------------------------------------------------------------------------------------

/// Unanswered requests, starting from the oldest.
static void on_unanswered(struct weft__node *node, struct weft__tin_rma *rma, struct weft__worker *w) {
    while (rma->asked_first != WEFT_NONE) {
        uint32_t slot = rma->asked_first;
        weft_time_ps due = rma->request[slot].dispatched_ps + rma->conf->timeout_ps;
        if (due > w->now_ps) {
            weft__timer_set(&node->timers, rma->key0 + ASKED, due);
            break;
        }
        forget_asked(rma, slot);
        hand_back(node, rma, w, slot, true);
    }
    dispatch_waiting(node, rma, w);
}

static void on_client_timer(struct weft__node *node, struct weft__tin_rma *rma, struct weft__worker *w, uint32_t key) {
    // the last whose timers begin at or before the key
    uint32_t low = WEFT__FIRST_WITHOUT(1, rma->clients, rma->client[middle].key0 <= key) - 1;
    uint32_t k = key - rma->client[low].key0;
    if (k == NEXT)
        begin_op(node, rma, w, low);
    else if (k == PACE)
        run_client(node, rma, w, low);
    else
        run_path(node, rma, w, low, k - OF_PATHS);
}

void weft__tin_rma_on_timer(struct weft__node *node, struct weft__tin_rma *rma, struct weft__worker *w, uint32_t key) {
    uint32_t k = key - rma->key0;
    switch (k) {
    case COMMANDED:
        on_command(node, rma, w, next_slot(node, rma, &rma->commanded, COMMANDED));
        return;
    case WAITING:
        hand_back(node, rma, w, next_slot(node, rma, &rma->waiting, WAITING), false);
        return;
    case ASKED:
        on_unanswered(node, rma, w);
        return;
    case LANDING:
        on_landed(node, rma, w, next_slot(node, rma, &rma->landing, LANDING));
        return;
    }
    if (k >= OF_HOSTS + 2 * rma->hosts)
        on_client_timer(node, rma, w, key);
    else if ((k - OF_HOSTS) % 2)
        on_read(node, rma, w, (k - OF_HOSTS) / 2);
    else
        on_work(node, rma, w, (k - OF_HOSTS) / 2);
}

// --- before and after a run ---------------------------------------------------------------------------------------

static void pace_init(const struct weft__tin_rma *rma, const struct weft__tin_client *c, struct weft__tin_pace *pace,
                      struct weft_arena *arena) {
    size_t size = cc_of(c)->state_size(c->core->rma->conf->cc.conf);
    pace->cc = size ? weft_arena_alloc(arena, 1, size) : NULL;
    pace->rate_bps = rma->conf->nic_rate_bps;
    tell_cc(rma, c, pace, cc_of(c)->on_start, 0, 0, 0, false);
}

struct weft__tin_rma *weft__tin_rma_new(const struct weft__tin_rma_setup *setup) {
    struct weft__tin_rma *rma = weft_arena_alloc(setup->arena, 1, sizeof *rma);
    *rma = (struct weft__tin_rma){
        .conf = setup->conf,
        .places = setup->places,
        .run = setup->run,
        .gnet = setup->gnet,
        .pool = setup->pool,
        .self = setup->self,
        .hosts = setup->hosts,
        .clients = setup->clients,
        .port_of_host = setup->port_of_host,
        .key0 = setup->key0,
        .host = weft_arena_alloc(setup->arena, setup->hosts, sizeof *rma->host),
        .client = weft_arena_alloc(setup->arena, setup->clients, sizeof *rma->client),
        .free = WEFT_NONE,
        .asked_first = WEFT_NONE,
        .asked_last = WEFT_NONE,
    };
    uint32_t key = rma->key0 + OF_HOSTS + 2 * rma->hosts;
    for (uint32_t i = 0; i < rma->clients; i++) {
        struct weft__tin_client *c = &rma->client[i];
        c->core = setup->client[i];
        c->host = setup->client_host[i];
        c->key0 = key;
        c->ready_first = WEFT_NONE;
        c->path = weft_arena_alloc(setup->arena, c->core->rma->servers, sizeof *c->path);
        pace_init(rma, c, &c->local, setup->arena);
        for (uint32_t s = 0; s < c->core->rma->servers; s++) {
            c->path[s].first = WEFT_NONE;
            pace_init(rma, c, &c->path[s].remote, setup->arena);
        }
        key += OF_PATHS + c->core->rma->servers;
    }
    return rma;
}

uint32_t weft__tin_rma_keys(const struct weft__tin_rma *rma) {
    uint32_t keys = OF_HOSTS + 2 * rma->hosts;
    for (uint32_t i = 0; i < rma->clients; i++)
        keys += OF_PATHS + rma->client[i].core->rma->servers;
    return keys;
}

void weft__tin_rma_start(struct weft__node *node, struct weft__tin_rma *rma) {
    for (uint32_t i = 0; i < rma->clients; i++)
        if (!rma->client[i].core->over)
            weft__timer_set(&node->timers, rma->client[i].key0 + NEXT, rma->client[i].core->next_ps);
}

void weft__tin_rma_deinit(struct weft__tin_rma *rma) {
    weft_memory_free(WEFT_MEMORY_HOST, rma->request, rma->requests * sizeof *rma->request);
}
