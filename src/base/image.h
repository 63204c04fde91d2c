// SPDX-License-Identifier: Apache-2.0
// Memory at the same addresses in every process of a run over several (weft/ranks.h), so that the results of one
// process can be copied to another unchanged, pointers included. Inactive unless weft__image_open was called; then all
// allocations of weft/memory.h come from here.
//
// Until weft__image_part all processes do the same and therefore have the same layout: constant objects, and common
// ones, of which each process will change only its own. From then on each has a separate region. At the end the first
// process takes over the others' regions, and their changes of the common one; it is checked that no two have changed
// the same byte.
//
// Checkpoints contain it (base/image_file.c), even that of a single process, and another process maps it again.
#pragma once

#include <string.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { WEFT__IMAGE_RANKS_MAX = 64, WEFT__IMAGE_HEAD = 32 };

/// Maps the regions. NULL, or why that is impossible.
const char *weft__image_open(uint32_t ranks, uint32_t self);
bool weft__image_is_open(void);
bool weft__image_holds(const void *memory);
/// Whether the memory was allocated before weft__image_part, and that has been called.
bool weft__image_is_shared(const void *memory);
/// Allocates zeroed `bytes` aligned to 16, preceded by WEFT__IMAGE_HEAD bytes for the caller. NULL: no room.
/// `constant`: nothing in it changes between weft__image_part and weft__image_join.
void *weft__image_new(size_t bytes, bool constant);
void weft__image_free(void *memory, size_t bytes);

/// A hash of the addresses of everything allocated so far. Equal in processes that did the same.
uint64_t weft__image_layout(void);
/// From now on this process allocates independently, and constant objects are write-protected. False, with errno: not
/// enough memory.
bool weft__image_part(void);
/// Replaces weft__image_part in an image read from a file, which had been parted before: the changes since then are
/// given. Constant objects are not yet protected. False: not enough memory, or not a result of weft__image_changes.
bool weft__image_part_again(const uint64_t *change, size_t words);
void weft__image_protect(void);
bool weft__image_is_parted(void);
/// The object matters only to this process: its changes are dropped.
void weft__image_forget(void *memory, size_t bytes);

/// The memory of this process: `ret_bytes` from the returned address on.
void *weft__image_own(size_t *ret_bytes);
/// Where to put the memory of another rank.
void *weft__image_of(uint32_t rank);
/// The changes of the common region, as words for weft__image_apply in another process. Freed by free(); NULL: not
/// enough memory.
uint64_t *weft__image_changes(size_t *ret_words);
/// False: some byte was also changed here.
bool weft__image_apply(const uint64_t *change, size_t words);
/// Everything is combined: constant objects may be freed again.
void weft__image_join(void);

/// Everything that another process needs for the same image; for a parted image, also its changes. The first piece
/// describes the others, and has a fixed size.
enum { WEFT__IMAGE_PIECES = 4 };
struct weft__image_piece {
    unsigned char *at;
    size_t bytes, room; ///< `room`: the most that it may have
};
void weft__image_pieces(struct weft__image_piece ret_piece[WEFT__IMAGE_PIECES]);

static inline bool weft__image_is_zero(const unsigned char *memory, size_t n) {
    return !*memory && !memcmp(memory, memory + 1, n - 1);
}

// An image (image.h) in a file: a zstd frame with a checksum. Pages of zeros take no space in it.
/// Writes `note`, and then the image, to the file at its current position. False, with errno: it could not be written.
bool weft__image_write(FILE *file, const void *note, size_t note_bytes);
/// Reads what weft__image_write wrote, up to the end of the file, into a newly opened image. `parted`: as in the image
/// that was written. NULL, or what is wrong with the file; the image is then unusable. `ret_byte`: how far the file was
/// read.
const char *weft__image_read(FILE *file, void *ret_note, size_t note_bytes, bool parted, size_t *ret_byte);
