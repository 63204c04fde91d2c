// SPDX-License-Identifier: Apache-2.0
// weft dcbx: what the LLDP frames of a real capture say, and what a port would negotiate with their senders.
#include "dcbx.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#include "base/stream.h"
#include "base/tree.h"
#include "base/units.h"
#include "weft/capture_read.h"
#include "weft/param.h"
#include "weft/param_load.h"

static const char *pfc_text, *ets_text, *app_text, *mac_text, *capability_text;
static bool willing;

static const struct weft_cli_option options[] = {
    {"pfc", "PRIORITIES", "negotiate as a port with PFC on these, such as 3,4 or none", &pfc_text, NULL},
    {"willing", NULL, "... that takes over the neighbour's configuration", NULL, &willing},
    {"ets", "SHARES", "... with these per cent of bandwidth for priorities 0 to 7, or s: 50,0,0,50,s,s,s,s", &ets_text,
     NULL},
    {"apps", "LIST", "... with these applications, such as udp:4791:3,ethertype:0x8906:4", &app_text, NULL},
    {"capability", "N", "... that can do PFC on N priorities at once (default 8)", &capability_text, NULL},
    {"mac", "ADDRESS", "... with this MAC address (default 02:00:00:00:00:00); if both are willing the lower one wins",
     &mac_text, NULL},
    {0},
};

static const struct weft_cli_command command = {
    .name = "dcbx",
    .operands = "FILE",
    .about =
        "Reads a capture (pcap or pcapng) and prints the DCBX settings of each LLDP sender; with --pfc also what a\n"
        "port with these settings would negotiate with it, and the consequence of each difference.",
    .answer = &weft__answer_dcbx,
    .operands_min = 1,
    .operands_max = 1,
    .option = options,
};

// --- the own port -------------------------------------------------------------------------------------------------

static enum weft_status refuse_value(struct weft_error *ret_error, const char *option, const char *text,
                                     const char *expected) {
    return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "%s %s: expected %s", option, text, expected);
}

static enum weft_status parse_mac(const char *text, uint8_t ret_mac[6], struct weft_error *ret_error) {
    int used = 0;
    unsigned octet[6];
    if (sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%n", &octet[0], &octet[1], &octet[2], &octet[3], &octet[4], &octet[5],
               &used) != 6 ||
        text[used])
        return refuse_value(ret_error, "--mac", text, "six octets, such as 02:00:00:00:00:01");
    for (unsigned i = 0; i < 6; i++)
        ret_mac[i] = (uint8_t)octet[i];
    return WEFT_OK;
}

/// Eight shares with the sum of 100; "s" means strict.
static enum weft_status parse_ets(const char *text, struct weft_ets_table *ret_table, struct weft_error *ret_error) {
    static const char expected[] =
        "eight shares in per cent that add up to 100, s for strict, such as 50,0,0,50,s,s,s,s";
    *ret_table = (struct weft_ets_table){.class_of = {0, 1, 2, 3, 4, 5, 6, 7}};
    unsigned long sum = 0;
    const char *at = text;
    for (unsigned p = 0; p < WEFT_PRIORITIES; p++) {
        char *end = (char *)at + 1;
        if (*at != 's') {
            unsigned long percent = *at >= '0' && *at <= '9' ? strtoul(at, &end, 10) : 101;
            if (percent > 100) return refuse_value(ret_error, "--ets", text, expected);
            ret_table->algorithm[p] = WEFT_ETS_SHARE;
            ret_table->percent[p] = (uint8_t)percent;
            sum += percent;
        }
        if (*end != (p + 1 < WEFT_PRIORITIES ? ',' : '\0')) return refuse_value(ret_error, "--ets", text, expected);
        at = end + 1;
    }
    bool all_strict = !memcmp(ret_table->algorithm, (uint8_t[WEFT_PRIORITIES]){0}, WEFT_PRIORITIES);
    return sum == 100 || all_strict ? WEFT_OK : refuse_value(ret_error, "--ets", text, expected);
}

