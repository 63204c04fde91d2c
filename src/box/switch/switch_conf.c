// SPDX-License-Identifier: Apache-2.0
// The parameters of the Ethernet switch, and of the Ethernet ports of other boxes. Numbers without a source are
// assumed, and say so.
#include "weft/device.h"
#include "weft/hardware.h"
#include "weft/param.h"

static const char *const trusts[] = {"dscp", "pcp", NULL};
static const char *const forwardings[] = {"store_and_forward", "cut_through", NULL};

// Matches the host.preset of that name (src/box/nic/nic_conf.c): switch-node.cc, switch-mmu.cc.
static const struct weft_param_value ns3_hpcc[] = {
    {"chip", WEFT_HARDWARE_IDEAL},
    {"processing", "0ns"},
    {"clock_ppm", "0"},
    {"forwarding", "store_and_forward"},
    {"wire.overhead", "0B"},
    {"wire.serialisation", "whole_ns"},
    {"wire.pause_frame", "43B"},
    {"buffer.kind", "dynamic"},
    {"buffer.reserve", "4096B"},
    {"buffer.alpha", "1/8"},
    {"buffer.alpha_by_rate", "true"},
    {"buffer.headroom", "0B"},
    {"buffer.link_headroom", "3"},
    {"buffer.xon_offset", "3072B"},
    {"buffer.dedicated", "port"},
    {"buffer.xoff_at", "reached"},
    {"route.kind", "ecmp_murmur3"},
    {"aqm.kind", "wred"},
    {"aqm.preset", "hpcc"},
    {"pfc.reaction", "0ns"},
    {"pfc.lasts", "until_resume"},
    {NULL, NULL},
};
// Matches the host.preset of that name: sim/queue_lossless_input.cpp, queue_lossless_output.cpp. A queue is paused
// above 15 packets of 9000 B and resumes below 12; it has room for 2000.
static const struct weft_param_value htsim[] = {
    {"chip", WEFT_HARDWARE_IDEAL},
    {"processing", "0ns"},
    {"clock_ppm", "0"},
    {"forwarding", "store_and_forward"},
    {"wire.overhead", "0B"},
    {"wire.pause_frame", "14B"},
    {"buffer.kind", "static"},
    {"buffer.size", "18MB"},
    {"buffer.xoff", "135000B"},
    {"buffer.xon", "107999B"},
    {"route.kind", "ecmp"},
    {"aqm.kind", "none"},
    {"pfc.priorities", "0-7"},
    {"pfc.reaction", "0ns"},
    {"pfc.lasts", "until_resume"},
    {NULL, NULL},
};
static const struct weft_param_preset presets[] = {{"ns3_hpcc", ns3_hpcc}, {"htsim", htsim}, {NULL, NULL}};
static const char *const preset_names[] = {"none", "ns3_hpcc", "htsim", NULL};

