// SPDX-License-Identifier: Apache-2.0
// Goodput by formula. See weft/goodput.h for sources.
#include <math.h>

#include "goodput/goodput.h"

static const double S_PER_H = 3600, MONTH_H = 720;

double weft_goodput_renewal(double mtbf, double write, double interval, double recovery) {
    return interval / mtbf * exp(-recovery / mtbf) / expm1((interval + write) / mtbf);
}

double weft_goodput_first_order(double mtbf, double write, double interval, double recovery) {
    return (1 - (recovery + interval / 2) / mtbf) / (1 + write / interval);
}

double weft__goodput_crash_rate(const struct weft_goodput_conf *c) {
    double rate = 0;
    for (uint32_t i = 0; i < c->parts; i++)
        if (c->part[i].effect == WEFT_GOODPUT_CRASH) rate += c->part[i].count * c->part[i].rate;
    return rate;
}

/// The interval, at least `least`, with the greatest share kept, by golden section: the share has one maximum.
static double best_interval(double mtbf, double write, double recovery, double least) {
    const double golden = (sqrt(5) - 1) / 2;
    double a = log(least), b = log(fmax(least, 20 * (sqrt(2 * write * mtbf) + least)));
    for (int i = 0; i < 80; i++) {
        double x = b - golden * (b - a), y = a + golden * (b - a);
        if (weft_goodput_renewal(mtbf, write, exp(x), recovery) > weft_goodput_renewal(mtbf, write, exp(y), recovery))
            b = y;
        else
            a = x;
    }
    return exp((a + b) / 2);
}

/// Share of time in which at most `spares` servers are in repair. Each crash takes servers out; each comes back after
/// an exponential time; with more out than spares the job waits and does not crash. What crosses from at most k servers
/// to more is what comes back from k + 1 to k.
static double staffed_share(const struct weft_goodput_conf *c, struct weft_arena *arena) {
    uint32_t most = 0, spares = (uint32_t)c->spares;
    for (uint32_t i = 0; i < c->parts; i++)
        if (c->part[i].effect == WEFT_GOODPUT_CRASH && c->part[i].rate > 0 && c->part[i].servers > most)
            most = (uint32_t)c->part[i].servers;
    double repair_h = (double)c->repair_ps / WEFT_PS_PER_S / S_PER_H;
    double *p = weft_arena_alloc(arena, spares + most + 1, sizeof *p), sum = 1, up = 1;
    p[0] = 1;
    for (uint32_t k = 0; k < spares + most; k++) {
        double crossing = 0;
        for (uint32_t i = 0; i < c->parts; i++) {
            const struct weft_goodput_part *part = &c->part[i];
            if (part->effect != WEFT_GOODPUT_CRASH) continue;
            for (uint32_t j = k + 1 > part->servers ? k + 1 - (uint32_t)part->servers : 0; j <= k && j <= spares; j++)
                crossing += p[j] * part->count * part->rate;
        }
        p[k + 1] = crossing * repair_h / (k + 1);
        sum += p[k + 1];
        if (k < spares) up += p[k + 1];
        if (k > 10 * most && k < spares && p[k + 1] < 1e-30 * sum) return 1; // so many are never out
        if (sum < 1e200) continue;
        for (uint32_t j = 0; j <= k + 1; j++)
            p[j] /= sum;
        up /= sum;
        sum = 1;
    }
    return up / sum;
}

/// Share of time in which at least one part of the class is down.
static double down_share(const struct weft_goodput_part *p) {
    return -expm1(-p->count * p->rate * (double)p->duration_ps / WEFT_PS_PER_S / S_PER_H);
}

static void find_speed(struct weft_goodput *g) {
    double square = 0;
    g->speed = g->moving = 1;
    for (uint32_t i = 0; i < g->conf.parts; i++) {
        const struct weft_goodput_part *p = &g->conf.part[i];
        double down = down_share(p), left = 1 - down * (1 - 1 / p->slowdown);
        if (p->effect == WEFT_GOODPUT_STALL) g->moving *= 1 - down;
        if (p->effect != WEFT_GOODPUT_DEGRADE) continue;
        g->speed *= left;
        double half = down / (p->slowdown * p->slowdown * left) * p->slowdown_half;
        if (isfinite(half)) square += half * half;
    }
    g->half = sqrt(square);
}

/// All but what is simulated, and what parts cost.
static void find_formulas(const struct weft_goodput_conf *c, struct weft_arena *arena, struct weft_goodput *g) {
    *g = (struct weft_goodput){.conf = *c};
    double rate = weft__goodput_crash_rate(c), write_s = (double)c->state_bytes * 8 / (double)c->store_bps;
    g->mtbf_h = rate > 0 ? 1 / rate : 1e9; // beyond any job
    g->write_s = write_s * c->blocking;
    g->lag_s = write_s - g->write_s;
    g->recovery_s = (double)(c->detect_ps + c->restart_ps) / WEFT_PS_PER_S;
    double mtbf = g->mtbf_h * S_PER_H, lost = g->recovery_s + g->lag_s;
    g->young_s = sqrt(2 * g->write_s * mtbf);
    g->available_s = g->write_s + sqrt(2 * (mtbf + g->recovery_s) * g->write_s + g->write_s * g->write_s);
    g->interval_s = c->interval_ps ? (double)c->interval_ps / WEFT_PS_PER_S
                                   : best_interval(mtbf, g->write_s, lost, fmax(1, g->lag_s));
    g->renewal = weft_goodput_renewal(mtbf, g->write_s, g->interval_s, lost);
    g->first_order = weft_goodput_first_order(mtbf, g->write_s, g->interval_s, lost);
    g->staffed = staffed_share(c, arena);
    find_speed(g);
    g->goodput = g->renewal * g->staffed * g->speed * g->moving;
    g->half *= g->goodput;
}

void weft_goodput_find(const struct weft_goodput_conf *conf, struct weft_arena *arena, struct weft_goodput *ret) {
    find_formulas(conf, arena, ret);
    struct weft_goodput without;
    for (uint32_t i = 0; i < conf->parts; i++) {
        struct weft_goodput_part *p = &conf->part[i];
        double rate = p->rate;
        p->failures_month = p->count * rate * MONTH_H;
        p->rate = 0;
        find_formulas(conf, arena, &without);
        p->rate = rate;
        p->cost = without.goodput - ret->goodput;
    }
    weft__goodput_simulate(ret, arena);
}
