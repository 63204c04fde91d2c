// SPDX-License-Identifier: Apache-2.0
// Fast-forward (docs/fast-forward.md). A job repeats its iterations, and within an iteration its layers and
// microbatches: sequences of operations of the same kinds. Once per iteration, and once each time that operations
// repeat, when no packet is in flight, the engine rests. Then everything that determines the network's future is
// compared with its state one period earlier: an iteration, or a few operations.
//
// exact: the numbers of base/digest.h are equal, so what follows is what followed then: every event, one period
// later. A whole number of periods is taken over: the engine's clock stands still, positions of programs move on, and
// what the period noted and counted is noted and counted again. Times noted afterwards are later than the engine's
// clock by the skipped time. Results equal those of a run without fast-forward, bit by bit.
//
// steady: the programs are at the same positions, and two successive periods took about as long (run.steady_error);
// queue pairs may have changed their rates. The last period is taken over; the difference is the estimate of the error.
//
// Source: the idea that recurring work need not be run is from Wormhole (NSDI 2026), which skips flows at a steady rate
// and remembers sets of flows. Here the recurring unit is an iteration of a job, and exact mode is provably exact.
#include "skip/fast_forward.h"

#include <assert.h>
#include <string.h>

#include "box/box.h"
#include "skip/coast.h"
#include "skip/steps.h"
#include "transport/program.h"
#include "weft/memory.h"
#include "weft/ranks.h"

enum {
    MARKS = 3,        ///< kept, so a period may be two iterations
    POSITIONS = 1024, ///< remembered positions; a power of two
    LATER_MAX = 8,    ///< windows
    MISSES_FREE = 4,  ///< periods in a row that differ; after these, fewer of them are compared
    MISSES_MAX = 12,  ///< counted
};

/// Positions of the programs when the network was at rest, indexed by the low bits of their digest.
struct position {
    uint64_t all[2];
    weft_time_ps time_ps[4]; ///< when, latest first; 0: never
    uint64_t at, period;     ///< the tracker's count at that time, and since the previous time at this position
};

/// The complete state when the network was at rest.
struct mark {
    struct weft__mark counted; ///< arena NULL: none
    struct weft__fingerprint fingerprint;
    uint64_t at;
};

/// What repeats. It counts iterations, or turns (struct weft_job_stage) within one, of the first unfinished job.
struct tracker {
    struct weft__skips *skips;
    bool within;
    const struct weft__program *first; ///< the first program of that job
    uint32_t iteration;                ///< within: the iteration that the positions belong to
    struct mark mark[MARKS];           ///< latest first, all with the programs at `target`
    struct position *position;         ///< [POSITIONS]; NULL: nothing repeats
    const struct position *target;     ///< NULL: no position has recurred
    uint32_t misses, pass;             ///< pass: how many more times to pass the target before comparing
    uint64_t audit_until;              ///< the count at which an audit ends; 0: none
    weft_time_ps foretold_ps;
};
enum { ITERATIONS, WITHIN, TRACKERS };

struct weft__fast_forward {
    struct weft__network *net;
    struct weft_fast_forward_outcome *outcome;
    struct weft__skips skips;
    struct weft__steps *steps; ///< NULL: nothing within operations is skipped
    struct weft__coast *coast; ///< for flows that belong to no job; NULL: there is a job, or all flows are run
    bool exact, over;          ///< over: nothing more can be skipped
    struct tracker tracker[TRACKERS];
    uint32_t later; ///< windows until the next check
};

// --- marks --------------------------------------------------------------------------------------------------------

static void mark_free(struct mark *m) {
    weft__mark_free(&m->counted);
    *m = (struct mark){0};
}

/// Takes the state of all nodes; else returns why it cannot be told.
static const char *take_fingerprint(const struct weft__network *net, struct weft__fingerprint *ret) {
    for (uint32_t i = 0; i < net->topology->nodes; i++) {
        const struct weft__box *box = weft__box_of(&net->topology->node[i]);
        const char *refused = box->fingerprint(net, i, ret);
        if (refused) return refused;
    }
    return NULL;
}

// --- what is skipped ----------------------------------------------------------------------------------------------

