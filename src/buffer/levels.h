// SPDX-License-Identifier: Apache-2.0
// The rule for every buffer with fixed levels: XON is not above XOFF, and XOFF not above the size.
#pragma once

#include "base/units.h"

/// NULL, or what is wrong, in `text`.
static inline const char *weft__levels_check(weft_bytes buffer, weft_bytes xoff, weft_bytes xon, char *text,
                                             size_t size) {
    const char *wrong = weft__bytes_above("xoff", xoff, "size", buffer, text, size);
    return wrong ? wrong : weft__bytes_above("xon", xon, "xoff", xoff, text, size);
}
