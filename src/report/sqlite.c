// SPDX-License-Identifier: Apache-2.0
// Runs as a database: one transaction into a new file, which takes its name when it is complete.
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "database.h"
#include "events.h"
#include "rma.h"
#include "sqlite_schema.h"
#include "totals.h"
#include "weft/timeline.h"

struct writer {
    sqlite3 *db;
    int status; ///< the first that was not SQLITE_OK; everything after it does nothing
    sqlite3_int64 id;
    const struct weft_run *run;
    sqlite3_stmt *config;
    const char *draft;
};

static void execute(struct writer *w, const char *sql) {
    if (w->status == SQLITE_OK) w->status = sqlite3_exec(w->db, sql, NULL, NULL, NULL);
}

static sqlite3_stmt *prepare(struct writer *w, const char *sql) {
    sqlite3_stmt *statement = NULL;
    if (w->status == SQLITE_OK) w->status = sqlite3_prepare_v2(w->db, sql, -1, &statement, NULL);
    return statement;
}

/// Inserts one row: the run's id, then a value a letter: i uint64_t (the largest, "never", is NULL), r double (NAN is
/// NULL), t text (NULL is NULL).
static void insert(struct writer *w, sqlite3_stmt *statement, const char *types, ...) {
    if (w->status != SQLITE_OK) return;
    va_list args;
    va_start(args, types);
    int status = sqlite3_bind_int64(statement, 1, w->id);
    for (int k = 2; *types && status == SQLITE_OK; types++, k++) {
        if (*types == 'i') {
            uint64_t value = va_arg(args, uint64_t);
            status = value == UINT64_MAX ? sqlite3_bind_null(statement, k)
                                         : sqlite3_bind_int64(statement, k, (sqlite3_int64)value);
        } else if (*types == 'r') {
            status = sqlite3_bind_double(statement, k, va_arg(args, double));
        } else {
            status = sqlite3_bind_text(statement, k, va_arg(args, const char *), -1, SQLITE_STATIC);
        }
    }
    va_end(args);
    if (status == SQLITE_OK) {
        sqlite3_step(statement);
        status = sqlite3_reset(statement);
    }
    w->status = status;
}

static void write_head(struct writer *w) {
    const struct weft_run *run = w->run;
    const struct weft_outcome *o = run->outcome;
    char digest[17];
    snprintf(digest, sizeof digest, "%016" PRIx64, o->digest);
    sqlite3_stmt *s = prepare(w, "INSERT INTO run VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    insert(w, s,
           "tttiittt"
           "iiii"
           "rr"
           "iiiii"
           "iiiii"
           "ii",
           WEFT_VERSION, run->scenario->name, run->scenario->variant, run->scenario->run.seed, (uint64_t)o->threads,
           digest, weft__report_end_name(o->end), o->stall, (uint64_t)run->topology->hosts,
           (uint64_t)run->topology->switches, (uint64_t)run->topology->links, o->sim_time_ps, o->wall_s, o->cpu_s,
           o->packet_hops, o->events, o->windows, o->window_ps, o->peak_rss_bytes, o->injected_bytes,
           o->delivered_bytes, o->dropped_bytes, o->held_bytes, o->cnps, o->unrecorded,
           o->unrecorded ? o->unrecorded_ps : UINT64_MAX);
    sqlite3_finalize(s);
}

static void write_config_value(void *context, const char *path, const char *value) {
    struct writer *w = context;
    insert(w, w->config, "tt", path, value);
}

static void write_config(struct writer *w) {
    w->config = prepare(w, "INSERT INTO config VALUES (?,?,?)");
    weft_scenario_each(w->run->scenario, write_config_value, w);
    sqlite3_finalize(w->config);
}

static void write_groups(struct writer *w) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    const struct weft_group_stats *group = weft_report_groups(w->run, arena);
    sqlite3_stmt *s = prepare(w, "INSERT INTO groups VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    for (uint32_t g = 0; g < w->run->workload->groups; g++) {
        const struct weft_quantiles *f = &group[g].fct_ps, *d = &group[g].slowdown;
        insert(w, s, "tiiiiiirrrrrrrrrrii", group[g].name, (uint64_t)group[g].count, (uint64_t)group[g].finished,
               group[g].bytes, group[g].delivered_bytes, group[g].delivered_bytes_min, group[g].delivered_bytes_max,
               f->mean, f->p50, f->p95, f->p99, f->max, d->mean, d->p50, d->p95, d->p99, d->max, group[g].out_of_order,
               group[g].out_of_order_placed);
    }
    sqlite3_finalize(s);
    weft_arena_free(arena);
}

