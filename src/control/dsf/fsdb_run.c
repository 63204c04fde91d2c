// SPDX-License-Identifier: Apache-2.0
// Runs the subscriptions of a fabric. Heartbeats are not events: as long as nothing is lost they change nothing, so the
// last one of a session is computed when its nodes are cut off from each other.
#include <assert.h>
#include <string.h>

#include "base/grow.h"
#include "control/agenda.h"
#include "weft/fsdb.h"
#include "weft/memory.h"

enum { DUE_TIME, DUE_CONNECTED, DUE_STATE, DUE_RESET, DUE_EVENT, DUE_LEFT, DUE_CAME };
enum { NEWEST = UINT32_MAX }; // the version that is current on arrival

struct run {
    const struct weft_fsdb_conf *conf;
    uint32_t nodes, now_event;
    const struct weft_fsdb_event *event;
    struct weft_fsdb_subscription *sub; ///< [subscriber * nodes + publisher]
    uint32_t *session;                  ///< [the same]: attempts so far; items of an old attempt are dropped
    uint32_t *version;                  ///< [nodes]: of its state
    uint32_t *life, *with;              ///< [nodes]: starts so far; [pairs]: that of the publisher in the session
    bool *alive;
    bool *cut; ///< [nodes]: on the other side of a partition
    weft_time_ps *serving_until, *beat;
    struct {                  ///< the host that moved last
        uint32_t to, version; ///< the version of its new node's state that contains it; 0: not yet
        bool *told;           ///< [nodes]
    } host;
    bool *known;       ///< [pairs]: as known to the subscriber's data plane
    weft_time_ps from; ///< times are relative to this
    bool keep;         ///< changes
    struct weft_fsdb_change *change;
    uint32_t changes, changes_capacity;
    struct weft__agenda agenda;
    struct weft_fsdb_outcome *outcome, first;
};

static struct weft_fsdb_outcome *now_outcome(struct run *r) {
    return r->now_event == UINT32_MAX ? &r->first : &r->outcome[r->now_event];
}

static bool can_reach(const struct run *r, uint32_t s, uint32_t p) {
    return r->cut[s] == r->cut[p];
}

static void note_due(struct run *r, weft_time_ps time, uint32_t kind, uint32_t pair, uint32_t what) {
    weft__agenda_note(&r->agenda, (struct weft__due){.time_ps = time,
                                                     .kind = kind,
                                                     .who = pair,
                                                     .what = what,
                                                     .data = kind == DUE_EVENT ? 0 : r->session[pair]});
}

static void note_time(struct run *r, uint32_t pair) {
    weft_time_ps due = weft_fsdb_due(&r->sub[pair]);
    bool silent = r->sub[pair].state == WEFT_FSDB_CONNECTED && can_reach(r, pair / r->nodes, pair % r->nodes);
    if (due != WEFT_TIME_NEVER && !silent) note_due(r, due, DUE_TIME, pair, 0);
}

/// The subscription requests a session.
static void connect_pair(struct run *r, weft_time_ps now, uint32_t pair) {
    uint32_t s = pair / r->nodes, p = pair % r->nodes;
    r->session[pair]++;
    now_outcome(r)->connects++;
    if (can_reach(r, s, p))
        note_due(r, now + 2 * r->conf->latency_ps, r->alive[p] ? DUE_CONNECTED : DUE_RESET, pair, 0);
}

/// The host that moved: which nodes know of it by now.
static void look_at_host(struct run *r, weft_time_ps now, uint32_t s, uint32_t p, uint32_t version) {
    if (!r->host.version || p != r->host.to || version < r->host.version || r->host.told[s]) return;
    r->host.told[s] = true;
    now_outcome(r)->told++;
    now_outcome(r)->told_last_ps = now;
}

/// What the data plane learns.
static void look_at_known(struct run *r, weft_time_ps now, uint32_t pair) {
    bool known = weft_fsdb_knows(&r->sub[pair]);
    if (known == r->known[pair]) return;
    r->known[pair] = known;
    if (!r->keep) return;
    WEFT__ADD_DOUBLE(WEFT_MEMORY_RESULT, r->change, r->changes, r->changes_capacity, 64) =
        (struct weft_fsdb_change){now - r->from, pair / r->nodes, pair % r->nodes, known};
}

