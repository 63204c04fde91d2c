// SPDX-License-Identifier: Apache-2.0
#include "base/order.h"
#include "sim/run.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/stream.h"
#include "base/units.h"
#include "box/box.h"
#include "engine/ranks.h"
#include "sim/frames.h"
#include "weft/memory.h"
#include "weft/packet.h"
#include "weft/pcapng.h"
#include "weft/sim.h"
#include "weft/wire.h"

enum {
    RECORDS_MAX = 1 << 18,  // per worker, in memory: 12 MiB
    HEADERS_SNAPLEN = 1514, // control frames are kept whole, and LLDP can be long
    DRAFT_BYTES = 32,       // room for what the name of a draft adds to that of the file
    NAMED_HOSTS_MAX = 65536 // with more hosts, names would be most of a small file
};

struct weft__capture {
    const struct weft__network *net;
    char *path, *folder;
    const char *draft;
    FILE *file;
    const struct weft__cell_capture *cells; ///< NULL: frames
    uint32_t ports;
    uint32_t *port;      ///< [interfaces]
    uint32_t *interface; ///< [ports], or WEFT_NONE
    struct weft__spool *spool;
    struct weft__tap_log *log; ///< one per worker
    weft_bytes left_bytes;     ///< of the size limit
    struct weft__frames frames;
    struct weft_arena *arena;
    struct weft_memory_cleanup cleanup;
};

WEFT__ORDER(by_time, struct weft__tapped, WEFT__UP(packet.time_ps) ?: WEFT__UP(packet.node) ?: WEFT__UP(packet.port))

static const char *folder_of(struct weft_arena *arena, const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash) return ".";
    return slash == path ? "/" : weft_arena_format(arena, "%.*s", (int)(slash - path), path);
}

static enum weft_status cannot_write(const struct weft__capture *c, int number, struct weft_error *ret_error) {
    return weft_error_set(ret_error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE, "cannot write '%s': %s", c->path,
                          strerror(number));
}

/// If all went well, the draft has been renamed by now.
static void drop_draft(void *context) {
    struct weft__capture *c = context;
    if (c->file) fclose(c->file);
    if (*c->draft) unlink(c->draft);
}

/// In a run over ranks only the first one writes, but all ranks must have the same memory layout (base/image.h).
static const char *name_draft(const struct weft__capture *c) {
    const struct weft_ranks *ranks = c->net->engine.conf.ranks;
    size_t room = strlen(c->path) + DRAFT_BYTES;
    char *name = weft_arena_alloc(c->arena, room, 1);
    WEFT_SCRATCH(scratch, WEFT_MEMORY_SERIES);
    const char *draft = weft_arena_alloc(scratch, 1, 1);
    if (!ranks || !ranks->self) draft = weft__draft_name(c->path, scratch);
    memcpy(name, draft, strnlen(draft, room - 1));
    return name;
}

/// The complete capture replaces the file of its name, which may be a regular file but no device, pipe or folder.
static enum weft_status open_draft(struct weft__capture *c, struct weft_error *ret_error) {
    struct stat there;
    if (!stat(c->path, &there) && !S_ISREG(there.st_mode))
        return weft_error_set(ret_error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE, "cannot write '%s': it is not a regular file",
                              c->path);
    c->file = weft__file_open(c->draft, "wb");
    return c->file ? WEFT_OK : cannot_write(c, errno, ret_error);
}

