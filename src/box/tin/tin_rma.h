// SPDX-License-Identifier: Apache-2.0
// 1RMA in the TiN: clients of its hosts, their requests to others, and requests of others to its hosts. See tin_rma.c.
#pragma once

#include "box/tin/gnet_switch.h"
#include "transport/rma.h"
#include "weft/cc.h"

/// Where hosts are at TiNs.
struct weft__tin_rma_places {
    const uint16_t *tin_of_host; ///< WEFT_TIN_NONE: in no Clique
    const uint16_t *at_tin;      ///< a host's number among those of its TiN
};

/// A pace that a congestion control sets.
struct weft__tin_pace {
    void *cc;
    weft_rate_bps rate_bps;
    weft_time_ps next_ps;
};

/// A path from a client to a server: operations wait for its pace, then, in turn with other paths, for the client's.
struct weft__tin_path {
    struct weft__tin_pace remote;
    uint32_t first, last;
    uint32_t after; ///< next in the client's list of paths that may go on by their own pace
    bool ready;     ///< in that list
};

struct weft__tin_client {
    struct weft__rma_client *core;
    uint8_t host; ///< among those of the TiN
    struct weft__tin_pace local;
    struct weft__tin_path *path; ///< [servers of the entry]
    uint32_t ready_first, ready_last;
    uint32_t key0; ///< timers: enum client_timer, then of the paths
};

enum weft__tin_request_state {
    WEFT__TIN_FREE,
    WEFT__TIN_COMMANDED,
    WEFT__TIN_WAITING,
    WEFT__TIN_ASKED,
    WEFT__TIN_LANDING
};

/// A request of this TiN to another: what a client wants, or the data of a write that another TiN announced.
struct weft__tin_request {
    weft_time_ps submitted_ps, dispatched_ps;
    uint32_t before, after; ///< in the list of unanswered ones, oldest first
    uint32_t client;        ///< of this TiN; WEFT_NONE: the data of a write
    uint32_t op;            ///< the client's; for the data of a write, the slot at its announcer
    uint16_t use;           ///< use count of the slot, modulo 2^12: identifies outdated answers
    uint16_t bytes, left;   ///< requested; not yet arrived
    uint16_t tin, their_use;
    uint8_t host, their_host, state, verb, priority;
    bool bulk; ///< in the VCs of bulk IP
};

/// A host's side: its PCIe, and the software of its clients.
struct weft__tin_host {
    struct weft__rma_processor processor;
    struct weft__fifo work;  ///< of the software: time_ps: when done; qp: client; psn: operation; flags: enum work
    struct weft__fifo reads; ///< reads of its memory, one after another: time_ps: earliest start; other fields as in
                             ///< the cells to send
    weft_time_ps pcie_free_ps;
    uint32_t left; ///< bytes of the first read not yet sent
};

struct weft__tin_rma {
    const struct weft_tin_rma_conf *conf;
    struct weft__tin_rma_places places;
    const struct weft__rma_run *run;
    struct weft__gnet *gnet;
    struct weft_packet_pool *pool;
    uint32_t self, hosts, clients, key0;
    struct weft__tin_host *host;
    const uint16_t *port_of_host;
    struct weft__tin_client *client;
    struct weft__tin_request *request;
    uint32_t requests, free;
    uint32_t asked_first, asked_last;              ///< requests in progress
    struct weft__fifo commanded, waiting, landing; ///< slots of requests: qp; psn: use
    weft_bytes solicited_bytes, solicited_bytes_max;
    uint64_t late; ///< cells that arrived for requests already given up
};

struct weft__tin_rma_setup {
    const struct weft_tin_rma_conf *conf;
    struct weft__tin_rma_places places;
    const struct weft__rma_run *run;
    struct weft__gnet *gnet;
    struct weft_packet_pool *pool;
    uint32_t self, hosts, clients, key0;
    struct weft__rma_client *const *client; ///< [clients]
    const uint8_t *client_host;             ///< [clients]: numbers of their hosts at this TiN
    const uint16_t *port_of_host;           ///< [hosts] of the node
    struct weft_arena *arena;
};
struct weft__tin_rma *weft__tin_rma_new(const struct weft__tin_rma_setup *setup);
/// Timers, from setup->key0 on.
uint32_t weft__tin_rma_keys(const struct weft__tin_rma *rma);
void weft__tin_rma_start(struct weft__node *node, struct weft__tin_rma *rma);
void weft__tin_rma_on_cell(struct weft__node *node, struct weft__tin_rma *rma, struct weft__worker *w,
                           const struct weft_packet *cell);
void weft__tin_rma_on_timer(struct weft__node *node, struct weft__tin_rma *rma, struct weft__worker *w, uint32_t key);
void weft__tin_rma_deinit(struct weft__tin_rma *rma);
