// SPDX-License-Identifier: Apache-2.0
// The controller of a Clique and the firmware of its TiNs, run: who tells whom what, and when.
#include "control/sdn_run.h"

#include <assert.h>
#include <string.h>

#include "weft/memory.h"

static const enum weft_memory_kind KIND = WEFT_MEMORY_ROUTES;
enum { VCS = WEFT__SDN_VCS };
enum {
    DUE_EVENT,
    DUE_REPORT,  ///< a TiN's report of its links is in the NIB and at the routing engine
    DUE_COMPUTE, ///< reports are gathered
    DUE_SOLVED,
    DUE_BATCH, ///< the flow manager hears of a batch
    DUE_RPC,   ///< at the TiN
    DUE_WRITE,
    DUE_DONE, ///< a TiN's confirmation
    DUE_RESULT,
    DUE_CONNECT,
    DUE_READ, ///< registers have been compared
    DUE_SEND, ///< the limit of the rate allows it
    DUE_EGRESS,
};

static void note(struct weft_sdn *s, weft_time_ps time, uint32_t kind, uint32_t who, uint32_t what) {
    weft__agenda_note(&s->agenda, (struct weft__due){.time_ps = time,
                                                     .kind = kind,
                                                     .who = who,
                                                     .what = what,
                                                     .data = who < s->f->tins ? s->session[who].life : 0});
}

// --- switch front-end and firmware --------------------------------------------------------------------------------

/// The next RPCs of a TiN, as many as may be under way.
static void send(struct weft_sdn *s, weft_time_ps now, uint32_t tin) {
    struct weft__sdn_session *e = &s->session[tin];
    uint32_t most = (uint32_t)(s->conf->rpc_bytes / s->conf->op_bytes);
    while (e->connected && e->rpcs < s->conf->outstanding && e->sent < e->n) {
        if (e->next_ps > now) {
            note(s, e->next_ps, DUE_SEND, tin, 0);
            return;
        }
        uint32_t ops = e->n - e->sent < most ? e->n - e->sent : most;
        for (uint32_t i = e->sent; i < e->sent + ops; i++) { // what will be there
            if (e->op[i].kind == WEFT__SDN_FLOW)
                *weft__sdn_entry(&s->expected, e->op[i].column, tin, e->op[i].row) = e->op[i].group;
            else if (e->op[i].kind == WEFT__SDN_EGRESS)
                e->egress_sent = e->op[i].group;
            else
                e->expected[e->op[i].group] = e->op[i].kind == WEFT__SDN_GROUP_ADD;
        }
        e->sent += ops;
        e->op[e->sent - 1].last = true;
        e->rpcs++;
        s->now_outcome->rpcs++;
        s->now_outcome->messages++;
        if (ops * s->conf->op_bytes > s->result->rpc_most) s->result->rpc_most = ops * s->conf->op_bytes;
        if (s->conf->rate) e->next_ps = now + ops * (WEFT_PS_PER_S / s->conf->rate);
        note(s, now + s->conf->rpc_ps + s->conf->latency_ps, DUE_RPC, tin, ops);
    }
}

static void lose_session(struct weft_sdn *s, weft_time_ps now, uint32_t tin) {
    struct weft__sdn_session *e = &s->session[tin];
    if (e->connected) e->lost_ps = now;
    e->connected = e->writing = false;
    e->life++;
    e->rpcs = 0;
}

/// The controller tries again and again, at times of its own.
static void try_to_connect(struct weft_sdn *s, weft_time_ps now, uint32_t tin) {
    note(s, now + 1 + weft_random_below(&s->random, s->conf->connect_ps), DUE_CONNECT, tin, 0);
}

static void on_rpc(struct weft_sdn *s, weft_time_ps now, uint32_t tin, uint32_t ops) {
    struct weft__sdn_session *e = &s->session[tin];
    weft_bytes held = s->conf->firmware_bytes + (e->there - e->written + ops) * s->conf->op_bytes;
    if (held > s->conf->sram_bytes) { // no memory: the session is lost
        s->result->overflows++;
        lose_session(s, now, tin);
        try_to_connect(s, now, tin);
        return;
    }
    if (held > s->result->sram_most) s->result->sram_most = held;
    e->there += ops;
    if (!e->writing) note(s, now + s->conf->op_ps, DUE_WRITE, tin, 0);
    e->writing = true;
}

