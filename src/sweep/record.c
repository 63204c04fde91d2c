// SPDX-License-Identifier: Apache-2.0
// The result of a run, in a file of its own, so that runs on many machines share none.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/database.h"
#include "base/digest.h"
#include "base/stream.h"
#include "sweep/cells.h"

/// Version of these files. Their only use is to be read by the weft that wrote them.
enum { RECORD_VERSION = 2 };

static const char run_schema[] =
    "PRAGMA user_version = 2;"
    "CREATE TABLE run (state INTEGER, bug INTEGER, message TEXT, seed INTEGER, digest TEXT,"
    " sim_time_ps INTEGER);"
    "CREATE TABLE metric (name TEXT PRIMARY KEY, value REAL) WITHOUT ROWID;";
_Static_assert(RECORD_VERSION == 2, "user_version");

struct record {
    struct weft__database db;
    struct weft_arena *arena;
    const struct weft_run *run;
    const struct weft_estimate *estimate;
    const struct weft_sweep_column *column;
    uint32_t columns;
};

static void write_schema(struct record *r) {
    WEFT__TEXT_STREAM(stream, sql);
    fprintf(sql, "%sCREATE TABLE rows (\"group\" TEXT", run_schema);
    weft__sweep_column_definitions(sql, r->column, r->columns);
    fputs(");", sql);
    weft__database_execute(&r->db, weft__text_stream_text(&stream));
}

static void write_run(struct record *r, enum weft_sweep_state state, bool bug, const char *message) {
    sqlite3_stmt *s = weft__database_prepare(&r->db, "INSERT INTO run VALUES (?,?,?,?,?,?)");
    weft__database_bound(&r->db, sqlite3_bind_int(s, 1, (int)state));
    weft__database_bound(&r->db, sqlite3_bind_int(s, 2, bug));
    weft__database_bound(&r->db, sqlite3_bind_text(s, 3, message, -1, SQLITE_STATIC));
    char digest[17];
    if (r->run) {
        snprintf(digest, sizeof digest, "%016" PRIx64, r->run->outcome->digest);
        weft__database_bound(&r->db, sqlite3_bind_int64(s, 4, (sqlite3_int64)r->run->scenario->run.seed));
        weft__database_bound(&r->db, sqlite3_bind_text(s, 5, digest, -1, SQLITE_STATIC));
        weft__database_bound(&r->db, sqlite3_bind_int64(s, 6, (sqlite3_int64)r->run->outcome->sim_time_ps));
    }
    weft__database_step(&r->db, s);
    sqlite3_finalize(s);
}

/// The job of that group; NULL: none.
static struct weft_result_cursor *job_row(const struct record *r, const struct weft_result_table *jobs,
                                          const char *group) {
    const struct weft_result_column *name = weft_result_column_find(jobs, "name");
    struct weft_result_walk *walk = weft_arena_alloc(r->arena, 1, sizeof *walk);
    *walk = weft_result_walk(r->run, jobs, r->arena);
    struct weft_result_cursor *row = NULL;
    while (weft_result_table_present(jobs, r->run) && (row = weft_result_next(walk))) {
        struct weft_result_value value = weft_result_value(row, name);
        if (value.known && !strcmp(value.text, group)) return row;
    }
    return NULL;
}

/// Binds a table's columns; without a row, nothing.
static void bind_columns(struct record *r, sqlite3_stmt *s, const struct weft_result_table *table,
                         struct weft_result_cursor *row) {
    for (uint32_t i = 0; i < r->columns && row; i++) {
        if (r->column[i].table != table) continue;
        if (r->estimate && weft__sweep_is_of_packets(table->name, r->column[i].column->name)) continue;
        struct weft_result_value value = weft_result_value(row, r->column[i].column);
        weft__database_bound(&r->db, weft__sweep_bind(s, (int)i + 2, &value));
    }
}

