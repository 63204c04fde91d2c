// SPDX-License-Identifier: Apache-2.0
// What few packets carry beside their 32 bytes: telemetry of each hop, a trimmed length, the identity of a path. Such a
// packet has `side` set and, where others have their PSN, the number of a record that has the PSN and more. Packets
// without one pay nothing.
//
// Each worker has a pool of records. A record belongs to whoever has the packet, and goes home when that is consumed or
// dropped. At another worker that is a list for its owner, who takes it over at the start of the next window: as with
// logs, a worker reads in a window only what others wrote in the one before. Numbers of records depend on how many
// workers there are; nothing else may depend on them.
#ifndef WEFT_ENGINE_SIDE_H
#define WEFT_ENGINE_SIDE_H

#include "engine/engine.h"

enum {
    WEFT__SIDE_BYTES = 112,      ///< a user's
    WEFT__SIDE_BLOCK = 64,       ///< records of the first block of a pool; each block after it has twice as many
    WEFT__SIDE_BLOCKS = 20,      ///< of a pool, at most
    WEFT__SIDE_NUMBER_BITS = 26, ///< of a record in its pool; above it is the worker
};
_Static_assert(WEFT__SIDE_BLOCK *((1ull << WEFT__SIDE_BLOCKS) - 1) <= 1ull << WEFT__SIDE_NUMBER_BITS, "numbered");
_Static_assert((uint64_t)WEFT__WORKERS_MAX << WEFT__SIDE_NUMBER_BITS <= UINT64_C(1) << 32, "where the PSN was");

struct weft__side {
    struct weft__side *next; ///< itself while a packet has it; else in a list of free ones
    uint32_t psn;            ///< of the packet
    uint32_t number;
    _Alignas(16) unsigned char user[WEFT__SIDE_BYTES]; ///< zero at first; what it says is its user's
};
_Static_assert(sizeof(struct weft__side) == 128, "two lines");

struct weft__sides {
    struct weft__side *block[WEFT__SIDE_BLOCKS]; ///< written by their owner, read by whoever has a packet
    uint32_t blocks;
    struct weft__side *free;
    uint64_t taken, given; ///< by this worker, of any pool
    struct weft__side_list {
        struct weft__side *first, *last;
    } home[2][WEFT__WORKERS_MAX]; ///< [parity][owner]: given back in this window and in the last
    uint32_t sent[2];             ///< [parity] so many
};

void weft__sides_init(struct weft__worker *w);
void weft__sides_deinit(struct weft__worker *w);
/// At the start of a window. `any`: some worker had records of another in the last one.
void weft__sides_exchange(struct weft__worker *w, bool any);
/// Whether this worker had records of another in this window.
bool weft__sides_were_sent(const struct weft__worker *w);

/// Gives a record to a packet that has none.
struct weft__side *weft__side_attach(struct weft__worker *w, struct weft_packet *packet);
/// Of a packet that has one.
struct weft__side *weft__side_of(const struct weft__worker *w, const struct weft_packet *packet);
/// A packet that has one gives it back, and is as it was before. The record may be read until another one is attached.
const struct weft__side *weft__side_detach(struct weft__worker *w, struct weft_packet *packet);
/// A copy that is to go its own way gets a record of its own, of the same content.
void weft__side_clone(struct weft__worker *w, struct weft_packet *copy);
/// The record of a packet that nobody will look at again.
void weft__side_release(struct weft__worker *w, const struct weft_packet *packet);

/// The PSN of any packet.
static inline uint32_t weft__side_psn(const struct weft__worker *w, const struct weft_packet *packet) {
    return __builtin_expect(packet->side, 0) ? weft__side_of(w, packet)->psn : packet->psn;
}

#endif