static void on_write(struct weft_sdn *s, weft_time_ps now, uint32_t tin) {
    struct weft__sdn_session *e = &s->session[tin];
    struct weft__sdn_op op = e->op[e->written++];
    s->now_outcome->writes++;
    weft__sdn_write(s, now, tin, op);
    if (op.kind == WEFT__SDN_EGRESS) {
        double share = s->egress_all ? (double)s->egress_down / s->egress_all : 0;
        s->now_outcome->lost_ps += share * (double)(now - s->event_ps) / s->f->tins;
        s->now_outcome->done_ps = now - s->event_ps;
    }
    if (op.last) note(s, now + s->conf->latency_ps, DUE_DONE, tin, e->written);
    e->writing = e->written < e->there;
    if (e->writing) note(s, now + s->conf->op_ps, DUE_WRITE, tin, 0);
}

static void on_done(struct weft_sdn *s, weft_time_ps now, uint32_t tin, uint32_t end) {
    struct weft__sdn_session *e = &s->session[tin];
    e->rpcs--;
    e->confirmed = end;
    s->now_outcome->messages++;
    send(s, now, tin);
    if (e->confirmed < e->n) return;
    e->n = e->sent = e->there = e->written = e->confirmed = 0;
    if (!e->in_batch) return;
    e->in_batch = false;
    s->now_outcome->messages += 2; // result into the NIB, and from it to the routing engine
    if (!--s->waiting) note(s, now + 2 * s->conf->nib_ps, DUE_RESULT, WEFT_NONE, 0);
}

static void on_connect(struct weft_sdn *s, weft_time_ps now, uint32_t tin) {
    struct weft__sdn_session *e = &s->session[tin];
    if (e->connected || e->rebooting || !e->allowed) return; // it tries again when it may
    uint64_t registers = s->groups.tin[tin].n;
    for (uint32_t c = 0; c < weft__sdn_columns(&s->columns); c++)
        registers += s->tables.column[c] ? s->tables.rows : 0;
    note(s, now + 2 * s->conf->latency_ps + registers * s->conf->read_ps, DUE_READ, tin, 0);
}

static void on_read(struct weft_sdn *s, weft_time_ps now, uint32_t tin) {
    struct weft__sdn_session *e = &s->session[tin];
    if (e->connected) return;
    e->connected = true;
    s->now_outcome->repaired += weft__sdn_reconcile(s, tin);
    s->now_outcome->session_ps = now - e->lost_ps;
    if (e->n) {
        send(s, now, tin);
    } else if (e->in_batch) { // all of it was written, only the confirmation was lost
        e->in_batch = false;
        if (!--s->waiting) note(s, now + 2 * s->conf->nib_ps, DUE_RESULT, WEFT_NONE, 0);
    }
}

// --- routing engine -----------------------------------------------------------------------------------------------

static void set_ports(struct weft_sdn *s, const bool *down, uint64_t *ret_up) {
    memcpy(s->up_before, ret_up, s->f->tins * sizeof *ret_up);
    for (uint32_t x = 0; x < s->f->tins; x++) {
        ret_up[x] = 0;
        for (uint64_t ports = s->f->tin[x].local | s->f->tin[x].global; ports; ports &= ports - 1)
            if (!down[s->wiring->link[x * WEFT_GNET_PORTS_MAX + (uint32_t)__builtin_ctzll(ports)]])
                ret_up[x] |= ports & -ports;
    }
}

