// SPDX-License-Identifier: Apache-2.0
// What a capture tells: RoCE conversations, messages, losses, marks, CNPs and what they did, pauses, DCBX. One pass
// over the frames; memory grows with conversations, not with the file. docs/decode.md explains every figure.
//
// A conversation is what one host sends to one queue pair of another, as one interface of the capture saw it: requests
// (SEND, WRITE, READ request, atomics), and in the other direction's conversation their responses (ACK, NAK, READ
// response) and CNPs. A RoCE header names the receiving queue pair only, so which two conversations belong together is
// concluded from packet sequence numbers and UDP ports; where that leaves a choice, they stay apart.
// Times are ps since the first frame of the file.
#pragma once

#include "weft/capture_read.h"
#include "weft/dcbx.h"
#include "weft/wire_uet.h"
#include "weft/workload.h"

enum { WEFT_DECODE_BUCKETS = 64, WEFT_DECODE_GAPS = 16, WEFT_DECODE_WARNINGS = 16 };
#define WEFT_DECODE_CONVERSATIONS_MAX (UINT32_C(1) << 16)
#define WEFT_DECODE_PAUSERS_MAX 4096u
#define WEFT_DECODE_LLDP_MAX 1024u
#define WEFT_DECODE_MIRRORS_MAX 4096u
#define WEFT_DECODE_RESTART 65536u ///< a jump by more numbers is a queue pair set up anew

enum { WEFT_DECODE_TUNNELS = 8 }; ///< kinds of tunnels: enum weft_tunnel_kind

/// A port that a switch mirrors (ERSPAN). It counts as an interface, with numbers from WEFT_CAPTURE_INTERFACES_MAX on.
struct weft_decode_mirror {
    uint32_t interface, port; ///< interface: that captured the copies
    uint16_t session;
    bool ipv6, egress;
    uint8_t src[16]; ///< the switch
    struct weft_capture_interface as;
};

enum weft_decode_network { WEFT_DECODE_IPV4, WEFT_DECODE_IPV6, WEFT_DECODE_ROCE_V1 };
struct weft_decode_address {
    uint8_t network; ///< enum weft_decode_network
    uint8_t octet[16];
};

struct weft_decode_key {
    uint32_t interface, qp; ///< qp: of the receiver
    struct weft_decode_address src, dst;
    uint16_t zero; ///< no padding: compared as bytes
};

/// Packet sequence numbers of one direction: requests, or READ responses.
struct weft_decode_psns {
    bool begun;
    uint32_t next, slack; ///< expected; so many more may be passed over behind a READ request
    uint64_t given_up;    ///< missing numbers for which there is no more room
    uint32_t gaps;
    struct weft_decode_gap {
        uint32_t from, n;
    } gap[WEFT_DECODE_GAPS]; ///< numbers that have not come
};

/// A message that has begun and not ended.
struct weft_decode_open {
    bool open, cut; ///< cut: its beginning was not seen
    uint8_t verb;
    weft_time_ps start_ps;
    weft_bytes bytes, said; ///< said: RETH length; 0: none
};

struct weft_conversation {
    struct weft_decode_key key;
    uint32_t number; ///< from 1, in the order of first frames
    uint32_t peer;   ///< number of the conversation back; WEFT_NONE: not known
    bool again;      ///< an earlier one is the same, seen at another interface
    weft_time_ps first_ps, last_ps;
    uint64_t packets;
    weft_bytes first_payload_bytes;                               ///< of its first packet
    weft_bytes bytes, payload_bytes;                              ///< of frames without FCS; of what verbs carry
    uint64_t sends, writes, reads, atomics, read_responses, acks; ///< messages begun; acks: packets
    uint64_t cut_front, cut_back; ///< messages whose first packet, or whose end, was not seen
    uint64_t unknown;             ///< packets of other transports and opcodes than RC's: of no message
    uint64_t ect, ce;             ///< packets that may be marked, CE included; packets marked CE
    uint64_t gaps, missing, late, resent, restarts;
    uint64_t naks, rnr_naks, other_naks; ///< sequence errors; receiver not ready; the others
    uint64_t cnps;
    uint64_t icrc_checked, icrc_wrong, cut_packets;
    uint64_t port_changes, ttl_changes, mac_changes;
    struct weft_decode_cnp {
        uint64_t intervals; ///< with a CNP from the peer, between two others
        weft_bytes before_bytes, after_bytes;
    } cnp;
    uint32_t rate_shift; ///< a bucket is conf.interval_ps << rate_shift long
    weft_bytes bucket[WEFT_DECODE_BUCKETS];

