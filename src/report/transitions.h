// SPDX-License-Identifier: Apache-2.0
// How the tables of a Clique followed failures and repairs of links, in the table and in JSON.
#ifndef WEFT_REPORT_TRANSITIONS_H
#define WEFT_REPORT_TRANSITIONS_H

#include <stdio.h>

#include "base/json.h"
#include "weft/tin_outcome.h"

void weft__report_transitions(FILE *file, const struct weft_tin_outcome *o);
/// Keys of the object that is open.
void weft__report_transitions_json(struct weft__json *j, const struct weft_tin_outcome *o);

#endif
