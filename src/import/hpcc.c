// SPDX-License-Identifier: Apache-2.0
// Topologies and flows of ns-3's RDMA simulators (import/hpcc_read.h), read in place, and their configuration.
//
// Differences. A host has one link: SimAI's GPUs have a second one, to the NVSwitch of their server, which becomes the
// network within a server; flows between GPUs of one server take the network outside all the same. The error rate of a
// link is of packets; here bits are lost, at a rate that loses as many packets of `error_packet` bytes. Where a flow
// file has sequence numbers or dependencies beyond HPCC's six columns it is refused.
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "import/hosts.h"
#include "import/hpcc_read.h"
#include "topology/builder.h"
#include "weft/import.h"
#include "weft/workload.h"

static const char source[] =
    "scratch/third.cc of alibaba-edu/High-Precision-Congestion-Control; SimAI's form: aliyun/ns-3-alibabacloud";

// --- topology -----------------------------------------------------------------------------------------------------

struct topology_conf {
    const char *file;
    weft_bytes error_packet_bytes;
};
static const struct weft_param topology_rows[] = {
    WEFT_TEXT(struct topology_conf, file, "file", NULL, "the topology; relative to the scenario"),
    WEFT_BYTES(
        struct topology_conf, error_packet_bytes, "error_packet", "1048B", "64B", "10000B",
        "links lose as many packets of this size as their error rate says (HPCC: 1000 B of payload, 48 of headers)"),
};
static const struct weft_param_table topology_params = WEFT_PARAM_TABLE("hpcc", struct topology_conf, topology_rows);

static double bit_error_rate(double packet_error_rate, weft_bytes packet) {
    return -expm1(log1p(-packet_error_rate) / (8 * (double)packet));
}

static void add_nodes(const struct weft__hpcc_topology *f, uint32_t *node, struct weft_topology_builder *b) {
    for (uint32_t n = 0; n < f->nodes; n++) {
        node[n] = WEFT_NONE;
        if (f->role[n] == WEFT__HPCC_HOST)
            node[n] = weft__topology_add_numbered(b, WEFT_NODE_HOST, "host", 0, WEFT_NONE, n);
        else if (f->role[n] == WEFT__HPCC_SWITCH)
            node[n] = weft__topology_add_numbered(b, WEFT_NODE_SWITCH, "switch", WEFT__TIER_BY_DISTANCE, WEFT_NONE, n);
    }
}

static enum weft_status hpcc_build(const void *conf, const struct weft_tree *tree, struct weft_topology_builder *b,
                                   struct weft_error *ret_error) {
    const struct topology_conf *c = conf;
    struct weft__hpcc_topology f;
    struct weft_place entry = b->place;
    const char *path = weft__path_beside(c->file, entry, b->arena);
    enum weft_status status = weft__hpcc_read_topology(path, entry, b->arena, &f, ret_error);
    if (!status) status = weft__topology_check_size(b, f.nodes, f.links, ret_error);
    if (status) return status;
    uint32_t *node = weft_arena_alloc(b->arena, f.nodes, sizeof *node);
    add_nodes(&f, node, b);
    for (uint32_t i = 0; i < f.links; i++) {
        const struct weft__hpcc_link *l = &f.link[i];
        b->place = l->place;
        if (node[l->src] == WEFT_NONE || node[l->dst] == WEFT_NONE) continue; // to an NVSwitch
        weft_topology_add_link(b, node[l->src], node[l->dst], l->rate_bps, l->delay_ps,
                               bit_error_rate(l->error_rate, c->error_packet_bytes));
    }
    return WEFT_OK;
}

static const struct weft_topology_ops topology_ops = {.build = hpcc_build};

const struct weft_model weft__topology_hpcc = {
    .kind = WEFT_KIND_TOPOLOGY,
    .name = "hpcc",
    .summary = "a topology file of HPCC or SimAI (ns-3): node N is host-N or switch-N",
    .source = source,
    .params = &topology_params,
    .ops = &topology_ops,
};

// --- flows --------------------------------------------------------------------------------------------------------

