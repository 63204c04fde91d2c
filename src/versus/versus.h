// SPDX-License-Identifier: Apache-2.0
// What the outputs of a versus share.
#ifndef WEFT_VERSUS_VERSUS_H
#define WEFT_VERSUS_VERSUS_H

#include "weft/versus.h"

/// The fabric's point in the sweep for a case; WEFT_NONE: it does not run.
uint32_t weft__versus_point(const struct weft_versus *v, uint32_t fabric, uint32_t the_case);
const struct weft_sweep_run *weft__versus_run(const struct weft_versus *v, uint32_t fabric, uint32_t the_case,
                                              uint32_t seed);
struct weft_spread weft__versus_spread(const struct weft_versus *v, uint32_t fabric, uint32_t the_case,
                                       const char *name, struct weft_arena *arena);
static inline uint32_t weft__versus_seeds(const struct weft_versus *v) {
    return v->results ? v->results->sweep->seeds : 0;
}
/// Of a case: who leads, by how much, what is within noise, and what the last one waits for.
void weft__versus_case_say(FILE *file, const struct weft_versus *v, uint32_t the_case);
/// What is said of no single case; each sentence begins with a space.
void weft__versus_whole_say(FILE *file, const struct weft_versus *v);
const char *weft__versus_turn_text(const struct weft_versus *v, const struct weft_versus_turn *turn,
                                   struct weft_arena *arena);
/// How many of them turn who leads; they come first.
uint32_t weft__versus_turning(const struct weft_versus_turn *turn, uint32_t n);
void weft__versus_assumptions_text(FILE *file, const struct weft_versus *v);
void weft__versus_assumptions_say(FILE *file, const struct weft_versus *v);
/// Of cases of one family that differ in size: who leads which of them, and where that changes.
void weft__versus_map_text(FILE *file, const struct weft_versus *v);
/// Whether some case is another one with a failure; tables of those; what goes with each thing that may fail; growth.
bool weft__versus_has_failures(const struct weft_versus *v);
void weft__versus_degradation_text(FILE *file, const struct weft_versus *v);
void weft__versus_domains_text(FILE *file, const struct weft_versus *v);
void weft__versus_growth_text(FILE *file, const struct weft_versus *v);
/// Whether cases have families of several sizes at all.
bool weft__versus_has_map(const struct weft_versus *v);

/// Where a fabric that leads at one size has lost its lead at the next.
struct weft__versus_border {
    const char *family;
    uint32_t before, after; ///< cases
    uint32_t first, second; ///< fabrics that lead
    double bytes;           ///< where the lines through their times meet, both on logarithmic scales
    bool noise;             ///< at one of the two sizes the difference is noise
};
struct weft__versus_border *weft__versus_borders(const struct weft_versus *v, struct weft_arena *arena,
                                                 uint32_t *ret_n);
/// "star leads below about 32KiB, dsf-l1 above"
const char *weft__versus_border_text(const struct weft_versus *v, const struct weft__versus_border *border,
                                     struct weft_arena *arena);
/// Whose parts of the time there are of a case.
bool weft__versus_why_is_iteration(const struct weft_versus *v, uint32_t the_case, struct weft_arena *arena);
const char *weft__versus_why_of(const struct weft_versus *v, uint32_t the_case, struct weft_arena *arena);
/// "cannot be built"; of any status but RAN.
const char *weft__versus_status_text(enum weft_versus_status status);

#endif
