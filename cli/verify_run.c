// SPDX-License-Identifier: Apache-2.0
// Tasks run as processes, which print the values that claims name, a line each.
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/tree.h"
#include "processes.h"
#include "verify.h"

struct picks {
    char **argv;
    uint32_t n;
    struct weft_arena *arena;
};

static void add_pick(void *context, const struct weft_claim *claim, const struct weft_claim_metric *m, double *value) {
    (void)claim, (void)value;
    struct picks *p = context;
    p->argv[p->n++] = weft_arena_format(p->arena, "--pick=%s", weft_cli_pick_path(m->part, m->parts, p->arena));
}

static void count_value(void *context, const struct weft_claim *claim, const struct weft_claim_metric *metric,
                        double *value) {
    (void)claim, (void)metric, (void)value;
    ++*(uint32_t *)context;
}

static uint32_t count_values(const struct verify_task *t) {
    uint32_t n = 0;
    verify_each_value(t, count_value, &n);
    return n;
}

/// weft run --quiet --threads=N --variant=NAME --set=... --pick=PATH -- PATH, or weft topo --pick=PATH and so on.
static char **task_arguments(const struct verify *v, const struct verify_task *t) {
    struct weft_arena *arena = v->o->arena;
    char **argv = weft_arena_alloc(arena, t->settings + v->o->allow_writes + count_values(t) + 13, sizeof *argv);
    const char *command = t->from == WEFT_CLAIM_FROM_RUN ? "run" : weft_claim_from_names[t->from];
    const char *dot = strchr(command, '.');
    uint32_t n = 0;
    argv[n++] = weft_arena_text(arena, "weft");
    argv[n++] = weft_arena_format(arena, "%.*s", (int)strcspn(command, "."), command);
    if (dot) argv[n++] = weft_arena_format(arena, "%s%s", t->from == WEFT_CLAIM_FROM_WHY_JOBS ? "--" : "", dot + 1);
    if (t->from == WEFT_CLAIM_FROM_RUN) {
        argv[n++] = weft_arena_text(arena, "--quiet");
        argv[n++] = weft_arena_format(arena, "--threads=%u", v->o->threads);
        if (v->o->oversubscribe) argv[n++] = weft_arena_text(arena, "--oversubscribe");
        if (v->o->pin) argv[n++] = weft_arena_text(arena, "--pin");
    }
    if (t->from == WEFT_CLAIM_FROM_RUN) argv[n++] = weft_arena_text(arena, "--set=capture.ports=\"\""); // no file
    if (*t->variant) argv[n++] = weft_arena_format(arena, "--variant=%s", t->variant);
    for (uint32_t i = 0; t->from == WEFT_CLAIM_FROM_RUN && i < v->o->allow_writes; i++)
        argv[n++] = weft_arena_format(arena, "--allow-write=%s", v->o->allow_write[i]);
    for (uint32_t i = 0; i < t->settings; i++)
        argv[n++] = weft_arena_format(arena, "--set=%s", t->setting[i]);
    struct picks picks = {argv, n, arena};
    verify_each_value(t, add_pick, &picks);
    n = picks.n;
    argv[n++] = weft_arena_text(arena, "--");
    argv[n++] = weft_arena_text(arena, t->path);
    return argv;
}

/// Whether nothing but bands needs the task.
static bool is_of_bands(const struct verify_task *t) {
    bool only = true;
    for (const struct verify_use *u = t->use; u; u = u->next)
        only &= u->reading->band;
    return only;
}

static double left_of_budget(const struct verify *v) {
    return v->band_runs ? v->budget_s - (weft__clock_s(CLOCK_MONOTONIC) - v->bands_s) : v->budget_s;
}

/// The budget ends a run of a band by SIGALRM.
static int run_task(void *context, uint32_t run) {
    const struct verify *v = context;
    if (is_of_bands(v->at[run])) {
        signal(SIGALRM, SIG_DFL);
        alarm(1 + (unsigned)fmin(fmax(left_of_budget(v), 0), 1e9));
    }
    execv("/proc/self/exe", task_arguments(v, v->at[run]));
    return WEFT_ERROR_SYSTEM;
}

void verify_each_value(const struct verify_task *t,
                       void (*on_value)(void *context, const struct weft_claim *claim,
                                        const struct weft_claim_metric *metric, double *value),
                       void *context) {
    for (const struct verify_use *u = t->use; u; u = u->next) {
        const struct verify_reading *r = u->reading;
        for (uint32_t i = 0; i < r->claims.n; i++) {
            const struct weft_claim *c = &r->claims.claim[i];
            for (uint32_t m = 0; r->judged[i] && m < c->metrics; m++)
                if (c->metric[m].variant == u->variant && c->metric[m].from == t->from)
                    on_value(context, c, &c->metric[m], &r->claims.result[i].value[m]);
        }
    }
}

