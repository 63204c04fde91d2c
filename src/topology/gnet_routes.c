// SPDX-License-Identifier: Apache-2.0
// The tables of all TiNs, one column at a time. Whether a port is a candidate is decided backwards from the
// destination: it is one only if the TiN behind it has a candidate for a cell that arrives that way.
#include <string.h>

#include "topology/gnet.h"

static const enum weft_memory_kind KIND = WEFT_MEMORY_ROUTES;

#define BUILD const struct weft__gnet_build *b
enum { ALL_HOPS = (1 << WEFT_GNET_HOPS) - 1 };

/// Hops that may follow the hop by which a cell arrived; any after a terminal or another pod.
static uint32_t hops_after(BUILD, uint32_t input) {
    return input < WEFT_GNET_INTRA_POD ? ALL_HOPS : weft_gnet_turns[b->conf->turns].after[input - WEFT_GNET_INTRA_POD];
}

/// At most `max` of the ports, starting at a different one for every TiN and column, so that none is always left out.
static uint64_t limit_ports(uint64_t ports, uint64_t max, uint32_t start) {
    uint32_t n = (uint32_t)__builtin_popcountll(ports);
    if (n <= max) return ports;
    uint64_t kept = 0;
    for (uint64_t i = 0; i < max; i++)
        kept |= UINT64_C(1) << weft_gnet_nth(ports, (uint32_t)((start + i) % n));
    return kept;
}

/// If no minimal path is left, the others become the shortest there are.
static struct weft_gnet_set settle_set(BUILD, uint64_t minimal, uint64_t nonminimal, uint32_t start) {
    if (!minimal) minimal = nonminimal;
    minimal = limit_ports(minimal, b->conf->minimal_max, start);
    return (struct weft_gnet_set){minimal, limit_ports(nonminimal & ~minimal, b->conf->nonminimal_max, start)};
}

static uint64_t any_ports(struct weft_gnet_set set) {
    return set.minimal | set.nonminimal;
}

static const struct weft_gnet_set *known_set(BUILD, uint32_t tin, uint32_t input, uint32_t vc, uint32_t column) {
    uint32_t at = (input * WEFT_GNET_ROUTING_VCS + vc) * b->r->columns + column;
    return &b->sets[tin].set[b->r->tin[tin].set_of[at]];
}

static void note_set(BUILD, uint32_t tin, uint32_t input, uint32_t vc, uint32_t column, struct weft_gnet_set set) {
    uint32_t at = (input * WEFT_GNET_ROUTING_VCS + vc) * b->r->columns + column;
    b->r->tin[tin].set_of[at] = weft__gnet_sets_add(&b->sets[tin], set);
}

// --- destinations in the pod --------------------------------------------------------------------------------------

/// Directly to `d`, or through another TiN of the pod.
static struct weft_gnet_set within_pod(BUILD, uint32_t x, uint32_t input, uint32_t d) {
    const struct weft_tin *tin = b->f->tin;
    uint32_t first = b->f->pod_first[tin[x].pod], end = b->f->pod_first[tin[x].pod + 1];
    uint64_t direct = weft__gnet_to(b, x, tin[d].place), others = 0;
    if (!(hops_after(b, input) >> weft_gnet_hop(tin[x].place, tin[d].place) & 1)) direct = 0;
    for (uint32_t y = first; y < end && input < WEFT_GNET_INTRA_POD; y++) {
        if (y == x || y == d || !weft__gnet_to(b, y, tin[d].place)) continue;
        uint32_t came = WEFT_GNET_INTRA_POD + (uint32_t)weft_gnet_hop(tin[x].place, tin[y].place);
        if (hops_after(b, came) >> weft_gnet_hop(tin[y].place, tin[d].place) & 1)
            others |= weft__gnet_to(b, x, tin[y].place);
    }
    return settle_set(b, direct, others, x + tin[d].place);
}

/// The TiNs of its pod from which a destination can be reached, by place, for cells from other pods.
static uint64_t find_landings(BUILD, uint32_t d) {
    uint32_t pod = b->f->tin[d].pod;
    uint64_t landings = 0;
    for (uint32_t x = b->f->pod_first[pod]; x < b->f->pod_first[pod + 1]; x++)
        if (x == d || any_ports(within_pod(b, x, WEFT_GNET_INTER_POD, d)))
            landings |= UINT64_C(1) << b->f->tin[x].place;
    return landings;
}

