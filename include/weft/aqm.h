// SPDX-License-Identifier: Apache-2.0
// Active queue management of an egress queue (per port and priority): mark or drop.
#pragma once

#include "weft/event.h"
#include "weft/model.h"
#include "weft/random.h"

// The box keeps the model's state, one for each queue that it asks about, zeroed at first. `state` is NULL where
// state_size is 0. A model without a state may be asked less often than below (`pass`); a model with one is asked about
// every packet. `now_ps` never goes back for one state.

/// TRIM: only the header of a data packet goes on; a box that cannot do that, or has another packet, drops it.
enum weft_aqm_verdict { WEFT_AQM_PASS, WEFT_AQM_MARK, WEFT_AQM_DROP, WEFT_AQM_TRIM };

/// What becomes of a trimmed packet.
struct weft_aqm_trim {
    uint16_t bytes; ///< of its frame
    uint8_t priority, dscp;
    weft_bytes room_bytes; ///< of the queue of that priority: a trimmed packet beyond it is dropped
};

/// A packet and its queue: that of an output (a switch, a TiN) or of a virtual output queue (a DSF), of one priority,
/// over all inputs.
struct weft_aqm_fact {
    weft_time_ps now_ps;
    weft_time_ps waited_ps; ///< since the packet joined the queue; of a packet that arrives: 0
    weft_bytes queue_bytes; ///< in the queue besides this packet: before it arrives, or once it has left
    uint32_t bytes;         ///< of its frame
    bool ecn_capable;       ///< ECT or CE; MARK is the answer only for such packets
};

struct weft_aqm_ops {
    /// Required, hot. A packet arrives.
    enum weft_aqm_verdict (*on_enqueue)(void *state, const void *conf, const struct weft_aqm_fact *,
                                        struct weft_random *);
    /// Required. At or below this depth on_enqueue passes every packet and draws no random number.
    weft_bytes (*pass)(const void *conf);
    /// Optional. The depths that mean something to it: nothing is marked at or below the first, every packet above the
    /// second, and all are dropped above the third. For the record of a run.
    void (*thresholds)(const void *conf, weft_bytes ret_threshold[WEFT_EVENT_THRESHOLDS]);
    /// Optional. The configuration for a port of that rate, in `arena` or `conf` itself. Boxes that have none but
    /// `conf` for all ports refuse a configuration that `by_port` says is one.
    const void *(*for_port)(const void *conf, weft_rate_bps rate, struct weft_arena *arena);
    bool (*by_port)(const void *conf); ///< with for_port
    /// Optional; set both or neither. True if this configuration needs on_dequeue.
    bool (*wants_dequeue)(const void *conf);
    /// Hot. A packet is the next to leave its queue. PASS, MARK or DROP; after DROP the box asks about the packet
    /// behind it. A model without a state passes every packet that leaves no more than the first of its thresholds
    /// behind, or nothing.
    enum weft_aqm_verdict (*on_dequeue)(void *state, const void *conf, const struct weft_aqm_fact *,
                                        struct weft_random *);
    size_t (*state_size)(const void *conf); ///< optional; of one queue's state, 0: none
    weft_model_fingerprint *fingerprint;    ///< optional, with a state
    /// Optional: of a model that may answer TRIM.
    struct weft_aqm_trim (*trim)(const void *conf);
};

/// False if it passes every packet.
static inline bool weft_aqm_acts(const struct weft_aqm_ops *ops, const void *conf) {
    return ops->pass(conf) != UINT64_MAX || (ops->wants_dequeue && ops->wants_dequeue(conf));
}

/// Bytes of state of each queue.
static inline size_t weft_aqm_state_size(const struct weft_aqm_ops *ops, const void *conf) {
    return ops->state_size ? ops->state_size(conf) : 0;
}
