// SPDX-License-Identifier: Apache-2.0
// A report: one HTML file that contains everything it needs. Its data are the results of a few queries of
// results.sqlite; each is in the page beside its chart. Where there may be more rows than a chart can show, the query
// thins them, and the chart's caption says how.

#include <unistd.h>

#include "base/stream.h"
#include "page/page.h"
#include "page/page_text.h"

/// ?1 is the run.

static const struct query {
    const char *name, *sql;
} queries[] = {
    {"groups",
     "SELECT name, count, finished, bytes, fct_ps_mean / 1e6 AS mean_us, fct_ps_p50 / 1e6 AS p50_us, fct_ps_p99 / 1e6 "
     "AS p99_us, fct_ps_max / 1e6 AS max_us, slowdown_mean, slowdown_p99 FROM groups WHERE run = ?1"},
    {"jobs", "SELECT job, name, ranks, iterations, finished, iteration_ps / 1e6 AS iteration_us, exposed_ps / 1e6 AS "
             "exposed_us FROM jobs WHERE run = ?1"},
    {"fct",
     "WITH f AS (SELECT \"group\", fct_ps, row_number() OVER w AS i, count(*) OVER (PARTITION BY \"group\") AS n "
     "FROM flows WHERE run = ?1 AND fct_ps IS NOT NULL WINDOW w AS (PARTITION BY \"group\" ORDER BY fct_ps)) "
     "SELECT \"group\", fct_ps / 1e6 AS us, 1.0 * i / n AS fraction FROM f "
     "WHERE i = 1 OR i = n OR n <= 400 OR i * 400 / n <> (i - 1) * 400 / n ORDER BY \"group\", i"},
    {"slowdown",
     "WITH f AS (SELECT slowdown, CASE WHEN bytes < 1e3 THEN 1e3 WHEN bytes < 1e4 THEN 1e4 WHEN bytes < 1e5 THEN 1e5 "
     "WHEN bytes < 1e6 THEN 1e6 WHEN bytes < 1e7 THEN 1e7 WHEN bytes < 1e8 THEN 1e8 ELSE 1e9 END AS bin FROM flows "
     "WHERE run = ?1 AND slowdown IS NOT NULL AND \"group\" NOT IN (SELECT name FROM jobs WHERE run = ?1)), r AS "
     "(SELECT bin, slowdown, row_number() OVER (PARTITION BY bin "
     "ORDER BY slowdown) AS i, count(*) OVER (PARTITION BY bin) AS n FROM f) "
     "SELECT bin AS below_bytes, max(n) AS flows, min(CASE WHEN i >= 0.5 * n THEN slowdown END) AS p50, "
     "min(CASE WHEN i >= 0.95 * n THEN slowdown END) AS p95, min(CASE WHEN i >= 0.99 * n THEN slowdown END) AS p99 "
     "FROM r GROUP BY bin ORDER BY bin"},
    {"series",
     "WITH top AS (SELECT port, priority FROM series WHERE run = ?1 GROUP BY port, priority ORDER BY max(queue_bytes) "
     "DESC, sum(tx_bytes) DESC LIMIT 8), span AS (SELECT max(time_ps) / 160 + 1 AS ps, (SELECT min(b.time_ps) FROM "
     "series AS b WHERE b.run = ?1) AS every_ps FROM series WHERE run = ?1) "
     "SELECT p.name AS port, s.priority, min(s.time_ps) / 1e6 AS us, max(s.queue_bytes) AS queue_bytes, "
     "avg(s.tx_bytes) * 8e3 / max(span.every_ps, 1) AS rate_gbps, p.rate_bps / 1e9 AS link_gbps, avg(s.paused) AS "
     "paused "
     "FROM span CROSS JOIN top CROSS JOIN series AS s USING (port, priority) JOIN ports AS p ON p.run = s.run AND "
     "p.port "
     "= s.port WHERE s.run = ?1 GROUP BY p.name, s.priority, s.time_ps / span.ps ORDER BY 1, 2, 3"},
    {"pauses",
     "WITH top AS (SELECT port, sum(until_ps - from_ps) AS ps FROM pauses WHERE run = ?1 GROUP BY port ORDER BY ps "
     "DESC "
     "LIMIT 24) SELECT p.name AS port, s.priority, s.from_ps / 1e6 AS from_us, coalesce(s.until_ps, r.sim_time_ps) / "
     "1e6 AS until_us, by.name AS by_port FROM top CROSS JOIN pauses AS s USING (port) JOIN run AS r ON r.id = s.run "
     "JOIN "
     "ports AS p ON p.run = s.run AND p.port = s.port LEFT JOIN ports AS by ON by.run = s.run AND by.port = s.by_port "
     "WHERE s.run = ?1 ORDER BY top.ps DESC, p.name, until_us - from_us DESC LIMIT 4000"},
    {"pause_tree",
     "SELECT p.name AS port, by.name AS by_port, up.name AS above, queue.name AS root, count(*) AS times, "
     "sum(coalesce(s.until_ps, r.sim_time_ps) - s.from_ps) / 1e6 AS us FROM pauses AS s JOIN run AS r ON r.id = s.run "
     "JOIN ports AS p ON p.run = s.run AND p.port = s.port LEFT JOIN ports AS by ON by.run = s.run AND by.port = "
     "s.by_port LEFT JOIN pauses AS a ON a.run = s.run AND a.pause = s.parent LEFT JOIN ports AS up ON up.run = s.run "
     "AND up.port = a.port LEFT JOIN events AS e ON e.run = s.run AND e.event = s.root LEFT JOIN ports AS queue ON "
     "queue.run = s.run AND queue.port = e.port WHERE s.run = ?1 GROUP BY 1, 2, 3 ORDER BY us DESC LIMIT 400"},
    {"links",
     "SELECT p.name AS port, p.node, p.peer, p.layer || ' to ' || p.peer_layer AS layers, p.layer, p.peer_layer, "
     "p.tier, q.tier AS peer_tier, sum(c.tx_bytes) AS bytes, 8e12 * sum(c.tx_bytes) / (1.0 * p.rate_bps * "
     "r.sim_time_ps) AS used, sum(c.paused_ps) / 1e6 AS paused_us FROM port_counters AS c JOIN ports AS p USING (run, "
     "port) JOIN ports AS q ON q.run = p.run AND q.port = p.peer_port JOIN run AS r ON r.id = c.run WHERE c.run = ?1 "
     "GROUP BY c.port ORDER BY bytes DESC LIMIT 4000"},
    {"load",
     "WITH span AS (SELECT max(until_ps) / 200 + 1 AS ps FROM load_intervals WHERE run = ?1) SELECT layers, "
     "min(from_ps) / 1e6 AS from_us, max(until_ps) / 1e6 AS until_us, avg(mean) AS mean, max(max) AS max FROM "
     "span CROSS JOIN load_intervals WHERE run = ?1 GROUP BY layers, from_ps / span.ps ORDER BY layers, from_us"},
    {"collectives",
     "SELECT j.name AS job, iteration, c.collective || ' ' || operation AS operation, size, c.start_ps / 1e6 AS "
     "start_us, c.end_ps / 1e6 AS end_us, busbw_GBps FROM collectives AS c JOIN jobs AS j USING (run, job) WHERE c.run "
     "= ?1 AND c.end_ps IS NOT NULL ORDER BY c.start_ps LIMIT 4000"},
    {"iterations",
     "SELECT j.name AS job, iteration, i.start_ps / 1e6 AS start_us, i.end_ps / 1e6 AS end_us, i.exposed_ps / 1e6 AS "
     "exposed_us FROM iterations AS i JOIN jobs AS j USING (run, job) WHERE i.run = ?1 AND i.end_ps IS NOT NULL ORDER "
     "BY i.start_ps LIMIT 4000"},
    {"changes",
     "SELECT e.time_ps / 1e6 AS us, e.kind, p.name AS port FROM events AS e JOIN ports AS p USING (run, port) "
     "WHERE e.run = ?1 AND e.kind IN ('link_down', 'link_up') ORDER BY e.time_ps LIMIT 2000"},
    {"ends", "SELECT \"group\", max(start_ps + fct_ps) / 1e6 AS us FROM flows WHERE run = ?1 AND fct_ps IS NOT NULL "
             "GROUP BY \"group\" ORDER BY us LIMIT 40"},
    {"config", "SELECT path, value, \"default\" FROM config WHERE run = ?1"},
};
/// For the table rank_times, which results of older versions lack.
static const struct query of_ranks[] = {
    {"rank_times",
     "WITH waits AS (SELECT job, rank, row_number() OVER (PARTITION BY job ORDER BY sum(CASE does WHEN 'wait' THEN "
     "until_ps - from_ps END) DESC, rank) AS place FROM rank_times WHERE run = ?1 GROUP BY job, rank), late AS (SELECT "
     "* FROM rank_times JOIN waits USING (job, rank) WHERE run = ?1 AND place <= 32 ORDER BY from_ps DESC LIMIT 6000) "
     "SELECT j.name AS job, t.rank, host, does, t.iteration, what, from_ps / 1e6 AS from_us, coalesce(until_ps, "
     "r.sim_time_ps) / 1e6 AS until_us FROM late AS t JOIN jobs AS j ON j.run = ?1 AND j.job = t.job JOIN run AS r ON "
     "r.id = ?1 ORDER BY t.job, t.rank, from_ps"},
    {"rank_waits",
     "SELECT j.name AS job, t.rank, host, sum(CASE does WHEN 'compute' THEN until_ps - from_ps END) / 1e6 AS "
     "compute_us, sum(CASE does WHEN 'wait' THEN until_ps - from_ps END) / 1e6 AS exposed_us FROM rank_times AS t JOIN "
     "jobs AS j USING (run, job) WHERE t.run = ?1 GROUP BY t.job, t.rank ORDER BY exposed_us DESC LIMIT 512"},
};

