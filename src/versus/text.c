// SPDX-License-Identifier: Apache-2.0
// A versus as text: a table per case, the map of sizes, where the time went, and a paragraph.
#include <math.h>

#include "base/units.h"
#include "report/text.h"
#include "versus/versus.h"

enum { NAME = 14 };

struct table {
    FILE *file;
    const struct weft_versus *v;
    uint32_t c; ///< case
    struct weft__unit unit;
    struct weft_arena *arena;
};

static double mean_of(const struct table *t, uint32_t fabric, enum weft_versus_measure m) {
    return weft__versus_spread(t->v, fabric, t->c, weft_versus_measure_names[m], t->arena).mean;
}

static void cell_time(const struct table *t, double time_ps) {
    char text[32];
    fprintf(t->file, " %10s", weft__text_time(text, t->unit, time_ps));
}

static void put_cell(const struct table *t, const char *format, double value, int width) {
    char text[64];
    snprintf(text, sizeof text, format, value);
    fprintf(t->file, " %*s", width, isnan(value) ? "-" : text);
}

static bool has_any(const struct table *t, enum weft_versus_measure m) {
    for (uint32_t f = 0; f < t->v->fabrics; f++)
        if (mean_of(t, f, m) > 0) return true;
    return false;
}

static void put_head(const struct table *t) {
    static const char *const percentile[] = {"p50", "p99", "p99.9"};
    fprintf(t->file, "  %-*s %10s %10s %9s %11s", NAME, "fabric", weft_arena_format(t->arena, "time, %s", t->unit.name),
            "+/-", "of ideal", "busbw, GB/s");
    for (uint32_t k = 0; k < 3; k++)
        fprintf(t->file, " %10s", weft_arena_format(t->arena, "%s, %s", percentile[k], t->unit.name));
    if (has_any(t, WEFT_VERSUS_VICTIMS)) fprintf(t->file, " %8s", "victims");
    if (has_any(t, WEFT_VERSUS_RECOVERY)) fprintf(t->file, " %10s", "recovery");
    fprintf(t->file, " %8s %7s %7s %9s", "pauses", "drops", "chips", "kW");
    fputs(t->v->fluid ? "  estimate, 90%\n" : "\n", t->file);
}

/// `mark`: how it compares to the first.
static void put_interval(const struct table *t, const struct weft_versus_place *place) {
    char low[32], high[32];
    if (!place->estimated)
        fputs("  packets", t->file);
    else if (isinf(place->high))
        fputs("  not calibrated", t->file);
    else
        fprintf(t->file, "  %s to %s", weft__text_time(low, t->unit, place->low),
                weft__text_time(high, t->unit, place->high));
}

static void put_row(const struct table *t, const struct weft_versus_place *place, const char *mark) {
    uint32_t f = place->fabric;
    double of_ruler = place->of_ruler.mean;
    const struct weft_versus_fabric *fabric = &t->v->fabric[f];
    struct weft_spread time = weft__versus_spread(t->v, f, t->c, "time_ps", t->arena);
    fprintf(t->file, "  %-*s", NAME, fabric->name);
    cell_time(t, time.mean);
    cell_time(t, time.half);
    put_cell(t, isnan(of_ruler) ? "%g" : weft_arena_format(t->arena, "%%.3f%s", mark), of_ruler, 9);
    double busbw = mean_of(t, f, WEFT_VERSUS_BUSBW);
    put_cell(t, busbw < 1 ? "%.4f" : "%.2f", busbw, 11);
    cell_time(t, mean_of(t, f, WEFT_VERSUS_P50));
    cell_time(t, mean_of(t, f, WEFT_VERSUS_P99));
    cell_time(t, mean_of(t, f, WEFT_VERSUS_P999));
    if (has_any(t, WEFT_VERSUS_VICTIMS)) put_cell(t, "%.2f", mean_of(t, f, WEFT_VERSUS_VICTIMS), 8);
    if (has_any(t, WEFT_VERSUS_RECOVERY)) cell_time(t, mean_of(t, f, WEFT_VERSUS_RECOVERY));
    put_cell(t, "%.0f", mean_of(t, f, WEFT_VERSUS_PAUSES), 8);
    put_cell(t, "%.0f", mean_of(t, f, WEFT_VERSUS_DROPS), 7);
    put_cell(t, "%.0f", f == t->v->ruler ? (double)NAN : (double)fabric->bill.chips, 7);
    put_cell(t, "%.2f", f == t->v->ruler ? (double)NAN : fabric->bill.watts / 1000, 9);
    if (t->v->fluid) put_interval(t, place);
    fputc('\n', t->file);
}