/// Bytes are counted in whole iterations.
static void repeat_bytes(struct weft__network *net, const struct weft__mark *before, uint32_t times) {
    for (uint32_t q = 0; q < net->qps; q++) {
        weft_bytes *delivered = &net->hosts.receiver[q].delivered_bytes;
        *delivered += times * (*delivered - before->delivered[q]);
    }
    for (uint32_t h = 0; h < net->topology->hosts; h++) {
        if (!net->gpu[h]) continue;
        net->gpu[h]->sent_bytes += times * (net->gpu[h]->sent_bytes - before->server[2 * h]);
        net->gpu[h]->received_bytes += times * (net->gpu[h]->received_bytes - before->server[2 * h + 1]);
    }
}

/// Checks for lost messages come nearer by that time.
static void pass_looks(struct weft__network *net, weft_time_ps time) {
    for (uint32_t i = 0; i < net->topology->nodes; i++) {
        const struct weft__box *box = weft__box_of(&net->topology->node[i]);
        if (box->pass_looks) box->pass_looks(net, i, time);
    }
}

static void skip_stretch(struct weft__fast_forward *f, const struct weft__mark *before, const struct weft__mark *now,
                         uint32_t times) {
    struct weft__network *net = f->net;
    assert(times && before->time_ps < now->time_ps);
    struct weft__stretch stretch = {before->time_ps, now->time_ps, f->skips.skipped_ps, times};
    for (uint32_t i = 0; i < net->programs->n; i++) {
        struct weft__program *p = &net->programs->program[i];
        uint32_t iterations = p->iteration - before->program[i].iteration;
        if (!p->rank) f->outcome->iterations += (uint64_t)times * iterations;
        if (!p->rank && !iterations) f->outcome->operations += (uint64_t)times * (p->turn - before->program[i].turn);
        weft__program_skip(p, &before->program[i], &stretch);
    }
    repeat_bytes(net, before, times);
    weft__skips_repeat(&f->skips, before, (struct weft__ratio){times, 1});
    weft__skips_pass(&f->skips, times * (now->time_ps - before->time_ps));
}

// --- whether, and how much ----------------------------------------------------------------------------------------

/// What may be repeated: from that mark to the last one.
struct found {
    const struct mark *before; ///< the first mark of the stretch
    double error;
    bool keeps_looks; ///< checks for lost messages are not periodic, so none may be due in it
};

/// How many times it may be repeated: the end of each job is always run.
static uint32_t count_times(const struct weft__fast_forward *f, const struct found *found, const struct mark *now) {
    const struct weft__network *net = f->net;
    const struct mark *before = found->before;
    weft_time_ps period = now->counted.time_ps - before->counted.time_ps, next = weft__skips_next_start(&f->skips);
    if (found->keeps_looks && now->fingerprint.looks_ps && now->fingerprint.looks_ps < next)
        next = now->fingerprint.looks_ps;
    assert(period); // marks are at different times
    uint64_t times = next > now->fingerprint.now_ps ? (next - 1 - now->fingerprint.now_ps) / period : 0;
    bool moves = false;
    for (uint32_t i = 0; i < net->programs->n; i++) {
        const struct weft__program *p = &net->programs->program[i];
        const struct weft__program *first = p - p->rank;
        uint32_t moved = p->iteration - before->counted.program[i].iteration;
        if (moved != first->iteration - before->counted.program[i - p->rank].iteration) return 0;
        moves |= p->started && !p->done;
        uint64_t own = weft__program_skips_max(p, &before->counted.program[i]);
        if (own < times) times = own;
    }
    return moves ? (uint32_t)(times < UINT32_MAX ? times : UINT32_MAX) : 0;
}

static bool is_same(const uint64_t a[2], const uint64_t b[2]) {
    return a[0] == b[0] && a[1] == b[1];
}

static bool is_same_position(const struct position *p, const struct weft__fingerprint *programs) {
    return p->time_ps[0] && is_same(p->all, programs->all);
}

/// A transport that waits at least a whole period before it acts does not retransmit within one, whenever it checks.
static weft_time_ps least_patience(const struct weft__network *net) {
    weft_time_ps least = WEFT_TIME_NEVER;
    for (uint32_t i = 0; i < net->topology->nodes; i++) {
        const struct weft__box *box = weft__box_of(&net->topology->node[i]);
        weft_time_ps own = box->patience ? box->patience(net->device[i]) : WEFT_TIME_NEVER;
        if (own < least) least = own;
    }
    return least;
}

