// SPDX-License-Identifier: Apache-2.0
// Source flow control in parts: the models against figures worked out by hand, the switch's memory of flows and
// intervals, and what a message does at a NIC.
#include "models.h"

#include <stdio.h>

#include "box/nic/nic.h"
#include "link/sfc.h"

#define US WEFT_PS_PER_US
#define NS WEFT_PS_PER_NS
#define G200 UINT64_C(200000000000)

static struct weft_sfc_act ask(const struct weft_model *model, const void *conf, const struct weft_sfc_fact *fact) {
    const struct weft_sfc_ops *ops = model->ops;
    struct weft_sfc_act act = {0};
    ops->on_packet(conf, fact, &act);
    return act;
}

static void fixed(void **state) {
    const struct weft_model *model = model_of(WEFT_KIND_SFC, "fixed");
    void *conf = conf_of(model, "{threshold: 200KB, pause: 6us}");
    assert_false(ask(model, conf, &(struct weft_sfc_fact){.queue_bytes = 200000}).signal);
    struct weft_sfc_act act = ask(model, conf, &(struct weft_sfc_fact){.queue_bytes = 200001});
    assert_true(act.signal);
    assert_int_equal(act.pause_ps, 6 * US);
    free(conf);
}

/// "SFC simulation", part 5: two layers, 3:1, 200 Gbit/s = 25 B/ns, loop 150 x 6 + 300 x 5 = 2400 ns, so a rise of
/// 2 x 60 KB; threshold 200 KB: the pause must lie in (4.8, 12.8) us. target 1 and 0 are the ends of the range.
static void adaptive_as_in_the_study(void **state) {
    static const struct {
        const char *target;
        double pause_us;
    } cases[] = {{"1", 4.8}, {"0.5", 8.8}, {"0", 12.8}};
    const struct weft_model *model = model_of(WEFT_KIND_SFC, "adaptive");
    struct weft_sfc_fact fact = {.queue_bytes = 200001,
                                 .room_bytes = 1000000,

                                 .input_rate_bps = G200,
                                 .output_rate_bps = G200,
                                 .drain_rate_bps = G200,
                                 .feed_rate_bps = 3 * G200,
                                 .flows = 3,
                                 .inputs = 3};
    for (unsigned i = 0; i < 3; i++) {
        char yaml[128];
        snprintf(yaml, sizeof yaml, "{threshold: 200KB, loop: 2400ns, target: %s}", cases[i].target);
        void *conf = conf_of(model, yaml);
        struct weft_sfc_act act = ask(model, conf, &fact);
        assert_true(act.signal);
        assert_int_equal((act.pause_ps + 500) / NS, (uint64_t)(cases[i].pause_us * 1000)); // 1 B is 40 ps
        free(conf);
    }
}

/// Depth 100 KB; the input is to keep 1.25 x 25 B/ns x 2400 ns = 75 KB of room. With frames of 4174 B from 6 flows at
/// 75 B/ns the loop is 333.92 ns longer, so 85,435 B.
static void adaptive_threshold(void **state) {
    const struct weft_model *model = model_of(WEFT_KIND_SFC, "adaptive");
    void *conf = conf_of(model, "{threshold: 200KB, loop: 2400ns, margin: 1.25}");
    struct weft_sfc_fact fact = {
        .queue_bytes = 100000, .input_rate_bps = G200, .drain_rate_bps = G200, .feed_rate_bps = 3 * G200};
    fact.room_bytes = 75000;
    assert_false(ask(model, conf, &fact).signal);
    fact.room_bytes = 74999;
    assert_true(ask(model, conf, &fact).signal);
    fact.flows = 6;
    fact.packet_bytes = 4174;
    fact.room_bytes = 85436;
    assert_false(ask(model, conf, &fact).signal);
    fact.room_bytes = 85434;
    assert_true(ask(model, conf, &fact).signal);
    fact.queue_bytes = 50000; // the floor
    fact.room_bytes = 0;
    assert_false(ask(model, conf, &fact).signal);
    free(conf);
}

