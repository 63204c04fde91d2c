// SPDX-License-Identifier: Apache-2.0
// Mechanisms that act when a network is loaded, as boxes have them: which of them a run has, how often they acted, and
// which device came nearest to it. For users who have configured one and see no effect.
#pragma once

#include "weft/report.h"

/// Over all devices of a run.
struct weft__mechanism_use {
    uint32_t devices;        ///< how many are configured to use it
    uint64_t acts;           ///< by all devices
    uint64_t nearest, limit; ///< of the device that came nearest: the most it saw, and the limit above which it acts;
                             ///< limit 0: no fixed limit
    const char *watched;     ///< what that device goes by
};
/// A device saw `most`, and acts above `limit`.
void weft__mechanism_saw(struct weft__mechanism_use *use, uint64_t most, uint64_t limit);

struct weft__mechanism {
    const char *name;                    ///< "PFC"; boxes of several kinds may have the same
    const char *nothing;                 ///< what has not happened: "no pause frame"
    const char *watched;                 ///< what it goes by: "fullest input"; NULL: nothing that can be told
    bool cells;                          ///< that is counted in cells; else in bytes
    const struct weft__mechanism *after; ///< what must act before it can; NULL: nothing
    const char *without;                 ///< with `after`: "no switch marks packets", if no device uses that
    /// Offset in weft_counters of what counts its acts, at the ports of any box that can have it: marks of a VOQ are
    /// shown at a port of another box. 0: it adds them itself.
    size_t counter;
    /// Adds what a node has of it, if it is configured there: a device, what it saw, and its acts unless they have a
    /// counter. `arena`: for working memory. NULL: no box has the mechanism.
    void (*look)(const struct weft_run *run, uint32_t node, const struct weft_device_conf *conf,
                 struct weft_arena *arena, struct weft__mechanism_use *use);
};
enum { WEFT__MECHANISMS_OF_BOX = 6 };
struct weft__mechanisms {
    const struct weft__mechanism *mechanism[WEFT__MECHANISMS_OF_BOX]; ///< the last is NULL
};
/// Of a kind of node.
const struct weft__mechanisms *weft__box_mechanisms(uint32_t kind);

/// Adds the node's counts of the mechanism to the sum over devices.
void weft__mechanism_add(const struct weft__mechanism *is, const struct weft_run *run, uint32_t node,
                         const struct weft_device_conf *conf, struct weft_arena *arena,
                         struct weft__mechanism_use *use);
/// The highest value of a counter, by its offset, at the ports of a node and these priorities.
uint64_t weft__mechanism_most(const struct weft_run *run, uint32_t node, uint8_t priorities, size_t counter);

// For Ethernet ports.
/// ECN of a box whose AQM does not go by the queues of its ports: the queues that it goes by held up to `most`.
void weft__mechanism_look_at_ecn(const struct weft_run *run, uint32_t node, const struct weft_device_conf *conf,
                                 weft_bytes most, struct weft__mechanism_use *use);
/// Rows with the same name are merged: a box that measures something else has a row of its own with that name.
#define WEFT__MECHANISM_ECN                                                                                            \
    .name = "ECN", .nothing = "no packet marked or dropped by AQM",                                                    \
    .counter = offsetof(struct weft_counters, ecn_marked)
extern const struct weft__mechanism weft__mechanism_pfc, weft__mechanism_ecn, weft__mechanism_watchdog;
