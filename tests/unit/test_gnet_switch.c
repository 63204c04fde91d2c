// SPDX-License-Identifier: Apache-2.0
// The cell switch of a TiN alone (Gibson et al., NSDI 2022, section 3.1): one TiN whose links all end at a bench, which
// sends cells as the far ends of links would, within its credits, and notes what comes. The TiN is driven as the engine
// drives it, by records, so nothing here knows how it is built. Links between pods (8) lead in, local ones (7) out: a
// cell that comes from another pod goes to its TiN straight, by one link. Times are what crossing and link take; fall-
// through is part of the way to a TiN and so of the bench's delay.
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "box/tin/tin.h"
#include "gnet_tables.h"
#include "models.h"
#include "weft/device.h"

enum { DELAY = 64000, BYTE = 320, MAX = WEFT_GNET_CELL_MAX, SLOW = 54272, CELLS = 1 << 16, RECORDS = 1 << 16 };
enum { DUT, BENCH, NODES };
enum { LOCAL_FIFO = 1280, GLOBAL_FIFO = 6400 };

/// A cell that the bench sends by a link, in order and within its credits; or one that has come.
struct cell {
    weft_time_ps time_ps; ///< not before that time; time of arrival
    uint16_t port, wire;  ///< of the TiN
    uint8_t vc, hops;
    uint32_t id;
};

struct bench {
    struct tables tables;
    struct weft__engine engine;
    struct weft_arena *arena;
    struct weft__port_rows rows;
    struct weft__tin *tin;
    struct weft__gnet_times local, global, cross, endpoint;
    const struct weft__gnet_times *times[WEFT__GNET_RATES];
    struct weft__gnet_tables in_force;
    uint32_t in[8], out[8], outs; ///< ports of the TiN: from other pods; to places 1.. of its own
    struct cell send[CELLS], came[CELLS];
    uint32_t sends, cames, next[64];
    weft_time_ps link_free_ps[64];
    int32_t credits[64][WEFT_GNET_VCS]; ///< of the FIFOs of the TiN
    int32_t fill[64][WEFT_GNET_VCS];    ///< of the bench's, by cells that have come
    weft_time_ps hold_ps;               ///< from a cell's arrival to the return of its credits; WEFT_TIME_NEVER: none
    uint32_t records;
};

static uint32_t units(uint32_t wire) {
    return (wire + WEFT_GNET_CREDIT_UNIT - 1) / WEFT_GNET_CREDIT_UNIT;
}

static bool is_global(const struct bench *b, uint32_t port) {
    return b->tables.f->tin[0].global >> port & 1;
}

/// Sends what it may over a link, each cell when the previous one has left; `key` is the port.
static void bench_serve(struct weft__node *node, struct bench *b, struct weft__worker *w, uint32_t port) {
    for (uint32_t i = b->next[port]; i < b->sends; i++) {
        const struct cell *c = &b->send[i];
        if (c->port != port || c->id == WEFT_NONE) continue;
        weft_time_ps at = c->time_ps > b->link_free_ps[port] ? c->time_ps : b->link_free_ps[port];
        if (at > w->now_ps) {
            weft__timer_set(&node->timers, port, at);
            return;
        }
        if (b->credits[port][c->vc] < (int32_t)units(c->wire)) return; // until some come
        b->credits[port][c->vc] -= (int32_t)units(c->wire);
        b->link_free_ps[port] = w->now_ps + (is_global(b, port) ? b->global : b->local).ps[c->wire];
        struct weft_packet cell = {
            .bytes = (uint16_t)(c->wire - WEFT_GNET_DATA_HEAD_BYTES),
            .dst = weft__gnet_pair(c->hops, 0),
            .entropy = weft__gnet_head(WEFT__GNET_DATA, c->vc, false) & 0x3fffu,
            .psn = c->id,
        };
        weft__send(w, (struct weft__to){.node = DUT, .port = c->port}, w->now_ps + DELAY, &cell);
        b->send[i].id = WEFT_NONE;
        b->next[port] = i + 1;
    }
}

static void give_credits(struct bench *b, struct weft__worker *w, uint32_t port, uint32_t vc, uint32_t n) {
    struct weft_packet credit = {.late = true, .kind = WEFT_PACKET_ROOM};
    weft__gnet_put_credit(&credit, 0, vc, n);
    weft__send(w, (struct weft__to){.node = DUT, .port = (uint16_t)port}, w->now_ps + DELAY + b->hold_ps, &credit);
}

