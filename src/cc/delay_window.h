// SPDX-License-Identifier: Apache-2.0
// A window that keeps the round trip at a target delay, which Swift and Falcon share:
//   ACK, delay below target   cwnd += ai / cwnd a packet acknowledged (ai, if cwnd is below one)
//   ACK, delay above target   at most once an RTT: cwnd *= max(1 - beta (delay - target) / delay, 1 - max_mdf)
//   loss                      at most once an RTT: cwnd *= 1 - max_mdf
//   timeouts in a row         from `timeouts` on: cwnd = min_cwnd
//   target                    base + hops x hop + clamp(a / sqrt(cwnd) + b, 0, fs_range), which is fs_range at
//                             fs_min_cwnd and 0 at fs_max_cwnd
// A window below one packet is one packet at a time, paced: one every delay / cwnd.
#pragma once

#include "weft/cc.h"

struct weft__delay_conf {
    double ai, beta, max_mdf, min_cwnd, max_cwnd, initial_cwnd, fs_min_cwnd, fs_max_cwnd;
    weft_time_ps base_ps, hop_ps, fs_range_ps;
    uint64_t hops, timeouts;
};

struct weft__delay_window {
    double cwnd; ///< packets
    weft_time_ps delay_ps, cut_ps;
};

/// `m`: the member of T that is a struct weft__delay_conf.
#define WEFT_DELAY_ROWS(T, m)                                                                                          \
    WEFT_TIME(T, m.base_ps, "base_target", "20us", "1ns", "1s", "target delay of a path without hops (htsim)"),        \
        WEFT_TIME(T, m.hop_ps, "hop_target", "3us", "0ns", "1s", "additional target per hop (htsim: base / 6.55)"),    \
        WEFT_UINT(T, m.hops, "hops", "0", "0", "64", "hops of the path (assumed)"),                                    \
        WEFT_TIME(                                                                                                     \
            T, m.fs_range_ps, "fs_range", "100us", "0ns", "1s",                                                        \
            "flow scaling: the most that is added to the target for a small window; 0ns: none (htsim: 5 x base)"),     \
        WEFT_REAL(T, m.fs_min_cwnd, "fs_min_cwnd", "0.1", "1/1000", "1000",                                            \
                  "flow scaling: window with the whole fs_range added, packets"),                                      \
        WEFT_REAL(T, m.fs_max_cwnd, "fs_max_cwnd", "100", "1/1000", "1000000",                                         \
                  "flow scaling: window with nothing added, packets"),                                                 \
        WEFT_REAL(T, m.ai, "ai", "1", "1/1000", "1000", "additive increase, packets per RTT (htsim)"),                 \
        WEFT_REAL(T, m.beta, "beta", "0.8", "0", "1", "multiplicative decrease"),                                      \
        WEFT_REAL(T, m.max_mdf, "max_mdf", "0.5", "0", "0.999", "largest fraction that one decrease takes"),           \
        WEFT_REAL(T, m.min_cwnd, "min_cwnd", "0.001", "1/1000000", "1000", "smallest window, packets"),                \
        WEFT_REAL(T, m.max_cwnd, "max_cwnd", "1024", "1", "1000000", "largest window, packets (assumed)"),             \
        WEFT_REAL(T, m.initial_cwnd, "initial_cwnd", "10", "1/1000000", "1000000",                                     \
                  "window at the start, packets (assumed)"),                                                           \
        WEFT_UINT(T, m.timeouts, "timeouts", "5", "1", "100",                                                          \
                  "after this many timeouts in a row the window is at its minimum (assumed)")

/// NULL, or what is wrong with a configuration.
const char *weft__delay_conf_check(const struct weft__delay_conf *c, char *text, size_t size);

/// All of them return the window.
void weft__delay_start(struct weft__delay_window *s, const struct weft__delay_conf *c, const struct weft_cc_fact *fact,
                       struct weft_cc_act *act);
void weft__delay_ack(struct weft__delay_window *s, const struct weft__delay_conf *c, const struct weft_cc_fact *fact,
                     struct weft_cc_act *act);
void weft__delay_loss(struct weft__delay_window *s, const struct weft__delay_conf *c, const struct weft_cc_fact *fact,
                      struct weft_cc_act *act);
/// The delay that the window aims for now.
double weft__delay_target_ps(const struct weft__delay_window *s, const struct weft__delay_conf *c);
const char *weft__delay_check(const struct weft__delay_window *s, const struct weft__delay_conf *c,
                              const struct weft_cc_act *act);
