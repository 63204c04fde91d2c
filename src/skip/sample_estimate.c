// SPDX-License-Identifier: Apache-2.0
// What a sample says of the operations that were left out. The time of a unit is from the end of the one before, at the
// last rank, to its own end: these add up to the time of the job. What is not computing is in a ratio to the bound of
// its collective; the ratio of a class is that of the sums over its sample. An operation at the begin of an iteration
// is compared with the same one of other iterations only.
//
// Intervals: Student's t on the residuals of the sample, for as many operations as were left out; of the job, the sum
// of these variances, with as many degrees of freedom as Satterthwaite gives it (Biometrics Bulletin 2, 1946). Where
// later operations of the sample took another time than earlier ones (beyond that interval), ranks have not settled:
// the interval is wider by the difference, and the result says so; a difference within chance counts as one more
// deviation. So does how far ranks may still wander (wander_of), which the sample itself does not show.
#include <math.h>

#include "skip/sample.h"
#include "weft/memory.h"
#include "weft/statistics.h"

enum { FREEDOM_MAX = 1000 }; ///< of Student's t, which is normal from there on
#define STEADY 0.01 ///< of the time left out: how far ranks may wander unseen; rings across a DSF do by 1.5% (assumed)
#define ALIKE_MAX 0.9 ///< correlation of residuals that follow one another (assumed)

/// Residuals of a sample, each of what was drawn together (a period of operations), as parts of the whole.
struct spread {
    uint32_t n, all;       ///< drawn; to be drawn from
    double squares;        ///< sums
    double products, last; ///< of those that follow one another; the last one
    double early, late;    ///< sums, of the halves of each round's sample
    uint32_t n_early;
};

/// What is known of operations that are alike: of one class, all later ones; or of one unit, at the begin of
/// iterations.
struct stratum {
    uint64_t instances, n;
    double x, y;         ///< sums over the sample of bounds, and of times without computing
    double x_0, y_0;     ///< of these, in the first iteration; 0 for later operations
    double x_left;       ///< of bounds, of what is left out
    double compute, all; ///< of all: computing; times, as far as they are known or estimated
    double exposed;      ///< of the sample: exposed time
    struct spread spread;
    double residual;          ///< of the period at hand
    size_t counted, compared; ///< the last such period
};

struct sums {
    double variance, freedom, drift; ///< freedom: sum of variance^2 over degrees of freedom
    double left;                     ///< time left out, without computing
    double trend;                    ///< the difference of the sample's halves, where it may be chance
    double wander;                   ///< see wander_of
};

struct estimate {
    const struct weft__sample *s;
    struct weft_job_outcome *o;
    struct stratum *first; ///< [units]
    struct stratum *later; ///< [classes]
    struct spread spread;  ///< of all later ones together
    uint32_t *drawn, seen; ///< [rounds]: later periods that ran; of the round at hand, so far
    double *time;          ///< [rounds * units]: without computing; NAN: left out
    bool of_groups;        ///< some groups of ranks ran
    struct weft__sample_groups groups;
    double meetings, between; ///< how often groups wait for one another, or end; units of each before that
};

static struct stratum *stratum_of(const struct estimate *e, uint32_t unit) {
    const struct weft__sample_unit *u = &e->s->unit[unit];
    return u->first ? &e->first[unit] : &e->later[u->class];
}

/// The first iteration begins in step, as no other does, so its first operations speak for themselves only.
static double ratio_of(const struct stratum *t) {
    return t->x > t->x_0 ? (t->y - t->y_0) / (t->x - t->x_0) : t->y / t->x;
}

/// When the last rank has ended the unit, by the engine's clock.
static weft_time_ps end_of(const struct estimate *e, uint32_t round, uint32_t unit) {
    const struct weft__sample_unit *u = &e->s->unit[unit];
    uint32_t iteration = weft__sample_iteration(e->s, round, unit);
    if (u->last) return e->o->iteration_end_ps[iteration];
    return e->o->op[(size_t)iteration * e->s->job->ops + u->op].end_ps;
}

/// The mean over ranks, over the unit's operations.
static double exposed_of(const struct estimate *e, uint32_t round, uint32_t unit) {
    const struct weft__sample_unit *u = &e->s->unit[unit];
    uint32_t iteration = weft__sample_iteration(e->s, round, unit);
    if (e->s->whole) return (double)e->o->iteration_exposed_ps[iteration];
    return (double)e->o->op[(size_t)iteration * e->s->job->ops + u->op].exposed_ps;
}