/// Nothing rises if less arrives than leaves; the pause drains the excess over the target, and 100us is the longest.
static void adaptive_bounds(void **state) {
    const struct weft_model *model = model_of(WEFT_KIND_SFC, "adaptive");
    void *conf = conf_of(model, "{threshold: 200KB}");
    struct weft_sfc_fact fact = {.queue_bytes = 300000,
                                 .room_bytes = 1000000,

                                 .input_rate_bps = G200,
                                 .output_rate_bps = G200,
                                 .drain_rate_bps = G200,
                                 .feed_rate_bps = G200 / 2};
    assert_int_equal(ask(model, conf, &fact).pause_ps, 8 * US); // 200 KB at 25 B/ns
    fact.drain_rate_bps = 1;
    assert_int_equal(ask(model, conf, &fact).pause_ps, 100 * US);
    free(conf);
}

/// An input of 800 Gbit/s brings no more than its flows can send: 3 x 200, so a rise of 50 B/ns x 2400 ns. With
/// sources of 400 Gbit/s it is 75 B/ns x 2400 ns.
static void adaptive_sources(void **state) {
    const struct weft_model *model = model_of(WEFT_KIND_SFC, "adaptive");
    struct weft_sfc_fact fact = {.queue_bytes = 200001,
                                 .room_bytes = 1000000,
                                 .input_rate_bps = 4 * G200,
                                 .output_rate_bps = G200,
                                 .drain_rate_bps = G200,
                                 .feed_rate_bps = 4 * G200,
                                 .flows = 3,
                                 .inputs = 1};
    void *conf = conf_of(model, "{loop: 2400ns, target: 1}");
    assert_int_equal((ask(model, conf, &fact).pause_ps + 500) / NS, 4800);
    free(conf);
    conf = conf_of(model, "{loop: 2400ns, target: 1, source_rate: 400Gbps}");
    assert_int_equal((ask(model, conf, &fact).pause_ps + 500) / NS, 7200);
    free(conf);
}

static struct weft__sfc sfc_of(struct weft_model_conf *choice, const char *model, const char *yaml) {
    choice->model = model_of(WEFT_KIND_SFC, model);
    choice->conf = conf_of(choice->model, yaml);
    struct weft__sfc sfc;
    weft__sfc_init(&sfc, choice, 16);
    return sfc;
}

static void intervals(void **state) {
    struct weft_model_conf choice;
    struct weft__sfc sfc = sfc_of(&choice, "fixed", "{interval: 10us, source_interval: 4us}");
    struct weft__sfc_packet a = {.queue = 3, .priority = 3, .qp = 7, .src = 1}, b = a, c = a, d = a;
    b.qp = 8;
    c.queue = 4;
    d.src = 2;
    d.qp = 9;
    assert_true(weft__sfc_allow(&sfc, &a, 0));
    assert_true(weft__sfc_allow(&sfc, &c, 0)); // another queue
    assert_true(weft__sfc_allow(&sfc, &d, 0)); // another source
    assert_false(weft__sfc_allow(&sfc, &b, 4 * US - 1));
    assert_true(weft__sfc_allow(&sfc, &b, 4 * US));
    assert_false(weft__sfc_allow(&sfc, &a, 10 * US - 1));
    assert_true(weft__sfc_allow(&sfc, &a, 10 * US));
    weft__sfc_deinit(&sfc);
    free(choice.conf);
}

