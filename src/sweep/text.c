// SPDX-License-Identifier: Apache-2.0
// A sweep as text: a table per group, a row per point, means over seeds; then the best point.
#include <string.h>

#include "base/stream.h"
#include "base/units.h"
#include "report/text.h"
#include "sweep/cells.h"

// --- scales -------------------------------------------------------------------------------------------------------

/// The unit in which a column is shown.
struct scale {
    const char *unit; ///< "": none
    double factor;
    int decimals;
};

static struct scale decimal_scale(const char *const unit[5], double largest) {
    unsigned k = 0;
    double factor = 1;
    for (; k < 4 && largest >= 1e4 * factor; k++)
        factor *= 1e3;
    return (struct scale){unit[k], factor, k ? 2 : 0};
}

static struct scale scale_of(enum weft_claim_dimension dimension, double largest, bool whole) {
    static const char *const bytes[] = {"B", "KB", "MB", "GB", "TB"}, *const rates[] = {"bps", "kbps", "Mbps", "Gbps",
                                                                                        "Tbps"};
    struct weft__unit time = weft__text_unit(largest);
    if (dimension == WEFT_CLAIM_TIME) return (struct scale){time.name, time.ps, time.decimals};
    if (dimension == WEFT_CLAIM_BYTES) return decimal_scale(bytes, largest);
    if (dimension == WEFT_CLAIM_RATE) return decimal_scale(rates, largest);
    return (struct scale){"", 1, whole ? 0 : largest >= 1000 ? 1 : largest >= 10 ? 2 : 3};
}

static const char *scaled_text(struct scale s, double value, struct weft_arena *arena) {
    return isnan(value) ? "-" : weft_arena_format(arena, "%.*f", s.decimals, value / s.factor);
}

static enum weft_claim_dimension dimension_of(const struct weft_result_column *column) {
    const char *unit = weft_result_unit(column);
    if (!strcmp(unit, "ps")) return WEFT_CLAIM_TIME;
    if (!strcmp(unit, "bytes")) return WEFT_CLAIM_BYTES;
    return !strcmp(unit, "bit/s") ? WEFT_CLAIM_RATE : WEFT_CLAIM_NUMBER;
}

// --- tables -------------------------------------------------------------------------------------------------------

/// A metric as a column of figures.
struct figures {
    const char *name;
    enum weft_claim_dimension dimension;
    struct weft_spread *spread; ///< [points]
    struct weft_sweep_metric metric;
};

/// Texts in rows and columns; the first row is the heading.
struct grid {
    struct weft_arena *arena;
    uint32_t columns, rows, texts; ///< texts: how many of the first columns are not figures
    const char **cell;             ///< [rows][columns]
    const char **above;            ///< [columns]: text above the first row; NULL: none
};

static void put_cell(struct grid *g, uint32_t row, uint32_t column, const char *text) {
    g->cell[row * g->columns + column] = text;
}

static struct grid grid_new(struct weft_arena *arena, uint32_t columns, uint32_t rows, uint32_t texts) {
    struct grid g = {.arena = arena, .columns = columns, .rows = rows, .texts = texts};
    g.cell = weft_arena_alloc(arena, (size_t)rows * columns, sizeof *g.cell);
    g.above = weft_arena_alloc(arena, columns, sizeof *g.above);
    return g;
}

/// A text over several columns makes the first of them wide enough.
static uint32_t *column_widths(const struct grid *g) {
    uint32_t *width = weft_arena_alloc(g->arena, g->columns, sizeof *width);
    for (uint32_t c = 0; c < g->columns; c++)
        for (uint32_t r = 0; r < g->rows; r++) {
            uint32_t n = (uint32_t)strlen(g->cell[r * g->columns + c]);
            if (n > width[c]) width[c] = n;
        }
    for (uint32_t c = g->texts, end; c < g->columns; c = end) {
        uint32_t span = width[c];
        for (end = c + 1; end < g->columns && !g->above[end]; end++)
            span += 2 + width[end];
        uint32_t needed = g->above[c] ? (uint32_t)strlen(g->above[c]) : 0;
        if (needed > span) width[c] += needed - span;
    }
    return width;
}

static void print_line(FILE *file, const char *text) {
    size_t n = strlen(text);
    while (n && text[n - 1] == ' ')
        n--;
    fprintf(file, "%.*s\n", (int)n, text);
}