static const char *host_name(const struct weft_topology *t, uint32_t host) {
    return t->node[t->host[host]].name;
}

static void write_flows(struct writer *w) {
    const struct weft_workload *load = w->run->workload;
    const struct weft_topology *t = w->run->topology;
    sqlite3_stmt *s = prepare(w, "INSERT INTO flows VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    for (uint32_t i = 0; i < load->flows; i++) {
        const struct weft_flow *f = &load->flow[i];
        if (f->rma) continue; // a connection
        const struct weft_flow_outcome *o = &w->run->outcome->flow[i];
        uint64_t fct = o->end_ps == WEFT_TIME_NEVER ? WEFT_TIME_NEVER : o->end_ps - f->start_ps;
        double slowdown = fct == WEFT_TIME_NEVER || !o->ideal_ps ? NAN : (double)fct / (double)o->ideal_ps;
        insert(w, s,
               "itiitt"
               "iiit"
               "iiiii"
               "riiiii"
               "ii",
               (uint64_t)i, load->group[f->group], (uint64_t)f->src, (uint64_t)f->dst, host_name(t, f->src),
               host_name(t, f->dst), f->bytes, (uint64_t)f->qps, (uint64_t)f->priority, weft_verb_names[f->verb],
               f->start_ps, o->end_ps, fct, o->acked_ps, o->ideal_ps, slowdown, o->delivered_bytes, o->cnps,
               o->packets_again, o->sfc_messages, o->sfc_paused_ps, o->out_of_order, o->out_of_order_placed);
    }
    sqlite3_finalize(s);
}

static void write_ports(struct writer *w) {
    const struct weft_topology *t = w->run->topology;
    sqlite3_stmt *s = prepare(w, "INSERT INTO ports VALUES (?,?,?,?,?,?,?,?)");
    for (uint32_t p = 0; p < t->ports; p++) {
        char name[256];
        weft_topology_port_name(t, p, name, sizeof name);
        const struct weft_link_info *link = &t->link[t->port[p].link];
        insert(w, s, "itttiii", (uint64_t)p, name, t->node[t->port[p].node].name,
               t->node[t->port[t->port[p].peer].node].name, (uint64_t)t->port[p].peer, link->rate_bps, link->delay_ps);
    }
    sqlite3_finalize(s);
}

static void write_counters(struct writer *w) {
    const struct weft_outcome *o = w->run->outcome;
#define X(field, type, sai, help) ",?"
    sqlite3_stmt *s = prepare(w, "INSERT INTO counters VALUES (?,?,?" WEFT_PRIORITY_COUNTERS(X) ")");
#undef X
    static const struct weft_counters zero;
    for (uint32_t p = 0; p < o->ports; p++)
        for (unsigned priority = 0; priority < WEFT_PRIORITIES; priority++) {
            const struct weft_counters *c = &o->port[(size_t)p * WEFT_PRIORITIES + priority];
            if (!memcmp(c, &zero, sizeof zero)) continue;
            char types[WEFT_COUNTERS + 3];
            memset(types, 'i', sizeof types - 1);
            types[sizeof types - 1] = 0;
#define X(field, type, sai, help) , c->field
            insert(w, s, types, (uint64_t)p, (uint64_t)priority WEFT_PRIORITY_COUNTERS(X));
#undef X
        }
    sqlite3_finalize(s);
}

static void write_drops(struct writer *w) {
    const struct weft_outcome *o = w->run->outcome;
    sqlite3_stmt *s = prepare(w, "INSERT INTO drops VALUES (?,?,?,?)");
    for (unsigned d = 0; d < WEFT_DROPS; d++)
        insert(w, s, "tii", weft_drop_names[d], o->drops[d], o->drop_bytes[d]);
    sqlite3_finalize(s);
}

static void write_series(struct writer *w) {
    const struct weft_outcome *o = w->run->outcome;
    sqlite3_stmt *s = prepare(w, "INSERT INTO series VALUES (?,?,?,?,?,?,?,?)");
    for (uint64_t i = 0; i < o->samples; i++) {
        const struct weft_sample *x = &o->sample[i];
        insert(w, s, "iiiiiii", x->time_ps, (uint64_t)x->port, (uint64_t)x->priority, x->queue_bytes, x->ingress_bytes,
               x->tx_bytes, (uint64_t)x->paused);
    }
    sqlite3_finalize(s);
}

