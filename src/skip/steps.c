// SPDX-License-Identifier: Apache-2.0
// Fast-forward within an operation (docs/fast-forward.md). A ring repeats the same step. While every rank keeps to what
// it did, each ring of lanes (a channel of a group of ranks) is watched: how long its last steps took, and as many
// before them. If they took equally long (run.steady_error), so will those that follow, up to the next change: a ring's
// steps end, a compute ends, something starts. All but the last of these steps are taken over: each lane advances by
// that many steps, and the network stays as it is, with everything in flight. What is in flight then belongs to later
// steps, which are alike (skip/lane_skip.c).
//
// Nothing proves that the network would have been in that state, so this is done only if run.fast_forward is steady.
// The reported error is the difference found, plus how early or late a ring is because it advances by whole periods.
#include "skip/steps.h"

#include <math.h>
#include <string.h>

#include "base/digest.h"
#include "skip/lane_skip.h"

enum {
    LOOK_WINDOWS = 16,      ///< minimum between two checks
    LOOK_WINDOWS_MAX = 256, ///< while there is nothing to watch and ranks have not moved
    LOOK_PART = 32,         ///< of the time for which it has watched
    WHOLE_PART = 16,        ///< of a period: a mark this much later than whole periods is exact enough
    LAST_STEPS = 8,         ///< at least this many steps at the end of a lane are run
    MEMOS = 64,             ///< operations in progress whose pace is known; a power of two
    FULL_STRIDE = 32,       ///< with fewer steps than this, the allowed difference is proportionally smaller
};

/// Lanes that pass data to one another: one for each rank of a group. They advance together.
struct ring {
    uint64_t lanes;
    uint64_t period, end; ///< in steps
    uint64_t left;        ///< steps of the lane with the fewest left, in whole periods
    uint64_t first;       ///< step of its last lane when the mark was taken
    double before, now;   ///< sums over its lanes of the time for `stride` steps: the earlier ones, and the last ones
    uint64_t stride, steps;
    double found; ///< relative difference of an audited stretch, summed
};

/// The result of a skip when ranks did the same before.
struct memo {
    uint64_t kinds[2], stride;  ///< stride 0: none is known
    double *pace;               ///< [rings]: time for its stride, summed over lanes
    uint64_t *period;           ///< [rings]: in steps
    uint64_t *first;            ///< [rings]: step of its last lane when counting began
    double error;               ///< the error found
    struct weft__mark from, to; ///< the counts
};

/// What is to be skipped.
struct plan {
    double time_ps, error;
    double period_ps; ///< period of the slowest ring
};

struct lane_at {
    uint32_t program, stream, number;
    struct weft__program *p;
    struct weft__stream *st;
    struct weft__lane *lane;
    struct ring *ring;
    struct weft__lane_watch *watch;
};

struct weft__steps {
    struct weft__skips *skips;
    struct weft__network *net;
    uint64_t *first; ///< [programs]: its first ring or watch, indexed by the number of its timer
    struct ring *ring;
    uint64_t rings; ///< slots for rings, and for watches
    struct weft__lane_watch *watch;
    int64_t *used; ///< [connections]
    uint32_t connections;
    uint64_t stride; ///< at least one per watched lane
    uint32_t failed; ///< how often the observed steps did not repeat since the ranks do what they do
    struct memo memo[MEMOS];
    struct memo *known; ///< for what is watched; NULL: nothing is known
    double deviation;   ///< of the lane that keeps pace worst, when they were last seen; 1: the allowed deviation
    uint64_t wanted;    ///< how often each lane must be seen
    bool flows;         ///< there are flows other than messages of jobs
    bool watching, auditing;
    struct weft__fingerprint position; ///< positions of programs when the watch began
    struct weft__mark mark;
    weft_time_ps since_ps, mark_ps; ///< by the engine's clock: since when it watches; when the mark was taken
    weft_time_ps due_ps;            ///< a whole number of periods after the mark; never: not known
    uint32_t wait;                  ///< windows to the next check while there is nothing to watch
};

