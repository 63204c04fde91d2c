// SPDX-License-Identifier: Apache-2.0
// What the generators share beyond the public contract.
#pragma once

#include "weft/workload.h"

/// Checks that `flows` more flows, each repeated according to `common`, stay within the limits, and makes room for
/// them. A generator calls it first, so that an absurd number is an error at once.
enum weft_status weft__workload_reserve(struct weft_workload *w, const struct weft_workload_common *common,
                                        struct weft_place place, uint64_t flows, struct weft_error *ret_error);

/// Only checks that.
enum weft_status weft__workload_check_room(const struct weft_workload *w, const struct weft_workload_common *common,
                                           struct weft_place place, uint64_t flows, struct weft_error *ret_error);

/// Adds flows that are only counted, with this many bytes in total; common->qps queue pairs each.
enum weft_status weft__workload_add_counted(struct weft_workload *w, const struct weft_workload_common *common,
                                            struct weft_place place, uint64_t flows, weft_bytes bytes,
                                            struct weft_error *ret_error);

/// A flow group by name, created if it is new.
uint32_t weft__workload_group(struct weft_workload *w, const char *name);

/// The random stream of `who` (a host) for entry number `entry` of the workload.
struct weft_random weft__workload_stream(uint64_t seed, uint32_t entry, uint32_t who, enum weft_random_purpose purpose);

/// Assigns each of n hosts, n >= 2, another host that no other host has.
void weft__workload_derange(struct weft_random random, uint32_t *to, uint32_t n);
