// SPDX-License-Identifier: Apache-2.0
// Executes a DAG of steps without a network: whatever can be done is done, in order of time. This shows whether it can
// be executed at all, with connections limited to their slots, and how long its compute alone takes.
#include "base/timers.h"
#include "weft/dag.h"

struct lane {
    struct weft_dag_cursor at;
    struct weft_dag_step step;
    bool computing, done;
    uint32_t next;    ///< next lane that waits for the same counter, or lane
    uint32_t waiting; ///< the first lane that waits for this one; WEFT_NONE: none
    enum weft_dag_want want;
    uint32_t what;
};

struct connection {
    uint64_t sent, received;
    uint32_t slots;
    uint32_t sender, receiver; ///< lanes that wait; WEFT_NONE: none
};

struct counter {
    uint64_t n;
    uint32_t waiting; ///< the first lane
};

struct execution {
    const struct weft_dag *dag;
    const struct weft_dag_options *options;
    struct lane *lane;
    struct connection *connection;
    struct counter *counter;
    uint32_t *counter0; ///< [ranks]
    uint32_t *lane0;    ///< [ranks]
    uint32_t *key;      ///< [lanes]: breaks ties of equal times
    uint32_t *lane_of;  ///< [keys]
    struct weft__timers timers;
    weft_time_ps now;
    struct weft_dag_result result;
};

static void wake_lane(struct execution *x, uint32_t *lane) {
    if (*lane != WEFT_NONE) weft__timer_set(&x->timers, x->key[*lane], x->now);
    *lane = WEFT_NONE;
}

/// Wakes all waiting lanes, from *first on.
static void wake_all(struct execution *x, uint32_t *first) {
    for (uint32_t next; *first != WEFT_NONE; *first = next) {
        next = x->lane[*first].next;
        weft__timer_set(&x->timers, x->key[*first], x->now);
    }
}

/// Whether a lane has done `steps` of the operation that `at` is in. Its cursor is after the step that it has not done
/// yet.
static bool has_done(const struct lane *lane, const struct weft_dag_cursor *at, uint64_t steps) {
    if (lane->done || lane->at.iteration != at->iteration) return lane->done || lane->at.iteration > at->iteration;
    return lane->at.turn == at->turn ? lane->at.index > steps : lane->at.turn > at->turn;
}

static bool set_want(struct lane *lane, enum weft_dag_want want, uint32_t what) {
    lane->want = want;
    lane->what = what;
    return true;
}

/// Whether it must wait for something other than a time; if so, it is registered with what it waits for.
static bool must_wait(struct execution *x, uint32_t number) {
    struct lane *lane = &x->lane[number];
    const struct weft_dag_step *s = &lane->step;
    for (uint32_t k = 0; k < s->waits; k++) {
        struct counter *c = &x->counter[x->counter0[lane->at.rank] + s->wait[k].counter];
        if (c->n >= s->wait[k].n) continue;
        lane->next = c->waiting;
        c->waiting = number;
        return set_want(lane, WEFT_DAG_WANTS_COUNTER, s->wait[k].counter);
    }
    struct lane *before = &x->lane[x->lane0[lane->at.rank] + s->after_lane];
    if (s->after_steps && !has_done(before, &lane->at, s->after_steps)) {
        lane->next = before->waiting;
        before->waiting = number;
        return set_want(lane, WEFT_DAG_WANTS_LANE, s->after_lane);
    }
    for (uint32_t k = 0; k < s->recvs; k++) {
        struct connection *c = &x->connection[s->recv[k]];
        if (c->sent > c->received) continue;
        c->receiver = number;
        return set_want(lane, WEFT_DAG_WANTS_MESSAGE, s->recv[k]);
    }
    for (uint32_t k = 0; k < s->sends; k++) {
        struct connection *c = &x->connection[s->send[k]];
        if (c->sent - c->received < c->slots) continue;
        c->sender = number;
        return set_want(lane, WEFT_DAG_WANTS_ROOM, s->send[k]);
    }
    return false;
}

static void complete_step(struct execution *x, const struct lane *lane) {
    const struct weft_dag_step *s = &lane->step;
    for (uint32_t k = 0; k < s->recvs; k++) {
        x->connection[s->recv[k]].received++;
        wake_lane(x, &x->connection[s->recv[k]].sender);
    }
    for (uint32_t k = 0; k < s->sends; k++) {
        x->connection[s->send[k]].sent++;
        wake_lane(x, &x->connection[s->send[k]].receiver);
    }
    if (s->add != WEFT_NONE) {
        struct counter *c = &x->counter[x->counter0[lane->at.rank] + s->add];
        c->n++;
        wake_all(x, &c->waiting);
    }
    x->result.steps++;
    x->result.messages += s->sends;
    x->result.bytes += s->sends * s->bytes;
    x->result.end_ps = x->now;
    if (x->options->on_step) x->options->on_step(x->options->context, &lane->at, s);
}

