// SPDX-License-Identifier: Apache-2.0
// Which hosts of a TiN share a NIC: tin.nic_hosts of them in the order of its ports, if their links together are faster
// than the NIC.
#include "base/units.h"
#include "box/tin/tin_net.h"

/// A NIC that hosts could share.
struct group {
    struct weft__tin_nic nic; ///< hosts and their ports, among the Ethernet ones
    weft_rate_bps sum, most;  ///< of their links
    uint32_t end;             ///< the port of the TiN behind its hosts
};

/// The group that begins at port `first` of the TiN or after it.
static struct group find_group(const struct weft_topology *t, uint32_t tin, uint32_t first, uint64_t hosts) {
    struct group g = {.sum = 0};
    uint32_t ethernet = 0;
    for (; g.end < t->node[tin].ports && g.nic.hosts < hosts; g.end++) {
        const struct weft_port_info *port = weft_topology_port(t, tin, g.end);
        if (weft_topology_link_is_fabric(t, port->link)) continue;
        uint32_t own = ethernet++;
        if (g.end < first || t->node[t->port[port->peer].node].box != WEFT_BOX_HOST) continue;
        weft_rate_bps rate = t->link[port->link].rate_bps;
        g.nic.port[g.nic.hosts++] = own;
        g.sum += rate;
        if (rate > g.most) g.most = rate;
    }
    return g;
}

static bool is_shared(const struct group *g, const struct weft_tin_conf *conf) {
    return g->nic.hosts > 1 && g->sum > conf->nic_rate_bps;
}

enum weft_status weft__tin_nics_check(const struct weft_topology *t, uint32_t tin, const struct weft_tin_conf *conf,
                                      struct weft_place place, struct weft_error *ret_error) {
    for (uint32_t first = 0; first < t->node[tin].ports;) {
        struct group g = find_group(t, tin, first, conf->nic_hosts);
        first = g.end;
        if (!is_shared(&g, conf) || g.most <= conf->nic_rate_bps) continue;
        return WEFT_REFUSE(ret_error, place,
                           "a host of %s has a link of %s, more than the NIC of %s that it shares; expected at most "
                           "that, or a higher tin.nic_rate, or tin.nic_hosts: 1",
                           t->node[tin].name, weft__short_rate(g.most).text, weft__short_rate(conf->nic_rate_bps).text);
    }
    return WEFT_OK;
}

struct weft__tin_nics *weft__tin_nics_find(const struct weft_topology *t, uint32_t tin,
                                           const struct weft_tin_conf *conf, struct weft_arena *arena) {
    uint32_t ports = t->node[tin].ports, n = 0;
    struct weft__tin_nic *nic = NULL;
    for (unsigned pass = 0; pass < 2; pass++) { // the first pass counts, the second stores
        if (pass && !n) return NULL;
        if (pass) nic = weft_arena_alloc(arena, n, sizeof *nic);
        n = 0;
        for (uint32_t first = 0; first < ports;) {
            struct group g = find_group(t, tin, first, conf->nic_hosts);
            first = g.end;
            if (!is_shared(&g, conf)) continue;
            if (pass) nic[n] = g.nic;
            n++;
        }
    }
    return weft__tin_nics_new(conf, nic, n, ports, arena);
}

int64_t weft__tin_nic_window(const struct weft__network *net, uint32_t port) {
    const struct weft_topology *t = net->topology;
    uint32_t tin = t->port[port].node, at = port - t->node[tin].port0;
    const struct weft_tin_conf *conf = weft__tin_conf(net->device[tin]);
    struct group g = {.end = 0};
    while (g.end <= at)
        g = find_group(t, tin, g.end, conf->nic_hosts);
    return is_shared(&g, conf) ? (int64_t)conf->nic_window_bytes : INT64_MAX;
}
