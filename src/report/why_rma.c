// SPDX-License-Identifier: Apache-2.0
// Where the time of an operation of 1RMA went (weft/why.h): from one note of its client's box to the next
// (weft/follow.h), and while a request is under way, what the box that executes it noted of that.
#include <stdlib.h>

#include "report/why.h"
#include "weft/rma.h"

/// A note, by what finds it.
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
    struct weft_whys y;
    struct box *box; ///< [nodes]
};

struct weft_why_rma *weft_why_rma_new(const struct weft_run *run, const struct weft_follow *follow,
                                      struct weft_arena *arena) {
    struct weft_why_rma *x = weft_arena_alloc(arena, 1, sizeof *x);
    x->y = (struct weft_whys){.run = run, .follow = follow, .arena = arena};
    x->box = weft_arena_alloc(arena, run->topology->nodes, sizeof *x->box);
    for (uint32_t n = 0; n < run->topology->nodes; n++)
        x->box[n].note = weft_follow_rma(follow, n, &x->box[n].notes);
    return x;
}

// --- operations ---------------------------------------------------------------------------------------------------

static bool is_of_operation(const struct weft_rma_note *n) {
    return n->client != WEFT_NONE;
}

static int by_operation(const void *a, const void *b) {
    const struct weft_rma_note *x = ((const struct noted *)a)->note, *y = ((const struct noted *)b)->note;
    if (x->client != y->client) return x->client < y->client ? -1 : 1;
    if (x->op != y->op) return x->op < y->op ? -1 : 1;
    return (x > y) - (x < y); // as they were noted
}

static int by_latency(const void *a, const void *b) {
    const struct weft_why_operation *x = a, *y = b;
    if (x->latency_ps != y->latency_ps) return x->latency_ps > y->latency_ps ? -1 : 1;
    if (x->begun_ps != y->begun_ps) return x->begun_ps < y->begun_ps ? -1 : 1;
    return (x->client > y->client) - (x->client < y->client);
}

/// Notes of a node about operations of the entry, together.
static struct noted *notes_of(const struct weft_why_rma *x, uint32_t node, uint32_t entry, uint32_t *ret_n) {
    const struct box *box = &x->box[node];
    struct noted *list = weft_arena_alloc(x->y.arena, box->notes, sizeof *list);
    *ret_n = 0;
    for (uint32_t i = 0; i < box->notes; i++)
        if (is_of_operation(&box->note[i]) && box->note[i].entry == entry) list[(*ret_n)++].note = &box->note[i];
    if (*ret_n) qsort(list, *ret_n, sizeof *list, by_operation);
    return list;
}

struct weft_why_operation *weft_why_operations(const struct weft_why_rma *x, uint32_t entry, uint32_t *ret_n) {
    const struct weft_rma_conf *conf = x->y.run->workload->rma[entry].conf;
    uint32_t n, room = 0, nodes = x->y.run->topology->nodes;
    for (uint32_t node = 0; node < nodes; node++)
        for (uint32_t i = 0; i < x->box[node].notes; i++)
            room += x->box[node].note[i].what == WEFT_RMA_ENDED && x->box[node].note[i].entry == entry;
    struct weft_why_operation *list = weft_arena_alloc(x->y.arena, room, sizeof *list);
    *ret_n = 0;
    for (uint32_t node = 0; node < nodes; node++) {
        const struct noted *note = notes_of(x, node, entry, &n);
        for (uint32_t i = 0, first = 0; i < n; i++) {
            const struct weft_rma_note *at = note[i].note;
            if (at->what == WEFT_RMA_BEGAN) first = i;
            weft_time_ps begun = note[first].note->time_ps;
            if (at->what != WEFT_RMA_ENDED || begun < conf->start_ps + conf->warm_up_ps) continue;
            list[(*ret_n)++] = (struct weft_why_operation){.entry = entry,
                                                           .client = at->client,
                                                           .server = at->server,
                                                           .begun_ps = begun,
                                                           .latency_ps = at->time_ps - begun,
                                                           .node = node,
                                                           .first = note[first].note,
                                                           .last = at};
        }
    }
    if (*ret_n) qsort(list, *ret_n, sizeof *list, by_latency);
    return list;
}

