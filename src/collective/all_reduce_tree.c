// SPDX-License-Identifier: Apache-2.0
// Tree all-reduce: contributions are added on the way up a binary tree of servers, the sum goes down again. With two
// trees, each for half of the channels, a server that has children in one is a leaf in the other, so that all links are
// used. Within a server the ranks form a chain below the channel's first rank. Up and down are separate lanes; the
// root's single lane turns the data around. Source: Sanders, Speck, Traeff, "Two-tree algorithms for full bandwidth
// broadcast, reduction and scan", Parallel Computing 35 (2009): in-order numbering, a mirrored or shifted second tree;
// NCCL's double binary trees and split tree kernel. Difference: the whole server is below one rank per channel (NCCL
// may let a second rank take one of the children). Volume: every rank but the root sends the size up once, and its
// parent sends it down once: 2 (n - 1) times the size in all.
#include "part.h"
#include "tree.h"
#include "weft/param.h"

enum trees { TREE_SINGLE, TREE_DOUBLE };
static const char *const tree_names[] = {"single", "double", NULL};

struct conf {
    struct weft_collective_common common;
    uint32_t trees;
};
static const struct weft_param_table table = WEFT_PARAM_TABLE_OF(
    "all_reduce_tree", struct conf, .check = weft__collective_check,
    WEFT_COLLECTIVE_ROWS(struct conf, "512KiB", "512KiB", "8"),
    WEFT_CHOICE(struct conf, trees, "trees", "double", tree_names, "one tree, or two, each for every other channel"));

static uint32_t channels_of(const struct conf *c, const struct weft_collective_shape *shape) {
    if (c->common.channels) return (uint32_t)c->common.channels;
    return shape->per_server * (c->trees == TREE_DOUBLE ? 2 : 1);
}

/// The k-th rank of a server's chain, and the k of a rank. `half`: channels of the first tree, or of the only one, that
/// come before.
static uint32_t chain_rank(const struct weft_collective_shape *shape, uint32_t half, uint32_t server, uint32_t k) {
    uint32_t g = shape->per_server;
    if (shape->order) return server * g + weft_channel_row(shape->order, shape->order->rank, server, half)[k];
    return server * g + (half + k) % g;
}
static uint32_t chain_place(const struct weft_collective_shape *shape, uint32_t half, uint32_t rank) {
    uint32_t g = shape->per_server;
    if (shape->order) return weft_channel_row(shape->order, shape->order->place, rank / g, half)[rank % g];
    return (rank % g + g - half % g) % g;
}

/// Which rank in the chain of server `up` has server `down` below it.
static uint32_t child_place(const struct weft_collective_shape *shape, uint32_t up, uint32_t down, bool second) {
    if (!shape->order) return 0;
    return shape->order->child[weft__server_tree(shape->ranks / shape->per_server, up, second).down[0] != down];
}

static struct weft__tree_place place_of(const struct conf *c, const struct weft_collective_shape *shape, uint32_t rank,
                                        uint32_t channel) {
    uint32_t g = shape->per_server, server = rank / g;
    bool two = c->trees == TREE_DOUBLE, second = two && channel % 2;
    uint32_t half = two ? channel / 2 : channel, k = chain_place(shape, half, rank);
    struct weft__tree_place place = {k ? chain_rank(shape, half, server, k - 1) : WEFT_NONE,
                                     {WEFT_NONE, WEFT_NONE, WEFT_NONE}};
    uint32_t *end = place.down;
    if (!k || shape->order) {
        struct weft__tree_place own = weft__server_tree(shape->ranks / g, server, second);
        for (uint32_t *down = own.down; *down != WEFT_NONE; down++)
            if (child_place(shape, server, *down, second) == k) *end++ = chain_rank(shape, half, *down, 0);
        if (!k && own.up != WEFT_NONE)
            place.up = chain_rank(shape, half, own.up, child_place(shape, own.up, server, second));
    }
    if (k + 1 < g) *end = chain_rank(shape, half, server, k + 1);
    return place;
}

static uint32_t tree_lanes(const void *conf, const struct weft_collective_shape *shape) {
    return 2 * channels_of(conf, shape);
}

static struct weft__loops loops_of(const struct conf *c, const struct weft_collective_shape *shape, uint32_t channel,
                                   weft_bytes *ret_start) {
    uint32_t channels = channels_of(c, shape);
    *ret_start = weft__part(shape->bytes, channel, channels);
    return weft__loops_of(&c->common, weft__part(shape->bytes, channel + UINT64_C(1), channels) - *ret_start, 1);
}

static uint64_t tree_steps(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane) {
    weft_bytes start;
    struct weft__loops loops = loops_of(conf, shape, lane / 2, &start);
    bool down = lane % 2, root = place_of(conf, shape, rank, lane / 2).up == WEFT_NONE;
    return shape->ranks > 1 && !(root && down) ? weft__loops_steps(&loops, 1) : 0;
}

static void tree_step(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                      uint64_t index, struct weft_step *ret_step) {
    struct weft__loops loops;
    bool down = lane % 2;
    weft__step_clear(ret_step, lane / 2);
    loops = loops_of(conf, shape, lane / 2, &ret_step->offset);
    struct weft__loop_step at = weft__loops_at(&loops, 1, index);
    weft__loop_piece(&at, 0, ret_step);
    struct weft__tree_place place = place_of(conf, shape, rank, lane / 2);
    bool root = place.up == WEFT_NONE;
    for (uint32_t k = 0; k < WEFT_STEP_PEERS; k++) {
        if (!down) ret_step->recv[k] = place.down[k];
        if (down || root) ret_step->send[k] = place.down[k];
    }
    if (!root) *(down ? ret_step->recv : ret_step->send) = place.up;
    uint32_t up = ((const struct weft_collective_common *)conf)->up_percent;
    if (up && !root) ret_step->percent = (uint16_t)(down ? 100 - up : up);
    ret_step->own = !down;
    ret_step->keep = down || root;
}

static uint32_t tree_sent(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                          struct weft_sent ret_sent[WEFT_STEP_PEERS]) {
    bool down = lane % 2;
    weft_bytes start;
    struct weft__loops loops = loops_of(conf, shape, lane / 2, &start);
    struct weft__tree_place place = place_of(conf, shape, rank, lane / 2);
    bool root = place.up == WEFT_NONE;
    uint32_t n = 0;
    if (shape->ranks == 1 || (root && down)) return 0;
    if (!root && !down) ret_sent[n++] = weft__loops_sent(&loops, place.up, lane / 2);
    for (uint32_t k = 0; (root || down) && k < WEFT_STEP_PEERS && place.down[k] != WEFT_NONE; k++)
        ret_sent[n++] = weft__loops_sent(&loops, place.down[k], lane / 2);
    return n;
}

const struct weft_model weft__collective_all_reduce_tree = WEFT_MODEL_OF(
    COLLECTIVE, "all_reduce_tree", "all-reduce up and down a binary tree of servers, or two (double binary tree)",
    "Sanders, Speck, Traeff, Parallel Computing 2009; tree kernel of NCCL 2.x", &table,
    &(const struct weft_collective_ops){
        .goal = WEFT_GOAL_ALL_REDUCE, .lanes = tree_lanes, .steps = tree_steps, .step = tree_step, .sent = tree_sent});
