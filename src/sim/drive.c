// SPDX-License-Identifier: Apache-2.0
// A run that a program drives. The nodes run as in any other run, on all threads, except that a host's node pauses
// after an event that the program must be told about. Between windows, when all nodes have run to the window's end or
// to their first such event, this thread takes the earliest event of any host, calls the callback, lets that host
// continue to its next event or the end of the window, and so on. A callback acts on its own host at once, and on
// others after the window: the lookahead covers that delay. So all callbacks of a window come in the order of their
// times, and no host has run past the time of its callback.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/drive.h"
#include "sim/paths.h"
#include "transport/program.h"
#include "weft/cc.h"
#include "weft/drive.h"
#include "weft/memory.h"
#include "weft/report.h"

// --- queue pairs
// ------------------------------------------------------------------------------------------------------

/// Copies a list into a larger one; the old one stays in its arena.
static void *copy_list(const void *list, uint32_t n, uint32_t capacity, size_t size, struct weft_arena *arena) {
    void *to = size % 32 ? weft_arena_alloc(arena, capacity, size) : weft__arena_lines(arena, capacity, size);
    if (n) memcpy(to, list, n * size);
    return to;
}
#define MOVE(list, n, capacity) ((list) = copy_list(list, n, capacity, sizeof *(list), net->arena_qp))

static void grow_qps(struct weft_drive *d) {
    struct weft__network *net = weft__drive_net(d);
    uint32_t n = net->qps, capacity = n < 512 ? 1024 : 2 * n;
    struct weft__hosts *h = &net->hosts;
    MOVE(net->qp, n, capacity);
    MOVE(h->qp_numbers, n, capacity);
    MOVE(h->sender, n, capacity);
    MOVE(h->sample, n, capacity);
    MOVE(h->receiver, n, capacity);
    if (h->hold) MOVE(h->hold, n, capacity);
    if (h->sender_state) MOVE(h->sender_state, n, capacity);
    if (h->receiver_state) MOVE(h->receiver_state, n, capacity);
    if (h->carrier) MOVE(h->carrier, n, capacity);
    h->qp = net->qp;
    d->qps_capacity = capacity;
}

static void grow_flows(struct weft_drive *d) {
    struct weft__network *net = weft__drive_net(d);
    uint32_t n = d->workload.flows, own = n - d->driver.flow0, capacity = n < 512 ? 1024 : 2 * n;
    struct weft__hosts *h = &net->hosts;
    MOVE(d->workload.flow, n, capacity);
    MOVE(h->qps_left, n, capacity);
    MOVE(h->qps_unacked, n, capacity);
    MOVE(d->tag, d->tag ? n : 0, capacity);
    MOVE(d->want, own, capacity);
    MOVE(d->listener, own, capacity);
    net->outcome->flow = copy_list(h->outcome, n, capacity, sizeof *h->outcome, net->outcome->arena);
    h->outcome = net->outcome->flow;
    h->flow = d->workload.flow;
    d->driver.want = d->want;
    d->flows_capacity = capacity;
}

static struct weft__drive_pair *find_pair(const struct weft_drive *d, uint64_t hosts) {
    uint64_t i = (hosts * UINT64_C(0x9e3779b97f4a7c15)) >> 32;
    while (d->pair[i & (d->pair_slots - 1)].hosts && d->pair[i & (d->pair_slots - 1)].hosts != hosts)
        i++;
    return &d->pair[i & (d->pair_slots - 1)];
}

static void grow_pairs(struct weft_drive *d) {
    struct weft__drive_pair *old = d->pair;
    uint32_t slots = d->pair_slots;
    d->pair_slots = slots ? 2 * slots : 64;
    d->pair = weft_memory_new(WEFT_MEMORY_QP, d->pair_slots, sizeof *d->pair);
    for (uint32_t i = 0; i < slots; i++)
        if (old[i].hosts) *find_pair(d, old[i].hosts) = old[i];
    weft_memory_free(WEFT_MEMORY_QP, old, slots * sizeof *old);
}

/// Returns how many queue pairs there are from src to dst, and adds `more`.
static uint64_t count_pair(struct weft_drive *d, uint32_t src, uint32_t dst, uint32_t more) {
    if (4 * (d->pairs + 1) > 3 * d->pair_slots) grow_pairs(d);
    uint64_t hosts = ((uint64_t)src << 32 | dst) + 1;
    struct weft__drive_pair *pair = find_pair(d, hosts);
    d->pairs += !pair->hosts;
    pair->hosts = hosts;
    pair->qps += more;
    return pair->qps - more;
}

