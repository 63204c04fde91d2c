// SPDX-License-Identifier: Apache-2.0
// Models of links: every retry gives a frame up at some time or waits, and says the same to the same fact; every grant
// of credit has room for a frame of the largest size.
#include "models.h"

#include "weft/credit.h"
#include "weft/random.h"
#include "weft/retry.h"

enum { FACTS = 1000 };

static void retry_holds(const struct weft_model *model, const void *conf) {
    const struct weft_retry_ops *ops = model->ops;
    struct weft_random random = weft_random_stream(1, 0, WEFT_RANDOM_TEST);
    for (unsigned i = 0; i < FACTS; i++) {
        struct weft_retry_fact fact = {.link_delay_ps = weft_random_below(&random, WEFT_PS_PER_MS),
                                       .rate_bps = 1000000000 + weft_random_below(&random, 1000000000000),
                                       .tries = 1 + (uint32_t)weft_random_below(&random, 1000)};
        weft_time_ps wait = ops->wait(conf, &fact);
        assert_true(wait == ops->wait(conf, &fact));
        assert_true(wait == WEFT_TIME_NEVER || wait >= 2 * fact.link_delay_ps); // the other end has to say so
        fact.tries = UINT32_MAX;
        assert_true(ops->wait(conf, &fact) == WEFT_TIME_NEVER);
    }
}

static void credit_holds(const struct weft_model *model, const void *conf) {
    const struct weft_credit_ops *ops = model->ops;
    struct weft_random random = weft_random_stream(2, 0, WEFT_RANDOM_TEST);
    assert_true(ops->unit(conf) > 0);
    for (unsigned i = 0; i < FACTS; i++) {
        struct weft_credit_fact fact = {.loop_ps = weft_random_below(&random, WEFT_PS_PER_MS),
                                        .rate_bps = 1000000000 + weft_random_below(&random, 1000000000000),
                                        .frame_bytes = 64 + (uint32_t)weft_random_below(&random, 9200)};
        weft_bytes grant = ops->grant(conf, &fact);
        assert_true(grant == ops->grant(conf, &fact));
        assert_true(!ops->priorities(conf) || grant >= weft_credit_take(ops->unit(conf), fact.frame_bytes));
    }
}

static void all_hold(void **state) {
    each_model(WEFT_KIND_RETRY, retry_holds);
    each_model(WEFT_KIND_CREDIT, credit_holds);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_hold)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
