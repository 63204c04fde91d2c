// SPDX-License-Identifier: Apache-2.0
// Where the time of an operation of remote memory access went (weft/why.h): from one note of its client's box to the
// next (weft/follow.h) and, while a request is in progress, the notes of the box that executes it. Between boxes, the
// last cell of a request of 1RMA is followed hop by hop, and, for software, the last packet of a message.
#include <stdlib.h>

#include "base/order.h"
#include "story/why.h"
#include "weft/rma.h"

/// A note, with its search key.
struct noted {
    const struct weft_rma_note *note;
};

struct box {
    const struct weft_rma_note *note;
    uint32_t notes;
    const struct weft_rma_note **request; ///< [requests], by what, request and time; NULL: not sorted yet
    uint32_t requests;
};

struct weft_why_rma {
    const struct weft_whys *y;
    struct box *box; ///< [nodes]
};

/// Which node each box of 1RMA is, found from the notes of its requests. A number that two Cliques share belongs to
/// neither.
static void find_nodes(const struct weft_why_rma *x, struct weft_whys *y) {
    enum { BOXES = 1 << 16 };
    uint32_t *node = weft_arena_alloc(y->arena, BOXES, sizeof *node);
    for (uint32_t b = 0; b < BOXES; b++)
        node[b] = WEFT_NONE;
    bool *twice = weft_arena_alloc(y->arena, BOXES, sizeof *twice);
    for (uint32_t n = 0; n < y->run->topology->nodes; n++)
        for (uint32_t i = 0; i < x->box[n].notes; i++) {
            const struct weft_rma_note *note = &x->box[n].note[i];
            if ((note->what != WEFT_RMA_ASKED && note->what != WEFT_RMA_LEFT) || note->box >= BOXES) continue;
            twice[note->box] |= node[note->box] != WEFT_NONE && node[note->box] != n;
            node[note->box] = twice[note->box] ? WEFT_NONE : n;
        }
    y->rma_node = node;
    y->rma_nodes = BOXES;
}

struct weft_why_rma *weft_why_rma_new(const struct weft_run *run, const struct weft_follow *follow,
                                      const struct weft_follow *others, struct weft_arena *arena) {
    struct weft_why_rma *x = weft_arena_alloc(arena, 1, sizeof *x);
    struct weft_whys *y = weft_whys_new(run, follow, others, arena);
    x->y = y;
    x->box = weft_arena_alloc(arena, run->topology->nodes, sizeof *x->box);
    for (uint32_t n = 0; n < run->topology->nodes; n++)
        x->box[n].note = weft_follow_rma(follow, n, &x->box[n].notes);
    find_nodes(x, y);
    return x;
}

static const struct weft_rma *entry_of(const struct weft_why_rma *x, uint32_t entry) {
    return &x->y->run->workload->rma[entry];
}

/// The node that notes arrivals for a host: for software its own, else the box that it is attached to.
static uint32_t node_of(const struct weft_why_rma *x, const struct weft_rma *rma, uint32_t host) {
    const struct weft_topology *t = x->y->run->topology;
    uint32_t node = t->host[host];
    return weft_rma_is_software(rma) ? node : t->port[t->port[t->node[node].port0].peer].node;
}

static bool is_of_operation(const struct weft_rma_note *n) {
    return n->client != WEFT_NONE;
}

// --- requests -----------------------------------------------------------------------------------------------------

WEFT__ORDER_OF_POINTERS(by_request, struct weft_rma_note,
                        WEFT__UP(what) ?: WEFT__UP(box) ?: WEFT__UP(slot) ?: WEFT__UP(use) ?: WEFT__UP(time_ps))

static void sort_requests(const struct weft_why_rma *x, struct box *box) {
    box->request = weft_arena_alloc(x->y->arena, box->notes + (size_t)1, sizeof *box->request);
    for (uint32_t i = 0; i < box->notes; i++)
        if (!is_of_operation(&box->note[i])) box->request[box->requests++] = &box->note[i];
    if (box->requests) qsort(box->request, box->requests, sizeof *box->request, by_request);
}

