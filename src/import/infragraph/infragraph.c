// SPDX-License-Identifier: Apache-2.0
// Clusters described in InfraGraph (import/infragraph/infragraph_read.h) as topologies, read in place.
//
// Differences. A host of weft has one link: each component of a server at which an edge between instances ends (a NIC,
// a port of one, an xpu on a scale-up network) is a host, named after the component: server.0.nic.3. A switch is one
// node, and its ports are named after its components. Of the inside of a device, weft models the rate behind NICs
// (`host.drain_rate`) and the delay of a switch (`switch.processing`); `weft import` sets these.
#include <inttypes.h>
#include <string.h>

#include "base/grow.h"
#include "base/lines.h"
#include "base/units.h"
#include "import/infragraph/infragraph_read.h"
#include "weft/import.h"
#include "weft/param.h"

static const char source[] =
    "InfraGraph schema 2.4, Keysight/infragraph (models, src/infragraph/infragraph_service.py)";

#define SWITCHES_ROW(T)                                                                                                \
    WEFT_TEXT(T, graph.switches, "switches", "",                                                                       \
              "instances that are switches (shell patterns, joined by commas); empty: those whose device has neither " \
              "xpu nor nic")

// --- topology -----------------------------------------------------------------------------------------------------

struct topology_conf {
    const char *file;
    struct weft__infragraph_conf graph;
};
static const struct weft_param_table topology_params = WEFT_PARAM_TABLE_OF(
    "infragraph", struct topology_conf, .lists = weft__topology_lists,
    WEFT_TEXT(struct topology_conf, file, "file", NULL,
              "the infrastructure; relative to the scenario. Several files, joined by commas or as a list, form one"),
    SWITCHES_ROW(struct topology_conf),
    WEFT_RATE(struct topology_conf, graph.rate_bps, "rate", "200Gbps", "10Mbps", "100Tbps",
              "rate of links without one in bits or bytes (assumed)"),
    WEFT_TIME(struct topology_conf, graph.delay_ps, "delay", "150ns", "1ps", "1s",
              "propagation delay of links without a latency (assumed)"));

static enum weft_status infragraph_build(const void *conf, const struct weft_tree *tree,
                                         struct weft_topology_builder *b, struct weft_error *ret_error) {
    const struct topology_conf *c = conf;
    struct weft_place entry = b->place;
    struct weft__infragraph g;
    const char **path = NULL, *rest = c->file;
    char *item = weft_arena_alloc(b->arena, strlen(rest) + 1, 1);
    uint32_t paths = 0;
    while (weft__choice_next(&rest, item)) {
        WEFT__ADD(b->arena, path, paths) = weft__path_beside(weft_arena_text(b->arena, item), entry, b->arena);
    }
    if (!paths) return WEFT_REFUSE(ret_error, entry, "file: expected the name of a file");
    WEFT_TRY(weft__infragraph_read(path, paths, entry, &c->graph, b->arena, &g, ret_error));
    return weft__file_graph_build_parts(&g.graph, b, ret_error);
}

const struct weft_model weft__topology_infragraph =
    WEFT_MODEL_OF(TOPOLOGY, "infragraph",
                  "a cluster described in InfraGraph: NICs with a link are hosts (server.0.nic.3), switches are leaf.0",
                  source, &topology_params, &(const struct weft_topology_ops){.build = infragraph_build});

// --- import -------------------------------------------------------------------------------------------------------

struct import_conf {
    struct weft_import_common common;
    struct weft__infragraph_conf graph;
};
static const struct weft_param_table import_params =
    WEFT_PARAM_TABLE_OF("infragraph", struct import_conf, WEFT_PARAM_UNCHECKED, WEFT_IMPORT_ROWS(struct import_conf),
                        SWITCHES_ROW(struct import_conf));

/// A key of YAML or JSON.
static bool has_key(const char *text, const char *key) {
    char yaml[24], json[24];
    snprintf(yaml, sizeof yaml, "%s:", key);
    snprintf(json, sizeof json, "\"%s\"", key);
    return strstr(text, yaml) || strstr(text, json);
}

