// SPDX-License-Identifier: Apache-2.0
// The record of a receiver that accepts packets out of order. See reorder.c.
#pragma once

#include "weft/types.h"

struct weft__reorder_conf {
    uint64_t packets;        ///< accepts at most this many beyond the first missing one
    weft_time_ps timeout_ps; ///< then it asks for the missing packet
};

struct weft__reorder {
    weft_time_ps since_ps; ///< when the first of them arrived after the last in-order packet
    uint32_t ahead;        ///< packets that arrived beyond the expected one
    bool messages;         ///< one of these ended a message
    uint64_t bits[];       ///< [words] one bit per packet: it arrived; then, if there are messages: it ended one
};

enum weft__reorder_verdict { WEFT__REORDER_PLACED, WEFT__REORDER_CAME_BEFORE, WEFT__REORDER_TOO_FAR };

size_t weft__reorder_size(const struct weft__reorder_conf *conf, bool messages); ///< of its state, which must be zeroed
/// A packet beyond `expected` arrived. `last`: it ends a message.
enum weft__reorder_verdict weft__reorder_put(struct weft__reorder *r, const struct weft__reorder_conf *conf,
                                             weft_time_ps now, uint32_t expected, uint32_t psn, bool last);
/// The expected packet has been missing for long enough.
bool weft__reorder_is_overdue(const struct weft__reorder *r, const struct weft__reorder_conf *conf, weft_time_ps now);
/// The expected packet arrived. Returns the next one to expect, and how many messages ended in the packets that had
/// arrived before.
uint32_t weft__reorder_next(struct weft__reorder *r, const struct weft__reorder_conf *conf, weft_time_ps now,
                            uint32_t expected, uint32_t *ret_messages);
/// Whether a packet beyond `expected` has arrived.
bool weft__reorder_has(const struct weft__reorder *r, const struct weft__reorder_conf *conf, uint32_t expected,
                       uint32_t psn);
/// Which of the 64 packets from `base` on, which is beyond `expected`, have arrived.
uint64_t weft__reorder_bits(const struct weft__reorder *r, const struct weft__reorder_conf *conf, uint32_t expected,
                            uint32_t base);
/// NULL, or what is wrong with the record.
const char *weft__reorder_check(const struct weft__reorder *r, const struct weft__reorder_conf *conf,
                                uint32_t expected);
