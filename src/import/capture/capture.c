// SPDX-License-Identifier: Apache-2.0
// A capture as a workload, and as the draft of a scenario.
#include "capture.h"

#include <inttypes.h>
#include <string.h>

#include "base/lines.h"
#include "base/units.h"
#include "import/hosts.h"
#include "topology/builder.h"
#include "weft/import.h"
#include "weft/packet.h"
#include "weft/param.h"
#include "weft/workload.h"

struct capture_conf {
    struct weft_workload_common common;
    const char *file, *hosts, *ranks, *addresses;
};
static const struct weft_param_table capture_params = WEFT_PARAM_TABLE_OF(
    "capture", struct capture_conf, WEFT_PARAM_UNCHECKED, WEFT_WORKLOAD_ROWS(struct capture_conf),
    WEFT_TEXT(struct capture_conf, file, "file", NULL,
              "pcap or pcapng; relative to the scenario. It gives size, verb and start, from its first frame on"),
    WEFT_TEXT(struct capture_conf, hosts, "hosts", "",
              "hosts for the addresses, in the order of their first packet; empty: all hosts"),
    WEFT_TEXT(struct capture_conf, ranks, "ranks", "linear",
              "linear: addresses map to hosts in the order of hosts; or a file with the host of each address, one line "
              "per address, as written by weft place --out; relative to the scenario"),
    WEFT_TEXT(struct capture_conf, addresses, "addresses", "",
              "addresses of the first of these hosts, to change the order: \"10.0.0.7,10.0.0.2\""));

static enum weft_status choose_hosts(const struct capture_conf *c, struct weft_place place,
                                     const struct weft_topology *t, const struct weft__capture_flows *flows,
                                     uint32_t **ret_host, struct weft_error *ret_error) {
    uint32_t n = t->hosts;
    enum weft_status status = WEFT_OK;
    *ret_host = NULL;
    if (*c->hosts || strcmp(c->ranks, "linear")) {
        struct weft__file_hosts hosts;
        status = weft__file_hosts_init(&hosts, c->hosts, c->ranks, place, t, ret_error);
        *ret_host = hosts.host;
        n = hosts.n;
    }
    if (status || flows->addresses <= n) return status;
    char text[WEFT_DECODE_TEXT];
    return WEFT_REFUSE(ret_error, place,
                       "the capture has %" PRIu32 " addresses, the last is %s; expected at most %" PRIu32
                       ", as many as there are hosts for them",
                       flows->addresses, weft_decode_address_text(&flows->address[flows->addresses - 1], text), n);
}

static enum weft_status capture_expand(const void *conf, struct weft_place place, const struct weft_topology *topology,
                                       uint64_t seed, uint32_t entry, struct weft_workload *w,
                                       struct weft_error *ret_error) {
    const struct capture_conf *c = conf;
    WEFT_SCRATCH(arena, WEFT_MEMORY_SCENARIO);
    struct weft__capture_flows flows;
    uint32_t *host = NULL;
    const char *path = weft__path_beside(c->file, place, w->arena);
    enum weft_status status = weft__capture_flows_read(path, c->addresses, place, NULL, arena, &flows, ret_error);
    if (!status && !flows.flows)
        status = WEFT_REFUSE(ret_error, (struct weft_place){.file = path},
                             "no RoCE message with payload is in its %" PRIu64 " frames", flows.decode.frames);
    if (!status) status = choose_hosts(c, place, topology, &flows, &host, ret_error);
    struct weft_workload_common common = c->common;
    for (uint64_t i = 0; i < flows.flows && !status; i++) {
        const struct weft__capture_flow *f = &flows.flow[i];
        common.verb = f->verb;
        status = weft_workload_add(w, &common, place, host ? host[f->src] : f->src, host ? host[f->dst] : f->dst,
                                   f->bytes, weft_time_plus(common.start_ps, f->start_ps), ret_error);
    }
    return status;
}

