// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "weft/report.h"

/// Prints why the only flow of a run took longer than its ideal; nothing if it did not, or if there are others.
void weft__report_lone(FILE *file, const struct weft_run *run);