static const char *infragraph_recognise(const struct weft_import_file *file) {
    const char *head = file->head;
    bool components = has_key(head, "components"), connections = has_key(head, "connections");
    if (has_key(head, "devices") && (components || connections)) return "infrastructure";
    if (connections && has_key(head, "infrastructure")) return "infrastructure";
    if (has_key(head, "instances") && (connections || (has_key(head, "ep1") && has_key(head, "ep2"))))
        return "infrastructure"; // whose devices are defined in other files
    return components && has_key(head, "choice") && has_key(head, "count") ? "device" : NULL;
}

#define SAY(section, ...) weft_import_say(import, WEFT_IMPORT_##section, __VA_ARGS__)
#define NOTE(note, ...) weft_import_note(import, WEFT_IMPORT_##note, __VA_ARGS__)

static void note_graph(const struct weft__infragraph *g, uint32_t parts, const struct weft_import_file *file,
                       struct weft_import *import) {
    uint32_t hosts = weft__file_graph_hosts(&g->graph);
    NOTE(FOUND, "%s: %s, %" PRIu32 " links", file->written, weft_import_nodes(import, hosts, g->graph.nodes - hosts),
         g->graph.links);
    if (parts > 1)
        NOTE(FOUND, "%" PRIu32 " networks without a link between them: part-0, part-1, ..., before the names of nodes",
             parts);
    if (g->unequal)
        NOTE(FOUND, "%" PRIu32 " edges one2one whose ends are of different numbers: the shorter list ends them",
             g->unequal);
    if (g->loops) NOTE(LEFT_OUT, "%" PRIu32 " links from a switch to itself", g->loops);
    if (g->renamed)
        NOTE(LEFT_OUT,
             "%" PRIu32 " names of nodes (letters, digits and _ - . : make one): host-N or switch-N is the N-th node",
             g->renamed);
    if (g->unnamed) NOTE(LEFT_OUT, "%" PRIu32 " names of ports: they have numbers", g->unnamed);
}

static void say_defaults(const struct weft__infragraph_conf *c, const struct weft__infragraph *g,
                         struct weft_import *import) {
    char rate[32], delay[32];
    weft__quantity_format(WEFT__RATE, c->rate_bps, rate, sizeof rate);
    weft__quantity_format(WEFT__TIME, c->delay_ps, delay, sizeof delay);
    if (g->unrated) {
        SAY(TOPOLOGY, "  rate: %s\n", rate);
        NOTE(ASSUMED, "%s for %" PRIu32 " links without a bandwidth, %" PRIu32 " of them with one in transfers (rate)",
             rate, g->unrated, g->transfers);
    }
    if (g->undelayed) {
        SAY(TOPOLOGY, "  delay: %s\n", delay);
        NOTE(ASSUMED, "%s for %" PRIu32 " links without a latency (delay)", delay, g->undelayed);
    }
}

/// The parts of an instance's inside that weft has a parameter for.
static void say_inside(const struct weft__infragraph_instance *i, uint32_t parts, struct weft_import *import) {
    char value[32];
    const struct weft__infragraph_device *d = i->device;
    const char *match = weft_import_quote(
        import, weft_arena_format(weft_import_arena(import), "%s%.200s.*", parts > 1 ? "part-*-" : "", i->name));
    if (i->is_switch && d->port_delay_ps) {
        weft__quantity_format(WEFT__TIME, 2 * d->port_delay_ps, value, sizeof value);
        SAY(DEVICES, "- {match: %s, switch: {processing: %s}}\n", match, value);
        NOTE(FOUND, "switches %.60s: their processing is twice the latency of the links at their ports", i->name);
    }
    if (!i->is_switch && d->nic_rate_bps && d->nic_rate_bps < i->rate_bps) {
        weft__quantity_format(WEFT__RATE, d->nic_rate_bps, value, sizeof value);
        SAY(DEVICES, "- {match: %s, host: {drain_rate: %s}}\n", match, value);
        NOTE(FOUND, "servers %.60s: their NICs drain at the rate of the slowest link behind them, %s", i->name, value);
    }
}

