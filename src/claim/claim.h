// SPDX-License-Identifier: Apache-2.0
// An expression of a claim, as a tree.
#pragma once

#include "weft/claim.h"

enum weft__claim_op {
    WEFT__CLAIM_VALUE,
    WEFT__CLAIM_METRIC,
    WEFT__CLAIM_ADD,
    WEFT__CLAIM_SUB,
    WEFT__CLAIM_MUL,
    WEFT__CLAIM_DIV,
    WEFT__CLAIM_LT,
    WEFT__CLAIM_LE,
    WEFT__CLAIM_GT,
    WEFT__CLAIM_GE,
    WEFT__CLAIM_EQ,
    WEFT__CLAIM_NE,
    WEFT__CLAIM_NEAR, ///< a ~ b within c
    WEFT__CLAIM_AND,
    WEFT__CLAIM_OR,
};

struct weft_claim_node {
    enum weft__claim_op op;
    enum weft_claim_dimension dimension;
    double value;
    uint32_t metric;
    const struct weft_claim_node *a, *b, *c;
};

struct weft__claim_word {
    enum weft__claim_word_kind {
        WEFT__WORD_END,
        WEFT__WORD_OPEN,
        WEFT__WORD_CLOSE,
        WEFT__WORD_OPERATOR, ///< comparison or arithmetic, in `op`
        WEFT__WORD_NEAR,
        WEFT__WORD_AND,
        WEFT__WORD_OR,
        WEFT__WORD_WITHIN,
        WEFT__WORD_OPERAND,
    } kind;
    enum weft__claim_op op;
    uint32_t at, length;
};
/// The word at or after offset `at`.
struct weft__claim_word weft__claim_word(const char *text, uint32_t at);

/// Fills root and metrics of a claim whose other members are set; errors begin with `path` and refer to its place.
/// claim->case_name is the case of variants named without one; *ret_per_case: there were such.
enum weft_status weft__claim_parse(struct weft_claim *claim, const struct weft_scenario_file *file, const char *path,
                                   struct weft_arena *arena, bool *ret_per_case, struct weft_error *ret_error);