static void bench_packet(struct weft__node *node, struct weft__worker *w, struct weft_packet *p, uint64_t word) {
    struct bench *b = node->state;
    if (p->kind == WEFT_PACKET_ROOM) {
        for (uint32_t k = 0; k < WEFT__GNET_CREDITS; k++) {
            uint32_t credit = weft__gnet_credit(p, k);
            b->credits[p->port][weft__gnet_credit_vc(credit)] += (int32_t)weft__gnet_credit_units(credit);
        }
        b->records++;
        bench_serve(node, b, w, p->port);
        return;
    }
    uint32_t vc = weft__gnet_vc(p), wire = weft__gnet_wire(p);
    int32_t room = (is_global(b, p->port) ? GLOBAL_FIFO : LOCAL_FIFO) / WEFT_GNET_CREDIT_UNIT;
    b->fill[p->port][vc] += (int32_t)units(wire);
    if (b->hold_ps != WEFT_TIME_NEVER) {
        b->fill[p->port][vc] -= (int32_t)units(wire);
        give_credits(b, w, p->port, vc, units(wire));
    }
    assert_true(b->fill[p->port][vc] <= room); // never overrun
    b->came[b->cames++] = (struct cell){.time_ps = w->now_ps,
                                        .port = p->port,
                                        .wire = (uint16_t)wire,
                                        .vc = (uint8_t)vc,
                                        .hops = (uint8_t)weft__gnet_hops(p),
                                        .id = p->psn};
}

static void bench_timer(struct weft__node *node, struct weft__worker *w, uint32_t key) {
    bench_serve(node, node->state, w, key);
}

static void bench_run(struct weft__node *node, struct weft__worker *w, const struct weft__arrival *arrival, uint32_t n,
                      weft_time_ps end) {
    weft__node_run(node, w, arrival, n, end, bench_packet, bench_timer);
}

static void nothing(const struct weft__node *node, const struct weft__arrival *arrival, uint32_t n, weft_time_ps end) {}
static void nothing_prepared(struct weft__node *node, struct weft__arrival *arrival, uint32_t n, weft_time_ps end) {}
static const struct weft__node_ops bench_ops = {.fetch = nothing, .prepare = nothing_prepared, .run = bench_run};

/// Parameters of a table from YAML; in `arena`.
static void *conf_of_table(const struct weft_param_table *table, const char *yaml, struct weft_arena *arena) {
    struct weft_tree *tree = NULL;
    struct weft_error error = {0};
    void *conf = weft_arena_alloc(arena, 1, table->conf_size);
    if (weft_tree_parse("t", yaml, strlen(yaml), arena, &tree, &error) ||
        weft_params_load(table, tree, conf, arena, &error))
        fail_msg("%s", error.text);
    return conf;
}

static void connect_ports(struct bench *b) {
    const struct weft_tin *tin = &b->tables.f->tin[0];
    uint32_t ins = 0;
    for (uint64_t left = tin->local | tin->global; left; left &= left - 1) {
        uint32_t k = (uint32_t)__builtin_ctzll(left);
        bool global = tin->global >> k & 1;
        struct weft__gnet_link link = {
            .rate = global ? 1 : 0,
            .cross = 2,
            .global = global,
            .delay_ps = DELAY,
            .credit_delay_ps = DELAY,
            .far_fifo_bytes = global ? GLOBAL_FIFO : LOCAL_FIFO,
            .peer_node = BENCH,
            .peer_port = (uint16_t)k,
        };
        weft__gnet_connect(&b->tin->gnet, k, &link);
        for (uint32_t vc = 0; vc < WEFT_GNET_VCS; vc++)
            b->credits[k][vc] = (global ? GLOBAL_FIFO : LOCAL_FIFO) / WEFT_GNET_CREDIT_UNIT;
        if (global)
            b->in[ins++] = k;
        else
            b->out[tin->peer[k]] = k;
    }
    assert_int_equal(ins, 8);
}

