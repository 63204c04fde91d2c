// SPDX-License-Identifier: Apache-2.0
// Congestion control of one queue pair, at the sender (the reaction point). The caller, a NIC, calls on_start first,
// then one function per event; each gets the facts and changes the answer: a rate, a window and the time at which the
// caller must call on_timer. A model owns no clock.
#pragma once

#include "weft/model.h"
#include "weft/telemetry.h"

/// The facts of an event. A field that names functions is set only for these. `now_ps` never decreases for one state.
struct weft_cc_fact {
    weft_time_ps now_ps;
    weft_rate_bps line_rate_bps;
    uint32_t bytes;        ///< on_sent: frame bytes on the wire, overhead included; on_ack: payload newly acknowledged;
                           ///< on_loss: payload lost, if the transport knows it
    uint32_t packet_bytes; ///< payload of a full packet
    uint32_t timeouts;     ///< on_loss: in a row, without anything acknowledged; 0: it was a NAK
    weft_time_ps rtt_ps;   ///< on_ack: round trip of the acknowledged packet; on_loss: age of the lost data; 0: not
                           ///< measured
    weft_time_ps trim_ps;  ///< on_loss: from a packet's departure to the NACK of its trimmed header; 0: no NACK came
    bool local;  ///< on_ack: rtt_ps is a wait in the sender's own hardware alone, for which 0 is a measurement
    bool marked; ///< on_ack: the acknowledgement says that its data was marked
    weft_bytes backlog_bytes;               ///< target: payload to be sent, in whole packets
    uint32_t senders;                       ///< target: queue pairs of the host that may send now, this one included
    weft_bytes flight_bytes;                ///< payload sent and not acknowledged, in whole packets
    const struct weft_telemetry *telemetry; ///< on_ack: of the data's path; NULL: none came
};

/// The model's answer. Before each call the caller sets it to the answer in force; the model changes fields as it
/// likes.
struct weft_cc_act {
    weft_rate_bps rate_bps; ///< pace at this rate, 0 < rate <= line rate
    weft_time_ps timer_ps;  ///< when to call on_timer, in absolute time, not before now_ps; WEFT_TIME_NEVER: not at all
    weft_bytes window_bytes; ///< payload in flight at most; UINT64_MAX: no window; 0: by credit
    bool new_path;           ///< packets must take another path from now on; false before the call
    bool rests;              ///< on_sent changes nothing until another function has been called: the caller may skip it
};

/// How a receiver grants credit.
struct weft_cc_pull {
    uint32_t packets;      ///< full packets per grant, at most
    double rate;           ///< rate of all grants together, as a part of the line rate
    weft_time_ps ahead_ps; ///< while no sender asks: credit beyond its request for each sender, as time at line rate
};

/// The line rate for which the current values of the parameters were chosen, and the parameter that tells so. A rate of
/// 0: the values follow the line rate, do not depend on it, or were set by the user.
struct weft_cc_values {
    weft_rate_bps rate_bps;
    const char *key;
};

/// For weft estimate: what a queue pair is like that has a path to itself.
struct weft_cc_path {
    weft_time_ps rtt_ps; ///< of a full packet, without queues
    weft_rate_bps line_rate_bps;
    uint32_t packet_bytes; ///< payload of a full packet
};
/// What the model does to it; before the call nothing.
struct weft_cc_estimate {
    double share;            ///< of the line that it uses at most
    weft_bytes window_bytes; ///< payload in flight at most; 0: no bound
    weft_bytes first_bytes;  ///< window at the start, which grows by `step_bytes` for each window acknowledged; 0: none
    weft_bytes step_bytes;
    bool by_nic; ///< NICs send until they are paused: a link is shared as they send, and not by queue pairs
};

/// Of a model that leaves nothing of the links unused, and lets queues fill.
static inline void weft_cc_estimate_open(const void *conf, const struct weft_cc_path *path,
                                         struct weft_cc_estimate *estimate) {
    (void)conf, (void)path;
    estimate->by_nic = true;
}

/// Of a model that leaves nothing of the links unused, and shares them fairly.
static inline void weft_cc_estimate_fair(const void *conf, const struct weft_cc_path *path,
                                         struct weft_cc_estimate *estimate) {
    (void)conf, (void)path, (void)estimate;
}

struct weft_cc_ops {
    size_t (*state_size)(const void *conf);                                                             ///< required
    void (*on_start)(void *state, const void *conf, const struct weft_cc_fact *, struct weft_cc_act *); ///< required
    void (*on_cnp)(void *state, const void *conf, const struct weft_cc_fact *, struct weft_cc_act *);   ///< optional
    void (*on_timer)(void *state, const void *conf, const struct weft_cc_fact *, struct weft_cc_act *); ///< optional
    void (*on_sent)(void *state, const void *conf, const struct weft_cc_fact *, struct weft_cc_act *);  ///< optional
    void (*on_ack)(void *state, const void *conf, const struct weft_cc_fact *, struct weft_cc_act *);   ///< optional
    void (*on_loss)(void *state, const void *conf, const struct weft_cc_fact *, struct weft_cc_act *);  ///< optional
    /// Optional, all three or none, for senders that wait for credit of receivers. on_credit: fact->bytes more have
    /// been granted. target: bytes that the sender wants to have been granted since the start, asked after each packet.
    /// pull: how a receiver grants. The transport must have weft_transport_ops.control_priority.
    void (*on_credit)(void *state, const void *conf, const struct weft_cc_fact *, struct weft_cc_act *);
    weft_bytes (*target)(const void *state, const void *conf, const struct weft_cc_fact *);
    struct weft_cc_pull (*pull)(const void *conf);
    bool (*by_credit)(const void *conf); ///< optional: whether senders wait for credit under this configuration
    /// Required. NULL, or which invariant is broken.
    const char *(*check)(const void *state, const void *conf, const struct weft_cc_act *);
    bool moves_path;  ///< may answer with new_path
    bool wants_marks; ///< reads fact.marked: the transport's acknowledgements must tell whether data was marked
    struct weft_cc_values (*values_of)(const void *conf); ///< optional; without it the values depend on no rate
    /// Optional. Data packets collect telemetry, and acknowledgements bring it back. Returns the bytes that each frame
    /// is longer for it.
    weft_bytes (*telemetry_bytes)(const void *conf);
    weft_model_fingerprint *fingerprint; ///< optional
    /// Optional: for weft estimate, which refuses a model without it.
    void (*estimate)(const void *conf, const struct weft_cc_path *path, struct weft_cc_estimate *estimate);
};

/// Whether senders wait for credit of receivers.
static inline bool weft_cc_goes_by_credit(const struct weft_cc_ops *ops, const void *conf) {
    return ops->pull && (!ops->by_credit || ops->by_credit(conf));
}
