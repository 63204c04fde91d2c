// SPDX-License-Identifier: Apache-2.0
// Tables of weft check; those of --links are in results_ports.c, beside the ones of a run.
#include "weft/check.h"

#define VARIANT(field, kind, ...) WEFT_RESULT(struct weft_check_variant, field, kind, __VA_ARGS__)
#define ESTIMATE(field, kind, ...) WEFT_RESULT(struct weft_check_estimate, field, kind, __VA_ARGS__)
static const struct weft_result_table check_table =
    WEFT_RESULT_TABLE_OF("check", OBJECT, "the scenario", WEFT_RESULT_SUBJECT, WEFT_RESULT_VERSION);
static const struct weft_result_table variants_table = WEFT_RESULT_TABLE_OF(
    "variants", LIST, "a variant of the scenario", WEFT_RESULT_EACH(struct weft_check, variant, variants),
    VARIANT(scenario, TEXT, "name of the scenario"),
    VARIANT(variant, TEXT, "name of the variant", .flags = WEFT_RESULT_KEY),
    VARIANT(topology, TEXT, "kind of the topology"), VARIANT(hosts, COUNT, "hosts"),
    VARIANT(switches, COUNT, "switches"), VARIANT(links, COUNT, "links"), VARIANT(flows, COUNT, "flows"),
    VARIANT(groups, COUNT, "groups of flows"), VARIANT(bytes, BYTES, "payload of all flows"));
static const struct weft_result_table estimate_table = WEFT_RESULT_TABLE_OF(
    "variants.estimate", OBJECT, "what a run of the variant needs (--memory)",
    WEFT_RESULT_IF(struct weft_check_variant, estimate),
    WEFT_RESULT_OF(struct weft_check_variant, variant, TEXT, "name of the variant"),
    ESTIMATE(by, TEXT, "connections (computed), run (all of it was run) or trial (a second of it was run)"),
    ESTIMATE(peak_rss_bytes, BYTES, "memory that a run takes"),
    ESTIMATE(packet_hops, REAL, "hops of packets", .flags = WEFT_RESULT_SPARSE),
    ESTIMATE(cell_hops, REAL, "hops of cells", .flags = WEFT_RESULT_SPARSE),
    ESTIMATE(cpu_s, REAL, "CPU time of the run", .unit = "s", .flags = WEFT_RESULT_SPARSE),
    ESTIMATE(hops_per_cpu_s, REAL, "hops per second of CPU time", .unit = "1/s", .flags = WEFT_RESULT_SPARSE));
const struct weft_answer weft__answer_check = WEFT_ANSWER_OF(
    "check", "weft check: the variants of a scenario, and what a run of each needs", &check_table, &variants_table,
    &weft__check_links, &weft__check_link_ends, &weft__check_link_differences, &estimate_table);
