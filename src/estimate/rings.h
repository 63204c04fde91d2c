// SPDX-License-Identifier: Apache-2.0
// Operations whose ranks pass pieces round a ring, each as one flow.
#pragma once

#include "estimate/fluid.h"

void weft__rings_new(struct weft__fluid *x);
void weft__rings_free(struct weft__fluid *x);
