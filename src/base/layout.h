// SPDX-License-Identifier: Apache-2.0
// Text that is to fit a terminal: tables whose lines are too long are folded between columns, with the first columns
// repeated; where these leave no room, the table is turned: a line for each cell, behind the heading of its column.
// Other lines are wrapped between words. Characters are counted, each as one column.
#ifndef WEFT_BASE_LAYOUT_H
#define WEFT_BASE_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { WEFT__LAYOUT_ANY = UINT16_MAX }; ///< a width that everything fits

/// Whether a line may be one of a table: it has two gaps of two blanks at least.
bool weft__layout_tabular(const char *line);
/// Writes the lines of a table. `bold`: its heading is bold, by escape sequences. False: memory ran out, and nothing is
/// written.
bool weft__layout_table(FILE *file, const char *const *line, uint32_t lines, unsigned width, bool bold);
/// Writes one line, wrapped if it is too long; what continues it is indented like its text, after a label if it has
/// one. A command of weft, on an indented line of its own, is left alone.
void weft__layout_line(FILE *file, const char *line, unsigned width);
/// Whether a line goes on with the sentence of the one before, which was broken for want of room.
bool weft__layout_continues(const char *before, const char *line, unsigned width);

#endif
