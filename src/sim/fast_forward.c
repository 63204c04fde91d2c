// SPDX-License-Identifier: Apache-2.0
// Fast-forward (docs/fast-forward.md). A job repeats its iterations. Once an iteration, when no packet is under way,
// the engine rests, and all that the network does from now on depends on is compared with what it was an iteration
// before.
//
// exact: the numbers of link/still.h are equal, so what follows is what followed then: every event, a period later. So
// many whole periods are taken over: the clock of the engine stands still, positions of programs move on, and what the
// period noted and counted is noted and counted again. A time that is noted afterwards is so much later than the
// engine's clock says. Results are those of a run without, bit by bit.
//
// steady: the programs stand where they stood, and two periods in a row took about as long (run.steady_error); queue
// pairs may have other rates by then. What is taken over is the last period; the difference is the estimate of the
// error.
//
// Source: of the idea that what recurs need not be run, Wormhole (NSDI 2026), which skips flows at a steady rate and
// remembers sets of flows; here it is iterations of jobs, and exact is provably so.
#include "sim/fast_forward.h"

#include <math.h>
#include <string.h>

#include "box/box.h"
#include "link/measure.h"
#include "transport/program.h"
#include "weft/memory.h"

enum {
    MARKS = 3,        ///< kept: so a period may be two iterations
    POSITIONS = 1024, ///< remembered; a power of two
    LATER_MAX = 64,   ///< windows
};

/// Where the programs have stood when the network was at rest, by the low bits of its digest.
struct position {
    uint64_t all[2];
    weft_time_ps time_ps[3]; ///< when; the last time first; 0: never
    uint32_t iteration;
};

/// How everything stood when the network was at rest.
struct mark {
    struct weft_arena *arena; ///< NULL: none
    struct weft__still still;
    struct weft__tally tally;
    struct weft_counters *port;
    struct weft_flow_outcome *flow;
    weft_bytes *delivered; ///< [qps]
    struct weft__program_mark *program;
    struct weft_histogram *waits; ///< [histograms]
    weft_bytes *server;           ///< [2 * hosts]
};

struct weft__fast_forward {
    struct weft__network *net;
    struct weft_fast_forward_outcome *outcome;
    bool exact, over;              ///< over: nothing more can be skipped
    struct mark mark[MARKS];       ///< the last first, all with the programs where `target` has them
    struct position *position;     ///< [POSITIONS]
    const struct position *target; ///< NULL: none has come again in another iteration
    weft_time_ps skipped_ps;
    struct weft_histogram **histogram; ///< what programs and queue pairs count in
    uint32_t histograms;
    uint32_t later;       ///< windows until it looks again
    uint64_t audits;      ///< left
    uint32_t audit_until; ///< iteration of the first program of job 0 that an audit runs to; 0: none
    weft_time_ps foretold_ps;
};

// --- marks --------------------------------------------------------------------------------------------------------

static struct weft__port_queue *queue_of(const struct weft__network *net, uint32_t port, uint32_t priority) {
    struct weft__port *own = weft__network_port(net, port);
    return own ? &own->queue[priority] : NULL;
}

/// Counters as they will be found at the end, but for watermarks, which do not add up.
static struct weft_counters counters_of(const struct weft__network *net, uint32_t port, uint32_t priority) {
    struct weft_counters c = net->outcome->port[(size_t)port * WEFT_PRIORITIES + priority];
    const struct weft__port_queue *q = queue_of(net, port, priority);
    if (q) c.tx_packets = q->tx_packets;
    if (q) c.tx_bytes = q->tx_bytes;
    c.queue_bytes_max = c.ingress_bytes_max = 0;
    return c;
}

static void mark_free(struct mark *m) {
    weft_arena_free(m->arena);
    *m = (struct mark){0};
}