static const struct weft_host_conf *conf_of(const struct weft__network *net, uint32_t host) {
    return &net->device[net->topology->host[host]]->host;
}

/// Allocates what the transport at one end of a queue pair keeps beside its line, if anything.
static void add_state(struct weft_drive *d, void ***state, uint32_t qp, size_t size) {
    struct weft__network *net = weft__drive_net(d);
    if (!size) return;
    if (!*state) *state = weft_arena_alloc(net->arena_qp, d->qps_capacity, sizeof **state);
    (*state)[qp] = weft_arena_alloc(net->arena_qp, 1, size);
}

static void add_states(struct weft_drive *d, uint32_t qp) {
    struct weft__network *net = weft__drive_net(d);
    const struct weft_model_conf *src = &conf_of(net, net->qp[qp].src)->transport;
    const struct weft_model_conf *dst = &conf_of(net, net->qp[qp].dst)->transport;
    const struct weft_transport_ops *at_src = src->model->ops, *at_dst = dst->model->ops;
    if (at_src->sender_size) add_state(d, &net->hosts.sender_state, qp, at_src->sender_size(src->conf));
    if (at_dst->receiver_size)
        add_state(d, &net->hosts.receiver_state, qp, at_dst->receiver_size(dst->conf, &net->qp[qp]));
}

void weft__drive_add_qp(struct weft_drive *d, const struct weft_send *send, uint32_t flow, weft_time_ps start) {
    struct weft__network *net = weft__drive_net(d);
    if (net->qps == d->qps_capacity) grow_qps(d);
    uint32_t qp = net->qps++;
    bool raw = d->workload.flow[flow].verb == WEFT_VERB_RAW;
    const struct weft_host_conf *src = conf_of(net, send->src);
    const struct weft_cc_ops *cc = src->cc.model->ops;
    size_t cc_size = cc->state_size(src->cc.conf);
    struct weft__node *node = &net->engine.node[net->topology->host[send->src]];
    assert(src->mtu_bytes && send->bytes && send->bytes <= (weft_bytes)(UINT32_MAX - 1) * src->mtu_bytes); // check_send
    uint32_t packets = (uint32_t)((send->bytes + src->mtu_bytes - 1) / src->mtu_bytes);
    uint64_t seed = net->scenario->run.seed;
    net->qp[qp] = (struct weft_qp_conf){
        .flow = flow,
        .src = send->src,
        .dst = send->dst,
        .packets = packets,
        .bytes = send->bytes,
        .plain = true,
        .at_src = raw ? 0 : net->hosts.ops->open(node, node->state, qp, start),
        .at_dst = 0, // the remote end has no timer
        .mtu = (uint16_t)src->mtu_bytes,
        .entropy = weft__qp_entropy(src, seed, send->src, count_pair(d, send->src, send->dst, 1)),
        .priority = (uint8_t)send->priority,
        .verb = d->workload.flow[flow].verb,
    };
    ((struct weft_qp_numbers *)net->hosts.qp_numbers)[qp] =
        (struct weft_qp_numbers){.at_src = weft_address_qp(d->qp_next[send->src]++),
                                 .at_dst = weft_address_qp(d->qp_next[send->dst]++),
                                 .src = send->src,
                                 .dst = send->dst};
    net->hosts.sender[qp].posted = packets;
    if (cc_size) net->hosts.sender[qp].cc = weft_arena_alloc(net->arena_qp, 1, cc_size);
    net->hosts.receiver[qp].progress_ps = WEFT_TIME_NEVER;
    add_states(d, qp);
}

