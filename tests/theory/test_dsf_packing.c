// SPDX-License-Identifier: Apache-2.0
// Packets that share cells (PCP), in whole runs: how many cells that takes, and that nothing else changes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "box/dsf/dsf_outcome.h"
#include "run.h"

enum { HEADER = 12, PACKET = 10, CONTROL = 14, CELL = 256, CREDIT = 4096, LANES = 8 };

#define ZONE                                                                                                           \
    "topology: {kind: dsf_l1_zone, rdsws: 2, rails: 1, fdsws: 2, virtual_devices: 4, hosts_per_rdsw: 1, host_rate: "   \
    "400Gbps%s}\n"                                                                                                     \
    "switch: {buffer: {kind: dynamic, total: 4GB, alpha: 2}}\n"                                                        \
    "interface_node: {packing: %s, reassembly_timeout: 20us}\n"                                                        \
    "host: {mtu: %uB, cc: none%s}\n"                                                                                   \
    "workload: [{kind: flow, src: host-0, dst: host-1, size: 262144B}]\n"

/// Cells of data that rdsw-0 has sent. Its lanes' records r and bytes b are cells c and control cells k: b = payload +
/// 12 c + 14 k, r = c + k.
static uint64_t count_cells(const struct run *r, uint64_t payload) {
    uint64_t bytes = 0, records = 0;
    for (uint32_t k = 0; k < LANES; k++) {
        char name[32];
        snprintf(name, sizeof name, "rdsw-0/%u", 1 + k);
        bytes += run_counters(r, name, 0)->tx_bytes;
        records += run_counters(r, name, 0)->tx_packets;
    }
    return (payload + CONTROL * records - bytes) / (CONTROL - HEADER);
}

/// n packets, frames of the MTU and 62 B, the first with 16 B more, and 10 B of the fabric each. Without packing each
/// is rounded up to cells; with it, what leaves against a credit is: ceil(k (frame + 10) / 256), give or take a
/// remainder of a cell too small to begin a packet in.
static void cells_are_filled(void **state) {
    static const uint32_t mtus[] = {256, 512, 1024};
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t n = 262144 / mtus[i], frame = mtus[i] + 62, payload = n * (frame + PACKET) + 16;
        uint64_t alone = n * ((frame + PACKET + CELL - 1) / CELL);
        struct run off = RUN(run_once, ZONE, "", "off", mtus[i], "");
        assert_int_equal(count_cells(&off, payload), alone);
        struct run on = RUN(run_once, ZONE, "", "on", mtus[i], "");
        uint64_t cells = count_cells(&on, payload), bursts = n * frame / CREDIT + 2;
        uint64_t least = (payload + CELL - 1) / CELL, most = (payload + bursts * PACKET) / CELL + bursts;
        if (cells < least || cells > most)
            fail_msg("mtu %u: %" PRIu64 " cells, expected %" PRIu64 " to %" PRIu64, mtus[i], cells, least, most);
        assert_true(cells < alone);
        run_assert_complete(&on);
        assert_int_equal(run_drops(&on), 0);
        assert_int_equal(on.outcome->flow[0].out_of_order, 0);
        assert_int_equal(weft_outcome_dsf(on.outcome)->credits, weft_outcome_dsf(off.outcome)->credits);
        run_free(&off);
        run_free(&on);
    }
}

/// Packets that lose a part are given up, and the NIC sends again; bytes are conserved.
static void losses_are_counted(void **state) {
    struct run r = RUN(run_text, ZONE, ", bit_error_rate: 1e-6", "on", 256u, ", timeout: 100us");
    run_assert_complete(&r);
    assert_true(weft_outcome_dsf(r.outcome)->cells_lost > 0);
    assert_true(weft_outcome_dsf(r.outcome)->packets_lost > 0);
    run_free(&r);
}

/// The last of a packet and the first of the next stay on one lane, also where lanes are queues.
static void with_flow_control(void **state) {
    struct run r = RUN(run_once, ZONE "fabric_node: {llfc: on, llfc_stop: 2, llfc_go: 1}\n", "", "on", 256u, "");
    run_assert_complete(&r);
    assert_int_equal(run_drops(&r), 0);
    assert_int_equal(r.outcome->flow[0].out_of_order, 0);
    run_free(&r);
}

/// Where fabric nodes stand behind one another, cells of other lanes come between the parts of a cell: each part still
/// comes to where it is sent.
static void parts_arrive_through_several_stages(void **state) {
    static const char *const networks[] = {
        "topology: {kind: dsf_l2_zone, zones: 2, rdsws: 6, rails: 1, hosts_per_rdsw: 3, fdsws: 2, sdsws: 2}\n",
        "topology: {kind: dsf_l2_zone, zones: 2, rdsws: 6, rails: 1, hosts_per_rdsw: 3, fdsws: 2, sdsws: 2}\n"
        "fabric_node: {llfc: on}\n",
        "topology: {kind: dsf_region, rdsws: 6, rails: 1, hosts_per_rdsw: 3, zones: 3, sdsws: 1, l2_zones: 2,\n"
        "           edsw_superspines: 1, superspine_links: 1}\n"};
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t size = 64; size < (i == 2 ? 65 : 1000); size *= 9) {
            struct run r = RUN(run_text,
                               "name: stages\n%sinterface_node: {packing: on}\n"
                               "workload: [{kind: all_to_all, size: %uB}]\n",
                               networks[i], size);
            run_assert_complete(&r);
            assert_int_equal(run_drops(&r), 0);
            run_free(&r);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_filled),
        cmocka_unit_test(losses_are_counted),
        cmocka_unit_test(with_flow_control),
        cmocka_unit_test(parts_arrive_through_several_stages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
