// SPDX-License-Identifier: Apache-2.0
// The best point of a sweep, and the others that may be as good.
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "sweep/cells.h"

struct candidate {
    uint32_t point;
    const double *value; ///< [seeds]
    double mean;         ///< lower is better: with its sign changed if the greatest is best
};

WEFT__ORDER(by_mean, struct candidate, WEFT__UP(mean) ?: WEFT__UP(point))

/// Compares every other candidate with the first.
static void find_alike(const struct weft_sweep_results *r, struct weft_sweep_best *best, const struct candidate *c,
                       uint32_t n, struct weft_arena *arena) {
    uint32_t seeds = r->sweep->seeds;
    best->like = weft_arena_alloc(arena, n, sizeof *best->like);
    struct weft_sweep_interval first = weft_sweep_interval_of(r, c[0].point, best->metric);
    for (uint32_t i = 1; i < n; i++) {
        struct weft_sweep_interval other = weft_sweep_interval_of(r, c[i].point, best->metric);
        if (first.estimated || other.estimated) {
            best->estimated = best->judged = true;
            if (weft_sweep_may_be_equal(&first, weft_spread_of(c[0].value, seeds, arena).mean, &other,
                                        weft_spread_of(c[i].value, seeds, arena).mean))
                best->like[best->likes++] = c[i].point;
            continue;
        }
        struct weft_spread difference;
        if (!best->judged) continue;
        enum weft_difference d = weft_difference_of(c[0].value, c[i].value, seeds, n - 1, &difference, arena);
        if (d == WEFT_DIFFERENCE_NOISE) best->like[best->likes++] = c[i].point;
    }
}

struct weft_sweep_best weft_sweep_best(const struct weft_sweep_results *r, const struct weft_sweep_metric *metric,
                                       struct weft_arena *arena) {
    struct weft_sweep_best best = {.metric = metric, .point = WEFT_NONE, .judged = r->sweep->seeds > 1};
    struct candidate *c = weft_arena_alloc(arena, r->sweep->points, sizeof *c);
    uint32_t n = 0;
    for (uint32_t p = 0; p < r->sweep->points; p++) {
        const double *value = weft_sweep_metric_values(r, p, metric, arena);
        struct weft_spread s = weft_spread_of(value, r->sweep->seeds, arena);
        if (s.n < r->sweep->seeds)
            best.left_out++;
        else
            c[n++] = (struct candidate){p, value, metric->max ? -s.mean : s.mean};
    }
    if (!n) return best;
    qsort(c, n, sizeof *c, by_mean);
    best.point = c->point;
    best.spread = weft_spread_of(c->value, r->sweep->seeds, arena);
    find_alike(r, &best, c, n, arena);
    return best;
}

/// In single quotes if the shell would split it.
static const char *shell_quoted(const char *text, struct weft_arena *arena) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:%@";
    if (*text && !text[strspn(text, plain)]) return text;
    const char *end, *whole = "'";
    for (; *(end = text + strcspn(text, "'")); text = end + 1)
        whole = weft_arena_format(arena, "%s%.*s'\\''", whole, (int)(end - text), text);
    return weft_arena_format(arena, "%s%s'", whole, text);
}

static const char *with_setting(const char *command, const char *setting, struct weft_arena *arena) {
    return weft_arena_format(arena, "%s --set %s", command, shell_quoted(setting, arena));
}

const char *weft_sweep_command(const struct weft_sweep_results *r, uint32_t point, struct weft_arena *arena) {
    const struct weft_sweep *s = r->sweep;
    const char *variant = weft__sweep_variant(r, point);
    const char *text = weft_arena_format(arena, "weft run %s", shell_quoted(r->path, arena));
    if (*variant) text = weft_arena_format(arena, "%s --variant %s", text, shell_quoted(variant, arena));
    for (uint32_t i = 0; i < r->settings; i++)
        text = with_setting(text, r->setting[i], arena);
    for (uint32_t a = 0; a < s->axes; a++) {
        const char *value = s->point[point].value[a].text;
        text = with_setting(text, weft_arena_format(arena, "%s=%s", s->axis[a].path, value), arena);
    }
    return text;
}
