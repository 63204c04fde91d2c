// SPDX-License-Identifier: Apache-2.0
// Any bytes as a rank file: refused with a place, or ranks with names and numbers from the text.
#define _GNU_SOURCE // memmem
#include <assert.h>
#include <string.h>

#include "weft/placement.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct weft_rank_file file;
    struct weft_error error = {0};
    enum weft_status status = weft_rank_file_parse("ranks", (const char *)data, size, arena, &file, &error);
    assert(!status == !*error.text);
    if (status) assert(!strncmp(error.text, "ranks:", 6));
    for (uint32_t r = 0; !status && r < file.ranks; r++) {
        const struct weft_rank_line *line = &file.line[r];
        assert(*line->host && strlen(line->host) < 128 && (line->gpu < 1000000 || line->gpu == WEFT_NONE));
        assert(line->place.line > 0 && line->place.column > 0 && line->gpu_place.column > line->place.column);
        assert(memmem(data, size, line->host, strlen(line->host)));
    }
    weft_arena_free(arena);
    return 0;
}
