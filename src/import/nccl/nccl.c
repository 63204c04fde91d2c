// SPDX-License-Identifier: Apache-2.0
// Servers as found by NCCL (import/nccl/nccl.h) become hosts, one per NIC, which the GPUs near it share, and a network
// within the server as fast as its NVLinks or PCI. The network between servers is in no file. Channels become a
// collective (import/nccl/nccl_collective.c).
#include <inttypes.h>
#include <math.h>

#include "base/param.h"
#include "base/units.h"
#include "base/xml.h"
#include "import/nccl/nccl.h"
#include "weft/import.h"
#include "weft/param.h"

struct import_conf {
    struct weft_import_common common;
    uint64_t servers;
    uint32_t network;
};
static const struct weft_param_table import_table =
    WEFT_PARAM_TABLE_OF("nccl", struct import_conf, WEFT_PARAM_UNCHECKED, WEFT_IMPORT_ROWS(struct import_conf),
                        WEFT__NCCL_NETWORK_ROWS(struct import_conf));

static const char server_file[] = "server", channels_file[] = "channels";

static const char *nccl_recognise(const struct weft_import_file *file) {
    return weft__xml_recognise(file->head, "system")   ? server_file
           : weft__xml_recognise(file->head, "graphs") ? channels_file
                                                       : NULL;
}

/// Arguments that the functions below share.
struct maker {
    const struct import_conf *conf;
    const struct weft_import_file *file, *server_file, *channels_file; ///< the first file of a kind, or NULL
    uint32_t files, servers, gpus, channels;                           ///< channels: files with them
    struct weft__nccl_servers list;
    struct weft__nccl_server server; ///< the first; without GPUs: no file has one
    struct weft__nccl_graphs graphs;
    struct weft_import *import;
    struct weft_error *error;
};

#define FOUND(m, ...) weft_import_note((m)->import, WEFT_IMPORT_FOUND, __VA_ARGS__)
#define ASSUMED(m, ...) weft_import_note((m)->import, WEFT_IMPORT_ASSUMED, __VA_ARGS__)
#define LOST(m, ...) weft_import_note((m)->import, WEFT_IMPORT_LOST, __VA_ARGS__)

/// The files of all servers, which must have the same number of GPUs.
static enum weft_status read_servers(struct maker *m) {
    uint32_t differ = 0;
    for (uint32_t f = 0; f < m->files; f++) {
        if (m->file[f].what != server_file) continue;
        enum weft_status status =
            weft__nccl_servers_add(&m->list, m->file[f].path, WEFT_NOWHERE, weft_import_arena(m->import), m->error);
        if (status) return status;
        const struct weft__nccl_server *other = &m->list.server[m->list.n - 1];
        bool same = true;
        for (uint32_t g = 0; g < other->gpus; g++)
            same &= other->gpu[g].nvlinks == m->list.server[0].gpu[g].nvlinks;
        differ += !same;
    }
    if (m->list.n) m->server = m->list.server[0];
    m->servers = weft__nccl_servers_count(&m->list, m->conf->servers);
    if (differ) ASSUMED(m, "NVLinks of all servers as in %s: %" PRIu32 " have others", m->server_file->written, differ);
    return WEFT_OK;
}

/// Whether the channels of a server use its GPUs.
static enum weft_status check_channels(const struct maker *m, const struct weft_import_file *file, uint32_t number,
                                       const struct weft__nccl_graphs *graphs) {
    const struct weft__nccl_server *server = &m->list.server[number % m->list.n];
    for (uint32_t k = 0; k < WEFT__NCCL_ALGORITHMS; k++) {
        const struct weft__nccl_graph *g = &graphs->of[k];
        for (uint32_t i = 0; i < g->channels * g->gpus; i++)
            if (weft__nccl_gpu_find(server, g->gpu[i]) == WEFT_NONE)
                return WEFT_REFUSE(m->error, (struct weft_place){.file = file->path},
                                   "channel %" PRIu32 " of graph %" PRIu32 " has GPU %" PRId64
                                   "; expected one of the %" PRIu32 " in %s",
                                   i / g->gpus, k, (int64_t)g->gpu[i], server->gpus, m->server_file->path);
    }
    return WEFT_OK;
}

