// SPDX-License-Identifier: Apache-2.0
// Priority-based flow control: which layer pauses which. In a Clos, pauses between a leaf and its hosts are local,
// while those that a spine sends to leaves spread. Summed over all priorities.
#include <inttypes.h>
#include <string.h>

#include "box/sums.h"
#include "weft/report.h"

#include "base/units.h"

enum { ENTRIES_MAX = 64 }; // pairs of layers; layers of a list of links may have any names

static struct weft_pfc_layers *entry_of(struct weft_pfc_layers *list, uint32_t *n, const char *from, const char *to) {
    for (uint32_t i = 0; i < *n; i++)
        if (!strcmp(list[i].from, from) && !strcmp(list[i].to, to)) return &list[i];
    if (*n == ENTRIES_MAX) return NULL;
    list[*n] = (struct weft_pfc_layers){.from = from, .to = to};
    return &list[(*n)++];
}

/// Adds what the node at the other end of a port told it.
static void add_port(struct weft_pfc_layers *e, const struct weft_outcome *o, uint32_t port, uint32_t peer) {
    weft_time_ps paused = 0;
    for (unsigned p = 0; p < WEFT_PRIORITIES; p++) {
        const struct weft_counters *own = weft_outcome_at(o, port, p);
        const struct weft_counters *other = weft_outcome_at(o, peer, p);
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

struct pairs {
    uint32_t n;
    const struct weft_pfc_layers *pair;
};

static bool next_pair(struct weft_result_cursor *c) {
    struct pairs *pairs = c->state;
    if (!pairs) {
        pairs = c->state = weft_arena_alloc(c->arena, 1, sizeof *pairs);
        pairs->pair = weft_report_pfc_layers(c->run, c->arena, &pairs->n);
    }
    if (c->at == pairs->n) return false;
    c->part[0] = &pairs->pair[c->at++];
    return true;
}

#define PFC(field, kind, ...) WEFT_RESULT(struct weft_pfc_layers, field, kind, __VA_ARGS__)
static const struct weft_result_table layers = WEFT_RESULT_TABLE_OF(
    "pfc_layers", MAP, "an ordered pair of neighbouring layers, hosts included; spine-leaf: spines paused leaves",
    .next = next_pair,
    WEFT_RESULT_BETWEEN(struct weft_pfc_layers, "layer that sends pause frames", "layer that is paused"),
    PFC(frames, COUNT, "pause frames with a time above 0", .compared = "PFC pause frames"),
    PFC(ports, COUNT, "ports of the paused layer towards the other"),
    PFC(paused_ports, COUNT, "ports of the paused layer that were paused at all"),
    PFC(paused_ps, TIME, "time that pause frames kept ports from sending a priority, summed over both"),
    PFC(paused_max_ps, TIME,
        "time that pause frames kept the port paused longest from sending, summed over its priorities"),
    PFC(queue_bytes_max, BYTES,
        "most bytes of one priority that waited at a port of the paused layer to leave for the other"),
    PFC(ingress_bytes_max, BYTES,
        "most bytes that one priority of the other occupied at a port of the layer that sends pauses"));

uint32_t weft__paused_ports(const struct weft_outcome *outcome, struct weft__paused_port *ret_port, uint32_t n) {
    uint32_t found = 0;
    for (uint32_t port = 0; port < outcome->ports; port++) {
        weft_time_ps paused = 0;
        for (unsigned priority = 0; priority < WEFT_PRIORITIES; priority++)
            paused += weft_outcome_at(outcome, port, priority)->paused_ps;
        if (!paused || (found == n && ret_port[n - 1].paused_ps >= paused)) continue;
        uint32_t at = found < n ? found++ : n - 1;
        for (; at > 0 && ret_port[at - 1].paused_ps < paused; at--)
            ret_port[at] = ret_port[at - 1];
        ret_port[at] = (struct weft__paused_port){port, paused};
    }
    return found;
}

enum { PAUSED_PORTS = 5, TEXT = 64 };

/// One line per pair of layers with pauses.
static void print_layers(FILE *file, const struct weft_run *run) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    uint32_t n;
    const struct weft_pfc_layers *l = weft_report_pfc_layers(run, arena, &n);
    for (uint32_t i = 0; i < n; i++) {
        if (!l[i].frames && !l[i].paused_ps) continue;
        fprintf(file, "       %s to %s: %s; %" PRIu32 " of %s paused, for %s (one %s)\n", l[i].from, l[i].to,
                weft__counted(l[i].frames, "frame").text, l[i].paused_ports, weft__counted(l[i].ports, "port").text,
                weft__short_time(l[i].paused_ps).text, weft__short_time(l[i].paused_max_ps).text);
    }
}

static void print_pfc(FILE *file, const struct weft_run *run) {
    const struct weft_counters sum = weft_outcome_counters(run->outcome);
    char text[TEXT], name[TEXT];
    weft_format_time(sum.paused_ps, text, sizeof text);
    fprintf(file, "PFC    %s sent; ports paused for %s in all\n", weft__counted(sum.pfc_tx_xoff, "pause frame").text,
            text);
    print_layers(file, run);
    if (sum.watchdog_storms)
        fprintf(file, "       pause storms found by the watchdog: %" PRIu64 "\n", sum.watchdog_storms);
    struct weft__paused_port port[PAUSED_PORTS];
    uint32_t n = weft__paused_ports(run->outcome, port, PAUSED_PORTS);
    const struct weft_topology *t = run->topology;
    for (uint32_t i = 0; i < n; i++) {
        weft_topology_port_name(t, port[i].port, name, sizeof name);
        weft_format_time(port[i].paused_ps, text, sizeof text);
        fprintf(file, "       %-16s %-20s could not send to %s for %s\n", i ? "" : "paused longest:", name,
                t->node[t->port[t->port[port[i].port].peer].node].name, text);
    }
}

static const struct weft_result_column columns[] = {
    WEFT__SUM(pfc_tx_xoff, "pfc_xoff_frames", COUNT, "pause frames sent with a time above 0",
              .compared = "PFC pause frames"),
    WEFT__SUM(paused_ps, "pfc_paused_ps", TIME,
              "time that pause frames kept ports from sending a priority, summed over both", .compared = "PFC paused"),
    WEFT__SUM(watchdog_storms, "pfc_storms", COUNT, "pause storms that watchdogs found"),
};

const struct weft__sums weft__sums_pfc = {WEFT_RESULT_COLUMNS(columns), .always = true, .table = &layers,
                                          .print = print_pfc};
