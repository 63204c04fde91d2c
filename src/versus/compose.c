// SPDX-License-Identifier: Apache-2.0
// The scenario of a versus: a variant per fabric, based on its blueprint, and a case per workload.
#include <string.h>

#include "base/stream.h"
#include "versus/versus.h"
#include "weft/versus.h"

const char *const weft_versus_status_names[] = {
    [WEFT_VERSUS_RAN] = "ran",
    [WEFT_VERSUS_UNBUILDABLE] = "unbuildable",
    [WEFT_VERSUS_OVER_BUDGET] = "over_budget",
    [WEFT_VERSUS_STALLED] = "stalled",
    [WEFT_VERSUS_CUT_SHORT] = "unfinished",
    [WEFT_VERSUS_FAILED] = "failed",
    [WEFT_VERSUS_NOT_RUN] = "not_run",
    [WEFT_VERSUS_REFUSED] = "not_estimated",
};

/// Writes a text as YAML in double quotes.
static void put_quoted(FILE *file, const char *text) {
    putc('"', file);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') putc('\\', file);
        putc(*text, file);
    }
    putc('"', file);
}

static void write_events(FILE *file, const struct weft_versus_failure *f, const struct weft_versus_domain *d) {
    fputs("events: [", file);
    for (uint32_t k = 0; k < f->times; k++)
        for (uint32_t i = 0; i < d->n_links; i++) {
            weft_time_ps at = f->at_ps + k * f->every_ps;
            fprintf(file, "%s{at: %llups, link: ", k + i ? ", " : "", (unsigned long long)at);
            put_quoted(file, d->links[i]);
            fputs(", state: down}", file);
            if (f->kind != WEFT_VERSUS_FLAPS) continue;
            fprintf(file, ", {at: %llups, link: ", (unsigned long long)(at + f->every_ps / 2));
            put_quoted(file, d->links[i]);
            fputs(", state: up}", file);
        }
    putc(']', file);
}

/// A list in a case replaces that of the blueprint. The buffer has the headroom of the fastest link that a host has
/// here, within a server (weft plan pfc).
static void write_slow(FILE *file, const struct weft_versus *v, const struct weft_versus_fabric *fabric) {
    size_t own = fabric->devices ? strlen(fabric->devices) : 0; // "[...]"
    fprintf(file, "devices: %.*s", own ? (int)own - 1 : 1, own ? fabric->devices : "[");
    fprintf(file, "%s{match: host-0, host: {drain_rate: %llubps, rx_buffer: 2MB}}]", own > 2 ? ", " : "",
            (unsigned long long)(v->rate_bps / 4));
}

/// What fails differs by fabric, because each has its own names of links. False: nothing fails in this one.
static bool has_failure(const struct weft_versus_fabric *fabric, const struct weft_versus_failure *f) {
    return f && !fabric->is_ruler && weft__versus_can_fail(fabric, f);
}
static void write_failure(FILE *file, const struct weft_versus *v, const struct weft_versus_fabric *fabric,
                          const struct weft_versus_failure *f) {
    if (f->kind == WEFT_VERSUS_SLOW)
        write_slow(file, v, fabric);
    else
        write_events(file, f, weft_versus_domain_of(fabric, f->domain));
}

/// The workload of a fabric if its number of hosts needs another one than the first number does.
static const char *own_workload(const struct weft_versus_case *c, uint32_t scale) {
    return c->at_scale && strcmp(c->at_scale[scale], c->workload) ? c->at_scale[scale] : NULL;
}

/// What a case sets per fabric: "variants: {...}", or nothing.
static void write_own(FILE *file, const struct weft_versus *v, const struct weft_versus_case *c) {
    uint32_t n = 0;
    for (uint32_t s = 0, i = 0; s < v->scales; s++)
        for (; i < v->scale[s].first + v->scale[s].fabrics; i++) {
            const struct weft_versus_fabric *fabric = &v->fabric[i];
            const char *workload = own_workload(c, s),
                       *value = c->assumption ? c->assumption->value[c->twice][i] : NULL;
            bool fails = has_failure(fabric, c->failure);
            if (fabric->variant == WEFT_NONE || (!workload && !value && !fails)) continue;
            fputs(n++ ? ", " : c->workload ? ", variants: {" : "variants: {", file);
            put_quoted(file, fabric->label);
            fputs(": {", file);
            if (workload) fprintf(file, "workload: %s%s", workload, value || fails ? ", " : "");
            if (fails) write_failure(file, v, fabric, c->failure);
            if (fails && value) fputs(", ", file);
            if (value) put_quoted(file, c->assumption->path);
            if (value) fprintf(file, ": %s", value);
            putc('}', file);
        }
    if (n) putc('}', file);
}

static void write_cases(FILE *file, const struct weft_versus *v) {
    if (v->n_all == 1 && !v->cases[0].workload) return;
    fputs("cases:\n", file);
    for (uint32_t i = 0; i < v->n_all; i++) {
        fputs("  ", file);
        put_quoted(file, v->cases[i].name);
        fputs(": {", file);
        if (v->cases[i].workload) fprintf(file, "workload: %s", v->cases[i].workload);
        write_own(file, v, &v->cases[i]);
        fputs("}\n", file);
    }
}

const char *weft_versus_compose(const struct weft_versus *v, const struct weft_tree *work, const struct weft_tree *run,
                                struct weft_arena *arena) {
    WEFT__TEXT_STREAM(stream, file);
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
        put_quoted(file, v->fabric[i].label);
        fputs(": {base: ", file);
        put_quoted(file, v->fabric[i].base);
        if (v->scales > 1) fprintf(file, ", fabric.hosts: %llu", (unsigned long long)v->fabric[i].hosts);
        fputs("}\n", file);
    }
    return weft_arena_text(arena, weft__text_stream_text(&stream));
}
