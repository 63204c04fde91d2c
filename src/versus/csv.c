// SPDX-License-Identifier: Apache-2.0
// A versus as comma-separated values: one line per fabric, case and seed.
#include "base/csv.h"

#include <math.h>

#include "versus/versus.h"

static void put_number(FILE *file, double value) {
    putc(',', file);
    if (!isnan(value)) fprintf(file, "%.17g", value);
}

static void put_line(FILE *file, const struct weft_versus *v, uint32_t f, uint32_t c, uint32_t k,
                     struct weft_arena *arena) {
    const struct weft_versus_fabric *fabric = &v->fabric[f];
    const struct weft_sweep_run *run = weft__versus_run(v, f, c, k);
    weft__csv_text(file, fabric->name);
    fprintf(file, ",%llu,", (unsigned long long)fabric->hosts);
    weft__csv_text(file, v->cases[c].name);
    fprintf(file, ",%llu,%llu,%s", (unsigned long long)v->cases[c].bytes, (unsigned long long)run->seed,
            weft_sweep_state_names[run->state]);
    for (uint32_t i = 0; i < WEFT_VERSUS_MEASURED; i++)
        put_number(file, weft_versus_values(v, f, c, weft_versus_measure_names[i], arena)[k]);
    put_number(file, (double)fabric->bill.chips);
    put_number(file, fabric->bill.optics);
    put_number(file, fabric->bill.watts);
    put_number(file, fabric->bill.priced ? fabric->bill.price : (double)NAN);
    putc('\n', file);
}

static void scale_lines(FILE *file, const struct weft_versus *v) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    for (uint32_t f = 0; f < v->fabrics; f++) {
        if (v->fabric[f].variant == WEFT_NONE) {
            weft__csv_text(file, v->fabric[f].name);
            fprintf(file, ",%llu,,,,%s", (unsigned long long)v->hosts, weft_versus_status_names[v->fabric[f].status]);
            for (uint32_t i = 0; i < WEFT_VERSUS_MEASURED + 4; i++)
                putc(',', file);
            putc('\n', file);
        }
        for (uint32_t c = 0; c < v->n_cases && v->fabric[f].variant != WEFT_NONE; c++)
            for (uint32_t k = 0; k < weft__versus_seeds(v); k++)
                put_line(file, v, f, c, k, arena);
    }
    weft_arena_free(arena);
}

void weft_versus_csv(FILE *file, const struct weft_versus *v) {
    fputs("fabric,hosts,case,bytes,seed,end", file);
    for (uint32_t i = 0; i < WEFT_VERSUS_MEASURED; i++)
        fprintf(file, ",%s", weft_versus_measure_names[i]);
    fputs(",chips,optics,watts,price\n", file);
    for (uint32_t s = 0; s < v->scales; s++) {
        const struct weft_versus at = weft_versus_at(v, s);
        scale_lines(file, &at);
    }
}
