// SPDX-License-Identifier: Apache-2.0
// The import of topologies, flows and configurations of ns-3's RDMA simulators.
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "import/hpcc/hpcc_read.h"
#include "weft/import.h"

enum { WORDS_MAX = 9 };

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

/// The forms of a topology's first line (hpcc_read.c).
static bool is_counts(uint32_t words, uint32_t numbers) {
    bool plain = words == numbers && (words == 3 || words == 4 || words == 6);
    return plain || (numbers == words - 1 && (words == 6 || words == 7));
}

static bool is_numbers(const char *line) {
    uint32_t numbers, words = count_words(line, &numbers);
    return words == numbers;
}

const char *weft__hpcc_recognise(const struct weft_import_file *file) {
    uint32_t numbers, words = count_words(file->head, &numbers);
    if (is_config(file->head)) return "configuration";
    const char *second = next_line(file->head);
    if (is_counts(words, numbers)) return is_numbers(second) ? "topology" : NULL;
    if (words != 1 || numbers != 1) return NULL;
    words = count_words(second, &numbers);
    if ((words == 6 || words == 5) && numbers == words) return "flows";
    return !*second && !strcmp(file->head, "0\n") ? "flows" : NULL;
}

/// `n`: how many the first line promises.
static void note_rest(struct weft_import *import, const struct weft_import_file *file,
                      const struct weft__hpcc_rest *rest, uint64_t n, const char *what) {
    if (rest->alike)
        weft_import_note(import, WEFT_IMPORT_LOST,
                         "%s: the first line promises %s, and %" PRIu64 " follow: those from line %d on are missing, "
                         "as in ns-3",
                         file->written, weft__counted(n, what).text, n + rest->alike, rest->line);
    else if (rest->line)
        weft_import_note(import, WEFT_IMPORT_LEFT_OUT,
                         "%s: line %d and below, behind the last %s, which ns-3 ignores too", file->written, rest->line,
                         what);
}

static weft_bytes headroom_of(weft_rate_bps rate_bps, weft_time_ps delay_ps) {
    return (weft_bytes)(3 * (double)rate_bps * (double)delay_ps / (8 * (double)WEFT_PS_PER_S));
}

static void find_rates(const struct weft__hpcc_topology *t, struct weft__hpcc_rates *rates) {
    for (uint32_t i = 0; i < t->links; i++) {
        const struct weft__hpcc_link *l = &t->link[i];
        if (weft__hpcc_is_nvlink(t, l)) continue;
        bool host = t->role[l->src] == WEFT__HPCC_HOST || t->role[l->dst] == WEFT__HPCC_HOST;
        if (host && l->rate_bps > rates->host_bps) rates->host_bps = l->rate_bps;
        if (l->rate_bps > rates->port_bps) rates->port_bps = l->rate_bps;
        weft_bytes bytes = headroom_of(l->rate_bps, l->delay_ps);
        if (bytes > rates->headroom_bytes) rates->headroom_bytes = bytes;
    }
}

/// "host-3", in a plane "plane-0-host-3"; lives as long as the import.
static const char *name_of(const struct weft__hpcc_topology *t, uint32_t node, uint32_t plane,
                           struct weft_import *import) {
    struct weft_arena *arena = weft_import_arena(import);
    const char *kind = t->role[node] == WEFT__HPCC_HOST ? "host" : "switch";
    return t->planes.n > 1 ? weft_arena_format(arena, "plane-%" PRIu32 "-%s-%" PRIu32, plane, kind, node)
                           : weft_arena_format(arena, "%s-%" PRIu32, kind, node);
}

/// The link fails at 2 s and so many microseconds, and routes are new at once.
static enum weft_status say_down(const struct weft__hpcc_topology *t, const struct weft__hpcc_config *c,
                                 const char *path, struct weft_import *import, struct weft_error *ret_error) {
    struct weft_place place = c->down_place;
    place.file = path;
    uint32_t link = 0, a = (uint32_t)c->down[1], b = (uint32_t)c->down[2];
    while (link < t->links && !(t->link[link].src == a && t->link[link].dst == b) &&
           !(t->link[link].src == b && t->link[link].dst == a))
        link++;
    if (link == t->links)
        return WEFT_REFUSE(ret_error, place,
                           "LINK_DOWN: no link between the nodes %" PRIu64 " and %" PRIu64 " of the topology",
                           c->down[1], c->down[2]);
    if (weft__hpcc_is_nvlink(t, &t->link[link])) {
        weft_import_note(import, WEFT_IMPORT_LOST, "LINK_DOWN: the link of an NVSwitch, which is left out");
        return WEFT_OK;
    }
    char at[32];
    weft__quantity_format(WEFT__TIME, 2 * WEFT_PS_PER_S + c->down[0] * WEFT_PS_PER_US, at, sizeof at);
    for (uint32_t p = 0; p < t->planes.n; p++)
        for (uint32_t i = 0; i < t->planes.links; i++)
            if (t->at[i] == link && (weft__planes_has(&t->planes, t->planes.link, i, p)))
                weft_import_say(import, WEFT_IMPORT_EVENTS, "- {at: %s, link: %s--%s, state: down}\n", at,
                                name_of(t, a, p, import), name_of(t, b, p, import));
    weft_import_say(import, WEFT_IMPORT_RUN, "  detection: 0ns     # LINK_DOWN: routes are new at once\n");
    return WEFT_OK;
}

