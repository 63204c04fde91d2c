// SPDX-License-Identifier: Apache-2.0
#include "import/planes.h"

#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "weft/import.h"
#include "weft/topology.h"

struct search {
    struct weft__planes *p;
    struct weft_arena *arena;
    uint32_t *first, *at; ///< links of a node: at[first[node]] to at[first[node + 1]]
    uint32_t *group;      ///< [nodes], of a switch
    uint32_t *plane;      ///< [nodes], of a group; WEFT_NONE: none yet
};

static uint32_t other_end(const struct search *s, uint32_t link, uint32_t node) {
    return s->p->end[link][s->p->end[link][0] == node];
}

static uint32_t degree_of(const struct search *s, uint32_t node) {
    return s->first[node + 1] - s->first[node];
}

static void sort_links(struct search *s) {
    const struct weft__planes *p = s->p;
    s->first = weft_arena_alloc(s->arena, (size_t)p->nodes + 1, sizeof *s->first);
    s->at = weft_arena_alloc(s->arena, 2 * (size_t)p->links, sizeof *s->at);
    uint32_t *next = weft_arena_alloc(s->arena, (size_t)p->nodes + 1, sizeof *next);
    for (uint32_t i = 0; i < 2 * p->links; i++)
        s->first[p->end[i / 2][i % 2] + 1]++;
    for (uint32_t n = 0; n < p->nodes; n++)
        s->first[n + 1] += s->first[n];
    memcpy(next, s->first, ((size_t)p->nodes + 1) * sizeof *next);
    for (uint32_t i = 0; i < 2 * p->links; i++)
        s->at[next[p->end[i / 2][i % 2]]++] = i / 2;
}

static const char *count_links(struct search *s, uint32_t *ret_host) {
    uint32_t reference = WEFT_NONE;
    for (uint32_t i = 0; i < s->p->links; i++) {
        *ret_host = s->p->end[i][0];
        if (s->p->host[s->p->end[i][0]] && s->p->host[s->p->end[i][1]])
            return "has a link to another host; expected links to switches";
    }
    for (uint32_t n = 0; n < s->p->nodes; n++) {
        if (!s->p->host[n]) continue;
        if (reference == WEFT_NONE) reference = n;
        uint32_t links = degree_of(s, n), expected = degree_of(s, reference);
        *ret_host = n;
        if (!links) return "has no link; expected one";
        if (links > WEFT__PLANES_MAX)
            return weft_arena_format(s->arena, "has %" PRIu32 " links; expected %d at most", links, WEFT__PLANES_MAX);
        if (links != expected)
            return weft_arena_format(s->arena, "has %s, and host %" PRIu32 " has %" PRIu32 "; expected as many",
                                     weft__counted(links, "link").text, reference, expected);
        s->p->n = links;
    }
    return NULL;
}

/// Groups of switches: the parts into which the network falls without its hosts, or each switch for itself.
static void group_switches(struct search *s, bool parts, uint32_t *queue) {
    for (uint32_t n = 0; n < s->p->nodes; n++)
        s->group[n] = parts ? WEFT_NONE : n;
    for (uint32_t n = 0; n < s->p->nodes && parts; n++) {
        if (s->group[n] != WEFT_NONE || s->p->host[n]) continue;
        uint32_t queued = 0;
        s->group[n] = n;
        queue[queued++] = n;
        for (uint32_t i = 0; i < queued; i++)
            for (uint32_t k = s->first[queue[i]]; k < s->first[queue[i] + 1]; k++) {
                uint32_t peer = other_end(s, s->at[k], queue[i]);
                if (s->p->host[peer] || s->group[peer] != WEFT_NONE) continue;
                s->group[peer] = n;
                queue[queued++] = peer;
            }
    }
}

static uint32_t group_at(const struct search *s, uint32_t host, uint32_t k) {
    return s->group[other_end(s, s->at[s->first[host] + k], host)];
}

/// Gives planes to the groups of a host that have none; false: two of its links are in one plane.
static bool take_host(struct search *s, uint32_t host) {
    uint32_t taken = 0;
    for (uint32_t k = 0; k < s->p->n; k++) {
        uint32_t plane = s->plane[group_at(s, host, k)];
        if (plane == WEFT_NONE) continue;
        if (taken >> plane & 1) return false;
        taken |= 1u << plane;
    }
    for (uint32_t k = 0; k < s->p->n; k++) {
        uint32_t *plane = &s->plane[group_at(s, host, k)];
        if (*plane != WEFT_NONE) continue;
        *plane = (uint32_t)__builtin_ctz(~taken);
        taken |= 1u << *plane;
    }
    return weft__planes_in((uint16_t)taken) == s->p->n;
}