static void take_times(struct estimate *e) {
    const struct weft__sample *s = e->s;
    weft_time_ps before = s->job->start_ps;
    uint32_t local = 0;
    for (uint32_t r = 0; r < s->rounds; r++)
        for (uint32_t u = 0; u < s->units; u++) {
            size_t at = (size_t)r * s->units + u;
            struct stratum *t = stratum_of(e, u);
            t->instances++;
            if (s->unit[u].first) t->spread.all++;
            t->compute += s->unit[u].compute_ps;
            if (!s->runs[at]) {
                t->x_left += s->unit[u].bound_ps;
                e->time[at] = NAN;
                continue;
            }
            weft_time_ps end = end_of(e, r, u);
            e->time[at] = (double)end - (double)before - s->unit[u].compute_ps;
            if (e->of_groups && weft__sample_is_local(s, u))
                e->time[at] = e->groups.mean[local++] - s->unit[u].compute_ps;
            before = end;
            t->n++;
            t->x += s->unit[u].bound_ps;
            t->y += e->time[at];
            t->exposed += exposed_of(e, r, u);
            if (r || !s->unit[u].first) continue;
            t->x_0 = t->x;
            t->y_0 = t->y;
        }
}

static double residual_of(const struct estimate *e, const struct stratum *t, size_t at) {
    double x = e->s->unit[at % e->s->units].bound_ps;
    return (e->time[at] - t->y / t->x * x) * (t->x + t->x_left) / t->x;
}

/// `late`: in the later half of its round's sample.
static void note_residual(struct spread *s, double residual, bool late) {
    s->squares += residual * residual;
    s->products += residual * s->last;
    s->last = residual;
    *(late ? &s->late : &s->early) += residual;
    s->n++;
    s->n_early += !late;
}

/// Calls `what` for each period of each round: for its places in `runs`.
static void for_periods(struct estimate *e, void (*what)(struct estimate *e, size_t from, size_t to)) {
    const struct weft__sample *s = e->s;
    for (uint32_t r = 0; r < s->rounds; r++)
        for (uint32_t from = 0; from < s->units; from += s->period) {
            size_t at = (size_t)r * s->units;
            what(e, at + from, at + (from + s->period < s->units ? from + s->period : s->units));
        }
}

/// A period is drawn or left out as a whole.
static void count_period(struct estimate *e, size_t from, size_t to) {
    if (e->s->unit[from % e->s->units].first) return;
    e->spread.all++;
    e->drawn[from / e->s->units] += e->s->runs[from];
    for (size_t at = from; at < to; at++) {
        struct stratum *t = stratum_of(e, (uint32_t)(at % e->s->units));
        if (t->counted == from + 1) continue;
        t->counted = from + 1;
        t->spread.all++;
    }
}

static void compare_period(struct estimate *e, size_t from, size_t to) {
    const struct weft__sample *s = e->s;
    double sum = 0;
    bool first = s->unit[from % s->units].first, runs = s->runs[from];
    if (from % s->units == 0) e->seen = 0;
    bool late = 2 * e->seen >= e->drawn[from / s->units];
    for (size_t at = from; at < to; at++) {
        struct stratum *t = stratum_of(e, (uint32_t)(at % s->units));
        t->all += runs ? e->time[at] : ratio_of(t) * s->unit[at % s->units].bound_ps;
        if (!runs) continue;
        double residual = residual_of(e, t, at);
        sum += residual;
        t->residual += residual;
        if (first) note_residual(&t->spread, residual, false);
    }
    for (size_t at = from; at < to && runs && !first; at++) {
        struct stratum *t = stratum_of(e, (uint32_t)(at % s->units));
        if (t->compared == from + 1) continue;
        t->compared = from + 1;
        note_residual(&t->spread, t->residual, late);
        t->residual = 0;
    }
    if (runs && !first) note_residual(&e->spread, sum, late);
    e->seen += runs && !first;
}

/// The variance of the sum over everything that could be drawn (Cochran, 6.3): residuals have the weight with which
/// they stand for the rest. Those that resemble the ones before them count as fewer (Zwiers and von Storch, Journal of
/// Climate 8, 1995).
static void add_variance(const struct spread *s, struct sums *sums) {
    if (s->n == s->all || s->n < 2) return;
    double n = s->n, alike = s->squares > 0 ? fmin(fmax(s->products / s->squares, 0), ALIKE_MAX) : 0;
    double variance = n / (n - 1) * s->squares * (1 - n / s->all) * (1 + alike) / (1 - alike);
    sums->variance += variance;
    sums->freedom += variance * variance / (n - 1);
}

