// SPDX-License-Identifier: Apache-2.0
// The results of a kind of box besides its ports and drops: its part of the outcome, and the tables that show it. Code
// that reads or writes results uses this and knows no kind of box.
#pragma once

#include "weft/outcome.h"
#include "weft/result.h"

/// Boxes of several kinds may share it: one part for all of them.
struct weft__box_results {
    /// Makes the empty part of a run in the outcome's arena: outcome->part of its kinds.
    void *(*make)(struct weft_outcome *outcome, const struct weft_topology *t);
    uint64_t (*mix)(uint64_t digest, const void *part); ///< includes every number of it
    const char *family;                                 ///< of its tables: the page docs/results/<family>.md
    /// In the order of the JSON; a table precedes those that are part of it.
    const struct weft_result_table *const *table;
    uint32_t tables;
    const char *lone; ///< reason why a flow alone takes longer than its ideal
};

/// For a kind of node; NULL: nothing, or an earlier kind has the same.
const struct weft__box_results *weft__box_results_of(uint32_t kind);
/// Makes the parts of all kinds that the topology has.
void weft__box_results_make(struct weft_outcome *outcome, const struct weft_topology *t);
