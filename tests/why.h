// SPDX-License-Identifier: Apache-2.0
// What must hold of the parts of completion times, in any run: they add up to it, to the picosecond, and following
// flows changes nothing.
#pragma once

#include "run.h"
#include "weft/why.h"

/// A run once more, all of it followed.
struct explained {
    struct weft_follow follow;
    struct weft_outcome *outcome;
    struct weft_run run;
    struct weft_whys *whys;
    struct weft_arena *arena;
};

static inline struct explained *explain(struct run *r, const char *text) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    struct explained *e = weft_arena_alloc(arena, 1, sizeof *e); // stays where it is: whys point into it
    bool *port = weft_arena_alloc(arena, r->topology->ports, sizeof *port);
    for (uint32_t i = 0; i < r->topology->ports; i++)
        port[i] = true;
    e->follow.port = port;
    e->follow.ranks = true;
    e->arena = arena;
    e->outcome = run_with(r, &(struct weft_sim_options){.threads = 2, .record = true, .follow = &e->follow}, text);
    assert_int_equal(e->outcome->digest, r->outcome->digest);
    e->run = (struct weft_run){
        .scenario = r->scenario, .topology = r->topology, .workload = r->workload, .outcome = e->outcome};
    e->whys = weft_whys_new(&e->run, &e->follow, &e->follow, arena);
    return e;
}

static inline void explained_free(struct explained *e) {
    weft_follow_free(&e->follow);
    weft_outcome_free(e->outcome);
    weft_arena_free(e->arena); // it is in there
}

static inline struct weft_why why_of(const struct explained *e, uint32_t flow) {
    struct weft_why why;
    struct weft_error error = {0};
    if (weft_why(e->whys, flow, &why, &error)) fail_msg("%s", error.text);
    return why;
}

/// The part of a flow's time that is of this kind.
static inline weft_time_ps why_sum(const struct weft_why *why, enum weft_why_kind kind) {
    weft_time_ps sum = 0;
    for (uint32_t i = 0; i < why->parts; i++)
        if (why->part[i].kind == kind) sum += why->part[i].time_ps;
    return sum;
}

/// How many flows of the run have finished, and their parts add up.
static inline uint32_t why_assert_sums(struct run *r, const char *text) {
    struct explained *e = explain(r, text);
    uint32_t n = 0;
    for (uint32_t f = 0; f < r->workload->flows; f++) {
        if (e->outcome->flow[f].end_ps == WEFT_TIME_NEVER || r->workload->flow[f].rma) continue;
        struct weft_why why = why_of(e, f);
        weft_time_ps sum = 0;
        for (uint32_t i = 0; i < why.parts; i++) {
            assert_true(why.part[i].time_ps > 0 && why.part[i].time_ps <= why.fct_ps);
            sum += why.part[i].time_ps;
        }
        assert_true(r->outcome->flow[f].packets_again || !why_sum(&why, WEFT_WHY_FABRIC));
        assert_int_equal(why.fct_ps, e->outcome->flow[f].end_ps - r->workload->flow[f].start_ps);
        if (sum != why.fct_ps) fail_msg("flow %u: %" PRIu64 " of %" PRIu64 " ps in\n%s", f, sum, why.fct_ps, text);
        n++;
    }
    explained_free(e);
    return n;
}

/// Steps of an iteration follow one another and their parts add up to it; how many steps there are.
static inline uint32_t why_assert_iteration(const struct explained *e, uint32_t job, uint32_t iteration,
                                            struct weft_why_iteration *ret_why, const char *text) {
    const struct weft_job_outcome *o = &e->outcome->job[job];
    const struct weft_job *j = &e->run.workload->job[job];
    weft_time_ps end = j->schedule ? o->end_ps : o->iteration_end_ps[iteration], sum = 0;
    struct weft_error error = {0};
    if (weft_why_iteration(e->whys, job, iteration, ret_why, &error)) fail_msg("%s in\n%s", error.text, text);
    assert_int_equal(ret_why->from_ps, iteration ? o->iteration_end_ps[iteration - 1] : j->start_ps);
    assert_int_equal(ret_why->time_ps, end - ret_why->from_ps);
    weft_time_ps at = ret_why->from_ps;
    for (uint32_t i = 0; i < ret_why->steps; i++) {
        const struct weft_why_step *s = &ret_why->step[i];
        weft_time_ps step = 0;
        assert_int_equal(s->from_ps, at);
        at = s->to_ps;
        for (uint32_t k = 0; k < s->parts; k++)
            step += s->part[k].time_ps;
        if (step != at - s->from_ps)
            fail_msg("step %u (%s): %" PRIu64 " of %" PRIu64 " ps in\n%s", i, weft_why_step_names[s->what], step,
                     at - s->from_ps, text);
        sum += step;
    }
    assert_int_equal(at, end);
    assert_int_equal(sum, ret_why->time_ps);
    return ret_why->steps;
}

static inline bool has_ended(const struct explained *e, uint32_t job, uint32_t iteration) {
    const struct weft_job_outcome *o = &e->outcome->job[job];
    return (e->run.workload->job[job].schedule ? o->end_ps : o->iteration_end_ps[iteration]) != WEFT_TIME_NEVER;
}

/// All that have ended, of all jobs; how many steps their critical paths have.
static inline uint32_t why_assert_iterations(struct run *r, const char *text) {
    struct explained *e = explain(r, text);
    struct weft_why_iteration why;
    uint32_t steps = 0;
    for (uint32_t j = 0; j < r->workload->jobs; j++)
        for (uint32_t i = 0; i < (r->workload->job[j].schedule ? 1 : r->workload->job[j].iterations); i++)
            if (has_ended(e, j, i)) steps += why_assert_iteration(e, j, i, &why, text);
    explained_free(e);
    return steps;
}
