// SPDX-License-Identifier: Apache-2.0
// Goodput as rows.
#include "weft/goodput.h"

#include <math.h>
#include <stdio.h>

#include "weft/result.h"

#define TOP(field, kind, ...) WEFT_RESULT(struct weft_goodput_answer, field, kind, __VA_ARGS__)

static const struct weft_result_table goodput_table =
    WEFT_RESULT_TABLE_OF("goodput", OBJECT, "an answer", WEFT_RESULT_SUBJECT, WEFT_RESULT_VERSION,
                         TOP(scenario, TEXT, "the scenario; null: none"),
                         TOP(hosts, COUNT, "hosts of the runs that measured slowdowns; null: nothing was measured"));
static const struct weft_result_table designs_table =
    WEFT_RESULT_TABLE_OF("designs", LIST, "a job of a size on hosts with an attachment",
                         WEFT_RESULT_EACH(struct weft_goodput_answer, design, designs), WEFT_GOODPUT_COLUMNS);
static const struct weft_result_table parts_table = WEFT_RESULT_TABLE_OF(
    "designs.parts", LIST, "a class of parts", WEFT_RESULT_EACH(struct weft_goodput, conf.part, conf.parts),
    WEFT_RESULT_ABOVE_AT(1, struct weft_goodput, conf.gpus, "gpus", COUNT, "GPUs of the job"),
    WEFT_RESULT_OF_NAMES(1, struct weft_goodput, conf.attachment, "attachment", weft_goodput_attachments,
                         "how hosts are attached", .flags = WEFT_RESULT_KEY | WEFT_RESULT_ABOVE),
    WEFT_GOODPUT_PART_COLUMNS);

struct weft_goodput_text weft_goodput_slowdown_text(const struct weft_goodput_part *part) {
    struct weft_goodput_text t;
    size_t n = (size_t)snprintf(t.text, sizeof t.text, "%.4f", part->slowdown);
    if (part->measured && !isnan(part->slowdown_half))
        snprintf(t.text + n, sizeof t.text - n, "+-%.4f", part->slowdown_half);
    else
        snprintf(t.text + n, sizeof t.text - n, part->measured ? " (1 seed)" : "?");
    return t;
}

const struct weft_answer weft__answer_goodput = WEFT_ANSWER_OF(
    "goodput", "weft goodput: what failures leave of a long job", &goodput_table, &designs_table, &parts_table);
