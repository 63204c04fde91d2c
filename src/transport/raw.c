// SPDX-License-Identifier: Apache-2.0
// Which frames are one conversation, and where each goes: a bridge that learns (IEEE 802.1Q clause 8.7), whose group
// addresses and unknown addresses go to all attached hosts and take no part in the network. Reserved addresses
// (01-80-C2-00-00-0X, table 8-1) end at the port. Marks are put into real headers (RFC 3168, RFC 1624).
#include "transport/raw.h"

#include <string.h>

#include "base/digest.h"
#include "base/grow.h"
#include "weft/packet.h"
#include "weft/sim.h"

const char *const weft_frame_fate_names[] = {
#define X(e, name, help) [WEFT_FRAME_##e] = name,
    WEFT_FRAME_FATES_LIST(X)
#undef X
};

const char *const weft_frame_fate_help[] = {
#define X(e, name, help) [WEFT_FRAME_##e] = help,
    WEFT_FRAME_FATES_LIST(X)
#undef X
};

enum { IPV4 = 0x0800, IPV6 = 0x86dd, TAG = 0x8100, TAG_S = 0x88a8, LLDP = 0x88cc, CONTROL = 0x8808 };
enum { TCP = 6, UDP = 17 };

static uint32_t word_at(const uint8_t *b, size_t at) {
    return (uint32_t)b[at] << 8 | b[at + 1];
}

static uint64_t mac_at(const uint8_t *b) {
    uint64_t mac = 1; // no address is 0, which is no key
    for (unsigned i = 0; i < 6; i++)
        mac = mac << 8 | b[i];
    return mac;
}

// --- the map ------------------------------------------------------------------------------------------------------

static uint32_t slot_of(const struct weft__raw_map *m, uint64_t key) {
    uint32_t i = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32);
    while (m->key[i & (m->slots - 1)] && m->key[i & (m->slots - 1)] != key)
        i++;
    return i & (m->slots - 1);
}

static uint32_t find_value(const struct weft__raw_map *m, uint64_t key) {
    uint32_t i = m->slots ? slot_of(m, key) : 0;
    return m->slots && m->key[i] ? m->value[i] : WEFT_NONE;
}

static void set_value(struct weft__raw_map *m, struct weft_arena *arena, uint64_t key, uint32_t value) {
    if (2 * (m->n + 1) > m->slots) {
        struct weft__raw_map old = *m;
        m->slots = old.slots ? 2 * old.slots : 64;
        m->key = weft_arena_alloc(arena, m->slots, sizeof *m->key);
        m->value = weft_arena_alloc(arena, m->slots, sizeof *m->value);
        for (uint32_t i = 0; i < old.slots; i++) {
            uint32_t to = old.key[i] ? slot_of(m, old.key[i]) : WEFT_NONE;
            if (to == WEFT_NONE) continue;
            m->key[to] = old.key[i];
            m->value[to] = old.value[i];
        }
    }
    uint32_t i = slot_of(m, key);
    m->n += !m->key[i];
    m->key[i] = key;
    m->value[i] = value;
}

// --- hosts --------------------------------------------------------------------------------------------------------

struct weft__raw *weft__raw_new(const struct weft_topology *t, struct weft_arena *arena) {
    struct weft__raw *raw = weft_arena_alloc(arena, 1, sizeof *raw);
    uint8_t(*mac)[6] = weft_arena_alloc(arena, t->hosts, sizeof *mac);
    *raw = (struct weft__raw){.arena = arena, .hosts = t->hosts, .mac = (const uint8_t(*)[6])mac};
    raw->host = weft_arena_alloc(arena, t->hosts, sizeof(struct weft__raw_host *));
    for (uint32_t h = 0; h < t->hosts; h++) {
        weft_address_mac(t->node[t->host[h]].port0, mac[h]);
        set_value(&raw->at, arena, mac_at(mac[h]), h);
    }
    return raw;
}

void weft__raw_attach(struct weft__raw *raw, uint32_t host) {
    if (raw->host[host]) return;
    raw->host[host] = weft_arena_alloc(raw->arena, 1, sizeof *raw->host[host]);
    raw->host[host]->raw = raw;
}