/// Chooses planes host by host, next those that share a switch with an earlier one; false: that cannot be done.
static bool choose_planes(struct search *s, uint32_t *queue) {
    bool *seen = weft_arena_alloc(s->arena, s->p->nodes, sizeof *seen);
    memset(s->plane, 0xff, s->p->nodes * sizeof *s->plane);
    for (uint32_t n = 0; n < s->p->nodes; n++) {
        uint32_t queued = 0;
        if (seen[n] || !s->p->host[n]) continue;
        seen[n] = true;
        queue[queued++] = n;
        for (uint32_t i = 0; i < queued; i++) {
            if (s->p->host[queue[i]] && !take_host(s, queue[i])) return false;
            for (uint32_t k = s->first[queue[i]]; k < s->first[queue[i] + 1]; k++) {
                uint32_t peer = other_end(s, s->at[k], queue[i]);
                if (seen[peer] || (!s->p->host[peer] && !s->p->host[queue[i]])) continue; // from switch to switch
                seen[peer] = true;
                queue[queued++] = peer;
            }
        }
    }
    return true;
}

/// The planes of hosts, of their links, and of the switches at these. `chosen`: by group, else link k is in plane k.
static void mark_leaves(struct search *s, bool chosen) {
    struct weft__planes *p = s->p;
    for (uint32_t n = 0; n < p->nodes; n++) {
        if (!p->host[n]) continue;
        p->node[n] = (uint16_t)((1u << p->n) - 1);
        for (uint32_t k = 0; k < p->n; k++) {
            uint32_t link = s->at[s->first[n] + k], plane = chosen ? s->plane[group_at(s, n, k)] : k;
            p->link[link] = (uint16_t)(1u << plane);
            p->node[other_end(s, link, n)] |= p->link[link];
        }
    }
}

/// Switches without hosts are in the planes of their neighbours.
static void mark_others(struct search *s) {
    struct weft__planes *p = s->p;
    bool *leaf = weft_arena_alloc(s->arena, p->nodes, sizeof *leaf);
    for (uint32_t n = 0; n < p->nodes; n++)
        leaf[n] = p->node[n] != 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < p->links; i++)
            for (uint32_t k = 0; k < 2; k++) {
                uint32_t from = p->end[i][k], to = p->end[i][!k];
                if (leaf[to] || p->host[from] || !(p->node[from] & ~p->node[to])) continue;
                p->node[to] |= p->node[from];
                changed = true;
            }
    }
    for (uint32_t i = 0; i < p->links; i++) {
        if (p->host[p->end[i][0]] || p->host[p->end[i][1]]) continue;
        p->link[i] = p->node[p->end[i][0]] & p->node[p->end[i][1]];
        p->across += !p->link[i];
        p->shared += weft__planes_in(p->link[i]) > 1;
    }
}

const char *weft__planes_find(struct weft__planes *p, struct weft_arena *arena, uint32_t *ret_host) {
    struct search s = {.p = p, .arena = arena};
    p->n = 1;
    p->shared = p->across = 0;
    p->node = weft_arena_alloc(arena, p->nodes, sizeof *p->node);
    p->link = weft_arena_alloc(arena, p->links, sizeof *p->link);
    sort_links(&s);
    const char *wrong = count_links(&s, ret_host);
    if (wrong) return wrong;
    s.group = weft_arena_alloc(arena, p->nodes, sizeof *s.group);
    s.plane = weft_arena_alloc(arena, p->nodes, sizeof *s.plane);
    uint32_t *queue = weft_arena_alloc(arena, p->nodes, sizeof *queue);
    bool chosen = false;
    for (unsigned parts = 2; parts-- && !chosen;) {
        group_switches(&s, parts, queue);
        chosen = choose_planes(&s, queue);
    }
    mark_leaves(&s, chosen);
    mark_others(&s);
    return NULL;
}

const char *weft__planes_say(const struct weft__planes *p, struct weft_import *import) {
    static const char first[] = "plane-0-*";
    if (p->n == 1) return NULL;
    weft_import_say(import, WEFT_IMPORT_HOST, "  planes: queue_pair\n");
    weft_import_choose_hosts(import, first);
    weft_import_note(import, WEFT_IMPORT_FOUND,
                     "each host has %" PRIu32 " links: planes, plane-0 and on, which are networks before the names of "
                     "nodes; queue pairs take them in turn (planes)",
                     p->n);
    if (p->across)
        weft_import_note(import, WEFT_IMPORT_LOST, "%s from one plane to another",
                         weft__counted(p->across, "link").text);
    uint32_t switches = 0;
    for (uint32_t n = 0; n < p->nodes; n++)
        switches += !p->host[n] && weft__planes_in(p->node[n]) > 1;
    if (switches)
        weft_import_note(import, WEFT_IMPORT_LOST,
                         "planes share %s: each plane has its own, with its own buffer and no path to other planes%s",
                         weft__counted(switches, "switch").text,
                         p->shared ? weft_arena_format(weft_import_arena(import),
                                                       "; %s between them in several planes, with a part of the rate "
                                                       "in each",
                                                       weft__counted(p->shared, "link").text)
                                   : "");
    return first;
}
