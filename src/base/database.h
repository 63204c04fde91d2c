// SPDX-License-Identifier: Apache-2.0
// A database that is written in one go: one transaction into a new file, which is renamed when it is complete.
#pragma once

#include <sqlite3.h>

#include "weft/error.h"
#include "weft/memory.h"

/// Closes a database in the middle of its statements. NULL: nothing.
static inline void weft__database_drop(sqlite3 *db) {
    for (sqlite3_stmt *s; db && (s = sqlite3_next_stmt(db, NULL));)
        sqlite3_finalize(s);
    sqlite3_close(db);
}

struct weft__database {
    sqlite3 *db;
    int status; ///< the first that was not SQLITE_OK; everything after it does nothing
    int error;  ///< why the file could not be created
    const char *path, *draft;
    struct weft_memory_cleanup cleanup;
};
/// Names are in `arena`. Call weft__database_end afterwards.
void weft__database_begin(struct weft__database *d, const char *path, struct weft_arena *arena);
void weft__database_execute(struct weft__database *d, const char *sql);
/// NULL after an error. Finalize it.
sqlite3_stmt *weft__database_prepare(struct weft__database *d, const char *sql);
/// Takes the result of an sqlite3_bind function.
void weft__database_bound(struct weft__database *d, int status);
/// Inserts the bound row.
void weft__database_step(struct weft__database *d, sqlite3_stmt *s);
/// SQLite has written everything that it writes.
void weft__database_close(struct weft__database *d);
/// Renames the file; after an error the older one stays.
enum weft_status weft__database_end(struct weft__database *d, struct weft_error *ret_error);
