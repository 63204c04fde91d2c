// SPDX-License-Identifier: Apache-2.0
// A packet of the simulator as the frame that an engineer would capture. See frames.c and docs/capture.md.
#pragma once

#include "link/lldp.h"
#include "transport/frames.h"

enum { WEFT__FRAME_WRITTEN_MIN = 54 }; // headers of a data frame of RoCE, the shortest ones

/// Fills in the payload; the caller fills in the rest.
void weft__frames_init(struct weft__frames *frames);

/// The frame without FCS into `ret`, of WEFT__FRAME_BYTES_MAX bytes; `sender`: the port that sends it. Returns how many
/// bytes were written: packet->bytes - WEFT_FCS_BYTES unless only headers are wanted; never below
/// WEFT__FRAME_WRITTEN_MIN. `sack`: of selective acknowledgements.
size_t weft__frames_build(const struct weft__frames *frames, const struct weft_packet *packet,
                          const struct weft_sack *sack, uint32_t sender, uint8_t *ret);
