// SPDX-License-Identifier: Apache-2.0
// Where a flow's completion time went (weft/why.h): finds its critical path backwards in the followed frames.
#include "story/why.h"
#include "base/order.h"

#include <stdlib.h>

#include "transport/raw.h"
#include "weft/poster.h"

const char *const weft_why_names[WEFT_WHYS] = {
#define X(e, name, help) name,
    WEFT_WHY_KINDS(X)
#undef X
};
const char *const weft_why_helps[WEFT_WHYS] = {
#define X(e, name, help) help,
    WEFT_WHY_KINDS(X)
#undef X
};

// --- finding frames -----------------------------------------------------------------------------------------------

int weft__why_by_packet(const void *a, const void *b) {
    const struct weft_followed *x = *(const struct weft_followed *const *)a;
    const struct weft_followed *y = *(const struct weft_followed *const *)b;
    if (x->qp != y->qp) return x->qp < y->qp ? -1 : 1;
    if (x->psn != y->psn) return x->psn < y->psn ? -1 : 1;
    return (x->time_ps > y->time_ps) - (x->time_ps < y->time_ps);
}

int weft__why_by_request(const void *a, const void *b) {
    const struct weft_followed *x = *(const struct weft_followed *const *)a;
    const struct weft_followed *y = *(const struct weft_followed *const *)b;
    if (x->box != y->box) return x->box < y->box ? -1 : 1;
    if (x->cell != y->cell) return x->cell < y->cell ? -1 : 1;
    return weft__why_by_packet(a, b);
}

static bool is_data(const struct weft_followed *f) {
    return f->what == WEFT_FOLLOWED_FRAME && f->kind == WEFT_PACKET_DATA;
}

WEFT__ORDER_OF_POINTERS(by_arrival, struct weft_followed, WEFT__UP(arrival_ps) ?: weft__why_by_packet(a, b))

/// Those that arrive at a host, and so at the flow's destination: at any of its ports, if its NIC has several. Frames
/// are sorted by queue pair, so those of a flow are together.
static void find_lasts(struct weft_whys *y) {
    const struct weft_topology *t = y->run->topology;
    y->last = weft_arena_alloc(y->arena, y->frames, sizeof *y->last);
    for (uint64_t i = 0, first; i < y->frames;) {
        uint32_t flow = weft__why_flow_of(y, y->frame[i]->qp);
        for (first = y->lasts; i < y->frames && y->frame[i]->qp < y->qp0[flow + 1]; i++)
            if (t->node[weft__why_far_node(y, y->frame[i]->port)].role == WEFT_NODE_HOST)
                y->last[y->lasts++] = y->frame[i];
        if (y->lasts > first) qsort(&y->last[first], y->lasts - first, sizeof *y->last, by_arrival);
    }
}

struct weft_whys *weft_whys_new(const struct weft_run *run, const struct weft_follow *follow,
                                const struct weft_follow *others, struct weft_arena *arena) {
    const struct weft_workload *w = run->workload;
    struct weft_whys *y = weft_arena_alloc(arena, 1, sizeof *y);
    *y = (struct weft_whys){.run = run, .follow = follow, .arena = arena};
    y->own = weft_follow_list(follow, arena);
    y->all = others && others != follow ? weft_follow_list(others, arena) : y->own;
    y->frame = weft_arena_alloc(arena, y->own.n, sizeof *y->frame);
    y->cell = weft_arena_alloc(arena, y->own.n, sizeof *y->cell);
    y->rma = weft_arena_alloc(arena, follow->rma ? y->own.n : 0, sizeof *y->rma);
    y->finished = weft_arena_alloc(arena, w->flows, sizeof *y->finished);
    y->qp0 = weft_arena_alloc(arena, w->flows + (size_t)1, sizeof *y->qp0);
    for (uint32_t i = 0; i < w->flows; i++) { // a queue pair carries at least one byte
        const struct weft_flow *flow = &w->flow[i];
        y->qp0[i + 1] = y->qp0[i] + (flow->qps < flow->bytes ? flow->qps : (uint32_t)flow->bytes);
    }
    for (uint64_t i = 0; i < y->own.n; i++) {
        const struct weft_followed *f = &y->own.followed[i];
        if (is_data(f)) y->frame[y->frames++] = f;
        bool in_fabric = f->what >= WEFT_FOLLOWED_CELL && f->what <= WEFT_FOLLOWED_STAGE;
        if (in_fabric && f->cell >= WEFT_CARRIES_REQUEST && follow->rma)
            y->rma[y->rmas++] = f;
        else if (in_fabric && f->cell == WEFT_CARRIES_PACKET && f->kind == WEFT_PACKET_DATA)
            y->cell[y->cells++] = f;
        if (f->what == WEFT_FOLLOWED_FINISHED) y->finished[weft__why_flow_of(y, f->qp)] = f;
    }
    const struct weft_outcome *o = run->outcome;
    if (o->recorded) y->pause = weft_pauses_list(o->record, o->recorded, run->topology->ports, arena, &y->pauses);
    if (y->frames) qsort(y->frame, y->frames, sizeof *y->frame, weft__why_by_packet);
    if (y->rmas) qsort(y->rma, y->rmas, sizeof *y->rma, weft__why_by_request);
    if (y->cells) qsort(y->cell, y->cells, sizeof *y->cell, weft__why_by_packet);
    find_lasts(y);
    y->log = weft__why_logs_new(run->topology->ports, arena);
    return y;
}

