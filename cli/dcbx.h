// SPDX-License-Identifier: Apache-2.0
// What weft dcbx found in a capture, and how it is shown.
#pragma once

#include "weft/dcbx.h"
#include "weft/result.h"

/// One LLDPDU of one sender; repetitions are counted.
struct weft_cli_dcbx_said {
    struct weft_dcbx_end end;
    struct weft_lldpdu pdu;
    uint64_t frames, first;                       ///< first: number of the frame, from 1
    const struct weft_dcbx_operation *negotiated; ///< NULL: not asked
    struct weft_cli_dcbx_said *next;
    struct weft_cli_dcbx_said *alike; ///< in the same bucket
};

enum { WEFT_CLI_DCBX_BUCKETS = 4096 };

struct weft_cli_dcbx {
    const char *file;
    uint64_t frames, lldp, wrong; ///< wrong: unreadable LLDP frames
    uint64_t wrong_first;
    const char *wrong_why;
    struct weft_cli_dcbx_said *said, *last; ///< in order of first appearance
    struct weft_cli_dcbx_said *bucket[WEFT_CLI_DCBX_BUCKETS];
    const struct weft_dcbx_end *own; ///< NULL: do not negotiate
};

extern const struct weft_answer weft__answer_dcbx;
/// A struct weft_cli_dcbx, for people.
void weft_cli_dcbx_print(FILE *file, const void *dcbx);
