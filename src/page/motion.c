// SPDX-License-Identifier: Apache-2.0
// A run's samples as the page moves them: how busy, how full and how paused links were in equal steps of time. Nodes in
// use are drawn one by one where a layer has few of them, else neighbours are folded into one; a line is every link
// from one to another. A value is one character of base64, of 64 levels; what a whole level is stands beside.
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/order.h"
#include "base/stream.h"
#include "page/page.h"

enum { FRAMES_MAX = 96, PORTS_MAX = 320, LINES_MAX = 1200, SHOWN_MAX = 32, LEVELS = 64 };
static const char levels[LEVELS + 1] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
enum what { USED, QUEUE, PAUSED, CREDIT, WHATS };
static const char *const what_names[WHATS] = {"used", "queue", "paused", "credit"};

struct frame {
    double tx_bytes, queue_bytes; ///< queue: the greatest of the priorities together
    uint32_t paused, samples;     ///< of a port and priority
    uint32_t credit_permille;     ///< the greatest
};
/// What is drawn as one: a node, or neighbours of a layer.
struct spot {
    uint32_t first, last, nodes;
};
/// Links from one spot to another.
struct line {
    uint32_t from, to, port, port0, ports; ///< port: the one that did most; port0: in m->wire
    double weight;                         ///< how much they did
};
struct wire {
    uint32_t from, to, port;
};

struct motion {
    const struct weft_run *run;
    const struct weft_topology *topology;
    weft_time_ps every_ps; ///< a frame
    weft_time_ps from_ps;  ///< the first one begins
    uint32_t frames, ports, spots, lines, wires;
    struct frame *frame; ///< [ports][frames]
    double *weight;      ///< [ports] how much it did
    uint32_t *spot_of;   ///< [nodes] WEFT_NONE: not in use
    uint32_t *line_of;   ///< [ports] WEFT_NONE: not drawn
    struct spot *spot;
    struct line *line; ///< those that did most first
    struct wire *wire; ///< by line
    double queue_max;
    bool credits; ///< some link has credit in use
};

static struct frame *frames_of(const struct motion *m, uint32_t port) {
    return &m->frame[(size_t)port * m->frames];
}

static void take_samples(struct motion *m) {
    const struct weft_outcome *o = m->run->outcome;
    double queue = 0;
    for (uint64_t i = 0; i < o->samples; i++) {
        const struct weft_sample *s = &o->sample[i];
        uint64_t at =
            s->time_ps > m->from_ps ? (s->time_ps - m->from_ps - 1) / m->every_ps : 0; // it closes an interval
        if (at >= m->frames) at = m->frames - 1;
        struct frame *f = frames_of(m, s->port) + at;
        bool same = i && s[-1].port == s->port && s[-1].time_ps == s->time_ps;
        queue = (same ? queue : 0) + (double)s->queue_bytes;
        if (queue > f->queue_bytes) f->queue_bytes = queue;
        f->tx_bytes += (double)s->tx_bytes;
        f->paused += s->paused;
        f->samples++;
        if (s->credit_permille > f->credit_permille) f->credit_permille = s->credit_permille;
        m->credits |= s->credit_permille > 0;
    }
}

/// Its frames are the film's steps, each of what was until then.
static void take_film(struct motion *m, const struct weft_film *film) {
    for (uint32_t p = 0; p < m->ports; p++) {
        const struct weft_film_step *step = &film->step[(size_t)p * film->most];
        for (uint32_t k = 1; k < film->steps; k++) {
            struct frame *f = frames_of(m, p) + k - 1;
            f->tx_bytes = step[k].tx_bytes > step[k - 1].tx_bytes // what a lane has sent is rounded
                              ? (double)(step[k].tx_bytes - step[k - 1].tx_bytes)
                              : 0;
            f->queue_bytes = step[k].queue_bytes;
            f->paused = step[k].paused > 0;
            f->samples = 1;
            f->credit_permille = step[k].credit_permille;
            m->credits |= f->credit_permille > 0;
        }
    }
}

static void weigh_ports(struct motion *m) {
    for (uint32_t p = 0; p < m->ports; p++)
        for (uint32_t k = 0; k < m->frames; k++) {
            const struct frame *f = frames_of(m, p) + k;
            m->weight[p] += f->tx_bytes + f->queue_bytes + (f->paused ? 1e9 : 0);
            if (f->queue_bytes > m->queue_max) m->queue_max = f->queue_bytes;
        }
}

// --- what is drawn ------------------------------------------------------------------------------------------------

