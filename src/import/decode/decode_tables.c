// SPDX-License-Identifier: Apache-2.0
// What was decoded as tables of results: one description for JSON, CSV and docs/results/captures.md.
#include <inttypes.h>
#include <math.h>

#include "decode.h"
#include "weft/result.h"

static struct weft_result_value whole_value(uint64_t value) {
    return (struct weft_result_value){.known = true, .whole = value};
}

static struct weft_result_value no_value(void) {
    return (struct weft_result_value){0};
}

static struct weft_result_value text_value(const char *value) {
    return (struct weft_result_value){.known = value, .text = value};
}

static struct weft_result_value part_value(uint64_t some, uint64_t all) {
    return (struct weft_result_value){.known = all, .real = all ? (double)some / (double)all : 0};
}

static struct weft_result_value interface_text(struct weft_result_cursor *c, uint32_t interface) {
    char name[WEFT_DECODE_TEXT];
    const struct weft_decode *d = c->subject;
    return text_value(weft_arena_text(c->arena, weft_decode_interface_text(d, interface, name)));
}

static struct weft_result_value mac_text(struct weft_result_cursor *c, const uint8_t *m) {
    return text_value(weft_arena_format(c->arena, "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5]));
}

// --- the capture --------------------------------------------------------------------------------------------------

WEFT_RESULT_VALUE(capture_interfaces,
                  whole_value(weft_capture_interfaces(((const struct weft_decode *)c->part[0])->reader)))

static const struct weft_result_table capture_table = WEFT_RESULT_TABLE_OF(
    "capture", OBJECT, "the capture as a whole", WEFT_RESULT_SUBJECT,
    WEFT_RESULT(struct weft_decode, file, TEXT, "the file"),
    WEFT_RESULT(struct weft_decode, file_bytes, BYTES, "bytes of the file that were read"),
    WEFT_RESULT(struct weft_decode, frames, COUNT, "frames"),
    WEFT_RESULT(struct weft_decode, bytes, BYTES, "bytes of all frames, kept or not"),
    WEFT_RESULT(struct weft_decode, last_ps, TIME, "time from the first frame to the last", .unit = "ps"),
    WEFT_RESULT(struct weft_decode, first_ns, COUNT, "when the first frame was, since 1970", .unit = "ns"),
    WEFT_RESULT_CALL(capture_interfaces, "interfaces", COUNT, "interfaces described in the file"),
    WEFT_RESULT(struct weft_decode, roce, COUNT, "RoCE packets, versions 1 and 2"),
    WEFT_RESULT(struct weft_decode, cnps, COUNT, "CNPs among the RoCE packets"),
    WEFT_RESULT(struct weft_decode, pauses, COUNT, "pause frames, of PFC and of IEEE 802.3"),
    WEFT_RESULT(struct weft_decode, lldp_frames, COUNT, "LLDP frames"),
    WEFT_RESULT(struct weft_decode, uets, COUNT, "packets of Ultra Ethernet (UDP port 4793)"),
    WEFT_RESULT(struct weft_decode, unwraps, COUNT, "frames decoded from inside a tunnel or behind several VLAN tags"),
    WEFT_RESULT(struct weft_decode, others, COUNT, "other frames"),
    WEFT_RESULT(struct weft_decode, foreign, COUNT,
                "frames of interfaces with other link types than Ethernet and IP: left out"),
    WEFT_RESULT(struct weft_decode, broken, COUNT, "frames whose lengths or headers contradict each other"),
    WEFT_RESULT(struct weft_decode, uncounted, COUNT, "RoCE packets of conversations beyond the limit: left out"),
    WEFT_RESULT(struct weft_decode, conversations, COUNT, "conversations"));

// --- Ultra Ethernet -----------------------------------------------------------------------------------------------

static bool next_uet(struct weft_result_cursor *c) {
    const struct weft_decode *d = c->subject;
    while (c->at < WEFT_PDS_TYPES && !d->uet[c->at].packets)
        c->at++;
    if (c->at == WEFT_PDS_TYPES) return false;
    c->part[0] = &d->uet[c->at++];
    return true;
}

static struct weft_result_value uet_type(struct weft_result_cursor *c) {
    const struct weft_decode *d = c->subject;
    uint8_t type = (uint8_t)((const struct weft_decode_uet *)c->part[0] - d->uet);
    const char *name = weft_pds_type_name(type);
    return text_value(name ? name : weft_arena_format(c->arena, "type %u", type));
}

#define UET(field, ...) WEFT_RESULT(struct weft_decode_uet, field, COUNT, __VA_ARGS__)
static const struct weft_result_table uet_table = WEFT_RESULT_TABLE_OF(
    "uet", LIST, "a type of packets of Ultra Ethernet", .next = next_uet,
    WEFT_RESULT_CALL(uet_type, "type", TEXT, "type of packet", .flags = WEFT_RESULT_KEY), UET(packets, "packets"),
    UET(again, "packets that were sent again, or answer one that was"),
    UET(asks, "requests and control packets that ask for an acknowledgement at once (AR)"),
    UET(marked, "answers to packets that were marked"), UET(trimmed, "NACKs of packets that were trimmed"));

// --- tunnels ------------------------------------------------------------------------------------------------------

_Static_assert((int)WEFT_TUNNEL_KINDS == (int)WEFT_DECODE_TUNNELS, "a counter per kind of tunnel");

static bool next_tunnel(struct weft_result_cursor *c) {
    const struct weft_decode *d = c->subject;
    while (c->at < WEFT_TUNNEL_KINDS && !d->tunnel[c->at])
        c->at++;
    if (c->at == WEFT_TUNNEL_KINDS) return false;
    c->part[0] = &d->tunnel[c->at++];
    return true;
}

static struct weft_result_value tunnel_kind(struct weft_result_cursor *c) {
    const struct weft_decode *d = c->subject;
    return text_value(weft__tunnel_name((enum weft_tunnel_kind)((const uint64_t *)c->part[0] - d->tunnel)));
}

WEFT_RESULT_VALUE(tunnel_layers, whole_value(*(const uint64_t *)c->part[0]))

static const struct weft_result_table tunnels_table = WEFT_RESULT_TABLE_OF(
    "tunnels", LIST, "a kind of tunnel whose headers were removed, to decode the frames inside", .next = next_tunnel,
    WEFT_RESULT_CALL(tunnel_kind, "kind", TEXT, "QinQ, GRE, ERSPAN I to III, VXLAN, GENEVE or IP in IP",
                     .flags = WEFT_RESULT_KEY),
    WEFT_RESULT_CALL(tunnel_layers, "layers", COUNT, "layers of that kind that were removed"));

// --- conversations ------------------------------------------------------------------------------------------------

static bool next_conversation(struct weft_result_cursor *c) {
    const struct weft_decode *d = c->subject;
    if (c->at == d->conversations) return false;
    c->part[0] = d->conversation[c->at++];
    return true;
}

static const struct weft_conversation *conversation_of(const struct weft_result_cursor *c) {
    return c->part[0];
}

WEFT_RESULT_VALUE(conversation_interface, interface_text(c, conversation_of(c)->key.interface))

static struct weft_result_value conversation_src(struct weft_result_cursor *c) {
    char address[WEFT_DECODE_TEXT];
    return text_value(weft_arena_text(c->arena, weft_decode_address_text(&conversation_of(c)->key.src, address)));
}

static struct weft_result_value conversation_dst(struct weft_result_cursor *c) {
    char address[WEFT_DECODE_TEXT];
    return text_value(weft_arena_text(c->arena, weft_decode_address_text(&conversation_of(c)->key.dst, address)));
}

static struct weft_result_value conversation_rate(struct weft_result_cursor *c) {
    weft_rate_bps rate = weft_decode_rate(conversation_of(c));
    return rate ? whole_value(rate) : no_value();
}

WEFT_RESULT_VALUE(conversation_ce, part_value(conversation_of(c)->ce, conversation_of(c)->packets))

static struct weft_result_value conversation_cnp_rate(struct weft_result_cursor *c) {
    weft_time_ps time = conversation_of(c)->last_ps - conversation_of(c)->first_ps;
    return (struct weft_result_value){
        .known = time && conversation_of(c)->cnps,
        .real = time ? (double)conversation_of(c)->cnps * (double)WEFT_PS_PER_S / (double)time : 0};
}

static struct weft_result_value rate_of(const struct weft_result_cursor *c, weft_bytes bytes) {
    const struct weft_decode *d = c->subject;
    uint64_t n = conversation_of(c)->cnp.intervals;
    if (!n) return no_value();
    return whole_value(
        (uint64_t)llround((double)bytes * 8 * (double)WEFT_PS_PER_S / ((double)n * (double)d->conf.interval_ps)));
}

WEFT_RESULT_VALUE(rate_before, rate_of(c, conversation_of(c)->cnp.before_bytes))
WEFT_RESULT_VALUE(rate_after, rate_of(c, conversation_of(c)->cnp.after_bytes))

#define OF(field, kind, ...) WEFT_RESULT(struct weft_conversation, field, kind, __VA_ARGS__)
static const struct weft_result_table conversations_table = WEFT_RESULT_TABLE_OF(
    "conversations", LIST, "what one host sends to one queue pair of another, as one interface saw it",
    .next = next_conversation,
    OF(number, COUNT, "number of the conversation, in the order of first packets", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT_CALL(conversation_interface, "interface", TEXT, "interface that saw the frames, by name or number"),
    WEFT_RESULT_CALL(conversation_src, "src", TEXT, "address that sends"),
    WEFT_RESULT_CALL(conversation_dst, "dst", TEXT, "address that receives"),
    WEFT_RESULT_NAMED(struct weft_conversation, key.qp, "qp", COUNT, "queue pair of the receiver"),
    OF(peer, COUNT, "number of the conversation back, which has its ACKs and CNPs, if it could be told"),
    OF(again, BOOL, "whether an earlier conversation is the same, seen at another interface"),
    OF(first_ps, TIME, "time of the first packet"), OF(last_ps, TIME, "time of the last packet"),
    OF(packets, COUNT, "packets"), OF(bytes, BYTES, "bytes of the conversation's frames, without FCS"),
    OF(payload_bytes, BYTES, "payload, with what was sent again"),
    WEFT_RESULT_CALL(conversation_rate, "rate_bps", RATE,
                     "payload behind the first packet, by the time from that to the last"),
    OF(sends, COUNT, "SEND messages begun"), OF(writes, COUNT, "WRITE messages begun"),
    OF(reads, COUNT, "READ requests"), OF(read_responses, COUNT, "READ responses begun"),
    OF(atomics, COUNT, "atomic requests"),
    OF(cut_front, COUNT, "messages whose first packet is not in the file; they count as begun"),
    OF(cut_back, COUNT, "messages that do not end in the file"),
    OF(unknown, COUNT, "packets with opcodes of other transports than RC: they are of no message"),
    OF(acks, COUNT, "acknowledgement packets, negative ones included"),
    OF(gaps, COUNT, "jumps of the sequence number: packets lost before this interface, or overtaken"),
    OF(missing, COUNT, "packets passed over by a gap that did not come later"),
    OF(late, COUNT, "packets that filled a gap: overtaken, or sent again after a loss before this interface"),
    OF(resent, COUNT, "packets whose number had been here: sent again"),
    OF(restarts, COUNT, "jumps by more than 65536 numbers: a queue pair set up anew"),
    OF(naks, COUNT, "NAKs for a sequence error in the conversation, about the peer's packets"),
    OF(rnr_naks, COUNT, "receiver-not-ready NAKs in the conversation"),
    OF(other_naks, COUNT, "other NAKs in the conversation"),
    OF(ect, COUNT, "packets that may be marked, marked ones included"),
    OF(ce, COUNT, "packets marked: congestion experienced"),
    WEFT_RESULT_CALL(conversation_ce, "ce_part", REAL, "marked packets of all"),
    OF(cnps, COUNT, "CNPs of the conversation, about the peer's packets"),
    WEFT_RESULT_CALL(conversation_cnp_rate, "cnp_rate", REAL, "CNPs a second, over the time of the conversation",
                     .unit = "1/s"),
    WEFT_RESULT_NAMED(struct weft_conversation, cnp.intervals, "cnp_intervals", COUNT,
                      "intervals in which the peer sent CNPs, with data before and later"),
    WEFT_RESULT_CALL(rate_before, "cnp_rate_before_bps", RATE, "payload in the interval before such an interval, mean"),
    WEFT_RESULT_CALL(rate_after, "cnp_rate_after_bps", RATE, "payload in the interval after a CNP, mean"),
    OF(icrc_checked, COUNT, "packets whose ICRC was there to be checked"),
    OF(icrc_wrong, COUNT, "packets with a wrong ICRC"),
    OF(cut_packets, COUNT, "packets of which the file has only the beginning"),
    OF(port_changes, COUNT, "changes of the UDP source port from a packet to the next"),
    OF(ttl_changes, COUNT, "changes of TTL or hop limit: another path, or a host at another distance"),
    OF(mac_changes, COUNT, "changes of a MAC address"));

// --- rates --------------------------------------------------------------------------------------------------------

/// c->at is conversation x buckets + bucket.
static bool next_rate(struct weft_result_cursor *c) {
    const struct weft_decode *d = c->subject;
    for (; c->at < (uint64_t)d->conversations * WEFT_DECODE_BUCKETS; c->at++) {
        const struct weft_conversation *v = d->conversation[c->at / WEFT_DECODE_BUCKETS];
        if (!v->bucket[c->at % WEFT_DECODE_BUCKETS]) continue;
        c->part[0] = v;
        c->part[1] = &v->bucket[c->at++ % WEFT_DECODE_BUCKETS];
        return true;
    }
    return false;
}

static weft_time_ps bucket_ps(const struct weft_result_cursor *c) {
    return ((const struct weft_decode *)c->subject)->conf.interval_ps << conversation_of(c)->rate_shift;
}

WEFT_RESULT_VALUE(rate_from,
                  whole_value(conversation_of(c)->first_ps + (c->at - 1) % WEFT_DECODE_BUCKETS * bucket_ps(c)))
WEFT_RESULT_VALUE(rate_width, whole_value(bucket_ps(c)))
WEFT_RESULT_VALUE(rate_bytes, whole_value(*(const weft_bytes *)c->part[1]))

static struct weft_result_value rate_bps(struct weft_result_cursor *c) {
    double bits = 8 * (double)*(const weft_bytes *)c->part[1];
    return whole_value((uint64_t)llround(bits * (double)WEFT_PS_PER_S / (double)bucket_ps(c)));
}

static const struct weft_result_table rates_table = WEFT_RESULT_TABLE_OF(
    "rates", LIST, "a conversation in an interval in which it carried payload", .next = next_rate,
    OF(number, COUNT, "number of the conversation", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT_CALL(rate_from, "from_ps", TIME, "when the interval begins", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT_CALL(rate_width, "width_ps", TIME,
                     "length of the interval: --interval, doubled until 64 intervals hold the conversation"),
    WEFT_RESULT_CALL(rate_bytes, "payload_bytes", BYTES, "payload in the interval"),
    WEFT_RESULT_CALL(rate_bps, "rate_bps", RATE, "payload by the interval's length"));

// --- pauses and DCBX ----------------------------------------------------------------------------------------------

static const struct weft_decode_pauser *pauser_of(const struct weft_result_cursor *c) {
    return c->part[0];
}

WEFT_RESULT_VALUE(pause_interface, interface_text(c, pauser_of(c)->interface))
WEFT_RESULT_VALUE(pause_mac, mac_text(c, pauser_of(c)->mac))
WEFT_RESULT_VALUE(pause_priority,
                  pauser_of(c)->priority < WEFT_PRIORITIES ? whole_value(pauser_of(c)->priority) : no_value())

#define PAUSE(field, kind, ...) WEFT_RESULT(struct weft_decode_pauser, field, kind, __VA_ARGS__)
static const struct weft_result_table pauses_table = WEFT_RESULT_TABLE_OF(
    "pauses", LIST, "a class that a station pauses", WEFT_RESULT_EACH(struct weft_decode, pauser, pausers),
    WEFT_RESULT_CALL(pause_interface, "interface", TEXT, "interface that saw the frames", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT_CALL(pause_mac, "src", TEXT, "MAC address that sends the pauses", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT_CALL(pause_priority, "priority", COUNT, "priority that is paused; none: all (IEEE 802.3 pause)",
                     .flags = WEFT_RESULT_KEY),
    PAUSE(xoff, COUNT, "frames that pause it"), PAUSE(xon, COUNT, "frames that end the pause: quanta 0"),
    PAUSE(first_ps, TIME, "time of the first such frame"), PAUSE(last_ps, TIME, "time of the last such frame"),
    PAUSE(paused_ps, TIME, "time paused: until the quanta are over, or the next such frame"),
    PAUSE(assumed, BOOL, "whether the link's speed, which the quanta need, is assumed (--rate)"));

WEFT_RESULT_VALUE(difference_interface,
                  interface_text(c, ((const struct weft_decode_difference *)c->part[0])->interface))
WEFT_RESULT_VALUE(difference_own, mac_text(c, ((const struct weft_decode_difference *)c->part[0])->own))
WEFT_RESULT_VALUE(difference_peer, mac_text(c, ((const struct weft_decode_difference *)c->part[0])->peer))

static const struct weft_result_table dcbx_table =
    WEFT_RESULT_TABLE_OF("dcbx", LIST, "a difference between what the two ends of a link say",
                         WEFT_RESULT_EACH(struct weft_decode, difference, differences),
                         WEFT_RESULT_CALL(difference_interface, "interface", TEXT, "interface that saw both ends"),
                         WEFT_RESULT_CALL(difference_own, "here", TEXT,
                                          "MAC address of the end that spoke first; the difference is told from here"),
                         WEFT_RESULT_CALL(difference_peer, "there", TEXT, "MAC address of the other end"),
                         WEFT_RESULT(struct weft_decode_difference, found, TEXT, "what differs"),
                         WEFT_RESULT(struct weft_decode_difference, consequence, TEXT, "effect of the difference"));

static const struct weft_result_table warnings_table = WEFT_RESULT_TABLE_OF(
    "warnings", LIST, "what was assumed or left out", WEFT_RESULT_FIRST(struct weft_decode, warning[0], warnings),
    WEFT_RESULT_ITEM(const char *, "text", TEXT, "what was assumed or left out, in words"));

// --- packets ------------------------------------------------------------------------------------------------------

static bool no_next(struct weft_result_cursor *c) {
    return false;
}

WEFT_RESULT_VALUE(packet_conversation, whole_value(((const struct weft_decode_packet *)c->part[0])->of->number))

#define PACKET(field, kind, ...) WEFT_RESULT(struct weft_decode_packet, field, kind, __VA_ARGS__)
const struct weft_result_table weft_decode_packets = WEFT_RESULT_TABLE_OF(
    "packets", APART, "a packet of a conversation that is followed (--follow)", .next = no_next,
    PACKET(frame, COUNT, "number of the frame, from 1", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT_CALL(packet_conversation, "conversation", COUNT, "number of the conversation"),
    PACKET(time_ps, TIME, "time since the first frame of the file"),
    PACKET(delta_ps, TIME, "time since the previous packet of the conversation"),
    PACKET(psn, COUNT, "packet sequence number"), PACKET(opcode, COUNT, "opcode"),
    PACKET(name, TEXT, "name of the opcode"), PACKET(payload_bytes, BYTES, "payload"),
    PACKET(flags, TEXT,
           "CE, FECN, BECN, solicited, ack-request, NAK, RNR-NAK, gap, late, resent, restart, ICRC-wrong"));

static const struct weft_result_table decode_table =
    WEFT_RESULT_TABLE_OF("decode", OBJECT, "what weft decode found", WEFT_RESULT_SUBJECT, WEFT_RESULT_VERSION);
static const struct weft_result_table *const tables[] = {
    &decode_table,  &capture_table, &conversations_table, &rates_table,    &uet_table,
    &tunnels_table, &pauses_table,  &dcbx_table,          &warnings_table, &weft_decode_packets,
};
const struct weft_answer weft__answer_decode = {
    .name = "decode",
    .about = "weft decode: what a capture shows",
    WEFT_ANSWER_TABLES(tables),
};
