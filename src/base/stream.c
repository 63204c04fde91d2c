// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // fopencookie
#include "base/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROOM_FIRST = 256 };

/// It is called from within the C library, so it can report failure only by its return value.
static ssize_t append_text(void *context, const char *bytes, size_t size) {
    struct weft__text_stream *s = context;
    if (size >= s->room - s->size) {
        size_t room = s->room ? s->room : ROOM_FIRST;
        while (room - s->size <= size)
            room *= 2;
        char *text = realloc(s->text, room);
        s->failed |= !text;
        if (!text) return 0;
        s->text = text;
        s->room = room;
    }
    memcpy(s->text + s->size, bytes, size);
    s->size += size;
    s->text[s->size] = 0;
    return (ssize_t)size;
}

static void close_stream(void *context) {
    struct weft__text_stream *s = context;
    fclose(s->file);
    free(s->text);
    *s = (struct weft__text_stream){0};
}

FILE *weft__text_stream_open(struct weft__text_stream *s) {
    *s = (struct weft__text_stream){0};
    s->file = fopencookie(s, "w", (cookie_io_functions_t){.write = append_text});
    if (!s->file) weft_memory_fail();
    weft_memory_cleanup_add(&s->cleanup, close_stream, s);
    return s->file;
}

const char *weft__text_stream_text(struct weft__text_stream *s) {
    fflush(s->file);
    if (s->failed) weft_memory_fail();
    return s->text ? s->text : "";
}

void weft__text_stream_clear(struct weft__text_stream *s) {
    weft__text_stream_text(s);
    s->size = 0;
    if (s->text) *s->text = 0;
}

void weft__text_stream_free(struct weft__text_stream *s) {
    weft_memory_cleanup_remove(&s->cleanup);
    close_stream(s);
}

/// A pipe without a writer counts as empty; it is not waited for.
static FILE *open_to_read(const char *path, const char *mode) {
    int number = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (number < 0) return NULL;
    int flags = fcntl(number, F_GETFL);
    FILE *file = flags >= 0 && !fcntl(number, F_SETFL, flags & ~O_NONBLOCK) ? fdopen(number, mode) : NULL;
    if (!file) close(number);
    return file;
}

FILE *weft__file_open(const char *path, const char *mode) {
    FILE *file = *mode == 'r' ? open_to_read(path, mode) : fopen(path, mode);
    if (!file && errno == ENOMEM) weft_memory_fail();
    return file;
}

void weft__file_close(void *file) {
    fclose(file);
}

static void close_folder(void *folder) {
    closedir(folder);
}

DIR *weft__folder_open(const char *path, struct weft_memory_cleanup *cleanup) {
    DIR *folder = opendir(path);
    if (!folder && errno == ENOMEM) weft_memory_fail();
    if (folder) weft_memory_cleanup_add(cleanup, close_folder, folder);
    return folder;
}

void weft__folder_close(DIR *folder, struct weft_memory_cleanup *cleanup) {
    weft_memory_cleanup_remove(cleanup);
    closedir(folder);
}