static bool same_layer(const struct weft_node_info *a, const struct weft_node_info *b) {
    return a->tier == b->tier && !strcmp(a->layer, b->layer);
}

/// Nodes of the layer of `first` that are in use, in their order; at most SHOWN_MAX spots.
static void fold_layer(struct motion *m, const bool *used, uint32_t first) {
    const struct weft_topology *t = m->topology;
    uint32_t nodes = 0, at = 0, spot0 = m->spots;
    for (uint32_t n = first; n < t->nodes; n++)
        nodes += used[n] && same_layer(&t->node[first], &t->node[n]);
    uint32_t spots = nodes < SHOWN_MAX ? nodes : SHOWN_MAX;
    for (uint32_t n = first; n < t->nodes; n++) {
        if (!used[n] || !same_layer(&t->node[first], &t->node[n])) continue;
        uint32_t spot = spot0 + (uint32_t)((uint64_t)at++ * spots / nodes);
        if (!m->spot[spot].nodes++) m->spot[spot].first = n;
        m->spot[spot].last = n;
        m->spot_of[n] = spot;
    }
    m->spots += spots;
}

static void fold_nodes(struct motion *m, struct weft_arena *arena) {
    const struct weft_topology *t = m->topology;
    bool *used = weft_arena_alloc(arena, t->nodes, sizeof *used);
    for (uint32_t p = 0; p < m->ports; p++)
        if (m->weight[p] > 0) used[t->port[p].node] = used[t->port[t->port[p].peer].node] = true;
    m->spot = weft_arena_alloc(arena, t->nodes, sizeof *m->spot);
    m->spot_of = weft_arena_alloc(arena, t->nodes, sizeof *m->spot_of);
    for (uint32_t n = 0; n < t->nodes; n++)
        m->spot_of[n] = WEFT_NONE;
    for (uint32_t n = 0; n < t->nodes; n++)
        if (used[n] && m->spot_of[n] == WEFT_NONE) fold_layer(m, used, n);
}

WEFT__ORDER(by_ends, struct wire, WEFT__UP(from) ?: WEFT__UP(to) ?: WEFT__UP(port))
WEFT__ORDER(by_weight, struct line, WEFT__DOWN(weight) ?: WEFT__UP(port0))

static void find_lines(struct motion *m, struct weft_arena *arena) {
    const struct weft_topology *t = m->topology;
    m->wire = weft_arena_alloc(arena, m->ports, sizeof *m->wire);
    m->line = weft_arena_alloc(arena, m->ports, sizeof *m->line);
    for (uint32_t p = 0; p < m->ports; p++) {
        uint32_t from = m->spot_of[t->port[p].node], to = m->spot_of[t->port[t->port[p].peer].node];
        if (from != WEFT_NONE && to != WEFT_NONE && from != to) m->wire[m->wires++] = (struct wire){from, to, p};
    }
    qsort(m->wire, m->wires, sizeof *m->wire, by_ends);
    for (uint32_t i = 0; i < m->wires; i++) {
        const struct wire *w = &m->wire[i];
        if (!i || w[-1].from != w->from || w[-1].to != w->to)
            m->line[m->lines++] = (struct line){.from = w->from, .to = w->to, .port = w->port, .port0 = i};
        struct line *line = &m->line[m->lines - 1];
        line->ports++;
        line->weight += m->weight[w->port];
        if (m->weight[w->port] > m->weight[line->port]) line->port = w->port;
    }
    qsort(m->line, m->lines, sizeof *m->line, by_weight);
    while (m->lines && (m->lines > LINES_MAX || !(m->line[m->lines - 1].weight > 0)))
        m->lines--;
    m->line_of = weft_arena_alloc(arena, m->ports, sizeof *m->line_of);
    for (uint32_t p = 0; p < m->ports; p++)
        m->line_of[p] = WEFT_NONE;
    for (uint32_t l = 0; l < m->lines; l++)
        for (uint32_t i = 0; i < m->line[l].ports; i++)
            m->line_of[m->wire[m->line[l].port0 + i].port] = l;
}

// --- values -------------------------------------------------------------------------------------------------------

/// More than nothing is at least the first level.
static char level_of(double share) {
    int level = (int)(share * (LEVELS - 1) + .5);
    if (share > 0 && !level) level = 1;
    return levels[level < LEVELS ? level : LEVELS - 1];
}