/// Files of channels are those of the servers in turn.
static enum weft_status read_channels(struct maker *m) {
    for (uint32_t f = 0; f < m->files; f++) {
        struct weft__nccl_graphs own, *g = m->channels ? &own : &m->graphs;
        if (m->file[f].what != channels_file) continue;
        WEFT_TRY(weft__nccl_graphs_read(m->file[f].path, WEFT_NOWHERE, weft_import_arena(m->import), g, m->error));
        uint32_t gpus = g->of[g->of[WEFT__NCCL_RING].channels ? WEFT__NCCL_RING : WEFT__NCCL_TREE].gpus;
        if (m->gpus && m->gpus != gpus)
            return WEFT_REFUSE(m->error, (struct weft_place){.file = m->file[f].path},
                               "has channels of %" PRIu32 " GPUs, and %s has %" PRIu32 "; expected those of the server",
                               gpus, m->server_file ? m->server_file->path : m->channels_file->path, m->gpus);
        m->gpus = gpus;
        if (m->server_file) WEFT_TRY(check_channels(m, &m->file[f], m->channels, g));
        m->channels++;
    }
    return WEFT_OK;
}

// --- what is said -------------------------------------------------------------------------------------------------

#define SAY_TOPOLOGY(m, ...) weft_import_say((m)->import, WEFT_IMPORT_TOPOLOGY, __VA_ARGS__)

/// For servers whose files are read in place; returns whether some of their NICs are unknown.
static bool say_servers(const struct maker *m) {
    uint32_t unknown = 0, bounded = 0;
    SAY_TOPOLOGY(m, "  kind: nccl\n  file:%s", m->list.n > 1 ? "\n" : " ");
    for (uint32_t f = 0; f < m->files; f++)
        if (m->file[f].what == server_file)
            SAY_TOPOLOGY(m, "%s%s\n", m->list.n > 1 ? "  - " : "", weft_import_quote(m->import, m->file[f].written));
    SAY_TOPOLOGY(m, "  servers: %" PRIu32 "\n  network: %s\n", m->servers, weft__nccl_networks[m->conf->network]);
    for (uint32_t s = 0; s < m->list.n; s++)
        for (uint32_t h = 0; h < m->list.server[s].hosts; h++) {
            const struct weft__nccl_host *host = &m->list.server[s].host[h];
            weft_rate_bps own = m->conf->common.rate_bps, rate = weft__nccl_link_rate(host, own);
            unknown += host->unrated;
            bounded += fabs((double)rate - host->mbps * 1e6 - host->unrated * (double)own) >= 1;
        }
    char rate[32];
    weft__quantity_format(WEFT__RATE, m->conf->common.rate_bps, rate, sizeof rate);
    if (unknown && !m->server.nics)
        LOST(m, "the NICs: %s has none, and each GPU gets one of %s (rate)", m->server_file->written, rate);
    else if (unknown)
        ASSUMED(m, "%s for %s whose speed no file says (rate)", rate, weft__counted(unknown, "NIC").text);
    if (bounded)
        ASSUMED(m, "links of %" PRIu32 " hosts, whose NICs have another speed: weft's links are 10Mbps to 100Tbps",
                bounded);
    return unknown > 0;
}

static void say_network(const struct maker *m) {
    char rate[32], delay[32];
    bool rail = m->conf->network == WEFT__NCCL_RAIL, rated = true;
    weft__quantity_format(WEFT__RATE, m->conf->common.rate_bps, rate, sizeof rate);
    weft__quantity_format(WEFT__TIME, m->conf->common.delay_ps, delay, sizeof delay);
    if (m->server_file)
        rated = say_servers(m);
    else if (rail)
        SAY_TOPOLOGY(
            m, "  kind: leaf_spine\n  leaves: %" PRIu32 "\n  spines: %" PRIu32 "\n  hosts_per_leaf: %" PRIu32 "\n",
            m->gpus, m->servers, m->servers);
    else
        SAY_TOPOLOGY(m, "  kind: single\n  hosts: %" PRIu32 "\n", m->gpus * m->servers);
    if (rated) SAY_TOPOLOGY(m, "  rate: %s\n", rate);
    SAY_TOPOLOGY(m, "  delay: %s\n", delay);
    if (rail && m->server_file && weft__nccl_hosts_max(&m->list) == 1)
        ASSUMED(m, "the network: one switch, as servers have one NIC (delay)");
    else if (rail)
        ASSUMED(m, "the network: the k-th NIC of every server on leaf k, and as many spines as servers, without "
                   "oversubscription (network, delay)");
    else
        ASSUMED(m, "the network: one switch (network, delay)");
    if (!m->server_file) ASSUMED(m, "links of %s: no file says how fast NICs are (rate)", rate);
}

