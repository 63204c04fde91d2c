// SPDX-License-Identifier: Apache-2.0
// Every source flow control model under random facts: no signal at or below the depth it watches, a pause above 0 and
// no longer than its configuration allows, and the same answer to the same fact.
#include "models.h"

#include "weft/random.h"
#include "weft/sfc.h"

static weft_bytes below(struct weft_random *random, unsigned bits) {
    return weft_random_below(random, UINT64_C(1) << weft_random_below(random, bits));
}

static struct weft_sfc_fact random_fact(struct weft_random *random, bool counted) {
    struct weft_sfc_fact fact = {
        .now_ps = below(random, 50),
        .packet_bytes = 64 + (uint32_t)below(random, 13),
        .queue_bytes = below(random, 40),
        .room_bytes = below(random, 40),
        .input_rate_bps = 1 + below(random, 40),
        .output_rate_bps = 1 + below(random, 40),
        .drain_rate_bps = 1 + below(random, 40),
        .feed_rate_bps = below(random, 45),
    };
    if (counted) fact.flows = 1 + (uint32_t)below(random, 16);
    if (counted) fact.inputs = 1 + (uint32_t)below(random, 9);
    return fact;
}

static void judges(const struct weft_model *model, const void *conf) {
    const struct weft_sfc_ops *ops = model->ops;
    const struct weft_sfc_conf *c = conf;
    struct weft_random random = weft_random_stream(1, 0, WEFT_RANDOM_TEST);
    bool counted = ops->memory != NULL;
    if (counted) assert_true(ops->memory(conf) > 0);
    if (!c->priorities) return; // never asked
    for (unsigned i = 0; i < 50000; i++) {
        struct weft_sfc_fact fact = random_fact(&random, counted);
        if (fact.queue_bytes <= ops->watch(conf)) continue;
        struct weft_sfc_act act = {0}, again = {0};
        ops->on_packet(conf, &fact, &act);
        ops->on_packet(conf, &fact, &again);
        assert_int_equal(act.signal, again.signal);
        assert_int_equal(act.pause_ps, again.pause_ps);
        if (!act.signal) continue;
        assert_true(act.pause_ps > 0);
        assert_true(act.pause_ps <= c->pause_ps);
        assert_true(fact.queue_bytes > 0);
    }
    struct weft_sfc_fact deep = {
        .queue_bytes = c->threshold_bytes + 1, .drain_rate_bps = 1, .packet_bytes = 64, .flows = 2, .inputs = 2};
    struct weft_sfc_act act = {0};
    ops->on_packet(conf, &deep, &act);
    assert_true(act.signal); // the threshold holds at the latest
}

static void all_judge(void **state) {
    each_model(WEFT_KIND_SFC, judges);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_judge)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
