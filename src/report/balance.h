// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "weft/report.h"

/// Balance; collisions and load if the run recorded them.
void weft__report_balance_table(FILE *file, const struct weft_run *run);
