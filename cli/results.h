// SPDX-License-Identifier: Apache-2.0
// Tables of results, as shown by `weft models results`.
#pragma once

#include <stdio.h>

#include "cli.h"
#include "weft/result.h"

/// What --table accepts besides tables of rows: collectives as nccl-tests prints them, instead of the report.
#define WEFT_CLI_NCCL_TESTS "nccl-tests"
/// The table of an answer of that name, with dots or as named in SQLite.
enum weft_status weft_cli_table_find(const struct weft_answer *answer, const char *name,
                                     const struct weft_result_table **ret_table, struct weft_error *ret_error);
/// An answer of cli/answers.def; NULL: there is none.
const struct weft_answer *weft_cli_answer_find(const char *name);
void weft_cli_tables_list(void);
void weft_cli_answer_show(const struct weft_answer *answer);
void weft_cli_table_show(const struct weft_result_table *table);
/// As headings and tables in Markdown, of a family of tables of runs or of an answer, for its page of docs/results/;
/// false: there is none of that name.
bool weft_cli_tables_markdown(const char *family);

/// The JSON schema of a scenario file, draft 2020-12, made from the tables of parameters.
void weft_cli_schema(FILE *file);
/// The parameters of a key that its table leaves to the model to read (weft_param_table.lists), if it is a section;
/// NULL: it is a list.
const struct weft_param_table *weft_cli_list_table(const char *key);

// What weft models shows of hardware.
/// All classes, or the one called `name` (NULL: all).
enum weft_status weft_cli_models_hardware(const struct weft_cli_options *o, const char *name,
                                          struct weft_error *ret_error);
