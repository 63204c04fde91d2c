// SPDX-License-Identifier: Apache-2.0
// Resolves paths with symbolic links, for names from an untrusted file.
#pragma once

#include "weft/memory.h"

/// Whether `path` is `folder` or leads below it. The last components of both need not exist. False for what cannot be
/// resolved: a symbolic link to nothing, or ".." after a component that does not exist.
bool weft__path_is_below(const char *path, const char *folder, struct weft_arena *arena);
