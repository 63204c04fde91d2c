// SPDX-License-Identifier: Apache-2.0
// Reads results back from the database, as far as a timeline needs them.
#include <stdio.h>
#include <string.h>

#include "report/events.h"
#include "results/run/reader.h"
#include "weft/result.h"
#include "weft/timeline.h"
#include "weft/topology.h"

struct reader {
    struct weft__reader results;
    bool unnamed; ///< some event belongs to a connection that the file does not list: version 1 had no table of them
    struct weft_timeline *t;
};

static void read_run(struct reader *r) {
    sqlite3_stmt *s = weft__reader_prepare(
        &r->results, "SELECT scenario, variant, sim_time_ps, unrecorded, unrecorded_ps, stall FROM run "
                     "WHERE id = ?");
    if (weft__reader_next(&r->results, s)) {
        r->t->scenario = weft__reader_text(&r->results, s, 0);
        r->t->variant = weft__reader_text(&r->results, s, 1);
        r->t->sim_time_ps = weft__reader_number(s, 2, 0);
        r->t->unrecorded = weft__reader_number(s, 3, 0);
        r->t->unrecorded_ps = weft__reader_number(s, 4, WEFT_TIME_NEVER);
        r->t->stall = weft__reader_text(&r->results, s, 5);
    }
    sqlite3_finalize(s);
}

static void read_ports(struct reader *r) {
    struct weft_timeline *t = r->t;
    t->ports = weft__reader_count(&r->results, "SELECT count(*) FROM ports WHERE run = ?");
    t->port = weft_arena_alloc(r->results.arena, t->ports, sizeof *t->port);
    t->counters = weft_arena_alloc(r->results.arena, (size_t)t->ports * WEFT_PRIORITIES, sizeof *t->counters);
    sqlite3_stmt *s = weft__reader_prepare(
        &r->results, "SELECT name, node, peer, peer_port, rate_bps FROM ports WHERE run = ? ORDER BY port");
    for (uint32_t i = 0; i < t->ports && weft__reader_next(&r->results, s); i++)
        t->port[i] =
            (struct weft_timeline_port){weft__reader_text(&r->results, s, 0), weft__reader_text(&r->results, s, 1),
                                        weft__reader_text(&r->results, s, 2),
                                        (uint32_t)weft__reader_number(s, 3, WEFT_NONE), weft__reader_number(s, 4, 0)};
    sqlite3_finalize(s);
#define X(field, type, sai, help) "," #field
    s = weft__reader_select(&r->results, "port_counters", "port,priority" WEFT_PRIORITY_COUNTERS(X), NULL);
#undef X
    while (weft__reader_next(&r->results, s)) {
        uint64_t port = weft__reader_number(s, 0, 0), priority = weft__reader_number(s, 1, 0);
        if (port >= t->ports || priority >= WEFT_PRIORITIES) continue;
        struct weft_counters *c = weft_timeline_at(t, (uint32_t)port, (uint32_t)priority);
        int column = 2;
#define X(field, type, sai, help) c->field = weft__reader_number(s, column++, 0);
        WEFT_PRIORITY_COUNTERS(X)
#undef X
    }
    sqlite3_finalize(s);
}

/// Flows, or connections of remote memory access; the first of `columns` is their number.
static void read_names(struct reader *r, const char *table, const char *columns) {
    struct weft_timeline *t = r->t;
    sqlite3_stmt *s = weft__reader_select(&r->results, table, columns, NULL);
    while (weft__reader_next(&r->results, s)) {
        uint64_t number = (uint64_t)sqlite3_column_int64(s, 0);
        if (number < t->flows)
            t->flow[number] =
                (struct weft_timeline_flow){weft__reader_text(&r->results, s, 1), weft__reader_text(&r->results, s, 2),
                                            weft__reader_text(&r->results, s, 3)};
    }
    sqlite3_finalize(s);
}

/// Numbers may have gaps where flows are omitted, so there must be room up to the largest.
static uint32_t count_numbers(struct reader *r) {
    uint32_t flows = weft__reader_count(&r->results, "SELECT max(flow) + 1 FROM flows WHERE run = ?");
    uint32_t connections =
        r->results.old ? 0
                       : weft__reader_count(&r->results, "SELECT max(connection) + 1 FROM connections WHERE run = ?");
    return flows > connections ? flows : connections;
}

