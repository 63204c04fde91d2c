// SPDX-License-Identifier: Apache-2.0
// Files of other tools in a folder of their own, what weft import makes of them, and runs of that.
#pragma once

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run.h"
#include "weft/import.h"

static char folder[] = "/tmp/weft-import-XXXXXX";

static inline int setup(void **state) {
    return mkdtemp(folder) ? 0 : -1;
}

static inline int teardown(void **state) {
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

/// A file of the folder.
static inline const char *put(const char *name, const char *text) {
    static char path[8][256];
    static unsigned next;
    char *at = path[next++ % 8];
    snprintf(at, sizeof path[0], "%s/%s", folder, name);
    FILE *file = fopen(at, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return at;
}

/// What `weft import` makes of the files, and what is lost (`losses` NULL: not asked); its error in `error`.
static inline char *import_with_losses(const char *format, const char *const *path, uint32_t paths, char **losses,
                                       struct weft_error *error) {
    char *text = NULL;
    size_t size, lost_size;
    FILE *out = open_memstream(&text, &size), *lost = losses ? open_memstream(losses, &lost_size) : NULL;
    *error = (struct weft_error){0};
    weft_import_write(weft_model_find(WEFT_KIND_IMPORT, format), NULL, path, paths, folder, out, lost, error);
    fclose(out);
    if (lost) fclose(lost);
    return text;
}

static inline char *import(const char *format, const char *const *path, uint32_t paths, struct weft_error *error) {
    return import_with_losses(format, path, paths, NULL, error);
}

/// The losses of an import that succeeds.
static inline char *losses_of(const char *format, const char *const *path, uint32_t paths) {
    struct weft_error error;
    char *losses = NULL;
    free(import_with_losses(format, path, paths, &losses, &error));
    if (*error.text) fail_msg("%s", error.text);
    return losses;
}

/// With parameters of the importer.
static inline char *import_set(const char *format, const char *set, const char *const *path, uint32_t paths) {
    char *text = NULL;
    size_t size;
    struct weft_error error = {0};
    struct weft_tree *tree = NULL;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    FILE *out = open_memstream(&text, &size);
    if (!weft_tree_parse("set", set, strlen(set), arena, &tree, &error))
        weft_import_write(weft_model_find(WEFT_KIND_IMPORT, format), tree, path, paths, folder, out, NULL, &error);
    fclose(out);
    weft_arena_free(arena);
    assert_string_equal(error.text, "");
    return text;
}

static inline struct run run_import(const char *format, const char *const *path, uint32_t paths) {
    struct weft_error error;
    char *text = import(format, path, paths, &error);
    if (*error.text) fail_msg("%s", error.text);
    struct run r = {0};
    const char *scenario = put("scenario.yaml", text);
    if (weft_scenario_file_read(scenario, NULL, 0, &r.file, &r.error) || run_bind(&r, 0)) fail_msg("%s", r.error.text);
    r.outcome = run_again(&r, 1, text);
    free(text);
    return r;
}

struct bad_file {
    const char *format, *text, *expected;
};

/// Each is refused with its name and the text expected, and nothing is written.
static inline void refuse_all(const struct bad_file *bad, size_t n) {
    for (size_t i = 0; i < n; i++) {
        struct weft_error error;
        const char *path = put("bad", bad[i].text);
        char *text = import(bad[i].format, &path, 1, &error);
        if (!strstr(error.text, bad[i].expected) || error.status != WEFT_ERROR_INPUT ||
            strncmp(error.text, path, strlen(path)))
            fail_msg("'%s': '%s' where '%s' was expected", bad[i].text, error.text, bad[i].expected);
        assert_string_equal(text, "");
        free(text);
    }
}
