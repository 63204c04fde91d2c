// SPDX-License-Identifier: Apache-2.0
// A rank of a schedule (weft/schedule.h) on the network. A step starts when the steps that it waits for are done, or
// have started. A compute waits for its CPU stream, which runs computes in the order in which they become ready. A send
// goes to the connection of its pair of ranks, after the sends that became ready before; it waits for no clear-to-send,
// and the sender's buffer is unlimited. It is done when it is acknowledged. A receive is done when a matching message
// has arrived. A message to the rank itself arrives when it is sent. Sends and receives take no CPU time. A collective
// is an operation of a communicator, like those of a job (program.c), and done when the rank's lanes are done.
#include "transport/program.h"

/// A message without bytes is sent as one byte.
static uint32_t bytes_of(const struct weft_schedule_step *step) {
    return step->size ? (uint32_t)step->size : 1;
}

void weft__schedule_run_init(struct weft__schedule_run *s, const struct weft_job *job, uint32_t rank,
                             struct weft_arena *arena) {
    const struct weft_schedule *all = job->schedule;
    const struct weft_schedule_rank *r = &all->rank[rank];
    *s = (struct weft__schedule_run){
        .rank = r,
        .waits = weft_arena_alloc(arena, r->steps, sizeof *s->waits),
        .next = weft_arena_alloc(arena, r->steps, sizeof *s->next),
        .left = r->steps,
        .ready_first = WEFT_NONE,
        .cpu = weft_arena_alloc(arena, all->cpus, sizeof *s->cpu),
        .cpus = all->cpus,
        .collective = weft_arena_alloc(arena, job->communicators, sizeof *s->collective),
        .end_ps = WEFT_TIME_NEVER,
    };
    for (uint32_t c = 0; c < all->cpus; c++)
        s->cpu[c].first = WEFT_NONE;
}

/// Appends a step to a queue. Returns whether the queue was empty.
static bool put_step(struct weft__schedule_run *s, uint32_t *first, uint32_t *last, uint32_t step) {
    bool empty = *first == WEFT_NONE;
    s->next[step] = WEFT_NONE;
    if (empty)
        *first = step;
    else
        s->next[*last] = step;
    *last = step;
    return empty;
}

static uint32_t take_step(const struct weft__schedule_run *s, uint32_t *first) {
    uint32_t step = *first;
    *first = s->next[step];
    return step;
}

/// A step has started, or is done: releases the steps that wait for that.
static void release_steps(struct weft__schedule_run *s, uint32_t step, bool begun) {
    const struct weft_schedule_rank *r = s->rank;
    for (uint32_t e = r->step[step].edge0; e < r->step[step + 1].edge0; e++) {
        uint32_t to = r->edge[e] & ~WEFT_SCHEDULE_AFTER_START;
        if (!(r->edge[e] & WEFT_SCHEDULE_AFTER_START) == begun) continue;
        if (!--s->waits[to]) put_step(s, &s->ready_first, &s->ready_last, to);
    }
}

static void finish_step(struct weft__at *at, uint32_t step) {
    struct weft__schedule_run *s = at->p->schedule;
    at->w->tally.progress_ps = at->w->now_ps;
    s->waits[step] = WEFT_NONE;
    s->left--;
    release_steps(s, step, false);
}

// --- what steps do ------------------------------------------------------------------------------------------------

/// Ends a span of the rank: it has computed until now, or has not.
static void end_span(struct weft__at *at, bool computed, uint32_t step) {
    struct weft__rank_spans *spans = at->p->spans;
    if (!spans) return;
    weft__rank_span_add(at->p, spans->from_ps, at->w->now_ps, computed, step);
    spans->from_ps = at->w->now_ps;
}

static void begin_compute(struct weft__at *at, uint32_t cpu) {
    struct weft__schedule_run *s = at->p->schedule;
    uint32_t step = s->cpu[cpu].first;
    if (!s->computing++) end_span(at, false, WEFT_NONE);
    weft__program_note(at, WEFT_RANK_COMPUTES, at->p->key0 + 1 + cpu, 0, step);
    weft__timer_set(&at->node->timers, at->p->key0 + 1 + cpu, at->w->now_ps + s->rank->step[step].size);
    release_steps(s, step, true);
}

/// Fills free slots with the steps that wait for one.
static void fill_slots(struct weft__at *at, struct weft__sending *s) {
    struct weft__schedule_run *own = at->p->schedule;
    while (s->sends->first != WEFT_NONE && weft__message_has_room(s)) {
        uint32_t step = take_step(own, &s->sends->first);
        s->sends->step[s->filled % s->slots] = step;
        weft__message_fill(at, s, bytes_of(&own->rank->step[step]), &(struct weft__pace){0});
    }
}

