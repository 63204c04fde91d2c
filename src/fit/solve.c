// SPDX-License-Identifier: Apache-2.0
// Least squares by Levenberg and Marquardt's method with bounds: D. Marquardt, "An algorithm for least-squares
// estimation of nonlinear parameters", J. SIAM 11, 1963. Residuals are logarithms of predicted over measured time, and
// each constant's distance from its expectation over its width (Bayes: a normal prior). Tables have single times that
// no constant explains, so residuals count by Cauchy's law (P. Holland, R. Welsch, "Robust regression using iteratively
// reweighted least-squares", Communications in Statistics 6, 1977): a far one pulls less than a near one. Derivatives
// are differences between runs, in which constants are varied together on which no row depends in common; from step to
// step they are updated (C. Broyden, "A class of methods for solving nonlinear simultaneous equations", Mathematics of
// Computation 19, 1965), and measured again where that gains nothing.
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "fit/fit.h"

enum { CONSTANTS_MAX = 32, ROUNDS = 12, TRIES = 5 };
static const double noise = 0.05; ///< of a measured time beside a perfect model, relative (assumed)
/// Cauchy's, of the noise: 95% as efficient as squares if errors are normal. The search begins at the class, so of two
/// times that contradict each other the one nearer to it holds; squares first would meet between them.
static const double far = 2.385;
static const double step = 0.05;      ///< of a constant's width, for a difference
static const double touched = 1e-5;   ///< a logarithm of time that has changed
static const double enough = 2e-3;    ///< a relative gain below which the search ends
static const double determined = 0.5; ///< of the width, and of the value itself, that is left

struct solver {
    const struct weft_fit_conf *conf;
    struct weft_fit *fit;
    double *now, *then, *slope; ///< [rows]; slope: [constants * rows]
    bool *wanted;               ///< [rows]: of a run of derivatives
    uint32_t *run;              ///< [constants]: in which run of derivatives; WEFT_NONE: no row depends on it
    uint32_t runs;
    double hessian[CONSTANTS_MAX][CONSTANTS_MAX], gradient[CONSTANTS_MAX];
};

static bool row_counts(const struct weft_fit *fit, uint32_t row) {
    return fit->row[row].use == WEFT_FIT_FITTED;
}

static double residual_of(const struct weft_fit *fit, const double *log_time, uint32_t row) {
    return log_time[row] - log(fit->row[row].measured_us);
}

/// Of a residual in the equations: how much of it still counts.
static double weight_of(double residual) {
    return 1 / (1 + pow(residual / (far * noise), 2));
}

static double cost_of(const struct weft_fit *fit, const double *log_time) {
    double sum = 0;
    for (uint32_t i = 0; i < fit->rows; i++)
        if (row_counts(fit, i)) sum -= far * far * log(weight_of(residual_of(fit, log_time, i)));
    for (uint32_t k = 0; k < fit->constants; k++) {
        const struct weft_fit_constant *c = &fit->constant[k];
        sum += pow((c->at - c->expected) / c->width, 2);
    }
    return sum;
}

/// Runs with constants of one run of derivatives moved, and notes the slopes of the rows that depend on each.
static enum weft_status vary_constants(struct solver *s, uint32_t run, bool probe, struct weft_error *ret_error) {
    struct weft_fit *fit = s->fit;
    for (uint32_t k = 0; k < fit->constants; k++)
        if (s->run[k] == run) fit->constant[k].at += step * fit->constant[k].width;
    bool *wanted = s->wanted;
    for (uint32_t i = 0; i < fit->rows; i++) {
        wanted[i] = probe;
        for (uint32_t k = 0; k < fit->constants; k++)
            wanted[i] |= s->run[k] == run && s->slope[(size_t)k * fit->rows + i] != 0;
        s->then[i] = s->now[i];
    }
    enum weft_status status = weft__fit_run(s->conf, fit, wanted, s->then, ret_error);
    for (uint32_t k = 0; k < fit->constants; k++) {
        struct weft_fit_constant *c = &fit->constant[k];
        if (s->run[k] != run) continue;
        double *slope = &s->slope[(size_t)k * fit->rows];
        c->at -= step * c->width;
        for (uint32_t i = 0; i < fit->rows && !status; i++) {
            bool depends = probe ? fabs(s->then[i] - s->now[i]) > touched : slope[i] != 0; // of runs that are exact
            slope[i] = depends ? (s->then[i] - s->now[i]) / (step * c->width) : 0;
            if (depends && slope[i] == 0) slope[i] = 1e-12; // still depends
        }
    }
    return status;
}

