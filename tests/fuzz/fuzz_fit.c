// SPDX-License-Identifier: Apache-2.0
// Any bytes as a table of measured times: refused, or rows with sizes and times that could have been measured.
#define _GNU_SOURCE
#include <assert.h>

#include "fit/fit.h"
#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct weft_fit fit = {.arena = arena};
    struct weft_error error = {0};
    const struct weft_fit_conf conf = {0};
    enum weft_status status = weft__fit_read(&conf, fuzz_file_put(data, size), &fit, &error);
    assert(!status == !*error.text);
    if (!status) status = weft__fit_sort_out(&conf, &fit, &error);
    assert(!status == !*error.text);
    for (uint32_t i = 0; i < fit.rows && !status; i++)
        assert(fit.row[i].bytes && fit.row[i].measured_us > 0 && fit.row[i].line && fit.row[i].collective);
    weft_arena_free(arena);
    return 0;
}
