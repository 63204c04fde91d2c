// SPDX-License-Identifier: Apache-2.0
// What failures cost: times with a failure relative to those without, what each failure takes with it, and, because
// readers want both, what growth costs.
#include <math.h>

#include "versus/versus.h"

enum { NAME = 14, CELL = 15 };

bool weft__versus_has_failures(const struct weft_versus *v) {
    for (uint32_t c = 0; c < v->n_cases; c++)
        if (v->cases[c].healthy != WEFT_NONE) return true;
    return false;
}

static void put_cell(FILE *file, const struct weft_spread *s) {
    char text[32] = "-";
    if (s->n && isnan(s->half)) snprintf(text, sizeof text, "%.2f", s->mean);
    if (s->n && !isnan(s->half)) snprintf(text, sizeof text, "%.2f +/- %.2f", s->mean, s->half);
    fprintf(file, " %*s", CELL, text);
}

static void family_table(FILE *file, const struct weft_versus *v, uint32_t healthy) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    fprintf(file, "\n%s with a failure: %s over that without\n  %-*s", v->cases[healthy].name,
            weft_versus_measure_names[v->cases[healthy].by], NAME, "fabric");
    for (uint32_t c = 0; c < v->n_cases; c++)
        if (v->cases[c].healthy == healthy) fprintf(file, " %*s", CELL, v->cases[c].failure->name);
    putc('\n', file);
    for (uint32_t f = 0; f < v->fabrics; f++) {
        if (f == v->ruler || v->fabric[f].variant == WEFT_NONE) continue;
        fprintf(file, "  %-*s", NAME, v->fabric[f].name);
        for (uint32_t c = 0; c < v->n_cases; c++) {
            if (v->cases[c].healthy != healthy) continue;
            struct weft_spread s = weft_versus_degradation(v, f, c, arena);
            put_cell(file, &s);
        }
        putc('\n', file);
    }
}

void weft__versus_degradation_text(FILE *file, const struct weft_versus *v) {
    for (uint32_t h = 0; h < v->n_cases; h++)
        for (uint32_t c = 0; c < v->n_cases; c++)
            if (v->cases[c].healthy == h) {
                family_table(file, v, h);
                break;
            }
    if (!weft__versus_has_failures(v)) return;
    fputs("  -: nothing of the kind is in the fabric, or it did not finish\n", file);
    weft__versus_one_leaf_say(file, v, "  ");
    putc('\n', file);
}

static bool has_one_leaf(const struct weft_versus_fabric *fabric) {
    bool above = false, all = false;
    for (uint32_t i = 0; i < fabric->domains; i++) {
        above |= fabric->domain[i].kind == WEFT_VERSUS_SWITCH;
        all |= fabric->domain[i].kind == WEFT_VERSUS_LEAF && fabric->domain[i].hosts_cut >= fabric->hosts;
    }
    return above && all;
}

void weft__versus_one_leaf_say(FILE *file, const struct weft_versus *v, const char *before) {
    uint32_t said = 0;
    for (uint32_t f = 0; f < v->fabrics; f++)
        if (f != v->ruler && has_one_leaf(&v->fabric[f]))
            fprintf(file, "%s%s", said++ ? ", " : before, v->fabric[f].name);
    if (said)
        fprintf(file, "%s all hosts at one leaf here: what fails between switches costs %s nothing.",
                said > 1 ? " have" : " has", said > 1 ? "them" : "it");
}

void weft__versus_domains_text(FILE *file, const struct weft_versus *v) {
    bool head = false;
    for (uint32_t f = 0; f < v->fabrics; f++) {
        const struct weft_versus_fabric *fabric = &v->fabric[f];
        for (uint32_t i = 0; i < fabric->domains && f != v->ruler; i++) {
            const struct weft_versus_domain *d = &fabric->domain[i];
            if (!head)
                fprintf(file, "\nblast radius: what a failure cuts off\n  %-*s %-8s %-18s %7s %10s %12s\n", NAME,
                        "fabric", "fails", "such as", "of", "hosts cut", "capacity, %");
            head = true;
            char lost[32] = "-";
            if (!isnan(d->capacity_lost)) snprintf(lost, sizeof lost, "%.2f", 100 * d->capacity_lost);
            fprintf(file, "  %-*s %-8s %-18s %7u %10u %12s\n", NAME, i ? "" : fabric->name,
                    weft_versus_domain_names[d->kind], d->name, d->there, d->hosts_cut, lost);
        }
    }
}

void weft__versus_growth_text(FILE *file, const struct weft_versus *v) {
    bool head = false;
    for (uint32_t f = 0; f < v->fabrics; f++) {
        const struct weft_versus_fabric *fabric = &v->fabric[f];
        const struct weft_fabric_bill *a = &fabric->bill, *b = &fabric->grown;
        if (fabric->status == WEFT_VERSUS_UNBUILDABLE || f == v->ruler) continue;
        if (!head)
            fprintf(file, "\ngrowing by half: what it adds\n  %-*s %8s %8s %8s %9s %9s\n", NAME, "fabric", "chips",
                    "ports", "optics", "fibre, m", "W");
        head = true;
        if (fabric->grown_reason)
            fprintf(file, "  %-*s cannot be built: %s\n", NAME, fabric->name, fabric->grown_reason);
        else
            fprintf(file, "  %-*s %+8.0f %+8.0f %+8.0f %+9.0f %+9.0f\n", NAME, fabric->name,
                    (double)b->chips - (double)a->chips, (double)b->ports - (double)a->ports, b->optics - a->optics,
                    b->fibre_m - a->fibre_m, b->watts - a->watts);
    }
}
