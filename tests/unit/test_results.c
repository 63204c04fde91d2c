// SPDX-License-Identifier: Apache-2.0
// Every table of results of runs of every kind: results.sqlite, JSON, CSV and what claims find have the same rows and
// values, and no number in the database leads nowhere.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "query.h"
#include "run.h"
#include "weft/result.h"
#include "weft/timeline.h"

/// Ethernet, a DSF, a Clique with 1RMA and software RMA, RMA on Ethernet, jobs, traffic engineering.
static const char *const scenarios[] = {
    "topology: {kind: leaf_spine, leaves: 4, spines: 2, hosts_per_leaf: 4, rate: 200Gbps, delay: 150ns}\n"
    "switch: {buffer: {kind: static, size: 800KB, xoff: 760KB, xon: 740KB}, aqm: {kind: wred, min: 40KB, max: 160KB}}\n"
    "host: {cc: dcqcn_connectx}\n"
    "dcbx: {enabled: true}\n"
    "run: {sample_interval: 20us, sample_ports: \"leaf-*\", count_flows: true, round_trips: true}\n"
    "workload:\n"
    "  - {kind: incast, sources: host-0..11, dst: host-12, size: 500KB, group: 'in,\"cast'}\n"
    "  - {kind: flow, src: host-0..3, dst: host-4..7, size: 200KB, group: victims}\n",
    "topology: {kind: dsf_l1_zone, rdsws: 4, rails: 1, fdsws: 6, hosts_per_rdsw: 4}\n"
    "workload: [{kind: incast, sources: host-0..10, dst: host-12, size: 200KB, group: incast}]\n",
    "topology: {kind: dragonfly, pods: 3, tins: 4, hosts_per_tin: 2, global_parallel: 4, local_ports: 6, "
    "global_ports: 2, bit_error_rate: 0.000003}\n"
    "tin: {trace: 50, rma: {window: 8KB, dispatch_timeout: 2us, timeout: 20us}}\n"
    "run: {sample_interval: 5us, detection: 10us}\n"
    "events: [{at: 15us, link: tin-0--tin-1, state: down}]\n"
    "workload:\n"
    "  - {kind: rma, group: a, transport: 1rma, clients: \"host-0..5\", servers: host-20, priority: 5, rate: 1000000, "
    "duration: 40us, cc: {initial_cwnd: 15}}\n"
    "  - {kind: rma, group: soft, clients: \"host-0..2\", servers: host-9, rate: 100000, duration: 40us}\n"
    "  - {kind: permutation, size: 8KB, group: p}\n",
    "topology: {kind: single, hosts: 4}\n"
    "workload: [{kind: rma, group: g1, clients: \"*\", servers: \"*\", rate: 200000, duration: 20us}, "
    "{kind: flow, src: host-0, dst: host-1, size: 1MB, group: later}]\n",
    "topology: {kind: single, hosts: 4, rate: 400Gbps, delay: 200ns}\n"
    "run: {until: 5ms}\n"
    "workload:\n"
    "  - {kind: job, group: a, hosts: host-0..1, iterations: 2, operations: [{compute: 100us, collective: send_recv, "
    "size: 1MB}, {collective: all_to_all, size: 2MB, overlap: on}, {compute: 1ms}]}\n"
    "  - {kind: job, group: b, hosts: host-2..3, start: 1ms, operations: [{compute: 5ms}]}\n",
    "topology: {kind: leaf_spine, leaves: 4, spines: 2, hosts_per_leaf: 4}\n"
    "switch: {route: {kind: te, interval: 20us, collector_delay: 1us, programming_delay: 1us}}\n"
    "workload: [{kind: permutation, mode: shift, shift: 4, size: 500KB, group: p}]\n",
};
enum { SCENARIOS = sizeof scenarios / sizeof *scenarios, TEXT = 64, LINE = 16384, PATH = 512 };

/// A recorded run, all of it written.
struct fixture {
    struct run r;
    struct weft_outcome *recorded;
    struct weft_run run;
    struct weft_arena *arena;
    char dir[64];
    json_t *json;
};