/// TiN 0 of nine pods of eight, with parameters of its own.
static struct bench *bench_new(const char *yaml) {
    struct bench *b = calloc(1, sizeof *b);
    b->tables = tables_new("pods: 9, tins: 8, hosts_per_tin: 1, local_parallel: 1, local_ports: 7, global_parallel: 8, "
                           "global_ports: 8",
                           "", NULL, NULL);
    b->arena = weft_arena_new(WEFT_MEMORY_SWITCH);
    uint32_t weight[NODES] = {1, 1};
    struct weft__engine_conf conf = {.nodes = NODES,
                                     .workers = 1,
                                     .lookahead_ps = DELAY,
                                     .until_ps = WEFT_PS_PER_S,
                                     .stall_ps = WEFT_TIME_NEVER,
                                     .work = UINT64_MAX};
    weft__engine_init(&b->engine, &conf, weight);
    weft__gnet_times_init(&b->local, 25000000000, 0);
    weft__gnet_times_init(&b->global, 25000000000, 0.06);
    weft__gnet_times_init(&b->cross, 50000000000, 0);
    const struct weft__gnet_times *times[WEFT__GNET_RATES] = {&b->local, &b->global, &b->cross};
    memcpy(b->times, times, sizeof times);
    const weft_time_ps *from = weft_arena_alloc(b->arena, 1, sizeof *from);
    const struct weft_gnet_routes **routes = weft_arena_alloc(b->arena, 1, sizeof *routes);
    routes[0] = b->tables.r;
    b->in_force = (struct weft__gnet_tables){.n = 1, .from_ps = from, .routes = routes};
    weft__gnet_find_columns(&b->in_force, b->arena);
    weft__port_rows_init(&b->rows, 15, b->arena);
    struct weft__tin_setup setup = {
        .rows = &b->rows,
        .conf = conf_of_table(&weft_tin_table, yaml, b->arena),
        .ethernet = conf_of_table(&weft_switch_table, "{}", b->arena),
        .topology = &b->tables.f->tin[0],
        .tables = &b->in_force,
        .times = b->times,
        .node_ports = 15,
        .seed = 1,
        .pool = &b->engine.worker[0].pool,
        .arena = b->arena,
    };
    b->tin = weft__tin_new(&setup, &b->engine.node[DUT]);
    connect_ports(b);
    b->engine.node[BENCH].ops = &bench_ops;
    b->engine.node[BENCH].state = b;
    weft__timers_init(&b->engine.node[BENCH].timers, 64);
    return b;
}

/// A cell to place `to` of the pod, by input `in`, from `at` on. Returns its number.
static uint32_t bench_send(struct bench *b, weft_time_ps at, uint32_t in, uint32_t class, uint32_t to, uint32_t wire) {
    assert_true(b->sends < CELLS);
    b->send[b->sends] = (struct cell){.time_ps = at,
                                      .port = (uint16_t)b->in[in],
                                      .wire = (uint16_t)wire,
                                      .vc = (uint8_t)weft_gnet_vc(class, 0),
                                      .hops = (uint8_t)to,
                                      .id = b->sends};
    return b->sends++;
}

/// Until nothing is left to do, or this time.
static void bench_go(struct bench *b, weft_time_ps until) {
    b->engine.conf.until_ps = until;
    for (uint32_t k = 0; k < 8; k++)
        weft__timer_set(&b->engine.node[BENCH].timers, b->in[k], 0);
    weft__engine_run(&b->engine);
}

static const struct cell *bench_came(const struct bench *b, uint32_t id) {
    for (uint32_t i = 0; i < b->cames; i++)
        if (b->came[i].id == id) return &b->came[i];
    return NULL;
}

/// When cell `id` arrived at the far end of its link, relative to cells sent at 0 arriving at the TiN.
static weft_time_ps bench_time(const struct bench *b, uint32_t id) {
    const struct cell *c = bench_came(b, id);
    if (!c) fail_msg("cell %" PRIu32 " has not come", id);
    return c->time_ps - 2 * DELAY;
}

static void bench_free(struct bench *b) {
    weft__tin_deinit(b->tin);
    weft__engine_deinit(&b->engine);
    weft_arena_free(b->arena);
    tables_free(&b->tables);
    free(b);
}

#define CLASS(kind, level) weft_gnet_class(WEFT_GNET_KIND_##kind, WEFT_GNET_##level)

// --- times --------------------------------------------------------------------------------------------------------

/// A cell that meets no other leaves while it still comes in: at once, but for what a slower link brings it later than
/// the faster one would take it, 6 % of its time. After a link between pods its VC is one more.
static void a_cell_alone_goes_straight_through(void **state) {
    static const uint32_t sizes[] = {16, 48, 160};
    for (uint32_t i = 0; i < 3; i++) {
        struct bench *b = bench_new("{routing: minimal_deterministic}");
        uint32_t id = bench_send(b, 0, 3, CLASS(DATA, BULK), 2, sizes[i]);
        bench_go(b, WEFT_PS_PER_S);
        assert_int_equal(bench_time(b, id), b->global.ps[sizes[i]] - b->local.ps[sizes[i]]);
        const struct cell *c = bench_came(b, id);
        assert_int_equal(c->port, b->out[2]);
        assert_int_equal(c->vc, weft_gnet_vc(CLASS(DATA, BULK), 1));
        assert_int_equal(c->hops, 1);
        assert_int_equal(c->wire, sizes[i]);
        bench_free(b);
    }
}

