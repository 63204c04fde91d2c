// SPDX-License-Identifier: Apache-2.0
// Text files of any size, line by line and word by word, each with its place. Only one line is in memory. They may be
// compressed (base/unpack.c).
#pragma once

#include <stdio.h>

#include "base/units.h"
#include "weft/memory.h"

#define WEFT__LINE_MAX (1u << 20) ///< bytes of a line at most

struct weft__lines {
    FILE *file;
    const char *path;
    char *line; ///< the current line, which ends with 0, without the end of line
    size_t size, room;
    char *at;                ///< the unread part of it
    struct weft_place place; ///< of what was read last: the line, or a word of it
    struct weft_memory_cleanup cleanup;
};

/// The first `room` bytes of a file, to know it by, and a 0 behind them; returns how many they are. If they are all
/// comments ('#') and empty lines, these are passed over; *ret_lines: how many lines are.
size_t weft__file_read_head(FILE *file, char *head, size_t room, int *ret_lines);

/// The path relative to the folder of the file in which it is written, that of `place`. In `arena`.
const char *weft__path_beside(const char *path, struct weft_place place, struct weft_arena *arena);
/// `path` must live as long as the lines. A file that cannot be read is an error at `place`.
enum weft_status weft__lines_open(struct weft__lines *lines, const char *path, struct weft_place place,
                                  struct weft_error *ret_error);
void weft__lines_close(struct weft__lines *lines);
/// The next line, whatever it contains; *ret_more is false at the end of the file. A zero byte, a line that is too long
/// or a failure to read is an error.
enum weft_status weft__lines_next(struct weft__lines *lines, bool *ret_more, struct weft_error *ret_error);
/// The next line with a word that does not begin with '#'.
enum weft_status weft__lines_next_full(struct weft__lines *lines, bool *ret_more, struct weft_error *ret_error);
/// The next word of the line, without surrounding blanks; NULL: there is none. It lives as long as the line.
char *weft__lines_word(struct weft__lines *lines);
/// The next word of the file, whatever line it is on; *ret_word is NULL at the end of the file.
enum weft_status weft__lines_token(struct weft__lines *lines, char **ret_word, struct weft_error *ret_error);
/// The next field of a line with separators, "" if it is empty; *ret_last: it is the last one. Quoted fields (RFC 4180)
/// are unquoted. A line has at least one field.
char *weft__lines_field(struct weft__lines *lines, char separator, bool *ret_last);

/// An error unless the text read last, `text`, is UTF-8 without control characters, as required of names.
enum weft_status weft__lines_name(const struct weft__lines *lines, const char *text, struct weft_error *ret_error);
/// The next word as a whole number of at most `max`; `what` describes it in errors.
enum weft_status weft__lines_number(struct weft__lines *lines, const char *what, uint64_t max, uint64_t *ret_value,
                                    struct weft_error *ret_error);
/// The next word as a quantity (weft__number_parse).
enum weft_status weft__lines_quantity(struct weft__lines *lines, const char *what, enum weft__quantity quantity,
                                      const char *unit, uint64_t *ret_value, struct weft_error *ret_error);
/// An error unless the line has been read to its end; `what` was read last.
enum weft_status weft__lines_end(struct weft__lines *lines, const char *what, struct weft_error *ret_error);
