// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_REPORT_DATABASE_H
#define WEFT_REPORT_DATABASE_H

#include <sqlite3.h>
#include <stddef.h>

/// Closes a database in the middle of its statements. NULL: nothing.
static inline void weft__database_drop(sqlite3 *db) {
    for (sqlite3_stmt *s; db && (s = sqlite3_next_stmt(db, NULL));)
        sqlite3_finalize(s);
    sqlite3_close(db);
}

#endif
