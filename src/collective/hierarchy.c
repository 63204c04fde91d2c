// SPDX-License-Identifier: Apache-2.0
// Collectives by servers and rails: M servers of G ranks; a rail is the M ranks with the same number in their servers.
// In the whole array, each loop of a channel is G parts, one per rail, of M blocks, one per server. One lane per
// channel performs the stages in turn, loop by loop:
//   all_reduce_hierarchical  in the server a reduce-scatter, along each rail an all-reduce, in the server an all-gather
//   all_gather_hierarchical  along each rail an all-gather, in the server another; block (k, s) is of rank k of server
//   s
// Stages are rings. A server passes a rail's complete part on, in as many messages as it has chunks.
// Source: the usual scheme of multi-rail clusters, e.g. "hierarchical collectives" in Meta, SIGCOMM 2024, section 2.
// Volume, over M servers: each rank sends (G - 1) / G of the size within its server and (M - 1) / M of a G-th over the
// network, twice where it reduces.
#include "part.h"
#include "weft/param.h"

struct conf {
    struct weft_collective_common common;
};
static const struct weft_param rows[] = {WEFT_COLLECTIVE_ROWS(struct conf, "2MiB", "1MiB", "4")};
static const struct weft_param_table gather_table =
    WEFT_PARAM_TABLE("all_gather_hierarchical", struct conf, rows, .check = weft__collective_check);
static const struct weft_param_table reduce_table =
    WEFT_PARAM_TABLE("all_reduce_hierarchical", struct conf, rows, .check = weft__collective_check);

/// What all steps of a lane share.
struct hierarchy {
    uint32_t g, m;
    bool reduces;
    struct weft__loops rail, inside;
    weft_bytes start; ///< of the channel's bytes
    uint64_t full;    ///< steps of a loop before the last
    uint32_t lane, rank;
    uint32_t server, number; ///< number: in its server
};

/// Steps of a loop in each stage, slices counted.
struct lengths {
    uint64_t scatter, rail, gather;
};
static struct lengths lengths_of(const struct hierarchy *p, const struct weft__loop *inside,
                                 const struct weft__loop *rail) {
    uint64_t in_server = p->g > 1 ? (uint64_t)inside->blocks * inside->slices : 0;
    uint64_t along = p->m == 1 ? 0 : p->reduces ? 2 * (uint64_t)p->m - 1 : p->m;
    return (struct lengths){p->reduces ? in_server : 0, along * rail->slices, in_server};
}

static uint64_t loop_steps(const struct hierarchy *p, uint64_t loop) {
    struct weft__loop inside = weft__loops_loop(&p->inside, loop), rail = weft__loops_loop(&p->rail, loop);
    struct lengths l = lengths_of(p, &inside, &rail);
    return l.scatter + l.rail + l.gather;
}

static struct hierarchy plan_of(const void *conf, const struct weft_collective_shape *shape, uint32_t rank,
                                uint32_t lane, bool reduces) {
    struct weft__channel channel = weft__channel_of(conf, shape, lane, shape->bytes, shape->ranks);
    uint32_t g = shape->per_server;
    struct hierarchy p = {
        .g = g,
        .m = shape->ranks / g,
        .reduces = reduces,
        .rail = channel.loops,
        .inside = weft__loops_whole_parts(&channel.loops, g),
        .start = channel.start,
        .lane = lane,
        .rank = rank,
        .server = rank / g,
        .number = rank % g,
    };
    if (p.rail.loops > 1) p.full = loop_steps(&p, 0);
    return p;
}

static uint64_t steps_of(const void *conf, const struct weft_collective_shape *shape, uint32_t lane, bool reduces) {
    struct hierarchy p = plan_of(conf, shape, 0, lane, reduces);
    uint64_t loops = p.rail.loops;
    return loops ? (loops - 1) * p.full + loop_steps(&p, loops - 1) : 0;
}

/// Step j of a ring of n in which the caller is at position `at`: first collecting contributions (to_sum), then passing
/// them on.
struct turn {
    uint32_t block;
    bool recv, send;
};
static struct turn turn_of(uint32_t n, uint32_t at, uint64_t j, uint64_t turns, bool to_sum) {
    return (struct turn){(uint32_t)((at + 2 * (uint64_t)n - to_sum - j) % n), j > 0, j + 1 < turns};
}

