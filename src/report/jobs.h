// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "weft/report.h"

void weft__report_jobs_table(FILE *file, const struct weft_run *run);

/// For a job: lines of its table.
void weft__report_admission_table(FILE *file, const struct weft_run *run, uint32_t job);
