// SPDX-License-Identifier: Apache-2.0
// Servers as NCCL has found them (import/nccl.h) become hosts: one for each GPU, whose link is as fast as its part of
// the NICs near it, and a network within the server as fast as its NVLinks or PCI. The network between servers is in no
// file. Channels become a collective (import/nccl_collective.c).
#include <inttypes.h>
#include <math.h>

#include "base/param.h"
#include "base/units.h"
#include "base/xml.h"
#include "import/nccl.h"
#include "weft/import.h"

enum network { NETWORK_RAIL, NETWORK_SINGLE };
static const char *const networks[] = {"rail", "single", NULL};

struct import_conf {
    struct weft_import_common common;
    uint64_t servers;
    uint32_t network;
};
static const struct weft_param import_rows[] = {
    WEFT_IMPORT_ROWS(struct import_conf),
    WEFT_UINT(struct import_conf, servers, "servers", "0", "0", "65536",
              "that are alike; 0: as many as files of servers are given, but 2 at least (assumed)"),
    WEFT_CHOICE(struct import_conf, network, "network", "rail", networks,
                "between servers (assumed): rail, a leaf for the k-th GPU of every server and spines for all of them; "
                "or a single switch"),
};
static const struct weft_param_table import_table = WEFT_PARAM_TABLE("nccl", struct import_conf, import_rows);

static const char server_file[] = "server", channels_file[] = "channels";

static const char *recognise(const struct weft_import_file *file) {
    return weft__xml_recognise(file->head, "system")   ? server_file
           : weft__xml_recognise(file->head, "graphs") ? channels_file
                                                       : NULL;
}

/// What the functions below pass along.
struct maker {
    const struct import_conf *conf;
    const struct weft_import_file *file, *server_file, *channels_file; ///< of a kind the first, or NULL
    uint32_t files, servers, gpus;
    struct weft__nccl_server server;
    struct weft__nccl_graphs graphs;
    struct weft_import *import;
    struct weft_error *error;
};

#define FOUND(m, ...) weft_import_note((m)->import, WEFT_IMPORT_FOUND, __VA_ARGS__)
#define ASSUMED(m, ...) weft_import_note((m)->import, WEFT_IMPORT_ASSUMED, __VA_ARGS__)
#define LEFT_OUT(m, ...) weft_import_note((m)->import, WEFT_IMPORT_LEFT_OUT, __VA_ARGS__)

/// Every server's file, one after the other: they have as many GPUs, and the first speaks for all.
static enum weft_status read_servers(struct maker *m) {
    uint32_t n = 0, differ = 0;
    for (uint32_t f = 0; f < m->files; f++) {
        struct weft__nccl_server other;
        if (m->file[f].what != server_file) continue;
        enum weft_status status =
            weft__nccl_server_read(m->file[f].path, WEFT_NOWHERE, weft_import_arena(m->import), &other, m->error);
        if (status) return status;
        if (!n++) m->server = other;
        if (other.gpus != m->server.gpus)
            return weft_error_set(m->error, WEFT_ERROR_INPUT, (struct weft_place){.file = m->file[f].path},
                                  "has %" PRIu32 " GPUs, and %s has %" PRIu32 "; expected servers that are alike",
                                  other.gpus, m->server_file->path, m->server.gpus);
        bool same = true;
        for (uint32_t g = 0; g < other.gpus; g++)
            same &= fabs(other.gpu[g].net_mbps - m->server.gpu[g].net_mbps) < 1 &&
                    other.gpu[g].nvlinks == m->server.gpu[g].nvlinks;
        differ += !same;
    }
    m->servers = m->conf->servers ? (uint32_t)m->conf->servers : n < 2 ? 2 : n;
    if (!m->conf->servers && n < 2) ASSUMED(m, "2 servers that are alike (servers)");
    if (differ)
        ASSUMED(m, "that all servers are like %s: %" PRIu32 " have other NICs or NVLinks", m->server_file->written,
                differ);
    return WEFT_OK;
}

