// SPDX-License-Identifier: Apache-2.0
// Puts the records of all nodes in one order (by time, node and order at the node) and joins events across nodes: a
// pause frame that takes effect was sent by the peer; a CNP was sent because of a mark. In order of time, the cause is
// the last matching event of that queue pair, or, among what is in flight on that link or for that queue pair, what was
// sent at that time.
#include "sim/events.h"
#include "base/order.h"

#include <assert.h>
#include <stdlib.h>

#include "box/box.h"
#include "weft/memory.h"

struct item {
    weft_time_ps time_ps;
    uint32_t source, number; ///< 0: links; else a node, from 1. number: from 0, within that source
};

/// Event ids, from 1; 0: none.
struct join {
    const struct weft__network *net;
    struct weft_event *record;
    uint32_t *started;      ///< [flow]
    uint32_t *marked;       ///< [qp]
    uint32_t *lost;         ///< [qp]: the drop that made a gap
    uint32_t *down;         ///< [link]
    uint32_t *purged;       ///< [node]: one of its VOQs
    uint32_t *first, *last; ///< in flight, at pauses_of, cnps_of, messages_of
    uint32_t *next;         ///< [id]
};

/// Lists the changes of links up to the end of the run, without those that have no effect.
static uint32_t list_links(const struct weft__network *net, struct weft_event *ret_event, struct weft_arena *arena) {
    const struct weft_topology *t = net->topology;
    bool *down = weft_arena_alloc(arena, t->links, sizeof *down);
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->events && weft_outcome_reached(net->outcome, t->event[i].time_ps); i++) {
        const struct weft_link_event *e = &t->event[i];
        if (down[e->link] == !e->up) continue;
        down[e->link] = !e->up;
        uint32_t port = t->link[e->link].port[0];
        ret_event[n++] = (struct weft_event){.time_ps = e->time_ps,
                                             .node = t->port[port].node,
                                             .port = port,
                                             .flow = WEFT_NONE,
                                             .qp = WEFT_NONE,
                                             .kind = e->up ? WEFT_EVENT_LINK_UP : WEFT_EVENT_LINK_DOWN,
                                             .priority = WEFT_EVENT_NO_PRIORITY};
    }
    return n;
}

WEFT__ORDER(by_time, struct item, WEFT__UP(time_ps) ?: WEFT__UP(source) ?: WEFT__UP(number))

static uint32_t pauses_of(uint32_t port, uint32_t priority) {
    return port * WEFT_PRIORITIES + priority;
}

static uint32_t cnps_of(const struct join *j, uint32_t qp) {
    return j->net->topology->ports * WEFT_PRIORITIES + qp;
}

static uint32_t messages_of(const struct join *j, uint32_t qp) {
    return cnps_of(j, j->net->qps + qp);
}

static void put_under_way(struct join *j, uint32_t from, uint32_t id) {
    if (j->first[from])
        j->next[j->last[from]] = id;
    else
        j->first[from] = id;
    j->last[from] = id;
}

static uint64_t tag_of(const struct join *j, const struct weft_event *sent) {
    if (sent->kind == WEFT_EVENT_CNP_SENT) return weft__event_tag_cnp(sent->time_ps);
    return weft__event_tag_sfcm(j->net->topology->node[sent->node].index, sent->time_ps / WEFT_PS_PER_NS);
}

/// The message that arrived says when and by whom it was sent; earlier ones from that node are lost.
static uint32_t take_sent(struct join *j, uint32_t from, struct weft_event *e) {
    assert(!j->first[from] || j->last[from] >= j->first[from]); // ids grow with time
    uint32_t found = j->first[from], kept = 0;
    while (found && tag_of(j, &j->record[found - 1]) != e->more)
        found = j->next[found];
    e->more = 0;
    if (!found) return 0;
    uint32_t *place = &j->first[from];
    for (uint32_t id = *place, node = j->record[found - 1].node; id && id <= found; id = j->next[id]) {
        if (j->record[id - 1].node == node) {
            *place = j->next[id];
        } else {
            kept = id;
            place = &j->next[id];
        }
    }
    if (!*place) j->last[from] = kept;
    return found;
}

