// SPDX-License-Identifier: Apache-2.0
// Any lines as settings of the command line (--set): refused, or sections that can be loaded.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "weft/scenario.h"
#include "weft/weft.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char base[] = "topology: {kind: single, hosts: 3}\n"
                           "workload: [{kind: flow, src: host-0, dst: host-1, size: 1KB}]\n"
                           "switch: {pfc: {priorities: [3, 4]}, scheduler: dwrr}\n"
                           "variants: {a: {host.cc: dcqcn}, b: {}}\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct weft_scenario_file *file = NULL;
    struct weft_error error = {0};
    if (weft_scenario_file_parse("s", base, sizeof base - 1, NULL, 0, &file, &error)) abort();
    for (const uint8_t *at = data, *end = data + size; at < end;) {
        char setting[256];
        const uint8_t *line = memchr(at, '\n', (size_t)(end - at));
        size_t n = (size_t)((line ? line : end) - at), kept = n < sizeof setting - 1 ? n : sizeof setting - 1;
        memcpy(setting, at, kept);
        setting[kept] = 0;
        at += n + (line != NULL);
        error = (struct weft_error){0};
        assert(!weft_scenario_file_set(file, setting, &error) == !*error.text);
    }
    for (uint32_t v = 0; v < weft_scenario_variants(file); v++) {
        struct weft_scenario *scenario = NULL;
        error = (struct weft_error){0};
        assert(!weft_scenario_new(file, v, &scenario, &error) == !*error.text);
        if (scenario) weft_scenario_free(scenario);
    }
    weft_scenario_file_free(file);
    return 0;
}
