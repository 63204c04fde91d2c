// SPDX-License-Identifier: Apache-2.0
// Congestion controls step by step, against calculation by hand from the sources that their files name.
#include "control.h"

#include <math.h>

#include "weft/telemetry.h"

static const weft_time_ps us = WEFT_PS_PER_US;
static const weft_rate_bps LINE = 100000000000;

static void assert_near(double value, double expected) {
    if (fabs(value - expected) > 1e-6 + 1e-9 * fabs(expected)) fail_msg("%.9g, expected %.9g", value, expected);
}

static void assert_window(const struct control *c, double bytes) {
    assert_int_equal(c->act.window_bytes, (weft_bytes)bytes);
}

// --- DCTCP ----------------------------------------------------------------------------------------------------------

static void dctcp_ack(struct control *c, uint32_t bytes, bool marked, weft_bytes flight) {
    c->fact.marked = marked;
    c->fact.flight_bytes = flight;
    control_ack(c, 0, bytes, 0);
}

// RFC 8257, section 3.3: alpha = (1 - g) alpha + g F once a round, cwnd (1 - alpha / 2) at its first mark.
static void dctcp(void **state) {
    struct control c =
        control_new("dctcp", "{g: 1/4, initial_alpha: 0.5, initial_cwnd: 4, max_cwnd: 6000B}", LINE, 1000);
    assert_window(&c, 4000);
    dctcp_ack(&c, 1000, false, 4000); // a round without a mark: alpha 0.375; slow start
    assert_window(&c, 5000);
    dctcp_ack(&c, 3000, true, 5000); // the first mark
    double window = 5000 * (1 - .375 / 2);
    assert_window(&c, window);
    dctcp_ack(&c, 999, true, 4000); // the second one of this round, of which a byte is left
    assert_window(&c, window);
    dctcp_ack(&c, 1, true, 4000); // all of the round was marked: alpha 0.53125
    window *= 1 - .53125 / 2;
    assert_window(&c, window);
    dctcp_ack(&c, 4000, false, 3000); // a round without: alpha 0.3984375; a packet a window
    window += 1000 * 4000 / window;
    assert_window(&c, window);
    control_lose(&c, 0, 0); // a NAK: half, once a round
    window /= 2;
    assert_window(&c, window);
    control_lose(&c, 0, 0);
    assert_window(&c, window);
    control_lose(&c, 0, 1); // a timeout: one packet, and slow start up to half the window, 1081 B
    assert_window(&c, 1000);
    dctcp_ack(&c, 500, false, 3000);
    assert_window(&c, 1500);
    dctcp_ack(&c, 500, false, 3000); // the round began with a cut
    assert_window(&c, 1500);
    dctcp_ack(&c, 2000, false, 3000);
    window = 1500 + 1000. * 2000 / 1500;
    assert_window(&c, window);
    dctcp_ack(&c, 60000, false, 3000);
    assert_window(&c, 6000); // at most
    control_free(&c);
}

// --- TIMELY
// -----------------------------------------------------------------------------------------------------------

// Algorithm 1: ewma 0.875, beta 0.8, gradients in units of 20 us; both thresholds belong to what is between them.
static void timely(void **state) {
    struct control c = control_new("timely", "{initial_rate: 50Gbps}", LINE, 1000);
    double rate = 50e9, diff = 0;
    assert_near((double)c.act.rate_bps, rate);
    control_ack(&c, 0, 1000, 40 * us); // below t_low
    assert_near((double)c.act.rate_bps, rate += 10e6);
    control_ack(&c, 0, 1000, 0); // nothing was measured
    assert_near((double)c.act.rate_bps, rate);
    control_ack(&c, 0, 1000, 50 * us); // at t_low, and rising
    diff += .875 * (10 - diff);
    rate -= floor(rate * .8 * diff / 20);
    assert_near((double)c.act.rate_bps, rate);
    control_ack(&c, 0, 1000, 500 * us); // at t_high; the gradient is far above 1: half
    diff += .875 * (450 - diff);
    rate -= floor(rate * .5);
    assert_near((double)c.act.rate_bps, rate);
    control_ack(&c, 0, 1000, 501 * us); // above it
    diff += .875 * (1 - diff);
    rate -= floor(rate * (.8 * (1 - 500. / 501)));
    assert_near((double)c.act.rate_bps, rate);
    for (unsigned i = 1; i <= 6; i++) { // falling: the fifth in a row counts five times
        control_ack(&c, 0, 1000, (weft_time_ps)(400 - i) * us);
        assert_near((double)c.act.rate_bps, rate += i < 5 ? 10e6 : 50e6);
    }
    control_ack(&c, 0, 1000, 501 * us); // and is over with a high one
    rate -= floor(rate * (.8 * (1 - 500. / 501)));
    control_ack(&c, 0, 1000, 100 * us);
    assert_near((double)c.act.rate_bps, rate + 10e6);
    control_free(&c);
}

