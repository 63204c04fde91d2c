// SPDX-License-Identifier: Apache-2.0
// Standard output on a terminal: lines fit its width (COLUMNS, or the terminal's own), and headings of tables, verdicts
// and errors have colours. In a pipe or a file everything is as it was printed.
#pragma once

#include <stdbool.h>

/// Call it before anything is printed.
void weft_cli_terminal_begin(void);
/// --color auto, always or never; false: none of these.
bool weft_cli_terminal_color(const char *when);
/// The output is for programs: from now on it is the same on a terminal as in a file.
void weft_cli_terminal_raw(void);
/// Prints everything kept so far, before something is printed to standard error.
void weft_cli_terminal_flush(void);
/// Prints everything kept. False, with errno: something could not be written.
bool weft_cli_terminal_end(void);
