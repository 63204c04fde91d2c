// SPDX-License-Identifier: Apache-2.0
// Runs a bootstrap: firmware, DHCP, sessions of the controller, proxies. A TiN has few states; bytes that it has
// confirmed stay programmed, because the chip keeps its registers when the session is lost.
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "control/agenda.h"
#include "weft/bootstrap.h"
#include "weft/memory.h"
#include "weft/random.h"

enum { DUE_DISCOVER, DUE_ADDRESS, DUE_RPC, DUE_CONNECTED, DUE_LOST, DUE_TIMEOUT, DUE_BACK };
enum state {
    STARTING,  ///< off, or its firmware starts
    SEARCHING, ///< sends discovers that no one receives
    HEARD,     ///< known to the controller, which has no free session, or no proxy
    PMOS,      ///< being programmed through its proxy
    TCP,       ///< over its own connection
    DONE,
};
struct tin {
    enum state state;
    bool addressed;
    uint32_t life, targets; ///< life: of its session; targets: how many it serves as a proxy
    weft_bytes taken;       ///< confirmed
    weft_time_ps busy_until_ps;
};
struct run {
    const struct weft_clique *c;
    const struct weft_bootstrap_conf *conf;
    struct weft_bootstrap_result *result;
    struct tin *tin;
    uint32_t *waiting;                    ///< known TiNs, in order of discovery
    uint32_t waitings, sessions, pending; ///< pending: items due, without discovers
    weft_bytes bytes, bytes_pmos;
    struct weft_random random;
    struct weft__agenda agenda;
};

static void note_due(struct run *r, weft_time_ps time, uint32_t kind, uint32_t who, weft_bytes bytes) {
    r->pending += kind != DUE_DISCOVER;
    weft__agenda_note(
        &r->agenda, (struct weft__due){
                        .time_ps = time, .kind = kind, .who = who, .what = (uint32_t)bytes, .data = r->tin[who].life});
}

/// The time that a proxy takes for `bytes` in both directions, in turn with its other targets.
static weft_time_ps carry_bytes(struct run *r, weft_time_ps now, uint32_t proxy, weft_bytes bytes) {
    struct tin *p = &r->tin[proxy];
    uint64_t words = weft_bootstrap_words(r->conf, bytes);
    weft_time_ps from = p->busy_until_ps > now ? p->busy_until_ps : now, took = words * r->conf->mos_word_ps;
    for (uint64_t left = (bytes + r->conf->packet_bytes - 1) / r->conf->packet_bytes; left; left--)
        while (weft_random_unit(&r->random) < r->conf->loss) {
            took += r->conf->resend_ps;
            r->result->resent++;
        }
    r->result->words += words;
    p->busy_until_ps = from + took;
    return p->busy_until_ps;
}

static void send_rpc(struct run *r, weft_time_ps now, uint32_t tin) {
    const struct weft_bootstrap_conf *conf = r->conf;
    struct tin *t = &r->tin[tin];
    weft_bytes left = (t->state == PMOS ? r->bytes_pmos : r->bytes) - t->taken;
    weft_bytes bytes = left < conf->rpc_bytes ? left : conf->rpc_bytes;
    weft_time_ps sent = now + conf->turnaround_ps + conf->latency_ps, there;
    if (t->state == PMOS)
        there = carry_bytes(r, sent, r->result->tin[tin].proxy, bytes);
    else
        there = sent + bytes * 8 * WEFT_PS_PER_S / conf->tcp_rate_bps;
    note_due(r, there + conf->latency_ps, DUE_RPC, tin, bytes);
}

/// The neighbour with a session and room whose relayed discover comes first; WEFT_NONE: none.
static uint32_t find_proxy(struct run *r, uint32_t tin) {
    uint32_t found = 0, best = WEFT_NONE;
    for (uint32_t k = 0; k < r->c->tin[tin].links; k++) {
        uint32_t peer = weft_clique_peer(r->c, tin, weft_clique_link_at(r->c, tin, k));
        if (r->tin[peer].state != DONE || r->tin[peer].targets >= r->conf->targets) continue;
        if (!weft_random_below(&r->random, ++found)) best = peer;
    }
    return best;
}

static bool is_audible(const struct run *r, uint32_t tin) {
    if (r->c->tin[tin].dcn) return true;
    for (uint32_t k = 0; k < r->c->tin[tin].links; k++)
        if (r->tin[weft_clique_peer(r->c, tin, weft_clique_link_at(r->c, tin, k))].state == DONE) return true;
    return false;
}

