// SPDX-License-Identifier: Apache-2.0
// Triggers while an entry of the workload is being made: they have the numbers that a file gives them.
#pragma once

#include "weft/workload.h"

enum weft__trigger_role { WEFT__TRIGGER_WAITS, WEFT__TRIGGER_ACKED, WEFT__TRIGGER_DELIVERED };

/// All zero: there are none.
struct weft__trigger_builder {
    struct weft__trigger_named {
        uint32_t id;
        enum weft_trigger_kind kind;
        uint32_t count;
        struct weft_place place;
    } * trigger;
    /// A flow waits for a trigger, or activates it.
    struct weft__trigger_use {
        uint32_t id, flow;
        enum weft__trigger_role role;
        struct weft_place place;
    } * use;
    size_t triggers, uses;
    uint32_t triggers_room, uses_room;
};
void weft__triggers_add(struct weft__trigger_builder *b, const struct weft__trigger_named *trigger);
/// `use`: its flow is already in the workload.
void weft__triggers_use(struct weft__trigger_builder *b, const struct weft__trigger_use *use);
/// Call it when all flows exist: moves the triggers into the workload, and marks the flows that wait for them. An
/// error, at the place of the trigger or of the flow (without a topology, hosts are not checked): a trigger that is
/// defined twice or not at all, or activated more often than it may; a flow that would never start.
enum weft_status weft__triggers_finish(struct weft__trigger_builder *b, weft_time_ps delay, struct weft_workload *w,
                                       struct weft_error *ret_error);
void weft__triggers_free(struct weft__trigger_builder *b);