uint32_t weft__drive_add_flow(struct weft_drive *d, const struct weft_send *send, weft_time_ps start) {
    struct weft__network *net = weft__drive_net(d);
    if (d->workload.flows == d->flows_capacity) grow_flows(d);
    assert(d->workload.flows >= d->driver.flow0);
    uint32_t flow = d->workload.flows++, own = flow - d->driver.flow0;
    d->workload.flow[flow] = (struct weft_flow){
        .group = d->group,
        .src = send->src,
        .dst = send->dst,
        .bytes = send->bytes,
        .start_ps = start,
        .qps = 1,
        .priority = (uint8_t)send->priority,
        .verb = WEFT_VERB_WRITE,
    };
    d->workload.qps++;
    d->workload.bytes += send->bytes;
    net->outcome->flows = d->workload.flows;
    net->outcome->flow[flow].start_ps = start;
    net->outcome->flow[flow].end_ps = net->outcome->flow[flow].acked_ps = WEFT_TIME_NEVER;
    net->hosts.qps_left[flow] = net->hosts.qps_unacked[flow] = 1;
    d->tag[flow] = send->tag;
    d->want[own] = (uint8_t)(send->callback ? send->events : 0);
    d->listener[own] = (struct weft__drive_listener){send->callback, send->context};
    d->run.progress.flows++;
    d->run.progress.total_bytes += send->bytes;
    return flow;
}

// --- what a program asks for
// ------------------------------------------------------------------------------------------

static enum weft_status check_goes_on(const struct weft_drive *d, struct weft_error *ret_error) {
    return d->over ? FAIL(WEFT_ERROR_INPUT, "the network cannot run further: its last run ended it") : WEFT_OK;
}

/// Checks when something that is to happen at *time may happen at a host.
enum weft_status weft__drive_check_time(struct weft_drive *d, uint32_t host, weft_time_ps *time,
                                        struct weft_error *ret_error) {
    if (check_goes_on(d, ret_error)) return WEFT_ERROR_INPUT;
    if (host >= weft__drive_net(d)->topology->hosts)
        return FAIL(WEFT_ERROR_INPUT, "no host %u; expected 0 to %u", host, weft__drive_net(d)->topology->hosts - 1);
    if (*time > WEFT_TIME_MAX) return FAIL(WEFT_ERROR_INPUT, "a time beyond the end of simulated time (100 days)");
    bool here = d->inside ? host == d->host : !weft__engine_ran_until(&weft__drive_net(d)->engine);
    if (here) {
        if (*time < d->now_ps) *time = d->now_ps;
        return WEFT_OK;
    }
    if (*time >= d->now_ps && *time - d->now_ps >= weft_drive_lookahead(d)) return WEFT_OK;
    return FAIL(WEFT_ERROR_LOOKAHEAD,
                "host %u at %llu ps: expected a time of at least now + lookahead = %llu + %llu ps", host,
                (unsigned long long)*time, (unsigned long long)d->now_ps, (unsigned long long)weft_drive_lookahead(d));
}

static enum weft_status check_send(struct weft_drive *d, const struct weft_send *s, struct weft_error *ret_error) {
    const struct weft_topology *t = weft__drive_net(d)->topology;
    if (s->dst >= t->hosts) return FAIL(WEFT_ERROR_INPUT, "no host %u; expected 0 to %u", s->dst, t->hosts - 1);
    const struct weft__raw *raw = weft__drive_net(d)->raw;
    if (raw && (raw->host[s->src] || raw->host[s->dst]))
        return FAIL(WEFT_ERROR_INPUT, "host %u is attached, and sends and receives frames only (weft_drive_put)",
                    raw->host[s->src] ? s->src : s->dst);
    if (s->src == s->dst) return FAIL(WEFT_ERROR_INPUT, "host %u sends to itself; expected another host", s->src);
    if (weft_topology_network_of(t, s->src) != weft_topology_network_of(t, s->dst))
        return FAIL(WEFT_ERROR_INPUT, "hosts %u and %u are in different networks", s->src, s->dst);
    if (s->priority >= WEFT_PRIORITIES) return FAIL(WEFT_ERROR_INPUT, "priority %u; expected 0 to 7", s->priority);
    weft_bytes bytes_max = (weft_bytes)(UINT32_MAX - 1) * conf_of(weft__drive_net(d), s->src)->mtu_bytes;
    if (!s->bytes || s->bytes > bytes_max)
        return FAIL(WEFT_ERROR_INPUT, "%llu bytes; expected 1 to %llu, which is 2^32 - 2 packets",
                    (unsigned long long)s->bytes, (unsigned long long)bytes_max);
    if (d->workload.flows == WEFT_NONE - 1 || weft__drive_net(d)->qps == WEFT_NONE - 1)
        return FAIL(WEFT_ERROR_INPUT, "too many messages; expected less than 2^32");
    return WEFT_OK;
}

