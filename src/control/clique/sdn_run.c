// SPDX-License-Identifier: Apache-2.0
// Runs the controller of a Clique: routing engine and flow manager, and the events that concern them.
#include "control/clique/sdn_run.h"

#include <string.h>

#include "weft/memory.h"

static const enum weft_memory_kind KIND = WEFT_MEMORY_ROUTES;
enum { VCS = WEFT__SDN_VCS };

/// For an event that belongs to no session.
static void note_due(struct weft_sdn *s, weft_time_ps time, uint32_t kind, uint32_t who, uint32_t what) {
    weft__agenda_note(
        &s->agenda,
        (struct weft__due){.time_ps = time, .kind = kind, .who = who, .what = what, .data = WEFT__SDN_NO_SESSION});
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

static void note_kept(struct weft_sdn *s, const struct weft_gnet_routes *routes) {
    for (uint32_t d = 0; d < s->f->tins && s->kept; d++)
        for (uint32_t x = 0; x < s->f->tins; x++) {
            if (x == d) continue;
            const struct weft_gnet_set *set = weft_gnet_at(routes, x, WEFT_GNET_TERMINAL, 0, d);
            s->kept[(size_t)d * s->f->tins + x] = set->minimal | set->nonminimal;
        }
}

static void make_plan(struct weft_sdn *s) {
    struct weft_gnet_routes *routes = weft_gnet_routes_new(s->t, s->f, s->gnet, s->known);
    weft__sdn_plan_deinit(&s->plan);
    weft__sdn_plan(&s->plan, s->wiring, &s->columns, &s->groups, &s->meant, routes, s->up_known);
    note_kept(s, routes);
    weft__sdn_note_plan(s, routes);
    if (s->conf->ordering != WEFT_SDN_SEQUENCED) weft__sdn_plan_flatten(&s->plan);
    for (uint32_t x = 0; x < s->f->tins; x++)
        weft__sdn_session_grow(s, x);
}

static void gather_changes(struct weft_sdn *s, weft_time_ps now) {
    s->stale = true;
    if (s->gathering || s->batch) return;
    s->gathering = true;
    note_due(s, now + s->conf->settle_ps, WEFT__SDN_DUE_COMPUTE, WEFT_NONE, 0);
}

static void compute_plan(struct weft_sdn *s, weft_time_ps now) {
    s->gathering = s->stale = false;
    set_ports(s, s->known, s->up_known);
    make_plan(s);
    weft__sdn_look_at_ports(s, now, &s->walk_known, s->up_before);
    s->batch = 1; // being made
    note_due(s, now + s->conf->compute_ps, WEFT__SDN_DUE_SOLVED, WEFT_NONE, 0);
}

static void write_batch(struct weft_sdn *s, weft_time_ps now, uint32_t batch) {
    s->batch = batch <= s->plan.batches ? batch : 0;
    if (!s->batch) {
        s->now_outcome->done_ps = now - s->event_ps;
        if (s->stale)
            gather_changes(s, now);
        else
            weft__sdn_note_solved(s, now);
        return;
    }
    s->now_outcome->batches++;
    weft__sdn_publish(s, now, WEFT_SDN_BATCH_WRITE, WEFT_NONE, 0, WEFT__SDN_BATCH);
}

/// The last event that did this to a link has been noticed.
static void note_noticed(struct weft_sdn *s, weft_time_ps now, uint32_t link, bool down) {
    for (uint32_t number = s->now_event + 1; number--;) {
        const struct weft_sdn_event *e = &s->event[number];
        for (uint32_t i = 0; i < e->links; i++) {
            if (e->what != WEFT_SDN_LINKS || e->link[i] != link || e->up == down) continue;
            s->outcome[number].noticed_ps = now - e->time_ps;
            return;
        }
    }
}

/// Both ends of a link report; only the first report is new. WEFT_NONE: the link is not in the Clique but belongs to
/// inter-block routing.
static void on_port_notice(struct weft_sdn *s, weft_time_ps now, uint32_t link, bool down) {
    if (link == WEFT_NONE || s->known[link] == down) return;
    note_noticed(s, now, link, down);
    s->known[link] = down;
    gather_changes(s, now);
}

/// The next batch follows when all TiNs of the previous one are programmed.
static void on_result_notice(struct weft_sdn *s, weft_time_ps now, uint32_t tin, uint32_t what) {
    if (what != WEFT__SDN_BATCH || (tin != WEFT_NONE && --s->waiting)) return;
    if (!s->stale) {
        write_batch(s, now, s->batch + 1);
        return;
    }
    s->batch = 0; // the rest of the plan no longer matches the links
    gather_changes(s, now);
}

static void on_exit_notice(struct weft_sdn *s, weft_time_ps now, uint32_t number) {
    if (++s->exits[number] < s->conf->shards) return;
    weft__sdn_publish(s, now, WEFT_SDN_BATCH_WRITE, WEFT_NONE, number, WEFT__SDN_EXITS);
}

// --- flow manager -------------------------------------------------------------------------------------------------

static void on_batch(struct weft_sdn *s, weft_time_ps now) {
    uint32_t first = 0, end;
    while (first < s->plan.n && s->plan.change[first].batch < s->batch)
        first++;
    for (end = first; end < s->plan.n && s->plan.change[end].batch == s->batch;)
        end++;
    weft__sdn_sort_batch(s, now, first, end);
    if (!s->waiting) // an empty batch
        weft__sdn_publish(s, now, WEFT_SDN_RESULT_WRITE, WEFT_NONE, 0, WEFT__SDN_BATCH);
}

/// The group of exits is written at every TiN.
static void on_exits(struct weft_sdn *s, weft_time_ps now, uint32_t number) {
    for (uint32_t x = 0; x < s->f->tins; x++) {
        weft__sdn_queue(s, x, (struct weft__sdn_op){WEFT__SDN_EGRESS, 0, 0, number + 1, false});
        weft__sdn_ask(s, now, x, WEFT__SDN_EXITS, 1);
    }
}

// --- what happens -------------------------------------------------------------------------------------------------

/// Firmware will notice. This is independent of the session: the registers of a port exist without one.
static void notice_port(struct weft_sdn *s, weft_time_ps now, uint32_t tin, uint32_t link, bool down) {
    weft__agenda_note(&s->agenda, (struct weft__due){.time_ps = now + s->conf->detect_ps,
                                                     .kind = WEFT__SDN_DUE_PORT,
                                                     .who = tin,
                                                     .what = link,
                                                     .round = down,
                                                     .data = WEFT__SDN_NO_SESSION});
}

static void on_links(struct weft_sdn *s, weft_time_ps now, const struct weft_sdn_event *e) {
    for (uint32_t i = 0; i < e->links; i++)
        s->down[e->link[i]] = !e->up;
    set_ports(s, s->down, s->up_real);
    weft__sdn_look_at_ports(s, now, &s->walk_real, s->up_before);
    for (uint32_t i = 0; i < e->links; i++)
        for (uint32_t end = 0; end < 2; end++)
            notice_port(s, now, s->end[e->link[i]][end], e->link[i], !e->up);
}

static void clear_entry(struct weft_sdn *s, weft_time_ps now, uint32_t tin, uint32_t column, uint32_t row) {
    weft__sdn_note_write(s, now, tin, (struct weft__sdn_op){WEFT__SDN_FLOW, column, row, 0, false});
    *weft__sdn_entry(&s->tables, column, tin, row) = 0;
}

static void reboot_tin(struct weft_sdn *s, weft_time_ps now, uint32_t tin) {
    struct weft__sdn_session *e = &s->session[tin];
    weft__sdn_reboot(s, now, tin);
    if (s->conf->nsf) return;
    s->result->tampered = true;
    for (uint32_t c = 0; c < weft__sdn_columns(&s->columns); c++)
        for (uint32_t row = 0; row < s->tables.rows; row++)
            if (weft__sdn_get(&s->tables, c, tin, row)) clear_entry(s, now, tin, c, row);
    memset(e->present, 0, e->presents * sizeof *e->present);
    weft__sdn_look(s, now, tin);
}

/// Makes an entry of a port refer to a wrong group.
static void corrupt_entry(struct weft_sdn *s, weft_time_ps now, uint32_t tin) {
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

/// A TiN reports its port to the controller. The spine, or the node that lost a link beyond it, tells the inter-block
/// routing controllers, four in a datacenter; each computes new exits for its share of the spines.
static void on_dcn(struct weft_sdn *s, weft_time_ps now, const struct weft_sdn_event *e, uint32_t number) {
    bool own = e->tin != WEFT_NONE;
    s->egress_down += own && !e->up;
    s->egress_down -= own && e->up && s->egress_down;
    if (own) notice_port(s, now, e->tin, WEFT_NONE, !e->up);
    note_due(s, now + s->conf->detect_ps, WEFT__SDN_DUE_SPINE, WEFT_NONE, number);
}

static void on_spine(struct weft_sdn *s, weft_time_ps now, uint32_t number) {
    for (uint32_t shard = 0; shard < s->conf->shards; shard++)
        weft__sdn_tell(s, now, WEFT_SDN_SPINE_STATUS, s->conf->latency_ps, shard, number);
}

static void on_event(struct weft_sdn *s, weft_time_ps now, uint32_t number) {
    const struct weft_sdn_event *e = &s->event[number];
    s->now_outcome->left_pairs = s->lost_pairs;
    s->now_outcome = &s->outcome[number];
    s->now_event = number;
    s->event_ps = now;
    memset(s->programmed, 0, s->f->tins * sizeof *s->programmed);
    uint64_t before = s->lost_pairs;
    switch (e->what) {
    case WEFT_SDN_LINKS:
        on_links(s, now, e);
        break;
    case WEFT_SDN_CUT:
        s->session[e->tin].allowed = false;
        if (!s->session[e->tin].rebooting) weft__sdn_lose_session(s, now, e->tin);
        break;
    case WEFT_SDN_HEAL:
        s->session[e->tin].allowed = true;
        if (!s->session[e->tin].connected) weft__sdn_try_to_connect(s, now, e->tin);
        break;
    case WEFT_SDN_REBOOT:
        reboot_tin(s, now, e->tin);
        break;
    case WEFT_SDN_CORRUPT:
        corrupt_entry(s, now, e->tin);
        break;
    case WEFT_SDN_DCN:
        on_dcn(s, now, e, number);
        break;
    }
    s->now_outcome->restored_ps = 0;
    s->now_outcome->cut_pairs = s->lost_pairs > before ? s->lost_pairs - before : 0;
}

static void act_on(struct weft_sdn *s, const struct weft__due *due) {
    weft_time_ps now = due->time_ps;
    if (due->data != WEFT__SDN_NO_SESSION && due->data != s->session[due->who].life) { // of a lost session
        s->result->messages_lost += due->kind < WEFT_SDN_MESSAGE_KINDS;
        return;
    }
    switch (due->kind) {
    case WEFT__SDN_DUE_EVENT:
        on_event(s, now, due->what);
        break;
    case WEFT__SDN_DUE_SPINE:
        on_spine(s, now, due->what);
        break;
    case WEFT__SDN_DUE_COMPUTE:
        compute_plan(s, now);
        break;
    case WEFT__SDN_DUE_SOLVED:
        s->now_outcome->computed_ps = now - s->event_ps;
        write_batch(s, now, 1);
        break;
    case WEFT_SDN_SPINE_STATUS:
        note_due(s, now + s->conf->ibr_ps, WEFT__SDN_DUE_EXITS, due->who, due->what);
        break;
    case WEFT__SDN_DUE_EXITS:
        weft__sdn_publish(s, now, WEFT_SDN_EXIT_WRITE, due->who, due->what, 0);
        break;
    case WEFT_SDN_PORT_WRITE:
    case WEFT_SDN_BATCH_WRITE:
    case WEFT_SDN_RESULT_WRITE:
    case WEFT_SDN_EXIT_WRITE:
        weft__sdn_at_nib(s, due);
        break;
    case WEFT_SDN_PORT_NOTICE:
        on_port_notice(s, now, due->what, due->round);
        break;
    case WEFT_SDN_RESULT_NOTICE:
        on_result_notice(s, now, due->who, due->round);
        break;
    case WEFT_SDN_EXIT_NOTICE:
        on_exit_notice(s, now, due->what);
        break;
    case WEFT_SDN_BATCH_NOTICE:
        if (due->round == WEFT__SDN_BATCH)
            on_batch(s, now);
        else
            on_exits(s, now, due->what);
        break;
    case WEFT_SDN_PROGRAMMED:
        weft__sdn_publish(s, now, WEFT_SDN_RESULT_WRITE, due->who, 0, due->what);
        break;
    default:
        weft__sdn_at_front_end(s, due);
    }
}

// --- the whole ----------------------------------------------------------------------------------------------------

/// Programs everything according to the intact Clique's plan, without the time it takes.
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
    s->end = weft_arena_alloc(arena, t->links, sizeof *s->end);
    s->down = weft_arena_alloc(arena, t->links, sizeof *s->down);
    s->reported = weft_arena_alloc(arena, t->links, sizeof *s->reported);
    s->known = weft_arena_alloc(arena, t->links, sizeof *s->known);
    s->up_known = weft_arena_alloc(arena, f->tins, sizeof *s->up_known);
    s->up_real = weft_arena_alloc(arena, f->tins, sizeof *s->up_real);
    s->up_before = weft_arena_alloc(arena, f->tins, sizeof *s->up_before);
    if (f->tins <= conf->check_tins) s->kept = weft_arena_alloc(arena, (size_t)f->tins * f->tins, sizeof *s->kept);
    weft__sdn_tables_init(&s->meant, &s->columns, WEFT__SDN_CLASS_ROWS);
    weft__sdn_tables_init(&s->expected, &s->columns, s->wiring->slots * VCS);
    weft__sdn_tables_init(&s->tables, &s->columns, s->wiring->slots * VCS);
    for (uint32_t x = 0; x < f->tins; x++) {
        s->session[x].connected = s->session[x].allowed = true;
        s->egress_all += f->tin[x].ethernets > 0;
        for (uint64_t ports = f->tin[x].local | f->tin[x].global; ports; ports &= ports - 1) {
            uint32_t k = (uint32_t)__builtin_ctzll(ports), *end = s->end[s->wiring->link[x * WEFT_GNET_PORTS_MAX + k]];
            end[0] = x; // the one examined last
            end[1] = f->tin[x].peer[k];
        }
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
    weft__sdn_messages_deinit(s);
    weft_arena_free(s->arena);
}

static void begin_walks(struct weft_sdn *s) {
    s->result->checked = s->kept;
    if (!s->result->checked) return;
    s->walk_known = (struct weft__sdn_walk){.wiring = s->wiring,
                                            .tables = &s->tables,
                                            .groups = &s->groups,
                                            .present = s->present,
                                            .up = s->up_known,
                                            .kept = s->kept};
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
    s->exits = weft_arena_alloc(s->arena, events, sizeof *s->exits);
    begin_walks(s);
    for (uint32_t i = 0; i < events; i++)
        note_due(s, event[i].time_ps, WEFT__SDN_DUE_EVENT, WEFT_NONE, i);
    struct weft__due due;
    // the controller tries forever to establish a session that may not exist: stops when the last event can have no
    // further effect
    weft_time_ps until = events ? event[events - 1].time_ps + 3600 * WEFT_PS_PER_S : 0;
    while (weft__agenda_take(&s->agenda, until, &due))
        act_on(s, &due);
    s->now_outcome->left_pairs = s->lost_pairs;
    weft__sdn_keep_messages(s, arena);
    return result;
}
