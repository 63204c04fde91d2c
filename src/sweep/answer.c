// SPDX-License-Identifier: Apache-2.0
// A sweep as rows. Two tables have columns that only the sweep knows: the parameters that it varies, the figures of
// every run, and the metrics that the user named.
#include <string.h>

#include "base/grow.h"
#include "results/rows.h"
#include "sweep/cells.h"

struct point {
    uint32_t number;
    const char *variant, *command;
    const struct weft_result_value *parameter; ///< [axes]
};

/// A group of flows in a run.
struct row {
    const struct point *point;
    const struct weft_sweep_run *run;
    const struct weft_sweep_row *row;
    const struct weft_result_value *metric; ///< [own]
};

struct rank {
    uint32_t number, point;
    const char *metric, *group, *direction, *verdict;
};

struct setting {
    const char *variant, *path, *value, *normal;
};

struct fact {
    const char *key, *value;
};

struct spread {
    const char *metric;
    struct weft_spread s;
    struct weft_sweep_interval interval;
};

struct answer {
    struct weft_sweep_shown shown;
    const struct weft_sweep_results *r;
    struct weft_arena *arena;
    uint32_t state[WEFT_SWEEP_FAILED + 1], points, rows, groups, ranks, settings, facts, owns;
    uint32_t *own; ///< [owns]: metrics that are in no column of runs
    struct point *point;
    struct row *row;
    const char **group;
    struct rank *rank;
    struct setting *setting;
    struct fact fact[6];
};

static const struct answer *answer_of(const struct weft_result_cursor *c) {
    return c->subject;
}

// --- the sweep as a whole, and its points -------------------------------------------------------------------------

WEFT_RESULT_VALUE(scenario_of, WEFT__RESULT_TEXT(answer_of(c)->r->name))
WEFT_RESULT_VALUE(no_variant, WEFT__RESULT_TEXT(""))
static const struct weft_result_table progress_table = WEFT_RESULT_TABLE_OF(
    "progress", OBJECT, "a sweep", WEFT_RESULT_SUBJECT, WEFT_RESULT_VERSION,
    WEFT_RESULT_CALL(scenario_of, "scenario", TEXT, "name of the scenario"),
    WEFT_RESULT_CALL(no_variant, "variant", TEXT, "empty: a sweep has several variants"),
    WEFT_RESULT_NAMED(struct answer, shown.interrupted, "interrupted", BOOL,
                      "the sweep was interrupted, and runs are missing"),
    WEFT_RESULT_NAMED(struct answer, state[WEFT_SWEEP_MISSING], "missing", COUNT, "runs that have not been run"),
    WEFT_RESULT_NAMED(struct answer, state[WEFT_SWEEP_DONE], "done", COUNT, "runs that ended"),
    WEFT_RESULT_NAMED(struct answer, state[WEFT_SWEEP_STALLED], "stalled", COUNT, "runs whose network stalled"),
    WEFT_RESULT_NAMED(struct answer, state[WEFT_SWEEP_FAILED], "failed", COUNT, "runs that gave no result"));

#define POINT_KEY                                                                                                      \
    WEFT_RESULT_NAMED(struct point, number, "point", COUNT, "number of the point, from 0", .flags = WEFT_RESULT_KEY)
static const struct weft_result_column point_columns[] = {
    POINT_KEY,
    WEFT_RESULT(struct point, variant, TEXT, "name of the variant"),
    WEFT_RESULT(struct point, command, TEXT, "the command that runs this point", .flags = WEFT_RESULT_TABLES),
};
static const struct weft_result_table points_table =
    WEFT_RESULT_TABLE("points", LIST, "a point: a variant with a value for each varied parameter", point_columns,
                      WEFT_RESULT_EACH(struct answer, point, points));

