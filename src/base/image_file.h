// SPDX-License-Identifier: Apache-2.0
// An image (image.h) in a file: a zstd frame with a checksum. Pages of zeros take no room in it.
#ifndef WEFT_BASE_IMAGE_FILE_H
#define WEFT_BASE_IMAGE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/// Writes `note`, and then the image, to the file as it stands. False, and errno: it could not be written.
bool weft__image_write(FILE *file, const void *note, size_t note_bytes);
/// Reads from where weft__image_write began, up to the end of the file, into an image that was just opened. `parted`:
/// as the image was that was written. NULL, or what is wrong with the file; the image is then of no use. `ret_byte`:
/// how far the file was read.
const char *weft__image_read(FILE *file, void *ret_note, size_t note_bytes, bool parted, size_t *ret_byte);

#endif
