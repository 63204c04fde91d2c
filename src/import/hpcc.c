// SPDX-License-Identifier: Apache-2.0
// Topologies and flows of ns-3's RDMA simulators (import/hpcc_read.h), read in place, and their configuration.
//
// Differences. A host has one link: SimAI's GPUs have a second one, to the NVSwitch of their server, which becomes the
// network within a server; flows between GPUs of one server still use the network outside. The error rate of a link
// there is per packet; here bits are lost, at a rate that loses as many packets of `error_packet` bytes. A flow file
// with sequence numbers or dependencies beyond HPCC's six columns is refused.
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "import/hpcc_config.h"
#include "import/hpcc_read.h"
#include "import/hpcc_window.h"
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
    WEFT_BYTES(struct topology_conf, error_packet_bytes, "error_packet", "1048B", "64B", "10000B",
               "a link's loss rate applies to packets of this size (HPCC: 1000 B of payload, 48 of headers)"),
};
static const struct weft_param_table topology_params =
    WEFT_PARAM_TABLE_LISTS("hpcc", struct topology_conf, topology_rows, NULL, weft__topology_lists);

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

static const struct weft_param flows_rows[] = {WEFT__FLOW_FILE_ROWS("the flows")};
static const struct weft_param_table flows_params = WEFT_PARAM_TABLE("hpcc", struct weft__flow_file_conf, flows_rows);

static enum weft_status open_flows(void *state, const char *path, struct weft_place place,
                                   struct weft_error *ret_error) {
    return weft__hpcc_flows_open(state, path, place, ret_error);
}

static enum weft_status next_flow(void *state, struct weft__file_flow *ret_flow, bool *ret_more,
                                  struct weft_error *ret_error) {
    return weft__hpcc_flows_next(state, ret_flow, ret_more, ret_error);
}

static void close_flows(void *state) {
    weft__lines_close(&((struct weft__hpcc_flows *)state)->lines);
}

static enum weft_status hpcc_expand(const void *conf, struct weft_place place, const struct weft_topology *topology,
                                    uint64_t seed, uint32_t entry, struct weft_workload *w,
                                    struct weft_error *ret_error) {
    struct weft__hpcc_flows flows;
    const struct weft__flow_reader reader = {&flows, open_flows, next_flow, close_flows};
    return weft__flow_file_expand(conf, place, topology, &reader, w, ret_error);
}

static const struct weft_workload_ops flows_ops = {.expand = hpcc_expand};

const struct weft_model weft__workload_hpcc = {
    .kind = WEFT_KIND_WORKLOAD,
    .name = "hpcc",
    .summary =
        "a flow file of HPCC or SimAI (ns-3): source, destination, priority group, port (not in all), bytes, start",
    .source = source,
    .params = &flows_params,
    .ops = &flows_ops,
};

// --- import -------------------------------------------------------------------------------------------------------

enum { WORDS_MAX = 8 };

/// The number of words in a line; *ret_numbers: how many of them are numbers.
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
    if ((words == 6 || words == 5) && numbers == words) return "flows";
    return !*second && !strcmp(file->head, "0\n") ? "flows" : NULL;
}

static void note_rest(struct weft_import *import, const struct weft_import_file *file, int line, const char *last) {
    if (line)
        weft_import_note(import, WEFT_IMPORT_LEFT_OUT,
                         "%s: line %d and below, behind the last %s, which ns-3 ignores too", file->written, line,
                         last);
}

/// The values from the files that the configuration depends on.
struct rates {
    weft_rate_bps host_bps, port_bps; ///< of hosts, and the greatest of all links
    weft_bytes headroom_bytes;        ///< three times the data in flight on a link
    weft_bytes window_bytes;          ///< 0: not known
};

static weft_bytes headroom_of(weft_rate_bps rate_bps, weft_time_ps delay_ps) {
    return (weft_bytes)(3 * (double)rate_bps * (double)delay_ps / (8 * (double)WEFT_PS_PER_S));
}

