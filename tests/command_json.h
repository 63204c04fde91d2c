// SPDX-License-Identifier: Apache-2.0
// What the last command printed, as JSON. Include after cmocka.h.
#ifndef WEFT_TESTS_COMMAND_JSON_H
#define WEFT_TESTS_COMMAND_JSON_H

#include <jansson.h>

#include "command.h"

static inline json_t *printed_json(const struct fixture *f) {
    json_error_t error;
    json_t *json = json_loads(f->out, JSON_REJECT_DUPLICATES, &error);
    if (!json) fail_msg("%s: %s", error.text, f->out);
    return json;
}

#endif