static uint64_t or_null(uint64_t value, uint64_t null) {
    return value == null ? UINT64_MAX : value;
}

static void write_events(struct writer *w) {
    const struct weft_outcome *o = w->run->outcome;
    sqlite3_stmt *s = prepare(w, "INSERT INTO events VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)");
    for (uint32_t i = 0; i < o->recorded; i++) {
        const struct weft_event *e = &o->record[i];
        const struct weft_event_info *info = &weft_event_infos[e->kind];
        char detail[8];
        insert(w, s, "iitiiiiiitii", (uint64_t)i + 1, e->time_ps, info->name, (uint64_t)e->port,
               or_null(e->priority, WEFT_EVENT_NO_PRIORITY), or_null(e->flow, WEFT_NONE), or_null(e->qp, WEFT_NONE),
               e->value,
               *info->more ? or_null(e->more, e->kind == WEFT_EVENT_XOFF ? WEFT_NONE : UINT64_MAX) : UINT64_MAX,
               weft__event_detail_text(e, detail, sizeof detail), or_null(e->cause, 0), or_null(e->begins, 0));
    }
    sqlite3_finalize(s);
}

static void write_pauses(struct writer *w) {
    const struct weft_outcome *o = w->run->outcome;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    uint32_t n;
    const struct weft_pause *pause = weft_pauses_list(o->record, o->recorded, o->ports, arena, &n);
    sqlite3_stmt *s = prepare(w, "INSERT INTO pauses VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)");
    for (uint32_t i = 0; i < n; i++) {
        const struct weft_pause *p = &pause[i];
        const struct weft_event *e = &o->record[p->event - 1];
        insert(w, s, "iiiiiiiiiiii", (uint64_t)p->event, (uint64_t)e->port, (uint64_t)e->priority, e->time_ps,
               p->resumed ? o->record[p->resumed - 1].time_ps : UINT64_MAX, or_null(p->by, WEFT_NONE),
               or_null(p->xoff, 0), p->xoff ? o->record[p->xoff - 1].value : UINT64_MAX, (uint64_t)p->frames,
               p->parent == WEFT_NONE ? UINT64_MAX : (uint64_t)pause[p->parent].event, (uint64_t)p->depth,
               or_null(p->root, 0));
    }
    sqlite3_finalize(s);
    weft_arena_free(arena);
}

/// "3,4" of a set of priorities.
static const char *list_priorities(uint8_t priorities, char text[2 * WEFT_PRIORITIES + 1]) {
    size_t n = 0;
    for (unsigned p = 0; p < WEFT_PRIORITIES; p++) {
        if (!(priorities >> p & 1)) continue;
        if (n) text[n++] = ',';
        text[n++] = (char)('0' + p);
    }
    text[n] = 0;
    return text;
}

static void write_dcbx(struct writer *w) {
    const struct weft_topology *t = w->run->topology;
    sqlite3_stmt *s = prepare(w, "INSERT INTO dcbx VALUES (?,?,?,?,?,?,?,?,?)");
    sqlite3_stmt *differences = prepare(w, "INSERT INTO dcbx_differences VALUES (?,?,?,?,?)");
    for (uint32_t i = 0; w->run->outcome->links && i < t->links; i++) {
        const struct weft_link_dcbx *l = &w->run->outcome->links[i];
        char configured[2 * WEFT_PRIORITIES + 1], in_force[sizeof configured], lossless[sizeof configured];
        list_priorities(l->lossless, lossless);
        for (unsigned k = 0; k < 2; k++)
            insert(w, s, "iiitttii", (uint64_t)t->link[i].port[k], (uint64_t)l->speaks[k], (uint64_t)l->hears[k],
                   list_priorities(l->configured[k], configured), list_priorities(l->in_force[k], in_force), lossless,
                   l->sent[k], l->received[k]);
        for (uint32_t n = 0; n < l->notes; n++)
            insert(w, differences, "ittt", (uint64_t)l->note[n].port,
                   list_priorities(l->note[n].priorities, configured), l->note[n].found, l->note[n].consequence);
    }
    sqlite3_finalize(s);
    sqlite3_finalize(differences);
}