const struct weft_model weft__workload_capture =
    WEFT_MODEL_OF(WORKLOAD, "capture", "RoCE messages of a capture, each a flow from its first packet on",
                  "ours; messages by the opcodes of IBTA vol. 1 chapter 9. The capture's pauses and losses are in its "
                  "starts already",
                  &capture_params, &(const struct weft_workload_ops){.expand = capture_expand});

// --- import -------------------------------------------------------------------------------------------------------

static const char *capture_recognise(const struct weft_import_file *file) {
    static const uint8_t magic[][4] = {{0x0a, 0x0d, 0x0d, 0x0a},
                                       {0xd4, 0xc3, 0xb2, 0xa1},
                                       {0xa1, 0xb2, 0xc3, 0xd4},
                                       {0x4d, 0x3c, 0xb2, 0xa1},
                                       {0xa1, 0xb2, 0x3c, 0x4d}};
    for (size_t i = 0; i < sizeof magic / sizeof *magic; i++)
        if (file->size >= 24 && !memcmp(file->head, magic[i], 4)) return i ? "pcap" : "pcapng";
    return NULL;
}

/// What the capture tells of the network that it was taken in.
struct signs {
    uint64_t packets, ce; ///< with data, and marked, at the interface with most of them
    uint64_t cnps, xoff;
    uint8_t paused;     ///< priorities
    bool paused_all;    ///< by IEEE 802.3 pause
    uint32_t mtu_bytes; ///< the largest payload
    weft_time_ps paused_ps;
    weft_rate_bps rate_bps; ///< of all its interfaces; 0: not given, or different
};

/// Marks are visible downstream of the marking queue: at one interface of the path, and not at earlier ones.
static void read_marks(struct signs *s, const struct weft_decode *d, struct weft_arena *arena) {
    uint32_t interfaces = weft_decode_interfaces(d);
    uint64_t *packets = weft_arena_alloc(arena, interfaces, sizeof *packets);
    uint64_t *ce = weft_arena_alloc(arena, interfaces, sizeof *ce);
    for (uint32_t i = 0; i < d->conversations; i++) {
        const struct weft_conversation *c = d->conversation[i];
        if (c->mtu_bytes > s->mtu_bytes) s->mtu_bytes = c->mtu_bytes;
        if (!c->payload_bytes) continue;
        packets[c->key.interface] += c->packets;
        ce[c->key.interface] += c->ce;
    }
    for (uint32_t i = 0; i < interfaces; i++) {
        if ((double)ce[i] * (double)s->packets <= (double)s->ce * (double)packets[i] && s->packets) continue;
        s->packets = packets[i];
        s->ce = ce[i];
    }
}

static struct signs read_signs(const struct weft_decode *d, struct weft_arena *arena) {
    struct signs s = {.cnps = d->cnps};
    read_marks(&s, d, arena);
    for (uint32_t i = 0; i < d->pausers; i++) {
        const struct weft_decode_pauser *p = &d->pauser[i];
        if (!p->xoff) continue;
        s.xoff += p->xoff;
        s.paused_ps += p->paused_ps;
        if (p->priority < WEFT_PRIORITIES)
            s.paused |= (uint8_t)(1 << p->priority);
        else
            s.paused_all = true;
    }
    for (uint32_t i = 0; !d->mirrors && i < weft_capture_interfaces(d->reader); i++) { // mirrors: the collector's
        weft_rate_bps rate = weft_capture_interface_at(d->reader, i)->rate_bps;
        if (i && rate != s.rate_bps) rate = 0;
        s.rate_bps = rate;
        if (!rate) break;
    }
    return s;
}

enum { STAR_MAX = 32 };