/// Two cells for one output: the second crosses when the first, which comes in at its link's rate, has crossed. It has
/// no slot to wait for. The third, from the first input, finds that busy until then, too, and comes right behind it.
static void a_busy_port_is_waited_for_no_longer_than_it_is_busy(void **state) {
    struct bench *b = bench_new("{routing: minimal_deterministic}");
    uint32_t first = bench_send(b, 0, 0, CLASS(DATA, BULK), 1, MAX);
    uint32_t second = bench_send(b, 0, 1, CLASS(DATA, BULK), 1, 16);
    uint32_t elsewhere = bench_send(b, 0, 2, CLASS(DATA, BULK), 2, 48);
    bench_go(b, WEFT_PS_PER_S);
    assert_int_equal(bench_time(b, first), SLOW - MAX * BYTE);
    assert_int_equal(bench_time(b, second), SLOW);
    assert_int_equal(bench_time(b, elsewhere), b->global.ps[48] - 48 * BYTE);
    bench_free(b);
}

/// With short cells behind a long one the crossbar, at twice the links' rate, is done before the link is: cells follow
/// one another on the link without a gap.
static void cells_follow_one_another_without_a_gap(void **state) {
    static const uint32_t sizes[] = {160, 16, 48, 160, 24, 16, 136, 160};
    struct bench *b = bench_new("{routing: minimal_deterministic}");
    uint32_t id[8];
    for (uint32_t i = 0; i < 8; i++)
        id[i] = bench_send(b, 0, i, CLASS(DATA, BULK), 1, sizes[i]);
    bench_go(b, WEFT_PS_PER_S);
    weft_time_ps at = SLOW; // the first is done; from there on the link is never idle
    for (uint32_t i = 1; i < 8; at += sizes[i++] * BYTE)
        assert_int_equal(bench_time(b, id[i]), at);
    bench_free(b);
}

// --- requests -----------------------------------------------------------------------------------------------------

/// One request for each VC and port: a waiting cell blocks those behind it in its VC, and none in another.
static void a_request_holds_up_its_own_channel_only(void **state) {
    struct bench *b = bench_new("{routing: minimal_deterministic, output_queue: 160B}");
    b->hold_ps = WEFT_TIME_NEVER; // nothing leaves by output 1 in this VC after 8 cells
    for (uint32_t i = 0; i < 20; i++)
        bench_send(b, 0, 0, CLASS(DATA, BULK), 1, MAX);
    uint32_t behind = bench_send(b, 0, 0, CLASS(DATA, BULK), 2, MAX);
    uint32_t beside = bench_send(b, 0, 0, CLASS(RESP, BULK), 2, MAX);
    uint32_t other = bench_send(b, 0, 1, CLASS(DATA, BULK), 2, MAX);
    bench_go(b, 100 * WEFT_PS_PER_US);
    assert_null(bench_came(b, behind));
    assert_int_equal(bench_time(b, beside), 21 * SLOW + SLOW - MAX * BYTE); // as if it were alone
    assert_int_equal(bench_time(b, other), SLOW - MAX * BYTE);
    bench_free(b);
}

/// How many cells of each input (or VC: `by_vc`) came in an interval, at an output.
static void count_came(const struct bench *b, uint32_t port, weft_time_ps from, weft_time_ps to, bool by_vc,
                       uint32_t *ret_cells) {
    for (uint32_t i = 0; i < b->cames; i++) {
        const struct cell *c = &b->came[i];
        if (c->port != port || c->time_ps < from || c->time_ps >= to) continue;
        ret_cells[by_vc ? c->vc : b->send[c->id].port]++;
    }
}

/// Eight inputs want more of one output than it has: iSLIP's pointer gives each as many cells as any other, whatever
/// their sizes are.
static void inputs_take_turns(void **state) {
    static const uint32_t sizes[2][8] = {{160, 160, 160, 160, 160, 160, 160, 160}, {16, 160, 48, 160, 16, 80, 160, 24}};
    for (uint32_t s = 0; s < 2; s++) {
        struct bench *b = bench_new("{routing: minimal_deterministic}");
        for (uint32_t n = 0; n < 400; n++)
            for (uint32_t in = 0; in < 8; in++)
                bench_send(b, 0, in, CLASS(DATA, BULK), 1, sizes[s][in]);
        bench_go(b, 60 * WEFT_PS_PER_US);
        uint32_t cells[64] = {0}, least = UINT32_MAX, most = 0;
        count_came(b, b->out[1], 10 * WEFT_PS_PER_US, 50 * WEFT_PS_PER_US, false, cells);
        for (uint32_t in = 0; in < 8; in++) {
            uint32_t n = cells[b->in[in]];
            if (n < least) least = n;
            if (n > most) most = n;
        }
        assert_true(least >= 90);
        if (most > least + 1) fail_msg("%" PRIu32 " to %" PRIu32 " cells", least, most);
        bench_free(b);
    }
}

