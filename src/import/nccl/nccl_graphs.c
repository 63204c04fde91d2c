// SPDX-License-Identifier: Apache-2.0
// <graphs> <graph id pattern nchannels> <channel> <net dev/> <gpu dev/> ... <net dev/>. Other attributes are ignored.
#include "import/nccl/nccl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/xml.h"
#include "import/nccl/nccl_server.h"

/// An id is the number of a device, with that of the system in the bits above; a different system than the first one
/// means NVLinks between servers.
#define ID_MAX ((INT64_C(1) << 56) - 1)

enum { GPUS_MAX = WEFT__NCCL_GPUS_MAX, CHANNELS_MAX = 64 };

#define FAIL(e, ...) WEFT_REFUSE(ret_error, (e)->place, __VA_ARGS__)

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
    if (!e->depth) return weft__nccl_check_version(e, ret_error);
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
    WEFT_TRY(weft__xml_read(path, place, &handler, &r, ret_error));
    for (uint32_t k = 0; k < WEFT__NCCL_ALGORITHMS; k++)
        if (ret_graphs->of[k].channels) return WEFT_OK;
    return WEFT_REFUSE(ret_error, (struct weft_place){.file = path, .line = 1, .column = 1},
                       "no channel of rings (id 0) or trees (id 1) is in it; expected some");
}
