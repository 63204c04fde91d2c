// SPDX-License-Identifier: Apache-2.0
// A cell of the simulator as the bytes on a GNet link. See cells.c and docs/capture.md.
#ifndef WEFT_BOX_TIN_TIN_CELLS_H
#define WEFT_BOX_TIN_TIN_CELLS_H

#include "box/network.h"

/// Whether pods and TiNs have addresses in a cell's header.
enum weft_status weft__cells_check(const struct weft_topology *t, struct weft_place place,
                                   struct weft_error *ret_error);
/// The cell that the port `sender`, among all, sends, into `ret`, which has room for 160 octets; how many were written.
size_t weft__cells_build(const struct weft__network *net, const struct weft_packet *cell, uint32_t sender,
                         uint8_t *ret);

#endif