/// Input 0 brings cells for output 2 without a gap, which cross as they come, and one among them for output 1, which
/// two others fill: each time that output 1 is free input 0 is busy. How long that one waits, in cells.
static uint32_t wait_of_one(const char *yaml) {
    struct bench *b = bench_new(yaml);
    for (uint32_t n = 0; n < 200; n++)
        for (uint32_t in = 1; in <= 2; in++)
            bench_send(b, 0, in, CLASS(RESP, BULK), 1, MAX);
    uint32_t one = 0;
    for (uint32_t n = 0; n < 200; n++) {
        bool is_one = n == 20;
        uint32_t id = bench_send(b, 0, 0, is_one ? CLASS(RESP, BULK) : CLASS(DATA, BULK), is_one ? 1 : 2, MAX);
        if (is_one) one = id;
    }
    bench_go(b, WEFT_PS_PER_S);
    uint32_t cells = (uint32_t)(bench_time(b, one) / SLOW) - 20;
    assert_int_equal(b->tin->gnet.lates | b->tin->gnet.insistent | b->tin->gnet.held, 0); // over
    bench_free(b);
    return cells;
}

static void an_input_that_is_always_busy_is_not_starved(void **state) {
    uint32_t cells = wait_of_one("{routing: minimal_deterministic, patience: 0}");
    if (cells < 100) fail_msg("without patience it had waited for %" PRIu32 " cells only", cells);
    static const struct {
        const char *yaml;
        uint32_t patience;
    } cases[] = {{"{routing: minimal_deterministic, patience: 4}", 4},
                 {"{routing: minimal_deterministic}", 16},
                 {"{routing: minimal_deterministic, patience: 40}", 40}};
    for (uint32_t i = 0; i < 3; i++) {
        cells = wait_of_one(cases[i].yaml);
        uint32_t most = cases[i].patience + 8 + 2; // 8 are before it in the queue of the output
        if (cells < cases[i].patience || cells > most) fail_msg("%s: %" PRIu32 " cells", cases[i].yaml, cells);
    }
}

/// Each of eight inputs brings cells for seven outputs, in a VC for each, at its line's rate. All of that is carried,
/// with FIFOs of a few cells: what is lost to pointers that point alike is little (McKeown: iSLIP carries all of a
/// uniform load).
static void a_uniform_load_is_carried(void **state) {
    struct bench *b = bench_new("{routing: minimal_deterministic}");
    enum { ROUNDS = 120 };
    for (uint32_t n = 0; n < ROUNDS; n++)
        for (uint32_t in = 0; in < 7; in++)
            for (uint32_t k = 0; k < 7; k++)
                bench_send(b, 0, in, k, 1 + (in + k + n) % 7, MAX);
    bench_go(b, WEFT_PS_PER_S);
    weft_time_ps last = 0, least = ROUNDS * 7 * (weft_time_ps)SLOW;
    for (uint32_t i = 0; i < b->cames; i++)
        if (b->came[i].time_ps - 2 * DELAY > last) last = b->came[i].time_ps - 2 * DELAY;
    assert_int_equal(b->cames, b->sends);
    if (last > least + 10 * SLOW) fail_msg("%" PRIu64 " ps, of %" PRIu64 " that inputs take", last, least);
    assert_true(b->tin->gnet.counts.credit_stalls == 0 || last > least);
    bench_free(b);
}

// --- allocation in steps ------------------------------------------------------------------------------------------

/// When the second of two cells from two inputs to one output, which arrive at the TiN at the same time, leaves after
/// the first.
static weft_time_ps between(const char *yaml, uint32_t class0, uint32_t class1) {
    struct bench *b = bench_new(yaml);
    uint32_t first = bench_send(b, 0, 0, class0, 1, MAX), second = bench_send(b, 0, 1, class1, 1, MAX);
    bench_go(b, WEFT_PS_PER_S);
    weft_time_ps one = bench_time(b, first), other = bench_time(b, second);
    bench_free(b);
    return one < other ? other - one : one - other;
}

/// BookSim 2's default: a cell has its channel in one step and its output in the next. So a channel of an output is
/// closed for two steps, and two channels share the output step by step. Without steps the link alone parts cells.
static void a_channel_is_closed_for_two_steps(void **state) {
    const char *steps = "{routing: minimal_deterministic, allocation_step: 100ns}";
    uint32_t low = CLASS(DATA, LOW_LATENCY), bulk = CLASS(DATA, BULK);
    assert_int_equal(between(steps, low, low), 200000);
    assert_int_equal(between(steps, low, bulk), 100000);
    assert_true(between("{routing: minimal_deterministic}", low, low) < 60000);
}

