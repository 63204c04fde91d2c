// SPDX-License-Identifier: Apache-2.0
// Programs whose operations repeat and are skipped while nothing is in flight; see program_skip.c.
#pragma once

#include "transport/program.h"

/// Finds which operations of jobs do the same: needed for the two above. False: none recurs within an iteration.
bool weft__programs_find_kinds(struct weft__programs *programs, struct weft_arena *arena);
/// The position of a program, and what it has noted so far of the current iteration.
struct weft__program_mark {
    uint32_t iteration, turn;
    uint32_t *finished; ///< [communicators]
    bool waits;         ///< waits for the previous turn
    weft_time_ps exposed_ps, iteration_exposed_ps;
    weft_time_ps *op_exposed_ps; ///< [ops]
    weft_bytes *left_bytes;      ///< [sendings, then receivings]
};
void weft__program_mark_new(const struct weft__program *p, struct weft_arena *arena, struct weft__program_mark *ret);
/// How often the events since the mark (whole iterations or a part of one) may be repeated, so that the last message of
/// each connection and the last iteration's end are still to come. Parts of an iteration repeat only as long as
/// operations of the same kinds follow.
uint64_t weft__program_skips_max(const struct weft__program *p, const struct weft__program_mark *mark);
/// A stretch of time that repeats `times` times and is skipped: it began at begin_ps, where the mark was taken, and
/// ends now, at end_ps. Both include time skipped before.
struct weft__stretch {
    weft_time_ps begin_ps, end_ps;
    weft_time_ps skipped_ps; ///< so far, in the whole run
    uint32_t times;
};
void weft__program_skip(struct weft__program *p, const struct weft__program_mark *mark,
                        const struct weft__stretch *stretch);
/// For a rank that takes part: its computing is that much nearer to its end, and its waits have taken that much longer.
/// `skipped_ps`: before this.
void weft__program_pass(struct weft__program *p, struct weft__timers *timers, weft_time_ps time,
                        weft_time_ps skipped_ps);
/// Times noted before a skip are already true; their topmost bit marks them.
#define WEFT__TRUE_TIME (UINT64_C(1) << 63)
static inline weft_time_ps weft__true_time(weft_time_ps noted, weft_time_ps skipped) {
    if (noted == WEFT_TIME_NEVER) return WEFT_TIME_NEVER;
    return noted & WEFT__TRUE_TIME ? noted & ~WEFT__TRUE_TIME : noted + skipped;
}
/// Before a skip, and at the end of a run: makes all noted times true.
void weft__program_note_true(struct weft__program *p, weft_time_ps skipped);
void weft__program_settle(struct weft__program *p, weft_time_ps skipped);
