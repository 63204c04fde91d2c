// SPDX-License-Identifier: Apache-2.0
#include "device/dsf_outside.h"

/// Views have few epochs: failures of Ethernet links, as often as the user writes one.
static const struct weft__outside_exit *exits_at(const struct weft__outside *o, weft_time_ps now, uint32_t in,
                                                 uint32_t host, uint32_t *ret_n) {
    uint32_t class = o->class_of_host[host];
    *ret_n = 0;
    if (class == WEFT_NONE) return NULL;
    const struct weft__outside_view *view = &o->view[in];
    uint32_t e = view->epochs - 1;
    while (e && view->epoch[e].from_ps > now)
        e--;
    const struct weft_exit_set *set = &view->epoch[e].set[class];
    *ret_n = set->n;
    return &o->exit[set->first];
}

static uint32_t choose(const struct weft__outside *o, const struct weft_packet *p, uint32_t n) {
    struct weft_route_query query = {.packet = p, .hash_seed = o->hash_seed, .ports = n, .port = o->index};
    return n > 1 ? o->route->select(o->route_conf, &query) : 0;
}

bool weft__outside_exit(const struct weft__outside *o, weft_time_ps now, const struct weft_packet *p, uint32_t from,
                        struct weft__outside_exit *ret_exit) {
    uint32_t n;
    const struct weft__outside_exit *exit = exits_at(o, now, from, p->dst, &n);
    if (n) *ret_exit = exit[choose(o, p, n)];
    return n;
}

bool weft__outside_own_exit(const struct weft__outside *o, weft_time_ps now, const struct weft_packet *p, uint32_t in,
                            struct weft__outside_exit *ret_exit) {
    uint32_t n, first = 0, own = 0;
    const struct weft__outside_exit *exit = exits_at(o, now, in, p->dst, &n);
    while (first < n && exit[first].in != in)
        first++;
    while (first + own < n && exit[first + own].in == in)
        own++;
    if (own) *ret_exit = exit[first + choose(o, p, own)];
    return own;
}
