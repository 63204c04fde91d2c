// SPDX-License-Identifier: Apache-2.0
// Two results side by side. SQLite joins their tables: the second file is attached to the first, and rows with the same
// keys of paired runs are combined, seed by seed.
#include "weft/diff.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/param.h"
#include "results/run/reader.h"
#include "weft/result.h"

enum { NAME = 64 };

#define BAD(...) WEFT_REFUSE(ret_error, WEFT_NOWHERE, __VA_ARGS__)

/// A run of a side.
struct run {
    sqlite3_int64 id;
    const char *variant, *digest;
    uint64_t seed;
};

struct side {
    const char *dir, *path;
    bool sweep;
    struct run *run;
    uint32_t runs;
    const char **variant; ///< each once, in the order of the file
    uint32_t variants;
};

/// What is compared in a table.
struct column {
    const char *name, *flat;
    enum weft_result_type type;
};
struct spec {
    const char *table, *flat;
    const char *run; ///< the column that tells which run a row belongs to; for sweeps: its seed
    struct column *key, *value;
    uint32_t keys, values;
};

struct work {
    struct weft__reader r; ///< of the first side, with the second attached as "other"
    struct weft_arena *arena;
    struct side side[2];
    struct weft_diff *diff;
    const char *ids; ///< rows (seed, a, b) of paired runs, as SQL; NULL: for sweeps, whose rows contain their seeds
};

// --- the sides ----------------------------------------------------------------------------------------------------

static const char *made_by(struct weft__reader *r) {
    const char *text = "";
    sqlite3_stmt *s = weft__reader_prepare(r, "SELECT weft, \"commit\" FROM run ORDER BY id LIMIT 1");
    if (weft__reader_next(r, s))
        text = weft_arena_format(r->arena, "weft %s (%s)", weft__reader_text(r, s, 0), weft__reader_text(r, s, 1));
    sqlite3_finalize(s);
    return text;
}

static void list_variants(struct side *side, struct weft_arena *arena) {
    for (uint32_t i = 0; i < side->runs; i++) {
        uint32_t v = 0;
        while (v < side->variants && strcmp(side->variant[v], side->run[i].variant) != 0)
            v++;
        if (v == side->variants) WEFT__ADD(arena, side->variant, side->variants) = side->run[i].variant;
    }
}

static enum weft_status read_runs(struct weft__reader *r, struct side *side, const char **ret_made_by,
                                  struct weft_error *ret_error) {
    if (r->old)
        return BAD("%s: results of an older version; weft run %s --out NEW makes them anew", r->path, side->dir);
    *ret_made_by = made_by(r);
    sqlite3_stmt *s = weft__reader_prepare(r, "SELECT id, variant, digest, seed FROM run ORDER BY id");
    while (weft__reader_next(r, s)) {
        struct run *run = &WEFT__ADD(r->arena, side->run, side->runs);
        *run = (struct run){sqlite3_column_int64(s, 0), weft__reader_text(r, s, 1), weft__reader_text(r, s, 2),
                            weft__reader_number(s, 3, 0)};
    }
    sqlite3_finalize(s);
    list_variants(side, r->arena);
    return WEFT_OK;
}

static enum weft_status open_side(struct work *w, uint32_t k, struct weft_error *ret_error) {
    struct side *side = &w->side[k];
    const char *sweep = weft_arena_format(w->arena, "%s/sweep.sqlite", side->dir);
    struct weft__reader r;
    side->path = weft_arena_format(w->arena, "%s/results.sqlite", side->dir);
    side->sweep = access(side->path, F_OK) && !access(sweep, F_OK);
    if (side->sweep) {
        side->path = sweep;
        weft__reader_open_file(&r, sweep, w->arena);
        uint32_t tables =
            weft__reader_count(&r, "SELECT count(*) FROM sqlite_schema WHERE name IN ('sweep', 'points')");
        enum weft_status status = WEFT_OK;
        if (r.status == SQLITE_OK && tables < 2) status = BAD("%s: no table of a sweep; expected that of --out", sweep);
        return weft__reader_close(&r, status, ret_error);
    }
    enum weft_status status = weft__reader_open(&r, side->dir, w->arena, ret_error);
    if (!status && r.status == SQLITE_OK) status = read_runs(&r, side, &w->diff->side[k].made_by, ret_error);
    return weft__reader_close(&r, status, ret_error);
}

