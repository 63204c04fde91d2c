// SPDX-License-Identifier: Apache-2.0
// An engine whose workers are spread over several processes (weft/ranks.h), a contiguous part of the workers each.
// After a window each rank sends every other what its workers report and the packets that they have put into inboxes
// there; these come to the logs of the worker that they are for, as if it had sent them to itself. Records beside
// packets travel with them, and so does what else their receiver will read.
#ifndef WEFT_ENGINE_RANKS_H
#define WEFT_ENGINE_RANKS_H

#include "engine/engine.h"
#include "weft/ranks.h"

enum { WEFT__COMPANION_BYTES = 512 }; ///< that there is room for

/// What is read where a packet arrives and was written where it came from, neither in the packet nor in its record.
struct weft__companions {
    void *context;
    /// How many bytes it has, 0: nothing. They are put into `room`, or *ret tells where they are.
    uint32_t (*give)(void *context, const struct weft_packet *packet, unsigned char *room, const unsigned char **ret);
    void (*take)(void *context, const struct weft_packet *packet, const unsigned char *bytes, uint32_t n);
};

/// What a worker tells the others at a barrier.
struct weft__report {
    uint64_t next_window;
    int64_t under_way_bytes;
    uint64_t started, finished;
    weft_time_ps progress_ps;
    uint64_t count[WEFT__COUNTS_SHOWN];
    uint32_t events; ///< in the last window
    bool interrupt, pausing, failed;
    bool sides;     ///< in the last window it had records of other workers
    char apart[64]; ///< no two workers write one cache line
};
/// Of workers first to end - 1.
struct weft__report weft__reports_sum(const struct weft__report *report, uint32_t first, uint32_t end);

struct weft__exchange; ///< an engine's

/// Which workers are this rank's: engine->own_first to own_end - 1. All of them without ranks.
void weft__exchange_init(struct weft__engine *engine);
void weft__exchange_deinit(struct weft__engine *engine);
/// Between windows, while no worker runs: takes the packets for others out of the logs; when the own workers have
/// reported, sends all, and takes what comes. `report`: of all workers.
void weft__exchange_pack(struct weft__engine *engine);
void weft__exchange_swap(struct weft__engine *engine, struct weft__report *report);
/// What the own workers and those of all other ranks told.
struct weft__report weft__exchange_sum(const struct weft__engine *engine, const struct weft__report *own);
/// In another process than that which began: what was sent and received stayed there.
void weft__exchange_renew(struct weft__engine *engine);
/// After the run: all that is of this rank alone, for the image of another to do without (base/image.h).
void weft__exchange_forget(struct weft__engine *engine);
/// The rank that a worker belongs to.
uint32_t weft__exchange_rank_of(const struct weft__engine *engine, uint32_t worker);

#endif