struct weft__steps *weft__steps_new(struct weft__skips *skips) {
    struct weft__network *net = skips->net;
    struct weft_arena *arena = net->arena_qp;
    struct weft__steps *s = weft_arena_alloc(arena, 1, sizeof *s);
    *s = (struct weft__steps){
        .skips = skips, .net = net, .wait = LOOK_WINDOWS, .stride = WEFT__LANE_STRIDE, .due_ps = WEFT_TIME_NEVER};
    uint64_t keys = 0;
    s->first = weft_arena_alloc(arena, net->programs->n, sizeof *s->first);
    for (uint32_t i = 0; i < net->programs->n; i++) {
        s->first[i] = keys;
        keys += net->programs->program[i].keys;
    }
    for (uint32_t j = 0; j < net->workload->jobs; j++)
        s->connections += net->workload->job[j].connections;
    for (uint32_t i = 0; i < net->workload->flows; i++)
        s->flows |= !net->workload->flow[i].messages;
    s->rings = keys;
    s->ring = weft_arena_alloc(arena, keys, sizeof *s->ring);
    s->watch = weft_arena_alloc(arena, keys, sizeof *s->watch);
    s->used = weft_arena_alloc(arena, s->connections, sizeof *s->used);
    net->engine.pause_ps = 0;
    return s;
}

// --- lanes --------------------------------------------------------------------------------------------------------

static struct lane_at lane_of(const struct weft__steps *s, uint32_t program, uint32_t stream, uint32_t number) {
    struct weft__program *p = &s->net->programs->program[program];
    struct weft__stream *st = &p->stream[stream];
    uint32_t head = program - p->rank + weft_job_fellow(st->op, p->rank, st->number, 0);
    uint64_t key = weft__lane_key(p, stream, number);
    return (struct lane_at){
        .program = program,
        .stream = stream,
        .number = number,
        .p = p,
        .st = st,
        .lane = &st->lane[number],
        .ring = &s->ring[s->first[head] + key],
        .watch = &s->watch[s->first[program] + key],
    };
}

/// Calls `what` for each lane that has steps left, until it returns false.
static bool for_lanes(struct weft__steps *s, bool (*what)(struct weft__steps *, const struct lane_at *)) {
    const struct weft__programs *programs = s->net->programs;
    for (uint32_t i = 0; i < programs->n; i++)
        for (uint32_t c = 0; c < programs->program[i].job->communicators; c++) {
            const struct weft__stream *st = &programs->program[i].stream[c];
            uint32_t lanes = st->lanes_left ? st->op->ops->lanes(st->op->conf, &st->op->shape) : 0;
            for (uint32_t k = 0; k < lanes; k++) {
                if (st->lane[k].index >= st->lane[k].steps) continue;
                struct lane_at at = lane_of(s, i, c, k);
                if (!what(s, &at)) return false;
            }
        }
    return true;
}

/// What every rank does, except for the steps that its lanes are at.
static struct weft__fingerprint position_of(const struct weft__steps *s) {
    struct weft__fingerprint position = {0};
    struct weft__tally tally = weft__engine_tally(&s->net->engine);
    weft__fingerprint_mix(&position, tally.started);
    weft__fingerprint_mix(&position, tally.finished);
    for (uint32_t i = 0; i < s->net->programs->n; i++) {
        const struct weft__program *p = &s->net->programs->program[i];
        weft__fingerprint_mix(&position, (uint64_t)p->iteration << 32 | p->turn);
        weft__fingerprint_mix(&position, (uint64_t)p->computed << 32 | p->waits_for);
        for (uint32_t c = 0; c < p->job->communicators; c++) {
            weft__fingerprint_mix(&position, (uint64_t)p->stream[c].queued << 32 | p->stream[c].finished);
            weft__fingerprint_mix(&position, p->stream[c].lanes_left);
        }
    }
    return position;
}