enum weft_status weft__capture_new(const struct weft__network *net, const char *path,
                                   struct weft__capture **ret_capture, struct weft_error *ret_error) {
    const struct weft_scenario *scenario = net->scenario;
    const struct weft_topology *t = net->topology;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SERIES);
    struct weft__capture *c = weft_arena_alloc(arena, 1, sizeof *c);
    c->net = net;
    c->arena = arena;
    c->path = weft_arena_text(arena, path);
    c->draft = name_draft(c);
    enum weft_status status =
        weft_topology_select_ports(t, scenario->capture.ports, scenario->capture_place, &c->port, &c->ports, ret_error);
    if (!status && c->ports && weft_topology_link_is_fabric(t, t->port[c->port[0]].link))
        c->cells = weft__box_at(t, c->port[0])->cells;
    weft_memory_cleanup_add(&c->cleanup, drop_draft, c);
    if (!status && *c->draft) status = open_draft(c, ret_error);
    if (status) {
        weft_memory_cleanup_remove(&c->cleanup);
        weft_arena_free(arena);
        return status;
    }
    c->interface = weft_arena_alloc(arena, t->ports, sizeof *c->interface);
    memset(c->interface, 0xff, t->ports * sizeof *c->interface);
    for (uint32_t i = 0; i < c->ports; i++)
        c->interface[c->port[i]] = i;
    uint32_t workers = net->engine.conf.workers;
    struct weft_pcapng_packet least = {.captured = c->cells ? c->cells->bytes_min : WEFT__FRAME_WRITTEN_MIN};
    weft_time_ps to = scenario->capture.until_ps;
    if (scenario->run.until_ps < to) to = scenario->run.until_ps;
    c->spool = weft_arena_alloc(arena, workers, sizeof *c->spool);
    c->log = weft__arena_lines(arena, workers, sizeof *c->log);
    for (uint32_t w = 0; w < workers; w++) {
        weft__spool_init(&c->spool[w], sizeof(struct weft__tapped), RECORDS_MAX, by_time, folder_of(arena, path));
        c->log[w] = (struct weft__tap_log){
            .spool = &c->spool[w],
            .limit = scenario->capture.limit_bytes / weft_pcapng_packet_bytes(&least) + 1,
            .from_ps = scenario->capture.from_ps,
            .to_ps = to, // a frame that ends later is still in flight when the run ends
        };
    }
    c->left_bytes = scenario->capture.limit_bytes;
    weft__frames_init(&c->frames);
    c->frames.topology = t;
    c->frames.qp = net->qp;
    c->frames.qp_numbers = net->hosts.qp_numbers;
    c->frames.raw = net->raw;
    c->frames.lldp = net->lldp;
    c->frames.cnp_mark = scenario->capture.cnp_mark;
    c->frames.routed = scenario->capture.switches == WEFT_CAPTURE_ROUTERS;
    const struct weft_host_conf *host =
        &weft_scenario_device(scenario, t->node[t->host[0]].name)->host; // all hosts are alike
    c->frames.framing_bytes = net->hosts.framing_bytes;
    c->frames.roce = host->roce;
    c->frames.vlan = (uint16_t)host->vlan;
    const struct weft_transport_ops *transport = host->transport.model->ops;
    c->frames.format = weft__transport_frames(transport);
    c->frames.ordered = transport->in_order && transport->in_order(host->transport.conf);
    c->frames.headers = scenario->capture.content == WEFT_CAPTURE_HEADERS;
    *ret_capture = c;
    return WEFT_OK;
}

struct weft__port_tap *weft__capture_tap(const struct weft__network *net, uint32_t port, struct weft_arena *arena) {
    const struct weft__capture *c = net->capture;
    const struct weft_topology *t = net->topology;
    if (!c) return NULL;
    assert(port < t->ports);
    uint32_t sent_on = c->interface[port], received_on = c->interface[t->port[port].peer];
    if (sent_on == WEFT_NONE && received_on == WEFT_NONE) return NULL;
    struct weft__port_tap *tap = weft_arena_alloc(arena, 1, sizeof *tap);
    *tap = (struct weft__port_tap){
        .log = &c->log[weft__engine_worker_of(&net->engine, weft__network_actor(net, t->port[port].node))],
        .sent_on = sent_on,
        .received_on = received_on,
        .link_delay_ps = t->link[t->port[port].link].delay_ps,
    };
    return tap;
}

