// SPDX-License-Identifier: Apache-2.0
// What the writers of results and the tables share.
#ifndef WEFT_REPORT_ROWS_H
#define WEFT_REPORT_ROWS_H

#include "base/json.h"
#include "weft/result.h"

/// The key by which the JSON names rows, in place of a member: that of an object of objects, or before single values.
/// NULL: there is none.
const struct weft_result_column *weft__result_key(const struct weft_result_table *table);
#define WEFT__RESULT_WHOLE(value) ((struct weft_result_value){.known = true, .whole = value})
#define WEFT__RESULT_REAL(value) ((struct weft_result_value){.known = isfinite(value), .real = value})
#define WEFT__RESULT_TEXT(value) ((struct weft_result_value){.known = (value) != NULL, .text = value})

#endif
