// SPDX-License-Identifier: Apache-2.0
// Ranks of jobs that repeat themselves: what comes of them from now on depends on these numbers; and what they would
// have noted and counted in iterations that are not run, because nothing in them would have been new.
#include <string.h>

#include "link/still.h"
#include "transport/program.h"

static const struct weft__programs *programs_of(const struct weft__endpoint *end) {
    return end->hosts->programs;
}

static const struct weft__program *program_at(const struct weft__endpoint *end, uint32_t k) {
    return &programs_of(end)->program[end->gpu->program[k]];
}

bool weft__gpu_counts(const struct weft__endpoint *end, uint32_t key) {
    for (uint32_t k = 0; k < end->gpu->programs; k++)
        if (key == program_at(end, k)->key0) return program_at(end, k)->started;
    return true;
}

// --- what they depend on ------------------------------------------------------------------------------------------

static const struct weft_job_stage *stage_of(const struct weft__program *p) {
    return &p->job->stage[weft_job_stage_of(p->job, p->rank)];
}

static void mix_lane(const struct weft__lane *lane, struct weft__still *s) {
    weft__still_mix(s, lane->index);
    weft__still_mix(s, lane->wait_steps);
    weft__still_mix(s, (uint64_t)lane->wait_lane << 32 | lane->waiter);
    weft__still_mix(s, (uint64_t)lane->next_waiter << 2 | (uint64_t)lane->found << 1 | lane->timed);
}

static void mix_stream(const struct weft__program *p, uint32_t c, struct weft__still *s) {
    const struct weft__stream *st = &p->stream[c];
    weft__still_mix(s, st->finished - p->iteration * stage_of(p)->order[c].turns);
    weft__still_mix(s, (uint64_t)(st->queued - st->finished) << 32 | st->lanes_left);
    if (!st->lanes_left) return;
    weft__still_mix(s, (uint64_t)(st->op - p->job->op) << 32 | st->part);
    for (uint32_t k = 0; k < st->op->ops->lanes(st->op->conf, &st->op->shape); k++)
        mix_lane(&st->lane[k], s);
}

/// Counts of messages, relative to each other.
static void mix_connections(const struct weft__program *p, struct weft__still *s) {
    for (uint32_t k = 0; k < p->sendings; k++) {
        const struct weft__sending *c = &p->sending[k];
        weft__still_mix(s, (uint64_t)c->lane << 32 | c->stream);
        if (c->qp == WEFT_NONE || !p->job->unadmitted) weft__still_mix(s, c->granted - c->filled);
        if (c->qp == WEFT_NONE) continue;
        weft__still_mix(s, (uint64_t)(c->filled - c->posted) << 32 | (c->filled - c->acked));
        weft__still_mix(s, c->filled % c->qps);
    }
    for (uint32_t k = 0; k < p->receivings; k++) {
        const struct weft__receiving *c = &p->receiving[k];
        weft__still_mix(s, (uint64_t)c->lane << 32 | c->stream);
        weft__still_mix(s, c->arrived - c->consumed);
        if (c->qp == WEFT_NONE || p->job->unadmitted) continue; // nothing is cleared to be sent
        weft__still_mix(s, (uint64_t)(c->due - c->consumed) << 32 | (c->posted - c->consumed));
    }
}

/// Where a program stands. Those of a job are side by side, and their iterations are told relative to the first.
static void mix_position(const struct weft__program *p, struct weft__still *s) {
    weft__still_mix(s, (uint64_t)(p->iteration - (p - p->rank)->iteration) << 32 | p->turn);
    weft__still_mix(s, (uint64_t)p->started | (uint64_t)p->computed << 1 | (uint64_t)p->stepping << 2 |
                           (uint64_t)p->done << 3 | (uint64_t)p->waits_for << 32);
    for (uint32_t c = 0; c < p->job->communicators; c++)
        mix_stream(p, c, s);
    mix_connections(p, s);
}

