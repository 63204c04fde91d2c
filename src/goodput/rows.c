// SPDX-License-Identifier: Apache-2.0
// Goodput as rows.
#include "weft/goodput.h"
#include "weft/result.h"

#define TOP(field, kind, ...) WEFT_RESULT(struct weft_goodput_answer, field, kind, __VA_ARGS__)
#define DESIGN(field, kind, ...) WEFT_RESULT(struct weft_goodput, field, kind, __VA_ARGS__)
#define SETTING(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_goodput, conf.field, key, kind, __VA_ARGS__)
#define PART(field, kind, ...) WEFT_RESULT(struct weft_goodput_part, field, kind, __VA_ARGS__)

static const struct weft_result_table goodput_table =
    WEFT_RESULT_TABLE_OF("goodput", OBJECT, "an answer", WEFT_RESULT_SUBJECT, WEFT_RESULT_VERSION,
                         TOP(scenario, TEXT, "the scenario; null: none"),
                         TOP(hosts, COUNT, "hosts of the runs that measured slowdowns; null: nothing was measured"));
static const struct weft_result_table designs_table = WEFT_RESULT_TABLE_OF(
    "designs", LIST, "a job of a size on hosts with an attachment",
    WEFT_RESULT_EACH(struct weft_goodput_answer, design, designs),
    SETTING(gpus, "gpus", COUNT, "GPUs of the job", .flags = WEFT_RESULT_KEY, .title = "GPUs"),
    WEFT_RESULT_OF_NAMES(0, struct weft_goodput, conf.attachment, "attachment", weft_goodput_attachments,
                         "how hosts are attached", .flags = WEFT_RESULT_KEY, .title = "attachment"),
    DESIGN(goodput, REAL, "share of wall time that is work at full speed and need not be done again",
           .title = "goodput"),
    DESIGN(half, REAL, "half the 95% interval of the goodput that measured slowdowns give; 0: none is measured"),
    DESIGN(simulated, REAL, "mean goodput of simulated months", .title = "simulated"),
    DESIGN(simulated_half, REAL, "half the 95% interval of the mean of simulated months"),
    DESIGN(month_low, REAL, "goodput that 95% of simulated months exceed", .title = "bad month"),
    DESIGN(month_high, REAL, "goodput that 5% of simulated months exceed", .title = "good month"),
    DESIGN(mtbf_h, REAL, "mean time between crashes", .unit = "h", .title = "MTBF (h)"),
    DESIGN(interval_s, REAL, "work between two checkpoints", .unit = "s", .title = "interval (s)"),
    DESIGN(young_s, REAL, "interval by Young's formula", .unit = "s"),
    DESIGN(available_s, REAL, "interval by the formula for availability", .unit = "s"),
    DESIGN(write_s, REAL, "time that the job stands still at a checkpoint", .unit = "s"),
    DESIGN(lag_s, REAL, "time from the moment that a checkpoint holds until the store has it", .unit = "s"),
    DESIGN(recovery_s, REAL, "time from a crash until the job works again, with servers at hand", .unit = "s"),
    DESIGN(renewal, REAL, "share that crashes and checkpoints leave", .title = "crashes"),
    DESIGN(first_order, REAL,
           "share that crashes and checkpoints leave by the first-order formula; wrong where crashes are frequent"),
    DESIGN(staffed, REAL, "share of time in which there are servers enough", .title = "servers"),
    DESIGN(speed, REAL, "share that degraded parts leave", .title = "speed"),
    DESIGN(moving, REAL, "share that stalls leave", .title = "stalls"));
static const struct weft_result_table parts_table = WEFT_RESULT_TABLE_OF(
    "designs.parts", LIST, "a class of parts", WEFT_RESULT_EACH(struct weft_goodput, conf.part, conf.parts),
    WEFT_RESULT_ABOVE_AT(1, struct weft_goodput, conf.gpus, "gpus", COUNT, "GPUs of the job"),
    WEFT_RESULT_OF_NAMES(1, struct weft_goodput, conf.attachment, "attachment", weft_goodput_attachments,
                         "how hosts are attached", .flags = WEFT_RESULT_KEY | WEFT_RESULT_ABOVE),
    PART(name, TEXT, "name of the class", .flags = WEFT_RESULT_KEY, .title = "part"),
    WEFT_RESULT_OF_NAMES(0, struct weft_goodput_part, effect, "effect", weft_goodput_effects,
                         "crash: the job ends; degrade: the job is slower; stall: the job stands still",
                         .title = "effect"),
    PART(count, REAL, "parts of the job", .title = "parts"),
    PART(rate, REAL, "failures of one part an hour", .unit = "1/h", .title = "rate (1/h)"),
    PART(failures_month, REAL, "failures in 30 days", .title = "a month"),
    PART(slowdown, REAL, "iteration with the part down over iteration without", .title = "slowdown"),
    PART(slowdown_half, REAL, "half the 95% interval of the measured slowdown; null: not measured, or one seed"),
    PART(measured, BOOL, "whether runs of the scenario measured the slowdown", .title = "measured"),
    PART(cost, REAL, "goodput of a job in which these parts never fail, less the goodput", .title = "cost"));
const struct weft_answer weft__answer_goodput = WEFT_ANSWER_OF(
    "goodput", "weft goodput: what failures leave of a long job", &goodput_table, &designs_table, &parts_table);
