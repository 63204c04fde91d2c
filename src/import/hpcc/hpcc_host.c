// SPDX-License-Identifier: Apache-2.0
// Source: rdma-hw.cc of alibaba-edu/High-Precision-Congestion-Control, for what each CC_MODE does, and its run.py for
// rates of increase that a configuration leaves out.
#include "import/hpcc/hpcc_read.h"

#include <inttypes.h>
#include <math.h>

static void say_rate(struct weft_import *import, const char *key, weft_rate_bps rate) {
    char text[32];
    weft__quantity_format(WEFT__RATE, rate, text, sizeof text);
    weft_import_say(import, WEFT_IMPORT_HOST, "    %s: %s\n", key, text);
}

static void say_real(struct weft_import *import, const char *key, double value, const char *unit) {
    char text[32];
    if (!(value > 0)) return;
    weft__real_format(value, text, sizeof text);
    weft_import_say(import, WEFT_IMPORT_HOST, "    %s: %s%s\n", key, text, unit);
}

static void say_kind(struct weft_import *import, const char *kind) {
    weft_import_say(import, WEFT_IMPORT_HOST, "  cc:\n    kind: %s\n", kind);
}

/// Megabits per second for each 25 Gbit/s of a host, as in the run script.
static weft_rate_bps scaled_rate(const struct weft__hpcc_rates *rates, weft_rate_bps mbps) {
    return rates->host_bps / 25000 * mbps;
}

/// DCQCN of the hosts: from the configuration, else scaled with their rate as in HPCC's run script.
static void say_dcqcn(struct weft_import *import, const struct weft__hpcc_config *c,
                      const struct weft__hpcc_rates *rates) {
    weft_import_say(import, WEFT_IMPORT_HOST, "  cc:\n    kind: dcqcn_connectx\n    preset: hpcc\n");
    say_rate(import, "additive_increase", c->ai_bps ? c->ai_bps : scaled_rate(rates, 5));
    say_rate(import, "hyper_increase", c->hai_bps ? c->hai_bps : scaled_rate(rates, 50));
    if (c->min_bps) say_rate(import, "min_rate", c->min_bps);
    say_real(import, "alpha_interval", c->alpha_us, "us");
    say_real(import, "cut_interval", c->decrease_us, "us");
    say_real(import, "increase_timer", c->increase_us, "us");
    say_real(import, "g", c->gain_dcqcn > 0 ? c->gain_dcqcn : c->gain, "");
    say_real(import, "fast_recovery_stages", c->stages, "");
    if (c->has_clamp) weft_import_say(import, WEFT_IMPORT_HOST, "    clamp_target: %s\n", c->clamp ? "true" : "false");
    if (!c->ai_bps || !c->hai_bps)
        weft_import_note(
            import, WEFT_IMPORT_ASSUMED,
            "DCQCN's increase by the hosts' rate, as HPCC's run script has it: 5 and 50 Mbit/s for each 25 "
            "Gbit/s");
    if (!c->window_off && c->window_varies)
        weft_import_note(import, WEFT_IMPORT_LOST, "VAR_WIN: the window does not shrink with the rate");
}

enum { MIN_BPS = 100000000, INT_BYTES = 42, PINT_BYTES = 1 };

/// The least rate of a queue pair, if no line says it.
static weft_rate_bps min_rate(const struct weft__hpcc_config *c) {
    return c->min_bps ? c->min_bps : MIN_BPS;
}

/// HPCC there changes a rate, and a window with it (VAR_WIN); here the window, and a rate with it: window = rate x T.
static void say_hpcc(struct weft_import *import, const struct weft__hpcc_config *c,
                     const struct weft__hpcc_rates *rates) {
    bool pint = c->cc_mode == WEFT__HPCC_PINT;
    weft_rate_bps ai_bps = c->ai_bps ? c->ai_bps : scaled_rate(rates, 10);
    uint64_t rtt_ns = rates->longest.rtt_ns ? rates->longest.rtt_ns : 13000;
    double step = round((double)ai_bps / 8 * (double)rtt_ns / 1e9);
    // ACKs are 46 B and the telemetry there, of at least 60 B together
    weft_import_say(import, WEFT_IMPORT_HOST, "  ack_frame: %dB\n", pint ? 60 - PINT_BYTES : 46);
    say_kind(import, "hpcc");
    bool good = c->target >= .01 && c->target <= 1;
    say_real(import, "eta", good ? c->target : .95, "");
    weft_import_say(import, WEFT_IMPORT_HOST,
                    "    max_stage: %" PRIu64 "\n    w_ai: %.0fB\n    base_rtt: %" PRIu64 "ns\n",
                    c->has_mi_thresh ? c->mi_thresh : 5, step < 1 ? 1 : step, rtt_ns);
    say_rate(import, "min_rate", min_rate(c));
    weft_import_say(import, WEFT_IMPORT_HOST, "    int_header: %dB\n", pint ? PINT_BYTES : INT_BYTES);
    if (c->target > 0 && !good)
        weft_import_note(import, WEFT_IMPORT_LOST, "U_TARGET %g: weft has 0.01 to 1; it is 0.95", c->target);
    if (c->window_off)
        weft_import_note(import, WEFT_IMPORT_LOST, "HAS_WIN 0: weft's HPCC always has a window");
    else if (!c->window_varies)
        weft_import_note(import, WEFT_IMPORT_LOST, "VAR_WIN 0: the window of weft's HPCC shrinks with the rate");
    if (!c->ai_bps)
        weft_import_note(import, WEFT_IMPORT_ASSUMED,
                         "HPCC's increase by the hosts' rate, as its run script has it: 10 Mbit/s for each 25 Gbit/s");
    if (!rates->longest.rtt_ns)
        weft_import_note(import, WEFT_IMPORT_ASSUMED,
                         "13us as HPCC's round trip, as no topology, or one that is too large, says it (base_rtt)");
    else
        weft_import_note(import, WEFT_IMPORT_FOUND,
                         "HPCC's T, the longest round trip of two hosts: %" PRIu64 " ns; RATE_AI times T is w_ai",
                         rtt_ns);
}

