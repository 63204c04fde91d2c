// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SIM_CHECKPOINT_H
#define WEFT_SIM_CHECKPOINT_H

#include "sim/run.h"

/// The engine has stopped: writes what is to be written. True: it is to go on.
bool weft__checkpoint_on(struct weft__run *run);

#endif
