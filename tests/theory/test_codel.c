// SPDX-License-Identifier: Apache-2.0
// CoDel (RFC 8289): its control law to the picosecond, and the wait that responsive senders are held to.
#include "form.h"
#include "models.h"

#include <math.h>

#include "run.h"
#include "weft/aqm.h"

static const weft_time_ps TARGET = 5 * WEFT_PS_PER_US, INTERVAL = 100 * WEFT_PS_PER_US;
enum { STEP = 1000, LEFT = 1000000 };

/// A CoDel with a target of 5 us and an interval of 100 us, and its queue.
struct codel {
    const struct weft_aqm_ops *ops;
    void *conf, *state;
};

static struct codel codel_of(const char *conf) {
    const struct weft_model *model = model_of(WEFT_KIND_AQM, "codel");
    struct codel c = {.ops = model->ops, .conf = conf_of(model, conf)};
    c.state = calloc(1, weft_aqm_state_size(c.ops, c.conf));
    return c;
}
static void codel_free(struct codel *c) {
    free(c->state);
    free(c->conf);
}

static enum weft_aqm_verdict leave(const struct codel *c, weft_time_ps now, weft_time_ps waited, weft_bytes left,
                                   bool capable) {
    struct weft_aqm_fact fact = {
        .now_ps = now, .waited_ps = waited, .queue_bytes = left, .bytes = 4158, .ecn_capable = capable};
    return c->ops->on_dequeue(c->state, c->conf, &fact, NULL);
}

/// A packet leaves every STEP ps; returns when one of the verdict did, from `now` on and before `end`, or 0.
static weft_time_ps find_next(const struct codel *c, weft_time_ps now, weft_time_ps end, weft_time_ps waited,
                              enum weft_aqm_verdict verdict) {
    for (; now < end; now += STEP) {
        enum weft_aqm_verdict is = leave(c, now, waited, LEFT, true);
        if (is == verdict) return now;
        assert_int_equal(is, WEFT_AQM_PASS);
    }
    return 0;
}

/// RFC 8289, section 5.5: the first packet an interval after the wait was at the target, the next ones interval /
/// sqrt(count) apart: each is the first that leaves at or after its time.
static void follows_the_control_law(const char *conf, enum weft_aqm_verdict verdict) {
    struct codel c = codel_of(conf);
    weft_time_ps begin = 7 * WEFT_PS_PER_MS, at = find_next(&c, begin, begin + 2 * INTERVAL, TARGET, verdict);
    assert_int_equal(at, begin + INTERVAL);
    weft_time_ps due = at;
    for (unsigned count = 1; count < 200; count++) {
        due += (weft_time_ps)((double)INTERVAL / sqrt(count));
        at = find_next(&c, at + STEP, due + 2 * STEP, TARGET, verdict);
        assert_true(at >= due && at < due + STEP);
    }
    // The sum of 1 / sqrt(k) up to n is 2 sqrt(n) + zeta(1/2) + 1 / (2 sqrt(n)) - ..., the next term being n^-1.5 / 24.
    double n = 199, sum = 2 * sqrt(n) - 1.4603545088 + .5 / sqrt(n);
    form_assert("Time until CoDel's 200th mark or drop (RFC 8289, section 5.5)", (double)(at - begin),
                (double)INTERVAL * (1 + sum), (STEP + n) / ((double)INTERVAL * sum));
    codel_free(&c);
}

static void marks_by_the_control_law(void **state) {
    follows_the_control_law(NULL, WEFT_AQM_MARK);
}

static void drops_by_the_control_law(void **state) {
    follows_the_control_law("{mark: false}", WEFT_AQM_DROP);
    struct codel c = codel_of(NULL); // without ECN too
    for (weft_time_ps now = 0; now < INTERVAL; now += STEP)
        assert_int_equal(leave(&c, WEFT_PS_PER_MS + now, TARGET, LEFT, false), WEFT_AQM_PASS);
    assert_int_equal(leave(&c, WEFT_PS_PER_MS + INTERVAL, TARGET, LEFT, false), WEFT_AQM_DROP);
    codel_free(&c);
}

