// SPDX-License-Identifier: Apache-2.0
// Files that no importer recognises: what is at their beginning, and what was expected there.
#pragma once

#include "weft/import.h"

/// An error at the place in the file. `importer`: the expected format; NULL: any.
enum weft_status weft__import_unknown(const struct weft_import_file *file, const struct weft_model *importer,
                                      struct weft_arena *arena, struct weft_error *ret_error);
