// SPDX-License-Identifier: Apache-2.0
// The table of a sweep: one row per point, seed and group. As CSV, and as SQLite with its summaries.
#include <inttypes.h>
#include <string.h>

#include "base/csv.h"
#include "base/database.h"
#include "base/stream.h"
#include "base/units.h"
#include "sweep/cells.h"

/// Metrics that match none of the other columns get their own.
static bool is_own(const struct weft_sweep_metric *m) {
    return m->column == WEFT_NONE;
}

// --- CSV ----------------------------------------------------------------------------------------------------------

static void csv_head(FILE *file, const struct weft_sweep_results *r) {
    fputs("point,variant", file);
    for (uint32_t a = 0; a < r->sweep->axes; a++) {
        putc(',', file);
        weft__csv_text(file, r->sweep->axis[a].path);
    }
    fputs(",seed,group,end,digest,sim_time_ps", file);
    for (uint32_t i = 0; i < r->columns; i++)
        fprintf(file, ",%s", r->column[i].name);
    for (uint32_t i = 0; i < r->metrics; i++) {
        if (!is_own(&r->metric[i])) continue;
        putc(',', file);
        weft__csv_text(file, r->metric[i].heading);
    }
    putc('\n', file);
}

static void csv_row(FILE *file, const struct weft_sweep_results *r, uint32_t point, const struct weft_sweep_run *run,
                    const struct weft_sweep_row *row) {
    char text[64];
    fprintf(file, "%" PRIu32 ",", point);
    weft__csv_text(file, weft__sweep_variant(r, point));
    for (uint32_t a = 0; a < r->sweep->axes; a++) {
        putc(',', file);
        weft__csv_text(file, r->sweep->point[point].value[a].text);
    }
    fprintf(file, ",%" PRIu64 ",", run->seed);
    weft__csv_text(file, row->group);
    fprintf(file, ",%s,%s,%" PRIu64, weft_sweep_state_names[run->state], run->digest, run->sim_time_ps);
    for (uint32_t i = 0; i < r->columns; i++)
        fprintf(file, ",%s", weft_result_text(&row->value[i], text, sizeof text));
    for (uint32_t i = 0; i < r->metrics; i++) {
        if (!is_own(&r->metric[i])) continue;
        double value = weft_sweep_run_value(run, &r->metric[i]);
        if (!isnan(value)) weft__real_format(value, text, sizeof text);
        fprintf(file, ",%s", isnan(value) ? "" : text);
    }
    putc('\n', file);
}

void weft_sweep_csv(FILE *file, const struct weft_sweep_results *r) {
    csv_head(file, r);
    for (uint32_t p = 0; p < r->sweep->points; p++)
        for (uint32_t k = 0; k < r->sweep->seeds; k++) {
            const struct weft_sweep_run *run = weft__sweep_run_at(r, p, k);
            for (uint32_t i = 0; i < run->rows; i++)
                csv_row(file, r, p, run, &run->row[i]);
        }
}

// --- SQLite -------------------------------------------------------------------------------------------------------

struct writer {
    struct weft__database db;
    const struct weft_sweep_results *r;
    struct weft_arena *arena;
};

/// Writes a name as an identifier of SQL, with quotes.
static void put_name(FILE *sql, const char *name) {
    putc('"', sql);
    for (; *name; name++) {
        if (*name == '"') putc('"', sql);
        putc(*name, sql);
    }
    putc('"', sql);
}

static void put_parameters(FILE *sql, const struct weft_sweep_results *r) {
    for (uint32_t a = 0; a < r->sweep->axes; a++) {
        fputs(", ", sql);
        put_name(sql, r->sweep->axis[a].path);
        fputs(" TEXT", sql);
    }
}

/// How many cells a row of `sweep` has.
static uint32_t row_width(const struct weft_sweep_results *r) {
    uint32_t own = 0;
    for (uint32_t i = 0; i < r->metrics; i++)
        own += is_own(&r->metric[i]);
    return 7 + r->sweep->axes + r->columns + own;
}