static void find_rates(const struct weft__hpcc_topology *t, struct rates *rates) {
    for (uint32_t i = 0; i < t->links; i++) {
        const struct weft__hpcc_link *l = &t->link[i];
        if (t->role[l->src] == WEFT__HPCC_NVSWITCH || t->role[l->dst] == WEFT__HPCC_NVSWITCH) continue;
        bool host = t->role[l->src] == WEFT__HPCC_HOST || t->role[l->dst] == WEFT__HPCC_HOST;
        if (host && l->rate_bps > rates->host_bps) rates->host_bps = l->rate_bps;
        if (l->rate_bps > rates->port_bps) rates->port_bps = l->rate_bps;
        weft_bytes bytes = headroom_of(l->rate_bps, l->delay_ps);
        if (bytes > rates->headroom_bytes) rates->headroom_bytes = bytes;
    }
}

/// A host must have one link, not counting those to NVSwitches, which are omitted.
static enum weft_status check_hosts(const struct weft__hpcc_topology *t, const char *path, struct weft_arena *arena,
                                    struct weft_error *ret_error) {
    uint32_t *links = weft_arena_alloc(arena, t->nodes, sizeof *links);
    for (uint32_t i = 0; i < t->links; i++) {
        const struct weft__hpcc_link *l = &t->link[i];
        if (t->role[l->src] == WEFT__HPCC_NVSWITCH || t->role[l->dst] == WEFT__HPCC_NVSWITCH) continue;
        for (uint32_t end = 0; end < 2; end++) {
            uint32_t node = end ? l->dst : l->src;
            if (t->role[node] == WEFT__HPCC_HOST && links[node]++)
                return weft_error_set(ret_error, WEFT_ERROR_INPUT, l->place,
                                      "a second link of host %" PRIu32 "; expected one", node);
        }
    }
    for (uint32_t n = 0; n < t->nodes; n++)
        if (t->role[n] == WEFT__HPCC_HOST && !links[n])
            return weft_error_set(ret_error, WEFT_ERROR_INPUT, (struct weft_place){.file = path},
                                  "host %" PRIu32 " has no link; expected one", n);
    return WEFT_OK;
}

static enum weft_status make_topology(const struct weft_import_file *file, const struct weft__hpcc_config *c,
                                      struct weft_import *import, struct rates *rates,
                                      struct weft__hpcc_topology *ret_topology, struct weft_error *ret_error) {
    enum weft_status status =
        weft__hpcc_read_topology(file->path, WEFT_NOWHERE, weft_import_arena(import), ret_topology, ret_error);
    if (!status) status = check_hosts(ret_topology, file->path, weft_import_arena(import), ret_error);
    if (status) return status;
    const struct weft__hpcc_topology t = *ret_topology;
    uint32_t hosts = t.nodes - t.switches - t.nvswitches;
    bool lossy = false;
    for (uint32_t i = 0; i < t.links; i++)
        lossy |= t.link[i].error_rate > 0;
    find_rates(&t, rates);
    if (!c->window_off)
        rates->window_bytes = weft__hpcc_window(&t, c->mtu_bytes ? c->mtu_bytes : 1000, weft_import_arena(import));
    weft_import_say(import, WEFT_IMPORT_TOPOLOGY, "  kind: hpcc\n  file: %s\n",
                    weft_import_quote(import, file->written));
    weft_import_note(import, WEFT_IMPORT_FOUND, "%s: %s, %" PRIu32 " links; node N is host-N or switch-N",
                     file->written, weft_import_nodes(import, hosts, t.switches), t.links);
    note_rest(import, file, t.rest_line, "link");
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

/// `t`: the topology given; role NULL: none was given.
static enum weft_status check_flow(const struct weft__hpcc_topology *t, const struct weft__file_flow *f,
                                   struct weft_error *ret_error) {
    const uint64_t end[2] = {f->src, f->dst};
    if (f->src == f->dst)
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, f->place,
                              "a flow from host %" PRIu64 " to itself; expected two different hosts", f->src);
    for (uint32_t k = 0; k < 2 && t->role; k++) {
        if (end[k] >= t->nodes)
            return weft_error_set(ret_error, WEFT_ERROR_INPUT, f->place,
                                  "node %" PRIu64 ": the topology has %" PRIu32 " nodes", end[k], t->nodes);
        if (t->role[end[k]] != WEFT__HPCC_HOST)
            return weft_error_set(ret_error, WEFT_ERROR_INPUT, f->place,
                                  "node %" PRIu64 " is a switch of the topology; expected a host", end[k]);
    }
    return WEFT_OK;
}

