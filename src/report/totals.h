// SPDX-License-Identifier: Apache-2.0
// Totals of a run, used by everything that shows one.
#pragma once

#include "weft/report.h"

uint64_t weft__report_drops(const struct weft_outcome *outcome); ///< packets, for any reason
const char *weft__report_end_name(enum weft_end end);            ///< "done", "until", "interrupted", "stall"
