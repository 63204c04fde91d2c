// SPDX-License-Identifier: Apache-2.0
// All-reduce in the switches of a server, over its network (NVLink SHARP, two steps). The last `switches` ranks are the
// processors of the switches (topology scale_up, reduces: on), the others GPUs, each head of every n-th piece. A piece
// goes from all GPUs to a switch, which adds and hands the sum to the head; the head hands it back, and the switch
// copies it to all GPUs. Pieces take links in turn. A GPU's links carry the size and an n-th of it each way, so the
// best algorithm bandwidth is that of the links times n / (n + 1). Sources: NVIDIA/nccl, src/device/all_reduce.h (NVLS:
// reduce-scatter by multimem.ld_reduce, all-gather by multimem.st), and nccl-tests, issue 212 (two steps). Differs:
// GPUs hand their pieces to the switch, where the head fetches them; a switch adds and copies piece by piece (`slice`),
// at `copy_rate` and with `step_delay` a step, where a real one does so flit by flit, so small sizes take longer here.
// With `loop`, GPUs copy as NCCL's threads do: a loop (channels x heads x chunk) from the user's array into buffers,
// which switches may then add, and a loop out of them when all of its sums have come (scatter and gather of NVLS in
// all_reduce.h, without registered buffers). Then copy_rate is that of these two copies, and nothing else has one.
#include <inttypes.h>

#include "part.h"
#include "weft/param.h"

struct conf {
    struct weft_collective_common common;
    uint64_t switches, links, loop_bytes;
};
static const struct weft_param_table table = WEFT_PARAM_TABLE_OF(
    "all_reduce_in_switch", struct conf, .check = weft__collective_check,
    WEFT_COLLECTIVE_ROWS(struct conf, "64KiB", "64KiB", "8"),
    WEFT_UINT(struct conf, switches, "switches", "1", "1", "1024",
              "so many of the ranks, the last ones, are processors of switches"),
    WEFT_UINT(struct conf, links, "links", "0", "0", "1024",
              "links of a GPU to these, in turn: a switch has pieces in proportion; 0: as many to each"),
    WEFT_BYTES(struct conf, loop_bytes, "loop", "0B", "0B", "4GB",
               "a GPU copies so much at copy_rate before switches add any of it, and out when all has come (NCCL: "
               "channels x heads x chunk); 0: switches add each piece at once"));

/// Lanes of a GPU for each switch, and their channels; a switch has the first two, one that adds and one that copies.
enum { CONTRIBUTE, PASS, TAKE, LANES };
/// With loops a GPU has two lanes more, which copy in and out. Other steps take as good as no time then.
enum { COPY_IN, COPY_OUT, COPIES, AT_ONCE = UINT16_MAX };

/// What a lane does: a step a piece; at a switch `turns`, of up to WEFT_STEP_PEERS GPUs each, and one with the head.
struct plan {
    const struct conf *c;
    const struct weft_collective_shape *shape;
    uint32_t rank, gpus, turns, at, lane; ///< at: the switch, from 0
    uint64_t links, own, pieces;          ///< links of a GPU, those to the switch; pieces of the switch
};

static uint64_t pieces_in_all(const struct conf *c, weft_bytes bytes) {
    return (bytes + c->common.slice_bytes - 1) / c->common.slice_bytes;
}

/// Of the first `n` links, those to the switch.
static uint64_t links_to(const struct plan *p, uint64_t n) {
    return n > p->at ? (n - p->at + p->c->switches - 1) / p->c->switches : 0;
}

/// Of the first bytes of the array, pieces of switch p->at.
static uint64_t pieces_of(const struct plan *p, weft_bytes bytes) {
    uint64_t all = pieces_in_all(p->c, bytes);
    return all / p->links * p->own + links_to(p, all % p->links);
}

static struct plan plan_of(const struct conf *c, const struct weft_collective_shape *shape, uint32_t rank,
                           uint32_t lane) {
    struct plan p = {.c = c, .shape = shape, .rank = rank, .gpus = shape->ranks - (uint32_t)c->switches};
    p.turns = (p.gpus + WEFT_STEP_PEERS - 1) / WEFT_STEP_PEERS;
    bool is_switch = rank >= p.gpus;
    p.at = is_switch ? rank - p.gpus : lane / LANES;
    p.lane = lane % LANES;
    p.links = c->links ? c->links : c->switches;
    p.own = links_to(&p, p.links);
    p.pieces = pieces_of(&p, shape->bytes);
    if (is_switch && lane >= TAKE) p.pieces = 0;
    return p;
}

