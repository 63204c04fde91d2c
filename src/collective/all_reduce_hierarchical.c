// SPDX-License-Identifier: Apache-2.0
// Hierarchical all-reduce: a ring reduce-scatter among the G ranks of a server, a ring all-reduce of each part among
// the ranks with the same number in their servers (a rail), a ring all-gather in the server. Source: the usual scheme
// of multi-rail clusters, e.g. "hierarchical collectives" in Meta, SIGCOMM 2024, section 2. One lane a channel does
// the three stages in turn, loop by loop; the stages of different channels overlap. Volume, over M servers: each rank
// sends 2 (G - 1) / G of the size within its server and 2 (M - 1) / M of a G-th over the network.
#include "part.h"

struct conf {
    struct weft_collective_common common;
};
static const struct weft_param rows[] = {WEFT_COLLECTIVE_ROWS(struct conf, "2MiB", "1MiB", "4")};
static const struct weft_param_table table =
    WEFT_PARAM_TABLE_CHECKED("all_reduce_hierarchical", struct conf, rows, weft__collective_check);

/// Steps of a loop in each stage. A loop is G parts of M blocks.
struct stages {
    uint32_t g, m;
    uint64_t scatter, all_reduce, gather;
};

static struct stages stages_of(const struct weft_collective_shape *shape) {
    uint32_t g = shape->per_server, m = shape->ranks / g;
    uint64_t inside = g > 1 ? (uint64_t)g * m : 0;
    return (struct stages){g, m, inside, m > 1 ? 2 * (uint64_t)m - 1 : 0, inside};
}

static uint64_t per_loop(const struct weft_collective_shape *shape) {
    struct stages s = stages_of(shape);
    return s.scatter + s.all_reduce + s.gather;
}

static uint64_t steps(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane) {
    const struct conf *c = conf;
    struct weft__channel channel = weft__channel_of(&c->common, shape, lane, shape->bytes, shape->ranks);
    return weft__loops_steps(&channel.loops, per_loop(shape));
}

/// Step j of a ring of n in which the caller is `at`: first gathering contributions (to_sum), then passing them on.
struct turn {
    uint32_t block;
    bool recv, send;
};
static struct turn turn_of(uint32_t n, uint32_t at, uint64_t j, uint64_t turns, bool to_sum) {
    return (struct turn){(uint32_t)((at + 2 * (uint64_t)n - to_sum - j) % n), j > 0, j + 1 < turns};
}

static uint32_t next_on_rail(struct stages s, uint32_t rank) {
    return (rank + s.g) % (s.g * s.m);
}

static uint32_t next_in_server(struct stages s, uint32_t rank) {
    return rank / s.g * s.g + (rank % s.g + 1) % s.g;
}

/// What all steps of a lane share.
struct plan {
    struct stages s;
    uint32_t lane, server, number; ///< number: in its server
    uint32_t rank;
    struct weft__channel channel;
};

static void plan(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                 void *ret_plan) {
    const struct conf *c = conf;
    struct stages s = stages_of(shape);
    *(struct plan *)ret_plan = (struct plan){
        .s = s,
        .lane = lane,
        .server = rank / s.g,
        .number = rank % s.g,
        .rank = rank,
        .channel = weft__channel_of(&c->common, shape, lane, shape->bytes, shape->ranks),
    };
}

