// SPDX-License-Identifier: Apache-2.0
// PFC headroom of one direction of a link: the bytes that still arrive after the receiver has passed XOFF. Three
// formulas.
// - bound: the most that weft's own switches and links can bring; tests/theory/test_lossless.c verifies it. Delays both
//   ways, processing and reaction at line rate, the pause frame itself, and three full frames: the one that passed
//   XOFF, the one that the pause frame waits for, the one that the sender has started. The one that the pause frame
//   waits for may be of any class, so it is as long as the port allows. Delays as in IEEE 802.1Q annex N (buffer
//   requirements for PFC), which counts the same parts; the sender's interface is in its reaction, the receiver's is
//   `phy`. In a buffer of cells all of this occupies more, most of all if it comes as the smallest frames.
// - study: "SFC simulation" (IEEE P802.1Qdw, part 4 and 5): (2 x link delay + switch delay) x rate; no frames.
// - sonic: SONiC, sonic-swss cfgmgr/buffer_headroom_mellanox.lua. Bytes in flight as there, scaled by the cells that
//   small packets waste, rounded up to KiB. Its share of small packets by bytes is used as written there: 100 x 64 /
//   ((s x 64 + (100 - s) x MTU) / 100). Earlier releases scale by the share in packets and count the cable in units
//   of 1024 where 1000 is meant. For chips that are not NVIDIA's, the smallest packet is what their tables count
//   (hardware/*.yaml, small_packet), and a cell is divided by it rather than rounded up. The tables shipped for
//   Spectrum 1 to 3 stem from a release with a fixed response of the peer and without that rounding (`peer`). Not here:
//   shared headroom pools, and the tile of later chips only as a parameter.
// Reaction: weft_pfc_calc_reaction, as in a run.
#include <math.h>
#include <stddef.h>

#include "base/units.h"
#include "weft/buffer.h"
#include "weft/hardware.h"
#include "weft/packet.h"
#include "weft/param.h"
#include "weft/plan.h"

enum { KIB = 1024, ETHERNET = 18, PAUSE_WIRE = WEFT_FRAME_MIN + WEFT_WIRE_OVERHEAD };

const char *const weft_plan_formula_names[] = {"bound", "study", "sonic", NULL};

static const char *pfc_check(const void *conf, char *text, size_t size) {
    const struct weft_plan_pfc_conf *c = conf;
    if (c->buffer_bytes) {
        const char *wrong = weft__bytes_above("xoff", c->xoff_bytes, "buffer", c->buffer_bytes, text, size);
        if (wrong) return wrong;
    } else if (c->xoff_bytes)
        return WEFT_SAY(text, size, "xoff is given without buffer");
    return NULL;
}
const struct weft_param_table weft_plan_pfc_table = WEFT_PARAM_TABLE_OF(
    "plan pfc", struct weft_plan_pfc_conf, .check = pfc_check,
    WEFT_RATE(struct weft_plan_pfc_conf, rate_bps, "rate", NULL, "10Mbps", "100Tbps", "rate of the link"),
    WEFT_TIME(struct weft_plan_pfc_conf, delay_ps, "delay", NULL, "0ns", "100ms", "of the cable, one way"),
    WEFT_TIME(struct weft_plan_pfc_conf, processing_ps, "processing", "300ns", "0ns", "1ms",
              "of the receiver, from the last bit of a frame to its buffer (as switch.processing)"),
    WEFT_TIME_OR(struct weft_plan_pfc_conf, reaction_ps, "reaction", weft_pfc_reaction_words, "standard", "0ns", "1ms",
                 "of the sender, pause frame to stop; standard: what 802.3 allows (bound)"),
    WEFT_TIME(struct weft_plan_pfc_conf, phy_ps, "phy", "0ns", "0ns", "1ms",
              "of both PHYs of the link together, one way (bound)"),
    WEFT_TEXT(struct weft_plan_pfc_conf, chip, "chip", "",
              "class of hardware of the receiver's switch, for what is not set here: processing, cell, small_packet, "
              "peer, mac_phy, gearbox, tile, pipeline; \"\": none"),
    WEFT_BYTES(struct weft_plan_pfc_conf, mtu_bytes, "mtu", "4096B", "64B", "10240B",
               "payload of a full packet; above 4096B, the most that RoCE has, it is a port_mtu"),
    WEFT_BYTES(struct weft_plan_pfc_conf, buffer_bytes, "buffer", "0B", "0B", "1TB",
               "of the port and priority; 0B: not asked about"),
    WEFT_BYTES(struct weft_plan_pfc_conf, xoff_bytes, "xoff", "0B", "0B", "1TB", "threshold to judge; 0B: none"),
    WEFT_CHOICE(struct weft_plan_pfc_conf, formula, "formula", "bound", weft_plan_formula_names,
                "bound, study or sonic"),
    WEFT_BYTES(struct weft_plan_pfc_conf, port_mtu_bytes, "port_mtu", "9100B", "64B", "10240B",
               "MTU of the port, the largest of all classes (bound, sonic)"),
    WEFT_BYTES(struct weft_plan_pfc_conf, lossless_mtu_bytes, "lossless_mtu", "1024B", "64B", "10240B",
               "MTU of lossless packets (sonic)"),
    WEFT_UINT(struct weft_plan_pfc_conf, small_percent, "small_packets", "100", "0", "100",
              "per cent of packets that are small, worst case (sonic)"),
    WEFT_BYTES(struct weft_plan_pfc_conf, cell_bytes, "cell", "144B", "1B", "4096B",
               "buffer cell of the chip (sonic; assumed)"),
    WEFT_BYTES(struct weft_plan_pfc_conf, small_bytes, "small_packet", "64B", "64B", "4096B",
               "smallest packet that comes at line rate; above 64B with its preamble and gap (sonic)"),
    WEFT_BYTES(struct weft_plan_pfc_conf, peer_bytes, "peer", "0B", "0B", "1MB",
               "response of the sender; 0B: what 802.3 allows; 3892B in tables of Spectrum 1 to 3 (sonic)"),
    WEFT_BYTES(struct weft_plan_pfc_conf, mac_phy_bytes, "mac_phy", "820B", "0B", "1MB",
               "held by MAC and PHY (sonic; assumed)"),
    WEFT_TIME(struct weft_plan_pfc_conf, gearbox_ps, "gearbox", "0ns", "0ns", "1ms", "of a gearbox, one way (sonic)"),
    WEFT_TIME(struct weft_plan_pfc_conf, tile_ps, "tile", "0ns", "0ns", "1ms",
              "of the chip's tile, and what else it takes to react (sonic)"),
    WEFT_BYTES(struct weft_plan_pfc_conf, pipeline_bytes, "pipeline", "18KiB", "0B", "1MB",
               "pipeline latency of the chip (sonic; assumed)"),
    WEFT_UINT(struct weft_plan_pfc_conf, lanes, "lanes", "4", "1", "8", "of the port; 8 takes more (sonic)"));