static double half_of(const struct sums *sums) {
    double half = 0;
    if (sums->variance > 0) {
        double freedom = fmax(floor(sums->variance * sums->variance / sums->freedom), 1);
        half = weft_student_quantile(0.975, (uint32_t)fmin(freedom, FREEDOM_MAX)) * sqrt(sums->variance);
    }
    return hypot(hypot(half, sums->trend), fmax(sums->wander, STEADY * sums->left)) + sums->drift;
}

/// False: the later half of the sample differs from the earlier one by more than chance. Adds to sums->drift or trend.
static bool has_settled(const struct spread *s, struct sums *sums) {
    if (s->n < 4 || s->n == s->all || s->squares <= 0) return true;
    double n = s->n, half = s->n_early, rest = n - half;
    if (half < 1 || rest < 1) return true;
    double difference = fabs(s->early / half - s->late / rest);
    double deviation = sqrt(s->squares / (n - 1) * (1 / half + 1 / rest));
    bool settled = difference <= weft_student_quantile(0.975, s->n - 1) * deviation;
    *(settled ? &sums->trend : &sums->drift) += difference * n * (1 - n / s->all);
    return settled;
}

static double left_of(const struct stratum *t) {
    return t->x_left > 0 ? ratio_of(t) * t->x_left : 0;
}

/// How far ranks may still wander: the later operations of a round's sample follow one another, so all of them may be
/// in one state of a process that has others. Its size is known by the one stretch that began in another state, in
/// step: how much longer or shorter the first operations took. The sample is as long as so many stretches, and the
/// error of a mean falls with the root of their number.
static double wander_of(const struct estimate *e, uint32_t class) {
    const struct stratum *later = &e->later[class];
    double x = 0, y = 0, n = 0;
    for (uint32_t u = 0; u < e->s->units; u++) {
        if (e->s->unit[u].class != class || !e->s->unit[u].first) continue;
        x += e->first[u].x;
        y += e->first[u].y;
        n += (double)e->first[u].n;
    }
    if (!later->n || x <= 0) return 0;
    return fabs(y / x - ratio_of(later)) * later->x_left * sqrt(n / (n + (double)later->n));
}

/// Adds a row: of the later units of a class, or of its first ones, all positions together.
static void add_row(struct estimate *e, uint32_t class, bool first, struct sums *all) {
    const struct weft__sample *s = e->s;
    struct weft_sample_class row = {.op = s->whole ? WEFT_NONE : s->class_op[class], .first = first, .settled = true};
    struct sums own = {0};
    double x = 0, x_ran = 0, y = 0, time = 0;
    for (uint32_t u = 0; u < s->units; u++) {
        if (s->unit[u].class != class || s->unit[u].first != first) continue;
        const struct stratum *t = stratum_of(e, u);
        row.instances += t->instances;
        row.sampled += t->n;
        x += t->x + t->x_left;
        x_ran += t->x;
        y += t->y;
        time += t->all + t->compute;
        own.left += left_of(t);
        add_variance(&t->spread, &own);
        if (first) continue;
        row.settled = has_settled(&t->spread, &own);
        own.wander = wander_of(e, class);
        break; // one stratum for all
    }
    if (!row.instances) return;
    double n = (double)row.instances;
    row.bound_ps = x / n;
    row.ratio = y / x_ran;
    row.time_ps = time / n;
    row.half_ps = half_of(&own) / n;
    all->left += own.left;
    all->wander += own.wander;
    all->variance += first ? own.variance : 0; // later ones of all classes were drawn together
    all->freedom += first ? own.freedom : 0;
    e->o->sample[e->o->sample_classes++] = row;
}

/// Of the later operations of a class: relative to the time of those that are left out.
static double relative_half(const struct estimate *e, uint32_t class) {
    const struct stratum *t = &e->later[class];
    struct sums own = {.left = left_of(t), .wander = wander_of(e, class)};
    if (t->x_left <= 0) return 0;
    add_variance(&t->spread, &own);
    has_settled(&t->spread, &own);
    return half_of(&own) / own.left;
}

