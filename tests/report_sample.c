// SPDX-License-Identifier: Apache-2.0
#include "report_sample.h"

static struct weft_node_info node_of(const char *name, const char *layer, enum weft_node_role role, uint32_t port0,
                                     uint32_t ports, uint32_t index) {
    bool host = role == WEFT_NODE_HOST;
    return (struct weft_node_info){.name = name,
                                   .layer = layer,
                                   .role = (uint8_t)role,
                                   .tier = !host,
                                   .box = host ? WEFT_BOX_HOST : WEFT_BOX_ETHERNET_SWITCH,
                                   .pod = WEFT_NONE,
                                   .cluster = WEFT_NONE,
                                   .port0 = port0,
                                   .ports = ports,
                                   .index = index};
}

static void fill_topology(struct report_sample *s) {
    s->node[0] = node_of("host-0", "host", WEFT_NODE_HOST, 0, 1, 0);
    s->node[1] = node_of("host-1", "host", WEFT_NODE_HOST, 1, 1, 1);
    s->node[2] = node_of("host-2", "host", WEFT_NODE_HOST, 2, 1, 2);
    s->node[3] = node_of("leaf-0", "leaf", WEFT_NODE_SWITCH, 3, 3, 0);
    for (uint32_t h = 0; h < 3; h++) {
        s->host[h] = h;
        s->port[h] = (struct weft_port_info){.node = h, .peer = 3 + h, .link = h};
        s->port[3 + h] = (struct weft_port_info){.node = 3, .peer = h, .link = h};
        s->link[h] = (struct weft_link_info){.port = {h, 3 + h}, .rate_bps = 200000000000, .delay_ps = 150000};
    }
    s->switch_node[0] = 3;
    s->topology = (struct weft_topology){
        .kind = "list",
        .nodes = 4,
        .ports = SAMPLE_PORTS,
        .links = 3,
        .hosts = 3,
        .switches = 1,
        .node = s->node,
        .port = s->port,
        .link = s->link,
        .host = s->host,
        .switch_node = s->switch_node,
    };
}

static void fill_flows(struct report_sample *s) {
    s->group[0] = "incast";
    s->group[1] = "victims";
    s->flow[0] = (struct weft_flow){.group = 0,
                                    .src = 0,
                                    .dst = 2,
                                    .bytes = 5000000,
                                    .start_ps = 0,
                                    .qps = 1,
                                    .priority = 3,
                                    .verb = WEFT_VERB_WRITE};
    s->flow[1] = (struct weft_flow){.group = 0,
                                    .src = 1,
                                    .dst = 2,
                                    .bytes = 5000000,
                                    .start_ps = 1000000,
                                    .qps = 1,
                                    .priority = 3,
                                    .verb = WEFT_VERB_WRITE};
    s->flow[2] = (struct weft_flow){.group = 1,
                                    .src = 0,
                                    .dst = 1,
                                    .bytes = 1000000,
                                    .start_ps = 0,
                                    .qps = 2,
                                    .priority = 3,
                                    .verb = WEFT_VERB_SEND};
    s->flow[3] = (struct weft_flow){.group = 1,
                                    .src = 2,
                                    .dst = 0,
                                    .bytes = 2000000,
                                    .start_ps = 0,
                                    .qps = 1,
                                    .priority = 4,
                                    .verb = WEFT_VERB_READ};
    s->flow_outcome[0] =
        (struct weft_flow_outcome){0, 400000000, 401000000, 200000000, 5000000, 3, 0, 12, 7000000, 0, 0};
    s->flow_outcome[1] =
        (struct weft_flow_outcome){1000000, 421000000, 422000000, 200000000, 5000000, 4, 2, 6, 3000000, 5, 3};
    s->flow_outcome[2] = (struct weft_flow_outcome){0, 50500123, 51500123, 40000000, 1000000, 0, 0, 0, 0, 7, 0};
    s->flow_outcome[3] =
        (struct weft_flow_outcome){0, WEFT_TIME_NEVER, WEFT_TIME_NEVER, 80000000, 1234567, 0, 9, 0, 0, 0, 0};
    s->workload = (struct weft_workload){
        .flows = SAMPLE_FLOWS,
        .groups = 2,
        .flows_capacity = SAMPLE_FLOWS,
        .qps = 5,
        .bytes = 13000000,
        .flow = s->flow,
        .group = s->group,
    };
}

