// SPDX-License-Identifier: Apache-2.0
// Fixed points of the fluid model of DCQCN with the parameters of the paper, against values found with other code; a
// simulation must settle near the same queue.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "theory/dcqcn_fluid.h"

struct fixed_point {
    double capacity_bps, flows, probability, queue_bytes;
};

// Three digits are known.
static const struct fixed_point known[] = {
    {40e9, 2, 7.77e-4, 20.2e3},   {40e9, 4, 1.888e-3, 41.8e3},   {40e9, 8, 4.552e-3, 93.8e3},
    {100e9, 2, 2.387e-4, 9.66e3}, {100e9, 4, 5.83e-4, 16.4e3},   {100e9, 8, 1.42e-3, 32.7e3},
    {100e9, 16, 3.43e-3, 71.9e3}, {100e9, 32, 8.23e-3, 165.4e3},
};

static void assert_ratio(double found, double expected, double tolerance) {
    if (fabs(found / expected - 1) > tolerance) fail_msg("%g, expected %g", found, expected);
}

static void solver_finds_the_known_fixed_points(void **state) {
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++) {
        struct dcqcn_fluid f = dcqcn_fluid_paper(known[i].capacity_bps, known[i].flows);
        assert_ratio(dcqcn_fluid_probability(&f), known[i].probability, .005);
        assert_ratio(dcqcn_fluid_queue(&f), known[i].queue_bytes, .005);
        assert_true(dcqcn_fluid_settles(&f));
    }
}

// 16 flows at 40 Gbit/s would need p = 1.087 %, above Pmax = 1 %.
static void too_many_flows_have_no_fixed_point(void **state) {
    struct dcqcn_fluid f = dcqcn_fluid_paper(40e9, 16);
    assert_ratio(dcqcn_fluid_probability(&f), 1.087e-2, .005);
    assert_false(dcqcn_fluid_settles(&f));
}

static void only_the_share_matters(void **state) {
    struct dcqcn_fluid a = dcqcn_fluid_paper(400e9, 8), b = dcqcn_fluid_paper(100e9, 2);
    assert_ratio(dcqcn_fluid_probability(&a), dcqcn_fluid_probability(&b), 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solver_finds_the_known_fixed_points),
        cmocka_unit_test(too_many_flows_have_no_fixed_point),
        cmocka_unit_test(only_the_share_matters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
