// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Bytes of the well-formed UTF-8 character at `s` (Unicode 15, table 3-7), or 0. Reads no further than the first wrong
/// byte, so a text that ends with NUL is safe.
static inline unsigned weft__utf8_length(const unsigned char *s) {
    unsigned n = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] <= 0xdf ? 2 : (s[0] & 0xf0) == 0xe0 ? 3 : s[0] >= 0xf0 ? 4 : 0;
    if (n == 4 && s[0] > 0xf4) return 0;
    for (unsigned i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f)) return 0; // overlong; surrogates
    if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f)) return 0; // overlong; above U+10FFFF
    return n;
}
