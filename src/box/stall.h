// SPDX-License-Identifier: Apache-2.0
// Text of a stall: lists, of which only the first lines are printed.
#pragma once

#include <stdio.h>

#include "weft/types.h"

struct weft__stall_list {
    FILE *text;
    const char *title; ///< printed before the first line
    uint32_t lines, more;
};
/// Whether another line is to be printed.
bool weft__stall_line(struct weft__stall_list *list);
/// Says how many lines were not printed.
void weft__stall_end(const struct weft__stall_list *list);
