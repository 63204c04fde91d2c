// SPDX-License-Identifier: Apache-2.0
// Goodput by simulated months, which stands beside the formulas and shares nothing with them but the rates: crashes,
// recovery that a crash begins anew, checkpoints that hold only when they are written, servers in repair. Degraded and
// stalled time is the union of drawn intervals; it is taken to be spread evenly over the work of the month.
#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "goodput/goodput.h"
#include "weft/random.h"
#include "weft/statistics.h"

static const double S_PER_H = 3600, MONTH_H = 720;
enum { REPAIRS_BEFORE = 5 }; ///< before the month begins, mean times of repair pass

struct month {
    const struct weft_goodput *g;
    struct weft_random draw;
    double now, kept; ///< hours
    double out;       ///< servers in repair
    bool crashed;     ///< and has not recovered yet
    double repair_h;
};

/// Time passes in which servers come back.
static void pass_time(struct month *m, double hours) {
    m->now += hours;
    while (m->out > 0) {
        hours -= weft_random_exponential(&m->draw, m->repair_h / m->out);
        if (hours < 0) break;
        m->out--;
    }
}

/// A part fails, and the job waits until it has servers.
static void crash_job(struct month *m) {
    const struct weft_goodput_conf *c = &m->g->conf;
    double at = weft_random_unit(&m->draw) * weft__goodput_crash_rate(c);
    for (uint32_t i = 0; i < c->parts && at >= 0; i++) {
        if (c->part[i].effect != WEFT_GOODPUT_CRASH) continue;
        at -= c->part[i].count * c->part[i].rate;
        if (at < 0) m->out += c->part[i].servers;
    }
    for (; m->out > (double)c->spares; m->out--)
        m->now += weft_random_exponential(&m->draw, m->repair_h / m->out);
}

/// From recovery, if the job has crashed, to the next crash, or to `end`, which takes nothing: what is not yet written
/// then counts.
static void live_once(struct month *m, double end) {
    const struct weft_goodput *g = m->g;
    double recovery = m->crashed ? g->recovery_s / S_PER_H : 0, interval = g->interval_s / S_PER_H;
    double step = interval + g->write_s / S_PER_H, life = weft_random_exponential(&m->draw, g->mtbf_h);
    double shown = fmin(life, end - m->now), work = fmax(0, shown - recovery);
    m->crashed = life <= end - m->now;
    if (m->crashed)
        m->kept += floor(fmax(0, work - g->lag_s / S_PER_H) / step) * interval;
    else
        m->kept += work / step * interval;
    pass_time(m, shown);
    if (m->crashed) crash_job(m);
}

/// Share of a month in which a part of the class is down.
static double draw_down(struct month *m, const struct weft_goodput_part *p) {
    double each = (double)p->duration_ps / WEFT_PS_PER_S / S_PER_H, rate = p->count * p->rate, until = 0, down = 0;
    if (!(rate > 0) || !(each > 0)) return 0;
    for (double t = -each + weft_random_exponential(&m->draw, 1 / rate); t < MONTH_H;
         t += weft_random_exponential(&m->draw, 1 / rate)) {
        double from = fmax(fmax(t, until), 0), to = fmin(t + each, MONTH_H);
        if (to > from) down += to - from;
        until = fmax(until, t + each);
    }
    return down / MONTH_H;
}

static double simulate_month(struct month *m) {
    const struct weft_goodput_conf *c = &m->g->conf;
    double share = 1, start = REPAIRS_BEFORE * m->repair_h;
    m->now = m->out = 0;
    m->crashed = false;
    while (m->now < start)
        live_once(m, start);
    double begin = m->now;
    m->kept = 0;
    while (m->now < begin + MONTH_H)
        live_once(m, begin + MONTH_H);
    for (uint32_t i = 0; i < c->parts; i++) {
        const struct weft_goodput_part *p = &c->part[i];
        if (p->effect == WEFT_GOODPUT_DEGRADE) share *= 1 - draw_down(m, p) * (1 - 1 / p->slowdown);
        if (p->effect == WEFT_GOODPUT_STALL) share *= 1 - draw_down(m, p);
    }
    return m->kept / (m->now - begin) * share;
}

/// As many months as have no more draws than take some seconds.
static uint32_t months_within(const struct weft_goodput *g) {
    static const double draws_max = 1e7;
    double draws = 1 / g->mtbf_h, months = (double)g->conf.months;
    for (uint32_t i = 0; i < g->conf.parts; i++) {
        const struct weft_goodput_part *p = &g->conf.part[i];
        if (p->effect != WEFT_GOODPUT_CRASH && p->duration_ps) draws += p->count * p->rate;
    }
    return (uint32_t)fmin(months, draws_max / (draws * MONTH_H));
}

WEFT__ORDER(by_value, double, (*x > *y) - (*x < *y))

void weft__goodput_simulate(struct weft_goodput *g, struct weft_arena *arena) {
    uint32_t n = months_within(g);
    g->simulated = g->simulated_half = g->month_low = g->month_high = NAN;
    if (n < 2) return;
    double *month = weft_arena_alloc(arena, n, sizeof *month);
    for (uint32_t i = 0; i < n; i++) {
        struct month m = {.g = g,
                          .draw = weft_random_stream(g->conf.seed, i, WEFT_RANDOM_FAILURE),
                          .repair_h = (double)g->conf.repair_ps / WEFT_PS_PER_S / S_PER_H};
        month[i] = simulate_month(&m);
    }
    struct weft_spread spread = weft_spread_of(month, n, arena);
    g->simulated = spread.mean;
    g->simulated_half = spread.half;
    qsort(month, n, sizeof *month, by_value);
    g->month_low = month[(uint32_t)(0.05 * (n - 1))];
    g->month_high = month[n - 1 - (uint32_t)(0.05 * (n - 1))];
}
