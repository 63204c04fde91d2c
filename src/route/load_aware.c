// SPDX-License-Identifier: Apache-2.0
// Load-aware ECMP: the least loaded of the candidates' egress queues, among a few drawn at random or among all, for
// every packet or every flowlet. Sources: S. Ghorbani et al., "DRILL: micro load balancing for low-latency data center
// networks", SIGCOMM 2017 (per packet, two samples); M. Mitzenmacher, "The power of two choices in randomized load
// balancing", 2001; grades of a queue: OCP SAI, saiarsprofile.h (chips quantise a port's load into bands, and draw
// among the ports of the best), FBOSS, AgentArsBase (bands between 100 and 200 KB). Differences: queues are seen
// without delay (SAI's default samples them every 16 us), and only this switch's own: congestion downstream shows as
// backlog here, or not at all; grades start at 0 and have one width.
#include "route/flowlets.h"
#include "weft/param.h"

enum { PER_PACKET, PER_FLOWLET };
static const char *const per_names[] = {"packet", "flowlet", NULL};
enum { SAMPLES_MAX = 64 };

struct load_aware_conf {
    struct weft__flowlets_conf flowlets;
    weft_bytes depth_step;
    uint64_t samples;
    uint32_t per;
    bool memory;
};

static const struct weft_param_table load_aware_params =
    WEFT_PARAM_TABLE_OF("load_aware", struct load_aware_conf, WEFT_PARAM_UNCHECKED,
                        WEFT_CHOICE(struct load_aware_conf, per, "per", "packet", per_names, "unit that gets a path"),
                        WEFT_UINT(struct load_aware_conf, samples, "samples", "2", "0", "64",
                                  "candidates drawn and compared, 1: random; 0: all (DRILL: 2)"),
                        WEFT_BYTES(struct load_aware_conf, depth_step, "depth_step", "0B", "0B", "1GB",
                                   "queues are compared in steps of this size, of equal ones one is drawn; 0B: to the "
                                   "byte (of chips assumed 16 KB, 4 to 100 KB)"),
                        WEFT_BOOL(struct load_aware_conf, memory, "memory", "false",
                                  "the last port taken is compared with those drawn (DRILL: true)"),
                        WEFT__FLOWLETS_ROWS(struct load_aware_conf));

struct load_aware_state {
    struct weft_random random;
    uint32_t last;                ///< port taken
    struct weft__flowlet table[]; ///< per flowlet only
};

static size_t load_aware_state_size(const void *conf, const struct weft_route_setup *setup) {
    const struct load_aware_conf *c = conf;
    uint64_t entries = c->per == PER_FLOWLET ? c->flowlets.entries : 0;
    return sizeof(struct load_aware_state) + entries * sizeof(struct weft__flowlet);
}

static void load_aware_init(void *state, const void *conf, const struct weft_route_setup *setup) {
    struct load_aware_state *s = state;
    s->random = weft_random_stream(setup->seed, setup->sw, WEFT_RANDOM_ROUTE);
    s->last = WEFT_NONE;
}

/// In steps.
static weft_bytes depth_of(const struct load_aware_conf *c, const struct weft_route_query *query,
                           const struct weft_route_queues *queues, uint32_t index) {
    weft_bytes depth = queues->depth(queues->context, query->port[index], query->packet->priority);
    return c->depth_step ? depth / c->depth_step : depth;
}

/// Of all candidates; among equal ones each is equally likely.
static uint32_t least_of_all(struct load_aware_state *s, const struct load_aware_conf *c,
                             const struct weft_route_query *query, const struct weft_route_queues *queues) {
    uint32_t best = 0, equals = 0;
    weft_bytes least = UINT64_MAX;
    for (uint32_t i = 0; i < query->ports; i++) {
        weft_bytes depth = depth_of(c, query, queues, i);
        equals = depth < least ? 1 : equals + (depth == least);
        if (depth > least || (equals > 1 && weft_random_below(&s->random, equals))) continue;
        least = depth;
        best = i;
    }
    return best;
}

/// Of `n` different candidates; every order of them is equally likely.
static uint32_t least_of_sample(struct load_aware_state *s, const struct load_aware_conf *c,
                                const struct weft_route_query *query, const struct weft_route_queues *queues,
                                uint32_t n) {
    uint32_t drawn[SAMPLES_MAX], best = 0; // drawn: ascending
    weft_bytes least = UINT64_MAX;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = (uint32_t)weft_random_below(&s->random, query->ports - i), k = 0;
        for (; k < i && drawn[k] <= at; k++)
            at++;
        for (uint32_t j = i; j > k; j--)
            drawn[j] = drawn[j - 1];
        drawn[k] = at;
        weft_bytes depth = depth_of(c, query, queues, at);
        if (depth < least) {
            least = depth;
            best = at;
        }
    }
    return best;
}

/// The candidate drawn, or the last one taken if that is emptier.
static uint32_t remember_choice(struct load_aware_state *s, const struct load_aware_conf *c,
                                const struct weft_route_query *query, const struct weft_route_queues *queues,
                                uint32_t index) {
    uint32_t last = weft__route_find(query, s->last);
    if (last != WEFT_NONE && depth_of(c, query, queues, last) < depth_of(c, query, queues, index)) index = last;
    s->last = query->port[index];
    return index;
}

static uint32_t load_aware_choose(void *state, const void *conf, const struct weft_route_query *query,
                                  const struct weft_route_queues *queues) {
    struct load_aware_state *s = state;
    const struct load_aware_conf *c = conf;
    struct weft__flowlet *flowlet = c->per == PER_FLOWLET ? weft__flowlets_at(s->table, &c->flowlets, query) : NULL;
    uint32_t index = flowlet ? weft__flowlets_kept(flowlet, &c->flowlets, query) : WEFT_NONE;
    bool kept = index != WEFT_NONE;
    if (!kept)
        index = c->samples && c->samples < query->ports ? least_of_sample(s, c, query, queues, (uint32_t)c->samples)
                                                        : least_of_all(s, c, query, queues);
    if (!kept && c->memory) index = remember_choice(s, c, query, queues, index);
    if (flowlet) weft__flowlets_note(flowlet, query, index);
    return index;
}

static enum weft_route_paths load_aware_paths(const void *conf) {
    const struct load_aware_conf *c = conf;
    return c->per == PER_PACKET ? WEFT_ROUTE_PATHS_ALL : WEFT_ROUTE_PATHS_UNKNOWN;
}

const struct weft_model weft__route_load_aware =
    WEFT_MODEL_OF(ROUTE, "load_aware", "the least loaded of a few egress queues, for every packet or burst",
                  "Ghorbani et al., SIGCOMM 2017 (DRILL); Mitzenmacher 2001 (power of two choices)", &load_aware_params,
                  &(const struct weft_route_ops){
                      .hash_seed = weft__route_own_seed,
                      .state_size = load_aware_state_size,
                      .init = load_aware_init,
                      .choose = load_aware_choose,
                      .paths = load_aware_paths,
                  });
