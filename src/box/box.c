// SPDX-License-Identifier: Apache-2.0
#include "box/box.h"

#include <assert.h>
#include <string.h>

#define WEFT_BOX(kind, name, box) extern const struct weft_model weft__box_##box;
#include "weft/boxes.def"

static const struct weft_model *const model[WEFT_BOXES] = {
#define WEFT_BOX(kind, name, box) [WEFT_BOX_##kind] = &weft__box_##box,
#include "weft/boxes.def"
};

const struct weft__box *weft__box_of(const struct weft_node_info *node) {
    assert(node->box < WEFT_BOXES);
    return model[node->box]->ops;
}

const char *weft__box_name(uint32_t kind) {
    assert(kind < WEFT_BOXES);
    return model[kind]->name;
}

bool weft__box_reads(const struct weft_node_info *node, uint32_t kind) {
    assert(kind < WEFT_BOXES);
    if (model[node->box] == model[kind]) return true;
    return kind == WEFT_BOX_ETHERNET_SWITCH && weft__box_of(node)->pfc == weft__ethernet_pfc;
}

const struct weft__box *weft__box_at(const struct weft_topology *t, uint32_t port) {
    return weft__box_of(&t->node[t->port[port].node]);
}

const struct weft__box *weft__box_of_kind(uint32_t kind) {
    return weft__box_of(&(struct weft_node_info){.box = (uint8_t)kind});
}

const struct weft__box_control *weft__box_control_of(uint32_t kind) {
    return weft__box_of_kind(kind)->control;
}

enum weft_status weft__sharing_check(const struct weft__plan *plan, bool exits, struct weft_error *ret_error) {
    const struct weft__shared *before = NULL;
    for (uint32_t kind = 0; kind < WEFT_BOXES; kind++) {
        const struct weft__box *box = weft__box_of_kind(kind);
        bool there = plan->first[kind] != WEFT_NONE && box->shared && box->shared->check && (!exits || box->exit);
        if (!there || box->shared == before) continue;
        before = box->shared;
        WEFT_TRY(before->check(plan, ret_error));
    }
    return WEFT_OK;
}

void weft__shared_new(struct weft__network *net, bool exits) {
    const struct weft_topology *t = net->topology;
    bool there[WEFT_BOXES] = {false};
    for (uint32_t n = 0; n < t->nodes; n++)
        there[t->node[n].box] = true;
    for (uint32_t kind = 0; kind < WEFT_BOXES; kind++) {
        const struct weft__box *box = weft__box_of_kind(kind);
        if (!there[kind] || !box->shared || net->shared[kind] || (exits && !box->exit)) continue;
        void *state = box->shared->make(net);
        for (uint32_t other = 0; other < WEFT_BOXES; other++)
            if (weft__box_of_kind(other)->shared == box->shared) net->shared[other] = state;
    }
}

static bool is_first(uint32_t kind) {
    for (uint32_t before = 0; before < kind; before++)
        if (weft__box_of_kind(before)->shared == weft__box_of_kind(kind)->shared) return false;
    return true;
}

const struct weft__shared *weft__shared_next(const struct weft__network *net, uint32_t *kind) {
    while (*kind < WEFT_BOXES && !(net->shared[*kind] && is_first(*kind)))
        ++*kind;
    return *kind < WEFT_BOXES ? weft__box_of_kind(*kind)->shared : NULL;
}

void weft__shared_free(struct weft__network *net) {
    const struct weft__shared *shared;
    for (uint32_t kind = 0; (shared = weft__shared_next(net, &kind)); kind++)
        if (shared->free) shared->free(net->shared[kind]);
    memset(net->shared, 0, sizeof net->shared);
}
