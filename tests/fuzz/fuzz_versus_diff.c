// SPDX-License-Identifier: Apache-2.0
// Older answers for weft versus --diff: refused with a place, or compared with one of today.
#define _GNU_SOURCE // memfd_create
#include <assert.h>
#include <string.h>

#include "fuzz_file.h"
#include "versus.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void compare(const struct weft_tree *old) {
    static FILE *null;
    if (!null) null = fopen("/dev/null", "w");
    struct weft_versus_scale scale[] = {{64, 0, 2, WEFT_NONE}, {128, 2, 2, WEFT_NONE}};
    struct weft_versus_fabric fabric[] = {{.name = "ideal", .label = "ideal"},
                                          {.name = "star", .label = "star", .bill = {.chips = 8}},
                                          {.name = "ideal", .label = "ideal"},
                                          {.name = "star", .label = "star", .bill = {.chips = 16}}};
    struct weft_versus_case cases[] = {{.name = "job"}, {.name = "incast"}};
    for (uint32_t scales = 1; scales <= 2; scales++) {
        struct weft_versus v = {.scale = scale,
                                .scales = scales,
                                .hosts = scale->hosts,
                                .rate_bps = UINT64_C(400000000000),
                                .fabric = fabric,
                                .cases = cases,
                                .fabrics = 2 * scales,
                                .n_cases = 2,
                                .n_all = 2,
                                .ruler = WEFT_NONE};
        struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
        uint32_t n;
        const struct weft_versus_change *change = versus_changes(&v, old, arena, &n);
        for (uint32_t i = 0; i < n; i++)
            versus_change_print(null, &change[i]);
        weft_arena_free(arena);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *path = fuzz_file_put(data, size);
    struct weft_memory *memory = weft_memory_open(), *before = weft_memory_use(memory);
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    const struct weft_tree *old = NULL;
    struct weft_error error = {0};
    if (versus_old_read(path, arena, &old, &error))
        assert(fuzz_file_is_named(error.text, error.line, path));
    else
        compare(old);
    weft_arena_free(arena);
    weft_memory_use(before);
    weft_memory_close(memory);
    return 0;
}