/// It takes its channel at the first step, and its output at the second.
static void a_cell_alone_takes_two_steps(void **state) {
    struct bench *b = bench_new("{routing: minimal_deterministic, allocation_step: 100ns}");
    uint32_t id = bench_send(b, 30000, 0, CLASS(DATA, BULK), 1, 16); // at the TiN at 94 ns
    bench_go(b, WEFT_PS_PER_S);
    assert_in_range(bench_time(b, id) + 2 * DELAY, 200000 + DELAY, 200000 + DELAY + 16 * BYTE);
    bench_free(b);
}

/// With an output per input and channel, all links are full: as many cells as without steps.
static void steps_of_a_crossing_lose_nothing_that_does_not_meet(void **state) {
    for (uint32_t with = 0; with < 2; with++) {
        struct bench *b = bench_new(with ? "{routing: minimal_deterministic, allocation_step: 25600ps}"
                                         : "{routing: minimal_deterministic}");
        for (uint32_t n = 0; n < 200; n++)
            for (uint32_t in = 0; in < 7; in++)
                bench_send(b, 0, in, CLASS(DATA, BULK), 1 + in, MAX);
        bench_go(b, 200 * SLOW + 4 * DELAY);
        assert_in_range(b->cames, 7 * 196, 7 * 200);
        bench_free(b);
    }
}

// --- UGAL ---------------------------------------------------------------------------------------------------------

/// How many of 900 cells to TiN 9, of pod 1, must go through another TiN.
static uint32_t go_by_others(struct bench *b) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < 900; k++) {
        struct weft_packet cell = {.dst = weft__gnet_pair(9, 0), .qp = k, .bytes = 48};
        weft__gnet_ugal_begin(&b->tin->gnet, &cell);
        n += cell.spare;
    }
    return n;
}

/// What an output has no credits back for, in any VC, counts; a TiN drawn in the pods at either end (2 of 9) is none.
static void ugal_compares_what_is_used(void **state) {
    struct bench *b = bench_new("{routing: ugal, nonminimal_weight: 2, nonminimal_bias: 960B}");
    struct weft__gnet *g = &b->tin->gnet;
    const struct weft_tin *tin = &b->tables.f->tin[0];
    uint32_t direct = 0;
    for (uint32_t k = 0; k < 8; k++)
        if (b->tables.f->tin[tin->peer[b->in[k]]].pod == 1) direct = b->in[k];
    assert_int_equal(go_by_others(b), 0);
    g->out[direct].credits[3] -= 60;
    g->out[direct].credits[30] -= 60;
    assert_int_equal(go_by_others(b), 0); // 960 B
    g->out[direct].credits[30] -= 1;
    assert_in_range(go_by_others(b), 640, 760); // 7 of 9
    for (uint32_t k = 0; k < 8; k++)
        if (b->in[k] != direct) g->out[b->in[k]].credits[0] -= 1;
    assert_int_equal(go_by_others(b), 0); // 968 B are no more than 2 x 8 B + 960 B
    bench_free(b);
}

/// BookSim's channels: 0 to the TiN drawn, 1 to the link between pods, 2 on it and behind it, and within a pod.
static void ugal_has_booksims_channels(void **state) {
    struct bench *b = bench_new("{routing: ugal}");
    const struct weft__gnet *g = &b->tin->gnet;
    struct weft_packet cell = {.dst = weft__gnet_pair(9, 0), .bytes = 48, .spare = 1};
    assert_int_equal(weft__gnet_ugal_vc(g, &cell, b->out[1]), 0);
    cell.spare = 0;
    assert_int_equal(weft__gnet_ugal_vc(g, &cell, b->out[1]), 1);
    assert_int_equal(weft__gnet_ugal_vc(g, &cell, b->in[0]), 2);
    cell.dst = weft__gnet_pair(1, 0);
    assert_int_equal(weft__gnet_ugal_vc(g, &cell, b->out[1]), 2);
    assert_int_equal(weft__gnet_ugal_output(g, &cell), b->out[1]);
    bench_free(b);
}

// --- quality of service -------------------------------------------------------------------------------------------

/// Cells of two VCs in 40 us at an output that four inputs of each class want all of.
static void contend(const char *yaml, uint32_t class0, uint32_t class1, uint32_t *ret_cells) {
    struct bench *b = bench_new(yaml);
    for (uint32_t n = 0; n < 500; n++)
        for (uint32_t in = 0; in < 8; in++)
            bench_send(b, 0, in, in % 2 ? class1 : class0, 1, MAX);
    bench_go(b, 60 * WEFT_PS_PER_US);
    uint32_t cells[64] = {0};
    count_came(b, b->out[1], 10 * WEFT_PS_PER_US, 50 * WEFT_PS_PER_US, true, cells);
    ret_cells[0] = cells[weft_gnet_vc(class0, 1)];
    ret_cells[1] = cells[weft_gnet_vc(class1, 1)];
    assert_in_range(ret_cells[0] + ret_cells[1], 780, 782); // 51.2 ns each: the link is never idle
    bench_free(b);
}