/// The lowest rate of all GPUs within the server, in bit/s; 0: some GPU has none.
static weft_rate_bps least_inside(const struct maker *m, bool *ret_differ) {
    double least = 0, most = 0;
    for (uint32_t g = 0; g < m->server.gpus; g++) {
        double rate = weft__nccl_gpu_gbps(&m->server.gpu[g]) * 1e9;
        if (!g || rate < least) least = rate;
        if (rate > most) most = rate;
    }
    *ret_differ = most > least;
    return (weft_rate_bps)least;
}

static weft_rate_bps clamp_rate(weft_rate_bps rate, weft_rate_bps min, weft_rate_bps max) {
    return rate < min ? min : rate > max ? max : rate;
}

static void say_server_line(const struct maker *m) {
    char rate[32];
    bool differ = false;
    weft_rate_bps bps = least_inside(m, &differ), used = clamp_rate(bps, UINT64_C(1000000000), UINT64_C(7200000000000));
    const char *cabling = m->conf->network == WEFT__NCCL_RAIL && !m->server_file ? ", cabling: rail" : "";
    if (m->gpus == 1) return;
    weft_import_say(m->import, WEFT_IMPORT_WORKLOAD, "  server: {gpus: %" PRIu32 "%s", m->gpus, cabling);
    if (bps) {
        weft__quantity_format(WEFT__RATE, used, rate, sizeof rate);
        weft_import_say(m->import, WEFT_IMPORT_WORKLOAD, ", rate: %s", rate);
        const struct weft__nccl_gpu *gpu = &m->server.gpu[0];
        const char *what = weft_arena_format(weft_import_arena(m->import), "%" PRIu32 " XGMI links of %g GB/s (%s)",
                                             gpu->nvlinks, gpu->xgmi_gigabytes, gpu->chip ? gpu->chip : "");
        ASSUMED(m, "GPUs of a server talk at %s each way, what %s reckons with for %s (server.rate; latency)", rate,
                gpu->chip ? "RCCL" : "NCCL",
                !gpu->nvlinks ? "this PCI link"
                : gpu->chip   ? what
                              : "these NVLinks");
    } else {
        ASSUMED(m,
                "the network within a server: no file says NVLinks or PCI speeds of all GPUs (server.rate, latency)");
    }
    weft_import_say(m->import, WEFT_IMPORT_WORKLOAD, "}\n");
    if (differ) ASSUMED(m, "that rate for all GPUs: some have a faster one");
}

/// The files of a kind: one, or a list.
static void say_files(const struct maker *m, const char *key, const char *what, uint32_t n) {
    weft_import_say(m->import, WEFT_IMPORT_WORKLOAD, "    %s:%s", key, n > 1 ? "\n" : " ");
    for (uint32_t f = 0; f < m->files; f++)
        if (m->file[f].what == what)
            weft_import_say(m->import, WEFT_IMPORT_WORKLOAD, "%s%s\n", n > 1 ? "    - " : "",
                            weft_import_quote(m->import, m->file[f].written));
}

