// SPDX-License-Identifier: Apache-2.0
// weft's own rings and trees in the channels that NCCL has found for a server (import/nccl/nccl.h), the same in every
// server or those of several servers in turn. A ring goes through the GPUs of a server in the channel's order, and from
// the last one to the first one of the next server, by the NIC that the channel names. If that is near another GPU of
// the server, the message goes there first, as with PXN: a relay is a separate lane of that GPU, which passes messages
// on. In a tree a server is a chain in the channel's order; the first has the parent, and the pattern determines which
// have the servers below: the second (split, 2), the second and the first (balanced, 1), or the first (3); servers are
// in a double binary tree (all_reduce_tree). Differences: in a tree every GPU sends by its own NIC; a NIC by which a
// channel enters is that of its first GPU; crossNic 2, with which odd servers swap channels, is not modelled. Source:
// NVIDIA/nccl, src/graph/connect.cc, trees.cc.
#include <inttypes.h>
#include <string.h>

#include "base/grow.h"
#include "base/lines.h"
#include "base/param.h"
#include "import/nccl/nccl.h"
#include "topology/builder.h"
#include "weft/param.h"

enum { PATTERN_BALANCED = 1, PATTERN_SPLIT = 2, PATTERN_RING = 4 };

struct conf {
    struct weft_model_conf inner;
    const char *file, *topology, *algo, *proto;
    uint32_t version, function;
    uint64_t min_ctas, max_ctas, pxn_level, qps, split, cross_nic;
};
enum { AUTO, FUNCTION0, ALL_TO_ALL = FUNCTION0 + WEFT_NCCL_FUNCTIONS, SEND_RECV, PXN_ALWAYS = 2 };
static const char *const versions[] = {"2.30", "2.26", NULL}; // enum weft_nccl_version
static const char *const functions[] = {"auto",       "broadcast",  "reduce",    "all_gather", "reduce_scatter",
                                        "all_reduce", "all_to_all", "send_recv", NULL};

static const char *check_masks(const void *conf, char *text, size_t size) {
    const struct conf *c = conf;
    uint32_t mask[WEFT_NCCL_FUNCTIONS];
    if (c->max_ctas && c->min_ctas > c->max_ctas)
        return "NCCL_MIN_CTAS is greater than NCCL_MAX_CTAS; expected at most that, to which NCCL lowers it";
    const char *wrong = weft_nccl_mask(c->algo, weft_nccl_algorithm_names, mask, text, size);
    return wrong ? wrong : weft_nccl_mask(c->proto, weft_nccl_protocol_names, mask, text, size);
}
static const struct weft_param_table table = WEFT_PARAM_TABLE_OF(
    "nccl", struct conf, .check = check_masks,
    WEFT_CHOICE(struct conf, function, "function", "auto", functions,
                "without a file: the call, for which NCCL chooses algorithm, protocol, channels and chunks by size; "
                "auto: what the operation is for, in a file that says so, else all_reduce"),
    WEFT_CHOICE(struct conf, version, "version", "2.30", versions, "NCCL's, whose tables it chooses by"),
    WEFT_TEXT(struct conf, algo, "NCCL_ALGO", "",
              "algorithms that it may choose, as in its environment: \"ring,tree\", \"^nvls\", \"allreduce:tree\""),
    WEFT_TEXT(struct conf, proto, "NCCL_PROTO", "", "protocols that it may choose: \"^ll128\""),
    WEFT_UINT(struct conf, min_ctas, "NCCL_MIN_CTAS", "0", "0", "64", "fewest channels; 0: as NCCL finds them"),
    WEFT_UINT(struct conf, max_ctas, "NCCL_MAX_CTAS", "0", "0", "64", "most channels; 0: as NCCL finds them"),
    WEFT_UINT(struct conf, pxn_level, "NCCL_P2P_PXN_LEVEL", "2", "0", "2",
              "2: messages of all_to_all for another server go by the GPU on the rail of their destination; less: each "
              "GPU, which has a NIC of its own, sends them itself"),
    WEFT_UINT(struct conf, qps, "NCCL_IB_QPS_PER_CONNECTION", "0", "0", "32",
              "in place of the job's qps, for all of its collectives; 0: as the job says"),
    WEFT_UINT(struct conf, split, "NCCL_IB_SPLIT_DATA_ON_QPS", "0", "0", "1",
              "1: qp_scaling: split, for all collectives of the job; 0: as the job says"),
    WEFT_UINT(struct conf, cross_nic, "NCCL_CROSS_NIC", "2", "0", "2",
              "1: a ring leaves a server by another NIC than it has entered by; else it stays on a rail"),
    WEFT_TEXT(struct conf, file, "file", "",
              "the channels, as written by NCCL_GRAPH_DUMP_FILE; relative to the scenario. Several files, joined by "
              "commas or as a list, are those of the servers in turn"),
    WEFT_TEXT(struct conf, topology, "server", "",
              "the server, as written by NCCL_TOPO_DUMP_FILE: it says which GPU is near which NIC; empty: a ring "
              "continues by the NIC of its last GPU. Several files: as for file"),
    WEFT_MODEL_PARAM(struct conf, inner, "collective", WEFT_KIND_COLLECTIVE, "all_reduce_ring",
                     "collective over the channels: all_reduce_ring, all_gather, reduce_scatter, broadcast, reduce, or "
                     "all_reduce_tree"));

