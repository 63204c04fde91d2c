// SPDX-License-Identifier: Apache-2.0
// The promises of every collective, proved by executing its compiled form with sets instead of numbers: every piece
// that arrives is the piece that the receiver expects, no order of execution deadlocks with the bounded buffers, every
// rank ends with exactly the contributions of the goal, none twice, and the volume sent is the closed form.
#include "models.h"
#include "own_memory.h"

#include <inttypes.h>
#include <unistd.h>

#include "samples.h"
#include "topologies.h"
#include "weft/dag.h"

enum { RANKS_MAX = 48 };

/// Contributions to a byte range: bit r is rank r's. Pieces are recorded as ranges of the array.
struct range {
    weft_bytes from, to;
    uint64_t set;
};
struct store {
    struct range *range;
    size_t n, capacity;
};
struct message {
    weft_bytes offset, bytes;
    uint64_t set;
};
struct connection {
    uint64_t received, sent;
    uint32_t sender_lane, receiver_lane;
    weft_bytes bytes;
    struct message message[64];
};

struct play {
    const struct weft_model *model;
    const struct weft_collective_ops *ops;
    enum weft_collective_goal goal;
    const void *conf;
    struct weft_collective_shape shape;
    uint32_t switches; ///< the last ranks, which have no data of their own and need none
    struct weft_dag dag;
    struct store *store;
    struct connection *connection;
    uint64_t sent_total;
};

static void store_add(struct store *s, weft_bytes from, weft_bytes to, uint64_t set) {
    if (s->n == s->capacity) {
        s->capacity = s->capacity ? 2 * s->capacity : 64;
        s->range = realloc(s->range, s->capacity * sizeof *s->range);
        assert_non_null(s->range);
    }
    s->range[s->n++] = (struct range){from, to, set};
}

static weft_bytes part_begin(const struct play *p, uint32_t k) {
    return (weft_bytes)((unsigned __int128)p->shape.bytes * k / p->shape.ranks);
}

static weft_bytes pair_bytes(const struct play *p, uint32_t src, uint32_t dst) {
    return p->ops->part ? p->ops->part(p->conf, &p->shape, src, dst) : part_begin(p, dst + 1) - part_begin(p, dst);
}

/// For an all-gather: the owner of the bytes at `at`, and where they end.
static uint32_t owner_of(const struct play *p, weft_bytes at, weft_bytes *ret_end) {
    if (p->ops->owner) return p->ops->owner(p->conf, &p->shape, at, ret_end);
    uint32_t k = 0;
    while (part_begin(p, k + 1) <= at)
        k++;
    *ret_end = part_begin(p, k + 1);
    return k;
}

/// What was in a rank's array at a piece before anything was kept.
static uint64_t content_before(const struct play *p, uint32_t rank, weft_bytes offset, weft_bytes bytes) {
    switch (p->goal) {
    case WEFT_GOAL_ALL_REDUCE:
    case WEFT_GOAL_REDUCE_SCATTER:
    case WEFT_GOAL_REDUCE:
        return rank < p->shape.ranks - p->switches ? UINT64_C(1) << rank : 0;
    case WEFT_GOAL_ALL_GATHER:
        if (bytes) assert_int_equal(owner_of(p, offset, &(weft_bytes){0}), rank);
        return UINT64_C(1) << rank;
    case WEFT_GOAL_BROADCAST:
        assert_int_equal(rank, p->shape.root);
        return UINT64_C(1) << rank;
    case WEFT_GOAL_EXCHANGE:
    case WEFT_GOAL_NEXT:
        assert_int_equal(offset / p->shape.bytes, rank);
        return UINT64_C(1) << rank;
    case WEFT_GOAL_OTHER:
    case WEFT_GOALS:
        break;
    }
    return 0;
}

/// The set that a rank's array has at a piece, the same all over it: what was kept there last, or what was there
/// before. What was kept in several pieces may be sent on in one.
static uint64_t content_alike(const struct play *p, uint32_t rank, weft_bytes offset, weft_bytes bytes) {
    const struct store *s = &p->store[rank];
    weft_bytes end = offset + bytes;
    for (size_t i = s->n; i-- > 0;) {
        const struct range *r = &s->range[i];
        if (end <= r->from || offset >= r->to) continue;
        if (offset < r->from) assert_int_equal(content_alike(p, rank, offset, r->from - offset), r->set);
        if (end > r->to) assert_int_equal(content_alike(p, rank, r->to, end - r->to), r->set);
        return r->set;
    }
    return content_before(p, rank, offset, bytes);
}

/// Gathered data comes from several ranks: the sets of all of them.
static uint64_t content(const struct play *p, uint32_t rank, weft_bytes offset, weft_bytes bytes) {
    if (p->goal != WEFT_GOAL_ALL_GATHER || !bytes) return content_alike(p, rank, offset, bytes);
    uint64_t set = 0;
    for (weft_bytes at = offset, end; at < offset + bytes; at = end) {
        uint64_t owner = UINT64_C(1) << owner_of(p, at, &end);
        if (end > offset + bytes) end = offset + bytes;
        assert_int_equal(content_alike(p, rank, at, end - at), owner);
        set |= owner;
    }
    return set;
}