/// A timer of the host's node was set. The host of a callback is rescheduled when it continues.
void weft__drive_reschedule(struct weft_drive *d, uint32_t host) {
    if (d->inside && host == d->host) return;
    if (weft__engine_ran_until(&weft__drive_net(d)->engine))
        weft__engine_reschedule(&weft__drive_net(d)->engine, d->driver.host[host].node);
}

/// Uses the drive's own memory. If that runs out in the middle of an operation, the drive is unusable.
enum weft_status weft__drive_enter(struct weft_drive *d,
                                   enum weft_status (*act)(void *context, struct weft_error *ret_error),
                                   struct weft__drive_request *request, struct weft_error *ret_error) {
    if (d->failed) return FAIL(WEFT_ERROR_SYSTEM, "out of memory");
    if (!d->open) return FAIL(WEFT_ERROR_INPUT, "the drive is finished");
    request->drive = d;
    enum weft_status status = weft_memory_guard(d->memory, act, request, ret_error);
    if (status == WEFT_ERROR_SYSTEM) d->failed = true;
    return status;
}

static enum weft_status do_send(void *context, struct weft_error *ret_error) {
    struct weft__drive_request *r = context;
    struct weft_drive *d = r->drive;
    weft_time_ps start = r->send->start_ps;
    enum weft_status status = weft__drive_check_time(d, r->send->src, &start, ret_error);
    if (!status) status = check_send(d, r->send, ret_error);
    if (status) return status;
    r->flow = weft__drive_add_flow(d, r->send, start);
    weft__drive_add_qp(d, r->send, r->flow, start);
    weft__drive_net(d)->engine.conf.work++;
    weft__drive_reschedule(d, r->send->src);
    return WEFT_OK;
}

enum weft_status weft_drive_send(struct weft_drive *d, const struct weft_send *send, uint32_t *ret_flow,
                                 struct weft_error *ret_error) {
    struct weft__drive_request r = {.send = send};
    enum weft_status status = weft__drive_enter(d, do_send, &r, ret_error);
    if (!status && ret_flow) *ret_flow = r.flow;
    return status;
}

static void add_due(struct weft_drive *d, uint32_t host, weft_time_ps time, enum weft_drive_event event,
                    uint32_t what) {
    struct weft__driven *own = &d->driver.host[host];
    struct weft__due due = {time, d->serial++, event, what};
    weft__driven_add_due(own, &weft__drive_net(d)->engine.node[own->node].timers, &due);
    weft__drive_reschedule(d, host);
}

static uint32_t add_timer(struct weft_drive *d, struct weft__drive_listener listener) {
    uint32_t k = d->free_timer;
    if (k != WEFT_NONE) {
        d->free_timer = (uint32_t)(uintptr_t)d->timer[k].context;
    } else {
        WEFT__DRIVEN_ROOM(d->timer, d->timers, d->timers_capacity);
        k = d->timers++;
    }
    d->timer[k] = listener;
    return k;
}

static struct weft__drive_listener take_timer(struct weft_drive *d, uint32_t k) {
    struct weft__drive_listener listener = d->timer[k];
    d->timer[k].context = (void *)(uintptr_t)d->free_timer;
    d->free_timer = k;
    return listener;
}

static enum weft_status do_at(void *context, struct weft_error *ret_error) {
    struct weft__drive_request *r = context;
    struct weft_drive *d = r->drive;
    WEFT_TRY(weft__drive_check_time(d, r->host, &r->time, ret_error));
    weft__drive_net(d)->engine.conf.work++;
    add_due(d, r->host, r->time, WEFT_DRIVE_TIME, add_timer(d, r->listener));
    return WEFT_OK;
}

enum weft_status weft_drive_at(struct weft_drive *d, uint32_t host, weft_time_ps time, weft_drive_callback *callback,
                               void *context, struct weft_error *ret_error) {
    if (!callback) return FAIL(WEFT_ERROR_INPUT, "nobody to call back");
    struct weft__drive_request r = {.host = host, .time = time, .listener = {callback, context}};
    return weft__drive_enter(d, do_at, &r, ret_error);
}

