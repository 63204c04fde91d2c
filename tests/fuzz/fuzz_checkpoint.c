// SPDX-License-Identifier: Apache-2.0
// Checkpoints. FUZZ_IMAGE: of their images, which are compressed here as weft does; else whole files, which no foreign
// bytes are. What has a good checksum is bytes that a program trusts (docs/checkpoints.md), but nothing is written
// beyond the image.
#define _GNU_SOURCE // memfd_create
#include <assert.h>
#include <string.h>
#include <zstd.h>

#include "base/image.h"
#include "fuzz_file.h"
#include "weft/checkpoint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifdef FUZZ_IMAGE
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static uint8_t packed[1 << 16];
    char note[64];
    if (!weft__image_is_open() && weft__image_open(1, 0)) abort();
    size_t n = ZSTD_compress(packed, sizeof packed, data, size, 1), byte;
    if (ZSTD_isError(n)) return 0;
    FILE *file = fmemopen(packed, n, "r");
    const char *wrong = weft__image_read(file, note, sizeof note, false, &byte);
    assert(byte <= n && (wrong || size >= sizeof note));
    fclose(file);
    return 0;
}
#else
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct weft_checkpoint_program program = {.hash = 1, .text = "fuzz"};
    const char *path = fuzz_file_put(data, size);
    struct weft_checkpoint *checkpoint;
    struct weft_error error = {0};
    if (weft__image_is_open()) return 0; // the one before had a header of this program
    assert(weft_checkpoint_read(path, &program, NULL, &checkpoint, &error) && !strncmp(error.text, path, strlen(path)));
    return 0;
}
#endif
