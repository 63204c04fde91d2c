// SPDX-License-Identifier: Apache-2.0
// Ranks of jobs that repeat: the numbers that determine their future, and what they would have noted and counted in
// iterations that are not run because they would bring nothing new.
#include <string.h>

#include "base/fingerprint.h"
#include "base/order.h"
#include "transport/program.h"
#include "weft/memory.h"

static const struct weft__program *program_at(const struct weft__endpoint *end, uint32_t k) {
    return &weft__programs_of(end)->program[end->gpu->program[k]];
}

bool weft__gpu_counts(const struct weft__endpoint *end, uint32_t key) {
    for (uint32_t k = 0; k < end->gpu->programs; k++)
        if (key == program_at(end, k)->key0) return program_at(end, k)->started;
    return true;
}

// --- what they depend on ------------------------------------------------------------------------------------------

static void mix_lane(const struct weft__lane *lane, struct weft__fingerprint *s) {
    weft__fingerprint_mix(s, lane->index);
    weft__fingerprint_mix(s, lane->wait_steps);
    weft__fingerprint_mix(s, (uint64_t)lane->wait_lane << 32 | lane->waiter);
    weft__fingerprint_mix(s, (uint64_t)lane->next_waiter << 2 | (uint64_t)lane->found << 1 | lane->timed);
    const weft_time_ps enough = WEFT_PS_PER_MS; // longer than any step
    weft_time_ps since = lane->free_ps < s->now_ps ? s->now_ps - lane->free_ps : 0;
    weft__fingerprint_mix(s, since < enough ? since : enough);
}

static void mix_stream(const struct weft__program *p, uint32_t c, struct weft__fingerprint *s) {
    const struct weft__stream *st = &p->stream[c];
    weft__fingerprint_mix_into(s->within, st->finished - p->iteration * weft__program_stage(p)->order[c].turns);
    weft__fingerprint_mix(s, (uint64_t)(st->queued - st->finished) << 32 | st->lanes_left);
    weft__fingerprint_mix(s, st->launches);
    if (!st->lanes_left) return;
    weft__fingerprint_mix(s, (uint64_t)p->kind[st->op - p->job->op] << 32 | st->part);
    for (uint32_t k = 0; k < st->op->ops->lanes(st->op->conf, &st->op->shape); k++)
        mix_lane(&st->lane[k], s);
}

/// If none waits, it does not matter which stream the last wait was for.
static uint64_t waiting_lane(uint32_t stream, uint32_t lane) {
    return lane == WEFT_NONE ? WEFT_NONE : (uint64_t)lane << 32 | stream;
}

/// Counts of messages, relative to one another.
static void mix_connections(const struct weft__program *p, struct weft__fingerprint *s) {
    for (uint32_t k = 0; k < p->sendings; k++) {
        const struct weft__sending *c = &p->sending[k];
        weft__fingerprint_mix(s, waiting_lane(c->stream, c->lane));
        if (c->qp == WEFT_NONE || !p->job->unadmitted) weft__fingerprint_mix(s, c->granted - c->filled);
        if (c->qp == WEFT_NONE) continue;
        weft__fingerprint_mix(s, (uint64_t)(c->filled - c->posted) << 32 | (c->filled - c->acked));
        weft__fingerprint_mix(s, c->filled % c->qps);
    }
    for (uint32_t k = 0; k < p->receivings; k++) {
        const struct weft__receiving *c = &p->receiving[k];
        weft__fingerprint_mix(s, waiting_lane(c->stream, c->lane));
        weft__fingerprint_mix(s, c->arrived - c->consumed);
        if (c->qp == WEFT_NONE || p->job->unadmitted) continue; // nothing needs a clear-to-send
        weft__fingerprint_mix(s, (uint64_t)(c->due - c->consumed) << 32 | (c->posted - c->consumed));
    }
}

