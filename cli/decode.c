// SPDX-License-Identifier: Apache-2.0
// weft decode: what a capture, from weft or from a real network, shows about RoCE, pauses and DCBX.

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "results.h"

#include "base/csv.h"
#include "base/json.h"
#include "base/order.h"
#include "base/param.h"
#include "base/tree.h"
#include "base/units.h"
#include "weft/decode.h"
#include "weft/param.h"
#include "weft/result.h"

// The text of weft decode.

enum { TEXT = WEFT_DECODE_TEXT };

static const char *rate_text(weft_rate_bps rate, char text[TEXT]) {
    if (!rate) return "-";
    static const struct {
        double bps;
        const char *name;
    } unit[] = {{1e12, "Tbps"}, {1e9, "Gbps"}, {1e6, "Mbps"}, {1e3, "kbps"}, {1, "bps"}};
    unsigned u = 0;
    while (u < 4 && (double)rate < unit[u].bps)
        u++;
    return WEFT_SAY(text, TEXT, "%.3g%s", (double)rate / unit[u].bps, unit[u].name);
}

static const char *time_text(weft_time_ps time, char text[TEXT]) {
    return WEFT_SAY(text, TEXT, "%.3f", (double)time / (double)WEFT_PS_PER_US);
}

/// "WRITE 12, READ 3"
static const char *verbs_text(const struct weft_conversation *c, char text[TEXT]) {
    const struct {
        const char *name;
        uint64_t n;
    } verb[] = {{"SEND", c->sends},     {"WRITE", c->writes}, {"READ", c->reads}, {"response", c->read_responses},
                {"atomic", c->atomics}, {"ACK", c->acks}};
    size_t at = 0;
    text[0] = 0;
    for (unsigned i = 0; i < sizeof verb / sizeof *verb; i++)
        if (verb[i].n && at < TEXT)
            at += (size_t)snprintf(text + at, TEXT - at, "%s%s %" PRIu64, at ? ", " : "", verb[i].name, verb[i].n);
    return at ? text : "-";
}

WEFT__ORDER_OF_POINTERS(by_payload, struct weft_conversation, WEFT__DOWN(payload_bytes) ?: WEFT__UP(number))

static void print_counts(const struct weft_conversation *c) {
    const struct {
        const char *name;
        uint64_t n;
    } count[] = {{"gaps", c->gaps},
                 {"missing", c->missing},
                 {"late", c->late},
                 {"resent", c->resent},
                 {"restarts", c->restarts},
                 {"NAKs carried", c->naks},
                 {"RNR NAKs carried", c->rnr_naks},
                 {"other NAKs carried", c->other_naks},
                 {"marked", c->ce},
                 {"CNPs carried", c->cnps},
                 {"wrong ICRC", c->icrc_wrong},
                 {"UDP port changes", c->port_changes},
                 {"TTL changes", c->ttl_changes},
                 {"MAC changes", c->mac_changes}};
    const char *separator = "      ";
    for (unsigned i = 0; i < sizeof count / sizeof *count; i++)
        if (count[i].n) {
            printf("%s%s %" PRIu64, separator, count[i].name, count[i].n);
            separator = ", ";
        }
    if (*separator == ',') putchar('\n');
}

