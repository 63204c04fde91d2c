// SPDX-License-Identifier: Apache-2.0
// Numbers of processes (pid): nodes from 1 in the order of their ports, then jobs. Numbers of tracks (tid): for a port
// its number in the node times WEFT_PRIORITIES, plus the priority, plus 1; congestion has separate tracks above those.
#include "weft/perfetto.h"

#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/units.h"
#include "results/run/reader.h"
#include "weft/timeline.h"

enum { CONGESTION_TRACKS = 1000000 };

struct flow {
    uint64_t number, bytes;
    const char *group, *src, *dst;
    weft_time_ps start_ps, end_ps; ///< end: WEFT_TIME_NEVER: it has not finished
};
struct sample {
    weft_time_ps time_ps;
    uint32_t port, priority;
    uint64_t queue_bytes, ingress_bytes, tx_bytes;
};
struct operation {
    uint64_t job, iteration, operation;
    const char *name; ///< NULL: the iteration itself
    weft_time_ps start_ps, end_ps;
};
/// A span of a rank's time.
struct stretch {
    uint64_t job, rank, iteration;
    const char *does, *what, *host;
    weft_time_ps from_ps, until_ps;
};
/// An egress queue that fills ingress buffers, until it is drained.
struct congestion {
    uint32_t event;
    weft_time_ps from_ps, until_ps;
};

struct weft_perfetto {
    struct weft_timeline t;
    struct weft_pause *pause;
    struct flow *flow;
    struct sample *sample;
    struct operation *operation;
    struct stretch *stretch; ///< by job, rank and time
    struct congestion *congestion;
    uint32_t *congestion_of; ///< [events], by id - 1: its number + 1; 0: none
    const char **job;
    const char **node;    ///< [nodes]
    uint32_t *node_of;    ///< [ports]
    uint32_t *first_port; ///< [nodes]
    uint32_t nodes, pauses, flows, samples, operations, stretches, congestions, jobs;
};

// --- reading ------------------------------------------------------------------------------------------------------

static void number_nodes(struct weft_perfetto *p, struct weft_arena *arena) {
    p->node_of = weft_arena_alloc(arena, p->t.ports, sizeof *p->node_of);
    p->node = weft_arena_alloc(arena, p->t.ports, sizeof *p->node);
    p->first_port = weft_arena_alloc(arena, p->t.ports, sizeof *p->first_port);
    for (uint32_t i = 0; i < p->t.ports; i++) { // a node's ports are consecutive
        if (!i || strcmp(p->t.port[i].node, p->t.port[i - 1].node) != 0) {
            p->first_port[p->nodes] = i;
            p->node[p->nodes++] = p->t.port[i].node;
        }
        p->node_of[i] = p->nodes - 1;
    }
}

static void read_flows(struct weft_perfetto *p, struct weft__reader *r) {
    uint32_t room = weft__reader_count(r, "SELECT count(*) FROM flows WHERE run = ?");
    p->flow = weft_arena_alloc(r->arena, room, sizeof *p->flow);
    sqlite3_stmt *s = weft__reader_select(r, "flows", "flow,bytes,group,src_name,dst_name,start_ps,end_ps", "flow");
    while (p->flows < room && weft__reader_next(r, s))
        p->flow[p->flows++] = (struct flow){weft__reader_number(s, 0, 0),
                                            weft__reader_number(s, 1, 0),
                                            weft__reader_text(r, s, 2),
                                            weft__reader_text(r, s, 3),
                                            weft__reader_text(r, s, 4),
                                            weft__reader_number(s, 5, WEFT_TIME_NEVER),
                                            weft__reader_number(s, 6, WEFT_TIME_NEVER)};
    sqlite3_finalize(s);
}

static void read_samples(struct weft_perfetto *p, struct weft__reader *r) {
    uint32_t room = weft__reader_count(r, "SELECT count(*) FROM series WHERE run = ?");
    p->sample = weft_arena_alloc(r->arena, room, sizeof *p->sample);
    sqlite3_stmt *s = weft__reader_select(r, "series", "time_ps,port,priority,queue_bytes,ingress_bytes,tx_bytes",
                                          "port, priority, time_ps");
    while (p->samples < room && weft__reader_next(r, s)) {
        struct sample sample = {weft__reader_number(s, 0, 0),           (uint32_t)weft__reader_number(s, 1, 0),
                                (uint32_t)weft__reader_number(s, 2, 0), weft__reader_number(s, 3, 0),
                                weft__reader_number(s, 4, 0),           weft__reader_number(s, 5, 0)};
        if (sample.port < p->t.ports) p->sample[p->samples++] = sample;
    }
    sqlite3_finalize(s);
}