/// The kind of what is next.
static uint64_t kind_at(const struct weft__program *p, uint32_t turn) {
    const struct weft_job_stage *stage = weft__program_stage(p);
    return turn == stage->turns ? UINT64_MAX : (uint64_t)stage->turn[turn].part << 32 | p->kind[stage->turn[turn].op];
}

/// The position of a program. Programs of a job are adjacent, and their iterations are relative to the first one's.
static void mix_position(const struct weft__program *p, struct weft__fingerprint *s) {
    weft__fingerprint_mix_into(s->within, (uint64_t)(p->iteration - (p - p->rank)->iteration) << 32 | p->turn);
    weft__fingerprint_mix(s, kind_at(p, p->turn));
    weft__fingerprint_mix(s, (uint64_t)p->started | (uint64_t)p->computed << 1 | (uint64_t)p->stepping << 2 |
                                 (uint64_t)p->done << 3 | (uint64_t)p->waits_for << 32);
    for (uint32_t c = 0; c < p->job->communicators; c++)
        mix_stream(p, c, s);
    mix_connections(p, s);
}

void weft__programs_fingerprint(const struct weft__programs *programs, const struct weft__gpu *gpu,
                                struct weft__fingerprint *s) {
    for (uint32_t k = 0; k < gpu->programs; k++)
        mix_position(&programs->program[gpu->program[k]], s);
}

static void mix_program(const struct weft__program *p, struct weft__fingerprint *s) {
    uint64_t bits[2];
    memcpy(&bits[0], &p->compute_left_ps, sizeof bits[0]);
    memcpy(&bits[1], &p->compute_speed, sizeof bits[1]);
    mix_position(p, s);
    weft__fingerprint_mix_until(s, p->proxy_free_ps);
    if (p->compute_speed > 0) {
        weft__fingerprint_mix(s, bits[0]);
        weft__fingerprint_mix(s, bits[1]);
        weft__fingerprint_mix_since(s, p->compute_from_ps);
    }
    if (p->waits_for != WEFT_NONE) weft__fingerprint_mix_since(s, p->waiting_since_ps);
    for (uint32_t k = 0; k < p->sendings; k++) {
        const struct weft__sending *c = &p->sending[k];
        for (uint32_t m = c->posted; c->qp != WEFT_NONE && m < c->filled; m++)
            weft__fingerprint_mix_since(s, c->filled_ps[m % c->slots]);
    }
    for (uint32_t k = 0; k < p->receivings; k++) {
        const struct weft__receiving *c = &p->receiving[k];
        // All that the next check needs (weft__message_look): if anything has arrived since the last one, it ignores
        // the rest.
        uint64_t before = c->arrived != c->arrived_before ? UINT64_MAX : c->doublings;
        weft__fingerprint_mix_into(s->looks, before);
        weft__fingerprint_mix_into(s->kept, before);
    }
}

void weft__gpu_fingerprint(const struct weft__endpoint *end, struct weft__fingerprint *s) {
    for (uint32_t k = 0; k < end->gpu->ports; k++) {
        const struct weft__inner_port *port = &end->gpu->port[k];
        weft__fingerprint_mix_until(s, port->out_free_ps + port->lead_ps);
        weft__fingerprint_mix_until(s, port->in_free_ps + port->lead_ps);
        weft__fingerprint_mix_until(s, port->data_last_ps);
        weft__fingerprint_mix_until(s, port->credit_last_ps);
        weft__fingerprint_mix(s, port->in.n);
    }
    for (uint32_t k = 0; k < end->gpu->programs; k++)
        mix_program(program_at(end, k), s);
}

// --- operations that do the same ----------------------------------------------------------------------------------

/// Whether the two do the same at every rank. (Groups and algorithm are the communicator's, sizes the volume's.)
static bool do_the_same(const struct weft_job_op *a, const struct weft_job_op *b) {
    if (a->compute_ps != b->compute_ps || !a->name != !b->name) return false;
    return !a->name || (a->communicator == b->communicator && a->volume == b->volume && a->overlap == b->overlap);
}

