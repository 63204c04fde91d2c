// SPDX-License-Identifier: Apache-2.0
// Every chosen host sends to one other and receives from one other.
// random: a derangement, all equally likely: permutations are drawn (Fisher and Yates; Durstenfeld, CACM Algorithm 235)
// until one has no fixed point, e times on average. Sattolo's algorithm would need one draw, but yields single cycles
// only.
// Each repetition draws its own: repetition 0 of entry e is the same whatever `repeat` is.
// shift: host i sends to host i + n, in every repetition.
#include <inttypes.h>

#include "generator.h"
#include "weft/param.h"

enum mode { MODE_RANDOM, MODE_SHIFT };
static const char *const mode_names[] = {"random", "shift", NULL};

struct permutation_conf {
    struct weft_workload_common common;
    const char *hosts;
    uint32_t mode;
    uint64_t shift;
};
static const struct weft_param_table permutation_params = WEFT_PARAM_TABLE_OF(
    "permutation", struct permutation_conf, WEFT_PARAM_UNCHECKED, WEFT_WORKLOAD_ROWS(struct permutation_conf),
    WEFT_TEXT(struct permutation_conf, hosts, "hosts", "*", "the hosts"),
    WEFT_CHOICE(struct permutation_conf, mode, "mode", "random", mode_names, "who sends to whom"),
    WEFT_UINT(struct permutation_conf, shift, "shift", "1", "1", "16777216",
              "mode shift: host i sends to host i + shift, cyclically among the chosen hosts"));

/// A uniformly random permutation of 0..n-1; false if it has a fixed point.
static bool shuffle_hosts(struct weft_random *random, uint32_t *to, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        to[i] = i;
    for (uint32_t i = n; i-- > 0;) {
        uint32_t k = (uint32_t)weft_random_below(random, i + 1);
        uint32_t t = to[k];
        to[k] = to[i];
        to[i] = t;
        if (t == i) return false; // final: later steps only change entries below it
    }
    return true;
}

void weft__workload_derange(struct weft_random random, uint32_t *to, uint32_t n) {
    while (!shuffle_hosts(&random, to, n))
        ;
}

static void draw_destinations(const struct permutation_conf *c, struct weft_random random, uint32_t *to, uint32_t n) {
    if (c->mode == MODE_RANDOM) {
        weft__workload_derange(random, to, n);
    } else {
        for (uint32_t i = 0; i < n; i++)
            to[i] = (uint32_t)((i + c->shift) % n);
    }
}

static enum weft_status permutation_expand(const void *conf, struct weft_place place,
                                           const struct weft_topology *topology, uint64_t seed, uint32_t entry,
                                           struct weft_workload *w, struct weft_error *ret_error) {
    const struct permutation_conf *c = conf;
    uint32_t *host, n;
    enum weft_status status = weft_topology_select_hosts(topology, c->hosts, place, &host, &n, ret_error);
    if (status) return status;
    if (n < 2)
        return WEFT_REFUSE(ret_error, place, "hosts '%s' is one host; a permutation expects at least 2", c->hosts);
    if (c->mode == MODE_SHIFT && c->shift % n == 0)
        return WEFT_REFUSE(ret_error, place,
                           "shift %" PRIu64 " of %" PRIu32
                           " hosts is every host to itself; expected no multiple of %" PRIu32,
                           c->shift, n, n);
    WEFT_TRY(weft__workload_reserve(w, &c->common, place, n, ret_error));
    uint32_t draws = c->mode == MODE_RANDOM ? (uint32_t)c->common.repeat : 1;
    uint32_t *to = weft_memory_new(WEFT_MEMORY_SCENARIO, (size_t)draws * n, sizeof *to);
    for (uint32_t k = 0; k < draws; k++)
        draw_destinations(c, weft__workload_stream(seed, entry, k, WEFT_RANDOM_WORKLOAD), &to[(size_t)k * n], n);
    for (uint32_t i = 0; i < n && !status; i++) {
        uint32_t first = w->flows;
        status = weft_workload_add(w, &c->common, place, host[i], host[to[i]], c->common.size_bytes, c->common.start_ps,
                                   ret_error);
        for (uint32_t k = 1; k < draws && !status; k++)
            w->flow[first + k].dst = host[to[(size_t)k * n + i]];
    }
    weft_memory_free(WEFT_MEMORY_SCENARIO, to, (size_t)draws * n * sizeof *to);
    return status;
}

const struct weft_model weft__workload_permutation = WEFT_MODEL_OF(
    WORKLOAD, "permutation", "every host sends to one other and receives from one other; each repetition draws anew",
    "random derangement by rejection of shuffles (Durstenfeld, CACM Algorithm 235)", &permutation_params,
    &(const struct weft_workload_ops){.expand = permutation_expand}, .draws = true);