/// Runs the lane until it must wait.
static void run_lane(struct execution *x, uint32_t number) {
    struct lane *lane = &x->lane[number];
    for (;;) {
        if (!lane->computing) {
            if (lane->step.from_ps > x->now) {
                weft__timer_set(&x->timers, x->key[number], lane->step.from_ps);
                return;
            }
            if (must_wait(x, number)) return;
            lane->computing = true;
            if (lane->step.compute_ps) {
                weft_time_ps end = x->now + lane->step.compute_ps; // both are WEFT_TIME_MAX at most
                weft__timer_set(&x->timers, x->key[number], end < WEFT_TIME_MAX ? end : WEFT_TIME_MAX);
                return;
            }
        }
        lane->computing = false;
        complete_step(x, lane);
        lane->done = !weft_dag_next(x->dag, &lane->at, &lane->step);
        wake_all(x, &lane->waiting);
        if (lane->done) return;
    }
}

static void shuffle_lanes(struct execution *x, uint32_t lanes) {
    struct weft_random random = weft_random_stream(x->options->seed, 0, WEFT_RANDOM_WORKLOAD);
    for (uint32_t i = 0; i < lanes; i++)
        x->lane_of[i] = i;
    for (uint32_t i = lanes; x->options->seed && i > 1; i--) {
        uint32_t k = (uint32_t)weft_random_below(&random, i), other = x->lane_of[k];
        x->lane_of[k] = x->lane_of[i - 1];
        x->lane_of[i - 1] = other;
    }
    for (uint32_t i = 0; i < lanes; i++)
        x->key[x->lane_of[i]] = i;
}

static uint32_t begin_execution(struct execution *x, struct weft_arena *arena) {
    const struct weft_dag *dag = x->dag;
    uint32_t lanes = 0, counters = 0;
    x->counter0 = weft_arena_alloc(arena, dag->ranks, sizeof *x->counter0);
    x->lane0 = weft_arena_alloc(arena, dag->ranks, sizeof *x->lane0);
    for (uint32_t r = 0; r < dag->ranks; r++) {
        struct weft_dag_rank rank = weft_dag_rank_at(dag, r);
        x->counter0[r] = counters;
        x->lane0[r] = lanes;
        counters += rank.counters;
        lanes += rank.lanes;
    }
    x->counter = weft_arena_alloc(arena, counters, sizeof *x->counter);
    for (uint32_t c = 0; c < counters; c++)
        x->counter[c].waiting = WEFT_NONE;
    x->connection = weft_arena_alloc(arena, dag->connections, sizeof *x->connection);
    for (uint32_t c = 0; c < dag->connections; c++)
        x->connection[c] = (struct connection){
            .slots = weft_dag_connection_at(dag, c).slots, .sender = WEFT_NONE, .receiver = WEFT_NONE};
    x->lane = weft_arena_alloc(arena, lanes, sizeof *x->lane);
    x->key = weft_arena_alloc(arena, lanes, sizeof *x->key);
    x->lane_of = weft_arena_alloc(arena, lanes, sizeof *x->lane_of);
    shuffle_lanes(x, lanes);
    weft__timers_init(&x->timers, lanes);
    for (uint32_t r = 0, lane = 0; r < dag->ranks; r++)
        for (uint32_t k = 0, n = weft_dag_rank_at(dag, r).lanes; k < n; k++, lane++) {
            x->lane[lane].at = (struct weft_dag_cursor){.rank = r, .lane = k};
            x->lane[lane].waiting = WEFT_NONE;
            x->lane[lane].done = !weft_dag_next(dag, &x->lane[lane].at, &x->lane[lane].step);
            if (!x->lane[lane].done) weft__timer_set(&x->timers, x->key[lane], 0);
        }
    return lanes;
}

/// Names one that waits for another rank, if there is any, because those that wait for their own rank wait for it.
static void note_stuck(struct execution *x, uint32_t lanes) {
    for (uint32_t i = 0; i < lanes; i++) {
        const struct lane *lane = &x->lane[i];
        if (lane->done) continue;
        bool better = x->result.want <= WEFT_DAG_WANTS_LANE && lane->want > WEFT_DAG_WANTS_LANE;
        if (x->result.stuck++ && !better) continue;
        x->result.rank = lane->at.rank;
        x->result.lane = lane->at.lane;
        x->result.want = lane->want;
        x->result.what = lane->what;
    }
}

struct weft_dag_result weft_dag_execute(const struct weft_dag *dag, const struct weft_dag_options *options) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct execution x = {.dag = dag, .options = options};
    uint32_t lanes = begin_execution(&x, arena);
    x.result.lanes = lanes;
    while (weft__timers_next(&x.timers) != WEFT_TIME_NEVER) {
        x.now = weft__timers_next(&x.timers);
        uint32_t lane = x.lane_of[weft__timers_pop(&x.timers)];
        run_lane(&x, lane);
    }
    note_stuck(&x, lanes);
    weft__timers_deinit(&x.timers);
    weft_arena_free(arena);
    return x.result;
}
