// SPDX-License-Identifier: Apache-2.0
#include "sim/follow.h"

#include "weft/poster.h"

#include "transport/program.h"
#include "transport/rma.h"

#include "weft/memory.h"

/// What a port's wire implies for a frame.
struct wire {
    weft_time_ps delay_ps, gap_ps, through_ps; ///< through_ps: time after which a cut-through peer acts; 0: it stores
                                               ///< and forwards
};

struct weft_follow_log {
    struct weft__follow_pool pool;
    struct weft__follow *node; ///< [nodes]
    struct wire *wire;         ///< [ports]
    uint32_t nodes, ports;
    struct weft__rank_log *rank; ///< [ranks] of all jobs
    uint32_t ranks;
    struct weft__rma_log *rma; ///< [nodes]; NULL: not followed
};

struct weft__following {
    struct weft_follow *follow;
    struct weft_follow_log *log;
};

static void follow_ranks(struct weft__network *net, struct weft_follow_log *log) {
    log->ranks = net->programs ? net->programs->n : 0;
    log->rank = weft_arena_alloc(net->outcome->arena, log->ranks, sizeof *log->rank);
    for (uint32_t i = 0; i < log->ranks; i++)
        net->programs->program[i].log = &log->rank[i];
}

/// Rows for the last frames of a node's queue pairs.
static uint32_t rows_of(uint32_t ports) {
    uint32_t rows = 64;
    while (rows < 32 * ports && rows < 1u << WEFT__FRAME_ROW)
        rows *= 2;
    return rows;
}

void weft__follow_start(struct weft__network *net, struct weft_follow *follow) {
    if (!follow) return;
    const struct weft_topology *t = net->topology;
    struct weft_arena *arena = net->outcome->arena;
    struct weft_follow_log *log = weft_arena_alloc(arena, 1, sizeof *log);
    *log = (struct weft_follow_log){.node = weft__arena_lines(arena, t->nodes, sizeof *log->node),
                                    .wire = weft_arena_alloc(arena, t->ports, sizeof *log->wire),
                                    .nodes = t->nodes,
                                    .ports = t->ports};
    weft__follow_pool_init(&log->pool);
    uint32_t *state = weft_arena_alloc(net->arena_qp, net->qps, sizeof *state);
    uint8_t *qp = NULL, *all = NULL;
    if (follow->flow) {
        qp = weft_arena_alloc(net->arena_qp, net->qps, sizeof *qp);
        for (uint32_t q = 0; q < net->qps; q++)
            qp[q] = follow->flow[net->qp[q].flow];
    }
    if (follow->port) all = weft_arena_alloc(net->arena_qp, t->ports, sizeof *all);
    for (uint32_t i = 0; all && i < t->ports; i++)
        all[i] = follow->port[i];
    for (uint32_t n = 0; n < t->nodes; n++) {
        uint32_t rows = rows_of(t->node[n].ports);
        log->node[n] = (struct weft__follow){.pool = &log->pool,
                                             .seen = weft__arena_lines(net->arena_qp, rows, sizeof *log->node->seen),
                                             .rows = rows - 1,
                                             .qp = qp,
                                             .all = all ? all + t->node[n].port0 : NULL,
                                             .state = state,
                                             .port0 = t->node[n].port0};
    }
    if (follow->ranks) follow_ranks(net, log);
    if (follow->rma) log->rma = weft__arena_lines(arena, t->nodes, sizeof *log->rma);
    for (uint32_t n = 0; n < t->nodes && log->rma; n++)
        log->node[n].rma = &log->rma[n];
    for (uint32_t h = 0; h < t->hosts && log->rma && net->rma; h++)
        if (net->rma->host[h]) net->rma->host[h]->log = &log->rma[t->host[h]];
    net->following = weft_arena_alloc(net->arena_qp, 1, sizeof *net->following);
    *net->following = (struct weft__following){follow, log};
    net->follow_node = log->node;
}

