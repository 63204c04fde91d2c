// SPDX-License-Identifier: Apache-2.0
// Two results side by side as text.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/tree.h"
#include "base/units.h"
#include "weft/diff.h"
#include "weft/result.h"

enum { TEXT = 64, VALUE = 14 };

static const char *text_of(char text[TEXT], enum weft_result_type type, double value) {
    bool whole = value >= 0 && value < 1e18;
    if (isnan(value))
        snprintf(text, TEXT, "-");
    else if (type == WEFT_RESULT_TIME && whole)
        weft_format_time((weft_time_ps)llround(value), text, TEXT);
    else if (type == WEFT_RESULT_BYTES && whole)
        weft_format_bytes((weft_bytes)llround(value), text, TEXT);
    else if (type == WEFT_RESULT_RATE && whole)
        weft_format_rate((weft_rate_bps)llround(value), text, TEXT);
    else if (fabs(value) < 1e9 && value == nearbyint(value))
        snprintf(text, TEXT, "%.0f", value);
    else
        snprintf(text, TEXT, "%.4g", value);
    return text;
}

/// The relative change of a figure; one that was 0, or exists on one side only, changes most.
static double change_of(const struct weft_diff_figure *f) {
    double first = fabs(f->mean[0]), by = fabs(f->mean[1] - f->mean[0]);
    if (isnan(by)) return INFINITY;
    return first > 0 ? by / first : by > 0 ? INFINITY : 0;
}

static const char *change_text(char text[TEXT], const struct weft_diff_figure *f) {
    double by = change_of(f);
    if (isinf(by) || f->mean[0] < 0)
        snprintf(text, TEXT, "%s", "");
    else if (by >= 10 && f->mean[1] > f->mean[0])
        snprintf(text, TEXT, "x%.0f", f->mean[1] / f->mean[0]);
    else
        snprintf(text, TEXT, "%+.1f%%%s", 100 * (f->mean[1] - f->mean[0]) / f->mean[0],
                 f->difference == WEFT_DIFFERENCE_NOISE ? "~" : "");
    return text;
}

WEFT__ORDER(by_size, double, (*x < *y) - (*x > *y))

/// The change that this many figures reach.
static double least_shown(const struct weft_diff_pair *p, uint32_t most) {
    if (p->figures <= most) return -1;
    WEFT_FREED double *change = weft_memory_new(WEFT_MEMORY_RESULT, p->figures, sizeof *change);
    for (uint32_t i = 0; i < p->figures; i++)
        change[i] = change_of(&p->figure[i]);
    qsort(change, p->figures, sizeof *change, by_size);
    return change[most - 1];
}

static int width_of(const char *text, int width) {
    return (int)strlen(text) > width ? (int)strlen(text) : width;
}

static const char *value_text(const char *value) {
    return !value ? "-" : *value ? value : "''";
}

static void print_settings(FILE *file, const struct weft_diff_pair *p) {
    int path = 0, value = VALUE;
    for (uint32_t i = 0; i < p->settings; i++) {
        path = width_of(p->setting[i].path, path);
        value = width_of(value_text(p->setting[i].value[0]), value);
    }
    fprintf(file, "  %-*s  %-*s  B\n", path, "parameter", value, "A");
    for (uint32_t i = 0; i < p->settings; i++) {
        const struct weft_diff_setting *s = &p->setting[i];
        fprintf(file, "  %-*s  %-*s  %s\n", path, s->path, value, value_text(s->value[0]), value_text(s->value[1]));
    }
}

static const char *name_of(char *text, size_t size, const struct weft_diff_figure *f) {
    return WEFT_SAY(text, size, "%s%s%s", f->row, *f->row ? " " : "", f->column);
}

static void print_figures(FILE *file, const struct weft_diff_pair *p, uint32_t most) {
    char name[256], a[TEXT], b[TEXT], change[TEXT];
    double least = least_shown(p, most);
    const char *table = "";
    int width = 0;
    uint32_t shown = 0;
    for (uint32_t i = 0; i < p->figures; i++)
        if (change_of(&p->figure[i]) >= least) width = width_of(name_of(name, sizeof name, &p->figure[i]), width);
    fprintf(file, "  %-*s  %*s %*s   change\n", width, "figure", VALUE, "A", VALUE, "B");
    for (uint32_t i = 0; i < p->figures && shown < most; i++) {
        const struct weft_diff_figure *f = &p->figure[i];
        if (change_of(f) < least) continue;
        if (strcmp(f->table, table) != 0) fprintf(file, "  %s\n", f->table);
        table = f->table;
        shown++;
        fprintf(file, "  %-*s  %*s %*s   %s\n", width, name_of(name, sizeof name, f), VALUE,
                text_of(a, f->type, f->mean[0]), VALUE, text_of(b, f->type, f->mean[1]), change_text(change, f));
    }
    if (shown < p->figures)
        fprintf(file, "  and %s that change less: --all shows them\n",
                weft__counted(p->figures - shown, "figure").text);
}

static void print_pair(FILE *file, const struct weft_diff_pair *p, uint32_t most) {
    if (strcmp(p->variant[0], p->variant[1]) != 0)
        fprintf(file, "\nvariant %s (A) and %s (B)", *p->variant[0] ? p->variant[0] : "none",
                *p->variant[1] ? p->variant[1] : "none");
    else
        fprintf(file, "\n%s%s", *p->variant[0] ? "variant " : "", *p->variant[0] ? p->variant[0] : "runs");
    if (p->seeds > 1) fprintf(file, ", means over %s", weft__counted(p->seeds, "seed").text);
    if (!p->settings && !p->figures && !p->missings) {
        fprintf(file, ": equal, %s\n", weft__counted(p->compared, "figure").text);
        return;
    }
    fprintf(file, ": %s and %" PRIu32 " of %s differ%s\n", weft__counted(p->settings, "parameter").text, p->figures,
            weft__counted(p->compared, "figure").text, p->equal == p->seeds ? "; the digests are equal" : "");
    if (p->settings) print_settings(file, p);
    for (uint32_t i = 0; i < p->missings; i++)
        fprintf(file, "  %s: %s only in A, %" PRIu32 " only in B\n", p->missing[i].table,
                weft__counted(p->missing[i].rows[0], "row").text, p->missing[i].rows[1]);
    if (p->figures) print_figures(file, p, most);
}

void weft_diff_print(FILE *file, const struct weft_diff *d, uint32_t most) {
    bool noise = false;
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    for (int k = 0; k < 2; k++)
        fprintf(file, "%c  %s%s%s\n", 'A' + k, weft__text_shown(d->side[k].dir, arena), *d->side[k].made_by ? ": " : "",
                d->side[k].made_by);
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; i < d->side[k].onlys; i++)
            fprintf(file, "only in %c: variant %s\n", 'A' + k, d->side[k].only[i]);
    for (uint32_t i = 0; i < d->pairs; i++) {
        print_pair(file, &d->pair[i], most);
        for (uint32_t f = 0; f < d->pair[i].figures; f++)
            noise |= d->pair[i].figure[f].difference == WEFT_DIFFERENCE_NOISE;
    }
    if (noise) fputs("\n~: within noise: the 95% interval of the differences, seed by seed, has 0 in it\n", file);
}
