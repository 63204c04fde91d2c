// SPDX-License-Identifier: Apache-2.0
// Results of a run with anything written over them: values of their tables, or bytes of the file. What reads them back
// (weft timeline, weft timeline --perfetto) refuses them or gives what it says it gives.
//
// An input is records of 8 bytes: what (a table, or with the top bit bytes of the file), which column, which row, type
// of the value, and 4 bytes of value.
#include <assert.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "weft/memory.h"
#include "weft/perfetto.h"
#include "weft/timeline.h"
#include "weft/weft.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RECORD = 8, RECORDS_MAX = 16, NAMES_MAX = 64 };

static const char scenario[] =
    "topology: {kind: single, hosts: 4}\n"
    "switch: {buffer: {kind: static, size: 40KB, xoff: 10KB, xon: 5KB}, aqm: {kind: wred, min: 1KB, max: 5KB}}\n"
    "host: {cc: dcqcn}\n"
    "workload: [{kind: incast, dst: host-0, sources: 'host-[1-3]', size: 40KB}, {kind: rma, group: r, clients: '*', "
    "servers: '*', "
    "rate: 200000, duration: 20us}]\n"
    "run: {sample_interval: 1us}\n";

static char folder[] = "/tmp/weft-fuzz-results-XXXXXX";
static char path[64], *base;
static size_t base_bytes;
static char table[NAMES_MAX][64];
static int tables;

static void leave(void) {
    unlink(path);
    rmdir(folder);
}

/// The file that a run writes, and the names of its tables.
static void make_base(void) {
    struct weft_scenario_file *file = NULL;
    struct weft_simulation *simulation = NULL;
    struct weft_result *result = NULL;
    struct weft_error error = {0};
    struct weft_sim_options options = {.record = true};
    if (!mkdtemp(folder) || weft_scenario_file_parse("s", scenario, sizeof scenario - 1, NULL, 0, &file, &error) ||
        weft_simulation_new(file, 0, &simulation, &error) ||
        weft_simulation_run(simulation, &options, &result, &error) ||
        weft_result_write_sqlite(result, folder, &error)) {
        fprintf(stderr, "%s\n", error.text);
        abort();
    }
    atexit(leave);
    snprintf(path, sizeof path, "%s/results.sqlite", folder);
    weft_result_free(result);
    weft_simulation_free(simulation);
    weft_scenario_file_free(file);
    FILE *in = fopen(path, "rb");
    sqlite3 *db;
    sqlite3_stmt *s;
    if (!in || fseek(in, 0, SEEK_END)) abort();
    base_bytes = (size_t)ftell(in);
    rewind(in);
    base = malloc(base_bytes);
    if (!base || fread(base, 1, base_bytes, in) != base_bytes) abort();
    fclose(in);
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) ||
        sqlite3_prepare_v2(db, "SELECT name FROM sqlite_schema WHERE type = 'table'", -1, &s, NULL))
        abort();
    while (tables < NAMES_MAX && sqlite3_step(s) == SQLITE_ROW)
        snprintf(table[tables++], sizeof *table, "%s", (const char *)sqlite3_column_text(s, 0));
    sqlite3_finalize(s);
    sqlite3_close(db);
}

static const char *column_of(sqlite3 *db, const char *name, unsigned which) {
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
static void overwrite(sqlite3 *db, const uint8_t *record) {
    const char *name = table[record[0] % (unsigned)tables], *column = column_of(db, name, record[1]);
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

static void write_results(const uint8_t *data, size_t records) {
    FILE *out = fopen(path, "wb");
    sqlite3 *db;
    if (!out || fwrite(base, 1, base_bytes, out) != base_bytes) abort();
    fclose(out);
    if (sqlite3_open(path, &db)) abort();
    sqlite3_exec(db, "PRAGMA journal_mode = off; PRAGMA synchronous = off; BEGIN", NULL, NULL, NULL);
    for (size_t r = 0; r < records; r++)
        if (!(data[r * RECORD] & 0x80)) overwrite(db, data + r * RECORD);
    sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    sqlite3_close(db);
    out = fopen(path, "rb+");
    for (size_t r = 0; out && r < records; r++) {
        const uint8_t *record = data + r * RECORD;
        long at = (long)((((uint32_t)record[1] << 16) | ((uint32_t)record[2] << 8) | record[3]) % base_bytes);
        if (record[0] & 0x80 && !fseek(out, at, SEEK_SET)) fwrite(record + 4, 1, 1 + record[0] % 4, out);
    }
    if (out) fclose(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static FILE *null;
    if (!base) make_base();
    if (!null) null = fopen("/dev/null", "w");
    write_results(data, size / RECORD < RECORDS_MAX ? size / RECORD : RECORDS_MAX);
    struct weft_memory *memory = weft_memory_open(), *before = weft_memory_use(memory);
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct weft_timeline timeline;
    struct weft_perfetto *perfetto = NULL;
    struct weft_error error = {0};
    assert(!weft_timeline_read(folder, NULL, arena, &timeline, &error) == !*error.text);
    error = (struct weft_error){0};
    assert(!weft_perfetto_read(folder, NULL, arena, &perfetto, &error) == !*error.text);
    if (!*error.text) weft_perfetto_write(null, perfetto);
    weft_arena_free(arena);
    weft_memory_use(before);
    weft_memory_close(memory);
    return 0;
}
