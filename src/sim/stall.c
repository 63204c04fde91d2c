// SPDX-License-Identifier: Apache-2.0
// Explains a stall by who waits for whom. An egress port and priority that is paused with packets waiting waits for the
// ingress buffer of its neighbour; that buffer holds packets for certain egress ports there, and so on. A cycle of such
// waits is a PFC deadlock. Boxes describe their other waits themselves.
#include "sim/stall.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/stream.h"
#include "base/units.h"
#include "box/box.h"
#include "box/stall.h"
#include "transport/program.h"
#include "weft/memory.h"

/// A vertex is port * 8 + priority of an egress.
struct edges {
    const struct weft__network *net;
    uint32_t node;
    uint64_t *edge; ///< from << 32 | to
    size_t n, capacity;
};

static void add_edge(void *context, const struct weft_packet *packet, uint32_t out) {
    struct edges *e = context;
    const struct weft_topology *t = e->net->topology;
    uint32_t upstream = t->port[t->node[e->node].port0 + packet->port].peer;
    const struct weft__port *port = weft__network_port(e->net, upstream);
    if (!port || !(port->paused >> packet->priority & 1)) return;
    uint64_t edge = (uint64_t)(upstream * WEFT_PRIORITIES + packet->priority) << 32 |
                    ((t->node[e->node].port0 + out) * WEFT_PRIORITIES + packet->priority);
    if (e->n && e->edge[e->n - 1] == edge) return; // packets of one queue are adjacent
    if (e->n == e->capacity) {
        size_t capacity = e->capacity ? e->capacity * 2 : 256;
        e->edge =
            weft_memory_resize(WEFT_MEMORY_RESULT, e->edge, e->capacity * sizeof *e->edge, capacity * sizeof *e->edge);
        e->capacity = capacity;
    }
    e->edge[e->n++] = edge;
}

static void name_vertex(const struct weft_topology *t, uint32_t vertex, char *name, size_t size) {
    char port[128];
    weft_topology_port_name(t, vertex / WEFT_PRIORITIES, port, sizeof port);
    snprintf(name, size, "%s priority %u", port, vertex % WEFT_PRIORITIES);
}

static size_t first_edge(const struct edges *e, uint32_t from) {
    return WEFT__FIRST_WITHOUT(0, e->n, e->edge[middle] >> 32 < from);
}

enum { UNSEEN, OPEN, CLOSED };

/// Depth-first search from `start`. Writes a cycle's vertices to `path` and returns its length, 0 if there is none.
static uint32_t find_cycle(const struct edges *e, uint32_t start, uint8_t *mark, uint32_t *path, size_t *next) {
    uint32_t depth = 0;
    path[0] = start;
    next[0] = first_edge(e, start);
    mark[start] = OPEN;
    for (;;) {
        size_t i = next[depth]++;
        if (i >= e->n || e->edge[i] >> 32 != path[depth]) {
            mark[path[depth]] = CLOSED;
            if (depth-- == 0) return 0;
            continue;
        }
        uint32_t to = (uint32_t)e->edge[i];
        if (mark[to] == OPEN) {
            uint32_t from = depth;
            while (path[from] != to)
                from--;
            memmove(path, path + from, (depth - from + 1) * sizeof *path);
            return depth - from + 1;
        }
        if (mark[to] == CLOSED) continue;
        mark[to] = OPEN;
        path[++depth] = to;
        next[depth] = first_edge(e, to);
    }
}

static void say_cycle(FILE *text, const struct edges *e, struct weft_arena *arena) {
    const struct weft_topology *t = e->net->topology;
    uint32_t vertices = t->ports * WEFT_PRIORITIES;
    uint8_t *mark = weft_arena_alloc(arena, vertices, 1);
    uint32_t *path = weft_arena_alloc(arena, e->n + 2, sizeof *path);
    size_t *next = weft_arena_alloc(arena, e->n + 2, sizeof *next);
    for (size_t i = 0; i < e->n; i++) {
        uint32_t start = (uint32_t)(e->edge[i] >> 32);
        uint32_t n = mark[start] == UNSEEN ? find_cycle(e, start, mark, path, next) : 0;
        if (!n) continue;
        char name[160];
        fprintf(text, "PFC cycle of %u ports (a deadlock):\n", n);
        for (uint32_t k = 0; k < n; k++) {
            name_vertex(t, path[k], name, sizeof name);
            char peer[128];
            weft_topology_port_name(t, t->port[path[k] / WEFT_PRIORITIES].peer, peer, sizeof peer);
            fprintf(text, "  %s waits for room at %s\n", name, peer);
        }
        name_vertex(t, path[0], name, sizeof name);
        fprintf(text, "  and so back to %s\n", name);
        return;
    }
    fprintf(text, "no cycle of pauses\n");
}

