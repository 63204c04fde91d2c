// SPDX-License-Identifier: Apache-2.0
// A NIC of a TiN and the two hosts that share it (Gibson et al., NSDI 2022, section 3.3: 100 Gbit/s, two hosts): one
// alone has all of it, two have half each, what one leaves the other gets, in both directions.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "box/tin/tin_outcome.h"
#include "run.h"

/// Hosts 2 i and 2 i + 1 at TiN i, TiNs joined by far more than a NIC has, room for all that waits, hardly an ACK.
#define CLIQUE_OF(tin)                                                                                                 \
    "topology: {kind: dragonfly, pods: 1, tins: 4, local_parallel: 8, host_rate: 100Gbps}\n"                           \
    "tin: {ctd: 1GB" tin "}\n"                                                                                         \
    "switch: {pfc: {priorities: none}, buffer: {kind: static, size: 400MB, xoff: 300MB, xon: 200MB}}\n"                \
    "host: {pfc: {priorities: none}, ack_every: 65535, timeout: 1s}\n"
/// With endpoints for packets that take more as well.
#define CLIQUE(tin) CLIQUE_OF(", nic_endpoints: 0" tin)
enum { MB = 1000000 };

/// Payload of full frames at 100 Gbit/s, bytes per picosecond: 4096 B of 4096 + 62 and preamble and gap.
static const double LINE = 4096 / (4178 * 80.);

static void assert_near(const char *what, double found, double expected, double tolerance) {
    print_message("%s: %.4f, expected %.4f\n", what, found, expected);
    assert_true(found > expected * (1 - tolerance) && found < expected * (1 + tolerance));
}

static double rate_of(const struct run *r, uint32_t flow) {
    return (double)r->outcome->flow[flow].delivered_bytes / (double)run_fct(r, flow) / LINE;
}

/// Of messages of some MB, way and first round trip are less than a per cent.
static void one_alone_has_all_of_it(void **state) {
    struct run r =
        RUN(run_text, CLIQUE("%s") "workload: [{kind: flow, src: host-0, dst: host-2, size: 8MB, verb: send}]\n", "");
    run_assert_complete(&r);
    assert_near("alone", rate_of(&r, 0), 1, .01);
    run_free(&r);
}

/// Start-time fair queueing: equal bytes while both have something to send. Then 2 MB take as long as 4 MB alone, and
/// both together as long as 10 MB alone, for what one does not use the other does.
static void two_have_half_each(void **state) {
    static const struct {
        const char *what, *flows;
    } row[] = {
        {"out", "{kind: flow, src: host-0, dst: host-2, size: 2MB, verb: send}, "
                "{kind: flow, src: host-1, dst: host-4, size: 8MB, verb: send}"},
        {"in", "{kind: flow, src: host-2, dst: host-0, size: 2MB, verb: send}, "
               "{kind: flow, src: host-4, dst: host-1, size: 8MB, verb: send}"},
    };
    for (unsigned i = 0; i < 2; i++) {
        struct run r = RUN(run_text, CLIQUE("%s") "workload: [%s]\n", "", row[i].flows);
        run_assert_complete(&r);
        assert_int_equal(run_drops(&r), 0);
        assert_near(row[i].what, rate_of(&r, 0), 1 / 2., .01);
        assert_near(row[i].what, (double)run_fct(&r, 1) * LINE / MB, 10, .01);
        run_free(&r);
    }
}

/// Fairness is between hosts, not flows: two flows of host-0 and one of host-1 have a quarter, a quarter and a half.
static void hosts_share_not_flows(void **state) {
    static const char *const flows[] = {"{kind: flow, src: host-0, dst: host-2, size: 2MB, verb: send}, "
                                        "{kind: flow, src: host-0, dst: host-3, size: 2MB, verb: send}, "
                                        "{kind: flow, src: host-1, dst: host-4, size: 4MB, verb: send}",
                                        "{kind: flow, src: host-2, dst: host-0, size: 2MB, verb: send}, "
                                        "{kind: flow, src: host-4, dst: host-0, size: 2MB, verb: send}, "
                                        "{kind: flow, src: host-6, dst: host-1, size: 4MB, verb: send}"};
    for (unsigned i = 0; i < 2; i++) {
        struct run r = RUN(run_text, CLIQUE("%s") "workload: [%s]\n", "", flows[i]);
        run_assert_complete(&r);
        assert_near(i ? "in, a quarter" : "out, a quarter", rate_of(&r, 0), 1 / 4., .02);
        assert_near(i ? "in, a half" : "out, a half", rate_of(&r, 2), 1 / 2., .02);
        run_free(&r);
    }
}