/// What the functions of the collective get. `common` is that of the inner collective.
struct loaded {
    struct weft_collective_common common;
    const struct weft_collective_ops *ops;
    const void *conf; ///< of the inner collective, with as many channels as there are
    struct weft_channel_order order;
    const uint32_t *relay; ///< [server * channels + channel]: the GPU by whose NIC a ring continues; WEFT_NONE: the
                           ///< last one's own
    bool relays;           ///< there are some
};

// --- reading ------------------------------------------------------------------------------------------------------

static const char *const rings[] = {"all_reduce_ring", "all_gather", "reduce_scatter", "broadcast", "reduce", NULL};

static bool is_ring(const char *name) {
    for (const char *const *ring = rings; *ring; ring++)
        if (!strcmp(*ring, name)) return true;
    return false;
}

/// The files of the servers, in turn.
struct files {
    uint32_t graphs, servers;
    const char **path;                     ///< [graphs]
    const struct weft__nccl_graph **graph; ///< [graphs]
    struct weft__nccl_server *server;      ///< [servers]
};

static enum weft_status fill_order(struct loaded *l, const struct files *f, uint32_t at, uint32_t *rank,
                                   uint32_t *place, struct weft_error *ret_error) {
    const struct weft__nccl_server *server = f->servers ? &f->server[at % f->servers] : NULL;
    const struct weft__nccl_graph *graph = f->graph[at % f->graphs];
    uint32_t n = graph->gpus;
    for (uint32_t i = 0; i < l->order.channels * n; i++) {
        int64_t dev = graph->gpu[i];
        rank[i] = server ? weft__nccl_gpu_find(server, dev) : dev < n ? (uint32_t)dev : WEFT_NONE;
        if (rank[i] == WEFT_NONE || rank[i] >= n)
            return WEFT_REFUSE(ret_error, (struct weft_place){.file = f->path[at % f->graphs]},
                               "channel %" PRIu32 " has GPU %" PRId64 "; expected one of the %" PRIu32 " of the server",
                               i / n, dev, n);
        place[i / n * n + rank[i]] = i % n;
    }
    return WEFT_OK;
}

/// For rings: a tree has none. The relay is the first GPU of the NIC.
static void fill_relays(struct loaded *l, const struct files *f, uint32_t at, uint32_t *relay) {
    const struct weft__nccl_server *server = f->servers ? &f->server[at % f->servers] : NULL;
    const struct weft__nccl_graph *graph = f->graph[at % f->graphs];
    for (uint32_t c = 0; c < l->order.channels; c++) {
        uint32_t host = !server || graph->net[c].out < 0 ? WEFT_NONE : weft__nccl_nic_host(server, graph->net[c].out);
        uint32_t last = weft_channel_row(&l->order, l->order.rank, at, c)[graph->gpus - 1];
        relay[c] = host == WEFT_NONE || server->gpu[last].host == host ? WEFT_NONE : server->host[host].gpu[0];
        l->relays |= relay[c] != WEFT_NONE;
    }
}

/// Servers differ if their channels or topologies do; as in NCCL, they have the channels that all of them have.
static enum weft_status fill_channels(struct loaded *l, const struct files *f, bool tree, struct weft_arena *arena,
                                      struct weft_error *ret_error) {
    const struct weft__nccl_graph *first = f->graph[0];
    uint32_t n = first->gpus, channels = first->channels, servers = f->graphs > f->servers ? f->graphs : f->servers;
    for (uint32_t g = 1; g < f->graphs; g++)
        if (f->graph[g]->channels < channels) channels = f->graph[g]->channels;
    size_t size = (size_t)channels * n;
    uint32_t *rank = weft_arena_alloc(arena, servers * size, sizeof *rank),
             *place = weft_arena_alloc(arena, servers * size, sizeof *place),
             *relay = weft_arena_alloc(arena, (size_t)servers * channels, sizeof *relay), second = n > 1;
    l->order =
        (struct weft_channel_order){.servers = servers, .channels = channels, .ranks = n, .rank = rank, .place = place};
    l->order.child[0] = first->pattern == PATTERN_BALANCED || first->pattern == PATTERN_SPLIT ? second : 0;
    l->order.child[1] = first->pattern == PATTERN_SPLIT ? second : 0;
    l->relay = relay;
    for (uint32_t s = 0; s < servers; s++) {
        WEFT_TRY(fill_order(l, f, s, rank + s * size, place + s * size, ret_error));
        if (!tree) fill_relays(l, f, s, relay + (size_t)s * channels);
    }
    return WEFT_OK;
}

