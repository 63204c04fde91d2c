// SPDX-License-Identifier: Apache-2.0
// The parameters of a TiN. Those with a section are the paper's (Gibson et al., NSDI 2022); the others are assumed.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "weft/param.h"
#include "weft/tin.h"

#include "base/units.h"

const char *const weft_gnet_kind_names[] = {"rts", "cts", "data", "req", "resp", NULL};

#define T struct weft_tin_conf
static const char *const exit_choices[] = {"wcmp", "ecmp", NULL};

static const char *tin_check(const void *conf, char *text, size_t size) {
    const T *c = conf;
    weft_bytes least = c->local_fifo_bytes < c->global_fifo_bytes ? c->local_fifo_bytes : c->global_fifo_bytes;
    weft_bytes lump = c->train * WEFT_GNET_CELL_MAX;
    const char *what = c->train > 1 ? "train" : "cell";
    if ((double)least * (1 - c->credit_batch) < (double)lump)
        snprintf(text, size,
                 "credit_batch of a FIFO of %" PRIu64 "B leaves less than a %s (%" PRIu64
                 "B): it could wait without end",
                 least, what, lump);
    else if (c->nic_endpoints >= c->ip_endpoints)
        snprintf(text, size,
                 "nic_endpoints %" PRIu64 " of %" PRIu64
                 " ip_endpoints: none is left for the Ethernet port; expected fewer, or 0: they share all",
                 c->nic_endpoints, c->ip_endpoints);
    else if (c->output_bytes < lump)
        snprintf(text, size, "output_queue of %" PRIu64 "B holds less than a %s (%" PRIu64 "B)", c->output_bytes, what,
                 lump);
    else if (c->train > 1 && c->trace)
        snprintf(text, size, "trace, and trains of %s: cells are traced one by one",
                 weft__counted(c->train, "cell").text);
    else if (c->ordered_routing != WEFT_GNET_DETERMINISTIC && c->ordered_routing != WEFT_GNET_MINIMAL_DETERMINISTIC)
        snprintf(text, size, "ordered_routing is adaptive; expected deterministic or minimal_deterministic");
    else
        return NULL;
    return text;
}
const struct weft_param_table weft_tin_table = WEFT_PARAM_TABLE_OF(
    "tin", T, .check = tin_check,
    WEFT_TIME(T, fall_through_ps, "fall_through", "20ns", "1ns", "1us", "latency of the cell switch (section 3.1)"),
    WEFT_TIME(T, link_ps, "link", "20ns", "1ns", "1us",
              "latency of a GNet link beyond its cable: with fall_through 40ns per hop (section 3.1)"),
    WEFT_TIME(T, fec_ps, "fec", "30ns", "0ns", "1us", "FEC latency of a link between pods (section 3.2)"),
    WEFT_REAL(T, fec_overhead, "fec_overhead", "6%", "0", "1",
              "share of the bandwidth of these links that FEC takes (section 3.2)"),
    WEFT_TIME(T, credit_ps, "credit", "15ns", "0ns", "1us", "from the arrival of credits to their effect (assumed)"),
    WEFT_REAL(T, credit_batch, "credit_batch", "25%", "0.1%", "90%",
              "credits are returned when this share of a FIFO is owed (assumed), or 1880 B"),
    WEFT_BYTES(T, local_fifo_bytes, "local_fifo", "1280B", "320B", "16376B",
               "FIFO of a VC at an input from the same pod (assumed: a link's rate over the loop of its credits)"),
    WEFT_BYTES(T, global_fifo_bytes, "global_fifo", "6400B", "320B", "16376B",
               "FIFO of a VC at an input from another pod: 100 m of fibre (assumed, likewise)"),
    WEFT_BYTES(T, output_bytes, "output_queue", "1280B", "160B", "60KB", "queue of a VC at an output (assumed)"),
    WEFT_REAL(T, speedup, "speedup", "2", "1", "16", "rate of the crossbar's ports relative to links (assumed)"),
    WEFT_TIME(
        T, step_ps, "allocation_step", "0ns", "0ns", "1us",
        "a cell is allocated the VC of its output in one step of a clock, keeps it, and is allocated the output in "
        "a later one (VC allocation, then switch allocation: BookSim 2's default, whose step is a crossing); 0ns: "
        "both at once, as soon as they are free (as its speculative = 1)"),
    WEFT_UINT(T, patience, "patience", "16", "0", "255",
              "an input that was busy this many times when an output took a cell is waited for, so that none starves "
              "(section 3.1; the method is assumed); 0: never"),
    WEFT_BOOL(
        T, vc_turns, "vc_turns", "false",
        "a VC has turns of its own among inputs at an output (section 3.1: a request per VC and port, none starved), "
        "and what goes first ends no other VC's turn; off: turns are those of the output, which grants to RTSs upset"),
    WEFT_UINT(
        T, train, "train", "1", "1", "8",
        "cells of an IP packet that travel as one event, to make large runs faster; 1: exact; the same for all TiNs"),
    WEFT_RATE(T, endpoint_rate_bps, "endpoint_rate", "27.15Gbps", "1Gbps", "1Tbps",
              "rate of an endpoint's port of the cell switch (assumed: that of a link, so 8 for IP carry the 200G that "
              "a TiN injects, section 6)"),
    WEFT_UINT(T, ip_endpoints, "ip_endpoints", "8", "1", "16",
              "ports of the cell switch for IP packets; there are 18 for endpoints (section 3.1; shares assumed)"),
    WEFT_UINT(T, nic_endpoints, "nic_endpoints", "4", "0", "15",
              "of these, those by which data of packets for hosts leave the cell switch, so that they carry the 100G "
              "of a NIC "
              "as cells; packets for the Ethernet port and the control processor leave by the others (an address names "
              "an endpoint, section 3.2; shares assumed, by rates); 0: all leave by any"),
    WEFT_UINT(T, rma_endpoints, "rma_endpoints", "8", "1", "16", "ports of the cell switch for 1RMA (assumed)"),
    WEFT_BOOL(T, rma_own, "rma_own", "false",
              "requests of 1RMA enter by the endpoint of the requesting host and leave by that of the serving host, as "
              "each node has its own port in BookSim 2; off: by any idle endpoint"),
    WEFT_UINT(T, endpoint_vcs, "endpoint_vcs", "1", "1", "3",
              "FIFOs per class at an endpoint; a cell enters by any of them (BookSim 2: as many as a port has VCs); 1: "
              "cells keep their order"),
    WEFT_UINT(T, control_endpoints, "control_endpoints", "2", "0", "16",
              "and the rest of the 18, the control processor's (assumed): ports of the cell switch with entries in its "
              "tables, by which no cell comes or goes, as that processor's packets are IP, and go by those of IP"),
    WEFT_BOOL(T, solicit_strict, "solicit_strict", "true",
              "RTS, CTS and Req go before other cells of their level (section 3.3 for RTS; for the others assumed)"),
    WEFT_BOOL(T, low_strict, "low_strict", "false", "the low-latency level goes before bulk"),
    WEFT_UINT(T, low_weight, "low_weight", "8", "1", "127",
              "weight of the low-latency level, unless it is strict; bulk has 1 (assumed)"),
    WEFT_CHOICE(
        T, routing, "routing", "fully_adaptive", weft_gnet_mode_names,
        "of cells that need no order (section 3.2); ugal, BookSim 2's: minimal, or by way of another TiN, decided "
        "where the cell begins, by what two outputs have no credits back for (nonminimal_weight, _bias)"),
    WEFT_CHOICE(T, ordered_routing, "ordered_routing", "minimal_deterministic", weft_gnet_mode_names,
                "of RTS cells, which need order: a deterministic one (which is assumed)"),
    WEFT_UINT(T, minimal_choices, "minimal_choices", "2", "1", "8", "number of minimal routes compared (section 3.2)"),
    WEFT_UINT(T, nonminimal_choices, "nonminimal_choices", "3", "0", "24",
              "number of non-minimal routes compared (section 3.2); 0: none, so a cell whose minimal routes are down "
              "has no route"),
    WEFT_UINT(T, nonminimal_weight, "nonminimal_weight", "2", "1", "16",
              "factor on the queue of a non-minimal route (assumed)"),
    WEFT_BYTES(T, nonminimal_bias_bytes, "nonminimal_bias", "960B", "0B", "60KB",
               "bytes added to the queue of a non-minimal route (assumed: six cells, less than an output's queue of a "
               "VC holds; with one, full Cliques leave minimal routes, which harms all of them)"),
    WEFT_RATE(T, nic_rate_bps, "nic_rate", "100Gbps", "10Mbps", "100Tbps",
              "rate of a NIC, which its hosts share in each direction if their links are faster (section 3.3)"),
    WEFT_UINT(T, nic_hosts, "nic_hosts", "2", "1", "16",
              "hosts per NIC, on neighbouring ports (section 3.3); 1: each has its own NIC, as fast as its link"),
    WEFT_BYTES(T, nic_window_bytes, "nic_window", "4KB", "64B", "1MB",
               "a host sends no frame while this many bytes are in flight to a shared NIC or wait there (assumed)"),
    WEFT_TIME(T, processing_ps, "processing", "50ns", "0ns", "1ms",
              "time from a packet or a cell at an endpoint to the cell that it causes (assumed)"),
    WEFT_PRIORITY_SET(T, low_latency, "low_latency", "none",
                      "priorities whose cells use the VCs of the low-latency level"),
    WEFT_BYTES(T, rts_early_bytes, "rts_early", "512B", "0B", "1MB",
               "packets longer than this are announced when their header has arrived, others when they are complete "
               "(section 3.3; length assumed)"),
    WEFT_BYTES(T, fetch_bytes, "fetch_window", "64KB", "1KB", "16MB",
               "most bytes that a port has requested and not yet received (section 3.3; assumed)"),
    WEFT_BYTES(T, egress_bytes, "egress_buffer", "128KB", "16KB", "16MB",
               "egress buffer of a port for bytes requested, in reassembly or waiting to be sent (assumed)"),
    WEFT_BYTES(T, ctd_bytes, "ctd", "1MB", "1KB", "1GB",
               "an RTS that finds more bytes announced in its queue is answered by a clear-to-drop (assumed)"),
    WEFT_TIME(T, reassembly_timeout_ps, "reassembly_timeout", "100us", "1us", "1s",
              "a requested packet that is still incomplete is given up after this time (assumed)"),
    WEFT_TIME(T, rts_timeout_ps, "rts_timeout", "10ms", "10us", "1s",
              "an announced packet that is not requested is discarded after this time (assumed)"),
    WEFT_UINT(T, trace, "trace", "0", "0", "1000000000",
              "one in this many cells that its endpoints send is traced, on average (section 6); 0: none"),
    WEFT_UINT(T, trace_kept, "trace_kept", "100000", "1", "100000000",
              "notes on traced cells that a TiN keeps; later ones are dropped (assumed)"),
    WEFT_UINT(T, punt_rate, "punt_rate", "10000", "1", "1000000000",
              "frames a second that the control processor takes: LLDP, packets without an exit (section 3.3; assumed)"),
    WEFT_UINT(T, punt_packets, "punt_queue", "64", "1", "65536",
              "most frames that wait for the control processor (assumed)"),
    WEFT_CHOICE(T, exits, "exits", "wcmp", exit_choices,
                "choice among exits of the Clique: by the capacity that their links leave (section 3.3), or equally; "
                "the setting of a Clique's first TiN counts"),
    WEFT_UINT(T, exit_entries, "exit_entries", "256", "1", "65536",
              "entries of a group of exits, so that weights are fractions of it; equal exits need one each (assumed)"),
    WEFT_SECTION(T, rma, "rma", &weft_tin_rma_table, "remote memory access, 1RMA"),
    WEFT_SECTION(T, gnet, "tables", &weft_gnet_table, "tables of routes; the settings of a Clique's first TiN count"));

