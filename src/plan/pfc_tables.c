// SPDX-License-Identifier: Apache-2.0
// Tables of weft plan pfc: a link given by values, or the sorts of links of each variant of a scenario.
#include "plan/plan.h"

#define LINE(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_plan_line, field, key, kind, __VA_ARGS__)
#define HEADROOM(formula, which)                                                                                       \
    LINE(need_by_formula[which], "headroom_bytes_by_formula." formula, BYTES,                                          \
         "headroom above XOFF by formula " formula, .flags = WEFT_RESULT_EXACT, .title = formula)
#define SOMETIMES(field, kind, help) LINE(need.field, #field, kind, help, .flags = WEFT_RESULT_SPARSE)
enum { OF_SCENARIO = 11, OF_LINE = 2 }; // columns

static const struct weft_result_column lines_columns[] = {
    WEFT_RESULT_OF(struct weft_plan_variant, variant, TEXT, "name of the variant"),
    LINE(number, "number", COUNT, "number of the sort of link, from 0", .flags = WEFT_RESULT_KEY | WEFT_RESULT_TABLES),
    LINE(between, "between", TEXT, "both ends, each with its entry of devices", .flags = WEFT_RESULT_KEY,
         .title = "from -> to"),
    LINE(from, "from", TEXT, "layer of the sender", .flags = WEFT_RESULT_KEY),
    LINE(from_match, "from_match", TEXT, "entry of devices that applies to the sender"),
    LINE(to, "to", TEXT, "layer of the receiver", .flags = WEFT_RESULT_KEY),
    LINE(to_match, "to_match", TEXT, "entry of devices that applies to the receiver"),
    LINE(links, "links", COUNT, "links of this sort", .title = "links"),
    LINE(lossless, "lossless", BOOL, "whether the receiver has PFC and may have to pause"),
    LINE(headroom_bytes, "configured_headroom_bytes", BYTES, "headroom above XOFF that the scenario configures"),
    LINE(enough, "enough", BOOL, "whether the configured headroom is enough"),
    LINE(plan, "plan", TEXT, "the calculator", .flags = WEFT_RESULT_SPARSE),
    LINE(formula, "formula", TEXT, "formula of the headroom: bound, study or sonic"),
    LINE(pfc.rate_bps, "rate_bps", RATE, "rate of the link", .flags = WEFT_RESULT_EXACT, .title = "rate"),
    LINE(pfc.delay_ps, "delay_ps", TIME, "delay of the cable, one way", .flags = WEFT_RESULT_EXACT, .title = "delay"),
    HEADROOM("bound", WEFT_PLAN_BOUND),
    HEADROOM("study", WEFT_PLAN_STUDY),
    HEADROOM("sonic", WEFT_PLAN_SONIC),
    LINE(pfc.processing_ps, "processing_ps", TIME, "processing time of the receiver"),
    LINE(need.reaction_ps, "reaction_ps", TIME, "reaction time of the sender, from pause frame to stop"),
    LINE(pfc.buffer_bytes, "buffer_bytes", BYTES, "buffer of the port and priority; 0: not given"),
    LINE(pfc.xoff_bytes, "xoff_bytes", BYTES, "XOFF threshold; 0: not given"),
    LINE(need.cable_bytes, "cable_bytes", BYTES, "rate x 2 x delay of the cable"),
    LINE(need.reaction_bytes, "reaction_bytes", BYTES, "rate x reaction time of the sender"),
    LINE(need.in_flight_bytes, "in_flight_bytes", BYTES, "rate x all delays"),
    LINE(need.frames, "frames", COUNT, "full frames that the headroom has to hold"),
    LINE(need.frame_bytes, "frame_bytes", BYTES, "size of a full frame on the wire; formula sonic: the port's MTU"),
    LINE(need.ahead_bytes, "ahead_bytes", BYTES, "size of the frame that the pause frame waits for (bound)"),
    SOMETIMES(pause_bytes, BYTES, "size of the pause frame (bound)"),
    SOMETIMES(mac_phy_bytes, BYTES, "bytes held by MAC and PHY (sonic)"),
    SOMETIMES(occupancy, REAL, "bytes of buffer cells per byte of packets, worst case (sonic)"),
    SOMETIMES(xon_bytes, BYTES, "bytes kept below XON (sonic)"),
    SOMETIMES(size_bytes, BYTES, "size of the priority group (sonic)"),
    LINE(need.headroom_bytes, "headroom_bytes", BYTES, "headroom above XOFF by the formula in use"),
    LINE(need.xoff_bytes_max, "xoff_bytes_max", BYTES, "highest XOFF: buffer - headroom; 0 if it does not fit"),
    LINE(configured, "configured", TEXT, "configured headroom, and how many bytes are missing",
         .flags = WEFT_RESULT_SPARSE, .title = "configured"),
};
static const struct weft_result_table values_table = {.name = "values",
                                                      .shape = WEFT_RESULT_OBJECT,
                                                      .row = "the PFC headroom of a link given by values",
                                                      WEFT__PLAN_AFTER(lines_columns, OF_SCENARIO)};
