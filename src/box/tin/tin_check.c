// SPDX-License-Identifier: Apache-2.0
#include "box/tin/tin_net.h"

/// A TiN has at most 64 ports, including those of its endpoints.
static enum weft_status check_ports(const struct weft__plan *plan, uint32_t node, struct weft_error *ret_error) {
    const struct weft_topology *t = plan->topology;
    const struct weft_tin_conf *conf = weft__tin_conf(plan->device[node]);
    uint64_t ports = conf->ip_endpoints + conf->rma_endpoints + conf->control_endpoints;
    for (uint32_t k = 0; k < t->node[node].ports; k++)
        ports += weft_topology_link_is_fabric(t, weft_topology_port(t, node, k)->link);
    if (ports <= WEFT_GNET_PORTS_MAX) return WEFT_OK;
    return WEFT_REFUSE(ret_error, plan->scenario->topology.place,
                       "%s has %llu GNet ports and endpoints together; expected at most %d", t->node[node].name,
                       (unsigned long long)ports, WEFT_GNET_PORTS_MAX);
}

/// All TiNs must use trains of the same length.
static enum weft_status check_train(const struct weft__plan *plan, uint32_t node, struct weft_error *ret_error) {
    uint64_t own = weft__tin_conf(plan->device[node])->train,
             first = weft__tin_conf(plan->device[plan->first[WEFT_BOX_TIN]])->train;
    if (own == first) return WEFT_OK;
    return WEFT_REFUSE(ret_error, plan->scenario->topology.place,
                       "tin.train of %s is %llu, of another TiN %llu; expected the same for all",
                       plan->topology->node[node].name, (unsigned long long)own, (unsigned long long)first);
}

enum weft_status weft__tin_check(const struct weft__plan *plan, uint32_t node, struct weft_error *ret_error) {
    enum weft_status status = check_train(plan, node, ret_error);
    if (!status) status = check_ports(plan, node, ret_error);
    if (!status)
        status = weft__tin_nics_check(plan->topology, node, weft__tin_conf(plan->device[node]),
                                      plan->scenario->topology.place, ret_error);
    return status ? status : weft__ethernet_check(plan, node, ret_error);
}
