// SPDX-License-Identifier: Apache-2.0
// The order of suspected causes by what removing them gains: made-up times, whose order is plain.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "weft/causes.h"

enum { A, B, C, D, CAUSES, NONE = WEFT_NONE };
static const struct weft_cause cause[CAUSES] = {{.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"}};

static struct weft_removal gain_of(uint32_t x, uint32_t y, double gain) {
    return (struct weft_removal){.cause = {x, y}, .gain = gain, .ran = true};
}

static void assert_order(const struct weft_cause *list, const struct weft_removal *r, uint32_t n,
                         const char *expected) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    uint32_t ranks;
    char order[16] = "";
    const struct weft_cause_rank *rank = weft_causes_rank(list, CAUSES, r, n, arena, &ranks);
    for (uint32_t i = 0; i < ranks; i++)
        strcat(order, list[rank[i].cause].name);
    assert_string_equal(order, expected);
    weft_arena_free(arena);
}

/// b repeats what a mends; c is a cause of its own, and gains less alone.
static void repeats_come_behind(void **state) {
    const struct weft_removal r[] = {gain_of(A, NONE, 0.5), gain_of(B, NONE, 0.4), gain_of(C, NONE, 0.1),
                                     gain_of(D, NONE, 0),   gain_of(A, B, 0.5),    gain_of(A, C, 0.62),
                                     gain_of(A, D, 0.5)};
    assert_order(cause, r, 4, "abcd"); // without pairs: as they gain alone
    assert_order(cause, r, 7, "acbd");
}

/// b and c gain nothing alone, and more together than a does with anything.
static void hidden_pairs_come_first(void **state) {
    struct weft_removal r[] = {gain_of(A, NONE, 0.2), gain_of(B, NONE, 0.01), gain_of(C, NONE, 0.02),
                               gain_of(D, NONE, 0),   gain_of(A, B, 0.21),    gain_of(A, C, 0.22),
                               gain_of(A, D, 0.2),    gain_of(B, C, 0.6)};
    assert_order(cause, r, 8, "cbad");
    r[7].gain = 0.23; // not clearly more
    assert_order(cause, r, 8, "acbd");
}

/// A run that failed has no gain and comes last; of values of one setting only the best has a place.
static void failures_and_choices(void **state) {
    struct weft_cause choice[CAUSES];
    struct weft_removal r[] = {gain_of(A, NONE, NAN), gain_of(B, NONE, 0.3), gain_of(C, NONE, 0.4),
                               gain_of(D, NONE, 0.1)};
    memcpy(choice, cause, sizeof choice);
    assert_order(choice, r, 4, "cbda");
    choice[B].choice = choice[C].choice = 1;
    assert_order(choice, r, 4, "cda");
}

/// 100, 110, 120 become 50, 44, 72: gains 0.5, 0.6, 0.4; the interval of three is t(0.975, 2) = 4.303 x 0.1 / sqrt(3).
static void gains_are_paired(void **state) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    struct weft_removal r = {.cause = {A, NONE}};
    weft_removal_judge(&r, (const double[]){100, 110, 120}, (const double[]){50, 44, 72}, 3, arena);
    assert_true(fabs(r.gain - 0.5) < 1e-12 && fabs(r.half - 4.30265 * 0.1 / sqrt(3)) < 1e-5 && !r.noise && r.ran);
    weft_removal_judge(&r, (const double[]){100, 100, 100}, (const double[]){90, 120, 80}, 3, arena);
    assert_true(r.noise);
    weft_removal_judge(&r, (const double[]){100}, (const double[]){90}, 1, arena);
    assert_true(fabs(r.gain - 0.1) < 1e-12 && isnan(r.half) && !r.noise);
    weft_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeats_come_behind),
        cmocka_unit_test(hidden_pairs_come_first),
        cmocka_unit_test(failures_and_choices),
        cmocka_unit_test(gains_are_paired),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
