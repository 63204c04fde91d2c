// SPDX-License-Identifier: Apache-2.0
#include "dag_lanes.h"
#include "base/order.h"

#include "weft/memory.h"

enum { FRONT_MAX = 8 }; // per lane: a step adds at most as many again

// --- steps --------------------------------------------------------------------------------------------------------

void weft__front_add(struct weft__front *front, uint32_t step, bool started) {
    assert(front->n < sizeof front->on / sizeof *front->on);
    front->on[front->n++] = (struct weft__dependency){step, started};
}

static uint32_t add_step(struct weft__emitter *e, const struct weft__front *front,
                         const struct weft_schedule_step *step) {
    uint32_t number = e->builder.steps;
    if (!weft_schedule_add(&e->builder, step)) {
        e->full = true;
        return 0;
    }
    for (uint32_t k = 0; k < front->n; k++)
        e->full |= !weft_schedule_add_edge(&e->builder, front->on[k].step, number, front->on[k].started);
    return number;
}

uint32_t weft__emit(struct weft__emitter *e, struct weft__front *front, const struct weft_schedule_step *step) {
    uint32_t number = add_step(e, front, step);
    *front = (struct weft__front){0};
    weft__front_add(front, number, false);
    return number;
}

void weft__emit_connections(struct weft__emitter *e, uint32_t connection0, uint32_t connections) {
    e->connection0 = connection0;
    e->connections = connections;
    e->ring = weft_arena_alloc(e->scratch, connections, sizeof *e->ring);
}

static uint32_t emit_compute(struct weft__emitter *e, struct weft__front *front, uint8_t cpu, weft_time_ps time) {
    return weft__emit(e, front, &(struct weft_schedule_step){.kind = WEFT_SCHEDULE_COMPUTE, .size = time, .cpu = cpu});
}

/// Waits for the connection's send `slots` earlier: when that is done there is room.
static void wait_for_room(struct weft__emitter *e, struct weft__front *front, uint32_t connection) {
    uint32_t slots = weft_dag_connection_at(e->dag, connection).slots;
    if (connection - e->connection0 >= e->connections) return; // a flow's connection has only one send
    const struct weft__ring *ring = &e->ring[connection - e->connection0];
    if (ring->sends >= slots) weft__front_add(front, ring->step[ring->sends % slots], false);
}

static uint32_t emit_message(struct weft__emitter *e, const struct weft__front *front, uint8_t cpu, bool sends,
                             uint32_t connection, weft_bytes bytes) {
    struct weft_dag_connection c = weft_dag_connection_at(e->dag, connection);
    struct weft_schedule_step step = {
        .kind = sends ? WEFT_SCHEDULE_SEND : WEFT_SCHEDULE_RECV,
        .size = bytes,
        .peer = weft_dag_rank_at(e->dag, sends ? c.dst : c.src).host,
        .tag = e->tag0 + connection,
        .cpu = cpu,
    };
    uint32_t number = add_step(e, front, &step);
    if (!sends || connection - e->connection0 >= e->connections) return number;
    struct weft__ring *ring = &e->ring[connection - e->connection0];
    if (!ring->step) ring->step = weft_arena_alloc(e->scratch, c.slots, sizeof *ring->step);
    ring->step[ring->sends++ % c.slots] = number;
    return number;
}

/// Emits the lane's receives, computes and sends. `front` then holds what its next step waits for.
static void emit_step(struct weft__emitter *e, struct weft__front *front, uint8_t cpu, const struct weft_dag_step *s) {
    if (s->recvs) {
        struct weft__front came = {0};
        for (uint32_t k = 0; k < s->recvs; k++)
            weft__front_add(&came, emit_message(e, front, cpu, false, s->recv[k], s->bytes), false);
        *front = came;
    }
    for (uint32_t k = 0; k < s->sends; k++)
        wait_for_room(e, front, s->send[k]);
    if (s->compute_ps) emit_compute(e, front, cpu, s->compute_ps);
    if (!s->sends) return;
    struct weft__front begun = {0};
    for (uint32_t k = 0; k < s->sends; k++)
        weft__front_add(&begun, emit_message(e, front, cpu, true, s->send[k], s->bytes), true);
    *front = begun;
}

/// Replaces several steps by one.
static void join_front(struct weft__emitter *e, struct weft__front *front, uint8_t cpu, uint32_t most) {
    if (front->n > most) emit_compute(e, front, cpu, 0);
}

// --- what lanes wait for ------------------------------------------------------------------------------------------

static void *make_room(void *list, uint64_t n, uint64_t *room, size_t size) {
    if (n < *room) return list;
    uint64_t more = *room ? 2 * *room : 16;
    list = weft_memory_resize(WEFT_MEMORY_SCENARIO, list, *room * size, more * size);
    *room = more;
    return list;
}

static void count_addition(struct weft__lanes *x, uint32_t number, uint32_t counter) {
    struct weft__lane_cursor *lane = &x->lane[number];
    struct weft__counter *c = &x->counter[counter];
    join_front(x->e, &lane->front, lane->cpu, 1);
    c->by = make_room(c->by, c->n, &c->room, sizeof *c->by);
    c->by[c->n++] = (struct weft__addition){number, lane->front.on[0], !lane->front.n};
}

