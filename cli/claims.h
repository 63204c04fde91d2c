// SPDX-License-Identifier: Apache-2.0
// Claims of a scenario against what its variants measured. Metrics are looked up in the JSON of a run, so that whatever
// is reported can be claimed about.
#ifndef WEFT_CLI_CLAIMS_H
#define WEFT_CLI_CLAIMS_H

#include <jansson.h>

#include "simulation.h"

struct weft_cli_claims {
    struct weft_claim *claim;
    uint32_t n;
    struct weft_claim_result *result; ///< values are NAN until taken
};

/// Reads them; none is no error. Everything in `arena`.
enum weft_status weft_cli_claims_init(struct weft_cli_claims *c, const struct weft_scenario_file *file,
                                      struct weft_arena *arena, struct weft_error *ret_error);
/// Is there a claim about variant `v`?
bool weft_cli_claims_name(const struct weft_cli_claims *c, uint32_t v);
/// Before it runs: does variant `v` measure every metric that claims name of it? It measures it under the same names
/// whatever happens.
enum weft_status weft_cli_claims_check(const struct weft_cli_claims *c, uint32_t v, const struct weft_cli_simulation *s,
                                       struct weft_error *ret_error);
/// The values that variant `v` measured.
void weft_cli_claims_take(struct weft_cli_claims *c, uint32_t v, const struct weft_run *run);
/// Copies the claims; the copy has its own values, NAN at first.
void weft_cli_claims_copy(struct weft_cli_claims *ret, const struct weft_cli_claims *c, struct weft_arena *arena);
/// A metric in the JSON of a run, or of the command that it names: {"variants": [one]} is that one. An entry of a list
/// is called by its number, or by a text that it has: strategies.min_cut; `count` is how many there are. False: there
/// is no number of that name, and *ret is NAN.
bool weft_cli_claims_json_number(const json_t *root, const struct weft_claim_metric *metric, double *ret);
/// After all were taken. CLAIM if one is unexpected. Those about what other commands say are left out of `result`.
enum weft_status weft_cli_claims_judge(struct weft_cli_claims *c, uint32_t *ret_left_out);

#endif