static void write_schema(struct writer *w) {
    const struct weft_sweep_results *r = w->r;
    struct weft__text_stream stream;
    FILE *sql = weft__text_stream_open(&stream);
    fputs("PRAGMA user_version = 1; CREATE TABLE sweep (point INTEGER, variant TEXT", sql);
    put_parameters(sql, r);
    fputs(", seed INTEGER, \"group\" TEXT, \"end\" TEXT, digest TEXT, sim_time_ps INTEGER", sql);
    weft__sweep_column_definitions(sql, r->column, r->columns);
    for (uint32_t i = 0; i < r->metrics; i++) {
        if (!is_own(&r->metric[i])) continue;
        fputs(", ", sql);
        put_name(sql, r->metric[i].heading);
        fputs(" REAL", sql);
    }
    fputs(", PRIMARY KEY (point, seed, \"group\")) WITHOUT ROWID; CREATE TABLE points (point INTEGER PRIMARY KEY,"
          " variant TEXT",
          sql);
    put_parameters(sql, r);
    fputs(", command TEXT); CREATE TABLE runs (point INTEGER REFERENCES points(point), number INTEGER, seed INTEGER, "
          "state TEXT,"
          " message TEXT, digest TEXT, PRIMARY KEY (point, number)) WITHOUT ROWID;"
          "CREATE TABLE summary (point INTEGER REFERENCES points(point), \"group\" TEXT, metric TEXT, seeds INTEGER,"
          " mean REAL, median REAL, low REAL, high REAL, PRIMARY KEY (point, \"group\", metric)) WITHOUT ROWID;"
          "CREATE TABLE meaning (\"column\" TEXT PRIMARY KEY, unit TEXT, help TEXT) WITHOUT ROWID;"
          "CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;"
          "CREATE TABLE config (variant TEXT, path TEXT, value TEXT, \"default\" TEXT, PRIMARY KEY (variant, path)) "
          "WITHOUT ROWID;"
          "CREATE TABLE ranking (number INTEGER, metric TEXT, \"group\" TEXT, direction TEXT, point INTEGER REFERENCES"
          " points(point), verdict TEXT, PRIMARY KEY (metric, \"group\", point)) WITHOUT ROWID;",
          sql);
    weft__database_execute(&w->db, weft__text_stream_text(&stream));
    weft__text_stream_free(&stream);
}

/// `table`: "INTO sweep"
static sqlite3_stmt *prepare_insert(struct writer *w, const char *table, uint32_t cells) {
    struct weft__text_stream stream;
    FILE *sql = weft__text_stream_open(&stream);
    fprintf(sql, "INSERT %s VALUES (?", table);
    for (uint32_t i = 1; i < cells; i++)
        fputs(",?", sql);
    fputs(")", sql);
    sqlite3_stmt *s = weft__database_prepare(&w->db, weft__text_stream_text(&stream));
    weft__text_stream_free(&stream);
    return s;
}

static void bind_text(struct writer *w, sqlite3_stmt *s, int *k, const char *text) {
    weft__database_bound(&w->db, sqlite3_bind_text(s, ++*k, text, -1, SQLITE_STATIC));
}
static void bind_whole(struct writer *w, sqlite3_stmt *s, int *k, uint64_t whole) {
    weft__database_bound(&w->db, sqlite3_bind_int64(s, ++*k, (sqlite3_int64)whole));
}
static void bind_real(struct writer *w, sqlite3_stmt *s, int *k, double real) {
    ++*k;
    weft__database_bound(&w->db, isnan(real) ? sqlite3_bind_null(s, *k) : sqlite3_bind_double(s, *k, real));
}

static void bind_point(struct writer *w, sqlite3_stmt *s, int *k, uint32_t point) {
    bind_whole(w, s, k, point);
    bind_text(w, s, k, weft__sweep_variant(w->r, point));
    for (uint32_t a = 0; a < w->r->sweep->axes; a++)
        bind_text(w, s, k, w->r->sweep->point[point].value[a].text);
}

static void write_row(struct writer *w, sqlite3_stmt *s, uint32_t point, const struct weft_sweep_run *run,
                      const struct weft_sweep_row *row) {
    const struct weft_sweep_results *r = w->r;
    int k = 0;
    bind_point(w, s, &k, point);
    bind_whole(w, s, &k, run->seed);
    bind_text(w, s, &k, row->group);
    bind_text(w, s, &k, weft_sweep_state_names[run->state]);
    bind_text(w, s, &k, run->digest);
    bind_whole(w, s, &k, run->sim_time_ps);
    for (uint32_t i = 0; i < r->columns; i++)
        weft__database_bound(&w->db, weft__sweep_bind(s, ++k, &row->value[i]));
    for (uint32_t i = 0; i < r->metrics; i++)
        if (is_own(&r->metric[i])) bind_real(w, s, &k, weft_sweep_run_value(run, &r->metric[i]));
    weft__database_step(&w->db, s);
}