/// The frame that the peer sent so as to arrive now; earlier ones are lost.
static uint32_t take_arrived(struct join *j, const struct weft_event *e, uint32_t priority) {
    uint32_t *first = &j->first[pauses_of(j->net->topology->port[e->port].peer, priority)];
    while (*first && j->record[*first - 1].more < e->time_ps)
        *first = j->next[*first];
    uint32_t id = *first;
    if (!id || j->record[id - 1].more != e->time_ps) return 0;
    *first = j->next[id];
    return id;
}

static void join_event(struct join *j, uint32_t id) {
    struct weft_event *e = &j->record[id - 1];
    if (e->qp != WEFT_NONE) e->flow = j->net->qp[e->qp].flow;
    uint32_t link = j->net->topology->port[e->port].link;
    switch (e->kind) {
    case WEFT_EVENT_FLOW_STARTED:
        j->started[e->flow] = id;
        break;
    case WEFT_EVENT_FLOW_FINISHED:
        e->begins = j->started[e->flow];
        break;
    case WEFT_EVENT_CLASSIFIED:
        if (e->detail == WEFT_PACKET_DATA) e->cause = j->started[e->flow];
        if (e->detail == WEFT_PACKET_CNP) e->cause = j->first[cnps_of(j, e->qp)];
        break;
    case WEFT_EVENT_FLOW_MARKED:
        j->marked[e->qp] = id;
        break;
    case WEFT_EVENT_CNP_SENT:
        e->cause = j->marked[e->qp];
        put_under_way(j, cnps_of(j, e->qp), id);
        break;
    case WEFT_EVENT_CNP_RECEIVED:
        e->cause = take_sent(j, cnps_of(j, e->qp), e);
        break;
    case WEFT_EVENT_SFC_SENT:
        put_under_way(j, messages_of(j, e->qp), id);
        break;
    case WEFT_EVENT_SFC_RECEIVED:
        e->cause = take_sent(j, messages_of(j, e->qp), e);
        break;
    case WEFT_EVENT_PAUSE_SENT:
        put_under_way(j, pauses_of(e->port, e->priority), id);
        break;
    case WEFT_EVENT_PAUSE_RECEIVED:
        e->cause = take_arrived(j, e, e->priority);
        break;
    case WEFT_EVENT_DROPPED:
        if (e->detail == WEFT_DROP_LINK_DOWN) e->cause = j->down[link];
        if (e->detail == WEFT_DROP_CREDIT_WATCHDOG) e->cause = j->purged[e->node];
        if (e->detail == WEFT_DROP_REASSEMBLY && e->qp != WEFT_NONE) e->cause = j->lost[e->qp];
        if (e->detail == WEFT_DROP_OUT_OF_ORDER || e->detail == WEFT_DROP_DUPLICATE)
            e->cause = j->lost[e->qp];
        else if (e->qp != WEFT_NONE)
            j->lost[e->qp] = id;
        break;
    case WEFT_EVENT_CELLS_LOST:
        if (e->detail == WEFT_DROP_LINK_DOWN) e->cause = j->down[link];
        if (e->qp != WEFT_NONE) j->lost[e->qp] = id;
        break;
    case WEFT_EVENT_RMA_TIMEOUT: // of a host, by now
        e->more = j->net->topology->node[j->net->topology->host[e->more]].port0;
        break;
    case WEFT_EVENT_VOQ_PURGED:
        e->more = weft__box_of(&j->net->topology->node[e->node])->recorded_port(j->net, e->more);
        j->purged[e->node] = id;
        break;
    case WEFT_EVENT_LANE_STOP_SENT:
        put_under_way(j, pauses_of(e->port, 0), id); // a fabric link has no pauses
        break;
    case WEFT_EVENT_LANE_STOPPED:
    case WEFT_EVENT_LANE_RESUMED:
        e->cause = take_arrived(j, e, 0);
        break;
    case WEFT_EVENT_LINK_DOWN:
        j->down[link] = id;
        break;
    case WEFT_EVENT_LINK_UP:
        e->begins = j->down[link];
        j->down[link] = 0;
        break;
    default:
        break;
    }
}