struct flows_conf {
    struct weft_workload_common common;
    const char *file, *hosts;
};
static const struct weft_param flows_rows[] = {
    WEFT_WORKLOAD_ROWS(struct flows_conf),
    WEFT_TEXT(struct flows_conf, file, "file", NULL, "the flows; relative to the scenario"),
    WEFT__FILE_HOSTS_ROW(struct flows_conf),
};
static const struct weft_param_table flows_params = WEFT_PARAM_TABLE("hpcc", struct flows_conf, flows_rows);

static enum weft_status add_flows(struct weft__lines *lines, uint64_t flows, const struct flows_conf *c,
                                  const struct weft__file_hosts *hosts, struct weft_workload *w,
                                  struct weft_error *ret_error) {
    struct weft_workload_common common = c->common;
    enum weft_status status = WEFT_OK;
    for (uint64_t i = 0; i < flows && !status; i++) {
        struct weft__hpcc_flow f;
        uint32_t src = 0, dst = 0;
        status = weft__hpcc_flows_next(lines, &f, ret_error);
        if (!status) status = weft__file_hosts_at(hosts, f.src, f.place, &src, ret_error);
        if (!status) status = weft__file_hosts_at(hosts, f.dst, f.place, &dst, ret_error);
        if (status) break;
        common.priority = f.priority;
        status = weft_workload_add(w, &common, f.place, src, dst, f.bytes, weft_time_plus(common.start_ps, f.start_ps),
                                   ret_error);
    }
    return status ? status : weft__hpcc_flows_end(lines, flows, ret_error);
}

static enum weft_status hpcc_expand(const void *conf, struct weft_place place, const struct weft_topology *topology,
                                    uint64_t seed, uint32_t entry, struct weft_workload *w,
                                    struct weft_error *ret_error) {
    const struct flows_conf *c = conf;
    struct weft__file_hosts hosts;
    struct weft__lines lines;
    uint64_t flows = 0;
    enum weft_status status = weft__file_hosts_init(&hosts, c->hosts, place, topology, ret_error);
    if (!status)
        status = weft__hpcc_flows_open(&lines, weft__path_beside(c->file, place, w->arena), place, &flows, ret_error);
    if (status) return status;
    status = add_flows(&lines, flows, c, &hosts, w, ret_error);
    weft__lines_close(&lines);
    return status;
}

static const struct weft_workload_ops flows_ops = {.expand = hpcc_expand};

const struct weft_model weft__workload_hpcc = {
    .kind = WEFT_KIND_WORKLOAD,
    .name = "hpcc",
    .summary = "a flow file of HPCC or SimAI (ns-3): source, destination, priority group, port, bytes, start",
    .source = source,
    .params = &flows_params,
    .ops = &flows_ops,
};

// --- import -------------------------------------------------------------------------------------------------------

enum { WORDS_MAX = 8 };

/// How many words a line has; *ret_numbers: of those, how many are numbers.
static uint32_t count_words(const char *line, uint32_t *ret_numbers) {
    uint32_t words = 0;
    *ret_numbers = 0;
    for (line += strspn(line, " \t"); *line && !strchr("\r\n", *line) && words < WORDS_MAX; words++) {
        size_t n = strcspn(line, " \t\r\n");
        *ret_numbers += strspn(line, "0123456789.") == n;
        line += n;
        line += strspn(line, " \t");
    }
    return words;
}

static const char *next_line(const char *text) {
    text += strcspn(text, "\n");
    return *text ? text + 1 : text;
}

static bool is_config(const char *head) {
    static const char *const keys[] = {"TOPOLOGY_FILE", "FLOW_FILE", "ENABLE_QCN", "PACKET_PAYLOAD_SIZE", "CC_MODE"};
    for (const char *line = head; *line; line = next_line(line))
        for (uint32_t k = 0; k < sizeof keys / sizeof *keys; k++)
            if (!strncmp(line, keys[k], strlen(keys[k])) && isblank((unsigned char)line[strlen(keys[k])])) return true;
    return false;
}

static const char *hpcc_recognise(const struct weft_import_file *file) {
    uint32_t numbers, words = count_words(file->head, &numbers);
    if (is_config(file->head)) return "configuration";
    if ((words == 3 && numbers == 3) || (words == 6 && numbers == 5)) return "topology";
    if (words != 1 || numbers != 1) return NULL;
    const char *second = next_line(file->head);
    words = count_words(second, &numbers);
    if (words == 6 && numbers == 6) return "flows";
    return !*second && !strcmp(file->head, "0\n") ? "flows" : NULL;
}

