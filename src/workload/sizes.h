// SPDX-License-Identifier: Apache-2.0
// Distributions of flow sizes, as points of a cumulative distribution function with straight lines between them.
#pragma once

#include "weft/error.h"
#include "weft/memory.h"

/// A fraction `part` of all flows, from 0 to 1, has at most `bytes`. Neither decreases from one point to the next.
struct weft__size_point {
    double bytes, part;
};
struct weft__sizes {
    const struct weft__size_point *point;
    uint32_t n; ///< at least 1; the last part is 1
};

extern const struct weft__sizes weft__sizes_websearch, weft__sizes_fbhdp, weft__sizes_alistorage2019;
/// Points in the arena.
void weft__sizes_googlerpc2008(struct weft_arena *arena, struct weft__sizes *ret_sizes);

/// "websearch", "fbhdp", "alistorage2019", "googlerpc2008" or "file:PATH" (relative to the folder of the file of
/// `place`). The file has lines "bytes part", part rising to 1 or to 100 (percent); "#" starts a comment. Points of a
/// file are in the arena.
enum weft_status weft__sizes_load(const char *name, struct weft_place place, struct weft_arena *arena,
                                  struct weft__sizes *ret_sizes, struct weft_error *ret_error);
/// The exact mean, in bytes.
double weft__sizes_mean(const struct weft__sizes *sizes);
/// The size that a fraction `unit` (0 to 1) of all flows is below; rounded, at least 1.
weft_bytes weft__sizes_at(const struct weft__sizes *sizes, double unit);
