// SPDX-License-Identifier: Apache-2.0
// Streams that handle running out of memory as elsewhere (weft/memory.h), and are closed then. A stream from
// open_memstream loses text silently.
#pragma once

#include <dirent.h>
#include <stdio.h>

#include "weft/memory.h"

/// A stream into memory.
struct weft__text_stream {
    FILE *file;
    char *text; ///< the flushed text, followed by a 0; NULL: none
    size_t size, room;
    bool failed;
    struct weft_memory_cleanup cleanup;
};
/// Returns the FILE, which the other functions close. `stream` must not move until it is freed.
FILE *weft__text_stream_open(struct weft__text_stream *stream);
/// The text written since it was opened or cleared; `size` bytes. Writing may continue.
const char *weft__text_stream_text(struct weft__text_stream *stream);
void weft__text_stream_clear(struct weft__text_stream *stream);
void weft__text_stream_free(struct weft__text_stream *stream);
/// One that lives until the end of the block, and its FILE: WEFT__TEXT_STREAM(stream, file);
#define WEFT__TEXT_STREAM(stream, file)                                                                                \
    WEFT_ENDS(weft__text_stream_free) struct weft__text_stream stream;                                                 \
    FILE *file = weft__text_stream_open(&stream)

/// fopen; NULL with errno, which is never ENOMEM. For reading: a named pipe without a writer is empty.
FILE *weft__file_open(const char *path, const char *mode);
/// opendir; NULL with errno, which is never ENOMEM. Until weft__folder_close, `cleanup` closes it when memory runs out.
DIR *weft__folder_open(const char *path, struct weft_memory_cleanup *cleanup);
void weft__folder_close(DIR *folder, struct weft_memory_cleanup *cleanup);
/// fclose, as a clean-up (weft_memory_cleanup_add).
void weft__file_close(void *file);

// A file is first written under another name, its draft, and then renamed, so that no reader sees an incomplete file.
/// The name of this process's draft of `path`: "path.PID.tmp", in `arena`. Removes drafts of the same file that dead
/// processes have left.
const char *weft__draft_name(const char *path, struct weft_arena *arena);

/// From now on names of drafts are kept, for this: whatever of them is a file still is removed, by any thread, and
/// whoever then asks for a draft waits for the end of the process.
void weft__drafts_keep(void);
void weft__drafts_remove(void);

// Files that may be compressed by gzip (RFC 1952) or zstd (RFC 8878): reading gives their uncompressed content. They
// are recognised by their first bytes, whatever their name; a pipe is read unchanged. Neither the file nor its content
// is in memory as a whole.
/// A compressed file whose content is larger than this and than WEFT__UNPACK_RATIO times its own size is refused: files
/// made to flood the reader (zip bombs) are thousands of times smaller than their content.
#define WEFT__UNPACK_FREE (64u << 20)
#define WEFT__UNPACK_RATIO 200u

/// For reading from beginning to end, behind a byte order mark if there is one; a compressed file does not support
/// seeking. NULL with errno, like weft__file_open; a folder gives EISDIR. A failure while reading sets ferror, and
/// weft__file_why explains errno.
FILE *weft__file_open_unpacked(const char *path);
/// The meaning of an errno from weft__file_open_unpacked, or from reading its stream. If memory ran out, jumps to the
/// guard.
const char *weft__file_why(int why);
