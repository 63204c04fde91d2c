// SPDX-License-Identifier: Apache-2.0
// A collective algorithm in MSCCL's form: each GPU has thread blocks, each of which receives from one GPU and sends to
// one GPU, in a channel, and has a list of steps. Source: microsoft/msccl and microsoft/msccl-tools (XML); ROCm/rccl,
// src/misc/msccl (what a file must have); Cowan et al., "MSCCLang", ASPLOS 2023.
//
// A step works on `count` chunks: it receives (r), reads its source (s, rrc, rrs, rrcs, cpy, re), adds what it has
// received and read, stores the sum in its destination (r, rcs, rrc, rrcs, cpy, re) and sends it (s, rcs, rrs, rrcs);
// nop does nothing. It may wait for a step of another thread block of its GPU; one that waits for several has a nop
// before it for each but the last. A buffer of a GPU is the input (i), the output (o) or scratch memory (s).
#pragma once

#include "weft/collective.h"
#include "weft/memory.h"

enum weft__msccl_does {
    WEFT__MSCCL_RECEIVES = 1,
    WEFT__MSCCL_READS = 2, ///< its source
    WEFT__MSCCL_ADDS = 4,  ///< what its destination already contains
    WEFT__MSCCL_KEEPS = 8, ///< in its destination
    WEFT__MSCCL_SENDS = 16,
};
enum weft__msccl_buffer { WEFT__MSCCL_INPUT, WEFT__MSCCL_OUTPUT, WEFT__MSCCL_SCRATCH, WEFT__MSCCL_BUFFERS };

struct weft__msccl_step {
    uint8_t does; ///< enum weft__msccl_does
    uint8_t src_buffer, dst_buffer;
    uint32_t src, dst, count;    ///< chunks
    uint32_t after_block, after; ///< waits for that step of that block of the GPU; WEFT_NONE: for none
    int line, column;
};

struct weft__msccl_block {
    uint32_t id;         ///< in the file
    uint32_t send, recv; ///< GPUs; WEFT_NONE: none
    uint32_t channel;
    uint32_t send_block, recv_block; ///< at those GPUs: the block that receives what it sends, and the one that sends
                                     ///< what it receives
    uint32_t steps, count_max;
    struct weft__msccl_step *step;
    int line, column;
};

struct weft__msccl {
    const char *file, *name, *coll, *proto;
    enum weft_collective_goal goal;
    bool in_place;
    weft_bytes min_bytes, max_bytes;  ///< sizes that it is for; 0: no limit
    uint32_t ranks, channels, chunks; ///< chunks: of the whole size
    uint32_t blocks_max, blocks;      ///< of a GPU, of all
    uint64_t steps;
    struct weft__msccl_gpu {
        uint32_t blocks, chunks[WEFT__MSCCL_BUFFERS];
        struct weft__msccl_block *block;
        int line; ///< 0: it was not in the file
    } * gpu;
};

static inline struct weft_place weft__msccl_place(const struct weft__msccl *m, int line, int column) {
    return (struct weft_place){.file = m->file, .line = line, .column = column};
}

/// Reads a file, and checks everything except how its steps work together. Allocates in the arena.
enum weft_status weft__msccl_read(const char *path, struct weft_place place, struct weft_arena *arena,
                                  struct weft__msccl **ret_program, struct weft_error *ret_error);
/// Finds which block receives what a block sends, and checks that both have the same number of steps for it, with the
/// same counts.
enum weft_status weft__msccl_match(struct weft__msccl *m, struct weft_error *ret_error);
/// Executes it with sets of contributions as numbers: an error if a step waits forever or reads an empty chunk, or if
/// the buffers do not end with the result of the collective. The result of a broadcast, and of a collective unknown to
/// weft, is not checked; without `verify`, only that it ends.
enum weft_status weft__msccl_play(const struct weft__msccl *m, bool verify, struct weft_error *ret_error);
/// Whether the final content of the program's buffers is known.
bool weft__msccl_is_known(const struct weft__msccl *m);