static void keep(const struct play *p, uint32_t rank, weft_bytes offset, weft_bytes bytes, uint64_t set) {
    if (p->goal != WEFT_GOAL_ALL_GATHER) {
        store_add(&p->store[rank], offset, offset + bytes, set);
        return;
    }
    for (weft_bytes at = offset, end; at < offset + bytes; at = end) {
        uint32_t owner = owner_of(p, at, &end);
        if (end > offset + bytes) end = offset + bytes;
        store_add(&p->store[rank], at, end, UINT64_C(1) << owner);
    }
}

/// A connection belongs to one lane at each end.
static void claim(uint32_t *owner, uint32_t lane) {
    assert_true(*owner == WEFT_NONE || *owner == lane);
    *owner = lane;
}

/// A step, with sets for numbers.
static void on_step(void *context, const struct weft_dag_cursor *at, const struct weft_dag_step *step) {
    struct play *p = context;
    uint32_t rank = at->rank;
    if (!step->op) return; // it only orders others
    uint64_t set = step->own ? content(p, rank, step->offset, step->bytes) : 0;
    for (uint32_t k = 0; k < step->recvs; k++) {
        struct connection *c = &p->connection[step->recv[k]];
        assert_int_equal(weft_dag_connection_at(&p->dag, step->recv[k]).dst, rank);
        assert_true(c->received < c->sent);
        struct message m = c->message[c->received++ % 64];
        claim(&c->receiver_lane, at->lane);
        assert_int_equal(m.offset, step->offset);
        assert_int_equal(m.bytes, step->bytes);
        assert_int_equal(set & m.set, 0); // nothing is added twice
        set |= m.set;
    }
    assert_true(set != 0);
    if (step->keep) keep(p, rank, step->offset, step->bytes, set);
    for (uint32_t k = 0; k < step->sends; k++) {
        struct connection *c = &p->connection[step->send[k]];
        struct weft_dag_connection ends = weft_dag_connection_at(&p->dag, step->send[k]);
        assert_true(ends.src == rank && ends.dst != rank);
        claim(&c->sender_lane, at->lane);
        assert_true(c->sent - c->received < ends.slots);
        c->message[c->sent++ % 64] = (struct message){step->offset, step->bytes, set};
        c->bytes += step->bytes;
        p->sent_total += step->bytes;
    }
}

static void run(struct play *p, uint64_t seed) {
    struct weft_dag_result r =
        weft_dag_execute(&p->dag, &(struct weft_dag_options){.seed = seed, .on_step = on_step, .context = p});
    if (r.stuck)
        fail_msg("%s: deadlock: %u ranks, %u a server, %lu bytes: rank %u, lane %u", p->model->name, p->shape.ranks,
                 p->shape.per_server, (unsigned long)p->shape.bytes, r.rank, r.lane);
    assert_int_equal(r.bytes, p->sent_total);
    for (uint32_t i = 0; i < p->dag.connections; i++) {
        assert_int_equal(p->connection[i].sent, p->connection[i].received); // nothing is left in flight
        assert_int_equal(p->connection[i].bytes, weft_dag_connection_at(&p->dag, i).bytes);
    }
}

static int by_from(const void *a, const void *b) {
    const struct range *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return x->set == y->set ? 0 : x->set < y->set ? -1 : 1;
}

/// The final content of [from, to) is `set` everywhere. What was kept later holds: later sets are larger here.
static void expect(struct play *p, uint32_t rank, weft_bytes from, weft_bytes to, uint64_t set) {
    struct store *s = &p->store[rank];
    weft_bytes at = from;
    for (size_t i = 0; i < s->n && at < to; i++)
        if (s->range[i].set == set && s->range[i].from <= at && s->range[i].to > at) at = s->range[i].to;
    if (at < to)
        fail_msg("%s: %u ranks, %u a server, %lu bytes: rank %u lacks the sum at %lu", p->model->name, p->shape.ranks,
                 p->shape.per_server, (unsigned long)p->shape.bytes, rank, (unsigned long)at);
}

static void check_content(struct play *p) {
    uint32_t n = p->shape.ranks - p->switches;
    weft_bytes size = p->shape.bytes;
    uint64_t all = n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
    for (uint32_t r = 0; r < n; r++) {
        if (p->store[r].n) qsort(p->store[r].range, p->store[r].n, sizeof(struct range), by_from);
        switch (p->goal) {
        case WEFT_GOAL_ALL_REDUCE:
            expect(p, r, 0, size, all);
            break;
        case WEFT_GOAL_REDUCE_SCATTER:
            expect(p, r, part_begin(p, r), part_begin(p, r + 1), all);
            break;
        case WEFT_GOAL_ALL_GATHER:
            for (weft_bytes at = 0, end; at < size; at = end) {
                uint32_t k = owner_of(p, at, &end);
                if (k != r) expect(p, r, at, end, UINT64_C(1) << k);
            }
            break;
        case WEFT_GOAL_BROADCAST:
            if (r != p->shape.root) expect(p, r, 0, size, UINT64_C(1) << p->shape.root);
            break;
        case WEFT_GOAL_REDUCE:
            if (r == p->shape.root) expect(p, r, 0, size, all);
            break;
        case WEFT_GOAL_EXCHANGE:
            for (uint32_t k = 0; k < n; k++) {
                weft_bytes begin = k * size;
                for (uint32_t d = 0; d < r; d++)
                    begin += pair_bytes(p, k, d);
                if (k != r) expect(p, r, begin, begin + pair_bytes(p, k, r), UINT64_C(1) << k);
            }
            break;
        case WEFT_GOAL_NEXT:
            if (r) expect(p, r, (r - 1) * size, r * size, UINT64_C(1) << (r - 1));
            break;
        case WEFT_GOAL_OTHER:
        case WEFT_GOALS:
            fail();
        }
    }
}

