// SPDX-License-Identifier: Apache-2.0
// A live run as rows.
#include "weft/live.h"
#include "weft/result.h"

#define LIVE(field, kind, ...) WEFT_RESULT(struct weft_live, field, kind, __VA_ARGS__)
#define HOST(field, kind, ...) WEFT_RESULT(struct weft_live_attached, field, kind, __VA_ARGS__)
#define NOTE(field, kind, ...) WEFT_RESULT(struct weft_live_note, field, kind, __VA_ARGS__)
#define FATE(e, n, help)                                                                                               \
    WEFT_RESULT_NAMED(struct weft_live_attached, fate[WEFT_FRAME_##e], n, COUNT, "frames from the host " help),

static const struct weft_result_table live_table = WEFT_RESULT_TABLE_OF(
    "live", OBJECT, "a live run", WEFT_RESULT_SUBJECT, WEFT_RESULT_VERSION,
    LIVE(record, TEXT, "pcapng of what hosts sent, and when"),
    LIVE(replay, TEXT, "scenario of an ordinary run with the same frames and digest"),
    LIVE(digest, TEXT, "digest of all results of the network, as weft run prints it"),
    LIVE(sim_time_ps, TIME, "simulated time"), LIVE(wall_s, REAL, "wall time", .unit = "s"),
    LIVE(frozen_s, REAL, "wall time in which guests stood still", .unit = "s"),
    LIVE(freezes, COUNT, "how often guests stood still because the network was behind"),
    LIVE(restarts, COUNT, "changes of the network in the run: each repeats the run up to its time"),
    LIVE(slow, REAL, "wall time over simulated time, at the end"),
    LIVE(slow_least, REAL, "the least that the network and its own workload allow, as measured before the start"),
    LIVE(delay_ps, TIME, "what a frame takes from its host to its port, besides what the network takes"),
    LIVE(lookahead_ps, TIME, "shortest time from one host to another: the delay is twice as long at least"),
    LIVE(frames, COUNT, "frames sent into the network"), LIVE(delivered, COUNT, "frames delivered by the network"),
    LIVE(round_trip_ps, TIME, "base round trip: twice the shortest time of a frame; 0: none came"),
    LIVE(late_p50_ps, TIME, "lateness of frames delivered, in simulated time: median"),
    LIVE(late_p99_ps, TIME, "lateness of frames, in simulated time: 99th percentile"),
    LIVE(late_max_ps, TIME, "lateness of frames, in simulated time: the greatest"),
    LIVE(bound_ps, TIME, "most that the 99th percentile of lateness may be (live.lateness)"),
    LIVE(holds, BOOL, "whether timing holds: the 99th percentile is within the bound"));
static const struct weft_result_table host_table = WEFT_RESULT_TABLE_OF(
    "hosts", LIST, "an attached host", WEFT_RESULT_EACH(struct weft_live, host, hosts),
    HOST(name, TEXT, "name of the host", .flags = WEFT_RESULT_KEY), HOST(where, TEXT, "socket or interface"),
    HOST(received, COUNT, "frames from the host"), HOST(received_bytes, BYTES, "bytes of frames from the host"),
    WEFT_FRAME_FATES_LIST(FATE) HOST(delivered, COUNT, "frames to the host, with those that others flooded"),
    HOST(delivered_bytes, BYTES, "bytes of frames to the host"), HOST(marked, COUNT, "frames to the host marked CE"),
    HOST(too_long, COUNT, "frames to the host dropped: longer than the MTU of the host (live.hosts.NAME.mtu)"),
    HOST(refused, COUNT, "frames to the host dropped: the socket or interface did not take them"),
    HOST(bad_checksums, COUNT,
         "frames from the host with a wrong checksum of IPv4, TCP or UDP: its kernel leaves them to hardware that is "
         "not there (ethtool -K INTERFACE tx off)"),
    HOST(late, COUNT, "frames from the host that were read too late for the delay"),
    HOST(held, COUNT, "times that the socket was not looked at because live.hold frames waited"),
    HOST(paused_ps, TIME, "pauses of the host's port by PFC, over all priorities"),
    HOST(connections, COUNT, "connections of the host's socket"),
    HOST(ended, TEXT, "why the host is gone; null: the host is there"));
static const struct weft_result_table note_table = WEFT_RESULT_TABLE_OF(
    "notes", LIST, "a mark, or a change of the network", WEFT_RESULT_EACH(struct weft_live, note, notes),
    NOTE(time_ps, TIME, "time of the note"), NOTE(text, TEXT, "text of the mark, or the change"));
const struct weft_answer weft__answer_live =
    WEFT_ANSWER_OF("live", "weft live: real hosts on a simulated network", &live_table, &host_table, &note_table);
