// SPDX-License-Identifier: Apache-2.0
// What ranks of jobs did over time: each computes, or waits for communication without computing. Recorded with the
// events of a run.
#include <string.h>

#include "transport/program.h"

#include "base/grow.h"
#include "weft/memory.h"

enum { SPANS_FIRST = 32 };

void weft__rank_span_add(struct weft__program *p, weft_time_ps from, weft_time_ps to, bool computes, uint32_t op) {
    struct weft__rank_spans *s = p->spans;
    if (!s || from == to) return;
    if (s->n == s->max) {
        s->unrecorded++;
        return;
    }
    WEFT__ADD_DOUBLE(WEFT_MEMORY_RESULT, s->span, s->n, s->room, SPANS_FIRST) =
        (struct weft_rank_span){from, to, p->rank, p->iteration, op, computes};
}

/// Adds what an unfinished rank does at the end.
static void add_open(struct weft__program *p) {
    const struct weft__schedule_run *s = p->schedule;
    if (!p->started || p->done) return;
    if (s)
        weft__rank_span_add(p, p->spans->from_ps, WEFT_TIME_NEVER, s->computing > 0, WEFT_NONE);
    else if (p->waits_for != WEFT_NONE)
        weft__rank_span_add(p, p->waiting_since_ps, WEFT_TIME_NEVER, false, WEFT_NONE);
    else if (p->compute_speed > 0)
        weft__rank_span_add(p, p->spans->from_ps, WEFT_TIME_NEVER, true, WEFT_NONE);
}

uint32_t weft__rank_spans_end(struct weft__program *p, struct weft_rank_span *ret_span) {
    struct weft__rank_spans *s = p->spans;
    if (!s) return 0;
    if (!ret_span) {
        add_open(p);
        return s->n;
    }
    if (s->n) memcpy(ret_span, s->span, s->n * sizeof *s->span);
    weft_memory_free(WEFT_MEMORY_RESULT, s->span, s->room * sizeof *s->span);
    s->span = NULL;
    s->room = 0;
    return s->n;
}