/// Many flows, each at its own pace, against a plain array; the table does not grow with flows long gone.
static void many_flows(void **state) {
    enum { FLOWS = 5000, STEPS = 200000 };
    static weft_time_ps last[FLOWS];
    struct weft_model_conf choice;
    struct weft__sfc sfc = sfc_of(&choice, "fixed", "{interval: 1us}");
    struct weft_random random = weft_random_stream(1, 0, WEFT_RANDOM_TEST);
    memset(last, 0xff, sizeof last);
    for (weft_time_ps step = 0; step < STEPS; step++) {
        weft_time_ps now = step * 20 * NS;
        uint32_t qp = (uint32_t)(step / 1000 * 20 + weft_random_below(&random, 60)) % FLOWS;
        bool due = last[qp] == WEFT_TIME_NEVER || now - last[qp] >= US;
        assert_int_equal(weft__sfc_allow(&sfc, &(struct weft__sfc_packet){.qp = qp, .priority = 3}, now), due);
        if (due) last[qp] = now;
    }
    assert_in_range(sfc.capacity, 64, 512); // 50 of 60 flows within a microsecond
    weft__sfc_deinit(&sfc);
    free(choice.conf);
}

static struct weft_sfc_fact count(struct weft__sfc *sfc, uint32_t qp, uint32_t in, weft_time_ps now) {
    struct weft_sfc_fact fact = {.now_ps = now};
    struct weft__sfc_packet packet = {.queue = 2, .priority = 3, .qp = qp, .in = in, .in_rate_bps = G200};
    weft__sfc_count(sfc, &packet, &fact);
    return fact;
}

/// Memory 10 us: what fed the queue in this round of it or the one before.
static void degree(void **state) {
    struct weft_model_conf choice;
    struct weft__sfc sfc = sfc_of(&choice, "adaptive", "{memory: 10us}");
    assert_int_equal(count(&sfc, 1, 0, 0).flows, 1);
    assert_int_equal(count(&sfc, 1, 0, US).flows, 1);
    assert_int_equal(count(&sfc, 2, 0, 2 * US).flows, 2);
    struct weft_sfc_fact fact = count(&sfc, 3, 5, 3 * US);
    assert_int_equal(fact.flows, 3);
    assert_int_equal(fact.inputs, 2);
    assert_int_equal(fact.feed_rate_bps, 2 * G200);
    fact = count(&sfc, 3, 5, 12 * US); // a new round; the one before still counts
    assert_int_equal(fact.flows, 3);
    assert_int_equal(fact.feed_rate_bps, 2 * G200);
    fact = count(&sfc, 3, 5, 23 * US); // and now no longer
    assert_int_equal(fact.flows, 1);
    assert_int_equal(fact.feed_rate_bps, G200);
    assert_int_equal(count(&sfc, 4, 5, 23 * US).flows, 2);
    assert_int_equal(count(&sfc, 9, 1, 60 * US).flows, 1); // a gap: nothing was before
    weft__sfc_deinit(&sfc);
    free(choice.conf);
}

enum { QPS = 5 };

struct source {
    struct weft_qp_conf qp[QPS];
    struct weft_qp_sender sender[QPS];
    struct weft__qp_hold hold[QPS];
    struct weft_flow_outcome outcome[QPS];
    struct weft_counters counters[WEFT_PRIORITIES];
    struct weft_host_conf conf;
    struct weft__hosts hosts;
    uint32_t send_qp[QPS];
    struct weft__nic nic;
    struct weft__worker worker;
};

/// Queue pairs 0 and 1 to host 8, 2 and 3 to host 9, all of priority 3; 4 to host 8 of priority 5. 1 has not begun.
static struct source *source_new(enum weft_sfc_scope scope) {
    struct source *s = aligned_alloc(64, (sizeof *s + 63) & ~(size_t)63);
    memset(s, 0, sizeof *s);
    for (uint32_t i = 0; i < QPS; i++) {
        s->qp[i] = (struct weft_qp_conf){
            .flow = i, .dst = i == 2 || i == 3 ? 9 : 8, .packets = 100, .priority = i == 4 ? 5 : 3};
        s->sender[i].started = i != 1;
        s->send_qp[i] = i;
    }
    s->conf.sfc = true;
    s->conf.sfc_scope = scope;
    s->hosts = (struct weft__hosts){.qp = s->qp, .sender = s->sender, .hold = s->hold, .outcome = s->outcome};
    s->nic.conf = &s->conf;
    s->nic.end.hosts = &s->hosts;
    s->nic.sends = QPS;
    s->nic.send_qp = s->send_qp;
    s->nic.port.counters = s->counters;
    s->nic.port.row_bytes = sizeof(struct weft__port_queue);
    return s;
}