static enum weft_status parse_own(struct weft_dcbx_end *own, struct weft_arena *arena, struct weft_error *ret_error) {
    static const struct weft_param row =
        WEFT_PRIORITY_SET(struct weft_dcbx_end, says.pfc.enabled, "--pfc", "none", "priorities with PFC");
    uint64_t capability = WEFT_PRIORITIES;
    char why[256];
    *own = (struct weft_dcbx_end){.mac = {2}, .says.has = WEFT_DCBX_PFC};
    enum weft_status status = weft_param_parse(&row, pfc_text, WEFT_NOWHERE, own, arena, ret_error);
    if (!status && mac_text) status = parse_mac(mac_text, own->mac, ret_error);
    if (!status && ets_text) {
        own->says.has |= WEFT_DCBX_ETS | WEFT_DCBX_ETS_RECOMMENDATION;
        own->says.ets = (struct weft_ets_configuration){.willing = willing, .classes = WEFT_PRIORITIES};
        status = parse_ets(ets_text, &own->says.ets.table, ret_error);
        own->says.recommendation.table = own->says.ets.table;
    }
    if (!status && app_text) {
        own->says.has |= WEFT_DCBX_APPS;
        if (weft_dcbx_apps_parse(app_text, &own->says.apps, why, sizeof why))
            status = WEFT_REFUSE(ret_error, WEFT_NOWHERE, "--apps: %s", why);
    }
    if (!status && capability_text && !weft_cli_number("--capability", capability_text, 0, 8, &capability))
        status = WEFT_ERROR_INPUT;
    unsigned on = (unsigned)__builtin_popcount(own->says.pfc.enabled);
    if (!status && on > capability)
        status = WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                             "--pfc: %s: %u priorit%s; expected at most %" PRIu64 ", the --capability", pfc_text, on,
                             on == 1 ? "y" : "ies", capability);
    own->says.pfc.willing = willing;
    own->says.pfc.capability = (uint8_t)capability;
    own->says.has |= WEFT_DCBX_CEE; // a sender that speaks only CEE is understood
    own->says.cee = weft_cee_of_pfc(&own->says.pfc);
    return status;
}

// --- the capture --------------------------------------------------------------------------------------------------

/// Whether it is LLDP, whatever its content: by EtherType, also behind a VLAN tag.
static bool is_lldp(const uint8_t *bytes, size_t size) {
    for (size_t at = 12; at + 2 <= size; at += 4) {
        unsigned type = (unsigned)bytes[at] << 8 | bytes[at + 1];
        if (type != WEFT_ETHERTYPE_VLAN) return type == WEFT_ETHERTYPE_LLDP;
    }
    return false;
}

static bool is_same(const struct weft_cli_dcbx_said *said, const struct weft_lldpdu *pdu,
                    const struct weft_dcbx_end *end) {
    return !memcmp(said->end.mac, end->mac, sizeof end->mac) && said->pdu.optional_bytes == pdu->optional_bytes &&
           !memcmp(said->pdu.optional, pdu->optional, pdu->optional_bytes) && said->pdu.ttl_s == pdu->ttl_s &&
           !memcmp(&said->pdu.chassis, &pdu->chassis, sizeof pdu->chassis) &&
           !memcmp(&said->pdu.port, &pdu->port, sizeof pdu->port);
}

/// Counts a repetition from the same sender, or adds an entry.
static void note_sender(struct weft_cli_dcbx *found, const struct weft_lldpdu *pdu, const struct weft_dcbx_end *end,
                        struct weft_arena *arena) {
    uint32_t hash = weft_fcs_calc(end->mac, sizeof end->mac) ^ weft_fcs_calc(pdu->optional, pdu->optional_bytes);
    struct weft_cli_dcbx_said **bucket = &found->bucket[hash % WEFT_CLI_DCBX_BUCKETS];
    for (struct weft_cli_dcbx_said *said = *bucket; said; said = said->alike)
        if (is_same(said, pdu, end)) {
            said->frames++;
            return;
        }
    struct weft_cli_dcbx_said *said = weft_arena_alloc(arena, 1, sizeof *said);
    *said =
        (struct weft_cli_dcbx_said){.end = *end, .pdu = *pdu, .frames = 1, .first = found->frames, .alike = *bucket};
    uint8_t *kept = weft_arena_alloc(arena, pdu->optional_bytes, 1);
    memcpy(kept, pdu->optional, pdu->optional_bytes);
    said->pdu.optional = kept;
    *bucket = said;
    if (found->last)
        found->last->next = said;
    else
        found->said = said;
    found->last = said;
}

