// SPDX-License-Identifier: Apache-2.0
// Triggers at work (weft/trigger.h): a host that activates one tells the host that counts, and this one the hosts whose
// flows start. All by packets outside the network, so the result is the same on any number of threads.
#ifndef WEFT_TRANSPORT_TRIGGER_H
#define WEFT_TRANSPORT_TRIGGER_H

#include "transport/endpoint.h"

/// All of a run's; of a trigger only the host that counts looks at its state.
struct weft__triggers {
    const struct weft_workload *workload;
    uint32_t *first[2]; ///< [flows + 1] of `activated`: by acknowledgement; by delivery
    uint32_t *activated[2];
    uint32_t *home;        ///< of a trigger: the host that counts
    uint32_t *activations; ///< of a trigger, so far
    weft_time_ps *last_ps; ///< of a host: when it sent last
    uint32_t *qp;          ///< of a flow that waits: its first queue pair
    const uint32_t *node;  ///< of a host
};

/// A flow is acknowledged at this host, or delivered.
void weft__trigger_on_flow(struct weft__endpoint *end, struct weft__worker *w, uint32_t flow, bool delivered);
void weft__trigger_on_packet(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w,
                             const struct weft_packet *p);

#endif
