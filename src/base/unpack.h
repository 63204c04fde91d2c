// SPDX-License-Identifier: Apache-2.0
// Files that may be compressed by gzip (RFC 1952) or zstd (RFC 8878): reading gives their uncompressed content. They
// are recognised by their first bytes, whatever their name; a pipe is read unchanged. Neither the file nor its content
// is in memory as a whole.
#pragma once

#include <stdio.h>

/// A compressed file whose content is larger than this and than WEFT__UNPACK_RATIO times its own size is refused: files
/// made to flood the reader (zip bombs) are thousands of times smaller than their content.
#define WEFT__UNPACK_FREE (64u << 20)
#define WEFT__UNPACK_RATIO 200u

/// For reading from beginning to end; a compressed file does not support seeking. NULL with errno, like
/// weft__file_open; a folder gives EISDIR. A failure while reading sets ferror, and weft__file_why explains errno.
FILE *weft__file_open_unpacked(const char *path);
/// The meaning of an errno from weft__file_open_unpacked, or from reading its stream. If memory ran out, jumps to the
/// guard.
const char *weft__file_why(int why);
