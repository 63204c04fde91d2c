// SPDX-License-Identifier: Apache-2.0
// Fat trees and connection matrices of htsim (import/htsim/htsim_read.h), read in place.
//
// Differences. weft refuses a radix that does not fit, as htsim does, and a file whose meaning htsim leaves undefined
// (two tiers with several pods). A failed link l of an aggregation switch is its l-th link upwards, as htsim wires
// them; htsim accepts failures of other switches in a file and then stops: here, link l of a ToR switch is its l-th
// upwards, of a core switch its l-th downwards. In a bundle the first link fails, as in htsim. Queue lengths are
// specific to htsim and are omitted. A trigger takes some time (trigger_delay), because hosts in weft communicate by
// messages.
#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/units.h"
#include "import/htsim/htsim_read.h"
#include "topology/builder.h"
#include "weft/import.h"
#include "weft/param.h"
#include "workload/trigger.h"

static const char source[] = "sim/datacenter of Broadcom/csg-htsim: fat_tree_topology.cpp, connection_matrix.cpp";
static const char *const layers[] = {"tor", "agg", "core"};

// --- topology -----------------------------------------------------------------------------------------------------

struct topology_conf {
    const char *file;
};
static const struct weft_param_table topology_params =
    WEFT_PARAM_TABLE_OF("htsim", struct topology_conf, .lists = weft__topology_lists,
                        WEFT_TEXT(struct topology_conf, file, "file", NULL, "the fat tree; relative to the scenario"));

/// Node numbers of the builder, by number in the file.
struct numbers {
    uint32_t *host, *tor, *agg, *core;
};

static void add_nodes(const struct weft__htsim_topology *t, struct weft_topology_builder *b, struct numbers *n) {
    uint64_t pod_tors = t->tors, hosts = t->tier[WEFT__HTSIM_TOR].radix_down;
    for (uint64_t pod = 0; pod < t->pods; pod++) {
        uint32_t pod_number = t->tiers == 2 ? WEFT_NONE : (uint32_t)pod;
        for (uint64_t i = pod * pod_tors; i < (pod + 1) * pod_tors; i++) {
            n->tor[i] = weft__topology_add_numbered(b, WEFT_NODE_SWITCH, layers[0], 1, pod_number, i);
            for (uint64_t h = i * hosts; h < (i + 1) * hosts; h++)
                n->host[h] = weft__topology_add_numbered(b, WEFT_NODE_HOST, "host", 0, pod_number, h);
        }
        for (uint64_t i = pod * t->aggs; i < (pod + 1) * t->aggs; i++)
            n->agg[i] = weft__topology_add_numbered(b, WEFT_NODE_SWITCH, layers[1], 2, pod_number, i);
    }
    for (uint64_t i = 0; i < t->cores; i++)
        n->core[i] = weft__topology_add_numbered(b, WEFT_NODE_SWITCH, layers[2], 3, WEFT_NONE, i);
}

static struct weft__line line_of(const struct weft__htsim_tier *tier, struct weft_topology_builder *b) {
    b->place = tier->place;
    return (struct weft__line){tier->rate_gbps * UINT64_C(1000000000), tier->delay_ns * WEFT_PS_PER_NS, 0};
}

/// In the order in which htsim adds ports.
static void add_links(const struct weft__htsim_topology *t, struct weft_topology_builder *b, const struct numbers *n) {
    const struct weft__htsim_tier *agg = &t->tier[WEFT__HTSIM_AGG], *core = &t->tier[WEFT__HTSIM_CORE];
    struct weft__line line = line_of(&t->tier[WEFT__HTSIM_TOR], b);
    for (uint64_t h = 0; h < t->nodes; h++)
        weft__topology_connect(b, n->tor[h / t->tier[WEFT__HTSIM_TOR].radix_down], n->host[h], line);
    line = line_of(agg, b);
    for (uint64_t i = 0; i < t->pods * t->tors; i++)
        for (uint64_t a = i / t->tors * t->aggs; a < (i / t->tors + 1) * t->aggs; a++)
            weft__topology_connect_times(b, n->tor[i], n->agg[a], agg->bundle, line);
    if (t->tiers == 2) return;
    line = line_of(core, b);
    for (uint64_t a = 0; a < t->pods * t->aggs; a++)
        for (uint64_t up = 0; up < agg->radix_up / core->bundle; up++)
            weft__topology_connect_times(b, n->agg[a], n->core[a % t->aggs + t->aggs * up], core->bundle, line);
}