/// Connections are attempted at independent times: the next attempt is up to `connect` away.
static void await_connection(struct run *r, weft_time_ps now, uint32_t tin) {
    r->tin[tin].state = TCP;
    note_due(r, now + weft_random_below(&r->random, r->conf->connect_ps), DUE_CONNECTED, tin, 0);
}

static void begin_session(struct run *r, weft_time_ps now, uint32_t tin, uint32_t proxy) {
    struct weft_bootstrap_tin *ret = &r->result->tin[tin];
    struct tin *t = &r->tin[tin];
    if (!ret->tries++) ret->begun_ps = now;
    ret->proxy = proxy;
    if (++r->sessions > r->result->sessions_most) r->result->sessions_most = r->sessions;
    weft_time_ps answered = now + r->conf->dhcp_ps;
    t->state = TCP;
    if (proxy != WEFT_NONE) {
        ret->wave = r->result->tin[proxy].wave + 1;
        if (++r->tin[proxy].targets > r->result->targets_most) r->result->targets_most = r->tin[proxy].targets;
        t->state = PMOS;
        if (!t->addressed) answered = carry_bytes(r, answered, proxy, 4 * r->conf->dhcp_bytes);
    }
    note_due(r, t->addressed ? now : answered, DUE_ADDRESS, tin, 0);
}

/// Gives sessions to those that wait longest, as far as there are sessions and proxies.
static void serve_waiting(struct run *r, weft_time_ps now) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->waitings; i++) {
        uint32_t tin = r->waiting[i];
        bool dcn = r->c->tin[tin].dcn;
        uint32_t proxy = dcn || r->sessions >= r->conf->sessions ? WEFT_NONE : find_proxy(r, tin);
        if (r->sessions >= r->conf->sessions || (!dcn && proxy == WEFT_NONE))
            r->waiting[kept++] = tin;
        else
            begin_session(r, now, tin, proxy);
    }
    r->waitings = kept;
}

static void on_discover(struct run *r, weft_time_ps now, uint32_t tin) {
    struct tin *t = &r->tin[tin];
    t->state = SEARCHING;
    if (!is_audible(r, tin)) {
        note_due(r, now + r->conf->discover_ps, DUE_DISCOVER, tin, 0);
        return;
    }
    t->state = HEARD;
    if (r->result->tin[tin].heard_ps == WEFT_TIME_NEVER) r->result->tin[tin].heard_ps = now + r->conf->latency_ps;
    r->waiting[r->waitings++] = tin;
    serve_waiting(r, now);
}

static void leave_proxy(struct run *r, uint32_t tin) {
    if (r->result->tin[tin].proxy != WEFT_NONE) r->tin[r->result->tin[tin].proxy].targets--;
}

static void on_rpc(struct run *r, weft_time_ps now, uint32_t tin, weft_bytes bytes) {
    struct tin *t = &r->tin[tin];
    t->taken += bytes;
    if (t->state == PMOS && t->taken >= r->bytes_pmos) {
        leave_proxy(r, tin);
        await_connection(r, now, tin);
        serve_waiting(r, now);
    } else if (t->taken < r->bytes) {
        send_rpc(r, now, tin);
    } else {
        t->state = DONE;
        r->sessions--;
        r->result->tin[tin].done_ps = now;
        serve_waiting(r, now);
    }
}

/// A TiN fails, and with it the sessions that it serves; the controller finds out by its timeout.
static void lose_tin(struct run *r, weft_time_ps now, uint32_t tin) {
    r->tin[tin] = (struct tin){.life = r->tin[tin].life + 1};
    r->result->tin[tin].done_ps = WEFT_TIME_NEVER;
    note_due(r, now + r->conf->lost_for_ps + r->conf->start_ps, DUE_BACK, tin, 0);
    for (uint32_t i = 0; i < r->c->tins; i++) {
        if (r->tin[i].state != PMOS || r->result->tin[i].proxy != tin) continue;
        r->tin[i].life++; // what is in flight is lost
        note_due(r, now + r->conf->rpc_timeout_ps, DUE_TIMEOUT, i, 0);
    }
}

static void lose_proxies(struct run *r, weft_time_ps now) {
    for (uint64_t n = 0; n < r->conf->proxies_lost; n++) {
        uint32_t most = WEFT_NONE;
        for (uint32_t i = 0; i < r->c->tins; i++)
            if (r->tin[i].targets && (most == WEFT_NONE || r->tin[i].targets > r->tin[most].targets)) most = i;
        if (most != WEFT_NONE) lose_tin(r, now, most);
    }
}