void weft__programs_still(const struct weft__programs *programs, const struct weft__gpu *gpu, struct weft__still *s) {
    for (uint32_t k = 0; k < gpu->programs; k++)
        mix_position(&programs->program[gpu->program[k]], s);
}

static void mix_program(const struct weft__program *p, struct weft__still *s) {
    uint64_t bits[2];
    memcpy(&bits[0], &p->compute_left_ps, sizeof bits[0]);
    memcpy(&bits[1], &p->compute_speed, sizeof bits[1]);
    mix_position(p, s);
    if (p->compute_speed > 0) {
        weft__still_mix(s, bits[0]);
        weft__still_mix(s, bits[1]);
        weft__still_mix_since(s, p->compute_from_ps);
    }
    if (p->waits_for != WEFT_NONE) weft__still_mix_since(s, p->waiting_since_ps);
    for (uint32_t k = 0; k < p->sendings; k++) {
        const struct weft__sending *c = &p->sending[k];
        for (uint32_t m = c->posted; c->qp != WEFT_NONE && m < c->filled; m++)
            weft__still_mix_since(s, c->filled_ps[m % c->slots]);
    }
    for (uint32_t k = 0; k < p->receivings; k++) {
        const struct weft__receiving *c = &p->receiving[k];
        weft__still_mix_into(s->looks, (uint64_t)c->doublings << 32 | (c->arrived - c->arrived_before));
    }
}

void weft__gpu_still(const struct weft__endpoint *end, struct weft__still *s) {
    weft__still_mix_until(s, end->gpu->out_free_ps);
    weft__still_mix_until(s, end->gpu->in_free_ps);
    weft__still_mix_until(s, end->gpu->credit_last_ps);
    weft__still_mix(s, end->gpu->in.n);
    for (uint32_t k = 0; k < end->gpu->programs; k++)
        mix_program(program_at(end, k), s);
}

// --- what they would have done ------------------------------------------------------------------------------------