static void write_memory(struct writer *w) {
    sqlite3_stmt *s = prepare(w, "INSERT INTO memory VALUES (?,?,?)");
    for (unsigned k = 0; k < WEFT_MEMORY_KINDS; k++)
        insert(w, s, "ti", weft_memory_name(k), w->run->memory_bytes_max[k]);
    sqlite3_finalize(s);
}

static void write_meanings(struct writer *w) {
    for (unsigned k = 0; k < WEFT_EVENT_KINDS && w->status == SQLITE_OK; k++) {
        const struct weft_event_info *i = &weft_event_infos[k];
        char *sql =
            sqlite3_mprintf("INSERT INTO event_meaning VALUES (%Q,%Q,%Q,%Q)", i->name, i->value, i->more, i->help);
        execute(w, sql);
        sqlite3_free(sql);
    }
    for (unsigned c = 0; c < WEFT_COUNTERS && w->status == SQLITE_OK; c++) {
        const struct weft_counter_info *i = &weft_counter_infos[c];
        char *sql = sqlite3_mprintf("INSERT INTO counter_meaning VALUES (%Q,%Q,%Q)", i->field, i->sai, i->help);
        execute(w, sql);
        sqlite3_free(sql);
    }
}

static void write_balance(struct writer *w) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    uint32_t n;
    const struct weft_balance *b = weft_report_balance(w->run, arena, &n);
    sqlite3_stmt *s = prepare(w, "INSERT INTO balance VALUES (?,?,?,?,?,?,?,?,?,?,?)");
    for (uint32_t i = 0; i < n; i++)
        insert(w, s, "tttiiirrrr", b[i].from, b[i].to, weft_balance_directions[b[i].direction], (uint64_t)b[i].links,
               (uint64_t)b[i].idle, b[i].bytes, b[i].max_mean, b[i].min_mean, b[i].switch_max_mean, b[i].jain);
    sqlite3_finalize(s);
    weft_arena_free(arena);
}

/// A row a bucket that is not empty.
static void write_distribution(struct writer *w, sqlite3_stmt *s, const char *name, const struct weft_histogram *h) {
    uint64_t before = 0;
    for (uint32_t i = 0; i < WEFT_HISTOGRAM_BUCKETS; i++) {
        if (!h->bucket[i]) continue;
        before += h->bucket[i];
        insert(w, s, "tiiir", name, weft_histogram_value(i), weft_histogram_value(i + 1), h->bucket[i],
               (double)before / (double)h->n);
    }
}

static void write_dsf(struct writer *w) {
    const struct weft_dsf_outcome *d = w->run->outcome->dsf;
    if (!d) return;
    sqlite3_stmt *s = prepare(w, "INSERT INTO dsf VALUES (?,?,?,?)");
#define X(field, type, help) insert(w, s, "tit", #field, d->field, help);
    WEFT_DSF_COUNTERS(X)
    WEFT_DSF_WATERMARKS(X)
#undef X
    sqlite3_finalize(s);
    s = prepare(w, "INSERT INTO distributions VALUES (?,?,?,?,?,?)");
#define X(field, type, unit, help) write_distribution(w, s, #field, &d->seen->field);
    WEFT_DSF_HISTOGRAMS(X)
#undef X
    sqlite3_finalize(s);
}

static void write_aquila(struct writer *w) {
    const struct weft_tin_outcome *d = w->run->outcome->tin;
    uint64_t cells = 0, before = 0;
    uint32_t type = 0;
    if (!d) return;
    sqlite3_stmt *s = prepare(w, "INSERT INTO aquila VALUES (?,?,?,?)");
#define X(field, type, help) insert(w, s, "tit", #field, d->field, help);
    WEFT_TIN_COUNTERS(X)
    WEFT_TIN_WATERMARKS(X)
#undef X
#define X(name, help) insert(w, s, "tit", "cells_" #name, d->cells[type++], help);
    WEFT_TIN_CELLS(X)
#undef X
    sqlite3_finalize(s);
    s = prepare(w, "INSERT INTO distributions VALUES (?,?,?,?,?,?)");
#define X(field, type, unit, help) write_distribution(w, s, #field, &d->seen->field);
    WEFT_TIN_HISTOGRAMS(X)
#undef X
    for (uint32_t h = 0; h < WEFT_TIN_HOPS; h++)
        cells += d->hops[h];
    for (uint64_t h = 0; h < WEFT_TIN_HOPS; h++) {
        if (!d->hops[h]) continue;
        before += d->hops[h];
        insert(w, s, "tiiir", "hops", h, h + 1, d->hops[h], (double)before / (double)cells);
    }
    const struct weft_gnet_depths *depths = w->run->outcome->gnet_depths;
    for (uint32_t vc = 0; depths && vc < WEFT_GNET_VCS; vc++) {
        char name[32];
        if (!depths->output[vc].max && !depths->fifo[vc].max) continue;
        snprintf(name, sizeof name, "vc_%02u_output_bytes", vc);
        write_distribution(w, s, name, &depths->output[vc]);
        snprintf(name, sizeof name, "vc_%02u_fifo_bytes", vc);
        write_distribution(w, s, name, &depths->fifo[vc]);
    }
    sqlite3_finalize(s);
}