static void make_plan(struct weft_sdn *s) {
    struct weft_gnet_routes *routes = weft_gnet_routes_new(s->t, s->f, s->gnet, s->known);
    weft__sdn_plan_deinit(&s->plan);
    weft__sdn_plan(&s->plan, s->wiring, &s->columns, &s->groups, &s->meant, routes);
    weft__sdn_note_plan(s, routes);
    if (s->conf->ordering != WEFT_SDN_SEQUENCED) weft__sdn_plan_flatten(&s->plan);
    for (uint32_t x = 0; x < s->f->tins; x++)
        weft__sdn_session_grow(s, x);
}

static void gather(struct weft_sdn *s, weft_time_ps now) {
    s->stale = true;
    if (s->gathering || s->batch) return;
    s->gathering = true;
    note(s, now + s->conf->settle_ps, DUE_COMPUTE, WEFT_NONE, 0);
}

static void publish(struct weft_sdn *s, weft_time_ps now, uint32_t batch) {
    s->batch = batch <= s->plan.batches ? batch : 0;
    if (!s->batch) {
        s->now_outcome->done_ps = now - s->event_ps;
        if (s->stale)
            gather(s, now);
        else
            weft__sdn_note_solved(s, now);
        return;
    }
    s->now_outcome->batches++;
    s->now_outcome->messages += 2; // into the NIB, and to the flow manager
    note(s, now + s->conf->nib_ps, DUE_BATCH, WEFT_NONE, 0);
}

static void on_batch(struct weft_sdn *s, weft_time_ps now) {
    uint32_t first = 0, end;
    while (first < s->plan.n && s->plan.change[first].batch < s->batch)
        first++;
    for (end = first; end < s->plan.n && s->plan.change[end].batch == s->batch;)
        end++;
    weft__sdn_sort_batch(s, first, end);
    if (!s->waiting) { // a batch of none
        note(s, now + 2 * s->conf->nib_ps, DUE_RESULT, WEFT_NONE, 0);
        return;
    }
    for (uint32_t i = first; i < end; i++)
        if (i == first || s->plan.change[i].tin != s->plan.change[i - 1].tin) send(s, now, s->plan.change[i].tin);
}

static void on_result(struct weft_sdn *s, weft_time_ps now) {
    if (!s->stale) {
        publish(s, now, s->batch + 1);
        return;
    }
    s->batch = 0; // the rest of the plan is not for these links
    gather(s, now);
}

// --- what happens -------------------------------------------------------------------------------------------------

static void on_links(struct weft_sdn *s, weft_time_ps now, const struct weft_sdn_event *e, uint32_t number) {
    for (uint32_t i = 0; i < e->links; i++)
        s->down[e->link[i]] = !e->up;
    set_ports(s, s->down, s->up_real);
    weft__sdn_look_at_ports(s, now, &s->walk_real, s->up_before);
    note(s, now + s->conf->detect_ps + s->conf->latency_ps + s->conf->nib_ps, DUE_REPORT, WEFT_NONE, number);
}

static void on_report(struct weft_sdn *s, weft_time_ps now, uint32_t number) {
    const struct weft_sdn_event *e = &s->event[number];
    s->now_outcome->noticed_ps = now - s->event_ps;
    s->now_outcome->messages += 4; // from both ends, into the NIB and to the routing engine
    for (uint32_t i = 0; i < e->links; i++)
        s->known[e->link[i]] = !e->up;
    gather(s, now);
}

static void clear(struct weft_sdn *s, weft_time_ps now, uint32_t tin, uint32_t column, uint32_t row) {
    weft__sdn_note_write(s, now, tin, (struct weft__sdn_op){WEFT__SDN_FLOW, column, row, 0, false});
    *weft__sdn_entry(&s->tables, column, tin, row) = 0;
}

static void reboot(struct weft_sdn *s, weft_time_ps now, uint32_t tin) {
    struct weft__sdn_session *e = &s->session[tin];
    lose_session(s, now, tin);
    e->rebooting = true;
    note(s, now + s->conf->reboot_ps, DUE_CONNECT, tin, 1);
    if (s->conf->nsf) return;
    s->result->tampered = true;
    for (uint32_t c = 0; c < weft__sdn_columns(&s->columns); c++)
        for (uint32_t row = 0; row < s->tables.rows; row++)
            if (weft__sdn_get(&s->tables, c, tin, row)) clear(s, now, tin, c, row);
    memset(e->present, 0, e->presents * sizeof *e->present);
    weft__sdn_look(s, now, tin);
}