/// Of all nodes, or why that cannot be told.
static const char *take_still(const struct weft__network *net, struct weft__still *ret) {
    for (uint32_t i = 0; i < net->topology->nodes; i++) {
        const struct weft__box *box = weft__box_of(&net->topology->node[i]);
        const char *refused = box->still(net, i, ret);
        if (refused) return refused;
    }
    return NULL;
}

static void take_mark(struct weft__fast_forward *f, struct mark *m) {
    struct weft__network *net = f->net;
    const struct weft_outcome *o = net->outcome;
    struct weft_arena *arena = m->arena = weft_arena_new(WEFT_MEMORY_RESULT);
    m->port = weft_arena_alloc(arena, (size_t)o->ports * WEFT_PRIORITIES, sizeof *m->port);
    for (uint32_t i = 0; i < o->ports; i++)
        for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
            m->port[(size_t)i * WEFT_PRIORITIES + p] = counters_of(net, i, p);
    m->flow = weft_arena_alloc(arena, o->flows, sizeof *m->flow);
    if (o->flows) memcpy(m->flow, o->flow, o->flows * sizeof *m->flow);
    m->delivered = weft_arena_alloc(arena, net->qps, sizeof *m->delivered);
    for (uint32_t q = 0; q < net->qps; q++)
        m->delivered[q] = net->hosts.receiver[q].delivered_bytes;
    m->program = weft_arena_alloc(arena, net->programs->n, sizeof *m->program);
    for (uint32_t i = 0; i < net->programs->n; i++)
        weft__program_mark_new(&net->programs->program[i], arena, &m->program[i]);
    m->waits = weft_arena_alloc(arena, f->histograms, sizeof *m->waits);
    for (uint32_t i = 0; i < f->histograms; i++)
        m->waits[i] = *f->histogram[i];
    m->server = weft_arena_alloc(arena, 2 * (size_t)net->topology->hosts, sizeof *m->server);
    for (uint32_t h = 0; h < net->topology->hosts; h++) {
        if (!net->gpu[h]) continue;
        m->server[2 * h] = net->gpu[h]->sent_bytes;
        m->server[2 * h + 1] = net->gpu[h]->received_bytes;
    }
}

// --- what is skipped ----------------------------------------------------------------------------------------------

static void repeat_counters(struct weft__network *net, const struct mark *before, uint32_t times) {
    for (uint32_t i = 0; i < net->outcome->ports; i++)
        for (uint32_t p = 0; p < WEFT_PRIORITIES; p++) {
            size_t at = (size_t)i * WEFT_PRIORITIES + p;
            struct weft_counters now = counters_of(net, i, p), *own = &net->outcome->port[at];
            struct weft__port_queue *q = queue_of(net, i, p);
#define X(field, type, sai, help) own->field += times * (now.field - before->port[at].field);
            WEFT_PRIORITY_COUNTERS(X)
#undef X
            if (!q) continue;
            q->tx_packets += times * (now.tx_packets - before->port[at].tx_packets);
            q->tx_bytes += times * (now.tx_bytes - before->port[at].tx_bytes);
        }
}

static void repeat_flows(const struct weft__fast_forward *f, const struct mark *before, uint32_t times) {
    struct weft__network *net = f->net;
    for (uint32_t i = 0; i < net->outcome->flows; i++) {
        struct weft_flow_outcome *now = &net->outcome->flow[i];
        const struct weft_flow_outcome *was = &before->flow[i];
        now->cnps += times * (now->cnps - was->cnps);
        now->packets_again += times * (now->packets_again - was->packets_again);
        now->sfc_messages += times * (now->sfc_messages - was->sfc_messages);
        now->sfc_paused_ps += times * (now->sfc_paused_ps - was->sfc_paused_ps);
        now->out_of_order += times * (now->out_of_order - was->out_of_order);
        now->out_of_order_placed += times * (now->out_of_order_placed - was->out_of_order_placed);
        weft_time_ps *time[] = {&now->end_ps, &now->acked_ps};
        for (uint32_t k = 0; k < 2; k++)
            if (*time[k] != WEFT_TIME_NEVER && !(*time[k] & WEFT__TRUE_TIME))
                *time[k] = (*time[k] + f->skipped_ps) | WEFT__TRUE_TIME;
    }
    for (uint32_t q = 0; q < net->qps; q++) {
        weft_bytes *delivered = &net->hosts.receiver[q].delivered_bytes;
        *delivered += times * (*delivered - before->delivered[q]);
    }
}

