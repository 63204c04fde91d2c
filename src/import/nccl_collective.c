// SPDX-License-Identifier: Apache-2.0
// weft's own rings and trees in the channels that NCCL has found for a server (import/nccl.h), the same in every
// server. A ring goes through the GPUs of a server in the channel's order, and from the last one to the first one of
// the next server, by the NIC that the channel names. If that is near another GPU of the server, the message goes there
// first, as with PXN: a relay is a separate lane of that GPU, which passes messages on. In a tree a server is a chain
// in the channel's order; the first has the parent, and the pattern determines which have the servers below: the second
// (split, 2), the second and the first (balanced, 1), or the first (3); servers are in a double binary tree
// (all_reduce_tree). Differences: in a tree every GPU sends by its own NIC; a NIC by which a channel enters is that of
// its first GPU; crossNic 2, with which odd servers swap channels, is not modelled. Source: NVIDIA/nccl,
// src/graph/connect.cc, trees.cc.
#include <inttypes.h>
#include <string.h>

#include "base/lines.h"
#include "base/param.h"
#include "import/nccl.h"
#include "weft/model.h"

enum { PATTERN_BALANCED = 1, PATTERN_SPLIT = 2, PATTERN_RING = 4 };

struct conf {
    struct weft_model_conf inner;
    const char *file, *topology;
};
static const struct weft_param rows[] = {
    WEFT_TEXT(struct conf, file, "file", NULL,
              "the channels, as written by NCCL_GRAPH_DUMP_FILE; relative to the scenario"),
    WEFT_TEXT(struct conf, topology, "server", "",
              "the server, as written by NCCL_TOPO_DUMP_FILE: it says which GPU is near which NIC; empty: a ring "
              "continues by the NIC of its last GPU"),
    WEFT_MODEL_PARAM(struct conf, inner, "collective", WEFT_KIND_COLLECTIVE, "all_reduce_ring",
                     "collective over the channels: all_reduce_ring, all_gather, reduce_scatter, broadcast, reduce, or "
                     "all_reduce_tree"),
};
static const struct weft_param_table table = WEFT_PARAM_TABLE("nccl", struct conf, rows);

/// What the functions of the collective get. `common` is that of the inner collective.
struct loaded {
    struct weft_collective_common common;
    const struct weft_collective_ops *ops;
    const void *conf; ///< of the inner collective, with as many channels as there are
    struct weft_channel_order order;
    const uint32_t *relay; ///< [channel]: the GPU by whose NIC a ring continues; WEFT_NONE: the last one's own
    bool relays;           ///< there are some
};

// --- reading ------------------------------------------------------------------------------------------------------

static const char *const rings[] = {"all_reduce_ring", "all_gather", "reduce_scatter", "broadcast", "reduce", NULL};

static bool is_ring(const char *name) {
    for (const char *const *ring = rings; *ring; ring++)
        if (!strcmp(*ring, name)) return true;
    return false;
}

static enum weft_status fill_order(struct loaded *l, const struct weft__nccl_graph *graph,
                                   const struct weft__nccl_server *server, const char *file, struct weft_arena *arena,
                                   struct weft_error *ret_error) {
    uint32_t n = graph->gpus, *rank = weft_arena_alloc(arena, graph->channels * (size_t)n, sizeof *rank),
             *at = weft_arena_alloc(arena, graph->channels * (size_t)n, sizeof *at);
    for (uint32_t i = 0; i < graph->channels * n; i++) {
        int64_t dev = graph->gpu[i];
        rank[i] = server->gpus ? weft__nccl_gpu_find(server, dev) : dev < n ? (uint32_t)dev : WEFT_NONE;
        if (rank[i] == WEFT_NONE || rank[i] >= n)
            return weft_error_set(ret_error, WEFT_ERROR_INPUT, (struct weft_place){.file = file},
                                  "channel %" PRIu32 " has GPU %" PRId64 "; expected one of the %" PRIu32
                                  " of the server",
                                  i / n, dev, n);
        at[i / n * n + rank[i]] = i % n;
    }
    l->order = (struct weft_channel_order){.channels = graph->channels, .ranks = n, .rank = rank, .place = at};
    uint32_t second = n > 1;
    l->order.child[0] = graph->pattern == PATTERN_BALANCED || graph->pattern == PATTERN_SPLIT ? second : 0;
    l->order.child[1] = graph->pattern == PATTERN_SPLIT ? second : 0;
    return WEFT_OK;
}