// --- figures ------------------------------------------------------------------------------------------------------

/// One row over the seeds.
struct row {
    const char *name;
    double *value[2]; ///< [column * seeds + seed]
};

static void clear_row(const struct spec *spec, struct row *row, uint32_t seeds) {
    row->name = NULL;
    for (uint32_t i = 0; i < spec->values * seeds; i++)
        row->value[0][i] = row->value[1][i] = NAN;
}

static bool is_same(double a, double b) {
    return (isnan(a) && isnan(b)) || !(a < b || a > b || isnan(a) || isnan(b));
}

static void add_figure(struct work *w, struct weft_diff_pair *pair, const struct spec *spec, const struct row *row,
                       uint32_t column) {
    const double *a = &row->value[0][column * pair->seeds], *b = &row->value[1][column * pair->seeds];
    bool same = true, known = false;
    for (uint32_t s = 0; s < pair->seeds; s++) {
        same &= is_same(a[s], b[s]);
        known |= !isnan(a[s]) || !isnan(b[s]);
    }
    pair->compared += known;
    if (same) return;
    double *both[2];
    uint32_t n = 0;
    for (uint32_t k = 0; k < 2; k++)
        both[k] = weft_arena_alloc(w->arena, pair->seeds, sizeof(double));
    for (uint32_t s = 0; s < pair->seeds; s++)
        if (!isnan(a[s]) && !isnan(b[s])) {
            both[0][n] = a[s];
            both[1][n++] = b[s];
        }
    struct weft_diff_figure f = {.table = spec->table,
                                 .row = row->name,
                                 .column = spec->value[column].name,
                                 .type = spec->value[column].type,
                                 .seeds = n,
                                 .mean = {weft_spread_of(n ? both[0] : a, n ? n : pair->seeds, w->arena).mean,
                                          weft_spread_of(n ? both[1] : b, n ? n : pair->seeds, w->arena).mean}};
    f.difference = weft_difference_of(both[0], both[1], n, 1, &f.change, w->arena);
    if (n < 2) f.change = (struct weft_spread){.n = n, .mean = NAN, .median = NAN, .half = NAN};
    WEFT__ADD(w->arena, pair->figure, pair->figures) = f;
}

static void end_row(struct work *w, struct weft_diff_pair *pair, const struct spec *spec, struct row *row) {
    for (uint32_t i = 0; row->name && i < spec->values; i++)
        add_figure(w, pair, spec, row, i);
    clear_row(spec, row, pair->seeds);
}

/// "a.key IS b.key AND ...", including the seed for sweeps.
static const char *keys_agree(const struct work *w, const struct spec *spec) {
    const char *sql = "a.seed = b.seed";
    if (w->ids) sql = weft_arena_format(w->arena, "a.%s = p.a AND b.%s = p.b", spec->run, spec->run);
    for (uint32_t i = 0; i < spec->keys; i++)
        sql = weft_arena_format(w->arena, "%s AND a.\"%s\" IS b.\"%s\"", sql, spec->key[i].flat, spec->key[i].flat);
    return sql;
}

static const char *key_text(struct work *w, sqlite3_stmt *s, uint32_t keys) {
    const char *text = "";
    for (uint32_t i = 0; i < keys; i++) {
        const char *key = weft__reader_peek(s, (int)i);
        text = weft_arena_format(w->arena, "%s%s%s", text, *text && key && *key ? ", " : "", key ? key : "");
    }
    return text;
}

