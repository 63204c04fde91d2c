// SPDX-License-Identifier: Apache-2.0
// Captures as Wireshark reads them: writer of pcapng (draft-ietf-opsawg-pcapng). One section: first its header, then
// its interfaces, then names and packets in any order. Little-endian everywhere, so the same calls give the same file
// on every machine. What goes wrong with the file shows in ferror.
#pragma once

#include <stdio.h>

#include "weft/types.h"

enum weft_pcapng_direction { WEFT_PCAPNG_UNKNOWN = 0, WEFT_PCAPNG_INBOUND = 1, WEFT_PCAPNG_OUTBOUND = 2 };

/// LINKTYPE_ETHERNET; LINKTYPE_USER0, whose content is private to the writer and the reader of a file.
enum weft_pcapng_link { WEFT_PCAPNG_ETHERNET = 1, WEFT_PCAPNG_USER0 = 147 };

/// Stamped in nanoseconds; Ethernet frames without FCS.
struct weft_pcapng_interface {
    enum weft_pcapng_link link; ///< 0: Ethernet
    const char *name, *description;
    weft_rate_bps rate_bps;
    uint32_t snaplen;   ///< bytes of a frame kept at most; 0: all
    const uint8_t *mac; ///< 6 bytes, or NULL
    uint32_t ipv4;      ///< 0: none
};

struct weft_pcapng_packet {
    uint32_t interface; ///< by order in the file, from 0
    uint64_t time_ns;
    uint32_t bytes;    ///< of the frame
    uint32_t captured; ///< of them in `frame`
    const uint8_t *frame;
    enum weft_pcapng_direction direction; ///< as seen from the interface
    const char *comment;                  ///< may be NULL
};

/// `application`: who writes; `comment` may be NULL. Texts are cut at 65535 bytes.
void weft_pcapng_write_section(FILE *file, const char *application, const char *comment);
void weft_pcapng_write_interface(FILE *file, const struct weft_pcapng_interface *interface);
/// That an IPv4 address is shown by this name.
void weft_pcapng_write_name(FILE *file, uint32_t ipv4, const char *name);
/// So many bytes of the file, always.
uint32_t weft_pcapng_packet_bytes(const struct weft_pcapng_packet *packet);
void weft_pcapng_write_packet(FILE *file, const struct weft_pcapng_packet *packet);
