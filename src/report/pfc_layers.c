// SPDX-License-Identifier: Apache-2.0
// Who pauses whom, by layers: in a Clos, pauses that stay between a leaf and its hosts are local, those that a spine
// sends to leaves spread. Over all priorities.
#include <string.h>

#include "weft/report.h"

enum { ENTRIES_MAX = 64 }; // pairs of layers; layers of a list of links may have any names

static struct weft_pfc_layers *entry_of(struct weft_pfc_layers *list, uint32_t *n, const char *from, const char *to) {
    for (uint32_t i = 0; i < *n; i++)
        if (!strcmp(list[i].from, from) && !strcmp(list[i].to, to)) return &list[i];
    if (*n == ENTRIES_MAX) return NULL;
    list[*n] = (struct weft_pfc_layers){.from = from, .to = to};
    return &list[(*n)++];
}

/// What the node at the other end of a port told it.
static void add_port(struct weft_pfc_layers *e, const struct weft_outcome *o, uint32_t port, uint32_t peer) {
    weft_time_ps paused = 0;
    for (unsigned p = 0; p < WEFT_PRIORITIES; p++) {
        const struct weft_counters *own = &o->port[(size_t)port * WEFT_PRIORITIES + p];
        const struct weft_counters *other = &o->port[(size_t)peer * WEFT_PRIORITIES + p];
        paused += own->paused_ps;
        e->frames += other->pfc_tx_xoff;
        if (own->queue_bytes_max > e->queue_bytes_max) e->queue_bytes_max = own->queue_bytes_max;
        if (other->ingress_bytes_max > e->ingress_bytes_max) e->ingress_bytes_max = other->ingress_bytes_max;
    }
    e->ports++;
    e->paused_ports += paused > 0;
    e->paused_ps += paused;
    if (paused > e->paused_max_ps) e->paused_max_ps = paused;
}

struct weft_pfc_layers *weft_report_pfc_layers(const struct weft_run *run, struct weft_arena *arena, uint32_t *ret_n) {
    struct weft_pfc_layers *list = weft_arena_alloc(arena, ENTRIES_MAX, sizeof *list);
    const struct weft_topology *t = run->topology;
    *ret_n = 0;
    for (uint32_t port = 0; port < t->ports; port++) {
        uint32_t peer = t->port[port].peer;
        struct weft_pfc_layers *e =
            entry_of(list, ret_n, t->node[t->port[peer].node].layer, t->node[t->port[port].node].layer);
        if (e) add_port(e, run->outcome, port, peer);
    }
    for (uint32_t i = 0; i < *ret_n; i++)
        list[i].key = weft_arena_format(arena, "%s-%s", list[i].from, list[i].to);
    return list;
}