static void print_grid(FILE *file, const struct grid *g) {
    WEFT__TEXT_STREAM(stream, line);
    const uint32_t *width = column_widths(g);
    uint32_t skipped = 0;
    bool any = false;
    for (uint32_t c = 0; c < g->columns; c++) {
        any |= g->above[c] != NULL;
        if (g->above[c]) {
            uint32_t span = width[c];
            for (uint32_t end = c + 1; end < g->columns && !g->above[end]; end++)
                span += 2 + width[end];
            fprintf(line, "%*s%s%-*s", (int)skipped, "", c ? "  " : "", (int)span, g->above[c]);
            skipped = 0;
        } else if (!g->above[0] && c < g->texts) {
            skipped += width[c] + (c ? 2 : 0);
        }
    }
    if (any) print_line(file, weft__text_stream_text(&stream));
    for (uint32_t r = 0; r < g->rows; r++) {
        weft__text_stream_clear(&stream);
        for (uint32_t c = 0; c < g->columns; c++) {
            const char *text = g->cell[r * g->columns + c];
            fprintf(line, "%s%*s", c ? "  " : "", c && c < g->texts ? -(int)width[c] : (int)width[c], text);
        }
        print_line(file, weft__text_stream_text(&stream));
    }
}

/// The columns that identify a point: its number, its variant if there are several, and the varied values.
static uint32_t put_points(struct grid *g, const struct weft_sweep_results *r, bool variants) {
    const struct weft_sweep *s = r->sweep;
    uint32_t c = 0;
    put_cell(g, 0, c, "point");
    for (uint32_t p = 0; p < s->points; p++)
        put_cell(g, p + 1, c, weft_arena_format(g->arena, "%u", p));
    c++;
    if (variants) {
        put_cell(g, 0, c, "variant");
        for (uint32_t p = 0; p < s->points; p++)
            put_cell(g, p + 1, c, weft__sweep_variant(r, p));
        c++;
    }
    for (uint32_t a = 0; a < s->axes; a++, c++) {
        put_cell(g, 0, c, s->axis[a].path);
        for (uint32_t p = 0; p < s->points; p++)
            put_cell(g, p + 1, c, s->point[p].value[a].text);
    }
    return c;
}

static struct scale scale_for(const struct figures *f, uint32_t points) {
    double largest = 0;
    bool whole = true;
    for (uint32_t p = 0; p < points; p++) {
        largest = fmax(largest, fabs(f->spread[p].mean)); // fmax ignores NAN
        whole &= isnan(f->spread[p].mean) || !(fabs(f->spread[p].mean - round(f->spread[p].mean)) > 0);
    }
    return scale_of(f->dimension, largest, whole);
}

/// What is shown of a metric: its mean; of estimates their interval; with several seeds also that of the mean and the
/// median; and with how many seeds it has a value, if not all points have it with all.
enum part { MEAN, HALF, MEDIAN, SEEDS };

static const char *part_of(const struct weft_spread *s, enum part part, struct scale scale, struct weft_arena *arena) {
    if (part == SEEDS) return weft_arena_format(arena, "%u", s->n);
    return scaled_text(scale, part == MEAN ? s->mean : part == HALF ? s->half : s->median, arena);
}

/// A column's name without the unit in which results have it, "fct_ps.mean": the heading names the one of the table.
static const char *name_of(const struct figures *f, struct weft_arena *arena) {
    static const char *const units[] = {
        [WEFT_CLAIM_TIME] = "_ps", [WEFT_CLAIM_BYTES] = "_bytes", [WEFT_CLAIM_RATE] = "_bps"};
    const char *unit = f->dimension < sizeof units / sizeof *units ? units[f->dimension] : NULL;
    const char *at = unit ? strstr(f->name, unit) : NULL, *rest = at ? at + strlen(unit) : "";
    if (!at || (*rest && !strchr("._", *rest))) return f->name;
    return weft_arena_format(arena, "%.*s%s", (int)(at - f->name), f->name, rest);
}

static bool is_estimated(const struct weft_sweep_results *r) {
    for (size_t i = 0; i < (size_t)r->sweep->points * r->sweep->seeds; i++) {
        double low, high;
        if (weft_sweep_run_part(&r->run[i], &low, &high)) return true;
    }
    return false;
}

/// Whether a column for them says anything: at some point, or that there is none for a metric of the user's.
static bool has_intervals(const struct weft_sweep_results *r, const struct figures *f) {
    bool any = r->shown > 0;
    for (uint32_t p = 0; p < r->sweep->points && !any; p++)
        any = !isnan(weft_sweep_interval_of(r, p, &f->metric).low);
    return any && is_estimated(r);
}

static const char *interval_text(const struct weft_sweep_results *r, const struct figures *f, uint32_t point,
                                 struct scale scale, struct weft_arena *arena) {
    const struct weft_sweep_interval i = weft_sweep_interval_of(r, point, &f->metric);
    if (!f->spread[point].n || !i.estimated) return "-";
    if (isnan(i.low)) return "not calibrated";
    return weft_arena_format(arena, "%s to %s", scaled_text(scale, i.low, arena), scaled_text(scale, i.high, arena));
}

