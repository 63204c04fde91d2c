// SPDX-License-Identifier: Apache-2.0
// Answers as a database.
#include <inttypes.h>
#include <string.h>

#include "base/database.h"
#include "base/stream.h"
#include "rows.h"

struct writer {
    struct weft__database db;
    const struct weft__answer_database *to;
};

static const char *sql_type(const struct weft_result_column *c) {
    if (c->type == WEFT_RESULT_REAL) return "REAL";
    return c->type == WEFT_RESULT_TEXT || c->type == WEFT_RESULT_PRIORITIES ? "TEXT" : "INTEGER";
}

static bool has_keys(const struct weft_result_table *t) {
    for (uint32_t i = 0; i < t->columns; i++)
        if (t->column[i].flags & WEFT_RESULT_KEY) return true;
    return false;
}

/// Writes a name in quotes.
static void put_name(FILE *sql, const char *name) {
    putc('"', sql);
    for (; *name; name++) {
        if (*name == '"') putc('"', sql);
        putc(*name, sql);
    }
    putc('"', sql);
}

/// The keys of a table as "run", "a", "b".
static void add_keys(FILE *sql, const struct weft_result_table *t, bool numbered) {
    char name[64];
    const char *before = numbered ? "run, " : "";
    for (uint32_t i = 0; i < t->columns; i++)
        if (t->column[i].flags & WEFT_RESULT_KEY) {
            fputs(before, sql);
            put_name(sql, weft_result_flat_column(t, &t->column[i], name, sizeof name));
            before = ", ";
        }
}

/// Where answers are numbered, every table begins with its run, and the table of runs says what these numbers mean.
static void add_table(FILE *sql, const struct weft__answer_database *d, const struct weft_result_table *t) {
    char name[64];
    bool keys = has_keys(t), top = t == d->answer->table[0];
    fprintf(sql, "CREATE TABLE \"%s\" (%s", weft_answer_table_name(d->answer, t, name, sizeof name),
            !d->numbered ? ""
            : top        ? "id INTEGER PRIMARY KEY"
                         : "run INTEGER NOT NULL REFERENCES run(id)");
    for (uint32_t i = 0; i < t->columns; i++) {
        const struct weft_result_column *c = &t->column[i];
        fputs(i || d->numbered ? ", " : "", sql);
        put_name(sql, weft_result_flat_column(t, c, name, sizeof name));
        fprintf(sql, " %s%s", sql_type(c), c->flags & WEFT_RESULT_KEY ? " NOT NULL" : "");
    }
    if (keys) {
        fputs(", PRIMARY KEY (", sql);
        add_keys(sql, t, d->numbered);
        fputs(")", sql);
    }
    for (uint32_t i = 0; i < t->columns; i++) {
        const struct weft_result_column *c = &t->column[i];
        if (!c->references || !d->numbered) continue;
        fprintf(sql, ", FOREIGN KEY (run, \"%s\")", weft_result_flat_column(t, c, name, sizeof name));
        fprintf(sql, " REFERENCES \"%s\"(", weft_result_flat(c->references, name, sizeof name));
        add_keys(sql, weft_answer_table(d->answer, c->references), true);
        fputs(")", sql);
    }
    fprintf(sql, ")%s;", keys ? " WITHOUT ROWID" : "");
}

static void write_schema(struct writer *w) {
    WEFT__TEXT_STREAM(stream, sql);
    fprintf(sql, "PRAGMA user_version = %" PRIu32 ";", w->to->version);
    for (uint32_t i = 0; i < w->to->answer->tables; i++)
        add_table(sql, w->to, w->to->answer->table[i]);
    fputs("CREATE TABLE meaning (\"table\" TEXT, \"column\" TEXT, unit TEXT, help TEXT,"
          " PRIMARY KEY (\"table\", \"column\")) WITHOUT ROWID;",
          sql);
    fputs(w->to->views, sql);
    weft__database_execute(&w->db, weft__text_stream_text(&stream));
}

static int bind_value(sqlite3_stmt *s, int k, const struct weft_result_value *v) {
    char text[32];
    if (!v->known) return sqlite3_bind_null(s, k);
    if (v->type == WEFT_RESULT_REAL) return sqlite3_bind_double(s, k, v->real);
    if (v->type == WEFT_RESULT_TEXT) return sqlite3_bind_text(s, k, v->text, -1, SQLITE_STATIC);
    if (v->type == WEFT_RESULT_PRIORITIES)
        return sqlite3_bind_text(s, k, weft_result_text(v, text, sizeof text), -1, SQLITE_TRANSIENT);
    return sqlite3_bind_int64(s, k, (sqlite3_int64)v->whole);
}

/// Rows inserted by one statement, because a statement costs as much as several rows. For a table with fewer rows it is
/// not worth preparing.
enum { ROWS_A_STATEMENT = 64 };

static sqlite3_stmt *prepare_insert(struct writer *w, const struct weft_result_table *t, uint32_t rows) {
    WEFT__TEXT_STREAM(stream, sql);
    char name[64];
    fprintf(sql, "INSERT INTO \"%s\" VALUES ", weft_answer_table_name(w->to->answer, t, name, sizeof name));
    for (uint32_t r = 0; r < rows; r++) {
        fputs(r ? ",(?" : "(?", sql);
        for (uint32_t i = 1; i < t->columns + w->to->numbered; i++)
            fputs(",?", sql);
        fputs(")", sql);
    }
    sqlite3_stmt *s = weft__database_prepare(&w->db, weft__text_stream_text(&stream));
    return s;
}

