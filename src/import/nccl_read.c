// SPDX-License-Identifier: Apache-2.0
// <system> <cpu> <pci link_speed link_width> ... <gpu dev sm rank> <nvlink count/>, <nic> <net name dev speed/>; and
// <graphs> <graph id pattern nchannels> <channel> <net dev/> <gpu dev/> ... <net dev/>. Other elements and attributes
// are ignored.
#include "import/nccl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "base/xml.h"

/// An id is the number of a device, with that of the system in the bits above; a different system than the first one
/// means NVLinks between servers.
#define ID_MAX ((INT64_C(1) << 56) - 1)

enum { GPUS_MAX = 72, NICS_MAX = 1024, CHANNELS_MAX = 64, MBPS_MAX = 10000000, DEPTH_MAX = WEFT__XML_DEPTH };

#define FAIL(e, ...) weft_error_set(ret_error, WEFT_ERROR_INPUT, (e)->place, __VA_ARGS__)

/// NCCL also refuses any other (xml.h).
static enum weft_status check_version(const struct weft__xml_element *e, struct weft_error *ret_error) {
    int64_t version;
    return weft__xml_number_or(e, "version", 1, 1, 1, &version, ret_error);
}

// --- servers ------------------------------------------------------------------------------------------------------

struct server_reader {
    struct weft__nccl_server *server;
    struct weft_arena *arena;
    uint32_t path[DEPTH_MAX + 1]; ///< numbers of the elements that are open
    double pci_gbps[DEPTH_MAX + 1];
    uint32_t elements;
    struct weft__nccl_gpu *gpu; ///< the last one, to which its NVLinks belong
};

/// "32.0 GT/s PCIe" with this many lanes, each direction: from 8 GT/s on 128 of 130 bits are data, below that 8 of 10.
static double pci_gbps(const struct weft__xml_element *e) {
    const char *speed = weft__xml_find(e, "link_speed"), *width = weft__xml_find(e, "link_width");
    char number[16] = "";
    double gigatransfers, lanes;
    if (!speed || !width) return 0;
    size_t n = strspn(speed, "0123456789.");
    if (n >= sizeof number) return 0;
    memcpy(number, speed, n);
    if (!weft__real_parse(number, &gigatransfers) || !weft__real_parse(width, &lanes)) return 0;
    if (gigatransfers <= 0 || gigatransfers > 1000 || lanes <= 0 || lanes > 64) return 0;
    return gigatransfers * lanes * (gigatransfers < 8 ? 0.8 : 128. / 130);
}

static enum weft_status read_gpu(struct server_reader *r, const struct weft__xml_element *e,
                                 struct weft_error *ret_error) {
    struct weft__nccl_server *s = r->server;
    if (s->gpus == GPUS_MAX) return FAIL(e, "expected at most %d GPUs in a server", GPUS_MAX);
    struct weft__nccl_gpu *g = &s->gpu[s->gpus];
    int64_t sm;
    *g = (struct weft__nccl_gpu){.pci_gbps = r->pci_gbps[e->depth], .depth = e->depth};
    enum weft_status status = weft__xml_number(e, "dev", 0, INT32_MAX, &g->dev, ret_error);
    if (!status) status = weft__xml_number_or(e, "rank", -1, INT32_MAX, -1, &g->rank, ret_error);
    if (!status) status = weft__xml_number_or(e, "sm", 0, 100000, 0, &sm, ret_error);
    if (status) return status;
    for (uint32_t k = 0; k < s->gpus; k++)
        if (s->gpu[k].dev == g->dev || (g->rank >= 0 && s->gpu[k].rank == g->rank))
            return FAIL(e, "another GPU of the file has this dev or rank; expected one of its own");
    g->sm = (uint32_t)sm;
    memcpy(g->path, r->path, sizeof *r->path * e->depth);
    r->gpu = g;
    s->gpus++;
    return WEFT_OK;
}

static enum weft_status read_nvlink(struct server_reader *r, const struct weft__xml_element *e,
                                    struct weft_error *ret_error) {
    int64_t count;
    enum weft_status status = weft__xml_number(e, "count", 1, 1000, &count, ret_error);
    if (!status && r->gpu) r->gpu->nvlinks += (uint32_t)count;
    return status;
}