/// Gives the operations of a unit that ran their true times, and one that did not its estimate. `shift`: of the
/// engine's clock.
static void place_unit(const struct estimate *e, uint32_t round, uint32_t unit, double begin, double shift,
                       double time) {
    const struct weft__sample_unit *u = &e->s->unit[unit];
    const struct weft_job *job = e->s->job;
    struct weft_op_outcome *o = &e->o->op[(size_t)weft__sample_iteration(e->s, round, unit) * job->ops];
    bool ran = e->s->runs[(size_t)round * e->s->units + unit];
    uint32_t n = e->s->whole ? job->ops : u->turn_end - u->turn;
    for (uint32_t k = 0; k < n && ran; k++) {
        uint32_t i = e->s->whole ? k : job->stage->turn[u->turn + k].op;
        if (o[i].end_ps == WEFT_TIME_NEVER) continue;
        o[i].start_ps += (weft_time_ps)shift;
        o[i].end_ps += (weft_time_ps)shift;
    }
    if (ran || e->s->whole) return;
    const struct stratum *t = stratum_of(e, unit);
    o[u->op].start_ps = (weft_time_ps)(begin + u->compute_ps);
    o[u->op].end_ps = (weft_time_ps)(begin + u->compute_ps + fmax(time, 0));
    o[u->op].exposed_ps = (weft_time_ps)fmax(t->exposed / t->x * u->bound_ps, 0);
}

/// Groups of ranks wait for one another at an operation over ranks of several, or at the end of the job.
static void count_meetings(struct estimate *e) {
    const struct weft__sample *s = e->s;
    double local = 0;
    for (uint32_t u = 0; u < s->units; u++)
        local += weft__sample_is_local(s, u);
    bool meet = local < s->units;
    e->meetings = meet ? s->job->iterations : 1;
    e->between = local * s->rounds / e->meetings;
}

/// Iterations and collectives by the job's clock, on which everything takes its time. The slowest group of ranks is
/// later than their mean.
static void place_all(const struct estimate *e) {
    const struct weft__sample *s = e->s;
    double now = (double)s->job->start_ps, engine = now;
    for (uint32_t r = 0; r < s->rounds; r++)
        for (uint32_t u = 0; u < s->units; u++) {
            size_t at = (size_t)r * s->units + u;
            const struct stratum *t = stratum_of(e, u);
            double time = s->runs[at] ? e->time[at] : ratio_of(t) * s->unit[u].bound_ps;
            double end = s->runs[at] ? (double)end_of(e, r, u) : engine;
            uint32_t iteration = weft__sample_iteration(s, r, u);
            place_unit(e, r, u, now, now - engine, time);
            now += s->unit[u].compute_ps + time;
            engine = end;
            if (!s->runs[at]) {
                double exposed = t->exposed / t->x * s->unit[u].bound_ps;
                e->o->iteration_exposed_ps[iteration] += (weft_time_ps)exposed;
                e->o->exposed_ps += (weft_time_ps)exposed;
            }
            bool meets = s->unit[u].last && (e->meetings > 1 || iteration == s->job->iterations - 1);
            if (e->of_groups && meets) now += weft__sample_slowest(&e->groups, e->between);
            if (s->unit[u].last) e->o->iteration_end_ps[iteration] = (weft_time_ps)now;
        }
    e->o->end_ps = e->o->iteration_end_ps[s->job->iterations - 1];
}

/// Of the mean time of one of the `times` operations of a line of the job, in all iterations. What is known of the
/// first operations are independent samples; later ones of a class have one error in common.
static void tell_op_intervals(struct estimate *e) {
    const struct weft__sample *s = e->s;
    const struct weft_job *job = s->job;
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    uint32_t *line = weft_arena_alloc(arena, job->ops, sizeof *line); // the first operation of each one's line
    double *later = weft_arena_alloc(arena, job->ops, sizeof *later),
           *relative = weft_arena_alloc(arena, s->classes, sizeof *relative);
    struct sums *first = weft_arena_alloc(arena, job->ops, sizeof *first);
    for (uint32_t i = 0; i < job->ops; i++)
        line[i] = job->op[i].times || !i ? i : line[i - 1];
    for (uint32_t c = 0; c < s->classes; c++)
        relative[c] = relative_half(e, c);
    for (uint32_t u = 0; u < s->units; u++) {
        const struct weft__sample_unit *unit = &s->unit[u];
        const struct stratum *t = stratum_of(e, u);
        double left = 0;
        for (uint32_t r = 0; r < s->rounds; r++)
            left += !s->runs[(size_t)r * s->units + u];
        if (unit->first) {
            add_variance(&t->spread, &first[line[unit->op]]);
            first[line[unit->op]].left += left_of(t);
        } else if (left > 0)
            later[line[unit->op]] += relative[unit->class] * ratio_of(t) * unit->bound_ps * left;
        e->o->op_half_ps[line[unit->op]] = 0;
    }
    for (uint32_t i = 0; i < job->ops; i++)
        if (!isnan(e->o->op_half_ps[i]))
            e->o->op_half_ps[i] = hypot(half_of(&first[i]), later[i]) / ((double)job->iterations * job->op[i].times);
}