/// Fills the rows that need no other pod.
static void fill_own(BUILD, uint32_t x, uint32_t d) {
    uint32_t column = b->f->tin[d].place;
    struct weft_gnet_set landed = within_pod(b, x, WEFT_GNET_INTER_POD, d);
    for (uint32_t vc = 0; vc < WEFT_GNET_ROUTING_VCS - 1; vc++)
        note_set(b, x, WEFT_GNET_INTER_POD, vc, column, landed);
    note_set(b, x, WEFT_GNET_TERMINAL, 0, column, landed);
    for (uint32_t input = WEFT_GNET_INTRA_POD; input < WEFT_GNET_INPUTS; input++)
        for (uint32_t vc = 0; vc < WEFT_GNET_ROUTING_VCS; vc++)
            note_set(b, x, input, vc, column, within_pod(b, x, input, d));
}

// --- destinations in another pod ----------------------------------------------------------------------------------

/// TiNs of a pod that are reached from the same TiNs of that pod: they share a column.
struct remote {
    uint32_t pod, column;
    uint64_t landings;
    uint64_t *exit; ///< [tins]: its ports to landings
};

static void find_exits(BUILD, struct remote *q) {
    for (uint32_t x = 0; x < b->f->tins; x++) {
        const struct weft_tin *tin = &b->f->tin[x];
        q->exit[x] = 0;
        for (uint64_t ports = b->live[x] & tin->global; ports; ports &= ports - 1) {
            const struct weft_tin *peer = &b->f->tin[tin->peer[__builtin_ctzll(ports)]];
            if (peer->pod == q->pod && (q->landings >> peer->place & 1)) q->exit[x] |= ports & -ports;
        }
    }
}

/// Local ports to TiNs that have an exit.
static uint64_t towards_exits(BUILD, const struct remote *q, uint32_t x, uint32_t hops) {
    const struct weft_tin *tin = b->f->tin;
    uint64_t ports = 0;
    for (uint32_t z = b->f->pod_first[tin[x].pod]; z < b->f->pod_first[tin[x].pod + 1]; z++)
        if (z != x && q->exit[z] && (hops >> weft_gnet_hop(tin[x].place, tin[z].place) & 1))
            ports |= weft__gnet_to(b, x, tin[z].place);
    return ports;
}

/// Local ports to TiNs without an exit that a cell may pass through, with `vc` there.
static uint64_t towards_others(BUILD, const struct remote *q, uint32_t x, uint32_t vc) {
    const struct weft_tin *tin = b->f->tin;
    uint64_t ports = 0;
    for (uint32_t y = b->f->pod_first[tin[x].pod]; y < b->f->pod_first[tin[x].pod + 1]; y++) {
        if (y == x || q->exit[y]) continue;
        uint32_t came = WEFT_GNET_INTRA_POD + (uint32_t)weft_gnet_hop(tin[x].place, tin[y].place);
        if (any_ports(*known_set(b, y, came, vc, q->column)) & ~weft__gnet_to(b, y, tin[x].place))
            ports |= weft__gnet_to(b, x, tin[y].place);
    }
    return ports;
}

/// Global ports of `x` to TiNs of intermediate pods, for a destination that cells from another pod reach by `column`.
static uint64_t find_detours(BUILD, uint32_t x, uint32_t pod, uint32_t column) {
    const struct weft_tin *tin = &b->f->tin[x];
    uint64_t detours = 0;
    for (uint64_t ports = b->live[x] & tin->global; ports; ports &= ports - 1) {
        uint32_t w = tin->peer[__builtin_ctzll(ports)];
        if (b->f->tin[w].pod != pod && any_ports(*known_set(b, w, WEFT_GNET_INTER_POD, 0, column)))
            detours |= ports & -ports;
    }
    return detours;
}

/// Cells from another pod that pass through towards the column's pod.
static void fill_passing(BUILD, const struct remote *q) {
    for (uint32_t x = 0; x < b->f->tins; x++) {
        if (b->f->tin[x].pod == q->pod) continue;
        for (uint32_t input = WEFT_GNET_INTRA_POD; input < WEFT_GNET_INPUTS; input++) {
            uint64_t ports = q->exit[x] ? q->exit[x] : towards_exits(b, q, x, hops_after(b, input));
            note_set(b, x, input, 1, q->column, settle_set(b, ports, 0, x + q->pod));
        }
    }
    for (uint32_t x = 0; x < b->f->tins; x++) {
        if (b->f->tin[x].pod == q->pod) continue;
        uint64_t minimal = q->exit[x] | towards_exits(b, q, x, ALL_HOPS), others = towards_others(b, q, x, 1);
        note_set(b, x, WEFT_GNET_INTER_POD, 0, q->column, settle_set(b, minimal, others, x + q->pod));
    }
}

