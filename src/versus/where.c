// SPDX-License-Identifier: Apache-2.0
// Where the time went, fabric by fabric: rows that add up to the time they are of, and of each fabric without one the
// reason.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/text.h"
#include "versus/versus.h"

enum { NAME = 14 };
/// A part that is less than this share of the time on every fabric has no column of its own.
static const double share_min = 0.01;

static double mean_of(const struct weft_versus *v, uint32_t f, uint32_t c, const char *name, struct weft_arena *arena) {
    return weft__versus_spread(v, f, c, name, arena).mean;
}

struct weft__versus_where weft__versus_where(const struct weft_versus *v, uint32_t f, uint32_t c,
                                             struct weft_arena *arena) {
    struct weft__versus_where w = {.of = WEFT__VERSUS_WHERE_NONE};
    double of = mean_of(v, f, c, WEFT_VERSUS_OF_ITERATION, arena), note = mean_of(v, f, c, WEFT_VERSUS_WHY_NOTE, arena);
    if (!isnan(note)) w.note = weft_versus_why_notes[(int)note];
    if (isnan(of)) return w;
    w.of = of > 0 ? WEFT__VERSUS_WHERE_ITERATION : WEFT__VERSUS_WHERE_FLOW;
    for (uint32_t k = 0; k < WEFT_WHYS; k++)
        w.total_ps += w.part_ps[k] = mean_of(v, f, c, weft_why_names[k], arena);
    return w;
}

enum weft__versus_where_of weft__versus_where_of(const struct weft_versus *v, uint32_t c, struct weft_arena *arena) {
    enum weft__versus_where_of most = WEFT__VERSUS_WHERE_NONE;
    for (uint32_t f = 0; f < v->fabrics; f++) {
        enum weft__versus_where_of of = weft__versus_where(v, f, c, arena).of;
        if (of > most) most = of;
    }
    return most;
}

const char *weft__versus_where_text(enum weft__versus_where_of of) {
    return of == WEFT__VERSUS_WHERE_FLOW ? "of the flow that finished last"
                                         : "on the critical path of the longest iteration";
}

const char *weft__versus_where_note(const struct weft__versus_where *w, enum weft__versus_where_of of,
                                    struct weft_arena *arena) {
    const char *why = w->note ? weft_arena_format(arena, ": %s", w->note) : "";
    if (w->of == WEFT__VERSUS_WHERE_NONE) return w->note ? weft_arena_format(arena, "not known%s", why) : NULL;
    return w->of != of ? weft_arena_format(arena, "%s%s", weft__versus_where_text(w->of), why) : w->note;
}

/// Columns of a table: parts, and behind them what has no column.
struct columns {
    bool shown[WEFT_WHYS];
    double of[WEFT_WHYS + 1];
    uint32_t tenths[WEFT_WHYS + 1];
};

/// Tenths of a per cent that add up to 100%: the largest remainders are rounded up.
static void round_up(struct columns *c) {
    uint32_t sum = 0;
    double rest[WEFT_WHYS + 1];
    for (uint32_t k = 0; k <= WEFT_WHYS; k++) {
        c->tenths[k] = (uint32_t)(1000 * c->of[k]);
        rest[k] = 1000 * c->of[k] - c->tenths[k];
        sum += c->tenths[k];
    }
    for (; sum < 1000; sum++) {
        uint32_t most = 0;
        for (uint32_t k = 1; k <= WEFT_WHYS; k++)
            if (rest[k] > rest[most]) most = k;
        c->tenths[most]++;
        rest[most] = -1;
    }
}

static void fill_columns(struct columns *c, const struct weft__versus_where *w) {
    memset(c->of, 0, sizeof c->of);
    for (uint32_t k = 0; k < WEFT_WHYS; k++)
        c->of[c->shown[k] ? k : WEFT_WHYS] += w->part_ps[k] / w->total_ps;
    round_up(c);
}

struct table {
    FILE *file;
    const struct weft__versus_where *where; ///< [fabrics]
    struct columns columns;
    struct weft__unit unit;
    bool other; ///< has a column
};

static void put_head(const struct table *t) {
    fprintf(t->file, "  %-*s %7s, %s", NAME, "fabric", "time", t->unit.name);
    for (uint32_t k = 0; k < WEFT_WHYS; k++)
        if (t->columns.shown[k]) fprintf(t->file, "  %s", weft_why_names[k]);
    fprintf(t->file, "%s\n", t->other ? "  other" : "");
}

