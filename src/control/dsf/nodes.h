// SPDX-License-Identifier: Apache-2.0
// Events of the interface nodes of a fabric, as FSDB and BGP see them.
#pragma once

#include "weft/control.h"

/// FSDB of a fabric, with those events that concern it; *ret_index: outcome i belongs to given->event[(*ret_index)[i]].
/// In `arena`.
struct weft_fsdb_result *weft__nodes_fsdb(const struct weft_topology *t, const struct weft_fabric *f,
                                          const struct weft_control_given *given, struct weft_arena *arena,
                                          uint32_t **ret_index, uint32_t *ret_n);