static void read_operations(struct weft_perfetto *p, struct weft__reader *r) {
    p->jobs = weft__reader_count(r, "SELECT count(*) FROM jobs WHERE run = ?");
    p->job = weft_arena_alloc(r->arena, p->jobs, sizeof *p->job);
    uint32_t room = weft__reader_count(r, "SELECT count(*) FROM iterations WHERE run = ?1") +
                    weft__reader_count(r, "SELECT count(*) FROM collectives WHERE run = ?1");
    p->operation = weft_arena_alloc(r->arena, room, sizeof *p->operation);
    sqlite3_stmt *s = weft__reader_select(r, "jobs", "job,name", "job");
    for (uint32_t i = 0; i < p->jobs && weft__reader_next(r, s); i++)
        p->job[i] = weft__reader_text(r, s, 1);
    sqlite3_finalize(s);
    s = weft__reader_select(r, "iterations", "job,iteration,start_ps,end_ps", "job, iteration");
    while (p->operations < room && weft__reader_next(r, s))
        p->operation[p->operations++] = (struct operation){weft__reader_number(s, 0, 0),
                                                           weft__reader_number(s, 1, 0),
                                                           0,
                                                           NULL,
                                                           weft__reader_number(s, 2, WEFT_TIME_NEVER),
                                                           weft__reader_number(s, 3, WEFT_TIME_NEVER)};
    sqlite3_finalize(s);
    s = weft__reader_select(r, "collectives", "job,iteration,operation,collective,start_ps,end_ps",
                            "job, iteration, operation");
    while (p->operations < room && weft__reader_next(r, s))
        p->operation[p->operations++] = (struct operation){weft__reader_number(s, 0, 0),
                                                           weft__reader_number(s, 1, 0),
                                                           weft__reader_number(s, 2, 0),
                                                           weft__reader_text(r, s, 3),
                                                           weft__reader_number(s, 4, WEFT_TIME_NEVER),
                                                           weft__reader_number(s, 5, WEFT_TIME_NEVER)};
    sqlite3_finalize(s);
}

/// Results of older versions have none.
static void read_stretches(struct weft_perfetto *p, struct weft__reader *r) {
    if (!weft__reader_count(r, "SELECT count(*) FROM sqlite_schema WHERE name = 'rank_times'")) return;
    uint32_t room = weft__reader_count(r, "SELECT count(*) FROM rank_times WHERE run = ?");
    p->stretch = weft_arena_alloc(r->arena, room, sizeof *p->stretch);
    sqlite3_stmt *s = weft__reader_select(r, "rank_times", "job,rank,iteration,does,what,host,from_ps,until_ps",
                                          "job, rank, from_ps");
    while (p->stretches < room && weft__reader_next(r, s))
        p->stretch[p->stretches++] =
            (struct stretch){weft__reader_number(s, 0, 0), weft__reader_number(s, 1, 0),
                             weft__reader_number(s, 2, 0), weft__reader_text(r, s, 3),
                             weft__reader_text(r, s, 4),   weft__reader_text(r, s, 5),
                             weft__reader_number(s, 6, 0), weft__reader_number(s, 7, p->t.sim_time_ps)};
    sqlite3_finalize(s);
}

/// From CONGESTED to DRAINED, or to the end of the run.
static void list_congestions(struct weft_perfetto *p, struct weft_arena *arena) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->t.events; i++)
        n += p->t.event[i].kind == WEFT_EVENT_CONGESTED;
    p->congestion = weft_arena_alloc(arena, n, sizeof *p->congestion);
    p->congestion_of = weft_arena_alloc(arena, p->t.events, sizeof *p->congestion_of);
    for (uint32_t i = 0; i < p->t.events; i++) {
        const struct weft_event *e = &p->t.event[i];
        if (e->kind == WEFT_EVENT_CONGESTED) {
            uint32_t first = e->begins ? p->congestion_of[e->begins - 1] : 0;
            if (!first) { // otherwise it is still the same congestion
                p->congestion[p->congestions++] = (struct congestion){i + 1, e->time_ps, p->t.sim_time_ps};
                first = p->congestions;
            }
            p->congestion_of[i] = first;
        } else if (e->kind == WEFT_EVENT_DRAINED && e->begins && p->congestion_of[e->begins - 1]) {
            p->congestion[p->congestion_of[e->begins - 1] - 1].until_ps = e->time_ps;
        }
    }
}

