// SPDX-License-Identifier: Apache-2.0
// Adding flows: repetitions, groups, queue pairs, and the bounds of a workload.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "own_memory.h"
#include "weft/workload.h"

static const struct weft_place place = {.file = "s.yaml", .line = 3, .column = 5};
static const struct weft_workload_common plain = {
    .group = "g", .size_bytes = 1000, .qps = 4, .priority = 3, .verb = WEFT_VERB_SEND, .repeat = 1};

struct fixture {
    struct weft_arena *arena;
    struct weft_workload w;
    struct weft_error error;
};

static int setup(void **state) {
    static struct weft_network_info network = {.name = ""};
    static struct weft_node_info node[6] = {[5] = {.name = "host-5"}};
    static uint32_t host[6] = {0, 1, 2, 3, 4, 5};
    static const struct weft_topology one = {.networks = 1, .network = &network, .node = node, .host = host};
    static struct fixture f;
    memset(&f, 0, sizeof f);
    f.w.topology = &one;
    f.arena = f.w.arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    weft_arena_free(f->arena);
    return 0;
}

static enum weft_status add(struct fixture *f, const struct weft_workload_common *common, weft_bytes bytes) {
    memset(&f->error, 0, sizeof f->error);
    return weft_workload_add(&f->w, common, place, 1, 2, bytes, common->start_ps, &f->error);
}

static void repetitions(void **state) {
    struct fixture *f = *state;
    struct weft_workload_common c = plain;
    c.start_ps = 7;
    c.repeat = 3;
    c.interval_ps = 100;
    assert_int_equal(add(f, &c, 1000), WEFT_OK);
    assert_int_equal(f->w.flows, 3);
    assert_int_equal(f->w.qps, 12);
    assert_int_equal(f->w.bytes, 3000);
    for (unsigned i = 0; i < 3; i++) {
        const struct weft_flow *flow = &f->w.flow[i];
        assert_int_equal(flow->start_ps, 7 + 100 * i);
        assert_int_equal(flow->src, 1);
        assert_int_equal(flow->dst, 2);
        assert_int_equal(flow->bytes, 1000);
        assert_int_equal(flow->qps, 4);
        assert_int_equal(flow->priority, 3);
        assert_int_equal(flow->verb, WEFT_VERB_SEND);
    }
}

static void no_more_queue_pairs_than_bytes(void **state) {
    struct fixture *f = *state;
    assert_int_equal(add(f, &plain, 3), WEFT_OK);
    assert_int_equal(f->w.flow[0].qps, 3);
    assert_int_equal(f->w.qps, 3);
}

static void groups_in_order_of_mention(void **state) {
    struct fixture *f = *state;
    char name[16];
    struct weft_workload_common c = plain;
    c.group = name;
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "group-%u", i % 100);
        assert_int_equal(add(f, &c, 1), WEFT_OK);
        assert_int_equal(f->w.flow[i].group, i % 100);
    }
    assert_int_equal(f->w.groups, 100);
    assert_string_equal(f->w.group[0], "group-0");
    assert_string_equal(f->w.group[99], "group-99");
}

static void to_itself(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft_workload_add(&f->w, &plain, place, 5, 5, 1, 0, &f->error), WEFT_ERROR_INPUT);
    assert_non_null(strstr(f->error.text, "s.yaml:3:5: "));
    assert_non_null(strstr(f->error.text, "host-5 sends to itself"));
    assert_int_equal(f->w.flows, 0);
}

static void must_refuse(struct fixture *f, const struct weft_workload_common *c, weft_bytes bytes, const char *says) {
    weft_bytes before = weft_memory_bytes(WEFT_MEMORY_SCENARIO);
    uint32_t flows = f->w.flows;
    assert_int_equal(add(f, c, bytes), WEFT_ERROR_INPUT);
    assert_non_null(strstr(f->error.text, "s.yaml:3:5: "));
    assert_non_null(strstr(f->error.text, says));
    assert_int_equal(f->w.flows, flows);
    assert_true(weft_memory_bytes(WEFT_MEMORY_SCENARIO) - before < 1 << 20); // refused before room was made
}

static void bounds(void **state) {
    struct fixture *f = *state;
    struct weft_workload_common c = plain;
    c.qps = 1;
    c.repeat = UINT64_C(1) << 40;
    must_refuse(f, &c, 1, "16777216 flows");
    c.repeat = UINT64_MAX;
    must_refuse(f, &c, 1, "16777216 flows");
    c.repeat = 65537;
    c.qps = 1024;
    c.size_bytes = 1; // the flow's own size counts
    must_refuse(f, &c, 2000, "67108864 queue pairs");
    c.repeat = 1000;
    c.interval_ps = 1002 * WEFT_PS_PER_S;
    must_refuse(f, &c, 1, "1000000 s");
    c.repeat = 20000;
    c.interval_ps = 0;
    must_refuse(f, &c, UINT64_C(100000000000000), "10^18 bytes");
    c.repeat = 10000;
    assert_int_equal(add(f, &c, UINT64_C(100000000000000)), WEFT_OK);
    c.repeat = 1;
    must_refuse(f, &c, 1, "10^18 bytes");
}

static void bounds_are_of_the_whole_workload(void **state) {
    struct fixture *f = *state;
    struct weft_workload_common c = plain;
    c.qps = 1;
    c.repeat = 1 << 16;
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(add(f, &c, 1), WEFT_OK);
    f->w.qps = (UINT64_C(1) << 26) - 1;
    c.repeat = 2;
    must_refuse(f, &c, 1, "queue pairs");
    c.repeat = 1;
    assert_int_equal(add(f, &c, 1), WEFT_OK);
    c.repeat = (1 << 24) - f->w.flows + 1;
    must_refuse(f, &c, 1, "flows in the whole workload");
}

int main(void) {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(repetitions), T(no_more_queue_pairs_than_bytes),   T(groups_in_order_of_mention), T(to_itself),
        T(bounds),      T(bounds_are_of_the_whole_workload),
    };
    return cmocka_run_group_tests(tests, open_memory, close_memory);
}