static enum weft_status make_topology(const struct weft_import_file *file, struct weft_import *import,
                                      struct weft_error *ret_error) {
    struct weft__hpcc_topology t;
    enum weft_status status =
        weft__hpcc_read_topology(file->path, WEFT_NOWHERE, weft_import_arena(import), &t, ret_error);
    if (status) return status;
    uint32_t hosts = t.nodes - t.switches - t.nvswitches;
    bool lossy = false;
    for (uint32_t i = 0; i < t.links; i++)
        lossy |= t.link[i].error_rate > 0;
    weft_import_say(import, WEFT_IMPORT_TOPOLOGY, "  kind: hpcc\n  file: %s\n",
                    weft_import_quote(import, file->written));
    weft_import_note(import, WEFT_IMPORT_FOUND,
                     "%s: %" PRIu32 " hosts, %" PRIu32 " switches, %" PRIu32 " links; node N is host-N or switch-N",
                     file->written, hosts, t.switches, t.links);
    if (lossy)
        weft_import_note(import, WEFT_IMPORT_ASSUMED,
                         "packets of 1048 bytes for the links' error rates, which are of packets (error_packet)");
    if (t.nvswitches)
        weft_import_note(import, WEFT_IMPORT_LEFT_OUT,
                         "%" PRIu32 " NVSwitches and their links: GPUs of a server (%" PRIu32 " of %s each) reach one "
                         "another by the network; a job has a network within servers (server: {gpus: %" PRIu32 "})",
                         t.nvswitches, t.gpus_per_server, t.gpu_type, t.gpus_per_server);
    return WEFT_OK;
}

static enum weft_status make_flows(const struct weft_import_file *file, struct weft_import *import,
                                   struct weft_error *ret_error) {
    struct weft__lines lines;
    uint64_t flows = 0;
    weft_bytes bytes = 0;
    enum weft_status status = weft__hpcc_flows_open(&lines, file->path, WEFT_NOWHERE, &flows, ret_error);
    if (status) return status;
    for (uint64_t i = 0; i < flows && !status; i++) {
        struct weft__hpcc_flow f;
        status = weft__hpcc_flows_next(&lines, &f, ret_error);
        if (status) break;
        weft_import_need_hosts(import, (uint32_t)(f.src > f.dst ? f.src : f.dst) + 1);
        bytes += f.bytes;
    }
    if (!status) status = weft__hpcc_flows_end(&lines, flows, ret_error);
    weft__lines_close(&lines);
    if (status) return status;
    weft_import_say(import, WEFT_IMPORT_WORKLOAD, "- kind: hpcc\n  file: %s\n",
                    weft_import_quote(import, file->written));
    weft_import_note(import, WEFT_IMPORT_FOUND, "%s: %" PRIu64 " flows, %" PRIu64 " bytes", file->written, flows,
                     bytes);
    return WEFT_OK;
}

static enum weft_status hpcc_make(const void *conf, const struct weft_import_file *file, uint32_t files,
                                  struct weft_import *import, struct weft_error *ret_error) {
    const struct weft_import_file *topology = weft_import_find(file, files, "topology");
    enum weft_status status = weft_import_once(file, files, "topology", ret_error);
    if (!status) status = weft_import_once(file, files, "configuration", ret_error);
    for (uint32_t f = 0; f < files && !status; f++)
        if (!strcmp(file[f].what, "flows")) status = make_flows(&file[f], import, ret_error);
    if (!status && topology) status = make_topology(topology, import, ret_error);
    return status;
}

struct import_conf {
    struct weft_import_common common;
};
static const struct weft_param import_rows[] = {WEFT_IMPORT_ROWS(struct import_conf)};
static const struct weft_param_table import_params = WEFT_PARAM_TABLE("hpcc", struct import_conf, import_rows);
static const struct weft_import_ops import_ops = {hpcc_recognise, hpcc_make};

const struct weft_model weft__import_hpcc = {
    .kind = WEFT_KIND_IMPORT,
    .name = "hpcc",
    .summary = "files of HPCC or SimAI (ns-3): topology, flows, configuration",
    .source = source,
    .params = &import_params,
    .ops = &import_ops,
};
