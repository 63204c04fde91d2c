// SPDX-License-Identifier: Apache-2.0
// RoCE packets by conversation. IBTA vol. 1 chapter 9, annexes A16 and A17.
#include <inttypes.h>
#include <string.h>

#include "base/digest.h"
#include "base/grow.h"
#include "decode.h"
#include "weft/packet.h"

enum { TABLE_MAX = 1 << 14, HOSTS_LOOK = 256, TRIES = 16, WINDOW = 4096, FLAGS = 96 };

// --- conversations ------------------------------------------------------------------------------------------------

static struct weft_decode_key key_of(const struct weft__decode_at *at) {
    const struct weft_frame *f = at->frame;
    struct weft_decode_key key;
    memset(&key, 0, sizeof key);
    key.interface = at->raw->interface;
    key.qp = f->bth.dest_qp;
    if (f->layers & WEFT_LAYER_IPV4) {
        for (unsigned i = 0; i < 4; i++) {
            key.src.octet[i] = (uint8_t)(f->ipv4.src >> (24 - 8 * i));
            key.dst.octet[i] = (uint8_t)(f->ipv4.dst >> (24 - 8 * i));
        }
        return key;
    }
    const struct weft_ipv6 *ip = f->layers & WEFT_LAYER_IPV6 ? &f->ipv6 : &f->grh;
    key.src.network = key.dst.network = f->layers & WEFT_LAYER_IPV6 ? WEFT_DECODE_IPV6 : WEFT_DECODE_ROCE_V1;
    memcpy(key.src.octet, ip->src, sizeof ip->src);
    memcpy(key.dst.octet, ip->dst, sizeof ip->dst);
    return key;
}

static uint32_t hash_bytes(const void *bytes, size_t n) {
    uint64_t h = weft__hash(WEFT__HASH_START, bytes, n);
    return (uint32_t)(h ^ h >> 32);
}

static uint32_t hosts_hash(uint32_t interface, const struct weft_decode_address *src,
                           const struct weft_decode_address *dst) {
    struct weft_decode_address both[2] = {*src, *dst};
    return hash_bytes(both, sizeof both) + interface;
}

static bool same_address(const struct weft_decode_address *a, const struct weft_decode_address *b) {
    return !memcmp(a, b, sizeof *a);
}

/// Whether it was seen at another interface.
static bool seen_before(struct weft_decode *d, struct weft_conversation *c) {
    struct weft_decode_key key = c->key;
    key.interface = 0;
    struct weft_conversation **bucket = &d->by_seen[hash_bytes(&key, sizeof key) % d->table];
    for (const struct weft_conversation *o = *bucket; o; o = o->same_seen) {
        struct weft_decode_key other = o->key;
        other.interface = 0;
        if (!memcmp(&key, &other, sizeof key)) return true;
    }
    c->same_seen = *bucket;
    *bucket = c;
    return false;
}

static void make_tables(struct weft_decode *d) {
    for (d->table = 16; d->table < TABLE_MAX && d->table < d->conf.conversations_max;)
        d->table *= 2;
    d->by_key = weft_arena_alloc(d->arena, d->table, sizeof(struct weft_conversation *));
    d->by_hosts = weft_arena_alloc(d->arena, d->table, sizeof(struct weft_conversation *));
    d->by_seen = weft_arena_alloc(d->arena, d->table, sizeof(struct weft_conversation *));
}

/// NULL: the maximum number is reached.
static struct weft_conversation *find_conversation(struct weft_decode *d, const struct weft__decode_at *at) {
    struct weft_decode_key key = key_of(at);
    if (!d->by_key) make_tables(d);
    struct weft_conversation **bucket = &d->by_key[hash_bytes(&key, sizeof key) % d->table];
    for (struct weft_conversation *c = *bucket; c; c = c->same_hash)
        if (!memcmp(&c->key, &key, sizeof key)) return c;
    if (d->conversations == d->conf.conversations_max) return NULL;
    d->conversation = weft__arena_grow(d->arena, d->conversation, d->conversations, sizeof(struct weft_conversation *));
    struct weft_conversation *c = weft_arena_alloc(d->arena, 1, sizeof *c);
    c->key = key;
    c->peer = WEFT_NONE;
    c->first_ps = at->time_ps;
    c->interval = at->time_ps / d->conf.interval_ps;
    c->same_hash = *bucket;
    *bucket = c;
    c->again = seen_before(d, c);
    bucket = &d->by_hosts[hosts_hash(key.interface, &key.src, &key.dst) % d->table];
    c->same_hosts = *bucket;
    *bucket = c;
    d->conversation[d->conversations++] = c;
    c->number = d->conversations;
    return c;
}

