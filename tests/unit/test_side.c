// SPDX-License-Identifier: Apache-2.0
// Records beside packets: tokens wander over the nodes of an engine, some with a record in which every node signs. They
// are consumed, dropped, copied, and lose or get their record, depending only on their time and content. So nodes see
// the same for any number of workers, whichever returns a record.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/side.h"

enum { NODES = 61, LOOKAHEAD = 64000, BYTES = 100 };

/// What a record says of its packet.
struct trail {
    uint32_t signatures, last;
    uint64_t sum;
};
_Static_assert(sizeof(struct trail) <= WEFT__SIDE_BYTES, "fits");

struct wanderer {
    uint32_t id;
    struct weft__engine *engine;
    uint64_t history;
    uint32_t forgets; ///< so many records
    uint32_t consumed, dropped, copied, signatures_max;
};

static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 31) * UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 29) * UINT64_C(0xBF58476D1CE4E5B9);
    return x ^ x >> 32;
}

static uint32_t psn_of(uint32_t qp) {
    return qp * 2654435761u;
}

static struct trail *trail_of(struct weft__worker *w, const struct weft_packet *p) {
    return (struct trail *)(void *)weft__side_of(w, p)->user;
}

static void pass_on(struct wanderer *n, struct weft__worker *w, struct weft_packet *p, uint64_t chance) {
    static const weft_time_ps spans[] = {1, 50000, 1000000, 12000000}; // the last lies beyond the ring
    if (p->side) {
        struct trail *t = trail_of(w, p);
        t->sum = mix(t->sum ^ n->id);
        t->last = n->id;
        if (++t->signatures > n->signatures_max) n->signatures_max = t->signatures;
        p->entropy = t->sum & 0x3fffu;
    }
    uint32_t to = (n->id + 1 + (uint32_t)(chance >> 8) % (NODES - 1)) % NODES;
    weft_time_ps time = w->now_ps + LOOKAHEAD + (chance >> 24) % spans[chance >> 4 & 3];
    weft__send(w, (struct weft__to){weft__engine_inbox_of(n->engine, to), to, (uint16_t)n->id}, time, p);
}

static void copy(struct wanderer *n, struct weft__worker *w, const struct weft_packet *p, uint64_t chance) {
    struct weft_packet other = *p;
    if (other.side) weft__side_clone(w, &other);
    w->tally.injected_bytes += other.bytes;
    n->copied++;
    pass_on(n, w, &other, mix(chance));
}

/// Whether the packet's journey ends here.
static bool ends(struct wanderer *n, struct weft__worker *w, const struct weft_packet *p, uint64_t chance) {
    if (chance % 16 > 3) return false;
    bool dropped = chance % 16 > 1;
    *(dropped ? &w->tally.dropped_bytes : &w->tally.delivered_bytes) += p->bytes;
    ++*(dropped ? &n->dropped : &n->consumed);
    if (p->side && n->forgets)
        n->forgets--;
    else if (p->side)
        weft__side_release(w, p);
    return true;
}

static void on_packet(struct weft__node *node, struct weft__worker *w, struct weft_packet *p, uint64_t word) {
    struct wanderer *n = node->state;
    uint32_t psn = weft__side_psn(w, p);
    uint64_t seen = 0;
    assert_int_equal(psn, psn_of(p->qp));
    if (p->side) {
        assert_int_equal(trail_of(w, p)->last, p->port);
        seen = trail_of(w, p)->sum;
        assert_int_equal(seen & 0x3fff, p->entropy);
    }
    uint64_t chance = mix(p->time_ps * 31 + psn + ((uint64_t)n->id << 40) + seen);
    n->history += chance; // in any order, because packets of one port may arrive at the same time
    if (ends(n, w, p, chance)) return;
    if (chance % 16 == 4 && p->side) {
        weft__side_detach(w, p);
        assert_int_equal(p->psn, psn);
    }
    if (chance % 16 > 12) copy(n, w, p, chance);
    if (chance % 16 < 8 && !p->side) assert_int_equal(((struct trail *)weft__side_attach(w, p)->user)->signatures, 0);
    pass_on(n, w, p, chance);
}

