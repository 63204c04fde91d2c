// SPDX-License-Identifier: Apache-2.0
// A call of NCCL as its tuning model chooses it (weft/nccl.h): the ring, tree or NVLS of this size, with its channels
// and chunks, whose messages are as long as its protocol makes them. LL sends a flag beside every 4 bytes, LL128 one in
// every 128 B line. Source: NVIDIA/nccl 2.30.7, src/enqueue.cc, src/include/device.h. Differs: the bytes on the wire
// are divided among channels and chunks, not the data, so a last piece may be a line longer. Sends and receives have
// the step times of rings, because NCCL has no model of its own for them; those that share a channel share its threads,
// and a channel sends at the rate at which it receives, as in a ring (src/device/sendrecv.h).
#include <inttypes.h>
#include <string.h>

#include "base/param.h"
#include "collective/exchange.h"
#include "collective/part.h"
#include "import/nccl/nccl.h"
#include "weft/param.h"

enum { STEPS = 8, LL_LINE = 16, LL_DATA = 8, LL128_LINE = 128, LL128_DATA = 120, PAT_SLOTS = 32, WARP = 32 };
/// Measured on a GH200 by NPKit with Simple: 1 MiB takes 21.6 us to send, 22 to receive, 28 to receive, add and send,
/// 38 to receive, keep and send, 45 to do all of that (spcl/atlahs): 6.2 us a read and 15.6 a write, within 4%. LL and
/// LL128 pass what is read and written through registers, so there both are taken to cost the same (assumed).
enum { READ = 221, WRITE = 558, LINE_READ = 333, LINE_WRITE = 334 };
/// Of the model's time of PAT, src/graph/tuning.cc: a hop is so much faster than a step of a ring; each part takes
/// this.
#define PAT_HOP 3.5
#define PAT_PART_PS 2800000

/// What carries out an algorithm.
static const char *model_of(enum weft_nccl_function f, enum weft_nccl_algorithm a) {
    static const char *const ring[WEFT_NCCL_FUNCTIONS] = {"broadcast", "reduce", "all_gather", "reduce_scatter",
                                                          "all_reduce_ring"};
    static const char *const nvls[WEFT_NCCL_FUNCTIONS] = {[WEFT_NCCL_ALL_GATHER] = "all_gather_nvls",
                                                          [WEFT_NCCL_REDUCE_SCATTER] = "reduce_scatter_nvls",
                                                          [WEFT_NCCL_ALL_REDUCE] = "all_reduce_nvls"};
    static const char *const pat[WEFT_NCCL_FUNCTIONS] = {
        [WEFT_NCCL_ALL_GATHER] = "all_gather_pat", [WEFT_NCCL_REDUCE_SCATTER] = "reduce_scatter_pat"};
    switch (a) {
    case WEFT_NCCL_RING:
        return ring[f];
    case WEFT_NCCL_TREE:
        return "all_reduce_tree";
    case WEFT_NCCL_NVLS:
    case WEFT_NCCL_NVLS_TREE:
        return nvls[f];
    case WEFT_NCCL_PAT:
        return pat[f];
    case WEFT_NCCL_ALGORITHMS:
        break;
    }
    return NULL;
}

static weft_bytes on_wire(enum weft_nccl_protocol p, weft_bytes bytes) {
    static const uint32_t line[] = {LL_LINE, LL128_LINE, 1}, data[] = {LL_DATA, LL128_DATA, 1};
    return (bytes + data[p] - 1) / data[p] * line[p];
}

static weft_time_ps scale_cost(const struct weft_nccl_costs *costs, weft_time_ps time) {
    return weft_time_of_real((double)time * costs->factor);
}

/// Of a tree's threads those that reduce (src/device/all_reduce.h, runTreeSplit); at the root all do both.
static uint32_t up_percent(const struct weft_nccl_choice *c) {
    uint32_t up = c->protocol == WEFT_NCCL_SIMPLE ? c->threads / 2 + (c->threads >= 512 ? 64 : 0)
                                                  : c->threads * 7 / (10 * WARP) * WARP;
    return 100 * up / c->threads;
}