/// Cells in their source pod.
static void fill_leaving(BUILD, const struct remote *q) {
    for (uint32_t x = 0; x < b->f->tins; x++) {
        if (b->f->tin[x].pod == q->pod) continue;
        uint64_t detours = find_detours(b, x, q->pod, q->column);
        for (uint32_t input = WEFT_GNET_INTRA_POD; input < WEFT_GNET_INPUTS; input++) {
            uint64_t ports = q->exit[x] ? q->exit[x] : towards_exits(b, q, x, hops_after(b, input));
            note_set(b, x, input, 0, q->column, settle_set(b, ports, detours, x + q->pod));
        }
    }
    for (uint32_t x = 0; x < b->f->tins; x++) {
        if (b->f->tin[x].pod == q->pod) continue;
        uint64_t minimal = q->exit[x] | towards_exits(b, q, x, ALL_HOPS);
        uint64_t detours = find_detours(b, x, q->pod, q->column), others = towards_others(b, q, x, 0);
        if (!minimal && detours) minimal = detours;
        note_set(b, x, WEFT_GNET_TERMINAL, 0, q->column, settle_set(b, minimal, detours | others, x + q->pod));
    }
}

/// Groups the TiNs of every pod by their landings, into columns.
static uint32_t group_landings(BUILD, struct remote *remote) {
    uint32_t n = 0;
    for (uint32_t pod = 0, first = 0; pod < b->f->pods; pod++, first = n)
        for (uint32_t d = b->f->pod_first[pod]; d < b->f->pod_first[pod + 1]; d++) {
            uint64_t landings = find_landings(b, d);
            uint32_t i = first;
            while (i < n && remote[i].landings != landings)
                i++;
            if (i == n) remote[n++] = (struct remote){.pod = pod, .column = b->r->places + i, .landings = landings};
            b->r->column_of[d] = (uint16_t)remote[i].column;
        }
    return n;
}

// --- back to the own pod ------------------------------------------------------------------------------------------

/// Paths that leave the pod and return, for a cell whose destination cannot be reached from here within the pod.
static void fill_return(BUILD, uint32_t pod, uint32_t d) {
    const struct weft_tin *tin = b->f->tin;
    uint32_t first = b->f->pod_first[pod], end = b->f->pod_first[pod + 1];
    for (uint32_t x = first; x < end; x++)
        for (uint32_t input = WEFT_GNET_INTRA_POD; input < WEFT_GNET_INPUTS && x != d; input++)
            if (!any_ports(*known_set(b, x, input, 0, tin[d].place)))
                note_set(b, x, input, 0, tin[d].place,
                         settle_set(b, 0, find_detours(b, x, pod, b->r->column_of[d]), x + tin[d].place));
    for (uint32_t x = first; x < end; x++) {
        if (x == d || any_ports(*known_set(b, x, WEFT_GNET_TERMINAL, 0, tin[d].place))) continue;
        uint64_t ports = find_detours(b, x, pod, b->r->column_of[d]);
        for (uint32_t y = first; y < end && !ports; y++) {
            if (y == x || y == d) continue;
            uint32_t came = WEFT_GNET_INTRA_POD + (uint32_t)weft_gnet_hop(tin[x].place, tin[y].place);
            if (any_ports(*known_set(b, y, came, 0, tin[d].place))) ports |= weft__gnet_to(b, x, tin[y].place);
        }
        note_set(b, x, WEFT_GNET_TERMINAL, 0, tin[d].place, settle_set(b, 0, ports, x + tin[d].place));
    }
}

/// Whether a pod lacks an internal link.
static bool is_damaged(BUILD, uint32_t pod) {
    for (uint32_t x = b->f->pod_first[pod]; x < b->f->pod_first[pod + 1]; x++)
        if (b->f->tin[x].local & ~b->live[x]) return true;
    return false;
}

