// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_REPORT_TE_H
#define WEFT_REPORT_TE_H

#include "weft/report.h"

/// What the controller of traffic engineering did; nothing without one.
void weft__report_te_table(FILE *file, const struct weft_run *run);

#endif