static void write_group(struct record *r, sqlite3_stmt *s, struct weft_result_cursor *group,
                        struct weft_result_cursor *counters) {
    const struct weft_result_table *groups = weft_result_table_find("groups"), *jobs = weft_result_table_find("jobs");
    const char *name = "";
    if (group) name = weft_result_value(group, weft_result_column_find(groups, "name")).text;
    if (s) sqlite3_clear_bindings(s);
    weft__database_bound(&r->db, sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC));
    bind_columns(r, s, groups, group);
    bind_columns(r, s, jobs, group ? job_row(r, jobs, name) : NULL);
    bind_columns(r, s, counters->table, counters);
    weft__database_step(&r->db, s);
}

/// One row per group; for a run without groups, one with the network's counts.
static void write_rows(struct record *r) {
    WEFT__TEXT_STREAM(stream, sql);
    fputs("INSERT INTO rows VALUES (?", sql);
    for (uint32_t i = 0; i < r->columns; i++)
        fputs(",?", sql);
    fputs(")", sql);
    sqlite3_stmt *s = weft__database_prepare(&r->db, weft__text_stream_text(&stream));
    struct weft_result_walk counters = weft_result_walk(r->run, weft_result_table_find("counters"), r->arena);
    struct weft_result_cursor *counted = weft_result_next(&counters), *group;
    struct weft_result_walk groups = weft_result_walk(r->run, weft_result_table_find("groups"), r->arena);
    bool any = false;
    for (; (group = weft_result_next(&groups)); any = true)
        write_group(r, s, group, counted);
    if (!any) write_group(r, s, NULL, counted);
    sqlite3_finalize(s);
}

static void write_metric(struct record *r, sqlite3_stmt *s, const char *name, double value) {
    weft__database_bound(&r->db, sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC));
    weft__database_bound(&r->db, isnan(value) ? sqlite3_bind_null(s, 2) : sqlite3_bind_double(s, 2, value));
    weft__database_step(&r->db, s);
}

static void write_metrics(struct record *r, const struct weft_sweep_metric *metric, uint32_t metrics,
                          const struct weft_sweep_kept *kept, uint32_t keeps) {
    uint32_t n = 0;
    const struct weft_sweep_kept *interval = r->estimate ? weft__sweep_keep_interval(r->estimate, r->arena, &n) : NULL;
    struct weft_result_finder finder = weft_result_finder(r->run, r->arena);
    sqlite3_stmt *s = weft__database_prepare(&r->db, "INSERT OR REPLACE INTO metric VALUES (?,?)");
    for (uint32_t i = 0; i < metrics; i++) {
        if (metric[i].column != WEFT_NONE) continue;
        const struct weft_claim_metric *m = &metric[i].path;
        struct weft_result_found found = weft_result_find(&finder, m->part, m->parts);
        bool unknown = r->estimate && weft__sweep_is_of_packets(m->part[0], m->part[m->parts - 1]);
        write_metric(r, s, metric[i].name, unknown ? (double)NAN : weft_result_number(&found.value));
    }
    for (uint32_t i = 0; i < n; i++)
        write_metric(r, s, interval[i].name, interval[i].value);
    for (uint32_t i = 0; i < keeps; i++)
        write_metric(r, s, kept[i].name, kept[i].value);
    sqlite3_finalize(s);
}

// --- its checksum -------------------------------------------------------------------------------------------------

/// Where SQLite's header keeps the application's own number: the checksum of everything else in the file.
enum { SUM_AT = 68, SUM_BYTES = 4 };

/// 0: the file cannot be read to its end.
static uint32_t sum_of(FILE *file) {
    unsigned char part[1 << 12];
    uint64_t hash = WEFT__HASH_START;
    rewind(file);
    for (size_t n, at = 0; (n = fread(part, 1, sizeof part, file)) > 0; at += n) {
        if (!at && n >= SUM_AT + SUM_BYTES) memset(part + SUM_AT, 0, SUM_BYTES);
        hash = weft__hash(hash, part, n);
    }
    uint32_t sum = (uint32_t)(hash ^ hash >> 32);
    return ferror(file) ? 0 : sum ? sum : 1;
}

