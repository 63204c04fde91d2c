// SPDX-License-Identifier: Apache-2.0
// TimeSync of a TiN.
//
// Source: Gibson et al., "Aquila: A unified, low-latency fabric for datacenter networks", NSDI'22, appendix B: TimeSync
// ordered sets at a fixed interval, typically about 100 us; a client that accepts one sends downstream at once; an
// ordered set waits up to 128 ns for a cell on the wire, and gives the time of transmission to +-2.5 ns by counting the
// cycles that it waits; the delay of the channel is measured as a round trip when the tree is set up; a message is
// valid by its status bits and by its difference to the current time; enough invalid ones signal a failure, on which
// software acts. Assumed: that +-2.5 ns is half a cycle of the counting clock; that a round trip is counted in the same
// cycles, with a random phase, and is the mean of several; the drift of oscillators, the threshold, the number of
// invalid messages, and the time that software takes.
#include "weft/timesync.h"

#include "weft/param.h"

#define T struct weft_timesync_conf
static const char *timesync_check(const void *conf, char *text, size_t size) {
    const T *c = conf;
    return c->holdover_ps > c->interval_ps ? NULL : "holdover is not longer than interval";
}
const struct weft_param_table weft_timesync_table = WEFT_PARAM_TABLE_OF(
    "timesync", T, .check = timesync_check,
    WEFT_TIME(T, interval_ps, "interval", "100us", "1us", "1s", "interval between TimeSync messages when none arrive"),
    WEFT_TIME(T, step_ps, "step", "5ns", "10ps", "1us",
              "step of the clock that measures how long a message waits; known to half of it, +-2.5ns"),
    WEFT_TIME(T, wait_max_ps, "wait_max", "128ns", "0s", "10us",
              "longest time that a message waits for a gap between cells"),
    WEFT_TIME(T, chip_ps, "chip", "20ns", "0s", "1us", "time from the hardware clock to the port; assumed"),
    WEFT_REAL(T, load, "load", "0.5", "0", "1", "probability that a message finds a cell on the wire; assumed"),
    WEFT_UINT(T, drift_ppb, "drift_ppb", "50000", "0", "1000000",
              "largest error of an oscillator, in 1e-9, evenly distributed; assumed"),
    WEFT_UINT(T, delay_samples, "delay_samples", "64", "1", "1000000",
              "round trips averaged for a channel's delay; assumed"),
    WEFT_TIME(T, threshold_ps, "threshold", "1us", "1ns", "1s",
              "a message that differs by more than this is invalid; assumed"),
    WEFT_UINT(T, invalid_max, "invalid_max", "8", "1", "1000000",
              "invalid messages in a row that signal a failure; assumed"),
    WEFT_TIME(T, holdover_ps, "holdover", "300us", "1us", "1s",
              "a clock without an update for this long says so in its status; assumed"),
    WEFT_TIME(T, software_ps, "software", "20ms", "0s", "1000s",
              "time from a signalled failure to the switch to another neighbour; assumed"),
    WEFT_REAL(T, damaged, "damaged", "0", "0", "1", "share of messages with a wrong time"),
    WEFT_UINT(T, outputs, "outputs", "4", "1", "64",
              "links on which a TiN sends, more only if one would be left out; assumed"),
    WEFT_TIME(T, for_ps, "for", "10ms", "1ms", "1000s", "time simulated after the tree is set up"),
    WEFT_TIME(T, gather_ps, "sample", "37us", "1us", "1s", "interval between samples of every clock"),
    WEFT_TIME(T, jump_ps, "jump", "10us", "1ps", "1s", "jump of a clock at an event 'jump'"),
    WEFT_UINT(T, seeds, "seeds", "4", "1", "1000", "runs over which errors are collected"));

int64_t weft_timesync_read(const struct weft_timesync_clock *c, weft_time_ps now) {
    int64_t since = (int64_t)(now - c->set_ps), s = (int64_t)WEFT_PS_PER_S;
    // in two parts: since * drift would overflow after three hours
    return c->shown_ps + since + since / s * c->drift_ppb * (s / 1000000000) + since % s * c->drift_ppb / 1000000000;
}

struct weft_timesync_message weft_timesync_send(const struct weft_timesync_clock *c,
                                                const struct weft_timesync_conf *conf, weft_time_ps now,
                                                weft_time_ps held_ps, bool primary) {
    int64_t step = (int64_t)conf->step_ps, from = weft_timesync_read(c, now);
    int64_t held = weft_timesync_read(c, now + held_ps) - from; // in cycles of its own clock
    bool follows = c->synced_ps != WEFT_TIME_NEVER && now - c->synced_ps <= conf->holdover_ps;
    return (struct weft_timesync_message){from + (held + step / 2) / step * step, primary || follows};
}

static bool is_valid(const struct weft_timesync_clock *c, const struct weft_timesync_conf *conf, weft_time_ps now,
                     struct weft_timesync_message m) {
    int64_t difference = m.time_ps + c->delay_ps - weft_timesync_read(c, now);
    if (!m.valid) return false;
    return c->acquiring || (difference <= (int64_t)conf->threshold_ps && -difference <= (int64_t)conf->threshold_ps);
}

enum weft_timesync_answer weft_timesync_on_message(struct weft_timesync_clock *c, const struct weft_timesync_conf *conf,
                                                   weft_time_ps now, struct weft_timesync_message m) {
    if (!is_valid(c, conf, now, m)) {
        bool enough = ++c->invalid >= conf->invalid_max && !c->failed;
        c->failed |= enough;
        return enough ? WEFT_TIMESYNC_FAILURE : WEFT_TIMESYNC_IGNORED;
    }
    c->shown_ps = m.time_ps + c->delay_ps;
    c->set_ps = c->synced_ps = now;
    c->acquiring = c->failed = false;
    c->invalid = 0;
    return WEFT_TIMESYNC_TAKEN;
}

int64_t weft_timesync_measure(const struct weft_timesync_conf *conf, weft_time_ps delay_ps, double (*phase)(void *),
                              void *context) {
    uint64_t cycles = 0;
    for (uint64_t i = 0; i < conf->delay_samples; i++)
        cycles += (2 * delay_ps + (weft_time_ps)(phase(context) * (double)conf->step_ps)) / conf->step_ps;
    return (int64_t)(cycles * conf->step_ps / (2 * conf->delay_samples));
}
