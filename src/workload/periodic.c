// SPDX-License-Identifier: Apache-2.0
// Periodic traffic of many hosts: checkpoints of all servers to storage, the next batch from storage to the servers,
// logs. Every source sends `repeat` times, `interval` apart, to one destination in turn, to one drawn, or to all.
#include "generator.h"
#include "weft/param.h"

enum to { TO_TURN, TO_RANDOM, TO_ALL };
static const char *const to_names[] = {"turn", "random", "all", NULL};

struct periodic_conf {
    struct weft_workload_common common;
    const char *src, *dst;
    uint32_t to;
};
static const struct weft_param_table periodic_params = WEFT_PARAM_TABLE_OF(
    "periodic", struct periodic_conf, WEFT_PARAM_UNCHECKED, WEFT_WORKLOAD_ROWS(struct periodic_conf),
    WEFT_TEXT(struct periodic_conf, src, "src", NULL, "hosts that send"),
    WEFT_TEXT(struct periodic_conf, dst, "dst", NULL, "hosts that receive"),
    WEFT_CHOICE(struct periodic_conf, to, "to", "turn", to_names,
                "turn: the i-th of src sends its r-th time to number i + r of dst, cyclically; random: to one drawn at "
                "random; all: `size` to each of them"));

struct sides {
    uint32_t *src, *dst, sources, destinations;
};

/// The draws of a source. By number rather than by host, so that they are the same in whichever network the two sides
/// meet.
struct draws {
    struct weft_random jitter, destination;
};

/// The r-th time, without jitter; more than allowed if it does not fit.
static weft_time_ps time_of(const struct weft_workload_common *c, uint64_t r) {
    weft_time_ps after, start;
    if (__builtin_mul_overflow(r, c->interval_ps, &after) || __builtin_add_overflow(c->start_ps, after, &start))
        return WEFT_TIME_NEVER / 2;
    return start;
}

/// What source `i` does the `r`-th time.
static enum weft_status one_time(const struct periodic_conf *c, struct weft_place place, const struct sides *s,
                                 uint32_t i, uint64_t r, struct draws *draws, struct weft_workload *w,
                                 struct weft_error *ret_error) {
    struct weft_workload_common once = c->common;
    once.repeat = 1;
    weft_time_ps start = time_of(&c->common, r) + weft_random_below(&draws->jitter, c->common.jitter_ps + 1);
    uint32_t first = (uint32_t)((i + r) % s->destinations), n = c->to == TO_ALL ? s->destinations : 1;
    if (c->to == TO_RANDOM) first = (uint32_t)weft_random_below(&draws->destination, s->destinations);
    for (uint32_t k = 0; k < n; k++)
        WEFT_TRY(weft_workload_add(w, &once, place, s->src[i], s->dst[(first + k) % s->destinations],
                                   c->common.size_bytes, start, ret_error));
    return WEFT_OK;
}

static enum weft_status periodic_expand(const void *conf, struct weft_place place, const struct weft_topology *topology,
                                        uint64_t seed, uint32_t entry, struct weft_workload *w,
                                        struct weft_error *ret_error) {
    const struct periodic_conf *c = conf;
    struct sides s;
    WEFT_TRY(weft_topology_select_hosts(topology, c->src, place, &s.src, &s.sources, ret_error));
    WEFT_TRY(weft_topology_select_hosts(topology, c->dst, place, &s.dst, &s.destinations, ret_error));
    uint64_t flows = c->to == TO_ALL ? (uint64_t)s.sources * s.destinations : s.sources;
    WEFT_TRY(weft__workload_reserve(w, &c->common, place, flows, ret_error));
    for (uint32_t i = 0; i < s.sources; i++) {
        struct draws draws = {.jitter = weft__workload_stream(seed, entry, i, WEFT_RANDOM_ARRIVAL),
                              .destination = weft__workload_stream(seed, entry, i, WEFT_RANDOM_WORKLOAD)};
        for (uint64_t r = 0; r < c->common.repeat; r++)
            WEFT_TRY(one_time(c, place, &s, i, r, &draws, w, ret_error));
    }
    return WEFT_OK;
}

const struct weft_model weft__workload_periodic = WEFT_MODEL_OF(
    WORKLOAD, "periodic", "many send at intervals: checkpoints, batches of training data, logs",
    "the frontend traffic named by Meta, SIGCOMM 2024: data ingestion, checkpointing, logging", &periodic_params,
    &(const struct weft_workload_ops){.expand = periodic_expand, .jitters = true}, .draws = true);
