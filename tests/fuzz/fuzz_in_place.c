// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file that a scenario names, FUZZ_SCENARIO with the path for %s: it is refused, or there are a network
// and flows. The scenario is parsed once; each simulation made of it reads the file again.
#define _GNU_SOURCE // memfd_create
#include <assert.h>
#include <string.h>

#include "fuzz_file.h"
#include "weft/memory.h"
#include "weft/weft.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct weft_scenario_file *scenario(const char *path) {
    struct weft_scenario_file *file = NULL;
    struct weft_error error = {0};
    char text[512];
    int n = snprintf(text, sizeof text, FUZZ_SCENARIO, path);
    assert(n > 0 && (size_t)n < sizeof text);
    enum weft_status status = weft_scenario_file_parse("fuzz.yaml", text, (size_t)n, NULL, 0, &file, &error);
    assert(!status && file);
    return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct weft_scenario_file *file;
    const char *path = fuzz_file_put(data, size);
    if (!file) file = scenario(path);
    struct weft_memory *memory = weft_memory_open(), *before = weft_memory_use(memory);
    struct weft_simulation *simulation = NULL;
    struct weft_error error = {0};
    enum weft_status status = weft_simulation_new(file, 0, &simulation, &error);
    assert(!status == !*error.text && !status == !!simulation);
    weft_simulation_free(simulation);
    weft_memory_use(before);
    weft_memory_close(memory);
    return 0;
}
