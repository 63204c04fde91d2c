// SPDX-License-Identifier: Apache-2.0
// Networks with no link between them do not influence one another at all: every flow of one ends at the same picosecond
// whatever happens in the other.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run.h"

static const char *const network = "{kind: leaf_spine, leaves: 3, spines: 2, hosts_per_leaf: 3, bit_error_rate: 1e-8}";
static const char *const traffic =
    "  - {kind: poisson, group: own, hosts: 'a-host-*', load: 0.6, size: 60KB, duration: "
    "80us, priority: 3}\n"
    "  - {kind: incast, group: own, sources: 'a-host-0..7', dst: a-host-8, size: 90KB}\n"
    "  - {kind: collective, group: own, hosts: 'a-host-*', size: 300KB}\n";
static const char *const rest = "switch: {aqm: wred, buffer: {kind: static, size: 200KB, xoff: 90KB, xon: 80KB}}\n"
                                "host: {cc: dcqcn, timeout: 300us}\n";

static void assert_same_ends(const struct run *alone, const struct run *both) {
    uint32_t own = 0;
    for (uint32_t i = 0; i < both->workload->flows; i++) {
        if (strcmp(both->workload->group[both->workload->flow[i].group], "own")) continue;
        assert_int_equal(both->outcome->flow[own].end_ps, alone->outcome->flow[own].end_ps);
        own++;
    }
    assert_int_equal(own, alone->workload->flows);
}

static void nothing_of_the_other_is_felt(void **state) {
    struct run alone =
        RUN(run_once, "topology: {kind: networks, networks: {a: %s}}\n%sworkload:\n%s", network, rest, traffic);
    static const char *const others[] = {"{kind: single, hosts: 4, delay: 10ns}",
                                         "{kind: fat_tree, delay: 3us, rate: 400Gbps}"};
    for (unsigned i = 0; i < 2; i++) {
        struct run both = RUN(run_text,
                              "topology: {kind: networks, networks: {a: %s, b: %s}}\n%s"
                              "events: [{at: 20us, link: 'b-host-1/0', state: down}, {at: 40us, link: 'b-host-1/0', "
                              "state: up}]\n"
                              "workload:\n%s  - {kind: incast, group: other, sources: 'b-host-*', dst: b-host-0, "
                              "size: 200KB, repeat: 3, interval: 7us}\n",
                              network, others[i], rest, traffic);
        run_assert_complete(&both);
        assert_same_ends(&alone, &both);
        run_free(&both);
    }
    run_free(&alone);
}

/// Ranks of a server talk within it, wherever its NICs are among the hosts of the network: a ring of 2 servers of 4 has
/// 2 connections a channel over the network.
static void servers_are_machines(void **state) {
    struct run r =
        RUN(run_once, "topology:\n"
                      "  kind: networks\n"
                      "  networks: {a: {kind: single, hosts: 11}, b: a}\n"
                      "  machines:\n"
                      "  - {name: storage, nics: {b: 3}}\n"
                      "  - {name: server, count: 2, nics: {a: 4, b: 1}}\n"
                      "workload:\n"
                      "  - {kind: collective, group: ring, hosts: 'server-*@a', size: 1MB, server: {gpus: 4},"
                      " collective: {kind: all_reduce_ring, channels: 1}}\n"
                      "  - {kind: periodic, group: save, src: 'server-*@b', dst: 'storage-0@b'}\n");
    run_assert_complete(&r);
    assert_int_equal(r.workload->flows, 2 + 2);
    for (uint32_t i = 0; i < 2; i++)
        assert_true((r.workload->flow[i].src < 7) != (r.workload->flow[i].dst < 7));
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(servers_are_machines),
        cmocka_unit_test(nothing_of_the_other_is_felt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