/// Closed forms of what all ranks send together; exact.
static void check_volume(const struct play *p) {
    uint64_t n = p->shape.ranks - p->switches, size = p->shape.bytes, sum = 0;
    switch (p->goal) {
    case WEFT_GOAL_ALL_REDUCE: // to a switch and back: what all GPUs have, and a sum
        assert_int_equal(p->sent_total, 2 * (p->switches ? n + 1 : n - 1) * size);
        break;
    case WEFT_GOAL_REDUCE_SCATTER:
    case WEFT_GOAL_ALL_GATHER:
    case WEFT_GOAL_BROADCAST:
    case WEFT_GOAL_REDUCE:
    case WEFT_GOAL_NEXT:
        assert_int_equal(p->sent_total, (n - 1) * size);
        break;
    case WEFT_GOAL_EXCHANGE:
        for (uint32_t s = 0; s < n; s++)
            for (uint32_t d = 0; d < n; d++)
                sum += s == d ? 0 : pair_bytes(p, s, d);
        assert_int_equal(p->sent_total, sum);
        break;
    case WEFT_GOAL_OTHER:
    case WEFT_GOALS:
        fail();
    }
}

/// Hosts of one server; the last ones are processors of its switches.
static struct built network_of(uint32_t hosts, uint32_t switches) {
    char text[96];
    if (switches)
        snprintf(text, sizeof text, "topology: {kind: scale_up, gpus: %" PRIu32 ", switches: %" PRIu32 ", reduces: on}",
                 hosts - switches, switches);
    else
        snprintf(text, sizeof text, "topology: {kind: single, hosts: %" PRIu32 "}", hosts);
    struct built built = build_text(text);
    if (!built.t) fail_msg("%s", built.error.text);
    return built;
}

/// The collective as an entry of a workload, over as many hosts as it has ranks.
static struct weft_workload *compile(const struct weft_model *model, const char *parameters,
                                     struct weft_collective_shape shape, const struct built *built) {
    bool processors = ((const struct weft_collective_ops *)model->ops)->processors;
    char text[1024];
    snprintf(text, sizeof text,
             "{%ssize: %" PRIu64 "B, root: %" PRIu32 ", server: {gpus: %" PRIu32 ", nics: %" PRIu32
             "}, collective: {kind: %s%s%s}}",
             processors ? "hosts: \"host-*,alu-*\", " : "", shape.bytes, shape.root, shape.per_server,
             shape.per_nic ? shape.per_server / shape.per_nic : 0, model->name, parameters ? ", " : "",
             parameters ? parameters : "");
    struct weft_model_conf entry = {.model = model_of(WEFT_KIND_WORKLOAD, "collective")};
    entry.conf = weft_arena_alloc(built->arena, 1, entry.model->params->conf_size);
    struct weft_tree *tree;
    struct weft_workload *w = NULL;
    struct weft_error error = {0};
    if (weft_tree_parse("test", text, strlen(text), built->arena, &tree, &error) ||
        weft_params_load(entry.model->params, tree, entry.conf, built->arena, &error) ||
        weft_workload_new(&entry, 1, built->t, 1, WEFT_TIME_NEVER, built->arena, &w, &error))
        fail_msg("%s: %s", text, error.text);
    return w;
}

static void play_with(const struct weft_model *model, const char *parameters, struct weft_collective_shape shape,
                      uint32_t switches, uint64_t seed) {
    struct built built = network_of(shape.ranks / (shape.per_nic ? shape.per_nic : 1), switches);
    const struct weft_workload *w = compile(model, parameters, shape, &built);
    const struct weft_job_op *op = w->job->op;
    struct play p = {.model = model, .ops = model->ops, .goal = op->goal, .conf = op->conf, .shape = op->shape};
    if (switches) p.goal = WEFT_GOAL_ALL_REDUCE;
    p.switches = switches;
    assert_int_equal(p.shape.ranks, shape.ranks);
    assert_int_equal(p.shape.per_server, shape.per_server);
    p.dag = weft_dag_of(w, built.arena);
    p.store = calloc(shape.ranks, sizeof *p.store);
    p.connection = calloc(p.dag.connections, sizeof *p.connection);
    for (uint32_t i = 0; i < p.dag.connections; i++)
        p.connection[i].sender_lane = p.connection[i].receiver_lane = WEFT_NONE;
    run(&p, seed);
    check_content(&p);
    if (!strstr(parameters ? parameters : "", "server:") && !strstr(parameters ? parameters : "", "pxn:"))
        check_volume(&p); // a relay sends a second time
    for (uint32_t r = 0; r < shape.ranks; r++)
        free(p.store[r].range);
    free(p.store);
    free(p.connection);
    weft_arena_free(built.arena);
}