static enum weft_status htsim_build(const void *conf, const struct weft_tree *tree, struct weft_topology_builder *b,
                                    struct weft_error *ret_error) {
    const struct topology_conf *c = conf;
    struct weft__htsim_topology t;
    enum weft_status status =
        weft__htsim_read_topology(weft__path_beside(c->file, b->place, b->arena), b->place, &t, ret_error);
    if (status) return status;
    uint64_t tors = weft__times(t.pods, t.tors), aggs = weft__times(t.pods, t.aggs);
    uint64_t links = weft__plus(weft__times(tors, t.tier[WEFT__HTSIM_TOR].radix_up),
                                weft__times(aggs, t.tier[WEFT__HTSIM_AGG].radix_up));
    uint64_t nodes = weft__plus(weft__plus(t.nodes, tors), weft__plus(aggs, t.cores));
    WEFT_TRY(weft__topology_check_size(b, nodes, weft__plus(t.nodes, links), ret_error));
    struct numbers n = {.host = weft_arena_alloc(b->arena, t.nodes, sizeof(uint32_t)),
                        .tor = weft_arena_alloc(b->arena, tors, sizeof(uint32_t)),
                        .agg = weft_arena_alloc(b->arena, aggs, sizeof(uint32_t)),
                        .core = weft_arena_alloc(b->arena, t.cores, sizeof(uint32_t))};
    add_nodes(&t, b, &n);
    add_links(&t, b, &n);
    return WEFT_OK;
}

const struct weft_model weft__topology_htsim = WEFT_MODEL_OF(
    TOPOLOGY, "htsim", "a fat tree of htsim (.topo): host-N, tor-N, agg-N and core-N as htsim numbers them", source,
    &topology_params, &(const struct weft_topology_ops){.build = htsim_build});

// --- flows --------------------------------------------------------------------------------------------------------

/// The workload's parameters.
struct flows_conf {
    struct weft__flow_file_conf flows;
    weft_time_ps trigger_ps;
};
static const struct weft_param_table flows_params = WEFT_PARAM_TABLE_OF(
    "htsim", struct flows_conf, WEFT_PARAM_UNCHECKED, WEFT__FLOW_FILE_ROWS("the connection matrix"),
    WEFT_TIME(struct flows_conf, trigger_ps, "trigger_delay", "100ns", "2ns", "1ms",
              "time from the activation of a trigger to the start of its flows (assumed; none in htsim); values below "
              "the links' delays slow the simulator down"));

/// Arguments that the functions below share.
struct expansion {
    const struct flows_conf *conf;
    struct weft_place place;
    struct weft__htsim_matrix matrix;
    struct weft__trigger_builder triggers;
    struct weft_workload *workload;
};

static void use_trigger(struct weft__trigger_builder *b, uint32_t flow, uint64_t id, enum weft__trigger_role role,
                        struct weft_place place) {
    if (id) weft__triggers_use(b, &(struct weft__trigger_use){(uint32_t)id, flow, role, place});
}

/// `flow`: its number in the workload.
static void use_triggers(struct weft__trigger_builder *b, uint32_t flow, const struct weft__htsim_flow *f) {
    use_trigger(b, flow, f->trigger, WEFT__TRIGGER_WAITS, f->file.place);
    use_trigger(b, flow, f->send_done, WEFT__TRIGGER_ACKED, f->file.place);
    use_trigger(b, flow, f->recv_done, WEFT__TRIGGER_DELIVERED, f->file.place);
}