static bool rows_overlap(const struct solver *s, uint32_t a, uint32_t b) {
    const double *x = &s->slope[(size_t)a * s->fit->rows], *y = &s->slope[(size_t)b * s->fit->rows];
    for (uint32_t i = 0; i < s->fit->rows; i++)
        if (x[i] != 0 && y[i] != 0) return true;
    return false;
}

/// In NVLS, NVLink's rate and that of the reduction in its switch bound the same bytes, and no time tells which. So the
/// rate is fitted if it moves a time of another algorithm by more than the noise, over its width.
static bool is_hidden(const struct solver *s, uint32_t k) {
    const struct weft_fit *fit = s->fit;
    if (strcmp(fit->constant[k].key, "rate") != 0) return false;
    for (uint32_t i = 0; i < fit->rows; i++) {
        const char *algorithm = fit->row[i].algorithm;
        bool by_nvls = algorithm && !strcmp(algorithm, weft_nccl_algorithm_names[WEFT_NCCL_NVLS]);
        double moves = fabs(s->slope[(size_t)k * fit->rows + i]) * fit->constant[k].width;
        if (row_counts(fit, i) && !by_nvls && moves > noise) return false;
    }
    return true;
}

/// Finds which rows depend on which constants, by varying each alone, and puts those without common rows together.
static enum weft_status find_dependence(struct solver *s, struct weft_error *ret_error) {
    struct weft_fit *fit = s->fit;
    enum weft_status status = WEFT_OK;
    for (uint32_t k = 0; k < fit->constants && !status; k++) {
        memset(s->run, 0xff, fit->constants * sizeof *s->run);
        s->run[k] = 0;
        status = vary_constants(s, 0, true, ret_error);
    }
    for (uint32_t k = 0; k < fit->constants; k++) {
        fit->constant[k].used = 0;
        for (uint32_t i = 0; i < fit->rows; i++)
            fit->constant[k].used += row_counts(fit, i) && s->slope[(size_t)k * fit->rows + i] != 0;
        if (!is_hidden(s, k)) continue;
        fit->constant[k].used = 0;
        memset(&s->slope[(size_t)k * fit->rows], 0, fit->rows * sizeof *s->slope);
    }
    memset(s->run, 0xff, fit->constants * sizeof *s->run);
    for (uint32_t k = 0; k < fit->constants; k++) {
        uint32_t run = 0;
        for (uint32_t other = 0; other < k; other++)
            if (s->run[other] == run && rows_overlap(s, k, other)) {
                run++;
                other = WEFT_NONE;
            }
        if (fit->constant[k].used) s->run[k] = run;
        if (fit->constant[k].used && run >= s->runs) s->runs = run + 1;
    }
    return status;
}

static void fill_equations(struct solver *s) {
    const struct weft_fit *fit = s->fit;
    memset(s->hessian, 0, sizeof s->hessian);
    for (uint32_t k = 0; k < fit->constants; k++) {
        const struct weft_fit_constant *c = &fit->constant[k];
        s->hessian[k][k] = 1 / (c->width * c->width);
        s->gradient[k] = (c->at - c->expected) / (c->width * c->width);
        for (uint32_t i = 0; i < fit->rows; i++) {
            if (!row_counts(fit, i)) continue;
            double residual = residual_of(fit, s->now, i);
            double slope = s->slope[(size_t)k * fit->rows + i] / noise * weight_of(residual);
            s->gradient[k] += slope * residual / noise;
            for (uint32_t other = 0; other < fit->constants; other++)
                s->hessian[k][other] += slope * s->slope[(size_t)other * fit->rows + i] / noise;
        }
    }
}