static void write_head(struct weft__capture *c) {
    const struct weft_scenario *s = c->net->scenario;
    const struct weft_topology *t = c->net->topology;
    struct weft_arena *arena = c->arena;
    const char *comment =
        weft_arena_format(arena, "%s%s%s, seed %llu; simulated time from 0; frames stamped when complete at the port",
                          s->name, *s->variant ? ", variant " : "", s->variant, (unsigned long long)s->run.seed);
    weft_pcapng_write_section(c->file, "weft " WEFT_VERSION, comment);
    for (uint32_t i = 0; i < c->ports; i++) {
        const struct weft_port_info *port = &t->port[c->port[i]];
        const struct weft_node_info *node = &t->node[port->node];
        char name[160], peer[160], rate[32], delay[32];
        uint8_t mac[6];
        weft_topology_port_name(t, c->port[i], name, sizeof name);
        weft_topology_port_name(t, port->peer, peer, sizeof peer);
        weft_format_rate(t->link[port->link].rate_bps, rate, sizeof rate);
        weft_format_time(t->link[port->link].delay_ps, delay, sizeof delay);
        weft_address_mac(c->port[i], mac);
        struct weft_pcapng_interface interface = {
            .link = c->cells ? WEFT_PCAPNG_USER0 : WEFT_PCAPNG_ETHERNET,
            .name = name,
            .description = weft_arena_format(arena, "to %s, %s, %s", peer, rate, delay),
            .rate_bps = t->link[port->link].rate_bps,
            .snaplen = c->frames.headers ? HEADERS_SNAPLEN : 0,
            .mac = mac,
            .ipv4 = node->role == WEFT_NODE_HOST ? weft_address_ipv4(node->index) : 0,
        };
        weft_pcapng_write_interface(c->file, &interface);
    }
    for (uint32_t h = 0; h < t->hosts && t->hosts <= NAMED_HOSTS_MAX; h++)
        weft_pcapng_write_name(c->file, weft_address_ipv4(h), t->node[t->host[h]].name);
}

/// False: the limit is reached. No later frame is written then, even if it is smaller.
static bool write_frame(struct weft__capture *c, const struct weft__tapped *tapped, uint8_t *bytes) {
    const struct weft_packet *record = &tapped->packet;
    bool sent = record->port >= WEFT__TAP_SENT;
    uint32_t port = c->port[record->node], loss = record->port - (sent ? WEFT__TAP_SENT : 0u);
    uint32_t sender = sent ? port : c->net->topology->port[port].peer;
    size_t written = c->cells ? c->cells->build(c->net, record, sender, bytes)
                              : weft__frames_build(&c->frames, record, &tapped->sack, sender, bytes);
    char comment[64];
    if (loss) snprintf(comment, sizeof comment, "lost on the link: %s", weft_drop_names[loss - 1]);
    struct weft_pcapng_packet packet = {
        .interface = record->node,
        .time_ns = record->time_ps / WEFT_PS_PER_NS,
        .bytes = c->cells ? (uint32_t)written : record->bytes - WEFT_FCS_BYTES,
        .captured = (uint32_t)written,
        .frame = bytes,
        .direction = sent ? WEFT_PCAPNG_OUTBOUND : WEFT_PCAPNG_INBOUND,
        .comment = loss ? comment : NULL,
    };
    if (weft_pcapng_packet_bytes(&packet) > c->left_bytes) {
        c->left_bytes = 0;
        return false;
    }
    c->left_bytes -= weft_pcapng_packet_bytes(&packet);
    weft_pcapng_write_packet(c->file, &packet);
    return true;
}

enum weft_status weft__capture_finish(struct weft__capture *c, struct weft_outcome *outcome,
                                      struct weft_error *ret_error) {
    uint32_t workers = c->net->engine.conf.workers;
    uint8_t *bytes = weft_arena_alloc(c->arena, WEFT__FRAME_BYTES_MAX, 1);
    errno = 0;
    write_head(c);
    struct weft__merge *merge = weft__merge_new(c->spool, workers);
    for (const struct weft__tapped *record; !ferror(c->file) && (record = weft__merge_next(merge));)
        if (c->left_bytes && write_frame(c, record, bytes))
            outcome->captured++;
        else
            outcome->capture_left_out++;
    int number = ferror(c->file) ? errno : 0; // why the write failed, as closing may well succeed
    weft__merge_free(merge);
    for (uint32_t w = 0; w < workers; w++) {
        outcome->capture_left_out += c->log[w].left_out;
        if (c->spool[w].error) number = c->spool[w].error;
    }
    errno = 0;
    bool written = !ferror(c->file);
    written &= !fclose(c->file);
    c->file = NULL;
    if (!number && (!written || rename(c->draft, c->path))) number = errno ? errno : EIO;
    return number ? cannot_write(c, number, ret_error) : WEFT_OK;
}

