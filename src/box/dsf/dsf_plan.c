// SPDX-License-Identifier: Apache-2.0
// Sizes of a disaggregated scheduled fabric. Sources:
// - Presets of VOQs: Broadcom's OpenBCM, src/bcm/dnx/tune/iqs_tune.c (dsf_in_voq.c says what they are). Credits in
//   flight: the time of the fabric's delay at the port's rate, at least 2. Backoff is 64 KiB once, twice and four
//   times.
// - Cells of 256 bytes and 12 of header: VSC256 of the same; 10 bytes of fabric header per packet (FTMH).
// - Permitted rate by congestion (RCI): the same, fabric_tune.c: links x link rate / (level + 1), of a lane's rate the
//   factors for FEC, header, control and utilisation 0.90, 0.95, 0.99, 0.95.
// - Lanes, buffers: FBOSS, Jericho3Asic.h and platform mappings.
// The loop is our own: a request goes to the far node, a credit returns, the packet is sent. The credits in flight must
// cover the time between a credit and its packet's arrival: two crossings.
#include <math.h>

#include "box/dsf/dsf_conf.h"
#include "weft/packet.h"
#include "weft/param.h"
#include "weft/plan_dsf.h"

#define T struct weft_plan_dsf_conf

const struct weft_param_table weft_plan_dsf_table = WEFT_PARAM_TABLE_OF(
    "plan dsf", T, WEFT_PARAM_UNCHECKED,
    WEFT_RATE(T, rate_bps, "rate", "400Gbps", "10Mbps", "100Tbps", "of an Ethernet port"),
    WEFT_UINT(T, ports, "ports", "36", "1", "65535", "Ethernet ports of an interface node"),
    WEFT_UINT(T, lanes, "lanes", "160", "1", "65535", "fabric lanes of an interface node"),
    WEFT_RATE(T, lane_rate_bps, "lane_rate", "106.25Gbps", "10Mbps", "100Tbps", "signalling rate of a lane"),
    WEFT_REAL(T, lane_coding, "lane_coding", "16/17", "0.1", "1", "part of it that RS(544,514) and 256b/257b leave"),
    WEFT_BYTES(T, cell_bytes, "cell", "256B", "1B", "4096B", "payload of a full cell"),
    WEFT_BYTES(T, cell_header_bytes, "cell_header", "12B", "0B", "255B", "of a cell, with its CRC"),
    WEFT_BYTES(T, packet_header_bytes, "packet_header", "10B", "0B", "255B", "of a packet in the fabric"),
    WEFT_BYTES(T, mtu_bytes, "mtu", "4096B", "64B", "10240B", "payload of a full packet"),
    WEFT_BYTES(T, credit_bytes, "credit", "4096B", "1B", "65535B", "bytes of a credit"),
    WEFT_REAL(T, speedup, "credit_speedup", "1.05", "0.1", "4", "rate of credits over that of the port (assumed)"),
    WEFT_TIME(T, delay_ps, "delay", "2900ns", "0ns", "1s", "of all cables between two interface nodes, one way"),
    WEFT_UINT(T, nodes, "fabric_nodes", "3", "1", "255", "on the path: 1 in an L1 zone, 3 in an L2 zone"),
    WEFT_TIME(T, processing_ps, "processing", "300ns", "0ns", "1ms", "of each of them and of the far end (assumed)"),
    WEFT_TIME(T, rtt_ps, "rtt", "0ns", "0ns", "1s", "of the credit loop; 0ns: computed from these"),
    WEFT_UINT(T, credits, "credits", "0", "0", "1000000", "in flight of one VOQ; 0: as many as needed"),
    WEFT_TIME(T, fabric_delay_ps, "fabric_delay", "1us", "0ns", "1s",
              "that the presets of VOQs reckon with (OpenBCM: 1us with fabric elements, 500ns without, 300ns alone)"),
    WEFT_CHOICE(T, voq_preset, "voq_preset", "slow_disabled", weft_voq_presets, "presets of VOQs (OpenBCM, iqs_tune)"),
    WEFT_BYTES(T, sram_bytes, "sram", "128MiB", "1B", "1TB", "on-chip buffer"),
    WEFT_BYTES(T, buffer_bytes, "buffer", "12GiB", "1B", "1TB", "deep buffer: 75% of 16 GiB of HBM"),
    WEFT_BYTES(T, egress_stop_bytes, "egress_stop", "32KiB", "0B", "1GB",
               "a port gives no credits while more waits there (assumed)"),
    WEFT_UINT(T, interfaces, "interfaces", "512", "2", "65535", "interface nodes of the fabric"),
    WEFT_TIME(T, skew_ps, "skew", "5us", "0ns", "1s", "between the fastest and the slowest path of cells (assumed)"),
    WEFT_UINT(T, fifo_cells, "fifo", "4096", "1", "65535", "cells that an output of a fabric node may hold"),
    WEFT_UINT(T, incast, "incast", "16", "2", "65535", "sources of an incast, a port each"),
    WEFT_TIME(T, host_delay_ps, "host_delay", "100ns", "0ns", "1ms", "of the cable to a NIC, one way"),
    WEFT_REAL(T, distance_km, "distance_km", "0", "0", "20000", "between two regions, 5us a kilometre"));