weft_bytes weft_plan_calc_bytes(weft_rate_bps rate, weft_time_ps time) {
    unsigned __int128 bits = (unsigned __int128)rate * time, per_byte = 8 * WEFT_PS_PER_S;
    return (weft_bytes)((bits + per_byte - 1) / per_byte);
}

weft_time_ps weft_plan_calc_time_down(weft_rate_bps rate, weft_bytes bytes) {
    return (weft_time_ps)((unsigned __int128)bytes * 8 * WEFT_PS_PER_S / rate);
}

weft_time_ps weft_plan_calc_time_up(weft_rate_bps rate, weft_bytes bytes) {
    return (weft_time_ps)(((unsigned __int128)bytes * 8 * WEFT_PS_PER_S + rate - 1) / rate);
}

void weft_plan_set_chip(const struct weft_hardware *chip, bool least, struct weft_plan_pfc_conf *conf) {
    static const struct {
        const char *key;
        size_t offset;
    } constant[] = {
        {"cell", offsetof(struct weft_plan_pfc_conf, cell_bytes)},
        {"small_packet", offsetof(struct weft_plan_pfc_conf, small_bytes)},
        {"peer_response", offsetof(struct weft_plan_pfc_conf, peer_bytes)},
        {"mac_phy", offsetof(struct weft_plan_pfc_conf, mac_phy_bytes)},
        {"gearbox", offsetof(struct weft_plan_pfc_conf, gearbox_ps)},
        {"tile", offsetof(struct weft_plan_pfc_conf, tile_ps)},
        {"reaction", offsetof(struct weft_plan_pfc_conf, tile_ps)},
        {"pipeline", offsetof(struct weft_plan_pfc_conf, pipeline_bytes)},
    };
    for (size_t i = 0; i < sizeof constant / sizeof *constant; i++) {
        const struct weft_hardware_value *v = weft_hardware_value(chip, constant[i].key);
        bool low = v && least && v->basis >= WEFT_BASIS_INFERRED && !isnan(v->low_number);
        if (v) *(uint64_t *)((char *)conf + constant[i].offset) = (uint64_t)(low ? v->low_number : v->number);
    }
}

static weft_bytes kib_up(weft_bytes bytes) {
    return (bytes + KIB - 1) / KIB * KIB;
}

/// `sonic` always uses the standard's reaction time, `study` has none.
static weft_time_ps reaction_of(const struct weft_plan_pfc_conf *c) {
    if (c->formula == WEFT_PLAN_STUDY) return 0;
    return weft_pfc_calc_reaction(c->formula == WEFT_PLAN_SONIC ? WEFT_TIME_NEVER : c->reaction_ps, c->rate_bps);
}

