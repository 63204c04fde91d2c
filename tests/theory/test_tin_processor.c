// SPDX-License-Identifier: Apache-2.0
// The control processor of a TiN as a source and destination of packets (Gibson et al., NSDI 2022, section 3.3): RTS
// queues of its own, of 32 for eight classes on four ports; a slow port; the way to and from the data centre.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run.h"

#define NO_PFC "host: {pfc: {priorities: none}, ack_every: 65535, timeout: 1s}\n"
#define TIN "switch: {pfc: {priorities: none}, buffer: {kind: static, size: 400MB, xoff: 300MB, xon: 200MB}}\n"
#define CLIQUE(rate)                                                                                                   \
    "topology: {kind: dragonfly, pods: 1, tins: 12, processors: true, processor_rate: " rate "}\n" NO_PFC TIN

static const char MESSAGE[] =
    "{kind: flow, src: host-2, dst: processor-0, size: 4096B, priority: 3, start: 50us, verb: "
    "send}";

/// host-0 is asked for far more than it can take, in the same class, and its RTS queue drops; what is for the processor
/// of the same TiN stands in another queue. It shares links and endpoints with cells of one port's window at most.
static void an_overloaded_host_is_not_in_its_way(void **state) {
    struct run alone = RUN(run_text, CLIQUE("%s") "workload: [%s]\n", "10Gbps", MESSAGE);
    struct run r = RUN(run_text,
                       CLIQUE("%s") "tin: {ctd: 100KB}\n"
                                    "workload: [%s, {kind: incast, sources: \"host-4..23\", dst: host-0, size: 200KB, "
                                    "priority: 3, verb: send}]\nrun: {until: 200us}\n",
                       "10Gbps", MESSAGE);
    double least = (double)run_fct(&alone, 0), found = (double)run_fct(&r, 0), window = 64000 * 8 / 200e9 * 1e12;
    print_message("alone %.2f us, beside an overloaded host %.2f us\n", least / 1e6, found / 1e6);
    assert_true(r.outcome->drops[WEFT_DROP_CTD] > 0);
    assert_int_equal(r.outcome->flow[0].packets_again, 0);
    assert_true(found < least + 2 * window);
    run_free(&alone);
    run_free(&r);
}

/// Two hosts with 50 Gbit/s send to a processor of 1 Gbit/s: it takes 4096 of 4178 B at that rate, and a third host
/// that sends to a host of its TiN loses nothing by it.
static void it_takes_what_its_port_has(void **state) {
    static const char other[] = "{kind: flow, src: host-6, dst: host-1, size: 1MB, priority: 3, verb: send}";
    struct run alone = RUN(run_once, CLIQUE("%s") "workload: [%s]\n", "1Gbps", other);
    struct run r = RUN(run_text,
                       CLIQUE("%s") "workload: [%s, {kind: incast, sources: \"host-2,host-4\", dst: processor-0, size: "
                                    "100KB, priority: 3, verb: send}]\n",
                       "1Gbps", other);
    run_assert_complete(&r);
    assert_int_equal(run_drops(&r), 0);
    double last = (double)(run_fct(&r, 1) > run_fct(&r, 2) ? run_fct(&r, 1) : run_fct(&r, 2));
    double expected = 200000. / 4096 * 4178 * 8e3; // ps at 1 Gbit/s
    print_message("200 KB after %.1f us, expected %.1f us and the way\n", last / 1e6, expected / 1e6);
    assert_true(last > expected && last < expected + 10e6);
    assert_true((double)run_fct(&r, 0) < 1.01 * (double)run_fct(&alone, 0));
    run_free(&alone);
    run_free(&r);
}

/// A controller behind the spine reaches every processor, and every processor the controller.
static void there_is_a_way_to_the_data_centre(void **state) {
    struct run r = RUN(
        run_text, "topology: {kind: dragonfly, pods: 2, tins: 4, global_ports: 8, processors: true, gateways: 2, "
                  "spines: 1, tors: 1, hosts_per_tor: 2}\n" NO_PFC TIN
                  "workload: [{kind: incast, sources: \"processor-*\", dst: host-16, size: 16KB}, {kind: flow, src: "
                  "host-17, dst: \"processor-*\", size: 16KB}]\n");
    run_assert_complete(&r);
    assert_int_equal(r.outcome->flows, 16);
    assert_int_equal(run_drops(&r), 0);
    run_free(&r);
}

