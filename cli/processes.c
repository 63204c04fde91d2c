// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // qsort_r
#include "processes.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/numa.h"
#include "base/param.h"
#include "base/units.h"
#include "progress.h"
#include "simulation.h"
#include "weft/sweep.h"

enum { JOBS_MAX = 1024, RUNS_MAX = 32 };

struct process {
    pid_t pid; ///< 0: none
    uint32_t n;
    struct {
        uint32_t run;
        FILE *out, *err;
    } of[RUNS_MAX]; ///< what it runs, in order
};

/// How a run has ended, from its process.
enum { NOT_BEGUN, BEGUN, ENDED }; ///< ENDED: and its exit status is added to that

struct running {
    struct weft_cli_processes *p;
    uint32_t *order; ///< of runs
    uint32_t next, running, ended;
    uint8_t *state;          ///< [runs]: shared with the processes
    struct process *process; ///< [at_a_time]
    struct weft_cli_progress progress;
    double cost, cost_ended, cost_known, begun_s;
};

char *weft_cli_printed(FILE *file, struct weft_arena *arena, size_t *ret_size) {
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = weft_arena_alloc(arena, (size_t)size + 1, 1);
    *ret_size = fread(text, 1, (size_t)size, file);
    return text;
}

bool weft_cli_jobs_parse(const char *text, uint32_t *ret_jobs) {
    uint64_t jobs;
    *ret_jobs = weft__processors();
    if (!text) return true;
    if (!weft_cli_number("--jobs", text, 1, JOBS_MAX, &jobs)) return false;
    *ret_jobs = (uint32_t)jobs;
    return true;
}

bool weft_cli_seeds_parse(const char *text, struct weft_arena *arena, uint64_t **ret_seed, uint32_t *ret_seeds) {
    if (weft_seeds_parse(text, arena, ret_seed, ret_seeds)) return true;
    fprintf(stderr, "weft: --seeds: '%s' is not understood; expected at most %d numbers, each once: 1..5, or 1,2,7\n",
            text, WEFT_SWEEP_SEEDS_MAX);
    return false;
}

// --- order and progress -------------------------------------------------------------------------------------------

static double cost_of(const struct weft_cli_processes *p, uint32_t run) {
    return p->cost ? p->cost(p->context, run) : 1;
}

static int by_cost(const void *a, const void *b, void *context) {
    const struct weft_cli_processes *p = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    double cx = cost_of(p, x), cy = cost_of(p, y);
    return cx < cy || cx > cy ? (cx < cy) - (cx > cy) : (x > y) - (x < y);
}

static void put_in_order(struct running *r, struct weft_arena *arena) {
    struct weft_cli_processes *p = r->p;
    r->order = weft_arena_alloc(arena, p->runs, sizeof *r->order);
    for (uint32_t i = 0; i < p->runs; i++) {
        r->order[i] = i;
        r->cost += cost_of(p, i);
    }
    qsort_r(r->order, p->runs, sizeof *r->order, by_cost, p);
}

/// Time is extrapolated from what this process has run, not from results known before.
static void show_progress(struct running *r) {
    const struct weft_cli_processes *p = r->p;
    struct weft_cli_runs_progress now = {
        .ended = p->known + r->ended,
        .runs = p->runs,
        .part = r->cost > r->cost_known ? r->cost_ended / (r->cost - r->cost_known) : 0,
        .wall_s = weft__clock_s(CLOCK_MONOTONIC) - r->begun_s,
    };
    weft_cli_progress_runs(&r->progress, &now);
}

// --- processes ----------------------------------------------------------------------------------------------------

/// SIGTERM reaches only this process; Ctrl-C reaches the runs too, and a second signal does no harm.
static void end_runs(const struct running *r) {
    for (uint32_t i = 0; i < r->p->at_a_time; i++)
        if (r->process[i].pid > 0) kill(r->process[i].pid, SIGTERM);
}

