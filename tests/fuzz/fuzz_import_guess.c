// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file of unknown format: importers recognise it, or there is an error with the file's name.
#define _GNU_SOURCE // memfd_create
#include <assert.h>
#include <string.h>

#include "fuzz_file.h"
#include "weft/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void count(void *context, const struct weft_model *importer, const char *what) {
    assert(importer && *what);
    ++*(unsigned *)context;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *path = fuzz_file_put(data, size);
    struct weft_error error = {0};
    unsigned known = 0;
    enum weft_status status = weft_import_guess(path, count, &known, &error);
    assert(!status == !*error.text && !status == !!known);
    if (status) assert(!strncmp(error.text, path, strlen(path)));
    return 0;
}