#define SERVER_BPS_MAX UINT64_C(7200000000000)
#define SERVER_LATENCY_MIN (100 * WEFT_PS_PER_NS)

/// The network within servers: "{gpus: 8, rate: 2880Gbps, latency: 100ns}"; NULL: none.
static const char *server_of(const struct weft__hpcc_topology *t, struct weft_import *import) {
    enum { GPUS_MAX = 72 };
    uint32_t gpus = t->gpus_per_server, hosts = t->nodes - t->switches - t->nvswitches;
    if (t->nvlink_bps < 1000000000 || gpus < 2 || gpus > GPUS_MAX || hosts % gpus) return NULL;
    char rate[32], latency[32];
    weft_rate_bps bps = t->nvlink_bps > SERVER_BPS_MAX ? SERVER_BPS_MAX : t->nvlink_bps;
    weft_time_ps delay_ps = 2 * t->nvlink_delay_ps;
    snprintf(rate, sizeof rate, "%" PRIu64 "Gbps", bps / 1000000000);
    weft__quantity_format(WEFT__TIME, delay_ps < SERVER_LATENCY_MIN ? SERVER_LATENCY_MIN : delay_ps, latency,
                          sizeof latency);
    return weft_arena_format(weft_import_arena(import), "{gpus: %" PRIu32 ", rate: %s, latency: %s}", gpus, rate,
                             latency);
}

static void note_servers(const struct weft__hpcc_topology *t, struct weft_import *import) {
    const char *server = server_of(t, import);
    if (t->nvlink_only) weft_import_note(import, WEFT_IMPORT_FOUND, "no switches but NVSwitches: they are the network");
    if (!t->nvswitches) return;
    weft_import_choose_server(import, server);
    if (server)
        weft_import_note(import, WEFT_IMPORT_FOUND,
                         "%s: the network within servers of %" PRIu32 " %s each, which collectives and jobs have, not "
                         "flows: server: %s",
                         weft__counted(t->nvswitches, "NVSwitch").text, t->gpus_per_server, t->gpu_type, server);
    if (server && t->nvlink_bps > SERVER_BPS_MAX)
        weft_import_note(import, WEFT_IMPORT_LOST,
                         "NVLink of %" PRIu64 "Gbps: weft has 7200Gbps within a server at most",
                         t->nvlink_bps / 1000000000);
    if (server && t->nvlink_most_bps > t->nvlink_bps)
        weft_import_note(import, WEFT_IMPORT_LOST,
                         "NVLinks of up to %" PRIu64 "Gbps: all servers have the %" PRIu64 "Gbps of the slowest GPU",
                         t->nvlink_most_bps / 1000000000, t->nvlink_bps / 1000000000);
    if (server && 2 * t->nvlink_delay_ps < SERVER_LATENCY_MIN)
        weft_import_note(import, WEFT_IMPORT_ASSUMED,
                         "100ns of latency within servers, the least that weft has; two links there have %" PRIu64 "ns",
                         2 * t->nvlink_delay_ps / WEFT_PS_PER_NS);
    if (!server)
        weft_import_note(import, WEFT_IMPORT_LOST,
                         "%" PRIu32
                         " NVSwitches and their links: expected servers of 2 to 72 GPUs, all alike, and not of %" PRIu32
                         " for %" PRIu32 " hosts",
                         t->nvswitches, t->gpus_per_server, t->nodes - t->switches - t->nvswitches);
}

