// SPDX-License-Identifier: Apache-2.0
// The answer of weft advise as rows.
#include "weft/causes.h"
#include "weft/fit.h"
#include "weft/result.h"

#define ADVISE(field, kind, ...) WEFT_RESULT(struct weft_advise_answer, field, kind, __VA_ARGS__)
static const struct weft_result_table advise_table = WEFT_RESULT_TABLE_OF(
    "advise", OBJECT, "why a job is slow, and what mends it", WEFT_RESULT_SUBJECT, WEFT_RESULT_VERSION,
    ADVISE(scenario, TEXT, "name of the scenario"), ADVISE(variant, TEXT, "variant; empty: the scenario has none"),
    ADVISE(job, TEXT, "job that is slow"),
    ADVISE(log, TEXT, "file of the measurement that is the job", .flags = WEFT_RESULT_SPARSE),
    ADVISE(measured_ps, REAL, "time measured for the sizes of the log that are the job, together", .unit = "ps",
           .flags = WEFT_RESULT_SPARSE),
    ADVISE(log_verdict, TEXT, "whether the scenario takes as long as the log, and what may explain it if not",
           .flags = WEFT_RESULT_SPARSE),
    ADVISE(base_ps, REAL, "mean iteration of the job as it is", .unit = "ps"),
    ADVISE(base_half, REAL, "half of the 95% interval of the mean over seeds", .unit = "ps",
           .flags = WEFT_RESULT_SPARSE),
    ADVISE(alone_ps, REAL, "mean iteration without the other jobs", .unit = "ps", .flags = WEFT_RESULT_SPARSE),
    ADVISE(all_ps, REAL, "mean iteration with all suspected causes removed", .unit = "ps", .flags = WEFT_RESULT_SPARSE),
    ADVISE(seeds, COUNT, "seeds with which everything ran"), ADVISE(runs, COUNT, "runs, repeated seeds included"),
    ADVISE(cut, BOOL, "the budget ended before all pairs that were wanted had run"),
    ADVISE(verdict, TEXT, "the answer in a sentence"));

#define CAUSE(field, kind, ...) WEFT_RESULT(struct weft_cause_row, field, kind, __VA_ARGS__)
#define OF_CAUSE(field, key, help) WEFT_RESULT_NAMED(struct weft_cause_row, cause.field, key, TEXT, help)
static const struct weft_result_table cause_table = WEFT_RESULT_TABLE_OF(
    "causes", LIST, "a suspected cause, the likeliest first", WEFT_RESULT_EACH(struct weft_advise_answer, row, rows),
    CAUSE(rank, COUNT, "place of the cause in the order, from 1", .flags = WEFT_RESULT_KEY),
    OF_CAUSE(name, "cause", "suspected cause"), OF_CAUSE(detail, "detail", "where the scenario has it"),
    CAUSE(gain, REAL, "share of the iteration that removing it alone saves"),
    CAUSE(half, REAL, "half of the 95% interval of the gain over seeds", .flags = WEFT_RESULT_SPARSE),
    CAUSE(noise, BOOL, "the interval leaves in 0"),
    CAUSE(after, REAL, "share of the iteration that removing it saves in addition, once the first cause is removed",
          .flags = WEFT_RESULT_SPARSE),
    CAUSE(time_ps, REAL, "mean iteration with this cause removed", .unit = "ps"),
    OF_CAUSE(at_switch, "at_switch", "setting of switches that removes it; empty: none"),
    OF_CAUSE(at_nic, "at_nic", "setting of NICs and hosts that removes it; empty: none"),
    OF_CAUSE(in_nccl, "in_nccl", "environment of the collective library that removes it; empty: none"),
    OF_CAUSE(patch, "patch", "what was laid over the scenario to remove it, as YAML"));

#define PAIR(field, kind, ...) WEFT_RESULT(struct weft_cause_pair, field, kind, __VA_ARGS__)
static const struct weft_result_table pair_table = WEFT_RESULT_TABLE_OF(
    "pairs", LIST, "two causes removed together", WEFT_RESULT_EACH(struct weft_advise_answer, pair, pairs),
    WEFT_RESULT_NUMBER("number", "number in this answer"), PAIR(first, TEXT, "a cause"),
    PAIR(second, TEXT, "the other cause"), PAIR(gain, REAL, "share of the iteration that removing both saves"),
    PAIR(half, REAL, "half of the 95% interval of that share over seeds", .flags = WEFT_RESULT_SPARSE),
    PAIR(time_ps, REAL, "mean iteration with both causes removed", .unit = "ps"));

#define SIZE(field, kind, ...) WEFT_RESULT(struct weft_fit_row, field, kind, __VA_ARGS__)
static const struct weft_result_table size_table = WEFT_RESULT_TABLE_OF(
    "sizes", LIST, "a size of the log", WEFT_RESULT_EACH(struct weft_advise_answer, size, sizes),
    SIZE(line, COUNT, "line in the log", .flags = WEFT_RESULT_KEY), SIZE(bytes, BYTES, "size as nccl-tests prints it"),
    SIZE(measured_us, REAL, "measured time, out of place", .unit = "us"),
    SIZE(predicted_us, REAL, "time with the scenario as it is, without jitter", .unit = "us"),
    SIZE(beyond, BOOL, "whether the size is larger than those of the job"));

const struct weft_answer weft__answer_advise =
    WEFT_ANSWER_OF("advise", "weft advise: suspected causes of a slow job, by what removing each gains", &advise_table,
                   &cause_table, &pair_table, &size_table);
