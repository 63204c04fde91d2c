// SPDX-License-Identifier: Apache-2.0
// The formulas of advice, without a scenario.
#include <math.h>

#include "weft/advice.h"

const char *const weft_advice_names[] = {"ecn", "dcqcn", "sfc", "admission", "buffers", NULL};

weft_bytes weft_advice_calc_ecn_dynamic(weft_bytes shared, double alpha, uint32_t ports, uint32_t priorities) {
    return (weft_bytes)(alpha * (double)shared / (ports * (1 + priorities * alpha)));
}

weft_bytes weft_advice_calc_ecn_fixed(weft_bytes xoff, uint32_t ports) {
    return xoff / ports;
}

double weft_advice_calc_alpha(weft_bytes shared, weft_bytes kmin, uint32_t ports, uint32_t priorities) {
    double rest = (double)shared - (double)priorities * ports * (double)kmin;
    return rest > 0 ? ports * (double)kmin / rest : 0;
}

struct packets {
    double rate, increase, counter, timer_s, interval_s, flows;
};

static struct packets packets_of(const struct weft_advice_dcqcn *d) {
    double bits = 8 * (double)d->frame_bytes;
    return (struct packets){.rate = (double)d->rate_bps / bits,
                            .increase = (double)d->increase_bps / bits,
                            .counter = (double)d->counter_bytes / (double)d->frame_bytes,
                            .timer_s = (double)d->timer_ps / (double)WEFT_PS_PER_S,
                            .interval_s = (double)d->interval_ps / (double)WEFT_PS_PER_S,
                            .flows = (double)d->flows};
}

/// The value of p*^3 for each packet per second of R_AI.
static double cube_of(const struct packets *p) {
    double events = (p->counter > 0 ? 1 / p->counter : 0) + p->flows / (p->timer_s * p->rate);
    return p->flows * p->flows / (p->interval_s * p->rate * p->rate) * events * events;
}

double weft_advice_calc_marks(const struct weft_advice_dcqcn *dcqcn) {
    struct packets p = packets_of(dcqcn);
    return cbrt(p.increase * cube_of(&p));
}

weft_rate_bps weft_advice_calc_increase(const struct weft_advice_dcqcn *dcqcn, double probability) {
    struct packets p = packets_of(dcqcn);
    double increase = probability * probability * probability / cube_of(&p) * 8 * (double)dcqcn->frame_bytes;
    return increase < (double)dcqcn->rate_bps ? (weft_rate_bps)increase : dcqcn->rate_bps;
}

struct weft_advice_window weft_advice_calc_window(weft_rate_bps rate, weft_time_ps round_trip, weft_bytes xoff,
                                                  uint64_t senders) {
    weft_bytes pipe = weft_plan_calc_bytes(rate, round_trip);
    return (struct weft_advice_window){.most = (pipe + xoff) / senders, .least = (pipe + senders - 1) / senders};
}
