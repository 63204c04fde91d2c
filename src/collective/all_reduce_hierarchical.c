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

/// A rail divides its server's part of a loop into a block for each of its M ranks; a server passes its G parts on
/// whole, in as many pieces as they have chunks.
struct stages {
    uint32_t g, m;
    struct weft__loops rail, inside;
    weft_bytes start; ///< of the channel's bytes
};

static struct stages stages_of(const struct weft_collective_common *common, const struct weft_collective_shape *shape,
                               uint32_t lane) {
    struct weft__channel channel = weft__channel_of(common, shape, lane, shape->bytes, shape->ranks);
    uint32_t g = shape->per_server;
    return (struct stages){g, shape->ranks / g, channel.loops, weft__loops_whole_parts(&channel.loops, g),
                           channel.start};
}

/// Steps of a loop in each stage, slices counted. There are two in the server.
struct lengths {
    uint64_t inside, rail;
};
static struct lengths lengths_of(const struct stages *s, const struct weft__loop *inside,
                                 const struct weft__loop *rail) {
    return (struct lengths){s->g > 1 ? (uint64_t)inside->blocks * inside->slices : 0,
                            s->m > 1 ? (2 * (uint64_t)s->m - 1) * rail->slices : 0};
}

static uint64_t loop_steps(const struct stages *s, uint64_t loop) {
    struct weft__loop inside = weft__loops_loop(&s->inside, loop), rail = weft__loops_loop(&s->rail, loop);
    struct lengths l = lengths_of(s, &inside, &rail);
    return 2 * l.inside + l.rail;
}

static uint64_t steps(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane) {
    const struct conf *c = conf;
    struct stages s = stages_of(&c->common, shape, lane);
    uint64_t loops = s.rail.loops;
    if (!loops) return 0;
    return (loops > 1 ? (loops - 1) * loop_steps(&s, 0) : 0) + loop_steps(&s, loops - 1);
}

/// Step j of a ring of n in which the caller is `at`: first gathering contributions (to_sum), then passing them on.
struct turn {
    uint32_t block;
    bool recv, send;
};
static struct turn turn_of(uint32_t n, uint32_t at, uint64_t j, uint64_t turns, bool to_sum) {
    return (struct turn){(uint32_t)((at + 2 * (uint64_t)n - to_sum - j) % n), j > 0, j + 1 < turns};
}

static uint32_t next_on_rail(const struct stages *s, uint32_t rank) {
    return (rank + s->g) % (s->g * s->m);
}

static uint32_t next_in_server(const struct stages *s, uint32_t rank) {
    return rank / s->g * s->g + (rank % s->g + 1) % s->g;
}

/// What all steps of a lane share.
struct plan {
    struct stages s;
    uint64_t full; ///< steps of a loop before the last
    uint32_t lane, rank;
    uint32_t server, number; ///< number: in its server
};

static void plan(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                 void *ret_plan) {
    const struct conf *c = conf;
    struct stages s = stages_of(&c->common, shape, lane);
    *(struct plan *)ret_plan = (struct plan){
        .s = s,
        .full = s.rail.loops > 1 ? loop_steps(&s, 0) : 0,
        .lane = lane,
        .rank = rank,
        .server = rank / s.g,
        .number = rank % s.g,
    };
}

/// Step `index` of a stage in the server.
static void inside_step(const struct plan *p, const struct weft__loop *loop, uint64_t index, bool gather,
                        struct weft_step *ret_step) {
    uint32_t g = p->s.g, first = p->server * g;
    struct weft__loop_step at = {*loop, index / loop->slices, (uint32_t)(index % loop->slices)};
    struct turn turn = turn_of(g, p->number, at.j % g, g, !gather);
    ret_step->own = !gather || !turn.recv;
    ret_step->keep = gather ? turn.recv : !turn.send;
    if (turn.recv) ret_step->recv[0] = first + (p->number + g - 1) % g;
    if (turn.send) ret_step->send[0] = next_in_server(&p->s, p->rank);
    weft__loop_piece(&at, turn.block * (loop->blocks / g) + (uint32_t)(at.j / g), ret_step);
}

static void rail_step(const struct plan *p, const struct weft__loop *loop, uint64_t index, struct weft_step *ret_step) {
    uint32_t m = p->s.m;
    struct weft__loop_step at = {*loop, index / loop->slices, (uint32_t)(index % loop->slices)};
    struct turn turn = turn_of(m, p->server, at.j, 2 * (uint64_t)m - 1, true);
    ret_step->own = at.j < m;
    ret_step->keep = at.j + 1 >= m;
    if (turn.recv) ret_step->recv[0] = (p->server + m - 1) % m * p->s.g + p->number;
    if (turn.send) ret_step->send[0] = next_on_rail(&p->s, p->rank);
    weft__loop_piece(&at, p->number * m + turn.block, ret_step);
}

static void planned(const void *of, uint64_t index, struct weft_step *ret_step) {
    const struct plan *p = of;
    const struct stages *s = &p->s;
    uint64_t loop = p->full ? index / p->full : 0;
    if (loop >= s->rail.loops) loop = s->rail.loops - 1;
    index -= loop * p->full;
    struct weft__loop inside = weft__loops_loop(&s->inside, loop), rail = weft__loops_loop(&s->rail, loop);
    struct lengths l = lengths_of(s, &inside, &rail);
    weft__step_clear(ret_step, p->lane);
    ret_step->offset = s->start;
    if (index < l.inside)
        inside_step(p, &inside, index, false, ret_step);
    else if (index < l.inside + l.rail)
        rail_step(p, &rail, index - l.inside, ret_step);
    else
        inside_step(p, &inside, index - l.inside - l.rail, true, ret_step);
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
    struct stages s = stages_of(&c->common, shape, lane);
    uint32_t server = rank / s.g, number = rank % s.g, next = (number + 1) % s.g, ranks = shape->ranks, n = 0;
    uint32_t own_block = number * s.m + server, next_block = number * s.m + (server + 1) % s.m;
    if (s.g > 1)
        ret_sent[n++] = (struct weft_sent){
            .peer = next_in_server(&s, rank),
            .channel = lane,
            .bytes = 2 * s.inside.bytes - weft__loops_bytes(&s.inside, number, s.g) -
                     weft__loops_bytes(&s.inside, next, s.g),
            .message_bytes_max = weft__loops_slice_max(&s.inside, 0, 1),
            .messages = 2 * weft__loops_slices(&s.inside, 0, 1) - weft__loops_slices(&s.inside, number, s.g) -
                        weft__loops_slices(&s.inside, next, s.g),
        };
    if (s.m > 1)
        ret_sent[n++] = (struct weft_sent){
            .peer = next_on_rail(&s, rank),
            .channel = lane,
            .bytes = 2 * weft__loops_bytes(&s.rail, number, s.g) - weft__loops_bytes(&s.rail, own_block, ranks) -
                     weft__loops_bytes(&s.rail, next_block, ranks),
            .message_bytes_max = weft__loops_slice_max(&s.rail, number, s.g),
            .messages = 2 * weft__loops_slices(&s.rail, number, s.g) - weft__loops_slices(&s.rail, own_block, ranks) -
                        weft__loops_slices(&s.rail, next_block, ranks),
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
