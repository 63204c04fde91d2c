// SPDX-License-Identifier: Apache-2.0
// Captures of others and of weft: a streaming reader of pcap and pcapng. It reads a file once from front to back, pipes
// too, and keeps one frame at a time. libpcap would read the frames, but says neither which interface saw one, nor its
// direction, nor the interface's speed, nor where in the file a fault is.
// Sources: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng.
#pragma once

#include <stdio.h>

#include "weft/memory.h"
#include "weft/pcapng.h"

#define WEFT_CAPTURE_FRAME_MAX (1u << 18) ///< bytes kept of a frame at most, as in libpcap
#define WEFT_CAPTURE_INTERFACES_MAX 4096u

struct weft_capture_interface {
    const char *name;       ///< NULL: the file has none
    uint32_t link;          ///< LINKTYPE: enum weft_pcapng_link, among others
    weft_rate_bps rate_bps; ///< 0: the file does not say
    uint8_t fcs_bytes;      ///< at the end of each frame
    uint8_t resolution;     ///< of stamps: 10^-n s, or 2^-n s with the highest bit
    int64_t offset_s;       ///< to be added to stamps
};

struct weft_capture_frame {
    uint64_t number, offset;  ///< from 1; of its record in the file, in bytes
    uint32_t interface;       ///< number in the order of the file, over all sections
    uint64_t time_ns;         ///< since 1970, as far as 64 bits go; 0: no stamp
    uint32_t bytes, captured; ///< of the frame; of them in `data`
    const uint8_t *data;      ///< until the next one is read
    enum weft_pcapng_direction direction;
};

struct weft_capture_reader;

/// Reads up to the first frame's record. `file` stays the caller's; `name` is what errors call it. No pcap and no
/// pcapng, or a file that ends within its first header: an error with the byte.
enum weft_status weft_capture_open(FILE *file, const char *name, struct weft_arena *arena,
                                   struct weft_capture_reader **ret_reader, struct weft_error *ret_error);
/// The next frame; `*ret_any` false: there is none. A record whose lengths contradict one another, or of an interface
/// that is not described, is an error with the byte. A file that ends within a record ends there: weft_capture_cut.
enum weft_status weft_capture_next(struct weft_capture_reader *reader, struct weft_capture_frame *ret_frame,
                                   bool *ret_any, struct weft_error *ret_error);
/// Where the record begins in which the file ends; 0: it ends behind one.
uint64_t weft_capture_cut(const struct weft_capture_reader *reader);
/// Bytes of the file read so far.
uint64_t weft_capture_bytes(const struct weft_capture_reader *reader);
uint32_t weft_capture_interfaces(const struct weft_capture_reader *reader);
const struct weft_capture_interface *weft_capture_interface_at(const struct weft_capture_reader *reader, uint32_t i);
