// SPDX-License-Identifier: Apache-2.0
// The congestion control of 1RMA, step by step compared with calculation by hand, and in a closed loop with one server
// whose link is the bottleneck, compared with the results of Singhvi et al., SIGCOMM 2020.
#include "models.h"

#include <math.h>

#include "weft/cc.h"

enum { OPERATION = 4096 };
static const weft_time_ps us = WEFT_PS_PER_US;
static const weft_rate_bps LINE = 100000000000;

struct initiator {
    const struct weft_cc_ops *ops;
    void *conf, *state;
    struct weft_cc_fact fact;
    struct weft_cc_act act;
};

static struct initiator initiator_new(const char *yaml) {
    const struct weft_model *model = model_of(WEFT_KIND_CC, "1rma");
    struct initiator s = {.ops = model->ops, .conf = conf_of(model, yaml)};
    s.fact = (struct weft_cc_fact){.line_rate_bps = LINE, .packet_bytes = OPERATION};
    s.state = calloc(1, s.ops->state_size(s.conf));
    s.ops->on_start(s.state, s.conf, &s.fact, &s.act);
    return s;
}

static void initiator_free(struct initiator *s) {
    free(s->conf);
    free(s->state);
}

static void complete(struct initiator *s, weft_time_ps now, uint32_t operations, weft_time_ps delay) {
    s->fact.now_ps = now;
    s->fact.bytes = operations * OPERATION;
    s->fact.rtt_ps = delay;
    s->ops->on_ack(s->state, s->conf, &s->fact, &s->act);
    assert_null(s->ops->check(s->state, s->conf, &s->act));
}

static void time_out_of(struct initiator *s, weft_time_ps now, weft_time_ps age) {
    s->fact.now_ps = now;
    s->fact.timeouts = 1;
    s->fact.rtt_ps = age;
    s->ops->on_loss(s->state, s->conf, &s->fact, &s->act);
}

static void time_out(struct initiator *s, weft_time_ps now) {
    time_out_of(s, now, 0);
}

/// The window that corresponds to the rate at a round trip.
static void assert_cwnd(const struct initiator *s, double cwnd, weft_time_ps rtt) {
    double rate = 8.0 * OPERATION * cwnd / ((double)rtt * 1e-12);
    assert_true(fabs((double)s->act.rate_bps / rate - 1) < 1e-6);
}

// rate = OpSize x CWND / RTT: 4096 B x 15 / 5 us are 98.3 Gbit/s, "100 Gbit/s at a CWND of 15".
static void fifteen_operations_fill_the_line(void **state) {
    struct initiator s = initiator_new("{initial_cwnd: 15}");
    assert_int_equal(s.act.rate_bps, 98304000000);
    complete(&s, 5 * us, 2, 5 * us); // 15.5: beyond the line
    assert_int_equal(s.act.rate_bps, LINE);
    initiator_free(&s);
}

static void an_operation_adds_a_quarter(void **state) {
    struct initiator s = initiator_new("{initial_cwnd: 2}");
    assert_cwnd(&s, 2, 5 * us);
    complete(&s, 5 * us, 1, 5 * us);
    assert_cwnd(&s, 2.25, 5 * us);
    complete(&s, 6 * us, 3, 6 * us);
    assert_cwnd(&s, 3, 6 * us);
    complete(&s, 7 * us, 4, 4 * us); // a round trip shorter than idle counts as idle
    assert_cwnd(&s, 4, 5 * us);
    initiator_free(&s);
}

static void above_the_target_it_shrinks_once_an_rtt(void **state) {
    struct initiator s = initiator_new("{initial_cwnd: 10, target: 6us}");
    complete(&s, 10 * us, 1, 8 * us); // 1 - 0.8 x (8 - 6) / 8 = 0.8
    assert_cwnd(&s, 8, 8 * us);
    complete(&s, 17 * us, 1, 8 * us); // within the round trip
    assert_cwnd(&s, 8, 8 * us);
    complete(&s, 18 * us, 1, 24 * us); // 1 - 0.8 x 18 / 24 = 0.4: not more than a half; the last cut was 8 us ago, < 24
    assert_cwnd(&s, 8, 24 * us);
    complete(&s, 34 * us, 1, 24 * us); // 24 us ago
    assert_cwnd(&s, 4, 24 * us);
    initiator_free(&s);
}

static void a_timeout_cuts_tenfold(void **state) {
    struct initiator s = initiator_new("{initial_cwnd: 20}");
    time_out(&s, 0);
    assert_cwnd(&s, 2, 5 * us);
    time_out(&s, 4 * us); // within the round trip
    assert_cwnd(&s, 2, 5 * us);
    time_out(&s, 5 * us);
    assert_cwnd(&s, 0.2, 5 * us);
    for (unsigned i = 2; i < 10; i++)
        time_out(&s, i * 5 * us);
    assert_cwnd(&s, 0.01, 5 * us); // min_cwnd
    initiator_free(&s);
}

// What waited for the solicitation window while the first of it timed out was begun before the cut.
static void what_was_begun_before_a_cut_does_not_cut_again(void **state) {
    struct initiator s = initiator_new("{initial_cwnd: 20}");
    time_out_of(&s, 10 * us, 10 * us);
    time_out_of(&s, 16 * us, 10 * us); // begun at 6 us
    assert_cwnd(&s, 2, 5 * us);
    time_out_of(&s, 20 * us, 10 * us); // begun when it was cut
    assert_cwnd(&s, 0.2, 5 * us);
    initiator_free(&s);
}

