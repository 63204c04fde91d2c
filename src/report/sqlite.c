// SPDX-License-Identifier: Apache-2.0
// Tables of results as a database: one transaction into a new file, which takes its name when it is complete.
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/draft.h"
#include "base/stream.h"
#include "database.h"
#include "rows.h"

struct writer {
    sqlite3 *db;
    int status; ///< the first that was not SQLITE_OK; everything after it does nothing
    const struct weft_run *run;
    uint32_t runs;
    const char *draft;
};

static void execute(struct writer *w, const char *sql) {
    if (w->status == SQLITE_OK) w->status = sqlite3_exec(w->db, sql, NULL, NULL, NULL);
}

static sqlite3_stmt *prepare(struct writer *w, const char *sql) {
    sqlite3_stmt *statement = NULL;
    if (w->status == SQLITE_OK) w->status = sqlite3_prepare_v2(w->db, sql, -1, &statement, NULL);
    return statement;
}

static const char *sql_type(const struct weft_result_column *c) {
    if (c->type == WEFT_RESULT_REAL) return "REAL";
    return c->type == WEFT_RESULT_TEXT || c->type == WEFT_RESULT_PRIORITIES ? "TEXT" : "INTEGER";
}

/// The keys of a table as "run", "a", "b", each with what stands before it.
static void add_keys(FILE *sql, const struct weft_result_table *t) {
    char name[64];
    fputs("run", sql);
    for (uint32_t i = 0; i < t->columns; i++)
        if (t->column[i].flags & WEFT_RESULT_KEY)
            fprintf(sql, ", \"%s\"", weft_result_flat_column(t, &t->column[i], name, sizeof name));
}

/// Every table begins with its run; that of runs is what these numbers mean.
static void add_table(FILE *sql, const struct weft_result_table *t) {
    char name[64];
    bool keys = false, runs = t == weft_result_table_at(0);
    fprintf(sql, "CREATE TABLE \"%s\" (%s", weft_result_flat(t->name, name, sizeof name),
            runs ? "id INTEGER PRIMARY KEY" : "run INTEGER NOT NULL REFERENCES run(id)");
    for (uint32_t i = 0; i < t->columns; i++) {
        const struct weft_result_column *c = &t->column[i];
        fprintf(sql, ", \"%s\" %s%s", weft_result_flat_column(t, c, name, sizeof name), sql_type(c),
                c->flags & WEFT_RESULT_KEY ? " NOT NULL" : "");
        keys |= c->flags & WEFT_RESULT_KEY;
    }
    if (keys) {
        fputs(", PRIMARY KEY (", sql);
        add_keys(sql, t);
        fputs(")", sql);
    }
    for (uint32_t i = 0; i < t->columns; i++) {
        const struct weft_result_column *c = &t->column[i];
        if (!c->references) continue;
        fprintf(sql, ", FOREIGN KEY (run, \"%s\")", weft_result_flat_column(t, c, name, sizeof name));
        fprintf(sql, " REFERENCES \"%s\"(", weft_result_flat(c->references, name, sizeof name));
        add_keys(sql, weft_result_table_find(c->references));
        fputs(")", sql);
    }
    fprintf(sql, ")%s;", keys ? " WITHOUT ROWID" : "");
}

static const char views[] =
    "CREATE VIEW story AS SELECT e.run, run.variant, e.event, e.time_ps / 1e6 AS us, e.kind, ports.name AS port,"
    " ports.peer, e.priority, e.flow, e.value, e.more, e.detail, e.cause, e.begins"
    " FROM events AS e JOIN ports USING (run, port) JOIN run ON run.id = e.run;"
    "CREATE VIEW paused_ports AS SELECT run.id AS run, run.variant, ports.name AS port, ports.peer, c.priority,"
    " c.paused_ps / 1e6 AS paused_us, c.pfc_rx_xoff AS pause_frames"
    " FROM port_counters AS c JOIN ports USING (run, port) JOIN run ON run.id = c.run"
    " WHERE c.paused_ps > 0 ORDER BY c.paused_ps DESC;"
    "CREATE VIEW full_queues AS SELECT run.id AS run, run.variant, ports.name AS port, ports.peer, c.priority,"
    " c.queue_bytes_max, c.ingress_bytes_max, c.ecn_marked, c.drops"
    " FROM port_counters AS c JOIN ports USING (run, port) JOIN run ON run.id = c.run ORDER BY c.queue_bytes_max DESC;"
    "CREATE VIEW group_times AS SELECT run.id AS run, run.variant, g.name, g.count, g.finished,"
    " g.fct_ps_mean / 1e6 AS mean_us, g.fct_ps_p50 / 1e6 AS p50_us, g.fct_ps_p99 / 1e6 AS p99_us,"
    " g.fct_ps_max / 1e6 AS max_us, g.slowdown_mean, g.slowdown_p99 FROM groups AS g JOIN run ON run.id = g.run;";

static void write_schema(struct writer *w) {
    struct weft__text_stream stream;
    FILE *sql = weft__text_stream_open(&stream);
    fprintf(sql, "PRAGMA user_version = %d;", WEFT_RESULTS_VERSION);
    for (uint32_t i = 0; i < weft_result_table_count(); i++)
        add_table(sql, weft_result_table_at(i));
    fputs("CREATE TABLE meaning (\"table\" TEXT, \"column\" TEXT, unit TEXT, help TEXT,"
          " PRIMARY KEY (\"table\", \"column\")) WITHOUT ROWID;",
          sql);
    fputs(views, sql);
    execute(w, weft__text_stream_text(&stream));
    weft__text_stream_free(&stream);
}