/// Piece j of a switch has GPU j modulo their number for its head.
static uint64_t steps_of(const struct plan *p) {
    if (p->rank >= p->gpus) return p->pieces * (p->turns + 1);
    if (p->lane != PASS) return p->pieces;
    return (p->pieces + p->gpus - 1 - p->rank) / p->gpus;
}

static weft_bytes bytes_at(const struct plan *p, uint64_t j, weft_bytes *ret_offset) {
    weft_bytes slice = p->c->common.slice_bytes,
               offset = (j / p->own * p->links + j % p->own * p->c->switches + p->at) * slice;
    if (ret_offset) *ret_offset = offset;
    return p->shape->bytes - offset < slice ? p->shape->bytes - offset : slice;
}

/// The turns with all GPUs begin at the one after the head. When they are over the sum goes to the head; or before
/// they begin it comes from there.
static void switch_step(const struct plan *p, uint64_t index, struct weft_step *step) {
    uint64_t j = index / (p->turns + 1);
    uint32_t turn = (uint32_t)(index % (p->turns + 1)), head = (uint32_t)(j % p->gpus);
    step->bytes = bytes_at(p, j, &step->offset);
    bool adds = p->lane == CONTRIBUTE, with_head = turn == (adds ? p->turns : 0);
    step->channel = with_head ? PASS : adds ? CONTRIBUTE : TAKE;
    step->own = turn > 0;
    step->keep = adds ? !with_head : with_head;
    if (with_head) {
        (adds ? step->send : step->recv)[0] = head;
        return;
    }
    uint32_t first = (adds ? turn : turn - 1) * WEFT_STEP_PEERS;
    for (uint32_t k = 0; k < WEFT_STEP_PEERS && first + k < p->gpus; k++)
        (adds ? step->recv : step->send)[k] = (head + 1 + first + k) % p->gpus;
}

static uint32_t lanes_of_switches(const struct conf *c) {
    return LANES * (uint32_t)c->switches;
}

static void gpu_step(const struct plan *p, uint64_t index, struct weft_step *step) {
    uint32_t at = p->gpus + p->at;
    step->bytes = bytes_at(p, p->lane == PASS ? index * p->gpus + p->rank : index, &step->offset);
    step->channel = p->lane;
    step->own = p->lane == CONTRIBUTE;
    step->keep = p->lane == TAKE;
    if (p->lane != CONTRIBUTE) step->recv[0] = at;
    if (p->lane != TAKE) step->send[0] = at;
    if (p->lane == CONTRIBUTE && p->c->loop_bytes) {
        step->wait_lane = lanes_of_switches(p->c) + COPY_IN;
        step->wait_steps = (step->offset + step->bytes - 1) / p->c->loop_bytes + 1;
    }
}

/// A copy out has a step for each switch, which waits for its sums of the loop; the last of them copies.
static uint64_t copies_of(const struct conf *c, const struct weft_collective_shape *shape, uint32_t rank,
                          uint32_t copy) {
    if (rank >= shape->ranks - c->switches) return 0;
    uint64_t loops = (shape->bytes + c->loop_bytes - 1) / c->loop_bytes;
    return copy == COPY_IN ? loops : loops * c->switches;
}

static void copy_step(const struct conf *c, const struct weft_collective_shape *shape, uint32_t rank, uint32_t copy,
                      uint64_t index, struct weft_step *step) {
    uint64_t loop = copy == COPY_IN ? index : index / c->switches;
    uint32_t at = copy == COPY_IN ? 0 : (uint32_t)(index % c->switches);
    weft_bytes from = loop * c->loop_bytes, left = shape->bytes - from,
               bytes = left < c->loop_bytes ? left : c->loop_bytes;
    step->bytes = copy == COPY_IN || at == c->switches - 1 ? bytes : 0;
    step->offset = from;
    step->own = true;
    if (copy == COPY_IN) return;
    struct plan p = plan_of(c, shape, rank, LANES * at + TAKE);
    step->wait_lane = LANES * at + TAKE;
    step->wait_steps = pieces_of(&p, from + bytes);
}