/// Writes the checksum into a file that SQLite has closed.
static void write_sum(struct weft__database *db) {
    FILE *file = db->status == SQLITE_OK ? fopen(db->draft, "r+be") : NULL;
    uint32_t sum = file ? sum_of(file) : 0;
    bool written = sum && !fseek(file, SUM_AT, SEEK_SET) && fwrite(&sum, SUM_BYTES, 1, file) == 1;
    if (file && fclose(file)) written = false;
    if (written || db->status != SQLITE_OK) return;
    db->status = SQLITE_IOERR;
    db->error = errno;
}

static bool is_whole(const char *path) {
    uint32_t sum = 0;
    FILE *file = fopen(path, "rbe");
    bool whole =
        file && !fseek(file, SUM_AT, SEEK_SET) && fread(&sum, SUM_BYTES, 1, file) == 1 && sum && sum == sum_of(file);
    if (file) fclose(file);
    return whole;
}

static void begin_record(struct record *r, const char *path, const struct weft_run *run, enum weft_sweep_state state,
                         bool bug, const char *message) {
    *r = (struct record){.arena = weft_arena_new(WEFT_MEMORY_RESULT), .run = run};
    r->column = weft_sweep_columns(r->arena, &r->columns);
    weft__database_begin(&r->db, path, r->arena);
    write_schema(r);
    write_run(r, state, bug, message);
}

static enum weft_status end_record(struct record *r, struct weft_error *ret_error) {
    if (r->db.db) weft__database_close(&r->db);
    write_sum(&r->db);
    enum weft_status status = weft__database_end(&r->db, ret_error);
    weft_arena_free(r->arena);
    return status;
}

enum weft_status weft_sweep_record(const char *path, const struct weft_sweep_came *came,
                                   const struct weft_sweep_metric *metric, uint32_t metrics,
                                   struct weft_error *ret_error) {
    struct record r;
    begin_record(&r, path, &came->run, came->state, false, "");
    r.estimate = came->estimate;
    write_rows(&r);
    write_metrics(&r, metric, metrics, came->kept, came->keeps);
    return end_record(&r, ret_error);
}

enum weft_status weft_sweep_record_failure(const char *path, const char *message, bool bug,
                                           struct weft_error *ret_error) {
    struct record r;
    begin_record(&r, path, NULL, WEFT_SWEEP_FAILED, bug, message);
    return end_record(&r, ret_error);
}

// --- reading it back ----------------------------------------------------------------------------------------------

struct reading {
    sqlite3 *db;
    struct weft_arena *arena;
    const struct weft_sweep_column *column;
    uint32_t columns;
    struct weft_sweep_run run;
    bool damaged;
};

static void drop_reading(void *context) {
    weft__database_drop(((const struct reading *)context)->db);
}

static sqlite3_stmt *select_from(struct reading *r, const char *sql) {
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(r->db, sql, -1, &s, NULL) == SQLITE_NOMEM) weft_memory_fail();
    return s;
}

static bool next_row(struct reading *r, sqlite3_stmt *s) {
    int status = s ? sqlite3_step(s) : SQLITE_ERROR;
    if (status == SQLITE_NOMEM) weft_memory_fail();
    r->damaged |= status != SQLITE_ROW && status != SQLITE_DONE;
    return status == SQLITE_ROW;
}

static const char *text_at(struct reading *r, sqlite3_stmt *s, int column) {
    const char *text = (const char *)sqlite3_column_text(s, column);
    if (!text && sqlite3_errcode(r->db) == SQLITE_NOMEM) weft_memory_fail();
    return weft_arena_text(r->arena, text ? text : "");
}

static uint32_t count_rows(struct reading *r, const char *sql) {
    sqlite3_stmt *s = select_from(r, sql);
    uint32_t n = next_row(r, s) ? (uint32_t)sqlite3_column_int64(s, 0) : 0;
    sqlite3_finalize(s);
    return n;
}

