// SPDX-License-Identifier: Apache-2.0
// Calculators for those who set thresholds: the headroom that PFC and Source Flow Control (SFC, IEEE P802.1Qdw) need,
// and the thresholds and pause times that follow. Everything named calc_ is pure; bytes and picoseconds are exact, and
// where they are not whole a need is rounded up and an allowance down.
#pragma once

#include "weft/scenario.h"

struct weft_answer; // weft/result.h

/// What a headroom is computed from.
enum weft_plan_formula {
    WEFT_PLAN_BOUND, ///< what can still arrive: delays, the pause frame, and every frame that has begun
    WEFT_PLAN_STUDY, ///< delays alone, as in the IEEE P802.1Qdw simulations
    WEFT_PLAN_SONIC, ///< SONiC's dynamic buffer model
    WEFT_PLAN_FORMULAS
};
extern const char *const weft_plan_formula_names[]; ///< "bound", "study", "sonic", NULL

/// One direction of a link: what its receiver must be able to take after it has asked for a pause.
struct weft_plan_pfc_conf {
    weft_rate_bps rate_bps;
    weft_time_ps delay_ps;      ///< of the cable, one way
    weft_time_ps processing_ps; ///< of the receiver, from the last bit of a frame to its buffer
    weft_time_ps reaction_ps;   ///< of the sender, from the pause frame to the stop; NEVER: weft_pfc_calc_reaction
    weft_time_ps phy_ps;        ///< of both PHYs of the link together, one way
    weft_bytes mtu_bytes;       ///< payload of a full packet
    weft_bytes ahead_mtu_bytes; ///< largest MTU of all classes, of the frame that a pause waits for; 0: mtu_bytes
    weft_bytes framing_bytes;   ///< of a scenario: weft_host_framing_bytes
    weft_bytes held_cell_bytes; ///< of a scenario: the cells of the buffer that all this is counted in; 0: bytes
    const char *chip;           ///< class of the receiver's switch, whose constants hold; "": none
    weft_bytes buffer_bytes;    ///< of the port and priority at the receiver; 0: not asked about
    weft_bytes xoff_bytes;      ///< threshold to be judged; 0: none
    uint32_t formula;           ///< enum weft_plan_formula
    // What SONiC's formula takes besides.
    weft_bytes port_mtu_bytes, lossless_mtu_bytes, cell_bytes, small_bytes, peer_bytes, mac_phy_bytes, pipeline_bytes;
    weft_time_ps gearbox_ps, tile_ps;
    uint64_t small_percent, lanes;
};
extern const struct weft_param_table weft_plan_pfc_table;
struct weft_hardware;
/// The constants of a chip's class. `least`: of inferred ones the low end, for a judge that is to raise no false alarm.
void weft_plan_set_chip(const struct weft_hardware *chip, bool least, struct weft_plan_pfc_conf *conf);

/// The sum, part by part. `in_flight_bytes` and what follows it add up to `headroom_bytes`, but for SONiC's formula,
/// which scales them by `occupancy`.
struct weft_plan_pfc {
    weft_time_ps reaction_ps;
    weft_bytes in_flight_bytes; ///< rate x all delays; `cable_bytes` and `reaction_bytes` are parts of it
    weft_bytes cable_bytes;     ///< rate x 2 x delay
    weft_bytes reaction_bytes;  ///< rate x reaction
    weft_bytes frame_bytes;     ///< one full frame; with preamble and gap in BOUND, the port's MTU in SONIC
    uint32_t frames;            ///< how many of them
    weft_bytes ahead_bytes;     ///< BOUND: the frame that the pause waits for, of any class; else 0
    weft_bytes pause_bytes;     ///< the pause frame
    weft_bytes mac_phy_bytes;   ///< SONIC: held by MAC and PHY; else 0
    double occupancy;           ///< bytes occupied over bytes on the wire, worst case (SONIC, BOUND); else 1
    weft_bytes headroom_bytes;  ///< what must fit above XOFF
    weft_bytes xon_bytes;       ///< SONIC: kept below XON; else 0
    weft_bytes size_bytes;      ///< SONIC: of the priority group; else the headroom
    weft_bytes xoff_bytes_max;  ///< buffer - headroom; 0 if it does not fit
    bool fits;                  ///< the headroom is no more than the buffer
    bool lossy;                 ///< `xoff_bytes` leaves too little headroom
};
struct weft_plan_pfc weft_plan_calc_pfc(const struct weft_plan_pfc_conf *conf);
/// bytes = rate x time / 8, rounded up; and back, rounded up or down.
weft_bytes weft_plan_calc_bytes(weft_rate_bps rate, weft_time_ps time);
weft_time_ps weft_plan_calc_time_up(weft_rate_bps rate, weft_bytes bytes);
weft_time_ps weft_plan_calc_time_down(weft_rate_bps rate, weft_bytes bytes);

