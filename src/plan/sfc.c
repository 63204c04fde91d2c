// SPDX-License-Identifier: Apache-2.0
// Thresholds and pause times of Source Flow Control as "SFC simulation" (IEEE P802.1Qdw; L. Chen, P. Congdon, L. Lv,
// R. Sivakolundu), part 4 and 5, computes them, the inequalities numbered as there:
//   round trip = link delay x links x 2 + switch delay x (links there + links there - 1)
//   (1) PFC threshold - SFC threshold > (N - 1) x round trip x rate       or SFC reacts too slowly
//   (2) pause x rate > headroom of (1)                                    or it under-reacts: the pause is too short
//   (3) pause x rate < headroom of (1) + SFC threshold                    or it over-reacts: the pause is too long
// With virtual output queues the study has the threshold computed per input, without a formula: each of N queues gets
// an Nth, so that SFC acts when all together hold the threshold. Differences. Equality is allowed, as in the study's
// own cases 4.4 to 4.6. The study gives limits of thresholds and pauses, but not which to choose; the choice made here
// is our own (include/weft/plan.h). Its cases 4.1 and 4.2 print upper pause limits of 13.6 us and 13.2 us, which by (3)
// belong to SFC thresholds of 300 KB and 250 KB, not of 200 KB as printed (9.6 us and 11.2 us). For a scenario the
// headroom of PFC is that of formula bound, as in weft plan pfc and plan buffers: the study's leaves out frames and the
// reaction time. Its basic settings of part 5 name a pause of 6 us, its parameters and cases 10 us.
#include "base/units.h"
#include "weft/param.h"
#include "weft/plan.h"

const char *const weft_plan_warning_names[] = {"lossy", "too_slow", "under_reacting", "over_reacting"};

static const char *sfc_check(const void *conf, char *text, size_t size) {
    const struct weft_plan_sfc_conf *c = conf;
    const char *wrong =
        weft__bytes_above("pfc_threshold", c->pfc_threshold_bytes, "buffer", c->buffer_bytes, text, size);
    return wrong ? wrong : weft__bytes_above("threshold", c->threshold_bytes, "buffer", c->buffer_bytes, text, size);
}
const struct weft_param_table weft_plan_sfc_table = WEFT_PARAM_TABLE_OF(
    "plan sfc", struct weft_plan_sfc_conf, .check = sfc_check,
    WEFT_RATE(struct weft_plan_sfc_conf, rate_bps, "rate", NULL, "10Mbps", "100Tbps", "rate of the links"),
    WEFT_TIME(struct weft_plan_sfc_conf, delay_ps, "delay", NULL, "0ns", "100ms", "of a link, one way"),
    WEFT_TIME(struct weft_plan_sfc_conf, processing_ps, "processing", NULL, "0ns", "1ms", "fixed delay of a switch"),
    WEFT_UINT(struct weft_plan_sfc_conf, layers, "layers", NULL, "1", "16", "of switches"),
    WEFT_UINT(struct weft_plan_sfc_conf, incast, "incast", NULL, "2", "65536", "senders to one receiver"),
    WEFT_BYTES(struct weft_plan_sfc_conf, buffer_bytes, "buffer", NULL, "1B", "1TB", "of the port and priority"),
    WEFT_BYTES(struct weft_plan_sfc_conf, pfc_threshold_bytes, "pfc_threshold", "0B", "0B", "1TB",
               "0B: the highest that the headroom of PFC allows"),
    WEFT_BYTES(struct weft_plan_sfc_conf, threshold_bytes, "threshold", "0B", "0B", "1TB",
               "of SFC; 0B: three quarters of the highest that is allowed"),
    WEFT_TIME(struct weft_plan_sfc_conf, pause_ps, "pause", "0ns", "0ns", "1s",
              "time of a pause; 0ns: the middle of the range"),
    WEFT_TIME(struct weft_plan_sfc_conf, interval_ps, "interval", "0ns", "0ns", "1s",
              "least time between two messages; 0ns: the pause, as in the study"),
    WEFT_BOOL(struct weft_plan_sfc_conf, best_effort, "best_effort", "false",
              "no PFC: the end of the buffer takes the place of its threshold"));