static const struct weft_result_table lines_table = WEFT_RESULT_TABLE(
    "variants.lines", LIST, "a sort of link: layers, rate, delay and configuration of both ends, one direction",
    lines_columns, WEFT_RESULT_EACH(struct weft_plan_variant, line, lines));

static const struct weft_result_column warnings_columns[] = {
    WEFT_RESULT_AT(2, struct weft_plan_variant, variant, "variant", TEXT, "name of the variant",
                   .flags = WEFT_RESULT_KEY | WEFT_RESULT_ABOVE),
    WEFT_RESULT_AT(1, struct weft_plan_line, number, "line", COUNT, "number of the sort of link, from 0",
                   .flags = WEFT_RESULT_KEY | WEFT_RESULT_ABOVE),
    WEFT_RESULT_INDEX("number", "number of the warning, from 0"),
    WEFT_RESULT_ITEM(const char *, "warning", TEXT, "lossy: the headroom is too small"),
};
#define WARNINGS(title, after)                                                                                         \
    {                                                                                                                  \
        .name = title, .shape = WEFT_RESULT_ARRAY, .row = "a warning", WEFT__PLAN_AFTER(warnings_columns, after),      \
        WEFT_RESULT_EACH(struct weft_plan_line, warning, warnings)                                                     \
    }
static const struct weft_result_table warnings_table = WARNINGS("warnings", OF_LINE),
                                      line_warnings_table = WARNINGS("variants.lines.warnings", 0);

const struct weft_answer weft__answer_plan_pfc =
    WEFT_ANSWER_OF("plan_pfc", "weft plan pfc: PFC headroom of a link given by values", &values_table, &warnings_table);
const struct weft_answer weft__answer_plan_pfc_scenario =
    WEFT_ANSWER_OF("plan_pfc_scenario", "weft plan pfc SCENARIO: PFC headroom of its links", &weft__plan_variants_table,
                   &weft__plan_variant_table, &lines_table, &line_warnings_table);

// --- shared with the other calculators ----------------------------------------------------------------------------

const struct weft_result_table weft__plan_variants_table =
    WEFT_RESULT_TABLE_OF("scenario", OBJECT, "a calculator on a scenario", WEFT_RESULT_SUBJECT,
                         WEFT_RESULT(struct weft_plan_variants, plan, TEXT, "the calculator"));
const struct weft_result_table weft__plan_variant_table = WEFT_RESULT_TABLE_OF(
    "variants", LIST, "a variant of the scenario", WEFT_RESULT_EACH(struct weft_plan_variants, variant, variants),
    WEFT_RESULT(struct weft_plan_variant, variant, TEXT, "name of the variant", .flags = WEFT_RESULT_KEY));
