// SPDX-License-Identifier: Apache-2.0
// Where a host is attached: a stream or datagram socket of this machine, or a network interface. Sockets are made with
// mode 0600, and nothing listens beyond the machine.
#pragma once

#include "live/framing.h"
#include "weft/live.h"

enum weft__attach_kind { WEFT__ATTACH_STREAM, WEFT__ATTACH_DGRAM, WEFT__ATTACH_INTERFACE };

struct weft__attach {
    enum weft__attach_kind kind;
    struct weft_live_attached *counts;
    const char *path, *peer; ///< of sockets; path: of an interface, its name
    int listener, fd;        ///< -1: none
    struct weft__framing *framing;
    uint8_t *out; ///< what a stream has not taken yet: from out_at to out_n
    size_t out_at, out_n;
};

/// `counts->where` and `ended` go to `arena`. Close it whatever it returns.
enum weft_status weft__attach_open(struct weft__attach *a, const struct weft_live_host *conf, struct weft_place place,
                                   struct weft_arena *arena, struct weft_error *ret_error);
void weft__attach_close(struct weft__attach *a);
/// A socket with that path and mode 0600, of the type SOCK_STREAM (listening) or SOCK_DGRAM; replaces one that is
/// there.
int weft__attach_bind(const char *path, int type);
int weft__attach_connect(const char *path);
/// The host connects.
void weft__attach_accept(struct weft__attach *a);
/// Reads what has come, `frames` frames about. The host may be gone afterwards: fd is -1.
void weft__attach_read(struct weft__attach *a, uint32_t frames, weft__framing_on_frame *on_frame, void *context);
/// False: the host does not take it, and the frame is lost.
bool weft__attach_write(struct weft__attach *a, const uint8_t *frame, size_t length);
void weft__attach_flush(struct weft__attach *a);
static inline bool weft__attach_waits(const struct weft__attach *a) {
    return a->out_at < a->out_n;
}
