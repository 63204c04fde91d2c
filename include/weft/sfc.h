// SPDX-License-Identifier: Apache-2.0
// Source flow control (IEEE P802.1Qdw): when a switch tells the source of a packet to pause, and for how long. The
// model decides; the switch measures the queue, enforces the minimum times between messages, and sends the messages.
#pragma once

#include "weft/model.h"

/// The beginning of every configuration of this kind; all zero: no source flow control.
struct weft_sfc_conf {
    uint8_t priorities;              ///< mask of the priorities whose queues cause messages
    uint64_t dscp;                   ///< code point of the messages
    weft_bytes threshold_bytes;      ///< queue depth above which a packet causes a message; a model may start earlier
    weft_time_ps pause_ps;           ///< longest pause in a message
    weft_time_ps interval_ps;        ///< minimum time between two messages of a queue for one flow; 0: none
    weft_time_ps source_interval_ps; ///< minimum time between two messages of a queue to one source host; 0: none
};

/// The rows of `conf`, a member of T.
#define WEFT_SFC_ROWS(T, conf, threshold_help, pause_default, pause_help)                                              \
    WEFT_BYTES(T, conf.threshold_bytes, "threshold", "200KB", "0B", "1TB", threshold_help),                            \
        WEFT_TIME(T, conf.pause_ps, "pause", pause_default, "1ns", "1s", pause_help),                                  \
        WEFT_TIME(T, conf.interval_ps, "interval", "0ns", "0ns", "1s",                                                 \
                  "least time between two messages of a queue for the same flow (assumed; the simulations of IEEE "    \
                  "P802.1Qdw take the pause time)"),                                                                   \
        WEFT_TIME(T, conf.source_interval_ps, "source_interval", "0ns", "0ns", "1s",                                   \
                  "least time between two messages of a queue to the same source; 0ns: none"),                         \
        WEFT_PRIORITY_SET(T, conf.priorities, "priorities", "3", "priorities whose queues signal"),                    \
        WEFT_UINT(T, conf.dscp, "dscp", "48", "0", "63", "code point of the messages (that of CNPs; assumed)")

/// Facts about a packet that has joined a queue. The fields from room_bytes on are set only for models with `memory`.
/// The queue depends on the switch's architecture: one per output over all inputs (OQ), per input (IQ), or per input
/// and output (VOQ).
struct weft_sfc_fact {
    weft_time_ps now_ps;
    uint32_t packet_bytes;         ///< bytes of the packet's frame
    weft_bytes queue_bytes;        ///< depth of the queue before the packet
    weft_bytes room_bytes;         ///< bytes that the packet's input accepts before it pauses or drops
    weft_rate_bps input_rate_bps;  ///< line rate of the packet's input
    weft_rate_bps output_rate_bps; ///< line rate of the packet's output
    weft_rate_bps drain_rate_bps;  ///< rate at which the queue is served unless a pause stops it
    weft_rate_bps feed_rate_bps; ///< sum of the line rates of the inputs whose packets joined the queue within `memory`
    uint32_t flows, inputs;      ///< flows and inputs whose packets joined the queue within `memory`, this one included
};

/// The model's answer; the caller zeroes it before the call.
struct weft_sfc_act {
    bool signal;
    weft_time_ps pause_ps; ///< with signal: above 0, at most conf.pause_ps
};

struct weft_sfc_ops {
    /// Required. Queue depth at or below which the caller does not call on_packet.
    weft_bytes (*watch)(const void *conf);
    /// Required, hot above `watch`. A packet has joined a queue: decides whether its source gets a message.
    void (*on_packet)(const void *conf, const struct weft_sfc_fact *, struct weft_sfc_act *);
    /// Optional. The caller counts the flows and inputs whose packets joined the queue within this time.
    weft_time_ps (*memory)(const void *conf);
    bool fixed; ///< always uses the configured threshold and pause, so both can be checked before a run
};