static const char *select_rows(const struct work *w, const struct spec *spec) {
    const char *keys = "", *values = "";
    for (uint32_t i = 0; i < spec->keys; i++)
        keys = weft_arena_format(w->arena, "%sa.\"%s\", ", keys, spec->key[i].flat);
    for (uint32_t i = 0; i < spec->values; i++)
        values =
            weft_arena_format(w->arena, "%s, a.\"%s\", b.\"%s\"", values, spec->value[i].flat, spec->value[i].flat);
    if (w->ids)
        return weft_arena_format(w->arena,
                                 "WITH p(seed, a, b) AS (VALUES %s) SELECT %sp.seed%s FROM p JOIN main.\"%s\" a JOIN "
                                 "other.\"%s\" b ON %s ORDER BY %sp.seed",
                                 w->ids, keys, values, spec->flat, spec->flat, keys_agree(w, spec), keys);
    return weft_arena_format(w->arena,
                             "SELECT %sa.seed%s FROM main.\"%s\" a JOIN other.\"%s\" b ON %s ORDER BY %sa.seed", keys,
                             values, spec->flat, spec->flat, keys_agree(w, spec), keys);
}

static uint32_t place_of_seed(const struct weft_diff_pair *pair, uint64_t seed) {
    uint32_t s = 0;
    while (s < pair->seeds && pair->seed[s] != seed)
        s++;
    return s;
}

static double number_at(sqlite3_stmt *s, int column) {
    return sqlite3_column_type(s, column) == SQLITE_NULL ? (double)NAN : sqlite3_column_double(s, column);
}

static void compare_rows(struct work *w, struct weft_diff_pair *pair, const struct spec *spec) {
    struct row row;
    for (uint32_t k = 0; k < 2; k++)
        row.value[k] = weft_arena_alloc(w->arena, (size_t)spec->values * pair->seeds, sizeof(double));
    clear_row(spec, &row, pair->seeds);
    sqlite3_stmt *s = weft__reader_prepare(&w->r, select_rows(w, spec));
    while (weft__reader_next(&w->r, s)) {
        const char *name = key_text(w, s, spec->keys);
        uint32_t seed = place_of_seed(pair, weft__reader_number(s, (int)spec->keys, 0));
        if (row.name && strcmp(row.name, name) != 0) end_row(w, pair, spec, &row);
        row.name = name;
        for (uint32_t i = 0; i < spec->values && seed < pair->seeds; i++)
            for (uint32_t k = 0; k < 2; k++)
                row.value[k][i * pair->seeds + seed] = number_at(s, (int)(spec->keys + 1 + 2 * i + k));
    }
    end_row(w, pair, spec, &row);
    sqlite3_finalize(s);
}

/// Counts rows that only one side has.
static void count_missing(struct work *w, struct weft_diff_pair *pair, const struct spec *spec) {
    static const char *const here[] = {"main", "other"};
    struct weft_diff_missing m = {.table = spec->table};
    for (uint32_t k = 0; k < 2; k++) {
        const char *a = k ? "b" : "a", *b = k ? "a" : "b";
        const char *ids = w->ids ? weft_arena_format(w->arena, "WITH p(seed, a, b) AS (VALUES %s) ", w->ids) : "";
        const char *of = weft_arena_format(w->arena, "%s.\"%s\" %s", here[k], spec->flat, a);
        if (w->ids) of = weft_arena_format(w->arena, "p JOIN %s ON %s.%s = p.%s", of, a, spec->run, a);
        m.rows[k] = weft__reader_count(
            &w->r,
            weft_arena_format(w->arena, "%sSELECT count(*) FROM %s LEFT JOIN %s.\"%s\" %s ON %s WHERE %s.%s IS NULL",
                              ids, of, here[!k], spec->flat, b, keys_agree(w, spec), b, spec->run));
    }
    if (m.rows[0] || m.rows[1]) WEFT__ADD(w->arena, pair->missing, pair->missings) = m;
}

static void compare_table(struct work *w, struct weft_diff_pair *pair, const struct spec *spec) {
    if (!spec->values) return;
    count_missing(w, pair, spec);
    compare_rows(w, pair, spec);
}

