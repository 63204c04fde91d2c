// SPDX-License-Identifier: Apache-2.0
// Messages of a capture as flows.
#pragma once

#include "capture_queues.h"
#include "weft/import.h"

struct weft__capture_flow {
    uint32_t src, dst; ///< numbers of addresses
    uint8_t verb;
    weft_time_ps start_ps;
    weft_bytes bytes;
};

struct weft__capture_flows {
    struct weft_decode decode;
    uint64_t flows;
    struct weft__capture_flow *flow; ///< by start
    uint32_t addresses;
    struct weft_decode_address *address; ///< in the order of the given list, then of first appearance
    uint64_t taken_front, taken_back;    ///< of the flows, those that began before the capture, or ended after it or
                                         ///< with losses
    uint64_t empty, atomics, echoes,
        own;          ///< omitted: without payload; READ responses to requests; to the sender itself
    uint64_t answers; ///< flows of READ responses without requests
    weft_bytes bytes;
};

/// `addresses`: those of the first numbers, separated by commas; may be "". Errors of the list are at `place`.
/// `queues`: gets what it needs; NULL: none.
enum weft_status weft__capture_flows_read(const char *path, const char *addresses, struct weft_place place,
                                          struct weft__capture_queues *queues, struct weft_arena *arena,
                                          struct weft__capture_flows *ret, struct weft_error *ret_error);
/// Calls `say` for each difference from the capture, in words: what was omitted, what was assumed.
void weft__capture_flows_tell(const struct weft__capture_flows *flows,
                              void (*say)(void *context, enum weft_import_note note, const char *text), void *context);
