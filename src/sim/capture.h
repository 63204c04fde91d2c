// SPDX-License-Identifier: Apache-2.0
// What the scenario's `capture` asks for: frames are noted at ports during the run and written as pcapng after it. A
// note is a packet, and for an answer its selective acknowledgement. Memory holds a limited number of notes per worker;
// the rest is in a temporary file beside the capture. The file does not depend on the number of workers.
#pragma once

#include "box/network.h"

/// Starts to write `path`, so that it fails here rather than after the run. `path` is untouched before
/// weft__capture_finish.
enum weft_status weft__capture_new(const struct weft__network *net, const char *path,
                                   struct weft__capture **ret_capture, struct weft_error *ret_error);
/// What a port notes for the capture; NULL: nothing.
struct weft__port_tap *weft__capture_tap(const struct weft__network *net, uint32_t port, struct weft_arena *arena);
enum weft_status weft__capture_finish(struct weft__capture *capture, struct weft_outcome *outcome,
                                      struct weft_error *ret_error);
void weft__capture_free(struct weft__capture *capture); ///< NULL: nothing

/// After a run over ranks: rank 0 has everything but the records that lie in files; these are sent to it, and it takes
/// them over.
void weft__capture_hand_over(const struct weft__capture *capture);
void weft__capture_take_over(const struct weft__capture *capture, uint32_t rank);
