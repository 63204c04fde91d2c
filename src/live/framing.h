// SPDX-License-Identifier: Apache-2.0
// Frames in a stream: 4 bytes of length, big-endian, before each, as QEMU's -netdev stream has them (net/stream.c).
#pragma once

#include "weft/types.h"

enum { WEFT__FRAMING_FRAME_MAX = UINT16_MAX, WEFT__FRAMING_LENGTH_MAX = 1 << 20 };

/// Zero: nothing has come.
struct weft__framing {
    uint32_t head, length, have; ///< bytes of the length that have come; the length; bytes of the frame
    uint8_t frame[WEFT__FRAMING_FRAME_MAX];
};

/// `frame` is NULL if it is longer than FRAME_MAX: such a frame is passed over.
typedef void weft__framing_on_frame(void *context, const uint8_t *frame, size_t length);

/// Takes what has come of the stream. False: a length above LENGTH_MAX, so it is no such stream; nothing more can be
/// read from it.
bool weft__framing_feed(struct weft__framing *f, const uint8_t *bytes, size_t n, weft__framing_on_frame *on_frame,
                        void *context);
