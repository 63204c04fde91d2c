// SPDX-License-Identifier: Apache-2.0
// Cell tracing: TiNs sample cells whose trace bit is set and tell a collector over UDP; the collector puts the reports
// of a cell together to a path, and finds TiNs that lose cells or send them along unplanned routes.
// Source: Gibson et al., "Aquila", NSDI'22, section 6. What a report holds, that a TiN reports what leaves it, and how
// the collector concludes are ours.
#pragma once

#include "weft/random.h"
#include "weft/sdn.h"

/// A TiN has let a traced cell go.
struct weft_celltrace_report {
    uint64_t cell;
    uint32_t tin;
    uint32_t port_in, port_out; ///< of GNet; WEFT_NONE: came from, or went to, an endpoint
    weft_time_ps time_ps;
};

enum weft_celltrace_end {
    WEFT_CELLTRACE_ARRIVED,
    WEFT_CELLTRACE_LOST,    ///< last seen on the way to `suspect`
    WEFT_CELLTRACE_UNKNOWN, ///< more reports are missing than can be made up for
};
struct weft_celltrace_path {
    enum weft_celltrace_end end;
    uint32_t suspect;
    uint32_t hops;    ///< TiNs on the path
    uint32_t missing; ///< of these, TiNs that only their neighbours reported
};
/// Sorts the reports of one cell and follows them over the links. `ret_hop` has room for n + missing hops, at most
/// 2 n + 1. A hop without a report of its own has time 0, and its ports from its neighbours' reports.
struct weft_celltrace_path weft_celltrace_stitch(const struct weft_topology *t, const struct weft_dragonfly *f,
                                                 struct weft_celltrace_report *report, uint32_t n,
                                                 struct weft_celltrace_report *ret_hop);

enum { WEFT_CELLTRACE_HOPS_MAX = 32 };
/// A cell sent through what TiNs are programmed with, by any of its candidates; the reports on it. At most
/// WEFT_CELLTRACE_HOPS_MAX.
uint32_t weft_sdn_trace(const struct weft_sdn *s, uint32_t src, uint32_t dst, uint64_t cell, struct weft_random *random,
                        struct weft_celltrace_report *ret);
/// Whether the NIB means hop i of a path to `dst` to be a way.
bool weft_sdn_is_meant(const struct weft_sdn *s, const struct weft_celltrace_report *hop, uint32_t i, uint32_t dst);

struct weft_celltrace_result {
    uint64_t cells, arrived, lost, astray, unknown, missing; ///< astray: left the meant ways; missing: reports
    uint32_t suspect;    ///< the TiN that sent most cells astray, or if none did lost most; WEFT_NONE: none
    uint64_t suspicions; ///< cells for which it is
};
/// `rounds` traced cells between any two TiNs; of the reports `loss` are lost.
struct weft_celltrace_result weft_sdn_find_fault(const struct weft_sdn *s, uint32_t rounds, double loss, uint64_t seed);
