// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_BOX_TIN_TIN_REPORT_H
#define WEFT_BOX_TIN_TIN_REPORT_H

#include "weft/report.h"
#include "weft/tin_outcome.h"

/// What the table of a run reports about its Cliques.
void weft__tin_report(FILE *file, const struct weft_run *run);

#endif
