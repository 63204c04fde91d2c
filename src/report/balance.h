// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_REPORT_BALANCE_H
#define WEFT_REPORT_BALANCE_H

#include "base/json.h"
#include "weft/report.h"

/// Balance; collisions and load if the run was asked for them.
void weft__report_balance_table(FILE *file, const struct weft_run *run);
/// The keys "pfc_layers", "balance", "collisions", "load" and their objects.
void weft__report_balance_json(struct weft__json *j, const struct weft_run *run);

#endif
