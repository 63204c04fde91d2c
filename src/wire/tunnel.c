// SPDX-License-Identifier: Apache-2.0
// Sources: tunnel.h.
#include "tunnel.h"

#include <string.h>

#include "bytes.h"
#include "weft/packet.h"
#include "weft/wire.h"

enum ethertype { SERVICE_TAG = 0x88a8, OLD_TAG = 0x9100, OLD_TAG_2 = 0x9200, BRIDGED = 0x6558, ERSPAN = 0x88be };
enum { ERSPAN_3 = 0x22eb };
enum protocol { IP_IN_IP = 4, UDP = 17, IPV6_IN_IP = 41, GRE = 47 };
enum port { VXLAN = 4789, VXLAN_GPE = 4790, GENEVE = 6081, VXLAN_LINUX = 8472 };
enum { GRE_CHECKSUM = 0x8000, GRE_ROUTING = 0x4000, GRE_KEY = 0x2000, GRE_SEQUENCE = 0x1000, GRE_VERSION = 7 };
enum { GRE_BYTES = 4, ERSPAN_2_BYTES = 8, ERSPAN_3_BYTES = 12, ERSPAN_3_MORE = 8, VXLAN_BYTES = 8 };

/// Where the walk through the headers is.
struct walk {
    const uint8_t *byte;
    size_t at, size, end; ///< size: bytes kept; end: of the packet, by its lengths
    struct weft_tunnel *tunnel;
};

static bool has_bytes(const struct walk *w, size_t bytes) {
    return w->at + bytes <= w->size && w->at + bytes <= w->end;
}

static bool is_tag(unsigned type) {
    return type == WEFT_ETHERTYPE_VLAN || type == SERVICE_TAG || type == OLD_TAG || type == OLD_TAG_2;
}

/// The tunnel's payload begins here.
static bool found_payload(struct walk *w, enum weft_tunnel_kind kind, bool ethernet) {
    w->tunnel->kind = kind;
    w->tunnel->ethernet = ethernet;
    w->tunnel->at = w->at;
    w->tunnel->end = w->end;
    return has_bytes(w, ethernet ? WEFT_ETHERNET_BYTES : 1);
}

/// The payload is of that ethertype: a bridged frame, or an IP packet.
static bool found_type(struct walk *w, enum weft_tunnel_kind kind, unsigned type) {
    bool ethernet = type == BRIDGED;
    return (ethernet || type == WEFT_ETHERTYPE_IPV4 || type == WEFT_ETHERTYPE_IPV6) && found_payload(w, kind, ethernet);
}

// --- ERSPAN -------------------------------------------------------------------------------------------------------

static bool walk_erspan_2(struct walk *w) {
    if (!has_bytes(w, ERSPAN_2_BYTES)) return false;
    const uint8_t *b = w->byte + w->at;
    if (b[0] >> 4 != 1) return false;
    w->tunnel->session = weft__get16(b + 2) & 0x3ff;
    w->tunnel->port = weft__get32(b + 4) & 0xfffff;
    w->at += ERSPAN_2_BYTES;
    return found_payload(w, WEFT_TUNNEL_ERSPAN_2, true);
}

static bool walk_erspan_3(struct walk *w) {
    if (!has_bytes(w, ERSPAN_3_BYTES)) return false;
    const uint8_t *b = w->byte + w->at;
    unsigned last = weft__get16(b + 10), frame_type = last >> 10 & 31;
    if (b[0] >> 4 != 2 || (frame_type != 0 && frame_type != 2)) return false;
    w->tunnel->session = weft__get16(b + 2) & 0x3ff;
    w->tunnel->port = last >> 4 & 63;
    w->tunnel->egress = last >> 3 & 1;
    w->at += ERSPAN_3_BYTES + (size_t)(last & 1 ? ERSPAN_3_MORE : 0);
    return found_payload(w, WEFT_TUNNEL_ERSPAN_3, frame_type == 0);
}

// --- tunnels over IP ----------------------------------------------------------------------------------------------

static bool walk_gre(struct walk *w) {
    if (!has_bytes(w, GRE_BYTES)) return false;
    unsigned flags = weft__get16(w->byte + w->at), type = weft__get16(w->byte + w->at + 2);
    if (flags & (GRE_ROUTING | GRE_VERSION)) return false;
    w->at += GRE_BYTES + (flags & GRE_CHECKSUM ? 4u : 0) + (flags & GRE_KEY ? 4u : 0) + (flags & GRE_SEQUENCE ? 4u : 0);
    if (type == ERSPAN) return flags & GRE_SEQUENCE ? walk_erspan_2(w) : found_payload(w, WEFT_TUNNEL_ERSPAN_1, true);
    if (type == ERSPAN_3) return walk_erspan_3(w);
    return found_type(w, WEFT_TUNNEL_GRE, type);
}