/// `streams`: a rank has nothing to do but pass on what comes, so a piece with flags streams through it.
static void set_costs(const struct weft_nccl_machine *machine, const struct weft_nccl_choice *choice, bool streams,
                      struct weft_collective_common *common) {
    const struct weft_nccl_costs *costs = &machine->costs;
    bool nvls = choice->algorithm == WEFT_NCCL_NVLS || choice->algorithm == WEFT_NCCL_NVLS_TREE;
    bool tree = choice->algorithm == WEFT_NCCL_TREE;
    // LL: all threads a line each. LL128: a warp, because NCCL's figure for a step has the copying of the others in it.
    const weft_bytes grain[] = {(weft_bytes)choice->threads * LL_LINE, WARP * LL128_LINE / 2, 0};
    uint32_t p = choice->protocol;
    common->latency_ps = nvls ? costs->nvls_tree_ps : tree ? costs->tree_ps[p] : costs->ring_ps[p];
    common->inner_latency_ps = nvls ? costs->nvls_ps : tree ? costs->inner_tree_ps[p] : costs->inner_ring_ps[p];
    common->latency_ps = scale_cost(costs, common->latency_ps);
    weft_time_ps inner = scale_cost(costs, common->inner_latency_ps + machine->inner_ps);
    common->inner_latency_ps = inner > machine->inner_ps ? inner - machine->inner_ps : 0; // a run adds the latter
    common->proxy_ps = scale_cost(costs, costs->proxy_ps);
    common->copy_rate_bps = choice->algorithm == WEFT_NCCL_NVLS_TREE ? costs->nvls_tree_rate_bps
                            : nvls                                   ? costs->nvls_rate_bps
                            : p == WEFT_NCCL_LL                      ? costs->ll_rate_bps
                            : p == WEFT_NCCL_LL128                   ? costs->ll128_rate_bps
                                                                     : costs->copy_rate_bps;
    common->grain_bytes = streams ? grain[p] : 0;
    if (choice->algorithm == WEFT_NCCL_RING) { // all ranks are busy all the time, so a step's own time is not hidden
        weft_time_ps step = costs->inner_ring_ps[p], most = p == WEFT_NCCL_SIMPLE ? costs->busy_ps : step;
        common->step_ps = scale_cost(costs, step < most ? step : most);
        common->idle_ps = scale_cost(costs, step) / choice->channels; // they share NVLink, and go in step
        common->inner_latency_ps -=
            common->inner_latency_ps < common->step_ps ? common->inner_latency_ps : common->step_ps;
    }
    if (!nvls) {
        common->read_permille = p == WEFT_NCCL_SIMPLE ? READ : LINE_READ;
        common->write_permille = p == WEFT_NCCL_SIMPLE ? WRITE : LINE_WRITE;
    }
    common->through = !nvls; // there each GPU copies into memory of its own, which the others read
    if (tree) common->up_percent = up_percent(choice);
    if (choice->algorithm == WEFT_NCCL_NVLS_TREE)
        common->strands = weft_nccl_graph(machine, choice->algorithm).channels; // a chunk of each head
    if (choice->algorithm == WEFT_NCCL_PAT) {
        common->latency_ps = weft_time_of_real((double)common->latency_ps / PAT_HOP);
        common->step_ps = scale_cost(costs, PAT_PART_PS);
        common->slots = PAT_SLOTS;
    }
    common->hand_ps = weft_time_of_real((double)common->latency_ps * costs->hand);
}

/// Makes the operation one of that model, with these parameters (NULL: its defaults); *ret_common is its own to change.
static enum weft_status set_model(const char *name, const struct weft_tree *tree, struct weft_arena *arena,
                                  struct weft_collective_loaded *loaded, struct weft_collective_common **ret_common,
                                  struct weft_error *ret_error) {
    struct weft_model_conf inner;
    enum weft_status status =
        weft__model_load_at(WEFT_KIND_COLLECTIVE, name, tree, "collective", &inner, arena, ret_error);
    if (status) return status;
    loaded->conf_size = inner.model->params->conf_size;
    *ret_common = weft_arena_alloc(arena, 1, loaded->conf_size);
    memcpy(*ret_common, inner.conf, loaded->conf_size);
    loaded->ops = inner.model->ops;
    loaded->conf = *ret_common;
    loaded->goal = loaded->ops->goal;
    return WEFT_OK;
}

/// NCCL sends all slices of a chunk, also those for which its bytes do not suffice (src/device/prims_simple.h,
/// src/transport/net.cc): such a message takes a slot and turns of proxies.
static bool has_empty_slices(const struct weft_collective_common *common, const struct weft_collective_shape *shape,
                             enum weft_nccl_function function) {
    bool whole = function == WEFT_NCCL_ALL_REDUCE;
    weft_bytes bytes = whole ? shape->bytes : weft__part_max(shape);
    weft_bytes of_channel = (bytes + common->channels - 1) / common->channels; // of the largest
    struct weft__loops loops = weft__loops_of(common, of_channel, whole ? shape->ranks : 1);
    return loops.loops == 1 && loops.last_slices < loops.slices_max;
}

