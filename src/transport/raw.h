// SPDX-License-Identifier: Apache-2.0
// The transport of hosts that are attached from outside: their frames cross the network as they are, each once, and
// nothing answers or repeats them. A conversation is a queue pair with the verb WEFT_VERB_RAW: frames of one source and
// destination host with the same addresses, ports and DSCP. Its PSNs are the numbers of frames in one list of the run,
// where their bytes are: a packet, or a cell, carries the number only. See docs/live.md.
#pragma once

#include "weft/drive.h"
#include "weft/packet.h"
#include "weft/topology.h"

enum {
    WEFT__RAW_HEADER = 14,
    WEFT__RAW_PADDED = 60,
    WEFT__RAW_FCS = 4
}; ///< of Ethernet; the shortest frame without FCS; the FCS
enum { WEFT__RAW_KEY_BYTES = 56, WEFT__RAW_CONVERSATIONS_MAX = 1 << 16, WEFT__RAW_LEARNED_MAX = 4096 };

struct weft__raw_frame {
    weft_time_ps time_ps; ///< when it reaches its host's port
    const uint8_t *bytes; ///< NULL: forgotten
    uint32_t conversation, length;
    uint8_t ecn, arrived_ecn; ///< enum weft_ecn; arrived_ecn: at the destination of a driven run
};

struct weft__raw_conversation {
    uint8_t key[WEFT__RAW_KEY_BYTES];
    uint32_t src, dst, flow, qp; ///< qp: of the run
    weft_bytes bytes;            ///< of all its frames
    weft_time_ps start_ps;
    uint16_t entropy;
    uint8_t dscp;
};

/// From 64 bits to a number; 0 is no key.
struct weft__raw_map {
    uint64_t *key;
    uint32_t *value, n, slots;
};

/// A host that is attached: its frames that have not reached its NIC.
struct weft__raw_host {
    struct weft__raw *raw;
    uint32_t key; ///< timer of its NIC
    uint32_t *due;
    uint32_t dues, first; ///< from first on
    uint64_t counts[WEFT_FRAME_FATES];
};

/// All of them, of a run or of a workload.
struct weft__raw {
    struct weft_arena *arena;
    uint32_t hosts;
    const uint8_t (*mac)[6];        ///< [hosts]: weft's own address of each
    struct weft__raw_host **host;   ///< [hosts]; NULL: simulated
    struct weft__raw_map at, known; ///< address to host; hash of a key to conversation
    struct weft__raw_frame *frame;
    uint32_t frames, conversations;
    struct weft__raw_conversation *conversation;
};

/// `t`: of the network whose hosts are known by their addresses; nothing is attached yet.
struct weft__raw *weft__raw_new(const struct weft_topology *t, struct weft_arena *arena);
void weft__raw_attach(struct weft__raw *raw, uint32_t host);
/// What becomes of a frame that the host sends. SENT: `*ret_conversation` is that of the frame, perhaps a new one.
enum weft_frame_fate weft__raw_judge(struct weft__raw *raw, uint32_t host, const uint8_t *bytes, size_t length,
                                     uint32_t *ret_conversation);
/// The frame joins those of its host, not before the one before it. Returns its number.
uint32_t weft__raw_add(struct weft__raw *raw, uint32_t conversation, weft_time_ps time, const uint8_t *bytes,
                       uint32_t length);
/// A copy for one run of what a workload has.
struct weft__raw *weft__raw_copy(const struct weft__raw *raw, struct weft_arena *arena);
/// Writes the frame as it arrives, marked or not: without FCS, padded to WEFT__RAW_PADDED at least if `pads`. Returns
/// its bytes.
size_t weft__raw_write(const struct weft__raw_frame *frame, enum weft_ecn ecn, bool pads, uint8_t *ret);

/// Bytes of its frame on a link.
static inline uint32_t weft__raw_frame_bytes(uint32_t length) {
    return (length < WEFT__RAW_PADDED ? WEFT__RAW_PADDED : length) + WEFT__RAW_FCS;
}
/// Frames that wait at the attach point, not counting those that the NIC has.
static inline uint32_t weft__raw_waiting(const struct weft__raw_host *h) {
    return h->dues - h->first;
}