static void repeat_histogram(struct weft_histogram *h, const struct weft_histogram *before, uint32_t times) {
    struct weft_histogram more = {.n = h->n - before->n, .min = h->min, .max = h->max};
    unsigned __int128 sum =
        (((unsigned __int128)h->sum_high << 64 | h->sum) - ((unsigned __int128)before->sum_high << 64 | before->sum));
    if (!more.n) return;
    more.sum = (uint64_t)sum;
    more.sum_high = (uint64_t)(sum >> 64);
    for (uint32_t i = 0; i < WEFT_HISTOGRAM_BUCKETS; i++)
        more.bucket[i] = h->bucket[i] - before->bucket[i];
    for (uint32_t j = 0; j < times; j++)
        weft_histogram_merge(h, &more);
}

static void repeat_tally(struct weft__network *net, const struct mark *before, uint32_t times) {
    struct weft__tally now = weft__engine_tally(&net->engine), *own = &net->engine.worker[0].tally;
    own->injected_bytes += times * (now.injected_bytes - before->tally.injected_bytes);
    own->delivered_bytes += times * (now.delivered_bytes - before->tally.delivered_bytes);
    own->dropped_bytes += times * (now.dropped_bytes - before->tally.dropped_bytes);
    for (uint32_t c = 0; c < WEFT__COUNTS_MAX; c++)
        own->count[c] += times * (now.count[c] - before->tally.count[c]);
}

/// What is to begin at its time is so much nearer.
static void move_starts(struct weft__network *net, weft_time_ps nearer) {
    const struct weft__hosts *hosts = &net->hosts;
    for (uint32_t h = 0; h < net->topology->hosts; h++) {
        uint32_t node = net->topology->host[h];
        struct weft__timers *timers = &net->engine.node[node].timers;
        for (uint32_t i = net->qp_lists.send_first[h]; i < net->qp_lists.send_first[h + 1]; i++) {
            uint32_t qp = net->qp_lists.send[i], key;
            if (hosts->sender[qp].started) continue;
            key = hosts->ops->start_key(qp, hosts);
            if (weft__timer_at(timers, key) != WEFT_TIME_NEVER)
                weft__timer_set(timers, key, weft__timer_at(timers, key) - nearer);
        }
        for (uint32_t k = 0; net->gpu[h] && k < net->gpu[h]->programs; k++) {
            const struct weft__program *p = &net->programs->program[net->gpu[h]->program[k]];
            if (!p->started) weft__timer_set(timers, p->key0, weft__timer_at(timers, p->key0) - nearer);
        }
        weft__engine_reschedule(&net->engine, node);
    }
}