static void play(const struct weft_model *model, const char *parameters, struct weft_collective_shape shape,
                 uint64_t seed) {
    play_with(model, parameters, shape, 0, seed);
}

static void every_rank_gets_what_it_should(void **state) {
    static const uint32_t over[][2] = {{2, 1},  {2, 2},  {3, 1},  {4, 2},  {5, 1},        {6, 3},
                                       {7, 7},  {8, 4},  {9, 3},  {12, 4}, {13, 1},       {16, 8},
                                       {17, 1}, {24, 8}, {31, 1}, {32, 4}, {RANKS_MAX, 8}};
    static const weft_bytes sizes[] = {1, 7, 1000, 65537, 100003};
    static const char *const parameters[] = {
        "chunk: 64KB, slice: 32KB",
        "chunk: 10KB, slice: 3KB, channels: 3, slots: 5",
        "chunk: 1KB, slice: 1KB, channels: 5, slots: 2",
    };
    for (uint32_t m = 0; m < general_collectives(); m++)
        for (size_t k = 0; k < sizeof over / sizeof *over; k++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                if (sizes[s] > 100000 && over[k][0] > 13) continue; // time
                play(general_collective(m), parameters[(k + s) % 3],
                     (struct weft_collective_shape){
                         .ranks = over[k][0], .per_server = over[k][1], .bytes = sizes[s], .root = over[k][0] / 2},
                     k * 5 + s);
            }
}

/// All-to-alls as NCCL has them: the data for a peer in parts, several peers of a channel at once, its order of peers;
/// with relays and without. (Servers in any number: a power of two or not.)
static void exchanges_in_parts(void **state) {
    static const char *const parameters[] = {
        "order: nccl", "order: nccl, peer_channels: 4, at_once: 8, channels: 2",
        "peer_channels: 3, channels: 5, chunk: 1KB, slice: 1KB, slots: 2",
        "order: nccl, peer_channels: 2, pxn: on, chunk: 3KB, slice: 3KB, at_once: 2"};
    static const char *const names[] = {"all_to_all", "all_to_all_v"};
    static const weft_bytes sizes[] = {1, 17, 4099, 70001};
    for (uint32_t servers = 1; servers < 10; servers++)
        for (uint32_t i = 0; i < 2 * 4 * 4; i++)
            play(model_of(WEFT_KIND_COLLECTIVE, names[i % 2]), parameters[i / 2 % 4],
                 (struct weft_collective_shape){.ranks = servers * (servers < 4 ? 4 : 2),
                                                .per_server = servers < 4 ? 4 : 2,
                                                .bytes = sizes[i / 8]},
                 servers + i);
}

/// Those that the switch of a server does alone: any number of its ranks.
static void every_rank_of_a_server_gets_what_it_should(void **state) {
    static const char *const names[] = {"all_gather_nvls", "reduce_scatter_nvls"};
    static const char *const parameters[] = {NULL, "chunk: 10KB, slice: 3KB, channels: 3, slots: 5",
                                             "chunk: 1KB, slice: 1KB, channels: 17, slots: 2"};
    static const weft_bytes sizes[] = {1, 7, 1000, 65537};
    for (uint32_t ranks = 2; ranks <= 16; ranks++)
        for (uint32_t i = 0; i < 2 * 3 * 4; i++)
            play(model_of(WEFT_KIND_COLLECTIVE, names[i % 2]), parameters[i / 2 % 3],
                 (struct weft_collective_shape){.ranks = ranks, .per_server = ranks, .bytes = sizes[i / 6]}, ranks + i);
}

/// Processors of switches that add and copy: every GPU has the sum of all GPUs, whatever the sizes.
static void switches_add_and_copy(void **state) {
    static const uint32_t links[] = {0, 4, 5, 18};
    static const weft_bytes sizes[] = {1, 1000, 8192, 65537};
    for (uint32_t gpus = 2; gpus <= 16; gpus++)
        for (uint32_t i = 0; i < 4 * 4 * 4; i++) {
            char parameters[128];
            uint32_t switches = i % 4 + 1;
            snprintf(parameters, sizeof parameters,
                     "switches: %" PRIu32 ", links: %" PRIu32 ", slice: 1KB, chunk: 1KB, slots: %d, loop: %dB",
                     switches, links[i / 4 % 4], i % 3 ? 8 : 2, i % 5 * 1700);
            play_with(model_of(WEFT_KIND_COLLECTIVE, "all_reduce_in_switch"), parameters,
                      (struct weft_collective_shape){.ranks = gpus + switches, .per_server = 1, .bytes = sizes[i / 16]},
                      switches, gpus + i);
        }
}

