// SPDX-License-Identifier: Apache-2.0
// Turn rules within a pod, for every table of four types of hops: which are free of cycles, and how many paths of two
// hops they leave. Independent of src/: the search only knows the meaning of parity and sign.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "weft/gnet_routes.h"

enum { N_MAX = 16 };

static uint32_t type_of(int from, int to) {
    int distance = to > from ? to - from : from - to;
    return (distance % 2 ? 0u : 2u) + (to > from ? 0u : 1u); // odd up, odd down, even up, even down
}

/// Whether a link (from, to) leads back to itself; colour: 0 new, 1 on the way, 2 done.
static bool finds_cycle(const uint8_t *after, int n, int from, int to, uint8_t colour[N_MAX][N_MAX]) {
    colour[from][to] = 1;
    for (int next = 0; next < n; next++) {
        if (next == to || next == from || !(after[type_of(from, to)] >> type_of(to, next) & 1)) continue;
        if (colour[to][next] == 1) return true;
        if (!colour[to][next] && finds_cycle(after, n, to, next, colour)) return true;
    }
    colour[from][to] = 2;
    return false;
}

static bool is_acyclic(const uint8_t *after, int n) {
    uint8_t colour[N_MAX][N_MAX] = {{0}};
    for (int from = 0; from < n; from++)
        for (int to = 0; to < n; to++)
            if (from != to && !colour[from][to] && finds_cycle(after, n, from, to, colour)) return false;
    return true;
}

static int count_ways(const uint8_t *after, int n) {
    int least = n;
    for (int from = 0; from < n; from++)
        for (int to = 0; to < n; to++) {
            int ways = 0;
            for (int by = 0; by < n; by++)
                ways += by != from && by != to && (after[type_of(from, by)] >> type_of(by, to) & 1);
            if (from != to && ways < least) least = ways;
        }
    return least;
}

/// FOGSim's table leaves n/2 - 2, the widest n/2 - 1: 4 and 5 in an Aquila pod of 12.
static void our_tables(void **state) {
    (void)state;
    for (int n = 4; n <= N_MAX; n++)
        for (int k = 0; k < WEFT_GNET_TURNS_KINDS; k++)
            assert_true(is_acyclic(weft_gnet_turns[k].after, n)); // odd pods as well
    for (int n = 4; n <= N_MAX; n += 2) {
        assert_int_equal(count_ways(weft_gnet_turns[WEFT_GNET_TURNS_FOGSIM].after, n), n / 2 - 2);
        assert_int_equal(count_ways(weft_gnet_turns[WEFT_GNET_TURNS_WIDEST].after, n), n / 2 - 1);
    }
}

/// 48 of all 65536 tables have no cycle and leave n/2 - 1 paths; none leaves more.
static void all_tables(void **state) {
    (void)state;
    enum { N = 8 };
    int best = 0, tables = 0;
    for (uint32_t bits = 0; bits < 65536; bits++) {
        const uint8_t after[4] = {bits & 15, bits >> 4 & 15, bits >> 8 & 15, (uint8_t)(bits >> 12)};
        int ways = count_ways(after, N);
        if (ways < best || !is_acyclic(after, N)) continue;
        tables = ways > best ? 1 : tables + 1;
        best = ways;
    }
    assert_int_equal(best, N / 2 - 1);
    assert_int_equal(tables, 48);
}

/// The search would not call everything free of cycles.
static void everything_allowed_has_cycles(void **state) {
    (void)state;
    const uint8_t all[4] = {15, 15, 15, 15};
    assert_false(is_acyclic(all, 4));
    for (int from = 0; from < N_MAX; from++)
        for (int to = 0; to < N_MAX; to++)
            if (from != to) assert_int_equal(weft_gnet_hop((uint32_t)from, (uint32_t)to), type_of(from, to));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(our_tables),
        cmocka_unit_test(all_tables),
        cmocka_unit_test(everything_allowed_has_cycles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
