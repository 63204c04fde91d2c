// SPDX-License-Identifier: Apache-2.0
// Bursts of NICs: consecutive intervals between samples in which a NIC sends, and the gaps between them.
#include <math.h>
#include <string.h>

#include "weft/report.h"

/// A NIC's port, while the samples are scanned.
struct nic {
    double bytes; ///< in the current interval
    bool on;
    uint32_t quiet; ///< intervals since its last burst; WEFT_NONE: there was none yet
};

/// Sums over the NICs of a layer.
struct sums {
    uint64_t on, gaps, gap_intervals;
    double used;
};

/// The entry of a port's layer; NULL if it is not a NIC's port, or not sampled.
static struct weft_bursts *entry_of(const struct weft_run *run, uint32_t port, struct weft_bursts *list, uint32_t *n) {
    const struct weft_topology *t = run->topology;
    const struct weft_node_info *node = &t->node[t->port[port].node];
    char name[160];
    if (node->role != WEFT_NODE_HOST) return NULL;
    weft_topology_port_name(t, port, name, sizeof name);
    if (!weft_glob_match(run->scenario->run.sample_ports, name)) return NULL;
    for (uint32_t i = 0; i < *n; i++)
        if (!strcmp(list[i].layer, node->layer)) return &list[i];
    list[*n] = (struct weft_bursts){.layer = node->layer};
    return &list[(*n)++];
}

static void close_interval(struct nic *nic, double room_bytes, struct weft_bursts *b, struct sums *sums) {
    double used = nic->bytes / room_bytes;
    bool on = used >= WEFT_BURST_LEAST;
    nic->bytes = 0;
    if (on && !nic->on) {
        b->bursts++;
        if (nic->quiet != WEFT_NONE) {
            sums->gaps++;
            sums->gap_intervals += nic->quiet;
        }
    }
    if (on) {
        sums->on++;
        sums->used += used;
        if (used > b->most) b->most = used;
        nic->quiet = 0;
    } else if (nic->quiet != WEFT_NONE) {
        nic->quiet++;
    }
    nic->on = on;
}

static void summarise_bursts(struct weft_bursts *b, const struct sums *s, double interval_ps, uint32_t intervals) {
    b->on = (double)s->on / ((double)intervals * b->nics);
    b->burst_ps = b->bursts ? (double)s->on * interval_ps / (double)b->bursts : NAN;
    b->gap_ps = s->gaps ? (double)s->gap_intervals * interval_ps / (double)s->gaps : NAN;
    b->used = s->on ? s->used / (double)s->on : NAN;
}

struct weft_bursts *weft_report_bursts(const struct weft_run *run, struct weft_arena *arena, uint32_t *ret_n) {
    const struct weft_topology *t = run->topology;
    const struct weft_outcome *o = run->outcome;
    weft_time_ps length = run->scenario->run.sample_interval_ps;
    *ret_n = 0;
    if (!length) return NULL;
    uint32_t intervals = o->samples ? (uint32_t)(o->sample[o->samples - 1].time_ps / length) : 0;
    struct weft_bursts *list = weft_arena_alloc(arena, t->hosts, sizeof *list);
    struct weft_bursts **of_port = weft_arena_alloc(arena, t->ports, sizeof *of_port);
    struct nic *nic = weft_arena_alloc(arena, t->ports, sizeof *nic);
    struct sums *sums = weft_arena_alloc(arena, t->hosts, sizeof *sums);
    for (uint32_t port = 0; port < t->ports; port++) {
        of_port[port] = entry_of(run, port, list, ret_n);
        nic[port].quiet = WEFT_NONE;
        if (of_port[port]) of_port[port]->nics++;
    }
    uint64_t at = 0;
    for (uint32_t k = 0; k < intervals; k++) {
        for (; at < o->samples && o->sample[at].time_ps <= (k + 1) * length; at++)
            nic[o->sample[at].port].bytes += (double)o->sample[at].tx_bytes;
        for (uint32_t port = 0; port < t->ports; port++) {
            double rate = (double)t->link[t->port[port].link].rate_bps;
            if (of_port[port])
                close_interval(&nic[port], rate / 8 * (double)length / (double)WEFT_PS_PER_S, of_port[port],
                               &sums[of_port[port] - list]);
        }
    }
    for (uint32_t i = 0; i < *ret_n; i++)
        summarise_bursts(&list[i], &sums[i], (double)length, intervals);
    return list;
}
