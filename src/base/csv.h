// SPDX-License-Identifier: Apache-2.0
// Comma-separated values (RFC 4180).
#ifndef WEFT_BASE_CSV_H
#define WEFT_BASE_CSV_H

#include <stdio.h>
#include <string.h>

/// Writes a field, quoted if it contains a comma, a quote or the end of a line.
static inline void weft__csv_text(FILE *file, const char *text) {
    const char *odd = strpbrk(text, ",\"\r\n");
    if (odd) putc('"', file);
    for (; *text; text++) {
        if (*text == '"') putc('"', file);
        putc(*text, file);
    }
    if (odd) putc('"', file);
}

#endif
