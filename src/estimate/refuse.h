// SPDX-License-Identifier: Apache-2.0
// What is not estimated, by name.
#pragma once

#include "estimate/fluid.h"

/// A model without an estimate, failures under way, work that is no flow.
enum weft_status weft__estimate_refuse(const struct weft__network *net, struct weft_error *ret_error);
/// What depends on where flows go: pauses that could wait for each other in a circle.
enum weft_status weft__estimate_refuse_ways(const struct weft__fluid *x, struct weft_error *ret_error);