/// Memory ran out: the results of the runs could not be reported.
static void abandon_runs(void *context) {
    const struct running *r = context;
    end_runs(r);
    for (uint32_t i = 0; i < r->p->at_a_time; i++)
        if (r->process[i].pid > 0) waitpid(r->process[i].pid, NULL, 0);
}

/// A hanging run does not check flags; the default action of SIGALRM ends it wherever it is.
static void limit_time(weft_time_ps timeout_ps) {
    uint64_t us = (uint64_t)timeout_ps / 1000000;
    struct itimerval limit = {.it_value = {.tv_sec = (time_t)(us / 1000000), .tv_usec = (suseconds_t)(us % 1000000)}};
    signal(SIGALRM, SIG_DFL);
    setitimer(ITIMER_REAL, &limit, NULL);
}

/// Runs in the new process, which is independent of the others and ends with its parent.
static _Noreturn void be_runs(struct running *r, const struct process *process, pid_t parent) {
    int status = WEFT_ERROR_SYSTEM;
    for (uint32_t i = 0; i < r->p->at_a_time; i++)
        r->process[i].pid = 0;
    weft_cli_out_folder_forked();
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    for (uint32_t i = 0; i < process->n && getppid() == parent && !weft_cli_interrupted(); i++) {
        uint32_t run = process->of[i].run;
        if (r->p->timeout_ps) limit_time(r->p->timeout_ps);
        dup2(fileno(process->of[i].out), STDOUT_FILENO);
        dup2(fileno(process->of[i].err), STDERR_FILENO);
        r->state[run] = BEGUN;
        status = r->p->work(r->p->context, run);
        fflush(stdout);
        fflush(stderr);
        r->state[run] = (uint8_t)(ENDED + status);
    }
    _exit(status);
}

/// Adds a run to what a process is to run; false: the system has no file for what it prints.
static bool add_run(struct process *process, uint32_t run) {
    FILE *out = tmpfile(), *err = tmpfile();
    process->of[process->n].run = run;
    process->of[process->n].out = out;
    process->of[process->n++].err = err;
    return out && err;
}

static enum weft_status start_process(struct running *r, struct process *process, bool ready,
                                      struct weft_error *ret_error) {
    pid_t parent = getpid();
    fflush(stdout);
    for (uint32_t i = 0; i < process->n; i++)
        r->state[process->of[i].run] = NOT_BEGUN;
    if (ready) process->pid = fork();
    if (ready && !process->pid) be_runs(r, process, parent);
    if (process->pid > 0) return WEFT_OK;
    process->pid = 0;
    if (errno == ENOMEM) weft_memory_fail();
    return weft_error_set(ret_error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE, "cannot start a run: %s", strerror(errno));
}

static void finish_run(struct running *r, const struct process *process, uint32_t i, int wait_status) {
    uint32_t run = process->of[i].run;
    struct weft_cli_ended ended = {.status = WEFT_ERROR_SYSTEM, .out = process->of[i].out, .err = process->of[i].err};
    int status = r->state[run] >= ENDED   ? r->state[run] - ENDED
                 : WIFEXITED(wait_status) ? WEXITSTATUS(wait_status)
                                          : -1;
    if (status < 0 && WIFSIGNALED(wait_status)) ended.signal = WTERMSIG(wait_status);
    if (status >= 0 && status <= WEFT_ERROR_STALL) ended.status = (enum weft_status)status;
    r->ended++;
    r->cost_ended += cost_of(r->p, run);
    if (!r->p->interrupted) r->p->on_end(r->p->context, run, &ended);
}

/// What a process has not come to, because a run ended it, is to be run yet.
static void finish_process(struct running *r, struct process *process, int wait_status) {
    uint32_t n = process->n, begun = 1;
    process->pid = 0;
    process->n = 0;
    r->running--;
    while (begun < n && r->state[process->of[begun].run] != NOT_BEGUN)
        begun++;
    for (uint32_t i = n; i-- > begun;)
        r->order[--r->next] = process->of[i].run;
    for (uint32_t i = 0; i < begun; i++)
        finish_run(r, process, i, wait_status);
    for (uint32_t i = 0; i < n; i++) {
        fclose(process->of[i].out);
        fclose(process->of[i].err);
    }
}

