// SPDX-License-Identifier: Apache-2.0
// Frames inside tunnels. A switch that mirrors a port sends copies as ERSPAN: each mirrored port counts as an interface
// of its own, because the same packet, copied by several switches or ports, would otherwise look retransmitted.
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/grow.h"
#include "decode.h"
#include "weft/packet.h"

enum { LAYERS_MAX = 8, MACS = 12 };

static bool is_erspan(const struct weft_tunnel *t) {
    return t->kind == WEFT_TUNNEL_ERSPAN_1 || t->kind == WEFT_TUNNEL_ERSPAN_2 || t->kind == WEFT_TUNNEL_ERSPAN_3;
}

static const char *mirror_name(struct weft_decode *d, const struct weft_tunnel *t) {
    char text[WEFT_DECODE_TEXT];
    struct weft_decode_address src = {.network = t->ipv6 ? WEFT_DECODE_IPV6 : WEFT_DECODE_IPV4};
    memcpy(src.octet, t->src, sizeof t->src);
    weft_decode_address_text(&src, text);
    if (t->kind == WEFT_TUNNEL_ERSPAN_1) return weft_arena_format(d->arena, "erspan %s", text);
    return weft_arena_format(d->arena, "erspan %s/%u/%" PRIu32 "%s", text, t->session, t->port,
                             t->egress ? "/out" : "");
}

static bool same_mirror(const struct weft_decode_mirror *m, uint32_t interface, const struct weft_tunnel *t) {
    return m->interface == interface && m->session == t->session && m->port == t->port && m->egress == t->egress &&
           m->ipv6 == t->ipv6 && !memcmp(m->src, t->src, sizeof m->src);
}

/// The mirrored port as an interface. Beyond the largest number of them: the interface that captured the copy.
static uint32_t mirror_interface(struct weft_decode *d, uint32_t interface, const struct weft_tunnel *t) {
    for (uint32_t i = 0; i < d->mirrors; i++)
        if (same_mirror(&d->mirror[i], interface, t)) return WEFT_CAPTURE_INTERFACES_MAX + i;
    if (d->mirrors == WEFT_DECODE_MIRRORS_MAX) return interface;
    d->mirror = weft__arena_grow(d->arena, d->mirror, d->mirrors, sizeof *d->mirror);
    struct weft_decode_mirror *m = &d->mirror[d->mirrors];
    *m = (struct weft_decode_mirror){.interface = interface,
                                     .session = t->session,
                                     .port = t->port,
                                     .egress = t->egress,
                                     .ipv6 = t->ipv6,
                                     .as = {.link = WEFT_PCAPNG_ETHERNET, .name = mirror_name(d, t)}};
    memcpy(m->src, t->src, sizeof m->src);
    return WEFT_CAPTURE_INTERFACES_MAX + d->mirrors++;
}

/// `raw` becomes the header followed by its own bytes from `at` to `end`.
static void rebuild_frame(struct weft_decode *d, struct weft_capture_frame *raw, const uint8_t *header,
                          uint32_t header_bytes, const struct weft_tunnel *t) {
    uint32_t kept = (uint32_t)(t->end < raw->captured ? t->end : raw->captured) - (uint32_t)t->at;
    if (!d->unwrapped) d->unwrapped = weft_arena_alloc(d->arena, 1, WEFT_CAPTURE_FRAME_MAX + WEFT_ETHERNET_BYTES);
    memmove(d->unwrapped + header_bytes, raw->data + t->at, kept);
    if (header_bytes) memcpy(d->unwrapped, header, header_bytes);
    raw->data = d->unwrapped;
    raw->captured = header_bytes + kept;
    raw->bytes = header_bytes + (uint32_t)(t->end - t->at);
}