static void say_timely(struct weft_import *import, const struct weft__hpcc_config *c,
                       const struct weft__hpcc_rates *rates) {
    weft_rate_bps ai_bps = c->ai_bps ? c->ai_bps : scaled_rate(rates, 25), hai_bps = c->hai_bps;
    if (!hai_bps) hai_bps = c->ai_bps ? 5 * ai_bps : scaled_rate(rates, 125);
    double factor = round((double)hai_bps / (double)ai_bps);
    factor = factor < 1 ? 1 : factor > 1000 ? 1000 : factor;
    weft_import_say(import, WEFT_IMPORT_HOST, "  data_header: 56B     # with a time stamp of 8 B\n");
    say_kind(import, "timely");
    say_rate(import, "additive_increase", ai_bps);
    weft_import_say(import, WEFT_IMPORT_HOST, "    hyper_factor: %.0f\n    max_decrease: 0.999\n", factor);
    say_rate(import, "min_rate", min_rate(c));
    if (fabs(factor * (double)ai_bps - (double)hai_bps) > 1e-6 * (double)hai_bps)
        weft_import_note(import, WEFT_IMPORT_LOST,
                         "RATE_HAI: TIMELY's hyper increase is a whole multiple of RATE_AI in weft, here %.0f", factor);
    if (!c->ai_bps || !c->hai_bps)
        weft_import_note(import, WEFT_IMPORT_ASSUMED,
                         "TIMELY's increase by the hosts' rate, as HPCC's run script has it: 25 and 125 Mbit/s for "
                         "each 25 Gbit/s");
    if (!c->window_off && c->window_varies)
        weft_import_note(import, WEFT_IMPORT_LOST, "VAR_WIN: the window does not shrink with the rate");
    weft_import_note(
        import, WEFT_IMPORT_LOST,
        "TIMELY there counts increases below its lower threshold too before the hyper increase; weft's, as "
        "in the paper, only those between the thresholds");
}

/// The peer has a rate and a window that shrinks with it; weft has the window only.
static void say_dctcp(struct weft_import *import, const struct weft__hpcc_config *c,
                      const struct weft__hpcc_rates *rates) {
    weft_bytes window = rates->longest.window, mtu = c->mtu_bytes ? c->mtu_bytes : 1000;
    double packets = (double)(c->dctcp_ai_bps ? c->dctcp_ai_bps : 1000000000) / 8 * (double)rates->longest.rtt_ns /
                     1e9 / (double)mtu;
    say_kind(import, "dctcp");
    say_real(import, "g", c->gain_dctcp > 0 ? c->gain_dctcp : c->gain, "");
    if (window) {
        say_real(import, "initial_cwnd", window > mtu ? (double)window / (double)mtu : 1, "");
        weft_import_say(import, WEFT_IMPORT_HOST, "    max_cwnd: %" PRIu64 "B\n", window > mtu ? window : mtu);
    } else {
        weft_import_note(
            import, WEFT_IMPORT_ASSUMED,
            "DCTCP's windows: no topology, or one that is too large, to say them (initial_cwnd, max_cwnd)");
    }
    weft_import_note(
        import, WEFT_IMPORT_LOST,
        "DCTCP is a paced rate there, which grows by DCTCP_RATE_AI a round trip (%.3g packets on the longest "
        "one); in weft a window, which grows by one packet",
        packets);
}

