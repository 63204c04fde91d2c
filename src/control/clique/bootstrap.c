// SPDX-License-Identifier: Apache-2.0
// The duration of a bootstrap.
//
// Source: Gibson et al., "Aquila: A unified, low-latency fabric for datacenter networks", NSDI'22: 6 bytes a MOS word
// of 64 bits (3.5); DHCP relayed by spines or, over MOS, by a proxy; the controller tries to connect again and again;
// one outstanding RPC; a target is programmed over PMOS until a connection over GNet is possible (4.3, 4.4). 256 or 512
// TiNs have a link to the datacenter network (appendix A). Assumed: all times and rates. One of them is calibrated with
// a figure of the paper: the time between MOS words, by the 48 minutes of the slowest TiN. The size of routing tables
// is counted: an entry has 8 minimal and 24 other candidates of 6 bits each, for 50 ports, 30 VCs and every other pod
// and other TiN of the pod, and the tables do not fit into the 2 MB of the control processor, as the paper says.
#include "weft/bootstrap.h"

#include "weft/param.h"

#define T struct weft_bootstrap_conf
const struct weft_param_table weft_bootstrap_table = WEFT_PARAM_TABLE_OF(
    "bootstrap", T, WEFT_PARAM_UNCHECKED,
    WEFT_TIME(T, start_ps, "start", "45s", "0s", "10000s", "time from power-on to links up; assumed"),
    WEFT_TIME(T, spread_ps, "spread", "20s", "0s", "10000s", "time over which TiNs are powered on; assumed"),
    WEFT_TIME(T, discover_ps, "discover", "10s", "1ms", "10000s", "interval between DHCP discovers of a TiN; assumed"),
    WEFT_TIME(T, dhcp_ps, "dhcp", "1s", "0s", "1000s", "time of the DHCP server's answer, relayed; assumed"),
    WEFT_TIME(T, connect_ps, "connect", "10s", "1ms", "10000s",
              "interval between attempts to connect to a TiN; assumed"),
    WEFT_TIME(T, latency_ps, "latency", "100us", "0s", "1s", "latency from controller to TiN, one way; assumed"),
    WEFT_TIME(T, turnaround_ps, "turnaround", "1ms", "0s", "10s", "time of the controller between two RPCs; assumed"),
    WEFT_RATE(T, tcp_rate_bps, "tcp_rate", "100kbps", "1kbps", "100Gbps",
              "rate at which a control processor takes RPCs over TCP into its registers; assumed"),
    WEFT_TIME(T, mos_word_ps, "mos_word", "4200us", "1ns", "10s",
              "interval between MOS words of a proxy, 6 bytes each; calibrated on 48 minutes for the slowest TiN"),
    WEFT_BYTES(T, packet_bytes, "packet", "60B", "6B", "64KB", "data bytes per PMOS packet; assumed"),
    WEFT_REAL(T, loss, "loss", "0.001", "0", "0.9", "share of PMOS packets lost; assumed"),
    WEFT_TIME(T, resend_ps, "resend", "500ms", "0s", "1000s", "time until a lost PMOS packet is resent; assumed"),
    WEFT_BYTES(T, dhcp_bytes, "dhcp_message", "300B", "0B", "64KB", "bytes of a DHCP message: four make an address"),
    WEFT_BYTES(T, rpc_bytes, "rpc", "1KiB", "64B", "2MB", "bytes of the largest RPC; assumed"),
    WEFT_TIME(T, rpc_timeout_ps, "rpc_timeout", "30s", "1ms", "10000s",
              "time until the controller gives up a session whose proxy is silent; assumed"),
    WEFT_BYTES(T, config_bytes, "config", "64KB", "0B", "100MB",
               "bytes of registers of a TiN besides routing; assumed"),
    WEFT_UINT(T, ports, "ports", "50", "1", "4096", "ports of the cell switch"),
    WEFT_UINT(T, vcs, "vcs", "30", "1", "4096", "VCs with routing tables: 10 classes of 3"),
    WEFT_BYTES(T, entry_bytes, "entry", "24B", "1B", "1KB",
               "bytes of an entry of a routing table: 32 candidates of 6 bits"),
    WEFT_REAL(T, enough, "enough", "0.5", "0", "1",
              "share of the routing tables after which the controller reaches a TiN over GNet; assumed"),
    WEFT_UINT(T, targets, "targets", "4", "1", "1000",
              "targets that a proxy serves in parallel, word by word; assumed"),
    WEFT_UINT(T, sessions, "sessions", "64", "1", "100000", "TiNs that the controller boots in parallel; assumed"),
    WEFT_UINT(T, proxies_lost, "proxies_lost", "0", "0", "4096",
              "number of proxies that fail, those with the most targets"),
    WEFT_TIME(T, lost_at_ps, "lost_at", "1200s", "0s", "100000s", "time at which they fail"),
    WEFT_TIME(T, lost_for_ps, "lost_for", "600s", "0s", "100000s", "time until they are powered on again"));

static weft_bytes table_bytes(const struct weft_clique *c, const struct weft_bootstrap_conf *conf) {
    uint64_t destinations = c->pods - 1 + (c->tins / c->pods - 1);
    return conf->ports * conf->vcs * conf->entry_bytes * destinations;
}

weft_bytes weft_bootstrap_bytes(const struct weft_clique *c, const struct weft_bootstrap_conf *conf) {
    return conf->config_bytes + table_bytes(c, conf);
}

weft_bytes weft_bootstrap_bytes_pmos(const struct weft_clique *c, const struct weft_bootstrap_conf *conf) {
    return conf->config_bytes + (weft_bytes)((double)table_bytes(c, conf) * conf->enough);
}

uint64_t weft_bootstrap_words(const struct weft_bootstrap_conf *conf, weft_bytes bytes) {
    uint64_t packets = (bytes + conf->packet_bytes - 1) / conf->packet_bytes;
    uint64_t full = bytes / conf->packet_bytes, rest = bytes % conf->packet_bytes;
    uint64_t words = full * ((conf->packet_bytes + WEFT_MOS_BYTES - 1) / WEFT_MOS_BYTES);
    return words + (rest + WEFT_MOS_BYTES - 1) / WEFT_MOS_BYTES + 2 * packets; // header; acknowledgement
}
