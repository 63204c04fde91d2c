// SPDX-License-Identifier: Apache-2.0
// Lists of hosts as Slurm, pdsh and ClusterShell write them: "gpu[001-004,007],login1", "rack[1-2]node[01-16]". Source:
// hostlist of pdsh(1), scontrol(1) "show hostnames".
#pragma once

#include "weft/memory.h"

/// The names, in the list's order and with the digits of the range's first number. False, with the reason in `why`: a
/// bracket without an end, a range that goes down or has no number, or more than `max` names.
bool weft__host_list_expand(const char *text, uint32_t max, struct weft_arena *arena, const char ***ret_name,
                            uint32_t *ret_n, char *why, size_t size);