uint32_t weft__why_flow_of(const struct weft_whys *y, uint32_t qp) {
    uint32_t low =
        WEFT__FIRST_WITHOUT(0, y->run->workload->flows, y->qp0[middle] <= qp); // the first flow that begins after it
    return low - 1;
}

const struct weft_host_conf *weft__why_host(const struct weft_whys *y, uint32_t node) {
    return &weft__followed_device(y->run->scenario, y->run->topology, node)->host;
}

/// Where the frames of a packet begin; they are in order of time.
static uint64_t frames_of(const struct weft_whys *y, uint32_t qp, uint32_t psn) {
    struct weft_followed key = {.qp = qp, .psn = psn};
    const struct weft_followed *at = &key;
    return WEFT__FIRST_WITHOUT(0, y->frames, weft__why_by_packet(&y->frame[middle], &at) < 0);
}

static bool is_of(const struct weft_followed *f, uint32_t qp, uint32_t psn) {
    return f->qp == qp && f->psn == psn;
}

/// The last frame of this packet that arrived at `by` or before; NULL: none.
static const struct weft_followed *arrived_by(const struct weft_whys *y, uint32_t qp, uint32_t psn, weft_time_ps by) {
    const struct weft_followed *last = NULL;
    for (uint64_t i = frames_of(y, qp, psn); i < y->frames && is_of(y->frame[i], qp, psn); i++)
        if (y->frame[i]->arrival_ps <= by && (!last || y->frame[i]->arrival_ps >= last->arrival_ps)) last = y->frame[i];
    return last;
}

static uint32_t node_of(const struct weft_whys *y, uint32_t port) {
    return y->run->topology->port[port].node;
}

uint32_t weft__why_far_node(const struct weft_whys *y, uint32_t port) {
    return node_of(y, y->run->topology->port[port].peer);
}

/// The packet that completed a flow of messages: the last one that its receiver got by then. NULL: none.
static const struct weft_followed *last_arrived(const struct weft_whys *y, uint32_t flow, weft_time_ps by) {
#define MIDDLE_FLOW weft__why_flow_of(y, y->last[middle]->qp)
    uint64_t after = WEFT__FIRST_WITHOUT(
        0, y->lasts, MIDDLE_FLOW < flow || (MIDDLE_FLOW == flow && y->last[middle]->arrival_ps <= by));
#undef MIDDLE_FLOW
    return after && weft__why_flow_of(y, y->last[after - 1]->qp) == flow ? y->last[after - 1] : NULL;
}

static enum weft_status find_end(const struct weft_whys *y, uint32_t flow, const struct weft_followed **ret_end,
                                 struct weft_error *ret_error) {
    const struct weft_workload *w = y->run->workload;
    const char *why = NULL;
    if (w->flow[flow].rma)
        why = "is a connection of remote memory access, which has no completion time";
    else if (y->run->outcome->flow[flow].end_ps == WEFT_TIME_NEVER)
        why = "did not finish";
    else if (!y->finished[flow])
        why = "was not followed";
    if (why) return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "flow %u %s", flow, why);
    *ret_end = y->finished[flow];
    return WEFT_OK;
}

