// SPDX-License-Identifier: Apache-2.0
// WRED marks with the probability of its curve: 0 up to min, Pmax (q - min) / (max - min) up to max, 1 above (Zhu et
// al., SIGCOMM 2015, figure 5).
#include "form.h"
#include "models.h"

#include <math.h>

#include "weft/aqm.h"

static const char curve[] = "{min: 100KB, max: 400KB, max_probability: 0.2, drop: 1MB}";

static unsigned count(const struct weft_aqm_ops *ops, const void *conf, weft_bytes depth, bool capable,
                      enum weft_aqm_verdict verdict, unsigned trials, struct weft_random *random) {
    unsigned n = 0;
    for (unsigned i = 0; i < trials; i++)
        n += ops->on_enqueue(NULL, conf,
                             &(struct weft_aqm_fact){.queue_bytes = depth, .bytes = 1000, .ecn_capable = capable},
                             random) == verdict;
    return n;
}

static enum weft_aqm_verdict leave(const struct weft_aqm_ops *ops, const void *conf, weft_bytes depth, bool capable,
                                   struct weft_random *random) {
    return ops->on_dequeue(NULL, conf, &(struct weft_aqm_fact){.queue_bytes = depth, .ecn_capable = capable}, random);
}

// Four standard deviations of a binomial, at each depth and over all of them.
static void marks_along_the_curve(void **state) {
    const struct weft_model *model = model_of(WEFT_KIND_AQM, "wred");
    void *conf = conf_of(model, curve);
    struct weft_random random = weft_random_stream(1, 0, WEFT_RANDOM_ECN);
    double sum = 0, expected = 0, variance = 0;
    for (weft_bytes depth = 110000; depth <= 400000; depth += 10000) {
        double trials = 20000, p = .2 * ((double)depth - 100000) / 300000;
        double marked = count(model->ops, conf, depth, true, WEFT_AQM_MARK, (unsigned)trials, &random) / trials;
        form_assert("Packets that WRED marks (Zhu et al. 2015, figure 5)", marked, p, 4 * sqrt((1 - p) / p / trials));
        sum += marked;
        expected += p;
        variance += p * (1 - p) / trials;
    }
    assert_true(fabs(sum - expected) <= 4 * sqrt(variance));
    free(conf);
}

static void is_certain_outside_the_curve(void **state) {
    const struct weft_model *model = model_of(WEFT_KIND_AQM, "wred");
    void *conf = conf_of(model, curve);
    struct weft_random random = weft_random_stream(1, 0, WEFT_RANDOM_ECN);
    assert_int_equal(count(model->ops, conf, 0, true, WEFT_AQM_PASS, 100, &random), 100);
    assert_int_equal(count(model->ops, conf, 100000, true, WEFT_AQM_PASS, 100, &random), 100);
    assert_int_equal(count(model->ops, conf, 400001, true, WEFT_AQM_MARK, 100, &random), 100);
    assert_int_equal(count(model->ops, conf, 1000000, true, WEFT_AQM_MARK, 100, &random), 100);
    assert_int_equal(count(model->ops, conf, 1000001, true, WEFT_AQM_DROP, 100, &random), 100);
    assert_int_equal(count(model->ops, conf, 900000, false, WEFT_AQM_PASS, 100, &random), 100);
    assert_int_equal(random.drawn, 0); // nothing was left to chance
    free(conf);
}

/// Marked at departure: nothing is at arrival but what is dropped, and the same curve decides at the other end.
static void marks_at_departure(void **state) {
    const struct weft_model *model = model_of(WEFT_KIND_AQM, "wred");
    const struct weft_aqm_ops *ops = model->ops;
    void *conf = conf_of(model, "{min: 100KB, max: 400KB, max_probability: 0.2, drop: 1MB, mark_at: departure}");
    struct weft_random random = weft_random_stream(1, 0, WEFT_RANDOM_ECN);
    assert_true(ops->wants_dequeue(conf));
    assert_int_equal(count(ops, conf, 900000, true, WEFT_AQM_PASS, 100, &random), 100);
    assert_int_equal(count(ops, conf, 1000001, true, WEFT_AQM_DROP, 100, &random), 100);
    assert_int_equal(leave(ops, conf, 100000, true, &random), WEFT_AQM_PASS);
    assert_int_equal(leave(ops, conf, 400001, true, &random), WEFT_AQM_MARK);
    assert_int_equal(leave(ops, conf, 400001, false, &random), WEFT_AQM_PASS);
    assert_int_equal(random.drawn, 0);
    double trials = 20000, p = .1, n = 0;
    for (unsigned i = 0; i < 20000; i++)
        n += leave(ops, conf, 250000, true, &random) == WEFT_AQM_MARK;
    assert_true(fabs(n / trials - p) <= 4 * sqrt(p * (1 - p) / trials));
    free(conf);
}

static void min_equal_max_is_a_step(void **state) {
    const struct weft_model *model = model_of(WEFT_KIND_AQM, "wred");
    void *conf = conf_of(model, "{min: 200KB, max: 200KB}");
    struct weft_random random = weft_random_stream(1, 0, WEFT_RANDOM_ECN);
    assert_int_equal(count(model->ops, conf, 200000, true, WEFT_AQM_PASS, 100, &random), 100);
    assert_int_equal(count(model->ops, conf, 200001, true, WEFT_AQM_MARK, 100, &random), 100);
    assert_int_equal(random.drawn, 0);
    free(conf);
}

// RFC 3168, section 5: where an ECN-capable packet would be marked, another is dropped. Same stream, same verdicts.
static void incapable_packets_are_dropped_alike(void **state) {
    const struct weft_model *model = model_of(WEFT_KIND_AQM, "wred");
    void *conf = conf_of(model, "{min: 100KB, max: 400KB, max_probability: 0.2, drop_incapable: true}");
    struct weft_random a = weft_random_stream(1, 0, WEFT_RANDOM_ECN), b = a;
    unsigned marked = count(model->ops, conf, 300000, true, WEFT_AQM_MARK, 5000, &a);
    assert_true(marked > 0);
    assert_int_equal(count(model->ops, conf, 300000, false, WEFT_AQM_DROP, 5000, &b), marked);
    assert_int_equal(count(model->ops, conf, 500000, false, WEFT_AQM_DROP, 100, &b), 100);
    free(conf);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_along_the_curve),
        cmocka_unit_test(is_certain_outside_the_curve),
        cmocka_unit_test(marks_at_departure),
        cmocka_unit_test(min_equal_max_is_a_step),
        cmocka_unit_test(incapable_packets_are_dropped_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
