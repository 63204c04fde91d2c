// SPDX-License-Identifier: Apache-2.0
// Which assumption would change an answer if it is wrong by a factor of two, or at the ends of its band.
#include <math.h>
#include <stdlib.h>

#include "versus/versus.h"

#include "base/units.h"

/// Who leads, by how much, and whether that may be noise.
static void find_leader(const struct weft_versus *v, uint32_t c, struct weft_arena *arena, uint32_t *ret_first,
                        uint32_t *ret_second, double *ret_lead, bool *ret_noise) {
    uint32_t n;
    const struct weft_versus_place *place = weft_versus_rank(v, c, arena, &n);
    *ret_first = n ? place[0].fabric : WEFT_NONE;
    *ret_second = n > 1 ? place[1].fabric : WEFT_NONE;
    *ret_lead = n > 1 && place[0].value.mean > 0 ? place[1].value.mean / place[0].value.mean : (double)NAN;
    *ret_noise = n > 1 && place[1].noise;
}

static double effect_of(const struct weft_versus_turn *t) {
    return fabs(log(t->lead / t->lead_before));
}

static int by_effect(const void *a, const void *b) {
    const struct weft_versus_turn *x = a, *y = b;
    if (x->turns != y->turns) return x->turns ? -1 : 1;
    if (effect_of(x) > effect_of(y)) return -1;
    if (effect_of(x) < effect_of(y)) return 1;
    return (x->case_at > y->case_at) - (x->case_at < y->case_at);
}

struct weft_versus_turn *weft_versus_turns(const struct weft_versus *v, struct weft_arena *arena, uint32_t *ret_n) {
    struct weft_versus_turn *turn = weft_arena_alloc(arena, v->n_all - v->n_cases + 1, sizeof *turn);
    uint32_t n = 0;
    for (uint32_t c = v->n_cases; c < v->n_all; c++) {
        struct weft_versus_turn *t = &turn[n];
        uint32_t before, next;
        bool noise;
        *t = (struct weft_versus_turn){.case_at = c};
        find_leader(v, v->cases[c].healthy, arena, &before, &next, &t->lead_before, &noise);
        find_leader(v, c, arena, &t->first, &t->second, &t->lead, &t->noise);
        t->noise |= noise;
        t->turns = t->first != before;
        if (t->first != WEFT_NONE && before != WEFT_NONE) n++;
    }
    qsort(turn, n, sizeof *turn, by_effect);
    *ret_n = n;
    return turn;
}

const char *weft__versus_turn_text(const struct weft_versus *v, const struct weft_versus_turn *t,
                                   struct weft_arena *arena) {
    const struct weft_versus_case *c = &v->cases[t->case_at];
    const char *band = c->assumption->band, *side = c->twice ? "high" : "low";
    const char *how = *band ? weft_arena_format(arena, "%s within %s", side, band) : c->twice ? "doubled" : "halved";
    return weft_arena_format(
        arena, "%s%s%s %s: %s leads%s%s by %.3f (%.3f as assumed)%s", v->n_cases > 1 ? v->cases[c->healthy].name : "",
        v->n_cases > 1 ? ", " : "", c->assumption->path, how, v->fabric[t->first].name,
        t->second == WEFT_NONE ? "" : " before ", t->second == WEFT_NONE ? "" : v->fabric[t->second].name, t->lead,
        t->lead_before, t->turns && t->noise ? ", within noise" : "");
}

/// Of how many numbers hardware has a band.
static uint32_t count_bands(const struct weft_versus *v) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->assumptions; i++)
        n += *v->assumption[i].band != 0;
    return n;
}

uint32_t weft__versus_turning(const struct weft_versus_turn *turn, uint32_t n) {
    uint32_t turning = 0;
    while (turning < n && turn[turning].turns)
        turning++;
    return turning;
}

void weft__versus_assumptions_text(FILE *file, const struct weft_versus *v) {
    enum { SHOWN = 8 }; // of those that do not change it
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    uint32_t n;
    const struct weft_versus_turn *turn = weft_versus_turns(v, arena, &n);
    uint32_t turning = weft__versus_turning(turn, n);
    if (n)
        fprintf(file, "\n%s, each %s: %u of %u turn who leads\n", weft__counted(v->assumptions, "assumed number").text,
                !count_bands(v) ? "halved and doubled"
                : count_bands(v) < v->assumptions
                    ? "at the ends of its hardware's band, or without one halved and doubled"
                    : "at the ends of its hardware's band",
                turning, n);
    for (uint32_t i = 0; i < n && i < turning + SHOWN; i++)
        fprintf(file, "  %s%s\n", turn[i].turns ? "turns: " : "", weft__versus_turn_text(v, &turn[i], arena));
}

void weft__versus_assumptions_say(FILE *file, const struct weft_versus *v) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    uint32_t n;
    const struct weft_versus_turn *turn = weft_versus_turns(v, arena, &n);
    uint32_t turning = weft__versus_turning(turn, n);
    const char *wrong = !count_bands(v)                   ? "wrong by a factor of two"
                        : count_bands(v) < v->assumptions ? "wrong within its band, or by a factor of two"
                                                          : "at an end of its band";
    if (n && !turning) fprintf(file, " No assumed number turns who leads if it is %s.", wrong);
    if (turning)
        fprintf(file, " %u of %s %s turn who leads; first %s.", turning, weft__counted(n, "assumption").text, wrong,
                weft__versus_turn_text(v, &turn[0], arena));
}
