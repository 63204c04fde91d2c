// SPDX-License-Identifier: Apache-2.0
// The collector of traced cells.
#include "weft/celltrace.h"
#include "base/order.h"

#include <stdlib.h>

#include "control/clique/sdn_run.h"
#include "weft/memory.h"

enum { VCS = WEFT__SDN_VCS, HOPS = WEFT_CELLTRACE_HOPS_MAX };

WEFT__ORDER(by_time, struct weft_celltrace_report, WEFT__UP(time_ps))

/// The port at the other end of a TiN's port.
static uint32_t port_there(const struct weft_topology *t, const struct weft_dragonfly *f, uint32_t tin, uint32_t port) {
    return weft_topology_port(t, f->tin[tin].node, port)->peer - t->node[f->tin[f->tin[tin].peer[port]].node].port0;
}

struct weft_celltrace_path weft_celltrace_stitch(const struct weft_topology *t, const struct weft_dragonfly *f,
                                                 struct weft_celltrace_report *report, uint32_t n,
                                                 struct weft_celltrace_report *ret_hop) {
    struct weft_celltrace_path path = {.end = WEFT_CELLTRACE_UNKNOWN, .suspect = WEFT_NONE};
    if (n) qsort(report, n, sizeof *report, by_time);
    for (uint32_t i = 0; i < n; i++) {
        const struct weft_celltrace_report *r = &report[i], *last = path.hops ? &ret_hop[path.hops - 1] : NULL;
        bool next = last && f->tin[last->tin].peer[last->port_out] == r->tin;
        if (!next && r->port_in != WEFT_NONE) { // a hop in between, or before the first, may be reported by both sides
            uint32_t between = f->tin[r->tin].peer[r->port_in];
            if (last && f->tin[last->tin].peer[last->port_out] != between) return path;
            ret_hop[path.hops++] = (struct weft_celltrace_report){
                r->cell, between, last ? port_there(t, f, last->tin, last->port_out) : WEFT_NONE,
                port_there(t, f, r->tin, r->port_in), 0};
            path.missing++;
        }
        ret_hop[path.hops++] = *r;
        if (r->port_out != WEFT_NONE) continue;
        path.end = WEFT_CELLTRACE_ARRIVED;
        return path;
    }
    if (!path.hops) return path;
    path.end = WEFT_CELLTRACE_LOST;
    path.suspect = f->tin[ret_hop[path.hops - 1].tin].peer[ret_hop[path.hops - 1].port_out];
    return path;
}

/// Candidates of a cell in a state, according to the given tables, without the port by which it came.
static uint64_t candidates_of(const struct weft_sdn *s, uint32_t x, uint32_t group, uint32_t slot) {
    struct weft_gnet_set set = s->groups.tin[x].set[group];
    return (set.minimal | set.nonminimal) & ~(slot ? s->f->tin[x].back[slot - 1] : 0);
}

uint32_t weft_sdn_trace(const struct weft_sdn *s, uint32_t src, uint32_t dst, uint64_t cell, struct weft_random *random,
                        struct weft_celltrace_report *ret) {
    uint32_t x = src, slot = 0, vc = 0, n = 0;
    weft_time_ps now = 0, hop_ps = 40 * WEFT_PS_PER_NS;
    for (; x != dst && n + 1 < HOPS && vc < VCS; n++) {
        uint32_t group = weft__sdn_lookup(&s->tables, x, slot * VCS + vc, dst);
        uint64_t ports = group && s->session[x].present[group] ? candidates_of(s, x, group, slot) & s->up_real[x] : 0;
        if (!ports) return n; // dropped: it leaves nowhere
        uint32_t k = weft_gnet_nth(ports, (uint32_t)weft_random_below(random, (uint32_t)__builtin_popcountll(ports)));
        now += hop_ps;
        ret[n] = (struct weft_celltrace_report){cell, x, slot ? slot - 1 : WEFT_NONE, k, now};
        vc = weft_gnet_next_vc((enum weft_gnet_input)weft__sdn_input_of(s->f, x, slot), vc);
        slot = 1u + s->wiring->port_there[x * WEFT_GNET_PORTS_MAX + k];
        x = s->f->tin[x].peer[k];
    }
    if (x == dst)
        ret[n++] = (struct weft_celltrace_report){cell, x, slot ? slot - 1 : WEFT_NONE, WEFT_NONE, now + hop_ps};
    return n;
}