/// Nearest models for CC_MODE values that weft lacks or that forks define differently.
static void say_other(struct weft_import *import, uint64_t mode) {
    static const struct {
        uint64_t mode;
        const char *what, *nearest;
    } modes[] = {
        {11, "Swift in SimAI's simulator, others in other forks", "host.cc: swift"},
        {12, "DCQCN by a byte counter too in SimAI's simulator", "host.cc: dcqcn"},
        {13, "HPCC by marks in SimAI's simulator", "host.cc: dctcp"},
    };
    weft_import_say(import, WEFT_IMPORT_HOST, "  cc: none\n");
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (modes[i].mode != mode) continue;
        weft_import_note(import, WEFT_IMPORT_BROKEN,
                         "congestion control of CC_MODE %" PRIu64
                         " (%s): hosts send at line rate; nearest in weft is %s",
                         mode, modes[i].what, modes[i].nearest);
        return;
    }
    weft_import_note(import, WEFT_IMPORT_BROKEN,
                     "congestion control of CC_MODE %" PRIu64
                     ", which is not known: hosts send at line rate; weft models "
                     "cc lists what host.cc can be",
                     mode);
}

static void say_cc(struct weft_import *import, const struct weft__hpcc_config *c,
                   const struct weft__hpcc_rates *rates) {
    uint64_t mode = c->cc_mode ? c->cc_mode : WEFT__HPCC_DCQCN;
    bool by_marks = mode == WEFT__HPCC_DCQCN || mode == WEFT__HPCC_DCTCP;
    if (mode == WEFT__HPCC_PINT)
        weft_import_note(
            import, WEFT_IMPORT_LOST,
            "HPCC-PINT of CC_MODE 10, which weft does not have: HPCC, which is nearest, with exact telemetry "
            "of every port in 1 B");
    if (by_marks && c->qcn_off)
        weft_import_say(import, WEFT_IMPORT_HOST, "  cc: none     # ENABLE_QCN 0: nothing marks\n");
    else if (mode == WEFT__HPCC_DCQCN)
        say_dcqcn(import, c, rates);
    else if (mode == WEFT__HPCC_HPCC || mode == WEFT__HPCC_PINT)
        say_hpcc(import, c, rates);
    else if (mode == WEFT__HPCC_TIMELY)
        say_timely(import, c, rates);
    else if (mode == WEFT__HPCC_DCTCP)
        say_dctcp(import, c, rates);
    else
        say_other(import, mode);
    if (!c->cc_mode && !c->qcn_off)
        weft_import_note(import, WEFT_IMPORT_ASSUMED, "DCQCN, as no configuration says CC_MODE (host.cc)");
}

/// A configuration without HAS_WIN has a window.
static void say_window(struct weft_import *import, const struct weft__hpcc_config *c, weft_bytes window) {
    if (!window) {
        weft_import_note(
            import, WEFT_IMPORT_LOST,
            "HAS_WIN: no topology, or one that is too large, to say how large the window is (host.window)");
        return;
    }
    weft_import_say(import, WEFT_IMPORT_HOST, "  window: %" PRIu64 "B\n", window);
    weft_import_note(import, WEFT_IMPORT_FOUND,
                     "a window of %" PRIu64 " bytes, the greatest bandwidth-delay product of two hosts (HAS_WIN)",
                     window);
    if (c->window_of_pair)
        weft_import_note(import, WEFT_IMPORT_LOST,
                         "GLOBAL_T 0: all pairs of hosts have the same window and round trip, the greatest");
}

void weft__hpcc_say_pfc(struct weft_import *import, enum weft_import_section section, const struct weft__hpcc_config *c,
                        const struct weft__hpcc_rates *rates) {
    enum { DEFAULT = 1 << 3 };
    unsigned lossless = rates->priorities & ~1u;
    const char *comma = "";
    if (c->pfc_off) weft_import_say(import, section, "  pfc: {priorities: none}     # ENABLE_PFC 0\n");
    if (c->pfc_off || !(lossless & ~(unsigned)DEFAULT)) return;
    weft_import_say(import, section, "  pfc: {priorities: [");
    for (unsigned p = 1; p < 8; p++)
        if ((lossless | DEFAULT) >> p & 1) {
            weft_import_say(import, section, "%s%u", comma, p);
            comma = ", ";
        }
    weft_import_say(import, section, "]}\n");
}

void weft__hpcc_say_host(struct weft_import *import, const struct weft__hpcc_config *c,
                         const struct weft__hpcc_rates *rates) {
    weft_import_say(import, WEFT_IMPORT_HOST, "  preset: ns3_hpcc     # docs/peers.md\n  mtu: %" PRIu64 "B\n",
                    c->mtu_bytes ? c->mtu_bytes : 1000);
    if (!c->mtu_bytes)
        weft_import_note(import, WEFT_IMPORT_ASSUMED, "packets of 1000 B of payload, HPCC's default (mtu)");
    if (c->nak_interval)
        weft_import_say(import, WEFT_IMPORT_HOST, "  transport: {nak_interval: %sus}\n", c->nak_interval);
    weft__hpcc_say_pfc(import, WEFT_IMPORT_HOST, c, rates);
    say_cc(import, c, rates);
    if (!c->window_off) say_window(import, c, rates->longest.window);
}
