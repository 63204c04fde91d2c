// SPDX-License-Identifier: Apache-2.0
// A database that weft has written, with anything written over it: values of its tables, or bytes of the file.
//
// An input is records of 8 bytes: what (a table, or with the top bit bytes of the file), which column, which row, type
// of the value, and 4 bytes of value.
#pragma once

#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORD = 8, RECORDS_MAX = 16, NAMES_MAX = 64 };

struct fuzz_database {
    const char *path;
    unsigned char *base; ///< the file as it was
    size_t base_bytes;
    char table[NAMES_MAX][64];
    int tables;
};

/// The file as it is, and the names of its tables.
static inline void fuzz_database_take(struct fuzz_database *d, const char *path) {
    FILE *in = fopen(path, "rb");
    sqlite3 *db;
    sqlite3_stmt *s;
    *d = (struct fuzz_database){.path = path};
    if (!in || fseek(in, 0, SEEK_END)) abort();
    d->base_bytes = (size_t)ftell(in);
    rewind(in);
    d->base = malloc(d->base_bytes);
    if (!d->base || fread(d->base, 1, d->base_bytes, in) != d->base_bytes) abort();
    fclose(in);
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) ||
        sqlite3_prepare_v2(db, "SELECT name FROM sqlite_schema WHERE type = 'table'", -1, &s, NULL))
        abort();
    while (d->tables < NAMES_MAX && sqlite3_step(s) == SQLITE_ROW)
        snprintf(d->table[d->tables++], sizeof *d->table, "%s", (const char *)sqlite3_column_text(s, 0));
    sqlite3_finalize(s);
    sqlite3_close(db);
}

static inline const char *fuzz__column_of(sqlite3 *db, const char *name, unsigned which) {
    static char column[64];
    sqlite3_stmt *s;
    char *sql = sqlite3_mprintf("SELECT name FROM pragma_table_info(%Q)", name);
    unsigned n = 0;
    char all[NAMES_MAX][64];
    if (!sqlite3_prepare_v2(db, sql, -1, &s, NULL))
        while (n < NAMES_MAX && sqlite3_step(s) == SQLITE_ROW)
            snprintf(all[n++], sizeof *all, "%s", (const char *)sqlite3_column_text(s, 0));
    sqlite3_finalize(s);
    sqlite3_free(sql);
    snprintf(column, sizeof column, "%s", n ? all[which % n] : "");
    return column;
}

/// A value of a row, or with a row of 255 that row is deleted.
static inline void fuzz__overwrite(const struct fuzz_database *d, sqlite3 *db, const uint8_t *record) {
    const char *name = d->table[record[0] % (unsigned)d->tables], *column = fuzz__column_of(db, name, record[1]);
    int32_t value;
    memcpy(&value, record + 4, sizeof value);
    const char *format[] = {"%d", "%d.5e30", "NULL", "'%d'", "x'%08x'", "%d000000000000"};
    char literal[64];
    snprintf(literal, sizeof literal, format[record[3] % 6], value);
    char *sql = record[2] == 255 ? sqlite3_mprintf("DELETE FROM \"%w\" WHERE rowid %% 3 = %d", name, record[1] % 3)
                                 : sqlite3_mprintf("UPDATE \"%w\" SET \"%w\" = %s WHERE rowid %% %d = 0", name, column,
                                                   literal, record[2] % 8 + 1);
    sqlite3_exec(db, sql, NULL, NULL, NULL); // a key that is there already stays
    sqlite3_free(sql);
}

/// The file anew, with what the input says written over it.
static inline void fuzz_database_put(const struct fuzz_database *d, const uint8_t *data, size_t size) {
    size_t records = size / RECORD < RECORDS_MAX ? size / RECORD : RECORDS_MAX;
    FILE *out = fopen(d->path, "wb");
    sqlite3 *db;
    if (!out || fwrite(d->base, 1, d->base_bytes, out) != d->base_bytes) abort();
    fclose(out);
    if (sqlite3_open(d->path, &db)) abort();
    sqlite3_exec(db, "PRAGMA journal_mode = off; PRAGMA synchronous = off; BEGIN", NULL, NULL, NULL);
    for (size_t r = 0; r < records; r++)
        if (!(data[r * RECORD] & 0x80)) fuzz__overwrite(d, db, data + r * RECORD);
    sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    sqlite3_close(db);
    out = fopen(d->path, "rb+");
    for (size_t r = 0; out && r < records; r++) {
        const uint8_t *record = data + r * RECORD;
        long at = (long)((((uint32_t)record[1] << 16) | ((uint32_t)record[2] << 8) | record[3]) % d->base_bytes);
        if (record[0] & 0x80 && !fseek(out, at, SEEK_SET)) fwrite(record + 4, 1, 1 + record[0] % 4, out);
    }
    if (out) fclose(out);
}