static void add_trigger(struct weft__trigger_builder *b, const struct weft__htsim_trigger *t) {
    weft__triggers_add(b, &(struct weft__trigger_named){(uint32_t)t->id, t->kind, (uint32_t)t->count, t->place});
}

static enum weft_status open_matrix(void *state, const char *path, struct weft_place place,
                                    struct weft_error *ret_error) {
    struct expansion *x = state;
    return weft__htsim_matrix_open(&x->matrix, path, place, ret_error);
}

static enum weft_status check_repeat(const struct expansion *x, const struct weft__htsim_flow *f,
                                     struct weft_error *ret_error) {
    uint64_t repeat = x->conf->flows.common.repeat;
    if (repeat == 1 || (!f->trigger && !f->send_done && !f->recv_done)) return WEFT_OK;
    return WEFT_REFUSE(ret_error, x->place, "repeat: %" PRIu64 " of flows with triggers; expected 1", repeat);
}

/// The flow will be the workload's next one. Failures are events, which the importer writes.
static enum weft_status next_flow(void *state, struct weft__file_flow *ret_flow, bool *ret_more,
                                  struct weft_error *ret_error) {
    struct expansion *x = state;
    struct weft__htsim_entry e;
    enum weft_status status;
    do {
        e = (struct weft__htsim_entry){.kind = WEFT__HTSIM_END};
        status = weft__htsim_matrix_next(&x->matrix, &e, ret_error);
        if (!status && e.kind == WEFT__HTSIM_TRIGGER) add_trigger(&x->triggers, &e.trigger);
    } while (!status && e.kind != WEFT__HTSIM_FLOW && e.kind != WEFT__HTSIM_END);
    *ret_more = e.kind == WEFT__HTSIM_FLOW;
    if (status) return status;
    if (!*ret_more) return weft__triggers_finish(&x->triggers, x->conf->trigger_ps, x->workload, ret_error);
    *ret_flow = e.flow.file;
    use_triggers(&x->triggers, x->workload->flows, &e.flow);
    return check_repeat(x, &e.flow, ret_error);
}

static void close_matrix(void *state) {
    struct expansion *x = state;
    weft__triggers_free(&x->triggers);
    weft__lines_close(&x->matrix.lines);
}

static enum weft_status htsim_expand(const void *conf, struct weft_place place, const struct weft_topology *topology,
                                     uint64_t seed, uint32_t entry, struct weft_workload *w,
                                     struct weft_error *ret_error) {
    struct expansion x = {.conf = conf, .place = place, .workload = w};
    const struct weft__flow_reader reader = {&x, open_matrix, next_flow, close_matrix};
    return weft__flow_file_expand(conf, place, topology, &reader, w, ret_error);
}

const struct weft_model weft__workload_htsim =
    WEFT_MODEL_OF(WORKLOAD, "htsim",
                  "the flows of a connection matrix of htsim (.cm); its failures are events, which weft import writes",
                  source, &flows_params, &(const struct weft_workload_ops){.expand = htsim_expand});

// --- import -------------------------------------------------------------------------------------------------------

/// A line that begins with the word, in any case.
static bool has_key(const char *text, const char *key) {
    size_t n = strlen(key);
    for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
        if (!strncasecmp(text, key, n) && isblank((unsigned char)text[n])) return true;
    return false;
}

static const char *htsim_recognise(const struct weft_import_file *file) {
    if (!has_key(file->head, "nodes")) return NULL;
    if (has_key(file->head, "connections")) return "flows";
    return has_key(file->head, "tiers") || has_key(file->head, "podsize") ? "topology" : NULL;
}

/// A switch adds its latency between the last bit of a frame and its queue, which weft calls processing.
static void say_latencies(const struct weft__htsim_topology *t, struct weft_import *import) {
    bool alike = true;
    for (uint64_t i = 1; i < t->tiers; i++)
        alike = alike && t->tier[i].latency_ns == t->tier[0].latency_ns;
    if (alike) weft_import_say(import, WEFT_IMPORT_SWITCH, "  processing: %" PRIu64 "ns\n", t->tier[0].latency_ns);
    for (uint64_t i = 0; i < t->tiers && !alike; i++)
        weft_import_say(import, WEFT_IMPORT_DEVICES, "- {match: \"%s-*\", switch: {processing: %" PRIu64 "ns}}\n",
                        layers[i], t->tier[i].latency_ns);
}