/// The unit of the longest time, or a smaller one that shows digits of the shortest time, if the longest still fits its
/// column: a fabric that is far behind must not hide the differences between those in front.
static struct weft__unit unit_of(const struct weft_versus *v, uint32_t c, struct weft_arena *arena) {
    const double column = 1e6; // in a unit: seven digits before the point
    double least = INFINITY, most = 0;
    for (uint32_t f = 0; f < v->fabrics; f++) {
        double time = weft__versus_spread(v, f, c, "time_ps", arena).mean;
        if (time < least) least = time;
        if (time > most) most = time;
    }
    struct weft__unit large = weft__text_unit(most), small = weft__text_unit(least);
    return least < large.ps && most < column * small.ps ? small : large;
}

static void print_case(FILE *file, const struct weft_versus *v, uint32_t c) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    struct table t = {file, v, c, unit_of(v, c, arena), arena};
    uint32_t n;
    const struct weft_versus_place *place = weft_versus_rank(v, c, arena, &n);
    fprintf(file, "\n%s%s%s\n", v->cases[c].name, v->cases[c].by == WEFT_VERSUS_TIME ? "" : ", judged by ",
            v->cases[c].by == WEFT_VERSUS_TIME ? "" : weft_versus_measure_names[v->cases[c].by]);
    put_head(&t);
    if (v->ruler != WEFT_NONE) {
        const char *by = weft_versus_measure_names[v->cases[c].by];
        struct weft_versus_place ruler = weft__versus_place_of(v, v->ruler, c, arena);
        ruler.of_ruler.mean = weft__versus_spread(v, v->ruler, c, by, arena).n ? 1 : (double)NAN;
        put_row(&t, &ruler, " ");
    }
    for (uint32_t i = 0; i < n; i++)
        put_row(&t, &place[i], place[i].noise ? "~" : " ");
}

// --- what it takes ------------------------------------------------------------------------------------------------

static void print_bills(FILE *file, const struct weft_versus *v) {
    bool priced = false, any = false;
    for (uint32_t f = 0; f < v->fabrics; f++) {
        priced |= v->fabric[f].variant != WEFT_NONE && f != v->ruler && v->fabric[f].bill.priced;
        any |= v->fabric[f].status != WEFT_VERSUS_UNBUILDABLE && f != v->ruler;
    }
    if (!any) return;
    fprintf(file, "\nwhat is not equal\n  %-*s %7s %8s %8s %8s %9s %10s %9s%s\n", NAME, "fabric", "chips", "ports",
            "Tbps", "optics", "fibre, m", "memory", "W", priced ? "      price" : "");
    for (uint32_t f = 0; f < v->fabrics; f++) {
        const struct weft_fabric_bill *b = &v->fabric[f].bill;
        if (v->fabric[f].status == WEFT_VERSUS_UNBUILDABLE || f == v->ruler) continue;
        char memory[32];
        weft_format_bytes((weft_bytes)b->buffer_bytes, memory, sizeof memory);
        fprintf(file, "  %-*s %7llu %8llu %8.1f %8.0f %9.0f %10s %9.0f", NAME, v->fabric[f].name,
                (unsigned long long)b->chips, (unsigned long long)b->ports, b->port_tbps, b->optics, b->fibre_m, memory,
                b->watts);
        if (priced && b->priced) fprintf(file, " %10.0f", b->price);
        fputc('\n', file);
    }
    for (uint32_t f = 0; f < v->fabrics; f++) {
        const struct weft_fabric_plan *p = v->fabric[f].plan;
        if (v->fabric[f].status == WEFT_VERSUS_UNBUILDABLE || f == v->ruler || p->host_ports == p->conf->hosts)
            continue;
        fprintf(file, "  %s comes with %llu hosts: all are in its row\n", v->fabric[f].name,
                (unsigned long long)p->host_ports);
    }
}

