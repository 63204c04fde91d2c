// SPDX-License-Identifier: Apache-2.0
// Every scheduler under random masks: it picks from the mask, asking twice changes nothing, the same picks for the same
// masks.
#include "models.h"

#include "weft/random.h"
#include "weft/scheduler.h"

static uint64_t run(const struct weft_scheduler_ops *ops, const void *conf, uint64_t seed) {
    struct weft_scheduler_state state = {{0}, 0};
    struct weft_random random = weft_random_stream(seed, 0, WEFT_RANDOM_TEST);
    uint64_t digest = 0;
    for (unsigned i = 0; i < 20000; i++) {
        uint8_t mask = (uint8_t)(weft_random_below(&random, 255) + 1);
        uint32_t priority = ops->pick(&state, conf, mask);
        assert_true(priority < WEFT_PRIORITIES);
        assert_true(mask >> priority & 1);
        assert_int_equal(ops->pick(&state, conf, mask), priority);
        if (ops->on_sent && weft_random_below(&random, 4))
            ops->on_sent(&state, conf, priority, (uint32_t)weft_random_below(&random, 9216) + 64);
        digest = digest * 31 + priority;
    }
    return digest;
}

static void picks_from_the_mask(const struct weft_model *model, const void *conf) {
    assert_int_equal(run(model->ops, conf, 1), run(model->ops, conf, 1));
    run(model->ops, conf, 2);
}

static void all_pick_from_the_mask(void **state) {
    each_model(WEFT_KIND_SCHEDULER, picks_from_the_mask);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_pick_from_the_mask)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
