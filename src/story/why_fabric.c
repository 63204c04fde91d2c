// SPDX-License-Identifier: Apache-2.0
// What a packet did within a cell fabric: from its last cell back to the box where it entered, hop by hop, and what it
// waited for before it became cells. Anything not seen is the part "fabric", so that the sum is exact.
#include "base/order.h"
#include "story/why.h"

struct crossing {
    const struct weft_followed *stage[16];
    struct weft__why_cell_path way; ///< of the packet's last cell
};

struct found {
    const struct weft_whys *y;
    const struct weft_followed *frame; ///< NULL: for 1RMA
    const struct weft_followed *const *cell;
    uint64_t first, end; ///< of cell
    weft_time_ps from_ps, to_ps;
};

static uint32_t node_at(const struct weft_whys *y, uint32_t port) {
    return y->run->topology->port[port].node;
}

/// Where the entries of a packet begin.
static uint64_t lower_bound(const struct weft_whys *y, uint32_t qp, uint32_t psn) {
    struct weft_followed key = {.qp = qp, .psn = psn};
    const struct weft_followed *at = &key;
    return WEFT__FIRST_WITHOUT(0, y->cells, weft__why_by_packet(&y->cell[middle], &at) < 0);
}

static struct found find_packet(const struct weft_whys *y, const struct weft_followed *hop,
                                const struct weft_followed *next) {
    struct found f = {.y = y, .frame = next, .cell = y->cell, .from_ps = hop->arrival_ps, .to_ps = next->time_ps};
    f.first = f.end = lower_bound(y, next->qp, next->psn);
    while (f.end < y->cells && y->cell[f.end]->qp == next->qp && y->cell[f.end]->psn == next->psn)
        f.end++;
    return f;
}

/// The last time, up to `by`, at which the packet entered a stage at this node.
static const struct weft_followed *stage_of(const struct found *f, enum weft_packet_stage stage, uint32_t node,
                                            weft_time_ps by) {
    for (uint64_t i = f->end; i-- > f->first;) {
        const struct weft_followed *c = f->cell[i];
        if (c->what == WEFT_FOLLOWED_STAGE && c->state == stage && node_at(f->y, c->port) == node && c->time_ps <= by &&
            c->time_ps >= f->from_ps)
            return c;
    }
    return NULL;
}

/// When its RTS was answered. GRANTED identifies it by its slot.
static const struct weft_followed *grant_of(const struct found *f, const struct weft_followed *asked, uint32_t node,
                                            weft_time_ps by) {
    const struct weft_whys *y = f->y;
    const struct weft_followed *last = NULL;
    for (uint64_t i = lower_bound(y, asked->qp, (uint32_t)asked->busy_ps);
         i < y->cells && y->cell[i]->qp == asked->qp && y->cell[i]->psn == asked->busy_ps; i++) {
        const struct weft_followed *c = y->cell[i];
        if (c->what == WEFT_FOLLOWED_STAGE && c->state == WEFT_STAGE_GRANTED && node_at(y, c->port) == node &&
            c->time_ps <= by && c->came_ps >= asked->time_ps)
            last = c;
    }
    return last;
}

/// The cell that arrived at a node: at `at` or, if `last`, the last one before.
static const struct weft_followed *came_to(const struct found *f, uint32_t node, weft_time_ps at, bool last) {
    const struct weft_followed *best = NULL;
    for (uint64_t i = f->first; i < f->end; i++) {
        const struct weft_followed *c = f->cell[i];
        if (c->what != WEFT_FOLLOWED_CELL || weft__why_far_node(f->y, c->port) != node) continue;
        if (last ? c->arrival_ps > at || c->time_ps < f->from_ps : c->arrival_ps != at) continue;
        if (!best || c->arrival_ps >= best->arrival_ps) best = c;
    }
    return best;
}

/// How the cell reached its output: cells of a VC keep their order.
static const struct weft_followed *cross_of(const struct found *f, const struct weft_followed *cell) {
    uint32_t before = 0;
    for (uint64_t i = f->first; i < f->end && f->cell[i] != cell; i++) {
        const struct weft_followed *c = f->cell[i];
        before += c->what == WEFT_FOLLOWED_CELL && c->port == cell->port && c->state == cell->state;
    }
    for (uint64_t i = f->first; i < f->end; i++) {
        const struct weft_followed *c = f->cell[i];
        if (c->what == WEFT_FOLLOWED_CROSS && c->port == cell->port && c->state == cell->state && !before--) return c;
    }
    return NULL;
}

