// SPDX-License-Identifier: Apache-2.0
// The parameters of DSF boxes. Presets are those of Broadcom's SDK for the generation of Jericho 2 and Ramon
// (OpenBCM 6.5.24) and of FBOSS; numbers without a source are assumed, and say so. Presets of VOQs: iqs_tune.c, for n
// credits in flight; RCI: fabric_cgm_tune.c.
#include <inttypes.h>
#include <stdio.h>

#include "box/dsf/dsf_conf.h"
#include "weft/hardware.h"
#include "weft/param.h"

#include "base/units.h"

static const char *const sprays[] = {"permutation", "round_robin", NULL};
static const char *const modes[] = {"fe", "mesh", "single_fap", NULL};
const char *const weft_voq_presets[] = {"slow_disabled", "slow_enabled", NULL};

static const char *interface_check(const void *conf, char *text, size_t size) {
    const struct weft_interface_conf *c = conf;
    if (c->packing && c->train > 1)
        snprintf(text, size, "packing, and trains of %s: a train holds cells of one packet",
                 weft__counted(c->train, "cell").text);
    else if (c->window_bytes && c->window_bytes < c->credit_bytes)
        snprintf(text, size, "credit_window (%" PRIu64 "B) is below credit (%" PRIu64 "B): none could be granted",
                 c->window_bytes, c->credit_bytes);
    else if (c->egress_stop_bytes > c->egress_bytes)
        snprintf(text, size, "egress_stop (%" PRIu64 "B) is above egress_buffer (%" PRIu64 "B)", c->egress_stop_bytes,
                 c->egress_bytes);
    else if (c->egress_slow_bytes > c->egress_stop_bytes)
        snprintf(text, size, "egress_slow (%" PRIu64 "B) is above egress_stop (%" PRIu64 "B)", c->egress_slow_bytes,
                 c->egress_stop_bytes);
    else if (c->slow_eighths > 1 && c->voq_preset != WEFT_VOQ_SLOW_ENABLED)
        snprintf(text, size, "slow_rate (%" PRIu64 ") has no effect without voq_preset: slow_enabled", c->slow_eighths);
    else if (c->sram_xoff >= c->sram_xon)
        snprintf(text, size, "sram_xoff (%g) is not below sram_xon (%g)", c->sram_xoff, c->sram_xon);
    else
        return NULL;
    return text;
}
const struct weft_param_table weft_interface_table = WEFT_PARAM_TABLE_OF(
    "interface_node", struct weft_interface_conf,
    WEFT_PARAM_AND(.check = interface_check, .classes = &weft_hardware_by_chip),
    WEFT_TEXT(struct weft_interface_conf, chip, "chip", WEFT_HARDWARE_INTERFACE_DEFAULT, WEFT_HARDWARE_HELP),
    WEFT_TIME(struct weft_interface_conf, processing_ps, "processing", "300ns", "0ns", "1ms",
              "time from the last bit of a cell to its effect: reassembly, a request or a credit (assumed)"),
    WEFT_CHOICE(struct weft_interface_conf, spray, "spray", "permutation", sprays,
                "order of cells over the links to their destination: a random permutation, drawn anew each time all "
                "links have been used, or round robin"),
    WEFT_UINT(struct weft_interface_conf, train, "train", "1", "1", "16",
              "cells of a packet that travel as one event; 1 is exact"),
    WEFT_BOOL(struct weft_interface_conf, packing, "packing", "false",
              "packets of a VOQ that leave together share cells (OpenBCM: PCP, on)"),
    WEFT_BYTES(struct weft_interface_conf, credit_bytes, "credit", "4096B", "256B", "65535B",
               "bytes that a credit allows to send (OpenBCM: 4096 B)"),
    WEFT_REAL(struct weft_interface_conf, speedup, "credit_speedup", "1.05", "0.1", "4",
              "rate of a port's credits relative to the port's rate (assumed)"),
    WEFT_BYTES(struct weft_interface_conf, window_bytes, "credit_window", "0B", "0B", "1GB",
               "most bytes granted to a VOQ and not yet arrived; 0B: no limit"),
    WEFT_BYTES(struct weft_interface_conf, egress_bytes, "egress_buffer", "4MiB", "16KB", "1GB",
               "most bytes of packets that wait at an Ethernet port to leave (assumed)"),
    WEFT_BYTES(struct weft_interface_conf, egress_slow_bytes, "egress_slow", "16KiB", "0B", "1GB",
               "while more bytes of a priority wait at a port, credits come at the rate of the port divided by "
               "credit_speedup (assumed)"),
    WEFT_BYTES(struct weft_interface_conf, egress_stop_bytes, "egress_stop", "256KiB", "0B", "1GB",
               "while more bytes than this wait, no credits come (assumed)"),
    WEFT_CHOICE(
        struct weft_interface_conf, fabric_mode, "fabric_mode", "fe", modes,
        "how interface nodes are connected (OpenBCM, fabric_connect_mode): by fabric elements, directly, or not "
        "at all; fabric_delay is 1000, 500 or 300 ns"),
    WEFT_TIME(struct weft_interface_conf, fabric_delay_ps, "fabric_delay", "0ns", "0ns", "1ms",
              "fabric delay from which presets of VOQs are computed; 0ns: that of fabric_mode"),
    WEFT_UINT(struct weft_interface_conf, inflight, "inflight", "0", "0", "4096",
              "credits in flight that the presets of VOQs assume, n; 0: max(2, ceil(rate x fabric_delay / credit)) as "
              "in OpenBCM, 13 at 400G"),
    WEFT_CHOICE(struct weft_interface_conf, voq_preset, "voq_preset", "slow_disabled", weft_voq_presets,
                "presets of VOQs (OpenBCM, iqs_tune). slow_disabled, for low latency: a VOQ asks until it has n + 1 "
                "credits more than it holds, and keeps min(500 KB, 3 n - 1 credits) while empty; it asks for no more "
                "(assumed). slow_enabled: it asks "
                "for what it holds, more slowly below 2 (n + 1) credits, and keeps 2 credits while empty"),
    WEFT_UINT(struct weft_interface_conf, slow_eighths, "slow_rate", "1", "1", "8",
              "with slow_enabled: a VOQ at the lowest of 8 slow levels takes this many eighths of its turns, and one "
              "more at each level above (assumed)"),
    WEFT_TIME(struct weft_interface_conf, balance_age_ps, "balance_age", "10us", "0ns", "never",
              "credits that an empty VOQ has not used for this long are given up (assumed)"),
    WEFT_TIME(struct weft_interface_conf, refresh_ps, "request_refresh", "500us", "1us", "1s",
              "a VOQ that waits for credits repeats its request after this time (OpenBCM: 500us)"),
    WEFT_TIME(struct weft_interface_conf, watchdog_ps, "credit_watchdog", "500ms", "1us", "never",
              "packets of a VOQ that got no credit for this long are discarded (FBOSS: 500ms)"),
    WEFT_UINT(struct weft_interface_conf, backlog_cells, "backlog", "256", "1", "65535",
              "when this many cells (or trains) wait for a lane of the node's own, packets stay in their VOQs even "
              "with credits (assumed)"),
    WEFT_BYTES(struct weft_interface_conf, sram_bytes, "sram", "128MiB", "64KiB", "1TB",
               "on-chip buffer (Jericho3-AI); switch.buffer is the total, with HBM"),
    WEFT_REAL(
        struct weft_interface_conf, sram_alpha, "sram_alpha", "1", "0", "128",
        "a VOQ keeps up to this many times the free on-chip buffer there, the rest in HBM (FBOSS: alpha of VOQs, 1)"),
    WEFT_REAL(struct weft_interface_conf, sram_xoff, "sram_xoff", "0.1", "0", "1",
              "NICs are paused while less than this share of the on-chip buffer is free (FBOSS's tests: 10%)"),
    WEFT_REAL(
        struct weft_interface_conf, sram_xon, "sram_xon", "0.2", "0", "1",
        "and resume when this share is free, which VOQs leave for data to be written to HBM (FBOSS's tests: 20%)"),
    WEFT_RATE(
        struct weft_interface_conf, hbm_rate_bps, "hbm_rate", "3.6Tbps", "1Gbps", "1000Tbps",
        "rate at which HBM is written, and read (assumed: two stacks of 1024 pins of 3.6 Gbps, half the time each)"),
    WEFT_BYTES(struct weft_interface_conf, reassembly_bytes, "reassembly_buffer", "16MiB", "16KB", "1GB",
               "most bytes of cells of packets that are incomplete or not yet in turn (assumed)"),
    WEFT_TIME(struct weft_interface_conf, reassembly_timeout_ps, "reassembly_timeout", "100us", "1us", "1s",
              "a packet that is incomplete, or that others wait for, is given up after this time (assumed)"),
    WEFT_BOOL(struct weft_interface_conf, rci, "rci", "true",
              "credits are granted more slowly while links are congested (OpenBCM, fabric_tune, fabric_cgm_tune)"),
    WEFT_TIME(struct weft_interface_conf, rci_interval_ps, "rci_interval", "2us", "100ns", "1ms",
              "interval after which congested links are counted anew (assumed)"),
    WEFT_UINT(
        struct weft_interface_conf, rci_links, "rci_links", "160", "0", "65535",
        "fabric links for which OpenBCM's counts hold; a box with fewer or more counts each link for more or less "
        "(160: Jericho3-AI; the scaling is assumed). 0: it counts each for one"),
    WEFT_UINT(
        struct weft_interface_conf, rci_severe_links, "rci_severe_links", "64", "1", "65535",
        "so many links at the highest level are the highest congestion (OpenBCM: 64 for Jericho 2+, 48 Jericho 2, "
        "16 Jericho 2C)"));

