// SPDX-License-Identifier: Apache-2.0
#include "transitions.h"

#include <inttypes.h>
#include <math.h>

#include "weft/param.h"

enum { TEXT = 32, TRANSITIONS_MAX = 8 };

static void print_links(FILE *file, const struct weft_tin_transition *t) {
    if (t->down) fprintf(file, "%" PRIu32 " link%s down", t->down, t->down > 1 ? "s" : "");
    if (t->up) fprintf(file, "%s%" PRIu32 " link%s up again", t->down ? ", " : "", t->up, t->up > 1 ? "s" : "");
}

static void print_transition(FILE *file, const struct weft_tin_transition *t) {
    char at[TEXT], after[TEXT], mean[TEXT], max[TEXT];
    weft_format_time(t->from_ps, at, sizeof at);
    fprintf(file, "       at %s ", at);
    print_links(file, t);
    if (t->to_ps == WEFT_TIME_NEVER)
        fprintf(file, ": tables never follow");
    else
        fprintf(file, ": tables follow within %s",
                (weft_format_time(t->to_ps - t->from_ps, after, sizeof after), after));
    fprintf(file, "; in that time %" PRIu64 " cells and %" PRIu64 " packets lost, %" PRIu64 " cells on escape VCs",
            t->cells_lost, t->packets_lost, t->escapes);
    if (t->packets) {
        weft_format_time(t->fetch_ps / t->packets, mean, sizeof mean);
        weft_format_time(t->fetch_max_ps, max, sizeof max);
        fprintf(file, "; %" PRIu64 " packets whole after %s on average, %s at most", t->packets, mean, max);
    }
    putc('\n', file);
}

void weft__report_transitions(FILE *file, const struct weft_tin_outcome *o) {
    for (uint32_t i = 0; i < o->transitions && i < TRANSITIONS_MAX; i++)
        print_transition(file, &o->transition[i]);
    if (o->transitions > TRANSITIONS_MAX)
        fprintf(file, "       and %" PRIu32 " more times\n", o->transitions - TRANSITIONS_MAX);
    if (!o->table_changes) return;
    fprintf(file, "       controller: %" PRIu64 " entries of tables changed", o->table_changes);
    if (o->walked) fprintf(file, "; black holes made by writes: %" PRIu64, o->holes);
    putc('\n', file);
}