/// One switch with the speed of the interfaces, if given; else the default network of workloads.
static void say_network(struct weft_import *import, const struct weft_import_common *common, const struct signs *s,
                        uint32_t hosts) {
    char rate[32], delay[32];
    weft_import_need_hosts(import, hosts);
    if (hosts > STAR_MAX || s->rate_bps < WEFT__RATE_MIN || s->rate_bps > WEFT__RATE_MAX) return;
    weft__quantity_format(WEFT__RATE, s->rate_bps, rate, sizeof rate);
    weft__quantity_format(WEFT__TIME, common->delay_ps, delay, sizeof delay);
    weft_import_say(import, WEFT_IMPORT_TOPOLOGY, "  kind: single\n  hosts: %" PRIu32 "\n  rate: %s\n  delay: %s\n",
                    hosts < 2 ? 2 : hosts, rate, delay);
    weft_import_note(import, WEFT_IMPORT_FOUND, "the speed of the interfaces: %s", rate);
    weft_import_note(import, WEFT_IMPORT_ASSUMED, "the network: one switch, links with a delay of %s (delay)", delay);
}

enum { HEADROOM = 140000 }; ///< above XOFF, as in the default buffer

/// XOFF and XON, if the data in flight of senders shows them; false: it does not.
static bool say_buffer(struct weft_import *import, const struct weft__capture_thresholds *t) {
    char xoff[32], xon[32], time[32];
    if (t->by_senders)
        weft_import_note(import, WEFT_IMPORT_LEFT_OUT,
                         "%" PRIu64 " pauses by stations that send data themselves: a host's own buffer, whose "
                         "thresholds the capture does not bound",
                         t->by_senders);
    if (!t->stops || !t->xoff_bytes) return false;
    weft_bytes on = t->goes && t->xon_bytes < t->xoff_bytes ? t->xon_bytes : t->xoff_bytes;
    weft_format_bytes(t->xoff_bytes, xoff, sizeof xoff);
    weft_format_bytes(t->xon_bytes, xon, sizeof xon);
    weft_format_time(t->round_trip_ps, time, sizeof time);
    weft_import_say(import, WEFT_IMPORT_SWITCH,
                    "  buffer: {size: %" PRIu64 "B, xoff: %" PRIu64 "B, xon: %" PRIu64
                    "B} # from what senders had in flight when pauses came\n",
                    t->xoff_bytes + HEADROOM, t->xoff_bytes, on);
    weft_import_note(
        import, WEFT_IMPORT_FOUND,
        "when a pause reached a sender, it had %s in flight and not acknowledged, in the median of %" PRIu64
        " and less half of the shortest round trip (%s) at line rate, which was on the wire: XOFF is about "
        "that",
        xoff, t->stops, time);
    if (t->goes)
        weft_import_note(import, WEFT_IMPORT_FOUND,
                         "when a pause ended, it had %s, in the median of %" PRIu64
                         " and less half of the round trip at the rate at which "
                         "that had drained: XON is about that",
                         xon, t->goes);
    else
        weft_import_note(import, WEFT_IMPORT_ASSUMED, "XON is XOFF: no frame ends a pause");
    weft_import_note(import, WEFT_IMPORT_ASSUMED, "a fixed buffer for each port, with %d bytes above XOFF (size)",
                     HEADROOM);
    return true;
}

/// PFC for the paused priorities.
static void say_pauses(struct weft_import *import, const struct signs *s, const struct weft__capture_thresholds *t) {
    char list[32], bytes[32];
    size_t n = 0;
    for (unsigned p = 0; p < WEFT_PRIORITIES; p++)
        if (s->paused >> p & 1) n += (size_t)snprintf(list + n, sizeof list - n, "%s%u", n ? ", " : "", p);
    if (!n) {
        weft_import_say(import, WEFT_IMPORT_SWITCH,
                        "  pfc: {priorities: none} # the capture has no PFC frame that pauses\n");
        weft_import_say(import, WEFT_IMPORT_HOST, "  pfc: {priorities: none}\n");
    } else {
        weft_import_say(import, WEFT_IMPORT_SWITCH, "  pfc: {priorities: [%s]} # those that the capture has paused\n",
                        list);
        weft_import_say(import, WEFT_IMPORT_HOST, "  pfc: {priorities: [%s]}\n", list);
    }
    if (s->paused_all)
        weft_import_note(import, WEFT_IMPORT_LOST, "pauses of all priorities (IEEE 802.3): weft has PFC");
    if (!s->xoff || !s->rate_bps) return;
    weft_time_ps mean = s->paused_ps / s->xoff;
    weft_format_bytes((weft_bytes)((double)mean * (double)s->rate_bps / 8 / (double)WEFT_PS_PER_S), bytes,
                      sizeof bytes);
    weft_import_note(import, WEFT_IMPORT_FOUND,
                     "%" PRIu64
                     " XOFFs of %s each in the mean: at line rate a port drains %s in that time, so XOFF and XON are "
                     "no further apart, if one input fills it",
                     s->xoff, weft__short_time(mean).text, bytes);
    if (!say_buffer(import, t))
        weft_import_note(import, WEFT_IMPORT_ASSUMED, "XOFF, XON and the buffer: the defaults (weft models buffer)");
}

