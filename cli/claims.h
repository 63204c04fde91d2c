// SPDX-License-Identifier: Apache-2.0
// Compares claims of a scenario with what its variants measured. Metrics are figures among the rows of a run, so claims
// can be about everything that is reported.
#pragma once

#include "simulation.h"

struct weft_cli_claims {
    struct weft_claim *claim;
    uint32_t n;
    struct weft_claim_result *result; ///< values are NAN until taken
};

/// Reads them; it is no error if there are none. Everything in `arena`.
enum weft_status weft_cli_claims_init(struct weft_cli_claims *c, const struct weft_scenario_file *file,
                                      struct weft_arena *arena, struct weft_error *ret_error);
/// Called before variant `v` runs: does it measure every metric that claims name for it? A variant measures the same
/// names whatever happens.
enum weft_status weft_cli_claims_check(const struct weft_cli_claims *c, uint32_t v, const struct weft_cli_simulation *s,
                                       struct weft_error *ret_error);
/// Takes the values that variant `v` measured.
void weft_cli_claims_take(struct weft_cli_claims *c, uint32_t v, const struct weft_run *run);
/// Copies the claims; the copy has its own values, NAN at first.
void weft_cli_claims_copy(struct weft_cli_claims *ret, const struct weft_cli_claims *c, struct weft_arena *arena);
/// Called when all values were taken. CLAIM if one claim is unexpected. Claims about other commands' output are omitted
/// from `result`.
enum weft_status weft_cli_claims_judge(struct weft_cli_claims *c, uint32_t *ret_left_out);
