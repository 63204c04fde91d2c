// SPDX-License-Identifier: Apache-2.0
// Models by name, with parameters as a user would write them.
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "weft/collective.h"
#include "weft/model.h"
#include "weft/param.h"
#include "weft/param_load.h"

/// Configuration of `model` from YAML text ("{iterations: 4}"; "{}" or NULL: all defaults). Free with free(); what it
/// points to, such as the configuration of another model, lasts as long as the program.
static inline void *conf_of(const struct weft_model *model, const char *yaml) {
    static struct weft_arena *arena;
    if (!arena) arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct weft_error error = {0};
    struct weft_tree *tree = NULL;
    void *conf = calloc(1, model->params->conf_size);
    if (yaml && weft_tree_parse("test", yaml, strlen(yaml), arena, &tree, &error)) fail_msg("%s", error.text);
    if (weft_params_load(model->params, tree, conf, arena, &error)) fail_msg("%s: %s", model->name, error.text);
    return conf;
}

static inline const struct weft_model *model_of(enum weft_model_kind kind, const char *name) {
    const struct weft_model *model = weft_model_find(kind, name);
    if (!model) fail_msg("no model %s %s", weft_kind_name(kind), name);
    return model;
}

/// For every model of a kind: its defaults, and whatever `test` asserts.
static inline void each_model(enum weft_model_kind kind,
                              void (*test)(const struct weft_model *model, const void *conf)) {
    assert_true(weft_model_count(kind) > 0);
    for (uint32_t i = 0; i < weft_model_count(kind); i++) {
        const struct weft_model *model = weft_model_at(kind, i);
        void *conf = conf_of(model, NULL);
        test(model, conf);
        free(conf);
    }
}

/// Collectives for any number of ranks: all but those whose steps are in a file.
static inline const struct weft_model *general_collective(uint32_t number) {
    for (uint32_t i = 0; i < weft_model_count(WEFT_KIND_COLLECTIVE); i++) {
        const struct weft_model *model = weft_model_at(WEFT_KIND_COLLECTIVE, i);
        if (!((const struct weft_collective_ops *)model->ops)->load && !number--) return model;
    }
    return NULL;
}
static inline uint32_t general_collectives(void) {
    uint32_t n = 0;
    while (general_collective(n))
        n++;
    return n;
}
