// SPDX-License-Identifier: Apache-2.0
// `base: FILE`: a scenario that says only what differs from another one.
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "scenario/scenario.h"

enum { BASES_MAX = 8 }; ///< a file that is its own base ends here too

const struct weft_tree *weft__tree_without(const struct weft_tree *map, const char *key, struct weft_arena *arena) {
    struct weft_tree *copy = weft_arena_alloc(arena, 1, sizeof *copy);
    *copy = *map;
    copy->n = 0;
    copy->child = weft_arena_alloc(arena, map->n, sizeof *copy->child);
    for (uint32_t i = 0; i < map->n; i++)
        if (strcmp(map->child[i]->key, key)) copy->child[copy->n++] = map->child[i];
    return copy;
}

/// `name` as seen from the folder of `path`.
static const char *beside(const char *path, const char *name, struct weft_arena *arena) {
    const char *slash = strrchr(path, '/');
    if (*name == '/' || !slash) return name;
    return weft_arena_format(arena, "%.*s/%s", (int)(slash - path), path, name);
}

static enum weft_status on_base(const char *path, const struct weft_tree *root, uint32_t depth,
                                struct weft_arena *arena, const struct weft_tree **ret_root, struct weft_error *error) {
    const struct weft_tree *base = weft_tree_find(root, "base");
    *ret_root = root;
    if (!base) return WEFT_OK;
    if (base->type != WEFT_TREE_TEXT || !*base->text || !strcmp(base->text, "-"))
        return weft_error_set(error, WEFT_ERROR_INPUT, base->place, "base: expected the name of a scenario file");
    if (depth == BASES_MAX)
        return weft_error_set(error, WEFT_ERROR_INPUT, base->place, "base: more than %d files one on the other",
                              BASES_MAX);
    path = beside(path, base->text, arena);
    struct weft_tree *below, *merged;
    const struct weft_tree *ground;
    if (access(path, R_OK))
        return weft_error_set(error, WEFT_ERROR_INPUT, base->place, "base: cannot read '%.200s': %s", path,
                              strerror(errno));
    enum weft_status status = weft_tree_read(path, arena, &below, error);
    if (!status && below->type != WEFT_TREE_MAP)
        status = weft_error_set(error, WEFT_ERROR_INPUT, below->place, "expected a scenario");
    if (!status) status = on_base(path, below, depth + 1, arena, &ground, error);
    if (!status) status = weft_tree_override(ground, weft__tree_without(root, "base", arena), arena, &merged, error);
    if (!status) *ret_root = merged;
    return status;
}

enum weft_status weft__scenario_on_base(const char *path, const struct weft_tree *root, struct weft_arena *arena,
                                        const struct weft_tree **ret_root, struct weft_error *ret_error) {
    return on_base(path, root, 0, arena, ret_root, ret_error);
}