/// Finds the number of the first operation of each kind; returns how many kinds there are.
static uint32_t find_kinds(const struct weft_job *job, uint32_t *first, uint32_t *ret_kind) {
    uint32_t kinds = 0;
    for (uint32_t i = 0; i < job->ops; i++) {
        uint32_t k = 0;
        while (k < kinds && !do_the_same(&job->op[first[k]], &job->op[i]))
            k++;
        if (k == kinds) first[kinds++] = i;
        ret_kind[i] = first[k];
    }
    return kinds;
}

bool weft__programs_find_kinds(struct weft__programs *programs, struct weft_arena *arena) {
    bool again = false;
    for (uint32_t i = 0; i < programs->n; i++) {
        struct weft__program *p = &programs->program[i];
        if (p->rank) {
            p->kind = (p - 1)->kind;
            continue;
        }
        uint32_t *kind = weft_arena_alloc(arena, p->job->ops, sizeof *kind);
        uint32_t *first = weft_memory_new(WEFT_MEMORY_QP, p->job->ops, sizeof *first);
        again |= find_kinds(p->job, first, kind) < p->job->ops;
        weft_memory_free(WEFT_MEMORY_QP, first, p->job->ops * sizeof *first);
        p->kind = kind;
    }
    return again;
}

// --- what they would have done ------------------------------------------------------------------------------------

void weft__program_mark_new(const struct weft__program *p, struct weft_arena *arena, struct weft__program_mark *ret) {
    uint32_t ops = p->job->ops;
    *ret = (struct weft__program_mark){
        .iteration = p->iteration,
        .turn = p->turn,
        .waits = p->waits_for != WEFT_NONE,
        .finished = weft_arena_alloc(arena, p->job->communicators, sizeof *ret->finished),
        .exposed_ps = p->exposed_ps,
        .op_exposed_ps = weft_arena_alloc(arena, ops, sizeof *ret->op_exposed_ps),
        .left_bytes = weft_arena_alloc(arena, p->sendings + p->receivings, sizeof *ret->left_bytes)};
    if (p->iteration < p->job->iterations) {
        ret->iteration_exposed_ps = p->iteration_exposed_ps[p->iteration];
        memcpy(ret->op_exposed_ps, &p->op_exposed_ps[(size_t)p->iteration * ops], ops * sizeof *ret->op_exposed_ps);
    }
    for (uint32_t c = 0; c < p->job->communicators; c++)
        ret->finished[c] = p->stream[c].finished;
    for (uint32_t k = 0; k < p->sendings; k++)
        ret->left_bytes[k] = p->sending[k].left_bytes;
    for (uint32_t k = 0; k < p->receivings; k++)
        ret->left_bytes[p->sendings + k] = p->receiving[k].left_bytes;
}

/// A stretch within an iteration, in turns of the program's stage.
struct part {
    uint32_t from; ///< the first turn whose operation was in progress during it
    uint32_t to;   ///< the turn in which it ended
    uint32_t turns;
};

static struct part part_of(const struct weft__program *p, const struct weft__program_mark *mark) {
    const struct weft_job_stage *stage = weft__program_stage(p);
    struct part part = {.from = mark->turn - (mark->waits && mark->turn), .to = p->turn, .turns = p->turn - mark->turn};
    for (uint32_t c = 0; c < p->job->communicators; c++) {
        const struct weft_job_order *order = &stage->order[c];
        if (p->stream[c].finished == mark->finished[c]) continue;
        uint32_t first = order->turn[mark->finished[c] % order->turns];
        if (first < part.from) part.from = first;
    }
    return part;
}

/// How often operations of the same kinds follow, while the end of the iteration is still to come.
static uint64_t count_parts(const struct weft__program *p, const struct part *part) {
    uint32_t turns = weft__program_stage(p)->turns, i = part->from;
    while (i + part->turns < turns && kind_at(p, i) == kind_at(p, i + part->turns))
        i++;
    return i > part->to ? (i - part->to - 1) / part->turns + 1 : 0;
}

