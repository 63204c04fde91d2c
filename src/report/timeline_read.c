// SPDX-License-Identifier: Apache-2.0
// Results back from the database, as far as a timeline needs them.
#include <stdio.h>
#include <string.h>

#include "base/param.h"
#include "report/database.h"
#include "report/events.h"
#include "weft/result.h"
#include "weft/timeline.h"
#include "weft/topology.h"

struct reader {
    sqlite3 *db;
    bool old;     ///< tables and columns have the names of version 1
    int status;   ///< the first that was neither SQLITE_OK nor a row
    bool unnamed; ///< an event is of a connection that the file does not list: version 1 had no table of them
    sqlite3_int64 run;
    struct weft_arena *arena;
    struct weft_timeline *t;
};

static sqlite3_stmt *prepare(struct reader *r, const char *sql) {
    sqlite3_stmt *s = NULL;
    if (r->status == SQLITE_OK) r->status = sqlite3_prepare_v2(r->db, sql, -1, &s, NULL);
    if (r->status == SQLITE_OK && sqlite3_bind_parameter_count(s)) r->status = sqlite3_bind_int64(s, 1, r->run);
    return s;
}

static bool next(struct reader *r, sqlite3_stmt *s) {
    if (r->status != SQLITE_OK) return false;
    int status = sqlite3_step(s);
    if (status != SQLITE_ROW && status != SQLITE_DONE) r->status = status;
    return status == SQLITE_ROW;
}

static uint64_t number(sqlite3_stmt *s, int column, uint64_t if_null) {
    return sqlite3_column_type(s, column) == SQLITE_NULL ? if_null : (uint64_t)sqlite3_column_int64(s, column);
}

/// NULL for NULL.
static const char *column_text(sqlite3_stmt *s, int column) {
    const char *value = (const char *)sqlite3_column_text(s, column);
    if (!value && sqlite3_errcode(sqlite3_db_handle(s)) == SQLITE_NOMEM) weft_memory_fail();
    return value;
}

static const char *text(struct reader *r, sqlite3_stmt *s, int column) {
    const char *value = column_text(s, column);
    return weft_arena_text(r->arena, value ? value : "");
}

/// "SELECT columns FROM table", by the names that the file has; columns: "flow,group".
static sqlite3_stmt *select(struct reader *r, const char *table, const char *columns, const char *order) {
    const struct weft_result_table *t = weft_result_table_find(table);
    const char *sql = "SELECT ", *end;
    char flat[64];
    for (; *columns; columns = end + (*end == ',')) {
        end = columns + strcspn(columns, ",");
        const char *name = weft_arena_format(r->arena, "%.*s", (int)(end - columns), columns);
        const struct weft_result_column *c = weft_result_column_find(t, name);
        if (c && c->was && r->old) name = c->was;
        sql =
            weft_arena_format(r->arena, "%s\"%s\"%s", sql, weft_result_flat(name, flat, sizeof flat), *end ? "," : "");
    }
    const char *name = t->was && r->old ? t->was : t->name;
    return prepare(r, weft_arena_format(r->arena, "%s FROM \"%s\" WHERE run = ?%s%s", sql,
                                        weft_result_flat(name, flat, sizeof flat), order ? " ORDER BY " : "",
                                        order ? order : ""));
}

/// The first run, or the one of this variant.
static enum weft_status choose_run(struct reader *r, const char *variant, struct weft_error *ret_error) {
    enum { NAMES = 256 };
    const char **names = weft_arena_alloc(r->arena, NAMES, sizeof *names);
    uint32_t n = 0;
    sqlite3_stmt *s = prepare(r, "SELECT id, scenario, variant, sim_time_ps, unrecorded, unrecorded_ps, stall FROM run "
                                 "ORDER BY id");
    while (next(r, s)) {
        const char *name = text(r, s, 2);
        if (n < NAMES) names[n++] = name;
        if (r->run || (variant && strcmp(name, variant))) continue;
        r->run = sqlite3_column_int64(s, 0);
        *r->t = (struct weft_timeline){.scenario = text(r, s, 1),
                                       .variant = name,
                                       .stall = text(r, s, 6),
                                       .sim_time_ps = number(s, 3, 0),
                                       .unrecorded = number(s, 4, 0),
                                       .unrecorded_ps = number(s, 5, WEFT_TIME_NEVER)};
    }
    sqlite3_finalize(s);
    r->t->variants_there = names;
    r->t->runs = n;
    if (r->run || r->status != SQLITE_OK) return WEFT_OK;
    char expected[512];
    weft__names_expected(variant ? variant : "", names, n, expected, sizeof expected);
    return weft_error_set(ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE, "--variant %s: no such variant in the results; %s",
                          variant ? variant : "", expected);
}