/// For rings: a tree has none. The relay is the first GPU of the NIC.
static void fill_relays(struct loaded *l, const struct weft__nccl_graph *graph, const struct weft__nccl_server *server,
                        struct weft_arena *arena) {
    uint32_t *relay = weft_arena_alloc(arena, graph->channels, sizeof *relay), n = graph->gpus;
    for (uint32_t c = 0; c < graph->channels; c++) {
        uint32_t host = graph->net[c].out < 0 ? WEFT_NONE : weft__nccl_nic_host(server, graph->net[c].out);
        bool own = host == WEFT_NONE || server->gpu[l->order.rank[c * n + n - 1]].host == host;
        relay[c] = own ? WEFT_NONE : server->host[host].gpu[0];
        l->relays |= relay[c] != WEFT_NONE;
    }
    l->relay = relay;
}

/// The configuration of the inner collective with this many channels.
static const void *with_channels(const struct weft_model_conf *inner, uint32_t channels, struct weft_arena *arena) {
    size_t size = inner->model->params->conf_size;
    struct weft_collective_common *copy = weft_arena_alloc(arena, 1, size);
    memcpy(copy, inner->conf, size);
    if (!copy->channels || is_ring(inner->model->name)) copy->channels = channels;
    return copy;
}

static enum weft_status check(const struct conf *c, const struct weft__nccl_graph *graph,
                              const struct weft__nccl_server *server, const struct weft_collective_shape *shape,
                              struct weft_place place, struct weft_error *ret_error) {
    uint32_t n = graph->gpus;
    const char *name = c->inner.model->name;
    if (!n)
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, place,
                              "collective: '%s' has no channels for %s; expected a graph with id %d", c->file, name,
                              is_ring(name) ? WEFT__NCCL_RING : WEFT__NCCL_TREE);
    if (server->gpus && server->gpus != n)
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, place,
                              "collective: channels of '%s' have %" PRIu32 " GPUs, and the server '%s' has %" PRIu32
                              "; expected as many",
                              c->file, n, c->topology, server->gpus);
    if (shape->ranks % n || (shape->per_server != n && shape->ranks > 1 && n > 1))
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, place,
                              "collective: '%s' is for servers of %" PRIu32
                              " GPUs; expected a group with as many ranks in "
                              "each of its servers (server.gpus), and it has %" PRIu32,
                              c->file, n, shape->per_server);
    return WEFT_OK;
}

static enum weft_status load(const void *conf, const struct weft_collective_shape *shape, struct weft_place place,
                             struct weft_arena *arena, const void **ret_conf, enum weft_collective_goal *ret_goal,
                             struct weft_error *ret_error) {
    const struct conf *c = conf;
    struct loaded *l = weft_arena_alloc(arena, 1, sizeof *l);
    struct weft__nccl_graphs graphs;
    struct weft__nccl_server server = {0};
    bool tree = !strcmp(c->inner.model->name, "all_reduce_tree");
    if (!tree && !is_ring(c->inner.model->name))
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, c->inner.place,
                              "'%s' goes round no channels; expected all_reduce_ring, all_gather, reduce_scatter, "
                              "broadcast, reduce or all_reduce_tree",
                              c->inner.model->name);
    const char *path = weft__path_beside(c->file, place, arena);
    enum weft_status status = weft__nccl_graphs_read(path, place, arena, &graphs, ret_error);
    if (!status && *c->topology)
        status = weft__nccl_server_read(weft__path_beside(c->topology, place, arena), place, arena, &server, ret_error);
    if (status) return status;
    const struct weft__nccl_graph *graph = &graphs.of[tree ? WEFT__NCCL_TREE : WEFT__NCCL_RING];
    status = check(c, graph, &server, shape, place, ret_error);
    if (!status) status = fill_order(l, graph, &server, path, arena, ret_error);
    if (status) return status;
    if (!tree) fill_relays(l, graph, &server, arena);
    l->ops = c->inner.model->ops;
    l->conf = with_channels(&c->inner, (tree ? 2 : 1) * graph->channels, arena);
    l->common = *(const struct weft_collective_common *)l->conf;
    *ret_conf = l;
    *ret_goal = l->ops->goal;
    return WEFT_OK;
}

// --- steps --------------------------------------------------------------------------------------------------------

static struct weft_collective_shape ordered(const struct loaded *l, const struct weft_collective_shape *shape) {
    struct weft_collective_shape s = *shape;
    s.per_server = l->order.ranks;
    s.order = &l->order;
    return s;
}

