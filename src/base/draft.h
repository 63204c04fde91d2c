// SPDX-License-Identifier: Apache-2.0
// A file is first written under another name, its draft, and then renamed, so that no reader sees an incomplete file.
#pragma once

#include "weft/memory.h"

/// The name of this process's draft of `path`: "path.PID.tmp", in `arena`. Removes drafts of the same file that dead
/// processes have left.
const char *weft__draft_name(const char *path, struct weft_arena *arena);

/// From now on names of drafts are kept, for this: whatever of them is a file still is removed, by any thread, and
/// whoever then asks for a draft waits for the end of the process.
void weft__drafts_keep(void);
void weft__drafts_remove(void);
