// SPDX-License-Identifier: Apache-2.0
// Text of a stall: lists of which the first lines are printed.
#ifndef WEFT_SIM_STALL_H
#define WEFT_SIM_STALL_H

#include <stdio.h>

#include "box/network.h"

struct weft__stall_list {
    FILE *text;
    const char *title; ///< printed before the first line
    uint32_t lines, more;
};
/// Whether another line is to be printed.
bool weft__stall_line(struct weft__stall_list *list);
/// Says how many were not.
void weft__stall_end(const struct weft__stall_list *list);

/// stall_tin.c: virtual channels without credits, packets without CTS, remote memory access without an answer.
void weft__stall_say_cliques(FILE *text, const struct weft__network *net);

#endif
