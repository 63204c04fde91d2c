// SPDX-License-Identifier: Apache-2.0
// What is true of every buffer with fixed levels: XON is not above XOFF, and XOFF not above the size.
#ifndef WEFT_BUFFER_LEVELS_H
#define WEFT_BUFFER_LEVELS_H

#include <stdio.h>

#include "weft/types.h"

/// NULL, or what is wrong, in `text`.
static inline const char *weft__levels_check(weft_bytes buffer, weft_bytes xoff, weft_bytes xon, char *text,
                                             size_t size) {
    if (xoff > buffer)
        snprintf(text, size, "xoff (%llu B) is above size (%llu B)", (unsigned long long)xoff,
                 (unsigned long long)buffer);
    else if (xon > xoff)
        snprintf(text, size, "xon (%llu B) is above xoff (%llu B)", (unsigned long long)xon, (unsigned long long)xoff);
    else
        return NULL;
    return text;
}

#endif