/// Rows of a table of this run.
static uint32_t count(struct reader *r, const char *sql) {
    sqlite3_stmt *s = prepare(r, sql);
    uint32_t n = next(r, s) ? (uint32_t)sqlite3_column_int64(s, 0) : 0;
    sqlite3_finalize(s);
    return n;
}

static void read_ports(struct reader *r) {
    struct weft_timeline *t = r->t;
    t->ports = count(r, "SELECT count(*) FROM ports WHERE run = ?");
    t->port = weft_arena_alloc(r->arena, t->ports, sizeof *t->port);
    t->counters = weft_arena_alloc(r->arena, (size_t)t->ports * WEFT_PRIORITIES, sizeof *t->counters);
    sqlite3_stmt *s = prepare(r, "SELECT name, node, peer, peer_port, rate_bps FROM ports WHERE run = ? ORDER BY port");
    for (uint32_t i = 0; i < t->ports && next(r, s); i++)
        t->port[i] = (struct weft_timeline_port){text(r, s, 0), text(r, s, 1), text(r, s, 2),
                                                 (uint32_t)number(s, 3, WEFT_NONE), number(s, 4, 0)};
    sqlite3_finalize(s);
#define X(field, type, sai, help) "," #field
    s = select(r, "port_counters", "port,priority" WEFT_PRIORITY_COUNTERS(X), NULL);
#undef X
    while (next(r, s)) {
        uint64_t port = number(s, 0, 0), priority = number(s, 1, 0);
        if (port >= t->ports || priority >= WEFT_PRIORITIES) continue;
        struct weft_counters *c = &t->counters[port * WEFT_PRIORITIES + priority];
        int column = 2;
#define X(field, type, sai, help) c->field = number(s, column++, 0);
        WEFT_PRIORITY_COUNTERS(X)
#undef X
    }
    sqlite3_finalize(s);
}

/// Flows, or connections of remote memory access, whose number the first of `columns` is.
static void read_names(struct reader *r, const char *table, const char *columns) {
    struct weft_timeline *t = r->t;
    sqlite3_stmt *s = select(r, table, columns, NULL);
    while (next(r, s)) {
        uint64_t number = (uint64_t)sqlite3_column_int64(s, 0);
        if (number < t->flows)
            t->flow[number] = (struct weft_timeline_flow){text(r, s, 1), text(r, s, 2), text(r, s, 3)};
    }
    sqlite3_finalize(s);
}

/// Their numbers go on where flows are left out, so there is room up to the greatest.
static uint32_t count_numbers(struct reader *r) {
    uint32_t flows = count(r, "SELECT max(flow) + 1 FROM flows WHERE run = ?");
    uint32_t connections = r->old ? 0 : count(r, "SELECT max(connection) + 1 FROM connections WHERE run = ?");
    return flows > connections ? flows : connections;
}

static void read_flows(struct reader *r) {
    struct weft_timeline *t = r->t;
    t->flows = count_numbers(r);
    t->flow = weft_arena_alloc(r->arena, t->flows, sizeof *t->flow);
    for (uint32_t i = 0; i < t->flows; i++)
        t->flow[i] = (struct weft_timeline_flow){"", "", ""};
    read_names(r, "flows", "flow,group,src_name,dst_name");
    if (!r->old) read_names(r, "connections", "connection,group,src_name,dst_name");
}

static void read_settings(struct reader *r) {
    struct weft_timeline *t = r->t;
    t->settings = count(r, "SELECT count(*) FROM config WHERE run = ?");
    t->setting = weft_arena_alloc(r->arena, t->settings, sizeof *t->setting);
    sqlite3_stmt *s = prepare(r, "SELECT path, value FROM config WHERE run = ?");
    for (uint32_t i = 0; i < t->settings && next(r, s); i++)
        t->setting[i] = (struct weft_timeline_setting){text(r, s, 0), text(r, s, 1)};
    sqlite3_finalize(s);
}

static bool is_of_flow(uint32_t kind) {
    switch (kind) {
    case WEFT_EVENT_FLOW_STARTED:
    case WEFT_EVENT_FLOW_FINISHED:
    case WEFT_EVENT_FLOW_MARKED:
    case WEFT_EVENT_CNP_SENT:
    case WEFT_EVENT_CNP_RECEIVED:
    case WEFT_EVENT_RATE_CUT:
    case WEFT_EVENT_RATE_RAISED:
    case WEFT_EVENT_SFC_SENT:
    case WEFT_EVENT_SFC_RECEIVED:
        return true;
    default:
        return false;
    }
}

