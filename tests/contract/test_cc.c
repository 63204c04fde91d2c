// SPDX-License-Identifier: Apache-2.0
// Every congestion control with random facts: 0 < rate <= line rate, no timer in the past, its own invariant, and the
// same answers for the same facts. While it rests, sending changes nothing.
#include "models.h"

#include "weft/cc.h"
#include "weft/random.h"

struct caller {
    const struct weft_cc_ops *ops;
    const void *conf;
    void *state;
    struct weft_cc_fact fact;
    struct weft_cc_act act;
    uint64_t digest;
};

static void tell(struct caller *c,
                 void (*on_fact)(void *, const void *, const struct weft_cc_fact *, struct weft_cc_act *)) {
    if (!on_fact) return;
    c->act.new_path = false;
    on_fact(c->state, c->conf, &c->fact, &c->act);
    assert_true(c->act.rate_bps > 0);
    assert_true(c->act.rate_bps <= c->fact.line_rate_bps);
    assert_true(c->act.timer_ps >= c->fact.now_ps);
    assert_true(c->act.window_bytes > 0 || weft_cc_goes_by_credit(c->ops, c->conf));
    assert_true(!c->act.new_path || c->ops->moves_path);
    const char *broken = c->ops->check(c->state, c->conf, &c->act);
    if (broken) fail_msg("%s", broken);
    c->digest = (c->digest ^ c->act.rate_bps ^ c->act.timer_ps << 20) * UINT64_C(0x9e3779b97f4a7c15);
}

/// Sends, even for a model that says that it rests: then nothing may change.
static void tell_sent(struct caller *c) {
    size_t size = c->ops->state_size(c->conf);
    void *state = malloc(size + 1);
    memcpy(state, c->state, size);
    struct weft_cc_act act = c->act;
    tell(c, c->ops->on_sent);
    if (act.rests) {
        assert_true(c->act.rests);
        assert_memory_equal(c->state, state, size);
        assert_true(c->act.rate_bps == act.rate_bps && c->act.timer_ps == act.timer_ps);
        assert_true(c->act.window_bytes == act.window_bytes && !c->act.new_path);
    }
    free(state);
}

/// Lets every timer until `time` expire.
static void advance(struct caller *c, weft_time_ps time) {
    while (c->act.timer_ps <= time) {
        weft_time_ps due = c->act.timer_ps;
        c->fact.now_ps = due;
        tell(c, c->ops->on_timer);
        assert_true(c->act.timer_ps > due); // it asks for progress
    }
    c->fact.now_ps = time;
}

/// Telemetry of a path of 0 to 5 ports, sometimes a different path; older than the previous one, or not.
static struct weft_telemetry random_telemetry(weft_time_ps now, struct weft_random *random) {
    struct weft_telemetry t = {.hops = (uint8_t)weft_random_below(random, WEFT_TELEMETRY_HOPS + 1),
                               .path = (uint16_t)weft_random_below(random, 2)};
    for (uint32_t i = 0; i < t.hops; i++) {
        t.time_ps[i] = now - weft_random_below(random, now / 2 + 1);
        t.queue_bytes[i] = (uint32_t)weft_random_u64(random);
        t.sent_bytes[i] = (uint32_t)weft_random_u64(random);
        t.rate_mbps[i] = 1 + (uint32_t)weft_random_below(random, 3200000);
    }
    return t;
}

