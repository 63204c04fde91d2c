// SPDX-License-Identifier: Apache-2.0
#include "te.h"

#include <inttypes.h>
#include <math.h>

enum { TEXT = 64 };

/// The last round that came into force within the run; NULL: none did.
static const struct weft_te_round *last_round(const struct weft_outcome *o) {
    uint32_t n = o->te->rounds;
    while (n && o->te->round[n - 1].in_force_ps > o->sim_time_ps)
        n--;
    return n ? &o->te->round[n - 1] : NULL;
}

static double part_by_entry(const struct weft_te_outcome *te) {
    return (double)te->by_entry / (double)(te->by_entry + te->by_fallback);
}

void weft__report_te_table(FILE *file, const struct weft_run *run) {
    const struct weft_te_outcome *te = run->outcome->te;
    if (!te) return;
    const struct weft_te_round *first = te->rounds ? te->round : NULL, *last = last_round(run->outcome);
    char text[TEXT];
    fprintf(file, "TE     ");
    if (!last) {
        fprintf(file, "no paths came into force within the run: all packets went by the fallback\n");
        return;
    }
    weft_format_time(first->in_force_ps, text, sizeof text);
    fprintf(file,
            "%" PRIu32 " computations, in force from %s on; the last: %" PRIu32 " demands, %" PRIu32
            " beyond a link's rate, fullest link %.1f%%; %.1f%% of packets by an entry\n",
            te->rounds, text, last->demands, last->beyond, 100 * last->utilisation_max, 100 * part_by_entry(te));
}
