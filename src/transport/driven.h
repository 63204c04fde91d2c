// SPDX-License-Identifier: Apache-2.0
// A host that a program outside of the simulation drives (weft/drive.h): flows that it adds during the run, and the
// events that it must be told about. The host's node pauses after each such event, keeps the rest of its window, and
// continues when the program has been told (sim/drive.c).
#pragma once

#include "base/grow.h"
#include "transport/qp.h"
#include "weft/drive.h"

#include "engine/engine.h"

/// Notices for the program, in the order in which they arose.
struct weft__notice {
    weft_time_ps time_ps;
    enum weft_drive_event event;
    uint32_t what; ///< a flow; for TIME, a timer of the driver; for FRAME, its number
};

/// An action scheduled at a host: ordered by time, then by when it was requested.
struct weft__due {
    weft_time_ps time_ps;
    uint64_t serial;
    enum weft_drive_event event; ///< TIME or CANCELLED
    uint32_t what;
};

struct weft__driver;

struct weft__driven {
    struct weft__driver *driver;
    struct weft__worker *worker;
    uint32_t host, node;
    struct weft__notice *notice; ///< [notices] that wait, starting at `told`
    uint32_t notices, told, notices_capacity;
    bool paused;
    // the rest of the window in which it paused
    struct weft__arrival *arrival;
    uint32_t arrivals, arrivals_capacity;
    weft_time_ps end_ps;
    struct weft__due *due; ///< heap
    uint32_t dues, dues_capacity;
    // timers after those that the host had at the start: key0 for `due`, then those of queue pairs, which start at
    // number at_src0
    uint32_t key0, at_src0;
    uint32_t sends0;   ///< queue pairs that the host sends from the start
    uint32_t *send_qp; ///< the NIC's list of all of them, once there are more
    uint32_t sends_capacity;
};

/// All driven hosts of a run.
struct weft__driver {
    struct weft__driven *host;
    uint32_t flow0;      ///< the first flow that the program added; earlier ones are the scenario's
    const uint8_t *want; ///< [flow - flow0]: a set of enum weft_drive_event
    struct weft__driven_list {
        _Alignas(64) uint32_t *host; ///< no two workers write to one cache line
        uint32_t n, capacity;
    } paused[WEFT__WORKERS_MAX]; ///< per worker: hosts that have paused since the driver last checked
};

/// Notes an event of a flow at this host.
void weft__driven_note(struct weft__driven *d, struct weft__worker *w, enum weft_drive_event event, uint32_t flow);
/// The host has paused. `arrival`: the rest of its window, which ends at `end`.
void weft__driven_pause(struct weft__driven *d, struct weft__worker *w, const struct weft__arrival *arrival, uint32_t n,
                        weft_time_ps end);
void weft__driven_add_due(struct weft__driven *d, struct weft__timers *timers, const struct weft__due *due);
/// Takes the next action that is due now. False: there is none.
bool weft__driven_take_due(struct weft__driven *d, struct weft__timers *timers, weft_time_ps now,
                           struct weft__due *ret_due);
void weft__driven_deinit(struct weft__driven *d);

/// Makes room for one more entry in a list that grows by doubling.
#define WEFT__DRIVEN_ROOM(list, n, capacity)                                                                           \
    ((list) = weft__memory_double(WEFT_MEMORY_QP, (list), (n), &(capacity), 4, sizeof *(list)))
