// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SIM_CHECKPOINT_H
#define WEFT_SIM_CHECKPOINT_H

#include "sim/run.h"

/// The engine has stopped: writes a checkpoint if one is due. True: the run continues.
bool weft__checkpoint_on(struct weft__run *run);

#endif
