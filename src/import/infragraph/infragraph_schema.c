// SPDX-License-Identifier: Apache-2.0
#include "import/infragraph/infragraph_schema.h"
#include "weft/param.h"

#define NAMED_ROWS(T, dflt)                                                                                            \
    WEFT_TEXT(T, named.name, "name", dflt, "its name"),                                                                \
        WEFT_PROSE(T, named.description, "description", "", "for people")

static const char *const infrastructure_lists[] = {"devices", "links", "instances", "edges", NULL};
const struct weft_param_table weft__infragraph_infrastructure_table =
    WEFT_PARAM_TABLE_OF("infrastructure", struct weft__infragraph_infrastructure_conf, .lists = infrastructure_lists,
                        NAMED_ROWS(struct weft__infragraph_infrastructure_conf, ""));

static const char *const device_lists[] = {"components", "links", "edges", NULL};
const struct weft_param_table weft__infragraph_device_table =
    WEFT_PARAM_TABLE_OF("device", struct weft__infragraph_device_conf, .lists = device_lists,
                        NAMED_ROWS(struct weft__infragraph_device_conf, NULL));

static const char *const choices[] = {"custom", "device", "cpu", "xpu", "npu", "nic", "memory", "port", "switch", NULL};
const struct weft_param_table weft__infragraph_component_table = WEFT_PARAM_TABLE_OF(
    "component", struct weft__infragraph_component_conf, .lists = choices,
    NAMED_ROWS(struct weft__infragraph_component_conf, NULL),
    WEFT_UINT(struct weft__infragraph_component_conf, count, "count", NULL, "0", "16777216", "so many in a device"),
    WEFT_CHOICE(struct weft__infragraph_component_conf, choice, "choice", NULL, choices, "kind of the component"));

static const char *const bandwidths[] = {"gigabits_per_second", "gigabytes_per_second", "gigatransfers_per_second",
                                         NULL};
static const struct weft_param_table bandwidth_table = WEFT_PARAM_TABLE_OF(
    "bandwidth", struct weft__infragraph_bandwidth_conf, WEFT_PARAM_UNCHECKED,
    WEFT_CHOICE(struct weft__infragraph_bandwidth_conf, choice, "choice", "gigabits_per_second", bandwidths,
                "which of them it is"),
    WEFT_REAL(struct weft__infragraph_bandwidth_conf, gbits, "gigabits_per_second", "0", "0", "1000000", "10^9 bit/s"),
    WEFT_REAL(struct weft__infragraph_bandwidth_conf, gbytes, "gigabytes_per_second", "0", "0", "1000000",
              "10^9 bytes/s"),
    WEFT_REAL(struct weft__infragraph_bandwidth_conf, gtransfers, "gigatransfers_per_second", "0", "0", "1000000",
              "10^9 transfers/s"));

static const char *const latencies[] = {"ms", "us", "ns", NULL};
static const struct weft_param_table latency_table = WEFT_PARAM_TABLE_OF(
    "latency", struct weft__infragraph_latency_conf, WEFT_PARAM_UNCHECKED,
    WEFT_CHOICE(struct weft__infragraph_latency_conf, choice, "choice", "ms", latencies, "which of them it is"),
    WEFT_REAL(struct weft__infragraph_latency_conf, ms, "ms", "0", "0", "1000", "milliseconds"),
    WEFT_REAL(struct weft__infragraph_latency_conf, us, "us", "0", "0", "1000000", "microseconds"),
    WEFT_REAL(struct weft__infragraph_latency_conf, ns, "ns", "0", "0", "1000000000", "nanoseconds"));

static const struct weft_param_table physical_table = WEFT_PARAM_TABLE_OF(
    "physical", struct weft__infragraph_physical_conf, WEFT_PARAM_UNCHECKED,
    WEFT_SECTION(struct weft__infragraph_physical_conf, bandwidth, "bandwidth", &bandwidth_table, "one of three"),
    WEFT_SECTION(struct weft__infragraph_physical_conf, latency, "latency", &latency_table, "one of three"));

const struct weft_param_table weft__infragraph_link_table = WEFT_PARAM_TABLE_OF(
    "link", struct weft__infragraph_link_conf, WEFT_PARAM_UNCHECKED,
    NAMED_ROWS(struct weft__infragraph_link_conf, NULL),
    WEFT_SECTION(struct weft__infragraph_link_conf, physical, "physical", &physical_table, "bandwidth and latency"));

const struct weft_param_table weft__infragraph_instance_table = WEFT_PARAM_TABLE_OF(
    "instance", struct weft__infragraph_instance_conf, WEFT_PARAM_UNCHECKED,
    NAMED_ROWS(struct weft__infragraph_instance_conf, NULL),
    WEFT_TEXT(struct weft__infragraph_instance_conf, device, "device", NULL, "the name of a device"),
    WEFT_UINT(struct weft__infragraph_instance_conf, count, "count", NULL, "1", "16777216", "so many"));

static const char *const schemes[] = {"one2one", "many2many", "ring", NULL};
static const char *const edge_lists[] = {"ep1", "ep2", NULL};
const struct weft_param_table weft__infragraph_edge_table = WEFT_PARAM_TABLE_OF(
    "edge", struct weft__infragraph_edge_conf, .lists = edge_lists,
    WEFT_CHOICE(struct weft__infragraph_edge_conf, scheme, "scheme", NULL, schemes, "how its two lists are paired"),
    WEFT_TEXT(struct weft__infragraph_edge_conf, link, "link", NULL, "the name of a link"));

const struct weft_param_table weft__infragraph_end_table =
    WEFT_PARAM_TABLE_OF("endpoint", struct weft__infragraph_end_conf, WEFT_PARAM_UNCHECKED,
                        WEFT_TEXT(struct weft__infragraph_end_conf, instance, "instance", NULL,
                                  "an instance, perhaps a slice of it: host[0:4]"),
                        WEFT_TEXT(struct weft__infragraph_end_conf, component, "component", NULL,
                                  "a path of components: nic[0], or cx5[0:2].port[0]"));
const struct weft_param_table weft__infragraph_inner_end_table = WEFT_PARAM_TABLE_OF(
    "endpoint", struct weft__infragraph_end_conf, WEFT_PARAM_UNCHECKED,
    WEFT_TEXT(struct weft__infragraph_end_conf, instance, "device", "", "a device within, perhaps a slice of it"),
    WEFT_TEXT(struct weft__infragraph_end_conf, component, "component", NULL, "a path of components"));
