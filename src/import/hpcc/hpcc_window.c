// SPDX-License-Identifier: Apache-2.0
// Source: CalculateRoute and the loop over pairs of hosts of third.cc (alibaba-edu/High-Precision-Congestion-Control):
// a pair's round trip is two delays and the time in which each link in turn carries a full payload; times the rate of
// the slowest link, it is the pair's window. Times are whole ns, as there. Searches start at each switch with hosts,
// because hosts on one switch have the same path to others.
#include "import/hpcc/hpcc_read.h"

#include <string.h>

/// A link as seen from one of its ends.
struct end {
    uint32_t peer; ///< for a kind of hosts: how many there are
    uint64_t delay_ns;
    weft_rate_bps rate_bps;
};

/// From one node to another, by one of the shortest paths.
struct path {
    uint32_t hops; ///< WEFT_NONE: there is none
    uint64_t delay_ns, payload_ns;
    weft_rate_bps rate_bps;
};

struct graph {
    const struct weft__hpcc_topology *t;
    weft_bytes mtu;
    uint32_t *first; ///< [nodes + 1], of a switch's links to switches
    struct end *end;
    uint32_t *first_host; ///< [nodes + 1], of a switch's links to hosts, of each kind one
    struct end *host;
    struct path *path; ///< [nodes], from the current switch
    uint32_t *queue;
};

static bool is_switch(const struct graph *g, uint32_t node) {
    return g->t->role[node] == WEFT__HPCC_SWITCH;
}

/// Links of switches to hosts, or to switches, sorted by switch; fills in `first`.
static struct end *sort_links(const struct graph *g, bool to_hosts, uint32_t *first, struct weft_arena *arena) {
    const struct weft__hpcc_topology *t = g->t;
    uint32_t *at = weft_arena_alloc(arena, (size_t)t->nodes + 1, sizeof *at);
    struct end *end = NULL;
    for (unsigned pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < t->links; i++)
            for (unsigned k = 0; k < 2; k++) {
                const struct weft__hpcc_link *l = &t->link[i];
                uint32_t from = k ? l->dst : l->src, to = k ? l->src : l->dst;
                if (!is_switch(g, from) || t->role[to] != (to_hosts ? WEFT__HPCC_HOST : WEFT__HPCC_SWITCH)) continue;
                if (pass)
                    end[at[from]++] = (struct end){to, l->delay_ps / WEFT_PS_PER_NS, l->rate_bps};
                else
                    first[from + 1]++;
            }
        if (pass) break;
        for (uint32_t n = 0; n < t->nodes; n++)
            first[n + 1] += first[n];
        memcpy(at, first, t->nodes * sizeof *at);
        end = weft_arena_alloc(arena, first[t->nodes], sizeof *end);
    }
    return end;
}

/// Keeps one of a switch's links to hosts for each delay and rate, with their number; moves them to the front.
static void keep_kinds(struct graph *g) {
    uint32_t n = 0;
    for (uint32_t s = 0, from = 0; s < g->t->nodes; s++) {
        uint32_t until = g->first_host[s + 1], begin = n;
        for (uint32_t i = from; i < until; i++) {
            uint32_t k = begin;
            while (k < n && (g->host[k].delay_ns != g->host[i].delay_ns || g->host[k].rate_bps != g->host[i].rate_bps))
                k++;
            if (k == n) g->host[n++] = (struct end){0, g->host[i].delay_ns, g->host[i].rate_bps};
            g->host[k].peer++;
        }
        from = until;
        g->first_host[s] = begin;
    }
    g->first_host[g->t->nodes] = n;
}

static uint64_t payload_ns(const struct graph *g, weft_rate_bps rate) {
    return g->mtu * 8 * UINT64_C(1000000000) / rate;
}

static struct path way_onwards(const struct graph *g, const struct path *path, const struct end *e) {
    return (struct path){path->hops + 1, path->delay_ns + e->delay_ns, path->payload_ns + payload_ns(g, e->rate_bps),
                         e->rate_bps < path->rate_bps ? e->rate_bps : path->rate_bps};
}

static void search_from(struct graph *g, uint32_t from) {
    uint32_t queued = 0;
    for (uint32_t n = 0; n < g->t->nodes; n++)
        g->path[n].hops = WEFT_NONE;
    g->path[from] = (struct path){.rate_bps = UINT64_MAX};
    g->queue[queued++] = from;
    for (uint32_t i = 0; i < queued; i++)
        for (uint32_t k = g->first[g->queue[i]]; k < g->first[g->queue[i] + 1]; k++) {
            uint32_t peer = g->end[k].peer;
            if (g->path[peer].hops != WEFT_NONE) continue;
            g->path[peer] = way_onwards(g, &g->path[g->queue[i]], &g->end[k]);
            g->queue[queued++] = peer;
        }
}

static void take_pair(const struct graph *g, const struct end *a, const struct path *between, const struct end *b,
                      struct weft__hpcc_longest *most) {
    struct path path = way_onwards(g, between, a);
    path = way_onwards(g, &path, b);
    uint64_t rtt_ns = 2 * path.delay_ns + path.payload_ns;
    weft_bytes window = (weft_bytes)((unsigned __int128)rtt_ns * path.rate_bps / (8 * UINT64_C(1000000000)));
    if (rtt_ns > most->rtt_ns) most->rtt_ns = rtt_ns;
    if (window > most->window) most->window = window;
}

struct weft__hpcc_longest weft__hpcc_window(const struct weft__hpcc_topology *t, weft_bytes mtu,
                                            struct weft_arena *arena) {
    struct weft__hpcc_longest most = {0};
    struct graph g = {.t = t, .mtu = mtu};
    g.first = weft_arena_alloc(arena, (size_t)t->nodes + 1, sizeof *g.first);
    g.first_host = weft_arena_alloc(arena, (size_t)t->nodes + 1, sizeof *g.first_host);
    g.end = sort_links(&g, false, g.first, arena);
    g.host = sort_links(&g, true, g.first_host, arena);
    g.path = weft_arena_alloc(arena, t->nodes, sizeof *g.path);
    g.queue = weft_arena_alloc(arena, t->nodes, sizeof *g.queue);
    keep_kinds(&g);
    uint64_t edges = 0;
    for (uint32_t s = 0; s < t->nodes; s++)
        edges += g.first_host[s + 1] > g.first_host[s];
    if (edges * ((uint64_t)t->nodes + g.first[t->nodes]) > WEFT__HPCC_WINDOW_STEPS) return most;
    for (uint32_t s = 0; s < t->nodes; s++) {
        if (g.first_host[s] == g.first_host[s + 1]) continue;
        search_from(&g, s);
        for (uint32_t u = 0; u < t->nodes; u++)
            for (uint32_t a = g.first_host[s]; a < g.first_host[s + 1] && g.path[u].hops != WEFT_NONE; a++)
                for (uint32_t b = g.first_host[u]; b < g.first_host[u + 1]; b++) {
                    if (u == s && a == b && g.host[a].peer == 1) continue; // a host paired with itself
                    take_pair(&g, &g.host[a], &g.path[u], &g.host[b], &most);
                }
    }
    return most;
}