/// An entry of a port that names a group now names another one that it should not.
static void corrupt(struct weft_sdn *s, weft_time_ps now, uint32_t tin) {
    uint32_t columns = weft__sdn_columns(&s->columns), groups = s->groups.tin[tin].n, column, row, is;
    for (uint32_t tries = 0; tries < 100000; tries++) {
        column = (uint32_t)weft_random_below(&s->random, columns);
        row = (uint32_t)weft_random_below(&s->random, s->tables.rows);
        is = weft__sdn_get(&s->tables, column, tin, row);
        uint32_t other = 1 + (uint32_t)weft_random_below(&s->random, groups);
        if (!is || other == is) continue;
        weft__sdn_note_write(s, now, tin, (struct weft__sdn_op){WEFT__SDN_FLOW, column, row, other, false});
        *weft__sdn_entry(&s->tables, column, tin, row) = other;
        s->result->tampered = true;
        break;
    }
    weft__sdn_look(s, now, tin);
}

/// Four controllers of the datacenter, each for its share of the spines, agree on new egress paths; then every TiN's
/// group of ways out is written.
static void on_dcn(struct weft_sdn *s, weft_time_ps now, const struct weft_sdn_event *e, uint32_t number) {
    bool own = e->tin != WEFT_NONE;
    s->egress_down += own && !e->up;
    s->egress_down -= own && e->up && s->egress_down;
    s->now_outcome->messages += 2 + 2 * s->conf->shards;
    note(s, now + s->conf->detect_ps + s->conf->latency_ps + 2 * s->conf->nib_ps + s->conf->ibr_ps, DUE_EGRESS,
         WEFT_NONE, number);
}

static void on_egress(struct weft_sdn *s, weft_time_ps now, uint32_t number) {
    for (uint32_t x = 0; x < s->f->tins; x++) {
        weft__sdn_queue(s, x, (struct weft__sdn_op){WEFT__SDN_EGRESS, 0, 0, number + 1, false});
        send(s, now, x);
    }
}

static void on_event(struct weft_sdn *s, weft_time_ps now, uint32_t number) {
    const struct weft_sdn_event *e = &s->event[number];
    s->now_outcome->left_pairs = s->lost_pairs;
    s->now_outcome = &s->outcome[number];
    s->event_ps = now;
    memset(s->programmed, 0, s->f->tins * sizeof *s->programmed);
    uint64_t before = s->lost_pairs;
    switch (e->what) {
    case WEFT_SDN_LINKS:
        on_links(s, now, e, number);
        break;
    case WEFT_SDN_CUT:
        s->session[e->tin].allowed = false;
        if (!s->session[e->tin].rebooting) lose_session(s, now, e->tin);
        break;
    case WEFT_SDN_HEAL:
        s->session[e->tin].allowed = true;
        if (!s->session[e->tin].connected) try_to_connect(s, now, e->tin);
        break;
    case WEFT_SDN_REBOOT:
        reboot(s, now, e->tin);
        break;
    case WEFT_SDN_CORRUPT:
        corrupt(s, now, e->tin);
        break;
    case WEFT_SDN_DCN:
        on_dcn(s, now, e, number);
        break;
    }
    s->now_outcome->restored_ps = 0;
    s->now_outcome->cut_pairs = s->lost_pairs > before ? s->lost_pairs - before : 0;
}

