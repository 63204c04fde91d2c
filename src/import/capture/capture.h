// SPDX-License-Identifier: Apache-2.0
// Messages of a capture as flows.
#pragma once

#include "weft/decode.h"
#include "weft/import.h"

struct weft__capture_queues;

struct weft__capture_flow {
    uint32_t src, dst; ///< numbers of addresses
    uint8_t verb;
    weft_time_ps start_ps;
    weft_bytes bytes;
};

struct weft__capture_flows {
    struct weft_decode decode;
    uint64_t flows;
    struct weft__capture_flow *flow; ///< by start
    uint32_t addresses;
    struct weft_decode_address *address; ///< in the order of the given list, then of first appearance
    uint64_t taken_front, taken_back;    ///< of the flows, those that began before the capture, or ended after it or
                                         ///< with losses
    uint64_t empty, atomics, echoes,
        own;          ///< omitted: without payload; READ responses to requests; to the sender itself
    uint64_t answers; ///< flows of READ responses without requests
    weft_bytes bytes;
};

/// `addresses`: those of the first numbers, separated by commas; may be "". Errors of the list are at `place`.
/// `queues`: gets what it needs; NULL: none.
enum weft_status weft__capture_flows_read(const char *path, const char *addresses, struct weft_place place,
                                          struct weft__capture_queues *queues, struct weft_arena *arena,
                                          struct weft__capture_flows *ret, struct weft_error *ret_error);
/// Calls `say` for each difference from the capture, in words: what was omitted, what was assumed.
void weft__capture_flows_tell(const struct weft__capture_flows *flows,
                              void (*say)(void *context, enum weft_import_note note, const char *text), void *context);

// What a capture reveals about queues that it does not show, and so about the thresholds of the switches:
//
// - A packet seen at two interfaces waited in between for as long as it took more than the fastest of its size and
//   hops. That time at the rate of the second interface is the depth that it met; it was marked there or not. Kmin,
//   Kmax and Pmax follow from the marks as a function of depth.
// - Of packets seen at one interface only, a burst from n senders: its first marked packet met at most (n - 1) / n of
//   the bytes that the burst has brought so far, if no sender is faster than the port. This bounds Kmin.
// - The data that a sender has in flight when a pause reaches it is about XOFF, plus the data on the wire to the
//   switch: as much as fits into half of the shortest round trip. When the pause ends, it is about XON, plus the data
//   that has left the switch since without being acknowledged: half a round trip at the rate at which the switch
//   drained. Late acknowledgements increase both.
struct weft__capture_queues;

struct weft__capture_thresholds {
    enum { WEFT__MARKS_UNKNOWN, WEFT__MARKS_BY_DEPTH, WEFT__MARKS_BY_BURST } marks;
    weft_bytes min_bytes, max_bytes; ///< max: only from depths
    double max_probability;          ///< likewise
    uint64_t samples, marked;        ///< packets whose depth is known, or bursts
    weft_bytes depth_max;            ///< that a packet met
    bool max_reached;                ///< above max_bytes all packets were marked
    uint64_t stops, goes;            ///< pauses, and ends of pauses, with a known depth
    weft_bytes xoff_bytes, xon_bytes;
    weft_time_ps round_trip_ps; ///< the shortest among senders that were paused
    uint64_t by_senders;        ///< pauses from stations that also send data
};

struct weft__capture_queues *weft__capture_queues_new(struct weft_arena *arena);
/// Callbacks for struct weft_decode_conf.
void weft__capture_queues_seen(struct weft__capture_queues *queues, const struct weft_decode *decode,
                               const struct weft_decode_seen *seen);
void weft__capture_queues_pause(struct weft__capture_queues *queues, const struct weft_decode *decode,
                                const struct weft_decode_pauser *pauser, bool stops);
struct weft__capture_thresholds weft__capture_queues_conclude(struct weft__capture_queues *queues,
                                                              const struct weft_decode *decode);
