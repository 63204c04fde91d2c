// SPDX-License-Identifier: Apache-2.0
// Words of other tools, papers and vendors, and the keys of weft with the same meaning.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// The key that somebody who writes `word` means, if it is one of `names`, or a dotted path that begins with one of
/// them; in `ret_key`. NULL: the word is not known.
const char *weft__synonym_find(const char *word, const char *const *names, uint32_t n, char *ret_key, size_t size);
