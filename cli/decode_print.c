// SPDX-License-Identifier: Apache-2.0
// The text of weft decode.
#include "base/order.h"
#include "decode.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/tree.h"
#include "base/units.h"
#include "cli.h"

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
    snprintf(text, TEXT, "%.3g%s", (double)rate / unit[u].bps, unit[u].name);
    return text;
}

static const char *time_text(weft_time_ps time, char text[TEXT]) {
    snprintf(text, TEXT, "%.3f", (double)time / (double)WEFT_PS_PER_US);
    return text;
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

void weft_cli_decode_print(const struct weft_decode *d, uint32_t rows) {
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

void weft_cli_decode_packet(const struct weft_decode_packet *p, bool first) {
    char src[TEXT], dst[TEXT], time[TEXT], delta[TEXT];
    if (first)
        printf("%9s %5s %13s %11s %8s %-30s %7s  %s\n", "frame", "#", "time, us", "delta, us", "PSN", "opcode",
               "payload", "from > to, flags");
    printf("%9" PRIu64 " %5" PRIu32 " %13s %11s %8" PRIu32 " %-30s %7" PRIu64 "  %s > %s %s\n", p->frame, p->of->number,
           time_text(p->time_ps, time), p->delta_ps == WEFT_TIME_NEVER ? "-" : time_text(p->delta_ps, delta), p->psn,
           p->name, p->payload_bytes, weft_decode_address_text(&p->of->key.src, src),
           weft_decode_address_text(&p->of->key.dst, dst), p->flags);
}
