// SPDX-License-Identifier: Apache-2.0
#include "sweep/axes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/units.h"

/// A number as the user wrote it.
struct number {
    const char *text;
    bool real;                    ///< a fraction without a unit; else a quantity
    enum weft__quantity quantity; ///< COUNT: a whole number without a unit
    uint64_t whole;
    double value; ///< of either
};

struct weft_sweep_range {
    struct number first, last;
    bool log;
};

static bool parse_number(const char *text, struct number *ret) {
    char why[256];
    *ret = (struct number){.text = text, .quantity = WEFT__COUNT};
    bool digits = *text && !text[strspn(text, "0123456789")];
    if (digits && !weft__quantity_parse(WEFT__COUNT, text, &ret->whole, why, sizeof why)) return false;
    if (!digits && weft__real_parse(text, &ret->value)) return ret->real = true;
    for (enum weft__quantity q = WEFT__TIME; !digits && q <= WEFT__LENGTH; q++)
        if (q != WEFT__COUNT && weft__quantity_parse(q, text, &ret->whole, why, sizeof why)) {
            ret->quantity = q;
            digits = true;
        }
    ret->value = (double)ret->whole;
    return digits;
}

/// "A..B"; whole numbers become fractions if the other end is one.
static bool parse_ends(const char *text, const char *dots, const char *end, struct weft_arena *arena,
                       struct weft_sweep_range *range, char *why, size_t size) {
    const char *first = weft_arena_format(arena, "%.*s", (int)(dots - text), text);
    const char *last = weft_arena_format(arena, "%.*s", (int)(end - dots) - 2, dots + 2);
    const char *wrong = parse_number(first, &range->first) ? NULL : first;
    if (!wrong && !parse_number(last, &range->last)) wrong = last;
    if (wrong) {
        snprintf(why, size,
                 "\"%.80s\" is not a number or quantity; expected a range such as 100KB..400KB:4; in a list, "
                 "[\"%.80s\"], it is a text",
                 wrong, text);
        return false;
    }
    struct number *a = &range->first, *b = &range->last;
    bool plain = (a->real || a->quantity == WEFT__COUNT) && (b->real || b->quantity == WEFT__COUNT);
    if (plain && (a->real || b->real)) a->real = b->real = true;
    if (a->real == b->real && a->quantity == b->quantity) return true;
    snprintf(why, size, "%.80s and %.80s are not of one kind; expected the same kind of unit at both ends", first,
             last);
    return false;
}

/// ":4", ":4log", ":log" or nothing; *ret_n is 0 without a number.
static bool parse_steps(const char *text, uint32_t *ret_n, bool *ret_log, char *why, size_t size) {
    *ret_n = 0;
    *ret_log = false;
    if (!*text) return true;
    char *end = (char *)text + 1;
    unsigned long n = end[0] >= '0' && end[0] <= '9' ? strtoul(end, &end, 10) : 0;
    *ret_log = !strcmp(end, "log");
    bool counted = end > text + 1;
    if ((*end && !*ret_log) || (!counted && !*ret_log) || (counted && (n < 2 || n > WEFT_SWEEP_VALUES_MAX))) {
        snprintf(why, size, "\"%.80s\": expected how many values, 2 to %d, as in 1us..1ms:4 or 1us..1ms:4log", text,
                 WEFT_SWEEP_VALUES_MAX);
        return false;
    }
    *ret_n = (uint32_t)n;
    return true;
}

static bool is_whole(const struct weft_sweep_range *r) {
    return !r->first.real && r->first.quantity == WEFT__COUNT;
}

static uint64_t range_distance(const struct weft_sweep_range *r) {
    uint64_t a = r->first.whole, b = r->last.whole;
    return a < b ? b - a : a - b;
}

bool weft__range_parse(const char *text, struct weft_arena *arena, enum weft__range_kind *ret_kind,
                       struct weft_sweep_range **ret_range, uint32_t *ret_n, char *why, size_t size) {
    const char *dots = strstr(text, ".."), *colon = strrchr(text, ':'), *start = text + strspn(text, "+-.");
    *ret_kind = WEFT__RANGE_NONE;
    if (!dots || *start < '0' || *start > '9') return true;
    const char *end = colon && colon > dots ? colon : text + strlen(text);
    struct weft_sweep_range *r = weft_arena_alloc(arena, 1, sizeof *r);
    if (!parse_ends(text, dots, end, arena, r, why, size) || !parse_steps(end, ret_n, &r->log, why, size)) return false;
    if (r->log && !(r->first.value > 0 && r->last.value > 0)) {
        snprintf(why, size, "%.80s: an end that is not above 0 has no logarithm", text);
        return false;
    }
    bool all = is_whole(r) && !*ret_n && !r->log;
    if (all && range_distance(r) >= WEFT_SWEEP_VALUES_MAX) {
        snprintf(why, size, "%.80s: more than %d values", text, WEFT_SWEEP_VALUES_MAX);
        return false;
    }
    if (all) *ret_n = (uint32_t)range_distance(r) + 1;
    *ret_kind = *ret_n ? WEFT__RANGE_VALUES : WEFT__RANGE_ANY;
    *ret_range = r;
    return true;
}