/// Whether each connection that waits for a message has received one since the mark.
static bool waits_in_turn(const struct weft__network *net, const struct weft__mark *before) {
    for (uint32_t i = 0; i < net->programs->n; i++) {
        const struct weft__program *p = &net->programs->program[i];
        for (uint32_t k = 0; k < p->receivings; k++)
            if (p->receiving[k].qp != WEFT_NONE && !p->job->unadmitted &&
                p->receiving[k].posted != p->receiving[k].arrived &&
                p->receiving[k].left_bytes == before->program[i].left_bytes[p->sendings + k])
                return false;
    }
    return true;
}

/// Everything that follows is periodic, except perhaps checks for lost messages. Those must be periodic too; or no wait
/// in an iteration is long enough, and only iterations follow; or, if other operations follow a part of an iteration,
/// they are kept.
static bool repeats_exactly(const struct weft__fast_forward *f, const struct tracker *t, const struct mark *before,
                            const struct mark *now, bool *ret_keeps_looks) {
    const struct weft__fingerprint *a = &before->fingerprint, *b = &now->fingerprint;
    *ret_keeps_looks = false;
    if (!is_same(a->all, b->all) || !(t->within || is_same(a->within, b->within))) return false;
    weft_time_ps period = now->counted.time_ps - before->counted.time_ps;
    if (is_same(a->looks, b->looks)) return true;
    if (!t->within) return waits_in_turn(f->net, &before->counted) && period < least_patience(f->net);
    return *ret_keeps_looks = is_same(a->kept, b->kept);
}

/// This stretch and the previous one took about as long; if congestion, which may be rare, occurred in it, so did the
/// one before. ret->error: the largest difference of any two.
static bool repeats_steadily(const struct weft__fast_forward *f, const struct tracker *t, struct found *ret) {
    const weft_time_ps *time = t->target->time_ps;
    uint32_t periods = weft__skips_met_congestion(&f->skips, &t->mark[1].counted) ? 3 : 2;
    weft_time_ps least = WEFT_TIME_NEVER, most = 0;
    for (uint32_t k = 0; k < periods; k++) {
        if (!time[k + 1]) return false;
        weft_time_ps period = time[k] - time[k + 1];
        if (period < least) least = period;
        if (period > most) most = period;
    }
    ret->error = weft__skips_difference(most, least);
    return ret->error <= f->net->scenario->run.steady_error;
}

static struct found find_stretch(const struct weft__fast_forward *f, const struct tracker *t) {
    struct found found = {0};
    for (uint32_t k = 1; f->exact && k < MARKS && t->mark[k].counted.arena; k++)
        if (repeats_exactly(f, t, &t->mark[k], &t->mark[0], &found.keeps_looks)) {
            found.before = &t->mark[k];
            return found;
        }
    if (!f->exact && t->mark[1].counted.arena && repeats_steadily(f, t, &found)) found.before = &t->mark[1];
    return found;
}

/// Mixes in the positions of the programs, independent of the network's state.
static void mix_programs(const struct weft__network *net, struct weft__fingerprint *ret) {
    for (uint32_t h = 0; h < net->topology->hosts; h++)
        if (net->gpu[h]) weft__programs_fingerprint(net->programs, net->gpu[h], ret);
}

/// The first program of the first unfinished job; NULL: all jobs are finished.
static const struct weft__program *first_program(const struct weft__network *net) {
    for (uint32_t i = 0; i < net->programs->n; i++)
        if (!net->programs->program[i].done) return &net->programs->program[i];
    return NULL;
}

static void forget_marks(struct tracker *t) {
    for (uint32_t k = 0; k < MARKS; k++)
        mark_free(&t->mark[k]);
}

/// The target's prediction can no longer be judged.
static void drop_target(struct tracker *t) {
    t->target = NULL;
    t->skips->outcome->dropped += t->audit_until > 0;
    t->audit_until = 0;
}

static void start_anew(struct tracker *t) {
    forget_marks(t);
    drop_target(t);
    t->pass = 0;
    memset(t->position, 0, POSITIONS * sizeof *t->position);
}

/// An audited stretch has been run: how far was the prediction off?
static void judge_audit(struct weft__fast_forward *f, struct tracker *t, weft_time_ps now) {
    weft__skips_judge(&f->skips, weft__skips_difference(t->foretold_ps, now));
    t->audit_until = 0;
    forget_marks(t);
}

static bool is_auditing(const struct weft__fast_forward *f) {
    return f->tracker[ITERATIONS].audit_until || f->tracker[WITHIN].audit_until;
}