/// N senders, one receiver, alike links and switches. The congested queue is at the receiver's switch.
struct weft_plan_sfc_conf {
    weft_rate_bps rate_bps;
    weft_time_ps delay_ps;      ///< of a link, one way
    weft_time_ps processing_ps; ///< of a switch
    uint64_t layers;            ///< of switches
    uint64_t incast;            ///< N
    weft_bytes buffer_bytes;
    weft_bytes pfc_threshold_bytes; ///< 0: the highest that PFC's headroom allows
    weft_bytes threshold_bytes;     ///< of SFC; 0: to be chosen
    weft_time_ps pause_ps;          ///< 0: to be chosen
    weft_time_ps interval_ps;       ///< least time between two messages; 0: the pause
    bool best_effort;               ///< no PFC: the end of the buffer takes the place of its threshold
    weft_bytes pfc_headroom_bytes;  ///< of a scenario: by formula bound, as in plan pfc; 0: by the study's formula
};
extern const struct weft_param_table weft_plan_sfc_table;

/// The way from a source to the congested switch: there for data, back for messages.
struct weft_plan_path {
    uint32_t links;             ///< one way
    uint32_t passes;            ///< switches passed there and back
    weft_time_ps round_trip_ps; ///< from the stop of the source to its effect on the congested queue
};
/// 2 x layers - 1 links; as many switches there and one less back. 2 x delay x links + processing x passes.
struct weft_plan_path weft_plan_calc_path(uint64_t layers, weft_time_ps delay, weft_time_ps processing);

/// What is wrong with given values; a mask.
enum weft_plan_warning {
    WEFT_PLAN_LOSSY = 1,          ///< the PFC threshold leaves less than PFC's headroom
    WEFT_PLAN_TOO_SLOW = 2,       ///< SFC reacts too slowly: the queue passes the PFC threshold
    WEFT_PLAN_UNDER_REACTING = 4, ///< the pause is too short: the queue is still above the SFC threshold after it
    WEFT_PLAN_OVER_REACTING = 8,  ///< the pause is too long: the queue runs empty and the link idles
};
enum { WEFT_PLAN_WARNINGS = 4 };
extern const char *const weft_plan_warning_names[WEFT_PLAN_WARNINGS]; ///< by bit: "lossy", "too_slow", ...

struct weft_plan_sfc {
    struct weft_plan_path path;
    weft_bytes pfc_headroom_bytes, pfc_threshold_bytes_max, pfc_threshold_bytes;
    weft_bytes excess_bytes;                 ///< of one flow beyond what the link can carry, during a round trip
    weft_bytes headroom_bytes;               ///< (N - 1) x excess
    weft_bytes threshold_bytes_max;          ///< PFC threshold - headroom; 0: no threshold is allowed
    weft_bytes threshold_bytes;              ///< as given, or chosen: three quarters of the highest, in whole KB
    weft_bytes input_threshold_bytes;        ///< an Nth of it, for each queue of virtual output queues
    weft_time_ps pause_ps_min, pause_ps_max; ///< headroom / rate, (headroom + threshold) / rate
    weft_time_ps pause_ps;                   ///< as given, or chosen: the middle, in whole us where one is in range
    weft_time_ps interval_ps;
    uint32_t warnings; ///< enum weft_plan_warning
};
/// `way`: NULL for that of `conf`.
struct weft_plan_sfc weft_plan_calc_sfc(const struct weft_plan_sfc_conf *conf, const struct weft_plan_path *path);

