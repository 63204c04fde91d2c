// SPDX-License-Identifier: Apache-2.0
// An engine whose workers are spread over several processes (weft/ranks.h), each with a contiguous part of the workers.
// After a window each rank sends every other rank its workers' reports and the packets that they have put into inboxes
// there. The receiving rank puts these into the logs of the destination worker, as if that worker had sent them to
// itself. Records beside packets travel with them, and so does everything else that their receiver will read.
#pragma once

#include "engine/engine.h"
#include "weft/ranks.h"

enum { WEFT__COMPANION_BYTES = 512 }; ///< upper bound of the data of one packet

/// Data that is written where a packet is sent and read where it arrives, but is neither in the packet nor in its
/// record.
struct weft__companions {
    void *context;
    /// Returns its size in bytes, 0 for none. The bytes are put into `room`, or *ret points to them.
    uint32_t (*give)(void *context, const struct weft_packet *packet, unsigned char *room, const unsigned char **ret);
    void (*take)(void *context, const struct weft_packet *packet, const unsigned char *bytes, uint32_t n);
};

/// What a worker reports to the others at a barrier.
struct weft__report {
    uint64_t next_window;
    int64_t under_way_bytes;
    uint64_t started, finished;
    weft_time_ps progress_ps;
    uint64_t count[WEFT__COUNTS_SHOWN];
    uint32_t events; ///< in the last window
    bool interrupt, pausing, failed;
    bool sides;     ///< in the last window it held records of other workers
    char apart[64]; ///< no two workers write to one cache line
};
/// The sum over workers first to end - 1.
struct weft__report weft__reports_sum(const struct weft__report *report, uint32_t first, uint32_t end);
/// Whether no worker has made progress for too long, given that none does until `time`.
bool weft__reports_stalled(const struct weft__engine *engine, const struct weft__report *all, weft_time_ps time);

struct weft__exchange; ///< an engine's

/// Determines which workers belong to this rank: engine->own_first to own_end - 1. Without ranks, all of them.
void weft__exchange_init(struct weft__engine *engine);
void weft__exchange_deinit(struct weft__engine *engine);
/// Between windows, while no worker runs: takes the packets for other ranks out of the logs; when the local workers
/// have reported, sends all of it and receives what the others sent. `report`: of all workers.
void weft__exchange_pack(struct weft__engine *engine);
void weft__exchange_swap(struct weft__engine *engine, struct weft__report *report);
/// The reports of the local workers and of all other ranks.
struct weft__report weft__exchange_sum(const struct weft__engine *engine, const struct weft__report *own);
/// Called in a new process that continues a run: what was sent and received belongs to the old one.
void weft__exchange_renew(struct weft__engine *engine);
/// After the run: drops what belongs to this rank alone, so that the image sent to another rank does not contain it
/// (base/image.h).
void weft__exchange_forget(struct weft__engine *engine);
/// The rank that a worker belongs to.
uint32_t weft__exchange_rank_of(const struct weft__engine *engine, uint32_t worker);
