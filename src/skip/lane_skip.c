// SPDX-License-Identifier: Apache-2.0
// Lanes of collectives whose steps repeat: in a ring, every step but the first and the last of a loop, and every loop.
// A skipped step advances a lane and changes nothing else: what is in flight on its connections stays as it is, and
// becomes part of later steps, which are alike.
#include "skip/lane_skip.h"

#include <assert.h>

enum { LOOK_MAX = 1 << 16 }; ///< steps searched for a period

/// Sets the step. False: the lane has nothing to do in any further step before the end.
static bool step_at(const struct weft__stream *st, uint32_t number, uint64_t index, struct weft_step *ret) {
    uint64_t at = index, steps = st->lane[number].steps;
    return weft_job_find_step(st->op, st->part, st->number, number, st->lane[number].plan, steps, &at, ret) &&
           at == index;
}

static bool same_peers(const uint32_t *a, const uint32_t *b) {
    for (uint32_t k = 0; k < WEFT_STEP_PEERS; k++) {
        if (a[k] != b[k]) return false;
        if (a[k] == WEFT_NONE) break;
    }
    return true;
}

static bool is_like(const struct weft_step *a, const struct weft_step *b) {
    weft_bytes more = a->bytes > b->bytes ? a->bytes - b->bytes : b->bytes - a->bytes;
    return same_peers(a->recv, b->recv) && same_peers(a->send, b->send) && a->channel == b->channel && more <= 1 &&
           !a->wait_steps && !b->wait_steps;
}

static bool steps_are_like(const struct weft__stream *st, uint32_t number, uint64_t i, uint64_t j) {
    struct weft_step a, b;
    return step_at(st, number, i, &a) && step_at(st, number, j, &b) && is_like(&a, &b);
}

/// The first step from `from` on that differs from the one before it; `end`: there is none.
static uint64_t find_change(const struct weft__stream *st, uint32_t number, uint64_t from, uint64_t end) {
    struct weft_step before, now;
    if (from >= end || !step_at(st, number, from - 1, &before)) return from < end ? from : end;
    for (; from < end; from++) {
        if (!step_at(st, number, from, &now) || !is_like(&before, &now)) return from;
        before = now;
    }
    return end;
}

uint64_t weft__lane_period(const struct weft__stream *st, uint32_t number, uint64_t *ret_end) {
    const struct weft__lane *lane = &st->lane[number];
    uint64_t from = lane->index + 1, end = lane->steps;
    uint64_t look = end - from < LOOK_MAX ? end : from + LOOK_MAX;
    if (from >= end) return 0;
    uint64_t change = find_change(st, number, from, look), again = change;
    *ret_end = change;
    if (change == end) return 1;
    do
        again = find_change(st, number, again + 1, look);
    while (again < look &&
           !(steps_are_like(st, number, again - 1, change - 1) && steps_are_like(st, number, again, change)));
    uint64_t loop = again - change, loops = again < look ? (end - change) / loop : 0;
    // Either whole loops run, as many as must be seen, or in every loop the steps that must be seen: the shorter wins.
    if (loops <= WEFT__LANE_SEEN + 1 || loops * WEFT__LANE_STRIDE < loop) return 1;
    while (again < look && steps_are_like(st, number, again - loop, again))
        again++;
    *ret_end = again;
    return loop;
}

/// Whether a receiver has enough due: buffers already posted are for messages that must not be skipped.
static bool has_enough_due(const struct weft__receiving *r, uint64_t messages) {
    return r->qp == WEFT_NONE || r->program->job->unadmitted || r->due - r->posted >= messages;
}

/// How many steps from `index` on are equal according to the collective, at most `most`.
static uint64_t alike_at(const struct weft__stream *st, uint32_t number, uint64_t index, uint64_t most) {
    const struct weft_collective_ops *ops = st->op->ops;
    uint64_t n = ops->alike ? ops->alike(st->lane[number].plan, index) : 1;
    return n < most ? n : most;
}

/// The step that it comes to, and therefore each skipped step, equals the one a period earlier; later steps are run.
/// *n: steps from `index` on, all equal to `step`; reduced if those a period later are of another kind.
static bool goes_on(const struct weft__stream *st, uint32_t number, uint64_t period, uint64_t end, uint64_t index,
                    const struct weft_step *step, uint64_t *n) {
    struct weft_step later;
    if (index + period > end) return true;
    if (period > 1) {
        *n = alike_at(st, number, index + period, *n);
        if (*n > end - period - index + 1) *n = end - period - index + 1;
    }
    uint64_t last = period == 1 ? *n : period; // of the same kind: only the next one can differ
    return step_at(st, number, index + last, &later) && is_like(step, &later);
}

bool weft__lane_may_skip(struct weft__program *p, uint32_t stream, uint32_t number, uint64_t period, uint64_t steps,
                         int64_t *used) {
    struct weft__stream *st = &p->stream[stream];
    struct weft__lane *lane = &st->lane[number], ends = *lane;
    uint64_t taken[WEFT_STEP_PEERS] = {0};
    const struct weft__receiving *from[WEFT_STEP_PEERS] = {0};
    struct weft_step step;
    uint64_t end = lane->index + steps, n;
    for (uint64_t i = lane->index; i < end; i += n) {
        n = alike_at(st, number, i, end - i);
        if (!step_at(st, number, i, &step) || !goes_on(st, number, period, end, i, &step, &n)) return false;
        weft__lane_find_ends(p, stream, &step, &ends);
        for (uint32_t k = 0; k < ends.sends; k++)
            used[ends.send[k]->connection] += (int64_t)n;
        for (uint32_t k = 0; k < ends.recvs; k++) {
            used[ends.recv[k]->connection] -= (int64_t)n;
            if (from[k] && from[k] != ends.recv[k]) return false; // a lane that receives from many ranks in turn
            from[k] = ends.recv[k];
            taken[k] += n;
        }
    }
    for (uint32_t k = 0; k < WEFT_STEP_PEERS; k++)
        if (from[k] && !has_enough_due(from[k], taken[k])) return false;
    return true;
}

void weft__lane_skip(const struct weft__hosts *hosts, struct weft__gpu *gpu, struct weft__program *p, uint32_t stream,
                     uint32_t number, uint64_t steps) {
    struct weft__stream *st = &p->stream[stream];
    struct weft__lane *lane = &st->lane[number];
    for (uint64_t k = 0, n; k < steps; k += n) {
        struct weft_step step;
        bool found = step_at(st, number, lane->index + k, &step);
        assert(found);
        (void)found;
        n = alike_at(st, number, lane->index + k, steps - k);
        struct weft__left_out out = {.k = k, .n = n, .bytes = (uint32_t)step.bytes};
        weft__lane_find_ends(p, stream, &step, lane);
        for (uint32_t i = 0; i < lane->recvs; i++)
            weft__message_skip_taken(gpu, lane->recv[i], out);
        for (uint32_t i = 0; i < lane->sends; i++)
            weft__message_skip_sent(hosts, gpu, lane->send[i], out);
    }
    lane->index += steps;
    lane->found = false; // its current step is another one, which is alike
    lane->watch = NULL;
}
