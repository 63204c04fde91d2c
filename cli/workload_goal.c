// SPDX-License-Identifier: Apache-2.0
// weft workload on a schedule, from a GOAL file or made from a scenario: its content, when each rank ends under
// LogGOPS, and its form in GOAL.
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "simulation.h"
#include "weft/goal.h"
#include "workload.h"

#include "base/stream.h"
#include "base/units.h"

bool weft_cli_goal_recognise(const char *path) {
    enum { LOOK = 65536 };
    static char bytes[LOOK];
    struct stat about;
    if (stat(path, &about) || !S_ISREG(about.st_mode)) return false; // what was read from a pipe cannot be read again
    FILE *file = fopen(path, "r");
    if (!file) return false;
    size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    return weft_goal_recognise(bytes, n);
}

struct view {
    const struct weft_cli_schedule *options;
    const struct weft_schedule *s;
    struct weft_loggops_result result; ///< most_ps: WEFT_TIME_NEVER without --loggops
    uint32_t ranks;                    ///< that were executed
};

/// Nanoseconds, with decimals if it has any.
static void print_ns(weft_time_ps time) {
    printf("%" PRIu64, time / 1000);
    if (time % 1000) printf(".%03" PRIu64, time % 1000);
}

static void print_text(FILE *file, const void *subject) {
    const struct view *v = subject;
    if (v->options->loggops) {
        for (uint32_t r = 0; r < v->s->ranks; r++) {
            printf("Host %" PRIu32 ": ", r);
            print_ns(v->result.end_ps[r]);
            putchar('\n');
        }
        return;
    }
    printf("%s, %s, %s, %s, %s", weft__counted(v->s->ranks, "rank").text, weft__counted(v->s->steps, "step").text,
           weft__counted(v->s->edges, "dependency").text, weft__counted(v->s->messages, "message").text,
           weft_cli_bytes_text(v->s->bytes, (char[WEFT_CLI_TEXT]){0}));
    if (v->s->nics > 1) printf(", %s a rank", weft__counted(v->s->nics, "NIC").text);
    putchar('\n');
}

#define SCHEDULE(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_schedule, field, key, kind, __VA_ARGS__)
static const struct weft_result_table schedule_table = WEFT_RESULT_TABLE_OF(
    "schedule", OBJECT, "a schedule", WEFT_RESULT_IF(struct view, s),
    SCHEDULE(file, "schedule", TEXT, "file, or scenario from which the file is made"),
    SCHEDULE(ranks, "ranks", COUNT, "ranks"), SCHEDULE(steps, "steps", COUNT, "steps of all ranks"),
    SCHEDULE(edges, "dependencies", COUNT, "dependencies between steps"),
    SCHEDULE(nics, "nics", COUNT, "NICs of a rank"), SCHEDULE(messages, "messages", COUNT, "messages"),
    SCHEDULE(bytes, "bytes", BYTES, "bytes of all messages"),
    WEFT_RESULT_AT(1, struct view, result.most_ps, "end_ps", TIME, "end of the last rank (--loggops)",
                   .flags = WEFT_RESULT_SPARSE));
static const struct weft_result_table ends_table = WEFT_RESULT_TABLE_OF(
    "rank_end_ps", ARRAY, "a rank, executed under the LogGOPS model (--loggops)",
    WEFT_RESULT_AND(WEFT_RESULT_EACH(struct view, result.end_ps, ranks), .sparse = true),
    WEFT_RESULT_INDEX("rank", "number of the rank"), WEFT_RESULT_ITEM(weft_time_ps, "end_ps", TIME, "end of the rank"));
const struct weft_answer weft__answer_schedule =
    WEFT_ANSWER_OF("schedule", "weft workload SCHEDULE: a schedule, and its execution", &schedule_table, &ends_table);

static void write_goal(FILE *file, const void *schedule) {
    weft_goal_write(file, schedule);
}

enum weft_status weft_cli_schedule(const struct weft_schedule *s, const struct weft_cli_schedule *options,
                                   const struct weft_cli_options *o, struct weft_error *ret_error) {
    struct view v = {.options = options, .s = s, .result = {.most_ps = WEFT_TIME_NEVER}};
    struct weft_loggops model;
    WEFT_SCRATCH(arena, WEFT_MEMORY_SCENARIO);
    if (options->goal) WEFT_TRY(weft_cli_can_write_file("--goal", options->goal, o, ret_error));
    if (options->loggops)
        WEFT_TRY(weft_loggops_parse(options->loggops, (struct weft_place){.file = "--loggops"}, &model, ret_error));
    if (options->loggops) WEFT_TRY(weft_loggops_run(s, &model, arena, &v.result, ret_error));
    if (options->goal) WEFT_TRY(weft_cli_replace_file(options->goal, write_goal, s, ret_error));
    if (options->loggops) v.ranks = s->ranks;
    return weft_cli_answer(o, &weft__answer_schedule, &v, print_text, ret_error);
}

static enum weft_status show_schedule(const struct weft_cli_options *o, const struct weft_cli_schedule *options,
                                      struct weft_error *ret_error) {
    struct weft_schedule *s = NULL;
    WEFT_SCRATCH(arena, WEFT_MEMORY_SCENARIO);
    if (o->settings || o->variant)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = o->settings ? "--set" : "--variant"},
                           "'%s' is a schedule; expected a scenario", o->operand[0]);
    if (options->chakra)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = "--chakra"},
                           "'%s' is a schedule; expected a scenario", o->operand[0]);
    WEFT_TRY(weft_goal_load(o->operand[0], WEFT_NOWHERE, arena, &s, ret_error));
    return weft_cli_schedule(s, options, o, ret_error);
}

int weft_cli_goal(const struct weft_cli_command *command, const struct weft_cli_schedule *options, int argc,
                  char **argv) {
    struct weft_cli_options o;
    int exit_status = weft_cli_parse(command, argc, argv, &o);
    if (exit_status == WEFT_CLI_GO) {
        struct weft_error error = {0};
        exit_status = (int)show_schedule(&o, options, &error);
        if (error.status) weft_cli_fail(&error);
    }
    return exit_status;
}
