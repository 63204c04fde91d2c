// SPDX-License-Identifier: Apache-2.0
// One forward, one backward: a stage with k stages after it does k forward passes to warm up, then a forward and a
// backward pass in turn, then the remaining backward passes. Source: Narayanan et al., "Efficient large-scale language
// model training on GPU clusters using Megatron-LM", SC 2021, section 2.2.1 (PipeDream-Flush); the time is (m + p - 1)
// passes both ways for m microbatches and p stages, of which p - 1 are the bubble. With chunks, section 2.2.2: as many
// microbatches as there are stages go through one chunk, then through the next one; a stage warms up with all chunks
// but the last, and two passes for each stage after it; the bubble is (p - 1) / chunks. The source wants m to be a
// multiple of p; here the first such group takes the remainder, too (as Llama 3, section 3.3.2, allows any number).
#include "pipeline.h"

#include <string.h>

static uint32_t first_group(const struct weft__pipeline *p) {
    return p->microbatches < 2 * p->stages ? p->microbatches : p->stages + p->microbatches % p->stages;
}

/// Forward pass number k; of backward passes the same with chunks the other way round.
static struct weft__pass pass_at(const struct weft__pipeline *p, uint32_t k, bool backward) {
    if (p->chunks == 1) return (struct weft__pass){k, 0, backward};
    uint32_t size = first_group(p), before = 0;
    if (k >= size * p->chunks) {
        before = size + (k - size * p->chunks) / (p->stages * p->chunks) * p->stages;
        size = p->stages;
    }
    uint32_t in_group = k - before * p->chunks, chunk = in_group / size;
    return (struct weft__pass){before + in_group % size, backward ? p->chunks - 1 - chunk : chunk, backward};
}

void weft__pipeline_order(const struct weft__pipeline *p, uint32_t stage, struct weft__pass *ret_pass) {
    uint32_t after = p->stages - 1 - stage, all = p->microbatches * p->chunks, n = 0;
    uint32_t warm_up = p->chunks == 1 ? after : 2 * after + (p->chunks - 1) * first_group(p);
    if (warm_up > all) warm_up = all;
    for (uint32_t i = 0; i < warm_up; i++)
        ret_pass[n++] = pass_at(p, i, false);
    for (uint32_t i = warm_up; i < all; i++) {
        ret_pass[n++] = pass_at(p, i, false);
        ret_pass[n++] = pass_at(p, i - warm_up, true);
    }
    for (uint32_t i = all - warm_up; i < all; i++)
        ret_pass[n++] = pass_at(p, i, true);
}

void weft__pipeline_take_turn(struct weft_job_stage *stage, uint32_t op, uint32_t part) {
    stage->turn[stage->turns++] = (struct weft_job_turn){op, part};
}

/// Where the data of a pass come from: another chunk of the stage at the other end of the pipeline, or the stage
/// before. False: from nowhere, it is the first pass of its microbatch there.
static bool find_source(const struct weft__pipeline *p, uint32_t stage, struct weft__pass pass, uint32_t *ret_stage,
                        uint32_t *ret_chunk) {
    uint32_t first = pass.backward ? p->stages - 1 : 0, last = p->stages - 1 - first;
    bool wraps = stage == first;
    *ret_stage = wraps ? last : pass.backward ? stage + 1 : stage - 1;
    *ret_chunk = !wraps ? pass.chunk : pass.backward ? pass.chunk + 1 : pass.chunk - 1;
    return !wraps || pass.chunk != (pass.backward ? p->chunks - 1 : 0);
}

/// Receives from the previous stage, does the work, sends to the next stage.
static void take_pass(const struct weft__pipeline *p, struct weft_job_stage *stages, uint32_t stage,
                      struct weft__pass pass) {
    uint32_t from, chunk, at = pass.chunk * p->microbatches + pass.microbatch, last = pass.backward ? 0 : p->stages - 1;
    bool wraps = stage == p->stages - 1 - last;
    if (find_source(p, stage, pass, &from, &chunk))
        weft__pipeline_take_turn(&stages[stage],
                                 (wraps ? p->wrap : p->hop)[pass.backward] + chunk * p->microbatches + pass.microbatch,
                                 WEFT_TURN_RECEIVE);
    p->take_work(p->context, &stages[stage], pass);
    if (stage != last)
        weft__pipeline_take_turn(&stages[stage], p->hop[pass.backward] + at, WEFT_TURN_SEND);
    else if (pass.chunk != (pass.backward ? 0 : p->chunks - 1))
        weft__pipeline_take_turn(&stages[stage], p->wrap[pass.backward] + at, WEFT_TURN_SEND);
}

