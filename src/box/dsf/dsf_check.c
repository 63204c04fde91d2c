// SPDX-License-Identifier: Apache-2.0
// What the interface and fabric nodes of a scenario cannot share.
#include <string.h>

#include "box/dsf/dsf_net.h"

/// Links of an interface node to Ethernet switches, which lead out of its fabric.
static uint32_t count_uplinks(const struct weft_topology *t, uint32_t node) {
    uint32_t n = 0, end = t->node[node].port0 + t->node[node].ports;
    if (t->node[node].box != WEFT_BOX_DSF_INTERFACE) return 0;
    for (uint32_t p = t->node[node].port0; p < end; p++)
        n += !weft_topology_link_is_fabric(t, t->port[p].link) &&
             t->node[t->port[t->port[p].peer].node].role != WEFT_NODE_HOST;
    return n;
}

/// Whether a fabric of this network reaches hosts outside it. A network is in one piece, so such hosts and a link out
/// of the fabric suffice.
static bool leads_out(const struct weft_topology *t, const struct weft_network_info *network, const uint32_t *fabric) {
    uint32_t end = network->node0 + network->nodes;
    for (uint32_t n = network->node0, before = WEFT_NONE; n < end; n++) {
        if (fabric[n] == before || !count_uplinks(t, n)) continue; // WEFT_NONE: in no fabric
        before = fabric[n];
        for (uint32_t far = network->node0; far < end; far++)
            if (fabric[far] != before && t->node[far].role == WEFT_NODE_SWITCH && weft_topology_has_hosts(t, far))
                return true;
    }
    return false;
}

/// The route model of a fabric is that of its interface nodes, which must all have the same, because both ends of a
/// path must agree. `first`: of each fabric.
static enum weft_status check_gate(const struct weft__plan *plan, uint32_t n, uint32_t *first,
                                   struct weft_error *ret_error) {
    const struct weft_topology *t = plan->topology;
    const struct weft_model_conf *route = &plan->device[n]->sw.route;
    uint32_t links = count_uplinks(t, n);
    if (((const struct weft_route_ops *)route->model->ops)->choose)
        return WEFT_REFUSE(ret_error, route->place,
                           "switch.route of %s: %s keeps state; interface nodes choose where packets leave their "
                           "fabric by ecmp or e_ecmp",
                           t->node[n].name, route->model->name);
    if (*first == WEFT_NONE) *first = n;
    const struct weft_model_conf *of_first = &plan->device[*first]->sw.route;
    if (route->model != of_first->model)
        return WEFT_REFUSE(ret_error, route->place,
                           "switch.route of %s is %s, and of %s %s; expected one for all interface nodes of a "
                           "fabric, which choose alike",
                           t->node[*first].name, of_first->model->name, t->node[n].name, route->model->name);
    if (links > WEFT_BGP_LINKS_MAX)
        return WEFT_REFUSE(ret_error, t->place,
                           "%s has %u links to Ethernet switches; expected at most %u of an interface node",
                           t->node[n].name, links, WEFT_BGP_LINKS_MAX);
    return WEFT_OK;
}

static enum weft_status check_outside(const struct weft__plan *plan, struct weft_arena *arena,
                                      struct weft_error *ret_error) {
    const struct weft_topology *t = plan->topology;
    uint32_t *fabric = weft_arena_alloc(arena, t->nodes, sizeof *fabric), fabrics = weft_fabrics_find(t, fabric);
    uint32_t *first = weft_arena_alloc(arena, fabrics, sizeof *first);
    memset(first, 0xff, fabrics * sizeof *first);
    bool any = false;
    for (uint32_t k = 0; k < t->networks && !any; k++)
        any = leads_out(t, &t->network[k], fabric);
    for (uint32_t n = 0; any && n < t->nodes; n++)
        if (t->node[n].box == WEFT_BOX_DSF_INTERFACE) WEFT_TRY(check_gate(plan, n, &first[fabric[n]], ret_error));
    return WEFT_OK;
}

/// Whether a control plane is simulated: something fails, or interface nodes learn of one another only in the run.
static bool is_controlled(const struct weft__plan *plan, const struct weft_control_event *event, uint32_t events) {
    bool any = plan->topology->events || plan->scenario->control.fsdb.cold_start;
    for (uint32_t i = 0; i < events; i++)
        any |= weft_control_is_drain(&event[i]) || weft_control_concerns_fsdb(&event[i]);
    return any;
}

enum weft_status weft__dsf_check_shared(const struct weft__plan *plan, struct weft_error *ret_error) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_ROUTES);
    const struct weft_topology *t = plan->topology;
    struct weft_control_event *event;
    uint32_t events, fabrics;
    struct weft_fabric **fabric;
    WEFT_TRY(weft_control_events_read(t, plan->scenario->control_tree, &event, &events, ret_error));
    WEFT_TRY(weft_control_picks_check(t, &plan->scenario->control, plan->scenario->control_tree, ret_error));
    if (is_controlled(plan, event, events))
        WEFT_TRY(weft_fabric_find(t, &plan->scenario->control.reach, arena, &fabric, &fabrics, ret_error));
    return check_outside(plan, arena, ret_error);
}