static void random_fact(struct caller *c, struct weft_random *random) {
    static const weft_time_ps steps[] = {WEFT_PS_PER_NS, 100 * WEFT_PS_PER_NS, 10 * WEFT_PS_PER_US, WEFT_PS_PER_MS};
    advance(c, c->fact.now_ps + weft_random_below(random, 2 * steps[weft_random_below(random, 4)]));
    struct weft_telemetry telemetry;
    switch (weft_random_below(random, 8)) {
    case 0:
        tell(c, c->ops->on_cnp);
        break;
    case 3:
        c->fact.timeouts = (uint32_t)weft_random_below(random, 10);
        c->fact.bytes = (uint32_t)weft_random_below(random, 2) * c->fact.packet_bytes;
        tell(c, c->ops->on_loss);
        if (!weft_cc_goes_by_credit(c->ops, c->conf)) break;
        c->fact.bytes = (uint32_t)weft_random_below(random, 20000);
        tell(c, c->ops->on_credit);
        c->fact.backlog_bytes = weft_random_below(random, 100) * c->fact.packet_bytes;
        c->digest ^= c->ops->target(c->state, c->conf, &c->fact);
        break;
    case 1:
    case 2:
        c->fact.bytes = (uint32_t)weft_random_below(random, 9000) + 1;
        c->fact.rtt_ps = weft_random_below(random, 2) * (WEFT_PS_PER_US + weft_random_below(random, WEFT_PS_PER_MS));
        c->fact.marked = weft_random_below(random, 4) == 0;
        c->fact.flight_bytes = weft_random_below(random, 1000) * c->fact.packet_bytes;
        telemetry = random_telemetry(c->fact.now_ps, random);
        c->fact.telemetry = weft_random_below(random, 2) ? &telemetry : NULL;
        tell(c, c->ops->on_ack);
        c->fact.telemetry = NULL;
        break;
    default:
        c->fact.bytes = (uint32_t)weft_random_below(random, 9000) + 84;
        tell_sent(c);
    }
}

static uint64_t run(const struct weft_model *model, const void *conf, weft_rate_bps line, uint64_t seed) {
    struct caller c = {.ops = model->ops, .conf = conf, .fact = {.line_rate_bps = line, .packet_bytes = 4096}};
    c.act = (struct weft_cc_act){.rate_bps = line, .timer_ps = WEFT_TIME_NEVER, .window_bytes = UINT64_MAX};
    c.state = calloc(1, c.ops->state_size(conf) + 1);
    struct weft_random random = weft_random_stream(seed, 0, WEFT_RANDOM_TEST);
    c.fact.now_ps = weft_random_below(&random, WEFT_PS_PER_S);
    tell(&c, c.ops->on_start);
    for (unsigned i = 0; i < 20000; i++)
        random_fact(&c, &random);
    free(c.state);
    return c.digest;
}

static const weft_rate_bps lines[] = {1000000000, 25000000000, 400000000000, 3200000000000};

static void holds(const struct weft_model *model, const void *conf) {
    for (unsigned i = 0; i < 4; i++)
        for (uint64_t seed = 1; seed <= 4; seed++)
            assert_int_equal(run(model, conf, lines[i], seed), run(model, conf, lines[i], seed));
}

static void all_hold_under_random_facts(void **state) {
    each_model(WEFT_KIND_CC, holds);
}

/// A model whose steps are rates, or bytes of a window, does not follow the line's rate by itself: it must say of which
/// rate its defaults are, so that run and check can tell the user. A floor, a rate at the start and a counter are none.
static void says_its_rate(const struct weft_model *model, const void *conf) {
    const struct weft_cc_ops *ops = model->ops;
    bool steps = false;
    for (uint32_t i = 0; model->params && i < model->params->n; i++) {
        const struct weft_param *row = &model->params->rows[i];
        bool step = (row->type == WEFT_PARAM_RATE && strstr(row->name, "increase")) || !strcmp(row->name, "w_ai");
        steps |= step && *(const uint64_t *)(const void *)((const char *)conf + row->offset) > 0;
    }
    struct weft_cc_values values = ops->values_of ? ops->values_of(conf) : (struct weft_cc_values){0};
    if (steps != (values.rate_bps > 0)) fail_msg("%s: has steps, and says no rate", model->name);
    if (values.rate_bps) assert_non_null(weft_param_find(model->params, values.key));
}

static void steps_have_a_rate(void **state) {
    each_model(WEFT_KIND_CC, says_its_rate);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_hold_under_random_facts),
                                       cmocka_unit_test(steps_have_a_rate)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