/// Notes what a call has changed in a subscription.
static void follow_sub(struct run *r, weft_time_ps now, uint32_t pair, struct weft_fsdb_subscription before) {
    const struct weft_fsdb_subscription *s = &r->sub[pair];
    struct weft_fsdb_outcome *o = now_outcome(r);
    if (before.state == WEFT_FSDB_CONNECTED && s->state != WEFT_FSDB_CONNECTED) {
        o->lost++;
        o->lost_last_ps = now;
    }
    if (before.state != WEFT_FSDB_CONNECTED && s->state == WEFT_FSDB_CONNECTED) {
        o->established++;
        o->established_last_ps = now;
    }
    if (before.data != WEFT_FSDB_STALE && s->data == WEFT_FSDB_STALE) {
        o->flushed++;
        o->flushed_last_ps = now;
    }
    look_at_known(r, now, pair);
    note_time(r, pair);
}

static void start_node(struct run *r, weft_time_ps now, uint32_t s) {
    r->alive[s] = true;
    r->life[s]++;
    for (uint32_t p = 0; p < r->nodes; p++) {
        if (p == s) continue;
        weft_fsdb_start(&r->sub[s * r->nodes + p], r->conf, now);
        look_at_known(r, now, s * r->nodes + p);
        connect_pair(r, now, s * r->nodes + p);
        note_time(r, s * r->nodes + p);
    }
}

/// The node's sessions end: those to it by a reset, its own with it. Its chip continues to forward by what it was told.
static void crash_node(struct run *r, weft_time_ps now, uint32_t node) {
    r->alive[node] = false;
    for (uint32_t k = 0; k < r->nodes; k++) {
        uint32_t own = node * r->nodes + k, to = k * r->nodes + node;
        if (k == node) continue;
        now_outcome(r)->lost += r->sub[own].state == WEFT_FSDB_CONNECTED;
        r->sub[own] = (struct weft_fsdb_subscription){
            .data = r->sub[own].data, .deadline_ps = WEFT_TIME_NEVER, .hold_ps = WEFT_TIME_NEVER};
        r->session[own]++;
        if (r->alive[k] && can_reach(r, node, k)) note_due(r, now + r->conf->latency_ps, DUE_RESET, to, 0);
    }
}

/// From now on `pair` hears nothing: computes when it will notice.
static void fall_silent(struct run *r, weft_time_ps now, uint32_t pair) {
    struct weft_fsdb_subscription *s = &r->sub[pair];
    if (s->state != WEFT_FSDB_CONNECTED) return;
    weft_time_ps beat = r->conf->heartbeat_ps, into = (now + beat - r->beat[pair % r->nodes] % beat) % beat;
    weft_fsdb_on_state(s, r->conf, now - into + r->conf->latency_ps, s->version);
    note_due(r, weft_fsdb_due(s), DUE_TIME, pair, 0);
}

/// `pair` hears again before it gave up: a publisher that still knows the session sends again what was sent meanwhile.
static void be_heard(struct run *r, weft_time_ps now, uint32_t pair) {
    uint32_t p = pair % r->nodes;
    if (r->sub[pair].state != WEFT_FSDB_CONNECTED) return;
    bool known = r->alive[p] && r->with[pair] == r->life[p];
    note_due(r, now + r->conf->latency_ps, known ? DUE_STATE : DUE_RESET, pair, NEWEST);
}

static void divide_nodes(struct run *r, weft_time_ps now, const bool *side) {
    for (uint32_t pair = 0; !side && pair < r->nodes * r->nodes; pair++)
        if (!can_reach(r, pair / r->nodes, pair % r->nodes)) be_heard(r, now, pair);
    for (uint32_t i = 0; i < r->nodes; i++)
        r->cut[i] = side && side[i];
    for (uint32_t pair = 0; side && pair < r->nodes * r->nodes; pair++)
        if (!can_reach(r, pair / r->nodes, pair % r->nodes)) fall_silent(r, now, pair);
}

static void publish_state(struct run *r, weft_time_ps now, uint32_t p) {
    r->version[p]++;
    for (uint32_t s = 0; s < r->nodes; s++) {
        if (s == p || r->sub[s * r->nodes + p].state != WEFT_FSDB_CONNECTED || !can_reach(r, s, p)) continue;
        now_outcome(r)->changes++;
        note_due(r, now + r->conf->publish_ps + r->conf->latency_ps, DUE_STATE, s * r->nodes + p, r->version[p]);
    }
}

