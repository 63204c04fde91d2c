// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_REPORT_JOBS_H
#define WEFT_REPORT_JOBS_H

#include "base/json.h"
#include "weft/report.h"

void weft__report_jobs_table(FILE *file, const struct weft_run *run);
/// The key "jobs" and its list.
void weft__report_jobs_json(struct weft__json *j, const struct weft_run *run);

/// Of a job: lines of its table, and the key "admission" of its object.
void weft__report_admission_table(FILE *file, const struct weft_run *run, uint32_t job);
void weft__report_admission_json(struct weft__json *j, const struct weft_run *run, uint32_t job);

#endif
