// SPDX-License-Identifier: Apache-2.0
// Tables that are written as pages, read back by SQLite, which also checks the file.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/pages.h"

enum { LONG_TEXT = 20000 };

struct fixture {
    char dir[64], path[80], text[LONG_TEXT + 1];
    struct weft_arena *arena;
    struct weft__database db;
    struct weft__pages pages;
    uint32_t lock_byte; ///< 0: where it always is
};

static int setup(void **state) {
    static struct fixture f;
    memset(&f, 0, sizeof f);
    strcpy(f.dir, "/tmp/weft-pages-XXXXXX");
    assert_non_null(mkdtemp(f.dir));
    snprintf(f.path, sizeof f.path, "%s/t.sqlite", f.dir);
    f.arena = weft_arena_new(WEFT_MEMORY_RESULT);
    for (uint32_t i = 0; i < LONG_TEXT; i++)
        f.text[i] = (char)('a' + i % 26);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    weft_arena_free(f->arena);
    unlink(f->path);
    rmdir(f->dir);
    return 0;
}

/// Numbers of every length, of both signs.
static int64_t number(uint64_t i) {
    uint64_t size = UINT64_MAX >> i % 64;
    return (int64_t)(i % 2 ? ~(i * UINT64_C(0x9e3779b97f4a7c15) & size) : i * UINT64_C(0x9e3779b97f4a7c15) & size);
}

/// As many letters of the text as a row has.
static uint32_t letters(const struct fixture *f, uint64_t i, uint32_t most) {
    return (uint32_t)(i * 7919 % (most + 1));
}

static void put_row(struct fixture *f, uint64_t i, uint32_t most) {
    char *end = f->text + letters(f, i, most), kept = *end;
    weft__pages_whole(&f->pages, (int64_t)i);
    weft__pages_whole(&f->pages, number(i));
    weft__pages_real(&f->pages, (double)i / 8);
    weft__pages_null(&f->pages);
    *end = 0;
    weft__pages_text(&f->pages, f->text);
    *end = kept;
    weft__pages_row(&f->pages);
}

/// The first value of a query, as a text.
static const char *query(sqlite3 *db, const char *sql) {
    static char text[64];
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    snprintf(text, sizeof text, "%s", (const char *)sqlite3_column_text(s, 0));
    sqlite3_finalize(s);
    return text;
}

static void expect_rows(const struct fixture *f, const char *table, uint64_t rows, uint32_t most) {
    sqlite3 *db;
    sqlite3_stmt *s;
    char sql[100];
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    assert_string_equal(query(db, "PRAGMA integrity_check"), "ok");
    snprintf(sql, sizeof sql, "SELECT k, n, r, e, t FROM %s ORDER BY k", table);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    for (uint64_t i = 0; i < rows; i++) {
        assert_int_equal(sqlite3_step(s), SQLITE_ROW);
        assert_int_equal(sqlite3_column_int64(s, 0), i);
        assert_int_equal(sqlite3_column_int64(s, 1), number(i));
        assert_true(sqlite3_column_double(s, 2) >= (double)i / 8 && sqlite3_column_double(s, 2) <= (double)i / 8);
        assert_int_equal(sqlite3_column_type(s, 3), SQLITE_NULL);
        uint32_t n = letters(f, i, most);
        assert_int_equal(sqlite3_column_bytes(s, 4), n);
        assert_memory_equal(sqlite3_column_text(s, 4), f->text, n);
    }
    assert_int_equal(sqlite3_step(s), SQLITE_DONE);
    sqlite3_finalize(s);
    if (rows) { // a key is found, and so is none
        snprintf(sql, sizeof sql, "SELECT count(*) FROM %s WHERE k = %llu", table, (unsigned long long)rows / 2);
        assert_string_equal(query(db, sql), "1");
        snprintf(sql, sizeof sql, "SELECT count(*) FROM %s WHERE k = %llu", table, (unsigned long long)rows);
        assert_string_equal(query(db, sql), "0");
    }
    sqlite3_close(db);
}

#define KEYED "CREATE TABLE keyed (k INTEGER PRIMARY KEY, n INTEGER, r REAL, e TEXT, t TEXT) WITHOUT ROWID;"
#define NUMBERED "CREATE TABLE numbered (k INTEGER, n INTEGER, r REAL, e TEXT, t TEXT);"