static struct weft__loop_step step_of(const struct weft__loop *loop, uint64_t index) {
    return (struct weft__loop_step){*loop, index / loop->slices, (uint32_t)(index % loop->slices)};
}

static uint32_t next_on_rail(const struct hierarchy *p, uint32_t rank) {
    return (rank + p->g) % (p->g * p->m);
}

static uint32_t next_in_server(const struct hierarchy *p, uint32_t rank) {
    return rank / p->g * p->g + (rank % p->g + 1) % p->g;
}

/// Step `index` of a stage within the server.
static void inside_step(const struct hierarchy *p, const struct weft__loop *loop, uint64_t index, bool to_sum,
                        struct weft_step *ret_step) {
    uint32_t g = p->g;
    struct weft__loop_step at = step_of(loop, index);
    struct turn turn = turn_of(g, p->number, at.j % g, g, to_sum);
    ret_step->own = to_sum || !turn.recv;
    ret_step->keep = to_sum ? !turn.send : turn.recv;
    if (turn.recv) ret_step->recv[0] = p->server * g + (p->number + g - 1) % g;
    if (turn.send) ret_step->send[0] = next_in_server(p, p->rank);
    weft__loop_piece(&at, turn.block * (loop->blocks / g) + (uint32_t)(at.j / g), ret_step);
}

static void rail_step(const struct hierarchy *p, const struct weft__loop *loop, uint64_t index,
                      struct weft_step *ret_step) {
    uint32_t m = p->m;
    bool to_sum = p->reduces;
    struct weft__loop_step at = step_of(loop, index);
    struct turn turn = turn_of(m, p->server, at.j, to_sum ? 2 * (uint64_t)m - 1 : m, to_sum);
    ret_step->own = to_sum ? at.j < m : !turn.recv;
    ret_step->keep = to_sum ? at.j + 1 >= m : turn.recv;
    if (turn.recv) ret_step->recv[0] = (p->server + m - 1) % m * p->g + p->number;
    if (turn.send) ret_step->send[0] = next_on_rail(p, p->rank);
    weft__loop_piece(&at, p->number * m + turn.block, ret_step);
}

static void planned_step(const void *plan, uint64_t index, struct weft_step *ret_step) {
    const struct hierarchy *p = plan;
    uint64_t loop = p->full ? index / p->full : 0;
    if (loop >= p->rail.loops) loop = p->rail.loops - 1; // it has fewer steps
    index -= loop * p->full;
    struct weft__loop inside = weft__loops_loop(&p->inside, loop), rail = weft__loops_loop(&p->rail, loop);
    struct lengths l = lengths_of(p, &inside, &rail);
    weft__step_clear(ret_step, p->lane);
    ret_step->offset = p->start;
    if (index < l.scatter)
        inside_step(p, &inside, index, true, ret_step);
    else if (index < l.scatter + l.rail)
        rail_step(p, &rail, index - l.scatter, ret_step);
    else
        inside_step(p, &inside, index - l.scatter - l.rail, false, ret_step);
}

/// Round a ring everything goes but one part: what comes back to where it began.
static void leave_out(struct weft_sent *sent, const struct weft__loops *loops, uint32_t part, uint32_t parts) {
    sent->bytes -= weft__loops_bytes(loops, part, parts);
    sent->messages -= weft__loops_slices(loops, part, parts);
}

static uint32_t sent_of(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                        bool reduces, struct weft_sent ret_sent[WEFT_STEP_PEERS]) {
    const struct hierarchy p = plan_of(conf, shape, rank, lane, reduces);
    uint32_t ranks = shape->ranks, rounds = reduces ? 2 : 1, n = 0;
    if (p.g > 1) {
        struct weft_sent *s = &ret_sent[n++];
        *s = (struct weft_sent){
            .peer = next_in_server(&p, rank),
            .channel = lane,
            .bytes = rounds * p.inside.bytes,
            .message_bytes_max = weft__loops_slice_max(&p.inside, 0, 1),
            .messages = rounds * weft__loops_slices(&p.inside, 0, 1),
        };
        if (reduces) leave_out(s, &p.inside, p.number, p.g);
        leave_out(s, &p.inside, (p.number + 1) % p.g, p.g);
    }
    if (p.m > 1) {
        struct weft_sent *s = &ret_sent[n++];
        *s = (struct weft_sent){
            .peer = next_on_rail(&p, rank),
            .channel = lane,
            .bytes = rounds * weft__loops_bytes(&p.rail, p.number, p.g),
            .message_bytes_max = weft__loops_slice_max(&p.rail, p.number, p.g),
            .messages = rounds * weft__loops_slices(&p.rail, p.number, p.g),
        };
        if (reduces) leave_out(s, &p.rail, p.number * p.m + p.server, ranks);
        leave_out(s, &p.rail, p.number * p.m + (p.server + 1) % p.m, ranks);
    }
    return n;
}

