// SPDX-License-Identifier: Apache-2.0
// Standard output on a terminal: lines fit its width (COLUMNS, or what the terminal says), and headings of tables,
// verdicts and faults have colours. In a pipe or a file everything is as it was printed.
#ifndef WEFT_CLI_TERMINAL_H
#define WEFT_CLI_TERMINAL_H

#include <stdbool.h>

/// Before anything is printed.
void weft_cli_terminal_begin(void);
/// --color auto, always or never; false: none of them.
bool weft_cli_terminal_color(const char *when);
/// What is printed now is for programs: on a terminal too it is as in a file.
void weft_cli_terminal_raw(void);
/// Prints what has been kept. False, with errno: something could not be written.
bool weft_cli_terminal_end(void);

#endif