/// Whether to take a mark here: the programs have been at this position before, at another count.
/// Of such positions one is the target, until it stops recurring.
static bool find_position(struct tracker *t, const struct weft__fingerprint *programs, uint64_t at, weft_time_ps now) {
    struct position *p = &t->position[programs->all[0] & (POSITIONS - 1)];
    bool again = is_same_position(p, programs) && p->at != at;
    if (t->target && t->target->at + 2 * t->target->period < at) drop_target(t); // it has stopped recurring
    if (is_same_position(p, programs) && !again) return false;
    if (t->target == p && !again) drop_target(t); // displaced
    if (!again) *p = (struct position){.all = {programs->all[0], programs->all[1]}};
    memmove(&p->time_ps[1], p->time_ps, 3 * sizeof *p->time_ps);
    p->time_ps[0] = now;
    p->period = at - p->at;
    p->at = at;
    if (again && !t->target) {
        t->target = p;
        t->pass = 0;
        forget_marks(t);
    }
    return again && t->target == p;
}

/// The compared states differed, so compare most later ones no more. (An iteration takes longer than the comparison.)
static void note_miss(struct tracker *t) {
    if (!t->within) return;
    if (t->misses < MISSES_MAX) t->misses++;
    if (t->misses <= MISSES_FREE) return;
    t->pass = 1u << (t->misses - MISSES_FREE);
    forget_marks(t);
}

/// Saves the complete state, before the existing marks. False: the state cannot be told.
static bool take_mark(struct weft__fast_forward *f, struct tracker *t, uint64_t at, weft_time_ps now) {
    struct mark next = {.fingerprint = {.now_ps = now}, .at = at};
    if (f->exact) f->outcome->refused = take_fingerprint(f->net, &next.fingerprint);
    f->over = f->outcome->refused != NULL;
    if (f->over) return false;
    weft__mark_take(&f->skips, now, &next.counted);
    mark_free(&t->mark[MARKS - 1]);
    memmove(&t->mark[1], &t->mark[0], (MARKS - 1) * sizeof *t->mark);
    t->mark[0] = next;
    return true;
}

/// The programs are at the tracker's target. True: something was skipped, so they no longer are.
static bool compare_marks(struct weft__fast_forward *f, struct tracker *t, uint64_t at, weft_time_ps now) {
    if (!take_mark(f, t, at, now)) return false;
    struct found found = find_stretch(f, t);
    if (!found.before && t->mark[f->exact ? 1 : 2].counted.arena) note_miss(t);
    uint32_t times = found.before ? count_times(f, &found, &t->mark[0]) : 0;
    if (!times) return false;
    t->misses = 0;
    if (f->skips.audits) {
        weft_time_ps true_now = t->mark[0].counted.time_ps;
        f->skips.audits--;
        t->audit_until = at + times * (at - found.before->at);
        t->foretold_ps = true_now + times * (true_now - found.before->counted.time_ps);
        return false;
    }
    if (found.error > f->outcome->error) f->outcome->error = found.error;
    skip_stretch(f, &found.before->counted, &t->mark[0].counted, times);
    if (found.keeps_looks) pass_looks(f->net, times * (t->mark[0].counted.time_ps - found.before->counted.time_ps));
    return true;
}

static bool look_at_tracker(struct weft__fast_forward *f, struct tracker *t, const struct weft__fingerprint *programs,
                            weft_time_ps now) {
    const struct weft__program *first = first_program(f->net);
    weft_time_ps true_now = now + f->skips.skipped_ps;
    uint64_t at = t->within ? (uint64_t)first->iteration << 32 | first->turn : first->iteration;
    if (t->first != first || (t->within && t->iteration != first->iteration)) start_anew(t);
    t->first = first;
    t->iteration = first->iteration;
    bool here = find_position(t, programs, at, true_now);
    if (t->audit_until && here && at >= t->audit_until) judge_audit(f, t, true_now);
    if (is_auditing(f) || !here) return false;
    if (!t->pass) return compare_marks(f, t, at, now);
    t->pass--;
    return false;
}

