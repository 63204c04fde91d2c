// SPDX-License-Identifier: Apache-2.0
// Any bytes as the stream of an attached host: cut anywhere it has the same frames, and whatever they are, each has a
// fate, and a mark changes nothing but the ECN field and the sum of IPv4.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "live/framing.h"
#include "transport/raw.h"
#include "weft/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct heard {
    struct weft__raw *raw;
    uint64_t frames, bytes;
};

/// In memory of just its size, so that a read beyond it is found.
static void put_frame(struct weft__raw *raw, const uint8_t *frame, size_t length) {
    uint8_t *own = malloc(length + !length), marked[UINT16_MAX];
    uint32_t conversation = 0;
    if (length) memcpy(own, frame, length);
    if (weft__raw_judge(raw, 0, own, length, &conversation) == WEFT_FRAME_SENT) {
        uint32_t number = weft__raw_add(raw, conversation, 1, own, (uint32_t)length);
        assert(weft__raw_write(&raw->frame[number], WEFT_ECN_CE, false, marked) == length);
        if (raw->frame[number].ecn != WEFT_ECN_NOT_ECT) { // so it has an IP header
            marked[15] = own[15];
            memcpy(marked + 24, own + 24, 2);
        }
        assert(!memcmp(marked, own, length));
        raw->frame[number].bytes = NULL;
    }
    free(own);
}

static void on_frame(void *context, const uint8_t *frame, size_t length) {
    struct heard *h = context;
    h->frames++;
    h->bytes += length;
    if (frame && h->raw) put_frame(h->raw, frame, length);
}

static struct weft__raw *attach_two(struct weft_arena *arena) {
    static struct weft_node_info node[2] = {{.port0 = 0}, {.port0 = 1}};
    static uint32_t host[2] = {0, 1};
    static struct weft_topology t = {.hosts = 2, .host = host, .node = node};
    struct weft__raw *raw = weft__raw_new(&t, arena);
    weft__raw_attach(raw, 0);
    weft__raw_attach(raw, 1);
    return raw;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct weft_memory *memory = weft_memory_open(), *before = weft_memory_use(memory);
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_QP);
    static struct weft__framing whole, parts;
    whole.head = whole.length = whole.have = parts.head = parts.length = parts.have = 0;
    struct heard one = {attach_two(arena), 0, 0}, two = {0};
    bool good = weft__framing_feed(&whole, data, size, on_frame, &one), also = true;
    for (size_t at = 0, step = 1; at < size && also; at += step, step = step % 7 + 1) {
        if (step > size - at) step = size - at;
        also = weft__framing_feed(&parts, data + at, step, on_frame, &two);
    }
    assert(good == also && one.frames == two.frames && one.bytes == two.bytes);
    weft_arena_free(arena);
    weft_memory_use(before);
    weft_memory_close(memory);
    return 0;
}
