// SPDX-License-Identifier: Apache-2.0
// What a run learned, for later runs of the same scenario (run.fast_forward_store): a file in that folder, named by a
// hash of everything that determines how the network behaves. It holds numbers in an order that reader and writer agree
// on. See store.c.
#pragma once

#include "skip/repeat.h"

struct weft__store {
    const char *path;
    struct weft_arena *arena; ///< NULL: no store
    bool is_there;            ///< the file exists: it is read and not changed
    uint64_t *word;           ///< of the file, packed
    size_t words, room, at;
    uint64_t zeros; ///< zeros to be written or read next
    bool wrong;     ///< an attempt to read past the end
};

/// For a run in steady mode; without run.fast_forward_store there is no store. A file that is not a store, or that
/// another version of weft wrote, is refused.
enum weft_status weft__store_open(const struct weft__network *net, struct weft__store *ret, struct weft_error *error);
void weft__store_put(struct weft__store *store, uint64_t word);
uint64_t weft__store_get(struct weft__store *store); ///< past the end: 0, and store->wrong is set
/// Everything has been read. False: such a run would not have written this content.
bool weft__store_is_whole(const struct weft__store *store);
enum weft_status weft__store_refuse(const struct weft__store *store, struct weft_error *error);
/// Writes all or nothing: a run does not fail because its store cannot be written.
void weft__store_write(struct weft__store *store);
void weft__store_free(struct weft__store *store);

/// What was counted between two marks. When read back, it is between two marks that hold nothing else.
void weft__store_put_counted(struct weft__store *store, const struct weft__skips *s, const struct weft__mark *from,
                             const struct weft__mark *to);
void weft__store_get_counted(struct weft__store *store, const struct weft__skips *s, struct weft__mark *ret_from,
                             struct weft__mark *ret_to);
