// SPDX-License-Identifier: Apache-2.0
// Within an operation whose steps repeat, whatever is in flight; see lane_skip.c.
#pragma once

#include "transport/program.h"

/// The lane's number among the timers of its program.
static inline uint32_t weft__lane_key(const struct weft__program *p, uint32_t stream, uint32_t number) {
    return p->stream[stream].key0 - p->key0 + number;
}
/// The number of steps after which a lane's steps repeat, from the next one on: the same peers, and the same bytes but
/// for one. ret_end: the first step that differs from the one a period earlier. 0: there is no period.
uint64_t weft__lane_period(const struct weft__stream *st, uint32_t number, uint64_t *ret_end);
/// Whether the lane's next `steps` steps, in whole periods, can be skipped. In used[], over all connections of the run,
/// adds the messages that are not sent and subtracts those that are not received.
bool weft__lane_may_skip(struct weft__program *p, uint32_t stream, uint32_t number, uint64_t period, uint64_t steps,
                         int64_t *used);
/// Skips them: their bytes count as sent, delivered and taken.
void weft__lane_skip(const struct weft__hosts *hosts, struct weft__gpu *gpu, struct weft__program *p, uint32_t stream,
                     uint32_t number, uint64_t steps);