/// The network is at rest.
static void rest_network(struct weft__fast_forward *f) {
    struct weft__network *net = f->net;
    if (f->over || !first_program(net) || !weft__engine_is_empty(&net->engine)) return;
    weft_time_ps now = weft__engine_tally(&net->engine).last_ps;
    struct weft__fingerprint within = {.now_ps = now}, all;
    mix_programs(net, &within);
    all = within;
    for (uint32_t k = 0; k < 2; k++)
        weft__fingerprint_mix(&all, within.within[k]);
    if (look_at_tracker(f, &f->tracker[ITERATIONS], &all, now)) {
        start_anew(&f->tracker[ITERATIONS]);
        if (f->tracker[WITHIN].position) start_anew(&f->tracker[WITHIN]);
    } else if (!f->over && f->tracker[WITHIN].position && look_at_tracker(f, &f->tracker[WITHIN], &within, now)) {
        start_anew(&f->tracker[WITHIN]); // an iteration remains one, including what was skipped of it
    }
}

// --- a run --------------------------------------------------------------------------------------------------------

/// The first node of which something is drawn that no later stretch repeats; NULL: none.
static const char *find_jitter(const struct weft__network *net) {
    for (uint32_t i = 0; i < net->topology->nodes; i++) {
        bool host = net->topology->node[i].role == WEFT_NODE_HOST;
        const struct weft_device_conf *d = net->device[i];
        if (host ? weft_host_jitters(&d->host) : d->sw.clock_ppm > 0) return net->topology->node[i].name;
    }
    return NULL;
}

/// steady mode compares times, and boxes stay as they are: it only requires that their counts can be added again.
static const char *refuse_boxes(const struct weft__network *net, bool exact) {
    const struct weft__shared *shared;
    for (uint32_t kind = 0; (shared = weft__shared_next(net, &kind)); kind++) {
        const char *refused = shared->unskippable ? shared->unskippable(net) : NULL;
        if (refused) return refused;
    }
    for (uint32_t i = 0; i < net->topology->nodes; i++) {
        const struct weft__box *box = weft__box_of(&net->topology->node[i]);
        if (!box->fingerprint && (exact || !box->each_count))
            return weft_arena_format(net->outcome->arena, "boxes of kind %s, whose state cannot be compared",
                                     weft__box_name(net->topology->node[i].box));
    }
    return NULL;
}

/// Why nothing can be skipped in this run, whatever its network does.
static const char *why_refused(const struct weft__network *net, const struct weft_ranks *ranks) {
    const struct weft_run_conf *conf = &net->scenario->run;
    if (!net->programs && conf->fast_forward == WEFT_FAST_FORWARD_EXACT)
        return "there is no job, and only what jobs repeat is provably the same";
    for (uint32_t j = 0; j < net->workload->jobs; j++)
        if (net->workload->job[j].schedule) return "a job by a schedule or a trace, which has no iterations";
    for (uint32_t q = 0; q < net->qps; q++)
        if (net->qp[q].verb == WEFT_VERB_READ) return "flows of READ";
    if (net->rma) return "remote memory access";
    if (net->hosts.triggers) return "flows that wait for others";
    if (ranks) return "a run over several processes";
    if (net->driver) return "a program drives the hosts";
    if (net->capture) return "a capture";
    if (net->following) return "flows that are followed";
    if (net->events_max) return "a recorded run: set run.events to 0";
    if (net->lldp) return "LLDP";
    if (net->topology->events) return "links that fail or return (events)";
    if (conf->sample_interval_ps) return "time series (run.sample_interval)";
    if (conf->count_flows) return "run.count_flows";
    const char *jitters = find_jitter(net);
    if (jitters && conf->fast_forward == WEFT_FAST_FORWARD_EXACT)
        return weft_arena_format(
            net->outcome->arena,
            "draws of %s (clock_ppm, host.jitter, stall, launch_skew), which never repeat: set run.jitter to off, "
            "or run.fast_forward to steady",
            jitters);
    return refuse_boxes(net, conf->fast_forward == WEFT_FAST_FORWARD_EXACT);
}

static void start_skipping(struct weft__fast_forward *f, struct weft__network *net, const struct weft_ranks *ranks,
                           weft__trace_paths *trace) {
    const struct weft_run_conf *conf = &net->scenario->run;
    *f = (struct weft__fast_forward){
        .net = net,
        .outcome = weft_arena_alloc(net->outcome->arena, 1, sizeof *f->outcome),
        .exact = conf->fast_forward == WEFT_FAST_FORWARD_EXACT,
        .later = 1,
    };
    net->outcome->fast_forward = f->outcome;
    f->outcome->draws_left_out = find_jitter(net) != NULL;
    f->outcome->refused = why_refused(net, ranks);
    f->over = f->outcome->refused != NULL;
    if (f->over) return;
    weft__skips_init(&f->skips, net);
    if (!net->programs) {
        f->coast = weft__coast_new(&f->skips, trace, &f->outcome->refused);
        f->over = f->outcome->refused != NULL;
        return;
    }
    if (!f->exact) f->steps = weft__steps_new(&f->skips);
    bool repeats = weft__programs_find_kinds(net->programs, net->arena_qp);
    for (uint32_t k = 0; k <= (repeats ? WITHIN : ITERATIONS); k++)
        f->tracker[k] =
            (struct tracker){.skips = &f->skips,
                             .within = k == WITHIN,
                             .position = weft_arena_alloc(net->arena_qp, POSITIONS, sizeof(struct position))};
    net->engine.conf.rests = true;
}

