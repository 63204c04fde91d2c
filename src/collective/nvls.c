// SPDX-License-Identifier: Apache-2.0
// Collectives in which the switch of a server adds and copies (NVLink SHARP). Every rank of a server, but of more than
// 32 in an all-reduce the first 32 (NCCL_MAX_NVLS_ARITY), is the head of a part of the data, in channels of its own:
// the others hand it that part, which their switch adds on the way, and it hands what comes of it to all of them at
// once, which the switch copies. All-reduce over several servers (NVLSTree): between the two, the heads with the same
// number go up and down a binary tree of servers, or two, each for half of the channels. All-gather is the second half
// alone, reduce-scatter the first, both within a server. Source: NVIDIA/nccl, src/device/all_reduce.h (NVLS,
// NVLS_TREE), src/transport/nvls.cc. Differs: the ranks hand a piece to its head (there, the head reads it from all of
// them), which takes the same time on the same links; and a channel of NCCL has a chunk of each of g heads, which a
// rank copies in one step and of which it reduces one, where here a channel has one head, so its pieces are g chunks
// long and a head works on them g times as fast. Channels that this adds share the rate. Volume, for n ranks of a
// server: each link carries the size and an n-th of it in each direction, whatever n is.
#include <inttypes.h>

#include "part.h"
#include "tree.h"
#include "weft/nccl.h"
#include "weft/param.h"

/// A head's message in the tree is no work of its own: NCCL reads what the switch adds, adds what has come from below
/// and sends the sum up in one pass over the data, and likewise down.
enum { WITHIN_A_PASS = UINT16_MAX };

struct conf {
    struct weft_collective_common common;
};
static const struct weft_param rows[] = {WEFT_COLLECTIVE_ROWS(struct conf, "128KiB", "128KiB", "8")};
static const struct weft_param_table reduce_table =
    WEFT_PARAM_TABLE("all_reduce_nvls", struct conf, rows, .check = weft__collective_check);
static const struct weft_param_table gather_table =
    WEFT_PARAM_TABLE("all_gather_nvls", struct conf, rows, .check = weft__collective_check);
static const struct weft_param_table scatter_table =
    WEFT_PARAM_TABLE("reduce_scatter_nvls", struct conf, rows, .check = weft__collective_check);

/// What all steps of a lane share. Each piece has `local` steps within the server and, at heads, one in the tree.
struct plan {
    struct weft__loops loops;
    weft_bytes start;
    uint32_t rank, head, first, ranks; ///< first: of the server's; ranks: of a server
    uint32_t lane, local, percent;     ///< percent: of the copy rate
    bool down, in_tree, reduces, gathers;
    struct weft__tree_place tree; ///< as ranks
};

/// If a gather or a scatter has more ranks, NCCL does not use NVLS.
static uint32_t heads_of(const struct weft_collective_shape *shape, bool both) {
    return both && shape->per_server > WEFT_NCCL_HEADS_MAX ? WEFT_NCCL_HEADS_MAX : shape->per_server;
}

static uint64_t channels_wanted(const struct conf *c) {
    return c->common.channels ? c->common.channels : 2;
}

static uint32_t channels_of(const struct conf *c, uint32_t heads) {
    return (uint32_t)((channels_wanted(c) + heads - 1) / heads * heads);
}

static uint32_t rank_in(uint32_t server, const struct weft_collective_shape *shape, uint32_t number) {
    return server == WEFT_NONE ? WEFT_NONE : server * shape->per_server + number;
}

static struct plan plan_of(const struct conf *c, const struct weft_collective_shape *shape, uint32_t rank,
                           uint32_t lane, bool reduces, bool gathers) {
    uint32_t g = shape->per_server, heads = heads_of(shape, reduces && gathers), all = channels_of(c, heads);
    uint32_t number = lane / 2 % heads, part = lane / 2 / heads, channels = all / heads;
    weft_bytes from = weft__part(shape->bytes, number, heads),
               whole = weft__part(shape->bytes, number + UINT64_C(1), heads);
    struct plan p = {.rank = rank,
                     .first = rank / g * g,
                     .ranks = g,
                     .lane = lane,
                     .percent = (uint32_t)(100 * channels_wanted(c) / all),
                     .down = lane % 2,
                     .reduces = reduces,
                     .gathers = gathers};
    p.head = p.first + number;
    p.start = from + weft__part(whole - from, part, channels);
    struct weft_collective_common pieces = c->common;
    pieces.chunk_bytes *= heads;
    pieces.slice_bytes *= heads;
    p.loops = weft__loops_of(&pieces, from + weft__part(whole - from, part + UINT64_C(1), channels) - p.start, 1);
    if (p.head == rank) p.percent *= heads;
    p.local = p.head == rank ? g - 1 : 1;
    p.in_tree = p.head == rank && shape->ranks > g;
    if (p.in_tree) {
        p.tree = weft__server_tree(shape->ranks / g, rank / g, part % 2);
        p.tree.up = rank_in(p.tree.up, shape, number);
        for (uint32_t *down = p.tree.down; *down != WEFT_NONE; down++)
            *down = rank_in(*down, shape, number);
    }
    return p;
}