static void skip(struct weft__fast_forward *f, const struct mark *before, const struct mark *now, uint32_t times) {
    struct weft__network *net = f->net;
    weft_time_ps period = now->still.now_ps - before->still.now_ps;
    struct weft__stretch stretch = {before->still.now_ps, now->still.now_ps, f->skipped_ps, times};
    uint32_t iterations = 0;
    for (uint32_t i = 0; i < net->programs->n; i++) {
        struct weft__program *p = &net->programs->program[i];
        if (!p->rank) iterations += times * (p->iteration - before->program[i].iteration);
        weft__program_skip(p, &before->program[i], &stretch);
    }
    repeat_counters(net, before, times);
    repeat_flows(f, before, times);
    repeat_tally(net, before, times);
    for (uint32_t i = 0; i < f->histograms; i++)
        repeat_histogram(f->histogram[i], &before->waits[i], times);
    for (uint32_t h = 0; h < net->topology->hosts; h++) {
        if (!net->gpu[h]) continue;
        net->gpu[h]->sent_bytes += times * (net->gpu[h]->sent_bytes - before->server[2 * h]);
        net->gpu[h]->received_bytes += times * (net->gpu[h]->received_bytes - before->server[2 * h + 1]);
    }
    move_starts(net, times * period);
    if (net->engine.conf.until_ps < WEFT_TIME_MAX) net->engine.conf.until_ps -= times * period;
    f->skipped_ps += times * period;
    f->outcome->stretches++;
    f->outcome->iterations += iterations;
    f->outcome->skipped_ps = f->skipped_ps;
}

// --- whether, and how much ----------------------------------------------------------------------------------------

/// When the first of what waits for its time begins.
static weft_time_ps next_start(const struct weft__network *net) {
    weft_time_ps next = net->engine.conf.until_ps;
    for (uint32_t q = 0; q < net->qps; q++) {
        const struct weft_flow *flow = &net->workload->flow[net->qp[q].flow];
        const struct weft__timers *timers = &net->engine.node[net->topology->host[net->qp[q].src]].timers;
        if (net->hosts.sender[q].started || flow->messages) continue;
        weft_time_ps at = weft__timer_at(timers, net->hosts.ops->start_key(q, &net->hosts));
        if (at < next) next = at;
    }
    for (uint32_t i = 0; i < net->programs->n; i++) {
        const struct weft__program *p = &net->programs->program[i];
        uint32_t node = net->programs->node[p->job->host[p->rank]];
        weft_time_ps at = p->started ? WEFT_TIME_NEVER : weft__timer_at(&net->engine.node[node].timers, p->key0);
        if (at < next) next = at;
    }
    return next;
}

/// How often the stretch between two marks may be repeated: the end of each job is run.
static uint32_t count_times(const struct weft__fast_forward *f, const struct mark *before, const struct mark *now) {
    const struct weft__network *net = f->net;
    weft_time_ps period = now->still.now_ps - before->still.now_ps, next = next_start(net);
    uint64_t times = next > now->still.now_ps ? (next - 1 - now->still.now_ps) / period : 0;
    bool moves = false;
    for (uint32_t i = 0; i < net->programs->n; i++) {
        const struct weft__program *p = &net->programs->program[i];
        const struct weft__program *first = p - p->rank;
        uint32_t moved = p->iteration - before->program[i].iteration;
        if (moved != first->iteration - before->program[i - p->rank].iteration) return 0;
        if (!moved && p->started && !p->done) return 0;
        if (!moved) continue;
        moves = true;
        uint64_t own = weft__program_skips_max(p, &before->program[i]);
        if (own < times) times = own;
    }
    return moves ? (uint32_t)(times < UINT32_MAX ? times : UINT32_MAX) : 0;
}

static bool is_same_position(const struct position *p, const struct weft__still *programs) {
    return p->time_ps[0] && p->all[0] == programs->all[0] && p->all[1] == programs->all[1];
}

static bool is_same(const struct weft__still *a, const struct weft__still *b) {
    return a->all[0] == b->all[0] && a->all[1] == b->all[1];
}

/// A transport that waits for nothing so long as a whole period does not repeat anything in one, whenever it looks.
static weft_time_ps least_patience(const struct weft__network *net) {
    weft_time_ps least = WEFT_TIME_NEVER;
    for (uint32_t i = 0; i < net->topology->nodes; i++) {
        const struct weft__box *box = weft__box_of(&net->topology->node[i]);
        weft_time_ps own = box->patience ? box->patience(net->device[i]) : WEFT_TIME_NEVER;
        if (own < least) least = own;
    }
    return least;
}