/// The owner of the block at `offset` of an all-gather, and where the block ends.
static uint32_t block_owner(const void *conf, const struct weft_collective_shape *shape, weft_bytes offset,
                            weft_bytes *ret_end) {
    struct hierarchy p = plan_of(conf, shape, 0, 0, false);
    for (uint32_t lane = 1; offset >= p.start + p.rail.bytes; lane++)
        p = plan_of(conf, shape, 0, lane, false);
    struct weft__loop loop = weft__loops_loop(&p.rail, (offset - p.start) / p.rail.loop_bytes);
    weft_bytes at = offset - p.start - loop.start;
    // the last block that begins at or before it
    uint32_t block = (uint32_t)(((at + 1) * loop.blocks + loop.bytes - 1) / loop.bytes - 1);
    *ret_end = p.start + loop.start + weft__part(loop.bytes, block + UINT64_C(1), loop.blocks);
    return block % p.m * p.g + block / p.m;
}

static uint64_t gather_steps(const void *conf, const struct weft_collective_shape *shape, uint32_t rank,
                             uint32_t lane) {
    return steps_of(conf, shape, lane, false);
}

static void gather_plan(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                        void *ret_plan) {
    *(struct hierarchy *)ret_plan = plan_of(conf, shape, rank, lane, false);
}

static void gather_step(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                        uint64_t index, struct weft_step *ret_step) {
    struct hierarchy plan = plan_of(conf, shape, rank, lane, false);
    planned_step(&plan, index, ret_step);
}

static uint32_t gather_sent(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                            struct weft_sent ret_sent[WEFT_STEP_PEERS]) {
    return sent_of(conf, shape, rank, lane, false, ret_sent);
}

const struct weft_model weft__collective_all_gather_hierarchical =
    WEFT_MODEL_OF(COLLECTIVE, "all_gather_hierarchical", "all-gather in two stages: along each rail, within servers",
                  "hierarchical all-gather of multi-rail clusters; rings as in NCCL 2.x", &gather_table,
                  &(const struct weft_collective_ops){
                      .goal = WEFT_GOAL_ALL_GATHER,
                      .lanes = weft__ring_lanes,
                      .steps = gather_steps,
                      .step = gather_step,
                      .plan_size = sizeof(struct hierarchy),
                      .plan = gather_plan,
                      .planned = planned_step,
                      .sent = gather_sent,
                      .owner = block_owner,
                  });

static uint64_t reduce_steps(const void *conf, const struct weft_collective_shape *shape, uint32_t rank,
                             uint32_t lane) {
    return steps_of(conf, shape, lane, true);
}

static void reduce_plan(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                        void *ret_plan) {
    *(struct hierarchy *)ret_plan = plan_of(conf, shape, rank, lane, true);
}

static void reduce_step(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                        uint64_t index, struct weft_step *ret_step) {
    struct hierarchy plan = plan_of(conf, shape, rank, lane, true);
    planned_step(&plan, index, ret_step);
}

static uint32_t reduce_sent(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                            struct weft_sent ret_sent[WEFT_STEP_PEERS]) {
    return sent_of(conf, shape, rank, lane, true, ret_sent);
}

const struct weft_model weft__collective_all_reduce_hierarchical =
    WEFT_MODEL_OF(COLLECTIVE, "all_reduce_hierarchical",
                  "all-reduce in three stages: within servers, along each rail, within servers",
                  "hierarchical all-reduce of multi-rail clusters; rings as in NCCL 2.x", &reduce_table,
                  &(const struct weft_collective_ops){
                      .goal = WEFT_GOAL_ALL_REDUCE,
                      .lanes = weft__ring_lanes,
                      .steps = reduce_steps,
                      .step = reduce_step,
                      .plan_size = sizeof(struct hierarchy),
                      .plan = reduce_plan,
                      .planned = planned_step,
                      .sent = reduce_sent,
                  });