// --- results of runs ----------------------------------------------------------------------------------------------

/// Whether a column depends on the machine, not on the run.
static bool is_of_machine(const struct weft_result_table *t, const struct weft_result_column *c) {
    static const char *const of_run[] = {"sim_time_ps", "packet_hops", "interrupted", "unrecorded"};
    if (strcmp(t->name, "run") != 0) return false;
    for (unsigned i = 0; i < sizeof of_run / sizeof *of_run; i++)
        if (!strcmp(c->name, of_run[i])) return false;
    return true;
}

static struct spec spec_of(const struct weft_result_table *t, struct weft_arena *arena) {
    char flat[NAME];
    struct spec spec = {.table = t->name,
                        .flat = weft_arena_text(arena, weft_result_flat(t->name, flat, sizeof flat)),
                        .run = strcmp(t->name, "run") ? "run" : "id"};
    for (uint32_t i = 0; i < t->columns; i++) {
        const struct weft_result_column *c = &t->column[i];
        bool key = c->flags & WEFT_RESULT_KEY;
        bool text = c->type == WEFT_RESULT_TEXT || c->type == WEFT_RESULT_PRIORITIES;
        if ((text && !key) || is_of_machine(t, c)) continue;
        struct column *column =
            key ? &WEFT__ADD(arena, spec.key, spec.keys) : &WEFT__ADD(arena, spec.value, spec.values);
        const char *name = weft_result_flat_column(t, c, flat, sizeof flat);
        *column = (struct column){c->name, weft_arena_text(arena, name), c->type};
    }
    return spec;
}

/// By default only tables of sums: none with a row per flow or port, and none that depends on the machine.
static bool is_asked(const struct weft_result_table *t, const char *table) {
    if (table) return !strcmp(t->name, table);
    return t->shape != WEFT_RESULT_APART && strcmp(t->name, "flows") != 0 && strcmp(t->name, "config") != 0 &&
           strcmp(t->name, "memory") != 0;
}

/// `a` and `b`: queries for the columns path and value.
static void compare_settings(struct work *w, struct weft_diff_pair *pair, const char *a, const char *b) {
    sqlite3_stmt *s = weft__reader_prepare(
        &w->r, weft_arena_format(w->arena,
                                 "SELECT coalesce(a.path, b.path) AS path, a.value, b.value FROM (%s) a FULL JOIN (%s) "
                                 "b ON a.path = b.path WHERE a.value IS NOT b.value AND coalesce(a.path, b.path) "
                                 "NOT IN ('name', 'about') ORDER BY path",
                                 a, b));
    while (weft__reader_next(&w->r, s)) {
        struct weft_diff_setting *setting = &WEFT__ADD(w->arena, pair->setting, pair->settings);
        setting->path = weft__reader_text(&w->r, s, 0);
        for (int k = 0; k < 2; k++)
            setting->value[k] =
                sqlite3_column_type(s, 1 + k) == SQLITE_NULL ? NULL : weft__reader_text(&w->r, s, 1 + k);
    }
    sqlite3_finalize(s);
}

static void compare_config(struct work *w, struct weft_diff_pair *pair, const struct run *a, const struct run *b) {
    const char *sql = "SELECT path, value FROM %s.config WHERE run = %lld";
    compare_settings(w, pair, weft_arena_format(w->arena, sql, "main", (long long)a->id),
                     weft_arena_format(w->arena, sql, "other", (long long)b->id));
}

static const struct run *find_run(const struct side *side, const char *variant, uint64_t seed, bool any_seed) {
    for (uint32_t i = 0; i < side->runs; i++)
        if (!strcmp(side->run[i].variant, variant) && (any_seed || side->run[i].seed == seed)) return &side->run[i];
    return NULL;
}

static uint32_t count_runs(const struct side *side, const char *variant) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < side->runs; i++)
        n += !strcmp(side->run[i].variant, variant);
    return n;
}

