// SPDX-License-Identifier: Apache-2.0
// Completion times and slowdown by size of flow, in bins of a decade: below 1 KB, 1 KB to 10 KB, and so on.
#include "base/order.h"
#include "report/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "text.h"

enum { DECADES = 17, TEXT = 32 };         // the last one ends below the largest whole number
static const weft_bytes bin_first = 1000; ///< the end of the first bin

/// A flow that counts, by group and bin.
struct entry {
    uint32_t group, bin;
    double fct, slowdown; ///< NAN: it has not finished
};

static uint32_t bin_of(weft_bytes bytes) {
    uint32_t bin = 0;
    for (weft_bytes below = bin_first; bytes >= below && bin + 1 < DECADES; below *= 10)
        bin++;
    return bin;
}

/// 0 for bin 0.
static weft_bytes bin_begin(uint32_t bin) {
    weft_bytes begin = bin ? bin_first : 0;
    for (uint32_t i = 1; i < bin; i++)
        begin *= 10;
    return begin;
}

WEFT__ORDER(by_group_and_bin, struct entry, WEFT__UP(group) ?: WEFT__UP(bin))

/// A stable sort of entries by a number below `numbers` (group or bin).
static void sort_by(const struct entry *from, struct entry *to, uint32_t n, bool group, uint32_t numbers) {
    WEFT_FREED uint32_t *next = weft_memory_new(WEFT_MEMORY_RESULT, numbers + 1, sizeof *next);
    for (uint32_t i = 0; i < n; i++)
        next[(group ? from[i].group : from[i].bin) + 1]++;
    for (uint32_t k = 0; k < numbers; k++)
        next[k + 1] += next[k];
    for (uint32_t i = 0; i < n; i++)
        to[next[group ? from[i].group : from[i].bin]++] = from[i];
}

/// By group, within it by bin. Returns `entry`.
static struct entry *sort_entries(struct entry *entry, uint32_t n, const struct weft_workload *w) {
    WEFT_FREED struct entry *other = weft_memory_new(WEFT_MEMORY_RESULT, n, sizeof *other);
    sort_by(entry, other, n, false, DECADES);
    sort_by(other, entry, n, true, w->groups);
    return entry;
}

static struct entry *list_entries(const struct weft_run *run, uint32_t *ret_n) {
    const struct weft_workload *w = run->workload;
    struct entry *entry = weft_memory_new(WEFT_MEMORY_RESULT, w->flows, sizeof *entry);
    WEFT_FREED bool *of_job = weft_memory_new(WEFT_MEMORY_RESULT, w->groups, sizeof *of_job);
    for (uint32_t g = 0; g < w->groups; g++)
        of_job[g] = weft__report_is_of_job(w, g);
    uint32_t n = 0;
    for (uint32_t f = 0; f < w->flows; f++) {
        const struct weft_flow_outcome *o = &run->outcome->flow[f];
        bool finished = o->end_ps != WEFT_TIME_NEVER;
        if (w->flow[f].rma) continue;
        double fct = finished ? (double)(o->end_ps - o->start_ps) : NAN;
        entry[n++] =
            (struct entry){w->flow[f].group, bin_of(w->flow[f].bytes), fct,
                           finished && o->ideal_ps && !of_job[w->flow[f].group] ? fct / (double)o->ideal_ps : NAN};
    }
    *ret_n = n;
    return sort_entries(entry, n, w);
}

/// Fills a bin from `n` flows of one group and bin.
static void fill_bin(struct weft__size_bin *bin, const struct weft_run *run, const struct entry *entry, uint32_t n,
                     double *value) {
    *bin = (struct weft__size_bin){.group = run->workload->group[entry->group],
                                   .from_bytes = bin_begin(entry->bin),
                                   .below_bytes = bin_begin(entry->bin + 1),
                                   .flows = n};
    for (uint32_t i = 0; i < n; i++)
        if (!isnan(entry[i].fct)) value[bin->finished++] = entry[i].fct;
    bin->fct_ps = weft__quantiles(value, bin->finished);
    uint32_t known = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!isnan(entry[i].slowdown)) value[known++] = entry[i].slowdown;
    bin->slowdown = weft__quantiles(value, known);
}

