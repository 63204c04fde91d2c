// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/order.h"
#include "base/tree.h"
#include "fit/fit.h"
#include "weft/hardware.h"
#include "weft/job.h"
#include "weft/param_load.h"
#include "weft/weft.h"

const char *const weft_fit_uses[] = {"fitted", "held out", "outlier", "checked", NULL};

// --- how near -----------------------------------------------------------------------------------------------------

static int by_amount(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/// The smallest value that so many of the values do not exceed.
static double share_of(const double *sorted, uint32_t n, double share) {
    uint32_t at = (uint32_t)ceil(share * n);
    return n ? sorted[at ? at - 1 : 0] : (double)NAN;
}

static void judge_use(struct weft_fit *fit, uint32_t use, bool large, struct weft_fit_judgement *j) {
    double *amount = weft_arena_alloc(fit->arena, fit->rows, sizeof *amount);
    uint32_t n = 0, near = 0;
    for (uint32_t i = 0; i < fit->rows; i++) {
        const struct weft_fit_row *row = &fit->row[i];
        if (row->use != use || (large && row->bytes <= 64 << 20)) continue;
        amount[n++] = fabs(row->error);
        near += fabs(row->error) <= 0.2;
    }
    qsort(amount, n, sizeof *amount, by_amount);
    double median = n % 2 || !n ? share_of(amount, n, 0.5) : (amount[n / 2 - 1] + amount[n / 2]) / 2;
    if (large) {
        j->median_large = median;
        return;
    }
    *j = (struct weft_fit_judgement){.what = weft_fit_uses[use],
                                     .rows = n,
                                     .median = median,
                                     .p90 = share_of(amount, n, 0.9),
                                     .worst = share_of(amount, n, 1),
                                     .within_20 = n ? (double)near / n : (double)NAN};
}

void weft__fit_judge(struct weft_fit *fit, const double *log_time) {
    for (uint32_t i = 0; i < fit->rows; i++) {
        fit->row[i].predicted_us = exp(log_time[i]);
        fit->row[i].error = fit->row[i].predicted_us / fit->row[i].measured_us - 1;
    }
    for (uint32_t use = 0; weft_fit_uses[use]; use++) {
        struct weft_fit_judgement j;
        judge_use(fit, use, false, &j);
        judge_use(fit, use, true, &j);
        if (j.rows && use != WEFT_FIT_OUTLYING) WEFT__ADD(fit->arena, fit->judgement, fit->judgements) = j;
    }
}

// --- all of it ----------------------------------------------------------------------------------------------------

static enum weft_status read_tables(const struct weft_fit_conf *conf, struct weft_arena *arena, struct weft_fit *fit,
                                    struct weft_error *ret_error) {
    *fit = (struct weft_fit){.arena = arena};
    enum weft_status status = WEFT_OK;
    for (uint32_t t = 0; t < conf->tables && !status; t++)
        status = weft__fit_read(conf, conf->table[t], fit, ret_error);
    if (!status) status = weft__fit_sort_out(conf, fit, ret_error);
    for (uint32_t t = 0; t < fit->tables && !status; t++)
        status = weft__fit_scenario(conf, fit, &fit->table[t], ret_error);
    return status;
}

enum weft_status weft_fit_tables(const struct weft_fit_conf *conf, struct weft_arena *arena, struct weft_fit *fit,
                                 struct weft_error *ret_error) {
    enum weft_status status = read_tables(conf, arena, fit, ret_error);
    if (!status) status = weft__fit_constants(conf, fit, ret_error);
    if (status) return status;
    double *log_time = weft_arena_alloc(arena, fit->rows, sizeof *log_time);
    if (conf->check)
        status = weft__fit_run(conf, fit, NULL, log_time, ret_error);
    else
        status = weft__fit_solve(conf, fit, log_time, ret_error);
    if (!status) weft__fit_judge(fit, log_time);
    if (!status && conf->why) status = weft__fit_causes(conf, fit, log_time, ret_error);
    if (conf->check) fit->constants = 0;
    return status;
}

void weft_fit_free(struct weft_fit *fit) {
    for (uint32_t t = 0; t < fit->tables; t++)
        if (fit->table[t].parsed) weft_scenario_file_free(fit->table[t].scenario);
}

// --- a class of servers -------------------------------------------------------------------------------------------

struct writing {
    FILE *file;
    const struct weft_fit *fit;
    const struct weft_hardware *class;
    const char *tables;
};

static const struct weft_fit_constant *constant_of(const struct weft_fit *fit, const char *key) {
    for (uint32_t k = 0; k < fit->constants; k++)
        if (!strcmp(fit->constant[k].key, key) && fit->constant[k].used) return &fit->constant[k];
    return NULL;
}

static void write_found(const struct writing *w, const struct weft_fit_constant *c) {
    const char *unit = c->rate ? "Mbps" : !strcmp(c->key, "costs.factor") ? "" : "ps";
    double scale = c->rate ? 1e3 : *unit ? 1e6 : 1, low = c->value - c->deviation;
    int digits = *unit ? 0 : 6;
    if (low < 0) low = 0;
    if (c->determined)
        fprintf(w->file,
                "  %s: {low: %.*f%s, typical: %.*f%s, high: %.*f%s, basis: measured, source: \"weft fit of %s\"}\n",
                c->key, digits, low * scale, unit, digits, c->value * scale, unit, digits,
                (c->value + c->deviation) * scale, unit, w->tables);
    else
        fprintf(
            w->file,
            "  %s: {typical: %.*f%s, basis: measured, source: \"weft fit of %s, which alone do not determine it\"}\n",
            c->key, digits, c->value * scale, unit, w->tables);
}

/// A value of the server: found, or as its class or the set-up has it. Defaults need no line.
static void write_value(void *context, const char *path, const char *value, const char *dflt) {
    const struct writing *w = context;
    const struct weft_fit_constant *c = constant_of(w->fit, path);
    if (c) {
        write_found(w, c);
        return;
    }
    if ((dflt && !strcmp(value, dflt)) || !strcmp(path, "kind")) return;
    const struct weft_hardware_value *v = weft_hardware_value(w->class, path);
    bool own = v && weft_hardware_is_typical(v, value, w->fit->arena);
    if (!own) v = NULL;
    fprintf(w->file, "  %s: {typical: \"%s\", basis: %s, source: \"%s\"}\n", path, value,
            weft_hardware_bases[v ? v->basis : WEFT_BASIS_MEASURED],
            v ? v->source : weft_arena_format(w->fit->arena, "set-up of %s", w->tables));
}

void weft_fit_write(FILE *file, const struct weft_fit *fit, const char *name) {
    struct writing w = {.file = file, .fit = fit, .tables = ""};
    for (uint32_t t = 0; t < fit->tables; t++) {
        const char *slash = strrchr(fit->table[t].file, '/'), *base = slash ? slash + 1 : fit->table[t].file;
        if (!t || strcmp(fit->table[t].file, fit->table[t - 1].file))
            w.tables = weft_arena_format(fit->arena, "%s%s%s", w.tables, t ? ", " : "", base);
    }
    if (strcmp(fit->server->kind, WEFT_HARDWARE_IDEAL))
        weft_hardware_find(WEFT_HARDWARE_SERVER, fit->server->kind, (struct weft_place){.file = "fit"}, "server.kind",
                           fit->arena, &w.class, NULL);
    fprintf(
        file,
        "# SPDX-License-Identifier: Apache-2.0\nname: %s\nkind: server\nabout: \"servers of %s, by weft fit of %s\"\n"
        "values:\n",
        name, fit->table->setup.gpu ? weft__text_shown(fit->table->setup.gpu, fit->arena) : fit->server->kind,
        w.tables);
    weft_params_each(&weft_server_table, fit->server, "", write_value, &w);
}