const char *weft__versus_status_text(enum weft_versus_status status) {
    static const char *const said[] = {[WEFT_VERSUS_UNBUILDABLE] = "cannot be built",
                                       [WEFT_VERSUS_OVER_BUDGET] = "beyond the budget",
                                       [WEFT_VERSUS_STALLED] = "stalled",
                                       [WEFT_VERSUS_CUT_SHORT] = "not finished",
                                       [WEFT_VERSUS_FAILED] = "failed",
                                       [WEFT_VERSUS_NOT_RUN] = "not run",
                                       [WEFT_VERSUS_REFUSED] = "not estimated"};
    return said[status];
}

static void print_others(FILE *file, const struct weft_versus *v) {
    bool any = false;
    for (uint32_t f = 0; f < v->fabrics; f++) {
        const struct weft_versus_fabric *fabric = &v->fabric[f];
        if (fabric->status == WEFT_VERSUS_RAN) continue;
        fprintf(file, "%s  %-*s %s: %s\n", any ? "" : "\n", NAME, fabric->name,
                weft__versus_status_text(fabric->status), fabric->reason);
        any = true;
    }
}

/// Everything for one number of hosts.
static void print_scale(FILE *file, const struct weft_versus *v) {
    for (uint32_t c = 0; c < v->n_cases && v->variants; c++)
        print_case(file, v, c);
    if (v->variants && weft__versus_has_map(v)) weft__versus_map_text(file, v);
    if (v->variants) weft__versus_degradation_text(file, v);
    if (v->variants) weft__versus_assumptions_text(file, v);
    for (uint32_t c = 0; c < v->n_cases && v->variants; c++)
        weft__versus_where_print(file, v, c);
    if (v->variants) weft__versus_where_legend(file, v);
    print_bills(file, v);
    if (v->variants) weft__versus_energy_text(file, v);
    weft__versus_goodput_text(file, v);
    weft__versus_domains_text(file, v);
    weft__versus_growth_text(file, v);
    print_others(file, v);
}

const char *weft__versus_hosts_text(const struct weft_versus *v, struct weft_arena *arena) {
    const char *text = "";
    for (uint32_t s = 0; s < v->scales; s++)
        text = weft_arena_format(arena, "%s%s%llu", text,
                                 !s                  ? ""
                                 : s + 1 < v->scales ? ", "
                                                     : " and ",
                                 (unsigned long long)v->scale[s].hosts);
    return text;
}

void weft_versus_text(FILE *file, const struct weft_versus *v) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    char rate[32];
    weft_format_rate(v->rate_bps, rate, sizeof rate);
    fprintf(file, "%s over %s hosts at %s; %s, %s; +/-: half of the 95%% interval over seeds\n",
            v->job ? v->job : "battery", weft__versus_hosts_text(v, arena), rate,
            weft__counted(v->scale[0].fabrics, "fabric").text, weft__counted(weft__versus_seeds(v), "seed").text);
    if (v->scales > 1 && v->variants) weft__versus_scales_text(file, v);
    for (uint32_t s = 0; s < v->scales; s++) {
        const struct weft_versus at = weft_versus_at(v, s);
        if (v->scales > 1) fprintf(file, "\n=== %s\n", weft__counted(at.hosts, "host").text);
        print_scale(file, &at);
    }
    fputc('\n', file);
    weft_versus_paragraph(file, v);
}