static uint32_t in_switch_lanes(const void *conf, const struct weft_collective_shape *shape) {
    const struct conf *c = conf;
    return lanes_of_switches(c) + (c->loop_bytes ? COPIES : 0);
}

static uint64_t in_switch_steps(const void *conf, const struct weft_collective_shape *shape, uint32_t rank,
                                uint32_t lane) {
    uint32_t copies = lanes_of_switches(conf);
    if (lane >= copies) return copies_of(conf, shape, rank, lane - copies);
    struct plan p = plan_of(conf, shape, rank, lane);
    return steps_of(&p);
}

static void in_switch_step(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                           uint64_t index, struct weft_step *ret_step) {
    const struct conf *c = conf;
    uint32_t copies = lanes_of_switches(c);
    weft__step_clear(ret_step, 0);
    if (lane >= copies) {
        copy_step(c, shape, rank, lane - copies, index, ret_step);
        return;
    }
    struct plan p = plan_of(c, shape, rank, lane);
    if (c->loop_bytes) ret_step->percent = AT_ONCE;
    (rank < p.gpus ? gpu_step : switch_step)(&p, index, ret_step);
}

/// A GPU sends all pieces to each switch, and the sums whose head it is; a switch sends sums to heads, and copies.
static uint32_t in_switch_sends(const void *conf, const struct weft_collective_shape *shape, uint32_t rank) {
    const struct conf *c = conf;
    uint32_t gpus = shape->ranks - (uint32_t)c->switches;
    return 2 * (rank < gpus ? (uint32_t)c->switches : gpus);
}

static void in_switch_send(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t index,
                           struct weft_sent *ret_sent) {
    const struct conf *c = conf;
    uint32_t gpus = shape->ranks - (uint32_t)c->switches, gpu = rank < gpus ? rank : index / 2;
    struct plan p = plan_of(c, shape, gpu, LANES * (rank < gpus ? index / 2 : rank - gpus));
    bool sums = index % 2;
    p.lane = sums ? PASS : TAKE;
    uint64_t n = steps_of(&p), last = sums ? (n - 1) * gpus + gpu : n - 1;
    *ret_sent = (struct weft_sent){.peer = rank < gpus ? gpus + p.at : gpu,
                                   .channel = sums          ? PASS
                                              : rank < gpus ? CONTRIBUTE
                                                            : TAKE,
                                   .messages = n};
    if (!n) return;
    ret_sent->message_bytes_max = bytes_at(&p, 0, NULL);
    ret_sent->bytes = (n - 1) * ret_sent->message_bytes_max + bytes_at(&p, last, NULL);
}

static uint32_t in_switch_channels(const void *conf, const struct weft_collective_shape *shape) {
    return LANES;
}

static uint64_t in_switch_processors(const void *conf) {
    return ((const struct conf *)conf)->switches;
}

static enum weft_status in_switch_load(struct weft_place place, struct weft_arena *arena,
                                       struct weft_collective_loaded *loaded, struct weft_error *ret_error) {
    const struct conf *c = loaded->conf;
    if (c->links && c->links < c->switches)
        return WEFT_REFUSE(ret_error, place,
                           "collective: all_reduce_in_switch with %" PRIu64 " links to %" PRIu64
                           " switches; expected one to each at least",
                           c->links, c->switches);
    if (loaded->shape.ranks >= c->switches + 2) return WEFT_OK;
    return WEFT_REFUSE(ret_error, place,
                       "collective: all_reduce_in_switch with %" PRIu64 " switches among %" PRIu32
                       " ranks; expected two GPUs at least, and then the switches, as hosts: \"host-*,alu-*\"",
                       c->switches, loaded->shape.ranks);
}

const struct weft_model weft__collective_all_reduce_in_switch = WEFT_MODEL_OF(
    COLLECTIVE, "all_reduce_in_switch",
    "all-reduce that processors of switches add and copy, over the servers' own network (NVLS in two steps)",
    "NVIDIA/nccl, src/device/all_reduce.h (NVLS); NVIDIA/nccl-tests, issue 212", &table,
    &(const struct weft_collective_ops){.goal = WEFT_GOAL_OTHER,
                                        .load = in_switch_load,
                                        .processors = in_switch_processors,
                                        .lanes = in_switch_lanes,
                                        .channels = in_switch_channels,
                                        .steps = in_switch_steps,
                                        .step = in_switch_step,
                                        .sends = in_switch_sends,
                                        .send = in_switch_send});