static enum weft_status make_topology(const struct weft_import_file *file, const struct weft_import_file *config,
                                      const struct weft__hpcc_config *c, struct weft_import *import,
                                      struct weft__hpcc_rates *rates, struct weft__hpcc_topology *t,
                                      struct weft_error *ret_error) {
    struct weft_arena *arena = weft_import_arena(import);
    enum weft_status status = weft__hpcc_read_topology(file->path, WEFT_NOWHERE, arena, t, ret_error);
    if (!status) status = weft__hpcc_find_planes(t, file->path, arena, ret_error);
    if (status) return status;
    uint32_t hosts = t->nodes - t->switches - t->nvswitches;
    bool lossy = c->error_rate > 0;
    for (uint32_t i = 0; i < t->links; i++)
        lossy |= t->link[i].error_rate > 0;
    find_rates(t, rates);
    rates->longest = weft__hpcc_window(t, c->mtu_bytes ? c->mtu_bytes : 1000, arena);
    weft_import_say(import, WEFT_IMPORT_TOPOLOGY, "  kind: hpcc\n  file: %s\n",
                    weft_import_quote(import, file->written));
    if (c->error_rate > 0)
        weft_import_say(import, WEFT_IMPORT_TOPOLOGY, "  error_rate: %.17g     # ERROR_RATE_PER_LINK\n", c->error_rate);
    weft_import_note(import, WEFT_IMPORT_FOUND, "%s: %s, %" PRIu32 " links; node N is host-N or switch-N",
                     file->written, weft_import_nodes(import, hosts, t->switches), t->links);
    note_rest(import, file, &t->rest, t->links, "link");
    if (lossy)
        weft_import_note(import, WEFT_IMPORT_ASSUMED,
                         "packets of 1048 bytes for the links' error rates, which are of packets (error_packet)");
    if (t->has_tors && config)
        weft_import_note(import, WEFT_IMPORT_ASSUMED,
                         "CC_MODE and HAS_WIN as the configuration has them: programs of ns3-datacenter take both from "
                         "their command line (--algorithm, --windowCheck), where --wien is PowerTCP, which weft does "
                         "not have");
    note_servers(t, import);
    return c->down[0] ? say_down(t, c, config->path, import, ret_error) : WEFT_OK;
}

/// `t`: the topology given; role NULL: none was given.
static enum weft_status check_flow(const struct weft__hpcc_topology *t, const struct weft__file_flow *f,
                                   struct weft_error *ret_error) {
    const uint64_t end[2] = {f->src, f->dst};
    if (f->src == f->dst)
        return WEFT_REFUSE(ret_error, f->place, "a flow from host %" PRIu64 " to itself; expected two different hosts",
                           f->src);
    for (uint32_t k = 0; k < 2 && t->role; k++) {
        if (end[k] >= t->nodes)
            return WEFT_REFUSE(ret_error, f->place, "node %" PRIu64 ": the topology has %" PRIu32 " nodes", end[k],
                               t->nodes);
        if (t->role[end[k]] != WEFT__HPCC_HOST)
            return WEFT_REFUSE(ret_error, f->place, "node %" PRIu64 " is a switch of the topology; expected a host",
                               end[k]);
    }
    return WEFT_OK;
}

static enum weft_status make_flows(const struct weft_import_file *file, const struct weft__hpcc_topology *t,
                                   struct weft_import *import, unsigned *priorities, struct weft_error *ret_error) {
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
        *priorities |= 1u << f.priority;
    }
    weft__lines_close(&flows.lines);
    if (status) return status;
    weft_import_say(import, WEFT_IMPORT_WORKLOAD, "- kind: hpcc\n  file: %s\n",
                    weft_import_quote(import, file->written));
    weft_import_note(import, WEFT_IMPORT_FOUND, "%s: %" PRIu64 " flows, %" PRIu64 " bytes", file->written, flows.n,
                     bytes);
    note_rest(import, file, &flows.rest, flows.n, "flow");
    if (flows.portless)
        weft_import_note(import, WEFT_IMPORT_ASSUMED, "destination port 100 for flows of five columns, without a port");
    return WEFT_OK;
}