static void say_workload(const struct maker *m) {
    bool ring = m->graphs.of[WEFT__NCCL_RING].channels > 0;
    weft_import_say(m->import, WEFT_IMPORT_WORKLOAD, "- kind: collective\n");
    if (m->channels_file) {
        weft_import_say(m->import, WEFT_IMPORT_WORKLOAD, "  collective:\n    kind: nccl\n");
        say_files(m, "file", channels_file, m->channels);
        if (m->server_file) say_files(m, "server", server_file, m->list.n);
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
    if (m->channels > 1) FOUND(m, "%" PRIu32 " files of channels: those of the servers in turn", m->channels);
    if (m->graphs.of[WEFT__NCCL_RING].channels && m->graphs.of[WEFT__NCCL_TREE].channels)
        FOUND(m, "the scenario uses the rings; collective: all_reduce_tree in the collective uses the trees");
    if (s->unbelievable)
        LOST(m, "the speed of %s, %" PRId64 " Mbit/s: no NIC is that fast", weft__counted(s->unbelievable, "NIC").text,
             s->unbelievable_mbps);
    if (s->is_static)
        FOUND(m,
              "%s is a list of PCI devices (NCCL_TOPO_FILE): GPUs by the order of buses; NCCL finds links between GPUs "
              "when it starts",
              m->server_file->written);
    if (s->meshed)
        ASSUMED(m, "any two GPUs of a server talk at that rate: the links between pairs of GPUs are one switch here%s",
                s->unlinked ? "" : ", and each pair has one");
    if (s->unlinked)
        LOST(m, "forwarding by GPUs: %s of GPUs without a link of their own exchange data through other GPUs",
             weft__counted(s->unlinked, "pair").text);
    if (s->slow) LOST(m, "%s with less than half the speed of the fastest", weft__counted(s->slow, "NIC").text);
    if (m->graphs.others)
        LOST(m, "%s of other algorithms (CollNet, NVLS)", weft__counted(m->graphs.others, "graph").text);
    uint32_t pooled = 0, shared = 0;
    for (uint32_t h = 0; h < s->hosts; h++) {
        pooled += s->host[h].nics > 1;
        shared += s->host[h].gpus > 1;
    }
    if (shared)
        FOUND(m, "NICs of a server that GPUs share: %" PRIu32 "; a GPU that sends alone has the whole NIC", shared);
    if (m->server_file && s->gpus > 1 && s->hosts > 1)
        ASSUMED(m,
                "PXN for all-to-alls, as NCCL has it by default: collective: {kind: all_to_all, pxn: off} is without");
    if (pooled) ASSUMED(m, "GPUs with several NICs use them as if they were one, of their speed together");
}

static enum weft_status nccl_make(const void *conf, const struct weft_import_file *file, uint32_t files,
                                  struct weft_import *import, struct weft_error *ret_error) {
    struct maker m = {.conf = conf,
                      .file = file,
                      .files = files,
                      .server_file = weft_import_find(file, files, server_file),
                      .channels_file = weft_import_find(file, files, channels_file),
                      .import = import,
                      .error = ret_error};
    WEFT_TRY(read_servers(&m));
    m.gpus = m.server.gpus;
    WEFT_TRY(read_channels(&m));
    if (!m.conf->servers && m.channels > m.servers) m.servers = m.channels;
    if (!m.conf->servers && m.list.n < 2 && m.channels < 2) ASSUMED(&m, "2 servers that are alike (servers)");
    uint64_t hosts = (uint64_t)(m.server_file ? weft__nccl_hosts_max(&m.list) : m.gpus) * m.servers;
    if (hosts < 2 || m.servers > 65535)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = file[0].path},
                           "makes %" PRIu64 " hosts, one for each NIC; expected at least 2, and at most 65535 servers",
                           hosts);
    say_network(&m);
    say_workload(&m);
    note_files(&m);
    return WEFT_OK;
}

const struct weft_model weft__import_nccl =
    WEFT_MODEL_OF(IMPORT, "nccl", "servers and channels as NCCL writes them: NCCL_TOPO_DUMP_FILE, NCCL_GRAPH_DUMP_FILE",
                  "NVIDIA/nccl, src/graph/xml.cc, search.cc, topo.h", &import_table,
                  &(const struct weft_import_ops){
                      .recognise = nccl_recognise,
                      .make = nccl_make,
                      .syntax = WEFT_IMPORT_XML,
                      .begins = "<system> or <graphs>",
                  });
