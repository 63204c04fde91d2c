// SPDX-License-Identifier: Apache-2.0
#include "base/database.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/stream.h"

void weft__database_execute(struct weft__database *d, const char *sql) {
    if (d->status == SQLITE_OK) d->status = sqlite3_exec(d->db, sql, NULL, NULL, NULL);
}

sqlite3_stmt *weft__database_prepare(struct weft__database *d, const char *sql) {
    sqlite3_stmt *statement = NULL;
    if (d->status == SQLITE_OK) d->status = sqlite3_prepare_v2(d->db, sql, -1, &statement, NULL);
    return statement;
}

void weft__database_bound(struct weft__database *d, int status) {
    if (d->status == SQLITE_OK) d->status = status;
}

void weft__database_step(struct weft__database *d, sqlite3_stmt *s) {
    if (d->status != SQLITE_OK) return;
    sqlite3_step(s);
    d->status = sqlite3_reset(s);
}

static void drop_draft(void *context) {
    struct weft__database *d = context;
    weft__database_drop(d->db);
    unlink(d->draft);
}

void weft__database_begin(struct weft__database *d, const char *path, struct weft_arena *arena) {
    *d = (struct weft__database){.path = weft_arena_text(arena, path), .draft = weft__draft_name(path, arena)};
    unlink(d->draft);
    weft_memory_cleanup_add(&d->cleanup, drop_draft, d);
    FILE *file = weft__file_open(d->draft, "wb"); // SQLite would not report why it cannot create the file
    if (!file) {
        d->error = errno;
        d->status = SQLITE_CANTOPEN;
        return;
    }
    fclose(file);
    // Without locks, which some cluster file systems lack: no other process knows the draft.
    d->status = sqlite3_open_v2(d->draft, &d->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                                "unix-none");
    weft__database_execute(d, "PRAGMA journal_mode=OFF"); // nothing to roll back to: the file is new
    weft__database_execute(d, "BEGIN");
}

void weft__database_close(struct weft__database *d) {
    weft__database_execute(d, "COMMIT");
    if (sqlite3_close(d->db) != SQLITE_OK && d->status == SQLITE_OK) d->status = SQLITE_IOERR;
    d->db = NULL;
}

enum weft_status weft__database_end(struct weft__database *d, struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK;
    if (d->db) weft__database_close(d);
    if (d->status == SQLITE_NOMEM) weft_memory_fail();
    weft_memory_cleanup_remove(&d->cleanup);
    if (d->status != SQLITE_OK)
        status = weft_error_set(ret_error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE, "cannot write '%s': %s", d->path,
                                d->error ? strerror(d->error) : sqlite3_errstr(d->status));
    if (!status && rename(d->draft, d->path))
        status = weft_error_set(ret_error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE, "cannot write '%s': %s", d->path,
                                strerror(errno));
    if (status) unlink(d->draft);
    return status;
}