/// Bytes that frames occupy in cells over their bytes on the wire, for the size of frame that is worst: the smallest,
/// or one byte more than whole cells.
static double calc_occupancy(weft_bytes cell_bytes) {
    double worst = 1;
    for (weft_bytes bytes = WEFT_FRAME_MIN, k = 0; k < 3; k++) {
        double one = (double)weft_buffer_occupied(cell_bytes, bytes) / (double)(bytes + WEFT_WIRE_OVERHEAD);
        if (one > worst) worst = one;
        bytes = weft_buffer_occupied(cell_bytes, bytes) + 1;
    }
    return worst;
}

static void add_bound(const struct weft_plan_pfc_conf *c, struct weft_plan_pfc *p) {
    p->in_flight_bytes =
        weft_plan_calc_bytes(c->rate_bps, 2 * (c->delay_ps + c->phy_ps) + c->processing_ps + p->reaction_ps);
    p->frame_bytes = c->mtu_bytes + c->framing_bytes + WEFT_FRAME_DATA + WEFT_FRAME_RETH + WEFT_WIRE_OVERHEAD;
    p->frames = 2;
    p->ahead_bytes = c->ahead_mtu_bytes + ETHERNET + WEFT_WIRE_OVERHEAD;
    if (p->ahead_bytes < p->frame_bytes) p->ahead_bytes = p->frame_bytes;
    p->pause_bytes = PAUSE_WIRE;
    p->headroom_bytes = p->in_flight_bytes + p->frames * p->frame_bytes + p->ahead_bytes + p->pause_bytes;
    p->occupancy = calc_occupancy(c->held_cell_bytes);
    if (p->occupancy > 1) p->headroom_bytes = (weft_bytes)ceil((double)p->headroom_bytes * p->occupancy);
}

static void add_sonic(const struct weft_plan_pfc_conf *c, struct weft_plan_pfc *p) {
    weft_bytes way = weft_plan_calc_bytes(c->rate_bps, 2 * c->delay_ps + 2 * c->gearbox_ps + c->tile_ps);
    if (c->peer_bytes) p->reaction_bytes = c->peer_bytes;
    p->in_flight_bytes = way + p->reaction_bytes;
    p->frame_bytes = c->port_mtu_bytes;
    p->frames = 1;
    p->mac_phy_bytes = c->mac_phy_bytes;
    uint64_t cell = c->cell_bytes, small = c->small_bytes ? c->small_bytes : WEFT_FRAME_MIN, worst = cell, per = small;
    if (small == WEFT_FRAME_MIN && cell <= 2 * small)
        worst = c->peer_bytes ? 2 * cell : (2 * cell + cell) / (1 + cell), per = c->peer_bytes ? 1 + cell : 1;
    else if (small == WEFT_FRAME_MIN && !c->peer_bytes)
        worst = (cell + small - 1) / small, per = 1;
    else if (cell < small)
        worst = small;
    // cells over bytes = (100 - share + share x worst) / 100 with share = 100 x small x 100 / mix
    uint64_t mix = c->small_percent * small + (100 - c->small_percent) * c->lossless_mtu_bytes;
    uint64_t over = mix + small * 100 * (worst - per) / per;
    weft_bytes bytes = p->in_flight_bytes + p->frame_bytes + p->mac_phy_bytes;
    p->occupancy = (double)over / (double)mix;
    p->headroom_bytes = kib_up(c->lossless_mtu_bytes + (bytes * over + mix - 1) / mix);
    bool wide = c->lanes == 8;
    weft_bytes pipeline = wide && c->pipeline_bytes ? 2 * c->pipeline_bytes - KIB : c->pipeline_bytes;
    p->xon_bytes = kib_up(pipeline);
    p->size_bytes = kib_up(p->headroom_bytes + p->xon_bytes + (wide ? c->port_mtu_bytes : 0));
}

struct weft_plan_pfc weft_plan_calc_pfc(const struct weft_plan_pfc_conf *c) {
    struct weft_plan_pfc p = {.reaction_ps = reaction_of(c), .occupancy = 1};
    p.cable_bytes = weft_plan_calc_bytes(c->rate_bps, 2 * c->delay_ps);
    p.reaction_bytes = weft_plan_calc_bytes(c->rate_bps, p.reaction_ps);
    if (c->formula == WEFT_PLAN_BOUND) add_bound(c, &p);
    if (c->formula == WEFT_PLAN_SONIC) add_sonic(c, &p);
    if (c->formula == WEFT_PLAN_STUDY)
        p.headroom_bytes = p.in_flight_bytes = weft_plan_calc_bytes(c->rate_bps, 2 * c->delay_ps + c->processing_ps);
    if (!p.size_bytes) p.size_bytes = p.headroom_bytes;
    p.fits = p.headroom_bytes <= c->buffer_bytes;
    p.xoff_bytes_max = p.fits ? c->buffer_bytes - p.headroom_bytes : 0;
    p.lossy = c->xoff_bytes > p.xoff_bytes_max;
    return p;
}
