// SPDX-License-Identifier: Apache-2.0
// Tables of weft plan dsf: an interface node for values, or those of each variant of a scenario.
#include "plan/plan.h"
#include "weft/plan_dsf.h"

enum { OF_SCENARIO = 4, OF_NODE = 2 }; // columns

#define DSF(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_plan_dsf_sort, field, key, kind, __VA_ARGS__)
static const struct weft_result_column node_columns[] = {
    WEFT_RESULT_OF(struct weft_plan_variant, variant, TEXT, "name of the variant of the scenario"),
    DSF(example, "example", TEXT, "first interface node of this sort", .flags = WEFT_RESULT_KEY),
    DSF(layer, "layer", TEXT, "layer of the interface nodes"),
    DSF(nodes, "nodes", COUNT, "interface nodes of this sort"),
    DSF(plan, "plan", TEXT, "the calculator", .flags = WEFT_RESULT_SPARSE),
    DSF(conf.rate_bps, "rate_bps", RATE, "rate of an Ethernet port"),
    DSF(conf.ports, "ports", COUNT, "Ethernet ports of an interface node"),
    DSF(conf.lanes, "lanes", COUNT, "lanes to the fabric"),
    DSF(dsf.ports_bps, "ports_bps", RATE, "rate of all ports"),
    DSF(dsf.raw_bps, "fabric_raw_bps", RATE, "rate of all lanes, as signalled"),
    DSF(dsf.coded_bps, "fabric_coded_bps", RATE, "rate of all lanes after FEC"),
    DSF(dsf.payload_bps, "fabric_payload_bps", RATE, "rate of all lanes after cell headers"),
    DSF(dsf.raw_speedup, "speedup_raw", REAL, "signalled rate of the lanes over that of the ports"),
    DSF(dsf.coded_speedup, "speedup_coded", REAL, "rate of the lanes after FEC over that of the ports"),
    DSF(dsf.net_speedup, "speedup_net", REAL, "rate of the lanes after cell headers over that of the ports"),
    DSF(dsf.frame_speedup, "speedup_full_packets", REAL, "rate of full packets in the fabric over that of the ports"),
    DSF(dsf.rtt_ps, "rtt_ps", TIME, "round trip of the credit loop"),
    DSF(dsf.credits_needed, "credits_needed", COUNT, "credits in flight that the credit loop needs"),
    DSF(dsf.credits, "credits", COUNT, "credits in flight: as given, else as needed"),
    DSF(dsf.throughput_bps, "throughput_bps", RATE, "rate of a port with these credits"),
    DSF(dsf.credit_interval_ps, "credit_interval_ps", TIME, "time between two credits of a port"),
    DSF(dsf.inflight, "inflight_credits", COUNT, "preset of a VOQ: credits in flight"),
    DSF(dsf.empty_bytes, "empty_bytes", BYTES, "preset of a VOQ: credit beyond its packets that satisfies the VOQ"),
    DSF(dsf.balance_bytes_max, "balance_bytes_max", BYTES, "preset of a VOQ: highest balance while it is empty"),
    DSF(dsf.slow_bytes, "slow_bytes", BYTES,
        "preset of a VOQ: the VOQ asks slowly while its lack of credit is at most this; 0: never"),
    DSF(dsf.egress_bytes, "egress_bytes", BYTES, "egress buffer of a port that is paused"),
    DSF(dsf.reassembly_bytes, "reassembly_bytes", BYTES, "most that reassembly holds with the skew given"),
    DSF(dsf.skew_ps_max, "skew_ps_max", TIME, "skew with full FIFOs on one path and empty ones on another"),
    DSF(dsf.sram_ps, "sram_ps", TIME, "time until the on-chip buffer is full if nothing leaves the node"),
    DSF(dsf.buffer_ps, "buffer_ps", TIME, "time until the deep buffer is full if nothing leaves the node"),
    DSF(dsf.incast_excess_bps, "incast_excess_bps", RATE, "excess rate of each source of the incast"),
    DSF(dsf.voq_ps, "voq_ps", TIME, "time until a VOQ of the incast has its half of the buffer"),
    DSF(dsf.pfc.headroom_bytes, "pfc_headroom_bytes", BYTES, "PFC headroom of a port towards a NIC"),
    DSF(dsf.xoff_bytes_max, "pfc_xoff_bytes_max", BYTES,
        "highest XOFF of a port; 0: headroom of all ports does not fit"),
    DSF(dsf.far_ps, "far_delay_ps", TIME, "delay to the other region, one way", .flags = WEFT_RESULT_SPARSE),
    DSF(dsf.far_bytes, "far_bytes", BYTES, "bytes of a port in flight to the other region and back",
        .flags = WEFT_RESULT_SPARSE),
    DSF(dsf.far_credits, "far_credits", COUNT, "credits in flight if the credit loop spanned both regions",
        .flags = WEFT_RESULT_SPARSE),
    DSF(dsf.far_pfc.headroom_bytes, "far_pfc_headroom_bytes", BYTES, "PFC headroom of a port towards the other region",
        .flags = WEFT_RESULT_SPARSE),
};
static const struct weft_result_table values_table = {
    .name = "values",
    .shape = WEFT_RESULT_OBJECT,
    .row = "an interface node of a DSF, for values",
    WEFT__PLAN_AFTER(node_columns, OF_SCENARIO),
};
static const struct weft_result_table nodes_table =
    WEFT_RESULT_TABLE("variants.interface_nodes", LIST, "a sort of interface node in a variant of the scenario",
                      node_columns, WEFT_RESULT_EACH(struct weft_plan_variant, sort, sorts));

