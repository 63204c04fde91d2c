// SPDX-License-Identifier: Apache-2.0
// Every chosen host sends to every other. Staggered, host i sends to i + 1 first, then to i + 2 and so on, cyclically
// over the chosen hosts, so that no round is an incast; otherwise all start with the first host.
#include "generator.h"
#include "weft/param.h"

struct all_to_all_conf {
    struct weft_workload_common common;
    const char *hosts;
    bool stagger;
    weft_time_ps step_ps;
};
static const struct weft_param_table all_to_all_params = WEFT_PARAM_TABLE_OF(
    "all_to_all", struct all_to_all_conf, WEFT_PARAM_UNCHECKED, WEFT_WORKLOAD_ROWS(struct all_to_all_conf),
    WEFT_TEXT(struct all_to_all_conf, hosts, "hosts", "*", "the hosts"),
    WEFT_BOOL(struct all_to_all_conf, stagger, "stagger", "on",
              "host i sends to i + 1 first, then to i + 2, ...; off: to the first host, the second, ..."),
    WEFT_TIME(struct all_to_all_conf, step_ps, "step", "0s", "0s", "10s",
              "time from the start of one flow of a host to its next; 0: all at once"));

/// Position of the k-th destination (k from 1 to n - 1) of position i.
static uint32_t destination_of(uint32_t i, uint32_t k, uint32_t n, bool stagger) {
    if (stagger) return (uint32_t)(((uint64_t)i + k) % n);
    return k <= i ? k - 1 : k;
}

static enum weft_status all_to_all_expand(const void *conf, struct weft_place place,
                                          const struct weft_topology *topology, uint64_t seed, uint32_t entry,
                                          struct weft_workload *w, struct weft_error *ret_error) {
    (void)seed, (void)entry;
    const struct all_to_all_conf *c = conf;
    uint32_t *host, n;
    WEFT_TRY(weft_topology_select_hosts(topology, c->hosts, place, &host, &n, ret_error));
    if (n < 2) return WEFT_REFUSE(ret_error, place, "hosts '%s' is one host; all_to_all expects at least 2", c->hosts);
    enum weft_status status = weft__workload_reserve(w, &c->common, place, (uint64_t)n * (n - 1), ret_error);
    for (uint32_t i = 0; i < n && !status; i++)
        for (uint32_t k = 1; k < n && !status; k++)
            status = weft_workload_add(w, &c->common, place, host[i], host[destination_of(i, k, n, c->stagger)],
                                       c->common.size_bytes, c->common.start_ps + (k - 1) * c->step_ps, ret_error);
    return status;
}

const struct weft_model weft__workload_all_to_all =
    WEFT_MODEL_OF(WORKLOAD, "all_to_all", "every host sends to every other", "plain; nothing is drawn",
                  &all_to_all_params, &(const struct weft_workload_ops){.expand = all_to_all_expand});