static enum weft_status read_net(struct server_reader *r, const struct weft__xml_element *e,
                                 struct weft_error *ret_error) {
    struct weft__nccl_server *s = r->server;
    int64_t dev, mbps;
    const char *name = weft__xml_find(e, "name");
    if (s->nics == NICS_MAX) return FAIL(e, "expected at most %d NICs in a server", NICS_MAX);
    enum weft_status status = weft__xml_number(e, "dev", 0, INT64_MAX, &dev, ret_error);
    if (!status) status = weft__xml_number(e, "speed", 1, MBPS_MAX, &mbps, ret_error);
    if (status) return status;
    struct weft__nccl_nic *n = &s->nic[s->nics++];
    *n = (struct weft__nccl_nic){.dev = dev,
                                 .name = weft_arena_text(r->arena, name ? name : ""),
                                 .mbps = (double)mbps,
                                 .host = WEFT_NONE,
                                 .depth = e->depth};
    memcpy(n->path, r->path, sizeof *r->path * e->depth);
    return WEFT_OK;
}

static enum weft_status server_begin(void *context, const struct weft__xml_element *e, struct weft_error *ret_error) {
    struct server_reader *r = context;
    if (!e->depth && strcmp(e->name, "system")) return FAIL(e, "expected <system> here");
    if (!e->depth) return check_version(e, ret_error);
    r->path[e->depth] = ++r->elements;
    r->pci_gbps[e->depth + 1] = r->pci_gbps[e->depth];
    if (!strcmp(e->name, "pci")) r->pci_gbps[e->depth + 1] = pci_gbps(e);
    if (!strcmp(e->name, "gpu")) return read_gpu(r, e, ret_error);
    if (!strcmp(e->name, "nvlink")) return read_nvlink(r, e, ret_error);
    if (!strcmp(e->name, "net")) return read_net(r, e, ret_error);
    return WEFT_OK;
}

static int by_rank(const void *a, const void *b) {
    const struct weft__nccl_gpu *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return (x->dev > y->dev) - (x->dev < y->dev);
}

/// Keeps the NICs that carry the job's traffic: a slow one is for management.
static void drop_slow(struct weft__nccl_server *s) {
    double most = 0;
    uint32_t n = 0;
    for (uint32_t k = 0; k < s->nics; k++)
        if (s->nic[k].mbps > most) most = s->nic[k].mbps;
    for (uint32_t k = 0; k < s->nics; k++)
        if (2 * s->nic[k].mbps >= most) s->nic[n++] = s->nic[k];
    s->slow = s->nics - n;
    s->nics = n;
}

/// The number of elements that contain both: the more, the nearer.
static uint32_t common(const struct weft__nccl_gpu *g, const struct weft__nccl_nic *n) {
    uint32_t k = 0;
    while (k < g->depth && k < n->depth && g->path[k] == n->path[k])
        k++;
    return k;
}

static bool is_near(const struct weft__nccl_server *s, const struct weft__nccl_gpu *g, uint32_t nic) {
    uint32_t most = 0;
    for (uint32_t k = 0; k < s->nics; k++)
        if (common(g, &s->nic[k]) > most) most = common(g, &s->nic[k]);
    return common(g, &s->nic[nic]) == most;
}

/// How the nearest NICs of a GPU relate to those of another: NICs nest like the elements of the file.
static bool near_the_same(const struct weft__nccl_server *s, uint32_t gpu, uint32_t other) {
    for (uint32_t k = 0; k < s->nics; k++)
        if (is_near(s, &s->gpu[gpu], k) != is_near(s, &s->gpu[other], k)) return false;
    return true;
}

/// Another GPU is nearer to some of its nearest NICs than to others.
static bool has_nearer(const struct weft__nccl_server *s, uint32_t gpu) {
    for (uint32_t other = 0; other < s->gpus; other++) {
        bool some = false, more = false;
        for (uint32_t k = 0; k < s->nics; k++) {
            bool own = is_near(s, &s->gpu[gpu], k), of_other = is_near(s, &s->gpu[other], k);
            some |= own && of_other;
            more |= own && !of_other;
        }
        if (some && more) return true;
    }
    return false;
}

/// The NICs of a GPU: its equal part of those nearest to it, at least one, and exactly one where others are nearer.
static void take_nics(struct weft__nccl_server *s, uint32_t gpu, bool one) {
    uint32_t *nic = weft_memory_new(WEFT_MEMORY_SCENARIO, s->nics, sizeof *nic), n = 0, before = 0, all = 0;
    for (uint32_t k = 0; k < s->nics; k++)
        if (is_near(s, &s->gpu[gpu], k)) nic[n++] = k;
    for (uint32_t other = 0; other < s->gpus; other++) {
        bool same = near_the_same(s, gpu, other);
        before += same && other < gpu;
        all += same;
    }
    uint32_t first = one ? before % n : before * n / all, end = one ? first + 1 : (before + 1) * n / all;
    if (end == first) end++;
    uint32_t host = s->nic[nic[first]].host;
    if (host == WEFT_NONE) host = s->hosts++;
    for (uint32_t k = first; k < end; k++) {
        if (s->nic[nic[k]].host != WEFT_NONE) continue;
        s->nic[nic[k]].host = host;
        s->host[host].mbps += s->nic[nic[k]].mbps;
        s->host[host].nics++;
    }
    s->gpu[gpu].host = host;
    weft_memory_free(WEFT_MEMORY_SCENARIO, nic, s->nics * sizeof *nic);
}