static enum weft_status compare_variant(struct work *w, const char *a, const char *b, const char *table,
                                        struct weft_error *ret_error) {
    struct weft_diff_pair *pair = &WEFT__ADD(w->arena, w->diff->pair, w->diff->pairs);
    *pair = (struct weft_diff_pair){.variant = {a, b}};
    uint64_t *seed = weft_arena_alloc(w->arena, w->side[0].runs, sizeof *seed);
    pair->seed = seed;
    bool any_seed = count_runs(&w->side[0], a) == 1 && count_runs(&w->side[1], b) == 1;
    const struct run *first = NULL, *other_first = NULL;
    w->ids = "";
    for (uint32_t i = 0; i < w->side[0].runs; i++) {
        const struct run *mine = &w->side[0].run[i];
        const struct run *other = strcmp(mine->variant, a) ? NULL : find_run(&w->side[1], b, mine->seed, any_seed);
        if (!other) continue;
        if (!first) {
            first = mine;
            other_first = other;
        }
        w->ids = weft_arena_format(w->arena, "%s%s(%llu, %lld, %lld)", w->ids, *w->ids ? ", " : "",
                                   (unsigned long long)mine->seed, (long long)mine->id, (long long)other->id);
        pair->equal += !strcmp(mine->digest, other->digest);
        seed[pair->seeds++] = mine->seed;
    }
    if (!pair->seeds)
        return BAD("%s and %s: no seed that variant '%s' ran with in both; expected some", w->side[0].dir,
                   w->side[1].dir, a);
    compare_config(w, pair, first, other_first);
    for (uint32_t i = 0; i < weft_result_table_count(); i++) {
        const struct weft_result_table *t = weft_result_table_at(i);
        if (!is_asked(t, table)) continue;
        struct spec spec = spec_of(t, w->arena);
        compare_table(w, pair, &spec);
    }
    return WEFT_OK;
}

static enum weft_status choose_variant(const struct side *side, const char *variant, struct weft_error *ret_error) {
    if (!variant || find_run(side, variant, 0, true)) return WEFT_OK;
    char expected[512];
    weft__names_expected(variant, side->variant, side->variants, expected, sizeof expected);
    return BAD("%s: no variant '%s'; %s", side->dir, variant, expected);
}

static bool has_variant(const struct side *side, const char *variant) {
    return find_run(side, variant, 0, true);
}

/// Pairs variants of the same name, or the only ones.
static enum weft_status compare_runs(struct work *w, const struct weft_diff_options *options,
                                     struct weft_error *ret_error) {
    const struct side *a = &w->side[0], *b = &w->side[1];
    const char *chosen[2] = {options->side[0].variant, options->side[1].variant};
    enum weft_status status = choose_variant(a, chosen[0], ret_error);
    if (!status) status = choose_variant(b, chosen[1], ret_error);
    if (status) return status;
    if (!chosen[0] && a->variants == 1) chosen[0] = a->variant[0];
    if (!chosen[1] && b->variants == 1) chosen[1] = b->variant[0];
    if (chosen[0] && chosen[1]) return compare_variant(w, chosen[0], chosen[1], options->table, ret_error);
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t v = 0; v < w->side[k].variants; v++) {
            const char *name = w->side[k].variant[v];
            if (chosen[k] && strcmp(name, chosen[k]) != 0) continue;
            if (!has_variant(&w->side[!k], name))
                WEFT__ADD(w->arena, w->diff->side[k].only, w->diff->side[k].onlys) = name;
            else if (!k && !status)
                status = compare_variant(w, name, name, options->table, ret_error);
        }
    if (!status && !w->diff->pairs)
        return BAD("%s and %s have no variant of the same name; expected --variant and --with to say which", a->dir,
                   b->dir);
    return status;
}

// --- sweeps -------------------------------------------------------------------------------------------------------