static enum weft_status read_channels(struct maker *m) {
    struct weft__nccl_graphs other, *g = &m->graphs;
    enum weft_status status = WEFT_OK;
    for (uint32_t f = 0; f < m->files && !status; f++)
        if (m->file[f].what == channels_file)
            status = weft__nccl_graphs_read(m->file[f].path, WEFT_NOWHERE, weft_import_arena(m->import),
                                            &m->file[f] == m->channels_file ? g : &other, m->error);
    if (status || !m->channels_file) return status;
    uint32_t gpus = g->of[g->of[WEFT__NCCL_RING].channels ? WEFT__NCCL_RING : WEFT__NCCL_TREE].gpus;
    if (m->gpus && m->gpus != gpus)
        return weft_error_set(m->error, WEFT_ERROR_INPUT, (struct weft_place){.file = m->channels_file->path},
                              "has channels of %" PRIu32 " GPUs, and %s has %" PRIu32 "; expected those of the server",
                              gpus, m->server_file->path, m->gpus);
    m->gpus = gpus;
    return WEFT_OK;
}

// --- what is said -------------------------------------------------------------------------------------------------

/// The least of all GPUs, in bit/s; 0: some GPU has none.
static weft_rate_bps least_rate(const struct maker *m, bool inside, bool *ret_differ) {
    double least = 0, most = 0;
    for (uint32_t g = 0; g < m->server.gpus; g++) {
        const struct weft__nccl_gpu *gpu = &m->server.gpu[g];
        double rate = inside ? weft__nccl_gpu_gbps(gpu) * 1e9 : gpu->net_mbps * 1e6;
        if (!g || rate < least) least = rate;
        if (rate > most) most = rate;
    }
    *ret_differ = most > least;
    return (weft_rate_bps)least;
}

static weft_rate_bps clamp(weft_rate_bps rate, weft_rate_bps min, weft_rate_bps max) {
    return rate < min ? min : rate > max ? max : rate;
}

static void say_network(const struct maker *m) {
    char rate[32], delay[32];
    bool differ = false;
    weft_rate_bps bps = least_rate(m, false, &differ), used = clamp(bps, UINT64_C(1000000000), UINT64_C(3200000000000));
    bool given = m->server.gpus && bps;
    if (!given) used = m->conf->common.rate_bps;
    weft__quantity_format(WEFT__RATE, used, rate, sizeof rate);
    weft__quantity_format(WEFT__TIME, m->conf->common.delay_ps, delay, sizeof delay);
    if (m->conf->network == NETWORK_RAIL)
        weft_import_say(m->import, WEFT_IMPORT_TOPOLOGY,
                        "  kind: leaf_spine\n  leaves: %" PRIu32 "\n  spines: %" PRIu32 "\n  hosts_per_leaf: %" PRIu32
                        "\n",
                        m->gpus, m->servers, m->servers);
    else
        weft_import_say(m->import, WEFT_IMPORT_TOPOLOGY, "  kind: single\n  hosts: %" PRIu32 "\n",
                        m->gpus * m->servers);
    weft_import_say(m->import, WEFT_IMPORT_TOPOLOGY, "  rate: %s\n  delay: %s\n", rate, delay);
    if (m->conf->network == NETWORK_RAIL)
        ASSUMED(m, "the network: the k-th GPU of every server on leaf k, and as many spines as servers, without "
                   "oversubscription (network, delay)");
    else
        ASSUMED(m, "the network: one switch (network, delay)");
    if (!given) ASSUMED(m, "links of %s: no file says how fast NICs are (rate)", rate);
    if (given && used != bps)
        ASSUMED(m, "links of %s, though NICs have another speed: weft's links are 1Gbps to 3.2Tbps", rate);
    if (differ) ASSUMED(m, "links of %s for all GPUs: some have faster NICs", rate);
}

static void say_server_line(const struct maker *m) {
    char rate[32];
    bool differ = false;
    weft_rate_bps bps = least_rate(m, true, &differ), used = clamp(bps, UINT64_C(1000000000), UINT64_C(7200000000000));
    const char *cabling = m->conf->network == NETWORK_RAIL ? ", cabling: rail" : "";
    if (m->gpus == 1) return;
    weft_import_say(m->import, WEFT_IMPORT_WORKLOAD, "  server: {gpus: %" PRIu32 "%s", m->gpus, cabling);
    if (bps) {
        weft__quantity_format(WEFT__RATE, used, rate, sizeof rate);
        weft_import_say(m->import, WEFT_IMPORT_WORKLOAD, ", rate: %s", rate);
        ASSUMED(m, "GPUs of a server talk at %s each way, what NCCL reckons with for %s (server.rate; latency)", rate,
                m->server.gpu[0].nvlinks ? "these NVLinks" : "this PCI link");
    } else {
        ASSUMED(m,
                "the network within a server: no file says NVLinks or PCI speeds of all GPUs (server.rate, latency)");
    }
    weft_import_say(m->import, WEFT_IMPORT_WORKLOAD, "}\n");
    if (differ) ASSUMED(m, "that rate for all GPUs: some have a faster one");
}

