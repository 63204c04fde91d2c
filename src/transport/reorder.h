// SPDX-License-Identifier: Apache-2.0
// What a receiver keeps account of that accepts packets out of order. See reorder.c.
#ifndef WEFT_TRANSPORT_REORDER_H
#define WEFT_TRANSPORT_REORDER_H

#include "transport/qp.h"
#include "weft/device.h"

enum weft__reorder { WEFT__REORDER_PLACED, WEFT__REORDER_CAME_BEFORE, WEFT__REORDER_TOO_FAR };
size_t weft__reorder_words(const struct weft_host_conf *conf); ///< of weft__qp_reorder.came
/// A packet beyond `expected` came. `last`: it ends a message.
enum weft__reorder weft__reorder_put(struct weft__qp_reorder *r, const struct weft_host_conf *conf, weft_time_ps now,
                                     uint32_t expected, uint32_t psn, bool last);
/// The expected packet has been missing for long enough.
bool weft__reorder_is_overdue(const struct weft__qp_reorder *r, const struct weft_host_conf *conf, weft_time_ps now);
/// The expected packet came: the next one to expect, and how many messages ended among those that had come before.
uint32_t weft__reorder_next(struct weft__qp_reorder *r, const struct weft_host_conf *conf, weft_time_ps now,
                            uint32_t expected, uint32_t *ret_messages);

#endif
