// SPDX-License-Identifier: Apache-2.0
// Servers of GPUs as networks of their own: each GPU has links to the switches of its server (NVLink to NVSwitches),
// and with a `nic_rate` a NIC at a leaf of its rail. A GPU is a router with one host behind it,
// so that packets cross both networks, and a message for another rail of another server goes through a GPU, as with
// NCCL's PXN. Without spines nothing joins the rails but the servers: rail-only. `reduces` puts a processor at each
// switch of a server, which adds and copies (collective: all_reduce_in_switch). Sources: NVIDIA DGX H100 and GB200
// NVL72 data sheets (links, switches); W. Wang et al., "Rail-only", arXiv 2307.12169; C. Zhao et al., ISCA 2025 (a
// plane per NIC of a server); NVIDIA/nccl, src/graph/paths.cc (PXN: within the sender's server first, so that a message
// has one way between servers). Differs: a link carries Ethernet frames.
#include <stdio.h>
#include <string.h>

#include "base/order.h"
#include "topology/builder.h"
#include "weft/hardware.h"
#include "weft/param.h"

struct scale_up_conf {
    const char *server; ///< class of hardware
    uint64_t servers, gpus, switches, links, leaves, spines, spine_links;
    bool reduces;
    weft_rate_bps rate_bps, memory_rate_bps, nic_rate_bps;
    weft_time_ps delay_ps, memory_delay_ps, nic_delay_ps, spine_delay_ps;
    double bit_error_rate;
};

#define T struct scale_up_conf

static const char *scale_up_check(const void *conf, char *text, size_t size) {
    const T *c = conf;
    if (c->links < c->switches)
        snprintf(text, size, "links is %llu and switches %llu; expected a link to each switch at least",
                 (unsigned long long)c->links, (unsigned long long)c->switches);
    else if (c->servers % c->leaves)
        snprintf(text, size, "servers is %llu and leaves %llu; expected a divisor of servers",
                 (unsigned long long)c->servers, (unsigned long long)c->leaves);
    else if (!c->spines && c->leaves > 1)
        snprintf(text, size, "spines is 0 and leaves %llu; expected spines, or a single leaf of each rail",
                 (unsigned long long)c->leaves);
    else if (c->servers > 1 && !c->nic_rate_bps)
        snprintf(text, size, "servers is %llu and nic_rate 0bps; expected NICs to join the servers",
                 (unsigned long long)c->servers);
    else
        return weft__check_own_rate("memory_rate", c->memory_rate_bps, text, size)
                   ?: weft__check_own_rate("nic_rate", c->nic_rate_bps, text, size);
    return text;
}

/// The figures of a class of servers as values of this section.
static enum weft_status find_figures(const struct weft_param_table *table, const char *row,
                                     const struct weft_tree *named, const char *path, struct weft_arena *arena,
                                     const struct weft_param_value **ret_value, struct weft_error *ret_error) {
    static const char *const figures[][2] = {
        {"gpus", "gpus"}, {"links", "links"}, {"switches", "switches"}, {"rate", "link_rate"}, {"memory_rate", "rate"}};
    enum { FIGURES = sizeof figures / sizeof *figures };
    const struct weft_hardware *h;
    *ret_value = NULL;
    if (!strcmp(named->text, WEFT_HARDWARE_IDEAL)) return WEFT_OK;
    enum weft_status status =
        weft_hardware_find(WEFT_HARDWARE_SERVER, named->text, named->place, path, arena, &h, ret_error);
    if (status) return status;
    struct weft_param_value *value = weft_arena_alloc(arena, FIGURES + 1, sizeof *value);
    for (uint32_t i = 0, n = 0; i < FIGURES; i++) {
        const struct weft_hardware_value *v = weft_hardware_value(h, figures[i][1]);
        if (v) value[n++] = (struct weft_param_value){figures[i][0], v->typical};
    }
    *ret_value = value;
    return WEFT_OK;
}
static const char *const class_rows[] = {"server", NULL};
static const struct weft_param_classes classes = {class_rows, find_figures};