static enum weft_status do_cancel(void *context, struct weft_error *ret_error) {
    struct weft__drive_request *r = context;
    struct weft_drive *d = r->drive;
    struct weft__network *net = weft__drive_net(d);
    if (check_goes_on(d, ret_error)) return WEFT_ERROR_INPUT;
    if (r->flow < d->driver.flow0 || r->flow >= d->workload.flows)
        return FAIL(WEFT_ERROR_INPUT, "flow %u was not sent by weft_drive_send", r->flow);
    uint32_t src = d->workload.flow[r->flow].src, qp = d->qp0 + r->flow - d->driver.flow0;
    struct weft__driven *own = &d->driver.host[src];
    struct weft__node *node = &net->engine.node[own->node];
    weft_time_ps time = d->now_ps;
    if (d->inside ? src != d->host : weft__engine_ran_until(&net->engine) > 0) time += weft_drive_lookahead(d);
    if (d->inside && src == d->host)
        net->hosts.ops->cancel(node, node->state, own->worker, qp);
    else
        add_due(d, src, time, WEFT_DRIVE_CANCELLED, qp);
    return WEFT_OK;
}

enum weft_status weft_drive_cancel(struct weft_drive *d, uint32_t flow, struct weft_error *ret_error) {
    return weft__drive_enter(d, do_cancel, &(struct weft__drive_request){.flow = flow}, ret_error);
}

void weft_drive_stop(struct weft_drive *d) {
    d->stop = true;
}

weft_time_ps weft_drive_now(const struct weft_drive *d) {
    return d->now_ps;
}

uint32_t weft_drive_host(const struct weft_drive *d) {
    return d->inside ? d->host : WEFT_NONE;
}

weft_time_ps weft_drive_lookahead(const struct weft_drive *d) {
    return d->run.net.engine.conf.lookahead_ps;
}

// --- callbacks
// --------------------------------------------------------------------------------------------------------

static weft_time_ps time_of(const struct weft_drive *d, uint32_t host) {
    const struct weft__driven *own = &d->driver.host[host];
    return own->notice[own->told].time_ps;
}

static bool is_before(const struct weft_drive *d, uint32_t a, uint32_t b) {
    weft_time_ps at = time_of(d, a), bt = time_of(d, b);
    return at != bt ? at < bt : a < b;
}

static void push_waiting(struct weft_drive *d, uint32_t host) {
    WEFT__DRIVEN_ROOM(d->waiting, d->waits, d->waits_capacity);
    uint32_t i = d->waits++;
    for (; i && is_before(d, host, d->waiting[(i - 1) / 2]); i = (i - 1) / 2)
        d->waiting[i] = d->waiting[(i - 1) / 2];
    d->waiting[i] = host;
}

/// Replaces the first host of the heap by this one, and restores the order.
static void settle_first(struct weft_drive *d, uint32_t host) {
    uint32_t i = 0;
    for (uint32_t down; (down = 2 * i + 1) < d->waits; i = down) {
        if (down + 1 < d->waits && is_before(d, d->waiting[down + 1], d->waiting[down])) down++;
        if (is_before(d, host, d->waiting[down])) break;
        d->waiting[i] = d->waiting[down];
    }
    d->waiting[i] = host;
}

static void call_back(struct weft_drive *d, uint32_t host) {
    struct weft__driven *own = &d->driver.host[host];
    struct weft__notice n = own->notice[own->told++];
    struct weft_drive_notice notice = {.event = n.event, .host = host, .time_ps = n.time_ps, .flow = WEFT_NONE};
    struct weft__drive_listener listener;
    if (n.event == WEFT_DRIVE_TIME) {
        listener = take_timer(d, n.what);
    } else if (n.event == WEFT_DRIVE_FRAME) {
        const struct weft__raw_frame *f = &weft__drive_net(d)->raw->frame[n.what];
        listener = d->attached[host];
        notice.flow = weft__drive_net(d)->raw->conversation[f->conversation].flow;
        notice.bytes = weft__raw_write(f, f->arrived_ecn, false, d->frame);
        notice.frame = d->frame;
        notice.sent_ps = f->time_ps;
        weft__drive_forget_frame(d, n.what);
    } else {
        listener = d->listener[n.what - d->driver.flow0];
        notice.flow = n.what;
        notice.tag = d->tag[n.what];
        notice.bytes = d->workload.flow[n.what].bytes;
    }
    d->now_ps = own->worker->now_ps = n.time_ps;
    d->host = host;
    d->inside = true;
    struct weft_memory *memory = weft_memory_use(NULL); // memory that a callback allocates is not the drive's
    if (listener.callback) listener.callback(listener.context, d, &notice);
    weft_memory_use(memory);
    d->inside = false;
    if (d->failed) weft_memory_fail();
}

