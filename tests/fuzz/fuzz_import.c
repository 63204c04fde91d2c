// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file of any format: its importer knows it or not, and makes a scenario of it or an error with the
// file's name.
#define _GNU_SOURCE // memfd_create
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "weft/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static int number = -1;
    static FILE *null;
    char path[64];
    const char *paths[] = {path};
    if (number < 0) number = memfd_create("fuzz", 0);
    if (!null) null = fopen("/dev/null", "w");
    snprintf(path, sizeof path, "/proc/self/fd/%d", number);
    if (ftruncate(number, 0) || pwrite(number, data, size, 0) != (ssize_t)size) abort();
    for (uint32_t m = 0; m < weft_model_count(WEFT_KIND_IMPORT); m++) {
        struct weft_memory *memory = weft_memory_open(), *before = weft_memory_use(memory);
        struct weft_error error = {0};
        enum weft_status status =
            weft_import_write(weft_model_at(WEFT_KIND_IMPORT, m), NULL, paths, 1, "", null, &error);
        assert(!status == !*error.text);
        if (status) assert(!strncmp(error.text, path, strlen(path)));
        weft_memory_use(before);
        weft_memory_close(memory);
    }
    return 0;
}
