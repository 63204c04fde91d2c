// SPDX-License-Identifier: Apache-2.0
// FNV-1a of 64 bits (Fowler, Noll, Vo; draft-eastlake-fnv): to distinguish texts, not to prevent forgery.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define WEFT__HASH_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t weft__hash(uint64_t hash, const void *bytes, size_t n) {
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
    return hash;
}
/// Includes its end, so that "ab", "c" differs from "a", "bc".
static inline uint64_t weft__hash_text(uint64_t hash, const char *text) {
    return weft__hash(hash, text, strlen(text) + 1);
}
