// SPDX-License-Identifier: Apache-2.0
// A test program that is run in parts (weft_test_parts of meson.build): "2of8" is every eighth of what it has, from the
// second on.
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct part {
    unsigned first, step; ///< number first, first + step, ...
};

/// By the program's argument; without one, all. False, with why on standard error: it is no part.
static inline bool part_of(int argc, char **argv, struct part *ret_part) {
    unsigned number = 1, parts = 1;
    if (argc > 1 && (sscanf(argv[1], "%uof%u", &number, &parts) != 2 || !number || number > parts)) {
        fprintf(stderr, "expected a part, as 2of8\n");
        return false;
    }
    *ret_part = (struct part){number - 1, parts};
    return true;
}