/// The first note of a node about a request, from `from` on; NULL: none until `to`.
static const struct weft_rma_note *note_of(const struct weft_why_rma *x, uint32_t node, enum weft_rma_what what,
                                           const struct weft_rma_note *of, weft_time_ps from, weft_time_ps to) {
    struct box *box = &x->box[node];
    if (!box->request) sort_requests(x, box);
    const struct weft_rma_note wanted = {
        .what = what, .box = of->box, .slot = of->slot, .use = of->use, .time_ps = from};
    const struct weft_rma_note *key = &wanted;
    uint32_t low = WEFT__FIRST_WITHOUT(0, box->requests, by_request(&box->request[middle], &key) < 0);
    if (low == box->requests) return NULL;
    const struct weft_rma_note *n = box->request[low];
    bool same = n->what == what && n->box == of->box && n->slot == of->slot && n->use == of->use;
    return same && n->time_ps <= to ? n : NULL;
}

// --- operations ---------------------------------------------------------------------------------------------------

WEFT__ORDER(by_operation, struct noted, WEFT__UP(note->client) ?: WEFT__UP(note->op) ?: WEFT__UP(note)) // as noted

WEFT__ORDER(by_latency, struct weft_why_operation, WEFT__DOWN(latency_ps) ?: WEFT__UP(begun_ps) ?: WEFT__UP(client))

/// The notes of a node about operations of the entry, together.
static struct noted *notes_of(const struct weft_why_rma *x, uint32_t node, uint32_t entry, uint32_t *ret_n) {
    const struct box *box = &x->box[node];
    struct noted *list = weft_arena_alloc(x->y->arena, box->notes, sizeof *list);
    *ret_n = 0;
    for (uint32_t i = 0; i < box->notes; i++)
        if (is_of_operation(&box->note[i]) && box->note[i].entry == entry) list[(*ret_n)++].note = &box->note[i];
    if (*ret_n) qsort(list, *ret_n, sizeof *list, by_operation);
    return list;
}

static bool may_end(const struct weft_rma_note *n) {
    return n->what == WEFT_RMA_ENDED || n->what == WEFT_RMA_LEFT;
}

/// An operation that began with `first`, if `last` is its end. False: it is not, or it began in the warm-up, or a sent
/// message has not arrived.
static bool make_operation(const struct weft_why_rma *x, const struct weft_rma_note *first,
                           const struct weft_rma_note *last, uint32_t node, struct weft_why_operation *ret) {
    const struct weft_rma *rma = entry_of(x, first->entry);
    const struct weft_rma_note *came = NULL;
    if (!may_end(last) || first->time_ps < rma->conf->start_ps + rma->conf->warm_up_ps) return false;
    if (last->what == WEFT_RMA_LEFT) {
        uint32_t server = node_of(x, rma, rma->server[last->server]);
        came = note_of(x, server, WEFT_RMA_CAME, last, last->time_ps, WEFT_TIME_NEVER);
        if (!came) return false;
    }
    weft_time_ps end = came ? came->time_ps : last->time_ps;
    *ret = (struct weft_why_operation){.entry = first->entry,
                                       .client = first->client,
                                       .server = last->server,
                                       .begun_ps = first->time_ps,
                                       .latency_ps = end - first->time_ps,
                                       .node = node,
                                       .first = first,
                                       .last = last,
                                       .came = came};
    return true;
}

struct weft_why_operation *weft_why_operations(const struct weft_why_rma *x, uint32_t entry, uint32_t *ret_n) {
    uint32_t n, room = 0, nodes = x->y->run->topology->nodes;
    for (uint32_t node = 0; node < nodes; node++)
        for (uint32_t i = 0; i < x->box[node].notes; i++)
            room += may_end(&x->box[node].note[i]) && x->box[node].note[i].entry == entry;
    struct weft_why_operation *list = weft_arena_alloc(x->y->arena, room, sizeof *list);
    *ret_n = 0;
    for (uint32_t node = 0; node < nodes; node++) {
        const struct noted *note = notes_of(x, node, entry, &n);
        for (uint32_t i = 0, first = 0; i < n; i++) {
            if (note[i].note->what == WEFT_RMA_BEGAN) first = i;
            *ret_n += make_operation(x, note[first].note, note[i].note, node, &list[*ret_n]);
        }
    }
    if (*ret_n) qsort(list, *ret_n, sizeof *list, by_latency);
    return list;
}