static void begin_send(struct weft__at *at, uint32_t step) {
    struct weft__program *p = at->p;
    struct weft__schedule_run *own = p->schedule;
    const struct weft_schedule_step *what = &own->rank->step[step];
    release_steps(own, step, true);
    if (what->peer == p->rank) {
        uint32_t receive = weft__match_message(&own->match, p->rank, what->tag, step);
        finish_step(at, step);
        if (receive != WEFT_NONE) finish_step(at, receive);
        return;
    }
    uint32_t channel = weft_job_tag_channel(p->job, p->rank, weft_job_tag_of(p->job, what));
    uint32_t connection = weft_job_find_connection(p->job, p->rank, p->job->communicators, channel, what->peer);
    struct weft__sending *s = &p->sending[connection - p->job->first[p->rank]];
    put_step(own, &s->sends->first, &s->sends->last, step);
    fill_slots(at, s);
}

/// In a group of one rank it is done at once.
static void begin_collective(struct weft__at *at, uint32_t step) {
    struct weft__program *p = at->p;
    const struct weft_schedule_step *what = &p->schedule->rank->step[step];
    release_steps(p->schedule, step, true);
    if (p->job->schedule->group[what->peer].ranks == 1) {
        finish_step(at, step);
        return;
    }
    const struct weft_job_op *op = &p->job->op[weft_job_find_op(p->job, what)];
    p->schedule->collective[op->communicator] = step;
    weft__stream_begin(at, op->communicator, op, WEFT_TURN_WHOLE, true);
}

static void begin_step(struct weft__at *at, uint32_t step) {
    struct weft__schedule_run *s = at->p->schedule;
    const struct weft_schedule_step *what = &s->rank->step[step];
    if (what->kind == WEFT_SCHEDULE_SEND) {
        begin_send(at, step);
    } else if (what->kind == WEFT_SCHEDULE_COLLECTIVE) {
        begin_collective(at, step);
    } else if (what->kind == WEFT_SCHEDULE_COMPUTE) {
        struct weft__cpu *cpu = &s->cpu[what->cpu];
        if (put_step(s, &cpu->first, &cpu->last, step)) begin_compute(at, what->cpu);
    } else {
        release_steps(s, step, true);
        if (weft__match_receive(&s->match, what->peer, what->tag, step) != WEFT_NONE) finish_step(at, step);
    }
}

/// Starts all steps that are ready, and those that become ready as a result.
static void go_on(struct weft__at *at) {
    struct weft__program *p = at->p;
    struct weft__schedule_run *s = p->schedule;
    p->stepping = true; // a collective that ends meanwhile does not call this again
    while (s->ready_first != WEFT_NONE)
        begin_step(at, take_step(s, &s->ready_first));
    p->stepping = false;
    if (s->left || p->done) return;
    p->done = true;
    s->end_ps = at->w->now_ps;
    end_span(at, false, WEFT_NONE);
    weft__program_note(at, WEFT_RANK_ENDS, 0, 0, 0);
    at->w->tally.finished++;
    weft__match_deinit(&s->match);
}

// --- what comes ---------------------------------------------------------------------------------------------------

static void start_steps(struct weft__at *at) {
    struct weft__schedule_run *s = at->p->schedule;
    at->w->tally.started++;
    at->w->tally.progress_ps = at->w->now_ps;
    at->p->started = true;
    if (at->p->spans) at->p->spans->from_ps = at->w->now_ps;
    for (uint32_t i = 0; i < s->rank->steps; i++)
        s->waits[i] = s->rank->step[i].waits;
    for (uint32_t i = 0; i < s->rank->steps; i++)
        if (!s->rank->step[i].waits) put_step(s, &s->ready_first, &s->ready_last, i);
    go_on(at);
}

void weft__schedule_run_on_timer(struct weft__at *at, uint32_t key) {
    struct weft__schedule_run *s = at->p->schedule;
    if (key == at->p->key0) {
        start_steps(at);
        return;
    }
    uint32_t cpu = key - at->p->key0 - 1;
    uint32_t step = take_step(s, &s->cpu[cpu].first);
    if (!--s->computing) end_span(at, true, step);
    finish_step(at, step);
    if (s->cpu[cpu].first != WEFT_NONE) begin_compute(at, cpu);
    go_on(at);
}

void weft__schedule_run_on_collective(struct weft__at *at, uint32_t stream) {
    finish_step(at, at->p->schedule->collective[stream]);
    if (!at->p->stepping) go_on(at);
}

/// Within a server a slot is returned when its message has arrived.
void weft__schedule_run_on_acked(struct weft__at *at, struct weft__sending *s) {
    uint32_t end = s->qp == WEFT_NONE ? s->granted - s->slots : s->acked;
    while (s->sends->done < end)
        finish_step(at, s->sends->step[s->sends->done++ % s->slots]);
    fill_slots(at, s);
    go_on(at);
}

void weft__schedule_run_on_arrived(struct weft__at *at, struct weft__receiving *r) {
    const struct weft__sending *s = at->end->hosts->programs->wire[r->connection].sending;
    const struct weft_schedule_step *sent = s->program->schedule->rank->step;
    while (r->consumed < r->arrived) {
        uint32_t step = s->sends->step[r->consumed % s->slots];
        uint32_t receive = weft__match_message(&at->p->schedule->match, r->peer, sent[step].tag, step);
        weft__message_take(at, r, bytes_of(&sent[step]));
        if (receive != WEFT_NONE) finish_step(at, receive);
    }
    go_on(at);
}