static int bind(sqlite3_stmt *s, int k, const struct weft_result_value *v) {
    char text[32];
    if (!v->known) return sqlite3_bind_null(s, k);
    if (v->type == WEFT_RESULT_REAL) return sqlite3_bind_double(s, k, v->real);
    if (v->type == WEFT_RESULT_TEXT) return sqlite3_bind_text(s, k, v->text, -1, SQLITE_STATIC);
    if (v->type == WEFT_RESULT_PRIORITIES)
        return sqlite3_bind_text(s, k, weft_result_text(v, text, sizeof text), -1, SQLITE_TRANSIENT);
    return sqlite3_bind_int64(s, k, (sqlite3_int64)v->whole);
}

/// Every bound row goes in as one.
static void step(struct writer *w, sqlite3_stmt *s) {
    if (w->status != SQLITE_OK) return;
    sqlite3_step(s);
    w->status = sqlite3_reset(s);
}

static void write_rows(struct writer *w, sqlite3_stmt *s, const struct weft_result_table *t, uint32_t run) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    struct weft_result_walk walk = weft_result_walk(&w->run[run], t, arena);
    struct weft_result_cursor *row;
    while (w->status == SQLITE_OK && (row = weft_result_next(&walk))) {
        w->status = sqlite3_bind_int64(s, 1, run + 1);
        for (uint32_t i = 0; i < t->columns && w->status == SQLITE_OK; i++) {
            struct weft_result_value value = weft_result_value(row, &t->column[i]);
            w->status = bind(s, (int)i + 2, &value);
        }
        step(w, s);
    }
    weft_arena_free(arena);
}

static void write_table(struct writer *w, const struct weft_result_table *t) {
    struct weft__text_stream stream;
    FILE *sql = weft__text_stream_open(&stream);
    char name[64];
    fprintf(sql, "INSERT INTO \"%s\" VALUES (?", weft_result_flat(t->name, name, sizeof name));
    for (uint32_t i = 0; i < t->columns; i++)
        fputs(",?", sql);
    fputs(")", sql);
    sqlite3_stmt *s = prepare(w, weft__text_stream_text(&stream));
    weft__text_stream_free(&stream);
    for (uint32_t r = 0; r < w->runs; r++)
        if (weft_result_table_present(t, &w->run[r])) write_rows(w, s, t, r);
    sqlite3_finalize(s);
}

/// What columns mean, for those who have the file and not the documents.
static void write_meaning(struct writer *w, const struct weft_result_table *t) {
    char table[64], column[64];
    sqlite3_stmt *s = prepare(w, "INSERT INTO meaning VALUES (?,?,?,?)");
    for (uint32_t i = 0; i < t->columns && w->status == SQLITE_OK; i++) {
        const char *text[] = {weft_result_flat(t->name, table, sizeof table),
                              weft_result_flat_column(t, &t->column[i], column, sizeof column),
                              weft_result_unit(&t->column[i]), t->column[i].help};
        for (int k = 0; k < 4 && w->status == SQLITE_OK; k++)
            w->status = sqlite3_bind_text(s, k + 1, text[k], -1, SQLITE_STATIC);
        step(w, s);
    }
    sqlite3_finalize(s);
}

static void write_all(struct writer *w) {
    execute(w, "PRAGMA journal_mode=OFF"); // nothing to roll back to: the file is new
    execute(w, "BEGIN");
    write_schema(w);
    for (uint32_t i = 0; i < weft_result_table_count(); i++) {
        write_table(w, weft_result_table_at(i));
        write_meaning(w, weft_result_table_at(i));
    }
    execute(w, "COMMIT");
}

static void drop_draft(void *context) {
    struct writer *w = context;
    weft__database_drop(w->db);
    unlink(w->draft);
}

enum weft_status weft_report_sqlite(const char *dir, const struct weft_run *run, uint32_t runs,
                                    struct weft_error *ret_error) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    enum weft_status status = weft_report_folder(dir, ret_error);
    if (!status) {
        const char *path = weft_arena_format(arena, "%s/results.sqlite", dir);
        const char *draft = weft__draft_name(path, arena);
        unlink(draft);
        struct writer w = {.run = run, .runs = runs, .draft = draft};
        struct weft_memory_cleanup cleanup;
        weft_memory_cleanup_add(&cleanup, drop_draft, &w);
        w.status = sqlite3_open(draft, &w.db);
        write_all(&w);
        if (w.status == SQLITE_NOMEM) weft_memory_fail();
        weft_memory_cleanup_remove(&cleanup);
        if (w.status != SQLITE_OK)
            status = weft_error_set(ret_error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE, "cannot write '%s': %s", path,
                                    sqlite3_errstr(w.status));
        if (sqlite3_close(w.db) != SQLITE_OK && !status)
            status = weft_error_set(ret_error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE, "cannot close '%s'", path);
        if (!status && rename(draft, path))
            status = weft_error_set(ret_error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE, "cannot write '%s': %s", path,
                                    strerror(errno));
        if (status) unlink(draft);
    }
    weft_arena_free(arena);
    return status;
}
