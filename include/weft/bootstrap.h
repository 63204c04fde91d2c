// SPDX-License-Identifier: Apache-2.0
// How a controller takes hold of a Clique in-band, in waves: first of the TiNs with a link to the datacenter network,
// then of others by way of neighbours that it has already, over management ordered sets of the links between them.
// Source: Gibson et al., "Aquila", NSDI'22, sections 3.5 and 4.4; what it leaves open: src/control/clique/bootstrap.c.
#pragma once

#include "weft/clique.h"

struct weft_bootstrap_conf {
    weft_time_ps start_ps, spread_ps, discover_ps, dhcp_ps, connect_ps, latency_ps, turnaround_ps, mos_word_ps,
        resend_ps, rpc_timeout_ps, lost_at_ps, lost_for_ps;
    weft_rate_bps tcp_rate_bps;
    uint64_t rpc_bytes, config_bytes, entry_bytes, packet_bytes, dhcp_bytes, ports, vcs, targets, sessions,
        proxies_lost;
    double enough, loss;
};
struct weft_param_table;
extern const struct weft_param_table weft_bootstrap_table;

enum { WEFT_MOS_BYTES = 6 }; ///< of data in a word of 64 bits

/// What the registers of a TiN take: configuration, and a routing table a port and VC with an entry a destination.
weft_bytes weft_bootstrap_bytes(const struct weft_clique *c, const struct weft_bootstrap_conf *conf);
/// Of these what goes by way of a neighbour, before there is a connection over GNet itself.
weft_bytes weft_bootstrap_bytes_pmos(const struct weft_clique *c, const struct weft_bootstrap_conf *conf);
/// Words on the link for `bytes` in PMOS packets of a word of header each, and a word back for each.
uint64_t weft_bootstrap_words(const struct weft_bootstrap_conf *conf, weft_bytes bytes);

struct weft_bootstrap_tin {
    uint32_t wave;  ///< 0: with a link to the datacenter network; else one more than its proxy's
    uint32_t proxy; ///< the last; WEFT_NONE: none
    uint32_t tries; ///< sessions begun
    weft_time_ps heard_ps, begun_ps,
        done_ps; ///< first message at the controller; first session; programmed. NEVER: not
};
struct weft_bootstrap_result {
    struct weft_bootstrap_tin *tin;         ///< [tins]
    uint32_t done, waves, retried;          ///< retried: TiNs whose proxy was lost under way
    weft_time_ps done_ps;                   ///< the last
    weft_time_ps least_ps, p50_ps, most_ps; ///< of a TiN, from its first session to programmed
    weft_bytes tin_bytes, pmos_bytes;       ///< of a TiN; of those over PMOS if not wave 0
    uint64_t words, resent;                 ///< MOS words of all; packets sent again
    uint32_t sessions_most, targets_most;   ///< at one time: of the controller, of a proxy
};
/// From power-on of all. In `arena`.
struct weft_bootstrap_result *weft_bootstrap_run(const struct weft_clique *c, const struct weft_bootstrap_conf *conf,
                                                 uint64_t seed, struct weft_arena *arena);
