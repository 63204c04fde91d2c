// SPDX-License-Identifier: Apache-2.0
// Decodes a capture from front to back: each frame is parsed and passed to the code for its subject.
#include "decode.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/stream.h"

#define INTERVAL_DEFAULT (100 * WEFT_PS_PER_US)
#define RATE_ASSUMED UINT64_C(100000000000)
enum { STREAM_BYTES = 1 << 16 };

void weft__decode_warn(struct weft_decode *d, const char *format, ...) {
    if (d->warnings == WEFT_DECODE_WARNINGS) return;
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    d->warning[d->warnings++] = weft_arena_text(d->arena, text);
}

/// For frames without a timestamp, or with one before the first: that of the first.
static weft_time_ps time_of(struct weft_decode *d, const struct weft_capture_frame *raw) {
    if (raw->number == 1) d->first_ns = raw->time_ns;
    uint64_t ns = raw->time_ns > d->first_ns ? raw->time_ns - d->first_ns : 0;
    d->early += raw->time_ns < d->first_ns;
    weft_time_ps time = ns < WEFT_TIME_MAX / WEFT_PS_PER_NS ? ns * WEFT_PS_PER_NS : WEFT_TIME_MAX;
    if (time > d->last_ps) d->last_ps = time;
    return time;
}

static uint16_t inner_type(const struct weft_frame *f) {
    return f->layers & WEFT_LAYER_VLAN ? f->vlan.ethertype : f->ethernet.ethertype;
}

// --- captures without the headers of Ethernet ---------------------------------------------------------------------

/// LINKTYPE of packets that begin with IP, and of those of Linux's device `any`, which begin with a header of its own.
enum link { OLD_RAW = 12, RAW = 101, LINUX = 113, IPV4 = 228, IPV6 = 229, LINUX_2 = 276 };
enum { LINUX_BYTES = 16, LINUX_2_BYTES = 20, MAC_BYTES = 6 };

static bool is_read(uint32_t link) {
    return link == WEFT_PCAPNG_ETHERNET || link == OLD_RAW || link == RAW || link == LINUX || link == IPV4 ||
           link == IPV6 || link == LINUX_2;
}

/// The packet as if it followed an Ethernet header with the information of its own header. False: it is too short for
/// that.
static bool as_ethernet(struct weft_decode *d, uint32_t link, const struct weft_capture_frame *raw,
                        struct weft_capture_frame *ret) {
    const uint8_t *packet = raw->data;
    uint32_t header = link == LINUX ? LINUX_BYTES : link == LINUX_2 ? LINUX_2_BYTES : 0;
    if (raw->captured <= header) return false;
    if (!d->cooked) d->cooked = weft_arena_alloc(d->arena, 1, WEFT_CAPTURE_FRAME_MAX + WEFT_ETHERNET_BYTES);
    struct weft_ethernet ethernet = {.ethertype = packet[0] >> 4 == 6 ? WEFT_ETHERTYPE_IPV6 : WEFT_ETHERTYPE_IPV4};
    if (header) {
        const uint8_t *type = packet + (link == LINUX ? 14 : 0);
        ethernet.ethertype = (uint16_t)(type[0] << 8 | type[1]);
        memcpy(ethernet.src, packet + (link == LINUX ? 6 : 12), MAC_BYTES);
    }
    weft_ethernet_encode(&ethernet, d->cooked, WEFT_ETHERNET_BYTES);
    memcpy(d->cooked + WEFT_ETHERNET_BYTES, packet + header, raw->captured - header);
    *ret = *raw;
    ret->data = d->cooked;
    ret->captured = raw->captured - header + WEFT_ETHERNET_BYTES;
    ret->bytes = raw->bytes - header + WEFT_ETHERNET_BYTES;
    return true;
}

// --- frames -------------------------------------------------------------------------------------------------------

static bool is_uet(const struct weft_frame *f) {
    return f->layers & WEFT_LAYER_UDP && f->udp.dst_port == WEFT_UDP_PORT_UET && f->payload_bytes >= 2;
}

/// False: its headers are incomplete, or of an unknown type.
static bool take_uet(struct weft_decode *d, const struct weft_frame *f) {
    struct weft_pds pds = {.type = f->payload[0] >> 3};
    struct weft_decode_uet *of = &d->uet[pds.type];
    d->uets++;
    of->packets++;
    if (!weft_pds_bytes(pds.type)) return weft_pds_type_name(pds.type);
    if (weft_pds_decode(f->payload, f->payload_bytes, &pds)) return false;
    bool request = pds.type <= WEFT_PDS_UUD_REQUEST || pds.type >= WEFT_PDS_CONTROL;
    of->again += (pds.flags & WEFT_PDS_AGAIN) != 0;
    of->asks += request && pds.flags & WEFT_PDS_ASKS;
    of->marked += !request && pds.flags & WEFT_PDS_MARKED;
    uint16_t code = pds.offset >> 8;
    of->trimmed +=
        pds.type == WEFT_PDS_NACK && (code == WEFT_PDS_NACK_TRIMMED || code == WEFT_PDS_NACK_TRIMMED_LAST_HOP);
    return true;
}