static void act(struct weft_sdn *s, const struct weft__due *due) {
    weft_time_ps now = due->time_ps;
    uint32_t tin = due->who;
    bool of_tin = tin < s->f->tins;
    if (due->kind == DUE_EVENT) {
        on_event(s, now, due->what);
        return;
    }
    if (of_tin && due->data != s->session[tin].life) return; // of a session that is lost
    switch (due->kind) {
    case DUE_REPORT:
        on_report(s, now, due->what);
        break;
    case DUE_COMPUTE:
        s->gathering = s->stale = false;
        make_plan(s);
        set_ports(s, s->known, s->up_known);
        weft__sdn_look_at_ports(s, now, &s->walk_known, s->up_before);
        s->batch = 1; // being made
        note(s, now + s->conf->compute_ps, DUE_SOLVED, WEFT_NONE, 0);
        break;
    case DUE_SOLVED:
        s->now_outcome->computed_ps = now - s->event_ps;
        publish(s, now, 1);
        break;
    case DUE_BATCH:
        on_batch(s, now);
        break;
    case DUE_RPC:
        on_rpc(s, now, tin, due->what);
        break;
    case DUE_WRITE:
        on_write(s, now, tin);
        break;
    case DUE_DONE:
        on_done(s, now, tin, due->what);
        break;
    case DUE_RESULT:
        on_result(s, now);
        break;
    case DUE_CONNECT:
        if (due->what) s->session[tin].rebooting = false;
        if (due->what)
            try_to_connect(s, now, tin);
        else
            on_connect(s, now, tin);
        break;
    case DUE_READ:
        on_read(s, now, tin);
        break;
    case DUE_SEND:
        send(s, now, tin);
        break;
    case DUE_EGRESS:
        on_egress(s, now, due->what);
        break;
    }
}

// --- the whole ----------------------------------------------------------------------------------------------------

/// Everything as the intact Clique's plan has it, without the time it takes.
static void program_all(struct weft_sdn *s) {
    struct weft_sdn_outcome none = {0};
    s->now_outcome = &none;
    make_plan(s);
    for (uint32_t i = 0; i < s->plan.n; i++) {
        const struct weft__sdn_change *c = &s->plan.change[i];
        struct weft__sdn_session *e = &s->session[c->tin];
        *weft__sdn_entry(&s->meant, c->column, c->tin, c->row) = c->group;
        e->refs[c->group]++;
        e->present[c->group] = e->expected[c->group] = true;
        for (uint32_t slot = 0; slot < s->wiring->slots; slot++) {
            bool port = !slot || ((s->f->tin[c->tin].local | s->f->tin[c->tin].global) >> (slot - 1) & 1);
            if (!port || weft__sdn_input_of(s->f, c->tin, slot) != c->row / VCS) continue;
            uint32_t row = slot * VCS + c->row % VCS;
            *weft__sdn_entry(&s->expected, c->column, c->tin, row) = c->group;
            *weft__sdn_entry(&s->tables, c->column, c->tin, row) = c->group;
        }
    }
    weft__sdn_plan_deinit(&s->plan);
}

struct weft_sdn *weft_sdn_new(const struct weft_topology *t, const struct weft_dragonfly *f,
                              const struct weft_gnet_conf *gnet, const struct weft_sdn_conf *conf, uint64_t seed) {
    struct weft_arena *arena = weft_arena_new(KIND);
    struct weft_sdn *s = weft_arena_alloc(arena, 1, sizeof *s);
    *s = (struct weft_sdn){.t = t, .f = f, .gnet = gnet, .conf = conf, .arena = arena};
    s->random = weft_random_stream(seed, 2, WEFT_RANDOM_PHASE);
    s->wiring = weft__sdn_wiring_new(t, f, arena);
    s->columns = (struct weft__sdn_columns){.f = f,
                                            .special = weft_arena_alloc(arena, f->tins, sizeof(uint32_t)),
                                            .special_of = weft_arena_alloc(arena, f->tins, sizeof(uint32_t))};
    for (uint32_t pod = 0; pod < f->pods; pod++)
        if (f->pod_first[pod + 1] - f->pod_first[pod] > s->columns.places)
            s->columns.places = f->pod_first[pod + 1] - f->pod_first[pod];
    s->groups.tin = weft_arena_alloc(arena, f->tins, sizeof *s->groups.tin);
    s->session = weft_arena_alloc(arena, f->tins, sizeof *s->session);
    s->present = weft_arena_alloc(arena, f->tins, sizeof *s->present);
    s->programmed = weft_arena_alloc(arena, f->tins, sizeof *s->programmed);
    s->down = weft_arena_alloc(arena, t->links, sizeof *s->down);
    s->known = weft_arena_alloc(arena, t->links, sizeof *s->known);
    s->up_known = weft_arena_alloc(arena, f->tins, sizeof *s->up_known);
    s->up_real = weft_arena_alloc(arena, f->tins, sizeof *s->up_real);
    s->up_before = weft_arena_alloc(arena, f->tins, sizeof *s->up_before);
    weft__sdn_tables_init(&s->meant, &s->columns, WEFT__SDN_CLASS_ROWS);
    weft__sdn_tables_init(&s->expected, &s->columns, s->wiring->slots * VCS);
    weft__sdn_tables_init(&s->tables, &s->columns, s->wiring->slots * VCS);
    for (uint32_t x = 0; x < f->tins; x++) {
        s->session[x].connected = s->session[x].allowed = true;
        s->egress_all += f->tin[x].ethernets > 0;
    }
    set_ports(s, s->down, s->up_real);
    set_ports(s, s->down, s->up_known);
    program_all(s);
    return s;
}