static void on_timeout(struct run *r, weft_time_ps now, uint32_t tin) {
    r->tin[tin].life++;
    r->tin[tin].state = HEARD;
    r->sessions--;
    r->result->retried++;
    memmove(r->waiting + 1, r->waiting, r->waitings++ * sizeof *r->waiting);
    r->waiting[0] = tin; // ahead of those that have not begun
    serve_waiting(r, now);
}

static void act_on(struct run *r, const struct weft__due *due) {
    uint32_t tin = due->who;
    weft_time_ps now = due->time_ps;
    r->pending -= due->kind != DUE_DISCOVER;
    if (due->kind == DUE_LOST) {
        lose_proxies(r, now);
        return;
    }
    if (due->data != r->tin[tin].life) return;
    switch (due->kind) {
    case DUE_DISCOVER:
    case DUE_BACK:
        on_discover(r, now, tin);
        break;
    case DUE_ADDRESS:
        r->tin[tin].addressed = true;
        if (r->tin[tin].state == PMOS && r->tin[tin].taken < r->bytes_pmos)
            send_rpc(r, now, tin);
        else
            await_connection(r, now, tin);
        break;
    case DUE_RPC:
        on_rpc(r, now, tin, due->what);
        break;
    case DUE_CONNECTED:
        send_rpc(r, now, tin);
        break;
    case DUE_TIMEOUT:
        on_timeout(r, now, tin);
        break;
    }
}

/// Only discovers that no one will ever receive are left: no neighbour of the remaining TiNs has a connection.
static bool is_stuck(const struct run *r) {
    if (r->pending) return false;
    for (uint32_t i = 0; i < r->c->tins; i++)
        if (r->tin[i].state == STARTING || (r->tin[i].state == SEARCHING && is_audible(r, i))) return false;
    return true;
}

static void sum_up(struct run *r, struct weft_arena *arena) {
    struct weft_bootstrap_result *result = r->result;
    weft_time_ps *took = weft_arena_alloc(arena, r->c->tins, sizeof *took);
    for (uint32_t i = 0; i < r->c->tins; i++) {
        const struct weft_bootstrap_tin *t = &result->tin[i];
        if (t->done_ps == WEFT_TIME_NEVER) continue;
        took[result->done++] = t->done_ps - t->begun_ps;
        if (t->done_ps > result->done_ps) result->done_ps = t->done_ps;
        if (t->wave >= result->waves) result->waves = t->wave + 1;
    }
    if (!result->done) return;
    qsort(took, result->done, sizeof *took, weft__by_u64);
    result->least_ps = took[0];
    result->p50_ps = took[result->done / 2];
    result->most_ps = took[result->done - 1];
}

struct weft_bootstrap_result *weft_bootstrap_run(const struct weft_clique *c, const struct weft_bootstrap_conf *conf,
                                                 uint64_t seed, struct weft_arena *arena) {
    struct weft_bootstrap_result *result = weft_arena_alloc(arena, 1, sizeof *result);
    struct run r = {.c = c, .conf = conf, .result = result, .random = weft_random_stream(seed, 1, WEFT_RANDOM_PHASE)};
    r.bytes = result->tin_bytes = weft_bootstrap_bytes(c, conf);
    r.bytes_pmos = result->pmos_bytes = weft_bootstrap_bytes_pmos(c, conf);
    r.tin = weft_arena_alloc(arena, c->tins, sizeof *r.tin);
    r.waiting = weft_arena_alloc(arena, c->tins, sizeof *r.waiting);
    result->tin = weft_arena_alloc(arena, c->tins, sizeof *result->tin);
    for (uint32_t i = 0; i < c->tins; i++) {
        result->tin[i] = (struct weft_bootstrap_tin){
            .proxy = WEFT_NONE, .heard_ps = WEFT_TIME_NEVER, .begun_ps = WEFT_TIME_NEVER, .done_ps = WEFT_TIME_NEVER};
        weft_time_ps on = weft_random_below(&r.random, conf->spread_ps + 1);
        note_due(&r, on + conf->start_ps, DUE_DISCOVER, i, 0);
    }
    if (conf->proxies_lost) note_due(&r, conf->lost_at_ps, DUE_LOST, 0, 0);
    struct weft__due due;
    while (!is_stuck(&r) && weft__agenda_take(&r.agenda, WEFT_TIME_NEVER, &due))
        act_on(&r, &due);
    weft__agenda_deinit(&r.agenda);
    sum_up(&r, arena);
    return result;
}
