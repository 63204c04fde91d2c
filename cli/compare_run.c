// SPDX-License-Identifier: Apache-2.0
// How weft compare runs its variants. Runs at the same time are threads, each with its own memory, because their
// outcomes are shown together.
#include "compare.h"

#include <pthread.h>
#include <time.h>

#include "base/clock.h"
#include "progress.h"
#include "weft/sweep.h"

enum weft_status compare_prepare(struct compare *c, uint32_t i, struct weft_error *ret_error) {
    const struct weft_scenario_file *file = c->file;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO); // freed with the memory of the run
    if (c->seed) file = weft_sweep_with_seed(file, c->seed[i % c->seeds], arena);
    enum weft_status status = weft_cli_simulation_init(&c->s[i], file, c->variant[i / c->seeds], ret_error);
    c->s[i].one_of_several = c->n > 1;
    return status;
}

/// The more serious of two ends: a bug, then an interrupt, then a stall, then none.
static enum weft_status graver_status(enum weft_status a, enum weft_status b) {
    static const enum weft_status by_gravity[] = {WEFT_ERROR_CONSERVATION, WEFT_INTERRUPTED};
    for (unsigned i = 0; i < sizeof by_gravity / sizeof *by_gravity; i++)
        if (a == by_gravity[i] || b == by_gravity[i]) return by_gravity[i];
    return a ? a : b;
}

/// Takes the status of a run, and its error if no earlier one was as serious.
static void take_status(enum weft_status *all, enum weft_status status, const struct weft_error *own,
                        struct weft_error *error) {
    if (status && graver_status(*all, status) != *all) *error = *own;
    *all = graver_status(*all, status);
}

static enum weft_status run_one(struct compare *c, uint32_t i, const struct weft_cli_options *options,
                                struct weft_error *ret_error) {
    struct weft_cli_simulation *s = &c->s[i];
    enum weft_status status = s->whole ? WEFT_OK : compare_prepare(c, i, ret_error);
    if (status) return status;
    return weft_cli_simulation_run(s, options, s->scenario->variant, &c->run[i], ret_error);
}

static void say_interrupted(struct compare *c, enum weft_status *all, struct weft_error *error) {
    struct weft_error own = {0};
    bool seeds = c->seeds > 1;
    enum weft_status status =
        weft_error_set(&own, WEFT_INTERRUPTED, WEFT_NOWHERE, "interrupted; %u of %u %s were begun", c->ran,
                       c->n * c->seeds, seeds ? "runs" : "variants");
    take_status(all, status, &own, error);
}

// --- one after the other ------------------------------------------------------------------------------------------

static enum weft_status run_in_turn(struct compare *c, struct weft_error *error) {
    enum weft_status all = WEFT_OK;
    for (c->ran = 0; c->ran < c->n * c->seeds; c->ran++) {
        struct weft_error own = {0};
        if (weft_cli_interrupted()) {
            say_interrupted(c, &all, error);
            return all;
        }
        take_status(&all, run_one(c, c->ran, c->o, &own), &own, error);
        if (!c->s[c->ran].outcome) return all;
    }
    return all;
}

// --- several at a time --------------------------------------------------------------------------------------------

/// The end of a run in a thread.
struct end {
    enum weft_status status;
    struct weft_error error;
    bool whole; ///< memory did not run out during the run
};

struct pool {
    struct compare *c;
    struct weft_cli_options options;
    pthread_mutex_t lock; ///< protects the fields below
    uint32_t next, ended;
    bool stopped; ///< a run has no outcome: no other starts
    struct weft_cli_progress progress;
    double begun_s;
    struct end *end; ///< [runs]
};

struct turn {
    struct pool *pool;
    uint32_t i;
};

static enum weft_status run_turn(void *context, struct weft_error *ret_error) {
    const struct turn *turn = context;
    struct pool *p = turn->pool;
    enum weft_status status = run_one(p->c, turn->i, &p->options, ret_error);
    p->end[turn->i].whole = true;
    return status;
}

/// If memory runs out, the run's memory is freed with everything half made in it.
static void run_in_own_memory(struct pool *p, uint32_t i) {
    struct compare *c = p->c;
    struct turn turn = {p, i};
    bool prepared = c->s[i].whole;
    c->memory[i] = weft_memory_open();
    p->end[i].status = weft_memory_guard(c->memory[i], run_turn, &turn, &p->end[i].error);
    if (p->end[i].whole) return;
    c->s[i].outcome = NULL;
    if (!prepared) c->s[i] = (struct weft_cli_simulation){0};
}

static void show_progress(struct pool *p) {
    uint32_t runs = p->c->n * p->c->seeds;
    struct weft_cli_runs_progress now = {p->ended, runs, (double)p->ended / runs,
                                         weft__clock_s(CLOCK_MONOTONIC) - p->begun_s};
    weft_cli_progress_runs(&p->progress, &now);
}

static void *work_pool(void *context) {
    struct pool *p = context;
    uint32_t runs = p->c->n * p->c->seeds;
    pthread_mutex_lock(&p->lock);
    while (p->next < runs && !p->stopped && !weft_cli_interrupted()) {
        uint32_t i = p->next++;
        show_progress(p);
        pthread_mutex_unlock(&p->lock);
        run_in_own_memory(p, i);
        pthread_mutex_lock(&p->lock);
        p->ended++;
        p->stopped |= !p->c->s[i].outcome;
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/// Threads start runs in order, so that the runs started are the first ones.
static enum weft_status run_beside(struct compare *c, struct weft_error *error) {
    uint32_t runs = c->n * c->seeds, threads = c->jobs < runs ? c->jobs : runs, started = 0;
    struct pool p = {.c = c, .options = *c->o, .begun_s = weft__clock_s(CLOCK_MONOTONIC)};
    pthread_t *thread = weft_arena_alloc(c->o->arena, threads, sizeof *thread);
    p.options.quiet = true;
    p.end = weft_arena_alloc(c->o->arena, runs, sizeof *p.end);
    pthread_mutex_init(&p.lock, NULL);
    weft_cli_progress_init(&p.progress, "weft compare", c->o->quiet);
    while (started < threads && !pthread_create(&thread[started], NULL, work_pool, &p))
        started++;
    if (!started) work_pool(&p); // the system cannot start another thread
    for (uint32_t t = 0; t < started; t++)
        pthread_join(thread[t], NULL);
    weft_cli_progress_deinit(&p.progress);
    pthread_mutex_destroy(&p.lock);
    enum weft_status all = WEFT_OK;
    for (c->ran = 0; c->ran < p.next && c->s[c->ran].outcome; c->ran++)
        take_status(&all, p.end[c->ran].status, &p.end[c->ran].error, error);
    if (c->ran < p.next)
        take_status(&all, p.end[c->ran].status, &p.end[c->ran].error, error);
    else if (c->ran < runs)
        say_interrupted(c, &all, error);
    return all;
}

enum weft_status compare_run(struct compare *c, struct weft_error *error) {
    enum weft_status status = c->jobs > 1 ? run_beside(c, error) : run_in_turn(c, error);
    for (uint32_t i = 0; i < c->ran && c->seeds == 1; i++)
        weft_cli_claims_take(&c->claims, c->variant[i], &c->run[i]);
    return status;
}