enum weft_status weft_perfetto_read(const char *dir, const char *variant, struct weft_arena *arena,
                                    struct weft_perfetto **ret_perfetto, struct weft_error *ret_error) {
    struct weft_perfetto *p = weft_arena_alloc(arena, 1, sizeof *p);
    *ret_perfetto = p;
    WEFT_TRY(weft_timeline_read(dir, variant, arena, &p->t, ret_error));
    struct weft__reader r;
    const char *const *names;
    uint32_t n;
    enum weft_status status = weft__reader_open(&r, dir, arena, ret_error);
    if (!status) status = weft__reader_choose(&r, variant, NULL, &names, &n, ret_error);
    if (!status && r.status == SQLITE_OK) {
        number_nodes(p, arena);
        list_congestions(p, arena);
        p->pause = weft_pauses_list(p->t.event, p->t.events, p->t.ports, arena, &p->pauses);
        read_flows(p, &r);
        read_samples(p, &r);
        read_operations(p, &r);
        read_stretches(p, &r);
    }
    return weft__reader_close(&r, status, ret_error);
}

const char *const *weft_perfetto_variants(const struct weft_perfetto *p, uint32_t *ret_n) {
    *ret_n = p->t.runs;
    return p->t.variants_there;
}

// --- writing ------------------------------------------------------------------------------------------------------

/// Begins an event of the format; its `args` may follow.
static void begin_event(struct weft__json *j, const char *phase, const char *name, const char *category, uint64_t pid,
                        uint64_t tid, weft_time_ps time) {
    weft__json_begin_object(j);
    weft__json_key_string(j, "ph", phase);
    weft__json_key_string(j, "name", name);
    if (category) weft__json_key_string(j, "cat", category);
    weft__json_key_u64(j, "pid", pid);
    weft__json_key_u64(j, "tid", tid);
    weft__json_key(j, "ts");
    fprintf(weft__json_value(j), "%" PRIu64 ".%06" PRIu64, time / WEFT_PS_PER_US, time % WEFT_PS_PER_US);
}

static void key_microseconds(struct weft__json *j, const char *key, weft_time_ps time) {
    weft__json_key(j, key);
    fprintf(weft__json_value(j), "%" PRIu64 ".%06" PRIu64, time / WEFT_PS_PER_US, time % WEFT_PS_PER_US);
}

/// Names a process or a track for the viewer.
static void name_track(struct weft__json *j, const char *what, uint64_t pid, uint64_t tid, const char *name) {
    begin_event(j, "M", what, NULL, pid, tid, 0);
    weft__json_key(j, "args");
    weft__json_begin_object(j);
    weft__json_key_string(j, "name", name);
    weft__json_end_object(j);
    weft__json_end_object(j);
}

static uint64_t pid_of_port(const struct weft_perfetto *p, uint32_t port) {
    return p->node_of[port] + 1;
}

static uint64_t pid_of_job(const struct weft_perfetto *p, uint64_t job) {
    return p->nodes + 1 + job;
}

static uint64_t track_of(const struct weft_perfetto *p, uint32_t port, uint32_t priority) {
    return (uint64_t)(port - p->first_port[p->node_of[port]]) * WEFT_PRIORITIES + priority + 1;
}

static uint64_t pid_of_node(const struct weft_perfetto *p, const char *name) {
    uint32_t i = 0;
    while (i < p->nodes && strcmp(p->node[i], name) != 0)
        i++;
    return i + 1;
}

