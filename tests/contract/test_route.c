// SPDX-License-Identifier: Apache-2.0
// Every routing: it has what its kind needs; the choice is among the candidates, whatever they are; what keeps no state
// chooses the same for the same packet, what does the same for the same packets; every candidate is used.
#include "route.h"

#include "weft/random.h"

static struct weft_packet any_packet(struct weft_random *random, uint32_t ups, uint32_t downs, weft_time_ps now) {
    return (struct weft_packet){
        .time_ps = now,
        .port = (uint16_t)(ups + weft_random_below(random, downs)),
        .dst = (uint32_t)weft_random_below(random, 10000),
        .qp = (uint32_t)weft_random_below(random, 100000),
        .entropy = weft_random_u64(random) & 0x3fff,
    };
}

static void has_what_it_needs(const struct weft_model *model, const void *conf) {
    const struct weft_route_ops *ops = model->ops;
    assert_true(ops->hash_seed && !ops->select == !!ops->choose);
    assert_true(!ops->choose == !ops->state_size && !ops->choose == !ops->init);
}

static void chooses(const struct weft_model *model, const void *conf) {
    struct weft_random random = weft_random_stream(1, 0, WEFT_RANDOM_TEST);
    static const uint32_t sizes[] = {2, 3, 8, 17, 64, 200};
    for (unsigned k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        uint32_t used[200] = {0}, ups = 200, downs = 200;
        struct router a = router_new(model, NULL, 42, k, ups, downs), b = router_new(model, NULL, 42, k, ups, downs);
        assert_int_equal(a.hash_seed, b.hash_seed);
        for (unsigned i = 0; i < 100 * sizes[k]; i++) {
            struct weft_packet p = any_packet(&random, ups, downs, i * WEFT_PS_PER_US);
            uint32_t depth = (uint32_t)weft_random_below(&random, 100000);
            a.depth[i % sizes[k]] = b.depth[i % sizes[k]] = depth;
            uint32_t port = router_port(&a, &p, a.all, sizes[k]);
            assert_int_equal(port, router_port(&b, &p, b.all, sizes[k]));
            if (!a.state) assert_int_equal(port, router_port(&a, &p, a.all, sizes[k]));
            used[port]++;
        }
        for (uint32_t i = 0; i < sizes[k]; i++)
            assert_true(used[i] > 0);
        router_free(&a);
        router_free(&b);
    }
}

/// Candidates come and go, as when links fail, packets come from above, and times may step back a little.
static void takes_what_there_is(const struct weft_model *model, const void *conf) {
    struct weft_random random = weft_random_stream(2, 0, WEFT_RANDOM_TEST);
    struct router r = router_new(model, NULL, 3, 1, 16, 16);
    for (unsigned i = 0; i < 5000; i++) {
        uint16_t port[32];
        uint32_t n = 0;
        uint64_t mask = weft_random_u64(&random);
        for (uint16_t p = 0; p < 32; p++)
            if (mask >> p & 1) port[n++] = p;
        if (n < 2) continue;
        struct weft_packet p =
            any_packet(&random, i % 2 ? 0 : 16, 16, i * WEFT_PS_PER_NS + weft_random_below(&random, 5000));
        router_port(&r, &p, port, n);
    }
    router_free(&r);
}

static void all_have_what_they_need(void **state) {
    each_model(WEFT_KIND_ROUTE, has_what_it_needs);
}
static void all_choose(void **state) {
    each_model(WEFT_KIND_ROUTE, chooses);
}
static void all_take_what_there_is(void **state) {
    each_model(WEFT_KIND_ROUTE, takes_what_there_is);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_have_what_they_need),
        cmocka_unit_test(all_choose),
        cmocka_unit_test(all_take_what_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