/// Where the packet, complete at `at`, was completed.
static const struct weft_followed *home_of(const struct found *f, uint32_t node, weft_time_ps at) {
    const struct weft_followed *best = NULL;
    for (uint64_t i = f->first; i < f->end; i++) {
        const struct weft_followed *c = f->cell[i];
        if (c->what == WEFT_FOLLOWED_CROSS && c->state == UINT8_MAX && node_at(f->y, c->port) == node &&
            c->busy_ps <= at && c->time_ps >= f->from_ps && (!best || c->busy_ps >= best->busy_ps))
            best = c;
    }
    return best;
}

static void follow_dsf(const struct found *f, struct weft__why_cell_path *x, weft_time_ps at) {
    const struct weft_followed *cell = x->from == x->to ? NULL : came_to(f, x->to, at, true);
    while (cell && x->hops < WEFT__WHY_HOPS_MAX) {
        x->hop[x->hops++].cell = cell;
        if (node_at(f->y, cell->port) == x->from) break;
        cell = came_to(f, node_at(f->y, cell->port), cell->came_ps, false);
    }
}

static void follow_clique(const struct found *f, struct weft__why_cell_path *x, weft_time_ps at) {
    const struct weft_followed *cross = home_of(f, x->to, at), *cell = NULL;
    uint32_t node = x->to;
    while (cross && x->hops < WEFT__WHY_HOPS_MAX) {
        x->hop[x->hops].cell = cell;
        x->hop[x->hops++].cross = cross;
        if (node == x->from || !(cell = came_to(f, node, cross->came_ps, false))) break;
        node = node_at(f->y, cell->port);
        cross = cross_of(f, cell);
    }
}

/// False: the packet was not seen crossing a fabric.
static bool follow_packet(const struct found *f, const struct weft_followed *hop, struct crossing *x) {
    struct weft__why_cell_path *way = &x->way;
    way->from = weft__why_far_node(f->y, hop->port);
    way->to = node_at(f->y, f->frame->port);
    const struct weft_followed *delivered = stage_of(f, WEFT_STAGE_DELIVERED, way->to, f->to_ps);
    if (!delivered) return false;
    x->stage[WEFT_STAGE_DELIVERED] = delivered;
    x->stage[WEFT_STAGE_WHOLE] = stage_of(f, WEFT_STAGE_WHOLE, way->to, delivered->time_ps);
    for (enum weft_packet_stage s = WEFT_STAGE_BLOCKED; s <= WEFT_STAGE_CUT; s++)
        x->stage[s] = stage_of(f, s, way->from, delivered->time_ps);
    const struct weft_followed *asked = x->stage[WEFT_STAGE_ASKED];
    if (asked) x->stage[WEFT_STAGE_GRANTED] = grant_of(f, asked, way->to, delivered->time_ps);
    if (x->stage[WEFT_STAGE_WHOLE])
        follow_clique(f, way, x->stage[WEFT_STAGE_WHOLE]->time_ps);
    else
        follow_dsf(f, way, delivered->time_ps);
    return true;
}

// --- parts --------------------------------------------------------------------------------------------------------

/// How much of the packet's time is explained so far.
struct cell_story {
    const struct weft_whys *y;
    const struct weft__why_path *path;
    weft_time_ps at;
    struct weft__why_list *list;
};

static void add_time(struct cell_story *t, weft_time_ps to, enum weft_why_kind kind, struct weft__why_name where,
                     struct weft__why_name because_of) {
    if (to <= t->at) return;
    weft__why_add(t->list, (struct weft__why_time){kind, where, because_of, to - t->at});
    t->at = to;
}

/// It waits for a port beyond the fabric.
static void add_behind(struct cell_story *t, weft_time_ps to, enum weft_why_kind kind, struct weft__why_name where,
                       uint32_t port) {
    if (to <= t->at) return;
    weft__why_behind(t->y, t->path, port, t->at, to, (struct weft__why_time){.kind = kind, .where = where}, t->list);
    t->at = to;
}

