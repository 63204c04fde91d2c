// SPDX-License-Identifier: Apache-2.0
// Runs as JSON: one object, or a list of variants with their claims.
#include "base/json.h"
#include "claims.h"
#include "weft/result.h"

void weft_report_json(FILE *file, const struct weft_run *run) {
    struct weft__json j = {.file = file};
    weft_answer_json(&j, weft_run_answer(), run);
    putc('\n', file);
}

void weft_report_json_compare(FILE *file, const struct weft_run *run, uint32_t runs, uint32_t not_run,
                              const struct weft_claim_result *claim, uint32_t claims) {
    struct weft__json j = {.file = file};
    weft__json_begin_object(&j);
    weft__json_key(&j, "variants");
    weft__json_begin_array(&j);
    for (uint32_t r = 0; r < runs; r++)
        weft_answer_json(&j, weft_run_answer(), &run[r]);
    weft__json_end_array(&j);
    weft__json_key_bool(&j, "interrupted", not_run || weft_report_interrupted(run, runs));
    if (claims) weft__json_claims(&j, claim, claims);
    weft__json_end_object(&j);
    putc('\n', file);
}