static uint64_t steps_a_piece(const struct plan *p) {
    return p->local + p->in_tree;
}

static uint64_t steps_of(const struct plan *p) {
    if (p->down ? !p->gathers : !p->reduces) return 0;
    return weft__loops_steps(&p->loops, 1) * steps_a_piece(p);
}

/// Number k of the others in the server of a head.
static uint32_t other_of(const struct plan *p, uint32_t k) {
    return p->first + (p->head - p->first + 1 + k) % p->ranks;
}

/// Up: a piece of everybody to the head, and the sum of the server to the server above.
static void up_step(const struct plan *p, uint32_t k, struct weft_step *step) {
    bool root = p->tree.up == WEFT_NONE;
    step->own = true;
    if (k < p->local) step->merged = (uint16_t)(p->ranks - 1);
    if (p->head != p->rank) {
        step->send[0] = p->head;
    } else if (k < p->local) {
        step->recv[0] = other_of(p, k);
        step->keep = true;
    } else {
        step->merged = step->copied = WITHIN_A_PASS;
        for (uint32_t d = 0; p->tree.down[d] != WEFT_NONE; d++)
            step->recv[d] = p->tree.down[d];
        if (root) step->keep = true;
        if (!root) step->send[0] = p->tree.up;
    }
}

/// Down: the sum of all from the server above, and to everybody.
static void down_step(const struct plan *p, uint64_t piece, uint32_t k, struct weft_step *step) {
    if (p->head != p->rank) {
        step->recv[0] = p->head;
        step->keep = true;
        return;
    }
    bool root = !p->in_tree || p->tree.up == WEFT_NONE;
    step->own = root || k > 0;
    if (p->reduces && root && !k) {
        step->wait_lane = p->lane - 1;
        step->wait_steps = (piece + 1) * steps_a_piece(p);
    }
    if (p->in_tree && !k) {
        step->merged = step->copied = WITHIN_A_PASS;
        for (uint32_t d = 0; p->tree.down[d] != WEFT_NONE; d++)
            step->send[d] = p->tree.down[d];
        if (!root) step->recv[0] = p->tree.up;
        step->keep = !root;
    } else {
        step->copied = (uint16_t)(p->ranks - 1);
        step->send[0] = other_of(p, k - p->in_tree);
    }
}

static void planned_step(const void *plan, uint64_t index, struct weft_step *ret_step) {
    const struct plan *p = plan;
    uint64_t piece = index / steps_a_piece(p);
    uint32_t k = (uint32_t)(index % steps_a_piece(p));
    struct weft__loop_step at = weft__loops_at(&p->loops, 1, piece);
    weft__step_clear(ret_step, p->lane / 2);
    ret_step->offset = p->start;
    weft__loop_piece(&at, 0, ret_step);
    ret_step->percent = (uint16_t)p->percent;
    if (p->down)
        down_step(p, piece, k, ret_step);
    else
        up_step(p, k, ret_step);
}

/// What a rank sends: in each channel to its head, or as the head to the others and to its neighbours in the tree.
/// Returns how many there are, or writes number `index`.
static uint32_t walk_sends(const struct conf *c, const struct weft_collective_shape *shape, uint32_t rank, bool reduces,
                           bool gathers, uint32_t index, struct weft_sent *ret_sent) {
    uint32_t n = 0;
    for (uint32_t channel = 0; channel < channels_of(c, heads_of(shape, reduces && gathers)); channel++) {
        struct plan p = plan_of(c, shape, rank, 2 * channel, reduces, gathers);
        uint32_t peer[3 + 1] = {p.head}, peers = p.head != rank && reduces;
        if (p.in_tree && p.tree.up != WEFT_NONE) peer[peers++] = p.tree.up;
        for (uint32_t d = 0; p.in_tree && p.tree.down[d] != WEFT_NONE; d++)
            peer[peers++] = p.tree.down[d];
        uint32_t others = p.head == rank && gathers ? p.ranks - 1 : 0;
        if (ret_sent && index >= n && index < n + peers + others) {
            uint32_t k = index - n;
            *ret_sent = weft__loops_sent(&p.loops, k < peers ? peer[k] : other_of(&p, k - peers), channel);
        }
        n += peers + others;
    }
    return n;
}

