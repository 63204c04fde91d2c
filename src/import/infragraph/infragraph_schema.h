// SPDX-License-Identifier: Apache-2.0
// The objects of an InfraGraph file, as rows of the InfraGraph schema 2.4 (Keysight/infragraph, models/*.yaml).
#pragma once

#include "weft/tree.h"

struct weft_param_table;

/// What a component is; npu is what xpu was called before 2.0.
enum weft__infragraph_choice {
    WEFT__INFRAGRAPH_CUSTOM,
    WEFT__INFRAGRAPH_DEVICE,
    WEFT__INFRAGRAPH_CPU,
    WEFT__INFRAGRAPH_XPU,
    WEFT__INFRAGRAPH_NPU,
    WEFT__INFRAGRAPH_NIC,
    WEFT__INFRAGRAPH_MEMORY,
    WEFT__INFRAGRAPH_PORT,
    WEFT__INFRAGRAPH_SWITCH
};
enum weft__infragraph_scheme { WEFT__INFRAGRAPH_ONE2ONE, WEFT__INFRAGRAPH_MANY2MANY, WEFT__INFRAGRAPH_RING };
enum weft__infragraph_bandwidth { WEFT__INFRAGRAPH_GBITS, WEFT__INFRAGRAPH_GBYTES, WEFT__INFRAGRAPH_GTRANSFERS };

struct weft__infragraph_named_conf {
    const char *name, *description;
};

struct weft__infragraph_infrastructure_conf {
    struct weft__infragraph_named_conf named;
};

struct weft__infragraph_device_conf {
    struct weft__infragraph_named_conf named;
};

struct weft__infragraph_component_conf {
    struct weft__infragraph_named_conf named;
    uint64_t count;
    uint32_t choice;
};

struct weft__infragraph_bandwidth_conf {
    uint32_t choice;
    double gbits, gbytes, gtransfers;
};

struct weft__infragraph_latency_conf {
    uint32_t choice;
    double ms, us, ns;
};

struct weft__infragraph_physical_conf {
    struct weft__infragraph_bandwidth_conf bandwidth;
    struct weft__infragraph_latency_conf latency;
};

struct weft__infragraph_link_conf {
    struct weft__infragraph_named_conf named;
    struct weft__infragraph_physical_conf physical;
};

struct weft__infragraph_instance_conf {
    struct weft__infragraph_named_conf named;
    const char *device;
    uint64_t count;
};

struct weft__infragraph_edge_conf {
    uint32_t scheme;
    const char *link;
};

struct weft__infragraph_end_conf {
    const char *instance, *component;
};

/// The tables do not cover lists (devices, components, edges ...) or the ends of an edge: these are read separately.
extern const struct weft_param_table weft__infragraph_infrastructure_table, weft__infragraph_device_table,
    weft__infragraph_component_table, weft__infragraph_link_table, weft__infragraph_instance_table,
    weft__infragraph_edge_table, weft__infragraph_end_table, weft__infragraph_inner_end_table;
