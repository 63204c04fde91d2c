// SPDX-License-Identifier: Apache-2.0
// Source flow control (IEEE P802.1Qdw): when a switch tells the source of a packet to pause, and for how long. The
// model judges; the switch finds the queue, keeps the least times between messages, and sends them.
#ifndef WEFT_SFC_H
#define WEFT_SFC_H

#include "weft/model.h"

/// Every configuration of this kind begins with it; all zero is no source flow control.
struct weft_sfc_conf {
    uint8_t priorities;              ///< whose queues signal
    uint64_t dscp;                   ///< of the messages
    weft_bytes threshold_bytes;      ///< a queue deeper than this signals, at the latest
    weft_time_ps pause_ps;           ///< asked for, at most
    weft_time_ps interval_ps;        ///< least time between two messages of a queue for a flow; 0: none
    weft_time_ps source_interval_ps; ///< the same for a source host
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

/// What a model is told of a packet that has joined a queue; from room_bytes on, only models with a memory. The queue
/// is the one of the switch's architecture: of an output over all inputs (OQ), of an input (IQ), of an input for an
/// output (VOQ).
struct weft_sfc_fact {
    weft_time_ps now_ps;
    uint32_t packet_bytes;         ///< of its frame
    weft_bytes queue_bytes;        ///< that it found there
    weft_bytes room_bytes;         ///< that its input could still take before it pauses or drops
    weft_rate_bps input_rate_bps;  ///< line rate of its input
    weft_rate_bps output_rate_bps; ///< line rate of its output
    weft_rate_bps drain_rate_bps;  ///< at which the queue is served if nothing downstream pauses it
    weft_rate_bps feed_rate_bps;   ///< line rates of the inputs that have fed it lately
    uint32_t flows, inputs;        ///< that have fed it lately, this one among them
};

/// What it answers. The caller has it all zero.
struct weft_sfc_act {
    bool signal;
    weft_time_ps pause_ps; ///< with signal: above 0, at most conf.pause_ps
};

struct weft_sfc_ops {
    /// Required. The model is not asked about packets that find no more than this in the queue.
    weft_bytes (*watch)(const void *conf);
    /// Required.
    void (*on_packet)(const void *conf, const struct weft_sfc_fact *, struct weft_sfc_act *);
    /// Optional. Flows and inputs are to be counted, and have fed the queue "lately" within this time.
    weft_time_ps (*memory)(const void *conf);
    bool fixed; ///< it acts by the threshold and the pause of its configuration, always: they can be judged beforehand
};

#endif