/// Removes one layer. An IP packet gets an Ethernet header without addresses; of several VLAN tags the innermost stays.
static void remove_layer(struct weft_decode *d, struct weft_capture_frame *raw, const struct weft_tunnel *t) {
    uint8_t header[WEFT_ETHERNET_BYTES];
    if (t->ethernet) {
        rebuild_frame(d, raw, NULL, 0, t);
    } else if (t->kind == WEFT_TUNNEL_QINQ) {
        memcpy(header, raw->data, MACS);
        header[MACS] = WEFT_ETHERTYPE_VLAN >> 8;
        header[MACS + 1] = WEFT_ETHERTYPE_VLAN & 0xff;
        rebuild_frame(d, raw, header, sizeof header, t);
    } else {
        bool v6 = raw->data[t->at] >> 4 == 6;
        struct weft_ethernet ethernet = {.ethertype = v6 ? WEFT_ETHERTYPE_IPV6 : WEFT_ETHERTYPE_IPV4};
        weft_ethernet_encode(&ethernet, header, sizeof header);
        rebuild_frame(d, raw, header, sizeof header, t);
    }
}

/// The end of a tunnel marks the packet inside if the packet around it was marked and the one inside may be (RFC 6040,
/// section 4.2). `frame` begins with an Ethernet header. False: there is no IP packet in it yet, but another layer.
static bool copy_mark(uint8_t *frame, uint32_t bytes) {
    uint32_t at = WEFT_ETHERNET_BYTES;
    unsigned type = bytes < at ? 0 : (unsigned)frame[at - 2] << 8 | frame[at - 1];
    if (type == WEFT_ETHERTYPE_VLAN && bytes >= at + WEFT_VLAN_BYTES) {
        type = (unsigned)frame[at + 2] << 8 | frame[at + 3];
        at += WEFT_VLAN_BYTES;
    }
    unsigned shift = type == WEFT_ETHERTYPE_IPV6 ? 4 : 0;
    if ((type != WEFT_ETHERTYPE_IPV4 && type != WEFT_ETHERTYPE_IPV6) || bytes < at + 2) return false;
    if (frame[at + 1] >> shift & WEFT_ECN_CE) frame[at + 1] |= (uint8_t)(WEFT_ECN_CE << shift);
    return true;
}

bool weft__decode_unwrap(struct weft_decode *d, struct weft_capture_frame *raw) {
    struct weft_tunnel t;
    unsigned layers = 0;
    bool marked = false;
    while (layers < LAYERS_MAX && weft__tunnel_decode(raw->data, raw->captured, raw->bytes, &t)) {
        layers++;
        d->tunnel[t.kind]++;
        if (is_erspan(&t)) raw->interface = mirror_interface(d, raw->interface, &t);
        remove_layer(d, raw, &t);
        marked = (marked || t.ce) && !is_erspan(&t);
        if (marked) marked = !copy_mark(d->unwrapped, raw->captured);
    }
    d->unwraps += layers > 0;
    return layers;
}

void weft__decode_unwrap_end(struct weft_decode *d) {
    if (d->mirrors)
        weft__decode_warn(d, "frames came as ERSPAN: times are those at which the copies arrived, and the speed of the "
                             "mirrored ports is not in the file");
    if (d->mirrors == WEFT_DECODE_MIRRORS_MAX)
        weft__decode_warn(d,
                          "more than %u mirrored ports: frames of later ones count at the interface that captured "
                          "them",
                          WEFT_DECODE_MIRRORS_MAX);
}

const char *weft_decode_tunnels_text(const struct weft_decode *d, struct weft_arena *arena) {
    const char *text = "";
    for (unsigned k = 0; k < WEFT_TUNNEL_KINDS; k++)
        if (d->tunnel[k])
            text = weft_arena_format(arena, "%s%s%s %" PRIu64, text, *text ? ", " : "", weft__tunnel_name(k),
                                     d->tunnel[k]);
    return text;
}

const struct weft_capture_interface *weft_decode_interface_at(const struct weft_decode *d, uint32_t interface) {
    assert(interface < WEFT_CAPTURE_INTERFACES_MAX + d->mirrors);
    if (interface >= WEFT_CAPTURE_INTERFACES_MAX) return &d->mirror[interface - WEFT_CAPTURE_INTERFACES_MAX].as;
    return weft_capture_interface_at(d->reader, interface);
}

uint32_t weft_decode_interfaces(const struct weft_decode *d) {
    return d->mirrors ? WEFT_CAPTURE_INTERFACES_MAX + d->mirrors : weft_capture_interfaces(d->reader);
}
