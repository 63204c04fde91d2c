// SPDX-License-Identifier: Apache-2.0
// The input as a file, for readers that take a path. _GNU_SOURCE precedes the first include of a target.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/// Its path; the file is in memory, and the same one for all inputs.
static inline const char *fuzz_file_put(const void *data, size_t size) {
    static int number = -1;
    static char path[64];
    if (number < 0) number = memfd_create("fuzz", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", number);
    if (ftruncate(number, 0) || (size && pwrite(number, data, size, 0) != (ssize_t)size)) abort();
    return path;
}

/// Whether a refusal names the file and a line of it; of a file that is empty or cannot be read, the file alone.
static inline int fuzz_file_is_named(const char *error, int line, const char *path) {
    return !strncmp(error, path, strlen(path)) &&
           (line > 0 || strstr(error, ": is empty") || strstr(error, ": cannot be read: "));
}
