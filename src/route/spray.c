// SPDX-License-Identifier: Apache-2.0
// Packet spraying: every packet takes a separate path, in turn or at random. Source: A. Dixit et al., "On the impact of
// packet spraying in data center networks", INFOCOM 2013. Each set of candidates, identified by its first port, has its
// own turn; each switch starts at a random one, because otherwise all would start at the same spine. Packets of a queue
// pair overtake one another: see host.out_of_order.
#include "route/hash.h"
#include "weft/param.h"

enum { ROUND_ROBIN, RANDOM };
static const char *const order_names[] = {"round_robin", "random", NULL};

struct spray_conf {
    uint32_t order;
};

static const struct weft_param_table spray_params =
    WEFT_PARAM_TABLE_OF("spray", struct spray_conf, WEFT_PARAM_UNCHECKED,
                        WEFT_CHOICE(struct spray_conf, order, "order", "round_robin", order_names,
                                    "candidates round robin, or at random for each packet"));

struct spray_state {
    struct weft_random random;
    uint32_t next[]; ///< [ports]: of the set that begins with the port
};

static size_t spray_state_size(const void *conf, const struct weft_route_setup *setup) {
    return sizeof(struct spray_state) + setup->ports * sizeof(uint32_t);
}

static void spray_init(void *state, const void *conf, const struct weft_route_setup *setup) {
    struct spray_state *s = state;
    s->random = weft_random_stream(setup->seed, setup->sw, WEFT_RANDOM_ROUTE);
    for (uint32_t i = 0; i < setup->ports; i++)
        s->next[i] = (uint32_t)weft_random_u64(&s->random) >> 8; // far from where the count would wrap
}

static uint32_t spray_choose(void *state, const void *conf, const struct weft_route_query *query,
                             const struct weft_route_queues *queues) {
    struct spray_state *s = state;
    const struct spray_conf *c = conf;
    if (c->order == RANDOM) return (uint32_t)weft_random_below(&s->random, query->ports);
    return s->next[query->port[0]]++ % query->ports;
}

static enum weft_route_paths spray_paths(const void *conf) {
    return WEFT_ROUTE_PATHS_ALL;
}

const struct weft_model weft__route_spray =
    WEFT_MODEL_OF(ROUTE, "spray", "a path for every packet, in turn or at random",
                  "Dixit et al., INFOCOM 2013 (packet spraying)", &spray_params,
                  &(const struct weft_route_ops){
                      .hash_seed = weft__route_own_seed,
                      .state_size = spray_state_size,
                      .init = spray_init,
                      .choose = spray_choose,
                      .paths = spray_paths,
                  });