static void tell_intervals(struct estimate *e) {
    const struct weft__sample *s = e->s;
    struct weft_arena *arena = s->net->outcome->arena;
    struct sums all = {0};
    e->o->sample = weft_arena_alloc(arena, (size_t)2 * s->classes, sizeof *e->o->sample);
    for (uint32_t c = 0; c < s->classes; c++) {
        add_row(e, c, true, &all);
        add_row(e, c, false, &all);
    }
    add_variance(&e->spread, &all);
    has_settled(&e->spread, &all);
    e->o->end_half_ps = half_of(&all);
    if (e->of_groups)
        e->o->end_half_ps = hypot(e->o->end_half_ps, e->meetings * weft__sample_groups_half(&e->groups, e->between));
    bool one = !s->groups && s->net->scenario->run.sample.groups; // all ranks ran
    e->o->sample_groups = one ? 1 : s->groups;
    e->o->sample_groups_ran = one ? 1 : s->groups_run;
    e->o->op_half_ps = weft_arena_alloc(arena, s->job->ops, sizeof *e->o->op_half_ps);
    for (uint32_t i = 0; i < s->job->ops; i++)
        e->o->op_half_ps[i] = NAN; // the mean of those that ran
    if (!s->whole) tell_op_intervals(e);
}

/// Times by the engine's clock, which stands still for what is left out, are none of the job's.
static void drop_times(const struct weft__sample *s) {
    struct weft_outcome *o = s->net->outcome;
    for (uint32_t f = 0; f < o->flows; f++)
        o->flow[f].end_ps = o->flow[f].acked_ps = WEFT_TIME_NEVER;
    for (uint32_t i = 0; i < s->job->iterations && o->job->end_ps == WEFT_TIME_NEVER; i++)
        o->job->iteration_end_ps[i] = WEFT_TIME_NEVER;
}

static bool leaves_out(const struct weft__sample *s) {
    if (s->groups_run < s->groups) return true;
    size_t n = (size_t)s->rounds * s->units;
    for (size_t i = 0; i < n; i++)
        if (!s->runs[i]) return true;
    return false;
}

void weft__sample_collect(const struct weft__sample *s) {
    struct weft_job_outcome *o = s->net->outcome->job;
    if (leaves_out(s)) drop_times(s);
    if (o->end_ps == WEFT_TIME_NEVER) return;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    struct estimate e = {
        .s = s,
        .o = o,
        .first = weft_arena_alloc(arena, s->units, sizeof *e.first),
        .later = weft_arena_alloc(arena, s->classes, sizeof *e.later),
        .time = weft_arena_alloc(arena, (size_t)s->rounds * s->units, sizeof *e.time),
        .drawn = weft_arena_alloc(arena, s->rounds, sizeof *e.drawn),
    };
    e.groups.mean = weft_arena_alloc(arena, (size_t)s->rounds * s->units, sizeof *e.groups.mean);
    e.of_groups = weft__sample_analyse_groups(s, &e.groups);
    count_meetings(&e);
    take_times(&e);
    for_periods(&e, count_period);
    for_periods(&e, compare_period);
    tell_intervals(&e);
    place_all(&e);
    weft_arena_free(arena);
}

bool weft__sample_suffices(const struct weft_outcome *outcome, const struct weft_scenario *scenario) {
    const struct weft_job_outcome *o = outcome->job;
    if (!outcome->jobs || outcome->end != WEFT_END_DONE || !o->sample_classes) return true;
    return o->end_half_ps <= scenario->run.sample.until_interval * (double)o->end_ps;
}