static const struct weft_param_table scale_up_params = WEFT_PARAM_TABLE_OF(
    "scale_up", T, WEFT_PARAM_AND(.check = scale_up_check, .lists = weft__topology_lists, .classes = &classes),
    WEFT_TEXT(T, server, "server", WEFT_HARDWARE_IDEAL, WEFT_HARDWARE_HELP),
    WEFT_UINT(T, servers, "servers", "1", "1", "65535", "servers, or domains of scale-up"),
    WEFT_UINT(T, gpus, "gpus", "8", "2", "1024", "GPUs per server"),
    WEFT_UINT(T, switches, "switches", "4", "1", "1024", "switches per server"),
    WEFT_UINT(T, links, "links", "18", "1", "1024",
              "links of a GPU to the switches of its server, in turn (H100: 18 to 4; NVL72: 18 to 18)"),
    WEFT_BOOL(T, reduces, "reduces", "off",
              "each of these switches has a processor that adds and copies, alu-0 and so on"),
    WEFT_RATE(T, rate_bps, "rate", "200Gbps", "10Mbps", "100Tbps", "rate of such a link (NVLink 4: 25 GB/s each way)"),
    WEFT_TIME(T, delay_ps, "delay", "100ns", "1ps", "1s", "its delay, one way (assumed)"),
    WEFT_REAL(T, bit_error_rate, "bit_error_rate", "0", "0", "0.1", "bit error rate of every link, after FEC"),
    WEFT_RATE(T, memory_rate_bps, "memory_rate", "0bps", "0bps", "100Tbps",
              "rate at which a GPU's multiprocessors read and write what its links carry; 0bps: that of its links"),
    WEFT_TIME(T, memory_delay_ps, "memory_delay", "100ns", "1ps", "1s", "delay from there to its links (assumed)"),
    WEFT_RATE(T, nic_rate_bps, "nic_rate", "0bps", "0bps", "100Tbps",
              "rate of a GPU's NIC, at a leaf of its rail; 0bps: there are none, and one server"),
    WEFT_TIME(T, nic_delay_ps, "nic_delay", "150ns", "1ps", "1s", "delay of its link to a leaf"),
    WEFT_UINT(T, leaves, "leaves", "1", "1", "65535", "leaves of each rail, with equally many servers"),
    WEFT_UINT(T, spines, "spines", "0", "0", "65535", "spines of each rail; 0: none, with a single leaf"),
    WEFT_UINT(T, spine_links, "spine_links", "1", "1", "4096", "links between a leaf and a spine, of nic_rate"),
    WEFT_TIME(T, spine_delay_ps, "spine_delay", "150ns", "1ps", "1s", "delay of these"));

/// Of the links of a GPU, those to switch `k` of its server.
static uint64_t links_to(const T *c, uint64_t k) {
    return (c->links - k + c->switches - 1) / c->switches;
}

static enum weft_status check_sizes(const T *c, struct weft_topology_builder *b, struct weft_error *ret_error) {
    uint64_t gpus = weft__times(c->servers, c->gpus), switches = weft__times(c->servers, c->switches);
    uint64_t rails = c->nic_rate_bps ? c->gpus : 0, leaf_links = weft__times(c->leaves, c->spines * c->spine_links);
    uint64_t nodes = weft__plus(2 * gpus, (c->reduces ? 2 : 1) * switches);
    uint64_t links = weft__plus(weft__times(gpus, c->links + 2), c->reduces ? switches : 0);
    enum weft_status status = weft__topology_check_size(b, weft__plus(nodes, weft__times(rails, c->leaves + c->spines)),
                                                        weft__plus(links, weft__times(rails, leaf_links)), ret_error);
    if (!status && gpus > WEFT__EDGES_MAX)
        return WEFT_REFUSE(ret_error, b->place, "the topology would have %llu GPUs; at most %u are supported",
                           (unsigned long long)gpus, WEFT__EDGES_MAX);
    return status;
}

/// A processor takes what all ports of its switch bring.
static void add_processors(const T *c, struct weft_topology_builder *b, const uint32_t *nvswitch) {
    struct weft__line line = {.delay_ps = c->delay_ps};
    for (uint64_t i = 0; i < c->servers * c->switches; i++) {
        line.rate_bps = weft__lesser(weft__times(c->rate_bps, c->gpus * links_to(c, i % c->switches)), WEFT__RATE_MAX);
        uint32_t alu = weft__topology_add_numbered(b, WEFT_NODE_HOST, "alu", 0, (uint32_t)(i / c->switches), i);
        weft_topology_set_box(b, WEFT_BOX_PROCESSOR, 0, WEFT_NONE);
        weft__topology_connect(b, nvswitch[i], alu, line);
    }
}

