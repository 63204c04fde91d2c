// SPDX-License-Identifier: Apache-2.0
// Active queue management of an egress queue (per port and priority): mark or drop.
#ifndef WEFT_AQM_H
#define WEFT_AQM_H

#include "weft/event.h"
#include "weft/model.h"
#include "weft/random.h"

/// TRIM: only the header of a data packet goes on; a box that cannot do that, or has another packet, drops it.
enum weft_aqm_verdict { WEFT_AQM_PASS, WEFT_AQM_MARK, WEFT_AQM_DROP, WEFT_AQM_TRIM };

/// What becomes of a trimmed packet.
struct weft_aqm_trim {
    uint16_t bytes; ///< of its frame
    uint8_t priority, dscp;
    weft_bytes room_bytes; ///< of the queue of that priority: a trimmed packet beyond it is dropped
};

struct weft_aqm_ops {
    /// Required, hot. `queue_bytes`: waiting for that output and priority before this packet, over all inputs.
    /// `ecn_capable`: ECT or CE. MARK is answered only for capable packets.
    enum weft_aqm_verdict (*on_enqueue)(const void *conf, weft_bytes queue_bytes, uint32_t bytes, bool ecn_capable,
                                        struct weft_random *random);
    /// Required. on_enqueue lets every packet pass at or below this depth, and draws nothing: there a box need not ask.
    weft_bytes (*pass)(const void *conf);
    /// Optional. The depths that mean something to it: nothing is marked at or below the first, every packet above the
    /// second, and all are dropped above the third. For the record of a run.
    void (*thresholds)(const void *conf, weft_bytes ret_threshold[WEFT_EVENT_THRESHOLDS]);
    /// Optional. The configuration for a port of that rate, in `arena` or `conf` itself. Boxes that have none but
    /// `conf` for all ports refuse a configuration that `by_port` says is one.
    const void *(*for_port)(const void *conf, weft_rate_bps rate, struct weft_arena *arena);
    bool (*by_port)(const void *conf); ///< with for_port
    /// Optional, both or neither. Is on_dequeue to be asked under this configuration?
    bool (*wants_dequeue)(const void *conf);
    /// Hot. A packet leaves for the wire and `queue_bytes` stay behind it. PASS or, for capable packets, MARK.
    enum weft_aqm_verdict (*on_dequeue)(const void *conf, weft_bytes queue_bytes, bool ecn_capable,
                                        struct weft_random *random);
    /// Optional: of a model that may answer TRIM.
    struct weft_aqm_trim (*trim)(const void *conf);
};

#endif
