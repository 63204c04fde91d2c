// SPDX-License-Identifier: Apache-2.0
// Which operations of a job run in packets. Those that are left out take no time by the engine's clock: a rank passes
// them and goes on with the next one, so ranks stay as far apart as they are, queues as full, and one sampled operation
// follows the other as if the job had no more than these.
//
// An operation, with the computing before it, is of a class: the same collective over groups of the same form, with
// lower bounds of its time within a factor of two (size, skew). At the begin of an iteration ranks are closer together
// than later (an all-reduce over all has ended, or the job has begun), and operations take another time: the first
// run.sample.warm_up of a class there are a stratum of their own, and all of them run in the iterations chosen. From
// the later ones run.sample.operations are drawn, by whole periods (layers), so that an operation follows what it
// follows in the job. The first iteration is chosen, and at least one other at random; ROUND operations of a class come
// from each.
//
// Where operations overlap, or ranks do different things (a pipeline), a part of an iteration has no time of its own,
// and whole iterations are drawn.
//
// Source: stratified sampling and the ratio estimator, Cochran, Sampling Techniques, 3rd edition, sections 5.3 and 6.3.
#include "skip/sample.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "transport/program.h"
#include "weft/memory.h"
#include "weft/random.h"
#include "workload/job_connections.h"

enum {
    ROUND = 8,         ///< operations of a class that one iteration contributes (assumed)
    PERIOD_MAX = 1024, ///< units
};
#define SPAN 2          ///< of bounds in a class: the largest over the smallest (assumed)
#define RARE_NUMBER 0.5 ///< a class is rare if it has a smaller part of the largest one's number (assumed)
#define RARE_TIME 0.25  ///< and a smaller part of the most time, by bounds (assumed)
#define PERIOD_PART 0.9 ///< of an iteration in which its period shows (assumed)

// --- bounds -------------------------------------------------------------------------------------------------------

/// Bytes that each NIC, and each GPU within its server, sends and receives in an operation.
struct load {
    const struct weft_job *job;
    const struct weft_job_op *op;
    uint32_t rank;
    weft_bytes *nic_out, *nic_in;     ///< [hosts]
    weft_bytes *inner_out, *inner_in; ///< [ranks]
};

static const struct weft_connection *connection_of(const struct weft_job *job, const struct weft_job_op *op,
                                                   uint32_t rank, const struct weft_sent *sent) {
    uint32_t dst = weft_job_member(op, rank, sent->peer);
    return &job->connection[weft_job_find_connection(job, rank, op->communicator, sent->channel, dst)];
}

static void add_load(void *context, const struct weft_sent *sent) {
    struct load *l = context;
    const struct weft_connection *c = connection_of(l->job, l->op, l->rank, sent);
    if (c->flow == WEFT_NONE) {
        l->inner_out[c->src] += sent->bytes;
        l->inner_in[c->dst] += sent->bytes;
        return;
    }
    l->nic_out[l->job->host[c->src]] += sent->bytes;
    l->nic_in[l->job->host[c->dst]] += sent->bytes;
}

static double nic_bps(const struct weft_topology *t, uint32_t host) {
    const struct weft_node_info *node = &t->node[t->host[host]];
    double bps = 0; // of all ports: several NICs of a GPU are ports of a host
    for (uint32_t p = 0; p < node->ports; p++)
        bps += (double)t->link[t->port[node->port0 + p].link].rate_bps;
    return bps;
}