// The three of them.
#define WEFT__NVLS(name, reduces, gathers)                                                                             \
    static uint32_t name##_channels(const void *conf, const struct weft_collective_shape *shape) {                     \
        return channels_of(conf, heads_of(shape, reduces && gathers));                                                 \
    }                                                                                                                  \
    static uint32_t name##_lanes(const void *conf, const struct weft_collective_shape *shape) {                        \
        return 2 * name##_channels(conf, shape);                                                                       \
    }                                                                                                                  \
    static uint64_t name##_steps(const void *conf, const struct weft_collective_shape *shape, uint32_t rank,           \
                                 uint32_t lane) {                                                                      \
        struct plan p = plan_of(conf, shape, rank, lane, reduces, gathers);                                            \
        return steps_of(&p);                                                                                           \
    }                                                                                                                  \
    static void name##_plan(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane, \
                            void *ret_plan) {                                                                          \
        *(struct plan *)ret_plan = plan_of(conf, shape, rank, lane, reduces, gathers);                                 \
    }                                                                                                                  \
    static void name##_step(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane, \
                            uint64_t index, struct weft_step *ret_step) {                                              \
        struct plan p = plan_of(conf, shape, rank, lane, reduces, gathers);                                            \
        planned_step(&p, index, ret_step);                                                                             \
    }                                                                                                                  \
    static uint32_t name##_sends(const void *conf, const struct weft_collective_shape *shape, uint32_t rank) {         \
        return shape->ranks > 1 ? walk_sends(conf, shape, rank, reduces, gathers, 0, NULL) : 0;                        \
    }                                                                                                                  \
    static void name##_send(const void *conf, const struct weft_collective_shape *shape, uint32_t rank,                \
                            uint32_t index, struct weft_sent *ret_sent) {                                              \
        walk_sends(conf, shape, rank, reduces, gathers, index, ret_sent);                                              \
    }
WEFT__NVLS(all_reduce, true, true)
WEFT__NVLS(all_gather, false, true)
WEFT__NVLS(reduce_scatter, true, false)

static enum weft_status load_in_server(struct weft_place place, struct weft_arena *arena,
                                       struct weft_collective_loaded *loaded, struct weft_error *ret_error) {
    const struct weft_collective_shape *shape = &loaded->shape;
    if (shape->ranks == shape->per_server) return WEFT_OK;
    return WEFT_REFUSE(ret_error, place,
                       "collective: the switch of a server gathers and scatters within it, and the group has %" PRIu32
                       " ranks in servers of %" PRIu32 "; expected a group in one server",
                       shape->ranks, shape->per_server);
}

#define WEFT__NVLS_OPS(name)                                                                                           \
    .lanes = name##_lanes, .channels = name##_channels, .steps = name##_steps, .step = name##_step,                    \
    .plan_size = sizeof(struct plan), .plan = name##_plan, .planned = planned_step, .sends = name##_sends,             \
    .send = name##_send

const struct weft_model weft__collective_all_reduce_nvls = WEFT_MODEL_OF(
    COLLECTIVE, "all_reduce_nvls", "all-reduce by the switch of each server, and trees of servers (NVLS, NVLSTree)",
    "NVIDIA/nccl, src/device/all_reduce.h, src/transport/nvls.cc", &reduce_table,
    &(const struct weft_collective_ops){.goal = WEFT_GOAL_ALL_REDUCE, WEFT__NVLS_OPS(all_reduce)});
const struct weft_model weft__collective_all_gather_nvls =
    WEFT_MODEL_OF(COLLECTIVE, "all_gather_nvls", "all-gather within a server whose switch copies (NVLS)",
                  "NVIDIA/nccl, src/device/all_gather.h", &gather_table,
                  &(const struct weft_collective_ops){
                      .goal = WEFT_GOAL_ALL_GATHER, .load = load_in_server, WEFT__NVLS_OPS(all_gather)});
const struct weft_model weft__collective_reduce_scatter_nvls =
    WEFT_MODEL_OF(COLLECTIVE, "reduce_scatter_nvls", "reduce-scatter within a server whose switch adds (NVLS)",
                  "NVIDIA/nccl, src/device/reduce_scatter.h", &scatter_table,
                  &(const struct weft_collective_ops){
                      .goal = WEFT_GOAL_REDUCE_SCATTER, .load = load_in_server, WEFT__NVLS_OPS(reduce_scatter)});