// --- which two belong together ------------------------------------------------------------------------------------

/// Whether it may have sent the request that is answered with this number.
static bool may_be_peer(const struct weft_conversation *c, const struct weft_conversation *back, uint32_t psn) {
    return c->peer == WEFT_NONE && c->key.interface == back->key.interface && c->request.begun &&
           same_address(&c->key.src, &back->key.dst) && same_address(&c->key.dst, &back->key.src) &&
           ((c->request.next - 1 - psn) & WEFT_PSN_MASK) < WINDOW;
}

/// If an answer fits only one request sequence, the two are peers. If several fit, the one with the same UDP port.
static void pair_peers(struct weft_decode *d, struct weft_conversation *back, const struct weft__decode_at *at) {
    if (back->peer != WEFT_NONE || back->tries == TRIES) return;
    back->tries++;
    struct weft_conversation *c =
        d->by_hosts[hosts_hash(back->key.interface, &back->key.dst, &back->key.src) % d->table];
    struct weft_conversation *fit = NULL, *same_port = NULL;
    unsigned fits = 0, ports = 0, looked = 0;
    for (; c && looked < HOSTS_LOOK; c = c->same_hosts, looked++) {
        if (!may_be_peer(c, back, at->frame->bth.psn)) continue;
        fit = c;
        fits++;
        if (c->path[0].known && c->path[0].port && c->path[0].port == at->frame->udp.src_port) same_port = c, ports++;
    }
    if (c || (fits != 1 && ports != 1)) return;
    if (fits != 1) fit = same_port;
    fit->peer = back->number;
    back->peer = fit->number;
}

// --- time ---------------------------------------------------------------------------------------------------------

static void note_rate(const struct weft_decode *d, struct weft_conversation *c, weft_time_ps time, weft_bytes bytes) {
    uint64_t at = time > c->first_ps ? (time - c->first_ps) / d->conf.interval_ps : 0;
    while (at >> c->rate_shift >= WEFT_DECODE_BUCKETS) {
        for (unsigned i = 0; i < WEFT_DECODE_BUCKETS / 2; i++)
            c->bucket[i] = c->bucket[2 * i] + c->bucket[2 * i + 1];
        memset(c->bucket + WEFT_DECODE_BUCKETS / 2, 0, sizeof c->bucket / 2);
        c->rate_shift++;
    }
    c->bucket[at >> c->rate_shift] += bytes;
}

/// The current interval has ended. Those before and after one with a CNP are compared, if data follows: a sender
/// without further data was not slowed down.
static void step_interval(struct weft_conversation *c) {
    if (c->interval_cnp[1] && c->interval_bytes[2]) {
        c->due.intervals++;
        c->due.before_bytes += c->interval_bytes[2];
        c->due.after_bytes += c->interval_bytes[0];
    }
    c->interval_bytes[2] = c->interval_bytes[1];
    c->interval_bytes[1] = c->interval_bytes[0];
    c->interval_bytes[0] = 0;
    c->interval_cnp[1] = c->interval_cnp[0];
    c->interval_cnp[0] = false;
}

static void move_interval(const struct weft_decode *d, struct weft_conversation *c, weft_time_ps time) {
    uint64_t interval = time / d->conf.interval_ps;
    for (unsigned i = 0; i < 3 && c->interval < interval; i++, c->interval++)
        step_interval(c);
    if (c->interval < interval) c->interval = interval;
}

