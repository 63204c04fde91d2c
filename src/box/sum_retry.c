// SPDX-License-Identifier: Apache-2.0
// Link-level retry (LLR).
#include "box/sums.h"

static const struct weft_result_column columns[] = {
    WEFT__SUM(link_retries, "link_retries", COUNT, "tries of frames that links sent again after bit errors (LLR)"),
};
const struct weft__sums weft__sums_retry = {WEFT_RESULT_COLUMNS(columns)};