const char *const weft_plan_dsf_warning_names[] = {"blocking", "starving", "above_cap", "lossy", "skew"};

/// Credits that a rate uses in a time: ceil(rate x time / credit).
uint64_t weft_plan_calc_credits(weft_rate_bps rate, weft_time_ps time, weft_bytes credit) {
    unsigned __int128 bits = (unsigned __int128)rate * time, one = (unsigned __int128)credit * 8 * WEFT_PS_PER_S;
    return (uint64_t)((bits + one - 1) / one);
}

static weft_rate_bps scale_rate(weft_rate_bps rate, double factor) {
    return (weft_rate_bps)llround((double)rate * factor);
}

static void add_speedup(const T *c, struct weft_plan_dsf *p) {
    p->ports_bps = c->ports * c->rate_bps;
    p->raw_bps = c->lanes * c->lane_rate_bps;
    p->coded_bps = c->lanes * scale_rate(c->lane_rate_bps, c->lane_coding);
    p->payload_bps =
        (weft_rate_bps)((unsigned __int128)p->coded_bps * c->cell_bytes / (c->cell_bytes + c->cell_header_bytes));
    weft_bytes frame = c->mtu_bytes + WEFT_FRAME_DATA, in_fabric = frame + c->packet_header_bytes;
    p->frame_bytes = frame + WEFT_WIRE_OVERHEAD;
    p->frame_cells = (in_fabric + c->cell_bytes - 1) / c->cell_bytes;
    p->fabric_bytes = in_fabric + p->frame_cells * c->cell_header_bytes;
    double ports = (double)p->ports_bps;
    p->raw_speedup = (double)p->raw_bps / ports;
    p->coded_speedup = (double)p->coded_bps / ports;
    p->net_speedup = (double)p->payload_bps / ports;
    p->frame_speedup = p->coded_speedup * (double)p->frame_bytes / (double)p->fabric_bytes;
    if (p->net_speedup < 1) p->warnings |= WEFT_PLAN_DSF_BLOCKING;
}

static void add_loop(const T *c, struct weft_plan_dsf *p) {
    p->rtt_ps = c->rtt_ps ? c->rtt_ps : 2 * (c->delay_ps + (c->nodes + 1) * c->processing_ps);
    p->credits_needed = weft_plan_calc_credits(c->rate_bps, p->rtt_ps, c->credit_bytes);
    p->needed_bytes = p->credits_needed * c->credit_bytes;
    p->credits = c->credits ? c->credits : p->credits_needed;
    p->throughput_bps = c->rate_bps;
    if (p->rtt_ps) {
        unsigned __int128 bits = (unsigned __int128)p->credits * c->credit_bytes * 8 * WEFT_PS_PER_S;
        if (bits / p->rtt_ps < c->rate_bps) p->throughput_bps = (weft_rate_bps)(bits / p->rtt_ps);
    }
    p->credit_interval_ps = weft_plan_calc_time_down(scale_rate(c->rate_bps, c->speedup), c->credit_bytes);
    if (p->throughput_bps < c->rate_bps) p->warnings |= WEFT_PLAN_DSF_STARVING;
}