// --- parts --------------------------------------------------------------------------------------------------------

struct telling {
    const struct weft_why_rma *x;
    uint32_t client, server;         ///< nodes of the hosts
    uint32_t client_box, server_box; ///< nodes that note arrivals for them
    weft_time_ps at;
    struct weft__why_list *list;
    bool *port; ///< [ports] used; NULL: not needed
};

static void add_time(struct telling *t, weft_time_ps to, enum weft_why_kind kind, struct weft__why_name where) {
    if (to <= t->at) return;
    weft__why_add(t->list, (struct weft__why_time){kind, where, {.what = WEFT__WHY_NOTHING}, to - t->at});
    t->at = to;
}

static struct weft__why_name node_name(uint32_t node) {
    return (struct weft__why_name){WEFT__WHY_NODE, node, 0};
}
static struct weft__why_name way_name(uint32_t from, uint32_t to) {
    return (struct weft__why_name){WEFT__WHY_NODES, from, to};
}

/// The path of a cell of 1RMA, hop by hop. `memory`: the node whose memory was read before, until `sent` unless other
/// cells of the answer left later; WEFT_NONE: none was.
static void add_way(struct telling *t, const struct weft_rma_note *request, enum weft_followed_cell cell, uint32_t from,
                    uint32_t to, weft_time_ps until, uint32_t memory, weft_time_ps sent) {
    struct weft__why_cell_path way;
    if (!weft__why_rma_path(t->x->y, request, cell, from, to, t->at, until, &way)) return;
    weft_time_ps begun = way.hop[way.hops - 1].cross->came_ps;
    if (memory != WEFT_NONE) add_time(t, sent < begun ? sent : begun, WEFT_WHY_MEMORY, node_name(memory));
    t->at = weft__why_way_add(t->x->y, &way, t->at, t->list);
    if (t->port) weft__why_way_ports(&way, t->port);
}

static void add_request(struct telling *t, const struct weft_rma_note *asked, weft_time_ps answered, bool back);

/// The server asks for the data of a write. False: there was none to ask for.
static bool add_pull(struct telling *t, const struct weft_rma_note *asked, const struct weft_rma_note *came,
                     weft_time_ps answered) {
    const struct weft_rma_note *pulls = note_of(t->x, t->server_box, WEFT_RMA_PULLS, asked, came->time_ps, answered);
    if (!pulls) return false;
    const struct weft_rma_note own = {.box = pulls->own_box, .slot = pulls->own_slot, .use = pulls->own_use};
    const struct weft_rma_note *again = note_of(t->x, t->server_box, WEFT_RMA_ASKED, &own, pulls->time_ps, answered);
    const struct weft_rma_note *there = note_of(t->x, t->server_box, WEFT_RMA_ANSWERED, &own, pulls->time_ps, answered);
    if (again) add_time(t, again->time_ps, WEFT_WHY_WINDOW, node_name(t->server_box));
    if (again && there) add_request(t, again, there->time_ps, true);
    return true;
}

/// From when a request has left the client's box (or, for the data of a write, the server's: `back`) until its answer
/// has arrived.
static void add_request(struct telling *t, const struct weft_rma_note *asked, weft_time_ps answered, bool back) {
    uint32_t from = back ? t->server_box : t->client_box, to = back ? t->client_box : t->server_box;
    uint32_t memory = back ? t->client : t->server;
    weft_time_ps sent_ps = answered;
    const struct weft_rma_note *came = note_of(t->x, to, WEFT_RMA_CAME, asked, asked->time_ps, answered);
    if (came) {
        const struct weft_rma_note *sent = note_of(t->x, to, WEFT_RMA_SENT, asked, came->time_ps, answered);
        if (sent) sent_ps = sent->time_ps;
        add_way(t, asked, WEFT_CARRIES_REQUEST, from, to, came->time_ps, WEFT_NONE, 0);
        add_time(t, came->time_ps, WEFT_WHY_REQUEST, way_name(from, to));
        if (!back && add_pull(t, asked, came, answered)) memory = WEFT_NONE;
    }
    add_way(t, asked, WEFT_CARRIES_ANSWER, to, from, answered, memory, sent_ps);
    add_time(t, answered, WEFT_WHY_FABRIC, way_name(to, from));
}