/// RFC 8289, section 5.6: one packet that waited less, or that leaves no more than a packet behind, and an interval
/// begins anew.
static void one_good_packet_ends_it(void **state) {
    for (unsigned i = 0; i < 2; i++) {
        struct codel c = codel_of(NULL);
        weft_time_ps now = 3 * WEFT_PS_PER_MS, at = find_next(&c, now, now + 2 * INTERVAL, TARGET, WEFT_AQM_MARK);
        now = at + STEP;
        assert_int_equal(leave(&c, now, i ? TARGET : TARGET - 1, i ? 4158 : LEFT, true), WEFT_AQM_PASS);
        at = find_next(&c, now + STEP, now + 3 * INTERVAL, TARGET, WEFT_AQM_MARK);
        assert_int_equal(at, now + STEP + INTERVAL);
        codel_free(&c);
    }
}

/// RFC 8289, section 5.7: it begins again with the rate at which it ended, if that is less than 16 intervals ago.
static weft_time_ps second_gap(weft_time_ps pause) {
    struct codel c = codel_of(NULL);
    weft_time_ps now = WEFT_PS_PER_MS, at = now;
    for (unsigned marks = 0; marks < 50; marks++)
        at = find_next(&c, at + STEP, at + 2 * INTERVAL, TARGET, WEFT_AQM_MARK);
    leave(&c, at + STEP, 0, LEFT, true);
    weft_time_ps first = find_next(&c, at + pause, at + pause + 2 * INTERVAL, TARGET, WEFT_AQM_MARK);
    weft_time_ps second = find_next(&c, first + STEP, first + 2 * INTERVAL, TARGET, WEFT_AQM_MARK);
    codel_free(&c);
    return second - first;
}

static void goes_on_where_it_was(void **state) {
    weft_time_ps soon = (weft_time_ps)((double)INTERVAL / sqrt(49)), gap = second_gap(INTERVAL);
    assert_true(gap >= soon && gap < soon + STEP);
    assert_int_equal(second_gap(17 * INTERVAL), INTERVAL);
}

// --- whole runs ---------------------------------------------------------------------------------------------------

enum { MTU = 4096, WIRE = MTU + 62 + 20 };
static const double RATE = 100e9 / 8; ///< B/s

struct held {
    double standing_us, utilisation; ///< standing: mean over intervals of the shortest wait in each
    uint64_t drops;
};

/// N hosts send to host-0 for 40 ms; the wait is the depth of the queue at the line's rate, from 20 ms on.
static struct held hold(unsigned flows, const char *aqm, unsigned interval_us) {
    struct run r = RUN(run_text,
                       "topology: {kind: single, hosts: %u, rate: 100Gbps, delay: 150ns}\n"
                       "switch: {buffer: {kind: static, size: 100MB, xoff: 90MB, xon: 80MB}, aqm: %s, pfc: "
                       "{priorities: none}}\n"
                       "host: {cc: dctcp, transport: {kind: roce_rc, ecn_echo: ack, retransmission: selective}, pfc: "
                       "{priorities: none}}\n"
                       "workload: [{kind: incast, sources: \"*\", dst: host-0, size: 100GB, verb: send}]\n"
                       "run: {until: 40ms, sample_interval: 1us, sample_ports: \"switch-0/0\"}\n",
                       flows + 1, aqm);
    struct held h = {.drops = run_drops(&r)};
    double least = INFINITY, sum = 0;
    unsigned looks = 0, intervals = 0;
    for (size_t i = 0; i < r.outcome->samples; i++) {
        const struct weft_sample *s = &r.outcome->sample[i];
        if (s->priority != 3 || s->time_ps < 20 * WEFT_PS_PER_MS) continue;
        least = fmin(least, (double)s->queue_bytes / RATE * 1e6);
        h.utilisation += (double)s->tx_bytes / (MTU + 62) * WIRE / (RATE * 20e-3);
        if (++looks % interval_us) continue;
        sum += least;
        intervals++;
        least = INFINITY;
    }
    h.standing_us = sum / intervals;
    run_free(&r);
    print_message("%u flows, %s: standing wait %.2f us, utilisation %.4f, %" PRIu64 " drops\n", flows, aqm,
                  h.standing_us, h.utilisation, h.drops);
    return h;
}

