// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run.h"

/// The engine has stopped: writes a checkpoint if one is due. True: the run continues.
bool weft__checkpoint_on(struct weft__run *run);
