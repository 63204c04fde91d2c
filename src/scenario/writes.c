// SPDX-License-Identifier: Apache-2.0
// Files and folders that a scenario names for writing. A scenario may come from somebody else, so what its file names
// must lie below its folder, --out, or a path that the user allows; what the command line names is the user's own.
#include <string.h>

#include "base/below.h"
#include "scenario/scenario.h"

/// A path to be added to a file.
struct addition {
    struct weft_scenario_file *file;
    const char *path;
};

static enum weft_status add_path(void *context, struct weft_error *ret_error) {
    const struct addition *a = context;
    struct weft_scenario_file *file = a->file;
    const char **all = weft_arena_alloc(file->arena, file->may_writes + 1, sizeof *all);
    if (file->may_writes) memcpy(all, file->may_write, file->may_writes * sizeof *all);
    all[file->may_writes++] = weft_arena_text(file->arena, a->path);
    file->may_write = all;
    return WEFT_OK;
}

enum weft_status weft_scenario_file_allow_write(struct weft_scenario_file *file, const char *path,
                                                struct weft_error *ret_error) {
    struct addition addition = {file, path};
    struct weft_memory *memory = file->own;
    enum weft_status status = weft_memory_enter(&memory, add_path, &addition, ret_error);
    if (memory != file->own) weft_memory_close(memory);
    return status;
}

/// The scenario's folder; the current one for standard input and for a scenario that is stored with results.
static const char *folder_of(const struct weft_scenario *s, struct weft_arena *arena) {
    const char *slash = s->file->is_stored ? NULL : strrchr(s->file->path, '/');
    if (!slash) return ".";
    return weft_arena_format(arena, "%.*s", slash == s->file->path ? 1 : (int)(slash - s->file->path), s->file->path);
}

static bool may_write(const struct weft_scenario *s, const char *path, struct weft_arena *arena) {
    if (weft__path_is_below(path, folder_of(s, arena), arena)) return true;
    for (uint32_t i = 0; i < s->file->may_writes; i++)
        if (weft__path_is_below(path, s->file->may_write[i], arena)) return true;
    return false;
}

enum weft_status weft_scenario_write_path(const struct weft_scenario *s, const char *section, const char *key,
                                          const char *name, const char *out, struct weft_arena *arena,
                                          const char **ret_path, struct weft_error *ret_error) {
    const struct weft_tree *tree = weft_tree_find(weft_tree_find(s->tree, section), key);
    // Settings of a stored scenario are as foreign as the rest of it.
    bool foreign = tree && (tree->place.line || s->file->is_stored);
    const char *folder = out ? out : foreign ? folder_of(s, arena) : ".";
    *ret_path = *name == '/' || !strcmp(folder, ".") ? name : weft_arena_format(arena, "%s/%s", folder, name);
    if (!foreign || may_write(s, *ret_path, arena)) return WEFT_OK;
    return weft_error_set(
        ret_error, WEFT_ERROR_INPUT, tree->place,
        "%s.%s: '%s' would be written, which is not below the scenario's folder; expected a path below "
        "it or below --out, or --allow-write PATH",
        section, key, *ret_path);
}
