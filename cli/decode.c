// SPDX-License-Identifier: Apache-2.0
// weft decode: what a capture, from weft or from a real network, shows about RoCE, pauses and DCBX.
#include "decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "results.h"
#include "terminal.h"

#include "base/param.h"
#include "base/tree.h"
#include "base/units.h"

static const char *interval_text, *rate_text, *follow_text, *csv_text, *conversations_text;
static bool all_rows, columns;

static const struct weft_cli_option options[] = {
    {"follow", "QP", "list the packets to this queue pair one by one, instead of tables", &follow_text, NULL},
    {"csv", "TABLE",
     "one table as CSV: capture, conversations, rates, uet, tunnels, pauses, dcbx, warnings; with --follow: packets",
     &csv_text, NULL},
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
    .accept = WEFT_CLI_JSON,
    .operands_min = 0,
    .operands_max = 1,
    .option = options,
};

struct decoding {
    struct weft_decode_conf conf;
    struct weft_arena *arena;
    bool json, csv, begun; ///< begun: the part before the first packet has been printed
    uint64_t packets;
    struct weft__json j;
    const struct weft_result_table *table; ///< NULL: all
};

static enum weft_status table_of(const char *name, bool follow, const struct weft_result_table **ret_table,
                                 struct weft_error *ret_error) {
    const char *names[16];
    char expected[512];
    unsigned n = 0;
    *ret_table = &weft_decode_packets;
    if (follow) names[n++] = weft_decode_packets.name;
    for (uint32_t i = 0; !follow && (*ret_table = weft_decode_table_at(i)); i++) {
        names[n++] = (*ret_table)->name;
        if (!strcmp(name, (*ret_table)->name)) return WEFT_OK;
    }
    if (follow && !strcmp(name, names[0])) return WEFT_OK;
    weft__names_expected(name, names, n, expected, sizeof expected);
    return weft_error_set(ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE, "--csv %s: no such table; %s", name, expected);
}

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
            return weft_error_set(ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE,
                                  "--follow %s: expected the number of a queue pair, such as 17 or 0x11", follow_text);
        d->conf.follow_qp = (uint32_t)qp;
    }
    if (csv_text) weft_cli_terminal_raw();
    if (!status && csv_text) status = table_of(csv_text, follow_text, &d->table, ret_error);
    if (!status && d->csv && d->json)
        status = weft_error_set(ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE, "--json and --csv: expected one of them");
    return status;
}

static void begin_packets(struct decoding *d) {
    if (d->begun) return;
    d->begun = true;
    if (d->csv) weft_cli_decode_csv_head(&weft_decode_packets);
    if (!d->json) return;
    weft__json_begin_object(&d->j);
    weft__json_key(&d->j, "packets");
    weft__json_begin_array(&d->j);
}

static void on_packet(void *context, const struct weft_decode_packet *packet) {
    struct decoding *d = context;
    struct weft_result_cursor row = {.table = &weft_decode_packets, .arena = d->arena, .part = {packet}};
    begin_packets(d);
    if (d->json)
        weft_cli_decode_json_row(&d->j, &row);
    else if (d->csv)
        weft_cli_decode_csv_row(&row);
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
    if (d->json && d->begun) {
        weft__json_end_array(&d->j);
        weft__json_end_object(&d->j);
        puts("");
    }
    for (uint32_t i = 0; !status && i < decode.warnings; i++)
        fprintf(stderr, "weft: %s: %s\n", weft__text_shown(path, d->arena), decode.warning[i]);
    if (!status && !d->packets && !d->json && !d->csv)
        printf("no packet to queue pair %u in %s\n", (unsigned)d->conf.follow_qp,
               weft__counted(decode.frames, "frame").text);
    return status;
}

static enum weft_status print_tables(struct decoding *d, const char *path, struct weft_error *ret_error) {
    struct weft_decode decode;
    enum weft_status status = weft_decode_file(path, &d->conf, d->arena, &decode, ret_error);
    if (status) return status;
    if (d->json) {
        weft_cli_decode_json(&decode, &d->j, d->arena);
        puts("");
    } else if (d->csv) {
        weft_cli_decode_csv(&decode, d->table, d->arena);
    } else {
        weft_cli_decode_print(&decode, all_rows ? 0 : 20, d->arena);
    }
    return WEFT_OK;
}

static void list_columns(void) {
    const struct weft_result_table *t;
    for (uint32_t i = 0; (t = weft_decode_table_at(i)); i++)
        weft_cli_table_columns(t);
    weft_cli_table_columns(&weft_decode_packets);
}

int weft_cli_decode(int argc, char **argv) {
    struct weft_cli_options o;
    struct weft_error error = {0};
    int exit_status = weft_cli_parse(&command, argc, argv, &o);
    if (exit_status == WEFT_CLI_GO) {
        struct decoding d = {.arena = o.arena, .json = o.json, .csv = csv_text, .j = {.file = stdout}};
        enum weft_status status = parse_options(&d, &error);
        if (!status && !columns && !o.operands)
            status = weft_error_set(&error, WEFT_ERROR_INPUT, WEFT_NOWHERE, "decode: expected a FILE");
        if (!status && columns)
            list_columns();
        else if (!status)
            status = follow_text ? follow_packets(&d, o.operand[0], &error) : print_tables(&d, o.operand[0], &error);
        if (error.status) weft_cli_fail(&error);
        exit_status = (int)status;
    }
    weft_cli_options_deinit(&o);
    return exit_status;
}