static const char *fabric_check(const void *conf, char *text, size_t size) {
    const struct weft_fabric_conf *c = conf;
    if (!c->llfc) return NULL;
    if (c->llfc_stop_cells >= c->fifo_cells)
        snprintf(text, size, "llfc_stop (%" PRIu64 ") is not below fifo (%" PRIu64 "): cells would be lost before it",
                 c->llfc_stop_cells, c->fifo_cells);
    else if (c->llfc_go_cells >= c->llfc_stop_cells)
        snprintf(text, size, "llfc_go (%" PRIu64 ") is not below llfc_stop (%" PRIu64 ")", c->llfc_go_cells,
                 c->llfc_stop_cells);
    else
        return NULL;
    return text;
}
const struct weft_param_table weft_fabric_table = WEFT_PARAM_TABLE_OF(
    "fabric_node", struct weft_fabric_conf, WEFT_PARAM_AND(.check = fabric_check, .classes = &weft_hardware_by_chip),
    WEFT_TEXT(struct weft_fabric_conf, chip, "chip", WEFT_HARDWARE_ELEMENT_DEFAULT, WEFT_HARDWARE_HELP),
    WEFT_TIME(struct weft_fabric_conf, processing_ps, "processing", "300ns", "0ns", "1ms",
              "time from the last bit of a cell to the FIFO of its output (assumed)"),
    WEFT_CHOICE(struct weft_fabric_conf, spray, "spray", "permutation", sprays,
                "order of cells over the links to their destination, as for interface_node"),
    WEFT_UINT(struct weft_fabric_conf, fifo_cells, "fifo", "4096", "1", "65535",
              "most cells in the FIFO of an output (OpenBCM: TX FIFO of Ramon; those at its inputs and between, of 768 "
              "and 4608 cells, are not modelled separately)"),
    WEFT_UINT(struct weft_fabric_conf, mark_cells, "mark", "64", "1", "65535",
              "a cell that finds this many cells ahead of it is marked as congested, with twice and four times as many "
              "at the next levels (RCI; depths assumed)"),
    WEFT_BOOL(struct weft_fabric_conf, llfc, "llfc", "false",
              "link-level flow control: a FIFO that holds more than llfc_stop stops the lanes that feed it"),
    WEFT_UINT(struct weft_fabric_conf, llfc_stop_cells, "llfc_stop", "800", "1", "65535",
              "with llfc: cells in a FIFO above which lanes are stopped (FBOSS: 800)", .needs = "llfc"),
    WEFT_UINT(struct weft_fabric_conf, llfc_go_cells, "llfc_go", "400", "0", "65535",
              "with llfc: cells in a FIFO at or below which lanes resume (assumed)", .needs = "llfc"));