/// Of ports in a frame: the mean use of their links, the fullest queue, the share of samples that were paused.
struct shares {
    double capacity_bytes, tx_bytes, queue_bytes;
    uint64_t paused, samples;
    uint32_t credit_permille;
};
static void add_port(const struct motion *m, struct shares *s, uint32_t port, uint32_t k) {
    const struct weft_topology *t = m->topology;
    const struct frame *f = frames_of(m, port) + k;
    s->capacity_bytes += (double)t->link[t->port[port].link].rate_bps / 8e12 * (double)m->every_ps;
    s->tx_bytes += f->tx_bytes;
    if (f->queue_bytes > s->queue_bytes) s->queue_bytes = f->queue_bytes;
    s->paused += f->paused;
    s->samples += f->samples;
    if (f->credit_permille > s->credit_permille) s->credit_permille = f->credit_permille;
}
static double share_of(const struct motion *m, const struct shares *s, enum what what) {
    if (what == USED) return s->capacity_bytes > 0 ? s->tx_bytes / s->capacity_bytes : 0;
    if (what == QUEUE) return m->queue_max > 0 ? s->queue_bytes / m->queue_max : 0;
    if (what == CREDIT) return s->credit_permille / 1000.0;
    return s->samples ? (double)s->paused / (double)s->samples : 0;
}

static void write_levels(const struct motion *m, struct weft__json *j, const struct wire *wire, uint32_t ports) {
    char text[WHATS][FRAMES_MAX + 1];
    for (uint32_t k = 0; k < m->frames; k++) {
        struct shares s = {0};
        for (uint32_t i = 0; i < ports; i++)
            add_port(m, &s, wire[i].port, k);
        for (enum what what = 0; what < WHATS; what++)
            text[what][k] = level_of(share_of(m, &s, what));
    }
    for (enum what what = 0; what < WHATS; what++) {
        text[what][m->frames] = 0;
        if (what != CREDIT || m->credits) weft__json_key_string(j, what_names[what], text[what]);
    }
}

static void write_port_name(const struct motion *m, struct weft__json *j, const char *key, uint32_t port) {
    char name[256];
    weft_topology_port_name(m->topology, port, name, sizeof name);
    weft__json_key_string(j, key, name);
}

/// In each frame the share of a line's links that are down.
static void write_down(const struct motion *m, struct weft__json *j, const struct line *line) {
    const struct weft_topology *t = m->topology;
    uint32_t down[FRAMES_MAX] = {0};
    char text[FRAMES_MAX + 1];
    for (uint32_t e = 0; e < t->events; e++) {
        const uint32_t *port = t->link[t->event[e].link].port;
        uint32_t own = m->spot_of[t->port[port[0]].node] == line->from ? port[0] : port[1];
        if (m->line_of[own] != (uint32_t)(line - m->line)) continue;
        weft_time_ps time = t->event[e].time_ps;
        uint64_t k = time > m->from_ps ? (time - m->from_ps) / m->every_ps : 0; // a frame shows its end
        for (; k < m->frames; k++)
            down[k] += t->event[e].up ? -1u : 1u;
    }
    for (uint32_t k = 0; k < m->frames; k++)
        text[k] = level_of((int32_t)down[k] > 0 ? (double)down[k] / line->ports : 0);
    text[m->frames] = 0;
    weft__json_key_string(j, "down", text);
}

static void write_spots(const struct motion *m, struct weft__json *j) {
    const struct weft_topology *t = m->topology;
    weft__json_key(j, "spots");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < m->spots; i++) {
        const struct spot *s = &m->spot[i];
        char text[FRAMES_MAX + 1];
        weft__json_begin_object(j);
        weft__json_key_string(j, "name", t->node[s->first].name);
        if (s->nodes > 1) weft__json_key_string(j, "last", t->node[s->last].name);
        weft__json_key_u64(j, "nodes", s->nodes);
        weft__json_key_string(j, "layer", t->node[s->first].layer);
        weft__json_key_u64(j, "tier", t->node[s->first].tier);
        for (uint32_t k = 0; k < m->frames; k++) { // of ports that no line shows, too
            struct shares all = {0};
            for (uint32_t n = s->first; n <= s->last; n++)
                for (uint32_t p = 0; m->spot_of[n] == i && p < t->node[n].ports; p++)
                    add_port(m, &all, t->node[n].port0 + p, k);
            text[k] = level_of(share_of(m, &all, QUEUE));
        }
        text[m->frames] = 0;
        weft__json_key_string(j, "queue", text);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
}