/// The frames of a packet, from its sender to its receiver. A frame that crossed a fabric first is found by its arrival
/// at the previous box.
static enum weft_status follow_back(const struct weft_whys *y, const struct weft_followed *hop,
                                    struct weft__why_path *p, struct weft_error *ret_error) {
    const struct weft_topology *t = y->run->topology;
    p->hops = WEFT__WHY_HOPS_MAX;
    while (hop && p->hops) {
        p->hop[--p->hops] = hop;
        if (t->node[node_of(y, hop->port)].role == WEFT_NODE_HOST) break;
        hop = arrived_by(y, hop->qp, hop->psn, hop->time_ps);
    }
    uint32_t n = WEFT__WHY_HOPS_MAX - p->hops;
    for (uint32_t i = 0; i < n; i++)
        p->hop[i] = p->hop[p->hops + i];
    p->hops = n;
    if (hop && n) return WEFT_OK;
    return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "flow %u: its last packet cannot be followed back to its sender",
                       p->flow);
}

enum weft_status weft__why_find_path(const struct weft_whys *y, uint32_t flow, weft_time_ps from, weft_time_ps to,
                                     struct weft__why_path *p, struct weft_error *ret_error) {
    p->flow = flow;
    p->from_ps = from;
    p->to_ps = to;
    return follow_back(y, last_arrived(y, flow, to), p, ret_error);
}

/// The path of the packet that completed the flow.
static enum weft_status find_path(const struct weft_whys *y, uint32_t flow, struct weft__why_path *p,
                                  struct weft_error *ret_error) {
    const struct weft_followed *end = NULL;
    WEFT_TRY(find_end(y, flow, &end, ret_error));
    weft_time_ps start = y->run->workload->flow[flow].start_ps;
    if (y->run->workload->flow[flow].verb == WEFT_VERB_RAW) start = y->run->workload->raw->frame[end->psn].time_ps;
    if (end->psn == WEFT_NONE) return weft__why_find_path(y, flow, start, end->time_ps, p, ret_error);
    p->flow = flow;
    p->from_ps = start;
    p->to_ps = end->time_ps;
    return follow_back(y, arrived_by(y, end->qp, end->psn, end->time_ps), p, ret_error);
}

void weft__why_path_ports(const struct weft_whys *y, const struct weft__why_path *path, bool *ret_port) {
    for (uint32_t i = 0; i < path->hops; i++)
        ret_port[path->hop[i]->port] = true;
    for (uint32_t i = 0; i + 1 < path->hops; i++)
        weft__why_fabric_ports(y, path->hop[i], path->hop[i + 1], ret_port);
}

enum weft_status weft_why_ports(const struct weft_whys *y, uint32_t flow, bool *ret_port,
                                struct weft_error *ret_error) {
    struct weft__why_path path;
    enum weft_status status = find_path(y, flow, &path, ret_error);
    if (!status) weft__why_path_ports(y, &path, ret_port);
    return status;
}

// --- parts --------------------------------------------------------------------------------------------------------

static bool same_name(struct weft__why_name a, struct weft__why_name b) {
    return a.what == b.what && a.id == b.id && a.more == b.more;
}

void weft__why_add(struct weft__why_list *l, struct weft__why_time part) {
    weft_time_ps begin = l->at_ps;
    l->at_ps += part.time_ps;
    if (l->at_ps <= l->from_ps) return;
    if (begin < l->from_ps) part.time_ps = l->at_ps - l->from_ps;
    if (!part.time_ps) return;
    for (uint32_t i = l->n; i-- > 0;) {
        struct weft__why_time *at = &l->part[i];
        if (at->kind != part.kind || !same_name(at->where, part.where) || !same_name(at->because_of, part.because_of))
            continue;
        at->time_ps += part.time_ps;
        return;
    }
    if (l->n == l->room) {
        uint32_t room = l->room ? 2 * l->room : 32;
        struct weft__why_time *more = weft_arena_alloc(l->arena, room, sizeof *more);
        if (l->n) memcpy(more, l->part, l->n * sizeof *more);
        l->part = more;
        l->room = room;
    }
    l->part[l->n++] = part;
}

static const char *port_name(const struct weft_whys *y, uint32_t port) {
    char name[256];
    weft_topology_port_name(y->run->topology, port, name, sizeof name);
    return weft_arena_text(y->arena, name);
}