enum { IPV6_FRAGMENT = 44 }; // next header

/// The first frame that is nothing else: what to look for if no RoCE is found.
static void take_other(struct weft_decode *d, const struct weft_frame *f, bool cut) {
    if (d->others++) return;
    d->other_type = inner_type(f);
    d->other_cut = cut;
    if (f->layers & WEFT_LAYER_IPV4) {
        d->other_protocol = f->ipv4.protocol;
        d->other_fragment = f->ipv4.more_fragments || f->ipv4.fragment_offset;
    }
    if (f->layers & WEFT_LAYER_IPV6) {
        d->other_protocol = f->ipv6.next_header;
        d->other_fragment = f->ipv6.next_header == IPV6_FRAGMENT;
    }
    if (f->layers & WEFT_LAYER_UDP) d->other_port = f->udp.dst_port;
}

static void take_frame(struct weft_decode *d, const struct weft_capture_frame *raw) {
    const struct weft_capture_interface *interface = weft_capture_interface_at(d->reader, raw->interface);
    struct weft_capture_frame cooked, inner;
    struct weft_frame frame;
    struct weft__decode_at at = {.raw = raw, .frame = &frame, .time_ps = time_of(d, raw)};
    d->frames++;
    d->bytes += raw->bytes;
    if (!is_read(interface->link)) {
        d->foreign++;
        return;
    }
    if (interface->link != WEFT_PCAPNG_ETHERNET) {
        if (!as_ethernet(d, interface->link, raw, &cooked)) {
            d->others++;
            if (!d->broken++) d->broken_first = raw->number;
            return;
        }
        at.raw = raw = &cooked;
    }
    // the FCS is the first part missing from a truncated frame
    bool has_fcs = interface->fcs_bytes == WEFT_FCS_BYTES && raw->captured == raw->bytes;
    inner = *raw;
    if (weft__decode_unwrap(d, &inner)) {
        at.raw = raw = &inner;
        has_fcs = false; // the outer frame's: it lies behind the inner one
    }
    enum weft_wire_status status = weft_frame_decode(raw->data, raw->captured, has_fcs, &frame);
    if (frame.layers & WEFT_LAYER_BTH) {
        weft__decode_roce(d, &at);
    } else if (frame.layers & (WEFT_LAYER_PAUSE | WEFT_LAYER_PFC)) {
        weft__decode_pause(d, &at);
    } else if (inner_type(&frame) == WEFT_ETHERTYPE_LLDP) {
        weft__decode_lldp(d, &at);
    } else if (is_uet(&frame)) {
        if (!take_uet(d, &frame) && raw->captured == raw->bytes && !d->broken++) d->broken_first = raw->number;
    } else {
        take_other(d, &frame, status == WEFT_WIRE_TRUNCATED && raw->captured < raw->bytes);
    }
    bool cut = status == WEFT_WIRE_TRUNCATED && raw->captured < raw->bytes;
    if (status && !cut && !d->broken++) d->broken_first = raw->number;
}

/// No RoCE at all: says what there is instead.
static void warn_of_others(struct weft_decode *d) {
    char what[WEFT_DECODE_TEXT] = "";
    if (d->roce || d->uets || d->pauses + d->lldp_frames >= d->others) return;
    if (d->other_port)
        snprintf(what, sizeof what, ", UDP port %u", d->other_port);
    else if (d->other_protocol)
        snprintf(what, sizeof what, ", IP protocol %u", d->other_protocol);
    weft__decode_warn(
        d, "no RoCE in it (UDP port 4791, ethertype 0x8915): the first of the other frames has ethertype 0x%04x%s%s",
        d->other_type, what,
        d->other_fragment ? ", a fragment of a packet, which is not reassembled"
        : d->other_cut    ? ", and is cut within its headers (snap length)"
                          : "");
}

static void warn_of_file(struct weft_decode *d) {
    uint64_t cut = weft_capture_cut(d->reader);
    if (cut)
        weft__decode_warn(
            d, "the file ends within the record that begins at byte %" PRIu64 "; what is before it counts", cut);
    if (d->foreign)
        weft__decode_warn(d, "%" PRIu64 " frames of interfaces with other link types than Ethernet and IP are left out",
                          d->foreign);
    if (d->broken)
        weft__decode_warn(d, "%" PRIu64 " frames contradict themselves (lengths, headers); the first is frame %" PRIu64,
                          d->broken, d->broken_first);
    if (d->early)
        weft__decode_warn(
            d, "%" PRIu64 " frames are stamped before the first one, or not at all: they count as of its time",
            d->early);
    if (d->uncounted)
        weft__decode_warn(d,
                          "more than %" PRIu32 " conversations: %" PRIu64
                          " packets of later ones are in the total only (--conversations)",
                          d->conf.conversations_max, d->uncounted);
    warn_of_others(d);
}

