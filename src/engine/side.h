// SPDX-License-Identifier: Apache-2.0
// Data that few packets carry beside their 32 bytes: telemetry of each hop, a trimmed length, the identity of a path.
// Such a packet has `side` set, and in place of the PSN it has the number of a record that contains the PSN and more.
// Packets without a record pay nothing.
//
// Each worker has a pool of records. A record belongs to the holder of the packet, and returns to its pool when the
// packet is consumed or dropped. If that happens at another worker, the record goes into a list for its owner, who
// takes it over at the start of the next window: as with logs, a worker reads in a window only what others wrote in the
// one before. Record numbers depend on the number of workers; nothing else may depend on them.
#pragma once

#include "engine/engine.h"

enum {
    WEFT__SIDE_BYTES = 112,      ///< a user's
    WEFT__SIDE_BLOCK = 64,       ///< records of the first block of a pool; each later block has twice as many
    WEFT__SIDE_BLOCKS = 20,      ///< per pool, at most
    WEFT__SIDE_NUMBER_BITS = 26, ///< bits of a record's number in its pool; the worker is above them
};
_Static_assert(WEFT__SIDE_BLOCK *((1ull << WEFT__SIDE_BLOCKS) - 1) <= 1ull << WEFT__SIDE_NUMBER_BITS, "numbered");
_Static_assert((uint64_t)WEFT__WORKERS_MAX << WEFT__SIDE_NUMBER_BITS <= UINT64_C(1) << 32, "where the PSN was");

struct weft__side {
    struct weft__side *next; ///< itself while a packet holds the record; else the next free record
    uint32_t psn;            ///< the packet's PSN
    uint32_t number;
    _Alignas(16) unsigned char user[WEFT__SIDE_BYTES]; ///< zero at first; the user defines its meaning
};
_Static_assert(sizeof(struct weft__side) == 128, "two lines");

struct weft__sides {
    struct weft__side *block[WEFT__SIDE_BLOCKS]; ///< the owner writes it; the holder of a packet reads it
    uint32_t blocks;
    struct weft__side *free;
    uint64_t taken, given; ///< by this worker, from or to any pool
    struct weft__side_list {
        struct weft__side *first, *last;
    } home[2][WEFT__WORKERS_MAX]; ///< [parity][owner]: records returned in this window and in the last
    uint32_t sent[2];             ///< [parity]: how many
};

void weft__sides_init(struct weft__worker *w);
void weft__sides_deinit(struct weft__worker *w);
/// At the start of a window. `any`: some worker returned records of another one in the last window.
void weft__sides_exchange(struct weft__worker *w, bool any);
/// Whether this worker returned records of another one in this window.
bool weft__sides_were_sent(const struct weft__worker *w);

/// Gives a record to a packet that has none.
struct weft__side *weft__side_attach(struct weft__worker *w, struct weft_packet *packet);
/// The record of a packet that has one.
struct weft__side *weft__side_of(const struct weft__worker *w, const struct weft_packet *packet);
/// Takes the record from a packet, which is then as it was before. The record may be read until another one is
/// attached.
const struct weft__side *weft__side_detach(struct weft__worker *w, struct weft_packet *packet);
/// Gives a copy of a packet that travels separately its own record with the same content.
void weft__side_clone(struct weft__worker *w, struct weft_packet *copy);
/// Frees the record of a packet that is no longer needed.
void weft__side_release(struct weft__worker *w, const struct weft_packet *packet);

/// The PSN of any packet, with or without a record.
static inline uint32_t weft__side_psn(const struct weft__worker *w, const struct weft_packet *packet) {
    return __builtin_expect(packet->side, 0) ? weft__side_of(w, packet)->psn : packet->psn;
}
