// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_REPORT_JOBS_H
#define WEFT_REPORT_JOBS_H

#include "base/json.h"
#include "weft/report.h"

void weft__report_jobs_table(FILE *file, const struct weft_run *run);
/// The key "jobs" and its list.
void weft__report_jobs_json(struct weft__json *j, const struct weft_run *run);

#endif
