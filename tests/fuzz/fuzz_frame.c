// SPDX-License-Identifier: Apache-2.0
// Any bytes as a frame: taken apart and put together again they are the same bytes. The first byte says whether there
// is an FCS. Completed, the frame is one that the decoder takes apart into the same layers.
#include <assert.h>
#include <string.h>

#include "wire_decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FRAME_MAX = 16384 };

static void same_again(const struct weft_frame *frame, const uint8_t *bytes, size_t size) {
    static uint8_t again[FRAME_MAX];
    assert(weft_frame_bytes(frame) == size);
    assert(weft_frame_encode(frame, again, size) == size);
    assert(!memcmp(again, bytes, size));
    assert(weft_frame_encode(frame, again, size - 1) == 0);
    size_t headers = weft_frame_header_bytes(frame);
    assert(weft_frame_encode_headers(frame, again, headers) == headers);
    assert(!memcmp(again, bytes, headers));
}

/// What was read, with lengths and check sums made right, is a frame without fault.
static void completed(struct weft_frame *frame) {
    static uint8_t bytes[FRAME_MAX];
    uint32_t layers = frame->layers;
    size_t size = weft_frame_build(frame, bytes, sizeof bytes);
    if (!size || frame->ipv4.more_fragments || frame->ipv4.fragment_offset) return;
    struct weft_frame read;
    enum weft_wire_status status = weft_frame_decode(bytes, size, layers & WEFT_LAYER_FCS, &read);
    if (!(layers & WEFT_LAYER_ICRC)) return; // cut off before its layers ended: what follows is read as more of them
    assert(!status && read.layers == layers);
    assert(frame_faults(&read, bytes, size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size || size > FRAME_MAX - 64) return 0;
    bool has_fcs = *data++ & 1;
    size--;
    struct weft_frame frame;
    enum weft_wire_status status = weft_frame_decode(data, size, has_fcs, &frame);
    if (size < WEFT_ETHERNET_BYTES + (has_fcs ? WEFT_FCS_BYTES : 0)) {
        assert(status == WEFT_WIRE_TRUNCATED);
        return 0;
    }
    same_again(&frame, data, size);
    frame_faults(&frame, data, size);
    completed(&frame);
    return 0;
}