static void write_names(const struct weft_perfetto *p, struct weft__json *j) {
    char text[160];
    WEFT_FREED bool *named =
        weft_memory_new(WEFT_MEMORY_RESULT, (size_t)p->t.ports * WEFT_PRIORITIES * 2, sizeof *named);
    for (uint32_t i = 0; i < p->nodes; i++)
        name_track(j, "process_name", i + 1, 0, p->node[i]);
    for (uint32_t i = 0; i < p->jobs; i++) {
        snprintf(text, sizeof text, "job %s", p->job[i]);
        name_track(j, "process_name", pid_of_job(p, i), 0, text);
    }
    for (uint32_t i = 0; i < p->pauses + p->congestions; i++) {
        bool pause = i < p->pauses;
        const struct weft_event *e = &p->t.event[(pause ? p->pause[i].event : p->congestion[i - p->pauses].event) - 1];
        uint32_t priority = e->priority % WEFT_PRIORITIES;
        size_t at = ((size_t)e->port * WEFT_PRIORITIES + priority) * 2 + pause;
        if (named[at]) continue;
        named[at] = true;
        snprintf(text, sizeof text, "%s to %s, priority %" PRIu32 ": %s", p->t.port[e->port].name,
                 p->t.port[e->port].peer, priority, pause ? "paused" : "congested");
        name_track(j, "thread_name", pid_of_port(p, e->port),
                   track_of(p, e->port, priority) + (pause ? 0 : CONGESTION_TRACKS), text);
    }
}

/// A slice that others of its process may overlap.
static void write_async(struct weft__json *j, const char *name, const char *category, uint64_t pid, uint64_t id,
                        weft_time_ps from, weft_time_ps until) {
    for (int end = 0; end < 2; end++) {
        begin_event(j, end ? "e" : "b", name, category, pid, 0, end ? until : from);
        weft__json_key_u64(j, "id", id);
        weft__json_end_object(j);
    }
}

static void write_flows(const struct weft_perfetto *p, struct weft__json *j) {
    char name[256];
    const char *last = "";
    uint64_t pid = 0;
    for (uint32_t i = 0; i < p->flows; i++) {
        const struct flow *f = &p->flow[i];
        if (f->start_ps > p->t.sim_time_ps) continue; // it never started
        if (strcmp(last, f->src) != 0) pid = pid_of_node(p, f->src);
        last = f->src;
        snprintf(name, sizeof name, "flow %" PRIu64 " to %s, %s", f->number, f->dst, f->group);
        write_async(j, name, "flow", pid, f->number, f->start_ps,
                    f->end_ps == WEFT_TIME_NEVER ? p->t.sim_time_ps : f->end_ps);
    }
}

static weft_time_ps end_of(const struct weft_perfetto *p, const struct weft_pause *pause) {
    return pause->resumed ? p->t.event[pause->resumed - 1].time_ps : p->t.sim_time_ps;
}

static void write_slice(struct weft__json *j, const char *name, const char *category, uint64_t pid, uint64_t tid,
                        weft_time_ps from, weft_time_ps until) {
    begin_event(j, "X", name, category, pid, tid, from);
    key_microseconds(j, "dur", until - from);
    weft__json_key(j, "args");
    weft__json_begin_object(j);
}

static void write_arrow(struct weft__json *j, uint64_t id, bool end, uint64_t pid, uint64_t tid, weft_time_ps time) {
    begin_event(j, end ? "f" : "s", "because", "cause", pid, tid, time);
    weft__json_key_u64(j, "id", id);
    if (end) weft__json_key_string(j, "bp", "e");
    weft__json_end_object(j);
}

/// Where the arrow to a pause begins: at the pause that filled the buffer, or at the congestion at the root. False:
/// neither is known.
static bool find_cause(const struct weft_perfetto *p, const struct weft_pause *pause, uint64_t *ret_pid,
                       uint64_t *ret_tid, weft_time_ps *ret_time) {
    weft_time_ps xoff = pause->xoff ? p->t.event[pause->xoff - 1].time_ps : 0, from, until;
    const struct weft_event *e;
    if (pause->parent != WEFT_NONE) {
        const struct weft_pause *parent = &p->pause[pause->parent];
        e = &p->t.event[parent->event - 1];
        from = e->time_ps;
        until = end_of(p, parent);
    } else if (pause->root && p->congestion_of[pause->root - 1]) {
        const struct congestion *c = &p->congestion[p->congestion_of[pause->root - 1] - 1];
        e = &p->t.event[c->event - 1];
        from = c->from_ps;
        until = c->until_ps;
    } else {
        return false;
    }
    *ret_pid = pid_of_port(p, e->port);
    *ret_tid =
        track_of(p, e->port, e->priority % WEFT_PRIORITIES) + (pause->parent == WEFT_NONE ? CONGESTION_TRACKS : 0);
    *ret_time = xoff < from ? from : xoff > until ? until : xoff;
    return true;
}