static enum weft_status check_links(const struct weft_decode *d, struct weft_error *ret_error) {
    uint32_t n = weft_capture_interfaces(d->reader);
    struct weft_place place = {.file = d->file};
    if (!n) return WEFT_REFUSE(ret_error, place, "no interface is described in it");
    for (uint32_t i = 0; i < n; i++)
        if (is_read(weft_capture_interface_at(d->reader, i)->link)) return WEFT_OK;
    return WEFT_REFUSE(ret_error, place,
                       "frames are of link type %" PRIu32
                       "; expected Ethernet (1), IP (12, 101, 228, 229), or those of Linux's device any (113, 276)",
                       weft_capture_interface_at(d->reader, 0)->link);
}

enum weft_status weft_decode_run(FILE *file, const char *name, const struct weft_decode_conf *conf,
                                 struct weft_arena *arena, struct weft_decode *ret, struct weft_error *ret_error) {
    struct weft_capture_reader *reader;
    struct weft_capture_frame raw;
    bool any = true;
    *ret = (struct weft_decode){.conf = *conf, .file = name, .arena = arena};
    if (!ret->conf.interval_ps) ret->conf.interval_ps = INTERVAL_DEFAULT;
    if (!ret->conf.rate_bps) ret->conf.rate_bps = RATE_ASSUMED;
    if (!ret->conf.conversations_max) ret->conf.conversations_max = WEFT_DECODE_CONVERSATIONS_MAX;
    enum weft_status status = weft_capture_open(file, name, arena, &reader, ret_error);
    ret->reader = reader;
    while (!status && any) {
        status = weft_capture_next(reader, &raw, &any, ret_error);
        if (!status && any) take_frame(ret, &raw);
    }
    if (!status) status = check_links(ret, ret_error);
    if (status) return status;
    ret->file_bytes = weft_capture_bytes(reader);
    weft__decode_roce_end(ret);
    weft__decode_pause_end(ret);
    weft__decode_lldp_end(ret);
    weft__decode_unwrap_end(ret);
    warn_of_file(ret);
    return WEFT_OK;
}

enum weft_status weft_decode_file(const char *path, const struct weft_decode_conf *conf, struct weft_arena *arena,
                                  struct weft_decode *ret, struct weft_error *ret_error) {
    struct weft_place place = {.file = path};
    FILE *file = weft__file_open_unpacked(path);
    if (!file) return WEFT_REFUSE(ret_error, place, "cannot be read: %s", weft__file_why(errno));
    struct weft_memory_cleanup cleanup;
    weft_memory_cleanup_add(&cleanup, weft__file_close, file);
    setvbuf(file, weft_arena_alloc(arena, STREAM_BYTES, 1), _IOFBF, STREAM_BYTES);
    enum weft_status status = weft_decode_run(file, path, conf, arena, ret, ret_error);
    weft_memory_cleanup_remove(&cleanup);
    fclose(file);
    return status;
}

// --- texts --------------------------------------------------------------------------------------------------------

const char *weft_decode_address_text(const struct weft_decode_address *a, char text[WEFT_DECODE_TEXT]) {
    if (a->network == WEFT_DECODE_IPV4)
        return WEFT_SAY(text, WEFT_DECODE_TEXT, "%u.%u.%u.%u", a->octet[0], a->octet[1], a->octet[2], a->octet[3]);
    size_t at = 0, best = 0, best_n = 1; // the longest run of two zero words or more becomes "::" (RFC 5952)
    for (size_t i = 0, n; i < 8; i += n ? n : 1) {
        for (n = 0; i + n < 8 && !a->octet[2 * (i + n)] && !a->octet[2 * (i + n) + 1];)
            n++;
        if (n > best_n) best = i, best_n = n;
    }
    for (size_t i = 0; i < 8; i++) {
        if (best_n > 1 && i == best) {
            at += (size_t)snprintf(text + at, WEFT_DECODE_TEXT - at, "::");
            i += best_n - 1;
            continue;
        }
        bool colon = i && text[at - 1] != ':';
        at += (size_t)snprintf(text + at, WEFT_DECODE_TEXT - at, "%s%x", colon ? ":" : "",
                               (unsigned)a->octet[2 * i] << 8 | a->octet[2 * i + 1]);
    }
    return text;
}

const char *weft_decode_interface_text(const struct weft_decode *d, uint32_t interface, char text[WEFT_DECODE_TEXT]) {
    const struct weft_capture_interface *i = weft_decode_interface_at(d, interface);
    if (i->name)
        snprintf(text, WEFT_DECODE_TEXT, "%s", i->name);
    else
        snprintf(text, WEFT_DECODE_TEXT, "%" PRIu32, interface);
    return text;
}

weft_rate_bps weft_decode_rate(const struct weft_conversation *c) {
    weft_time_ps time = c->last_ps - c->first_ps;
    return time ? (weft_rate_bps)((double)(c->payload_bytes - c->first_payload_bytes) * 8 * (double)WEFT_PS_PER_S /
                                  (double)time)
                : 0;
}