static bool is_same_position(const struct weft__fingerprint *a, const struct weft__fingerprint *b) {
    return a->all[0] == b->all[0] && a->all[1] == b->all[1];
}

/// The kinds of operation that every rank performs.
static struct weft__fingerprint kinds_of(const struct weft__steps *s) {
    struct weft__fingerprint kinds = {0};
    for (uint32_t i = 0; i < s->net->programs->n; i++) {
        const struct weft__program *p = &s->net->programs->program[i];
        weft__fingerprint_mix(&kinds, (uint64_t)p->computed << 32 | p->waits_for);
        for (uint32_t c = 0; c < p->job->communicators; c++) {
            const struct weft__stream *st = &p->stream[c];
            if (st->lanes_left) weft__fingerprint_mix(&kinds, (uint64_t)p->kind[st->op - p->job->op] << 32 | st->part);
            weft__fingerprint_mix(&kinds, st->lanes_left);
        }
    }
    return kinds;
}

static struct memo *memo_of(struct weft__steps *s, const struct weft__fingerprint *kinds) {
    return &s->memo[kinds->all[0] & (MEMOS - 1)];
}

/// What is known of the ranks' operations, if they were skipped before.
static struct memo *find_memo(struct weft__steps *s) {
    struct weft__fingerprint kinds = kinds_of(s);
    struct memo *m = memo_of(s, &kinds);
    return m->stride && m->kinds[0] == kinds.all[0] && m->kinds[1] == kinds.all[1] ? m : NULL;
}

/// Makes room for what becomes known of those kinds; earlier knowledge is discarded.
static struct memo *memo_anew(struct weft__steps *s, const struct weft__fingerprint *kinds) {
    struct memo *m = memo_of(s, kinds);
    if (!m->pace) {
        m->pace = weft_arena_alloc(s->net->arena_qp, s->rings, sizeof *m->pace);
        m->period = weft_arena_alloc(s->net->arena_qp, s->rings, sizeof *m->period);
        m->first = weft_arena_alloc(s->net->arena_qp, s->rings, sizeof *m->first);
    }
    weft__mark_free(&m->from);
    weft__mark_free(&m->to);
    m->kinds[0] = kinds->all[0];
    m->kinds[1] = kinds->all[1];
    return m;
}

/// Also keeps what was counted since the mark.
static const struct memo *remember_plan(struct weft__steps *s, const struct plan *plan, weft_time_ps now) {
    struct weft__fingerprint kinds = kinds_of(s);
    struct memo *m = memo_anew(s, &kinds);
    for (uint64_t i = 0; i < s->rings; i++) {
        m->pace[i] = s->ring[i].lanes ? s->ring[i].now : 0;
        m->first[i] = s->ring[i].first;
        m->period[i] = s->ring[i].period;
    }
    m->stride = s->stride;
    m->error = plan->error;
    m->from = s->mark;
    s->mark = (struct weft__mark){0};
    weft__mark_take(s->skips, now, &m->to);
    return m;
}

// --- watching -----------------------------------------------------------------------------------------------------

/// Whether there are enough equal steps to watch some and skip the rest.
static bool may_watch(struct weft__steps *s, const struct lane_at *at) {
    struct ring *ring = at->ring;
    if (!ring->lanes++) {
        ring->period = weft__lane_period(at->st, at->number, &ring->end);
        if (!ring->period) return false;
        ring->stride = (s->stride + ring->period - 1) / ring->period * ring->period;
    }
    return at->lane->index + (WEFT__LANE_SEEN + 1) * ring->stride + LAST_STEPS < ring->end;
}

static bool watch_lane(struct weft__steps *s, const struct lane_at *at) {
    *at->watch = (struct weft__lane_watch){.next = at->lane->index + 1, .stride = at->ring->stride};
    at->lane->watch = at->watch;
    return true;
}

static bool watch_no_more(struct weft__steps *s, const struct lane_at *at) {
    at->lane->watch = NULL;
    return true;
}

