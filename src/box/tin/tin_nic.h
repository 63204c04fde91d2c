// SPDX-License-Identifier: Apache-2.0
// The NICs of a TiN that several hosts share. See tin_nic.c.
#pragma once

#include "link/ether.h"
#include "weft/tin.h"

struct weft__tin;

/// One NIC. `port`: those of its hosts, among the Ethernet ports of the TiN.
struct weft__tin_nic {
    uint32_t hosts;
    uint32_t port[WEFT__SHARERS];
    weft_time_ps busy_until_ps;
    struct weft__speed speed;
    struct weft__share share;
    struct weft__fifo waiting[WEFT__SHARERS]; ///< frames of hosts; time_ps: when their headers arrived
    weft_bytes waiting_bytes;
    struct weft__ether_group out; ///< towards the hosts
};

struct weft__tin_nics {
    uint32_t n;
    struct weft__tin_nic *nic;
    struct weft__tin_nic **of_port; ///< [Ethernet ports]; NULL: shares none
};

/// `nic`: [n], with hosts and port filled in.
struct weft__tin_nics *weft__tin_nics_new(const struct weft_tin_conf *conf, struct weft__tin_nic *nic, uint32_t n,
                                          uint32_t ports, struct weft_arena *arena);
/// Frames to hosts also share their NIC.
void weft__tin_nics_join(struct weft__tin_nics *nics, struct weft__ether *ether);
/// The header of a host's frame arrived.
void weft__tin_nic_on_frame(struct weft__node *node, struct weft__tin *tin, struct weft__worker *w,
                            struct weft_packet *p);
/// The NIC whose first port is `k` is free.
void weft__tin_nic_on_free(struct weft__node *node, struct weft__tin *tin, struct weft__worker *w, uint32_t k);
/// How long that many bytes take in the NIC of the port.
weft_time_ps weft__tin_nic_time(const struct weft__tin_nics *nics, uint32_t k, uint32_t bytes);
weft_bytes weft__tin_nics_held(const struct weft__tin_nics *nics);