static void add_wait(struct cell_story *t, const struct weft_followed *cell, weft_time_ps to, enum weft_why_kind idle) {
    if (to <= t->at) return;
    weft__why_cells(t->y, t->path, cell, t->at, to, idle, t->list);
    t->at = to;
}

static const struct weft__why_name nothing;

/// From one node to the next.
static void add_cell(struct cell_story *t, const struct weft_followed *cell) {
    const struct weft_topology *topology = t->y->run->topology;
    struct weft__why_name port = {WEFT__WHY_PORT, cell->port, 0},
                          far = {WEFT__WHY_NODE, weft__why_far_node(t->y, cell->port), 0};
    weft_time_ps delay = topology->link[topology->port[cell->port].link].delay_ps;
    weft_time_ps sent = cell->arrival_ps - delay < cell->busy_ps ? cell->arrival_ps - delay : cell->busy_ps;
    if (cell->arrival_ps - cell->time_ps < delay) sent = cell->time_ps;
    if (cell->came_ps) // complete cells; in a Clique, boxes act on cells from their first bit on
        add_time(t, sent, WEFT_WHY_SERIALISATION, port, nothing);
    weft_time_ps there = t->at + delay;
    add_time(t, there < cell->arrival_ps ? there : cell->arrival_ps, WEFT_WHY_PROPAGATION, port, nothing);
    add_time(t, cell->arrival_ps, WEFT_WHY_PROCESSING, far, nothing);
}

/// A cell in a Clique's switch.
static void add_cross(struct cell_story *t, const struct weft_followed *cross, const struct weft_followed *cell) {
    struct weft__why_name node = {WEFT__WHY_NODE, node_at(t->y, cross->port), 0};
    if (cell) add_wait(t, cell, cross->time_ps, WEFT_WHY_ARBITRATION); // at its input, while its output sends others
    add_time(t, cross->time_ps, WEFT_WHY_ARBITRATION, node, nothing);
    if (!cell) {
        add_time(t, cross->busy_ps, WEFT_WHY_SERIALISATION, node, nothing);
        return;
    }
    add_time(t, cross->sent_ps < cell->time_ps ? cross->sent_ps : cell->time_ps, WEFT_WHY_PROCESSING, node, nothing);
    add_wait(t, cell, cell->time_ps, WEFT_WHY_CREDITS);
}

static weft_time_ps time_at(const struct crossing *x, enum weft_packet_stage s) {
    return x->stage[s] ? x->stage[s]->time_ps : 0;
}

/// Until the packet has its credits or its CTS, and becomes cells.
static void add_before(struct cell_story *t, const struct crossing *x, uint32_t port) {
    struct weft__why_name from = {WEFT__WHY_NODE, x->way.from, 0}, to = {WEFT__WHY_NODE, x->way.to, 0};
    if (!x->stage[WEFT_STAGE_ASKED]) {
        weft_time_ps cleared = time_at(x, WEFT_STAGE_CLEARED), blocked = time_at(x, WEFT_STAGE_BLOCKED);
        add_behind(t, blocked && blocked < cleared ? blocked : cleared, WEFT_WHY_CREDITS, from, port);
        add_time(t, cleared, WEFT_WHY_ARBITRATION, from, nothing);
        return;
    }
    add_time(t, time_at(x, WEFT_STAGE_ASKED), WEFT_WHY_PROCESSING, from, nothing);
    const struct weft_followed *grant = x->stage[WEFT_STAGE_GRANTED];
    if (grant) add_time(t, grant->came_ps, WEFT_WHY_CLEAR, from, nothing); // the RTS is in flight
    if (grant) add_behind(t, grant->time_ps, WEFT_WHY_CLEAR, to, port);    // the RTS is in the queue of the port
    add_time(t, time_at(x, WEFT_STAGE_CLEARED), WEFT_WHY_CLEAR, from, nothing);
    add_time(t, time_at(x, WEFT_STAGE_CUT), WEFT_WHY_SERIALISATION, from, nothing); // its last bit has not arrived
}

