// SPDX-License-Identifier: Apache-2.0
// Source flow control in a switch: asks the model, counts for it what feeds a queue, and keeps the minimum times
// between messages. While queues are below the model's threshold, nothing here is touched.
#pragma once

#include "weft/sfc.h"

/// What is remembered of a flow, a source or an input at a queue.
struct weft__sfc_note {
    uint64_t key; ///< 0: empty
    weft_time_ps time_ps;
};

/// What has fed a queue in this round and in the previous one.
struct weft__sfc_degree {
    weft_time_ps round_ps; ///< start of this round
    struct weft__sfc_round {
        uint32_t flows, inputs;
        weft_rate_bps feed_rate_bps;
    } now, before;
};

struct weft__sfc {
    const struct weft_sfc_ops *ops;
    const struct weft_sfc_conf *conf;
    weft_bytes watch_bytes;
    weft_time_ps memory_ps; ///< length of a round; 0: nothing is counted
    weft_time_ps keep_ps;   ///< a note older than this means nothing any more
    uint32_t queues;
    struct weft__sfc_degree *degree[WEFT_PRIORITIES]; ///< [queues]; NULL before the first
    struct weft__sfc_note *note;
    uint32_t notes, capacity; ///< capacity: a power of two, or 0
};

/// A packet that joined a queue.
struct weft__sfc_packet {
    uint32_t queue; ///< its number in the switch
    uint32_t priority, qp, src, in;
    weft_rate_bps in_rate_bps;
};

/// `queues`: of one priority.
void weft__sfc_init(struct weft__sfc *sfc, const struct weft_model_conf *model, uint32_t queues);
void weft__sfc_deinit(struct weft__sfc *sfc);
/// Counts the packet as feeding its queue; fills in flows, inputs and feed_rate_bps of the fact.
void weft__sfc_count(struct weft__sfc *sfc, const struct weft__sfc_packet *packet, struct weft_sfc_fact *fact);
struct weft_sfc_act weft__sfc_judge(const struct weft__sfc *sfc, const struct weft_sfc_fact *fact);
/// Whether the minimum times allow a message now; if so, it counts as sent.
bool weft__sfc_allow(struct weft__sfc *sfc, const struct weft__sfc_packet *packet, weft_time_ps now);