uint64_t weft__program_skips_max(const struct weft__program *p, const struct weft__program_mark *mark) {
    uint32_t period = p->iteration - mark->iteration, left = p->job->iterations - p->iteration;
    if (!period && (p->done || !p->started)) return UINT64_MAX;
    if (period ? p->turn != mark->turn : p->turn <= mark->turn) return 0;
    struct part part = part_of(p, mark);
    uint64_t times = !period ? count_parts(p, &part) : left ? (left - 1) / period : 0;
    for (uint32_t k = 0; k < p->sendings + p->receivings; k++) {
        weft_bytes now = k < p->sendings ? p->sending[k].left_bytes : p->receiving[k - p->sendings].left_bytes;
        weft_bytes moved = mark->left_bytes[k] - now;
        if (moved) times = weft__lesser(times, now ? (now - 1) / moved : 0);
    }
    return times;
}

/// A list of noted times, one per iteration and operation. What was noted in the stretch is noted again for each of its
/// repetitions, `period` iterations later. before[n]: for sums, the amount before the stretch in the iteration in which
/// it began; NULL: the list holds times.
struct noted {
    weft_time_ps *at;
    uint32_t width, from, to, period, iterations;
    const weft_time_ps *before;
};

static void repeat_times(const struct noted *n, const struct weft__stretch *s) {
    weft_time_ps length = s->end_ps - s->begin_ps;
    size_t all = (size_t)n->iterations * n->width, end = (size_t)(n->to + 1) * n->width;
    // From the last one backwards, so that what is noted again is not itself repeated.
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
    // From the last one backwards, so that what is added is not itself repeated.
    for (size_t i = (size_t)(n->to + 1) * n->width; i-- > (size_t)n->from * n->width;) {
        if (i >= all) continue;
        size_t first = i - (size_t)n->from * n->width;
        weft_time_ps more = n->at[i] - (first < n->width ? n->before[first] : 0);
        for (uint32_t j = 1; j <= s->times; j++)
            if (i + (size_t)j * n->period * n->width < all) n->at[i + (size_t)j * n->period * n->width] += more;
    }
}

/// Adds what the stretch added, once per repetition.
static void repeat_left_bytes(struct weft__program *p, const struct weft__program_mark *mark, uint32_t times) {
    for (uint32_t k = 0; k < p->sendings; k++)
        p->sending[k].left_bytes -= times * (mark->left_bytes[k] - p->sending[k].left_bytes);
    for (uint32_t k = 0; k < p->receivings; k++)
        p->receiving[k].left_bytes -= times * (mark->left_bytes[p->sendings + k] - p->receiving[k].left_bytes);
}

static void skip_iterations(struct weft__program *p, const struct weft__program_mark *mark,
                            const struct weft__stretch *s) {
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
    ops.at = p->op_exposed_ps;
    ops.before = mark->op_exposed_ps;
    repeat_sums(&ops, s);
    ends.at = p->iteration_exposed_ps;
    ends.before = &mark->iteration_exposed_ps;
    repeat_sums(&ends, s);
    p->exposed_ps += s->times * (p->exposed_ps - mark->exposed_ps);
    repeat_left_bytes(p, mark, s->times);
    p->iteration += s->times * period;
    for (uint32_t c = 0; c < p->job->communicators; c++) {
        uint32_t turns = s->times * period * weft__program_stage(p)->order[c].turns;
        p->stream[c].queued += turns;
        p->stream[c].finished += turns;
    }
}

