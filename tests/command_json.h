// SPDX-License-Identifier: Apache-2.0
// What the last command printed, as JSON. Include after cmocka.h.
#pragma once

#include <jansson.h>

#include "command.h"

static inline json_t *printed_json(const struct fixture *f) {
    json_error_t error;
    json_t *json = json_loads(f->out, JSON_REJECT_DUPLICATES, &error);
    if (!json) fail_msg("%s: %s", error.text, f->out);
    return json;
}