static void stop_watching(struct weft__steps *s) {
    s->skips->outcome->dropped += s->auditing;
    for_lanes(s, watch_no_more);
    weft__mark_free(&s->mark);
    s->due_ps = WEFT_TIME_NEVER;
    s->watching = s->auditing = false;
}

/// Whether a flow other than a job's message is in progress.
static bool has_flows(const struct weft__steps *s) {
    const struct weft__network *net = s->net;
    for (uint32_t q = 0; q < net->qps && s->flows; q++) {
        uint32_t flow = net->qp[q].flow;
        bool ended = net->outcome->flow[flow].end_ps != WEFT_TIME_NEVER;
        if (!net->workload->flow[flow].messages && net->hosts.sender[q].started && !ended) return true;
    }
    return false;
}

static bool has_lane(struct weft__steps *s, const struct lane_at *at) {
    return false;
}

static void begin_to_watch(struct weft__steps *s, weft_time_ps now) {
    if (for_lanes(s, has_lane) || has_flows(s)) return;
    struct weft__fingerprint position = position_of(s);
    if (!is_same_position(&position, &s->position)) {
        s->stride = WEFT__LANE_STRIDE;
        s->failed = 0;
        s->wait = LOOK_WINDOWS;
        s->position = position;
    }
    memset(s->ring, 0, s->rings * sizeof *s->ring);
    s->known = s->failed || s->skips->audits ? NULL : find_memo(s);
    if (s->known) s->stride = s->known->stride;
    if (!for_lanes(s, may_watch)) return;
    for (uint64_t i = 0; s->known && i < s->rings; i++) // at the end of an operation, steps differ
        if (s->ring[i].period != s->known->period[i]) s->known = NULL;
    for_lanes(s, watch_lane);
    s->since_ps = now;
    s->wanted = WEFT__LANE_SEEN;
    s->deviation = INFINITY;
    s->watching = true;
}

// --- whether ------------------------------------------------------------------------------------------------------

static bool has_seen_first(struct weft__steps *s, const struct lane_at *at) {
    return at->watch->seen > 0;
}

static bool has_seen_all(struct weft__steps *s, const struct lane_at *at) {
    return at->watch->seen >= s->wanted;
}

static bool has_come_so_far(struct weft__steps *s, const struct lane_at *at) {
    return at->lane->index >= s->known->first[at->ring - s->ring];
}

static bool find_first(struct weft__steps *s, const struct lane_at *at) {
    if (at->lane->index < at->ring->first) at->ring->first = at->lane->index;
    return true;
}

static void take_mark(struct weft__steps *s, weft_time_ps now) {
    weft__mark_take(s->skips, now, &s->mark);
    s->mark_ps = now;
    for (uint64_t i = 0; i < s->rings; i++)
        s->ring[i].first = UINT64_MAX;
    for_lanes(s, find_first);
}

static bool reset_sums(struct weft__steps *s, const struct lane_at *at) {
    at->ring->now = at->ring->before = at->ring->found = 0;
    at->ring->left = UINT64_MAX;
    return true;
}

/// A lasting difference adds up, and over few steps it may be hidden.
static double error_allowed(const struct weft__steps *s, const struct ring *ring) {
    double evidence = (double)ring->stride / FULL_STRIDE;
    return s->net->scenario->run.steady_error * (evidence < 1 ? evidence : 1);
}

/// When it was last seen, `back` strides ago.
static weft_time_ps seen_at(const struct weft__lane_watch *w, uint32_t back) {
    return w->seen_ps[(w->seen - 1 - back) % WEFT__LANE_SEEN];
}

static bool sum_left(struct weft__steps *s, const struct lane_at *at) {
    struct ring *ring = at->ring;
    uint64_t end = at->lane->index + LAST_STEPS, left = ring->end > end ? ring->end - end : 0;
    left = left / ring->period * ring->period;
    if (left < ring->left) ring->left = left;
    return true;
}