struct weft__size_bin *weft__report_sizes(const struct weft_run *run, struct weft_arena *arena, uint32_t *ret_n) {
    uint32_t flows, n = 0;
    struct entry *entry = list_entries(run, &flows);
    WEFT_FREED double *value = weft_memory_new(WEFT_MEMORY_RESULT, run->workload->flows, sizeof *value);
    for (uint32_t f = 0; f < flows; f++)
        n += !f || by_group_and_bin(&entry[f - 1], &entry[f]);
    struct weft__size_bin *bin = weft_arena_alloc(arena, n, sizeof *bin);
    for (uint32_t at = 0, b = 0, end; at < flows; at = end) {
        for (end = at + 1; end < flows && !by_group_and_bin(&entry[at], &entry[end]);)
            end++;
        fill_bin(&bin[b++], run, &entry[at], end - at, value);
    }
    weft_memory_free(WEFT_MEMORY_RESULT, entry, run->workload->flows * sizeof *entry);
    *ret_n = n;
    return bin;
}

/// Whether the flows of its group are in several bins; otherwise the table of groups shows everything.
static bool is_told_apart(const struct weft__size_bin *bin, uint32_t n, uint32_t i) {
    return (i && !strcmp(bin[i - 1].group, bin[i].group)) || (i + 1 < n && !strcmp(bin[i + 1].group, bin[i].group));
}

static void print_bin(FILE *file, const struct weft__size_bin *bin, int width, struct weft__unit unit) {
    char size[2][TEXT], range[2 * TEXT + 8], time[4][TEXT], ratio[4][TEXT];
    weft_format_bytes(bin->from_bytes, size[0], sizeof size[0]);
    weft_format_bytes(bin->below_bytes, size[1], sizeof size[1]);
    snprintf(range, sizeof range, bin->from_bytes ? "%s to %s" : "%.0sbelow %s", size[0], size[1]);
    const struct weft_quantiles *t = &bin->fct_ps, *s = &bin->slowdown;
    fprintf(file, "%-*s  %-16s %8u %8u %10s %10s %10s %10s %7s %7s %7s %7s\n", width, bin->group, range, bin->flows,
            bin->finished, weft__text_time(time[0], unit, t->mean), weft__text_time(time[1], unit, t->p50),
            weft__text_time(time[2], unit, t->p99), weft__text_time(time[3], unit, t->max),
            weft__text_ratio(ratio[0], s->mean), weft__text_ratio(ratio[1], s->p50), weft__text_ratio(ratio[2], s->p99),
            weft__text_ratio(ratio[3], s->max));
}

void weft__report_sizes_table(FILE *file, const struct weft_run *run) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    uint32_t n;
    const struct weft__size_bin *bin = weft__report_sizes(run, arena, &n);
    int width = (int)strlen("group");
    double largest = 0;
    bool any = false;
    for (uint32_t i = 0; i < n; i++) {
        if (!is_told_apart(bin, n, i)) continue;
        any = true;
        if ((int)strlen(bin[i].group) > width) width = (int)strlen(bin[i].group);
        largest = fmax(largest, bin[i].fct_ps.max);
    }
    struct weft__unit unit = weft__text_unit(largest);
    char title[TEXT];
    snprintf(title, sizeof title, "completion time, %s", unit.name);
    if (any)
        fprintf(file,
                "\n%-*s  %-16s %8s %8s   %-40s   slowdown\n%-*s  %-16s %8s %8s %10s %10s %10s %10s %7s %7s %7s %7s\n",
                width, "", "", "", "", title, width, "group", "size of flow", "flows", "finished", "mean", "p50", "p99",
                "max", "mean", "p50", "p99", "max");
    for (uint32_t i = 0; i < n; i++)
        if (is_told_apart(bin, n, i)) print_bin(file, &bin[i], width, unit);
}
