// SPDX-License-Identifier: Apache-2.0
// Equal-cost multipath as in the simulator of HPCC (Y. Li et al., SIGCOMM 2019; alibaba-edu/High-Precision-Congestion-
// Control, switch-node.cc and third.cc), so that flows take the links that they take there. MurmurHash3 for x86, 32
// bits (A. Appleby, public domain), of twelve bytes: source and destination address, source port | destination port <<
// 16; the seed is the number of the switch. The remainder by the number of next hops counts them from the highest node
// number down. An ACK has addresses and ports the other way round.
//
// A node's number is the one that its name ends with (host-12, switch-320), its address 11.(id / 256).(id % 256).1 and
// the source port that of the first queue pair of a pair of hosts and the queue pair's place after it
// (host.source_port: numbered). Difference: parallel links to one neighbour are separate next hops.
#include "route/hash.h"
#include "weft/param.h"

struct murmur3_conf {
    uint64_t first_port, destination_port;
};

static const struct weft_param_table murmur3_params = WEFT_PARAM_TABLE_OF(
    "ecmp_murmur3", struct murmur3_conf, WEFT_PARAM_UNCHECKED,
    WEFT_UINT(struct murmur3_conf, first_port, "first_port", "10000", "0", "49151",
              "UDP source port of the first queue pair of two hosts (the HPCC simulator, third.cc); 0 if flows name "
              "their ports"),
    WEFT_UINT(struct murmur3_conf, destination_port, "destination_port", "100", "1", "65535",
              "UDP destination port of flows that do not name one (100 in the HPCC simulator's flow files)"));

struct murmur3_state {
    uint32_t id;
    const uint32_t *host_id;
    uint32_t peer_id[]; ///< [ports]
};

static uint32_t rotate_left(uint32_t x, unsigned bits) {
    return x << bits | x >> (32 - bits);
}

static uint32_t murmur3_hash(const uint32_t key[static 3], uint32_t seed) {
    uint32_t h = seed;
    for (unsigned i = 0; i < 3; i++) {
        h ^= rotate_left(key[i] * 0xcc9e2d51u, 15) * 0x1b873593u;
        h = rotate_left(h, 13) * 5 + 0xe6546b64u;
    }
    return weft_route_mix(h ^ 12);
}

static uint32_t address_of(uint32_t id) {
    return 0x0b000001u + (id / 256 << 16) + (id % 256 << 8);
}

static uint32_t id_of(const struct murmur3_state *s, uint32_t host) {
    return s->host_id ? s->host_id[host] : host;
}

static size_t murmur3_state_size(const void *conf, const struct weft_route_setup *setup) {
    return sizeof(struct murmur3_state) + setup->ports * sizeof(uint32_t);
}

static void murmur3_init(void *state, const void *conf, const struct weft_route_setup *setup) {
    struct murmur3_state *s = state;
    s->id = setup->id;
    s->host_id = setup->host_id;
    for (uint32_t k = 0; k < setup->ports; k++)
        s->peer_id[k] = setup->port[k].id;
}

/// Its place among the candidates, counted from the highest number down.
static uint32_t rank_of(const struct murmur3_state *s, const struct weft_route_query *query, uint32_t i) {
    uint32_t id = s->peer_id[query->port[i]], rank = 0;
    for (uint32_t k = 0; k < query->ports; k++) {
        uint32_t other = s->peer_id[query->port[k]];
        rank += other > id || (other == id && k < i);
    }
    return rank;
}

static uint32_t murmur3_choose(void *state, const void *conf, const struct weft_route_query *query,
                               const struct weft_route_queues *queues) {
    const struct murmur3_conf *c = conf;
    const struct murmur3_state *s = state;
    const struct weft_packet *p = query->packet;
    const struct weft_qp_numbers *qp = &query->qp_numbers[p->qp];
    bool data = p->kind == WEFT_PACKET_DATA;
    uint32_t sport = (uint32_t)c->first_port + p->entropy,
             dport = qp->destination_port ? qp->destination_port : (uint32_t)c->destination_port;
    const uint32_t key[3] = {address_of(id_of(s, data ? qp->src : qp->dst)), address_of(id_of(s, p->dst)),
                             data ? sport | dport << 16 : dport | sport << 16};
    uint32_t wanted = murmur3_hash(key, s->id) % query->ports;
    for (uint32_t i = 0; i < query->ports; i++)
        if (rank_of(s, query, i) == wanted) return i;
    return 0;
}

const struct weft_model weft__route_ecmp_murmur3 = WEFT_MODEL_OF(
    ROUTE, "ecmp_murmur3", "one path for a 5-tuple, by the hash, addresses and order of the HPCC simulator",
    "Li et al., SIGCOMM 2019 (HPCC simulator, switch-node.cc, third.cc); MurmurHash3 by A. Appleby", &murmur3_params,
    &(const struct weft_route_ops){
        .by_id = true,
        .hash_seed = weft__route_own_seed,
        .state_size = murmur3_state_size,
        .init = murmur3_init,
        .choose = murmur3_choose,
    });