static void wait_for_one(struct running *r) {
    int wait_status;
    pid_t pid;
    while ((pid = wait(&wait_status)) < 0 && errno == EINTR)
        if (weft_cli_interrupted()) end_runs(r);
    r->p->interrupted |= weft_cli_interrupted();
    for (uint32_t i = 0; i < r->p->at_a_time; i++)
        if (pid > 0 && r->process[i].pid == pid) finish_process(r, &r->process[i], wait_status);
}

/// So many short runs that all processes will have about as much to do.
static uint32_t share_of(const struct running *r) {
    uint32_t n = (r->p->runs - r->next) / (2 * r->p->at_a_time);
    return n < 1 ? 1 : n < RUNS_MAX ? n : RUNS_MAX;
}

/// The next run, if it is not done already.
static bool is_due(struct running *r, uint32_t run) {
    if (!r->p->is_done(r->p->context, run)) return true;
    r->p->known++;
    r->cost_known += cost_of(r->p, run);
    return false;
}

/// Starts runs until the limit is reached.
static enum weft_status fill_slots(struct running *r, struct weft_error *ret_error) {
    struct weft_cli_processes *p = r->p;
    while (r->next < p->runs && r->running < p->at_a_time && !weft_cli_interrupted()) {
        struct process *process = r->process;
        uint32_t most = share_of(r);
        bool ready = true, more = true;
        while (process->pid)
            process++;
        process->n = 0;
        while (r->next < p->runs && process->n < most && more) {
            uint32_t run = r->order[r->next];
            bool is_short = p->is_short && p->is_short(p->context, run);
            more = is_short;
            if (process->n && !is_short) break;
            r->next++;
            if (is_due(r, run)) ready &= add_run(process, run);
            more |= !process->n;
        }
        if (!process->n) continue;
        WEFT_TRY(start_process(r, process, ready, ret_error));
        r->running++;
    }
    return WEFT_OK;
}

enum weft_status weft_cli_processes_run(struct weft_cli_processes *p, struct weft_error *ret_error) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    struct running r = {.p = p, .begun_s = weft__clock_s(CLOCK_MONOTONIC)};
    r.process = weft_arena_alloc(arena, p->at_a_time, sizeof *r.process);
    put_in_order(&r, arena);
    r.state = mmap(NULL, p->runs + (size_t)1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (r.state == MAP_FAILED) weft_memory_fail();
    weft_cli_catch_interrupt();
    weft_cli_progress_init(&r.progress, p->name, p->quiet);
    struct weft_memory_cleanup cleanup;
    weft_memory_cleanup_add(&cleanup, abandon_runs, &r);
    enum weft_status status = WEFT_OK;
    do {
        if (!status) status = fill_slots(&r, ret_error);
        show_progress(&r);
        if (r.running) wait_for_one(&r);
    } while (r.running || (r.next < p->runs && !status && !weft_cli_interrupted()));
    weft_memory_cleanup_remove(&cleanup);
    munmap(r.state, p->runs + (size_t)1);
    weft_cli_progress_deinit(&r.progress);
    p->interrupted |= weft_cli_interrupted();
    return status;
}

enum weft_status weft_cli_budget_parse(const char *text, uint32_t *ret_runs, double *ret_seconds,
                                       struct weft_error *ret_error) {
    char why[160], *end;
    uint64_t time;
    if (!text) return WEFT_OK;
    unsigned long runs = strtoul(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && runs && runs <= WEFT_SWEEP_RUNS_MAX) {
        *ret_runs = (uint32_t)runs;
        return WEFT_OK;
    }
    if (!weft__quantity_parse(WEFT__TIME, text, &time, why, sizeof why) || !time)
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                           "--budget: '%s' is not understood; expected a number of runs, or a time such as 600s", text);
    *ret_seconds = (double)time / (double)WEFT_PS_PER_S;
    return WEFT_OK;
}
