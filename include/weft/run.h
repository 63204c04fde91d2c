// SPDX-License-Identifier: Apache-2.0
// How a run ends, and where it spends its time: what the engine knows of its own outcome.
#pragma once

/// Where a run spends its time. X(enumerator, name, meaning)
#define WEFT_PHASES(X)                                                                                                 \
    X(SETUP, "setup", "queue pairs, routes, devices")                                                                  \
    X(GATHER, "gather", "what arrives in a window, sorted by node and time")                                           \
    X(NODES, "nodes", "the models of switches and NICs")                                                               \
    X(WAIT, "wait", "for the other workers")                                                                           \
    X(COLLECT, "collect", "sums, watermarks, digest")
enum weft_phase {
#define X(e, name, help) WEFT_PHASE_##e,
    WEFT_PHASES(X)
#undef X
        WEFT_PHASE_COUNT
};
extern const char *const weft_phase_names[WEFT_PHASE_COUNT];

enum weft_end {
    WEFT_END_DONE,
    WEFT_END_UNTIL, ///< run.until
    WEFT_END_INTERRUPTED,
    WEFT_END_STALL,
    WEFT_END_TIME,   ///< WEFT_TIME_MAX
    WEFT_END_PAUSED, ///< a driven run that can be gone on with; no result has it
};