/// Numbers hosts by their first GPU, and lists their GPUs.
static void order_hosts(struct weft__nccl_server *s, struct weft_arena *arena) {
    struct weft__nccl_host *old = s->host;
    uint32_t *number = weft_arena_alloc(arena, s->hosts, sizeof *number), n = 0; // + 1
    s->host = weft_arena_alloc(arena, s->hosts, sizeof *s->host);
    for (uint32_t g = 0; g < s->gpus; g++) {
        uint32_t *own = &number[s->gpu[g].host];
        if (!*own) {
            s->host[n] = old[s->gpu[g].host];
            s->host[n].gpu = weft_arena_alloc(arena, s->gpus, sizeof *s->host->gpu);
            *own = ++n;
        }
        struct weft__nccl_host *host = &s->host[*own - 1];
        s->gpu[g].host = *own - 1;
        host->gpu[host->gpus++] = g;
    }
    for (uint32_t k = 0; k < s->nics; k++)
        if (s->nic[k].host != WEFT_NONE) s->nic[k].host = number[s->nic[k].host] - 1;
}

/// As in NCCL (topo.cc, ncclTopoGetLocalNet), GPUs that have the same nearest NICs use these in turn.
static void share_nics(struct weft__nccl_server *s, struct weft_arena *arena) {
    s->host = weft_arena_alloc(arena, s->gpus, sizeof *s->host);
    for (uint32_t one = 0; one < 2 && s->nics; one++)
        for (uint32_t g = 0; g < s->gpus; g++)
            if (has_nearer(s, g) == one) take_nics(s, g, one);
    for (uint32_t g = 0; g < s->gpus && !s->nics; g++)
        s->gpu[g].host = s->hosts++;
    order_hosts(s, arena);
}

enum weft_status weft__nccl_server_read(const char *path, struct weft_place place, struct weft_arena *arena,
                                        struct weft__nccl_server *ret_server, struct weft_error *ret_error) {
    static const struct weft__xml_handler handler = {.begin = server_begin};
    struct server_reader r = {.arena = arena, .server = ret_server};
    *ret_server = (struct weft__nccl_server){.gpu = weft_arena_alloc(arena, GPUS_MAX, sizeof *ret_server->gpu),
                                             .nic = weft_arena_alloc(arena, NICS_MAX, sizeof *ret_server->nic)};
    enum weft_status status = weft__xml_read(path, place, &handler, &r, ret_error);
    if (!status && !ret_server->gpus)
        status = weft_error_set(ret_error, WEFT_ERROR_INPUT, (struct weft_place){.file = path, .line = 1, .column = 1},
                                "no <gpu> is in it; expected some");
    if (status) return status;
    qsort(ret_server->gpu, ret_server->gpus, sizeof *ret_server->gpu, by_rank);
    drop_slow(ret_server);
    share_nics(ret_server, arena);
    return WEFT_OK;
}

double weft__nccl_gpu_gbps(const struct weft__nccl_gpu *gpu) {
    static const struct {
        uint32_t sm;
        double gigabytes; ///< per second and NVLink, each direction: the values that NCCL uses
    } nvlink[] = {{100, 40.1}, {90, 20.6}, {86, 12}, {80, 20}, {70, 20}, {60, 18}};
    for (uint32_t k = 0; gpu->nvlinks && k < sizeof nvlink / sizeof *nvlink; k++)
        if (gpu->sm >= nvlink[k].sm) return 8 * nvlink[k].gigabytes * gpu->nvlinks;
    return gpu->pci_gbps;
}

uint32_t weft__nccl_gpu_find(const struct weft__nccl_server *server, int64_t dev) {
    for (uint32_t k = 0; k < server->gpus; k++)
        if (server->gpu[k].dev == dev) return k;
    return WEFT_NONE;
}

uint32_t weft__nccl_nic_host(const struct weft__nccl_server *s, int64_t dev) {
    uint32_t nic = 0;
    while (nic < s->nics && s->nic[nic].dev != dev)
        nic++;
    if (nic == s->nics) return WEFT_NONE;
    for (uint32_t k = 0; k < s->gpus && s->nic[nic].host == WEFT_NONE; k++)
        if (is_near(s, &s->gpu[k], nic)) return s->gpu[k].host;
    return s->nic[nic].host;
}

// --- graphs -------------------------------------------------------------------------------------------------------

struct graph_reader {
    struct weft__nccl_graphs *graphs;
    struct weft_arena *arena;
    struct weft__nccl_graph *graph; ///< the current one; NULL: for another algorithm
    int64_t gpu[GPUS_MAX];          ///< of the current channel
    uint32_t gpus;
    struct weft__nccl_ends net;
};