/// The denominator of ratios: what the operation takes at least. An estimate of its time that knows the fabric may
/// stand here instead; the closer its ratio to packets is to a constant, the narrower the interval.
static double bound_of(const struct weft__network *net, const struct weft_job *job, const struct weft_job_op *op) {
    const struct weft_topology *t = net->topology;
    size_t n = 2 * ((size_t)t->hosts + job->ranks);
    weft_bytes *bytes = weft_memory_new(WEFT_MEMORY_QP, n, sizeof *bytes);
    struct load l = {
        job, op, 0, bytes, bytes + t->hosts, bytes + (size_t)2 * t->hosts, bytes + (size_t)2 * t->hosts + job->ranks};
    for (; l.rank < job->ranks; l.rank++)
        weft__job_each_sent(op, l.rank, add_load, &l);
    double seconds = 0;
    for (uint32_t h = 0; h < t->hosts; h++)
        if (l.nic_out[h] || l.nic_in[h])
            seconds = fmax(seconds, 8 * fmax((double)l.nic_out[h], (double)l.nic_in[h]) / nic_bps(t, h));
    for (uint32_t r = 0; r < job->ranks; r++)
        if (l.inner_out[r] || l.inner_in[r])
            seconds =
                fmax(seconds, 8 * fmax((double)l.inner_out[r], (double)l.inner_in[r]) / (double)job->server.rate_bps);
    weft_memory_free(WEFT_MEMORY_QP, bytes, n * sizeof *bytes);
    return fmax(seconds * (double)WEFT_PS_PER_S, 1); // of one rank: nothing
}

/// [ops]: those of one volume have one bound.
static double *find_bounds(const struct weft__network *net, const struct weft_job *job) {
    double *bound = weft_arena_alloc(net->arena_qp, job->ops, sizeof *bound);
    double **known = weft_arena_alloc(net->arena_qp, job->communicators, sizeof *known);
    for (uint32_t c = 0; c < job->communicators; c++)
        known[c] = weft_arena_alloc(net->arena_qp, job->communicator[c].volumes, sizeof **known);
    for (uint32_t i = 0; i < job->ops; i++) {
        const struct weft_job_op *op = &job->op[i];
        if (!op->name) continue;
        double *own = &known[op->communicator][op->volume];
        if (*own <= 0) *own = bound_of(net, job, op);
        bound[i] = *own;
    }
    return bound;
}

// --- units and their classes ---------------------------------------------------------------------------------------

static double compute_of(const struct weft_job *job, const struct weft_job_op *op) {
    return fmax((double)op->compute_ps, (double)weft_job_compute_time(job, job->slow_rank, op));
}

/// The operation at a turn, if ranks wait for its collective; else NULL.
static const struct weft_job_op *blocking_op(const struct weft_job *job, uint32_t turn) {
    const struct weft_job_op *op = &job->op[job->stage->turn[turn].op];
    return op->name && weft_job_turn_blocks(job, &job->stage->turn[turn]) ? op : NULL;
}

/// Whether operations have a time of their own: ranks do all of them in the same order, each once, and wait for each;
/// what runs beside others does so at the end of an iteration.
static bool come_in_turn(const struct weft_job *job) {
    if (job->stages > 1 || job->stage->turns > job->ops) return false;
    bool overlaps = false;
    for (uint32_t t = 0; t < job->stage->turns; t++) {
        if (job->stage->turn[t].part != WEFT_TURN_WHOLE || (overlaps && blocking_op(job, t))) return false;
        overlaps |= job->op[job->stage->turn[t].op].overlap;
    }
    return true;
}

/// Those of an iteration. What follows its last collective belongs to the last one.
static uint32_t find_units(const struct weft__sample *s, const double *bound, struct weft__sample_unit *ret) {
    const struct weft_job *job = s->job;
    struct weft__sample_unit next = {0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < job->ops && s->whole; i++) // ranks compute beside one another and beside collectives
        next.bound_ps += bound[i] + compute_of(job, &job->op[i]);
    if (s->whole && next.bound_ps > 0) ret[n++] = next;
    for (uint32_t t = 0; t < job->stage->turns && !s->whole; t++) {
        const struct weft_job_op *op = &job->op[job->stage->turn[t].op];
        next.compute_ps += compute_of(job, op);
        next.bound_ps += bound[op - job->op];
        next.turn_end = t + 1;
        if (!blocking_op(job, t)) continue;
        next.op = job->stage->turn[t].op;
        ret[n++] = next;
        next = (struct weft__sample_unit){.turn = t + 1};
    }
    if (!n) return 0;
    ret[n - 1].last = true;
    if (s->whole) return n;
    ret[n - 1].turn_end = job->stage->turns;
    ret[n - 1].compute_ps += next.compute_ps;
    ret[n - 1].bound_ps += next.bound_ps;
    return n;
}