static void fill_all(BUILD, struct remote *remote, uint32_t remotes) {
    uint64_t *exit = weft_memory_new(KIND, b->f->tins, sizeof *exit);
    for (uint32_t pod = 0; pod < b->f->pods; pod++)
        for (uint32_t d = b->f->pod_first[pod]; d < b->f->pod_first[pod + 1]; d++)
            for (uint32_t x = b->f->pod_first[pod]; x < b->f->pod_first[pod + 1]; x++)
                if (x != d) fill_own(b, x, d);
    for (uint32_t i = 0; i < remotes; i++) {
        struct remote *q = &remote[i];
        q->exit = exit;
        find_exits(b, q);
        fill_passing(b, q);
        fill_leaving(b, q);
    }
    for (uint32_t pod = 0; pod < b->f->pods; pod++)
        for (uint32_t d = b->f->pod_first[pod]; d < b->f->pod_first[pod + 1] && is_damaged(b, pod); d++)
            fill_return(b, pod, d);
    weft_memory_free(KIND, exit, b->f->tins * sizeof *exit);
}

static void find_live(BUILD, const struct weft_topology *t, const bool *down) {
    for (uint32_t x = 0; x < b->f->tins; x++) {
        const struct weft_tin *tin = &b->f->tin[x];
        for (uint64_t ports = tin->local | tin->global; ports; ports &= ports - 1) {
            uint32_t k = (uint32_t)__builtin_ctzll(ports);
            if (down && down[weft_topology_port(t, tin->node, k)->link]) continue;
            b->live[x] |= ports & -ports;
            const struct weft_tin *peer = &b->f->tin[tin->peer[k]];
            if (peer->pod == tin->pod) b->to[(size_t)x * b->r->places + peer->place] |= ports & -ports;
        }
    }
}

static void keep_sets(BUILD) {
    for (uint32_t x = 0; x < b->f->tins; x++) {
        struct weft_gnet_tin_routes *own = &b->r->tin[x];
        own->sets = b->sets[x].n;
        own->set = weft_arena_alloc(b->r->arena, own->sets, sizeof *own->set);
        memcpy(own->set, b->sets[x].set, own->sets * sizeof *own->set);
        weft__gnet_sets_deinit(&b->sets[x]);
    }
}

static void fill_tables(BUILD) {
    WEFT_FREED struct remote *remote = weft_memory_new(KIND, b->f->tins, sizeof *remote);
    uint32_t remotes = group_landings(b, remote);
    b->r->columns = b->r->places + remotes;
    for (uint32_t x = 0; x < b->f->tins; x++) {
        size_t cells = (size_t)WEFT_GNET_ROWS * b->r->columns;
        b->r->tin[x].set_of = weft_arena_alloc(b->r->arena, cells, sizeof(uint16_t));
        weft__gnet_sets_init(&b->sets[x]);
    }
    fill_all(b, remote, remotes);
    keep_sets(b);
}

struct weft_gnet_routes *weft_gnet_routes_new(const struct weft_topology *t, const struct weft_dragonfly *f,
                                              const struct weft_gnet_conf *conf, const bool *down) {
    struct weft_arena *arena = weft_arena_new(KIND);
    struct weft_gnet_routes *r = weft_arena_alloc(arena, 1, sizeof *r);
    *r = (struct weft_gnet_routes){.f = f, .arena = arena};
    for (uint32_t pod = 0; pod < f->pods; pod++)
        if (f->pod_first[pod + 1] - f->pod_first[pod] > r->places)
            r->places = f->pod_first[pod + 1] - f->pod_first[pod];
    r->column_of = weft_arena_alloc(arena, f->tins, sizeof *r->column_of);
    r->tin = weft_arena_alloc(arena, f->tins, sizeof *r->tin);
    size_t pairs = (size_t)f->tins * r->places;
    struct weft__gnet_build b = {f,
                                 conf,
                                 r,
                                 weft_memory_new(KIND, f->tins, sizeof *b.live),
                                 weft_memory_new(KIND, pairs, sizeof *b.to),
                                 weft_memory_new(KIND, f->tins, sizeof *b.sets)};
    find_live(&b, t, down);
    fill_tables(&b);
    weft__gnet_escape(&b);
    weft_memory_free(KIND, b.live, f->tins * sizeof *b.live);
    weft_memory_free(KIND, b.to, pairs * sizeof *b.to);
    weft_memory_free(KIND, b.sets, f->tins * sizeof *b.sets);
    return r;
}

void weft_gnet_routes_free(struct weft_gnet_routes *r) {
    if (r) weft_arena_free(r->arena);
}