struct weft_plan_path weft_plan_calc_path(uint64_t layers, weft_time_ps delay, weft_time_ps processing) {
    uint32_t links = (uint32_t)(2 * layers - 1), passes = 2 * links - 1;
    return (struct weft_plan_path){links, passes, 2 * links * delay + passes * processing};
}

/// Three quarters of the highest, in whole KB if possible.
static weft_bytes choose_threshold(weft_bytes max) {
    weft_bytes part = max / 4 * 3;
    return part >= 1000 ? part / 1000 * 1000 : part;
}

/// The middle, rounded to whole us, or else to whole 100 ns, if that is in range.
static weft_time_ps choose_pause(weft_time_ps min, weft_time_ps max) {
    weft_time_ps middle = min + (max - min) / 2;
    for (weft_time_ps step = WEFT_PS_PER_US; step >= 100 * WEFT_PS_PER_NS; step /= 10) {
        weft_time_ps round = (middle + step / 2) / step * step;
        if (round >= min && round <= max) return round;
    }
    return middle;
}

static uint32_t judge_sfc(const struct weft_plan_sfc *p, weft_bytes buffer) {
    uint32_t warnings = 0;
    if (p->pfc_threshold_bytes + p->pfc_headroom_bytes > buffer) warnings |= WEFT_PLAN_LOSSY;
    if (p->threshold_bytes + p->headroom_bytes > p->pfc_threshold_bytes || !p->threshold_bytes)
        warnings |= WEFT_PLAN_TOO_SLOW;
    if (p->pause_ps < p->pause_ps_min) warnings |= WEFT_PLAN_UNDER_REACTING;
    if (p->pause_ps > p->pause_ps_max) warnings |= WEFT_PLAN_OVER_REACTING;
    return warnings;
}

struct weft_plan_sfc weft_plan_calc_sfc(const struct weft_plan_sfc_conf *c, const struct weft_plan_path *path) {
    struct weft_plan_sfc p = {.path = path ? *path : weft_plan_calc_path(c->layers, c->delay_ps, c->processing_ps)};
    if (!c->best_effort) p.pfc_headroom_bytes = c->pfc_headroom_bytes;
    if (!c->best_effort && !p.pfc_headroom_bytes)
        p.pfc_headroom_bytes = weft_plan_calc_bytes(c->rate_bps, 2 * c->delay_ps + c->processing_ps);
    if (p.pfc_headroom_bytes < c->buffer_bytes) p.pfc_threshold_bytes_max = c->buffer_bytes - p.pfc_headroom_bytes;
    p.pfc_threshold_bytes =
        c->pfc_threshold_bytes && !c->best_effort ? c->pfc_threshold_bytes : p.pfc_threshold_bytes_max;
    p.excess_bytes = weft_plan_calc_bytes(c->rate_bps, p.path.round_trip_ps);
    p.headroom_bytes = (c->incast - 1) * p.excess_bytes;
    if (p.headroom_bytes < p.pfc_threshold_bytes) p.threshold_bytes_max = p.pfc_threshold_bytes - p.headroom_bytes;
    p.threshold_bytes = c->threshold_bytes ? c->threshold_bytes : choose_threshold(p.threshold_bytes_max);
    p.input_threshold_bytes = p.threshold_bytes / c->incast;
    p.pause_ps_min = weft_plan_calc_time_up(c->rate_bps, p.headroom_bytes);
    p.pause_ps_max = weft_plan_calc_time_down(c->rate_bps, p.headroom_bytes + p.threshold_bytes);
    if (p.pause_ps_max < p.pause_ps_min) p.pause_ps_max = p.pause_ps_min; // no threshold, plus rounding
    p.pause_ps = c->pause_ps ? c->pause_ps : choose_pause(p.pause_ps_min, p.pause_ps_max);
    p.interval_ps = c->interval_ps ? c->interval_ps : p.pause_ps;
    p.warnings = judge_sfc(&p, c->buffer_bytes);
    return p;
}