void weft__follow_collect(struct weft__network *net) {
    if (!net->following) return;
    struct weft_follow_log *log = net->following->log;
    for (uint32_t i = 0; i < log->ports; i++) {
        const struct weft__port *port = weft__network_port(net, i);
        if (port) log->wire[i] = (struct wire){port->delay_data_ps, port->gap_ps, port->part_ps};
    }
    for (uint32_t n = 0; n < log->nodes; n++) {
        weft__follow_settle(&log->node[n].frames);
        weft__follow_settle(&log->node[n].senders);
        weft__follow_settle(&log->node[n].others);
    }
    net->following->follow->log = log;
    net->following = NULL;
    net->follow_node = NULL;
}

static void release_log(struct weft_follow_log *log) {
    weft__follow_pool_deinit(&log->pool);
    for (uint32_t i = 0; i < log->ranks; i++)
        weft__rank_log_release(&log->rank[i]);
    for (uint32_t n = 0; n < log->nodes && log->rma; n++)
        weft__rma_log_release(&log->rma[n]);
}

void weft__follow_free(struct weft__network *net) {
    if (net->following) release_log(net->following->log);
}

void weft_follow_free(struct weft_follow *follow) {
    if (follow->log) release_log(follow->log);
    follow->log = NULL;
}

const struct weft_rank_note *weft_follow_rank(const struct weft_follow *follow, uint32_t rank, uint32_t *ret_n) {
    const struct weft_follow_log *log = follow->log;
    *ret_n = log && rank < log->ranks ? log->rank[rank].n : 0;
    return *ret_n ? log->rank[rank].note : NULL;
}

const struct weft_rma_note *weft_follow_rma(const struct weft_follow *follow, uint32_t node, uint32_t *ret_n) {
    const struct weft_follow_log *log = follow->log;
    *ret_n = log && log->rma && node < log->nodes ? log->rma[node].n : 0;
    return *ret_n ? log->rma[node].note : NULL;
}

// --- reading ------------------------------------------------------------------------------------------------------

/// `r` and, if it has one, its second record.
static struct weft_followed followed_of(const struct weft_follow_log *log, uint32_t port0,
                                        const struct weft__follow_record *r) {
    struct weft_followed f = {.time_ps = r->time_ps,
                              .port = port0 + r->port,
                              .qp = r->qp,
                              .psn = r->psn,
                              .what = r->what & 15,
                              .priority = r->priority,
                              .state = r->what >> 4};
    if (r->more) f.came_ps = (weft_time_ps)r[1].psn << 32 | r[1].qp;
    f.busy_ps = r->busy_ps;
    if (f.what == WEFT_FOLLOWED_CELL || f.what == WEFT_FOLLOWED_CROSS) {
        struct weft__follow_cell cell = weft__follow_cell_of(r[1].busy_ps);
        f.kind = (uint8_t)cell.kind;
        f.cell = (uint8_t)cell.cell;
        f.box = (uint16_t)cell.box;
        f.busy_ps = r->time_ps + r->busy_ps;
        f.arrival_ps = f.sent_ps = r[1].time_ps;
        f.state = f.what == WEFT_FOLLOWED_CROSS && r->home ? UINT8_MAX : (uint8_t)cell.vc;
        if (r->lost) f.arrival_ps = WEFT_TIME_NEVER;
    }
    if (f.what != WEFT_FOLLOWED_FRAME) return f;
    const struct wire *wire = &log->wire[f.port];
    f.kind = f.state;
    f.state = 0;
    f.busy_ps = r->time_ps + r->busy_ps;
    f.sent_ps = f.busy_ps - wire->gap_ps;
    bool local = f.kind >= WEFT_PACKET_PFC;
    if (!local && wire->through_ps && f.sent_ps > r->time_ps + wire->through_ps)
        f.sent_ps = r->time_ps + wire->through_ps;
    if (r->more) {
        f.sent_ps = r[1].time_ps;
        f.busy_ps = (weft_time_ps)r[1].psn << 32 | r[1].qp;
    }
    f.arrival_ps = r->lost ? WEFT_TIME_NEVER : f.sent_ps + wire->delay_ps;
    return f;
}

