// SPDX-License-Identifier: Apache-2.0
// Room that several inputs fill together: one room for the whole switch, or one per output. An input that finds its
// room above XOFF is paused, and what it still sends goes to its own headroom. A packet goes completely to room or
// headroom; departing packets are taken from headroom first. Lossy priorities may use the room's whole size, have no
// XOFF, and drop beyond it.
#pragma once

#include "weft/buffer.h"

struct weft__shared_conf {
    weft_bytes size_bytes, xoff_bytes, xon_bytes, headroom_bytes, cell_bytes;
};

/// Like the operations of a buffer; `rooms` is 1 or the number of ports, `room` 0 or the packet's output.
const char *weft__shared_conf_check(const void *conf, char *text, size_t size);
const char *weft__shared_fit(const void *conf, uint32_t ports, uint8_t lossless_mask, uint32_t frame_bytes, char *text,
                             size_t size);
/// `of`: the owner of the room, for the text.
void weft__shared_plan(const void *conf, uint8_t lossless_mask, const char *of, struct weft_buffer_plan *ret_plan);
weft_bytes weft__shared_lossy_most(const void *conf, const struct weft_buffer_port *port, uint32_t ports,
                                   uint8_t lossless_mask, uint32_t priority);
size_t weft__shared_state_size(uint32_t ports, uint32_t rooms);
void weft__shared_init(void *state, uint32_t ports, uint32_t rooms, uint8_t lossless_mask);
enum weft_buffer_answer weft__shared_admit(void *state, const void *conf, uint32_t port, uint32_t room,
                                           uint32_t priority, uint32_t bytes);
enum weft_buffer_answer weft__shared_release(void *state, const void *conf, uint32_t port, uint32_t room,
                                             uint32_t priority, uint32_t bytes);
void weft__shared_prefetch(const void *state, uint32_t port, uint32_t priority);
enum weft_buffer_answer weft__shared_review(const void *state, const void *conf, uint32_t port, uint32_t priority);
void weft__shared_set_lossless(void *state, const void *conf, uint32_t port, uint8_t lossless_mask);
weft_bytes weft__shared_level(const void *state, const void *conf, uint32_t port, uint32_t priority);
weft_bytes weft__shared_room(const void *state, const void *conf, uint32_t port, uint32_t room, uint32_t priority);
weft_bytes weft__shared_level_max(const void *state, const void *conf, uint32_t port, uint32_t priority);
const char *weft__shared_check(const void *state, const void *conf);
weft_model_fingerprint weft__shared_fingerprint;
