// SPDX-License-Identifier: Apache-2.0
// Runs a sweep from its plan to its table: runs what is missing, shows the results and removes the temporary folder.
#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include "sweep.h"

/// Reports which part of the sweep this task has run, and that --merge shows the whole.
static void mention_share(const struct sweep *s) {
    uint32_t due = 0;
    for (uint32_t i = 0; i < s->owned; i++)
        due += sweep_is_due(s, s->own[i]);
    if (s->o->quiet) return;
    fprintf(stderr, "weft: task %u of %u (%s): %u of its %u runs are done", s->share.task + 1, s->share.tasks,
            s->share.from, s->owned - due, s->owned);
    fputs("; when all tasks are, --merge shows the sweep\n", stderr);
}

static enum weft_status judge_runs(const struct sweep *s) {
    uint32_t due = 0, stalled = 0, bug = 0;
    for (uint32_t i = 0; i < s->owned; i++) {
        const struct weft_sweep_run *run = &s->r.run[s->own[i]];
        due += sweep_is_due(s, s->own[i]);
        stalled += run->state == WEFT_SWEEP_STALLED;
        bug += run->bug;
    }
    if (bug) return WEFT_ERROR_CONSERVATION;
    return due || s->failed ? WEFT_ERROR_SYSTEM : stalled ? WEFT_ERROR_STALL : WEFT_OK;
}

static void mention_known(const struct sweep *s) {
    uint32_t known = 0;
    for (uint32_t i = 0; i < s->owned; i++)
        known += !sweep_is_due(s, s->own[i]);
    if (known && !s->o->quiet && !s->merge) fprintf(stderr, "weft: %u of %u runs are there already\n", known, s->owned);
}

/// Nothing is left to continue.
static void remove_folder(const char *path) {
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (*entry->d_name != '.') unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder) closedir(folder);
    rmdir(path);
}

void sweep_end(struct sweep *s, enum weft_status status) {
    bool goes_on = s->lock >= 0 && status && status != WEFT_ERROR_STALL && status != WEFT_ERROR_INPUT;
    if (s->passing && s->folder && !goes_on) remove_folder(s->folder);
    if (s->lock >= 0) close(s->lock);
}

void sweep_say_interrupted(const struct sweep *s) {
    fprintf(stderr, "weft: interrupted; %s\n",
            !s->passing || s->lock >= 0 ? "the same command goes on from here"
                                        : "with --out DIR, the runs that are done would be kept");
}

static enum weft_status run_all(struct sweep *s, uint32_t jobs, sweep_show show, struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK;
    do {
        status = sweep_prepare(s, !s->merge, ret_error);
        if (!status) mention_known(s);
        if (!status && !s->merge && s->announce) s->announce(s, jobs);
        if (!status && !s->merge) status = sweep_run(s, jobs, ret_error);
    } while (!status && !s->interrupted && s->goes_on && s->goes_on(s));
    if (status) return status;
    if (s->share.tasks > 1)
        mention_share(s);
    else
        status = show(s, ret_error);
    enum weft_status judged = judge_runs(s);
    if (s->interrupted) {
        sweep_say_interrupted(s);
        return WEFT_INTERRUPTED;
    }
    if (s->merge && judged == WEFT_ERROR_SYSTEM)
        fprintf(stderr, "weft: %u of %u runs are missing or failed\n",
                weft_sweep_count(&s->r, WEFT_SWEEP_MISSING) + weft_sweep_count(&s->r, WEFT_SWEEP_FAILED),
                s->plan->points * s->plan->seeds);
    return status ? status : judged;
}

enum weft_status sweep_through(struct sweep *s, uint32_t jobs, sweep_show show, struct weft_error *ret_error) {
    enum weft_status status = run_all(s, jobs, show, ret_error);
    sweep_end(s, status);
    return status;
}