/// Solves m x = b for a symmetric positive m by Cholesky's method; rows and columns that are not `free` are left out.
static void solve_equations(uint32_t n, double m[CONSTANTS_MAX][CONSTANTS_MAX], const double *b, const bool *free_of,
                            double *x) {
    double l[CONSTANTS_MAX][CONSTANTS_MAX] = {{0}};
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j <= i; j++) {
            double sum = !free_of[i] || !free_of[j] ? i == j : m[i][j];
            for (uint32_t k = 0; k < j; k++)
                sum -= l[i][k] * l[j][k];
            l[i][j] = i == j ? sqrt(sum > 0 ? sum : 1e-300) : sum / l[j][j];
        }
    for (uint32_t i = 0; i < n; i++) {
        x[i] = free_of[i] ? b[i] : 0;
        for (uint32_t k = 0; k < i; k++)
            x[i] -= l[i][k] * x[k];
        x[i] /= l[i][i];
    }
    for (uint32_t i = n; i-- > 0;) {
        for (uint32_t k = i + 1; k < n; k++)
            x[i] -= l[k][i] * x[k];
        x[i] /= l[i][i];
    }
}

/// A step with this damping; a constant at its bound that would pass it stays there.
static void take_step(struct solver *s, double damping) {
    struct weft_fit *fit = s->fit;
    double m[CONSTANTS_MAX][CONSTANTS_MAX], delta[CONSTANTS_MAX], against[CONSTANTS_MAX] = {0};
    bool free_of[CONSTANTS_MAX] = {0};
    memcpy(m, s->hessian, sizeof m);
    for (uint32_t k = 0; k < fit->constants; k++) {
        const struct weft_fit_constant *c = &fit->constant[k];
        m[k][k] *= 1 + damping;
        against[k] = -s->gradient[k];
        free_of[k] = c->used && !(c->at <= c->least && s->gradient[k] > 0);
    }
    solve_equations(fit->constants, m, against, free_of, delta);
    for (uint32_t k = 0; k < fit->constants; k++) {
        struct weft_fit_constant *c = &fit->constant[k];
        c->at += delta[k];
        if (c->at < c->least) c->at = c->least;
    }
}

/// Slopes after a step from `before`, by Broyden's method: the least change with which they give the times found. A row
/// that does not depend on a constant keeps to that.
static void update_slopes(struct solver *s, const double *before, const double *was) {
    const struct weft_fit *fit = s->fit;
    for (uint32_t i = 0; i < fit->rows; i++) {
        double off = s->now[i] - was[i], length = 0;
        for (uint32_t k = 0; k < fit->constants; k++) {
            const struct weft_fit_constant *c = &fit->constant[k];
            double slope = s->slope[(size_t)k * fit->rows + i];
            off -= slope * (c->at - before[k]);
            if (slope != 0) length += pow((c->at - before[k]) / c->width, 2);
        }
        for (uint32_t k = 0; k < fit->constants && length > 0; k++) {
            const struct weft_fit_constant *c = &fit->constant[k];
            double *slope = &s->slope[(size_t)k * fit->rows + i];
            if (*slope != 0) *slope += off * (c->at - before[k]) / (c->width * c->width) / length;
        }
    }
}

