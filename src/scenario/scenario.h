// SPDX-License-Identifier: Apache-2.0
// The scenario file as read: one tree, with variants and settings that override it.
#pragma once

#include "weft/scenario.h"

/// A variant, belonging to a case if the file has cases.
struct weft__variant {
    const char *name, *case_name;
    const struct weft_tree *root; ///< the file with the case's overrides, without `cases` and `variants`
    const struct weft_tree *over; ///< NULL: it overrides nothing
};

struct weft_scenario_file {
    const char *path;
    struct weft__variant *variant;
    uint32_t variants;
    bool based;                     ///< it names a base
    const struct weft_tree *claims; ///< NULL: none
    const struct weft_tree *sweep;  ///< likewise
    uint32_t settings;
    const struct weft_tree **setting;
    struct weft_texts read;                    ///< everything it was read from
    const struct weft_scenario_source *stored; ///< to be read instead of files; NULL: files are read
    uint32_t n_stored;
    bool is_stored;         ///< it was read from results
    const char **may_write; ///< paths below which the user allows files that the scenario names
    uint32_t may_writes;
    struct weft_arena *arena;
    struct weft_memory *own; ///< the memory that holds the arena; NULL: the caller's
};

/// The keys of the top level.
extern const struct weft_param_table weft__scenario_table;
struct weft__scenario_head {
    const char *name, *about;
    uint32_t hardware; ///< enum weft__hardware_words
};
enum weft__hardware_words { WEFT__HARDWARE_TYPICAL, WEFT__HARDWARE_IDEAL };
/// The keys of an entry of `devices`.
extern const struct weft_param_table weft__device_table;
struct weft__device_head {
    const char *match;
};

/// The sections that an entry of `devices`, or the top level, may have for boxes: one each, and dcbx.
enum {
#define WEFT_BOX(kind, name, box) WEFT__SECTION_##box,
#define WEFT_BOX_TOO(kind, name, box)
#include "weft/boxes.def"
    WEFT__SECTION_DCBX,
    WEFT__DEVICE_SECTIONS
};
extern const char *const weft__device_sections[]; ///< their names, and NULL
const struct weft_param_table *weft__device_section_table(uint32_t section);
void *weft__device_section_conf(const struct weft_device_conf *device, uint32_t section);

/// Reads a file of the scenario, from the stored ones if there are any, and keeps its text.
enum weft_status weft__scenario_read(struct weft_scenario_file *file, const char *path, struct weft_tree **ret_root,
                                     struct weft_error *ret_error);
/// Lays `root` over the file that it names as its base (relative to the file's path), recursively; `root` itself if it
/// names none.
enum weft_status weft__scenario_on_base(struct weft_scenario_file *file, const struct weft_tree *root,
                                        const struct weft_tree **ret_root, struct weft_error *ret_error);
/// Lays `over` over `base`, both scenario files; names of cases and variants are not paths.
enum weft_status weft__scenario_over(const struct weft_tree *base, const struct weft_tree *over,
                                     struct weft_arena *arena, const struct weft_tree **ret_root,
                                     struct weft_error *ret_error);
struct weft__mistakes;
/// The section `live`; `tree` NULL: there is none, and no host is attached.
enum weft_status weft__live_load(const struct weft_tree *tree, struct weft_live_conf *live, struct weft_arena *arena,
                                 struct weft__mistakes *mistakes, struct weft_error *ret_error);
/// The map without one of its keys.
const struct weft_tree *weft__tree_without(const struct weft_tree *map, const char *key, struct weft_arena *arena);