static const char *flow_name(const struct weft_whys *y, uint32_t flow) {
    const struct weft_topology *t = y->run->topology;
    const struct weft_flow *f = &y->run->workload->flow[flow];
    return weft_arena_format(y->arena, "flow %u (%s), %s to %s", flow, y->run->workload->group[f->group],
                             t->node[t->host[f->src]].name, t->node[t->host[f->dst]].name);
}

static const char *rma_name(const struct weft_whys *y, struct weft__why_name name) {
    uint32_t node = name.id < y->rma_nodes ? y->rma_node[name.id] : WEFT_NONE;
    bool answers = name.more == WEFT_CARRIES_ANSWER;
    if (node == WEFT_NONE) return answers ? "answers of 1RMA" : "requests of 1RMA";
    return weft_arena_format(y->arena, answers ? "answers to %s" : "requests of %s", y->run->topology->node[node].name);
}

/// `flow`: the flow whose time is explained.
static const char *name_of(const struct weft_whys *y, uint32_t flow, struct weft__why_name name) {
    const struct weft_node_info *node = y->run->topology->node;
    switch (name.what) {
    case WEFT__WHY_PORT:
        return port_name(y, name.id);
    case WEFT__WHY_NODE:
        return node[name.id].name;
    case WEFT__WHY_NODES:
        return weft_arena_format(y->arena, "%s to %s", node[name.id].name, node[name.more].name);
    case WEFT__WHY_FLOW:
        return name.id == flow ? "earlier frames of the flow" : flow_name(y, name.id);
    case WEFT__WHY_CONTROL:
        return weft_arena_format(y->arena, "control packets of %s", flow_name(y, name.id));
    case WEFT__WHY_LOCAL:
        return "pause frames or LLDP";
    case WEFT__WHY_PAUSE:
        if (name.more == WEFT_NONE) return port_name(y, name.id);
        return weft_arena_format(y->arena, "%s, for the queue of %s", port_name(y, name.id), port_name(y, name.more));
    case WEFT__WHY_MARKS:
        return weft_arena_format(y->arena, "marks at %s", port_name(y, name.id));
    case WEFT__WHY_SENDS:
        return weft_arena_format(y->arena, "%s, which sends %s", port_name(y, name.more),
                                 name.id == flow ? "earlier frames of the flow" : flow_name(y, name.id));
    case WEFT__WHY_SOLICIT:
        return "RTS and CTS cells";
    case WEFT__WHY_RMA:
        return rma_name(y, name);
    case WEFT__WHY_NOTHING:
        break;
    }
    return "";
}

void weft__why_list_parts(const struct weft_whys *y, uint32_t flow, const struct weft__why_list *l,
                          struct weft_why_part **ret_part, uint32_t *ret_parts) {
    *ret_part = weft_arena_alloc(y->arena, l->n, sizeof **ret_part);
    *ret_parts = l->n;
    for (uint32_t i = 0; i < l->n; i++) {
        const struct weft__why_name where = l->part[i].where, of = l->part[i].because_of;
        bool flows = of.what == WEFT__WHY_FLOW || of.what == WEFT__WHY_CONTROL || of.what == WEFT__WHY_SENDS;
        (*ret_part)[i] = (struct weft_why_part){.kind = l->part[i].kind,
                                                .where = name_of(y, flow, where),
                                                .because_of = name_of(y, flow, of),
                                                .time_ps = l->part[i].time_ps,
                                                .port = where.what == WEFT__WHY_PORT ? where.id : WEFT_NONE,
                                                .by = flows ? of.id : WEFT_NONE,
                                                .root = of.what == WEFT__WHY_PAUSE   ? of.more
                                                        : of.what == WEFT__WHY_MARKS ? of.id
                                                                                     : WEFT_NONE};
    }
}