static void read_run(struct reading *r) {
    sqlite3_stmt *s = select_from(r, "SELECT state, bug, message, seed, digest, sim_time_ps FROM run");
    if (next_row(r, s)) {
        int state = sqlite3_column_int(s, 0);
        if (state > WEFT_SWEEP_MISSING && state <= WEFT_SWEEP_FAILED) r->run.state = (enum weft_sweep_state)state;
        r->run.bug = sqlite3_column_int(s, 1);
        r->run.message = text_at(r, s, 2);
        r->run.seed = (uint64_t)sqlite3_column_int64(s, 3);
        r->run.digest = text_at(r, s, 4);
        r->run.sim_time_ps = (weft_time_ps)sqlite3_column_int64(s, 5);
    }
    sqlite3_finalize(s);
}

static struct weft_result_value value_at(sqlite3_stmt *s, int column, enum weft_result_type type) {
    struct weft_result_value v = {.type = type, .known = sqlite3_column_type(s, column) != SQLITE_NULL};
    if (type == WEFT_RESULT_REAL)
        v.real = v.known ? sqlite3_column_double(s, column) : (double)NAN;
    else
        v.whole = (uint64_t)sqlite3_column_int64(s, column);
    return v;
}

static void read_rows(struct reading *r) {
    uint32_t room = count_rows(r, "SELECT count(*) FROM rows");
    r->run.row = weft_arena_alloc(r->arena, room, sizeof *r->run.row);
    sqlite3_stmt *s = select_from(r, "SELECT * FROM rows ORDER BY rowid");
    bool fits = s && sqlite3_column_count(s) == (int)r->columns + 1;
    if (!fits) r->run.state = WEFT_SWEEP_MISSING;
    while (fits && r->run.rows < room && next_row(r, s)) {
        struct weft_sweep_row *row = &r->run.row[r->run.rows++];
        row->group = text_at(r, s, 0);
        row->value = weft_arena_alloc(r->arena, r->columns, sizeof *row->value);
        for (uint32_t i = 0; i < r->columns; i++)
            row->value[i] = value_at(s, (int)i + 1, r->column[i].column->type);
    }
    sqlite3_finalize(s);
}

static void read_metrics(struct reading *r) {
    uint32_t room = count_rows(r, "SELECT count(*) FROM metric");
    const char **name = weft_arena_alloc(r->arena, room, sizeof *name);
    double *value = weft_arena_alloc(r->arena, room, sizeof *value);
    sqlite3_stmt *s = select_from(r, "SELECT name, value FROM metric ORDER BY name");
    while (r->run.keeps < room && next_row(r, s)) {
        name[r->run.keeps] = text_at(r, s, 0);
        value[r->run.keeps++] = value_at(s, 1, WEFT_RESULT_REAL).real;
    }
    sqlite3_finalize(s);
    r->run.kept = name;
    r->run.kept_value = value;
}

struct weft_sweep_run weft_sweep_load(const char *path, const struct weft_sweep_column *column, uint32_t columns,
                                      struct weft_arena *arena) {
    struct reading r = {.arena = arena, .column = column, .columns = columns, .run = {.message = "", .digest = ""}};
    if (!is_whole(path)) return r.run;
    struct weft_memory_cleanup cleanup;
    weft_memory_cleanup_add(&cleanup, drop_reading, &r);
    int status = sqlite3_open_v2(path, &r.db, SQLITE_OPEN_READONLY, "unix-none"); // it is never written again
    if (status == SQLITE_NOMEM) weft_memory_fail();
    if (status == SQLITE_OK && count_rows(&r, "PRAGMA user_version") == RECORD_VERSION) {
        read_run(&r);
        read_rows(&r);
        read_metrics(&r);
    }
    if (r.damaged || !r.run.state) r.run = (struct weft_sweep_run){.message = "", .digest = ""};
    weft_memory_cleanup_remove(&cleanup);
    sqlite3_close(r.db);
    return r.run;
}