static void print_conversation(const struct weft_decode *d, const struct weft_conversation *c) {
    char interface[TEXT], src[TEXT], dst[TEXT], route[2 * TEXT + 4], verbs[TEXT], bytes[WEFT_CLI_TEXT], rate[TEXT];
    char before[TEXT], after[TEXT], peer[TEXT] = "-";
    snprintf(route, sizeof route, "%s > %s", weft_decode_address_text(&c->key.src, src),
             weft_decode_address_text(&c->key.dst, dst));
    if (c->peer != WEFT_NONE) snprintf(peer, sizeof peer, "%" PRIu32, c->peer);
    printf("%5" PRIu32 " %5s  %-16s %-27s %8" PRIu32 " %9" PRIu64 " %9s %9s  %s%s\n", c->number, peer,
           weft_decode_interface_text(d, c->key.interface, interface), route, c->key.qp, c->packets,
           weft_cli_bytes_text(c->payload_bytes, bytes), rate_text(weft_decode_rate(c), rate), verbs_text(c, verbs),
           c->again ? " (seen before)" : "");
    print_counts(c);
    if (!c->cnp.intervals) return;
    double seconds = (double)c->cnp.intervals * (double)d->conf.interval_ps / (double)WEFT_PS_PER_S;
    printf("      around intervals with CNPs (%" PRIu64 "): %s before, %s after\n", c->cnp.intervals,
           rate_text((weft_rate_bps)((double)c->cnp.before_bytes * 8 / seconds), before),
           c->cnp.after_bytes ? rate_text((weft_rate_bps)((double)c->cnp.after_bytes * 8 / seconds), after)
                              : "nothing");
}

static void print_conversations(const struct weft_decode *d, uint32_t rows, struct weft_arena *arena) {
    if (!d->conversations) return;
    struct weft_conversation **sorted = weft_arena_alloc(arena, d->conversations, sizeof(struct weft_conversation *));
    memcpy(sorted, d->conversation, d->conversations * sizeof(struct weft_conversation *));
    qsort(sorted, d->conversations, sizeof(struct weft_conversation *), by_payload);
    printf("\n%5s %5s  %-16s %-27s %8s %9s %9s %9s  %s\n", "#", "back", "interface", "from > to", "QP", "packets",
           "payload", "rate", "messages");
    uint32_t n = rows && rows < d->conversations ? rows : d->conversations;
    for (uint32_t i = 0; i < n; i++)
        print_conversation(d, sorted[i]);
    if (n < d->conversations) printf("  %" PRIu32 " more with less payload (--all)\n", d->conversations - n);
}

static void print_links(const struct weft_decode *d) {
    char interface[TEXT], time[TEXT], class[TEXT];
    if (d->pausers)
        printf("\n%-16s %-18s %8s %9s %9s %13s\n", "interface", "pauses from", "priority", "XOFF", "XON", "paused, us");
    for (uint32_t i = 0; i < d->pausers; i++) {
        const struct weft_decode_pauser *p = &d->pauser[i];
        snprintf(class, sizeof class, p->priority < WEFT_PRIORITIES ? "%u" : "all", p->priority);
        printf("%-16s %02x:%02x:%02x:%02x:%02x:%02x  %8s %9" PRIu64 " %9" PRIu64 " %13s\n",
               weft_decode_interface_text(d, p->interface, interface), p->mac[0], p->mac[1], p->mac[2], p->mac[3],
               p->mac[4], p->mac[5], class, p->xoff, p->xon, time_text(p->paused_ps, time));
    }
    if (d->differences) printf("\nDCBX\n");
    for (uint32_t i = 0; i < d->differences; i++)
        printf("%-16s %s\n%16s so %s\n", weft_decode_interface_text(d, d->difference[i].interface, interface),
               d->difference[i].found, "", d->difference[i].consequence);
}

/// At most `rows` conversations, those with the most payload; 0: all.
static void print_decode(const struct weft_decode *d, uint32_t rows) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    char bytes[WEFT_CLI_TEXT], time[TEXT];
    uint32_t interfaces = weft_capture_interfaces(d->reader);
    printf("%s: %s, %s, %s us, %s\n", weft__text_shown(d->file, arena), weft__counted(d->frames, "frame").text,
           weft_cli_bytes_text(d->bytes, bytes), time_text(d->last_ps, time),
           weft__counted(interfaces, "interface").text);
    printf("%" PRIu64 " RoCE, of them %" PRIu64 " CNP; %" PRIu64 " pause; %" PRIu64 " LLDP; %" PRIu64 " other\n",
           d->roce, d->cnps, d->pauses, d->lldp_frames, d->others);
    if (d->unwraps)
        printf("%s unwrapped: %s\n", weft__counted(d->unwraps, "frame").text, weft_decode_tunnels_text(d, arena));
    for (uint8_t type = 0; d->uets && type < WEFT_PDS_TYPES; type++) {
        const struct weft_decode_uet *of = &d->uet[type];
        const char *name = weft_pds_type_name(type);
        if (of->packets)
            printf("Ultra Ethernet: %" PRIu64 " %s; %" PRIu64 " again, %" PRIu64 " ask for an ACK, %" PRIu64
                   " marked, %" PRIu64 " trimmed\n",
                   of->packets, name ? name : "of no known type", of->again, of->asks, of->marked, of->trimmed);
    }
    for (uint32_t i = 0; i < d->warnings; i++)
        printf("warning: %s\n", d->warning[i]);
    print_conversations(d, rows, arena);
    print_links(d);
}

