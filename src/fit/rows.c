// SPDX-License-Identifier: Apache-2.0
// A fit as rows.
#include "weft/fit.h"

#define FIT(field, kind, ...) WEFT_RESULT(struct weft_fit, field, kind, __VA_ARGS__)
#define ROW(field, kind, ...) WEFT_RESULT(struct weft_fit_row, field, kind, __VA_ARGS__)
#define CONSTANT(field, kind, ...) WEFT_RESULT(struct weft_fit_constant, field, kind, __VA_ARGS__)
#define CAUSE(field, kind, ...) WEFT_RESULT(struct weft_fit_cause, field, kind, __VA_ARGS__)
#define JUDGEMENT(field, kind, ...) WEFT_RESULT(struct weft_fit_judgement, field, kind, __VA_ARGS__)

static const struct weft_result_table fit_table = WEFT_RESULT_TABLE_OF(
    "fit", OBJECT, "a fit", WEFT_RESULT_SUBJECT, WEFT_RESULT_VERSION, FIT(tables, COUNT, "tables of measured times"),
    FIT(runs, COUNT, "runs of tables until the constants were found"));
static const struct weft_result_table constant_table = WEFT_RESULT_TABLE_OF(
    "constants", LIST, "a constant of the host", WEFT_RESULT_EACH(struct weft_fit, constant, constants),
    CONSTANT(key, TEXT, "parameter of the section server", .flags = WEFT_RESULT_KEY),
    CONSTANT(before, REAL, "value without the fit, which is also what is expected: us, of a rate Gbit/s"),
    CONSTANT(value, REAL, "value that was found: us, of a rate Gbit/s"),
    CONSTANT(
        deviation, REAL,
        "standard error of the value found, in the same unit; null: no time that is fitted depends on the constant"),
    CONSTANT(determined, BOOL,
             "whether the tables determine the constant: after them its standard error is less than "
             "half of what was expected"),
    CONSTANT(used, COUNT, "times that are fitted and depend on the constant"));
static const struct weft_result_table row_table = WEFT_RESULT_TABLE_OF(
    "sizes", LIST, "a size of a table", WEFT_RESULT_EACH(struct weft_fit, row, rows),
    ROW(file, TEXT, "the table's file", .flags = WEFT_RESULT_KEY),
    ROW(line, COUNT, "line in the file", .flags = WEFT_RESULT_KEY), ROW(collective, TEXT, "name of the collective"),
    ROW(ranks, COUNT, "ranks"), ROW(nodes, COUNT, "servers"), ROW(bytes, BYTES, "size as nccl-tests prints it"),
    ROW(algorithm, TEXT, "algorithm that NCCL chooses; null: not known"),
    ROW(protocol, TEXT, "protocol that NCCL chooses; null: not known"),
    ROW(measured_us, REAL, "measured time, out of place", .unit = "us"),
    ROW(in_place_us, REAL, "measured time in place; null: not in the table", .unit = "us"),
    ROW(predicted_us, REAL, "time by weft", .unit = "us"), ROW(error, REAL, "predicted over measured time, less 1"),
    WEFT_RESULT_OF_NAMES(0, struct weft_fit_row, use, "use", weft_fit_uses,
                         "fitted; held out; outlier: the size counts nowhere; or checked"),
    ROW(beyond, BOOL, "whether the size is larger than what is run: the time is on the line of the two largest"));
static const struct weft_result_table judgement_table = WEFT_RESULT_TABLE_OF(
    "errors", LIST, "the errors of one use of sizes", WEFT_RESULT_EACH(struct weft_fit, judgement, judgements),
    JUDGEMENT(what, TEXT, "fitted, held out or checked", .flags = WEFT_RESULT_KEY), JUDGEMENT(rows, COUNT, "sizes"),
    JUDGEMENT(median, REAL, "median of the amounts of errors"),
    JUDGEMENT(p90, REAL, "amount that 90% of errors do not exceed"), JUDGEMENT(worst, REAL, "largest amount"),
    JUDGEMENT(within_20, REAL, "share of errors of at most 20%"),
    JUDGEMENT(median_large, REAL, "median above 64 MiB; null: no such size"));
static const struct weft_result_table cause_table = WEFT_RESULT_TABLE_OF(
    "causes", LIST, "a constant that would explain the differences from a class, alone",
    WEFT_RESULT_EACH(struct weft_fit, cause, causes),
    CAUSE(key, TEXT, "parameter of the section server", .flags = WEFT_RESULT_KEY),
    CAUSE(before, REAL, "value of the class: us, of a rate Gbit/s"),
    CAUSE(value, REAL, "value with which the differences are smallest: us, of a rate Gbit/s"),
    CAUSE(explained, REAL, "share of the squares of differences, as logarithms, which this constant explains"),
    CAUSE(rows, COUNT, "sizes whose times it changes by 10% or more"),
    CAUSE(from_bytes, BYTES, "the smallest of these sizes"), CAUSE(to_bytes, BYTES, "the largest of these sizes"));
const struct weft_answer weft__answer_fit =
    WEFT_ANSWER_OF("fit", "weft fit: constants of a host from measured collectives, and predicted beside measured",
                   &fit_table, &constant_table, &row_table, &judgement_table, &cause_table);
