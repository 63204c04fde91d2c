// SPDX-License-Identifier: Apache-2.0
#include "results/run/reader.h"

#include <string.h>

#include "base/param.h"
#include "weft/result.h"

sqlite3_stmt *weft__reader_prepare(struct weft__reader *r, const char *sql) {
    sqlite3_stmt *s = NULL;
    if (r->status == SQLITE_OK) r->status = sqlite3_prepare_v2(r->db, sql, -1, &s, NULL);
    if (r->status == SQLITE_OK && sqlite3_bind_parameter_count(s)) r->status = sqlite3_bind_int64(s, 1, r->run);
    return s;
}

bool weft__reader_next(struct weft__reader *r, sqlite3_stmt *s) {
    if (r->status != SQLITE_OK) return false;
    int status = sqlite3_step(s);
    if (status != SQLITE_ROW && status != SQLITE_DONE) r->status = status;
    return status == SQLITE_ROW;
}

uint64_t weft__reader_number(sqlite3_stmt *s, int column, uint64_t if_null) {
    return sqlite3_column_type(s, column) == SQLITE_NULL ? if_null : (uint64_t)sqlite3_column_int64(s, column);
}

const char *weft__reader_peek(sqlite3_stmt *s, int column) {
    const char *value = (const char *)sqlite3_column_text(s, column);
    if (!value && sqlite3_errcode(sqlite3_db_handle(s)) == SQLITE_NOMEM) weft_memory_fail();
    return value;
}

const char *weft__reader_text(struct weft__reader *r, sqlite3_stmt *s, int column) {
    const char *value = weft__reader_peek(s, column);
    return weft_arena_text(r->arena, value ? value : "");
}

sqlite3_stmt *weft__reader_select(struct weft__reader *r, const char *table, const char *columns, const char *order) {
    const struct weft_result_table *t = weft_result_table_find(table);
    const char *sql = "SELECT ", *end;
    char flat[64];
    for (; *columns; columns = end + (*end == ',')) {
        end = columns + strcspn(columns, ",");
        const char *name = weft_arena_format(r->arena, "%.*s", (int)(end - columns), columns);
        const struct weft_result_column *c = weft_result_column_find(t, name);
        if (c && c->was && r->old) name = c->was;
        sql =
            weft_arena_format(r->arena, "%s\"%s\"%s", sql, weft_result_flat(name, flat, sizeof flat), *end ? "," : "");
    }
    const char *name = t->was && r->old ? t->was : t->name;
    return weft__reader_prepare(r, weft_arena_format(r->arena, "%s FROM \"%s\" WHERE run = ?%s%s", sql,
                                                     weft_result_flat(name, flat, sizeof flat),
                                                     order ? " ORDER BY " : "", order ? order : ""));
}

uint32_t weft__reader_count(struct weft__reader *r, const char *sql) {
    sqlite3_stmt *s = weft__reader_prepare(r, sql);
    uint32_t n = weft__reader_next(r, s) ? (uint32_t)sqlite3_column_int64(s, 0) : 0;
    sqlite3_finalize(s);
    return n;
}

enum weft_status weft__reader_choose(struct weft__reader *r, const char *variant, const uint64_t *seed,
                                     const char *const **ret_names, uint32_t *ret_n, struct weft_error *ret_error) {
    uint32_t room = weft__reader_count(r, "SELECT count(*) FROM run"), n = 0;
    const char **names = weft_arena_alloc(r->arena, room, sizeof *names);
    sqlite3_stmt *s = weft__reader_prepare(r, "SELECT id, variant, seed FROM run ORDER BY id");
    bool found = false;
    for (; n < room && weft__reader_next(r, s); n++) {
        names[n] = weft__reader_text(r, s, 1);
        bool wanted = seed && weft__reader_number(s, 2, 0) == *seed;
        if (found || (r->run && !wanted) || (variant && strcmp(names[n], variant))) continue;
        r->run = sqlite3_column_int64(s, 0);
        found = wanted;
    }
    sqlite3_finalize(s);
    *ret_names = names;
    *ret_n = n;
    if (r->run || r->status != SQLITE_OK) return WEFT_OK;
    char expected[512];
    if (!n) return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "%s: there is no run in it", r->path);
    weft__names_expected(variant ? variant : "", names, n, expected, sizeof expected);
    return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "--variant %s: no such variant in the results; %s",
                       variant ? variant : "", expected);
}

static void close_database(void *context) {
    const struct weft__reader *r = context;
    weft__database_drop(r->db);
}

/// Files of version 1 contain no version.
static enum weft_status check_version(struct weft__reader *r, struct weft_error *ret_error) {
    uint32_t version = weft__reader_count(r, "PRAGMA user_version");
    r->old = version < WEFT_RESULTS_VERSION;
    uint32_t tables = weft__reader_count(r, "SELECT count(*) FROM sqlite_schema WHERE name = 'run'");
    if (r->status == SQLITE_OK && !tables)
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                           "%s: has no table run; expected a folder that weft run --out has written", r->path);
    if (version <= WEFT_RESULTS_VERSION) return WEFT_OK;
    return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "%s: results of version %u; this weft reads versions up to %d", r->path,
                       version, WEFT_RESULTS_VERSION);
}

void weft__reader_open_file(struct weft__reader *r, const char *path, struct weft_arena *arena) {
    *r = (struct weft__reader){.arena = arena, .path = path};
    weft_memory_cleanup_add(&r->cleanup, close_database, r);
    r->status = sqlite3_open_v2(path, &r->db, SQLITE_OPEN_READONLY, NULL);
}

enum weft_status weft__reader_open(struct weft__reader *r, const char *dir, struct weft_arena *arena,
                                   struct weft_error *ret_error) {
    weft__reader_open_file(r, weft_arena_format(arena, "%s/results.sqlite", dir), arena);
    return r->status == SQLITE_OK ? check_version(r, ret_error) : WEFT_OK;
}

enum weft_status weft__reader_close(struct weft__reader *r, enum weft_status status, struct weft_error *ret_error) {
    if (r->status == SQLITE_NOMEM) weft_memory_fail();
    if (!status && r->status == SQLITE_CANTOPEN)
        status = WEFT_REFUSE(ret_error, (struct weft_place){.file = r->path},
                             "is not there, or cannot be read; expected a folder that weft run --out has written, "
                             "which holds this file");
    if (!status && r->status != SQLITE_OK)
        status = WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                             "%s: cannot be read (%s); expected a folder that weft run --out has written", r->path,
                             r->status == SQLITE_CORRUPT ? sqlite3_errstr(r->status) : sqlite3_errmsg(r->db));
    weft_memory_cleanup_remove(&r->cleanup);
    sqlite3_close(r->db);
    return status;
}