/// Up to the completion: the wait for the window, the request, and the box's time at the end.
static void add_execution(struct telling *t, const struct weft_rma_note *ready, const struct weft_rma_note *landed) {
    const struct weft_rma_note *asked =
        note_of(t->x, t->client_box, WEFT_RMA_ASKED, ready, ready->time_ps, landed->time_ps);
    const struct weft_rma_note *answered =
        note_of(t->x, t->client_box, WEFT_RMA_ANSWERED, ready, ready->time_ps, landed->time_ps);
    if (asked) add_time(t, asked->time_ps, WEFT_WHY_WINDOW, node_name(t->client_box));
    if (asked && answered) add_request(t, asked, answered->time_ps, false);
    add_time(t, landed->time_ps, WEFT_WHY_PROCESSING, node_name(t->client_box));
}

static void add_unheard(struct telling *t, const struct weft_rma_note *ready, const struct weft_rma_note *n) {
    const struct weft_rma_note *asked = NULL;
    if (ready) asked = note_of(t->x, t->client_box, WEFT_RMA_ASKED, ready, ready->time_ps, n->time_ps);
    if (asked) add_time(t, asked->time_ps, WEFT_WHY_WINDOW, node_name(t->client_box));
    add_time(t, n->time_ps, WEFT_WHY_RETRANSMISSION, way_name(t->client_box, t->server_box));
}

/// A message without an answer.
static void add_send(struct telling *t, const struct weft_rma_note *left, const struct weft_rma_note *came) {
    add_time(t, left->time_ps, WEFT_WHY_PROCESSING, node_name(t->client_box));
    add_way(t, left, WEFT_CARRIES_REQUEST, t->client_box, t->server_box, came->time_ps, WEFT_NONE, 0);
    add_time(t, came->time_ps, WEFT_WHY_REQUEST, way_name(t->client_box, t->server_box));
}

// --- software -----------------------------------------------------------------------------------------------------

/// A message of software, as the packets of a flow.
static void add_message(struct telling *t, uint32_t flow, weft_time_ps to, enum weft_why_kind unseen,
                        uint32_t from_node, uint32_t to_node) {
    struct weft__why_path path;
    struct weft_error ignored = {0};
    if (to > t->at && !weft__why_find_path(t->x->y, flow, t->at, to, &path, &ignored)) {
        weft__why_path_add(t->x->y, &path, t->list);
        if (t->port) weft__why_path_ports(t->x->y, &path, t->port);
        t->at = to;
    }
    add_time(t, to, unseen, way_name(from_node, to_node));
}

/// From when the request is sent until the client's software has processed the answer.
static void add_round(struct telling *t, const struct weft_rma_note *asked, const struct weft_rma_note *end) {
    const struct weft_why_rma *x = t->x;
    const struct weft_rma_note *came = note_of(x, t->server, WEFT_RMA_CAME, asked, asked->time_ps, end->time_ps);
    const struct weft_rma_note *served = note_of(x, t->server, WEFT_RMA_SERVED, asked, asked->time_ps, end->time_ps);
    const struct weft_rma_note *sent = note_of(x, t->server, WEFT_RMA_SENT, asked, asked->time_ps, end->time_ps);
    const struct weft_rma_note *answered =
        note_of(x, t->client, WEFT_RMA_ANSWERED, asked, asked->time_ps, end->time_ps);
    if (came) add_message(t, asked->flow, came->time_ps, WEFT_WHY_REQUEST, t->client, t->server);
    if (served) add_time(t, served->time_ps, WEFT_WHY_SOFTWARE, node_name(t->server));
    if (sent) add_time(t, sent->time_ps, WEFT_WHY_WINDOW, node_name(t->server));
    if (sent && answered) add_message(t, sent->flow, answered->time_ps, WEFT_WHY_FABRIC, t->server, t->client);
    add_time(t, end->time_ps, WEFT_WHY_SOFTWARE, node_name(t->client));
}