static void fill_counters(const struct weft_outcome *o) {
    // host-0/0 and host-1/0 were paused by the leaf, leaf-0/2 by host-2.
    *weft_outcome_at(o, 0, 3) = (struct weft_counters){
        .tx_packets = 1500, .tx_bytes = 6000000, .pfc_rx_xoff = 7, .paused_ps = 90000000, .sfc_received = 12};
    *weft_outcome_at(o, 1, 3) = (struct weft_counters){
        .tx_packets = 1250, .tx_bytes = 5100000, .pfc_rx_xoff = 4, .paused_ps = 31000000, .sfc_received = 6};
    *weft_outcome_at(o, 3, 3) = (struct weft_counters){.ingress_bytes_max = 780000, .pfc_tx_xoff = 7, .pfc_tx_xon = 6};
    *weft_outcome_at(o, 4, 3) = (struct weft_counters){.ingress_bytes_max = 781000,
                                                       .pfc_tx_xoff = 4,
                                                       .pfc_tx_xon = 4,
                                                       .drops = 2,
                                                       .sfc_proxied = 2,
                                                       .link_retries = 5,
                                                       .credit_wait_ps = 4000000};
    *weft_outcome_at(o, 5, 3) = (struct weft_counters){.tx_packets = 2700,
                                                       .tx_bytes = 10900000,
                                                       .ecn_marked = 321,
                                                       .queue_bytes_max = 812345,
                                                       .paused_ps = 5000000,
                                                       .watchdog_storms = 1,
                                                       .sfc_sent = 21,
                                                       .sfc_suppressed = 13};
    *weft_outcome_at(o, 5, 4) = (struct weft_counters){.paused_ps = 2000000};
}

void report_sample_init(struct report_sample *s) {
    *s = (struct report_sample){0};
    fill_topology(s);
    fill_flows(s);
    s->scenario = (struct weft_scenario){.path = "sample.yaml",
                                         .name = "sample",
                                         .about = "filled in by hand",
                                         .variant = "pfc",
                                         .case_name = "",
                                         .device = &s->device,
                                         .devices = 1,
                                         .run = {.seed = 42, .until_ps = 500000000}};
    s->series[0] = (struct weft_sample){1000000, 5, 3, 4096, 8192, 25000, false, 0, 0};
    s->series[1] = (struct weft_sample){2000000, 5, 3, 812345, 780000, 0, true, 0, 0};
    s->outcome = (struct weft_outcome){
        .end = WEFT_END_UNTIL,
        .sim_time_ps = 500000000,
        .wall_s = 0.5,
        .cpu_s = 0.75,
        .threads = 2,
        .packet_hops = 12345678,
        .events = 23456789,
        .windows = 1111,
        .window_ps = 131072,
        .peak_rss_bytes = 33554432,
        .flows = SAMPLE_FLOWS,
        .flow = s->flow_outcome,
        .ports = SAMPLE_PORTS,
        .counters = s->counters,
        .cnps = 7,
        .injected_bytes = 13500000,
        .delivered_bytes = 12700000,
        .dropped_bytes = 8356,
        .held_bytes = 791644,
        .samples = SAMPLE_SERIES,
        .sample = s->series,
        .digest = UINT64_C(0x0123456789abcdef),
    };
    fill_counters(&s->outcome);
    s->outcome.drops[WEFT_DROP_AQM] = 1;
    s->outcome.drop_bytes[WEFT_DROP_AQM] = 4178;
    s->outcome.drops[WEFT_DROP_HEADROOM] = 1;
    s->outcome.drop_bytes[WEFT_DROP_HEADROOM] = 4178;
    s->run = (struct weft_run){
        .scenario = &s->scenario, .topology = &s->topology, .workload = &s->workload, .outcome = &s->outcome};
    for (unsigned k = 0; k < WEFT_MEMORY_KINDS; k++)
        s->run.memory_bytes_max[k] = 1000 + k;
}