struct weft__raw *weft__raw_copy(const struct weft__raw *raw, struct weft_arena *arena) {
    struct weft__raw *copy = weft_arena_alloc(arena, 1, sizeof *copy);
    *copy = *raw;
    copy->arena = arena;
    copy->conversation = weft_arena_alloc(arena, raw->conversations, sizeof *copy->conversation);
    if (raw->conversations)
        memcpy(copy->conversation, raw->conversation, raw->conversations * sizeof *copy->conversation);
    copy->host = weft_arena_alloc(arena, raw->hosts, sizeof(struct weft__raw_host *));
    for (uint32_t h = 0; h < raw->hosts; h++) {
        if (!raw->host[h]) continue;
        copy->host[h] = weft_arena_alloc(arena, 1, sizeof *copy->host[h]);
        *copy->host[h] = *raw->host[h];
        copy->host[h]->raw = copy;
    }
    return copy;
}

// --- conversations ------------------------------------------------------------------------------------------------

struct headers {
    uint8_t dscp, ecn, protocol;
    size_t addresses, address_bytes; ///< where they begin; 0 bytes: not IP
    size_t ports;                    ///< 0: none
};

static void read_ipv4(const uint8_t *b, size_t length, struct headers *h) {
    size_t at = WEFT__RAW_HEADER, own = (size_t)(b[at] & 15) * 4;
    if (b[at] >> 4 != 4 || own < 20) return;
    h->dscp = b[at + 1] >> 2;
    h->ecn = b[at + 1] & 3;
    h->protocol = b[at + 9];
    h->addresses = at + 12;
    h->address_bytes = 8;
    bool fragment = word_at(b, at + 6) & 0x3fff; // more to come, or an offset
    bool ported = h->protocol == TCP || h->protocol == UDP;
    if (!fragment && ported && length >= at + own + 4) h->ports = at + own;
}

static void read_ipv6(const uint8_t *b, size_t length, struct headers *h) {
    size_t at = WEFT__RAW_HEADER;
    uint32_t class = word_at(b, at) >> 4 & 0xff;
    h->dscp = (uint8_t)(class >> 2);
    h->ecn = class & 3;
    h->protocol = b[at + 6];
    h->addresses = at + 8;
    h->address_bytes = 32;
    if ((h->protocol == TCP || h->protocol == UDP) && length >= at + 44) h->ports = at + 40;
}

static struct headers read_headers(const uint8_t *b, size_t length) {
    struct headers h = {0};
    uint32_t type = word_at(b, 12);
    if (type == IPV4 && length >= WEFT__RAW_HEADER + 20) read_ipv4(b, length, &h);
    if (type == IPV6 && length >= WEFT__RAW_HEADER + 40) read_ipv6(b, length, &h);
    return h;
}

/// Hosts, MAC addresses and EtherType; of IP also protocol, addresses, ports and DSCP.
static void fill_key(uint8_t *key, const uint8_t *b, const struct headers *h) {
    memcpy(key, b, WEFT__RAW_HEADER);
    key[14] = h->dscp;
    key[15] = h->protocol;
    if (h->address_bytes) memcpy(key + 16, b + h->addresses, h->address_bytes);
    if (h->ports) memcpy(key + 48, b + h->ports, 4);
}

static uint32_t find_conversation(struct weft__raw *raw, uint32_t src, uint32_t dst, const uint8_t *b, size_t length) {
    struct headers h = read_headers(b, length);
    uint8_t key[WEFT__RAW_KEY_BYTES] = {0};
    fill_key(key, b, &h);
    uint64_t start = weft__hash(WEFT__HASH_START, &src, sizeof src), hash = weft__hash(start, key, sizeof key) | 1;
    uint32_t c;
    while ((c = find_value(&raw->known, hash)) != WEFT_NONE) {
        const struct weft__raw_conversation *own = &raw->conversation[c];
        if (own->src == src && own->dst == dst && !memcmp(own->key, key, sizeof key)) return c;
        hash += 2;
    }
    if (raw->conversations == WEFT__RAW_CONVERSATIONS_MAX) return WEFT_NONE;
    struct weft__raw_conversation new = {.src = src, .dst = dst, .dscp = h.dscp, .start_ps = WEFT_TIME_NEVER};
    memcpy(new.key, key, sizeof key);
    bool chosen = h.ports && h.protocol == UDP; // RoCEv2 chooses among paths by its source port
    new.entropy = (uint16_t)((chosen ? word_at(b, h.ports) : (uint32_t)(hash >> 40)) & 0x3fff);
    c = raw->conversations;
    WEFT__ADD(raw->arena, raw->conversation, raw->conversations) = new;
    set_value(&raw->known, raw->arena, hash, c);
    return c;
}

static enum weft_frame_fate judge_reserved(const uint8_t *b) {
    if (word_at(b, 12) == LLDP) return WEFT_FRAME_LLDP;
    return word_at(b, 12) == CONTROL ? WEFT_FRAME_PAUSE : WEFT_FRAME_RESERVED;
}