static void count_due(struct weft_conversation *c) {
    c->cnp.intervals += c->due.intervals;
    c->cnp.before_bytes += c->due.before_bytes;
    c->cnp.after_bytes += c->due.after_bytes;
    memset(&c->due, 0, sizeof c->due);
}

// --- what a packet says -------------------------------------------------------------------------------------------

enum role { REQUEST, RESPONSE, ACKNOWLEDGE, NOTIFICATION, UNKNOWN };

static enum role role_of(uint8_t opcode) {
    if (opcode == WEFT_ROCE_CNP) return NOTIFICATION;
    if (opcode == WEFT_RC_ACK || opcode == WEFT_RC_ATOMIC_ACK) return ACKNOWLEDGE;
    if (opcode >= WEFT_RC_READ_RESPONSE_FIRST && opcode <= WEFT_RC_READ_RESPONSE_ONLY) return RESPONSE;
    return weft_roce_opcode_find(opcode) ? REQUEST : UNKNOWN;
}

/// The payload according to the headers, even in a truncated frame.
static weft_bytes payload_of(const struct weft_frame *f) {
    const struct weft_roce_opcode *opcode = weft_roce_opcode_find(f->bth.opcode);
    size_t headers = WEFT_BTH_BYTES + f->bth.pad_count + WEFT_ICRC_BYTES, bytes = f->grh.payload_length;
    if (opcode && !opcode->payload) return 0;
    if (f->layers & WEFT_LAYER_UDP)
        bytes = f->udp.length - (size_t)(f->udp.length < WEFT_UDP_BYTES ? 0 : WEFT_UDP_BYTES);
    uint32_t layers = opcode ? opcode->layers : 0;
    if (layers & WEFT_LAYER_RETH) headers += WEFT_RETH_BYTES;
    if (layers & WEFT_LAYER_AETH) headers += WEFT_AETH_BYTES;
    if (layers & WEFT_LAYER_IMMDT) headers += WEFT_IMMDT_BYTES;
    if (layers & WEFT_LAYER_IETH) headers += WEFT_IETH_BYTES;
    return bytes > headers ? bytes - headers : 0;
}

static void note_path(struct weft_conversation *c, const struct weft_frame *f, enum role role) {
    if (role > ACKNOWLEDGE) return;
    struct weft_decode_path *path = &c->path[role != REQUEST];
    struct weft_decode_path now = {.known = true, .port = f->layers & WEFT_LAYER_UDP ? f->udp.src_port : 0};
    now.ttl = f->layers & WEFT_LAYER_IPV4   ? f->ipv4.ttl
              : f->layers & WEFT_LAYER_IPV6 ? f->ipv6.hop_limit
                                            : f->grh.hop_limit;
    memcpy(now.mac, f->ethernet.dst, 6);
    memcpy(now.mac + 6, f->ethernet.src, 6);
    if (path->known) {
        c->port_changes += path->port != now.port;
        c->ttl_changes += path->ttl != now.ttl;
        c->mac_changes += memcmp(path->mac, now.mac, sizeof now.mac) != 0;
    }
    *path = now;
}

static uint8_t ecn_of(const struct weft_frame *f) {
    return f->layers & WEFT_LAYER_IPV4 ? f->ipv4.ecn : f->layers & WEFT_LAYER_IPV6 ? f->ipv6.ecn : f->grh.ecn;
}

/// 0: correct, or cannot be checked; 1: wrong.
static bool check_icrc(struct weft_conversation *c, const struct weft__decode_at *at) {
    const struct weft_frame *f = at->frame;
    if (!(f->layers & WEFT_LAYER_ICRC)) return false;
    size_t ip = WEFT_ETHERNET_BYTES + (f->layers & WEFT_LAYER_VLAN ? WEFT_VLAN_BYTES : 0);
    size_t behind = f->padding_bytes + WEFT_ICRC_BYTES + (f->layers & WEFT_LAYER_FCS ? WEFT_FCS_BYTES : 0);
    uint32_t icrc;
    c->icrc_checked++;
    bool wrong = weft_icrc_calc(at->raw->data + ip, at->raw->captured - ip - behind, &icrc) || icrc != f->icrc;
    c->icrc_wrong += wrong;
    return wrong;
}

