// SPDX-License-Identifier: Apache-2.0
// BGP in a building of a DSF region: every EDSW hears the aggregates of other buildings on each of its links to
// superspines (eBGP) and tells every RDSW all of these ways (iBGP with add-path), so that an RDSW spreads over all of
// them. Agents are functions of the updates they receive. Source and differences: src/control/dsf/bgp.c.
#pragma once

#include "weft/random.h"

struct weft_arena;

enum { WEFT_BGP_LINKS_MAX = 64 }; ///< of an EDSW to superspines; a path each

struct weft_bgp_conf {
    uint64_t aggregates, width_max;
    weft_time_ps hold_ps, keepalive_ps, mrai_ps, detect_ps, processing_ps, latency_ps, tracking_delay_ps;
    bool tracking;
    bool resilient; ///< a lost exit moves only the flows that used it
};
struct weft_param_table;
extern const struct weft_param_table weft_bgp_table;

/// Adj-RIB-In of an RDSW for one aggregate: the paths (a bit each) that each EDSW has announced.
struct weft_bgp_rib {
    uint32_t sessions;
    uint64_t *paths; ///< [sessions], the caller's
    uint32_t count;  ///< of all
};
/// Both return how many paths came or went.
uint32_t weft_bgp_on_update(struct weft_bgp_rib *rib, uint32_t session, uint64_t announced, uint64_t withdrawn);
uint32_t weft_bgp_on_closed(struct weft_bgp_rib *rib, uint32_t session);

/// Adj-RIB-Out of an EDSW towards one RDSW for one aggregate.
struct weft_bgp_sender {
    uint64_t told;
    weft_time_ps next_ps; ///< earliest time of the next update (MRAI)
};
/// To tell `paths`: true if there is something to tell now; else, if there is something to tell later, *ret_due.
bool weft_bgp_tell(struct weft_bgp_sender *s, const struct weft_bgp_conf *conf, weft_time_ps now, uint64_t paths,
                   uint64_t *ret_announced, uint64_t *ret_withdrawn, weft_time_ps *ret_due);

enum weft_bgp_what {
    WEFT_BGP_LOST, ///< an EDSW dies without a word
    WEFT_BGP_SHUT, ///< an EDSW closes its sessions
    WEFT_BGP_BACK,
    WEFT_BGP_LINK_DOWN, ///< links of an EDSW to superspines
    WEFT_BGP_LINK_UP,
    WEFT_BGP_WAY_DOWN, ///< superspines at the other end of links have lost a class of aggregates
    WEFT_BGP_WAY_UP,
};
struct weft_bgp_event {
    weft_time_ps time_ps;
    enum weft_bgp_what what;
    uint32_t edsw, class_index; ///< class_index: WAY only
    uint64_t links;             ///< a bit each; not for LOST, SHUT and BACK
    weft_time_ps noticed_ps;    ///< LOST: so much later the fabric begins to notice (conf->tracking)
};
/// What is announced alike on all links is a class.
struct weft_bgp_setup {
    uint32_t rdsws, edsws;
    uint32_t links; ///< of an EDSW, to superspines
    uint32_t classes;
    const uint64_t *buildings; ///< [classes] other buildings; each announces conf->aggregates
    const uint64_t *heard;     ///< [edsws * classes] links on which an EDSW hears them at first; NULL: on all
    const uint32_t *own_edsw;  ///< [rdsws] the EDSW that it also is, or WEFT_NONE; NULL: none is one
};
/// For the data plane: from then on an RDSW has these of an EDSW's links as next hops towards a class.
struct weft_bgp_change {
    weft_time_ps time_ps;
    uint32_t rdsw; ///< WEFT_NONE: the EDSW itself
    uint32_t edsw, class_index;
    uint64_t links;
};
struct weft_bgp_outcome {
    uint64_t updates;     ///< messages
    uint64_t changes;     ///< paths that came or went at an RDSW, of all aggregates
    weft_time_ps last_ps; ///< the last RDSW knows, from the event on; 0: nothing to know
    uint32_t paths;       ///< of the RDSW with least, for an aggregate, afterwards
    double lost_ps;       ///< what RDSWs on average sent to dead ways meanwhile, in time of all their traffic
};
struct weft_bgp_result {
    uint64_t ibgp_sessions, ebgp_sessions;
    uint64_t paths;                   ///< of the aggregate with least at an RDSW: next hops
    uint64_t rib;                     ///< paths at an RDSW, of all aggregates
    uint64_t rib_all;                 ///< at all RDSWs
    uint64_t width;                   ///< of ECMP
    uint64_t first_updates;           ///< to bring all that about
    weft_time_ps first_ps;            ///< in that time, all EDSWs beginning at once
    struct weft_bgp_outcome *outcome; ///< [events]
    uint32_t changes_n;
    struct weft_bgp_change *change; ///< by time, counted as those of events are
};
/// Events by time; time 0 is when all sessions have converged. In `arena`.
struct weft_bgp_result *weft_bgp_run(const struct weft_bgp_conf *conf, const struct weft_bgp_setup *setup,
                                     const struct weft_bgp_event *event, uint32_t events, uint64_t seed,
                                     struct weft_arena *arena);
