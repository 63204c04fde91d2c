// SPDX-License-Identifier: Apache-2.0
// A run and its measurements, for programs that use the library.
#include <stdlib.h>

#include "weft/report.h"

struct weft_result {
    struct weft_run run;
    struct weft_outcome *outcome;
    struct weft_memory *own; ///< holds all of it; NULL: the caller's
};

struct order {
    const struct weft_simulation *simulation;
    const struct weft_sim_options *options;
    struct weft_result *result;
};

static enum weft_status run_order(void *context, struct weft_error *ret_error) {
    static const struct weft_sim_options none;
    struct order *order = context;
    const struct weft_simulation *s = order->simulation;
    struct weft_outcome *outcome = NULL;
    enum weft_status status = weft_simulate(s->scenario, s->topology, s->workload,
                                            order->options ? order->options : &none, &outcome, ret_error);
    if (outcome) order->result = weft__result_new(s, s->workload, outcome);
    return status;
}

enum weft_status weft_simulation_run(const struct weft_simulation *s, const struct weft_sim_options *options,
                                     struct weft_result **ret_result, struct weft_error *ret_error) {
    struct order order = {s, options, NULL};
    struct weft_memory *memory = NULL;
    enum weft_status status = weft_memory_enter(&memory, run_order, &order, ret_error);
    *ret_result = order.result;
    if (order.result)
        order.result->own = memory;
    else
        weft_memory_close(memory);
    return status;
}

struct weft_result *weft__result_new(const struct weft_simulation *s, const struct weft_workload *workload,
                                     struct weft_outcome *outcome) {
    struct weft_result *result = weft_arena_alloc(outcome->arena, 1, sizeof *result);
    result->run =
        (struct weft_run){.scenario = s->scenario, .topology = s->topology, .workload = workload, .outcome = outcome};
    result->outcome = outcome;
    for (unsigned k = 0; k < WEFT_MEMORY_KINDS; k++)
        result->run.memory_bytes_max[k] = weft_memory_bytes_max(k) + weft_memory_held(s->own, k);
    return result;
}

const struct weft_run *weft__result_run(const struct weft_result *result) {
    return &result->run;
}

void weft__result_own(struct weft_result *result, struct weft_memory *memory) {
    result->own = memory;
}

void weft_result_free(struct weft_result *result) {
    if (!result) return;
    struct weft_memory *own = result->own;
    weft_outcome_free(result->outcome); // the result is in its arena
    weft_memory_close(own);
}

uint64_t weft_result_digest(const struct weft_result *result) {
    return result->outcome->digest;
}

weft_time_ps weft_result_sim_time(const struct weft_result *result) {
    return result->outcome->sim_time_ps;
}

const char *weft_result_stall(const struct weft_result *result) {
    return result->outcome->stall;
}

/// A result to be written to a file or into a folder.
struct writing {
    const struct weft_run *run;
    FILE *file;
    const char *dir;
};

static enum weft_status write_json(void *context, struct weft_error *ret_error) {
    const struct writing *w = context;
    weft_report_json(w->file, w->run);
    if (!ferror(w->file)) return WEFT_OK;
    return weft_error_set(ret_error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE, "the result cannot be written");
}

static enum weft_status write_sqlite(void *context, struct weft_error *ret_error) {
    const struct writing *w = context;
    return weft_report_sqlite(w->dir, w->run, 1, ret_error);
}

/// Memory allocated meanwhile is freed at the end, because several threads may read a result.
static enum weft_status enter_memory(enum weft_status (*write)(void *context, struct weft_error *ret_error),
                                     struct writing *writing, struct weft_error *ret_error) {
    struct weft_memory *memory = NULL;
    enum weft_status status = weft_memory_enter(&memory, write, writing, ret_error);
    weft_memory_close(memory);
    return status;
}

enum weft_status weft_result_write_json(const struct weft_result *result, FILE *file, struct weft_error *ret_error) {
    return enter_memory(write_json, &(struct writing){.run = &result->run, .file = file}, ret_error);
}

enum weft_status weft_result_write_sqlite(const struct weft_result *result, const char *dir,
                                          struct weft_error *ret_error) {
    return enter_memory(write_sqlite, &(struct writing){.run = &result->run, .dir = dir}, ret_error);
}
