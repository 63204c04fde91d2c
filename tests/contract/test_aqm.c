// SPDX-License-Identifier: Apache-2.0
// Every AQM with random depths: it marks only ECN-capable packets, touches nothing in an empty queue, and gives the
// same verdicts for the same stream.
#include "models.h"

#include "weft/aqm.h"

static uint64_t run(const struct weft_aqm_ops *ops, const void *conf, uint64_t seed) {
    struct weft_random random = weft_random_stream(seed, 0, WEFT_RANDOM_TEST);
    struct weft_random marks = weft_random_stream(seed, 1, WEFT_RANDOM_ECN);
    uint64_t digest = 0;
    for (unsigned i = 0; i < 50000; i++) {
        weft_bytes depth = weft_random_below(&random, UINT64_C(1) << weft_random_below(&random, 40));
        uint32_t bytes = (uint32_t)weft_random_below(&random, 9216) + 64;
        bool capable = weft_random_below(&random, 2);
        enum weft_aqm_verdict verdict = ops->on_enqueue(conf, depth, bytes, capable, &marks);
        if (!capable) assert_int_not_equal(verdict, WEFT_AQM_MARK);
        if (!depth || depth <= ops->pass(conf)) {
            struct weft_random before = marks;
            assert_int_equal(ops->on_enqueue(conf, depth, bytes, capable, &marks), WEFT_AQM_PASS);
            assert_memory_equal(&before, &marks, sizeof marks); // nothing was drawn
            assert_int_equal(verdict, WEFT_AQM_PASS);
        }
        digest = digest * 31 + verdict;
        if (!ops->on_dequeue) continue;
        verdict = ops->on_dequeue(conf, depth, capable, &marks);
        assert_int_not_equal(verdict, WEFT_AQM_DROP);
        if (!capable || !depth) assert_int_equal(verdict, WEFT_AQM_PASS);
        digest = digest * 31 + verdict;
    }
    return digest;
}

static void judges(const struct weft_model *model, const void *conf) {
    const struct weft_aqm_ops *ops = model->ops;
    assert_int_equal(!ops->on_dequeue, !ops->wants_dequeue);
    assert_int_equal(run(model->ops, conf, 1), run(model->ops, conf, 1));
    run(model->ops, conf, 2);
}

static void all_judge(void **state) {
    each_model(WEFT_KIND_AQM, judges);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_judge)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
