// SPDX-License-Identifier: Apache-2.0
// A run filled in by hand: three hosts on one switch, four flows in two groups, every kind of figure.
#pragma once

#include "weft/report.h"

enum { SAMPLE_PORTS = 6, SAMPLE_FLOWS = 4, SAMPLE_SERIES = 2 };

struct report_sample {
    struct weft_node_info node[4];
    struct weft_port_info port[SAMPLE_PORTS];
    struct weft_link_info link[3];
    uint32_t host[3], switch_node[1];
    const char *group[2];
    struct weft_flow flow[SAMPLE_FLOWS];
    struct weft_flow_outcome flow_outcome[SAMPLE_FLOWS];
    struct weft_counters counters[SAMPLE_PORTS * WEFT_PRIORITIES];
    struct weft_sample series[SAMPLE_SERIES];
    struct weft_device_conf device;
    struct weft_scenario scenario;
    struct weft_topology topology;
    struct weft_workload workload;
    struct weft_outcome outcome;
    struct weft_run run;
};

/// Fills it; its parts point into itself.
void report_sample_init(struct report_sample *s);