static enum weft_status make_flows(const struct weft_import_file *file, const struct weft__hpcc_topology *t,
                                   struct weft_import *import, struct weft_error *ret_error) {
    struct weft__hpcc_flows flows;
    weft_bytes bytes = 0;
    enum weft_status status = weft__hpcc_flows_open(&flows, file->path, WEFT_NOWHERE, ret_error);
    if (status) return status;
    for (bool more = true; more && !status;) {
        struct weft__file_flow f = {0};
        status = weft__hpcc_flows_next(&flows, &f, &more, ret_error);
        if (status || !more) break;
        status = check_flow(t, &f, ret_error);
        weft_import_need_hosts(import, (uint32_t)(f.src > f.dst ? f.src : f.dst) + 1);
        bytes += f.bytes;
    }
    weft__lines_close(&flows.lines);
    if (status) return status;
    weft_import_say(import, WEFT_IMPORT_WORKLOAD, "- kind: hpcc\n  file: %s\n",
                    weft_import_quote(import, file->written));
    weft_import_note(import, WEFT_IMPORT_FOUND, "%s: %" PRIu64 " flows, %" PRIu64 " bytes", file->written, flows.n,
                     bytes);
    note_rest(import, file, flows.rest_line, "flow");
    if (flows.portless)
        weft_import_note(import, WEFT_IMPORT_ASSUMED, "destination port 100 for flows of five columns, without a port");
    return WEFT_OK;
}

// --- configuration ------------------------------------------------------------------------------------------------

enum { CC_DCQCN = 1 };

static void say_rate(struct weft_import *import, const char *key, weft_rate_bps rate) {
    char text[32];
    weft__quantity_format(WEFT__RATE, rate, text, sizeof text);
    weft_import_say(import, WEFT_IMPORT_HOST, "    %s: %s\n", key, text);
}

static void say_real(struct weft_import *import, const char *key, double value, const char *unit) {
    char text[32];
    if (!(value > 0)) return;
    weft__real_format(value, text, sizeof text);
    weft_import_say(import, WEFT_IMPORT_HOST, "    %s: %s%s\n", key, text, unit);
}

/// DCQCN of the hosts: from the configuration, else scaled with their rate as in HPCC's run script.
static void say_dcqcn(struct weft_import *import, const struct weft__hpcc_config *c, weft_rate_bps host_bps) {
    weft_import_say(import, WEFT_IMPORT_HOST, "  cc:\n    kind: dcqcn_connectx\n    preset: hpcc\n");
    say_rate(import, "additive_increase", c->ai_bps ? c->ai_bps : host_bps / 25 / 1000 * 5);
    say_rate(import, "hyper_increase", c->hai_bps ? c->hai_bps : host_bps / 25 / 1000 * 50);
    if (c->min_bps) say_rate(import, "min_rate", c->min_bps);
    say_real(import, "alpha_interval", c->alpha_us, "us");
    say_real(import, "cut_interval", c->decrease_us, "us");
    say_real(import, "increase_timer", c->increase_us, "us");
    say_real(import, "g", c->gain, "");
    say_real(import, "fast_recovery_stages", c->stages, "");
    if (c->has_clamp) weft_import_say(import, WEFT_IMPORT_HOST, "    clamp_target: %s\n", c->clamp ? "true" : "false");
    if (!c->ai_bps || !c->hai_bps)
        weft_import_note(
            import, WEFT_IMPORT_ASSUMED,
            "DCQCN's increase by the hosts' rate, as HPCC's run script has it: 5 and 50 Mbit/s for each 25 "
            "Gbit/s");
}

/// A configuration without HAS_WIN has a window.
static void say_window(struct weft_import *import, const struct weft__hpcc_config *c, weft_bytes window) {
    if (!window) {
        weft_import_note(
            import, WEFT_IMPORT_LEFT_OUT,
            "HAS_WIN: no topology, or one that is too large, to say how large the window is (host.window)");
        return;
    }
    weft_import_say(import, WEFT_IMPORT_HOST, "  window: %" PRIu64 "B\n", window);
    weft_import_note(import, WEFT_IMPORT_FOUND,
                     "a window of %" PRIu64 " bytes, the greatest bandwidth-delay product of two hosts (HAS_WIN)",
                     window);
    if (c->window_of_pair)
        weft_import_note(import, WEFT_IMPORT_LEFT_OUT, "GLOBAL_T 0: all pairs of hosts have the same window");
    if (c->window_varies)
        weft_import_note(import, WEFT_IMPORT_LEFT_OUT, "VAR_WIN: the window does not shrink with the rate");
}

