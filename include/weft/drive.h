// SPDX-License-Identifier: Apache-2.0
// Driving a simulation: your program sends messages over the simulated network and is called back when they arrive. So
// a scheduler, a model of a training job or a storage system can run on any fabric of weft. The scenario gives the
// network, and may have its own workload, which then runs alongside.
//
//   struct weft_drive *drive = NULL;
//   struct weft_send ping = {.src = 0, .dst = 1, .bytes = 4096, .events = WEFT_DRIVE_DELIVERED, .callback = on_ping};
//   weft_drive_new(simulation, NULL, &drive, &error);
//   weft_drive_send(drive, &ping, NULL, &error);
//   weft_drive_run(drive, WEFT_TIME_NEVER, NULL, &error);
//   weft_drive_finish(drive, &result, &error);
//   weft_drive_free(drive);
//
// Time and place. A callback runs at a time, weft_drive_now, and at a host, weft_drive_host. Its actions at that host
// take effect at that instant. Actions at another host take at least weft_drive_lookahead, the shortest time from one
// host to another: an earlier send from another host, or timer there, is refused with WEFT_ERROR_LOOKAHEAD. Outside of
// callbacks there is no host, and every action must be at least the lookahead ahead of now; before the first
// weft_drive_run any time is allowed.
//
// Order. Callbacks come one after another, from the thread that called weft_drive_run, in the same order for any number
// of threads: by time, then by host, then in order of occurrence at that host. A callback may do anything with the
// drive except run, finish or free it.
//
// Each message is a flow with its own queue pair, like a flow of a scenario: a new connection that starts at line rate.
// It takes about 500 bytes of memory until the drive is finished. Its results are rows like those of other flows, in
// the group "drive", with its tag.
#pragma once

#include "weft/weft.h"