static void move_host(struct run *r, weft_time_ps now, const struct weft_fsdb_event *e) {
    r->host.to = e->to;
    r->host.version = 0;
    memset(r->host.told, 0, r->nodes * sizeof *r->host.told);
    note_due(r, now + r->conf->detect_ps, DUE_LEFT, e->node, 0);
    note_due(r, now + r->conf->detect_ps, DUE_CAME, e->to, 0);
}

static void on_event(struct run *r, weft_time_ps now, uint32_t i) {
    const struct weft_fsdb_event *e = &r->event[i];
    r->now_event = i;
    switch (e->what) {
    case WEFT_FSDB_CRASH:
        if (r->alive[e->node]) crash_node(r, now, e->node);
        break;
    case WEFT_FSDB_RESTART:
        if (!r->alive[e->node]) start_node(r, now, e->node);
        break;
    case WEFT_FSDB_CUT:
        divide_nodes(r, now, e->side);
        break;
    case WEFT_FSDB_HEAL:
        divide_nodes(r, now, NULL);
        break;
    case WEFT_FSDB_MOVE:
        move_host(r, now, e);
        break;
    }
}

static void on_pair(struct run *r, const struct weft__due *due) {
    uint32_t pair = due->who, s = pair / r->nodes, p = pair % r->nodes;
    struct weft_fsdb_subscription before = r->sub[pair];
    if (due->data != r->session[pair] || !r->alive[s]) return;
    if (due->kind == DUE_TIME) {
        if (due->time_ps < weft_fsdb_due(&r->sub[pair])) return;
        // a session that was silent and is heard again before it was given up
        if (before.state == WEFT_FSDB_CONNECTED && can_reach(r, s, p) && r->alive[p]) return;
        if (weft_fsdb_on_time(&r->sub[pair], r->conf, due->time_ps)) connect_pair(r, due->time_ps, pair);
    } else if (!can_reach(r, s, p)) {
        return;
    } else if (due->kind == DUE_CONNECTED) {
        if (!r->alive[p]) return; // the attempt ends by its timeout
        weft_fsdb_on_connected(&r->sub[pair], r->conf, due->time_ps);
        r->with[pair] = r->life[p];
        weft_time_ps from = r->serving_until[p] > due->time_ps ? r->serving_until[p] : due->time_ps;
        r->serving_until[p] = from + r->conf->serve_ps;
        now_outcome(r)->states++;
        note_due(r, r->serving_until[p] + r->conf->latency_ps, DUE_STATE, pair, NEWEST);
    } else if (due->kind == DUE_STATE) {
        uint32_t version = due->what == NEWEST ? r->version[p] : due->what;
        weft_fsdb_on_state(&r->sub[pair], r->conf, due->time_ps, version);
        look_at_host(r, due->time_ps, s, p, version);
    } else {
        weft_fsdb_on_disconnected(&r->sub[pair], r->conf, due->time_ps);
    }
    follow_sub(r, due->time_ps, pair, before);
}

static void act_on(struct run *r, const struct weft__due *due) {
    switch (due->kind) {
    case DUE_EVENT:
        on_event(r, due->time_ps, due->who);
        break;
    case DUE_LEFT:
        publish_state(r, due->time_ps, due->who);
        break;
    case DUE_CAME:
        publish_state(r, due->time_ps, due->who);
        r->host.version = r->version[due->who];
        look_at_host(r, due->time_ps, due->who, due->who, r->host.version);
        break;
    default:
        on_pair(r, due);
    }
}

