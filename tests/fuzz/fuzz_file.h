// SPDX-License-Identifier: Apache-2.0
// The input as a file, for readers that take a path. _GNU_SOURCE precedes the first include of a target.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
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
