// SPDX-License-Identifier: Apache-2.0
// What the parts of a driven run share: drive.c, and drive_frames.c for hosts that are attached from outside.
#pragma once

#include "sim/attached.h"
#include "sim/run.h"
#include "transport/driven.h"

/// The callback for a flow or a time.
struct weft__drive_listener {
    weft_drive_callback *callback;
    void *context;
};

/// How many queue pairs there have been from one host to another.
struct weft__drive_pair {
    uint64_t hosts; ///< source << 32 | destination, + 1; 0: free
    uint64_t qps;
};

struct weft_drive {
    struct weft__run run; ///< must be first: on_window gets a pointer to it
    const struct weft_simulation *simulation;
    struct weft_memory *memory;    ///< all memory but this struct; NULL: the result owns it now
    struct weft_workload workload; ///< the scenario's workload and the added flows
    struct weft__driver driver;
    struct weft_arena *arena;
    bool open, inside, stop; ///< inside: a callback is running
    bool failed;             ///< memory ran out: the drive can only be freed
    bool over;               ///< the network has ended
    enum weft_drive_end end; ///< of the last run
    uint32_t host;           ///< the callback's host
    weft_time_ps now_ps, until_ps;
    uint64_t serial;
    uint32_t *waiting; ///< heap of paused hosts, by the time of their notice, then by number
    uint32_t waits, waits_capacity;
    uint32_t qp0;              ///< the first queue pair of an added flow; each has one
    uint32_t group, raw_group; ///< groups of the added flows, and of conversations of attached hosts
    // indexed by flow, from driver.flow0 on
    uint32_t flows_capacity, qps_capacity;
    uint64_t *tag;
    struct weft__drive_listener *listener;
    uint8_t *want;
    struct weft__drive_listener *attached; ///< [hosts]; NULL: no host is attached
    uint8_t *frame;                        ///< room for one
    struct weft__drive_listener *timer;    ///< [timers]; the free ones are in a list from free_timer on
    uint32_t timers, timers_capacity, free_timer;
    uint32_t *qp_next;             ///< [hosts]: how many queue pairs the NIC has
    struct weft__drive_pair *pair; ///< hash table
    uint32_t pairs, pair_slots;
};

static inline struct weft__network *weft__drive_net(struct weft_drive *d) {
    return &d->run.net;
}

#define FAIL(status, ...) weft_error_set(ret_error, status, WEFT_NOWHERE, __VA_ARGS__)

/// A request from the program, and its result.
struct weft__drive_request {
    struct weft_drive *drive;
    const struct weft_send *send;
    uint32_t host, flow;
    weft_time_ps time;
    struct weft__drive_listener listener;
};

/// Uses the drive's own memory. If that runs out in the middle of an operation, the drive is unusable.
enum weft_status weft__drive_enter(struct weft_drive *d,
                                   enum weft_status (*act)(void *context, struct weft_error *ret_error),
                                   struct weft__drive_request *request, struct weft_error *ret_error);
/// Checks when something that is to happen at *time may happen at a host.
enum weft_status weft__drive_check_time(struct weft_drive *d, uint32_t host, weft_time_ps *time,
                                        struct weft_error *ret_error);
uint32_t weft__drive_add_flow(struct weft_drive *d, const struct weft_send *send, weft_time_ps start);
void weft__drive_add_qp(struct weft_drive *d, const struct weft_send *send, uint32_t flow, weft_time_ps start);
/// A timer of the host's node was set. The host of a callback is rescheduled when it continues.
void weft__drive_reschedule(struct weft_drive *d, uint32_t host);
/// A frame has left the network: its bytes are not needed any more.
void weft__drive_forget_frame(struct weft_drive *d, uint32_t number);
