// SPDX-License-Identifier: Apache-2.0
// Tables of results as a database.
#include <assert.h>
#include <string.h>

#include "base/database.h"
#include "base/stream.h"
#include "rows.h"

/// Rows that one statement inserts. SQLite reads them as those of a virtual table (sqlite.org/vtab.html), with no value
/// bound. They are worked out before: what a table does for its rows may run out of memory, which must not happen
/// within a statement.
enum { ROWS_A_STATEMENT = 64, COLUMNS_MAX = 100 };

struct batch {
    const struct weft_result_table *table;
    uint32_t run, rows;
    sqlite3_stmt *insert;            ///< NULL: none of its rows was inserted yet
    struct weft_result_value *value; ///< [ROWS_A_STATEMENT * columns]
    struct weft_arena *arena;
    char *text; ///< of these rows, for a table may keep the texts of one row at a time
    size_t used, size;
};

struct writer {
    struct weft__database db;
    const struct weft_run *run;
    uint32_t runs;
    struct batch batch;
};

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
    weft__database_execute(&w->db, weft__text_stream_text(&stream));
    weft__text_stream_free(&stream);
}

// --- rows ---------------------------------------------------------------------------------------------------------

struct batch_table {
    sqlite3_vtab own; ///< of SQLite
    const struct batch *batch;
};
struct batch_cursor {
    sqlite3_vtab_cursor own; ///< of SQLite
    uint32_t row;
};

static const struct batch *batch_of(const sqlite3_vtab_cursor *c) {
    return ((const struct batch_table *)c->pVtab)->batch;
}

/// Its columns: the run, then as many as a table of results may have.
static int batch_connect(sqlite3 *db, void *context, int words, const char *const *word, sqlite3_vtab **ret_table,
                         char **ret_error) {
    char sql[8 * COLUMNS_MAX] = "CREATE TABLE batch (run", *at = sql + strlen(sql);
    for (int i = 0; i < COLUMNS_MAX; i++)
        at += sprintf(at, ",c%d", i);
    strcpy(at, ")");
    int status = sqlite3_declare_vtab(db, sql);
    struct batch_table *t = status == SQLITE_OK ? sqlite3_malloc(sizeof *t) : NULL;
    if (!t) return status == SQLITE_OK ? SQLITE_NOMEM : status;
    *t = (struct batch_table){.batch = context};
    *ret_table = &t->own;
    return SQLITE_OK;
}

static int batch_disconnect(sqlite3_vtab *t) {
    sqlite3_free(t);
    return SQLITE_OK;
}

static int batch_plan(sqlite3_vtab *t, sqlite3_index_info *plan) {
    plan->estimatedCost = ROWS_A_STATEMENT;
    return SQLITE_OK;
}

static int batch_open(sqlite3_vtab *t, sqlite3_vtab_cursor **ret_cursor) {
    struct batch_cursor *c = sqlite3_malloc(sizeof *c);
    if (!c) return SQLITE_NOMEM;
    *c = (struct batch_cursor){0};
    *ret_cursor = &c->own;
    return SQLITE_OK;
}

static int batch_close(sqlite3_vtab_cursor *c) {
    sqlite3_free(c);
    return SQLITE_OK;
}

static int batch_first(sqlite3_vtab_cursor *c, int plan, const char *name, int values, sqlite3_value **value) {
    ((struct batch_cursor *)c)->row = 0;
    return SQLITE_OK;
}

static int batch_next(sqlite3_vtab_cursor *c) {
    ((struct batch_cursor *)c)->row++;
    return SQLITE_OK;
}

static int batch_is_over(sqlite3_vtab_cursor *c) {
    return ((struct batch_cursor *)c)->row == batch_of(c)->rows;
}

static int batch_number(sqlite3_vtab_cursor *c, sqlite3_int64 *ret_number) {
    *ret_number = ((struct batch_cursor *)c)->row;
    return SQLITE_OK;
}

static int batch_column(sqlite3_vtab_cursor *c, sqlite3_context *context, int k) {
    const struct batch *b = batch_of(c);
    char text[32];
    if (k == 0) {
        sqlite3_result_int64(context, b->run + 1);
        return SQLITE_OK;
    }
    const struct weft_result_value *row = &b->value[(size_t)((struct batch_cursor *)c)->row * b->table->columns];
    const struct weft_result_value *v = &row[k - 1];
    if (!v->known) return SQLITE_OK; // null
    if (v->type == WEFT_RESULT_REAL)
        sqlite3_result_double(context, v->real);
    else if (v->type == WEFT_RESULT_TEXT)
        sqlite3_result_text(context, v->text, -1, SQLITE_STATIC);
    else if (v->type == WEFT_RESULT_PRIORITIES)
        sqlite3_result_text(context, weft_result_text(v, text, sizeof text), -1, SQLITE_TRANSIENT);
    else
        sqlite3_result_int64(context, (sqlite3_int64)v->whole);
    return SQLITE_OK;
}