static enum weft_status read_graph(struct graph_reader *r, const struct weft__xml_element *e,
                                   struct weft_error *ret_error) {
    int64_t id, pattern;
    enum weft_status status = weft__xml_number(e, "id", 0, 1000, &id, ret_error);
    if (!status) status = weft__xml_number(e, "pattern", 0, 1000, &pattern, ret_error);
    if (status) return status;
    r->graph = id < WEFT__NCCL_ALGORITHMS ? &r->graphs->of[id] : NULL;
    r->graphs->others += !r->graph;
    if (!r->graph) return WEFT_OK;
    if (r->graph->channels) return FAIL(e, "a second graph with this id; expected one");
    *r->graph = (struct weft__nccl_graph){.pattern = pattern,
                                          .gpu = weft_arena_alloc(r->arena, CHANNELS_MAX * GPUS_MAX, sizeof *r->gpu),
                                          .net = weft_arena_alloc(r->arena, CHANNELS_MAX, sizeof r->net)};
    return WEFT_OK;
}

static enum weft_status read_end(struct graph_reader *r, const struct weft__xml_element *e,
                                 struct weft_error *ret_error) {
    if (!strcmp(e->name, "net"))
        return weft__xml_number(e, "dev", 0, ID_MAX, r->gpus ? &r->net.out : &r->net.in, ret_error);
    if (strcmp(e->name, "gpu")) return FAIL(e, "expected <gpu> or <net> here");
    if (r->gpus == GPUS_MAX) return FAIL(e, "expected at most %d GPUs in a channel", GPUS_MAX);
    enum weft_status status = weft__xml_number(e, "dev", 0, INT32_MAX, &r->gpu[r->gpus], ret_error);
    for (uint32_t k = 0; k < r->gpus && !status; k++)
        if (r->gpu[k] == r->gpu[r->gpus]) return FAIL(e, "this GPU is in the channel already; expected each once");
    r->gpus++;
    return status;
}

static enum weft_status graph_begin(void *context, const struct weft__xml_element *e, struct weft_error *ret_error) {
    static const char *const levels[] = {"graphs", "graph", "channel"};
    struct graph_reader *r = context;
    if (e->depth < 3 && strcmp(e->name, levels[e->depth])) return FAIL(e, "expected <%s> here", levels[e->depth]);
    if (!e->depth) return check_version(e, ret_error);
    if (e->depth == 1) return read_graph(r, e, ret_error);
    r->gpus = e->depth == 2 ? 0 : r->gpus;
    if (e->depth == 2) r->net = (struct weft__nccl_ends){-1, -1};
    if (e->depth < 3 || !r->graph) return WEFT_OK;
    return e->depth == 3 ? read_end(r, e, ret_error) : FAIL(e, "expected nothing in <gpu> and <net>");
}

static enum weft_status graph_end(void *context, const struct weft__xml_element *e, struct weft_error *ret_error) {
    struct graph_reader *r = context;
    struct weft__nccl_graph *g = r->graph;
    if (e->depth != 2 || !g) return WEFT_OK;
    if (!r->gpus) return FAIL(e, "the channel has no <gpu>; expected some");
    if (g->channels == CHANNELS_MAX) return FAIL(e, "expected at most %d channels", CHANNELS_MAX);
    if (g->channels && g->gpus != r->gpus)
        return FAIL(e, "the channel has %" PRIu32 " GPUs, those before it have %" PRIu32 "; expected the same", r->gpus,
                    g->gpus);
    g->gpus = r->gpus;
    memcpy(&g->gpu[g->channels * g->gpus], r->gpu, r->gpus * sizeof *r->gpu);
    g->net[g->channels++] = r->net;
    return WEFT_OK;
}

enum weft_status weft__nccl_graphs_read(const char *path, struct weft_place place, struct weft_arena *arena,
                                        struct weft__nccl_graphs *ret_graphs, struct weft_error *ret_error) {
    static const struct weft__xml_handler handler = {.begin = graph_begin, .end = graph_end};
    struct graph_reader r = {.graphs = ret_graphs, .arena = arena};
    *ret_graphs = (struct weft__nccl_graphs){0};
    enum weft_status status = weft__xml_read(path, place, &handler, &r, ret_error);
    if (status) return status;
    for (uint32_t k = 0; k < WEFT__NCCL_ALGORITHMS; k++)
        if (ret_graphs->of[k].channels) return WEFT_OK;
    return weft_error_set(ret_error, WEFT_ERROR_INPUT, (struct weft_place){.file = path, .line = 1, .column = 1},
                          "no channel of rings (id 0) or trees (id 1) is in it; expected some");
}