/// Columns of a table of "main" or "other".
static const char **columns_of(struct work *w, const char *schema, const char *table, uint32_t *ret_n) {
    const char **name = NULL;
    *ret_n = 0;
    sqlite3_stmt *s = weft__reader_prepare(
        &w->r, weft_arena_format(w->arena, "SELECT name FROM pragma_table_info('%s', '%s')", table, schema));
    while (weft__reader_next(&w->r, s))
        WEFT__ADD(w->arena, name, *ret_n) = weft__reader_text(&w->r, s, 0);
    sqlite3_finalize(s);
    return name;
}

static bool is_among(const char *name, const char *const *list, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (!strcmp(list[i], name)) return true;
    return false;
}

static enum weft_result_type type_of(struct work *w, const char *column) {
    enum weft_result_type type = WEFT_RESULT_REAL;
    sqlite3_stmt *s = weft__reader_prepare(&w->r, "SELECT \"column\", unit FROM main.meaning");
    while (weft__reader_next(&w->r, s)) {
        const char *unit = weft__reader_peek(s, 1);
        if (strcmp(weft__reader_peek(s, 0), column) != 0 || !unit) continue;
        for (uint32_t t = 0; t < WEFT_RESULT_TYPES; t++)
            if (*unit && !strcmp(weft_result_types[t].unit, unit)) type = (enum weft_result_type)t;
    }
    sqlite3_finalize(s);
    return type;
}

static void list_seeds(struct work *w, struct weft_diff_pair *pair) {
    uint64_t *seed = NULL;
    sqlite3_stmt *s = weft__reader_prepare(
        &w->r, "SELECT DISTINCT a.seed FROM main.sweep a JOIN other.sweep b ON a.seed = b.seed ORDER BY 1");
    while (weft__reader_next(&w->r, s))
        WEFT__ADD(w->arena, seed, pair->seeds) = weft__reader_number(s, 0, 0);
    sqlite3_finalize(s);
    pair->seed = seed;
}

static bool has_table(struct work *w, const char *schema, const char *table) {
    const char *sql = "SELECT count(*) FROM %s.sqlite_schema WHERE name = '%s'";
    return weft__reader_count(&w->r, weft_arena_format(w->arena, sql, schema, table));
}

/// The value that all points have of a parameter that the other sweep varies; NULL: unknown.
static const char *base_value(struct work *w, const char *schema, const char *path) {
    if (!has_table(w, schema, "config")) return NULL;
    const char *value = NULL;
    sqlite3_stmt *s = weft__reader_prepare(
        &w->r, weft_arena_format(w->arena, "SELECT value FROM %s.config WHERE path = '%s' LIMIT 1", schema, path));
    if (weft__reader_next(&w->r, s)) value = weft__reader_text(&w->r, s, 0);
    sqlite3_finalize(s);
    return value;
}

/// Compares values that no point varies, in variants that both have; a path includes the variant if there are several.
static void compare_bases(struct work *w, struct weft_diff_pair *pair) {
    if (!has_table(w, "main", "config") || !has_table(w, "other", "config")) return; // written by an older weft
    const char *sql =
        "WITH both AS (SELECT variant FROM main.config INTERSECT SELECT variant FROM other.config), varied AS (SELECT "
        "name FROM pragma_table_info('points', 'main') UNION SELECT name FROM pragma_table_info('points', 'other')) "
        "SELECT iif((SELECT count(*) FROM both) = 1, path, variant || ': ' || path) AS path, value FROM %s.config "
        "WHERE "
        "variant IN both AND NOT EXISTS (SELECT 1 FROM varied WHERE path = name OR path GLOB name || '.*')";
    compare_settings(w, pair, weft_arena_format(w->arena, sql, "main"), weft_arena_format(w->arena, sql, "other"));
}

