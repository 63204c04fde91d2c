// SPDX-License-Identifier: Apache-2.0
// What weft check answers: the variants of a scenario, and what a run of each needs.
#pragma once

#include "weft/result.h"

/// What a run needs. Figures that are not known are NAN.
struct weft_check_estimate {
    const char *by;                ///< "connections" (computed), "run" (all of it was run) or "trial" (a part was run)
    uint64_t peak_rss_bytes;       ///< of `weft run`, without --out
    double packet_hops, cell_hops; ///< one of them is NAN
    double cpu_s, hops_per_cpu_s;  ///< of the whole run; the rate on which that is based
};

struct weft_check_variant {
    const char *scenario, *variant, *topology;
    uint32_t hosts, switches, links, groups;
    uint64_t flows;
    weft_bytes bytes;
    const struct weft_run *run;                 ///< with links as DCBX would negotiate them; NULL: not asked for
    const struct weft_check_estimate *estimate; ///< NULL: none
};

/// The subject of weft__answer_check.
struct weft_check {
    struct weft_check_variant *variant;
    uint32_t variants;
};
extern const struct weft_answer weft__answer_check;
/// Its tables of --links.
extern const struct weft_result_table weft__check_links, weft__check_link_ends, weft__check_link_differences;
