// SPDX-License-Identifier: Apache-2.0
// An estimate for programs that use the library.
#include "base/json.h"
#include "weft/estimate.h"
#include "weft/memory.h"

struct asked {
    const struct weft_simulation *simulation;
    struct weft_estimate_options options;
    FILE *file;
};

static enum weft_status write_estimate(void *context, struct weft_error *ret_error) {
    const struct asked *a = context;
    const struct weft_simulation *s = a->simulation;
    struct weft_estimate *e = NULL;
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    enum weft_status status =
        weft_estimate_run(s->scenario, s->topology, s->workload, &a->options, arena, &e, ret_error);
    if (status) return status;
    struct weft__json j = {.file = a->file};
    weft_answer_json(&j, &weft__answer_estimate, e);
    putc('\n', a->file);
    weft_estimate_free(e);
    if (!ferror(a->file)) return WEFT_OK;
    return weft_error_set(ret_error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE, "the estimate cannot be written");
}

enum weft_status weft_simulation_estimate(const struct weft_simulation *simulation, const char *calibration, FILE *file,
                                          struct weft_error *ret_error) {
    struct asked asked = {simulation, {.calibration = calibration}, file};
    struct weft_memory *memory = NULL;
    enum weft_status status = weft_memory_enter(&memory, write_estimate, &asked, ret_error);
    weft_memory_close(memory);
    return status;
}
