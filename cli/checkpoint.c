// SPDX-License-Identifier: Apache-2.0
#include "checkpoint.h"

#include <stdio.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/units.h"
#include "cache.h"
#include "ranks.h"

static const char name[] = "run.checkpoint"; ///< in the folder of results
enum { PS_PER_MS = 1000000000, MS_MIN = 10 };

static struct weft_checkpoint_program this_program(void) {
    struct weft_checkpoint_program program = {.hash = weft_cli_program_hash(WEFT__HASH_START)};
    snprintf(program.text, sizeof program.text, "weft %s, commit %s", WEFT_VERSION, weft_cli_commit);
    return program;
}

static enum weft_status parse_every(const char *text, double *ret_s, struct weft_error *ret_error) {
    char why[160];
    uint64_t time_ps = 0;
    if (!weft__quantity_parse(WEFT__TIME, text, &time_ps, why, sizeof why))
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = "--checkpoint"}, "%s", why);
    if (time_ps < (uint64_t)MS_MIN * PS_PER_MS)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = "--checkpoint"},
                           "%s is too short; expected at least %dms", text, MS_MIN);
    *ret_s = (double)time_ps * 1e-12;
    return WEFT_OK;
}

enum weft_status weft_cli_checkpoint_begin(const struct weft_cli_checkpoint_options *given, int argc, char ***argv,
                                           struct weft_error *ret_error) {
    double every_s;
    struct weft_checkpoint_program program = this_program();
    enum weft_status status = parse_every(given->every, &every_s, ret_error);
    if (!status) status = weft_checkpoint_open(&program, weft_cli_ranks(), ret_error);
    if (status) return status;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO); // lives until the process ends
    char **copy = weft_arena_alloc(arena, (size_t)argc + 1, sizeof *copy);
    for (int i = 0; i < argc; i++)
        copy[i] = weft_arena_text(arena, (*argv)[i]);
    *argv = copy;
    return WEFT_OK;
}

static void say_failure(const char *why) {
    fprintf(stderr, "weft: the checkpoint cannot be written: %s; the run continues\n", why);
}

enum weft_status weft_cli_checkpoint_new(const struct weft_cli_options *o, const char *every, void *root,
                                         struct weft_checkpoint **ret_checkpoint, struct weft_error *ret_error) {
    if (!o->out)
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                           "--checkpoint writes into the folder of --out; expected --out DIR as well");
    struct weft_checkpoint *checkpoint = weft_memory_new(WEFT_MEMORY_RESULT, 1, sizeof *checkpoint); // until the end
    checkpoint->file = weft_arena_format(o->arena, "%s/%s", o->out, name);
    checkpoint->root = root;
    checkpoint->on_failure = say_failure;
    *ret_checkpoint = checkpoint;
    if (!o->force && !access(checkpoint->file, F_OK))
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                           "--out: '%s' holds a checkpoint; --resume %s continues that run, --force replaces it",
                           o->out, o->out);
    return parse_every(every, &checkpoint->every_s, ret_error);
}

/// The run was described when it began, so these options cannot be repeated.
static enum weft_status check_resume(const struct weft_cli_options *o, struct weft_error *ret_error) {
    const char *wrong = o->operands   ? "a scenario"
                        : o->settings ? "--set, --seed or --capture"
                        : o->variant  ? "--variant"
                        : o->out      ? "--out"
                                      : NULL;
    if (!wrong) return WEFT_OK;
    return WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                       "--resume and %s; expected the folder alone: the run and its folder are those it began with",
                       wrong);
}

enum weft_status weft_cli_checkpoint_resume(const struct weft_cli_options *o,
                                            const struct weft_cli_checkpoint_options *given,
                                            struct weft_checkpoint **ret_checkpoint, struct weft_error *ret_error) {
    double every_s = 0;
    struct weft_checkpoint_program program = this_program();
    enum weft_status status = check_resume(o, ret_error);
    if (!status && given->every) status = parse_every(given->every, &every_s, ret_error);
    if (status) return status;
    const char *file = weft_arena_format(o->arena, "%s/%s", given->resume, name);
    status = weft_checkpoint_read(file, &program, weft_cli_ranks(), ret_checkpoint, ret_error);
    if (status) return status;
    struct weft_checkpoint *checkpoint = *ret_checkpoint;
    if (given->every) checkpoint->every_s = every_s;
    checkpoint->file = file;
    checkpoint->on_failure = say_failure;
    return WEFT_OK;
}

void weft_cli_checkpoint_remove(const struct weft_checkpoint *checkpoint) {
    unlink(checkpoint->file);
}