/// Both tables in a database with pages of that size, with texts of at most this many letters.
static void write_and_read(struct fixture *f, uint32_t page, uint64_t rows, uint32_t most) {
    struct weft_error error = {0};
    weft__database_begin(&f->db, f->path, f->arena);
    char sql[100];
    snprintf(sql, sizeof sql, "COMMIT; PRAGMA page_size = %u; BEGIN;", page);
    weft__database_execute(&f->db, sql);
    weft__database_execute(&f->db, KEYED NUMBERED "CREATE TABLE other (a); INSERT INTO other VALUES (42);");
    uint32_t keyed = weft__database_root(&f->db, "keyed"), numbered = weft__database_root(&f->db, "numbered");
    weft__pages_begin(&f->pages, &f->db, f->arena);
    if (f->lock_byte) f->pages.lock_byte = f->lock_byte;
    weft__pages_open(&f->pages, keyed, true);
    for (uint64_t i = 0; i < rows; i++)
        put_row(f, i, most);
    weft__pages_close(&f->pages);
    weft__pages_open(&f->pages, numbered, false);
    for (uint64_t i = 0; i < rows; i++)
        put_row(f, i, most);
    weft__pages_close(&f->pages);
    weft__pages_end(&f->pages);
    if (weft__database_end(&f->db, &error)) fail_msg("%s", error.text);
    expect_rows(f, "keyed", rows, most);
    expect_rows(f, "numbered", rows, most);
}

/// All cases of how the last pages of a level can end.
static void any_number_of_rows(void **state) {
    for (uint64_t rows = 0; rows < 300; rows++)
        write_and_read(*state, 512, rows, 60);
}

static void many_rows(void **state) {
    write_and_read(*state, 512, 30000, 20);
    write_and_read(*state, 4096, 200000, 20);
    write_and_read(*state, 65536, 20000, 300);
}

/// Data that does not fit into a cell is in separate pages.
static void long_rows(void **state) {
    write_and_read(*state, 512, 400, 3000);
    write_and_read(*state, 4096, 400, LONG_TEXT);
    write_and_read(*state, 65536, 300, LONG_TEXT);
}

/// The page with the lock byte, at 1 GiB, is unused: here it comes earlier, anywhere.
static void the_lock_byte_has_a_page(void **state) {
    struct fixture *f = *state;
    for (uint32_t page = 12; page < 120; page++) {
        f->lock_byte = page * 512;
        sqlite3_test_control(SQLITE_TESTCTRL_PENDING_BYTE, f->lock_byte);
        write_and_read(f, 512, 300, 60);
        write_and_read(f, 512, 20, 3000);
    }
    sqlite3_test_control(SQLITE_TESTCTRL_PENDING_BYTE, 1 << 30);
}

/// SQLite itself can continue with such a table.
static void rows_may_be_added(void **state) {
    struct fixture *f = *state;
    write_and_read(f, 4096, 1000, 50);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "DELETE FROM keyed WHERE k % 3 = 0; INSERT INTO keyed SELECT k, n, r, e, t FROM "
                                  "numbered WHERE k % 3 = 0; INSERT INTO numbered SELECT * FROM numbered;",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_string_equal(query(db, "SELECT count(*) FROM numbered"), "2000");
    sqlite3_close(db);
    expect_rows(f, "keyed", 1000, 50);
}

static void a_file_that_cannot_be_written_is_an_error(void **state) {
    struct fixture *f = *state;
    struct weft_error error = {0};
    weft__database_begin(&f->db, f->path, f->arena);
    weft__database_execute(&f->db, KEYED);
    uint32_t root = weft__database_root(&f->db, "keyed");
    weft__pages_begin(&f->pages, &f->db, f->arena);
    fclose(f->db.file);
    f->db.file = fopen("/dev/full", "wb");
    weft__pages_open(&f->pages, root, true);
    for (uint64_t i = 0; i < 5000; i++)
        put_row(f, i, 50);
    weft__pages_close(&f->pages);
    weft__pages_end(&f->pages);
    assert_int_equal(weft__database_end(&f->db, &error), WEFT_ERROR_SYSTEM);
    assert_non_null(strstr(error.text, "No space left on device"));
    assert_int_equal(access(f->path, F_OK), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(any_number_of_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(many_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(long_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(the_lock_byte_has_a_page, setup, teardown),
        cmocka_unit_test_setup_teardown(rows_may_be_added, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_that_cannot_be_written_is_an_error, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
