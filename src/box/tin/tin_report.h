// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "box/tin/tin_outcome.h"
#include "weft/report.h"

/// What the table of a run reports about its Cliques.
void weft__tin_report(FILE *file, const struct weft_run *run);
