// SPDX-License-Identifier: Apache-2.0
// Tasks run as processes; their output contains the values.
#include <string.h>
#include <unistd.h>

#include "base/tree.h"
#include "processes.h"
#include "verify.h"

/// weft run --json --quiet --threads=N --variant=NAME --set=... -- PATH, or weft topo --json and so on.
static char **task_arguments(const struct verify *v, const struct verify_task *t) {
    struct weft_arena *arena = v->o->arena;
    char **argv = weft_arena_alloc(arena, t->settings + v->o->allow_writes + 13, sizeof *argv);
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
        if (v->o->oversubscribe) argv[n++] = weft_arena_text(arena, "--oversubscribe");
        if (v->o->pin) argv[n++] = weft_arena_text(arena, "--pin");
    }
    if (t->from == WEFT_CLAIM_FROM_RUN) argv[n++] = weft_arena_text(arena, "--set=capture.ports=\"\""); // no file
    if (*t->variant) argv[n++] = weft_arena_format(arena, "--variant=%s", t->variant);
    for (uint32_t i = 0; t->from == WEFT_CLAIM_FROM_RUN && i < v->o->allow_writes; i++)
        argv[n++] = weft_arena_format(arena, "--allow-write=%s", v->o->allow_write[i]);
    for (uint32_t i = 0; i < t->settings; i++)
        argv[n++] = weft_arena_format(arena, "--set=%s", t->setting[i]);
    argv[n++] = weft_arena_text(arena, "--");
    argv[n++] = weft_arena_text(arena, t->path);
    return argv;
}

static int run_task(void *context, uint32_t run) {
    const struct verify *v = context;
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

/// Under `without`, a network may well stall: that is a result.
static void note_status(const struct verify *v, struct verify_task *t, enum weft_status status, FILE *err) {
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

/// The output of a command has no rows that could be checked in advance.
static bool take_values(struct verify_task *t, FILE *out) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    size_t size;
    const char *text = weft_cli_printed(out, arena, &size);
    json_t *root = json_loadb(text, size, 0, NULL);
    struct taking taking = {.root = root};
    if (root) verify_each_value(t, take_value, &taking);
    bool missing = root && taking.missing && t->from != WEFT_CLAIM_FROM_RUN;
    if (missing) {
        const struct weft_claim_metric *m = taking.missing;
        char command[32];
        command_of(t->from, command);
        fprintf(stderr, "weft: %s:%d:%d: %.*s: not a number in what `weft %s --json %s` prints\n",
                weft__text_shown(t->path, arena), taking.claim->place.line, taking.claim->place.column, (int)m->length,
                taking.claim->that + m->at, command, weft__text_shown(t->path, arena));
        for (struct verify_use *u = t->use; u; u = u->next)
            u->reading->of->status = WEFT_ERROR_INPUT;
    }
    json_decref(root);
    weft_arena_free(arena);
    return root && !missing;
}

/// Takes a task's values, or its error.
static void take_task(void *context, uint32_t run, const struct weft_cli_ended *ended) {
    struct verify *v = context;
    struct verify_task *t = v->at[run];
    enum weft_status status = ended->status;
    bool measured = !status || status == WEFT_ERROR_STALL;
    bool taken = measured && take_values(t, ended->out);
    if (measured && !taken && t->from == WEFT_CLAIM_FROM_RUN) status = WEFT_ERROR_SYSTEM;
    note_status(v, t, status, ended->err);
    t->done = true;
    if (taken) verify_journal_add(v, t, status);
}

static bool is_done(void *context, uint32_t run) {
    return ((const struct verify *)context)->at[run]->done;
}

static void note_ended(struct verify *v) {
    for (struct verified *s = v->first; s; s = s->next)
        s->ended = true;
    for (const struct verify_task *t = v->task; t; t = t->next)
        for (const struct verify_use *u = t->use; u; u = u->next)
            u->reading->of->ended &= t->done;
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
