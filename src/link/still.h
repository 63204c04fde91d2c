// SPDX-License-Identifier: Apache-2.0
// What of ports and of models goes into the state of a network with nothing in flight.
#ifndef WEFT_LINK_STILL_H
#define WEFT_LINK_STILL_H

#include "base/still.h"
#include "base/timers.h"
#include "weft/model.h"

struct weft__port;

/// The state of one end of a link.
void weft__port_still(const struct weft__port *port, struct weft__still *s);
/// The state of a model; NULL: it keeps none. Returns NULL, or why it cannot be mixed: in `arena`, with the model's
/// name.
const char *weft__model_still(const struct weft_model *model, weft_model_still *still, const void *state,
                              const void *conf, struct weft__still *s, struct weft_arena *arena);

#endif