struct order {
    const struct weft_collective_ops *ops;
    uint32_t stride, ranks, unit;
    double bound_ps;
};
WEFT__ORDER(by_kind, struct order,
            WEFT__UP(ops) ?: WEFT__UP(stride) ?: WEFT__UP(ranks) ?: WEFT__UP(bound_ps) ?: WEFT__UP(unit))

static bool same_kind(const struct order *a, const struct order *b) {
    return a->ops == b->ops && a->stride == b->stride && a->ranks == b->ranks;
}

static struct order order_of(const struct weft__sample *s, uint32_t unit) {
    const struct weft_job_op *op = &s->job->op[s->unit[unit].op];
    if (s->whole) return (struct order){.unit = unit};
    return (struct order){op->ops, op->stride, op->shape.ranks, unit, s->unit[unit].bound_ps};
}

/// How many of an iteration are of the kind that it has most of, and of the one that it has fewest of.
static uint32_t count_most(const struct weft__sample *s, uint32_t *ret_least) {
    struct order *order = weft_arena_alloc(s->net->arena_qp, s->units, sizeof *order);
    uint32_t most = 0;
    *ret_least = UINT32_MAX;
    for (uint32_t u = 0; u < s->units; u++)
        order[u] = order_of(s, u);
    if (s->units) qsort(order, s->units, sizeof *order, by_kind);
    for (uint32_t from = 0, to; from < s->units; from = to) {
        for (to = from; to < s->units && same_kind(&order[from], &order[to]);)
            to++;
        if (to - from > most) most = to - from;
        if (to - from < *ret_least) *ret_least = to - from;
    }
    return most;
}

/// An iteration is a round of its own if it has enough operations for its share of the sample, and if something in it
/// besides its layers puts ranks in step again, such as the sum of gradients.
static void find_rounds(struct weft__sample *s) {
    const struct weft_sample_conf *conf = &s->net->scenario->run.sample;
    const struct weft_job *job = s->job;
    s->whole = !come_in_turn(job);
    s->unit = weft_arena_alloc(s->net->arena_qp, job->ops, sizeof *s->unit);
    s->units = find_units(s, find_bounds(s->net, job), s->unit);
    uint32_t least, most = count_most(s, &least);
    bool is_long = !s->whole && most >= conf->warm_up + conf->operations / 2 && least < RARE_NUMBER * most;
    s->rounds = is_long ? job->iterations : 1;
    if (is_long) return;
    struct weft__sample_unit *unit =
        weft_arena_alloc(s->net->arena_qp, (size_t)s->units * job->iterations, sizeof *unit);
    for (uint32_t i = 0; i < job->iterations; i++)
        for (uint32_t u = 0; u < s->units; u++) {
            unit[(size_t)i * s->units + u] = s->unit[u];
            unit[(size_t)i * s->units + u].iteration = i;
        }
    s->unit = unit;
    s->units *= job->iterations;
}

/// Numbers classes by the first operation of each.
static void find_classes(struct weft__sample *s) {
    struct order *order = weft_arena_alloc(s->net->arena_qp, s->units, sizeof *order);
    uint32_t *class =
        weft_arena_alloc(s->net->arena_qp, s->units, sizeof *class); // the first unit of each unit's class
    s->class_op = weft_arena_alloc(s->net->arena_qp, s->units, sizeof *s->class_op);
    for (uint32_t u = 0; u < s->units; u++)
        order[u] = order_of(s, u);
    qsort(order, s->units, sizeof *order, by_kind);
    for (uint32_t from = 0, to; from < s->units; from = to) {
        uint32_t first = order[from].unit;
        for (to = from;
             to < s->units && same_kind(&order[from], &order[to]) && order[to].bound_ps <= SPAN * order[from].bound_ps;
             to++)
            if (order[to].unit < first) first = order[to].unit;
        for (uint32_t k = from; k < to; k++)
            class[order[k].unit] = first;
    }
    for (uint32_t u = 0; u < s->units; u++) {
        if (class[u] == u) s->class_op[s->classes++] = s->unit[u].op;
        s->unit[u].class = class[u] == u ? s->classes - 1 : s->unit[class[u]].class;
    }
}

