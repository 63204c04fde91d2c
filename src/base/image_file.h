// SPDX-License-Identifier: Apache-2.0
// An image (image.h) in a file: a zstd frame with a checksum. Pages of zeros take no space in it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/// Writes `note`, and then the image, to the file at its current position. False, with errno: it could not be written.
bool weft__image_write(FILE *file, const void *note, size_t note_bytes);
/// Reads what weft__image_write wrote, up to the end of the file, into a newly opened image. `parted`: as in the image
/// that was written. NULL, or what is wrong with the file; the image is then unusable. `ret_byte`: how far the file was
/// read.
const char *weft__image_read(FILE *file, void *ret_note, size_t note_bytes, bool parted, size_t *ret_byte);