static void tell(struct source *s, uint32_t qp, weft_time_ps now, uint32_t pause_ns) {
    struct weft_packet message = {.kind = WEFT_PACKET_SFCM, .qp = qp, .psn = pause_ns, .bytes = WEFT_FRAME_SFCM};
    s->worker.now_ps = now;
    weft__nic_on_sfcm(&s->nic, &s->worker, &message);
}

static void scopes(void **state) {
    static const uint8_t held[][QPS] = {
        [WEFT_SFC_FLOW] = {1, 0, 0, 0, 0},
        [WEFT_SFC_DESTINATION] = {1, 1, 0, 0, 1},
        [WEFT_SFC_PRIORITY] = {1, 1, 1, 1, 0},
    };
    for (unsigned scope = 0; scope < 3; scope++) {
        struct source *s = source_new((enum weft_sfc_scope)scope);
        tell(s, 0, 5 * US, 2000);
        for (uint32_t i = 0; i < QPS; i++)
            assert_int_equal(s->hold[i].until_ps, held[scope][i] ? 7 * US : 0);
        assert_int_equal(s->nic.hold_until_ps, 7 * US);
        assert_int_equal(s->outcome[0].sfc_messages, 1);
        assert_int_equal(weft__port_counters(&s->nic.port, 3)->sfc_received, 1);
        assert_int_equal(s->worker.tally.delivered_bytes, WEFT_FRAME_SFCM);
        weft__nic_finish_holds(&s->nic, 6 * US);
        for (uint32_t i = 0; i < QPS; i++) // the one that has not begun has nothing to stop
            assert_int_equal(s->outcome[i].sfc_paused_ps, held[scope][i] && i != 1 ? US : 0);
        free(s);
    }
}

/// A pause that would end earlier changes nothing; one that ends later prolongs. What is counted is the union.
static void the_later_end_counts(void **state) {
    struct source *s = source_new(WEFT_SFC_FLOW);
    tell(s, 0, 10 * US, 10000); // 10 to 20
    tell(s, 0, 12 * US, 3000);  // to 15: no
    assert_int_equal(s->hold[0].until_ps, 20 * US);
    tell(s, 0, 19 * US, 5000); // to 24
    assert_int_equal(s->hold[0].until_ps, 24 * US);
    tell(s, 0, 30 * US, 1000); // 30 to 31
    weft__nic_finish_holds(&s->nic, 100 * US);
    assert_int_equal(s->outcome[0].sfc_paused_ps, 15 * US);
    assert_int_equal(s->outcome[0].sfc_messages, 4);
    free(s);
}

static void a_nic_that_does_not_understand(void **state) {
    struct source *s = source_new(WEFT_SFC_PRIORITY);
    s->conf.sfc = false;
    tell(s, 0, US, 10000);
    assert_int_equal(s->nic.hold_until_ps, 0);
    assert_int_equal(s->hold[0].until_ps, 0);
    assert_int_equal(s->outcome[0].sfc_messages, 1);
    free(s);
}

int main(void) {
#define T(name) cmocka_unit_test(name)
    const struct CMUnitTest tests[] = {
        T(fixed),
        T(adaptive_as_in_the_study),
        T(adaptive_threshold),
        T(adaptive_bounds),
        T(adaptive_sources),
        T(intervals),
        T(many_flows),
        T(degree),
        T(scopes),
        T(the_later_end_counts),
        T(a_nic_that_does_not_understand),
    };
#undef T
    return cmocka_run_group_tests(tests, NULL, NULL);
}