static void add_way(struct cell_story *t, const struct weft__why_cell_path *x) {
    for (uint32_t i = x->hops; i-- > 0;) {
        const struct weft_followed *cell = x->hop[i].cell, *cross = x->hop[i].cross;
        if (i + 1 == x->hops) {
            weft_time_ps came = cross ? cross->came_ps : cell->came_ps;
            add_time(t, came, WEFT_WHY_PROCESSING, (struct weft__why_name){WEFT__WHY_NODE, x->from, 0}, nothing);
        }
        if (cross)
            add_cross(t, cross, cell);
        else
            add_wait(t, cell, cell->time_ps, WEFT_WHY_ARBITRATION);
        if (cell) add_cell(t, cell);
    }
}

weft_time_ps weft__why_fabric(const struct weft_whys *y, const struct weft__why_path *path,
                              const struct weft_followed *hop, const struct weft_followed *next,
                              struct weft__why_list *l) {
    struct found f = find_packet(y, hop, next);
    struct crossing x = {.way = {.hops = 0}};
    struct cell_story t = {y, path, hop->arrival_ps, l};
    uint32_t from = weft__why_far_node(y, hop->port), to = node_at(y, next->port);
    bool seen = follow_packet(&f, hop, &x);
    if (!seen && from == to) return t.at;
    struct weft__why_name edges = {WEFT__WHY_NODES, from, to}, at_end = {WEFT__WHY_NODE, to, 0};
    if (seen) {
        add_before(&t, &x, next->port);
        add_way(&t, &x.way);
        if (x.way.hops) add_time(&t, time_at(&x, WEFT_STAGE_DELIVERED), WEFT_WHY_REASSEMBLY, at_end, nothing);
    }
    add_time(&t, seen ? time_at(&x, WEFT_STAGE_DELIVERED) : next->time_ps, WEFT_WHY_FABRIC, edges, nothing);
    return t.at;
}

void weft__why_way_ports(const struct weft__why_cell_path *way, bool *ret_port) {
    for (uint32_t i = 0; i < way->hops; i++)
        if (way->hop[i].cell) ret_port[way->hop[i].cell->port] = true;
}

void weft__why_fabric_ports(const struct weft_whys *y, const struct weft_followed *hop,
                            const struct weft_followed *next, bool *ret_port) {
    struct found f = find_packet(y, hop, next);
    struct crossing x = {.way = {.hops = 0}};
    if (follow_packet(&f, hop, &x)) weft__why_way_ports(&x.way, ret_port);
}

// --- 1RMA ---------------------------------------------------------------------------------------------------------

/// Where the cells of a request begin in y->rma.
static uint64_t lower_request(const struct weft_whys *y, const struct weft_followed *key) {
    return WEFT__FIRST_WITHOUT(0, y->rmas, weft__why_by_request(&y->rma[middle], &key) < 0);
}

bool weft__why_rma_path(const struct weft_whys *y, const struct weft_rma_note *request, enum weft_followed_cell cell,
                        uint32_t from, uint32_t to, weft_time_ps from_ps, weft_time_ps to_ps,
                        struct weft__why_cell_path *ret) {
    const struct weft_followed key = {.box = (uint16_t)request->box,
                                      .cell = (uint8_t)cell,
                                      .qp = request->slot,
                                      .psn = request->use,
                                      .time_ps = from_ps};
    struct found f = {.y = y, .cell = y->rma, .from_ps = from_ps, .to_ps = to_ps};
    f.first = f.end = lower_request(y, &key);
    while (f.end < y->rmas && y->rma[f.end]->box == key.box && y->rma[f.end]->cell == key.cell &&
           y->rma[f.end]->qp == key.qp && y->rma[f.end]->psn == key.psn && y->rma[f.end]->time_ps <= to_ps)
        f.end++;
    *ret = (struct weft__why_cell_path){.from = from, .to = to};
    follow_clique(&f, ret, to_ps);
    return ret->hops && ret->hop[ret->hops - 1].cross && node_at(y, ret->hop[ret->hops - 1].cross->port) == from;
}

weft_time_ps weft__why_way_add(const struct weft_whys *y, const struct weft__why_cell_path *way, weft_time_ps at,
                               struct weft__why_list *l) {
    const struct weft__why_path path = {.flow = WEFT_NONE};
    struct cell_story t = {y, &path, at, l};
    add_way(&t, way);
    return t.at;
}