/// Under `without` or in a band, a network may well stall: that is a result.
static void note_status(const struct verify *v, struct verify_task *t, enum weft_status status, FILE *err) {
    bool changed = true;
    for (const struct verify_use *u = t->use; u; u = u->next)
        changed &= u->reading->changed;
    if (!status || (changed && status == WEFT_ERROR_STALL)) return;
    for (const struct verify_use *u = t->use; u; u = u->next) {
        struct verified *s = u->reading->of;
        if (status == WEFT_ERROR_STALL && u->reading->changed) continue;
        if (!s->status || s->status == WEFT_ERROR_STALL) s->status = status;
    }
    size_t size;
    const char *text = weft_cli_printed(err, v->o->arena, &size);
    fprintf(stderr, "weft: %s%s%s", weft__text_shown(t->path, v->o->arena), *t->variant ? ", variant " : "",
            t->variant);
    for (uint32_t i = v->o->settings; i < t->settings; i++)
        fprintf(stderr, ", %s", t->setting[i]);
    fprintf(stderr, ": %s", *text ? text : "the run ended early\n");
}

/// "plan pfc"
static void command_of(enum weft_claim_from from, char text[32]) {
    snprintf(text, 32, "%s", weft_claim_from_names[from]);
    char *dot = strchr(text, '.');
    if (dot) *dot = ' ';
}

struct taking {
    char *at;                                ///< the line of the next value
    const struct weft_claim_metric *missing; ///< the first metric without a number
    const struct weft_claim *claim;
};

static void take_value(void *context, const struct weft_claim *claim, const struct weft_claim_metric *metric,
                       double *value) {
    struct taking *t = context;
    char *line = strsep(&t->at, "\n"), *end = "";
    *value = line ? strtod(line, &end) : NAN;
    bool number = line && *line && !*end;
    if (!number) *value = NAN;
    if (number || t->missing) return;
    t->missing = metric;
    t->claim = claim;
}

/// What another command answers has no rows that could be checked in advance.
static void note_missing(const struct verify_task *t, const struct taking *taking, struct weft_arena *arena) {
    const struct weft_claim_metric *m = taking->missing;
    char command[32];
    command_of(t->from, command);
    fprintf(stderr, "weft: %s:%d:%d: %.*s: not a number in what `weft %s --json %s` prints\n",
            weft__text_shown(t->path, arena), taking->claim->place.line, taking->claim->place.column, (int)m->length,
            taking->claim->that + m->at, command, weft__text_shown(t->path, arena));
    for (struct verify_use *u = t->use; u; u = u->next)
        u->reading->of->status = WEFT_ERROR_INPUT;
}

static uint32_t count_lines(const char *text) {
    uint32_t n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

/// What became of the values: the process printed a line each, or it printed none because it failed.
enum taken { TAKEN, MISSING, UNTOLD };
static enum taken take_values(const struct verify_task *t, FILE *out) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    size_t size;
    struct taking taking = {.at = weft_cli_printed(out, arena, &size)};
    enum taken taken = count_lines(taking.at) == count_values(t) ? TAKEN : UNTOLD;
    if (taken == TAKEN) verify_each_value(t, take_value, &taking);
    if (taking.missing && t->from != WEFT_CLAIM_FROM_RUN) {
        note_missing(t, &taking, arena);
        taken = MISSING;
    }
    return taken;
}

/// Takes a task's values, or its error. A command that lacks one ends as with bad input, and has printed the others.
static void take_task(void *context, uint32_t run, const struct weft_cli_ended *ended) {
    struct verify *v = context;
    struct verify_task *t = v->at[run];
    enum weft_status status = ended->status;
    bool other = t->from != WEFT_CLAIM_FROM_RUN;
    if (ended->signal == SIGALRM && is_of_bands(t)) return; // the budget has ended
    bool measured = !status || status == WEFT_ERROR_STALL || (other && status == WEFT_ERROR_INPUT);
    enum taken taken = measured ? take_values(t, ended->out) : UNTOLD;
    if (measured && taken == UNTOLD && status != WEFT_ERROR_INPUT) status = WEFT_ERROR_SYSTEM;
    if (taken != MISSING) note_status(v, t, status, ended->err);
    t->done = true;
    if (taken == TAKEN) verify_journal_add(v, t, status);
}

static bool is_done(void *context, uint32_t run) {
    struct verify *v = context;
    if (v->at[run]->done) return true;
    if (!is_of_bands(v->at[run])) return false;
    if (left_of_budget(v) <= 0) return true; // left out
    if (!v->band_runs++) v->bands_s = weft__clock_s(CLOCK_MONOTONIC);
    return false;
}

static void note_ended(struct verify *v) {
    for (struct verified *s = v->first; s; s = s->next)
        s->ended = true;
    v->left = 0;
    for (const struct verify_task *t = v->task; t; t = t->next) {
        for (const struct verify_use *u = t->use; u; u = u->next) {
            u->reading->of->ended &= t->done || u->reading->band;
            u->reading->left |= !t->done;
        }
        v->left += !t->done && is_of_bands(t);
    }
}

enum weft_status verify_run(struct verify *v, struct weft_error *ret_error) {
    struct weft_cli_processes p = {.name = "weft verify",
                                   .runs = v->tasks,
                                   .at_a_time = v->jobs,
                                   .quiet = v->o->quiet,
                                   .is_done = is_done,
                                   .work = run_task,
                                   .on_end = take_task,
                                   .context = v};
    v->at = weft_arena_alloc(v->o->arena, v->tasks, sizeof(struct verify_task *));
    uint32_t n = 0;
    for (struct verify_task *t = v->task; t; t = t->next)
        v->at[n++] = t;
    enum weft_status status = weft_cli_processes_run(&p, ret_error);
    v->interrupted |= p.interrupted;
    note_ended(v);
    return status;
}
