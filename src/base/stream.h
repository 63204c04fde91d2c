// SPDX-License-Identifier: Apache-2.0
// Streams for which memory that runs out is what it is elsewhere (weft/memory.h), and which are closed then. What
// open_memstream makes loses text in silence.
#ifndef WEFT_BASE_STREAM_H
#define WEFT_BASE_STREAM_H

#include <stdio.h>

#include "weft/memory.h"

/// A stream into memory.
struct weft__text_stream {
    FILE *file;
    char *text; ///< what was flushed, with a 0 behind it; NULL: nothing
    size_t size, room;
    bool failed;
    struct weft_memory_cleanup cleanup;
};
/// The FILE, which is closed by the others. `stream` stays where it is until it is freed.
FILE *weft__text_stream_open(struct weft__text_stream *stream);
/// What has been written since it was opened or cleared; `size` bytes. It may be written on.
const char *weft__text_stream_text(struct weft__text_stream *stream);
void weft__text_stream_clear(struct weft__text_stream *stream);
void weft__text_stream_free(struct weft__text_stream *stream);

/// fopen; NULL with errno, which is never ENOMEM. To read: a named pipe without a writer is empty.
FILE *weft__file_open(const char *path, const char *mode);

#endif