const struct weft_param_table weft_switch_table = WEFT_PARAM_TABLE_OF(
    "switch", struct weft_switch_conf, WEFT_PARAM_AND(.presets = presets, .classes = &weft_hardware_by_chip),
    WEFT_CHOICE(struct weft_switch_conf, preset, "preset", "none", preset_names,
                "another simulator's switches (docs/peers.md); other keys override it"),
    WEFT_TEXT(struct weft_switch_conf, chip, "chip", WEFT_HARDWARE_CHIP_DEFAULT, WEFT_HARDWARE_HELP),
    WEFT_TIME(struct weft_switch_conf, processing_ps, "processing", "300ns", "0ns", "1ms",
              "from the last bit received to the buffer (IEEE 802.1Qdw simulations, dw-chen-sfc)"),
    WEFT_REAL(struct weft_switch_conf, clock_ppm, "clock_ppm", "0", "0", "100",
              "how much the clock of a box with ports is off, at most, in parts per million; see host.clock_ppm"),
    WEFT_CHOICE(struct weft_switch_conf, forwarding, "forwarding", "store_and_forward", forwardings,
                "send a frame on when it is complete; or cut_through: as soon as its header has arrived, if it finds "
                "the output idle, not paused and no faster than the input"),
    WEFT_UINT(struct weft_switch_conf, packet_rate, "packet_rate", "0", "0", "1000000000000",
              "packets a second that the chip sends at most, of all ports; 0: no limit"),
    WEFT_UINT(struct weft_switch_conf, pipes, "pipes", "1", "1", "1024",
              "parts of the chip, of equally many ports, that have equal shares of packet_rate (assumed)",
              .needs = "packet_rate"),
    WEFT_UINT(struct weft_switch_conf, fabric_patience, "fabric_patience", "0", "0", "65535",
              "an output that has taken this many frames from other inputs waits for an input that has a frame for it "
              "but is busy (assumed); 0: it never waits",
              .needs = "queueing: iq or queueing: voq"),
    WEFT_REAL(struct weft_switch_conf, fabric_speedup, "fabric_speedup", "1", "1", "8",
              "rate at which an input feeds the crossbar, relative to its line rate (assumed)",
              .needs = "queueing: iq or queueing: voq"),
    WEFT_MODEL_PARAM(struct weft_switch_conf, queueing, "queueing", WEFT_KIND_QUEUEING, "oq",
                     "where packets wait: at the output, the input, or per pair of both"),
    WEFT_MODEL_PARAM(struct weft_switch_conf, arbiter, "arbiter", WEFT_KIND_ARBITER, "islip",
                     "which input feeds which output", .needs = "queueing: iq or queueing: voq"),
    WEFT_MODEL_PARAM(struct weft_switch_conf, scheduler, "scheduler", WEFT_KIND_SCHEDULER, "strict",
                     "which priority an output sends next"),
    WEFT_MODEL_PARAM(struct weft_switch_conf, buffer, "buffer", WEFT_KIND_BUFFER, "static",
                     "how packet memory is shared, and when PFC pauses"),
    WEFT_MODEL_PARAM(struct weft_switch_conf, aqm, "aqm", WEFT_KIND_AQM, "none",
                     "when packets are marked, trimmed or dropped"),
    WEFT_PRIORITY_SET(struct weft_switch_conf, aqm_priorities, "aqm_priorities", "0-6",
                      "priorities under AQM; 7 carries control (assumed)", .needs = "aqm"),
    WEFT_MODEL_PARAM(struct weft_switch_conf, route, "route", WEFT_KIND_ROUTE, "ecmp",
                     "which of several equally short paths a packet takes"),
    WEFT_CHOICE(struct weft_switch_conf, trust, "trust", "dscp", trusts,
                "source of a frame's priority: the DSCP, or the priority code point of its 802.1Q tag (host.vlan)"),
    WEFT_WEIGHTS(struct weft_switch_conf, pcp_map, "pcp_map", "0,1,2,3,4,5,6,7", "0", "7",
                 "priority of each priority code point, if trust is pcp (IEEE 802.1Q clause 6.9.4, priority "
                 "regeneration)",
                 .needs = "trust"),
    WEFT_DSCP_MAP(struct weft_switch_conf, dscp_map, "dscp_map", "24:3,26:3,46:5,48:7",
                  "priority of the listed code points; others have priority dscp >> 3 (assumed)"),
    WEFT_SECTION(struct weft_switch_conf, wire, "wire", &weft_wire_table, "overhead of frames on the wire"),
    WEFT_MODEL_PARAM(struct weft_switch_conf, retry, "retry", WEFT_KIND_RETRY, "none",
                     "link-level retry of frames that bit errors destroy"),
    WEFT_MODEL_PARAM(struct weft_switch_conf, credit, "credit", WEFT_KIND_CREDIT, "none",
                     "link credit that its ports grant to their senders"),
    WEFT_SECTION(struct weft_switch_conf, pfc, "pfc", &weft_pfc_table, "priority-based flow control"),
    WEFT_MODEL_PARAM(struct weft_switch_conf, sfc, "sfc", WEFT_KIND_SFC, "none",
                     "when a switch tells the source of a packet to pause (IEEE P802.1Qdw)"),
    WEFT_BOOL(struct weft_switch_conf, sfc_proxy, "sfc_proxy", "true",
              "an edge switch turns such a message into a pause frame for a host that does not understand it",
              .needs = "sfc"));
