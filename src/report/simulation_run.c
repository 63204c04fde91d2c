// SPDX-License-Identifier: Apache-2.0
// A run and what it measured, as programs that use the library see it.
#include <stdlib.h>

#include "weft/report.h"

struct weft_result {
    struct weft_run run;
    struct weft_outcome *outcome;
};

enum weft_status weft_simulation_run(const struct weft_simulation *s, const struct weft_sim_options *options,
                                     struct weft_result **ret_result, struct weft_error *ret_error) {
    static const struct weft_sim_options none;
    struct weft_outcome *outcome = NULL;
    enum weft_status status =
        weft_simulate(s->scenario, s->topology, s->workload, options ? options : &none, &outcome, ret_error);
    *ret_result = outcome ? weft__result_new(s, outcome) : NULL;
    return status;
}

struct weft_result *weft__result_new(const struct weft_simulation *s, struct weft_outcome *outcome) {
    struct weft_result *result = weft_arena_alloc(outcome->arena, 1, sizeof *result);
    result->run = (struct weft_run){s->scenario, s->topology, s->workload, outcome, {0}};
    result->outcome = outcome;
    for (unsigned k = 0; k < WEFT_MEMORY_KINDS; k++)
        result->run.memory_bytes_max[k] = weft_memory_bytes_max(k);
    return result;
}

void weft_result_free(struct weft_result *result) {
    if (result) weft_outcome_free(result->outcome); // the result is in its arena
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

void weft_result_write_json(const struct weft_result *result, FILE *file) {
    weft_report_json(file, &result->run);
}

enum weft_status weft_result_write_sqlite(const struct weft_result *result, const char *dir,
                                          struct weft_error *ret_error) {
    return weft_report_sqlite(dir, &result->run, 1, ret_error);
}
