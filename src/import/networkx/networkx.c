// SPDX-License-Identifier: Apache-2.0
// Graphs of NetworkX, and graphs in GraphML, as topologies (import/networkx/networkx_read.h), read in place.
//
// Differences. A link carries both directions at one rate and delay: in a directed graph, two links in opposite
// directions are one, and a single one is a link in both directions. A host has one link. Weights have no meaning by
// themselves: `rate_key` or `delay_key` may name them.
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/lines.h"
#include "base/units.h"
#include "base/xml.h"
#include "import/networkx/networkx_read.h"
#include "weft/import.h"
#include "weft/param.h"

static const char source[] = "NetworkX reference, readwrite, JSON: node_link_data";
static const char graphml_source[] = "Brandes et al., GraphML progress report, GD 2001; graphml.graphdrawing.org";

/// A reader of files: weft__networkx_read or weft__graphml_read.
struct format {
    const char *name;
    enum weft_status (*read)(const char *path, struct weft_place place, const struct weft__networkx_conf *conf,
                             struct weft_arena *arena, struct weft__networkx *ret_graph, struct weft_error *ret_error);
};
static const struct format networkx = {"networkx", weft__networkx_read}, graphml = {"graphml", weft__graphml_read};

#define ATTRIBUTE_ROWS(T)                                                                                              \
    WEFT_TEXT(T, graph.rate_key, "rate_key", "",                                                                       \
              "attribute of links that holds their rate; empty: rate, bandwidth, capacity or speed"),                  \
        WEFT_TEXT(T, graph.delay_key, "delay_key", "",                                                                 \
                  "attribute of links that holds their delay; empty: delay or latency"),                               \
        WEFT_CHOICE(T, graph.rate_unit, "rate_unit", "bps", weft__networkx_rate_units,                                 \
                    "unit of rates whose unit the file does not state (assumed)"),                                     \
        WEFT_CHOICE(T, graph.delay_unit, "delay_unit", "s", weft__networkx_delay_units,                                \
                    "unit of delays whose unit the file does not state (assumed)")

// --- topology -----------------------------------------------------------------------------------------------------

struct topology_conf {
    const char *file;
    struct weft__networkx_conf graph;
};
static const struct weft_param topology_rows[] = {
    WEFT_TEXT(struct topology_conf, file, "file", NULL, "the graph; relative to the scenario"),
    ATTRIBUTE_ROWS(struct topology_conf),
    WEFT_RATE(struct topology_conf, graph.rate_bps, "rate", "200Gbps", "10Mbps", "100Tbps",
              "rate of links without one (assumed)"),
    WEFT_TIME(struct topology_conf, graph.delay_ps, "delay", "150ns", "1ps", "1s",
              "propagation delay of links without one (assumed)"),
};
static const struct weft_param_table topology_params =
    WEFT_PARAM_TABLE("networkx", struct topology_conf, topology_rows, .lists = weft__topology_lists);

static const struct weft_param_table graphml_topology_params =
    WEFT_PARAM_TABLE("graphml", struct topology_conf, topology_rows, .lists = weft__topology_lists);

static enum weft_status build_graph(const struct format *format, const struct topology_conf *c,
                                    struct weft_topology_builder *b, struct weft_error *ret_error) {
    struct weft_place entry = b->place;
    struct weft__networkx g;
    enum weft_status status =
        format->read(weft__path_beside(c->file, entry, b->arena), entry, &c->graph, b->arena, &g, ret_error);
    return status ? status : weft__file_graph_build(&g.graph, b, ret_error);
}

static enum weft_status networkx_build(const void *conf, const struct weft_tree *tree, struct weft_topology_builder *b,
                                       struct weft_error *ret_error) {
    return build_graph(&networkx, conf, b, ret_error);
}

static enum weft_status graphml_build(const void *conf, const struct weft_tree *tree, struct weft_topology_builder *b,
                                      struct weft_error *ret_error) {
    return build_graph(&graphml, conf, b, ret_error);
}

const struct weft_model weft__topology_networkx = WEFT_MODEL_OF(
    TOPOLOGY, "networkx", "a graph of NetworkX, node-link JSON: nodes keep their names, number N is host-N or switch-N",
    source, &topology_params, &(const struct weft_topology_ops){.build = networkx_build});

const struct weft_model weft__topology_graphml =
    WEFT_MODEL_OF(TOPOLOGY, "graphml", "a graph in GraphML: nodes keep their names, number N is host-N or switch-N",
                  graphml_source, &graphml_topology_params, &(const struct weft_topology_ops){.build = graphml_build});

// --- import -------------------------------------------------------------------------------------------------------

struct import_conf {
    struct weft_import_common common;
    struct weft__networkx_conf graph;
};
static const struct weft_param import_rows[] = {
    WEFT_IMPORT_ROWS(struct import_conf),
    ATTRIBUTE_ROWS(struct import_conf),
};
static const struct weft_param_table import_params = WEFT_PARAM_TABLE("networkx", struct import_conf, import_rows);
static const struct weft_param_table graphml_params = WEFT_PARAM_TABLE("graphml", struct import_conf, import_rows);

static const char *networkx_recognise(const struct weft_import_file *file) {
    const char *text = file->head;
    while (isspace((unsigned char)*text))
        text++;
    if (*text != '{' || strstr(text, "\"instances\"")) return NULL;
    bool edges = strstr(text, "\"links\"") || strstr(text, "\"edges\"");
    if (strstr(text, "\"multigraph\"") || (edges && strstr(text, "\"source\""))) return "topology";
    return strstr(text, "\"nodes\"") && strstr(text, "\"id\"") ? "topology" : NULL;
}