static void note_inside(const struct weft__infragraph_instance *i, struct weft_import *import) {
    const struct weft__infragraph_device *d = i->device;
    const char *is = i->is_switch ? "switches" : "servers";
    if (i->absent)
        NOTE(LOST, "instance %.60s: no edge ends at it, and no file defines its device '%.60s'", i->name, i->absent);
    if (*d->inside)
        weft_import_note(import, i->is_switch ? WEFT_IMPORT_LEFT_OUT : WEFT_IMPORT_LOST, "links within %s %.60s: %s",
                         is, i->name, d->inside);
    if (!i->is_switch && d->xpus)
        NOTE(LOST,
             "the network between the %" PRIu64 " xpus of each of the servers %.60s: a job has one (server: {gpus: "
             "%" PRIu64 "})",
             d->xpus, i->name, d->xpus);
}

/// The default workload, in each network.
static void say_workload(const struct weft_import_common *c, uint32_t parts, struct weft_import *import) {
    const struct weft__quantity_text size = weft__bytes_text(c->size_bytes);
    for (uint32_t p = 0; p < parts; p++)
        SAY(WORKLOAD, "- {kind: permutation, group: part-%" PRIu32 ", hosts: 'part-%" PRIu32 "-*', size: %s}\n", p, p,
            size.text);
    NOTE(ASSUMED, "the workload: in each network every host sends %s to another, a permutation (size)", size.text);
}

static enum weft_status infragraph_make(const void *conf, const struct weft_import_file *file, uint32_t files,
                                        struct weft_import *import, struct weft_error *ret_error) {
    const struct import_conf *c = conf;
    struct weft__infragraph_conf graph = c->graph;
    struct weft__infragraph g;
    graph.rate_bps = c->common.rate_bps;
    graph.delay_ps = c->common.delay_ps;
    const char **path = weft_arena_alloc(weft_import_arena(import), files, sizeof *path);
    for (uint32_t f = 0; f < files; f++) {
        path[f] = file[f].path;
        if (strchr(file[f].written, ','))
            return WEFT_REFUSE(ret_error, (struct weft_place){.file = path[f]},
                               "a comma in its name; expected a name without one");
    }
    WEFT_TRY(weft__infragraph_read(path, files, (struct weft_place){.file = file->path}, &graph,
                                   weft_import_arena(import), &g, ret_error));
    WEFT_TRY(weft__file_graph_check(&g.graph, true, (struct weft_place){.file = file->path}, weft_import_arena(import),
                                    ret_error));
    uint32_t *part, parts = weft__file_graph_parts(&g.graph, weft_import_arena(import), &part);
    SAY(TOPOLOGY, "  kind: infragraph\n  file:%s", files > 1 ? "\n" : "");
    for (uint32_t f = 0; f < files; f++)
        SAY(TOPOLOGY, "%s %s\n", files > 1 ? "  -" : "", weft_import_quote(import, file[f].written));
    if (*graph.switches) SAY(TOPOLOGY, "  switches: %s\n", weft_import_quote(import, graph.switches));
    note_graph(&g, parts, file, import);
    say_defaults(&graph, &g, import);
    for (uint32_t i = 0; i < g.instances; i++)
        say_inside(&g.instance[i], parts, import);
    for (uint32_t i = 0; i < g.instances; i++)
        note_inside(&g.instance[i], import);
    if (parts > 1) say_workload(&c->common, parts, import);
    return WEFT_OK;
}

const struct weft_model weft__import_infragraph = WEFT_MODEL_OF(
    IMPORT, "infragraph", "a cluster described in InfraGraph, YAML or JSON: devices, instances, links, edges", source,
    &import_params,
    &(const struct weft_import_ops){
        .recognise = infragraph_recognise,
        .make = infragraph_make,
        .syntax = WEFT_IMPORT_TEXT | WEFT_IMPORT_JSON,
        .begins = "devices with components",
    });
