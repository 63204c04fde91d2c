// SPDX-License-Identifier: Apache-2.0
// Boxes of a disaggregated scheduled fabric (DSF): the interface node (IN: RDSW, EDSW), Ethernet on one side and cells
// on the other, and the fabric node (FN: FDSW, SDSW), cells only. What an interface node does with Ethernet frames at
// its ports is configured as for a switch (struct weft_switch_conf); here is what it does beyond that.
#pragma once

#include "weft/packet.h"

struct weft_param_table;

/// How cells are spread over the links that lead to their destination.
enum weft_spray { WEFT_SPRAY_PERMUTATION, WEFT_SPRAY_ROUND_ROBIN };

/// How interface nodes are connected: by fabric elements, directly, or not at all (OpenBCM: SINGLE_FAP).
enum weft_fabric_mode { WEFT_FABRIC_FE, WEFT_FABRIC_MESH, WEFT_FABRIC_NONE };

enum weft_voq_preset { WEFT_VOQ_SLOW_DISABLED, WEFT_VOQ_SLOW_ENABLED };
extern const char *const weft_voq_presets[]; ///< their names, then NULL

struct weft_interface_conf {
    const char *chip;           ///< its class of hardware (weft/hardware.h)
    weft_time_ps processing_ps; ///< from the last bit of a cell to its effect
    uint32_t spray;             ///< enum weft_spray
    uint64_t train;             ///< cells of a packet that are one event
    bool packing;               ///< a cell may hold parts of several packets
    // credits, at the destination port
    weft_bytes credit_bytes;
    double speedup;               ///< rate of credits over the rate of the port
    weft_bytes window_bytes;      ///< granted to a VOQ and not yet arrived at most; 0: no limit
    weft_bytes egress_bytes;      ///< packets that wait at a port at most
    weft_bytes egress_slow_bytes; ///< credits at less than the rate of the port while more of a priority waits there
    weft_bytes egress_stop_bytes; ///< and none
    // VOQs, at the source
    uint32_t fabric_mode;         ///< enum weft_fabric_mode
    weft_time_ps fabric_delay_ps; ///< 0: by fabric_mode
    uint64_t inflight;            ///< credits under way; 0: by the preset, from rate and fabric_delay
    uint32_t voq_preset;          ///< enum weft_voq_preset
    uint64_t slow_eighths;        ///< of its turns that a VOQ takes at the lowest slow level
    weft_time_ps balance_age_ps, refresh_ps, watchdog_ps;
    uint64_t backlog_cells; ///< before a lane of its own at which VOQs wait, whatever their credits
    // deep buffer
    weft_bytes sram_bytes;
    double sram_alpha;          ///< a VOQ has so many times what is free on chip there at most
    double sram_xoff, sram_xon; ///< free share below which NICs are paused, and above which not
    weft_rate_bps hbm_rate_bps; ///< writing, and reading
    // reassembly
    weft_bytes reassembly_bytes;
    weft_time_ps reassembly_timeout_ps;
    // congestion of the fabric
    bool rci;
    weft_time_ps rci_interval_ps;
    uint64_t rci_links;        ///< fabric links for which counts of links hold; 0: any number
    uint64_t rci_severe_links; ///< links at the highest level that are the highest congestion
};
extern const struct weft_param_table weft_interface_table;

struct weft_fabric_conf {
    const char *chip;           ///< its class of hardware (weft/hardware.h)
    weft_time_ps processing_ps; ///< from the last bit of a cell to its output FIFO
    uint32_t spray;
    uint64_t fifo_cells; ///< of an output
    uint64_t mark_cells; ///< cells that find more are marked (RCI), at a higher level from two and four times as many
    bool llfc;           ///< link-level flow control
    uint64_t llfc_stop_cells, llfc_go_cells;
};
extern const struct weft_param_table weft_fabric_table;

/// Cells: VSC256 of the Jericho and Ramon generations.
enum {
    WEFT_CELL_PAYLOAD = 256,
    WEFT_CELL_HEADER = 12,  ///< header 11, CRC 1
    WEFT_CELL_PACKET = 10,  ///< fabric header of each packet (FTMH), in its first cell
    WEFT_CELL_CONTROL = 14, ///< credits and requests
};

/// The fabric delay of the presets of VOQs.
weft_time_ps weft_interface_fabric_delay(const struct weft_interface_conf *conf);

/// Presets of a VOQ, in bytes.
enum { WEFT_DSF_BALANCE_MAX = 500000 };
struct weft_dsf_preset {
    weft_bytes surplus;     ///< of credit over what it holds at which it is satisfied
    weft_bytes balance_max; ///< while it is empty
    weft_bytes slow;        ///< it asks slowly while it lacks no more; 0: never
};
/// `kind`: enum weft_voq_preset; `inflight`: credits.
struct weft_dsf_preset weft_dsf_preset(uint32_t kind, uint64_t inflight, weft_bytes credit);

/// Credits under way at a port's rate: max(2, ceil(rate x delay / credit)).
uint64_t weft_dsf_inflight(weft_rate_bps rate, weft_time_ps delay, weft_bytes credit);