static void say_host(struct weft_import *import, const struct weft__hpcc_config *c, const struct rates *rates) {
    weft_import_say(import, WEFT_IMPORT_HOST, "  preset: ns3_hpcc     # docs/peers.md\n  mtu: %" PRIu64 "B\n",
                    c->mtu_bytes ? c->mtu_bytes : 1000);
    if (!c->mtu_bytes)
        weft_import_note(import, WEFT_IMPORT_ASSUMED, "packets of 1000 B of payload, HPCC's default (mtu)");
    if (!c->qcn_off && (!c->cc_mode || c->cc_mode == CC_DCQCN)) {
        say_dcqcn(import, c, rates->host_bps);
        if (!c->cc_mode)
            weft_import_note(import, WEFT_IMPORT_ASSUMED, "DCQCN, as no configuration says CC_MODE (host.cc)");
        return;
    }
    weft_import_say(import, WEFT_IMPORT_HOST, "  cc: none\n");
    if (!c->qcn_off)
        weft_import_note(import, WEFT_IMPORT_LEFT_OUT,
                         "congestion control of CC_MODE %" PRIu64 ", which weft does not have: hosts send at line rate",
                         c->cc_mode);
}

/// Marking thresholds: those of the fastest link, and of ports of each rate where the configuration has several.
static void say_marking(struct weft_import *import, const struct weft__hpcc_config *c, const struct rates *rates) {
    double port = (double)rates->port_bps / 25e9, kmin = weft__hpcc_map_at(&c->kmin_kb, rates->port_bps),
           kmax = weft__hpcc_map_at(&c->kmax_kb, rates->port_bps), pmax = weft__hpcc_map_at(&c->pmax, rates->port_bps);
    bool own = !isnan(kmin) && !isnan(kmax);
    weft_import_say(import, WEFT_IMPORT_SWITCH, "  aqm: {kind: wred, preset: hpcc, min: %.0fB, max: %.0fB",
                    1000 * (own ? kmin : 100 * port), 1000 * (own ? kmax : 400 * port));
    if (!isnan(pmax)) weft_import_say(import, WEFT_IMPORT_SWITCH, ", max_probability: %g", pmax);
    for (uint32_t i = 0; own && c->kmin_kb.n > 1 && i < c->kmin_kb.n; i++) {
        char rate[32];
        weft_rate_bps bps = c->kmin_kb.rate_bps[i];
        weft__quantity_format(WEFT__RATE, bps, rate, sizeof rate);
        weft_import_say(import, WEFT_IMPORT_SWITCH, "%s%s %.0fB %.0fB", i ? ", " : ",\n    by_rate: [", rate,
                        1000 * c->kmin_kb.value[i], 1000 * weft__hpcc_map_at(&c->kmax_kb, bps));
        if (!isnan(pmax)) weft_import_say(import, WEFT_IMPORT_SWITCH, " %g", weft__hpcc_map_at(&c->pmax, bps));
    }
    weft_import_say(import, WEFT_IMPORT_SWITCH, "%s}\n", own && c->kmin_kb.n > 1 ? "]" : "");
    if (!own)
        weft_import_note(import, WEFT_IMPORT_ASSUMED,
                         "Kmin and Kmax by the rate of the fastest link, as HPCC's run script has them: 100 KB and "
                         "400 KB for each 25 Gbit/s");
}

static void say_switch(struct weft_import *import, const struct weft__hpcc_config *c, const struct rates *rates) {
    weft_import_say(import, WEFT_IMPORT_SWITCH, "  preset: ns3_hpcc     # docs/peers.md\n");
    if (c->qcn_off)
        weft_import_say(import, WEFT_IMPORT_SWITCH, "  aqm: none\n");
    else
        say_marking(import, c, rates);
    weft_import_say(import, WEFT_IMPORT_SWITCH, "  buffer: {total: %" PRIu64 "MiB}\n",
                    c->buffer_mb ? c->buffer_mb : 16);
    weft_import_note(import, WEFT_IMPORT_ASSUMED,
                     "headroom of each port as HPCC has it, three times rate x delay; on the longest link: %" PRIu64
                     " bytes. It may lose packets of more than 1000 B there too; more is switch.buffer.headroom",
                     rates->headroom_bytes);
    if (!c->buffer_mb) weft_import_note(import, WEFT_IMPORT_ASSUMED, "16 MiB of switch buffer (BUFFER_SIZE)");
}

