// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_CLI_SCHEMA_H
#define WEFT_CLI_SCHEMA_H

#include <stdio.h>

/// The JSON schema of a scenario file, draft 2020-12, made from the tables of parameters.
void weft_cli_schema(FILE *file);

#endif
