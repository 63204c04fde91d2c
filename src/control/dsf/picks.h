// SPDX-License-Identifier: Apache-2.0
// Choices of input balanced mode that a scenario makes itself (control.reachability.picks).
#ifndef WEFT_CONTROL_DSF_PICKS_H
#define WEFT_CONTROL_DSF_PICKS_H

#include "weft/control.h"

/// Whether all names are ports of fabric nodes of one of the fabrics.
enum weft_status weft__picks_check(struct weft_fabric *const *fabric, uint32_t fabrics, const char *picks,
                                   struct weft_error *ret_error);
/// The links that a device withdraws before others, in order; in `arena`.
const uint16_t *weft__picks_of(const struct weft_fabric *f, uint32_t device, const char *picks, uint32_t *ret_n,
                               struct weft_arena *arena);

#endif
