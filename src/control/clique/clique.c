// SPDX-License-Identifier: Apache-2.0
// The TiNs of a Clique and their links, numbered.
#include "weft/clique.h"

#include <assert.h>
#include <string.h>

#include "weft/memory.h"

static void number_links(struct weft_clique *c, struct weft_arena *arena) {
    uint32_t sum = 0, *next = weft_arena_alloc(arena, c->tins, sizeof *next);
    for (uint32_t l = 0; l < c->links; l++)
        for (uint32_t end = 0; end < 2; end++)
            c->tin[c->link[l].tin[end]].links++;
    for (uint32_t i = 0; i < c->tins; i++) {
        next[i] = c->tin[i].link0 = sum;
        sum += c->tin[i].links;
    }
    c->at = weft_arena_alloc(arena, sum, sizeof *c->at);
    for (uint32_t l = 0; l < c->links; l++)
        for (uint32_t end = 0; end < 2; end++)
            c->at[next[c->link[l].tin[end]]++] = l;
}

struct weft_clique *weft_clique_new(const struct weft_clique_tin *tin, uint32_t tins,
                                    const struct weft_clique_link *link, uint32_t links, struct weft_arena *arena) {
    struct weft_clique *c = weft_arena_alloc(arena, 1, sizeof *c);
    *c = (struct weft_clique){.pods = tin[tins - 1].pod + 1, .tins = tins, .links = links};
    c->tin = weft_arena_alloc(arena, tins, sizeof *c->tin);
    c->link = weft_arena_alloc(arena, links, sizeof *c->link);
    memcpy(c->link, link, links * sizeof *link);
    for (uint32_t i = 0; i < tins; i++) {
        assert(!i || tin[i].pod >= tin[i - 1].pod);
        uint32_t place = i && tin[i].pod == tin[i - 1].pod ? c->tin[i - 1].place + 1 : 0;
        c->tin[i] = (struct weft_clique_tin){
            .name = tin[i].name, .node = tin[i].node, .pod = tin[i].pod, .place = place, .dcn = tin[i].dcn};
    }
    number_links(c, arena);
    return c;
}

struct weft_clique *weft_clique_of(const struct weft_topology *t, const struct weft_dragonfly *f,
                                   struct weft_arena *arena) {
    uint32_t links = 0, ends = 0;
    struct weft_clique_tin *tin = weft_arena_alloc(arena, f->tins, sizeof *tin);
    for (uint32_t i = 0; i < f->tins; i++) {
        const struct weft_tin *own = &f->tin[i];
        tin[i] = (struct weft_clique_tin){
            .name = t->node[own->node].name, .node = own->node, .pod = own->pod, .dcn = own->ethernets};
        ends += own->gnet_ports;
    }
    struct weft_clique_link *link = weft_arena_alloc(arena, ends, sizeof *link);
    for (uint32_t i = 0; i < f->tins; i++)
        for (uint32_t k = 0; k < t->node[f->tin[i].node].ports && k < WEFT_GNET_PORTS_MAX; k++) {
            const struct weft_port_info *port = weft_topology_port(t, f->tin[i].node, k);
            uint32_t peer = f->tin[i].peer[k];
            if (peer == WEFT_TIN_NONE || port->peer < t->node[f->tin[i].node].port0 + k) continue; // from its first end
            link[links++] = (struct weft_clique_link){
                .tin = {i, peer},
                .port = {(uint16_t)k, (uint16_t)(port->peer - t->node[f->tin[peer].node].port0)},
                .global = f->tin[i].global >> k & 1,
                .delay_ps = t->link[port->link].delay_ps,
                .link = port->link};
        }
    return weft_clique_new(tin, f->tins, link, links, arena);
}
