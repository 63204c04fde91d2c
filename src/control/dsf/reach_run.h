// SPDX-License-Identifier: Apache-2.0
// Runs the reachability agents of a fabric: cells at their times, links that fail and come back.
#pragma once

#include "weft/control.h"

struct weft__reach_run;

/// `seed` selects choices and phases. `keep`: notes and changes are kept, not only counted.
struct weft__reach_run *weft__reach_run_new(const struct weft_fabric *f, const struct weft_reach_conf *conf,
                                            uint64_t seed, bool keep);
void weft__reach_run_free(struct weft__reach_run *run);
/// A link fails or is repaired, at a time not before what has been run.
void weft__reach_run_link(struct weft__reach_run *run, weft_time_ps time, uint32_t link, bool up);
/// Requests that an interface node may be reached, or not.
void weft__reach_run_admin(struct weft__reach_run *run, weft_time_ps time, uint32_t device, bool reachable);
/// Its chip has an error, so it drains itself.
void weft__reach_run_asic_error(struct weft__reach_run *run, weft_time_ps time, uint32_t device);
enum weft_drain weft__reach_run_drain(const struct weft__reach_run *run, uint32_t device);
/// Runs everything due at `until` or before.
void weft__reach_run_until(struct weft__reach_run *run, weft_time_ps until);
/// Runs until nothing more happens.
void weft__reach_run_settle(struct weft__reach_run *run);

/// A run that contains the failures and repairs of the topology's fabric `f`, and those of `event` that drain nodes.
/// `arena`: for temporary data.
struct weft__reach_run *weft__reach_run_events(const struct weft_topology *t, const struct weft_fabric *f,
                                               const struct weft_reach_conf *conf,
                                               const struct weft_control_event *event, uint32_t events, uint64_t seed,
                                               struct weft_arena *arena);

const struct weft_reach_agent *weft__reach_run_agent(const struct weft__reach_run *run, uint32_t device);
bool weft__reach_run_link_up(const struct weft__reach_run *run, uint32_t link);
const struct weft_reach_stats *weft__reach_run_stats(const struct weft__reach_run *run);
/// Whether nothing is pending except future failures and repairs.
bool weft__reach_run_rests(const struct weft__reach_run *run);
/// Restarts counting.
void weft__reach_run_count(struct weft__reach_run *run);
const struct weft_reach_change *weft__reach_run_changes(const struct weft__reach_run *run, uint32_t *ret_n);
const struct weft_reach_note *weft__reach_run_notes(const struct weft__reach_run *run, uint32_t *ret_n);
