// SPDX-License-Identifier: Apache-2.0
// The scenario of a versus: a variant for each fabric, on whose blueprint it stands, and a case for each workload.
#include "base/stream.h"
#include "weft/versus.h"

const char *const weft_versus_status_names[] = {
    [WEFT_VERSUS_RAN] = "ran",
    [WEFT_VERSUS_UNBUILDABLE] = "unbuildable",
    [WEFT_VERSUS_OVER_BUDGET] = "over_budget",
    [WEFT_VERSUS_STALLED] = "stalled",
    [WEFT_VERSUS_FAILED] = "failed",
};

/// A text as YAML has it in double quotes.
static void quote(FILE *file, const char *text) {
    putc('"', file);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') putc('\\', file);
        putc(*text, file);
    }
    putc('"', file);
}

static void write_cases(FILE *file, const struct weft_versus *v) {
    if (v->n_cases == 1 && !v->cases[0].workload) return;
    fputs("cases:\n", file);
    for (uint32_t i = 0; i < v->n_cases; i++) {
        fputs("  ", file);
        quote(file, v->cases[i].name);
        if (v->cases[i].workload)
            fprintf(file, ": {workload: %s}\n", v->cases[i].workload);
        else
            fputs(": {}\n", file);
    }
}

const char *weft_versus_compose(const struct weft_versus *v, const struct weft_tree *work, const struct weft_tree *run,
                                struct weft_arena *arena) {
    struct weft__text_stream stream;
    FILE *file = weft__text_stream_open(&stream);
    fputs("name: versus\nabout: one job on every fabric\n", file);
    fprintf(file, "fabric: {hosts: %llu, rate: %llubps}\n", (unsigned long long)v->hosts,
            (unsigned long long)v->rate_bps);
    if (work) fprintf(file, "workload: %s\n", weft_tree_text(work, arena));
    if (run) fprintf(file, "run: %s\n", weft_tree_text(run, arena));
    write_cases(file, v);
    fputs("variants:\n", file);
    for (uint32_t i = 0; i < v->fabrics; i++) {
        if (v->fabric[i].variant == WEFT_NONE) continue;
        fputs("  ", file);
        quote(file, v->fabric[i].name);
        fputs(": {base: ", file);
        quote(file, v->fabric[i].base);
        fputs("}\n", file);
    }
    const char *text = weft_arena_text(arena, weft__text_stream_text(&stream));
    weft__text_stream_free(&stream);
    return text;
}
