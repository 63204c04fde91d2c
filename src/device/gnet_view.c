// SPDX-License-Identifier: Apache-2.0
// What a cell switch shows of itself when a run has ended.
#include "device/gnet_switch.h"

bool weft__gnet_starves(const struct weft__gnet *g, uint32_t port, uint32_t vc, struct weft__gnet_wait *ret_wait) {
    const struct weft__gnet_out *out = &g->out[port];
    if (!((out->queued & ~out->creditable) >> vc & 1)) return false;
    *ret_wait = (struct weft__gnet_wait){.bytes = g->depth[vc][port], .since_ps = out->starved_ps[vc]};
    return true;
}

bool weft__gnet_blocks(const struct weft__gnet *g, uint32_t port, uint32_t vc, uint32_t *ret_out, uint32_t *ret_vc) {
    const struct weft__gnet_in *in = &g->in[port];
    if (!(in->waiting >> vc & 1)) return false;
    *ret_out = in->vc[vc].out;
    *ret_vc = in->vc[vc].out_vc;
    return g->links >> *ret_out & 1 && !(g->out[*ret_out].room >> *ret_vc & 1);
}

bool weft__gnet_leads_to(const struct weft__gnet *g, uint32_t to) {
    if (to == g->self) return true;
    uint32_t column = g->pod_of[to] == g->pod ? g->place_of[to] : g->column_of[to];
    const struct weft_gnet_set *set =
        &g->set[g->set_of[(uint32_t)WEFT_GNET_TERMINAL * WEFT_GNET_ROUTING_VCS * g->columns + column]];
    const struct weft_gnet_escape *e = weft_gnet_escape_at(g->routes, g->self, false, to);
    return (set->minimal | set->nonminimal | e->up | e->down) & ~g->down;
}
