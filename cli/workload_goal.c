// SPDX-License-Identifier: Apache-2.0
// weft workload on a schedule, from a GOAL file or made from a scenario: its content, when each rank ends under
// LogGOPS, and its form in GOAL.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "simulation.h"
#include "weft/goal.h"
#include "workload.h"

#include "base/json.h"
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
    struct weft_loggops_result result;
};

/// Nanoseconds, with decimals if it has any.
static void print_ns(weft_time_ps time) {
    printf("%" PRIu64, time / 1000);
    if (time % 1000) printf(".%03" PRIu64, time % 1000);
}

static void print_text(const struct view *v) {
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

static void print_json(const struct view *v) {
    struct weft__json j = {.file = stdout};
    weft__json_begin_object(&j);
    weft__json_key_string(&j, "schedule", v->s->file);
    weft__json_key_u64(&j, "ranks", v->s->ranks);
    weft__json_key_u64(&j, "steps", v->s->steps);
    weft__json_key_u64(&j, "dependencies", v->s->edges);
    weft__json_key_u64(&j, "nics", v->s->nics);
    weft__json_key_u64(&j, "messages", v->s->messages);
    weft__json_key_u64(&j, "bytes", v->s->bytes);
    if (v->options->loggops) {
        weft__json_key_u64(&j, "end_ps", v->result.most_ps);
        weft__json_key(&j, "rank_end_ps");
        weft__json_begin_array(&j);
        for (uint32_t r = 0; r < v->s->ranks; r++)
            weft__json_u64(&j, v->result.end_ps[r]);
        weft__json_end_array(&j);
    }
    weft__json_end_object(&j);
    putchar('\n');
}

static void write_goal(FILE *file, const void *schedule) {
    weft_goal_write(file, schedule);
}

enum weft_status weft_cli_schedule(const struct weft_schedule *s, const struct weft_cli_schedule *options,
                                   const struct weft_cli_options *o, struct weft_error *ret_error) {
    struct view v = {.options = options, .s = s};
    struct weft_loggops model;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    enum weft_status status = WEFT_OK;
    if (options->goal) status = weft_cli_can_write_file("--goal", options->goal, o, ret_error);
    if (!status && options->loggops)
        status = weft_loggops_parse(options->loggops, (struct weft_place){.file = "--loggops"}, &model, ret_error);
    if (!status && options->loggops) status = weft_loggops_run(s, &model, arena, &v.result, ret_error);
    if (!status && options->goal) status = weft_cli_replace_file(options->goal, write_goal, s, ret_error);
    if (!status) (o->json ? print_json : print_text)(&v);
    weft_arena_free(arena);
    return status;
}

static enum weft_status show_schedule(const struct weft_cli_options *o, const struct weft_cli_schedule *options,
                                      struct weft_error *ret_error) {
    struct weft_schedule *s = NULL;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    enum weft_status status = WEFT_OK;
    if (o->settings || o->variant)
        status = weft_error_set(ret_error, WEFT_ERROR_INPUT,
                                (struct weft_place){.file = o->settings ? "--set" : "--variant"},
                                "'%s' is a schedule; expected a scenario", o->operand[0]);
    if (!status && options->chakra)
        status = weft_error_set(ret_error, WEFT_ERROR_INPUT, (struct weft_place){.file = "--chakra"},
                                "'%s' is a schedule; expected a scenario", o->operand[0]);
    if (!status) status = weft_goal_load(o->operand[0], WEFT_NOWHERE, arena, &s, ret_error);
    if (!status) status = weft_cli_schedule(s, options, o, ret_error);
    weft_arena_free(arena);
    return status;
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
    weft_cli_options_deinit(&o);
    return exit_status;
}
