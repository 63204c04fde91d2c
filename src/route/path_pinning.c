// SPDX-License-Identifier: Apache-2.0
// Path pinning: packets from the d-th downlink of a switch leave by its uplink d modulo the number of uplinks, whatever
// their destination; or, by the destination's index, packets to the d-th host of any leaf leave by that uplink,
// whatever their source. Downwards a packet keeps its place: where several links lead down into a pod, it takes the one
// whose number among those of that pod equals the number of its own link among those of its source pod; the same for
// parallel links to one switch. If a packet's link is not among the candidates (it has failed, or does not lead there)
// the packet uses ECMP. Source: "RDMA over Ethernet for Distributed AI Training at Meta Scale", SIGCOMM 2024, which
// names the downlink's index and the fallback. The modulo and the rules of upper layers are assumed, and so is whose
// downlink it is: the text that we have does not say (docs/studies/meta-roce.md compares the two).
#include "route/hash.h"
#include "weft/param.h"

enum { PATH_PINNING_SOURCE, PATH_PINNING_DESTINATION };
static const char *const index_names[] = {"source", "destination", NULL};

struct path_pinning_conf {
    struct weft__route_hash_conf hash;
    uint32_t index; ///< PATH_PINNING_...
};

static const struct weft_param_table path_pinning_params = WEFT_PARAM_TABLE_OF(
    "path_pinning", struct path_pinning_conf, WEFT_PARAM_UNCHECKED, WEFT__ROUTE_HASH_ROW(struct path_pinning_conf),
    WEFT_CHOICE(struct path_pinning_conf, index, "index", "source", index_names,
                "downlink whose number selects the uplink: the sender's, or the receiver's at its own leaf (assumed)"));

struct path_pinning_state {
    uint32_t ups;             ///< uplinks
    const uint16_t *downlink; ///< [hosts] by destination; NULL: by source
    struct place {
        uint32_t peer, pod;
        uint16_t rank; ///< among the ports of its direction
        uint16_t lane; ///< among the links to the same peer
        uint16_t seat; ///< among the links to the same pod
        uint16_t up;   ///< [i] of the array: the i-th uplink's port
        uint8_t direction;
    } place[]; ///< [ports]
};

static size_t path_pinning_state_size(const void *conf, const struct weft_route_setup *setup) {
    return sizeof(struct path_pinning_state) + setup->ports * sizeof(struct place);
}

static void path_pinning_init(void *state, const void *conf, const struct weft_route_setup *setup) {
    struct path_pinning_state *s = state;
    if (((const struct path_pinning_conf *)conf)->index == PATH_PINNING_DESTINATION) s->downlink = setup->downlink;
    uint16_t ranks[] = {[WEFT_ROUTE_DOWN] = 0, [WEFT_ROUTE_UP] = 0, [WEFT_ROUTE_ACROSS] = 0};
    for (uint32_t i = 0; i < setup->ports; i++) {
        const struct weft_route_port *port = &setup->port[i];
        struct place *place = &s->place[i];
        place->peer = port->peer;
        place->pod = port->pod;
        place->direction = (uint8_t)port->direction;
        place->rank = ranks[port->direction]++;
        for (uint32_t k = 0; k < i; k++) {
            if (s->place[k].peer == port->peer) place->lane++;
            if (s->place[k].pod == port->pod) place->seat++;
        }
        if (port->direction == WEFT_ROUTE_UP) s->place[s->ups++].up = (uint16_t)i;
    }
}

/// The index of the link with the number of the link on which the packet arrived; WEFT_NONE if links have no such
/// numbers.
static uint32_t find_place(const struct path_pinning_state *s, const struct weft_route_query *query) {
    const struct place *in = &s->place[query->packet->port], *first = &s->place[query->port[0]];
    bool parallel = true, one_pod = first->pod != WEFT_NONE && in->pod != WEFT_NONE;
    uint32_t lane = WEFT_NONE, seat = WEFT_NONE;
    for (uint32_t i = 0; i < query->ports; i++) {
        const struct place *out = &s->place[query->port[i]];
        parallel &= out->peer == first->peer;
        one_pod &= out->pod == first->pod;
        if (out->lane == in->lane) lane = i;
        if (out->seat == in->seat) seat = i;
    }
    return parallel ? lane : one_pod ? seat : WEFT_NONE;
}

static uint32_t path_pinning_choose(void *state, const void *conf, const struct weft_route_query *query,
                                    const struct weft_route_queues *queues) {
    const struct path_pinning_state *s = state;
    const struct place *in = &s->place[query->packet->port];
    bool climbs = in->direction == WEFT_ROUTE_DOWN && s->place[query->port[0]].direction == WEFT_ROUTE_UP;
    uint32_t index = s->downlink ? s->downlink[query->packet->dst] : in->rank;
    uint32_t pinned = climbs ? weft__route_find(query, s->place[index % s->ups].up) : find_place(s, query);
    return pinned != WEFT_NONE ? pinned : weft_route_index(query, weft_route_hash(query));
}

static enum weft_route_paths path_pinning_paths(const void *conf) {
    return WEFT_ROUTE_PATHS_ONE;
}

const struct weft_model weft__route_path_pinning = WEFT_MODEL_OF(
    ROUTE, "path_pinning", "the uplink with the number of the downlink that the packet came by; ECMP if it has failed",
    "Meta, SIGCOMM 2024 (path pinning)", &path_pinning_params,
    &(const struct weft_route_ops){
        .hash_seed = weft__route_hash_seed,
        .state_size = path_pinning_state_size,
        .init = path_pinning_init,
        .choose = path_pinning_choose,
        .paths = path_pinning_paths,
    });