/// Each TiN, and each port with a GNet link.
static void write_tins(struct writer *w) {
    const struct weft_outcome *o = w->run->outcome;
    const struct weft_topology *t = w->run->topology;
#define X(field, type, help) ",?"
    sqlite3_stmt *s = prepare(w, "INSERT INTO tins VALUES (?,?,?" WEFT_TIN_COUNTERS(X) WEFT_TIN_WATERMARKS(X) ")");
#undef X
    for (uint32_t i = 0; i < o->tins; i++) {
        const struct weft_tin_outcome *c = &o->tin_part[i].counts;
        const struct weft_node_info *node = &t->node[o->tin_part[i].node];
#define X(field, type, help) "i"
        static const char types[] = "ti" WEFT_TIN_COUNTERS(X) WEFT_TIN_WATERMARKS(X);
#undef X
#define X(field, type, help) , c->field
        insert(w, s, types, node->name, (uint64_t)node->cluster WEFT_TIN_COUNTERS(X) WEFT_TIN_WATERMARKS(X));
#undef X
    }
    sqlite3_finalize(s);
#define X(field, type, help) ",?"
    s = prepare(w, "INSERT INTO gnet_ports VALUES (?,?,?" WEFT_GNET_PORT_COUNTERS(X) ")");
#undef X
    for (uint32_t i = 0; i < o->gnet_ports; i++) {
        const struct weft_gnet_port *p = &o->gnet_port[i];
#define X(field, type, help) "i"
        static const char types[] = "it" WEFT_GNET_PORT_COUNTERS(X);
#undef X
#define X(field, type, help) , p->field
        insert(w, s, types, (uint64_t)p->port, p->global ? "global" : "local" WEFT_GNET_PORT_COUNTERS(X));
#undef X
    }
    sqlite3_finalize(s);
}

/// The name of a TiN's port; NULL: an endpoint.
static const char *port_of(const struct weft_topology *t, uint32_t node, uint32_t port, char *name, size_t size) {
    if (port == WEFT_CELL_ENDPOINT) return NULL;
    weft_topology_port_name(t, t->node[node].port0 + port, name, size);
    return name;
}

static void write_cell_hops(struct writer *w, sqlite3_stmt *s, uint64_t cell, const struct weft_cell_path *path) {
    const struct weft_topology *t = w->run->topology;
    for (uint32_t k = 0; k < path->hops; k++) {
        const struct weft_cell_hop *h = &w->run->outcome->cells->hop[path->hop0 + k];
        char in[256], out[256];
        insert(w, s, "iittiitiit", cell, (uint64_t)k, t->node[h->node].name,
               port_of(t, h->node, h->port_in, in, sizeof in), (uint64_t)h->vc_in, h->in_ps,
               port_of(t, h->node, h->port_out, out, sizeof out), (uint64_t)h->vc_out, h->out_ps,
               weft_cell_way_names[h->way]);
    }
}

static void write_cells(struct writer *w) {
    static const char *const types[] = {
#define X(name, help) #name,
        WEFT_TIN_CELLS(X)
#undef X
    };
    const struct weft_topology *t = w->run->topology;
    const struct weft_cell_paths *p = w->run->outcome->cells;
    if (!p) return;
    sqlite3_stmt *paths = prepare(w, "INSERT INTO cell_traces VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)");
    sqlite3_stmt *hops = prepare(w, "INSERT INTO cell_hops VALUES (?,?,?,?,?,?,?,?,?,?,?)");
    for (uint64_t i = 0; i < p->cells; i++) {
        const struct weft_cell_path *path = &p->path[i];
        const struct weft_cell_hop *first = &p->hop[path->hop0], *last = &first[path->hops - 1];
        insert(w, paths, "itittiiititt", i, types[first->type], (uint64_t)first->wire, t->node[first->node].name,
               t->node[path->to].name, or_null(first->qp, WEFT_NONE), first->in_ps, last->out_ps,
               weft_cell_end_names[path->end], (uint64_t)path->hops - 1,
               path->end == WEFT_CELL_END_LOST ? weft_drop_names[path->drop] : NULL,
               path->suspect == WEFT_NONE ? NULL : t->node[path->suspect].name);
        write_cell_hops(w, hops, i, path);
    }
    sqlite3_finalize(paths);
    sqlite3_finalize(hops);
}