/// The interval, in the last of a metric's columns.
static void put_intervals(struct grid *g, uint32_t c, const struct weft_sweep_results *r, const struct figures *f) {
    struct scale scale = scale_for(f, r->sweep->points);
    put_cell(g, 0, c, "estimate, 90%");
    for (uint32_t p = 0; p < r->sweep->points; p++)
        put_cell(g, p + 1, c, interval_text(r, f, p, scale, g->arena));
}

static void put_figures(struct grid *g, uint32_t c, const struct figures *f, uint32_t points, uint32_t parts) {
    static const char *const names[] = {[MEAN] = "mean", [HALF] = "+/-", [MEDIAN] = "median", [SEEDS] = "seeds"};
    struct scale scale = scale_for(f, points);
    const char *heading =
        *scale.unit ? weft_arena_format(g->arena, "%s, %s", name_of(f, g->arena), scale.unit) : f->name;
    if (parts > 1) g->above[c] = heading;
    for (uint32_t i = 0; i < parts; i++) {
        put_cell(g, 0, c + i, parts > 1 ? names[i] : heading);
        for (uint32_t p = 0; p < points; p++)
            put_cell(g, p + 1, c + i, part_of(&f->spread[p], (enum part)i, scale, g->arena));
    }
}

static uint32_t parts_of(const struct weft_sweep *s, const struct figures *f, uint32_t n) {
    if (s->seeds == 1) return 1;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t p = 0; p < s->points; p++)
            if (f[i].spread[p].n < s->seeds) return SEEDS + 1;
    return MEDIAN + 1;
}

/// `title`: "group victims" or nothing; then the measurements of its points.
static void print_table(FILE *file, const struct weft_sweep_results *r, const char *title, const struct figures *f,
                        uint32_t n, struct weft_arena *arena) {
    bool variants = weft_scenario_variants(r->sweep->file) > 1;
    uint32_t texts = 1 + variants + r->sweep->axes, parts = parts_of(r->sweep, f, n);
    uint32_t intervals = 0;
    for (uint32_t i = 0; i < n; i++)
        intervals += has_intervals(r, &f[i]);
    struct grid g = grid_new(arena, texts + n * parts + intervals, r->sweep->points + 1, texts);
    uint32_t c = put_points(&g, r, variants);
    for (uint32_t i = 0; i < n; i++) {
        put_figures(&g, c, &f[i], r->sweep->points, parts);
        c += parts;
        if (has_intervals(r, &f[i])) put_intervals(&g, c++, r, &f[i]);
    }
    fputc('\n', file);
    if (title) g.above[0] = title;
    print_grid(file, &g);
}

/// For a group, the times of its flows and its job; a column without any value is omitted.
static void print_group(FILE *file, const struct weft_sweep_results *r, const char *group, struct weft_arena *arena) {
    static const char *const shown[] = {"fct_ps_mean", "fct_ps_p99", "fct_ps_max", "jobs_iteration_ps"};
    enum { SHOWN = sizeof shown / sizeof *shown };
    struct figures figures[SHOWN];
    uint32_t n = 0;
    for (uint32_t i = 0; i < SHOWN * r->columns; i++) {
        const struct weft_sweep_column *column = &r->column[i % r->columns];
        if (strcmp(column->name, shown[i / r->columns])) continue;
        if (!strcmp(column->name, "fct_ps_max") && !is_estimated(r)) continue; // it has the interval
        struct figures *f = &figures[n];
        *f = (struct figures){
            column->column->name, dimension_of(column->column), NULL, {.group = group, .column = i % r->columns}};
        f->spread = weft_arena_alloc(arena, r->sweep->points, sizeof *f->spread);
        bool any = false;
        for (uint32_t p = 0; p < r->sweep->points; p++) {
            const double *value = weft_sweep_values(r, p, group, (uint32_t)(column - r->column), arena);
            f->spread[p] = weft_spread_of(value, r->sweep->seeds, arena);
            any |= f->spread[p].n;
        }
        n += any;
    }
    print_table(file, r, weft_arena_format(arena, "group %s", group), figures, n, arena);
}

static void print_metrics(FILE *file, const struct weft_sweep_results *r, struct weft_arena *arena) {
    struct figures *f = weft_arena_alloc(arena, r->shown, sizeof *f);
    for (uint32_t i = 0; i < r->shown; i++) {
        const struct weft_sweep_metric *m = &r->metric[i];
        f[i] = (struct figures){m->name, m->path.dimension, NULL, *m};
        f[i].spread = weft_arena_alloc(arena, r->sweep->points, sizeof *f[i].spread);
        for (uint32_t p = 0; p < r->sweep->points; p++)
            f[i].spread[p] = weft_spread_of(weft_sweep_metric_values(r, p, m, arena), r->sweep->seeds, arena);
    }
    print_table(file, r, NULL, f, r->shown, arena);
}

