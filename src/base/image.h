// SPDX-License-Identifier: Apache-2.0
// Memory that stands at the same addresses in every process of a run over several (weft/ranks.h), so that what one has
// worked out can be put into another as it is, pointers included. Off unless weft__image_open was called; then all that
// weft/memory.h hands out comes from here.
//
// Until weft__image_part all processes do the same and so lay out the same: constant objects, and common ones, of which
// each process will change those that are its own. From then on each has a region to itself. At the end the first
// process takes over the others' regions, and what they have changed of the common one: that no two have changed the
// same byte is checked.
//
// Checkpoints hold it (base/image_file.h), that of a single process too, and another process maps it again.
#ifndef WEFT_BASE_IMAGE_H
#define WEFT_BASE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WEFT__IMAGE_RANKS_MAX = 64, WEFT__IMAGE_HEAD = 32 };

/// Maps the regions. NULL, or why they cannot be had.
const char *weft__image_open(uint32_t ranks, uint32_t self);
bool weft__image_is_open(void);
bool weft__image_holds(const void *memory);
/// Whether it was handed out before weft__image_part, and that has been called.
bool weft__image_is_shared(const void *memory);
/// `bytes` aligned to 16, zeroed, with WEFT__IMAGE_HEAD bytes before them that are the caller's. NULL: there is no room
/// left. `constant`: nothing of it changes between weft__image_part and weft__image_join.
void *weft__image_new(size_t bytes, bool constant);
void weft__image_free(void *memory, size_t bytes);

/// Of all that was handed out so far: where. Equal in processes that did the same.
uint64_t weft__image_layout(void);
/// From now on this process lays out on its own, and constant objects are protected against writing. False, and errno:
/// not enough memory.
bool weft__image_part(void);
/// Instead, in an image that was read from a file and had been parted before: what was changed since is known. Constant
/// objects are not yet protected. False: not enough memory, or nothing like what weft__image_changes gives.
bool weft__image_part_again(const uint64_t *change, size_t words);
void weft__image_protect(void);
bool weft__image_is_parted(void);
/// Of this process alone, and of no use to others: what was changed of it is forgotten.
void weft__image_forget(void *memory, size_t bytes);

/// What this process has: `ret_bytes` from the address returned on.
void *weft__image_own(size_t *ret_bytes);
/// Where that of another is to be put.
void *weft__image_of(uint32_t rank);
/// What was changed of the common region: words, to be given to weft__image_apply elsewhere. Freed by free(); NULL: not
/// enough memory.
uint64_t *weft__image_changes(size_t *ret_words);
/// False: some byte was changed here too.
bool weft__image_apply(const uint64_t *change, size_t words);
/// All is put together: constant objects may be freed again.
void weft__image_join(void);

/// All that another process needs to have the same; of an image that is parted, also what was changed of it. The first
/// piece tells what the others hold, and is of a fixed size.
enum { WEFT__IMAGE_PIECES = 4 };
struct weft__image_piece {
    unsigned char *at;
    size_t bytes, room; ///< `room`: it may have as many
};
void weft__image_pieces(struct weft__image_piece ret_piece[WEFT__IMAGE_PIECES]);
#endif
