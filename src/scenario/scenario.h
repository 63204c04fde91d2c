// SPDX-License-Identifier: Apache-2.0
// The scenario file as it is read: one tree, variants and settings that override it.
#ifndef WEFT_SCENARIO_SCENARIO_H
#define WEFT_SCENARIO_SCENARIO_H

#include "weft/scenario.h"

struct weft_scenario_file {
    const char *path;
    const struct weft_tree *root; ///< without `variants`
    uint32_t variants;
    const struct weft_tree **variant; ///< NULL: overrides nothing
    const char **variant_name;
    uint32_t settings;
    const struct weft_tree **setting;
    struct weft_arena *arena;
};

/// The keys of the top level.
extern const struct weft_param_table weft__scenario_table;
struct weft__scenario_head {
    const char *name, *about;
};
/// The keys of an entry of `devices`.
extern const struct weft_param_table weft__device_table;
struct weft__device_head {
    const char *match;
};

#endif
