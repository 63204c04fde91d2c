// SPDX-License-Identifier: Apache-2.0
// What a run learned of itself, for runs of the same scenario (run.fast_forward_store): a file of the folder, named by
// what decides how the network behaves. It is numbers in an order that reader and writer agree on. See store.c.
#ifndef WEFT_SIM_STORE_H
#define WEFT_SIM_STORE_H

#include "sim/repeat.h"

struct weft__store {
    const char *path;
    struct weft_arena *arena; ///< NULL: there is no store
    bool is_there;            ///< the file is: it is read and stays as it is
    uint64_t *word;           ///< of the file, as it packs them
    size_t words, room, at;
    uint64_t zeros; ///< that are to be written, or read, next
    bool wrong;     ///< more was read than there is
};

/// Of a run in steady; without run.fast_forward_store there is none. Input that is no store, or one of another version
/// of weft, is refused.
enum weft_status weft__store_open(const struct weft__network *net, struct weft__store *ret, struct weft_error *error);
void weft__store_put(struct weft__store *store, uint64_t word);
uint64_t weft__store_get(struct weft__store *store); ///< 0, and store->wrong, where there is none
/// All has been read. False: what is there is not what such a run would have written.
bool weft__store_is_whole(const struct weft__store *store);
enum weft_status weft__store_refuse(const struct weft__store *store, struct weft_error *error);
/// Whole or not at all: a run does not fail because nothing can be stored of it.
void weft__store_write(struct weft__store *store);
void weft__store_free(struct weft__store *store);

/// What was counted between two marks; read, it is between two marks that hold nothing else.
void weft__store_put_counted(struct weft__store *store, const struct weft__skips *s, const struct weft__mark *from,
                             const struct weft__mark *to);
void weft__store_get_counted(struct weft__store *store, const struct weft__skips *s, struct weft__mark *ret_from,
                             struct weft__mark *ret_to);

#endif
