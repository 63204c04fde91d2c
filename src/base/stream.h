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
