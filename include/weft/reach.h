// SPDX-License-Identifier: Apache-2.0
// Reachability in a disaggregated scheduled fabric (DSF), and input balanced mode: which of its links a device lets its
// neighbours use towards each destination. An agent is the control plane of one device, a pure function of its
// inputs: no clock, no allocation. Source and differences: src/control/dsf/reach.c.
//
// A destination is an interface node (RDSW, EDSW); destinations and devices are numbered from 0 by the caller. Levels:
// 0 interface node, 1 fabric node next to interface nodes (FDSW), 2 fabric node between clusters (SDSW). Cells go up
// and then down: a device of level 1 reaches destinations of its own cluster by its links to them and all others by its
// links to level 2; level 2 reaches a destination by its links to that cluster.
#pragma once

#include "weft/random.h"

enum {
    WEFT_REACH_BLOCK = 32,                        ///< destinations in a cell
    WEFT_REACH_LINKS_MAX = 512,                   ///< of a device
    WEFT_REACH_WORDS = WEFT_REACH_LINKS_MAX / 64, ///< of a set of links
};

/// A link of a device, as it is wired.
struct weft_reach_link {
    uint32_t peer;         ///< device
    uint32_t peer_dest;    ///< if that is an interface node, its destination number; else WEFT_NONE
    uint32_t peer_cluster; ///< WEFT_NONE for level 2
    uint8_t peer_level;
};

struct weft_reach_setup {
    uint64_t seed;
    uint32_t who; ///< the device: names its random numbers
    uint8_t level;
    uint32_t cluster;
    uint32_t self; ///< level 0: own destination number
    uint32_t links, dests;
    const struct weft_reach_link *link; ///< [links], borrowed
    const uint32_t *dest_cluster;       ///< [dests], borrowed
    bool balance;                       ///< input balanced mode
    const uint16_t *pick;               ///< [picks] links that it withdraws before others, in this order; borrowed
    uint32_t picks;
    bool last_resort; ///< where balancing would leave no link at all towards a destination that has a path, one is used
};

/// Input capacity against output capacity for a destination, of one group of input links.
struct weft_reach_balance {
    uint32_t dest;
    uint32_t wired_in, wired_out; ///< links
    uint32_t up_in, up_out;       ///< of those, not failed
    uint32_t in;                  ///< input capacity: links that the neighbours may use
    uint32_t out;                 ///< output capacity: links that the neighbours let us use
};

/// Outputs of an agent, called while it handles an input; all required.
struct weft_reach_out {
    void *context;
    /// What the agent says on `link` of `dest` has changed: see weft_reach_cell.
    void (*on_said)(void *context, uint32_t link, uint32_t dest);
    /// Cells for `dest` may now leave on `link`, or no longer.
    void (*on_usable)(void *context, uint32_t link, uint32_t dest, bool usable);
    /// A group of inputs was balanced anew: `links` (a bit each) were withdrawn, or opened again. `before`: as the
    /// group stood with the output that there is now.
    void (*on_balance)(void *context, const struct weft_reach_balance *before, const uint64_t *links, bool opened);
};

struct weft_reach_agent;
/// Bytes that an agent needs; 8-byte aligned, the caller's.
size_t weft_reach_agent_size(const struct weft_reach_setup *setup);
/// All links up, everything open: the state in which a healthy fabric rests.
struct weft_reach_agent *weft_reach_agent_init(void *memory, const struct weft_reach_setup *setup);

/// A link goes down, or is up again. Down: what the peer said is forgotten.
void weft_reach_on_link(struct weft_reach_agent *a, uint32_t link, bool up, const struct weft_reach_out *out);
/// A reachability cell came in: a bit for each destination of the block of 32 that begins with 32 * block. `open`: the
/// peer takes cells for it on this link. `held`: it has a path, but keeps this link back to balance its input.
void weft_reach_on_cell(struct weft_reach_agent *a, uint32_t link, uint32_t block, uint32_t open, uint32_t held,
                        const struct weft_reach_out *out);
/// An interface node is to be reached, or not (drained, isolated).
void weft_reach_on_admin(struct weft_reach_agent *a, bool reachable, const struct weft_reach_out *out);
/// What the agent says in the cell of this block now.
void weft_reach_cell(const struct weft_reach_agent *a, uint32_t link, uint32_t block, uint32_t *ret_open,
                     uint32_t *ret_held);

/// Cells for `dest` may leave on `link`.
bool weft_reach_usable(const struct weft_reach_agent *a, uint32_t link, uint32_t dest);
bool weft_reach_up(const struct weft_reach_agent *a, uint32_t link);
/// The peer at `link` may send cells for `dest`.
bool weft_reach_open(const struct weft_reach_agent *a, uint32_t link, uint32_t dest);
/// Groups of input links for `dest`; group i of them.
uint32_t weft_reach_groups(const struct weft_reach_agent *a, uint32_t dest);
struct weft_reach_balance weft_reach_group(const struct weft_reach_agent *a, uint32_t dest, uint32_t i);
/// Input links that the output of `b` allows: all of it, or, where more inputs than outputs are wired, the same share.
uint32_t weft_reach_calc_limit(const struct weft_reach_balance *b);
/// Cells for `dest` leave by a link that the peer keeps back, because it is the only way.
bool weft_reach_resorts(const struct weft_reach_agent *a, uint32_t dest);