/// Channels of four GPUs, each with its own order and NICs: NIC k is near GPU k (examples/import/nccl/topo.xml).
static void put_channels(const char *path, uint32_t tree_pattern) {
    static const uint32_t order[3][4] = {{0, 1, 2, 3}, {2, 0, 3, 1}, {1, 3, 2, 0}};
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "<graphs version='1'>");
    for (uint32_t id = 0; id < 2; id++) {
        fprintf(file, "<graph id='%u' pattern='%u'>", id, id ? tree_pattern : 4);
        for (uint32_t c = 0; c < 3; c++) {
            fprintf(file, "<channel><net dev='%u'/>", order[c][0]);
            for (uint32_t k = 0; k < 4; k++)
                fprintf(file, "<gpu dev='%u'/>", order[c][k]);
            fprintf(file, "<net dev='%u'/></channel>", c == 2 ? order[c][3] : order[c][0]);
        }
        fprintf(file, "</graph>");
    }
    fprintf(file, "</graphs>");
    fclose(file);
}

/// The same in the channels that NCCL has found, with relays and without, and in trees of each pattern.
static void channels_of_nccl(void **state) {
    static const char *const inner[] = {"all_reduce_ring", "all_gather",      "reduce_scatter",  "broadcast",
                                        "reduce",          "all_reduce_tree", "all_reduce_tree", "all_reduce_tree"};
    char path[] = "/tmp/weft-channels-XXXXXX", parameters[512], server[256];
    close(mkstemp(path));
    for (size_t i = 0; i < sizeof inner / sizeof *inner; i++)
        for (uint32_t servers = 1; servers < 10; servers++)
            for (uint32_t relays = 0; relays < 2; relays++) {
                put_channels(path, i < 5 ? 1 : (uint32_t)i - 4);
                snprintf(server, sizeof server, ", server: %s/examples/import/nccl/topo.xml", getenv("WEFT_ROOT"));
                snprintf(parameters, sizeof parameters,
                         "file: %s, collective: {kind: %s, chunk: 10KB, slice: 3KB, slots: 5}%s", path, inner[i],
                         relays ? server : "");
                play(model_of(WEFT_KIND_COLLECTIVE, "nccl"), parameters,
                     (struct weft_collective_shape){
                         .ranks = 4 * servers, .per_server = 4, .bytes = 65537, .root = servers / 2},
                     i * 9 + servers);
            }
    unlink(path);
}

/// All bytes that a rank's steps, or its sends, have for each rank in each channel.
static weft_bytes *exchanged(const struct weft_collective_ops *ops, const void *conf,
                             const struct weft_collective_shape *shape, uint32_t rank, bool steps) {
    enum { CHANNELS = 128 };
    weft_bytes *sum = calloc((size_t)shape->ranks * CHANNELS, sizeof *sum);
    struct weft_sent sent;
    struct weft_step step;
    for (uint32_t i = 0; !steps && i < ops->sends(conf, shape, rank); i++) {
        ops->send(conf, shape, rank, i, &sent);
        sum[sent.peer * CHANNELS + sent.channel] += sent.bytes;
    }
    for (uint32_t lane = 0; steps && lane < ops->lanes(conf, shape); lane++)
        for (uint64_t n = 0; n < ops->steps(conf, shape, rank, lane); n++) {
            ops->step(conf, shape, rank, lane, n, &step);
            if (step.send[0] != WEFT_NONE) sum[step.send[0] * CHANNELS + step.channel] += step.bytes;
        }
    return sum;
}

/// All-to-alls whose messages go by the GPU on the rail of their destination: the same exchange, and nothing goes from
/// rail to rail over the network.
static void exchanges_by_pxn(void **state) {
    static const char *const names[] = {"all_to_all", "all_to_all_v"};
    static const uint32_t over[][3] = {{4, 2, 1}, {6, 3, 1}, {8, 4, 2}, {12, 4, 1}, {16, 8, 4}, {20, 4, 2}, {9, 3, 1}};
    static const char *const parameters[] = {"pxn: on", "pxn: on, chunk: 1KB, slice: 1KB, channels: 3, slots: 2",
                                             "pxn: on, chunk: 3KB, slice: 3KB, channels: 64, slots: 2"};
    static const weft_bytes sizes[] = {1, 17, 4099, 70001};
    for (size_t i = 0; i < 2 * sizeof over / sizeof *over * sizeof sizes / sizeof *sizes; i++) {
        const uint32_t *o = over[i / 2 % (sizeof over / sizeof *over)];
        struct weft_collective_shape shape = {
            .ranks = o[0], .per_server = o[1], .bytes = sizes[i % 4], .per_nic = o[2]};
        const struct weft_model *model = model_of(WEFT_KIND_COLLECTIVE, names[i % 2]);
        const struct weft_collective_ops *ops = model->ops;
        play(model, parameters[i % 3], shape, i);
        char map[128];
        snprintf(map, sizeof map, "{%s}", parameters[i % 3]);
        void *conf = conf_of(model, map);
        assert_true(ops->relays(conf, &shape));
        for (uint32_t r = 0; r < shape.ranks; r++) {
            weft_bytes *steps = exchanged(ops, conf, &shape, r, true), *sends = exchanged(ops, conf, &shape, r, false);
            assert_memory_equal(steps, sends, (size_t)shape.ranks * 128 * sizeof *steps);
            for (uint32_t d = 0; d < shape.ranks; d++)
                for (uint32_t c = 0; c < 128; c++)
                    if (steps[d * 128 + c] && d / o[1] != r / o[1])
                        assert_int_equal(r % o[1] / o[2], d % o[1] / o[2]); // the same rail
            free(steps);
            free(sends);
        }
        free(conf);
    }
}