/// A table's statements, for one row and for many, prepared when first needed.
struct insert {
    const struct weft_result_table *table;
    sqlite3_stmt *one, *many;
    struct weft_result_value *value; ///< [ROWS_A_STATEMENT * columns]: rows not yet written
    struct weft_arena *arena;
    char *text; ///< texts of these rows, because a table may keep those of only one row at a time
    size_t used, size;
};

static const char *keep_text(struct insert *in, const char *text) {
    size_t bytes = strlen(text) + 1;
    if (in->size - in->used < bytes) { // texts kept in the previous block stay there
        in->size = 2 * in->size + bytes;
        in->text = weft_arena_alloc(in->arena, in->size, 1);
        in->used = 0;
    }
    char *kept = memcpy(in->text + in->used, text, bytes);
    in->used += bytes;
    return kept;
}

static void keep_row(struct insert *in, struct weft_result_cursor *row, uint32_t number) {
    const struct weft_result_table *t = in->table;
    struct weft_result_value *value = &in->value[(size_t)number * t->columns];
    for (uint32_t i = 0; i < t->columns; i++) {
        value[i] = weft_result_value(row, &t->column[i]);
        if (value[i].known && value[i].type == WEFT_RESULT_TEXT) value[i].text = keep_text(in, value[i].text);
    }
}

static void insert_rows(struct writer *w, sqlite3_stmt *s, const struct insert *in, uint32_t run, uint32_t first,
                        uint32_t rows) {
    int k = 1;
    for (uint32_t r = first; r < first + rows; r++) {
        if (w->to->numbered) weft__database_bound(&w->db, sqlite3_bind_int64(s, k++, run + 1));
        for (uint32_t i = 0; i < in->table->columns && w->db.status == SQLITE_OK; i++)
            weft__database_bound(&w->db, bind_value(s, k++, &in->value[(size_t)r * in->table->columns + i]));
    }
    weft__database_step(&w->db, s);
}

static void flush_rows(struct writer *w, struct insert *in, uint32_t run, uint32_t rows) {
    uint32_t each = rows == ROWS_A_STATEMENT ? rows : 1;
    sqlite3_stmt **s = each == 1 ? &in->one : &in->many;
    if (rows && !*s) *s = prepare_insert(w, in->table, each);
    for (uint32_t r = 0; r < rows; r += each)
        insert_rows(w, *s, in, run, r, each);
    in->used = 0;
}

static void write_rows(struct writer *w, struct insert *in, uint32_t run) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    struct weft_result_walk walk = weft_answer_walk(w->to->answer, w->to->subject[run], in->table, arena);
    struct weft_result_cursor *row;
    uint32_t rows = 0;
    while (w->db.status == SQLITE_OK && (row = weft_result_next(&walk))) {
        keep_row(in, row, rows++);
        if (rows < ROWS_A_STATEMENT) continue;
        flush_rows(w, in, run, rows);
        rows = 0;
    }
    flush_rows(w, in, run, rows);
}

static void write_table(struct writer *w, const struct weft_result_table *t) {
    struct insert in = {.table = t, .arena = weft_arena_new(WEFT_MEMORY_RESULT)};
    in.value = weft_arena_alloc(in.arena, (size_t)ROWS_A_STATEMENT * t->columns, sizeof *in.value);
    for (uint32_t r = 0; r < w->to->subjects; r++)
        if (weft_answer_has(w->to->answer, t, w->to->subject[r])) write_rows(w, &in, r);
    sqlite3_finalize(in.one);
    sqlite3_finalize(in.many);
    weft_arena_free(in.arena);
}

/// The meaning of columns, for readers who have the file but not the documents.
static void write_meaning(struct writer *w, const struct weft_result_table *t) {
    char table[64], column[64];
    sqlite3_stmt *s = weft__database_prepare(&w->db, "INSERT INTO meaning VALUES (?,?,?,?)");
    for (uint32_t i = 0; i < t->columns && w->db.status == SQLITE_OK; i++) {
        const char *text[] = {weft_answer_table_name(w->to->answer, t, table, sizeof table),
                              weft_result_flat_column(t, &t->column[i], column, sizeof column),
                              weft_result_unit(&t->column[i]), t->column[i].help};
        for (int k = 0; k < 4 && w->db.status == SQLITE_OK; k++)
            weft__database_bound(&w->db, sqlite3_bind_text(s, k + 1, text[k], -1, SQLITE_STATIC));
        weft__database_step(&w->db, s);
    }
    sqlite3_finalize(s);
}

enum weft_status weft__answer_database_write(const struct weft__answer_database *d, struct weft_error *ret_error) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    struct writer w = {.to = d};
    weft__database_begin(&w.db, d->path, arena);
    write_schema(&w);
    for (uint32_t i = 0; i < d->answer->tables; i++) {
        write_table(&w, d->answer->table[i]);
        write_meaning(&w, d->answer->table[i]);
    }
    return weft__database_end(&w.db, ret_error);
}

enum weft_status weft_answer_sqlite(const char *path, const struct weft_answer *answer, const void *subject,
                                    struct weft_error *ret_error) {
    struct weft__answer_database d = {path, answer, &subject, 1, WEFT_RESULTS_VERSION, .views = ""};
    return weft__answer_database_write(&d, ret_error);
}
