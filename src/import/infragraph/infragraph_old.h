// SPDX-License-Identifier: Apache-2.0
// InfraGraph before schema 1.0, where the network was a list of connections such as host.0.nic.0.eth.leaf.0.port.0:
// converted to an object of the present schema whose parts keep their places in the old one.
#pragma once

#include "weft/tree.h"

/// `root` itself, if it has no `connections`.
enum weft_status weft__infragraph_upgrade(const struct weft_tree *root, struct weft_arena *arena,
                                          const struct weft_tree **ret_root, struct weft_error *ret_error);
