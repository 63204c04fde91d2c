// SPDX-License-Identifier: Apache-2.0
#include "cli.h"

#include "base/param.h"
#include "weft/fabric.h"

enum weft_status weft_cli_no_blueprint(const char *place, const char *item, struct weft_error *ret_error) {
    enum { NAMES_MAX = 64 };
    const char *name[NAMES_MAX];
    char expected[512];
    uint32_t n = 0;
    for (; n < weft_blueprint_count() && n < NAMES_MAX; n++)
        name[n] = weft_blueprint_at(n)->name;
    weft__names_expected(item, name, n, expected, sizeof expected);
    return WEFT_REFUSE(ret_error, (struct weft_place){.file = place}, "'%s': neither a blueprint nor a file; %s", item,
                       expected);
}