/// Settings that htsim_roce takes from its command line, not from files.
struct htsim_conf {
    struct weft_import_common common;
    weft_bytes mtu_bytes;
    uint64_t pfc_low, pfc_high;
    weft_time_ps end_ps;
};

static const char *import_check(const void *conf, char *text, size_t size) {
    const struct htsim_conf *c = conf;
    if (c->pfc_low <= c->pfc_high) return NULL;
    return WEFT_SAY(text, size, "pfc_low is %" PRIu64 ", pfc_high %" PRIu64 "; expected no more than it", c->pfc_low,
                    c->pfc_high);
}
static const struct weft_param_table import_table = WEFT_PARAM_TABLE_OF(
    "htsim", struct htsim_conf, .check = import_check, WEFT_IMPORT_ROWS(struct htsim_conf),
    WEFT_BYTES(struct htsim_conf, mtu_bytes, "mtu", "9000B", "64B", "10240B", "payload of a packet (htsim: -mtu)"),
    WEFT_UINT(struct htsim_conf, pfc_low, "pfc_low", "12", "1", "1999",
              "a paused queue resumes below this many packets (htsim: -pfc_thresholds)"),
    WEFT_UINT(struct htsim_conf, pfc_high, "pfc_high", "15", "1", "1999",
              "a queue is paused above this many packets (htsim: -pfc_thresholds)"),
    WEFT_TIME(struct htsim_conf, end_ps, "end", "1ms", "1ns", "1000s",
              "end of the run, if there are flows without an end, which are those of size 0 (htsim: -end)"));

/// RoCE as main_roce.cpp runs it. Its queues compare bytes of frames with bytes of payload.
static void say_presets(const struct htsim_conf *c, struct weft_import *import) {
    weft_import_say(import, WEFT_IMPORT_HOST, "  preset: htsim     # docs/peers-htsim.md\n  mtu: %" PRIu64 "B\n",
                    c->mtu_bytes);
    weft_import_say(import, WEFT_IMPORT_SWITCH,
                    "  preset: htsim     # docs/peers-htsim.md\n  buffer: {xoff: %" PRIu64 "B, xon: %" PRIu64
                    "B, size: %" PRIu64 "B}\n",
                    c->pfc_high * c->mtu_bytes, c->pfc_low * c->mtu_bytes - 1, 2000 * c->mtu_bytes);
    weft_import_note(import, WEFT_IMPORT_ASSUMED,
                     "what htsim_roce's command line says: packets of %" PRIu64 " B (mtu), a queue is paused above "
                     "%" PRIu64 " packets (pfc_high) and goes on below %" PRIu64 " (pfc_low)",
                     c->mtu_bytes, c->pfc_high, c->pfc_low);
}

static enum weft_status make_topology(const struct weft_import_file *file, struct weft_import *import,
                                      struct weft__htsim_topology *t, struct weft_error *ret_error) {
    enum weft_status status =
        weft__htsim_read_topology(file->path, (struct weft_place){.file = file->path}, t, ret_error);
    if (status) return status;
    bool queues = false;
    weft_import_say(import, WEFT_IMPORT_TOPOLOGY, "  kind: htsim\n  file: %s\n",
                    weft_import_quote(import, file->written));
    weft_import_note(import, WEFT_IMPORT_FOUND,
                     "%s: %" PRIu64 " hosts in %" PRIu64 " pods, %" PRIu64 " ToR, %" PRIu64 " aggregation and %" PRIu64
                     " core switches",
                     file->written, t->nodes, t->pods, t->pods * t->tors, t->pods * t->aggs, t->cores);
    say_latencies(t, import);
    for (uint64_t i = 0; i < t->tiers; i++)
        queues |= t->tier[i].queue_up || t->tier[i].queue_down;
    if (queues)
        weft_import_note(import, WEFT_IMPORT_LOST,
                         "Queue_Up and Queue_Down: packet memory is that of weft's switches (switch.buffer)");
    return WEFT_OK;
}

