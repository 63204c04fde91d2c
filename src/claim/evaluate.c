// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "claim/claim.h"

static bool truth_of(const struct weft_claim_node *n, const double *value);

/// A quotient with divisor 0 has no value, rather than an infinite one.
static double divisor_of(double b) {
    return fpclassify(b) == FP_ZERO ? (double)NAN : b;
}

/// An infinite result has no value, rather than one above all others.
static double finite_or_none(double v) {
    return isfinite(v) ? v : (double)NAN;
}

static double amount_of(const struct weft_claim_node *n, const double *value) {
    switch (n->op) {
    case WEFT__CLAIM_VALUE:
        return n->value;
    case WEFT__CLAIM_METRIC:
        return value[n->metric];
    case WEFT__CLAIM_ADD:
        return finite_or_none(amount_of(n->a, value) + amount_of(n->b, value));
    case WEFT__CLAIM_SUB:
        return finite_or_none(amount_of(n->a, value) - amount_of(n->b, value));
    case WEFT__CLAIM_MUL:
        return finite_or_none(amount_of(n->a, value) * amount_of(n->b, value));
    case WEFT__CLAIM_DIV:
        return finite_or_none(amount_of(n->a, value) / divisor_of(amount_of(n->b, value)));
    default:
        return truth_of(n, value); // not reached: a truth value is not an amount
    }
}

static bool is_near(const struct weft_claim_node *n, const double *value) {
    double a = amount_of(n->a, value), b = amount_of(n->b, value), c = amount_of(n->c, value);
    bool absolute = n->c->dimension == n->a->dimension && n->a->dimension != WEFT_CLAIM_NUMBER;
    return fabs(a - b) <= finite_or_none(absolute ? c : c * fabs(b));
}

static bool truth_of(const struct weft_claim_node *n, const double *value) {
    if (n->op == WEFT__CLAIM_AND) return truth_of(n->a, value) && truth_of(n->b, value);
    if (n->op == WEFT__CLAIM_OR) return truth_of(n->a, value) || truth_of(n->b, value);
    if (n->op == WEFT__CLAIM_NEAR) return is_near(n, value);
    double a = amount_of(n->a, value), b = amount_of(n->b, value);
    switch (n->op) {
    case WEFT__CLAIM_LT:
        return a < b;
    case WEFT__CLAIM_LE:
        return a <= b;
    case WEFT__CLAIM_GT:
        return a > b;
    case WEFT__CLAIM_GE:
        return a >= b;
    case WEFT__CLAIM_EQ:
        return a <= b && a >= b;
    default: // WEFT__CLAIM_NE
        return a < b || a > b;
    }
}

bool weft_claim_holds(const struct weft_claim *claim, const double *value) {
    return truth_of(claim->root, value);
}

static void format_amount(enum weft_claim_dimension dimension, double value, char *text, size_t size) {
    if (!isfinite(value))
        snprintf(text, size, "(no value)");
    else if (dimension == WEFT_CLAIM_TIME && value >= 0)
        weft_format_time((weft_time_ps)llround(value), text, size);
    else if (dimension == WEFT_CLAIM_BYTES && value >= 0)
        weft_format_bytes((weft_bytes)llround(value), text, size);
    else if (dimension == WEFT_CLAIM_RATE && value >= 0)
        weft_format_rate((weft_rate_bps)llround(value), text, size);
    else
        snprintf(text, size, "%.10g", value);
}

const char *weft_claim_filled(const struct weft_claim *claim, const double *value, struct weft_arena *arena) {
    enum { VALUE_MAX = 40 };
    size_t room = strlen(claim->that) + (size_t)claim->metrics * VALUE_MAX + 1;
    char *text = weft_arena_alloc(arena, room, 1), *s = text;
    uint32_t from = 0;
    for (uint32_t m = 0; m < claim->metrics; m++) {
        const struct weft_claim_metric *metric = &claim->metric[m];
        char shown[VALUE_MAX];
        format_amount(metric->dimension, value[m], shown, sizeof shown);
        memcpy(s, claim->that + from, metric->at - from);
        s = stpcpy(s + metric->at - from, shown);
        from = metric->at + metric->length;
    }
    strcpy(s, claim->that + from);
    return text;
}