/// The thresholds that the marks show, as a map; and how they were derived.
static void say_thresholds(struct weft_import *import, const struct weft__capture_thresholds *t) {
    char min[32], max[32], deepest[32];
    weft_format_bytes(t->min_bytes, min, sizeof min);
    weft_format_bytes(t->max_bytes, max, sizeof max);
    weft_format_bytes(t->depth_max, deepest, sizeof deepest);
    if (t->marks == WEFT__MARKS_BY_DEPTH) {
        weft_import_say(import, WEFT_IMPORT_SWITCH,
                        "  aqm: {kind: wred, min: %" PRIu64 "B, max: %" PRIu64
                        "B, max_probability: %.4g} # from the marks over depths\n",
                        t->min_bytes, t->max_bytes, t->max_probability);
        weft_import_note(import, WEFT_IMPORT_FOUND,
                         "%" PRIu64
                         " packets were seen at two interfaces: what they took more than the fastest, at the "
                         "rate of the second one, is the depth that they met, %s at most; %" PRIu64 " were marked on "
                         "the way",
                         t->samples, deepest, t->marked);
        weft_import_note(import, WEFT_IMPORT_FOUND,
                         "marking begins at %s (min), and its probability grows to %.3g at %s (max), %s", min,
                         t->max_probability, max,
                         t->max_reached ? "above which every packet was marked" : "the deepest that was not marked");
        weft_import_note(import, WEFT_IMPORT_ASSUMED,
                         "that packets waited in the queue that marks, and were marked by "
                         "the depth that they met (mark_at)");
        return;
    }
    weft_import_say(import, WEFT_IMPORT_SWITCH,
                    "  aqm: {kind: wred, min: %" PRIu64 "B, max: %" PRIu64
                    "B} # min: at most; from the first marks of bursts\n",
                    t->min_bytes, 4 * t->min_bytes);
    weft_import_note(import, WEFT_IMPORT_FOUND,
                     "in %" PRIu64 " bursts of several senders a packet was marked; the earliest met at most %s, if no "
                     "sender is faster than the port: an upper bound of where marking begins (min)",
                     t->samples, min);
    weft_import_note(
        import, WEFT_IMPORT_ASSUMED,
        "max is four times min, as in HPCC's set-up, and max_probability the default; move them until a run "
        "marks as much");
}

/// ECN if marks were seen, DCQCN if CNPs were.
static void say_marks(struct weft_import *import, const struct signs *s, const struct weft__capture_thresholds *t) {
    if (s->mtu_bytes >= 64 && s->mtu_bytes <= 10240)
        weft_import_say(import, WEFT_IMPORT_HOST, "  mtu: %" PRIu32 "B # the largest payload of a packet\n",
                        s->mtu_bytes);
    weft_import_say(import, WEFT_IMPORT_HOST, "  cc: %s # the capture has %s\n", s->cnps ? "dcqcn" : "none",
                    s->cnps ? "CNPs" : "no CNP");
    bool known = t->marks != WEFT__MARKS_UNKNOWN && t->min_bytes;
    if (known) say_thresholds(import, t);
    if (!known)
        weft_import_say(import, WEFT_IMPORT_SWITCH, "  aqm: %s # the capture has %s\n",
                        s->ce || s->cnps ? "wred" : "none",
                        s->ce     ? "marks"
                        : s->cnps ? "CNPs, so something marks"
                                  : "no mark and no CNP");
    if (s->ce)
        weft_import_note(import, WEFT_IMPORT_FOUND,
                         "marks (CE) at the interface with most: %" PRIu64 " of %" PRIu64 " packets with data, %.3g %%",
                         s->ce, s->packets, 100 * (double)s->ce / (double)s->packets);
    if (!known && (s->ce || s->cnps))
        weft_import_note(
            import, WEFT_IMPORT_ASSUMED,
            "the thresholds of marking: the defaults (weft models aqm wred); move them until a run marks as much");
}

