// SPDX-License-Identifier: Apache-2.0
// Sizes of a Clique's routing state, counted from its tables. Source: Gibson et al., "Aquila", NSDI'22, section 4.2:
// about 1.9 million IP flows, a factor of 576 less as indexed groups; almost 5 million GNet flows, about 700 thousand
// by six port classes. docs/aquila-control.md compares the results with the paper's rounded numbers.
#include "weft/memory.h"
#include "weft/sdn.h"

enum { CPUS = 1, FAMILIES = 2 }; // of a TiN: its control processor; IPv4 and IPv6

/// The VCs of a port that have flows: cells start on the first VC of their class; on links they use any, or escape.
/// Counting an escape as one flow, and one VC at terminals, is our interpretation: it gives both of the paper's
/// numbers.
enum { TERMINAL_VCS = 1, LINK_VCS = WEFT_GNET_ROUTING_VCS + 1 };

/// Ports of a TiN in each class; all endpoints are terminals.
static void count_ports(const struct weft_tin *tin, uint64_t endpoints, uint64_t ret[WEFT_GNET_INPUTS]) {
    for (uint64_t left = tin->local | tin->global; left; left &= left - 1)
        ret[tin->input[__builtin_ctzll(left)]]++;
    ret[WEFT_GNET_TERMINAL] = endpoints;
}

static void count_tin(const struct weft_gnet_routes *r, uint32_t x, uint64_t ports, uint64_t endpoints,
                      struct weft_sdn_counts *ret) {
    const struct weft_dragonfly *f = r->f;
    const struct weft_tin *tin = &f->tin[x];
    const struct weft_gnet_tin_routes *own = &r->tin[x];
    uint64_t class_ports[WEFT_GNET_INPUTS] = {0};
    uint64_t dsts = f->pods - 1 + f->pod_first[tin->pod + 1] - f->pod_first[tin->pod] - 1;
    count_ports(tin, endpoints, class_ports);
    ret->gnet_naive += (endpoints * TERMINAL_VCS + (ports - endpoints) * LINK_VCS) * dsts;
    ret->gnet_classes += (TERMINAL_VCS + (WEFT_GNET_INPUTS - 1) * LINK_VCS) * dsts;
    WEFT_FREED bool *named = weft_memory_new(WEFT_MEMORY_ROUTES, own->sets, sizeof *named);
    for (uint32_t row = 0; row < WEFT_GNET_ROWS; row++)
        for (uint32_t column = 0; column < r->columns; column++) {
            uint16_t set = own->set_of[row * r->columns + column];
            bool leads = own->set[set].minimal | own->set[set].nonminimal;
            ret->gnet_flows += leads;
            ret->gnet_entries += leads * class_ports[row / WEFT_GNET_ROUTING_VCS];
            ret->groups += leads && !named[set];
            named[set] = true;
        }
    for (uint32_t i = 0; i < 2 * f->tins; i++) {
        const struct weft_gnet_escape *e = &own->escape[own->escape_of[i]];
        ret->gnet_escapes += (e->up | e->down) != 0;
    }
}

struct weft_sdn_counts weft_sdn_count(const struct weft_gnet_routes *r, uint64_t ports, uint64_t endpoints) {
    struct weft_sdn_counts ret = {0};
    const struct weft_dragonfly *f = r->f;
    uint64_t subnets_most = 0;
    for (uint32_t x = 0; x < f->tins; x++) {
        uint64_t addresses = (f->tin[x].hosts + CPUS) * FAMILIES;
        ret.ip_addresses += addresses;
        // a subnet for each host port of a TiN and for its processor: the index of an address in it is the TiN's
        if (addresses > subnets_most) subnets_most = addresses;
        count_tin(r, x, ports, endpoints, &ret);
    }
    ret.ip_flows = ret.ip_addresses * f->tins;
    ret.ip_indexed = subnets_most * f->tins;
    return ret;
}