/// host-1 asks for a fifth, a frame every 5 times that a frame takes; host-0, which would take all, gets the rest and
/// not just its half. What host-1 has waits for one frame of host-0, not for all that wait: its messages take no longer
/// than without host-0 and two frames.
static void what_one_leaves_the_other_gets(void **state) {
    static const char fifth[] = "{kind: flow, src: host-1, dst: host-4, size: 4096B, repeat: 400, interval: 1671200ps, "
                                "start: 10us, verb: send}";
    const double frame_ps = 4178 * 80;
    struct run alone = RUN(run_once, CLIQUE("%s") "workload: [%s]\n", "", fifth);
    weft_time_ps longest_alone = 0, longest = 0;
    for (uint32_t f = 0; f < alone.outcome->flows; f++)
        if (run_fct(&alone, f) > longest_alone) longest_alone = run_fct(&alone, f);
    struct run r = RUN(run_text,
                       CLIQUE("%s") "workload: [%s, {kind: flow, src: host-0, dst: host-2, size: 6500000B, verb: "
                                    "send}]\n",
                       "", fifth);
    run_assert_complete(&r);
    uint32_t flows = r.outcome->flows;
    for (uint32_t f = 0; f + 1 < flows; f++)
        if (run_fct(&r, f) > longest) longest = run_fct(&r, f);
    print_message("messages of host-1 take %.0f ns, alone %.0f ns\n", (double)longest / 1e3,
                  (double)longest_alone / 1e3);
    assert_true((double)longest < (double)longest_alone + 2 * frame_ps);
    assert_near("the rest", rate_of(&r, flows - 1), 4 / 5., .02);
    run_free(&alone);
    run_free(&r);
}

/// Links that have no more than the NIC share nothing, and the same hosts with a NIC each have all of their links.
static void without_sharing(void **state) {
    static const char *const tin[] = {", endpoint_rate: 50Gbps, nic_hosts: 1",
                                      ", endpoint_rate: 50Gbps, nic_rate: 200Gbps"};
    for (unsigned i = 0; i < 2; i++) {
        struct run r = RUN(run_text,
                           CLIQUE("%s") "workload: [{kind: flow, src: host-0, dst: host-2, size: 8MB, verb: send}, "
                                        "{kind: flow, src: host-1, dst: host-4, size: 8MB, verb: send}]\n",
                           tin[i]);
        assert_near(tin[i], rate_of(&r, 0), 1, .01);
        assert_near(tin[i], rate_of(&r, 1), 1, .01);
        assert_int_equal(weft_outcome_tin(r.outcome)->seen->nic_wait_ns.n, 0);
        run_free(&r);
    }
}

/// Two hosts receive from two others. The four endpoints by which their packets leave carry all that the NIC does;
/// three are the bottleneck: a frame of 4178 B on the wire is 27 cells of 160 B and one of 44 B.
static void endpoints_carry_what_the_nic_does(void **state) {
    static const struct {
        const char *tin;
        double endpoints;
    } row[] = {{"", 4}, {", nic_endpoints: 3", 3}};
    for (unsigned i = 0; i < 2; i++) {
        struct run r = RUN(run_text,
                           CLIQUE_OF("%s") "workload: [{kind: flow, src: host-2, dst: host-0, size: 2MB, verb: send}, "
                                           "{kind: flow, src: host-4, dst: host-1, size: 8MB, verb: send}]\n",
                           row[i].tin);
        run_assert_complete(&r);
        double share = row[i].endpoints * 27.15 / (100 * (27 * 160 + 44) / 4178.);
        assert_near("both", 10 * MB / ((double)run_fct(&r, 1) * LINE), share < 1 ? share : 1, .02);
        run_free(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(endpoints_carry_what_the_nic_does),
        cmocka_unit_test(one_alone_has_all_of_it),
        cmocka_unit_test(two_have_half_each),
        cmocka_unit_test(hosts_share_not_flows),
        cmocka_unit_test(what_one_leaves_the_other_gets),
        cmocka_unit_test(without_sharing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
