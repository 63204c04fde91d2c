// SPDX-License-Identifier: Apache-2.0
// What the parts of weft decode share.
#pragma once

#include "weft/decode.h"
#include "wire/tunnel.h"

struct weft__decode_at {
    const struct weft_capture_frame *raw;
    const struct weft_frame *frame;
    weft_time_ps time_ps;
};

void weft__decode_roce(struct weft_decode *d, const struct weft__decode_at *at);
/// Messages that are open at the end of the file, and numbers that never arrived.
void weft__decode_roce_end(struct weft_decode *d);
void weft__decode_pause(struct weft_decode *d, const struct weft__decode_at *at);
void weft__decode_pause_end(struct weft_decode *d);
void weft__decode_lldp(struct weft_decode *d, const struct weft__decode_at *at);
void weft__decode_lldp_end(struct weft_decode *d);
/// Replaces a wrapped frame by the frame inside, and its interface by the port that a switch mirrored. False: the frame
/// is not wrapped.
bool weft__decode_unwrap(struct weft_decode *d, struct weft_capture_frame *raw);
void weft__decode_unwrap_end(struct weft_decode *d);
void weft__decode_warn(struct weft_decode *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

/// The classification of a sequence number.
enum weft__decode_psn { WEFT__PSN_NEXT, WEFT__PSN_GAP, WEFT__PSN_LATE, WEFT__PSN_RESENT, WEFT__PSN_RESTART };
/// `ret_skipped`: numbers skipped by a GAP.
enum weft__decode_psn weft__decode_psn(struct weft_decode_psns *s, uint32_t psn, uint32_t *ret_skipped);
/// How many of the skipped numbers have not arrived since.
uint64_t weft__decode_missing(const struct weft_decode_psns *s);
/// Reassembles messages from packets; `is` NEXT, GAP or RESTART.
void weft__decode_message(struct weft_decode *d, struct weft_conversation *c, const struct weft__decode_at *at,
                          weft_bytes payload, enum weft__decode_psn is, uint32_t skipped);
void weft__decode_message_end(struct weft_decode *d, struct weft_conversation *c);