static void count_ack(struct weft_conversation *c, const struct weft_frame *f) {
    c->acks++;
    if (!(f->layers & WEFT_LAYER_AETH)) return;
    c->rnr_naks += f->aeth.code == WEFT_AETH_RNR_NAK;
    c->naks += f->aeth.code == WEFT_AETH_NAK && f->aeth.value == WEFT_NAK_PSN_SEQUENCE;
    c->other_naks += f->aeth.code == WEFT_AETH_NAK && f->aeth.value != WEFT_NAK_PSN_SEQUENCE;
}

static void count_cnp(struct weft_decode *d, struct weft_conversation *c, weft_time_ps time) {
    d->cnps++;
    c->cnps++;
    if (c->peer == WEFT_NONE) return;
    struct weft_conversation *sender = d->conversation[c->peer - 1];
    move_interval(d, sender, time);
    sender->interval_cnp[0] = true;
}

/// Numbers, messages and losses of a packet with data or a request.
static enum weft__decode_psn take_data(struct weft_decode *d, struct weft_conversation *c,
                                       const struct weft__decode_at *at, enum role role, weft_bytes payload) {
    const struct weft_frame *f = at->frame;
    struct weft_decode_psns *s = role == REQUEST ? &c->request : &c->response;
    bool first = f->bth.opcode == WEFT_RC_READ_RESPONSE_FIRST || f->bth.opcode == WEFT_RC_READ_RESPONSE_ONLY;
    if (first) s->slack = WEFT_DECODE_RESTART; // numbers of other requests are between two responses
    uint32_t skipped;
    enum weft__decode_psn is = weft__decode_psn(s, f->bth.psn, &skipped);
    c->gaps += is == WEFT__PSN_GAP;
    c->late += is == WEFT__PSN_LATE;
    c->resent += is == WEFT__PSN_RESENT;
    c->restarts += is == WEFT__PSN_RESTART;
    if (is == WEFT__PSN_LATE || is == WEFT__PSN_RESENT) return is;
    if (f->bth.opcode == WEFT_RC_READ_REQUEST && f->layers & WEFT_LAYER_RETH)
        s->slack = f->reth.length / 256 < WEFT_PSN_MASK / 4 ? f->reth.length / 256 : WEFT_PSN_MASK / 4;
    weft__decode_message(d, c, at, payload, is, skipped);
    return is;
}

// --- following ----------------------------------------------------------------------------------------------------

static void show_packet(const struct weft_decode *d, const struct weft_conversation *c,
                        const struct weft__decode_at *at, enum weft__decode_psn is, bool wrong, weft_time_ps before,
                        weft_bytes payload) {
    static const char *const meaning[] = {"", " gap", " late", " resent", " restart"};
    const struct weft_bth *b = &at->frame->bth;
    const struct weft_aeth *a = at->frame->layers & WEFT_LAYER_AETH ? &at->frame->aeth : NULL;
    const struct weft_roce_opcode *opcode = weft_roce_opcode_find(b->opcode);
    char flags[FLAGS];
    const char *nak = !a || a->code == WEFT_AETH_ACK ? "" : a->code == WEFT_AETH_RNR_NAK ? " RNR-NAK" : " NAK";
    snprintf(flags, sizeof flags, "%s%s%s%s%s%s%s%s", ecn_of(at->frame) == WEFT_ECN_CE ? " CE" : "",
             b->fecn ? " FECN" : "", b->becn ? " BECN" : "", b->solicited ? " solicited" : "",
             b->ack_request ? " ack-request" : "", nak, meaning[is], wrong ? " ICRC-wrong" : "");
    struct weft_decode_packet packet = {
        .of = c,
        .frame = at->raw->number,
        .time_ps = at->time_ps,
        .delta_ps = c->packets == 1        ? WEFT_TIME_NEVER
                    : at->time_ps > before ? at->time_ps - before
                                           : 0,
        .psn = b->psn,
        .opcode = b->opcode,
        .name = opcode ? opcode->name : "unknown",
        .flags = *flags ? flags + 1 : "",
        .payload_bytes = payload,
    };
    d->conf.on_packet(d->conf.context, &packet);
}

