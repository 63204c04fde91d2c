// SPDX-License-Identifier: Apache-2.0
// Whether the configuration of a SONiC switch holds together: headroom, thresholds, ECN, maps, PFC and its watchdog.
#pragma once

#include "weft/plan.h"
#include "weft/sonic.h"

enum weft_sonic_rule {
    WEFT_SONIC_HEADROOM,  ///< xoff is less than what still arrives after a pause
    WEFT_SONIC_POOL,      ///< what groups are to have is not in the pool
    WEFT_SONIC_THRESHOLD, ///< a threshold that its pool cannot have
    WEFT_SONIC_ECN,       ///< lossless queues pause before they mark, or drop
    WEFT_SONIC_PFC,       ///< PFC and priority groups with headroom are not the same priorities
    WEFT_SONIC_MAP,       ///< a class goes to the queue of one priority and the group of another
    WEFT_SONIC_WATCHDOG,  ///< times outside what SONiC takes
    WEFT_SONIC_RULES
};
extern const char *const weft_sonic_rule_names[WEFT_SONIC_RULES];
extern const char *const weft_sonic_rule_sources[WEFT_SONIC_RULES];

/// A value to be set, as in a JSON patch (RFC 6902).
struct weft_sonic_change {
    const char *pointer; ///< RFC 6901
    const char *value;
    bool there; ///< the field is in the file: "replace" rather than "add"
};

struct weft_sonic_finding {
    enum weft_sonic_rule rule;
    const char *where;  ///< "TABLE|key.field"
    const char *reason; ///< of the first port of which it holds
    uint32_t ports;     ///< of which it holds; 0: it is not about a port
    uint32_t changes;   ///< 0: no patch can mend it
    bool note;          ///< not a fault: a case that a sound value does not cover
    struct weft_sonic_change change[2];
    const char *name, *source;          ///< of the rule
    bool patched;                       ///< a patch can mend it
    const char *value;                  ///< what ports of the finding have in common; NULL: nothing but the place
    const struct weft_sonic_port *last; ///< that was counted
};

/// Findings and notes in the order of rules, in `arena`. `base`: the formula, and what the file does not say; its delay
/// is that of ports without a cable, 0: none is known. Each change takes the others as made, so that a second judgement
/// of the patched file finds none that a patch can mend. Findings that would set a field to different values have no
/// change.
struct weft_sonic_finding *weft_plan_sonic(const struct weft_sonic *sonic, const struct weft_plan_pfc_conf *base,
                                           struct weft_arena *arena, uint32_t *ret_findings);

/// What weft plan sonic answers.
struct weft_sonic_judgement {
    const char *plan, *file; ///< "sonic"; the first file
    uint32_t ports;
    struct weft_sonic_finding *finding; ///< findings and notes
    uint32_t findings, notes, patched;  ///< findings: with notes
    /// An operation of the patch. Readers ignore unknown members (RFC 6902, section 4), such as the reason.
    struct weft_sonic_operation {
        const char *op, *path, *value, *reason;
    } * operation;
    uint32_t operations;
};
struct weft_sonic_judgement weft_plan_sonic_judge(const struct weft_sonic *sonic, const struct weft_plan_pfc_conf *base,
                                                  const char *file, struct weft_arena *arena);
extern const struct weft_answer weft__answer_plan_sonic; ///< its table "patch" is the JSON patch