static void open_run(struct fixture *f, const char *text) {
    struct weft_error error = {0};
    char *json = NULL;
    size_t size;
    *f = (struct fixture){.r = run_once(text), .arena = weft_arena_new(WEFT_MEMORY_RESULT)};
    f->recorded = run_recorded(&f->r, 1, text);
    f->run = (struct weft_run){
        .scenario = f->r.scenario, .topology = f->r.topology, .workload = f->r.workload, .outcome = f->recorded};
    strcpy(f->dir, "/tmp/weft-results-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    if (weft_report_sqlite(f->dir, &f->run, 1, &error)) fail_msg("%s", error.text);
    FILE *file = open_memstream(&json, &size);
    assert_non_null(file);
    weft_report_json(file, &f->run);
    fclose(file);
    f->json = json_loadb(json, size, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(f->json);
    free(json);
}

static void close_run(struct fixture *f) {
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", f->dir);
    assert_int_equal(system(command), 0);
    json_decref(f->json);
    weft_outcome_free(f->recorded);
    weft_arena_free(f->arena);
    run_free(&f->r);
}

/// All digits, so that equal texts are equal values.
static const char *exact_text(const struct weft_result_value *v, char text[TEXT]) {
    if (!v->known || v->type != WEFT_RESULT_REAL) return weft_result_text(v, text, TEXT);
    snprintf(text, TEXT, "%.17g", v->real);
    return text;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

struct lines {
    char **line;
    uint32_t n, room;
};
static void add_line(struct lines *l, const char *text) {
    if (l->n == l->room) l->line = realloc(l->line, (l->room = 2 * l->room + 64) * sizeof *l->line);
    l->line[l->n++] = strdup(text);
}
static void free_lines(struct lines *l) {
    for (uint32_t i = 0; i < l->n; i++)
        free(l->line[i]);
    free(l->line);
}

static struct lines rows_of(struct fixture *f, const struct weft_result_table *t) {
    struct lines lines = {0};
    struct weft_result_walk walk = weft_result_walk(&f->run, t, f->arena);
    struct weft_result_cursor *row;
    while (weft_result_table_present(t, &f->run) && (row = weft_result_next(&walk))) {
        char line[LINE] = "", text[TEXT];
        for (uint32_t i = 0; i < t->columns; i++) {
            struct weft_result_value v = weft_result_value(row, &t->column[i]);
            strcat(strcat(line, "|"), exact_text(&v, text));
        }
        add_line(&lines, line);
    }
    return lines;
}

static struct lines rows_in_sqlite(struct fixture *f, const struct weft_result_table *t) {
    struct lines lines = {0};
    sqlite3 *db;
    sqlite3_stmt *s;
    char path[128], query[PATH], name[TEXT];
    snprintf(path, sizeof path, "%s/results.sqlite", f->dir);
    snprintf(query, sizeof query, "SELECT * FROM \"%s\"", weft_result_flat(t->name, name, sizeof name));
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, query, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_column_count(s), t->columns + 1);
    while (sqlite3_step(s) == SQLITE_ROW) {
        char line[LINE] = "", text[TEXT];
        assert_int_equal(sqlite3_column_int(s, 0), 1);
        for (int c = 1; c < sqlite3_column_count(s); c++) {
            const char *value = (const char *)sqlite3_column_text(s, c);
            if (sqlite3_column_type(s, c) == SQLITE_FLOAT) {
                snprintf(text, sizeof text, "%.17g", sqlite3_column_double(s, c));
                value = text;
            }
            strcat(strcat(line, "|"), value ? value : "");
        }
        add_line(&lines, line);
    }
    sqlite3_finalize(s);
    sqlite3_close(db);
    return lines;
}

static void sqlite_has_every_row(void **state) {
    for (unsigned i = 0; i < SCENARIOS; i++) {
        struct fixture f;
        open_run(&f, scenarios[i]);
        for (uint32_t t = 0; t < weft_result_table_count(); t++) {
            struct lines a = rows_of(&f, weft_result_table_at(t)), b = rows_in_sqlite(&f, weft_result_table_at(t));
            if (a.n) qsort(a.line, a.n, sizeof *a.line, by_text);
            if (b.n) qsort(b.line, b.n, sizeof *b.line, by_text);
            if (a.n != b.n) fail_msg("%s: %u rows, %u in SQLite", weft_result_table_at(t)->name, a.n, b.n);
            for (uint32_t k = 0; k < a.n; k++)
                assert_string_equal(a.line[k], b.line[k]);
            free_lines(&a);
            free_lines(&b);
        }
        close_run(&f);
    }
}

static void no_number_leads_nowhere(void **state) {
    bool remote = false;
    for (unsigned i = 0; i < SCENARIOS; i++) {
        struct fixture f;
        struct weft_timeline timeline;
        struct weft_error error = {0};
        open_run(&f, scenarios[i]);
        expect_rows(f.dir, "PRAGMA integrity_check", "ok");
        expect_rows(f.dir, "PRAGMA foreign_key_check", "");
        if (weft_timeline_read(f.dir, NULL, f.arena, &timeline, &error)) fail_msg("%s", error.text);
        assert_int_equal(timeline.events, f.recorded->recorded);
        for (uint32_t k = 0; k < timeline.events; k++) {
            assert_int_equal(timeline.event[k].flow, f.recorded->record[k].flow);
            if (timeline.event[k].flow == WEFT_NONE || !f.r.workload->flow[timeline.event[k].flow].rma) continue;
            assert_true(*timeline.flow[timeline.event[k].flow].src);
            remote = true;
        }
        close_run(&f);
    }
    assert_true(remote);
}

static void change(const char *dir, const char *sql) {
    char path[128], *why = NULL;
    sqlite3 *db;
    snprintf(path, sizeof path, "%s/results.sqlite", dir);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &why)) fail_msg("%s: %s", sql, why);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/// A file as it was before versions, and one of a version that is to come.
static void files_of_other_versions(void **state) {
    struct fixture f;
    struct weft_timeline now, before;
    struct weft_error error = {0};
    open_run(&f, scenarios[0]);
    assert_int_equal(weft_timeline_read(f.dir, NULL, f.arena, &now, &error), WEFT_OK);
    change(f.dir, "DROP VIEW story; DROP VIEW paused_ports; DROP VIEW full_queues; DROP VIEW group_times;"
                  "DROP TABLE counters; ALTER TABLE port_counters RENAME TO counters; DROP TABLE connections;"
                  "ALTER TABLE flows RENAME COLUMN \"group\" TO group_name; PRAGMA user_version = 0");
    if (weft_timeline_read(f.dir, NULL, f.arena, &before, &error)) fail_msg("%s", error.text);
    assert_int_equal(before.events, now.events);
    assert_int_equal(before.flows, now.flows);
    assert_string_equal(before.flow[3].group, now.flow[3].group);
    assert_memory_equal(before.counters, now.counters, now.ports * WEFT_PRIORITIES * sizeof *now.counters);
    // A number of version 1 that was that of a connection of remote memory access.
    change(f.dir, "UPDATE events SET flow = 4000 WHERE event = (SELECT max(event) FROM events)");
    assert_int_equal(weft_timeline_read(f.dir, NULL, f.arena, &before, &error), WEFT_ERROR_INPUT);
    assert_non_null(strstr(error.text, "results of version 1 do not list connections of remote memory access"));
    change(f.dir, "PRAGMA user_version = 3");
    error = (struct weft_error){0};
    assert_int_equal(weft_timeline_read(f.dir, NULL, f.arena, &before, &error), WEFT_ERROR_INPUT);
    assert_non_null(strstr(error.text, "results of version 3; this weft reads versions up to 2"));
    close_run(&f);
}

static json_t *member(json_t *value, const char *name) {
    json_t *of = json_is_array(value) ? json_array_get(value, (size_t)atoi(name)) : json_object_get(value, name);
    if (!of) fail_msg("no %s", name);
    return of;
}

/// What the JSON names a row: its key, or its place in a list; NULL: it is the only one.
static const char *place_of(struct weft_result_cursor *row, uint64_t number, char text[TEXT]) {
    if (row->table->shape == WEFT_RESULT_OBJECT) return NULL;
    if (row->table->shape == WEFT_RESULT_LIST || row->table->shape == WEFT_RESULT_ARRAY) {
        snprintf(text, TEXT, "%" PRIu64, number);
        return text;
    }
    const struct weft_result_column *key = row->table->column;
    while (key->flags & WEFT_RESULT_ABOVE)
        key++;
    struct weft_result_value v = weft_result_value(row, key);
    return weft_result_text(&v, text, TEXT);
}

static void is_same(const struct weft_result_value *v, const json_t *json, const char *what) {
    bool same = json_is_null(json) == !v->known;
    if (same && v->known) switch (v->type) {
        case WEFT_RESULT_REAL:
            same = json_is_number(json) && fabs(json_number_value(json) - v->real) <= 0;
            break;
        case WEFT_RESULT_TEXT:
            same = json_is_string(json) && !strcmp(json_string_value(json), v->text);
            break;
        case WEFT_RESULT_BOOL:
            same = json_is_boolean(json) && json_is_true(json) == (v->whole > 0);
            break;
        case WEFT_RESULT_PRIORITIES:
            same = json_array_size(json) == (size_t)__builtin_popcountll(v->whole);
            for (size_t i = 0; i < json_array_size(json); i++)
                same &= v->whole >> json_integer_value(json_array_get(json, i)) & 1;
            break;
        default:
            same = json_is_integer(json) && (uint64_t)json_integer_value(json) == v->whole;
        }
    if (!same) fail_msg("%s is not the same in the JSON", what);
}

/// Numbers that claims find by a path.
static void is_found(const struct weft_result_finder *finder, const char *const *part, uint32_t parts,
                     const struct weft_result_column *column, const struct weft_result_value *v, const char *what) {
    struct weft_result_found found = weft_result_find(finder, part, parts);
    double a = weft_result_number(&found.value), b = weft_result_number(v);
    if (found.column != column || !(fabs(a - b) <= 0 || (isnan(a) && isnan(b)))) fail_msg("%s is not found", what);
}

/// Every column of a row: in the JSON at hand, and by its path.
static void check_row(const struct weft_result_finder *finder, struct weft_result_cursor *row, json_t *json,
                      const char **part, uint32_t parts) {
    const struct weft_result_table *t = row->table;
    bool single = t->shape == WEFT_RESULT_NUMBERS || t->shape == WEFT_RESULT_ARRAY, keyed = single;
    for (uint32_t i = 0; i < t->columns; i++) {
        const struct weft_result_column *c = &t->column[i];
        char name[TEXT];
        if (c->flags & (WEFT_RESULT_ABOVE | WEFT_RESULT_TABLES)) continue;
        if (t->shape == WEFT_RESULT_MAP && !keyed) {
            keyed = true;
            continue; // its name
        }
        if (single && keyed) {
            keyed = false;
            continue;
        }
        struct weft_result_value v = weft_result_value(row, c);
        json_t *at = json;
        uint32_t n = parts;
        snprintf(name, sizeof name, "%s", c->name);
        for (char *p = single ? NULL : strtok(name, "."); p; p = strtok(NULL, "."))
            part[n++] = p;
        bool left_out = c->flags & WEFT_RESULT_SPARSE && !v.known;
        for (uint32_t k = parts; k < n && !left_out; k++)
            at = member(at, part[k]);
        if (!left_out) is_same(&v, at, c->name);
        is_found(finder, part, n, c, &v, c->name);
        if (single) break;
    }
}

static void json_has_every_row(void **state) {
    uint32_t rows = 0;
    for (unsigned i = 0; i < SCENARIOS; i++) {
        struct fixture f;
        open_run(&f, scenarios[i]);
        struct weft_result_finder finder = weft_result_finder(&f.run, f.arena);
        for (uint32_t t = 0; t < weft_result_table_count(); t++) {
            const struct weft_result_table *table = weft_result_table_at(t);
            struct weft_result_walk walk = weft_result_walk(&f.run, table, f.arena);
            struct weft_result_cursor *row;
            uint64_t number = 0, above = UINT64_MAX, above_number = 0;
            if (table->shape == WEFT_RESULT_APART || !weft_result_table_present(table, &f.run)) continue;
            while ((row = weft_result_next(&walk))) {
                const char *part[16], *dot = strchr(table->name, '.'), *place;
                char first[TEXT], keys[2][TEXT];
                uint32_t n = 0;
                if (row->above && above != row->above->at) {
                    above_number = above == UINT64_MAX ? 0 : above_number + 1;
                    above = row->above->at;
                    number = 0;
                }
                snprintf(first, sizeof first, "%.*s", dot ? (int)(dot - table->name) : TEXT, table->name);
                if (t) part[n++] = first;
                if (row->above && (place = place_of(row->above, above_number, keys[0]))) part[n++] = place;
                if (dot) part[n++] = dot + 1;
                if (t && (place = place_of(row, number, keys[1]))) part[n++] = place;
                json_t *json = f.json;
                for (uint32_t k = 0; k < n; k++)
                    json = member(json, part[k]);
                check_row(&finder, row, json, part, n);
                number++;
                rows++;
            }
        }
        close_run(&f);
    }
    assert_true(rows > 300);
}

/// A field of CSV, which may contain line ends, up to what follows it: a comma or the end of the row.
static const char *field(const char *s, char text[LINE]) {
    bool quoted = *s == '"';
    s += quoted;
    while (quoted ? *s != '"' || *++s == '"' : *s && *s != ',' && *s != '\n')
        *text++ = *s++;
    *text = 0;
    return s;
}

/// Memory access by software has no execution by hardware, and operations that did not end have no time.
static void what_did_not_end_has_no_time(void **state) {
    (void)state;
    static const char *const text =
        "topology: {kind: single, hosts: 4, delay: 1us}\n"
        "run: {until: 40us}\n"
        "workload: [{kind: rma, group: soft, clients: host-0, servers: host-1, rate: 1000000, duration: 10us},\n"
        "{kind: rma, group: late, clients: host-2, servers: host-3, rate: 500000, start: 39us, duration: 9us}]\n";
    struct fixture f;
    open_run(&f, text);
    json_t *rma = json_object_get(f.json, "rma"), *soft = json_object_get(rma, "soft");
    json_t *late = json_object_get(rma, "late");
    assert_true(json_is_integer(json_object_get(json_object_get(soft, "latency_ps"), "max")));
    assert_true(json_is_null(json_object_get(json_object_get(soft, "execution_ps"), "max")));
    assert_int_equal(json_integer_value(json_object_get(late, "completed")), 0);
    assert_true(json_is_null(json_object_get(json_object_get(late, "latency_ps"), "mean")));
    assert_true(json_is_null(json_object_get(json_object_get(late, "latency_ps"), "p99")));
    close_run(&f);
}

static void csv_has_every_row(void **state) {
    for (unsigned i = 0; i < SCENARIOS; i++) {
        struct fixture f;
        open_run(&f, scenarios[i]);
        for (uint32_t t = 1; t < weft_result_table_count(); t++) {
            const struct weft_result_table *table = weft_result_table_at(t);
            struct weft_result_walk walk = weft_result_walk(&f.run, table, f.arena);
            bool present = weft_result_table_present(table, &f.run);
            char *text = NULL, value[LINE];
            size_t size;
            FILE *file = open_memstream(&text, &size);
            assert_non_null(file);
            weft_report_csv(file, table, &f.run, 1);
            fclose(file);
            const char *line = strchr(text, '\n') + 1;
            struct weft_result_cursor *row;
            for (; present && (row = weft_result_next(&walk)); line++) {
                line = field(field(field(line, value) + 1, value) + 1, value); // scenario, variant, seed
                for (uint32_t c = 0; c < table->columns; c++) {
                    char expected[TEXT];
                    struct weft_result_value v = weft_result_value(row, &table->column[c]);
                    assert_int_equal(*line, ',');
                    line = field(line + 1, value);
                    assert_string_equal(value, weft_result_text(&v, expected, sizeof expected));
                }
                assert_int_equal(*line, '\n');
            }
            assert_int_equal(*line, 0);
            free(text);
        }
        close_run(&f);
    }
}

static bool ends_with(const char *name, const char *end) {
    size_t n = strlen(name), m = strlen(end);
    return n >= m && !strcmp(name + n - m, end);
}

/// A name includes its unit, and its help is clear by itself.
static void check_column(const struct weft_result_table *t, const struct weft_result_column *c) {
    static const char *const leaning[] = {"of these", "of them", "and ", "likewise", "the same as", "in all"};
    char first[TEXT];
    const char *unit = weft_result_unit(c), *what = c->name;
    snprintf(first, sizeof first, "%.*s", (int)strcspn(c->name, "."), c->name);
    bool number = ends_with(c->name, ".count");
    if (ends_with(first, "_ps") && !number && strcmp(unit, "ps")) fail_msg("%s.%s: unit %s", t->name, what, unit);
    if (ends_with(first, "_bytes") && !number && strcmp(unit, "bytes")) fail_msg("%s.%s: unit %s", t->name, what, unit);
    if (ends_with(first, "_bps") && strcmp(unit, "bit/s")) fail_msg("%s.%s: unit %s", t->name, what, unit);
    if (strlen(c->help) < 5) fail_msg("%s.%s has no help", t->name, what);
    for (unsigned i = 0; i < sizeof leaning / sizeof *leaning; i++)
        if (!strncmp(c->help, leaning[i], strlen(leaning[i])))
            fail_msg("%s.%s: \"%s\" leans on its neighbour", t->name, what, c->help);
    const struct weft_result_table *to = c->references ? weft_result_table_find(c->references) : NULL;
    if (c->references && !to) fail_msg("%s.%s refers to no table", t->name, what);
    uint32_t keys = 0;
    for (uint32_t i = 0; to && i < to->columns; i++)
        keys += to->column[i].flags & WEFT_RESULT_KEY;
    if (to) assert_int_equal(keys, 1);
}

static void rows_are_sound(void **state) {
    for (uint32_t i = 0; i < weft_result_table_count(); i++) {
        const struct weft_result_table *t = weft_result_table_at(i);
        assert_ptr_equal(weft_result_table_find(t->name), t); // no other has its name
        assert_true(!strchr(t->name, '.') || weft_answer_above(weft_run_answer(), t));
        for (uint32_t k = 0; k < t->columns; k++) {
            char a[TEXT], b[TEXT];
            check_column(t, &t->column[k]);
            weft_result_flat_column(t, &t->column[k], a, sizeof a);
            for (uint32_t m = 0; m < k; m++)
                assert_string_not_equal(a, weft_result_flat_column(t, &t->column[m], b, sizeof b));
        }
    }
}

/// Names of version 1, of claims and of files.
static void old_names_are_understood(void **state) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    const char *old[] = {"counters", "cnps"};
    const struct weft_result_column *c = weft_result_column_of(old, 2, arena);
    assert_non_null(c);
    assert_string_equal(c->name, "cnp");
    assert_string_equal(old[1], "cnp");
    const char *mean[] = {"groups", "any", "fct_ps", "mean"}, *none[] = {"groups", "any", "fct_ps", "median"};
    assert_non_null(weft_result_column_of(mean, 4, arena));
    assert_null(weft_result_column_of(none, 4, arena));
    weft_arena_free(arena);
}