struct weft__fast_forward *weft__fast_forward_start(struct weft__network *net, const struct weft_ranks *ranks,
                                                    weft__trace_paths *trace) {
    // Rank 0 reports why nothing is skipped; its outcome counts.
    if (net->scenario->run.fast_forward == WEFT_FAST_FORWARD_OFF || (ranks && ranks->self)) return NULL;
    struct weft__fast_forward *f = weft_arena_alloc(net->arena_qp, 1, sizeof *f);
    start_skipping(f, net, ranks, trace);
    return f;
}

/// Messages within servers have no bytes in flight, and their last effects (room given back) count as no progress: then
/// check again a little later.
static void look_later(struct weft__fast_forward *f) {
    struct weft__engine *engine = &f->net->engine;
    engine->rested_ps = weft__engine_tally(engine).progress_ps;
    engine->pause_ps = WEFT_TIME_NEVER;
    bool later = !weft__engine_is_empty(engine) && !weft__engine_in_flight(engine);
    f->later = !later ? 1 : f->later < LATER_MAX ? 2 * f->later : f->later;
    if (later) engine->pause_ps = engine->next_ps + (f->later - 1) * engine->conf.window_ps;
}

bool weft__fast_forward_on(struct weft__fast_forward *f) {
    struct weft__engine *engine = f ? &f->net->engine : NULL;
    if (!f || engine->end != WEFT_END_PAUSED || engine->pausing) return false;
    if (f->coast) {
        engine->pause_ps = weft__coast_look(f->coast);
        return true;
    }
    look_later(f);
    rest_network(f);
    engine->conf.rests = !f->over;
    if (f->steps && !is_auditing(f)) {
        weft_time_ps next = weft__steps_look(f->steps);
        if (next < engine->pause_ps) engine->pause_ps = next;
    }
    return true;
}

static void end_tracker(struct tracker *t) {
    forget_marks(t);
    if (t->position) drop_target(t);
}

static weft_time_ps ended_at(const struct weft__engine *engine) {
    return engine->end == WEFT_END_UNTIL ? engine->conf.until_ps : weft__engine_tally(engine).last_ps;
}

static void tell_nothing_skipped(const struct weft__fast_forward *f) {
    struct weft_fast_forward_outcome *o = f->outcome;
    if (o->refused || o->stretches || o->audited) return;
    o->refused =
        f->coast ? "no flow kept to its pace for long enough on links that are not full"
        : f->exact
            ? "the network was never in the same state twice while nothing was in flight"
            : "neither steps of a ring, all ranks keeping pace, nor three iterations, or groups of operations within "
              "one, in a row took about as long";
}

void weft__fast_forward_end(struct weft__fast_forward *f) {
    if (!f) return;
    for (uint32_t k = 0; k < TRACKERS; k++)
        end_tracker(&f->tracker[k]);
    if (f->steps) weft__steps_end(f->steps);
    if (f->coast) weft__coast_end(f->coast, ended_at(&f->net->engine));
    tell_nothing_skipped(f);
}

weft_time_ps weft__fast_forward_skipped(const struct weft__fast_forward *f) {
    return f ? f->skips.skipped_ps : 0;
}

void weft__fast_forward_settle(const struct weft__fast_forward *f) {
    weft_time_ps skipped = weft__fast_forward_skipped(f);
    if (!skipped) return;
    struct weft__network *net = f->net;
    for (uint32_t i = 0; i < net->programs->n; i++)
        weft__program_settle(&net->programs->program[i], skipped);
    for (uint32_t i = 0; i < net->outcome->flows; i++) {
        struct weft_flow_outcome *flow = &net->outcome->flow[i];
        flow->end_ps = weft__true_time(flow->end_ps, skipped);
        flow->acked_ps = weft__true_time(flow->acked_ps, skipped);
    }
}
