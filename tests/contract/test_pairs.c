// SPDX-License-Identifier: Apache-2.0
// Every setting of hosts beside every kind of workload on every transport, and beside every other setting: the run ends
// with all bytes accounted for, or the scenario is refused with a reason.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run.h"
#include "weft/param.h"

#define NETWORK                                                                                                        \
    "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 2, bit_error_rate: 1e-7}\n"                    \
    "switch: {buffer: {kind: static, size: 100KB, xoff: 30KB, xon: 20KB}, aqm: {kind: wred, min: 3KB, max: 20KB}}\n"   \
    "run: {until: 1ms, stall: 500us}\n"                                                                                \
    "workload:\n"
#define FLOW "- {kind: flow, src: host-1, dst: host-0, size: 30001B, group: flow}\n"
#define JOB                                                                                                            \
    "- {kind: job, dimensions: 'a:4', operations: [{collective: all_to_all, size: 9999B}], share_hosts: true, group: " \
    "job}\n"
#define RMA(verb)                                                                                                      \
    "- {kind: rma, clients: 'host-1..2', servers: host-0, rate: 300000, duration: 20us, size: 9001B, verb: " verb ", " \
    "group: rma}\n"

static const char *const workloads[] = {
    NETWORK FLOW,
    NETWORK "- {kind: flow, src: host-1, dst: host-0, size: 30001B, verb: read, qps: 3}\n",
    NETWORK "- {kind: incast, sources: 'host-1..3', dst: host-0, size: 20001B, priority: 1}\n",
    NETWORK "- {kind: poisson, load: 0.2, duration: 10us, size: 3KB}\n",
    NETWORK "- {kind: collective, collective: {kind: all_reduce_ring, channels: 2}, size: 30001B}\n",
    NETWORK "- {kind: collective, collective: broadcast, size: 30001B, admission: none}\n",
    NETWORK
    "- {kind: job, dimensions: 'a:4', qps: 2, qp_scaling: split, operations: [{collective: all_to_all, size: 9999B, "
    "compute: 1us}], iterations: 2, server: {gpus: 2}}\n",
    NETWORK RMA("read"),
    NETWORK RMA("write"),
    NETWORK FLOW JOB RMA("write"),
};
enum { WORKLOADS = sizeof workloads / sizeof *workloads };

static const char *const transports[] = {NULL, "host.preset=uet", "host.retransmission=selective",
                                         "host.out_of_order=accept", "host.preset=ns3_hpcc"};
enum { TRANSPORTS = sizeof transports / sizeof *transports };

/// A value of each parameter of hosts that turns it on; of a model, one of each sort.
static const char *const settings[] = {
    "host.preset=htsim",
    "host.nic=connectx7",
    "host.mtu=1001B",
    "host.processing=100ns",
    "host.clock_ppm=100",
    "host={send_latency: 700ns, jitter: 0.03}",
    "host={stall: 1us, stall_chance: 0.5}",
    "host={stall: 100ns, stall_chance: 0, idle: 0.3}",
    "host.arbitration=message",
    "host={launch: 2us, launch_skew: 0.2}",
    "host.transport=uet",
    "host.cc=dcqcn",
    "host.cc=swift",
    "host.cc=hpcc",
    "host.cc=timely",
    "host.cc=falcon",
    "host.cc=rccc",
    "host.scheduler=dwrr",
    "host.window=20KB",
    "host.dscp=0,8,16,26,32,40,50,46",
    "host.send_latency=1us",
    "host.receive_latency=2us",
    "host.completion_latency=3us",
    "host.post_cost=100ns",
    "host.pcie_rate=50Gbps",
    "host.pcie_round_trip=500ns",
    "host.packet_rate=5000000",
    "host.work_request=200ns",
    "host.work_request_qp=1us",
    "host.drain_rate=20Gbps",
    "host.drain_slow_every=50us",
    "host.drain_slow_time=20us",
    "host.drain_slow_rate=5Gbps",
    "host.drain_slow_below=1Gbps",
    "host.rx_resume=20KB",
    "host.rx_cnp=true",
    "host.rx_buffer=90KB",
    "host.rx_xoff=90KB",
    "host.rx_xon=10KB",
    "host.roce=v1",
    "host.vlan=5",
    "host.ecn=false",
    "host.source_port=host_pair",
    "host.pace_change=next_packet",
    "host.data_header=33B",
    "host.ack_frame=99B",
    "host.cnp_frame=100B",
    "host.wire.overhead=0B",
    "host.retry=llr",
    "host.credit=cbfc",
    "host.pfc.priorities=none",
    "host.pfc.watchdog=5us",
    "host.sfc=false",
    "host.sfc_scope=priority",
    "host.planes=queue_pair",
    "host.plane_timeouts=3",
};
enum { SETTINGS = sizeof settings / sizeof *settings };

static unsigned runs, refused;

static void look_at(const char *text, const char *const setting[], unsigned n) {
    struct run r = {0};
    enum weft_status status = weft_scenario_file_parse("t.yaml", text, strlen(text), setting, n, &r.file, &r.error);
    if (!status) status = run_bind(&r, 0);
    if (status) {
        assert_int_equal(status, WEFT_ERROR_INPUT);
        assert_non_null(strstr(r.error.text, ": ")); // place and reason
        refused++;
    } else {
        r.outcome = run_again(&r, 1, text); // fails unless it ends or stalls, with all bytes accounted for
        runs++;
    }
    run_free(&r);
}

static void every_parameter_is_here(void **state) {
    (void)state;
    for (uint32_t i = 0; i < weft_host_table.n; i++) {
        char path[64], in_map[64];
        unsigned found = 0;
        snprintf(in_map, sizeof in_map, "%s: ", weft_host_table.rows[i].name);
        size_t n = (size_t)snprintf(path, sizeof path, "host.%s", weft_host_table.rows[i].name);
        for (unsigned k = 0; k < SETTINGS; k++)
            found += strstr(settings[k], in_map) ||
                     (!strncmp(settings[k], path, n) && (settings[k][n] == '=' || settings[k][n] == '.'));
        if (!found) fail_msg("no value of %s is tried", path);
    }
}

static void setting_beside_workload_and_transport(void **state) {
    (void)state;
    runs = refused = 0;
    for (unsigned w = 0; w < WORKLOADS; w++)
        for (unsigned t = 0; t < TRANSPORTS; t++)
            for (unsigned i = 0; i < SETTINGS; i++) {
                const char *both[] = {settings[i], transports[t]};
                look_at(workloads[w], both, transports[t] ? 2 : 1);
            }
    assert_true(runs > WORKLOADS * TRANSPORTS * SETTINGS / 2 && refused > 0);
}

static void setting_beside_setting(void **state) {
    (void)state;
    runs = refused = 0;
    for (unsigned i = 0; i < SETTINGS; i++)
        for (unsigned k = 0; k < i; k++) {
            const char *both[] = {settings[k], settings[i]};
            look_at(workloads[WORKLOADS - 1], both, 2);
        }
    assert_true(runs > SETTINGS * SETTINGS / 4 &&
                refused > 0); // of half as many pairs; settings that need another are refused beside all else
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_parameter_is_here),
        cmocka_unit_test(setting_beside_workload_and_transport),
        cmocka_unit_test(setting_beside_setting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