/// No message is waited for: each clear-to-send was answered.
static bool waits_for_none(const struct weft__network *net) {
    for (uint32_t i = 0; i < net->programs->n; i++) {
        const struct weft__program *p = &net->programs->program[i];
        for (uint32_t k = 0; k < p->receivings; k++)
            if (p->receiving[k].qp != WEFT_NONE && !p->job->unadmitted &&
                p->receiving[k].posted != p->receiving[k].arrived)
                return false;
    }
    return true;
}

static bool repeats_exactly(const struct weft__fast_forward *f, const struct mark *before, const struct mark *now) {
    if (!is_same(&before->still, &now->still)) return false;
    bool looked = before->still.looks[0] == now->still.looks[0] && before->still.looks[1] == now->still.looks[1];
    weft_time_ps period = now->still.now_ps - before->still.now_ps;
    return looked || (waits_for_none(f->net) && period < least_patience(f->net));
}

static double difference(weft_time_ps a, weft_time_ps b) {
    return fabs((double)a - (double)b) / (double)b;
}

/// This stretch and the one before it took about as long.
static bool repeats_steadily(const struct weft__fast_forward *f, double *ret_error) {
    const weft_time_ps *time = f->target->time_ps;
    if (!time[2]) return false;
    *ret_error = difference(time[1] - time[2], time[0] - time[1]);
    return *ret_error <= f->net->scenario->run.steady_error;
}

/// The mark that the stretch to be repeated began at; NULL: nothing repeats itself.
static const struct mark *find_stretch(struct weft__fast_forward *f, double *ret_error) {
    *ret_error = 0;
    for (uint32_t k = 1; f->exact && k < MARKS && f->mark[k].arena; k++)
        if (repeats_exactly(f, &f->mark[k], &f->mark[0])) return &f->mark[k];
    return !f->exact && f->mark[1].arena && repeats_steadily(f, ret_error) ? &f->mark[1] : NULL;
}

/// Where the programs stand, whatever the network does.
static void mix_programs(const struct weft__network *net, struct weft__still *ret) {
    for (uint32_t h = 0; h < net->topology->hosts; h++)
        if (net->gpu[h]) weft__programs_still(net->programs, net->gpu[h], ret);
}

/// The first job that is not over is in this iteration.
static uint32_t iteration_now(const struct weft__network *net) {
    for (uint32_t i = 0; i < net->programs->n; i++)
        if (!net->programs->program[i].done) return net->programs->program[i].iteration;
    return UINT32_MAX;
}

static void forget_marks(struct weft__fast_forward *f) {
    for (uint32_t k = 0; k < MARKS; k++)
        mark_free(&f->mark[k]);
}

/// An audited stretch has been run: how far was what had been foretold from what came?
static void judge_audit(struct weft__fast_forward *f, weft_time_ps now) {
    struct weft_fast_forward_outcome *o = f->outcome;
    double error = difference(f->foretold_ps, now);
    o->audited++;
    o->failed += f->exact ? f->foretold_ps != now : error > f->net->scenario->run.steady_error;
    if (error > o->audit_error) o->audit_error = error;
    f->audit_until = 0;
    forget_marks(f);
}

/// What had been foretold for it cannot be judged any more.
static void drop_target(struct weft__fast_forward *f) {
    f->target = NULL;
    f->audit_until = 0;
}

/// Whether a mark is to be taken here: the programs have stood like this in an iteration before. Of such positions one
/// is the target, until it does not come any more.
static bool find_position(struct weft__fast_forward *f, uint32_t iteration, weft_time_ps now) {
    struct weft__still programs = {.now_ps = now};
    mix_programs(f->net, &programs);
    struct position *p = &f->position[programs.all[0] & (POSITIONS - 1)];
    bool again = is_same_position(p, &programs) && p->iteration != iteration;
    if (f->target && f->target->iteration + 2 < iteration) drop_target(f); // it does not come any more
    if (is_same_position(p, &programs) && !again) return false;
    if (f->target == p && !again) drop_target(f); // displaced
    if (!again) *p = (struct position){.all = {programs.all[0], programs.all[1]}};
    memmove(&p->time_ps[1], p->time_ps, 2 * sizeof *p->time_ps);
    p->time_ps[0] = now;
    p->iteration = iteration;
    if (again && !f->target) {
        f->target = p;
        forget_marks(f);
    }
    return again && f->target == p;
}

