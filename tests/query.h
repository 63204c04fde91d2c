// SPDX-License-Identifier: Apache-2.0
// What a query of results.sqlite gives.
#pragma once

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

/// The rows a query gives: values joined by "|", rows by "\n".
static inline void expect_rows(const char *dir, const char *query, const char *expected) {
    char path[256], got[4096] = "";
    sqlite3 *db;
    sqlite3_stmt *s;
    snprintf(path, sizeof path, "%s/results.sqlite", dir);
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    if (sqlite3_prepare_v2(db, query, -1, &s, NULL)) fail_msg("%s: %s", query, sqlite3_errmsg(db));
    while (sqlite3_step(s) == SQLITE_ROW) {
        if (*got) strcat(got, "\n");
        for (int c = 0; c < sqlite3_column_count(s); c++) {
            const char *value = (const char *)sqlite3_column_text(s, c);
            snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", c ? "|" : "", value ? value : "NULL");
        }
    }
    assert_int_equal(sqlite3_finalize(s), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    if (strcmp(got, expected)) fail_msg("%s\ngave\n%s\nexpected\n%s", query, got, expected);
}
