// SPDX-License-Identifier: Apache-2.0
// What is not estimated, by name.
#pragma once

#include "estimate/fluid.h"

/// A model without an estimate, failures under way, work that is no flow.
enum weft_status weft__estimate_refuse(const struct weft__network *net, struct weft_error *ret_error);
/// More queue pairs than there is memory for, which would show only after minutes.
enum weft_status weft__estimate_refuse_memory(const struct weft__network *net, struct weft_error *ret_error);
/// Packets of a queue pair draw ways, and other draws take some of the links of these ways, but not all.
enum weft_status weft__estimate_refuse_overlap(const struct weft__network *net, struct weft_error *ret_error);
/// What depends on where flows go: priorities that share links, losses, pauses that could wait for each other in a
/// circle.
enum weft_status weft__estimate_refuse_ways(const struct weft__fluid *x, struct weft_error *ret_error);
/// Of a queue pair whose packets take several ways at once: what discards those that overtake others.
enum weft_status weft__estimate_refuse_spread(const struct weft__fluid *x, uint32_t qp, struct weft_error *ret_error);
/// The estimate ended before all was done.
enum weft_status weft__estimate_refuse_rest(const struct weft__network *net, struct weft_error *ret_error);
/// Where the scenario says the flow.
struct weft_place weft__estimate_place_of(const struct weft__network *net, uint32_t flow);
