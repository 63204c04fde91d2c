// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file of the format FUZZ_FORMAT: its importer knows it or not, and makes a scenario of it or an error
// with the file's name.
#define _GNU_SOURCE // memfd_create
#include <assert.h>
#include <string.h>

#include "fuzz_file.h"
#include "weft/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static FILE *null;
    const char *path = fuzz_file_put(data, size);
    const struct weft_model *importer = weft_model_find(WEFT_KIND_IMPORT, FUZZ_FORMAT);
    assert(importer);
    if (!null) null = fopen("/dev/null", "w");
    struct weft_memory *memory = weft_memory_open(), *before = weft_memory_use(memory);
    struct weft_error error = {0};
    enum weft_status status = weft_import_write(importer, NULL, &path, 1, "", null, NULL, &error);
    assert(!status == !*error.text);
    if (status) assert(!strncmp(error.text, path, strlen(path)));
    weft_memory_use(before);
    weft_memory_close(memory);
    return 0;
}
