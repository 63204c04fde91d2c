// SPDX-License-Identifier: Apache-2.0
// Which fabric leads at which message size, or load, and where the leader changes.
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "versus/versus.h"

/// The position of a case within its family: its size, or its load.
static double axis_of(const struct weft_versus_case *c) {
    return c->bytes ? (double)c->bytes : (double)c->load_percent;
}

static bool are_neighbours(const struct weft_versus *v, uint32_t c) {
    return c + 1 < v->n_cases && axis_of(&v->cases[c]) > 0 && axis_of(&v->cases[c + 1]) > 0 &&
           !strcmp(v->cases[c].family, v->cases[c + 1].family);
}

const char *weft__versus_column_text(const struct weft_versus_case *c, struct weft_arena *arena) {
    if (c->bytes) return weft_arena_text(arena, weft__bytes_text(c->bytes).text);
    return c->load_percent ? weft_arena_format(arena, "%u%%", c->load_percent) : c->name;
}

bool weft__versus_has_map(const struct weft_versus *v) {
    for (uint32_t c = 0; c < v->n_cases; c++)
        if (are_neighbours(v, c)) return true;
    return false;
}

static double mean_of(const struct weft_versus *v, uint32_t fabric, uint32_t c, struct weft_arena *arena) {
    return weft__versus_spread(v, fabric, c, weft_versus_measure_names[v->cases[c].by], arena).mean;
}

double weft__versus_crossing(double from, double low, double to, double high) {
    double x = log(from), width = log(to) - x;
    low = log(low), high = log(high);
    return exp(x + width * (high > low ? -low / (high - low) : 0.5));
}

static double crossing_of(const struct weft_versus *v, const struct weft__versus_border *b, struct weft_arena *arena) {
    double low = mean_of(v, b->first, b->before, arena) / mean_of(v, b->second, b->before, arena);
    double high = mean_of(v, b->first, b->after, arena) / mean_of(v, b->second, b->after, arena);
    return weft__versus_crossing(axis_of(&v->cases[b->before]), low, axis_of(&v->cases[b->after]), high);
}

bool weft__versus_is_noise(const struct weft_versus *v, uint32_t case_at, const char *fabric,
                           struct weft_arena *arena) {
    uint32_t n;
    const struct weft_versus_place *place = weft_versus_rank(v, case_at, arena, &n);
    for (uint32_t i = 1; i < n; i++)
        if (!strcmp(v->fabric[place[i].fabric].name, fabric)) return place[i].noise;
    return false;
}

struct weft__versus_border *weft__versus_borders(const struct weft_versus *v, struct weft_arena *arena,
                                                 uint32_t *ret_n) {
    struct weft__versus_border *border = weft_arena_alloc(arena, v->n_cases + 1, sizeof *border);
    uint32_t n = 0, here, next;
    for (uint32_t c = 0; c < v->n_cases; c++) {
        if (!are_neighbours(v, c)) continue;
        const struct weft_versus_place *now = weft_versus_rank(v, c, arena, &here);
        const struct weft_versus_place *then = weft_versus_rank(v, c + 1, arena, &next);
        if (!here || !next || now[0].fabric == then[0].fabric) continue;
        struct weft__versus_border *b = &border[n++];
        *b = (struct weft__versus_border){v->cases[c].family, c, c + 1, now[0].fabric, then[0].fabric, 0, false};
        b->noise = weft__versus_is_noise(v, c, v->fabric[b->second].name, arena) ||
                   weft__versus_is_noise(v, c + 1, v->fabric[b->first].name, arena);
        b->at = crossing_of(v, b, arena);
    }
    *ret_n = n;
    return border;
}

const char *weft__versus_border_text(const struct weft_versus *v, const struct weft__versus_border *border,
                                     struct weft_arena *arena) {
    char text[32];
    if (v->cases[border->before].bytes)
        weft_format_bytes((weft_bytes)border->at, text, sizeof text);
    else
        snprintf(text, sizeof text, "%.0f%% load", border->at);
    return weft_arena_format(arena, "%s leads below about %s, %s above%s", v->fabric[border->first].name, text,
                             v->fabric[border->second].name, border->noise ? " (within noise)" : "");
}

static void put_row(FILE *file, const struct weft_versus *v, uint32_t f, const char *family, struct weft_arena *arena) {
    fprintf(file, "  %-18s", v->fabric[f].name);
    for (uint32_t c = 0; c < v->n_cases; c++) {
        if (strcmp(v->cases[c].family, family)) continue;
        uint32_t n, i = 0;
        const struct weft_versus_place *place = weft_versus_rank(v, c, arena, &n);
        while (i < n && place[i].fabric != f)
            i++;
        char text[32] = "-";
        double of = i == n                  ? (double)NAN
                    : v->ruler == WEFT_NONE ? place[i].value.mean / place[0].value.mean
                                            : place[i].of_ruler.mean;
        if (!isnan(of)) snprintf(text, sizeof text, "%.2f%s", of, !i ? "*" : place[i].noise ? "~" : " ");
        fprintf(file, " %10s", text);
    }
    putc('\n', file);
}

static void family_map(FILE *file, const struct weft_versus *v, uint32_t first, struct weft_arena *arena) {
    const char *family = v->cases[first].family;
    fprintf(file, "\n%s, %s\n  %-18s", family,
            v->ruler == WEFT_NONE ? "times the first; * the first" : "times ideal; * the first",
            v->cases[first].bytes ? "bytes a rank" : "load");
    for (uint32_t c = first; c < v->n_cases; c++)
        if (!strcmp(v->cases[c].family, family)) fprintf(file, " %9s ", weft__versus_column_text(&v->cases[c], arena));
    putc('\n', file);
    for (uint32_t f = 0; f < v->fabrics; f++)
        if (f != v->ruler && v->fabric[f].variant != WEFT_NONE) put_row(file, v, f, family, arena);
}

void weft__versus_map_text(FILE *file, const struct weft_versus *v) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    for (uint32_t c = 0; c < v->n_cases; c++)
        if (are_neighbours(v, c) && !(c && are_neighbours(v, c - 1))) family_map(file, v, c, arena);
    uint32_t n;
    const struct weft__versus_border *border = weft__versus_borders(v, arena, &n);
    for (uint32_t i = 0; i < n; i++)
        fprintf(file, "%s%s: %s\n", i ? "" : "\n", border[i].family, weft__versus_border_text(v, &border[i], arena));
}
