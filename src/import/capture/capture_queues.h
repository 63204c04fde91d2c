// SPDX-License-Identifier: Apache-2.0
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
#pragma once

#include "weft/decode.h"

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
