// SPDX-License-Identifier: Apache-2.0
// The control plane of a Clique over the failures of a scenario, for the story: sizes of its state, bootstrap,
// transitions, clocks.
#pragma once

#include "weft/bootstrap.h"
#include "weft/celltrace.h"
#include "weft/control.h"
#include "weft/timesync.h"
#include "weft/tin.h"

/// An event as it was given to the controller, or to the clocks.
struct weft_clique_event {
    weft_time_ps time_ps;                   ///< the user's
    const struct weft_control_event *given; ///< NULL: links
    uint32_t link, links;                   ///< links: the first of the topology, and how many
    bool up;
    uint32_t tin; ///< WEFT_NONE: links
};
struct weft_clique_trace {
    const struct weft_clique *clique;
    const struct weft_dragonfly *fabric;
    struct weft_sdn_counts counts;
    const struct weft_bootstrap_result *bootstrap; ///< NULL: no TiN has a link to the datacenter network
    uint32_t sdn_events, timesync_events;
    const struct weft_clique_event *sdn_event, *timesync_event;
    const struct weft_sdn_result *sdn;
    uint64_t differences;               ///< at the end, between what is meant and what is programmed
    struct weft_celltrace_result cells; ///< traced at the end, if the Clique is walked through
    const struct weft_timesync_result *timesync;
};
/// `f`: of `t`. In `arena`.
struct weft_clique_trace *weft_clique_trace_new(const struct weft_topology *t, const struct weft_dragonfly *f,
                                                const struct weft_tin_conf *tin, const struct weft_control_conf *conf,
                                                const struct weft_control_event *event, uint32_t events, uint64_t seed,
                                                struct weft_arena *arena);

/// The reaction of a scenario's control plane: the answer of weft trace-control. One of `dsf` and `clique` is there.
struct weft_control_answer {
    const char *scenario, *variant;
    uint64_t seed;
    const struct weft_topology *topology;
    const struct weft_control_conf *conf;
    const struct weft_control_trace *dsf;
    const struct weft_clique_trace *clique;
};
extern const struct weft_answer weft__answer_trace_control; // weft/result.h
/// What happened to a link or a TiN, as users write it: "up", "down", "reboot", ...
const char *weft_clique_event_name(const struct weft_clique_event *event);