static enum weft_status search_constants(struct solver *s, struct weft_error *ret_error) {
    struct weft_fit *fit = s->fit;
    double cost = cost_of(fit, s->now), damping = 0.01, before[CONSTANTS_MAX];
    enum weft_status status = WEFT_OK;
    bool gains = true, measured = true; // measured: slopes are those of runs here
    for (uint32_t round = 0; round < ROUNDS && (gains || !measured) && !status; round++) {
        bool measure = !gains;
        for (uint32_t r = 0; r < s->runs && !status && measure; r++)
            status = vary_constants(s, r, false, ret_error);
        measured = measure || !round;
        fill_equations(s);
        for (uint32_t k = 0; k < fit->constants; k++)
            before[k] = fit->constant[k].at;
        gains = false;
        for (uint32_t try = 0; try < (measured ? TRIES : 1) && !gains && !status; try++) {
            take_step(s, damping);
            status = weft__fit_run(s->conf, fit, NULL, s->then, ret_error);
            double then = cost_of(fit, s->then);
            gains = then < cost * (1 - enough);
            bool better = then < cost;
            for (uint32_t k = 0; k < fit->constants && !better; k++)
                fit->constant[k].at = before[k];
            damping *= better ? 0.2 : 8;
            if (!better) continue;
            cost = then;
            double *was = s->now;
            s->now = s->then;
            s->then = was;
            update_slopes(s, before, was);
            if (!gains) break;
        }
    }
    return status;
}

/// Deviations, from the inverse of the equations, of a noise as large as what is left unexplained, if that is more.
static void find_deviations(struct solver *s) {
    struct weft_fit *fit = s->fit;
    double sum = 0, unit[CONSTANTS_MAX], column[CONSTANTS_MAX];
    bool free_of[CONSTANTS_MAX] = {0};
    uint32_t rows = 0, used = 0;
    for (uint32_t i = 0; i < fit->rows; i++) {
        if (!row_counts(fit, i)) continue;
        sum += pow(residual_of(fit, s->now, i) / noise, 2) * weight_of(residual_of(fit, s->now, i));
        rows++;
    }
    for (uint32_t k = 0; k < fit->constants; k++)
        used += free_of[k] = fit->constant[k].used > 0;
    double excess = rows > used ? sum / (rows - used) : 1;
    fill_equations(s);
    for (uint32_t k = 0; k < fit->constants; k++)
        for (uint32_t other = 0; other < fit->constants && excess > 1; other++) {
            double own = k == other ? 1 / (fit->constant[k].width * fit->constant[k].width) : 0;
            s->hessian[k][other] = own + (s->hessian[k][other] - own) / excess;
        }
    for (uint32_t k = 0; k < fit->constants; k++) {
        struct weft_fit_constant *c = &fit->constant[k];
        if (!c->used) continue;
        memset(unit, 0, sizeof unit);
        unit[k] = 1;
        solve_equations(fit->constants, s->hessian, unit, free_of, column);
        c->error = sqrt(column[k]);
        c->determined = c->error < determined * fmin(c->width, c->at) && c->at > c->least; // a bound is no finding
        c->value = c->rate ? 8e3 / c->at : c->at;
        c->deviation = c->rate ? c->value * c->error / c->at : c->error;
    }
}

enum weft_status weft__fit_solve(const struct weft_fit_conf *conf, struct weft_fit *fit, double *log_time,
                                 struct weft_error *ret_error) {
    assert(fit->constants <= CONSTANTS_MAX);
    struct solver *s = weft_arena_alloc(fit->arena, 1, sizeof *s);
    s->conf = conf;
    s->fit = fit;
    s->now = weft_arena_alloc(fit->arena, fit->rows, sizeof *s->now);
    s->then = weft_arena_alloc(fit->arena, fit->rows, sizeof *s->then);
    s->slope = weft_arena_alloc(fit->arena, (size_t)fit->constants * fit->rows, sizeof *s->slope);
    s->wanted = weft_arena_alloc(fit->arena, fit->rows, sizeof *s->wanted);
    s->run = weft_arena_alloc(fit->arena, fit->constants, sizeof *s->run);
    for (uint32_t k = 0; k < fit->constants; k++)
        fit->constant[k].used = 1; // the first run has the launch as expected
    enum weft_status status = weft__fit_run(conf, fit, NULL, s->now, ret_error);
    if (!status) status = find_dependence(s, ret_error);
    if (!status) status = search_constants(s, ret_error);
    if (!status) find_deviations(s);
    for (uint32_t i = 0; i < fit->rows; i++)
        log_time[i] = s->now[i];
    return status;
}
