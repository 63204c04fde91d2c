// SPDX-License-Identifier: Apache-2.0
// Several files as one infrastructure: their lists are joined, so one may define the devices of another.
// Keysight/infragraph keeps devices in separate files (yaml/, examples/), some of which contain only a device.
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "base/grow.h"
#include "base/lines.h"
#include "base/stream.h"
#include "import/infragraph/infragraph_read.h"

static void append_child(struct weft_arena *arena, struct weft_tree *parent, struct weft_tree *child) {
    WEFT__ADD(arena, parent->child, parent->n) = child;
}

/// A copy to append to, because trees are not changed once made; it has the same children.
static struct weft_tree *copy_tree(struct weft_arena *arena, const struct weft_tree *tree) {
    struct weft_tree *t = weft_arena_alloc(arena, 1, sizeof *t);
    *t = (struct weft_tree){tree->type, tree->place, tree->key_place, tree->key, tree->text, 0, NULL, false};
    for (uint32_t i = 0; i < tree->n; i++)
        append_child(arena, t, tree->child[i]);
    return t;
}

/// The content of a file: an infrastructure, within a key of that name or not. A single device becomes the only one of
/// an infrastructure.
static const struct weft_tree *unwrap_file(struct weft_arena *arena, struct weft_tree *root) {
    const struct weft_tree *inner = weft_tree_find(root, "infrastructure");
    if (inner) return inner;
    if (!weft_tree_find(root, "components") || weft_tree_find(root, "devices")) return root;
    struct weft_tree *map = weft_arena_alloc(arena, 1, sizeof *map), *list = weft_arena_alloc(arena, 1, sizeof *list);
    *map = (struct weft_tree){.type = WEFT_TREE_MAP, .place = root->place};
    *list = (struct weft_tree){WEFT_TREE_LIST, root->place, root->place, "devices", NULL, 0, NULL, false};
    append_child(arena, list, root);
    append_child(arena, map, list);
    return map;
}

/// Appends the lists of `more` to those of `all`, which are its own; the first file's name and description are kept.
static enum weft_status join_lists(struct weft_arena *arena, struct weft_tree *all, const struct weft_tree *more,
                                   struct weft_error *ret_error) {
    for (uint32_t i = 0; i < more->n; i++) {
        const struct weft_tree *child = more->child[i];
        uint32_t at = 0;
        while (at < all->n && strcmp(all->child[at]->key, child->key))
            at++;
        if (at == all->n)
            append_child(arena, all, copy_tree(arena, child));
        else if (all->child[at]->type == WEFT_TREE_NULL)
            all->child[at] = copy_tree(arena, child);
        else if (all->child[at]->type == WEFT_TREE_LIST && child->type == WEFT_TREE_LIST)
            for (uint32_t k = 0; k < child->n; k++)
                append_child(arena, all->child[at], child->child[k]);
        else if (all->child[at]->type == WEFT_TREE_LIST && child->type != WEFT_TREE_NULL)
            return WEFT_REFUSE(ret_error, child->place, "%.60s: expected a list", child->key);
    }
    return WEFT_OK;
}

enum weft_status weft__infragraph_open(const char *const *path, uint32_t paths, struct weft_place place,
                                       struct weft_arena *arena, const struct weft_tree **ret_root,
                                       struct weft_error *ret_error) {
    struct weft_tree *all = NULL;
    for (uint32_t p = 0; p < paths; p++) {
        WEFT_ENDS(weft__lines_close) struct weft__lines lines = {0};
        struct weft_tree *root = NULL;
        enum weft_status status = weft__lines_open(&lines, path[p], place, ret_error); // missing: an error at `place`
        if (status) return status;
        WEFT_TRY(weft_tree_read(path[p], arena, &root, ret_error));
        const struct weft_tree *more = unwrap_file(arena, root);
        if (more->type != WEFT_TREE_MAP)
            return WEFT_REFUSE(ret_error, more->place, "expected an infrastructure: a map");
        if (!all) {
            all = weft_arena_alloc(arena, 1, sizeof *all);
            *all = (struct weft_tree){.type = WEFT_TREE_MAP, .place = more->place};
        }
        WEFT_TRY(join_lists(arena, all, more, ret_error));
    }
    *ret_root = all;
    return WEFT_OK;
}

// --- files that were not given ------------------------------------------------------------------------------------

enum { SEEK_BYTES_MAX = 1 << 20, SEEK_FILES_MAX = 256 };

static bool has_entry(const char *path, const char *key, const char *member, const char *value) {
    WEFT_SCRATCH(scratch, WEFT_MEMORY_SCENARIO);
    struct weft_tree *root = NULL;
    bool found = false;
    if (!weft_tree_read(path, scratch, &root, NULL)) {
        const struct weft_tree *list = weft_tree_find(unwrap_file(scratch, root), key);
        for (uint32_t i = 0; list && list->type == WEFT_TREE_LIST && i < list->n && !found; i++) {
            const char *text = weft__tree_text(list->child[i], member);
            found = text && !strcmp(text, value);
        }
    }
    return found;
}

static bool may_be_one(const char *name, const char *path) {
    static const char *const endings[] = {".yaml", ".yml", ".json"};
    struct stat about;
    size_t n = strlen(name);
    bool named = false;
    for (size_t e = 0; e < sizeof endings / sizeof *endings; e++) {
        size_t m = strlen(endings[e]);
        named |= n > m && !strcmp(name + n - m, endings[e]);
    }
    return named && !stat(path, &about) && S_ISREG(about.st_mode) && about.st_size <= SEEK_BYTES_MAX;
}

const char *weft__infragraph_seek(const char *given, const char *key, const char *member, const char *value,
                                  struct weft_arena *arena) {
    const char *slash = strrchr(given, '/'), *best = NULL;
    const char *folder = slash ? weft_arena_format(arena, "%.*s/", (int)(slash - given), given) : "";
    struct weft_memory_cleanup cleanup;
    DIR *dir = weft__folder_open(*folder ? folder : ".", &cleanup);
    if (!dir) return NULL;
    uint32_t files = 0;
    for (const struct dirent *entry; files < SEEK_FILES_MAX && (entry = readdir(dir));) {
        const char *path = weft_arena_format(arena, "%s%s", folder, entry->d_name);
        if (!may_be_one(entry->d_name, path) || (best && strcmp(path, best) > 0)) continue;
        files++;
        if (has_entry(path, key, member, value)) best = path;
    }
    weft__folder_close(dir, &cleanup);
    return best;
}