struct telling {
    struct weft_import *import;
    const char *file;
};

static void tell_note(void *context, enum weft_import_note note, const char *text) {
    const struct telling *t = context;
    weft_import_note(t->import, note, "%s: %s", t->file, text);
}

static void say_workload(struct weft_import *import, const struct weft_import_file *file,
                         const struct weft__capture_flows *flows) {
    char bytes[32], text[WEFT_DECODE_TEXT];
    weft_format_bytes(flows->bytes, bytes, sizeof bytes);
    weft_import_say(import, WEFT_IMPORT_WORKLOAD, "- kind: capture\n  file: %s\n",
                    weft_import_quote(import, file->written));
    weft_import_note(import, WEFT_IMPORT_FOUND, "%s: %" PRIu64 " flows, %s, of %" PRIu32 " conversations",
                     file->written, flows->flows, bytes, flows->decode.conversations);
    for (uint32_t i = 0; i < flows->addresses && i < STAR_MAX; i++)
        weft_import_note(import, WEFT_IMPORT_FOUND, "host-%" PRIu32 " is %s", i,
                         weft_decode_address_text(&flows->address[i], text));
    if (flows->addresses > STAR_MAX)
        weft_import_note(import, WEFT_IMPORT_FOUND, "and so on, in the order of first packets");
    weft_import_note(import, WEFT_IMPORT_ASSUMED, "all flows are of priority 3 (priority)");
    struct telling telling = {import, file->written};
    weft__capture_flows_tell(flows, tell_note, &telling);
}

static enum weft_status capture_make(const void *conf, const struct weft_import_file *file, uint32_t files,
                                     struct weft_import *import, struct weft_error *ret_error) {
    const struct weft_import_common *c = conf;
    struct weft__capture_flows flows;
    if (files > 1)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = file[1].path}, "a second capture; expected one");
    struct weft__capture_queues *queues = weft__capture_queues_new(weft_import_arena(import));
    enum weft_status status =
        weft__capture_flows_read(file->path, "", WEFT_NOWHERE, queues, weft_import_arena(import), &flows, ret_error);
    if (status) return status;
    if (!flows.flows)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = file->path},
                           "no RoCE message with payload is in its %" PRIu64 " frames", flows.decode.frames);
    struct signs signs = read_signs(&flows.decode, weft_import_arena(import));
    say_network(import, c, &signs, flows.addresses);
    struct weft__capture_thresholds thresholds = weft__capture_queues_conclude(queues, &flows.decode);
    say_pauses(import, &signs, &thresholds);
    say_marks(import, &signs, &thresholds);
    say_workload(import, file, &flows);
    return WEFT_OK;
}

const struct weft_model weft__import_capture =
    WEFT_MODEL_OF(IMPORT, "capture",
                  "a capture, pcap or pcapng: RoCE messages as flows; PFC, marking and DCQCN as far as it shows them",
                  "draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng; IBTA vol. 1 chapter 9", &weft_import_table,
                  &(const struct weft_import_ops){
                      .recognise = capture_recognise,
                      .make = capture_make,
                      .syntax = WEFT_IMPORT_BINARY,
                      .begins = "the first bytes of pcap or pcapng",
                  });