/// "*" is every host, without processors.
static void hosts_do_not_talk_to_processors_by_chance(void **state) {
    static const struct {
        const char *hosts;
        uint32_t flows;
    } row[] = {{"*", 24 * 23}, {"processor-*", 12 * 11}, {"host-*", 24 * 23}, {"host-0,processor-0..2", 4 * 3}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct run r = RUN(run_once, CLIQUE("%s") "workload: [{kind: all_to_all, hosts: \"%s\", size: 64B}]\n", "1Gbps",
                           row[i].hosts);
        assert_int_equal(r.outcome->flows, row[i].flows);
        run_free(&r);
    }
}

#define REBOOTS                                                                                                        \
    "topology: {kind: dragonfly, pods: 1, tins: 12, processors: true, processor_rate: 10Gbps}\n" TIN                   \
    "host: {pfc: {priorities: none}, timeout: 150us}\n"                                                                \
    "workload: [{kind: flow, src: host-4, dst: host-0, size: 1MB}, {kind: flow, src: host-2, dst: processor-0, size: " \
    "100KB, start: 20us}, {kind: flow, src: processor-0, dst: host-6, size: 100KB, start: 30us}, {kind: flow, src: "   \
    "processor-0, dst: host-8, size: 4KB, start: 80us}, {kind: flow, src: host-9, dst: processor-1, size: 100KB, "     \
    "start: 20us}]\ncontrol: {sdn: {reboot: 100us}, events: [%s]}\n"

/// The firmware of tin-0 starts again, from 50 to 150 us. What comes to the processor meanwhile is lost and sent again,
/// and what it has to send waits: flows under way end after that, and one that begins at 80 us
/// leaves at 150 us. Hosts of the TiN lose nothing, and the processor of the next sees nothing of it.
static void firmware_that_starts_again_takes_nothing(void **state) {
    struct run quiet = RUN(run_once, REBOOTS, ""), r = RUN(run_text, REBOOTS, "{at: 50us, do: reboot, node: tin-0}"),
               twice = RUN(run_text, REBOOTS, "{at: 0s, do: reboot, node: tin-0}, {at: 90us, do: reboot, node: tin-0}");
    run_assert_complete(&r);
    assert_int_equal(run_drops(&quiet), 0);
    assert_in_range(r.outcome->drops[WEFT_DROP_PROCESSOR_AWAY], 1, 100);
    weft_time_ps end = 150 * WEFT_PS_PER_US;
    assert_true((double)run_fct(&r, 0) < 1.02 * (double)run_fct(&quiet, 0)); // it shares links with the later packets
    assert_int_equal(run_fct(&r, 4), run_fct(&quiet, 4));
    print_message("to the processor %.1f us, %.1f while it starts again; from it %.1f and %.1f us\n",
                  (double)run_fct(&quiet, 1) / 1e6, (double)run_fct(&r, 1) / 1e6, (double)run_fct(&quiet, 2) / 1e6,
                  (double)run_fct(&r, 2) / 1e6);
    assert_true(20 * WEFT_PS_PER_US + run_fct(&quiet, 1) > 50 * WEFT_PS_PER_US); // they were under way
    assert_true(30 * WEFT_PS_PER_US + run_fct(&quiet, 2) > 50 * WEFT_PS_PER_US);
    assert_true(20 * WEFT_PS_PER_US + run_fct(&r, 1) > end);
    assert_true(30 * WEFT_PS_PER_US + run_fct(&r, 2) > end);
    assert_true(80 * WEFT_PS_PER_US + run_fct(&r, 3) > end);
    run_assert_complete(&twice); // away from the beginning, and until 190 us
    for (uint32_t i = 1; i < 4; i++) {
        weft_time_ps start = i == 1 ? 20 : i == 2 ? 30 : 80;
        assert_true(start * WEFT_PS_PER_US + run_fct(&twice, i) > 190 * WEFT_PS_PER_US);
    }
    run_free(&quiet);
    run_free(&r);
    run_free(&twice);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_overloaded_host_is_not_in_its_way),
        cmocka_unit_test(it_takes_what_its_port_has),
        cmocka_unit_test(there_is_a_way_to_the_data_centre),
        cmocka_unit_test(hosts_do_not_talk_to_processors_by_chance),
        cmocka_unit_test(firmware_that_starts_again_takes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