/// The network is at rest.
static void rest(struct weft__fast_forward *f) {
    struct weft__network *net = f->net;
    uint32_t iteration = iteration_now(net);
    if (f->over || iteration == UINT32_MAX || !weft__engine_is_empty(&net->engine)) return;
    weft_time_ps now = weft__engine_tally(&net->engine).last_ps;
    bool here = find_position(f, iteration, now);
    if (f->audit_until && here && iteration >= f->audit_until) judge_audit(f, now);
    if (f->audit_until || !here) return;
    struct mark next = {.still = {.now_ps = now}, .tally = weft__engine_tally(&net->engine)};
    if (f->exact) f->outcome->refused = take_still(net, &next.still);
    f->over = f->outcome->refused != NULL;
    if (f->over) return;
    take_mark(f, &next);
    mark_free(&f->mark[MARKS - 1]);
    memmove(&f->mark[1], &f->mark[0], (MARKS - 1) * sizeof *f->mark);
    f->mark[0] = next;
    double error;
    const struct mark *before = find_stretch(f, &error);
    uint32_t times = before ? count_times(f, before, &f->mark[0]) : 0;
    if (!times) return;
    if (f->audits) {
        f->audits--;
        f->audit_until = iteration + times * (net->programs->program[0].iteration - before->program[0].iteration);
        f->foretold_ps = now + times * (now - before->still.now_ps);
        return;
    }
    if (error > f->outcome->error) f->outcome->error = error;
    skip(f, before, &f->mark[0], times);
    forget_marks(f);
    f->target = NULL;
    memset(f->position, 0, POSITIONS * sizeof *f->position);
}

// --- a run --------------------------------------------------------------------------------------------------------

/// Why nothing can be skipped in this run, whatever its network does.
static const char *refuse(const struct weft__run *run) {
    const struct weft__network *net = &run->net;
    const struct weft_run_conf *conf = &net->scenario->run;
    if (!net->programs) return "there is no job, and only iterations of jobs are skipped";
    for (uint32_t j = 0; j < net->workload->jobs; j++)
        if (net->workload->job[j].schedule) return "a job by a schedule or a trace, which has no iterations";
    for (uint32_t q = 0; q < net->qps; q++)
        if (net->qp[q].verb == WEFT_VERB_READ) return "flows of READ";
    if (net->rma) return "remote memory access";
    if (net->hosts.triggers) return "flows that wait for others";
    if (run->options.ranks) return "a run over several processes";
    if (net->driver) return "a program drives the hosts";
    if (net->capture) return "a capture";
    if (net->following) return "flows that are followed";
    if (net->events_max) return "a recorded run: set run.events to 0";
    if (net->lldp) return "LLDP";
    if (net->topology->events) return "links that fail or return (events)";
    if (conf->sample_interval_ps) return "time series (run.sample_interval)";
    if (conf->count_flows) return "run.count_flows";
    for (uint32_t i = 0; i < net->topology->nodes; i++)
        if (!weft__box_of(&net->topology->node[i])->still)
            return weft_arena_format(net->outcome->arena, "boxes of kind %s, whose state cannot be compared",
                                     weft__box_name(net->topology->node[i].box));
    return NULL;
}