    // of the walk
    struct weft_decode_psns request, response;
    struct weft_decode_open sending, responding;
    uint32_t mtu_bytes;
    struct weft_decode_path {
        bool known;
        uint16_t port;
        uint8_t ttl, mac[12];
    } path[2]; ///< of requests, of responses
    uint64_t interval;
    weft_bytes interval_bytes[3]; ///< of the one at hand and the two before
    bool interval_cnp[2];
    struct weft_decode_cnp due; ///< counts once more data follows
    uint8_t tries;
    struct weft_conversation *same_hash, *same_hosts, *same_seen;
};

/// One class that a station pauses: what it sent, and how long the other end had to wait.
struct weft_decode_pauser {
    uint32_t interface;
    uint8_t mac[6];
    uint8_t priority; ///< WEFT_PRIORITIES: all, by IEEE 802.3 pause
    bool assumed;     ///< the speed was
    uint64_t xoff, xon;
    weft_time_ps first_ps, last_ps, paused_ps;
    weft_time_ps since_ps, until_ps; ///< of the pause at hand
};

struct weft_decode_lldp {
    uint32_t interface;
    uint64_t frames, changes;
    struct weft_dcbx_end end; ///< as said last
    weft_time_ps changed_ps;
};

/// A link whose ends differ: two LLDP senders at one interface.
struct weft_decode_difference {
    uint32_t interface;
    uint8_t own[6], peer[6];
    const char *found, *consequence;
};

struct weft_decode_message {
    const struct weft_conversation *of;
    uint8_t verb;  ///< enum weft_verb
    bool request;  ///< of a READ: it was asked for; the data goes the other way
    bool response; ///< of a READ: the data
    bool cut_front, cut_back;
    weft_time_ps start_ps;
    weft_bytes bytes;
};

/// A packet of the conversations that are followed.
struct weft_decode_packet {
    const struct weft_conversation *of;
    uint64_t frame;
    weft_time_ps time_ps, delta_ps; ///< delta: since the one before; WEFT_TIME_NEVER: it is the first
    uint32_t psn;
    uint8_t opcode;
    const char *name;  ///< of the opcode
    const char *flags; ///< "CE ack-request resent"
    weft_bytes payload_bytes;
};

struct weft_decode;

/// A RoCE packet, after it was counted.
struct weft_decode_seen {
    const struct weft_conversation *of;
    weft_time_ps time_ps;
    uint32_t psn;
    weft_bytes bytes, payload_bytes; ///< of the frame, without FCS; of what the verb carries
    bool ce;
    bool requests, acknowledges; ///< SEND, WRITE and READ requests; ACK
    bool is_new;                 ///< its number had not been here
};

struct weft_decode_conf {
    weft_time_ps interval_ps;   ///< 0: 100 us
    weft_rate_bps rate_bps;     ///< of interfaces that do not say theirs; 0: 100 Gbps, assumed
    uint32_t conversations_max; ///< 0: WEFT_DECODE_CONVERSATIONS_MAX
    uint32_t follow_qp;         ///< WEFT_NONE: none
    void *context;
    void (*on_message)(void *context, const struct weft_decode_message *message); ///< may be NULL
    void (*on_packet)(void *context, const struct weft_decode_packet *packet);    ///< may be NULL
    void (*on_seen)(void *context, const struct weft_decode *decode,
                    const struct weft_decode_seen *seen); ///< may be NULL
    /// May be NULL; a class begins to be paused, or a frame ends its pause.
    void (*on_pause)(void *context, const struct weft_decode *decode, const struct weft_decode_pauser *pauser,
                     bool stops);
};