/// Continues the host to its next notice, or to the end of the window. False: to the end.
static bool go_on(struct weft_drive *d, uint32_t host) {
    struct weft__driven *own = &d->driver.host[host];
    struct weft__node *node = &weft__drive_net(d)->engine.node[own->node];
    if (own->told == own->notices) node->ops->run(node, own->worker, own->arrival, own->arrivals, own->end_ps);
    if (own->told < own->notices) return true;
    own->paused = false;
    own->arrivals = 0;
    weft__engine_reschedule(&weft__drive_net(d)->engine, own->node);
    return false;
}

bool weft__driver_on_window(void *run) {
    struct weft_drive *d = run;
    for (uint32_t k = 0; k < weft__drive_net(d)->engine.conf.workers; k++) {
        struct weft__driven_list *list = &d->driver.paused[k];
        for (uint32_t i = 0; i < list->n; i++)
            push_waiting(d, list->host[i]);
        list->n = 0;
    }
    while (d->waits && !d->stop) {
        uint32_t host = d->waiting[0];
        if (time_of(d, host) > d->until_ps) return false;
        call_back(d, host);
        if (!go_on(d, host)) {
            if (!--d->waits) break;
            host = d->waiting[d->waits];
        }
        settle_first(d, host);
    }
    return !d->stop;
}

// --- from begin to end
// ------------------------------------------------------------------------------------------------

void weft__driver_start(struct weft__network *net) {
    for (uint32_t h = 0; h < net->topology->hosts; h++) {
        struct weft__driven *own = &net->driver->host[h];
        *own = (struct weft__driven){.driver = net->driver, .host = h, .node = net->topology->host[h]};
        own->worker = &net->engine.worker[weft__engine_worker_of(&net->engine, own->node)];
    }
}

void weft__driver_collect(struct weft__network *net) {
    for (uint32_t q = 0; q < net->qps; q++) {
        uint32_t flow = net->qp[q].flow;
        if (flow < net->driver->flow0) continue;
        net->outcome->flow[flow].delivered_bytes = net->hosts.receiver[q].delivered_bytes;
    }
}

/// The group of that name, which the scenario may also have: its number.
static uint32_t find_group(struct weft_workload *w, const char *name) {
    uint32_t group = 0;
    while (group < w->groups && strcmp(w->group[group], name) != 0)
        group++;
    if (group == w->groups) w->group[w->groups++] = name;
    return group;
}

/// The scenario's workload, with groups for the added flows.
static void copy_workload(struct weft_drive *d, const struct weft_workload *w) {
    d->workload = *w;
    d->workload.group = copy_list(w->group, w->groups, w->groups + 2, sizeof *w->group, d->arena);
    d->group = find_group(&d->workload, "drive");
    d->raw_group = d->simulation->scenario->live.hosts ? find_group(&d->workload, "live") : d->group;
}

/// A copy of the workload as it is now.
static struct weft_workload *keep_workload(const struct weft_drive *d, struct weft_arena *arena) {
    struct weft_workload *w = weft_arena_alloc(arena, 1, sizeof *w);
    *w = d->workload;
    w->group = copy_list(w->group, w->groups, w->groups, sizeof *w->group, arena);
    w->flow = copy_list(w->flow, w->flows, w->flows, sizeof *w->flow, arena);
    w->tag = copy_list(d->tag, w->flows, w->flows, sizeof *d->tag, arena);
    return w;
}

static void count_workload(struct weft_drive *d, const struct weft_workload *w) {
    for (uint32_t i = 0; i < w->flows; i++) {
        const struct weft_flow *f = &w->flow[i];
        uint32_t qps = f->qps < f->bytes ? f->qps : (uint32_t)f->bytes;
        count_pair(d, f->src, f->dst, f->qps);
        d->qp_next[f->src] += qps;
        d->qp_next[f->dst] += qps;
    }
}