// --- requests -----------------------------------------------------------------------------------------------------

static int by_request(const void *a, const void *b) {
    const struct weft_rma_note *x = *(const struct weft_rma_note *const *)a;
    const struct weft_rma_note *y = *(const struct weft_rma_note *const *)b;
    if (x->what != y->what) return x->what < y->what ? -1 : 1;
    if (x->box != y->box) return x->box < y->box ? -1 : 1;
    if (x->slot != y->slot) return x->slot < y->slot ? -1 : 1;
    if (x->use != y->use) return x->use < y->use ? -1 : 1;
    return (x->time_ps > y->time_ps) - (x->time_ps < y->time_ps);
}

static void sort_requests(const struct weft_why_rma *x, struct box *box) {
    box->request = weft_arena_alloc(x->y.arena, box->notes + (size_t)1, sizeof *box->request);
    for (uint32_t i = 0; i < box->notes; i++)
        if (!is_of_operation(&box->note[i])) box->request[box->requests++] = &box->note[i];
    if (box->requests) qsort(box->request, box->requests, sizeof *box->request, by_request);
}

/// What a node noted first, from `from` on, of a request; NULL: nothing until `to`.
static const struct weft_rma_note *find(const struct weft_why_rma *x, uint32_t node, enum weft_rma_what what,
                                        const struct weft_rma_note *of, weft_time_ps from, weft_time_ps to) {
    struct box *box = &x->box[node];
    if (!box->request) sort_requests(x, box);
    const struct weft_rma_note wanted = {
        .what = what, .box = of->box, .slot = of->slot, .use = of->use, .time_ps = from};
    const struct weft_rma_note *key = &wanted;
    uint32_t low = 0, high = box->requests;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (by_request(&box->request[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == box->requests) return NULL;
    const struct weft_rma_note *n = box->request[low];
    bool same = n->what == what && n->box == of->box && n->slot == of->slot && n->use == of->use;
    return same && n->time_ps <= to ? n : NULL;
}

// --- parts --------------------------------------------------------------------------------------------------------

struct telling {
    const struct weft_why_rma *x;
    uint32_t client, server;         ///< nodes of the hosts
    uint32_t client_box, server_box; ///< nodes that they are at
    weft_time_ps at;
    struct weft__why_list *list;
};

static void add(struct telling *t, weft_time_ps to, enum weft_why_kind kind, struct weft__why_name where) {
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

/// From when a request has left the client's box (or, of the data of a write, the server's: `back`) until its answer is
/// there.
static void add_request(struct telling *t, const struct weft_rma_note *asked, weft_time_ps answered, bool back) {
    uint32_t from = back ? t->server_box : t->client_box, to = back ? t->client_box : t->server_box;
    const struct weft_rma_note *came = find(t->x, to, WEFT_RMA_CAME, asked, asked->time_ps, answered);
    if (came) {
        add(t, came->time_ps, WEFT_WHY_REQUEST, way_name(from, to));
        const struct weft_rma_note *pulls = find(t->x, to, WEFT_RMA_PULLS, asked, came->time_ps, answered);
        if (pulls && !back) {
            const struct weft_rma_note own = {.box = pulls->own_box, .slot = pulls->own_slot, .use = pulls->own_use};
            const struct weft_rma_note *again = find(t->x, to, WEFT_RMA_ASKED, &own, pulls->time_ps, answered);
            const struct weft_rma_note *there = find(t->x, to, WEFT_RMA_ANSWERED, &own, pulls->time_ps, answered);
            if (again) add(t, again->time_ps, WEFT_WHY_WINDOW, node_name(to));
            if (again && there) add_request(t, again, there->time_ps, true);
        }
        const struct weft_rma_note *sent = find(t->x, to, WEFT_RMA_SENT, asked, came->time_ps, answered);
        if (sent) add(t, sent->time_ps, WEFT_WHY_MEMORY, node_name(back ? t->client : t->server));
    }
    add(t, answered, WEFT_WHY_FABRIC, way_name(to, from));
}

/// Up to the completion: the wait for the window, the request, what the box takes at the end.
static void add_execution(struct telling *t, const struct weft_rma_note *ready, const struct weft_rma_note *landed) {
    const struct weft_rma_note *asked =
        find(t->x, t->client_box, WEFT_RMA_ASKED, ready, ready->time_ps, landed->time_ps);
    const struct weft_rma_note *answered =
        find(t->x, t->client_box, WEFT_RMA_ANSWERED, ready, ready->time_ps, landed->time_ps);
    if (asked) add(t, asked->time_ps, WEFT_WHY_WINDOW, node_name(t->client_box));
    if (asked && answered) add_request(t, asked, answered->time_ps, false);
    add(t, landed->time_ps, WEFT_WHY_PROCESSING, node_name(t->client_box));
}

static void add_note(struct telling *t, const struct weft_rma_note *ready, const struct weft_rma_note *n) {
    static const enum weft_why_kind kinds[] = {
        [WEFT_RMA_SUBMITTED] = WEFT_WHY_SOFTWARE, [WEFT_RMA_COMMANDED] = WEFT_WHY_PACE,
        [WEFT_RMA_CHAINED] = WEFT_WHY_SOFTWARE,   [WEFT_RMA_ENDED] = WEFT_WHY_SOFTWARE,
        [WEFT_RMA_READY] = WEFT_WHY_PROCESSING,   [WEFT_RMA_UNSENT] = WEFT_WHY_WINDOW,
        [WEFT_RMA_BEGAN] = WEFT_WHY_SOFTWARE,
    };
    const struct weft_rma_note *asked = NULL;
    switch (n->what) {
    case WEFT_RMA_LANDED:
        if (ready) add_execution(t, ready, n);
        break;
    case WEFT_RMA_UNHEARD:
        if (ready) asked = find(t->x, t->client_box, WEFT_RMA_ASKED, ready, ready->time_ps, n->time_ps);
        if (asked) add(t, asked->time_ps, WEFT_WHY_WINDOW, node_name(t->client_box));
        add(t, n->time_ps, WEFT_WHY_RETRANSMISSION, way_name(t->client_box, t->server_box));
        break;
    case WEFT_RMA_READY:
    case WEFT_RMA_UNSENT:
        add(t, n->time_ps, kinds[n->what], node_name(t->client_box));
        break;
    default:
        add(t, n->time_ps, kinds[n->what], node_name(t->client));
    }
}

static uint32_t box_of(const struct weft_topology *t, uint32_t node) {
    return t->port[t->port[t->node[node].port0].peer].node;
}

void weft_why_operation(const struct weft_why_rma *x, struct weft_why_operation *op) {
    const struct weft_topology *topology = x->y.run->topology;
    const struct weft_rma *rma = &x->y.run->workload->rma[op->entry];
    struct weft__why_list list = {.arena = x->y.arena, .at_ps = op->begun_ps, .from_ps = op->begun_ps};
    struct telling t = {.x = x,
                        .client = topology->host[rma->client[op->client]],
                        .server = topology->host[rma->server[op->server]],
                        .client_box = op->node,
                        .at = op->begun_ps,
                        .list = &list};
    t.server_box = box_of(topology, t.server);
    const struct weft_rma_note *ready = NULL;
    for (const struct weft_rma_note *n = op->first; n <= op->last; n++) {
        if (n->client != op->client || n->entry != op->entry || n->op != op->first->op) continue;
        if (n->what == WEFT_RMA_READY) ready = n;
        add_note(&t, ready, n);
    }
    weft__why_list_parts(&x->y, WEFT_NONE, &list, &op->part, &op->parts);
}
