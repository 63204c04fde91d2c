// SPDX-License-Identifier: Apache-2.0
// Text that must fit a terminal. Tables whose lines are too long are folded between columns, repeating the first
// columns. If these leave no room, the table is turned: one line per cell, after the heading of its column. Other lines
// are wrapped between words. Each character counts as one column.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { WEFT__LAYOUT_ANY = UINT16_MAX }; ///< a width in which everything fits

/// Whether a line may belong to a table: it has two gaps of at least two blanks.
bool weft__layout_tabular(const char *line);
/// Writes the lines of a table. `bold`: its heading is bold, by escape sequences. False: memory ran out, and nothing
/// was written.
bool weft__layout_table(FILE *file, const char *const *line, uint32_t lines, unsigned width, bool bold);
/// Writes one line, wrapped if it is too long; continuation lines are indented like its text, after a label if it has
/// one. A weft command on an indented line of its own is not wrapped.
void weft__layout_line(FILE *file, const char *line, unsigned width);
/// Whether a line continues the sentence of the previous line, which was broken for lack of room.
bool weft__layout_continues(const char *before, const char *line, unsigned width);