static void on_timer(struct weft__node *node, struct weft__worker *w, uint32_t key) {
    struct wanderer *n = node->state;
    uint32_t qp = (uint32_t)(w->now_ps / 10) ^ n->id << 20;
    struct weft_packet p = {.bytes = BYTES, .qp = qp, .psn = psn_of(qp)};
    w->tally.injected_bytes += p.bytes;
    if (n->id % 2) weft__side_attach(w, &p);
    pass_on(n, w, &p, mix(qp));
    weft__timer_set(&node->timers, key, w->now_ps + 2000000 + n->id);
}

static void prepare(struct weft__node *node, struct weft__arrival *arrival, uint32_t n, weft_time_ps end) {}
static void fetch(const struct weft__node *node, const struct weft__arrival *arrival, uint32_t n, weft_time_ps end) {}
static void run_node(struct weft__node *node, struct weft__worker *w, const struct weft__arrival *arrival, uint32_t n,
                     weft_time_ps end) {
    weft__node_run(node, w, arrival, n, end, on_packet, on_timer);
}

struct result {
    uint64_t history, events, taken, records, kept;
    uint32_t consumed, dropped, copied, signatures_max;
    bool conserved;
};

static struct result run(uint32_t workers, uint32_t meeting_events, uint32_t forgets) {
    static const struct weft__node_ops ops = {.fetch = fetch, .prepare = prepare, .run = run_node};
    struct weft__engine engine;
    struct weft__engine_conf conf = {
        .nodes = NODES,
        .workers = workers,
        .meeting_events = meeting_events,
        .lookahead_ps = LOOKAHEAD,
        .until_ps = 400 * WEFT_PS_PER_US,
        .stall_ps = WEFT_TIME_NEVER,
        .work = UINT64_MAX,
    };
    uint32_t weight[NODES];
    struct wanderer node[NODES];
    for (uint32_t i = 0; i < NODES; i++)
        weight[i] = 1;
    weft__engine_init(&engine, &conf, weight);
    for (uint32_t i = 0; i < NODES; i++) {
        node[i] = (struct wanderer){.id = i, .engine = &engine, .forgets = i == 7 ? forgets : 0};
        engine.node[i].ops = &ops;
        engine.node[i].state = &node[i];
        weft__timers_init(&engine.node[i].timers, 1);
        weft__timer_set(&engine.node[i].timers, 0, 1 + i * 77);
    }
    weft__engine_run(&engine);
    struct weft__tally tally = weft__engine_tally(&engine);
    struct result r = {.events = tally.events, .kept = weft__engine_sides_kept(&engine)};
    r.conserved = tally.injected_bytes == tally.delivered_bytes + tally.dropped_bytes + weft__engine_in_flight(&engine);
    for (uint32_t k = 0; k < engine.conf.workers; k++) {
        r.taken += engine.worker[k].sides->taken;
        r.records += WEFT__SIDE_BLOCK * ((UINT64_C(1) << engine.worker[k].sides->blocks) - 1);
    }
    for (uint32_t i = 0; i < NODES; i++) {
        r.history = mix(r.history) ^ node[i].history;
        r.consumed += node[i].consumed;
        r.dropped += node[i].dropped;
        r.copied += node[i].copied;
        if (node[i].signatures_max > r.signatures_max) r.signatures_max = node[i].signatures_max;
    }
    weft__engine_deinit(&engine);
    return r;
}

static void same_for_any_number_of_workers(void **state) {
    struct result one = run(1, 0, 0);
    assert_true(one.events > 100000 && one.consumed > 1000 && one.dropped > 1000 && one.copied > 1000);
    assert_true(one.signatures_max > 10);
    static const uint32_t with[][2] = {{1, 0}, {2, 0}, {3, 0}, {3, 1}, {8, 0}};
    for (size_t i = 0; i < sizeof with / sizeof *with; i++) {
        struct result r = run(with[i][0], with[i][1], 0);
        assert_true(r.history == one.history);
        assert_int_equal(r.events, one.events);
        assert_int_equal(r.taken, one.taken);
        assert_true(r.conserved);
        assert_int_equal(r.kept, 0);
        assert_true(r.records * 20 < r.taken); // they are returned and taken again
    }
}

static void a_record_that_is_forgotten_is_missed(void **state) {
    for (uint32_t workers = 1; workers <= 3; workers++)
        assert_int_equal(run(workers, 0, 2).kept, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_for_any_number_of_workers),
        cmocka_unit_test(a_record_that_is_forgotten_is_missed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
