// SPDX-License-Identifier: Apache-2.0
// What the two ends of a connection tell each other by memory that both see: how long a message is, which step it
// belongs to, when its buffer was posted. Over ranks (engine/ranks.h) it goes with the packet after which the other end
// reads it.
#ifndef WEFT_TRANSPORT_COMPANION_H
#define WEFT_TRANSPORT_COMPANION_H

#include "transport/endpoint.h"

struct weft__companions;

/// Of a run with jobs or remote memory access by software; `hosts`, which is kept, has all of them.
void weft__companions_init(struct weft__companions *companions, const struct weft__hosts *hosts);
/// After the run: forgets what was written here for others to read that `owns` says is not of this rank.
void weft__companions_forget(const struct weft__hosts *hosts, bool (*owns)(const void *context, uint32_t host),
                             const void *context);

#endif