/// The low-latency level has eight times the weight of bulk, or as much as is said, or goes first.
static void outputs_weigh_their_channels(void **state) {
    uint32_t n[2], low = CLASS(DATA, LOW_LATENCY), bulk = CLASS(DATA, BULK);
    contend("{routing: minimal_deterministic}", low, bulk, n);
    assert_in_range(n[0], 8 * n[1] - 8, 8 * n[1] + 8);
    contend("{routing: minimal_deterministic, low_weight: 3}", low, bulk, n);
    assert_in_range(n[0], 3 * n[1] - 3, 3 * n[1] + 3);
    contend("{routing: minimal_deterministic, low_weight: 1}", low, bulk, n);
    assert_in_range(n[0], n[1] - 1, n[1] + 1);
    contend("{routing: minimal_deterministic, low_strict: on}", low, bulk, n);
    assert_int_equal(n[1], 0);
    contend("{routing: minimal_deterministic}", CLASS(REQ, BULK), bulk, n); // solicits: first in its level
    assert_int_equal(n[1], 0);
    contend("{routing: minimal_deterministic, solicit_strict: off}", CLASS(REQ, BULK), bulk, n);
    assert_in_range(n[0], n[1] - 1, n[1] + 1);
}

/// Eight classes that contend, one an input, without strict ones: none is starved, and each gets its weight's part.
static void no_channel_is_starved(void **state) {
    struct bench *b = bench_new("{routing: minimal_deterministic, solicit_strict: off, low_weight: 4}");
    static const enum weft_gnet_level levels[] = {WEFT_GNET_LOW_LATENCY, WEFT_GNET_BULK};
    for (uint32_t n = 0; n < 400; n++)
        for (uint32_t in = 0; in < 8; in++)
            bench_send(b, 0, in, weft_gnet_class(in % 4, levels[in / 4]), 1, MAX);
    bench_go(b, 60 * WEFT_PS_PER_US);
    uint32_t cells[64] = {0}; // in 40 rounds of 4 x 4 + 4 cells
    count_came(b, b->out[1], 5 * WEFT_PS_PER_US, 5 * WEFT_PS_PER_US + 40 * 20 * MAX * BYTE, true, cells);
    for (uint32_t in = 0; in < 8; in++) {
        uint32_t expected = in < 4 ? 160 : 40, n = cells[weft_gnet_vc(weft_gnet_class(in % 4, levels[in / 4]), 1)];
        if (n + 4 < expected || n > expected + 4)
            fail_msg("input %" PRIu32 ": %" PRIu32 " of %" PRIu32, in, n, expected);
    }
    bench_free(b);
}

// --- credits ------------------------------------------------------------------------------------------------------

/// A far end that gives nothing back gets what its FIFO holds: 8 cells of 160 B, and of small ones as many as leave
/// room for one of the largest. A byte more and bench_packet would have said so.
static void a_full_fifo_gets_no_more(void **state) {
    static const struct {
        uint32_t wire, cells;
    } cases[] = {{160, 8}, {16, (1280 - 160) / 16 + 1}, {152, 8}, {88, (1280 - 160) / 88 + 1}};
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bench *b = bench_new("{routing: minimal_deterministic}");
        b->hold_ps = WEFT_TIME_NEVER;
        for (uint32_t n = 0; n < 200; n++)
            bench_send(b, 0, n % 8, CLASS(DATA, BULK), 1, cases[i].wire);
        bench_go(b, 100 * WEFT_PS_PER_US);
        assert_int_equal(b->cames, cases[i].cells);
        bench_free(b);
    }
}