static void tell_seen(const struct weft_decode *d, const struct weft_conversation *c, const struct weft__decode_at *at,
                      enum role role, enum weft__decode_psn is, weft_bytes payload) {
    const struct weft_frame *f = at->frame;
    bool nak = f->layers & WEFT_LAYER_AETH && f->aeth.code != WEFT_AETH_ACK;
    struct weft_decode_seen seen = {
        .of = c,
        .time_ps = at->time_ps,
        .psn = f->bth.psn,
        .bytes = at->raw->bytes,
        .payload_bytes = payload,
        .ce = ecn_of(f) == WEFT_ECN_CE,
        .requests = role == REQUEST,
        .acknowledges = role == ACKNOWLEDGE && !nak,
        .is_new = is == WEFT__PSN_NEXT || is == WEFT__PSN_GAP || is == WEFT__PSN_RESTART,
    };
    d->conf.on_seen(d->conf.context, d, &seen);
}

void weft__decode_roce(struct weft_decode *d, const struct weft__decode_at *at) {
    d->roce++;
    struct weft_conversation *c = find_conversation(d, at);
    if (!c) {
        d->uncounted++;
        return;
    }
    const struct weft_frame *f = at->frame;
    enum role role = role_of(f->bth.opcode);
    weft_bytes payload = payload_of(f);
    weft_time_ps before = c->last_ps;
    enum weft__decode_psn is = WEFT__PSN_NEXT;
    if (!c->packets++) c->first_payload_bytes = payload;
    c->bytes += at->raw->bytes;
    c->payload_bytes += payload;
    c->cut_packets += at->raw->captured < at->raw->bytes;
    c->ect += ecn_of(f) != WEFT_ECN_NOT_ECT;
    c->ce += ecn_of(f) == WEFT_ECN_CE;
    if (at->time_ps > c->last_ps) c->last_ps = at->time_ps;
    move_interval(d, c, at->time_ps);
    if (payload) count_due(c);
    c->interval_bytes[0] += payload;
    note_rate(d, c, at->time_ps, payload);
    c->unknown += role == UNKNOWN;
    if (role == REQUEST || role == RESPONSE) is = take_data(d, c, at, role, payload);
    if (role == ACKNOWLEDGE) count_ack(c, f);
    if (role == ACKNOWLEDGE || role == RESPONSE) pair_peers(d, c, at);
    if (role == NOTIFICATION) count_cnp(d, c, at->time_ps);
    note_path(c, f, role);
    if (d->conf.on_seen) tell_seen(d, c, at, role, is, payload);
    bool wrong = check_icrc(c, at);
    if (d->conf.on_packet && f->bth.dest_qp == d->conf.follow_qp) show_packet(d, c, at, is, wrong, before, payload);
}

/// For conversations that no earlier interface saw: data that belongs to no complete message.
static void warn_messages(struct weft_decode *d) {
    uint64_t front = 0, back = 0, unknown = 0;
    for (uint32_t i = 0; i < d->conversations; i++) {
        const struct weft_conversation *c = d->conversation[i];
        if (c->again) continue;
        front += c->cut_front;
        back += c->cut_back;
        unknown += c->unknown;
    }
    if (front)
        weft__decode_warn(d, "of %" PRIu64 " messages the first packet is not in the file; they count as begun", front);
    if (back) weft__decode_warn(d, "%" PRIu64 " messages do not end in the file", back);
    if (unknown)
        weft__decode_warn(d, "%" PRIu64 " packets have opcodes of other transports than RC: they are of no message",
                          unknown);
}

void weft__decode_roce_end(struct weft_decode *d) {
    for (uint32_t i = 0; i < d->conversations; i++) {
        struct weft_conversation *c = d->conversation[i];
        weft__decode_message_end(d, c);
        c->missing = weft__decode_missing(&c->request) + weft__decode_missing(&c->response);
    }
    warn_messages(d);
}