// --- over ranks ---------------------------------------------------------------------------------------------------

struct line {
    struct weft_ranks *ranks;
    uint32_t other;
};

static void send_bytes(void *context, const void *bytes, size_t n) {
    const struct line *line = context;
    line->ranks->send(line->ranks, line->other, bytes, n);
}

static void receive_bytes(void *context, void *bytes, size_t n) {
    const struct line *line = context;
    line->ranks->receive(line->ranks, line->other, bytes, n);
}

void weft__capture_hand_over(const struct weft__capture *c) {
    const struct weft__engine *e = &c->net->engine;
    struct line line = {e->conf.ranks, 0};
    for (uint32_t w = e->own_first; w < e->own_end; w++)
        weft__spool_send(&c->spool[w], send_bytes, &line);
}

void weft__capture_take_over(const struct weft__capture *c, uint32_t rank) {
    const struct weft__engine *e = &c->net->engine;
    struct line line = {e->conf.ranks, rank};
    for (uint32_t w = 0; w < e->conf.workers; w++)
        if (weft__exchange_rank_of(e, w) == rank) weft__spool_receive(&c->spool[w], receive_bytes, &line);
}

void weft__capture_free(struct weft__capture *c) {
    if (!c) return;
    weft_memory_cleanup_remove(&c->cleanup);
    drop_draft(c);
    for (uint32_t w = 0; w < c->net->engine.conf.workers; w++)
        weft__spool_deinit(&c->spool[w]);
    weft_arena_free(c->arena);
}

// How large a capture is going to be, computed before anything runs: the data frames of all flows, each counted at
// every recorded port on its path.

/// [ports]: how many of the link's two ends are recorded.
static uint8_t *find_recorded(const struct weft_scenario *s, const struct weft_topology *t, struct weft_arena *arena) {
    uint32_t *port, ports;
    struct weft_error error = {0};
    if (weft_topology_select_ports(t, s->capture.ports, s->capture_place, &port, &ports, &error)) return NULL;
    if (ports && weft_topology_link_is_fabric(t, t->port[*port].link)) return NULL;
    uint8_t *recorded = weft_arena_alloc(arena, t->ports, sizeof *recorded);
    for (uint32_t i = 0; i < ports; i++) {
        recorded[port[i]]++;
        recorded[t->port[port[i]].peer]++;
    }
    return recorded;
}

/// The bytes in the file of a queue pair's data frames, at one port.
static weft_bytes bytes_of(const struct weft_scenario *s, const struct weft_topology *t, const struct weft_flow *f) {
    uint64_t mtu = weft_scenario_device(s, t->node[t->host[f->src]].name)->host.mtu_bytes;
    uint64_t share = f->bytes / f->qps, packets = (share + mtu - 1) / mtu;
    bool headers = s->capture.content == WEFT_CAPTURE_HEADERS;
    struct weft_pcapng_packet none = {.captured = 0}, head = {.captured = WEFT_FRAME_DATA - WEFT_FCS_BYTES};
    weft_bytes each = headers ? weft_pcapng_packet_bytes(&head) : weft_pcapng_packet_bytes(&none) + head.captured;
    return packets * each + (headers ? 0 : share);
}

weft_bytes weft_capture_expected_bytes(const struct weft_scenario *scenario, const struct weft_topology *topology,
                                       const struct weft_workload *workload) {
    if (!*scenario->capture.ports) return 0;
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    const uint8_t *recorded = find_recorded(scenario, topology, arena);
    uint64_t paths = 0;
    weft_bytes bytes = 0;
    const struct weft_path *path = recorded ? weft_paths_trace(scenario, topology, workload, arena, &paths) : NULL;
    for (uint64_t i = 0; i < paths; i++) {
        uint32_t times = 0;
        for (uint32_t h = 0; h < path[i].hops; h++)
            times += recorded[path[i].port[h]];
        if (times) bytes += times * bytes_of(scenario, topology, &workload->flow[path[i].flow]);
    }
    return bytes;
}