// --- which run ----------------------------------------------------------------------------------------------------

/// The smallest number of units after which kinds repeat: a layer. 1: there is none.
static uint32_t find_period(const struct weft__sample *s) {
    for (uint32_t p = 1; p <= s->units / 2 && p <= PERIOD_MAX; p++) {
        uint32_t same = 0;
        for (uint32_t u = 0; u + p < s->units; u++) {
            struct order a = order_of(s, u), b = order_of(s, u + p);
            same += same_kind(&a, &b);
        }
        if (same >= PERIOD_PART * (s->units - p)) return p;
    }
    return 1;
}

static void find_parts(struct weft__sample *s) {
    double *time = weft_arena_alloc(s->net->arena_qp, s->classes, sizeof *time), time_most = 0, most = 0;
    double *n = weft_arena_alloc(s->net->arena_qp, s->classes, sizeof *n);
    s->part = weft_arena_alloc(s->net->arena_qp, s->classes, sizeof *s->part);
    for (uint32_t u = 0; u < s->units; u++) {
        most = fmax(most, ++n[s->unit[u].class]);
        time_most = fmax(time_most, time[s->unit[u].class] += s->unit[u].bound_ps);
    }
    for (uint32_t c = 0; c < s->classes; c++) {
        s->part[c] = fmax(n[c] / most, time[c] / time_most);
        if (n[c] >= RARE_NUMBER * most || time[c] >= RARE_TIME * time_most) s->part[c] = 1;
    }
}

static uint64_t share_of(const struct weft__sample *s, uint64_t quota, uint32_t class) {
    uint64_t share = (uint64_t)ceil((double)quota * s->part[class]);
    return share < 2 && quota ? 2 : share;
}

/// A period with one of the first operations of a class in it is among the first, with all that it has.
static void find_first(struct weft__sample *s) {
    uint64_t warm_up = s->net->scenario->run.sample.warm_up;
    uint64_t *n = weft_arena_alloc(s->net->arena_qp, s->classes, sizeof *n);
    for (uint32_t from = 0; from < s->units; from += s->period) {
        uint32_t to = from + s->period < s->units ? from + s->period : s->units;
        bool first = false;
        for (uint32_t u = from; u < to; u++)
            first |= n[s->unit[u].class] < share_of(s, warm_up, s->unit[u].class);
        for (uint32_t u = from; u < to; u++) {
            s->unit[u].first = first;
            n[s->unit[u].class]++;
        }
    }
}

static void shuffle_list(struct weft_random *random, uint32_t *list, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        list[i] = i;
    for (uint32_t i = n; i > 1; i--) {
        uint32_t k = (uint32_t)weft_random_below(random, i), last = list[i - 1];
        list[i - 1] = list[k];
        list[k] = last;
    }
}

struct drawable {
    double bound_ps;
    uint32_t period, ticket; ///< ticket: in random order
};
WEFT__ORDER(by_bound, struct drawable, WEFT__UP(bound_ps) ?: WEFT__UP(ticket))

static uint32_t period_end(const struct weft__sample *s, uint32_t from) {
    return from + s->period < s->units ? from + s->period : s->units;
}

/// The later periods, from those with the smallest bounds to those with the largest; returns how many there are.
static uint32_t order_periods(struct weft__sample *s, struct weft_random *random, struct drawable *ret) {
    uint32_t n = 0, periods = (s->units + s->period - 1) / s->period;
    uint32_t *ticket = weft_arena_alloc(s->net->arena_qp, periods, sizeof *ticket);
    shuffle_list(random, ticket, periods);
    for (uint32_t k = 0; k < periods; k++) {
        if (s->unit[k * s->period].first) continue;
        ret[n] = (struct drawable){.period = k, .ticket = ticket[k]};
        for (uint32_t u = k * s->period; u < period_end(s, k * s->period); u++)
            ret[n].bound_ps += s->unit[u].bound_ps;
        n++;
    }
    if (n) qsort(ret, n, sizeof *ret, by_bound);
    return n;
}