/// How many switches a tier has, how many links each of them that may fail, the port of the first one and, of one to
/// the next, how many ports.
struct failing {
    uint64_t switches, links, port0, bundle;
};
static struct failing failing_of(const struct weft__htsim_topology *t, uint32_t tier) {
    const struct weft__htsim_tier *tor = &t->tier[WEFT__HTSIM_TOR], *agg = &t->tier[WEFT__HTSIM_AGG],
                                  *core = &t->tier[WEFT__HTSIM_CORE];
    if (tier == WEFT__HTSIM_TOR) return (struct failing){t->pods * t->tors, t->aggs, tor->radix_down, agg->bundle};
    if (!t->cores) return (struct failing){0};
    if (tier == WEFT__HTSIM_AGG)
        return (struct failing){t->pods * t->aggs, agg->radix_up / core->bundle, agg->radix_down, core->bundle};
    return (struct failing){t->cores, t->pods, 0, core->bundle};
}

static enum weft_status say_failure(const struct weft__htsim_failure *f, const struct weft__htsim_topology *t,
                                    struct weft_import *import, struct weft_error *ret_error) {
    if (!t->tiers)
        return WEFT_REFUSE(ret_error, f->place,
                           "a failed link; expected the fat tree (.topo) as well, which says where it is");
    struct failing x = failing_of(t, f->tier);
    if (!x.switches)
        return WEFT_REFUSE(ret_error, f->place,
                           "a failed link of an %s switch; in a fat tree of two tiers expected one of a ToR switch",
                           layers[f->tier]);
    if (f->number >= x.switches || f->link >= x.links)
        return WEFT_REFUSE(ret_error, f->place,
                           "link %" PRIu64 " of %s-%" PRIu64 "; expected a link below %" PRIu64
                           " of a switch below %" PRIu64,
                           f->link, layers[f->tier], f->number, x.links, x.switches);
    weft_import_say(import, WEFT_IMPORT_EVENTS, "- {at: 0s, link: %s-%" PRIu64 "/%" PRIu64 ", state: down}\n",
                    layers[f->tier], f->number, x.port0 + f->link * x.bundle);
    return WEFT_OK;
}

/// Triggers are checked as when the workload is made, except whose flows they are.
static enum weft_status check_triggers(struct weft__trigger_builder *b, uint32_t flows, struct weft_error *ret_error) {
    WEFT_SCRATCH(scratch, WEFT_MEMORY_SCENARIO);
    struct weft_workload w = {
        .flows = flows, .flow = weft_arena_alloc(scratch, flows, sizeof *w.flow), .arena = scratch};
    return weft__triggers_finish(b, WEFT_TRIGGER_DELAY_MIN_PS, &w, ret_error);
}

static enum weft_status read_flows(struct weft__htsim_matrix *matrix, const struct weft__htsim_topology *t,
                                   struct weft_import *import, weft_bytes *ret_bytes, uint64_t *ret_endless,
                                   struct weft_error *ret_error) {
    struct weft__htsim_entry e = {.kind = WEFT__HTSIM_FLOW};
    struct weft__trigger_builder triggers = {0};
    enum weft_status status = WEFT_OK;
    while (!status && e.kind != WEFT__HTSIM_END) {
        status = weft__htsim_matrix_next(matrix, &e, ret_error);
        if (!status && e.kind == WEFT__HTSIM_FAILURE) status = say_failure(&e.failure, t, import, ret_error);
        if (!status && e.kind == WEFT__HTSIM_TRIGGER) add_trigger(&triggers, &e.trigger);
        if (status || e.kind != WEFT__HTSIM_FLOW) continue;
        use_triggers(&triggers, (uint32_t)matrix->flows_read - 1, &e.flow);
        *ret_bytes = weft__plus(*ret_bytes, e.flow.file.bytes);
        *ret_endless += !e.flow.file.bytes;
    }
    if (!status) status = check_triggers(&triggers, (uint32_t)matrix->flows_read, ret_error);
    weft__triggers_free(&triggers);
    return status;
}