/// Bytes of a frame's cells: RTS, CTS, and data without the Ethernet header and FCS (18 B).
static const uint32_t cells[] = {WEFT_GNET_CELL_MIN, WEFT_GNET_CELL_MIN,
                                 WEFT_FRAME_MIN - 18 + WEFT_GNET_DATA_HEAD_BYTES};
enum { CELLS = sizeof cells / sizeof *cells };

weft_time_ps weft_tin_cell_ps(uint32_t bytes, weft_rate_bps rate, double overhead) {
    return (weft_time_ps)ceil(8.0 * bytes * (double)WEFT_PS_PER_S / (double)rate * (1 + overhead) - 1e-6);
}

weft_time_ps weft_tin_crossing_ps(const struct weft_tin_conf *conf) {
    weft_time_ps sum = conf->processing_ps;
    for (uint32_t i = 0; i < CELLS; i++)
        sum += conf->processing_ps + conf->fall_through_ps + weft_tin_cell_ps(cells[i], conf->endpoint_rate_bps, 0);
    return sum;
}

weft_time_ps weft_tin_link_ps(const struct weft_tin_conf *conf, const struct weft_link_info *link, bool global) {
    weft_time_ps sum = CELLS * (conf->link_ps + conf->fall_through_ps + link->delay_ps + (global ? conf->fec_ps : 0));
    for (uint32_t i = 0; i < CELLS && global; i++)
        sum += weft_tin_cell_ps(cells[i], link->rate_bps, conf->fec_overhead) -
               weft_tin_cell_ps(cells[i], link->rate_bps, 0);
    return sum;
}