static void learn_source(struct weft__raw *raw, uint32_t host, const uint8_t *mac) {
    uint32_t known = find_value(&raw->at, mac_at(mac));
    if (known == host || (known == WEFT_NONE && raw->at.n >= raw->hosts + WEFT__RAW_LEARNED_MAX)) return;
    if (known != WEFT_NONE && !raw->host[known]) return; // of a simulated host
    set_value(&raw->at, raw->arena, mac_at(mac), host);
}

static enum weft_frame_fate judge_frame(struct weft__raw *raw, uint32_t host, const uint8_t *b, size_t length,
                                        uint32_t *ret_conversation) {
    static const uint8_t reserved[] = {0x01, 0x80, 0xc2, 0x00, 0x00};
    if (length < WEFT__RAW_HEADER) return WEFT_FRAME_SHORT;
    if (length + WEFT__RAW_FCS > UINT16_MAX) return WEFT_FRAME_LONG;
    if (!memcmp(b, reserved, sizeof reserved) && b[5] < 16) return judge_reserved(b);
    if (b[6] & 1) return WEFT_FRAME_BAD_SOURCE;
    learn_source(raw, host, b + 6);
    if (word_at(b, 12) == TAG || word_at(b, 12) == TAG_S) return WEFT_FRAME_VLAN;
    if (b[0] & 1) return WEFT_FRAME_FLOODED;
    uint32_t to = find_value(&raw->at, mac_at(b));
    if (to == WEFT_NONE) return WEFT_FRAME_UNKNOWN;
    if (to == host) return WEFT_FRAME_OWN;
    if (!raw->host[to]) return WEFT_FRAME_SIMULATED;
    *ret_conversation = find_conversation(raw, host, to, b, length);
    return *ret_conversation == WEFT_NONE ? WEFT_FRAME_CROWD : WEFT_FRAME_SENT;
}

enum weft_frame_fate weft__raw_judge(struct weft__raw *raw, uint32_t host, const uint8_t *bytes, size_t length,
                                     uint32_t *ret_conversation) {
    enum weft_frame_fate fate = judge_frame(raw, host, bytes, length, ret_conversation);
    raw->host[host]->counts[fate]++;
    return fate;
}

uint32_t weft__raw_add(struct weft__raw *raw, uint32_t conversation, weft_time_ps time, const uint8_t *bytes,
                       uint32_t length) {
    struct weft__raw_conversation *c = &raw->conversation[conversation];
    struct weft__raw_host *h = raw->host[c->src];
    if (h->dues && raw->frame[h->due[h->dues - 1]].time_ps > time) time = raw->frame[h->due[h->dues - 1]].time_ps;
    if (c->start_ps == WEFT_TIME_NEVER) c->start_ps = time;
    c->bytes += length;
    uint8_t ecn = read_headers(bytes, length).ecn;
    WEFT__ADD(raw->arena, h->due, h->dues) = raw->frames;
    WEFT__ADD(raw->arena, raw->frame, raw->frames) = (struct weft__raw_frame){
        .time_ps = time, .bytes = bytes, .conversation = conversation, .length = length, .ecn = ecn};
    return raw->frames - 1;
}

// --- what arrives -------------------------------------------------------------------------------------------------

/// Sets the ECN field, and mends the sum of an IPv4 header: one word of it has changed (RFC 1624, equation 3).
static void write_mark(uint8_t *b) {
    size_t at = WEFT__RAW_HEADER;
    if (word_at(b, 12) == IPV6) {
        b[at + 1] |= WEFT_ECN_CE << 4;
        return;
    }
    uint32_t before = word_at(b, at), sum = ~word_at(b, at + 10) & 0xffff;
    b[at + 1] |= WEFT_ECN_CE;
    sum += (~before & 0xffff) + word_at(b, at);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = ~((sum & 0xffff) + (sum >> 16)) & 0xffff;
    b[at + 10] = (uint8_t)(sum >> 8);
    b[at + 11] = (uint8_t)sum;
}

size_t weft__raw_write(const struct weft__raw_frame *frame, enum weft_ecn ecn, bool pads, uint8_t *ret) {
    size_t size = pads && frame->length < WEFT__RAW_PADDED ? WEFT__RAW_PADDED : frame->length;
    memset(ret + frame->length, 0, size - frame->length);
    memcpy(ret, frame->bytes, frame->length);
    if (ecn == WEFT_ECN_CE && frame->ecn != WEFT_ECN_CE && frame->ecn != WEFT_ECN_NOT_ECT) write_mark(ret);
    return size;
}