static void take_frame(struct weft_cli_dcbx *found, const struct weft_capture_frame *frame, struct weft_arena *arena) {
    struct weft_lldpdu pdu;
    struct weft_dcbx_end end;
    found->frames++;
    if (!is_lldp(frame->data, frame->captured)) return;
    found->lldp++;
    enum weft_wire_status status = weft_dcbx_frame_decode(frame->data, frame->captured, &pdu, &end);
    if (!status) {
        note_sender(found, &pdu, &end, arena);
        return;
    }
    if (found->wrong++) return;
    found->wrong_first = found->frames;
    found->wrong_why = status == WEFT_WIRE_MALFORMED    ? "it is not a valid LLDPDU"
                       : frame->captured < frame->bytes ? "the capture has only the beginning of it"
                                                        : "it ends within a TLV";
}

/// Interfaces of other links than Ethernet are refused: LLDP is not seen on them.
static enum weft_status check_links(const struct weft_capture_reader *reader, struct weft_place place,
                                    struct weft_error *ret_error) {
    for (uint32_t i = 0; i < weft_capture_interfaces(reader); i++)
        if (weft_capture_interface_at(reader, i)->link != WEFT_PCAPNG_ETHERNET)
            return WEFT_REFUSE(ret_error, place, "frames are of link type %" PRIu32 ", expected Ethernet (1)",
                               weft_capture_interface_at(reader, i)->link);
    return WEFT_OK;
}

static enum weft_status read_frames(FILE *file, const char *path, struct weft_cli_dcbx *found, struct weft_arena *arena,
                                    struct weft_error *ret_error) {
    struct weft_place place = {.file = path};
    struct weft_capture_reader *reader;
    struct weft_capture_frame frame;
    bool any = true;
    enum weft_status status = weft_capture_open(file, path, arena, &reader, ret_error);
    while (!status && any) {
        status = weft_capture_next(reader, &frame, &any, ret_error);
        if (!status) status = check_links(reader, place, ret_error);
        if (!status && any) take_frame(found, &frame, arena);
    }
    if (!status && weft_capture_cut(reader))
        status = WEFT_REFUSE(ret_error, place,
                             "after %s the file ends within the record at byte %" PRIu64 "; expected a whole file",
                             weft__counted(found->frames, "frame").text, weft_capture_cut(reader));
    return status;
}

static enum weft_status read_capture(const char *path, struct weft_cli_dcbx *found, struct weft_arena *arena,
                                     struct weft_error *ret_error) {
    FILE *file = weft__file_open_unpacked(path);
    if (!file)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = path}, "cannot be read: %s", weft__file_why(errno));
    struct weft_memory_cleanup cleanup;
    weft_memory_cleanup_add(&cleanup, weft__file_close, file);
    enum weft_status status = read_frames(file, path, found, arena, ret_error);
    weft_memory_cleanup_remove(&cleanup);
    fclose(file);
    return status;
}

static void negotiate_with_all(struct weft_cli_dcbx *found, struct weft_arena *arena) {
    for (struct weft_cli_dcbx_said *s = found->said; s && found->own; s = s->next) {
        struct weft_dcbx_operation *o = weft_arena_alloc(arena, 1, sizeof *o);
        weft_dcbx_negotiate(found->own, s->pdu.ttl_s ? &s->end : NULL, o);
        s->negotiated = o;
    }
}

static enum weft_status answer_dcbx(const struct weft_cli_options *o, struct weft_error *ret_error) {
    struct weft_dcbx_end own;
    struct weft_cli_dcbx found = {.file = weft__text_shown(o->operand[0], o->arena), .own = pfc_text ? &own : NULL};
    enum weft_status status = WEFT_OK;
    if (pfc_text)
        status = parse_own(&own, o->arena, ret_error);
    else if (ets_text || app_text || mac_text || capability_text || willing)
        status =
            WEFT_REFUSE(ret_error, WEFT_NOWHERE, "the port's configuration needs --pfc, such as --pfc 3 or --pfc none");
    if (!status) status = read_capture(found.file, &found, o->arena, ret_error);
    if (status) return status;
    negotiate_with_all(&found, o->arena);
    return weft_cli_answer(o, &weft__answer_dcbx, &found, weft_cli_dcbx_print, ret_error);
}

int weft_cli_dcbx(int argc, char **argv) {
    return weft_cli_act(&command, argc, argv, answer_dcbx);
}