static void add_presets(const T *c, struct weft_plan_dsf *p) {
    enum { BACKOFF = 65536 };
    p->inflight = weft_dsf_inflight(c->rate_bps, c->fabric_delay_ps, c->credit_bytes);
    struct weft_dsf_preset preset = weft_dsf_preset(c->voq_preset, p->inflight, c->credit_bytes);
    p->empty_bytes = preset.surplus;
    p->balance_bytes_max = preset.balance_max;
    p->slow_bytes = preset.slow;
    for (unsigned i = 0; i < WEFT_PLAN_BACKOFFS; i++)
        p->backoff_bytes[i] = (weft_bytes)BACKOFF << i;
    if (p->needed_bytes > WEFT_DSF_BALANCE_MAX) p->warnings |= WEFT_PLAN_DSF_ABOVE_CAP;
}

static void add_rci(const T *c, struct weft_plan_dsf *p) {
    p->rci_lane_bps = scale_rate(c->lane_rate_bps, 0.90 * 0.95 * 0.99 * 0.95);
    for (unsigned level = 1; level < WEFT_PLAN_RCI_LEVELS; level++)
        p->rci_bps[level] = c->lanes * p->rci_lane_bps / (level + 1);
}

/// Data that arrives while cells of a packet are still on the slowest path, plus one started packet of each other node.
static void add_buffers(const T *c, struct weft_plan_dsf *p) {
    p->arriving_bps = scale_rate(p->ports_bps, c->speedup);
    if (p->arriving_bps > p->payload_bps) p->arriving_bps = p->payload_bps;
    p->reassembly_bytes =
        weft_plan_calc_bytes(p->arriving_bps, c->skew_ps) + (c->interfaces - 1) * (p->frame_bytes - WEFT_WIRE_OVERHEAD);
    p->skew_ps_max = weft_plan_calc_time_up(scale_rate(c->lane_rate_bps, c->lane_coding),
                                            c->nodes * c->fifo_cells * (c->cell_bytes + c->cell_header_bytes));
    p->egress_bytes = c->egress_stop_bytes + weft_plan_calc_bytes(scale_rate(c->rate_bps, c->speedup), p->rtt_ps);
    p->sram_ps = weft_plan_calc_time_down(p->ports_bps, c->sram_bytes);
    p->buffer_ps = weft_plan_calc_time_down(p->ports_bps, c->buffer_bytes);
    p->incast_excess_bps = c->rate_bps - c->rate_bps / c->incast;
    p->voq_ps = weft_plan_calc_time_down(p->incast_excess_bps, c->buffer_bytes / 2);
    if (p->reassembly_bytes > c->sram_bytes) p->warnings |= WEFT_PLAN_DSF_SKEW;
}

static struct weft_plan_pfc calc_headroom(const T *c, weft_time_ps delay) {
    struct weft_plan_pfc_conf pfc = {.rate_bps = c->rate_bps,
                                     .delay_ps = delay,
                                     .processing_ps = c->processing_ps,
                                     .reaction_ps = WEFT_TIME_NEVER,
                                     .mtu_bytes = c->mtu_bytes,
                                     .formula = WEFT_PLAN_BOUND};
    return weft_plan_calc_pfc(&pfc);
}

static void add_pfc(const T *c, struct weft_plan_dsf *p) {
    p->pfc = calc_headroom(c, c->host_delay_ps);
    p->headroom_bytes = c->ports * p->pfc.headroom_bytes;
    if (p->headroom_bytes > c->sram_bytes)
        p->warnings |= WEFT_PLAN_DSF_LOSSY;
    else
        p->xoff_bytes_max = (c->sram_bytes - p->headroom_bytes) / c->ports;
}

static void add_distance(const T *c, struct weft_plan_dsf *p) {
    p->far_ps = (weft_time_ps)llround(c->distance_km * 5.0 * (double)WEFT_PS_PER_US);
    p->far_bytes = weft_plan_calc_bytes(c->rate_bps, 2 * p->far_ps);
    p->far_credits = weft_plan_calc_credits(c->rate_bps, p->rtt_ps + 2 * p->far_ps, c->credit_bytes);
    p->far_pfc = calc_headroom(c, p->far_ps);
}

struct weft_plan_dsf weft_plan_calc_dsf(const T *c) {
    struct weft_plan_dsf p = {0};
    add_speedup(c, &p);
    add_loop(c, &p);
    add_presets(c, &p);
    add_rci(c, &p);
    add_buffers(c, &p);
    add_pfc(c, &p);
    if (c->distance_km > 0) add_distance(c, &p);
    return p;
}
