// SPDX-License-Identifier: Apache-2.0
// The measurements of a run, for programs that use the library.
#include "weft/report.h"

struct weft_result {
    struct weft_run run;
    struct weft_outcome *outcome;
    struct weft_memory *own; ///< holds all of it; NULL: the caller's
};

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
