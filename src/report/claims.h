// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_REPORT_CLAIMS_H
#define WEFT_REPORT_CLAIMS_H

#include "weft/report.h"

struct weft__json;
/// Writes member "claims" of the current object.
void weft__json_claims(struct weft__json *j, const struct weft_claim_result *result, uint32_t n);

#endif
