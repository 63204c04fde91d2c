// SPDX-License-Identifier: Apache-2.0
// Tables of results, as shown by `weft models results`.
#ifndef WEFT_CLI_RESULTS_H
#define WEFT_CLI_RESULTS_H

#include "weft/result.h"

/// What --table accepts besides tables of rows: collectives as nccl-tests prints them, instead of the report.
#define WEFT_CLI_NCCL_TESTS "nccl-tests"
/// The table of that name, with dots or as named in SQLite.
enum weft_status weft_cli_table_find(const char *name, const struct weft_result_table **ret_table,
                                     struct weft_error *ret_error);
void weft_cli_tables_list(void);
void weft_cli_table_show(const struct weft_result_table *table);
/// As a heading and a table in Markdown.
void weft_cli_table_columns(const struct weft_result_table *table);
/// The same for a family of tables, for its page of docs/results/; false: there is no such family.
bool weft_cli_tables_markdown(const char *family);

#endif
