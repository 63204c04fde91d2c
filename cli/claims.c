// SPDX-License-Identifier: Apache-2.0
#include "claims.h"

#include <math.h>
#include <stdio.h>

#include "weft/result.h"

void weft_cli_claims_copy(struct weft_cli_claims *ret, const struct weft_cli_claims *c, struct weft_arena *arena) {
    *ret = *c;
    ret->result = weft_arena_alloc(arena, c->n, sizeof *ret->result);
    for (uint32_t i = 0; i < c->n; i++) {
        ret->result[i].claim = &c->claim[i];
        ret->result[i].value = weft_arena_alloc(arena, c->claim[i].metrics, sizeof(double));
        for (uint32_t m = 0; m < c->claim[i].metrics; m++)
            ret->result[i].value[m] = NAN;
    }
}

enum weft_status weft_cli_claims_init(struct weft_cli_claims *c, const struct weft_scenario_file *file,
                                      struct weft_arena *arena, struct weft_error *ret_error) {
    enum weft_status status = weft_claims_new(file, arena, &c->claim, &c->n, ret_error);
    weft_cli_claims_copy(c, c, arena);
    return status;
}

/// Whether runs are enough to judge the claim.
static bool is_of_runs(const struct weft_claim *claim) {
    for (uint32_t m = 0; m < claim->metrics; m++)
        if (claim->metric[m].from != WEFT_CLAIM_FROM_RUN) return false;
    return true;
}

/// Whether there is a claim about variant `v`.
static bool claims_name(const struct weft_cli_claims *c, uint32_t v) {
    for (uint32_t i = 0; i < c->n; i++)
        for (uint32_t m = 0; m < c->claim[i].metrics; m++)
            if (c->claim[i].metric[m].variant == v) return true;
    return false;
}

void weft_cli_claims_take(struct weft_cli_claims *c, uint32_t v, const struct weft_run *run) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    struct weft_result_finder finder = weft_result_finder(run, arena);
    for (uint32_t i = 0; i < c->n; i++)
        for (uint32_t m = 0; m < c->claim[i].metrics; m++) {
            const struct weft_claim_metric *metric = &c->claim[i].metric[m];
            if (metric->variant != v || metric->from != WEFT_CLAIM_FROM_RUN) continue;
            struct weft_result_found found = weft_result_find(&finder, metric->part, metric->parts);
            c->result[i].value[m] = weft_result_number(&found.value);
        }
}

static enum weft_status fail_metric(const struct weft_claim *claim, const struct weft_claim_metric *m,
                                    const struct weft_result_found *found, const struct weft_run *run,
                                    struct weft_error *ret_error) {
    const char *variant = run->scenario->variant;
    char expected[700];
    if (found->names)
        weft_result_expected(run, m->part, m->parts, expected, sizeof expected);
    else if (found->entries)
        snprintf(expected, sizeof expected, "expected 0 to %u", found->entries - 1);
    else
        snprintf(expected, sizeof expected, "%s", found->parts >= m->parts ? "it is not a number" : "it has no parts");
    return WEFT_REFUSE(ret_error, claim->place, "%.*s: %s%s has no metric of that name; %s", (int)m->length,
                       claim->that + m->at, *variant ? "variant " : "the scenario", variant, expected);
}

static bool is_number(const struct weft_result_column *column) {
    return column && column->type != WEFT_RESULT_TEXT && column->type != WEFT_RESULT_BOOL &&
           column->type != WEFT_RESULT_PRIORITIES;
}

enum weft_status weft_cli_claims_check(const struct weft_cli_claims *c, uint32_t v, const struct weft_cli_simulation *s,
                                       struct weft_error *ret_error) {
    if (!claims_name(c, v)) return WEFT_OK;
    struct weft_outcome *nothing = weft_outcome_new(s->topology, s->workload);
    struct weft_run run = {
        .scenario = s->scenario, .topology = s->topology, .workload = s->workload, .outcome = nothing};
    struct weft_result_finder finder = weft_result_finder(&run, nothing->arena);
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < c->n && !status; i++)
        for (uint32_t m = 0; m < c->claim[i].metrics && !status; m++) {
            const struct weft_claim_metric *metric = &c->claim[i].metric[m];
            if (metric->variant != v || metric->from != WEFT_CLAIM_FROM_RUN) continue;
            struct weft_result_found found = weft_result_find(&finder, metric->part, metric->parts);
            if (!is_number(found.column)) status = fail_metric(&c->claim[i], metric, &found, &run, ret_error);
        }
    weft_outcome_free(nothing);
    return status;
}

enum weft_status weft_cli_claims_judge(struct weft_cli_claims *c, uint32_t *ret_left_out) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        if (!is_of_runs(c->result[i].claim)) continue;
        c->result[n] = c->result[i];
        c->result[n].holds = weft_claim_holds(c->result[n].claim, c->result[n].value);
        n++;
    }
    *ret_left_out = c->n - n;
    c->n = n;
    return weft_report_claim_counts(c->result, n).unexpected ? WEFT_ERROR_CLAIM : WEFT_OK;
}
