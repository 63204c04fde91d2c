// SPDX-License-Identifier: Apache-2.0
// What of ports and of models goes into the state of a network with nothing in flight.
#pragma once

#include "base/digest.h"
#include "base/timers.h"
#include "weft/model.h"

struct weft__port;

/// The state of one end of a link.
void weft__port_fingerprint(const struct weft__port *port, struct weft__fingerprint *s);
/// The state of a model; NULL: it keeps none. Returns NULL, or why it cannot be mixed: in `arena`, with the model's
/// name.
const char *weft__model_fingerprint(const struct weft_model *model, weft_model_fingerprint *fingerprint,
                                    const void *state, const void *conf, struct weft__fingerprint *s,
                                    struct weft_arena *arena);