static void init_run(struct run *r, const struct weft_fsdb_conf *conf, uint32_t nodes, uint64_t seed,
                     struct weft_arena *arena) {
    size_t pairs = (size_t)nodes * nodes;
    *r = (struct run){.conf = conf, .nodes = nodes, .now_event = UINT32_MAX};
    r->sub = weft_arena_alloc(arena, pairs, sizeof *r->sub);
    r->session = weft_arena_alloc(arena, pairs, sizeof *r->session);
    r->known = weft_arena_alloc(arena, pairs, sizeof *r->known);
    r->version = weft_arena_alloc(arena, nodes, sizeof *r->version);
    r->alive = weft_arena_alloc(arena, nodes, sizeof *r->alive);
    r->cut = weft_arena_alloc(arena, nodes, sizeof *r->cut);
    r->serving_until = weft_arena_alloc(arena, nodes, sizeof *r->serving_until);
    r->beat = weft_arena_alloc(arena, nodes, sizeof *r->beat);
    r->host.told = weft_arena_alloc(arena, nodes, sizeof *r->host.told);
    r->life = weft_arena_alloc(arena, nodes, sizeof *r->life);
    r->with = weft_arena_alloc(arena, pairs, sizeof *r->with);
    for (uint32_t i = 0; i < nodes; i++) {
        struct weft_random random = weft_random_stream(seed, i, WEFT_RANDOM_PHASE);
        r->beat[i] = weft_random_below(&random, conf->heartbeat_ps);
    }
}

static void run_until(struct run *r, weft_time_ps until) {
    struct weft__due due;
    while (weft__agenda_take(&r->agenda, until, &due))
        act_on(r, &due);
}

/// Times of outcomes are relative to their event.
static void run_events(struct run *r, uint32_t events) {
    const struct weft_fsdb_conf *conf = r->conf;
    for (uint32_t i = 0; i < events; i++)
        weft__agenda_note(&r->agenda,
                          (struct weft__due){.time_ps = r->from + r->event[i].time_ps, .kind = DUE_EVENT, .who = i});
    if (!events && !conf->cold_start) return;
    weft_time_ps last = r->from + (events ? r->event[events - 1].time_ps : 0);
    run_until(r,
              last + conf->receive_timeout_ps + conf->hold_ps + conf->chunk_timeout_ps + 3 * conf->connect_timeout_ps);
    for (uint32_t i = 0; i < events; i++) {
        struct weft_fsdb_outcome *o = &r->outcome[i];
        weft_time_ps at = r->from + r->event[i].time_ps;
        o->lost_last_ps -= o->lost && o->lost_last_ps ? at : o->lost_last_ps;
        o->established_last_ps -= o->established ? at : o->established_last_ps;
        o->flushed_last_ps -= o->flushed ? at : o->flushed_last_ps;
        o->told_last_ps -= o->told ? at : o->told_last_ps;
    }
}

struct weft_fsdb_result *weft_fsdb_run(const struct weft_fsdb_conf *conf, uint32_t nodes,
                                       const struct weft_fsdb_event *event, uint32_t events, uint64_t seed,
                                       struct weft_arena *arena) {
    assert(nodes && nodes <= 4096);
    struct run r;
    struct weft_fsdb_result *result = weft_arena_alloc(arena, 1, sizeof *result);
    init_run(&r, conf, nodes, seed, arena);
    r.event = event;
    r.outcome = result->outcome = weft_arena_alloc(arena, events, sizeof *r.outcome);
    for (uint32_t i = 0; i < nodes; i++)
        r.alive[i] = true;
    for (uint32_t i = 0; i < nodes; i++)
        start_node(&r, 0, i);
    r.keep = conf->cold_start;
    if (!conf->cold_start) {
        run_until(&r, WEFT_TIME_NEVER); // heartbeats are not events, so this ends
        // Times of events are relative to the time when all sessions exist, so that the start does not interfere with
        // them.
        r.from = r.first.established_last_ps;
        r.keep = true;
    }
    run_events(&r, events);
    result->sessions = (uint64_t)nodes * (nodes - 1);
    result->heartbeats_per_s = (double)result->sessions * 1e12 / (double)conf->heartbeat_ps;
    result->objects = (nodes - 1) * (conf->system_ports + conf->interfaces + conf->neighbours);
    result->first_full_ps = r.first.established_last_ps;
    result->first_messages = r.first.connects + r.first.states;
    result->changes = r.changes;
    result->change = weft_arena_alloc(arena, r.changes, sizeof *r.change);
    if (r.changes) memcpy(result->change, r.change, r.changes * sizeof *r.change);
    weft_memory_free(WEFT_MEMORY_RESULT, r.change, r.changes_capacity * sizeof *r.change);
    weft__agenda_deinit(&r.agenda);
    return result;
}