static void read_flows(struct reader *r) {
    struct weft_timeline *t = r->t;
    t->flows = count_numbers(r);
    t->flow = weft_arena_alloc(r->results.arena, t->flows, sizeof *t->flow);
    for (uint32_t i = 0; i < t->flows; i++)
        t->flow[i] = (struct weft_timeline_flow){"", "", ""};
    read_names(r, "flows", "flow,group,src_name,dst_name");
    if (!r->results.old) read_names(r, "connections", "connection,group,src_name,dst_name");
}

static void read_settings(struct reader *r) {
    struct weft_timeline *t = r->t;
    t->settings = weft__reader_count(&r->results, "SELECT count(*) FROM config WHERE run = ?");
    t->setting = weft_arena_alloc(r->results.arena, t->settings, sizeof *t->setting);
    sqlite3_stmt *s = weft__reader_prepare(&r->results, "SELECT path, value FROM config WHERE run = ?");
    for (uint32_t i = 0; i < t->settings && weft__reader_next(&r->results, s); i++)
        t->setting[i] =
            (struct weft_timeline_setting){weft__reader_text(&r->results, s, 0), weft__reader_text(&r->results, s, 1)};
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
    uint32_t n = weft__reader_count(&r->results, "SELECT count(*) FROM events WHERE run = ?");
    t->event = weft_arena_alloc(r->results.arena, n, sizeof *t->event);
    const char *columns = "time_ps,kind,port,priority,flow,qp,value,more,detail,cause,begins,connection";
    sqlite3_stmt *s =
        r->results.old
            ? weft__reader_prepare(&r->results,
                                   "SELECT time_ps, kind, port, priority, flow, qp, value, more, detail, cause, "
                                   "begins, NULL FROM events WHERE run = ? ORDER BY event")
            : weft__reader_select(&r->results, "events", columns, "event");
    while (t->events < n && weft__reader_next(&r->results, s)) {
        uint32_t kind = weft__event_kind(weft__reader_peek(s, 1));
        struct weft_event e = {
            .time_ps = weft__reader_number(s, 0, 0),
            .node = WEFT_NONE,
            .port = (uint32_t)weft__reader_number(s, 2, WEFT_NONE),
            .priority = (uint8_t)weft__reader_number(s, 3, WEFT_EVENT_NO_PRIORITY),
            .flow = (uint32_t)weft__reader_number(s, 4, weft__reader_number(s, 11, WEFT_NONE)),
            .qp = (uint32_t)weft__reader_number(s, 5, WEFT_NONE),
            .value = weft__reader_number(s, 6, 0),
            .more = weft__reader_number(s, 7, kind == WEFT_EVENT_XOFF ? WEFT_NONE : 0),
            .kind = (uint8_t)kind,
            .detail = weft__event_detail(kind, weft__reader_peek(s, 8)),
            .cause = (uint32_t)weft__reader_number(s, 9, 0),
            .begins = (uint32_t)weft__reader_number(s, 10, 0),
        };
        bool sound = kind < WEFT_EVENT_KINDS && e.port < t->ports && e.cause <= t->events && e.begins <= t->events &&
                     (e.flow < t->flows || (e.flow == WEFT_NONE && !is_of_flow(kind))) &&
                     (e.priority < WEFT_PRIORITIES || e.priority == WEFT_EVENT_NO_PRIORITY);
        if (!sound) {
            r->unnamed = r->results.old && e.flow != WEFT_NONE && e.flow >= t->flows;
            r->results.status = SQLITE_CORRUPT;
            break;
        }
        t->event[t->events++] = e;
    }
    sqlite3_finalize(s);
}

enum weft_status weft_timeline_read(const char *dir, const char *variant, struct weft_arena *arena,
                                    struct weft_timeline *ret_timeline, struct weft_error *ret_error) {
    struct reader r = {.t = ret_timeline};
    *ret_timeline = (struct weft_timeline){0};
    enum weft_status status = weft__reader_open(&r.results, dir, arena, ret_error);
    if (!status)
        status = weft__reader_choose(&r.results, variant, NULL, &ret_timeline->variants_there, &ret_timeline->runs,
                                     ret_error);
    if (!status) {
        read_run(&r);
        read_ports(&r);
        read_flows(&r);
        read_settings(&r);
        read_events(&r);
    }
    if (!status && r.unnamed)
        status = WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                             "%s: results of version 1 do not list connections of remote memory access, which this "
                             "run has events of; run its scenario again",
                             r.results.path);
    return weft__reader_close(&r.results, status, ret_error);
}

const char *weft_timeline_setting(const struct weft_timeline *t, const char *node, const char *path) {
    char prefix[64] = "";
    for (uint32_t i = 0; i < t->settings; i++) { // of several matching entries the last one wins
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