bool weft_sdn_is_meant(const struct weft_sdn *s, const struct weft_celltrace_report *hop, uint32_t i, uint32_t dst) {
    uint32_t vc = 0, input = WEFT_GNET_TERMINAL;
    for (uint32_t k = 0; k <= i; k++) {
        uint32_t slot = hop[k].port_in == WEFT_NONE ? 0 : hop[k].port_in + 1;
        if (k) vc = weft_gnet_next_vc((enum weft_gnet_input)input, vc);
        input = weft__sdn_input_of(s->f, hop[k].tin, slot);
    }
    if (hop[i].port_out == WEFT_NONE) return hop[i].tin == dst;
    uint32_t group = vc < VCS ? weft__sdn_lookup(&s->meant, hop[i].tin, input * VCS + vc, dst) : 0;
    uint32_t slot = hop[i].port_in == WEFT_NONE ? 0 : hop[i].port_in + 1;
    return group && (candidates_of(s, hop[i].tin, group, slot) >> hop[i].port_out & 1);
}

/// Evidence against TiNs: cells that they sent astray are proof; cells last seen on their way to a TiN may also be lost
/// reports.
struct evidence {
    uint64_t *astray, *lost; ///< [tins]
};

static void judge_path(const struct weft_sdn *s, struct weft_celltrace_report *report, uint32_t n, uint32_t src,
                       uint32_t dst, struct weft_celltrace_result *r, struct evidence *e) {
    struct weft_celltrace_report hop[2 * HOPS + 1];
    struct weft_celltrace_path path = weft_celltrace_stitch(s->t, s->f, report, n, hop);
    for (uint32_t i = 0; i < path.hops && hop[0].tin == src; i++) {
        if (weft_sdn_is_meant(s, hop, i, dst)) continue;
        r->astray++;
        e->astray[hop[i].tin]++;
        return;
    }
    r->arrived += path.end == WEFT_CELLTRACE_ARRIVED;
    r->unknown += path.end == WEFT_CELLTRACE_UNKNOWN;
    r->lost += path.end == WEFT_CELLTRACE_LOST;
    if (path.end == WEFT_CELLTRACE_LOST) e->lost[path.suspect]++;
}

static void find_suspect(uint32_t tins, const uint64_t *against, struct weft_celltrace_result *r) {
    for (uint32_t x = 0; x < tins; x++)
        if (against[x] > r->suspicions) {
            r->suspect = x;
            r->suspicions = against[x];
        }
}

struct weft_celltrace_result weft_sdn_find_fault(const struct weft_sdn *s, uint32_t rounds, double loss,
                                                 uint64_t seed) {
    struct weft_celltrace_result r = {.suspect = WEFT_NONE};
    struct weft_random random = weft_random_stream(seed, 3, WEFT_RANDOM_PHASE);
    uint32_t tins = s->f->tins;
    struct evidence e = {weft_memory_new(WEFT_MEMORY_RESULT, tins, sizeof *e.astray),
                         weft_memory_new(WEFT_MEMORY_RESULT, tins, sizeof *e.lost)};
    for (uint32_t pair = 0; pair < tins * tins; pair++)
        for (uint32_t k = 0; k < rounds && pair / tins != pair % tins; k++) {
            struct weft_celltrace_report report[HOPS];
            uint32_t n = weft_sdn_trace(s, pair / tins, pair % tins, r.cells, &random, report), kept = 0;
            for (uint32_t i = 0; i < n; i++) // in flight to the collector
                if (weft_random_unit(&random) >= loss) report[kept++] = report[i];
            r.cells++;
            r.missing += n - kept;
            judge_path(s, report, kept, pair / tins, pair % tins, &r, &e);
        }
    find_suspect(tins, e.astray, &r);
    if (!r.astray) find_suspect(tins, e.lost, &r);
    weft_memory_free(WEFT_MEMORY_RESULT, e.astray, tins * sizeof *e.astray);
    weft_memory_free(WEFT_MEMORY_RESULT, e.lost, tins * sizeof *e.lost);
    return r;
}