/// Marking thresholds: those of the fastest link, and of ports of each rate where the configuration has several.
static void say_marking(struct weft_import *import, const struct weft__hpcc_config *c,
                        const struct weft__hpcc_rates *rates) {
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

static void say_switch(struct weft_import *import, const struct weft__hpcc_config *c,
                       const struct weft__hpcc_rates *rates) {
    weft_import_say(import, WEFT_IMPORT_SWITCH, "  preset: ns3_hpcc     # docs/peers.md\n");
    weft__hpcc_say_pfc(import, WEFT_IMPORT_SWITCH, c, rates);
    if (c->qcn_off)
        weft_import_say(import, WEFT_IMPORT_SWITCH, "  aqm: none     # ENABLE_QCN 0\n");
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

static void say_config(struct weft_import *import, const struct weft__hpcc_config *c,
                       const struct weft__hpcc_rates *rates) {
    char until[32];
    weft__hpcc_say_host(import, c, rates);
    say_switch(import, c, rates);
    if (c->until_s > 0 && c->until_s < 8640000) {
        weft__quantity_format(WEFT__TIME, (uint64_t)llround(c->until_s * (double)WEFT_PS_PER_S), until, sizeof until);
        weft_import_say(import, WEFT_IMPORT_RUN, "  until: %s\n", until);
    }
    if (rates->priorities & (rates->priorities - 1))
        weft_import_note(import, WEFT_IMPORT_LOST,
                         "flows of several priority groups: group 0 goes first there and the others in turn; here as "
                         "switch.scheduler and host.scheduler say");
    for (uint32_t i = 0; i < c->odds; i++)
        weft_import_note(import, WEFT_IMPORT_LOST, "%s", c->odd[i]);
    if (*c->unknown)
        weft_import_note(import, WEFT_IMPORT_LOST, "keys of the configuration that are not known:%s", c->unknown);
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
        status = WEFT_REFUSE(ret_error, place, "%s is of the kind '%s'; expected %s", room->path, room->what, what);
    *file = room;
    return status;
}

/// Configurations name files of the machine that the simulator runs on: where the user gives the topology, flows that
/// are not here are no error.
static bool lacks_flows(const struct weft_import_file *config, const struct weft__hpcc_config *c,
                        struct weft_import *import) {
    struct weft_place place = c->flows_place;
    place.file = config->path;
    if (!c->flows || !access(find_path(c->flows, place, import), F_OK)) return false;
    weft_import_note(import, WEFT_IMPORT_BROKEN, "FLOW_FILE: %s is not here, so its flows are missing", c->flows);
    return true;
}

enum weft_status weft__hpcc_make(const struct weft_import_common *common, const struct weft_import_file *file,
                                 uint32_t files, bool with_flows, struct weft_import *import,
                                 struct weft__hpcc_network *network, struct weft_error *ret_error) {
    const struct weft_import_file *topology = weft_import_find(file, files, "topology"),
                                  *flows = weft_import_find(file, files, "flows"),
                                  *config = weft_import_find(file, files, "configuration");
    struct weft_import_file room[2];
    struct weft__hpcc_topology t = {.role = NULL};
    struct weft__hpcc_config c = {.unknown = "", .window_off = !config};
    struct weft__hpcc_rates rates = {.host_bps = common->rate_bps,
                                     .port_bps = common->rate_bps,
                                     .headroom_bytes = headroom_of(common->rate_bps, common->delay_ps)};
    enum weft_status status = weft_import_once(file, files, "topology", ret_error);
    if (!status) status = weft_import_once(file, files, "configuration", ret_error);
    if (!status && config) status = weft__hpcc_read_config(config->path, weft_import_arena(import), &c, ret_error);
    if (!status && config)
        status = find_named(config, c.topology, c.topology_place, "topology", import, &room[0], &topology, ret_error);
    if (!status && config && with_flows && topology && !flows && topology != &room[0])
        with_flows = !lacks_flows(config, &c, import);
    if (!status && config && with_flows)
        status = find_named(config, c.flows, c.flows_place, "flows", import, &room[1], &flows, ret_error);
    if (topology) rates = (struct weft__hpcc_rates){0};
    if (!status && topology) status = make_topology(topology, config, &c, import, &rates, &t, ret_error);
    if (!status && !topology && c.down[0])
        weft_import_note(import, WEFT_IMPORT_LOST, "LINK_DOWN: no topology to say which link that is");
    if (!status && !topology && c.error_rate > 0)
        weft_import_note(import, WEFT_IMPORT_LOST, "ERROR_RATE_PER_LINK %g: no topology whose links have it",
                         c.error_rate);
    if (!status && flows == &room[1]) status = make_flows(flows, &t, import, &rates.priorities, ret_error);
    for (uint32_t f = 0; f < files && !status; f++)
        if (!strcmp(file[f].what, "flows")) status = make_flows(&file[f], &t, import, &rates.priorities, ret_error);
    if (!status) say_config(import, &c, &rates);
    *network = (struct weft__hpcc_network){.hosts = t.nodes - t.switches - t.nvswitches};
    if (status || !topology) return status;
    if (t.nvswitches) network->server = server_of(&t, import);
    network->chosen = weft__planes_say(&t.planes, import);
    return WEFT_OK;
}

static enum weft_status make_scenario(const void *conf, const struct weft_import_file *file, uint32_t files,
                                      struct weft_import *import, struct weft_error *ret_error) {
    struct weft__hpcc_network network;
    return weft__hpcc_make(conf, file, files, true, import, &network, ret_error);
}

const struct weft_model weft__import_hpcc = WEFT_MODEL_OF(
    IMPORT, "hpcc", "files of HPCC, SimAI or ns3-datacenter (ns-3): topology, flows, configuration",
    "scratch/third.cc of alibaba-edu/High-Precision-Congestion-Control; SimAI's form: "
    "aliyun/ns-3-alibabacloud; PowerTCP's and Reverie's: inet-tub/ns3-datacenter",
    &weft_import_table,
    &(const struct weft_import_ops){
        .recognise = weft__hpcc_recognise,
        .make = make_scenario,
        .syntax = WEFT_IMPORT_TEXT,
        .begins =
            "\"nodes switches links\" as numbers (or one of its other forms), a number of flows and a line of 5 or 6 "
            "columns, or a key of its "
            "configuration",
    });