struct station {
    const char *name;
    weft_time_ps delay_ps[3];
    struct port {
        weft_rate_bps rate_bps;
    } port;
};
static const struct weft_result_table station_table =
    WEFT_RESULT_TABLE_OF("station", OBJECT, "a station", WEFT_RESULT_SUBJECT,
                         WEFT_RESULT(struct station, name, TEXT, "name of the station", .title = "name"));
static const struct weft_result_table delays_table =
    WEFT_RESULT_TABLE_OF("delays", ARRAY, "a delay", WEFT_RESULT_WITHIN(struct station, delay_ps[1], 2),
                         WEFT_RESULT_INDEX("number", "number of the delay, from 0"),
                         WEFT_RESULT_ITEM(weft_time_ps, "delay_ps", TIME, "the delay", .title = "about"),
                         WEFT_RESULT_ITEM(weft_time_ps, "exact_ps", TIME, "the delay with all digits", .title = "exact",
                                          .flags = WEFT_RESULT_EXACT));
static const struct weft_result_table port_table =
    WEFT_RESULT_TABLE_OF("port", OBJECT, "its port", WEFT_RESULT_WITHIN(struct station, port, 1),
                         WEFT_RESULT(struct port, rate_bps, RATE, "rate of the port"));
static const struct weft_answer station_answer =
    WEFT_ANSWER_OF("station", "a station", &station_table, &delays_table, &port_table);