static void join_all(const struct weft__network *net, struct weft_arena *arena) {
    const struct weft_topology *t = net->topology;
    size_t ways = (size_t)t->ports * WEFT_PRIORITIES + 2 * (size_t)net->qps;
    struct join j = {
        .net = net,
        .record = net->outcome->record,
        .started = weft_arena_alloc(arena, net->workload->flows, sizeof(uint32_t)),
        .marked = weft_arena_alloc(arena, net->qps, sizeof(uint32_t)),
        .lost = weft_arena_alloc(arena, net->qps, sizeof(uint32_t)),
        .down = weft_arena_alloc(arena, t->links, sizeof(uint32_t)),
        .purged = weft_arena_alloc(arena, t->nodes, sizeof(uint32_t)),
        .first = weft_arena_alloc(arena, ways, sizeof(uint32_t)),
        .last = weft_arena_alloc(arena, ways, sizeof(uint32_t)),
        .next = weft_arena_alloc(arena, (size_t)net->outcome->recorded + 1, sizeof(uint32_t)),
    };
    for (uint32_t id = 1; id <= net->outcome->recorded; id++)
        join_event(&j, id);
}

void weft__network_collect_events(struct weft__network *net) {
    const struct weft_topology *t = net->topology;
    struct weft_outcome *o = net->outcome;
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    o->unrecorded_ps = WEFT_TIME_NEVER;
    size_t *offset = weft_arena_alloc(arena, t->nodes + 2, sizeof *offset);
    struct weft_event *change = weft_arena_alloc(arena, t->events, sizeof *change);
    offset[1] = list_links(net, change, arena);
    for (uint32_t i = 0; i < t->nodes; i++) {
        struct weft__trace *trace = weft__network_trace(net, i);
        offset[i + 2] = offset[i + 1];
        if (!trace) continue;
        weft__trace_finish(trace);
        offset[i + 2] = offset[i + 1] + trace->n;
        o->unrecorded += trace->unrecorded;
        if (trace->unrecorded_ps < o->unrecorded_ps) o->unrecorded_ps = trace->unrecorded_ps;
    }
    size_t n = offset[t->nodes + 1];
    assert(n < UINT32_MAX);
    struct item *item = weft_arena_alloc(arena, n, sizeof *item);
    for (uint32_t s = 0; s <= t->nodes; s++) {
        const struct weft__trace *trace = s ? weft__network_trace(net, s - 1) : NULL;
        const struct weft_event *event = trace ? trace->event : change;
        for (size_t k = offset[s]; k < offset[s + 1]; k++)
            item[k] = (struct item){event[k - offset[s]].time_ps, s, (uint32_t)(k - offset[s])};
    }
    if (n) qsort(item, n, sizeof *item, by_time);

    uint32_t *id = weft_arena_alloc(arena, n, sizeof *id);
    for (size_t k = 0; k < n; k++)
        id[offset[item[k].source] + item[k].number] = (uint32_t)k + 1;
    o->recorded = (uint32_t)n;
    o->record = weft_arena_alloc(o->arena, n, sizeof *o->record);
    for (size_t k = 0; k < n; k++) {
        uint32_t s = item[k].source;
        struct weft_event *e = &o->record[k];
        *e = s ? weft__network_trace(net, s - 1)->event[item[k].number] : change[item[k].number];
        if (e->cause) e->cause = id[offset[s] + e->cause - 1];
        if (e->begins) e->begins = id[offset[s] + e->begins - 1];
    }
    for (uint32_t i = 0; i < t->nodes; i++)
        if (weft__network_trace(net, i)) weft__trace_release(weft__network_trace(net, i));
    join_all(net, arena);
}