static void say_paused(FILE *text, const struct weft__network *net) {
    const struct weft_topology *t = net->topology;
    struct weft__stall_list list = {.text = text, .title = "paused with packets waiting"};
    for (uint32_t i = 0; i < t->ports; i++) {
        const struct weft__port *port = weft__network_port(net, i);
        for (uint32_t p = 0; port && p < WEFT_PRIORITIES; p++) {
            if (!(port->paused >> p & 1) || !weft__port_queue_of(port, p)->bytes) continue;
            if (!weft__stall_line(&list)) continue;
            char name[160], peer[128], bytes[32], time[32];
            name_vertex(t, i * WEFT_PRIORITIES + p, name, sizeof name);
            weft_topology_port_name(t, t->port[i].peer, peer, sizeof peer);
            weft_format_bytes(weft__port_queue_of(port, p)->bytes, bytes, sizeof bytes);
            weft_format_time(net->outcome->sim_time_ps - weft__port_pause_of(port, p)->since_ps, time, sizeof time);
            fprintf(text, "  %s: %s waiting, paused by %s for %s\n", name, bytes, peer, time);
        }
    }
    weft__stall_end(&list);
}

static void say_flows(FILE *text, const struct weft__network *net) {
    const struct weft_topology *t = net->topology;
    struct weft__stall_list list = {.text = text, .title = "queue pairs that have not finished"};
    for (uint32_t i = 0; i < net->qps; i++) {
        const struct weft_qp_conf *qp = &net->qp[i];
        const struct weft_qp_sender *s = &net->hosts.sender[i];
        uint32_t got = net->hosts.receiver[i].expected;
        bool read = qp->verb == WEFT_VERB_READ; // its receiver starts it, and it is never acknowledged
        bool started = read ? net->hosts.receiver[i].progress_ps != WEFT_TIME_NEVER : s->started;
        uint32_t all = read ? qp->packets : s->posted;
        if (!started || (got == all && (read || s->una == all))) continue;
        if (!weft__stall_line(&list)) continue;
        fprintf(text, "  %s -> %s (flow %u): %u of %u packets received, %u sent, %u acknowledged\n",
                t->node[t->host[qp->src]].name, t->node[t->host[qp->dst]].name, qp->flow, got, all, s->highest, s->una);
    }
    weft__stall_end(&list);
}

static void say_triggers(FILE *text, const struct weft__network *net) {
    const struct weft_topology *t = net->topology;
    const struct weft_workload *w = net->workload;
    struct weft__stall_list list = {.text = text, .title = "flows that wait for a trigger"};
    for (uint32_t f = 0; w->triggers && f < w->flows; f++) {
        if (net->outcome->flow[f].start_ps != WEFT_TIME_NEVER || !weft__stall_line(&list)) continue;
        fprintf(text, "  %s -> %s (flow %u)\n", t->node[t->host[w->flow[f].src]].name,
                t->node[t->host[w->flow[f].dst]].name, f);
    }
    weft__stall_end(&list);
}

/// For each rank of an unfinished schedule, the first step that has begun and waits for others.
static void say_schedules(FILE *text, const struct weft__network *net) {
    struct weft__stall_list list = {.text = text, .title = "ranks of schedules that have not finished"};
    for (uint32_t i = 0; net->programs && i < net->programs->n; i++) {
        const struct weft__program *p = &net->programs->program[i];
        if (!p->schedule || !p->schedule->left || !p->started) continue;
        uint32_t step = 0;
        while (p->schedule->waits[step]) // skips steps that wait for others of the rank, and finished ones
            step++;
        if (!weft__stall_line(&list)) continue;
        char where[256], what[160];
        fprintf(text, "  rank %u on %s, %s: %s; %u steps are left\n", p->rank,
                net->topology->node[net->topology->host[p->job->host[p->rank]]].name,
                weft_schedule_where(p->job->schedule, p->rank, step, where, sizeof where),
                weft_schedule_what(p->job->schedule, p->rank, step, what, sizeof what), p->schedule->left);
    }
    weft__stall_end(&list);
}

char *weft__network_explain_stall(const struct weft__network *net) {
    struct weft_arena *arena = net->outcome->arena;
    WEFT__TEXT_STREAM(stream, text);
    struct edges edges = {.net = net};
    for (edges.node = 0; edges.node < net->topology->nodes; edges.node++) {
        const struct weft__box *box = weft__box_of(&net->topology->node[edges.node]);
        if (box->each_waiting) box->each_waiting(weft__network_state(net, edges.node), add_edge, &edges);
    }
    if (edges.n) qsort(edges.edge, edges.n, sizeof *edges.edge, weft__by_u64);
    say_cycle(text, &edges, arena);
    say_paused(text, net);
    const struct weft__shared *shared;
    for (uint32_t kind = 0; (shared = weft__shared_next(net, &kind)); kind++)
        if (shared->explain) shared->explain(text, net);
    weft__stall_causes(text, net);
    say_flows(text, net);
    say_triggers(text, net);
    say_schedules(text, net);
    weft_memory_free(WEFT_MEMORY_RESULT, edges.edge, edges.capacity * sizeof *edges.edge);
    return weft_arena_text(arena, weft__text_stream_text(&stream));
}