static void say_config(struct weft_import *import, const struct weft__hpcc_config *c, const struct rates *rates) {
    char until[32];
    say_host(import, c, rates);
    if (!c->window_off) say_window(import, c, rates->window_bytes);
    say_switch(import, c, rates);
    if (c->until_s > 0 && c->until_s < 8640000) {
        weft__quantity_format(WEFT__TIME, (uint64_t)llround(c->until_s * (double)WEFT_PS_PER_S), until, sizeof until);
        weft_import_say(import, WEFT_IMPORT_RUN, "  until: %s\n", until);
    }
    if (*c->ignored) weft_import_note(import, WEFT_IMPORT_LEFT_OUT, "keys of the configuration:%s", c->ignored);
}

/// A path of the configuration, which means the folder that the simulator runs in: beside the configuration, or, as in
/// HPCC's own tree with its folder mix, the folder above.
static const char *find_path(const char *path, struct weft_place place, struct weft_import *import) {
    struct weft_arena *arena = weft_import_arena(import);
    const char *beside = weft__path_beside(path, place, arena);
    const char *above = weft__path_beside(weft_arena_format(arena, "../%s", path), place, arena);
    return *path != '/' && access(beside, F_OK) && !access(above, F_OK) ? above : beside;
}

/// Finds a file that the configuration names, unless the user gave one of that kind.
static enum weft_status find_named(const struct weft_import_file *config, const char *path, struct weft_place place,
                                   const char *what, struct weft_import *import, struct weft_import_file *room,
                                   const struct weft_import_file **file, struct weft_error *ret_error) {
    if (*file || !path) return WEFT_OK;
    place.file = config->path;
    enum weft_status status = weft_import_also(import, find_path(path, place, import), place, room, ret_error);
    if (!status && strcmp(room->what, what))
        status = weft_error_set(ret_error, WEFT_ERROR_INPUT, place, "%s is of the kind '%s'; expected %s", room->path,
                                room->what, what);
    *file = room;
    return status;
}

static enum weft_status hpcc_make(const void *conf, const struct weft_import_file *file, uint32_t files,
                                  struct weft_import *import, struct weft_error *ret_error) {
    const struct weft_import_file *topology = weft_import_find(file, files, "topology"),
                                  *flows = weft_import_find(file, files, "flows"),
                                  *config = weft_import_find(file, files, "configuration");
    const struct weft_import_common *common = conf;
    struct weft_import_file room[2];
    struct weft__hpcc_topology t = {.role = NULL};
    struct weft__hpcc_config c = {.ignored = "", .window_off = !config};
    struct rates rates = {.host_bps = common->rate_bps,
                          .port_bps = common->rate_bps,
                          .headroom_bytes = headroom_of(common->rate_bps, common->delay_ps)};
    enum weft_status status = weft_import_once(file, files, "topology", ret_error);
    if (!status) status = weft_import_once(file, files, "configuration", ret_error);
    if (!status && config) status = weft__hpcc_read_config(config->path, weft_import_arena(import), &c, ret_error);
    if (!status && config)
        status = find_named(config, c.topology, c.topology_place, "topology", import, &room[0], &topology, ret_error);
    if (!status && config)
        status = find_named(config, c.flows, c.flows_place, "flows", import, &room[1], &flows, ret_error);
    if (topology) rates = (struct rates){0};
    if (!status && topology) status = make_topology(topology, &c, import, &rates, &t, ret_error);
    if (!status && flows == &room[1]) status = make_flows(flows, &t, import, ret_error);
    for (uint32_t f = 0; f < files && !status; f++)
        if (!strcmp(file[f].what, "flows")) status = make_flows(&file[f], &t, import, ret_error);
    if (!status) say_config(import, &c, &rates);
    return status;
}

static const struct weft_import_ops import_ops = {
    .recognise = hpcc_recognise,
    .make = hpcc_make,
    .syntax = WEFT_IMPORT_TEXT,
    .begins = "\"nodes switches links\" as numbers, a number of flows and a line of 5 or 6 columns, or a key of its "
              "configuration",
};

const struct weft_model weft__import_hpcc = {
    .kind = WEFT_KIND_IMPORT,
    .name = "hpcc",
    .summary = "files of HPCC or SimAI (ns-3): topology, flows, configuration",
    .source = source,
    .params = &weft_import_table,
    .ops = &import_ops,
};