/// A table that is there without being created.
static const sqlite3_module batch_module = {
    .xConnect = batch_connect,
    .xBestIndex = batch_plan,
    .xDisconnect = batch_disconnect,
    .xOpen = batch_open,
    .xClose = batch_close,
    .xFilter = batch_first,
    .xNext = batch_next,
    .xEof = batch_is_over,
    .xColumn = batch_column,
    .xRowid = batch_number,
};

static sqlite3_stmt *prepare_insert(struct writer *w) {
    const struct weft_result_table *t = w->batch.table;
    struct weft__text_stream stream;
    FILE *sql = weft__text_stream_open(&stream);
    char name[64];
    assert(t->columns <= COLUMNS_MAX);
    fprintf(sql, "INSERT INTO \"%s\" SELECT run", weft_result_flat(t->name, name, sizeof name));
    for (uint32_t i = 0; i < t->columns; i++)
        fprintf(sql, ",c%u", i);
    fputs(" FROM batch", sql);
    sqlite3_stmt *s = weft__database_prepare(&w->db, weft__text_stream_text(&stream));
    weft__text_stream_free(&stream);
    return s;
}

static const char *keep_text(struct batch *b, const char *text) {
    size_t bytes = strlen(text) + 1;
    if (b->size - b->used < bytes) { // what is kept in the one before stays there
        b->size = 2 * b->size + bytes;
        b->text = weft_arena_alloc(b->arena, b->size, 1);
        b->used = 0;
    }
    char *kept = memcpy(b->text + b->used, text, bytes);
    b->used += bytes;
    return kept;
}

static void keep_row(struct batch *b, struct weft_result_cursor *row) {
    const struct weft_result_table *t = b->table;
    struct weft_result_value *value = &b->value[(size_t)b->rows++ * t->columns];
    for (uint32_t i = 0; i < t->columns; i++) {
        value[i] = weft_result_value(row, &t->column[i]);
        if (value[i].known && value[i].type == WEFT_RESULT_TEXT) value[i].text = keep_text(b, value[i].text);
    }
}

static void insert_batch(struct writer *w) {
    struct batch *b = &w->batch;
    if (!b->rows) return;
    if (!b->insert) b->insert = prepare_insert(w);
    weft__database_step(&w->db, b->insert);
    b->rows = 0;
    b->used = 0;
}

static void write_rows(struct writer *w) {
    struct batch *b = &w->batch;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    struct weft_result_walk walk = weft_result_walk(&w->run[b->run], b->table, arena);
    struct weft_result_cursor *row;
    while (w->db.status == SQLITE_OK && (row = weft_result_next(&walk))) {
        keep_row(b, row);
        if (b->rows == ROWS_A_STATEMENT) insert_batch(w);
    }
    insert_batch(w);
    weft_arena_free(arena);
}

static void write_table(struct writer *w, const struct weft_result_table *t) {
    struct batch *b = &w->batch;
    *b = (struct batch){.table = t, .arena = weft_arena_new(WEFT_MEMORY_RESULT)};
    b->value = weft_arena_alloc(b->arena, (size_t)ROWS_A_STATEMENT * t->columns, sizeof *b->value);
    for (b->run = 0; b->run < w->runs; b->run++)
        if (weft_result_table_present(t, &w->run[b->run])) write_rows(w);
    sqlite3_finalize(b->insert);
    weft_arena_free(b->arena);
}

/// What columns mean, for those who have the file and not the documents.
static void write_meaning(struct writer *w, const struct weft_result_table *t) {
    char table[64], column[64];
    sqlite3_stmt *s = weft__database_prepare(&w->db, "INSERT INTO meaning VALUES (?,?,?,?)");
    for (uint32_t i = 0; i < t->columns && w->db.status == SQLITE_OK; i++) {
        const char *text[] = {weft_result_flat(t->name, table, sizeof table),
                              weft_result_flat_column(t, &t->column[i], column, sizeof column),
                              weft_result_unit(&t->column[i]), t->column[i].help};
        for (int k = 0; k < 4 && w->db.status == SQLITE_OK; k++)
            weft__database_bound(&w->db, sqlite3_bind_text(s, k + 1, text[k], -1, SQLITE_STATIC));
        weft__database_step(&w->db, s);
    }
    sqlite3_finalize(s);
}

enum weft_status weft_report_sqlite(const char *dir, const struct weft_run *run, uint32_t runs,
                                    struct weft_error *ret_error) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    enum weft_status status = weft_report_folder(dir, ret_error);
    if (!status) {
        struct writer w = {.run = run, .runs = runs};
        weft__database_begin(&w.db, weft_arena_format(arena, "%s/results.sqlite", dir), arena);
        weft__database_bound(&w.db, sqlite3_create_module(w.db.db, "batch", &batch_module, &w.batch));
        write_schema(&w);
        for (uint32_t i = 0; i < weft_result_table_count(); i++) {
            write_table(&w, weft_result_table_at(i));
            write_meaning(&w, weft_result_table_at(i));
        }
        status = weft__database_end(&w.db, ret_error);
    }
    weft_arena_free(arena);
    return status;
}
