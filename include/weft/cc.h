// SPDX-License-Identifier: Apache-2.0
// Congestion control of one queue pair, at the sender (the reaction point). The model is told facts and answers with a
// rate and the time at which it wants to be called; it owns no clock.
#ifndef WEFT_CC_H
#define WEFT_CC_H

#include "weft/model.h"
#include "weft/telemetry.h"

/// What a queue pair is told. `now_ps` never goes back for one state.
struct weft_cc_fact {
    weft_time_ps now_ps;
    weft_rate_bps line_rate_bps;
    uint32_t bytes;        ///< on_sent: frame bytes on the wire, overhead included; on_ack: payload newly acknowledged;
                           ///< on_loss: payload lost, if the transport knows it
    uint32_t packet_bytes; ///< payload of a full packet
    uint32_t timeouts;     ///< on_loss: in a row, without anything acknowledged; 0: it was a NAK
    weft_time_ps rtt_ps;   ///< on_ack: of the acknowledged packet; on_loss: age of what is lost; 0: it was not measured
    weft_time_ps trim_ps;  ///< on_loss: from when a packet left until the NACK of its trimmed header came; 0: none did
    bool local;            ///< on_ack: rtt_ps is only a wait in the sender's own hardware, and measured if 0
    bool marked;           ///< on_ack: the acknowledgement says that its data was marked
    weft_bytes backlog_bytes;               ///< target: payload to be sent, in whole packets
    uint32_t senders;                       ///< target: queue pairs of the host that may send now, this one included
    weft_bytes flight_bytes;                ///< payload sent and not acknowledged, in whole packets
    const struct weft_telemetry *telemetry; ///< on_ack: of the data's path; NULL: none came
};

/// What it answers. The caller fills it with the answer in force before each call; the model changes what it wants.
struct weft_cc_act {
    weft_rate_bps rate_bps;  ///< pace at this rate, 0 < rate <= line rate
    weft_time_ps timer_ps;   ///< absolute; WEFT_TIME_NEVER: no call wanted. Never earlier than now
    weft_bytes window_bytes; ///< payload in flight at most; UINT64_MAX: no window; 0: by credit
    bool new_path;           ///< packets are to take another path from now on; false before the call
    bool rests;              ///< on_sent would change nothing, until something else is told: it need not be called
};

/// How a receiver grants credit.
struct weft_cc_pull {
    uint32_t packets;      ///< that a grant is worth at most
    double rate;           ///< of its line
    weft_time_ps ahead_ps; ///< of its line: so much it grants, while nobody asks, to each that has what it asked for
};

/// The line rate for which the current values were chosen, and the parameter that shows it. A rate of 0: they follow
/// the line's rate, depend on none, or are the user's own.
struct weft_cc_values {
    weft_rate_bps rate_bps;
    const char *key;
};

struct weft_cc_ops {
    size_t (*state_size)(const void *conf);                                                             ///< required
    void (*on_start)(void *state, const void *conf, const struct weft_cc_fact *, struct weft_cc_act *); ///< required
    void (*on_cnp)(void *state, const void *conf, const struct weft_cc_fact *, struct weft_cc_act *);   ///< optional
    void (*on_timer)(void *state, const void *conf, const struct weft_cc_fact *, struct weft_cc_act *); ///< optional
    void (*on_sent)(void *state, const void *conf, const struct weft_cc_fact *, struct weft_cc_act *);  ///< optional
    void (*on_ack)(void *state, const void *conf, const struct weft_cc_fact *, struct weft_cc_act *);   ///< optional
    void (*on_loss)(void *state, const void *conf, const struct weft_cc_fact *, struct weft_cc_act *);  ///< optional
    /// Optional, all three or none: by credit of receivers. More was granted, of so many bytes; what a sender that has
    /// sent a packet wants to have been granted since the start; how a receiver grants. Needs a transport that says
    /// how it sends grants (weft_transport_ops.control_priority).
    void (*on_credit)(void *state, const void *conf, const struct weft_cc_fact *, struct weft_cc_act *);
    weft_bytes (*target)(const void *state, const void *conf, const struct weft_cc_fact *);
    struct weft_cc_pull (*pull)(const void *conf);
    bool (*by_credit)(const void *conf); ///< optional: is it so under this configuration?
    /// Required. NULL, or which invariant is broken.
    const char *(*check)(const void *state, const void *conf, const struct weft_cc_act *);
    bool moves_path;  ///< may answer with new_path
    bool wants_marks; ///< goes by fact.marked: needs a transport whose acknowledgements say so
    struct weft_cc_values (*values_of)(const void *conf); ///< optional: without it, of no rate
    /// Optional. Data packets collect telemetry, and acknowledgements bring it back; so much longer is each frame.
    weft_bytes (*telemetry_bytes)(const void *conf);
    weft_model_still *still; ///< optional
};

/// Whether senders wait for credit of receivers.
static inline bool weft_cc_goes_by_credit(const struct weft_cc_ops *ops, const void *conf) {
    return ops->pull && (!ops->by_credit || ops->by_credit(conf));
}

#endif