/// How many of the later periods have that many operations of each class in them, of rare ones a share.
static uint64_t count_draws(const struct weft__sample *s, uint32_t later, uint64_t operations) {
    uint64_t *own = weft_arena_alloc(s->net->arena_qp, s->classes, sizeof *own), draws = 0;
    for (uint32_t u = 0; u < s->units; u++)
        own[s->unit[u].class] += !s->unit[u].first;
    for (uint32_t c = 0; c < s->classes; c++) {
        uint64_t n = own[c] ? (share_of(s, operations, c) * later + own[c] - 1) / own[c] : 0;
        if (n > draws) draws = n;
    }
    return draws;
}

static void run_period(struct weft__sample *s, uint32_t round, uint32_t period) {
    uint32_t from = period * s->period;
    for (uint32_t u = from; u < period_end(s, from); u++)
        s->runs[(size_t)round * s->units + u] = true;
}

/// Draws so many from the periods in order, at equal distances from a random start, so that small and large bounds have
/// their part (systematic sampling: Cochran, chapter 8). They are dealt to the rounds at random; fewer to the first
/// one, which is as good as any other only when ranks have settled.
static void draw_periods(struct weft__sample *s, struct weft_random *random, const uint32_t *round, uint32_t rounds,
                         uint64_t draws) {
    uint32_t periods = (s->units + s->period - 1) / s->period;
    struct drawable *d = weft_arena_alloc(s->net->arena_qp, periods, sizeof *d);
    uint32_t later = order_periods(s, random, d);
    draws = count_draws(s, later, draws);
    if (draws > (uint64_t)later * rounds) draws = (uint64_t)later * rounds;
    uint32_t n = (uint32_t)draws, *turn = weft_arena_alloc(s->net->arena_qp, n, sizeof *turn);
    shuffle_list(random, turn, n);
    double start = weft_random_unit(random);
    uint32_t first = rounds > 1 && n < later ? (n + 2 * rounds - 2) / (2 * rounds - 1) : 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = (uint32_t)((i + start) * later / n),
                 to = turn[i] < first ? 0 : (turn[i] - first) % (rounds - !!first) + !!first;
        if (n > later) { // of each round as many, and each period once
            uint32_t own = n / rounds + (n % rounds > i % rounds);
            at = (uint32_t)((i / rounds + start) * later / own);
            to = i % rounds;
        }
        run_period(s, round[to], d[at < later ? at : later - 1].period);
    }
}

/// Classes that the draw has missed get two of their operations.
static void run_missed(struct weft__sample *s, const uint32_t *round, uint32_t rounds) {
    uint64_t *n = weft_arena_alloc(s->net->arena_qp, s->classes, sizeof *n);
    for (uint32_t k = 0; k < rounds; k++)
        for (uint32_t u = 0; u < s->units; u++)
            n[s->unit[u].class] += !s->unit[u].first && s->runs[(size_t)round[k] * s->units + u];
    for (uint32_t k = rounds; k-- > 0;)
        for (uint32_t u = 0; u < s->units; u++) {
            if (s->unit[u].first || n[s->unit[u].class] > 1 || s->runs[(size_t)round[k] * s->units + u]) continue;
            run_period(s, round[k], u / s->period);
            n[s->unit[u].class]++;
        }
}