static void say_attributes(const struct weft__networkx_conf *c, const struct weft__networkx *g,
                           struct weft_import *import) {
    char rate[32], delay[32];
    if (*c->rate_key)
        weft_import_say(import, WEFT_IMPORT_TOPOLOGY, "  rate_key: %s\n", weft_import_quote(import, c->rate_key));
    if (*c->delay_key)
        weft_import_say(import, WEFT_IMPORT_TOPOLOGY, "  delay_key: %s\n", weft_import_quote(import, c->delay_key));
    if (c->rate_unit)
        weft_import_say(import, WEFT_IMPORT_TOPOLOGY, "  rate_unit: %s\n", weft__networkx_rate_units[c->rate_unit]);
    if (c->delay_unit)
        weft_import_say(import, WEFT_IMPORT_TOPOLOGY, "  delay_unit: %s\n", weft__networkx_delay_units[c->delay_unit]);
    weft__quantity_format(WEFT__RATE, c->rate_bps, rate, sizeof rate);
    weft__quantity_format(WEFT__TIME, c->delay_ps, delay, sizeof delay);
    if (g->unrated) {
        weft_import_say(import, WEFT_IMPORT_TOPOLOGY, "  rate: %s\n", rate);
        weft_import_note(import, WEFT_IMPORT_ASSUMED, "%s for %" PRIu32 " links without a rate (rate, rate_key)", rate,
                         g->unrated);
    }
    if (g->undelayed) {
        weft_import_say(import, WEFT_IMPORT_TOPOLOGY, "  delay: %s\n", delay);
        weft_import_note(import, WEFT_IMPORT_ASSUMED, "%s for %" PRIu32 " links without a delay (delay, delay_key)",
                         delay, g->undelayed);
    }
}

static enum weft_status make_graph(const struct format *format, const struct import_conf *c,
                                   const struct weft_import_file *file, uint32_t files, struct weft_import *import,
                                   struct weft_error *ret_error) {
    struct weft__networkx_conf graph = c->graph;
    struct weft__networkx g;
    graph.rate_bps = c->common.rate_bps;
    graph.delay_ps = c->common.delay_ps;
    WEFT_TRY(weft_import_once(file, files, "topology", ret_error));
    WEFT_TRY(format->read(file->path, (struct weft_place){.file = file->path}, &graph, weft_import_arena(import), &g,
                          ret_error));
    WEFT_TRY(weft__file_graph_check(&g.graph, false, (struct weft_place){.file = file->path}, weft_import_arena(import),
                                    ret_error));
    uint32_t hosts = weft__file_graph_hosts(&g.graph);
    weft_import_say(import, WEFT_IMPORT_TOPOLOGY, "  kind: %s\n  file: %s\n", format->name,
                    weft_import_quote(import, file->written));
    weft_import_note(import, WEFT_IMPORT_FOUND, "%s: %s, %" PRIu32 " links", file->written,
                     weft_import_nodes(import, hosts, g.graph.nodes - hosts), g.graph.links);
    if (g.guessed)
        weft_import_note(import, WEFT_IMPORT_ASSUMED,
                         "%" PRIu32 " nodes have no role or type: those with one link are hosts", g.guessed);
    if (g.renamed)
        weft_import_note(import, WEFT_IMPORT_LEFT_OUT,
                         "%" PRIu32 " names of nodes (letters, digits and _ - . : make one): host-N or switch-N is the "
                         "node N in the file's order, from 0",
                         g.renamed);
    if (*g.unread)
        weft_import_note(import, WEFT_IMPORT_LOST, "attributes %s (rate_key, delay_key)",
                         weft_import_quote(import, g.unread));
    say_attributes(&graph, &g, import);
    const struct weft__planes planes = weft__file_graph_planes(&g.graph, weft_import_arena(import));
    weft__planes_say(&planes, import);
    return WEFT_OK;
}

static enum weft_status networkx_make(const void *conf, const struct weft_import_file *file, uint32_t files,
                                      struct weft_import *import, struct weft_error *ret_error) {
    return make_graph(&networkx, conf, file, files, import, ret_error);
}

static const char *graphml_recognise(const struct weft_import_file *file) {
    return weft__xml_recognise(file->head, "graphml") ? "topology" : NULL;
}

static enum weft_status graphml_make(const void *conf, const struct weft_import_file *file, uint32_t files,
                                     struct weft_import *import, struct weft_error *ret_error) {
    return make_graph(&graphml, conf, file, files, import, ret_error);
}

const struct weft_model weft__import_networkx =
    WEFT_MODEL_OF(IMPORT, "networkx", "a graph of NetworkX, as node-link JSON", source, &import_params,
                  &(const struct weft_import_ops){
                      .recognise = networkx_recognise,
                      .make = networkx_make,
                      .syntax = WEFT_IMPORT_JSON,
                      .begins = "nodes and links (or edges)",
                  });

const struct weft_model weft__import_graphml =
    WEFT_MODEL_OF(IMPORT, "graphml", "a graph in GraphML", graphml_source, &graphml_params,
                  &(const struct weft_import_ops){
                      .recognise = graphml_recognise,
                      .make = graphml_make,
                      .syntax = WEFT_IMPORT_XML,
                      .begins = "<graphml>",
                  });