// --- HPCC
// -------------------------------------------------------------------------------------------------------------

static void hpcc_ack(struct control *c, unsigned time_us, uint32_t sent, uint32_t queue, weft_bytes flight,
                     uint16_t path) {
    const struct weft_telemetry telemetry = {.time_ps = {time_us * us},
                                             .queue_bytes = {queue},
                                             .sent_bytes = {sent},
                                             .rate_mbps = {100000},
                                             .path = path,
                                             .hops = 1};
    c->fact.telemetry = &telemetry;
    c->fact.flight_bytes = flight;
    control_ack(c, time_us * us, 1000, 10 * us);
    c->fact.telemetry = NULL;
}

// Algorithm 1 with T = 10 us: 125000 B in a base round trip; eta 95%, w_ai 80 B.
static void hpcc(void **state) {
    struct control c = control_new("hpcc", "{base_rtt: 10us, max_stage: 2}", LINE, 1000);
    assert_window(&c, 125000);
    hpcc_ack(&c, 10, 0, 0, 0, 1); // nothing to compare with
    assert_window(&c, 125000);
    hpcc_ack(&c, 20, 125000, 0, 2000, 1); // U = 1: W = 0.95 Wc + 80; a round ends
    assert_window(&c, 118830);
    assert_int_equal(c.act.rate_bps, 95064000000);    // W / T
    hpcc_ack(&c, 25, 125000 + 31250, 12500, 2000, 1); // half of the line for half of T, least queue 0: U = 0.75
    assert_window(&c, 118830 + 80);
    hpcc_ack(&c, 35, 156250 + 62500, 25000, 2000, 1); // u = 0.5 + 0.1 by the lesser queue; the round ends
    assert_window(&c, 118830 + 80);
    hpcc_ack(&c, 35, 156250 + 62500, 25000, 2000, 1); // no newer than the last
    hpcc_ack(&c, 30, 156250, 25000, 2000, 1);
    assert_window(&c, 118830 + 80);
    hpcc_ack(&c, 45, 218750 + 62500, 0, 1000, 2); // another path: only remembered
    assert_window(&c, 118830 + 80);
    hpcc_ack(&c, 55, 281250 + 62500, 0, 1000, 2); // still within the round: 1000 of 2000 B
    assert_window(&c, 118830 + 160);
    hpcc_ack(&c, 65, 343750 + 62500, 0, 1000, 2); // it ends: the second stage
    assert_window(&c, 118830 + 160);
    hpcc_ack(&c, 75, 406250 + 62500, 0, 1000, 2); // as many as there may be: Wc / (0.5 / 0.95) is above the line's
    assert_window(&c, 125000);
    assert_int_equal(c.act.rate_bps, LINE);
    hpcc_ack(&c, 85, 468750 + 125000, 125000, 1000, 2); // Wc is 125000 B; U = 1
    assert_window(&c, 118750 + 80);
    control_free(&c);
}

// --- Falcon
// -----------------------------------------------------------------------------------------------------------

