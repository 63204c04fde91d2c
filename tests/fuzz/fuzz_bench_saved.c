// SPDX-License-Identifier: Apache-2.0
// Figures for weft bench --compare: refused with a place, or numbers above 0 to divide by.
#define _GNU_SOURCE // memfd_create
#include <assert.h>
#include <string.h>

#include "bench.h"
#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *path = fuzz_file_put(data, size);
    struct weft_memory *memory = weft_memory_open(), *before = weft_memory_use(memory);
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct weft_bench_saved saved;
    struct weft_error error = {0};
    if (weft_bench_saved_read(path, "engine", "packet", arena, &saved, &error)) {
        assert(fuzz_file_is_named(error.text, error.line, path));
    } else {
        for (uint32_t i = 0; i < saved.runs; i++)
            assert(saved.run[i].hops_per_cpu_s > 0 && saved.run[i].wall_s > 0 && saved.run[i].hops > 0);
        weft_bench_saved_find(&saved, 1024, 1);
    }
    weft_arena_free(arena);
    weft_memory_use(before);
    weft_memory_close(memory);
    return 0;
}