/// Links of a scenario that are alike, one direction: layers, rate, delay and configuration of both ends. Or one link
/// that is given by values, which has no layers.
struct weft_plan_line {
    const char *plan;                  ///< "pfc", of a link given by values; else NULL
    uint32_t number;                   ///< in the list, from 0
    const char *between;               ///< both ends, each with its entry of `devices`: "leaf -> spine (spine-*)"
    const char *from, *to;             ///< layers
    const char *from_match, *to_match; ///< the entry of `devices` that holds there; NULL: none
    uint32_t links;
    bool lossless;                 ///< the receiver has PFC, and may have to pause
    struct weft_plan_pfc_conf pfc; ///< over the caller's: rate, delay, processing, reaction, MTU
    weft_bytes headroom_bytes;     ///< as configured
    const char *headroom_text;     ///< how: "size 800KB - xoff 780KB"
    // From here on: what weft_plan_line_judge adds.
    const char *formula;
    struct weft_plan_pfc need; ///< terms that the formula does not have are the largest number or NAN
    weft_bytes need_by_formula[WEFT_PLAN_FORMULAS];
    bool enough;
    const char *configured;     ///< "20KB, size 800KB - xoff 780KB: 7666B TOO LITTLE"
    const char *const *warning; ///< [warnings]
    uint32_t warnings;
};
/// Compares the configured headroom with the need.
void weft_plan_line_judge(struct weft_plan_line *line, struct weft_arena *arena);
/// Every sort of link, not yet judged; `base` holds what a scenario does not say. In `arena`, which may outlive the
/// scenario.
struct weft_plan_line *weft_plan_scenario_lines(const struct weft_scenario *scenario,
                                                const struct weft_topology *topology,
                                                const struct weft_plan_pfc_conf *base, struct weft_arena *arena,
                                                uint32_t *ret_lines);

/// The link whose packets arrive at `port`, not judged; `device` is that of each node, `base` has the MTU and the
/// framing.
struct weft_plan_line weft_plan_line_at(const struct weft_topology *topology,
                                        const struct weft_device_conf *const *device, uint32_t port,
                                        const struct weft_plan_pfc_conf *base, struct weft_arena *arena);
/// The lossless link to a switch that needs the most headroom; NULL: there is none.
const struct weft_plan_line *weft_plan_worst_line(const struct weft_plan_line *line, uint32_t lines);

/// Where SFC has to work in a scenario: the host that most others send to, and the longest of their ways.
struct weft_plan_incast {
    uint32_t receiver;                                     ///< host; WEFT_NONE: no host has two senders
    const char *receiver_name, *switch_name, *source_name; ///< source: of the longest way
    struct weft_plan_path path;
    bool alike;                     ///< links and switches of the way are alike, with conf's delays
    struct weft_plan_sfc_conf conf; ///< 0 for what the scenario does not say (SFC's own values, if it has none)
    bool sfc;                       ///< the switch has SFC with a fixed threshold and pause, those of `conf`
    struct weft_plan_pfc_conf pfc;  ///< of the lossless link to a switch that needs the most headroom; rate 0: none
    const char *buffer_text;        ///< where buffer and PFC threshold come from
    uint32_t queue_pairs;           ///< of the source that has most, if a message pauses one of them; 1: it pauses all
};
struct weft_plan_incast weft_plan_scenario_incast(const struct weft_scenario *scenario,
                                                  const struct weft_topology *topology,
                                                  const struct weft_workload *workload, struct weft_arena *arena);

/// The names of the bits that are set; returns their number.
uint32_t weft_plan_warnings(uint32_t mask, const char *const *name, const char **ret_warning);

/// What weft plan sfc found, for values or in a scenario.
struct weft_plan_sfc_found {
    const char *plan; ///< "sfc", for values; else NULL
    struct weft_plan_sfc_conf conf;
    struct weft_plan_sfc sfc;
    struct weft_plan_incast place; ///< receiver_name NULL: values
    bool own_way;                  ///< the path is the place's, not that of `conf`
    const char *warning[WEFT_PLAN_WARNINGS];
    uint32_t warnings;
};

struct weft_plan_dsf_sort; // weft/plan_dsf.h

/// What a calculator finds in the variants of a scenario.
struct weft_plan_variants {
    const char *plan; ///< the calculator: "pfc"
    struct weft_plan_variant *variant;
    uint32_t variants;
};
struct weft_plan_variant {
    const char *variant;         ///< "": the scenario has no variants; NULL: values instead of a scenario
    struct weft_plan_line *line; ///< of weft plan pfc
    uint32_t lines;
    struct weft_plan_sfc_found sfc;  ///< of weft plan sfc
    struct weft_plan_dsf_sort *sort; ///< of weft plan dsf
    uint32_t sorts;
};
/// To values: of a judged struct weft_plan_line, a struct weft_plan_variant, a judged struct weft_plan_dsf_sort. To a
/// scenario: of a struct weft_plan_variants.
extern const struct weft_answer weft__answer_plan_pfc, weft__answer_plan_pfc_scenario, weft__answer_plan_sfc,
    weft__answer_plan_sfc_scenario, weft__answer_plan_dsf, weft__answer_plan_dsf_scenario;