// --- values between the ends --------------------------------------------------------------------------------------

static const char *unit_of(const char *text) {
    return text + strspn(text, "0123456789. ");
}

/// In the unit of the ends if both have the same and it gives the value exactly; else in the best fitting one.
static const char *quantity_text(const struct weft_sweep_range *r, uint64_t value, struct weft_arena *arena) {
    char text[64], why[256];
    const char *unit = unit_of(r->first.text);
    enum weft__quantity quantity = r->first.quantity;
    uint64_t factor = 1, back;
    if (quantity == WEFT__COUNT) return weft_arena_format(arena, "%" PRIu64, value);
    weft__quantity_parse(quantity, weft_arena_format(arena, "1%s", unit), &factor, why, sizeof why);
    int n = snprintf(text, sizeof text, "%" PRIu64 ".%012.0f", value / factor,
                     (double)(value % factor) / (double)factor * 1e12);
    while (text[n - 1] == '0')
        text[--n] = 0;
    if (text[n - 1] == '.') text[--n] = 0;
    snprintf(text + n, sizeof text - (size_t)n, "%s", unit);
    bool exact = weft__quantity_parse(quantity, text, &back, why, sizeof why) && back == value;
    if (!exact || strcmp(unit, unit_of(r->last.text))) weft__quantity_format(quantity, value, text, sizeof text);
    return weft_arena_text(arena, text);
}

/// With 12 digits, so that the last bits of logarithms, in which machines may differ, do not show.
static const char *real_text(const struct weft_sweep_range *r, double value, struct weft_arena *arena) {
    bool percent = strchr(r->first.text, '%') && strchr(r->last.text, '%');
    return weft_arena_format(arena, "%.12g%s", percent ? 100 * value : value, percent ? "%" : "");
}

const char *weft__range_at(const struct weft_sweep_range *r, double at, struct weft_arena *arena) {
    double a = r->first.value, b = r->last.value;
    if (at <= 0) return r->first.text;
    if (at >= 1) return r->last.text;
    double value = r->log ? exp(log(a) + at * (log(b) - log(a))) : a + at * (b - a);
    return r->first.real ? real_text(r, value, arena) : quantity_text(r, (uint64_t)llround(value), arena);
}

// --- lists of whole numbers ---------------------------------------------------------------------------------------

/// The numbers of an item: one, or those of a range.
static bool add_item(const char *item, uint32_t max, struct weft_arena *arena, uint64_t *number, uint32_t *numbers,
                     char *why, size_t size) {
    enum weft__range_kind kind;
    struct weft_sweep_range *range;
    uint32_t n = 1, before = *numbers;
    if (!weft__range_parse(item, arena, &kind, &range, &n, why, size)) return false;
    if (kind == WEFT__RANGE_ANY || (kind == WEFT__RANGE_VALUES && !is_whole(range))) {
        snprintf(why, size, "'%.80s': expected whole numbers, as in 64..1024:5log", item);
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        const char *one = kind == WEFT__RANGE_NONE ? item : weft__range_at(range, n > 1 ? i / (n - 1.0) : 0, arena);
        if (!weft__quantity_parse(WEFT__COUNT, one, &number[*numbers], why, size)) return false;
        // neighbours of a close range round to the same number
        if (*numbers > before && number[*numbers] == number[*numbers - 1]) continue;
        if (*numbers == max) {
            snprintf(why, size, "'%.80s': expected at most %u numbers", item, max);
            return false;
        }
        ++*numbers;
    }
    return true;
}

bool weft_numbers_parse(const char *text, uint32_t max, struct weft_arena *arena, uint64_t **ret_number,
                        uint32_t *ret_numbers, char *why, size_t size) {
    uint64_t *number = weft_arena_alloc(arena, max + 1, sizeof *number);
    *ret_number = number;
    *ret_numbers = 0;
    for (const char *at = text;; at++) {
        size_t n = strcspn(at, ",");
        const char *item = weft_arena_format(arena, "%.*s", (int)n, at);
        if (!add_item(item, max, arena, number, ret_numbers, why, size)) return false;
        at += n;
        if (!*at) break;
    }
    qsort(number, *ret_numbers, sizeof *number, weft__by_u64);
    for (uint32_t i = 1; i < *ret_numbers; i++)
        if (number[i] == number[i - 1]) {
            snprintf(why, size, "%" PRIu64 " comes twice; expected each number once", number[i]);
            return false;
        }
    return true;
}