/// A packet of --follow, with a line of names before the first.
static void print_packet(const struct weft_decode_packet *p, bool first) {
    char src[TEXT], dst[TEXT], time[TEXT], delta[TEXT];
    if (first)
        printf("%9s %5s %13s %11s %8s %-30s %7s  %s\n", "frame", "#", "time, us", "delta, us", "PSN", "opcode",
               "payload", "from > to, flags");
    printf("%9" PRIu64 " %5" PRIu32 " %13s %11s %8" PRIu32 " %-30s %7" PRIu64 "  %s > %s %s\n", p->frame, p->of->number,
           time_text(p->time_ps, time), p->delta_ps == WEFT_TIME_NEVER ? "-" : time_text(p->delta_ps, delta), p->psn,
           p->name, p->payload_bytes, weft_decode_address_text(&p->of->key.src, src),
           weft_decode_address_text(&p->of->key.dst, dst), p->flags);
}

static const char *interval_text, *rate_asked, *follow_text, *conversations_text;
static bool all_rows, columns;

static const struct weft_cli_option options[] = {
    {"follow", "QP", "list the packets to this queue pair one by one, instead of tables", &follow_text, NULL},
    {"interval", "TIME", "length of the intervals of rates, and of before and after a CNP (default 100us)",
     &interval_text, NULL},
    {"rate", "RATE", "speed of links that the file does not name, for times paused (default 100Gbps, assumed)",
     &rate_asked, NULL},
    {"all", NULL, "every conversation in the table, not only the 20 with the most payload", NULL, &all_rows},
    {"conversations", "N", "keep at most N conversations (default 65536)", &conversations_text, NULL},
    {"columns", NULL, "list the tables of --json and --csv with their columns, and do nothing else", NULL, &columns},
    {0},
};

static const struct weft_cli_command command = {
    .name = "decode",
    .operands = "FILE",
    .about =
        "Reads a capture (pcap or pcapng) and prints its RoCE conversations: verbs, messages, rates, losses, marks,\n"
        "CNPs and their effect; which station paused which, and DCBX differences. Memory does not grow with the\n"
        "file.",
    .answer = &weft__answer_decode,
    .operands_min = 0,
    .operands_max = 1,
    .option = options,
};

struct decoding {
    struct weft_decode_conf conf;
    const struct weft_cli_options *o;
    struct weft_arena *arena;
    bool begun; ///< the part before the first packet has been printed
    uint64_t packets;
    struct weft__json j;
};

