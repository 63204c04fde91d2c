// SPDX-License-Identifier: Apache-2.0
// Flowlet switching: a flow keeps its path as long as its packets follow one another closely, and draws a new one after
// a pause. Sources: S. Sinha, S. Kandula, D. Katabi, "Harnessing TCP's burstiness with flowlet switching", HotNets
// 2004; E. Vanini et al., "Let it flow: resilient asymmetric load balancing with flowlet switching", NSDI 2017 (the new
// path is random). Packets that were overtaken nevertheless are counted where they arrive.
#include "route/flowlets.h"
#include "weft/param.h"

struct flowlet_conf {
    struct weft__flowlets_conf flowlets;
};

static const struct weft_param_table flowlet_params =
    WEFT_PARAM_TABLE_OF("flowlet", struct flowlet_conf, WEFT_PARAM_UNCHECKED, WEFT__FLOWLETS_ROWS(struct flowlet_conf));

struct flowlet_state {
    struct weft_random random;
    struct weft__flowlet table[];
};

static size_t flowlet_state_size(const void *conf, const struct weft_route_setup *setup) {
    const struct flowlet_conf *c = conf;
    return sizeof(struct flowlet_state) + c->flowlets.entries * sizeof(struct weft__flowlet);
}

static void flowlet_init(void *state, const void *conf, const struct weft_route_setup *setup) {
    struct flowlet_state *s = state;
    s->random = weft_random_stream(setup->seed, setup->sw, WEFT_RANDOM_ROUTE);
}

static uint32_t flowlet_choose(void *state, const void *conf, const struct weft_route_query *query,
                               const struct weft_route_queues *queues) {
    struct flowlet_state *s = state;
    const struct flowlet_conf *c = conf;
    struct weft__flowlet *flowlet = weft__flowlets_at(s->table, &c->flowlets, query);
    uint32_t index = weft__flowlets_kept(flowlet, &c->flowlets, query);
    if (index == WEFT_NONE) index = (uint32_t)weft_random_below(&s->random, query->ports);
    weft__flowlets_note(flowlet, query, index);
    return index;
}

const struct weft_model weft__route_flowlet =
    WEFT_MODEL_OF(ROUTE, "flowlet", "a path for every burst of a queue pair, at random",
                  "Sinha et al., HotNets 2004; Vanini et al., NSDI 2017 (LetFlow)", &flowlet_params,
                  &(const struct weft_route_ops){
                      .hash_seed = weft__route_own_seed,
                      .state_size = flowlet_state_size,
                      .init = flowlet_init,
                      .choose = flowlet_choose,
                  });