/// The configuration of the inner collective with this many channels.
static const void *with_channels(const struct weft_model_conf *inner, uint32_t channels, struct weft_arena *arena) {
    size_t size = inner->model->params->conf_size;
    struct weft_collective_common *copy = weft_arena_alloc(arena, 1, size);
    memcpy(copy, inner->conf, size);
    if (!copy->channels || is_ring(inner->model->name)) copy->channels = channels;
    return copy;
}

static enum weft_status check_graphs(const struct conf *c, const struct files *f,
                                     const struct weft_collective_shape *shape, struct weft_place place,
                                     struct weft_error *ret_error) {
    const char *name = c->inner.model->name;
    uint32_t n = f->graph[0]->gpus;
    for (uint32_t g = 0; g < f->graphs; g++) {
        if (!f->graph[g]->gpus)
            return WEFT_REFUSE(ret_error, place, "collective: '%s' has no channels for %s; expected a graph with id %d",
                               f->path[g], name, is_ring(name) ? WEFT__NCCL_RING : WEFT__NCCL_TREE);
        if (f->graph[g]->gpus != n)
            return WEFT_REFUSE(ret_error, place,
                               "collective: channels of '%s' have %" PRIu32 " GPUs, and those of '%s' %" PRIu32
                               "; expected as many",
                               f->path[g], f->graph[g]->gpus, f->path[0], n);
    }
    for (uint32_t s = 0; s < f->servers; s++)
        if (f->server[s].gpus != n)
            return WEFT_REFUSE(ret_error, place,
                               "collective: channels of '%s' have %" PRIu32 " GPUs, and the server '%s' has %" PRIu32
                               "; expected as many",
                               c->file, n, c->topology, f->server[s].gpus);
    if (shape->ranks % n || (shape->per_server != n && shape->ranks > 1 && n > 1))
        return WEFT_REFUSE(ret_error, place,
                           "collective: '%s' is for servers of %" PRIu32
                           " GPUs; expected a group with as many ranks in "
                           "each of its servers (server.gpus), and it has %" PRIu32,
                           c->file, n, shape->per_server);
    return WEFT_OK;
}

static enum weft_status read_files(const struct conf *c, bool tree, struct weft_place place, struct weft_arena *arena,
                                   struct files *f, struct weft_error *ret_error) {
    size_t longest = strlen(c->file) > strlen(c->topology) ? strlen(c->file) : strlen(c->topology);
    char *item = weft_arena_alloc(arena, longest + 1, 1);
    for (const char *rest = c->file; weft__choice_next(&rest, item);) {
        struct weft__nccl_graphs *graphs = weft_arena_alloc(arena, 1, sizeof *graphs);
        f->path = weft__arena_grow(arena, f->path, f->graphs, sizeof *f->path);
        f->graph = weft__arena_grow(arena, f->graph, f->graphs, sizeof *f->graph);
        f->path[f->graphs] = weft__path_beside(item, place, arena);
        f->graph[f->graphs] = &graphs->of[tree ? WEFT__NCCL_TREE : WEFT__NCCL_RING];
        WEFT_TRY(weft__nccl_graphs_read(f->path[f->graphs++], place, arena, graphs, ret_error));
    }
    for (const char *rest = *c->topology ? c->topology : NULL; weft__choice_next(&rest, item);) {
        f->server = weft__arena_grow(arena, f->server, f->servers, sizeof *f->server);
        WEFT_TRY(weft__nccl_server_read(weft__path_beside(item, place, arena), place, arena, &f->server[f->servers++],
                                        ret_error));
    }
    return WEFT_OK;
}

