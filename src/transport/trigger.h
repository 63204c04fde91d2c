// SPDX-License-Identifier: Apache-2.0
// Running triggers (weft/trigger.h). A host that activates a trigger tells the host that counts, and this one tells the
// hosts whose flows start. All of this uses packets outside the network, so the result is the same on any number of
// threads.
#pragma once

#include "transport/endpoint.h"

/// All triggers of a run. Only the host that counts a trigger accesses its state.
struct weft__triggers {
    const struct weft_workload *workload;
    uint32_t *first[2]; ///< [flows + 1] of `activated`: by acknowledgement; by delivery
    uint32_t *activated[2];
    uint32_t *home;        ///< [triggers]: the host that counts
    uint32_t *activations; ///< [triggers]: the count so far
    weft_time_ps *last_ps; ///< [hosts]: when it last sent
    uint32_t *qp;          ///< [flows]: the first queue pair of one that waits
    const uint32_t *node;  ///< [hosts]
};

/// A flow was acknowledged at this host, or delivered.
void weft__trigger_on_flow(struct weft__endpoint *end, struct weft__worker *w, uint32_t flow, bool delivered);
void weft__trigger_on_packet(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w,
                             const struct weft_packet *p);
