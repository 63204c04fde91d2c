// SPDX-License-Identifier: Apache-2.0
// A run as JSON.
#include "base/json.h"
#include "weft/claim_rows.h"

void weft_report_json(FILE *file, const struct weft_run *run) {
    struct weft__json j = {.file = file};
    weft_answer_json(&j, weft_run_answer(), run);
    putc('\n', file);
}

void weft_report_json_compare(FILE *file, const struct weft_run *run, uint32_t runs, uint32_t not_run,
                              const struct weft_claim_result *claim, uint32_t claims) {
    struct weft__json j = {.file = file};
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    struct weft_compare_answer answer = weft_compare_answer(run, runs, not_run, claim, claims, arena);
    weft_answer_json(&j, &weft__answer_compare, &answer);
    putc('\n', file);
}
