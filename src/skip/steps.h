// SPDX-License-Identifier: Apache-2.0
// Repeated steps of collectives, taken over instead of run; see steps.c.
#pragma once

#include "skip/store.h"

struct weft__steps;

struct weft__steps *weft__steps_new(struct weft__skips *skips);
/// The engine has stopped between two windows, whatever is in flight. Returns when it should stop again.
weft_time_ps weft__steps_look(struct weft__steps *s);
/// Stores what it knows of kinds of operations. False: nothing.
bool weft__steps_put(const struct weft__steps *s, struct weft__store *store);
/// Loads what an earlier run knew.
void weft__steps_get(struct weft__steps *s, struct weft__store *store);
/// Frees its memory.
void weft__steps_end(struct weft__steps *s);
