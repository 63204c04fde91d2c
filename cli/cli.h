// SPDX-License-Identifier: Apache-2.0
// What the subcommands share. A subcommand gets its own name as argv[0] and returns the exit status (weft/error.h).
#ifndef WEFT_CLI_H
#define WEFT_CLI_H

#define WEFT_COMMAND(name, summary) int weft_cli_##name(int argc, char **argv);
#include "commands.def"
#undef WEFT_COMMAND

#endif