static void choose_units(struct weft__sample *s, struct weft_random *random) {
    const struct weft_sample_conf *conf = &s->net->scenario->run.sample;
    s->period = s->whole ? 1 : find_period(s);
    s->runs = weft_arena_alloc(s->net->arena_qp, (size_t)s->rounds * s->units, sizeof *s->runs);
    find_first(s);
    uint64_t rounds = conf->operations / ROUND < 2 ? 2 : conf->operations / ROUND;
    if (rounds > s->rounds) rounds = s->rounds;
    uint32_t *round = weft_arena_alloc(s->net->arena_qp, s->rounds, sizeof *round);
    shuffle_list(random, round + 1, s->rounds - 1); // the first one, and others at random
    for (uint32_t k = 1; k < s->rounds; k++)
        round[k]++;
    for (uint32_t k = 0; k < rounds; k++)
        for (uint32_t u = 0; u < s->units; u++)
            s->runs[(size_t)round[k] * s->units + u] = s->unit[u].first;
    // Those at the begin of the iterations drawn are a part of the sample; those of the first one warm up.
    uint64_t begun = (rounds - 1) * conf->warm_up, least = (conf->operations + 1) / 2;
    uint64_t later = conf->operations > begun + least ? conf->operations - begun : least;
    draw_periods(s, random, round, (uint32_t)rounds, later);
    run_missed(s, round, (uint32_t)rounds);
}

// --- what is left out ---------------------------------------------------------------------------------------------

/// Messages of an operation that `times` are left out.
struct left_out {
    const struct weft__sample *s;
    const struct weft_job_op *op;
    uint32_t rank;
    uint64_t times;
};

/// A connection has no more bytes to come than those of operations that run.
static void leave_out(void *context, const struct weft_sent *sent) {
    const struct left_out *l = context;
    const struct weft_connection *c = connection_of(l->s->job, l->op, l->rank, sent);
    struct weft__wire *wire = &l->s->net->programs->wire[c - l->s->job->connection];
    wire->sending->left_bytes -= l->times * sent->bytes;
    wire->receiving->left_bytes -= l->times * sent->bytes;
}

/// Ranks of groups that do not run leave out every operation within groups. `times`: left out by all.
static void pass_groups(struct weft__sample *s, const uint64_t *times) {
    const struct weft_job *job = s->job;
    size_t results = (size_t)job->iterations * job->ops;
    s->absent = weft_arena_alloc(s->net->arena_qp, results, sizeof *s->absent);
    for (size_t i = 0; i < results; i++)
        s->absent[i] = s->passes[i] || s->local[i % job->ops];
    for (uint32_t r = 0; r < job->ranks; r++) {
        if (s->group[s->group_of[r]].runs) continue;
        s->net->programs->program[r].passes = s->absent;
        for (uint32_t i = 0; i < job->ops; i++) {
            struct left_out l = {s, &job->op[i], r, job->iterations - times[i]};
            if (s->local[i] && l.times) weft__job_each_sent(l.op, r, leave_out, &l);
        }
    }
}

static void pass_units(struct weft__sample *s) {
    const struct weft_job *job = s->job;
    s->passes = weft_arena_alloc(s->net->arena_qp, (size_t)job->iterations * job->ops, sizeof *s->passes);
    uint64_t *times = weft_arena_alloc(s->net->arena_qp, job->ops, sizeof *times);
    for (uint32_t r = 0; r < s->rounds; r++)
        for (uint32_t u = 0; u < s->units; u++) {
            const struct weft__sample_unit *unit = &s->unit[u];
            bool *passes = &s->passes[(size_t)weft__sample_iteration(s, r, u) * job->ops];
            uint32_t n = s->whole ? job->ops : unit->turn_end - unit->turn;
            for (uint32_t k = 0; k < n && !s->runs[(size_t)r * s->units + u]; k++) {
                uint32_t i = s->whole ? k : job->stage->turn[unit->turn + k].op;
                passes[i] = true;
                times[i]++;
            }
        }
    for (uint32_t i = 0; i < job->ops; i++) {
        struct left_out l = {s, &job->op[i], 0, times[i]};
        for (; l.times && l.op->name && l.rank < job->ranks; l.rank++)
            weft__job_each_sent(l.op, l.rank, leave_out, &l);
    }
    for (uint32_t i = 0; i < s->net->programs->n; i++)
        s->net->programs->program[i].passes = s->passes;
    if (s->groups) pass_groups(s, times);
}