static bool sum_lane(struct weft__steps *s, const struct lane_at *at) {
    struct ring *ring = at->ring;
    sum_left(s, at);
    ring->now += (double)(seen_at(at->watch, 0) - seen_at(at->watch, 1));
    ring->before += (double)(seen_at(at->watch, 1) - seen_at(at->watch, 2));
    return true;
}

/// A lane that does not keep pace with its ring approaches others or falls behind: what follows will differ.
static bool measure_pace(struct weft__steps *s, const struct lane_at *at) {
    struct ring *ring = at->ring;
    double mean = ring->now / (double)ring->lanes, most = error_allowed(s, ring) * mean;
    for (uint32_t k = 0; k < 2; k++) {
        double deviation = fabs((double)(seen_at(at->watch, k) - seen_at(at->watch, k + 1)) - mean) / most;
        if (deviation > s->deviation) s->deviation = deviation;
    }
    return true;
}

/// When the first compute ends.
static weft_time_ps next_compute(const struct weft__steps *s) {
    weft_time_ps next = WEFT_TIME_NEVER;
    for (uint32_t i = 0; i < s->net->programs->n; i++) {
        const struct weft__program *p = &s->net->programs->program[i];
        if (!p->started || p->compute_speed <= 0) continue;
        const struct weft__node *node = &s->net->engine.node[s->net->programs->node[p->job->host[p->rank]]];
        weft_time_ps at = weft__timer_at(&node->timers, p->key0);
        if (at < next) next = at;
    }
    return next;
}

/// The time of one step of the ring.
static double step_ps(const struct ring *ring) {
    return ring->now / (double)(ring->lanes * ring->stride);
}

/// Limits the plan to what the ring allows. False: its steps do not take as long as the earlier ones.
static bool bound_time(struct plan *plan, const struct ring *ring, double error) {
    double difference = fabs(ring->now - ring->before) / ring->now, time = (double)ring->left * step_ps(ring);
    if (difference > plan->error) plan->error = difference;
    if (time < plan->time_ps) plan->time_ps = time;
    return difference <= error;
}

/// The number of whole periods closest to the time. False: none is close enough.
static bool count_steps(struct plan *plan, struct ring *ring, double steady_error) {
    double periods = floor(plan->time_ps / (step_ps(ring) * (double)ring->period) + 0.5);
    ring->steps = (uint64_t)periods * ring->period;
    if (ring->steps > ring->left) ring->steps = ring->left;
    double difference = fabs((double)ring->steps * step_ps(ring) - plan->time_ps) / plan->time_ps;
    if (difference > plan->error) plan->error = difference;
    return ring->steps && difference <= steady_error;
}

/// The longest time, whole picoseconds and whole periods, that all rings allow and nothing else disturbs; a ring may
/// fall short of it by a small part of a period. False: there is none.
static bool make_plan(struct weft__steps *s, weft_time_ps now, struct plan *ret) {
    double steady_error = s->net->scenario->run.steady_error;
    weft_time_ps start = weft__skips_next_start(s->skips), compute = next_compute(s);
    weft_time_ps next = start < compute ? start : compute;
    double most = next > now ? (double)(next - 1 - now) : 0;
    struct plan plan = {.time_ps = INFINITY};
    const struct ring *slowest = NULL;
    for (uint64_t i = 0; i < s->rings; i++) {
        if (!s->ring[i].lanes) continue;
        if (!bound_time(&plan, &s->ring[i], error_allowed(s, &s->ring[i]))) return false;
        if (!slowest || step_ps(&s->ring[i]) > step_ps(slowest)) slowest = &s->ring[i];
    }
    plan.period_ps = step_ps(slowest) * (double)slowest->period;
    double periods = fmin(plan.time_ps / plan.period_ps + 1. / WHOLE_PART, most / plan.period_ps);
    plan.time_ps = floor(floor(periods) * plan.period_ps);
    // Skip only if it saves more time than finding it took.
    if (plan.time_ps < (double)(now - s->since_ps)) return false;
    for (uint64_t i = 0; i < s->rings; i++)
        if (s->ring[i].lanes && !count_steps(&plan, &s->ring[i], steady_error)) return false;
    *ret = plan;
    return true;
}

