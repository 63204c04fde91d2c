// SPDX-License-Identifier: Apache-2.0
// Errors of input. The library prints nothing: a function that can meet bad input takes a struct weft_error * and
// returns a status; 0 is success. A bug is an assert, not an error. What happens inside a simulated network (a drop, a
// deadlock) is an outcome, not an error.
#ifndef WEFT_ERROR_H
#define WEFT_ERROR_H

/// Also the exit statuses of the program.
enum weft_status {
    WEFT_OK = 0,
    WEFT_ERROR_SYSTEM = 1,       ///< the machine failed us: memory, disk
    WEFT_ERROR_INPUT = 2,        ///< bad scenario, option or value
    WEFT_ERROR_CONSERVATION = 3, ///< bytes were lost or invented: a bug of weft
    WEFT_ERROR_STALL = 4,        ///< the simulated network made no progress, or was not done when simulated time ended
    WEFT_ERROR_CLAIM = 5,        ///< a claim of the scenario turned out other than expected
};

/// Where in the user's text something stands. line 0: in no file (`file` then is a command-line option, or NULL).
struct weft_place {
    const char *file; ///< borrowed; lives as long as the tree it came from; may be NULL
    int line, column; ///< from 1
};

struct weft_error {
    enum weft_status status;
    char text[1024]; ///< "file:line:col: what was found, what was expected"; "file: ..." without a line
};

/// Fills *ret_error (which may be NULL) and returns `status`, so that `return weft_error_set(...)` works. The first
/// error wins: a filled error is not overwritten.
enum weft_status weft_error_set(struct weft_error *ret_error, enum weft_status status, struct weft_place place,
                                const char *format, ...) __attribute__((format(printf, 4, 5)));

/// The candidate nearest to `word` by edit distance, or NULL if none is near enough to be worth suggesting.
const char *weft_error_nearest(const char *word, const char *const *candidates, unsigned n);

#define WEFT_NOWHERE ((struct weft_place){0})

#endif
