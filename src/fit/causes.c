// SPDX-License-Identifier: Apache-2.0
// Why measured times differ from those of a class: for each constant alone, the value with which the differences are
// smallest, and how much of them is left. A constant that explains most says what got worse, and its sizes say where.
// By Gauss and Newton's method, with derivatives as differences between runs.
#include <math.h>
#include <stdlib.h>

#include "base/grow.h"
#include "fit/fit.h"

enum { ROUNDS = 3 };
static const double step = 0.05;      ///< of a constant's width, for a derivative
static const double worth = 0.05;     ///< of the differences: less is not a cause
static const double noticeable = 0.1; ///< a logarithm of time

static double sum_of(const struct weft_fit *fit, const double *log_time) {
    double sum = 0;
    for (uint32_t i = 0; i < fit->rows; i++)
        if (fit->row[i].use == WEFT_FIT_CHECKED) sum += pow(log_time[i] - log(fit->row[i].measured_us), 2);
    return sum;
}

/// Moves a constant to where, going by the slopes there, the differences are smallest. False: no time depends on it.
static bool move_constant(const struct weft_fit *fit, struct weft_fit_constant *c, const double *now,
                          const double *then) {
    double against = 0, own = 0;
    for (uint32_t i = 0; i < fit->rows; i++) {
        if (fit->row[i].use != WEFT_FIT_CHECKED) continue;
        double slope = (then[i] - now[i]) / (step * c->width);
        against += slope * (log(fit->row[i].measured_us) - now[i]);
        own += slope * slope;
    }
    if (own <= 0) return false;
    c->at = fmax(c->at + against / own, c->least);
    return true;
}

static void add_cause(struct weft_fit *fit, const struct weft_fit_constant *c, double explained, const double *before,
                      const double *after) {
    struct weft_fit_cause cause = {.key = c->key,
                                   .before = c->before,
                                   .value = c->rate ? 8e3 / c->at : c->at,
                                   .explained = explained,
                                   .from_bytes = UINT64_MAX};
    for (uint32_t i = 0; i < fit->rows; i++) {
        const struct weft_fit_row *row = &fit->row[i];
        if (row->use != WEFT_FIT_CHECKED || fabs(after[i] - before[i]) < noticeable) continue;
        cause.rows++;
        if (row->bytes < cause.from_bytes) cause.from_bytes = row->bytes;
        if (row->bytes > cause.to_bytes) cause.to_bytes = row->bytes;
    }
    if (cause.rows) WEFT__ADD(fit->arena, fit->cause, fit->causes) = cause;
}

static int by_explained(const void *a, const void *b) {
    double x = ((const struct weft_fit_cause *)a)->explained, y = ((const struct weft_fit_cause *)b)->explained;
    return (x < y) - (x > y);
}

enum weft_status weft__fit_causes(const struct weft_fit_conf *conf, struct weft_fit *fit, const double *log_time,
                                  struct weft_error *ret_error) {
    double whole = sum_of(fit, log_time);
    double *now = weft_arena_alloc(fit->arena, fit->rows, sizeof *now);
    double *then = weft_arena_alloc(fit->arena, fit->rows, sizeof *then);
    enum weft_status status = WEFT_OK;
    for (uint32_t k = 0; k < fit->constants; k++)
        fit->constant[k].used = 1;
    for (uint32_t k = 0; k < fit->constants && !status; k++) {
        struct weft_fit_constant *c = &fit->constant[k];
        double best = c->at, left = whole;
        bool depends = true;
        for (uint32_t i = 0; i < fit->rows; i++)
            now[i] = log_time[i];
        for (uint32_t round = 0; round < ROUNDS && depends && !status; round++) {
            struct weft_error beyond = {0};
            c->at += step * c->width;
            status = weft__fit_run(conf, fit, NULL, then, ret_error);
            c->at -= step * c->width;
            depends = !status && move_constant(fit, c, now, then);
            if (depends) status = weft__fit_run(conf, fit, NULL, now, &beyond);
            if (status == WEFT_ERROR_INPUT) { // a step out of the constant's range: what was found before it stands
                status = WEFT_OK;
                break;
            }
            if (status && !ret_error->status) *ret_error = beyond;
            if (status || sum_of(fit, now) >= left) break;
            left = sum_of(fit, now);
            best = c->at;
        }
        c->at = best;
        if (!status && whole > 0 && 1 - left / whole > worth) {
            status = weft__fit_run(conf, fit, NULL, now, ret_error);
            if (!status) add_cause(fit, c, 1 - left / whole, log_time, now);
        }
        c->at = c->expected;
    }
    qsort(fit->cause, fit->causes, sizeof *fit->cause, by_explained);
    return status;
}