static void defaults_with_a_real_size(void **state) {
    for (uint32_t m = 0; m < general_collectives(); m++)
        play(general_collective(m), NULL,
             (struct weft_collective_shape){.ranks = 16, .per_server = 8, .bytes = 64 << 20}, m);
}

static void end(const struct weft_model *model, const char *parameters, struct weft_collective_shape shape) {
    const struct weft_collective_ops *ops = model->ops;
    void *conf = ops->processors ? conf_of(model, NULL) : NULL;
    struct built built = network_of(4, conf ? (uint32_t)ops->processors(conf) : 0);
    free(conf);
    struct weft_dag dag = weft_dag_of(compile(model, parameters, shape, &built), built.arena);
    struct weft_dag_result r = weft_dag_execute(&dag, &(struct weft_dag_options){0});
    assert_false(r.stuck);
    assert_true(r.bytes > 0);
    built_free(&built);
}

/// Those that a file describes, for the four ranks of the samples: they end. (What a file's own buffers hold is checked
/// when it is read.)
static void samples_of_files(void **state) {
    uint32_t played = 0;
    for (uint32_t m = 0; m < weft_model_count(WEFT_KIND_COLLECTIVE); m++) {
        const struct weft_model *model = weft_model_at(WEFT_KIND_COLLECTIVE, m);
        const struct weft_collective_ops *ops = model->ops;
        char file[512];
        if (!ops->load) continue;
        for (weft_bytes size = 4; size < 100000000; size *= 77)
            end(model, sample_of(model, file, sizeof file),
                (struct weft_collective_shape){.ranks = 4, .per_server = ops->processors ? 1 : 4, .bytes = size});
        played++;
    }
    assert_int_equal(played + general_collectives(), weft_model_count(WEFT_KIND_COLLECTIVE));
}

/// Each rank's share, where the scheme promises one: 2 (n - 1) / n of the size for the ring, (n - 1) / n for its
/// halves, within a byte a block.
static void shares_are_even(void **state) {
    static const struct {
        const char *name;
        double factor;
    } scheme[] = {{"all_reduce_ring", 2}, {"reduce_scatter", 1}, {"all_gather", 1}, {"all_to_all", 1}};
    const struct weft_collective_shape shape = {.ranks = 24, .per_server = 8, .bytes = 1 << 20};
    for (size_t i = 0; i < sizeof scheme / sizeof *scheme; i++) {
        const struct weft_model *model = weft_model_find(WEFT_KIND_COLLECTIVE, scheme[i].name);
        const struct weft_collective_ops *ops = model->ops;
        void *conf = conf_of(model, NULL);
        uint64_t least = UINT64_MAX, most = 0;
        for (uint32_t r = 0; r < shape.ranks; r++) {
            uint64_t sent = 0;
            for (uint32_t lane = 0; lane < ops->lanes(conf, &shape); lane++)
                for (uint64_t k = 0; k < ops->steps(conf, &shape, r, lane); k++) {
                    struct weft_step step;
                    ops->step(conf, &shape, r, lane, k, &step);
                    sent += step.send[0] == WEFT_NONE ? 0 : step.bytes;
                }
            least = sent < least ? sent : least;
            most = sent > most ? sent : most;
        }
        double share = scheme[i].factor * 23 / 24 * (1 << 20);
        assert_true((double)most - share <= 2 * 24 * 8 && share - (double)least <= 2 * 24 * 8);
        free(conf);
    }
}

static const struct weft_collective_shape shapes[] = {
    {.ranks = 1, .per_server = 1, .bytes = 1000},     {.ranks = 2, .per_server = 1, .bytes = 1},
    {.ranks = 2, .per_server = 2, .bytes = 100003},   {.ranks = 3, .per_server = 1, .bytes = 7},
    {.ranks = 8, .per_server = 4, .bytes = 65537},    {.ranks = 16, .per_server = 8, .bytes = 1 << 20},
    {.ranks = 17, .per_server = 1, .bytes = 1000003}, {.ranks = 24, .per_server = 8, .bytes = 900001},
    {.ranks = 5, .per_server = 1, .bytes = 12345678}, {.ranks = 64, .per_server = 8, .bytes = 64 << 20},
    {.ranks = 6, .per_server = 3, .bytes = 0}};
static const char *const parameters[] = {NULL, "{chunk: 10KB, slice: 3KB, channels: 3, slots: 5}",
                                         "{chunk: 1KB, slice: 1KB, channels: 5, slots: 2}"};

