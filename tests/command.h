// SPDX-License-Identifier: Apache-2.0
// Runs the program in a folder of the test's own and keeps what it printed. Include after cmocka.h.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

struct fixture {
    char dir[64];
    char out[1 << 19], err[1 << 14]; ///< of the last command
};

static inline void slurp(const struct fixture *f, const char *name, char *text, size_t size) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", f->dir, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, size - 1, file)] = 0;
    fclose(file);
}

static inline void write_text(const struct fixture *f, const char *name, const char *text) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", f->dir, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/// A cmocka teardown: removes the folder.
static inline int remove_folder(void **state) {
    const struct fixture *f = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", f->dir);
    return system(command);
}

/// Runs weft in the folder with these arguments; its exit status.
static inline int weft(struct fixture *f, const char *arguments) {
    char command[512];
    snprintf(command, sizeof command, "cd %s && \"$WEFT\" %s >out.txt 2>err.txt </dev/null", f->dir, arguments);
    int status = system(command);
    slurp(f, "out.txt", f->out, sizeof f->out);
    slurp(f, "err.txt", f->err, sizeof f->err);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}
