// SPDX-License-Identifier: Apache-2.0
// A run's samples as the page moves them: of the ports that did most, how busy, how full and how paused each was in
// equal steps of time. A value is one character of base64, of 64 levels; what a whole level is stands beside.
#include <stdlib.h>

#include "base/json.h"
#include "weft/report.h"

enum { FRAMES_MAX = 96, PORTS_MAX = 320, LEVELS = 64 };
static const char levels[LEVELS + 1] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

struct frame {
    double tx_bytes, queue_bytes; ///< queue: the greatest of the priorities together
    uint32_t paused, samples;     ///< of a port and priority
};

struct motion {
    const struct weft_run *run;
    weft_time_ps every_ps; ///< a frame
    uint32_t frames, ports;
    struct frame *frame; ///< [ports][frames]
    struct rank {
        uint32_t port;
        double weight; ///< how much it did
    } * rank;          ///< [ports], those that did most first
    double queue_max;
};

static void take_samples(struct motion *m) {
    const struct weft_outcome *o = m->run->outcome;
    double queue = 0;
    for (uint64_t i = 0; i < o->samples; i++) {
        const struct weft_sample *s = &o->sample[i];
        uint64_t at = s->time_ps ? (s->time_ps - 1) / m->every_ps : 0; // a sample closes the interval before it
        if (at >= m->frames) at = m->frames - 1;
        struct frame *f = &m->frame[(size_t)s->port * m->frames + at];
        bool same = i && o->sample[i - 1].port == s->port && o->sample[i - 1].time_ps == s->time_ps;
        queue = (same ? queue : 0) + (double)s->queue_bytes;
        if (queue > f->queue_bytes) f->queue_bytes = queue;
        f->tx_bytes += (double)s->tx_bytes;
        f->paused += s->paused;
        f->samples++;
    }
}

static void weigh_ports(struct motion *m) {
    for (uint32_t p = 0; p < m->ports; p++) {
        m->rank[p].port = p;
        for (uint32_t k = 0; k < m->frames; k++) {
            const struct frame *f = &m->frame[(size_t)p * m->frames + k];
            m->rank[p].weight += f->tx_bytes + f->queue_bytes + (f->paused ? 1e9 : 0);
            if (f->queue_bytes > m->queue_max) m->queue_max = f->queue_bytes;
        }
    }
}

static int by_weight(const void *a, const void *b) {
    const struct rank *p = a, *q = b;
    return p->weight < q->weight ? 1 : p->weight > q->weight ? -1 : p->port > q->port ? 1 : -1;
}

/// More than nothing is at least the first level.
static char level_of(double share) {
    int level = (int)(share * (LEVELS - 1) + .5);
    if (share > 0 && !level) level = 1;
    return levels[level < LEVELS ? level : LEVELS - 1];
}

static double share_of(const struct motion *m, const struct frame *f, double bytes_a_frame, int what) {
    if (what == 0) return f->tx_bytes / bytes_a_frame;
    if (what == 1) return m->queue_max > 0 ? f->queue_bytes / m->queue_max : 0;
    return f->samples ? f->paused / (double)f->samples : 0;
}

static void write_port(const struct motion *m, struct weft__json *j, uint32_t port) {
    static const char *const name[] = {"used", "queue", "paused"};
    const struct weft_topology *t = m->run->topology;
    double bytes_a_frame = (double)t->link[t->port[port].link].rate_bps / 8e12 * (double)m->every_ps;
    char text[FRAMES_MAX + 1], port_name[256];
    weft_topology_port_name(t, port, port_name, sizeof port_name);
    weft__json_begin_object(j);
    weft__json_key_string(j, "port", port_name);
    for (int what = 0; what < 3; what++) {
        for (uint32_t k = 0; k < m->frames; k++)
            text[k] = level_of(share_of(m, &m->frame[(size_t)port * m->frames + k], bytes_a_frame, what));
        text[m->frames] = 0;
        weft__json_key_string(j, name[what], text);
    }
    weft__json_end_object(j);
}

weft_time_ps weft_report_motion_interval(weft_time_ps sim_time_ps) {
    enum { LEAST_PS = 100000 }; // of run.sample_interval
    weft_time_ps interval = sim_time_ps / FRAMES_MAX + 1;
    return interval > LEAST_PS ? interval : LEAST_PS;
}

void weft_report_motion(struct weft__json *j, const struct weft_run *run, struct weft_arena *arena) {
    const struct weft_outcome *o = run->outcome;
    struct motion m = {.run = run, .ports = run->topology->ports, .frames = FRAMES_MAX};
    if (!o->samples || !o->sim_time_ps) return;
    m.every_ps = o->sim_time_ps / m.frames + 1;
    weft_time_ps interval = run->scenario->run.sample_interval_ps; // frames are whole samples, or a busy link flickers
    m.every_ps = (m.every_ps + interval - 1) / interval * interval;
    m.frames = (uint32_t)((o->sim_time_ps - 1) / m.every_ps + 1);
    m.frame = weft_arena_alloc(arena, (size_t)m.ports * m.frames, sizeof *m.frame);
    m.rank = weft_arena_alloc(arena, m.ports, sizeof *m.rank);
    take_samples(&m);
    weigh_ports(&m);
    qsort(m.rank, m.ports, sizeof *m.rank, by_weight);
    weft__json_key(j, "motion");
    weft__json_begin_object(j);
    weft__json_key_real(j, "every_us", (double)m.every_ps / 1e6);
    weft__json_key_u64(j, "frames", m.frames);
    weft__json_key_real(j, "queue_bytes", m.queue_max);
    weft__json_key(j, "ports");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < m.ports && i < PORTS_MAX && m.rank[i].weight > 0; i++)
        write_port(&m, j, m.rank[i].port);
    weft__json_end_array(j);
    weft__json_end_object(j);
}
