// SPDX-License-Identifier: Apache-2.0
// Chakra execution traces byte by byte: field numbers are repeated here, as in tests/tools/chakra_writer.py.
#pragma once

#include <stdint.h>
#include <string.h>

struct bytes {
    unsigned char at[4096];
    size_t n;
};

enum { INT32 = 7, INT64 = 9, UINT64 = 13, SINT64 = 17, FIXED64 = 21, BOOL = 27, BOOLS = 28, STRING = 29 };
enum { METADATA = 1, MEM_LOAD, MEM_STORE, COMP, SEND, RECV, COLL };
enum { ALL_REDUCE, REDUCE, ALL_GATHER, GATHER, SCATTER, BROADCAST, ALL_TO_ALL, REDUCE_SCATTER, BLOCKS, BARRIER };

static inline void put_byte(struct bytes *b, unsigned byte) {
    b->at[b->n++] = (unsigned char)byte;
}
static inline void put_varint(struct bytes *b, uint64_t value) {
    for (; value > 127; value >>= 7)
        put_byte(b, (value & 127) | 128);
    put_byte(b, (unsigned)value);
}
static inline void put_number(struct bytes *b, unsigned field, uint64_t value) {
    put_varint(b, field << 3);
    put_varint(b, value);
}
static inline void put_block(struct bytes *b, unsigned field, const void *data, size_t n) {
    put_varint(b, field << 3 | 2);
    put_varint(b, n);
    memcpy(b->at + b->n, data, n);
    b->n += n;
}
static inline void put_text(struct bytes *b, unsigned field, const char *text) {
    put_block(b, field, text, strlen(text));
}
/// A message with its length before it.
static inline void put_message(struct bytes *to, const struct bytes *message) {
    put_varint(to, message->n);
    memcpy(to->at + to->n, message->at, message->n);
    to->n += message->n;
}

static inline void put_attribute(struct bytes *b, unsigned field, const char *name, unsigned type, uint64_t value) {
    struct bytes a = {.n = 0};
    put_text(&a, 1, name);
    if (type == FIXED64) {
        put_varint(&a, type << 3 | 1);
        for (int i = 0; i < 64; i += 8)
            put_byte(&a, value >> i & 255);
    } else if (type == BOOLS) { // two of them: 1, then the value
        put_block(&a, type, (const unsigned char[]){0x0a, 2, 1, (unsigned char)value}, 4);
    } else {
        put_number(&a, type, type == SINT64 ? value << 1 ^ (uint64_t)((int64_t)value >> 63) : value);
    }
    put_block(b, field, a.at, a.n);
}
static inline void put_text_attribute(struct bytes *b, unsigned field, const char *name, const char *text) {
    struct bytes a = {.n = 0};
    put_text(&a, 1, name);
    put_text(&a, STRING, text);
    put_block(b, field, a.at, a.n);
}

/// The global metadata of version 0.0.4.
static inline void put_metadata(struct bytes *trace) {
    struct bytes m = {.n = 0};
    put_text(&m, 1, "0.0.4");
    put_message(trace, &m);
}
/// A node that waits for data of those in `deps`, ids below 128 as a string of bytes.
static inline struct bytes node_of(unsigned id, unsigned type, const char *deps) {
    struct bytes n = {.n = 0};
    if (id) put_number(&n, 1, id);
    put_text(&n, 2, "a node");
    put_number(&n, 3, type);
    if (*deps) put_text(&n, 5, deps);
    return n;
}
static inline void put_compute(struct bytes *trace, unsigned id, const char *deps, uint64_t micros) {
    struct bytes n = node_of(id, COMP, deps);
    put_number(&n, 7, micros);
    put_message(trace, &n);
}
static inline void put_collective(struct bytes *trace, unsigned id, const char *deps, unsigned kind, uint64_t size,
                                  const char *group) {
    struct bytes n = node_of(id, COLL, deps);
    put_attribute(&n, 10, "comm_type", INT64, kind);
    if (size) put_attribute(&n, 10, "comm_size", INT64, size);
    if (group) put_text_attribute(&n, 10, "pg_name", group);
    put_message(trace, &n);
}
/// A send or receive.
static inline void put_p2p(struct bytes *trace, unsigned id, const char *deps, unsigned type, unsigned peer,
                           uint64_t size, unsigned tag) {
    struct bytes n = node_of(id, type, deps);
    put_attribute(&n, 10, type == SEND ? "comm_dst" : "comm_src", INT32, peer);
    put_attribute(&n, 10, "comm_size", INT64, size);
    put_attribute(&n, 10, "comm_tag", INT32, tag);
    put_message(trace, &n);
}