#ifdef __cplusplus
extern "C" {
#endif

struct weft_drive;

enum weft_drive_event {
    WEFT_DRIVE_DELIVERED = 1, ///< the last byte is at the destination; there
    WEFT_DRIVE_ACKED = 2,     ///< the sender knows it: the last byte is acknowledged; at the source
    WEFT_DRIVE_CANCELLED = 4, ///< nothing more of it is sent; at the source. What is under way still arrives.
    WEFT_DRIVE_TIME = 8,      ///< a time of weft_drive_at has come
    WEFT_DRIVE_FRAME = 16,    ///< a frame has reached an attached host; there
};

struct weft_drive_notice {
    enum weft_drive_event event;
    uint32_t host;
    weft_time_ps time_ps;
    uint32_t flow; ///< WEFT_NONE: of none
    uint64_t tag;  ///< that it was sent with; TIME: 0
    weft_bytes bytes;
    weft_time_ps sent_ps; ///< FRAME: when it was put
    const uint8_t *frame; ///< FRAME: its `bytes` bytes, without FCS, until the callback returns; else NULL
};
typedef void weft_drive_callback(void *context, struct weft_drive *drive, const struct weft_drive_notice *notice);

struct weft_send {
    uint32_t src, dst;     ///< different hosts of one network
    weft_bytes bytes;      ///< at least 1
    uint64_t tag;          ///< of the caller, for callbacks and results
    uint32_t priority;     ///< 0 to 7, as in a scenario's workload
    uint32_t events;       ///< events that call the callback: a sum of DELIVERED, ACKED, CANCELLED; 0: none
    weft_time_ps start_ps; ///< when the source begins; a time that is over is now
    weft_drive_callback *callback;
    void *context;
};

/// The simulation must outlive the drive. `options`: as for a run; a driven run can neither be recorded nor captured.
WEFT_API enum weft_status weft_drive_new(const struct weft_simulation *simulation,
                                         const struct weft_sim_options *options, struct weft_drive **ret_drive,
                                         struct weft_error *ret_error);
WEFT_API void weft_drive_free(struct weft_drive *drive);

/// Simulated time: of the callback; outside, the time up to which the network has run.
WEFT_API weft_time_ps weft_drive_now(const struct weft_drive *drive);
/// Of the callback; WEFT_NONE outside.
WEFT_API uint32_t weft_drive_host(const struct weft_drive *drive);
WEFT_API weft_time_ps weft_drive_lookahead(const struct weft_drive *drive);

/// *ret_flow (may be NULL): the number of the flow, for weft_drive_cancel and in results.
WEFT_API enum weft_status weft_drive_send(struct weft_drive *drive, const struct weft_send *send, uint32_t *ret_flow,
                                          struct weft_error *ret_error);
/// Calls back at that time at that host. A time in the past means now.
WEFT_API enum weft_status weft_drive_at(struct weft_drive *drive, uint32_t host, weft_time_ps time,
                                        weft_drive_callback *callback, void *context, struct weft_error *ret_error);
/// The source stops sending the flow: now, if this is a callback there; else after the lookahead. A flow whose last
/// byte has been acknowledged by then is not affected.
WEFT_API enum weft_status weft_drive_cancel(struct weft_drive *drive, uint32_t flow, struct weft_error *ret_error);
/// From a callback: weft_drive_run returns after the callback, and may be called again.
WEFT_API void weft_drive_stop(struct weft_drive *drive);

// Frames of real hosts. The section `live` of the scenario says which hosts are attached: no model sends for them, and
// the program puts their Ethernet frames into the network, without FCS. Each crosses it once, marked or lost where the
// models say so, and no answer is made. A host's MAC address is weft_drive_mac, or what it sends from.
#define WEFT_FRAME_FATES_LIST(X)                                                                                       \
    X(SENT, "sent", "sent into the network")                                                                           \
    X(FLOODED, "flooded", "to a group address: to all other attached hosts, outside the network")                      \
    X(UNKNOWN, "unknown", "to an address that no host has sent from: to all other attached hosts, too")                \
    X(LLDP, "lldp", "of LLDP, which end at the port")                                                                  \
    X(PAUSE, "pause", "of MAC control (pauses), which end at the port without effect")                                 \
    X(RESERVED, "reserved", "to other addresses that end at the port (01-80-C2-00-00-0X)")                             \
    X(OWN, "own", "dropped: to the host itself")                                                                       \
    X(SIMULATED, "simulated", "dropped: to a simulated host, which has no protocol stack")                             \
    X(VLAN, "vlan", "dropped: with an 802.1Q tag, which is not supported")                                             \
    X(LONG, "long", "dropped: longer than host.mtu and its headers")                                                   \
    X(SHORT, "short", "dropped: shorter than an Ethernet header")                                                      \
    X(BAD_SOURCE, "bad_source", "dropped: from a group address")                                                       \
    X(CROWD, "crowd", "dropped: of a conversation beyond the 65536th")
enum weft_frame_fate {
#define X(e, name, help) WEFT_FRAME_##e,
    WEFT_FRAME_FATES_LIST(X)
#undef X
        WEFT_FRAME_FATES
};
extern WEFT_API const char *const weft_frame_fate_names[], *const weft_frame_fate_help[];

/// Calls back with each frame that reaches an attached host.
WEFT_API enum weft_status weft_drive_attach(struct weft_drive *drive, uint32_t host, weft_drive_callback *callback,
                                            void *context, struct weft_error *ret_error);
WEFT_API enum weft_status weft_drive_mac(const struct weft_drive *drive, uint32_t host, uint8_t *ret_mac,
                                         struct weft_error *ret_error);
/// The frame reaches the port of an attached host at that time, or behind the host's last one if that is later, and
/// joins the queue of its priority: that of its DSCP at the neighbour. *ret_fate (may be NULL): what becomes of it;
/// only SENT takes part in the run, and what is FLOODED or UNKNOWN is the caller's to pass on.
WEFT_API enum weft_status weft_drive_put(struct weft_drive *drive, uint32_t host, weft_time_ps time, const void *frame,
                                         size_t bytes, enum weft_frame_fate *ret_fate, struct weft_error *ret_error);
/// Frames that wait at the host, because of pauses or for their time.
WEFT_API uint32_t weft_drive_waiting(const struct weft_drive *drive, uint32_t host);

enum weft_drive_end {
    WEFT_DRIVE_IDLE,        ///< nothing is under way, and no timer is set
    WEFT_DRIVE_UNTIL,       ///< `until` was reached
    WEFT_DRIVE_STOPPED,     ///< by weft_drive_stop
    WEFT_DRIVE_OVER,        ///< run.until of the scenario was reached; the network goes no further
    WEFT_DRIVE_INTERRUPTED, ///< by the options' interrupt or on_progress; the network goes no further
    WEFT_DRIVE_STALLED,     ///< it will make no progress (WEFT_ERROR_STALL); likewise
};
/// Runs until nothing is left to do, or until everything up to and at `until` is done. *ret_end may be NULL. Once the
/// network cannot run further, each further call says so, and nothing can be sent, set or cancelled any more. The
/// options' on_progress must not touch the drive.
WEFT_API enum weft_status weft_drive_run(struct weft_drive *drive, weft_time_ps until, enum weft_drive_end *ret_end,
                                         struct weft_error *ret_error);
/// Results, as after weft_simulation_run; the drive can then only be freed. The result outlives it.
WEFT_API enum weft_status weft_drive_finish(struct weft_drive *drive, struct weft_result **ret_result,
                                            struct weft_error *ret_error);

#ifdef __cplusplus
}
#endif
