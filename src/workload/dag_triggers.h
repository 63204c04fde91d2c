// SPDX-License-Identifier: Apache-2.0
// Triggers (weft/trigger.h) in a schedule: events at one host that start flows at others are messages of one byte. As
// in a run, the host of a trigger's first flow counts: an activation tells that host, and it tells the others. The
// messages represent the delay of the trigger. A multishot trigger receives them from any source, one after another;
// activations at its own host cannot be in that order, so then another host counts.
#pragma once

#include "dag_lanes.h"

/// A host that starts flows of a trigger; one entry per host.
struct weft__trigger_starter {
    uint32_t trigger, first, end; ///< flow[first .. end) of it
};
/// A list for each host, or each trigger: [first[i] .. first[i + 1]) of `of`.
struct weft__lists {
    uint32_t *first, *of;
};
struct weft__notes {
    const struct weft_workload *w;
    uint32_t tag0, tags;
    uint32_t *counter; ///< [triggers]: the host that counts
    struct weft__trigger_starter *starter;
    uint32_t *starter0;                        ///< [triggers + 1] of `starter`
    struct weft__lists activated;              ///< activations by trigger
    struct weft__lists happens, counts, waits; ///< by host: activations, triggers, entries of `starter`
    uint32_t *sent, *received;                 ///< [flows]: steps of the current host
};

/// Error if every host activates a multishot trigger.
enum weft_status weft__notes_make(const struct weft_workload *w, const char *name, struct weft_arena *arena,
                                  struct weft__notes *ret_notes, struct weft_error *ret_error);
/// Call it when all other steps of a host exist. `cpu`: the stream for its own steps.
void weft__notes_emit(struct weft__notes *n, struct weft__emitter *e, uint32_t host, uint8_t cpu);