static void write_pfc_layers(struct writer *w) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    uint32_t n;
    const struct weft_pfc_layers *l = weft_report_pfc_layers(w->run, arena, &n);
    sqlite3_stmt *s = prepare(w, "INSERT INTO pfc_layers VALUES (?,?,?,?,?,?,?,?)");
    for (uint32_t i = 0; i < n; i++)
        insert(w, s, "ttiiiii", l[i].from, l[i].to, (uint64_t)l[i].ports, (uint64_t)l[i].paused_ports, l[i].frames,
               l[i].paused_ps, l[i].paused_max_ps);
    sqlite3_finalize(s);
    weft_arena_free(arena);
}

/// A duration of two times; NULL unless both have come.
static uint64_t between(weft_time_ps start, weft_time_ps end) {
    return start == WEFT_TIME_NEVER || end == WEFT_TIME_NEVER ? WEFT_TIME_NEVER : end - start;
}

static void write_collectives(struct writer *w, sqlite3_stmt *s, uint32_t job) {
    const struct weft_job *j = &w->run->workload->job[job];
    const struct weft_job_outcome *o = &w->run->outcome->job[job];
    for (size_t i = 0; i < (size_t)j->iterations * j->ops; i++) {
        const struct weft_job_op *op = &j->op[i % j->ops];
        if (!op->name) continue;
        uint64_t time = between(o->op[i].start_ps, o->op[i].end_ps);
        double algbw = time && time != WEFT_TIME_NEVER ? (double)op->shape.bytes * 1e3 / (double)time : NAN;
        insert(w, s, "iiitiiiiirri", (uint64_t)job, i / j->ops, i % j->ops, op->name, (uint64_t)op->shape.ranks,
               op->shape.bytes, o->op[i].start_ps, o->op[i].end_ps, time, algbw,
               algbw * weft_calc_bus_factor(op->ops->goal, op->shape.ranks),
               time == WEFT_TIME_NEVER ? WEFT_TIME_NEVER : o->op[i].exposed_ps);
    }
}

/// A time of messages; NULL if there were none.
static uint64_t wait_of(const struct weft_wait_outcome *w, weft_time_ps time) {
    return w->messages ? time : WEFT_TIME_NEVER;
}

static void write_admission(struct writer *w) {
    sqlite3_stmt *s = prepare(w, "INSERT INTO admission VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    for (uint32_t k = 0; k < w->run->workload->jobs; k++) {
        const struct weft_job_outcome *o = &w->run->outcome->job[k];
        const struct weft_wait_outcome *c = &o->cts_wait, *m = &o->sender_wait;
        insert(w, s,
               "iiiiiii"
               "iiiiii"
               "iii",
               (uint64_t)k, c->messages, wait_of(c, c->mean_ps), wait_of(c, c->p50_ps), wait_of(c, c->p90_ps),
               wait_of(c, c->p99_ps), wait_of(c, c->max_ps), m->messages, wait_of(m, m->mean_ps), wait_of(m, m->p50_ps),
               wait_of(m, m->p90_ps), wait_of(m, m->p99_ps), wait_of(m, m->max_ps), o->in_flight_bytes_max,
               o->in_flight_bytes_bound, o->incoming_bytes_bound);
    }
    sqlite3_finalize(s);
}

static void write_round_trips(struct writer *w) {
    sqlite3_stmt *s = prepare(w, "INSERT INTO round_trips VALUES (?,?,?,?,?,?,?,?)");
    for (uint32_t p = 0; w->run->outcome->round_trip && p < WEFT_PRIORITIES; p++) {
        const struct weft_wait_outcome *t = &w->run->outcome->round_trip[p];
        if (t->messages)
            insert(w, s, "iiiiiii", (uint64_t)p, t->messages, t->mean_ps, t->p50_ps, t->p90_ps, t->p99_ps, t->max_ps);
    }
    sqlite3_finalize(s);
}