static void write_runs(struct writer *w) {
    const struct weft_sweep *sweep = w->r->sweep;
    sqlite3_stmt *row = prepare_insert(w, "INTO sweep", row_width(w->r)), *run_row = prepare_insert(w, "INTO runs", 6),
                 *point = prepare_insert(w, "INTO points", 3 + sweep->axes);
    for (uint32_t p = 0; p < sweep->points; p++) {
        int k = 0;
        bind_point(w, point, &k, p);
        bind_text(w, point, &k, weft_sweep_command(w->r, p, w->arena));
        weft__database_step(&w->db, point);
        for (uint32_t i = 0; i < sweep->seeds; i++) {
            const struct weft_sweep_run *run = weft__sweep_run_at(w->r, p, i);
            k = 0;
            bind_whole(w, run_row, &k, p);
            bind_whole(w, run_row, &k, i);
            bind_whole(w, run_row, &k, run->seed);
            bind_text(w, run_row, &k, weft_sweep_state_names[run->state]);
            bind_text(w, run_row, &k, run->message);
            bind_text(w, run_row, &k, run->digest);
            weft__database_step(&w->db, run_row);
            for (uint32_t g = 0; g < run->rows; g++)
                write_row(w, row, p, run, &run->row[g]);
        }
    }
    sqlite3_finalize(point);
    sqlite3_finalize(run_row);
    sqlite3_finalize(row);
}

static void write_spread(struct writer *w, sqlite3_stmt *s, uint32_t point, const char *group, const char *metric,
                         const double *value) {
    struct weft_spread spread = weft_spread_of(value, w->r->sweep->seeds, w->arena);
    if (!spread.n) return;
    int k = 0;
    bind_whole(w, s, &k, point);
    bind_text(w, s, &k, group);
    bind_text(w, s, &k, metric);
    bind_whole(w, s, &k, spread.n);
    bind_real(w, s, &k, spread.mean);
    bind_real(w, s, &k, spread.median);
    bind_real(w, s, &k, spread.mean - spread.half);
    bind_real(w, s, &k, spread.mean + spread.half);
    weft__database_step(&w->db, s);
}

/// Writes statistics over seeds of additional metrics, under group "".
static void write_own(struct writer *w, sqlite3_stmt *s, uint32_t point, const struct weft_sweep_metric *m) {
    write_spread(w, s, point, "", m->name, weft_sweep_metric_values(w->r, point, m, w->arena));
}

static void write_summary(struct writer *w) {
    const struct weft_sweep_results *r = w->r;
    uint32_t groups;
    const char **group = weft_sweep_groups(r, w->arena, &groups);
    sqlite3_stmt *s = prepare_insert(w, "INTO summary", 8);
    for (uint32_t p = 0; p < r->sweep->points; p++) {
        for (uint32_t g = 0; g < groups; g++)
            for (uint32_t c = 0; c < r->columns; c++)
                write_spread(w, s, p, group[g], r->column[c].name, weft_sweep_values(r, p, group[g], c, w->arena));
        for (uint32_t m = 0; m < r->metrics; m++)
            if (is_own(&r->metric[m])) write_own(w, s, p, &r->metric[m]);
    }
    sqlite3_finalize(s);
}

static void write_meaning(struct writer *w) {
    sqlite3_stmt *s = prepare_insert(w, "INTO meaning", 3);
    for (uint32_t i = 0; i < w->r->columns; i++) {
        const struct weft_sweep_column *c = &w->r->column[i];
        int k = 0;
        bind_text(w, s, &k, c->name);
        bind_text(w, s, &k, weft_result_unit(c->column));
        bind_text(w, s, &k, c->column->help);
        weft__database_step(&w->db, s);
    }
    sqlite3_finalize(s);
}

/// One line per point: whether it is the best by that metric, or indistinguishable from the best. `number`: the order
/// of metrics; what was ranked before by the same column stays.
static void write_ranking(struct writer *w, sqlite3_stmt *s, uint64_t number, const struct weft_sweep_metric *m) {
    const struct weft_sweep *sweep = w->r->sweep;
    struct weft_sweep_best best = weft_sweep_best(w->r, m, w->arena);
    bool own = is_own(m);
    for (uint32_t p = 0; p < sweep->points && best.point != WEFT_NONE; p++) {
        struct weft_spread spread =
            weft_spread_of(weft_sweep_metric_values(w->r, p, m, w->arena), sweep->seeds, w->arena);
        const char *verdict = spread.n < sweep->seeds ? "left out"
                              : p == best.point       ? "best"
                              : best.judged           ? "worse"
                                                      : "not judged";
        for (uint32_t i = 0; i < best.likes; i++)
            if (best.like[i] == p) verdict = "alike";
        int k = 0;
        bind_whole(w, s, &k, number);
        bind_text(w, s, &k, own ? m->name : w->r->column[m->column].name);
        bind_text(w, s, &k, own || !m->group ? "" : m->group);
        bind_text(w, s, &k, m->max ? "greatest" : "least");
        bind_whole(w, s, &k, p);
        bind_text(w, s, &k, verdict);
        weft__database_step(&w->db, s);
    }
}