static void write_pauses(const struct weft_perfetto *p, struct weft__json *j) {
    char name[160];
    for (uint32_t i = 0; i < p->pauses; i++) {
        const struct weft_pause *pause = &p->pause[i];
        const struct weft_event *e = &p->t.event[pause->event - 1];
        uint64_t pid = pid_of_port(p, e->port), tid = track_of(p, e->port, e->priority % WEFT_PRIORITIES), from, track;
        weft_time_ps time;
        snprintf(name, sizeof name, "paused by %s", pause->by == WEFT_NONE ? "?" : p->t.port[pause->by].name);
        write_slice(j, name, "pause", pid, tid, e->time_ps, end_of(p, pause));
        weft__json_key_u64(j, "waiting_bytes", e->value);
        weft__json_key_u64(j, "pause_frames", pause->frames);
        weft__json_key_u64(j, "depth", pause->depth);
        weft__json_end_object(j);
        weft__json_end_object(j);
        if (!find_cause(p, pause, &from, &track, &time)) continue;
        write_arrow(j, i + 1, false, from, track, time);
        write_arrow(j, i + 1, true, pid, tid, e->time_ps);
    }
}

static void write_congestions(const struct weft_perfetto *p, struct weft__json *j) {
    for (uint32_t i = 0; i < p->congestions; i++) {
        const struct congestion *c = &p->congestion[i];
        const struct weft_event *e = &p->t.event[c->event - 1];
        write_slice(j, "congested", "congestion", pid_of_port(p, e->port),
                    track_of(p, e->port, e->priority % WEFT_PRIORITIES) + CONGESTION_TRACKS, c->from_ps, c->until_ps);
        weft__json_key_u64(j, "queued_bytes", e->value);
        weft__json_key_u64(j, "queue_pairs", e->more);
        weft__json_end_object(j);
        weft__json_end_object(j);
    }
}

static void write_counter(struct weft__json *j, const char *name, uint64_t pid, weft_time_ps time, const char *key,
                          double value) {
    begin_event(j, "C", name, NULL, pid, 0, time);
    weft__json_key(j, "args");
    weft__json_begin_object(j);
    weft__json_key_real(j, key, value);
    weft__json_end_object(j);
    weft__json_end_object(j);
}

static bool is_same_queue(const struct sample *a, const struct sample *b) {
    return a->port == b->port && a->priority == b->priority;
}

/// run.sample_interval; 0: off.
static weft_time_ps find_interval(const struct weft_perfetto *p) {
    const char *text = weft_timeline_setting(&p->t, "", "run.sample_interval");
    char why[256];
    uint64_t interval = 0;
    return text && weft__quantity_parse(WEFT__TIME, text, &interval, why, sizeof why) ? interval : 0;
}

/// A queue without traffic has no sample: it is empty from the interval after its last one.
static void write_samples(const struct weft_perfetto *p, struct weft__json *j) {
    char queue[160], buffer[160], sent[160];
    weft_time_ps interval = find_interval(p);
    for (uint32_t i = 0; i < p->samples && interval; i++) {
        const struct sample *s = &p->sample[i], *before = i ? s - 1 : NULL, *next = i + 1 < p->samples ? s + 1 : NULL;
        const char *port = p->t.port[s->port].name;
        uint64_t pid = pid_of_port(p, s->port);
        snprintf(queue, sizeof queue, "%s, priority %" PRIu32 ": queue", port, s->priority);
        snprintf(buffer, sizeof buffer, "%s, priority %" PRIu32 ": ingress buffer", port, s->priority);
        snprintf(sent, sizeof sent, "%s, priority %" PRIu32 ": sent", port, s->priority);
        write_counter(j, queue, pid, s->time_ps, "bytes", (double)s->queue_bytes);
        write_counter(j, buffer, pid, s->time_ps, "bytes", (double)s->ingress_bytes);
        weft_time_ps since = s->time_ps > interval ? s->time_ps - interval : 0; // the last one may be earlier
        if (before && is_same_queue(s, before) && before->time_ps > since) since = before->time_ps;
        write_counter(j, sent, pid, since, "Gbit/s", (double)s->tx_bytes * 8e3 / (double)(s->time_ps - since));
        if (next && is_same_queue(s, next) && next->time_ps - s->time_ps <= interval) continue;
        write_counter(j, sent, pid, s->time_ps, "Gbit/s", 0);
        write_counter(j, queue, pid, s->time_ps + interval, "bytes", 0);
        write_counter(j, buffer, pid, s->time_ps + interval, "bytes", 0);
    }
}