/// Cells of all sizes in all VCs, with far ends that keep theirs for a while: every cell arrives once, those of an
/// input and VC in order; no FIFO overflows at either end; in the end all credits have returned except less than a
/// batch per VC.
static void credits_are_exact(void **state) {
    static const struct {
        const char *yaml;
        weft_time_ps hold_ps;
        int32_t batch; ///< less is owed
    } cases[] = {{"{routing: minimal_deterministic}", 0, GLOBAL_FIFO / WEFT_GNET_CREDIT_UNIT / 4},
                 {"{routing: minimal_deterministic}", 50000, GLOBAL_FIFO / WEFT_GNET_CREDIT_UNIT / 4},
                 {"{routing: minimal_deterministic}", 700000, GLOBAL_FIFO / WEFT_GNET_CREDIT_UNIT / 4},
                 {"{routing: minimal_deterministic, credit_batch: 85%}", 50000, UINT8_MAX - MAX / 8}}; // at most
    for (uint32_t h = 0; h < sizeof cases / sizeof *cases; h++) {
        struct bench *b = bench_new(cases[h].yaml);
        b->hold_ps = cases[h].hold_ps;
        struct weft_random random = weft_random_stream(7, h, WEFT_RANDOM_TEST);
        enum { N = 8000 };
        for (uint32_t n = 0; n < N; n++)
            bench_send(b, weft_random_below(&random, 20 * WEFT_PS_PER_US), (uint32_t)weft_random_below(&random, 8),
                       (uint32_t)weft_random_below(&random, WEFT_GNET_CLASSES),
                       1 + (uint32_t)weft_random_below(&random, 7), 16 + 8 * (uint32_t)weft_random_below(&random, 19));
        bench_go(b, WEFT_PS_PER_S);
        assert_int_equal(b->cames, N);
        static uint32_t last[64][WEFT_GNET_VCS][8];
        memset(last, 0, sizeof last);
        for (uint32_t i = 0; i < b->cames; i++) {
            const struct cell *c = &b->came[i], *sent = &b->send[c->id];
            uint32_t *before = &last[sent->port][sent->vc][sent->hops];
            assert_int_equal(c->wire, sent->wire);
            assert_int_equal(c->vc, sent->vc + 1);
            assert_int_equal(c->port, b->out[sent->hops]);
            assert_true(c->id + 1 > *before);
            *before = c->id + 1;
        }
        for (uint32_t k = 0; k < 8; k++)
            for (uint32_t vc = 0; vc < WEFT_GNET_VCS; vc++) {
                int32_t owed = GLOBAL_FIFO / WEFT_GNET_CREDIT_UNIT - b->credits[b->in[k]][vc];
                assert_in_range(owed, 0, cases[h].batch - 1);
            }
        assert_true(b->records > 0);
        assert_int_equal(weft__tin_held(b->tin), 0);
        bench_free(b);
    }
}

// --- endpoints ----------------------------------------------------------------------------------------------------

/// Of a packet's cells the one that is the last to have crossed is waited for: here the first of them, as the second is
/// short. All others are taken as they begin to cross.
static void the_cell_that_ends_last_is_waited_for(void **state) {
    struct weft__tin_fetch fetch = {.used = true, .bytes = 300 + WEFT__TIN_L2_BYTES};
    struct weft__tin tin = {.fetch = &fetch, .fetches = 1};
    struct weft_packet longest = {.bytes = 150, .psn = 5}, short_one = {.bytes = 8, .psn = 5}, other = longest;
    other.bytes = 142;
    assert_int_equal(weft__tin_on_crossing(&tin, &longest, 3, 100), WEFT_NONE);
    assert_int_equal(weft__tin_on_crossing(&tin, &other, 4, 90), WEFT_NONE);
    assert_int_equal(weft__tin_on_crossing(&tin, &short_one, 2, 60), 3);
    assert_int_equal(fetch.packet.bytes, 150); // the longest has been given back
    longest.psn = 6;
    assert_int_equal(weft__tin_on_crossing(&tin, &longest, 7, 100), 7); // of no packet that is awaited
    longest.psn = 5;
    longest.dst = 1u << WEFT__TIN_FETCH_BITS;
    assert_int_equal(weft__tin_on_crossing(&tin, &longest, 7, 100), 7); // of one that had the slot before
    longest.dst = 0;
    fetch = (struct weft__tin_fetch){.used = true, .bytes = 150 + WEFT__TIN_L2_BYTES};
    assert_int_equal(weft__tin_on_crossing(&tin, &longest, 7, 100), 7); // all of it
    assert_int_equal(fetch.packet.bytes, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell_alone_goes_straight_through),
        cmocka_unit_test(a_busy_port_is_waited_for_no_longer_than_it_is_busy),
        cmocka_unit_test(cells_follow_one_another_without_a_gap),
        cmocka_unit_test(a_request_holds_up_its_own_channel_only),
        cmocka_unit_test(inputs_take_turns),
        cmocka_unit_test(an_input_that_is_always_busy_is_not_starved),
        cmocka_unit_test(a_uniform_load_is_carried),
        cmocka_unit_test(a_channel_is_closed_for_two_steps),
        cmocka_unit_test(a_cell_alone_takes_two_steps),
        cmocka_unit_test(steps_of_a_crossing_lose_nothing_that_does_not_meet),
        cmocka_unit_test(ugal_compares_what_is_used),
        cmocka_unit_test(ugal_has_booksims_channels),
        cmocka_unit_test(outputs_weigh_their_channels),
        cmocka_unit_test(no_channel_is_starved),
        cmocka_unit_test(a_full_fifo_gets_no_more),
        cmocka_unit_test(credits_are_exact),
        cmocka_unit_test(the_cell_that_ends_last_is_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