// Senders that halve their window when a packet is lost, and else add a packet a round trip (DCTCP without marks, RFC
// 8257 section 3.5). Above: in the interval without a drop after the wait has passed the target, N flows add a packet
// each per round trip. Below: one of N equal windows is halved before the wait is seen to be below the target.
static void senders_that_halve_are_held_at_the_target(void **state) {
    const struct {
        const char *aqm;
        unsigned target_us, interval_us;
    } c[] = {{"{kind: codel, mark: false, target: 20us}", 20, 100},
             {"{kind: codel, mark: false, target: 50us, interval: 200us}", 50, 200}};
    double packet_us = WIRE / RATE * 1e6;
    for (unsigned i = 0; i < 2; i++)
        for (unsigned flows = 2; flows <= 16; flows *= 2) {
            struct held h = hold(flows, c[i].aqm, c[i].interval_us);
            double round_us = c[i].target_us + 2 * packet_us + 4 * .15 + 2 * .3;
            double most = c[i].target_us + flows * packet_us * c[i].interval_us / round_us;
            assert_true(h.standing_us <= most && h.standing_us >= c[i].target_us * (1 - .5 / flows));
            assert_true(h.drops > 0 && h.utilisation > .999);
        }
}

// Marks, to which DCTCP reacts by their part alone: the wait is held within two targets, where tail drop lets it grow
// to what the windows allow (4 MB each).
static void marks_hold_what_tail_drop_does_not(void **state) {
    for (unsigned flows = 2; flows <= 8; flows *= 2) {
        struct held codel = hold(flows, "{kind: codel, target: 20us}", 100), none = hold(flows, "none", 100);
        assert_int_equal(codel.drops, 0);
        assert_true(codel.standing_us > 10 && codel.standing_us < 40 && codel.utilisation > .999);
        assert_true(none.standing_us > .9 * flows * 4e6 / RATE * 1e6);
    }
}

// Every box that has an AQM asks it about packets that leave, and does what it says: nothing is lost but what is
// counted, and all arrives in the end. Without senders that slow down, so that much is marked or dropped.
static void every_box_obeys(void **state) {
    static const char *const networks[] = {
        "single, hosts: 9, rate: 100Gbps}",
        "single, hosts: 9, rate: 100Gbps}\ndevices: [{match: \"switch-0\", switch: {queueing: voq}}]",
        "single, hosts: 9, rate: 100Gbps}\ndevices: [{match: \"switch-0\", switch: {queueing: iq, fabric_patience: "
        "3}}]",
        "leaf_spine, leaves: 3, spines: 2, hosts_per_leaf: 3, rate: 100Gbps}\ndevices: [{match: \"*\", switch: "
        "{forwarding: cut_through}}]",
        "dsf_l1_zone, rdsws: 3, fdsws: 2, hosts_per_rdsw: 3, rails: 1, virtual_devices: 1, host_rate: 100Gbps}",
        "dragonfly, pods: 1, tins: 3, hosts_per_tin: 3, local_parallel: 1, local_ports: 2, host_rate: 100Gbps}",
    };
    for (size_t i = 0; i < 2 * sizeof networks / sizeof *networks; i++) {
        bool marks = i % 2;
        struct run r = RUN(run_text,
                           "topology: {kind: %s\n"
                           "switch: {aqm: {kind: codel, target: 1us, interval: 5us, least: 0B, mark: %s}, pfc: "
                           "{priorities: none}}\n"
                           "host: {timeout: 100us, pfc: {priorities: none}}\n"
                           "workload: [{kind: incast, sources: 'host-1..8', dst: host-0, size: 60KB, verb: send}]\n",
                           networks[i / 2], marks ? "true" : "false");
        uint64_t marked = 0;
        for (uint32_t k = 0; k < r.outcome->ports; k++)
            marked += weft_outcome_at(r.outcome, k, 3)->ecn_marked;
        print_message("%s: %" PRIu64 " marked, %" PRIu64 " dropped\n", networks[i / 2], marked,
                      r.outcome->drops[WEFT_DROP_AQM]);
        run_assert_complete(&r);
        assert_true(marks ? marked > 0 : !marked && r.outcome->drops[WEFT_DROP_AQM] > 0);
        weft_outcome_free(run_recorded(&r, 1, networks[i / 2]));
        run_free(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_by_the_control_law),
        cmocka_unit_test(drops_by_the_control_law),
        cmocka_unit_test(one_good_packet_ends_it),
        cmocka_unit_test(goes_on_where_it_was),
        cmocka_unit_test(every_box_obeys),
        cmocka_unit_test(senders_that_halve_are_held_at_the_target),
        cmocka_unit_test(marks_hold_what_tail_drop_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