void weft__pipeline_take(const struct weft__pipeline *p, struct weft_job *job, struct weft_arena *arena) {
    size_t passes = 2 * (size_t)p->microbatches * p->chunks;
    struct weft__pass *pass = weft_arena_alloc(arena, passes, sizeof *pass);
    for (uint32_t s = 0; s < p->stages; s++) {
        weft__pipeline_order(p, s, pass);
        for (size_t i = 0; i < passes; i++)
            take_pass(p, job->stage, s, pass[i]);
    }
}

// --- time ---------------------------------------------------------------------------------------------------------

struct clock {
    struct weft__pass *order; ///< [passes]
    uint32_t done, *left;     ///< left: [chunks] backward passes
    double now, reduced;      ///< reduced: when gradients are
    double *end;              ///< [2][chunks * microbatches] of a pass; 0: not yet
};

/// Passes of a stage until it must wait for another one; whether there were any.
static bool advance_stage(const struct weft__pipeline *p, const struct weft__pipeline_times *t, struct clock *clock,
                          uint32_t stage) {
    struct clock *c = &clock[stage];
    uint32_t all = p->microbatches * p->chunks, before = c->done, from, chunk;
    for (; c->done < 2 * all; c->done++) {
        struct weft__pass pass = c->order[c->done];
        double start = c->now, ready = (pass.chunk + 1) * t->gather;
        if (find_source(p, stage, pass, &from, &chunk)) {
            double came = clock[from].end[pass.backward * all + chunk * p->microbatches + pass.microbatch];
            if (came <= 0) break;
            if (came > start) start = came;
        }
        if (t->overlap && !pass.backward && ready > start) start = ready;
        c->now = start + t->pass(t->context, stage, pass.chunk, pass.backward);
        c->end[pass.backward * all + pass.chunk * p->microbatches + pass.microbatch] = c->now;
        if (pass.backward && !--c->left[pass.chunk])
            c->reduced = (c->reduced > c->now ? c->reduced : c->now) + (t->overlap ? t->reduce : 0);
    }
    return c->done > before;
}

double weft__pipeline_time(const struct weft__pipeline *p, const struct weft__pipeline_times *t) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct clock *clock = weft_arena_alloc(arena, p->stages, sizeof *clock);
    size_t all = (size_t)p->microbatches * p->chunks;
    double end = 0, apart = t->overlap ? 0 : p->chunks * t->gather, tiny = 1e-15; // an end of 0: not yet
    for (uint32_t s = 0; s < p->stages; s++) {
        clock[s] = (struct clock){.order = weft_arena_alloc(arena, 2 * all, sizeof *clock->order),
                                  .left = weft_arena_alloc(arena, p->chunks, sizeof *clock->left),
                                  .end = weft_arena_alloc(arena, 2 * all, sizeof *clock->end),
                                  .now = apart + tiny};
        for (uint32_t c = 0; c < p->chunks; c++)
            clock[s].left[c] = p->microbatches;
        weft__pipeline_order(p, s, clock[s].order);
    }
    for (bool any = true; any;) {
        any = false;
        for (uint32_t s = 0; s < p->stages; s++)
            any |= advance_stage(p, t, clock, s);
    }
    for (uint32_t s = 0; s < p->stages; s++) {
        assert(clock[s].done == 2 * all);
        if (clock[s].reduced > end) end = clock[s].reduced;
    }
    weft_arena_free(arena);
    return t->overlap ? end : end + p->chunks * t->reduce;
}

// --- collectives --------------------------------------------------------------------------------------------------

/// Whether the last rank of a group also sends to the first one, so that a lane is active at both ends of a pair.
static bool is_ring(const struct weft_model_conf *collective) {
    const struct weft_collective_ops *ops = collective->model->ops;
    const struct weft_collective_shape pair = {.ranks = 2, .per_server = 1, .bytes = 1};
    for (uint32_t lane = 0; lane < ops->lanes(collective->conf, &pair); lane++)
        if (ops->steps(collective->conf, &pair, 0, lane) && ops->steps(collective->conf, &pair, 1, lane)) return true;
    return false;
}

const char *weft__pipeline_refuse(const struct weft_model_conf *collective) {
    if (strcmp(collective->model->name, "send_recv")) return "stages pass on by send_recv; expected no other";
    if (is_ring(collective)) return "the last stage passes nothing on to the first; expected ring: off";
    return NULL;
}
