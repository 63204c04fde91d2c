// SPDX-License-Identifier: Apache-2.0
#include "box/stall.h"

enum { LINES_MAX = 16 };

bool weft__stall_line(struct weft__stall_list *list) {
    if (list->lines == LINES_MAX) {
        list->more++;
        return false;
    }
    if (!list->lines++) fprintf(list->text, "%s:\n", list->title);
    return true;
}

void weft__stall_end(const struct weft__stall_list *list) {
    if (list->more) fprintf(list->text, "  and %u more\n", list->more);
}