static enum weft_status do_begin(void *context, struct weft_error *ret_error) {
    struct weft_drive *d = context;
    const struct weft_simulation *s = d->simulation;
    d->arena = weft_arena_new(WEFT_MEMORY_QP);
    copy_workload(d, s->workload);
    d->driver.host = weft_arena_alloc(d->arena, s->topology->hosts, sizeof *d->driver.host);
    d->driver.flow0 = s->workload->flows;
    d->qp_next = weft_arena_alloc(d->arena, s->topology->hosts, sizeof *d->qp_next);
    d->free_timer = WEFT_NONE;
    enum weft_status status =
        weft__run_begin(&d->run, s->scenario, s->topology, &d->workload, &d->run.options, &d->driver, ret_error);
    if (status) return status;
    d->open = true;
    d->qp0 = d->run.net.qps;
    count_workload(d, s->workload);
    if (d->run.net.raw) {
        d->attached = weft_arena_alloc(d->arena, s->topology->hosts, sizeof *d->attached);
        d->frame = weft_arena_alloc(d->arena, UINT16_MAX, 1);
    }
    grow_qps(d);
    grow_flows(d);
    return WEFT_OK;
}

enum weft_status weft_drive_new(const struct weft_simulation *s, const struct weft_sim_options *options,
                                struct weft_drive **ret_drive, struct weft_error *ret_error) {
    *ret_drive = NULL;
    if (options && (options->record || options->capture_file))
        return FAIL(WEFT_ERROR_INPUT, "a driven run can neither be recorded nor captured");
    struct weft_drive *d = aligned_alloc(_Alignof(struct weft_drive), sizeof *d); // more alignment than calloc gives
    if (!d) return FAIL(WEFT_ERROR_SYSTEM, "out of memory");
    memset(d, 0, sizeof *d);
    d->simulation = s;
    d->memory = weft_memory_open();
    if (options) d->run.options = *options;
    enum weft_status status =
        d->memory ? weft_memory_guard(d->memory, do_begin, d, ret_error) : FAIL(WEFT_ERROR_SYSTEM, "out of memory");
    if (status)
        weft_drive_free(d);
    else
        *ret_drive = d;
    return status;
}

static enum weft_status do_run(void *context, struct weft_error *ret_error) {
    const struct weft__drive_request *r = context;
    if (!r->drive->over) weft__engine_run(&weft__drive_net(r->drive)->engine);
    return WEFT_OK;
}

/// How the run has ended. If the scenario's end comes before the next event, that is no end yet for a caller who only
/// continues to an earlier time: it may still have something to do there.
static enum weft_end end_of(struct weft_drive *d) {
    struct weft__engine *e = &weft__drive_net(d)->engine;
    enum weft_end end = weft__network_end(weft__drive_net(d));
    bool over = end == WEFT_END_UNTIL || end == WEFT_END_TIME;
    if (over && d->until_ps < e->conf.until_ps) end = e->end = WEFT_END_PAUSED;
    return end;
}

/// Time advances to the scenario's end, to the last event, or to the end of the windows that the engine found empty.
static void pass_time(struct weft_drive *d, bool over) {
    const struct weft__engine *e = &weft__drive_net(d)->engine;
    if (over) d->now_ps = e->conf.until_ps;
    weft_time_ps last = weft__engine_tally(e).last_ps, window = e->worker[0].length_ps;
    weft_time_ps begun = weft__engine_ran_until(e) ? weft__engine_ran_until(e) - window : 0;
    if (last < begun) last = begun;
    if (last > d->now_ps) d->now_ps = last;
}

static void note_end(struct weft_drive *d, enum weft_drive_end end) {
    d->end = end;
    d->over = end == WEFT_DRIVE_OVER || end == WEFT_DRIVE_INTERRUPTED || end == WEFT_DRIVE_STALLED;
    if (end == WEFT_DRIVE_UNTIL && d->until_ps > d->now_ps) d->now_ps = d->until_ps;
    if (end != WEFT_DRIVE_UNTIL && end != WEFT_DRIVE_STOPPED) pass_time(d, end == WEFT_DRIVE_OVER);
}

