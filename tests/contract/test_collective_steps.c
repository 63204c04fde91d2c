// SPDX-License-Identifier: Apache-2.0
// Promises of collectives about single steps: who is whose peer, and what a step costs.
// tests/contract/test_collective.c executes them.
#include "models.h"
#include "own_memory.h"

#include <inttypes.h>

/// In NCCL's order every rank meets every other once, servers at triangular distances.
static void peers_come_in_order(void **state) {
    const struct weft_model *model = model_of(WEFT_KIND_COLLECTIVE, "all_to_all");
    const struct weft_collective_ops *ops = model->ops;
    static const uint32_t expected[][8] = {{0, 1, 3, 6, 2, 7, 5, 4}, {0, 1, 3, 2, 5, 4}};
    void *conf = conf_of(model, "{order: nccl, channels: 1, chunk: 1KB, slice: 1KB, slots: 2}");
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t servers = k ? 6 : 8;
        struct weft_collective_shape shape = {.ranks = 4 * servers, .per_server = 4, .bytes = 4 * servers};
        for (uint64_t i = 1; i < shape.ranks; i++) {
            struct weft_step step;
            ops->step(conf, &shape, 5, 0, i - 1, &step);
            uint32_t server = (1 + expected[k][i / 4]) % servers;
            assert_int_equal(step.send[0], 4 * server + (1 + i % 4) % 4);
        }
    }
    free(conf);
}

/// With an even number of servers, every hop of a ring between servers joins ranks of one rail.
static void rings_keep_to_rails(void **state) {
    const struct weft_model *model = weft_model_find(WEFT_KIND_COLLECTIVE, "all_reduce_ring");
    const struct weft_collective_ops *ops = model->ops;
    const struct weft_collective_shape shape = {.ranks = 32, .per_server = 8, .bytes = 1 << 20};
    void *conf = conf_of(model, NULL);
    uint32_t sends[8] = {0};
    for (uint32_t r = 0; r < shape.ranks; r++)
        for (uint32_t lane = 0; lane < ops->lanes(conf, &shape); lane++) {
            struct weft_step step;
            ops->step(conf, &shape, r, lane, 0, &step);
            if (step.send[0] / 8 == r / 8) continue;
            assert_int_equal(step.send[0] % 8, r % 8);
            sends[r % 8]++;
        }
    for (uint32_t rail = 0; rail < 8; rail++)
        assert_int_equal(sends[rail], 4); // and each rail carries as many
    free(conf);
}

/// In the two trees together no server has children in both.
static void a_server_is_inner_in_one_tree(void **state) {
    const struct weft_model *model = weft_model_find(WEFT_KIND_COLLECTIVE, "all_reduce_tree");
    const struct weft_collective_ops *ops = model->ops;
    void *conf = conf_of(model, NULL);
    for (uint32_t n = 2; n < 70; n++) {
        const struct weft_collective_shape shape = {.ranks = n, .per_server = 1, .bytes = 1 << 20};
        uint32_t both = 0;
        for (uint32_t r = 0; r < n; r++) {
            uint32_t inner = 0;
            for (uint32_t lane = 0; lane < 4; lane += 2) {
                struct weft_step step;
                ops->step(conf, &shape, r, lane, 0, &step);
                inner += step.recv[0] != WEFT_NONE;
            }
            both += inner == 2;
        }
        assert_true(both <= n % 2 + (n == 2)); // a root has one child more than an inner server
    }
    free(conf);
}

/// 1024 ranks: nothing is stored, and any step can be computed at once.
static void large_ones_cost_nothing(void **state) {
    for (uint32_t m = 0; m < general_collectives(); m++) {
        const struct weft_model *model = general_collective(m);
        const struct weft_collective_ops *ops = model->ops;
        const struct weft_collective_shape shape = {.ranks = 1024, .per_server = 8, .bytes = UINT64_C(1) << 34};
        void *conf = conf_of(model, NULL);
        weft_bytes before = 0, after = 0;
        for (unsigned k = 0; k < WEFT_MEMORY_KINDS; k++)
            before += weft_memory_bytes(k);
        for (uint32_t lane = 0; lane < ops->lanes(conf, &shape); lane++) {
            uint64_t steps = ops->steps(conf, &shape, 777, lane);
            struct weft_step step;
            if (steps) ops->step(conf, &shape, 777, lane, steps - 1, &step);
        }
        for (unsigned k = 0; k < WEFT_MEMORY_KINDS; k++)
            after += weft_memory_bytes(k);
        assert_int_equal(before, after);
        assert_true(ops->lanes(conf, &shape) <= 32);
        free(conf);
    }
}

static void bus_factors(void **state) {
    assert_true(weft_calc_bus_factor(WEFT_GOAL_ALL_REDUCE, 8) == 1.75);
    assert_true(weft_calc_bus_factor(WEFT_GOAL_ALL_GATHER, 8) == 0.875);
    assert_true(weft_calc_bus_factor(WEFT_GOAL_REDUCE_SCATTER, 4) == 0.75);
    assert_true(weft_calc_bus_factor(WEFT_GOAL_EXCHANGE, 4) == 0.75);
    assert_true(weft_calc_bus_factor(WEFT_GOAL_BROADCAST, 8) == 1);
    assert_true(weft_calc_bus_factor(WEFT_GOAL_NEXT, 8) == 1);
}

/// Slots for only one chunk would deadlock; that is refused.
static void a_chunk_and_a_slice_must_fit(void **state) {
    const struct weft_model *model = model_of(WEFT_KIND_COLLECTIVE, "all_reduce_ring");
    const char text[] = "{chunk: 10KB, slice: 3KB, slots: 4}";
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct weft_error error = {0};
    struct weft_tree *tree;
    void *conf = calloc(1, model->params->conf_size);
    assert_int_equal(weft_tree_parse("test", text, strlen(text), arena, &tree, &error), WEFT_OK);
    assert_int_equal(weft_params_load(model->params, tree, conf, arena, &error), WEFT_ERROR_INPUT);
    if (!strstr(error.text, "4 slices of 3")) fail_msg("%s", error.text);
    weft_arena_free(arena);
    free(conf);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peers_come_in_order),
        cmocka_unit_test(rings_keep_to_rails),
        cmocka_unit_test(a_server_is_inner_in_one_tree),
        cmocka_unit_test(large_ones_cost_nothing),
        cmocka_unit_test(bus_factors),
        cmocka_unit_test(a_chunk_and_a_slice_must_fit),
    };
    return cmocka_run_group_tests(tests, open_memory, close_memory);
}