/// For the current iteration, whose operations have noted these times: what was noted in the stretch is noted again for
/// the operations of the turns that repeat its turns. An operation of two turns keeps the later one's time.
static void repeat_op_times(const struct weft__program *p, const struct part *part, const struct weft__stretch *s,
                            weft_time_ps *at) {
    const struct weft_job_turn *turn = weft__program_stage(p)->turn;
    weft_time_ps length = s->end_ps - s->begin_ps;
    // From the last one backwards, so that what is noted again is not itself repeated.
    for (uint32_t i = part->to + 1; i-- > part->from;) {
        weft_time_ps noted = at[turn[i].op] & ~WEFT__TRUE_TIME;
        if (at[turn[i].op] == WEFT_TIME_NEVER || noted <= s->begin_ps || noted > s->end_ps) continue;
        for (uint32_t j = 1; j <= s->times; j++) {
            weft_time_ps *again = &at[turn[i + j * part->turns].op], own = (noted + j * length) | WEFT__TRUE_TIME;
            if (*again == WEFT_TIME_NEVER || *again < own) *again = own;
        }
    }
}

static void repeat_op_exposed(const struct weft__program *p, const struct part *part,
                              const struct weft__program_mark *mark, uint32_t times, weft_time_ps *at) {
    const struct weft_job_turn *turn = weft__program_stage(p)->turn;
    for (uint32_t i = part->to; i-- > part->from;) { // likewise; each wait of a rank belongs to one turn
        if (!weft_job_turn_blocks(p->job, &turn[i])) continue;
        weft_time_ps more = at[turn[i].op] - mark->op_exposed_ps[turn[i].op];
        for (uint32_t j = 1; j <= times; j++)
            at[turn[i + j * part->turns].op] += more;
    }
}

static void note_true(weft_time_ps *time, size_t n, weft_time_ps skipped) {
    for (size_t i = 0; i < n; i++)
        if (time[i] != WEFT_TIME_NEVER) time[i] = weft__true_time(time[i], skipped) | WEFT__TRUE_TIME;
}

void weft__program_note_true(struct weft__program *p, weft_time_ps skipped) {
    size_t results = (size_t)p->job->iterations * p->job->ops;
    note_true(p->op_start_ps, results, skipped);
    note_true(p->op_end_ps, results, skipped);
    note_true(p->iteration_end_ps, p->job->iterations, skipped);
}

static void skip_parts(struct weft__program *p, const struct weft__program_mark *mark, const struct weft__stretch *s) {
    const struct weft_job_stage *stage = weft__program_stage(p);
    struct part part = part_of(p, mark);
    size_t first = (size_t)p->iteration * p->job->ops;
    weft__program_note_true(p, s->skipped_ps);
    repeat_op_times(p, &part, s, &p->op_start_ps[first]);
    repeat_op_times(p, &part, s, &p->op_end_ps[first]);
    repeat_op_exposed(p, &part, mark, s->times, &p->op_exposed_ps[first]);
    weft_time_ps *exposed = &p->iteration_exposed_ps[p->iteration];
    *exposed += s->times * (*exposed - mark->iteration_exposed_ps);
    p->exposed_ps += s->times * (p->exposed_ps - mark->exposed_ps);
    repeat_left_bytes(p, mark, s->times);
    for (uint32_t i = mark->turn; i < part.to; i++) {
        const struct weft_job_op *op = &p->job->op[stage->turn[i].op];
        if (!op->name) continue;
        p->stream[op->communicator].queued += s->times;
        p->stream[op->communicator].finished += s->times;
    }
    p->turn += s->times * part.turns;
}

void weft__program_skip(struct weft__program *p, const struct weft__program_mark *mark, const struct weft__stretch *s) {
    if (p->iteration != mark->iteration)
        skip_iterations(p, mark, s);
    else if (p->done || !p->started)
        weft__program_note_true(p, s->skipped_ps);
    else
        skip_parts(p, mark, s);
}

static void settle_times(weft_time_ps *time, size_t n, weft_time_ps skipped) {
    for (size_t i = 0; i < n; i++)
        time[i] = weft__true_time(time[i], skipped);
}

void weft__program_settle(struct weft__program *p, weft_time_ps skipped) {
    size_t results = (size_t)p->job->iterations * p->job->ops;
    settle_times(p->op_start_ps, results, skipped);
    settle_times(p->op_end_ps, results, skipped);
    settle_times(p->iteration_end_ps, p->job->iterations, skipped);
}