static bool may_skip(struct weft__steps *s, const struct lane_at *at) {
    return weft__lane_may_skip(at->p, at->stream, at->number, at->ring->period, at->ring->steps, s->used);
}

/// Whether both ends of each connection skip the same number of messages.
static bool ends_agree(struct weft__steps *s) {
    for (uint32_t i = 0; i < s->connections; i++)
        s->used[i] = 0;
    if (!for_lanes(s, may_skip)) return false;
    for (uint32_t i = 0; i < s->connections; i++)
        if (s->used[i]) return false;
    return true;
}

// --- what is skipped ----------------------------------------------------------------------------------------------

static bool skip_lane(struct weft__steps *s, const struct lane_at *at) {
    struct weft__gpu *gpu = s->net->gpu[at->p->job->host[at->p->rank]];
    s->skips->outcome->steps += at->ring->steps;
    weft__lane_skip(&s->net->hosts, gpu, at->p, at->stream, at->number, at->ring->steps);
    return true;
}

/// What was counted since the mark continues at the same rate.
static void skip_plan(struct weft__steps *s, const struct plan *plan, const struct weft__mark *mark,
                      weft_time_ps counted) {
    struct weft__network *net = s->net;
    weft_time_ps time = (weft_time_ps)plan->time_ps;
    weft__skips_repeat(s->skips, mark, (struct weft__ratio){time, counted});
    for_lanes(s, skip_lane);
    for (uint32_t i = 0; i < net->programs->n; i++) {
        struct weft__program *p = &net->programs->program[i];
        uint32_t node = net->programs->node[p->job->host[p->rank]];
        weft__program_pass(p, &net->engine.node[node].timers, time, s->skips->skipped_ps);
    }
    weft__skips_pass(s->skips, time); // also reschedules the hosts' nodes
    if (plan->error > s->skips->outcome->error) s->skips->outcome->error = plan->error;
    stop_watching(s);
}

// --- audits -------------------------------------------------------------------------------------------------------

static bool foretell_lane(struct weft__steps *s, const struct lane_at *at) {
    double time = (double)at->ring->steps * step_ps(at->ring);
    uint64_t last = at->watch->next - at->watch->stride;
    *at->watch = (struct weft__lane_watch){
        .next = last + at->ring->steps,
        .stride = UINT64_MAX / 2,
        .foretold_ps = (double)seen_at(at->watch, 0) + time,
    };
    return true;
}

static bool compare_lane(struct weft__steps *s, const struct lane_at *at) {
    double time = (double)at->ring->steps * step_ps(at->ring);
    at->ring->found += ((double)at->watch->seen_ps[0] - at->watch->foretold_ps) / time / (double)at->ring->lanes;
    return true;
}

/// All lanes have reached the end of the audited stretch.
static void judge_audit(struct weft__steps *s) {
    double largest = 0;
    for_lanes(s, reset_sums);
    for_lanes(s, compare_lane);
    for (uint64_t i = 0; i < s->rings; i++)
        if (s->ring[i].lanes && fabs(s->ring[i].found) > largest) largest = fabs(s->ring[i].found);
    weft__skips_judge(s->skips, largest);
    s->auditing = false;
    stop_watching(s);
}

// --- looking ------------------------------------------------------------------------------------------------------

/// Ranks do what they did before, and have come as far as when counting began then: the pace found then holds, and so
/// do the counts. True: it was skipped.
static bool skip_known(struct weft__steps *s, weft_time_ps now) {
    const struct memo *m = s->known;
    struct plan plan;
    if (!m || !for_lanes(s, has_come_so_far)) return false;
    s->known = NULL; // if it cannot be skipped, it is watched like any other stretch
    for_lanes(s, reset_sums);
    for_lanes(s, sum_left);
    for (uint64_t i = 0; i < s->rings; i++)
        s->ring[i].now = s->ring[i].before = m->pace[i];
    s->since_ps = now; // it cost nothing to find
    if (!make_plan(s, now, &plan) || !ends_agree(s)) return false;
    if (m->error > plan.error) plan.error = m->error;
    struct weft__mark mark;
    weft__mark_take_again(s->skips, now, &m->from, &m->to, &mark);
    skip_plan(s, &plan, &mark, m->to.time_ps - m->from.time_ps);
    weft__mark_free(&mark);
    return true;
}