/// The time on the link, and until the far end acts.
static void add_link(const struct weft_whys *y, struct weft__why_list *l, const struct weft_followed *hop) {
    const struct weft_topology *t = y->run->topology;
    weft_time_ps delay = t->link[t->port[hop->port].link].delay_ps, left = hop->arrival_ps - hop->sent_ps;
    struct weft__why_name port = {WEFT__WHY_PORT, hop->port, 0},
                          far = {WEFT__WHY_NODE, weft__why_far_node(y, hop->port), 0};
    if (delay > left) delay = left;
    weft__why_add(l, (struct weft__why_time){WEFT_WHY_SERIALISATION, port, {.id = 0}, hop->sent_ps - hop->time_ps});
    weft__why_add(l, (struct weft__why_time){WEFT_WHY_PROPAGATION, port, {.id = 0}, delay});
    weft__why_add(l, (struct weft__why_time){WEFT_WHY_PROCESSING, far, {.id = 0}, left - delay});
}

/// From the arrival of a frame until it is forwarded, or to the end.
static void add_stay(const struct weft_whys *y, const struct weft__why_path *p, uint32_t i, struct weft__why_list *l) {
    const struct weft_followed *hop = p->hop[i], *next = i + 1 < p->hops ? p->hop[i + 1] : NULL;
    uint32_t far = weft__why_far_node(y, hop->port);
    if (!next) {
        struct weft__why_name host = {WEFT__WHY_NODE, far, 0};
        weft_time_ps stay = p->to_ps - hop->arrival_ps, latency;
        bool read = y->run->workload->flow[p->flow].verb == WEFT_VERB_READ;
        latency = weft__notice_latency(weft__why_host(y, far), read);
        if (latency > stay) latency = stay;
        weft__why_add(l, (struct weft__why_time){WEFT_WHY_HOST, host, {.id = 0}, stay - latency});
        weft__why_add(l, (struct weft__why_time){WEFT_WHY_RECEIVES, host, {.id = 0}, latency});
    } else {
        weft__why_port(y, p, next, weft__why_fabric(y, p, hop, next, l), l);
    }
}

void weft__why_path_add(const struct weft_whys *y, const struct weft__why_path *path, struct weft__why_list *l) {
    weft_time_ps sent = path->hop[0]->time_ps;
    l->at_ps = sent < path->from_ps ? sent : path->from_ps;
    l->from_ps = path->from_ps;
    if (y->run->workload->flow[path->flow].verb == WEFT_VERB_RAW)
        weft__why_port(y, path, path->hop[0], path->from_ps, l);
    else if (sent > path->from_ps)
        weft__why_sender(y, path, l);
    for (uint32_t i = 0; i < path->hops; i++) {
        add_link(y, l, path->hop[i]);
        add_stay(y, path, i, l);
    }
}

void weft__why_path_parts(const struct weft_whys *y, const struct weft__why_path *path, struct weft_why_part **ret_part,
                          uint32_t *ret_parts) {
    struct weft__why_list list = {.arena = y->arena};
    weft__why_path_add(y, path, &list);
    weft__why_list_parts(y, path->flow, &list, ret_part, ret_parts);
}

weft_time_ps *weft__why_sums(const struct weft_whys *y, weft_time_ps *sum, const struct weft_why_part *part,
                             uint32_t parts) {
    if (!sum) sum = weft_arena_alloc(y->arena, WEFT_WHYS, sizeof *sum);
    for (uint32_t i = 0; i < parts; i++)
        sum[part[i].kind] += part[i].time_ps;
    return sum;
}

enum weft_status weft_why(const struct weft_whys *y, uint32_t flow, struct weft_why *ret_why,
                          struct weft_error *ret_error) {
    struct weft__why_path path;
    WEFT_TRY(find_path(y, flow, &path, ret_error));
    const struct weft_topology *t = y->run->topology;
    const struct weft_flow *f = &y->run->workload->flow[flow];
    weft_time_ps ideal = y->run->outcome->flow[flow].ideal_ps;
    *ret_why = (struct weft_why){.flow = flow,
                                 .group = y->run->workload->group[f->group],
                                 .src = t->node[t->host[f->src]].name,
                                 .dst = t->node[t->host[f->dst]].name,
                                 .bytes = f->bytes,
                                 .fct_ps = path.to_ps - path.from_ps,
                                 .ideal_ps = ideal == WEFT_TIME_NEVER || f->verb == WEFT_VERB_RAW ? 0 : ideal,
                                 .frame = f->verb == WEFT_VERB_RAW};
    weft__why_path_parts(y, &path, &ret_why->part, &ret_why->parts);
    ret_why->kind_ps = weft__why_sums(y, NULL, ret_why->part, ret_why->parts);
    return WEFT_OK;
}
