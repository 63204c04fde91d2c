// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_REPORT_BALANCE_H
#define WEFT_REPORT_BALANCE_H

#include "weft/report.h"

/// Balance; collisions and load if the run recorded them.
void weft__report_balance_table(FILE *file, const struct weft_run *run);

#endif
