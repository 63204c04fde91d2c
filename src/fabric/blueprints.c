// SPDX-License-Identifier: Apache-2.0
// The blueprints of fabrics/, built into the program.
#include <assert.h>
#include <string.h>

#include "fabric/fabric.h"

uint32_t weft_blueprint_count(void) {
    return weft__blueprints_n;
}

const struct weft_blueprint *weft_blueprint_at(uint32_t i) {
    assert(i < weft__blueprints_n);
    return &weft__blueprints[i];
}

const struct weft_blueprint *weft_blueprint_find(const char *name) {
    for (uint32_t i = 0; i < weft__blueprints_n; i++)
        if (!strcmp(weft__blueprints[i].name, name)) return &weft__blueprints[i];
    return NULL;
}
