// SPDX-License-Identifier: Apache-2.0
// The files of hardware/, converted to a source file when weft is built.
#pragma once

#include <stddef.h>

#include "weft/hardware.h"

struct weft__hardware_file {
    const char *name, *text;
    size_t size;
};
extern const struct weft__hardware_file weft__hardware_files[];
extern const uint32_t weft__hardware_files_n;
