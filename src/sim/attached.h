// SPDX-License-Identifier: Apache-2.0
// Hosts of a run that are attached from outside; see transport/raw.h.
#pragma once

#include "box/network.h"
#include "transport/raw.h"

/// Those of the workload's record, else of the section `live`; NULL: none.
struct weft__raw *weft__attached_new(const struct weft__network *net);
/// Gives the conversations that are known their queue pairs.
void weft__attached_place(struct weft__network *net);
/// What is common to a recorded conversation and one that has just begun: its paths and priority.
void weft__attached_set_qp(struct weft__network *net, uint32_t conversation, uint32_t qp);
/// Refuses what a host from outside cannot have.
enum weft_status weft__attached_check(const struct weft_scenario *scenario, const struct weft_topology *t,
                                      const struct weft_workload *w, struct weft_error *ret_error);
/// The same of how a run is made.
enum weft_status weft__attached_check_run(const struct weft_scenario *scenario, const struct weft_workload *w,
                                          const struct weft_sim_options *options, bool driven,
                                          struct weft_error *ret_error);