// --- the rest -----------------------------------------------------------------------------------------------------

static void print_head(FILE *file, const struct weft_sweep_results *r) {
    const struct weft_sweep *s = r->sweep;
    fprintf(file, "%s%s%s\n%s", r->name, *r->about ? ": " : "", r->about, weft__counted(s->points, "point").text);
    if (s->seeds > 1)
        fprintf(file, ", %s; +/-: half of the 95%% interval of the mean over seeds",
                weft__counted(s->seeds, "seed").text);
    if (is_estimated(r)) fputs("; times are estimates, with their 90% intervals where these are calibrated", file);
    fputc('\n', file);
}

/// Runs without a result, and runs whose network stalled.
static void print_states(FILE *file, const struct weft_sweep_results *r) {
    for (uint32_t p = 0; p < r->sweep->points; p++)
        for (uint32_t k = 0; k < r->sweep->seeds; k++) {
            const struct weft_sweep_run *run = weft__sweep_run_at(r, p, k);
            if (run->state == WEFT_SWEEP_FAILED || run->state == WEFT_SWEEP_STALLED)
                fprintf(file, "\npoint %u, seed %llu %s%s%s", p, (unsigned long long)run->seed,
                        weft_sweep_state_names[run->state], *run->message ? ": " : "", run->message);
        }
    uint32_t missing = weft_sweep_count(r, WEFT_SWEEP_MISSING), bad = missing + weft_sweep_count(r, WEFT_SWEEP_FAILED);
    if (missing) fprintf(file, "\n%u of %u runs are missing", missing, r->sweep->points * r->sweep->seeds);
    if (bad || weft_sweep_count(r, WEFT_SWEEP_STALLED)) fputc('\n', file);
}

static void print_best(FILE *file, const struct weft_sweep_results *r, const struct weft_sweep_best *best,
                       struct weft_arena *arena) {
    const struct weft_sweep_metric *m = best->metric;
    fprintf(file, "\nbest by %s (%s): ", m->name, m->max ? "the greatest" : "the least");
    if (best->point == WEFT_NONE) {
        fputs("no point has a value with every seed\n", file);
        return;
    }
    double largest = fabs(best->spread.mean);
    struct scale scale = scale_of(m->path.dimension, largest, !(fabs(largest - round(largest)) > 0) && !best->judged);
    fprintf(file, "point %u, %s%s", best->point, scaled_text(scale, best->spread.mean, arena), scale.unit);
    if (best->judged && r->sweep->seeds > 1)
        fprintf(file, " +/- %s%s", scaled_text(scale, best->spread.half, arena), scale.unit);
    fprintf(file, "\n  %s\n", weft_sweep_command(r, best->point, arena));
    if (!best->judged) {
        fputs("  with one seed no difference can be told from noise; --seeds 1..5 runs more\n", file);
    } else if (best->likes) {
        fprintf(
            file, best->estimated ? "  not told from it by %s: point%s" : "  as good, as far as %s can tell: point%s",
            best->estimated ? "estimates" : weft__counted(r->sweep->seeds, "seed").text, best->likes == 1 ? "" : "s");
        for (uint32_t i = 0; i < best->likes; i++)
            fprintf(file, "%s %u", i ? "," : "", best->like[i]);
        fputc('\n', file);
    } else if (best->estimated) {
        fputs("  the intervals of all other points are beyond that of this one\n", file);
    } else {
        fprintf(file, "  every other point is worse by more than noise (pairs of %s, 95%% for all together)\n",
                weft__counted(r->sweep->seeds, "seed").text);
    }
    if (best->left_out)
        fprintf(file, "  left out, without a value with some seed: %s\n", weft__counted(best->left_out, "point").text);
}

void weft_sweep_text(FILE *file, const void *shown) {
    const struct weft_sweep_results *r = ((const struct weft_sweep_shown *)shown)->results;
    const struct weft_sweep_best *best = ((const struct weft_sweep_shown *)shown)->best;
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    uint32_t groups;
    const char **group = weft_sweep_groups(r, arena, &groups);
    print_head(file, r);
    if (r->shown) print_metrics(file, r, arena);
    for (uint32_t g = 0; g < groups && !r->shown; g++)
        print_group(file, r, group[g], arena);
    print_states(file, r);
    if (best) print_best(file, r, best, arena);
}