/// Two points match if the parameters that both sweeps vary are equal.
static enum weft_status compare_sweeps(struct work *w, struct weft_error *ret_error) {
    static const char *const of_run[] = {"point", "seed", "end", "digest"};
    uint32_t n[2], points[2];
    const char **column[2], **point[2];
    for (int k = 0; k < 2; k++) {
        column[k] = columns_of(w, k ? "other" : "main", "sweep", &n[k]);
        point[k] = columns_of(w, k ? "other" : "main", "points", &points[k]);
    }
    struct weft_diff_pair *pair = &WEFT__ADD(w->arena, w->diff->pair, w->diff->pairs);
    *pair = (struct weft_diff_pair){.variant = {"", ""}};
    struct spec spec = {.table = "sweep", .flat = "sweep", .run = "seed"};
    for (uint32_t i = 0; i < n[0]; i++) {
        const char *name = column[0][i];
        bool key = !strcmp(name, "group") || is_among(name, point[0], points[0]);
        if (is_among(name, of_run, sizeof of_run / sizeof *of_run) || !is_among(name, column[1], n[1])) continue;
        *(key ? &WEFT__ADD(w->arena, spec.key, spec.keys) : &WEFT__ADD(w->arena, spec.value, spec.values)) =
            (struct column){name, name, key ? WEFT_RESULT_TEXT : type_of(w, name)};
    }
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; i < points[k]; i++)
            if (!is_among(point[k][i], point[!k], points[!k])) {
                struct weft_diff_setting *s = &WEFT__ADD(w->arena, pair->setting, pair->settings);
                *s = (struct weft_diff_setting){.path = point[k][i]};
                s->value[k] = "varied";
                s->value[!k] = base_value(w, k ? "main" : "other", point[k][i]);
            }
    compare_bases(w, pair);
    list_seeds(w, pair);
    if (!pair->seeds && w->r.status == SQLITE_OK)
        return BAD("%s and %s: sweeps without a seed in common; expected some", w->side[0].dir, w->side[1].dir);
    w->ids = NULL;
    compare_table(w, pair, &spec);
    return WEFT_OK;
}

// --- all of it ----------------------------------------------------------------------------------------------------

static void attach_other(struct work *w) {
    sqlite3_stmt *s = NULL;
    if (w->r.status == SQLITE_OK) w->r.status = sqlite3_prepare_v2(w->r.db, "ATTACH DATABASE ? AS other", -1, &s, NULL);
    if (w->r.status == SQLITE_OK) w->r.status = sqlite3_bind_text(s, 1, w->side[1].path, -1, SQLITE_STATIC);
    weft__reader_next(&w->r, s);
    sqlite3_finalize(s);
}

enum weft_status weft_diff_new(const struct weft_diff_options *options, struct weft_arena *arena,
                               struct weft_diff **ret_diff, struct weft_error *ret_error) {
    struct work w = {.arena = arena, .diff = weft_arena_alloc(arena, 1, sizeof *w.diff)};
    *ret_diff = w.diff;
    if (options->table && !weft_result_table_find(options->table))
        return BAD("--table %s: no such table; weft models results lists them", options->table);
    for (uint32_t k = 0; k < 2; k++) {
        w.side[k].dir = w.diff->side[k].dir = options->side[k].dir;
        w.diff->side[k].made_by = "";
        WEFT_TRY(open_side(&w, k, ret_error));
    }
    if (w.side[0].sweep != w.side[1].sweep)
        return BAD("%s is a sweep, and %s is not; expected two of a kind", w.side[!w.side[0].sweep].dir,
                   w.side[w.side[0].sweep].dir);
    weft__reader_open_file(&w.r, w.side[0].path, arena);
    attach_other(&w);
    enum weft_status status = w.side[0].sweep ? compare_sweeps(&w, ret_error) : compare_runs(&w, options, ret_error);
    return weft__reader_close(&w.r, status, ret_error);
}

bool weft_diff_is_equal(const struct weft_diff *d) {
    bool equal = !d->side[0].onlys && !d->side[1].onlys;
    for (uint32_t i = 0; i < d->pairs; i++)
        equal &= !d->pair[i].settings && !d->pair[i].figures && !d->pair[i].missings;
    return equal;
}