static void read_events(struct reader *r) {
    struct weft_timeline *t = r->t;
    uint32_t n = count(r, "SELECT count(*) FROM events WHERE run = ?");
    t->event = weft_arena_alloc(r->arena, n, sizeof *t->event);
    const char *columns = "time_ps,kind,port,priority,flow,qp,value,more,detail,cause,begins,connection";
    sqlite3_stmt *s = r->old ? prepare(r, "SELECT time_ps, kind, port, priority, flow, qp, value, more, detail, cause, "
                                          "begins, NULL FROM events WHERE run = ? ORDER BY event")
                             : select(r, "events", columns, "event");
    while (t->events < n && next(r, s)) {
        uint32_t kind = weft__event_kind(column_text(s, 1));
        struct weft_event e = {
            .time_ps = number(s, 0, 0),
            .node = WEFT_NONE,
            .port = (uint32_t)number(s, 2, WEFT_NONE),
            .priority = (uint8_t)number(s, 3, WEFT_EVENT_NO_PRIORITY),
            .flow = (uint32_t)number(s, 4, number(s, 11, WEFT_NONE)),
            .qp = (uint32_t)number(s, 5, WEFT_NONE),
            .value = number(s, 6, 0),
            .more = number(s, 7, kind == WEFT_EVENT_XOFF ? WEFT_NONE : 0),
            .kind = (uint8_t)kind,
            .detail = weft__event_detail(kind, column_text(s, 8)),
            .cause = (uint32_t)number(s, 9, 0),
            .begins = (uint32_t)number(s, 10, 0),
        };
        bool sound = kind < WEFT_EVENT_KINDS && e.port < t->ports && e.cause <= t->events && e.begins <= t->events &&
                     (e.flow < t->flows || (e.flow == WEFT_NONE && !is_of_flow(kind))) &&
                     (e.priority < WEFT_PRIORITIES || e.priority == WEFT_EVENT_NO_PRIORITY);
        if (!sound) {
            r->unnamed = r->old && e.flow != WEFT_NONE && e.flow >= t->flows;
            r->status = SQLITE_CORRUPT;
            break;
        }
        t->event[t->events++] = e;
    }
    sqlite3_finalize(s);
}

static void close_database(void *context) {
    const struct reader *r = context;
    weft__database_drop(r->db);
}

/// Files of version 1 did not say so.
static enum weft_status check_version(struct reader *r, const char *path, struct weft_error *ret_error) {
    uint32_t version = count(r, "PRAGMA user_version");
    r->old = version < WEFT_RESULTS_VERSION;
    if (version <= WEFT_RESULTS_VERSION) return WEFT_OK;
    return weft_error_set(ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE,
                          "%s: results of version %u; this weft reads versions up to %d", path, version,
                          WEFT_RESULTS_VERSION);
}

enum weft_status weft_timeline_read(const char *dir, const char *variant, struct weft_arena *arena,
                                    struct weft_timeline *ret_timeline, struct weft_error *ret_error) {
    const char *path = weft_arena_format(arena, "%s/results.sqlite", dir);
    struct reader r = {.arena = arena, .t = ret_timeline};
    *ret_timeline = (struct weft_timeline){0};
    struct weft_memory_cleanup cleanup;
    weft_memory_cleanup_add(&cleanup, close_database, &r);
    r.status = sqlite3_open_v2(path, &r.db, SQLITE_OPEN_READONLY, NULL);
    enum weft_status status = WEFT_OK;
    if (r.status == SQLITE_OK) status = check_version(&r, path, ret_error);
    if (!status && r.status == SQLITE_OK) status = choose_run(&r, variant, ret_error);
    if (!status) {
        read_ports(&r);
        read_flows(&r);
        read_settings(&r);
        read_events(&r);
    }
    if (r.status == SQLITE_NOMEM) weft_memory_fail();
    if (!status && r.unnamed)
        status = weft_error_set(ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE,
                                "%s: results of version 1 do not list connections of remote memory access, which this "
                                "run has events of; run its scenario again",
                                path);
    else if (!status && r.status != SQLITE_OK)
        status = weft_error_set(ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE,
                                "%s: cannot be read (%s); expected a folder that weft run --out has written", path,
                                r.status == SQLITE_CORRUPT ? sqlite3_errstr(r.status) : sqlite3_errmsg(r.db));
    weft_memory_cleanup_remove(&cleanup);
    sqlite3_close(r.db);
    return status;
}

const char *weft_timeline_setting(const struct weft_timeline *t, const char *node, const char *path) {
    char prefix[64] = "";
    for (uint32_t i = 0; i < t->settings; i++) { // of the entries that match, the last one wins
        const char *found = t->setting[i].path, *end = strrchr(found, '.');
        if (strncmp(found, "devices.", 8) || !end || strcmp(end, ".match")) continue;
        if (weft_glob_match(t->setting[i].value, node))
            snprintf(prefix, sizeof prefix, "%.*s", (int)(end - found + 1), found);
    }
    char full[256];
    snprintf(full, sizeof full, "%s%s", prefix, path);
    for (uint32_t i = 0; i < t->settings; i++)
        if (!strcmp(t->setting[i].path, full)) return t->setting[i].value;
    return NULL;
}