void weft__page_value(struct weft__json *j, sqlite3_stmt *s, int column) {
    switch (sqlite3_column_type(s, column)) {
    case SQLITE_NULL:
        weft__json_null(j);
        break;
    case SQLITE_INTEGER:
        weft__json_u64(j, (uint64_t)sqlite3_column_int64(s, column));
        break;
    case SQLITE_FLOAT:
        weft__json_real(j, sqlite3_column_double(s, column));
        break;
    default:
        weft__json_string(j, weft__reader_peek(s, column));
    }
}

void weft__page_table(struct weft__json *j, struct weft__reader *r, const char *name, const char *sql) {
    sqlite3_stmt *s = weft__reader_prepare(r, sql);
    int columns = sqlite3_column_count(s);
    weft__json_key(j, name);
    weft__json_begin_object(j);
    weft__json_key_string(j, "sql", sql);
    weft__json_key(j, "columns");
    weft__json_begin_array(j);
    for (int c = 0; c < columns; c++)
        weft__json_string(j, sqlite3_column_name(s, c));
    weft__json_end_array(j);
    weft__json_key(j, "rows");
    weft__json_begin_array(j);
    while (weft__reader_next(r, s)) {
        weft__json_begin_array(j);
        for (int c = 0; c < columns; c++)
            weft__page_value(j, s, c);
        weft__json_end_array(j);
    }
    weft__json_end_array(j);
    weft__json_end_object(j);
    sqlite3_finalize(s);
}

