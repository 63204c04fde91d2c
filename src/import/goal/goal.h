// SPDX-License-Identifier: Apache-2.0
// Internals of the codec of GOAL (weft/goal.h).
//
// Text: "num_ranks N", then for each rank in order "rank R {", a statement per line, "}". A statement is an operation,
// optionally preceded by a label, or "LABEL requires LABEL" (waits for the end) or "LABEL irequires LABEL" (waits for
// the start). Operations: "send SIZEb to RANK [tag T] [cpu C] [nic N]", "recv SIZEb from RANK|-1 [tag T|-1] ...", "calc
// NANOSECONDS [cpu C]".
// Binary, little-endian: u64 4223; u32 ranks, u8 CPUs, u8 NICs, for each rank u64 begin and u64 end of its section,
// counted from byte 8. A section: u32 nodes, u32 roots, u32 for each root, 39 bytes for each node, and an appendix of
// u32, numbers of nodes. A node: u32 dependencies, u8 kind, u32 peer, u64 size, u32 tag, u8 CPU, u8 NIC, and for those
// that wait for its end, then for those that wait for its start: u32 how many, u32 where in the appendix they begin.
// Source: Hoefler, Siebert, Lumsdaine, "Group Operation Assembly Language", ICPP 2009; LogGOPSim and ATLAHS (SPCL).
#pragma once

#include "weft/goal.h"

enum { WEFT__GOAL_MAGIC = 4223, WEFT__GOAL_FIRST = 8, WEFT__GOAL_NODE = 39 };

/// A file read in pieces; `at` counts bytes from its beginning.
struct weft__goal_input {
    FILE *file;
    const char *name;
    unsigned char *buffer; ///< of WEFT__GOAL_BUFFER bytes
    size_t begin, end;     ///< the part of the buffer not yet taken
    uint64_t at;           ///< of `begin`
    int why;               ///< errno of a failure to read, or 0
};
enum { WEFT__GOAL_BUFFER = 1 << 18 };
/// Reads until `n` bytes are in the buffer or the file ends; returns how many there are.
size_t weft__goal_fill(struct weft__goal_input *in, size_t n);
static inline const unsigned char *weft__goal_bytes(const struct weft__goal_input *in) {
    return in->buffer + in->begin;
}
static inline void weft__goal_take(struct weft__goal_input *in, size_t n) {
    in->begin += n;
    in->at += n;
}

enum weft_status weft__goal_read_text(struct weft__goal_input *in, struct weft_arena *arena,
                                      struct weft_schedule **ret_schedule, struct weft_error *ret_error);
enum weft_status weft__goal_read_binary(struct weft__goal_input *in, struct weft_arena *arena,
                                        struct weft_schedule **ret_schedule, struct weft_error *ret_error);

/// Labels of one rank, a hash table. All zero: empty.
struct weft__goal_labels {
    struct weft__goal_label *label;
    char *text;
    size_t room, n, text_room, text_size;
    uint32_t rank; ///< of the rank that they belong to, + 1; labels of other ranks do not count
};
/// The step of a label; WEFT_NONE: there is no such label.
uint32_t weft__goal_label_find(const struct weft__goal_labels *l, const char *name, size_t n);
/// It must not exist yet.
void weft__goal_label_add(struct weft__goal_labels *l, const char *name, size_t n, uint32_t step);
/// Starts the labels of the next rank.
void weft__goal_labels_clear(struct weft__goal_labels *l);
void weft__goal_labels_free(struct weft__goal_labels *l);
