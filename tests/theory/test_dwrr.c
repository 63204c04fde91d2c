// SPDX-License-Identifier: Apache-2.0
// Shares of deficit round robin. With a surplus instead of a deficit a turn overdraws by less than one packet, so after
// R rounds a priority that always waits has sent between R w Q and R w Q + one packet (Shreedhar and Varghese 1995,
// lemma 1, mirrored).
#include "models.h"

#include "weft/random.h"
#include "weft/scheduler.h"

static const uint64_t weights[WEFT_PRIORITIES] = {1, 2, 5, 4, 8, 1, 3, 15};
static const char yaml[] = "{weights: [1, 2, 5, 4, 8, 1, 3, 15], quantum: 1500B}";

/// Sizes that a priority sends; the last is the greatest.
static uint32_t draw_bytes(uint32_t priority, struct weft_random *random) {
    static const uint32_t sizes[WEFT_PRIORITIES][3] = {{64, 64, 64},       {1500, 1500, 1500}, {64, 1500, 9216},
                                                       {4158, 4158, 4158}, {78, 1082, 4158},   {9216, 9216, 9216},
                                                       {64, 65, 66},       {1082, 4158, 9216}};
    return sizes[priority][weft_random_below(random, 3)];
}

static void shares_are_exact(void **state) {
    const struct weft_model *model = model_of(WEFT_KIND_SCHEDULER, "dwrr");
    const struct weft_scheduler_ops *ops = model->ops;
    void *conf = conf_of(model, yaml);
    struct weft_random random = weft_random_stream(1, 0, WEFT_RANDOM_TEST);
    struct weft_scheduler_state s = {{0}, 0};
    uint64_t sent[WEFT_PRIORITIES] = {0}, rounds = 0;
    uint32_t last = 1; // the first turn is that of priority 1, after 0
    while (rounds < 2000) {
        uint32_t p = ops->pick(&s, conf, 0xff);
        if (p == 1 && last != 1) {
            rounds++; // every priority has had its turn, or owed too much for it
            for (unsigned i = 0; i < WEFT_PRIORITIES; i++) {
                uint64_t worth = rounds * weights[i] * 1500;
                assert_true(sent[i] >= worth && sent[i] < worth + 9216);
            }
        }
        last = p;
        uint32_t bytes = draw_bytes(p, &random);
        ops->on_sent(&s, conf, p, bytes);
        sent[p] += bytes;
    }
    free(conf);
}

/// Long-run share of priority 1 against 2, both always waiting, others never.
static void idle_priorities_take_nothing(void **state) {
    const struct weft_model *model = model_of(WEFT_KIND_SCHEDULER, "dwrr");
    const struct weft_scheduler_ops *ops = model->ops;
    void *conf = conf_of(model, yaml);
    struct weft_random random = weft_random_stream(2, 0, WEFT_RANDOM_TEST);
    struct weft_scheduler_state s = {{0}, 0};
    uint64_t sent[WEFT_PRIORITIES] = {0};
    for (unsigned i = 0; i < 200000; i++) {
        uint32_t p = ops->pick(&s, conf, 1 << 4 | 1 << 7), bytes = draw_bytes(p, &random);
        ops->on_sent(&s, conf, p, bytes);
        sent[p] += bytes;
    }
    // 8 : 15, to within one round (23 quanta) and a packet each of 600 MB sent.
    double share = (double)sent[4] / (double)(sent[4] + sent[7]);
    assert_true(share > 8. / 23 - 1e-4 && share < 8. / 23 + 1e-4);
    free(conf);
}

/// A priority saves no credit while it has nothing to send: when it comes back it gets one turn, then the other does.
static void idling_earns_nothing(void **state) {
    const struct weft_model *model = model_of(WEFT_KIND_SCHEDULER, "dwrr");
    const struct weft_scheduler_ops *ops = model->ops;
    void *conf = conf_of(model, "{quantum: 10KB}");
    struct weft_scheduler_state s = {{0}, 0};
    for (unsigned i = 0; i < 1000; i++) {
        uint32_t p = ops->pick(&s, conf, i ? 4 : 2); // priority 1 once, in mid-turn, then only 2
        ops->on_sent(&s, conf, p, 1000);
    }
    unsigned burst = 0, sent = 0;
    while (ops->pick(&s, conf, 1 << 1 | 1 << 2) == 2) {
        ops->on_sent(&s, conf, 2, 1000); // what is left of its turn
        sent++;
    }
    while (ops->pick(&s, conf, 1 << 1 | 1 << 2) == 1) {
        ops->on_sent(&s, conf, 1, 1000);
        burst++;
    }
    assert_true(sent <= 10);
    assert_int_equal(burst, 10);
    free(conf);
}

/// Strict priorities come first whenever they can send; the weighted ones share the rest as if alone.
static void strict_comes_before_weighted(void **state) {
    const struct weft_model *model = model_of(WEFT_KIND_SCHEDULER, "dwrr");
    const struct weft_scheduler_ops *ops = model->ops;
    void *conf = conf_of(model, "{weights: [3, 1, 1, 1, 1, 1, 1, 1], quantum: 1000B, strict: [5, 7]}");
    struct weft_scheduler_state s = {{0}, 0};
    uint64_t sent[WEFT_PRIORITIES] = {0};
    assert_int_equal(ops->pick(&s, conf, 0xff), 7);
    assert_int_equal(ops->pick(&s, conf, 0x7f), 5);
    for (unsigned i = 0; i < 8000; i++) {
        uint8_t mask = i % 2 ? 0x03 : 0x23;
        uint32_t p = ops->pick(&s, conf, mask);
        assert_int_equal(p == 5, i % 2 == 0);
        ops->on_sent(&s, conf, p, 1000);
        sent[p] += 1000;
    }
    assert_int_equal(sent[0], 3000000);
    assert_int_equal(sent[1], 1000000);
    free(conf);
}

static void strict_is_highest_first(void **state) {
    const struct weft_scheduler_ops *ops = model_of(WEFT_KIND_SCHEDULER, "strict")->ops;
    struct weft_scheduler_state s = {{0}, 0};
    for (uint32_t mask = 1; mask < 256; mask++) {
        uint32_t p = ops->pick(&s, NULL, (uint8_t)mask);
        assert_true(mask >> p == 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_exact),        cmocka_unit_test(idle_priorities_take_nothing),
        cmocka_unit_test(idling_earns_nothing),    cmocka_unit_test(strict_comes_before_weighted),
        cmocka_unit_test(strict_is_highest_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
