// SPDX-License-Identifier: Apache-2.0
// Results of mechanisms: those of a run, and whether they acted.
#include "mechanisms.h"
#include "results/rows.h"

struct rows {
    struct weft__mechanism_row *row;
    uint32_t n;
};

/// A scenario that was loaded has models.
WEFT_RESULT_PRESENT(has_models, run->scenario->devices && run->scenario->device->sw.buffer.model)

static bool next_mechanism(struct weft_result_cursor *c) {
    struct rows *rows = c->state;
    if (!rows) {
        rows = c->state = weft_arena_alloc(c->arena, 1, sizeof *rows);
        rows->row = weft__report_mechanisms(c->run, c->arena, &rows->n);
    }
    if (c->at == rows->n) return false;
    c->part[0] = &rows->row[c->at++];
    return true;
}

WEFT_RESULT_VALUE(name_of, WEFT__RESULT_TEXT(((const struct weft__mechanism_row *)c->part[0])->is->name))

/// An amount of the watched quantity, if that is counted in `cells`.
static struct weft_result_value amount_of(const struct weft_result_cursor *c, bool cells, bool limit) {
    const struct weft__mechanism_row *row = c->part[0];
    bool known = row->is->watched && row->is->cells == cells && (row->use.limit || (!limit && row->use.nearest));
    return (struct weft_result_value){.known = known, .whole = limit ? row->use.limit : row->use.nearest};
}
WEFT_RESULT_VALUE(nearest_bytes, amount_of(c, false, false))
WEFT_RESULT_VALUE(limit_bytes, amount_of(c, false, true))
WEFT_RESULT_VALUE(nearest_cells, amount_of(c, true, false))
WEFT_RESULT_VALUE(limit_cells, amount_of(c, true, true))
WEFT_RESULT_VALUE_OF(idle_text, struct weft__mechanism_row, row,
                     (struct weft_result_value){.known = !row->use.acts, .text = row->is->nothing})

#define USE(field, kind, ...) WEFT_RESULT_NAMED(struct weft__mechanism_row, use.field, #field, kind, __VA_ARGS__)
const struct weft_result_table weft__results_mechanisms = WEFT_RESULT_TABLE_OF(
    "mechanisms", MAP, "a mechanism that devices are configured to use, whether or not it acted",
    WEFT_RESULT_AND(.next = next_mechanism, .present = has_models, .print = weft__report_mechanisms_table),
    WEFT_RESULT_CALL(name_of, "name", TEXT, "name of the mechanism", .flags = WEFT_RESULT_KEY),
    USE(devices, COUNT, "devices that are configured to use the mechanism"),
    USE(acts, COUNT, "actions of the mechanism: pause frames, marks, messages, CNPs, marked cells, ..."),
    WEFT_RESULT_CALL(idle_text, "idle", TEXT, "what has not happened, if the mechanism never acted",
                     .flags = WEFT_RESULT_SPARSE),
    WEFT_RESULT_CALL(
        nearest_bytes, "nearest_bytes", BYTES,
        "the fullest buffer or deepest queue that the mechanism watches, at the device that came nearest to its limit",
        .flags = WEFT_RESULT_SPARSE),
    WEFT_RESULT_CALL(limit_bytes, "limit_bytes", BYTES, "above this level that device acts",
                     .flags = WEFT_RESULT_SPARSE),
    WEFT_RESULT_CALL(nearest_cells, "nearest_cells", COUNT, "the deepest FIFO that the mechanism watches, in cells",
                     .flags = WEFT_RESULT_SPARSE),
    WEFT_RESULT_CALL(limit_cells, "limit_cells", COUNT, "cells above which the mechanism acts",
                     .flags = WEFT_RESULT_SPARSE));