static void put_row(struct table *t, const char *name, const struct weft__versus_where *w, const char *note) {
    char text[32];
    fprintf(t->file, "  %-*s", NAME, name);
    if (w->of != WEFT__VERSUS_WHERE_NONE) {
        fprintf(t->file, " %*s", 9 + (int)strlen(t->unit.name), weft__text_time(text, t->unit, w->total_ps));
        fill_columns(&t->columns, w);
        for (uint32_t k = 0; k < WEFT_WHYS; k++)
            if (t->columns.shown[k])
                fprintf(t->file, "  %*.1f", (int)strlen(weft_why_names[k]), t->columns.tenths[k] / 10.0);
        if (t->other) fprintf(t->file, "  %5.1f", t->columns.tenths[WEFT_WHYS] / 10.0);
    }
    fprintf(t->file, "%s%s\n", note ? "  " : "", note ? note : "");
}

/// What "other" is.
static void say_other(const struct table *t, uint32_t fabrics) {
    const char *before = "  other: ";
    for (uint32_t k = 0; k < WEFT_WHYS; k++)
        for (uint32_t f = 0; f < fabrics && !t->columns.shown[k]; f++) {
            if (!(t->where[f].part_ps[k] > 0)) continue;
            fprintf(t->file, "%s%s", before, weft_why_names[k]);
            before = ", ";
            break;
        }
    fprintf(t->file, "; each less than %g%% on every fabric\n", 100 * share_min);
}

/// Which parts have columns, and the unit of times.
static void lay_out(struct table *t, uint32_t fabrics) {
    double most = 0;
    for (uint32_t f = 0; f < fabrics; f++) {
        const struct weft__versus_where *w = &t->where[f];
        for (uint32_t k = 0; k < WEFT_WHYS; k++)
            t->columns.shown[k] |= w->part_ps[k] > share_min * w->total_ps;
        if (w->total_ps > most) most = w->total_ps;
    }
    t->unit = weft__text_unit(most);
    for (uint32_t f = 0; f < fabrics; f++) {
        if (!(t->where[f].total_ps > 0)) continue;
        fill_columns(&t->columns, &t->where[f]);
        t->other |= t->columns.tenths[WEFT_WHYS] > 0;
    }
}

void weft__versus_where_print(FILE *file, const struct weft_versus *v, uint32_t c) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    struct weft__versus_where *where = weft_arena_alloc(arena, v->fabrics, sizeof *where);
    enum weft__versus_where_of of = weft__versus_where_of(v, c, arena);
    struct table t = {.file = file, .where = where};
    bool any = false;
    for (uint32_t f = 0; f < v->fabrics; f++) {
        where[f] = weft__versus_where(v, f, c, arena);
        any |= where[f].of != WEFT__VERSUS_WHERE_NONE || where[f].note;
    }
    lay_out(&t, v->fabrics);
    const char *in = v->n_cases > 1 ? v->cases[c].name : "", *colon = v->n_cases > 1 ? ": " : "";
    if (of != WEFT__VERSUS_WHERE_NONE) {
        fprintf(file, "\nwhere the time %s went%s, %%%s%s\n", weft__versus_where_text(of),
                weft__versus_seeds(v) > 1 ? ", with the first seed" : "", colon, in);
        put_head(&t);
    } else if (any) {
        fprintf(file, "\nwhere the time went%s%s\n", colon, in);
    }
    for (uint32_t f = 0; f < v->fabrics && any; f++) {
        const char *note = weft__versus_where_note(&where[f], of, arena);
        if (where[f].of != WEFT__VERSUS_WHERE_NONE || note) put_row(&t, v->fabric[f].name, &where[f], note);
    }
    if (t.other) say_other(&t, v->fabrics);
}

void weft__versus_where_legend(FILE *file, const struct weft_versus *v) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    bool shown[WEFT_WHYS] = {false}, any = false;
    for (uint32_t i = 0; i < v->n_cases * v->fabrics; i++) {
        const struct weft__versus_where w = weft__versus_where(v, i % v->fabrics, i / v->fabrics, arena);
        for (uint32_t k = 0; k < WEFT_WHYS; k++)
            shown[k] |= w.part_ps[k] > share_min * w.total_ps;
    }
    for (uint32_t k = 0; k < WEFT_WHYS; k++) {
        if (shown[k])
            fprintf(file, "%s  %-*s %s\n", any ? "" : "\nthese parts of the time\n", NAME, weft_why_names[k],
                    weft_why_helps[k]);
        any |= shown[k];
    }
}
