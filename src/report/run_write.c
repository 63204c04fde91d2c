// SPDX-License-Identifier: Apache-2.0
// The results of a run as files, for programs that use the library.
#include "weft/report.h"

/// A result to be written to a file or into a folder.
struct writing {
    const struct weft_run *run;
    FILE *file;
    const char *dir;
};

static enum weft_status write_json(void *context, struct weft_error *ret_error) {
    const struct writing *w = context;
    weft_report_json(w->file, w->run);
    if (!ferror(w->file)) return WEFT_OK;
    return weft_error_set(ret_error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE, "the result cannot be written");
}

static enum weft_status write_sqlite(void *context, struct weft_error *ret_error) {
    const struct writing *w = context;
    return weft_report_sqlite(w->dir, w->run, 1, ret_error);
}

/// Memory allocated meanwhile is freed at the end, because several threads may read a result.
static enum weft_status enter_memory(enum weft_status (*write)(void *context, struct weft_error *ret_error),
                                     struct writing *writing, struct weft_error *ret_error) {
    struct weft_memory *memory = NULL;
    enum weft_status status = weft_memory_enter(&memory, write, writing, ret_error);
    weft_memory_close(memory);
    return status;
}

enum weft_status weft_result_write_json(const struct weft_result *result, FILE *file, struct weft_error *ret_error) {
    return enter_memory(write_json, &(struct writing){.run = weft__result_run(result), .file = file}, ret_error);
}

enum weft_status weft_result_write_sqlite(const struct weft_result *result, const char *dir,
                                          struct weft_error *ret_error) {
    return enter_memory(write_sqlite, &(struct writing){.run = weft__result_run(result), .dir = dir}, ret_error);
}