void weft__program_mark_new(const struct weft__program *p, struct weft_arena *arena, struct weft__program_mark *ret) {
    uint32_t ops = p->job->ops;
    *ret = (struct weft__program_mark){
        .iteration = p->iteration,
        .exposed_ps = p->exposed_ps,
        .op_exposed_ps = weft_arena_alloc(arena, ops, sizeof *ret->op_exposed_ps),
        .left_bytes = weft_arena_alloc(arena, p->sendings + p->receivings, sizeof *ret->left_bytes)};
    if (p->iteration < p->job->iterations) {
        ret->iteration_exposed_ps = p->iteration_exposed_ps[p->iteration];
        memcpy(ret->op_exposed_ps, &p->op_exposed_ps[(size_t)p->iteration * ops], ops * sizeof *ret->op_exposed_ps);
    }
    for (uint32_t k = 0; k < p->sendings; k++)
        ret->left_bytes[k] = p->sending[k].left_bytes;
    for (uint32_t k = 0; k < p->receivings; k++)
        ret->left_bytes[p->sendings + k] = p->receiving[k].left_bytes;
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

uint64_t weft__program_skips_max(const struct weft__program *p, const struct weft__program_mark *mark) {
    uint32_t period = p->iteration - mark->iteration, left = p->job->iterations - p->iteration;
    if (!period) return UINT64_MAX;
    uint64_t times = left ? (left - 1) / period : 0;
    for (uint32_t k = 0; k < p->sendings + p->receivings; k++) {
        weft_bytes now = k < p->sendings ? p->sending[k].left_bytes : p->receiving[k - p->sendings].left_bytes;
        weft_bytes moved = mark->left_bytes[k] - now;
        if (moved) times = least(times, now ? (now - 1) / moved : 0);
    }
    return times;
}

/// A list of times noted, one an iteration and operation: what was noted in the stretch is noted again in each of its
/// repetitions, `period` iterations later. before[n]: of sums, what had come before the stretch in the iteration in
/// which it began; NULL: they are times.
struct noted {
    weft_time_ps *at;
    uint32_t width, from, to, period, iterations;
    const weft_time_ps *before;
};

static void repeat_times(const struct noted *n, const struct weft__stretch *s) {
    weft_time_ps length = s->end_ps - s->begin_ps;
    size_t all = (size_t)n->iterations * n->width, end = (size_t)(n->to + 1) * n->width;
    // From the last on, so that what is noted again is not itself repeated.
    for (size_t i = end < all ? end : all; i-- > 0;) {
        if (n->at[i] == WEFT_TIME_NEVER) continue;
        weft_time_ps noted = weft__true_time(n->at[i], s->skipped_ps);
        n->at[i] = noted | WEFT__TRUE_TIME;
        if (noted <= s->begin_ps) continue;
        for (uint32_t j = 1; j <= s->times; j++) {
            size_t again = i + (size_t)j * n->period * n->width;
            if (again < all) n->at[again] = (noted + j * length) | WEFT__TRUE_TIME;
        }
    }
}

static void repeat_sums(const struct noted *n, const struct weft__stretch *s) {
    size_t all = (size_t)n->iterations * n->width;
    // From the last on, so that what is added is not itself repeated.
    for (size_t i = (size_t)(n->to + 1) * n->width; i-- > (size_t)n->from * n->width;) {
        if (i >= all) continue;
        size_t first = i - (size_t)n->from * n->width;
        weft_time_ps more = n->at[i] - (first < n->width ? n->before[first] : 0);
        for (uint32_t j = 1; j <= s->times; j++)
            if (i + (size_t)j * n->period * n->width < all) n->at[i + (size_t)j * n->period * n->width] += more;
    }
}

void weft__program_skip(struct weft__program *p, const struct weft__program_mark *mark, const struct weft__stretch *s) {
    uint32_t period = p->iteration - mark->iteration;
    struct noted n = {.from = mark->iteration, .to = p->iteration, .period = period, .iterations = p->job->iterations};
    struct noted ops = n, ends = n;
    ops.width = p->job->ops;
    ends.width = 1;
    ops.at = p->op_start_ps;
    repeat_times(&ops, s);
    ops.at = p->op_end_ps;
    repeat_times(&ops, s);
    ends.at = p->iteration_end_ps;
    repeat_times(&ends, s);
    if (!period) return; // it is done, or has yet to start
    ops.at = p->op_exposed_ps;
    ops.before = mark->op_exposed_ps;
    repeat_sums(&ops, s);
    ends.at = p->iteration_exposed_ps;
    ends.before = &mark->iteration_exposed_ps;
    repeat_sums(&ends, s);
    p->exposed_ps += s->times * (p->exposed_ps - mark->exposed_ps);
    for (uint32_t k = 0; k < p->sendings; k++)
        p->sending[k].left_bytes -= s->times * (mark->left_bytes[k] - p->sending[k].left_bytes);
    for (uint32_t k = 0; k < p->receivings; k++)
        p->receiving[k].left_bytes -= s->times * (mark->left_bytes[p->sendings + k] - p->receiving[k].left_bytes);
    p->iteration += s->times * period;
    for (uint32_t c = 0; c < p->job->communicators; c++) {
        uint32_t turns = s->times * period * stage_of(p)->order[c].turns;
        p->stream[c].queued += turns;
        p->stream[c].finished += turns;
    }
}

static void settle(weft_time_ps *time, size_t n, weft_time_ps skipped) {
    for (size_t i = 0; i < n; i++)
        time[i] = weft__true_time(time[i], skipped);
}

void weft__program_settle(struct weft__program *p, weft_time_ps skipped) {
    size_t results = (size_t)p->job->iterations * p->job->ops;
    settle(p->op_start_ps, results, skipped);
    settle(p->op_end_ps, results, skipped);
    settle(p->iteration_end_ps, p->job->iterations, skipped);
}
