// SPDX-License-Identifier: Apache-2.0
// What a receiver keeps account of that accepts packets out of order. See reorder.c.
#ifndef WEFT_TRANSPORT_REORDER_H
#define WEFT_TRANSPORT_REORDER_H

#include "weft/types.h"

struct weft__reorder_conf {
    uint64_t packets;        ///< accepted beyond the first missing one at most
    weft_time_ps timeout_ps; ///< then the missing one is asked for
};

struct weft__reorder {
    weft_time_ps since_ps; ///< when the first of them came after the last that was in order
    uint32_t ahead;        ///< packets that came beyond the expected one
    bool messages;         ///< one that came ended a message
    uint64_t bits[];       ///< [words] a bit a packet: it came; then, where there are messages: it ended one
};

enum weft__reorder_verdict { WEFT__REORDER_PLACED, WEFT__REORDER_CAME_BEFORE, WEFT__REORDER_TOO_FAR };

size_t weft__reorder_size(const struct weft__reorder_conf *conf, bool messages); ///< of its state, zeroed
/// A packet beyond `expected` came. `last`: it ends a message.
enum weft__reorder_verdict weft__reorder_put(struct weft__reorder *r, const struct weft__reorder_conf *conf,
                                             weft_time_ps now, uint32_t expected, uint32_t psn, bool last);
/// The expected packet has been missing for long enough.
bool weft__reorder_is_overdue(const struct weft__reorder *r, const struct weft__reorder_conf *conf, weft_time_ps now);
/// The expected packet came: the next one to expect, and how many messages ended among those that had come before.
uint32_t weft__reorder_next(struct weft__reorder *r, const struct weft__reorder_conf *conf, weft_time_ps now,
                            uint32_t expected, uint32_t *ret_messages);
/// A packet beyond `expected` has come.
bool weft__reorder_has(const struct weft__reorder *r, const struct weft__reorder_conf *conf, uint32_t expected,
                       uint32_t psn);
/// Which of the 64 packets from `base` on, which is beyond `expected`, have come.
uint64_t weft__reorder_bits(const struct weft__reorder *r, const struct weft__reorder_conf *conf, uint32_t expected,
                            uint32_t base);
/// NULL, or what is wrong with the account.
const char *weft__reorder_check(const struct weft__reorder *r, const struct weft__reorder_conf *conf,
                                uint32_t expected);

#endif
