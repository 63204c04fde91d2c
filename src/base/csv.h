// SPDX-License-Identifier: Apache-2.0
// Comma-separated values (RFC 4180). A cell of text that a spreadsheet would take for a formula begins with an
// apostrophe (OWASP, "CSV Injection"): names can come from an untrusted file.
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Whether a cell begins like a formula and is neither a number nor a single sign.
static inline bool weft__csv_is_formula(const char *text) {
    if (!*text || !strchr("=+-@\t\r", *text) || !text[1]) return false;
    char *end;
    strtod(text, &end);
    return end == text || *end;
}

/// Writes a field, quoted if it contains a comma, a quote or the end of a line.
static inline void weft__csv_text(FILE *file, const char *text) {
    const char *odd = strpbrk(text, ",\"\r\n");
    if (odd) putc('"', file);
    if (weft__csv_is_formula(text)) putc('\'', file);
    for (; *text; text++) {
        if (*text == '"') putc('"', file);
        putc(*text, file);
    }
    if (odd) putc('"', file);
}
