// SPDX-License-Identifier: Apache-2.0
// What weft decode found in a capture, and how it is shown.
#ifndef WEFT_CLI_DECODE_H
#define WEFT_CLI_DECODE_H

#include "base/json.h"
#include "weft/decode.h"
#include "weft/result.h"

/// As text: at most `rows` conversations, those with the most payload; 0: all.
void weft_cli_decode_print(const struct weft_decode *decode, uint32_t rows, struct weft_arena *arena);
/// One object, with a member per table.
void weft_cli_decode_json(const struct weft_decode *decode, struct weft__json *j, struct weft_arena *arena);
/// One table: a line of names, then a line per row.
void weft_cli_decode_csv(const struct weft_decode *decode, const struct weft_result_table *table,
                         struct weft_arena *arena);
/// The current row of a table, and the line of names before the first.
void weft_cli_decode_csv_head(const struct weft_result_table *table);
void weft_cli_decode_csv_row(struct weft_result_cursor *row);
void weft_cli_decode_json_row(struct weft__json *j, struct weft_result_cursor *row);
/// A packet of --follow, with a line of names before the first.
void weft_cli_decode_packet(const struct weft_decode_packet *packet, bool first);

#endif
