// SPDX-License-Identifier: Apache-2.0
#include "live/framing.h"

#include <string.h>

static void end_frame(struct weft__framing *f, weft__framing_on_frame *on_frame, void *context) {
    uint32_t length = f->length;
    f->head = f->length = f->have = 0;
    on_frame(context, length <= WEFT__FRAMING_FRAME_MAX ? f->frame : NULL, length);
}

/// A byte of the length.
static bool take_head(struct weft__framing *f, uint8_t byte) {
    f->length = f->length << 8 | byte;
    return ++f->head < 4 || f->length <= WEFT__FRAMING_LENGTH_MAX;
}

bool weft__framing_feed(struct weft__framing *f, const uint8_t *bytes, size_t n, weft__framing_on_frame *on_frame,
                        void *context) {
    while (n) {
        if (f->head < 4) {
            if (!take_head(f, *bytes++)) return false;
            n--;
        } else {
            uint32_t left = f->length - f->have, part = n < left ? (uint32_t)n : left;
            if (f->length <= WEFT__FRAMING_FRAME_MAX) memcpy(f->frame + f->have, bytes, part);
            f->have += part;
            bytes += part;
            n -= part;
        }
        if (f->head == 4 && f->have == f->length) end_frame(f, on_frame, context);
    }
    return true;
}