static void write_lines(const struct motion *m, struct weft__json *j) {
    weft__json_key(j, "lines");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < m->lines; i++) {
        const struct line *line = &m->line[i];
        weft__json_begin_object(j);
        weft__json_key_u64(j, "from", line->from);
        weft__json_key_u64(j, "to", line->to);
        weft__json_key_u64(j, "links", line->ports);
        write_port_name(m, j, "port", line->port);
        write_levels(m, j, &m->wire[line->port0], line->ports);
        if (m->topology->events) write_down(m, j, line);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
}

struct rank {
    double weight;
    uint32_t port;
};
WEFT__ORDER(by_rank, struct rank, WEFT__DOWN(weight) ?: WEFT__UP(port))

/// The ports that did most, of which a user can choose one.
static void write_ports(const struct motion *m, struct weft__json *j, struct weft_arena *arena) {
    struct rank *rank = weft_arena_alloc(arena, m->ports, sizeof *rank);
    for (uint32_t p = 0; p < m->ports; p++)
        rank[p] = (struct rank){m->weight[p], p};
    qsort(rank, m->ports, sizeof *rank, by_rank);
    weft__json_key(j, "ports");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < m->ports && i < PORTS_MAX && rank[i].weight > 0; i++) {
        const struct wire wire = {.port = rank[i].port};
        weft__json_begin_object(j);
        write_port_name(m, j, "port", wire.port);
        if (m->line_of[wire.port] != WEFT_NONE) weft__json_key_u64(j, "line", m->line_of[wire.port]);
        write_levels(m, j, &wire, 1);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
}