static void say_workload(const struct maker *m) {
    bool ring = m->graphs.of[WEFT__NCCL_RING].channels > 0;
    weft_import_say(m->import, WEFT_IMPORT_WORKLOAD, "- kind: collective\n");
    if (m->channels_file) {
        weft_import_say(m->import, WEFT_IMPORT_WORKLOAD, "  collective:\n    kind: nccl\n    file: %s\n",
                        weft_import_quote(m->import, m->channels_file->written));
        if (m->server_file)
            weft_import_say(m->import, WEFT_IMPORT_WORKLOAD, "    server: %s\n",
                            weft_import_quote(m->import, m->server_file->written));
        weft_import_say(m->import, WEFT_IMPORT_WORKLOAD, "    collective: %s\n",
                        ring ? "all_reduce_ring" : "all_reduce_tree");
    } else {
        weft_import_say(m->import, WEFT_IMPORT_WORKLOAD, "  collective: all_reduce_ring\n");
        ASSUMED(m, "weft's own rings: no file has channels (NCCL_GRAPH_DUMP_FILE)");
    }
    weft_import_say(m->import, WEFT_IMPORT_WORKLOAD, "  size: 1MiB\n  size_max: 64MiB\n  factor: 4\n");
    say_server_line(m);
    ASSUMED(m, "an all-reduce of sizes from 1 MiB to 64 MiB (collective, size, size_max, factor)");
}

static void note_files(const struct maker *m) {
    static const char *const names[WEFT__NCCL_ALGORITHMS] = {"rings", "trees"};
    const struct weft__nccl_server *s = &m->server;
    if (m->server_file) FOUND(m, "%s: %" PRIu32 " GPUs, %" PRIu32 " NICs", m->server_file->written, s->gpus, s->nics);
    for (uint32_t k = 0; k < WEFT__NCCL_ALGORITHMS && m->channels_file; k++)
        if (m->graphs.of[k].channels)
            FOUND(m, "%s: %s in %" PRIu32 " channels of %" PRIu32 " GPUs", m->channels_file->written, names[k],
                  m->graphs.of[k].channels, m->graphs.of[k].gpus);
    if (m->graphs.of[WEFT__NCCL_RING].channels && m->graphs.of[WEFT__NCCL_TREE].channels)
        FOUND(m, "the scenario uses the rings; collective: all_reduce_tree in the collective uses the trees");
    if (s->slow) LEFT_OUT(m, "%" PRIu32 " NICs that are not half as fast as the fastest", s->slow);
    if (m->graphs.others) LEFT_OUT(m, "%" PRIu32 " graphs of other algorithms (CollNet, NVLS)", m->graphs.others);
    for (uint32_t g = 0; g < s->gpus; g++)
        if (s->gpu[g].near != 1 || s->gpu[g].shared != 1) {
            ASSUMED(m,
                    "a GPU sends by the NICs near it as if by one, with its part of their speed where GPUs share them");
            break;
        }
}

static enum weft_status make(const void *conf, const struct weft_import_file *file, uint32_t files,
                             struct weft_import *import, struct weft_error *ret_error) {
    struct maker m = {.conf = conf,
                      .file = file,
                      .files = files,
                      .server_file = weft_import_find(file, files, server_file),
                      .channels_file = weft_import_find(file, files, channels_file),
                      .import = import,
                      .error = ret_error};
    enum weft_status status = read_servers(&m);
    m.gpus = m.server.gpus;
    if (!status) status = read_channels(&m);
    if (status) return status;
    if ((uint64_t)m.gpus * m.servers < 2 || m.servers > 65535)
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, (struct weft_place){.file = file[0].path},
                              "makes %" PRIu64 " hosts; expected at least 2, and at most 65535 servers",
                              (uint64_t)m.gpus * m.servers);
    say_network(&m);
    say_workload(&m);
    note_files(&m);
    return WEFT_OK;
}

static const struct weft_import_ops import_ops = {recognise, make};

const struct weft_model weft__import_nccl = {
    .kind = WEFT_KIND_IMPORT,
    .name = "nccl",
    .summary = "servers and channels as NCCL writes them: NCCL_TOPO_DUMP_FILE, NCCL_GRAPH_DUMP_FILE",
    .source = "NVIDIA/nccl, src/graph/xml.cc, search.cc, topo.h",
    .params = &import_table,
    .ops = &import_ops,
};