struct weft_decode {
    struct weft_decode_conf conf;
    const char *file;
    struct weft_arena *arena;
    const struct weft_capture_reader *reader;
    struct weft_decode_uet {
        uint64_t packets, again, asks, marked, trimmed;
    } uet[WEFT_PDS_TYPES];                         ///< by type
    uint64_t uets;                                 ///< all of them
    uint64_t tunnel[WEFT_DECODE_TUNNELS], unwraps; ///< layers removed, by kind; frames that had any
    uint32_t mirrors;
    struct weft_decode_mirror *mirror;
    uint64_t frames, roce, cnps, pauses, lldp_frames, others, broken, foreign, early, uncounted;
    weft_bytes bytes, file_bytes;
    uint64_t first_ns;
    weft_time_ps last_ps;
    uint64_t broken_first;
    uint16_t other_type, other_port; ///< of the first of `others`: its ethertype, and its UDP port, 0: not UDP
    uint8_t other_protocol;          ///< over IP
    bool other_cut;                  ///< its capture ends within its headers
    bool other_fragment;             ///< it is a fragment of a packet
    uint32_t conversations, pausers, lldps, differences, warnings;
    struct weft_conversation **conversation; ///< by number - 1
    struct weft_decode_pauser *pauser;
    struct weft_decode_lldp *lldp;
    struct weft_decode_difference *difference;
    const char *warning[WEFT_DECODE_WARNINGS];                ///< what was assumed or left out
    struct weft_conversation **by_key, **by_hosts, **by_seen; ///< [table] of the walk
    uint32_t table;                                           ///< a power of two
    uint8_t *cooked;    ///< the frame at hand, of a capture without Ethernet headers
    uint8_t *unwrapped; ///< the frame at hand, without its tunnel
};

/// Reads the whole capture. On an error nothing in `ret` is of use.
enum weft_status weft_decode_run(FILE *file, const char *name, const struct weft_decode_conf *conf,
                                 struct weft_arena *arena, struct weft_decode *ret, struct weft_error *ret_error);
/// The same of the file of that name.
enum weft_status weft_decode_file(const char *path, const struct weft_decode_conf *conf, struct weft_arena *arena,
                                  struct weft_decode *ret, struct weft_error *ret_error);

enum { WEFT_DECODE_TEXT = 64 };
const char *weft_decode_address_text(const struct weft_decode_address *address, char text[WEFT_DECODE_TEXT]);
/// Of a conversation, a pause or a difference: one of the file, or a mirrored port, whose speed is not known.
const struct weft_capture_interface *weft_decode_interface_at(const struct weft_decode *decode, uint32_t interface);
/// Upper limit of interface numbers, mirrored ports included.
uint32_t weft_decode_interfaces(const struct weft_decode *decode);
/// The interface's name, or its number.
const char *weft_decode_interface_text(const struct weft_decode *decode, uint32_t interface,
                                       char text[WEFT_DECODE_TEXT]);
/// "ERSPAN II 12, VXLAN 3": the layers of wrapping that were removed, by kind; "": none.
const char *weft_decode_tunnels_text(const struct weft_decode *decode, struct weft_arena *arena);
/// Payload behind its first packet by the time from that to the last; 0 of a single moment.
weft_rate_bps weft_decode_rate(const struct weft_conversation *conversation);

/// Its subject is a struct weft_decode.
extern const struct weft_answer weft__answer_decode;
/// A table of it without rows of its own: those of --follow are struct weft_decode_packet, one at a time.
extern const struct weft_result_table weft_decode_packets;