static struct weft__follow_record record_of(const struct weft__follow_frame *f) {
    uint64_t what = f->frame.what;
    return (struct weft__follow_record){.time_ps = f->time_ps,
                                        .qp = what & ((1u << WEFT__FRAME_NUMBER) - 1),
                                        .psn = what >> 28 & ((1u << WEFT__FRAME_NUMBER) - 1),
                                        .busy_ps = (uint32_t)f->frame.where,
                                        .port = (uint16_t)(f->frame.where >> 32),
                                        .what = (uint8_t)(WEFT_FOLLOWED_FRAME | (what >> 56 & 15) << 4),
                                        .priority = what >> 60 & 7,
                                        .lost = what >> 63 != 0};
}

typedef void act_on(void *, const struct weft_followed *);

static void each_frame(const struct weft_follow_log *log, const struct weft__follow *node, act_on *act, void *context) {
    struct weft__follow_seen seen[1 << WEFT__FRAME_ROW] = {0};
    struct weft__follow_frame frame = {0};
    for (const struct weft__follow_chunk *c = NULL; (c = weft__follow_next(&node->frames, c));) {
        const uint32_t *at = (const void *)c->memory, *end = (const void *)(c->memory + c->bytes);
        while (at < end) {
            if (!weft__follow_read(&at, seen, &frame)) continue;
            struct weft__follow_record r = record_of(&frame);
            struct weft_followed f = followed_of(log, node->port0, &r);
            act(context, &f);
        }
    }
}

static void each_sender(const struct weft__follow *node, act_on *act, void *context) {
    struct weft__follow_sender sender = {0};
    for (const struct weft__follow_chunk *c = NULL; (c = weft__follow_next(&node->senders, c));) {
        const uint32_t *at = (const void *)c->memory, *end = (const void *)(c->memory + c->bytes);
        while (at < end) {
            weft__follow_read_sender(&at, &sender);
            struct weft_followed f = {.time_ps = sender.time_ps,
                                      .port = node->port0,
                                      .qp = sender.qp,
                                      .what = WEFT_FOLLOWED_SENDER,
                                      .state = (uint8_t)sender.state};
            act(context, &f);
        }
    }
}

/// Calls `act` for each list of a node: frames, senders, others.
static void each_of(const struct weft_follow_log *log, uint32_t n, act_on *act, void *context) {
    const struct weft__follow *node = &log->node[n];
    each_frame(log, node, act, context);
    each_sender(node, act, context);
    for (const struct weft__follow_chunk *c = NULL; (c = weft__follow_next(&node->others, c));) {
        const struct weft__follow_record *r = (const void *)c->memory, *end = (const void *)(c->memory + c->bytes);
        for (; r < end; r += 1 + r->more) {
            struct weft_followed f = followed_of(log, node->port0, r);
            act(context, &f);
        }
    }
}

struct by_port {
    uint64_t *at; ///< [ports + 1]
    struct weft_followed *followed;
};
static void count_frame(void *context, const struct weft_followed *f) {
    struct by_port *p = context;
    p->at[f->port + 1]++;
}
static void place_frame(void *context, const struct weft_followed *f) {
    struct by_port *p = context;
    p->followed[p->at[f->port]++] = *f;
}

struct weft_followed_list weft_follow_list(const struct weft_follow *follow, struct weft_arena *arena) {
    const struct weft_follow_log *log = follow->log;
    struct weft_followed_list list = {0};
    if (!log) return list;
    struct by_port p = {.at = weft_arena_alloc(arena, log->ports + (size_t)1, sizeof *p.at)};
    for (uint32_t n = 0; n < log->nodes; n++)
        each_of(log, n, count_frame, &p);
    for (uint32_t i = 0; i < log->ports; i++)
        p.at[i + 1] += p.at[i];
    list.n = p.at[log->ports];
    list.first = weft_arena_alloc(arena, log->ports + (size_t)1, sizeof *list.first);
    for (uint32_t i = 0; i <= log->ports; i++)
        list.first[i] = p.at[i];
    p.followed = weft_arena_alloc(arena, list.n, sizeof *p.followed);
    for (uint32_t n = 0; n < log->nodes; n++)
        each_of(log, n, place_frame, &p);
    list.followed = p.followed;
    return list;
}

const struct weft_device_conf *weft__followed_device(const struct weft_scenario *scenario,
                                                     const struct weft_topology *t, uint32_t node) {
    return weft_scenario_device(scenario, t->node[node].name);
}
