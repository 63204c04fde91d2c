// SPDX-License-Identifier: Apache-2.0
// Filling errors of input. The library prints nothing: a function that can meet bad input takes a struct weft_error *
// and returns a status; 0 is success. A bug is an assert, not an error. What happens inside a simulated network (a
// drop, a deadlock) is an outcome, not an error.
#pragma once

#include <stdio.h>

#include "weft/status.h"

struct weft_texts;

/// Where in the user's text something stands. line 0: in no file (`file` then is a command-line option, or NULL).
struct weft_place {
    const char *file; ///< borrowed; lives as long as the tree it came from; may be NULL
    int line, column; ///< from 1
    const char *with; ///< of a map into which settings of the command line were laid: "--set path=value"; NULL: none
    const struct weft_texts *texts; ///< of the name of a file: has its text (weft/scenario.h); NULL: it is to be read
};

/// Fills *ret_error (which may be NULL) and returns `status`, so that `return weft_error_set(...)` works. The first
/// error wins: a filled error is not overwritten.
enum weft_status weft_error_set(struct weft_error *ret_error, enum weft_status status, struct weft_place place,
                                const char *format, ...) __attribute__((format(printf, 4, 5)));

/// The candidate nearest to `word` by edit distance, or NULL if none is near enough to be worth suggesting.
const char *weft_error_nearest(const char *word, const char *const *candidates, unsigned n);

#define WEFT_NOWHERE ((struct weft_place){0})

/// weft_error_set for bad input, which most errors are: WEFT_REFUSE(ret_error, place, format, ...).
#define WEFT_REFUSE(ret_error, ...) weft_error_set(ret_error, WEFT_ERROR_INPUT, __VA_ARGS__)

/// snprintf(text, size, ...) as an expression: `text`.
#define WEFT_SAY(text, ...) (snprintf(text, __VA_ARGS__), (text))

/// A step of a function that returns a status: ends the function with what `call` returns, unless that is WEFT_OK.
#define WEFT_TRY(call)                                                                                                 \
    do {                                                                                                               \
        enum weft_status weft_tried = (call);                                                                          \
        if (weft_tried) return weft_tried;                                                                             \
    } while (0)