/// For a goal; AUTO: none.
static const uint32_t function_for[WEFT_GOALS] = {[WEFT_GOAL_ALL_REDUCE] = FUNCTION0 + WEFT_NCCL_ALL_REDUCE,
                                                  [WEFT_GOAL_REDUCE_SCATTER] = FUNCTION0 + WEFT_NCCL_REDUCE_SCATTER,
                                                  [WEFT_GOAL_ALL_GATHER] = FUNCTION0 + WEFT_NCCL_ALL_GATHER,
                                                  [WEFT_GOAL_BROADCAST] = FUNCTION0 + WEFT_NCCL_BROADCAST,
                                                  [WEFT_GOAL_REDUCE] = FUNCTION0 + WEFT_NCCL_REDUCE,
                                                  [WEFT_GOAL_EXCHANGE] = ALL_TO_ALL,
                                                  [WEFT_GOAL_NEXT] = SEND_RECV};

/// All servers in the same order: channel c enters at GPU c and leaves at the one before, by that one's NIC.
static const struct weft_channel_order *crossing_order(const struct weft_nccl_machine *m, struct weft_arena *arena) {
    uint32_t g = m->gpus, *rank = weft_arena_alloc(arena, (size_t)g * g, sizeof *rank),
             *place = weft_arena_alloc(arena, (size_t)g * g, sizeof *place);
    struct weft_channel_order *order = weft_arena_alloc(arena, 1, sizeof *order);
    for (uint32_t i = 0; i < g * g; i++) {
        rank[i] = (i / g + i % g) % g;
        place[i / g * g + rank[i]] = i % g;
    }
    *order = (struct weft_channel_order){.servers = 1, .channels = g, .ranks = g, .rank = rank, .place = place};
    return order;
}

/// Without a file: as NCCL chooses.
static enum weft_status choose_call(const struct conf *c, struct weft_place place, struct weft_arena *arena,
                                    struct weft_collective_loaded *loaded, struct weft_error *ret_error) {
    const struct weft_collective_shape *shape = &loaded->shape;
    struct weft_nccl_machine *m = weft_arena_alloc(arena, 1, sizeof *m);
    *m = *shape->machine;
    m->gpus = shape->per_server;
    m->nodes = shape->ranks / shape->per_server;
    m->nics = shape->per_nic ? m->gpus / shape->per_nic : m->gpus;
    m->version = c->version;
    m->min_ctas = (uint32_t)c->min_ctas;
    m->max_ctas = (uint32_t)c->max_ctas;
    weft_nccl_mask(c->algo, weft_nccl_algorithm_names, m->algorithms, NULL, 0);
    weft_nccl_mask(c->proto, weft_nccl_protocol_names, m->protocols, NULL, 0);
    loaded->shape.machine = m;
    uint32_t function = c->function == AUTO ? function_for[shape->wanted] : c->function;
    if (function == AUTO)
        return WEFT_REFUSE(ret_error, place, "collective: NCCL has no such operation; expected another kind for it");
    if (function >= ALL_TO_ALL) {
        struct weft__nccl_exchange how = {
            .all = function == ALL_TO_ALL, .closed = c->function == SEND_RECV, .pxn = c->pxn_level == PXN_ALWAYS};
        return weft__nccl_exchange(&how, m, arena, loaded, ret_error);
    }
    if (c->cross_nic == 1) loaded->shape.order = crossing_order(m, arena);
    return weft__nccl_choose(function - FUNCTION0, m, place, arena, loaded, ret_error);
}

static bool is_chosen_by_size(const void *conf) {
    return !*((const struct conf *)conf)->file;
}

static enum weft_status nccl_load(struct weft_place place, struct weft_arena *arena,
                                  struct weft_collective_loaded *loaded, struct weft_error *ret_error) {
    const struct conf *c = loaded->conf;
    loaded->qps = (uint32_t)c->qps;
    loaded->split = c->split;
    if (!*c->file) return choose_call(c, place, arena, loaded, ret_error);
    struct loaded *l = weft_arena_alloc(arena, 1, sizeof *l);
    struct files files = {0};
    bool tree = !strcmp(c->inner.model->name, "all_reduce_tree");
    if (!tree && !is_ring(c->inner.model->name))
        return WEFT_REFUSE(ret_error, c->inner.place,
                           "'%s' goes round no channels; expected all_reduce_ring, all_gather, reduce_scatter, "
                           "broadcast, reduce or all_reduce_tree",
                           c->inner.model->name);
    WEFT_TRY(read_files(c, tree, place, arena, &files, ret_error));
    WEFT_TRY(check_graphs(c, &files, &loaded->shape, place, ret_error));
    WEFT_TRY(fill_channels(l, &files, tree, arena, ret_error));
    l->ops = c->inner.model->ops;
    l->conf = with_channels(&c->inner, (tree ? 2 : 1) * l->order.channels, arena);
    l->common = *(const struct weft_collective_common *)l->conf;
    loaded->conf = l;
    loaded->goal = l->ops->goal;
    return WEFT_OK;
}

