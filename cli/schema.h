// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdio.h>

/// The JSON schema of a scenario file, draft 2020-12, made from the tables of parameters.
void weft_cli_schema(FILE *file);
