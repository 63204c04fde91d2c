// SPDX-License-Identifier: Apache-2.0
// What the boxes of a DSF do under load. Counts are of the whole fabric.
#include "box/dsf/dsf_net.h"

static void look_at_rci(const struct weft_run *run, uint32_t node, const struct weft_device_conf *conf,
                        struct weft_arena *arena, struct weft__mechanism_use *use) {
    if (!weft__interface_conf(conf)->rci || use->devices++) return;
    use->acts = weft_outcome_dsf(run->outcome)->cells_marked;
}

static void look_at_marks(const struct weft_run *run, uint32_t node, const struct weft_device_conf *conf,
                          struct weft_arena *arena, struct weft__mechanism_use *use) {
    weft__mechanism_saw(use, weft_outcome_dsf(run->outcome)->seen->fabric_cells.max,
                        weft__fabric_conf(conf)->mark_cells);
}

static void look_at_llfc(const struct weft_run *run, uint32_t node, const struct weft_device_conf *conf,
                         struct weft_arena *arena, struct weft__mechanism_use *use) {
    const struct weft_dsf_outcome *o = weft_outcome_dsf(run->outcome);
    if (!weft__fabric_conf(conf)->llfc) return;
    use->devices++;
    use->acts = o->llfc_stops;
    weft__mechanism_saw(use, o->seen->fabric_cells.max, weft__fabric_conf(conf)->llfc_stop_cells);
}

#define RCI .name = "RCI", .nothing = "no cell marked", .watched = "deepest FIFO of a fabric node", .cells = true
static const struct weft__mechanism rci = {RCI, .look = look_at_rci}, marks = {RCI, .look = look_at_marks};
static const struct weft__mechanism llfc = {.name = "LLFC",
                                            .nothing = "no lane stopped",
                                            .watched = "deepest FIFO of a fabric node",
                                            .cells = true,
                                            .look = look_at_llfc};

/// Its AQM goes by VOQs. Marks are shown at the port by which the packets leave, which is one of the same boxes.
static void look_at_ecn(const struct weft_run *run, uint32_t node, const struct weft_device_conf *conf,
                        struct weft_arena *arena, struct weft__mechanism_use *use) {
    weft__mechanism_look_at_ecn(run, node, conf, weft_outcome_dsf(run->outcome)->voq_bytes_max, use);
}
static const struct weft__mechanism ecn = {WEFT__MECHANISM_ECN, .watched = "deepest VOQ", .look = look_at_ecn};

const struct weft__mechanisms weft__interface_mechanisms = {
    {&weft__mechanism_pfc, &ecn, &rci, &weft__mechanism_watchdog}};
const struct weft__mechanisms weft__fabric_mechanisms = {{&marks, &llfc}};