static void find_histograms(struct weft__fast_forward *f) {
    struct weft__network *net = f->net;
    uint32_t workers = net->engine.conf.workers, at = 0;
    size_t most = 2 * (size_t)net->workload->jobs * workers + (size_t)workers * WEFT_PRIORITIES;
    f->histogram = weft_arena_alloc(net->arena_qp, most, sizeof(struct weft_histogram *));
    for (size_t i = 0; i < (size_t)net->workload->jobs * workers; i++) {
        if (!net->programs->waits[i]) continue;
        f->histogram[at++] = &net->programs->waits[i]->cts;
        f->histogram[at++] = &net->programs->waits[i]->sender;
    }
    for (uint32_t k = 0; net->round_trips && k < workers; k++)
        for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
            f->histogram[at++] = &net->round_trips[k][p];
    f->histograms = at;
}

void weft__fast_forward_start(struct weft__run *run) {
    struct weft__network *net = &run->net;
    const struct weft_run_conf *conf = &net->scenario->run;
    if (conf->fast_forward == WEFT_FAST_FORWARD_OFF) return;
    struct weft__fast_forward *f = run->fast_forward = weft_arena_alloc(net->arena_qp, 1, sizeof *f);
    *f = (struct weft__fast_forward){
        .net = net,
        .outcome = weft_arena_alloc(net->outcome->arena, 1, sizeof *f->outcome),
        .exact = conf->fast_forward == WEFT_FAST_FORWARD_EXACT,
        .audits = conf->fast_forward_audit,
    };
    net->outcome->fast_forward = f->outcome;
    f->outcome->refused = refuse(run);
    f->over = f->outcome->refused != NULL;
    if (f->over) return;
    find_histograms(f);
    f->position = weft_arena_alloc(net->arena_qp, POSITIONS, sizeof *f->position);
    net->engine.conf.rests = true;
}

/// Messages within servers have no bytes under way, and what is left of them when nothing else moves, room given back,
/// is no progress: then it looks again a little later.
static void look_later(struct weft__fast_forward *f) {
    struct weft__engine *engine = &f->net->engine;
    engine->rested_ps = weft__engine_tally(engine).progress_ps;
    engine->pause_ps = WEFT_TIME_NEVER;
    bool later = !weft__engine_is_empty(engine) && !weft__engine_in_flight(engine);
    f->later = !later ? 1 : f->later < LATER_MAX ? 2 * f->later : f->later;
    if (later) engine->pause_ps = engine->next_ps + (f->later - 1) * engine->conf.window_ps;
}

bool weft__fast_forward_on(struct weft__run *run) {
    struct weft__engine *engine = &run->net.engine;
    if (!run->fast_forward || engine->end != WEFT_END_PAUSED || engine->pausing) return false;
    look_later(run->fast_forward);
    rest(run->fast_forward);
    engine->conf.rests = !run->fast_forward->over;
    return true;
}

void weft__fast_forward_end(struct weft__run *run) {
    if (!run->fast_forward) return;
    forget_marks(run->fast_forward);
    struct weft_fast_forward_outcome *o = run->fast_forward->outcome;
    if (o->refused || o->stretches || o->audited) return;
    o->refused =
        run->fast_forward->exact
            ? "the network was never in the same state twice while nothing was under way"
            : "no three iterations in a row took about as long while ranks stood alike and nothing was under way";
}

weft_time_ps weft__fast_forward_skipped(const struct weft__run *run) {
    return run->fast_forward ? run->fast_forward->skipped_ps : 0;
}

void weft__fast_forward_settle(struct weft__run *run) {
    struct weft__network *net = &run->net;
    weft_time_ps skipped = weft__fast_forward_skipped(run);
    if (!skipped) return;
    for (uint32_t i = 0; i < net->programs->n; i++)
        weft__program_settle(&net->programs->program[i], skipped);
    for (uint32_t i = 0; i < net->outcome->flows; i++) {
        struct weft_flow_outcome *flow = &net->outcome->flow[i];
        flow->end_ps = weft__true_time(flow->end_ps, skipped);
        flow->acked_ps = weft__true_time(flow->acked_ps, skipped);
    }
}
