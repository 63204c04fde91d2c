// SPDX-License-Identifier: Apache-2.0
// Writes JSON (RFC 8259) to a stream immediately: it keeps only the current position, and some text. Misuse (a value
// without a key in an object, an end that does not match) is a bug and asserts.
//
//   struct weft__json j = {.file = stdout};
//   weft__json_begin_object(&j);
//   weft__json_key(&j, "seed");
//   weft__json_u64(&j, 1);
//   weft__json_end_object(&j);
#pragma once

#include <stdio.h>

#include "weft/types.h"

#define WEFT__JSON_DEPTH 64u
#define WEFT__JSON_KEPT 4000u
enum { WEFT__JSON_KEY = 32, WEFT__JSON_NUMBER = 24 }; ///< room for a key that is copied at once, and for a number

struct weft__json {
    FILE *file;
    uint32_t depth;
    bool keyed;      ///< a key was written and its value is due
    uint64_t object; ///< bit d: level d is an object
    uint64_t filled; ///< bit d: level d has a member already
    uint32_t kept;
    char text[WEFT__JSON_KEPT]; ///< [kept]: written to the file later, at the latest when the outermost value has ended
};

void weft__json_begin_object(struct weft__json *j);
void weft__json_end_object(struct weft__json *j);
void weft__json_begin_array(struct weft__json *j);
void weft__json_end_array(struct weft__json *j);
void weft__json_key(struct weft__json *j, const char *key);
/// The same for a key that is written often: `text` is the key in quotes and a colon.
void weft__json_key_ready(struct weft__json *j, const char *text, size_t length);
/// The same for a key and a number. WEFT__JSON_KEY bytes of `text` may be read.
void weft__json_member_u64(struct weft__json *j, const char *text, size_t length, uint64_t value);
/// Bytes that are not UTF-8 become U+FFFD, so that the result is always readable. NULL: null.
void weft__json_string(struct weft__json *j, const char *text);
void weft__json_u64(struct weft__json *j, uint64_t value); ///< all digits; a reader that uses doubles loses precision
                                                           ///< above 2^53
void weft__json_real(struct weft__json *j, double value);  ///< shortest text that reads back the same; null if not
                                                           ///< finite
void weft__json_bool(struct weft__json *j, bool value);
void weft__json_null(struct weft__json *j);
FILE *weft__json_value(struct weft__json *j); ///< the stream, for a value that the caller writes

/// Key and value together.
void weft__json_key_string(struct weft__json *j, const char *key, const char *text);
void weft__json_key_u64(struct weft__json *j, const char *key, uint64_t value);
void weft__json_key_real(struct weft__json *j, const char *key, double value);
void weft__json_key_bool(struct weft__json *j, const char *key, bool value);

/// Of a program, once: an allocation that fails while JSON is read jumps to the guard around the call.
void weft__json_guard(void);