/// The rank to which a server's last one in a channel hands data for the next server; WEFT_NONE: it sends there itself.
static uint32_t relay_of(const struct loaded *l, const struct weft_collective_shape *shape, uint32_t server,
                         uint32_t channel) {
    uint32_t n = l->order.ranks, relay = l->relays ? l->relay[channel % l->order.channels] : WEFT_NONE;
    return shape->ranks == n || relay == WEFT_NONE ? WEFT_NONE : server * n + relay;
}

static uint32_t lanes(const void *conf, const struct weft_collective_shape *shape) {
    const struct loaded *l = conf;
    struct weft_collective_shape s = ordered(l, shape);
    uint32_t own = l->ops->lanes(l->conf, &s);
    return l->relays && shape->ranks > l->order.ranks ? 2 * own : own;
}

/// The rank whose steps a lane has: the rank itself or, for a relay, the last rank of its server; WEFT_NONE: it has
/// none. *lane becomes that of the inner collective.
static uint32_t whose(const struct loaded *l, const struct weft_collective_shape *s, uint32_t rank, uint32_t *lane) {
    uint32_t n = l->order.ranks, own = l->ops->lanes(l->conf, s), server = rank / n;
    if (*lane < own) return rank;
    *lane -= own;
    if (relay_of(l, s, server, *lane) != rank) return WEFT_NONE;
    return server * n + l->order.rank[*lane % l->order.channels * n + n - 1];
}

static uint64_t steps(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane) {
    const struct loaded *l = conf;
    struct weft_collective_shape s = ordered(l, shape);
    uint32_t of = whose(l, &s, rank, &lane);
    return of == WEFT_NONE ? 0 : l->ops->steps(l->conf, &s, of, lane);
}

/// A relay passes on what the last rank sends: that rank sends to the relay, and the next server receives from there.
static void route(const struct loaded *l, const struct weft_collective_shape *s, uint32_t rank, uint32_t of,
                  uint32_t lane, struct weft_step *step) {
    uint32_t n = l->order.ranks, place = l->order.place[lane % l->order.channels * n + of % n];
    if (of != rank) {
        if (step->send[0] == WEFT_NONE) step->bytes = 0;
        step->recv[0] = of;
        step->own = step->keep = false;
        return;
    }
    uint32_t next = relay_of(l, s, rank / n, lane);
    uint32_t before = step->recv[0] == WEFT_NONE ? WEFT_NONE : relay_of(l, s, step->recv[0] / n, lane);
    if (place == n - 1 && step->send[0] != WEFT_NONE && next != WEFT_NONE) step->send[0] = next;
    if (place == 0 && before != WEFT_NONE) step->recv[0] = before;
}

static void step(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                 uint64_t index, struct weft_step *ret_step) {
    const struct loaded *l = conf;
    struct weft_collective_shape s = ordered(l, shape);
    uint32_t of = whose(l, &s, rank, &lane);
    l->ops->step(l->conf, &s, of, lane, index, ret_step);
    if (l->relays) route(l, &s, rank, of, lane, ret_step);
}

static uint32_t sent(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                     struct weft_sent ret_sent[WEFT_STEP_PEERS]) {
    const struct loaded *l = conf;
    struct weft_collective_shape s = ordered(l, shape);
    uint32_t n = l->order.ranks, of = whose(l, &s, rank, &lane);
    if (of == WEFT_NONE) return 0;
    uint32_t peers = l->ops->sent(l->conf, &s, of, lane, ret_sent), relay = relay_of(l, &s, rank / n, lane);
    bool is_last = l->order.place[lane % l->order.channels * n + of % n] == n - 1;
    if (peers && of == rank && is_last && relay != WEFT_NONE) ret_sent[0].peer = relay; // of a ring, which has one
    return peers;
}

static const struct weft_collective_ops ops = {
    .goal = WEFT_GOAL_OTHER, .load = load, .lanes = lanes, .steps = steps, .step = step, .sent = sent};

const struct weft_model weft__collective_nccl = {
    .kind = WEFT_KIND_COLLECTIVE,
    .name = "nccl",
    .summary = "rings and trees in the channels that NCCL has found for a server, from files that it writes",
    .source = "NVIDIA/nccl, src/graph/connect.cc, search.cc, trees.cc",
    .params = &table,
    .ops = &ops,
};