static void assert_same_step(const struct weft_step *a, const struct weft_step *b) {
    assert_memory_equal(a->recv, b->recv, sizeof a->recv);
    assert_memory_equal(a->send, b->send, sizeof a->send);
    assert_int_equal(a->channel, b->channel);
    assert_int_equal(a->offset, b->offset);
    assert_int_equal(a->bytes, b->bytes);
    assert_int_equal(a->own, b->own);
    assert_int_equal(a->keep, b->keep);
}

/// Steps with what a lane's have in common worked out before are the steps.
/// Steps that are said to be alike have the same peers and bytes; how many beside the first.
static uint64_t check_alike(const struct weft_collective_ops *ops, const void *plan, uint64_t first, uint64_t steps) {
    uint64_t alike = ops->alike(plan, first);
    struct weft_step a, b;
    assert_true(alike >= 1 && first + alike <= steps);
    ops->planned(plan, first, &a);
    for (uint64_t n = first; n < first + alike; n++) {
        ops->planned(plan, n, &b);
        assert_int_equal(a.bytes, b.bytes);
        assert_int_equal(a.channel, b.channel);
        assert_memory_equal(a.recv, b.recv, sizeof a.recv);
        assert_memory_equal(a.send, b.send, sizeof a.send);
    }
    return alike - 1;
}

static void planned_steps_are_the_steps(void **state) {
    uint64_t alike = 0;
    for (uint32_t m = 0; m < general_collectives(); m++) {
        const struct weft_model *model = general_collective(m);
        const struct weft_collective_ops *ops = model->ops;
        assert_true(!ops->plan == !ops->planned && !ops->plan == !ops->plan_size);
        for (size_t i = 0; ops->plan && i < 3 * sizeof shapes / sizeof *shapes; i++) {
            const struct weft_collective_shape *shape = &shapes[i / 3];
            void *conf = conf_of(model, parameters[i % 3]), *plan = malloc(ops->plan_size);
            for (uint32_t k = 0; k < shape->ranks * ops->lanes(conf, shape); k++) {
                uint32_t rank = k % shape->ranks, lane = k / shape->ranks;
                uint64_t steps = ops->steps(conf, shape, rank, lane);
                ops->plan(conf, shape, rank, lane, plan);
                for (uint64_t n = 0; n < steps; n += 1 + n / 4) {
                    struct weft_step planned, step;
                    ops->planned(plan, n, &planned);
                    ops->step(conf, shape, rank, lane, n, &step);
                    assert_same_step(&planned, &step);
                    alike += ops->alike ? check_alike(ops, plan, n, steps) : 0;
                }
            }
            free(plan);
            free(conf);
        }
    }
    assert_true(alike > 0);
}

/// Notes what a step sends under each rank that it goes to, which are among those named.
static void sum_step(const struct weft_step *step, const struct weft_sent *sent, uint32_t peers,
                     struct weft_sent *sum) {
    for (uint32_t k = 0; step->bytes && k < WEFT_STEP_PEERS && step->send[k] != WEFT_NONE; k++) {
        uint32_t p = 0;
        while (p < peers && sent[p].peer != step->send[k])
            p++;
        assert_true(p < peers);
        assert_int_equal(step->channel, sent[p].channel);
        sum[p].bytes += step->bytes;
        sum[p].messages++;
        if (step->bytes > sum[p].message_bytes_max) sum[p].message_bytes_max = step->bytes;
    }
}

/// What a collective says that a lane sends is what its steps send, to each rank, and the largest of them.
static void sums_are_those_of_the_steps(void **state) {
    uint32_t compared = 0;
    for (uint32_t m = 0; m < general_collectives(); m++) {
        const struct weft_model *model = general_collective(m);
        const struct weft_collective_ops *ops = model->ops;
        for (size_t i = 0; ops->sent && i < 3 * sizeof shapes / sizeof *shapes; i++) {
            const struct weft_collective_shape *shape = &shapes[i / 3];
            void *conf = conf_of(model, parameters[i % 3]);
            for (uint32_t k = 0; k < shape->ranks * ops->lanes(conf, shape); k++, compared++) {
                uint32_t rank = k % shape->ranks, lane = k / shape->ranks;
                struct weft_sent sent[WEFT_STEP_PEERS], sum[WEFT_STEP_PEERS] = {0};
                uint32_t peers = ops->sent(conf, shape, rank, lane, sent);
                for (uint64_t n = 0; n < ops->steps(conf, shape, rank, lane); n++) {
                    struct weft_step step;
                    ops->step(conf, shape, rank, lane, n, &step);
                    sum_step(&step, sent, peers, sum);
                }
                for (uint32_t p = 0; p < peers; p++) {
                    assert_int_equal(sum[p].bytes, sent[p].bytes);
                    assert_int_equal(sum[p].messages, sent[p].messages);
                    if (sum[p].bytes)
                        assert_in_range(sent[p].message_bytes_max, sum[p].message_bytes_max,
                                        sum[p].message_bytes_max + 1);
                }
            }
            free(conf);
        }
    }
    assert_true(compared > 1000);
}