static void write_rma(struct writer *w) {
    const struct weft_workload *load = w->run->workload;
    sqlite3_stmt *s = prepare(w, "INSERT INTO rma VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    for (uint32_t e = 0; e < load->rmas; e++) {
        const struct weft_rma_outcome *o = &w->run->outcome->rma[e];
        const struct weft_rma_times *a = &o->latency, *b = &o->execution;
        insert(w, s,
               "tiir"
               "iiiiiii"
               "iiiiii"
               "iiiiii",
               load->group[load->rma[e].group], (uint64_t)load->rma[e].clients, (uint64_t)load->rma[e].servers,
               weft__report_rma_throughput(w->run, e), o->issued, o->completed, o->bytes, o->requests,
               o->dispatch_timeouts, o->timeouts, o->retries, a->mean_ps, a->p50_ps, a->p95_ps, a->p99_ps, a->p999_ps,
               a->max_ps, b->mean_ps, b->p50_ps, b->p95_ps, b->p99_ps, b->p999_ps, b->max_ps);
    }
    sqlite3_finalize(s);
}

static void write_jobs(struct writer *w) {
    sqlite3_stmt *jobs = prepare(w, "INSERT INTO jobs VALUES (?,?,?,?,?,?,?,?,?,?)");
    sqlite3_stmt *iterations = prepare(w, "INSERT INTO iterations VALUES (?,?,?,?,?,?,?)");
    sqlite3_stmt *collectives = prepare(w, "INSERT INTO collectives VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)");
    for (uint32_t k = 0; k < w->run->workload->jobs; k++) {
        const struct weft_job *job = &w->run->workload->job[k];
        const struct weft_job_outcome *o = &w->run->outcome->job[k];
        struct weft_job_stats stats = weft_report_job(w->run, k);
        insert(w, jobs, "itiiiirrr", (uint64_t)k, stats.name, (uint64_t)job->ranks, (uint64_t)job->iterations,
               (uint64_t)stats.finished, job->start_ps, stats.iteration_ps, stats.iteration_max_ps, stats.exposed_ps);
        weft_time_ps before = job->start_ps;
        for (uint32_t i = 0; i < job->iterations; i++) {
            weft_time_ps end = o->iteration_end_ps[i];
            insert(w, iterations, "iiiiii", (uint64_t)k, (uint64_t)i, before, end, between(before, end),
                   end == WEFT_TIME_NEVER ? WEFT_TIME_NEVER : o->iteration_exposed_ps[i]);
            before = end;
        }
        write_collectives(w, collectives, k);
    }
    sqlite3_finalize(jobs);
    sqlite3_finalize(iterations);
    sqlite3_finalize(collectives);
}

static void write_port_flows(struct writer *w) {
    const struct weft_outcome *o = w->run->outcome;
    const struct weft_topology *t = w->run->topology;
    sqlite3_stmt *s = prepare(w, "INSERT INTO port_flows VALUES (?,?,?)");
    for (uint32_t i = 0; o->port_flows && i < o->ports; i++)
        if (t->node[t->port[i].node].role == WEFT_NODE_SWITCH &&
            t->node[t->port[t->port[i].peer].node].role == WEFT_NODE_SWITCH)
            insert(w, s, "ii", (uint64_t)i, (uint64_t)o->port_flows[i]);
    sqlite3_finalize(s);
}

static void write_collisions(struct writer *w) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    uint32_t n = 0;
    const struct weft_collisions *c =
        w->run->scenario->run.count_flows ? weft_report_collisions(w->run, arena, &n) : NULL;
    sqlite3_stmt *pairs = prepare(w, "INSERT INTO collisions VALUES (?,?,?,?,?,?,?,?,?,?,?,?)");
    sqlite3_stmt *links = prepare(w, "INSERT INTO collision_links VALUES (?,?,?,?,?,?)");
    for (uint32_t i = 0; i < n; i++) {
        const char *direction = weft_balance_directions[c[i].direction];
        insert(w, pairs, "tttiiiiirii", c[i].from, c[i].to, direction, (uint64_t)c[i].switches, (uint64_t)c[i].clear,
               (uint64_t)c[i].links, c[i].flows, (uint64_t)c[i].most, c[i].switch_most, (uint64_t)c[i].shared,
               (uint64_t)c[i].empty);
        for (uint32_t k = 0; k <= c[i].most; k++)
            if (c[i].with[k])
                insert(w, links, "tttii", c[i].from, c[i].to, direction, (uint64_t)k, (uint64_t)c[i].with[k]);
    }
    sqlite3_finalize(pairs);
    sqlite3_finalize(links);
    weft_arena_free(arena);
}

