// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdio.h>

/// The JSON schema of a scenario file, draft 2020-12, made from the tables of parameters.
void weft_cli_schema(FILE *file);
/// The parameters of a key that its table leaves to the model to read (weft_param_table.lists), if it is a section;
/// NULL: it is a list.
const struct weft_param_table *weft_cli_list_table(const char *key);
