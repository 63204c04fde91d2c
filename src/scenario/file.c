// SPDX-License-Identifier: Apache-2.0
// Reading a scenario file: the text, its variants, and the settings of the command line.
#include <string.h>

#include "base/tree.h"
#include "scenario/scenario.h"

/// "path=value" as a map of one dotted key; errors in it say "--set path=value: ...".
static enum weft_status read_setting(struct weft_scenario_file *file, const char *setting,
                                     const struct weft_tree **ret_over, struct weft_error *ret_error) {
    struct weft_arena *arena = file->arena;
    const char *name = weft_arena_format(arena, "--set %s", setting), *equals = strchr(setting, '=');
    struct weft_place place = {.file = name};
    if (!equals || equals == setting)
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, place, "expected path=value, such as host.cc=dcqcn");
    struct weft_tree *value;
    enum weft_status status = weft__tree_parse_value(name, equals + 1, arena, &value, ret_error);
    if (status) return status;
    value->key = weft_arena_format(arena, "%.*s", (int)(equals - setting), setting);
    value->key_place = place;
    struct weft_tree *map = weft_arena_alloc(arena, 1, sizeof *map);
    *map = (struct weft_tree){.type = WEFT_TREE_MAP, .place = place, .n = 1};
    map->child = weft_arena_alloc(arena, 1, sizeof *map->child);
    map->child[0] = value;
    *ret_over = map;
    return WEFT_OK;
}

static enum weft_status read_variants(struct weft_scenario_file *file, const struct weft_tree *variants,
                                      struct weft_error *ret_error) {
    uint32_t n = variants ? variants->n : 0;
    if (variants && variants->type != WEFT_TREE_NULL && (variants->type != WEFT_TREE_MAP || !n))
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, variants->place,
                              "variants: expected a map of names, each with what it overrides");
    file->variants = n ? n : 1;
    file->variant = weft_arena_alloc(file->arena, file->variants, sizeof(struct weft_tree *));
    file->variant_name = weft_arena_alloc(file->arena, file->variants, sizeof(char *));
    file->variant_name[0] = "";
    for (uint32_t i = 0; i < n; i++) {
        const struct weft_tree *variant = variants->child[i];
        file->variant_name[i] = variant->key;
        if (variant->type == WEFT_TREE_NULL) continue;
        if (variant->type != WEFT_TREE_MAP)
            return weft_error_set(ret_error, WEFT_ERROR_INPUT, variant->place,
                                  "variants.%.80s: expected a map of paths and values, such as {host.cc: dcqcn}",
                                  variant->key);
        file->variant[i] = variant;
    }
    return WEFT_OK;
}

static const struct weft_tree *without(const struct weft_tree *map, const char *key, struct weft_arena *arena) {
    struct weft_tree *copy = weft_arena_alloc(arena, 1, sizeof *copy);
    *copy = *map;
    copy->n = 0;
    copy->child = weft_arena_alloc(arena, map->n, sizeof *copy->child);
    for (uint32_t i = 0; i < map->n; i++)
        if (strcmp(map->child[i]->key, key)) copy->child[copy->n++] = map->child[i];
    return copy;
}

static enum weft_status fill(struct weft_scenario_file *file, const struct weft_tree *root, const char *const *settings,
                             uint32_t n_settings, struct weft_error *ret_error) {
    if (root->type != WEFT_TREE_MAP)
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, root->place,
                              "expected a scenario: a map with topology, workload, ...");
    enum weft_status status = read_variants(file, weft_tree_find(root, "variants"), ret_error);
    file->root = without(root, "variants", file->arena);
    file->settings = n_settings;
    file->setting = weft_arena_alloc(file->arena, n_settings, sizeof(struct weft_tree *));
    for (uint32_t i = 0; i < n_settings && !status; i++)
        status = read_setting(file, settings[i], &file->setting[i], ret_error);
    return status;
}

static struct weft_scenario_file *file_new(const char *path) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct weft_scenario_file *file = weft_arena_alloc(arena, 1, sizeof *file);
    file->arena = arena;
    file->path = weft_arena_text(arena, path);
    return file;
}

/// What both readers end with, after the text has become `root` or has failed to.
static enum weft_status finish(struct weft_scenario_file *file, enum weft_status status, const struct weft_tree *root,
                               const char *const *settings, uint32_t n_settings, struct weft_scenario_file **ret_file,
                               struct weft_error *ret_error) {
    if (!status) status = fill(file, root, settings, n_settings, ret_error);
    if (status)
        weft_scenario_file_free(file);
    else
        *ret_file = file;
    return status;
}

enum weft_status weft_scenario_file_read(const char *path, const char *const *settings, uint32_t n_settings,
                                         struct weft_scenario_file **ret_file, struct weft_error *ret_error) {
    struct weft_scenario_file *file = file_new(path);
    struct weft_tree *root = NULL;
    enum weft_status status = weft_tree_read(path, file->arena, &root, ret_error);
    return finish(file, status, root, settings, n_settings, ret_file, ret_error);
}

enum weft_status weft_scenario_file_parse(const char *name, const char *text, size_t size, const char *const *settings,
                                          uint32_t n_settings, struct weft_scenario_file **ret_file,
                                          struct weft_error *ret_error) {
    struct weft_scenario_file *file = file_new(name);
    struct weft_tree *root = NULL;
    enum weft_status status = weft_tree_parse(name, text, size, file->arena, &root, ret_error);
    return finish(file, status, root, settings, n_settings, ret_file, ret_error);
}

void weft_scenario_file_free(struct weft_scenario_file *file) {
    if (file) weft_arena_free(file->arena); // the file is in it
}

uint32_t weft_scenario_variants(const struct weft_scenario_file *file) {
    return file->variants;
}

const char *weft_scenario_variant_name(const struct weft_scenario_file *file, uint32_t i) {
    return file->variant_name[i];
}
