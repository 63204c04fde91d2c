// SPDX-License-Identifier: Apache-2.0
// Tables of weft plan sfc: thresholds and pause for values, or for each variant of a scenario.
#include "plan/plan.h"

#define SFC(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_plan_variant, sfc.field, key, kind, __VA_ARGS__)
static const struct weft_result_column sfc_columns[] = {
    WEFT_RESULT(struct weft_plan_variant, variant, TEXT, "name of the variant", .flags = WEFT_RESULT_KEY),
    SFC(place.receiver_name, "receiver", TEXT, "host of the scenario that most others send to"),
    SFC(place.switch_name, "switch", TEXT, "switch of that host"),
    SFC(place.source_name, "source", TEXT, "sender with the longest path to that host"),
    SFC(place.queue_pairs, "queue_pairs", COUNT,
        "queue pairs to the receiver of the source that has most, if a message pauses one of them (host.sfc_scope: "
        "flow); 1: it pauses all; 0: not of a scenario",
        .flags = WEFT_RESULT_SPARSE),
    SFC(plan, "plan", TEXT, "the calculator", .flags = WEFT_RESULT_SPARSE),
    SFC(conf.rate_bps, "inputs.rate_bps", RATE, "given rate of the links"),
    SFC(conf.delay_ps, "inputs.delay_ps", TIME, "given delay of a link, one way"),
    SFC(conf.processing_ps, "inputs.processing_ps", TIME, "given processing time of a switch"),
    SFC(conf.layers, "inputs.layers", COUNT, "given layers of switches"),
    SFC(conf.incast, "inputs.incast", COUNT, "given senders of the incast"),
    SFC(conf.buffer_bytes, "inputs.buffer_bytes", BYTES, "given buffer of the congested port and priority"),
    SFC(conf.pfc_threshold_bytes, "inputs.pfc_threshold_bytes", BYTES, "given PFC threshold; 0: none"),
    SFC(conf.threshold_bytes, "inputs.threshold_bytes", BYTES, "given SFC threshold; 0: none"),
    SFC(conf.pause_ps, "inputs.pause_ps", TIME, "given pause; 0: none"),
    SFC(conf.interval_ps, "inputs.interval_ps", TIME, "given time between two messages, at least; 0: none"),
    SFC(conf.best_effort, "inputs.best_effort", BOOL, "whether there is no PFC"),
    SFC(sfc.path.links, "links", COUNT, "links from the source to the congested switch, one way"),
    SFC(sfc.path.passes, "switch_passes", COUNT, "switches passed there and back"),
    SFC(sfc.path.round_trip_ps, "round_trip_ps", TIME, "time from the stop of the source to its effect on the queue"),
    SFC(sfc.pfc_headroom_bytes, "pfc_headroom_bytes", BYTES, "headroom that PFC needs"),
    SFC(sfc.pfc_threshold_bytes_max, "pfc_threshold_bytes_max", BYTES, "highest PFC threshold"),
    SFC(sfc.pfc_threshold_bytes, "pfc_threshold_bytes", BYTES, "PFC threshold: as given, else the highest"),
    SFC(sfc.excess_bytes, "excess_bytes", BYTES, "bytes of one flow beyond the link's rate, in a round trip"),
    SFC(sfc.headroom_bytes, "headroom_bytes", BYTES, "headroom that SFC needs: (incast - 1) x excess"),
    SFC(sfc.threshold_bytes_max, "threshold_bytes_max", BYTES, "highest SFC threshold; 0: none is allowed"),
    SFC(sfc.threshold_bytes, "threshold_bytes", BYTES, "SFC threshold: as given, else chosen"),
    SFC(sfc.input_threshold_bytes, "input_threshold_bytes", BYTES,
        "SFC threshold of each virtual output queue, which has packets of one input: threshold / incast"),
    SFC(sfc.pause_ps_min, "pause_ps_min", TIME, "shortest pause that is long enough"),
    SFC(sfc.pause_ps_max, "pause_ps_max", TIME, "longest pause that leaves no link idle"),
    SFC(sfc.pause_ps, "pause_ps", TIME, "pause: as given, else chosen"),
    SFC(sfc.interval_ps, "interval_ps", TIME, "time between two messages, at least"),
};
static const struct weft_result_table values_table = {.name = "values",
                                                      .shape = WEFT_RESULT_OBJECT,
                                                      .row = "Source Flow Control for values",
                                                      WEFT__PLAN_AFTER(sfc_columns, 4)};
static const struct weft_result_table variants_table =
    WEFT_RESULT_TABLE("variants", LIST, "Source Flow Control for a variant of the scenario", sfc_columns,
                      WEFT_RESULT_EACH(struct weft_plan_variants, variant, variants));

static const struct weft_result_column warnings_columns[] = {
    WEFT_RESULT_OF(struct weft_plan_variant, variant, TEXT, "name of the variant"),
    WEFT_RESULT_INDEX("number", "number of the warning, from 0"),
    WEFT_RESULT_ITEM(const char *, "warning", TEXT, "lossy, too_slow, under_reacting or over_reacting"),
};
#define WARNINGS(title, after)                                                                                         \
    {                                                                                                                  \
        .name = title, .shape = WEFT_RESULT_ARRAY, .row = "a value that is out of range",                              \
        WEFT__PLAN_AFTER(warnings_columns, after),                                                                     \
        WEFT_RESULT_FIRST(struct weft_plan_variant, sfc.warning[0], sfc.warnings)                                      \
    }
static const struct weft_result_table warnings_table = WARNINGS("warnings", 1),
                                      variant_warnings_table = WARNINGS("variants.warnings", 0);

const struct weft_answer weft__answer_plan_sfc =
    WEFT_ANSWER_OF("plan_sfc", "weft plan sfc: thresholds and pause of Source Flow Control for values", &values_table,
                   &warnings_table);
const struct weft_answer weft__answer_plan_sfc_scenario = WEFT_ANSWER_OF(
    "plan_sfc_scenario", "weft plan sfc SCENARIO: thresholds and pause of Source Flow Control in a scenario",
    &weft__plan_variants_table, &variants_table, &variant_warnings_table);