// The target is of a round trip; the wait for the solicitation window has none in it.
static void a_wait_stands_beside_an_idle_round_trip(void **state) {
    struct initiator s = initiator_new("{initial_cwnd: 10}");
    s.fact.local = true;
    complete(&s, 10 * us, 1, 0);
    assert_cwnd(&s, 10.25, 5 * us);
    complete(&s, 11 * us, 1, 2 * us); // 7 us, below the target of 7.5
    assert_cwnd(&s, 10.5, 7 * us);
    complete(&s, 12 * us, 1, 5 * us); // 10 us: 1 - 0.8 x 2.5 / 10 = 0.8
    assert_cwnd(&s, 8.4, 10 * us);
    initiator_free(&s);
}

// --- a closed loop ------------------------------------------------------------------------------------------------

enum { INITIATORS = 10, UNDER_WAY = 4096 };

/// Initiators that read without end from one server: a request takes half of the idle round trip, waits for the link of
/// the server, and the response takes the other half.
struct loop {
    struct initiator s[INITIATORS];
    weft_time_ps next_ps[INITIATORS];
    weft_time_ps free_ps; ///< of the server's link
    struct operation {
        weft_time_ps done_ps, delay_ps;
    } operation[INITIATORS][UNDER_WAY]; ///< each initiator's complete in order
    uint32_t issued[INITIATORS], completed[INITIATORS];
};

static const weft_time_ps idle = 5 * WEFT_PS_PER_US;

static void issue(struct loop *l, uint32_t i) {
    weft_time_ps time = (weft_time_ps)OPERATION * 8 * WEFT_PS_PER_S / LINE, now = l->next_ps[i];
    weft_time_ps at = now + idle / 2;
    if (l->free_ps > at) at = l->free_ps;
    l->free_ps = at + time;
    l->operation[i][l->issued[i]++ % UNDER_WAY] = (struct operation){at + idle / 2, at + idle / 2 - now};
    assert_true(l->issued[i] - l->completed[i] < UNDER_WAY);
    l->next_ps[i] = now + (weft_time_ps)(8.0 * OPERATION * 1e12 / (double)l->s[i].act.rate_bps);
}

/// The next thing that happens, before `until`.
static bool step(struct loop *l, uint32_t n, weft_time_ps until) {
    weft_time_ps least = WEFT_TIME_NEVER;
    uint32_t who = 0;
    bool done = false;
    for (uint32_t i = 0; i < n; i++) {
        const struct operation *first = &l->operation[i][l->completed[i] % UNDER_WAY];
        if (l->completed[i] < l->issued[i] && first->done_ps < least) {
            least = first->done_ps;
            who = i;
            done = true;
        }
        if (l->next_ps[i] < least) {
            least = l->next_ps[i];
            who = i;
            done = false;
        }
    }
    if (least >= until) return false;
    if (!done) {
        issue(l, who);
        return true;
    }
    const struct operation *o = &l->operation[who][l->completed[who]++ % UNDER_WAY];
    weft_rate_bps before = l->s[who].act.rate_bps;
    complete(&l->s[who], o->done_ps, 1, o->delay_ps);
    if (l->next_ps[who] > o->done_ps) // the rest of the wait runs at the new rate
        l->next_ps[who] = o->done_ps + (weft_time_ps)((double)(l->next_ps[who] - o->done_ps) * (double)before /
                                                      (double)l->s[who].act.rate_bps);
    return true;
}

// "100 Gbit/s within about 8 round trips, 40 us." Where the window begins is assumed and was chosen by this figure.
static void one_initiator_fills_the_line_in_eight_round_trips(void **state) {
    static struct loop l;
    l.s[0] = initiator_new("{}");
    weft_time_ps full = 0;
    for (weft_time_ps t = us; !full && t < 200 * us; t += us) {
        while (step(&l, 1, t)) {
        }
        if (l.s[0].act.rate_bps >= LINE * 98 / 100) full = t;
    }
    assert_in_range(full, 35 * us, 45 * us);
    initiator_free(&l.s[0]);
}

/// All at so much, give or take a fifth.
static bool all_have(const struct loop *l, uint32_t n, double rate_bps) {
    for (uint32_t i = 0; i < n; i++)
        if (fabs((double)l->s[i].act.rate_bps / rate_bps - 1) > 0.2) return false;
    return true;
}

// "Fair share in about 5 round trips": ten begin at twice what the server's link carries.
static void an_incast_shares_the_line_in_five_round_trips(void **state) {
    static struct loop l;
    for (uint32_t i = 0; i < INITIATORS; i++) {
        l.s[i] = initiator_new("{}");
        l.next_ps[i] = i * WEFT_PS_PER_NS;
    }
    assert_true(l.s[0].act.rate_bps * INITIATORS > LINE * 19 / 10);
    weft_time_ps fair = 0;
    for (weft_time_ps t = us; !fair && t < 100 * us; t += us) {
        while (step(&l, INITIATORS, t)) {
        }
        if (all_have(&l, INITIATORS, (double)LINE / INITIATORS)) fair = t;
    }
    assert_in_range(fair, idle, 5 * idle);
    for (uint32_t i = 0; i < INITIATORS; i++)
        initiator_free(&l.s[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fifteen_operations_fill_the_line),
        cmocka_unit_test(an_operation_adds_a_quarter),
        cmocka_unit_test(above_the_target_it_shrinks_once_an_rtt),
        cmocka_unit_test(a_timeout_cuts_tenfold),
        cmocka_unit_test(what_was_begun_before_a_cut_does_not_cut_again),
        cmocka_unit_test(a_wait_stands_beside_an_idle_round_trip),
        cmocka_unit_test(one_initiator_fills_the_line_in_eight_round_trips),
        cmocka_unit_test(an_incast_shares_the_line_in_five_round_trips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