#define OF_POINT WEFT_RESULT_ABOVE_KEY("point", "point", COUNT, "number of the point, from 0")
static bool next_parameter(struct weft_result_cursor *c) {
    const struct weft_sweep *s = answer_of(c)->r->sweep;
    const struct point *point = c->above->part[0];
    if (c->at == s->axes) return false;
    c->part[0] = &s->axis[c->at];
    c->part[1] = &s->point[point->number].value[c->at++];
    return true;
}
static const struct weft_result_table parameters_table = WEFT_RESULT_TABLE_OF(
    "points.parameters", NUMBERS, "a parameter that the sweep varies, with its value at a point",
    .next = next_parameter, OF_POINT,
    WEFT_RESULT(struct weft_sweep_axis, path, TEXT, "path of the varied parameter", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT_AT(1, struct weft_sweep_value, text, "value", TEXT, "value of the parameter at this point"));

static bool next_run(struct weft_result_cursor *c) {
    const struct weft_sweep_results *r = answer_of(c)->r;
    const struct point *point = c->above->part[0];
    return weft_result_take_from(c, r->sweep->seeds, weft__sweep_run_at(r, point->number, 0),
                                 sizeof(struct weft_sweep_run));
}
static const char *state_name(const struct weft_sweep_run *run) {
    double low, high;
    return run->state == WEFT_SWEEP_DONE && weft_sweep_run_part(run, &low, &high) ? "estimated"
                                                                                  : weft_sweep_state_names[run->state];
}
WEFT_RESULT_VALUE_OF(state_of, struct weft_sweep_run, run, WEFT__RESULT_TEXT(state_name(run)))
static double part_of(const struct weft_sweep_run *run, bool upper) {
    double low, high;
    weft_sweep_run_part(run, &low, &high);
    return upper ? high : low;
}
WEFT_RESULT_VALUE_OF(low_part, struct weft_sweep_run, run, WEFT__RESULT_REAL(part_of(run, false)))
WEFT_RESULT_VALUE_OF(high_part, struct weft_sweep_run, run, WEFT__RESULT_REAL(part_of(run, true)))
WEFT_RESULT_VALUE_OF(digest_of, struct weft_sweep_run, run,
                     WEFT__RESULT_TEXT(strcmp(state_name(run), "estimated") ? run->digest : NULL))
static const struct weft_result_table runs_table = WEFT_RESULT_TABLE_OF(
    "points.runs", LIST, "a run: a point with a seed", .next = next_run, OF_POINT,
    WEFT_RESULT_NUMBER("number", "number of the run at its point, from 0"),
    WEFT_RESULT(struct weft_sweep_run, seed, COUNT, "seed of the run"),
    WEFT_RESULT_CALL(state_of, "state", TEXT, "done, estimated, stalled, failed or missing"),
    WEFT_RESULT_CALL(digest_of, "digest", TEXT, "hash of all results of the run", .flags = WEFT_RESULT_OPTIONAL),
    WEFT_RESULT(struct weft_sweep_run, message, TEXT, "why the run failed", .flags = WEFT_RESULT_OPTIONAL),
    WEFT_RESULT_CALL(low_part, "estimate.low", REAL,
                     "lower end of the 90% interval of an estimated run, as a part of its times",
                     .flags = WEFT_RESULT_SPARSE),
    WEFT_RESULT_CALL(high_part, "estimate.high", REAL,
                     "upper end of the 90% interval of an estimated run, as a part of its times",
                     .flags = WEFT_RESULT_SPARSE));

// --- statistics over seeds ----------------------------------------------------------------------------------------

WEFT_RESULT_VALUE_OF(low_of, struct spread, row, WEFT__RESULT_REAL(row->s.mean - row->s.half))
WEFT_RESULT_VALUE_OF(high_of, struct spread, row, WEFT__RESULT_REAL(row->s.mean + row->s.half))
#define SPREAD_COLUMNS(in, first, set)                                                                                 \
    WEFT_RESULT_NAMED(struct spread, s.n, in "seeds", COUNT, "seeds with a value", .flags = first),                    \
        WEFT_RESULT_NAMED(struct spread, s.mean, in "mean", REAL, "mean over these seeds", .flags = set),              \
        WEFT_RESULT_NAMED(struct spread, s.median, in "median", REAL, "median over these seeds", .flags = set),        \
        WEFT_RESULT_CALL(low_of, in "low", REAL, "lower end of the 95% interval of the mean", .flags = set),           \
        WEFT_RESULT_CALL(high_of, in "high", REAL, "upper end of the 95% interval of the mean", .flags = set),         \
        WEFT_RESULT_NAMED(struct spread, interval.low, in "estimate.low", REAL,                                        \
                          "lower end of the 90% interval of an estimate; none: a run, or not calibrated",              \
                          .flags = WEFT_RESULT_SPARSE),                                                                \
        WEFT_RESULT_NAMED(struct spread, interval.high, in "estimate.high", REAL,                                      \
                          "upper end of the 90% interval of an estimate; none: a run, or not calibrated",              \
                          .flags = WEFT_RESULT_SPARSE)

static const struct weft_sweep_interval no_interval = {false, NAN, NAN};
static struct weft_sweep_interval interval_of(const struct answer *a, uint32_t point,
                                              const struct weft_sweep_metric *m) {
    struct weft_sweep_interval interval = weft_sweep_interval_of(a->r, point, m);
    return interval.estimated ? interval : no_interval;
}

static bool take_spread(struct weft_result_cursor *c, uint32_t point, const struct weft_sweep_metric *m,
                        const double *value) {
    struct spread *row = weft_arena_alloc(c->arena, 1, sizeof *row);
    *row = (struct spread){m->name, weft_spread_of(value, answer_of(c)->r->sweep->seeds, c->arena),
                           interval_of(answer_of(c), point, m)};
    c->part[0] = row;
    return row->s.n;
}

static bool next_group(struct weft_result_cursor *c) {
    return weft_result_take_from(c, answer_of(c)->groups, answer_of(c)->group, sizeof(const char *));
}
static const struct weft_result_table groups_table = WEFT_RESULT_TABLE_OF(
    "points.groups", MAP, "a group of flows at a point", .next = next_group, OF_POINT,
    WEFT_RESULT_ITEM(const char *, "group", TEXT, "name of the group of flows", .flags = WEFT_RESULT_KEY));

/// Columns that have a value with some seed.
static bool next_figure(struct weft_result_cursor *c) {
    const struct weft_sweep_results *r = answer_of(c)->r;
    const struct point *point = c->above->above->part[0];
    const char *group = *(const char *const *)c->above->part[0];
    while (c->at < r->columns) {
        uint32_t column = (uint32_t)c->at++;
        const double *value = weft_sweep_values(r, point->number, group, column, c->arena);
        const struct weft_sweep_metric m = {.name = r->column[column].name, .group = group, .column = column};
        if (take_spread(c, point->number, &m, value)) return true;
    }
    return false;
}
#define METRIC WEFT_RESULT(struct spread, metric, TEXT, "name of the metric", .flags = WEFT_RESULT_KEY)
static const struct weft_result_table figures_table = WEFT_RESULT_TABLE_OF(
    "points.groups.metrics", MAP, "a metric of a group at a point, over seeds",
    WEFT_RESULT_AND(.merged = weft_result_always, .next = next_figure), OF_POINT,
    WEFT_RESULT_ABOVE_KEY("group", "group", TEXT, "name of the group of flows"), METRIC, SPREAD_COLUMNS("", 0, 0));

static bool next_metric(struct weft_result_cursor *c) {
    const struct weft_sweep_results *r = answer_of(c)->r;
    const struct point *point = c->above->part[0];
    if (c->at == r->metrics) return false;
    const struct weft_sweep_metric *m = &r->metric[c->at++];
    take_spread(c, point->number, m, weft_sweep_metric_values(r, point->number, m, c->arena));
    c->part[1] = m;
    return true;
}
WEFT_RESULT_VALUE(is_of_run, WEFT__RESULT_WHOLE(((const struct weft_sweep_metric *)c->part[1])->column == WEFT_NONE))
static const struct weft_result_table metrics_table = WEFT_RESULT_TABLE_OF(
    "points.metrics", MAP, "a metric that the user named, at a point, over seeds", .next = next_metric, OF_POINT,
    METRIC, SPREAD_COLUMNS("", 0, 0),
    WEFT_RESULT_CALL(is_of_run, "of_run", BOOL, "the metric is of the whole run: no column of the table sweep has it",
                     .flags = WEFT_RESULT_TABLES));

// --- the best point -----------------------------------------------------------------------------------------------

static bool next_best(struct weft_result_cursor *c) {
    const struct weft_sweep_best *best = answer_of(c)->shown.best;
    struct spread *row = weft_arena_alloc(c->arena, 1, sizeof *row);
    static const struct weft_spread none = {0, NAN, NAN, NAN};
    if (best)
        *row = best->point == WEFT_NONE ? (struct spread){best->metric->name, none, no_interval}
                                        : (struct spread){best->metric->name, best->spread,
                                                          interval_of(answer_of(c), best->point, best->metric)};
    return weft_result_take(c, best ? row : NULL, best);
}
#define BEST(c) ((const struct weft_sweep_best *)(c)->part[1])
WEFT_RESULT_VALUE(direction_of, WEFT__RESULT_TEXT(BEST(c)->metric->max ? "max" : "min"))
static const struct weft_result_table best_table = WEFT_RESULT_TABLE_OF(
    "best", OBJECT, "the point with the best mean of a metric", .next = next_best,
    WEFT_RESULT(struct spread, metric, TEXT, "name of the metric"),
    WEFT_RESULT_CALL(direction_of, "direction", TEXT, "max if the greatest value is best, or min"),
    WEFT_RESULT_AT(1, struct weft_sweep_best, point, "point", COUNT, "number of the best point",
                   .flags = WEFT_RESULT_SPARSE),
    SPREAD_COLUMNS("value.", WEFT_RESULT_OPTIONAL, WEFT_RESULT_SPARSE | WEFT_RESULT_TOGETHER),
    WEFT_RESULT_AT(1, struct weft_sweep_best, left_out, "left_out", COUNT, "points without a value with some seed"));

static bool next_like(struct weft_result_cursor *c) {
    const struct weft_sweep_best *best = BEST(c->above);
    return weft_result_take_from(c, best->likes, best->like, sizeof *best->like);
}
WEFT_RESULT_VALUES(like_table, "best.like", "a point that cannot be told from the best", .next = next_like, , uint32_t,
                   COUNT);

// --- tables only --------------------------------------------------------------------------------------------------

/// Parts: the row, its point, the figures of its group, and its run.
static bool next_row(struct weft_result_cursor *c) {
    const struct answer *a = answer_of(c);
    if (!weft_result_take_from(c, a->rows, a->row, sizeof *a->row)) return false;
    const struct row *row = c->part[0];
    c->part[1] = row->point;
    c->part[2] = row->row;
    c->part[3] = row->run;
    return true;
}
WEFT_RESULT_VALUE_OF(end_of, struct row, row, WEFT__RESULT_TEXT(state_name(row->run)))
static const struct weft_result_column sweep_columns[] = {
    WEFT_RESULT_AT(1, struct point, number, "point", COUNT, "number of the point, from 0", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT_AT(1, struct point, variant, "variant", TEXT, "name of the variant"),
    WEFT_RESULT_AT(3, struct weft_sweep_run, seed, "seed", COUNT, "seed of the run", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT_AT(2, struct weft_sweep_row, group, "group", TEXT, "name of the group of flows",
                   .flags = WEFT_RESULT_KEY),
    WEFT_RESULT_CALL(end_of, "end", TEXT, "done, estimated or stalled"),
    WEFT_RESULT_AT(3, struct weft_sweep_run, digest, "digest", TEXT, "hash of all results of the run"),
    WEFT_RESULT_AT(3, struct weft_sweep_run, sim_time_ps, "sim_time_ps", TIME, "simulated time of the run"),
};
static const struct weft_result_table sweep_table =
    WEFT_RESULT_TABLE("sweep", APART, "a group of flows in a run: the varied parameters and every figure of the run",
                      sweep_columns, .next = next_row);

static const struct weft_result_table ranking_table = WEFT_RESULT_TABLE_OF(
    "ranking", APART, "a point and a metric: how the point compares with the best",
    WEFT_RESULT_EACH(struct answer, rank, ranks),
    WEFT_RESULT(struct rank, number, COUNT, "number of the metric, in the order of metrics"),
    WEFT_RESULT(struct rank, metric, TEXT, "name of the metric", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT(struct rank, group, TEXT, "group of flows; empty of a metric without a group",
                .flags = WEFT_RESULT_KEY),
    WEFT_RESULT(struct rank, direction, TEXT, "which value is best: greatest or least"),
    WEFT_RESULT(struct rank, point, COUNT, "number of the point, from 0", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT(struct rank, verdict, TEXT,
                "best, alike (cannot be told from the best), worse, not judged (one seed) "
                "or left out (without a value with some seed)"));
static const struct weft_result_table config_table = WEFT_RESULT_TABLE_OF(
    "config", APART, "a parameter of a variant that is not varied", WEFT_RESULT_EACH(struct answer, setting, settings),
    WEFT_RESULT(struct setting, variant, TEXT, "name of the variant", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT(struct setting, path, TEXT, "path of the parameter", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT(struct setting, value, TEXT, "value in force"),
    WEFT_RESULT_NAMED(struct setting, normal, "default", TEXT, "default of the parameter"));
static const struct weft_result_table about_table = WEFT_RESULT_TABLE_OF(
    "about", APART, "a fact about the sweep", WEFT_RESULT_FIRST(struct answer, fact[0], facts),
    WEFT_RESULT(struct fact, key, TEXT, "weft, commit, scenario, about, path or settings", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT(struct fact, value, TEXT, "text of the fact"));

const struct weft_answer weft__answer_sweep =
    WEFT_ANSWER_OF("sweep", "weft sweep: a scenario at many points, over seeds", &progress_table, &points_table,
                   &parameters_table, &runs_table, &groups_table, &figures_table, &metrics_table, &best_table,
                   &like_table, &sweep_table, &ranking_table, &config_table, &about_table);

// --- columns of one sweep -----------------------------------------------------------------------------------------

#define CELL(at, n, kind, ...)                                                                                         \
    (struct weft_result_column) {                                                                                      \
        .source = WEFT_RESULT_FROM_CELL, .offset = (uint32_t)(at), .cell = (n), .type = (uint8_t)(kind), __VA_ARGS__   \
    }

/// The parameters, behind the columns `point` and `variant`.
static struct weft_result_column *put_parameters(struct weft_result_column *to, const struct answer *a, uint8_t part,
                                                 size_t offset) {
    for (uint32_t i = 0; i < a->r->sweep->axes; i++)
        *to++ = CELL(offset, i, WEFT_RESULT_TEXT, .part = part, .name = a->r->sweep->axis[i].path,
                     .help = "varied parameter", .flags = WEFT_RESULT_TABLES);
    return to;
}

static const struct weft_result_table *with_columns(const struct weft_result_table *table, struct weft_arena *arena,
                                                    const struct weft_result_column *column,
                                                    const struct weft_result_column *end) {
    struct weft_result_table *new = weft_arena_alloc(arena, 1, sizeof *new);
    *new = *table;
    new->column = column;
    new->columns = (uint32_t)(end - column);
    return new;
}

static const struct weft_result_table *make_points(const struct answer *a) {
    struct weft_result_column *column = weft_arena_alloc(a->arena, 3 + a->r->sweep->axes, sizeof *column), *at = column;
    *at++ = point_columns[0];
    *at++ = point_columns[1];
    at = put_parameters(at, a, 0, offsetof(struct point, parameter));
    *at++ = point_columns[2];
    return with_columns(&points_table, a->arena, column, at);
}

static const struct weft_result_table *make_sweep(const struct answer *a) {
    enum { FIXED = sizeof sweep_columns / sizeof *sweep_columns, BEFORE = 2 };
    const struct weft_sweep_results *r = a->r;
    struct weft_result_column *column =
        weft_arena_alloc(a->arena, FIXED + r->sweep->axes + r->columns + a->owns, sizeof *column);
    struct weft_result_column *at = column;
    for (uint32_t i = 0; i < BEFORE; i++)
        *at++ = sweep_columns[i];
    at = put_parameters(at, a, 1, offsetof(struct point, parameter));
    for (uint32_t i = BEFORE; i < FIXED; i++)
        *at++ = sweep_columns[i];
    for (uint32_t i = 0; i < r->columns; i++)
        *at++ = CELL(offsetof(struct weft_sweep_row, value), i, r->column[i].column->type, .part = 2,
                     .name = r->column[i].name, .help = r->column[i].column->help, .unit = r->column[i].column->unit);
    for (uint32_t i = 0; i < a->owns; i++)
        *at++ = CELL(offsetof(struct row, metric), i, WEFT_RESULT_REAL, .name = r->metric[a->own[i]].heading,
                     .help = "metric that the user named", .flags = WEFT_RESULT_EXACT);
    return with_columns(&sweep_table, a->arena, column, at);
}

// --- its rows -----------------------------------------------------------------------------------------------------

static void list_points(struct answer *a) {
    const struct weft_sweep *s = a->r->sweep;
    a->points = s->points;
    a->point = weft_arena_alloc(a->arena, s->points, sizeof *a->point);
    for (uint32_t p = 0; p < s->points; p++) {
        struct weft_result_value *value = weft_arena_alloc(a->arena, s->axes, sizeof *value);
        for (uint32_t i = 0; i < s->axes; i++)
            value[i] = WEFT__RESULT_TEXT(s->point[p].value[i].text);
        a->point[p] = (struct point){p, weft__sweep_variant(a->r, p), weft_sweep_command(a->r, p, a->arena), value};
    }
}

static void list_rows(struct answer *a) {
    const struct weft_sweep *s = a->r->sweep;
    for (uint32_t i = 0; i < s->points * s->seeds; i++) {
        const struct weft_sweep_run *run = &a->r->run[i];
        struct weft_result_value *value = weft_arena_alloc(a->arena, a->owns, sizeof *value);
        for (uint32_t k = 0; k < a->owns; k++)
            value[k] = WEFT__RESULT_REAL(weft_sweep_run_value(run, &a->r->metric[a->own[k]]));
        for (uint32_t g = 0; g < run->rows; g++) {
            WEFT__ADD(a->arena, a->row, a->rows) = (struct row){&a->point[i / s->seeds], run, &run->row[g], value};
        }
    }
}

static const char *verdict_on(const struct answer *a, const struct weft_sweep_best *best, uint32_t point) {
    struct weft_spread spread =
        weft_spread_of(weft_sweep_metric_values(a->r, point, best->metric, a->arena), a->r->sweep->seeds, a->arena);
    if (spread.n < a->r->sweep->seeds) return "left out";
    for (uint32_t i = 0; i < best->likes; i++)
        if (best->like[i] == point) return "alike";
    return point == best->point ? "best" : best->judged ? "worse" : "not judged";
}

/// `number`: the order of metrics; what was ranked before by the same column stays.
static void rank_points(struct answer *a, uint32_t number, const struct weft_sweep_metric *m) {
    struct weft_sweep_best best = weft_sweep_best(a->r, m, a->arena);
    bool own = m->column == WEFT_NONE;
    struct rank rank = {.number = number, .direction = m->max ? "greatest" : "least"};
    rank.metric = own ? m->name : a->r->column[m->column].name;
    rank.group = own || !m->group ? "" : m->group;
    for (uint32_t i = 0; i < a->ranks; i++)
        if (!strcmp(a->rank[i].metric, rank.metric) && !strcmp(a->rank[i].group, rank.group)) return;
    for (rank.point = 0; rank.point < a->points && best.point != WEFT_NONE; rank.point++) {
        rank.verdict = verdict_on(a, &best, rank.point);
        WEFT__ADD(a->arena, a->rank, a->ranks) = rank;
    }
}

/// By the user's metrics, by times that the user named, and by the times of flows and jobs.
static void list_ranks(struct answer *a) {
    static const char *const times[] = {"fct_ps_mean", "fct_ps_p99", "jobs_iteration_ps"};
    const struct weft_sweep_results *r = a->r;
    uint32_t number = 0;
    for (uint32_t i = r->metrics; i-- > 0;)
        if (i >= r->shown || r->metric[i].max || r->metric[i].path.dimension == WEFT_CLAIM_TIME)
            rank_points(a, number++, &r->metric[i]);
    for (uint32_t g = 0; g < a->groups; g++)
        for (uint32_t c = 0; c < 3 * r->columns; c++) {
            struct weft_sweep_metric m = {
                .name = times[c / r->columns], .group = a->group[g], .column = c % r->columns};
            if (!strcmp(m.name, r->column[m.column].name)) rank_points(a, number++, &m);
        }
}

/// Whether a parameter is varied, or lies within one that is.
static bool is_varied(const struct weft_sweep *plan, const char *path) {
    for (uint32_t i = 0; i < plan->axes; i++) {
        size_t n = strlen(plan->axis[i].path);
        if (!strncmp(path, plan->axis[i].path, n) && (!path[n] || path[n] == '.')) return true;
    }
    return plan->seed && !strcmp(path, "run.seed");
}

struct config {
    struct answer *a;
    const char *variant;
};

static void add_setting(void *context, const char *path, const char *value, const char *normal) {
    struct answer *a = ((const struct config *)context)->a;
    if (is_varied(a->r->sweep, path)) return;
    WEFT__ADD(a->arena, a->setting, a->settings) =
        (struct setting){((const struct config *)context)->variant, weft_arena_text(a->arena, path),
                         weft_arena_text(a->arena, value), normal ? weft_arena_text(a->arena, normal) : NULL};
}

/// For each variant as it is at its first point. All points have been bound before.
static void list_settings(struct answer *a) {
    const struct weft_sweep *plan = a->r->sweep;
    bool *listed = weft_arena_alloc(a->arena, weft_scenario_variants(plan->file), sizeof *listed);
    for (uint32_t p = 0; p < plan->points; p++) {
        uint32_t variant = plan->point[p].variant;
        struct config config = {a, weft_scenario_variant_name(plan->file, variant)};
        WEFT_ENDS(weft_scenario_end) struct weft_scenario *scenario = NULL;
        struct weft_error error = {0};
        if (listed[variant]) continue;
        listed[variant] = true;
        if (weft_scenario_new(weft_sweep_file(plan, p, WEFT_NONE, a->arena), variant, &scenario, &error)) continue;
        weft_scenario_each(scenario, add_setting, &config);
    }
}

static void list_facts(struct answer *a) {
    const struct weft_sweep_results *r = a->r;
    const char *settings = "";
    for (uint32_t i = 0; i < r->settings; i++)
        settings = weft_arena_format(a->arena, "%s%s%s", settings, i ? "\n" : "", r->setting[i]);
    const struct fact fact[] = {{"weft", WEFT_VERSION}, {"commit", r->commit ? r->commit : ""},
                                {"scenario", r->name},  {"about", r->about},
                                {"path", r->path},      {"settings", settings}};
    memcpy(a->fact, fact, sizeof fact);
    a->facts = sizeof fact / sizeof *fact;
}

const struct weft_answer *weft_sweep_answer(const struct weft_sweep_shown *shown, struct weft_arena *arena,
                                            const void **ret_subject) {
    const struct weft_sweep_results *r = shown->results;
    struct answer *a = weft_arena_alloc(arena, 1, sizeof *a);
    *a = (struct answer){.shown = *shown, .r = r, .arena = arena};
    for (enum weft_sweep_state s = WEFT_SWEEP_MISSING; s <= WEFT_SWEEP_FAILED; s++)
        a->state[s] = weft_sweep_count(r, s);
    a->own = weft_arena_alloc(arena, r->metrics, sizeof *a->own);
    for (uint32_t i = 0; i < r->metrics; i++)
        if (r->metric[i].column == WEFT_NONE) a->own[a->owns++] = i;
    a->group = weft_sweep_groups(r, arena, &a->groups);
    list_points(a);
    list_rows(a);
    list_ranks(a);
    list_settings(a);
    list_facts(a);
    const struct weft_result_table **table = weft_arena_alloc(arena, weft__answer_sweep.tables, sizeof *table);
    for (uint32_t i = 0; i < weft__answer_sweep.tables; i++) {
        const struct weft_result_table *t = weft__answer_sweep.table[i];
        table[i] = t == &points_table ? make_points(a) : t == &sweep_table ? make_sweep(a) : t;
    }
    struct weft_answer *answer = weft_arena_alloc(arena, 1, sizeof *answer);
    *answer = weft__answer_sweep;
    answer->table = table;
    *ret_subject = a;
    return answer;
}

/// Tables as the database had them before the sweep was an answer.
static const char views[] =
    "CREATE VIEW runs AS SELECT point, number, seed, state, coalesce(message, '') AS message,"
    " coalesce(digest, '') AS digest FROM points_runs;"
    "CREATE VIEW summary AS SELECT point, \"group\", metric, seeds, mean, median, low, high FROM points_groups_metrics"
    " UNION ALL SELECT point, '', metric, seeds, mean, median, low, high FROM points_metrics WHERE of_run AND seeds;";

enum weft_status weft_sweep_sqlite(const char *dir, const struct weft_sweep_shown *shown,
                                   struct weft_error *ret_error) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    const void *subject;
    struct weft__answer_database d = {.path = weft_arena_format(arena, "%s/sweep.sqlite", dir),
                                      .answer = weft_sweep_answer(shown, arena, &subject),
                                      .subject = &subject,
                                      .subjects = 1,
                                      .version = 1,
                                      .views = views};
    WEFT_TRY(weft_report_folder(dir, ret_error));
    return weft__answer_database_write(&d, ret_error);
}