// Target 20 us, so that above 16 us is congested; another path after three rounds half of which is.
static void falcon_leaves_a_congested_path(void **state) {
    static const unsigned rtt[] = {17, 16, 17, 17, 16, 10, 10, 17, 10, 17, 17, 10, 10, 17, 17, 17, 17, 17, 17};
    static const bool leaves[] = {[4] = true, [18] = true};
    // Rounds end with the first one, and then with every second one; of the first three half is congested, or all.
    struct control c =
        control_new("falcon", "{fs_range: 0ns, plb_delay: 0.8, plb_part: 0.5, plb_rounds: 3}", LINE, 1000);
    c.fact.flight_bytes = 2000;
    for (unsigned i = 0; i < sizeof rtt / sizeof *rtt; i++) {
        control_ack(&c, i * 100 * us, 1000, rtt[i] * us);
        bool expected = i < sizeof leaves / sizeof *leaves && leaves[i];
        if (c.act.new_path != expected) fail_msg("acknowledgement %u: %d", i, c.act.new_path);
    }
    control_lose(&c, 2000 * us, 0);
    assert_false(c.act.new_path);
    control_lose(&c, 2000 * us, 1);
    assert_true(c.act.new_path);
    control_free(&c);
}

// --- NSCC
// -------------------------------------------------------------------------------------------------------------

static void nscc_ack(struct control *c, weft_time_ps now, uint32_t bytes, weft_time_ps delay, bool marked) {
    c->fact.marked = marked;
    control_ack(c, now, bytes, 12 * us + delay);
}

/// Whole packets of 10 B.
static void assert_packets(const struct control *c, double bytes) {
    assert_window(c, floor(bytes / 10) * 10);
}

// The rules at the head of nscc.c: a = 1, 150000 B in a round trip, target 9 us; no quick adaptation.
static void nscc_window(void **state) {
    struct control c = control_new("nscc", "{header: 0B, gain: 1, adapt: 1000, eta: 100}", LINE, 10);
    double window = 225000;
    assert_packets(&c, window);
    nscc_ack(&c, 12 * us, 1000, 18 * us, true); // no round trip since the start
    assert_packets(&c, window);
    nscc_ack(&c, 20 * us, 1000, 18 * us, true); // 1 - 0.8 (18 - 9) / 18
    assert_packets(&c, window *= .6);
    nscc_ack(&c, 25 * us, 100000, 3 * us, false); // proportional: 4 x 6 of 12 us a byte; 100 packets a round trip
    window += 4 * 10 * 100000. * (9 - 3) / 12 / window;
    assert_packets(&c, window += 100 * 10);
    nscc_ack(&c, 26 * us, 100000, 18 * us, false); // fair
    assert_packets(&c, window += 5 * 10 * 100000. / window);
    nscc_ack(&c, 27 * us, 100000, us / 2, false); // calm, not yet for a window
    assert_packets(&c, window += 4 * 10 * 100000. * (9 - .5) / 12 / window);
    nscc_ack(&c, 28 * us, 100000, us / 2, false); // fast: a quarter of what came
    assert_packets(&c, window += 25000);
    nscc_ack(&c, 29 * us, 100000, 4 * us, true); // marked below the target: nothing
    assert_packets(&c, window);
    nscc_ack(&c, 37 * us, 10, 4 * us, true); // a round trip, and no more
    assert_packets(&c, window);
    nscc_ack(&c, 38 * us, 10, 4 * us, true);
    assert_packets(&c, window + 1000);
    control_free(&c);
}

// Above 4 x 9 us of delay, and less than an eighth of the greatest window came: the window is what came, and marks of
// what was under way then say nothing.
static void nscc_quick_adapt(void **state) {
    struct control c = control_new("nscc", "{header: 0B, gain: 1}", LINE, 10);
    c.fact.flight_bytes = 3000;
    nscc_ack(&c, 1 * us, 1000, 3 * us, false); // what came is counted for 21 us from here
    nscc_ack(&c, 2 * us, 1000, 3 * us, false);
    nscc_ack(&c, 23 * us, 500, 37 * us, false);
    assert_packets(&c, 1500);
    nscc_ack(&c, 24 * us, 500, 40 * us, true);
    assert_packets(&c, 1500);
    nscc_ack(&c, 24 * us, 2499, 40 * us, true); // a byte of 3000 is missing
    assert_packets(&c, 1500);
    nscc_ack(&c, 25 * us, 1, 40 * us, true); // all have come: half, and 0.15 packets
    assert_packets(&c, 751.5);
    control_free(&c);
}