/// Values of the whole run, each column a key. Results from before `credit_wait_ps` existed have those in `before`.
static const char about_run[] =
    "SELECT weft, \"commit\", scenario, variant, seed, digest, \"end\", interrupted, stall, hosts, switches, r.links, "
    "sim_time_ps / 1e6 AS sim_time_us, unrecorded, (SELECT sum(paused_ps) / 1e6 FROM port_counters AS c WHERE c.run = "
    "r.id) AS paused_us, (SELECT credit_wait_ps FROM counters AS c WHERE c.run = r.id) / 1e6 AS credit_us, (SELECT "
    "sum(packets) FROM counters_drops AS d WHERE d.run = r.id) AS dropped, (SELECT value "
    "FROM config AS c WHERE c.run = r.id AND path = 'about') AS about FROM run AS r, (SELECT 0 AS credit_wait_ps) AS "
    "before WHERE r.id = ?1";

static bool has_table(struct weft__reader *r, const char *table) {
    const char *sql = "SELECT count(*) FROM sqlite_schema WHERE name = '%s'";
    return weft__reader_count(r, weft_arena_format(r->arena, sql, table));
}

static void write_run(struct weft__json *j, struct weft__reader *r, const char *column) {
    weft__json_begin_object(j);
    weft__json_key_string(j, "column", column);
    sqlite3_stmt *s = weft__reader_prepare(r, about_run);
    if (weft__reader_next(r, s))
        for (int c = 0; c < sqlite3_column_count(s); c++) {
            weft__json_key(j, sqlite3_column_name(s, c));
            weft__page_value(j, s, c);
        }
    sqlite3_finalize(s);
    weft__json_key(j, "tables");
    weft__json_begin_object(j);
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++)
        weft__page_table(j, r, queries[i].name, queries[i].sql);
    for (size_t i = 0; i < sizeof of_ranks / sizeof *of_ranks && has_table(r, "rank_times"); i++)
        weft__page_table(j, r, of_ranks[i].name, of_ranks[i].sql);
    weft__json_end_object(j);
}