/// Ranks by the user's metrics, by times that the user named, and by the times of flows and jobs.
static void write_rankings(struct writer *w) {
    static const char *const times[] = {"fct_ps_mean", "fct_ps_p99", "jobs_iteration_ps"};
    const struct weft_sweep_results *r = w->r;
    sqlite3_stmt *s = prepare_insert(w, "OR IGNORE INTO ranking", 6);
    uint64_t number = 0;
    for (uint32_t i = r->metrics; i-- > 0;)
        if (i >= r->shown || r->metric[i].max || r->metric[i].path.dimension == WEFT_CLAIM_TIME)
            write_ranking(w, s, number++, &r->metric[i]);
    uint32_t groups;
    const char **group = weft_sweep_groups(r, w->arena, &groups);
    for (uint32_t g = 0; g < groups; g++)
        for (uint32_t c = 0; c < 3 * r->columns; c++) {
            struct weft_sweep_metric m = {.name = times[c / r->columns], .group = group[g], .column = c % r->columns};
            if (!strcmp(m.name, r->column[m.column].name)) write_ranking(w, s, number++, &m);
        }
    sqlite3_finalize(s);
}

static void write_about(struct writer *w) {
    const struct weft_sweep_results *r = w->r;
    const char *settings = "";
    for (uint32_t i = 0; i < r->settings; i++)
        settings = weft_arena_format(w->arena, "%s%s%s", settings, i ? "\n" : "", r->setting[i]);
    const char *const line[][2] = {{"weft", WEFT_VERSION}, {"commit", r->commit ? r->commit : ""},
                                   {"scenario", r->name},  {"about", r->about},
                                   {"path", r->path},      {"settings", settings}};
    sqlite3_stmt *s = prepare_insert(w, "INTO about", 2);
    for (unsigned i = 0; i < sizeof line / sizeof *line; i++) {
        int k = 0;
        bind_text(w, s, &k, line[i][0]);
        bind_text(w, s, &k, line[i][1]);
        weft__database_step(&w->db, s);
    }
    sqlite3_finalize(s);
}

/// The configuration of a variant, without varied values.
struct config {
    struct writer *w;
    sqlite3_stmt *s;
    const char *variant;
};

/// Whether it is a varied path, or within one.
static bool is_varied(const struct weft_sweep *plan, const char *path) {
    for (uint32_t a = 0; a < plan->axes; a++) {
        size_t n = strlen(plan->axis[a].path);
        if (!strncmp(path, plan->axis[a].path, n) && (!path[n] || path[n] == '.')) return true;
    }
    return plan->seed && !strcmp(path, "run.seed");
}

static void write_setting(void *context, const char *path, const char *value, const char *dflt) {
    const struct config *c = context;
    int k = 0;
    if (is_varied(c->w->r->sweep, path)) return;
    bind_text(c->w, c->s, &k, c->variant);
    bind_text(c->w, c->s, &k, path);
    bind_text(c->w, c->s, &k, value);
    if (dflt)
        bind_text(c->w, c->s, &k, dflt);
    else
        sqlite3_bind_null(c->s, ++k);
    weft__database_step(&c->w->db, c->s);
}

/// For each variant as it is at its first point. All points have been bound before.
static void write_config(struct writer *w) {
    const struct weft_sweep *plan = w->r->sweep;
    struct config c = {.w = w, .s = prepare_insert(w, "OR IGNORE INTO config", 4)};
    bool *written = weft_arena_alloc(w->arena, weft_scenario_variants(plan->file), sizeof *written);
    for (uint32_t p = 0; p < plan->points; p++) {
        uint32_t variant = plan->point[p].variant;
        struct weft_scenario *scenario;
        struct weft_error error = {0};
        if (written[variant]) continue;
        written[variant] = true;
        c.variant = weft_scenario_variant_name(plan->file, variant);
        if (weft_scenario_new(weft_sweep_file(plan, p, WEFT_NONE, w->arena), variant, &scenario, &error)) continue;
        weft_scenario_each(scenario, write_setting, &c);
        weft_scenario_free(scenario);
    }
    sqlite3_finalize(c.s);
}

enum weft_status weft_sweep_sqlite(const char *dir, const struct weft_sweep_results *results,
                                   struct weft_error *ret_error) {
    struct writer w = {.r = results, .arena = weft_arena_new(WEFT_MEMORY_RESULT)};
    enum weft_status status = weft_report_folder(dir, ret_error);
    if (!status) {
        weft__database_begin(&w.db, weft_arena_format(w.arena, "%s/sweep.sqlite", dir), w.arena);
        write_schema(&w);
        write_runs(&w);
        write_summary(&w);
        write_meaning(&w);
        write_about(&w);
        write_config(&w);
        write_rankings(&w);
        status = weft__database_end(&w.db, ret_error);
    }
    weft_arena_free(w.arena);
    return status;
}