/// The next protocol of VXLAN-GPE: IPv4, IPv6, Ethernet.
static bool walk_vxlan(struct walk *w, bool generic) {
    if (!has_bytes(w, VXLAN_BYTES)) return false;
    const uint8_t *b = w->byte + w->at;
    bool named = generic && b[0] & 4;
    if (!(b[0] & 8) || (named && (b[3] < 1 || b[3] > 3))) return false;
    w->at += VXLAN_BYTES;
    return found_payload(w, WEFT_TUNNEL_VXLAN, !named || b[3] == 3);
}

static bool walk_geneve(struct walk *w) {
    if (!has_bytes(w, VXLAN_BYTES)) return false;
    const uint8_t *b = w->byte + w->at;
    if (b[0] >> 6) return false;
    w->at += VXLAN_BYTES + (size_t)(b[0] & 63) * 4;
    return found_type(w, WEFT_TUNNEL_GENEVE, weft__get16(b + 2));
}

static bool walk_udp(struct walk *w) {
    if (!has_bytes(w, WEFT_UDP_BYTES)) return false;
    unsigned port = weft__get16(w->byte + w->at + 2);
    w->at += WEFT_UDP_BYTES;
    if (port == GENEVE) return walk_geneve(w);
    return (port == VXLAN || port == VXLAN_LINUX || port == VXLAN_GPE) && walk_vxlan(w, port == VXLAN_GPE);
}

static bool walk_protocol(struct walk *w, unsigned protocol) {
    if (protocol == GRE) return walk_gre(w);
    if (protocol == UDP) return walk_udp(w);
    return (protocol == IP_IN_IP || protocol == IPV6_IN_IP) && found_payload(w, WEFT_TUNNEL_IP_IN_IP, false);
}

/// The packet ends where its length says, before the padding of a short frame.
static bool end_after(struct walk *w, size_t bytes) {
    if (bytes > w->end - w->at) return false;
    w->end = w->at + bytes;
    return true;
}

static bool walk_ipv4(struct walk *w) {
    if (!has_bytes(w, WEFT_IPV4_BYTES)) return false;
    const uint8_t *b = w->byte + w->at;
    size_t header = (size_t)(b[0] & 15) * 4;
    bool fragment = weft__get16(b + 6) & 0x3fff; // more fragments follow, or an offset
    if (b[0] >> 4 != 4 || header < WEFT_IPV4_BYTES || fragment || !end_after(w, weft__get16(b + 2))) return false;
    memcpy(w->tunnel->src, b + 12, 4);
    w->tunnel->ce = (b[1] & 3) == WEFT_ECN_CE;
    w->at += header;
    return walk_protocol(w, b[9]);
}

static bool walk_ipv6(struct walk *w) {
    if (!has_bytes(w, WEFT_IPV6_BYTES)) return false;
    const uint8_t *b = w->byte + w->at;
    if (b[0] >> 4 != 6 || !end_after(w, WEFT_IPV6_BYTES + (size_t)weft__get16(b + 4))) return false;
    memcpy(w->tunnel->src, b + 8, 16);
    w->tunnel->ipv6 = true;
    w->tunnel->ce = (b[1] >> 4 & 3) == WEFT_ECN_CE;
    w->at += WEFT_IPV6_BYTES;
    return walk_protocol(w, b[6]);
}

bool weft__tunnel_decode(const uint8_t *frame, size_t size, size_t bytes, struct weft_tunnel *ret) {
    *ret = (struct weft_tunnel){0};
    struct walk w = {.byte = frame, .at = WEFT_ETHERNET_BYTES, .size = size, .end = bytes, .tunnel = ret};
    if (!has_bytes(&w, 0)) return false;
    unsigned type = weft__get16(frame + WEFT_ETHERNET_BYTES - 2), tags = 0;
    bool service = false;
    for (; is_tag(type); tags++) {
        service |= type != WEFT_ETHERTYPE_VLAN;
        if (!has_bytes(&w, WEFT_VLAN_BYTES)) return false;
        type = weft__get16(frame + w.at + 2);
        w.at += WEFT_VLAN_BYTES;
    }
    if (tags > 1 || service) {
        w.at -= WEFT_VLAN_BYTES;
        return found_payload(&w, WEFT_TUNNEL_QINQ, false);
    }
    if (type == WEFT_ETHERTYPE_IPV4) return walk_ipv4(&w);
    return type == WEFT_ETHERTYPE_IPV6 && walk_ipv6(&w);
}

const char *weft__tunnel_name(enum weft_tunnel_kind kind) {
    static const char *const name[WEFT_TUNNEL_KINDS] = {
        [WEFT_TUNNEL_QINQ] = "QinQ",           [WEFT_TUNNEL_GRE] = "GRE",
        [WEFT_TUNNEL_ERSPAN_1] = "ERSPAN I",   [WEFT_TUNNEL_ERSPAN_2] = "ERSPAN II",
        [WEFT_TUNNEL_ERSPAN_3] = "ERSPAN III", [WEFT_TUNNEL_VXLAN] = "VXLAN",
        [WEFT_TUNNEL_GENEVE] = "GENEVE",       [WEFT_TUNNEL_IP_IN_IP] = "IP in IP",
    };
    return name[kind];
}