weft_time_ps weft_interface_fabric_delay(const struct weft_interface_conf *c) {
    static const weft_time_ps delay_ns[] = {
        [WEFT_FABRIC_FE] = 1000, [WEFT_FABRIC_MESH] = 500, [WEFT_FABRIC_NONE] = 300};
    return c->fabric_delay_ps ? c->fabric_delay_ps : delay_ns[c->fabric_mode] * WEFT_PS_PER_NS;
}

struct weft_dsf_preset weft_dsf_preset(uint32_t kind, uint64_t n, weft_bytes credit) {
    if (kind == WEFT_VOQ_SLOW_ENABLED) return (struct weft_dsf_preset){0, 2 * credit, 2 * (n + 1) * credit};
    weft_bytes most = (3 * n - 1) * credit, kept = most < WEFT_DSF_BALANCE_MAX ? most : WEFT_DSF_BALANCE_MAX;
    weft_bytes wanted = (n + 1) * credit;
    if (wanted > kept) wanted = kept; // or it asked for ever for what it gives up
    return (struct weft_dsf_preset){wanted, kept, 0};
}

uint64_t weft_dsf_inflight(weft_rate_bps rate, weft_time_ps delay, weft_bytes credit) {
    unsigned __int128 bits = (unsigned __int128)rate * delay, one = (unsigned __int128)credit * 8 * WEFT_PS_PER_S;
    uint64_t n = (uint64_t)((bits + one - 1) / one);
    return n > 2 ? n : 2;
}
