// SPDX-License-Identifier: Apache-2.0
// What removing causes gains, and the order that follows from it (weft/causes.h).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "weft/causes.h"

/// Two causes that hide one another must gain so much more together, of an iteration, to come first (assumed).
static const double hidden = 0.03;

void weft_removal_judge(struct weft_removal *r, const double *base, const double *time, uint32_t seeds,
                        struct weft_arena *arena) {
    double *gain = weft_arena_alloc(arena, seeds, sizeof *gain);
    for (uint32_t k = 0; k < seeds; k++)
        gain[k] = 1 - time[k] / base[k];
    struct weft_spread spread = weft_spread_of(gain, seeds, arena);
    r->time_ps = weft_spread_of(time, seeds, arena).mean;
    r->gain = spread.mean;
    r->half = spread.half;
    r->noise = isnan(spread.half) ? false : fabs(spread.mean) <= spread.half;
    r->ran = true;
}

static bool is_pair(const struct weft_removal *r) {
    return r->ran && r->cause[0] != WEFT_NONE && r->cause[1] != WEFT_NONE && !isnan(r->gain);
}

const struct weft_removal *weft_removal_best_pair(const struct weft_removal *r, uint32_t n) {
    const struct weft_removal *best = NULL;
    for (uint32_t i = 0; i < n; i++)
        if (is_pair(&r[i]) && (!best || r[i].gain > best->gain)) best = &r[i];
    return best;
}

static const struct weft_removal *find_removal(const struct weft_removal *r, uint32_t n, uint32_t a, uint32_t b) {
    for (uint32_t i = 0; i < n; i++)
        if ((r[i].cause[0] == a && r[i].cause[1] == b) || (r[i].cause[0] == b && r[i].cause[1] == a))
            return r[i].ran ? &r[i] : NULL;
    return NULL;
}

static double gain_of(const struct weft_removal *r) {
    return r && !isnan(r->gain) ? r->gain : -INFINITY;
}

static int by_gain(const void *a, const void *b) {
    const struct weft_cause_rank *x = a, *y = b;
    double p = gain_of(x->alone), q = gain_of(y->alone);
    return p != q ? (p < q) - (p > q) : (x->cause > y->cause) - (x->cause < y->cause);
}

/// By what removing it gains once the first is removed; what was not run then comes behind, as it gains alone.
static int by_after(const void *a, const void *b) {
    const struct weft_cause_rank *x = a, *y = b;
    if (isnan(x->after) != isnan(y->after)) return isnan(x->after) ? 1 : -1;
    if (isnan(x->after) || x->after == y->after) return by_gain(a, b);
    return x->after < y->after ? 1 : -1;
}

/// Leaves the best of each choice.
static uint32_t drop_choices(const struct weft_cause *cause, struct weft_cause_rank *rank, uint32_t n) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t choice = cause[rank[i].cause].choice;
        bool again = false;
        for (uint32_t k = 0; k < kept && choice; k++)
            again |= cause[rank[k].cause].choice == choice;
        if (!again) rank[kept++] = rank[i];
    }
    return kept;
}

static void swap_to(struct weft_cause_rank *rank, uint32_t n, uint32_t cause, uint32_t to) {
    for (uint32_t i = to; i < n; i++)
        if (rank[i].cause == cause) {
            struct weft_cause_rank moved = rank[i];
            memmove(&rank[to + 1], &rank[to], (i - to) * sizeof *rank);
            rank[to] = moved;
            return;
        }
}

struct weft_cause_rank *weft_causes_rank(const struct weft_cause *cause, uint32_t causes, const struct weft_removal *r,
                                         uint32_t removals, struct weft_arena *arena, uint32_t *ret_n) {
    struct weft_cause_rank *rank = weft_arena_alloc(arena, causes + (size_t)1, sizeof *rank);
    for (uint32_t c = 0; c < causes; c++)
        rank[c] = (struct weft_cause_rank){c, find_removal(r, removals, c, WEFT_NONE), NAN};
    qsort(rank, causes, sizeof *rank, by_gain);
    uint32_t n = *ret_n = drop_choices(cause, rank, causes);
    if (n < 2) return rank;
    const struct weft_removal *best = weft_removal_best_pair(r, removals);
    double with_first = gain_of(rank->alone);
    for (uint32_t i = 1; i < n; i++)
        with_first = fmax(with_first, gain_of(find_removal(r, removals, rank->cause, rank[i].cause)));
    if (best && best->gain > with_first + hidden) { // neither is the first
        bool swap = gain_of(find_removal(r, removals, best->cause[1], WEFT_NONE)) >
                    gain_of(find_removal(r, removals, best->cause[0], WEFT_NONE));
        swap_to(rank, n, best->cause[swap], 0);
        swap_to(rank, n, best->cause[!swap], 1);
    }
    for (uint32_t i = 1; i < n; i++) {
        const struct weft_removal *pair = find_removal(r, removals, rank->cause, rank[i].cause);
        if (pair && !isnan(pair->gain)) rank[i].after = pair->gain - fmax(0, gain_of(rank->alone));
    }
    qsort(&rank[1], n - 1, sizeof *rank, by_after);
    return rank;
}
