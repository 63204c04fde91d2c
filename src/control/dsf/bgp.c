// SPDX-License-Identifier: Apache-2.0
// BGP between EDSWs and RDSWs.
//
// Source: Meta, "Disaggregated Scheduled Fabric" (engineering blog, 2025), section "DSF Region": iBGP from each EDSW to
// all RDSWs of the building with add-path, so that RDSWs learn aggregates by all 2k next hops; eBGP with aggregates
// only to superspines. Messages: RFC 4271 (hold time 90 s, keepalives at a third of it, one UPDATE for all destinations
// of one set of attributes), RFC 7911 (add-path). ECMP width 2048: FBOSS (Jericho3Asic). Processing, latency and
// detection are assumed. MRAI: 0 by default (RFC 4271 suggests 5 s within an AS). Our own: a path is a link of an EDSW
// to a superspine; all aggregates are heard on each, so a path exists for all of them or for none. "Weighted by what is
// left" follows from that: an EDSW with 15 of 16 links has 15 of the next hops.
#include "weft/bgp.h"

#include "weft/param.h"

#define T struct weft_bgp_conf
static const char *bgp_check(const void *conf, char *text, size_t size) {
    const T *c = conf;
    return c->keepalive_ps < c->hold_ps ? NULL : "keepalive is not shorter than hold";
}
const struct weft_param_table weft_bgp_table = WEFT_PARAM_TABLE_OF(
    "bgp", T, .check = bgp_check,
    WEFT_UINT(T, aggregates, "aggregates", "1", "1", "1000000", "routes that each other building announces; assumed"),
    WEFT_UINT(T, width_max, "width", "2048", "1", "65536", "most next hops per route (ECMP)"),
    WEFT_BOOL(T, resilient, "resilient", "off",
              "resilient hashing: when an exit is lost only its flows get another, and they return to it later; off: "
              "the hash is over the remaining exits, so other flows move too"),
    WEFT_TIME(T, hold_ps, "hold", "90s", "3s", "65535s", "a session without a message for this long is closed"),
    WEFT_TIME(T, keepalive_ps, "keepalive", "30s", "1s", "21845s", "interval between keepalives"),
    WEFT_TIME(T, mrai_ps, "mrai", "0s", "0s", "1000s", "least time between UPDATEs to a neighbour; assumed"),
    WEFT_TIME(T, detect_ps, "detect", "10ms", "0s", "1000s",
              "time from a link's failure to its EDSW's reaction; assumed"),
    WEFT_TIME(T, processing_ps, "processing", "10us", "0s", "1s", "time to make or process an UPDATE; assumed"),
    WEFT_TIME(T, latency_ps, "latency", "100us", "1us", "1s", "latency of a message, one way; assumed"),
    WEFT_BOOL(T, tracking, "tracking", "on", "next hops at EDSWs that the fabric no longer reaches are not used"),
    WEFT_TIME(
        T, tracking_delay_ps, "tracking_delay", "1ms", "0s", "1000s",
        "time from the loss of an EDSW until then: reachability, then a change of the forwarding table; assumed"));
#undef T

static uint32_t set_paths(struct weft_bgp_rib *rib, uint32_t session, uint64_t paths) {
    uint64_t *have = &rib->paths[session];
    uint32_t changed = (uint32_t)__builtin_popcountll(*have ^ paths);
    rib->count += (uint32_t)__builtin_popcountll(paths);
    rib->count -= (uint32_t)__builtin_popcountll(*have);
    *have = paths;
    return changed;
}

uint32_t weft_bgp_on_update(struct weft_bgp_rib *rib, uint32_t session, uint64_t announced, uint64_t withdrawn) {
    return set_paths(rib, session, (rib->paths[session] & ~withdrawn) | announced);
}

uint32_t weft_bgp_on_closed(struct weft_bgp_rib *rib, uint32_t session) {
    return set_paths(rib, session, 0);
}

bool weft_bgp_tell(struct weft_bgp_sender *s, const struct weft_bgp_conf *conf, weft_time_ps now, uint64_t paths,
                   uint64_t *ret_announced, uint64_t *ret_withdrawn, weft_time_ps *ret_due) {
    *ret_announced = paths & ~s->told;
    *ret_withdrawn = s->told & ~paths;
    *ret_due = WEFT_TIME_NEVER;
    if (!*ret_announced && !*ret_withdrawn) return false;
    if (now < s->next_ps) {
        *ret_due = s->next_ps;
        return false;
    }
    s->told = paths;
    s->next_ps = now + conf->mrai_ps;
    return true;
}
