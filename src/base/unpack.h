// SPDX-License-Identifier: Apache-2.0
// Files that may be compressed by gzip (RFC 1952) or zstd (RFC 8878): they are read as what they hold. They are known
// by their first bytes, whatever their name; a pipe is read as it is. Neither the file nor what it holds is in memory
// as a whole.
#ifndef WEFT_BASE_UNPACK_H
#define WEFT_BASE_UNPACK_H

#include <stdio.h>

/// A compressed file that holds more than this and more than WEFT__UNPACK_RATIO times its own size is refused: files
/// that are made to fill the reader (zip bombs) are thousands of times smaller than what they hold.
#define WEFT__UNPACK_FREE (64u << 20)
#define WEFT__UNPACK_RATIO 200u

/// To read from the beginning to the end; a compressed file cannot be sought in. NULL with errno, as weft__file_open; a
/// folder is EISDIR. A failure while reading is ferror, and weft__file_why says what errno then means.
FILE *weft__file_open_unpacked(const char *path);
/// What an errno of weft__file_open_unpacked, or of reading what it gave, means. Memory that ran out: to the guard.
const char *weft__file_why(int why);

#endif