/// Lanes do not keep pace. While they approach it fast, they are watched on, and counting starts again. Otherwise once
/// more, in case it only has to settle; after that over more steps, among which changes even out.
static void watch_longer(struct weft__steps *s, double before, weft_time_ps now) {
    if (s->deviation > 1 && s->deviation < before / 2) {
        weft__mark_free(&s->mark);
        take_mark(s, now);
        s->wanted++;
        return;
    }
    stop_watching(s);
    if (s->failed++ % 2) s->stride *= 2;
}

/// All lanes have been seen often enough: skips what follows once a whole number of periods has passed since the mark,
/// or watches on.
static void decide_skip(struct weft__steps *s, weft_time_ps now) {
    struct plan plan;
    double before = s->deviation;
    s->deviation = 0;
    for_lanes(s, reset_sums);
    for_lanes(s, sum_lane);
    for_lanes(s, measure_pace);
    if (s->deviation > 1 || !make_plan(s, now, &plan) || !ends_agree(s)) {
        watch_longer(s, before, now);
        return;
    }
    if (s->due_ps == WEFT_TIME_NEVER) {
        double periods = ceil((double)(now - s->mark_ps) / plan.period_ps - 1. / WHOLE_PART);
        s->due_ps = s->mark_ps + (weft_time_ps)(periods * plan.period_ps);
        if (s->due_ps > now) return;
    }
    if (!s->skips->audits) {
        skip_plan(s, &plan, &remember_plan(s, &plan, now)->from, now - s->mark_ps);
        return;
    }
    s->skips->audits--;
    for_lanes(s, foretell_lane);
    s->auditing = true;
}

static void watch_on(struct weft__steps *s, weft_time_ps now) {
    struct weft__fingerprint position = position_of(s);
    if (!is_same_position(&position, &s->position)) {
        stop_watching(s);
        return;
    }
    if (s->auditing) {
        if (for_lanes(s, has_seen_first)) judge_audit(s);
        return;
    }
    if (skip_known(s, now)) return;
    bool begins = !s->mark.arena && for_lanes(s, has_seen_first);
    if (begins) take_mark(s, now);
    bool due = s->due_ps == WEFT_TIME_NEVER || now >= s->due_ps;
    if (!begins && due && for_lanes(s, has_seen_all)) decide_skip(s, now);
}

/// When to check again.
static weft_time_ps next_look(struct weft__steps *s, weft_time_ps now) {
    weft_time_ps window = s->net->engine.conf.window_ps;
    if (!s->watching) {
        weft_time_ps next = now + s->wait * window;
        if (s->wait < LOOK_WINDOWS_MAX) s->wait *= 2;
        return next;
    }
    s->wait = LOOK_WINDOWS;
    weft_time_ps part = (now - s->since_ps) / LOOK_PART, least = LOOK_WINDOWS * window;
    weft_time_ps next = now + (part > least ? part : least);
    return s->due_ps > now && s->due_ps < next ? s->due_ps : next;
}

weft_time_ps weft__steps_look(struct weft__steps *s) {
    weft_time_ps now = s->net->engine.next_ps;
    if (s->watching) watch_on(s, now);
    if (!s->watching) begin_to_watch(s, now);
    if (s->watching) skip_known(s, now);
    return next_look(s, now);
}

void weft__steps_end(struct weft__steps *s) {
    stop_watching(s);
    for (uint32_t i = 0; i < MEMOS; i++) {
        weft__mark_free(&s->memo[i].from);
        weft__mark_free(&s->memo[i].to);
    }
}
