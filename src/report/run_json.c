// SPDX-License-Identifier: Apache-2.0
// A run as JSON.
#include "base/json.h"
#include "weft/result.h"

void weft_report_json(FILE *file, const struct weft_run *run) {
    struct weft__json j = {.file = file};
    weft_answer_json(&j, weft_run_answer(), run);
    putc('\n', file);
}
