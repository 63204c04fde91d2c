// SPDX-License-Identifier: Apache-2.0
// What the two ends of a connection tell each other through shared memory: the length of a message, the step that it
// belongs to, when its buffer was posted. Over ranks (engine/ranks.h) this travels with the packet after which the
// other end reads it.
#pragma once

#include "transport/endpoint.h"

/// For a packet of a job, or of remote memory access by software: returns how many bytes were put into `ret`, which has
/// room for WEFT__COMPANION_BYTES.
uint32_t weft__companions_give(const struct weft__hosts *hosts, const struct weft_packet *packet, unsigned char *ret);
void weft__companions_take(const struct weft__hosts *hosts, const struct weft_packet *packet,
                           const unsigned char *bytes, uint32_t n);
/// After the run: clears what was written here for others to read, where `owns` says that it is not this rank's.
void weft__companions_forget(const struct weft__hosts *hosts, bool (*owns)(const void *context, uint32_t host),
                             const void *context);