/// What has been said of the run.
struct said {
    bool failed, endless;
};

static void say_endless(const struct htsim_conf *c, const char *file, uint64_t flows, struct weft_import *import,
                        struct said *said) {
    char end[32];
    weft_format_time(c->end_ps, end, sizeof end);
    if (!said->endless) weft_import_say(import, WEFT_IMPORT_RUN, "  until: %s\n", end);
    said->endless = true;
    weft_import_note(import, WEFT_IMPORT_ASSUMED,
                     "%s: %s of size 0, without an end: the run ends at %s, as htsim_roce's does without -end (end)",
                     file, weft__counted(flows, "flow").text, end);
}

static enum weft_status make_flows(const struct htsim_conf *c, const struct weft_import_file *file,
                                   const struct weft__htsim_topology *t, struct weft_import *import, struct said *said,
                                   struct weft_error *ret_error) {
    struct weft__htsim_matrix matrix;
    weft_bytes bytes = 0;
    uint64_t endless = 0;
    enum weft_status status =
        weft__htsim_matrix_open(&matrix, file->path, (struct weft_place){.file = file->path}, ret_error);
    if (status) return status;
    status = read_flows(&matrix, t, import, &bytes, &endless, ret_error);
    if (!status && t->tiers && matrix.nodes != t->nodes)
        status = WEFT_REFUSE(ret_error, matrix.nodes_place,
                             "Nodes %" PRIu64 ", but the fat tree has %" PRIu64 "; expected as many", matrix.nodes,
                             t->nodes);
    weft__lines_close(&matrix.lines);
    if (status) return status;
    weft_import_need_hosts(import, (uint32_t)matrix.nodes);
    if (matrix.failures && !said->failed) {
        weft_import_say(import, WEFT_IMPORT_RUN, "  detection: 0ns # htsim knows of failed links from the beginning\n");
        said->failed = true;
    }
    weft_import_say(import, WEFT_IMPORT_WORKLOAD, "- kind: htsim\n  file: %s\n",
                    weft_import_quote(import, file->written));
    weft_import_note(import, WEFT_IMPORT_FOUND,
                     "%s: %" PRIu64 " flows, %" PRIu64 " bytes, %" PRIu64 " triggers, %" PRIu64 " failed links",
                     file->written, matrix.flows, bytes, matrix.triggers, matrix.failures);
    if (endless) say_endless(c, file->written, endless, import, said);
    if (matrix.triggers)
        weft_import_note(import, WEFT_IMPORT_ASSUMED,
                         "a trigger starts its flows 100 ns after its activation (trigger_delay); in htsim at once");
    return WEFT_OK;
}

static enum weft_status htsim_make(const void *conf, const struct weft_import_file *file, uint32_t files,
                                   struct weft_import *import, struct weft_error *ret_error) {
    const struct weft_import_file *topology = weft_import_find(file, files, "topology");
    struct weft__htsim_topology t = {0};
    struct said said = {0};
    enum weft_status status = weft_import_once(file, files, "topology", ret_error);
    if (!status) say_presets(conf, import);
    if (!status && topology) status = make_topology(topology, import, &t, ret_error);
    for (uint32_t f = 0; f < files && !status; f++)
        if (!strcmp(file[f].what, "flows")) status = make_flows(conf, &file[f], &t, import, &said, ret_error);
    return status;
}

const struct weft_model weft__import_htsim = WEFT_MODEL_OF(
    IMPORT, "htsim", "files of htsim: a fat tree (.topo), connection matrices (.cm)", source, &import_table,
    &(const struct weft_import_ops){
        .recognise = htsim_recognise,
        .make = htsim_make,
        .syntax = WEFT_IMPORT_TEXT,
        .begins = "lines \"Nodes N\" and \"Connections N\", or \"Tiers N\"",
    });