enum weft_status weft_drive_run(struct weft_drive *d, weft_time_ps until, enum weft_drive_end *ret_end,
                                struct weft_error *ret_error) {
    static const enum weft_drive_end ends[] = {
        [WEFT_END_DONE] = WEFT_DRIVE_IDLE,     [WEFT_END_UNTIL] = WEFT_DRIVE_OVER,
        [WEFT_END_TIME] = WEFT_DRIVE_OVER,     [WEFT_END_INTERRUPTED] = WEFT_DRIVE_INTERRUPTED,
        [WEFT_END_STALL] = WEFT_DRIVE_STALLED, [WEFT_END_PAUSED] = WEFT_DRIVE_UNTIL,
    };
    if (d->inside) return FAIL(WEFT_ERROR_INPUT, "a callback cannot run the drive that calls it");
    d->until_ps = weft__drive_net(d)->engine.pause_ps = until;
    d->stop = false;
    WEFT_TRY(weft__drive_enter(d, do_run, &(struct weft__drive_request){0}, ret_error));
    if (!d->over) note_end(d, d->stop ? WEFT_DRIVE_STOPPED : ends[end_of(d)]);
    if (ret_end) *ret_end = d->end;
    return d->end == WEFT_DRIVE_STALLED ? FAIL(WEFT_ERROR_STALL, "the network makes no progress") : WEFT_OK;
}

/// Packets that paused hosts have not read stay in flight.
static void leave_unread(struct weft_drive *d) {
    for (uint32_t i = 0; i < d->waits; i++) {
        struct weft__driven *own = &d->driver.host[d->waiting[i]];
        for (uint32_t k = 0; k < own->arrivals; k++)
            own->worker->unread_bytes += own->arrival[k].packet->bytes;
    }
}

/// Frees everything but the result.
static void release_drive(struct weft_drive *d) {
    for (uint32_t h = 0; h < d->simulation->topology->hosts; h++)
        weft__driven_deinit(&d->driver.host[h]);
    for (uint32_t k = 0; k < WEFT__WORKERS_MAX; k++)
        weft_memory_free(WEFT_MEMORY_QP, d->driver.paused[k].host,
                         d->driver.paused[k].capacity * sizeof *d->driver.paused[k].host);
    weft_memory_free(WEFT_MEMORY_QP, d->waiting, d->waits_capacity * sizeof *d->waiting);
    weft_memory_free(WEFT_MEMORY_QP, d->timer, d->timers_capacity * sizeof *d->timer);
    weft_memory_free(WEFT_MEMORY_QP, d->pair, d->pair_slots * sizeof *d->pair);
    weft_arena_free(d->arena);
}

struct finishing {
    struct weft__drive_request request; ///< first
    struct weft_result *result;
};

static enum weft_status do_finish(void *context, struct weft_error *ret_error) {
    struct finishing *f = context;
    struct weft_drive *d = f->request.drive;
    struct weft__engine *e = &weft__drive_net(d)->engine;
    struct weft_outcome *outcome = weft__drive_net(d)->outcome;
    const struct weft_workload *w = keep_workload(d, outcome->arena);
    if (e->end == WEFT_END_PAUSED) e->end = WEFT_END_INTERRUPTED;
    leave_unread(d);
    enum weft_status status = weft__run_end(&d->run, &outcome, ret_error);
    f->result = weft__result_new(d->simulation, w, outcome);
    release_drive(d);
    return status;
}

/// With attached hosts the run ends where its last window does, as another one with the same frames and that
/// run.until: all hosts get there, and callbacks are made.
static enum weft_status end_window(struct weft_drive *d, struct weft_error *ret_error) {
    struct weft__engine *e = &weft__drive_net(d)->engine;
    weft_time_ps end = weft__engine_ran_until(e);
    if (!weft__drive_net(d)->raw || !d->open || d->over || !end || end > e->conf.until_ps) return WEFT_OK;
    e->conf.until_ps = end;
    enum weft_status status = weft_drive_run(d, end - 1, NULL, ret_error);
    e->end = WEFT_END_UNTIL;
    d->now_ps = end;
    return status;
}

enum weft_status weft_drive_finish(struct weft_drive *d, struct weft_result **ret_result,
                                   struct weft_error *ret_error) {
    *ret_result = NULL;
    if (d->inside) return FAIL(WEFT_ERROR_INPUT, "a callback cannot finish the drive that calls it");
    struct finishing f = {0};
    enum weft_status status = end_window(d, ret_error);
    if (!status) status = weft__drive_enter(d, do_finish, &f.request, ret_error);
    if (!f.result || d->failed) return status;
    d->open = false;
    weft__result_own(f.result, d->memory);
    d->memory = NULL;
    *ret_result = f.result;
    return status;
}

void weft_drive_free(struct weft_drive *d) {
    if (!d) return;
    weft_memory_close(d->memory);
    free(d);
}
