// SPDX-License-Identifier: Apache-2.0
// Any bytes as a scenario: text to tree, variants, settings, every section loaded, and every value listed again.
#include <assert.h>
#include <string.h>

#include "weft/claim.h"
#include "weft/scenario.h"

static void claim(const struct weft_scenario_file *file) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct weft_error error = {0};
    struct weft_claim *claims = NULL;
    uint32_t n;
    enum weft_status status = weft_claims_new(file, arena, &claims, &n, &error);
    assert(!status == !error.status);
    for (uint32_t i = 0; i < n; i++) {
        double *value = weft_arena_alloc(arena, claims[i].metrics, sizeof *value);
        weft_claim_holds(&claims[i], value);
        assert(weft_claim_filled(&claims[i], value, arena));
    }
    weft_arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { VARIANTS = 4 }; // no more of a file, or it takes too long

static void on_value(void *context, const char *path, const char *value, const char *dflt) {
    size_t *bytes = context;
    *bytes += strlen(path) + strlen(value);
}

static void bind(const struct weft_scenario_file *file, uint32_t variant) {
    struct weft_scenario *scenario = NULL;
    struct weft_error error = {0};
    enum weft_status status = weft_scenario_new(file, variant, &scenario, &error);
    assert(!status == !error.status && !status == !!scenario);
    assert(!status || *error.text);
    if (status) return;
    size_t bytes = 0;
    weft_scenario_each(scenario, on_value, &bytes);
    assert(bytes > 0);
    weft_scenario_free(scenario);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    // the part after the first zero byte is a setting
    const uint8_t *zero = memchr(data, 0, size);
    size_t text_size = zero ? (size_t)(zero - data) : size;
    char setting[256] = "";
    size_t setting_size = zero ? size - text_size - 1 : 0;
    if (setting_size >= sizeof setting) setting_size = sizeof setting - 1;
    if (setting_size) memcpy(setting, zero + 1, setting_size);
    const char *const settings[] = {setting};

    struct weft_memory *memory = weft_memory_open();
    weft_memory_use(memory);
    struct weft_scenario_file *file = NULL;
    struct weft_error error = {0};
    enum weft_status status =
        weft_scenario_file_parse("fuzz.yaml", (const char *)data, text_size, settings, *setting ? 1 : 0, &file, &error);
    assert(!status == !error.status && !status == !!file);
    for (uint32_t i = 0; !status && i < weft_scenario_variants(file) && i < VARIANTS; i++)
        bind(file, i);
    if (!status) claim(file);
    weft_scenario_file_free(file);
    assert(weft_memory_bytes(WEFT_MEMORY_SCENARIO) == 0);
    weft_memory_use(NULL);
    weft_memory_close(memory);
    return 0;
}
