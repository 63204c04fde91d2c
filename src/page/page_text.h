// SPDX-License-Identifier: Apache-2.0
// The page of a report, split where its data go; made by tools/embed-page when weft is built.
#pragma once

#include <stdbool.h>

#include "base/stream.h"

/// False: d3 was not there when weft was built.
extern const bool weft__page_is_there;

/// The last one has no text.
extern const struct weft__page_part {
    const char *text;
    bool is_data;
} weft__page_parts[];

struct weft_report_page {
    struct weft__text_stream data; ///< JSON
    struct weft_arena *arena;
};