// --- lists of a node ----------------------------------------------------------------------------------------------

/// Of a congestion level: level 0 has no limit.
WEFT_RESULT_VALUE(level_of, weft_result_whole(true, c->at))

#define NODE                                                                                                           \
    WEFT_RESULT_AT(2, struct weft_plan_variant, variant, "variant", TEXT, "name of the variant of the scenario",       \
                   .flags = WEFT_RESULT_KEY | WEFT_RESULT_ABOVE),                                                      \
        WEFT_RESULT_OF(struct weft_plan_dsf_sort, example, TEXT, "first interface node of this sort")
static const struct weft_result_column backoff_columns[] = {
    NODE,
    WEFT_RESULT_INDEX("number", "number of the level, from 0"),
    WEFT_RESULT_ITEM(weft_bytes, "bytes", BYTES, "preset of a VOQ: balance at which the VOQ backs off"),
};
static const struct weft_result_column rci_columns[] = {
    NODE,
    WEFT_RESULT_CALL(level_of, "level", COUNT, "congestion level, from 1", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT_ITEM(weft_rate_bps, "rate_bps", RATE, "rate of all lanes at this level"),
};
static const struct weft_result_column warnings_columns[] = {
    NODE,
    WEFT_RESULT_INDEX("number", "number of the warning, from 0"),
    WEFT_RESULT_ITEM(const char *, "warning", TEXT, "blocking, starving, above_cap, lossy or skew"),
};
#define LIST(table, what, columns, where)                                                                              \
    { .name = table, .shape = WEFT_RESULT_ARRAY, .row = what, columns, where }
#define BACKOFF(above, after)                                                                                          \
    LIST(above "backoff_bytes", "a level at which a VOQ backs off", WEFT__PLAN_AFTER(backoff_columns, after),          \
         WEFT_RESULT_WITHIN(struct weft_plan_dsf_sort, dsf.backoff_bytes[0], WEFT_PLAN_BACKOFFS))
#define RCI(above, after)                                                                                              \
    LIST(above "rci_bps", "a congestion level", WEFT__PLAN_AFTER(rci_columns, after),                                  \
         WEFT_RESULT_WITHIN(struct weft_plan_dsf_sort, dsf.rci_bps[1], WEFT_PLAN_RCI_LEVELS - 1))
#define WARNINGS(above, after)                                                                                         \
    LIST(above "warnings", "a value that is out of range", WEFT__PLAN_AFTER(warnings_columns, after),                  \
         WEFT_RESULT_FIRST(struct weft_plan_dsf_sort, warning[0], warnings))
static const struct weft_result_table backoff_table = BACKOFF("", OF_NODE), rci_table = RCI("", OF_NODE),
                                      warnings_table = WARNINGS("", OF_NODE);
#define NODES "variants.interface_nodes."
static const struct weft_result_table node_backoff_table = BACKOFF(NODES, 0), node_rci_table = RCI(NODES, 0),
                                      node_warnings_table = WARNINGS(NODES, 0);

const struct weft_answer weft__answer_plan_dsf =
    WEFT_ANSWER_OF("plan_dsf", "weft plan dsf: credits, presets, speed-up, buffers and distances of a DSF, for values",
                   &values_table, &backoff_table, &rci_table, &warnings_table);
const struct weft_answer weft__answer_plan_dsf_scenario = WEFT_ANSWER_OF(
    "plan_dsf_scenario", "weft plan dsf SCENARIO: interface nodes of its DSF", &weft__plan_variants_table,
    &weft__plan_variant_table, &nodes_table, &node_backoff_table, &node_rci_table, &node_warnings_table);

void weft_plan_dsf_judge(struct weft_plan_dsf_sort *sort) {
    struct weft_plan_dsf *p = &sort->dsf;
    *p = weft_plan_calc_dsf(&sort->conf);
    if (!p->far_ps) p->far_ps = p->far_bytes = p->far_credits = p->far_pfc.headroom_bytes = UINT64_MAX;
    sort->warnings = weft_plan_warnings(p->warnings, weft_plan_dsf_warning_names, sort->warning);
}
