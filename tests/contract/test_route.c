// SPDX-License-Identifier: Apache-2.0
// Every routing: the choice is among the candidates, the same for the same packet, and every candidate is used.
#include "models.h"

#include "weft/random.h"
#include "weft/route.h"

static const uint16_t ports[200];

static void chooses(const struct weft_model *model, const void *conf) {
    const struct weft_route_ops *ops = model->ops;
    struct weft_random random = weft_random_stream(1, 0, WEFT_RANDOM_TEST);
    static const uint32_t sizes[] = {2, 3, 8, 17, 64, 200};
    for (unsigned k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        uint32_t used[200] = {0};
        uint32_t seed = ops->hash_seed(conf, 42, k);
        assert_int_equal(seed, ops->hash_seed(conf, 42, k));
        for (unsigned i = 0; i < 100 * sizes[k]; i++) {
            struct weft_packet p = {.dst = (uint32_t)weft_random_below(&random, 10000),
                                    .entropy = weft_random_u64(&random) & 0x3fff};
            struct weft_route_query query = {&p, seed, sizes[k], ports};
            uint32_t choice = ops->select(conf, &query);
            assert_true(choice < sizes[k]);
            assert_int_equal(choice, ops->select(conf, &query));
            used[choice]++;
        }
        for (uint32_t i = 0; i < sizes[k]; i++)
            assert_true(used[i] > 0);
    }
}

static void all_choose(void **state) {
    each_model(WEFT_KIND_ROUTE, chooses);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_choose)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