/// Rows that are members of their subject, and figures in text with all digits.
static void members_are_rows(void **state) {
    struct station station = {.name = "a", .delay_ps = {1, 1234567, 2000}, .port = {5}};
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    weft_answer_csv(file, &station_answer, &delays_table, &station);
    weft_answer_text_table(file, &station_answer, &delays_table, &station);
    fclose(file);
    assert_string_equal(text, "number,delay_ps,exact_ps\n0,1234567,1234567\n1,2000,2000\n"
                              " about       exact\n1.23us  1.234567us\n   2ns         2ns\n");
    free(text);
    const char *path[] = {"delays", "1"};
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    struct weft_result_finder finder = weft_answer_finder(&station_answer, &station, arena);
    struct weft_result_found found = weft_result_find(&finder, path, 2);
    assert_non_null(found.column);
    assert_int_equal(found.value.whole, 2000);
    found = weft_result_find(&finder, (const char *const[]){"port", "rate_bps"}, 2);
    assert_int_equal(found.value.whole, 5);
    weft_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_rows),
        cmocka_unit_test(rows_are_sound),
        cmocka_unit_test(old_names_are_understood),
        cmocka_unit_test(sqlite_has_every_row),
        cmocka_unit_test(json_has_every_row),
        cmocka_unit_test(no_number_leads_nowhere),
        cmocka_unit_test(csv_has_every_row),
        cmocka_unit_test(files_of_other_versions),
        cmocka_unit_test(what_did_not_end_has_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
