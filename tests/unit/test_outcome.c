// SPDX-License-Identifier: Apache-2.0
// The digest must notice any change of any result, and nothing but results.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <string.h>

#include "weft/outcome.h"

enum { FLOWS = 3, PORTS = 2 };

struct fixture {
    struct weft_flow_outcome flow[FLOWS];
    struct weft_counters port[PORTS * WEFT_PRIORITIES];
    struct weft_outcome outcome;
};

static void fill(struct fixture *f) {
    *f = (struct fixture){.outcome = {.flows = FLOWS, .ports = PORTS}};
    f->outcome.flow = f->flow;
    f->outcome.counters = f->port;
    uint64_t *words = (uint64_t *)(void *)f->port;
    for (size_t i = 0; i < PORTS * WEFT_PRIORITIES * WEFT_COUNTERS; i++)
        words[i] = i * i;
    for (unsigned i = 0; i < FLOWS; i++)
        f->flow[i] = (struct weft_flow_outcome){100 + i, 200 + i, 50, 1000, i, 0, i, 0, 0, 0, 0};
}

static void must_notice(struct fixture *f, uint64_t *word) {
    uint64_t before = weft_outcome_digest(&f->outcome), was = *word;
    for (unsigned bit = 0; bit < 64; bit += 9) {
        *word = was ^ UINT64_C(1) << bit;
        assert_int_not_equal(weft_outcome_digest(&f->outcome), before);
    }
    *word = was;
    assert_int_equal(weft_outcome_digest(&f->outcome), before);
}

static void any_single_change_shows(void **state) {
    (void)state;
    struct fixture f;
    fill(&f);
    uint64_t *words = (uint64_t *)(void *)f.port;
    for (size_t i = 0; i < PORTS * WEFT_PRIORITIES * WEFT_COUNTERS; i++)
        must_notice(&f, &words[i]);
    for (unsigned i = 0; i < FLOWS; i++) {
        must_notice(&f, &f.flow[i].end_ps);
        must_notice(&f, &f.flow[i].acked_ps);
        must_notice(&f, &f.flow[i].delivered_bytes);
        must_notice(&f, &f.flow[i].cnps);
        must_notice(&f, &f.flow[i].packets_again);
        must_notice(&f, &f.flow[i].sfc_messages);
        must_notice(&f, &f.flow[i].sfc_paused_ps);
    }
    for (unsigned d = 0; d < WEFT_DROPS; d++) {
        must_notice(&f, &f.outcome.drops[d]);
        must_notice(&f, &f.outcome.drop_bytes[d]);
    }
    must_notice(&f, &f.outcome.cnps);
    must_notice(&f, &f.outcome.injected_bytes);
    must_notice(&f, &f.outcome.delivered_bytes);
    must_notice(&f, &f.outcome.dropped_bytes);
    must_notice(&f, &f.outcome.held_bytes);
}

static void swapped_flows_show(void **state) {
    (void)state;
    struct fixture f;
    fill(&f);
    uint64_t before = weft_outcome_digest(&f.outcome);
    struct weft_flow_outcome first = f.flow[0];
    f.flow[0] = f.flow[1];
    f.flow[1] = first;
    assert_int_not_equal(weft_outcome_digest(&f.outcome), before);
}

static void how_it_was_run_does_not_show(void **state) {
    (void)state;
    struct fixture f;
    fill(&f);
    uint64_t before = weft_outcome_digest(&f.outcome);
    f.outcome.wall_s = 3;
    f.outcome.cpu_s = 5;
    f.outcome.threads = 8;
    f.outcome.peak_rss_bytes = 1;
    assert_int_equal(weft_outcome_digest(&f.outcome), before);
}

static void conservation(void **state) {
    (void)state;
    struct weft_outcome outcome = {.injected_bytes = 10, .delivered_bytes = 7, .dropped_bytes = 2, .held_bytes = 1};
    assert_true(weft_outcome_conserves(&outcome));
    outcome.held_bytes = 0;
    assert_false(weft_outcome_conserves(&outcome));
}

/// Where boxes keep packets in order hosts see none out of order, unless some are lost.
static void order(void **state) {
    (void)state;
    struct weft_flow_outcome flow[2] = {0};
    struct weft_outcome outcome = {.flow = flow, .flows = 2};
    assert_true(weft_outcome_in_order(&outcome));
    flow[1].out_of_order = 1;
    outcome.drops[WEFT_DROP_OUT_OF_ORDER] = 1; // for which the NIC discards it
    assert_false(weft_outcome_in_order(&outcome));
    outcome.drops[WEFT_DROP_REASSEMBLY] = 1;
    assert_true(weft_outcome_in_order(&outcome));
}

static void names_are_unique(void **state) {
    (void)state;
    for (unsigned d = 0; d < WEFT_DROPS; d++)
        for (unsigned e = 0; e < d; e++)
            assert_string_not_equal(weft_drop_names[d], weft_drop_names[e]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_single_change_shows),
        cmocka_unit_test(swapped_flows_show),
        cmocka_unit_test(how_it_was_run_does_not_show),
        cmocka_unit_test(conservation),
        cmocka_unit_test(order),
        cmocka_unit_test(names_are_unique),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