/// What a rank sends in all its lanes to each other one in each channel: [peer * SUM_CHANNELS + channel].
enum { SUM_CHANNELS = 128 };
static struct weft_sent *sum_of_rank(const struct weft_collective_ops *ops, const void *conf,
                                     const struct weft_collective_shape *shape, uint32_t rank) {
    struct weft_sent *sum = calloc((size_t)shape->ranks * SUM_CHANNELS, sizeof *sum);
    for (uint32_t lane = 0; lane < ops->lanes(conf, shape); lane++)
        for (uint64_t n = 0; n < ops->steps(conf, shape, rank, lane); n++) {
            struct weft_step step;
            ops->step(conf, shape, rank, lane, n, &step);
            for (uint32_t k = 0; step.bytes && k < WEFT_STEP_PEERS && step.send[k] != WEFT_NONE; k++) {
                struct weft_sent *to = &sum[step.send[k] * SUM_CHANNELS + step.channel];
                to->bytes += step.bytes;
                to->messages++;
                if (step.bytes > to->message_bytes_max) to->message_bytes_max = step.bytes;
            }
        }
    return sum;
}

/// Collectives that send straight to others say of each of these what their steps send to it. What does not say so says
/// it by lanes.
static void what_goes_to_each_is_that_of_the_steps(void **state) {
    uint32_t compared = 0;
    for (uint32_t m = 0; m < general_collectives(); m++) {
        const struct weft_model *model = general_collective(m);
        const struct weft_collective_ops *ops = model->ops;
        assert_true(!ops->sends == !ops->send && !ops->sends != !ops->sent);
        for (size_t i = 0; ops->sends && i < 3 * sizeof shapes / sizeof *shapes; i++) {
            struct weft_collective_shape shape = shapes[i / 3];
            shape.root = shape.ranks / 3;
            void *conf = conf_of(model, parameters[i % 3]);
            for (uint32_t rank = 0; rank < shape.ranks; rank++) {
                struct weft_sent *sum = sum_of_rank(ops, conf, &shape, rank), sent;
                for (uint32_t k = 0; k < ops->sends(conf, &shape, rank); k++, compared++) {
                    ops->send(conf, &shape, rank, k, &sent);
                    struct weft_sent *to = &sum[sent.peer * SUM_CHANNELS + sent.channel];
                    assert_int_equal(sent.bytes, to->bytes);
                    assert_int_equal(sent.messages, to->messages);
                    if (sent.bytes)
                        assert_in_range(sent.message_bytes_max, to->message_bytes_max, to->message_bytes_max + 1);
                    if (ops->part_for) assert_int_equal(ops->part_for(conf, &shape, sent.peer), sent.bytes);
                    to->bytes = 0;
                }
                for (uint32_t d = 0; d < shape.ranks * SUM_CHANNELS; d++)
                    assert_int_equal(sum[d].bytes, 0); // that was all
                free(sum);
            }
            free(conf);
        }
    }
    assert_true(compared > 1000);
}

/// Every rank sends to as many others as the collective says, or to more.
static void peers_are_as_many_as_said(void **state) {
    uint32_t compared = 0;
    for (uint32_t m = 0; m < general_collectives(); m++) {
        const struct weft_model *model = general_collective(m);
        const struct weft_collective_ops *ops = model->ops;
        for (size_t i = 0; ops->peers_min && i < 3 * sizeof shapes / sizeof *shapes; i++, compared++) {
            const struct weft_collective_shape *shape = &shapes[i / 3];
            void *conf = conf_of(model, parameters[i % 3]);
            uint32_t lanes = ops->lanes(conf, shape), least = ops->peers_min(conf, shape);
            for (uint32_t rank = 0; rank < shape->ranks; rank++) {
                bool *sent = calloc(shape->ranks, 1);
                for (uint32_t lane = 0; lane < lanes; lane++)
                    for (uint64_t n = 0; n < ops->steps(conf, shape, rank, lane); n++) {
                        struct weft_step step;
                        ops->step(conf, shape, rank, lane, n, &step);
                        for (uint32_t p = 0; step.bytes && p < WEFT_STEP_PEERS && step.send[p] != WEFT_NONE; p++)
                            sent[step.send[p]] = true;
                    }
                uint32_t peers = 0;
                for (uint32_t d = 0; d < shape->ranks; d++)
                    peers += sent[d];
                assert_in_range(peers, least, shape->ranks - 1);
                free(sent);
            }
            free(conf);
        }
    }
    assert_true(compared > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rank_gets_what_it_should),
        cmocka_unit_test(every_rank_of_a_server_gets_what_it_should),
        cmocka_unit_test(switches_add_and_copy),
        cmocka_unit_test(exchanges_in_parts),
        cmocka_unit_test(channels_of_nccl),
        cmocka_unit_test(exchanges_by_pxn),
        cmocka_unit_test(defaults_with_a_real_size),
        cmocka_unit_test(samples_of_files),
        cmocka_unit_test(shares_are_even),
        cmocka_unit_test(planned_steps_are_the_steps),
        cmocka_unit_test(sums_are_those_of_the_steps),
        cmocka_unit_test(what_goes_to_each_is_that_of_the_steps),
        cmocka_unit_test(peers_are_as_many_as_said),
    };
    return cmocka_run_group_tests(tests, open_memory, close_memory);
}
