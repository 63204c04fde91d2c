// SPDX-License-Identifier: Apache-2.0
// Chakra execution traces: one file a rank. A file is a sequence of protobuf messages, each preceded by its length as a
// varint of 32 bits: one of global metadata, then the nodes. The whole file may be compressed (base/unpack.c); offsets
// refer to the uncompressed content. Or the same messages in JSON (import/chakra/chakra_json.h), if the file's name
// says so. Source: mlcommons/chakra, schema/protobuf/et_def.proto and src/third_party/utils/protolib.py;
// src/import/chakra.proto.
#pragma once

#include <stdio.h>

#include "weft/error.h"
#include "weft/memory.h"

/// Numbers of the schema, as in the next list. Others are nodes of later versions.
enum weft__chakra_type {
    WEFT__CHAKRA_INVALID,
    WEFT__CHAKRA_METADATA,
    WEFT__CHAKRA_MEM_LOAD,
    WEFT__CHAKRA_MEM_STORE,
    WEFT__CHAKRA_COMP,
    WEFT__CHAKRA_SEND,
    WEFT__CHAKRA_RECV,
    WEFT__CHAKRA_COLL,
    WEFT__CHAKRA_TYPES
};
enum weft__chakra_comm {
    WEFT__CHAKRA_ALL_REDUCE,
    WEFT__CHAKRA_REDUCE,
    WEFT__CHAKRA_ALL_GATHER,
    WEFT__CHAKRA_GATHER,
    WEFT__CHAKRA_SCATTER,
    WEFT__CHAKRA_BROADCAST,
    WEFT__CHAKRA_ALL_TO_ALL,
    WEFT__CHAKRA_REDUCE_SCATTER,
    WEFT__CHAKRA_REDUCE_SCATTER_BLOCK,
    WEFT__CHAKRA_BARRIER,
    WEFT__CHAKRA_COMMS
};

/// Attributes that are whole numbers. Those that a node has are bits of `has`.
enum weft__chakra_number {
    WEFT__CHAKRA_CPU_OP,
    WEFT__CHAKRA_OPS,
    WEFT__CHAKRA_COMM_TYPE,
    WEFT__CHAKRA_COMM_SIZE,
    WEFT__CHAKRA_COMM_SRC,
    WEFT__CHAKRA_COMM_DST,
    WEFT__CHAKRA_COMM_TAG,
    WEFT__CHAKRA_NUMBERS
};

/// Texts and lists live until the next is read.
struct weft__chakra_node {
    uint64_t id, at; ///< at: where its message begins in the file: a byte, or in JSON a line
    const char *name;
    int32_t type; ///< enum weft__chakra_type, or another
    const uint64_t *data_deps, *ctrl_deps;
    size_t n_data_deps, n_ctrl_deps;
    uint64_t duration_us;
    const char *inputs; ///< the values of its inputs; "": none
    const char *group;  ///< pg_name; "": none
    uint32_t has;
    uint64_t number[WEFT__CHAKRA_NUMBERS];
    bool partial; ///< involved_dim omits a dimension
};

struct weft__chakra_reader {
    FILE *file;
    const char *name;
    const char *version; ///< of the schema, as given in the file; "": not given
    uint64_t at;         ///< of the next byte
    uint64_t unknown;    ///< fields that this schema does not have
    struct weft_arena *arena, *message;
    size_t message_bytes; ///< read into `message` so far
    struct weft_memory_cleanup cleanup;
    bool opened;                    ///< by weft__chakra_open
    struct weft__chakra_json *json; ///< NULL: it is binary
};

/// Reads the metadata. `name` and `arena` must live as long as the reader. A file that cannot be opened is an error at
/// `place`.
enum weft_status weft__chakra_open(struct weft__chakra_reader *r, const char *path, struct weft_place place,
                                   struct weft_arena *arena, struct weft_error *ret_error);
/// *ret_more is false at the end of the file.
enum weft_status weft__chakra_next(struct weft__chakra_reader *r, struct weft__chakra_node *ret_node, bool *ret_more,
                                   struct weft_error *ret_error);
void weft__chakra_close(struct weft__chakra_reader *r);
/// "byte 7", or "line 7" in JSON.
const char *weft__chakra_where(const struct weft__chakra_reader *r, uint64_t at, char *text, size_t size);
/// An error there.
enum weft_status weft__chakra_fail(const struct weft__chakra_reader *r, uint64_t at, struct weft_error *ret_error,
                                   const char *format, ...) __attribute__((format(printf, 4, 5)));
/// Whether a file that begins with these bytes looks like a trace; `named`: its name says so.
bool weft__chakra_recognise(const void *bytes, size_t size, bool named);

static inline bool weft__chakra_has(const struct weft__chakra_node *n, enum weft__chakra_number what) {
    return n->has >> what & 1;
}