static void add_server(const T *c, uint64_t server, struct weft_topology_builder *b, uint32_t *gpu,
                       uint32_t *nvswitch) {
    weft_rate_bps all = weft__lesser(weft__times(c->rate_bps, c->links), WEFT__RATE_MAX);
    struct weft__line memory = {c->memory_rate_bps ? c->memory_rate_bps : all, c->memory_delay_ps, c->bit_error_rate};
    struct weft__line line = {c->rate_bps, c->delay_ps, c->bit_error_rate};
    struct weft_nic_info *nic = weft_arena_alloc(b->arena, c->gpus, sizeof *nic);
    for (uint64_t g = 0; g < c->gpus; g++) {
        uint64_t number = server * c->gpus + g;
        gpu[number] = weft__topology_add_numbered(b, WEFT_NODE_SWITCH, "gpu", 1, (uint32_t)server, number);
        nic[g].host = weft__topology_add_numbered(b, WEFT_NODE_HOST, "host", 0, (uint32_t)server, number);
        weft__topology_connect(b, gpu[number], nic[g].host, memory);
    }
    for (uint64_t k = 0; k < c->switches; k++) {
        uint64_t number = server * c->switches + k;
        nvswitch[number] = weft__topology_add_numbered(b, WEFT_NODE_SWITCH, "nvswitch", 2, (uint32_t)server, number);
        b->preferred = true;
        for (uint64_t g = 0; g < c->gpus; g++)
            weft__topology_connect_times(b, gpu[server * c->gpus + g], nvswitch[number], links_to(c, k), line);
        b->preferred = false;
    }
    char name[32];
    snprintf(name, sizeof name, "server-%llu", (unsigned long long)server);
    weft__topology_add_machine(b, name, nic, (uint32_t)c->gpus);
}

/// Leaf l of a rail has one GPU of each of its share of the servers.
static void add_rail(const T *c, uint64_t rail, struct weft_topology_builder *b, const uint32_t *gpu) {
    struct weft__line down = {c->nic_rate_bps, c->nic_delay_ps, c->bit_error_rate};
    struct weft__line up = {c->nic_rate_bps, c->spine_delay_ps, c->bit_error_rate};
    uint64_t share = c->servers / c->leaves;
    uint32_t leaf0 = b->nodes;
    for (uint64_t l = 0; l < c->leaves; l++) {
        uint32_t leaf = weft__topology_add_numbered(b, WEFT_NODE_SWITCH, "leaf", 2, WEFT_NONE, rail * c->leaves + l);
        for (uint64_t s = 0; s < share; s++)
            weft__topology_connect(b, leaf, gpu[(l * share + s) * c->gpus + rail], down);
    }
    for (uint64_t s = 0; s < c->spines; s++) {
        uint32_t spine = weft__topology_add_numbered(b, WEFT_NODE_SWITCH, "spine", 3, WEFT_NONE, rail * c->spines + s);
        for (uint64_t l = 0; l < c->leaves; l++)
            weft__topology_connect_times(b, leaf0 + (uint32_t)l, spine, c->spine_links, up);
    }
}

static enum weft_status scale_up_build(const void *conf, const struct weft_tree *tree, struct weft_topology_builder *b,
                                       struct weft_error *ret_error) {
    const T *c = conf;
    WEFT_TRY(check_sizes(c, b, ret_error));
    uint32_t *gpu = weft_arena_alloc(b->arena, c->servers * c->gpus, sizeof *gpu);
    uint32_t *nvswitch = weft_arena_alloc(b->arena, c->servers * c->switches, sizeof *nvswitch);
    for (uint64_t s = 0; s < c->servers; s++)
        add_server(c, s, b, gpu, nvswitch);
    for (uint64_t r = 0; r < c->gpus && c->nic_rate_bps; r++)
        add_rail(c, r, b, gpu);
    if (c->reduces) add_processors(c, b, nvswitch);
    return WEFT_OK;
}

const struct weft_model weft__topology_scale_up = WEFT_MODEL_OF(
    TOPOLOGY, "scale_up",
    "GPUs under the switches of their server (NVLink), and rails between servers; by default one server of 8",
    "NVIDIA DGX H100, GB200 NVL72; Wang et al., Rail-only, arXiv 2307.12169; Zhao et al., ISCA 2025", &scale_up_params,
    &(const struct weft_topology_ops){.build = scale_up_build});
