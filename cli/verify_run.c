// SPDX-License-Identifier: Apache-2.0
// Processes that run variants.
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verify.h"

/// weft run PATH --json --quiet --threads N [--variant NAME] [--set ...]...
static char **arguments(const struct verify *v, const struct verify_task *t) {
    const struct weft_cli_options *o = v->o;
    const struct verified *s = t->scenario;
    char **argv = weft_arena_alloc(o->arena, s->settings + 12, sizeof *argv);
    const char *variant = weft_scenario_variant_name(t->scenario->file, t->variant);
    uint32_t n = 0;
    argv[n++] = weft_arena_text(o->arena, "weft");
    argv[n++] = weft_arena_text(o->arena, "run");
    argv[n++] = weft_arena_text(o->arena, "--json");
    argv[n++] = weft_arena_text(o->arena, "--quiet");
    argv[n++] = weft_arena_format(o->arena, "--threads=%u", o->threads);
    if (*variant) argv[n++] = weft_arena_format(o->arena, "--variant=%s", variant);
    for (uint32_t i = 0; i < s->settings; i++)
        argv[n++] = weft_arena_format(o->arena, "--set=%s", s->setting[i]);
    argv[n++] = weft_arena_text(o->arena, "--");
    argv[n++] = weft_arena_text(o->arena, t->scenario->path);
    return argv;
}

static enum weft_status start(struct verify *v, struct verify_task *t, struct weft_error *ret_error) {
    char **argv = arguments(v, t);
    t->out = tmpfile();
    t->err = tmpfile();
    fflush(stdout);
    if (t->out && t->err) t->pid = fork();
    if ((!t->out || !t->err || t->pid < 0) && errno == ENOMEM) weft_memory_fail();
    if (!t->out || !t->err || t->pid < 0)
        return weft_error_set(ret_error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE, "cannot start a run: %s", strerror(errno));
    if (t->pid) return WEFT_OK;
    dup2(fileno(t->out), STDOUT_FILENO);
    dup2(fileno(t->err), STDERR_FILENO);
    execv("/proc/self/exe", argv);
    _exit(WEFT_ERROR_SYSTEM);
}

static char *whole(FILE *file, struct weft_arena *arena, size_t *ret_size) {
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = weft_arena_alloc(arena, (size_t)size + 1, 1);
    *ret_size = fread(text, 1, (size_t)size, file);
    return text;
}

static void note(const struct verify *v, struct verify_task *t, enum weft_status status) {
    if (!status) return;
    if (!t->scenario->status || t->scenario->status == WEFT_ERROR_STALL) t->scenario->status = status;
    const char *variant = weft_scenario_variant_name(t->scenario->file, t->variant);
    size_t size;
    const char *text = whole(t->err, v->o->arena, &size);
    char seed[40] = "";
    if (v->seeds) snprintf(seed, sizeof seed, ", seed %llu", (unsigned long long)t->scenario->seed);
    fprintf(stderr, "weft: %s%s%s%s: %s", t->scenario->path, *variant ? ", variant " : "", variant, seed,
            *text ? text : "the run ended early\n");
}

/// Its values, and what went wrong with it.
static void finish(const struct verify *v, struct verify_task *t, int wait_status) {
    enum weft_status status = WEFT_ERROR_SYSTEM;
    if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) <= WEFT_ERROR_STALL)
        status = (enum weft_status)WEXITSTATUS(wait_status);
    if (!status || status == WEFT_ERROR_STALL) {
        struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
        size_t size;
        const char *text = whole(t->out, arena, &size);
        if (!weft_cli_claims_take_json(&t->scenario->claims, t->variant, text, size)) status = WEFT_ERROR_SYSTEM;
        weft_arena_free(arena);
    }
    note(v, t, status);
    t->pid = 0;
    fclose(t->out);
    fclose(t->err);
}

static void show_progress(const struct verify *v, uint32_t done) {
    if (v->o->quiet || !isatty(STDERR_FILENO)) return;
    fprintf(stderr, "\r\033[Kweft verify: %u of %u runs", done, v->tasks);
    if (done == v->tasks) fprintf(stderr, "\r\033[K");
}

/// SIGTERM goes to this process alone; Ctrl-C reaches the runs too, and once more does not harm.
static void end_runs(const struct verify *v) {
    for (const struct verify_task *t = v->task; t; t = t->next)
        if (t->pid > 0) kill(t->pid, SIGTERM);
}

/// Memory ran out: the results of the runs could not be reported.
static void abandon_runs(void *context) {
    const struct verify *v = context;
    end_runs(v);
    for (const struct verify_task *t = v->task; t; t = t->next)
        if (t->pid > 0) waitpid(t->pid, NULL, 0);
}

static bool wait_for_one(struct verify *v) {
    int wait_status;
    pid_t pid;
    while ((pid = wait(&wait_status)) < 0 && errno == EINTR)
        if (weft_cli_interrupted()) end_runs(v);
    for (struct verify_task *t = v->task; t; t = t->next)
        if (pid > 0 && t->pid == pid) {
            finish(v, t, wait_status);
            return true;
        }
    return false;
}

enum weft_status verify_run(struct verify *v, struct weft_error *ret_error) {
    weft_cli_catch_interrupt();
    struct verify_task *next = v->task;
    enum weft_status status = WEFT_OK;
    uint32_t running = 0, done = 0;
    struct weft_memory_cleanup cleanup;
    weft_memory_cleanup_add(&cleanup, abandon_runs, v);
    while (running || (next && !status && !weft_cli_interrupted())) {
        while (next && running < v->jobs && !status && !weft_cli_interrupted()) {
            status = start(v, next, ret_error);
            running += !status;
            next = next->next;
        }
        show_progress(v, done);
        if (!running) break;
        wait_for_one(v);
        running--;
        show_progress(v, ++done);
    }
    weft_memory_cleanup_remove(&cleanup);
    if (!status && weft_cli_interrupted())
        status = weft_error_set(ret_error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE, "interrupted; %u of %u runs had ended",
                                done, v->tasks);
    return status;
}
