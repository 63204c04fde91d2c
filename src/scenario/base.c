// SPDX-License-Identifier: Apache-2.0
// `base: FILE`: a scenario that contains only what differs from another one.
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/param.h"
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

/// A map like this one, with the child of that key, if there is one, replaced by `child`.
static const struct weft_tree *with_child(const struct weft_tree *map, const char *key, const struct weft_tree *child,
                                          struct weft_arena *arena) {
    struct weft_tree *copy = weft_arena_alloc(arena, 1, sizeof *copy), *own = weft_arena_alloc(arena, 1, sizeof *own);
    uint32_t at = 0;
    while (at < map->n && strcmp(map->child[at]->key, key))
        at++;
    *own = *child;
    own->key = key;
    *copy = *map;
    copy->n = at == map->n ? map->n + 1 : map->n;
    copy->child = weft_arena_alloc(arena, copy->n, sizeof *copy->child);
    for (uint32_t i = 0; i < map->n; i++)
        copy->child[i] = map->child[i];
    copy->child[at] = own;
    return copy;
}

/// Lays the children of `over` over those of the same name; names are not paths: "2.1" is one.
static enum weft_status over_by_name(const struct weft_tree *base, const struct weft_tree *over,
                                     struct weft_arena *arena, const struct weft_tree **ret_map,
                                     struct weft_error *error) {
    *ret_map = over;
    if (!base || base->type != WEFT_TREE_MAP || over->type != WEFT_TREE_MAP) return WEFT_OK;
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < over->n && !status; i++) {
        const struct weft_tree *child = over->child[i], *below = weft_tree_find(base, child->key);
        struct weft_tree *merged = over->child[i];
        if (below && child->type == WEFT_TREE_MAP) status = weft_tree_override(below, child, arena, &merged, error);
        if (!status && !(below && child->type == WEFT_TREE_NULL)) base = with_child(base, child->key, merged, arena);
    }
    *ret_map = base;
    return status;
}

/// Lays a section `sweep` over another; axes are named by paths.
static enum weft_status sweep_over(const struct weft_tree *base, const struct weft_tree *over, struct weft_arena *arena,
                                   const struct weft_tree **ret_sweep, struct weft_error *error) {
    const struct weft_tree *vary = weft_tree_find(over, "vary");
    if (!vary) return over_by_name(base, over, arena, ret_sweep, error);
    WEFT_TRY(over_by_name(weft_tree_find(base, "vary"), vary, arena, &vary, error));
    WEFT_TRY(over_by_name(base, weft__tree_without(over, "vary", arena), arena, ret_sweep, error));
    *ret_sweep = with_child(*ret_sweep, "vary", vary, arena);
    return WEFT_OK;
}

enum weft_status weft__scenario_over(const struct weft_tree *base, const struct weft_tree *over,
                                     struct weft_arena *arena, const struct weft_tree **ret_root,
                                     struct weft_error *error) {
    static const char *const named[] = {"cases", "variants", "sweep"};
    enum { NAMED = sizeof named / sizeof *named };
    const struct weft_tree *plain = over;
    for (uint32_t i = 0; i < NAMED; i++)
        plain = weft__tree_without(plain, named[i], arena);
    struct weft_tree *merged;
    WEFT_TRY(weft_tree_override(base, plain, arena, &merged, error));
    const struct weft_tree *root = merged;
    for (uint32_t i = 0; i < NAMED; i++) {
        const struct weft_tree *map = weft_tree_find(over, named[i]);
        if (!map) continue;
        bool sweep = !strcmp(named[i], "sweep");
        WEFT_TRY((sweep ? sweep_over : over_by_name)(weft_tree_find(root, named[i]), map, arena, &map, error));
        root = with_child(root, named[i], map, arena);
    }
    *ret_root = root;
    return WEFT_OK;
}

/// `name` as seen from the folder of `path`.
static const char *path_beside(const char *path, const char *name, struct weft_arena *arena) {
    const char *slash = strrchr(path, '/');
    if (*name == '/' || !slash) return name;
    return weft_arena_format(arena, "%.*s/%s", (int)(slash - path), path, name);
}

/// A name without a dot or a folder may have been meant as a blueprint's.
static enum weft_status refuse_base(const struct weft_tree *base, const char *path, struct weft_arena *arena,
                                    struct weft_error *error) {
    char why[128], expected[700] = "";
    snprintf(why, sizeof why, "%s", strerror(errno));
    uint32_t n = weft_blueprint_count();
    const char **name = weft_arena_alloc(arena, n, sizeof *name);
    for (uint32_t i = 0; i < n; i++)
        name[i] = weft_blueprint_at(i)->name;
    if (!strpbrk(base->text, "./")) weft__names_expected(base->text, name, n, expected, sizeof expected);
    return WEFT_REFUSE(error, base->place, "base: cannot read '%.200s': %s%s%s", path, why, *expected ? "; " : "",
                       expected);
}

static enum weft_status on_base(struct weft_scenario_file *file, const char *path, const struct weft_tree *root,
                                uint32_t depth, const struct weft_tree **ret_root, struct weft_error *error) {
    struct weft_arena *arena = file->arena;
    const struct weft_tree *base = weft_tree_find(root, "base");
    *ret_root = root;
    if (!base) return WEFT_OK;
    if (base->type != WEFT_TREE_TEXT || !*base->text || !strcmp(base->text, "-"))
        return WEFT_REFUSE(error, base->place, "base: expected the name of a scenario file or of a blueprint");
    if (depth == BASES_MAX)
        return WEFT_REFUSE(error, base->place, "base: more than %d files based on one another", BASES_MAX);
    const struct weft_blueprint *blueprint = weft_blueprint_find(base->text);
    path = blueprint ? blueprint->name : path_beside(path, base->text, arena);
    struct weft_tree *below;
    const struct weft_tree *ground;
    if (!file->stored && !blueprint && access(path, R_OK)) return refuse_base(base, path, arena, error);
    WEFT_TRY(weft__scenario_read(file, path, &below, error));
    if (below->type != WEFT_TREE_MAP) return WEFT_REFUSE(error, below->place, "expected a scenario");
    WEFT_TRY(on_base(file, path, below, depth + 1, &ground, error));
    return weft__scenario_over(ground, weft__tree_without(root, "base", arena), arena, ret_root, error);
}

enum weft_status weft__scenario_on_base(struct weft_scenario_file *file, const struct weft_tree *root,
                                        const struct weft_tree **ret_root, struct weft_error *ret_error) {
    return on_base(file, file->path, root, 0, ret_root, ret_error);
}