// --- steps --------------------------------------------------------------------------------------------------------

static struct weft_collective_shape ordered_shape(const struct loaded *l, const struct weft_collective_shape *shape) {
    struct weft_collective_shape s = *shape;
    s.per_server = l->order.ranks;
    s.order = &l->order;
    return s;
}

/// The rank to which a server's last one in a channel hands data for the next server; WEFT_NONE: it sends there itself.
static uint32_t relay_of(const struct loaded *l, const struct weft_collective_shape *shape, uint32_t server,
                         uint32_t channel) {
    uint32_t n = l->order.ranks, channels = l->order.channels, relay = WEFT_NONE;
    if (l->relays) relay = l->relay[server % l->order.servers * channels + channel % channels];
    return shape->ranks == n || relay == WEFT_NONE ? WEFT_NONE : server * n + relay;
}

static uint32_t nccl_lanes(const void *conf, const struct weft_collective_shape *shape) {
    const struct loaded *l = conf;
    struct weft_collective_shape s = ordered_shape(l, shape);
    uint32_t own = l->ops->lanes(l->conf, &s);
    return l->relays && shape->ranks > l->order.ranks ? 2 * own : own;
}

/// The rank whose steps a lane has: the rank itself or, for a relay, the last rank of its server; WEFT_NONE: it has
/// none. *lane becomes that of the inner collective.
static uint32_t rank_of_lane(const struct loaded *l, const struct weft_collective_shape *s, uint32_t rank,
                             uint32_t *lane) {
    uint32_t n = l->order.ranks, own = l->ops->lanes(l->conf, s), server = rank / n;
    if (*lane < own) return rank;
    *lane -= own;
    if (relay_of(l, s, server, *lane) != rank) return WEFT_NONE;
    return server * n + weft_channel_row(&l->order, l->order.rank, server, *lane)[n - 1];
}

static uint64_t nccl_steps(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane) {
    const struct loaded *l = conf;
    struct weft_collective_shape s = ordered_shape(l, shape);
    uint32_t of = rank_of_lane(l, &s, rank, &lane);
    return of == WEFT_NONE ? 0 : l->ops->steps(l->conf, &s, of, lane);
}

/// A relay passes on what the last rank sends: that rank sends to the relay, and the next server receives from there.
static void route_relay(const struct loaded *l, const struct weft_collective_shape *s, uint32_t rank, uint32_t of,
                        uint32_t lane, struct weft_step *step) {
    uint32_t n = l->order.ranks, place = weft_channel_row(&l->order, l->order.place, of / n, lane)[of % n];
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

static void nccl_step(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                      uint64_t index, struct weft_step *ret_step) {
    const struct loaded *l = conf;
    struct weft_collective_shape s = ordered_shape(l, shape);
    uint32_t of = rank_of_lane(l, &s, rank, &lane);
    l->ops->step(l->conf, &s, of, lane, index, ret_step);
    if (l->relays) route_relay(l, &s, rank, of, lane, ret_step);
}

static uint32_t nccl_sent(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                          struct weft_sent ret_sent[WEFT_STEP_PEERS]) {
    const struct loaded *l = conf;
    struct weft_collective_shape s = ordered_shape(l, shape);
    uint32_t n = l->order.ranks, of = rank_of_lane(l, &s, rank, &lane);
    if (of == WEFT_NONE) return 0;
    uint32_t peers = l->ops->sent(l->conf, &s, of, lane, ret_sent), relay = relay_of(l, &s, rank / n, lane);
    bool is_last = weft_channel_row(&l->order, l->order.place, of / n, lane)[of % n] == n - 1;
    if (peers && of == rank && is_last && relay != WEFT_NONE) ret_sent[0].peer = relay; // of a ring, which has one
    return peers;
}

static const struct weft_collective_ops ops = {.goal = WEFT_GOAL_OTHER,
                                               .load = nccl_load,
                                               .by_size = is_chosen_by_size,
                                               .lanes = nccl_lanes,
                                               .steps = nccl_steps,
                                               .step = nccl_step,
                                               .sent = nccl_sent};

const struct weft_model weft__collective_nccl = WEFT_MODEL_OF(
    COLLECTIVE, "nccl",
    "as NCCL chooses by size; or rings and trees in the channels that it has found, from files that it writes",
    "NVIDIA/nccl, src/graph/connect.cc, search.cc, trees.cc", &table, &ops);