void weft_sdn_free(struct weft_sdn *s) {
    for (uint32_t x = 0; x < s->f->tins; x++) {
        struct weft__sdn_session *e = &s->session[x];
        struct weft__sdn_tin_groups *g = &s->groups.tin[x];
        weft_memory_free(KIND, e->op, e->capacity * sizeof *e->op);
        weft_memory_free(KIND, e->present, e->presents * sizeof *e->present);
        weft_memory_free(KIND, e->expected, e->presents * sizeof *e->expected);
        weft_memory_free(KIND, e->refs, e->presents * sizeof *e->refs);
        weft_memory_free(KIND, g->set, g->capacity * sizeof *g->set);
    }
    weft__sdn_recorder_deinit(s);
    weft__sdn_walk_deinit(&s->walk_known);
    weft__sdn_walk_deinit(&s->walk_real);
    weft__sdn_plan_deinit(&s->plan);
    weft__sdn_tables_deinit(&s->meant);
    weft__sdn_tables_deinit(&s->expected);
    weft__sdn_tables_deinit(&s->tables);
    weft__agenda_deinit(&s->agenda);
    weft_arena_free(s->arena);
}

static void begin_walks(struct weft_sdn *s) {
    s->result->checked = s->f->tins <= s->conf->check_tins;
    if (!s->result->checked) return;
    s->walk_known = (struct weft__sdn_walk){
        .wiring = s->wiring, .tables = &s->tables, .groups = &s->groups, .present = s->present, .up = s->up_known};
    s->walk_real = s->walk_known;
    s->walk_real.up = s->up_real;
    weft__sdn_walk_begin(&s->walk_known);
    weft__sdn_walk_copy(&s->walk_real, &s->walk_known); // all links are up
    for (size_t i = 0; i < (size_t)s->f->tins * s->f->tins; i++)
        s->lost_pairs += !s->walk_real.arrives[i];
}

struct weft_sdn_result *weft_sdn_run(struct weft_sdn *s, const struct weft_sdn_event *event, uint32_t events,
                                     struct weft_arena *arena) {
    struct weft_sdn_result *result = weft_arena_alloc(arena, 1, sizeof *result);
    s->result = result;
    s->event = event;
    s->outcome = result->outcome = weft_arena_alloc(arena, events, sizeof *s->outcome);
    s->now_outcome = &s->none;
    result->sram_most = s->conf->firmware_bytes;
    begin_walks(s);
    for (uint32_t i = 0; i < events; i++)
        note(s, event[i].time_ps, DUE_EVENT, WEFT_NONE, i);
    struct weft__due due;
    // a session that may not be made is tried for without end: until nothing else can come of the last event
    weft_time_ps until = events ? event[events - 1].time_ps + 3600 * WEFT_PS_PER_S : 0;
    while (weft__agenda_take(&s->agenda, until, &due))
        act(s, &due);
    s->now_outcome->left_pairs = s->lost_pairs;
    return result;
}