/// The rate that congestion control leaves each flow, as a counter of its sender; and drops, and links going down.
static void write_instants(const struct weft_perfetto *p, struct weft__json *j) {
    char name[160];
    for (uint32_t i = 0; i < p->t.events; i++) {
        const struct weft_event *e = &p->t.event[i];
        uint64_t pid = pid_of_port(p, e->port);
        if (e->kind == WEFT_EVENT_RATE_CUT || e->kind == WEFT_EVENT_RATE_RAISED) {
            snprintf(name, sizeof name, "flow %" PRIu32 ": rate", e->flow);
            write_counter(j, name, pid, e->time_ps, "Gbit/s", (double)e->value * 1e-9);
        } else if (e->kind == WEFT_EVENT_DROPPED || e->kind == WEFT_EVENT_LINK_DOWN || e->kind == WEFT_EVENT_LINK_UP) {
            snprintf(name, sizeof name, "%s: %s", p->t.port[e->port].name, weft_event_infos[e->kind].name);
            begin_event(j, "i", name, "event", pid, 0, e->time_ps);
            weft__json_key_string(j, "s", "p");
            weft__json_end_object(j);
        }
    }
}

static void write_operations(const struct weft_perfetto *p, struct weft__json *j) {
    char name[160];
    for (uint32_t i = 0; i < p->operations; i++) {
        const struct operation *o = &p->operation[i];
        if (o->start_ps == WEFT_TIME_NEVER || o->job >= p->jobs) continue;
        if (o->name)
            snprintf(name, sizeof name, "%s, operation %" PRIu64, o->name, o->operation);
        else
            snprintf(name, sizeof name, "iteration %" PRIu64, o->iteration);
        write_async(j, name, o->name ? "collective" : "iteration", pid_of_job(p, o->job), i + 1, o->start_ps,
                    o->end_ps == WEFT_TIME_NEVER ? p->t.sim_time_ps : o->end_ps);
    }
}

/// One track per rank.
static void write_stretches(const struct weft_perfetto *p, struct weft__json *j) {
    char name[160];
    for (uint32_t i = 0; i < p->stretches; i++) {
        const struct stretch *s = &p->stretch[i];
        if (s->job >= p->jobs) continue;
        if (!i || s->job != s[-1].job || s->rank != s[-1].rank) {
            snprintf(name, sizeof name, "rank %" PRIu64 " (%s)", s->rank, s->host);
            name_track(j, "thread_name", pid_of_job(p, s->job), s->rank + 1, name);
        }
        bool more = *s->what && strcmp(s->what, s->does) != 0;
        snprintf(name, sizeof name, "%s%s%s", s->does, more ? " " : "", more ? s->what : "");
        write_slice(j, name, s->does, pid_of_job(p, s->job), s->rank + 1, s->from_ps, s->until_ps);
        weft__json_key_u64(j, "iteration", s->iteration);
        weft__json_end_object(j);
        weft__json_end_object(j);
    }
}

struct weft_perfetto_counts weft_perfetto_count(const struct weft_perfetto *p) {
    struct weft_perfetto_counts n = {p->flows, p->pauses, 0, p->samples, p->operations};
    uint64_t pid, tid;
    weft_time_ps time;
    for (uint32_t i = 0; i < p->pauses; i++)
        n.arrows += find_cause(p, &p->pause[i], &pid, &tid, &time);
    return n;
}

void weft_perfetto_write(FILE *file, const void *perfetto) {
    const struct weft_perfetto *p = perfetto;
    struct weft__json j = {.file = file};
    weft__json_begin_object(&j);
    weft__json_key_string(&j, "displayTimeUnit", "ns");
    weft__json_key(&j, "otherData");
    weft__json_begin_object(&j);
    weft__json_key_string(&j, "scenario", p->t.scenario);
    weft__json_key_string(&j, "variant", p->t.variant);
    weft__json_end_object(&j);
    weft__json_key(&j, "traceEvents");
    weft__json_begin_array(&j);
    write_names(p, &j);
    write_flows(p, &j);
    write_operations(p, &j);
    write_stretches(p, &j);
    write_congestions(p, &j);
    write_pauses(p, &j);
    write_instants(p, &j);
    write_samples(p, &j);
    weft__json_end_array(&j);
    weft__json_end_object(&j);
    putc('\n', file);
}
