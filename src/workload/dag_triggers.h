// SPDX-License-Identifier: Apache-2.0
// Triggers (weft/trigger.h) in a schedule: what happens at one host and starts flows at others is told by messages of
// one byte. As in a run, the host of a trigger's first flow counts: an activation tells it, and it tells the others.
// The messages stand for the delay of the trigger. A multishot trigger receives them from any source, one after
// another; activations of its own host could not be in that order, so then another host counts.
#ifndef WEFT_WORKLOAD_DAG_TRIGGERS_H
#define WEFT_WORKLOAD_DAG_TRIGGERS_H

#include "dag_lanes.h"

/// Hosts that start flows of a trigger, one behind the other.
struct weft__told {
    uint32_t trigger, first, end; ///< flow[first .. end) of it
};
/// A list for each host, or each trigger: [first[i] .. first[i + 1]) of `of`.
struct weft__lists {
    uint32_t *first, *of;
};
struct weft__notes {
    const struct weft_workload *w;
    uint32_t tag0, tags;
    uint32_t *counter; ///< [triggers] the host that counts
    struct weft__told *told;
    uint32_t *told0;                           ///< [triggers + 1] of `told`
    struct weft__lists activated;              ///< activations by trigger
    struct weft__lists happens, counts, waits; ///< by host: activations, triggers, entries of `told`
    uint32_t *sent, *received;                 ///< [flows] steps of the host under way
};

/// A multishot trigger that every host activates: an error.
enum weft_status weft__notes_make(const struct weft_workload *w, const char *name, struct weft_arena *arena,
                                  struct weft__notes *ret_notes, struct weft_error *ret_error);
/// When all other steps of a host are there. `cpu`: the stream of what it does.
void weft__notes_emit(struct weft__notes *n, struct weft__emitter *e, uint32_t host, uint8_t cpu);

#endif
