// SPDX-License-Identifier: Apache-2.0
#include "sim/follow.h"

#include <string.h>

struct weft__following {
    struct weft_follow *follow;
    uint8_t *qp;               ///< [queue pairs]
    struct weft__follow *port; ///< [ports]
};

void weft__follow_start(struct weft__network *net, struct weft_follow *follow) {
    if (!follow) return;
    const struct weft_topology *t = net->topology;
    struct weft__following *all = weft_arena_alloc(net->arena_qp, 1, sizeof *all);
    *all = (struct weft__following){
        .follow = follow,
        .qp = weft_arena_alloc(net->arena_qp, net->qps, sizeof *all->qp),
        .port = weft_arena_alloc(net->arena_qp, t->ports, sizeof *all->port),
    };
    for (uint32_t q = 0; q < net->qps; q++)
        all->qp[q] = !follow->flow || follow->flow[net->qp[q].flow];
    for (uint32_t i = 0; i < t->ports; i++)
        all->port[i] = (struct weft__follow){.qp = all->qp, .all = follow->port && follow->port[i], .port = i};
    net->following = all;
}

struct weft__follow *weft__follow_port(const struct weft__network *net, uint32_t port) {
    return net->following ? &net->following->port[port] : NULL;
}

void weft__follow_collect(struct weft__network *net) {
    struct weft__following *all = net->following;
    if (!all) return;
    struct weft_follow *f = all->follow;
    f->n = 0;
    for (uint32_t i = 0; i < net->topology->ports; i++)
        f->n += all->port[i].n;
    f->followed = weft_arena_alloc(net->outcome->arena, f->n, sizeof *f->followed);
    uint64_t at = 0;
    for (uint32_t i = 0; i < net->topology->ports; i++) {
        if (all->port[i].n) memcpy(f->followed + at, all->port[i].followed, all->port[i].n * sizeof *f->followed);
        at += all->port[i].n;
    }
}

void weft__follow_free(struct weft__network *net) {
    for (uint32_t i = 0; net->following && i < net->topology->ports; i++)
        weft__follow_release(&net->following->port[i]);
}
