// SPDX-License-Identifier: Apache-2.0
// The section `live`: hosts attached from outside, and how their time relates to the network's.

#include "base/param.h"
#include "base/tree.h"
#include "scenario/scenario.h"
#include "weft/param.h"

static const char *const lists[] = {"hosts", "qmp", NULL};
const struct weft_param_table weft_live_table = WEFT_PARAM_TABLE_OF(
    "live", struct weft_live_conf, .lists = lists,
    WEFT_UINT(struct weft_live_conf, slow, "slow", "10000", "0", "1000000000",
              "wall time over simulated time; 0: no wall clock, for a program (weft/drive.h)"),
    WEFT_TIME(struct weft_live_conf, delay_ps, "delay", "500ns", "0s", "1s",
              "what a frame of an attached host takes to its port, so that the run can be ahead of the wall clock by "
              "so much; at least two lookaheads"),
    WEFT_UINT(struct weft_live_conf, hold, "hold", "256", "1", "1000000",
              "frames of a host that wait at its attach point before its socket is not read any more (assumed: twice "
              "the 128 packets that a queue pair of soft RoCE has outstanding)"),
    WEFT_UINT(struct weft_live_conf, lateness_percent, "lateness", "10", "1", "1000",
              "most lateness of frames, in percent of the base round trip at its 99th percentile; above: timing does "
              "not hold, and the exit status says so (assumed)"),
    WEFT_UINT(struct weft_live_conf, page, "page", "0", "0", "65535",
              "port of 127.0.0.1 at which a browser shows the run while it goes on; 0: none"),
    WEFT_BYTES(struct weft_live_conf, record_bytes_max, "record_max", "16GB", "1MB", "1000TB",
               "size of live.pcapng, what hosts sent, at which the run ends (assumed)"));

static const char *live_host_check(const void *conf, char *text, size_t size) {
    const struct weft_live_host *h = conf;
    int ways = !!*h->unix_path + !!*h->dgram_path + !!*h->interface;
    if (ways > 1) return "more than one of unix, dgram and interface; expected one, or none for a program";
    if (*h->dgram_path && !*h->peer) return "dgram without peer; expected the socket of the host too";
    return NULL;
}
const struct weft_param_table weft_live_host_table = WEFT_PARAM_TABLE_OF(
    "live_host", struct weft_live_host, .check = live_host_check,
    WEFT_TEXT(struct weft_live_host, unix_path, "unix", "",
              "stream socket on which weft listens; 4 bytes of length before each frame, as of QEMU -netdev stream"),
    WEFT_TEXT(struct weft_live_host, dgram_path, "dgram", "",
              "datagram socket that weft reads, a frame each, as of QEMU -netdev dgram; needs `peer`"),
    WEFT_TEXT(struct weft_live_host, peer, "peer", "", "datagram socket of the host", .needs = "dgram"),
    WEFT_TEXT(
        struct weft_live_host, interface, "interface", "",
        "network interface of this machine whose frames are the host's, such as one end of a veth pair, or a tap"),
    WEFT_BYTES(
        struct weft_live_host, mtu_bytes, "mtu", "9000B", "68B", "65000B",
        "longest packet (without the Ethernet header) that the host takes; longer ones to it are dropped and counted"));

static enum weft_status load_hosts(const struct weft_tree *map, struct weft_live_conf *live, struct weft_arena *arena,
                                   struct weft__mistakes *mistakes, struct weft_error *ret_error) {
    if (!map || map->type != WEFT_TREE_MAP || !map->n || map->n > WEFT_LIVE_HOSTS_MAX)
        return WEFT_REFUSE(ret_error, map ? map->place : live->place,
                           "live.hosts: expected 1 to %d hosts, as in {host-0: {unix: h0.sock}}", WEFT_LIVE_HOSTS_MAX);
    live->host = weft_arena_alloc(arena, map->n, sizeof *live->host);
    live->hosts = map->n;
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < map->n && !status; i++) {
        char path[WEFT__PATH_MAX];
        weft__path_join(path, sizeof path, "live.hosts", map->child[i]->key);
        status = weft__params_load_all(&weft_live_host_table, map->child[i], path, &live->host[i], arena, mistakes,
                                       ret_error);
        live->host[i].name = map->child[i]->key;
        live->host[i].place = map->child[i]->key_place;
    }
    return status;
}

static enum weft_status load_qmp(const struct weft_tree *list, struct weft_live_conf *live, struct weft_arena *arena,
                                 struct weft_error *ret_error) {
    uint32_t n = list ? list->n : 0;
    bool texts = !list || (list->type == WEFT_TREE_LIST && n <= WEFT_LIVE_HOSTS_MAX);
    for (uint32_t i = 0; texts && i < n; i++)
        texts = list->child[i]->type == WEFT_TREE_TEXT;
    if (!texts)
        return WEFT_REFUSE(ret_error, list->place,
                           "live.qmp: expected a list of sockets of QEMU (-qmp unix:...), at most %d",
                           WEFT_LIVE_HOSTS_MAX);
    live->qmp = weft_arena_alloc(arena, n, sizeof *live->qmp);
    live->qmps = n;
    for (uint32_t i = 0; i < n; i++)
        live->qmp[i] = list->child[i]->text;
    return WEFT_OK;
}

enum weft_status weft__live_load(const struct weft_tree *tree, struct weft_live_conf *live, struct weft_arena *arena,
                                 struct weft__mistakes *mistakes, struct weft_error *ret_error) {
    enum weft_status status = weft__params_load_all(&weft_live_table, tree, "live", live, arena, mistakes, ret_error);
    if (status || !tree) return status;
    live->place = tree->place;
    status = load_hosts(weft__tree_section(tree, "hosts"), live, arena, mistakes, ret_error);
    return status ? status : load_qmp(weft__tree_section(tree, "qmp"), live, arena, ret_error);
}