static void add_note_of_software(struct telling *t, const struct weft_rma_note *ready, const struct weft_rma_note *n) {
    if (n->what == WEFT_RMA_READY)
        add_time(t, n->time_ps, WEFT_WHY_WINDOW, node_name(t->client));
    else if (n->what == WEFT_RMA_CHAINED || n->what == WEFT_RMA_ENDED)
        add_round(t, ready, n);
    else
        add_time(t, n->time_ps, WEFT_WHY_SOFTWARE, node_name(t->client));
}

// --- an operation -------------------------------------------------------------------------------------------------

static void add_note(struct telling *t, const struct weft_rma_note *ready, const struct weft_rma_note *n,
                     const struct weft_rma_note *came) {
    switch (n->what) {
    case WEFT_RMA_LANDED:
        if (ready) add_execution(t, ready, n);
        break;
    case WEFT_RMA_UNHEARD:
        add_unheard(t, ready, n);
        break;
    case WEFT_RMA_LEFT:
        if (came) add_send(t, n, came);
        break;
    case WEFT_RMA_READY:
        add_time(t, n->time_ps, WEFT_WHY_PROCESSING, node_name(t->client_box));
        break;
    case WEFT_RMA_UNSENT:
        add_time(t, n->time_ps, WEFT_WHY_WINDOW, node_name(t->client_box));
        break;
    case WEFT_RMA_COMMANDED:
        add_time(t, n->time_ps, WEFT_WHY_PACE, node_name(t->client));
        break;
    default:
        add_time(t, n->time_ps, WEFT_WHY_SOFTWARE, node_name(t->client));
    }
}

static void tell_operation(const struct weft_why_rma *x, const struct weft_why_operation *op,
                           struct weft__why_list *list, bool *port) {
    const struct weft_rma *rma = entry_of(x, op->entry);
    const uint32_t *host = x->y->run->topology->host;
    struct telling t = {.x = x,
                        .client = host[rma->client[op->client]],
                        .server = host[rma->server[op->server]],
                        .client_box = op->node,
                        .server_box = node_of(x, rma, rma->server[op->server]),
                        .at = op->begun_ps,
                        .list = list,
                        .port = port};
    const struct weft_rma_note *ready = NULL;
    for (const struct weft_rma_note *n = op->first; n <= op->last; n++) {
        if (n->client != op->client || n->entry != op->entry || n->op != op->first->op) continue;
        if (n->what == WEFT_RMA_READY) ready = n;
        if (weft_rma_is_software(rma))
            add_note_of_software(&t, ready, n);
        else
            add_note(&t, ready, n, op->came);
    }
}

void weft_why_operation(const struct weft_why_rma *x, struct weft_why_operation *op) {
    const struct weft_rma *rma = entry_of(x, op->entry);
    const struct weft_topology *t = x->y->run->topology;
    struct weft__why_list list = {.arena = x->y->arena, .at_ps = op->begun_ps, .from_ps = op->begun_ps};
    tell_operation(x, op, &list, NULL);
    weft__why_list_parts(x->y, WEFT_NONE, &list, &op->part, &op->parts);
    op->kind_ps = weft__why_sums(x->y, NULL, op->part, op->parts);
    op->group = x->y->run->workload->group[rma->group];
    op->client_host = t->node[t->host[rma->client[op->client]]].name;
    op->server_host = t->node[t->host[rma->server[op->server]]].name;
}

void weft_why_operation_ports(const struct weft_why_rma *x, const struct weft_why_operation *op, bool *ret_port) {
    struct weft__why_list list = {.arena = x->y->arena, .at_ps = op->begun_ps, .from_ps = op->begun_ps};
    tell_operation(x, op, &list, ret_port);
}
