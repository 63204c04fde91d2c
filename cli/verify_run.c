// SPDX-License-Identifier: Apache-2.0
// Processes that run tasks.
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verify.h"

/// weft run --json --quiet --threads=N --variant=NAME --set=... -- PATH, or weft topo --json and so on.
static char **arguments(const struct verify *v, const struct verify_task *t) {
    struct weft_arena *arena = v->o->arena;
    char **argv = weft_arena_alloc(arena, t->settings + 12, sizeof *argv);
    const char *command = t->from == WEFT_CLAIM_FROM_RUN ? "run" : weft_claim_from_names[t->from];
    const char *dot = strchr(command, '.');
    uint32_t n = 0;
    argv[n++] = weft_arena_text(arena, "weft");
    argv[n++] = weft_arena_format(arena, "%.*s", (int)strcspn(command, "."), command);
    if (dot) argv[n++] = weft_arena_text(arena, dot + 1);
    argv[n++] = weft_arena_text(arena, "--json");
    if (t->from == WEFT_CLAIM_FROM_RUN) {
        argv[n++] = weft_arena_text(arena, "--quiet");
        argv[n++] = weft_arena_format(arena, "--threads=%u", v->o->threads);
    }
    if (*t->variant) argv[n++] = weft_arena_format(arena, "--variant=%s", t->variant);
    for (uint32_t i = 0; i < t->settings; i++)
        argv[n++] = weft_arena_format(arena, "--set=%s", t->setting[i]);
    argv[n++] = weft_arena_text(arena, "--");
    argv[n++] = weft_arena_text(arena, t->path);
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

/// Without what it claims about, a network may well stall: that is an answer.
static void note_status(const struct verify *v, struct verify_task *t, enum weft_status status) {
    bool teeth = true;
    for (const struct verify_use *u = t->use; u; u = u->next)
        teeth &= u->reading->teeth;
    if (!status || (teeth && status == WEFT_ERROR_STALL)) return;
    for (const struct verify_use *u = t->use; u; u = u->next) {
        struct verified *s = u->reading->of;
        if (status == WEFT_ERROR_STALL && u->reading->teeth) continue;
        if (!s->status || s->status == WEFT_ERROR_STALL) s->status = status;
    }
    size_t size;
    const char *text = whole(t->err, v->o->arena, &size);
    fprintf(stderr, "weft: %s%s%s", t->path, *t->variant ? ", variant " : "", t->variant);
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
    const json_t *root;
    const struct weft_claim_metric *missing; ///< the first metric that the JSON lacks
    const struct weft_claim *claim;
};

static void take_value(void *context, const struct weft_claim *claim, const struct weft_claim_metric *metric,
                       double *value) {
    struct taking *t = context;
    if (weft_cli_claims_json_number(t->root, metric, value) || t->missing) return;
    t->missing = metric;
    t->claim = claim;
}

/// What a command says has no rows to ask beforehand.
static bool take_values(struct verify_task *t) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    size_t size;
    const char *text = whole(t->out, arena, &size);
    json_t *root = json_loadb(text, size, 0, NULL);
    struct taking taking = {.root = root};
    if (root) verify_each_value(t, take_value, &taking);
    bool missing = root && taking.missing && t->from != WEFT_CLAIM_FROM_RUN;
    if (missing) {
        const struct weft_claim_metric *m = taking.missing;
        char command[32];
        command_of(t->from, command);
        fprintf(stderr, "weft: %s:%d:%d: %.*s: not a number in what `weft %s --json %s` prints\n", t->path,
                taking.claim->place.line, taking.claim->place.column, (int)m->length, taking.claim->that + m->at,
                command, t->path);
        for (struct verify_use *u = t->use; u; u = u->next)
            u->reading->of->status = WEFT_ERROR_INPUT;
    }
    json_decref(root);
    weft_arena_free(arena);
    return root && !missing;
}

/// Its values, and what went wrong with it. A run that was interrupted says nothing.
static void finish(struct verify *v, struct verify_task *t, int wait_status) {
    enum weft_status status = WEFT_ERROR_SYSTEM;
    if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) <= WEFT_ERROR_STALL)
        status = (enum weft_status)WEXITSTATUS(wait_status);
    t->pid = 0;
    if (!v->interrupted) {
        bool measured = !status || status == WEFT_ERROR_STALL;
        bool taken = measured && take_values(t);
        if (measured && !taken && t->from == WEFT_CLAIM_FROM_RUN) status = WEFT_ERROR_SYSTEM;
        note_status(v, t, status);
        t->done = true;
        if (taken) verify_journal_add(v, t, status);
    }
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
    v->interrupted |= weft_cli_interrupted();
    for (struct verify_task *t = v->task; t; t = t->next)
        if (pid > 0 && t->pid == pid) {
            finish(v, t, wait_status);
            return true;
        }
    return false;
}

static void note_ended(struct verify *v) {
    for (struct verified *s = v->first; s; s = s->next)
        s->ended = true;
    for (const struct verify_task *t = v->task; t; t = t->next)
        for (const struct verify_use *u = t->use; u; u = u->next)
            u->reading->of->ended &= t->done;
}

enum weft_status verify_run(struct verify *v, struct weft_error *ret_error) {
    weft_cli_catch_interrupt();
    struct verify_task *next = v->task;
    enum weft_status status = WEFT_OK;
    uint32_t running = 0, done = v->known;
    struct weft_memory_cleanup cleanup;
    weft_memory_cleanup_add(&cleanup, abandon_runs, v);
    while (running || (next && !status && !weft_cli_interrupted())) {
        while (next && running < v->jobs && !status && !weft_cli_interrupted()) {
            if (!next->done) {
                status = start(v, next, ret_error);
                running += !status;
            }
            next = next->next;
        }
        show_progress(v, done);
        if (!running) break;
        wait_for_one(v);
        running--;
        show_progress(v, ++done);
    }
    weft_memory_cleanup_remove(&cleanup);
    v->interrupted |= weft_cli_interrupted();
    note_ended(v);
    return status;
}