// A NACK takes what it names off the window, a timeout that or a packet; once a NACK comes after what came was counted,
// the window is what came: nothing, so a packet.
static void nscc_losses(void **state) {
    struct control c = control_new("nscc", "{header: 0B, gain: 1}", LINE, 10);
    c.fact.flight_bytes = 3000;
    nscc_ack(&c, 1 * us, 1000, 3 * us, false);
    c.fact.bytes = 40;
    control_lose(&c, 5 * us, 0);
    assert_packets(&c, 225000 - 40);
    control_lose(&c, 6 * us, 1);
    assert_packets(&c, 225000 - 80);
    c.fact.bytes = 0;
    control_lose(&c, 7 * us, 2);
    assert_packets(&c, 225000 - 90);
    control_lose(&c, 23 * us, 0);
    assert_packets(&c, 10);
    control_free(&c);
}

// A cut at most once a round trip, the shortest that was seen: 12 us.
static void nscc_cuts_once_a_round_trip(void **state) {
    struct control c = control_new("nscc", "{header: 0B, gain: 1, adapt: 1000, eta: 0}", LINE, 10);
    double window = 225000;
    nscc_ack(&c, 20 * us, 10, 18 * us, true);
    assert_packets(&c, window *= .6);
    nscc_ack(&c, 32 * us, 10, 18 * us, true); // a round trip, and no more
    assert_packets(&c, window);
    nscc_ack(&c, 32 * us + 1, 10, 18 * us, true);
    assert_packets(&c, window *= .6);
    nscc_ack(&c, 44 * us + 1, 10, 18 * us, true);
    assert_packets(&c, window);
    nscc_ack(&c, 44 * us + 2, 10, 9 * us, true); // at the target, not above it
    assert_packets(&c, window);
    control_free(&c);
}

// --- RCCC
// -------------------------------------------------------------------------------------------------------------

static void rccc_send(struct control *c, uint32_t packets) {
    for (uint32_t i = 0; i < packets; i++) {
        c->fact.flight_bytes += 10;
        c->ops->on_sent(c->state, c->conf, &c->fact, &c->act);
    }
}

static void rccc_grant(struct control *c, uint32_t bytes) {
    c->fact.bytes = bytes;
    c->ops->on_credit(c->state, c->conf, &c->fact, &c->act);
}

// What is under way, and a packet for each that credit begins. What is left of the first lapses with the first answer.
static void rccc(void **state) {
    struct control c = control_new("rccc", "{header: 0B}", LINE, 10);
    weft_bytes first = c.act.window_bytes;
    assert_true(first >= 100);
    rccc_send(&c, 2);
    assert_window(&c, (double)first);
    c.fact.flight_bytes = 10;
    control_ack(&c, us, 10, 12 * us);
    assert_window(&c, 10);
    assert_int_equal(c.act.rate_bps, LINE);
    rccc_grant(&c, 25);
    assert_window(&c, 10 + 30);
    rccc_send(&c, 3); // a byte would do for the third
    assert_window(&c, 40);
    c.fact.flight_bytes = 0;
    c.fact.bytes = 20;
    control_lose(&c, 2 * us, 0); // two were trimmed: their receiver owes credit for them
    assert_window(&c, 0);
    rccc_grant(&c, 20);
    assert_window(&c, 20);
    rccc_send(&c, 2);
    c.fact.flight_bytes = 0;
    control_ack(&c, 3 * us, 10, 12 * us);
    assert_window(&c, 1); // nothing under way: one may ask
    control_free(&c);
}

// Credit goes by whole packets: one that carries half of its bytes takes as much of it as any other.
static void rccc_short_packets(void **state) {
    struct control c = control_new("rccc", "{header: 0B}", LINE, 10);
    c.fact.flight_bytes = 10;
    control_ack(&c, us, 10, 12 * us);
    rccc_grant(&c, 25);
    assert_window(&c, 10 + 30);
    c.fact.flight_bytes += 5;
    c.ops->on_sent(c.state, c.conf, &c.fact, &c.act);
    assert_window(&c, 15 + 20);
    control_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dctcp),       cmocka_unit_test(timely),
        cmocka_unit_test(hpcc),        cmocka_unit_test(falcon_leaves_a_congested_path),
        cmocka_unit_test(nscc_window), cmocka_unit_test(nscc_quick_adapt),
        cmocka_unit_test(nscc_losses), cmocka_unit_test(nscc_cuts_once_a_round_trip),
        cmocka_unit_test(rccc),        cmocka_unit_test(rccc_short_packets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