static void write_load(struct writer *w) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    bool counted = w->run->outcome->port_flows;
    uint32_t n;
    const struct weft_load *l = weft_report_load(w->run, arena, &n);
    sqlite3_stmt *s = prepare(w, "INSERT INTO load VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < l[i].intervals; k++) {
            const struct weft_load_interval *x = &l[i].interval[k];
            insert(w, s, "tttiiirrrrrrriii", l[i].from, l[i].to, weft_balance_directions[l[i].direction], x->from_ps,
                   x->until_ps, (uint64_t)l[i].links, x->min, x->p10, x->p50, x->p90, x->max, x->mean, x->max_mean,
                   counted ? (uint64_t)x->flows_max : UINT64_MAX, counted ? (uint64_t)x->shared : UINT64_MAX,
                   counted ? (uint64_t)x->unused : UINT64_MAX);
        }
    sqlite3_finalize(s);
    weft_arena_free(arena);
}

static void write_te(struct writer *w) {
    const struct weft_te_outcome *te = w->run->outcome->te;
    sqlite3_stmt *s = prepare(w, "INSERT INTO te VALUES (?,?,?,?,?,?,?,?,?,?)");
    for (uint32_t i = 0; te && i < te->rounds; i++) {
        const struct weft_te_round *r = &te->round[i];
        insert(w, s, "iiiiiiiir", (uint64_t)i, r->measured_ps, r->computed_ps, r->in_force_ps, (uint64_t)r->demands,
               (uint64_t)r->beyond, (uint64_t)r->unreachable, (uint64_t)r->entries, r->utilisation_max);
    }
    sqlite3_finalize(s);
}

static void write_all(struct writer *w, const struct weft_run *run, uint32_t runs) {
    execute(w, "PRAGMA journal_mode=OFF"); // nothing to roll back to: the file is new
    execute(w, "BEGIN");
    execute(w, weft__sqlite_schema);
    write_meanings(w);
    for (uint32_t r = 0; r < runs; r++) {
        w->id = r + 1;
        w->run = &run[r];
        write_head(w);
        write_config(w);
        write_groups(w);
        write_flows(w);
        write_jobs(w);
        write_rma(w);
        write_round_trips(w);
        write_admission(w);
        write_ports(w);
        write_counters(w);
        write_drops(w);
        write_balance(w);
        write_port_flows(w);
        write_collisions(w);
        write_load(w);
        write_pfc_layers(w);
        write_te(w);
        write_dsf(w);
        write_aquila(w);
        write_tins(w);
        write_cells(w);
        write_series(w);
        write_events(w);
        write_pauses(w);
        write_dcbx(w);
        write_memory(w);
    }
    execute(w, "COMMIT");
}

static void drop_draft(void *context) {
    struct writer *w = context;
    weft__database_drop(w->db);
    unlink(w->draft);
}

enum weft_status weft_report_sqlite(const char *dir, const struct weft_run *run, uint32_t runs,
                                    struct weft_error *ret_error) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    enum weft_status status = weft_report_folder(dir, ret_error);
    if (!status) {
        const char *path = weft_arena_format(arena, "%s/results.sqlite", dir);
        const char *draft = weft_arena_format(arena, "%s.%ld.tmp", path, (long)getpid());
        unlink(draft);
        struct writer w = {.draft = draft};
        struct weft_memory_cleanup cleanup;
        weft_memory_cleanup_add(&cleanup, drop_draft, &w);
        w.status = sqlite3_open(draft, &w.db);
        write_all(&w, run, runs);
        if (w.status == SQLITE_NOMEM) weft_memory_fail();
        weft_memory_cleanup_remove(&cleanup);
        if (w.status != SQLITE_OK)
            status = weft_error_set(ret_error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE, "cannot write '%s': %s", path,
                                    sqlite3_errstr(w.status));
        if (sqlite3_close(w.db) != SQLITE_OK && !status)
            status = weft_error_set(ret_error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE, "cannot close '%s'", path);
        if (!status && rename(draft, path))
            status = weft_error_set(ret_error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE, "cannot write '%s': %s", path,
                                    strerror(errno));
        if (status) unlink(draft);
    }
    weft_arena_free(arena);
    return status;
}