/// Opens a folder's results and adds its runs to the comparison.
static enum weft_status compare_folder(struct weft__page_comparison *c, const char *dir, struct weft_error *ret_error) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    struct weft__reader r;
    enum weft_status status = weft__reader_open(&r, dir, arena, ret_error);
    if (!status && r.status == SQLITE_OK && r.old)
        status = WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                             "%s: results of version 1, which have too few columns; run the scenario again", r.path);
    const char *const *names;
    uint32_t runs = 0;
    if (!status) status = weft__reader_choose(&r, NULL, NULL, &names, &runs, ret_error);
    if (!status) weft__page_compare(c, &r, dir);
    return weft__reader_close(&r, status, ret_error);
}

static void read_length(struct weft__reader *r, struct weft_report_shown *run) {
    sqlite3_stmt *s = weft__reader_prepare(
        r, "SELECT iif(packet_hops > 0, packet_hops, events), sim_time_ps, (SELECT count(*) FROM config AS c WHERE "
           "c.run = r.id AND (path = 'run.sample_interval' AND value NOT LIKE '0%' OR path = 'run.fast_forward' AND "
           "value <> 'off' OR path = 'run.sample.operations' AND value <> '0')) FROM run AS r WHERE id = ?");
    if (weft__reader_next(r, s)) {
        run->packet_hops = weft__reader_number(s, 0, 0);
        run->sim_time_ps = weft__reader_number(s, 1, 0);
        run->sampled = weft__reader_number(s, 2, 0) > 0;
    }
    sqlite3_finalize(s);
}

/// Explains where a run's time went.
static enum weft_status explain_run(struct weft__json *j, const struct weft_report_shown *run,
                                    const struct weft_report_options *options, struct weft_error *ret_error) {
    if (!options->explain || !run->packet_hops) return WEFT_OK;
    weft__json_key(j, "why");
    weft__json_begin_object(j);
    enum weft_status status = options->explain(options->context, run, j, ret_error);
    weft__json_end_object(j);
    return status;
}

/// The first run of a column.
static enum weft_status write_column(struct weft__json *j, const struct weft__page_column *column,
                                     const struct weft_report_options *options, struct weft_error *ret_error) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    struct weft__reader r;
    const char *const *names;
    uint32_t runs = 0;
    enum weft_status status = weft__reader_open(&r, column->dir, arena, ret_error);
    if (!status) status = weft__reader_choose(&r, column->variant, &column->seed, &names, &runs, ret_error);
    if (!status) write_run(j, &r, column->name);
    struct weft_report_shown run = {.dir = column->dir, .variant = column->variant, .seed = column->seed};
    if (!status) read_length(&r, &run);
    status = weft__reader_close(&r, status, ret_error);
    if (!status) status = explain_run(j, &run, options, ret_error);
    weft__json_end_object(j);
    return status;
}

static bool has_file(const char *dir, const char *file) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    return !access(weft_arena_format(arena, "%s/%s", dir, file), F_OK);
}

