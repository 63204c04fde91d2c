// SPDX-License-Identifier: Apache-2.0
// How the tables of a Clique followed failures and repairs of links, in the table.
#ifndef WEFT_REPORT_TRANSITIONS_H
#define WEFT_REPORT_TRANSITIONS_H

#include <stdio.h>

#include "weft/tin_outcome.h"

void weft__report_transitions(FILE *file, const struct weft_tin_outcome *o);

#endif
