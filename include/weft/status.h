// SPDX-License-Identifier: Apache-2.0
// What a function that can fail returns, and what it says about an error.
#pragma once

/// Also the exit statuses of the program.
enum weft_status {
    WEFT_OK = 0,
    WEFT_ERROR_SYSTEM = 1,       ///< the machine failed us: memory, disk
    WEFT_ERROR_INPUT = 2,        ///< bad scenario, option or value
    WEFT_ERROR_CONSERVATION = 3, ///< bytes were lost or invented: a bug of weft
    WEFT_ERROR_STALL = 4,        ///< the simulated network made no progress, or was not done when simulated time ended
    WEFT_ERROR_CLAIM = 5,        ///< a claim of the scenario turned out other than expected
    WEFT_ERROR_LOOKAHEAD = 6,    ///< a driven run (weft/drive.h): sooner than anything can reach that host
    WEFT_INTERRUPTED = 130,      ///< of the program only: a signal ended it, and what was measured until then is kept
};

/// Begin with {0}. A function that fails fills it, unless an earlier one has: the first error stays.
struct weft_error {
    enum weft_status status;
    int line, column;     ///< from 1; 0: in no file
    unsigned file_length; ///< the first characters of `text` that name the file, or the setting; 0: none
    unsigned message_at;  ///< text + message_at: without the place
    char text[1024];      ///< "file:line:col: what was found, what was expected"; "file: ..." without a line
};
