// SPDX-License-Identifier: Apache-2.0
// weft decode: what a capture, from weft or from a real network, shows about RoCE, pauses and DCBX.
#include "decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "results.h"

#include "base/param.h"
#include "base/tree.h"
#include "base/units.h"
#include "weft/param.h"

static const char *interval_text, *rate_text, *follow_text, *conversations_text;
static bool all_rows, columns;

static const struct weft_cli_option options[] = {
    {"follow", "QP", "list the packets to this queue pair one by one, instead of tables", &follow_text, NULL},
    {"interval", "TIME", "length of the intervals of rates, and of before and after a CNP (default 100us)",
     &interval_text, NULL},
    {"rate", "RATE", "speed of links that the file does not name, for times paused (default 100Gbps, assumed)",
     &rate_text, NULL},
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
    if (!status && rate_text) status = weft_param_parse(&rate, rate_text, WEFT_NOWHERE, &d->conf, d->arena, ret_error);
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
        weft_cli_decode_packet(packet, !d->packets);
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
    weft_cli_decode_print(decode, all_rows ? 0 : 20);
}

static enum weft_status decode_all(struct decoding *d, const char *path, struct weft_error *ret_error) {
    struct weft_decode decode;
    enum weft_status status = weft_decode_file(path, &d->conf, d->arena, &decode, ret_error);
    return status ? status : weft_cli_answer(d->o, &weft__answer_decode, &decode, print_text, ret_error);
}

static enum weft_status answer_decode(const struct weft_cli_options *o, struct weft_error *ret_error) {
    struct decoding d = {.o = o, .arena = o->arena, .j = {.file = stdout}};
    enum weft_status status = parse_options(&d, ret_error);
    if (status) return status;
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