static enum weft_status parse_options(struct decoding *d, struct weft_error *ret_error) {
    static const struct weft_param interval = WEFT_TIME(struct weft_decode_conf, interval_ps, "--interval", "100us",
                                                        "100ns", "1000s", "length of an interval");
    static const struct weft_param rate =
        WEFT_RATE(struct weft_decode_conf, rate_bps, "--rate", "100Gbps", "1Mbps", "100Tbps", "speed of a link");
    uint64_t number = 0;
    char *end;
    enum weft_status status = WEFT_OK;
    d->conf.follow_qp = WEFT_NONE;
    if (interval_text) status = weft_param_parse(&interval, interval_text, WEFT_NOWHERE, &d->conf, d->arena, ret_error);
    if (!status && rate_asked)
        status = weft_param_parse(&rate, rate_asked, WEFT_NOWHERE, &d->conf, d->arena, ret_error);
    if (!status && conversations_text && !weft_cli_number("--conversations", conversations_text, 1, 1 << 24, &number))
        return WEFT_ERROR_INPUT;
    d->conf.conversations_max = (uint32_t)number;
    if (!status && follow_text) {
        unsigned long qp = strtoul(follow_text, &end, 0);
        if (follow_text[0] < '0' || follow_text[0] > '9' || *end || qp > WEFT_QP_MAX)
            return WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                               "--follow %s: expected the number of a queue pair, such as 17 or 0x11", follow_text);
        d->conf.follow_qp = (uint32_t)qp;
    }
    bool packets = d->o->csv && !strcmp(d->o->csv, weft_decode_packets.name);
    if (!status && d->o->csv && packets != !!follow_text)
        status = WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                             "--csv %s: expected packets with --follow, and another table without it", d->o->csv);
    if (!status && follow_text && (d->o->picks || d->o->database))
        status = WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                             "--follow: packets are printed one by one; expected --json, --csv packets or neither");
    return status;
}

static void begin_packets(struct decoding *d) {
    if (d->begun) return;
    d->begun = true;
    if (d->o->csv) weft_answer_csv_names(stdout, &weft_decode_packets, true);
    if (!d->o->json) return;
    weft__json_begin_object(&d->j);
    weft__json_key(&d->j, "packets");
    weft__json_begin_array(&d->j);
}

static void on_packet(void *context, const struct weft_decode_packet *packet) {
    struct decoding *d = context;
    struct weft_result_cursor row = {.table = &weft_decode_packets, .arena = d->arena, .part = {packet}};
    begin_packets(d);
    if (d->o->json)
        weft_answer_json_row(&d->j, &row);
    else if (d->o->csv)
        weft_answer_csv_row(stdout, &row, true);
    else
        print_packet(packet, !d->packets);
    d->packets++;
}

/// Prints packets while the file is read, so those before an error in the file are out when it is found; warnings go to
/// standard error.
static enum weft_status follow_packets(struct decoding *d, const char *path, struct weft_error *ret_error) {
    struct weft_decode decode;
    d->conf.context = d;
    d->conf.on_packet = on_packet;
    enum weft_status status = weft_decode_file(path, &d->conf, d->arena, &decode, ret_error);
    if (!status) begin_packets(d);
    if (d->o->json && d->begun) {
        weft__json_end_array(&d->j);
        weft__json_end_object(&d->j);
        puts("");
    }
    for (uint32_t i = 0; !status && i < decode.warnings; i++)
        fprintf(stderr, "weft: %s: %s\n", weft__text_shown(path, d->arena), decode.warning[i]);
    if (!status && !d->packets && !d->o->json && !d->o->csv)
        printf("no packet to queue pair %u in %s\n", (unsigned)d->conf.follow_qp,
               weft__counted(decode.frames, "frame").text);
    return status;
}

static void print_text(FILE *file, const void *decode) {
    print_decode(decode, all_rows ? 0 : 20);
}

static enum weft_status decode_all(struct decoding *d, const char *path, struct weft_error *ret_error) {
    struct weft_decode decode;
    enum weft_status status = weft_decode_file(path, &d->conf, d->arena, &decode, ret_error);
    return status ? status : weft_cli_answer(d->o, &weft__answer_decode, &decode, print_text, ret_error);
}

static enum weft_status answer_decode(const struct weft_cli_options *o, struct weft_error *ret_error) {
    struct decoding d = {.o = o, .arena = o->arena, .j = {.file = stdout}};
    WEFT_TRY(parse_options(&d, ret_error));
    if (columns) {
        weft_cli_tables_markdown(weft__answer_decode.name);
        return WEFT_OK;
    }
    if (!o->operands) return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "decode: expected a FILE");
    return follow_text ? follow_packets(&d, o->operand[0], ret_error) : decode_all(&d, o->operand[0], ret_error);
}

int weft_cli_decode(int argc, char **argv) {
    return weft_cli_act(&command, argc, argv, answer_decode);
}
