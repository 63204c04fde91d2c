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

/// Candidates appear and disappear, as when links fail, packets arrive from above, and times may step back a little.
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

struct counted {
    weft_bytes bytes[ROUTER_PORTS_MAX][ROUTER_EDGES];
};

static void take_off(void *context, uint32_t port, uint32_t edge, weft_bytes bytes) {
    struct counted *c = context;
    assert_true(bytes > 0);
    c->bytes[port][edge] -= bytes;
}

/// What a controller needs: every byte of hosts is measured once; entries are followed while their port is a candidate,
/// and not after they are cleared.
static void is_programmed(const struct weft_model *model, const void *conf) {
    const struct weft_route_program *program = ((const struct weft_route_ops *)model->ops)->program;
    if (!program) return;
    assert_true(program->schedule && program->measured && program->clear && program->enter && program->counts);
    assert_true(program->schedule(conf).interval_ps > 0);
    struct weft_random random = weft_random_stream(4, 0, WEFT_RANDOM_TEST);
    struct router r = router_new(model, NULL, 3, 1, 16, 16);
    struct counted *counted = calloc(1, sizeof *counted);
    uint64_t followed = 0, by_entry, by_fallback, packets = 0;
    program->enter(r.state, r.conf, 20, 7, 5);
    for (unsigned i = 0; i < 4000; i++) {
        struct weft_packet p = any_packet(&random, i % 8 ? 16 : 0, 16, i * WEFT_PS_PER_NS);
        p.bytes = (uint16_t)(64 + weft_random_below(&random, 4000));
        if (i % 4 == 3) p.port = 20, p.dst = 7; // edge 7
        if (p.port >= 16) counted->bytes[p.port][p.dst % ROUTER_EDGES] += p.bytes;
        bool bound = p.port == 20 && p.dst % ROUTER_EDGES == 7 && i < 2000, there = i < 1000;
        uint32_t port = router_port(&r, &p, there ? r.all : r.all + 6, 10);
        if (bound && there) assert_int_equal(port, 5);
        followed += bound && there;
        packets++;
        if (i == 1500) program->measured(r.state, r.conf, take_off, counted);
        if (i == 1999) program->clear(r.state, r.conf);
    }
    program->measured(r.state, r.conf, take_off, counted);
    for (uint32_t port = 0; port < ROUTER_PORTS_MAX; port++)
        for (uint32_t edge = 0; edge < ROUTER_EDGES; edge++)
            assert_int_equal(counted->bytes[port][edge], 0);
    program->counts(r.state, &by_entry, &by_fallback);
    assert_int_equal(by_entry, followed);
    assert_int_equal(by_entry + by_fallback, packets);
    free(counted);
    router_free(&r);
}

static void all_have_what_they_need(void **state) {
    each_model(WEFT_KIND_ROUTE, has_what_it_needs);
}
static void all_choose(void **state) {
    each_model(WEFT_KIND_ROUTE, chooses);
}
static void all_are_programmed(void **state) {
    each_model(WEFT_KIND_ROUTE, is_programmed);
}
static void all_take_what_there_is(void **state) {
    each_model(WEFT_KIND_ROUTE, takes_what_there_is);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_have_what_they_need),
        cmocka_unit_test(all_choose),
        cmocka_unit_test(all_take_what_there_is),
        cmocka_unit_test(all_are_programmed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
