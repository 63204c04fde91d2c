// SPDX-License-Identifier: Apache-2.0
// What the user of a scenario should know before trusting its figures, although nothing is wrong with its text.
#ifndef WEFT_HINT_H
#define WEFT_HINT_H

#include "weft/scenario.h"

/// A congestion control whose values are of another line rate than the hosts have: no default and no preset is scaled.
/// One line for the first such host, in `arena`; NULL: there is none.
const char *weft_hint_values(const struct weft_scenario *scenario, const struct weft_topology *topology,
                             const struct weft_workload *workload, struct weft_arena *arena);

#endif