enum weft_status weft__nccl_choose(enum weft_nccl_function function, const struct weft_nccl_machine *machine,
                                   struct weft_place place, struct weft_arena *arena,
                                   struct weft_collective_loaded *loaded, struct weft_error *ret_error) {
    struct weft_collective_shape *shape = &loaded->shape;
    struct weft_nccl_choice choice;
    if (!weft_nccl_choose(machine, function, shape->bytes, &choice) || !model_of(function, choice.algorithm))
        return WEFT_REFUSE(ret_error, place,
                           "collective: NCCL_ALGO and NCCL_PROTO leave nothing that %" PRIu32 " servers of %" PRIu32
                           " GPUs can do; expected ring among them",
                           machine->nodes, machine->gpus);
    struct weft_collective_common *common;
    WEFT_TRY(set_model(model_of(function, choice.algorithm), NULL, arena, loaded, &common, ret_error));
    common->channels = choice.channels;
    common->chunk_bytes = on_wire(choice.protocol, choice.chunk_bytes);
    common->slice_bytes = on_wire(choice.protocol, choice.slice_bytes);
    common->slots = choice.slice_bytes < choice.chunk_bytes ? STEPS / 2 : STEPS;
    set_costs(machine, &choice,
              choice.algorithm == WEFT_NCCL_TREE || function == WEFT_NCCL_BROADCAST || function == WEFT_NCCL_REDUCE,
              common);
    shape->bytes = on_wire(choice.protocol, shape->bytes);
    if (choice.slice_bytes < choice.chunk_bytes && has_empty_slices(common, shape, function)) {
        common->slots /= 2;
        common->proxy_ps *= 2;
    }
    return loaded->ops->load ? loaded->ops->load(place, arena, loaded, ret_error) : WEFT_OK;
}

/// `lanes`: messages to peers at once.
static void set_exchange(const struct weft_nccl_machine *machine, const struct weft_nccl_exchange *x, uint32_t lanes,
                         struct weft_collective_common *common) {
    common->chunk_bytes = common->slice_bytes = on_wire(x->protocol, x->chunk_bytes);
    common->slots = STEPS;
    struct weft_nccl_choice choice = {.algorithm = WEFT_NCCL_RING, .protocol = x->protocol, .channels = lanes};
    set_costs(machine, &choice, false, common);
    common->copy_rate_bps /= x->at_once;
    common->inner_latency_ps += common->step_ps; // other peers' messages fill it
    common->step_ps = 0;
}

enum weft_status weft__nccl_exchange(const struct weft__nccl_exchange *how, const struct weft_nccl_machine *machine,
                                     struct weft_arena *arena, struct weft_collective_loaded *loaded,
                                     struct weft_error *ret_error) {
    const char *closed = how->closed ? "{ring: on}" : "{}";
    struct weft_collective_shape *shape = &loaded->shape;
    struct weft_nccl_exchange x = weft_nccl_exchange(machine, how->all ? shape->ranks - 1 : 1,
                                                     how->all ? shape->bytes / shape->ranks : shape->bytes);
    struct weft_tree *tree = NULL;
    struct weft_collective_common *common;
    enum weft_status status =
        how->all ? WEFT_OK : weft_tree_parse("collective", closed, strlen(closed), arena, &tree, ret_error);
    if (!status) status = set_model(how->all ? "all_to_all" : "send_recv", tree, arena, loaded, &common, ret_error);
    if (status) return status;
    common->channels = how->all ? x.channels : x.peer_channels;
    if (how->all) {
        struct weft__exchange_conf *exchange = (struct weft__exchange_conf *)common; // its first member
        exchange->peer_channels = x.peer_channels;
        exchange->at_once = x.at_once;
        exchange->order = WEFT__PEERS_NCCL;
        exchange->pxn = how->pxn ? WEFT__PXN_ON : WEFT__PXN_OFF;
    }
    uint64_t parts = (how->all ? shape->ranks - UINT64_C(1) : 1) * x.peer_channels, most = x.channels * x.at_once;
    set_exchange(machine, &x, (uint32_t)(parts < most ? parts : most), common);
    shape->bytes = on_wire(x.protocol, shape->bytes);
    return WEFT_OK;
}