/// Runs: the comparison, and for each column its first run with all charts.
static enum weft_status write_runs(struct weft__json *j, const char *const *dir, uint32_t dirs,
                                   const struct weft_report_options *options, struct weft_arena *arena,
                                   struct weft_error *ret_error) {
    enum { DETAILED = 16 };
    enum weft_status status = WEFT_OK;
    struct weft__page_comparison *c = weft__page_comparison_new(arena);
    for (uint32_t i = 0; i < dirs && !status; i++)
        if (has_file(dir[i], "results.sqlite") || !has_file(dir[i], "sweep.sqlite"))
            status = compare_folder(c, dir[i], ret_error);
    uint32_t columns;
    const struct weft__page_column *column = weft__page_columns(c, &columns);
    weft__json_key(j, "runs");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < columns && i < DETAILED && !status; i++)
        status = write_column(j, &column[i], options, ret_error);
    if (status) return status;
    weft__json_end_array(j);
    weft__json_key(j, "columns");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < columns; i++) {
        weft__json_begin_object(j);
        weft__json_key_string(j, "name", column[i].name);
        weft__json_key_u64(j, "runs", column[i].runs);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
    weft__json_key(j, "matrices");
    weft__json_begin_array(j);
    struct weft_report_matrix matrix = weft__page_comparison_matrix(c);
    if (columns > 1 || (columns && column->runs > 1)) weft__page_matrix(j, &matrix);
    weft__json_end_array(j);
    return status;
}

static struct weft_report_page *page_new(struct weft__json *j, bool no_data) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    struct weft_report_page *page = weft_arena_alloc(arena, 1, sizeof *page);
    page->arena = arena;
    *j = (struct weft__json){.file = weft__text_stream_open(&page->data)};
    weft__json_begin_object(j);
    weft__json_key_bool(j, "no_data", no_data);
    return page;
}

enum weft_status weft_report_page_check(struct weft_error *ret_error) {
    return weft__page_is_there ? WEFT_OK
                               : WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                                             "this weft was built without d3 (Debian: libjs-d3), so it cannot write "
                                             "pages; install d3 and build "
                                             "again, or meson setup -Dd3=FILE");
}

enum weft_status weft_report_page_new(const char *const *dir, uint32_t dirs, const struct weft_report_options *options,
                                      struct weft_report_page **ret_page, struct weft_error *ret_error) {
    struct weft__json j;
    struct weft_report_page *page = *ret_page = page_new(&j, options->no_data);
    WEFT_TRY(write_runs(&j, dir, dirs, options, page->arena, ret_error));
    weft__json_key(&j, "sweeps");
    weft__json_begin_array(&j);
    for (uint32_t i = 0; i < dirs; i++)
        if (has_file(dir[i], "sweep.sqlite")) WEFT_TRY(weft__page_sweep(&j, dir[i], options->no_data, ret_error));
    weft__json_end_array(&j);
    weft__json_end_object(&j);
    return WEFT_OK;
}

struct weft_report_page *weft_report_page_of(const struct weft_report_head *head,
                                             const struct weft_report_matrix *matrix, uint32_t matrices, bool no_data) {
    struct weft__json j;
    struct weft_report_page *page = page_new(&j, no_data);
    weft__json_key_string(&j, "title", head->title);
    weft__json_key_string(&j, "about", head->about ? head->about : "");
    weft__json_key(&j, "answers");
    weft__json_begin_array(&j);
    for (uint32_t i = 0; i < head->answers; i++) {
        weft__json_begin_array(&j);
        weft__json_string(&j, head->answer[2 * i]);
        weft__json_string(&j, head->answer[2 * i + 1]);
        weft__json_end_array(&j);
    }
    weft__json_end_array(&j);
    weft__json_key(&j, "matrices");
    weft__json_begin_array(&j);
    for (uint32_t i = 0; i < matrices; i++)
        weft__page_matrix(&j, &matrix[i]);
    weft__json_end_array(&j);
    weft__json_end_object(&j);
    return page;
}

struct weft_report_page *weft_report_page_live(void) {
    struct weft__json j;
    struct weft_report_page *page = page_new(&j, false);
    weft__json_key_bool(&j, "live", true);
    weft__json_end_object(&j);
    return page;
}

/// In a script element no text may look like markup: "<" occurs only in strings, where it can be escaped.
static void write_data(FILE *file, const char *text) {
    for (; *text; text++)
        if (*text == '<')
            fputs("\\u003c", file);
        else
            putc(*text, file);
}

void weft_report_page_write(FILE *file, const void *context) {
    struct weft_report_page *page = (struct weft_report_page *)context;
    for (const struct weft__page_part *part = weft__page_parts; part->text; part++)
        if (part->is_data)
            write_data(file, weft__text_stream_text(&page->data));
        else
            fputs(part->text, file);
}

void weft_report_page_free(struct weft_report_page *page) {
    if (!page) return;
    weft__text_stream_free(&page->data);
    weft_arena_free(page->arena);
}
