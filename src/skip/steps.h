// SPDX-License-Identifier: Apache-2.0
// Repeated steps of collectives, taken over instead of run; see steps.c.
#pragma once

#include "skip/repeat.h"

struct weft__steps;

struct weft__steps *weft__steps_new(struct weft__skips *skips);
/// The engine has stopped between two windows, whatever is in flight. Returns when it should stop again.
weft_time_ps weft__steps_look(struct weft__steps *s);
/// Frees its memory.
void weft__steps_end(struct weft__steps *s);
