// SPDX-License-Identifier: Apache-2.0
// JSON files of any size, and the places in the text of what was read.
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "weft/memory.h"

struct weft__json_file {
    json_t *root; ///< an object
    const char *path;
    char *text; ///< of the file, followed by a 0
    size_t size, room;
    struct weft_memory_cleanup cleanup;
};

/// `path` must live as long as the file's places. A file that cannot be read is an error at `place`. Text that is not
/// JSON, an object with a duplicate key, or a root that is not an object, is an error in the file.
enum weft_status weft__json_open(struct weft__json_file *file, const char *path, struct weft_place place,
                                 struct weft_error *ret_error);
void weft__json_close(struct weft__json_file *file);
/// The places of the elements of the list that is the value of `key` in the root object; `n` of them, in the arena.
struct weft_place *weft__json_places(const struct weft__json_file *file, const char *key, size_t n,
                                     struct weft_arena *arena);

/// Reads the objects of a stream or list one at a time; one object is in memory.
struct weft__json_objects {
    FILE *file;
    size_t bytes_max;        ///< of an object
    struct weft_place at;    ///< of the next byte; at first line 1, column 1 of the file
    struct weft_place place; ///< of the object read last
    size_t size;             ///< of the object being read, so far
    bool list, ended;
};
/// The next object, which the caller releases; NULL: at the end, or an error. A failure of the stream: ferror.
json_t *weft__json_objects_next(struct weft__json_objects *o, struct weft_error *ret_error);
/// json_decref, as a clean-up (weft_memory_cleanup_add).
void weft__json_release(void *value);
