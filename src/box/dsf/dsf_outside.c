// SPDX-License-Identifier: Apache-2.0
#include "box/dsf/dsf_outside.h"

#include <assert.h>

static struct weft_exit_set exits_of(const struct weft__outside *o, uint32_t in, uint32_t epoch, uint32_t host) {
    uint32_t class = o->class_of_host[host];
    return class == WEFT_NONE ? (struct weft_exit_set){0} : o->view[in].epoch[epoch].set[class];
}

/// Views have few epochs: one per failure of an Ethernet link in the user's list.
static uint32_t epoch_at(const struct weft__outside *o, weft_time_ps now, uint32_t in) {
    const struct weft__outside_view *view = &o->view[in];
    uint32_t e = view->epochs - 1;
    while (e && view->epoch[e].from_ps > now)
        e--;
    return e;
}

static uint32_t choose_exit(const struct weft__outside *o, const struct weft_packet *p, uint32_t seed, uint32_t n) {
    struct weft_route_query query = {
        .packet = p, .hash_seed = seed, .ports = n, .port = o->index, .qp_numbers = o->qp_numbers};
    uint32_t k = n > 1 ? o->route->select(o->route_conf, &query) : 0;
    assert(k < n);
    return k;
}

/// The index in `left` of exit `k` of `all`; `left` is a subset in the same order.
static uint32_t find_exit(const struct weft__outside *o, struct weft_exit_set all, struct weft_exit_set left,
                          uint32_t k) {
    const struct weft__outside_exit *wanted = &o->exit[all.first + k];
    for (uint32_t i = k < left.n ? k + 1 : left.n; i-- > 0 && all.n - left.n >= k - i;)
        if (o->exit[left.first + i].in == wanted->in && o->exit[left.first + i].port == wanted->port) return i;
    return WEFT_NONE;
}

bool weft__outside_exit(const struct weft__outside *o, weft_time_ps now, const struct weft_packet *p, uint32_t from,
                        struct weft__outside_exit *ret_exit) {
    uint32_t epoch = epoch_at(o, now, from), seed = o->hash_seed, k = WEFT_NONE;
    struct weft_exit_set set = exits_of(o, from, epoch, p->dst);
    if (!set.n) return false;
    if (o->resilient && epoch) {
        struct weft_exit_set all = exits_of(o, from, 0, p->dst); // links that are down at the start are noticed later
        if (all.n >= set.n) k = find_exit(o, all, set, choose_exit(o, p, seed, all.n));
        seed = ~seed; // with the same hash, everything from a lost exit would go to its neighbours
    }
    *ret_exit = o->exit[set.first + (k == WEFT_NONE ? choose_exit(o, p, seed, set.n) : k)];
    return true;
}

bool weft__outside_own_exit(const struct weft__outside *o, weft_time_ps now, const struct weft_packet *p, uint32_t in,
                            struct weft__outside_exit *ret_exit) {
    struct weft_exit_set set = exits_of(o, in, epoch_at(o, now, in), p->dst);
    const struct weft__outside_exit *exit = &o->exit[set.first];
    uint32_t first = 0, own = 0;
    while (first < set.n && exit[first].in != in)
        first++;
    while (first + own < set.n && exit[first + own].in == in)
        own++;
    if (own) *ret_exit = exit[first + choose_exit(o, p, o->hash_seed, own)];
    return own;
}
