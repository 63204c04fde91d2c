// SPDX-License-Identifier: Apache-2.0
// Any bytes as a Chakra trace, or as a file or text of process groups: refused with a place, or a schedule that can be
// executed.
#define _GNU_SOURCE // memfd_create
#include <assert.h>
#include <string.h>

#include "fuzz_file.h"
#include "import/chakra/chakra.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_groups(const char *path, const uint8_t *data, size_t size, struct weft_arena *arena) {
    struct weft__chakra_groups g;
    struct weft_error error = {0};
    uint32_t ranks;
    char *text = weft_arena_alloc(arena, size + 1, 1);
    memcpy(text, data, size);
    weft__chakra_groups_init(&g, arena);
    g.ranks = 8;
    enum weft_status status = weft__chakra_groups_read(&g, path, WEFT_NOWHERE, &ranks, &error);
    assert(!status == !*error.text);
    weft__chakra_groups_parse(&g, text, &ranks);
    for (uint32_t i = 0, groups = g.groups; i < groups; i++)
        weft__chakra_group_like(&g, i, g.group[i].rank[0], 5, NULL, 0);
    weft__chakra_groups_deinit(&g);
}

static void read_trace(const char *path, struct weft_arena *arena) {
    struct weft__chakra_conf conf = {
        .groups = "", .ranks = 4, .reuse = true, .ctrl_deps = true, .cpu_ops = true, .tflops = 100};
    struct weft__chakra_facts facts;
    struct weft_schedule *s;
    struct weft_error error = {0};
    enum weft_status status = weft__chakra_load(path, &conf, WEFT_NOWHERE, arena, &s, &facts, &error);
    assert(!status == !*error.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *path = fuzz_file_put(data, size);
    struct weft_memory *memory = weft_memory_open(), *before = weft_memory_use(memory);
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    if (size && (*data == '{' || *data == '['))
        read_groups(path, data, size, arena);
    else
        read_trace(path, arena);
    weft_memory_use(before);
    weft_memory_close(memory);
    return 0;
}
