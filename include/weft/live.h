// SPDX-License-Identifier: Apache-2.0
// Real hosts on a simulated network, in slow motion: their frames come from sockets and interfaces of this machine,
// cross the network of a scenario while it runs beside the wall clock, and go out again. See docs/live.md.
#pragma once

#include <signal.h>
#include <stdio.h>

#include "weft/drive.h"
#include "weft/scenario.h"

struct weft_live_options {
    uint32_t threads, variant;
    const char *folder;   ///< gets the record, the scenario that replays it, and the control socket; must be there
    const char *scenario; ///< path of its file, for the one that replays
    FILE *view;           ///< terminal to show what happens; NULL: none
    int commands;         ///< file descriptor with commands, a line each; -1: none
    bool (*is_interrupted)(void);
    void (*say)(const char *text); ///< gets a line about what the run waits for, or does; may be NULL
};

/// An attached host; the counts are of frames.
struct weft_live_attached {
    const char *name, *where; ///< where: "unix h0.sock"
    uint64_t fate[WEFT_FRAME_FATES];
    uint64_t received, received_bytes;   ///< from the host
    uint64_t delivered, delivered_bytes; ///< to the host, flooded ones included
    uint64_t too_long;                   ///< lost: longer than the MTU of the host that they were for, this one
    uint64_t refused;                    ///< lost: the host did not take them from its socket
    uint64_t bad_checksums;              ///< from the host, with a wrong sum of IPv4, TCP or UDP
    uint64_t marked;                     ///< delivered with a mark that the network has made
    uint64_t late;                       ///< from the host, later at its port than live.delay says
    uint64_t held;                       ///< how often its socket was not read because its attach point was full
    weft_time_ps paused_ps;              ///< of its port, over all priorities
    uint64_t connections;
    const char *ended; ///< why the host is gone; NULL: it is not
};
/// What a person wrote during the run: a mark, or a link that went down or up.
struct weft_live_note {
    weft_time_ps time_ps;
    const char *text;
};

struct weft_live {
    const char *record, *replay; ///< files
    const char *digest;          ///< in hexadecimal, as weft run prints it
    weft_time_ps sim_time_ps, delay_ps, lookahead_ps;
    double wall_s, frozen_s;
    double slow, slow_least;    ///< as at the end; that the background alone allows, as measured before the start
    uint64_t frames, delivered; ///< in the network; out of it
    weft_time_ps late_p50_ps, late_p99_ps, late_max_ps, round_trip_ps, bound_ps; ///< of frames, in simulated time
    bool holds;                                                                  ///< lateness is within the bound
    uint64_t freezes, restarts;
    struct weft_live_attached *host;
    struct weft_live_note *note;
    uint32_t hosts, notes;
};

/// Runs until all hosts are gone, run.until, a command or an interrupt. What it answers is in `arena`. WEFT_OK although
/// timing did not hold: see `holds`.
enum weft_status weft_live_run(const struct weft_scenario_file *file, const struct weft_live_options *options,
                               struct weft_arena *arena, struct weft_live *ret_live, struct weft_error *ret_error);

extern const struct weft_answer weft__answer_live;
