// SPDX-License-Identifier: Apache-2.0
#include "cc/delay_window.h"

#include <math.h>
#include <stdio.h>

#include "weft/packet.h"

const char *weft__delay_conf_check(const struct weft__delay_conf *c, char *text, size_t size) {
    if (c->fs_min_cwnd >= c->fs_max_cwnd)
        snprintf(text, size, "fs_min_cwnd (%g) is not below fs_max_cwnd (%g)", c->fs_min_cwnd, c->fs_max_cwnd);
    else if (c->initial_cwnd < c->min_cwnd || c->initial_cwnd > c->max_cwnd)
        snprintf(text, size, "initial_cwnd (%g) is not between min_cwnd (%g) and max_cwnd (%g)", c->initial_cwnd,
                 c->min_cwnd, c->max_cwnd);
    else
        return NULL;
    return text;
}

double weft__delay_target_ps(const struct weft__delay_window *s, const struct weft__delay_conf *c) {
    double range = (double)c->fs_range_ps, least = 1 / sqrt(c->fs_max_cwnd);
    double scaled = range * (1 / sqrt(s->cwnd) - least) / (1 / sqrt(c->fs_min_cwnd) - least);
    scaled = scaled < 0 ? 0 : scaled > range ? range : scaled;
    return (double)(c->base_ps + c->hops * c->hop_ps) + scaled;
}

static void answer_act(struct weft__delay_window *s, const struct weft__delay_conf *c, const struct weft_cc_fact *fact,
                       struct weft_cc_act *act) {
    s->cwnd = s->cwnd < c->min_cwnd ? c->min_cwnd : s->cwnd > c->max_cwnd ? c->max_cwnd : s->cwnd;
    act->rate_bps = fact->line_rate_bps;
    act->window_bytes = (weft_bytes)(s->cwnd < 1 ? 1 : s->cwnd) * fact->packet_bytes;
    if (s->cwnd >= 1 || !s->delay_ps) return;
    double bits = 8.0 * (fact->packet_bytes + WEFT_FRAME_DATA + WEFT_WIRE_OVERHEAD);
    double rate = bits * s->cwnd * (double)WEFT_PS_PER_S / (double)s->delay_ps;
    if (rate < (double)fact->line_rate_bps) act->rate_bps = rate < 1 ? 1 : (weft_rate_bps)rate;
}

void weft__delay_start(struct weft__delay_window *s, const struct weft__delay_conf *c, const struct weft_cc_fact *fact,
                       struct weft_cc_act *act) {
    *s = (struct weft__delay_window){.cwnd = c->initial_cwnd, .cut_ps = fact->now_ps};
    act->timer_ps = WEFT_TIME_NEVER;
    answer_act(s, c, fact, act);
}

/// Multiplies the window by `part`, unless the last cut is less than an RTT ago.
static void cut_window(struct weft__delay_window *s, weft_time_ps now, double part) {
    if (now - s->cut_ps < s->delay_ps) return;
    s->cwnd *= part;
    s->cut_ps = now;
}

void weft__delay_ack(struct weft__delay_window *s, const struct weft__delay_conf *c, const struct weft_cc_fact *fact,
                     struct weft_cc_act *act) {
    if (fact->rtt_ps) s->delay_ps = fact->rtt_ps;
    double delay = (double)s->delay_ps, target = weft__delay_target_ps(s, c);
    double packets = (double)fact->bytes / fact->packet_bytes;
    if (delay < target) {
        s->cwnd += c->ai * packets / (s->cwnd < 1 ? 1 : s->cwnd);
    } else {
        double part = 1 - c->beta * (delay - target) / delay;
        cut_window(s, fact->now_ps, part < 1 - c->max_mdf ? 1 - c->max_mdf : part);
    }
    answer_act(s, c, fact, act);
}

void weft__delay_loss(struct weft__delay_window *s, const struct weft__delay_conf *c, const struct weft_cc_fact *fact,
                      struct weft_cc_act *act) {
    if (fact->timeouts >= c->timeouts)
        s->cwnd = c->min_cwnd;
    else
        cut_window(s, fact->now_ps, 1 - c->max_mdf);
    answer_act(s, c, fact, act);
}

const char *weft__delay_check(const struct weft__delay_window *s, const struct weft__delay_conf *c,
                              const struct weft_cc_act *act) {
    if (!(s->cwnd >= c->min_cwnd && s->cwnd <= c->max_cwnd)) return "the window is out of its bounds";
    if (!act->rate_bps || !act->window_bytes) return "nothing could be sent";
    return NULL;
}