/// The first n additions to a counter: the last one of each lane among them, because a lane's come one after another.
/// They come in rounds: of all lanes, or all of one.
static void wait_for_counter(struct weft__lanes *x, struct weft__lane_cursor *lane, const struct weft_dag_wait *wait) {
    struct weft__counter *c = &x->counter[wait->counter];
    struct weft__front all = {0};
    if (!wait->n) return;
    uint64_t from = wait->n;
    while (from && (from == wait->n || c->by[from - 1].lane != c->by[wait->n - 1].lane))
        from--;
    if (wait->n - from > 1 && c->joined == wait->n) {
        weft__front_add(&lane->front, c->join, false);
        return;
    }
    for (uint64_t k = from; k < wait->n; k++) {
        if (c->by[k].none) continue;
        join_front(x->e, &all, lane->cpu, FRONT_MAX);
        weft__front_add(&all, c->by[k].on.step, c->by[k].on.started);
    }
    if (wait->n - from > 1) {
        c->join = emit_compute(x->e, &all, lane->cpu, 0);
        c->joined = wait->n;
    }
    for (uint32_t k = 0; k < all.n; k++)
        weft__front_add(&lane->front, all.on[k].step, all.on[k].started);
}

/// For the operation that both lanes are in: the other lane's last step before number `steps`.
static void wait_for_lane(const struct weft__lane_cursor *before, uint64_t steps, struct weft__front *front) {
    size_t low = WEFT__FIRST_WITHOUT(0, before->steps, before->progress[middle].index < steps);
    for (uint32_t k = 0; low && k < before->progress[low - 1].n; k++)
        weft__front_add(front, before->progress[low - 1].first + k, before->progress[low - 1].started);
}

static bool has_done(const struct weft__lane_cursor *lane, const struct weft_dag_cursor *at, uint64_t steps) {
    if (lane->done || lane->at.iteration != at->iteration) return lane->done || lane->at.iteration > at->iteration;
    return lane->at.turn == at->turn ? lane->at.index >= steps + lane->has : lane->at.turn > at->turn;
}

static bool must_wait(const struct weft__lanes *x, const struct weft__lane_cursor *lane) {
    const struct weft_dag_step *s = &lane->step;
    for (uint32_t k = 0; k < s->waits; k++)
        if (x->counter[s->wait[k].counter].n < s->wait[k].n) return true;
    return s->after_steps && !has_done(&x->lane[s->after_lane], &lane->at, s->after_steps);
}

/// What a lane that waits for this one needs to know. The front is steps in sequence, or a single one.
static void note_progress(struct weft__emitter *e, struct weft__lane_cursor *lane, uint32_t steps_before) {
    if (!lane->step.op) {
        if (lane->step.add == WEFT_NONE) lane->steps = 0; // an operation starts, and no lane is in the previous one
        return;
    }
    if (e->builder.steps == steps_before) join_front(e, &lane->front, lane->cpu, 1);
    lane->progress = make_room(lane->progress, lane->steps, &lane->room, sizeof *lane->progress);
    lane->progress[lane->steps++] =
        (struct weft__progress){lane->at.index - 1, lane->front.n ? lane->front.on[0].step : 0, lane->front.n,
                                lane->front.n && lane->front.on[0].started};
}

static void do_step(struct weft__lanes *x, uint32_t number) {
    struct weft__lane_cursor *lane = &x->lane[number];
    const struct weft_dag_step *s = &lane->step;
    uint32_t before = x->e->builder.steps;
    for (uint32_t k = 0; k < s->waits; k++) {
        join_front(x->e, &lane->front, lane->cpu, FRONT_MAX - 1);
        wait_for_counter(x, lane, &s->wait[k]);
    }
    join_front(x->e, &lane->front, lane->cpu, FRONT_MAX - WEFT_STEP_PEERS);
    if (s->after_steps) wait_for_lane(&x->lane[s->after_lane], s->after_steps, &lane->front);
    emit_step(x->e, &lane->front, lane->cpu, s);
    note_progress(x->e, lane, before);
    if (s->add != WEFT_NONE) count_addition(x, number, s->add);
}

/// Runs the lane until it must wait; returns whether it did anything.
static bool run_lane(struct weft__lanes *x, uint32_t number) {
    struct weft__lane_cursor *lane = &x->lane[number];
    for (bool any = false;; any = true) {
        if (!lane->has) lane->done = !(lane->has = x->next(x->context, lane));
        if (lane->done || must_wait(x, lane)) return any;
        do_step(x, number);
        lane->has = false;
        if (x->e->full) return false;
    }
}

bool weft__lanes_run(struct weft__lanes *x) {
    bool any = true, all = false;
    while (any && !all) {
        any = false;
        all = true;
        for (uint32_t k = 0; k < x->lanes; k++) {
            any |= run_lane(x, k);
            all &= x->lane[k].done;
        }
    }
    return all || x->e->full;
}

void weft__lanes_free(struct weft__lanes *x) {
    for (uint32_t k = 0; k < x->lanes; k++)
        weft_memory_free(WEFT_MEMORY_SCENARIO, x->lane[k].progress, x->lane[k].room * sizeof *x->lane[k].progress);
    for (uint32_t k = 0; k < x->counters; k++)
        weft_memory_free(WEFT_MEMORY_SCENARIO, x->counter[k].by, x->counter[k].room * sizeof *x->counter[k].by);
}
