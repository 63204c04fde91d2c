// SPDX-License-Identifier: Apache-2.0
// What to say of a fabric that is neither a blueprint nor a file.
#pragma once

#include "cli.h"

/// `place`: the option that named it, or its own name.
enum weft_status weft_cli_no_blueprint(const char *place, const char *item, struct weft_error *ret_error);
