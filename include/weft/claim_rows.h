// SPDX-License-Identifier: Apache-2.0
// Claims as rows of answers: what a claim says, and the lists that belong to it. A row of verify or of sources begins
// with a struct weft_claim_row and has more columns.
#pragma once

#include "weft/claim.h"
#include "weft/result.h"

struct weft_claim_row {
    struct weft_claim claim;
    uint32_t number;        ///< in its list, from 0
    const char *seeds;      ///< each, at_least or mean
    const char *in_band;    ///< NULL: the claim names no bands
    uint32_t at_least, of;  ///< WEFT_NONE: it is not judged so
    const char *why_so_few; ///< NULL: likewise
    const char *filled, *verdict;
    const double *value; ///< of each metric; NULL: it was not measured
    bool holds;
};
/// The row without a result.
struct weft_claim_row weft_claim_row(const struct weft_claim *claim, uint32_t number);

#define WEFT__CLAIM(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_claim_row, field, key, kind, __VA_ARGS__)
/// The number is in tables only: in the JSON it is the place in the list.
#define WEFT_CLAIM_COLUMNS                                                                                             \
    WEFT__CLAIM(number, "number", COUNT, "number of the claim in its list, from 0",                                    \
                .flags = WEFT_RESULT_KEY | WEFT_RESULT_TABLES),                                                        \
        WEFT__CLAIM(claim.text, "text", TEXT, "what is claimed, in words", .flags = WEFT_RESULT_KEY),                  \
        WEFT__CLAIM(claim.source, "source", TEXT, "source of the claim"),                                              \
        WEFT__CLAIM(claim.checks, "checks", TEXT, "statements of sources that the claim checks"),                      \
        WEFT__CLAIM(claim.case_name, "case", TEXT, "case of the claim; empty: the claim names variants in full"),      \
        WEFT__CLAIM(claim.that, "that", TEXT, "the expression that is judged"),                                        \
        WEFT__CLAIM(claim.expected, "expected", BOOL, "whether the claim is expected to hold"),                        \
        WEFT__CLAIM(claim.control, "control", BOOL, "whether the claim is a control, which must not hold"),            \
        WEFT__CLAIM(seeds, "seeds", TEXT, "how the claim is judged over seeds: each, at_least or mean"),               \
        WEFT__CLAIM(at_least, "at_least", COUNT, "seeds with which the claim must hold", .flags = WEFT_RESULT_SPARSE), \
        WEFT__CLAIM(of, "of", COUNT, "out of so many seeds", .flags = WEFT_RESULT_SPARSE),                             \
        WEFT__CLAIM(why_so_few, "seeds_reason", TEXT, "why it need not hold with each seed",                           \
                    .flags = WEFT_RESULT_SPARSE),                                                                      \
        WEFT__CLAIM(in_band, "in_band", TEXT, "outcome that bands of hardware must have: holds, turns, hidden, ideal", \
                    .flags = WEFT_RESULT_SPARSE),                                                                      \
        WEFT__CLAIM(claim.toothless, "toothless", TEXT, "why nothing can break it; empty: something can"),             \
        WEFT__CLAIM(claim.definition, "definition", TEXT,                                                              \
                    "setting or rule of the model that the claim repeats; or empty"),                                  \
        WEFT__CLAIM(claim.reason, "reason", TEXT, "why it is not expected to hold")
/// The tables `mean_seeds` and `without` below the table `path`; keys of rows further up follow.
#define WEFT_CLAIM_TABLES(symbol, path, ...)                                                                           \
    WEFT_RESULT_VALUES(symbol##_mean_seeds, path ".mean_seeds", "a seed over which the claim takes the mean",          \
                       WEFT_RESULT_EACH(struct weft_claim_row, claim.own_seed, claim.own_seeds), .sparse = true,       \
                       uint64_t, COUNT, __VA_ARGS__);                                                                  \
    WEFT_RESULT_VALUES(symbol##_without, path ".without", "a setting that must break the claim",                       \
                       WEFT_RESULT_EACH(struct weft_claim_row, claim.without, claim.withouts), .sparse = false,        \
                       const char *, TEXT, __VA_ARGS__)
/// Columns of those tables that name the claim.
#define WEFT_CLAIM_OF(n)                                                                                               \
    WEFT_RESULT_ABOVE_AT(n, struct weft_claim_row, number, "claim", COUNT, "number of the claim in its list, from 0")

/// Runs side by side, with the claims about them.
struct weft_compare_answer {
    const struct weft_run *run;
    uint32_t runs, claims;
    bool interrupted;
    struct weft_claim_row *claim;
};
extern const struct weft_answer weft__answer_compare;
/// `not_run`: variants that the user's interrupt kept from running. In `arena`.
struct weft_compare_answer weft_compare_answer(const struct weft_run *run, uint32_t runs, uint32_t not_run,
                                               const struct weft_claim_result *result, uint32_t claims,
                                               struct weft_arena *arena);
