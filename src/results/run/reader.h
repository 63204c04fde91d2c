// SPDX-License-Identifier: Apache-2.0
// Reads results from a folder written by --out, for code that needs some of their tables.
#pragma once

#include "base/database.h"
#include "weft/error.h"
#include "weft/memory.h"

/// After the first status that is neither SQLITE_OK nor a row, nothing more is read; weft__reader_close reports it.
struct weft__reader {
    sqlite3 *db;
    const char *path; ///< of results.sqlite
    bool old;         ///< tables and columns have the names of version 1
    int status;
    sqlite3_int64 run; ///< id of the chosen run
    struct weft_arena *arena;
    struct weft_memory_cleanup cleanup;
};

/// Opens the results in the folder `dir`. Close it whatever it returns; data are read into `arena`.
enum weft_status weft__reader_open(struct weft__reader *r, const char *dir, struct weft_arena *arena,
                                   struct weft_error *ret_error);
/// The same for a separate file, whose version the caller must check.
void weft__reader_open_file(struct weft__reader *r, const char *path, struct weft_arena *arena);
/// `status`: the result so far. If that is WEFT_OK and something could not be read, returns an error.
enum weft_status weft__reader_close(struct weft__reader *r, enum weft_status status, struct weft_error *ret_error);

/// Chooses the first run of that variant (NULL: of any) and, if there is one, with that seed (NULL: any). `ret_names`
/// [*ret_n]: the variants of all runs.
enum weft_status weft__reader_choose(struct weft__reader *r, const char *variant, const uint64_t *seed,
                                     const char *const **ret_names, uint32_t *ret_n, struct weft_error *ret_error);

/// A parameter of the query, if there is one, is set to the chosen run. Finalize it.
sqlite3_stmt *weft__reader_prepare(struct weft__reader *r, const char *sql);
/// "SELECT columns FROM table" for the chosen run, with the names used in the file; columns: "flow,group".
sqlite3_stmt *weft__reader_select(struct weft__reader *r, const char *table, const char *columns, const char *order);
bool weft__reader_next(struct weft__reader *r, sqlite3_stmt *s);
/// The single number that a query returns; 0 if it returns none.
uint32_t weft__reader_count(struct weft__reader *r, const char *sql);

uint64_t weft__reader_number(sqlite3_stmt *s, int column, uint64_t if_null);
/// Valid until the next row; NULL for NULL.
const char *weft__reader_peek(sqlite3_stmt *s, int column);
/// In the arena; "" for NULL.
const char *weft__reader_text(struct weft__reader *r, sqlite3_stmt *s, int column);