static void planned(const void *of, uint64_t index, struct weft_step *ret_step) {
    const struct plan *p = of;
    struct stages s = p->s;
    struct weft__loop_step at = weft__loops_at(&p->channel.loops, s.scatter + s.all_reduce + s.gather, index);
    uint32_t server = p->server, number = p->number, part = number, block;
    bool rail = at.j >= s.scatter && at.j < s.scatter + s.all_reduce;
    struct turn turn;
    weft__step_clear(ret_step, p->lane);
    if (rail) {
        uint64_t j = at.j - s.scatter;
        turn = turn_of(s.m, server, j, s.all_reduce, true);
        block = turn.block;
        ret_step->own = j < s.m;
        ret_step->keep = j + 1 >= s.m;
    } else {
        bool gather = at.j >= s.scatter + s.all_reduce;
        uint64_t j = at.j - (gather ? s.scatter + s.all_reduce : 0);
        turn = turn_of(s.g, number, j % s.g, s.g, !gather);
        part = turn.block;
        block = (uint32_t)(j / s.g);
        ret_step->own = !gather || !turn.recv;
        ret_step->keep = gather ? turn.recv : !turn.send;
    }
    if (turn.recv)
        ret_step->recv[0] = rail ? (server + s.m - 1) % s.m * s.g + number : server * s.g + (number + s.g - 1) % s.g;
    if (turn.send) ret_step->send[0] = rail ? next_on_rail(s, p->rank) : next_in_server(s, p->rank);
    ret_step->offset = p->channel.start;
    weft__loops_piece(&p->channel.loops, &at, part * s.m + block, ret_step);
}

static void step(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                 uint64_t index, struct weft_step *ret_step) {
    struct plan p;
    plan(conf, shape, rank, lane, &p);
    planned(&p, index, ret_step);
}

/// Of a ring of n in which the caller is `at` each stage sends all parts but one: what comes back to where it began.
/// Two stages in a server are two rings; a rail is one that goes round twice.
static uint32_t sent(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                     struct weft_sent ret_sent[WEFT_STEP_PEERS]) {
    const struct conf *c = conf;
    struct stages s = stages_of(shape);
    struct weft__loops loops = weft__channel_of(&c->common, shape, lane, shape->bytes, shape->ranks).loops;
    uint32_t server = rank / s.g, number = rank % s.g, own = number * s.m, n = 0;
    if (s.g > 1)
        ret_sent[n++] = (struct weft_sent){
            .peer = next_in_server(s, rank),
            .channel = lane,
            .bytes = 2 * loops.bytes - weft__loops_blocks(&loops, own, s.m) -
                     weft__loops_blocks(&loops, (number + 1) % s.g * s.m, s.m),
            .message_bytes_max = weft__loops_slice_max(&loops, 0, loops.blocks),
            .messages = 2 * weft__loops_slices(&loops, 0, loops.blocks) - weft__loops_slices(&loops, own, s.m) -
                        weft__loops_slices(&loops, (number + 1) % s.g * s.m, s.m),
        };
    if (s.m > 1)
        ret_sent[n++] = (struct weft_sent){
            .peer = next_on_rail(s, rank),
            .channel = lane,
            .bytes = 2 * weft__loops_blocks(&loops, own, s.m) - weft__loops_blocks(&loops, own + server, 1) -
                     weft__loops_blocks(&loops, own + (server + 1) % s.m, 1),
            .message_bytes_max = weft__loops_slice_max(&loops, own, s.m),
            .messages = 2 * weft__loops_slices(&loops, own, s.m) - weft__loops_slices(&loops, own + server, 1) -
                        weft__loops_slices(&loops, own + (server + 1) % s.m, 1),
        };
    return n;
}

static const struct weft_collective_ops ops = {.goal = WEFT_GOAL_ALL_REDUCE,
                                               .lanes = weft__ring_lanes,
                                               .steps = steps,
                                               .step = step,
                                               .plan_size = sizeof(struct plan),
                                               .plan = plan,
                                               .planned = planned,
                                               .sent = sent};

const struct weft_model weft__collective_all_reduce_hierarchical = {
    .kind = WEFT_KIND_COLLECTIVE,
    .name = "all_reduce_hierarchical",
    .summary = "all-reduce in three stages: within servers, along each rail, within servers",
    .source = "hierarchical all-reduce of multi-rail clusters; rings as in NCCL 2.x",
    .params = &table,
    .ops = &ops,
};