/// Queue pairs on which nothing comes are no work that the run waits for.
static uint64_t count_idle(const struct weft__network *net) {
    uint64_t idle = 0;
    for (uint32_t q = 0; q < net->qps; q++)
        idle += net->hosts.carrier[q].sending && !net->hosts.carrier[q].sending->left_bytes;
    return idle;
}

// --- whether it can be ----------------------------------------------------------------------------------------------

static struct weft_place place_of(const struct weft_scenario *scenario) {
    const struct weft_tree *sample = weft_tree_find(weft_tree_find(scenario->tree, "run"), "sample");
    return sample ? sample->key_place : WEFT_NOWHERE;
}

/// What of the scenario stands against it; NULL: nothing.
static const char *why_not(const struct weft_run_conf *run, const struct weft_topology *topology,
                           const struct weft_workload *w) {
    if (!w->jobs) return "there is no job, and operations of jobs are what is sampled";
    if (w->jobs > 1) return "there are several jobs: which operations of one meet which of the other is not known";
    if (w->job->schedule) return "the job goes by a schedule or a trace, which has no iterations";
    if (w->job_flows < w->flows || w->rmas)
        return "there are flows beside the job, and the time between operations is left out";
    if (topology->events) return "links fail or return (events) at times that are left out";
    if (run->until_ps != WEFT_TIME_NEVER) return "run.until is set, and the clock stands still for what is left out";
    if (run->fast_forward != WEFT_FAST_FORWARD_OFF) return "run.fast_forward skips operations too";
    if (run->sample_interval_ps)
        return "there are time series (run.sample_interval), which do not count what is left out";
    bool collective = false;
    for (uint32_t i = 0; i < w->job->ops; i++)
        collective |= w->job->op[i].name != NULL;
    return collective ? NULL : "the job has no collective";
}

static enum weft_status refuse_sample(const struct weft_scenario *scenario, const char *why,
                                      struct weft_error *ret_error) {
    return WEFT_REFUSE(ret_error, place_of(scenario), "run.sample: %s; expected all of it in packets, or another job",
                       why);
}

enum weft_status weft__sample_check(const struct weft_scenario *scenario, const struct weft_topology *topology,
                                    const struct weft_workload *workload, struct weft_error *ret_error) {
    const struct weft_sample_conf *conf = &scenario->run.sample;
    bool asked = conf->operations || conf->until_interval > 0;
    const char *why = asked ? why_not(&scenario->run, topology, workload) : NULL;
    return why ? refuse_sample(scenario, why, ret_error) : WEFT_OK;
}

/// What of this run stands against it; NULL: nothing.
static const char *why_refused(const struct weft__network *net, bool ranks, bool checkpoints) {
    if (net->driver) return "a program drives the hosts";
    if (ranks) return "the run is over several processes";
    if (net->scenario->run.sample.until_interval > 0 && checkpoints)
        return "a run that samples until_interval is several runs, and a checkpoint holds one";
    if (net->following) return "flows are followed, by times that do not count what is left out";
    return NULL;
}

enum weft_status weft__sample_start(struct weft__network *net, bool ranks, bool checkpoints,
                                    struct weft__sample **ret_sample, struct weft_error *ret_error) {
    *ret_sample = NULL;
    const struct weft_sample_conf *conf = &net->scenario->run.sample;
    if (!conf->operations && conf->until_interval <= 0) return WEFT_OK;
    const char *refused = why_refused(net, ranks, checkpoints);
    struct weft__sample *s = weft_arena_alloc(net->arena_qp, 1, sizeof *s);
    if (!refused) {
        *s = (struct weft__sample){.net = net, .job = net->workload->job};
        find_rounds(s);
        if (!s->units) refused = "the job has no collective";
    }
    if (refused) return refuse_sample(net->scenario, refused, ret_error);
    find_classes(s);
    find_parts(s);
    struct weft_random random = weft_random_stream(conf->seed, 0, WEFT_RANDOM_OPERATION);
    choose_units(s, &random);
    weft__sample_choose_groups(s, &random);
    pass_units(s);
    net->engine.conf.work -= count_idle(net);
    *ret_sample = s;
    return WEFT_OK;
}