/// Of each frame, over all ports: how many were paused, and the fullest queue.
static void write_frames(const struct motion *m, struct weft__json *j) {
    weft__json_key(j, "steps");
    weft__json_begin_array(j);
    for (uint32_t k = 0; k < m->frames; k++) {
        uint32_t paused = 0, fullest = 0;
        for (uint32_t p = 0; p < m->ports; p++) {
            paused += frames_of(m, p)[k].paused > 0;
            if (frames_of(m, p)[k].queue_bytes > frames_of(m, fullest)[k].queue_bytes) fullest = p;
        }
        weft__json_begin_object(j);
        weft__json_key_u64(j, "paused", paused);
        weft__json_key_real(j, "queue_bytes", frames_of(m, fullest)[k].queue_bytes);
        write_port_name(m, j, "port", fullest);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
}

weft_time_ps weft_report_motion_interval(weft_time_ps sim_time_ps) {
    enum { LEAST_PS = 100000 }; // of run.sample_interval
    weft_time_ps interval = sim_time_ps / FRAMES_MAX + 1;
    return interval > LEAST_PS ? interval : LEAST_PS;
}

/// False: there are no samples from that time on.
static bool has_motion(const struct weft_outcome *o, weft_time_ps from_ps) {
    return (o->samples || o->film.steps > 1) && o->sim_time_ps > from_ps;
}

static void write_motion(struct weft__json *j, const struct weft_run *run, weft_time_ps from_ps,
                         struct weft_arena *arena) {
    const struct weft_outcome *o = run->outcome;
    struct motion m = {
        .run = run, .topology = run->topology, .ports = run->topology->ports, .frames = FRAMES_MAX, .from_ps = from_ps};
    // frames are whole samples, or a busy link flickers
    weft_time_ps interval = run->scenario->run.sample_interval_ps;
    if (o->samples) {
        m.every_ps = (o->sim_time_ps - from_ps) / m.frames + 1;
        m.every_ps = (m.every_ps + interval - 1) / interval * interval;
        m.frames = (uint32_t)((o->sim_time_ps - from_ps - 1) / m.every_ps + 1);
    } else {
        m.every_ps = o->film.every_ps;
        m.frames = o->film.steps - 1;
    }
    m.frame = weft_arena_alloc(arena, (size_t)m.ports * m.frames, sizeof *m.frame);
    m.weight = weft_arena_alloc(arena, m.ports, sizeof *m.weight);
    if (o->samples)
        take_samples(&m);
    else
        take_film(&m, &o->film);
    weigh_ports(&m);
    fold_nodes(&m, arena);
    find_lines(&m, arena);
    weft__json_begin_object(j);
    weft__json_key_real(j, "from_us", (double)from_ps / 1e6);
    weft__json_key_real(j, "every_us", (double)m.every_ps / 1e6);
    weft__json_key_u64(j, "frames", m.frames);
    weft__json_key_real(j, "queue_bytes", m.queue_max);
    write_frames(&m, j);
    write_spots(&m, j);
    write_lines(&m, j);
    write_ports(&m, j, arena);
    weft__json_end_object(j);
}

void weft_report_motion(struct weft__json *j, const struct weft_run *run, weft_time_ps from_ps,
                        struct weft_arena *arena) {
    if (!has_motion(run->outcome, from_ps)) return;
    weft__json_key(j, "motion");
    write_motion(j, run, from_ps, arena);
}

const char *weft_report_motion_text(const struct weft_run *run, struct weft_arena *arena) {
    if (run->outcome->samples || !has_motion(run->outcome, 0)) return NULL;
    WEFT_SCRATCH(own, WEFT_MEMORY_RESULT);
    WEFT__TEXT_STREAM(text, file);
    struct weft__json j = {.file = file};
    write_motion(&j, run, 0, own);
    return weft_arena_text(arena, weft__text_stream_text(&text));
}

enum weft_status weft_report_motion_kept(struct weft__json *j, const struct weft_report_shown *run, bool *ret_kept,
                                         struct weft_error *ret_error) {
    WEFT_SCRATCH(own, WEFT_MEMORY_RESULT);
    struct weft__reader r;
    const char *const *names;
    uint32_t runs = 0;
    sqlite3_stmt *s = NULL;
    enum weft_status status = weft__reader_open(&r, run->dir, own, ret_error);
    if (!status) status = weft__reader_choose(&r, run->variant, &run->seed, &names, &runs, ret_error);
    *ret_kept = !status && weft__reader_count(&r, "SELECT count(*) FROM sqlite_master WHERE name = 'motion' AND ?1") &&
                weft__reader_next(&r, s = weft__reader_prepare(&r, "SELECT json FROM motion WHERE run = ?1"));
    if (*ret_kept) {
        weft__json_key(j, "motion");
        fputs((const char *)sqlite3_column_text(s, 0), weft__json_value(j));
    }
    sqlite3_finalize(s);
    return weft__reader_close(&r, status, ret_error);
}

static void read_samples(struct weft__reader *r, uint32_t ports, struct weft_outcome *o) {
    uint64_t n = weft__reader_count(r, "SELECT count(*) FROM series WHERE run = ?1");
    struct weft_sample *sample = weft_arena_alloc(r->arena, n, sizeof *sample);
    sqlite3_stmt *s = weft__reader_prepare(
        r, "SELECT time_ps, port, priority, queue_bytes, tx_bytes, paused, "
           "(SELECT 1000 * credit_used FROM series AS s WHERE s.rowid = t.rowid) FROM series AS t, "
           "(SELECT 0 AS credit_used) AS before WHERE run = ?1 ORDER BY 1, 2, 3");
    while (o->samples < n && weft__reader_next(r, s)) {
        if (weft__reader_number(s, 1, 0) >= ports) continue; // of another network
        sample[o->samples++] = (struct weft_sample){
            .time_ps = weft__reader_number(s, 0, 0),
            .port = (uint32_t)weft__reader_number(s, 1, 0),
            .priority = (uint32_t)weft__reader_number(s, 2, 0),
            .queue_bytes = weft__reader_number(s, 3, 0),
            .tx_bytes = weft__reader_number(s, 4, 0),
            .paused = weft__reader_number(s, 5, 0) > 0,
            .credit_permille = (uint16_t)weft__reader_number(s, 6, 0),
        };
    }
    sqlite3_finalize(s);
    o->sample = sample;
}

enum weft_status weft_report_motion_stored(struct weft__json *j, const struct weft_report_shown *run,
                                           const struct weft_scenario *scenario, const struct weft_topology *topology,
                                           struct weft_arena *arena, struct weft_error *ret_error) {
    WEFT_SCRATCH(own, WEFT_MEMORY_RESULT);
    struct weft__reader r;
    const char *const *names;
    uint32_t runs = 0;
    struct weft_outcome *o = weft_arena_alloc(own, 1, sizeof *o);
    enum weft_status status = weft__reader_open(&r, run->dir, own, ret_error);
    if (!status) status = weft__reader_choose(&r, run->variant, &run->seed, &names, &runs, ret_error);
    if (!status) read_samples(&r, topology->ports, o);
    status = weft__reader_close(&r, status, ret_error);
    o->sim_time_ps = run->sim_time_ps;
    const struct weft_run stored = {.scenario = scenario, .topology = topology, .outcome = o};
    if (!status) weft_report_motion(j, &stored, 0, arena);
    return status;
}
